/* Names of code that were read already: they are known until there are very
 * many. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "util/memory.h"
#include "watch/names/script_codes.h"

static const struct swz_script_code *add(struct swz_script_codes *codes,
					 uint64_t address)
{
	const struct swz_script_object object = {.name = address, .line = 3};

	return swz_script_codes_add(codes, address, &object, swz_duplicate("f"),
				    swz_duplicate("x"));
}

static const struct swz_script_code *get(const struct swz_script_codes *codes,
					 uint64_t address)
{
	return swz_script_codes_get(
		codes, address,
		&(struct swz_script_object){.name = address, .line = 3});
}

START_TEST(very_many_are_forgotten_at_the_next_stack)
{
	struct swz_script_codes codes = {0};
	uint64_t last;

	ck_assert(!swz_script_codes_begin_stack(&codes));
	for (uint64_t i = 1; i <= SWZ_MOST_CODES; i++)
		last = add(&codes, 8 * i)->number;
	ck_assert_ptr_nonnull(get(&codes, 8));
	ck_assert(swz_script_codes_begin_stack(&codes));
	ck_assert_ptr_null(get(&codes, 8));
	ck_assert_uint_gt(add(&codes, 8)->number, last);
	ck_assert_ptr_nonnull(get(&codes, 8));
	ck_assert(!swz_script_codes_begin_stack(&codes));
	ck_assert_ptr_nonnull(get(&codes, 8));
	swz_script_codes_free(&codes);
}
END_TEST

START_TEST(what_was_met_holds_for_one_stack)
{
	struct swz_script_codes codes = {0};
	const struct swz_script_code *code = add(&codes, 8);

	ck_assert_ptr_null(swz_script_codes_met(&codes, 8, 0));
	ck_assert_ptr_eq(swz_script_codes_meet(&codes, 8, 0, code), code);
	ck_assert_ptr_eq(swz_script_codes_met(&codes, 8, 0), code);
	ck_assert(!swz_script_codes_begin_stack(&codes));
	ck_assert_ptr_null(swz_script_codes_met(&codes, 8, 0));
	swz_script_codes_free(&codes);
}
END_TEST

START_TEST(another_object_at_an_address_is_not_known)
{
	struct swz_script_codes codes = {0};

	(void)add(&codes, 8);
	ck_assert_ptr_null(swz_script_codes_get(
		&codes, 8, &(struct swz_script_object){.name = 8, .line = 4}));
	swz_script_codes_free(&codes);
}
END_TEST

static const struct swz_script_code *place(struct swz_script_codes *codes,
					   uint64_t name, const char *text,
					   uint32_t line)
{
	const struct swz_script_object object = {.name = name};

	return swz_script_codes_add_at(codes, 8, &object, swz_duplicate(text),
				       swz_duplicate("x"), line);
}

/* V8 knows the place of a function when it has compiled it. */
START_TEST(one_that_gets_its_line_later_stays_the_same)
{
	struct swz_script_codes codes = {0};
	const struct swz_script_code *code = place(&codes, 16, "f", 0);

	ck_assert_ptr_eq(place(&codes, 24, "f", 7), code);
	ck_assert_uint_eq(code->line, 7);
	ck_assert_ptr_eq(
		swz_script_codes_get(&codes, 8,
				     &(struct swz_script_object){.name = 24}),
		code);
	ck_assert_ptr_ne(place(&codes, 32, "f", 8), code);
	ck_assert_ptr_ne(place(&codes, 40, "g", 8), code);
	swz_script_codes_free(&codes);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("script_codes");
	TCase *tcase = tcase_create("script_codes");

	tcase_add_test(tcase, very_many_are_forgotten_at_the_next_stack);
	tcase_add_test(tcase, what_was_met_holds_for_one_stack);
	tcase_add_test(tcase, one_that_gets_its_line_later_stays_the_same);
	tcase_add_test(tcase, another_object_at_an_address_is_not_known);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
