#ifndef SWZ_OPTIONS_USAGE_H
#define SWZ_OPTIONS_USAGE_H

/* How a tool ends that only reads its command line. */

/* The exit status of all tools for a wrong command line. */
enum { SWZ_WRONG_USAGE = 2 };

/* Says on standard error what is wrong, and how to get TOOL's help. */
_Noreturn __attribute__((format(printf, 2, 3))) void swz_wrong_usage(
	const char *tool, const char *format, ...);

/* Prints a text, as for --help, with status 0; 1: it cannot be written. */
_Noreturn void swz_print_and_exit(const char *text);

#endif
