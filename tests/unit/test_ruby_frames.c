/* Frames of Ruby 3.1, 3.3 and 3.4 in memory that is made up, and in memory that
 * is damaged. The offsets are those of Ruby's headers, as gcc has them. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/made_up_memory.h"
#include "tests/unit/run_suite.h"
#include "watch/names/script_language.h"

enum {
	VERSION = BASE + 0x100,
	VM_POINTER = BASE + 0x200,
	OBJECT_POINTER = BASE + 0x208,
	AT_EXIT = BASE + 0x240, /* a function */
	VM = BASE + 0x300,
	RACTOR = BASE + 0x400, /* 584 bytes */
	OTHER_THREAD = BASE + 0x800,
	THREAD = BASE + 0x900,
	OTHER_CONTEXT = BASE + 0xa00,
	CONTEXT = BASE + 0xb00,
	C_STACK = BASE + 0xc00,
	C_STACK_END = BASE + 0xe00,
	NATIVE = BASE + 0xe00, /* threads, 32 bytes each */
	STACK = BASE + 0x1000,
	STACK_WORDS = 0x200,
	STACK_END = STACK + STACK_WORDS * 8,
	HEAP = BASE + 0x2800 /* variables of a block that is kept */
};

enum {
	METHOD = 0x11110001,
	BLOCK = 0x22220001,
	C_METHOD = 0x55550001,
	C_BLOCK = 0x66660001,
	DUMMY = 0x79990001,
	FINISH = 0x20,
	LOCAL = 0x02
};

enum { CLASS = 2, MODULE = 3, INCLUDED = 0x1c };

static struct memory_symbol symbols_of_3_1[] = {
	{"rb_vm_exec", BASE},
	{"ruby_version", VERSION},
	{"ruby_current_vm_ptr", VM_POINTER},
	{"rb_cObject", OBJECT_POINTER},
	{NULL, 0}};
static struct memory_symbol symbols_since_3_3[] = {
	{"ruby_version", VERSION},
	{"ruby_vm_at_exit", AT_EXIT},
	{"rb_cObject", OBJECT_POINTER},
	{NULL, 0}};

static const struct version {
	const char *text;
	struct memory_symbol *symbols;
	/* Threads point to native ones, texts have their length apart, classes
	 * have fields for what were variables, and lines are plain. */
	bool is_late;
	unsigned threads, node; /* of a ractor */
	unsigned context;       /* of a thread */
	unsigned c_stack;       /* of a context */
	unsigned frame_bytes;
	uint64_t of_one; /* a flag of classes */
} versions[] = {
	{"3.1.2", symbols_of_3_1, false, 304, 568, 40, 144, 64, 1 << 12},
	{"3.3.8", symbols_since_3_3, true, 256, 432, 48, 152, 56, 1 << 12},
	{"3.4.1", symbols_since_3_3, true, 256, 432, 48, 144, 56, 1 << 13},
};
static const struct version *version;
static struct swz_script_module module = {NULL, NULL, NULL, NULL};
static struct swz_script_reader *ruby;
static struct swz_script_frame frames[16];
static size_t count;

static uint64_t make_text(const char *text)
{
	size_t length = strlen(text);
	uint64_t at = memory_take(version->is_late ? 24 + length + 1 : 40);
	uint64_t to = at + 16;

	if (version->is_late && length <= 23) {
		to = at + 24;
		memory_put(at, 5, 8);
		memory_put(at + 16, length, 8);
	} else if (length > 23) {
		to = memory_take(length + 1);
		memory_put(at, 5 | 1 << 13, 8);
		memory_put(at + 16, length, 8);
		memory_put(at + 24, to, 8);
	} else {
		memory_put(at, 5 | length << 14, 8);
	}
	memory_put_bytes(to, text, length);
	return at;
}

static uint64_t make_paths(uint64_t path)
{
	uint64_t at = memory_take(40);

	memory_put(at, 7 | 1 << 13 | 2 << 15, 8);
	memory_put(at + 16, path, 8);
	memory_put(at + 24, path, 8);
	return at;
}

