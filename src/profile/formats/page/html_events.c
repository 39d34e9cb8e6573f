/* A trace's events go into blocks that the page reads one by one. An index
 * makes each readable by itself; levels show the trace from afar, so that the
 * page never has to draw more than there are pixels. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/call_tree.h"
#include "profile/file/events.h"
#include "profile/file/records.h"
#include "profile/formats/common/section.h"
#include "profile/formats/page/html_blocks.h"
#include "profile/formats/calls/calls.h"
#include "profile/names/function_rules.h"
#include "profile/names/value_print.h"

/* --- the index of blocks ------------------------------------------------- */

#define LEVEL 6 /* of compression */

struct block {
	uint64_t ticks;
	uint64_t activations;
	uint64_t kept;
	uint64_t opened; /* besides, open when it begins */
};

struct swz_html_index {
	struct block *blocks;
	size_t count;
	size_t capacity;
	struct swz_html_activation *open; /* in the order of their beginning */
	size_t open_count;
	size_t open_capacity;
};

struct swz_html_index *swz_html_index_begin(void)
{
	return swz_allocate(1, sizeof(struct swz_html_index));
}

void swz_html_index_block(struct swz_html_index *index, uint64_t ticks,
			  uint64_t activations, uint64_t kept)
{
	swz_grow(&index->blocks, &index->capacity, index->count,
		 sizeof(*index->blocks));
	index->blocks[index->count++] = (struct block){
		.ticks = ticks,
		.activations = activations,
		.kept = kept,
	};
}

uint32_t swz_html_index_open(struct swz_html_index *index)
{
	swz_grow(&index->open, &index->open_capacity, index->open_count,
		 sizeof(*index->open));
	index->blocks[index->count - 1].opened++;
	return (uint32_t)index->open_count++;
}

void swz_html_index_close(struct swz_html_index *index, uint32_t number,
			  const struct swz_html_activation *activation)
{
	index->open[number] = *activation;
}

static void put_open(const struct swz_html_index *index,
		     struct swz_page_block *block, uint64_t origin,
		     uint64_t activations)
{
	uint64_t last = origin;
	size_t i;

	swz_page_block_number(block, index->open_count);
	for (i = 0; i < index->open_count; i++) {
		const struct swz_html_activation *a = &index->open[i];

		swz_page_block_number(block, a->start - last);
		swz_page_block_number(block, a->end - a->start);
		swz_page_block_number(block, a->context);
		swz_page_block_number(block, a->flags);
		swz_page_block_number(block, a->calls);
		last = a->start;
	}
	swz_page_block_number(block, index->count);
	last = origin;
	for (i = 0; i < index->count; i++) {
		const struct block *b = &index->blocks[i];
		uint64_t next = i + 1 < index->count ? b[1].activations
						     : activations;

		swz_page_block_number(block, b->ticks - last);
		swz_page_block_number(block, next - b->activations);
		swz_page_block_number(block, b->kept);
		swz_page_block_number(block, b->opened);
		last = b->ticks;
	}
}

void swz_html_index_end(struct swz_html_index *index, FILE *stream,
			const char *name, uint64_t origin, uint64_t activations)
{
	struct swz_page_block *block;

	if (stream) {
		block = swz_page_block_begin(stream, name, LEVEL);
		put_open(index, block, origin, activations);
		swz_page_block_end(block);
	}
	free(index->blocks);
	free(index->open);
	free(index);
}

/* --- levels: a trace from afar ------------------------------------------- */

/* A pixel of the finest level is the 262,144th part of the thread's time, of
 * each other level 8 times the one before. An activation of 1.5 pixels or more
 * stays one. Of the others all that begin in the same pixel are one run, which
 * has the context of the first. Runs and activations of a level are what the
 * next coarser one is made of, so an event costs little more than it does for
 * one level. */

#define LEVELS 3
#define FINEST_SHIFT 18
#define SHIFT 3
/* Deeper ones are drawn from events only. */
#define ROWS_MOST 1024

struct box {
	struct swz_html_activation a; /* of a run `calls` is how many it is of
				       */
	bool run;
};

struct row {
	bool pending; /* `box` may grow */
	struct box box;
	uint64_t pixel; /* it begins in */
	uint64_t last;  /* end of the box before */
	uint8_t *bytes;
	size_t size;
	size_t capacity;
	uint64_t count;
};

