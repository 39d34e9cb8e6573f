/* Each value is checked as it is read; what depends on the format is checked
 * when all options are known, since -f may come last. */

#include "tools/dump/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/variables.h"
#include "options/words.h"
#include "profile/file/process_choice.h"
#include "profile/support/memory.h"
#include "tools/dump/message.h"
#include "tools/dump/push.h"
#include "tools/dump/target.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

static const struct {
	const char *name;
	enum swz_sort sort;
} sort_keys[] = {
	{"self", SWZ_SORT_SELF},   {"incl", SWZ_SORT_INCLUSIVE},
	{"calls", SWZ_SORT_CALLS}, {"name", SWZ_SORT_NAME},
	{"min", SWZ_SORT_MIN},     {"max", SWZ_SORT_MAX},
	{"start", SWZ_SORT_START},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char usage_text[] =
	"Usage: swizzle-dump [options] [FILE|DIR...]\n"
	"Convert swizzle profiles; several are merged. Default: the newest\n"
	"swizzle.out.* in the working directory.\n"
	"\n"
	"  -f, --format FORMAT    table (default on a terminal), callgrind "
	"(default\n"
	"                         elsewhere), tree, html, ...; `help' lists "
	"them\n"
	"  -o, --output FILE      `-': standard output. Default: callgrind\n"
	"                         writes callgrind.out.PID, most others to\n"
	"                         standard output\n"
	"      --by KEY           table, text, csv, json: a row for each "
	"function,\n"
	"                         module, process, thread, file or line; "
	"KEY,thread\n"
	"                         KEY,process or KEY,rank: with their "
	"columns; rank:\n"
	"                         how functions differ between the ranks of "
	"a\n"
	"                         parallel program\n"
	"      --merge-into FILE  add the profiles to FILE, which becomes the "
	"sum of all\n"
	"                         that were ever added; each is added once\n"
	"      --thread-parts     one part (table, tree, ...) per thread\n"
	"      --separate-threads one file (or table) per thread\n"
	"      --push URL         send the profiles to a server: "
	".../v1development/profiles\n"
	"                         (OTLP), .../ingest (Pyroscope) or "
	".../writeraw (Parca)\n"
	"      --process PROCESS  only the profiles of processes with this "
	"name "
	"(* ? []),\n"
	"                         path or number; may be repeated\n"
	"      --tid THREAD       only the threads with this id, or a name "
	"that\n"
	"                         matches (* ? []); may be repeated\n"
	"      --from TIME        of a trace, what happened from then on: "
	"seconds\n"
	"                         since the start (0.25), or percent (25%)\n"
	"      --to TIME          the same, up to then\n"
	"      --since SNAPSHOT   what happened after that (swizzle-ctl "
	"snapshot)\n"
	"      --no-compensate    do not subtract the cost of the hooks\n"
	"      --demangle=HOW     no, simple (default; without parameters) or\n"
	"                         full\n"
	"      --config FILE      which calls are shown, and how: see\n"
	"                         docs/config.md [~/.config/swizzle/config,\n"
	"                         then ./.swizzle]\n"
	"  -F, --filter PATTERN   only functions that match, and what they\n"
	"                         call; in tables only rows that match; tree:\n"
	"                         callers and callees of those that match\n"
	"  -N, --notrace PATTERN  not the functions that match, nor what they\n"
	"                         call\n"
	"  -H, --hide PATTERN     not the functions that match\n"
	"  -C, --caller PATTERN   only the functions that match, and the paths "
	"that\n"
	"                         lead to them\n"
	"                         (!PATTERN in these four: not what matches)\n"
	"      --script           only functions of scripts: the interpreter's "
	"own\n"
	"                         count for those that call them\n"
	"  -t, --min-time TIME    events of a trace: no calls shorter than "
	"TIME\n"
	"                         (10us, 2ms), nor what they call\n"
	"  -D, --depth N          events of a trace, calls: only the first N "
	"levels\n"
	"      --max-depth N      the same\n"
	"      --sample-events N  events of a trace: one call of N, with the "
	"calls\n"
	"                         around it\n"
	"      --at TIME          calls: the stacks at this moment (as "
	"--from)\n"
	"      --blame            calls: of each error the call that returned "
	"it first,\n"
	"                         and the callers that handed it on\n"
	"      --calls-of PATTERN calls: the single calls of these functions, "
	"the\n"
	"                         longest first (-s start: the earliest), and "
	"how\n"
	"                         their times are spread\n"
	"      --file-per-invocation\n"
	"                         calls, calls-html: a file for each call of "
	"the\n"
	"                         functions of -F (at most -n, 1000) and an "
	"index, in\n"
	"                         the folder that -o names\n"
	"      --ring-clock CLOCK rings: clockwise is time (default), or one "
	"tick\n"
	"                         for each of the calls\n"
	"      --ring-paths PATHS rings: the colour is by the callees "
	"(default) or\n"
	"                         the arguments of a call\n"
	"  -n N                   tables, tree: at most N rows (0: all; "
	"table:\n"
	"                         25; calls --calls-of: 25); calls-html: "
	"calls\n"
	"                         (500000)\n"
	"  -s, --sort KEY         tables, tree: sort by self, incl, calls,\n"
	"                         name, min or max (calls: incl or start)\n"
	"      --percent-limit P  leave out what is below P percent\n"
	"      --bottom-up        tree: each function with its callers\n"
	"      --embed            add the names and source lines that FILE "
	"needs\n"
	"                         to FILE, for other machines and later; an "
	"archive\n"
	"                         has them unless --no-embed is given\n"
	"      --debug-dir DIR    look for separate debug files in DIR, too; "
	"may\n"
	"                         be repeated\n"
	"      --symfs DIR        look for programs and libraries below DIR\n"
	"      --no-source        html: leave the text of source files out\n"
	"      --color=WHEN       auto (default: on a terminal, unless "
	"NO_COLOR "
	"is\n"
	"                         set), always or never\n"
	"      --no-pager         print long tables as they are, not through\n"
	"                         SWIZZLE_PAGER, PAGER or less\n"
	"      --diff OLD NEW     compare two profiles (files or directories)\n"
	"      --diff OLD... -- NEW...\n"
	"                         compare several runs of each, and tell\n"
	"                         changes from noise: text (the default "
	"then),\n"
	"                         table, tree, csv, json, folded, callgrind\n"
	"      --fail-above P     with --diff: status 1 if the total or a\n"
	"                         function has become slower by more than P\n"
	"                         percent, beyond the noise\n"
	"      --times SAMPLES    take the times from SAMPLES, a profile of "
	"the "
	"same\n"
	"                         command by swizzle-run -m sample; counts "
	"are\n"
	"                         those of FILE\n"
	"      --no-times         of a run with -m both: the times that were "
	"recorded\n"
	"                         with the counts\n"
	"      --no-debuginfod    do not ask the servers in DEBUGINFOD_URLS "
	"for\n"
	"                         debug information\n"
	"  -q, --quiet            no warnings\n"
	"  -V, --version\n"
	"  -h, --help\n";

#define TRY_HELP "Try 'swizzle-dump --help'."

static _Noreturn void bad_usage(const char *what, const char *value)
{
	swz_dump_complain("%s '%s'\n" TRY_HELP, what, value);
	exit(EXIT_USAGE);
}

static _Noreturn void unknown_word(const char *what, const char *value,
				   swz_word_at *at)
{
	char advice[SWZ_ADVICE_BYTES];

	swz_word_advice(at, value, advice);
	swz_dump_complain("unknown %s '%s'%s\n" TRY_HELP, what, value, advice);
	exit(EXIT_USAGE);
}

static _Noreturn void bad_directory(const char *option, const char *value)
{
	swz_dump_complain("%s '%s': %s", option, value, strerror(errno));
	exit(EXIT_USAGE);
}

/* Ends the program with success, unless what was printed is lost. */
static _Noreturn void finish_printing(void)
{
	if (fflush(stdout) != 0) {
		swz_dump_complain("standard output: %s", strerror(errno));
		exit(EXIT_INPUT);
	}
	exit(EXIT_OK);
}

static const char *format_at(size_t index)
{
	const struct swz_format *format = swz_format_at(index);

	return format ? format->name : NULL;
}

static const struct swz_format *parse_format(const char *name)
{
	const struct swz_format *format = swz_format_find(name);

	if (strcmp(name, "help") == 0) {
		swz_formats_list(stdout);
		finish_printing();
	}
	if (!format)
		unknown_word("format", name, format_at);
	return format;
}

static const char *sort_key_at(size_t index)
{
	return index < COUNT(sort_keys) ? sort_keys[index].name : NULL;
}

static enum swz_sort parse_sort(const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(sort_keys); i++)
		if (strcmp(name, sort_keys[i].name) == 0)
			return sort_keys[i].sort;
	unknown_word("sort key", name, sort_key_at);
}

