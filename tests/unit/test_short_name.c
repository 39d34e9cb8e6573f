/* Names cut to a width, as bytes: what goes first and what always stays. */

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "util/figures.h"
#include "util/memory.h"
#include "profile/names/catalog.h"
#include "tests/unit/run_suite.h"

#define E "\xe2\x80\xa6" /* the ellipsis */

static const struct {
	const char *name;
	unsigned int width;
	bool utf8;
	const char *expected;
} cases[] = {
	/* what fits, and any width */
	{"main", 4, true, "main"},
	{"a::b<int>::c(char)", 0, true, "a::b<int>::c(char)"},
	{"a::b<int>::c(char)", 18, true, "a::b<int>::c(char)"},

	/* one name at each width: parameters, the innermost arguments, those
	 * around them, the scopes */
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 46, true,
	 "a::map<b::pair<int, char>, c>::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 40, true,
	 "a::map<b::pair<int, char>, c>::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 39, true,
	 "a::map<b::pair<" E ">, c>::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 32, true,
	 "a::map<b::pair<" E ">, c>::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 31, true,
	 "a::map<" E ">::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 20, true,
	 "a::map<" E ">::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 19, true,
	 E "::insert(" E ")"}, /* for "a::" the mark would be no less */
	{"abc::def::map<b, c>::insert(d const&)", 25, true,
	 E "::def::map<" E ">::insert(" E ")"},
	{"abc::def::map<b, c>::insert(d const&)", 24, true,
	 E "::map<" E ">::insert(" E ")"},

	{"a::map<b::pair<int, char>, c>::insert(d const&)", 17, true,
	 E "::insert(" E ")"},
	{"a::map<b::pair<int, char>, c>::insert(d const&)", 1, true,
	 E "::insert(" E ")"},
	{"std::map<int, char>::insert", 20, true, "std::map<" E ">::insert"},

	/* without UTF-8 */
	{"std::map<int, char>::insert", 22, false, "std::map<...>::insert"},
	{"std::map<int>::insert", 20, false, "...::insert"},

	/* of those as deep the longest first */
	{"f<a<longest>, b<short>>", 20, true, "f<a<" E ">, b<short>>"},
	{"f<a<longest>, b<short>>", 16, true, "f<a<" E ">, b<" E ">>"},

	/* brackets that are a part of a name */
	{"a::operator<< <int>(a::stream&)", 22, true,
	 "a::operator<< <int>(" E ")"},
	{"a::operator<< <int>(a::stream&)", 20, true,
	 "a::operator<< <" E ">(" E ")"},
	{"a::b<int, char>::operator()(long) const", 30, true,
	 "a::b<" E ">::operator()(" E ") const"},
	{"a::b<int, char>::operator->(long) const", 30, true,
	 "a::b<" E ">::operator->(" E ") const"},
	{"a::operator<=><int>(int, int)", 26, true,
	 "a::operator<=><int>(" E ")"},
	{"a::b::operator std::string<c>::d() const", 10, true,
	 E "::operator std::string<c>::d() const"},
	{"myoperator<int, char>", 18, true, "myoperator<" E ">"},
	{"a<(b > c), (d::e)->f>::g(int, long)", 27, true,
	 "a<(b > c), (d::e)->f>::g(" E ")"},
	{"a<(b > c), (d::e)->f>::g(int, long)", 26, true,
	 "a<(" E "), (d::e)->f>::g(" E ")"},
	{"a<(b > c), (d::e)->f>::g(int, long)", 10, true, "a<" E ">::g(" E ")"},

	{"a<(b < c), d>::g(int, long)", 18, true, "a<(" E "), d>::g(" E ")"},
	{"a<(b < c), d>::g(int, long)", 14, true, "a<" E ">::g(" E ")"},
	{"a::(anonymous namespace)::f(int, int)", 30, true,
	 "a::(anonymous namespace)::f(" E ")"},
	{"a::(anonymous namespace)::f(int, int)", 29, true, E "::f(" E ")"},
	{"void (*a::signal<int>(int, int))(int)", 30, true,
	 "void (*a::signal<int>(" E "))(" E ")"},
	{"void (*a::signal<int>(int, int))(int)", 5, true,
	 "void (*a::signal<" E ">(" E "))(" E ")"},

	/* functions in functions */
	{"a::f(int, int)::{lambda(char)#1}::operator()(char) const", 46, true,
	 "a::f(" E ")::{lambda(" E ")#1}::operator()(char) const"},
	{"a::f(int, int)::{lambda(char)#1}::operator()(char) const", 30, true,
	 E "::operator()(" E ") const"},
	{"abc::{lambda(b::c)#1}", 18, true, "abc::{lambda(" E ")#1}"},
	{"abc::{lambda(b::c)#1}", 17, true, E "::{lambda(" E ")#1}"},

	/* Rust */
	{"<a::vec::Vec<T, A> as core::iter::Iterator>::next", 46, true,
	 "<a::vec::Vec<" E "> as core::iter::Iterator>::next"},
	{"<a::vec::Vec<T, A> as core::iter::Iterator>::next", 20, true,
	 "<" E ">::next"},
	{"a::b::{{closure}}", 15, true, E "::{{closure}}"},
	{"a::bcdef::{{closure}}", 15, true, E "::{{closure}}"},

	/* D: arguments in !(), scopes that end in dots stay */
	{"std.format.format!(char, int).put", 25, true,
	 "std.format.format!(" E ").put"},

	/* nothing to cut: the name's own */
	{"a_function_of_c.part.0", 10, true, "a_function_of_c.part.0"},
	{"a_function()", 5, true, "a_function()"},

	/* brackets without their other half */
	{"a<b<c::d", 4, true, "a<b<c::d"},
	{"a>b>c::long_name", 12, true, E "::long_name"},
	{"a)b::f(int, int)", 12, true, "a)b::f(" E ")"},
	{"operator", 2, true, "operator"},
	{"", 1, true, ""},

	/* characters of several bytes and of two columns */
	{"a<\xc3\xa9t\xc3\xa9, b>::\xc3\xa9t\xc3\xa9", 14, true,
	 "a<\xc3\xa9t\xc3\xa9, b>::\xc3\xa9t\xc3\xa9"},
	{"a<\xc3\xa9t\xc3\xa9, b>::\xc3\xa9t\xc3\xa9", 13, true,
	 "a<" E ">::\xc3\xa9t\xc3\xa9"},
};

