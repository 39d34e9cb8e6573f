/* --why: where a slow call's time went that an ordinary call of the same
 * function does not take. Both are read into trees of what they call, which are
 * laid one over the other by path. What is left of a node beside its twin is a
 * cause: its own running, its waiting, or calls that the other does not make.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/events.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/common/section.h"

#define NONE UINT32_MAX
#define MOST_CAUSES 8u
#define MOST_PATH 64u
#define MOST_STACK 8u

/* A call of the function, the outermost. */
struct call {
	const struct swz_binding *binding;
	const struct swz_profile_thread *thread;
	uint64_t from, to; /* ticks */
	bool partial;      /* its begin or its end is not there */
	bool ordinary;     /* kept by chance (--slow) */
	size_t number;     /* in the order in which they are read */
	char *text;        /* with its arguments, in a list; or NULL */
};

/* One path below the call. */
struct node {
	uint32_t function; /* of the catalog */
	uint32_t parent, child, sibling;
	uint64_t calls;
	int64_t ticks, inner; /* all, and in what it called */
	int64_t waiting, preempted;
	int64_t own;                  /* ticks of swizzle's work */
	int64_t longest;              /* of its calls, that waited */
	char *text;                   /* that call, if it has values; or NULL */
	const struct swz_flow *woken; /* what ended that; or NULL */
};

struct span {
	uint64_t from, to; /* ticks */
};

struct tree {
	struct node *nodes; /* 0: the call itself */
	size_t count, capacity;
	struct span *spans; /* of swizzle's work, by time */
	size_t span_count, span_capacity, next_span;
	int64_t own; /* the sum of these, ticks */
	char *text;  /* the call with its arguments */
};

struct measured {
	const struct call *call;
	struct tree tree;
};

enum cause_kind {
	CAUSE_RAN,
	CAUSE_MORE_CALLS,
	CAUSE_LOOPED,
	CAUSE_ONLY_HERE,
	CAUSE_COLLECTION,
	CAUSE_LOCK,
	CAUSE_IO,
	CAUSE_SLEEP,
	CAUSE_CHILD,
	CAUSE_WAITED,
	CAUSE_PROCESSOR,
	CAUSE_OWN,
};

static const char *const kind_names[] = {
	[CAUSE_RAN] = "ran longer",
	[CAUSE_MORE_CALLS] = "was called more often",
	[CAUSE_LOOPED] = "went round more often",
	[CAUSE_ONLY_HERE] = "was called only here",
	[CAUSE_COLLECTION] = "garbage collection",
	[CAUSE_LOCK] = "waited for a lock",
	[CAUSE_IO] = "waited for input or output",
	[CAUSE_SLEEP] = "slept",
	[CAUSE_CHILD] = "waited for a process or thread",
	[CAUSE_WAITED] = "waited",
	[CAUSE_PROCESSOR] = "waited for a processor",
	[CAUSE_OWN] = "swizzle's own work",
};

struct cause {
	enum cause_kind kind;
	int64_t ticks; /* that the slow call has more */
	uint32_t node; /* of the slow call; NONE: of no function */
	uint64_t calls, ordinary_calls; /* of the node; looped: of the most
					 * frequent one that it calls, */
	uint32_t callee;                /* this node */
	int64_t run, ordinary_run;      /* of the node's own running, ticks */
};

struct why {
	struct swz_trace *trace;
	const struct swz_patterns *of; /* the functions */
	bool with_texts;               /* listing: of the calls */
	char *text;                    /* of the open one */
	struct call *calls;
	size_t count, capacity;
	bool listing;       /* else the two calls are measured */
	size_t told;        /* calls so far */
	size_t inside;      /* the open call of the function is this deep; 0 */
	uint64_t begun;     /* when it began */
	bool begun_partial; /* the file does not have its begin */
	struct measured *measured; /* calls with their trees, by number */
	size_t measured_count, measured_capacity, next_measured;
	struct swz_trace_off off;
	struct swz_trace_flows flows;
	const struct swz_flow *woken;    /* the latest */
	const struct call *slow, *usual; /* usual: NULL, there is none */
	const struct tree *slow_tree, *usual_tree;
	struct tree *tree; /* of the open call; or NULL */
	uint32_t current;  /* node */
	int64_t waited;    /* in the innermost call, ticks */
	struct cause *causes;
	size_t cause_count, cause_capacity;
	bool unseen; /* the slow call's waiting is not known */
	/* all calls: */
	uint64_t all;
	int64_t p50, p99; /* ns */
};

/* ------------------------------------------------------------- the calls */

static int64_t ns_of(const struct call *call, int64_t ticks)
{
	return swz_profile_ns(call->binding->profile, ticks);
}

static int64_t ticks_of(const struct call *call)
{
	return (int64_t)(call->to - call->from);
}

static bool is_wanted(const struct why *why, uint32_t function)
{
	return swz_patterns_match(why->of, why->trace->catalog, function, NULL);
}

static struct why *why_of(struct swz_calls_sink *sink)
{
	return (struct why *)sink->context;
}

static void note_call(struct why *why, const struct swz_calls_walk *w,
		      const struct swz_event *event)
{
	swz_grow(&why->calls, &why->capacity, why->count, sizeof(*why->calls));
	why->calls[why->count++] = (struct call){
		.binding = w->binding,
		.thread = w->thread,
		.from = why->begun,
		.to = event->ticks,
		.partial = why->begun_partial || event->cut ||
			   event->how == SWZ_EVENT_SUSPEND,
		.number = why->told - 1,
		.text = why->text,
	};
	why->text = NULL;
}

/* ------------------------------------------------------------- the trees */

static uint32_t child_of(struct tree *tree, uint32_t parent, uint32_t function)
{
	uint32_t i = parent == NONE ? NONE : tree->nodes[parent].child;
	struct node *node;

	while (i != NONE && tree->nodes[i].function != function)
		i = tree->nodes[i].sibling;
	if (i != NONE)
		return i;
	i = (uint32_t)tree->count;
	swz_grow(&tree->nodes, &tree->capacity, tree->count,
		 sizeof(*tree->nodes));
	node = &tree->nodes[tree->count++];
	*node = (struct node){.function = function,
			      .parent = parent,
			      .child = NONE,
			      .sibling = NONE};
	if (parent != NONE) {
		node->sibling = tree->nodes[parent].child;
		tree->nodes[parent].child = i;
	}
	return i;
}

