/* The events of all threads are read in the order of time. Each thread has a
 * cause, or none: the call, in the contexts that are made, by which it was
 * woken or created last. A call belongs to its caller where that runs for the
 * same cause, otherwise to the cause.
 *
 * What a thread is told in answer to what it has posted itself is no work for
 * another: it goes on for the cause for which it had posted. So chains of
 * causes have each thread once, and threads that talk to each other for hours
 * make no deep trees.
 *
 * Times are those of the thread's contexts, which know what hooks took:
 * they are divided among the places of a context by the raw times that the
 * events have there, so that nothing is lost or counted twice. */

#include "profile/costs/groups.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/file/events.h"

#define NONE UINT32_MAX

/* A call that has posted something. */
struct cause {
	uint32_t context; /* of the result */
	uint32_t walker;  /* whose call it is */
	uint32_t outer;   /* the cause for which it was made, or NONE */
	bool starts;      /* a thread or a process */
};

/* A part of a context: in one place of the result. */
struct part {
	uint32_t own; /* the thread's context */
	uint32_t to;  /* the result's */
	uint64_t calls, unwound;
	uint64_t raw; /* ticks */
};

struct frame {
	bool hidden, pending; /* pending: where it belongs its end says */
	uint32_t cause;       /* for which it runs */
	uint32_t own;         /* context of its calls */
	uint32_t placed;      /* the same of the result */
	uint32_t calls, time; /* parts */
	uint64_t begin;
	bool is_call;
};

/* A thread on its way through its events. */
struct walker {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	uint32_t process, index; /* of the thread */
	struct swz_contexts own;
	struct swz_events *events;
	struct swz_event event, next;
	bool has_event, has_next;
	struct swz_flow_reader flows;
	const struct swz_flow *flow; /* the next one, or NULL */
	bool is_to;
	uint32_t cause;
	uint64_t received, before; /* ticks: when a cause came to it last, and
				    * when the one before */
	struct frame *stack;
	size_t depth, capacity;
	struct part *parts;
	size_t part_count, part_capacity;
	struct swz_map part_index; /* (own, to) */
	uint64_t now;
	uint64_t from, to; /* what happens then counts */
};

struct swz_causes {
	struct walker *walkers;
	size_t count, capacity;
	struct cause *causes;
	size_t cause_count, cause_capacity;
	struct swz_map cause_index;
	struct swz_map posted; /* (flow, 0): its cause */
	const struct swz_flow *first_flow;
	struct swz_contexts *to;
};

struct swz_causes *swz_causes_begin(void)
{
	return swz_allocate(1, sizeof(struct swz_causes));
}

void swz_causes_free(struct swz_causes *causes)
{
	size_t i;

	if (!causes)
		return;
	for (i = 0; i < causes->count; i++) {
		struct walker *w = &causes->walkers[i];

		swz_contexts_free(&w->own);
		swz_events_close(w->events);
		swz_map_free(&w->part_index);
		free(w->stack);
		free(w->parts);
	}
	swz_map_free(&causes->cause_index);
	swz_map_free(&causes->posted);
	free(causes->causes);
	free(causes->walkers);
	free(causes);
}

void swz_causes_add(struct swz_causes *causes, uint32_t process,
		    uint32_t thread, const struct swz_profile *profile,
		    struct swz_contexts *own)
{
	swz_grow(&causes->walkers, &causes->capacity, causes->count,
		 sizeof(*causes->walkers));
	causes->walkers[causes->count++] = (struct walker){
		.profile = profile,
		.thread = &profile->threads[thread],
		.process = process,
		.index = thread,
		.own = *own,
		.cause = NONE,
	};
	*own = (struct swz_contexts){0};
}

/* --- causes -------------------------------------------------------------- */

/* Whoever waits for a lock or for an end is not given work by it. */
static bool posts(const struct swz_flow *flow)
{
	const char *from = flow->from.function;

	return strcmp(from, "pthread_mutex_unlock") != 0 &&
	       strcmp(from, "thread") != 0 && strcmp(from, "process") != 0;
}

static bool starts(const struct swz_flow *flow)
{
	const char *to = flow->to.function;

	return strcmp(to, "thread") == 0 || strcmp(to, "process") == 0 ||
	       strcmp(to, "exec") == 0;
}

