#ifndef SWZ_THUNKS_UNWIND_TABLE_H
#define SWZ_THUNKS_UNWIND_TABLE_H

/* Unwind information of trampolines: an .eh_frame with an .eh_frame_hdr (LSB
 * 5.0, 10.6), one entry for each trampoline. A signal may arrive in any
 * instruction of one, and be unwound from there, or thrown from.
 *
 * The rows of the relocated prologue are those of the function's own entry,
 * moved with the instructions. Entries are written while trampolines are,
 * in memory of the caller's, and put behind them at the end. Pure. */

#include <stddef.h>

#include "image/eh_frame.h"
#include "thunks/relocate.h"

/* Most bytes of one entry, its place in the header included. A function whose
 * rows take more gets an entry up to its body only. */
#define SWZ_UNWIND_ENTRY_BYTES 128u
/* Bytes that come once. */
#define SWZ_UNWIND_FIXED_BYTES 64u

struct swz_unwind_table {
	uint8_t *frame; /* CIE and FDEs; NULL: no information is kept */
	size_t room;
	size_t used;
	struct swz_unwind_entry {
		uint32_t start; /* of the trampoline, in its region */
		uint32_t fde;   /* in the frame */
	} * entries;
	uint32_t count, most;
	const int32_t *islands;
	uint32_t island_count;
	uint32_t island_bytes; /* of one */
};

/* The memory that a table for this many trampolines needs, and its beginning
 * there. `memory` may be NULL. */
size_t swz_unwind_table_bytes(uint32_t trampolines);
void swz_unwind_table_begin(struct swz_unwind_table *table, void *memory,
			    uint32_t trampolines);

/* Divides the memory of a table that is empty still: `part` is a table for
 * trampolines number `first` and on, so many of them. */
void swz_unwind_table_divide(const struct swz_unwind_table *table,
			     struct swz_unwind_table *part, uint32_t first,
			     uint32_t trampolines);

/* Adds all entries of the next part, whose trampolines have come to lie `down`
 * bytes lower meanwhile. */
void swz_unwind_table_join(struct swz_unwind_table *table,
			   const struct swz_unwind_table *part, uint32_t down);

struct swz_moved_code {
	const struct swz_fde *fde; /* the function's; NULL: it has none */
	uint64_t site;             /* what the displaced code's address is in
				    * the fde's terms */
	uint32_t trampoline;       /* offset in the region */
	uint32_t bytes;            /* of it */
	uint32_t head;             /* bytes of it before the body */
	uint32_t prefix;           /* bytes of the body before the copies */
	const struct swz_relocation *relocation; /* offsets from the copies */
};

/* Adds the entry of one trampoline; they come in the order of their offsets.
 * The head is "push %rax" and what follows, or empty. False: it does not go
 * beyond the head, or there is none. */
bool swz_unwind_table_add(struct swz_unwind_table *table,
			  const struct swz_moved_code *code);

/* Copies the finished table to `at` (at least swz_unwind_table_bytes; 8-byte
 * aligned, within 2 GiB of `region`, which is where the trampolines begin), and
 * sets *header to the .eh_frame_hdr. Returns the bytes that it took. */
size_t swz_unwind_table_finish(struct swz_unwind_table *table, uint8_t *at,
			       const uint8_t *region, const uint8_t **header);

/* Before that: adds places that are like the first byte of a function,
 * `bytes` each, at these distances from the region, in ascending order, none of
 * them in it. Each takes SWZ_UNWIND_ISLAND_BYTES more at the end. They are read
 * again when the table is finished. */
#define SWZ_UNWIND_ISLAND_BYTES 32u
void swz_unwind_table_add_islands(struct swz_unwind_table *table,
				  const int32_t *islands, uint32_t count,
				  uint32_t bytes);

#endif
