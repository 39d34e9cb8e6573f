#include "tools/dump/dump_options.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "options/command_line.h"
#include "profile/file/inputs.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/formats.h"
#include "profile/formats/tables/table.h"
#include "profile/names/debug_info.h"
#include "tools/dump/reports.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

/* --- the terminal -------------------------------------------------------- */

#define USUAL_WIDTH 80
#define MOST_WIDTH 10000

static bool terminal_is_output(void)
{
	return isatty(STDOUT_FILENO);
}

static bool is_set(const char *name)
{
	const char *value = getenv(name);

	return value && *value;
}

/* The width that the user has exported counts for a pipe, too: less shows it.
 * 0: not known. */
static unsigned int exported_width(void)
{
	const char *columns = getenv("COLUMNS");
	long width = columns ? strtol(columns, NULL, 10) : 0;

	return width > 0 && width <= MOST_WIDTH ? (unsigned int)width : 0;
}

static unsigned int terminal_width(void)
{
	struct winsize size;

	if (exported_width())
		return exported_width();
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col)
		return size.ws_col;
	return USUAL_WIDTH;
}

static bool has_colours(void)
{
	const char *term = getenv("TERM");

	return !is_set("NO_COLOR") && term && *term &&
	       strcmp(term, "dumb") != 0;
}

/* The style of tables on standard output. TERMINAL: it is one, so lines are cut
 * to its width (COLUMNS, or what the terminal says, or 80). Sets the locale's
 * LC_CTYPE, which says whether the terminal has UTF-8. */
static struct swz_style terminal_style(enum swz_colour_when colour,
				       bool terminal)
{
	struct swz_style style = {0};

	setlocale(LC_CTYPE, "");
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	if (terminal)
		style.width = terminal_width();
	else if (colour == SWZ_COLOUR_ALWAYS)
		style.width = exported_width();
	style.colour = colour == SWZ_COLOUR_ALWAYS ||
		       (colour == SWZ_COLOUR_AUTO && terminal && has_colours());
	return style;
}

/* --- options that exclude each other ------------------------------------- */

/* Options that depend on the format are checked when all options are known,
 * since -f may come last. */

/* Options that do not go together end the program. */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Events are of all threads, and at the times that were measured; what is
 * neither them nor sums shows a file as it is. */
static unsigned int takes_of(const struct swz_format *format,
			     const struct swz_dump_options *options)
{
	unsigned int with = format->takes;

	if (format->section)
		with |= GIVEN_SEPARATE_THREADS | GIVEN_NO_COMPENSATE;
	if (format->functions)
		with |= GIVEN_DEMANGLE | GIVEN_DEBUG_DIR | GIVEN_SYMFS;
	if (format->section || format->events)
		with |= GIVEN_TID | GIVEN_RANGE | GIVEN_THREAD_PARTS |
			GIVEN_DEMANGLE | GIVEN_DEBUG_DIR | GIVEN_SYMFS;
	if (format->takes & SWZ_TAKES_NO_PARTS)
		with &= ~(unsigned int)GIVEN_THREAD_PARTS;
	if (format->takes & SWZ_TAKES_NAMES)
		with |= GIVEN_EMBED | GIVEN_NO_EMBED | GIVEN_DEBUG_DIR |
			GIVEN_SYMFS;
	if (format->by)
		with |= GIVEN_BY;
	if (format->events)
		with |= GIVEN_DEPTH;
	/* (what a trace takes of a page, its bytes say) */
	if (format->fewer_events)
		with |= GIVEN_LIMITS;
	if (format->takes & SWZ_TAKES_CALLS)
		with |= GIVEN_CALLS_OF | GIVEN_BLAME;
	if (options->given & with & GIVEN_CALLS_OF)
		with |= SWZ_TAKES_ROWS | SWZ_TAKES_SORT;
	if (options->calls.apart && format->invocations)
		with |= SWZ_TAKES_ROWS;
	/* which has rows, whatever the format's own are */
	if (format->by && options->by)
		with |= SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT |
			SWZ_FILTERS_ROWS;
	return with;
}

static unsigned int takes(const struct swz_dump_options *options)
{
	return takes_of(options->format, options);
}

static _Noreturn void not_taken(const struct swz_dump_options *options,
				const char *option)
{
	swz_dump_bad_usage("the format %s has no use for %s",
			   options->format->name, option);
}

#define LIST_BYTES 256

static void append_name(char list[LIST_BYTES], const char *name)
{
	size_t used = strlen(list);

	snprintf(list + used, LIST_BYTES - used, "%s%s", used ? ", " : "",
		 name);
}

