/* Which functions find what lies in a frame that their caller has given up, by
 * a pointer that it hands on with a jump. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/scan_bytes.h"
#include "tests/unit/module_builder.h"
#include "tests/unit/run_suite.h"

#define CODE(text) text, sizeof(text) - 1

enum { FROM = MODULE_TEXT + 0x100, TO = FROM + 0x80 };

/* `to` is jumped to; by default it reads through %rdi. */
#define READS_RDI "\x48\x8b\x07\xc3"

static struct built_module built;

static bool finds_below(const char *from, size_t from_size, const char *to,
			size_t to_size)
{
	struct swz_function *f, *g;
	char code[0x80];

	module_begin(&built);
	/* the jump, which ends the code: its distance */
	memcpy(code, from, from_size);
	code[from_size - 1] = (char)(TO - FROM - from_size);
	f = module_function(&built, FROM, code, from_size);
	g = module_function(&built, TO, to, to_size);
	swz_released_frame_find(&built.m, f);
	ck_assert(!f->finds_below);
	return g->finds_below;
}

static const struct {
	const char *what, *from;
	size_t size;
	bool finds;
} frames[] = {
	{"lea -16(%rsp), %rdi", CODE("\x48\x8d\x7c\x24\xf0\xeb\0"), true},
	{"lea (%rsp), %rdi: the return address", CODE("\x48\x8d\x3c\x24\xeb\0"),
	 false},
	{"lea 8(%rsp), %rdi: an argument", CODE("\x48\x8d\x7c\x24\x08\xeb\0"),
	 false},
	{"of a frame that is given up",
	 CODE("\x48\x83\xec\x18\x48\x8d\x3c\x24\x48\x83\xc4\x18\xeb\0"), true},
	{"of a frame that is not",
	 CODE("\x48\x83\xec\x18\x48\x8d\x3c\x24\xeb\0"), false},
	{"lea -24(%rbp), %rdi",
	 CODE("\x55\x48\x89\xe5\x48\x83\xec\x20\x48\x8d\x7d\xe8\xc9\xeb\0"),
	 true},
	{"lea (%rbp), %rdi without a frame pointer",
	 CODE("\x48\x8d\x7d\xe8\xeb\0"), false},
	{"lea -16(%rsp), %rbx, then a copy",
	 CODE("\x48\x8d\x5c\x24\xf0\x48\x89\xdf\xeb\0"), true},
	{"the copy in its other direction",
	 CODE("\x48\x8d\x5c\x24\xf0\x48\x8b\xfb\xeb\0"), true},
	{"the stack pointer itself, counted down",
	 CODE("\x48\x89\xe7\x48\x83\xef\x10\xeb\0"), true},
	{"counted up again", CODE("\x48\x8d\x7c\x24\xf0\x48\x83\xc7\x10\xeb\0"),
	 false},
	{"another value in its place",
	 CODE("\x48\x8d\x7c\x24\xf0\x31\xff\xeb\0"), false},
	{"to a register that is no argument's",
	 CODE("\x48\x8d\x44\x24\xf0\xeb\0"), false},
	{"of 32 bits", CODE("\x8d\x7c\x24\xf0\xeb\0"), false},
	{"with an index", CODE("\x48\x8d\x7c\x04\xf0\xeb\0"), false},
	{"before a call", CODE("\x48\x8d\x7c\x24\xf0\xe8\0\0\0\0\xeb\0"),
	 false},
	{"in %r8, which is not read", CODE("\x4c\x8d\x44\x24\xf0\xeb\0"),
	 false},
	{"behind a return, where the depth is the body's",
	 CODE("\x48\x8d\x7c\x24\xf0\xc3\xeb\0"), false},
	{"wide jump", CODE("\x48\x8d\x7c\x24\xf0\xe9\x76\0\0\0\x90\xeb\0"),
	 true},
};

START_TEST(pointers_into_frames_are_followed)
{
	ck_assert_msg(finds_below(frames[_i].from, frames[_i].size,
				  CODE(READS_RDI)) == frames[_i].finds,
		      "%s", frames[_i].what);
}
END_TEST

static const struct {
	const char *what, *to;
	size_t size;
	bool finds;
} users[] = {
	{"load", CODE("\x48\x8b\x07\xc3"), true},
	{"by an index", CODE("\x48\x8b\x04\x38\xc3"), true},
	{"store", CODE("\x48\x89\x07\xc3"), true},
	{"a copy", CODE("\x48\x89\xf8\xc3"), true},
	{"a copy in its other direction", CODE("\x48\x8b\xc7\xc3"), true},
	{"pushed", CODE("\x57\x5f\xc3"), true},
	{"%r15 is pushed", CODE("\x41\x57\x41\x5f\xc3"), false},
	{"compared", CODE("\x48\x39\xf8\xc3"), true},
	{"tested", CODE("\x48\x85\xff\xc3"), true},
	{"handed on to a call", CODE("\xe8\0\0\0\0\xc3"), true},
	{"to a call by a register", CODE("\xff\xd0\xc3"), true},
	{"to another by a branch", CODE("\x74\0\xc3"), true},
	{"returns", CODE("\xc3"), false},
	{"has something else in it", CODE("\x31\xff\x48\x8b\x07\xc3"), false},
	{"has a copy of another in it", CODE("\x48\x89\xf7\x48\x8b\x07\xc3"),
	 false},
	{"uses another", CODE("\x48\x8b\x06\xc3"), false},
	{"does nothing at all", CODE("\x90\x90"), true},
};

START_TEST(what_is_jumped_to_uses_them_or_not)
{
	ck_assert_msg(finds_below(CODE("\x48\x8d\x7c\x24\xf0\xeb\0"),
				  users[_i].to,
				  users[_i].size) == users[_i].finds,
		      "%s", users[_i].what);
}
END_TEST

START_TEST(pieces_and_long_functions_are_let_be)
{
	static const uint8_t lea[] = {0x48, 0x8d, 0x7c, 0x24, 0xf0, 0xe9};
	uint8_t code[300];
	struct swz_function *f, *g;

	for (unsigned size = 256; size < 258; size++) {
		module_begin(&built);
		memset(code, 0x90, sizeof(code));
		memcpy(code + size - 10, lea, sizeof(lea));
		f = module_function(&built, FROM, code, size);
		module_put32(FROM + size - 4, 0x10);
		g = module_function(&built, FROM + size + 0x10,
				    CODE(READS_RDI));
		swz_released_frame_find(&built.m, f);
		ck_assert_int_eq(g->finds_below, size == 256);
		g->finds_below = false;
		f->is_piece = true;
		swz_released_frame_find(&built.m, f);
		ck_assert(!g->finds_below);
		f->is_piece = false;
		g->is_piece = true;
		swz_released_frame_find(&built.m, f);
		ck_assert(!g->finds_below);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("released_frames");
	TCase *t = tcase_create("released_frames");

	tcase_add_loop_test(t, pointers_into_frames_are_followed, 0,
			    sizeof(frames) / sizeof(*frames));
	tcase_add_loop_test(t, what_is_jumped_to_uses_them_or_not, 0,
			    sizeof(users) / sizeof(*users));
	tcase_add_test(t, pieces_and_long_functions_are_let_be);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
