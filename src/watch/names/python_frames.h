#ifndef SWZ_WATCH_NAMES_PYTHON_FRAMES_H
#define SWZ_WATCH_NAMES_PYTHON_FRAMES_H

/* The functions that a thread of Python 3.11 is in, read from the process's
 * memory while the thread does not run. Nothing that is read is trusted:
 * objects are known by their types, and walks have an end. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_frame.h"

/* Where in the process the interpreter's own objects are. */
struct swz_python_places {
	uint64_t runtime;   /* _PyRuntime */
	uint64_t version;   /* Py_Version */
	uint64_t code_type; /* PyCode_Type */
	uint64_t str_type;  /* PyUnicode_Type */
};

struct swz_python;

/* The library that has the interpreter, where the program itself has not. */
#define SWZ_PYTHON_LIBRARY "libpython3.11."

/* Whether frames of that version can be read: what Py_Version holds. */
bool swz_python_is_known(uint64_t version);

/* NULL: the version is another one than 3.11. */
struct swz_python *swz_python_open(const struct swz_python_places *places,
				   swz_script_read *read, void *context);

/* The frames of a thread, the innermost first, at most MOST. THREAD_POINTER is
 * what %fs holds, or 0: the thread is then told by its stack, which goes from
 * STACK_START, its stack pointer, on. The names live until close. */
enum swz_script_result swz_python_frames(struct swz_python *python,
					 uint64_t thread_pointer,
					 uint64_t stack_start,
					 struct swz_script_frame *frames,
					 size_t most, size_t *count);

void swz_python_close(struct swz_python *python);

#endif
