#ifndef SWZ_OPTIONS_VARIABLES_H
#define SWZ_OPTIONS_VARIABLES_H

/* Misspelt settings in the environment, which would do nothing without a
 * word. */

#include <stdbool.h>

#include "options/words.h"

/* Those that swizzle-dump reads. */
swz_word_at swz_variables_of_dump;

/* Says on standard error which variables SWIZZLE_... are none of KNOWN, and
 * what each was probably meant to be. Those of tests, SWIZZLE_TEST_..., are
 * left alone. With NEAR only those are said that are near misses: the caller
 * knows a part of all settings. */
void swz_variables_check(swz_word_at *known, bool near);

#endif
