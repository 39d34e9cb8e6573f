#ifndef SWZ_LAUNCH_OPTION_VALUES_H
#define SWZ_LAUNCH_OPTION_VALUES_H

/* What swizzle-run's options take. The same holds for their variables in the
 * environment, where a list has one item a line. */

#include <stdbool.h>
#include <stdint.h>

#include "options/words.h"

enum swz_option_kind {
	SWZ_OPTION_FLAG,
	SWZ_OPTION_OFF,
	SWZ_OPTION_IMPORTS,
	SWZ_OPTION_REPORT,
	SWZ_OPTION_OUTPUT,
	SWZ_OPTION_FILE,
	SWZ_OPTION_MODE,
	SWZ_OPTION_TIMING,
	SWZ_OPTION_ENGINE,
	SWZ_OPTION_EVENT,
	SWZ_OPTION_PATTERN,
	SWZ_OPTION_ARGS,
	SWZ_OPTION_ARGUMENT,
	SWZ_OPTION_STRING_BYTES,
	SWZ_OPTION_STACK_BYTES,
	SWZ_OPTION_DEPTH,
	SWZ_OPTION_RATE,
	SWZ_OPTION_PID,
	SWZ_OPTION_TRIGGER,
	SWZ_OPTION_TIME,
	SWZ_OPTION_DURATION,
	SWZ_OPTION_BYTES,
	SWZ_OPTION_MEMORY,
};

/* The words of these kinds, in the order in which they are shown. */
swz_word_at swz_mode_at, swz_timing_at, swz_imports_at, swz_engine_at,
	swz_event_at;

/* What is wrong with the value of an option, to be put behind "option -D: ";
 * NULL: nothing. Of the kinds FLAG, OFF and IMPORTS it is the variable's. */
const char *swz_option_problem(enum swz_option_kind kind, const char *value);

/* The same of a variable's value: each line of a list is looked at. Empty is
 * never wrong. */
const char *swz_variable_problem(enum swz_option_kind kind, const char *value);

/* "512", "64K", "16M", "2G". */
bool swz_read_size(const char *text, uint64_t *bytes);

#endif