/* In the order of enum swz_demangle. */
static const char *demangle_at(size_t index)
{
	static const char *const ways[] = {
		[SWZ_DEMANGLE_NO] = "no",
		[SWZ_DEMANGLE_SIMPLE] = "simple",
		[SWZ_DEMANGLE_FULL] = "full",
	};

	return index < COUNT(ways) ? ways[index] : NULL;
}

static enum swz_demangle parse_demangle(const char *name)
{
	int way = swz_word_is(demangle_at, name, strlen(name));

	if (way < 0)
		unknown_word("way to demangle", name, demangle_at);
	return (enum swz_demangle)way;
}

/* In the order of enum swz_rings_clock. */
static const char *clock_at(size_t index)
{
	static const char *const clocks[] = {
		[SWZ_RINGS_TIME] = "time",
		[SWZ_RINGS_CALLS] = "calls",
	};

	return index < COUNT(clocks) ? clocks[index] : NULL;
}

static enum swz_rings_clock parse_clock(const char *name)
{
	int clock = swz_word_is(clock_at, name, strlen(name));

	if (clock < 0)
		unknown_word("clock", name, clock_at);
	return (enum swz_rings_clock)clock;
}

/* In the order of enum swz_rings_paths. */
static const char *paths_at(size_t index)
{
	static const char *const paths[] = {
		[SWZ_RINGS_CALLEES] = "callees",
		[SWZ_RINGS_ARGUMENTS] = "arguments",
	};

	return index < COUNT(paths) ? paths[index] : NULL;
}

