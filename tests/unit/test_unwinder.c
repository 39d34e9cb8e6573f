/* Stacks made word by word, of functions whose unwind entries are of every kind
 * (tests/unit/frame_kinds.S), signal handlers among them; and where walks end.
 */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "tests/unit/walked_stack.h"
#include "watch/unwind/unwind_row.h"

START_TEST(a_frame_by_rsp_and_the_root)
{
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[0], AT(t_by_rsp_at));
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(rbp_comes_from_where_it_was_saved)
{
	walk.words[1] = walk_address(10); /* of the caller, which needs it */
	walk.words[2] = AT(t_by_rbp_at) + 1;
	walk.words[11] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_by_rbp_at) + 1);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

/* In an epilogue the entry still says where registers were saved, though they
 * were popped: what was below the stack is in no copy. */
START_TEST(what_was_popped_is_in_the_register)
{
	walk.registers.bp = walk_address(10);
	walk.registers.bx = walk_address(30);
	walk.words[0] = AT(t_by_rbp_at) + 1;
	walk.words[10] = 0;
	walk.words[11] = AT(t_by_rbx_at) + 1;
	walk.words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_popped_at), 4);
	ck_assert_uint_eq(walk.pcs[1], AT(t_by_rbp_at) + 1);
	ck_assert_uint_eq(walk.pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_aligned_stack)
{
	walk.registers.bp = walk_address(20);
	walk.words[19] = walk_address(40); /* CFA */
	walk.words[20] = walk_address(50); /* rbp of the caller */
	walk.words[39] = AT(t_by_rbp_at) + 1;
	walk.words[51] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_aligned_at), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(an_aligned_stack_of_another_form)
{
	walk.registers.bp = walk_address(20);
	walk.words[19] = walk_address(40);
	walk.words[20] = 1;
	walk.words[21] = walk_address(50); /* rbp of the caller */
	walk.words[39] = AT(t_by_rbp_at) + 1;
	walk.words[51] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_aligned_8_at), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

