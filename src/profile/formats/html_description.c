/* What the page says of its profiles, threads and runs, as JSON. */

#include "profile/formats/html_description.h"

#include <stdlib.h>

#include "base/refusal_text.h"
#include "profile/file/events.h"
#include "profile/file/marks.h"
#include "profile/file/process_name.h"
#include "profile/file/ranks.h"
#include "profile/file/writer.h"
#include "profile/formats/json_value.h"
#include "profile/formats/losses.h"
#include "profile/formats/page_block.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"

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

/* Of a profile that holds samples, not calls. */
static void put_samples(struct swz_json *json,
			const struct swz_file_header *header)
{
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return;
	swz_json_flag(json, "holdsSamples", true);
	swz_json_integer(json, "samples", header->samples);
	swz_json_integer(json, "lostSamples", header->lost_samples);
	swz_json_integer(json, "missedSamples", header->missed_samples);
	swz_json_integer(json, "cutStacks", header->cut_stacks);
	swz_json_integer(json, "brokenStacks", header->broken_stacks);
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

/* What one sample stands for, what is missing of the samples, and which
 * functions' calls were not counted. */
static void put_joined(struct swz_json *json, const struct swz_section *section)
{
	struct swz_section sampled = {.sampled = section->sampled,
				      .sampled_count = section->sampled_count};
	struct swz_losses losses = swz_losses_find(&sampled);
	size_t i;

	swz_json_ns(json, "boundNs", section->joined->bound_ns);
	swz_json_integer(json, "samples", section->joined->samples);
	swz_json_integer(json, "lostSamples", losses.lost_samples);
	swz_json_integer(json, "missedSamples", losses.missed_samples);
	swz_json_integer(json, "cutStacks", losses.cut_stacks);
	swz_json_open(json, "uncounted", "[");
	for (i = 0; i < section->report->function_capacity; i++)
		if (section->report->functions[i].uncounted)
			swz_json_integer(json, NULL, i);
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

void swz_html_put_description(struct swz_html_page *page,
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
	if (page->joined)
		put_joined(&json, page->joined);
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