/* OPTION, of which all formats take BIT that have a use for it. */
static _Noreturn void others_take(const struct swz_dump_options *options,
				  const char *option, unsigned int bit)
{
	char list[LIST_BYTES] = "";
	const struct swz_format *other;
	size_t i;

	for (i = 0; (other = swz_format_at(i)) != NULL; i++)
		if (takes_of(other, options) & bit)
			append_name(list, other->name);
	swz_dump_bad_usage("the format %s has no use for %s%s%s",
			   options->format->name, option,
			   *list ? "; those that have: " : "", list);
}

static _Noreturn void cannot_compare(const char *format)
{
	const struct swz_format *other;
	char names[LIST_BYTES] = "";
	size_t i;

	for (i = 0; (other = swz_format_at(i)) != NULL; i++)
		if (other->takes & SWZ_TAKES_DIFF)
			append_name(names, other->name);
	swz_dump_complain("the format %s has no use for --diff; those that "
			  "compare are: %s",
			  format, names);
	exit(EXIT_USAGE);
}

static void check_diff(const struct swz_dump_options *options)
{
	if (!(options->format->takes & SWZ_TAKES_DIFF))
		cannot_compare(options->format->name);
	if (options->format->needs & SWZ_NEEDS_THREADS &&
	    options->thread_parts) {
		swz_dump_complain("--diff in the format %s adds all threads "
				  "up; --by thread,files makes a file for "
				  "each name of threads",
				  options->format->name);
		exit(EXIT_USAGE);
	}
	if (!options->argument_count) {
		swz_dump_bad_usage("--diff needs two sides: --diff OLD NEW, or "
				   "several runs of each, --diff OLD... -- "
				   "NEW...");
	}
	/* "--diff old.* new.*" would compare one old run with all others */
	if (options->argument_count > 1 && !options->sides_parted) {
		swz_dump_bad_usage("--diff of %zu profiles needs a -- between "
				   "old and new: --diff OLD... -- NEW...",
				   options->argument_count +
					   options->old_count);
	}
	if (options->table.sort == SWZ_SORT_MIN ||
	    options->table.sort == SWZ_SORT_MAX ||
	    options->table.sort == SWZ_SORT_WAITING) {
		swz_dump_bad_usage("--diff is not sorted by min, max or "
				   "waiting");
	}
	if (options->threads.count) {
		swz_dump_complain("--diff has no use for --tid, as other "
				  "threads have other ids; --by thread "
				  "compares those with the same name");
		exit(EXIT_USAGE);
	}
}

/* Tables of functions are sorted by all keys, contexts have no shortest and
 * longest calls, and where they are not sorted the key says what counts. */
static bool sort_fits(unsigned int with, enum swz_sort sort)
{
	if (with & GIVEN_CALLS_OF)
		return sort == SWZ_SORT_START || sort == SWZ_SORT_INCLUSIVE;
	if (sort == SWZ_SORT_START)
		return false;
	if (with & SWZ_TAKES_BOTTOM_UP)
		return sort != SWZ_SORT_MIN && sort != SWZ_SORT_MAX;
	return with & SWZ_TAKES_ROWS || sort == SWZ_SORT_SELF ||
	       sort == SWZ_SORT_CPU || sort == SWZ_SORT_WAITING ||
	       sort == SWZ_SORT_CALLS;
}

static void check_sort(const struct swz_dump_options *options)
{
	unsigned int with = takes(options);
	char list[LIST_BYTES] = "";
	enum swz_sort sort;
	const char *name;
	size_t i;

	if (sort_fits(with, options->table.sort))
		return;
	for (i = 0; (name = swz_dump_sort_key(i, &sort)) != NULL; i++)
		if (sort_fits(with, sort))
			append_name(list, name);
	swz_dump_bad_usage("the format %s has no use for this sort key; it "
			   "has: %s",
			   options->format->name, list);
}

/* Shortest and longest calls are those of functions. */
static void check_by(struct swz_dump_options *options)
{
	const char *problem = NULL;

	if (options->old)
		problem = "--diff";
	else if (options->thread_parts || options->separate_threads)
		problem = "--by thread,parts and --by thread,files";
	else if (options->table.sort == SWZ_SORT_MIN ||
		 options->table.sort == SWZ_SORT_MAX)
		problem = "this sort key";
	if (!problem)
		return;
	swz_dump_bad_usage("--by %s has no use for %s",
			   swz_by_name(options->by), problem);
}

/* Threads are put together: each may work for any other. */
static void check_causes(const struct swz_dump_options *options)
{
	if (options->by == SWZ_BY_CAUSE)
		return; /* (as of any --by) */
	if (!(takes(options) & SWZ_TAKES_BOTTOM_UP))
		not_taken(options, "--causes");
	if (options->old || options->thread_parts || options->separate_threads)
		swz_dump_bad_usage("--causes has no use for %s",
				   options->old ? "--diff"
						: "--by thread,parts and --by "
						  "thread,files");
}

