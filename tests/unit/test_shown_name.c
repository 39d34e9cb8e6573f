/* Names as they are shown. What is expected was written by hand, from the
 * source that a symbol is of; the symbols are those that gdc 12, gfortran 12
 * and gnat 12 have made of it. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "tests/unit/run_suite.h"

#define BOTH (SWZ_FORTRAN | SWZ_ADA)

static const struct {
	const char *symbol;
	unsigned languages;
	const char *simple, *full; /* NULL: shown as it is */
} cases[] = {
	{"_ZN3foo3barIiEEvT_", 0, "foo::bar<int>", "void foo::bar<int>(int)"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", 0, "core::fmt::write",
	 "core::fmt::write"},
	{"_ZN1r4work17h1eab6cb397fdfa44E.llvm.1008872606318968965", 0,
	 "r::work", "r::work"},
	{"_ZN1r4work17h1eab6cb397fdfa44E.cold", 0, "r::work", "r::work"},
	{"_RNvC6_123foo3bar", 0, "123foo::bar", "123foo::bar"},
	{"_RNvC6_123foo3bar.llvm.123", 0, "123foo::bar", "123foo::bar"},
	/* D, in any module */
	{"_D6shapes5round5plainFiZi", 0, "shapes.round.plain",
	 "shapes.round.plain(int)"},
	{"_D6shapes5round6Circle4areaMFZi", 0, "shapes.round.Circle.area",
	 "shapes.round.Circle.area()"},
	{"_D6shapes5round6Circle6__ctorMFiZCQBgQBcQz", 0,
	 "shapes.round.Circle.this", "shapes.round.Circle.this(int)"},
	{"_D6shapes5round4mainFZ9__lambda5MFNaNbNiNfiZi", 0,
	 "shapes.round.main().__lambda5", "shapes.round.main().__lambda5(int)"},
	{"_D6shapes5round__T5twiceTiZQjFNaNbNiNfiZi", 0,
	 "shapes.round.twice!(int).twice",
	 "shapes.round.twice!(int).twice(int)"},
	{"_D6shapes5round6Circle4areaMxFZi", 0, "shapes.round.Circle.area",
	 "shapes.round.Circle.area() const"},
	{"_D6shapes5round5plainFiZi.part.0", 0, "shapes.round.plain",
	 "shapes.round.plain(int) [clone .part.0]"},
	{"_Dmain", 0, "D main", "D main"},
	{"_D6shapes5round", BOTH, NULL, NULL},
	{"_DYNAMIC", BOTH, NULL, NULL},
	/* gfortran: modules in any module */
	{"__geometry_MOD_area", 0, "geometry::area", "geometry::area"},
	{"__geometry_MOD_area.constprop.0", 0, "geometry::area",
	 "geometry::area [clone .constprop.0]"},
	{"__geometry_MOD_", 0, NULL, NULL},
	{"__geometry_MOD_.part.0", 0, NULL, NULL},
	{"external_one_", SWZ_FORTRAN, "external_one", "external_one"},
	{"external_one__", SWZ_FORTRAN, "external_one", "external_one"},
	{"external_one___", SWZ_FORTRAN, NULL, NULL},
	{"external_one_", 0, NULL, NULL},
	{"external_one_", SWZ_ADA, NULL, NULL},
	{"external_one", SWZ_FORTRAN, NULL, NULL},
	{"External_", SWZ_FORTRAN, NULL, NULL},
	{"MAIN__", SWZ_FORTRAN, NULL, NULL},
	{"_gfortran_set_args", SWZ_FORTRAN, NULL, NULL},
	{"inner.0", SWZ_FORTRAN, NULL, NULL},
	/* gnat */
	{"shapes__area", SWZ_ADA, "shapes.area", "shapes.area"},
	{"shapes__area__sq.0", SWZ_ADA, "shapes.area.sq", "shapes.area.sq"},
	{"shapes__inner__work", SWZ_ADA, "shapes.inner.work",
	 "shapes.inner.work"},
	{"shapes__Oadd", SWZ_ADA, "shapes.\"+\"", "shapes.\"+\""},
	{"shapes__over", SWZ_ADA, "shapes.over", "shapes.over"},
	{"shapes__over__2", SWZ_ADA, "shapes.over", "shapes.over#2"},
	{"shapes___elabb", SWZ_ADA, "shapes'Elab_Body", "shapes'Elab_Body"},
	{"shapes__workerTB", SWZ_ADA, NULL, NULL},
	{"_ada_main", SWZ_ADA, NULL, NULL},
	{"__gnat_initialize", SWZ_ADA, NULL, NULL},
	{"shapes__area", 0, NULL, NULL},
	{"shapes__area", SWZ_FORTRAN, NULL, NULL},
	{"main", BOTH, NULL, NULL},
	{"", BOTH, NULL, NULL},
	{"_", BOTH, NULL, NULL},
	{"__", BOTH, NULL, NULL},
	{".part.0", BOTH, NULL, NULL},
};

static void shows(const char *symbol, unsigned languages, bool full,
		  const char *expected)
{
	char out[256];
	bool known = swz_shown_name(symbol, languages, full, out, sizeof(out));

	ck_assert_msg(known == (expected != NULL), "%s: %s", symbol,
		      known ? out : "not demangled");
	if (known)
		ck_assert_str_eq(out, expected);
}

START_TEST(shows_names_of_each_language)
{
	shows(cases[_i].symbol, cases[_i].languages, false, cases[_i].simple);
	shows(cases[_i].symbol, cases[_i].languages, true, cases[_i].full);
}
END_TEST

START_TEST(writes_no_more_than_there_is_room_for)
{
	for (unsigned room = 1; room < 64; room++) {
		char *out = malloc(room);

		if (swz_shown_name(cases[_i].symbol, cases[_i].languages, true,
				   out, room))
			ck_assert_uint_lt(strlen(out), room);
		free(out);
	}
}
END_TEST

START_TEST(knows_languages_by_their_run_time_libraries)
{
	ck_assert_uint_eq(swz_languages_of("_gfortran_st_write"), SWZ_FORTRAN);
	ck_assert_uint_eq(swz_languages_of("__gnat_initialize"), SWZ_ADA);
	ck_assert_uint_eq(swz_languages_of("dgemm_"), 0);
	ck_assert_uint_eq(swz_languages_of("list__sort"), 0);
	ck_assert_uint_eq(swz_languages_of(""), 0);
}
END_TEST

int main(void)
{
	const int count = sizeof(cases) / sizeof(*cases);
	Suite *suite = suite_create("shown_name");
	TCase *tcase = tcase_create("shown_name");

	tcase_add_loop_test(tcase, shows_names_of_each_language, 0, count);
	tcase_add_loop_test(tcase, writes_no_more_than_there_is_room_for, 0,
			    count);
	tcase_add_test(tcase, knows_languages_by_their_run_time_libraries);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
