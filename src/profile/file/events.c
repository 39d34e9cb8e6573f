#include "profile/file/events.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/event_extent.h"
#include "profile/file/event_words.h"
#include "profile/support/memory.h"

#define CACHE_ENTRIES 4096u

/* How far up the stack an end may find its begin. What is farther is stray: a
 * forged file could make each search as long as it is itself. */
#define MOST_TORN 1024u

/* How long a path of contexts may be: more means a circle. */
#define MOST_PATH (1u << 20)

struct node {
	uint32_t unit; /* 0: none */
	uint32_t function;
	uint64_t call_site;
	bool hidden;
};

struct frame {
	struct node node;
	uint8_t how;
	bool cut; /* its begin is made up */
};

struct swz_events {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	struct swz_event_words *words;
	uint64_t ticks; /* latest read; never goes back */
	uint64_t now;   /* of what is handed out */
	uint64_t first; /* of the first event */
	/* what is open */
	struct frame *stack;
	size_t depth, visible, capacity;
	/* what is to be handed out before the next is read */
	size_t begun; /* of the stack: so many have been begun */
	size_t keep;  /* of the stack: what lies above ends */
	uint8_t ending;
	bool ending_cut;
	bool has_raw;
	struct swz_event_word raw;
	bool started, finished, in_range, show_hidden;
	const struct swz_unit_set *shown; /* NULL: all */
	uint64_t from, to;
	struct swz_event_extent extent;
	/* times without events, in the range: before and after all others */
	struct gap {
		uint64_t from, to;
	} before, after;
	struct gap *in; /* the one that has begun and not ended */
	struct swz_events_damage damage;
	struct node cache[CACHE_ENTRIES];
};

struct swz_events *swz_events_open(const struct swz_profile *profile,
				   const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_allocate(1, sizeof(*events));

	events->profile = profile;
	events->thread = thread;
	events->words = swz_event_words_open(profile, thread);
	events->ticks = thread->record.start_ticks;
	events->extent = swz_event_extent(profile, thread);
	swz_events_limit(events, 0, UINT64_MAX);
	return events;
}

void swz_events_close(struct swz_events *events)
{
	if (!events)
		return;
	swz_event_words_close(events->words);
	free(events->stack);
	free(events);
}

void swz_events_show_hidden(struct swz_events *events)
{
	events->show_hidden = true;
}

void swz_events_show_only(struct swz_events *events,
			  const struct swz_unit_set *shown)
{
	events->shown = shown;
}

static struct gap limit(const struct swz_events *events, uint64_t from,
			uint64_t to)
{
	if (from < events->from)
		from = events->from;
	if (to > events->to)
		to = events->to;
	return (struct gap){from, to > from ? to : from};
}

void swz_events_limit(struct swz_events *events, uint64_t from, uint64_t to)
{
	events->from = from;
	events->to = to;
	events->before = limit(events, events->thread->record.start_ticks,
			       events->extent.from);
	events->after = limit(events, events->extent.to,
			      events->thread->last_ticks);
}

const struct swz_events_damage *swz_events_damage(
	const struct swz_events *events)
{
	return &events->damage;
}

uint64_t swz_events_position(const struct swz_events *events)
{
	return swz_event_words_position(events->words);
}

uint64_t swz_events_size(const struct swz_profile_thread *thread)
{
	uint64_t size = 0;
	size_t i;

	for (i = 0; i < thread->event_chunk_count; i++)
		size += thread->event_chunks[i].bytes;
	return size;
}

bool swz_profile_traced(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_TRACED;
}

uint64_t swz_profile_origin(const struct swz_profile *profile)
{
	uint64_t origin = UINT64_MAX;
	size_t i;

	if (profile->origin_ticks)
		return profile->origin_ticks;
	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].record.start_ticks < origin)
			origin = profile->threads[i].record.start_ticks;
	return profile->thread_count ? origin : profile->header.start_ticks;
}

int64_t swz_events_ns(const struct swz_profile *profile, uint64_t ticks)
{
	return swz_profile_ns(profile,
			      (int64_t)(ticks - swz_profile_origin(profile)));
}

/* ---- what the file says ---- */

static bool is_left_out(const struct swz_unit_set *shown, uint32_t unit)
{
	uint32_t at = unit - shown->first;

	return at >= shown->count || !(shown->bits[at / 8] >> at % 8 & 1);
}

