/* Functions without an unwind table: how deep the stack is at each of their
 * instructions, and whether they use, or pop, their return address. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/return_slot.h"
#include "tests/unit/module_builder.h"
#include "tests/unit/run_suite.h"

#define CODE(text) text, sizeof(text) - 1

enum {
	START = MODULE_TEXT + 0x100,
	ANOTHER = START + 0x40,
	PATCHED = SWZ_PATCHED,
	READS = SWZ_REFUSE_READS_RETURN_SLOT,
	POPS = SWZ_REFUSE_NO_STANDARD_FRAME
};

static struct built_module built;

static void set_up(void)
{
	module_begin(&built);
}

/* ------------------------------------------------------ single instructions */

/* From 32 bytes above the return address, with a frame pointer. */
static const struct {
	const char *what, *code;
	size_t size;
	int64_t now; /* -1: lost */
} steps[] = {
	{"push %rax", CODE("\x50"), 48},
	{"push %rdi", CODE("\x57"), 48},
	{"push %r12", CODE("\x41\x54"), 48},
	{"push $imm32", CODE("\x68\0\0\0\0"), 48},
	{"push $imm8", CODE("\x6a\0"), 48},
	{"pushf", CODE("\x9c"), 48},
	{"push (%rax)", CODE("\xff\x30"), 48},
	{"pop %rax", CODE("\x58"), 32},
	{"pop %rdi", CODE("\x5f"), 32},
	{"pop (%rax)", CODE("\x8f\x00"), 32},
	{"popf", CODE("\x9d"), 32},
	{"leave", CODE("\xc9"), 8},
	{"sub $24, %rsp", CODE("\x48\x83\xec\x18"), 64},
	{"sub $0x1000, %rsp", CODE("\x48\x81\xec\0\x10\0\0"), 40 + 0x1000},
	{"add $24, %rsp", CODE("\x48\x83\xc4\x18"), 16},
	{"add $-128, %rsp", CODE("\x48\x83\xc4\x80"), 168},
	{"and $-16, %rsp", CODE("\x48\x83\xe4\xf0"), -1},
	{"cmp $8, %rsp", CODE("\x48\x83\xfc\x08"), 40},
	{"sub $24, %r12", CODE("\x49\x83\xec\x18"), 40},
	{"sub $24, (%rsp)", CODE("\x48\x83\x2c\x24\x18"), 40},
	{"sub $24, %rbp", CODE("\x48\x83\xed\x18"), 40},
	{"sub %rax, %rsp", CODE("\x48\x29\xc4"), -1},
	{"add %rax, %rsp", CODE("\x48\x01\xc4"), -1},
	{"and %rax, %rsp", CODE("\x48\x21\xc4"), -1},
	{"sub %rax, %r12", CODE("\x49\x29\xc4"), 40},
	{"sub %rax, (%rsp)", CODE("\x48\x29\x04\x24"), 40},
	{"mov %rbp, %rsp", CODE("\x48\x89\xec"), 16},
	{"mov %r13, %rsp", CODE("\x4c\x89\xec"), -1},
	{"mov %rax, %rsp", CODE("\x48\x89\xc4"), -1},
	{"mov %rax, (%rsp)", CODE("\x48\x89\x04\x24"), 40},
	{"mov %rax, %r12", CODE("\x49\x89\xc4"), 40},
	{"mov %rbp, %rsp, other direction", CODE("\x48\x8b\xe5"), 16},
	{"mov %r13, %rsp, other direction", CODE("\x49\x8b\xe5"), -1},
	{"mov (%rbp), %rsp", CODE("\x48\x8b\x65\x00"), -1},
	{"mov (%rax), %r12", CODE("\x4c\x8b\x20"), 40},
	{"lea 8(%rsp), %rsp", CODE("\x48\x8d\x64\x24\x08"), 32},
	{"lea -0x100(%rsp), %rsp", CODE("\x48\x8d\xa4\x24\0\xff\xff\xff"),
	 40 + 0x100},
	{"lea -8(%rbp), %rsp", CODE("\x48\x8d\x65\xf8"), 24},
	{"lea (%rsp,%rax), %rsp", CODE("\x48\x8d\x24\x04"), -1},
	{"lea (%rax), %rsp", CODE("\x48\x8d\x20"), -1},
	{"lea 8(%rsp), %rax", CODE("\x48\x8d\x44\x24\x08"), 40},
	{"call", CODE("\xe8\0\0\0\0"), 40},
	{"call *%rax", CODE("\xff\xd0"), 40},
	{"bswap, in another map", CODE("\x0f\xc9"), 40},
};

