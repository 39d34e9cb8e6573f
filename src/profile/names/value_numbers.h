#ifndef SWZ_PROFILE_NAMES_VALUE_NUMBERS_H
#define SWZ_PROFILE_NAMES_VALUE_NUMBERS_H

/* Bytes of a value as numbers and text. */

#include <stdbool.h>
#include <stdint.h>

#include "profile/names/grown_text.h"

/* Up to 8 bytes, the sign extended if it has one. */
int64_t swz_read_number(const uint8_t *bytes, size_t size, bool is_signed);

/* A number of 16 bytes. */
void swz_put_wide(struct swz_text *text, const uint8_t *bytes, bool is_signed);

/* Of 4 bytes, of 8, or an x87 one: with as many digits as tell it apart. */
void swz_put_float(struct swz_text *text, const uint8_t *bytes, size_t size);

/* As in C, but UTF-8 stays. */
void swz_put_escaped(struct swz_text *text, const uint8_t *bytes, size_t size,
		     char quote);

#endif
