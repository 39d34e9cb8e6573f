/* Costs, by numbers worked out by hand. One tick is one ns here; the thread
 * lives from tick 1000 to tick 2000. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/aggregate.h"
#include "profile/costs/contexts.h"
#include "tests/unit/profile_builder.h"
#include "tests/unit/run_suite.h"

#define SITE 0x401010 /* in function 1 */

static struct profile_builder builder;
static struct swz_profile *profile;
static struct swz_catalog catalog;
static struct swz_binding binding;
static struct swz_report report;
static uint32_t root;

static void setup(void)
{
	builder_begin(&builder);
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	builder_header(&builder)->cost_inside = 10240;
	builder_header(&builder)->cost_outside = 4096;
	builder_module(&builder, 0, "prog", 0x400000, 1, 4);
	root = builder_thread(&builder, 0, 100, "main", 2000, 8);
}

static void teardown(void)
{
	swz_report_free(&report);
	swz_binding_free(&binding);
	swz_catalog_free(&catalog);
	swz_profile_free(profile);
	profile = NULL;
	builder_free(&builder);
}

static void call(uint32_t node, uint32_t parent, uint32_t context,
		 uint32_t function, uint64_t calls, int64_t ticks,
		 int64_t outer)
{
	builder_call(&builder, root + node, root + parent, root + context,
		     function, SITE, calls, ticks, outer);
}

static struct swz_node *node(uint32_t index)
{
	return builder_node(&builder, root + index);
}

/* The contexts have the same calls and times as the report, function by
 * function; all that is below the root is the total. */
static void check_contexts(struct swz_contexts *contexts)
{
	uint64_t *calls = calloc(report.function_capacity, sizeof(*calls));
	int64_t *self = calloc(report.function_capacity, sizeof(*self));
	size_t i;

	swz_contexts_sum(contexts);
	ck_assert_int_eq(contexts->items[SWZ_CONTEXT_ROOT].inclusive_ns,
			 report.total_ns);
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		ck_assert(!i || context->parent < i);
		ck_assert_uint_lt(context->function, report.function_capacity);
		calls[context->function] += context->calls;
		self[context->function] += context->self_ns;
	}
	for (i = 0; i < report.function_capacity; i++) {
		ck_assert_uint_eq(calls[i], report.functions[i].calls);
		ck_assert_int_eq(self[i], report.functions[i].self_ns);
	}
	free(calls);
	free(self);
}

static void aggregate(bool compensate)
{
	struct swz_contexts contexts;
	static const struct swz_catalog_options options;
	size_t i;

	profile = builder_read(&builder);
	swz_catalog_begin(&catalog, &options);
	swz_catalog_bind(&binding, &catalog, profile);
	swz_contexts_begin(&contexts, SWZ_CATALOG_OUTSIDE, false);
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i],
			       compensate);
		swz_contexts_add(&contexts, &report, &binding, &tree);
		swz_tree_free(&tree);
	}
	check_contexts(&contexts);
	swz_contexts_free(&contexts);
	swz_report_sort(&report);
	swz_catalog_resolve(&catalog);
}

/* The function with an id, 0 for the time outside of all. */
static uint32_t index_of(uint32_t id)
{
	if (!id)
		return SWZ_CATALOG_OUTSIDE;
	return swz_binding_function(
		&binding, swz_profile_function_by_id(profile, id), id);
}

static struct swz_report_function costs(uint32_t id)
{
	return swz_report_function(&report, index_of(id));
}

static struct swz_report_edge edge(uint32_t caller, uint32_t callee)
{
	size_t i;

	for (i = 0; i < report.edge_count; i++)
		if (report.edges[i].caller == index_of(caller) &&
		    report.edges[i].callee == index_of(callee))
			return report.edges[i];
	return (struct swz_report_edge){0};
}

static int64_t sum_of_self(void)
{
	int64_t sum = 0;
	size_t i;

	for (i = 0; i < report.function_capacity; i++)
		sum += report.functions[i].self_ns;
	return sum;
}

