#ifndef SWZ_WATCH_SCRIPT_FRAMES_H
#define SWZ_WATCH_SCRIPT_FRAMES_H

/* The functions of a script in place of the frames of its interpreter's loop.
 * They must be read while the thread does not run, as what is read is the
 * program's memory. */

#include <stdbool.h>
#include <stdint.h>

#include "watch/image.h"
#include "watch/names/script_language.h"

#define SWZ_MOST_FRAMES 1024u

struct swz_script_stack {
	enum swz_script_result result;
	size_t count; /* the innermost first */
	uint64_t sp;  /* where to unwind from; 0: from the thread's */
	struct swz_script_frame frames[SWZ_MOST_FRAMES];
};

/* True if the program is an interpreter whose frames can be read. One that has
 * it for extensions (gdb, vim) is none: see swz_script_frames_samples(). */
bool swz_script_frames_known(const char *program);
/* The same, of what a process runs, by the path that it has for that. */
bool swz_script_frames_known_in(int32_t pid, const char *program);

/* How many of its samples are in scripts, of an interpreter whose frames can
 * be read, and in what these call. */
uint64_t swz_script_frames_samples(struct swz_image *image);

/* Reads the stack of a thread that stands still. Returns NULL if the process
 * has no such interpreter; valid until the next call. */
const struct swz_script_stack *swz_script_frames_read(
	struct swz_image *image, const struct swz_script_thread *thread);

/* Another stack is read: what was read for the one before may have changed. */
void swz_script_frames_begin(struct swz_image *image);

/* Where frames of a script are the machine's. */

/* A function that runs in a frame. */
struct swz_placed_function {
	uint32_t function; /* index of the image's */
	uint32_t line;     /* that it executes; 0: not known */
};

/* Writes the functions of a frame, the innermost first, SWZ_MOST_INLINED at
 * most. Returns how many; 0: it is none of a script. */
size_t swz_script_frame_functions(struct swz_image *image,
				  const struct swz_script_place *place,
				  struct swz_placed_function *functions);

/* Frames of functions are told apart by %rbp: code that runs with a function's
 * is a part of it. */
bool swz_script_frames_are_shared(const struct swz_image *image);

/* True if code of the interpreter's own is there, which functions call. */
bool swz_script_frame_is_helper(struct swz_image *image, uint64_t pc);

/* Has the image's unwinder ask how such frames are left. */
void swz_script_frames_unwind(struct swz_image *image);

void swz_script_frames_close(struct swz_script_reader *reader);

/* A row of a stack, the innermost first. */
struct swz_stack_row {
	uint32_t function;  /* index of the image's */
	uint64_t call_site; /* in the next row; a script's is the line */
};

/* Writes the stack with the script's functions to TO, MOST rows at most, and
 * returns how many there are. Sets *line to the line that the innermost row
 * executes, if that is a script's function: otherwise it stays. Each call of
 * the loop stands for one or more of the script's functions. TO_ROOT: the rows
 * go to the outermost. */
size_t swz_script_frames_put(struct swz_image *image,
			     const struct swz_script_stack *script,
			     const struct swz_stack_row *rows, size_t count,
			     bool to_root, struct swz_stack_row *to,
			     size_t most, uint32_t *line);

/* --- what to do where code has no names ----------------------------------- */

/* Says what to do where code made at run time has no names. */

/* A line without its newline, to be freed: which options would give names to
 * the code without a name that the image's samples hit, or that called what
 * they hit. NULL: that is less than a twentieth of them, or nobody knows such
 * options. To be asked after swz_jit_functions_settle(). */
char *swz_script_advice(const struct swz_image *image);

/* The same: which version the program is of, where it is an interpreter whose
 * scripts can be read of another version only. NULL: it is none, or it was hit
 * by next to no sample. */
char *swz_script_version_advice(const struct swz_image *image);

/* True if the image's program is an interpreter whose functions only pauses
 * show: see script_frames.h. */
bool swz_script_needs_pauses(const struct swz_image *image);

/* A line without its newline, to be freed: of ALL samples SAMPLES are in such
 * programs, PROGRAM among them, and the engine is perf. NULL: that is less than
 * a twentieth. */
char *swz_pause_advice(uint64_t samples, uint64_t all, const char *program);

#endif
