/* Each option is a variable of the environment, so a value is checked the same
 * way whoever gave it. One table has the options with the kind of their values;
 * a kind knows its words and what is wrong with a value. */

#include "launch/run_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "launch/program.h"
#include "launch/sampling.h"
#include "options/command_line.h"

/* --- values of options --------------------------------------------------- */

enum option_kind {
	OPTION_FLAG,
	OPTION_OFF,
	OPTION_IMPORTS,
	OPTION_REPORT,
	OPTION_LIVE,
	OPTION_OUTPUT,
	OPTION_FILE,
	OPTION_MODE,
	OPTION_TIMING,
	OPTION_ENGINE,
	OPTION_EVENT,
	OPTION_PATTERN,
	OPTION_ARGS,
	OPTION_ARGUMENT,
	OPTION_STRING_BYTES,
	OPTION_STACK_BYTES,
	OPTION_DEPTH,
	OPTION_RATE,
	OPTION_PID,
	OPTION_TRIGGER,
	OPTION_SLOW,
	OPTION_KEEP,
	OPTION_TIME,
	OPTION_DURATION,
	OPTION_BYTES,
	OPTION_MEMORY,
	OPTION_CHECK,
	OPTION_COMPARE,
	OPTION_RUNS,
	OPTION_LABEL,
};

#define MOST_BYTES (UINT64_C(64) << 30)
#define LEAST_MEMORY (1u << 20)
#define MOST_DEPTH 1048576u
#define MOST_NS UINT64_C(1000000000000)
#define MOST_PID 4194304u
#define LEAST_STACK 512u
#define MOST_RUNS 1000u
#define MOST_KEEP 1000u
#define MOST_RULES 7u
#define USUAL_RUNS 20u

/* ---------------------------------------------------------------- words */

#define WORDS(function, ...) \
	const char *function(size_t index) \
	{ \
		static const char *const words[] = {__VA_ARGS__}; \
\
		return index < sizeof(words) / sizeof(words[0]) ? words[index] \
								: NULL; \
	}

WORDS(swz_mode_at, "profile", "trace", "count", "sample", "both", "cover")
WORDS(swz_timing_at, "exact", "sampled")
WORDS(swz_imports_at, "dlsym")
WORDS(swz_engine_at, "perf", "pause")
WORDS(swz_event_at, "cpu-clock", "task-clock", "cycles")

static const char *word_problem(swz_word_at *at, const char *what,
				const char *value)
{
	char advice[SWZ_ADVICE_BYTES];

	if (swz_word_is(at, value, strlen(value)) != SWZ_WORD_UNKNOWN)
		return NULL;
	swz_word_advice(at, value, advice);
	return swz_text("unknown %s '%s'%s", what, value, advice);
}

/* ------------------------------------------------------------- patterns */

/* Each [ needs a ], as the library reads it: the first character of a set may
 * be a ], behind a ! or ^ too. */
static bool sets_are_closed(const char *pattern)
{
	const char *s = pattern;

	while ((s = strchr(s, '['))) {
		s++;
		if (*s == '!' || *s == '^')
			s++;
		s = *s ? strchr(s + 1, ']') : NULL;
		if (!s)
			return false;
		s++;
	}
	return true;
}

static const char *pattern_problem(const char *pattern)
{
	if (!*pattern || strcmp(pattern, "!") == 0)
		return "the pattern is empty";
	if (!sets_are_closed(pattern))
		return swz_text("'%s' has a [ without a ]", pattern);
	return NULL;
}

/* "FUNCTION@SPEC,SPEC" */
static const char *argument_problem(const char *one)
{
	const char *specs = swz_value_specs(one, (unsigned)strlen(one));
	const char *last = one + strlen(one);

	if (!specs)
		return swz_text("'%s' is not FUNCTION@SPEC,... as in "
				"'main@arg1/i32,retval/i32'",
				one);
	if (*one == '!' || strchr(one, '\n') || !sets_are_closed(one))
		return swz_text("'%s' begins with what is no pattern of "
				"functions",
				one);
	while (specs < last) {
		struct swz_value_spec spec;

		if (!swz_value_spec_read(&specs, last, &spec))
			return swz_text(
				"'%s' is no argument: argN, fpargN or retval, "
				"then /FORMAT, a letter of d i u x o c b s S p "
				"f and 8, 16, 32 or 64 bits (f: 32, 64, 80)",
				specs);
	}
	return NULL;
}

/* "FUNCTION@SPEC,SPEC;FUNCTION@..." */
static const char *arguments_problem(const char *value)
{
	const char *problem = NULL;

	for (const char *item = value, *end; item && !problem;
	     item = *end ? end + 1 : NULL) {
		end = strchrnul(item, ';');
		problem = argument_problem(
			swz_text("%.*s", (int)(end - item), item));
	}
	return problem;
}

/* A pattern, and behind a # a number. */
static bool is_trigger(const char *value)
{
	size_t length = strlen(value), digits = 0;

	while (digits < length && value[length - digits - 1] >= '0' &&
	       value[length - digits - 1] <= '9')
		digits++;
	if (!length || length > 500 || value[0] == '#')
		return false;
	if (value[length - 1] == '#' || !sets_are_closed(value))
		return false;
	return !digits || value[length - digits - 1] != '#' ||
	       (digits < 19 && strtoull(value + length - digits, NULL, 10));
}

/* -------------------------------------------------------------- numbers */

