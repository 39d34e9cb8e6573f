/* Frames of Perl in memory that is made up, and in memory that is damaged. The
 * offsets are those of Perl's headers, as gcc has them. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	REVISION = BASE + 0x100,
	VERSION = BASE + 0x108,
	CURRENT = BASE + 0x110,
	NAMES = BASE + 0x200,
	INTERPRETER = BASE + 0x400,
	CONTEXTS = BASE + 0x1000,
	SORT_CONTEXTS = BASE + 0x1800,
	MAIN_STACK = BASE + 0x2000,
	SORT_STACK = BASE + 0x2100,
	COP = BASE + 0x300, /* variables of a Perl without threads */
	STACK = BASE + 0x308,
	PID = 7,
	NEXT_STATE = 2
};

static struct memory_symbol symbols[] = {{"Perl_runops_standard", BASE},
					 {"PL_thr_key", BASE + 8},
					 {"PL_curinterp", CURRENT},
					 {"PL_revision", REVISION},
					 {"PL_version", VERSION},
					 {"PL_op_name", NAMES},
					 {"", COP},
					 {"", STACK},
					 {NULL, 0}};
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *perl;
static struct swz_script_frame frames[16];
static size_t count;

static uint64_t make_text(const char *text)
{
	uint64_t at = memory_take(strlen(text) + 1);

	memory_put_bytes(at, text, strlen(text) + 1);
	return at;
}

static uint64_t make_name(const char *text)
{
	uint64_t at = memory_take(8 + strlen(text) + 1);

	memory_put(at + 4, strlen(text), 4);
	memory_put_bytes(at + 8, text, strlen(text));
	return at;
}

static uint64_t make_sv(uint32_t type, uint64_t body)
{
	uint64_t at = memory_take(24);

	memory_put(at, body, 8);
	memory_put(at + 12, type, 4);
	return at;
}

static bool has_globs; /* for files, as without threads */

static uint64_t make_file(const char *file)
{
	uint64_t glob = memory_take(64);
	char name[64] = "_<";

	if (!has_globs)
		return make_text(file);
	strcat(name, file);
	memory_put(glob + 32, make_name(name), 8);
	return make_sv(9, glob);
}

static uint64_t make_cop(const char *file, uint32_t line)
{
	uint64_t at = memory_take(88);

	memory_put(at + 32, NEXT_STATE, 2);
	memory_put(at + 36, line, 4);
	memory_put(at + 48, make_file(file), 8);
	return at;
}

static uint64_t make_sub(const char *package, const char *name, uint32_t line)
{
	uint64_t stash = memory_take(96), glob = memory_take(64);
	uint64_t sub = memory_take(136);

	memory_put(stash + 32, make_name(package), 8);
	memory_put(glob + 32, make_name(name), 8);
	memory_put(glob + 40, make_sv(12, stash), 8);
	memory_put(sub + 40, make_cop("x.pl", line), 8);
	memory_put(sub + 56, make_sv(9, glob), 8);
	memory_put(sub + 64, make_text("/x.pl"), 8);
	return make_sv(13, sub);
}

/* An entry of a stack; CALLER: what its caller executes. */
static void put_context(uint64_t at, unsigned type, uint64_t sub,
			uint64_t caller)
{
	memory_put(at, type, 1);
	memory_put(at + 16, caller, 8);
	memory_put(at + 72, sub, 8);
}

static void put_stack(uint64_t at, uint64_t contexts, int32_t top,
		      uint64_t previous)
{
	memory_put(at + 8, contexts, 8);
	memory_put(at + 16, previous, 8);
	memory_put(at + 32, (uint32_t)top, 4);
}

