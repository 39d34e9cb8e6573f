#include "tools/dump/option_table.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "options/command_line.h"
#include "tools/dump/destination.h"
#include "tools/dump/dump_options.h"

/* --- help ---------------------------------------------------------------- */

/* clang-format off */
const char swz_dump_usage_text[] =
	"Usage: swizzle-dump [options] [FILE|DIR...]\n"
	"Convert swizzle profiles; several are merged. Default: the newest\n"
	"swizzle.out.* in the working directory.\n"
	"\n"
	"  -f, --format FORMAT    table (default on a terminal), callgrind (default\n"
	"                         elsewhere), tree, html, ...; 'help' lists them\n"
	"  -o, --output FILE      '-' is standard output. Default: callgrind writes\n"
	"                         callgrind.out.PID, most others standard output\n"
	"      --by KEY           table, text, csv, json: a row for each function,\n"
	"                         module, process, thread, file or line; rank: how\n"
	"                         functions differ between the ranks of a parallel\n"
	"                         program; KEY,thread KEY,process KEY,rank: a column\n"
	"                         for each thread, process or rank\n"
	"      --merge-into FILE  add the profiles to FILE, which becomes the sum of all\n"
	"                         that were ever added; each is added once\n"
	"      --thread-parts     one part (table, tree, ...) per thread\n"
	"      --separate-threads one file (or table) per thread\n"
	"      --push URL         send the profiles to a server: .../ingest (Pyroscope),\n"
	"                         .../writeraw (Parca), or others (OTLP, by default\n"
	"                         /v1development/profiles)\n"
	"      --process PROCESS  only the profiles of processes with this name, path or\n"
	"                         number (* ? []); may be repeated\n"
	"      --tid THREAD       only the threads with this id, or a name that\n"
	"                         matches (* ? []); may be repeated\n"
	"      --from TIME        trace: only from this time on: seconds since the start\n"
	"                         (0.25), or percent (25%)\n"
	"      --to TIME          trace: only up to this time\n"
	"      --since SNAPSHOT   only what happened after this snapshot (swizzle-ctl)\n"
	"      --no-compensate    do not subtract the cost of the hooks\n"
	"      --demangle=HOW     no, simple (default; without parameters) or full\n"
	"      --config FILE      which calls are shown, and how: see\n"
	"                         docs/config.md [~/.config/swizzle/config,\n"
	"                         then ./.swizzle]\n"
	"  -F, --filter PATTERN   only functions that match, and what they call; in\n"
	"                         tables only rows that match; tree: callers and\n"
	"                         callees of those that match\n"
	"  -N, --notrace PATTERN  not the functions that match, nor what they call\n"
	"  -H, --hide PATTERN     not the functions that match; what they call stays\n"
	"  -C, --caller PATTERN   only the functions that match, and the paths that\n"
	"                         lead to them\n"
	"                         (!PATTERN in these four takes away what matches)\n"
	"      --script           only functions of scripts; the time of the others is\n"
	"                         that of the script's function that called them\n"
	"  -t, --min-time TIME    events of a trace: no calls shorter than TIME\n"
	"                         (10us, 2ms), nor what they call\n"
	"  -D, --depth N          events of a trace, calls: only the first N levels\n"
	"      --max-depth N      the same\n"
	"      --sample-events N  events of a trace: one call of N, with the calls\n"
	"                         around it\n"
	"      --at TIME          calls: the stacks at this moment (as --from)\n"
	"      --blame            calls: for each error the call that returned it first,\n"
	"                         and the callers that handed it on\n"
	"      --calls-of PATTERN calls: the single calls of these functions, the\n"
	"                         longest first (-s start: the earliest), and how\n"
	"                         their times are spread\n"
	"      --file-per-invocation\n"
	"                         calls, calls-html: a file for each call of the\n"
	"                         functions of -F (at most -n, 1000) and an index, in\n"
	"                         the folder that -o names\n"
	"      --ring-clock CLOCK rings: clockwise is time (default), or calls: one\n"
	"                         tick for each\n"
	"      --ring-paths PATHS rings: colour by the callees (default) or by the\n"
	"                         arguments of a call\n"
	"  -n N                   tables, tree: at most N rows (0: all; table and\n"
	"                         --calls-of: 25); calls-html: calls (500000)\n"
	"  -s, --sort KEY         tables, tree: sort by self (cpu), incl, waiting, calls,\n"
	"                         name, min or max (--calls-of: incl or start)\n"
	"      --percent-limit P  leave out rows below P percent\n"
	"      --bottom-up        tree: each function with its callers\n"
	"      --embed            add the names and source lines that FILE needs to\n"
	"                         FILE, for other machines and later; an archive has\n"
	"                         them unless --no-embed is given\n"
	"      --debug-dir DIR    look for separate debug files in DIR, too; may be\n"
	"                         repeated\n"
	"      --symfs DIR        look for programs and libraries below DIR\n"
	"      --no-source        html: leave the text of source files out\n"
	"      --color=WHEN       auto (default: on a terminal, unless NO_COLOR is set),\n"
	"                         always or never\n"
	"      --no-pager         print long tables as they are, not through\n"
	"                         SWIZZLE_PAGER, PAGER or less\n"
	"      --diff OLD NEW     compare two profiles (files or directories)\n"
	"      --diff OLD... -- NEW...\n"
	"                         compare several runs of each, and tell changes from\n"
	"                         noise; for text (the default then), table, tree,\n"
	"                         csv, json, folded, callgrind, pprof, dot, html\n"
	"      --fail-above P     with --diff: status 1 if the total or a function has\n"
	"                         become slower by more than P percent, beyond the\n"
	"                         noise\n"
	"      --times SAMPLES    take the times from SAMPLES, a profile of the same\n"
	"                         command by swizzle-run -m sample; counts are\n"
	"                         those of FILE\n"
	"      --no-times         of a run with -m both: show the times that were\n"
	"                         recorded with the counts\n"
	"      --no-debuginfod    do not ask the servers in DEBUGINFOD_URLS for debug\n"
	"                         information\n"
	"  -q, --quiet            no warnings\n"
	"  -V, --version\n"
	"  -h, --help\n";