START_TEST(self_is_inclusive_less_callees)
{
	call(1, 0, 1, 1, 1, 700, 700);
	call(2, 1, 2, 2, 3, 300, 300);
	aggregate(false);
	ck_assert_int_eq(costs(0).self_ns, 300);
	ck_assert_int_eq(costs(0).inclusive_ns, 1000);
	ck_assert_int_eq(costs(1).self_ns, 400);
	ck_assert_int_eq(costs(1).inclusive_ns, 700);
	ck_assert_int_eq(costs(2).self_ns, 300);
	ck_assert_uint_eq(costs(2).calls, 3);
	ck_assert_int_eq(costs(2).min_ns, 100);
	ck_assert_uint_eq(edge(1, 2).calls, 3);
	ck_assert_int_eq(edge(1, 2).inclusive_ns, 300);
	ck_assert_int_eq(report.total_ns, 1000);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

/* fib(3), 100 ticks in each of its 5 calls; two call sites. */
static void build_fib(void)
{
	call(1, 0, 1, 1, 1, 500, 500);
	call(2, 1, 1, 1, 2, 400, 0);
	call(3, 1, 1, 1, 2, 200, 0);
	node(3)->call_site = SITE + 8;
}

/* Two chunks of the thread's, and one of a thread that is not there. */
START_TEST(counts_calls_that_exceptions_ended)
{
	static const struct {
		uint32_t owner, node;
		uint64_t count;
	} records[] = {{0, 1, 3}, {0, 2, 5}, {7, 1, 100}, {0, 6000, 9}};
	size_t i;

	call(1, 0, 1, 1, 10, 100, 100);
	call(2, 1, 2, 2, 10, 50, 50);
	call(3, 0, 3, 2, 10, 50, 50);
	for (i = 0; i < sizeof(records) / sizeof(*records); i++) {
		size_t at = builder_chunk(&builder, SWZ_CHUNK_UNWOUND, 4,
					  records[i].owner, 64);
		struct swz_unwound_record *slots =
			(void *)(builder.data + at + sizeof(struct swz_chunk));

		slots[2].node = root + records[i].node; /* 0, 1, 3: unused */
		slots[2].count = records[i].count;
	}
	aggregate(false);
	ck_assert_uint_eq(profile->unwound_count, 4);
	ck_assert_uint_eq(profile->threads[0].unwound_count, 3);
	ck_assert_uint_eq(report.functions[index_of(1)].unwound, 3);
	ck_assert_uint_eq(report.functions[index_of(2)].unwound, 5);
	ck_assert_uint_eq(report.functions[index_of(0)].unwound, 0);
	ck_assert_uint_eq(report.functions[index_of(2)].calls, 20);
	ck_assert(!swz_profile_damaged(profile));
}
END_TEST

START_TEST(recursion_counts_outermost_time_only)
{
	build_fib();
	aggregate(false);
	ck_assert_uint_eq(costs(1).calls, 5);
	ck_assert_int_eq(costs(1).self_ns, 500);
	ck_assert_int_eq(costs(1).inclusive_ns, 500);
	ck_assert_uint_eq(edge(1, 1).calls, 4);
	ck_assert_int_eq(edge(1, 1).inclusive_ns, 0);
	ck_assert_int_eq(edge(0, 1).inclusive_ns, 500);
	ck_assert(catalog.functions[index_of(1)].recursive);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_recursion)
{
	build_fib();
	aggregate(true);
	/* 500 - 10 * 5 calls - 4 * 4 calls made */
	ck_assert_int_eq(costs(1).self_ns, 434);
	ck_assert_int_eq(costs(1).inclusive_ns, 434);
	ck_assert_int_eq(costs(0).self_ns, 496);
	ck_assert_int_eq(costs(0).inclusive_ns, 930);
	ck_assert_int_eq(report.total_ns, 930);
	ck_assert_int_eq(report.raw_ns, 1000);
}
END_TEST

/* even calls odd calls even calls odd; 100 ticks in each. */
static void build_mutual(void)
{
	call(1, 0, 1, 1, 1, 400, 400);
	call(2, 1, 2, 2, 2, 400, 300);
	call(3, 2, 1, 1, 1, 200, 0);
}

START_TEST(mutual_recursion)
{
	build_mutual();
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 200);
	ck_assert_int_eq(costs(1).inclusive_ns, 400);
	ck_assert_int_eq(costs(2).self_ns, 200);
	ck_assert_int_eq(costs(2).inclusive_ns, 300);
	ck_assert_uint_eq(edge(2, 1).calls, 1);
	ck_assert_int_eq(edge(2, 1).inclusive_ns, 0);
	ck_assert(catalog.functions[index_of(1)].recursive);
	ck_assert(catalog.functions[index_of(2)].recursive);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_mutual_recursion)
{
	build_mutual();
	aggregate(true);
	ck_assert_int_eq(costs(1).self_ns, 200 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(costs(2).self_ns, 200 - 2 * 10 - 1 * 4);
	ck_assert_int_eq(costs(1).inclusive_ns, 348);
	/* 300 of the raw 400, in which 348 remain */
	ck_assert_int_eq(costs(2).inclusive_ns, 261);
	ck_assert_int_eq(report.total_ns, 600 - 4 + 348);
}
END_TEST

/* even calls odd calls even, which calls a third; 100 ticks in each. */
static void build_true_stack(void)
{
	call(1, 0, 1, 1, 1, 400, 400);
	call(2, 1, 2, 2, 1, 300, 300);
	call(3, 2, 3, 1, 1, 200, 0);
	call(4, 3, 4, 3, 1, 100, 100);
}

START_TEST(a_function_may_be_on_a_path_twice)
{
	build_true_stack();
	aggregate(false);
	ck_assert_uint_eq(report.dropped_nodes, 0);
	ck_assert_uint_eq(report.folded_recursion, 0);
	ck_assert_uint_eq(costs(1).calls, 2);
	ck_assert_int_eq(costs(1).self_ns, 200);
	ck_assert_int_eq(costs(1).inclusive_ns, 400);
	ck_assert_int_eq(costs(2).inclusive_ns, 300);
	ck_assert_int_eq(costs(3).inclusive_ns, 100);
	ck_assert_int_eq(edge(0, 1).inclusive_ns, 400);
	ck_assert_int_eq(edge(1, 2).inclusive_ns, 300);
	ck_assert_uint_eq(edge(2, 1).calls, 1);
	ck_assert_int_eq(edge(2, 1).inclusive_ns, 0);
	ck_assert_int_eq(edge(1, 3).inclusive_ns, 100);
	ck_assert(catalog.functions[index_of(1)].recursive);
	ck_assert(!catalog.functions[index_of(2)].recursive);
	ck_assert_uint_eq(swz_report_split(&report), 0);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(compensates_each_context_of_a_function)
{
	build_true_stack();
	aggregate(true);
	ck_assert_int_eq(costs(1).self_ns, 200 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(costs(2).self_ns, 100 - 10 - 4);
	ck_assert_int_eq(costs(3).self_ns, 100 - 10);
	/* 100 - 14 twice and 100 - 14, 100 - 10 */
	ck_assert_int_eq(costs(1).inclusive_ns, 86 + 86 + 86 + 90);
	ck_assert_int_eq(costs(2).inclusive_ns, 86 + 86 + 90);
}
END_TEST

/* The third goes on in the outer even: nothing of it lies below odd. */
START_TEST(folding_says_whose_time_is_not_below_it)
{
	build_mutual();
	call(4, 1, 4, 3, 1, 100, 100);
	aggregate(false);
	ck_assert_uint_eq(report.folded_recursion, 1);
	ck_assert(costs(2).split);
	ck_assert(!costs(1).split);
	ck_assert(!costs(3).split);
	ck_assert_uint_eq(swz_report_split(&report), 1);
}
END_TEST

/* 1 calls 2 calls 3, which calls 2, which calls 1. */
START_TEST(compensates_recursion_that_leads_out_of_recursion)
{
	call(1, 0, 1, 1, 1, 600, 600);
	call(2, 1, 2, 2, 1, 500, 500);
	call(3, 2, 3, 3, 1, 300, 300);
	call(4, 3, 2, 2, 1, 100, 0);
	call(5, 2, 1, 1, 1, 50, 0);
	aggregate(true);
	ck_assert_int_eq(costs(1).self_ns, 150 - 2 * 10 - 1 * 4);
	ck_assert_int_eq(costs(2).self_ns, 250 - 2 * 10 - 2 * 4);
	ck_assert_int_eq(costs(3).self_ns, 200 - 1 * 10 - 1 * 4);
	ck_assert_int_eq(costs(1).inclusive_ns, 534);
	/* each may have called 1: 500 and 300 of its raw 600 */
	ck_assert_int_eq(costs(2).inclusive_ns, 445);
	ck_assert_int_eq(costs(3).inclusive_ns, 267);
}
END_TEST

/* 1 is called once and calls 2 ten times: of 500 ticks hooks took 10 and 140.
 */
START_TEST(a_single_call_is_the_longest_and_all)
{
	call(1, 0, 1, 1, 1, 500, 500);
	call(2, 1, 2, 2, 10, 300, 300);
	aggregate(true);
	ck_assert_int_eq(costs(1).inclusive_ns, 350);
	ck_assert_int_eq(costs(1).min_ns, 350);
	ck_assert_int_eq(costs(1).max_ns, 350);
	ck_assert_int_eq(costs(2).max_ns, 30 - 10);
}
END_TEST

/* 1 is called twice, for 500 and 100 ticks, in which it calls 2 20 times. Of
 * what remains of it without its own hooks, 580, its calls' took 280. */
START_TEST(the_cost_of_nested_calls_is_in_proportion)
{
	call(1, 0, 1, 1, 2, 600, 600);
	node(1)->min_ticks = 100;
	node(1)->max_ticks = 500;
	call(2, 1, 2, 2, 20, 400, 400);
	node(2)->min_ticks = 15;
	node(2)->max_ticks = 60;
	aggregate(true);
	ck_assert_int_eq(costs(1).inclusive_ns, 300);
	ck_assert_int_eq(costs(1).min_ns, 90 * 300 / 580);
	ck_assert_int_eq(costs(1).max_ns, 490 * 300 / 580);
	/* they call nothing */
	ck_assert_int_eq(costs(2).min_ns, 5);
	ck_assert_int_eq(costs(2).max_ns, 50);
}
END_TEST

#define OPEN(n) ((uint32_t)(n) << SWZ_NODE_OPEN_SHIFT)
#define ENTRY(tick) (-(int64_t)((tick) + SWZ_TICKS_BIAS))

/* Nothing but that one of three takes at least their mean. */
START_TEST(calls_that_have_not_ended_bound_the_longest)
{
	call(1, 0, 1, 1, 3, 100 + ENTRY(1200), 100 + ENTRY(1200));
	node(1)->open = OPEN(1);
	node(1)->min_ticks = 40;
	node(1)->max_ticks = 60;
	call(2, 1, 2, 2, 1, ENTRY(1500), ENTRY(1500));
	node(2)->open = OPEN(1);
	node(2)->min_ticks = node(2)->max_ticks = 0;
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 900);
	ck_assert_int_eq(costs(1).min_ns, 40);
	ck_assert_int_eq(costs(1).max_ns, 300);
	ck_assert_int_eq(costs(2).inclusive_ns, 500);
	ck_assert_int_eq(costs(2).min_ns, 500);
	ck_assert_int_eq(costs(2).max_ns, 500);
}
END_TEST

START_TEST(compensation_stops_at_zero)
{
	call(1, 0, 1, 1, 10, 50, 50);
	aggregate(true);
	ck_assert_int_eq(costs(1).self_ns, 0);
	ck_assert_int_eq(costs(1).inclusive_ns, 0);
	/* no more than all together */
	ck_assert_int_eq(costs(1).min_ns, 0);
	ck_assert_int_eq(costs(1).max_ns, 0);
	ck_assert_int_eq(costs(0).self_ns, 950 - 40);
	ck_assert_int_eq(report.total_ns, 910);
}
END_TEST

START_TEST(closes_open_frames)
{
	call(1, 0, 1, 1, 1, ENTRY(1200), ENTRY(1200));
	call(2, 1, 2, 2, 3, 100 + ENTRY(1700), 100 + ENTRY(1700));
	node(1)->open = OPEN(1);
	node(2)->open = OPEN(1);
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 800);
	ck_assert_int_eq(costs(2).inclusive_ns, 400);
	ck_assert_int_eq(costs(1).self_ns, 400);
	ck_assert_uint_eq(report.repaired_nodes, 0);
}
END_TEST

START_TEST(closes_deep_recursion_that_wrapped_around)
{
	uint64_t now = (uint64_t)1 << 52; /* after years of uptime */
	uint64_t entries = 0;
	uint32_t i;

	builder_thread_record(&builder, 0)->start_ticks = now;
	builder_thread_record(&builder, 0)->last_ticks = now + 1000;
	for (i = 0; i < 100; i++)
		entries += now + 2 + i + SWZ_TICKS_BIAS;
	call(1, 0, 1, 1, 1, ENTRY(now + 1), ENTRY(now + 1));
	call(2, 1, 1, 1, 100, (int64_t)(0 - entries), 0);
	node(1)->open = OPEN(1);
	node(2)->open = OPEN(100);
	node(2)->max_ticks = 0;
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 999);
	ck_assert_int_eq(costs(1).self_ns, 999);
	ck_assert_uint_eq(report.repaired_nodes, 0);
}
END_TEST

