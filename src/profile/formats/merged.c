/* Modules lie behind each other, at addresses that no process has had. A
 * module's functions have the numbers that it says it has, those that it does
 * not patch itself (imports) come last. */

#include "profile/formats/merged.h"

#include <stdlib.h>
#include <string.h>

#include "profile/formats/merged_parts.h"
#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE
#define START_NS 1000000000u /* of threads; 0 would be no time */
#define FIRST_START 0x10000u
#define NAMED_BYTES (1ull << 32) /* as profile_file.c of the sampler has it */

/* ---------------------------------------------------------- descriptions */

static void put_descriptions(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	struct swz_bytes body = {0};
	size_t i;

	swz_bytes_add_string(&body, merge->executable);
	swz_bytes_add_string(&body, merge->cwd);
	for (i = 0; i < merge->argument_count; i++)
		swz_bytes_add_string(&body, merge->arguments[i]);
	swz_merged_put(w, SWZ_CHUNK_COMMAND, 2 + i, 0, 0, &body);
	for (i = 0; i < 2 * merge->label_count; i++)
		swz_bytes_add_string(&body, merge->labels[i]);
	if (i)
		swz_merged_put(w, SWZ_CHUNK_LABELS, i, 0, 0, &body);
	swz_bytes_add(&body, merge->sources,
		      merge->source_count * sizeof(*merge->sources));
	swz_merged_put(w, SWZ_CHUNK_MERGED, merge->source_count, 0, 0, &body);
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
			size = NAMED_BYTES;
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
	struct swz_bytes body = {0};
	uint32_t i;

	for (i = 0; i < merge->module_count; i++) {
		struct swz_module_record record = merge->modules[i].record;
		uint64_t size = record.end - record.start;

		record.load_bias = w->biases[i];
		record.start = w->starts[i];
		record.end = record.start +
			     (merge->modules[i].by_name ? NAMED_BYTES : size);
		record.first_function = w->first[i];
		record.load_ticks = record.unload_ticks = 0;
		swz_bytes_add(&body, &record, sizeof(record));
		swz_bytes_add_string(&body, merge->modules[i].path);
		swz_merged_put(w, SWZ_CHUNK_MODULE, 1, i, 0, &body);
	}
	free(body.bytes);
}

/* A chunk for each module, with its functions in the order that the sum has. */
static void put_functions(struct swz_merged_file *w)
{
	const struct swz_merge *merge = w->merge;
	struct swz_bytes *bodies = swz_allocate(merge->module_count + 1,
						sizeof(*bodies));
	struct swz_bytes name = {0};
	size_t i;

	for (i = 0; i < merge->function_count; i++) {
		const struct swz_merge_function *f = &merge->functions[i];
		struct swz_function_record record = {
			.address = (uint32_t)f->address,
			.size = f->size,
			.status = f->status,
			.flags = f->flags,
			.id = w->ids[i]};

		swz_bytes_add(&bodies[f->module == NONE ? merge->module_count
							: f->module],
			      &record, sizeof(record));
		if (!f->asked)
			continue;
		swz_bytes_add(&name, &w->ids[i], sizeof(w->ids[i]));
		swz_bytes_add_string(&name, f->asked);
		swz_merged_put(w, SWZ_CHUNK_NAMES, 1, f->module, 0, &name);
	}
	for (i = 0; i <= merge->module_count; i++) {
		if (bodies[i].size)
			swz_merged_put(
				w, SWZ_CHUNK_FUNCTIONS,
				bodies[i].size /
					sizeof(struct swz_function_record),
				i < merge->module_count ? (uint32_t)i : NONE, 0,
				&bodies[i]);
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

static void put_nodes(struct swz_merged_file *w, uint32_t index, uint32_t root)
{
	const struct swz_merge_thread *thread = &w->merge->threads[index];
	bool samples = w->merge->header.flags & SWZ_FILE_SAMPLES;
	struct swz_bytes body = {0};
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
		swz_bytes_add(&body, &node, sizeof(node));
	}
	swz_merged_put(w, SWZ_CHUNK_NODES, thread->count, index, 0, &body);
	for (i = 0; i < thread->count; i++) {
		struct swz_unwound_record unwound = {
			.node = root + (uint32_t)i,
			.count = thread->nodes[i].unwound};

		if (unwound.count)
			swz_bytes_add(&body, &unwound, sizeof(unwound));
	}
	if (body.size)
		swz_merged_put(w, SWZ_CHUNK_UNWOUND,
			       body.size / sizeof(struct swz_unwound_record),
			       index, 0, &body);
	free(body.bytes);
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
	struct swz_bytes body = {0};

	memcpy(record.name, thread->name,
	       strnlen(thread->name, sizeof(record.name)));
	put_nodes(w, index, record.root);
	swz_bytes_add(&body, &record, sizeof(record));
	swz_merged_put(w, SWZ_CHUNK_THREAD, 1, index, 0, &body);
	free(body.bytes);
}

static void put_all(struct swz_merged_file *w)
{
	uint32_t i;

	w->written = SWZ_HEADER_BYTES;
	put_descriptions(w);
	put_modules(w);
	put_functions(w);
	for (i = 0; i < w->merge->module_count; i++) {
		swz_merged_put_symbols(w, i);
		swz_merged_put_lines(w, i);
	}
	for (i = 0; i < w->merge->thread_count; i++)
		put_thread(w, i);
	swz_merged_put_ranks(w);
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
	header.counts_pid = 0;
	header.counts_start = 0;
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
