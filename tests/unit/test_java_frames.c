/* Methods of Java in memory that is made up, and in memory that is damaged: the
 * tables of libjvm.so, a code cache with one compiled method and the
 * interpreter. The places of fields are not those of any version. */

#include <check.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	WORDS = BASE + 0x100, /* what symbols lead to */
	TABLE = BASE + 0x200,
	ENTRY = 48,
	STACK = 0x7fff0000,
	SEGMENT = 64,
	HEAP_BYTES = 0x1000,
	METHOD_FRAME = 64
};

static const char *const symbol_names[] = {
	"gHotSpotVMStructs",
	"gHotSpotVMStructEntryTypeNameOffset",
	"gHotSpotVMStructEntryFieldNameOffset",
	"gHotSpotVMStructEntryIsStaticOffset",
	"gHotSpotVMStructEntryOffsetOffset",
	"gHotSpotVMStructEntryAddressOffset",
	"gHotSpotVMStructEntryArrayStride",
	"gHotSpotVMTypes",
	"gHotSpotVMTypeEntryTypeNameOffset",
	"gHotSpotVMTypeEntrySizeOffset",
	"gHotSpotVMTypeEntryArrayStride",
};

#define SYMBOLS (sizeof(symbol_names) / sizeof(*symbol_names))

static struct memory_symbol symbols[SYMBOLS + 1];
static const struct swz_script_module module = {memory_symbol, symbols,
						memory_read, NULL};
static struct swz_script_reader *java;
static uint64_t next_entry, heaps, version, heap, interpreter, compiled;
static uint64_t outer, inner; /* methods */
static uint64_t stack[32];    /* from STACK on */

static bool load(const void *from, uint64_t address, uint64_t *word)
{
	uint64_t at = (address - STACK) / 8;

	(void)from;
	if (address < STACK || at >= sizeof(stack) / sizeof(*stack))
		return false;
	*word = stack[at];
	return true;
}

static uint64_t text(const char *of)
{
	uint64_t at = memory_take(strlen(of) + 1);

	memory_put_bytes(at, of, strlen(of));
	return at;
}

/* STATIC_AT: where it lies; 0: it has an offset. */
static void add_field(const char *type, const char *name, uint64_t offset,
		      uint64_t static_at)
{
	memory_put(next_entry, text(type), 8);
	memory_put(next_entry + 8, text(name), 8);
	memory_put(next_entry + 24, static_at != 0, 4);
	memory_put(next_entry + 32, offset, 8);
	memory_put(next_entry + 40, static_at, 8);
	next_entry += ENTRY;
}

static void add_type(const char *name, uint64_t size)
{
	memory_put(next_entry, text(name), 8);
	memory_put(next_entry + 24, size, 8);
	next_entry += 32;
}

static void add_fields(void)
{
	add_field("CodeCache", "_heaps", 0, heaps);
	add_field("GrowableArrayBase", "_len", 0, 0);
	add_field("GrowableArray<int>", "_data", 8, 0);
	add_field("CodeHeap", "_memory", 0, 0);
	add_field("CodeHeap", "_segmap", 16, 0);
	add_field("CodeHeap", "_log2_segment_size", 32, 0);
	add_field("VirtualSpace", "_low", 0, 0);
	add_field("VirtualSpace", "_high", 8, 0);
	add_field("HeapBlock::Header", "_used", 8, 0);
	add_field("CodeBlob", "_name", 8, 0);
	add_field("CodeBlob", "_size", 16, 0);
	add_field("CodeBlob", "_frame_complete_offset", 20, 0);
	add_field("CodeBlob", "_frame_size", 24, 0);
	add_field("CodeBlob", "_code_begin", 32, 0);
	add_field("CompiledMethod", "_method", 40, 0);
	add_field("CompiledMethod", "_scopes_data_begin", 48, 0);
	add_field("nmethod", "_scopes_pcs_offset", 56, 0);
	add_field("nmethod", "_dependencies_offset", 60, 0);
	add_field("nmethod", "_metadata_offset", 64, 0);
	add_field("nmethod", "_compile_id", 68, 0);
	add_field("Method", "_constMethod", 8, 0);
	add_field("ConstMethod", "_constants", 0, 0);
	add_field("ConstMethod", "_constMethod_size", 8, 0);
	add_field("ConstMethod", "_flags", 12, 0);
	add_field("ConstMethod", "_code_size", 16, 0);
	add_field("ConstMethod", "_name_index", 18, 0);
	add_field("ConstantPool", "_tags", 8, 0);
	add_field("ConstantPool", "_pool_holder", 16, 0);
	add_field("ConstantPool", "_length", 24, 0);
	add_field("ConstantPool", "_source_file_name_index", 28, 0);
	add_field("Klass", "_name", 8, 0);
	add_field("Symbol", "_length", 0, 0);
	add_field("Symbol", "_body", 2, 0);
	add_field("Abstract_VM_Version", "_vm_major_version", 0, version);
}

