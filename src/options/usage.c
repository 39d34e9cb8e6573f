#include "options/usage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void swz_wrong_usage(const char *tool, const char *format, ...)
{
	va_list arguments;

	fputs("swizzle: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\nTry '%s --help'.\n", tool);
	exit(SWZ_WRONG_USAGE);
}

void swz_print_and_exit(const char *text)
{
	if (fputs(text, stdout) < 0 || fflush(stdout) != 0) {
		fprintf(stderr, "swizzle: standard output: %s\n",
			strerror(errno));
		exit(EXIT_FAILURE);
	}
	exit(EXIT_SUCCESS);
}
