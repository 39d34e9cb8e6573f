#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/number_bytes.h"
#include "profile/file/records.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

#define EXPECTED 32

static const struct swz_packed_sample samples[] = {
	{.time = 32, .node = 5, .processor = 1},
	{.time = 64, .node = 5, .processor = 1},
	{.time = 95, .node = 300, .processor = 1},
	{.time = 128, .node = 5, .processor = 1},
	{.time = 161, .node = 300, .processor = 2},
	/* before the one before it */
	{.time = 160, .node = 300, .processor = 0},
	{.time = UINT64_MAX, .node = UINT32_MAX, .processor = UINT32_MAX},
	{.time = 1, .node = 1, .processor = UINT32_MAX},
};
#define SAMPLES (sizeof(samples) / sizeof(samples[0]))

static size_t pack_all(uint8_t *to, size_t count)
{
	struct swz_sample_packing before = {.expected = EXPECTED};
	size_t size = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned bytes = swz_sample_pack(to + size, &before,
						 &samples[i]);

		ck_assert_uint_le(bytes, SWZ_PACKED_SAMPLE_BYTES);
		size += bytes;
	}
	return size;
}

START_TEST(says_what_the_format_describes)
{
	static const uint8_t expected[] = {
		243,       0, 1,    5,    /* processor 0, node 5, 0 more */
		1,                        /* the latest node, as expected */
		242,       1, 0xac, 0x02, /* one less than expected: node 300 */
		1 * 3 + 2,                /* the one before, one later */
		241,       2, 2,    1,    /* one later; processor 1; place 1 */
	};
	uint8_t bytes[SAMPLES * SWZ_PACKED_SAMPLE_BYTES];

	ck_assert_uint_eq(pack_all(bytes, 5), sizeof(expected));
	ck_assert_mem_eq(bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(gives_back_what_was_packed)
{
	uint8_t bytes[SAMPLES * SWZ_PACKED_SAMPLE_BYTES];
	const uint8_t *at = bytes, *limit = bytes + pack_all(bytes, SAMPLES);
	struct swz_sample_packing before = {.expected = EXPECTED};
	struct swz_packed_sample got;

	for (size_t i = 0; i < SAMPLES; i++) {
		ck_assert(swz_sample_unpack(&at, limit, &before, &got));
		ck_assert_uint_eq(got.time, samples[i].time);
		ck_assert_uint_eq(got.node, samples[i].node);
		ck_assert_uint_eq(got.processor, samples[i].processor);
	}
	ck_assert_ptr_eq(at, limit);
	ck_assert(!swz_sample_unpack(&at, limit, &before, &got));
}
END_TEST

START_TEST(remembers_as_many_nodes_as_there_is_room_for)
{
	uint8_t bytes[4 * SWZ_LATEST_NODES * SWZ_PACKED_SAMPLE_BYTES];
	struct swz_sample_packing before = {.expected = 1}, then = before;
	struct swz_packed_sample s = {.time = 0}, got;
	const uint8_t *at = bytes;
	size_t size = 0;

	for (unsigned i = 0; i < 4 * SWZ_LATEST_NODES; i++) {
		s.time++;
		s.node = i % (SWZ_LATEST_NODES + 1) + 1;
		size += swz_sample_pack(bytes + size, &before, &s);
	}
	for (unsigned i = 0; i < 4 * SWZ_LATEST_NODES; i++) {
		ck_assert(swz_sample_unpack(&at, bytes + size, &then, &got));
		ck_assert_uint_eq(got.time, i + 1);
		ck_assert_uint_eq(got.node, i % (SWZ_LATEST_NODES + 1) + 1);
	}
}
END_TEST

START_TEST(refuses_what_is_cut_off_or_forged)
{
	static const uint8_t no_such_place[] = {3},
			     no_such_kind[] = {244, 0, 0};
	static const uint8_t place[] = {240, 0, 7};
	uint8_t bytes[SWZ_PACKED_SAMPLE_BYTES];
	struct swz_sample_packing before = {.expected = EXPECTED};
	size_t size = pack_all(bytes, 1);
	struct swz_packed_sample got;
	const uint8_t *at;

	for (size_t cut = 0; cut < size; cut++) {
		at = bytes;
		ck_assert(!swz_sample_unpack(&at, bytes + cut, &before, &got));
		ck_assert_ptr_eq(at, bytes);
	}
	at = no_such_place;
	ck_assert(!swz_sample_unpack(&at, at + 1, &before, &got));
	at = no_such_kind;
	ck_assert(!swz_sample_unpack(&at, at + 3, &before, &got));
	at = place;
	ck_assert(!swz_sample_unpack(&at, at + 3, &before, &got));
}
END_TEST

/* --- a profile ----------------------------------------------------------- */

#define UNIT_TICKS 100

static uint32_t root;

/* Function 1 calls 2 and 3; three samples hit 2, then one 3, and it waits in 3
 * twice. What runs has 10 ticks a sample, what waits 50 in all. */
static struct swz_profile *profile_of(const struct swz_packed_sample *s,
				      size_t count)
{
	struct swz_sample_packing before = {.expected = 1};
	uint8_t bytes[16 * SWZ_PACKED_SAMPLE_BYTES];
	struct profile_builder b;
	struct swz_profile *profile;
	size_t size = 0, at;
	struct swz_chunk *chunk;

	builder_begin(&b);
	builder_command(&b);
	builder_header(&b)->flags |= SWZ_FILE_SAMPLES;
	builder_module(&b, 0, "/bin/prog", 0x400000, 1, 3);
	root = builder_thread(&b, 0, 4242, "prog", 3000, 4);
	builder_call(&b, root + 1, root, root + 1, 1, 0, 0, 90, 50);
	builder_call(&b, root + 2, root + 1, root + 2, 2, 0x401010, 3, 30, 0);
	builder_call(&b, root + 3, root + 1, root + 3, 3, 0x401020, 1, 60, 50);
	builder_node(&b, root)->ticks = 90;
	builder_node(&b, root)->waiting_ticks = 50;
	for (int waiting = 0; waiting < 2; waiting++) {
		size_t used = 0;

		memset(&before, 0, sizeof(before));
		before.expected = 1;
		for (size_t i = 0; i < count; i++)
			/* (the processor says which kind it is) */
			if ((s[i].processor == 9) == waiting)
				used += swz_sample_pack(bytes + used, &before,
							&s[i]);
		at = builder_chunk(&b, SWZ_CHUNK_SAMPLES, (uint32_t)count, 0,
				   used);
		chunk = (struct swz_chunk *)(void *)(b.data + at);
		memcpy(chunk + 1, bytes, used);
		chunk->reserved[SWZ_SAMPLES_BYTES] = used;
		chunk->reserved[SWZ_SAMPLES_START] = 1000;
		chunk->reserved[SWZ_SAMPLES_UNIT] = UNIT_TICKS;
		chunk->reserved[SWZ_SAMPLES_EXPECTED] = 1;
		chunk->reserved[SWZ_SAMPLES_WAITING] = (uint64_t)waiting;
		size += used;
	}
	ck_assert_uint_gt(size, 0);
	profile = builder_read(&b);
	builder_free(&b);
	return profile;
}

static const struct swz_packed_sample story[] = {
	{1, 2, 1}, {2, 2, 1}, {3, 3, 1}, {4, 3, 9}, {5, 3, 9}, {10, 2, 2},
};
#define STORY (sizeof(story) / sizeof(story[0]))

START_TEST(samples_are_read_in_the_order_of_time)
{
	struct swz_profile *profile = profile_of(story, STORY);
	size_t count;
	struct swz_profile_sample *got = swz_samples_read(
		profile, &profile->threads[0], &count);

	ck_assert(swz_profile_has_samples(profile));
	ck_assert_uint_eq(count, STORY);
	for (size_t i = 0; i < count; i++) {
		ck_assert_uint_eq(got[i].ticks,
				  1000 + UNIT_TICKS * story[i].time);
		ck_assert_uint_eq(got[i].node, root + story[i].node);
		ck_assert_int_eq(got[i].waiting, story[i].processor == 9);
	}
	free(got);
	swz_profile_free(profile);
}
END_TEST

START_TEST(samples_of_no_node_are_left_out)
{
	static const struct swz_packed_sample forged[] = {
		{1, 0, 1},
		{2, 4, 1},
		{3, UINT32_MAX, 1},
		{99, 1, 1},
	};
	struct swz_profile *profile = profile_of(forged, 4);
	size_t count;
	struct swz_profile_sample *got = swz_samples_read(
		profile, &profile->threads[0], &count);

	ck_assert_uint_eq(count, 1);
	ck_assert_uint_eq(got[0].node, root + 1);
	ck_assert_uint_eq(got[0].ticks, 3000); /* the thread's last moment */
	free(got);
	swz_profile_free(profile);
}
END_TEST

START_TEST(spans_go_from_sample_to_sample)
{
	/* 1 until the gap, in it 2 and 3; after the gap both again */
	static const struct {
		uint32_t node;
		bool begins;
		uint64_t ticks;
	} expected[] = {
		{1, true, 1100},  {2, true, 1100},  {2, false, 1300},
		{3, true, 1300},  {3, false, 1600}, {1, false, 1600},
		{1, true, 2000},  {2, true, 2000},  {2, false, 2100},
		{1, false, 2100},
	};
	struct swz_profile *profile = profile_of(story, STORY);
	struct swz_sample_spans *spans = swz_sample_spans_open(
		profile, &profile->threads[0]);
	uint64_t ticks;
	uint32_t node;
	bool begins;

	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert(swz_sample_spans_next(spans, &node, &begins, &ticks));
		ck_assert_uint_eq(node, root + expected[i].node);
		ck_assert_int_eq(begins, expected[i].begins);
		ck_assert_uint_eq(ticks, expected[i].ticks);
	}
	ck_assert(!swz_sample_spans_next(spans, &node, &begins, &ticks));
	swz_sample_spans_close(spans);
	swz_profile_free(profile);
}
END_TEST

static void assert_node(const struct swz_profile *profile, uint32_t node,
			uint64_t calls, int64_t ticks, int64_t waiting)
{
	const struct swz_node *n = swz_profile_node(profile, root + node);

	ck_assert_uint_eq(n->calls, calls);
	ck_assert_int_eq(n->ticks, ticks);
	ck_assert_int_eq(n->waiting_ticks, waiting);
}

START_TEST(a_range_has_the_part_of_its_samples)
{
	struct swz_profile *profile = profile_of(story, STORY);

	/* one of three samples of 2, that of 3 and one of its two waits */
	swz_samples_keep_range(profile, 1200, 1500);
	assert_node(profile, 0, 0, 10 + 10 + 25, 25);
	assert_node(profile, 1, 0, 10 + 10 + 25, 25);
	assert_node(profile, 2, 1, 10, 0);
	assert_node(profile, 3, 1, 10 + 25, 25);
	ck_assert_uint_eq(profile->header.samples, 2);
	ck_assert_uint_eq(profile->threads[0].record.start_ticks, 1200);
	ck_assert_uint_eq(profile->threads[0].last_ticks, 1500);
	swz_profile_free(profile);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packed_samples");
	TCase *tests = tcase_create("packed_samples");

	tcase_add_test(tests, says_what_the_format_describes);
	tcase_add_test(tests, gives_back_what_was_packed);
	tcase_add_test(tests, remembers_as_many_nodes_as_there_is_room_for);
	tcase_add_test(tests, refuses_what_is_cut_off_or_forged);
	tcase_add_test(tests, samples_are_read_in_the_order_of_time);
	tcase_add_test(tests, samples_of_no_node_are_left_out);
	tcase_add_test(tests, spans_go_from_sample_to_sample);
	tcase_add_test(tests, a_range_has_the_part_of_its_samples);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
