/* Frames of Python 3.11, and what other versions have of their own, in memory
 * that is made up, and in memory that is damaged. The offsets are those of
 * CPython's headers, as gcc has them. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

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
	COROUTINE_TYPE = BASE + 0x700,
	TUPLE_TYPE = BASE + 0x710,
	CELL_TYPE = BASE + 0x720,
	METHOD_TYPE = BASE + 0x730,
	TASK_TYPE = BASE + 0x800,
	FUTURE_TYPE = BASE + 0xa00,
	OTHER_TYPE = BASE + 0xc00,
	CHUNK = BASE + 0x2000,
	OLD_CHUNK = BASE + 0x3000
};

static struct memory_symbol symbols[] = {
	{"_PyEval_EvalFrameDefault", BASE + 0x600},
	{"PyCode_Type", CODE_TYPE},
	{"PyUnicode_Type", STR_TYPE},
	{"_PyRuntime", RUNTIME},
	{"Py_Version", VERSION},
	{"PyCoro_Type", COROUTINE_TYPE},
	{"PyTuple_Type", TUPLE_TYPE},
	{"PyCell_Type", CELL_TYPE},
	{"PyMethod_Type", METHOD_TYPE},
	{NULL, 0}};
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *python;
static struct swz_script_frame frames[16];
static size_t count;

static uint64_t make_text(const char *text, unsigned width, bool ascii)
{
	size_t length = strlen(text);
	uint64_t at = memory_take(72 + (length + 1) * width);
	uint64_t data = at + (ascii ? 48 : 72);

	memory_put(at + 8, STR_TYPE, 8);
	memory_put(at + 16, length, 8);
	memory_put(at + 32, width << 2 | 1 << 5 | (ascii ? 1 << 6 : 0), 4);
	for (size_t i = 0; i < length; i++)
		memory_put(data + i * width, (unsigned char)text[i], width);
	return at;
}

static uint64_t make_code(const char *name, const char *file, uint32_t line)
{
	uint64_t qualname = make_text(name, 1, true);
	uint64_t path = make_text(file, 1, true), at = memory_take(192);

	memory_put(at + 8, CODE_TYPE, 8);
	memory_put(at + 72, line, 4);
	memory_put(at + 112, path, 8);
	memory_put(at + 128, qualname, 8);
	return at;
}

static void make_frame(uint64_t at, uint64_t code, uint64_t previous,
		       bool is_entry)
{
	memory_put(at + 32, code, 8);
	memory_put(at + 48, previous, 8);
	memory_put(at + 68, is_entry, 1);
}

static void make_thread(uint64_t at, uint64_t next, uint64_t id,
			uint64_t cframe)
{
	memory_put(at + 8, next, 8);
	memory_put(at + 16, INTERPRETER, 8);
	memory_put(at + 56, cframe, 8);
	memory_put(at + 152, id, 8);
	memory_put(at + 296, CHUNK, 8);
}

static void set_up(void)
{
	memory_begin();
	memory_put(VERSION, 0x030b07f0, 8);
	memory_put(RUNTIME + 40, INTERPRETER, 8);
	memory_put(INTERPRETER + 16, OTHER_THREAD, 8);
	make_thread(OTHER_THREAD, THREAD, 7, OTHER_THREAD + 336);
	make_thread(THREAD, 0, 8, CFRAME);
	memory_put(CHUNK, OLD_CHUNK, 8);
	memory_put(CHUNK + 8, 0x400, 8);
	memory_put(OLD_CHUNK + 8, 0x400, 8);
	/* inner, called by C; outer in the chunk before; a generator's */
	memory_put(CFRAME + 8, CHUNK + 0x100, 8);
	make_frame(CHUNK + 0x100, make_code("inner", "/x.py", 3), CHUNK + 0x40,
		   true);
	make_frame(CHUNK + 0x40, make_code("A.middle", "/x.py", 20),
		   OBJECTS + 0x1000, false);
	make_frame(OBJECTS + 0x1000,
		   make_code("f.<locals>.<genexpr>", "/y.py", 5),
		   OLD_CHUNK + 0x80, false);
	make_frame(OLD_CHUNK + 0x80, make_code("<module>", "y.py", 1), 0, true);
	python = swz_python_language.open(&module);
	ck_assert_ptr_nonnull(python);
}

