/* The page is a frame (src/html, put together when swizzle-dump is built) with
 * blocks of data in its midst. Threads are written one after the other and
 * forgotten; names and everything else that is known only when all threads were
 * seen follow.
 *
 * For each thread the page gets what other formats show (functions and calls
 * with their costs, so that the figures are the same to the ns) and the
 * context tree. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/refusal_text.h"
#include "profile/support/arith.h"
#include "profile/file/writer.h"
#include "profile/file/events.h"
#include "profile/file/marks.h"
#include "profile/file/ranks.h"
#include "profile/file/process_name.h"
#include "profile/formats/diff.h"
#include "profile/formats/html_diff.h"
#include "profile/formats/html_events.h"
#include "profile/formats/html_flows.h"
#include "profile/formats/html_last.h"
#include "profile/formats/html_ranks.h"
#include "profile/formats/html_sources.h"
#include "profile/formats/html_values.h"
#include "profile/formats/html_calls.h"
#include "profile/formats/html_settings.h"
#include "profile/formats/html_waiting.h"
#include "profile/support/map.h"
#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/formats/page_block.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

#define LEVEL 6           /* of compression */
#define MOST_MARKS 10000u /* of a profile */

/* src/html/page.S */
extern const char swz_page_head[], swz_page_head_end[];
extern const char swz_page_tail[], swz_page_tail_end[];

/* What the description says of a thread. */
struct thread_note {
	size_t profile;                          /* index */
	const struct swz_profile_thread *thread; /* NULL: of several */
	int32_t tid;
	const char *name;
	int64_t start_ns; /* since the first thread's start */
	int64_t end_ns;
	int64_t total_ns;
	int64_t raw_ns;
	size_t without_ranks; /* functions for whose ranks there was no room */
	struct swz_html_events events;
	struct swz_html_cut cut;
};

/* And of a profile. */
struct profile_note {
	const struct swz_profile *profile;
	uint64_t dropped;   /* inconsistent contexts */
	uint64_t repaired;  /* torn times */
	uint64_t not_shown; /* calls that a view hides */
};

/* And of a comparison. */
struct comparison_note {
	size_t first_old; /* of the profiles; 0: nothing is compared */
	size_t new_runs, old_runs;
	struct swz_diff_function total;
};

struct page {
	FILE *stream;
	const struct swz_catalog *catalog;
	bool compensated;
	const struct swz_section *joined; /* times are of another run; NULL:
					   * none is. Until the end */
	struct thread_note *threads;
	size_t thread_count;
	size_t thread_capacity;
	struct profile_note *profiles;
	size_t profile_count;
	size_t profile_capacity;
	struct swz_html_sources *sources;
	uint64_t event_room; /* bytes of events that there may be still */
	uint64_t value_room; /* of arguments and results */
	size_t rank_room;    /* and times of ranks */
	struct swz_html_band_names bands;
	const struct swz_view *view; /* of the sections; or NULL */
	struct comparison_note comparison;
};

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

static struct profile_note *note_profile(struct page *page,
					 const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < page->profile_count; i++)
		if (page->profiles[i].profile == profile)
			return &page->profiles[i];
	swz_grow(&page->profiles, &page->profile_capacity, page->profile_count,
		 sizeof(*page->profiles));
	page->profiles[i] = (struct profile_note){.profile = profile};
	page->profile_count++;
	return &page->profiles[i];
}

