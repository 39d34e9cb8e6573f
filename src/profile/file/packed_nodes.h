#ifndef SWZ_PROFILE_FILE_PACKED_NODES_H
#define SWZ_PROFILE_FILE_PACKED_NODES_H

/* Nodes as a chunk PACKED_NODES has them: most take 10 to 15 bytes, not 64,
 * since most were called once, by what was made before them.
 * docs/file-format.md describes it. */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* What a node takes at most. */
#define SWZ_PACKED_NODE_BYTES 81u

/* What the nodes before in the chunk tell. At first all 0. */
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
