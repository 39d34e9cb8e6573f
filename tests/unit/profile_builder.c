#include "tests/unit/profile_builder.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef SWZ_FUZZ /* no test is running: check's own would end the process */
#undef ck_assert
#undef ck_assert_ptr_nonnull
#undef ck_assert_int_eq
#undef ck_assert_msg
#define ck_assert(condition) ((condition) ? (void)0 : abort())
#define ck_assert_ptr_nonnull(pointer) ck_assert((pointer) != NULL)
#define ck_assert_int_eq(a, b) ck_assert((a) == (b))
#define ck_assert_msg(condition, ...) ck_assert(condition)
#endif

static size_t extend(struct profile_builder *builder, size_t bytes)
{
	size_t offset = builder->size;

	builder->data = realloc(builder->data, offset + bytes);
	ck_assert_ptr_nonnull(builder->data);
	memset(builder->data + offset, 0, bytes);
	builder->size += bytes;
	builder_header(builder)->used_bytes = builder->size;
	return offset;
}

struct swz_file_header *builder_header(struct profile_builder *builder)
{
	return (struct swz_file_header *)(void *)builder->data;
}

void builder_begin(struct profile_builder *builder)
{
	struct swz_file_header *header;

	*builder = (struct profile_builder){0};
	extend(builder, SWZ_HEADER_BYTES);
	header = builder_header(builder);
	memcpy(header->magic, SWZ_FILE_MAGIC, sizeof(header->magic));
	header->version = SWZ_FILE_VERSION;
	header->header_bytes = SWZ_HEADER_BYTES;
	header->byte_order = SWZ_FILE_BYTE_ORDER;
	header->flags = SWZ_FILE_ENDED;
	header->limit_bytes = 1 << 20;
	header->pid = 4242;
	header->parent_pid = 1;
	header->start_ticks = 1000;
	header->clock[0].ticks = 1000;
	header->clock[0].monotonic_ns = 500;
	header->clock[1].ticks = 5000;
	header->clock[1].monotonic_ns = 2500;
}

void builder_free(struct profile_builder *builder)
{
	free(builder->data);
	*builder = (struct profile_builder){0};
}

static struct swz_chunk *chunk_at(struct profile_builder *builder,
				  size_t offset)
{
	return (struct swz_chunk *)(void *)(builder->data + offset);
}

size_t builder_chunk(struct profile_builder *builder, uint32_t type,
		     uint32_t count, uint32_t owner, size_t body)
{
	size_t bytes = sizeof(struct swz_chunk) + (body + 63) / 64 * 64;
	size_t offset = extend(builder, bytes);

	*chunk_at(builder, offset) = (struct swz_chunk){
		.magic = SWZ_CHUNK_MAGIC,
		.type = type,
		.bytes = bytes,
		.count = count,
		.owner = owner,
	};
	return offset;
}

static uint8_t *body_at(struct profile_builder *builder, size_t offset)
{
	return builder->data + offset + sizeof(struct swz_chunk);
}

void builder_command(struct profile_builder *builder)
{
	static const char strings[] = "/bin/prog\0/tmp\0prog\0a b";
	size_t offset = builder_chunk(builder, SWZ_CHUNK_COMMAND, 4, 0,
				      sizeof(strings));

	memcpy(body_at(builder, offset), strings, sizeof(strings));
}

void builder_module(struct profile_builder *builder, uint32_t index,
		    const char *path, uint64_t bias, uint32_t first,
		    uint32_t count)
{
	struct swz_module_record record = {
		.load_bias = bias,
		.start = bias,
		.end = bias + (1 << 20),
		.first_function = first,
		.function_count = count,
		.in_scope = 1,
		.counts = {[SWZ_PATCHED] = count},
	};
	struct swz_function_record function = {.size = 0x100};
	size_t offset = builder_chunk(builder, SWZ_CHUNK_MODULE, 1, index,
				      sizeof(record) + strlen(path) + 1);
	uint8_t *body = body_at(builder, offset);
	uint32_t i;

	memcpy(body, &record, sizeof(record));
	memcpy(body + sizeof(record), path, strlen(path) + 1);
	offset = builder_chunk(builder, SWZ_CHUNK_FUNCTIONS, count, index,
			       count * sizeof(function));
	body = body_at(builder, offset);
	for (i = 0; i < count; i++) {
		function.id = first + i;
		function.address = 0x1000 + 0x100 * i;
		memcpy(body + i * sizeof(function), &function,
		       sizeof(function));
	}
}

static void *find_body(struct profile_builder *builder, uint32_t type,
		       uint32_t owner)
{
	size_t offset = SWZ_HEADER_BYTES;

	while (offset < builder->size) {
		struct swz_chunk *chunk = chunk_at(builder, offset);

		if (chunk->type == type && chunk->owner == owner)
			return body_at(builder, offset);
		offset += chunk->bytes;
	}
	ck_abort_msg("no chunk of type %u", type);
	return NULL;
}

struct swz_module_record *builder_module_record(struct profile_builder *builder,
						uint32_t index)
{
	return find_body(builder, SWZ_CHUNK_MODULE, index);
}

struct swz_function_record *builder_function_record(
	struct profile_builder *builder, uint32_t module, uint32_t index)
{
	struct swz_function_record *records = find_body(
		builder, SWZ_CHUNK_FUNCTIONS, module);

	return &records[index];
}

struct swz_thread_record *builder_thread_record(struct profile_builder *builder,
						uint32_t index)
{
	return find_body(builder, SWZ_CHUNK_THREAD, index);
}

