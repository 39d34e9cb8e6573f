/* Frames of Ruby 3.1 in memory that is made up, and in memory that is damaged.
 * The offsets are those of Ruby's headers, as gcc has them. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "watch/names/ruby_frames.h"

enum { BASE = 0x10000, BYTES = 0x8000 };

enum {
	VERSION = BASE + 0x100,
	VM_POINTER = BASE + 0x200,
	VM = BASE + 0x300,
	RACTOR = BASE + 0x400, /* 584 bytes */
	OTHER_THREAD = BASE + 0x800,
	THREAD = BASE + 0x900,
	OTHER_CONTEXT = BASE + 0xa00,
	CONTEXT = BASE + 0xb00,
	C_STACK = BASE + 0xc00,
	C_STACK_END = BASE + 0xe00,
	STACK = BASE + 0x1000,
	STACK_WORDS = 0x200,
	STACK_END = STACK + STACK_WORDS * 8,
	HEAP = BASE + 0x2800, /* variables of a block that is kept */
	OBJECTS = BASE + 0x4000
};

enum {
	METHOD = 0x11110001,
	BLOCK = 0x22220001,
	C_METHOD = 0x55550001,
	C_BLOCK = 0x66660001,
	DUMMY = 0x79990001,
	FINISH = 0x20
};

static uint8_t memory[BYTES];
static uint64_t next_object;
static struct swz_ruby *ruby;
static struct swz_script_frame frames[16];
static size_t count;

static size_t read_memory(void *context, uint64_t address, void *into,
			  size_t size)
{
	(void)context;
	if (address - BASE >= BYTES)
		return 0;
	if (size > BASE + BYTES - address)
		size = BASE + BYTES - address;
	memcpy(into, memory + (address - BASE), size);
	return size;
}

static void put(uint64_t address, uint64_t value, size_t size)
{
	memcpy(memory + (address - BASE), &value, size);
}

static uint64_t take(size_t size)
{
	uint64_t at = next_object;

	next_object += (size + 7) & ~7ull;
	return at;
}

static uint64_t make_text(const char *text)
{
	size_t length = strlen(text);
	uint64_t at = take(40), to = at + 16;

	if (length > 23) {
		to = take(length + 1);
		put(at, 5 | 1 << 13, 8);
		put(at + 16, length, 8);
		put(at + 24, to, 8);
	} else {
		put(at, 5 | length << 14, 8);
	}
	memcpy(memory + (to - BASE), text, length);
	return at;
}

static uint64_t make_paths(uint64_t path)
{
	uint64_t at = take(40);

	put(at, 7 | 1 << 13 | 2 << 15, 8);
	put(at + 16, path, 8);
	put(at + 24, path, 8);
	return at;
}

static uint64_t make_code(const char *name, uint64_t path, uint32_t line)
{
	uint64_t at = take(40), body = take(96), instructions = take(8);

	put(at, 0x1a | 7 << 12, 8);
	put(at + 16, body, 8);
	put(body + 8, instructions, 8);
	put(body + 64, path, 8);
	put(body + 80, make_text(name), 8);
	put(body + 88, 2 * line + 1, 8);
	put(instructions, 0x123456, 8);
	return at;
}

/* The Nth frame from the outermost. */
static void make_frame(unsigned n, uint64_t code, uint64_t variables,
		       uint32_t flags)
{
	uint64_t at = STACK_END - 64 * (n + 1);

	put(at + 16, code, 8);
	put(at + 32, variables, 8);
	put(variables, flags, 8);
	put(CONTEXT + 16, at, 8);
}

static uint64_t code_of(unsigned n)
{
	uint64_t code;

	memcpy(&code, memory + (STACK_END - 64 * (n + 1) + 16 - BASE), 8);
	return code;
}

static void make_thread(uint64_t at, uint64_t next, uint64_t id,
			uint64_t context)
{
	put(at, next, 8);
	put(at + 32, VM, 8);
	put(at + 40, context, 8);
	put(at + 80, id, 8);
}

static void make_machine(void)
{
	memcpy(memory + (VERSION - BASE), "3.1.2", 6);
	put(VM_POINTER, VM, 8);
	put(VM + 8, RACTOR + 568, 8);
	put(RACTOR + 568, VM + 8, 8);
	put(RACTOR + 304, OTHER_THREAD, 8);
	make_thread(OTHER_THREAD, THREAD, 7, OTHER_CONTEXT);
	make_thread(THREAD, RACTOR + 304, 8, CONTEXT);
	put(CONTEXT, STACK, 8);
	put(CONTEXT + 8, STACK_WORDS, 8);
	put(CONTEXT + 144, C_STACK_END, 8);
	put(CONTEXT + 160, C_STACK_END - C_STACK, 8);
}

static void set_up(void)
{
	uint64_t path;

	memset(memory, 0, sizeof(memory));
	next_object = OBJECTS;
	make_machine();
	path = make_paths(make_text("/home/me/a/path/of/some/length/x.rb"));
	make_frame(0, 0, STACK + 0x10, DUMMY | FINISH);
	make_frame(1, make_code("<main>", make_text("/y.rb"), 1), STACK + 0x18,
		   METHOD | FINISH);
	make_frame(2, make_code("outer", path, 3), STACK + 0x40, METHOD);
	make_frame(3, 0, STACK + 0x60, C_METHOD);
	make_frame(4, make_code("block in outer", path, 4), HEAP,
		   BLOCK | FINISH);
	make_frame(5, make_code("inner", path, 20), STACK + 0x80, METHOD);
	make_frame(6, C_STACK, STACK + 0x90, C_BLOCK);
	ruby = swz_ruby_open(VERSION, VM_POINTER, read_memory, NULL);
	ck_assert_ptr_nonnull(ruby);
}

