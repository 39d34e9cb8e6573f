#include "profile/file/code_chunk.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/code/perf_map.h"
#include "profile/support/map.h"
#include "profile/support/memory.h"

struct swz_code_ranges *swz_code_ranges_of(struct swz_profile *profile)
{
	if (!profile->code)
		profile->code = swz_allocate(1, sizeof(*profile->code));
	return profile->code;
}

void swz_scan_code(struct swz_scan *scan, const uint8_t *body, size_t size)
{
	size_t length = strnlen((const char *)body, size);

	if (swz_perf_map_read(swz_code_ranges_of(scan->profile),
			      (const char *)body, length, 0) != length)
		scan->profile->damage.bad_chunks++;
}

void swz_run_time_code_free(struct swz_profile *profile)
{
	if (profile->code)
		swz_code_ranges_free(profile->code);
	free(profile->code);
}

/* ---- what is written ---- */

void swz_run_time_code_undo(const struct swz_profile *profile, uint64_t offset,
			    uint8_t *bytes, size_t size)
{
	uint64_t first = offset / SWZ_UNIT_BYTES;
	uint64_t end = first + size / SWZ_UNIT_BYTES;

	for (size_t i = 0; profile->code_functions && i < profile->span_count;
	     i++) {
		const struct swz_node_span *span = &profile->spans[i];
		uint64_t from = span->unit > first ? span->unit : first;
		uint64_t to = (uint64_t)span->unit + span->count;

		for (; from < to && from < end; from++) {
			struct swz_node *slot =
				(struct swz_node
					 *)(void *)(bytes +
						    (from - first) *
							    SWZ_UNIT_BYTES);
			uint32_t n = slot->function - SWZ_CODE_FIRST_ID;

			if (slot->function < SWZ_CODE_FIRST_ID ||
			    n >= profile->code_functions)
				continue;
			slot->function = SWZ_FUNCTION_CODE;
			slot->open &= ~(uint32_t)SWZ_NODE_HIDDEN;
		}
	}
}

struct lines {
	uint8_t *bytes; /* room for the chunk's header first */
	size_t size, capacity;
	uint32_t count;
};

static void add_line(struct lines *lines, uint64_t address, const char *name)
{
	char *line = swz_print("%" PRIx64 " 1 %s\n", address, name);
	size_t size = strlen(line);

	if (lines->capacity - lines->size < size) {
		lines->capacity += lines->capacity / 2 + size + 4096;
		lines->bytes = swz_reallocate(lines->bytes, lines->capacity, 1);
	}
	memcpy(lines->bytes + lines->size, line, size);
	lines->size += size;
	lines->count++;
	free(line);
}

static void add_node(struct lines *lines, struct swz_map *known,
		     const struct swz_profile *profile,
		     const struct swz_node *slot)
{
	uint32_t n = slot->function - SWZ_CODE_FIRST_ID, *place;
	const char *name;

	if (slot->function < SWZ_CODE_FIRST_ID || n >= profile->code_functions)
		return;
	name = profile->symbols[profile->symbol_count -
				profile->code_functions + n]
		       .name;
	place = swz_map_at(known, slot->call_site, 0);
	if (*place != SWZ_MAP_NONE || strcmp(name, SWZ_CODE_UNNAMED) == 0)
		return;
	*place = 0;
	add_line(lines, slot->call_site - 1, name);
}

static void finish_chunk(struct lines *lines)
{
	size_t bytes = (lines->size + SWZ_UNIT_BYTES) / SWZ_UNIT_BYTES *
		       SWZ_UNIT_BYTES; /* with a zero at least */
	struct swz_chunk chunk = {.magic = SWZ_CHUNK_MAGIC,
				  .type = SWZ_CHUNK_CODE,
				  .bytes = bytes,
				  .count = lines->count};

	lines->bytes = swz_reallocate(lines->bytes, bytes, 1);
	memset(lines->bytes + lines->size, 0, bytes - lines->size);
	memcpy(lines->bytes, &chunk, sizeof(chunk));
}

uint8_t *swz_run_time_code_chunk(const struct swz_profile *profile,
				 size_t *names)
{
	struct lines lines = {.size = sizeof(struct swz_chunk)};
	struct swz_map known = {0};

	*names = profile->code_functions;
	if (!profile->code_from_files || !profile->named_code_nodes)
		return NULL;
	lines.capacity = lines.size;
	lines.bytes = swz_allocate(lines.size, 1);
	for (size_t i = 0; i < profile->span_count; i++)
		for (uint32_t j = 0; j < profile->spans[i].count; j++)
			add_node(&lines, &known, profile,
				 swz_code_slot(profile,
					       profile->spans[i].unit + j));
	swz_map_free(&known);
	finish_chunk(&lines);
	return lines.bytes;
}
