/* Single calls instead of all: --calls-of lists those of some functions, and a
 * profile that is no trace has at least the last call of each context. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "util/memory.h"
#include "profile/file/values.h"
#include "profile/formats/calls/calls.h"

/* --calls-of: the single calls of some functions, the longest or the first of
 * them, and how their times are spread. Rows are cut down each time there are
 * twice as many as are shown; times go into classes of 1/64 of their size. */

#define FINE_BITS 6u /* a class is so fine a part of a power of two */
#define CLASSES ((64u - FINE_BITS + 1) << FINE_BITS)
#define BAR 40

struct row {
	int64_t start, time, self; /* ns */
	int32_t pid, tid;
	bool exceptional, cut;
	const char *caller; /* of the catalog */
	char *call, *end;
};

struct frame {
	uint64_t start, inner; /* ticks; those of calls within it */
	const char *name;
	bool wanted;
	struct swz_event event; /* that began it */
	struct swz_kept_values arguments;
};

struct collecting {
	struct swz_trace *trace;
	struct row *rows;
	size_t count, capacity;
	size_t sorted; /* so many are the first of all that there were */
	uint64_t calls, exceptional, cut;
	int64_t total;
	uint64_t classes[CLASSES];
	struct frame *frames; /* bytes are used again */
	size_t depth, used, frame_capacity;
	uint8_t *wanted; /* by function of the catalog: 0 not asked yet, 1 no,
			  * 2 yes */
	size_t known;
	struct swz_text call;
	struct swz_pointed_values before;
	struct swz_call_end end;
};

/* ---------------------------------------------------------------- classes */

static unsigned class_of(int64_t ns)
{
	uint64_t value = (uint64_t)ns;
	unsigned shift;

	if (value < 1u << FINE_BITS)
		return (unsigned)value;
	shift = 63u - (unsigned)__builtin_clzll(value) - FINE_BITS;
	return ((shift + 1) << FINE_BITS) +
	       (unsigned)(value >> shift & ((1u << FINE_BITS) - 1));
}

/* The middle of a class. */
static int64_t time_of(unsigned class)
{
	unsigned shift = class >> FINE_BITS;
	uint64_t low = class & ((1u << FINE_BITS) - 1);

	if (!shift)
		return (int64_t)low;
	low = (low | 1u << FINE_BITS) << (shift - 1);
	return (int64_t)(low + (shift > 1 ? UINT64_C(1) << (shift - 2) : 0));
}

static int64_t percentile(const struct collecting *c, unsigned percent)
{
	uint64_t left = (c->calls * percent + 99) / 100;
	unsigned i;

	for (i = 0; i < CLASSES; i++) {
		if (c->classes[i] >= left)
			break;
		left -= c->classes[i];
	}
	return time_of(i < CLASSES ? i : CLASSES - 1);
}

/* ------------------------------------------------------------------- rows */

