/* When a recursive call gets a context of its own, and in which it goes on
 * otherwise. */

#include <check.h>
#include <string.h>

#include "runtime/record/annotations.h"
#include "runtime/record/record_file.h"
#include "runtime/record/context.h"
#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { A = 1, B, DEPTH = 16 };

struct swz_config swz_config;
bool swz_sampling;

static struct runtime_thread thread;
static uint32_t made[RUNTIME_FUNCTIONS];
static uint64_t room;

uint32_t swz_ids_bound(void)
{
	return RUNTIME_FUNCTIONS;
}

uint64_t swz_chunks_room(void)
{
	return room;
}

static void set_up(void)
{
	runtime_begin(&thread);
	memset(made, 0, sizeof(made));
	thread.cold.recursive = made;
	thread.open[A] = thread.open[B] = UINT32_MAX; /* one is live */
	swz_config.recursion = DEPTH;
	swz_file->limit_bytes = 1000;
	swz_file->event_limit_bytes = 200;
	room = 401; /* just more than half of all but events */
}

/* A path from the root: units. */
static uint32_t below(uint32_t parent, uint32_t function)
{
	return swz_unit_of(runtime_node(function, parent, 0x400010));
}

static uint32_t fold(uint32_t unit, uint32_t function)
{
	return swz_recursion_fold(&thread.hot, (uint64_t)unit << 32, function);
}

START_TEST(what_is_not_on_the_path_is_not_recursive)
{
	uint32_t a = below(thread.cold.root, A);

	ck_assert_uint_eq(fold(a, B), 0);
	ck_assert_uint_eq(made[B], 0);
	ck_assert_uint_eq(fold(thread.cold.root, A), 0);
	ck_assert_uint_eq(made[A], 0);
	thread.open[A] = 0; /* nor what is not live */
	ck_assert_uint_eq(fold(a, A), 0);
	ck_assert_uint_eq(made[A], 0);
	swz_sampling = true; /* then that is not known */
	ck_assert_uint_eq(fold(a, A), 0);
	ck_assert_uint_eq(made[A], 1);
	swz_sampling = false;
}
END_TEST

/* As deep as that it has contexts of its own; the next goes on in the nearest.
 */
START_TEST(a_path_has_so_many_of_a_function)
{
	uint32_t unit = below(thread.cold.root, A);

	for (unsigned i = 1; i < DEPTH; i++) {
		ck_assert_uint_eq(fold(unit, A), 0);
		ck_assert_uint_eq(made[A], i);
		unit = below(below(unit, B), A);
	}
	ck_assert_uint_eq(fold(below(unit, B), A), unit);
	ck_assert_uint_eq(made[A], DEPTH - 1);
}
END_TEST

/* At its second place 256, at the third 128, and never less than the depth. */
START_TEST(wide_recursion_is_bounded_by_its_depth)
{
	static const uint32_t most[] = {256, 128, 64, 32, 16, 16, 16};
	uint32_t unit = thread.cold.root;

	for (unsigned i = 0; i < 7; i++) {
		unit = below(unit, A);
		made[A] = most[i] - 1;
		ck_assert_uint_eq(fold(unit, A), 0);
		ck_assert_uint_eq(made[A], most[i]);
		ck_assert_uint_eq(fold(unit, A), unit);
		ck_assert_uint_eq(made[A], most[i]);
	}
}
END_TEST

START_TEST(half_of_the_file_is_left_for_others)
{
	uint32_t unit = below(thread.cold.root, A);

	room = 400;
	ck_assert_uint_eq(fold(unit, A), unit);
	room = 401;
	ck_assert_uint_eq(fold(unit, A), 0);
}
END_TEST

START_TEST(above_a_folded_context_nothing_is_known)
{
	uint32_t a = below(thread.cold.root, A), b = below(a, B);
	struct swz_node *folded = swz_unit_at(b);

	folded->open = SWZ_NODE_FOLDED;
	ck_assert_uint_eq(fold(b, A), 0);
	ck_assert_uint_eq(made[A], 0);
	ck_assert_uint_eq(fold(b, B), 0);
	ck_assert_uint_eq(made[B], 1);
}
END_TEST

START_TEST(what_is_no_function_is_always_folded)
{
	uint32_t unit = below(thread.cold.root, RUNTIME_FUNCTIONS);

	ck_assert_uint_eq(fold(unit, RUNTIME_FUNCTIONS), unit);
}
END_TEST

START_TEST(a_depth_of_one_folds_all)
{
	uint32_t unit = below(thread.cold.root, A);

	swz_config.recursion = 1;
	ck_assert_uint_eq(fold(below(unit, B), A), unit);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("recursion");
	TCase *t = tcase_create("recursion");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, what_is_not_on_the_path_is_not_recursive);
	tcase_add_test(t, a_path_has_so_many_of_a_function);
	tcase_add_test(t, wide_recursion_is_bounded_by_its_depth);
	tcase_add_test(t, half_of_the_file_is_left_for_others);
	tcase_add_test(t, above_a_folded_context_nothing_is_known);
	tcase_add_test(t, what_is_no_function_is_always_folded);
	tcase_add_test(t, a_depth_of_one_folds_all);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
