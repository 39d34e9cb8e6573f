#include "launch/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/value_text.h"
#include "launch/environment.h"
#include "launch/program.h"
#include "launch/sampling.h"
#include "options/usage.h"
#include "options/variables.h"
#include "options/words.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define bad_usage(...) swz_wrong_usage("swizzle-run", __VA_ARGS__)

#define MOST_BYTES (UINT64_C(64) << 30)
#define LEAST_MEMORY (1u << 20)
#define MOST_DEPTH 1048576u
#define MOST_NS UINT64_C(1000000000000)

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

enum kind {
	FLAG,
	IMPORTS,
	OUTPUT,
	MODE,
	TIMING,
	PATTERN,
	ARGUMENT,
	ARGS,
	STRING,
	DEPTH,
	TRIGGER,
	TIME,
	BYTES,
	MEMORY,
	VALUE /* read later: see sampling.h */
};

/* For which modes an option is, if not for all of them. */
enum modes { ALL_MODES, OF_TRACE, OF_HOOKS, OF_SAMPLES };

struct option {
	const char *name;
	const char *variable;
	const char *value; /* of the variable: of a FLAG */
	enum kind kind;
	char letter; /* or 0 */
	enum modes modes;
};

static const struct option options[] = {
	{"output", "SWIZZLE_OUTPUT", NULL, OUTPUT, 'o', ALL_MODES},
	{"mode", "SWIZZLE_MODE", NULL, MODE, 'm', ALL_MODES},
	{"filter", "SWIZZLE_FILTER", NULL, PATTERN, 'F', OF_HOOKS},
	{"notrace", "SWIZZLE_NOTRACE", NULL, PATTERN, 'N', OF_HOOKS},
	{"hide", "SWIZZLE_HIDE", NULL, PATTERN, 'H', OF_HOOKS},
	{"caller", "SWIZZLE_CALLER", NULL, PATTERN, 'C', ALL_MODES},
	{"module", "SWIZZLE_MODULE", NULL, PATTERN, 'M', OF_HOOKS},
	{"location", "SWIZZLE_LOCATION", NULL, PATTERN, 'L', OF_HOOKS},
	{"argument", "SWIZZLE_ARGUMENTS", NULL, ARGUMENT, 'A', OF_HOOKS},
	{"args", "SWIZZLE_ARGS", NULL, ARGS, 0, OF_HOOKS},
	{"string-bytes", "SWIZZLE_STRING_BYTES", NULL, STRING, 0, OF_HOOKS},
	{"config", "SWIZZLE_CONFIG", NULL, VALUE, 0, ALL_MODES},
	{"min-size", "SWIZZLE_MIN_SIZE", NULL, BYTES, 'Z', OF_HOOKS},
	{"depth", "SWIZZLE_DEPTH", NULL, DEPTH, 'D', OF_HOOKS},
	{"recursion", "SWIZZLE_RECURSION", NULL, DEPTH, 0, OF_HOOKS},
	{"timing", "SWIZZLE_TIMING", NULL, TIMING, 0, OF_HOOKS},
	{"min-time", "SWIZZLE_MIN_TIME", NULL, TIME, 't', OF_TRACE},
	{"max-size", "SWIZZLE_MAX_SIZE", NULL, MEMORY, 0, OF_TRACE},
	{"max-memory", "SWIZZLE_MAX_MEMORY", NULL, MEMORY, 0, OF_HOOKS},
	{"ring", "SWIZZLE_RING", "1", FLAG, 0, OF_TRACE},
	{"off", "SWIZZLE_OFF", "1", FLAG, 0, OF_HOOKS},
	{"start-at", "SWIZZLE_START_AT", NULL, TRIGGER, 0, OF_HOOKS},
	{"stop-at", "SWIZZLE_STOP_AT", NULL, TRIGGER, 0, OF_HOOKS},
	{"switches", "SWIZZLE_SWITCHES", "1", FLAG, 0, OF_TRACE},
	{"flows", "SWIZZLE_FLOWS", "1", FLAG, 0, OF_TRACE},
	{"prints", "SWIZZLE_PRINTS", "1", FLAG, 0, OF_TRACE},
	{"imports", "SWIZZLE_IMPORTS", "1", IMPORTS, 0, OF_HOOKS},
	{"follow", "SWIZZLE_FOLLOW", "1", FLAG, 0, ALL_MODES},
	{"no-follow", "SWIZZLE_FOLLOW", "0", FLAG, 0, ALL_MODES},
	{"cache", "SWIZZLE_CACHE", "1", FLAG, 0, OF_HOOKS},
	{"no-cache", "SWIZZLE_CACHE", "0", FLAG, 0, OF_HOOKS},
	{"summary", "SWIZZLE_SUMMARY", "1", FLAG, 0, ALL_MODES},
	{"no-summary", "SWIZZLE_SUMMARY", "0", FLAG, 0, ALL_MODES},
	{"list", "SWIZZLE_LIST", "1", FLAG, 0, OF_HOOKS},
	{"verbose", "SWIZZLE_VERBOSE", "1", FLAG, 'v', ALL_MODES},
	{"quiet", "SWIZZLE_QUIET", "1", FLAG, 'q', ALL_MODES},
	{"rate", "SWIZZLE_RATE", NULL, VALUE, 'r', OF_SAMPLES},
	{"engine", "SWIZZLE_ENGINE", NULL, VALUE, 0, OF_SAMPLES},
	{"event", "SWIZZLE_EVENT", NULL, VALUE, 0, OF_SAMPLES},
	{"wall", "SWIZZLE_WALL", "1", FLAG, 0, OF_SAMPLES},
	{"stack-bytes", "SWIZZLE_STACK_BYTES", NULL, VALUE, 0, OF_SAMPLES},
	{"pid", "SWIZZLE_PID", NULL, VALUE, 'p', ALL_MODES},
	{"for", "SWIZZLE_FOR", NULL, VALUE, 0, ALL_MODES},
	{"version", NULL, NULL, FLAG, 'V', ALL_MODES},
	{"help", NULL, NULL, FLAG, 'h', ALL_MODES},
};

