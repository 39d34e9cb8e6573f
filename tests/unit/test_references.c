/* What code and data refer to: by calls, by addresses that are stored or read
 * through, by words that may be pointers; and what lies between functions. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/references.h"
#include "tests/unit/module_builder.h"
#include "tests/unit/run_suite.h"

#define CODE(text) text, sizeof(text) - 1

enum {
	START = MODULE_TEXT + 0x100,
	ASKED = MODULE_TEXT + 0x1000, /* what is asked for */
	GOT = MODULE_DATA,
	NOTHING = -1,
	CALL = SWZ_REFERENCE_CALL,
	STORE = SWZ_REFERENCE_STORE,
	DATA = SWZ_REFERENCE_DATA
};

static struct built_module built;
static uint64_t found[64];
static int how_found;
static unsigned found_count;

void swz_pointers_relocated(const struct swz_module *module,
			    void (*note)(void *context, uint64_t where,
					 uint64_t to),
			    void *context)
{
	(void)module;
	(void)note;
	(void)context;
}

static void set_up(void)
{
	found_count = 0;
	how_found = NOTHING;
}

static bool is_asked(void *context, uint64_t to)
{
	(void)context;
	return to == ASKED;
}

static void note(void *context, uint64_t to, enum swz_reference how)
{
	(void)context;
	ck_assert_uint_eq(to, ASKED);
	how_found = (int)how;
	found_count++;
}

/* ------------------------------------------------------------ code */

/* Behind lea ASKED(%rip), %rax. */
static const struct {
	const char *what, *code;
	size_t size;
	int how;
} uses[] = {
	{"nothing", CODE("\x90"), NOTHING},
	{"stored", CODE("\x48\x89\x07"), STORE},
	{"another is stored", CODE("\x48\x89\x0f"), NOTHING},
	{"read through", CODE("\x48\x8b\x08"), DATA},
	{"by an index", CODE("\x48\x8b\x0c\x07"), DATA},
	{"copied, then stored", CODE("\x48\x89\xc1\x48\x89\x0f"), STORE},
	{"copied the other way", CODE("\x48\x8b\xc8\x48\x89\x0f"), STORE},
	{"counted from", CODE("\x48\x01\xc1"), DATA},
	{"counted on", CODE("\x48\x83\xc0\x08"), DATA},
	{"compared", CODE("\x48\x39\xc8\x48\x83\xf8\x08"), NOTHING},
	{"compared, then stored", CODE("\x48\x39\xc8\x48\x89\x07"), STORE},
	{"set anew, then stored", CODE("\xb8\0\0\0\0\x48\x89\x07"), NOTHING},
	{"popped, then stored", CODE("\x58\x48\x89\x07"), NOTHING},
	{"pushed, then stored", CODE("\x50\x48\x89\x07"), STORE},
	{"loaded anew", CODE("\x48\x8b\x06\x48\x89\x07"), NOTHING},
	{"a call, then stored", CODE("\xe8\0\0\0\0\x48\x89\x07"), NOTHING},
	{"an indirect call", CODE("\xff\xd1\x48\x89\x07"), NOTHING},
	{"kept in %rbx over a call",
	 CODE("\x48\x89\xc3\xe8\0\0\0\0\x48\x89\x1f"), STORE},
	{"in %r12", CODE("\x49\x89\xc4\xe8\0\0\0\0\x4c\x89\x27"), STORE},
	{"in %r11", CODE("\x49\x89\xc3\xe8\0\0\0\0\x4c\x89\x1f"), NOTHING},
	{"a jump, then stored", CODE("\xeb\0\x48\x89\x07"), NOTHING},
	{"a return, then stored", CODE("\xc3\x48\x89\x07"), NOTHING},
	{"a branch, then stored", CODE("\x74\0\x48\x89\x07"), STORE},
	{"cmov to it, then stored", CODE("\x48\x0f\x44\xc1\x48\x89\x07"),
	 NOTHING},
	{"cmovo", CODE("\x48\x0f\x40\xc1\x48\x89\x07"), NOTHING},
	{"imul", CODE("\x48\x0f\xaf\xc1\x48\x89\x07"), NOTHING},
	{"movzb", CODE("\x0f\xb6\xc1\x48\x89\x07"), NOTHING},
	{"movsw", CODE("\x48\x0f\xbf\xc1\x48\x89\x07"), NOTHING},
	{"cvttss2si", CODE("\xf3\x48\x0f\x2c\xc1\x48\x89\x07"), NOTHING},
	{"movmskps", CODE("\x0f\x50\xc1\x48\x89\x07"), NOTHING},
	{"pextrw", CODE("\x0f\xc5\xc1\0\x48\x89\x07"), NOTHING},
	{"pmovmskb", CODE("\x66\x0f\xd7\xc1\x48\x89\x07"), NOTHING},
	{"a vector of that number", CODE("\x0f\x28\xc1\x48\x89\x07"), STORE},
	{"to a vector", CODE("\x66\x48\x0f\x6e\xc0"), STORE},
	{"into a vector", CODE("\x66\x48\x0f\x3a\x22\xc0\1"), STORE},
	{"xor, then stored", CODE("\x31\xc0\x48\x89\x07"), NOTHING},
};