void builder_names(struct profile_builder *builder, uint32_t module,
		   uint32_t first, uint32_t count, const char *names,
		   size_t bytes)
{
	size_t at = builder_chunk(builder, SWZ_CHUNK_NAMES, count, module,
				  sizeof(first) + bytes);

	at += sizeof(struct swz_chunk);
	memcpy(builder->data + at, &first, sizeof(first));
	memcpy(builder->data + at + sizeof(first), names, bytes);
}

uint32_t builder_thread(struct profile_builder *builder, uint32_t index,
			int32_t tid, const char *name, uint64_t last,
			uint32_t count)
{
	struct swz_thread_record record = {
		.tid = tid,
		.start_ticks = 1000,
		.last_ticks = last,
	};
	size_t offset = builder_chunk(builder, SWZ_CHUNK_THREAD, 1, index,
				      sizeof(record));
	size_t nodes = builder_chunk(builder, SWZ_CHUNK_NODES, count, index,
				     count * sizeof(struct swz_node));

	record.root = (uint32_t)(nodes / SWZ_UNIT_BYTES) + 1;
	memcpy(record.name, name, strnlen(name, sizeof(record.name)));
	memcpy(body_at(builder, offset), &record, sizeof(record));
	*builder_node(builder, record.root) = (struct swz_node){
		.function = SWZ_FUNCTION_ROOT,
		.context = record.root,
	};
	return record.root;
}

struct swz_node *builder_node(struct profile_builder *builder, uint32_t unit)
{
	size_t offset = (size_t)unit * SWZ_UNIT_BYTES;

	ck_assert_uint_lt(offset, builder->size);
	return (struct swz_node *)(void *)(builder->data + offset);
}

void builder_call(struct profile_builder *builder, uint32_t unit,
		  uint32_t parent, uint32_t context, uint32_t function,
		  uint64_t call_site, uint64_t calls, int64_t ticks,
		  int64_t outer)
{
	*builder_node(builder, unit) = (struct swz_node){
		.function = function,
		.parent = parent,
		.call_site = call_site,
		.calls = calls,
		.ticks = ticks,
		.outer_ticks = outer,
		.min_ticks = calls ? (uint64_t)ticks / calls : 0,
		.max_ticks = calls ? (uint64_t)ticks / calls : 0,
		.context = context,
	};
}

size_t builder_counts(struct profile_builder *builder, uint32_t thread,
		      const struct builder_edge *edges, uint32_t count)
{
	struct swz_count_slot slot;
	size_t offset = builder_chunk(
		builder, SWZ_CHUNK_COUNTS, count, thread,
		count * (sizeof(slot) + sizeof(uint32_t)));
	uint8_t *body = body_at(builder, offset);
	uint8_t *functions = body + count * sizeof(slot);
	uint32_t i;

	builder_header(builder)->flags |= SWZ_FILE_COUNTS;
	for (i = 0; i < count; i++) {
		uint32_t function = edges[i].function + 1;

		slot.key = edges[i].call_site + function * SWZ_COUNT_FACTOR;
		slot.calls = edges[i].calls;
		memcpy(body + i * sizeof(slot), &slot, sizeof(slot));
		memcpy(functions + i * sizeof(function), &function,
		       sizeof(function));
	}
	return offset;
}

struct swz_profile *builder_read(const struct profile_builder *builder)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_parse("test", builder->data, builder->size, &profile,
			      &error) != SWZ_OK)
		ck_abort_msg("refused: %s", error.text);
	return profile;
}

char *builder_save(const struct profile_builder *builder)
{
	const char *directory = getenv("TMPDIR");
	char *path;
	size_t done;
	FILE *file;
	int fd;

	ck_assert_int_gt(asprintf(&path, "%s/swizzle-test-XXXXXX",
				  directory ? directory : "/tmp"),
			 0);
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	file = fdopen(fd, "w");
	ck_assert_ptr_nonnull(file);
	done = fwrite(builder->data, 1, builder->size, file);
	ck_assert_uint_eq(done, builder->size);
	ck_assert_int_eq(fclose(file), 0);
	return path;
}

struct swz_chunk *builder_events(struct profile_builder *builder,
				 uint32_t thread, uint64_t ticks,
				 const uint64_t *events, size_t count)
{
	size_t room = SWZ_EVENT_PAGE - builder->size % SWZ_EVENT_PAGE;
	size_t offset;

	ck_assert(count <= (SWZ_EVENT_PAGE - sizeof(struct swz_chunk)) /
					   sizeof(*events) -
				   1);
	if (room < SWZ_EVENT_PAGE)
		builder_chunk(builder, SWZ_CHUNK_PADDING, 0, 0,
			      room - sizeof(struct swz_chunk));
	offset = builder_chunk(builder, SWZ_CHUNK_EVENTS, 0, thread,
			       SWZ_EVENT_PAGE - sizeof(struct swz_chunk));
	memcpy(body_at(builder, offset), events, count * sizeof(*events));
	memcpy(builder->data + offset + SWZ_EVENT_PAGE - sizeof(ticks), &ticks,
	       sizeof(ticks));
	return (struct swz_chunk *)(void *)(builder->data + offset);
}

struct swz_chunk *builder_packed(struct profile_builder *builder,
				 uint32_t thread, uint64_t ticks,
				 const uint8_t *stream, size_t size)
{
	size_t offset = builder_chunk(builder, SWZ_CHUNK_PACKED, 0, thread,
				      sizeof(ticks) + size);
	struct swz_chunk *chunk = (void *)(builder->data + offset);
	uint8_t *body = body_at(builder, offset);

	chunk->reserved[SWZ_PACKED_STATE] = sizeof(ticks) + size;
	memcpy(body, &ticks, sizeof(ticks));
	if (size)
		memcpy(body + sizeof(ticks), stream, size);
	return chunk;
}
