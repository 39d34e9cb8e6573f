/* Functions of LuaJIT 2.1 in memory that is made up, and in memory that is
 * damaged. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"
#include "watch/unwind/unwinder.h"

enum {
	CODE = BASE + 0x100,    /* of the library */
	STACK = BASE + 0x1000,  /* the machine's */
	FRAME = STACK + 0x100,  /* of the interpreter, there */
	VALUES = BASE + 0x3000, /* Lua's */
	MOST = 64
};

static const struct memory_symbol symbols[] = {
	{"lua_pcall", CODE},
	{"luaJIT_setmode", CODE + 16},
	{"luaJIT_profile_start", CODE + 32},
	{NULL, 0}};
static const struct swz_script_module module = {memory_symbol, (void *)symbols,
						memory_read, NULL};
static struct swz_script_reader *lua;
static struct swz_script_frame frames[MOST];
static size_t count;
static uint64_t registers[SWZ_REGISTERS];
static uint64_t state, protos[2], base;

static uint64_t make_text(const char *text)
{
	uint64_t at = memory_take(24 + strlen(text) + 1);

	memory_put(at + 9, 4, 1);
	memory_put(at + 20, strlen(text), 4);
	memory_put_bytes(at + 24, text, strlen(text));
	return at;
}

/* Of four instructions, of which the third calls what the second has loaded:
 * the global function f. They are on lines LINE, LINE + 1, 2 and 3. */
static uint64_t make_proto(unsigned line)
{
	static const uint8_t lines[] = {1, 2, 3};
	const uint32_t code[] = {89, 54 | 2 << 8, 66 | 2 << 8, 75};
	uint64_t constants = memory_take(16), where = memory_take(8);
	uint64_t proto = memory_take(104 + sizeof(code));

	memory_put_bytes(where, lines, sizeof(lines));
	memory_put(constants, make_text("f"), 8);
	memory_put(proto + 9, 7, 1);
	memory_put(proto + 12, 4, 4);
	memory_put(proto + 32, constants + 8, 8);
	memory_put(proto + 48, 1, 4);
	memory_put(proto + 64, make_text("@x.lua"), 8);
	memory_put(proto + 72, line, 4);
	memory_put(proto + 76, 10, 4);
	memory_put(proto + 80, where, 8);
	memory_put_bytes(proto + 104, code, sizeof(code));
	return proto;
}

static uint64_t pc_of(uint64_t proto, unsigned at)
{
	return proto + 104 + 4 * at;
}

/* The function of a frame, with its link; 0: one in C. */
static void put_frame(unsigned slot, uint64_t proto, uint64_t link)
{
	uint64_t function = memory_take(48);

	memory_put(function + 9, 8, 1);
	memory_put(function + 10, proto ? 0 : 1, 1);
	memory_put(function + 32, proto ? proto + 104 : 0, 8);
	memory_put(VALUES + 8ull * slot, function | ~8ull << 47, 8);
	memory_put(VALUES + 8ull * (slot + 1), link, 8);
}

/* (main), which C has called, has called f, and that itself. */
static void set_up(void)
{
	memory_begin();
	protos[0] = make_proto(0);
	protos[1] = make_proto(10);
	state = memory_take(96 + 1024);
	memory_put(state + 9, 6, 1);
	memory_put(state + 16, state + 96, 8);
	memory_put(state + 32, VALUES + 80, 8);
	memory_put(state + 48, VALUES + 512, 8);
	memory_put(state + 56, VALUES, 8);
	memory_put(state + 80, FRAME, 8);
	put_frame(2, protos[0], 2 * 8 | 1);
	/* (the slot of the function is the second of its caller's) */
	put_frame(6, protos[1], pc_of(protos[0], 3));
	put_frame(10, protos[1], pc_of(protos[1], 3));
	base = VALUES + 8 * 12;
	memory_put(FRAME + 16, state, 8);
	memory_put(FRAME + 24, pc_of(protos[1], 2), 8);
	memset(registers, 0, sizeof(registers));
	registers[SWZ_DX] = base;
	registers[SWZ_BX] = pc_of(protos[1], 4);
	lua = swz_luajit_language.open(&module);
	ck_assert_ptr_nonnull(lua);
}

static void tear_down(void)
{
	swz_luajit_language.close(lua);
}

static enum swz_script_result read_frames(uint64_t sp)
{
	return swz_luajit_language.frames(
		lua,
		&(struct swz_script_thread){.stack_start = sp,
					    .registers = registers,
					    .register_count = SWZ_REGISTERS,
					    .pc = CODE + 64},
		frames, MOST, &count);
}

