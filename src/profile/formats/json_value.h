#ifndef SWZ_PROFILE_FORMATS_JSON_VALUE_H
#define SWZ_PROFILE_FORMATS_JSON_VALUE_H

/* Writes JSON value by value. A comma goes before everything that is not the
 * first. KEY is NULL in arrays. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct swz_json {
	FILE *stream;
	bool comma; /* before the next value */
};

/* What comes before a value that the caller writes itself. */
void swz_json_key(struct swz_json *json, const char *key);
/* NULL is as "". */
void swz_json_string(struct swz_json *json, const char *key, const char *value);
void swz_json_integer(struct swz_json *json, const char *key, uint64_t value);
/* As a string: more digits than the numbers of JavaScript have. */
void swz_json_digits(struct swz_json *json, const char *key, uint64_t value);
/* What is negative is as 0. */
void swz_json_ns(struct swz_json *json, const char *key, int64_t value);
/* In thousandths: a decimal point would depend on the locale. */
void swz_json_milli(struct swz_json *json, const char *key, double value);
void swz_json_flag(struct swz_json *json, const char *key, bool value);

/* BRACKET: "{" or "[", and "}" or "]". */
void swz_json_open(struct swz_json *json, const char *key, const char *bracket);
void swz_json_close(struct swz_json *json, const char *bracket);

/* Of an object that is written otherwise, and not its first member; NULL is as
 * null.
 */
void swz_json_put_next_string(FILE *stream, const char *key, const char *text);

#endif
