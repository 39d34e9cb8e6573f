/* A sum of profiles is a profile of its own, with modules, functions, contexts
 * and threads that are numbered anew. */

#include "profile/formats/exports/exports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/time_bucket.h"
#include "profile/costs/merge.h"
#include "util/memory.h"

/* --- bytes --------------------------------------------------------------- */

struct swz_merged_file {
	FILE *stream;
	const struct swz_merge *merge;
	uint64_t written; /* bytes, with the header */
	uint64_t *biases; /* by module: run-time address - ELF address */
	uint64_t *starts;
	uint32_t *ids;   /* by function */
	uint32_t *first; /* by module: the id of its first function */
};

struct body_bytes {
	uint8_t *bytes; /* to be freed */
	size_t size, capacity;
};

/* Texts, each once. */
struct swz_merged_text {
	struct body_bytes bytes;
	struct swz_map places; /* (string, 0): where it is */
};

static void bytes_add(struct body_bytes *body, const void *from, size_t size)
{
	if (body->capacity - body->size < size) {
		body->capacity = body->size + size + body->capacity / 2;
		body->bytes = swz_reallocate(body->bytes, body->capacity, 1);
	}
	if (size)
		memcpy(body->bytes + body->size, from, size);
	body->size += size;
}

static void bytes_add_string(struct body_bytes *body, const char *string)
{
	bytes_add(body, string, strlen(string) + 1);
}

/* CHUNK says type, count, owner and reserved. */
static void merged_put_bytes(struct swz_merged_file *w, struct swz_chunk chunk,
			     const void *bytes, size_t size)
{
	static const char zeros[SWZ_UNIT_BYTES];
	size_t padding = -size % SWZ_UNIT_BYTES;

	chunk.magic = SWZ_CHUNK_MAGIC;
	chunk.bytes = sizeof(chunk) + size + padding;
	if (w->stream) {
		fwrite(&chunk, sizeof(chunk), 1, w->stream);
		if (size)
			fwrite(bytes, size, 1, w->stream);
		fwrite(zeros, padding, 1, w->stream);
	}
	w->written += chunk.bytes;
}

/* The same of a body, which is empty then. */
static void merged_put(struct swz_merged_file *w, uint32_t type, size_t count,
		       uint32_t owner, uint64_t reserved,
		       struct body_bytes *body)
{
	merged_put_bytes(w,
			 (struct swz_chunk){.type = type,
					    .count = (uint32_t)count,
					    .owner = owner,
					    .reserved = {reserved}},
			 body->bytes, body->size);
	body->size = 0;
}

/* 1 more than where STRING is among the texts; 0: there is none. */
static uint32_t merged_text_at(struct swz_merged_text *text, const char *string)
{
	uint32_t *at;

	if (!string || !*string)
		return 0;
	at = swz_map_at(&text->places, (uintptr_t)string, 0);
	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)text->bytes.size;
		bytes_add_string(&text->bytes, string);
	}
	return *at + 1;
}

/* That as the distance from a chunk's body whose texts begin at START. */
static uint32_t merged_text_from(uint32_t at, size_t start)
{
	return at ? at - 1 + (uint32_t)start : 0;
}

static void merged_text_free(struct swz_merged_text *text)
{
	free(text->bytes.bytes);
	swz_map_free(&text->places);
}

/* --- names --------------------------------------------------------------- */

/* Records first, then text: its place counts from the body's start. */
struct names {
	struct body_bytes records;
	struct swz_merged_text text;
	uint32_t languages;
};

static void put_names(struct swz_merged_file *w, uint32_t type, uint32_t module,
		      size_t record_bytes, struct names *names)
{
	size_t count = names->records.size / record_bytes;

	bytes_add(&names->records, names->text.bytes.bytes,
		  names->text.bytes.size);
	if (count)
		merged_put(w, type, count, module, names->languages,
			   &names->records);
	free(names->records.bytes);
	merged_text_free(&names->text);
}