static void make_tables(void)
{
	const uint64_t values[SYMBOLS] = {TABLE, 0, 8, 24, 32, 40,
					  ENTRY, 0, 0, 24, 32};

	heaps = memory_take(8);
	version = memory_take(8);
	memory_put(version, 17, 4);
	for (size_t i = 0; i < SYMBOLS; i++) {
		symbols[i] = (struct memory_symbol){symbol_names[i],
						    WORDS + 8 * i};
		memory_put(WORDS + 8 * i, values[i], 8);
	}
	next_entry = TABLE;
	add_fields();
	next_entry += ENTRY; /* zeros end it */
	memory_put(WORDS + 8ull * 7, next_entry, 8);
	add_type("HeapBlock", 16);
	add_type("ConstMethod", 32);
	add_type("ConstantPool", 32);
	ck_assert_uint_lt(next_entry, OBJECTS);
}

static uint64_t make_symbol(const char *of)
{
	uint64_t at = memory_take(2 + strlen(of));

	memory_put(at, strlen(of), 2);
	memory_put_bytes(at + 2, of, strlen(of));
	return at;
}

/* A class p.C with a file C.java and two names. */
static uint64_t make_pool(void)
{
	uint64_t pool = memory_take(32 + 8 * 4), tags = memory_take(8);
	uint64_t klass = memory_take(16);

	memory_put(klass + 8, make_symbol("p/C+0x00001234"), 8);
	memory_put(tags, 4, 4);
	memory_put(tags + 4, 0x01010100, 4);
	memory_put(pool + 8, tags, 8);
	memory_put(pool + 16, klass, 8);
	memory_put(pool + 24, 4, 4);
	memory_put(pool + 28, 3, 2);
	memory_put(pool + 32 + 8, make_symbol("outer"), 8);
	memory_put(pool + 32 + 16, make_symbol("inner"), 8);
	memory_put(pool + 32 + 24, make_symbol("C.java"), 8);
	return pool;
}

/* Of 16 bytes of code: from 0 on line LINE, from 8 on the one behind. */
static uint64_t make_method(uint64_t pool, unsigned name, unsigned line)
{
	uint64_t method = memory_take(16), at = memory_take(64);
	const uint8_t lines[] = {0xff, 0, (uint8_t)(2 * line), 8 << 3 | 1, 0};

	memory_put(method + 8, at, 8);
	memory_put(at, pool, 8);
	memory_put(at + 8, 8, 4);
	memory_put(at + 12, 1, 2);
	memory_put(at + 16, 16, 2);
	memory_put(at + 18, name, 2);
	memory_put_bytes(at + 32 + 16, lines, sizeof(lines));
	return method;
}

/* Returns its address: behind the head of its block. */
static uint64_t make_blob(unsigned segment, unsigned segments,
			  uint64_t segment_map, const char *name)
{
	uint64_t block = heap + (uint64_t)segment * SEGMENT, blob = block + 16;

	for (unsigned i = 0; i < segments; i++)
		memory_put(segment_map + segment + i, i, 1);
	memory_put(block + 8, 1, 1);
	memory_put(blob + 8, text(name), 8);
	memory_put(blob + 16, (uint64_t)segments * SEGMENT - 16, 4);
	memory_put(blob + 32, blob + 96, 8);
	return blob;
}

