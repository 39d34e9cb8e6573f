#include "profile/formats/html_calls.h"

#include <stdbool.h>
#include <stdlib.h>

#include "profile/formats/html_values.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"

#define PROGRESS_BYTES ((uint64_t)1 << 20)

struct reading {
	const struct swz_section *section;
	struct swz_value_reader *reader;
	struct swz_html_values *values; /* NULL: there are none */
	struct swz_html_bands *bands;
	bool *hidden; /* of each open call: the page does not show it */
	size_t depth, capacity;
	uint64_t shown; /* how many it does */
};

static void begin(struct reading *r, const struct swz_event *event)
{
	uint32_t context = swz_map_get(&r->section->contexts->units,
				       event->node, 0);
	bool hidden = context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT;
	struct swz_call_values of;
	bool known;

	swz_grow(&r->hidden, &r->capacity, r->depth, sizeof(*r->hidden));
	r->hidden[r->depth++] = hidden;
	if (hidden)
		return;
	known = swz_values_of(r->reader, event, &of);
	if (known)
		swz_html_values_add(r->values, event, r->shown, &of);
	swz_html_bands_enter(r->bands, event->ticks, context, r->shown,
			     known ? &of : NULL);
	r->shown++;
}

static void end(struct reading *r, const struct swz_event *event)
{
	struct swz_call_values of;

	if (!r->depth || r->hidden[--r->depth])
		return;
	r->shown--;
	if (swz_values_of(r->reader, event, &of))
		swz_html_values_add(r->values, event, r->shown, &of);
	swz_html_bands_leave(r->bands, event->ticks);
}

static void read_all(FILE *stream, struct reading *r)
{
	const struct swz_section *section = r->section;
	struct swz_events *events = swz_events_open(section->profile,
						    section->thread);
	struct swz_event event;
	uint64_t done = 0;

	if (section->range)
		swz_events_limit(events, section->range->from,
				 section->range->to);
	swz_progress_stage("writing values", swz_events_size(section->thread));
	while (!ferror(stream) && swz_events_next(events, &event)) {
		if (event.begins)
			begin(r, &event);
		else
			end(r, &event);
		if (swz_events_position(events) - done >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(events) - done);
			done = swz_events_position(events);
		}
	}
	swz_progress_end();
	swz_events_close(events);
}

struct swz_html_cut swz_html_put_calls(FILE *stream, size_t number,
				       uint64_t *room,
				       struct swz_html_band_names *bands,
				       const struct swz_section *section)
{
	struct reading r = {
		.section = section,
		.reader = swz_values_open(section->profile, section->thread),
	};
	struct swz_html_cut cut = {0};

	if (!r.reader && !swz_html_bands_wanted(section))
		return cut;
	if (r.reader)
		r.values = swz_html_values_begin(stream, number, room, section);
	r.bands = swz_html_bands_begin(section, bands);
	read_all(stream, &r);
	if (r.values)
		cut.values = swz_html_values_end(r.values);
	cut.banded = swz_html_bands_end(r.bands, stream, number);
	swz_values_close(r.reader);
	free(r.hidden);
	return cut;
}