/* Digits, 12 at most, at the start of s: sets *end behind them. */
static bool read_number(const char *s, uint64_t *value, const char **end)
{
	size_t digits = strspn(s, "0123456789");

	*value = 0;
	*end = s + digits;
	if (digits < 1 || digits > 12)
		return false;
	while (s < *end)
		*value = *value * 10 + (uint64_t)(*s++ - '0');
	return true;
}

/* "512", "64K", "16M", "2G". */
static bool read_size(const char *text, uint64_t *bytes)
{
	unsigned shift = 0;
	const char *end;

	if (!read_number(text, bytes, &end))
		return false;
	switch (*end) {
	case 'K':
	case 'k':
		shift = 10;
		break;
	case 'M':
	case 'm':
		shift = 20;
		break;
	case 'G':
	case 'g':
		shift = 30;
		break;
	}
	if (end[shift != 0] || *bytes > MOST_BYTES >> shift)
		return false;
	*bytes <<= shift;
	return true;
}

static const char *size_problem(const char *value, uint64_t least,
				uint64_t most, const char *what)
{
	uint64_t bytes;

	if (read_size(value, &bytes) && bytes >= least && bytes <= most)
		return NULL;
	return swz_text("'%s' is not %s", value, what);
}

static const char *number_problem(const char *value, uint64_t least,
				  uint64_t most, const char *of)
{
	const char *end;
	uint64_t n;

	if (read_number(value, &n, &end) && !*end && n >= least && n <= most)
		return NULL;
	return swz_text("'%s' is not a number from %llu to %llu%s", value,
			(unsigned long long)least, (unsigned long long)most,
			of);
}

/* As the library reads it. */
static bool is_time(const char *s)
{
	uint64_t n, most = MOST_NS;
	const char *end;

	if (!read_number(s, &n, &end))
		return false;
	if (strcmp(end, "us") == 0)
		most /= 1000;
	else if (strcmp(end, "ms") == 0)
		most /= 1000000;
	else if (strcmp(end, "s") == 0)
		most /= 1000000000;
	else if (*end && strcmp(end, "ns") != 0)
		return false;
	return n <= most;
}

/* A percentile, as p99 or p99.9: below 100, three digits behind the point. */
static bool is_percentile(const char *text)
{
	size_t whole, behind = 0;
	double value;

	if (*text++ != 'p')
		return false;
	whole = strspn(text, "0123456789");
	if (text[whole] == '.')
		behind = 1 + strspn(text + whole + 1, "0123456789");
	value = strtod(text, NULL);
	return whole && !text[whole + behind] && behind != 1 && behind <= 4 &&
	       value > 0 && value < 100;
}

/* "FUNCTION:TIME", "FUNCTION:p99" */
static const char *slow_problem(const char *value)
{
	const char *colon = strrchr(value, ':');
	const char *problem;

	if (!colon || colon == value || *value == '!' ||
	    (!is_percentile(colon + 1) &&
	     (!is_time(colon + 1) || !strpbrk(colon + 1, "123456789"))))
		return swz_text("'%s' is neither FUNCTION:TIME (1ms, 50us) nor "
				"FUNCTION:p99",
				value);
	problem = pattern_problem(
		swz_text("%.*s", (int)(colon - value), value));
	if (!problem && strlen(value) > 500)
		problem = "the pattern is too long";
	return problem;
}

/* ----------------------------------------------------------------- both */

/* The words of a variable that has no value on the command line. */
static const char *switch_problem(const char *value, const char *third)
{
	if (!*value || strcmp(value, "0") == 0 || strcmp(value, "1") == 0 ||
	    (third && strcmp(value, third) == 0))
		return NULL;
	return third ? swz_text("'%s' is neither 1, 0 nor %s", value, third)
		     : swz_text("'%s' is neither 1 nor 0", value);
}

/* Returns what is wrong with the value of an option, to be put behind "option
 * -D: "; NULL: nothing. For the kinds FLAG, OFF and IMPORTS it is the
 * variable's value. */