/* clang-format on */

_Noreturn void swz_dump_bad_usage(const char *format, ...)
{
	va_list arguments;
	char *text = NULL;

	va_start(arguments, format);
	if (vasprintf(&text, format, arguments) < 0)
		text = NULL;
	va_end(arguments);
	swz_dump_complain("%s\n" SWZ_TRY_HELP, text ? text : "no memory");
	exit(EXIT_USAGE);
}

static _Noreturn void dump_wrong_value(const char *as, const char *value,
				       const char *wanted)
{
	swz_dump_bad_usage("option %s: '%s' is not %s", as, value, wanted);
}

/* The same of a word that is none of those AT lists, with the nearest. */
static _Noreturn void dump_unknown_word(const char *as, const char *what,
					const char *value, swz_word_at *at)
{
	char advice[SWZ_ADVICE_BYTES];

	swz_word_advice(at, value, advice);
	swz_dump_bad_usage("option %s: unknown %s '%s'%s", as, what, value,
			   advice);
}

_Noreturn void swz_dump_finish_printing(void)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		swz_dump_complain("standard output: %s", strerror(errno));
		exit(EXIT_INPUT);
	}
	exit(EXIT_OK);
}

/* --- values of options --------------------------------------------------- */

static const struct {
	const char *name;
	enum swz_sort sort;
} sort_keys[] = {
	{"self", SWZ_SORT_SELF},   {"incl", SWZ_SORT_INCLUSIVE},
	{"cpu", SWZ_SORT_CPU},     {"waiting", SWZ_SORT_WAITING},
	{"calls", SWZ_SORT_CALLS}, {"name", SWZ_SORT_NAME},
	{"min", SWZ_SORT_MIN},     {"max", SWZ_SORT_MAX},
	{"start", SWZ_SORT_START},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *format_at(size_t index)
{
	const struct swz_format *format = swz_format_at(index);

	return format ? format->name : NULL;
}

const struct swz_format *swz_dump_parse_format(const char *as, const char *name)
{
	const struct swz_format *format = swz_format_find(name);

	if (strcmp(name, "help") == 0) {
		swz_formats_list(stdout);
		swz_dump_finish_printing();
	}
	if (!format)
		dump_unknown_word(as, "format", name, format_at);
	return format;
}

static const char *sort_key_at(size_t index)
{
	return index < COUNT(sort_keys) ? sort_keys[index].name : NULL;
}

const char *swz_dump_sort_key(size_t index, enum swz_sort *sort)
{
	if (index < COUNT(sort_keys))
		*sort = sort_keys[index].sort;
	return sort_key_at(index);
}

enum swz_sort swz_dump_parse_sort(const char *as, const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(sort_keys); i++)
		if (strcmp(name, sort_keys[i].name) == 0)
			return sort_keys[i].sort;
	dump_unknown_word(as, "sort key", name, sort_key_at);
}