struct level {
	uint64_t pixel; /* ticks */
	struct row *rows;
	size_t row_count;
	size_t row_capacity;
};

struct swz_html_levels {
	uint64_t start;
	struct level levels[LEVELS]; /* the finest first */
};

struct swz_html_levels *swz_html_levels_begin(uint64_t start, uint64_t end)
{
	struct swz_html_levels *levels = swz_allocate(1, sizeof(*levels));
	uint64_t length = end > start ? end - start : 1;
	size_t i;

	levels->start = start;
	for (i = 0; i < LEVELS; i++) {
		uint64_t pixel = length >> (FINEST_SHIFT - SHIFT * i);

		levels->levels[i].pixel = pixel ? pixel : 1;
	}
	return levels;
}

static void put_byte(struct row *row, uint8_t byte)
{
	swz_grow(&row->bytes, &row->capacity, row->size, 1);
	row->bytes[row->size++] = byte;
}

static void put_level_number(struct row *row, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(row, (uint8_t)(value | 0x80));
	put_byte(row, (uint8_t)value);
}

/* Ends of a run may lie behind the beginning of what follows: never where they
 * come from nested calls, so that what does is cut. */
static void put_box(struct row *row, const struct box *box)
{
	uint64_t start = box->a.start > row->last ? box->a.start : row->last;
	uint64_t end = box->a.end > start ? box->a.end : start;

	put_level_number(row, start - row->last);
	put_level_number(row, end - start);
	put_level_number(row, box->a.context);
	put_level_number(row, box->a.calls << 5 | (box->run ? 8u : 0u) |
				      box->a.flags);
	row->last = end;
	row->count++;
}

static struct row *row_at(struct level *level, size_t index, uint64_t origin)
{
	while (level->row_count <= index) {
		swz_grow(&level->rows, &level->row_capacity, level->row_count,
			 sizeof(*level->rows));
		level->rows[level->row_count++] = (struct row){.last = origin};
	}
	return &level->rows[index];
}

static void add(struct swz_html_levels *levels, size_t number, size_t index,
		const struct box *box);

static void put_pending(struct swz_html_levels *levels, size_t number,
			size_t index)
{
	struct row *row = &levels->levels[number].rows[index];
	struct box box = row->box;

	if (!row->pending)
		return;
	row->pending = false;
	put_box(row, &box);
	add(levels, number + 1, index, &box);
}

static uint64_t activations_of(const struct box *box)
{
	return box->run ? box->a.calls : 1;
}

static void add(struct swz_html_levels *levels, size_t number, size_t index,
		const struct box *box)
{
	struct level *level = &levels->levels[number];
	struct row *row;
	uint64_t pixel;

	if (number == LEVELS)
		return;
	row = row_at(level, index, levels->start);
	if ((box->a.end - box->a.start) * 2 >= 3 * level->pixel) {
		put_pending(levels, number, index);
		put_box(row, box);
		add(levels, number + 1, index, box);
		return;
	}
	pixel = (box->a.start - levels->start) / level->pixel;
	if (row->pending && row->pixel == pixel) {
		row->box.a.calls = activations_of(&row->box) +
				   activations_of(box);
		row->box.a.end = box->a.end;
		/* (what went wrong is to be seen from afar, too) */
		row->box.a.flags = (row->box.a.flags | box->a.flags) &
				   (SWZ_HTML_UNWOUND | SWZ_HTML_ERROR);
		row->box.run = true;
		return;
	}
	put_pending(levels, number, index);
	row->box = *box;
	row->pending = true;
	row->pixel = pixel;
}

void swz_html_levels_add(struct swz_html_levels *levels, uint64_t row,
			 const struct swz_html_activation *activation)
{
	struct box box = {.a = *activation};

	if (row >= ROWS_MOST)
		return;
	if (box.a.start < levels->start)
		box.a.start = levels->start;
	if (box.a.end < box.a.start)
		box.a.end = box.a.start;
	add(levels, 0, (size_t)row, &box);
}

static void put_level(struct swz_page_block *block, const struct level *level)
{
	size_t i;

	swz_page_block_number(block, level->pixel);
	swz_page_block_number(block, level->row_count);
	for (i = 0; i < level->row_count; i++)
		swz_page_block_number(block, level->rows[i].count);
	for (i = 0; i < level->row_count; i++)
		swz_page_block_bytes(block, level->rows[i].bytes,
				     level->rows[i].size);
}

