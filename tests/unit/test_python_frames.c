/* Frames of Python 3.11 in memory that is made up, and in memory that is
 * damaged. The offsets are those of CPython's headers, as gcc has them. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "watch/names/python_frames.h"

enum { BASE = 0x10000, BYTES = 0x8000 };

enum {
	RUNTIME = BASE + 0x100,
	VERSION = BASE + 0x300,
	CODE_TYPE = BASE + 0x400,
	STR_TYPE = BASE + 0x500,
	INTERPRETER = BASE + 0x1000,
	THREAD = BASE + 0x1200,
	OTHER_THREAD = BASE + 0x1400,
	STACK = BASE + 0x1600, /* of C */
	CFRAME = STACK + 0x40,
	CHUNK = BASE + 0x2000,
	OLD_CHUNK = BASE + 0x3000,
	OBJECTS = BASE + 0x4000
};

static uint8_t memory[BYTES];
static uint64_t next_object;
static struct swz_python *python;
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

static uint64_t make_text(const char *text, unsigned width, bool ascii)
{
	uint64_t at = next_object, data = at + (ascii ? 48 : 72);
	size_t length = strlen(text);

	put(at + 8, STR_TYPE, 8);
	put(at + 16, length, 8);
	put(at + 32, width << 2 | 1 << 5 | (ascii ? 1 << 6 : 0), 4);
	for (size_t i = 0; i < length; i++)
		put(data + i * width, (unsigned char)text[i], width);
	next_object += 72 + (length + 1) * width + 8;
	next_object &= ~7ull;
	return at;
}

static uint64_t make_code(const char *name, const char *file, uint32_t line)
{
	uint64_t qualname = make_text(name, 1, true);
	uint64_t path = make_text(file, 1, true), at = next_object;

	put(at + 8, CODE_TYPE, 8);
	put(at + 72, line, 4);
	put(at + 112, path, 8);
	put(at + 128, qualname, 8);
	next_object += 192;
	return at;
}

static void make_frame(uint64_t at, uint64_t code, uint64_t previous,
		       bool is_entry)
{
	put(at + 32, code, 8);
	put(at + 48, previous, 8);
	put(at + 68, is_entry, 1);
}

static void make_thread(uint64_t at, uint64_t next, uint64_t id,
			uint64_t cframe)
{
	put(at + 8, next, 8);
	put(at + 16, INTERPRETER, 8);
	put(at + 56, cframe, 8);
	put(at + 152, id, 8);
	put(at + 296, CHUNK, 8);
}

static void set_up(void)
{
	const struct swz_python_places places = {RUNTIME, VERSION, CODE_TYPE,
						 STR_TYPE};

	memset(memory, 0, sizeof(memory));
	next_object = OBJECTS;
	put(VERSION, 0x030b07f0, 8);
	put(RUNTIME + 40, INTERPRETER, 8);
	put(INTERPRETER + 16, OTHER_THREAD, 8);
	make_thread(OTHER_THREAD, THREAD, 7, OTHER_THREAD + 336);
	make_thread(THREAD, 0, 8, CFRAME);
	put(CHUNK, OLD_CHUNK, 8);
	put(CHUNK + 8, 0x400, 8);
	put(OLD_CHUNK + 8, 0x400, 8);
	/* inner, called by C; outer in the chunk before; a generator's */
	put(CFRAME + 8, CHUNK + 0x100, 8);
	make_frame(CHUNK + 0x100, make_code("inner", "/x.py", 3), CHUNK + 0x40,
		   true);
	make_frame(CHUNK + 0x40, make_code("A.middle", "/x.py", 20),
		   OBJECTS + 0x1000, false);
	make_frame(OBJECTS + 0x1000,
		   make_code("f.<locals>.<genexpr>", "/y.py", 5),
		   OLD_CHUNK + 0x80, false);
	make_frame(OLD_CHUNK + 0x80, make_code("<module>", "y.py", 1), 0, true);
	python = swz_python_open(&places, read_memory, NULL);
	ck_assert_ptr_nonnull(python);
}