static void set_up(void)
{
	memory_begin();
	memory_put(REVISION, 5, 1);
	memory_put(VERSION, 36, 1);
	memory_put(NAMES, make_text("null operation"), 8);
	memory_put(NAMES + 8, make_text("stub      "), 8);
	memory_put(NAMES + 16, make_text("nextstate"), 8);
	memory_put(CURRENT, INTERPRETER, 8);
	/* the program calls run, which sorts by a block that calls a closure */
	put_context(CONTEXTS, 2, 0, 0);
	put_context(CONTEXTS + 104, 9, make_sub("Thing", "run", 10),
		    make_cop("/x.pl", 50));
	put_context(SORT_CONTEXTS, 9, make_sub("main", "__ANON__", 20),
		    make_cop("/x.pl", 12));
	put_stack(MAIN_STACK, CONTEXTS, 1, 0);
	put_stack(SORT_STACK, SORT_CONTEXTS, 0, MAIN_STACK);
	memory_put(COP, make_cop("/x.pl", 21), 8);
	memory_put(STACK, SORT_STACK, 8);
	memory_put(INTERPRETER + 208, memory_get(COP), 8);
	memory_put(INTERPRETER + 224, SORT_STACK, 8);
	perl = swz_perl_language.open(&module);
	ck_assert_ptr_nonnull(perl);
}

static void tear_down(void)
{
	swz_perl_language.close(perl);
}

static enum swz_script_result get(int32_t tid)
{
	const struct swz_script_thread thread = {.pid = PID, .tid = tid};

	return swz_perl_language.frames(perl, &thread, frames, 16, &count);
}

static void assert_frame(size_t i, const char *name, uint32_t line,
			 bool is_entry)
{
	ck_assert_str_eq(frames[i].code->name, name);
	ck_assert_str_eq(frames[i].code->file, "/x.pl");
	ck_assert_uint_eq(frames[i].line, line);
	ck_assert_int_eq(frames[i].is_entry, is_entry);
}

START_TEST(subs_are_found_in_all_stacks)
{
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "main::__ANON__:20", 21, true);
	assert_frame(1, "Thing::run", 12, false);
	assert_frame(2, "(main)", 50, true);
	ck_assert_int_eq(get(PID + 1), SWZ_SCRIPT_NONE);
}
END_TEST

static void look(unsigned round)
{
	(void)round;
	(void)get(PID);
	ck_assert_uint_le(count, 16);
}

/* Its members are variables. */
START_TEST(without_threads_there_is_no_interpreter)
{
	tear_down();
	has_globs = true;
	symbols[1].name = "";
	symbols[6].name = "PL_curcop";
	symbols[7].name = "PL_curstackinfo";
	set_up();
	memory_put(CURRENT, 0, 8);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "main::__ANON__:20", 21, true);
	assert_frame(1, "Thing::run", 12, false);
	assert_frame(2, "(main)", 50, true);
	memory_put(STACK, 0, 8);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_NONE);
	memory_damage(set_up, tear_down, look);
}
END_TEST

START_TEST(an_eval_of_a_text_is_a_frame_and_one_of_a_block_is_none)
{
	put_context(SORT_CONTEXTS, 11, 0, make_cop("/x.pl", 12));
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "(require)", 21, true);
	memory_put(SORT_CONTEXTS, 11 | 0x40, 1);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 2);
	assert_frame(0, "Thing::run", 21, false);
}
END_TEST

START_TEST(other_versions_are_left)
{
	memory_put(VERSION, 34, 1);
	ck_assert_ptr_null(swz_perl_language.open(&module));
	memory_put(VERSION, 43, 1);
	ck_assert_ptr_null(swz_perl_language.open(&module));
}
END_TEST

START_TEST(what_is_no_sub_is_not_believed)
{
	memory_put(memory_get(CONTEXTS + 104 + 72) + 12, 9, 1);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_LOST);
	memory_put(CONTEXTS + 104 + 72, 0xdead0000, 8);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(a_circle_of_stacks_ends)
{
	memory_put(MAIN_STACK + 16, SORT_STACK, 8);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 16);
	memory_put(MAIN_STACK + 32, 0x7fffffff, 4);
	ck_assert_int_eq(get(PID), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("perl_frames");
	TCase *tcase = tcase_create("perl_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, subs_are_found_in_all_stacks);
	tcase_add_test(tcase, without_threads_there_is_no_interpreter);
	tcase_add_test(tcase,
		       an_eval_of_a_text_is_a_frame_and_one_of_a_block_is_none);
	tcase_add_test(tcase, other_versions_are_left);
	tcase_add_test(tcase, what_is_no_sub_is_not_believed);
	tcase_add_test(tcase, a_circle_of_stacks_ends);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
