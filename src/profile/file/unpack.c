/* Nodes are found by their place in the file, so there is room for them where
 * they are packed. */

#include "profile/file/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/packed_nodes.h"
#include "profile/support/memory.h"

void swz_unpack_nodes(struct swz_profile *profile, struct swz_chunk *chunk,
		      size_t offset, size_t size)
{
	struct swz_packed_nodes *before = swz_allocate(1, sizeof(*before));
	uint64_t bytes = chunk->reserved[SWZ_PACKED_NODES_BYTES];
	struct swz_node *nodes = (void *)(profile->data + offset);
	uint32_t unit = (uint32_t)(offset / SWZ_UNIT_BYTES);
	uint8_t *stream;
	const uint8_t *at, *limit;
	size_t i;

	if (bytes > size) {
		profile->damage.bad_chunks++;
		bytes = size;
	}
	stream = swz_allocate(bytes + 1, 1);
	memcpy(stream, nodes, bytes);
	memset(nodes, 0, bytes);
	at = stream;
	limit = stream + bytes;
	for (i = 0; at < limit && i < size / sizeof(*nodes); i++)
		if (!swz_node_unpack(&at, limit, before, unit + (uint32_t)i,
				     &nodes[i]))
			break;
	if (at < limit)
		profile->damage.bad_chunks++;
	free(stream);
	free(before);
	chunk->type = SWZ_CHUNK_NODES;
	memset(chunk->reserved, 0, sizeof(chunk->reserved));
	memcpy(profile->data + offset - sizeof(*chunk), chunk, sizeof(*chunk));
}
