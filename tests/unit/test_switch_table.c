/* Where jumps by tables of distances lead: what the instructions before say of
 * the table, its base and its bound, and what is read of it. */

#include <check.h>
#include <string.h>

#include "runtime/discovery/code_flow.h"
#include "tests/unit/module_builder.h"
#include "tests/unit/run_suite.h"

enum { CODE = MODULE_TEXT + 0x100, TABLE = MODULE_CONSTANTS + 0x200 };

static struct built_module built;
static struct swz_switch s;
static uint64_t code_end;
static uint64_t found[64];
static unsigned found_count;

static void set_up(void)
{
	module_begin(&built);
	memset(&s, 0, sizeof(s));
	code_end = CODE;
	found_count = 0;
}

static void note(void *context, uint64_t to)
{
	ck_assert_ptr_eq(context, &s);
	ck_assert_uint_lt(found_count, sizeof(found) / sizeof(*found));
	found[found_count++] = to;
}

static void add(const char *bytes, size_t size)
{
	module_put(code_end, bytes, size);
	code_end += size;
}

#define ADD(text) add(text, sizeof(text) - 1)

/* lea `to`(%rip), %reg */
static void add_lea(unsigned reg, uint64_t to)
{
	uint8_t lea[] = {reg >= 8 ? 0x4c : 0x48, 0x8d,
			 (uint8_t)((reg & 7) << 3 | 5)};

	add((const char *)lea, sizeof(lea));
	module_put32(code_end, (int64_t)to - (int64_t)code_end - 4);
	code_end += 4;
}

/* Takes what was added into account. */
static void follow(void)
{
	for (uint64_t pc = CODE, next; pc < code_end; pc = next) {
		struct swz_encoding e = module_encoding(&built, pc, &next);

		swz_switch_follow(&s, &built.m, &e,
				  swz_module_bytes(&built.m, pc), next);
	}
}

static void put_distances(uint64_t at, const int32_t *distances, unsigned count)
{
	module_put(at, distances, count * sizeof(*distances));
}

/* cmp $5, %edi; ja; lea table, %rdx; movslq (%rdx,%rdi,4), %rax;
 * add %rdx, %rax; jmp *%rax */
static void add_switch(void)
{
	ADD("\x83\xff\x05\x77\x20");
	add_lea(2, TABLE);
	ADD("\x48\x63\x04\xba\x48\x01\xd0");
}

START_TEST(a_switch_is_followed_to_its_table)
{
	static const int32_t distances[] = {
		MODULE_TEXT - TABLE,       MODULE_TEXT + 8 - TABLE,
		MODULE_CONSTANTS - TABLE,  MODULE_TEXT + 16 - TABLE,
		MODULE_TEXT - 1 - TABLE,   MODULE_CONSTANTS - 1 - TABLE,
		MODULE_TEXT + 0x20 - TABLE};

	add_switch();
	follow();
	ck_assert_uint_eq(s.table, TABLE);
	ck_assert_uint_eq(s.base, TABLE);
	ck_assert_uint_eq(s.bound, 5);
	ck_assert(swz_switch_is_bounded(&s));
	put_distances(TABLE, distances, 7);
	ck_assert(swz_switch_read(&s, &built.m, note, &s));
	/* of six entries those that are text */
	ck_assert_uint_eq(found_count, 4);
	ck_assert_uint_eq(found[0], MODULE_TEXT);
	ck_assert_uint_eq(found[1], MODULE_TEXT + 8);
	ck_assert_uint_eq(found[2], MODULE_TEXT + 16);
	ck_assert_uint_eq(found[3], MODULE_CONSTANTS - 1);
}
END_TEST

