#ifndef SWZ_PROFILE_FORMATS_PAGE_CALLS_PAGE_H
#define SWZ_PROFILE_FORMATS_PAGE_CALLS_PAGE_H

/* -f calls-html: calls as a page; and --file-per-invocation: a file for each
 * call of a function. */

#include "profile/costs/trace.h"

#define SWZ_CALLS_OF_PAGE 500000u /* at most, unless asked for */
#define SWZ_INVOCATIONS 1000u     /* files, the same */

void swz_write_calls_html(FILE *stream, struct swz_trace *trace);

struct swz_invocations {
	uint64_t calls; /* the outermost that are shown */
	uint64_t files; /* that were written, but for the index */
};

/* Writes into the folder DIRECTORY, which is there, a file for each of the
 * outermost calls and an index of them. Where that fails, trace->failure says
 * why. */
struct swz_invocations swz_write_invocations_html(const char *directory,
						  struct swz_trace *trace);
struct swz_invocations swz_write_invocations_text(const char *directory,
						  struct swz_trace *trace);

#endif
