/* The page is a frame (src/html, put together when swizzle-dump is built) with
 * blocks of data in its midst. Threads are written one after the other and
 * forgotten; names and everything else that is known only when all threads were
 * seen follow.
 *
 * For each thread the page gets what other formats show (functions and calls
 * with their costs, so that the figures are the same to the ns) and the
 * context tree. */

#include "profile/formats/formats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/support/arith.h"
#include "profile/file/events.h"
#include "profile/formats/diff.h"
#include "profile/formats/html_catalog.h"
#include "profile/formats/html_description.h"
#include "profile/formats/html_diff.h"
#include "profile/formats/html_events.h"
#include "profile/formats/html_flows.h"
#include "profile/formats/html_last.h"
#include "profile/formats/html_page.h"
#include "profile/formats/html_ranks.h"
#include "profile/formats/html_sources.h"
#include "profile/formats/html_values.h"
#include "profile/formats/html_calls.h"
#include "profile/formats/html_settings.h"
#include "profile/formats/html_waiting.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/formats/page_block.h"

/* src/html/page.S */
extern const char swz_page_head[], swz_page_head_end[];
extern const char swz_page_tail[], swz_page_tail_end[];

/* ---- one thread ---- */

static uint32_t count_rows(const struct swz_section *section)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < section->report->function_capacity; i++)
		count += swz_html_has_row(section, i);
	return count;
}

static void put_functions_of(struct swz_page_block *block,
			     const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	size_t i, last = 0;

	swz_page_block_number(block, count_rows(section));
	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *f = &report->functions[i];

		if (!swz_html_has_row(section, i))
			continue;
		swz_page_block_number(block, i - last);
		last = i;
		swz_page_block_number(block, f->calls);
		swz_page_block_time(block, f->self_ns);
		swz_page_block_time(block, f->inclusive_ns);
		swz_page_block_time(block, f->min_ns);
		swz_page_block_time(block, f->max_ns);
		swz_page_block_number(block, f->unwound);
		swz_page_block_time(block, f->variance_ns < 0x1p62
						   ? llround(f->variance_ns)
						   : INT64_MAX);
	}
}

static void put_edges(struct swz_page_block *block,
		      const struct swz_report *report)
{
	uint32_t last = 0;
	size_t i;

	swz_page_block_number(block, report->edge_count);
	for (i = 0; i < report->edge_count; i++) {
		const struct swz_report_edge *edge = &report->edges[i];

		swz_page_block_number(block, edge->caller - last);
		last = edge->caller;
		swz_page_block_number(block, edge->callee);
		swz_page_block_number(block, edge->place);
		swz_page_block_number(block, edge->calls);
		swz_page_block_time(block, edge->inclusive_ns);
	}
}

/* The tree: of each context how far back its parent is, the function, the place
 * of the call, calls, and self time plus one; 0 stands for a folded call, of
 * which the time is in an outer context of the function. */
static void put_contexts(struct swz_page_block *block,
			 const struct swz_contexts *contexts)
{
	size_t i;

	swz_page_block_number(block, contexts->count);
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		swz_page_block_number(block, i - context->parent);
		swz_page_block_number(block, context->function);
		swz_page_block_number(block, context->place);
		swz_page_block_number(block, context->calls);
		swz_page_block_time(
			block,
			context->folded ? 0 : swz_add(context->self_ns, 1));
	}
}

static struct swz_html_profile_note *note_profile(
	struct swz_html_page *page, const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < page->profile_count; i++)
		if (page->profiles[i].profile == profile)
			return &page->profiles[i];
	swz_grow(&page->profiles, &page->profile_capacity, page->profile_count,
		 sizeof(*page->profiles));
	page->profiles[i] = (struct swz_html_profile_note){.profile = profile};
	page->profile_count++;
	return &page->profiles[i];
}

static struct swz_html_thread_note *note_thread(
	struct swz_html_page *page, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_profile_thread *thread = section->thread;
	struct swz_html_profile_note *note = note_profile(page, profile);

	note->dropped = swz_add_count(note->dropped,
				      section->report->dropped_nodes);
	note->repaired = swz_add_count(note->repaired,
				       section->report->repaired_nodes);
	note->not_shown = swz_add_count(note->not_shown,
					section->report->not_shown);
	if (section->range) {
		note->cut = true;
		note->range = *section->range;
	}
	swz_grow(&page->threads, &page->thread_capacity, page->thread_count,
		 sizeof(*page->threads));
	page->threads[page->thread_count++] = (struct swz_html_thread_note){
		.profile = (size_t)(note - page->profiles),
		.thread = section->old ? NULL : thread,
		.tid = thread ? thread->record.tid : 0,
		.name = thread                 ? thread->name
			: section->thread_name ? section->thread_name
					       : "all threads",
		.start_ns = thread ? swz_events_ns(profile,
						   thread->record.start_ticks)
				   : 0,
		.end_ns = thread ? swz_events_ns(profile, thread->last_ticks)
				 : 0,
		.total_ns = section->report->total_ns,
		.raw_ns = section->report->raw_ns,
	};
	return &page->threads[page->thread_count - 1];
}

