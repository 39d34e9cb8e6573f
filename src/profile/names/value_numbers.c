#include "profile/names/value_numbers.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/output.h"

int64_t swz_read_number(const uint8_t *bytes, size_t size, bool is_signed)
{
	uint64_t value = 0;
	unsigned unused;

	if (size > sizeof(value))
		size = sizeof(value);
	memcpy(&value, bytes, size);
	unused = 64 - 8 * (unsigned)size;
	if (!size)
		return 0;
	return is_signed ? (int64_t)(value << unused) >> unused
			 : (int64_t)value;
}

void swz_put_wide(struct swz_text *text, const uint8_t *bytes, bool is_signed)
{
	unsigned __int128 value;
	char digits[48], *at = digits + sizeof(digits);
	bool negative;

	memcpy(&value, bytes, sizeof(value));
	negative = is_signed && (__int128)value < 0;
	if (negative)
		value = -value;
	do
		*--at = (char)('0' + (int)(value % 10));
	while (value /= 10);
	if (negative)
		*--at = '-';
	swz_text_add(text, at, (size_t)(digits + sizeof(digits) - at));
}

void swz_put_float(struct swz_text *text, const uint8_t *bytes, size_t size)
{
	char number[64];
	int digits;

	if (size == sizeof(float)) {
		float value;

		memcpy(&value, bytes, sizeof(value));
		for (digits = FLT_DIG; digits <= 9; digits++) {
			snprintf(number, sizeof(number), "%.*g", digits,
				 (double)value);
			if (strtof(number, NULL) == value)
				break;
		}
	} else if (size == sizeof(double)) {
		double value;

		memcpy(&value, bytes, sizeof(value));
		for (digits = 6; digits <= 17; digits++) {
			snprintf(number, sizeof(number), "%.*g", digits, value);
			if (strtod(number, NULL) == value)
				break;
		}
	} else {
		long double value = 0;

		memcpy(&value, bytes, size < 10 ? size : 10);
		for (digits = 6; digits <= 21; digits++) {
			snprintf(number, sizeof(number), "%.*Lg", digits,
				 value);
			if (strtold(number, NULL) == value)
				break;
		}
	}
	swz_text_put_plain(text, number);
}

void swz_put_escaped(struct swz_text *text, const uint8_t *bytes, size_t size,
		     char quote)
{
	size_t i;

	for (i = 0; i < size; i++) {
		char buffer[8] = "";
		uint8_t c = bytes[i];
		size_t length;

		if (c == (uint8_t)quote || c == '\\') {
			swz_text_put(text, "\\%c", c);
			continue;
		}
		if (c == '\n' || c == '\t' || c == '\r') {
			swz_text_put_plain(text, c == '\n'   ? "\\n"
						 : c == '\t' ? "\\t"
							     : "\\r");
			continue;
		}
		memcpy(buffer, bytes + i, size - i < 4 ? size - i : 4);
		length = c < 0x80 ? 1 : swz_utf8_length(buffer);
		if (c < ' ' || c == 0x7f || !length) {
			swz_text_put(text, "\\x%02x", c);
			continue;
		}
		swz_text_add(text, (const char *)bytes + i, length);
		i += length - 1;
	}
}