static void check_uses(const struct swz_references *r, int how,
		       const char *what)
{
	set_up();
	swz_references_in_code(r, 0, 1);
	ck_assert_msg(how_found == how && found_count == (how != NOTHING),
		      "%s: %d, %u times", what, how_found, found_count);
}

START_TEST(uses_of_an_address_are_told)
{
	struct swz_references r = {
		.module = &built.m, .is_asked = is_asked, .found = note};
	char code[64] = "\x48\x8d\x05";

	module_begin(&built);
	memcpy(code + 7, uses[_i].code, uses[_i].size);
	module_function(&built, START, code, 7 + uses[_i].size);
	module_put32(START + 3, ASKED - START - 7);
	check_uses(&r, uses[_i].how, uses[_i].what);
}
END_TEST

START_TEST(calls_are_told)
{
	struct swz_references r = {
		.module = &built.m, .is_asked = is_asked, .found = note};
	struct swz_function *f;

	for (unsigned before = 0; before < 20; before++) {
		uint8_t code[40];

		module_begin(&built);
		memset(code, 0x90, sizeof(code));
		code[before] = 0xe8;
		f = module_function(&built, START, code, before + 5);
		module_put32(START + before + 1, ASKED - START - before - 5);
		check_uses(&r, CALL, "a call");
		module_put32(START + before + 1, ASKED - START - before - 4);
		check_uses(&r, NOTHING, "beside it");
		module_put32(START + before + 1, ASKED - START - before - 5);
		f->room = before + 4; /* another function begins there */
		check_uses(&r, NOTHING, "cut off");
	}
}
END_TEST

/* Through the GOT: its words lead to what is asked for. */
static const struct {
	const char *what, *code;
	size_t size;
	unsigned distance_at;
	int how;
} by_got[] = {
	{"call *(%rip)", CODE("\xff\x15\0\0\0\0"), 2, CALL},
	{"jmp *(%rip)", CODE("\xff\x25\0\0\0\0"), 2, NOTHING},
	{"load, then store", CODE("\x48\x8b\x05\0\0\0\0\x48\x89\x07"), 3,
	 STORE},
	{"load of 32 bits, then store", CODE("\x8b\x05\0\0\0\0\x48\x89\x07"), 2,
	 NOTHING},
	{"load, then read", CODE("\x48\x8b\x05\0\0\0\0\x48\x8b\x08"), 3, DATA},
	{"movq", CODE("\xf3\x0f\x7e\x05\0\0\0\0"), 4, STORE},
	{"movhps", CODE("\x0f\x16\x05\0\0\0\0"), 3, STORE},
	{"movaps", CODE("\x0f\x28\x05\0\0\0\0"), 3, NOTHING},
	{"pinsrq", CODE("\x66\x48\x0f\x3a\x22\x05\0\0\0\0\1"), 6, STORE},
};

START_TEST(the_got_is_looked_through)
{
	static uint64_t words[4];
	struct swz_references r = {.module = &built.m,
				   .is_asked = is_asked,
				   .found = note,
				   .got = {GOT, GOT + 32},
				   .got_words = words};
	uint64_t at = START + by_got[_i].distance_at;
	/* an immediate behind it */
	int64_t behind = by_got[_i].distance_at == 6 ? 1 : 0;

	module_begin(&built);
	module_function(&built, START, by_got[_i].code, by_got[_i].size);
	module_put32(at, (int64_t)(GOT + 24) - (int64_t)at - 4 - behind);
	words[0] = words[1] = words[2] = 0;
	words[3] = ASKED;
	check_uses(&r, by_got[_i].how, by_got[_i].what);
	words[3] = 0;
	words[2] = ASKED;
	check_uses(&r, NOTHING, "another word");
}
END_TEST

