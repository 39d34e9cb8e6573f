/* Functions of Lua 5.4 in memory that is made up, and in memory that is
 * damaged. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	LOOP = BASE + 0x100,
	IDENT = BASE + 0x200,
	STACK = BASE + 0x1000,  /* the machine's */
	VALUES = BASE + 0x3000, /* Lua's */
	MOST = 64
};

static const struct memory_symbol symbols[] = {{"luaV_execute", LOOP},
					       {"lua_ident", IDENT},
					       {"lua_callk", BASE + 0x300},
					       {"luaL_openlibs", BASE + 0x400},
					       {NULL, 0}};
static const struct swz_script_module module = {memory_symbol, (void *)symbols,
						memory_read, NULL};
static struct swz_script_reader *lua;
static struct swz_script_frame frames[MOST];
static size_t count;
static uint64_t registers[16];
static uint64_t state, calls[4], protos[2];

static uint64_t make_text(const char *text)
{
	uint64_t at = memory_take(24 + strlen(text) + 1);

	memory_put(at + 8, 4, 1);
	memory_put(at + 11, strlen(text), 1);
	memory_put_bytes(at + 24, text, strlen(text));
	return at;
}

/* Of four instructions, of which the third calls what the first has loaded: the
 * global function f. They are on lines LINE + 1, 2, 2, 3. */
static uint64_t make_proto(unsigned line)
{
	static const uint8_t lines[] = {1, 1, 0, 1};
	const uint32_t code[] = {11 | 3 << 7, 1 | 4 << 7, 68 | 3 << 7, 0};
	uint64_t proto = memory_take(128), constants = memory_take(16);
	uint64_t at = memory_take(sizeof(code)), where = memory_take(8);

	memory_put_bytes(at, code, sizeof(code));
	memory_put_bytes(where, lines, sizeof(lines));
	memory_put(constants, make_text("f"), 8);
	memory_put(constants + 8, 0x44, 1);
	memory_put(proto + 8, 10, 1);
	memory_put(proto + 20, 1, 4);
	memory_put(proto + 24, 4, 4);
	memory_put(proto + 28, 4, 4);
	memory_put(proto + 44, line, 4);
	memory_put(proto + 56, constants, 8);
	memory_put(proto + 64, at, 8);
	memory_put(proto + 88, where, 8);
	memory_put(proto + 112, make_text("@x.lua"), 8);
	return proto;
}

/* A call of the function in a slot, behind the instruction AT. */
static uint64_t make_call(uint64_t previous, unsigned slot, uint64_t proto,
			  unsigned at, unsigned status)
{
	uint64_t call = memory_take(64), closure = memory_take(32);

	memory_put(closure + 24, proto, 8);
	memory_put(VALUES + 16ull * slot, closure, 8);
	memory_put(VALUES + 16ull * slot + 8, 0x46, 1);
	memory_put(call, VALUES + 16ull * slot, 8);
	memory_put(call + 16, previous, 8);
	if (proto)
		memory_put(call + 32, memory_get(proto + 64) + 4 * at + 4, 8);
	memory_put(call + 62, status, 2);
	return call;
}

static void set_up(void)
{
	memory_begin();
	memory_put_bytes(IDENT, "$LuaVersion: Lua 5.4.6  Copyright", 33);
	state = memory_take(200);
	protos[0] = make_proto(0);
	protos[1] = make_proto(10);
	calls[0] = make_call(0, 0, 0, 0, 2);
	calls[1] = make_call(calls[0], 1, protos[0], 2, 4);
	calls[2] = make_call(calls[1], 2, protos[1], 2, 0);
	calls[3] = make_call(calls[2], 3, protos[1], 0, 0);
	memory_put(state + 8, 8, 1);
	memory_put(state + 16, VALUES + 128, 8);
	memory_put(state + 24, state + 200, 8);
	memory_put(state + 32, calls[3], 8);
	memory_put(state + 40, VALUES + 512, 8);
	memory_put(state + 48, VALUES, 8);
	memory_put(STACK + 800, state, 8);
	memset(registers, 0, sizeof(registers));
	lua = swz_lua_language.open(&module);
	ck_assert_ptr_nonnull(lua);
}

