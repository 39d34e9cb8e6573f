#ifndef SWZ_TOOLS_DUMP_REPORTS_H
#define SWZ_TOOLS_DUMP_REPORTS_H

/* Formats that show sums: of all threads, or of each. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/costs/runs.h"
#include "profile/file/reader.h"
#include "profile/formats/common/section.h"
#include "profile/formats/formats.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "util/output.h"

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
 * base/signature_exchange.h, which swizzle-run --args starts. FILE and BELL
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

/* Finds the Debian package that has the debug file of a module, by dpkg,
 * apt-file and apt-cache. They are asked on this machine only, and for a second
 * at most. */

/* --- packages with debug information ------------------------------------- */

struct swz_debug_package {
	char *path;   /* the module's */
	char *owner;  /* the package that the module is of; NULL: unknown */
	char *source; /* its source package, if that has another name */
	char *exact;  /* that of its debug file; NULL: unknown */
	bool has_no_owner; /* dpkg knows of no package */
};

/* Zero-initialised: nothing was asked for. */
struct swz_debug_packages {
	struct swz_debug_package *items;
	size_t count;
	size_t capacity;
	int64_t asked_ns; /* how long the answers have taken */
};
void swz_debug_packages_free(struct swz_debug_packages *packages);

/* --- advice -------------------------------------------------------------- */

/* Advice that would make a report say more: the names of stripped modules, and
 * the mode that names the functions of scripts. */

struct swz_dump_advice {
	struct swz_dump_shown *functions; /* by the catalog's index */
	size_t capacity;
	int64_t total_ns;
	char **lines; /* NULL-terminated; NULL: swz_dump_advice_find() was not
		       * called */
	struct swz_debug_packages *packages;
};

/* PACKAGES may be shared by several. */
struct swz_dump_advice swz_dump_advice_begin(
	struct swz_debug_packages *packages);
void swz_dump_advice_free(struct swz_dump_advice *advice);

/* Adds a report that is written, or one side of it. */
void swz_dump_advice_add(struct swz_dump_advice *advice,
			 const struct swz_report *report);

/* Makes the lines, of the functions that the options' filters let through; none
 * with -q or SWIZZLE_ADVICE=0. All functions have names. Gives the lines to the
 * writer (NULL: there is none), for which the advice must outlive it. */
void swz_dump_advice_find(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct swz_dump_options *options,
			  struct swz_writer *writer);

/* Shows the command that gets the names of all files that lack some: one that
 * installs debug packages, or asks a server for debug files and keeps the names
 * in the profile. Runs it if the user says so on standard input. All functions
 * have names. Returns an exit status. */
int swz_dump_get_names(const struct swz_report *report,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options);

/* "PATH is Python 3.13", to be freed: of an interpreter in the profiles whose
 * scripts cannot be read though those of another version can. NULL: none. */
char *swz_dump_unread_version(struct swz_catalog *catalog);

/* Says them on stderr. */
void swz_dump_advice_say(const struct swz_dump_advice *advice);

/* --- what is shown ------------------------------------------------------- */

/* The result for a writer: made of one thread or of several. */

struct swz_dump_result {
	struct swz_report report;
	struct swz_contexts contexts;
	bool has_contexts;
};

/* To be called before threads are added: all that are wanted, or one. It is for
 * the line that says how far the work is. */
void swz_dump_begin_adding(const struct swz_dump_input *input,
			   const struct swz_dump_options *options,
			   const struct swz_profile_thread *only);

void swz_dump_begin_result(struct swz_dump_result *result,
			   const struct swz_dump_options *options);
void swz_dump_add_thread(struct swz_dump_result *result,
			 struct swz_binding *binding,
			 const struct swz_profile_thread *thread,
			 const struct swz_dump_options *options);
void swz_dump_end_result(struct swz_dump_result *result);
void swz_dump_free_result(struct swz_dump_result *result);

/* The facts about functions that a report needs. */
struct swz_catalog_options swz_dump_catalog_options(
	const struct swz_dump_options *options);

/* Finds the names of all that was added. */
void swz_dump_resolve(struct swz_catalog *catalog);

/* Finds the names of all that will be added: filters are by name, and a name
 * may depend on those of other threads, which are written later. */
void swz_dump_name_all(const struct swz_dump_input *input,
		       const struct swz_dump_options *options);

void swz_dump_warn_result(const struct swz_dump_result *result,
			  const struct swz_dump_options *options);
/* Says which patterns match no function, and which names they might mean.
 * False: none matches any. Names are resolved. */
bool swz_dump_has_functions(const struct swz_catalog *catalog,
			    const char *option,
			    const struct swz_patterns *patterns);

/* The same of all options; names are resolved. */
void swz_dump_warn_filter(struct swz_catalog *catalog,
			  const struct swz_dump_options *options);