void swz_html_levels_end(struct swz_html_levels *levels, FILE *stream,
			 const char *name, uint64_t origin)
{
	struct swz_page_block *block;
	size_t i, k;

	/* (what is pending in one level goes into the next one) */
	for (i = 0; i < LEVELS; i++)
		for (k = 0; k < levels->levels[i].row_count; k++)
			put_pending(levels, i, k);
	if (stream) {
		block = swz_page_block_begin(stream, name, LEVEL);
		swz_page_block_number(block, levels->start - origin);
		swz_page_block_number(block, LEVELS);
		for (i = 0; i < LEVELS; i++)
			put_level(block, &levels->levels[i]);
		swz_page_block_end(block);
	}
	for (i = 0; i < LEVELS; i++) {
		for (k = 0; k < levels->levels[i].row_count; k++)
			free(levels->levels[i].rows[k].bytes);
		free(levels->levels[i].rows);
	}
	free(levels);
}

/* --- events -------------------------------------------------------------- */

/* An event is the ticks since the one before, times eight, plus what it is. The
 * beginning of an activation is followed by its context: which child it is of
 * the one that is current, from 1, or 0 and the context's number where it is
 * none of its (fibers, folded contexts). What is hidden is left out.
 *
 * Blocks are of a size that a browser can inflate while a frame is drawn. With
 * the index each can be read without those before it. */

#define EVENTS_LEVEL 4 /* of compression: there may be much */
#define BLOCK_BYTES ((uint64_t)128 << 10)
/* A page reads all events of a thread that has fewer. */
#define FEW 20000u
#define PROGRESS_BYTES ((uint64_t)1 << 20)

enum what {
	BEGIN = 0,
	END = 1,
	UNWIND = 2,
	BEGIN_NO_CALL = 3,
	/* not when it began or ended, but when what is known of it does */
	BEGIN_CUT = 4,
	END_CUT = 5,
	END_ERROR = 6 /* with a result that is an error */
};

/* Work of ours, which is nobody's time, in the midst of a context. */
struct own_work {
	uint64_t start, end;
	uint32_t context;
};

/* An open activation. */
struct open {
	bool hidden;
	bool is_own_work;
	uint32_t current; /* the context that calls are made in meanwhile */
	struct swz_html_activation activation; /* without its end */
	uint64_t number;                       /* of activations before it */
	uint64_t no_calls;                     /* of these and itself */
	uint32_t in_index; /* its number there, or SWZ_MAP_NONE */
};

struct writer {
	FILE *stream;
	size_t number; /* the thread's */
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	bool compensated;
	size_t blocks;
	struct swz_page_block *block; /* NULL: none, or it is left out */
	uint64_t block_bytes;         /* before compression, of this one */
	uint64_t *room;
	struct swz_html_levels *levels;
	struct swz_html_index *index;
	struct swz_rules *rules;          /* of the configuration, or NULL */
	struct swz_value_reader *values;  /* NULL: there are none */
	struct swz_kept_values arguments; /* that nobody asks for */
	uint64_t no_calls;                /* activations that are none */
	uint64_t kept; /* shown ones, open since the block began */
	const struct swz_contexts *contexts;
	const struct swz_catalog *catalog;
	uint32_t *child;   /* per context: which of its parent's it is */
	uint32_t *current; /* per context: in which one it is during a call */
	uint64_t *errors;  /* per context: calls that returned one */
	struct open *stack;
	size_t depth; /* of the stack */
	size_t capacity;
	struct own_work *own;
	size_t own_count, own_capacity;
	uint64_t shown; /* open activations that are not hidden */
	uint64_t ticks; /* of the last event */
	struct swz_html_events *written;
};

static void number_contexts(struct writer *w)
{
	const struct swz_contexts *contexts = w->contexts;
	uint32_t *count = swz_allocate(contexts->count, sizeof(*count));
	uint32_t i;

	w->child = swz_allocate(contexts->count, sizeof(*w->child));
	w->current = swz_allocate(contexts->count, sizeof(*w->current));
	w->errors = swz_allocate(contexts->count, sizeof(*w->errors));
	for (i = 1; i < contexts->count; i++) {
		w->child[i] = ++count[contexts->items[i].parent];
		w->current[i] = swz_contexts_current(contexts, i);
	}
	free(count);
}

