/* An event is the ticks since the one before, times eight, plus what it is. The
 * beginning of an activation is followed by its context: which child it is of
 * the one that is current, from 1, or 0 and the context's number where it is
 * none of its (fibers, folded contexts). What is hidden is left out.
 *
 * Blocks are of a size that a browser can inflate at once. */

#include "profile/formats/html_events.h"

#include <stdlib.h>

#include "profile/costs/untraced.h"
#include "profile/file/events.h"
#include "profile/support/memory.h"
#include "profile/formats/page_block.h"
#include "profile/support/progress.h"

#define LEVEL 4 /* of compression: there may be much */
#define BLOCK_BYTES ((uint64_t)8 << 20)
#define PROGRESS_BYTES ((uint64_t)1 << 20)

enum what {
	BEGIN = 0,
	END = 1,
	UNWIND = 2,
	BEGIN_NO_CALL = 3,
	/* not when it began or ended, but when what is known of it does */
	BEGIN_CUT = 4,
	END_CUT = 5
};

/* An open activation. */
struct open {
	bool hidden;
	uint32_t current; /* the context that calls are made in meanwhile */
};

struct writer {
	FILE *stream;
	size_t number; /* the thread's */
	size_t blocks;
	struct swz_page_block *block;
	const struct swz_contexts *contexts;
	uint32_t *child;   /* per context: which of its parent's it is */
	uint32_t *current; /* per context: in which one it is during a call */
	struct open *stack;
	size_t depth; /* of the stack */
	size_t capacity;
	uint64_t shown; /* open activations that are not hidden */
	uint64_t ticks; /* of the last event */
	struct swz_html_events *written;
};

/* A folded call is in the context further up that has its function. */
static uint32_t current_of(const struct swz_contexts *contexts, uint32_t index)
{
	uint32_t function = contexts->items[index].function;
	uint32_t at = index;

	while (contexts->items[at].folded && at != SWZ_CONTEXT_ROOT) {
		do
			at = contexts->items[at].parent;
		while (at != SWZ_CONTEXT_ROOT &&
		       contexts->items[at].function != function);
	}
	return at;
}

static void number_contexts(struct writer *w)
{
	const struct swz_contexts *contexts = w->contexts;
	uint32_t *count = swz_allocate(contexts->count, sizeof(*count));
	uint32_t i;

	w->child = swz_allocate(contexts->count, sizeof(*w->child));
	w->current = swz_allocate(contexts->count, sizeof(*w->current));
	for (i = 1; i < contexts->count; i++) {
		w->child[i] = ++count[contexts->items[i].parent];
		w->current[i] = current_of(contexts, i);
	}
	free(count);
}

static uint32_t current(const struct writer *w)
{
	return w->depth ? w->stack[w->depth - 1].current : SWZ_CONTEXT_ROOT;
}

static void put(struct writer *w, uint64_t ticks, enum what what)
{
	if (w->block && swz_page_block_size(w->block) >= BLOCK_BYTES) {
		swz_page_block_end(w->block);
		w->block = NULL;
	}
	if (!w->block) {
		char name[64];

		snprintf(name, sizeof(name), "events %zu %zu", w->number,
			 w->blocks++);
		w->block = swz_page_block_begin(w->stream, name, LEVEL);
	}
	swz_page_block_number(w->block,
			      (ticks - w->ticks) << 3 | (uint64_t)what);
	w->ticks = ticks;
	w->written->events++;
}

static void begin(struct writer *w, const struct swz_event *event)
{
	uint32_t context = swz_map_get(&w->contexts->units, event->node, 0);
	uint32_t at = current(w);

	bool hidden = context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT;

	swz_grow(&w->stack, &w->capacity, w->depth, sizeof(*w->stack));
	w->stack[w->depth++] = (struct open){
		.hidden = hidden,
		.current = hidden ? at : w->current[context],
	};
	if (hidden)
		return;
	put(w, event->ticks,
	    event->cut                       ? BEGIN_CUT
	    : event->how == SWZ_EVENT_RESUME ? BEGIN_NO_CALL
					     : BEGIN);
	if (w->contexts->items[context].parent == at) {
		swz_page_block_number(w->block, w->child[context]);
	} else {
		swz_page_block_number(w->block, 0);
		swz_page_block_number(w->block, context);
	}
	w->written->activations++;
	if (++w->shown > w->written->deepest)
		w->written->deepest = w->shown;
}

static void end(struct writer *w, const struct swz_event *event)
{
	if (!w->depth || w->stack[--w->depth].hidden)
		return;
	put(w, event->ticks,
	    event->cut                       ? END_CUT
	    : event->how == SWZ_EVENT_UNWIND ? UNWIND
					     : END);
	w->shown--;
}

static void put_all(struct writer *w, struct swz_events *events, uint64_t total)
{
	struct swz_event event;
	uint64_t done = 0;

	swz_progress_stage("writing events", total);
	while (!ferror(w->stream) && swz_events_next(events, &event)) {
		if (event.begins)
			begin(w, &event);
		else
			end(w, &event);
		if (swz_events_position(events) - done >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(events) - done);
			done = swz_events_position(events);
		}
	}
	swz_progress_end();
}

static void describe_untraced(const struct swz_profile *profile,
			      const struct swz_profile_thread *thread,
			      struct swz_html_events *written)
{
	struct swz_untraced untraced = swz_untraced(profile, thread);

	written->untraced_calls = untraced.calls;
	written->untraced_ns = swz_profile_ns(profile, untraced.ticks);
	written->untraced_own_ns = swz_profile_ns(profile, untraced.own_ticks);
}

void swz_html_put_events(FILE *stream, size_t number,
			 const struct swz_section *section,
			 struct swz_html_events *written)
{
	const struct swz_profile_thread *thread = section->thread;
	const struct swz_profile *profile = section->profile;
	struct writer w = {
		.stream = stream,
		.number = number,
		.contexts = section->contexts,
		.ticks = swz_profile_origin(profile),
		.written = written,
	};
	struct swz_events *events = swz_events_open(profile, thread);

	*written = (struct swz_html_events){
		.untraced = thread->record.untraced,
		.short_calls = thread->record.short_calls,
	};
	describe_untraced(profile, thread, written);
	if (section->range)
		swz_events_limit(events, section->range->from,
				 section->range->to);
	number_contexts(&w);
	put_all(&w, events, swz_events_size(thread));
	swz_events_close(events);
	if (w.block)
		swz_page_block_end(w.block);
	free(w.child);
	free(w.current);
	free(w.stack);
}
