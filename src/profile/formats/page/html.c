/* -f html writes a frame (src/html, put together when swizzle-dump is built)
 * with blocks of data in its midst. Threads are written one after the other and
 * forgotten. */

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/ranks.h"
#include "profile/file/records.h"
#include "profile/formats/calls/calls.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/page/html_blocks.h"

/* --- the description ----------------------------------------------------- */

/* The page describes its profiles, threads and runs as JSON. */

/* The description's facts about a thread. */
struct swz_html_thread_note {
	size_t profile;                          /* index */
	const struct swz_profile_thread *thread; /* NULL: of several */
	int32_t tid;
	const char *name;
	int64_t start_ns; /* since the first thread's start */
	int64_t end_ns;
	int64_t total_ns;
	int64_t unknown_ns; /* of these, running or waiting */
	int64_t raw_ns;
	size_t without_ranks; /* functions for whose ranks there was no room */
	struct swz_html_events events;
	struct swz_html_cut cut;
};

/* And of a profile. */
struct swz_html_profile_note {
	const struct swz_profile *profile;
	uint64_t dropped;   /* inconsistent contexts */
	uint64_t repaired;  /* torn times */
	uint64_t not_shown; /* calls that a view hides */
	bool cut;           /* to a range of time (--from, --to) */
	struct swz_range range;
};

/* And of a comparison. */
struct swz_html_comparison_note {
	size_t first_old; /* of the profiles; 0: nothing is compared */
	size_t new_runs, old_runs;
	struct swz_diff_function total;
};

/* Calls were counted, and times are by samples. */
struct swz_html_joined_note {
	bool known;
	bool by_edge; /* no contexts were recorded */
	struct swz_joined totals;
	uint64_t left_out_ns;     /* swz_left_out_ns() */
	struct swz_losses losses; /* of the samples */
	uint32_t *uncounted;      /* functions whose calls were not counted */
	size_t uncounted_count;
};

struct swz_html_page {
	FILE *stream;
	const struct swz_catalog *catalog;
	bool compensated;
	struct swz_html_joined_note joined;
	struct swz_html_thread_note *threads;
	size_t thread_count;
	size_t thread_capacity;
	struct swz_html_profile_note *profiles;
	size_t profile_count;
	size_t profile_capacity;
	struct swz_html_sources *sources;
	uint64_t event_room; /* bytes of events that there may be still */
	uint64_t value_room; /* of arguments and results */
	size_t rank_room;    /* and times of ranks */
	struct swz_html_band_names bands;
	const struct swz_view *view; /* of the sections; or NULL */
	struct swz_html_comparison_note comparison;
};

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define MOST_MARKS 10000u /* of a profile */

static void put_module(struct swz_json *json,
		       const struct swz_profile_module *module)
{
	const uint32_t *counts = module->record.counts;
	unsigned int i;

	swz_json_open(json, NULL, "{");
	swz_json_string(json, "path", module->path);
	swz_json_flag(json, "inScope", module->record.in_scope);
	swz_json_flag(json, "late", module->record.load_ticks != 0);
	swz_json_integer(json, "patched", counts[SWZ_PATCHED]);
	swz_json_integer(json, "filtered", counts[SWZ_REFUSE_FILTERED]);
	swz_json_open(json, "refused", "[");
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++) {
		if (!counts[i] || i == SWZ_REFUSE_FILTERED)
			continue;
		swz_json_open(json, NULL, "[");
		swz_json_string(json, NULL, swz_refusal_text(i));
		swz_json_integer(json, NULL, counts[i]);
		swz_json_close(json, "]");
	}
	swz_json_close(json, "]");
	swz_json_close(json, "}");
}

static void put_arguments(struct swz_json *json,
			  const struct swz_profile *profile)
{
	size_t i;

	swz_json_open(json, "arguments", "[");
	for (i = 0; i < profile->argument_count; i++)
		swz_json_string(json, NULL, profile->arguments[i]);
	swz_json_close(json, "]");
}

static double ticks_to_ns(const struct swz_profile *profile, double ticks)
{
	return ticks * (double)profile->clock_ns / (double)profile->clock_ticks;
}

static uint64_t mattering(uint64_t taken, uint64_t missed)
{
	return swz_missed_matter(taken, missed) ? missed : 0;
}

