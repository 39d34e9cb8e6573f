/* Chunks with records of one kind each: marks, embedded names, counts of call
 * edges. Each kind has a function that collects its records in the file's order
 * and one that puts them in order. */

#include "profile/file/records.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/reader.h"
#include "profile/file/scan.h"
#include "util/memory.h"

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
	uint64_t first_ticks; /* SWZ_FILE_COVER; otherwise 0 */
	uint32_t function;    /* id */
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
	bool covers = profile->header.flags & SWZ_FILE_COVER;
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
			.calls = covers ? 1 : slot.calls,
			.first_ticks = covers ? slot.calls : 0,
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

		if (last && compare_edges(last, &edges->items[i]) == 0) {
			const struct edge *same = &edges->items[i];

			if (same->first_ticks < last->first_ticks)
				last->first_ticks = same->first_ticks;
			if (!same->first_ticks)
				last->calls = swz_add_count(last->calls,
							    same->calls);
		} else
			edges->items[kept++] = edges->items[i];
	}
	edges->count = kept;
}

/* --- first calls --------------------------------------------------------- */

/* Several threads may have called a function at the same moment. */
static void note_first_calls(struct swz_profile *profile, uint32_t thread,
			     const struct edges *edges, size_t *capacity)
{
	size_t i;

	for (i = 0; i < edges->count; i++) {
		const struct edge *edge = &edges->items[i];

		if (!edge->first_ticks)
			continue;
		swz_grow(&profile->first_calls, capacity,
			 profile->first_call_count,
			 sizeof(*profile->first_calls));
		profile->first_calls[profile->first_call_count++] =
			(struct swz_profile_first_call){
				.function = edge->function,
				.thread = thread,
				.call_site = edge->call_site,
				.ticks = edge->first_ticks};
	}
}

static int compare_first_calls(const void *left, const void *right)
{
	const struct swz_profile_first_call *a = left, *b = right;

	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
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
	size_t capacity = 0, first_room = 0, at = 0, next, i;

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
		if (thread != SWZ_INDEX_NONE) {
			make_nodes(scan, &profile->threads[thread], &edges,
				   &capacity);
			note_first_calls(profile, thread, &edges, &first_room);
		} else
			for (i = 0; i < edges.count; i++)
				profile->damage.stray_nodes++;
	}
	if (profile->first_call_count > 1)
		qsort(profile->first_calls, profile->first_call_count,
		      sizeof(*profile->first_calls), compare_first_calls);
	free(edges.items);
	free(scan->count_chunks);
}

/* --- switches ------------------------------------------------------------- */

/* A thread's times off the processor, from context switches and from what its
 * record says of its end. */

/* --- context switches ---------------------------------------------------- */

void swz_switches_open(struct swz_switch_reader *reader,
		       const struct swz_profile_thread *thread)
{
	*reader = (struct swz_switch_reader){.next = thread->switches};
	if (thread->switch_count)
		reader->end = thread->switches + thread->switch_count;
}

/* The part of the next one that was handed out is not handed out again. */
bool swz_switches_next(struct swz_switch_reader *reader, uint64_t from,
		       uint64_t to, struct swz_off_time *off)
{
	if (from < reader->done)
		from = reader->done;
	for (; reader->next < reader->end && from < to; reader->next++) {
		const struct swz_profile_switch *at = reader->next;

		if (at->off_ticks >= to)
			return false;
		if (at->on_ticks <= from)
			continue;
		off->from = at->off_ticks > from ? at->off_ticks : from;
		off->to = at->on_ticks < to ? at->on_ticks : to;
		off->preempted = at->preempted;
		reader->done = off->to;
		return true;
	}
	return false;
}

uint64_t swz_switches_sum(const struct swz_profile_thread *thread,
			  uint64_t *preempted)
{
	uint64_t sum = 0;
	size_t i;

	*preempted = 0;
	for (i = 0; i < thread->switch_count; i++) {
		const struct swz_profile_switch *at = &thread->switches[i];
		uint64_t ticks = at->on_ticks - at->off_ticks;

		sum += ticks;
		*preempted += at->preempted ? ticks : 0;
	}
	return sum;
}

uint64_t swz_switches_missing(const struct swz_profile_thread *thread)
{
	uint64_t lost = thread->record.switches_lost;

	return swz_add_count(thread->switches_overwritten, lost / 2 + lost % 2);
}

uint64_t swz_switches_unseen(const struct swz_profile_thread *thread,
			     uint64_t from, uint64_t to)
{
	uint64_t until = thread->record.switches_until;

	if (until > from)
		from = until;
	return to > from ? to - from : 0;
}

bool swz_switches_tell(const struct swz_profile_thread *thread, uint64_t from,
		       uint64_t to)
{
	return thread->record.switches_from &&
	       (to <= from ||
		swz_switches_unseen(thread, from, to) <= (to - from) / 100);
}