START_TEST(the_stack_is_followed)
{
	struct swz_depth d = {.now = 40, .most = 40, .frame = START};
	struct swz_encoding e;
	uint64_t next;

	module_put(START, steps[_i].code, steps[_i].size);
	e = module_encoding(&built, START, &next);
	ck_assert_uint_eq(next, START + steps[_i].size);
	swz_depth_follow(&d, &e, swz_module_bytes(&built.m, START), next);
	ck_assert_msg(d.lost == (steps[_i].now < 0) &&
			      (d.lost || d.now == steps[_i].now),
		      "%s: %ld", steps[_i].what, (long)d.now);
}
END_TEST

/* mov %rsp, %rbp makes a frame pointer, at the usual place only. */
START_TEST(a_frame_pointer_is_noted_where_it_is_set)
{
	static const struct {
		const char *code;
		int64_t now;
		bool guessed, is_frame;
	} cases[] = {{"\x48\x89\xe5", 16, false, true},
		     {"\x48\x89\xe5", 24, false, false},
		     {"\x48\x89\xe5", 16, true, false},
		     {"\x48\x89\xe3", 16, false, false},  /* %rbx */
		     {"\x49\x89\xe5", 16, false, false},  /* %r13 */
		     {"\x48\x89\xc5", 16, false, false},  /* mov %rax, %rbp */
		     {"\x4c\x89\xe5", 16, false, false}}; /* %r12, %rbp */
	struct swz_depth d = {.now = cases[_i].now,
			      .guessed = cases[_i].guessed};
	struct swz_encoding e;
	uint64_t next;

	module_put(START, cases[_i].code, 3);
	e = module_encoding(&built, START, &next);
	swz_depth_follow(&d, &e, swz_module_bytes(&built.m, START), next);
	ck_assert_uint_eq(d.frame, cases[_i].is_frame ? next : 0);
	ck_assert(!d.lost);
}
END_TEST

START_TEST(without_a_frame_pointer_none_is_used)
{
	struct swz_depth d = {.now = 40};
	struct swz_encoding e;
	uint64_t next;

	module_put(START, "\xc9", 1);
	e = module_encoding(&built, START, &next);
	swz_depth_follow(&d, &e, swz_module_bytes(&built.m, START), next);
	ck_assert(d.lost);
}
END_TEST

START_TEST(what_ends_the_flow_is_told)
{
	static const struct {
		const char *code;
		size_t size;
		bool ends;
	} ends[] = {
		{CODE("\xc3"), true},          {CODE("\xc2\x08\0"), true},
		{CODE("\xeb\0"), true},        {CODE("\xe9\0\0\0\0"), true},
		{CODE("\xff\xe0"), true},      {CODE("\xff\x20"), true},
		{CODE("\xe8\0\0\0\0"), false}, {CODE("\xff\xd0"), false},
		{CODE("\x74\0"), false},       {CODE("\x90"), false},
		{CODE("\x0f\xc3\x00"), false}, /* movnti, in another map */
	};
	struct swz_encoding e;
	uint64_t next;

	module_put(START, ends[_i].code, ends[_i].size);
	e = module_encoding(&built, START, &next);
	ck_assert_int_eq(swz_ends_flow(&e), ends[_i].ends);
}
END_TEST

/* ----------------------------------------------------------- whole functions
 */