static uint32_t current(const struct writer *w)
{
	return w->depth ? w->stack[w->depth - 1].current : SWZ_CONTEXT_ROOT;
}

static void end_block(struct writer *w)
{
	uint64_t bytes = w->block ? swz_page_block_end(w->block) : 0;

	*w->room -= bytes < *w->room ? bytes : *w->room;
	w->block = NULL;
}

static void begin_block(struct writer *w)
{
	char name[64];
	size_t i;

	if (w->blocks)
		end_block(w);
	snprintf(name, sizeof(name), "events %zu %zu", w->number, w->blocks++);
	/* (of each thread there is something) */
	if (*w->room || w->blocks == 1)
		w->block = swz_page_block_begin(w->stream, name, EVENTS_LEVEL);
	w->block_bytes = 0;
	swz_html_index_block(w->index, w->ticks, w->written->activations,
			     w->kept);
	for (i = 0; i < w->depth; i++)
		if (!w->stack[i].hidden && w->stack[i].in_index == SWZ_MAP_NONE)
			w->stack[i].in_index = swz_html_index_open(w->index);
	w->kept = w->shown;
}

static void put_number(struct writer *w, uint64_t value)
{
	uint64_t left = value;

	if (w->block)
		swz_page_block_number(w->block, value);
	do {
		w->block_bytes++;
		left >>= 7;
	} while (left);
}

static void put(struct writer *w, uint64_t ticks, enum what what)
{
	if (!w->blocks || w->block_bytes >= BLOCK_BYTES)
		begin_block(w);
	put_number(w, (ticks - w->ticks) << 3 | (uint64_t)what);
	w->ticks = ticks;
	w->written->events++;
}

static bool is_own_work(const struct writer *w, uint32_t unit)
{
	return w->compensated && swz_thread_has_node(w->thread, unit) &&
	       swz_profile_node(w->profile, unit)->function ==
		       SWZ_FUNCTION_OURSELVES;
}

static void begin(struct writer *w, const struct swz_event *event)
{
	uint32_t context = swz_map_get(&w->contexts->units, event->node, 0);
	uint32_t at = current(w);
	bool hidden = context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT;
	bool no_call = event->cut || event->how == SWZ_EVENT_RESUME;

	if (!hidden) {
		put(w, event->ticks,
		    event->cut ? BEGIN_CUT
		    : no_call  ? BEGIN_NO_CALL
			       : BEGIN);
		w->no_calls += no_call;
	}
	swz_grow(&w->stack, &w->capacity, w->depth, sizeof(*w->stack));
	w->stack[w->depth++] = (struct open){
		.hidden = hidden,
		.is_own_work = hidden && is_own_work(w, event->node),
		.current = hidden ? at : w->current[context],
		.activation = {.start = event->ticks,
			       .context = context,
			       .flags = (no_call ? SWZ_HTML_NO_CALL : 0u) |
					(event->cut ? SWZ_HTML_CUT : 0u)},
		.number = w->written->activations,
		.no_calls = w->no_calls,
		.in_index = SWZ_MAP_NONE,
	};
	if (hidden)
		return;
	if (w->contexts->items[context].parent == at) {
		put_number(w, w->child[context]);
	} else {
		put_number(w, 0);
		put_number(w, context);
	}
	w->written->activations++;
	if (++w->shown > w->written->deepest)
		w->written->deepest = w->shown;
}

/* An activation is whole. */
static void note_whole(struct writer *w, const struct open *open,
		       const struct swz_event *event, bool error)
{
	struct swz_html_activation whole = open->activation;

	whole.end = event->ticks;
	whole.flags |= event->cut                       ? SWZ_HTML_CUT
		       : event->how == SWZ_EVENT_UNWIND ? SWZ_HTML_UNWOUND
		       : error                          ? SWZ_HTML_ERROR
							: 0u;
	whole.calls = w->written->activations - open->number - 1 -
		      (w->no_calls - open->no_calls);
	if (open->in_index != SWZ_MAP_NONE)
		swz_html_index_close(w->index, open->in_index, &whole);
	swz_html_levels_add(w->levels, w->shown, &whole);
}

static void note_own_work(struct writer *w, const struct open *open,
			  uint64_t end)
{
	if (!open->is_own_work)
		return;
	swz_grow(&w->own, &w->own_capacity, w->own_count, sizeof(*w->own));
	w->own[w->own_count++] = (struct own_work){open->activation.start, end,
						   open->current};
}

