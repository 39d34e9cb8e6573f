/* -f calls-html. A browser holds only so many calls. Of a trace that has more,
 * the longest are shown: a call is at least as long as those in it, so all
 * around them are there, too. The trace is read twice then, first for how long
 * its calls take. */

#include "profile/formats/calls_html.h"

#include <stdlib.h>

#include "profile/formats/calls_page.h"
#include "profile/support/memory.h"

/* Durations are told apart to 3 %. */
#define STEPS 32u
#define BUCKETS (64u * STEPS)

/* The bucket of a duration, and the least one of a bucket. */
static size_t bucket_of(uint64_t ns)
{
	size_t exponent;

	if (ns < STEPS)
		return ns;
	exponent = 63 - (size_t)__builtin_clzll(ns);
	return (exponent - 4) * STEPS + (ns >> (exponent - 5)) - STEPS;
}

static uint64_t least_of(size_t bucket)
{
	size_t exponent = bucket / STEPS;

	return exponent < 1 ? bucket
			    : (STEPS + bucket % STEPS) << (exponent - 1);
}

struct durations {
	uint64_t *starts; /* ticks, of the calls that are open */
	size_t depth, capacity;
	uint64_t count[BUCKETS], all;
};

static void add_thread(struct durations *d, FILE *stream,
		       struct swz_trace *trace, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(trace, binding, thread);
	struct swz_event event;

	d->depth = 0;
	while (swz_trace_next(stream, trace, events, &event)) {
		if (event.begins) {
			swz_grow(&d->starts, &d->capacity, d->depth,
				 sizeof(*d->starts));
			d->starts[d->depth++] = event.ticks;
		} else if (d->depth) {
			int64_t ns = swz_profile_ns(
				binding->profile,
				(int64_t)(event.ticks - d->starts[--d->depth]));

			d->count[bucket_of(ns > 0 ? (uint64_t)ns : 0)]++;
			d->all++;
		}
	}
	swz_trace_close(trace, events, thread);
}

/* Of which no more than MOST are as long. */
static int64_t least_that_fits(const struct durations *d, uint64_t most,
			       int64_t asked)
{
	uint64_t calls = 0;
	int64_t least;
	size_t i;

	for (i = BUCKETS - 1; i && calls + d->count[i - 1] <= most; i--)
		calls += d->count[i - 1];
	/* where very many take the same time, the page ends when it is full */
	if (i && calls < most / 2)
		i--;
	/* (ticks are cut to whole ns) */
	least = (int64_t)least_of(i) + 1;
	return least > asked ? least : asked;
}

static void forget_counts(struct swz_event_choice *choice)
{
	choice->calls = choice->left_out = choice->counter = 0;
	choice->rules.left_out = choice->rules.undecided = 0;
}

/* Leaves short calls out until there are MOST at the most. Whether it did. */
static bool make_room(FILE *stream, struct swz_trace *trace, uint64_t most)
{
	struct durations *d = swz_allocate(1, sizeof(*d));
	size_t i, j;
	bool cuts;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				add_thread(d, stream, trace, binding,
					   &binding->profile->threads[j]);
	}
	forget_counts(&trace->choice);
	cuts = d->all > most;
	if (cuts)
		trace->choice.limits.min_ns = least_that_fits(
			d, most, trace->choice.limits.min_ns);
	free(d->starts);
	free(d);
	return cuts;
}

void swz_write_calls_html(FILE *stream, struct swz_trace *trace)
{
	struct swz_calls_about about = {0};
	uint64_t most = trace->calls->rows;
	struct swz_calls_page page;

	about.for_room = most && make_room(stream, trace, most);
	about.least_ns = trace->choice.limits.min_ns;
	swz_calls_page_begin(&page, stream, most);
	swz_calls_walk(trace, &page.sink);
	about.left_out = trace->choice.left_out;
	about.all = trace->choice.calls;
	if (!swz_event_limits_any(&trace->choice.limits))
		about.all = page.calls + page.cut;
	swz_calls_page_end(&page, trace, &about);
}