/* rbx is what t_by_rsp saved, though rows know nothing of it */
START_TEST(a_frame_by_a_register_that_callees_saved)
{
	walk.registers.bx = walk_address(100);
	walk.words[0] = walk_address(30);
	walk.words[1] = 0;
	walk.words[2] = AT(t_by_rbx_at) + 1;
	walk.words[31] = AT(t_by_rbx_at) +
			 1; /* the same rbx: CFA is no higher */
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_by_rbx_at) + 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[31] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_plt_entry_before_and_behind_its_push)
{
	walk.words[0] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_plt_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.words[0] = 7;
	walk.words[1] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_plt_pushed), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_return_address_in_a_register)
{
	walk.registers.di = AT(t_by_rsp_at) + 1;
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_in_rdi_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_by_rsp_at) + 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_register_that_cannot_be_known_ends_the_walk_if_it_is_needed)
{
	ck_assert_uint_eq(walk_from(t_in_xmm_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.registers.ax = walk_address(4);
	walk.words[4] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_far_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	ck_assert_uint_eq(walk_from(t_far_rbp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_CUT);
}
END_TEST

/* Nobody has called what a maker of stacks has put there. */
START_TEST(the_first_byte_of_a_function_is_a_frame_of_its_own)
{
	static const char *const entries[] = {t_entry_at, t_entry_close};
	size_t i;

	for (i = 0; i < 2; i++) {
		walk.words[2] = AT(entries[i]);
		walk.words[3] = walk_address(9); /* no code */
		ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
		ck_assert_uint_eq(walk.pcs[1], AT(entries[i]) + 1);
		ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
		walk.words[3] = AT(t_root_at); /* it would return there */
		ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
		ck_assert_uint_eq(walk.pcs[1], AT(entries[i]) + 1);
		ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
		ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	}
	/* the same where all registers are followed */
	walk.registers.bx = walk_address(100);
	walk.words[2] = AT(t_entry_at);
	walk.words[3] = AT(t_by_rbx_at) + 1;
	walk.words[101] = AT(t_root_at);
	walk.words[0] = walk_address(100);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 4);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_function_that_leaves_its_stack_has_no_caller)
{
	walk.words[2] = AT(t_leaving_at);
	walk.words[3] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_leaving_at) + 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.words[2] = AT(t_leaving_called);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_uint_eq(walk.pcs[1], AT(t_leaving_called));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(behind_a_call_the_function_is_that_of_the_call)
{
	walk.words[2] = AT(t_behind_call);
	walk.words[3] = AT(t_by_rbp_at) + 1; /* not this one: CFA is rsp + 16 */
	walk.words[4] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 3);
	ck_assert_uint_eq(walk.pcs[1], AT(t_behind_call));
	ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(calls_are_told_by_the_bytes_before)
{
	static const struct {
		uint8_t bytes[SWZ_CALL_BYTES]; /* up to the end */
		bool is_call;
	} codes[] = {
		{{0, 0, 0xe8, 1, 2, 3, 4}, true},
		{{0, 0, 0, 0, 0, 0xff, 0xd0}, true},          /* *%rax */
		{{0, 0, 0, 0, 0, 0xff, 0x13}, true},          /* *(%rbx) */
		{{0, 0, 0, 0, 0xff, 0x14, 0x24}, true},       /* *(%rsp) */
		{{0, 0, 0, 0, 0xff, 0x55, 0x08}, true},       /* *8(%rbp) */
		{{0, 0, 0, 0xff, 0x54, 0x24, 8}, true},       /* *8(%rsp) */
		{{0, 0xff, 0x15, 1, 2, 3, 4}, true},          /* *1(%rip) */
		{{0, 0xff, 0x93, 1, 2, 3, 4}, true},          /* *1(%rbx) */
		{{0xff, 0x94, 0x24, 1, 2, 3, 4}, true},       /* *1(%rsp) */
		{{0xff, 0x14, 0xc5, 1, 2, 3, 4}, true},       /* *1(,%rax,8) */
		{{0, 0, 0, 0, 0xff, 0x14, 0xc5}, false},      /* cut */
		{{0, 0, 0, 0, 0, 0xff, 0xe0}, false},         /* jmp *%rax */
		{{0xc3, 0x0f, 0x1f, 0x80, 0, 0, 0}, false},   /* nopl */
		{{0xc3, 0x66, 0x0f, 0x1f, 0x44, 0, 0}, false} /* nopw */
	};
	size_t i;

	for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		ck_assert_msg(swz_code_ends_with_call(
				      codes[i].bytes + SWZ_CALL_BYTES,
				      SWZ_CALL_BYTES) == codes[i].is_call,
			      "code %zu", i);
}
END_TEST

/* Which frames need no more than a row. */
START_TEST(rows_are_of_the_cheapest_kind)
{
	static const struct {
		const char *at;
		enum swz_unwind_row_kind kind;
		enum swz_unwind_row_rbp rbp;
		int cfa, rbp_offset;
	} rows[] = {
		{t_by_rsp_at, SWZ_ROW_RSP, SWZ_ROW_RBP_AT_CFA, 24, -16},
		{t_by_rbp_at, SWZ_ROW_RBP, SWZ_ROW_RBP_AT_CFA, 16, -16},
		{t_aligned_at, SWZ_ROW_SAVED, SWZ_ROW_RBP_AT_RBP, -8, 0},
		{t_aligned_8_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_by_rbx_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_plt_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_in_rdi_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_signal_at, SWZ_ROW_OTHER, 0, 0, 0},
		{t_root_at, SWZ_ROW_ROOT, 0, 0, 0},
		{t_bare_signal_at, SWZ_ROW_SIGNAL, 0, 0, 0},
		{t_bare_begin, SWZ_ROW_RSP, SWZ_ROW_RBP_SAME, 8, 0},
		{t_bare_pushed, SWZ_ROW_RSP, SWZ_ROW_RBP_AT_CFA, 16, -16},
		{t_bare_at, SWZ_ROW_NONE, 0, 0, 0},
		{t_clone_at, SWZ_ROW_BRANCH, 0, 0, 0},
	};
	extern const char __executable_start[];
	struct swz_unwind_file *file = swz_unwind_file_of(
		&(struct swz_mapped_file){.path = "/proc/self/exe"});
	size_t i;

	ck_assert_ptr_nonnull(file);
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct swz_unwind_row *row = swz_unwind_file_row(
			file, AT(rows[i].at) - AT(__executable_start), false);

		ck_assert_msg(row->kind == rows[i].kind, "row %zu: kind %u", i,
			      row->kind);
		if (row->kind > SWZ_ROW_SAVED)
			continue;
		ck_assert_int_eq(row->cfa_offset, rows[i].cfa);
		ck_assert_int_eq(row->rbp, rows[i].rbp);
		ck_assert_int_eq(row->rbp_offset, rows[i].rbp_offset);
	}
	swz_unwind_file_release(file);
}
END_TEST

/* A handler that was called in t_by_rbx, at its first instruction: the row of
 * the one before would be another function's. */
static void walk_through_a_signal(const char *trampoline)
{
	walk.words[2] = AT(trampoline);
	walk_put_context(3, t_by_rbx_at, walk_address(150), 0,
			 walk_address(160));
	walk.words[161] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 4);
	ck_assert_uint_eq(walk.pcs[1], AT(trampoline));
	ck_assert_uint_eq(walk.pcs[2], AT(t_by_rbx_at) + 1);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}

START_TEST(a_signal_frame)
{
	walk_through_a_signal(t_signal_at);
}
END_TEST

START_TEST(a_signal_frame_without_an_entry)
{
	walk_through_a_signal(t_bare_signal_at);
	walk_through_a_signal(t_short_signal_at);
}
END_TEST

