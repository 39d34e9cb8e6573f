/* The page's smaller blocks: names, ranks, the old side of a comparison, flows,
 * last values, waiting, settings. Each function writes one, and src/html reads
 * it. */

#include "profile/formats/page/html_blocks.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/printable.h"
#include "profile/costs/groups.h"
#include "profile/file/events.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/flows/flows.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/names/catalog.h"
#include "util/memory.h"

/* --- names --------------------------------------------------------------- */

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

void swz_html_put_catalog(FILE *stream, const struct swz_catalog *catalog)
{
	struct strings strings = {0};
	struct swz_page_block *block;
	size_t i;

	strings.block = swz_page_block_begin(stream, "strings", SWZ_HTML_LEVEL);
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

	block = swz_page_block_begin(stream, "catalog", SWZ_HTML_LEVEL);
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

/* --- ranks --------------------------------------------------------------- */

#define LEVEL 6 /* of compression */
#define NO_ROW UINT32_MAX

struct table {
	const struct swz_section *section;
	uint32_t *functions; /* of the rows; sorted */
	size_t count;
	uint32_t *row_of; /* by the catalog's functions */
	int64_t *times;   /* by row, then rank */
};

static int by_time(const void *left, const void *right, void *context)
{
	const struct swz_report_function *functions = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	if (functions[a].self_ns != functions[b].self_ns)
		return functions[a].self_ns > functions[b].self_ns ? -1 : 1;
	return a < b ? -1 : a > b;
}

static int by_number(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return a < b ? -1 : a > b;
}

/* Returns how many have no row. */
static size_t choose_rows(struct table *table, size_t ranks, size_t room)
{
	const struct swz_report *report = table->section->report;
	size_t capacity = report->function_capacity, all = 0, i;

	table->functions = swz_allocate(capacity + 1,
					sizeof(*table->functions));
	table->row_of = swz_allocate(capacity + 1, sizeof(*table->row_of));
	for (i = 0; i < capacity; i++) {
		table->row_of[i] = NO_ROW;
		if (report->functions[i].present)
			table->functions[all++] = (uint32_t)i;
	}
	table->count = all;
	if (table->count > room / ranks) {
		table->count = room / ranks;
		qsort_r(table->functions, all, sizeof(*table->functions),
			by_time, report->functions);
	}
	qsort(table->functions, table->count, sizeof(*table->functions),
	      by_number);
	for (i = 0; i < table->count; i++)
		table->row_of[table->functions[i]] = (uint32_t)i;
	return all - table->count;
}

static void add_rank(struct table *table, uint32_t thread, size_t index,
		     size_t ranks)
{
	struct swz_profile *profile = table->section->binding->profile;
	const struct swz_summed_rank *rank = &profile->ranks->items[index];
	struct swz_rank_cost *costs = swz_profile_rank_costs(profile, index);
	uint32_t i;

	for (i = 0; costs && i < rank->cost_count; i++) {
		uint32_t function;

		if (costs[i].thread != thread)
			continue;
		function = swz_rank_function(table->section->binding,
					     &costs[i]);
		if (function < table->section->report->function_capacity &&
		    table->row_of[function] != NO_ROW)
			table->times[table->row_of[function] * ranks + index] =
				costs[i].self_ns;
	}
	free(costs);
}

/* The functions, each as its distance from the one before; then of each the
 * times of all ranks. */
static void put_table(FILE *stream, size_t index, const struct table *table,
		      size_t ranks)
{
	struct swz_page_block *block;
	char name[32];
	uint32_t last = 0;
	size_t i;

	snprintf(name, sizeof(name), "ranks %zu", index);
	block = swz_page_block_begin(stream, name, LEVEL);
	swz_page_block_number(block, table->count);
	for (i = 0; i < table->count; i++) {
		swz_page_block_number(block, table->functions[i] - last);
		last = table->functions[i];
	}
	for (i = 0; i < table->count * ranks; i++)
		swz_page_block_time(block, table->times[i]);
	swz_page_block_end(block);
}

size_t swz_html_put_ranks(FILE *stream, size_t index,
			  const struct swz_section *section, size_t *room)
{
	const struct swz_profile *profile = section->profile;
	struct table table = {.section = section};
	size_t thread, left_out, i;

	if (!section->thread || !profile->ranks || !profile->ranks->count ||
	    (section->view && !swz_view_is_whole(section->view)))
		return 0;
	thread = (size_t)(section->thread - profile->threads);
	if (!swz_profile_thread_has_rank(profile, thread))
		return 0;
	left_out = choose_rows(&table, profile->ranks->count, *room);
	*room -= table.count * profile->ranks->count;
	table.times = swz_allocate(table.count * profile->ranks->count + 1,
				   sizeof(*table.times));
	for (i = 0; i < profile->ranks->count; i++)
		add_rank(&table, (uint32_t)thread, i, profile->ranks->count);
	put_table(stream, index, &table, profile->ranks->count);
	free(table.functions);
	free(table.row_of);
	free(table.times);
	return left_out;
}

/* --- comparisons --------------------------------------------------------- */

/* Both sides of a comparison have the same shape (see diff.h), so the old
 * figures follow the order of the new ones and need no names. */

bool swz_html_has_row(const struct swz_section *section, size_t function)
{
	return section->report->functions[function].present ||
	       (section->old &&
		section->old->report->functions[function].present);
}

static void put_old_functions(struct swz_page_block *block,
			      const struct swz_section *section)
{
	uint32_t i;

	for (i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function;

		if (!swz_html_has_row(section, i))
			continue;
		function = swz_diff_function(section, i);
		swz_page_block_number(block, function.costs.old.calls);
		swz_page_block_time(block, function.costs.old.self_ns);
		swz_page_block_time(block, function.costs.old.inclusive_ns);
		swz_page_block_number(block, function.noise.calls);
		swz_page_block_number(block, function.noise.self_ns);
		swz_page_block_number(block, function.noise.inclusive_ns);
		swz_page_block_number(block, function.kind);
	}
}

void swz_html_put_old(struct swz_page_block *block,
		      const struct swz_section *section)
{
	const struct swz_report *report = section->old->report;
	const struct swz_contexts *contexts = section->old->contexts;
	size_t i;

	put_old_functions(block, section);
	for (i = 0; i < report->edge_count; i++) {
		swz_page_block_number(block, report->edges[i].calls);
		swz_page_block_time(block, report->edges[i].inclusive_ns);
	}
	for (i = 0; i < contexts->count; i++) {
		swz_page_block_number(block, contexts->items[i].calls);
		swz_page_block_time(block, contexts->items[i].self_ns);
	}
}

/* --- flows --------------------------------------------------------------- */

/* The block has the names of the functions that flows begin and end in, then
 * the flows: for either end the thread's number in the page, ticks since its
 * profile's origin, and the name's number. */

/* More than anybody looks at, and as many as a browser holds with ease. */
#define MOST_FLOWS 500000u
#define MOST_NAMES 128u

struct names {
	const char *of[MOST_NAMES]; /* of a list of fixed names */
	size_t count;
};

static size_t name_number(struct names *names, const char *name)
{
	size_t i = 0;

	while (i < names->count && strcmp(names->of[i], name) != 0)
		i++;
	if (i == names->count && i < MOST_NAMES)
		names->of[names->count++] = name;
	return i;
}

static void put_end(struct swz_page_block *block, struct names *names,
		    uint32_t number, const struct swz_profile *profile,
		    const struct swz_flow_end *end)
{
	uint64_t origin = swz_profile_origin(profile);

	swz_page_block_number(block, number);
	swz_page_block_number(block,
			      end->ticks > origin ? end->ticks - origin : 0);
	swz_page_block_number(block, name_number(names, end->function));
}

static void put_block(FILE *stream, const struct swz_flows *flows,
		      const struct swz_map *numbers,
		      struct swz_profile *const *profiles)
{
	struct swz_page_block *block = swz_page_block_begin(stream, "flows",
							    LEVEL);
	struct names names = {.count = 0};
	size_t i, count = 0;

	for (i = 0; i < flows->count; i++) {
		name_number(&names, flows->of[i].from.function);
		name_number(&names, flows->of[i].to.function);
	}
	swz_page_block_number(block, names.count);
	for (i = 0; i < names.count; i++)
		swz_page_block_text(block, names.of[i]);
	for (i = 0; i < flows->count && count < MOST_FLOWS; i++) {
		const struct swz_flow *f = &flows->of[i];
		uint32_t from = swz_map_get(numbers, f->from.process,
					    f->from.thread);
		uint32_t to = swz_map_get(numbers, f->to.process, f->to.thread);

		if (from == SWZ_MAP_NONE || to == SWZ_MAP_NONE)
			continue;
		put_end(block, &names, from, profiles[f->from.process],
			&f->from);
		put_end(block, &names, to, profiles[f->to.process], &f->to);
		count++;
	}
	swz_page_block_end(block);
}

char *swz_html_put_flows(FILE *stream,
			 const struct swz_html_flow_thread *threads,
			 size_t thread_count,
			 struct swz_profile *const *profiles,
			 size_t profile_count)
{
	struct swz_flows *flows = swz_flows_find(profiles, profile_count);
	struct swz_map numbers = {0};
	char *doubts;
	size_t i;

	if (!flows)
		return NULL;
	for (i = 0; i < thread_count; i++)
		if (threads[i].thread)
			*swz_map_at(
				&numbers, threads[i].profile,
				(uint64_t)(threads[i].thread -
					   profiles[threads[i].profile]
						   ->threads)) = (uint32_t)i;
	put_block(stream, flows, &numbers, profiles);
	doubts = swz_flows_doubts(flows);
	if (!doubts && flows->count > MOST_FLOWS)
		doubts = swz_print("%u of %zu flows are in this page",
				   MOST_FLOWS, flows->count);
	swz_map_free(&numbers);
	swz_flows_free(flows);
	return doubts;
}

/* --- last values --------------------------------------------------------- */

/* Flags for the parts of a value that are there; 0 ends the list. */
enum { IS_THERE = 1, OF_RETURN = 2, HAS_LAST = 4, HAS_RANGE = 8 };

static void put_value(void *to, const struct swz_context_value *value)
{
	struct swz_page_block *block = to;

	swz_page_block_number(
		block,
		IS_THERE |
			(value->moment == SWZ_VALUES_RETURN ? OF_RETURN : 0u) |
			(value->has_last ? HAS_LAST : 0u) |
			(value->has_range ? HAS_RANGE : 0u));
	swz_page_block_text(block, value->name.text);
	if (value->has_last)
		swz_page_block_text(block, value->last.text);
	if (!value->has_range)
		return;
	swz_page_block_text(block, value->low.text);
	swz_page_block_text(block, value->high.text);
}

void swz_html_put_last(FILE *stream, size_t number,
		       const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	struct swz_page_block *block = NULL;
	struct swz_context_value value = {0};
	char name[32];
	size_t i;

	for (i = 0; i < profile->summary_count; i++) {
		uint32_t node = profile->summaries[i].node;
		uint32_t context = swz_map_get(&section->contexts->units, node,
					       0);
		const struct swz_profile_summary *summary;

		/* (of another thread, hidden, or of no node at all) */
		if (context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT)
			continue;
		summary = swz_summary_find(profile, node);
		if (summary != &profile->summaries[i])
			continue;
		if (!block) {
			snprintf(name, sizeof(name), "last %zu", number);
			block = swz_page_block_begin(stream, name, LEVEL);
		}
		swz_page_block_number(block, context);
		swz_page_block_number(block,
				      summary->head->entry.calls
					      ? summary->head->entry.calls
					      : summary->head->result.calls);
		swz_context_values_each(summary, section->binding, &value,
					put_value, block);
		swz_page_block_number(block, 0);
	}
	if (block)
		swz_page_block_end(block);
	swz_context_value_free(&value);
}

/* --- waiting ------------------------------------------------------------- */

/* Times off the processor are ticks from the end of the one before (the first:
 * from the first thread's start) times two, plus 1 if the thread was preempted,
 * and how many ticks long they are. */

static struct swz_page_block *begin(FILE *stream, const char *what,
				    size_t number)
{
	char name[32];

	snprintf(name, sizeof(name), "%s %zu", what, number);
	return swz_page_block_begin(stream, name, LEVEL);
}

/* Waiting of functions, calls and contexts, each in the order of the thread's
 * block. */
static void put_waiting_functions(FILE *stream, size_t number,
				  const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_page_block *block = begin(stream, "waiting", number);
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		const struct swz_report_function *f = &report->functions[i];

		if (!swz_html_has_row(section, i))
			continue;
		swz_page_block_time(block, f->self_waiting_ns);
		swz_page_block_time(block, f->inclusive_waiting_ns);
	}
	for (i = 0; i < report->edge_count; i++)
		swz_page_block_time(block, report->edges[i].waiting_ns);
	for (i = 0; i < section->contexts->count; i++)
		swz_page_block_time(
			block, section->contexts->items[i].self_waiting_ns);
	swz_page_block_end(block);
}

