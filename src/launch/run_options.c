/* Each option is a variable of the environment. One table has the options with
 * the kind of their values; option_values.c says what is wrong with a value. */

#include "launch/run_options.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "launch/program.h"
#include "options/command_line.h"

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
	 .variable = "SWIZZLE_OUTPUT", .id = SWZ_OPTION_OUTPUT, .offer = "files",
	 .help = "write the profile to FILE|; %p stands for the pid, %h "
		 "for the host, %q{VARIABLE} for a variable of the "
		 "environment; DIR/ for the default name in DIR "
		 "[swizzle.out.%p]"},
	{.common = true, .name = "mode", .letter = 'm', .value = "MODE",
	 .variable = "SWIZZLE_MODE", .id = SWZ_OPTION_MODE, .words = swz_mode_at,
	 .help = "what to record|: both, exact counts with the times that "
		 "samples give; count, how often each function is called, "
		 "without times; cover, which functions run and when each "
		 "was called first; sample, where the time goes, without hooks; "
		 "profile, the time of each call, a calling context tree per "
		 "thread; trace, every entry and exit with its time, too "
		 "[both]"},
	{.heading = "Samples", .name = "rate", .letter = 'r', .value = "HZ",
	 .variable = "SWIZZLE_RATE", .id = SWZ_OPTION_RATE, .group = OF_SAMPLES,
	 .help = "sample: samples per second| of processor time [1000; 100 "
		 "with --engine pause]"},
	{.name = "engine", .value = "ENGINE", .variable = "SWIZZLE_ENGINE",
	 .id = SWZ_OPTION_ENGINE, .group = OF_SAMPLES, .words = swz_engine_at,
	 .help = "sample: perf, the kernel takes samples; pause, the "
		 "threads are stopped for each [perf, if permitted]",
	 .brief = "sample: who takes the samples"},
	{.name = "event", .value = "EVENT", .variable = "SWIZZLE_EVENT",
	 .id = SWZ_OPTION_EVENT, .group = OF_SAMPLES, .words = swz_event_at,
	 .help = "sample: cpu-clock, task-clock or cycles [cpu-clock]",
	 .brief = "sample: what the kernel counts"},
	{.name = "wall", .variable = "SWIZZLE_WALL", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_SAMPLES,
	 .help = "sample: look where threads wait|, 100 times a second "
		 "[default]"},
	{.name = "no-wall", .variable = "SWIZZLE_WALL", .sets = "0",
	 .id = SWZ_OPTION_FLAG, .group = OF_SAMPLES,
	 .help = "sample: do not look where threads wait"},
	{.name = "stack-bytes", .value = "N", .variable = "SWIZZLE_STACK_BYTES",
	 .id = SWZ_OPTION_STACK_BYTES, .group = OF_SAMPLES,
	 .help = "sample: bytes of the stack to copy|: 512 to 65528 [as "
		 "much as there is room for]"},
	{.heading = "A process that runs", .common = true, .name = "pid", .letter = 'p', .value = "PID",
	 .variable = "SWIZZLE_PID", .id = SWZ_OPTION_PID, .offer = "pids",
	 .help = "profile a running process| until it ends, or ^C"},
	{.common = true, .name = "for", .value = "TIME", .variable = "SWIZZLE_FOR",
	 .id = SWZ_OPTION_DURATION,
	 .help = "-p: stop after this time| (500ms, 10s, 2m)"},
	{.heading = "Which functions", .common = true, .name = "filter", .letter = 'F', .value = "PATTERN",
	 .variable = "SWIZZLE_FILTER", .id = SWZ_OPTION_PATTERN, .group = OF_FRAMES,
	 .repeats = true,
	 .help = "only the functions that match and what they call"},
	{.common = true, .name = "notrace", .letter = 'N', .value = "PATTERN",
	 .variable = "SWIZZLE_NOTRACE", .id = SWZ_OPTION_PATTERN,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "not the functions that match nor what they call"},
	{.name = "hide", .letter = 'H', .value = "PATTERN",
	 .variable = "SWIZZLE_HIDE", .id = SWZ_OPTION_PATTERN, .group = OF_HOOKS,
	 .repeats = true,
	 .help = "not the functions that match|; what they call stays"},
	{.name = "caller", .letter = 'C', .value = "PATTERN",
	 .variable = "SWIZZLE_CALLER", .id = SWZ_OPTION_PATTERN, .repeats = true,
	 .help = "swizzle-dump shows only the functions that match and the "
		 "paths that lead to them",
	 .brief = "show only functions that match, and what leads to them"},
	{.common = true, .name = "module", .letter = 'M', .value = "PATTERN",
	 .variable = "SWIZZLE_MODULE", .id = SWZ_OPTION_PATTERN, .group = OF_HOOKS,
	 .repeats = true,
	 .help = "only these modules| [all but ld.so, libc, libm, "
		 "libpthread, libswizzle]"},
	{.name = "location", .letter = 'L', .value = "PATTERN",
	 .variable = "SWIZZLE_LOCATION", .id = SWZ_OPTION_PATTERN,
	 .group = OF_HOOKS, .repeats = true,
	 .help = "only functions of these source files| (that needs debug "
		 "information); what others call stays"},
	{.name = "min-size", .letter = 'Z', .value = "BYTES",
	 .variable = "SWIZZLE_MIN_SIZE", .id = SWZ_OPTION_BYTES, .group = OF_HOOKS,
	 .help = "not functions that are smaller|; what they call stays"},
	{.heading = "Arguments and configuration", .name = "argument", .letter = 'A', .value = "FUNCTION@SPEC,...",
	 .variable = "SWIZZLE_ARGUMENTS", .id = SWZ_OPTION_ARGUMENT,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "record arguments and results|; SPEC: argN/FORMAT, "
		 "fpargN/FORMAT, retval/FORMAT; FORMAT: d i u x o c b s S "
		 "p f and bits, as 'open*@arg1/s,arg2/x32,retval/i32'"},
	{.common = true, .name = "args", .value = "[=PATTERN]", .variable = "SWIZZLE_ARGS",
	 .id = SWZ_OPTION_ARGS, .group = OF_FRAMES, .repeats = true,
	 .help = "record arguments and results by debug information, of "
		 "the functions of PROGRAM and its libraries that match "
		 "[all]; may be repeated",
	 .brief = "record arguments by debug information"},
	{.name = "string-bytes", .value = "N",
	 .variable = "SWIZZLE_STRING_BYTES", .id = SWZ_OPTION_STRING_BYTES,
	 .group = OF_FRAMES,
	 .help = "most bytes recorded of a string|, up to 2048 [64]"},
	{.name = "config", .value = "FILE", .variable = "SWIZZLE_CONFIG",
	 .id = SWZ_OPTION_FILE, .offer = "files",
	 .help = "which calls are recorded and shown, and how|: see "
		 "docs/config.md [~/.config/swizzle/config, then "
		 "./.swizzle]"},
	{.heading = "Contexts and times", .name = "depth", .letter = 'D', .value = "N",
	 .variable = "SWIZZLE_DEPTH", .id = SWZ_OPTION_DEPTH, .group = OF_FRAMES,
	 .help = "only the first N levels of calls"},
	{.name = "recursion", .value = "N", .variable = "SWIZZLE_RECURSION",
	 .id = SWZ_OPTION_DEPTH, .group = OF_FRAMES,
	 .help = "a function is at most N times on a stack|; deeper calls "
		 "are folded [16]"},
	{.name = "timing", .value = "KIND", .variable = "SWIZZLE_TIMING",
	 .id = SWZ_OPTION_TIMING, .group = OF_FRAMES, .words = swz_timing_at,
	 .help = "exact: time each call; sampled: only some calls of "
		 "functions that are called often, which costs less; "
		 "counts are exact [exact]",
	 .brief = "which calls are timed"},
	{.name = "percentiles", .value = "[=PATTERN]",
	 .variable = "SWIZZLE_PERCENTILES", .id = SWZ_OPTION_ARGS,
	 .group = OF_FRAMES, .repeats = true,
	 .help = "keep how the times of calls are distributed, of the "
		 "functions that match [all]: p50, p90, p99, p99.9; may be "
		 "repeated",
	 .brief = "keep percentiles of call times"},
	{.heading = "Traces", .name = "min-time", .letter = 't', .value = "TIME",
	 .variable = "SWIZZLE_MIN_TIME", .id = SWZ_OPTION_TIME, .group = OF_TRACE,
	 .help = "trace: leave out calls that are shorter| (100ns, 5us, "
		 "1ms, 1s); they are counted"},
	{.name = "max-size", .value = "SIZE", .variable = "SWIZZLE_MAX_SIZE",
	 .id = SWZ_OPTION_MEMORY, .group = OF_TRACE,
	 .help = "trace: stop at this size|: 1M to 64G [4G]"},
	{.name = "ring", .variable = "SWIZZLE_RING", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: do not stop, but keep the newest events",
	 .brief = "trace: keep the newest events"},
	{.name = "switches", .variable = "SWIZZLE_SWITCHES", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record when threads wait, too| (the kernel's "
		 "context switches)"},
	{.name = "flows", .variable = "SWIZZLE_FLOWS", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record what wakes what|: threads, processes, "
		 "pipes, sockets, locks, signals"},
	{.name = "prints", .variable = "SWIZZLE_PRINTS", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_TRACE,
	 .help = "trace: record the lines that are printed|: by puts, "
		 "fputs, fwrite, write, perror, syslog"},
	{.name = "live", .value = "[=FILE]", .variable = "SWIZZLE_LIVE",
	 .sets = "1", .id = SWZ_OPTION_LIVE, .group = OF_TRACE, .offer = "files",
	 .help = "trace: print each call when it happens|, on standard error "
		 "or to FILE",
	 .brief = "trace: print each call when it happens"},
	{.name = "slow", .value = "FUNCTION:TIME",
	 .variable = "SWIZZLE_SLOW", .id = SWZ_OPTION_SLOW, .group = OF_TRACE,
	 .repeats = true,
	 .help = "trace: keep only the calls of FUNCTION that take longer|, "
		 "with all that they call (TIME: 2ms, 50us, or a percentile, "
		 "p99); up to 7 times",
	 .brief = "trace: keep only calls of FUNCTION that take longer"},
	{.name = "keep", .value = "N", .variable = "SWIZZLE_KEEP",
	 .id = SWZ_OPTION_KEEP, .group = OF_TRACE,
	 .help = "--slow: the N slowest calls|, and as many ordinary ones for "
		 "comparison, 1 to 1000 [20]"},
	{.heading = "Hooks", .common = true, .name = "imports", .value = "[=dlsym]", .variable = "SWIZZLE_IMPORTS",
	 .sets = "1", .id = SWZ_OPTION_IMPORTS, .group = OF_FRAMES,
	 .words = swz_imports_at,
	 .help = "time calls into libraries that are not hooked, too "
		 "(read, malloc, ...), through the caller's GOT; dlsym: "
		 "also through pointers that it returns",
	 .brief = "time calls into libraries that are not hooked, too"},
	{.name = "label", .value = "NAME=VALUE", .variable = "SWIZZLE_LABEL",
	 .id = SWZ_OPTION_LABEL, .repeats = true,
	 .help = "a word about this run, which the profile keeps (test=NAME); "
		 "may be repeated",
	 .brief = "a word about this run"},
	{.name = "max-memory", .value = "SIZE",
	 .variable = "SWIZZLE_MAX_MEMORY", .id = SWZ_OPTION_MEMORY,
	 .group = OF_HOOKS,
	 .help = "bound the memory for records|: 1M to 64G [256M]"},
	{.name = "off", .variable = "SWIZZLE_OFF", .sets = "1",
	 .id = SWZ_OPTION_OFF, .group = OF_HOOKS,
	 .help = "begin with recording stopped|: swizzle-ctl start or the "
		 "program itself (swizzle.h) starts it"},
	{.name = "start-at", .value = "FUNCTION[#N]",
	 .variable = "SWIZZLE_START_AT", .id = SWZ_OPTION_TRIGGER,
	 .group = OF_FRAMES,
	 .help = "begin with recording stopped, start it when this "
		 "function is called (for the Nth time)",
	 .brief = "start recording when this function is called"},
	{.name = "stop-at", .value = "FUNCTION[#N]",
	 .variable = "SWIZZLE_STOP_AT", .id = SWZ_OPTION_TRIGGER,
	 .group = OF_FRAMES,
	 .help = "stop recording when this one is called"},
	{.heading = "Processes and files", .name = "follow", .variable = "SWIZZLE_FOLLOW", .sets = "1",
	 .id = SWZ_OPTION_FLAG,
	 .help = "profile child processes, too| [default]"},
	{.name = "no-follow", .variable = "SWIZZLE_FOLLOW", .sets = "0",
	 .id = SWZ_OPTION_FLAG,
	 .help = "do not profile child processes"},
	{.name = "cache", .variable = "SWIZZLE_CACHE", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_HOOKS,
	 .help = "keep what is found out about modules for the next start, "
		 "in ~/.cache/swizzle [default]",
	 .brief = "use the cache of plans"},
	{.name = "no-cache", .variable = "SWIZZLE_CACHE", .sets = "0",
	 .id = SWZ_OPTION_FLAG, .group = OF_HOOKS,
	 .help = "neither keep nor use it",
	 .brief = "do not use the cache of plans"},
	{.heading = "The end of the run", .name = "summary", .variable = "SWIZZLE_SUMMARY", .sets = "1",
	 .id = SWZ_OPTION_FLAG,
	 .help = "end with a line that says what was recorded| [default]"},
	{.name = "no-summary", .variable = "SWIZZLE_SUMMARY", .sets = "0",
	 .id = SWZ_OPTION_FLAG,
	 .help = "end without that line"},
	{.common = true, .name = "report", .value = "[=OPTIONS]", .variable = "SWIZZLE_REPORT",
	 .sets = "1", .id = SWZ_OPTION_REPORT,
	 .help = "show the result at the end of PROGRAM|, on standard "
		 "error, as swizzle-dump OPTIONS does [its table]"},
	{.common = true, .name = "open", .variable = "SWIZZLE_REPORT",
	 .sets = "--open -f html", .id = SWZ_OPTION_REPORT,
	 .help = "show the page of -f html in a browser at the end of "
		 "PROGRAM|: as --report='--open -f html' does"},
	{.common = true, .name = "list", .variable = "SWIZZLE_LIST", .sets = "1",
	 .id = SWZ_OPTION_FLAG, .group = OF_HOOKS,
	 .help = "list what would be hooked and what not|, and exit"},
	{.common = true, .name = "compare", .value = "OLD NEW", .id = SWZ_OPTION_COMPARE,
	 .offer = "files",
	 .help = "run two builds in turns|, with the ARGUMENTs behind --, "
		 "until it is told from noise which is faster; profiles go "
		 "into the directory of -o [swizzle.compare.PID]"},
	{.name = "runs", .value = "N", .id = SWZ_OPTION_RUNS,
	 .help = "--compare: at most N runs of each| (there also -r N) "
		 "[20]"},
	{.common = true, .name = "check", .id = SWZ_OPTION_CHECK,
	 .help = "say what works on this machine and what does not|, with "
		 "the command that would change it, and exit"},
	{.heading = "Messages", .name = "verbose", .letter = 'v', .variable = "SWIZZLE_VERBOSE",
	 .sets = "1", .id = SWZ_OPTION_FLAG,
	 .help = "say what is done"},
	{.common = true, .name = "quiet", .letter = 'q', .variable = "SWIZZLE_QUIET",
	 .sets = "1", .id = SWZ_OPTION_FLAG,
	 .help = "say nothing"},
	SWZ_OPTIONS_OF_ALL};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* Words of options that are no settings yet. */