static const char *option_problem(enum option_kind kind, const char *value)
{
	switch (kind) {
	case OPTION_FLAG:
		return switch_problem(value, NULL);
	case OPTION_OFF:
		return switch_problem(value, "hooked");
	case OPTION_IMPORTS:
		return switch_problem(value, "dlsym");
	case OPTION_CHECK:
		return NULL;
	case OPTION_COMPARE:
		return *value ? NULL : "the program's name is empty";
	case OPTION_RUNS:
		return number_problem(value, 2, MOST_RUNS,
				      " (runs of each build)");
	case OPTION_REPORT:
		return NULL; /* swizzle-dump will say */
	case OPTION_LIVE:
	case OPTION_OUTPUT:
	case OPTION_FILE:
		return *value ? NULL : "the file name is empty";
	case OPTION_MODE:
		return word_problem(swz_mode_at, "mode", value);
	case OPTION_TIMING:
		return word_problem(swz_timing_at, "kind of timing", value);
	case OPTION_ENGINE:
		return word_problem(swz_engine_at, "engine", value);
	case OPTION_EVENT:
		return word_problem(swz_event_at, "event", value);
	case OPTION_PATTERN:
	case OPTION_ARGS:
		return pattern_problem(value);
	case OPTION_ARGUMENT:
		return arguments_problem(value);
	case OPTION_STRING_BYTES:
		return number_problem(value, 0, SWZ_MOST_STRING_BYTES,
				      " (bytes)");
	case OPTION_STACK_BYTES:
		return number_problem(value, LEAST_STACK, SWZ_MOST_STACK_BYTES,
				      " (bytes)");
	case OPTION_DEPTH:
		return number_problem(value, 1, MOST_DEPTH, "");
	case OPTION_RATE:
		return number_problem(value, 1, SWZ_MOST_RATE,
				      " (samples a second)");
	case OPTION_PID:
		return number_problem(value, 1, MOST_PID, " (a process)");
	case OPTION_TRIGGER:
		return is_trigger(value)
			       ? NULL
			       : swz_text("'%s' is neither FUNCTION nor "
					  "FUNCTION#N, N from 1",
					  value);
	case OPTION_SLOW:
		return slow_problem(value);
	case OPTION_KEEP:
		return number_problem(value, 1, MOST_KEEP, " (calls)");
	case OPTION_TIME:
		return is_time(value)
			       ? NULL
			       : swz_text("'%s' is not a time up to 1000s "
					  "(100ns, 5us, 1ms, 1s)",
					  value);
	case OPTION_DURATION:
		return swz_duration(value)
			       ? NULL
			       : swz_text("'%s' is not a time "
					  "(" SWZ_DURATION_EXAMPLES ")",
					  value);
	case OPTION_LABEL:
		return *value != '=' && strchr(value, '=')
			       ? NULL
			       : swz_text("'%s' is not NAME=VALUE", value);
	case OPTION_BYTES:
		return size_problem(value, 0, UINT32_MAX,
				    "a number of bytes below 4G (64, 1K)");
	case OPTION_MEMORY:
		return size_problem(value, LEAST_MEMORY, MOST_BYTES,
				    "a size from 1M to 64G");
	}
	return NULL;
}

static bool is_list(enum option_kind kind)
{
	return kind == OPTION_PATTERN || kind == OPTION_ARGS ||
	       kind == OPTION_ARGUMENT || kind == OPTION_LABEL ||
	       kind == OPTION_SLOW;
}

/* The same of a variable's value: each line of a list is looked at. Empty is
 * never wrong. */
static const char *variable_problem(enum option_kind kind, const char *value)
{
	const char *problem = NULL;

	if (!*value)
		return NULL;
	if (!is_list(kind))
		return option_problem(kind, value);
	for (const char *item = value, *end; item && !problem;
	     item = *end ? end + 1 : NULL) {
		end = strchrnul(item, '\n');
		problem = option_problem(
			kind, swz_text("%.*s", (int)(end - item), item));
	}
	return problem;
}

/* --- the mode ------------------------------------------------------------ */

/* swizzle-run's mode. libswizzle.so alone records a profile. */
#define DEFAULT_MODE "both"

bool swz_sampling_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "sample") == 0;
}

static bool counting_wanted(void)
{
	const char *mode = swz_environment_get("SWIZZLE_MODE");

	return strcmp(mode, "count") == 0 || strcmp(mode, "cover") == 0;
}

bool swz_both_wanted(void)
{
	return strcmp(swz_environment_get("SWIZZLE_MODE"), "both") == 0;
}

/* --- the command line ---------------------------------------------------- */

#define bad_usage(...) swz_wrong_usage("swizzle-run", __VA_ARGS__)

/* clang-format off */
static const char before[] =
	"Usage: swizzle-run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       swizzle-run [OPTION]... -p PID\n"
	"Runs PROGRAM, counts its calls by hooks on function entries, takes samples of\n"
	"its time, and writes a profile that swizzle-dump reads. -p does so with a\n"
	"process that runs already, for a time. -m sample changes nothing in it.\n"
	"\n";

static const char examples[] =
	"Examples:\n"
	"  swizzle-run --report ./app               run it, show the table\n"
	"  swizzle-run -m trace --args -o t ./app   each call with its arguments, in t\n"
	"  swizzle-run -p 4242 --for 10s            a server, for ten seconds\n";

static const char after[] =
	"\n"
	"A PATTERN is like the shell's (* ? [a-z]) and must match the whole name;\n"
	"!PATTERN takes away what matches. -F, -N, -H, -C, -M and -L may be repeated.\n"
	"Each option has an environment variable of the same name (SWIZZLE_OUTPUT,\n"
	"SWIZZLE_FILTER, ...).\n"
	"Exit status: the program's own; 126 if it cannot be profiled or executed, or\n"
	"the profile cannot be written, 127 if it was not found, 2 for wrong usage.\n";

/* clang-format on */

/* For which modes an option is, if not for all of them. OF_FRAMES: those that
 * see a call's end, or what is above it. */
enum modes { ALL_MODES, OF_TRACE, OF_FRAMES, OF_HOOKS, OF_SAMPLES };