/* The names that are embedded, of a module. */
static void merged_put_symbols(struct swz_merged_file *w, uint32_t module)
{
	struct names names = {0};
	size_t i;

	for (i = 0; i < w->merge->symbol_count; i++) {
		const struct swz_merge_symbol *s = &w->merge->symbols[i];
		struct swz_symbol_record record = {
			.address = s->address,
			.size = s->size,
			.number = s->number,
		};

		if (s->module != module)
			continue;
		record.name = merged_text_at(&names.text, s->name);
		record.file = merged_text_at(&names.text, s->file);
		names.languages |= s->languages;
		bytes_add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_symbol_record) < names.records.size;
	     i++) {
		struct swz_symbol_record *record =
			(struct swz_symbol_record *)(void *)
				names.records.bytes +
			i;

		record->name = merged_text_from(record->name,
						names.records.size);
		record->file = merged_text_from(record->file,
						names.records.size);
	}
	put_names(w, SWZ_CHUNK_SYMBOLS, module,
		  sizeof(struct swz_symbol_record), &names);
}

static void merged_put_lines(struct swz_merged_file *w, uint32_t module)
{
	struct names names = {0};
	size_t i;

	for (i = 0; i < w->merge->line_count; i++) {
		const struct swz_merge_line *l = &w->merge->lines[i];
		struct swz_line_record record = {
			.address = l->address,
			.line = (uint32_t)l->line,
			.outer_line = (uint32_t)l->outer_line,
		};

		if (l->module != module)
			continue;
		record.file = merged_text_at(&names.text, l->file);
		record.inlined = merged_text_at(&names.text, l->inlined);
		bytes_add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_line_record) < names.records.size;
	     i++) {
		struct swz_line_record *record =
			(struct swz_line_record *)(void *)names.records.bytes +
			i;

		record->file = merged_text_from(record->file,
						names.records.size);
		record->inlined = merged_text_from(record->inlined,
						   names.records.size);
	}
	put_names(w, SWZ_CHUNK_LINES, module, sizeof(struct swz_line_record),
		  &names);
}

/* --- ranks --------------------------------------------------------------- */

static size_t put_rank_threads(const struct swz_merged_file *w,
			       struct body_bytes *body)
{
	size_t count = 0;
	uint32_t i;

	for (i = 0; i < w->merge->thread_count; i++) {
		if (!w->merge->threads[i].has_rank)
			continue;
		bytes_add(body, &i, sizeof(i));
		count++;
	}
	return count;
}

/* Records, functions, threads, the hosts. */
static void put_rank_list(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	size_t records = merge->rank_count * sizeof(struct swz_rank_record);
	struct swz_chunk chunk = {.type = SWZ_CHUNK_RANKS,
				  .count = (uint32_t)merge->rank_count};
	struct body_bytes body = {0}, rest = {0};
	struct swz_merged_text text = {0};
	size_t i;

	bytes_add(&rest, w->ids, merge->function_count * sizeof(*w->ids));
	chunk.reserved[SWZ_RANKS_FUNCTIONS] = merge->function_count;
	chunk.reserved[SWZ_RANKS_THREADS] = put_rank_threads(w, &rest);
	for (i = 0; i < merge->rank_count; i++) {
		const struct swz_merge_rank *rank = &merge->ranks[i];
		struct swz_rank_record record = {
			.rank = rank->rank,
			.pid = rank->pid,
			.processes = rank->processes,
			.host = merged_text_at(&text, rank->host)};

		record.host = merged_text_from(record.host,
					       records + rest.size);
		bytes_add(&body, &record, sizeof(record));
	}
	bytes_add_string(&text.bytes, ""); /* there is a text that ends */
	bytes_add(&body, rest.bytes, rest.size);
	bytes_add(&body, text.bytes.bytes, text.bytes.size);
	merged_put_bytes(w, chunk, body.bytes, body.size);
	free(body.bytes);
	free(rest.bytes);
	merged_text_free(&text);
}

/* All ranks, if there are any. */
static void merged_put_ranks(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	size_t i;

	if (!merge->rank_count)
		return;
	put_rank_list(w);
	for (i = 0; i < merge->rank_count; i++)
		merged_put_bytes(
			w,
			(struct swz_chunk){.type = SWZ_CHUNK_RANK_COSTS,
					   .count = merge->ranks[i].cost_count,
					   .owner = merge->ranks[i].rank},
			merge->ranks[i].packed, merge->ranks[i].bytes);
}

