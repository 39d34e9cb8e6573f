#ifndef SWZ_PROFILE_FORMATS_HTML_FLOWS_H
#define SWZ_PROFILE_FORMATS_HTML_FLOWS_H

/* What woke what, in the page (--flows). */

#include <stddef.h>
#include <stdio.h>

#include "profile/file/reader.h"

/* A thread of the page, in the order of their numbers. */
struct swz_html_flow_thread {
	size_t profile;                          /* of the page's */
	const struct swz_profile_thread *thread; /* NULL: of no thread */
};

/* Writes the block "flows" if there are any. Returns what was not certain, for
 * people, to be freed; NULL: nothing. */
char *swz_html_put_flows(FILE *stream,
			 const struct swz_html_flow_thread *threads,
			 size_t thread_count,
			 struct swz_profile *const *profiles,
			 size_t profile_count);

#endif