static void tear_down(void)
{
	swz_python_language.close(python);
}

static enum swz_script_result get(uint64_t thread_pointer)
{
	const struct swz_script_thread thread = {
		.thread_pointer = thread_pointer, .stack_start = STACK};

	return swz_python_language.frames(python, &thread, frames, 16, &count);
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
	memory_put(VERSION, 0x031000f0, 8);
	ck_assert_ptr_null(swz_python_language.open(&module));
	memory_put(VERSION, 0x040000f0, 8);
	ck_assert_ptr_null(swz_python_language.open(&module));
	/* it says nothing of itself */
	memory_put(VERSION, 0x030d00f0, 8);
	ck_assert_ptr_null(swz_python_language.open(&module));
}
END_TEST

START_TEST(what_is_no_code_object_is_not_believed)
{
	memory_put(CHUNK + 0x40 + 32, CHUNK, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(CHUNK + 0x40 + 32, 0xdead0000, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(names_must_be_texts)
{
	uint64_t code = make_code("g", "/z.py", 1);

	memory_put(code + 128, code, 8);
	make_frame(CHUNK + 0x100, code, 0, true);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(code + 128, make_text("g", 2, false), 8);
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
	memory_put(code + 128, make_text("new", 1, true), 8);
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

		memory_put(text + (cases[i].ascii ? 48 : 72),
			   cases[i].character, cases[i].width);
		memory_put(code + 128, text, 8);
		make_frame(CHUNK + 0x100, code, 0, true);
		ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
		ck_assert_str_eq(frames[0].code->name, cases[i].text);
	}
}
END_TEST

START_TEST(a_circle_of_frames_or_threads_ends)
{
	memory_put(OLD_CHUNK + 0x80 + 48, CHUNK + 0x100, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 16);
	memory_put(THREAD + 8, OTHER_THREAD, 8);
	memory_put(INTERPRETER, INTERPRETER, 8);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
}
END_TEST

static void put_lines(uint64_t code, const uint8_t *table, size_t size)
{
	uint64_t bytes = memory_take(32 + size);

	memory_put(bytes + 16, size, 8);
	memory_put_bytes(bytes + 32, table, size);
	memory_put(code + 136, bytes, 8);
}

/* Where the innermost frame is: behind so many instructions. */
static void assert_line(uint64_t code, uint32_t at, uint32_t line)
{
	memory_put(CHUNK + 0x100 + 56, code + 184 + 2 * at, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(frames[0].line, line);
}

START_TEST(a_frame_has_the_line_that_it_executes)
{
	/* two instructions of no line; one of the first line; three, two lines
	 * on; a long entry, 70 lines on; one, a line back; without columns */
	static const uint8_t table[] = {0x80 | 15 << 3 | 1,
					0x80 | 0 << 3,
					1,
					0x80 | 12 << 3 | 2,
					1,
					1,
					0x80 | 14 << 3 | 1,
					0x4c,
					2,
					0,
					0,
					0,
					0x80 | 13 << 3,
					3};
	uint64_t code = make_code("f", "/x.py", 10);

	put_lines(code, table, sizeof(table));
	make_frame(CHUNK + 0x100, code, 0, true);
	assert_line(code, 0, 0);
	assert_line(code, 2, 10);
	assert_line(code, 3, 12);
	assert_line(code, 5, 12);
	assert_line(code, 6, 82);
	assert_line(code, 7, 82);
	assert_line(code, 8, 81);
	assert_line(code, 9, 0);
	/* it has not begun */
	assert_line(code, UINT32_MAX, 10);
	put_lines(code, table, 9);
	assert_line(code, 9, 0);
}
END_TEST

/* _Py_DebugOffsets of 3.13, with the places of 3.11 but for the frames' */
static void put_offsets(void)
{
	static const struct {
		unsigned word;
		uint64_t value;
	} offsets[] = {{5, 832},  {9, 16},   {19, 360}, {21, 8},   {22, 16},
		       {23, 56},  {24, 152}, {25, 160}, {26, 296}, {27, 32},
		       {28, 72},  {29, 48},  {30, 32},  {31, 56},  {33, 69},
		       {34, 192}, {35, 112}, {37, 128}, {38, 136}, {39, 72},
		       {43, 184}, {45, 8},   {65, 16},  {66, 32},  {68, 32},
		       {69, 16},  {70, 48}};

	memory_put_bytes(RUNTIME, "xdebugpy", 8);
	memory_put(RUNTIME + 8, 0x030d00f0, 8);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++)
		memory_put(RUNTIME + 8ull * offsets[i].word, offsets[i].value,
			   8);
	memory_put(RUNTIME + 832, INTERPRETER, 8);
	memory_put(VERSION, 0x030d00f0, 8);
}

START_TEST(since_3_13_it_says_where_its_fields_are)
{
	uint64_t shim = memory_take(72);

	swz_python_language.close(python);
	put_offsets();
	python = swz_python_language.open(&module);
	ck_assert_ptr_nonnull(python);
	memory_put(THREAD + 56, CHUNK + 0x100, 8);
	memory_put(CHUNK + 0x100 + 48, shim, 8);
	memory_put(shim + 69, 3, 1);
	memory_put(shim + 48, CHUNK + 0x40, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	assert_frame(0, "inner", "/x.py", 3, true);
	assert_frame(1, "A.middle", "/x.py", 20, false);
	/* one that cannot be */
	memory_put(RUNTIME + 8 * 24, 1 << 20, 8);
	ck_assert_ptr_null(swz_python_language.open(&module));
}
END_TEST

/* ---------------------------------------------------------------- tasks */

static uint64_t make_object(uint64_t type, uint64_t first, uint64_t second)
{
	uint64_t at = memory_take(320);

	memory_put(at + 8, type, 8);
	memory_put(at + 16, first, 8);
	memory_put(at + 24, second, 8);
	return at;
}

static void make_type(uint64_t at, const char *name, uint64_t base)
{
	uint64_t text = memory_take(strlen(name) + 1);

	memory_put_bytes(text, name, strlen(name) + 1);
	memory_put(at + 24, text, 8);
	memory_put(at + 256, base, 8);
}

/* One that awaits AWAITED, or nothing. */
static uint64_t make_coroutine(const char *name, uint64_t awaited)
{
	uint64_t at = make_object(COROUTINE_TYPE, 0, 0);

	make_frame(at + 80, make_code(name, "/x.py", 40), 0, false);
	memory_put(at + 80 + 64, 2, 4); /* a variable, and what is awaited */
	memory_put(at + 80 + 72 + 8, awaited, 8);
	return at;
}

static uint64_t make_task(const char *name, uint64_t coroutine)
{
	uint64_t at = make_object(TASK_TYPE, 0, 0);

	memory_put(at + 136, coroutine, 8);
	memory_put(at + 144, make_text(name, 1, true), 8);
	return at;
}

/* The loop runs the task "inner", whose coroutine has called what has the
 * frame in the chunk. */
static uint64_t inner_task, outer_task;

static void make_tasks(void)
{
	uint64_t loop = CHUNK + 0x40, handle = make_object(OTHER_TYPE, 0, 0);
	uint64_t coroutine = make_coroutine("work", 0);

	make_type(FUTURE_TYPE, "_asyncio.Future", 0);
	make_type(TASK_TYPE, "_asyncio.Task", FUTURE_TYPE);
	make_type(OTHER_TYPE, "other", 0);
	inner_task = make_task("inner", coroutine);
	outer_task = make_task(
		"Task-12", make_coroutine("main", make_coroutine("waits", 0)));
	make_frame(loop, make_code("Handle._run", "/lib/asyncio/events.py", 80),
		   0, true);
	memory_put(loop + 72, handle, 8);
	/* by its first step */
	memory_put(handle + 24, make_object(OTHER_TYPE, inner_task, 0), 8);
	make_frame(CHUNK + 0x100, make_code("called", "/x.py", 3),
		   coroutine + 80, false);
	make_frame(coroutine + 80, make_code("work", "/x.py", 40), loop, true);
}

static void assert_chain(void)
{
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 7);
	assert_frame(1, "work", "/x.py", 40, false);
	assert_frame(2, "[task inner]", "(asyncio)", 0, false);
	assert_frame(3, "waits", "/x.py", 40, false);
	assert_frame(4, "main", "/x.py", 40, false);
	assert_frame(5, "[task]", "(asyncio)", 0, true);
	assert_frame(6, "Handle._run", "/lib/asyncio/events.py", 80, true);
}

START_TEST(a_task_is_above_its_event_loop)
{
	make_tasks();
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	assert_frame(1, "work", "/x.py", 40, false);
	assert_frame(2, "[task inner]", "(asyncio)", 0, true);
	/* another one's callback that happens to have a task */
	memory_put(inner_task + 136, make_coroutine("strange", 0), 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(1, "work", "/x.py", 40, true);
}
END_TEST

START_TEST(tasks_that_await_it_are_above_it)
{
	uint64_t wakes, future, cell, closure, group, items;

	make_tasks();
	wakes = make_object(OTHER_TYPE, 0, outer_task);
	memory_put(inner_task + 24, wakes, 8);
	/* it is for another method of the task */
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	memory_put(outer_task + 128, inner_task, 8);
	assert_chain();
	/* behind another callback */
	memory_put(inner_task + 24, make_object(OTHER_TYPE, 0, 0), 8);
	items = memory_take(8);
	memory_put(items, make_object(TUPLE_TYPE, 2, wakes), 8);
	memory_put(inner_task + 40, make_object(OTHER_TYPE, 1, items), 8);
	assert_chain();
	memory_put(inner_task + 40, 0, 8);
	/* by a future in a closure */
	future = make_object(FUTURE_TYPE, 0, wakes);
	memory_put(outer_task + 128, future, 8);
	cell = make_object(CELL_TYPE, future, 0);
	closure = make_object(TUPLE_TYPE, 1, cell);
	memory_put(inner_task + 24, make_object(OTHER_TYPE, 5, closure), 8);
	assert_chain();
	/* as a member of a group, whose attributes lie elsewhere */
	make_type(OTHER_TYPE, "TaskGroup", 0);
	(void)memory_take(32);
	group = make_object(OTHER_TYPE, 0, 0);
	memory_put(group - 32, make_object(0, 0, outer_task), 8);
	memory_put(inner_task + 24, make_object(METHOD_TYPE, 0, group), 8);
	assert_chain();
	make_type(OTHER_TYPE, "Other", 0);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
}
END_TEST

START_TEST(tasks_that_await_each_other_end)
{
	make_tasks();
	memory_put(inner_task + 24, make_object(OTHER_TYPE, 0, outer_task), 8);
	memory_put(outer_task + 24, make_object(OTHER_TYPE, 0, inner_task), 8);
	memory_put(inner_task + 128, outer_task, 8);
	memory_put(outer_task + 128, inner_task, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 16);
}
END_TEST

START_TEST(names_of_tasks_without_end_are_one_at_last)
{
	uint64_t text = make_text("request", 1, true);
	char name[16];

	make_tasks();
	memory_put(inner_task + 144, text, 8);
	for (unsigned i = 0; i < 300; i++) {
		snprintf(name, sizeof(name), "req%4u", i);
		memory_put_bytes(text + 48, name, 7);
		ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	}
	assert_frame(2, "[task, another name]", "(asyncio)", 0, true);
}
END_TEST

static void set_up_tasks(void)
{
	uint64_t group;

	set_up();
	make_tasks();
	make_type(OTHER_TYPE, "TaskGroup", 0);
	(void)memory_take(32);
	group = make_object(OTHER_TYPE, 0, 0);
	memory_put(group - 32, make_object(0, 0, outer_task), 8);
	memory_put(inner_task + 24, make_object(METHOD_TYPE, 0, group), 8);
	memory_put(outer_task + 24, make_object(OTHER_TYPE, 0, inner_task), 8);
}

static void look(unsigned round)
{
	(void)get(round & 1 ? 8 : 0);
	ck_assert_uint_le(count, 16);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
	memory_damage(set_up_tasks, tear_down, look);
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
	tcase_add_test(tcase, a_frame_has_the_line_that_it_executes);
	tcase_add_test(tcase, since_3_13_it_says_where_its_fields_are);
	tcase_add_test(tcase, a_task_is_above_its_event_loop);
	tcase_add_test(tcase, tasks_that_await_it_are_above_it);
	tcase_add_test(tcase, tasks_that_await_each_other_end);
	tcase_add_test(tcase, names_of_tasks_without_end_are_one_at_last);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
