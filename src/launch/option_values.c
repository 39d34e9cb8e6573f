/* The values of swizzle-run's options: the words of each kind, and what is
 * wrong with a value, whoever gave it; and what -m sample makes of them. */

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

#define MOST_BYTES (UINT64_C(64) << 30)
#define LEAST_MEMORY (1u << 20)
#define MOST_DEPTH 1048576u
#define MOST_NS UINT64_C(1000000000000)
#define MOST_PID 4194304u
#define LEAST_STACK 512u
#define MOST_RUNS 1000u
#define MOST_KEEP 1000u

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
bool swz_size_read(const char *text, uint64_t *bytes)
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

	if (swz_size_read(value, &bytes) && bytes >= least && bytes <= most)
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
const char *swz_option_problem(enum swz_option_kind kind, const char *value)
{
	switch (kind) {
	case SWZ_OPTION_FLAG:
		return switch_problem(value, NULL);
	case SWZ_OPTION_OFF:
		return switch_problem(value, "hooked");
	case SWZ_OPTION_IMPORTS:
		return switch_problem(value, "dlsym");
	case SWZ_OPTION_CHECK:
		return NULL;
	case SWZ_OPTION_COMPARE:
		return *value ? NULL : "the program's name is empty";
	case SWZ_OPTION_RUNS:
		return number_problem(value, 2, MOST_RUNS,
				      " (runs of each build)");
	case SWZ_OPTION_REPORT:
		return NULL; /* swizzle-dump will say */
	case SWZ_OPTION_LIVE:
	case SWZ_OPTION_OUTPUT:
	case SWZ_OPTION_FILE:
		return *value ? NULL : "the file name is empty";
	case SWZ_OPTION_MODE:
		return word_problem(swz_mode_at, "mode", value);
	case SWZ_OPTION_TIMING:
		return word_problem(swz_timing_at, "kind of timing", value);
	case SWZ_OPTION_ENGINE:
		return word_problem(swz_engine_at, "engine", value);
	case SWZ_OPTION_EVENT:
		return word_problem(swz_event_at, "event", value);
	case SWZ_OPTION_PATTERN:
	case SWZ_OPTION_ARGS:
		return pattern_problem(value);
	case SWZ_OPTION_ARGUMENT:
		return arguments_problem(value);
	case SWZ_OPTION_STRING_BYTES:
		return number_problem(value, 0, SWZ_MOST_STRING_BYTES,
				      " (bytes)");
	case SWZ_OPTION_STACK_BYTES:
		return number_problem(value, LEAST_STACK, SWZ_MOST_STACK_BYTES,
				      " (bytes)");
	case SWZ_OPTION_DEPTH:
		return number_problem(value, 1, MOST_DEPTH, "");
	case SWZ_OPTION_RATE:
		return number_problem(value, 1, SWZ_MOST_RATE,
				      " (samples a second)");
	case SWZ_OPTION_PID:
		return number_problem(value, 1, MOST_PID, " (a process)");
	case SWZ_OPTION_TRIGGER:
		return is_trigger(value)
			       ? NULL
			       : swz_text("'%s' is neither FUNCTION nor "
					  "FUNCTION#N, N from 1",
					  value);
	case SWZ_OPTION_SLOW:
		return slow_problem(value);
	case SWZ_OPTION_KEEP:
		return number_problem(value, 1, MOST_KEEP, " (calls)");
	case SWZ_OPTION_TIME:
		return is_time(value)
			       ? NULL
			       : swz_text("'%s' is not a time up to 1000s "
					  "(100ns, 5us, 1ms, 1s)",
					  value);
	case SWZ_OPTION_DURATION:
		return swz_duration(value)
			       ? NULL
			       : swz_text("'%s' is not a time "
					  "(" SWZ_DURATION_EXAMPLES ")",
					  value);
	case SWZ_OPTION_LABEL:
		return *value != '=' && strchr(value, '=')
			       ? NULL
			       : swz_text("'%s' is not NAME=VALUE", value);
	case SWZ_OPTION_BYTES:
		return size_problem(value, 0, UINT32_MAX,
				    "a number of bytes below 4G (64, 1K)");
	case SWZ_OPTION_MEMORY:
		return size_problem(value, LEAST_MEMORY, MOST_BYTES,
				    "a size from 1M to 64G");
	}
	return NULL;
}

/* True if the option may be given several times, and its variable has lines. */
static bool option_is_list(enum swz_option_kind kind)
{
	return kind == SWZ_OPTION_PATTERN || kind == SWZ_OPTION_ARGS ||
	       kind == SWZ_OPTION_ARGUMENT || kind == SWZ_OPTION_LABEL ||
	       kind == SWZ_OPTION_SLOW;
}

/* The same of a variable's value: each line of a list is looked at. Empty is
 * never wrong. */
const char *swz_variable_problem(enum swz_option_kind kind, const char *value)
{
	const char *problem = NULL;

	if (!*value)
		return NULL;
	if (!option_is_list(kind))
		return swz_option_problem(kind, value);
	for (const char *item = value, *end; item && !problem;
	     item = *end ? end + 1 : NULL) {
		end = strchrnul(item, '\n');
		problem = swz_option_problem(
			kind, swz_text("%.*s", (int)(end - item), item));
	}
	return problem;
}
