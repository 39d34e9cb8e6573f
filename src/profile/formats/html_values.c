/* Blocks "values NUMBER 0", "values NUMBER 1", ... hold the moments of calls
 * that have values, in the order of time; "moments NUMBER" tells when each of
 * them begins, so that one can be read without the others. A moment is known by
 * its time and by how many calls are around its own. */

#include "profile/formats/html_values.h"

#include <stdbool.h>
#include <stdlib.h>

#include "profile/formats/page_block.h"
#include "profile/formats/shown_values.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

#define LEVEL 6 /* of compression */
#define BLOCK_BYTES ((uint64_t)64 << 10)
#define PROGRESS_BYTES ((uint64_t)1 << 20)

struct writing {
	FILE *stream;
	size_t number;
	uint64_t *room;
	const struct swz_section *section;
	struct swz_value_reader *reader;
	struct swz_page_block *block; /* NULL: none is begun */
	uint64_t *begins;             /* of each block, ticks */
	size_t count, capacity;
	uint64_t ticks;     /* of the last moment */
	uint64_t cut;       /* moments that are left out */
	uint64_t cut_ticks; /* of the first of these */
	bool *hidden;       /* of each open call: the page does not show it */
	size_t depth, depth_capacity;
	uint64_t shown; /* how many it does */
	struct swz_shown_value value;
};

static void end_block(struct writing *w)
{
	uint64_t bytes = w->block ? swz_page_block_end(w->block) : 0;

	*w->room -= bytes < *w->room ? bytes : *w->room;
	w->block = NULL;
}

static void begin_block(struct writing *w, uint64_t ticks)
{
	char name[64];

	snprintf(name, sizeof(name), "values %zu %zu", w->number, w->count);
	w->block = swz_page_block_begin(w->stream, name, LEVEL);
	swz_grow(&w->begins, &w->capacity, w->count, sizeof(*w->begins));
	w->begins[w->count++] = ticks;
	w->ticks = ticks;
}

static void put_values(struct writing *w, const struct swz_event *event)
{
	struct swz_call_values values;
	size_t i;

	if (!swz_values_of(w->reader, event, &values) ||
	    !swz_shown_count(&values))
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
	swz_page_block_number(w->block, w->shown);
	swz_page_block_number(w->block, swz_shown_count(&values));
	for (i = 0; i < swz_shown_count(&values); i++) {
		swz_shown_read(&w->value, w->section->binding, &values, i);
		swz_page_block_text(w->block, w->value.name.text);
		swz_page_block_text(w->block, w->value.text.text);
	}
}

static void read_event(struct writing *w, const struct swz_event *event)
{
	uint32_t context;

	if (!event->begins) {
		if (!w->depth || w->hidden[--w->depth])
			return;
		w->shown--;
		put_values(w, event);
		return;
	}
	context = swz_map_get(&w->section->contexts->units, event->node, 0);
	swz_grow(&w->hidden, &w->depth_capacity, w->depth, sizeof(*w->hidden));
	w->hidden[w->depth++] = context == SWZ_MAP_NONE ||
				context == SWZ_CONTEXT_ROOT;
	if (w->hidden[w->depth - 1])
		return;
	put_values(w, event);
	w->shown++;
}

static void read_all(struct writing *w)
{
	const struct swz_section *section = w->section;
	struct swz_events *events = swz_events_open(section->profile,
						    section->thread);
	struct swz_event event;
	uint64_t done = 0;

	if (section->range)
		swz_events_limit(events, section->range->from,
				 section->range->to);
	swz_progress_stage("writing values", swz_events_size(section->thread));
	while (!ferror(w->stream) && swz_events_next(events, &event)) {
		read_event(w, &event);
		if (swz_events_position(events) - done >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(events) - done);
			done = swz_events_position(events);
		}
	}
	swz_progress_end();
	swz_events_close(events);
}

static void put_moments(const struct writing *w)
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

uint64_t swz_html_put_values(FILE *stream, size_t number, uint64_t *room,
			     const struct swz_section *section)
{
	struct writing w = {
		.stream = stream,
		.number = number,
		.room = room,
		.section = section,
		.reader = swz_values_open(section->profile, section->thread),
	};

	if (!w.reader)
		return 0;
	read_all(&w);
	end_block(&w);
	if (w.count || w.cut)
		put_moments(&w);
	swz_values_close(w.reader);
	swz_shown_free(&w.value);
	free(w.begins);
	free(w.hidden);
	return w.cut;
}
