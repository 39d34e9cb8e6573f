#ifndef SWZ_RUNTIME_RECORD_SPAN_NAMES_H
#define SWZ_RUNTIME_RECORD_SPAN_NAMES_H

/* The names of spans. Each is a function of the module SWZ_SPAN_MODULE, which
 * has no file: its name stands in the profile (SWZ_CHUNK_SYMBOLS). */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/record/thread.h"

/* How many different names there may be, with SWZ_SPAN_PAUSED and one for all
 * that come later. */
#define SWZ_MOST_SPANS 1024u
#define SWZ_SPAN_NAME_BYTES 128u /* longer ones are cut */

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

#endif