static enum swz_rings_paths parse_paths(const char *name)
{
	int paths = swz_word_is(paths_at, name, strlen(name));

	if (paths < 0)
		unknown_word("kind of paths", name, paths_at);
	return (enum swz_rings_paths)paths;
}

/* In the order of enum swz_colour_when. */
static const char *colour_at(size_t index)
{
	static const char *const times[] = {
		[SWZ_COLOUR_AUTO] = "auto",
		[SWZ_COLOUR_ALWAYS] = "always",
		[SWZ_COLOUR_NEVER] = "never",
	};

	return index < COUNT(times) ? times[index] : NULL;
}

static enum swz_colour_when parse_colour(const char *when)
{
	int found = swz_word_is(colour_at, when, strlen(when));

	if (found < 0)
		unknown_word("value of --color", when, colour_at);
	return (enum swz_colour_when)found;
}

static unsigned long parse_count(const char *text, const char *what,
				 unsigned long high)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || value > high)
		bad_usage(what, text);
	return value;
}

/* As strtod, of what begins with a decimal number only (not "0x10", " 1",
 * "inf"); otherwise *END is TEXT. */
static double parse_decimal(const char *text, char **end)
{
	if (*text < '.' || *text > '9' || *text == '/' ||
	    (*text == '0' && (text[1] == 'x' || text[1] == 'X'))) {
		*end = (char *)text;
		return 0;
	}
	return strtod(text, end);
}

static double parse_percent(const char *text)
{
	double value;
	char *end;

	value = parse_decimal(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(value))
		bad_usage("not a percentage", text);
	return value;
}

/* A moment: seconds since the start, or a percentage of the time recorded. */
static struct swz_dump_moment parse_moment(const char *text)
{
	struct swz_dump_moment moment = {.given = true};
	char *end;

	moment.value = parse_decimal(text, &end);
	if (end != text && strcmp(end, "%") == 0)
		moment.percent = true;
	else if (end == text || (*end && strcmp(end, "s") != 0))
		bad_usage("not a time in seconds or percent", text);
	if (!isfinite(moment.value) ||
	    moment.value > (moment.percent ? 100 : 1e9))
		bad_usage("not a time in seconds or percent", text);
	return moment;
}

/* "10us"; without a unit ns. */
static int64_t parse_duration(const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = parse_decimal(text, &end);
	size_t i;

	for (i = 0; end != text && i < COUNT(units); i++)
		if (strcmp(end, units[i].unit) == 0 &&
		    value * units[i].ns <= 1e18)
			return (int64_t)(value * units[i].ns);
	bad_usage("not a time (10us, 2ms)", text);
}

static const char *key_at(size_t index)
{
	return index <= SWZ_BY_RANK - SWZ_BY_FUNCTION
		       ? swz_by_name(SWZ_BY_FUNCTION + (unsigned int)index)
		       : NULL;
}

static enum swz_group_key parse_key(const char *name)
{
	enum swz_group_key key = swz_by_find(name);

	if (key == SWZ_BY_NOTHING)
		unknown_word("key of --by", name, key_at);
	return key;
}

/* One key, for the rows, or two. */
static void parse_by(struct swz_dump_options *options, const char *value)
{
	const char *comma = strchr(value, ',');
	char *first;

	options->imbalance = false;
	if (!comma) {
		options->by = parse_key(value);
		options->columns_by = SWZ_BY_NOTHING;
		if (options->by != SWZ_BY_RANK)
			return;
		options->by = SWZ_BY_FUNCTION;
		options->columns_by = SWZ_BY_RANK;
		options->imbalance = true;
		return;
	}
	first = swz_print("%.*s", (int)(comma - value), value);
	options->by = parse_key(first);
	free(first);
	options->columns_by = parse_key(comma + 1);
	if (options->columns_by != SWZ_BY_THREAD &&
	    options->columns_by != SWZ_BY_PROCESS &&
	    options->columns_by != SWZ_BY_RANK)
		bad_usage("columns are threads, processes or ranks, not",
			  value);
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->by == SWZ_BY_RANK)
		bad_usage("rows are functions, modules, files or lines, where "
			  "threads, processes or ranks are columns, not",
			  value);
}

enum long_option {
	OPTION_THREAD_PARTS = 256,
	OPTION_SEPARATE_THREADS,
	OPTION_NO_COMPENSATE,
	OPTION_DEMANGLE,
	OPTION_PERCENT_LIMIT,
	OPTION_BOTTOM_UP,
	OPTION_TID,
	OPTION_FROM,
	OPTION_SINCE,
	OPTION_TO,
	OPTION_NO_DEBUGINFOD,
	OPTION_DIFF,
	OPTION_EMBED,
	OPTION_NO_EMBED,
	OPTION_DEBUG_DIR,
	OPTION_SYMFS,
	OPTION_BY,
	OPTION_COLOUR,
	OPTION_NO_PAGER,
	OPTION_NO_SOURCE,
	OPTION_FAIL_ABOVE,
	OPTION_TIMES,
	OPTION_NO_TIMES,
	OPTION_SCRIPT,
	OPTION_MERGE_INTO,
	OPTION_AT,
	OPTION_BLAME,
	OPTION_CALLS_OF,
	OPTION_PROCESS,
	OPTION_PUSH,
	OPTION_SAMPLE_EVENTS,
	OPTION_CONFIG,
	OPTION_RING_CLOCK,
	OPTION_RING_PATHS,
	OPTION_APART
};

