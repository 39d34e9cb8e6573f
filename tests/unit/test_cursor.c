#include <check.h>
#include <string.h>

#include "image/cursor.h"
#include "tests/unit/run_suite.h"

#define BYTES(text) \
	{ \
		(const uint8_t *)(text), sizeof(text) - 1 \
	}

struct leb {
	struct swz_bytes bytes;
	bool valid;
	uint64_t value;
};

/* clang-format off */
static const struct leb unsigned_numbers[] = {
	{BYTES("\x02"), true, 2},
	{BYTES("\x7f"), true, 127},
	{BYTES("\x80\x01"), true, 128},
	{BYTES("\xb9\x64"), true, 12857},
	{BYTES("\x82\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00"), true, 2},
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), true, UINT64_MAX},
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"), false, 0},
	{BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), false, 0},
	{BYTES("\x80"), false, 0},
	{BYTES(""), false, 0},
};

static const struct leb signed_numbers[] = {
	{BYTES("\x02"), true, 2},
	{BYTES("\x7e"), true, (uint64_t)-2},
	{BYTES("\xff\x00"), true, 127},
	{BYTES("\x81\x7f"), true, (uint64_t)-127},
	{BYTES("\x80\x7f"), true, (uint64_t)-128},
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x00"), true, INT64_MAX},
	{BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x7f"), true,
	 (uint64_t)INT64_MIN},
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), true,
	 UINT64_MAX},
	{BYTES("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"), false, 0},
	{BYTES("\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), false, 0},
	{BYTES("\xff"), false, 0},
};
/* clang-format on */

START_TEST(reads_unsigned_leb128)
{
	const struct leb *leb = &unsigned_numbers[_i];
	struct swz_cursor cursor = swz_cursor(leb->bytes);
	uint64_t value = swz_cursor_uleb(&cursor);

	ck_assert_int_eq(!cursor.failed, leb->valid);
	ck_assert_uint_eq(value, leb->value);
	if (leb->valid)
		ck_assert_uint_eq(cursor.at, leb->bytes.size);
}
END_TEST

START_TEST(reads_signed_leb128)
{
	const struct leb *leb = &signed_numbers[_i];
	struct swz_cursor cursor = swz_cursor(leb->bytes);
	int64_t value = swz_cursor_sleb(&cursor);

	ck_assert_int_eq(!cursor.failed, leb->valid);
	ck_assert_int_eq(value, (int64_t)leb->value);
	if (leb->valid)
		ck_assert_uint_eq(cursor.at, leb->bytes.size);
}
END_TEST

START_TEST(a_failure_stays)
{
	struct swz_bytes bytes = BYTES("\x01\x02\x03");
	struct swz_cursor cursor = swz_cursor(bytes);

	ck_assert_uint_eq(swz_cursor_u16(&cursor), 0x201);
	ck_assert_uint_eq(swz_cursor_u32(&cursor), 0);
	ck_assert(cursor.failed);
	ck_assert_uint_eq(swz_cursor_u8(&cursor), 0);
	ck_assert(swz_cursor_at_end(&cursor));
	ck_assert_uint_eq(swz_cursor_rest(&cursor).size, 0);
}
END_TEST

START_TEST(takes_slices_within_the_bytes)
{
	struct swz_bytes bytes = BYTES("\x01\x02\x03");
	struct swz_cursor cursor = swz_cursor(bytes);

	swz_cursor_skip(&cursor, 1);
	ck_assert_ptr_eq(swz_cursor_take(&cursor, 2).data, bytes.data + 1);
	ck_assert(swz_cursor_at_end(&cursor));
	ck_assert_uint_eq(swz_cursor_take(&cursor, 0).size, 0);
	ck_assert(!cursor.failed);
	ck_assert_uint_eq(swz_cursor_take(&cursor, UINT64_MAX).size, 0);
	ck_assert(cursor.failed);
}
END_TEST

#define COUNT(array) (int)(sizeof(array) / sizeof(*(array)))

int main(void)
{
	Suite *suite = suite_create("cursor");
	TCase *tcase = tcase_create("cursor");

	tcase_add_loop_test(tcase, reads_unsigned_leb128, 0,
			    COUNT(unsigned_numbers));
	tcase_add_loop_test(tcase, reads_signed_leb128, 0,
			    COUNT(signed_numbers));
	tcase_add_test(tcase, a_failure_stays);
	tcase_add_test(tcase, takes_slices_within_the_bytes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
