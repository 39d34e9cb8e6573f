/* What finds a call edge's node: the places beside its context, and the
 * context's table, where the hooks look too. */

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "runtime/record/edge_table.h"
#include "runtime/record/record_file.h"
#include "tests/unit/run_suite.h"

enum { NODES = 200000, SITE = 0x400000, ROOM = 16 << 20, FEW_ROOM = 8192 };

struct swz_file_header *swz_file;

static struct swz_thread thread;
static struct swz_thread_cold cold;
static struct swz_links *links;
static struct swz_node *nodes;
static char *room;

static void begin_room(size_t first, size_t second)
{
	memset(room, 0, ROOM);
	swz_table_room_begin(room, first, room + first, second);
	thread.tables = swz_table_room_end();
	cold.table_block = 0;
}

static void set_up(void)
{
	memset(&thread, 0, sizeof(thread));
	memset(&cold, 0, sizeof(cold));
	nodes = aligned_alloc(64, (size_t)(NODES + 1) * sizeof(*nodes));
	links = aligned_alloc(32, (size_t)(NODES + 1) * sizeof(*links));
	room = aligned_alloc(4096, ROOM);
	ck_assert(nodes && links && room);
	memset(nodes, 0, (size_t)(NODES + 1) * sizeof(*nodes));
	memset(links, 0, (size_t)(NODES + 1) * sizeof(*links));
	swz_file = (void *)nodes;
	thread.links = links;
	thread.cold = &cold;
	begin_room(FEW_ROOM, ROOM - FEW_ROOM);
}

