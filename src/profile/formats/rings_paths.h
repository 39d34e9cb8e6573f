#ifndef SWZ_PROFILE_FORMATS_RINGS_PATHS_H
#define SWZ_PROFILE_FORMATS_RINGS_PATHS_H

/* The path that a call has taken: the set of functions that it has called, or
 * the class of its arguments. */

#include <stdint.h>

#include "profile/names/value_print.h"

/* Of a path; one with so many is one of many, whichever they are. */
#define SWZ_RINGS_MOST_CALLEES 32u

/* "calls a, b" in place of what the text was. */
void swz_rings_print_callees(struct swz_text *text,
			     const struct swz_catalog *catalog,
			     const uint32_t *callees, uint32_t count);
/* The same for callees in any order. */
uint64_t swz_rings_callees_key(const uint32_t *callees, uint32_t count);

/* "n > 0, name = x" of an event that begins a call, in place of what the text
 * was. READER: NULL where the trace has no values. */
void swz_rings_print_arguments(struct swz_text *text,
			       struct swz_binding *binding,
			       struct swz_value_reader *reader,
			       const struct swz_event *event);
uint64_t swz_rings_text_key(const char *text);

#endif
