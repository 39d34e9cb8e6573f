/* Names as they are written in a filter. What is expected was written by hand,
 * from the source that the name is of, and agrees with c++filt where template
 * arguments and parameters are left out. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "tests/unit/run_suite.h"

static const struct {
	const char *symbol;
	const char *name; /* NULL: not understood */
} cases[] = {
	{"_Z1fv", "f"},
	{"_Z6writerPv", "writer"},
	{"_ZL6writerPv", "writer"},
	{"_Z3addILi12345EEiv", "add"},
	{"_Z3addIiLc5EJclEEiv", "add"},
	{"_Z5applyIXadL_Z1fvEEEvv", "apply"},
	{"_ZN3foo3barEv", "foo::bar"},
	{"_ZNK3foo3barEv", "foo::bar"},
	{"_ZNVKR3foo3barEv", "foo::bar"},
	{"_ZN3fooL3barEv", "foo::bar"},
	{"_ZN3foo3barIiEEvT_", "foo::bar"},
	{"_ZN3fooIiS_IcEE3barILi3EEEvv", "foo::bar"},
	{"_ZN3fooILZ1fvEE3barEv", NULL},
	{"_ZN3fooILNS_1EE5EE3barEv", "foo::bar"},
	{"_ZN3fooIPFvidEA4_iMS_jE3barEv", "foo::bar"},
	{"_ZN3fooC2Ev", "foo::foo"},
	{"_ZN3fooIiED1Ev", "foo::~foo"},
	{"_ZN3foo3barD0Ev", "foo::bar::~bar"},
	{"_ZN12_GLOBAL__N_14workEi", "(anonymous namespace)::work"},
	{"_ZN3foo12_GLOBAL__N_13bar4workEi",
	 "foo::(anonymous namespace)::bar::work"},
	{"_ZSt4sortIPiEvT_S1_", "std::sort"},
	{"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back"},
	{"_ZNSt6vectorIiSaIiEEC2Ev", "std::vector::vector"},
	{"_ZNKSs4sizeEv", "std::string::size"},
	{"_ZNSolsEi", "std::ostream::operator<<"},
	{"_ZStlsISt11char_traitsIcEERSt13basic_ostreamIcT_ES5_PKc",
	 "std::operator<<"},
	{"_ZN3fooaSERKS_", "foo::operator="},
	{"_ZN3foonwEm", "foo::operator new"},
	{"_Znam", "operator new[]"},
	{"_Zli2_kv", "operator\"\" _k"},
	{"_ZN3foocviEv", NULL},
	{"_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc",
	 "std::__cxx11::basic_string::append"},
	{"_ZN3foo4nameB5cxx11Ev", "foo::name"},
	{"_ZThn16_N3foo3barEv", "foo::bar"},
	{"_ZTv0_n24_N3fooD1Ev", "foo::~foo"},
	{"_ZTch0_h16_N3foo5cloneEv", "foo::clone"},
	{"_ZTW5value", "value"},
	{"_ZGTtN3foo3barEv", "foo::bar"},
	{"_ZZ4mainE5inner", "main::inner"},
	{"_ZZN3foo3barEiPKcEN5inner4workEv", "foo::bar::inner::work"},
	{"_ZZN3foo3barEvENKUlvE_clEv", "foo::bar::{lambda#1}::operator()"},
	{"_ZZN3foo3barEiENKUliRKSsE1_clEiS1_",
	 "foo::bar::{lambda#3}::operator()"},
	{"_ZZ1fvENUt_4workEv", "f::{unnamed type#1}::work"},
	{"_ZZ1fvE4work_0", "f::work"},
	{"_ZZN3fooIiE3barIJicEEEvDpT_ENKUlvE_clEv",
	 "foo::bar::{lambda#1}::operator()"},
	{"_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write"},
	{"_ZN3foo17hnot_rust_at_all_Ev", "foo::hnot_rust_at_all_"},
	/* none of a function, none at all, cut off */
	{"main", NULL},
	{"_Z", NULL},
	{"_ZTI3foo", NULL},
	{"_ZTV3foo", NULL},
	{"_RNvC1a1f", NULL},
	{"_ZN3foo3ba", NULL},
	{"_ZN3foo3bar", NULL},
	{"_ZN99999999999999999999foo3barEv", NULL},
	{"_ZNC1Ev", NULL},
};

START_TEST(names_functions_without_parameters)
{
	char out[128];
	bool known = swz_qualified_name(cases[_i].symbol, out, sizeof(out));

	ck_assert_msg(known == (cases[_i].name != NULL), "%s: %s",
		      cases[_i].symbol, known ? out : "not understood");
	if (known)
		ck_assert_str_eq(out, cases[_i].name);
}
END_TEST

START_TEST(reads_and_writes_no_more_than_is_there)
{
	size_t length = strlen(cases[_i].symbol);

	for (size_t cut = 0; cut <= length; cut++) {
		char *symbol = malloc(cut + 1);

		memcpy(symbol, cases[_i].symbol, cut);
		symbol[cut] = '\0';
		for (unsigned room = 1; room < 48; room += 5) {
			char *out = malloc(room);

			if (swz_qualified_name(symbol, out, room))
				ck_assert_uint_lt(strlen(out), room);
			free(out);
		}
		free(symbol);
	}
}
END_TEST

static bool is_understood(const char *start, char filling)
{
	static char symbol[200000];
	char out[64];
	size_t i;

	for (i = 0; start[i]; i++)
		symbol[i] = start[i];
	for (; i + 1 < sizeof(symbol); i++)
		symbol[i] = filling;
	return swz_qualified_name(symbol, out, sizeof(out));
}

START_TEST(bounds_its_recursion)
{
	ck_assert(!is_understood("_Z1fI", 'P'));
	ck_assert(!is_understood("_Z1fI", 'J'));
	ck_assert(!is_understood("_Z", 'Z'));
}
END_TEST

int main(void)
{
	const int count = sizeof(cases) / sizeof(*cases);
	Suite *suite = suite_create("qualified_name");
	TCase *tcase = tcase_create("qualified_name");

	tcase_add_loop_test(tcase, names_functions_without_parameters, 0,
			    count);
	tcase_add_loop_test(tcase, reads_and_writes_no_more_than_is_there, 0,
			    count);
	tcase_add_test(tcase, bounds_its_recursion);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
