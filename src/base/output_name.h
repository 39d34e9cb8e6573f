#ifndef SWZ_BASE_OUTPUT_NAME_H
#define SWZ_BASE_OUTPUT_NAME_H

/* The names that -o may ask for: %h is the host's name, %q{VARIABLE} the value
 * of an environment variable. (%p, the process's number, is replaced later:
 * each process of a run has its own.) */

#include <stddef.h>

enum swz_output_name_status {
	SWZ_OUTPUT_NAME_FINE,
	SWZ_OUTPUT_NAME_UNSET,    /* the variable is not set */
	SWZ_OUTPUT_NAME_EMPTY,    /* its value is empty */
	SWZ_OUTPUT_NAME_UNCLOSED, /* %q without {, or { without } */
	SWZ_OUTPUT_NAME_HOST,     /* the host has no name */
	SWZ_OUTPUT_NAME_LONG      /* there is no room for the result */
};

struct swz_output_name_problem {
	const char *variable; /* within the pattern, and its length */
	size_t length;
};

/* Writes PATTERN with %h and %q{VARIABLE} replaced to OUT, of ROOM bytes, with
 * a NUL. Values are not looked into for more of them. ENVIRONMENT ends with
 * NULL. *PROBLEM is set for UNSET and EMPTY. Allocates nothing;
 * async-signal-safe. */
enum swz_output_name_status swz_output_name_expand(
	const char *pattern, char *const *environment, char *out, size_t room,
	struct swz_output_name_problem *problem);

/* The host's name; *NAME has room for SWZ_HOST_NAME_BYTES. "" if it has none.
 */
#define SWZ_HOST_NAME_BYTES 65u
void swz_host_name(char *name);

/* The value of the variable whose name is LENGTH bytes at NAME, or NULL. */
const char *swz_environment_value(char *const *environment, const char *name,
				  size_t length);

#endif