static const struct option long_options[] = {
	{"format", required_argument, NULL, 'f'},
	{"output", required_argument, NULL, 'o'},
	{"thread-parts", no_argument, NULL, OPTION_THREAD_PARTS},
	{"separate-threads", no_argument, NULL, OPTION_SEPARATE_THREADS},
	{"no-compensate", no_argument, NULL, OPTION_NO_COMPENSATE},
	{"demangle", required_argument, NULL, OPTION_DEMANGLE},
	{"percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT},
	{"filter", required_argument, NULL, 'F'},
	{"caller", required_argument, NULL, 'C'},
	{"notrace", required_argument, NULL, 'N'},
	{"hide", required_argument, NULL, 'H'},
	{"bottom-up", no_argument, NULL, OPTION_BOTTOM_UP},
	{"tid", required_argument, NULL, OPTION_TID},
	{"from", required_argument, NULL, OPTION_FROM},
	{"since", required_argument, NULL, OPTION_SINCE},
	{"to", required_argument, NULL, OPTION_TO},
	{"min-time", required_argument, NULL, 't'},
	{"depth", required_argument, NULL, 'D'},
	{"max-depth", required_argument, NULL, 'D'},
	{"sample-events", required_argument, NULL, OPTION_SAMPLE_EVENTS},
	{"at", required_argument, NULL, OPTION_AT},
	{"blame", no_argument, NULL, OPTION_BLAME},
	{"calls-of", required_argument, NULL, OPTION_CALLS_OF},
	{"file-per-invocation", no_argument, NULL, OPTION_APART},
	{"ring-clock", required_argument, NULL, OPTION_RING_CLOCK},
	{"ring-paths", required_argument, NULL, OPTION_RING_PATHS},
	{"diff", required_argument, NULL, OPTION_DIFF},
	{"embed", no_argument, NULL, OPTION_EMBED},
	{"no-embed", no_argument, NULL, OPTION_NO_EMBED},
	{"debug-dir", required_argument, NULL, OPTION_DEBUG_DIR},
	{"symfs", required_argument, NULL, OPTION_SYMFS},
	{"by", required_argument, NULL, OPTION_BY},
	{"merge-into", required_argument, NULL, OPTION_MERGE_INTO},
	{"process", required_argument, NULL, OPTION_PROCESS},
	{"push", required_argument, NULL, OPTION_PUSH},
	{"times", required_argument, NULL, OPTION_TIMES},
	{"no-times", no_argument, NULL, OPTION_NO_TIMES},
	{"script", no_argument, NULL, OPTION_SCRIPT},
	{"config", required_argument, NULL, OPTION_CONFIG},
	{"fail-above", required_argument, NULL, OPTION_FAIL_ABOVE},
	{"no-debuginfod", no_argument, NULL, OPTION_NO_DEBUGINFOD},
	{"color", optional_argument, NULL, OPTION_COLOUR},
	{"no-pager", no_argument, NULL, OPTION_NO_PAGER},
	{"no-source", no_argument, NULL, OPTION_NO_SOURCE},
	{"sort", required_argument, NULL, 's'},
	{"quiet", no_argument, NULL, 'q'},
	{"version", no_argument, NULL, 'V'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0}};

static void add_pattern(struct swz_patterns *patterns, int option,
			const char *pattern)
{
	if (!*pattern || strcmp(pattern, "!") == 0) {
		if (option == OPTION_CALLS_OF)
			swz_dump_complain("option --calls-of needs a pattern "
					  "that is not empty\n" TRY_HELP);
		else
			swz_dump_complain("option -%c needs a pattern that is "
					  "not empty\n" TRY_HELP,
					  option);
		exit(EXIT_USAGE);
	}
	swz_patterns_add(patterns, pattern);
}

/* What getopt_long() returns for an argument that is no option. */
#define IN_ORDER 1

static void add_argument(char ***list, size_t *count, const char *argument)
{
	*list = swz_reallocate(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = (char *)(uintptr_t)argument;
}

static const char *option_at(size_t index)
{
	return index < COUNT(long_options) ? long_options[index].name : NULL;
}

/* Whether getopt_long means a long option by VALUE; letters that are unknown
 * are none's. */
static bool is_of_long_option(int value)
{
	size_t i;

	for (i = 0; long_options[i].name; i++)
		if (long_options[i].val == value)
			return true;
	return false;
}

/* What getopt_long has found to be wrong. ARGUMENT is what it has read, unless
 * an unknown letter stands among others. */
static _Noreturn void bad_option(int found, const char *argument)
{
	const char *problem = found == ':' ? "needs a value" : "takes no value";
	char text[SWZ_ADVICE_BYTES];
	int option;

	if (found == '?' && optopt && !is_of_long_option(optopt)) {
		snprintf(text, sizeof(text), "unknown option -%c", optopt);
	} else if (!optopt) {
		swz_option_complaint(option_at, argument, text);
	} else if (strncmp(argument, "--", 2) == 0) {
		option = swz_word_find(option_at, argument + 2,
				       strcspn(argument + 2, "="));
		snprintf(text, sizeof(text), "option --%s %s",
			 long_options[option].name, problem);
	} else {
		snprintf(text, sizeof(text), "option -%c %s", optopt, problem);
	}
	swz_dump_complain("%s\n" TRY_HELP, text);
	exit(EXIT_USAGE);
}

/* Options besides those of enum swz_format_takes that not all formats take. */
enum {
	GIVEN_TID = 1 << 16,
	GIVEN_RANGE = 1 << 17,
	GIVEN_THREAD_PARTS = 1 << 18,
	GIVEN_SEPARATE_THREADS = 1 << 19,
	GIVEN_NO_COMPENSATE = 1 << 20,
	GIVEN_DEMANGLE = 1 << 21,
	GIVEN_EMBED = 1 << 22,
	GIVEN_NO_EMBED = 1 << 23,
	GIVEN_DEBUG_DIR = 1 << 24,
	GIVEN_SYMFS = 1 << 25,
	GIVEN_BY = 1 << 26,
	GIVEN_CALLS_OF = 1 << 27,
	GIVEN_DEPTH = 1 << 28,
	GIVEN_LIMITS = 1 << 29,
	GIVEN_BLAME = 1 << 30
};

/* Events are of all threads, and at the times that were measured; what is
 * neither them nor sums shows a file as it is. */
static unsigned int takes(const struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	unsigned int with = format->takes;

	if (format->section)
		with |= GIVEN_SEPARATE_THREADS | GIVEN_NO_COMPENSATE;
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

/* Which of the formats' options it is, 0 for others. */
static unsigned int format_option(int option)
{
	switch (option) {
	case 'n':
		return SWZ_TAKES_ROWS;
	case 's':
		return SWZ_TAKES_SORT;
	case OPTION_PERCENT_LIMIT:
		return SWZ_TAKES_LIMIT;
	case OPTION_BOTTOM_UP:
		return SWZ_TAKES_BOTTOM_UP;
	case OPTION_NO_SOURCE:
		return SWZ_TAKES_SOURCE;
	case OPTION_TID:
		return GIVEN_TID;
	case OPTION_FROM:
	case OPTION_TO:
		return GIVEN_RANGE;
	case OPTION_THREAD_PARTS:
		return GIVEN_THREAD_PARTS;
	case OPTION_SEPARATE_THREADS:
		return GIVEN_SEPARATE_THREADS;
	case OPTION_NO_COMPENSATE:
		return GIVEN_NO_COMPENSATE;
	case OPTION_DEMANGLE:
		return GIVEN_DEMANGLE;
	case OPTION_EMBED:
		return GIVEN_EMBED;
	case OPTION_NO_EMBED:
		return GIVEN_NO_EMBED;
	case OPTION_DEBUG_DIR:
		return GIVEN_DEBUG_DIR;
	case OPTION_SYMFS:
		return GIVEN_SYMFS;
	case OPTION_BY:
		return GIVEN_BY;
	case 'D':
		return GIVEN_DEPTH;
	case 't':
	case OPTION_SAMPLE_EVENTS:
		return GIVEN_LIMITS;
	case OPTION_AT:
		return SWZ_TAKES_CALLS;
	case OPTION_BLAME:
		return GIVEN_BLAME;
	case OPTION_CALLS_OF:
		return GIVEN_CALLS_OF;
	case OPTION_RING_CLOCK:
	case OPTION_RING_PATHS:
		return SWZ_TAKES_RINGS;
	default:
		return 0;
	}
}

static void take_option(struct swz_dump_options *options, int option,
			const char *value)
{
	switch (option) {
	case 'f':
		options->format = parse_format(value);
		break;
	case 'o':
		if (!*value)
			bad_usage("not a file name", value);
		options->output = value;
		break;
	case 'F':
		add_pattern(&options->view.only, option, value);
		break;
	case 'N':
		add_pattern(&options->view.without, option, value);
		break;
	case 'H':
		add_pattern(&options->view.hidden, option, value);
		break;
	case 'C':
		add_pattern(&options->view.callers, option, value);
		break;
	case 'n':
		options->table.rows = parse_count(value, "not a number of rows",
						  INT32_MAX);
		break;
	case 's':
		options->table.sort = parse_sort(value);
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'V':
		puts("swizzle-dump " SWZ_VERSION);
		finish_printing();
	case 'h':
		fputs(usage_text, stdout);
		finish_printing();
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
			bad_directory("--debug-dir", value);
		break;
	case OPTION_SYMFS:
		if (options->files.root)
			bad_usage("a second --symfs", value);
		if (swz_debug_files_set_root(&options->files, value) != 0)
			bad_directory("--symfs", value);
		break;
	case OPTION_DEMANGLE:
		options->demangle = parse_demangle(value);
		break;
	case OPTION_PERCENT_LIMIT:
		options->table.percent_limit = parse_percent(value);
		break;
	case OPTION_BOTTOM_UP:
		options->table.bottom_up = true;
		break;
	case OPTION_DIFF:
		if (!*value)
			bad_usage("not a file name", value);
		if (options->old)
			bad_usage("a second --diff", value);
		add_argument(&options->old, &options->old_count, value);
		break;
	case OPTION_TIMES:
		if (!*value)
			bad_usage("not a file name", value);
		if (options->times)
			bad_usage("a second --times", value);
		options->times = (char *)value;
		break;
	case OPTION_SCRIPT:
		options->view.script = true;
		break;
	case OPTION_CONFIG:
		if (!*value)
			bad_usage("not a file name", value);
		options->config_path = value;
		break;
	case OPTION_NO_TIMES:
		options->own_times = true;
		break;
	case OPTION_FAIL_ABOVE:
		options->fail_above = parse_percent(value);
		break;
	case IN_ORDER:
		add_argument(&options->arguments, &options->argument_count,
			     value);
		break;
	case OPTION_BY:
		parse_by(options, value);
		break;
	case OPTION_PUSH:
		if (swz_push_problem(value))
			bad_usage(swz_push_problem(value), value);
		options->push = value;
		break;
	case OPTION_PROCESS:
		if (!*value)
			bad_usage("not a process", value);
		add_argument(&options->processes, &options->process_count,
			     value);
		break;
	case OPTION_MERGE_INTO:
		if (!*value)
			bad_usage("not a file name", value);
		options->merge_into = value;
		break;
	case OPTION_COLOUR:
		options->colour = value ? parse_colour(value)
					: SWZ_COLOUR_ALWAYS;
		break;
	case OPTION_NO_SOURCE:
		options->table.without_source = true;
		break;
	case OPTION_NO_PAGER:
		options->pager = false;
		break;
	case OPTION_SINCE:
		options->since = value;
		break;
	case OPTION_FROM:
		options->from = parse_moment(value);
		break;
	case OPTION_TO:
		options->to = parse_moment(value);
		break;
	case 'D':
		options->limits.max_depth = options->calls.depth = (uint32_t)
			parse_count(value, "not a number of levels", INT32_MAX);
		break;
	case 't':
		options->limits.min_ns = parse_duration(value);
		break;
	case OPTION_SAMPLE_EVENTS:
		options->limits.every = parse_count(
			value, "not a number of calls", INT64_MAX);
		break;
	case OPTION_AT:
		options->at = parse_moment(value);
		break;
	case OPTION_BLAME:
		options->calls.blame = true;
		break;
	case OPTION_CALLS_OF:
		add_pattern(&options->calls.of, option, value);
		break;
	case OPTION_APART:
		options->calls.apart = true;
		break;
	case OPTION_RING_CLOCK:
		options->rings.clock = parse_clock(value);
		break;
	case OPTION_RING_PATHS:
		options->rings.paths = parse_paths(value);
		break;
	case OPTION_TID:
		if (!*value)
			bad_usage("not a thread", value);
		swz_thread_choice_add(&options->threads, value);
		break;
	default:
		break;
	}
}

static _Noreturn void not_taken(const struct swz_dump_options *options,
				const char *option)
{
	swz_dump_complain("the format %s has no use for %s\n" TRY_HELP,
			  options->format->name, option);
	exit(EXIT_USAGE);
}

/* Of "--diff OLD... -- NEW..." those before the "--" are old ones. */
static void part_sides(struct swz_dump_options *options)
{
	size_t i;

	for (i = 0; i < options->argument_count; i++)
		add_argument(&options->old, &options->old_count,
			     options->arguments[i]);
	options->argument_count = 0;
}

static _Noreturn void cannot_compare(const char *format)
{
	const struct swz_format *other;
	char names[256] = "";
	size_t used = 0, i;

	for (i = 0; (other = swz_format_at(i)) != NULL; i++)
		if (other->takes & SWZ_TAKES_DIFF && used < sizeof(names))
			used += (size_t)snprintf(names + used,
						 sizeof(names) - used, "%s%s",
						 used ? ", " : "", other->name);
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
				  "up; --separate-threads makes a file for "
				  "each name of threads",
				  options->format->name);
		exit(EXIT_USAGE);
	}
	if (!options->argument_count) {
		swz_dump_complain("--diff needs two sides: --diff OLD NEW, or "
				  "several runs of each, --diff OLD... -- "
				  "NEW...");
		exit(EXIT_USAGE);
	}
	if (options->table.sort == SWZ_SORT_MIN ||
	    options->table.sort == SWZ_SORT_MAX) {
		swz_dump_complain(
			"--diff is not sorted by min or max\n" TRY_HELP);
		exit(EXIT_USAGE);
	}
	if (options->threads.count) {
		swz_dump_complain("--diff has no use for --tid, as other "
				  "threads have other ids; --thread-parts "
				  "compares those with the same name");
		exit(EXIT_USAGE);
	}
}

/* Tables of functions are sorted by all keys, contexts have no shortest and
 * longest calls, and where they are not sorted the key says what counts. */
static void check_sort(const struct swz_dump_options *options)
{
	unsigned int with = takes(options);
	enum swz_sort sort = options->table.sort;
	bool fits = true;

	if (with & GIVEN_CALLS_OF)
		fits = sort == SWZ_SORT_START || sort == SWZ_SORT_INCLUSIVE;
	else if (sort == SWZ_SORT_START)
		fits = false;
	else if (with & SWZ_TAKES_BOTTOM_UP)
		fits = sort != SWZ_SORT_MIN && sort != SWZ_SORT_MAX;
	else if (!(with & SWZ_TAKES_ROWS))
		fits = sort == SWZ_SORT_SELF || sort == SWZ_SORT_CALLS;
	if (fits)
		return;
	swz_dump_complain(
		"the format %s has no use for this sort key\n" TRY_HELP,
		options->format->name);
	exit(EXIT_USAGE);
}

/* Shortest and longest calls are those of functions. */
static void check_by(struct swz_dump_options *options)
{
	const char *problem = NULL;

	if (options->old)
		problem = "--diff";
	else if (options->thread_parts || options->separate_threads)
		problem = "--thread-parts and --separate-threads; --by "
			  "thread has a row for each";
	else if (options->table.sort == SWZ_SORT_MIN ||
		 options->table.sort == SWZ_SORT_MAX)
		problem = "this sort key";
	if (!problem)
		return;
	swz_dump_complain("--by %s has no use for %s", swz_by_name(options->by),
			  problem);
	exit(EXIT_USAGE);
}

const char *swz_dump_not_of_times(const struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;

	if (options->old)
		return "--diff";
	if (options->thread_parts || options->separate_threads)
		return "--thread-parts and --separate-threads";
	if (options->threads.count)
		return "--tid";
	if (swz_dump_has_range(options))
		return "--from and --to";
	if (options->since)
		return "--since";
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->columns_by != SWZ_BY_NOTHING)
		return "--by thread, --by process and --by rank";
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
		swz_dump_complain("--since has no use for %s\n" TRY_HELP,
				  options->old        ? "--diff"
				  : options->in_place ? "--embed"
						      : "--from");
		exit(EXIT_USAGE);
	}
}