/* The figures of the old side, and what the description says of the comparison:
 * which of the profiles are old ones, and what has become of the total. */
static void note_comparison(struct swz_html_page *page,
			    const struct swz_section *section)
{
	struct swz_html_comparison_note *note = &page->comparison;
	struct swz_page_block *block;
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "old %zu", page->thread_count);
	block = swz_page_block_begin(page->stream, name, SWZ_HTML_LEVEL);
	swz_html_put_old(block, section);
	swz_page_block_end(block);
	for (i = 0; i < section->profile_count; i++)
		note_profile(page, section->profiles[i]);
	note->first_old = page->profile_count;
	for (i = 0; i < section->old->profile_count; i++)
		note_profile(page, section->old->profiles[i]);
	note->total = swz_diff_of_total(section);
	note->new_runs = section->runs ? section->runs->count : 1;
	note->old_runs = section->old->runs ? section->old->runs->count : 1;
}

void swz_html_section(struct swz_writer *writer,
		      const struct swz_section *section)
{
	struct swz_html_page *page = writer->state;
	struct swz_page_block *block;
	struct swz_html_thread_note *note;
	char name[32];

	snprintf(name, sizeof(name), "thread %zu", page->thread_count);
	block = swz_page_block_begin(page->stream, name, SWZ_HTML_LEVEL);
	put_functions_of(block, section);
	put_edges(block, section->report);
	put_contexts(block, section->contexts);
	swz_page_block_end(block);
	swz_html_put_waiting(page->stream, page->thread_count, section);
	if (section->old)
		note_comparison(page, section);
	swz_html_sources_add(page->sources, section);
	page->catalog = section->catalog;
	page->compensated = section->compensated;
	page->view = section->view;
	if (section->joined)
		page->joined = section;
	note = note_thread(page, section);
	note->without_ranks = swz_html_put_ranks(page->stream,
						 page->thread_count - 1,
						 section, &page->rank_room);
	if (section->thread && !section->old)
		swz_html_put_last(page->stream, page->thread_count - 1,
				  section);
	if (!section->thread || !swz_profile_traced(section->profile))
		return;
	swz_html_put_events(page->stream, page->thread_count - 1,
			    &page->event_room, section, &note->events);
	note->cut = swz_html_put_calls(page->stream, page->thread_count - 1,
				       &page->value_room, &page->bands,
				       section);
}

/* What was not certain of them; to be freed. */
static char *put_flows(const struct swz_html_page *page)
{
	struct swz_html_flow_thread *threads = swz_allocate(
		page->thread_count + 1, sizeof(*threads));
	struct swz_profile **profiles = swz_allocate(
		page->profile_count + 1, sizeof(struct swz_profile *));
	bool any = false;
	char *doubts = NULL;
	size_t i;

	for (i = 0; i < page->thread_count; i++) {
		threads[i] = (struct swz_html_flow_thread){
			page->threads[i].profile, page->threads[i].thread};
		any |= threads[i].thread != NULL;
	}
	for (i = 0; i < page->profile_count; i++)
		profiles[i] = (struct swz_profile *)(uintptr_t)page->profiles[i]
				      .profile;
	if (any)
		doubts = swz_html_put_flows(page->stream, threads,
					    page->thread_count, profiles,
					    page->profile_count);
	free(threads);
	free(profiles);
	return doubts;
}

/* ---- the page ---- */

void swz_html_begin(struct swz_writer *writer)
{
	struct swz_html_page *page = swz_allocate(1, sizeof(*page));

	page->stream = writer->stream;
	page->sources = swz_html_sources_begin();
	page->event_room = SWZ_HTML_EVENT_BYTES;
	page->value_room = SWZ_HTML_VALUE_BYTES;
	page->rank_room = SWZ_HTML_RANK_CELLS;
	writer->state = page;
	swz_page_frame(page->stream, swz_page_head, swz_page_head_end);
}

void swz_html_end(struct swz_writer *writer)
{
	struct swz_html_page *page = writer->state;
	static const struct swz_catalog nothing;
	char *doubts;

	swz_html_put_catalog(page->stream,
			     page->catalog ? page->catalog : &nothing);
	swz_html_sources_end(page->sources, page->stream,
			     page->catalog ? page->catalog : &nothing,
			     !writer->options->without_source);
	swz_html_put_settings(page->stream, page->view,
			      page->catalog ? page->catalog : &nothing);
	doubts = put_flows(page);
	swz_html_put_description(page, writer->advice, doubts);
	free(doubts);
	swz_page_frame(page->stream, swz_page_tail, swz_page_tail_end);
	swz_html_band_names_free(&page->bands);
	free(page->threads);
	free(page->profiles);
	free(page);
	writer->state = NULL;
}
