#include "options/duration.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SECONDS 31536000.0
#define MOST_DIGITS 17u

uint64_t swz_duration(const char *text)
{
	static const struct {
		const char *unit;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"h", 3600}};
	size_t length = strspn(text, "0123456789.");
	char number[MOST_DIGITS + 1], *end;
	double value;

	if (!length || length > MOST_DIGITS)
		return 0;
	memcpy(number, text, length);
	number[length] = '\0';
	value = strtod(number, &end);
	if (*end)
		return 0;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(text + length, units[i].unit) == 0 &&
		    value * units[i].seconds <= MOST_SECONDS)
			return (uint64_t)(value * units[i].seconds * 1e9 + 0.5);
	return 0;
}
