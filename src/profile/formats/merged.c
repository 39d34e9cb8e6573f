/* Modules lie behind each other, at addresses that no process has had. A
 * module's functions have the numbers that it says it has, those that it does
 * not patch itself (imports) come last. */

#include "profile/formats/merged.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

#define NONE SWZ_INDEX_NONE
#define START_NS 1000000000u /* of threads; 0 would be no time */
#define FIRST_START 0x10000u
#define NAMED_BYTES (1ull << 32) /* as profile_file.c of the sampler has it */

struct writing {
	FILE *stream;
	const struct swz_merge *merge;
	uint64_t written; /* bytes, with the header */
	uint64_t *biases; /* by module: run-time address - ELF address */
	uint64_t *starts;
	uint32_t *ids;   /* by function */
	uint32_t *first; /* by module: the id of its first function */
};

/* ---------------------------------------------------------------- bytes */

struct body {
	uint8_t *bytes;
	size_t size, capacity;
};

static void add(struct body *body, const void *from, size_t size)
{
	if (body->capacity - body->size < size) {
		body->capacity = body->size + size + body->capacity / 2;
		body->bytes = swz_reallocate(body->bytes, body->capacity, 1);
	}
	if (size)
		memcpy(body->bytes + body->size, from, size);
	body->size += size;
}

static void add_string(struct body *body, const char *string)
{
	add(body, string, strlen(string) + 1);
}

/* Writes the chunk and empties the body. */
static void put_chunk(struct writing *w, uint32_t type, size_t count,
		      uint32_t owner, uint64_t reserved, struct body *body)
{
	static const char zeros[SWZ_UNIT_BYTES];
	size_t padding = -body->size % SWZ_UNIT_BYTES;
	struct swz_chunk chunk = {.magic = SWZ_CHUNK_MAGIC,
				  .type = type,
				  .bytes = sizeof(chunk) + body->size + padding,
				  .count = (uint32_t)count,
				  .owner = owner,
				  .reserved = {reserved}};

	if (w->stream) {
		fwrite(&chunk, sizeof(chunk), 1, w->stream);
		if (body->size)
			fwrite(body->bytes, body->size, 1, w->stream);
		fwrite(zeros, padding, 1, w->stream);
	}
	w->written += chunk.bytes;
	body->size = 0;
}

/* ---------------------------------------------------------- descriptions */

static void put_descriptions(struct writing *w)
{
	const struct swz_merge *merge = w->merge;
	struct body body = {0};
	size_t i;

	add_string(&body, merge->executable);
	add_string(&body, merge->cwd);
	for (i = 0; i < merge->argument_count; i++)
		add_string(&body, merge->arguments[i]);
	put_chunk(w, SWZ_CHUNK_COMMAND, 2 + i, 0, 0, &body);
	for (i = 0; i < 2 * merge->label_count; i++)
		add_string(&body, merge->labels[i]);
	if (i)
		put_chunk(w, SWZ_CHUNK_LABELS, i, 0, 0, &body);
	add(&body, merge->sources,
	    merge->source_count * sizeof(*merge->sources));
	put_chunk(w, SWZ_CHUNK_MERGED, merge->source_count, 0, 0, &body);
	free(body.bytes);
}

static void place_modules(struct writing *w)
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
static void number_functions(struct writing *w)
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

static void put_modules(struct writing *w)
{
	const struct swz_merge *merge = w->merge;
	struct body body = {0};
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
		add(&body, &record, sizeof(record));
		add_string(&body, merge->modules[i].path);
		put_chunk(w, SWZ_CHUNK_MODULE, 1, i, 0, &body);
	}
	free(body.bytes);
}

/* A chunk for each module, with its functions in the order that the sum has. */
static void put_functions(struct writing *w)
{
	const struct swz_merge *merge = w->merge;
	struct body *bodies = swz_allocate(merge->module_count + 1,
					   sizeof(*bodies));
	struct body name = {0};
	size_t i;

	for (i = 0; i < merge->function_count; i++) {
		const struct swz_merge_function *f = &merge->functions[i];
		struct swz_function_record record = {
			.address = (uint32_t)f->address,
			.size = f->size,
			.status = f->status,
			.flags = f->flags,
			.id = w->ids[i]};

		add(&bodies[f->module == NONE ? merge->module_count
					      : f->module],
		    &record, sizeof(record));
		if (!f->asked)
			continue;
		add(&name, &w->ids[i], sizeof(w->ids[i]));
		add_string(&name, f->asked);
		put_chunk(w, SWZ_CHUNK_NAMES, 1, f->module, 0, &name);
	}
	for (i = 0; i <= merge->module_count; i++) {
		if (bodies[i].size)
			put_chunk(w, SWZ_CHUNK_FUNCTIONS,
				  bodies[i].size /
					  sizeof(struct swz_function_record),
				  i < merge->module_count ? (uint32_t)i : NONE,
				  0, &bodies[i]);
		free(bodies[i].bytes);
	}
	free(bodies);
	free(name.bytes);
}

