#ifndef SWZ_WATCH_SCRIPT_FRAMES_H
#define SWZ_WATCH_SCRIPT_FRAMES_H

/* The functions of a script in place of the frames of its interpreter's loop:
 * those of Python 3.11 and of Ruby 3.1. They must be read while the thread does
 * not run, as what is read is the program's memory. */

#include "watch/image.h"
#include "watch/names/script_frame.h"

#define SWZ_MOST_FRAMES 1024u

struct swz_script_stack {
	enum swz_script_result result;
	size_t count; /* the innermost first */
	struct swz_script_frame frames[SWZ_MOST_FRAMES];
};

/* Whether the program is an interpreter whose frames can be read. One that has
 * it for extensions (gdb, vim) is none. */
bool swz_script_frames_known(const char *program);

/* Reads the stack of a thread that stands still. THREAD_POINTER: what %fs
 * holds; 0: not known. STACK_START: its stack pointer. Returns NULL if the
 * process has no such interpreter; valid until the next call. */
const struct swz_script_stack *swz_script_frames_read(struct swz_image *image,
						      uint64_t thread_pointer,
						      uint64_t stack_start);

/* A row of a stack, the innermost first. */
struct swz_stack_row {
	uint32_t function; /* index of the image's */
	uint64_t call_site;
};

/* Writes the stack with the script's functions to TO, MOST rows at most, and
 * returns how many there are. Each call of the loop stands for one or more of
 * the script's functions. TO_ROOT: the rows go to the outermost. */
size_t swz_script_frames_put(struct swz_image *image,
			     const struct swz_script_stack *script,
			     const struct swz_stack_row *rows, size_t count,
			     bool to_root, struct swz_stack_row *to,
			     size_t most);

#endif