static void check_times(const struct swz_dump_options *options)
{
	const char *what = swz_dump_not_of_times(options);

	if (!what)
		return;
	if (!options->format->section && what == options->format->name)
		swz_dump_complain("the format %s has no use for --times", what);
	else
		swz_dump_complain("--times has no use for %s: only sums over "
				  "all threads are known of both runs",
				  what);
	exit(EXIT_USAGE);
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
		swz_dump_complain("--file-per-invocation has no use for "
				  "%s\n" TRY_HELP,
				  other);
		exit(EXIT_USAGE);
	}
	if (!options->view.only.count) {
		swz_dump_complain("--file-per-invocation needs -F FUNCTION: of "
				  "its calls each gets a file");
		exit(EXIT_USAGE);
	}
	if (options->output && strcmp(options->output, "-") == 0)
		bad_usage("--file-per-invocation writes several files: -o "
			  "names a folder, not",
			  options->output);
}

static void check_options(struct swz_dump_options *options)
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
		{GIVEN_THREAD_PARTS, "--thread-parts"},
		{GIVEN_SEPARATE_THREADS, "--separate-threads"},
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

	for (i = 0; i < COUNT(names); i++)
		if (options->given & ~takes(options) & names[i].bit)
			not_taken(options, names[i].option);
	if (options->given & SWZ_TAKES_SORT)
		check_sort(options);
	if (options->given & GIVEN_BY)
		check_by(options);
	if (options->calls.blame &&
	    (options->at.given || options->calls.of.count)) {
		swz_dump_complain("--blame has no use for %s\n" TRY_HELP,
				  options->at.given ? "--at" : "--calls-of");
		exit(EXIT_USAGE);
	}
	if (options->calls.apart)
		check_apart(options);
	if (options->since)
		check_since(options);
	if (options->times)
		check_times(options);
	if (options->old)
		check_diff(options);
	else if (options->fail_above >= 0) {
		swz_dump_complain("--fail-above is for comparisons: --diff "
				  "OLD... -- NEW...");
		exit(EXIT_USAGE);
	}
	if (format->file && options->process_count)
		not_taken(options, "--process");
	if (!format->section && !format->events &&
	    !swz_view_is_whole(&options->view))
		not_taken(options, "-F, -N, -H, -C and --script");
	if (takes(options) & SWZ_FILTERS_ROWS) {
		options->table.filters = options->view.only;
		options->view.only = (struct swz_patterns){0};
	}
	if (options->separate_threads && options->output &&
	    strcmp(options->output, "-") == 0 && format->prefix)
		bad_usage("one file per thread cannot be written to",
			  options->output);
}

