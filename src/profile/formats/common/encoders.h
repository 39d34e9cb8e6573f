#ifndef SWZ_PROFILE_FORMATS_COMMON_ENCODERS_H
#define SWZ_PROFILE_FORMATS_COMMON_ENCODERS_H

/* Writes JSON value by value. A comma goes before each value but the first of
 * an array or object. KEY is NULL in arrays. Begins as {.stream = stream}. */

#include <stdbool.h>
#include <stddef.h>
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

/* --- protocol buffers ----------------------------------------------------- */

/* Writes messages of protocol buffers (version 3 of the language, the encoding
 * is the same in all): fields one after the other into a buffer. As the
 * language has it, a number that is 0 is the same as a field that is missing.
 */

struct swz_message {
	uint8_t *bytes;
	size_t size;
	size_t capacity;
};

/* An integer, or a boolean. Negative ones take ten bytes, as the encoding
 * says. */
void swz_message_add(struct swz_message *message, uint32_t field,
		     uint64_t value);
/* The same where 0 has to be written: one of a kind, or in a list. */
void swz_message_put(struct swz_message *message, uint32_t field,
		     uint64_t value);
/* A number in eight bytes, whatever it is. */
void swz_message_fixed64(struct swz_message *message, uint32_t field,
			 uint64_t value);
/* Fields that were encoded already. */
void swz_message_append(struct swz_message *message, const void *fields,
			size_t size);
/* A string, which has to be UTF-8, or bytes. */
void swz_message_bytes(struct swz_message *message, uint32_t field,
		       const void *bytes, size_t size);
/* A string; bytes of it that are no UTF-8 become question marks. */
void swz_message_text(struct swz_message *message, uint32_t field,
		      const char *text);
/* Another message, which is empty afterwards. */
void swz_message_nest(struct swz_message *message, uint32_t field,
		      struct swz_message *inner);
/* A number of a packed list, which is nested when it is complete. */
void swz_message_item(struct swz_message *message, uint64_t value);

void swz_message_free(struct swz_message *message);

#endif
