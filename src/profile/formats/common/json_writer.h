#ifndef SWZ_PROFILE_FORMATS_COMMON_JSON_WRITER_H
#define SWZ_PROFILE_FORMATS_COMMON_JSON_WRITER_H

/* Writes JSON value by value. A comma goes before each value but the first of
 * an array or object. KEY is NULL in arrays. Begins as {.stream = stream}. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/file/reader.h"

struct swz_json {
	FILE *stream;
	bool comma;   /* before the next value */
	bool newline; /* before it, after the comma */
};

/* Writes what comes before a value that the caller writes itself. */
void swz_json_key(struct swz_json *json, const char *key);

/* The next value begins a line. */
static inline void swz_json_line(struct swz_json *json)
{
	json->newline = true;
}

/* NULL is written as "", by the second one as null. */
void swz_json_string(struct swz_json *json, const char *key, const char *value);
void swz_json_text(struct swz_json *json, const char *key, const char *value);
void swz_json_null(struct swz_json *json, const char *key);
void swz_json_flag(struct swz_json *json, const char *key, bool value);

void swz_json_integer(struct swz_json *json, const char *key, uint64_t value);
void swz_json_number(struct swz_json *json, const char *key, int64_t value);
/* null where it is not known. */
void swz_json_known(struct swz_json *json, const char *key, bool known,
		    int64_t value);
/* As a string: more digits than the numbers of JavaScript have. */
void swz_json_digits(struct swz_json *json, const char *key, uint64_t value);
/* A negative value is written as 0. */
void swz_json_ns(struct swz_json *json, const char *key, int64_t value);
/* In thousandths: a decimal point would depend on the locale. */
void swz_json_milli(struct swz_json *json, const char *key, double value);
/* Rounded to a whole number. */
void swz_json_round(struct swz_json *json, const char *key, double value);

/* BRACKET: "{" or "[", and "}" or "]". */
void swz_json_open(struct swz_json *json, const char *key, const char *bracket);
void swz_json_close(struct swz_json *json, const char *bracket);

/* An array of the words of the profiled command. */
void swz_json_command(struct swz_json *json, const char *key,
		      const struct swz_profile *profile);

#endif