static void put_off(FILE *stream, size_t number,
		    const struct swz_section *section)
{
	const struct swz_profile_thread *thread = section->thread;
	struct swz_page_block *block = begin(stream, "off", number);
	uint64_t at = swz_profile_origin(section->profile);
	struct swz_switch_reader switches;
	struct swz_off_time off;

	swz_page_block_number(block, thread->switch_count);
	swz_switches_open(&switches, thread);
	while (swz_switches_next(&switches, at, UINT64_MAX, &off)) {
		swz_page_block_number(block,
				      (off.from - at) << 1 | off.preempted);
		swz_page_block_number(block, off.to - off.from);
		at = off.to;
	}
	swz_page_block_end(block);
}

void swz_html_put_waiting(FILE *stream, size_t number,
			  const struct swz_section *section)
{
	const struct swz_profile_thread *thread = section->thread;

	if (section->report->knows_waiting)
		put_waiting_functions(stream, number, section);
	if (thread && thread->record.switches_from && !section->old)
		put_off(stream, number, section);
}

/* --- settings ------------------------------------------------------------ */

void swz_html_put_settings(FILE *stream, const struct swz_view *view,
			   const struct swz_catalog *catalog)
{
	struct swz_page_block *block = NULL;
	uint32_t i, last = 0;

	for (i = 0; view && view->rules && i < catalog->function_count; i++) {
		const struct swz_settings *settings = swz_rules_of(view->rules,
								   catalog, i);

		if (!settings || (!settings->prefix && !settings->colour))
			continue;
		if (!block)
			block = swz_page_block_begin(stream, "settings", LEVEL);
		swz_page_block_number(block, i - last);
		last = i;
		swz_page_block_text(block,
				    settings->prefix ? settings->prefix : "");
		swz_page_block_text(block,
				    settings->colour ? settings->colour : "");
	}
	if (block)
		swz_page_block_end(block);
}