/* clang-format off */
static const struct swz_option options[] = {
	{.heading = "What is recorded", .common = true, .name = "output", .letter = 'o', .value = "FILE",
	 .variable = "SWIZZLE_OUTPUT", .id = OPTION_OUTPUT, .offer = "files",
	 .help = "write the profile to FILE|; %p stands for the pid, %h "
		 "for the host, %q{VARIABLE} for a variable of the "
		 "environment; DIR/ for the default name in DIR "
		 "[swizzle.out.%p]"},
	{.common = true, .name = "mode", .letter = 'm', .value = "MODE",
	 .variable = "SWIZZLE_MODE", .id = OPTION_MODE, .words = swz_mode_at,
	 .help = "what to record|: both, exact counts with the times that "
		 "samples give; count, how often each function is called, "
		 "without times; cover, which functions run and when each "
		 "was called first; sample, where the time goes, without hooks; "
		 "profile, the time of each call, a calling context tree per "
		 "thread; trace, every entry and exit with its time, too "
		 "[both]"},
	{.heading = "Samples", .name = "rate", .letter = 'r', .value = "HZ",
	 .variable = "SWIZZLE_RATE", .id = OPTION_RATE, .group = OF_SAMPLES,
	 .help = "sample: samples per second| of processor time [1000; 100 "
		 "with --engine pause]"},
	{.name = "engine", .value = "ENGINE", .variable = "SWIZZLE_ENGINE",
	 .id = OPTION_ENGINE, .group = OF_SAMPLES, .words = swz_engine_at,
	 .help = "sample: perf, the kernel takes samples; pause, the "
		 "threads are stopped for each [perf, if permitted]",
	 .brief = "sample: who takes the samples"},
	{.name = "event", .value = "EVENT", .variable = "SWIZZLE_EVENT",
	 .id = OPTION_EVENT, .group = OF_SAMPLES, .words = swz_event_at,
	 .help = "sample: cpu-clock, task-clock or cycles [cpu-clock]",
	 .brief = "sample: what the kernel counts"},
	{.name = "wall", .variable = "SWIZZLE_WALL", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_SAMPLES,
	 .help = "sample: look where threads wait|, 100 times a second "
		 "[default]"},
	{.name = "no-wall", .variable = "SWIZZLE_WALL", .sets = "0",
	 .id = OPTION_FLAG, .group = OF_SAMPLES,
	 .help = "sample: do not look where threads wait"},
	{.name = "stack-bytes", .value = "N", .variable = "SWIZZLE_STACK_BYTES",
	 .id = OPTION_STACK_BYTES, .group = OF_SAMPLES,
	 .help = "sample: bytes of the stack to copy|: 512 to 65528 [as "
		 "much as there is room for]"},
	{.heading = "A process that runs", .common = true, .name = "pid", .letter = 'p', .value = "PID",
	 .variable = "SWIZZLE_PID", .id = OPTION_PID, .offer = "pids",
	 .help = "profile a running process| until it ends, or ^C"},
	{.common = true, .name = "for", .value = "TIME", .variable = "SWIZZLE_FOR",
	 .id = OPTION_DURATION,
	 .help = "-p: stop after this time| (500ms, 10s, 2m)"},
	{.heading = "Which functions", .common = true, .name = "filter", .letter = 'F', .value = "PATTERN",
	 .variable = "SWIZZLE_FILTER", .id = OPTION_PATTERN, .group = OF_FRAMES,
	 .repeats = true,
	 .help = "only the functions that match and what they call"},
	{.common = true, .name = "notrace", .letter = 'N', .value = "PATTERN",
	 .variable = "SWIZZLE_NOTRACE", .id = OPTION_PATTERN,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "not the functions that match nor what they call"},
	{.name = "hide", .letter = 'H', .value = "PATTERN",
	 .variable = "SWIZZLE_HIDE", .id = OPTION_PATTERN, .group = OF_HOOKS,
	 .repeats = true,
	 .help = "not the functions that match|; what they call stays"},
	{.name = "caller", .letter = 'C', .value = "PATTERN",
	 .variable = "SWIZZLE_CALLER", .id = OPTION_PATTERN, .repeats = true,
	 .help = "swizzle-dump shows only the functions that match and the "
		 "paths that lead to them",
	 .brief = "show only functions that match, and what leads to them"},
	{.common = true, .name = "module", .letter = 'M', .value = "PATTERN",
	 .variable = "SWIZZLE_MODULE", .id = OPTION_PATTERN, .group = OF_HOOKS,
	 .repeats = true,
	 .help = "only these modules| [all but ld.so, libc, libm, "
		 "libpthread, libswizzle]"},
	{.name = "location", .letter = 'L', .value = "PATTERN",
	 .variable = "SWIZZLE_LOCATION", .id = OPTION_PATTERN,
	 .group = OF_HOOKS, .repeats = true,
	 .help = "only functions of these source files| (that needs debug "
		 "information); what others call stays"},
	{.name = "min-size", .letter = 'Z', .value = "BYTES",
	 .variable = "SWIZZLE_MIN_SIZE", .id = OPTION_BYTES, .group = OF_HOOKS,
	 .help = "not functions that are smaller|; what they call stays"},
	{.heading = "Arguments and configuration", .name = "argument", .letter = 'A', .value = "FUNCTION@SPEC,...",
	 .variable = "SWIZZLE_ARGUMENTS", .id = OPTION_ARGUMENT,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "record arguments and results|; SPEC: argN/FORMAT, "
		 "fpargN/FORMAT, retval/FORMAT; FORMAT: d i u x o c b s S "
		 "p f and bits, as 'open*@arg1/s,arg2/x32,retval/i32'"},
	{.common = true, .name = "args", .value = "[=PATTERN]", .variable = "SWIZZLE_ARGS",
	 .id = OPTION_ARGS, .group = OF_FRAMES, .repeats = true,
	 .help = "record arguments and results by debug information, of "
		 "the functions of PROGRAM and its libraries that match "
		 "[all]; may be repeated",
	 .brief = "record arguments by debug information"},
	{.name = "string-bytes", .value = "N",
	 .variable = "SWIZZLE_STRING_BYTES", .id = OPTION_STRING_BYTES,
	 .group = OF_FRAMES,
	 .help = "most bytes recorded of a string|, up to 2048 [64]"},
	{.name = "config", .value = "FILE", .variable = "SWIZZLE_CONFIG",
	 .id = OPTION_FILE, .offer = "files",
	 .help = "which calls are recorded and shown, and how|: see "
		 "docs/config.md [~/.config/swizzle/config, then "
		 "./.swizzle]"},
	{.heading = "Contexts and times", .name = "depth", .letter = 'D', .value = "N",
	 .variable = "SWIZZLE_DEPTH", .id = OPTION_DEPTH, .group = OF_FRAMES,
	 .help = "only the first N levels of calls"},
	{.name = "recursion", .value = "N", .variable = "SWIZZLE_RECURSION",
	 .id = OPTION_DEPTH, .group = OF_FRAMES,
	 .help = "a function is at most N times on a stack|; deeper calls "
		 "are folded [16]"},
	{.name = "timing", .value = "KIND", .variable = "SWIZZLE_TIMING",
	 .id = OPTION_TIMING, .group = OF_FRAMES, .words = swz_timing_at,
	 .help = "exact: time each call; sampled: only some calls of "
		 "functions that are called often, which costs less; "
		 "counts are exact [exact]",
	 .brief = "which calls are timed"},
	{.name = "percentiles", .value = "[=PATTERN]",
	 .variable = "SWIZZLE_PERCENTILES", .id = OPTION_ARGS,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "keep how the times of calls are distributed, of the "
		 "functions that match [all]: p50, p90, p99, p99.9; may be "
		 "repeated",
	 .brief = "keep percentiles of call times"},
	{.heading = "Traces", .name = "min-time", .letter = 't', .value = "TIME",
	 .variable = "SWIZZLE_MIN_TIME", .id = OPTION_TIME, .group = OF_TRACE,
	 .help = "trace: leave out calls that are shorter| (100ns, 5us, "
		 "1ms, 1s); they are counted"},
	{.name = "max-size", .value = "SIZE", .variable = "SWIZZLE_MAX_SIZE",
	 .id = OPTION_MEMORY, .group = OF_TRACE,
	 .help = "trace: stop at this size|: 1M to 64G [4G]"},
	{.name = "ring", .variable = "SWIZZLE_RING", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: do not stop, but keep the newest events",
	 .brief = "trace: keep the newest events"},
	{.name = "switches", .variable = "SWIZZLE_SWITCHES", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record when threads wait, too| (the kernel's "
		 "context switches)"},
	{.name = "flows", .variable = "SWIZZLE_FLOWS", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record what wakes what|: threads, processes, "
		 "pipes, sockets, locks, signals"},
	{.name = "prints", .variable = "SWIZZLE_PRINTS", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record the lines that are printed|: by puts, "
		 "fputs, fwrite, write, perror, syslog"},
	{.name = "live", .value = "[=FILE]", .variable = "SWIZZLE_LIVE",
	 .sets = "1", .id = OPTION_LIVE, .group = OF_TRACE, .offer = "files",
	 .help = "trace: print each call when it happens|, on standard error "
		 "or to FILE",
	 .brief = "trace: print each call when it happens"},
	{.name = "slow", .value = "FUNCTION:TIME",
	 .variable = "SWIZZLE_SLOW", .id = OPTION_SLOW, .group = OF_TRACE,
	 .repeats = true,
	 .help = "trace: keep only the calls of FUNCTION that take longer|, "
		 "with all that they call (TIME: 2ms, 50us, or a percentile, "
		 "p99); up to 7 times",
	 .brief = "trace: keep only calls of FUNCTION that take longer"},
	{.name = "keep", .value = "N", .variable = "SWIZZLE_KEEP",
	 .id = OPTION_KEEP, .group = OF_TRACE,
	 .help = "--slow: the N slowest calls|, and as many ordinary ones for "
		 "comparison, 1 to 1000 [20]"},
	{.heading = "Hooks", .common = true, .name = "imports", .value = "[=dlsym]", .variable = "SWIZZLE_IMPORTS",
	 .sets = "1", .id = OPTION_IMPORTS, .group = OF_FRAMES,
	 .words = swz_imports_at,
	 .help = "time calls into libraries that are not hooked, too "
		 "(read, malloc, ...), through the caller's GOT; dlsym: "
		 "also through pointers that it returns",
	 .brief = "time calls into libraries that are not hooked, too"},
	{.name = "label", .value = "NAME=VALUE", .variable = "SWIZZLE_LABEL",
	 .id = OPTION_LABEL, .repeats = true,
	 .help = "a word about this run, which the profile keeps (test=NAME); "
		 "may be repeated",
	 .brief = "a word about this run"},
	{.name = "max-memory", .value = "SIZE",
	 .variable = "SWIZZLE_MAX_MEMORY", .id = OPTION_MEMORY,
	 .group = OF_HOOKS,
	 .help = "bound the memory for records|: 1M to 64G [256M]"},
	{.name = "off", .variable = "SWIZZLE_OFF", .sets = "1",
	 .id = OPTION_OFF, .group = OF_HOOKS,
	 .help = "begin with recording stopped|: swizzle-ctl start or the "
		 "program itself (swizzle.h) starts it"},
	{.name = "start-at", .value = "FUNCTION[#N]",
	 .variable = "SWIZZLE_START_AT", .id = OPTION_TRIGGER,
	 .group = OF_FRAMES,
	 .help = "begin with recording stopped, start it when this "
		 "function is called (for the Nth time)",
	 .brief = "start recording when this function is called"},
	{.name = "stop-at", .value = "FUNCTION[#N]",
	 .variable = "SWIZZLE_STOP_AT", .id = OPTION_TRIGGER,
	 .group = OF_FRAMES,
	 .help = "stop recording when this one is called"},
	{.heading = "Processes and files", .name = "follow", .variable = "SWIZZLE_FOLLOW", .sets = "1",
	 .id = OPTION_FLAG,
	 .help = "profile child processes, too| [default]"},
	{.name = "no-follow", .variable = "SWIZZLE_FOLLOW", .sets = "0",
	 .id = OPTION_FLAG,
	 .help = "do not profile child processes"},
	{.name = "cache", .variable = "SWIZZLE_CACHE", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_HOOKS,
	 .help = "keep what is found out about modules for the next start, "
		 "in ~/.cache/swizzle [default]",
	 .brief = "use the cache of plans"},
	{.name = "no-cache", .variable = "SWIZZLE_CACHE", .sets = "0",
	 .id = OPTION_FLAG, .group = OF_HOOKS,
	 .help = "neither keep nor use it",
	 .brief = "do not use the cache of plans"},
	{.heading = "The end of the run", .name = "summary", .variable = "SWIZZLE_SUMMARY", .sets = "1",
	 .id = OPTION_FLAG,
	 .help = "end with a line that says what was recorded| [default]"},
	{.name = "no-summary", .variable = "SWIZZLE_SUMMARY", .sets = "0",
	 .id = OPTION_FLAG,
	 .help = "end without that line"},
	{.common = true, .name = "report", .value = "[=OPTIONS]", .variable = "SWIZZLE_REPORT",
	 .sets = "1", .id = OPTION_REPORT,
	 .help = "show the result at the end of PROGRAM|, on standard "
		 "error, as swizzle-dump OPTIONS does [its table]"},
	{.common = true, .name = "open", .variable = "SWIZZLE_REPORT",
	 .sets = "--open -f html", .id = OPTION_REPORT,
	 .help = "show the page of -f html in a browser at the end of "
		 "PROGRAM|: as --report='--open -f html' does"},
	{.common = true, .name = "list", .variable = "SWIZZLE_LIST", .sets = "1",
	 .id = OPTION_FLAG, .group = OF_HOOKS,
	 .help = "list what would be hooked and what not|, and exit"},
	{.common = true, .name = "compare", .value = "OLD NEW", .id = OPTION_COMPARE,
	 .offer = "files",
	 .help = "run two builds in turns|, with the ARGUMENTs behind --, "
		 "until it is told from noise which is faster; profiles go "
		 "into the directory of -o [swizzle.compare.PID]"},
	{.name = "runs", .value = "N", .id = OPTION_RUNS,
	 .help = "--compare: at most N runs of each| (there also -r N) "
		 "[20]"},
	{.common = true, .name = "check", .id = OPTION_CHECK,
	 .help = "say what works on this machine and what does not|, with "
		 "the command that would change it, and exit"},
	{.heading = "Messages", .name = "verbose", .letter = 'v', .variable = "SWIZZLE_VERBOSE",
	 .sets = "1", .id = OPTION_FLAG,
	 .help = "say what is done"},
	{.common = true, .name = "quiet", .letter = 'q', .variable = "SWIZZLE_QUIET",
	 .sets = "1", .id = OPTION_FLAG,
	 .help = "say nothing"},
	SWZ_OPTIONS_OF_ALL};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* Words of options that are no settings yet. */
static char *lists[OPTION_COUNT]; /* patterns, one a line */
static const char *given_output;
static bool check_is_wanted;
static struct swz_compared_builds compared = {.most = USUAL_RUNS};
static const char *given_of[OF_SAMPLES + 1]; /* an option for such modes */
static const char *given_as[OPTION_COUNT];   /* "-D" or "--depth" */
static const char *given_runs;               /* "--runs" */
static bool in_environment[OPTION_COUNT];    /* before the configuration */

/* Options that may be repeated are variables with an item a line. (Patterns may
 * hold any character but a newline.) */
static void append(const struct swz_option *o, const char *value)
{
	char **list = &lists[o - options];

	*list = *list ? swz_text("%s\n%s", *list, value)
		      : swz_text("%s", value);
	swz_environment_set(o->variable, *list);
}

/* "FUNCTION@SPEC,SPEC;FUNCTION@..." */
static void append_arguments(const struct swz_option *o, const char *value)
{
	for (const char *item = value, *end; item;
	     item = *end ? end + 1 : NULL) {
		end = strchrnul(item, ';');
		append(o, swz_text("%.*s", (int)(end - item), item));
	}
}

static void check(const struct swz_option *o, const char *as, const char *value)
{
	const char *problem = option_problem((enum option_kind)o->id, value);

	if (problem)
		bad_usage("option %s: %s", as, problem);
}

static void check_imports(const char *as, const char *value)
{
	char advice[SWZ_ADVICE_BYTES];

	if (swz_word_is(swz_imports_at, value, strlen(value)) >= 0)
		return;
	swz_word_advice(swz_imports_at, value, advice);
	bad_usage("option %s: unknown value of --imports '%s'%s", as, value,
		  advice);
}

/* The option `as` was given; VALUE may be NULL where it need not have one. */
static void set_option(const struct swz_option *o, const char *as,
		       const char *value)
{
	uint64_t bytes;

	if (o->id == OPTION_CHECK) {
		check_is_wanted = true;
		return;
	}
	if (o->id == OPTION_COMPARE) {
		check(o, as, value);
		compared.old = value;
		return;
	}
	if (o->id == OPTION_RUNS ||
	    (compared.old && o->id == OPTION_RATE && strcmp(as, "-r") == 0)) {
		const char *problem = option_problem(OPTION_RUNS, value);

		if (problem)
			bad_usage("option %s: %s", as, problem);
		compared.most = (unsigned)strtoul(value, NULL, 10);
		given_runs = as;
		return;
	}
	given_of[o->group] = as;
	given_as[o - options] = as;
	if (o->sets && !value) { /* a flag, --imports, --report */
		swz_environment_set(o->variable, o->sets);
		return;
	}
	if (!value)
		value = "*"; /* --args, --percentiles */
	switch ((enum option_kind)o->id) {
	case OPTION_IMPORTS:
		check_imports(as, value);
		break;
	case OPTION_OUTPUT:
		check(o, as, value);
		given_output = value;
		return;
	case OPTION_ARGS:
	case OPTION_LABEL:
	case OPTION_PATTERN:
	case OPTION_SLOW:
		check(o, as, value);
		append(o, value);
		return;
	case OPTION_ARGUMENT:
		check(o, as, value);
		append_arguments(o, value);
		return;
	case OPTION_BYTES:
	case OPTION_MEMORY:
		check(o, as, value);
		(void)read_size(value, &bytes);
		value = swz_text("%llu", (unsigned long long)bytes);
		break;
	default:
		check(o, as, value);
		break;
	}
	swz_environment_set(o->variable, value);
}

/* Checks the variables, for the environment may set what no option has. */
static void check_variables(void)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct swz_option *o = &options[i];
		const char *problem = NULL;

		if (o->variable) {
			const char *value = swz_environment_get(o->variable);

			problem = variable_problem((enum option_kind)o->id,
						   value);
			in_environment[i] = *value != '\0';
		}
		if (problem)
			bad_usage("%s in the environment: %s", o->variable,
				  problem);
	}
}