/* Forms in which compilers write the same. */
START_TEST(other_forms_are_followed)
{
	static const struct {
		const char *what, *code;
		size_t size;
		uint64_t table, base;
	} forms[] = {
#define FORM(text) text, sizeof(text) - 1
		{"movslq (%rsi,%rax,4), %rax; add %rax, %rsi",
		 FORM("\x48\x63\x04\x86\x48\x01\xc6"), TABLE, TABLE},
		{"the same, add in its other direction",
		 FORM("\x48\x63\x04\x86\x48\x03\xc6"), TABLE, TABLE},
		{"a copy of the address is the base",
		 FORM("\x49\x89\xf0\x48\x63\x04\x86\x4c\x01\xc0"), TABLE,
		 TABLE},
		{"and a copy by mov in its other direction",
		 FORM("\x4c\x8b\xc6\x48\x63\x04\x86\x4c\x01\xc0"), TABLE,
		 TABLE},
		{"the address is loaded anew: not known",
		 FORM("\x48\x8b\x36\x48\x63\x04\x86\x48\x01\xc6"), 0, 0},
		{"the address is popped: not known",
		 FORM("\x5e\x48\x63\x04\x86\x48\x01\xc6"), 0, 0},
		{"%r14 is popped, not %rsi",
		 FORM("\x41\x5e\x48\x63\x04\x86\x48\x01\xc6"), TABLE, TABLE},
		{"a constant instead: not known",
		 FORM("\xbe\1\0\0\0\x48\x63\x04\x86\x48\x01\xc6"), 0, 0},
		{"an offset that is in a register: not known",
		 FORM("\x48\x63\xf6\x48\x01\xf0"), 0, 0},
		{"the offset takes the address's place",
		 FORM("\x48\x63\x34\x86\x48\x01\xf0"), TABLE, 0},
		{"add of memory says nothing",
		 FORM("\x48\x63\x04\x86\x48\x03\x06"), TABLE, 0},
		{"add to memory says nothing",
		 FORM("\x48\x63\x04\x86\x48\x01\x06"), TABLE, 0},
		{"a sum is no address any more",
		 FORM("\x48\x01\xc6\x48\x63\x04\x86\x48\x01\xc6"), 0, 0},
		{"lea of something else",
		 FORM("\x48\x8d\x37\x48\x63\x04\x86\x48\x01\xc6"), 0, 0},
		{"another opcode map's 63 is none",
		 FORM("\x66\x0f\x63\x04\x86\x48\x01\xc6"), 0, TABLE},
	};

	add_lea(6, TABLE);
	add(forms[_i].code, forms[_i].size);
	follow();
	ck_assert_msg(s.table == forms[_i].table && s.base == forms[_i].base,
		      "%s: table %#lx, base %#lx", forms[_i].what,
		      (unsigned long)s.table, (unsigned long)s.base);
}
END_TEST

START_TEST(bounds_are_read)
{
	static const struct {
		const char *code;
		size_t size;
		uint32_t bound;
		bool known;
	} bounds[] = {
		{FORM("\x83\xff\x07"), 7, true},          /* cmp $7, %edi */
		{FORM("\x81\xff\xff\3\0\0"), 1023, true}, /* cmp $1023 */
		{FORM("\x81\xff\0\4\0\0"), 1024, false},
		{FORM("\x80\xff\x07"), 7, true},  /* cmp $7, %bh */
		{FORM("\x83\xe7\x07"), 7, true},  /* and $7, %edi */
		{FORM("\x83\xcf\x07"), 0, false}, /* or */
		{FORM("\x83\xef\x07"), 0, false}, /* sub */
		{FORM("\x3c\x09"), 9, true},      /* cmp $9, %al */
		{FORM("\x3d\x09\0\0\0"), 9, true},
		{FORM("\x24\x0f"), 15, true}, /* and $15, %al */
		{FORM("\x25\x0f\0\0\0"), 15, true},
		{FORM("\x34\x0f"), 0, false}, /* xor */
		{FORM("\x90"), 0, false},
	};

	add(bounds[_i].code, bounds[_i].size);
	follow();
	ck_assert_uint_eq(s.bound, bounds[_i].bound);
	ck_assert_int_eq(swz_switch_is_bounded(&s), bounds[_i].known);
}
END_TEST