/* Who looks at a terminal wants to see something; scripts get what they ever
 * got. */
static const struct swz_format *default_format(
	const struct swz_dump_options *options)
{
	const unsigned rows = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT;

	if (options->given & SWZ_TAKES_BOTTOM_UP)
		return swz_format_find("tree");
	if (options->calls.apart ||
	    options->given & (SWZ_TAKES_CALLS | GIVEN_CALLS_OF | GIVEN_BLAME))
		return swz_format_find("calls");
	if (!options->output && swz_terminal_is_output())
		return swz_format_find("table");
	return swz_format_find(options->old || options->given &
						       (GIVEN_BY | rows)
				       ? "text"
				       : "callgrind");
}

/* The server says which format. */
static void choose_pushed(struct swz_dump_options *options)
{
	const char *name = swz_push_format(options->push);

	if (options->output || options->old || options->merge_into ||
	    (options->format && strcmp(options->format->name, name) != 0)) {
		swz_dump_complain("--push to this URL sends the format %s, and "
				  "has no use for -o, --diff, --merge-into and "
				  "other formats\n" TRY_HELP,
				  name);
		exit(EXIT_USAGE);
	}
	options->format = swz_format_find(name);
}

/* The sum is of all that is in the profiles. */
static void check_merge(const struct swz_dump_options *options)
{
	if (options->format || options->output || options->old ||
	    options->times || options->given || options->since ||
	    !swz_view_is_whole(&options->view)) {
		swz_dump_complain("--merge-into has no use for options that "
				  "choose, sort or write: use them when you "
				  "read %s\n" TRY_HELP,
				  options->merge_into);
		exit(EXIT_USAGE);
	}
	if (!options->argument_count) {
		swz_dump_complain("--merge-into %s: no profiles are given "
				  "that are to be added to it\n" TRY_HELP,
				  options->merge_into);
		exit(EXIT_USAGE);
	}
}

