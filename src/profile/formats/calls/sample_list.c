/* -f samples: each sample by itself, of all threads in the order of time: when
 * it was taken, in which thread, on which processor, and its stack. */

#include <inttypes.h>
#include <stdlib.h>

#include "profile/costs/trace.h"
#include "profile/formats/calls/calls.h"
#include "util/memory.h"
#include "util/output.h"

struct listed {
	struct swz_binding *binding;
	const struct swz_profile_thread *thread;
	const struct swz_unit_set *shown; /* of the thread */
	int64_t ns;
	struct swz_profile_sample sample;
};

struct listing {
	struct listed *items;
	size_t count, capacity;
	struct swz_unit_set **sets; /* of threads: to be freed */
	size_t set_count, set_capacity;
	uint32_t *path;
	size_t path_capacity;
};

static bool is_shown(const struct swz_unit_set *shown, uint32_t unit)
{
	uint32_t at = unit - shown->first;

	return !shown->bits ||
	       (at < shown->count && shown->bits[at / 8] >> at % 8 & 1);
}

size_t swz_sample_frames(const struct swz_profile *profile,
			 const struct swz_profile_thread *thread,
			 const struct swz_unit_set *shown,
			 const struct swz_profile_sample *sample,
			 uint32_t **path, size_t *capacity)
{
	uint32_t unit = swz_sample_context(profile, sample);
	size_t length = 0;

	while (unit != thread->record.root &&
	       swz_thread_has_node(thread, unit)) {
		const struct swz_node *node = swz_profile_node(profile, unit);

		swz_grow(path, capacity, length, sizeof(**path));
		if (!(node->open & SWZ_NODE_HIDDEN) && is_shown(shown, unit))
			(*path)[length++] = unit;
		/* parents come before their children */
		if (node->parent >= unit)
			break;
		unit = node->parent;
	}
	return length;
}

static size_t find_frames(struct listing *l, const struct listed *item)
{
	return swz_sample_frames(item->binding->profile, item->thread,
				 item->shown, &item->sample, &l->path,
				 &l->path_capacity);
}

static void add_thread(struct listing *l, const struct swz_trace *trace,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_unit_set *shown = swz_allocate(1, sizeof(*shown));
	size_t count, i;
	struct swz_profile_sample *samples = swz_samples_read(binding->profile,
							      thread, &count);

	*shown = swz_view_units(trace->view, binding, thread);
	swz_grow(&l->sets, &l->set_capacity, l->set_count,
		 sizeof(struct swz_unit_set *));
	l->sets[l->set_count++] = shown;
	for (i = 0; i < count; i++) {
		struct listed item = {
			.binding = binding,
			.thread = thread,
			.shown = shown,
			.ns = swz_trace_ns(trace, binding, samples[i].ticks),
			.sample = samples[i],
		};

		if (samples[i].ticks < trace->range.from ||
		    samples[i].ticks >= trace->range.to ||
		    (shown->bits && !find_frames(l, &item)))
			continue;
		swz_grow(&l->items, &l->capacity, l->count, sizeof(*l->items));
		l->items[l->count++] = item;
	}
	free(samples);
}

static int by_time(const void *left, const void *right)
{
	const struct listed *a = left, *b = right;

	if (a->ns != b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->thread->record.tid != b->thread->record.tid)
		return a->thread->record.tid < b->thread->record.tid ? -1 : 1;
	return (a->sample.node > b->sample.node) -
	       (a->sample.node < b->sample.node);
}

uint32_t swz_sample_function(struct swz_binding *binding, uint32_t unit)
{
	uint32_t id = swz_profile_node(binding->profile, unit)->function;

	return swz_binding_function(
		binding, swz_profile_function_by_id(binding->profile, id), id);
}

static void put_sample(FILE *stream, struct listing *l,
		       const struct swz_trace *trace, const struct listed *item)
{
	size_t length = find_frames(l, item);

	fprintf(stream, "%12.6f %8" PRId32 " ", (double)item->ns / 1e9,
		item->thread->record.tid);
	if (item->sample.processor)
		fprintf(stream, "%4" PRIu32, item->sample.processor - 1);
	else
		fputs("   -", stream);
	fputs(item->sample.waiting ? "  waits  " : "  runs   ", stream);
	while (length--) {
		uint32_t function = swz_sample_function(item->binding,
							l->path[length]);

		swz_put_text(stream, trace->catalog->functions[function].name);
		if (length)
			putc(';', stream);
	}
	putc('\n', stream);
}

void swz_write_samples(FILE *stream, struct swz_trace *trace)
{
	struct listing l = {0};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				add_thread(&l, trace, binding,
					   &binding->profile->threads[j]);
	}
	if (l.count > 1)
		qsort(l.items, l.count, sizeof(*l.items), by_time);
	fputs("#    seconds      tid  cpu  state  stack, the outermost first\n",
	      stream);
	for (i = 0; i < l.count && !ferror(stream); i++)
		put_sample(stream, &l, trace, &l.items[i]);
	for (i = 0; i < l.set_count; i++) {
		swz_unit_set_free(l.sets[i]);
		free(l.sets[i]);
	}
	free(l.sets);
	free(l.items);
	free(l.path);
}