static const char *source_of(const struct swz_option *o)
{
	size_t i = (size_t)(o - options);

	if (given_as[i])
		return swz_text("option %s", given_as[i]);
	if (in_environment[i])
		return swz_text("%s in the environment", o->variable);
	return "the configuration file";
}

const char *swz_options_name(const char *variable)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].variable &&
		    strcmp(options[i].variable, variable) == 0 && given_as[i])
			return source_of(&options[i]);
	return swz_text("%s in the environment", variable);
}


static void take(void *context, const struct swz_option *option, const char *as,
		 const char *value)
{
	(void)context;
	set_option(option, as, value);
}

const struct swz_option_table swz_run_option_table = {
	.tool = "swizzle-run",
	.before = before,
	.examples = examples,
	.after = after,
	.options = options,
	.column = 25,
	.kind = SWZ_WORDS_PROGRAM,
	.take = take,
};
/* clang-format on */

/* The variables of options, those that the tools set for each other, and those
 * of swizzle-dump. */
static const char *variable_at(size_t index)
{
	static const char *const others[] = {"SWIZZLE_FRESH", "SWIZZLE_TREE",
					     "SWIZZLE_SIGNATURES"};
	const size_t other_count = sizeof(others) / sizeof(others[0]);

	if (index < OPTION_COUNT)
		return options[index].variable ? options[index].variable : "";
	index -= OPTION_COUNT;
	return index < other_count ? others[index]
				   : swz_variables_of_dump(index - other_count);
}

