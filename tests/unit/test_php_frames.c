/* Frames of PHP in memory that is made up, and in memory that is damaged. The
 * offsets are those of PHP's headers, as gcc has them. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	GLOBALS = BASE + 0x100,
	OFFSET = BASE + 0x400, /* where the globals are in a thread's memory */
	FUNCTION = BASE + 0x410,
	THREAD = BASE + 0x500, /* what %fs holds */
	FRAMES = BASE + 0x1000,
	TOP = 1 << 17,
	PID = 7
};

static struct memory_symbol symbols[] = {{"execute_ex", BASE},
					 {"executor_globals", GLOBALS},
					 {"zend_execute_internal", BASE + 8},
					 {"", OFFSET},
					 {"", FUNCTION},
					 {NULL, 0}};
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *php;
static struct swz_script_frame frames[16];
static size_t count;

static uint64_t make_text(const char *text)
{
	uint64_t at = memory_take(24 + strlen(text) + 1);

	memory_put(at + 16, strlen(text), 8);
	memory_put_bytes(at + 24, text, strlen(text));
	return at;
}

/* Of 8.2; four instructions, on the lines from LINE on. */
static uint64_t make_function(const char *name, uint64_t class, uint32_t line)
{
	uint64_t at = memory_take(232), code = memory_take(4 * 32);

	memory_put(at, 2, 1);
	memory_put(at + 8, name ? make_text(name) : 0, 8);
	memory_put(at + 16, class, 8);
	memory_put(at + 80, 4, 4);
	memory_put(at + 88, code, 8);
	memory_put(at + 152, make_text("/x.php"), 8);
	memory_put(at + 160, line, 4);
	for (uint32_t i = 0; i < 4; i++)
		memory_put(code + 32 * i + 24, line + i, 4);
	return at;
}

static uint64_t frame_at(unsigned index)
{
	return FRAMES + 0x100 * index;
}

/* Frame INDEX, called by the one before, which executes instruction AT. */
static void make_frame(unsigned index, uint64_t function, unsigned at,
		       uint32_t flags)
{
	memory_put(frame_at(index),
		   function ? memory_get(function + 88) + 32 * at : 0, 8);
	memory_put(frame_at(index) + 24, function, 8);
	memory_put(frame_at(index) + 40, flags, 4);
	memory_put(frame_at(index) + 48, index ? frame_at(index - 1) : 0, 8);
	memory_put(GLOBALS + 488, frame_at(index), 8);
}

static void set_up(void)
{
	uint64_t class, built_in;

	memory_begin();
	class = memory_take(16);
	memory_put(class + 8, make_text("Thing"), 8);
	built_in = memory_take(64);
	memory_put(built_in, 1, 1);
	make_frame(0, make_function(NULL, 0, 1), 2, TOP);
	make_frame(1, make_function("run", class, 10), 1, 0);
	make_frame(2, built_in, 0, 0);
	make_frame(3, make_function("{closure}", class, 20), 3, TOP);
	php = swz_php_language.open(&module);
	ck_assert_ptr_nonnull(php);
}

static void tear_down(void)
{
	swz_php_language.close(php);
}

static enum swz_script_result get(int32_t tid, uint64_t loop_register)
{
	const struct swz_script_thread thread = {.pid = PID,
						 .tid = tid,
						 .loop_register = loop_register,
						 .thread_pointer = THREAD};

	return swz_php_language.frames(php, &thread, frames, 16, &count);
}

static void assert_frame(size_t i, const char *name, uint32_t first,
			 uint32_t line, bool is_entry)
{
	ck_assert_str_eq(frames[i].code->name, name);
	ck_assert_str_eq(frames[i].code->file, "/x.php");
	ck_assert_uint_eq(frames[i].code->line, first);
	ck_assert_uint_eq(frames[i].line, line);
	ck_assert_int_eq(frames[i].is_entry, is_entry);
}

START_TEST(functions_of_the_script_are_found)
{
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "Thing::{closure}:20", 20, 23, true);
	assert_frame(1, "Thing::run", 10, 11, false);
	assert_frame(2, "{main}", 1, 3, true);
	ck_assert_int_eq(get(PID + 1, 0), SWZ_SCRIPT_NONE);
}
END_TEST

static void look(unsigned round)
{
	(void)get(PID, round & 1 ? memory_get(OBJECTS) : 0);
	ck_assert_uint_le(count, 16);
}

/* Of a PHP that is thread-safe: the globals are 0x20 behind a thread's cache,
 * whose address is 16 below what %fs holds. */
static void set_up_thread(void)
{
	static const uint8_t from_table[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x05, 0x25, 0, 0, 0, 0xc3};

	symbols[1].name = "";
	symbols[3].name = "executor_globals_offset";
	symbols[4].name = "tsrm_get_ls_cache_tcb_offset";
	set_up();
	memory_put(OFFSET, 0x20, 8);
	memory_put_bytes(FUNCTION, from_table, sizeof(from_table));
	memory_put(FUNCTION + 11 + 0x25, (uint64_t)-16, 8);
	memory_put(THREAD - 16, GLOBALS - 0x20, 8);
}

START_TEST(each_thread_may_have_its_globals)
{
	static const uint8_t in_itself[] = {0x48, 0xc7, 0xc0, 0xf0,
					    0xff, 0xff, 0xff, 0xc3};

	tear_down();
	set_up_thread();
	ck_assert_int_eq(get(PID + 1, 0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(1, "Thing::run", 10, 11, false);
	memory_put_bytes(FUNCTION, in_itself, sizeof(in_itself));
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	/* a thread of another kind, and code that is not known */
	memory_put(THREAD - 16, 0, 8);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_NONE);
	memory_put(THREAD - 16, GLOBALS - 0x20, 8);
	memory_put(FUNCTION, 0x90, 1);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_NONE);
	memory_damage(set_up_thread, tear_down, look);
}
END_TEST

START_TEST(the_register_of_the_loop_is_newer)
{
	uint64_t code = memory_get(memory_get(frame_at(3) + 24) + 88);

	ck_assert_int_eq(get(PID, code + 32), SWZ_SCRIPT_READ);
	assert_frame(0, "Thing::{closure}:20", 20, 21, true);
	/* another function's, or something else */
	ck_assert_int_eq(get(PID, code + 4 * 32), SWZ_SCRIPT_READ);
	assert_frame(0, "Thing::{closure}:20", 20, 23, true);
	ck_assert_int_eq(get(PID, code + 33), SWZ_SCRIPT_READ);
	assert_frame(0, "Thing::{closure}:20", 20, 23, true);
}
END_TEST

START_TEST(what_is_no_function_is_not_believed)
{
	memory_put(memory_get(frame_at(1) + 24), 9, 1);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_LOST);
	memory_put(frame_at(1) + 24, 0xdead0000, 8);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(a_circle_of_frames_ends)
{
	memory_put(frame_at(0) + 48, frame_at(3), 8);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 16);
	memory_put(frame_at(2) + 48, frame_at(2), 8);
	memory_put(GLOBALS + 488, frame_at(2), 8);
	ck_assert_int_eq(get(PID, 0), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("php_frames");
	TCase *tcase = tcase_create("php_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, functions_of_the_script_are_found);
	tcase_add_test(tcase, each_thread_may_have_its_globals);
	tcase_add_test(tcase, the_register_of_the_loop_is_newer);
	tcase_add_test(tcase, what_is_no_function_is_not_believed);
	tcase_add_test(tcase, a_circle_of_frames_ends);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
