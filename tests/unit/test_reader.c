#include <check.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/costs/report.h"
#include "profile/file/reader.h"
#include "profile/file/scan.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

static struct profile_builder builder;
static uint32_t root; /* of the first thread */

/* Two modules, two threads, recursion, open frames: a bit of everything. */
static void setup(void)
{
	struct swz_node *node;
	uint32_t second;

	builder_begin(&builder);
	builder_command(&builder);
	builder_module(&builder, 0, "/bin/prog", 0x400000, 1, 4);
	builder_module(&builder, 1, "/lib/libx.so", 0x7f0000000000, 5, 3);
	root = builder_thread(&builder, 0, 100, "main", 3000, 6);
	builder_call(&builder, root + 1, root, root + 1, 1, 0x400050, 1, 1500,
		     1500);
	builder_call(&builder, root + 2, root + 1, root + 2, 2, 0x401010, 2,
		     900, 900);
	builder_call(&builder, root + 3, root + 2, root + 2, 2, 0x401110, 3,
		     600, 0);
	builder_call(&builder, root + 4, root + 2, root + 4, 5, 0x401120, 1,
		     100, 100);
	builder_names(&builder, 1, 5, 2, "five\0six", sizeof("five\0six"));
	second = builder_thread(&builder, 1, 101, "worker", 2500, 3);
	builder_call(&builder, second + 1, second, second + 1, 3, 0x400050, 1,
		     0, 0);
	node = builder_node(&builder, second + 1);
	node->ticks = -(int64_t)(1200 + SWZ_TICKS_BIAS);
	node->outer_ticks = node->ticks;
	node->min_ticks = 0;
	node->max_ticks = 0;
	node->open = 1u << SWZ_NODE_OPEN_SHIFT;
}

static void teardown(void)
{
	builder_free(&builder);
}

static enum swz_status parse(const void *bytes, size_t size,
			     struct swz_error *error)
{
	struct swz_profile *profile;
	enum swz_status status = swz_profile_parse("test", bytes, size,
						   &profile, error);

	swz_profile_free(profile);
	return status;
}

/* Everything that the tools do with a profile, without symbols. Its sums must
 * hold whatever the bytes are. */
static void exercise(const void *bytes, size_t size)
{
	static const struct swz_catalog_options options;
	struct swz_report report = {0};
	struct swz_catalog catalog;
	struct swz_binding binding;
	struct swz_profile *profile;
	struct swz_error error;
	int64_t sum = 0;
	size_t i;

	if (swz_profile_parse("test", bytes, size, &profile, &error) != SWZ_OK)
		return;
	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i], i & 1);
		swz_report_add(&report, &binding, &tree);
		swz_tree_free(&tree);
	}
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
	for (i = 0; i < report.function_capacity; i++) {
		ck_assert_int_ge(report.functions[i].self_ns, 0);
		ck_assert_int_le(report.functions[i].inclusive_ns,
				 report.total_ns);
		sum += report.functions[i].self_ns;
	}
	ck_assert_int_eq(sum, report.total_ns);
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
}

START_TEST(reads_what_was_written)
{
	struct swz_profile *profile = builder_read(&builder);

	ck_assert(!swz_profile_damaged(profile));
	ck_assert_str_eq(profile->executable, "/bin/prog");
	ck_assert_str_eq(profile->cwd, "/tmp");
	ck_assert_uint_eq(profile->argument_count, 2);
	ck_assert_str_eq(profile->arguments[1], "a b");
	ck_assert_uint_eq(profile->module_count, 2);
	ck_assert_str_eq(profile->modules[1].path, "/lib/libx.so");
	ck_assert_uint_eq(profile->function_count, 7);
	ck_assert_uint_eq(profile->thread_count, 2);
	ck_assert_str_eq(profile->threads[1].name, "worker");
	ck_assert_uint_eq(profile->threads[1].last_ticks, 2500);
	ck_assert(profile->clock_known);
	ck_assert_int_eq(swz_profile_ns(profile, 101), 50);
	swz_profile_free(profile);
}
END_TEST