void swz_options_check_environment(void)
{
	if (strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") != 0)
		swz_variables_check(variable_at, false);
}

static bool is_wanted(const struct swz_option *o)
{
	const char *value = o->variable ? swz_environment_get(o->variable) : "";

	return *value && !(o->sets && strcmp(value, "0") == 0);
}

static const struct swz_option *wanted_of(enum modes modes)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].group == modes && is_wanted(&options[i]))
			return &options[i];
	return NULL;
}

/* Without --mode, what else is asked for decides. */
static void choose_mode(void)
{
	const struct swz_option *of_trace = wanted_of(OF_TRACE);
	const struct swz_option *of_frames = wanted_of(OF_FRAMES);
	const char *mode = DEFAULT_MODE;

	if (*swz_environment_get("SWIZZLE_MODE"))
		return;
	if (of_trace)
		mode = "trace";
	else if (of_frames)
		mode = "profile";
	/* which the library does by itself */
	if (strcmp(mode, "profile") != 0)
		swz_environment_set("SWIZZLE_MODE", mode);
	if (strcmp(mode, DEFAULT_MODE) == 0 ||
	    strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0 ||
	    strcmp(swz_environment_get("SWIZZLE_LIST"), "1") == 0)
		return;
	swz_notice("%s needs %s: recording with --mode %s",
		   source_of(of_trace ? of_trace : of_frames),
		   of_trace ? "each call's moment"
			    : "each call's end, or what is above it",
		   mode);
}