static void check_apart(const struct swz_dump_options *options)
{
	const char *other = options->calls.blame      ? "--blame"
			    : options->at.given       ? "--at"
			    : options->calls.of.count ? "--calls-of"
						      : NULL;

	if (!options->format->invocations)
		not_taken(options, "--file-per-invocation");
	if (other) {
		swz_dump_bad_usage("--file-per-invocation has no use for "
				   "%s",
				   other);
	}
	if (!options->view.only.count) {
		swz_dump_bad_usage(
			"--file-per-invocation needs -F FUNCTION: of "
			"its calls each gets a file");
	}
	if (options->output && strcmp(options->output, "-") == 0)
		swz_dump_bad_usage("--file-per-invocation writes several "
				   "files: -o '%s' names no folder",
				   options->output);
}

const char *swz_dump_not_of_times(const struct swz_dump_options *options,
				  bool one_run)
{
	const struct swz_format *format = options->format;

	if (options->old && !one_run)
		return "--diff";
	if (options->thread_parts || options->separate_threads)
		return "--by thread,parts and --by thread,files";
	if (options->threads.count && !one_run)
		return "--tid";
	if (swz_dump_has_range(options))
		return "--from and --to";
	if (options->since)
		return "--since";
	if (options->columns_by == SWZ_BY_RANK)
		return "--by rank";
	if ((options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	     options->columns_by != SWZ_BY_NOTHING) &&
	    !one_run)
		return "--by thread and --by process";
	if (options->table.sort == SWZ_SORT_MIN ||
	    options->table.sort == SWZ_SORT_MAX)
		return "the shortest and longest calls";
	return format->section ? NULL : format->name;
}

/* (Of a file that is shown as it is nothing is taken away.) */
static void check_since(const struct swz_dump_options *options)
{
	if (options->format->file)
		not_taken(options, "--since");
	if (options->old || options->from.given || options->in_place) {
		swz_dump_bad_usage("--since has no use for %s",
				   options->old        ? "--diff"
				   : options->in_place ? "--embed"
						       : "--from");
	}
}

static void check_times(const struct swz_dump_options *options)
{
	const char *what = swz_dump_not_of_times(options, false);

	if (!what)
		return;
	if (!options->format->section && what == options->format->name)
		swz_dump_bad_usage("the format %s has no use for --times",
				   what);
	else
		swz_dump_bad_usage("--times has no use for %s: only sums over "
				   "all threads are known of both runs",
				   what);
}

/* A gate looks at the sums of functions, as some formats show them. */
static void check_gates(const struct swz_dump_options *options)
{
	if (options->annotate && !swz_gates_any(options))
		swz_dump_bad_usage("--annotate says what --fail-above, "
				   "--fail-calls-above or --budget find: give "
				   "one of them");
	if (!options->budget)
		return;
	if (!options->format->section || options->by)
		swz_dump_bad_usage("%s%s has no use for --budget; text, csv "
				   "and json have",
				   options->by ? "--by" : "the format ",
				   options->by ? "" : options->format->name);
	swz_gates_read_budget(options->budget);
}

/* A format that compresses its file itself is not named as if it did so in
 * another way. */
static void check_name(const struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	enum swz_compression named = swz_compression_of(options->output);

	if (named == SWZ_PLAIN || !(format->takes & SWZ_COMPRESSES) ||
	    (format->suffix && swz_compression_of(format->suffix) == named))
		return;
	swz_dump_bad_usage("the format %s is not compressed by the name of its "
			   "file: '%s' would be no such file. Leave the %s "
			   "out",
			   format->name, options->output,
			   strrchr(options->output, '.'));
}

/* -f asm FUNCTION: the first word, if it is no file. */
static void take_function(struct swz_dump_options *options)
{
	size_t i;

	if (!options->argument_count ||
	    access(options->arguments[0], F_OK) == 0)
		return;
	swz_patterns_add(&options->view.only, options->arguments[0]);
	options->argument_count--;
	for (i = 0; i < options->argument_count; i++)
		options->arguments[i] = options->arguments[i + 1];
}

/* --by thread: where there are no rows of threads each has a part. */
static void make_thread_parts(struct swz_dump_options *options)
{
	if (options->by != SWZ_BY_THREAD || options->columns_by ||
	    (options->format->by && !options->old))
		return;
	options->by = SWZ_BY_NOTHING;
	options->thread_parts = true;
	options->given &= ~(unsigned int)GIVEN_BY;
	options->given |= GIVEN_THREAD_PARTS;
}

