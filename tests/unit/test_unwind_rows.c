/* The table of rows, and files as they are kept. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "watch/unwind/unwind_row.h"

static uint64_t pc_of(uint64_t i)
{
	/* near each other, far apart, and the outermost */
	return i % 3 ? i * 5 : i % 2 ? i << 40 : UINT64_MAX - 1 - i;
}

static struct swz_unwind_row row_of(uint64_t i)
{
	return (struct swz_unwind_row){.cfa_offset = (int32_t)i};
}

START_TEST(rows_are_found_again)
{
	struct swz_unwind_row_table table = {0};
	const struct swz_unwind_row *row;
	uint64_t i, seen, count = 30000;

	ck_assert_ptr_null(swz_unwind_row_find(&table, 5));
	for (i = 1; i <= count; i++) {
		ck_assert_ptr_null(swz_unwind_row_find(&table, pc_of(i)));
		row = swz_unwind_row_add(&table, pc_of(i), row_of(i));
		ck_assert_int_eq(row->cfa_offset, (int32_t)i);
		ck_assert_uint_eq(table.count, i);
		seen = i / 2 + 1;
		row = swz_unwind_row_find(&table, pc_of(seen));
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->cfa_offset, (int32_t)seen);
	}
	for (i = 1; i <= count; i++) {
		row = swz_unwind_row_find(&table, pc_of(i));
		ck_assert_ptr_nonnull(row);
		ck_assert_int_eq(row->cfa_offset, (int32_t)i);
	}
	/* a quarter is empty at least, so that no search is long */
	ck_assert_uint_le(table.count, ((size_t)1 << table.bits) / 4 * 3);
	swz_unwind_row_table_free(&table);
	ck_assert_ptr_null(swz_unwind_row_find(&table, pc_of(1)));
}
END_TEST

START_TEST(a_table_that_is_full_starts_anew)
{
	struct swz_unwind_row_table table = {0};
	uint64_t i;

	for (i = 0; i < SWZ_ROWS_MOST; i++)
		swz_unwind_row_add(&table, i, row_of(i));
	ck_assert_uint_eq(table.count, SWZ_ROWS_MOST);
	ck_assert_ptr_nonnull(swz_unwind_row_find(&table, 7));
	swz_unwind_row_add(&table, i, row_of(i));
	ck_assert_uint_eq(table.count, 1);
	ck_assert_ptr_null(swz_unwind_row_find(&table, 7));
	ck_assert_ptr_nonnull(swz_unwind_row_find(&table, i));
	swz_unwind_row_table_free(&table);
}
END_TEST

START_TEST(a_file_is_shared_and_kept_for_a_while)
{
	struct swz_unwind_file *file = swz_unwind_file_of(
		&(struct swz_mapped_file){.path = "/proc/self/exe"});
	struct swz_unwind_file *again = swz_unwind_file_of(
		&(struct swz_mapped_file){.path = "/proc/self/exe"});

	ck_assert_ptr_nonnull(file);
	ck_assert_ptr_eq(file, again);
	swz_unwind_file_row(file, 1, false);
	ck_assert_uint_eq(file->rows.count, 1);
	swz_unwind_files_trim(); /* it is in use */
	swz_unwind_file_release(again);
	swz_unwind_files_trim();
	ck_assert_uint_eq(file->rows.count, 1);
	swz_unwind_file_release(file);
	/* nobody uses it now, and it is small */
	again = swz_unwind_file_of(
		&(struct swz_mapped_file){.path = "/proc/self/exe"});
	ck_assert_ptr_eq(file, again);
	ck_assert_uint_eq(again->rows.count, 1);
	ck_assert_uint_gt(again->copy.copied, 1000);
	swz_unwind_file_release(again);
	swz_unwind_files_trim();
	again = swz_unwind_file_of(
		&(struct swz_mapped_file){.path = "/proc/self/exe"});
	ck_assert_uint_eq(again->rows.count, 0);
	swz_unwind_file_release(again);
	swz_unwind_file_release(NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind_rows");
	TCase *tcase = tcase_create("unwind_rows");

	tcase_add_test(tcase, rows_are_found_again);
	tcase_add_test(tcase, a_table_that_is_full_starts_anew);
	tcase_add_test(tcase, a_file_is_shared_and_kept_for_a_while);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