/* The handler has returned. */
START_TEST(a_signal_frame_that_is_the_innermost)
{
	static const char *const places[] = {
		t_bare_signal_at, t_bare_signal_call, t_short_signal_at,
		t_short_signal_call, t_signal_at};
	size_t i;

	for (i = 0; i < 5; i++) {
		walk_put_context(0, t_by_rbx_at, walk_address(150), 0,
				 walk_address(160));
		walk.words[161] = AT(t_root_at);
		ck_assert_uint_eq(walk_from(places[i]), 3);
		ck_assert_uint_eq(walk.pcs[1], AT(t_by_rbx_at) + 1);
		ck_assert_uint_eq(walk.pcs[2], AT(t_root_at));
		ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	}
}
END_TEST

/* The interrupted stack lies below the handler's: sigaltstack. */
START_TEST(a_handler_on_a_stack_of_its_own)
{
	walk.registers.sp = STACK + 0x1000;
	walk.stack.start = walk.registers.sp;
	walk.stack.read = walk_read_words; /* the other one */
	walk.words[2] = AT(t_signal_at);
	walk_put_context(3, t_by_rsp_at, walk_address(200), 0, 0);
	walk.words[202] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 4);
	ck_assert_uint_eq(walk.pcs[2], AT(t_by_rsp_at) + 1);
	ck_assert_uint_eq(walk.pcs[3], AT(t_root_at));
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(a_stack_that_is_cut)
{
	walk.stack.size = 16;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_CUT);
	walk.stack.size = 0;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_CUT);
}
END_TEST

START_TEST(what_is_cut_is_read_if_that_can_be_done)
{
	walk.stack.size = 3;
	walk.stack.read = walk_read_words;
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

/* The process has gone on: another call may have used the place. */
START_TEST(what_may_have_changed_must_follow_a_call)
{
	walk.stack.size = 16;
	walk.stack.read = walk_read_words;
	walk.stack.unsure_from = walk_address(2);
	walk.words[2] = AT(t_root_at);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_CUT);
	walk.words[2] = AT(t_leaving_called);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
	walk.words[2] = AT(t_root_at);
	walk.stack.unsure_from = walk_address(3);
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 2);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

START_TEST(more_frames_than_room)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		walk.words[i] = AT(t_by_rsp_at) + 1;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), MOST);
	ck_assert_int_eq(walk.end, SWZ_WALK_FULL);
	ck_assert_uint_eq(walk.pcs[MOST - 1], AT(t_by_rsp_at) + 1);
	walk.registers.ip = AT(t_by_rsp_at);
	ck_assert_uint_eq(swz_unwinder_walk(walk.unwinder, &walk.registers,
					    &walk.stack, walk.pcs, 1,
					    &walk.end),
			  1);
	ck_assert_int_eq(walk.end, SWZ_WALK_FULL);
}
END_TEST

START_TEST(a_return_address_that_is_no_code)
{
	walk.words[2] = STACK;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_LOST);
	walk.words[2] = 0;
	ck_assert_uint_eq(walk_from(t_by_rsp_at), 1);
	ck_assert_int_eq(walk.end, SWZ_WALK_ROOT);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder");
	TCase *tcase = tcase_create("frames");

	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, a_frame_by_rsp_and_the_root);
	tcase_add_test(tcase, rbp_comes_from_where_it_was_saved);
	tcase_add_test(tcase, what_was_popped_is_in_the_register);
	tcase_add_test(tcase, an_aligned_stack);
	tcase_add_test(tcase, an_aligned_stack_of_another_form);
	tcase_add_test(tcase, a_frame_by_a_register_that_callees_saved);
	tcase_add_test(tcase, a_plt_entry_before_and_behind_its_push);
	tcase_add_test(tcase, a_return_address_in_a_register);
	tcase_add_test(
		tcase,
		a_register_that_cannot_be_known_ends_the_walk_if_it_is_needed);
	tcase_add_test(tcase,
		       the_first_byte_of_a_function_is_a_frame_of_its_own);
	tcase_add_test(tcase, a_function_that_leaves_its_stack_has_no_caller);
	tcase_add_test(tcase, behind_a_call_the_function_is_that_of_the_call);
	tcase_add_test(tcase, calls_are_told_by_the_bytes_before);
	tcase_add_test(tcase, rows_are_of_the_cheapest_kind);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("signals");
	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, a_signal_frame);
	tcase_add_test(tcase, a_signal_frame_without_an_entry);
	tcase_add_test(tcase, a_signal_frame_that_is_the_innermost);
	tcase_add_test(tcase, a_handler_on_a_stack_of_its_own);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("ends");
	tcase_add_checked_fixture(tcase, walk_set_up, walk_tear_down);
	tcase_add_test(tcase, a_stack_that_is_cut);
	tcase_add_test(tcase, what_is_cut_is_read_if_that_can_be_done);
	tcase_add_test(tcase, what_may_have_changed_must_follow_a_call);
	tcase_add_test(tcase, more_frames_than_room);
	tcase_add_test(tcase, a_return_address_that_is_no_code);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
