/* Chunks with records of one kind each: marks, embedded names, counts of call
 * edges. Each kind has a function that collects its records in the file's order
 * and one that puts them in order. */

#include "profile/file/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/arith.h"
#include "util/memory.h"
#include "profile/file/reader.h"
#include "profile/file/scan.h"

/* --- marks --------------------------------------------------------------- */

/* Records follow each other; one that is not complete hides those behind it,
 * as its length is not known. */
void swz_scan_marks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	uint64_t used = chunk->reserved[SWZ_MARKS_USED];
	struct swz_mark_record record;
	size_t at, bytes;

	if (used > size) {
		profile->damage.bad_chunks++;
		used = size;
	}
	for (at = 0; used - at >= sizeof(record); at += bytes) {
		memcpy(&record, body + at, sizeof(record));
		if (!record.ticks)
			return;
		bytes = (sizeof(record) + record.text_bytes + 7) & ~(size_t)7;
		if (record.text_bytes > SWZ_MARK_MOST_BYTES ||
		    bytes > used - at) {
			profile->damage.bad_chunks++;
			return;
		}
		swz_grow(&profile->marks, &scan->mark_capacity,
			 profile->mark_count, sizeof(*profile->marks));
		profile->marks[profile->mark_count++] =
			(struct swz_profile_mark){
				.owner = chunk->owner,
				.node = record.node,
				.kind = record.kind & (SWZ_MARK_CUT - 1u),
				.cut = record.kind & SWZ_MARK_CUT,
				.ticks = record.ticks,
				.text = (const char *)body + at +
					sizeof(record),
				.text_bytes = record.text_bytes,
			};
	}
}

static int compare_marks(const void *left, const void *right)
{
	const struct swz_profile_mark *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->text < b->text ? -1 : a->text > b->text;
}

void swz_marks_index(struct swz_profile *profile)
{
	if (profile->mark_count > 1)
		qsort(profile->marks, profile->mark_count,
		      sizeof(*profile->marks), compare_marks);
}

char *swz_mark_text(const struct swz_profile_mark *mark)
{
	switch (mark->kind) {
	case SWZ_MARK_PAUSED:
		return swz_duplicate("[paused: this thread]");
	case SWZ_MARK_RESUMED:
		return swz_duplicate("[resumed: this thread]");
	case SWZ_MARK_PROCESS_PAUSED:
		return swz_duplicate("[paused]");
	case SWZ_MARK_PROCESS_RESUMED:
		return swz_duplicate("[resumed]");
	case SWZ_MARK_SNAPSHOT:
		return swz_print("[snapshot: %.*s]", (int)mark->text_bytes,
				 mark->text);
	case SWZ_MARK_DETACHED:
		return swz_duplicate("[detached]");
	default:
		return swz_print("%.*s%s", (int)mark->text_bytes, mark->text,
				 mark->cut ? "..." : "");
	}
}

const struct swz_profile_thread *swz_mark_thread(
	const struct swz_profile *profile, const struct swz_profile_mark *mark)
{
	uint32_t at = swz_profile_thread_by_index(profile, mark->owner);

	return at == SWZ_INDEX_NONE ? NULL : &profile->threads[at];
}

/* --- embedded names ------------------------------------------------------ */

/* A text is good if it begins within the body: the body's last byte, which is
 * 0, ends it there at the latest. */

/* How many records there are room for; 0 where texts do not end. */
static size_t records_in(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size, size_t record)
{
	size_t room = size / record;

	if (!size || body[size - 1] || chunk->count > room) {
		scan->profile->damage.bad_chunks++;
		return 0;
	}
	return chunk->count;
}

/* False if it is not in the body. */
static bool find_text(const uint8_t *body, size_t size, uint32_t at,
		      const char **text)
{
	*text = at && at < size && body[at] ? (const char *)body + at : NULL;
	return at < size;
}

