#ifndef SWZ_PROFILE_FORMATS_RAW_PARTS_H
#define SWZ_PROFILE_FORMATS_RAW_PARTS_H

/* What -f raw prints of the parts of a file, for raw.c. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "swizzle/format.h"

#define SWZ_RAW_WINDOW_BYTES 65536u

struct swz_raw_dump {
	FILE *stream;
	int fd;
	uint64_t size; /* of the file */
	uint64_t end;  /* of what is said to be used, if that is credible */
	size_t rows;
	uint64_t problems;
	uint64_t at; /* of the window */
	size_t filled;
	uint8_t window[SWZ_RAW_WINDOW_BYTES];
};

/* Fills TO from the file at OFFSET. Returns how many bytes there were. */
size_t swz_raw_get(struct swz_raw_dump *dump, uint64_t offset, void *to,
		   size_t size);
/* Says what is wrong, and counts it. */
void swz_raw_problem(struct swz_raw_dump *dump, const char *what);

void swz_raw_put_header(struct swz_raw_dump *dump);

/* The body of a chunk: SIZE bytes from AT on. */
void swz_raw_put_body(struct swz_raw_dump *dump, const struct swz_chunk *chunk,
		      uint64_t at, uint64_t size);

/* A record that is at AT in the file; true if it was printed. */
bool swz_raw_put_function(struct swz_raw_dump *dump, const void *bytes,
			  uint64_t at);
bool swz_raw_put_node(struct swz_raw_dump *dump, const void *bytes,
		      uint64_t at);

/* Bodies of packed records, COUNT of them. */
void swz_raw_put_packed_functions(struct swz_raw_dump *dump, uint64_t at,
				  uint64_t bytes, uint32_t count);
void swz_raw_put_packed_nodes(struct swz_raw_dump *dump, uint64_t at,
			      uint64_t room, const struct swz_chunk *chunk);
void swz_raw_put_rank_costs(struct swz_raw_dump *dump, uint64_t at,
			    uint64_t size, uint32_t count);

#endif
