/* Functions of JavaScript in memory that is made up, and in memory that is
 * damaged. Places and types are those of node 20, as its symbols v8dbg_* have
 * them. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	CONSTANTS = BASE + 0x100,
	FUNCTION_TYPE = 2066,
	SHARED_TYPE = 262,
	SCRIPT_TYPE = 167,
	SCOPE_TYPE = 261,
	ONE_BYTE = 40,
	CONS = 41,
	FRAME = 0x7000 /* its frame pointer */
};

static const struct {
	const char *name;
	uint32_t value;
} constants[] = {
	{"v8dbg_class_Map__instance_type__uint16_t", 12},
	{"v8dbg_class_JSFunction__shared__SharedFunctionInfo", 24},
	{"v8dbg_class_SharedFunctionInfo__name_or_scope_info__Object", 16},
	{"v8dbg_class_SharedFunctionInfo__script_or_debug_info__HeapObject",
	 32},
	{"v8dbg_class_Script__name__Object", 16},
	{"v8dbg_class_Script__source__Object", 8},
	{"v8dbg_class_String__length__int32_t", 12},
	{"v8dbg_class_SeqOneByteString__chars__char", 16},
	{"v8dbg_class_ExternalString__resource__Object", 16},
	{"v8dbg_class_ThinString__actual__String", 16},
	{"v8dbg_class_ConsString__first__String", 16},
	{"v8dbg_scopeinfo_idx_ncontextlocals", 2},
	{"v8dbg_scopeinfo_idx_first_vars", 3},
	{"v8dbg_type_JSFunction__JS_FUNCTION_TYPE", FUNCTION_TYPE},
	{"v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_TYPE",
	 SHARED_TYPE},
	{"v8dbg_type_Script__SCRIPT_TYPE", SCRIPT_TYPE},
	{"v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE", SCOPE_TYPE},
};

#define CONSTANTS_COUNT (sizeof(constants) / sizeof(*constants))

static struct memory_symbol symbols[CONSTANTS_COUNT + 1];
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *node;
static uint64_t function, scope;

static uint64_t make_object(uint32_t type, size_t bytes)
{
	uint64_t map = memory_take(16), at = memory_take(bytes);

	memory_put(map + 12, type, 2);
	memory_put(at, map + 1, 8);
	return at + 1;
}

static uint64_t make_text(const char *text)
{
	uint64_t at = make_object(ONE_BYTE, 16 + strlen(text) + 1);

	memory_put(at - 1 + 12, strlen(text), 4);
	memory_put_bytes(at - 1 + 16, text, strlen(text));
	return at;
}

static uint64_t make_joined(const char *first, const char *second)
{
	uint64_t at = make_object(CONS, 32);

	memory_put(at - 1 + 16, make_text(first), 8);
	memory_put(at - 1 + 24, make_text(second), 8);
	return at;
}

static uint64_t number(uint32_t value)
{
	return (uint64_t)value << 32;
}

/* Of a function with one local, a name or 0, one that was guessed or 0. */
static uint64_t make_scope(uint64_t name, uint64_t guessed, uint32_t start)
{
	uint64_t at = make_object(SCOPE_TYPE, 8 + 8 * 16) - 1;
	const uint64_t slots[] = {0,
				  0,
				  number(1),
				  make_text("local"),
				  0,
				  name ? name : number(7),
				  number(0xffffffff),
				  guessed ? guessed : make_object(131, 16),
				  number(start),
				  number(start + 10)};

	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots); i++)
		memory_put(at + 8 + 8 * i, slots[i], 8);
	return at + 1;
}

static void name_function(uint64_t name_or_scope)
{
	memory_put(memory_get(function - 1 + 24) - 1 + 16, name_or_scope, 8);
}

