/* Functions of JavaScript in memory that is made up, and in memory that is
 * damaged: where a frame is interpreted, what the baseline compiler made, and
 * what the optimising one put into each other. Places and types are those of
 * node 20, as its symbols v8dbg_* have them. */

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
	BYTECODE_TYPE = 191,
	TABLE_TYPE = 190,
	STREAM_TYPE = 252,
	ARRAY_TYPE = 175,
	LENGTHS = BASE + 0x400, /* of bytecodes */
	KINDS = 198,
	FRAME = 0x7000, /* its frame pointer */
	STACK = 0x6000  /* its stack pointer */
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
	{"_ZN2v88internal7Version6major_E", 11},
	{"_ZN2v88internal7Version6minor_E", 3},
	{"v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE", STREAM_TYPE},
	{"v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE", BYTECODE_TYPE},
	{"v8dbg_type_InterpreterData__INTERPRETER_DATA_TYPE", 160},
	{"v8dbg_type_ByteArray__BYTE_ARRAY_TYPE", TABLE_TYPE},
	{"v8dbg_class_BytecodeArray__data__uintptr_t", 54},
};

#define CONSTANTS_COUNT (sizeof(constants) / sizeof(*constants))

static struct memory_symbol symbols[CONSTANTS_COUNT + 2];
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *node;
static uint64_t function, scope, script;

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

static uint64_t make_shared(uint64_t of)
{
	uint64_t shared = make_object(SHARED_TYPE, 64);

	memory_put(shared - 1 + 16, of, 8);
	memory_put(shared - 1 + 32, script, 8);
	return shared;
}