START_TEST(cuts_names)
{
	char *text = swz_short_name(cases[_i].name, cases[_i].width,
				    cases[_i].utf8);

	ck_assert_str_eq(text, cases[_i].expected);
	free(text);
}
END_TEST

/* Whatever the width: no wider than it, or nothing is left to be cut. */
START_TEST(narrower_widths_are_not_wider)
{
	static const char name[] =
		"std::_Rb_tree<std::string, std::pair<std::string const, "
		"std::vector<int, std::allocator<int> > >, std::less<> >::"
		"_M_insert_(std::_Rb_tree_node_base*, std::string const&)";
	unsigned int before = swz_text_width(name), width;

	for (width = before; width > 0; width--) {
		char *text = swz_short_name(name, width, true);
		unsigned int now = swz_text_width(text);

		ck_assert_uint_le(now, before);
		ck_assert_ptr_nonnull(strstr(text, "_M_insert_("));
		if (width >= strlen("x::_M_insert_(x)"))
			ck_assert_uint_le(now, width);
		before = now;
		free(text);
	}
	ck_assert_uint_eq(before, strlen("x::_M_insert_(x)"));
}
END_TEST

/* As deep and as long as a forged file may have one. */
START_TEST(bears_any_number_of_brackets)
{
	static const char *const parts[] = {"<", "<>", "(", "a::", "a<"};
	size_t length = strlen(parts[_i]), i;
	char *name = swz_allocate(65536, 1), *text;

	for (i = 0; i + length < 32768; i += length)
		memcpy(name + i, parts[_i], length);
	for (i = strlen(name); i < 65535; i++)
		name[i] = parts[_i][0] == '(' ? ')' : '>';
	text = swz_short_name(name, 10, true);
	ck_assert_uint_le(strlen(text), 65535 + 2 * 1000);
	free(text);
	free(name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("short_name");
	TCase *tcase = tcase_create("cut");

	setlocale(LC_CTYPE, "C.UTF-8");
	tcase_add_loop_test(tcase, cuts_names, 0,
			    sizeof(cases) / sizeof(cases[0]));
	tcase_add_test(tcase, narrower_widths_are_not_wider);
	tcase_add_loop_test(tcase, bears_any_number_of_brackets, 0, 5);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