/* The part of a time that is swizzle's work. */
static int64_t own_part(const struct tree *tree, uint64_t from, uint64_t to)
{
	int64_t sum = 0;
	size_t i;

	SWZ_PARTITION(i, tree->span_count, tree->spans[i].to <= from);
	for (; i < tree->span_count && tree->spans[i].from < to; i++) {
		const struct span *span = &tree->spans[i];

		sum += (int64_t)((span->to < to ? span->to : to) -
				 (span->from > from ? span->from : from));
	}
	return sum;
}

/* Swizzle's work up to the next event, and times off the processor, are the
 * current node's. What swizzle waited for is its own. */
static void take_off_times(struct why *why, uint64_t until)
{
	struct swz_off_time time;
	const struct swz_flow *flow;
	struct tree *tree = why->tree;
	bool is_to;

	for (; tree && tree->next_span < tree->span_count &&
	       tree->spans[tree->next_span].to <= until;
	     tree->next_span++)
		tree->nodes[why->current].own +=
			(int64_t)(tree->spans[tree->next_span].to -
				  tree->spans[tree->next_span].from);
	while (swz_trace_off_next(&why->off, until, &time)) {
		int64_t ticks = (int64_t)(time.to - time.from);

		if (!tree)
			continue;
		ticks -= own_part(tree, time.from, time.to);
		if (time.preempted)
			tree->nodes[why->current].preempted += ticks;
		else
			tree->nodes[why->current].waiting += ticks;
		why->waited += time.preempted ? 0 : ticks;
	}
	while ((flow = swz_trace_flows_next(&why->flows, until, &is_to)))
		if (is_to)
			why->woken = flow;
}

static void begin_node(struct why *why, const struct swz_calls_walk *w)
{
	const struct swz_open_call_text *open = &w->open[w->count - 1];
	uint32_t parent = w->count == why->inside ? NONE : why->current;

	why->current = child_of(why->tree, parent, open->function);
	why->tree->nodes[why->current].calls++;
	if (parent == NONE)
		why->tree->text = swz_duplicate(w->begun.text);
	why->waited = 0;
	why->woken = NULL;
}

static void end_node(struct why *why, const struct swz_calls_walk *w,
		     const struct swz_event *event)
{
	const struct swz_open_call_text *open = &w->open[w->count - 1];
	struct node *node = &why->tree->nodes[why->current];
	int64_t ticks = (int64_t)(event->ticks - open->start);

	node->ticks += ticks;
	if (why->waited > node->longest) {
		node->longest = why->waited;
		node->woken = why->woken;
		free(node->text);
		/* of a call that has called others something else is begun */
		node->text = node->child == NONE ? swz_duplicate(w->begun.text)
						 : NULL;
	}
	why->waited = 0;
	if (node->parent != NONE)
		why->tree->nodes[node->parent].inner += ticks;
	why->current = node->parent;
}

/* ---------------------------------------------------------------- the walk */

static void begin_thread(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct why *why = why_of(sink);

	why->inside = 0;
	why->tree = NULL;
	if (why->listing)
		return;
	swz_trace_off_begin(&why->off, why->trace, w->thread);
	swz_trace_flows_begin(&why->flows, why->trace, w->binding, w->thread);
}

static void before_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
			uint64_t ticks)
{
	(void)w;
	if (!why_of(sink)->listing)
		take_off_times(why_of(sink), ticks);
}

/* The tree of the call that begins; NULL: it is not measured. */
static struct tree *next_tree(struct why *why)
{
	struct measured *next = &why->measured[why->next_measured];

	if (why->next_measured == why->measured_count ||
	    next->call->number != why->told)
		return NULL;
	why->next_measured++;
	return &next->tree;
}

static void begin_call(struct swz_calls_sink *sink, struct swz_calls_walk *w)
{
	struct why *why = why_of(sink);
	const struct swz_open_call_text *open = &w->open[w->count - 1];

	if (!why->inside && is_wanted(why, open->function)) {
		why->inside = w->count;
		why->begun = open->start;
		why->begun_partial = open->cut;
		if (why->with_texts)
			why->text = swz_duplicate(w->begun.text);
		if (!why->listing)
			why->tree = next_tree(why);
		why->told++;
	}
	if (why->tree)
		begin_node(why, w);
}

static void end_call(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		     const struct swz_event *event)
{
	struct why *why = why_of(sink);

	if (!why->listing)
		take_off_times(why, event->ticks);
	if (why->tree)
		end_node(why, w, event);
	if (w->count != why->inside)
		return;
	if (why->listing)
		note_call(why, w, event);
	why->inside = 0;
	why->tree = NULL;
}

static void walk(struct why *why, FILE *stream, bool listing)
{
	struct swz_calls_sink sink = {.stream = stream,
				      .context = why,
				      .thread = begin_thread,
				      .before = before_call,
				      .begin = begin_call,
				      .end = end_call};

	why->listing = listing;
	why->told = 0;
	why->trace->sought = why->of;
	swz_calls_walk(why->trace, &sink);
	why->trace->sought = NULL;
}

/* Finds swizzle's work within the call, which is hidden elsewhere. */
static void find_own_work(struct tree *tree, const struct call *call)
{
	const struct swz_profile *profile = call->binding->profile;
	struct swz_events *events = swz_events_open(profile, call->thread);
	struct swz_event event;
	uint64_t begun = 0;

	swz_events_show_hidden(events);
	swz_events_limit(events, call->from, call->to);
	while (swz_events_next(events, &event)) {
		if (event.untraced ||
		    swz_profile_node(profile, event.node)->function !=
			    SWZ_FUNCTION_OURSELVES)
			continue;
		if (event.begins) {
			begun = event.ticks;
			continue;
		}
		swz_grow(&tree->spans, &tree->span_capacity, tree->span_count,
			 sizeof(*tree->spans));
		tree->spans[tree->span_count++] = (struct span){begun,
								event.ticks};
		tree->own += (int64_t)(event.ticks - begun);
	}
	swz_events_close(events);
}