static uint32_t find_cause(struct swz_causes *causes, struct cause cause)
{
	uint32_t *found = swz_map_at(
		&causes->cause_index,
		(uint64_t)cause.context << 1 | cause.starts,
		(uint64_t)cause.walker << 32 | cause.outer);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)causes->cause_count;
		swz_grow(&causes->causes, &causes->cause_capacity,
			 causes->cause_count, sizeof(*causes->causes));
		causes->causes[causes->cause_count++] = cause;
	}
	return *found;
}

/* Finds in the chain of CAUSE what the thread itself has posted. */
static bool is_answer(const struct swz_causes *causes, uint32_t cause,
		      uint32_t walker, uint32_t *own)
{
	while (cause != NONE && !causes->causes[cause].starts) {
		if (causes->causes[cause].walker == walker) {
			*own = causes->causes[cause].outer;
			return true;
		}
		cause = causes->causes[cause].outer;
	}
	return false;
}

/* --- parts --------------------------------------------------------------- */

static uint32_t part_of(struct walker *w, uint32_t own, uint32_t to)
{
	uint32_t *found = swz_map_at(&w->part_index, own, to);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)w->part_count;
		swz_grow(&w->parts, &w->part_capacity, w->part_count,
			 sizeof(*w->parts));
		w->parts[w->part_count++] = (struct part){.own = own, .to = to};
	}
	return *found;
}

/* --- frames -------------------------------------------------------------- */

static struct frame *top_of(struct walker *w, size_t depth)
{
	static struct frame base = {.hidden = true, .cause = NONE};

	return depth ? &w->stack[depth - 1] : &base;
}

/* Where a folded call goes on in the result: further up, unless that lies
 * beyond the call that it is for. */
static uint32_t folded_into(const struct swz_contexts *to, uint32_t at,
			    uint32_t function)
{
	while (at != SWZ_CONTEXT_ROOT && to->items[at].function != function)
		at = to->items[at].parent;
	return at;
}

/* Gives the innermost frame, made in the frame below DEPTH, its place. */
static void place(struct swz_causes *causes, struct walker *w,
		  struct frame *frame, size_t depth, uint32_t cause)
{
	struct swz_contexts *to = causes->to;
	const struct swz_context *own = &w->own.items[frame->own];
	const struct frame *above = top_of(w, depth);
	uint32_t at = above->placed, up;
	bool folded = own->folded;

	frame->pending = false;
	frame->cause = cause;
	if (cause != NONE && above->cause != cause) {
		at = swz_contexts_caused(to, causes->causes[cause].context,
					 own->function, own->place);
	} else {
		up = folded ? folded_into(to, at, own->function)
			    : SWZ_CONTEXT_ROOT;
		folded = up != SWZ_CONTEXT_ROOT;
		at = swz_contexts_child(to, at, own->function, own->place,
					folded);
		if (folded) {
			frame->calls = part_of(w, frame->own, at);
			frame->time = part_of(
				w, swz_contexts_current(&w->own, frame->own),
				up);
			frame->placed = up;
			return;
		}
	}
	frame->calls = part_of(w, frame->own, at);
	frame->time = own->folded ? part_of(w,
					    swz_contexts_current(&w->own,
								 frame->own),
					    at)
				  : frame->calls;
	frame->placed = at;
}

static uint64_t within(const struct walker *w, uint64_t from, uint64_t to)
{
	if (from < w->from)
		from = w->from;
	if (to > w->to)
		to = w->to;
	return to > from ? to - from : 0;
}

/* Until TICKS it was in the innermost frame. */
static void spend(struct walker *w, uint64_t ticks)
{
	const struct frame *top = top_of(w, w->depth);
	uint32_t part;

	if (ticks <= w->now)
		return;
	part = w->depth ? top->time
			: part_of(w, SWZ_CONTEXT_ROOT, SWZ_CONTEXT_ROOT);
	if (!w->depth || !top->pending)
		w->parts[part].raw += within(w, w->now, ticks);
	w->now = ticks;
}