START_TEST(repairs_a_torn_entry)
{
	/* killed between the two stores of an entry at tick 1500 */
	call(1, 0, 1, 1, 1, ENTRY(1500), ENTRY(1500));
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 500);
	ck_assert_uint_eq(report.repaired_nodes, 1);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(repairs_many_abandoned_hooks)
{
	/* two activations began at 1900 and are not counted as open */
	call(1, 0, 1, 1, 100, 90 + 2 * ENTRY(1900), 100);
	node(1)->open = OPEN(0);
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 90 + 2 * 100);
	ck_assert_uint_eq(report.repaired_nodes, 1);
}
END_TEST

START_TEST(repairs_a_torn_exit)
{
	/* the exit was added, but the activation still counts as open */
	call(1, 0, 1, 1, 1, 100, 100);
	node(1)->open = OPEN(1);
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 100);
	ck_assert_int_eq(costs(1).self_ns, 100);
	ck_assert_uint_eq(report.repaired_nodes, 1);
}
END_TEST

START_TEST(outermost_time_is_no_more_than_all_time)
{
	call(1, 0, 1, 1, 1, 300, 400);
	aggregate(false);
	ck_assert_int_eq(costs(1).inclusive_ns, 300);
	ck_assert_int_eq(costs(1).self_ns, 300);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

/* Ten of a recursion, 250 ticks each, have ended in the child: the calls were
 * the parent's. */
START_TEST(frames_of_a_fork_need_no_repair)
{
	builder_header(&builder)->flags |= SWZ_FILE_FORKED;
	call(1, 0, 1, 1, 0, 300, 300);
	call(2, 1, 1, 1, 0, 2500, 0);
	node(1)->max_ticks = 300;
	node(2)->max_ticks = 250;
	aggregate(false);
	ck_assert_uint_eq(report.repaired_nodes, 0);
	ck_assert_uint_eq(costs(1).calls, 0);
	ck_assert_int_eq(costs(1).self_ns, 300);
}
END_TEST

START_TEST(a_context_lasts_as_long_as_what_it_calls)
{
	call(1, 0, 1, 1, 1, 0, 0);
	call(2, 1, 2, 2, 1, 400, 400);
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 0);
	ck_assert_int_eq(costs(1).inclusive_ns, 400);
	ck_assert_int_eq(costs(0).self_ns, 600);
	ck_assert_int_eq(report.total_ns, 1000);
}
END_TEST

