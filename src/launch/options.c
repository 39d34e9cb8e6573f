#include "launch/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/environment.h"
#include "launch/option_values.h"
#include "launch/mode.h"
#include "launch/program.h"
#include "options/usage.h"
#include "options/variables.h"
#include "options/words.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define bad_usage(...) swz_wrong_usage("swizzle-run", __VA_ARGS__)

/* clang-format off */
static const char usage[] =
	"Usage: swizzle-run [OPTION]... [--] PROGRAM [ARGUMENT]...\n"
	"       swizzle-run [OPTION]... -p PID\n"
	"Runs PROGRAM with every function entry and exit hooked, and writes a profile\n"
	"that swizzle-dump reads. -p hooks a process that runs already, for a time.\n"
	"-m sample takes samples, and changes nothing in the program.\n"
	"\n"
	"  -o, --output FILE      write the profile to FILE; %p stands for the pid,\n"
	"                         %h for the host, %q{VARIABLE} for a variable of\n"
	"                         the environment; DIR/ for the default name in DIR\n"
	"                         [swizzle.out.%p]\n"
	"  -m, --mode MODE        what to record: profile, a calling context tree per\n"
	"                         thread; trace, every entry and exit with its time,\n"
	"                         too; sample, where the time goes, without hooks;\n"
	"                         both: runs PROGRAM twice, sample and then profile,\n"
	"                         for exact counts with true times [profile]\n"
	"  -r, --rate HZ          sample: samples per second of processor time\n"
	"                         [1000; --engine pause: 100]\n"
	"      --engine ENGINE    sample: perf, the kernel takes samples; pause, the\n"
	"                         threads are stopped for each [perf, if permitted]\n"
	"      --event EVENT      sample: cpu-clock, task-clock or cycles [cpu-clock]\n"
	"      --wall             sample: threads that wait, too\n"
	"      --stack-bytes N    sample: bytes of the stack to copy: 512 to 65528\n"
	"                         [as much as there is room for]\n"
	"  -p, --pid PID          profile a running process until it ends, or ^C\n"
	"      --for TIME         -p: stop after this time (500ms, 10s, 2m)\n"
	"  -F, --filter PATTERN   only the functions that match and what they call\n"
	"  -N, --notrace PATTERN  not the functions that match nor what they call\n"
	"  -H, --hide PATTERN     not the functions that match; what they call stays\n"
	"  -C, --caller PATTERN   swizzle-dump shows only the functions that match and\n"
	"                         the paths that lead to them\n"
	"  -M, --module PATTERN   only these modules\n"
	"                         [all but ld.so, libc, libm, libpthread, libswizzle]\n"
	"  -L, --location PATTERN only functions of these source files (that needs\n"
	"                         debug information); what others call stays\n"
	"  -Z, --min-size BYTES   not functions that are smaller; what they call stays\n"
	"  -A, --argument FUNCTION@SPEC,...\n"
	"                         record arguments and results; SPEC: argN/FORMAT,\n"
	"                         fpargN/FORMAT, retval/FORMAT; FORMAT: d i u x o c b s\n"
	"                         S p f and bits, as 'open*@arg1/s,arg2/x32,retval/i32'\n"
	"      --args[=PATTERN]   the same by debug information, for the functions of\n"
	"                         PROGRAM and its libraries that match [all]; may be\n"
	"                         repeated\n"
	"      --string-bytes N   most bytes recorded of a string, up to 2048 [64]\n"
	"      --config FILE      which calls are recorded and shown, and how: see\n"
	"                         docs/config.md\n"
	"                         [~/.config/swizzle/config, then ./.swizzle]\n"
	"  -D, --depth N          only the first N levels of calls\n"
	"      --recursion N      a function is at most N times on a stack;\n"
	"                         deeper calls are folded [16]\n"
	"      --timing KIND      exact: time each call; sampled: only some calls of\n"
	"                         functions that are called often, which costs less;\n"
	"                         counts are exact [exact]\n"
	"  -t, --min-time TIME    trace: leave out calls that are shorter (100ns, 5us,\n"
	"                         1ms, 1s); they are counted\n"
	"      --max-size SIZE    trace: stop at this size: 1M to 64G [4G]\n"
	"      --ring             trace: do not stop, but keep the newest events\n"
	"      --switches         trace: record when threads wait, too (the kernel's\n"
	"                         context switches)\n"
	"      --flows            trace: record what wakes what: threads, processes,\n"
	"                         pipes, sockets, locks, signals\n"
	"      --prints           trace: record the lines that are printed: by puts,\n"
	"                         fputs, fwrite, write, perror, syslog\n"
	"      --imports[=dlsym]  time calls into libraries that are not hooked, too\n"
	"                         (read, malloc, ...), through the caller's GOT;\n"
	"                         dlsym: also through pointers that it returns\n"
	"      --max-memory SIZE  bound the memory for records: 1M to 64G [256M]\n"
	"      --off              begin with recording stopped: swizzle-ctl start or\n"
	"                         the program itself (swizzle.h) starts it\n"
	"      --start-at FUNCTION[#N]\n"
	"                         begin with recording stopped, start it when this\n"
	"                         function is called (for the Nth time)\n"
	"      --stop-at FUNCTION[#N]\n"
	"                         stop recording when this one is called\n"
	"      --follow           profile child processes, too [default]\n"
	"      --no-follow        do not profile child processes\n"
	"      --cache            keep what is found out about modules for the next\n"
	"                         start, in ~/.cache/swizzle [default]\n"
	"      --no-cache         neither keep nor use it\n"
	"      --summary          end with a line that says what was recorded [default]\n"
	"      --no-summary       end without that line\n"
	"      --report[=OPTIONS] show the result at the end of PROGRAM, on standard\n"
	"                         error, as swizzle-dump OPTIONS does [its table]\n"
	"      --list             list what would be hooked and what not, and exit\n"
	"  -v, --verbose          say what is done\n"
	"  -q, --quiet            say nothing\n"
	"  -V, --version          print the version and exit\n"
	"  -h, --help             print this help and exit\n"
	"\n"
	"A PATTERN is like the shell's (* ? [a-z]) and must match the whole name;\n"
	"!PATTERN takes away what matches. -F, -N, -H, -C, -M and -L may be repeated.\n"
	"Each option has an environment variable of the same name (SWIZZLE_OUTPUT,\n"
	"SWIZZLE_FILTER, ...).\n"
	"Exit status: the program's own; 126 if it cannot be profiled or executed, or\n"
	"the profile cannot be written, 127 if it was not found, 2 for wrong usage.\n";
