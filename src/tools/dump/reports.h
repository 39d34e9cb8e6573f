#ifndef SWZ_TOOLS_DUMP_REPORTS_H
#define SWZ_TOOLS_DUMP_REPORTS_H

/* Formats that show sums: of all threads, or of each. */

#include "profile/file/reader.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"

/* --- reports -------------------------------------------------------------- */

/* Finds names, adds up and writes. Returns an exit status. */
int swz_dump_reports(struct swz_dump_input *input,
		     const struct swz_dump_options *options);

/* --- which functions ran -------------------------------------------------- */

/* Formats that say which functions ran, --ran and --tests-of. The catalog has
 * the bindings of the input. Returns an exit status. */
int swz_dump_coverage(struct swz_dump_input *input, struct swz_catalog *catalog,
		      const struct swz_dump_options *options);

/* --- compare -------------------------------------------------------------- */

/* Comparisons. */

/* Reads both sides, adds them up and writes. Returns an exit status. */
int swz_dump_diff(const struct swz_dump_options *options);

/* --- signature server ----------------------------------------------------- */

/* `swizzle-dump --signatures FILE BELL PID CONFIG [PATTERN...]`: the server of
 * swizzle/signature_exchange.h, which swizzle-run --args starts. FILE and BELL
 * are descriptors, PID that of the program, CONFIG the file of --config (empty:
 * the usual ones; -: none). It ends with the last process that
 * has rung the bell. ARGUMENTS are those behind the option. Returns the exit
 * status. */

int swz_dump_serve_signatures(int count, char **arguments);

/* --- push ----------------------------------------------------------------- */

/* --push URL: sends profiles to a server. */

/* The format that the server at a URL takes ("otlp", "pprof"). */
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

/* --- rewrite -------------------------------------------------------------- */

/* --merge-into FILE: adds profiles to a sum of profiles. */

/* --- sums of profiles ---------------------------------------------------- */

/* Returns the exit status. */
int swz_dump_merge_into(const struct swz_dump_options *options);

/* --- profiles as they are ------------------------------------------------ */

/* Formats that show a profile, or a file, as it is. */

/* Each of the profiles. Returns an exit status. */
int swz_dump_profiles(struct swz_dump_input *input,
		      const struct swz_dump_options *options);

/* Lists what is in the files, whether they are profiles or not. Returns an exit
 * status. */
int swz_dump_files(const struct swz_dump_options *options);

/* --- names put into profiles --------------------------------------------- */

/* Names that a profile holds itself. */

/* Adds them to the files that were read, in their place. Returns an exit
 * status. */
int swz_dump_embed(struct swz_dump_input *input,
		   const struct swz_dump_options *options);

#endif