static void put_own_work(const struct writer *w, uint64_t origin)
{
	struct swz_page_block *block;
	uint64_t last = origin;
	char name[64];
	size_t i;

	if (!w->own_count)
		return;
	snprintf(name, sizeof(name), "own %zu", w->number);
	block = swz_page_block_begin(w->stream, name, EVENTS_LEVEL);
	swz_page_block_number(block, w->own_count);
	for (i = 0; i < w->own_count; i++) {
		const struct own_work *own = &w->own[i];

		swz_page_block_number(block, own->start - last);
		swz_page_block_number(block, own->end - own->start);
		swz_page_block_number(block, own->context);
		last = own->end;
	}
	swz_page_block_end(block);
}

/* True if the innermost call, which ends, has a result that is an error. */
static bool ends_in_error(struct writer *w, const struct swz_event *event)
{
	uint32_t context = w->stack[w->depth - 1].activation.context;
	const struct swz_value *result;
	struct swz_call_values of;

	if (!swz_values_of(w->values, event, &of) || of.exception ||
	    of.moment != SWZ_VALUES_RETURN)
		return false;
	result = swz_value_result(&of);
	return result &&
	       swz_result_is_exceptional(
		       swz_rules_of(w->rules, w->catalog,
				    w->contexts->items[context].function),
		       result);
}

static void end(struct writer *w, const struct swz_event *event)
{
	bool error;

	if (!w->depth)
		return;
	if (w->stack[w->depth - 1].hidden) {
		note_own_work(w, &w->stack[--w->depth], event->ticks);
		return;
	}
	/* (before it leaves the stack: a block may begin with it) */
	error = ends_in_error(w, event);
	w->errors[w->stack[w->depth - 1].activation.context] += error;
	put(w, event->ticks,
	    event->cut                       ? END_CUT
	    : event->how == SWZ_EVENT_UNWIND ? UNWIND
	    : error                          ? END_ERROR
					     : END);
	w->shown--;
	if (w->shown < w->kept)
		w->kept = w->shown;
	note_whole(w, &w->stack[--w->depth], event, error);
}