static bool is_set(const char *variable)
{
	return *swz_environment_get(variable) != '\0';
}

/* With --slow, its functions are those of -F, and waiting is worth knowing. */
static void check_slow(void)
{
	const char *rules = swz_environment_get("SWIZZLE_SLOW");
	unsigned count = 1;

	if (!*rules) {
		if (is_set("SWIZZLE_KEEP"))
			bad_usage("option --keep is for --slow only");
		return;
	}
	if (strcmp(swz_environment_get("SWIZZLE_MODE"), "trace") != 0)
		bad_usage("option --slow is for --mode trace only");
	for (const char *s = rules; (s = strchr(s, '\n')); s++)
		count++;
	if (count > MOST_RULES)
		bad_usage("option --slow: at most %u", MOST_RULES);
	if (is_set("SWIZZLE_FILTER"))
		bad_usage("option -F does not go with --slow, which records "
			  "what its functions call");
	if (is_set("SWIZZLE_LIVE"))
		bad_usage("option --live does not go with --slow: which calls "
			  "are kept is known at their end");
	if (strcmp(swz_environment_get("SWIZZLE_RING"), "1") == 0)
		bad_usage("option --ring does not go with --slow, whose room "
			  "is bounded as it is");
	if (!is_set("SWIZZLE_SWITCHES"))
		swz_environment_set("SWIZZLE_SWITCHES", "1");
}

