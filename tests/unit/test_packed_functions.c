#include <check.h>
#include <string.h>

#include "base/number_bytes.h"
#include "tests/unit/run_suite.h"

static const struct swz_function_record records[] = {
	{.address = 0x1000, .size = 5, .flags = SWZ_FUNCTION_LEAF},
	{.address = 0x1010, .size = 0x200},
	/* overlaps the one before */
	{.address = 0x1100, .size = 1, .status = SWZ_REFUSE_OVERLAPS},
	{.address = 0xfffffff0, .size = UINT32_MAX, .status = 31, .flags = 31},
	{.address = 0, .size = 0},
	{.address = 0x80000000, .size = 0x80000000},
	{.address = 0x7fffffff, .size = 0},
};
#define RECORDS (sizeof(records) / sizeof(records[0]))

static size_t pack_all(uint8_t *to)
{
	size_t size = 0;
	uint32_t end = 0;

	for (size_t i = 0; i < RECORDS; i++) {
		unsigned count = swz_function_pack(to + size, &end,
						   &records[i]);

		ck_assert_uint_le(count, SWZ_PACKED_FUNCTION_BYTES);
		size += count;
	}
	return size;
}

START_TEST(says_what_the_format_describes)
{
	/* 0x1000 is +4096; 11 behind 0x1005; 0x110 before 0x1210 */
	static const uint8_t expected[] = {
		0x80,        0x40, 5, 4, /* twice 4096, 5, leaf */
		22,          0x80, 4, 0, /* twice 11, 512, patched */
		0x9f,        4,    1, 0x80 | (9 << 5 & 0x7f),
		9 << 5 >> 7,
	};
	uint8_t bytes[RECORDS * SWZ_PACKED_FUNCTION_BYTES];

	ck_assert_uint_gt(pack_all(bytes), sizeof(expected));
	ck_assert_mem_eq(bytes, expected, sizeof(expected));
}
END_TEST

START_TEST(gives_back_what_was_packed)
{
	uint8_t bytes[RECORDS * SWZ_PACKED_FUNCTION_BYTES];
	const uint8_t *at = bytes, *limit = bytes + pack_all(bytes);
	struct swz_function_record got = {.id = 7};
	uint32_t end = 0;

	for (size_t i = 0; i < RECORDS; i++) {
		ck_assert(swz_function_unpack(&at, limit, &end, &got));
		ck_assert_uint_eq(got.address, records[i].address);
		ck_assert_uint_eq(got.size, records[i].size);
		ck_assert_uint_eq(got.status, records[i].status);
		ck_assert_uint_eq(got.flags, records[i].flags);
		ck_assert_uint_eq(got.id, 7);
	}
	ck_assert_ptr_eq(at, limit);
	ck_assert(!swz_function_unpack(&at, limit, &end, &got));
}
END_TEST

START_TEST(reads_nothing_behind_the_limit)
{
	uint8_t bytes[SWZ_PACKED_FUNCTION_BYTES];
	uint32_t end = 0;
	unsigned size = swz_function_pack(bytes, &end, &records[3]);

	for (unsigned cut = 0; cut < size; cut++) {
		const uint8_t *at = bytes;
		struct swz_function_record got = {0};

		end = 0;
		ck_assert(!swz_function_unpack(&at, bytes + cut, &end, &got));
		ck_assert_ptr_eq(at, bytes);
		ck_assert_uint_eq(end, 0);
	}
}
END_TEST

START_TEST(refuses_numbers_that_are_too_large)
{
	static const uint8_t endless[] = {0x80, 0x80, 0x80, 0x80, 0x80,
					  0x80, 0x80, 0x80, 0x80, 0x80,
					  0,    0,    0};
	static const uint8_t above[] = {0xff, 0xff, 0xff, 0xff, 0x1f, 0, 0};
	struct swz_function_record got;
	const uint8_t *at = endless;
	uint32_t end = 0;

	ck_assert(!swz_function_unpack(&at, endless + sizeof(endless), &end,
				       &got));
	at = above;
	ck_assert(!swz_function_unpack(&at, above + sizeof(above), &end, &got));
}
END_TEST

/* A module that is refused as a whole after its room was taken. */
START_TEST(a_status_changes_a_byte_at_most)
{
	uint8_t bytes[SWZ_PACKED_FUNCTION_BYTES];
	unsigned least = SWZ_PACKED_FUNCTION_BYTES, most = 0;

	for (uint16_t status = 0; status < SWZ_REFUSAL_SLOTS; status++) {
		struct swz_function_record record = records[1];
		uint32_t end = 0;
		unsigned count;

		record.status = status;
		count = swz_function_pack(bytes, &end, &record);
		least = count < least ? count : least;
		most = count > most ? count : most;
	}
	ck_assert_uint_eq(most, least + 1);
}
END_TEST

START_TEST(gives_back_trampolines)
{
	/* the second one's trampoline was written last */
	static const struct swz_trampoline_place places[] = {
		{128, 0x1000, 112, 5, true},
		{0xfffffff0, 0x1010, 97, 127, false},
		{272, 0xfffffff0, 112, 6, true},
	};
	uint8_t bytes[3 * SWZ_PACKED_TRAMPOLINE_BYTES];
	struct swz_trampoline_place before = {0}, got = {0};
	const uint8_t *at = bytes;
	size_t used = 0;

	for (size_t i = 0; i < 3; i++)
		used += swz_trampoline_pack(bytes + used, &before, &places[i]);
	ck_assert_uint_le(used, sizeof(bytes));
	for (size_t i = 0; i < 3; i++) {
		ck_assert(swz_trampoline_unpack(&at, bytes + used, &got));
		ck_assert_uint_eq(got.head, places[i].head);
		ck_assert_uint_eq(got.site, places[i].site);
		ck_assert_uint_eq(got.copies, places[i].copies);
		ck_assert_uint_eq(got.moved, places[i].moved);
		ck_assert_int_eq(got.goes_back, places[i].goes_back);
	}
	ck_assert_ptr_eq(at, bytes + used);
	for (size_t limit = 0; limit < 6; limit++) {
		at = bytes;
		got = (struct swz_trampoline_place){0};
		ck_assert_int_eq(
			swz_trampoline_unpack(&at, bytes + limit, &got),
			limit >= 5);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packed_functions");
	TCase *tests = tcase_create("packed_functions");

	tcase_add_test(tests, says_what_the_format_describes);
	tcase_add_test(tests, gives_back_what_was_packed);
	tcase_add_test(tests, reads_nothing_behind_the_limit);
	tcase_add_test(tests, refuses_numbers_that_are_too_large);
	tcase_add_test(tests, a_status_changes_a_byte_at_most);
	tcase_add_test(tests, gives_back_trampolines);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
