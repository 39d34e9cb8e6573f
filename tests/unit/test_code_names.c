/* Perf maps and jitdump files: which name an address has, and when. */

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "profile/file/code_files.h"
#include "tests/unit/run_suite.h"

static struct swz_code_ranges ranges;

static void set_up(void)
{
	ranges = (struct swz_code_ranges){0};
}

static void tear_down(void)
{
	swz_code_ranges_free(&ranges);
}

static size_t read_map(const char *text, uint64_t time_ns)
{
	return swz_perf_map_read(&ranges, text, strlen(text), time_ns);
}

static const char *name_at(uint64_t address, uint64_t time_ns)
{
	const char *name = swz_code_ranges_find(&ranges, address, time_ns);

	return name ? name : "none";
}

START_TEST(numbers_are_hexadecimal_and_names_may_hold_blanks)
{
	read_map("1000 20 int java.lang.Math.max(int, int)\n"
		 "0x2000 0x10 with 0x\n"
		 "0XabC0\t1F \ttabs\n",
		 0);
	ck_assert_str_eq(name_at(0x1000, 0),
			 "int java.lang.Math.max(int, int)");
	ck_assert_str_eq(name_at(0x101f, 0),
			 "int java.lang.Math.max(int, int)");
	ck_assert_str_eq(name_at(0x1020, 0), "none");
	ck_assert_str_eq(name_at(0xfff, 0), "none");
	ck_assert_str_eq(name_at(0x200f, 0), "with 0x");
	ck_assert_str_eq(name_at(0xabde, 0), "tabs");
}
END_TEST

START_TEST(lines_that_say_nothing_are_passed_over)
{
	const char *text = "\n \n# comment\nxyz 10 name\n1000\n1000 10\n"
			   "1000 10 \n1000 0 empty\n11111111111111111 1 long\n"
			   "7ffffffffff0 20 too far\nffffffffff600000 8 high\n"
			   "1000 7fffffffffffffff large\n-1 10 minus\n"
			   "1000 0x10name\n2000 10 good\n";

	ck_assert_uint_eq(read_map(text, 0), strlen(text));
	ck_assert_uint_eq(ranges.count, 1);
	ck_assert_str_eq(name_at(0x2000, 0), "good");
}
END_TEST

START_TEST(a_line_without_its_end_waits)
{
	ck_assert_uint_eq(read_map("1000 10 a\n2000 10 hal", 0), 10);
	ck_assert_str_eq(name_at(0x2000, 0), "none");
}
END_TEST

START_TEST(a_later_line_wins)
{
	read_map("1000 100 whole\n1010 10 part\n", 0);
	ck_assert_str_eq(name_at(0x1018, 0), "part");
	ck_assert_str_eq(name_at(0x1020, 0), "whole");
	read_map("1000 100 new\n", 0);
	ck_assert_str_eq(name_at(0x1018, 0), "new");
}
END_TEST

START_TEST(what_came_later_was_not_there_before)
{
	read_map("1000 100 first\n", 0);
	read_map("1000 100 second\n", 50);
	read_map("1000 10 third\n", 90);
	ck_assert_str_eq(name_at(0x1008, 49), "first");
	ck_assert_str_eq(name_at(0x1008, 50), "second");
	ck_assert_str_eq(name_at(0x1008, 100), "third");
	ck_assert_str_eq(name_at(0x1010, 100), "second");
	read_map("5000 10 late\n5000 10 later\n", 200);
	read_map("5000 10 latest\n", 300);
	ck_assert_str_eq(name_at(0x5000, 100), "later");
}
END_TEST