/* ------------------------------------------------- words at fixed addresses */

static void note_pointer(void *context, uint64_t to)
{
	(void)context;
	ck_assert_uint_lt(found_count, 64);
	found[found_count++] = to;
}

static bool has_found(uint64_t to)
{
	for (unsigned i = 0; i < found_count; i++)
		if (found[i] == to)
			return true;
	return false;
}

static void scan(void)
{
	found_count = 0;
	swz_scan_pointers(&built.m, note_pointer, NULL);
}

/* A function of ten 4-byte instructions; its patch is at its beginning. */
#define TEN_NOPS \
	"\x0f\x1f\x40\0\x0f\x1f\x40\0\x0f\x1f\x40\0\x0f\x1f\x40\0" \
	"\x0f\x1f\x40\0\x0f\x1f\x40\0\x0f\x1f\x40\0\x0f\x1f\x40\0" \
	"\x0f\x1f\x40\0\x0f\x1f\x40\0"

START_TEST(words_of_data_may_be_pointers)
{
	uint64_t words[] = {START, START + 4, START + 5, MODULE_CONSTANTS,
			    MODULE_TEXT - 1};

	module_begin_fixed(&built);
	module_function(&built, START, CODE(TEN_NOPS));
	module_put(MODULE_DATA + 8, words, sizeof(words));
	scan();
	ck_assert(has_found(START));
	ck_assert(has_found(START + 4));
	ck_assert(!has_found(START + 5)); /* in the midst of an instruction */
	ck_assert(!has_found(MODULE_CONSTANTS));
	ck_assert_uint_eq(built.m.label_count, found_count);
	/* the second time what was noted serves */
	module_put(MODULE_DATA + 8, (uint64_t[5]){0}, sizeof(words));
	scan();
	ck_assert(has_found(START) && has_found(START + 4));
	ck_assert_uint_eq(found_count, built.m.label_count);
}
END_TEST

START_TEST(two_words_of_32_bits_may_be_labels)
{
	uint32_t pair[] = {START + 8, START + 12};

	module_begin_fixed(&built);
	module_function(&built, START, CODE(TEN_NOPS));
	module_put(MODULE_DATA + 4, pair, sizeof(pair));
	scan();
	ck_assert(has_found(START + 8) && has_found(START + 12));
	pair[1] = START + 13;
	module_begin_fixed(&built);
	module_function(&built, START, CODE(TEN_NOPS));
	module_put(MODULE_DATA + 4, pair, sizeof(pair));
	scan();
	ck_assert_uint_eq(found_count, 0);
}
END_TEST

/* mov $label, %eax: of the function's own, and of another's. */
START_TEST(immediates_may_be_labels)
{
	static const char mov[] = "\x90\x90\xb8\0\0\0\0\xc3";
	uint64_t far = MODULE_TEXT + 0x2000, label = START + 4;
	int32_t distance = 8;

	module_begin_fixed(&built);
	module_function(&built, START, CODE(TEN_NOPS));
	module_function(&built, far, CODE(mov));
	module_put32(far + 3, (int64_t)label);
	scan();
	ck_assert(has_found(label));
	/* behind the patch nothing matters, but to the function itself */
	module_begin_fixed(&built);
	module_function(&built, START, CODE(TEN_NOPS TEN_NOPS));
	module_function(&built, far, CODE(mov));
	module_put32(far + 3, START + 64);
	scan();
	ck_assert(!has_found(START + 64));
	module_put(START + 8, mov, 7);
	module_put32(START + 11, START + 64);
	module_put(MODULE_CONSTANTS + 64, &distance, sizeof(distance));
	/* the table that it refers to: what is at a distance from the label */
	module_put(START + 16, "\xb8", 1);
	module_put32(START + 17, MODULE_CONSTANTS + 64);
	distance = -60;
	module_put(MODULE_CONSTANTS + 64, &distance, sizeof(distance));
	built.m.labels = NULL;
	scan();
	ck_assert(has_found(START + 64));
	ck_assert(has_found(START + 4));
}
END_TEST

/* -------------------------------------------------- between functions */