/* The ticks at which the first of the processes began. */
uint64_t swz_dump_first_origin(const struct swz_dump_input *input);

/* A sum (--merge-into) has one record of all threads with a name. Counts the
 * threads that they stand for, once all are added to the report. */
void swz_dump_count_merged_threads(struct swz_report *report,
				   const struct swz_dump_input *input,
				   const struct swz_dump_options *options);

/* A section for it, of the profile at an index and its like. */
struct swz_section swz_dump_new_section(const struct swz_dump_input *input,
					size_t index,
					const struct swz_dump_result *result,
					const struct swz_dump_options *options);

/* --- counts and times of one run ------------------------------------------ */

/* Counts of a run whose calls were recorded, and times of one that was sampled,
 * mostly the same: see profile/costs/runs.h. Each side is added up by itself,
 * with one catalog, in which a function is the same in both: by build-id and
 * address. */

/* Reads both and writes them in the options' format. Returns an exit status. */
int swz_dump_times(const struct swz_dump_options *options);

/* The same of what was read: INPUT, and the samples that it has. */
int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options);

/* --- for comparisons ----------------------------------------------------- */

/* The caller adds threads to `counts` and `times`. At the end `counts` has
 * both, is the caller's to free, and swz_dump_join_free() frees the rest. */
struct swz_dump_join {
	struct swz_dump_result counts, times;
	struct swz_counting *counting;
	struct swz_joined joined;
};

void swz_dump_join_begin(struct swz_dump_join *join);

/* Finds what counting took, for JOIN.counting of another join, from ALL threads
 * and functions, also where only some are shown, so that --tid has the times of
 * --by thread, and hidden functions leave the total as it is. Gives ALL back,
 * which was not ended. */
struct swz_counting *swz_dump_take_counting(
	struct swz_dump_join *all, const struct swz_dump_input *input,
	const struct swz_dump_input *samples);
void swz_dump_join_end(struct swz_dump_join *join,
		       const struct swz_dump_input *input,
		       const struct swz_dump_input *samples);
void swz_dump_join_free(struct swz_dump_join *join);

/* Makes the bindings of an input's profiles. */
void swz_dump_bind(struct swz_dump_input *input, struct swz_catalog *catalog);

/* Marks functions of REPORT that no hook has counted: those without a call that
 * were not hooked in any of the inputs. IS_FIRST: begins anew. */
void swz_dump_mark_uncounted(struct swz_report *report,
			     const struct swz_catalog *catalog,
			     const struct swz_dump_input *input, bool is_first);

/* --- messages ------------------------------------------------------------ */

/* On standard error: one line, with the prefix of all our messages. */
void swz_dump_complain(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

/* Says WHY a file that is there could not be read, and counts it. */
void swz_dump_note_unread(const char *path, const char *why);
size_t swz_dump_unread_files(void);

/* --- files that are written ---------------------------------------------- */

/* The file that is written. */

/* True if the output goes to standard output. */
bool swz_dump_to_standard_output(const struct swz_dump_options *options);

struct swz_dump_target {
	struct swz_output output;
	struct swz_writer writer;
	char *path;
};

/* Where the output goes if it is that of a process; to be freed. */
char *swz_dump_output_path(const struct swz_dump_options *options, int32_t pid);

/* As swz_output_open(); what is for a terminal goes through the pager from
 * then on. */
enum swz_status swz_dump_open_output(
	struct swz_output *output, const char *path,
	const struct swz_dump_options *options) SWZ_MUST_CHECK;

/* Begins a file in the options' format, at PATH, which it takes over. Returns
 * an exit status, as all of these do. */
int swz_dump_open_target(struct swz_dump_target *target,
			 const struct swz_dump_options *options, char *path);
int swz_dump_close_target(struct swz_dump_target *target,
			  const struct swz_dump_options *options);

/* Not EXIT_OK where no more can be written; swz_dump_close_target says why. */
int swz_dump_write_section(struct swz_dump_target *target,
			   const struct swz_section *section,
			   const struct swz_dump_options *options);
/* The section of all, as the last one, and the end of the file: gates look at
 * it, and advice is given. */
int swz_dump_write_sum(struct swz_dump_target *target,
		       const struct swz_section *section,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options);

/* Opens one for a thread's part, unless a file is open that takes it, too. */
int swz_dump_begin_part(struct swz_dump_target *to,
			const struct swz_dump_options *options, int32_t pid,
			unsigned int thread_number);

/* The file is complete. */
int swz_dump_end_output(struct swz_output *output, const char *path,
			const struct swz_dump_options *options);

/* Shows the page that was written last in a browser ($BROWSER, or xdg-open
 * where there is a display), or says how to get it to one. */
void swz_dump_open_page(void);

/* Says what errno says of it. */
int swz_dump_write_failed(const char *path);

#endif
