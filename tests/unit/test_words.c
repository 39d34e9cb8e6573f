/* Words of the command line: abbreviations, near misses, what is said of a
 * wrong one. */

#include <stdlib.h>
#include <string.h>

#include "options/command_line.h"
#include "tests/unit/run_suite.h"

static const char *word_at(size_t index)
{
	static const char *const words[] = {"profile", "",       "trace",
					    "track",   "tracer", NULL};

	return words[index];
}

static const struct {
	const char *given;
	int index;
} abbreviations[] = {
	{"profile", 0},
	{"p", 0},
	{"prof", 0},
	{"profiles", SWZ_WORD_UNKNOWN},
	{"", SWZ_WORD_UNKNOWN},
	{"x", SWZ_WORD_UNKNOWN},
	{"rofile", SWZ_WORD_UNKNOWN},
	{"t", SWZ_WORD_AMBIGUOUS},
	{"trac", SWZ_WORD_AMBIGUOUS},
	{"trace", 2}, /* and not tracer */
	{"track", 3},
	{"tracer", 4},
};

START_TEST(finds_words_by_their_beginning)
{
	const char *given = abbreviations[_i].given;

	ck_assert_int_eq(swz_word_find(word_at, given, strlen(given)),
			 abbreviations[_i].index);
}
END_TEST

START_TEST(what_follows_the_word_is_not_looked_at)
{
	ck_assert_int_eq(swz_word_find(word_at, "prof=x", 4), 0);
	ck_assert_int_eq(swz_word_is(word_at, "trace=x", 5), 2);
	ck_assert_str_eq(swz_word_meant(word_at, "profiel=x", 7), "profile");
}
END_TEST

START_TEST(a_word_is_whole)
{
	ck_assert_int_eq(swz_word_is(word_at, "trace", 5), 2);
	ck_assert_int_eq(swz_word_is(word_at, "trac", 4), SWZ_WORD_UNKNOWN);
	ck_assert_int_eq(swz_word_is(word_at, "", 0), SWZ_WORD_UNKNOWN);
}
END_TEST

static const struct {
	const char *given;
	const char *meant; /* NULL: nothing */
} misses[] = {
	{"profle", "profile"},   /* a letter too few */
	{"proffile", "profile"}, /* too much */
	{"pxofile", "profile"},  /* another one */
	{"porfile", "profile"},  /* two in the wrong order count once */
	{"porfiel", "profile"},  /* two in seven */
	{"prxxile", "profile"},  /* two in seven */
	{"prxxxle", NULL},       /* three in seven */
	{"trcae", "trace"},      /* the nearest of three */
	{"trackr", "track"},
	{"x", NULL},
	{"", NULL},
	{"pppppppppppppppppppppppppppppppppppppppppppppppppppp", NULL},
};

START_TEST(guesses_what_was_meant)
{
	const char *given = misses[_i].given;
	const char *meant = swz_word_meant(word_at, given, strlen(given));

	if (misses[_i].meant)
		ck_assert_pstr_eq(meant, misses[_i].meant);
	else
		ck_assert_ptr_null(meant);
}
END_TEST

START_TEST(says_what_there_is)
{
	char text[SWZ_ADVICE_BYTES];

	swz_word_advice(word_at, "trcae", text);
	ck_assert_str_eq(text, "; did you mean 'trace'? There are: profile, "
			       "trace, track, tracer");
	swz_word_advice(word_at, "nothing", text);
	ck_assert_str_eq(text, ". There are: profile, trace, track, tracer");
}
END_TEST

START_TEST(complains_of_options)
{
	char text[SWZ_ADVICE_BYTES];

	swz_option_complaint(word_at, "--profiel=3", text);
	ck_assert_str_eq(text,
			 "unknown option --profiel; did you mean --profile?");
	swz_option_complaint(word_at, "--nothing", text);
	ck_assert_str_eq(text, "unknown option --nothing");
	swz_option_complaint(word_at, "--tr=x", text);
	ck_assert_str_eq(text, "option --tr could be several: --trace, "
			       "--track, --tracer");
}
END_TEST

/* More than the text has room for. */
static const char *long_at(size_t index)
{
	return index < 100 ? "abcdefghij" : NULL;
}

START_TEST(what_is_too_long_is_cut)
{
	static const char word[] = "--abcdefghijabcdefghij";
	char text[SWZ_ADVICE_BYTES + 1], *option = calloc(2000, 1);

	text[SWZ_ADVICE_BYTES] = 'x';
	swz_word_advice(long_at, "abc", text);
	ck_assert_uint_eq(strlen(text), SWZ_ADVICE_BYTES - 1);
	swz_option_complaint(long_at, "--abc", text);
	ck_assert_uint_eq(strlen(text), SWZ_ADVICE_BYTES - 1);
	swz_option_complaint(long_at, word, text);
	ck_assert_str_eq(text, "unknown option --abcdefghijabcdefghij");
	ck_assert_ptr_nonnull(option);
	memset(option, '-', 1999);
	swz_option_complaint(long_at, option, text);
	ck_assert_uint_eq(strlen(text), SWZ_ADVICE_BYTES - 1);
	ck_assert_int_eq(text[SWZ_ADVICE_BYTES], 'x');
	free(option);
}
END_TEST

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

int main(void)
{
	Suite *suite = suite_create("words");
	TCase *tcase = tcase_create("words");

	tcase_add_loop_test(tcase, finds_words_by_their_beginning, 0,
			    COUNT(abbreviations));
	tcase_add_test(tcase, what_follows_the_word_is_not_looked_at);
	tcase_add_test(tcase, a_word_is_whole);
	tcase_add_loop_test(tcase, guesses_what_was_meant, 0, COUNT(misses));
	tcase_add_test(tcase, says_what_there_is);
	tcase_add_test(tcase, complains_of_options);
	tcase_add_test(tcase, what_is_too_long_is_cut);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
