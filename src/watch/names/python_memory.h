#ifndef SWZ_WATCH_NAMES_PYTHON_MEMORY_H
#define SWZ_WATCH_NAMES_PYTHON_MEMORY_H

/* Words and texts in the memory of a process that has CPython in it, and where
 * its objects have their fields. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum swz_python_frames {
	SWZ_FRAME_IS_OBJECT, /* each has a call of the loop */
	SWZ_FRAME_HAS_MARK,  /* of the first of a call */
	SWZ_FRAME_HAS_SHIM   /* before the first */
};

enum swz_python_lines {
	SWZ_LINES_BY_BYTES,       /* co_lnotab */
	SWZ_LINES_BY_RANGES,      /* PEP 626 */
	SWZ_LINES_BY_INSTRUCTIONS /* locations, PEP 657 */
};

/* How a frame that is suspended says where its stack ends. */
enum swz_python_top {
	SWZ_TOP_UNKNOWN,
	SWZ_TOP_IS_POINTER,
	SWZ_TOP_IS_DEPTH, /* in the values, to which the word two before it
			   * points */
	SWZ_TOP_IS_INDEX  /* in the frame's variables and values */
};

struct swz_python_layout {
	enum swz_python_frames frames;
	enum swz_python_lines lines;
	uint32_t interpreters; /* in _PyRuntime; 0: there is none */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t thread_next, thread_interpreter, thread_id;
	uint32_t thread_native_id; /* 0: there is none */
	uint32_t thread_status;    /* the same */
	uint32_t thread_frame;     /* the innermost, or the _PyCFrame */
	uint32_t thread_chunk;     /* 0: there is none */
	bool has_cframe;
	uint32_t cframe_frame; /* in that */
	uint32_t frame_code, frame_previous;
	uint32_t frame_at;        /* where it executes */
	uint32_t frame_owner;     /* or the mark; one byte */
	uint32_t frame_variables; /* the first; 0: not known */
	uint32_t frame_top;
	enum swz_python_top top;
	uint32_t code_line, code_file, code_name, code_lines;
	uint32_t code_instructions; /* the first, since 3.11 */
	uint32_t object_type;
	uint32_t str_length, str_state;
	uint32_t str_bytes; /* before the text, if that is ASCII */
	uint32_t str_more;  /* before other text there is more */
	uint32_t bytes_length, bytes_text;
	/* how much is read at once */
	uint32_t thread_bytes, frame_bytes, code_bytes;
};

/* Types of objects, by the address of each. */
enum swz_python_type {
	SWZ_TYPE_CODE,
	SWZ_TYPE_STR,
	/* 0: there is none of that name */
	SWZ_TYPE_INT,
	SWZ_TYPE_TUPLE,
	SWZ_TYPE_CELL,
	SWZ_TYPE_METHOD,
	SWZ_TYPE_COROUTINE,
	SWZ_TYPE_GENERATOR,
	SWZ_TYPE_ASYNC_GENERATOR,
	SWZ_PYTHON_TYPES
};

struct swz_python_memory {
	struct swz_python_layout layout;
	swz_script_read *read;
	void *context;
	uint64_t types[SWZ_PYTHON_TYPES];
};

/* False: not all of it can be read. */
bool swz_python_bytes(const struct swz_python_memory *memory, uint64_t address,
		      void *into, size_t size);
bool swz_python_word(const struct swz_python_memory *memory, uint64_t address,
		     uint64_t *word);

/* A str object as UTF-8, the first 1024 characters of it; to be freed. NULL: it
 * is none. */
char *swz_python_text(const struct swz_python_memory *memory, uint64_t object);

/* --- tasks --------------------------------------------------------------- */

/* Tasks of asyncio: which one an event loop runs, and who awaits it. */

/* So many names are told apart; the tasks of others are one. */
#define SWZ_MOST_TASK_NAMES 256u

struct swz_python_tasks {
	uint32_t coroutine;       /* in a task; 0: not known so far */
	uint32_t coroutine_frame; /* the same, in a coroutine */
	struct swz_script_code codes[SWZ_MOST_TASK_NAMES];
	size_t count;
};

/* A row above a task's coroutine. */
struct swz_python_link {
	const struct swz_script_code *task; /* NULL: it is a frame */
	uint64_t frame; /* of a coroutine that is suspended */
};

/* The file of rows that stand for tasks. */
#define SWZ_TASK_FILE "(asyncio)"

/* Writes what is between the event loop and the coroutine with that FRAME,
 * which the loop runs by way of HANDLE, an asyncio.Handle; the innermost
 * first: the task, then the coroutines that await it, their task, and so on.
 * Returns how many; 0: what runs is no task. */
size_t swz_python_tasks_chain(struct swz_python_tasks *tasks,
			      const struct swz_python_memory *memory,
			      uint64_t handle, uint64_t frame,
			      struct swz_python_link *links, size_t most);

void swz_python_tasks_free(struct swz_python_tasks *tasks);

#endif
