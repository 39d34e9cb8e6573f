
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/command_line.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/reports.h"
#include "util/memory.h"

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
		swz_finish_printing();
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

static const char *syntax_at(size_t index)
{
	static const char *const syntaxes[] = {"att", "intel"};

	return index < COUNT(syntaxes) ? syntaxes[index] : NULL;
}

bool swz_dump_parse_syntax(const char *as, const char *name)
{
	return parse_word(syntax_at, as, "syntax", name) == 1;
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

/* (A duration is never 0, but a moment may be.) */
static bool is_unit(const char *unit)
{
	char *one = swz_print("1%s", unit);
	bool is = swz_duration(one);

	free(one);
	return is;
}

static _Noreturn void wrong_moment(const char *as, const char *text)
{
	dump_wrong_value(as, text,
			 "a time in seconds or percent (0.25, 250ms, 25%)");
}

struct swz_dump_moment swz_dump_parse_moment(const char *as, const char *text)
{
	struct swz_dump_moment moment = {.given = true};
	char *end;

	moment.value = parse_decimal(text, &end);
	if (end != text && strcmp(end, "%") == 0)
		moment.percent = true;
	else if (end == text || (*end && !swz_duration(text) &&
				 (moment.value != 0 || !is_unit(end))))
		wrong_moment(as, text);
	else if (*end && moment.value != 0)
		moment.value = (double)swz_duration(text) / 1e9;
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
	} units[] = {{"ns", 1},  {"", 1},     {"us", 1e3},  {"ms", 1e6},
		     {"s", 1e9}, {"m", 60e9}, {"h", 3600e9}};
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
		dump_unknown_word(as, "key", name, key_at);
	return key;
}

/* A part or a file for each thread has rows of its own. */
static bool take_thread_outputs(struct swz_dump_options *options,
				const char *value)
{
	options->thread_parts = strcmp(value, "thread,parts") == 0;
	options->separate_threads = strcmp(value, "thread,files") == 0;
	if (!options->thread_parts && !options->separate_threads)
		return false;
	options->by = options->columns_by = SWZ_BY_NOTHING;
	options->given &= ~(unsigned int)GIVEN_BY;
	options->given |= options->thread_parts ? GIVEN_THREAD_PARTS
						: GIVEN_SEPARATE_THREADS;
	return true;
}

void swz_dump_parse_by(struct swz_dump_options *options, const char *as,
		       const char *value)
{
	const char *comma = strchr(value, ',');
	char *first;

	options->imbalance = options->thread_parts = options->separate_threads =
		false;
	options->given &= ~(unsigned int)(GIVEN_THREAD_PARTS |
					  GIVEN_SEPARATE_THREADS);
	if (take_thread_outputs(options, value))
		return;
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
	if (options->by == SWZ_BY_CAUSE)
		swz_dump_bad_usage("option %s: '%s': causes have no columns",
				   as, value);
	if (options->columns_by != SWZ_BY_THREAD &&
	    options->columns_by != SWZ_BY_PROCESS &&
	    options->columns_by != SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': columns are thread, "
				   "process or rank; thread,parts and "
				   "thread,files have a part or a file for "
				   "each thread",
				   as, value);
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->by == SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': beside columns, rows are "
				   "function, module, file or line",
				   as, value);
}

/* --- options ------------------------------------------------------------- */