static int by_start(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static int by_time(const void *left, const void *right)
{
	const struct row *a = left, *b = right;

	if (a->time != b->time)
		return a->time > b->time ? -1 : 1;
	return by_start(left, right);
}

static void cut_down(struct collecting *c)
{
	const struct swz_calls_options *options = c->trace->calls;

	if (c->count > 1)
		qsort(c->rows, c->count, sizeof(*c->rows),
		      options->by_start ? by_start : by_time);
	while (options->rows && c->count > options->rows) {
		c->count--;
		free(c->rows[c->count].call);
		free(c->rows[c->count].end);
	}
	c->sorted = c->count;
}

/* True if it may be one of those that are shown: most calls are not, and need
 * no text. */
static bool may_be_shown(const struct collecting *c, const struct row *row)
{
	const struct swz_calls_options *options = c->trace->calls;

	if (!options->rows || c->sorted < options->rows)
		return true;
	return (options->by_start ? by_start : by_time)(
		       row, &c->rows[options->rows - 1]) <= 0;
}

static bool is_wanted(struct collecting *c, uint32_t function)
{
	const struct swz_catalog *catalog = c->trace->catalog;

	if (function >= c->known) {
		c->wanted = swz_reallocate(c->wanted, catalog->function_count,
					   1);
		memset(c->wanted + c->known, 0,
		       catalog->function_count - c->known);
		c->known = catalog->function_count;
	}
	if (!c->wanted[function])
		c->wanted[function] = swz_patterns_match(&c->trace->calls->of,
							 catalog, function,
							 NULL)
					      ? 2
					      : 1;
	return c->wanted[function] == 2;
}

static void begin_call(struct collecting *c, struct swz_binding *binding,
		       struct swz_value_reader *values,
		       const struct swz_event *event)
{
	uint32_t function = swz_trace_function(binding, event);
	struct frame *frame;

	if (c->depth == c->used) {
		swz_grow(&c->frames, &c->frame_capacity, c->used,
			 sizeof(*c->frames));
		c->frames[c->used++] = (struct frame){0};
	}
	frame = &c->frames[c->depth++];
	frame->start = event->ticks;
	frame->inner = 0;
	frame->event = *event;
	frame->name = c->trace->catalog->functions[function].name;
	frame->wanted = SWZ_CATALOG_IS_REAL(function) && is_wanted(c, function);
	if (frame->wanted)
		swz_values_keep(values, event, &frame->arguments);
}

/* Its end and, if it may be shown, all of its text. */
static void describe(struct collecting *c, struct swz_binding *binding,
		     struct swz_value_reader *values, const struct frame *frame,
		     const struct swz_event *event, bool shown)
{
	struct swz_call_values of;

	swz_pointed_clear(&c->before);
	if (shown) {
		if (!swz_values_of_kept(&frame->arguments, &of))
			of.count = 0;
		swz_call_print(&c->call, &c->before, c->trace, binding, &of,
			       &frame->event);
	}
	swz_call_end_read(&c->end, &c->before, c->trace, binding, values,
			  event);
}

static void add_row(struct collecting *c, struct swz_binding *binding,
		    struct swz_value_reader *values, const struct frame *frame,
		    const struct swz_event *event, int32_t tid)
{
	uint64_t ticks = event->ticks - frame->start;
	struct row row = {
		.start = swz_trace_ns(c->trace, binding, frame->start),
		.time = swz_profile_ns(binding->profile, (int64_t)ticks),
		.self = swz_profile_ns(binding->profile,
				       (int64_t)(ticks - frame->inner)),
		.pid = binding->profile->header.pid,
		.tid = tid,
		.cut = frame->event.cut || event->cut,
		.caller = c->depth ? frame[-1].name : SWZ_OUTSIDE_NAME,
	};
	bool shown = may_be_shown(c, &row);

	describe(c, binding, values, frame, event, shown);
	row.exceptional = c->end.exceptional;
	c->calls++;
	c->exceptional += row.exceptional;
	c->cut += row.cut;
	c->total += row.time;
	c->classes[class_of(row.time)]++;
	if (!shown)
		return;
	row.call = swz_duplicate(c->call.text);
	row.end = swz_print("%s%s%s", c->end.text.text,
			    c->end.out.size ? "  " : "", c->end.out.text);
	swz_grow(&c->rows, &c->capacity, c->count, sizeof(*c->rows));
	c->rows[c->count++] = row;
	if (c->trace->calls->rows && c->count >= 2 * c->trace->calls->rows + 64)
		cut_down(c);
}

static void add_thread(FILE *stream, struct collecting *c,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(c->trace, binding, thread);
	struct swz_value_reader *values = swz_values_open(binding->profile,
							  thread);
	struct swz_event event;

	c->depth = 0;
	while (swz_trace_next(stream, c->trace, events, &event)) {
		struct frame *frame;

		if (event.begins) {
			begin_call(c, binding, values, &event);
			continue;
		}
		if (!c->depth)
			continue;
		frame = &c->frames[--c->depth];
		if (c->depth)
			frame[-1].inner += event.ticks - frame->start;
		if (!frame->wanted)
			continue;
		add_row(c, binding, values, frame, &event, thread->record.tid);
	}
	swz_values_close(values);
	swz_trace_close(c->trace, events, thread);
}

/* ----------------------------------------------------------------- output */

static bool is_utf8(const struct collecting *c)
{
	return c->trace->calls->style && c->trace->calls->style->utf8;
}

static void put_figure(FILE *stream, const struct collecting *c, int64_t ns)
{
	char figure[SWZ_FIGURE_BYTES];

	swz_figure_time(figure, ns, is_utf8(c));
	fprintf(stream, "%*s",
		is_utf8(c) && strstr(figure, "\xc2\xb5") ? 11 : 10, figure);
}

static void put_rows(FILE *stream, const struct collecting *c)
{
	size_t i;

	fprintf(stream, "# %-8s %10s%10s %8s  %s\n", "start s", "time", "self",
		"thread", "call, result, caller");
	for (i = 0; i < c->count; i++) {
		const struct row *row = &c->rows[i];

		fprintf(stream, "%3" PRId64 ".%06" PRId64 " ",
			row->start / 1000000000, row->start / 1000 % 1000000);
		put_figure(stream, c, row->time);
		put_figure(stream, c, row->self);
		fprintf(stream, " %8" PRId32 "  ", row->tid);
		swz_calls_put(stream, c->trace, SWZ_COLOUR_NONE, row->call);
		if (*row->end) {
			putc(' ', stream);
			swz_calls_put(stream, c->trace,
				      row->exceptional ? SWZ_COLOUR_HOT
						       : SWZ_COLOUR_NONE,
				      row->end);
		}
		fputs("  from ", stream);
		swz_calls_put(stream, c->trace, SWZ_COLOUR_DIM, row->caller);
		fputs(row->cut ? " [not whole]\n" : "\n", stream);
	}
}

/* A line for each power of two. */
static void put_histogram(FILE *stream, const struct collecting *c)
{
	uint64_t sums[64] = {0}, most = 0;
	unsigned i, first = 64, last = 0;

	for (i = 0; i < CLASSES; i++) {
		int64_t ns = time_of(i);
		unsigned log = ns > 0 ? 63u - (unsigned)__builtin_clzll(
						      (uint64_t)ns)
				      : 0;

		sums[log] += c->classes[i];
	}
	for (i = 0; i < 64; i++) {
		if (!sums[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = sums[i] > most ? sums[i] : most;
	}
	for (i = first; i < 64 && i <= last; i++) {
		char from[SWZ_FIGURE_BYTES];
		int bar = (int)((sums[i] * BAR + most - 1) / most);

		swz_figure_time(from, i ? (int64_t)(UINT64_C(1) << i) : 0,
				false);
		fprintf(stream, "# from %9s %10" PRIu64 " ", from, sums[i]);
		while (bar--)
			putc('#', stream);
		putc('\n', stream);
	}
}

static void put_summary(FILE *stream, const struct collecting *c)
{
	static const unsigned percents[] = {50, 90, 99, 100};
	char count[SWZ_FIGURE_BYTES], time[SWZ_FIGURE_BYTES];
	size_t i;

	fprintf(stream, "# %s call%s", swz_figure_count(count, c->calls),
		c->calls == 1 ? "" : "s");
	if (c->count < c->calls)
		fprintf(stream, ", %s shown",
			swz_figure_count(count, c->count));
	if (c->exceptional)
		fprintf(stream, ", %s exceptional",
			swz_figure_count(count, c->exceptional));
	if (c->cut)
		fprintf(stream, ", %s not whole",
			swz_figure_count(count, c->cut));
	putc('\n', stream);
	if (!c->calls)
		return;
	fprintf(stream, "# sum %s, mean %s",
		swz_figure_time(time, c->total, is_utf8(c)),
		swz_figure_time(count, c->total / (int64_t)c->calls,
				is_utf8(c)));
	for (i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		fprintf(stream, ", %u%%: %s", percents[i],
			swz_figure_time(time, percentile(c, percents[i]),
					is_utf8(c)));
	putc('\n', stream);
	put_histogram(stream, c);
}

void swz_write_calls_of(FILE *stream, struct swz_trace *trace)
{
	struct collecting *c = swz_allocate(1, sizeof(*c));
	size_t i, j;

	c->trace = trace;
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];

		for (j = 0; j < binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &binding->profile->threads[j]))
				add_thread(stream, c, binding,
					   &binding->profile->threads[j]);
	}
	cut_down(c);
	put_rows(stream, c);
	put_summary(stream, c);
	for (i = 0; i < c->count; i++) {
		free(c->rows[i].call);
		free(c->rows[i].end);
	}
	for (i = 0; i < c->used; i++)
		swz_kept_values_free(&c->frames[i].arguments);
	swz_text_free(&c->call);
	swz_pointed_free(&c->before);
	swz_call_end_free(&c->end);
	free(c->frames);
	free(c->rows);
	free(c->wanted);
	free(c);
}

/* --- the last calls of a profile ----------------------------------------- */

/* -f calls of a profile that is no trace: for each context the values of its
 * last call, and between what its numbers were. */

#define MOST_CALLERS 5u

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_tree tree;
	struct swz_text text;
};