/* NULL: no node of this thread. */
static const struct node *find_node(struct swz_events *events, uint32_t unit)
{
	struct node *node = &events->cache[unit % CACHE_ENTRIES];
	const struct swz_node *slot;

	if (node->unit == unit && unit)
		return node;
	if (!swz_thread_has_node(events->thread, unit))
		return NULL;
	slot = swz_profile_node(events->profile, unit);
	if (slot->function == SWZ_FUNCTION_NONE ||
	    slot->function == SWZ_FUNCTION_ROOT)
		return NULL;
	*node = (struct node){
		.unit = unit,
		.function = swz_profile_function_by_id(events->profile,
						       slot->function),
		.call_site = slot->call_site,
		.hidden = slot->function == SWZ_FUNCTION_OURSELVES ||
			  slot->open & SWZ_NODE_HIDDEN ||
			  (events->shown && is_left_out(events->shown, unit)),
	};
	return node;
}

static bool next_raw(struct swz_events *events)
{
	uint64_t last = events->thread->last_ticks;
	struct swz_event_word *raw = &events->raw;

	while (swz_event_words_next(events->words, raw)) {
		if (raw->kind > SWZ_EVENT_JUMP) {
			events->damage.foreign++;
			continue;
		}
		if (raw->ticks < events->ticks)
			raw->ticks = events->ticks;
		/* the file may be read while it is written */
		if (raw->ticks > last)
			raw->ticks = last > events->ticks ? last
							  : events->ticks;
		events->ticks = raw->ticks;
		return true;
	}
	events->damage.lost_pages = swz_event_words_lost(events->words);
	return false;
}

/* ---- what is open ---- */

static void push(struct swz_events *events, const struct node *node,
		 uint8_t how, bool cut)
{
	swz_grow(&events->stack, &events->capacity, events->depth,
		 sizeof(*events->stack));
	events->stack[events->depth++] = (struct frame){
		.node = *node, .how = how, .cut = cut};
	events->keep = events->depth;
}

static bool is_begin(uint8_t kind)
{
	return kind == SWZ_EVENT_ENTER || kind == SWZ_EVENT_RESUME ||
	       kind == SWZ_EVENT_JUMP;
}

/* What was open before the first event: its context, and itself if it ends. */
static void push_path(struct swz_events *events)
{
	uint32_t unit = events->raw.unit;
	size_t length = 0, i;

	if (!find_node(events, unit))
		return;
	if (is_begin(events->raw.kind))
		unit = swz_profile_node(events->profile, unit)->parent;
	while (find_node(events, unit) && length < MOST_PATH) {
		const struct node *node = find_node(events, unit);

		push(events, node, SWZ_EVENT_ENTER, true);
		length++;
		unit = swz_profile_node(events->profile, unit)->parent;
	}
	if (length == MOST_PATH)
		events->depth = length = 0;
	for (i = 0; i < length / 2; i++) {
		struct frame frame = events->stack[i];

		events->stack[i] = events->stack[length - 1 - i];
		events->stack[length - 1 - i] = frame;
	}
	events->keep = events->depth;
}

/* The end of a node's activation: what lies above it ends, too. */
static void end_node(struct swz_events *events)
{
	size_t i = events->depth, least;

	least = i > MOST_TORN ? i - MOST_TORN : 0;
	while (i > least && events->stack[i - 1].node.unit != events->raw.unit)
		i--;
	if (i == least) {
		events->damage.stray++;
		return;
	}
	events->damage.torn += events->depth - i;
	events->keep = i - 1;
	events->ending = events->raw.kind;
	events->ending_cut = false;
}

static void take_raw(struct swz_events *events)
{
	const struct node *node;

	events->now = events->raw.ticks;
	if (is_begin(events->raw.kind)) {
		node = find_node(events, events->raw.unit);
		if (node)
			push(events, node, events->raw.kind, false);
		else
			events->damage.foreign++;
	} else if (events->depth &&
		   events->stack[events->depth - 1].node.unit ==
			   events->raw.unit) {
		events->keep = events->depth - 1;
		events->ending = events->raw.kind;
		events->ending_cut = false;
	} else {
		end_node(events);
	}
}

