#ifndef SWZ_RUNTIME_RECORD_ANNOTATIONS_H
#define SWZ_RUNTIME_RECORD_ANNOTATIONS_H

/* Records beside calls: ids and names, spans, marks, titles. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "swizzle/format.h"
#include "base/basics.h"
#include "runtime/record/thread.h"

/* The ids by which records name functions, given in the order of planning, and
 * what the filters say of each. What is indexed by id has room for those of
 * modules to come from the start (address space, no memory), so that nothing
 * moves under the hooks. Written by one thread at a time; read by the hooks. */

enum swz_filter_flags {
	SWZ_FILTER_ONLY = 1,         /* matches -F */
	SWZ_FILTER_NOTRACE = 2,      /* matches -N */
	SWZ_FILTER_START = 4,        /* --start-at */
	SWZ_FILTER_STOP = 8,         /* --stop-at */
	SWZ_FILTER_PERCENTILES = 16, /* matches --percentiles */
	SWZ_FILTER_SLOW = 7 << 5,    /* --slow: 1 + the number of the rule, */
	SWZ_FILTER_SLOW_SHIFT = 5    /* from here on */
};

/* Takes consecutive ids; 0: there are not as many left. */
uint32_t swz_ids_take(uint32_t count);
uint32_t swz_ids_left(void);

/* All ids that have been given are less. */
uint32_t swz_ids_next(void);

/* All functions of the start have their ids. */
void swz_ids_end_start(void);

/* All ids that there are, or will be, are less than this. After the start. */
uint32_t swz_ids_bound(void);

/* An id that no function of the program has, for our own calibration. After the
 * start. */
uint32_t swz_ids_spare(void);

/* True if entries must be decided one by one (-F, -N, -D). */
extern bool swz_ids_filtered;

/* Flags of each function, by id, also of the spare one (for asm/x86_64). NULL:
 * there are no filters. */
extern uint8_t *swz_ids_filters;

/* Makes the flags, all zero, after the start. */
enum swz_status swz_ids_begin_filters(void) SWZ_MUST_CHECK;
void swz_ids_set_filter(uint32_t function, uint8_t flags);

/* Zero where there are no filters. Async-signal-safe. */
uint8_t swz_ids_filter(uint32_t function);

/* The title that the process gives itself. Some write over the memory in which
 * their arguments lie (setproctitle): ps then shows something else. Only that
 * tells Chromium's renderers, which the zygote forks, from each other and from
 * it. */

/* Notes the arguments that there are, which the profile has. */
void swz_title_begin(int argc, char **argv, char **envp);

/* True if they are others by now than when they were noted. Async-signal-safe.
 */
bool swz_title_is_new(void);

/* Records what has become of them: in the chunk of the last time, or in a new
 * one. Async-signal-safe, with signals blocked. */
void swz_title_note(void);

/* Code made at run time that has called (SWZ_FUNCTION_CODE), and its names. */

/* Notes a node of such code, which is not published yet. Lock free,
 * async-signal-safe. */
void swz_code_note(struct swz_node *node);

/* Copies what /tmp/perf-PID.map says of such code into the profile, since that
 * file may soon be gone. At the process's end. */
void swz_code_names_keep(void);

/* The names of spans. Each is a function of the module SWZ_SPAN_MODULE, which
 * has no file: its name stands in the profile (SWZ_CHUNK_SYMBOLS). */

/* How many different names there may be, with SWZ_SPAN_PAUSED and one for all
 * that come later. */
#define SWZ_MOST_SPANS 1024u

/* Takes ids for them all. After the plan, before the first thread begins. */
enum swz_status swz_span_names_begin(void) SWZ_MUST_CHECK;

/* The first of the ids; 0: there are none. */
extern uint32_t swz_span_first_id;

static inline bool swz_is_span(uint32_t function)
{
	return function - swz_span_first_id < SWZ_MOST_SPANS;
}

/* The id of a name, which is put into the profile if it is new; 0: there was no
 * room for it. Past SWZ_MOST_SPANS names that of "[other spans]".
 * Async-signal-safe. */
uint32_t swz_span_id(struct swz_thread *thread, const char *name);

/* Moments that have a name: struct swz_mark_record in swizzle/format.h. */

/* Adds one of the thread. At most SWZ_MARK_MOST_BYTES of the text are kept; it
 * is not cut within a character of UTF-8. Where there is no room it is counted
 * as lost. Async-signal-safe. */
void swz_marks_add(struct swz_thread *thread, enum swz_mark_kind kind,
		   const char *text, size_t bytes, uint64_t ticks);

/* Room for marks that other processes make. In a new file. */
void swz_marks_begin(struct swz_file_header *file);

/* A mark or a span for which there was no room. */
void swz_marks_lose(void);

#endif