/* push %rbp; sub $48,%rsp; at 16 a call returns; inner is inlined. */
static void make_compiled(void)
{
	static const uint8_t code[] = {0x55, 0x48, 0x83, 0xec,
				       METHOD_FRAME - 16};
	/* no caller, method 1, bci 3; caller at 1, method 2, bci 8 */
	static const uint8_t scopes[] = {0, 0, 1, 4, 0, 1, 2, 9};
	uint64_t descs = compiled + 192;

	memory_put(compiled + 20, sizeof(code), 4);
	memory_put(compiled + 24, METHOD_FRAME / 8, 4);
	memory_put(compiled + 40, outer, 8);
	memory_put(compiled + 48, compiled + 160, 8);
	memory_put(compiled + 56, 192, 4);
	memory_put(compiled + 60, 192 + 48, 4);
	memory_put(compiled + 64, 176, 4);
	memory_put_bytes(compiled + 96, code, sizeof(code));
	memory_put_bytes(compiled + 160, scopes, sizeof(scopes));
	memory_put(compiled + 176, outer, 8);
	memory_put(compiled + 184, inner, 8);
	memory_put(descs, 0xffffffff, 4);
	memory_put(descs + 16, 16, 4);
	memory_put(descs + 16 + 4, 5, 4);
	memory_put(descs + 32, 1000, 4);
}

static void set_up(void)
{
	uint64_t array, list, one, pool, segments;

	memory_begin();
	make_tables();
	array = memory_take(16);
	list = memory_take(8);
	one = memory_take(40);
	heap = memory_take(HEAP_BYTES);
	segments = memory_take(HEAP_BYTES / SEGMENT);
	memory_put(heaps, array, 8);
	memory_put(array, 1, 4);
	memory_put(array + 8, list, 8);
	memory_put(list, one, 8);
	memory_put(one, heap, 8);
	memory_put(one + 8, heap + HEAP_BYTES, 8);
	memory_put(one + 16, segments, 8);
	memory_put(one + 24, segments + HEAP_BYTES / SEGMENT, 8);
	memory_put(one + 32, 6, 4);
	for (unsigned i = 0; i < HEAP_BYTES / SEGMENT; i++)
		memory_put(segments + i, 0xff, 1);
	pool = make_pool();
	outer = make_method(pool, 1, 10);
	inner = make_method(pool, 2, 20);
	interpreter = make_blob(2, 8, segments, "Interpreter");
	compiled = make_blob(12, 8, segments, "nmethod");
	make_compiled();
	memory_take(512); /* (heads are read with what is behind) */
	java = swz_java_language.open(&module);
	ck_assert_ptr_nonnull(java);
}

static void tear_down(void)
{
	swz_java_language.close(java);
}

static size_t functions_at(uint64_t pc, bool is_innermost,
			   struct swz_script_frame *frames)
{
	const struct swz_script_place place = {.pc = pc,
					       .frame_pointer = STACK + 128,
					       .is_innermost = is_innermost,
					       .load = load};

	java->stacks++;
	return swz_java_language.functions(java, &place, frames);
}

START_TEST(inlined_methods_have_names_files_and_lines)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	/* (within the call that returns at 16) */
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 2);
	ck_assert_str_eq(frames[0].code->name, "p.C.inner");
	ck_assert_str_eq(frames[0].code->file, "p/C.java");
	ck_assert_uint_eq(frames[0].code->line, 20);
	ck_assert_uint_eq(frames[0].line, 21);
	ck_assert_str_eq(frames[1].code->name, "p.C.outer");
	ck_assert_uint_eq(frames[1].line, 10);
}
END_TEST

START_TEST(between_two_descs_is_what_both_are_in)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	ck_assert_uint_eq(functions_at(compiled + 96 + 12, true, frames), 1);
	ck_assert_str_eq(frames[0].code->name, "p.C.outer");
}
END_TEST

START_TEST(a_method_that_is_interpreted_is_in_the_frame)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];
	uint64_t code = memory_get(inner + 8) + 32;

	stack[(128 - 24) / 8] = inner;
	stack[(128 - 64) / 8] = code + 9;
	ck_assert_uint_eq(functions_at(interpreter + 100, false, frames), 1);
	ck_assert_str_eq(frames[0].code->name, "p.C.inner");
	ck_assert_uint_eq(frames[0].line, 21);
	stack[(128 - 64) / 8] = code + 16;
	ck_assert_uint_eq(functions_at(interpreter + 100, false, frames), 1);
	ck_assert_uint_eq(frames[0].line, 0);
	stack[(128 - 24) / 8] = interpreter + 1;
	ck_assert_uint_eq(functions_at(interpreter + 100, false, frames), 0);
}
END_TEST