/* The work of patching a library, within 1's call of dlopen. */
static void build_own_work(void)
{
	call(1, 0, 1, 1, 1, 700, 700);
	call(2, 1, 2, SWZ_FUNCTION_OURSELVES, 0, 400, 400);
	node(2)->open = SWZ_NODE_HIDDEN;
	call(3, 1, 3, 3, 2, 100, 100);
	builder_header(&builder)->cost_inside = 0;
	builder_header(&builder)->cost_outside = 0;
}

START_TEST(own_work_is_nobodys)
{
	build_own_work();
	aggregate(true);
	ck_assert_int_eq(costs(1).self_ns, 200);
	ck_assert_int_eq(costs(1).inclusive_ns, 300);
	ck_assert_int_eq(costs(3).self_ns, 100);
	ck_assert_int_eq(report.total_ns, 600);
	ck_assert_int_eq(report.raw_ns, 1000);
	ck_assert_int_eq(sum_of_self(), 600);
}
END_TEST

START_TEST(own_work_is_there_without_compensation)
{
	build_own_work();
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 600);
	ck_assert_int_eq(costs(1).inclusive_ns, 700);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(hidden_contexts_count_for_their_callers)
{
	call(1, 0, 1, 1, 1, 300, 300);
	call(2, 1, 2, 2, 1, 200, 200);
	node(2)->open = SWZ_NODE_HIDDEN;
	call(3, 2, 3, 3, 4, 50, 50);
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 250);
	ck_assert(!costs(2).present);
	ck_assert_int_eq(costs(3).self_ns, 50);
	ck_assert_uint_eq(edge(1, 3).calls, 4);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(folded_contexts_are_taken_from_the_function_that_calls)
{
	call(1, 0, 1, 2, 1, 400, 400);
	call(2, 1, 2, 1, 1, 300, 300);
	call(3, 0, 3, 3, 4, 100, 100); /* SITE is in function 1 */
	node(3)->open = SWZ_NODE_FOLDED;
	aggregate(false);
	ck_assert_int_eq(costs(0).self_ns, 600);
	ck_assert_int_eq(costs(2).self_ns, 100);
	ck_assert_int_eq(costs(1).self_ns, 200);
	ck_assert_int_eq(costs(3).self_ns, 100);
	ck_assert_uint_eq(edge(1, 3).calls, 4);
	ck_assert_int_eq(report.total_ns, 1000);
}
END_TEST