/* Another function begins at +0x40, at +0x41 its second byte. */
static const struct {
	const char *what, *code;
	size_t size;
	int status;
	uint64_t frame; /* from START; 0: none */
} functions[] = {
	{"leaf", CODE("\x48\x89\xf8\xc3"), PATCHED, 0},
	{"frame pointer", CODE("\x55\x48\x89\xe5\x5d\xc3"), PATCHED, 4},
	{"loads its return address", CODE("\x48\x8b\x04\x24\xc3"), READS, 0},
	{"stores to it", CODE("\x48\x89\x04\x24\xc3"), READS, 0},
	{"loads it behind a push", CODE("\x53\x48\x8b\x44\x24\x08\x5b\xc3"),
	 READS, 0},
	{"loads what it has pushed", CODE("\x53\x48\x8b\x04\x24\x5b\xc3"),
	 PATCHED, 0},
	{"loads an argument", CODE("\x48\x8b\x44\x24\x08\xc3"), PATCHED, 0},
	{"loads by an index", CODE("\x48\x8b\x04\x04\xc3"), PATCHED, 0},
	{"finds it by %r12", CODE("\x49\x8b\x04\x24\xc3"), PATCHED, 0},
	{"takes its address", CODE("\x48\x8d\x04\x24\xc3"), READS, 0},
	{"gives its frame up by lea",
	 CODE("\x48\x8d\x64\x24\xf8\x48\x8d\x64\x24\x08\xc3"), PATCHED, 0},
	{"a fence", CODE("\xf0\x48\x83\x0c\x24\x00\xc3"), PATCHED, 0},
	{"an or that is none", CODE("\xf0\x48\x83\x0c\x24\x01\xc3"), READS, 0},
	{"pops it", CODE("\x58\xff\xe0"), POPS, 0},
	{"drops it", CODE("\x48\x83\xc4\x08\xff\xe0"), POPS, 0},
	{"pops what it pushed", CODE("\x53\x5b\xc3"), PATCHED, 0},
	{"jumps to another", CODE("\xeb\x3e"), PATCHED, 0},
	{"jumps there with a push", CODE("\x53\xeb\x3d"), POPS, 0},
	{"jumps into it", CODE("\x53\xeb\x3e"), PATCHED, 0},
	{"jumps to itself", CODE("\x53\xeb\xfd"), PATCHED, 0},
	{"branches there with a push", CODE("\x53\x74\x3d\x5b\xc3"), PATCHED,
	 0},
	{"calls it with a push", CODE("\x53\xe8\x3a\0\0\0\x5b\xc3"), PATCHED,
	 0},
	{"jumps by 32 bits", CODE("\x53\xe9\x3a\0\0\0"), POPS, 0},
	/* behind a return the depth is that of the body */
	{"second exit", CODE("\x53\x5b\xc3\x5b\xc3"), PATCHED, 0},
	{"second part loads it",
	 CODE("\x53\x5b\xc3\x48\x8b\x44\x24\x08\x5b\xc3"), READS, 0},
	{"second part pops more", CODE("\x53\x5b\xc3\x5b\x5b\xc3"), PATCHED, 0},
	{"lost: what comes then is not looked at",
	 CODE("\x48\x83\xe4\xf0\x48\x8b\x04\x24\xc3"), PATCHED, 0},
	{"leave behind a return", CODE("\x55\x48\x89\xe5\xc9\xc3\xc9\xc3"),
	 PATCHED, 4},
	{"no instruction", CODE("\xc4"), PATCHED, 0},
};

START_TEST(functions_are_read_through)
{
	struct swz_function *f = module_function(
		&built, START, functions[_i].code, functions[_i].size);
	uint64_t frame;

	module_function(&built, ANOTHER, "\x90\xc3", 2);
	frame = swz_scan_depth(&built.m, f);
	ck_assert_msg(f->status == functions[_i].status, "%s: %u",
		      functions[_i].what, f->status);
	ck_assert_int_eq(f->reads_own, functions[_i].status == READS);
	ck_assert_uint_eq(
		frame, functions[_i].frame ? START + functions[_i].frame : 0);
}
END_TEST

/* --------------------------------------------------------- which function it
 * is */

START_TEST(a_function_is_found_by_its_bytes)
{
	struct swz_function *f = module_function(&built, START, "\x90\xc3", 2);
	struct swz_function *g = module_function(&built, START + 4, "\x90\xc3",
						 2);
	struct swz_function *h = module_function(&built, START + 0x3000,
						 "\x90\xc3", 2);

	for (unsigned indexed = 0; indexed < 2; indexed++) {
		ck_assert_ptr_null(swz_function_at(&built.m, START - 1));
		ck_assert_ptr_eq(swz_function_at(&built.m, START), f);
		ck_assert_ptr_eq(swz_function_at(&built.m, START + 1), f);
		ck_assert_ptr_null(swz_function_at(&built.m, START + 2));
		ck_assert_ptr_null(swz_function_at(&built.m, START + 3));
		ck_assert_ptr_eq(swz_function_at(&built.m, START + 5), g);
		ck_assert_ptr_null(swz_function_at(&built.m, START + 6));
		ck_assert_ptr_null(swz_function_at(&built.m, START + 0x2fff));
		ck_assert_ptr_eq(swz_function_at(&built.m, START + 0x3000), h);
		ck_assert_ptr_null(swz_function_at(&built.m, START + 0x3002));
		ck_assert_ptr_null(swz_function_at(&built.m, UINT64_MAX));
		swz_functions_index(&built.m);
		ck_assert_uint_eq(built.m.page_count, 13);
	}
}
END_TEST