START_TEST(padding_is_skipped)
{
	module_begin(&built);
	module_put(START, "\x90\x0f\x1f\x40\0\xcc\0\0\x55", 9);
	ck_assert_uint_eq(swz_skip_padding(&built.m, START, START + 9),
			  START + 8);
	ck_assert_uint_eq(swz_skip_padding(&built.m, START + 8, START + 9),
			  START + 8);
	ck_assert_uint_eq(swz_skip_padding(&built.m, START, START + 8),
			  START + 8);
	/* a no-operation that is cut off is none */
	ck_assert_uint_eq(swz_skip_padding(&built.m, START, START + 2),
			  START + 1);
	ck_assert_uint_eq(swz_skip_padding(&built.m, START, START), START);
}
END_TEST

START_TEST(gaps_lie_between_functions)
{
	struct swz_unlisted_gaps gaps;
	const struct swz_unlisted_gap *g;
	uint64_t far = MODULE_TEXT + 0x4000;

	module_begin(&built);
	module_function(&built, START, "\xc3", 1);
	module_function(&built, far, "\xc3", 1);
	/* int3 is padding: code begins at +0x1008 */
	for (uint64_t at = START + 0x1008; at < far; at++)
		module_put(at, "\x55", 1);
	for (uint64_t at = MODULE_TEXT + 0x2000; at < MODULE_TEXT + 0x2040;
	     at++)
		module_put(at, "\xff", 1);
	built.m.plt[0] = (struct swz_range){MODULE_TEXT + 0x2000,
					    MODULE_TEXT + 0x2040};
	built.m.plt_count = 1;
	ck_assert(swz_unlisted_gaps_find(&gaps, &built.m));
	ck_assert_uint_eq(gaps.count, 2);
	ck_assert_uint_eq(gaps.of[0].begin, START + 0x1008);
	ck_assert_uint_eq(gaps.of[0].end, MODULE_TEXT + 0x2000);
	ck_assert_uint_eq(gaps.of[1].begin, MODULE_TEXT + 0x2040);
	ck_assert_uint_eq(gaps.of[1].end, far);
	ck_assert_ptr_null(swz_unlisted_gap_at(&gaps, START + 0x1007));
	g = swz_unlisted_gap_at(&gaps, START + 0x1008);
	ck_assert_ptr_eq(g, &gaps.of[0]);
	ck_assert_ptr_null(swz_unlisted_gap_at(&gaps, MODULE_TEXT + 0x2000));
	/* a call may lead anywhere, a pointer to what is aligned */
	ck_assert_uint_eq(swz_unlisted_next(&gaps, g, g->begin), g->end);
	swz_unlisted_note(&gaps, SWZ_UNLISTED_STORED, g, START + 0x1009);
	ck_assert_uint_eq(swz_unlisted_count(&gaps, g), 0);
	swz_unlisted_note(&gaps, SWZ_UNLISTED_STORED, g, START + 0x1010);
	swz_unlisted_note(&gaps, SWZ_UNLISTED_CALLED, g, START + 0x1109);
	ck_assert(swz_unlisted_has(&gaps, SWZ_UNLISTED_CALLED, g,
				   START + 0x1109));
	ck_assert(!swz_unlisted_has(&gaps, SWZ_UNLISTED_CALLED, g,
				    START + 0x1108));
	ck_assert_uint_eq(swz_unlisted_next(&gaps, g, g->begin),
			  START + 0x1010);
	ck_assert_uint_eq(swz_unlisted_next(&gaps, g, START + 0x1011),
			  START + 0x1109);
	ck_assert_uint_eq(swz_unlisted_count(&gaps, g), 2);
	swz_unlisted_note(&gaps, SWZ_UNLISTED_REFUTED, g, START + 0x1010);
	ck_assert_uint_eq(swz_unlisted_count(&gaps, g), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("references");
	TCase *t = tcase_create("references");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_loop_test(t, uses_of_an_address_are_told, 0,
			    sizeof(uses) / sizeof(*uses));
	tcase_add_test(t, calls_are_told);
	tcase_add_loop_test(t, the_got_is_looked_through, 0,
			    sizeof(by_got) / sizeof(*by_got));
	tcase_add_test(t, words_of_data_may_be_pointers);
	tcase_add_test(t, two_words_of_32_bits_may_be_labels);
	tcase_add_test(t, immediates_may_be_labels);
	tcase_add_test(t, padding_is_skipped);
	tcase_add_test(t, gaps_lie_between_functions);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