/* All are known, the format too. */
static void dump_check_options(struct swz_dump_options *options)
{
	static const struct {
		unsigned int bit;
		const char *option;
	} names[] = {
		{SWZ_TAKES_ROWS, "-n"},
		{SWZ_TAKES_SORT, "-s"},
		{SWZ_TAKES_LIMIT, "--percent-limit"},
		{SWZ_TAKES_BOTTOM_UP, "--bottom-up"},
		{SWZ_TAKES_SOURCE, "--no-source"},
		{GIVEN_TID, "--tid"},
		{GIVEN_RANGE, "--from or --to"},
		{GIVEN_THREAD_PARTS, "--by thread,parts"},
		{GIVEN_SEPARATE_THREADS, "--by thread,files"},
		{GIVEN_NO_COMPENSATE, "--no-compensate"},
		{GIVEN_DEMANGLE, "--demangle"},
		{GIVEN_EMBED, "--embed"},
		{GIVEN_NO_EMBED, "--no-embed"},
		{GIVEN_DEBUG_DIR, "--debug-dir"},
		{GIVEN_SYMFS, "--symfs"},
		{GIVEN_BY, "--by"},
		{SWZ_TAKES_CALLS, "--at"},
		{GIVEN_DEPTH, "-D, --depth and --max-depth"},
		{GIVEN_LIMITS, "-t, --min-time and --sample-events"},
		{GIVEN_CALLS_OF, "--calls-of"},
		{GIVEN_BLAME, "--blame"},
		{SWZ_TAKES_RINGS, "--ring-clock and --ring-paths"},
	};
	const struct swz_format *format = options->format;
	size_t i;

	if (format->of_code)
		take_function(options);
	make_thread_parts(options);
	for (i = 0; i < COUNT(names); i++)
		if (options->given & ~takes(options) & names[i].bit)
			others_take(options, names[i].option, names[i].bit);
	if (options->given & SWZ_TAKES_SORT)
		check_sort(options);
	if (options->given & GIVEN_BY)
		check_by(options);
	if (options->calls.blame &&
	    (options->at.given || options->calls.of.count)) {
		swz_dump_bad_usage("--blame has no use for %s",
				   options->at.given ? "--at" : "--calls-of");
	}
	if (options->calls.apart)
		check_apart(options);
	if (options->syntax && !format->of_code)
		not_taken(options, "--syntax");
	if (options->table.offsets && !(takes(options) & SWZ_TAKES_BOTTOM_UP))
		not_taken(options, "--offsets");
	if (options->table.offsets && options->old)
		swz_dump_bad_usage("--offsets has no use for --diff: each "
				   "version has its own");
	if (options->causes)
		check_causes(options);
	if (options->output)
		check_name(options);
	if (options->since)
		check_since(options);
	if (options->times)
		check_times(options);
	if (options->old)
		check_diff(options);
	else if (options->fail_above >= 0 || options->fail_calls_above >= 0) {
		swz_dump_bad_usage("%s is for comparisons: --diff OLD... -- "
				   "NEW...",
				   options->fail_above >= 0
					   ? "--fail-above"
					   : "--fail-calls-above");
	}
	check_gates(options);
	if (format->file && options->process_count)
		not_taken(options, "--process");
	if (!format->section && !format->events && !format->functions &&
	    !swz_view_is_whole(&options->view))
		not_taken(options, "-F, -N, -H, -C and --script");
	if (takes(options) & SWZ_FILTERS_ROWS) {
		options->table.filters = options->view.only;
		options->view.only = (struct swz_patterns){0};
	}
	if (options->separate_threads && options->output &&
	    strcmp(options->output, "-") == 0 && format->prefix)
		swz_dump_bad_usage("one file per thread cannot be written to "
				   "'%s'",
				   options->output);
}

/* --push: the server says which format. */
static void dump_choose_pushed(struct swz_dump_options *options)
{
	const char *name = swz_push_format(options->push);

	if (options->output || options->old || options->merge_into ||
	    (options->format && strcmp(options->format->name, name) != 0)) {
		swz_dump_bad_usage(
			"--push to this URL sends the format %s, and "
			"has no use for -o, --diff, --merge-into and "
			"other formats",
			name);
	}
	options->format = swz_format_find(name);
}

static void check_open(const struct swz_dump_options *options)
{
	const char *suffix = options->format->suffix;

	if (!options->open)
		return;
	if (!suffix || (strstr(suffix, ".html") == NULL &&
			strcmp(suffix, ".rings.svg") != 0))
		swz_dump_bad_usage("--open shows a page: -f html, graph, "
				   "calls-html or rings");
	if (options->output && strcmp(options->output, "-") == 0)
		swz_dump_bad_usage("--open needs a file: -o '-' is standard "
				   "output");
}

/* --merge-into: the sum is of all that is in the profiles. */
static void dump_check_merge(const struct swz_dump_options *options)
{
	if (options->format || options->output || options->old ||
	    options->times || options->given || options->since ||
	    !swz_view_is_whole(&options->view)) {
		swz_dump_bad_usage("--merge-into has no use for options that "
				   "choose, sort or write: use them when you "
				   "read %s",
				   options->merge_into);
	}
	if (!options->argument_count) {
		swz_dump_bad_usage("--merge-into %s: no profiles are given "
				   "that are to be added to it",
				   options->merge_into);
	}
}