START_TEST(compensates_folded_contexts)
{
	call(1, 0, 1, 1, 1, 400, 400);
	call(2, 0, 2, 3, 4, 100, 100); /* SITE is in function 1 */
	node(2)->open = SWZ_NODE_FOLDED;
	aggregate(true);
	ck_assert_int_eq(costs(3).self_ns, 100 - 4 * 10);
	/* less what it called, and what that cost outside */
	ck_assert_int_eq(costs(1).self_ns, 400 - 10 - 100 - 4 * 4);
	ck_assert_int_eq(costs(0).self_ns, 600 - 4);
	ck_assert_int_eq(sum_of_self(), report.total_ns);
}
END_TEST

START_TEST(folded_contexts_may_hang_below_a_root_of_their_own)
{
	call(1, 0, 1, 1, 1, 400, 400);
	call(2, 0, 2, SWZ_FUNCTION_ROOT, 0, 0, 0);
	node(2)->open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN;
	node(2)->call_site = 0;
	call(3, 2, 3, 2, 4, 300, 300); /* called by 1 */
	node(3)->open = SWZ_NODE_FOLDED;
	call(4, 2, 4, 3, 4, 100, 100); /* called by 2 */
	node(4)->open = SWZ_NODE_FOLDED;
	node(4)->call_site = 0x401110;
	aggregate(false);
	ck_assert_uint_eq(report.dropped_nodes, 0);
	ck_assert_int_eq(costs(0).self_ns, 600);
	ck_assert_int_eq(costs(1).self_ns, 100);
	ck_assert_int_eq(costs(2).self_ns, 200);
	ck_assert_int_eq(costs(3).self_ns, 100);
	ck_assert_uint_eq(edge(0, 2).calls, 0);
	ck_assert_uint_eq(edge(2, 3).calls, 4);
}
END_TEST

START_TEST(folded_contexts_may_hang_below_one_that_stands_for_their_caller)
{
	call(1, 0, 1, 1, 1, 400, 400);
	call(2, 0, 2, SWZ_FUNCTION_ROOT, 0, 0, 0);
	call(3, 2, 3, 1, 0, 0, 0); /* all contexts of function 1 */
	call(4, 2, 4, 2, 0, 0, 0); /* of function 2 */
	for (uint32_t i = 2; i <= 4; i++) {
		node(i)->open = SWZ_NODE_FOLDED | SWZ_NODE_HIDDEN;
		node(i)->call_site = 0;
	}
	call(5, 3, 5, 2, 4, 300, 300);
	node(5)->open = SWZ_NODE_FOLDED;
	node(5)->call_site = 0x10; /* in no function */
	call(6, 4, 6, 3, 4, 100, 100);
	node(6)->open = SWZ_NODE_FOLDED;
	node(6)->call_site = SWZ_CALL_SITE_TAIL;
	aggregate(false);
	ck_assert_uint_eq(report.dropped_nodes, 0);
	ck_assert_int_eq(costs(0).self_ns, 600);
	ck_assert_int_eq(costs(1).self_ns, 100);
	ck_assert_int_eq(costs(2).self_ns, 200);
	ck_assert_int_eq(costs(3).self_ns, 100);
	ck_assert_uint_eq(edge(1, 2).calls, 4);
	ck_assert_uint_eq(edge(2, 3).calls, 4);
	ck_assert_uint_eq(costs(1).calls, 1);
}
END_TEST

START_TEST(folded_contexts_of_unknown_callers_keep_the_sum)
{
	int64_t called = 0;
	size_t i;

	call(1, 0, 1, 1, 1, 900, 900);
	call(2, 0, 2, 3, 1, 200, 200);
	node(2)->open = SWZ_NODE_FOLDED;
	node(2)->call_site = 0x10; /* in no function */
	aggregate(false);
	ck_assert_int_le(report.total_ns, 1000);
	ck_assert_int_ge(report.total_ns, 997);
	ck_assert_int_eq(sum_of_self(), report.total_ns);
	ck_assert_uint_eq(edge(0, 3).calls, 0);
	for (i = 0; i < report.edge_count; i++)
		if (report.edges[i].caller == SWZ_CATALOG_OUTSIDE)
			called += report.edges[i].inclusive_ns;
	ck_assert_int_le(costs(0).self_ns + called, report.total_ns);
}
END_TEST

START_TEST(drops_cycles_and_orphans)
{
	call(1, 0, 1, 1, 1, 300, 300);
	call(2, 3, 2, 2, 1, 100, 100); /* 2 and 3: a cycle */
	call(3, 2, 3, 3, 1, 100, 100);
	call(4, 1, 4, 2, 1, 100, 100);
	node(4)->parent = 12345;       /* not there */
	call(5, 5, 5, 2, 1, 100, 100); /* its own parent */
	call(6, 1, 4, 2, 1, 100, 100); /* context was dropped */
	aggregate(false);
	ck_assert_uint_eq(report.dropped_nodes, 5);
	ck_assert_int_eq(costs(1).self_ns, 300);
	ck_assert_int_eq(sum_of_self(), 1000);
}
END_TEST

