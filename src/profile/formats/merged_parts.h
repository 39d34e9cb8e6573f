#ifndef SWZ_PROFILE_FORMATS_MERGED_PARTS_H
#define SWZ_PROFILE_FORMATS_MERGED_PARTS_H

/* The chunks of a sum of profiles, for merged.c. */

#include <stdio.h>

#include "profile/costs/merge.h"
#include "profile/support/map.h"

struct swz_merged_file {
	FILE *stream;
	const struct swz_merge *merge;
	uint64_t written; /* bytes, with the header */
	uint64_t *biases; /* by module: run-time address - ELF address */
	uint64_t *starts;
	uint32_t *ids;   /* by function */
	uint32_t *first; /* by module: the id of its first function */
};

struct swz_bytes {
	uint8_t *bytes; /* to be freed */
	size_t size, capacity;
};

void swz_bytes_add(struct swz_bytes *body, const void *from, size_t size);
void swz_bytes_add_string(struct swz_bytes *body, const char *string);

/* CHUNK says type, count, owner and reserved. */
void swz_merged_put_bytes(struct swz_merged_file *w, struct swz_chunk chunk,
			  const void *bytes, size_t size);

/* The same of a body, which is empty then. */
void swz_merged_put(struct swz_merged_file *w, uint32_t type, size_t count,
		    uint32_t owner, uint64_t reserved, struct swz_bytes *body);

/* Texts, each once. */
struct swz_merged_text {
	struct swz_bytes bytes;
	struct swz_map places; /* (string, 0): where it is */
};

/* 1 more than where STRING is among the texts; 0: there is none. */
uint32_t swz_merged_text_at(struct swz_merged_text *text, const char *string);
/* That as the distance from a chunk's body whose texts begin at START. */
uint32_t swz_merged_text_from(uint32_t at, size_t start);
void swz_merged_text_free(struct swz_merged_text *text);

/* The names that are embedded, of a module. */
void swz_merged_put_symbols(struct swz_merged_file *w, uint32_t module);
void swz_merged_put_lines(struct swz_merged_file *w, uint32_t module);

/* All ranks, if there are any. */
void swz_merged_put_ranks(struct swz_merged_file *w);

#endif