static struct thread_note *note_thread(struct page *page,
				       const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_profile_thread *thread = section->thread;
	struct profile_note *note = note_profile(page, profile);

	note->dropped = swz_add_count(note->dropped,
				      section->report->dropped_nodes);
	note->repaired = swz_add_count(note->repaired,
				       section->report->repaired_nodes);
	note->not_shown = swz_add_count(note->not_shown,
					section->report->not_shown);
	swz_grow(&page->threads, &page->thread_capacity, page->thread_count,
		 sizeof(*page->threads));
	page->threads[page->thread_count++] = (struct thread_note){
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
static void note_comparison(struct page *page,
			    const struct swz_section *section)
{
	struct comparison_note *note = &page->comparison;
	struct swz_page_block *block;
	char name[32];
	size_t i;

	snprintf(name, sizeof(name), "old %zu", page->thread_count);
	block = swz_page_block_begin(page->stream, name, LEVEL);
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
	struct page *page = writer->state;
	struct swz_page_block *block;
	struct thread_note *note;
	char name[32];

	snprintf(name, sizeof(name), "thread %zu", page->thread_count);
	block = swz_page_block_begin(page->stream, name, LEVEL);
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

/* ---- the catalog ---- */

/* Strings in the order of their numbers, from 1; 0 stands for none. Those of
 * the catalog are interned, so equal ones are mostly the same. */
struct strings {
	struct swz_page_block *block;
	struct swz_map numbers;
};

static uint32_t string_number(struct strings *strings, const char *string)
{
	uint32_t next = (uint32_t)strings->numbers.count + 1;
	uint32_t *found;

	if (!string)
		return 0;
	found = swz_map_at(&strings->numbers, (uintptr_t)string, 0);
	if (*found == SWZ_MAP_NONE) {
		*found = next;
		swz_page_block_text(strings->block, string);
	}
	return *found;
}

/* Writes the strings first, into one block, then what refers to them. */
static void put_catalog(FILE *stream, const struct swz_catalog *catalog)
{
	struct strings strings = {0};
	struct swz_page_block *block;
	size_t i;

	strings.block = swz_page_block_begin(stream, "strings", LEVEL);
	for (i = 0; i < catalog->module_count; i++) {
		string_number(&strings, catalog->modules[i].path);
		string_number(&strings, catalog->modules[i].name);
	}
	for (i = 0; i < catalog->function_count; i++) {
		string_number(&strings, catalog->functions[i].name);
		string_number(&strings, catalog->functions[i].file);
	}
	for (i = 0; i < catalog->place_count; i++) {
		string_number(&strings, catalog->places[i].file);
		string_number(&strings, catalog->places[i].inlined);
	}
	swz_page_block_end(strings.block);

	block = swz_page_block_begin(stream, "catalog", LEVEL);
	swz_page_block_number(block, catalog->module_count);
	for (i = 0; i < catalog->module_count; i++) {
		swz_page_block_number(
			block,
			string_number(&strings, catalog->modules[i].path));
		swz_page_block_number(
			block,
			string_number(&strings, catalog->modules[i].name));
	}
	swz_page_block_number(block, catalog->function_count);
	for (i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *f = &catalog->functions[i];

		swz_page_block_number(block, f->module < catalog->module_count
						     ? (uint64_t)f->module + 1
						     : 0);
		swz_page_block_number(block, string_number(&strings, f->name));
		swz_page_block_number(block, string_number(&strings, f->file));
		swz_page_block_time(block, f->line);
	}
	swz_page_block_number(block, catalog->place_count);
	for (i = 0; i < catalog->place_count; i++) {
		const struct swz_catalog_place *p = &catalog->places[i];

		swz_page_block_number(block, string_number(&strings, p->file));
		swz_page_block_time(block, p->line);
		swz_page_block_number(block,
				      string_number(&strings, p->inlined));
		swz_page_block_time(block, p->outer_line);
	}
	swz_page_block_end(block);
	swz_map_free(&strings.numbers);
}

/* ---- the description ---- */

/* JSON, of which a comma goes before everything that is not the first. */
struct json {
	FILE *stream; /* into memory: blocks take bytes */
	bool comma;
};

static void put_key(struct json *json, const char *key)
{
	if (json->comma)
		putc(',', json->stream);
	json->comma = true;
	if (key)
		fprintf(json->stream, "\"%s\":", key);
}

static void put_string(struct json *json, const char *key, const char *value)
{
	put_key(json, key);
	swz_put_json(json->stream, value ? value : "");
}

static void put_integer(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	fprintf(json->stream, "%" PRIu64, value);
}

/* As a string: more digits than the numbers of JavaScript have. */
static void put_digits(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	fprintf(json->stream, "\"%" PRIu64 "\"", value);
}

static void put_ns(struct json *json, const char *key, int64_t value)
{
	put_integer(json, key, value < 0 ? 0 : (uint64_t)value);
}

/* In thousandths: a decimal point would depend on the locale. */
static void put_milli(struct json *json, const char *key, double value)
{
	put_ns(json, key,
	       isfinite(value) && value < 1e15 ? llround(value * 1000) : 0);
}

static void put_flag(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->stream);
}

static void open_value(struct json *json, const char *key, const char *bracket)
{
	put_key(json, key);
	fputs(bracket, json->stream);
	json->comma = false;
}

static void close_value(struct json *json, const char *bracket)
{
	fputs(bracket, json->stream);
	json->comma = true;
}

static void put_module(struct json *json,
		       const struct swz_profile_module *module)
{
	const uint32_t *counts = module->record.counts;
	unsigned int i;

	open_value(json, NULL, "{");
	put_string(json, "path", module->path);
	put_flag(json, "inScope", module->record.in_scope);
	put_flag(json, "late", module->record.load_ticks != 0);
	put_integer(json, "patched", counts[SWZ_PATCHED]);
	put_integer(json, "filtered", counts[SWZ_REFUSE_FILTERED]);
	open_value(json, "refused", "[");
	for (i = 1; i < SWZ_REFUSAL_SLOTS; i++) {
		if (!counts[i] || i == SWZ_REFUSE_FILTERED)
			continue;
		open_value(json, NULL, "[");
		put_string(json, NULL, swz_refusal_text(i));
		put_integer(json, NULL, counts[i]);
		close_value(json, "]");
	}
	close_value(json, "]");
	close_value(json, "}");
}

static void put_arguments(struct json *json, const struct swz_profile *profile)
{
	size_t i;

	open_value(json, "arguments", "[");
	for (i = 0; i < profile->argument_count; i++)
		put_string(json, NULL, profile->arguments[i]);
	close_value(json, "]");
}

static double ticks_to_ns(const struct swz_profile *profile, double ticks)
{
	return ticks * (double)profile->clock_ns / (double)profile->clock_ticks;
}

/* Of a profile that holds samples, not calls. */
static void put_samples(struct json *json, const struct swz_file_header *header)
{
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return;
	put_flag(json, "holdsSamples", true);
	put_integer(json, "samples", header->samples);
	put_integer(json, "lostSamples", header->lost_samples);
	put_integer(json, "missedSamples", header->missed_samples);
	put_integer(json, "cutStacks", header->cut_stacks);
	put_integer(json, "brokenStacks", header->broken_stacks);
	put_flag(json, "ofWaiting",
		 header->sample_flags & SWZ_SAMPLES_OF_WAITING);
}

/* Its own; of a sum those of all. */
static void put_ranks(struct json *json, const struct swz_profile *profile)
{
	size_t i;

	if (profile->ranks) {
		open_value(json, "ranks", "[");
		for (i = 0; i < profile->ranks->count; i++)
			put_integer(json, NULL, profile->ranks->items[i].rank);
		close_value(json, "]");
	} else if (swz_profile_rank(profile) != SWZ_INDEX_NONE) {
		put_integer(json, "rank", swz_profile_rank(profile));
	}
}

static void put_header(struct json *json, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	double inside = (double)header->cost_inside / 1024;
	double outside = (double)header->cost_outside / 1024;
	char name[SWZ_PROCESS_NAME_BYTES];

	put_string(json, "file", profile->name);
	put_string(json, "name", swz_process_name(profile, name, sizeof(name)));
	put_integer(json, "pid", (uint32_t)header->pid);
	put_integer(json, "parent", (uint32_t)header->parent_pid);
	put_ranks(json, profile);
	if (swz_profile_label(profile, "host"))
		put_string(json, "host", swz_profile_label(profile, "host"));
	put_string(json, "executable", profile->executable);
	put_arguments(json, profile);
	put_string(json, "directory", profile->cwd);
	put_integer(json, "startedMs", header->start_realtime_ns / 1000000);
	put_ns(json, "durationNs",
	       swz_profile_ns(profile,
			      (int64_t)swz_profile_duration_ticks(profile)));
	put_flag(json, "clockKnown", profile->clock_known);
	put_milli(json, "clockKHz",
		  (double)profile->clock_ticks / (double)profile->clock_ns *
			  1000);
	put_milli(json, "costInsidePs", ticks_to_ns(profile, inside));
	put_milli(json, "costOutsidePs", ticks_to_ns(profile, outside));
	/* 1/1024 ticks: picoseconds would add up to something */
	put_integer(json, "costInside", header->cost_inside);
	put_integer(json, "costOutside", header->cost_outside);
	put_flag(json, "forked", header->flags & SWZ_FILE_FORKED);
	put_flag(json, "ended", header->flags & SWZ_FILE_ENDED);
	put_flag(json, "filtered", header->flags & SWZ_FILE_FILTERED);
	put_flag(json, "sampled", header->flags & SWZ_FILE_SAMPLED);
	put_samples(json, header);
	if (swz_full_reason(header))
		put_string(json, "incomplete", swz_full_reason(header));
	put_integer(json, "lostCalls", header->lost_calls);
	put_integer(json, "foldedCalls", profile->folded_calls);
	put_integer(json, "foldedRecursion", profile->folded_recursion);
	put_flag(json, "traced", header->flags & SWZ_FILE_TRACED);
	put_flag(json, "ring", header->flags & SWZ_FILE_RING);
	put_ns(json, "minNs",
	       swz_profile_ns(profile, (int64_t)header->min_ticks));
	put_digits(json, "originTicks", swz_profile_origin(profile));
	put_integer(json, "clockNs", profile->clock_ns);
	put_integer(json, "clockTicks", profile->clock_ticks);
}

/* What one sample stands for, and which functions' calls were not counted. */
static void put_joined(struct json *json, const struct swz_section *section)
{
	size_t i;

	put_ns(json, "boundNs", section->joined->bound_ns);
	put_integer(json, "samples", section->joined->samples);
	open_value(json, "uncounted", "[");
	for (i = 0; i < section->report->function_capacity; i++)
		if (section->report->functions[i].uncounted)
			put_integer(json, NULL, i);
	close_value(json, "]");
}

/* Each: ns since the profile's origin, the thread (0: all), the text. */
static void put_marks(struct json *json, const struct swz_profile *profile)
{
	size_t i;

	put_integer(json, "markCount", profile->mark_count);
	put_integer(json, "lostMarks", profile->header.lost_marks);
	open_value(json, "marks", "[");
	for (i = 0; i < profile->mark_count && i < MOST_MARKS; i++) {
		const struct swz_profile_mark *mark = &profile->marks[i];
		const struct swz_profile_thread *thread = swz_mark_thread(
			profile, mark);
		char *text = swz_mark_text(mark);

		open_value(json, NULL, "[");
		put_ns(json, NULL, swz_events_ns(profile, mark->ticks));
		put_integer(json, NULL,
			    thread && !swz_mark_is_of_process(mark)
				    ? (uint32_t)thread->record.tid
				    : 0);
		put_string(json, NULL, text);
		close_value(json, "]");
		free(text);
	}
	close_value(json, "]");
}

static void put_profile(struct json *json, const struct profile_note *note)
{
	const struct swz_profile *profile = note->profile;
	const struct swz_damage *damage = &profile->damage;
	size_t i;

	open_value(json, NULL, "{");
	put_header(json, profile);
	put_integer(json, "missingBytes", damage->missing_bytes);
	put_integer(json, "badChunks", damage->bad_chunks);
	put_integer(json, "droppedContexts",
		    swz_add_count(damage->stray_nodes, note->dropped));
	put_integer(json, "repairedContexts", note->repaired);
	put_integer(json, "notShown", note->not_shown);
	put_marks(json, profile);
	open_value(json, "modules", "[");
	for (i = 0; i < profile->module_count; i++)
		if (!swz_profile_repeats_module(profile, i) &&
		    !swz_module_is_no_file(&profile->modules[i]))
			put_module(json, &profile->modules[i]);
	close_value(json, "]");
	close_value(json, "}");
}

static void put_thread_note(struct json *json, const struct thread_note *thread)
{
	open_value(json, NULL, "{");
	put_integer(json, "profile", thread->profile);
	put_integer(json, "tid", (uint32_t)thread->tid);
	put_string(json, "name", thread->name);
	put_ns(json, "startNs", thread->start_ns);
	put_ns(json, "endNs", thread->end_ns);
	put_ns(json, "totalNs", thread->total_ns);
	put_ns(json, "rawNs", thread->raw_ns);
	if (thread->without_ranks)
		put_integer(json, "withoutRanks", thread->without_ranks);
	put_integer(json, "events", thread->events.events);
	put_integer(json, "activations", thread->events.activations);
	put_integer(json, "deepest", thread->events.deepest);
	put_integer(json, "untraced", thread->events.untraced);
	put_integer(json, "shortCalls", thread->events.short_calls);
	put_integer(json, "untracedCalls", thread->events.untraced_calls);
	put_ns(json, "untracedNs", thread->events.untraced_ns);
	put_ns(json, "untracedOwnNs", thread->events.untraced_own_ns);
	put_integer(json, "cutValues", thread->cut.values);
	put_integer(json, "cutBanded", thread->cut.banded);
	close_value(json, "}");
}

static void put_comparison(struct json *json,
			   const struct comparison_note *note)
{
	const struct swz_diff_function *total = &note->total;

	open_value(json, "comparison", "{");
	put_integer(json, "firstOld", note->first_old);
	put_integer(json, "newRuns", note->new_runs);
	put_integer(json, "oldRuns", note->old_runs);
	put_ns(json, "oldNs", total->costs.old.self_ns);
	put_flag(json, "noiseKnown", total->noise.known);
	put_integer(json, "noiseNs", total->noise.self_ns);
	put_string(json, "verdict",
		   total->noise.known ? swz_diff_verdict(total) : "");
	close_value(json, "}");
}

static void put_description(struct page *page, const char *const *advice,
			    const char *flow_doubts)
{
	struct swz_page_block *block;
	struct json json = {0};
	char *text = NULL;
	size_t size = 0, i;

	json.stream = swz_text_stream(&text, &size);
	open_value(&json, NULL, "{");
	put_integer(&json, "version", 1);
	put_string(&json, "creator", "swizzle " SWZ_VERSION);
	put_flag(&json, "compensated", page->compensated);
	if (flow_doubts)
		put_string(&json, "flowDoubts", flow_doubts);
	if (page->joined)
		put_joined(&json, page->joined);
	open_value(&json, "advice", "[");
	for (i = 0; advice && advice[i]; i++)
		put_string(&json, NULL, advice[i]);
	close_value(&json, "]");
	open_value(&json, "bands", "[");
	for (i = 0; i < page->bands.count; i++)
		put_string(&json, NULL, page->bands.names[i]);
	close_value(&json, "]");
	if (page->comparison.first_old)
		put_comparison(&json, &page->comparison);
	open_value(&json, "profiles", "[");
	for (i = 0; i < page->profile_count; i++)
		put_profile(&json, &page->profiles[i]);
	close_value(&json, "]");
	open_value(&json, "threads", "[");
	for (i = 0; i < page->thread_count; i++)
		put_thread_note(&json, &page->threads[i]);
	close_value(&json, "]");
	close_value(&json, "}");
	swz_text_stream_end(json.stream);
	block = swz_page_block_begin(page->stream, "description", LEVEL);
	swz_page_block_bytes(block, text, size);
	swz_page_block_end(block);
	free(text);
}

/* What was not certain of them; to be freed. */
static char *put_flows(const struct page *page)
{
	struct swz_html_flow_thread *threads = swz_allocate(
		page->thread_count + 1, sizeof(*threads));
	struct swz_profile **profiles = swz_allocate(page->profile_count + 1,
						     sizeof(*profiles));
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
	struct page *page = swz_allocate(1, sizeof(*page));

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
	struct page *page = writer->state;
	static const struct swz_catalog nothing;
	char *doubts;

	put_catalog(page->stream, page->catalog ? page->catalog : &nothing);
	swz_html_sources_end(page->sources, page->stream,
			     page->catalog ? page->catalog : &nothing,
			     !writer->options->without_source);
	swz_html_put_settings(page->stream, page->view,
			      page->catalog ? page->catalog : &nothing);
	doubts = put_flows(page);
	put_description(page, writer->advice, doubts);
	free(doubts);
	swz_page_frame(page->stream, swz_page_tail, swz_page_tail_end);
	swz_html_band_names_free(&page->bands);
	free(page->threads);
	free(page->profiles);
	free(page);
	writer->state = NULL;
}
