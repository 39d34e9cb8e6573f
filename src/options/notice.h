#ifndef SWZ_OPTIONS_NOTICE_H
#define SWZ_OPTIONS_NOTICE_H

#include <stddef.h>

/* Says on standard error what does not keep the program from being run. A pipe
 * that nobody reads must not, either: if it has no reader, no signal comes, and
 * if it stays full for 0.1 s nothing is said. FORMAT has the whole line but
 * "swizzle: " and its end; at most 1023 bytes are written. */
__attribute__((format(printf, 1, 2))) void swz_notice(const char *format, ...);

/* The same of whole lines. */
void swz_notice_write(const char *text, size_t length);

#endif