/* Which of the words that AT lists. */
static int parse_word(swz_word_at *at, const char *as, const char *what,
		      const char *text)
{
	int found = swz_word_is(at, text, strlen(text));

	if (found < 0)
		dump_unknown_word(as, what, text, at);
	return found;
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

enum swz_demangle swz_dump_parse_demangle(const char *as, const char *name)
{
	return (enum swz_demangle)parse_word(demangle_at, as, "way to demangle",
					     name);
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

enum swz_rings_clock swz_dump_parse_clock(const char *as, const char *name)
{
	return (enum swz_rings_clock)parse_word(clock_at, as, "clock", name);
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

enum swz_rings_paths swz_dump_parse_paths(const char *as, const char *name)
{
	return (enum swz_rings_paths)parse_word(paths_at, as, "kind of paths",
						name);
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

enum swz_colour_when swz_dump_parse_colour(const char *as, const char *when)
{
	return (enum swz_colour_when)parse_word(colour_at, as,
						"value of --color", when);
}

unsigned long swz_dump_parse_count(const char *as, const char *text,
				   const char *what, unsigned long high)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value > high)
		dump_wrong_value(as, text, what);
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

double swz_dump_parse_percent(const char *as, const char *text)
{
	double value;
	char *end;

	value = parse_decimal(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(value))
		dump_wrong_value(as, text, "a percentage (10, 2.5%)");
	return value;
}

static _Noreturn void wrong_moment(const char *as, const char *text)
{
	dump_wrong_value(as, text, "a time in seconds or percent (0.25, 25%)");
}

struct swz_dump_moment swz_dump_parse_moment(const char *as, const char *text)
{
	struct swz_dump_moment moment = {.given = true};
	char *end;

	moment.value = parse_decimal(text, &end);
	if (end != text && strcmp(end, "%") == 0)
		moment.percent = true;
	else if (end == text || (*end && strcmp(end, "s") != 0))
		wrong_moment(as, text);
	if (!isfinite(moment.value) ||
	    moment.value > (moment.percent ? 100 : 1e9))
		wrong_moment(as, text);
	return moment;
}

int64_t swz_dump_parse_duration(const char *as, const char *text)
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
	dump_wrong_value(as, text, "a time (10us, 2ms)");
}

static const char *key_at(size_t index)
{
	return index <= SWZ_BY_RANK - SWZ_BY_FUNCTION
		       ? swz_by_name(SWZ_BY_FUNCTION + (unsigned int)index)
		       : NULL;
}

static enum swz_group_key parse_key(const char *as, const char *name)
{
	enum swz_group_key key = swz_by_find(name);

	if (key == SWZ_BY_NOTHING)
		dump_unknown_word(as, "key of --by", name, key_at);
	return key;
}

void swz_dump_parse_by(struct swz_dump_options *options, const char *as,
		       const char *value)
{
	const char *comma = strchr(value, ',');
	char *first;

	options->imbalance = false;
	if (!comma) {
		options->by = parse_key(as, value);
		options->columns_by = SWZ_BY_NOTHING;
		if (options->by != SWZ_BY_RANK)
			return;
		options->by = SWZ_BY_FUNCTION;
		options->columns_by = SWZ_BY_RANK;
		options->imbalance = true;
		return;
	}
	first = swz_print("%.*s", (int)(comma - value), value);
	options->by = parse_key(as, first);
	free(first);
	options->columns_by = parse_key(as, comma + 1);
	if (options->columns_by != SWZ_BY_THREAD &&
	    options->columns_by != SWZ_BY_PROCESS &&
	    options->columns_by != SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': columns are thread, "
				   "process or rank",
				   as, value);
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->by == SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': beside columns, rows are "
				   "function, module, file or line",
				   as, value);
}

/* --- options ------------------------------------------------------------- */

const struct option swz_dump_long_options[] = {
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

static const char *option_at(size_t index)
{
	return index < COUNT(swz_dump_long_options)
		       ? swz_dump_long_options[index].name
		       : NULL;
}

/* Whether getopt_long means a long option by VALUE; letters that are unknown
 * are none's. */
static bool is_of_long_option(int value)
{
	size_t i;

	for (i = 0; swz_dump_long_options[i].name; i++)
		if (swz_dump_long_options[i].val == value)
			return true;
	return false;
}

_Noreturn void swz_dump_bad_option(int found, const char *argument)
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
			 swz_dump_long_options[option].name, problem);
	} else {
		snprintf(text, sizeof(text), "option -%c %s", optopt, problem);
	}
	swz_dump_complain("%s\n" SWZ_TRY_HELP, text);
	exit(EXIT_USAGE);
}

unsigned int swz_dump_format_option(int option)
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
