#ifndef SWZ_TOOLS_DUMP_PUSH_H
#define SWZ_TOOLS_DUMP_PUSH_H

/* --push URL: sends profiles to a server. */

#include "profile/file/reader.h"
#include "tools/dump/dump_options.h"

/* What the server at a URL takes: the format's name ("otlp", "pprof"). */
const char *swz_push_format(const char *url);

/* NULL, or what is wrong with the URL. */
const char *swz_push_problem(const char *url);

/* Makes the file that is sent, and has the options write to it. Its name is for
 * swz_push_end(), which removes it (NULL is fine). */
char *swz_push_begin(struct swz_dump_options *options);
void swz_push_end(char *path);

/* Sends the file, which is in that format, and of COUNT profiles, one at least:
 * these say what it is called. Returns an exit status; what went wrong was
 * said.
 */
int swz_push(const struct swz_dump_options *options, const char *path,
	     struct swz_profile *const *profiles, size_t count);

#endif