START_TEST(drops_a_context_that_is_no_ancestor)
{
	call(1, 0, 1, 1, 1, 300, 300);
	call(2, 0, 2, 2, 1, 300, 300);
	call(3, 2, 1, 1, 1, 100, 0);
	call(4, 2, 2, 3, 1, 100, 0); /* nor of its function */
	aggregate(false);
	ck_assert_uint_eq(report.dropped_nodes, 2);
	ck_assert_int_eq(costs(2).self_ns, 300);
}
END_TEST

START_TEST(keeps_functions_without_a_record)
{
	call(1, 0, 1, 77, 1, 300, 300);
	aggregate(false);
	ck_assert_str_eq(catalog.functions[index_of(77)].name, "function_77");
	ck_assert_int_eq(costs(77).self_ns, 300);
}
END_TEST

START_TEST(names_functions_without_symbols_by_address)
{
	call(1, 0, 1, 3, 1, 300, 300);
	aggregate(false);
	ck_assert_str_eq(catalog.functions[index_of(3)].name, "sub_1200");
}
END_TEST

START_TEST(names_functions_as_they_were_asked_for)
{
	builder_names(&builder, 0, 3, 1, "free", sizeof("free"));
	call(1, 0, 1, 3, 1, 300, 300);
	aggregate(false);
	ck_assert_str_eq(catalog.functions[index_of(3)].name, "free");
}
END_TEST

START_TEST(walks_deep_trees_without_recursion)
{
	uint32_t depth = 200000, i;

	builder_free(&builder);
	builder_begin(&builder);
	builder_module(&builder, 0, "prog", 0x400000, 1, 4);
	root = builder_thread(&builder, 0, 100, "main", 2000, depth);
	for (i = 1; i < depth; i++)
		call(i, i - 1, i, 1 + i % 4, 1, 500, 500);
	aggregate(true);
	ck_assert_uint_eq(report.dropped_nodes, 0);
	ck_assert_int_eq(sum_of_self(), report.total_ns);
}
END_TEST

START_TEST(adds_up_threads)
{
	uint32_t second = builder_thread(&builder, 1, 101, "w", 1600, 2);

	builder_call(&builder, second + 1, second, second + 1, 1, SITE, 2, 400,
		     400);
	call(1, 0, 1, 1, 1, 700, 700);
	aggregate(false);
	ck_assert_uint_eq(costs(1).calls, 3);
	ck_assert_int_eq(costs(1).inclusive_ns, 1100);
	ck_assert_int_eq(report.total_ns, 1600);
	ck_assert_uint_eq(report.thread_count, 2);
}
END_TEST

START_TEST(rounding_keeps_the_sum)
{
	/* 3 ticks are 1 ns */
	builder_header(&builder)->clock[1].ticks = 1000 + 3 * 4000;
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	call(1, 0, 1, 1, 1, 302, 302);
	call(2, 1, 2, 2, 1, 200, 200);
	call(3, 1, 3, 3, 1, 100, 100);
	aggregate(false);
	ck_assert_int_eq(report.total_ns, 333);
	ck_assert_int_eq(sum_of_self(), 333);
	/* what a reader of the tree adds up; 302 ticks are 100.67 ns */
	ck_assert_int_eq(costs(1).inclusive_ns, costs(1).self_ns +
							costs(2).self_ns +
							costs(3).self_ns);
	ck_assert_int_ge(costs(1).inclusive_ns, 100);
	ck_assert_int_le(costs(1).inclusive_ns, 101);
}
END_TEST

START_TEST(rounding_keeps_self_within_inclusive)
{
	uint32_t i;

	/* 3 ticks are 1 ns; 1 + 1/3 ns of self time, thrice and what is left */
	builder_header(&builder)->clock[1].ticks = 1000 + 3 * 4000;
	builder_header(&builder)->clock[1].monotonic_ns = 4500;
	for (i = 1; i <= 3; i++)
		call(i, 0, i, i, 1, 4, 4);
	aggregate(false);
	ck_assert_int_eq(sum_of_self(), report.total_ns);
	for (i = 0; i <= 3; i++) {
		ck_assert_int_ge(costs(i).inclusive_ns, costs(i).self_ns);
		ck_assert_int_le(costs(i).inclusive_ns, report.total_ns);
	}
}
END_TEST

START_TEST(merges_profiles_by_module_and_address)
{
	struct profile_builder other;
	struct swz_binding other_binding;
	struct swz_profile *other_profile;
	struct swz_tree tree;
	uint32_t unit;

	call(1, 0, 1, 2, 1, 700, 700);
	aggregate(false);
	/* the same module elsewhere, with other ids and another clock */
	builder_begin(&other);
	builder_module(&other, 5, "prog", 0x7f00000, 11, 4);
	unit = builder_thread(&other, 0, 9, "main", 2000, 2);
	builder_call(&other, unit + 1, unit, unit + 1, 12, 0, 1, 700, 700);
	other_profile = builder_read(&other);
	swz_catalog_bind(&other_binding, &catalog, other_profile);
	swz_tree_build(&tree, other_profile, &other_profile->threads[0], false);
	swz_report_add(&report, &other_binding, &tree);
	ck_assert_uint_eq(catalog.module_count, 1);
	ck_assert_uint_eq(costs(2).calls, 2);
	ck_assert_int_eq(costs(2).inclusive_ns, 700 + 350);
	ck_assert_int_eq(report.total_ns, 1500);
	swz_tree_free(&tree);
	swz_binding_free(&other_binding);
	swz_profile_free(other_profile);
	builder_free(&other);
}
END_TEST

