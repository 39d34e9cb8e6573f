#ifndef SWZ_OPTIONS_VALUE_NAMES_H
#define SWZ_OPTIONS_VALUE_NAMES_H

/* Names of numbers: from the configuration ([type@...] names = ...), and from a
 * C header's #defines and enums. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct swz_value_name {
	char *name; /* owned */
	int64_t value;
};

/* Begins with zeros. */
struct swz_value_names {
	struct swz_value_name *items;
	size_t count, capacity;
};

void swz_value_names_free(struct swz_value_names *names);

/* NAME has LENGTH bytes. False: no memory. */
bool swz_value_names_add(struct swz_value_names *names, const char *name,
			 size_t length, int64_t value);

/* Evaluates a constant expression of C, which may have NAMES, all of TEXT.
 * False: it is none, or has a name or a macro that is not known. */
bool swz_value_expression(const struct swz_value_names *names, const char *text,
			  size_t length, int64_t *value);

/* Adds what a C header defines: "#define NAME EXPRESSION" and the values of
 * enums, whatever #if says. What cannot be evaluated is left out. The text is
 * not trusted. False: no memory. */
bool swz_value_names_read(struct swz_value_names *names, const char *text,
			  size_t size);

#endif
