#ifndef SWZ_TOOLS_DUMP_REPORTS_H
#define SWZ_TOOLS_DUMP_REPORTS_H

/* Formats that show sums: of all threads, or of each. */

#include <stdbool.h>

#include "profile/file/reader.h"
#include "profile/formats/common/section.h"
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

/* --- follow --------------------------------------------------------------- */

/* --follow: writes calls while they are recorded. Returns an exit status. */
int swz_dump_follow(const struct swz_dump_options *options);

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

/* --- gates ---------------------------------------------------------------- */

/* Gates of continuous integration: --fail-above, --fail-calls-above and
 * --budget look at each section that is written, and decide on the program's
 * exit status. */

/* True if there is a gate. */
bool swz_gates_any(const struct swz_dump_options *options);

/* Reads the limits; ends the program where one is wrong. */
void swz_gates_read_budget(const char *path);

/* Notes what SECTION breaks, and says so on standard error. */
void swz_gates_look(const struct swz_section *section,
		    const struct swz_dump_options *options);

/* EXIT_OK, EXIT_FAILED, or EXIT_UNDECIDED if nothing failed and something
 * cannot be told. */
int swz_gates_end(const struct swz_dump_options *options);

/* --- parts of the input --------------------------------------------------- */

/* --since SNAPSHOT: what a process has done after that. */

/* --- what came after a snapshot ------------------------------------------ */

/* Leaves of the one profile that was read what came later: of a trace by the
 * range of time. False: that was said. */
bool swz_dump_take_since(struct swz_dump_input *input,
			 struct swz_dump_options *options);

/* --- a part of a trace's time -------------------------------------------- */

/* The part of a trace's time that --from and --to mean. */

/* The range of time that is asked for, in ticks; the start is that of the first
 * process. False: there is no trace of it. */
bool swz_dump_find_range(const struct swz_dump_input *input,
			 struct swz_dump_options *options);

/* --- callers that the profiles say --------------------------------------- */

/* swizzle-run --caller FUNCTION: what the profiles say is to be shown. */

/* Where --caller is not given, takes it from the profiles. */
void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options);

#endif