/* Of a hundred calls twenty were timed, for fifty: an estimate. */
START_TEST(estimates_from_timed_calls)
{
	struct swz_file_header *header = builder_header(&builder);

	header->flags |= SWZ_FILE_SAMPLED;
	header->cost_inside = 1024;
	header->cost_outside = 1024;
	header->cost_untimed = 512;
	call(1, 0, 1, 1, 1, 700, 1);
	node(1)->timed = 1;
	call(2, 1, 2, 2, 100, 150, 50);
	node(2)->timed = 20;
	node(2)->squares = 100;
	aggregate(true);
	/* 300 by all calls, less one for each */
	ck_assert_int_eq(costs(2).self_ns, 200);
	ck_assert_uint_eq(costs(2).calls, 100);
	/* 400, less one for its own call; what the hooks beneath took was 20 x
	 * 2 + 80 x 0.5, of which 100 are taken already */
	ck_assert_int_eq(costs(1).self_ns, 400 - 1 + 20);
	/* its one call took two */
	ck_assert_int_eq(costs(0).self_ns, 300 - 2 + 1);
	/* 16 x 100 - 3 x 3 x 50 x (50 / 20 - 1) */
	ck_assert_double_eq_tol(costs(2).variance_ns, 925, 0.01);
	ck_assert_double_eq_tol(costs(1).variance_ns, 925, 0.01);
	ck_assert(report.sampled);
}
END_TEST

/* What a context calls of itself is no uncertainty of its own time. */
START_TEST(estimates_of_recursion)
{
	builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
	call(1, 0, 1, 1, 100, 150, 50);
	call(2, 1, 1, 1, 100, 150, 50);
	for (uint32_t i = 1; i <= 2; i++) {
		node(i)->timed = 20;
		node(i)->squares = 100;
	}
	aggregate(false);
	ck_assert_int_eq(costs(1).self_ns, 300);
	ck_assert_double_eq_tol(costs(1).variance_ns, 925, 0.01);
	ck_assert_double_eq_tol(costs(0).variance_ns, 925, 0.01);
}
END_TEST

/* Those that are not outermost, however many, add nothing. */
START_TEST(estimates_of_recursion_have_its_outermost_time)
{
	builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
	call(1, 0, 1, 1, 100, 150, 50);
	call(2, 1, 1, 1, 10, 15, 5);
	call(3, 1, 1, 1, 10, 15, 5);
	node(1)->timed = 20;
	node(2)->timed = node(3)->timed = 2;
	aggregate(false);
	ck_assert_uint_eq(costs(1).calls, 120);
	ck_assert_int_eq(costs(1).inclusive_ns, 300);
}
END_TEST

/* The calls of a leaf that are not timed cost less. */
START_TEST(estimates_the_cost_of_leaves)
{
	struct swz_file_header *header = builder_header(&builder);

	header->flags |= SWZ_FILE_SAMPLED;
	header->cost_inside = 1024;
	header->cost_outside = 1024;
	header->cost_untimed = 512;
	header->cost_leaf = 256;
	builder_function_record(&builder, 0, 1)->flags = SWZ_FUNCTION_LEAF;
	call(1, 0, 1, 1, 1, 700, 1);
	node(1)->timed = 1;
	call(2, 1, 2, 2, 100, 150, 50);
	node(2)->timed = 20;
	aggregate(true);
	ck_assert_int_eq(costs(2).self_ns, 200);
	/* the hooks beneath took 20 x 2 + 80 x 0.25, of which 100 are taken
	 * already */
	ck_assert_int_eq(costs(1).self_ns, 400 - 1 + 40);
	ck_assert_int_eq(costs(0).self_ns, 300 - 2 + 1);
}
END_TEST

/* What was timed was long by chance. */
START_TEST(estimates_do_not_exceed_the_time)
{
	builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
	call(1, 0, 1, 1, 1, 900, 1);
	node(1)->timed = 1;
	call(2, 1, 2, 2, 1000, 500, 100);
	node(2)->timed = 50;
	aggregate(false);
	ck_assert_int_le(sum_of_self(), 1000);
	ck_assert_int_ge(sum_of_self(), 998); /* each is rounded down */
	ck_assert_int_le(costs(2).inclusive_ns, 1000);
	ck_assert_int_ge(costs(2).self_ns, 998);
}
END_TEST

/* Beside a hundred calls, of which those that were timed stand for all, two
 * that stand for themselves. */
START_TEST(long_calls_count_for_themselves)
{
	builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
	call(1, 0, 1, 1, 1, 900, 1);
	node(1)->timed = 1;
	call(2, 1, 2, 2, 100, 150, 50);
	node(2)->timed = 20;
	node(2)->squares = 100;
	call(3, 1, 2, 2, 2, 200, 2);
	node(3)->timed = 2;
	node(3)->call_site |= SWZ_CALL_SITE_LONG;
	aggregate(false);
	ck_assert_int_eq(costs(2).self_ns, 300 + 200);
	ck_assert_int_eq(costs(2).inclusive_ns, 300 + 200);
	ck_assert_uint_eq(costs(2).calls, 102);
	ck_assert_int_eq(costs(1).self_ns, 900 - 500);
	/* 16 x 100 - 3 x 3 x 50 x (50 / 20 - 1) */
	ck_assert_double_eq_tol(costs(2).variance_ns, 925, 0.01);
}
END_TEST