/* --- style of the output ------------------------------------------------- */

/* How tables look, and what their options are taken from. */

/* Words that a shell takes as they are, each with a space before it. FIRST: an
 * option that they need. */
static char *join_inputs(const char *first, char **arguments, size_t count)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,:@%=-";
	char *joined = swz_duplicate(first);
	size_t i;

	for (i = 0; i < count; i++) {
		const char *word = arguments[i];
		char *longer;

		if (!word[0] || word[strspn(word, plain)] ||
		    strlen(joined) + strlen(word) > strlen(first) + 30)
			word = "...";
		longer = swz_print("%s %s", joined, word);
		free(joined);
		joined = longer;
		if (strcmp(word, "...") == 0)
			break;
	}
	return joined;
}

/* When the format is known. */
static void dump_set_style(struct swz_dump_options *options)
{
	unsigned int takes = options->format->takes;
	bool terminal = !options->output && terminal_is_output();
	bool styled = takes & SWZ_FOR_PEOPLE ||
		      (takes & SWZ_FOR_TERMINALS &&
		       (terminal || (swz_dump_to_standard_output(options) &&
				     options->colour == SWZ_COLOUR_ALWAYS)));

	if (!(options->given & SWZ_TAKES_ROWS))
		options->table.rows = options->calls.apart
					      ? SWZ_INVOCATIONS
					      : options->format->rows;
	options->calls.rows = options->table.rows;
	if (options->given & SWZ_TAKES_ROWS)
		options->calls.first = options->table.rows;
	options->rings.rows = options->table.rows;
	options->calls.by_start = options->table.sort == SWZ_SORT_START;
	options->calls.at = options->at.given;
	if (styled) {
		options->style = terminal_style(options->colour, terminal);
		options->table.style = &options->style;
		options->calls.style = &options->style;
	}
	if ((styled || options->format->proposes) && !options->quiet &&
	    !options->old)
		options->table.inputs = options->inputs = join_inputs(
			options->view.script ? " --script" : "",
			options->arguments, options->argument_count);
}

/* --- the command line ---------------------------------------------------- */

/* Each value is checked as it is read. */

static _Noreturn void bad_directory(const char *as, const char *value)
{
	swz_dump_bad_usage("option %s: '%s': %s", as, value, strerror(errno));
}

/* WHAT: "file name" */
static const char *not_empty(const char *as, const char *value,
			     const char *what)
{
	if (!*value)
		swz_dump_bad_usage("option %s: the %s is empty", as, what);
	return value;
}

/* Refuses an option that means nothing when it is given twice. */
static void once(const char *as, bool given, const char *value)
{
	if (given)
		swz_dump_bad_usage("option %s is given twice: '%s' is a second "
				   "%s",
				   as, value, as);
}

static void add_pattern(struct swz_patterns *patterns, const char *as,
			const char *pattern)
{
	if (strcmp(pattern, "!") == 0)
		pattern = "";
	swz_patterns_add(patterns, not_empty(as, pattern, "pattern"));
}