START_TEST(a_bound_is_forgotten_after_16_instructions)
{
	ADD("\x83\xff\x07");
	for (unsigned i = 0; i < 15; i++)
		ADD("\x90");
	follow();
	ck_assert(swz_switch_is_bounded(&s));
	code_end = CODE;
	ADD("\x90");
	follow();
	ck_assert(!swz_switch_is_bounded(&s));
	code_end = CODE;
	for (unsigned i = 0; i < 300; i++)
		ADD("\x90");
	follow();
	ck_assert(!swz_switch_is_bounded(&s));
}
END_TEST

START_TEST(no_table_is_read_that_is_not_known)
{
	s.table = TABLE;
	ck_assert(!swz_switch_read(&s, &built.m, note, &s));
	s.table = 0;
	s.base = TABLE;
	ck_assert(!swz_switch_read(&s, &built.m, note, &s));
	s.table = TABLE;
	ck_assert(swz_switch_read(&s, &built.m, note, &s));
}
END_TEST

START_TEST(a_table_ends_with_its_segment)
{
	static const int32_t distance = MODULE_TEXT - (MODULE_DATA - 4);

	s.table = s.base = MODULE_DATA - 4;
	s.bound = 5;
	module_put(MODULE_DATA - 4, &distance, 4);
	ck_assert(swz_switch_read(&s, &built.m, note, &s));
	ck_assert_uint_eq(found_count, 1);
	s.table = s.base = MODULE_DATA - 3;
	ck_assert(swz_switch_read(&s, &built.m, note, &s));
	ck_assert_uint_eq(found_count, 1);
}
END_TEST

static bool is_at(uint64_t table)
{
	return swz_switch_is_at(&built.m, built.decoder, CODE, code_end, table);
}

START_TEST(a_switch_is_known_again)
{
	add_switch();
	ADD("\xff\xe0"); /* jmp *%rax */
	ck_assert(is_at(TABLE));
	ck_assert(!is_at(TABLE + 4));
	code_end -= 2; /* it is not there yet */
	ck_assert(!is_at(TABLE));
}
END_TEST

START_TEST(what_is_between_ends_the_search)
{
	static const struct {
		const char *code;
		size_t size;
		bool is_at;
	} between[] = {
		{FORM("\xff\xe0"), true},
		{FORM("\x3e\xff\xe0"), true},     /* notrack */
		{FORM("\xff\x20"), false},        /* jmp *(%rax) */
		{FORM("\x74\x10\xff\xe0"), true}, /* je */
		{FORM("\xeb\x00\xff\xe0"), false},
		{FORM("\xe8\0\0\0\0\xff\xe0"), false},
		{FORM("\xc3\xff\xe0"), false},
		{FORM("\x06\xff\xe0"), false}, /* no instruction */
		{FORM("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xff\xe0"),
		 true}, /* the 16th */
		{FORM("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xff\xe0"),
		 false},
	};

	add_switch();
	add(between[_i].code, between[_i].size);
	ck_assert_int_eq(is_at(TABLE), between[_i].is_at);
}
END_TEST

/* The offset comes from another table than the base. */
START_TEST(base_and_table_must_be_the_same)
{
	add_lea(6, TABLE + 64);
	add_lea(2, TABLE);
	ADD("\x48\x63\x04\xba\x48\x01\xf0\xff\xe0");
	ck_assert(!is_at(TABLE));
	ck_assert(!is_at(TABLE + 64));
}
END_TEST

/* -------------------------------------------------------- distance tables */