/* --- a block: deflated, in base64 ----------------------------------------- */

/* Bytes are gathered, deflated a buffer at a time and written in base64, in
 * whole groups of three bytes but for the last. */

#define IN_BYTES 65536u
#define OUT_BYTES 49152u /* a multiple of 3 */

struct swz_page_block {
	FILE *stream;
	z_stream deflate;
	uint64_t size;
	size_t filled; /* of in */
	uint8_t in[IN_BYTES];
	uint8_t out[OUT_BYTES];
};

static void put_base64(FILE *stream, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/=";
	char line[OUT_BYTES / 3 * 4] = {0};
	char *to = line;
	size_t i;

	for (i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t group = (uint32_t)bytes[i] << 16;

		group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= left > 2 ? bytes[i + 2] : 0;
		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = digits[left > 1 ? group >> 6 & 63 : 64];
		*to++ = digits[left > 2 ? group & 63 : 64];
	}
	fwrite(line, 1, (size_t)(to - line), stream);
}

/* Deflates what was gathered; a full buffer of output is written. */
static void pump(struct swz_page_block *block, bool last)
{
	z_stream *z = &block->deflate;
	int status;

	z->next_in = block->in;
	z->avail_in = (uInt)block->filled;
	block->filled = 0;
	do {
		status = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
		if (z->avail_out && !(last && status == Z_STREAM_END))
			continue;
		put_base64(block->stream, block->out, OUT_BYTES - z->avail_out);
		z->next_out = block->out;
		z->avail_out = OUT_BYTES;
	} while (last ? status != Z_STREAM_END : z->avail_in > 0);
}

