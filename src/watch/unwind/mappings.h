#ifndef SWZ_WATCH_UNWIND_MAPPINGS_H
#define SWZ_WATCH_UNWIND_MAPPINGS_H

/* What is mapped in an address space: ranges in order, apart from each other.
 */

#include "watch/unwind/unwind_file.h"

/* A file that was mapped, or memory without one. Shared by the parts of a
 * mapping that was split, and by processes that forked. */
struct swz_source {
	unsigned users;
	int32_t pid;
	uint64_t inode;
	char *path; /* NULL: memory without a file */
	bool opened;
	struct swz_unwind_file *file; /* NULL: there is none, or not opened */
};

struct swz_mapping {
	uint64_t start, end;
	uint64_t offset; /* of its first byte in the file */
	struct swz_source *source;
	bool known;                   /* the next two are */
	struct swz_unwind_file *file; /* of its source; NULL: no rows */
	uint64_t bias;                /* from ELF addresses to the process's */
};

/* Zero-initialise it. */
struct swz_mappings {
	struct swz_mapping *list;
	size_t count, capacity;
};

/* Puts a mapping there in the place of what there was. */
void swz_mappings_put(struct swz_mappings *mappings,
		      const struct swz_unwinder_mapping *mapping);
/* Nothing is mapped there. */
void swz_mappings_remove(struct swz_mappings *mappings, uint64_t start,
			 uint64_t end);
void swz_mappings_clear(struct swz_mappings *mappings);
void swz_mappings_copy(struct swz_mappings *to,
		       const struct swz_mappings *from);

/* The mapping that has the address, its file looked for; or NULL. Valid until
 * the next change. */
struct swz_mapping *swz_mappings_at(struct swz_mappings *mappings,
				    uint64_t address);

#endif