static void put_line(struct writing *w, enum swz_colour colour)
{
	swz_calls_put(w->stream, w->trace, colour, w->text.text);
	putc('\n', w->stream);
	swz_text_clear(&w->text);
}

static uint32_t function_of(const struct writing *w,
			    const struct swz_tree_node *node)
{
	uint32_t function = swz_binding_function(w->binding, node->function,
						 node->id);

	if (function >= w->binding->catalog->resolved)
		swz_catalog_resolve(w->binding->catalog);
	return function;
}

static const char *name_of(const struct writing *w,
			   const struct swz_tree_node *node)
{
	return w->trace->catalog->functions[function_of(w, node)].name;
}

/* "12 calls, from main < start" */
static void put_head(struct writing *w, const struct swz_tree_node *node,
		     uint64_t calls)
{
	const struct swz_tree_node *at = node;
	char count[SWZ_FIGURE_BYTES];
	unsigned i;

	swz_text_put(&w->text, "# %s: %s call%s", name_of(w, node),
		     swz_figure_count(count, calls), calls == 1 ? "" : "s");
	for (i = 0; i < MOST_CALLERS; i++) {
		at = &w->tree.nodes[at->parent];
		if (at->id == SWZ_FUNCTION_ROOT)
			break;
		swz_text_put(&w->text, "%s%s", i ? " < " : ", from ",
			     name_of(w, at));
	}
	if (i == MOST_CALLERS)
		swz_text_put(&w->text, " < ...");
	put_line(w, SWZ_COLOUR_DIM);
}

