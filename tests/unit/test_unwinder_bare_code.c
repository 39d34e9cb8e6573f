/* Stacks of code without unwind entries: they are walked by rbp, or by what the
 * code does to its frame. */

#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/walked_stack.h"
#include "watch/unwind/unwind_row.h"

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

/* A frame of 24 bytes at 0x10100, one by rbp and a saved rsp at 0x10200. */
static bool describe(void *context, uint64_t pc, uint64_t sp, bool is_innermost,
		     struct swz_unwind_row *row)
{
	(void)sp;
	ck_assert_ptr_eq(context, &walk);
	ck_assert_int_eq(is_innermost, pc == 0x10100);
	if (pc == 0x10100)
		*row = (struct swz_unwind_row){.kind = SWZ_ROW_RSP,
					       .cfa_offset = 24,
					       .rbp = SWZ_ROW_RBP_AT_CFA,
					       .rbp_offset = -16};
	if (pc == 0x10200)
		*row = (struct swz_unwind_row){.kind = SWZ_ROW_RBP_AND_SP,
					       .cfa_offset = -8};
	return pc == 0x10100 || pc == 0x10200;
}

START_TEST(frames_that_who_made_the_code_describes)
{
	uint64_t frame_pointers[MOST];

	walk_map_anonymous();
	swz_unwinder_describe(walk.unwinder, describe, &walk);
	walk.words[1] = walk_address(9); /* of the caller */
	walk.words[2] = 0x10201;
	walk.words[8] = walk_address(14); /* its caller's rsp */
	walk.words[9] = walk_address(20);
	walk.words[10] = 0x10301; /* one that is not described: by rbp */
	walk.words[20] = 0;
	walk.words[21] = AT(t_root_at);
	walk.registers.ip = 0x10100;
	ck_assert_uint_eq(swz_unwinder_walk_frames(
				  walk.unwinder, &walk.registers, &walk.stack,
				  walk.pcs, frame_pointers, MOST, &walk.end),
			  4);
	ck_assert_uint_eq(walk.pcs[1], 0x10201);
	ck_assert_uint_eq(walk.pcs[2], 0x10301);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	ck_assert_uint_eq(frame_pointers[0], SWZ_NO_FRAME_POINTER);
	ck_assert_uint_eq(frame_pointers[1], walk_address(9));
	ck_assert_uint_eq(frame_pointers[2], walk_address(20));
	/* what is saved cannot be an rsp: by rbp alone */
	walk.words[8] = walk_address(10);
	ck_assert_uint_eq(walk_from((const char *)0x10100), 4);
	ck_assert_uint_eq(walk.pcs[2], 0x10301);
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
	tcase_add_test(tcase, frames_that_who_made_the_code_describes);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
