/* Lists of shell patterns, as fnmatch() has them, and what a list as a whole
 * says of a name. */

#include <check.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"

static unsigned found(const char *list, const char *a, const char *b)
{
	const char *texts[] = {a, b};

	return swz_patterns_find(list, texts, b ? 2 : 1, NULL);
}

static bool includes(const char *list, const char *a, const char *b)
{
	return found(list, a, b) & SWZ_PATTERN_WANTS;
}

static bool excludes(const char *list, const char *a, const char *b)
{
	return found(list, a, b) & SWZ_PATTERN_EXCLUDES;
}

static bool names(const char *list, const char *a, const char *b)
{
	return swz_patterns_decide(list, found(list, a, b));
}

/* All patterns of up to five of these characters, on all texts of up to four:
 * as the C library has it. */
static const char pattern_characters[] = "ab*?[]!-";
static const char text_characters[] = "ab-";

static bool next_string(char *string, size_t most, const char *characters)
{
	size_t length = strlen(string), count = strlen(characters);

	for (size_t i = 0; i < length; i++) {
		size_t at = (size_t)(strchr(characters, string[i]) -
				     characters);

		if (at + 1 < count) {
			string[i] = characters[at + 1];
			return true;
		}
		string[i] = characters[0];
	}
	if (length == most)
		return false;
	string[length] = characters[0];
	string[length + 1] = '\0';
	return true;
}

static void check_pattern(const char *pattern)
{
	char text[5] = "";

	do {
		bool expected = fnmatch(pattern, text, FNM_NOESCAPE) == 0;

		if (includes(pattern, text, NULL) != expected)
			ck_abort_msg("'%s' on '%s': not %d", pattern, text,
				     expected);
	} while (next_string(text, 3, text_characters));
}

START_TEST(matches_as_the_c_library_does)
{
	char pattern[7] = "";
	unsigned checked = 0;

	while (next_string(pattern, 5, pattern_characters)) {
		if (pattern[0] == '!' || !swz_patterns_are_valid(pattern))
			continue;
		check_pattern(pattern);
		checked++;
	}
	ck_assert_uint_gt(checked, 10000);
}
END_TEST

START_TEST(a_star_goes_back)
{
	ck_assert(includes("*abc*abd", "abcabcabd", NULL));
	ck_assert(!includes("*abc*abd", "abcabcabdx", NULL));
	ck_assert(includes("a*b*c", "a/b/c/b/c", NULL));
	ck_assert(includes("[^a]*", "ba", NULL));
	ck_assert(!includes("[^a]*", "ab", NULL));
	ck_assert(includes("[]a]", "]", NULL));
	ck_assert(includes("[a-]", "-", NULL));
	ck_assert(includes("x[a-cx]", "xb", NULL));
}
END_TEST

START_TEST(sets_must_be_closed)
{
	static const struct {
		const char *list;
		bool is_valid;
	} lists[] = {
		{"", true},         {"a", true},      {"!a", true},
		{"!", false},       {"a\n!", false},  {"!\na", false},
		{"[a]", true},      {"[a", false},    {"[", false},
		{"[]", false},      {"[]]", true},    {"[!]", false},
		{"[!]]", true},     {"[^]", false},   {"[^]]", true},
		{"[a]\n[b", false}, {"[a\n]", false}, {"a\n\nb", true},
		{"]", true},        {"![a]", true},   {"![a", false},
		{"\n", true},       {"[a][", false},  {"[[]", true},
	};

	ck_assert_msg(swz_patterns_are_valid(lists[_i].list) ==
			      lists[_i].is_valid,
		      "%s", lists[_i].list);
}
END_TEST