/* --- the file ------------------------------------------------------------ */

/* Modules lie behind each other, at addresses that no process has had. A
 * module's functions have the numbers that it says it has, those that it does
 * not patch itself (imports) come last. */

#define NONE SWZ_INDEX_NONE
#define START_NS 1000000000u /* of threads; 0 would be no time */
#define FIRST_START 0x10000u

/* ---------------------------------------------------------- descriptions */

static void put_descriptions(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	struct body_bytes body = {0};
	size_t i;

	bytes_add_string(&body, merge->executable);
	bytes_add_string(&body, merge->cwd);
	for (i = 0; i < merge->argument_count; i++)
		bytes_add_string(&body, merge->arguments[i]);
	merged_put(w, SWZ_CHUNK_COMMAND, 2 + i, 0, 0, &body);
	for (i = 0; i < 2 * merge->label_count; i++)
		bytes_add_string(&body, merge->labels[i]);
	if (i)
		merged_put(w, SWZ_CHUNK_LABELS, i, 0, 0, &body);
	bytes_add(&body, merge->sources,
		  merge->source_count * sizeof(*merge->sources));
	merged_put(w, SWZ_CHUNK_MERGED, merge->source_count, 0, 0, &body);
	free(body.bytes);
}

static void place_modules(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	uint64_t next = FIRST_START, named = SWZ_NO_FILE_START;
	size_t i;

	w->biases = swz_allocate(merge->module_count, sizeof(*w->biases));
	w->starts = swz_allocate(merge->module_count, sizeof(*w->starts));
	for (i = 0; i < merge->module_count; i++) {
		const struct swz_module_record *record =
			&merge->modules[i].record;
		uint64_t size = record->end - record->start;
		uint64_t *at = merge->modules[i].by_name ? &named : &next;

		if (merge->modules[i].by_name)
			size = SWZ_NO_FILE_BYTES;
		w->starts[i] = *at;
		w->biases[i] = *at - (record->start - record->load_bias);
		*at += (size + 0xffff) & ~(uint64_t)0xffff;
	}
}

static bool is_import(const struct swz_merge_function *function)
{
	return function->flags & SWZ_FUNCTION_IMPORT;
}

/* Each module's own ones first. */
static void number_functions(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	uint32_t *own = swz_allocate(merge->module_count, sizeof(*own));
	uint32_t next = 1;
	size_t i;

	w->ids = swz_allocate(merge->function_count, sizeof(*w->ids));
	w->first = swz_allocate(merge->module_count, sizeof(*w->first));
	for (i = 0; i < merge->function_count; i++)
		if (merge->functions[i].module != NONE &&
		    !is_import(&merge->functions[i]))
			own[merge->functions[i].module]++;
	for (i = 0; i < merge->module_count; i++) {
		uint32_t has = merge->modules[i].record.function_count;

		w->first[i] = next;
		next += has > own[i] ? has : own[i];
		own[i] = w->first[i];
	}
	for (i = 0; i < merge->function_count; i++) {
		const struct swz_merge_function *f = &merge->functions[i];

		w->ids[i] = f->module != NONE && !is_import(f)
				    ? own[f->module]++
				    : next++;
	}
	free(own);
}

static void put_modules(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	struct body_bytes body = {0};
	uint32_t i;

	for (i = 0; i < merge->module_count; i++) {
		struct swz_module_record record = merge->modules[i].record;
		uint64_t size = record.end - record.start;

		record.load_bias = w->biases[i];
		record.start = w->starts[i];
		record.end = record.start + (merge->modules[i].by_name
						     ? SWZ_NO_FILE_BYTES
						     : size);
		record.first_function = w->first[i];
		record.load_ticks = record.unload_ticks = 0;
		bytes_add(&body, &record, sizeof(record));
		bytes_add_string(&body, merge->modules[i].path);
		merged_put(w, SWZ_CHUNK_MODULE, 1, i, 0, &body);
	}
	free(body.bytes);
}