static void tear_down(void)
{
	swz_lua_language.close(lua);
}

static enum swz_script_result read_frames(void)
{
	return swz_lua_language.frames(
		lua,
		&(struct swz_script_thread){.stack_start = STACK,
					    .registers = registers,
					    .register_count = 16},
		frames, MOST, &count);
}

static void assert_frame(size_t i, const char *name, uint32_t line, bool entry)
{
	ck_assert_str_eq(frames[i].code->name, name);
	ck_assert_str_eq(frames[i].code->file, "x.lua");
	ck_assert_uint_eq(frames[i].line, line);
	ck_assert_int_eq(frames[i].is_entry, entry);
}

START_TEST(functions_have_names_files_and_lines)
{
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 3);
	assert_frame(0, "f", 11, false);
	assert_frame(1, "f", 12, false);
	assert_frame(2, "(main)", 2, true);
	ck_assert_uint_eq(frames[0].code->line, 10);
}
END_TEST

START_TEST(the_innermost_instruction_is_in_a_register)
{
	registers[12] = memory_get(protos[1] + 64) + 4 * 4;
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_READ);
	assert_frame(0, "f", 13, false);
}
END_TEST

START_TEST(what_c_calls_has_no_name)
{
	memory_put(calls[3] + 62, 4, 2);
	memory_put(calls[2] + 62, 32, 2);
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_READ);
	assert_frame(0, "function:10", 11, true);
}
END_TEST

START_TEST(a_state_may_be_in_a_register)
{
	memory_put(STACK + 800, 0, 8);
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_NONE);
	registers[3] = state;
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_READ);
}
END_TEST

START_TEST(calls_in_a_circle_end)
{
	memory_put(calls[1] + 16, calls[3], 8);
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, MOST);
	for (size_t i = 1; i < 4; i++)
		memory_put(calls[i] + 62, 2, 2);
	ck_assert_int_eq(read_frames(), SWZ_SCRIPT_LOST);
}
END_TEST

START_TEST(other_versions_are_none)
{
	memory_put_bytes(IDENT, "$LuaVersion: Lua 5.3.6  Copyright", 33);
	ck_assert_ptr_null(swz_lua_language.open(&module));
}
END_TEST

/* Stripped: luaD_call and luaD_callnoyield lead to it. */
START_TEST(the_loop_is_what_two_calls_that_are_fresh_lead_to)
{
	static const struct memory_symbol stripped[] = {
		{"lua_ident", IDENT},
		{"lua_callk", BASE + 0x300},
		{"luaL_openlibs", BASE + 0x800},
		{NULL, 0}};
	static const uint8_t store[] = {0xba, 4,    0,    0,    0,
					0x66, 0x89, 0x50, 0x3e, 0xe8};
	const struct swz_script_module other = {memory_symbol, (void *)stripped,
						memory_read, NULL};
	struct swz_script_reader *reader;

	for (uint64_t at = BASE + 0x400; at <= BASE + 0x500; at += 0x100) {
		ck_assert_ptr_null(swz_lua_language.open(&other));
		memory_put_bytes(at, store, sizeof(store));
		memory_put(at + sizeof(store),
			   BASE + 0x700 - (at + sizeof(store) + 4), 4);
	}
	reader = swz_lua_language.open(&other);
	ck_assert_ptr_nonnull(reader);
	ck_assert_uint_eq(reader->loop, BASE + 0x700);
	swz_lua_language.close(reader);
}
END_TEST

static void look(unsigned round)
{
	registers[round % 16] = round % 2 ? state : 0;
	(void)read_frames();
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("lua_frames");
	TCase *tcase = tcase_create("lua_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, functions_have_names_files_and_lines);
	tcase_add_test(tcase, the_innermost_instruction_is_in_a_register);
	tcase_add_test(tcase, what_c_calls_has_no_name);
	tcase_add_test(tcase, a_state_may_be_in_a_register);
	tcase_add_test(tcase, calls_in_a_circle_end);
	tcase_add_test(tcase, other_versions_are_none);
	tcase_add_test(tcase,
		       the_loop_is_what_two_calls_that_are_fresh_lead_to);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
