/* What stands for all edges with a function and a call site. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/record/edge_table.h"
#include "runtime/record/record_file.h"
#include "tests/unit/run_suite.h"

enum { SITES = 20000, ADDRESS = 0x400000 };

struct swz_file_header *swz_file;

static struct swz_thread_cold cold;
static struct swz_node *nodes;

static void set_up(void)
{
	memset(&cold, 0, sizeof(cold));
	nodes = aligned_alloc(64, (size_t)(SITES + 1) * sizeof(*nodes));
	ck_assert_ptr_nonnull(nodes);
	memset(nodes, 0, (size_t)(SITES + 1) * sizeof(*nodes));
	swz_file = (void *)nodes;
}

static void tear_down(void)
{
	free(nodes);
}

/* Site number i: five functions from each of many addresses. */
static struct swz_node *site(uint32_t i)
{
	swz_site_make(&nodes[i], 1 + i % 5, ADDRESS + i / 5 * 16);
	return &nodes[i];
}

static struct swz_node *find(uint32_t i)
{
	return swz_site_find(&cold, 1 + i % 5, ADDRESS + i / 5 * 16);
}

START_TEST(sites_are_found_in_a_table_that_grows)
{
	ck_assert_ptr_null(find(1));
	ck_assert(swz_site_table_is_full(&cold));
	for (uint32_t i = 1; i < SITES; i++)
		if (swz_site_insert(&cold, site(i)) != &nodes[i])
			ck_abort_msg("site %u is not entered", i);
	for (uint32_t i = 1; i < SITES; i++)
		if (find(i) != &nodes[i])
			ck_abort_msg("site %u is lost", i);
	ck_assert_ptr_null(swz_site_find(&cold, 6, ADDRESS));
	ck_assert_ptr_null(swz_site_find(&cold, 1, ADDRESS + 1));
}
END_TEST

START_TEST(a_site_that_is_there_stays)
{
	swz_site_insert(&cold, site(1));
	nodes[2] = nodes[1];
	ck_assert_ptr_eq(swz_site_insert(&cold, &nodes[2]), &nodes[1]);
	ck_assert_ptr_eq(swz_site_insert_amid_signals(&cold, &nodes[2]),
			 &nodes[1]);
}
END_TEST

START_TEST(room_is_made_in_advance)
{
	swz_site_table_make_room(&cold, 5000);
	for (uint32_t i = 1; i <= 5000; i++) {
		ck_assert(!swz_site_table_is_full(&cold));
		ck_assert_ptr_eq(swz_site_insert_amid_signals(&cold, site(i)),
				 &nodes[i]);
	}
}
END_TEST

START_TEST(a_table_that_is_cleared_is_empty)
{
	for (uint32_t i = 1; i < 3000; i++)
		swz_site_insert(&cold, site(i));
	swz_site_table_clear(&cold);
	for (uint32_t i = 1; i < 3000; i++)
		ck_assert_ptr_null(find(i));
	ck_assert(!swz_site_table_is_full(&cold));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("site_table");
	TCase *t = tcase_create("site_table");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, sites_are_found_in_a_table_that_grows);
	tcase_add_test(t, a_site_that_is_there_stays);
	tcase_add_test(t, room_is_made_in_advance);
	tcase_add_test(t, a_table_that_is_cleared_is_empty);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