/* Options of a run make no sense where nothing is run. */
static void unset_outputs(void)
{
	unsetenv("SWIZZLE_REPORT");
	unsetenv("SWIZZLE_LIVE");
}

static void check_modes(bool has_program)
{
	bool has_process = *swz_environment_get("SWIZZLE_PID") != '\0';

	if (swz_sampling_wanted()) {
		const char *given = given_of[OF_HOOKS] ? given_of[OF_HOOKS]
						       : given_of[OF_FRAMES];

		if (given)
			bad_usage("option %s is not for --mode sample", given);
	} else if ((counting_wanted() || swz_both_wanted()) &&
		   wanted_of(OF_FRAMES)) {
		bad_usage("%s needs a call's end, or what is above it: "
			  "use it with --mode profile or trace",
			  source_of(wanted_of(OF_FRAMES)));
	} else if (given_of[OF_SAMPLES] && !swz_both_wanted()) {
		bad_usage("option %s is for --mode sample and both only",
			  given_of[OF_SAMPLES]);
	} else if (*swz_environment_get("SWIZZLE_PERCENTILES") &&
		   strcmp(swz_environment_get("SWIZZLE_TIMING"), "sampled") ==
			   0) {
		bad_usage("%s needs the time of each call: use it without "
			  "--timing sampled",
			  swz_options_name("SWIZZLE_PERCENTILES"));
	} else if (has_process) {
		if (strcmp(swz_environment_get("SWIZZLE_IMPORTS"), "") != 0 &&
		    strcmp(swz_environment_get("SWIZZLE_IMPORTS"), "0") != 0)
			bad_usage("option --imports is not for -p: calls "
				  "through the GOT are timed from a program's "
				  "start");
		if (strcmp(swz_environment_get("SWIZZLE_FLOWS"), "1") == 0)
			bad_usage("option --flows is not for -p: what a "
				  "process has open then is not known");
		if (strcmp(swz_environment_get("SWIZZLE_LIST"), "1") == 0)
			bad_usage("option --list is not for -p: give the "
				  "program instead");
	}
	check_slow();
	if (*swz_environment_get("SWIZZLE_FOR") && !has_process)
		bad_usage("option --for is for -p only");
	if (strcmp(swz_environment_get("SWIZZLE_LIST"), "1") == 0)
		unset_outputs();
	if (!has_program && !has_process)
		bad_usage("no program given");
	if (has_program && has_process)
		bad_usage("option -p: either a process or a program, not both");
}

void swz_options_sample_alone(const char *whose, const char *why)
{
	swz_environment_set("SWIZZLE_MODE", "sample");
	if (strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") != 0)
		swz_notice("%s: %s, so its calls are not counted: recording "
			   "with --mode sample",
			   whose, why);
	check_modes(!*swz_environment_get("SWIZZLE_PID"));
}

char **swz_options_read(char **argv)
{
	char **program = swz_options_parse(&swz_run_option_table, argv, NULL);

	if (compared.old) {
		compared.new = *program;
		if (!compared.new || !*compared.new)
			bad_usage("option --compare needs two builds: "
				  "--compare OLD NEW -- ARGUMENT...");
		/* options may stand behind the builds */
		program = swz_options_parse(&swz_run_option_table, program,
					    NULL);
	} else if (given_runs) {
		bad_usage("option %s is for --compare only", given_runs);
	}
	check_variables();
	return program;
}

void swz_options_settle_mode(bool has_program)
{
	choose_mode();
	check_modes(has_program);
	if (strcmp(swz_environment_get("SWIZZLE_MODE"), "trace") == 0) {
		if (strcmp(swz_environment_get("SWIZZLE_TIMING"), "sampled") ==
		    0)
			bad_usage("a trace has exact times: no --timing "
				  "sampled");
	} else if (strcmp(swz_environment_get("SWIZZLE_TIMING"), "sampled") ==
			   0 &&
		   (*swz_environment_get("SWIZZLE_ARGS") ||
		    *swz_environment_get("SWIZZLE_ARGUMENTS"))) {
		bad_usage("options -A and --args need the time of each call: "
			  "no --timing sampled");
	} else if (given_of[OF_TRACE]) {
		bad_usage("option %s is for --mode trace only",
			  given_of[OF_TRACE]);
	}
}

const struct swz_compared_builds *swz_options_compared(void)
{
	return compared.old ? &compared : NULL;
}

bool swz_options_check_is_wanted(void)
{
	return check_is_wanted;
}

const char *swz_options_output(void)
{
	return given_output;
}