/* Facts about a profile that holds samples, not calls. */
static void put_samples(struct swz_json *json,
			const struct swz_file_header *header)
{
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return;
	swz_json_flag(json, "holdsSamples", true);
	swz_json_integer(json, "samples", header->samples);
	swz_json_integer(json, "lostSamples", header->lost_samples);
	swz_json_integer(json, "missedSamples",
			 mattering(header->samples, header->missed_samples));
	swz_json_integer(json, "cutStacks", header->cut_stacks);
	swz_json_integer(json, "brokenStacks", header->broken_stacks);
	swz_json_integer(json, "untimedSamples", header->untimed_samples);
	swz_json_flag(json, "ofWaiting",
		      header->sample_flags & SWZ_SAMPLES_OF_WAITING);
}

/* Its own; of a sum those of all. */
static void put_ranks(struct swz_json *json, const struct swz_profile *profile)
{
	size_t i;

	if (profile->ranks) {
		swz_json_open(json, "ranks", "[");
		for (i = 0; i < profile->ranks->count; i++)
			swz_json_integer(json, NULL,
					 profile->ranks->items[i].rank);
		swz_json_close(json, "]");
	} else if (swz_profile_rank(profile) != SWZ_INDEX_NONE) {
		swz_json_integer(json, "rank", swz_profile_rank(profile));
	}
}

static void put_header(struct swz_json *json, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	double inside = (double)header->cost_inside / 1024;
	double outside = (double)header->cost_outside / 1024;
	char name[SWZ_PROCESS_NAME_BYTES];

	swz_json_string(json, "file", profile->name);
	swz_json_string(json, "name",
			swz_process_name(profile, name, sizeof(name)));
	swz_json_integer(json, "pid", (uint32_t)header->pid);
	swz_json_integer(json, "parent", (uint32_t)header->parent_pid);
	put_ranks(json, profile);
	if (swz_profile_label(profile, "host"))
		swz_json_string(json, "host",
				swz_profile_label(profile, "host"));
	swz_json_string(json, "executable", profile->executable);
	put_arguments(json, profile);
	swz_json_string(json, "directory", profile->cwd);
	swz_json_integer(json, "startedMs",
			 header->start_realtime_ns / 1000000);
	swz_json_ns(json, "durationNs",
		    swz_profile_ns(profile, (int64_t)swz_profile_duration_ticks(
						    profile)));
	swz_json_flag(json, "endKnown", swz_profile_end_known(profile));
	swz_json_flag(json, "clockKnown", profile->clock_known);
	swz_json_milli(json, "clockKHz",
		       (double)profile->clock_ticks /
			       (double)profile->clock_ns * 1000);
	swz_json_milli(json, "costInsidePs", ticks_to_ns(profile, inside));
	swz_json_milli(json, "costOutsidePs", ticks_to_ns(profile, outside));
	/* 1/1024 ticks: picoseconds would add up to something */
	swz_json_integer(json, "costInside", header->cost_inside);
	swz_json_integer(json, "costOutside", header->cost_outside);
	swz_json_flag(json, "forked", header->flags & SWZ_FILE_FORKED);
	swz_json_flag(json, "ended", header->flags & SWZ_FILE_ENDED);
	swz_json_flag(json, "filtered", header->flags & SWZ_FILE_FILTERED);
	swz_json_flag(json, "sampled", header->flags & SWZ_FILE_SAMPLED);
	put_samples(json, header);
	if (swz_full_reason(header))
		swz_json_string(json, "incomplete", swz_full_reason(header));
	swz_json_integer(json, "lostCalls", header->lost_calls);
	swz_json_integer(json, "foldedCalls", profile->folded_calls);
	swz_json_integer(json, "foldedRecursion", profile->folded_recursion);
	swz_json_flag(json, "traced", header->flags & SWZ_FILE_TRACED);
	swz_json_flag(json, "ring", header->flags & SWZ_FILE_RING);
	swz_json_ns(json, "minNs",
		    swz_profile_ns(profile, (int64_t)header->min_ticks));
	swz_json_digits(json, "originTicks", swz_profile_origin(profile));
	swz_json_integer(json, "clockNs", profile->clock_ns);
	swz_json_integer(json, "clockTicks", profile->clock_ticks);
}

/* The time that one sample stands for, what is missing of the samples, and
 * which functions' calls were not counted. */