static void tear_down(void)
{
	free(room);
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

static uint32_t child(uint32_t parent, int which)
{
	return links[parent].children[which] & ~SWZ_CHILDREN_IN_TABLE;
}

/* By the comments in asm/x86_64/offsets.h, which macros.h follows. */
static const uint32_t *first_place(const struct swz_node *node)
{
	const uint64_t sum = node->call_site + UINT64_C(9) * node->function +
			     swz_edge_key(node);
	const int32_t at = (int32_t)links[node->parent].children[SWZ_TABLE_AT];
	const char *table = thread.tables +
			    (int64_t)at * (1 << SWZ_TABLE_SHIFT);

	return (const uint32_t *)(const void *)(table +
						(sum * SWZ_HASH_MULTIPLIER >>
							 SWZ_HASH_SHIFT &
						 child(node->parent,
						       SWZ_TABLE_MASK)));
}

/* How far from there it is; more than the hooks look at: it is not there. */
static unsigned probes_to(const struct swz_node *node)
{
	const uint32_t *at = first_place(node);
	unsigned probes = 0;

	while (probes < SWZ_TABLE_PROBES &&
	       at[probes] != (uint32_t)(node - nodes))
		probes++;
	return probes;
}

START_TEST(few_edges_are_beside_their_context)
{
	for (uint32_t i = 1; i <= SWZ_CHILDREN; i++) {
		ck_assert_ptr_null(find(edge(i, 100)));
		ck_assert_ptr_eq(swz_edge_insert(&thread, edge(i, 100)),
				 &nodes[i]);
	}
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

START_TEST(more_of_them_are_in_a_table)
{
	for (uint32_t i = 1; i <= SWZ_CHILDREN + 1; i++)
		ck_assert_ptr_eq(swz_edge_insert(&thread, edge(i, 100)),
				 &nodes[i]);
	/* the hooks may ask any of the four places */
	for (uint32_t i = 0; i < SWZ_CHILDREN; i++)
		ck_assert_int_lt((int32_t)links[100].children[i], 0);
	ck_assert_uint_eq(child(100, SWZ_TABLE_USED), SWZ_CHILDREN + 1);
	for (uint32_t i = 1; i <= SWZ_CHILDREN + 1; i++)
		ck_assert_ptr_eq(find(&nodes[i]), &nodes[i]);
}
END_TEST

/* However many there are, and at most three eighths full. */
START_TEST(an_edge_is_where_the_hooks_look)
{
	unsigned in_first = 0, count = 20000;

	for (uint32_t i = 1; i <= count; i++)
		swz_edge_insert(&thread, edge(i, 100));
	for (uint32_t i = 1; i <= count; i++) {
		unsigned probes = probes_to(&nodes[i]);

		if (probes >= SWZ_TABLE_PROBES)
			ck_abort_msg("edge %u is not there", i);
		in_first += !probes;
	}
	ck_assert_uint_gt(in_first, count * 7 / 10);
	ck_assert_uint_ge(child(100, SWZ_TABLE_MASK) / 4 + 1, count * 8 / 3);
	ck_assert_uint_le(child(100, SWZ_TABLE_MASK) / 4 + 1, count * 32 / 3);
}
END_TEST

/* Sums of site and function that are the same all go to one place. */
START_TEST(edges_with_one_first_place_are_found)
{
	for (uint32_t i = 0; i < 12; i++) {
		struct swz_node *node = edge(1 + i, 100);

		node->function = 50 - i;
		node->call_site = SITE + UINT64_C(9) * i;
		ck_assert_ptr_eq(swz_edge_insert(&thread, node), node);
	}
	for (uint32_t i = 0; i < 12; i++)
		ck_assert_ptr_eq(find(&nodes[1 + i]), &nodes[1 + i]);
	/* it has not grown without end */
	ck_assert_uint_le(child(100, SWZ_TABLE_MASK) / 4 + 1, 512);
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

/* One context with all, and ten in each of many. */
START_TEST(no_edge_is_lost_where_tables_grow)
{
	const uint32_t each = _i ? 10 : NODES;

	for (uint32_t i = 1; i < NODES; i++) {
		struct swz_node *node = edge(i, 1 + i / each);

		if (swz_edge_insert(&thread, node) != node)
			ck_abort_msg("edge %u is not entered", i);
	}
	for (uint32_t i = 1; i < NODES; i++)
		if (find(&nodes[i]) != &nodes[i])
			ck_abort_msg("edge %u is lost", i);
}
END_TEST

/* Where there is no room to grow, a table is filled, and then no more. */
START_TEST(without_room_an_edge_is_refused)
{
	uint32_t entered = 0;

	begin_room(0, 4096 + 1280);
	for (uint32_t i = 1; i <= 1000; i++)
		if (swz_edge_insert(&thread, edge(i, 100)))
			entered++;
		else
			ck_assert_ptr_null(find(&nodes[i]));
	ck_assert_uint_gt(entered, 60);
	ck_assert_uint_lt(entered, 256);
	for (uint32_t i = 1; i <= entered; i++)
		ck_assert_ptr_eq(find(&nodes[i]), &nodes[i]);
	/* a context without a table gets none, until it may be a folded one */
	for (uint32_t i = 1001; i <= 1004; i++)
		ck_assert_ptr_nonnull(swz_edge_insert(&thread, edge(i, 101)));
	ck_assert_ptr_null(swz_edge_insert(&thread, edge(1005, 101)));
	swz_file->flags = SWZ_FILE_FOLDED;
	ck_assert_ptr_nonnull(swz_edge_insert(&thread, edge(1005, 101)));
}
END_TEST

START_TEST(a_context_forgets_its_children)
{
	swz_edge_insert(&thread, edge(1, 100));
	swz_edge_insert(&thread, edge(2, 101));
	swz_edge_forget_children(&thread, 100);
	ck_assert_ptr_null(find(&nodes[1]));
	ck_assert_ptr_eq(find(&nodes[2]), &nodes[2]);
}
END_TEST

/* A handler inserts edges of the same contexts at any instruction: odd numbers
 * here, even ones there. */
static volatile uint32_t handled, bound;

static void insert_from_handler(int signal)
{
	(void)signal;
	for (unsigned i = 0; i < 25 && handled + 2 < bound; i++) {
		handled += 2;
		/* NOLINTNEXTLINE(bugprone-signal-handler,cert-sig30-c): safe */
		swz_edge_insert(&thread, edge(handled, 1 + handled / 500));
	}
}

START_TEST(signal_handlers_come_between)
{
	const struct itimerval often = {{0, 20}, {0, 20}},
			       never = {{0, 0}, {0, 0}};

	handled = 0;
	bound = NODES;
	signal(SIGALRM, insert_from_handler);
	setitimer(ITIMER_REAL, &often, NULL);
	for (uint32_t i = 1; i < NODES; i += 2)
		if (swz_edge_insert(&thread, edge(i, 1 + i / 500)) != &nodes[i])
			ck_abort_msg("edge %u is not entered", i);
	setitimer(ITIMER_REAL, &never, NULL);
	ck_assert_uint_gt(handled, 0);
	for (uint32_t i = 1; i < NODES; i += 2)
		if (find(&nodes[i]) != &nodes[i])
			ck_abort_msg("edge %u is lost", i);
	for (uint32_t i = 2; i <= handled; i += 2)
		if (find(&nodes[i]) != &nodes[i])
			ck_abort_msg("a handler's edge %u is lost", i);
}
END_TEST

/* Two threads that share their state insert edges of the same contexts: odd
 * numbers here, even ones there. A hook on either looks where children say. */
enum { EDGES_EACH = 10, SPINS = 20000 };
static atomic_uint reached[2];

static void *insert_beside(void *which)
{
	const uint32_t own = (uint32_t)(uintptr_t)which;

	for (uint32_t i = 1 + own; i < NODES; i += 2) {
		const uint32_t context = 1 + i / EDGES_EACH;

		atomic_store(&reached[own], context);
		for (unsigned n = 0; atomic_load(&reached[!own]) < context; n++)
			if (n > SPINS)
				sched_yield();
		swz_edge_insert(&thread, edge(i, context));
	}
	atomic_store(&reached[own], NODES);
	return NULL;
}

START_TEST(two_threads_leave_children_whole)
{
	pthread_t other;

	reached[0] = reached[1] = 0;
	ck_assert_int_eq(pthread_create(&other, NULL, insert_beside, (void *)1),
			 0);
	insert_beside(NULL);
	pthread_join(other, NULL);
	for (uint32_t context = 2; context < NODES / EDGES_EACH; context++) {
		const uint32_t bytes = child(context, SWZ_TABLE_MASK) + 4;

		for (int i = 0; i < SWZ_CHILDREN; i++)
			if (!(links[context].children[i] &
			      SWZ_CHILDREN_IN_TABLE))
				ck_abort_msg("context %u: child %d is %x",
					     context, i,
					     links[context].children[i]);
		ck_assert_uint_eq(bytes & (bytes - 1), 0);
		ck_assert_uint_le(bytes, 4 * NODES);
		ck_assert_uint_eq(child(context, SWZ_TABLE_USED), EDGES_EACH);
	}
}
END_TEST

/* Blocks that threads take do not overlap, and are aligned as units are. */
START_TEST(what_is_taken_is_zero_and_nobody_elses)
{
	struct swz_thread_cold others[3] = {{.nodes_made = 0},
					    {.nodes_made = 1000},
					    {.nodes_made = 1000000}};

	for (unsigned i = 0; i < 3000; i++) {
		const uint64_t bytes = 4 + i * 7 % 1500;
		char *taken = swz_table_room_take(&others[i % 3], bytes);

		ck_assert_ptr_nonnull(taken);
		ck_assert_uint_eq((uintptr_t)taken % SWZ_TABLE_UNIT, 0);
		ck_assert(taken >= room && taken + bytes <= thread.tables);
		for (uint64_t j = 0; j < bytes; j++)
			if (taken[j])
				ck_abort_msg("taken twice");
		memset(taken, 1, bytes);
	}
	/* the page that stays zeros */
	ck_assert_int_eq(thread.tables - room, ROOM - 4096);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("edge_table");
	TCase *t = tcase_create("edge_table");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, few_edges_are_beside_their_context);
	tcase_add_test(t, more_of_them_are_in_a_table);
	tcase_add_test(t, an_edge_is_where_the_hooks_look);
	tcase_add_test(t, edges_with_one_first_place_are_found);
	tcase_add_test(t, an_edge_that_is_there_stays);
	tcase_add_loop_test(t, no_edge_is_lost_where_tables_grow, 0, 2);
	tcase_add_test(t, without_room_an_edge_is_refused);
	tcase_add_test(t, a_context_forgets_its_children);
	tcase_add_test(t, signal_handlers_come_between);
	tcase_add_test(t, two_threads_leave_children_whole);
	tcase_add_test(t, what_is_taken_is_zero_and_nobody_elses);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
