#include "runtime/text_maps.h"

#include "runtime/scan_bytes.h"
#include "runtime/scratch.h"

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
		if (swz_byte_scan_init(scan) != SWZ_OK)
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
		*at &= (uint8_t)~bit;
}

bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	return at && *at & bit;
}
