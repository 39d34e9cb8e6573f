#ifndef SWZ_TOOLS_DUMP_USAGE_H
#define SWZ_TOOLS_DUMP_USAGE_H

/* What --help prints, and how wrong usage is said. */

#include "options/words.h"

#define SWZ_TRY_HELP "Try 'swizzle-dump --help'."

extern const char swz_dump_usage_text[];

/* Says WHAT of VALUE, and ends the program. */
_Noreturn void swz_dump_bad_usage(const char *what, const char *value);
/* The same of a word that is none of those AT lists, with the nearest. */
_Noreturn void swz_dump_unknown_word(const char *what, const char *value,
				     swz_word_at *at);

/* Ends the program with success, unless what was printed is lost. */
_Noreturn void swz_dump_finish_printing(void);

#endif