static void tear_down(void)
{
	swz_python_close(python);
}

static enum swz_script_result get(uint64_t thread_pointer)
{
	return swz_python_frames(python, thread_pointer, STACK, frames, 16,
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

START_TEST(frames_are_found_wherever_they_lie)
{
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	assert_frame(0, "inner", "/x.py", 3, true);
	assert_frame(1, "A.middle", "/x.py", 20, false);
	assert_frame(2, "f.<locals>.<genexpr>:5", "/y.py", 5, false);
	assert_frame(3, "<module>", "y.py", 1, true);
}
END_TEST

START_TEST(a_thread_is_known_by_its_stack)
{
	ck_assert_int_eq(get(0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(get(7), SWZ_SCRIPT_NONE);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(other_versions_are_left)
{
	const struct swz_python_places places = {RUNTIME, VERSION, CODE_TYPE,
						 STR_TYPE};

	put(VERSION, 0x030c00f0, 8);
	ck_assert_ptr_null(swz_python_open(&places, read_memory, NULL));
	put(VERSION, 0x030a00f0, 8);
	ck_assert_ptr_null(swz_python_open(&places, read_memory, NULL));
}
END_TEST

START_TEST(what_is_no_code_object_is_not_believed)
{
	put(CHUNK + 0x40 + 32, CHUNK, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(CHUNK + 0x40 + 32, 0xdead0000, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(names_must_be_texts)
{
	uint64_t code = make_code("g", "/z.py", 1);

	put(code + 128, code, 8);
	make_frame(CHUNK + 0x100, code, 0, true);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	put(code + 128, make_text("g", 2, false), 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	assert_frame(0, "g", "/z.py", 1, true);
}
END_TEST

START_TEST(code_that_took_the_place_of_other_code_has_its_own_name)
{
	uint64_t code = make_code("old", "/z.py", 1);

	make_frame(CHUNK + 0x100, code, 0, true);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	assert_frame(0, "old", "/z.py", 1, true);
	put(code + 128, make_text("new", 1, true), 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	assert_frame(0, "new", "/z.py", 1, true);
}
END_TEST

START_TEST(names_are_utf8)
{
	static const struct {
		unsigned width;
		bool ascii;
		uint32_t character;
		const char *text;
	} cases[] = {
		{1, true, 'x', "x"},
		{1, true, '\n', "?"},
		{1, false, 0xf6, "\xc3\xb6"},
		{2, false, 0x20ac, "\xe2\x82\xac"},
		{4, false, 0x1f600, "\xf0\x9f\x98\x80"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t code = make_code("f", "/z.py", (uint32_t)i);
		uint64_t text = make_text("?", cases[i].width, cases[i].ascii);

		put(text + (cases[i].ascii ? 48 : 72), cases[i].character,
		    cases[i].width);
		put(code + 128, text, 8);
		make_frame(CHUNK + 0x100, code, 0, true);
		ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
		ck_assert_str_eq(frames[0].code->name, cases[i].text);
	}
}
END_TEST

START_TEST(a_circle_of_frames_or_threads_ends)
{
	put(OLD_CHUNK + 0x80 + 48, CHUNK + 0x100, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 16);
	put(THREAD + 8, OTHER_THREAD, 8);
	put(INTERPRETER, INTERPRETER, 8);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
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
	Suite *suite = suite_create("python_frames");
	TCase *tcase = tcase_create("python_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, frames_are_found_wherever_they_lie);
	tcase_add_test(tcase, a_thread_is_known_by_its_stack);
	tcase_add_test(tcase, other_versions_are_left);
	tcase_add_test(tcase, what_is_no_code_object_is_not_believed);
	tcase_add_test(tcase, names_must_be_texts);
	tcase_add_test(tcase,
		       code_that_took_the_place_of_other_code_has_its_own_name);
	tcase_add_test(tcase, names_are_utf8);
	tcase_add_test(tcase, a_circle_of_frames_or_threads_ends);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
