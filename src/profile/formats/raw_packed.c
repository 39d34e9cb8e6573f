#include "profile/formats/raw_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/packed_functions.h"
#include "base/refusal_text.h"
#include "profile/file/packed_nodes.h"
#include "profile/file/rank_costs.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

bool swz_raw_put_function(struct swz_raw_dump *dump, const void *bytes,
			  uint64_t at)
{
	struct swz_function_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream,
		"  id %-10" PRIu32 " address 0x%-8" PRIx32 " size %-6" PRIu32
		" flags 0x%x  %s\n",
		r.id, r.address, r.size, (unsigned int)r.flags,
		swz_refusal_text(r.status));
	return true;
}

bool swz_raw_put_node(struct swz_raw_dump *dump, const void *bytes, uint64_t at)
{
	struct swz_node r;

	memcpy(&r, bytes, sizeof(r));
	if (r.function == SWZ_FUNCTION_NONE)
		return false;
	fprintf(dump->stream,
		"  unit 0x%-8" PRIx64 " function %-10" PRIu32
		" parent 0x%-8" PRIx32 " context 0x%-8" PRIx32
		" site 0x%-12" PRIx64 " calls %-10" PRIu64 " ticks %-14" PRId64
		" outer %-14" PRId64 " min %" PRIu64 " max %" PRIu64
		" open %" PRId32 " flags 0x%" PRIx32 "\n",
		at / SWZ_UNIT_BYTES, r.function, r.parent, r.context,
		r.call_site, r.calls, r.ticks, r.outer_ticks, r.min_ticks,
		r.max_ticks, (int32_t)r.open >> SWZ_NODE_OPEN_SHIFT,
		r.open & SWZ_NODE_FLAGS_MASK);
	return true;
}

void swz_raw_put_packed_functions(struct swz_raw_dump *dump, uint64_t at,
				  uint64_t bytes, uint32_t count)
{
	uint64_t limit = at + bytes;
	struct swz_function_record r = {0};
	uint32_t end = 0, i;

	swz_raw_get(dump, at, &r.id, sizeof(r.id));
	at += sizeof(r.id);
	for (i = 0; i < count && !ferror(dump->stream); i++, r.id++) {
		uint8_t record[SWZ_PACKED_FUNCTION_BYTES];
		const uint8_t *from = record;
		size_t got = 0;

		if (at < limit)
			got = swz_raw_get(dump, at, record, sizeof(record));
		if (got > limit - at)
			got = (size_t)(limit - at);
		if (!swz_function_unpack(&from, record + got, &end, &r)) {
			swz_raw_problem(dump,
					"more records than the chunk has room "
					"for");
			return;
		}
		if (dump->rows && i >= dump->rows) {
			fprintf(dump->stream, "  ... %" PRIu32 " more\n",
				count - i);
			return;
		}
		swz_raw_put_function(dump, &r, at);
		at += (uint64_t)(from - record);
	}
}

void swz_raw_put_packed_nodes(struct swz_raw_dump *dump, uint64_t at,
			      uint64_t room, const struct swz_chunk *chunk)
{
	uint64_t bytes = chunk->reserved[SWZ_PACKED_NODES_BYTES];
	struct swz_packed_nodes before = {0};
	uint64_t unit = at / SWZ_UNIT_BYTES, shown = 0;
	uint64_t limit = at + (bytes < room ? bytes : room);

	if (bytes > room)
		swz_raw_problem(dump, "more bytes than the chunk has room for");
	for (; at < limit && !ferror(dump->stream); unit++) {
		uint8_t packed[SWZ_PACKED_NODE_BYTES];
		size_t got = swz_raw_get(dump, at, packed, sizeof(packed));
		const uint8_t *from = packed;
		struct swz_node node;

		if (got > limit - at)
			got = (size_t)(limit - at);
		if (!swz_node_unpack(&from, packed + got, &before,
				     (uint32_t)unit, &node)) {
			swz_raw_problem(dump, "a node that is not whole");
			return;
		}
		if (dump->rows && shown >= dump->rows) {
			fputs("  ...\n", dump->stream);
			return;
		}
		shown += swz_raw_put_node(dump, &node, unit * SWZ_UNIT_BYTES);
		at += (uint64_t)(from - packed);
	}
}

/* As in the file: threads by their index, functions by their number. */
void swz_raw_put_rank_costs(struct swz_raw_dump *dump, uint64_t at,
			    uint64_t size, uint32_t count)
{
	uint8_t *packed = swz_allocate(size + 1, 1);
	struct swz_rank_cost *costs = NULL;
	uint32_t i;

	if (count <= SWZ_RANK_MOST_COSTS)
		costs = swz_allocate((size_t)count + 1, sizeof(*costs));
	if (!costs ||
	    pread(dump->fd, packed, size, (off_t)at) != (ssize_t)size ||
	    !swz_rank_costs_unpack(packed, size, costs, count)) {
		swz_raw_problem(dump, "cannot be unpacked");
		count = 0;
	}
	for (i = 0; i < count; i++) {
		if (dump->rows && i >= dump->rows) {
			fputs("  ... more\n", dump->stream);
			break;
		}
		fprintf(dump->stream,
			"  thread %" PRIu32 " function %" PRIu32 ": %" PRIu64
			" calls, self %" PRId64 ", inclusive %" PRId64 "\n",
			costs[i].thread, costs[i].function, costs[i].calls,
			costs[i].self_ns, costs[i].inclusive_ns);
	}
	free(packed);
	free(costs);
}