static void end_all(struct swz_events *events)
{
	events->finished = true;
	events->keep = 0;
	events->ending = SWZ_EVENT_SUSPEND;
	events->ending_cut = true;
	if (events->ticks < events->extent.to)
		events->ticks = events->extent.to;
	events->now = events->to < events->ticks ? events->to : events->ticks;
}

/* ---- what is handed out ---- */

static void describe(const struct swz_events *events, const struct frame *frame,
		     struct swz_event *event)
{
	*event = (struct swz_event){
		.node = frame->node.unit,
		.function = frame->node.function,
		.call_site = frame->node.call_site,
		.depth = (uint32_t)events->visible,
		.ticks = events->now,
	};
}

/* Something that the stack still owes: what is in it and has not begun; what
 * is to end. */
static bool hand_out(struct swz_events *events, struct swz_event *event)
{
	struct frame *frame;

	while (events->in_range && events->begun < events->depth &&
	       events->begun < events->keep) {
		frame = &events->stack[events->begun++];
		if (frame->node.hidden && !events->show_hidden)
			continue;
		describe(events, frame, event);
		event->begins = true;
		event->how = frame->how;
		event->cut = frame->cut;
		events->visible++;
		return true;
	}
	while (events->keep < events->depth) {
		bool begun = events->begun == events->depth;

		frame = &events->stack[--events->depth];
		if (!begun)
			continue;
		events->begun--;
		if (frame->node.hidden && !events->show_hidden)
			continue;
		events->visible--;
		describe(events, frame, event);
		/* what was torn off has no end of its own */
		event->how = events->ending;
		event->cut = events->ending_cut || events->depth > events->keep;
		event->stopped = events->ending_cut &&
				 events->now == events->extent.to &&
				 events->now < events->thread->last_ticks;
		return true;
	}
	return false;
}

/* From now on events are handed out; what is open begins here. */
static void enter_range(struct swz_events *events)
{
	size_t i;

	events->in_range = true;
	events->now = events->from > events->first ? events->from
						   : events->first;
	/* nothing is known of the time before the first event */
	if (events->first >= events->to)
		events->depth = events->keep = 0;
	for (i = 0; i < events->depth; i++)
		events->stack[i].cut = true;
}

static bool next_activation(struct swz_events *events, struct swz_event *event)
{
	for (;;) {
		if (hand_out(events, event))
			return true;
		if (events->finished)
			return false;
		/* a call without a time ends as soon as it has begun */
		if (events->depth &&
		    events->stack[events->depth - 1].how == SWZ_EVENT_JUMP &&
		    !events->stack[events->depth - 1].cut) {
			events->keep = events->depth - 1;
			events->ending = SWZ_EVENT_RETURN;
			events->ending_cut = false;
			continue;
		}
		if (!events->has_raw) {
			events->has_raw = next_raw(events);
			if (!events->has_raw && !events->in_range) {
				/* all that is still open may be in it */
				if (events->extent.to < events->from) {
					events->finished = true;
					return false;
				}
				enter_range(events);
				continue;
			}
			if (!events->has_raw) {
				end_all(events);
				continue;
			}
			if (!events->started) {
				events->started = true;
				events->first = events->raw.ticks;
				push_path(events);
			}
		}
		if (!events->in_range && events->raw.ticks >= events->from) {
			enter_range(events);
			continue;
		}
		if (events->raw.ticks >= events->to &&
		    events->to < events->thread->last_ticks) {
			end_all(events);
			continue;
		}
		events->has_raw = false;
		take_raw(events);
	}
}

/* Begins or ends a time without events. */
static bool turn_gap(struct swz_events *events, struct gap *gap,
		     struct swz_event *event)
{
	bool begins = !events->in;

	if (gap->from == gap->to)
		return false;
	*event = (struct swz_event){
		.begins = begins,
		.cut = true,
		.untraced = true,
		.how = begins ? SWZ_EVENT_RESUME : SWZ_EVENT_SUSPEND,
		.function = SWZ_INDEX_NONE,
		.ticks = begins ? gap->from : gap->to,
	};
	events->in = begins ? gap : NULL;
	if (!begins)
		gap->from = gap->to;
	return true;
}

bool swz_events_next(struct swz_events *events, struct swz_event *event)
{
	return turn_gap(events, &events->before, event) ||
	       next_activation(events, event) ||
	       turn_gap(events, &events->after, event);
}