START_TEST(what_may_be_written_to_is_read_from_the_file)
{
	uint64_t constants = MODULE_CONSTANTS + 16, data = MODULE_DATA + 16;
	struct swz_bytes words;

	module_put32(constants, 5);
	module_put32_in_file(constants, 6);
	module_put32(data, 5);
	module_put32_in_file(data, 6);
	words = swz_distance_table_at(&built.m, constants);
	ck_assert_uint_eq(words.data[0], 5);
	ck_assert_uint_eq(words.size, MODULE_DATA - constants);
	words = swz_distance_table_at(&built.m, data);
	ck_assert_uint_eq(words.data[0], 6);
	ck_assert_uint_eq(words.size, MODULE_END - data);
	/* the file is shorter, or is not there */
	built.m.file.file.size = MODULE_END - MODULE_TEXT - 1;
	words = swz_distance_table_at(&built.m, data);
	ck_assert_uint_eq(words.data[0], 5);
	built.m.file.file.size = data - MODULE_TEXT - 1;
	words = swz_distance_table_at(&built.m, data);
	ck_assert_uint_eq(words.data[0], 5);
	built.m.file.file.size = 0;
	words = swz_distance_table_at(&built.m, data);
	ck_assert_uint_eq(words.data[0], 5);
}
END_TEST

START_TEST(a_table_is_where_something_may_be_read)
{
	struct swz_bytes words;

	words = swz_distance_table_at(&built.m, MODULE_END - 1);
	ck_assert_uint_eq(words.size, 1);
	words = swz_distance_table_at(&built.m, MODULE_END);
	ck_assert_uint_eq(words.size, 0);
	words = swz_distance_table_at(&built.m, MODULE_TEXT - 1);
	ck_assert_uint_eq(words.size, 0);
	words = swz_distance_table_at(&built.m, MODULE_TEXT);
	ck_assert_uint_eq(words.size, MODULE_CONSTANTS - MODULE_TEXT);
	built.segments[1].p_flags = PF_X;
	words = swz_distance_table_at(&built.m, MODULE_CONSTANTS);
	ck_assert_uint_eq(words.size, 0);
	built.segments[0].p_type = PT_NOTE;
	words = swz_distance_table_at(&built.m, MODULE_TEXT);
	ck_assert_uint_eq(words.size, 0);
	built.segments[2].p_filesz = UINT64_C(1) << 30;
	built.m.file.file.size = 0;
	words = swz_distance_table_at(&built.m, MODULE_DATA);
	ck_assert_uint_eq(words.size, 262144);
}
END_TEST

START_TEST(distances_lead_up_to_the_first_that_leads_out)
{
	static const char body[64] = {0};
	const uint64_t label = MODULE_TEXT + 16;
	struct swz_function *f = module_function(&built, MODULE_TEXT, body,
						 sizeof(body));
	static const int32_t distances[] = {-16, 0, 47, 48, 1};

	put_distances(TABLE, distances, 5);
	swz_distance_table_read(&built.m, f, label, TABLE, note, &s);
	ck_assert_uint_eq(found_count, 3);
	ck_assert_uint_eq(found[0], MODULE_TEXT);
	ck_assert_uint_eq(found[1], label);
	ck_assert_uint_eq(found[2], MODULE_TEXT + 63);
	f->room = f->size - 1; /* another lies within it */
	found_count = 0;
	swz_distance_table_read(&built.m, f, label, TABLE, note, &s);
	ck_assert_uint_eq(found_count, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("switch_table");
	TCase *t = tcase_create("switch_table");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_switch_is_followed_to_its_table);
	tcase_add_loop_test(t, other_forms_are_followed, 0, 15);
	tcase_add_loop_test(t, bounds_are_read, 0, 13);
	tcase_add_test(t, a_bound_is_forgotten_after_16_instructions);
	tcase_add_test(t, no_table_is_read_that_is_not_known);
	tcase_add_test(t, a_table_ends_with_its_segment);
	tcase_add_test(t, a_switch_is_known_again);
	tcase_add_loop_test(t, what_is_between_ends_the_search, 0, 10);
	tcase_add_test(t, base_and_table_must_be_the_same);
	tcase_add_test(t, what_may_be_written_to_is_read_from_the_file);
	tcase_add_test(t, a_table_is_where_something_may_be_read);
	tcase_add_test(t, distances_lead_up_to_the_first_that_leads_out);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