static void settle(struct swz_causes *causes, struct walker *w, size_t depth,
		   uint32_t cause)
{
	struct frame *top = top_of(w, w->depth);

	place(causes, w, top, depth, cause);
	w->parts[top->calls].calls += top->is_call;
	w->parts[top->time].raw += within(w, top->begin, w->now);
}

static void begin(struct swz_causes *causes, struct walker *w)
{
	const struct swz_event *event = &w->event;
	uint32_t own = swz_map_get(&w->own.units,
				   event->untraced ? 0 : event->node, 0);
	struct frame frame = *top_of(w, w->depth);

	spend(w, event->ticks);
	frame.hidden = own == SWZ_MAP_NONE || own == SWZ_CONTEXT_ROOT;
	swz_grow(&w->stack, &w->capacity, w->depth, sizeof(*w->stack));
	if (frame.hidden) {
		if (!w->depth)
			frame.time = frame.calls = part_of(w, SWZ_CONTEXT_ROOT,
							   SWZ_CONTEXT_ROOT);
		w->stack[w->depth++] = frame;
		return;
	}
	frame = (struct frame){
		.own = own,
		.pending = true,
		.begin = event->ticks,
		/* for what it was called */
		.cause = event->untraced ? NONE : w->cause,
		.is_call = !event->cut && event->how != SWZ_EVENT_RESUME &&
			   event->ticks >= w->from && event->ticks < w->to,
	};
	w->stack[w->depth++] = frame;
	if (!w->has_next || w->next.begins)
		settle(causes, w, w->depth - 1, frame.cause);
}

/* A call that has received the thread's next cause is not for the one before:
 * it belongs to the nearest caller that was there before that one came. */
static void end_pending(struct swz_causes *causes, struct walker *w)
{
	uint32_t cause = top_of(w, w->depth)->cause;
	size_t depth = w->depth - 1;

	if (w->received == w->event.ticks && cause != NONE &&
	    !causes->causes[cause].starts) {
		while (depth && top_of(w, depth)->cause == cause &&
		       top_of(w, depth)->begin >= w->before)
			depth--;
		cause = top_of(w, depth)->cause;
	}
	settle(causes, w, depth, cause);
}

static void end(struct swz_causes *causes, struct walker *w)
{
	const struct frame *top;

	if (!w->depth)
		return;
	spend(w, w->event.ticks);
	if (top_of(w, w->depth)->pending)
		end_pending(causes, w);
	top = top_of(w, w->depth);
	if (!top->hidden && w->event.how == SWZ_EVENT_UNWIND &&
	    w->event.ticks >= w->from && w->event.ticks < w->to)
		w->parts[top->calls].unwound++;
	w->depth--;
}

/* --- all threads, in the order of time ------------------------------------ */

/* The jobs that it posts. */
static void post(struct swz_causes *causes, struct walker *w)
{
	uint32_t flow = (uint32_t)(w->flow - causes->first_flow);
	const struct frame *top;

	if (!w->depth)
		return;
	spend(w, w->flow->from.ticks);
	if (top_of(w, w->depth)->pending)
		settle(causes, w, w->depth - 1, top_of(w, w->depth)->cause);
	top = top_of(w, w->depth);
	*swz_map_at(&causes->posted, flow, 0) = find_cause(
		causes, (struct cause){
				.context = top->placed,
				.walker = (uint32_t)(w - causes->walkers),
				.outer = top->cause,
				.starts = starts(w->flow),
			});
}

static void receive(struct swz_causes *causes, struct walker *w)
{
	uint32_t cause = swz_map_get(
		&causes->posted, (uint32_t)(w->flow - causes->first_flow), 0);
	uint32_t walker = (uint32_t)(w - causes->walkers), own;

	/* (whoever posted it is not shown) */
	if (cause == SWZ_MAP_NONE || causes->causes[cause].walker == walker)
		return;
	if (is_answer(causes, cause, walker, &own)) {
		w->cause = own;
		return;
	}
	w->cause = cause;
	w->before = w->received;
	w->received = w->flow->to.ticks;
}

static void next_flow(struct walker *w)
{
	do
		w->flow = swz_flow_reader_next(&w->flows, UINT64_MAX,
					       &w->is_to);
	while (w->flow && !posts(w->flow));
}