/* --------------------------------------------------------- which two calls */

static int by_time(const void *left, const void *right)
{
	const struct call *a = left, *b = right;

	if (ticks_of(a) != ticks_of(b))
		return ticks_of(a) > ticks_of(b) ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static const struct swz_kept_call *kept_of(const struct call *call)
{
	const struct swz_profile *profile = call->binding->profile;
	const struct swz_kept_call *found = NULL;
	size_t i;

	for (i = 0; i < profile->kept_call_count; i++)
		if (profile->kept_calls[i].owner == call->thread->index &&
		    profile->kept_calls[i].from <= call->from)
			found = &profile->kept_calls[i];
	return found;
}

/* The times of all calls: by the histogram of --slow, or by those of the trace.
 */
static void find_percentiles(struct why *why)
{
	const struct swz_kept_call *kept = kept_of(why->slow);
	const struct swz_profile *profile = why->slow->binding->profile;

	why->all = why->count;
	why->p50 = ns_of(why->slow, ticks_of(&why->calls[why->count / 2]));
	why->p99 = ns_of(why->slow, ticks_of(&why->calls[why->count / 100]));
	if (!kept || kept->rule >= profile->slow_rule_count)
		return;
	why->all = swz_slow_calls(&profile->slow_rules[kept->rule]);
	if (!why->all)
		return;
	why->p50 = ns_of(why->slow, (int64_t)swz_slow_percentile(
					    &profile->slow_rules[kept->rule],
					    why->all, 0.5));
	why->p99 = ns_of(why->slow, (int64_t)swz_slow_percentile(
					    &profile->slow_rules[kept->rule],
					    why->all, 0.99));
}

static void note_ordinary(struct why *why)
{
	size_t i;

	for (i = 0; i < why->count; i++) {
		const struct swz_kept_call *kept = kept_of(&why->calls[i]);

		why->calls[i].ordinary = !kept ||
					 kept->state == SWZ_CALL_ORDINARY;
		why->calls[i].partial |= kept && kept->cut;
	}
}

/* The call that is nearest to the median, and is no slow one. */
static void choose_usual(struct why *why)
{
	int64_t nearest = INT64_MAX;
	size_t i;

	for (i = 0; i < why->count; i++) {
		const struct call *call = &why->calls[i];
		int64_t far = llabs(ns_of(call, ticks_of(call)) - why->p50);

		if (call == why->slow || call->partial || !call->ordinary ||
		    ticks_of(call) >= ticks_of(why->slow) || far >= nearest)
			continue;
		nearest = far;
		why->usual = call;
	}
}

/* Calls that measure() makes trees of. */
static void want_tree(struct why *why, const struct call *call)
{
	size_t i;

	for (i = 0; i < why->measured_count; i++)
		if (why->measured[i].call == call)
			return;
	swz_grow(&why->measured, &why->measured_capacity, why->measured_count,
		 sizeof(*why->measured));
	why->measured[why->measured_count++] = (struct measured){.call = call};
}

static int by_number(const void *left, const void *right)
{
	const struct measured *a = left, *b = right;

	return a->call->number < b->call->number ? -1 : 1;
}

static void measure(struct why *why, FILE *stream)
{
	size_t i;

	qsort(why->measured, why->measured_count, sizeof(*why->measured),
	      by_number);
	why->next_measured = 0;
	for (i = 0; i < why->measured_count; i++)
		find_own_work(&why->measured[i].tree, why->measured[i].call);
	walk(why, stream, false);
}

static const struct tree *tree_of(const struct why *why,
				  const struct call *call)
{
	static const struct tree nothing;
	size_t i;

	for (i = 0; i < why->measured_count; i++)
		if (why->measured[i].call == call)
			return &why->measured[i].tree;
	return &nothing;
}

/* --------------------------------------------------------------- causes */

static const char *name_of(const struct why *why, uint32_t function)
{
	return why->trace->catalog->functions[function].name;
}

static bool begins_with(const char *name, const char *const *words)
{
	for (; *words; words++)
		if (strncmp(name, *words, strlen(*words)) == 0)
			return true;
	return false;
}

static enum cause_kind waited_for(const char *name)
{
	static const char *const locks[] = {
		"pthread_mutex", "__pthread_mutex", "pthread_rwlock",
		"pthread_spin",  "pthread_cond",    "pthread_barrier",
		"sem_",          "__lll_lock",      "mtx_",
		"std::mutex",    "futex",           NULL};
	static const char *const io[] = {
		"read",   "write", "pread", "pwrite", "recv",  "send",
		"open",   "fsync", "fread", "fwrite", "fgets", "fputs",
		"accept", "poll",  "ppoll", "select", "epoll", "connect",
		"getc",   "fdata", "sync",  "splice", NULL};
	static const char *const sleeps[] = {"nanosleep", "usleep", "sleep",
					     "clock_nanosleep", NULL};
	static const char *const children[] = {"wait", "pthread_join", NULL};

	if (begins_with(name, locks))
		return CAUSE_LOCK;
	if (begins_with(name, sleeps))
		return CAUSE_SLEEP;
	if (begins_with(name, children))
		return CAUSE_CHILD;
	return begins_with(name, io) ? CAUSE_IO : CAUSE_WAITED;
}

/* Collectors of python, ruby, lua, node, php, go and boehm. */
static bool is_collection(const char *name)
{
	static const char *const words[] = {
		"gc_collect",
		"_PyGC_",
		"PyGC_Collect",
		"gc_start",
		"rb_gc",
		"luaC_step",
		"luaC_fullgc",
		"zend_gc_",
		"GC_",
		"runtime.gc",
		"v8::internal::Heap::CollectGarbage",
		NULL};

	return begins_with(name, words);
}

static void add_cause(struct why *why, struct cause cause)
{
	if (cause.ticks <= 0)
		return;
	swz_grow(&why->causes, &why->cause_capacity, why->cause_count,
		 sizeof(*why->causes));
	why->causes[why->cause_count++] = cause;
}

static int64_t run_of(const struct node *node)
{
	int64_t run;

	if (!node)
		return 0;
	run = node->ticks - node->inner - node->waiting - node->preempted -
	      node->own;
	return run > 0 ? run : 0;
}

/* More calls are the cause if they alone, each as long as an ordinary one,
 * explain a third of the time. */
static enum cause_kind kind_of_run(const struct cause *cause)
{
	int64_t more;

	if (!cause->ordinary_calls)
		return CAUSE_ONLY_HERE;
	if (cause->calls <= cause->ordinary_calls)
		return CAUSE_RAN;
	more = (int64_t)((double)cause->ordinary_run /
			 (double)cause->ordinary_calls *
			 (double)(cause->calls - cause->ordinary_calls));
	return more >= cause->ticks / 3 ? CAUSE_MORE_CALLS : CAUSE_RAN;
}

static uint32_t twin_of(const struct why *why, uint32_t at, uint32_t above)
{
	const struct node *nodes = why->usual_tree->nodes;
	uint32_t i = above == NONE ? NONE : nodes[above].child;

	while (i != NONE &&
	       nodes[i].function != why->slow_tree->nodes[at].function)
		i = nodes[i].sibling;
	return i;
}

/* A function that runs as many times longer as it calls another one more often
 * has a loop that went round more often. Within a factor of this: */
#define LIKE_CALLS 16.0

static void note_loop(const struct why *why, struct cause *cause,
		      uint32_t usual_at)
{
	const struct node *nodes = why->slow_tree->nodes;
	uint64_t most = 0;
	uint32_t i;

	if (cause->kind != CAUSE_RAN || usual_at == NONE ||
	    cause->ordinary_run <= 0)
		return;
	for (i = nodes[cause->node].child; i != NONE; i = nodes[i].sibling) {
		uint32_t twin = twin_of(why, i, usual_at);
		uint64_t before = twin == NONE
					  ? 1
					  : why->usual_tree->nodes[twin].calls;
		double more = (double)nodes[i].calls / (double)before;
		double longer = (double)cause->run /
				(double)cause->ordinary_run;

		if (nodes[i].calls <= most || more < 2 ||
		    longer > more * LIKE_CALLS || more > longer * LIKE_CALLS)
			continue;
		most = nodes[i].calls;
		cause->kind = CAUSE_LOOPED;
		cause->callee = i;
		cause->calls = nodes[i].calls;
		cause->ordinary_calls =
			twin == NONE ? 0 : why->usual_tree->nodes[twin].calls;
	}
}

static void compare(struct why *why, uint32_t at, uint32_t usual_at)
{
	const struct tree *slow = why->slow_tree, *usual = why->usual_tree;
	const struct node *node = &slow->nodes[at];
	const struct node *twin = usual_at == NONE ? NULL
						   : &usual->nodes[usual_at];
	const char *name = name_of(why, node->function);
	uint32_t i;
	struct cause cause = {.node = at,
			      .calls = node->calls,
			      .ordinary_calls = twin ? twin->calls : 0,
			      .run = run_of(node),
			      .ordinary_run = run_of(twin)};

	if (is_collection(name)) {
		cause.kind = CAUSE_COLLECTION;
		cause.ticks = node->ticks - (twin ? twin->ticks : 0);
		add_cause(why, cause);
		return;
	}
	cause.ticks = node->waiting - (twin ? twin->waiting : 0);
	cause.kind = waited_for(name);
	add_cause(why, cause);
	cause.ticks = node->preempted - (twin ? twin->preempted : 0);
	cause.kind = CAUSE_PROCESSOR;
	add_cause(why, cause);
	cause.ticks = cause.run - cause.ordinary_run;
	cause.kind = kind_of_run(&cause);
	note_loop(why, &cause, usual_at);
	add_cause(why, cause);
	for (i = node->child; i != NONE; i = slow->nodes[i].sibling)
		compare(why, i, twin_of(why, i, usual_at));
}

static int by_extra(const void *left, const void *right)
{
	const struct cause *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks > b->ticks ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

static void find_causes(struct why *why)
{
	add_cause(why, (struct cause){.kind = CAUSE_OWN,
				      .node = NONE,
				      .ticks = why->slow_tree->own -
					       why->usual_tree->own});
	if (why->slow_tree->count)
		compare(why, 0, why->usual_tree->count ? 0 : NONE);
	if (why->cause_count > 1)
		qsort(why->causes, why->cause_count, sizeof(*why->causes),
		      by_extra);
}

/* ----------------------------------------------------------------- stacks */

/* The functions that a thread was in, the innermost last. */
static size_t stack_at(const struct why *why, const struct swz_flow_end *end,
		       const char *names[MOST_PATH])
{
	struct swz_binding *binding = &why->trace->bindings[end->process];
	const struct swz_profile_thread *thread =
		&binding->profile->threads[end->thread];
	struct swz_events *events = swz_events_open(binding->profile, thread);
	struct swz_event event;
	size_t depth = 0;

	while (swz_events_next(events, &event) && event.ticks <= end->ticks) {
		if (event.untraced)
			continue;
		if (!event.begins) {
			depth -= depth != 0;
			continue;
		}
		if (depth < MOST_PATH)
			names[depth] = name_of(
				why, swz_trace_function(binding, &event));
		depth++;
	}
	swz_events_close(events);
	return depth < MOST_PATH ? depth : MOST_PATH;
}

/* The names from the call to a node of the slow one. */
static size_t path_of(const struct why *why, uint32_t node,
		      const char *names[MOST_PATH])
{
	size_t depth = 0, i;
	uint32_t at;

	for (at = node; at != NONE; at = why->slow_tree->nodes[at].parent)
		depth++;
	for (i = depth, at = node; at != NONE;
	     at = why->slow_tree->nodes[at].parent)
		if (--i < MOST_PATH)
			names[i] = name_of(why,
					   why->slow_tree->nodes[at].function);
	return depth < MOST_PATH ? depth : MOST_PATH;
}

/* ------------------------------------------------------------------- text */

static bool uses_utf8(const struct why *why)
{
	const struct swz_style *style = why->trace->calls->style;

	return style && style->utf8;
}

static void put_time(const struct why *why, FILE *stream, int64_t ticks)
{
	char figure[SWZ_FIGURE_BYTES];

	fputs(swz_figure_time(figure, ns_of(why->slow, ticks), uses_utf8(why)),
	      stream);
}

static void put_path(FILE *stream, const char *const *names, size_t count)
{
	size_t first = count > MOST_STACK ? count - MOST_STACK : 0, i;

	if (first)
		fputs("... > ", stream);
	for (i = first; i < count; i++) {
		if (i > first)
			fputs(" > ", stream);
		swz_put_text(stream, names[i]);
	}
}

static void put_call(struct why *why, FILE *stream, const char *what,
		     const struct call *call, const struct tree *tree)
{
	char figure[SWZ_FIGURE_BYTES], name[64];
	int64_t ns = swz_trace_ns(why->trace, call->binding, call->from);

	fprintf(stream, "%-9s %8s  ", what,
		swz_figure_time(figure, ns_of(call, ticks_of(call)),
				uses_utf8(why)));
	swz_calls_put(stream, why->trace, SWZ_COLOUR_NONE,
		      tree->text ? tree->text : "");
	fprintf(stream,
		"  at %" PRId64 ".%06" PRId64 " s in %s %" PRId32 "%s\n",
		ns / 1000000000, ns / 1000 % 1000000,
		swz_trace_thread_name(call->thread, name, sizeof(name)),
		call->thread->record.tid,
		call->partial ? ", of which not all is recorded" : "");
}

static void put_counts(FILE *stream, const struct why *why,
		       const struct cause *cause)
{
	char more[SWZ_FIGURE_BYTES], fewer[SWZ_FIGURE_BYTES];

	if (cause->kind == CAUSE_RAN && cause->ordinary_calls) {
		fputs(": ", stream);
		put_time(why, stream, cause->run);
		fputs(" instead of ", stream);
		put_time(why, stream, cause->ordinary_run);
	}
	if (cause->calls == cause->ordinary_calls)
		return;
	fprintf(stream, "%s %s call%s", cause->kind == CAUSE_RAN ? "," : ":",
		swz_figure_count(more, cause->calls),
		cause->calls == 1 ? "" : "s");
	if (cause->kind == CAUSE_LOOPED) {
		fputs(" of ", stream);
		swz_put_text(
			stream,
			name_of(why,
				why->slow_tree->nodes[cause->callee].function));
	}
	if (cause->kind != CAUSE_ONLY_HERE)
		fprintf(stream, " instead of %s",
			swz_figure_count(fewer, cause->ordinary_calls));
}

static void put_woken(struct why *why, FILE *stream, const struct node *node)
{
	const char *names[MOST_PATH];
	char *text;
	size_t depth;

	if (!node->woken)
		return;
	text = swz_trace_flow_text(why->trace, &node->woken->from);
	depth = stack_at(why, &node->woken->from, names);
	fputs("                    until ", stream);
	swz_put_text(stream, text);
	if (depth) {
		fputs(" [", stream);
		put_path(stream, names, depth);
		fputs("]", stream);
	}
	putc('\n', stream);
	free(text);
}

static bool is_waiting(const struct cause *cause)
{
	return cause->kind >= CAUSE_LOCK && cause->kind <= CAUSE_WAITED;
}

/* "search went round more often: 6,000 calls of step instead of 10" */
static void put_cause_text(const struct why *why, FILE *stream,
			   const struct cause *cause)
{
	if (cause->node == NONE) {
		fputs(kind_names[cause->kind], stream);
		return;
	}
	swz_put_text(stream,
		     name_of(why, why->slow_tree->nodes[cause->node].function));
	fprintf(stream, " %s", kind_names[cause->kind]);
	if (!is_waiting(cause) && cause->kind != CAUSE_PROCESSOR)
		put_counts(stream, why, cause);
}

/* The longest call that waited, with its values; or NULL. */
static const char *longest_of(const struct why *why, const struct cause *cause)
{
	const char *text;

	if (cause->node == NONE || !is_waiting(cause))
		return NULL;
	text = why->slow_tree->nodes[cause->node].text;
	return text && strchr(text, '(') ? text : NULL;
}

static void put_cause(struct why *why, FILE *stream, const struct cause *cause,
		      int64_t extra)
{
	char share[SWZ_FIGURE_BYTES], figure[SWZ_FIGURE_BYTES];
	const char *names[MOST_PATH];

	fprintf(stream, "  %6s %9s  ",
		swz_figure_share(share, cause->ticks, extra),
		swz_figure_time(figure, ns_of(why->slow, cause->ticks),
				uses_utf8(why)));
	put_cause_text(why, stream, cause);
	if (cause->node != NONE && cause->node) {
		fputs("  [", stream);
		put_path(stream, names, path_of(why, cause->node, names));
		fputs("]", stream);
	}
	putc('\n', stream);
	if (longest_of(why, cause)) {
		fputs("                    the longest: ", stream);
		swz_calls_put(stream, why->trace, SWZ_COLOUR_NONE,
			      longest_of(why, cause));
		putc('\n', stream);
	}
	if (cause->node != NONE && is_waiting(cause))
		put_woken(why, stream, &why->slow_tree->nodes[cause->node]);
}

static void put_head(struct why *why, FILE *stream)
{
	char figure[SWZ_FIGURE_BYTES], p50[SWZ_FIGURE_BYTES];
	char p99[SWZ_FIGURE_BYTES];

	fprintf(stream, "# %s call%s of ", swz_figure_count(figure, why->all),
		why->all == 1 ? "" : "s");
	swz_put_text(stream, name_of(why, why->slow_tree->nodes[0].function));
	fprintf(stream, ": half took up to %s, 99%% up to %s\n",
		swz_figure_time(p50, why->p50, uses_utf8(why)),
		swz_figure_time(p99, why->p99, uses_utf8(why)));
	put_call(why, stream, "slow", why->slow, why->slow_tree);
	if (why->usual)
		put_call(why, stream, "ordinary", why->usual, why->usual_tree);
}

static int64_t extra_of(const struct why *why)
{
	return ticks_of(why->slow) - (why->usual ? ticks_of(why->usual) : 0);
}

/* How many causes people see, the largest: those of 1 % or more. */
static size_t shown_causes(const struct why *why)
{
	size_t count = 0;

	while (count < why->cause_count && count < MOST_CAUSES &&
	       why->causes[count].ticks >= extra_of(why) / 100)
		count++;
	return count;
}

/* The ticks of the others. */
static int64_t rest_of(const struct why *why)
{
	int64_t rest = 0;
	size_t i;

	for (i = shown_causes(why); i < why->cause_count; i++)
		rest += why->causes[i].ticks;
	return rest;
}

static void put_text(struct why *why, FILE *stream)
{
	int64_t extra = extra_of(why), from, to;
	size_t i, shown = shown_causes(why);

	put_head(why, stream);
	fputs(why->usual ? "The slow call takes " : "All of the call's ",
	      stream);
	put_time(why, stream, extra);
	fputs(why->usual ? " more, and this is where:\n"
			 : " (no other call is there to compare it with):\n",
	      stream);
	for (i = 0; i < shown; i++)
		put_cause(why, stream, &why->causes[i], extra);
	if (rest_of(why) > 0) {
		fputs("          ", stream);
		put_time(why, stream, rest_of(why));
		fprintf(stream, " in %zu more place%s\n",
			why->cause_count - shown,
			why->cause_count - shown == 1 ? "" : "s");
	}
	if (why->unseen)
		fputs("# waiting is not told from running: record with "
		      "--switches\n",
		      stream);
	from = swz_trace_ns(why->trace, why->slow->binding, why->slow->from);
	to = swz_trace_ns(why->trace, why->slow->binding, why->slow->to);
	fprintf(stream,
		"# times are raw, with the cost of the hooks. All of it: "
		"swizzle-dump -f calls --from %.6f --to %.6f\n",
		(double)from / 1e9, (double)(to + 1000) / 1e9);
}

/* ------------------------------------------------------------------- JSON */

/* Nodes of the two trees that JSON has, and their numbers there; NONE: one that
 * takes less than a thousandth of its call, or is deeper than anybody looks. */
#define LEAST_PART 1000
#define MOST_DEPTH 256u

struct shown_nodes {
	uint32_t *slow, *usual; /* numbers */
	uint32_t *twins;        /* of the slow tree's nodes in the other one */
};

/* Marks what is shown with 0. A node comes behind the one that called it. */
static uint32_t *mark_nodes(const struct tree *tree)
{
	uint32_t *marks = swz_allocate(tree->count + 1, sizeof(*marks));
	uint32_t *depths = swz_allocate(tree->count + 1, sizeof(*depths));
	size_t i;

	for (i = 0; i < tree->count; i++) {
		const struct node *node = &tree->nodes[i];

		depths[i] = i ? depths[node->parent] + 1 : 0;
		marks[i] = depths[i] < MOST_DEPTH &&
					   node->ticks >= tree->nodes[0].ticks /
								  LEAST_PART
				   ? 0
				   : NONE;
	}
	free(depths);
	return marks;
}

static void number_nodes(const struct tree *tree, uint32_t *marks)
{
	uint32_t number = 0;
	size_t i;

	for (i = tree->count; i--;)
		if (i && marks[i] != NONE)
			marks[tree->nodes[i].parent] = 0;
	for (i = 0; i < tree->count; i++)
		if (marks[i] != NONE)
			marks[i] = number++;
}

static struct shown_nodes show_nodes(const struct why *why)
{
	const struct tree *slow = why->slow_tree, *usual = why->usual_tree;
	struct shown_nodes shown = {
		.slow = mark_nodes(slow),
		.usual = mark_nodes(usual),
		.twins = swz_allocate(slow->count + 1, sizeof(*shown.twins))};
	size_t i;

	for (i = 0; i < shown_causes(why); i++)
		if (why->causes[i].node != NONE)
			shown.slow[why->causes[i].node] = 0;
	for (i = 0; i < slow->count; i++) {
		shown.twins[i] = i ? twin_of(why, (uint32_t)i,
					     shown.twins[slow->nodes[i].parent])
				   : (usual->count ? 0 : NONE);
		if (shown.twins[i] == NONE)
			continue;
		/* each with its twin */
		if (shown.slow[i] != NONE)
			shown.usual[shown.twins[i]] = 0;
		else if (shown.usual[shown.twins[i]] != NONE)
			shown.slow[i] = 0;
	}
	number_nodes(slow, shown.slow);
	number_nodes(usual, shown.usual);
	return shown;
}

static void free_nodes(struct shown_nodes *shown)
{
	free(shown->slow);
	free(shown->usual);
	free(shown->twins);
}

/* NUMBERS: of the nodes. TWINS: the nodes' in the other tree, which have
 * TWIN_NUMBERS; NULL: those are not told. */
static void put_json_tree(struct swz_json *json, const struct why *why,
			  const struct tree *tree, const uint32_t *numbers,
			  const uint32_t *twins, const uint32_t *twin_numbers)
{
	size_t i;

	swz_json_open(json, "tree", "[");
	for (i = 0; i < tree->count; i++) {
		const struct node *node = &tree->nodes[i];

		if (numbers[i] == NONE)
			continue;
		swz_json_line(json);
		swz_json_open(json, NULL, "{");
		swz_json_string(json, "function", name_of(why, node->function));
		swz_json_known(json, "parent", i,
			       i ? (int64_t)numbers[node->parent] : 0);
		swz_json_integer(json, "calls", node->calls);
		swz_json_number(json, "ns", ns_of(why->slow, node->ticks));
		swz_json_number(json, "waiting_ns",
				ns_of(why->slow, node->waiting));
		swz_json_number(json, "preempted_ns",
				ns_of(why->slow, node->preempted));
		if (twins)
			swz_json_known(
				json, "ordinary", twins[i] != NONE,
				twins[i] == NONE
					? 0
					: (int64_t)twin_numbers[twins[i]]);
		swz_json_close(json, "}");
	}
	swz_json_close(json, "]");
}

static void put_json_call(struct swz_json *json, const char *key,
			  struct why *why, const struct call *call,
			  const struct shown_nodes *shown)
{
	const struct tree *tree = tree_of(why, call);

	if (!call) {
		swz_json_null(json, key);
		return;
	}
	swz_json_line(json);
	swz_json_open(json, key, "{");
	swz_json_string(json, "call", tree->text);
	swz_json_number(json, "ns", ns_of(call, ticks_of(call)));
	swz_json_number(json, "start_ns",
			swz_trace_ns(why->trace, call->binding, call->from));
	swz_json_number(json, "pid", call->binding->profile->header.pid);
	swz_json_number(json, "tid", call->thread->record.tid);
	swz_json_flag(json, "whole", !call->partial);
	if (call == why->slow)
		put_json_tree(json, why, tree, shown->slow, shown->twins,
			      shown->usual);
	else
		put_json_tree(json, why, tree, shown->usual, NULL, NULL);
	swz_json_close(json, "}");
}

static void put_json_names(struct swz_json *json, const char *key,
			   const char *const *names, size_t count)
{
	size_t i;

	swz_json_open(json, key, "[");
	for (i = 0; i < count; i++)
		swz_json_string(json, NULL, names[i]);
	swz_json_close(json, "]");
}

static void put_json_sentence(struct swz_json *json, const struct why *why,
			      const struct cause *cause)
{
	char *text = NULL;
	size_t size = 0;
	FILE *stream = swz_text_stream(&text, &size);

	put_cause_text(why, stream, cause);
	swz_text_stream_end(stream);
	swz_json_string(json, "text", text);
	free(text);
}

static void put_json_woken(struct swz_json *json, struct why *why,
			   const struct swz_flow *woken)
{
	char *text = swz_trace_flow_text(why->trace, &woken->from);
	const char *names[MOST_PATH];

	swz_json_string(json, "until", text);
	put_json_names(json, "until_stack", names,
		       stack_at(why, &woken->from, names));
	free(text);
}

static void put_json_cause(struct swz_json *json, struct why *why,
			   const struct cause *cause,
			   const struct shown_nodes *shown)
{
	const struct node *node = cause->node == NONE
					  ? NULL
					  : &why->slow_tree->nodes[cause->node];
	const char *names[MOST_PATH];

	swz_json_line(json);
	swz_json_open(json, NULL, "{");
	swz_json_string(json, "cause", kind_names[cause->kind]);
	swz_json_number(json, "extra_ns", ns_of(why->slow, cause->ticks));
	put_json_sentence(json, why, cause);
	if (node) {
		swz_json_string(json, "function", name_of(why, node->function));
		put_json_names(json, "path", names,
			       path_of(why, cause->node, names));
		swz_json_known(json, "node", shown->slow[cause->node] != NONE,
			       shown->slow[cause->node]);
		if (cause->kind == CAUSE_LOOPED)
			swz_json_string(
				json, "callee",
				name_of(why,
					why->slow_tree->nodes[cause->callee]
						.function));
		swz_json_integer(json, "calls", cause->calls);
		swz_json_integer(json, "ordinary_calls", cause->ordinary_calls);
		swz_json_number(json, "ran_ns", ns_of(why->slow, cause->run));
		swz_json_number(json, "ordinary_ran_ns",
				ns_of(why->slow, cause->ordinary_run));
	}
	if (longest_of(why, cause))
		swz_json_string(json, "longest", longest_of(why, cause));
	if (node && node->woken && is_waiting(cause))
		put_json_woken(json, why, node->woken);
	swz_json_close(json, "}");
}

/* As an object: the first COUNT causes, the others as a sum. PATTERN, CALL:
 * what shows the same on a terminal. */
static void put_json(struct swz_json *json, struct why *why,
		     const char *pattern, size_t call, size_t count)
{
	struct shown_nodes shown = show_nodes(why);
	const struct swz_catalog *catalog = why->trace->catalog;
	uint32_t function = why->slow_tree->nodes[0].function;
	int64_t rest = 0;
	size_t i;

	swz_json_open(json, NULL, "{");
	swz_json_string(json, "function", name_of(why, function));
	swz_json_string(json, "module",
			swz_catalog_module_name(catalog,
						&catalog->functions[function]));
	swz_json_string(json, "pattern", pattern);
	swz_json_integer(json, "call", call);
	swz_json_integer(json, "calls", why->all);
	swz_json_number(json, "p50_ns", why->p50);
	swz_json_number(json, "p99_ns", why->p99);
	put_json_call(json, "slow", why, why->slow, &shown);
	put_json_call(json, "ordinary", why, why->usual, &shown);
	swz_json_number(json, "extra_ns", ns_of(why->slow, extra_of(why)));
	swz_json_flag(json, "waiting_known", !why->unseen);
	swz_json_open(json, "causes", "[");
	for (i = 0; i < count; i++)
		put_json_cause(json, why, &why->causes[i], &shown);
	swz_json_close(json, "]");
	for (; i < why->cause_count; i++)
		rest += why->causes[i].ticks;
	swz_json_integer(json, "more_causes", why->cause_count - count);
	swz_json_number(json, "more_ns", ns_of(why->slow, rest));
	swz_json_close(json, "}");
	free_nodes(&shown);
}

/* ---------------------------------------------------------- kept calls */

static void put_kept_call(struct why *why, FILE *stream, size_t index)
{
	const struct call *call = &why->calls[index];
	const struct swz_kept_call *kept = kept_of(call);
	int64_t ns = swz_trace_ns(why->trace, call->binding, call->from);
	char figure[SWZ_FIGURE_BYTES], name[64];

	fprintf(stream, "# %4zu %6" PRId64 ".%06" PRId64 " %9s  ", index + 1,
		ns / 1000000000, ns / 1000 % 1000000,
		swz_figure_time(figure, ns_of(call, ticks_of(call)),
				uses_utf8(why)));
	swz_calls_put(stream, why->trace, SWZ_COLOUR_NONE,
		      call->text ? call->text : "");
	fprintf(stream, "  in %s %" PRId32 "%s%s\n",
		swz_trace_thread_name(call->thread, name, sizeof(name)),
		call->thread->record.tid,
		kept && kept->state == SWZ_CALL_ORDINARY ? ", ordinary" : "",
		kept && kept->cut ? ", of which not all is there" : "");
}

static bool is_open(const struct call *call)
{
	const struct swz_kept_call *kept = kept_of(call);

	return kept && kept->state == SWZ_CALL_OPEN;
}

static void list_rule(void *out, struct swz_trace *trace,
		      const struct swz_profile *profile, size_t index)
{
	FILE *stream = out;
	const struct swz_style *style = trace->calls->style;
	struct swz_patterns patterns = {0};
	struct why why = {.trace = trace, .of = &patterns, .with_texts = true};
	size_t i, ordinary = 0;

	swz_patterns_add(&patterns, profile->slow_rules[index].pattern);
	walk(&why, stream, true);
	if (why.count > 1)
		qsort(why.calls, why.count, sizeof(*why.calls), by_time);
	fputs("# ", stream);
	swz_put_slow_rule(stream, profile, index, style && style->utf8);
	fputs("\n#    N     start s      time  call (why: swizzle-dump --why '",
	      stream);
	swz_put_text(stream, profile->slow_rules[index].pattern);
	fputs("' --call N)\n", stream);
	for (i = 0; i < why.count; i++) {
		const struct swz_kept_call *kept = kept_of(&why.calls[i]);

		if (is_open(&why.calls[i]) ||
		    (kept && kept->state == SWZ_CALL_SLOW))
			put_kept_call(&why, stream, i);
		else
			ordinary++;
		free(why.calls[i].text);
	}
	if (ordinary)
		fprintf(stream, "# and %zu ordinary one%s, chosen by chance\n",
			ordinary, ordinary == 1 ? "" : "s");
	free(why.text);
	free(why.calls);
	swz_patterns_free(&patterns);
}

/* One list for each rule: processes of a run have the same rules. */
static void of_each_rule(void *out, struct swz_trace *trace,
			 void (*put)(void *out, struct swz_trace *trace,
				     const struct swz_profile *profile,
				     size_t index))
{
	size_t i, j, k;

	for (i = 0; i < trace->count; i++) {
		const struct swz_profile *profile = trace->bindings[i].profile;

		for (j = 0; j < profile->slow_rule_count; j++) {
			for (k = 0; k < i; k++)
				if (j <
				    trace->bindings[k].profile->slow_rule_count)
					break;
			if (k == i)
				put(out, trace, profile, j);
		}
	}
}

void swz_list_slow_calls(FILE *stream, struct swz_trace *trace)
{
	of_each_rule(stream, trace, list_rule);
}

/* -------------------------------------------------------------------- all */

static void free_why(struct why *why)
{
	size_t i, j;

	for (i = 0; i < why->measured_count; i++) {
		struct tree *tree = &why->measured[i].tree;

		for (j = 0; j < tree->count; j++)
			free(tree->nodes[j].text);
		free(tree->nodes);
		free(tree->spans);
		free(tree->text);
	}
	free(why->measured);
	free(why->calls);
	free(why->causes);
}

/* All calls, the slowest first. */
static void list_calls(struct why *why, FILE *stream)
{
	walk(why, stream, true);
	note_ordinary(why);
	if (why->count > 1)
		qsort(why->calls, why->count, sizeof(*why->calls), by_time);
}

static void choose(struct why *why, const struct call *slow)
{
	why->slow = slow;
	why->usual = NULL;
	find_percentiles(why);
	choose_usual(why);
}

/* Both have been measured. */
static void compare_calls(struct why *why)
{
	why->slow_tree = tree_of(why, why->slow);
	why->usual_tree = tree_of(why, why->usual);
	why->unseen = !why->slow->thread->record.switches_from;
	why->cause_count = 0;
	find_causes(why);
}

static void want_trees(struct why *why)
{
	want_tree(why, why->slow);
	if (why->usual)
		want_tree(why, why->usual);
}

void swz_write_why(FILE *stream, struct swz_trace *trace)
{
	struct why why = {.trace = trace, .of = &trace->calls->of};
	size_t nth = trace->calls->nth ? trace->calls->nth : 1;
	struct swz_json json = {.stream = stream};

	list_calls(&why, stream);
	if (nth > why.count) {
		trace->failure =
			why.count
				? swz_print("--why '%s': --call %zu, but there "
					    "are only %zu calls",
					    trace->calls->of.items[0], nth,
					    why.count)
				: swz_print("--why '%s': no call of it is in "
					    "the trace",
					    trace->calls->of.items[0]);
		free_why(&why);
		return;
	}
	choose(&why, &why.calls[nth - 1]);
	want_trees(&why);
	measure(&why, stream);
	compare_calls(&why);
	if (why.slow_tree->count && trace->calls->json) {
		put_json(&json, &why, trace->calls->of.items[0], nth,
			 why.cause_count);
		putc('\n', stream);
	} else if (why.slow_tree->count) {
		put_text(&why, stream);
	}
	free_why(&why);
}

/* A page explains so many calls of a rule. */
#define MOST_EXPLAINED 20u

static size_t count_explained(const struct why *why)
{
	size_t count = 0;

	while (count < why->count && count < MOST_EXPLAINED &&
	       (is_open(&why->calls[count]) || !why->calls[count].ordinary))
		count++;
	return count;
}

/* All trees are made in one walk. */
static void explain_rule(void *out, struct swz_trace *trace,
			 const struct swz_profile *profile, size_t index)
{
	struct swz_json *json = out;
	const char *pattern = profile->slow_rules[index].pattern;
	struct swz_patterns patterns = {0};
	struct why why = {.trace = trace, .of = &patterns};
	size_t count, i;

	swz_patterns_add(&patterns, pattern);
	list_calls(&why, json->stream);
	count = count_explained(&why);
	for (i = 0; i < count; i++) {
		choose(&why, &why.calls[i]);
		want_trees(&why);
	}
	if (count)
		measure(&why, json->stream);
	for (i = 0; i < count; i++) {
		choose(&why, &why.calls[i]);
		compare_calls(&why);
		if (why.slow_tree->count)
			put_json(json, &why, pattern, i + 1,
				 shown_causes(&why));
	}
	free_why(&why);
	swz_patterns_free(&patterns);
}

void swz_explain_slow_calls(FILE *stream, struct swz_trace *trace)
{
	struct swz_json json = {.stream = stream};

	swz_json_open(&json, NULL, "[");
	of_each_rule(&json, trace, explain_rule);
	swz_json_close(&json, "]");
}