static void assert_frame(size_t i, const char *name, uint32_t line,
			 bool is_entry)
{
	ck_assert_str_eq(frames[i].code->name, name);
	ck_assert_str_eq(frames[i].code->file, "x.lua");
	ck_assert_uint_eq(frames[i].line, line);
	ck_assert_int_eq(frames[i].is_entry, is_entry);
}

START_TEST(functions_have_the_names_by_which_they_are_called)
{
	ck_assert_int_eq(read_frames(FRAME), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "f", 13, false);
	assert_frame(1, "f", 12, false);
	assert_frame(2, "(main)", 2, true);
	ck_assert_uint_eq(lua->inner_loop, CODE + 64);
	ck_assert_uint_eq(lua->sp, 0);
}
END_TEST

START_TEST(a_routine_of_the_interpreter_is_a_part_of_it)
{
	memory_put(FRAME - 8, CODE + 128, 8);
	ck_assert_int_eq(read_frames(FRAME - 8), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "f", 13, false);
	ck_assert_uint_eq(lua->sp, FRAME);
}
END_TEST

START_TEST(while_c_runs_the_state_says_where_it_is)
{
	memory_put(state + 32, VALUES + 8 * 8, 8);
	memory_put(FRAME - 8, CODE + 256, 8);
	ck_assert_int_eq(read_frames(STACK), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 2);
	assert_frame(0, "f", 11, false);
	assert_frame(1, "(main)", 2, true);
	ck_assert_uint_eq(lua->inner_loop, CODE + 256);
}
END_TEST

START_TEST(compiled_code_shows_where_it_was_entered)
{
	uint32_t size = 0;

	/* two instructions, what runs, and its base */
	memory_put(state + 96 + 400, 20 << 8 | 95, 4);
	memory_put(state + 96 + 404, 20 << 8 | 96, 4);
	memory_put(state + 96 + 408, state, 8);
	memory_put(state + 96 + 416, VALUES + 8 * 8, 8);
	ck_assert_int_eq(read_frames(STACK + 0x20), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 2);
	assert_frame(0, "f", 0, false);
	ck_assert_int_eq(
		swz_luajit_language.leave(lua, 1, STACK + 0x20, true, &size),
		SWZ_LEAVE_BY_SIZE_WITH_RBP);
	ck_assert_uint_eq(size, FRAME + 80 - (STACK + 0x20));
	ck_assert_int_eq(
		swz_luajit_language.leave(lua, 1, FRAME + 80, false, &size),
		SWZ_LEAVE_UNKNOWN);
}
END_TEST

START_TEST(a_call_that_runs_no_function_in_lua_is_one)
{
	put_frame(2, 0, 2 * 8 | 1);
	memory_put(state + 32, VALUES + 8 * 4, 8);
	ck_assert_int_eq(read_frames(STACK), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 1);
	ck_assert_ptr_null(frames[0].code);
	ck_assert(frames[0].is_entry);
}
END_TEST

START_TEST(other_memory_is_no_state)
{
	memory_put(state + 80, FRAME + 8, 8);
	ck_assert_int_eq(read_frames(FRAME), SWZ_SCRIPT_NONE);
	memory_put(state + 80, FRAME, 8);
	memory_put(state + 9, 5, 1);
	ck_assert_int_eq(read_frames(FRAME), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(links_that_lead_nowhere_end)
{
	/* to itself; beyond the stack */
	memory_put(VALUES + 8 * 7, 0 * 8 | 1, 8);
	ck_assert_int_eq(read_frames(FRAME), SWZ_SCRIPT_LOST);
	memory_put(VALUES + 8 * 7, ~0ull << 4 | 1, 8);
	ck_assert_int_eq(read_frames(FRAME), SWZ_SCRIPT_LOST);
}
END_TEST

static void look(unsigned round)
{
	uint32_t size;

	(void)read_frames(round % 3 ? FRAME : STACK + 8 * (round % 32));
	ck_assert_uint_le(count, MOST);
	(void)swz_luajit_language.leave(lua, 1, STACK, true, &size);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("luajit_frames");
	TCase *tcase = tcase_create("luajit_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase,
		       functions_have_the_names_by_which_they_are_called);
	tcase_add_test(tcase, a_routine_of_the_interpreter_is_a_part_of_it);
	tcase_add_test(tcase, while_c_runs_the_state_says_where_it_is);
	tcase_add_test(tcase, compiled_code_shows_where_it_was_entered);
	tcase_add_test(tcase, a_call_that_runs_no_function_in_lua_is_one);
	tcase_add_test(tcase, other_memory_is_no_state);
	tcase_add_test(tcase, links_that_lead_nowhere_end);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