static void next_event(struct walker *w)
{
	w->event = w->next;
	w->has_event = w->has_next;
	if (w->has_next)
		w->has_next = swz_events_next(w->events, &w->next);
}

/* A thread begins for its cause: all that it does is caused. */
static uint64_t flow_ticks(const struct walker *w)
{
	if (!w->is_to)
		return w->flow->from.ticks;
	return starts(w->flow) ? w->thread->record.start_ticks
			       : w->flow->to.ticks;
}

static bool flow_is_next(const struct walker *w)
{
	return w->flow && (!w->has_event || flow_ticks(w) <= w->event.ticks);
}

/* When something happens next; what is posted before what is received. */
static uint64_t moment_of(const struct walker *w)
{
	if (flow_is_next(w))
		return flow_ticks(w);
	return w->has_event ? w->event.ticks : UINT64_MAX;
}

static bool earlier(const struct walker *a, const struct walker *b)
{
	uint64_t x = moment_of(a), y = moment_of(b);

	if (x != y)
		return x < y;
	return flow_is_next(b) && b->is_to && !(flow_is_next(a) && a->is_to);
}

static void sink(struct swz_causes *causes, uint32_t *heap, size_t count,
		 size_t at)
{
	for (;;) {
		size_t least = at, child = 2 * at + 1;
		uint32_t other;

		for (size_t i = child; i < child + 2 && i < count; i++)
			if (earlier(&causes->walkers[heap[i]],
				    &causes->walkers[heap[least]]))
				least = i;
		if (least == at)
			return;
		other = heap[at];
		heap[at] = heap[least];
		heap[least] = other;
		at = least;
	}
}

static void step(struct swz_causes *causes, struct walker *w)
{
	if (flow_is_next(w)) {
		if (w->is_to)
			receive(causes, w);
		else
			post(causes, w);
		next_flow(w);
		return;
	}
	if (w->event.begins)
		begin(causes, w);
	else
		end(causes, w);
	next_event(w);
}

/* (what was posted before a range leads to work in it) */
static void open_walker(struct swz_causes *causes, struct walker *w,
			const struct swz_flows *flows,
			const struct swz_range *range)
{
	causes->first_flow = flows ? flows->of : NULL;
	swz_flow_reader_begin(&w->flows, flows, w->process, w->index, 0);
	next_flow(w);
	w->events = swz_events_open(w->profile, w->thread);
	swz_events_show_hidden(w->events);
	w->from = range ? range->from : 0;
	w->to = range ? range->to : UINT64_MAX;
	w->now = w->thread->record.start_ticks;
	w->has_next = swz_events_next(w->events, &w->next);
	next_event(w);
}

static void walk(struct swz_causes *causes)
{
	uint32_t *heap = swz_allocate(causes->count + 1, sizeof(*heap));
	size_t count = causes->count, i;

	for (i = 0; i < count; i++)
		heap[i] = (uint32_t)i;
	for (i = count; i-- > 0;)
		sink(causes, heap, count, i);
	while (count) {
		struct walker *w = &causes->walkers[heap[0]];

		if (moment_of(w) == UINT64_MAX) {
			heap[0] = heap[--count];
		} else {
			step(causes, w);
		}
		sink(causes, heap, count, 0);
	}
	free(heap);
}

/* --- sums ---------------------------------------------------------------- */

/* A context of a thread, and how much of it has gone to its parts. */
struct share {
	uint64_t raw, raw_done;
	uint64_t calls, unwound;
	int64_t self_done, waiting_done;
};

static void add(struct swz_context *to, uint64_t calls, uint64_t unwound,
		int64_t self_ns, int64_t waiting_ns)
{
	const struct swz_context part = {.calls = calls,
					 .unwound = unwound,
					 .self_ns = self_ns,
					 .self_waiting_ns = waiting_ns};

	swz_context_merge(to, &part);
}

/* The context of the result for one of the thread's by its callers. HOME has
 * those that are known, PATH room for a path. */
