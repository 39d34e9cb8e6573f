/* What lies where: return addresses that stand for others, mappings that a
 * child takes over or that go, the vdso. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/walked_stack.h"
#include "watch/unwind/unwind_row.h"

static uint64_t resolved;

static uint64_t resolve(void *context, uint64_t return_address)
{
	ck_assert_ptr_eq(context, &resolved);
	return return_address == 0x10010 ? AT(t_root_at) : resolved;
}

START_TEST(a_return_address_that_stands_for_another)
{
	walk_map_anonymous();
	walk.words[2] = 0x10010;
	walk.registers.bp = 1;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], 0x10010);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	swz_unwinder_resolve(walk.unwinder, resolve, &resolved);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* others are themselves; and a wrong answer leads nowhere */
	walk.words[2] = 0x10020;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], 0x10020);
	resolved = 0x30000;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

static uint64_t resolve_to_rbx(void *context, uint64_t return_address)
{
	(void)context;
	return return_address == 0x10010 ? AT(t_by_rbx_at) + 1 : 0;
}

START_TEST(one_that_stands_for_another_where_all_registers_are_needed)
{
	walk_map_anonymous();
	swz_unwinder_resolve(walk.unwinder, resolve_to_rbx, NULL);
	walk.words[0] = walk_address(30); /* rbx */
	walk.words[1] = 0;
	walk.words[2] = 0x10010;
	walk.words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_child_has_its_parents_mappings_and_its_own)
{
	struct swz_unwinder *child, *parent = walk.unwinder;

	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	child = swz_unwinder_fork(parent);
	swz_unwinder_clear(parent);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.unwinder = child;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.unwinder = parent;
	swz_unwinder_destroy(child);
}
END_TEST

START_TEST(what_is_unmapped_is_no_code)
{
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	swz_unwinder_unmap(walk.unwinder, AT(t_root_at) & ~UINT64_C(4095),
			   (AT(t_root_at) & ~UINT64_C(4095)) + 8192);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

START_TEST(the_vdso_has_entries)
{
	struct swz_unwind_file *vdso = swz_unwind_vdso();
	struct swz_fde_iterator it;
	struct swz_fde fde, found;
	size_t count = 0;

	ck_assert_ptr_nonnull(vdso);
	ck_assert_ptr_eq(vdso, swz_unwind_vdso());
	swz_fde_begin(&it, &vdso->section);
	while (swz_fde_next(&it, &fde)) {
		ck_assert(swz_unwind_file_fde(vdso, fde.start, &found));
		ck_assert_uint_eq(found.start, fde.start);
		count++;
	}
	ck_assert_uint_ge(count, 4); /* of clock_gettime() and its kind */
	swz_unwind_file_release(vdso);
	swz_unwind_file_release(vdso);
}
END_TEST

START_TEST(a_stack_that_ends_in_the_vdso)
{
	struct swz_unwind_file *vdso = swz_unwind_vdso();
	struct swz_fde_iterator it;
	struct swz_fde fde;

	ck_assert_ptr_nonnull(vdso);
	swz_fde_begin(&it, &vdso->section);
	do
		ck_assert(swz_fde_next(&it, &fde));
	while (!swz_fde_is_function(&fde));
	swz_unwinder_map(walk.unwinder,
			 &(struct swz_unwinder_mapping){.start = 0x7000000,
							.end = 0x7002000,
							.path = "[vdso]"});
	walk.words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk_from((const char *)0x7000000 + fde.start), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	swz_unwind_file_release(vdso);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder mappings");
	TCase *tcase = tcase_create("mappings");

	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, a_return_address_that_stands_for_another);
	tcase_add_test(
		tcase,
		one_that_stands_for_another_where_all_registers_are_needed);
	tcase_add_test(tcase, a_child_has_its_parents_mappings_and_its_own);
	tcase_add_test(tcase, what_is_unmapped_is_no_code);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("vdso");
	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, the_vdso_has_entries);
	tcase_add_test(tcase, a_stack_that_ends_in_the_vdso);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