/* Of a recursion that was resumed together with its stack, again and again,
 * each activation has lasted as long as all that; none has begun here. */
START_TEST(resumed_recursion_needs_no_repair)
{
	for (int resumed = 0; resumed < 2; resumed++) {
		if (resumed) {
			teardown();
			setup();
		}
		builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
		call(1, 0, 1, 1, 1, 900, 1);
		node(1)->timed = 1;
		call(2, 1, 2, 2, 0, 0, 0);
		node(2)->open |= resumed ? SWZ_NODE_RESUMED : 0;
		call(3, 1, 2, 2, 0, 3000, 0);
		node(3)->timed = 30;
		node(3)->call_site |= SWZ_CALL_SITE_LONG;
		aggregate(false);
		ck_assert_uint_eq(report.repaired_nodes, resumed ? 0 : 1);
		ck_assert_int_le(sum_of_self(), 1000);
	}
}
END_TEST

/* Where a damaged file says of which edge they are, that is none. */
START_TEST(long_calls_of_no_edge_are_dropped)
{
	builder_header(&builder)->flags |= SWZ_FILE_SAMPLED;
	call(1, 0, 1, 1, 1, 900, 1);
	node(1)->timed = 1;
	call(2, 1, 0, 2, 2, 200, 2);
	node(2)->call_site |= SWZ_CALL_SITE_LONG;
	call(3, 1, 1000000, 2, 2, 200, 2);
	node(3)->call_site |= SWZ_CALL_SITE_LONG;
	aggregate(false);
	ck_assert_uint_eq(costs(2).calls, 0);
	ck_assert_int_eq(costs(1).self_ns, 900);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("aggregate");
	TCase *tests = tcase_create("aggregate");

	tcase_set_timeout(tests, 60);
	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, self_is_inclusive_less_callees);
	tcase_add_test(tests, counts_calls_that_exceptions_ended);
	tcase_add_test(tests, recursion_counts_outermost_time_only);
	tcase_add_test(tests, compensates_recursion);
	tcase_add_test(tests, mutual_recursion);
	tcase_add_test(tests, compensates_mutual_recursion);
	tcase_add_test(tests, a_function_may_be_on_a_path_twice);
	tcase_add_test(tests, compensates_each_context_of_a_function);
	tcase_add_test(tests, folding_says_whose_time_is_not_below_it);
	tcase_add_test(tests,
		       compensates_recursion_that_leads_out_of_recursion);
	tcase_add_test(tests, a_single_call_is_the_longest_and_all);
	tcase_add_test(tests, the_cost_of_nested_calls_is_in_proportion);
	tcase_add_test(tests, calls_that_have_not_ended_bound_the_longest);
	tcase_add_test(tests, compensation_stops_at_zero);
	tcase_add_test(tests, closes_open_frames);
	tcase_add_test(tests, closes_deep_recursion_that_wrapped_around);
	tcase_add_test(tests, repairs_a_torn_entry);
	tcase_add_test(tests, repairs_a_torn_exit);
	tcase_add_test(tests, repairs_many_abandoned_hooks);
	tcase_add_test(tests, outermost_time_is_no_more_than_all_time);
	tcase_add_test(tests, frames_of_a_fork_need_no_repair);
	tcase_add_test(tests, a_context_lasts_as_long_as_what_it_calls);
	tcase_add_test(tests, own_work_is_nobodys);
	tcase_add_test(tests, own_work_is_there_without_compensation);
	tcase_add_test(tests, hidden_contexts_count_for_their_callers);
	tcase_add_test(tests,
		       folded_contexts_are_taken_from_the_function_that_calls);
	tcase_add_test(tests, compensates_folded_contexts);
	tcase_add_test(tests,
		       folded_contexts_may_hang_below_a_root_of_their_own);
	tcase_add_test(
		tests,
		folded_contexts_may_hang_below_one_that_stands_for_their_caller);
	tcase_add_test(tests, folded_contexts_of_unknown_callers_keep_the_sum);
	tcase_add_test(tests, drops_cycles_and_orphans);
	tcase_add_test(tests, drops_a_context_that_is_no_ancestor);
	tcase_add_test(tests, keeps_functions_without_a_record);
	tcase_add_test(tests, names_functions_without_symbols_by_address);
	tcase_add_test(tests, names_functions_as_they_were_asked_for);
	tcase_add_test(tests, walks_deep_trees_without_recursion);
	tcase_add_test(tests, adds_up_threads);
	tcase_add_test(tests, estimates_from_timed_calls);
	tcase_add_test(tests, estimates_of_recursion);
	tcase_add_test(tests, estimates_of_recursion_have_its_outermost_time);
	tcase_add_test(tests, estimates_the_cost_of_leaves);
	tcase_add_test(tests, estimates_do_not_exceed_the_time);
	tcase_add_test(tests, long_calls_count_for_themselves);
	tcase_add_test(tests, long_calls_of_no_edge_are_dropped);
	tcase_add_test(tests, resumed_recursion_needs_no_repair);
	tcase_add_test(tests, rounding_keeps_the_sum);
	tcase_add_test(tests, rounding_keeps_self_within_inclusive);
	tcase_add_test(tests, merges_profiles_by_module_and_address);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
