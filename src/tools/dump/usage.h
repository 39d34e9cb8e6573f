#ifndef SWZ_TOOLS_DUMP_USAGE_H
#define SWZ_TOOLS_DUMP_USAGE_H

/* What --help prints, and how wrong usage is said. */

#include "options/words.h"

#define SWZ_TRY_HELP "Try 'swizzle-dump --help'."

extern const char swz_dump_usage_text[];

/* Each of these ends the program. The first says what is wrong, the second that
 * VALUE is not what the option wants, "a number of rows"; AS is the option as
 * it was written, "-n" or "--sort". */
_Noreturn __attribute__((format(printf, 1, 2))) void swz_dump_bad_usage(
	const char *format, ...);
_Noreturn void swz_dump_wrong_value(const char *as, const char *value,
				    const char *wanted);
/* The same of a word that is none of those AT lists, with the nearest. */
_Noreturn void swz_dump_unknown_word(const char *as, const char *what,
				     const char *value, swz_word_at *at);

/* Ends the program with success, unless what was printed is lost. */
_Noreturn void swz_dump_finish_printing(void);

#endif