static char *lists[OPTION_COUNT]; /* patterns, one a line */
static const char *given_output;
static bool check_is_wanted;
static struct swz_compared_builds compared = {.most = SWZ_USUAL_RUNS};
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
	const char *problem = swz_option_problem((enum swz_option_kind)o->id, value);

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

	if (o->id == SWZ_OPTION_CHECK) {
		check_is_wanted = true;
		return;
	}
	if (o->id == SWZ_OPTION_COMPARE) {
		check(o, as, value);
		compared.old = value;
		return;
	}
	if (o->id == SWZ_OPTION_RUNS ||
	    (compared.old && o->id == SWZ_OPTION_RATE && strcmp(as, "-r") == 0)) {
		const char *problem = swz_option_problem(SWZ_OPTION_RUNS, value);

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
	switch ((enum swz_option_kind)o->id) {
	case SWZ_OPTION_IMPORTS:
		check_imports(as, value);
		break;
	case SWZ_OPTION_OUTPUT:
		check(o, as, value);
		given_output = value;
		return;
	case SWZ_OPTION_ARGS:
	case SWZ_OPTION_LABEL:
	case SWZ_OPTION_PATTERN:
	case SWZ_OPTION_SLOW:
		check(o, as, value);
		append(o, value);
		return;
	case SWZ_OPTION_ARGUMENT:
		check(o, as, value);
		append_arguments(o, value);
		return;
	case SWZ_OPTION_BYTES:
	case SWZ_OPTION_MEMORY:
		check(o, as, value);
		(void)swz_size_read(value, &bytes);
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

			problem = swz_variable_problem((enum swz_option_kind)o->id,
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

/* Where the value of VARIABLE is from: "option -r", or "SWIZZLE_RATE in the
 * environment". */
static const char *options_name(const char *variable)
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
	if (count > SWZ_MOST_SLOW_RULES)
		bad_usage("option --slow: at most %u", SWZ_MOST_SLOW_RULES);
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
			  options_name("SWIZZLE_PERCENTILES"));
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

/* --- the settings of -m sample ------------------------------------------- */

#define MOST_PAUSES 1000u /* --engine pause: each stops all threads */

static bool is_on(const char *variable)
{
	const char *value = swz_environment_get(variable);

	return *value && strcmp(value, "0") != 0;
}

/* Values were checked when the options were read. 0: nothing is set. */
static uint64_t number(const char *variable)
{
	return strtoull(swz_environment_get(variable), NULL, 10);
}

static enum swz_sample_engine engine(void)
{
	const char *text = swz_environment_get("SWIZZLE_ENGINE");

	return !*text                      ? 0
	       : strcmp(text, "perf") == 0 ? SWZ_ENGINE_PERF
					   : SWZ_ENGINE_PAUSE;
}

static const char *event(void)
{
	const char *text = swz_environment_get("SWIZZLE_EVENT");

	return *text ? text : swz_event_at(0);
}

static void check_pauses(uint64_t rate)
{
	if (rate > MOST_PAUSES)
		swz_wrong_usage("swizzle-run",
				"%s: '%llu' is not a number from 1 to %u "
				"(samples a second) with --engine pause",
				options_name("SWIZZLE_RATE"),
				(unsigned long long)rate, MOST_PAUSES);
}

struct swz_sampling swz_sampling_read(void)
{
	struct swz_sampling s = {
		.engine = engine(),
		.event = event(),
		.wall = strcmp(swz_environment_get("SWIZZLE_WALL"), "0") != 0,
		.follow = strcmp(swz_environment_get("SWIZZLE_FOLLOW"), "0") !=
			  0,
		.quiet = is_on("SWIZZLE_QUIET"),
		.verbose = is_on("SWIZZLE_VERBOSE"),
		.summary = strcmp(swz_environment_get("SWIZZLE_SUMMARY"),
				  "0") != 0,
		.for_ns = swz_duration(swz_environment_get("SWIZZLE_FOR")),
		.rate = number("SWIZZLE_RATE"),
		.stack_bytes = (uint32_t)number("SWIZZLE_STACK_BYTES") & ~7u,
		.pid = (int32_t)number("SWIZZLE_PID"),
	};

	if (s.engine == SWZ_ENGINE_PAUSE)
		check_pauses(s.rate);
	return s;
}
