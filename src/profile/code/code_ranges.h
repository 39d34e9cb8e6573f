#ifndef SWZ_PROFILE_CODE_CODE_RANGES_H
#define SWZ_PROFILE_CODE_CODE_RANGES_H

/* Ranges of code made at run time, each with its name and with the moment from
 * which on it has lain there. What comes later takes the place of what was
 * there, but what was there is still known. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SWZ_SIZE_CLASSES 48

struct swz_code_range {
	uint64_t start, size;
	uint64_t time_ns; /* since then; 0: always */
	uint32_t number;  /* they are numbered as they come */
	uint32_t name;    /* where it begins in the text */
};

/* Those whose size has its highest bit at the same place. */
struct swz_code_range_list {
	struct swz_code_range *ranges;
	size_t count, capacity;
	size_t sorted; /* the first so many are, by start and number */
};

/* Zero-initialise it. */
struct swz_code_ranges {
	struct swz_code_range_list lists[SWZ_SIZE_CLASSES];
	uint32_t count;
	char *text;
	size_t text_bytes, text_capacity;
};

/* Adds a range whose name has LENGTH bytes (no NUL among them). What cannot be
 * code is left out: nothing, what is too large or beyond the address space. */
void swz_code_ranges_add(struct swz_code_ranges *ranges, uint64_t start,
			 uint64_t size, uint64_t time_ns, const char *name,
			 size_t length);

/* The name of what lay at the address at that time: the latest that was there
 * by then, else the first that came. NULL: none. Valid until something is
 * added. */
const char *swz_code_ranges_find(struct swz_code_ranges *ranges,
				 uint64_t address, uint64_t time_ns);

void swz_code_ranges_copy(struct swz_code_ranges *to,
			  const struct swz_code_ranges *from);
void swz_code_ranges_free(struct swz_code_ranges *ranges);

#endif