static void add_argument(char ***list, size_t *count, const char *argument)
{
	*list = swz_reallocate(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = (char *)(uintptr_t)argument;
}

static void take_option(void *context, const struct swz_option *option,
			const char *as, const char *value)
{
	struct swz_dump_options *options = context;

	options->given |= option->group;
	switch (option->id ? option->id : option->letter) {
	case 'f':
		options->format = swz_dump_parse_format(as, value);
		break;
	case 'o':
		options->output = not_empty(as, value, "file name");
		break;
	case 'F':
		add_pattern(&options->view.only, as, value);
		break;
	case 'N':
		add_pattern(&options->view.without, as, value);
		break;
	case 'H':
		add_pattern(&options->view.hidden, as, value);
		break;
	case 'C':
		add_pattern(&options->view.callers, as, value);
		break;
	case 'n':
		options->table.rows = swz_dump_parse_count(
			as, value, "a number of rows (0: all)", INT32_MAX);
		break;
	case 's':
		options->table.sort = swz_dump_parse_sort(as, value);
		break;
	case 'q':
		options->quiet = true;
		break;
	case OPTION_THREAD_PARTS:
		options->thread_parts = true;
		break;
	case OPTION_SEPARATE_THREADS:
		options->separate_threads = true;
		break;
	case OPTION_NO_COMPENSATE:
		options->compensate = false;
		break;
	case OPTION_NO_DEBUGINFOD:
		/* libdw asks no server then */
		unsetenv("DEBUGINFOD_URLS");
		break;
	case OPTION_EMBED:
		options->embed = true;
		break;
	case OPTION_NO_EMBED:
		options->embed = false;
		break;
	case OPTION_DEBUG_DIR:
		if (swz_debug_files_add(&options->files, value) != 0)
			bad_directory(as, value);
		break;
	case OPTION_SYMFS:
		once(as, options->files.root != NULL, value);
		if (swz_debug_files_set_root(&options->files, value) != 0)
			bad_directory(as, value);
		break;
	case OPTION_DEMANGLE:
		options->demangle = swz_dump_parse_demangle(as, value);
		break;
	case OPTION_PERCENT_LIMIT:
		options->table.percent_limit = swz_dump_parse_percent(as,
								      value);
		break;
	case OPTION_BOTTOM_UP:
		options->table.bottom_up = true;
		break;
	case OPTION_OFFSETS:
		options->table.offsets = true;
		break;
	case OPTION_CAUSES:
		options->causes = true;
		break;
	case OPTION_DIFF:
		(void)not_empty(as, value, "file name");
		once(as, options->old != NULL, value);
		if (value[0] == '-' && access(value, F_OK) != 0)
			swz_dump_bad_usage("option %s: '%s' is no profile. It "
					   "is followed by OLD and NEW; "
					   "options stand before or behind "
					   "these",
					   as, value);
		add_argument(&options->old, &options->old_count, value);
		break;
	case OPTION_TIMES:
		once(as, options->times != NULL, value);
		options->times = (char *)(uintptr_t)not_empty(as, value,
							      "file name");
		break;
	case OPTION_SCRIPT:
		options->view.script = true;
		break;
	case OPTION_CONFIG:
		options->config_path = not_empty(as, value, "file name");
		break;
	case OPTION_GET_NAMES:
		options->get_names = true;
		options->format = swz_format_find("table");
		break;
	case OPTION_NEVER:
		options->format = swz_format_find("never");
		break;
	case OPTION_WHY:
		once(as, options->calls.why, value);
		add_pattern(&options->calls.of, as, value);
		options->calls.why = true;
		break;
	case OPTION_FOLLOW:
		options->follow = true;
		break;
	case OPTION_CALL:
		options->calls.nth = swz_dump_parse_count(
			as, value, "a call: 1 is the slowest", INT32_MAX);
		break;
	case OPTION_RAN:
		once(as, options->ran.count != 0, value);
		add_pattern(&options->ran, as, value);
		break;
	case OPTION_TESTS_OF:
		once(as, options->tests_of.count != 0, value);
		add_pattern(&options->tests_of, as, value);
		break;
	case OPTION_AFFECTED:
	case OPTION_REBUILT:
		once(as, options->old_build != NULL, value);
		options->old_build = not_empty(as, value, "file name");
		options->affected = option->id == OPTION_AFFECTED;
		break;
	case OPTION_NO_TIMES:
		options->own_times = true;
		break;
	case OPTION_FAIL_ABOVE:
		options->fail_above = swz_dump_parse_percent(as, value);
		break;
	case OPTION_FAIL_CALLS_ABOVE:
		options->fail_calls_above = swz_dump_parse_percent(as, value);
		break;
	case OPTION_BUDGET:
		once(as, options->budget != NULL, value);
		options->budget = not_empty(as, value, "file name");
		break;
	case OPTION_TOLD:
		options->told = true;
		break;
	case OPTION_ANNOTATE:
		options->annotate = true;
		break;
	case OPTION_BY:
		swz_dump_parse_by(options, as, value);
		options->causes |= options->by == SWZ_BY_CAUSE;
		break;
	case OPTION_PUSH:
		if (swz_push_problem(value))
			swz_dump_bad_usage("option %s: %s", as,
					   swz_push_problem(value));
		options->push = value;
		break;
	case OPTION_PROCESS:
		add_argument(&options->processes, &options->process_count,
			     not_empty(as, value, "process"));
		break;
	case OPTION_MERGE_INTO:
		options->merge_into = not_empty(as, value, "file name");
		break;
	case OPTION_COLOUR:
		options->colour = value ? swz_dump_parse_colour(as, value)
					: SWZ_COLOUR_ALWAYS;
		break;
	case OPTION_NO_SOURCE:
		options->table.without_source = true;
		break;
	case OPTION_JSON:
		options->format = swz_format_find("json");
		break;
	case OPTION_OPEN:
		options->open = true;
		break;
	case OPTION_NO_PAGER:
		options->pager = false;
		break;
	case OPTION_SINCE:
		options->since = not_empty(as, value, "file name");
		break;
	case OPTION_FROM:
		options->from = swz_dump_parse_moment(as, value);
		break;
	case OPTION_TO:
		options->to = swz_dump_parse_moment(as, value);
		break;
	case 'D':
		options->limits.max_depth = options->calls.depth =
			(uint32_t)swz_dump_parse_count(
				as, value, "a number of levels (0: all)",
				INT32_MAX);
		break;
	case 't':
		options->limits.min_ns = swz_dump_parse_duration(as, value);
		break;
	case OPTION_SAMPLE_EVENTS:
		options->limits.every = swz_dump_parse_count(
			as, value, "a number of calls (0: each)", INT64_MAX);
		break;
	case OPTION_AT:
		options->at = swz_dump_parse_moment(as, value);
		break;
	case OPTION_BLAME:
		options->calls.blame = true;
		break;
	case OPTION_CALLS_OF:
		add_pattern(&options->calls.of, as, value);
		break;
	case OPTION_APART:
		options->calls.apart = true;
		break;
	case OPTION_RING_CLOCK:
		options->rings.clock = swz_dump_parse_clock(as, value);
		break;
	case OPTION_SYNTAX:
		options->syntax = value;
		options->assembly.intel = swz_dump_parse_syntax(as, value);
		break;
	case OPTION_RING_PATHS:
		options->rings.paths = swz_dump_parse_paths(as, value);
		break;
	case OPTION_TID:
		swz_thread_choice_add(&options->threads,
				      not_empty(as, value, "thread"));
		break;
	default:
		break;
	}
}

static int take_word(void *context, char **words)
{
	struct swz_dump_options *options = context;

	add_argument(&options->arguments, &options->argument_count, words[0]);
	return 1;
}

/* --diff OLD... -- NEW...: the profiles before the first "--" are old ones, and
 * behind it there may be options, as anywhere else. */
static bool part_sides(void *context)
{
	struct swz_dump_options *options = context;
	size_t i;

	if (!options->old || options->sides_parted)
		return false;
	for (i = 0; i < options->argument_count; i++)
		add_argument(&options->old, &options->old_count,
			     options->arguments[i]);
	options->argument_count = 0;
	options->sides_parted = true;
	return true;
}

/* The answer is a table wherever it goes; a file for another program is made
 * on request only. */
static const struct swz_format *default_format(
	const struct swz_dump_options *options)
{
	if (options->given & SWZ_TAKES_BOTTOM_UP || options->table.offsets ||
	    (options->causes && options->by == SWZ_BY_NOTHING))
		return swz_format_find("tree");
	if (options->calls.apart ||
	    options->given & (SWZ_TAKES_CALLS | GIVEN_CALLS_OF | GIVEN_BLAME))
		return swz_format_find("calls");
	if (!options->output && terminal_is_output())
		return swz_format_find("table");
	return swz_format_find("text");
}

/* --ran, --tests-of, --affected: what is printed is no format. */
static void check_question(struct swz_dump_options *options)
{
	const char *option = options->ran.count        ? "--ran"
			     : options->tests_of.count ? "--tests-of"
						       : "--affected";

	if (options->format || options->output || options->old ||
	    options->merge_into || options->times || options->since ||
	    (options->ran.count != 0) + (options->tests_of.count != 0) +
			    options->affected >
		    1)
		swz_dump_bad_usage("%s has no use for options that choose a "
				   "format, a file or other profiles",
				   option);
	options->format = swz_format_find("cover");
}

/* The word behind --affected OLD or --rebuilt OLD is the new build. */
static void take_new_build(struct swz_dump_options *options)
{
	const char *option = options->affected ? "--affected" : "--rebuilt";

	if (options->argument_count < 2)
		swz_dump_bad_usage("%s OLD NEW PROFILE...: the new program and "
				   "profiles of the old one are missing",
				   option);
	if (!options->affected &&
	    !(options->format && options->format->functions))
		swz_dump_bad_usage("%s is for -f cover, -f lcov, -f order, "
				   "-f sections, --never, --ran and --tests-of",
				   option);
	options->new_build = options->arguments[0];
	options->argument_count--;
	memmove(options->arguments, options->arguments + 1,
		options->argument_count * sizeof(*options->arguments));
}

/* --why is a view of -f calls, which --json makes one for programs. */
static void choose_why(struct swz_dump_options *options)
{
	const struct swz_format *calls = swz_format_find("calls");

	options->calls.json = options->format == swz_format_find("json");
	if (options->format && options->format != calls && !options->calls.json)
		swz_dump_bad_usage("--why has no use for -f %s",
				   options->format->name);
	if (options->calls.of.count > 1 || options->calls.blame ||
	    options->at.given || options->calls.apart)
		swz_dump_bad_usage("--why has no use for --calls-of, --blame, "
				   "--at and --file-per-invocation");
	options->format = calls;
}

/* A call is written when it begins: nothing can depend on its end. */
static void choose_follow(struct swz_dump_options *options)
{
	const struct swz_format *calls = swz_format_find("calls");

	if (options->format && options->format != calls)
		swz_dump_bad_usage("--follow is of -f calls: it has no use for "
				   "-f %s",
				   options->format->name);
	if (options->calls.of.count || options->calls.blame ||
	    options->calls.apart || options->at.given || options->old ||
	    swz_dump_has_range(options) || options->limits.min_ns ||
	    options->limits.every > 1 || options->given & SWZ_TAKES_ROWS)
		swz_dump_bad_usage(
			"--follow shows each call when it begins: it "
			"has no use for --why, --calls-of, --blame, "
			"--at, --from, --to, -t and -n");
	if (!options->argument_count)
		swz_dump_bad_usage("--follow needs the name of a profile (-: "
				   "names are read from standard input)");
	options->format = calls;
	options->pager = false;
}

/* (What it leaves out is no reason to refuse a format that leaves nothing
 * out.) */
static void read_config(struct swz_dump_options *options)
{
	char problem[SWZ_CONFIG_PROBLEM_BYTES];

	if (!swz_config_file_read(&options->config, options->config_path,
				  problem)) {
		int error = errno;

		swz_dump_complain("%s", problem);
		exit(error == ENOMEM ? EXIT_FAILURE : EXIT_USAGE);
	}
	if (!options->config.count)
		return;
	options->view.rules = swz_allocate(1, sizeof(*options->view.rules));
	swz_rules_begin(options->view.rules, &options->config);
}

const struct swz_option_table swz_dump_option_table = {
	.tool = "swizzle-dump",
	.before = "Usage: swizzle-dump [options] [FILE|DIR...]\n"
		  "Convert swizzle profiles; several are merged. Default: the "
		  "newest\n"
		  "swizzle.out.* in the working directory.\n"
		  "\n",
	.examples =
		"Examples:\n"
		"  swizzle-dump profile                     which functions "
		"are "
		"slow\n"
		"  swizzle-dump -f tree -F parse profile    who calls parse, "
		"what it calls\n"
		"  swizzle-dump -f html profile             all of it in a "
		"browser\n",
	.after = "",
	.options = swz_dump_option_list,
	.column = 25,
	.kind = SWZ_WORDS_FILES,
	.take = take_option,
	.word = take_word,
	.dashes = part_sides,
};

void swz_dump_parse_options(struct swz_dump_options *options, char **argv)
{
	*options = (struct swz_dump_options){
		.compensate = true,
		.embed = true,
		.fail_above = -1,
		.fail_calls_above = -1,
		.demangle = SWZ_DEMANGLE_SIMPLE,
		.pager = true,
		.table = {.percent_limit = -1},
	};
	swz_options_parse(&swz_dump_option_table, argv, options);
	if (!options->quiet)
		swz_variables_check(swz_variables_of_dump, true);
	/* without a format: the profile itself is what gets the names */
	if (!options->format && !options->old && options->embed &&
	    options->given & GIVEN_EMBED) {
		options->in_place = true;
		options->format = swz_format_find("archive");
	}
	if (options->in_place && options->output)
		swz_dump_bad_usage("--embed without -f adds to the profile "
				   "itself and has no use for -o '%s'",
				   options->output);
	if (options->merge_into)
		dump_check_merge(options);
	if (options->push)
		dump_choose_pushed(options);
	if (options->ran.count || options->tests_of.count || options->affected)
		check_question(options);
	if (options->old_build)
		take_new_build(options);
	if (options->calls.why)
		choose_why(options);
	else if (options->calls.nth)
		swz_dump_bad_usage("--call is for --why only");
	if (options->follow)
		choose_follow(options);
	if (!options->format && options->open)
		options->format = swz_format_find("html");
	if (!options->format)
		options->format = default_format(options);
	check_open(options);
	dump_check_options(options);
	read_config(options);
	dump_set_style(options);
}

void swz_dump_free_options(struct swz_dump_options *options)
{
	free(options->inputs);
	free(options->arguments);
	free(options->old);
	free(options->processes);
	swz_patterns_free(&options->table.filters);
	swz_patterns_free(&options->ran);
	swz_patterns_free(&options->tests_of);
	if (options->view.rules)
		swz_rules_free(options->view.rules);
	free(options->view.rules);
	swz_config_file_free(&options->config);
	swz_view_free(&options->view);
	free(options->callers);
	swz_patterns_free(&options->calls.of);
	swz_thread_choice_free(&options->threads);
	swz_debug_files_free(&options->files);
}

bool swz_dump_wants(const struct swz_dump_options *options,
		    const struct swz_profile_thread *thread)
{
	return swz_thread_is_chosen(&options->threads, thread);
}

bool swz_dump_wants_process(const struct swz_dump_options *options,
			    const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < options->process_count; i++)
		if (swz_process_is_named(profile, options->processes[i]))
			return true;
	return !options->process_count;
}
