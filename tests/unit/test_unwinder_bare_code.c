/* Stacks of code without unwind entries: they are walked by rbp, or by what the
 * code does to its frame. */

#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/walked_stack.h"

START_TEST(code_without_an_entry_is_walked_by_rbp)
{
	walk.registers.bp = walk_address(8);
	walk.words[8] = walk_address(16);
	walk.words[9] = AT(t_bare_called);
	walk.words[16] = 0;
	walk.words[17] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_bare_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_rbp_of_zero_is_the_outermost_frames)
{
	walk.registers.bp = walk_address(8);
	walk.words[8] = 0;
	walk.words[9] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_bare_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_rbp_that_leads_nowhere_is_refused)
{
	static const uint64_t wrong[] = {STACK - 8, STACK + 4, 1,
					 UINT64_MAX - 7};
	size_t i;

	for (i = 0; i < 4; i++) {
		walk.registers.bp = wrong[i];
		ck_assert_uint_eq(walk_from(t_bare_at), 1);
		ck_assert_int_ne(walk.end, SWZ_WALK_ROOT);
	}
	walk.registers.bp = walk_address(
		8); /* and no return address above it */
	walk.words[9] = walk_address(3);
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

START_TEST(code_that_begins_or_ends_a_frame_tells_where_it_is)
{
	walk.registers.bp = walk_address(8); /* the caller's */
	walk.words[8] = 0;
	walk.words[9] = AT(t_root_at);
	walk.words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_bare_begin), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	walk.registers.bp = 1;
	walk.words[0] = walk_address(8);
	walk.words[1] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_bare_pushed), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	/* 24 bytes, r12, rbp */
	walk.words[4] = walk_address(8);
	walk.words[5] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_bare_end), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* and where it has called another function just before */
	walk.words[2] = AT(t_bare_end_called);
	walk.words[4] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
}
END_TEST

START_TEST(a_program_at_its_first_instruction)
{
	walk.words[0] = 2; /* argc */
	walk.words[1] = walk_address(100);
	walk.words[2] = walk_address(101);
	walk.words[3] = 0;
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.registers.bp = walk_address(8);
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.registers.bp = 0;
	walk.words[3] = 1; /* not the end of the arguments */
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[3] = 0;
	walk.words[1] = 5; /* no argument */
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[1] = walk_address(100);
	walk.words[0] = 0;
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[0] = UINT64_MAX;
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

/* Of a stripped libc without entries: the words between are of its frames. */
START_TEST(what_calls_main_near_the_begin_of_the_program)
{
	const size_t at = 40;

	walk.words[2] = AT(t_bare_called);
	walk.words[at] = 1; /* argc */
	walk.words[at + 1] = walk_address(100);
	walk.words[at + 2] = 0;
	walk.words[at + 3] = walk_address(101); /* the environment */
	walk.words[at + 4] = 0;
	walk.words[at + 5] = 33;
	walk.words[at + 6] = 0x7fff0000;
	walk.words[at + 7] = 6; /* AT_PAGESZ */
	walk.words[at + 8] = 4096;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.words[at + 8] = 5;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[at + 8] = 4096;
	walk.words[at + 3] = 5; /* no environment */
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	/* a frame that is followed by rbp is no outermost one */
	walk.words[at + 3] = walk_address(101);
	walk.words[1] = walk_address(8);
	walk.words[8] = 1;
	walk.words[9] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	/* the innermost one may have called nobody */
	walk.registers.bp = 1;
	ck_assert_uint_eq(walk_from(t_bare_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
}
END_TEST

/* All registers are needed behind frames that have no entry. */
START_TEST(registers_are_followed_through_frames_without_an_entry)
{
	walk.registers.bx = walk_address(40);
	/* 24 bytes, r12, rbp of t_bare_called's frame */
	walk.words[4] = walk_address(8);
	walk.words[5] = AT(t_bare_called);
	walk.words[8] = 0;
	walk.words[9] = AT(t_by_rbx_at) + 1;
	walk.words[41] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_bare_end), 4);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(walk.pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* and behind what clone() returns to */
	walk.registers.ax = 1;
	walk.registers.bp = walk_address(8);
	walk.words[0] = AT(t_bare_called);
	ck_assert_uint_eq(walk_from(t_clone_at), 4);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_new_thread_and_its_creator_stand_at_one_place)
{
	walk.words[0] = AT(t_bare_called);
	walk.words[8] = 0;
	walk.words[9] = AT(t_root_at);
	walk.registers.bp = walk_address(8);
	walk.registers.ax = 4711;
	ck_assert_uint_eq(walk_from(t_clone_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_bare_called));
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.registers.ax = 0;
	ck_assert_uint_eq(walk_from(t_clone_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* a signal has come just then; it has kept another rax */
	walk.words[2] = AT(t_signal_at);
	walk_put_context(3, t_clone_at, walk_address(200), 1, 0);
	walk.words[200] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 4);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

static const uint8_t run_time_code[] = {0x90, 0xc3, 0x90, 0x90};

static bool read_code(void *context, uint64_t address, void *into, size_t size)
{
	uint64_t at = address - 0x10000;

	(void)context;
	memset(into, 0x90, size);
	if (at >= sizeof(run_time_code))
		return false;
	memcpy(into, run_time_code + at, sizeof(run_time_code) - at);
	return true;
}

START_TEST(code_made_at_run_time)
{
	walk.registers.ip = 0x10000;
	walk.registers.bp = walk_address(8);
	walk.words[8] = 0;
	walk.words[9] = AT(t_root_at);
	ck_assert_uint_eq(walk_from((const char *)0x10001), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
	/* it is about to return */
	walk_map_anonymous();
	walk.stack.read = read_code;
	walk.words[0] = 0x10003;
	ck_assert_uint_eq(walk_from((const char *)0x10001), 3);
	ck_assert_uint_eq(walk.pcs[1], 0x10003);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	/* but what it would return to is no code: so by rbp */
	walk.words[0] = 0x20000;
	ck_assert_uint_eq(walk_from((const char *)0x10001), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder bare code");
	TCase *tcase = tcase_create("bare code");

	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, code_without_an_entry_is_walked_by_rbp);
	tcase_add_test(tcase, an_rbp_of_zero_is_the_outermost_frames);
	tcase_add_test(tcase, an_rbp_that_leads_nowhere_is_refused);
	tcase_add_test(tcase,
		       code_that_begins_or_ends_a_frame_tells_where_it_is);
	tcase_add_test(tcase, a_program_at_its_first_instruction);
	tcase_add_test(tcase, what_calls_main_near_the_begin_of_the_program);
	tcase_add_test(tcase,
		       registers_are_followed_through_frames_without_an_entry);
	tcase_add_test(tcase, a_new_thread_and_its_creator_stand_at_one_place);
	tcase_add_test(tcase, code_made_at_run_time);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
