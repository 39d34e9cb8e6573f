#ifndef SWZ_PROFILE_CODE_SHOWN_CODE_NAME_H
#define SWZ_PROFILE_CODE_SHOWN_CODE_NAME_H

/* What a function is called that some compiler has named. V8 compiles one
 * function several times, with a mark for each way: "JS:~f file:1:1", "JS:^f",
 * "JS:*f", once "LazyCompile:*f" or "Function:~f". They are one function. */

#include "profile/code/code_ranges.h"

/* Adds the code by the name that is to be shown, as swz_code_ranges_add().
 * The name ends before its first control character; LENGTH may be anything. */
void swz_add_code(struct swz_code_ranges *ranges, uint64_t start, uint64_t size,
		  uint64_t time_ns, const char *name, size_t length);

#endif