static void set_up(void)
{
	uint64_t script, shared;

	memory_begin();
	for (size_t i = 0; i < CONSTANTS_COUNT; i++) {
		symbols[i] = (struct memory_symbol){constants[i].name,
						    CONSTANTS + 4 * i};
		memory_put(CONSTANTS + 4 * i, constants[i].value, 4);
	}
	script = make_object(SCRIPT_TYPE, 64);
	memory_put(script - 1 + 8, make_text("// a\n\nfunction f() {}\n"), 8);
	memory_put(script - 1 + 16, make_text("file:///x.js"), 8);
	shared = make_object(SHARED_TYPE, 64);
	memory_put(shared - 1 + 32, script, 8);
	function = make_object(FUNCTION_TYPE, 64);
	memory_put(function - 1 + 24, shared, 8);
	scope = make_scope(make_text("f"), 0, 16);
	name_function(scope);
	node = swz_node_language.open(&module);
	ck_assert_ptr_nonnull(node);
}

static void tear_down(void)
{
	swz_node_language.close(node);
}

/* A frame whose function is the one that the test asks for. */
static bool load_function(const void *stack, uint64_t address, uint64_t *word)
{
	*word = *(const uint64_t *)stack;
	return address == FRAME - 16;
}

/* NULL: it is none. */
static const struct swz_script_code *code_of(uint64_t of)
{
	const struct swz_script_place place = {
		.frame_pointer = FRAME, .load = load_function, .stack = &of};
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	return swz_node_language.functions(node, &place, frames)
		       ? frames[0].code
		       : NULL;
}

static void assert_function(const char *name, uint32_t line)
{
	const struct swz_script_code *code = code_of(function);

	ck_assert_ptr_nonnull(code);
	ck_assert_str_eq(code->name, name);
	ck_assert_str_eq(code->file, "/x.js");
	ck_assert_uint_eq(code->line, line);
	node->stacks++;
}

START_TEST(functions_have_their_name_file_and_line)
{
	assert_function("f", 3);
	name_function(
		make_scope(make_text(""), make_joined("Thing.", "run"), 2));
	assert_function("Thing.run", 1);
	name_function(make_scope(0, 0, 6));
	assert_function("(anonymous):3", 3);
	name_function(make_text("plain"));
	assert_function("plain", 0);
}
END_TEST

/* The garbage collector moves functions. */
START_TEST(what_was_met_holds_for_one_stack)
{
	ck_assert_str_eq(code_of(function)->name, "f");
	name_function(make_text("other"));
	ck_assert_str_eq(code_of(function)->name, "f");
	node->stacks++;
	ck_assert_str_eq(code_of(function)->name, "other");
}
END_TEST

START_TEST(what_is_no_function_is_none)
{
	ck_assert_ptr_null(code_of(scope));
	ck_assert_ptr_null(code_of(function - 1));
	ck_assert_ptr_null(code_of(0xdead0001));
	ck_assert_ptr_null(code_of(0));
}
END_TEST

START_TEST(a_text_made_of_itself_ends)
{
	uint64_t text = make_joined("a", "b");

	memory_put(text - 1 + 16, text, 8);
	memory_put(text - 1 + 24, text, 8);
	name_function(text);
	(void)code_of(function);
}
END_TEST

START_TEST(places_that_cannot_be_are_refused)
{
	memory_put(CONSTANTS + 4, 1 << 20, 4);
	ck_assert_ptr_null(swz_node_language.open(&module));
	symbols[3].name = "";
	memory_put(CONSTANTS + 4, 24, 4);
	ck_assert_ptr_null(swz_node_language.open(&module));
}
END_TEST

static void look(unsigned round)
{
	(void)round;
	node->stacks++;
	(void)code_of(function);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("node_frames");
	TCase *tcase = tcase_create("node_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, functions_have_their_name_file_and_line);
	tcase_add_test(tcase, what_was_met_holds_for_one_stack);
	tcase_add_test(tcase, what_is_no_function_is_none);
	tcase_add_test(tcase, a_text_made_of_itself_ends);
	tcase_add_test(tcase, places_that_cannot_be_are_refused);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