static void put_last(struct writing *w, const struct swz_tree_node *node,
		     const struct swz_profile_summary *summary)
{
	struct swz_call_values entry, back;
	const struct swz_value *result;
	bool given = swz_summary_values(summary, SWZ_VALUES_ENTRY, &entry);
	bool returned = swz_summary_values(summary, SWZ_VALUES_RETURN, &back);
	struct swz_text out = {0};
	struct swz_pointed_values before = {0};

	if (!given && !returned) {
		swz_text_put(&w->text, "  last: cannot be read, as it was "
				       "being written");
		put_line(w, SWZ_COLOUR_NONE);
		return;
	}
	swz_text_put(&w->text, "  last: %s", name_of(w, node));
	if (given) {
		swz_text_put(&w->text, "(");
		swz_pointed_arguments(&w->text, &before, w->binding, &entry);
		swz_text_put(&w->text, ")");
	}
	result = returned ? swz_value_result(&back) : NULL;
	if (result) {
		swz_text_put(&w->text, " = ");
		swz_value_print_of(&w->text, w->binding, &back, result);
	}
	swz_text_clear(&out);
	if (returned)
		swz_pointed_print(&out, w->binding, &back, &before);
	if (out.size)
		swz_text_put(&w->text, "  %s", out.text);
	swz_text_free(&out);
	swz_pointed_free(&before);
	put_line(w, SWZ_COLOUR_NONE);
}

static void put_ranges(struct writing *w,
		       const struct swz_profile_summary *summary)
{
	unsigned i;

	for (i = 0; i < summary->head->ranges; i++) {
		struct swz_value low, high;

		if (!swz_summary_range(summary, i, &low, &high))
			continue;
		swz_text_put(&w->text, "  %s: ", low.name);
		swz_value_print(&w->text, w->binding, &low);
		if (memcmp(low.plain.bytes, high.plain.bytes, low.plain.size) !=
		    0) {
			swz_text_put(&w->text, " to ");
			swz_value_print(&w->text, w->binding, &high);
		}
		put_line(w, SWZ_COLOUR_NONE);
	}
}

static void put_thread(struct writing *w,
		       const struct swz_profile_thread *thread)
{
	const struct swz_profile *profile = w->binding->profile;
	bool any = false;
	size_t i;

	swz_tree_build(&w->tree, w->binding->profile, thread, false);
	if (w->trace->view && !swz_view_is_whole(w->trace->view))
		swz_view_apply(w->trace->view, w->binding, &w->tree);
	for (i = 1; i < w->tree.count; i++) {
		const struct swz_tree_node *node = &w->tree.nodes[i];
		const struct swz_profile_summary *summary = swz_summary_find(
			profile, node->unit);

		if (!summary || node->flags & SWZ_NODE_HIDDEN)
			continue;
		if (!any)
			swz_calls_put_thread(w->stream, w->trace, w->binding,
					     thread);
		any = true;
		put_head(w, node,
			 summary->head->entry.calls
				 ? summary->head->entry.calls
				 : summary->head->result.calls);
		put_last(w, node, summary);
		put_ranges(w, summary);
	}
	swz_tree_free(&w->tree);
}

void swz_write_calls_last(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	size_t i, j;

	swz_text_clear(&w.text);
	for (i = 0; i < trace->count; i++) {
		w.binding = &trace->bindings[i];
		for (j = 0; j < w.binding->profile->thread_count; j++)
			if (swz_trace_wants(trace,
					    &w.binding->profile->threads[j]))
				put_thread(&w, &w.binding->profile->threads[j]);
	}
	swz_text_free(&w.text);
}