START_TEST(tells_empty_foreign_and_unknown_apart)
{
	struct swz_error empty, foreign, newer, older, order;

	ck_assert_int_eq(parse("", 0, &empty), SWZ_E_NOTFOUND);
	ck_assert_int_eq(parse("\177ELF and so on", 13, &foreign),
			 SWZ_E_FORMAT);
	builder_header(&builder)->version = 77;
	ck_assert_int_eq(parse(builder.data, builder.size, &newer),
			 SWZ_E_UNSUPPORTED);
	builder_header(&builder)->version = SWZ_FILE_VERSION - 1;
	ck_assert_int_eq(parse(builder.data, builder.size, &older),
			 SWZ_E_UNSUPPORTED);
	builder_header(&builder)->byte_order = 0x04030201;
	ck_assert_int_eq(parse(builder.data, builder.size, &order),
			 SWZ_E_UNSUPPORTED);
	ck_assert_ptr_nonnull(strstr(empty.text, "empty"));
	ck_assert_ptr_nonnull(strstr(foreign.text, "not a swizzle profile"));
	ck_assert_ptr_nonnull(strstr(newer.text, "by a newer swizzle (file "
						 "format 77,"));
	ck_assert_ptr_nonnull(strstr(older.text, "record it again"));
	ck_assert_ptr_nonnull(strstr(order.text, "byte order"));
}
END_TEST

START_TEST(says_why_a_file_cannot_be_read)
{
	struct swz_profile *profile;
	struct swz_error error;

	ck_assert_int_eq(swz_profile_read("/nonexistent/x", &profile, &error),
			 SWZ_E_SYSTEM);
	ck_assert_ptr_null(profile);
	ck_assert_ptr_nonnull(strstr(error.text, "No such file"));
	ck_assert_int_eq(swz_profile_read("/tmp", &profile, &error),
			 SWZ_E_SYSTEM);
	ck_assert_ptr_nonnull(strstr(error.text, "directory"));
	ck_assert_int_eq(swz_profile_read("/dev/null", &profile, &error),
			 SWZ_E_FORMAT);
}
END_TEST

START_TEST(does_not_wait_for_a_fifo)
{
	char path[] = "/tmp/swizzle-test-XXXXXX";
	struct swz_profile *profile;
	struct swz_error error;

	ck_assert_ptr_nonnull(mkdtemp(path));
	char fifo[sizeof(path) + 2];
	snprintf(fifo, sizeof(fifo), "%s/f", path);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	ck_assert_int_eq(swz_profile_read(fifo, &profile, &error),
			 SWZ_E_FORMAT);
	unlink(fifo);
	rmdir(path);
}
END_TEST

START_TEST(reads_a_file_longer_than_what_is_used)
{
	struct swz_profile *profile;
	struct swz_error error;
	char *path = builder_save(&builder);

	ck_assert_int_eq(truncate(path, 1 << 20), 0);
	ck_assert_int_eq(swz_profile_read(path, &profile, &error), SWZ_OK);
	ck_assert_uint_eq(profile->size, builder.size);
	ck_assert(!swz_profile_damaged(profile));
	swz_profile_free(profile);
	unlink(path);
	free(path);
}
END_TEST