/* -------------------------------------------------------------- names */

/* Records first, then text: its place counts from the body's start. */
struct names {
	struct body records, text;
	struct swz_map places; /* (string, 0): where in the text */
	uint32_t languages;
};

static uint32_t text_at(struct names *names, const char *string)
{
	uint32_t *at;

	if (!string || !*string)
		return 0;
	at = swz_map_at(&names->places, (uintptr_t)string, 0);
	if (*at == SWZ_MAP_NONE) {
		*at = (uint32_t)names->text.size;
		add_string(&names->text, string);
	}
	return *at + 1; /* until the records are complete */
}

static void put_names(struct writing *w, uint32_t type, uint32_t module,
		      size_t record_bytes, struct names *names)
{
	size_t count = names->records.size / record_bytes;

	add(&names->records, names->text.bytes, names->text.size);
	if (count)
		put_chunk(w, type, count, module, names->languages,
			  &names->records);
	free(names->records.bytes);
	free(names->text.bytes);
	swz_map_free(&names->places);
}

static void shift(uint32_t *text, size_t records)
{
	*text = *text ? *text - 1 + (uint32_t)records : 0;
}

static void put_symbols(struct writing *w, uint32_t module)
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
		record.name = text_at(&names, s->name);
		record.file = text_at(&names, s->file);
		names.languages |= s->languages;
		add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_symbol_record) < names.records.size;
	     i++) {
		struct swz_symbol_record *record =
			(struct swz_symbol_record *)(void *)
				names.records.bytes +
			i;

		shift(&record->name, names.records.size);
		shift(&record->file, names.records.size);
	}
	put_names(w, SWZ_CHUNK_SYMBOLS, module,
		  sizeof(struct swz_symbol_record), &names);
}

static void put_lines(struct writing *w, uint32_t module)
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
		record.file = text_at(&names, l->file);
		record.inlined = text_at(&names, l->inlined);
		add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_line_record) < names.records.size;
	     i++) {
		struct swz_line_record *record =
			(struct swz_line_record *)(void *)names.records.bytes +
			i;

		shift(&record->file, names.records.size);
		shift(&record->inlined, names.records.size);
	}
	put_names(w, SWZ_CHUNK_LINES, module, sizeof(struct swz_line_record),
		  &names);
}

/* ------------------------------------------------------------- threads */

static uint64_t site_of(const struct writing *w,
			const struct swz_merge_node *node)
{
	return node->site_module == NONE
		       ? node->site
		       : node->site + w->biases[node->site_module];
}

static void put_nodes(struct writing *w, uint32_t index, uint32_t root)
{
	const struct swz_merge_thread *thread = &w->merge->threads[index];
	bool samples = w->merge->header.flags & SWZ_FILE_SAMPLES;
	struct body body = {0};
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
		add(&body, &node, sizeof(node));
	}
	put_chunk(w, SWZ_CHUNK_NODES, thread->count, index, 0, &body);
	for (i = 0; i < thread->count; i++) {
		struct swz_unwound_record unwound = {
			.node = root + (uint32_t)i,
			.count = thread->nodes[i].unwound};

		if (unwound.count)
			add(&body, &unwound, sizeof(unwound));
	}
	if (body.size)
		put_chunk(w, SWZ_CHUNK_UNWOUND,
			  body.size / sizeof(struct swz_unwound_record), index,
			  0, &body);
	free(body.bytes);
}

static void put_thread(struct writing *w, uint32_t index)
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
	struct body body = {0};

	memcpy(record.name, thread->name,
	       strnlen(thread->name, sizeof(record.name)));
	put_nodes(w, index, record.root);
	add(&body, &record, sizeof(record));
	put_chunk(w, SWZ_CHUNK_THREAD, 1, index, 0, &body);
	free(body.bytes);
}

static void put_all(struct writing *w)
{
	uint32_t i;

	w->written = SWZ_HEADER_BYTES;
	put_descriptions(w);
	put_modules(w);
	put_functions(w);
	for (i = 0; i < w->merge->module_count; i++) {
		put_symbols(w, i);
		put_lines(w, i);
	}
	for (i = 0; i < w->merge->thread_count; i++)
		put_thread(w, i);
}

static void put_header(const struct writing *w)
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
	struct writing w = {.merge = merge};

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
