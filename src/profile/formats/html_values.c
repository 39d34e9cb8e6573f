/* Blocks "values NUMBER 0", "values NUMBER 1", ... hold the moments of calls
 * that have values, in the order of time; "moments NUMBER" tells when each of
 * them begins, so that one can be read without the others. A moment is known by
 * its time and by how many calls are around its own. */

#include "profile/formats/html_values.h"

#include <stdlib.h>

#include "profile/formats/page_block.h"
#include "profile/formats/shown_values.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */
#define BLOCK_BYTES ((uint64_t)64 << 10)

struct swz_html_values {
	FILE *stream;
	size_t number;
	uint64_t *room;
	const struct swz_section *section;
	struct swz_page_block *block; /* NULL: none is begun */
	uint64_t *begins;             /* of each block, ticks */
	size_t count, capacity;
	uint64_t ticks;     /* of the last moment */
	uint64_t cut;       /* moments that are left out */
	uint64_t cut_ticks; /* of the first of these */
	struct swz_shown_value value;
};

static void end_block(struct swz_html_values *w)
{
	uint64_t bytes = w->block ? swz_page_block_end(w->block) : 0;

	*w->room -= bytes < *w->room ? bytes : *w->room;
	w->block = NULL;
}

static void begin_block(struct swz_html_values *w, uint64_t ticks)
{
	char name[64];

	snprintf(name, sizeof(name), "values %zu %zu", w->number, w->count);
	w->block = swz_page_block_begin(w->stream, name, LEVEL);
	swz_grow(&w->begins, &w->capacity, w->count, sizeof(*w->begins));
	w->begins[w->count++] = ticks;
	w->ticks = ticks;
}

void swz_html_values_add(struct swz_html_values *w,
			 const struct swz_event *event, uint64_t row,
			 const struct swz_call_values *of)
{
	size_t i;

	if (!swz_shown_count(of))
		return;
	if (w->block && swz_page_block_size(w->block) >= BLOCK_BYTES)
		end_block(w);
	if (!w->block && !*w->room) {
		if (!w->cut++)
			w->cut_ticks = event->ticks;
		return;
	}
	if (!w->block)
		begin_block(w, event->ticks);
	swz_page_block_number(w->block,
			      (event->ticks - w->ticks) << 1 | !event->begins);
	w->ticks = event->ticks;
	swz_page_block_number(w->block, row);
	swz_page_block_number(w->block, swz_shown_count(of));
	for (i = 0; i < swz_shown_count(of); i++) {
		swz_shown_read(&w->value, w->section->binding, of, i);
		swz_page_block_text(w->block, w->value.name.text);
		swz_page_block_text(w->block, w->value.text.text);
	}
}

static void put_moments(const struct swz_html_values *w)
{
	uint64_t last = swz_profile_origin(w->section->profile);
	struct swz_page_block *block;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "moments %zu", w->number);
	block = swz_page_block_begin(w->stream, name, LEVEL);
	swz_page_block_number(block, w->count);
	for (i = 0; i < w->count; i++) {
		swz_page_block_number(block, w->begins[i] - last);
		last = w->begins[i];
	}
	swz_page_block_number(block, w->cut);
	if (w->cut)
		swz_page_block_number(block, w->cut_ticks - last);
	swz_page_block_end(block);
}

struct swz_html_values *swz_html_values_begin(FILE *stream, size_t number,
					      uint64_t *room,
					      const struct swz_section *section)
{
	struct swz_html_values *w = swz_allocate(1, sizeof(*w));

	w->stream = stream;
	w->number = number;
	w->room = room;
	w->section = section;
	return w;
}

uint64_t swz_html_values_end(struct swz_html_values *w)
{
	uint64_t cut = w->cut;

	end_block(w);
	if (w->count || cut)
		put_moments(w);
	swz_shown_free(&w->value);
	free(w->begins);
	free(w);
	return cut;
}