static void put_all(struct writer *w, struct swz_events *events, uint64_t total)
{
	struct swz_event event;
	uint64_t done = 0;

	swz_progress_stage("writing events", total);
	while (!ferror(w->stream) && swz_events_next(events, &event)) {
		if (event.begins) {
			if (w->values)
				swz_values_keep(w->values, &event,
						&w->arguments);
			begin(w, &event);
		} else {
			end(w, &event);
		}
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

void swz_html_put_failed(FILE *stream, size_t number,
			 const struct swz_contexts *contexts,
			 const uint64_t *errors)
{
	struct swz_page_block *block = NULL;
	size_t last = 0, i;
	char name[64];

	snprintf(name, sizeof(name), "failed %zu", number);
	for (i = 0; i < contexts->count; i++) {
		uint64_t unwound = contexts->items[i].unwound;
		uint64_t returned = errors ? errors[i] : 0;

		if (!unwound && !returned)
			continue;
		if (!block)
			block = swz_page_block_begin(stream, name,
						     EVENTS_LEVEL);
		swz_page_block_number(block, i - last);
		swz_page_block_number(block, unwound);
		swz_page_block_number(block, returned);
		last = i;
	}
	if (block)
		swz_page_block_end(block);
}

/* Writes what is needed to read only a part of it. */
static void put_parts(struct writer *w, uint64_t origin)
{
	bool many = w->written->activations > FEW;
	char name[64];

	snprintf(name, sizeof(name), "levels %zu", w->number);
	swz_html_levels_end(w->levels, many ? w->stream : NULL, name, origin);
	snprintf(name, sizeof(name), "index %zu", w->number);
	swz_html_index_end(w->index, many ? w->stream : NULL, name, origin,
			   w->written->activations);
}

void swz_html_put_events(FILE *stream, size_t number, uint64_t *room,
			 const struct swz_section *section,
			 struct swz_html_events *written)
{
	const struct swz_profile_thread *thread = section->thread;
	const struct swz_profile *profile = section->profile;
	uint64_t origin = swz_profile_origin(profile);
	uint64_t start = thread->record.start_ticks;
	uint64_t last = thread->last_ticks;
	struct writer w = {
		.stream = stream,
		.number = number,
		.profile = profile,
		.thread = thread,
		.compensated = section->compensated,
		.contexts = section->contexts,
		.catalog = section->catalog,
		.rules = section->view ? section->view->rules : NULL,
		.values = swz_values_open(profile, thread),
		.ticks = origin,
		.room = room,
		.index = swz_html_index_begin(),
		.written = written,
	};
	struct swz_events *events = swz_events_open(profile, thread);

	*written = (struct swz_html_events){
		.untraced = thread->record.untraced,
		.short_calls = thread->record.short_calls,
	};
	describe_untraced(profile, thread, written);
	if (section->range) {
		swz_events_limit(events, section->range->from,
				 section->range->to);
		if (section->range->from > start)
			start = section->range->from;
		if (section->range->to < last)
			last = section->range->to;
	}
	w.levels = swz_html_levels_begin(start > origin ? start : origin, last);
	number_contexts(&w);
	swz_events_show_hidden(events);
	put_all(&w, events, swz_events_size(thread));
	swz_events_close(events);
	end_block(&w);
	put_parts(&w, origin);
	put_own_work(&w, origin);
	swz_html_put_failed(stream, number, w.contexts, w.errors);
	swz_values_close(w.values);
	swz_kept_values_free(&w.arguments);
	free(w.own);
	free(w.errors);
	free(w.child);
	free(w.current);
	free(w.stack);
}

/* --- samples -------------------------------------------------------------- */

/* The context that a sample's time is in. What is hidden is its caller's. */
static uint32_t context_of(const struct swz_section *section, uint32_t unit)
{
	const struct swz_profile_thread *thread = section->thread;

	while (unit != thread->record.root &&
	       swz_thread_has_node(thread, unit)) {
		uint32_t context = swz_map_get(&section->contexts->units, unit,
					       0);
		uint32_t parent =
			swz_profile_node(section->profile, unit)->parent;

		if (context != SWZ_MAP_NONE && context != SWZ_CONTEXT_ROOT)
			return context;
		if (parent >= unit)
			break;
		unit = parent;
	}
	return SWZ_CONTEXT_ROOT;
}

static void put_shares(struct swz_page_block *block,
		       const struct swz_section *section,
		       const struct swz_sample_share *shares, size_t count)
{
	const struct swz_profile *profile = section->profile;
	size_t i;

	swz_page_block_number(block, count);
	for (i = 0; i < count; i++) {
		const struct swz_sample_share *s = &shares[i];

		swz_page_block_number(block, context_of(section, s->node));
		swz_page_block_time(block,
				    swz_profile_ns(profile, s->running_ticks));
		swz_page_block_time(block,
				    swz_profile_ns(profile, s->waiting_ticks));
		swz_page_block_number(block, s->running);
		swz_page_block_number(block, s->waiting);
	}
}

static int by_node(const void *left, const void *right)
{
	const struct swz_sample_share *a = left, *b = right;

	return (a->node > b->node) - (a->node < b->node);
}

void swz_html_put_samples(FILE *stream, size_t number,
			  const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	uint64_t last = swz_profile_origin(profile);
	size_t count, share_count, i;
	struct swz_profile_sample *samples = swz_samples_read(
		profile, section->thread, &count);
	struct swz_sample_share *shares = swz_sample_shares(
		profile, section->thread, samples, count, &share_count);
	struct swz_page_block *block;
	char name[64];

	if (share_count > 1)
		qsort(shares, share_count, sizeof(*shares), by_node);
	snprintf(name, sizeof(name), "samples %zu", number);
	block = swz_page_block_begin(stream, name, EVENTS_LEVEL);
	put_shares(block, section, shares, share_count);
	for (i = 0; i < count; i++) {
		const struct swz_sample_share wanted =
						      {.node = samples[i].node},
					      *found;

		found = share_count ? bsearch(&wanted, shares, share_count,
					      sizeof(*shares), by_node)
				    : NULL;
		if (!found)
			continue;
		swz_page_block_number(block, (samples[i].ticks - last) << 1 |
						     samples[i].waiting);
		swz_page_block_number(block, (uint64_t)(found - shares));
		last = samples[i].ticks;
	}
	swz_page_block_end(block);
	free(shares);
	free(samples);
}