/* `block in f` has the method's own name, too. */
static const char *method_in(const char *label)
{
	const char *in = strstr(label, " in ");

	return in ? in + 4 : label;
}

static uint64_t make_code(const char *name, uint64_t path, uint32_t line)
{
	uint64_t at = memory_take(40), body = memory_take(96),
		 instructions = memory_take(8);

	memory_put(at, 0x1a | 7 << 12, 8);
	memory_put(at + 16, body, 8);
	memory_put(body + 8, instructions, 8);
	memory_put(body + 64, path, 8);
	memory_put(body + 72, make_text(method_in(name)), 8);
	memory_put(body + 80, make_text(name), 8);
	memory_put(body + 88, version->is_late ? line : 2 * line + 1, 8);
	memory_put(instructions, 0x123456, 8);
	return at;
}

static uint64_t frame_at(unsigned n)
{
	return STACK_END - version->frame_bytes * (n + 1);
}

/* The Nth frame from the outermost. */
static void make_frame(unsigned n, uint64_t code, uint64_t variables,
		       uint32_t flags)
{
	uint64_t at = frame_at(n);

	memory_put(at + 16, code, 8);
	memory_put(at + 32, variables, 8);
	memory_put(variables, flags, 8);
	memory_put(CONTEXT + 16, at, 8);
}

static uint64_t code_of(unsigned n)
{
	return memory_get(frame_at(n) + 16);
}

enum { NAME = 0x7001, SOMETHING = 0x7011 };

/* A class or module with a variable besides: that one, or none (0). The
 * variable of a class of one object alone is that object. */
static uint64_t make_class(uint64_t flags, const char *name, uint64_t variable)
{
	uint64_t at = memory_take(160), more = memory_take(16);
	uint64_t table = memory_take(56), entries = memory_take(72);

	memory_put(at, flags, 8);
	if (version->is_late) {
		memory_put(at + 128, variable, 8);
		if (name)
			memory_put(at + 152, make_text(name), 8);
		return at;
	}
	memory_put(at + 24, more, 8);
	memory_put(more + 8, table, 8);
	memory_put(table + 32, 1, 8); /* the first one is not used any more */
	memory_put(table + 40, name ? 3 : 2, 8);
	memory_put(table + 48, entries, 8);
	memory_put(entries + 24 + 8, SOMETHING, 8);
	memory_put(entries + 24 + 16, variable, 8);
	if (name) {
		memory_put(entries + 48 + 8, NAME, 8);
		memory_put(entries + 48 + 16, make_text(name), 8);
	}
	return at;
}

static uint64_t make_method(uint64_t class)
{
	uint64_t at = memory_take(40);

	memory_put(at, 0x1a | 6 << 12, 8);
	memory_put(at + 8, class, 8);
	return at;
}

static void make_thread(uint64_t at, uint64_t next, uint64_t id,
			uint64_t context)
{
	uint64_t native = NATIVE + 32 * id;

	memory_put(at, next, 8);
	memory_put(at + 32, VM, 8);
	memory_put(at + version->context, context, 8);
	if (version->is_late) {
		memory_put(at + 40, native, 8);
		memory_put(native + 16, id, 8);
	} else {
		memory_put(at + 80, id, 8);
	}
}

/* Loads the machine's address, behind other instructions. */
static void make_at_exit(void)
{
	static const uint8_t code[] = {0xf3, 0x0f, 0x1e, 0xfa,
				       0x53, 0x48, 0x8b, 0x1d};

	memory_put_bytes(AT_EXIT, code, sizeof(code));
	memory_put(AT_EXIT + sizeof(code),
		   (uint32_t)(VM_POINTER - (AT_EXIT + sizeof(code) + 4)), 4);
}

static void make_machine(void)
{
	memory_put_bytes(VERSION, version->text, strlen(version->text) + 1);
	make_at_exit();
	memory_put(VM_POINTER, VM, 8);
	memory_put(VM + 8, RACTOR + version->node, 8);
	memory_put(RACTOR + version->node, VM + 8, 8);
	memory_put(RACTOR + version->threads, OTHER_THREAD, 8);
	make_thread(OTHER_THREAD, THREAD, 7, OTHER_CONTEXT);
	make_thread(THREAD, RACTOR + version->threads, 8, CONTEXT);
	memory_put(CONTEXT, STACK, 8);
	memory_put(CONTEXT + 8, STACK_WORDS, 8);
	memory_put(CONTEXT + version->c_stack, C_STACK_END, 8);
	memory_put(CONTEXT + version->c_stack + 16, C_STACK_END - C_STACK, 8);
}