void swz_scan_symbols(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_symbol_record record;
	size_t count = records_in(scan, chunk, body, size, sizeof(record));
	size_t bad = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_symbol symbol = {.module = chunk->owner};

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (!find_text(body, size, record.name, &symbol.name) ||
		    !find_text(body, size, record.file, &symbol.file) ||
		    !symbol.name) {
			bad++;
			continue;
		}
		symbol.number = record.number;
		symbol.address = record.address;
		symbol.size = record.size;
		symbol.languages =
			(uint32_t)chunk->reserved[SWZ_SYMBOLS_LANGUAGES];
		swz_grow(&profile->symbols, &scan->symbol_capacity,
			 profile->symbol_count, sizeof(symbol));
		profile->symbols[profile->symbol_count++] = symbol;
	}
	profile->damage.bad_chunks += bad != 0;
}

void swz_scan_lines(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_line_record record;
	size_t count = records_in(scan, chunk, body, size, sizeof(record));
	size_t bad = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_line line = {.module = chunk->owner};

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (!find_text(body, size, record.file, &line.file) ||
		    !find_text(body, size, record.inlined, &line.inlined) ||
		    !line.file || !record.line || record.line > INT32_MAX ||
		    record.outer_line > INT32_MAX) {
			bad++;
			continue;
		}
		line.address = record.address;
		line.line = (int)record.line;
		line.outer_line = (int)record.outer_line;
		swz_grow(&profile->lines, &scan->line_capacity,
			 profile->line_count, sizeof(line));
		profile->lines[profile->line_count++] = line;
	}
	profile->damage.bad_chunks += bad != 0;
}

void swz_embedded_index(struct swz_profile *profile)
{
	size_t kept = 0, i;

	for (i = 0; i < profile->symbol_count; i++) {
		struct swz_profile_symbol *symbol = &profile->symbols[i];

		symbol->module = swz_profile_module_by_index(profile,
							     symbol->module);
		if (symbol->module != SWZ_INDEX_NONE)
			profile->symbols[kept++] = *symbol;
	}
	profile->symbol_count = kept;
	kept = 0;
	for (i = 0; i < profile->line_count; i++) {
		struct swz_profile_line *line = &profile->lines[i];

		line->module = swz_profile_module_by_index(profile,
							   line->module);
		if (line->module != SWZ_INDEX_NONE)
			profile->lines[kept++] = *line;
	}
	profile->line_count = kept;
}

/* --- counts of call edges ------------------------------------------------ */

/* An edge may be in several slots: of the tables that a thread has had, and of
 * two functions that have one id. Their calls are added up. Edges are sorted by
 * the place of the call, so what looks for callers goes through the functions
 * in their order. */

struct edge {
	uint64_t call_site;
	uint64_t calls;
	uint32_t function; /* id */
};

struct edges {
	struct edge *items;
	size_t count, capacity;
};

void swz_scan_counts(struct swz_scan *scan, const struct swz_chunk *chunk,
		     size_t offset, size_t size)
{
	const size_t each = sizeof(struct swz_count_slot) + sizeof(uint32_t);
	struct swz_profile *profile = scan->profile;

	/* where the functions begin depends on how many slots there are */
	if (chunk->count > size / each) {
		profile->damage.bad_chunks++;
		return;
	}
	swz_grow(&scan->count_chunks, &scan->count_chunk_capacity,
		 scan->count_chunk_count, sizeof(*scan->count_chunks));
	scan->count_chunks[scan->count_chunk_count++] =
		(struct swz_scan_counts){chunk->owner, chunk->count, offset};
}

