#ifndef SWZ_PROFILE_FORMATS_CALLS_WHY_H
#define SWZ_PROFILE_FORMATS_CALLS_WHY_H

/* --why: a slow call of a function beside an ordinary one. */

#include <stdio.h>

#include "profile/costs/trace.h"

/* Writes which call of the functions that trace->calls->of names is the slowest
 * (or the nth slowest), and where it spends the time that an ordinary call does
 * not take: as text, or as JSON. trace->failure says if there is no such call.
 */
void swz_write_why(FILE *stream, struct swz_trace *trace);

/* Lists the calls that are kept by --slow, each rule's slowest first, as lines
 * of a comment; nothing of other traces. */
void swz_list_slow_calls(FILE *stream, struct swz_trace *trace);

#endif
