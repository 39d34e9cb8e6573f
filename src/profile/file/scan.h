#ifndef SWZ_PROFILE_FILE_SCAN_H
#define SWZ_PROFILE_FILE_SCAN_H

/* The records of a profile file: one pass over its chunks. */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "swizzle/format.h"
#include "profile/file/reader.h"

/* --- clocks and bytes ----------------------------------------------------- */

/* The clock of a profile. */

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

/* The profile that is being read, and the room that there is in its arrays. */
struct swz_scan {
	struct swz_profile *profile;
	struct swz_loading *from; /* what loads it as it is wanted; NULL: all
				   * is there */
	size_t module_capacity;
	size_t function_capacity;
	size_t thread_capacity;
	size_t span_capacity;
	size_t unwound_capacity;
	size_t event_chunk_capacity, slow_rule_capacity;
	size_t switch_capacity;
	size_t mark_capacity;
	size_t look_capacity;
	size_t times_capacity;
	size_t sample_chunk_capacity;
	size_t value_chunk_capacity;
	size_t signature_capacity;
	size_t summary_capacity;
	size_t signature_set_capacity;
	size_t symbol_capacity;
	size_t line_capacity;
	struct swz_scan_counts {
		uint32_t owner; /* the thread's index */
		uint32_t count; /* slots, all of which are there */
		size_t offset;
	} * count_chunks; /* to be freed */
	size_t count_chunk_count;
	size_t count_chunk_capacity;
	struct swz_scan_name {
		uint32_t id;
		const char *text;
	} * names; /* of functions; in the order of the file, to be freed */
	size_t name_count;
	size_t name_capacity;
	struct swz_scan_costs *costs; /* of ranks: see ranks.c */
	size_t cost_count;
	size_t cost_capacity;
};

/* Collects the records of all chunks in scan->profile->data, in the order of
 * the file. False: it cannot be loaded, errno says why. */
bool swz_scan_chunks(struct swz_scan *scan);

/* --- packed nodes -------------------------------------------------------- */

/* Nodes as a chunk PACKED_NODES has them: most take 10 to 15 bytes, not 64,
 * since most were called once, by what was made before them.
 * docs/file-format.md describes it. */

/* The most bytes of a node. */
#define SWZ_PACKED_NODE_BYTES 81u

/* State that the chunk's earlier nodes have left. At first all 0. */
#define SWZ_PACKED_NODES_SITES 1024u
struct swz_packed_nodes {
	uint64_t last_site;
	uint32_t last_parent;
	/* of functions, by the low bits of their ids: where they were called
	 * from last */
	uint32_t functions[SWZ_PACKED_NODES_SITES];
	uint64_t sites[SWZ_PACKED_NODES_SITES];
};

/* Writes the node at UNIT (file offset / 64) to TO, which has room for the
 * most. Returns how many bytes it took. */
unsigned swz_node_pack(uint8_t *to, struct swz_packed_nodes *before,
		       uint32_t unit, const struct swz_node *node);

/* Reads one from *AT, which goes on. False: no whole node is before LIMIT. */
bool swz_node_unpack(const uint8_t **at, const uint8_t *limit,
		     struct swz_packed_nodes *before, uint32_t unit,
		     struct swz_node *node);

#endif
