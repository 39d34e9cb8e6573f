#include "runtime/discovery/text_maps.h"

#include "runtime/discovery/function.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"

/* A part begins where a function does: what is found out about a function by
 * its own code is found out by one thread. */
#define PART_BYTES (256u << 10)

/* The first function's start from this address on, or the end of the text. */
static uint64_t part_end(const struct swz_module *m,
			 const struct swz_range *text, uint64_t from)
{
	uint32_t low = 0, high = m->function_count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start < from)
			low = middle + 1;
		else
			high = middle;
	}
	return low < m->function_count && m->functions[low].start < text->end
		       ? m->functions[low].start
		       : text->end;
}

static bool divide(const struct swz_module *m, const struct swz_range *text,
		   struct swz_byte_scan *scan)
{
	uint32_t portion = swz_workers_portion(PART_BYTES);
	unsigned most = (unsigned)(scan->size / portion) + 1;
	uint64_t end = text->start;

	scan->part_count = 0;
	scan->parts = swz_scratch_alloc(most * sizeof(*scan->parts));
	while (scan->parts && end < text->end) {
		end = part_end(m, text, end + portion);
		scan->parts[scan->part_count++].end = end - text->start;
	}
	return scan->parts;
}

enum swz_status swz_text_maps_clear(struct swz_module *m)
{
	if (m->byte_scans) {
		for (unsigned i = 0; i < m->text_count; i++)
			swz_byte_scan_clear(&m->byte_scans[i]);
		return SWZ_OK;
	}
	m->byte_scans = swz_scratch_alloc(m->text_count *
					  sizeof(*m->byte_scans));
	for (unsigned i = 0; m->byte_scans && i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		scan->code = swz_module_bytes(m, m->text[i].start);
		scan->size = m->text[i].end - m->text[i].start;
		if (!divide(m, &m->text[i], scan) ||
		    swz_byte_scan_init(scan) != SWZ_OK)
			m->byte_scans = NULL;
	}
	return m->byte_scans ? SWZ_OK : SWZ_E_NOMEM;
}

/* The byte of the map that has the address, or NULL. */
static uint8_t *map_byte(const struct swz_module *m, enum swz_text_map map,
			 uint64_t address, uint8_t *bit)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		uint64_t at = address - text->start;

		if (at >= text->end - text->start)
			continue;
		*bit = (uint8_t)(1u << (at % 8));
		return (map == SWZ_TEXT_MARKS ? m->byte_scans[i].marks
					      : m->byte_scans[i].starts) +
		       at / 8;
	}
	return NULL;
}

void swz_text_mark(const struct swz_module *m, enum swz_text_map map,
		   uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		*at |= bit;
}

void swz_text_unmark(const struct swz_module *m, enum swz_text_map map,
		     uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		__atomic_fetch_and(at, (uint8_t)~bit, __ATOMIC_RELAXED);
}

bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	return at && *at & bit;
}