struct swz_page_block *swz_page_block_begin(FILE *stream, const char *name,
					    int level)
{
	struct swz_page_block *block = swz_allocate(1, sizeof(*block));

	block->stream = stream;
	if (deflateInit(&block->deflate, level) != Z_OK)
		swz_out_of_memory();
	block->deflate.next_out = block->out;
	block->deflate.avail_out = OUT_BYTES;
	fprintf(stream,
		"<script type=\"application/x-swizzle\" data-name=\"%s\">",
		name);
	return block;
}

uint64_t swz_page_block_size(const struct swz_page_block *block)
{
	return block->size;
}

void swz_page_block_bytes(struct swz_page_block *block, const void *bytes,
			  size_t size)
{
	const uint8_t *from = bytes;

	block->size += size;
	while (size) {
		size_t room = IN_BYTES - block->filled;
		size_t count = size < room ? size : room;

		memcpy(block->in + block->filled, from, count);
		block->filled += count;
		from += count;
		size -= count;
		if (block->filled == IN_BYTES)
			pump(block, false);
	}
}

void swz_page_frame(FILE *stream, const char *start, const char *end)
{
	fwrite(start, 1, (size_t)(end - start), stream);
}

void swz_page_block_number(struct swz_page_block *block, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[count++] = (uint8_t)(value | 0x80);
	bytes[count++] = (uint8_t)value;
	swz_page_block_bytes(block, bytes, count);
}

