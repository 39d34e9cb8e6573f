#ifndef SWZ_WATCH_SCAN_H
#define SWZ_WATCH_SCAN_H

/* Numbers in what /proc says. */

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Reads a number, behind blanks, and sets *AT behind it. False: there is none;
 * *VALUE is 0 then. */
static inline bool swz_scan(const char **at, int base, uint64_t *value)
{
	char *end;

	*value = strtoull(*at, &end, base);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

/* Moves behind so many words that are parted by blanks. */
static inline void swz_scan_past(const char **at, unsigned words)
{
	while (words--) {
		while (**at == ' ')
			(*at)++;
		while (**at && **at != ' ')
			(*at)++;
	}
}

#endif