/* A chunk for each module, with its functions in the order that the sum has. */
static void put_functions(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	struct body_bytes *bodies = swz_allocate(merge->module_count + 1,
						 sizeof(*bodies));
	struct body_bytes name = {0};
	size_t i;

	for (i = 0; i < merge->function_count; i++) {
		const struct swz_merge_function *f = &merge->functions[i];
		struct swz_function_record record = {
			.address = (uint32_t)f->address,
			.size = f->size,
			.status = f->status,
			.flags = f->flags,
			.id = w->ids[i]};

		bytes_add(&bodies[f->module == NONE ? merge->module_count
						    : f->module],
			  &record, sizeof(record));
		if (!f->asked)
			continue;
		bytes_add(&name, &w->ids[i], sizeof(w->ids[i]));
		bytes_add_string(&name, f->asked);
		merged_put(w, SWZ_CHUNK_NAMES, 1, f->module, 0, &name);
	}
	for (i = 0; i <= merge->module_count; i++) {
		if (bodies[i].size)
			merged_put(w, SWZ_CHUNK_FUNCTIONS,
				   bodies[i].size /
					   sizeof(struct swz_function_record),
				   i < merge->module_count ? (uint32_t)i : NONE,
				   0, &bodies[i]);
		free(bodies[i].bytes);
	}
	free(bodies);
	free(name.bytes);
}

/* ------------------------------------------------------------- threads */

static uint64_t site_of(const struct swz_merged_file *w,
			const struct swz_merge_node *node)
{
	return node->site_module == NONE
		       ? node->site
		       : node->site + w->biases[node->site_module];
}

/* Each node's own waiting. */
static void put_waiting(struct swz_merged_file *w,
			const struct swz_merge_thread *thread, uint32_t index,
			uint32_t root)
{
	struct body_bytes body = {0};
	size_t i;

	for (i = 0; i < thread->count; i++) {
		struct swz_look look = {
			.node = root + (uint32_t)i,
			.kind = SWZ_LOOK_WAITED,
			.ns = (uint64_t)thread->nodes[i].waiting_ns};

		if (look.ns)
			bytes_add(&body, &look, sizeof(look));
	}
	if (body.size)
		merged_put(w, SWZ_CHUNK_LOOKS,
			   body.size / sizeof(struct swz_look), index, 0,
			   &body);
	free(body.bytes);
}

static void put_nodes(struct swz_merged_file *w, uint32_t index, uint32_t root)
{
	const struct swz_merge_thread *thread = &w->merge->threads[index];
	bool samples = w->merge->header.flags & SWZ_FILE_SAMPLES;
	struct body_bytes body = {0};
	size_t i;

	for (i = 0; i < thread->count; i++) {
		const struct swz_merge_node *from = &thread->nodes[i];
		struct swz_node node = {
			.function = from->function < w->merge->function_count
					    ? w->ids[from->function]
					    : from->function,
			.parent = root + from->parent,
			.context = root + from->context,
			.call_site = site_of(w, from),
			.calls = from->calls,
			.ticks = from->ns,
			.min_ticks = (uint64_t)from->min_ns,
			.max_ticks = (uint64_t)from->max_ns,
			.open = from->flags,
		};

		node.outer_ticks = samples ? from->waiting_ns : from->outer_ns;
		bytes_add(&body, &node, sizeof(node));
	}
	merged_put(w, SWZ_CHUNK_NODES, thread->count, index, 0, &body);
	for (i = 0; i < thread->count; i++) {
		struct swz_unwound_record unwound = {
			.node = root + (uint32_t)i,
			.count = thread->nodes[i].unwound};

		if (unwound.count)
			bytes_add(&body, &unwound, sizeof(unwound));
	}
	if (body.size)
		merged_put(w, SWZ_CHUNK_UNWOUND,
			   body.size / sizeof(struct swz_unwound_record), index,
			   0, &body);
	free(body.bytes);
	if (!samples)
		put_waiting(w, thread, index, root);
}