static void set_up(void)
{
	memory_begin();
	for (size_t i = 0; i < CONSTANTS_COUNT; i++) {
		symbols[i] = (struct memory_symbol){constants[i].name,
						    CONSTANTS + 4 * i};
		memory_put(CONSTANTS + 4 * i, constants[i].value, 4);
	}
	symbols[CONSTANTS_COUNT] = (struct memory_symbol){
		"_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE",
		LENGTHS};
	for (uint64_t i = 0; i < 3 * KINDS; i++)
		memory_put(LENGTHS + i, i % KINDS == 11 ? 3 : 2, 1);
	script = make_object(SCRIPT_TYPE, 64);
	/* (f begins behind character 16; a is 23, b is 30) */
	memory_put(script - 1 + 8,
		   make_text("// a\n\nfunction f() {\n  a();\n  b();\n}\n"), 8);
	memory_put(script - 1 + 16, make_text("file:///x.js"), 8);
	scope = make_scope(make_text("f"), 0, 16);
	function = make_object(FUNCTION_TYPE, 64);
	memory_put(function - 1 + 24, make_shared(scope), 8);
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

/* ---------------------------------------------------------------- code */

/* What the words of a frame are; 0: not to be had. */
struct words {
	uint64_t function, bytecode, offset, top;
};

static bool load_frame(const void *stack, uint64_t address, uint64_t *word)
{
	const struct words *words = stack;

	*word = address == FRAME - 16   ? words->function
		: address == FRAME - 32 ? words->bytecode
		: address == FRAME - 40 ? words->offset
		: address == STACK      ? words->top
					: 0;
	return *word != 0;
}

/* The lines of the functions in a frame, from the innermost on: FIRST, and
 * SECOND if there are two. */
static void assert_lines(struct words words, uint64_t pc,
			 const uint64_t *registers, uint32_t first,
			 uint32_t second)
{
	const struct swz_script_place place = {.pc = pc,
					       .frame_pointer = FRAME,
					       .is_innermost = registers,
					       .registers = registers,
					       .load = load_frame,
					       .stack = &words};
	struct swz_script_frame frames[SWZ_MOST_INLINED];
	size_t count;

	words.function = function;
	node->stacks++;
	count = swz_node_language.functions(node, &place, frames);
	ck_assert_uint_eq(count, second ? 2 : 1);
	ck_assert_str_eq(frames[count - 1].code->name, "f");
	ck_assert_uint_eq(frames[0].line, first);
	if (second)
		ck_assert_uint_eq(frames[1].line, second);
}

static uint64_t make_array(uint32_t type, const void *bytes, size_t size)
{
	uint64_t at = make_object(type, 64 + size);

	memory_put(at - 1 + 8, number((uint32_t)size), 8);
	memory_put_bytes(at - 1 + 16, bytes, size);
	return at;
}

/* Offset 0 is at a, offset 5 at b: differences to -1 and 0, doubled. (Those of
 * source positions are of twice the character and one; an offset that begins no
 * statement is negative, less 1.) */
static const uint8_t positions[] = {2, 2 * 2 * 24 & 0x7f, 2 * 5 + 1, 2 * 2 * 7};

/* Three instructions of 2, 3 and 2 bytes. */
static uint64_t make_bytecode(void)
{
	static const uint8_t instructions[] = {10, 0, 11, 0, 0, 10, 0};
	uint64_t at = make_object(BYTECODE_TYPE, 128);

	memory_put(at - 1 + 8, number(sizeof(instructions)), 8);
	memory_put(at - 1 + 32,
		   make_array(TABLE_TYPE, positions, sizeof(positions)), 8);
	memory_put_bytes(at - 1 + 54, instructions, sizeof(instructions));
	return at;
}

/* Of 0x200 bytes; returns where its instructions begin. */
static uint64_t make_code(uint64_t deopt, uint64_t table)
{
	uint64_t code = make_object(245, 64),
		 stream = make_object(STREAM_TYPE, 0x280) - 1;
	uint64_t at = ((stream + 16 + 31) & ~(uint64_t)31) - 16;

	memory_put(at, memory_get(stream), 8);
	memory_put(at + 8, code, 8);
	memory_put(code - 1 + 16, deopt, 8);
	memory_put(code - 1 + 24, table, 8);
	memory_put(code - 1 + 32, at + 1, 8);
	memory_put(code - 1 + 40, at + 16, 8);
	memory_put(code - 1 + 56, 0x200, 4);
	return at + 16;
}

START_TEST(the_interpreter_saves_where_it_is)
{
	uint64_t registers[16] = {[7] = STACK};
	struct words words = {.bytecode = make_bytecode(),
			      .offset = number(54 - 1 + 2)};

	assert_lines(words, 1, NULL, 4, 0);
	words.offset = number(54 - 1 + 5);
	assert_lines(words, 1, NULL, 5, 0);
	/* a register is newer, if an instruction begins there */
	registers[9] = 54 - 1 + 2;
	assert_lines(words, 1, registers, 4, 0);
	registers[9] = 54 - 1 + 3;
	assert_lines(words, 1, registers, 5, 0);
	registers[9] = 54 - 1 + 7;
	assert_lines(words, 1, registers, 5, 0);
}
END_TEST

START_TEST(without_positions_no_line_is_known)
{
	struct words words = {.bytecode = make_bytecode(),
			      .offset = number(54 - 1 + 2)};

	memory_put(words.bytecode - 1 + 32, make_object(131, 16), 8);
	assert_lines(words, 1, NULL, 0, 0);
}
END_TEST

START_TEST(the_baseline_compiler_keeps_the_order)
{
	/* 16 bytes to enter, then 8, 144 and 4 */
	static const uint8_t lengths[] = {16, 8, 0x90, 1, 4};
	struct words words = {.bytecode = make_bytecode(),
			      .offset = make_object(131, 16)};
	uint64_t registers[16] = {[7] = STACK};
	uint64_t code = make_code(
		words.bytecode,
		make_array(TABLE_TYPE, lengths, sizeof(lengths)));

	assert_lines(words, code + 15, NULL, 0, 0);
	assert_lines(words, code + 16, NULL, 4, 0);
	assert_lines(words, code + 16 + 8 + 143, NULL, 4, 0);
	assert_lines(words, code + 16 + 8 + 144, NULL, 5, 0);
	assert_lines(words, code + 16 + 8 + 148, NULL, 0, 0);
	/* code that runs on the same frame, called from there */
	words.top = code + 16 + 8 + 145;
	assert_lines(words, 1, registers, 5, 0);
}
END_TEST

/* A table of an entry each for OFFSETS: the first at F's b, the second in the
 * function that was put in, at a. */
static uint64_t make_positions(const unsigned offsets[2])
{
	const uint64_t values[] = {2 * 31, 1ull << 31 | 2 * 24};
	uint8_t table[32];
	int64_t offset = -1, value = 0;
	size_t used = 0;

	for (size_t i = 0; i < 2; i++) {
		int64_t more = (int64_t)values[i] - value;
		uint64_t left = more < 0 ? 2 * (uint64_t)-more - 1
					 : 2 * (uint64_t)more;

		table[used++] = (uint8_t)(2 * (offsets[i] - offset));
		for (; left > 0x7f; left >>= 7)
			table[used++] = (uint8_t)(left | 0x80);
		table[used++] = (uint8_t)left;
		offset = offsets[i];
		value = (int64_t)values[i];
	}
	return make_array(TABLE_TYPE, table, used);
}

static uint64_t make_optimised(void)
{
	uint64_t literal = make_shared(make_scope(make_text("g"), 0, 16)) | 2;
	const uint64_t call[] = {2 * 31, 0};
	uint64_t elements[11] = {0}, deopt;

	/* (lengths are in elements) */
	elements[2] = make_array(ARRAY_TYPE, &literal, sizeof(literal));
	memory_put(elements[2] - 1 + 8, number(1), 8);
	elements[7] = make_array(TABLE_TYPE, call, sizeof(call));
	deopt = make_array(ARRAY_TYPE, elements, sizeof(elements));
	memory_put(deopt - 1 + 8, number(11), 8);
	return make_code(deopt, make_positions((const unsigned[]){8, 40}));
}

START_TEST(calls_say_what_was_put_in)
{
	struct words words = {0};
	uint64_t registers[16] = {[7] = STACK};
	uint64_t code = make_optimised();

	assert_lines(words, code + 4, NULL, 0, 0);
	assert_lines(words, code + 10, NULL, 5, 0);
	assert_lines(words, code + 41, NULL, 4, 5);
	/* between calls only what both are in is sure, and no line */
	assert_lines(words, code + 10, registers, 0, 0);
	assert_lines(words, code + 50, registers, 0, 5);
	/* the code is another one, at the same place */
	memory_put(memory_get(code - 8) - 1 + 24,
		   make_positions((const unsigned[]){4, 60}), 8);
	memory_put(code - 16, make_object(STREAM_TYPE, 8), 8);
	memory_put(code - 16, memory_get(memory_get(code - 16) - 1), 8);
	assert_lines(words, code + 41, NULL, 5, 0);
}
END_TEST

static struct words some_words;
static uint64_t some_code;

static void set_up_code(void)
{
	set_up();
	some_words.bytecode = make_bytecode();
	some_words.offset = number(54 - 1 + 2);
	some_code = make_optimised();
}

static void look(unsigned round)
{
	const uint64_t registers[16] = {[7] = STACK, [9] = 54 - 1 + 2};
	struct words words = some_words;
	const struct swz_script_place place = {
		.pc = some_code + round % 64,
		.frame_pointer = FRAME,
		.is_innermost = round & 1,
		.registers = round & 1 ? registers : NULL,
		.load = load_frame,
		.stack = &words};
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	words.function = function;
	words.offset = round & 2 ? words.offset : 0;
	node->stacks++;
	ck_assert_uint_le(swz_node_language.functions(node, &place, frames),
			  SWZ_MOST_INLINED);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up_code, tear_down, look);
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
	tcase_add_test(tcase, the_interpreter_saves_where_it_is);
	tcase_add_test(tcase, without_positions_no_line_is_known);
	tcase_add_test(tcase, the_baseline_compiler_keeps_the_order);
	tcase_add_test(tcase, calls_say_what_was_put_in);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