static void put_joined(struct swz_json *json,
		       const struct swz_html_joined_note *note)
{
	size_t i;

	swz_json_ns(json, "boundNs", note->totals.bound_ns);
	swz_json_integer(json, "samples", note->totals.samples);
	swz_json_ns(json, "countingNs", (int64_t)note->left_out_ns);
	swz_json_ns(json, "unsureCountingNs", note->totals.unsure_ns);
	swz_json_integer(json, "lostSamples", note->losses.lost_samples);
	swz_json_integer(
		json, "missedSamples",
		mattering(note->losses.samples, note->losses.missed_samples));
	swz_json_integer(json, "cutStacks", note->losses.cut_stacks);
	if (note->by_edge)
		swz_json_flag(json, "callsByEdge", true);
	swz_json_open(json, "uncounted", "[");
	for (i = 0; i < note->uncounted_count; i++)
		swz_json_integer(json, NULL, note->uncounted[i]);
	swz_json_close(json, "]");
}

/* Not those of threads and times that the page does not have (--tid, --from,
 * --to). */
static bool has_mark(const struct swz_html_page *page,
		     const struct swz_html_profile_note *note,
		     const struct swz_profile_mark *mark)
{
	const struct swz_profile_thread *thread = swz_mark_thread(note->profile,
								  mark);
	size_t i;

	if (note->cut &&
	    (mark->ticks < note->range.from || mark->ticks >= note->range.to))
		return false;
	if (!thread || swz_mark_is_of_process(mark))
		return true;
	for (i = 0; i < page->thread_count; i++)
		if (!page->threads[i].thread ||
		    page->threads[i].thread == thread)
			return true;
	return false;
}

/* Each: ns since the profile's origin, the thread (0: all), the text. */
static void put_marks(struct swz_json *json, const struct swz_html_page *page,
		      const struct swz_html_profile_note *note)
{
	const struct swz_profile *profile = note->profile;
	size_t count = 0, i;

	for (i = 0; i < profile->mark_count; i++)
		count += has_mark(page, note, &profile->marks[i]);
	swz_json_integer(json, "markCount", count);
	swz_json_integer(json, "lostMarks", profile->header.lost_marks);
	swz_json_open(json, "marks", "[");
	for (i = count = 0; i < profile->mark_count && count < MOST_MARKS;
	     i++) {
		const struct swz_profile_mark *mark = &profile->marks[i];
		const struct swz_profile_thread *thread = swz_mark_thread(
			profile, mark);
		char *text;

		if (!has_mark(page, note, mark))
			continue;
		count++;
		text = swz_mark_text(mark);
		swz_json_open(json, NULL, "[");
		swz_json_ns(json, NULL, swz_events_ns(profile, mark->ticks));
		swz_json_integer(json, NULL,
				 thread && !swz_mark_is_of_process(mark)
					 ? (uint32_t)thread->record.tid
					 : 0);
		swz_json_string(json, NULL, text);
		swz_json_close(json, "]");
		free(text);
	}
	swz_json_close(json, "]");
}

static void put_profile(struct swz_json *json, const struct swz_html_page *page,
			const struct swz_html_profile_note *note)
{
	const struct swz_profile *profile = note->profile;
	const struct swz_damage *damage = &profile->damage;
	size_t i;

	swz_json_open(json, NULL, "{");
	put_header(json, profile);
	swz_json_integer(json, "missingBytes", damage->missing_bytes);
	swz_json_integer(json, "badChunks", damage->bad_chunks);
	swz_json_integer(json, "droppedContexts",
			 swz_add_count(damage->stray_nodes, note->dropped));
	swz_json_integer(json, "repairedContexts", note->repaired);
	swz_json_integer(json, "notShown", note->not_shown);
	put_marks(json, page, note);
	swz_json_open(json, "modules", "[");
	for (i = 0; i < profile->module_count; i++)
		if (!swz_profile_repeats_module(profile, i) &&
		    !swz_module_is_no_file(&profile->modules[i]))
			put_module(json, &profile->modules[i]);
	swz_json_close(json, "]");
	swz_json_close(json, "}");
}