START_TEST(a_function_that_v8_compiled_often_is_one)
{
	static const struct {
		const char *line, *name;
	} cases[] = {
		{"1000 10 JS:~f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:^f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:*f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:+f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:o+f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:+'f /a b.js:1:2\n", "f /a b.js:1:2"},
		{"1000 10 JS:o*f x.js:1\n", "f x.js:1"},
		{"1000 10 JS:of x.js:1\n", "JS:of x.js:1"},
		{"1000 10 LazyCompile:*f x.js:1\n", "f x.js:1"},
		{"1000 10 Function:~f x.js:1\n", "f x.js:1"},
		{"1000 10 JS:~ x.js:9:1\n", "(anonymous) x.js:9:1"},
		{"1000 10 JS:*\n", "(anonymous)"},
		{"1000 10 JS:f x.js:1\n", "JS:f x.js:1"},
		{"1000 10 Builtin:ArrayMap\n", "Builtin:ArrayMap"},
		{"1000 10 *star\n", "*star"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		read_map(cases[i].line, 0);
		ck_assert_str_eq(name_at(0x1000, 0), cases[i].name);
	}
}
END_TEST

START_TEST(names_hold_no_control_characters)
{
	static const char text[] = "1000 10 a\033[31mb\n2000 10 c\0d\n";

	swz_perf_map_read(&ranges, text, sizeof(text) - 1, 0);
	ck_assert_str_eq(name_at(0x1000, 0), "a");
	ck_assert_str_eq(name_at(0x2000, 0), "c");
}
END_TEST

static uint64_t state = 11;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

/* As one list that is searched from its end. */
START_TEST(many_ranges_are_found_as_in_a_plain_list)
{
	enum { COUNT = 3000, TRIES = 20000, SPACE = 1 << 16 };
	static struct {
		uint64_t start, size, time;
		char name[16];
	} all[COUNT];

	for (unsigned i = 0; i < COUNT; i++) {
		char line[64];

		all[i].start = draw(SPACE);
		all[i].size = 1 + draw(1u << draw(14));
		all[i].time = i;
		snprintf(all[i].name, sizeof(all[i].name), "n%u", i);
		snprintf(line, sizeof(line), "%x %x %s\n",
			 (unsigned)all[i].start, (unsigned)all[i].size,
			 all[i].name);
		read_map(line, i);
		if (draw(10) == 0)
			(void)name_at(draw(SPACE), i);
	}
	for (unsigned i = 0; i < TRIES; i++) {
		uint64_t address = draw(SPACE), time = draw(COUNT);
		const char *expected = "none";

		for (unsigned j = 0; j < COUNT; j++)
			if (address - all[j].start < all[j].size &&
			    (all[j].time <= time ||
			     strcmp(expected, "none") == 0)) {
				expected = all[j].name;
			}
		ck_assert_str_eq(name_at(address, time), expected);
	}
}
END_TEST

/* ------------------------------------------------------------- jitdump */

static uint8_t bytes[4096];
static size_t used;

static void put(const void *what, size_t size)
{
	memcpy(bytes + used, what, size);
	used += size;
}

static void put_header(uint64_t flags)
{
	uint32_t head[6] = {0x4a695444, 1, 40, 62, 0, 1};
	uint64_t tail[2] = {0, flags};

	used = 0;
	put(head, sizeof(head));
	put(tail, sizeof(tail));
}

static void put_load(uint64_t time, uint64_t at, uint64_t size, uint64_t index,
		     const char *name)
{
	uint64_t words[7] = {(56 + strlen(name) + 1 + size) << 32,
			     time,
			     0,
			     at,
			     at,
			     size,
			     index};

	put(words, sizeof(words));
	put(name, strlen(name) + 1);
	memset(bytes + used, 0xcc, size);
	used += size;
}

static void put_move(uint64_t time, uint64_t to, uint64_t size, uint64_t index)
{
	uint64_t words[8] = {1 | 64ull << 32, time, 0, to, 0, to, size, index};

	put(words, sizeof(words));
}

START_TEST(a_dump_says_when_code_was_made_and_moved)
{
	struct swz_jitdump dump = {0};
	uint64_t unknown[3] = {9 | 24ull << 32, 5, 77};

	put_header(0);
	put_load(10, 0x1000, 16, 1, "JS:*f x.js:1:1");
	put(unknown, sizeof(unknown));
	put_load(20, 0x2000, 16, 2, "g");
	put_load(30, 0x1000, 16, 3, "h");
	put_move(40, 0x2000, 16, 1);
	put_move(40, 0x9000, 16, 99);
	ck_assert_uint_eq(swz_jitdump_read(&dump, &ranges, bytes, used), used);
	ck_assert_str_eq(name_at(0x100f, 15), "f x.js:1:1");
	ck_assert_str_eq(name_at(0x1000, 30), "h");
	ck_assert_str_eq(name_at(0x2000, 39), "g");
	ck_assert_str_eq(name_at(0x2000, 40), "f x.js:1:1");
	ck_assert_str_eq(name_at(0x9000, 50), "none");
	swz_jitdump_free(&dump);
}
END_TEST

START_TEST(a_dump_may_come_in_pieces)
{
	size_t whole;

	put_header(0);
	put_load(10, 0x1000, 16, 1, "f");
	put_load(20, 0x2000, 900, 2, "g");
	put_load(30, 0x3000, 16, 3, "h");
	whole = used;
	for (size_t piece = 1; piece < whole; piece++) {
		struct swz_jitdump dump = {0};
		uint64_t at = 0, end;

		swz_code_ranges_free(&ranges);
		for (end = piece; at < whole; end += piece) {
			if (end > whole)
				end = whole;
			if (at < end)
				at += swz_jitdump_read(&dump, &ranges,
						       bytes + at, end - at);
		}
		ck_assert_uint_eq(at, whole);
		ck_assert_uint_eq(ranges.count, 3);
		ck_assert_str_eq(name_at(0x3000, 30), "h");
		swz_jitdump_free(&dump);
	}
}
END_TEST

START_TEST(times_of_another_clock_are_none)
{
	struct swz_jitdump dump = {0};

	put_header(1);
	put_load(1000, 0x1000, 16, 1, "f");
	put_load(2000, 0x1000, 16, 1, "g");
	swz_jitdump_read(&dump, &ranges, bytes, used);
	ck_assert_str_eq(name_at(0x1000, 5), "g");
	swz_jitdump_free(&dump);
}
END_TEST

START_TEST(what_is_no_dump_is_left)
{
	struct swz_jitdump dump = {0};

	put_header(0);
	bytes[0] ^= 1;
	put_load(10, 0x1000, 16, 1, "f");
	ck_assert_uint_eq(swz_jitdump_read(&dump, &ranges, bytes, used), used);
	ck_assert_uint_eq(ranges.count, 0);
	swz_jitdump_free(&dump);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("code_names");
	TCase *map = tcase_create("map"), *dump = tcase_create("dump");

	tcase_add_checked_fixture(map, set_up, tear_down);
	tcase_add_test(map, numbers_are_hexadecimal_and_names_may_hold_blanks);
	tcase_add_test(map, lines_that_say_nothing_are_passed_over);
	tcase_add_test(map, a_line_without_its_end_waits);
	tcase_add_test(map, a_later_line_wins);
	tcase_add_test(map, what_came_later_was_not_there_before);
	tcase_add_test(map, a_function_that_v8_compiled_often_is_one);
	tcase_add_test(map, names_hold_no_control_characters);
	tcase_add_test(map, many_ranges_are_found_as_in_a_plain_list);
	suite_add_tcase(suite, map);
	tcase_add_checked_fixture(dump, set_up, tear_down);
	tcase_add_test(dump, a_dump_says_when_code_was_made_and_moved);
	tcase_add_test(dump, a_dump_may_come_in_pieces);
	tcase_add_test(dump, times_of_another_clock_are_none);
	tcase_add_test(dump, what_is_no_dump_is_left);
	suite_add_tcase(suite, dump);
	return run_suite(suite);
}