/* One that excludes wins, wherever it stands; if all do, all else is named. */
START_TEST(a_list_names)
{
	static const struct {
		const char *list, *name;
		bool is_named;
	} cases[] = {
		{NULL, "a", false},       {"", "a", true},
		{"a", "a", true},         {"a", "b", false},
		{"a\nb", "b", true},      {"b\na", "b", true},
		{"!a", "a", false},       {"!a", "b", true},
		{"a*\n!ab", "ab", false}, {"!ab\na*", "ab", false},
		{"a*\n!ab", "ac", true},  {"a*\n!ab", "b", false},
		{"\n\na\n\n", "a", true}, {"\n", "a", true},
		{"!a\n!b", "b", false},   {"!a\n!b", "c", true},
	};

	ck_assert_msg(names(cases[_i].list, cases[_i].name, NULL) ==
			      cases[_i].is_named,
		      "%s on %s", cases[_i].list, cases[_i].name);
}
END_TEST

START_TEST(either_of_two_names_counts)
{
	ck_assert(names("b", "a", "b"));
	ck_assert(names("a", "a", "b"));
	ck_assert(!names("c", "a", "b"));
	ck_assert(!names("*\n!b", "a", "b"));
	ck_assert(excludes("!b", "a", "b"));
	ck_assert(!excludes("b", "a", "b"));
	ck_assert(!includes("!b", "a", "b"));
}
END_TEST

START_TEST(notes_which_patterns_match)
{
	const char *list = "x\n\na*\n!b\n[bc]\n!d", *texts[] = {"ab", "b"};
	struct swz_pattern_hits hits = {{0}};
	struct swz_pattern p;

	ck_assert_uint_eq(swz_patterns_find(list, texts, 1, &hits),
			  SWZ_PATTERN_WANTS);
	ck_assert_uint_eq(hits.bits[0], 2);
	ck_assert_uint_eq(swz_patterns_find(list, texts, 2, &hits),
			  SWZ_PATTERN_WANTS | SWZ_PATTERN_EXCLUDES);
	ck_assert_uint_eq(hits.bits[0], 2 | 4 | 8);
	ck_assert(swz_patterns_next(&list, &p));
	ck_assert(swz_patterns_next(&list, &p));
	ck_assert(swz_patterns_next(&list, &p));
	ck_assert(p.excludes);
	ck_assert_uint_eq(p.length, 2);
	ck_assert_str_eq(p.text, "!b\n[bc]\n!d");
	ck_assert(swz_patterns_next(&list, &p));
	ck_assert(swz_patterns_next(&list, &p));
	ck_assert(!swz_patterns_next(&list, &p));
}
END_TEST

START_TEST(notes_no_more_than_there_is_room_for)
{
	enum { COUNT = SWZ_PATTERNS_NOTED + 64 };
	static char list[2 * COUNT + 1];
	struct {
		struct swz_pattern_hits hits;
		uint64_t behind;
	} noted = {{{0}}, 0};
	const char *text = "a";

	for (unsigned i = 0; i < COUNT; i++)
		memcpy(list + (size_t)2 * i, "a\n", 3);
	swz_patterns_find(list, &text, 1, &noted.hits);
	ck_assert_uint_eq(noted.hits.bits[SWZ_PATTERNS_NOTED / 64 - 1],
			  UINT64_MAX);
	ck_assert_uint_eq(noted.behind, 0);
}
END_TEST

START_TEST(positive_ones_are_found)
{
	ck_assert(!swz_patterns_any_positive(NULL));
	ck_assert(!swz_patterns_any_positive(""));
	ck_assert(!swz_patterns_any_positive("\n\n"));
	ck_assert(!swz_patterns_any_positive("!a\n!b"));
	ck_assert(!swz_patterns_any_positive("!"));
	ck_assert(swz_patterns_any_positive("!a\nb"));
	ck_assert(swz_patterns_any_positive("b\n!a"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pattern");
	TCase *t = tcase_create("pattern");

	tcase_add_test(t, matches_as_the_c_library_does);
	tcase_add_test(t, a_star_goes_back);
	tcase_add_loop_test(t, sets_must_be_closed, 0, 24);
	tcase_add_loop_test(t, a_list_names, 0, 16);
	tcase_add_test(t, either_of_two_names_counts);
	tcase_add_test(t, notes_which_patterns_match);
	tcase_add_test(t, notes_no_more_than_there_is_room_for);
	tcase_add_test(t, positive_ones_are_found);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