START_TEST(code_that_was_freed_is_none)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 2);
	memory_put(compiled + 40, inner, 8);
	memory_put(compiled + 68, 7, 4);
	memory_put(compiled + 60, 192, 4); /* no descs */
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 1);
	ck_assert_str_eq(frames[0].code->name, "p.C.inner");
	ck_assert_uint_eq(functions_at(heap + HEAP_BYTES - 1, false, frames),
			  0);
	ck_assert_uint_eq(functions_at(heap + HEAP_BYTES, false, frames), 0);
	ck_assert(!swz_java_language.is_helper(java, compiled + 100));
	ck_assert(swz_java_language.is_helper(java, interpreter + 100));
}
END_TEST

static void assert_leave(uint64_t pc, bool is_innermost,
			 enum swz_script_leave how, uint32_t size)
{
	uint32_t found = 0;

	java->stacks++;
	ck_assert_uint_eq(
		swz_java_language.leave(java, pc, 0, is_innermost, &found),
		how);
	ck_assert_uint_eq(found, size);
}

START_TEST(frames_are_left_by_their_size)
{
	static const uint8_t end[] = {0x5d, 0x49, 0x3b, 0xa7, 0x48,
				      0x03, 0,    0,    0x0f, 0x87,
				      1,    2,    3,    4,    0xc3};
	uint64_t code = compiled + 96;

	memory_put_bytes(code + 32, end, sizeof(end));
	assert_leave(code + 20, false, SWZ_LEAVE_BY_SIZE_WITH_RBP,
		     METHOD_FRAME);
	assert_leave(code, true, SWZ_LEAVE_BY_SIZE, 8);
	assert_leave(code + 1, true, SWZ_LEAVE_BY_SIZE_WITH_RBP, 16);
	assert_leave(code + 5, true, SWZ_LEAVE_BY_SIZE_WITH_RBP, METHOD_FRAME);
	assert_leave(code + 32, true, SWZ_LEAVE_BY_SIZE_WITH_RBP, 16);
	assert_leave(code + 33, true, SWZ_LEAVE_BY_SIZE, 8);
	assert_leave(code + 40, true, SWZ_LEAVE_BY_SIZE, 8);
	assert_leave(code + 46, true, SWZ_LEAVE_BY_SIZE, 8);
	assert_leave(interpreter + 100, true, SWZ_LEAVE_BY_RBP, 0);
	assert_leave(heap, true, SWZ_LEAVE_UNKNOWN, 0);
}
END_TEST

START_TEST(tables_are_waited_for)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];
	uint64_t array = memory_get(heaps);

	memory_put(WORDS, 0, 8);
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 0);
	memory_put(WORDS, TABLE, 8);
	memory_put(heaps, 0, 8);
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 0);
	memory_put(heaps, array, 8);
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 2);
}
END_TEST

START_TEST(versions_that_are_not_known_are_none)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];

	memory_put(version, 11, 4);
	ck_assert_uint_eq(functions_at(compiled + 96 + 15, false, frames), 0);
}
END_TEST

static void look(unsigned round)
{
	struct swz_script_frame frames[SWZ_MOST_INLINED];
	uint64_t pc = round % 2 ? compiled + 96 + 15 : interpreter + 100;
	uint32_t size;

	stack[(128 - 24) / 8] = inner;
	(void)functions_at(pc, round % 4 == 0, frames);
	(void)swz_java_language.leave(java, pc, 0, round % 8 == 0, &size);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("java_frames");
	TCase *tcase = tcase_create("java_frames");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, inlined_methods_have_names_files_and_lines);
	tcase_add_test(tcase, between_two_descs_is_what_both_are_in);
	tcase_add_test(tcase, a_method_that_is_interpreted_is_in_the_frame);
	tcase_add_test(tcase, code_that_was_freed_is_none);
	tcase_add_test(tcase, frames_are_left_by_their_size);
	tcase_add_test(tcase, tables_are_waited_for);
	tcase_add_test(tcase, versions_that_are_not_known_are_none);
	tcase_add_test(tcase, damaged_memory_is_survived);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
