#ifndef SWZ_PROFILE_FILE_LOOKUP_H
#define SWZ_PROFILE_FILE_LOOKUP_H

/* The clock of a profile. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile/file/reader.h"

/* Beyond this a time in ticks is nonsense (292 years at 1 GHz), and sums of a
 * few such times still fit. */
#define SWZ_MAX_TICKS (INT64_MAX / 4)

/* Sets clock_ns, clock_ticks, clock_known and clock_uneven by the header's
 * samples. */
void swz_profile_calibrate(struct swz_profile *profile);

/* --- bytes --------------------------------------------------------------- */

/* Profile files in memory. */

/* A file that is being loaded: what lies below `have` is in memory, or not
 * wanted. */
struct swz_loading {
	int fd;
	uint8_t *data; /* room for all of it; whole pages */
	uint64_t size; /* less, when the file turns out to be shorter */
	uint64_t have;
	bool skipping;       /* something has just been skipped */
	bool in_small_pages; /* from where the first was skipped on */
	bool partial;        /* something that may be read from fd later was */
};

/* Loads it up to END. False: errno says why. */
bool swz_load(struct swz_loading *from, uint64_t end);

/* The bytes are not wanted (any more): their memory is given back. */
void swz_load_skip(struct swz_loading *from, uint64_t start, uint64_t end);

/* Where the next bytes are that are no hole in the file: OFFSET, or further on;
 * what lies between is skipped. */
uint64_t swz_load_past_hole(struct swz_loading *from, uint64_t offset);

/* Reads up to SIZE bytes; fewer only at the end of the file. */
ssize_t swz_read_fully(int fd, uint8_t *data, size_t size, uint64_t offset);

#endif