static void put_thread_note(struct swz_json *json,
			    const struct swz_html_thread_note *thread)
{
	swz_json_open(json, NULL, "{");
	swz_json_integer(json, "profile", thread->profile);
	swz_json_integer(json, "tid", (uint32_t)thread->tid);
	swz_json_string(json, "name", thread->name);
	swz_json_ns(json, "startNs", thread->start_ns);
	swz_json_ns(json, "endNs", thread->end_ns);
	swz_json_ns(json, "totalNs", thread->total_ns);
	if (thread->unknown_ns)
		swz_json_ns(json, "unknownNs", thread->unknown_ns);
	swz_json_ns(json, "rawNs", thread->raw_ns);
	if (thread->without_ranks)
		swz_json_integer(json, "withoutRanks", thread->without_ranks);
	swz_json_integer(json, "events", thread->events.events);
	swz_json_integer(json, "activations", thread->events.activations);
	swz_json_integer(json, "deepest", thread->events.deepest);
	swz_json_integer(json, "untraced", thread->events.untraced);
	swz_json_integer(json, "shortCalls", thread->events.short_calls);
	swz_json_integer(json, "untracedCalls", thread->events.untraced_calls);
	swz_json_ns(json, "untracedNs", thread->events.untraced_ns);
	swz_json_ns(json, "untracedOwnNs", thread->events.untraced_own_ns);
	swz_json_integer(json, "cutValues", thread->cut.values);
	swz_json_integer(json, "cutBanded", thread->cut.banded);
	swz_json_close(json, "}");
}

static void put_comparison(struct swz_json *json,
			   const struct swz_html_comparison_note *note)
{
	const struct swz_diff_function *total = &note->total;

	swz_json_open(json, "comparison", "{");
	swz_json_integer(json, "firstOld", note->first_old);
	swz_json_integer(json, "newRuns", note->new_runs);
	swz_json_integer(json, "oldRuns", note->old_runs);
	swz_json_ns(json, "oldNs", total->costs.old.self_ns);
	swz_json_flag(json, "noiseKnown", total->noise.known);
	swz_json_integer(json, "noiseNs", total->noise.self_ns);
	swz_json_string(json, "verdict",
			total->noise.known ? swz_diff_verdict(total) : "");
	swz_json_close(json, "}");
}

/* Writes the block "description" of a page. ADVICE ends with NULL, or is NULL;
 * FLOW_DOUBTS: what was not certain of its flows, or NULL. */
static void html_put_description(struct swz_html_page *page,
				 const char *const *advice,
				 const char *flow_doubts)
{
	struct swz_page_block *block;
	struct swz_json json = {0};
	char *text = NULL;
	size_t size = 0, i;

	json.stream = swz_text_stream(&text, &size);
	swz_json_open(&json, NULL, "{");
	swz_json_integer(&json, "version", 1);
	swz_json_string(&json, "creator", "swizzle " SWZ_VERSION);
	swz_json_flag(&json, "compensated", page->compensated);
	if (flow_doubts)
		swz_json_string(&json, "flowDoubts", flow_doubts);
	if (page->joined.known)
		put_joined(&json, &page->joined);
	swz_json_open(&json, "advice", "[");
	for (i = 0; advice && advice[i]; i++)
		swz_json_string(&json, NULL, advice[i]);
	swz_json_close(&json, "]");
	swz_json_open(&json, "bands", "[");
	for (i = 0; i < page->bands.count; i++)
		swz_json_string(&json, NULL, page->bands.names[i]);
	swz_json_close(&json, "]");
	if (page->comparison.first_old)
		put_comparison(&json, &page->comparison);
	swz_json_open(&json, "profiles", "[");
	for (i = 0; i < page->profile_count; i++)
		put_profile(&json, page, &page->profiles[i]);
	swz_json_close(&json, "]");
	swz_json_open(&json, "threads", "[");
	for (i = 0; i < page->thread_count; i++)
		put_thread_note(&json, &page->threads[i]);
	swz_json_close(&json, "]");
	swz_json_close(&json, "}");
	swz_text_stream_end(json.stream);
	block = swz_page_block_begin(page->stream, "description",
				     SWZ_HTML_LEVEL);
	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
	free(text);
}

/* --- the page ------------------------------------------------------------ */

/* The page is a frame (src/html, put together when swizzle-dump is built) with
 * blocks of data in its midst. Threads are written one after the other and
 * forgotten; names and everything else that is known only when all threads were
 * seen follow.
 *
 * For each thread the page gets what other formats show (functions and calls
 * with their costs, so that the figures are the same to the ns) and the
 * context tree. */

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