static int compare_chunks(const void *left, const void *right)
{
	const struct swz_scan_counts *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int compare_edges(const void *left, const void *right)
{
	const struct edge *a = left, *b = right;

	if (a->call_site != b->call_site)
		return a->call_site < b->call_site ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

/* A slot without calls was taken a moment before the process was killed. */
static void collect(struct swz_profile *profile,
		    const struct swz_scan_counts *chunk, struct edges *edges)
{
	const uint8_t *slots = profile->data + chunk->offset;
	const uint8_t *functions =
		slots + (size_t)chunk->count * sizeof(struct swz_count_slot);
	uint32_t i, function;

	for (i = 0; i < chunk->count; i++) {
		struct swz_count_slot slot;

		memcpy(&function, functions + i * sizeof(function),
		       sizeof(function));
		memcpy(&slot, slots + i * sizeof(slot), sizeof(slot));
		if (!function || !slot.calls)
			continue;
		if (swz_profile_function_by_id(profile, function - 1) ==
		    SWZ_INDEX_NONE) {
			profile->damage.stray_nodes++;
			continue;
		}
		swz_grow(&edges->items, &edges->capacity, edges->count,
			 sizeof(*edges->items));
		edges->items[edges->count++] = (struct edge){
			.call_site = slot.key - function * SWZ_COUNT_FACTOR,
			.calls = slot.calls,
			.function = function - 1};
	}
}

static void add_up(struct edges *edges)
{
	size_t kept = 0, i;

	if (edges->count > 1)
		qsort(edges->items, edges->count, sizeof(*edges->items),
		      compare_edges);
	for (i = 0; i < edges->count; i++) {
		struct edge *last = kept ? &edges->items[kept - 1] : NULL;

		if (last && compare_edges(last, &edges->items[i]) == 0)
			last->calls = swz_add_count(last->calls,
						    edges->items[i].calls);
		else
			edges->items[kept++] = edges->items[i];
	}
	edges->count = kept;
}

static struct swz_node *append(struct swz_profile *profile, size_t *capacity,
			       const struct swz_node *node)
{
	swz_grow(&profile->made_nodes, capacity, profile->made_node_count,
		 sizeof(*profile->made_nodes));
	profile->made_nodes[profile->made_node_count] = *node;
	return &profile->made_nodes[profile->made_node_count++];
}

/* The thread's nodes: a fold root, then its edges. */
static void make_nodes(struct swz_scan *scan,
		       const struct swz_profile_thread *thread,
		       const struct edges *edges, size_t *capacity)
{
	struct swz_profile *profile = scan->profile;
	size_t first = profile->made_unit + profile->made_node_count, i;
	const uint32_t fold_root = (uint32_t)first;
	struct swz_node_span *span;

	if (first + edges->count >= UINT32_MAX) {
		profile->damage.stray_nodes += edges->count;
		return;
	}
	append(profile, capacity,
	       &(struct swz_node){.function = SWZ_FUNCTION_ROOT,
				  .parent = thread->record.root,
				  .context = fold_root,
				  .open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN});
	for (i = 0; i < edges->count; i++) {
		const struct edge *edge = &edges->items[i];
		bool outside = edge->call_site &&
			       swz_profile_function_at(profile,
						       edge->call_site - 1) ==
				       SWZ_INDEX_NONE;

		append(profile, capacity,
		       &(struct swz_node){
			       .function = edge->function,
			       .parent = outside ? thread->record.root
						 : fold_root,
			       .call_site = edge->call_site,
			       .calls = edge->calls,
			       .context = (uint32_t)(first + 1 + i),
			       .open = outside ? 0 : SWZ_NODE_FOLDED});
	}
	swz_grow(&profile->spans, &scan->span_capacity, profile->span_count,
		 sizeof(*span));
	span = &profile->spans[profile->span_count++];
	span->owner = thread->index;
	span->unit = fold_root;
	span->count = (uint32_t)edges->count + 1;
}

void swz_counts_index(struct swz_scan *scan)
{
	struct swz_profile *profile = scan->profile;
	struct edges edges = {0};
	size_t capacity = 0, at = 0, next, i;

	profile->made_unit = profile->size / SWZ_UNIT_BYTES + 1;
	if (scan->count_chunk_count > 1)
		qsort(scan->count_chunks, scan->count_chunk_count,
		      sizeof(*scan->count_chunks), compare_chunks);
	for (; at < scan->count_chunk_count; at = next) {
		uint32_t owner = scan->count_chunks[at].owner;
		uint32_t thread = swz_profile_thread_by_index(profile, owner);

		edges.count = 0;
		for (next = at; next < scan->count_chunk_count &&
				scan->count_chunks[next].owner == owner;
		     next++)
			collect(profile, &scan->count_chunks[next], &edges);
		add_up(&edges);
		if (thread != SWZ_INDEX_NONE)
			make_nodes(scan, &profile->threads[thread], &edges,
				   &capacity);
		else
			for (i = 0; i < edges.count; i++)
				profile->damage.stray_nodes++;
	}
	free(edges.items);
	free(scan->count_chunks);
}