void swz_page_block_time(struct swz_page_block *block, int64_t value)
{
	swz_page_block_number(block, value < 0 ? 0 : (uint64_t)value);
}

void swz_page_block_shown(struct swz_page_block *block, const char *text,
			  size_t size, const char *kept)
{
	size_t at, length;

	for (at = 0; at < size; at += length) {
		bool shown;

		length = swz_character(text + at, size - at, &shown);
		if (shown || (text[at] && strchr(kept, text[at])))
			swz_page_block_bytes(block, text + at, length);
		else
			swz_page_block_bytes(block, "?", 1);
	}
	swz_page_block_bytes(block, "", 1);
}

void swz_page_block_line(struct swz_page_block *block, const char *text,
			 size_t size)
{
	if (size && text[size - 1] == '\r')
		size--;
	swz_page_block_shown(block, text, size, "\t");
}

void swz_page_block_text(struct swz_page_block *block, const char *text)
{
	swz_page_block_shown(block, text, strlen(text), "");
}

uint64_t swz_page_block_end(struct swz_page_block *block)
{
	uint64_t bytes;

	pump(block, true);
	bytes = (block->deflate.total_out + 2) / 3 * 4;
	deflateEnd(&block->deflate);
	fputs("</script>\n", block->stream);
	free(block);
	return bytes;
}