/* The process was killed, or is looked at, while it cuts its file. */
START_TEST(reads_a_file_that_is_being_cut)
{
	struct swz_profile *profile;
	struct swz_error error;
	char *path;

	builder_header(&builder)->used_bytes |= SWZ_USED_CLOSED;
	path = builder_save(&builder);
	ck_assert_int_eq(truncate(path, 1 << 20), 0);
	ck_assert_int_eq(swz_profile_read(path, &profile, &error), SWZ_OK);
	ck_assert_uint_eq(profile->size, builder.size);
	ck_assert(!swz_profile_damaged(profile));
	swz_profile_free(profile);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(survives_truncation_anywhere)
{
	size_t size;

	for (size = 0; size < builder.size; size += 64) {
		struct swz_profile *profile;
		struct swz_error error;
		uint8_t *copy = malloc(size ? size : 1);

		memcpy(copy, builder.data, size);
		exercise(copy, size);
		if (size > sizeof(struct swz_file_header)) {
			ck_assert_int_eq(swz_profile_parse("test", copy, size,
							   &profile, &error),
					 SWZ_OK);
			ck_assert(swz_profile_damaged(profile));
			ck_assert_uint_eq(profile->damage.missing_bytes,
					  builder.size - size);
			swz_profile_free(profile);
		}
		free(copy);
	}
}
END_TEST

START_TEST(survives_any_flipped_bit)
{
	size_t bit;

	for (bit = 0; bit < builder.size * 8; bit++) {
		/* most of the header page is unused */
		if (bit / 8 >= sizeof(struct swz_file_header) &&
		    bit / 8 < SWZ_HEADER_BYTES)
			continue;
		builder.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
		exercise(builder.data, builder.size);
		builder.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}
END_TEST

START_TEST(survives_extreme_words)
{
	static const uint64_t values[] = {UINT64_MAX, INT64_MAX,
					  (uint64_t)INT64_MIN, 1,
					  0x0000ffff0000ffff};
	size_t offset, i;

	for (offset = 0; offset < builder.size; offset += 8) {
		uint64_t saved;

		if (offset == sizeof(struct swz_file_header))
			offset = SWZ_HEADER_BYTES;
		memcpy(&saved, builder.data + offset, 8);
		for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			memcpy(builder.data + offset, &values[i], 8);
			exercise(builder.data, builder.size);
		}
		memcpy(builder.data + offset, &saved, 8);
	}
}
END_TEST

START_TEST(goes_on_after_an_unfinished_chunk)
{
	size_t offset = builder_chunk(&builder, SWZ_CHUNK_NODES, 0, 0, 256);
	struct swz_profile *profile;

	memset(builder.data + offset, 0, 64); /* its writer was killed */
	builder_thread(&builder, 2, 102, "late", 2000, 1);
	profile = builder_read(&builder);
	ck_assert_uint_eq(profile->thread_count, 3);
	ck_assert(!swz_profile_damaged(profile));
	swz_profile_free(profile);
}
END_TEST

START_TEST(reads_a_thread_without_nodes)
{
	struct swz_thread_record record = {.tid = 1};
	size_t offset;

	builder_free(&builder);
	builder_begin(&builder);
	offset = builder_chunk(&builder, SWZ_CHUNK_THREAD, 1, 0,
			       sizeof(record));
	memcpy(builder.data + offset + 64, &record, sizeof(record));
	exercise(builder.data, builder.size);
}
END_TEST

START_TEST(skips_unknown_chunks)
{
	struct swz_profile *profile;

	builder_chunk(&builder, 999, 5, 0, 128);
	builder_thread(&builder, 2, 102, "late", 2000, 1);
	profile = builder_read(&builder);
	ck_assert_uint_eq(profile->thread_count, 3);
	ck_assert(!swz_profile_damaged(profile));
	swz_profile_free(profile);
}
END_TEST

static const char *name_of(const struct swz_profile *profile, uint32_t id)
{
	return profile->functions[swz_profile_function_by_id(profile, id)].name;
}

START_TEST(knows_by_which_names_functions_were_asked_for)
{
	struct swz_profile *profile = builder_read(&builder);

	ck_assert_str_eq(name_of(profile, 5), "five");
	ck_assert_str_eq(name_of(profile, 6), "six");
	ck_assert_ptr_null(name_of(profile, 7));
	swz_profile_free(profile);
}
END_TEST

START_TEST(leaves_out_names_that_are_cut_off_or_nobodys)
{
	struct swz_profile *profile;
	char names[60];

	/* up to the end of the chunk, and more are said to follow */
	memset(names, 'x', sizeof(names));
	names[5] = '\0';
	builder_names(&builder, 1, 7, 3, names, sizeof(names));
	builder_names(&builder, 1, 0xfffffff0, 2, "a\0b", 4);
	profile = builder_read(&builder);
	ck_assert_str_eq(name_of(profile, 7), "xxxxx");
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	swz_profile_free(profile);
}
END_TEST

/* ids 40, 41, 42, the last one not whole */
START_TEST(reads_packed_functions_as_far_as_they_go)
{
	static const uint8_t body[] = {40, 0,  0, 0,      0x80, 0x40, 5,
				       4,  22, 3, 3 << 5, 2,    0x80};
	struct swz_profile *profile;
	struct swz_error error;
	uint32_t first, second;
	size_t at = builder_chunk(&builder, SWZ_CHUNK_PACKED_FUNCTIONS, 3, 1,
				  sizeof(body));

	at += sizeof(struct swz_chunk);
	/* the rest of the chunk is of the same number: it does not end */
	memset(builder.data + at, 0x80, 64);
	memcpy(builder.data + at, body, sizeof(body));
	ck_assert_int_eq(swz_profile_parse("test", builder.data, builder.size,
					   &profile, &error),
			 SWZ_OK);
	first = swz_profile_function_by_id(profile, 40);
	second = swz_profile_function_by_id(profile, 41);
	ck_assert_uint_ne(first, SWZ_INDEX_NONE);
	ck_assert_uint_ne(second, SWZ_INDEX_NONE);
	ck_assert_uint_eq(swz_profile_function_by_id(profile, 42),
			  SWZ_INDEX_NONE);
	ck_assert_uint_eq(profile->functions[first].address, 0x1000);
	ck_assert_uint_eq(profile->functions[first].size, 5);
	ck_assert_uint_eq(profile->functions[first].flags, SWZ_FUNCTION_LEAF);
	ck_assert_uint_eq(profile->functions[second].address, 0x1010);
	ck_assert_uint_eq(profile->functions[second].status, 3);
	ck_assert_uint_eq(profile->functions[second].module, 1);
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	swz_profile_free(profile);
}
END_TEST

static struct swz_profile *parsed(void)
{
	struct swz_profile *profile;
	struct swz_error error;

	ck_assert_int_eq(swz_profile_parse("test", builder.data, builder.size,
					   &profile, &error),
			 SWZ_OK);
	return profile;
}

/* Makes the first thread's chunk of nodes one of packed ones. */
static struct swz_chunk *pack_nodes(void)
{
	size_t at = (size_t)root * SWZ_UNIT_BYTES - sizeof(struct swz_chunk);
	struct swz_packed_nodes before = {0};
	uint8_t packed[8 * SWZ_PACKED_NODE_BYTES];
	struct swz_chunk *chunk;
	size_t size = 0;

	chunk = (void *)(builder.data + at);
	ck_assert_uint_eq(chunk->type, SWZ_CHUNK_NODES);
	ck_assert_uint_le(chunk->count, 8);
	for (uint32_t i = 0; i < chunk->count; i++)
		size += swz_node_pack(packed + size, &before, root + i,
				      builder_node(&builder, root + i));
	memset(chunk + 1, 0, chunk->count * sizeof(struct swz_node));
	memcpy(chunk + 1, packed, size);
	chunk->type = SWZ_CHUNK_PACKED_NODES;
	chunk->reserved[SWZ_PACKED_NODES_BYTES] = size;
	return chunk;
}

START_TEST(packed_nodes_are_where_they_were)
{
	struct swz_profile *plain = parsed(), *packed;
	size_t i;

	pack_nodes();
	packed = parsed();
	ck_assert(!swz_profile_damaged(packed));
	ck_assert_uint_eq(packed->span_count, plain->span_count);
	for (i = 0; i < plain->span_count; i++)
		for (uint32_t n = 0; n < plain->spans[i].count; n++)
			ck_assert_mem_eq(
				swz_profile_node(packed,
						 plain->spans[i].unit + n),
				swz_profile_node(plain,
						 plain->spans[i].unit + n),
				sizeof(struct swz_node));
	swz_profile_free(packed);
	swz_profile_free(plain);
}
END_TEST

START_TEST(packed_nodes_that_are_not_whole_are_damage)
{
	struct swz_chunk *chunk = pack_nodes();
	struct swz_profile *profile;

	/* the last slot is not used: a byte */
	chunk->reserved[SWZ_PACKED_NODES_BYTES] -= 2;
	profile = parsed();
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	ck_assert_uint_eq(swz_profile_node(profile, root + 3)->calls, 3);
	swz_profile_free(profile);
	chunk->reserved[SWZ_PACKED_NODES_BYTES] = UINT64_MAX;
	profile = parsed();
	ck_assert_uint_ge(profile->damage.bad_chunks, 1);
	swz_profile_free(profile);
}
END_TEST

START_TEST(counts_a_chunk_with_a_bad_magic_as_damage)
{
	size_t offset = builder_chunk(&builder, SWZ_CHUNK_NODES, 0, 0, 64);
	struct swz_profile *profile;

	builder.data[offset] ^= 1;
	profile = builder_read(&builder);
	ck_assert(swz_profile_damaged(profile));
	swz_profile_free(profile);
}
END_TEST

START_TEST(open_frames_end_where_the_thread_was_last_seen)
{
	struct swz_profile *profile;

	builder_header(&builder)->flags = SWZ_FILE_ENDED;
	builder_header(&builder)->end_ticks = 7000;
	builder_thread_record(&builder, 0)->end_ticks = 3500;
	profile = builder_read(&builder);
	ck_assert_uint_eq(profile->threads[0].last_ticks, 3500);
	ck_assert_uint_eq(profile->threads[1].last_ticks, 7000);
	swz_profile_free(profile);
}
END_TEST

START_TEST(counts_calls_in_folded_contexts)
{
	struct profile_builder folded;
	struct swz_profile *profile;
	uint32_t first;

	builder_begin(&folded);
	first = builder_thread(&folded, 0, 100, "main", 2000, 5);
	builder_call(&folded, first + 1, first, first + 1, 1, 0, 7, 10, 10);
	/* what folded contexts hang below has no calls of its own */
	*builder_node(&folded, first + 2) = (struct swz_node){
		.function = SWZ_FUNCTION_ROOT,
		.parent = first,
		.context = first + 2,
		.open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN};
	builder_call(&folded, first + 3, first + 2, first + 3, 1, 0, 4, 10, 10);
	builder_node(&folded, first + 3)->open = SWZ_NODE_FOLDED |
						 1u << SWZ_NODE_OPEN_SHIFT;
	/* not a node (yet) */
	builder_call(&folded, first + 4, first + 2, first + 4, 0, 0, 9, 10, 10);
	builder_node(&folded, first + 4)->open = SWZ_NODE_FOLDED;
	first = builder_thread(&folded, 1, 101, "other", 2000, 2);
	builder_call(&folded, first + 1, first, first + 1, 2, 0, 2, 10, 10);
	builder_node(&folded, first + 1)->open = SWZ_NODE_FOLDED;
	profile = builder_read(&folded);
	ck_assert_uint_eq(profile->folded_calls, 6);
	swz_profile_free(profile);
	builder_free(&folded);
}
END_TEST

START_TEST(takes_the_clock_from_the_samples_farthest_apart)
{
	struct swz_file_header *header = builder_header(&builder);
	struct swz_profile *profile;

	header->clock[2].ticks = 9000;
	header->clock[2].monotonic_ns = 8500; /* 1 tick per ns over all */
	profile = builder_read(&builder);
	ck_assert_int_eq(swz_profile_ns(profile, 100), 100);
	swz_profile_free(profile);
}
END_TEST

/* 2 ticks per ns; the program begins after 1 ms and runs for 10 s. */
static struct swz_profile *read_long_run(uint64_t ticks_more, uint64_t ns_more)
{
	struct swz_clock_sample *clock = builder_header(&builder)->clock;

	for (unsigned i = 0; i < 3; i++) {
		uint64_t ns = i == 0 ? 0 : i == 1 ? 1000000 : 10000000000;

		clock[i].ticks = 1000 + 2 * ns + (i == 2 ? ticks_more : 0);
		clock[i].monotonic_ns = 500 + ns + (i == 2 ? ns_more : 0);
	}
	return builder_read(&builder);
}

static void check_start_is_taken(uint64_t ticks_more, uint64_t ns_more)
{
	struct swz_profile *profile = read_long_run(ticks_more, ns_more);

	ck_assert(profile->clock_known);
	ck_assert(profile->clock_uneven);
	ck_assert_int_eq(swz_profile_ns(profile, 2000), 1000);
	swz_profile_free(profile);
}

/* For a minute, or for an hour: which no clock is in 10 s. */
START_TEST(takes_the_clock_of_the_start_if_the_machine_was_suspended)
{
	check_start_is_taken(120000000000, 0);
	check_start_is_taken(7200000000000, 0);
}
END_TEST

/* As by another time namespace. */
START_TEST(takes_the_clock_of_the_start_if_the_time_was_set_on)
{
	check_start_is_taken(0, 60000000000);
	check_start_is_taken(0, 3600000000000);
}
END_TEST

START_TEST(forgives_a_sample_that_had_to_wait)
{
	struct swz_clock_sample *clock;
	struct swz_profile *profile = read_long_run(0, 0);

	ck_assert(!profile->clock_uneven);
	swz_profile_free(profile);
	clock = builder_header(&builder)->clock;
	clock[1].monotonic_ns += 15000; /* 1.5 % of what is between the two */
	profile = builder_read(&builder);
	ck_assert(!profile->clock_uneven);
	ck_assert_int_eq(swz_profile_ns(profile, 2000), 1000);
	swz_profile_free(profile);
}
END_TEST

START_TEST(rejects_an_absurd_clock)
{
	struct swz_file_header *header = builder_header(&builder);
	struct swz_profile *profile;

	header->clock[1].monotonic_ns = 501;
	header->clock[1].ticks = 900000000;
	profile = builder_read(&builder);
	ck_assert(!profile->clock_known);
	ck_assert_int_eq(swz_profile_ns(profile, 100), 100);
	swz_profile_free(profile);
}
END_TEST

/* Nodes are named by 32 bits, in units: what lies behind 256 GiB has no name,
 * and must not get that of another. The file is a hole, but for its ends. */
START_TEST(nodes_beyond_the_last_unit_are_damage)
{
	const uint64_t last = UINT32_MAX;
	struct swz_chunk hole = {
		.magic = SWZ_CHUNK_MAGIC, .type = SWZ_CHUNK_PACKED, .owner = 7};
	struct swz_chunk nodes = {.magic = SWZ_CHUNK_MAGIC,
				  .type = SWZ_CHUNK_NODES,
				  .count = 2,
				  .bytes = UINT64_C(3) * SWZ_UNIT_BYTES};
	uint64_t first = last - 3, used = (last + 3) * SWZ_UNIT_BYTES;
	struct swz_node node = {.function = 1, .parent = root, .calls = 5};
	struct swz_profile *profile;
	struct swz_error error;
	char *path = builder_save(&builder);
	FILE *file = fopen(path, "r+");
	int fd = fileno(file);

	hole.bytes = first * SWZ_UNIT_BYTES - builder.size;
	ck_assert_int_eq(ftruncate(fd, (off_t)used), 0);
	ck_assert_int_eq(pwrite(fd, &used, sizeof(used),
				offsetof(struct swz_file_header, used_bytes)),
			 sizeof(used));
	ck_assert_int_eq(pwrite(fd, &hole, sizeof(hole), (off_t)builder.size),
			 sizeof(hole));
	for (uint64_t i = 0; i < 2; i++) {
		off_t at = (off_t)((first + 3 * i) * SWZ_UNIT_BYTES);

		ck_assert_int_eq(pwrite(fd, &nodes, sizeof(nodes), at),
				 sizeof(nodes));
		at += SWZ_UNIT_BYTES;
		ck_assert_int_eq(pwrite(fd, &node, sizeof(node), at),
				 sizeof(node));
	}
	ck_assert_int_eq(swz_profile_read(path, &profile, &error), SWZ_OK);
	/* two threads', and the one that ends where the units do */
	ck_assert_uint_eq(profile->span_count, 3);
	ck_assert_uint_eq(profile->spans[1].unit, first + 1);
	ck_assert_uint_eq(profile->spans[1].count, 2);
	ck_assert_uint_eq(
		swz_profile_node(profile, profile->spans[1].unit)->calls, 5);
	ck_assert_uint_eq(profile->damage.bad_chunks, 1);
	swz_profile_free(profile);
	fclose(file);
	unlink(path);
	free(path);
}
END_TEST

START_TEST(finds_functions_by_id_and_address)
{
	struct swz_profile *profile = builder_read(&builder);
	uint32_t found;

	found = swz_profile_function_by_id(profile, 6);
	ck_assert_uint_eq(profile->functions[found].id, 6);
	ck_assert_uint_eq(swz_profile_function_by_id(profile, 8),
			  SWZ_INDEX_NONE);
	found = swz_profile_function_at(profile, 0x7f0000001180);
	ck_assert_uint_eq(profile->functions[found].id, 6);
	ck_assert_uint_eq(swz_profile_function_at(profile, 0x401400),
			  SWZ_INDEX_NONE);
	ck_assert_uint_eq(swz_profile_function_at(profile, 1), SWZ_INDEX_NONE);
	swz_profile_free(profile);
}
END_TEST

START_TEST(restores_the_high_half_of_addresses)
{
	struct swz_module_record *record = builder_module_record(&builder, 1);
	struct swz_profile *profile;
	uint32_t found;

	/* an ELF file linked at 8 GiB less a page */
	record->load_bias = 0;
	record->start = 0x1fffff000;
	record->end = 0x200100000;
	profile = builder_read(&builder);
	found = swz_profile_function_by_id(profile, 5);
	ck_assert_uint_eq(profile->functions[found].address, 0x200001000);
	swz_profile_free(profile);
}
END_TEST

/* Modules came and went at the address of libx.so. */
START_TEST(addresses_of_several_modules_are_nobodys)
{
	const uint64_t here = 0x7f0000001180;
	struct swz_profile *profile;

	builder_module(&builder, 2, "/lib/libx.so", 0x7f0000000000, 30, 3);
	profile = builder_read(&builder);
	ck_assert_uint_ne(swz_profile_module_at(profile, here), SWZ_INDEX_NONE);
	ck_assert_uint_ne(swz_profile_function_at(profile, here),
			  SWZ_INDEX_NONE);
	swz_profile_free(profile);

	builder_module(&builder, 3, "/lib/liby.so", 0x7f0000000000, 40, 3);
	profile = builder_read(&builder);
	ck_assert_uint_eq(swz_profile_module_at(profile, here), SWZ_INDEX_NONE);
	ck_assert_uint_eq(swz_profile_function_at(profile, here),
			  SWZ_INDEX_NONE);
	ck_assert_uint_eq(swz_profile_module_at(profile, 0x401080), 0);
	swz_profile_free(profile);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reader");
	TCase *tests = tcase_create("reader");

	tcase_set_timeout(tests, 120);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, addresses_of_several_modules_are_nobodys);
	tcase_add_test(tests, reads_what_was_written);
	tcase_add_test(tests, tells_empty_foreign_and_unknown_apart);
	tcase_add_test(tests, says_why_a_file_cannot_be_read);
	tcase_add_test(tests, does_not_wait_for_a_fifo);
	tcase_add_test(tests, reads_a_file_longer_than_what_is_used);
	tcase_add_test(tests, reads_a_file_that_is_being_cut);
	tcase_add_test(tests, survives_truncation_anywhere);
	tcase_add_test(tests, survives_any_flipped_bit);
	tcase_add_test(tests, survives_extreme_words);
	tcase_add_test(tests, goes_on_after_an_unfinished_chunk);
	tcase_add_test(tests, reads_a_thread_without_nodes);
	tcase_add_test(tests, skips_unknown_chunks);
	tcase_add_test(tests, knows_by_which_names_functions_were_asked_for);
	tcase_add_test(tests, leaves_out_names_that_are_cut_off_or_nobodys);
	tcase_add_test(tests, reads_packed_functions_as_far_as_they_go);
	tcase_add_test(tests, packed_nodes_are_where_they_were);
	tcase_add_test(tests, packed_nodes_that_are_not_whole_are_damage);
	tcase_add_test(tests, counts_a_chunk_with_a_bad_magic_as_damage);
	tcase_add_test(tests, open_frames_end_where_the_thread_was_last_seen);
	tcase_add_test(tests, counts_calls_in_folded_contexts);
	tcase_add_test(tests, takes_the_clock_from_the_samples_farthest_apart);
	tcase_add_test(
		tests,
		takes_the_clock_of_the_start_if_the_machine_was_suspended);
	tcase_add_test(tests,
		       takes_the_clock_of_the_start_if_the_time_was_set_on);
	tcase_add_test(tests, forgives_a_sample_that_had_to_wait);
	tcase_add_test(tests, rejects_an_absurd_clock);
	tcase_add_test(tests, nodes_beyond_the_last_unit_are_damage);
	tcase_add_test(tests, finds_functions_by_id_and_address);
	tcase_add_test(tests, restores_the_high_half_of_addresses);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
