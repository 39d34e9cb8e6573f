#ifndef SWZ_PROFILE_NAMES_VALUE_CONDITION_H
#define SWZ_PROFILE_NAMES_VALUE_CONDITION_H

/* Conditions of the configuration (options/config_file.h), of values that were
 * recorded. */

#include "options/config_file.h"
#include "profile/file/values.h"

enum swz_verdict { SWZ_FAILS = 0, SWZ_HOLDS = 1, SWZ_UNDECIDED = 2 };

/* Of a value as a whole. What was not recorded whole may be undecided. */
enum swz_verdict swz_value_decide(const struct swz_value *value,
				  const struct swz_condition *condition);

/* Of the argument that an SWZ_IF_ARGUMENT names, or of the result. */
enum swz_verdict swz_values_decide(const struct swz_call_values *values,
				   const struct swz_condition *condition);

#endif