const struct swz_option swz_dump_option_list[] = {
	{.heading = "Output",
	 .common = true,
	 .name = "format",
	 .letter = 'f',
	 .value = "FORMAT",
	 .offer = "formats",
	 .help = "table (default on a terminal), text (default "
		 "elsewhere), tree, html, ...; 'help' lists them",
	 .brief = "output format"},
	{.common = true,
	 .name = "output",
	 .letter = 'o',
	 .value = "FILE",
	 .offer = "files",
	 .help = "'-' is standard output. Default: standard output, but "
		 "callgrind writes callgrind.out.PID",
	 .brief = "write to FILE"},
	{.name = "json",
	 .id = OPTION_JSON,
	 .help = "the same as -f json: figures for a program"},
	{.heading = "Rows, parts and sums",
	 .common = true,
	 .name = "by",
	 .value = "KEY",
	 .offer = "keys",
	 .id = OPTION_BY,
	 .group = GIVEN_BY,
	 .help = "table, text, csv, json: a row for each function, module, "
		 "process, thread, file or line; cause: what was done for "
		 "which function (--flows); rank: how functions "
		 "differ between the ranks of a parallel program; "
		 "KEY,thread KEY,process KEY,rank: a column for each "
		 "thread, process or rank; thread,parts thread,files: a part "
		 "or a file for each thread, as thread in other formats",
	 .brief = "what each row is"},
	{.name = "merge-into",
	 .value = "FILE",
	 .offer = "files",
	 .id = OPTION_MERGE_INTO,
	 .help = "add the profiles to FILE|, which becomes the sum of all "
		 "that were ever added; each is added once"},
	{.name = "never",
	 .id = OPTION_NEVER,
	 .help = "the functions that never ran, the largest first (-f never)"},
	{.name = "ran",
	 .value = "FUNCTION",
	 .id = OPTION_RAN,
	 .help = "whether the functions that match ran|: status 0 if one did, "
		 "1 if none did, 2 if that is not known"},
	{.name = "tests-of",
	 .value = "FUNCTION",
	 .id = OPTION_TESTS_OF,
	 .help = "the tests in whose profiles the function ran|, by their "
		 "label (swizzle-run --label test=NAME)"},
	{.name = "affected",
	 .value = "OLD",
	 .offer = "files",
	 .id = OPTION_AFFECTED,
	 .help = "the tests that reach a function whose code has changed|: the "
		 "first argument is the new program, the others are profiles "
		 "of "
		 "OLD; status 2 if that is not known of all functions"},
	{.name = "rebuilt",
	 .value = "OLD",
	 .offer = "files",
	 .id = OPTION_REBUILT,
	 .help = "what ran of a program built anew|: the first argument is the "
		 "new program, the others are profiles of OLD, which count "
		 "where a function's code is the same (-f cover, lcov, order)"},
	{.name = "thread-parts",
	 .id = OPTION_THREAD_PARTS,
	 .group = GIVEN_THREAD_PARTS,
	 .renamed = "--by thread,parts"},
	{.name = "separate-threads",
	 .id = OPTION_SEPARATE_THREADS,
	 .group = GIVEN_SEPARATE_THREADS,
	 .renamed = "--by thread,files"},
	{.name = "push",
	 .value = "URL",
	 .id = OPTION_PUSH,
	 .help = "send the profiles to a server|: .../ingest (Pyroscope), "
		 ".../writeraw (Parca), or others (OTLP, by default "
		 "/v1development/profiles)"},
	{.heading = "Which part of a profile",
	 .name = "process",
	 .value = "PROCESS",
	 .repeats = true,
	 .offer = "processes",
	 .id = OPTION_PROCESS,
	 .help = "only the profiles of processes with this name, path or "
		 "number (* ? []); may be repeated",
	 .brief = "only the profiles of these processes"},
	{.name = "tid",
	 .value = "THREAD",
	 .repeats = true,
	 .offer = "threads",
	 .id = OPTION_TID,
	 .group = GIVEN_TID,
	 .help = "only the threads with this id|, or a name that matches "
		 "(* ? []); may be repeated"},
	{.common = true,
	 .name = "from",
	 .value = "TIME",
	 .id = OPTION_FROM,
	 .group = GIVEN_RANGE,
	 .help = "trace, samples: only from this time on|: seconds since the "
		 "start "
		 "(0.25), or percent (25%)"},
	{.common = true,
	 .name = "to",
	 .value = "TIME",
	 .id = OPTION_TO,
	 .group = GIVEN_RANGE,
	 .help = "trace, samples: only up to this time"},
	{.name = "since",
	 .value = "SNAPSHOT",
	 .offer = "files",
	 .id = OPTION_SINCE,
	 .help = "only what happened after this snapshot| (swizzle-ctl)"},
	{.heading = "Times, names and configuration",
	 .name = "no-compensate",
	 .id = OPTION_NO_COMPENSATE,
	 .group = GIVEN_NO_COMPENSATE,
	 .help = "do not subtract the cost of the hooks"},
	{.name = "demangle",
	 .value = "HOW",
	 .words = demangle_at,
	 .id = OPTION_DEMANGLE,
	 .group = GIVEN_DEMANGLE,
	 .help = "no, simple (default; without parameters) or full",
	 .brief = "how to show names of C++ and Rust"},
	{.name = "config",
	 .value = "FILE",
	 .offer = "files",
	 .id = OPTION_CONFIG,
	 .help = "which calls are shown, and how|: see docs/config.md "
		 "[~/.config/swizzle/config, then ./.swizzle]"},
	{.heading = "Which functions",
	 .common = true,
	 .name = "filter",
	 .letter = 'F',
	 .value = "PATTERN",
	 .repeats = true,
	 .help = "only functions that match, and what they call|; in "
		 "tables only rows that match; tree: callers and callees "
		 "of those that match"},
	{.common = true,
	 .name = "notrace",
	 .letter = 'N',
	 .value = "PATTERN",
	 .repeats = true,
	 .help = "not the functions that match, nor what they call"},
	{.name = "hide",
	 .letter = 'H',
	 .value = "PATTERN",
	 .repeats = true,
	 .help = "not the functions that match|; what they call stays"},
	{.name = "caller",
	 .letter = 'C',
	 .value = "PATTERN",
	 .repeats = true,
	 .help = "only the functions that match, and the paths that lead "
		 "to them| (!PATTERN in these four takes away what matches)"},
	{.common = true,
	 .name = "script",
	 .id = OPTION_SCRIPT,
	 .help = "only functions of scripts|; the time of the others is "
		 "that of the script's function that called them"},
	{.heading = "Single calls, timelines and code",
	 .name = "min-time",
	 .letter = 't',
	 .value = "TIME",
	 .group = GIVEN_LIMITS,
	 .help = "events of a trace: no calls shorter than TIME| (10us, "
		 "2ms), nor what they call"},
	{.name = "depth",
	 .letter = 'D',
	 .value = "N",
	 .group = GIVEN_DEPTH,
	 .help = "events of a trace, calls: only the first N levels"},
	{.name = "max-depth",
	 .value = "N",
	 .id = 'D',
	 .group = GIVEN_DEPTH,
	 .help = "the same",
	 .brief = "the same as --depth"},
	{.name = "sample-events",
	 .value = "N",
	 .id = OPTION_SAMPLE_EVENTS,
	 .group = GIVEN_LIMITS,
	 .help = "events of a trace: one call of N|, with the calls around "
		 "it"},
	{.name = "at",
	 .value = "TIME",
	 .id = OPTION_AT,
	 .group = SWZ_TAKES_CALLS,
	 .help = "calls: the stacks at this moment| (as --from)"},
	{.name = "blame",
	 .id = OPTION_BLAME,
	 .group = GIVEN_BLAME,
	 .help = "calls: for each error the call that returned it first|, "
		 "and the callers that handed it on"},
	{.common = true,
	 .name = "calls-of",
	 .value = "PATTERN",
	 .repeats = true,
	 .id = OPTION_CALLS_OF,
	 .group = GIVEN_CALLS_OF,
	 .help = "calls: the single calls of these functions|, the longest "
		 "first (-s start: the earliest), and how their times are "
		 "spread"},
	{.name = "why",
	 .value = "FUNCTION",
	 .id = OPTION_WHY,
	 .group = GIVEN_CALLS_OF,
	 .help = "of a trace: where the slowest call of FUNCTION spends the "
		 "time that an ordinary one does not take| (also --json)",
	 .brief = "why the slowest call of FUNCTION is slow"},
	{.name = "call",
	 .value = "N",
	 .id = OPTION_CALL,
	 .help = "--why: the Nth slowest call"},
	{.name = "follow",
	 .id = OPTION_FOLLOW,
	 .help = "calls: of a trace that is being recorded, each call when it "
		 "happens, until the process ends| (swizzle-run can do "
		 "it from the start); -: the names of profiles are read from "
		 "standard input, a line each",
	 .brief = "calls: while they happen, of a trace that is being "
		  "recorded"},
	{.name = "file-per-invocation",
	 .id = OPTION_APART,
	 .help = "calls, calls-html: a file for each call of the functions "
		 "of -F (at most -n, 1000) and an index, in the folder "
		 "that -o names",
	 .brief = "calls: a file for each call of the functions of -F"},
	{.name = "ring-clock",
	 .value = "CLOCK",
	 .words = clock_at,
	 .id = OPTION_RING_CLOCK,
	 .group = SWZ_TAKES_RINGS,
	 .help = "rings: clockwise is time (default), or calls: one tick "
		 "for each",
	 .brief = "rings: what runs clockwise"},
	{.name = "ring-paths",
	 .value = "PATHS",
	 .words = paths_at,
	 .id = OPTION_RING_PATHS,
	 .group = SWZ_TAKES_RINGS,
	 .help = "rings: colour by the callees (default) or by the "
		 "arguments of a call",
	 .brief = "rings: what makes the colours"},
	{.name = "syntax",
	 .value = "SYNTAX",
	 .words = syntax_at,
	 .id = OPTION_SYNTAX,
	 .help = "asm: att (default) or intel"},
	{.heading = "Tables and trees",
	 .common = true,
	 .letter = 'n',
	 .value = "N",
	 .group = SWZ_TAKES_ROWS,
	 .help = "tables, tree: at most N rows| (0: all; table and "
		 "--calls-of: 25); calls: the first N calls; "
		 "calls-html: calls (500000)"},
	{.common = true,
	 .name = "sort",
	 .letter = 's',
	 .value = "KEY",
	 .words = sort_key_at,
	 .group = SWZ_TAKES_SORT,
	 .help = "tables, tree: sort by self (cpu), incl, waiting, calls, "
		 "name, min or max (--calls-of: incl or start)",
	 .brief = "tables, tree: sort by this"},
	{.name = "percent-limit",
	 .value = "P",
	 .id = OPTION_PERCENT_LIMIT,
	 .group = SWZ_TAKES_LIMIT,
	 .help = "leave out rows below P percent"},
	{.name = "bottom-up",
	 .id = OPTION_BOTTOM_UP,
	 .group = SWZ_TAKES_BOTTOM_UP,
	 .help = "tree: each function with its callers"},
	{.name = "offsets",
	 .id = OPTION_OFFSETS,
	 .help = "tree: where in its caller each call is made|, as "
		 "main+0xe8/0x470",
	 .brief = "tree: where in its caller each call is made"},
	{.name = "causes",
	 .id = OPTION_CAUSES,
	 .help = "tree: work for another thread below the call that posted "
		 "it|, "
		 "of a trace with --flows",
	 .brief = "tree: work for another thread below the call that posted "
		  "it"},
	{.heading = "Names and source files",
	 .common = true,
	 .name = "embed",
	 .id = OPTION_EMBED,
	 .group = GIVEN_EMBED,
	 .help = "add the names and source lines that FILE needs to FILE|, "
		 "for other machines and later"},
	{.name = "get-names",
	 .id = OPTION_GET_NAMES,
	 .help = "get the names of stripped files|: shows the command that "
		 "installs their debug packages, or asks a server, and runs "
		 "it if you say yes"},
	{.name = "no-embed",
	 .id = OPTION_NO_EMBED,
	 .group = GIVEN_NO_EMBED,
	 .help = "archive: leave names and source lines out, which it "
		 "has otherwise",
	 .brief = "archive: leave names and source lines out"},
	{.name = "debug-dir",
	 .value = "DIR",
	 .repeats = true,
	 .offer = "directories",
	 .id = OPTION_DEBUG_DIR,
	 .group = GIVEN_DEBUG_DIR,
	 .help = "look for separate debug files in DIR, too|; may be "
		 "repeated"},
	{.name = "symfs",
	 .value = "DIR",
	 .offer = "directories",
	 .id = OPTION_SYMFS,
	 .group = GIVEN_SYMFS,
	 .help = "look for programs and libraries below DIR"},
	{.name = "no-debuginfod",
	 .id = OPTION_NO_DEBUGINFOD,
	 .help = "do not ask the servers in DEBUGINFOD_URLS| for debug "
		 "information"},
	{.name = "no-source",
	 .id = OPTION_NO_SOURCE,
	 .group = SWZ_TAKES_SOURCE,
	 .help = "html: leave the text of source files out"},
	{.heading = "Terminal",
	 .name = "color",
	 .value = "[=WHEN]",
	 .words = colour_at,
	 .id = OPTION_COLOUR,
	 .help = "auto (default: on a terminal, unless NO_COLOR is set), "
		 "always or never",
	 .brief = "when to use colours"},
	{.name = "open",
	 .id = OPTION_OPEN,
	 .help = "html (default then), graph, calls-html, rings: show the page "
		 "in a browser|: $BROWSER, or xdg-open",
	 .brief = "show the page in a browser"},
	{.name = "no-pager",
	 .id = OPTION_NO_PAGER,
	 .help = "print long tables as they are|, not through "
		 "SWIZZLE_PAGER, PAGER or less"},
	{.heading = "Comparisons and gates",
	 .common = true,
	 .name = "diff",
	 .value = "OLD NEW",
	 .offer = "files",
	 .id = OPTION_DIFF,
	 .help = "compare two profiles| (files or directories)"},
	{.name = "diff",
	 .value = "OLD... -- NEW...",
	 .only_help = true,
	 .help = "compare several runs of each, and tell changes from "
		 "noise; for text (the default then), table, tree, csv, "
		 "json, folded, callgrind, pprof, dot, html"},
	{.common = true,
	 .name = "fail-above",
	 .value = "P",
	 .id = OPTION_FAIL_ABOVE,
	 .help = "with --diff: status 1 if the total or a function has "
		 "become slower by more than P percent, beyond the noise; 3 "
		 "if the noise is too large to tell",
	 .brief = "with --diff: status 1 if something is so much slower"},
	{.name = "fail-calls-above",
	 .value = "P",
	 .id = OPTION_FAIL_CALLS_ABOVE,
	 .help = "the same of calls, which do not depend on the machine",
	 .brief = "with --diff: status 1 if something is called more often"},
	{.name = "budget",
	 .value = "FILE",
	 .offer = "files",
	 .id = OPTION_BUDGET,
	 .help = "status 1 if a function is beyond its limit; a line of "
		 "FILE: FUNCTION calls|self|incl LIMIT (docs/ci.md)",
	 .brief = "status 1 if a function is beyond its limit in FILE"},
	{.name = "annotate",
	 .id = OPTION_ANNOTATE,
	 .help = "with these: GitHub's annotations of what fails, at its "
		 "source line",
	 .brief = "say what fails as GitHub reads it"},
	{.name = "told", .id = OPTION_TOLD},
	{.heading = "Counts and times of two runs",
	 .name = "times",
	 .value = "SAMPLES",
	 .offer = "files",
	 .id = OPTION_TIMES,
	 .help = "take the times from SAMPLES|, a profile of the same "
		 "command by swizzle-run -m sample; counts are those of "
		 "FILE"},
	{.name = "no-times",
	 .id = OPTION_NO_TIMES,
	 .help = "of a run with -m both: show the times that were recorded "
		 "with the counts",
	 .brief = "of a run with -m both: not the times of its samples"},
	{.heading = "Messages",
	 .common = true,
	 .name = "quiet",
	 .letter = 'q',
	 .help = "no warnings"},
	SWZ_OPTIONS_OF_ALL};