/* clang-format on */

/* For which modes an option is, if not for all of them. */
enum modes { ALL_MODES, OF_TRACE, OF_HOOKS, OF_SAMPLES };

struct option {
	const char *name;
	const char *variable;
	const char *value; /* of the variable: of a FLAG */
	enum swz_option_kind kind;
	char letter; /* or 0 */
	enum modes modes;
};

static const struct option options[] = {
	{"output", "SWIZZLE_OUTPUT", NULL, SWZ_OPTION_OUTPUT, 'o', ALL_MODES},
	{"mode", "SWIZZLE_MODE", NULL, SWZ_OPTION_MODE, 'm', ALL_MODES},
	{"filter", "SWIZZLE_FILTER", NULL, SWZ_OPTION_PATTERN, 'F', OF_HOOKS},
	{"notrace", "SWIZZLE_NOTRACE", NULL, SWZ_OPTION_PATTERN, 'N', OF_HOOKS},
	{"hide", "SWIZZLE_HIDE", NULL, SWZ_OPTION_PATTERN, 'H', OF_HOOKS},
	{"caller", "SWIZZLE_CALLER", NULL, SWZ_OPTION_PATTERN, 'C', ALL_MODES},
	{"module", "SWIZZLE_MODULE", NULL, SWZ_OPTION_PATTERN, 'M', OF_HOOKS},
	{"location", "SWIZZLE_LOCATION", NULL, SWZ_OPTION_PATTERN, 'L',
	 OF_HOOKS},
	{"argument", "SWIZZLE_ARGUMENTS", NULL, SWZ_OPTION_ARGUMENT, 'A',
	 OF_HOOKS},
	{"args", "SWIZZLE_ARGS", NULL, SWZ_OPTION_ARGS, 0, OF_HOOKS},
	{"string-bytes", "SWIZZLE_STRING_BYTES", NULL, SWZ_OPTION_STRING_BYTES,
	 0, OF_HOOKS},
	{"config", "SWIZZLE_CONFIG", NULL, SWZ_OPTION_FILE, 0, ALL_MODES},
	{"min-size", "SWIZZLE_MIN_SIZE", NULL, SWZ_OPTION_BYTES, 'Z', OF_HOOKS},
	{"depth", "SWIZZLE_DEPTH", NULL, SWZ_OPTION_DEPTH, 'D', OF_HOOKS},
	{"recursion", "SWIZZLE_RECURSION", NULL, SWZ_OPTION_DEPTH, 0, OF_HOOKS},
	{"timing", "SWIZZLE_TIMING", NULL, SWZ_OPTION_TIMING, 0, OF_HOOKS},
	{"min-time", "SWIZZLE_MIN_TIME", NULL, SWZ_OPTION_TIME, 't', OF_TRACE},
	{"max-size", "SWIZZLE_MAX_SIZE", NULL, SWZ_OPTION_MEMORY, 0, OF_TRACE},
	{"max-memory", "SWIZZLE_MAX_MEMORY", NULL, SWZ_OPTION_MEMORY, 0,
	 OF_HOOKS},
	{"ring", "SWIZZLE_RING", "1", SWZ_OPTION_FLAG, 0, OF_TRACE},
	{"off", "SWIZZLE_OFF", "1", SWZ_OPTION_OFF, 0, OF_HOOKS},
	{"start-at", "SWIZZLE_START_AT", NULL, SWZ_OPTION_TRIGGER, 0, OF_HOOKS},
	{"stop-at", "SWIZZLE_STOP_AT", NULL, SWZ_OPTION_TRIGGER, 0, OF_HOOKS},
	{"switches", "SWIZZLE_SWITCHES", "1", SWZ_OPTION_FLAG, 0, OF_TRACE},
	{"flows", "SWIZZLE_FLOWS", "1", SWZ_OPTION_FLAG, 0, OF_TRACE},
	{"prints", "SWIZZLE_PRINTS", "1", SWZ_OPTION_FLAG, 0, OF_TRACE},
	{"imports", "SWIZZLE_IMPORTS", "1", SWZ_OPTION_IMPORTS, 0, OF_HOOKS},
	{"follow", "SWIZZLE_FOLLOW", "1", SWZ_OPTION_FLAG, 0, ALL_MODES},
	{"no-follow", "SWIZZLE_FOLLOW", "0", SWZ_OPTION_FLAG, 0, ALL_MODES},
	{"cache", "SWIZZLE_CACHE", "1", SWZ_OPTION_FLAG, 0, OF_HOOKS},
	{"no-cache", "SWIZZLE_CACHE", "0", SWZ_OPTION_FLAG, 0, OF_HOOKS},
	{"summary", "SWIZZLE_SUMMARY", "1", SWZ_OPTION_FLAG, 0, ALL_MODES},
	{"no-summary", "SWIZZLE_SUMMARY", "0", SWZ_OPTION_FLAG, 0, ALL_MODES},
	{"report", "SWIZZLE_REPORT", "1", SWZ_OPTION_REPORT, 0, ALL_MODES},
	{"list", "SWIZZLE_LIST", "1", SWZ_OPTION_FLAG, 0, OF_HOOKS},
	{"verbose", "SWIZZLE_VERBOSE", "1", SWZ_OPTION_FLAG, 'v', ALL_MODES},
	{"quiet", "SWIZZLE_QUIET", "1", SWZ_OPTION_FLAG, 'q', ALL_MODES},
	{"rate", "SWIZZLE_RATE", NULL, SWZ_OPTION_RATE, 'r', OF_SAMPLES},
	{"engine", "SWIZZLE_ENGINE", NULL, SWZ_OPTION_ENGINE, 0, OF_SAMPLES},
	{"event", "SWIZZLE_EVENT", NULL, SWZ_OPTION_EVENT, 0, OF_SAMPLES},
	{"wall", "SWIZZLE_WALL", "1", SWZ_OPTION_FLAG, 0, OF_SAMPLES},
	{"stack-bytes", "SWIZZLE_STACK_BYTES", NULL, SWZ_OPTION_STACK_BYTES, 0,
	 OF_SAMPLES},
	{"pid", "SWIZZLE_PID", NULL, SWZ_OPTION_PID, 'p', ALL_MODES},
	{"for", "SWIZZLE_FOR", NULL, SWZ_OPTION_DURATION, 0, ALL_MODES},
	{"version", NULL, NULL, SWZ_OPTION_FLAG, 'V', ALL_MODES},
	{"help", NULL, NULL, SWZ_OPTION_FLAG, 'h', ALL_MODES},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* What options said that is no setting yet. */
static char *lists[OPTION_COUNT]; /* patterns, one a line */
static const char *given_output;
static const char *given_of[OF_SAMPLES + 1]; /* an option for such modes */
static const char *given_as[OPTION_COUNT];   /* "-D" or "--depth" */

/* Options that may be repeated are variables with an item a line. (Patterns may
 * hold any character but a newline.) */
static void append(const struct option *o, const char *value)
{
	char **list = &lists[o - options];

	*list = *list ? swz_text("%s\n%s", *list, value)
		      : swz_text("%s", value);
	swz_environment_set(o->variable, *list);
}

/* "FUNCTION@SPEC,SPEC;FUNCTION@..." */
static void append_arguments(const struct option *o, const char *value)
{
	for (const char *item = value, *end; item;
	     item = *end ? end + 1 : NULL) {
		end = strchrnul(item, ';');
		append(o, swz_text("%.*s", (int)(end - item), item));
	}
}

static void check(const struct option *o, const char *as, const char *value)
{
	const char *problem = swz_option_problem(o->kind, value);

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
static void set_option(const struct option *o, const char *as,
		       const char *value)
{
	uint64_t bytes;

	given_of[o->modes] = as;
	given_as[o - options] = as;
	if (o->value && !value) { /* a flag, --imports, --report */
		swz_environment_set(o->variable, o->value);
		return;
	}
	if (!value)
		value = "*"; /* --args */
	switch (o->kind) {
	case SWZ_OPTION_IMPORTS:
		check_imports(as, value);
		break;
	case SWZ_OPTION_OUTPUT:
		check(o, as, value);
		given_output = value;
		return;
	case SWZ_OPTION_ARGS:
	case SWZ_OPTION_PATTERN:
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
		(void)swz_read_size(value, &bytes);
		value = swz_text("%llu", (unsigned long long)bytes);
		break;
	default:
		check(o, as, value);
		break;
	}
	swz_environment_set(o->variable, value);
}

/* What no option has set, the environment may have. */
static void check_variables(void)
{
	for (size_t i = 0; i < OPTION_COUNT; i++) {
		const struct option *o = &options[i];
		const char *problem = NULL;

		if (o->variable)
			problem = swz_variable_problem(
				o->kind, swz_environment_get(o->variable));
		if (problem)
			bad_usage("%s in the environment: %s", o->variable,
				  problem);
	}
}

const char *swz_options_name(const char *variable)
{
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (given_as[i] && strcmp(options[i].variable, variable) == 0)
			return swz_text("option %s", given_as[i]);
	return swz_text("%s in the environment", variable);
}

static bool is_flag(const struct option *o)
{
	return o->kind == SWZ_OPTION_FLAG || o->kind == SWZ_OPTION_OFF;
}

static void set_flag(const struct option *o, const char *as)
{
	if (o->letter == 'V')
		swz_print_and_exit("swizzle-run " SWZ_VERSION "\n");
	if (o->letter == 'h')
		swz_print_and_exit(usage);
	set_option(o, as, NULL);
}

static const struct option *by_letter(char letter)
{
	for (size_t i = 0; letter > 0 && i < OPTION_COUNT; i++)
		if (options[i].letter == letter)
			return &options[i];
	bad_usage("unknown option -%c", letter);
}

static const char *option_at(size_t index)
{
	return index < OPTION_COUNT ? options[index].name : NULL;
}

/* The value that is the next argument. */
static const char *next_value(const char *as, char ***next)
{
	if (!**next)
		bad_usage("option %s needs a value", as);
	return *(*next)++;
}

static void read_long(const char *argument, char ***next)
{
	const char *end = strchrnul(argument, '=');
	int found = swz_word_find(option_at, argument + 2,
				  (size_t)(end - argument - 2));
	const struct option *o;
	const char *as;

	if (found < 0) {
		char complaint[SWZ_ADVICE_BYTES];

		swz_option_complaint(option_at, argument, complaint);
		bad_usage("%s", complaint);
	}
	o = &options[found];
	as = swz_text("--%s", o->name);
	if (is_flag(o) && *end)
		bad_usage("option %s takes no value", as);
	if (is_flag(o))
		set_flag(o, as);
	else if (*end)
		set_option(o, as, end + 1);
	else
		set_option(o, as,
			   o->kind == SWZ_OPTION_IMPORTS ||
					   o->kind == SWZ_OPTION_REPORT ||
					   o->kind == SWZ_OPTION_ARGS
				   ? NULL
				   : next_value(as, next));
}

/* -vq is -v -q; the last one may have a value, in the same argument or in the
 * next. */
static void read_short(const char *argument, char ***next)
{
	for (const char *s = argument + 1; *s; s++) {
		const struct option *o = by_letter(*s);
		const char *as = swz_text("-%c", *s);

		if (!is_flag(o)) {
			set_option(o, as, s[1] ? s + 1 : next_value(as, next));
			return;
		}
		set_flag(o, as);
	}
}

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

static void check_modes(bool has_program)
{
	bool has_process = *swz_environment_get("SWIZZLE_PID") != '\0';

	if (swz_both_wanted()) {
		if (has_process)
			bad_usage("option -p is not for --mode both: a process "
				  "cannot be run twice");
		if (strcmp(swz_environment_get("SWIZZLE_LIST"), "1") == 0)
			bad_usage("option --list is not for --mode both");
	} else if (swz_sampling_wanted()) {
		if (given_of[OF_HOOKS])
			bad_usage("option %s is not for --mode sample",
				  given_of[OF_HOOKS]);
	} else if (given_of[OF_SAMPLES]) {
		bad_usage("option %s is for --mode sample and both only",
			  given_of[OF_SAMPLES]);
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
	if (*swz_environment_get("SWIZZLE_FOR") && !has_process)
		bad_usage("option --for is for -p only");
	if (strcmp(swz_environment_get("SWIZZLE_LIST"), "1") == 0)
		unsetenv("SWIZZLE_REPORT"); /* nothing is run */
	if (!has_program && !has_process)
		bad_usage("no program given");
	if (has_program && has_process)
		bad_usage("option -p: either a process or a program, not both");
}

char **swz_options_read(char **next)
{
	while (*next) {
		const char *argument = *next;

		if (argument[0] != '-' || !argument[1])
			break;
		next++;
		if (strcmp(argument, "--") == 0)
			break;
		if (argument[1] == '-')
			read_long(argument, &next);
		else
			read_short(argument, &next);
	}
	check_variables();
	check_modes(*next != NULL);
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
	return next;
}

const char *swz_options_output(void)
{
	return given_output;
}
