/* What finds a call edge's node: the places beside its context, and the
 * thread's table, where the hooks look too. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/record/edge_table.h"
#include "runtime/record/file.h"
#include "tests/unit/run_suite.h"

enum { NODES = 200000, SITE = 0x400000 };

struct swz_file_header *swz_file;

static struct swz_thread thread;
static struct swz_thread_cold cold;
static struct swz_links *links;
static struct swz_node *nodes;

static void set_up(void)
{
	memset(&thread, 0, sizeof(thread));
	memset(&cold, 0, sizeof(cold));
	nodes = aligned_alloc(64, (size_t)(NODES + 1) * sizeof(*nodes));
	links = calloc(NODES + 1, sizeof(*links));
	cold.first_table = aligned_alloc(4096, SWZ_FIRST_TABLE_ROOM);
	ck_assert(nodes && links && cold.first_table);
	memset(nodes, 0, (size_t)(NODES + 1) * sizeof(*nodes));
	memset(cold.first_table, 0, SWZ_FIRST_TABLE_ROOM);
	swz_file = (void *)nodes;
	thread.links = links;
	thread.cold = &cold;
}

static void tear_down(void)
{
	free(cold.first_table);
	free(links);
	free(nodes);
}

/* Edge number i: five functions from each of many sites. */
static struct swz_node *edge(uint32_t i, uint32_t parent)
{
	struct swz_node *node = &nodes[i];

	node->parent = parent;
	node->function = 1 + i % 5;
	node->call_site = SITE + i / 5 * 16;
	node->context = i;
	return node;
}

static struct swz_node *find(const struct swz_node *node)
{
	return swz_edge_find(&thread, swz_edge_key(node), node->function,
			     node->call_site);
}

/* By the comment of SWZ_HASH_MULTIPLIER, which asm/x86_64/macros.h follows. */
static uint64_t first_place(const struct swz_node *node)
{
	return ((node->call_site + UINT64_C(9) * node->function +
		 swz_edge_key(node)) *
			SWZ_HASH_MULTIPLIER >>
		32) &
	       thread.table_mask;
}

START_TEST(few_edges_are_beside_their_context)
{
	for (uint32_t i = 1; i <= SWZ_CHILDREN; i++) {
		ck_assert_ptr_null(find(edge(i, 100)));
		ck_assert_ptr_eq(swz_edge_insert(&thread, edge(i, 100)),
				 &nodes[i]);
	}
	ck_assert_ptr_null(thread.table);
	for (uint32_t i = 1; i <= SWZ_CHILDREN; i++)
		ck_assert_ptr_eq(find(&nodes[i]), &nodes[i]);
	/* in the first place that is free from the one that the hooks ask */
	ck_assert_uint_eq(
		links[100].children[(nodes[1].call_site +
				     UINT64_C(9) * nodes[1].function) %
				    SWZ_CHILDREN],
		1);
}
END_TEST

START_TEST(more_of_them_are_in_the_table)
{
	for (uint32_t i = 1; i <= SWZ_CHILDREN + 1; i++)
		ck_assert_ptr_eq(swz_edge_insert(&thread, edge(i, 100)),
				 &nodes[i]);
	for (uint32_t i = 0; i < SWZ_CHILDREN; i++)
		ck_assert_uint_eq(links[100].children[i],
				  SWZ_CHILDREN_IN_TABLE);
	ck_assert_uint_eq(cold.table_used, SWZ_EDGE_ENTRIES);
	for (uint32_t i = 1; i <= SWZ_CHILDREN + 1; i++)
		ck_assert_ptr_eq(find(&nodes[i]), &nodes[i]);
}
END_TEST

START_TEST(an_edge_is_where_the_hooks_look)
{
	unsigned in_first = 0;

	for (uint32_t i = 1; i <= 60; i++) {
		unsigned probes = 0;
		uint64_t at;

		swz_edge_insert(&thread, edge(i, 100));
		if (i <= SWZ_CHILDREN)
			continue;
		at = first_place(&nodes[i]);
		while (thread.table[at / 4] != i) {
			at = (at + 4) & thread.table_mask;
			ck_assert_uint_lt(++probes, 60);
		}
		in_first += !probes;
	}
	ck_assert_uint_gt(in_first, 30);
}
END_TEST