/* Words that a shell takes as they are, each with a space before it. */
static char *join_inputs(char **arguments, size_t count)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,:@%=-";
	char *joined = swz_duplicate("");
	size_t i;

	for (i = 0; i < count; i++) {
		const char *word = arguments[i];
		char *longer;

		if (!word[0] || word[strspn(word, plain)] ||
		    strlen(joined) + strlen(word) > 30)
			word = "...";
		longer = swz_print("%s %s", joined, word);
		free(joined);
		joined = longer;
		if (strcmp(word, "...") == 0)
			break;
	}
	return joined;
}

static void set_style(struct swz_dump_options *options)
{
	unsigned int takes = options->format->takes;
	bool terminal = !options->output && swz_terminal_is_output();

	if (!(options->given & SWZ_TAKES_ROWS))
		options->table.rows = options->calls.apart
					      ? SWZ_INVOCATIONS
					      : options->format->rows;
	options->calls.rows = options->table.rows;
	options->rings.rows = options->table.rows;
	options->calls.by_start = options->table.sort == SWZ_SORT_START;
	options->calls.at = options->at.given;
	if (!(takes & SWZ_FOR_PEOPLE) &&
	    !(takes & SWZ_FOR_TERMINALS &&
	      (terminal || (swz_dump_to_standard_output(options) &&
			    options->colour == SWZ_COLOUR_ALWAYS))))
		return;
	options->style = swz_terminal_style(options->colour, terminal);
	options->table.style = &options->style;
	options->calls.style = &options->style;
	if (!options->quiet && !options->old)
		options->table.inputs = options->inputs = join_inputs(
			options->arguments, options->argument_count);
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

void swz_dump_parse_options(struct swz_dump_options *options, int argc,
			    char **argv)
{
	int option, at = optind;

	*options = (struct swz_dump_options){
		.compensate = true,
		.embed = true,
		.fail_above = -1,
		.demangle = SWZ_DEMANGLE_SIMPLE,
		.pager = true,
		.table = {.percent_limit = -1},
	};
	opterr = 0; /* bad_option says it */
	/* '-': arguments come in their order, so that it is known which of
	 * them were before the "--"; ':': a value that is missing is told from
	 * what is unknown */
	while ((option = getopt_long(argc, argv, "-:f:o:F:N:H:C:D:t:n:s:qVh",
				     long_options, NULL)) != -1) {
		if (option == '?' || option == ':')
			bad_option(option, argv[optind - 1]);
		take_option(options, option, optarg);
		options->given |= format_option(option);
		at = optind;
	}
	if (!options->quiet)
		swz_variables_check(swz_variables_of_dump, true);
	/* without a format: the profile itself is what gets the names */
	if (!options->format && !options->old && options->embed &&
	    options->given & GIVEN_EMBED) {
		options->in_place = true;
		options->format = swz_format_find("archive");
	}
	if (options->in_place && options->output)
		bad_usage("--embed without -f adds to the profile itself and "
			  "has no use for -o",
			  options->output);
	if (options->old && at < argc && strcmp(argv[at], "--") == 0)
		part_sides(options);
	for (; optind < argc; optind++)
		add_argument(&options->arguments, &options->argument_count,
			     argv[optind]);
	if (options->merge_into)
		check_merge(options);
	if (options->push)
		choose_pushed(options);
	if (!options->format)
		options->format = default_format(options);
	check_options(options);
	read_config(options);
	set_style(options);
}

void swz_dump_free_options(struct swz_dump_options *options)
{
	free(options->inputs);
	free(options->arguments);
	free(options->old);
	free(options->processes);
	swz_patterns_free(&options->table.filters);
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

bool swz_dump_has_range(const struct swz_dump_options *options)
{
	return options->from.given || options->to.given;
}