#define OPTION_COUNT (sizeof(options) / sizeof(options[0]))

/* What options said that is no setting yet. */
static char *lists[OPTION_COUNT]; /* patterns, one a line */
static const char *given_output;
static const char *given_of[OF_SAMPLES + 1]; /* an option for such modes */

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

/* Patterns may hold any character but a newline: that parts them. */
static void append_pattern(const struct option *o, const char *as,
			   const char *pattern)
{
	char **list = &lists[o - options];

	if (!*pattern || strcmp(pattern, "!") == 0)
		bad_usage("option %s needs a pattern that is not empty", as);
	if (!sets_are_closed(pattern))
		bad_usage("option %s: '%s' has a [ without a ]", as, pattern);
	*list = *list ? swz_text("%s\n%s", *list, pattern)
		      : swz_text("%s", pattern);
	swz_environment_set(o->variable, *list);
}

/* "FUNCTION@SPEC,SPEC;FUNCTION@..." */
static void append_arguments(const struct option *o, const char *as,
			     const char *value)
{
	char **list = &lists[o - options];

	for (const char *item = value, *end; item;
	     item = *end ? end + 1 : NULL) {
		char *one;
		const char *specs, *last;

		end = strchrnul(item, ';');
		one = swz_text("%.*s", (int)(end - item), item);
		specs = swz_value_specs(one, (unsigned)strlen(one));
		last = one + strlen(one);
		if (!specs)
			bad_usage("option %s: '%s' is not FUNCTION@SPEC,... as "
				  "in 'main@arg1/i32,retval/i32'",
				  as, one);
		if (*one == '!' || strchr(one, '\n') || !sets_are_closed(one))
			bad_usage("option %s: '%s' begins with what is no "
				  "pattern of functions",
				  as, one);
		while (specs < last) {
			struct swz_value_spec spec;

			if (!swz_value_spec_read(&specs, last, &spec))
				bad_usage(
					"option %s: '%s' is no argument: argN, "
					"fpargN or retval, then /FORMAT, a "
					"letter of d i u x o c b s S p f and "
					"8, 16, 32 or 64 bits (f: 32, 64, 80)",
					as, specs);
		}
		*list = *list ? swz_text("%s\n%s", *list, one)
			      : swz_text("%s", one);
	}
	swz_environment_set(o->variable, *list);
}

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
static bool read_size(const char *s, uint64_t *bytes)
{
	unsigned shift = 0;
	const char *end;

	if (!read_number(s, bytes, &end))
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

static void set_size(const struct option *o, const char *as, const char *value)
{
	uint64_t bytes;
	bool right = read_size(value, &bytes);

	if (o->kind == BYTES && (!right || bytes > UINT32_MAX))
		bad_usage("option %s: '%s' is not a number of bytes", as,
			  value);
	if (o->kind == MEMORY && (!right || bytes < LEAST_MEMORY))
		bad_usage("option %s: '%s' is not a size from 1M to 64G", as,
			  value);
	swz_environment_set(o->variable,
			    swz_text("%llu", (unsigned long long)bytes));
}

static void set_string_bytes(const char *as, const char *value)
{
	const char *end;
	uint64_t n;

	if (!read_number(value, &n, &end) || *end || n > SWZ_MOST_STRING_BYTES)
		bad_usage("option %s: '%s' is not a number of bytes up to %u",
			  as, value, SWZ_MOST_STRING_BYTES);
}

static bool is_depth(const char *s)
{
	const char *end;
	uint64_t n;

	return *s != '0' && read_number(s, &n, &end) && !*end &&
	       n <= MOST_DEPTH;
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

/* A pattern, and behind a # a number. */
static bool is_trigger(const char *value)
{
	size_t length = strlen(value), digits = 0;

	while (digits < length && value[length - digits - 1] >= '0' &&
	       value[length - digits - 1] <= '9')
		digits++;
	if (!length || length > 500 || value[0] == '#')
		return false;
	if (value[length - 1] == '#')
		return false;
	return !digits || value[length - digits - 1] != '#' ||
	       (digits < 19 && strtoull(value + length - digits, NULL, 10));
}

/* Words that options take, in the order in which they are shown. */
#define WORDS(function, ...) \
	static const char *function(size_t index) \
	{ \
		static const char *const words[] = {__VA_ARGS__}; \
\
		return index < sizeof(words) / sizeof(words[0]) ? words[index] \
								: NULL; \
	}

WORDS(mode_at, "profile", "trace", "sample", "both")
WORDS(timing_at, "exact", "sampled")
WORDS(imports_at, "dlsym")

static void check_word(swz_word_at *at, const char *what, const char *value)
{
	char advice[SWZ_ADVICE_BYTES];

	if (swz_word_is(at, value, strlen(value)) != SWZ_WORD_UNKNOWN)
		return;
	swz_word_advice(at, value, advice);
	bad_usage("unknown %s '%s'%s", what, value, advice);
}

/* The option `as` was given. */
static void set_option(const struct option *o, const char *as,
		       const char *value)
{
	given_of[o->modes] = as;
	switch (o->kind) {
	case FLAG:
		value = o->value;
		break;
	case IMPORTS:
		if (value)
			check_word(imports_at, "value of --imports", value);
		value = value ? value : o->value;
		break;
	case OUTPUT:
		if (!*value)
			bad_usage("option %s needs a file name", as);
		given_output = value;
		return;
	case MODE:
		check_word(mode_at, "mode", value);
		break;
	case TIMING:
		check_word(timing_at, "kind of timing", value);
		break;
	case PATTERN:
		append_pattern(o, as, value);
		return;
	case ARGUMENT:
		append_arguments(o, as, value);
		return;
	case ARGS:
		append_pattern(o, as, value ? value : "*");
		return;
	case STRING:
		set_string_bytes(as, value);
		break;
	case TRIGGER:
		if (!is_trigger(value))
			bad_usage("option %s: '%s' is neither FUNCTION nor "
				  "FUNCTION#N, N from 1",
				  as, value);
		break;
	case DEPTH:
		if (!is_depth(value))
			bad_usage("option %s: '%s' is not a number from 1 to "
				  "%u",
				  as, value, MOST_DEPTH);
		break;
	case TIME:
		if (!is_time(value))
			bad_usage("option %s: '%s' is not a time up to 1000s "
				  "(100ns, 5us, 1ms, 1s)",
				  as, value);
		break;
	case BYTES:
	case MEMORY:
		set_size(o, as, value);
		return;
	case VALUE:
		if (!*value)
			bad_usage("option %s needs a value", as);
		break;
	}
	swz_environment_set(o->variable, value);
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
	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (options[i].letter == letter)
			return &options[i];
	return NULL;
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
	if (o->kind == FLAG && *end)
		bad_usage("option %s takes no value", as);
	if (o->kind == FLAG)
		set_flag(o, as);
	else if (*end)
		set_option(o, as, end + 1);
	else
		set_option(o, as,
			   o->kind == IMPORTS || o->kind == ARGS
				   ? NULL
				   : next_value(as, next));
}

/* -vq is -v -q; the last one may have a value, in the same argument or in the
 * next. */
static void read_short(const char *argument, char ***next)
{
	for (const char *s = argument + 1; *s; s++) {
		const struct option *o = *s > 0 ? by_letter(*s) : NULL;
		const char *as = swz_text("-%c", *s);

		if (!o)
			bad_usage("unknown option %s", as);
		if (o->kind != FLAG) {
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
		if (*swz_environment_get("SWIZZLE_IMPORTS"))
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