/* ---- for the index ---- */

static int compare_switches(const void *left, const void *right)
{
	const struct swz_profile_switch *a = left, *b = right;

	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->off_ticks != b->off_ticks)
		return a->off_ticks < b->off_ticks ? -1 : 1;
	return a->on_ticks < b->on_ticks ? -1 : a->on_ticks > b->on_ticks;
}

/* Keeps what is of the thread's life and after the one before. */
static void cut(struct swz_profile_thread *thread,
		struct swz_profile_switch *all, size_t count)
{
	uint64_t from = thread->record.start_ticks, to = thread->last_ticks;
	size_t kept = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_switch at = all[i];

		if (at.off_ticks < from)
			at.off_ticks = from;
		/* it has not ended, as far as is known: until the next */
		if (!at.on_ticks)
			at.on_ticks = i + 1 < count ? all[i + 1].off_ticks : to;
		if (at.on_ticks > to)
			at.on_ticks = to;
		if (at.off_ticks >= at.on_ticks)
			continue;
		from = at.on_ticks;
		all[kept++] = at;
	}
	thread->switches = all;
	thread->switch_count = kept;
}

void swz_switches_index(struct swz_profile *profile)
{
	struct swz_profile_switch *all = profile->switches;
	size_t count = profile->switch_count, at = 0, i;

	if (count > 1)
		qsort(all, count, sizeof(*all), compare_switches);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_profile_thread *thread = &profile->threads[i];
		size_t first;

		while (at < count && all[at].owner < thread->index)
			at++;
		first = at;
		while (at < count && all[at].owner == thread->index)
			at++;
		/* (of others the file may be read while it is written) */
		if (profile->header.flags & SWZ_FILE_RING &&
		    thread->record.switches > at - first)
			thread->switches_overwritten = thread->record.switches -
						       (at - first);
		if (at > first && thread->record.switches_from)
			cut(thread, &all[first], at - first);
	}
}

/* --- times of threads ---------------------------------------------------- */

/* A share of the wall time; a thread's end comes some moments after its last
 * hook. */
#define UNKNOWN_SHARE 100
#define UNKNOWN_LEAST_NS 20000

static int64_t ns_between(const struct swz_profile *profile, uint64_t from,
			  uint64_t to)
{
	if (to <= from || to - from > INT64_MAX)
		return 0;
	return swz_profile_ns(profile, (int64_t)(to - from));
}

struct swz_thread_times swz_thread_times(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread)
{
	const struct swz_thread_record *record = &thread->record;
	struct swz_thread_times times = {
		.wall_ns = ns_between(profile, record->start_ticks,
				      thread->last_ticks),
		.wall_is_bound = !record->end_ticks &&
				 !swz_profile_end_known(profile)};
	int64_t seen, ran;

	if (!record->processor_ticks ||
	    record->processor_ns < record->processor_start_ns)
		return times;
	times.known = true;
	seen = ns_between(profile, record->start_ticks,
			  record->processor_ticks);
	if (seen > times.wall_ns ||
	    times.wall_ns - seen <= times.wall_ns / UNKNOWN_SHARE ||
	    times.wall_ns - seen <= UNKNOWN_LEAST_NS)
		seen = times.wall_ns;
	/* what the kernel counts in larger steps may be more */
	ran = record->processor_ns - record->processor_start_ns > (uint64_t)seen
		      ? seen
		      : (int64_t)(record->processor_ns -
				  record->processor_start_ns);
	times.processor_ns = ran;
	times.waiting_ns = seen - ran;
	times.unknown_ns = times.wall_ns - seen;
	return times;
}

void swz_thread_times_see(struct swz_thread_times *times, int64_t waiting_ns)
{
	if (waiting_ns > times->unknown_ns)
		waiting_ns = times->unknown_ns;
	times->waiting_ns = swz_add(times->waiting_ns, waiting_ns);
	times->unknown_ns -= waiting_ns;
}

void swz_thread_times_add(struct swz_thread_times *sum,
			  const struct swz_thread_times *other)
{
	sum->wall_ns = swz_add(sum->wall_ns, other->wall_ns);
	sum->wall_is_bound |= other->wall_is_bound;
	sum->processor_ns = swz_add(sum->processor_ns, other->processor_ns);
	sum->waiting_ns = swz_add(sum->waiting_ns, other->waiting_ns);
	sum->unknown_ns = swz_add(sum->unknown_ns, other->known
							   ? other->unknown_ns
							   : other->wall_ns);
	sum->known |= other->known;
}

int64_t swz_profile_wall_ns(const struct swz_profile *profile)
{
	uint64_t first = UINT64_MAX, last = 0;
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];

		if (thread->record.start_ticks < first)
			first = thread->record.start_ticks;
		if (thread->last_ticks > last)
			last = thread->last_ticks;
	}
	return ns_between(profile, first, last);
}
