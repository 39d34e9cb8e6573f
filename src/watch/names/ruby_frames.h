#ifndef SWZ_WATCH_NAMES_RUBY_FRAMES_H
#define SWZ_WATCH_NAMES_RUBY_FRAMES_H

/* The methods and blocks that a thread of Ruby 3.1 is in, read from the
 * process's memory while the thread does not run. Nothing that is read is
 * trusted: objects are known by their types, and walks have an end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_frame.h"

struct swz_ruby;

/* Libraries that have the interpreter, where the program itself has not:
 * Debian's name, and that of Ruby's own build. */
#define SWZ_RUBY_LIBRARY "libruby-3.1.so"
#define SWZ_RUBY_OWN_LIBRARY "libruby.so.3.1"

/* Whether frames of that version can be read: what ruby_version holds, with its
 * NUL or cut. */
bool swz_ruby_is_known(const char *version, size_t bytes);

/* Where the interpreter's variables are. */
struct swz_ruby_places {
	uint64_t version; /* ruby_version */
	uint64_t vm;      /* ruby_current_vm_ptr */
	uint64_t object;  /* rb_cObject */
};

/* NULL: the version is another one than 3.1. */
struct swz_ruby *swz_ruby_open(const struct swz_ruby_places *places,
			       swz_script_read *read, void *context);

/* The frames of a thread, the innermost first, at most MOST: those of methods
 * in C and of blocks in C are left out. THREAD_POINTER is what %fs holds, or 0:
 * the thread is then told by its stack, of which STACK_START is the stack
 * pointer. In a fiber these are the fiber's frames. The names live until close.
 */
enum swz_script_result swz_ruby_frames(struct swz_ruby *ruby,
				       uint64_t thread_pointer,
				       uint64_t stack_start,
				       struct swz_script_frame *frames,
				       size_t most, size_t *count);

/* An address within the loop over instructions; 0: no frame was read so far. */
uint64_t swz_ruby_loop(const struct swz_ruby *ruby);

void swz_ruby_close(struct swz_ruby *ruby);

#endif