/* Of the same site, function and context there is one. */
START_TEST(an_edge_that_is_there_stays)
{
	for (uint32_t many = 0; many < 2; many++) {
		struct swz_node *again = &nodes[1000 + many];

		for (uint32_t i = 1; i <= (many ? 20u : 2u); i++)
			swz_edge_insert(&thread, edge(i, 100));
		*again = nodes[2];
		ck_assert_ptr_eq(swz_edge_insert(&thread, again), &nodes[2]);
		again->call_site++;
		ck_assert_ptr_eq(swz_edge_insert(&thread, again), again);
		ck_assert_ptr_eq(find(again), again);
		*again = nodes[2];
		again->parent = 101;
		ck_assert_ptr_null(find(again));
		*again = nodes[2];
		again->function = 77;
		ck_assert_ptr_null(find(again));
		*again = nodes[2];
		again->function = 78 + many;
		ck_assert_ptr_eq(swz_edge_insert(&thread, again), again);
	}
}
END_TEST

/* Through all sizes, small ones and those in huge pages. */
START_TEST(a_table_grows_with_its_edges)
{
	for (uint32_t i = 1; i < NODES; i++) {
		struct swz_node *node = edge(i, 100);

		if (swz_edge_insert(&thread, node) != node)
			ck_abort_msg("edge %u is not entered", i);
		if (4 * cold.table_used > cold.table_bytes / 4 + 64)
			ck_abort_msg("%u edges in %lu bytes", i,
				     (unsigned long)cold.table_bytes);
	}
	ck_assert_uint_eq(cold.table_bytes, 4 << 20);
	ck_assert_uint_eq(thread.table_mask, (4 << 20) - 4);
	ck_assert_ptr_eq(thread.table, cold.table);
	for (uint32_t i = 1; i < NODES; i++)
		if (find(&nodes[i]) != &nodes[i])
			ck_abort_msg("edge %u is lost", i);
	swz_edge_table_clear(&thread);
	ck_assert_uint_eq(cold.table_used, 0);
	ck_assert_ptr_null(find(&nodes[1]));
}
END_TEST

START_TEST(room_is_made_in_advance)
{
	swz_edge_table_make_room(&thread, 1000);
	ck_assert_uint_eq(cold.table_bytes, 16384);
	ck_assert(!swz_edge_table_is_full(&cold, 1024));
	ck_assert(swz_edge_table_is_full(&cold, 1025));
}
END_TEST

/* A site stands for all edges with its function and call site. */
START_TEST(sites_are_no_edges)
{
	for (uint32_t i = 1; i <= 20; i++)
		swz_edge_insert(&thread, edge(i, 100));
	swz_site_make(&nodes[50], 3, SITE + 16);
	ck_assert_ptr_null(swz_site_find(&thread, 3, SITE + 16));
	ck_assert_ptr_eq(swz_edge_insert(&thread, &nodes[50]), &nodes[50]);
	ck_assert_ptr_eq(swz_site_find(&thread, 3, SITE + 16), &nodes[50]);
	ck_assert_ptr_null(swz_site_find(&thread, 4, SITE + 16));
	ck_assert_ptr_null(swz_site_find(&thread, 3, SITE));
	ck_assert_ptr_eq(find(&nodes[8]), &nodes[8]);
}
END_TEST

START_TEST(a_context_forgets_its_children)
{
	swz_edge_insert(&thread, edge(1, 100));
	swz_edge_insert(&thread, edge(2, 101));
	swz_edge_table_forget_children(&thread, 100);
	ck_assert_ptr_null(find(&nodes[1]));
	ck_assert_ptr_eq(find(&nodes[2]), &nodes[2]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("edge_table");
	TCase *t = tcase_create("edge_table");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, few_edges_are_beside_their_context);
	tcase_add_test(t, more_of_them_are_in_the_table);
	tcase_add_test(t, an_edge_is_where_the_hooks_look);
	tcase_add_test(t, an_edge_that_is_there_stays);
	tcase_add_test(t, a_table_grows_with_its_edges);
	tcase_add_test(t, room_is_made_in_advance);
	tcase_add_test(t, sites_are_no_edges);
	tcase_add_test(t, a_context_forgets_its_children);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