/* --percentiles: of each function with times how far it is from the one before,
 * how many times, and these: the difference to the time before, and calls. */
static void put_call_times(FILE *stream, size_t thread,
			   const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_page_block *block;
	char name[32];
	size_t i, j, last = 0;

	if (!report->has_times)
		return;
	snprintf(name, sizeof(name), "times %zu", thread);
	block = swz_page_block_begin(stream, name, SWZ_HTML_LEVEL);
	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_call_times *times =
			&report->functions[i].times;

		if (!times->count || !swz_html_has_row(section, i))
			continue;
		swz_page_block_number(block, i - last);
		last = i;
		swz_page_block_number(block, times->count);
		for (j = 0; j < times->count; j++) {
			swz_page_block_time(
				block,
				times->items[j].ns -
					(j ? times->items[j - 1].ns : 0));
			swz_page_block_number(block, times->items[j].calls);
		}
	}
	swz_page_block_end(block);
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
		.unknown_ns = swz_tells_running(section->report)
				      ? section->report->unknown_ns
				      : 0,
		.raw_ns = section->report->raw_ns,
	};
	return &page->threads[page->thread_count - 1];
}

static void note_joined(struct swz_html_joined_note *note,
			const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_section sampled = {.sampled = section->sampled,
				      .sampled_count = section->sampled_count};
	size_t i;

	free(note->uncounted);
	*note = (struct swz_html_joined_note){
		.known = true,
		.by_edge = report->calls_by_edge,
		.totals = *section->joined,
		.left_out_ns = swz_left_out_ns(section),
		.losses = swz_losses_find(&sampled),
		.uncounted = swz_allocate(report->function_capacity + 1,
					  sizeof(*note->uncounted))};
	for (i = 0; i < report->function_capacity; i++)
		if (report->functions[i].uncounted)
			note->uncounted[note->uncounted_count++] = (uint32_t)i;
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
	put_call_times(page->stream, page->thread_count, section);
	swz_html_put_waiting(page->stream, page->thread_count, section);
	if (section->old)
		note_comparison(page, section);
	swz_html_sources_add(page->sources, section);
	page->catalog = section->catalog;
	page->compensated = section->compensated;
	page->view = section->view;
	if (section->joined)
		note_joined(&page->joined, section);
	note = note_thread(page, section);
	note->without_ranks = swz_html_put_ranks(page->stream,
						 page->thread_count - 1,
						 section, &page->rank_room);
	if (section->thread && !section->old)
		swz_html_put_last(page->stream, page->thread_count - 1,
				  section);
	if (!section->thread || section->old)
		return;
	if (swz_profile_has_samples(section->profile)) {
		swz_html_put_samples(page->stream, page->thread_count - 1,
				     section);
	} else if (!swz_profile_traced(section->profile)) {
		swz_html_put_failed(page->stream, page->thread_count - 1,
				    section->contexts, NULL);
		return;
	}
	swz_html_put_events(page->stream, page->thread_count - 1,
			    &page->event_room, section, &note->events);
	note->cut = swz_html_put_calls(page->stream, page->thread_count - 1,
				       &page->value_room, &page->bands,
				       section);
}

/* Doubts about them; to be freed. */
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

/* Writes, in the JSON of swizzle-dump --why, what made those calls slow that
 * --slow has kept. */
static void put_slow_calls(FILE *to, struct swz_trace *trace)
{
	const struct swz_style style = {.utf8 = true};
	const struct swz_calls_options *given = trace->calls;
	struct swz_calls_options calls = *given;
	struct swz_page_block *block;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = swz_text_stream(&text, &size);

	calls.style = &style;
	trace->calls = &calls;
	swz_explain_slow_calls(stream, trace);
	trace->calls = given;
	swz_text_stream_end(stream);
	block = swz_page_block_begin(to, "slow", SWZ_HTML_LEVEL);
	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
	free(text);
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
	if (writer->trace)
		put_slow_calls(page->stream, writer->trace);
	html_put_description(page, writer->advice, doubts);
	free(doubts);
	swz_page_frame(page->stream, swz_page_tail, swz_page_tail_end);
	swz_html_band_names_free(&page->bands);
	free(page->threads);
	free(page->profiles);
	free(page->joined.uncounted);
	free(page);
	writer->state = NULL;
}