static void tear_down(void)
{
	swz_ruby_close(ruby);
}

static enum swz_script_result get(uint64_t thread_pointer)
{
	return swz_ruby_frames(ruby, thread_pointer, C_STACK + 0x10, frames, 16,
			       &count);
}

static void assert_frame(size_t i, const char *name, const char *file,
			 uint32_t line, bool is_entry)
{
	ck_assert_str_eq(frames[i].code->name, name);
	ck_assert_str_eq(frames[i].code->file, file);
	ck_assert_uint_eq(frames[i].code->line, line);
	ck_assert_int_eq(frames[i].is_entry, is_entry);
}

START_TEST(frames_of_code_are_found_and_those_of_c_left_out)
{
	const char *path = "/home/me/a/path/of/some/length/x.rb";

	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	assert_frame(0, "inner", path, 20, false);
	assert_frame(1, "block in outer:4", path, 4, true);
	assert_frame(2, "outer", path, 3, false);
	assert_frame(3, "<main>", "/y.rb", 1, true);
	ck_assert_uint_eq(swz_ruby_loop(ruby), 0x123456);
}
END_TEST

START_TEST(a_thread_is_known_by_its_stack)
{
	ck_assert_int_eq(get(0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(get(7), SWZ_SCRIPT_NONE);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
	put(CONTEXT + 160, 8, 8);
	ck_assert_int_eq(get(0), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(other_versions_are_left)
{
	ck_assert(!swz_ruby_is_known("3.10", 4));
	ck_assert(!swz_ruby_is_known("3.2.", 4));
	ck_assert(!swz_ruby_is_known("3.1", 3));
	memcpy(memory + (VERSION - BASE), "3.2.2", 6);
	ck_assert_ptr_null(
		swz_ruby_open(VERSION, VM_POINTER, read_memory, NULL));
}
END_TEST

START_TEST(what_is_no_code_is_not_believed)
{
	uint64_t code = code_of(5);

	put(code, 0x1a | 6 << 12, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(code, 0x1a | 7 << 12, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	put(code + 16, 0xdead0000, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(names_must_be_texts)
{
	uint64_t code = make_code("g", code_of(1), 1);

	make_frame(5, code, STACK + 0x80, METHOD);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(code_that_took_the_place_of_other_code_has_its_own_name)
{
	uint64_t code = code_of(5), body;

	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	memcpy(&body, memory + (code + 16 - BASE), 8);
	put(body + 80, make_text("another"), 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_str_eq(frames[0].code->name, "another");
}
END_TEST

START_TEST(names_are_utf8)
{
	static const struct {
		const char *raw, *text;
	} cases[] = {
		{"x", "x"},
		{"a\nb\x7f", "a?b?"},
		{"gr\xc3\xb6\xc3\x9f"
		 "e",
		 "gr\xc3\xb6\xc3\x9f"
		 "e"},
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xff\xc3", "??"},
		{"\xe2\x82", "??"},
		{"\xc0\x80", "??"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make_frame(5, make_code(cases[i].raw, make_text("/z.rb"), 2),
			   STACK + 0x80, METHOD);
		ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
		ck_assert_str_eq(frames[0].code->name, cases[i].text);
	}
}
END_TEST

START_TEST(circles_of_threads_and_ractors_end)
{
	put(THREAD, OTHER_THREAD, 8);
	put(RACTOR + 568, RACTOR + 568, 8);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(a_stack_that_cannot_be_is_not_read)
{
	put(CONTEXT + 8, 1ull << 60, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(CONTEXT + 8, STACK_WORDS, 8);
	put(CONTEXT + 16, STACK_END - 65, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(CONTEXT + 16, STACK - 64, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(CONTEXT + 16, 0, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(damaged_memory_is_survived)
{
	uint64_t state = 5;

	for (int i = 0; i < 20000; i++) {
		uint32_t at, what;

		state = state * 6364136223846793005u + 1442695040888963407u;
		at = (uint32_t)(state >> 33) % (BYTES - 8);
		what = (uint32_t)(state >> 20);
		if (i % 3 == 0)
			put(BASE + (at & ~7u), BASE + what % BYTES, 8);
		else
			put(BASE + at, what, 4);
		(void)get(i & 1 ? 8 : 0);
		ck_assert_uint_le(count, 16);
		if (i % 100 == 99) {
			tear_down();
			set_up();
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ruby_frames");
	TCase *tcase = tcase_create("ruby_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, frames_of_code_are_found_and_those_of_c_left_out);
	tcase_add_test(tcase, a_thread_is_known_by_its_stack);
	tcase_add_test(tcase, other_versions_are_left);
	tcase_add_test(tcase, what_is_no_code_is_not_believed);
	tcase_add_test(tcase, names_must_be_texts);
	tcase_add_test(tcase,
		       code_that_took_the_place_of_other_code_has_its_own_name);
	tcase_add_test(tcase, names_are_utf8);
	tcase_add_test(tcase, circles_of_threads_and_ractors_end);
	tcase_add_test(tcase, a_stack_that_cannot_be_is_not_read);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
