/* The progress line, where there is one, is cleared before a message. */

#include "tools/dump/message.h"

#include <stdarg.h>
#include <stdio.h>

#include "profile/support/progress.h"

void swz_dump_complain(const char *format, ...)
{
	va_list arguments;

	swz_progress_clear();
	fputs("swizzle: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	putc('\n', stderr);
}