static int compare_times(const void *left, const void *right)
{
	const struct swz_merge_times *a = left, *b = right;

	if (a->function != b->function)
		return a->function < b->function ? -1 : 1;
	return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

/* A chunk for each octave of a function. */
static void put_times(struct swz_merged_file *w, uint32_t index)
{
	const struct swz_merge_thread *thread = &w->merge->threads[index];
	size_t count = thread->times_count, i = 0;

	if (count > 1) /* (the order says nothing) */
		qsort(thread->times, count, sizeof(*thread->times),
		      compare_times);
	while (i < count) {
		const struct swz_merge_times *first = &thread->times[i];
		uint64_t counters[SWZ_BLOCK_BUCKETS] = {0};
		uint32_t block = first->bucket >> SWZ_BUCKET_BITS;
		uint32_t id = first->function < w->merge->function_count
				      ? w->ids[first->function]
				      : 0;

		for (; i < count &&
		       thread->times[i].function == first->function &&
		       thread->times[i].bucket >> SWZ_BUCKET_BITS == block;
		     i++)
			counters[thread->times[i].bucket &
				 (SWZ_BLOCK_BUCKETS - 1)] =
				thread->times[i].calls;
		merged_put_bytes(w,
				 (struct swz_chunk){.type = SWZ_CHUNK_HISTOGRAM,
						    .count = SWZ_BLOCK_BUCKETS,
						    .owner = index,
						    .reserved = {id, block}},
				 counters, sizeof(counters));
	}
}

static void put_thread(struct swz_merged_file *w, uint32_t index)
{
	const struct swz_merge_thread *thread = &w->merge->threads[index];
	uint64_t end = START_NS + (uint64_t)thread->raw_ns;
	struct swz_thread_record record = {
		.tid = (int32_t)index + 1,
		.root = (uint32_t)((w->written + sizeof(struct swz_chunk)) /
				   SWZ_UNIT_BYTES),
		.start_ticks = START_NS,
		.last_ticks = end,
		.end_ticks = end,
		.processor_ns = (uint64_t)thread->processor_ns,
		.processor_ticks = thread->processor_known ? end : 0,
	};
	struct body_bytes body = {0};

	memcpy(record.name, thread->name,
	       strnlen(thread->name, sizeof(record.name)));
	put_nodes(w, index, record.root);
	bytes_add(&body, &record, sizeof(record));
	merged_put(w, SWZ_CHUNK_THREAD, 1, index, 0, &body);
	free(body.bytes);
	put_times(w, index);
}

static void put_all(struct swz_merged_file *w)
{
	uint32_t i;

	w->written = SWZ_HEADER_BYTES;
	put_descriptions(w);
	put_modules(w);
	put_functions(w);
	for (i = 0; i < w->merge->module_count; i++) {
		merged_put_symbols(w, i);
		merged_put_lines(w, i);
	}
	for (i = 0; i < w->merge->thread_count; i++)
		put_thread(w, i);
	merged_put_ranks(w);
}

static void put_header(const struct swz_merged_file *w)
{
	uint8_t page[SWZ_HEADER_BYTES] = {0};
	struct swz_file_header header = w->merge->header;
	const struct swz_clock_sample no_time = {0, 0};
	uint64_t end = START_NS + 1;
	size_t i;

	for (i = 0; i < w->merge->thread_count; i++) {
		uint64_t ends = START_NS +
				(uint64_t)w->merge->threads[i].raw_ns;

		if (ends > end)
			end = ends;
	}
	header.flags |= SWZ_FILE_MERGED | SWZ_FILE_ENDED;
	header.used_bytes = header.limit_bytes = w->written;
	header.start_ticks = header.epoch_ticks = START_NS;
	header.end_ticks = end;
	header.clock[0] = (struct swz_clock_sample){START_NS, START_NS};
	header.clock[1] = no_time;
	header.clock[2] = (struct swz_clock_sample){end, end};
	header.cost_inside = header.cost_outside = header.cost_untimed = 0;
	header.cost_leaf = header.min_ticks = 0;
	header.arena_start = header.arena_end = 0;
	header.event_bytes = header.event_limit_bytes = 0;
	memcpy(page, &header, sizeof(header));
	fwrite(page, sizeof(page), 1, w->stream);
}

void swz_write_merged(FILE *stream, const struct swz_merge *merge)
{
	struct swz_merged_file w = {.merge = merge};

	place_modules(&w);
	number_functions(&w);
	put_all(&w); /* for its size */
	w.stream = stream;
	put_header(&w);
	put_all(&w);
	free(w.biases);
	free(w.starts);
	free(w.ids);
	free(w.first);
}