START_TEST(functions_far_apart_are_not_indexed)
{
	struct swz_function *g;

	module_function(&built, START, "\xc3", 1);
	g = module_function(&built, START + 0x1000, "\xc3", 1);
	g->start = START + (UINT64_C(127) << 10);
	swz_functions_index(&built.m);
	ck_assert_uint_eq(built.m.page_count, 128);
	g->start = START + (UINT64_C(128) << 10);
	swz_functions_index(&built.m);
	ck_assert_uint_eq(built.m.page_count, 0);
	ck_assert_ptr_eq(swz_function_at(&built.m, g->start), g);
	built.m.function_count = 0;
	ck_assert_ptr_null(swz_function_at(&built.m, g->start));
	swz_functions_index(&built.m);
	ck_assert_uint_eq(built.m.page_count, 0);
}
END_TEST

START_TEST(functions_are_counted_by_what_became_of_them)
{
	struct swz_function *f = module_function(&built, START, "\xc3", 1);

	module_function(&built, START + 1, "\xc3", 1);
	module_function(&built, START + 2, "\xc3", 1)->is_piece = true;
	swz_function_refuse(f, SWZ_REFUSE_TOO_SHORT);
	swz_function_refuse(f, SWZ_REFUSE_FILTERED); /* the first one stays */
	swz_functions_count(&built.m);
	ck_assert_uint_eq(built.m.counts[SWZ_REFUSE_TOO_SHORT], 1);
	ck_assert_uint_eq(built.m.counts[SWZ_PATCHED], 1);
	swz_functions_refuse(&built.m, SWZ_REFUSE_FILTERED);
	swz_functions_count(&built.m);
	ck_assert_uint_eq(built.m.counts[SWZ_PATCHED], 0);
	ck_assert_uint_eq(built.m.counts[SWZ_REFUSE_FILTERED], 1);
	built.m.in_scope = false;
	swz_functions_count(&built.m);
	ck_assert_uint_eq(built.m.counts[SWZ_REFUSE_FILTERED], 0);
}
END_TEST

START_TEST(what_returns_twice_is_known_by_name)
{
	ck_assert(swz_function_returns_twice("setjmp"));
	ck_assert(swz_function_returns_twice("__restore_rt"));
	ck_assert(swz_function_returns_twice("vfork"));
	ck_assert(!swz_function_returns_twice("_Zsetjmp"));
	ck_assert(!swz_function_returns_twice("fork"));
	ck_assert(!swz_function_returns_twice("setjmp2"));
}
END_TEST

START_TEST(nothing_leads_into_the_jump_at_a_load)
{
	uint32_t sites[] = {0x20, 0x30};
	struct swz_function f = {
		.start = START, .load_site_count = 2, .load_sites = sites};

	ck_assert(!swz_function_load_site_has(&f, START + 0x20));
	ck_assert(swz_function_load_site_has(&f, START + 0x21));
	ck_assert(swz_function_load_site_has(&f, START + 0x24));
	ck_assert(!swz_function_load_site_has(&f, START + 0x25));
	ck_assert(swz_function_load_site_has(&f, START + 0x31));
	f.load_site_count = 1;
	ck_assert(!swz_function_load_site_has(&f, START + 0x31));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan_depth");
	TCase *t = tcase_create("scan_depth");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, the_stack_is_followed, 0,
			    sizeof(steps) / sizeof(*steps));
	tcase_add_loop_test(t, a_frame_pointer_is_noted_where_it_is_set, 0, 7);
	tcase_add_test(t, without_a_frame_pointer_none_is_used);
	tcase_add_loop_test(t, what_ends_the_flow_is_told, 0, 11);
	tcase_add_loop_test(t, functions_are_read_through, 0,
			    sizeof(functions) / sizeof(*functions));
	tcase_add_test(t, a_function_is_found_by_its_bytes);
	tcase_add_test(t, functions_far_apart_are_not_indexed);
	tcase_add_test(t, functions_are_counted_by_what_became_of_them);
	tcase_add_test(t, what_returns_twice_is_known_by_name);
	tcase_add_test(t, nothing_leads_into_the_jump_at_a_load);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