static uint32_t find_home(struct swz_causes *causes, const struct walker *w,
			  uint32_t *home, uint32_t *path, uint32_t index)
{
	size_t length = 0;

	while (index != SWZ_CONTEXT_ROOT && !home[index]) {
		path[length++] = index;
		index = w->own.items[index].parent;
	}
	while (length) {
		uint32_t next = path[--length];

		home[next] = swz_contexts_like(causes->to, home[index],
					       &w->own.items[next]);
		index = next;
	}
	return home[index];
}

/* Calls of which no event tells stay where their callers are. */
static void put_rest(struct swz_causes *causes, struct walker *w,
		     const struct share *shares)
{
	uint32_t *home = swz_allocate(w->own.count, sizeof(*home));
	uint32_t *path = swz_allocate(w->own.count, sizeof(*path));
	size_t i;

	for (i = 0; i < w->own.count; i++) {
		const struct swz_context *own = &w->own.items[i];
		const struct share *s = &shares[i];
		uint64_t calls = own->calls > s->calls ? own->calls - s->calls
						       : 0;
		uint64_t unwound = own->unwound > s->unwound
					   ? own->unwound - s->unwound
					   : 0;
		int64_t self = own->self_ns - s->self_done;
		int64_t waiting = own->self_waiting_ns - s->waiting_done;
		uint32_t at;

		if (!calls && !unwound && !self && !waiting)
			continue;
		at = find_home(causes, w, home, path, (uint32_t)i);
		add(&causes->to->items[at], calls, unwound, self, waiting);
	}
	free(home);
	free(path);
}

static int64_t portion(int64_t whole, uint64_t part, uint64_t all)
{
	return (int64_t)((__int128)whole * (__int128)part / (__int128)all);
}

static void put_parts(struct swz_causes *causes, struct walker *w)
{
	struct share *shares = swz_allocate(w->own.count, sizeof(*shares));
	size_t i;

	for (i = 0; i < w->part_count; i++)
		shares[w->parts[i].own].raw += w->parts[i].raw;
	for (i = 0; i < w->part_count; i++) {
		const struct part *part = &w->parts[i];
		const struct swz_context *own = &w->own.items[part->own];
		struct share *s = &shares[part->own];
		int64_t self = 0, waiting = 0;

		s->raw_done += part->raw;
		if (s->raw) {
			self = portion(own->self_ns, s->raw_done, s->raw) -
			       s->self_done;
			waiting = portion(own->self_waiting_ns, s->raw_done,
					  s->raw) -
				  s->waiting_done;
		}
		s->self_done += self;
		s->waiting_done += waiting;
		s->calls += part->calls;
		s->unwound += part->unwound;
		add(&causes->to->items[part->to], part->calls, part->unwound,
		    self, waiting);
	}
	put_rest(causes, w, shares);
	free(shares);
}

static bool has_costs(const struct swz_context *context)
{
	return context->calls || context->unwound || context->self_ns ||
	       context->self_waiting_ns;
}

/* Leaves out what has nothing in it nor below: it is not of the range. */
static void copy(struct swz_contexts *to, const struct swz_contexts *from)
{
	uint32_t *place = swz_allocate(from->count, sizeof(*place));
	bool *used = swz_allocate(from->count, sizeof(*used));
	size_t i;

	for (i = from->count; i-- > 1;) {
		used[i] |= has_costs(&from->items[i]);
		used[from->items[i].parent] |= used[i];
	}
	for (i = 0; i < from->count; i++) {
		const struct swz_context *context = &from->items[i];

		if (i && !used[i])
			continue;
		if (i)
			place[i] = swz_contexts_like(to, place[context->parent],
						     context);
		swz_context_merge(&to->items[place[i]], context);
	}
	free(place);
	free(used);
}

void swz_causes_place(struct swz_causes *causes, const struct swz_flows *flows,
		      const struct swz_range *range, struct swz_contexts *to)
{
	struct swz_contexts all;
	size_t i;

	swz_contexts_begin(&all, to->items[SWZ_CONTEXT_ROOT].function,
			   to->by_place);
	causes->to = &all;
	for (i = 0; i < causes->count; i++)
		open_walker(causes, &causes->walkers[i], flows, range);
	walk(causes);
	for (i = 0; i < causes->count; i++)
		put_parts(causes, &causes->walkers[i]);
	copy(to, &all);
	causes->to = NULL;
	swz_contexts_free(&all);
}