static void set_up(void)
{
	uint64_t path;

	module = (struct swz_script_module){memory_symbol, version->symbols,
					    memory_read, NULL};
	memory_begin();
	make_machine();
	memory_put(OBJECT_POINTER, make_class(CLASS, "Object", 0), 8);
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
	ruby = swz_ruby_language.open(&module);
	ck_assert_ptr_nonnull(ruby);
}

static void set_up_3_1(void)
{
	version = &versions[0];
	set_up();
}

static void set_up_3_3(void)
{
	version = &versions[1];
	set_up();
}

static void set_up_3_4(void)
{
	version = &versions[2];
	set_up();
}

static void tear_down(void)
{
	swz_ruby_language.close(ruby);
}

static enum swz_script_result get(uint64_t thread_pointer)
{
	const struct swz_script_thread thread = {
		.thread_pointer = thread_pointer,
		.stack_start = C_STACK + 0x10};

	return swz_ruby_language.frames(ruby, &thread, frames, 16, &count);
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
	ck_assert_uint_eq(ruby->inner_loop, 0x123456);
}
END_TEST

START_TEST(a_thread_is_known_by_its_stack)
{
	ck_assert_int_eq(get(0), SWZ_SCRIPT_READ);
	ck_assert_uint_eq(count, 4);
	ck_assert_int_eq(get(7), SWZ_SCRIPT_NONE);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
	memory_put(CONTEXT + version->c_stack + 16, 8, 8);
	ck_assert_int_eq(get(0), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(other_versions_are_left)
{
	memory_put_bytes(VERSION, "3.10.1", 7);
	ck_assert_ptr_null(swz_ruby_language.open(&module));
	memory_put_bytes(VERSION, "3.2.2", 6);
	ck_assert_ptr_null(swz_ruby_language.open(&module));
}
END_TEST

START_TEST(what_is_no_code_is_not_believed)
{
	uint64_t code = code_of(5);

	memory_put(code, 0x1a | 6 << 12, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(code, 0x1a | 7 << 12, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	memory_put(code + 16, 0xdead0000, 8);
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
	uint64_t code = code_of(5), body = memory_get(code + 16);

	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	memory_put(body + 80, make_text("another"), 8);
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

static void assert_name(const char *name)
{
	ck_assert_int_eq(get(8), SWZ_SCRIPT_READ);
	ck_assert_str_eq(frames[0].code->name, name);
}

START_TEST(methods_have_their_classes)
{
	uint64_t thing = make_class(CLASS, "Thing", make_text("Object"));
	uint64_t part = make_class(MODULE, "Thing::Part", 0);
	uint64_t stand_in = make_class(INCLUDED, NULL, 0);
	uint64_t own = make_class(CLASS | version->of_one, NULL, thing);
	uint64_t of_an_object = make_class(CLASS | version->of_one, NULL,
					   version->is_late ? make_text("x")
							    : OBJECTS);
	uint64_t cut = make_class(CLASS, "Cut", 0), saved = memory_take(16);
	const struct {
		uint64_t class;
		const char *name;
	} cases[] = {
		{thing, "Thing#f"},
		{memory_get(OBJECT_POINTER), "f"},
		{part, "Thing::Part#f"},
		{stand_in, "Thing::Part#f"},
		{own, "Thing.f"},
		{of_an_object, "f"},
		{make_class(CLASS, NULL, 0), "f"},
		{cut, "f"},
		{0xdead0000, "f"},
		{thing, "Thing#f"},
	};

	memory_put(stand_in + 8, part, 8);
	memory_put(thing + 8, own, 8);
	memory_put(cut + (version->is_late ? 152 : 24), 0, 8);
	make_frame(5, make_code("f", make_text("/z.rb"), 2), STACK + 0x80,
		   METHOD | LOCAL);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memory_put(STACK + 0x70, make_method(cases[i].class), 8);
		assert_name(cases[i].name);
	}
	/* where it has variables of its own kind, too */
	memory_put(saved, 0x1a | 2 << 12, 8);
	memory_put(saved + 8, make_method(part), 8);
	memory_put(STACK + 0x70, saved, 8);
	assert_name("Thing::Part#f");
	memory_put(saved + 8, 0, 8);
	assert_name("f");
}
END_TEST

START_TEST(blocks_have_the_class_of_their_method)
{
	uint64_t thing = make_class(CLASS, "Thing", 0),
		 path = make_text("/z.rb");

	make_frame(5, make_code("block (2 levels) in f", path, 2), STACK + 0x80,
		   BLOCK);
	memory_put(STACK + 0x78, (STACK + 0xc0) | 1, 8);
	memory_put(STACK + 0xc0, BLOCK, 8);
	memory_put(STACK + 0xb8, HEAP + 0x100, 8);
	memory_put(HEAP + 0x100, METHOD | LOCAL, 8);
	memory_put(HEAP + 0xf0, make_method(thing), 8);
	assert_name("block (2 levels) in Thing#f:2");
	make_frame(5, make_code("block in <class:Thing>", path, 2),
		   STACK + 0x80, BLOCK);
	assert_name("block in <class:Thing>:2");
	/* a block that is in itself */
	memory_put(STACK + 0xb8, STACK + 0xc0, 8);
	make_frame(5, make_code("block in f", path, 2), STACK + 0x80, BLOCK);
	assert_name("block in f:2");
}
END_TEST

START_TEST(circles_of_threads_and_ractors_end)
{
	memory_put(THREAD, OTHER_THREAD, 8);
	memory_put(RACTOR + version->node, RACTOR + version->node, 8);
	ck_assert_int_eq(get(99), SWZ_SCRIPT_NONE);
}
END_TEST

START_TEST(a_stack_that_cannot_be_is_not_read)
{
	memory_put(CONTEXT + 8, 1ull << 60, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(CONTEXT + 8, STACK_WORDS, 8);
	memory_put(CONTEXT + 16, STACK_END - 65, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(CONTEXT + 16, STACK - 64, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_LOST);
	memory_put(CONTEXT + 16, 0, 8);
	ck_assert_int_eq(get(8), SWZ_SCRIPT_NONE);
}
END_TEST

static void look(unsigned round)
{
	(void)get(round & 1 ? 8 : 0);
	ck_assert_uint_le(count, 16);
}

START_TEST(damaged_memory_is_survived)
{
	memory_damage(set_up, tear_down, look);
}
END_TEST

static TCase *make_case(const char *name, void (*begin)(void))
{
	TCase *tcase = tcase_create(name);

	tcase_add_checked_fixture(tcase, begin, tear_down);
	tcase_add_test(tcase, frames_of_code_are_found_and_those_of_c_left_out);
	tcase_add_test(tcase, a_thread_is_known_by_its_stack);
	tcase_add_test(tcase, other_versions_are_left);
	tcase_add_test(tcase, what_is_no_code_is_not_believed);
	tcase_add_test(tcase, names_must_be_texts);
	tcase_add_test(tcase,
		       code_that_took_the_place_of_other_code_has_its_own_name);
	tcase_add_test(tcase, names_are_utf8);
	tcase_add_test(tcase, methods_have_their_classes);
	tcase_add_test(tcase, blocks_have_the_class_of_their_method);
	tcase_add_test(tcase, circles_of_threads_and_ractors_end);
	tcase_add_test(tcase, a_stack_that_cannot_be_is_not_read);
	tcase_add_test(tcase, damaged_memory_is_survived);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("ruby_frames");

	suite_add_tcase(suite, make_case("3.1", set_up_3_1));
	suite_add_tcase(suite, make_case("3.3", set_up_3_3));
	suite_add_tcase(suite, make_case("3.4", set_up_3_4));
	return run_suite(suite);
}
