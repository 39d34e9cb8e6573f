#include "tests/unit/summed_profile.h"

#include <check.h>
#include <stdlib.h>

#include "profile/costs/contexts.h"

struct summed_profile sum;

void sum_begin(void)
{
	builder_begin(&sum.builder);
	builder_header(&sum.builder)->clock[1].monotonic_ns = 4500;
	builder_header(&sum.builder)->cost_inside = 10240;
	builder_header(&sum.builder)->cost_outside = 4096;
	builder_module(&sum.builder, 0, "prog", 0x400000, 1, 4);
	sum.root = builder_thread(&sum.builder, 0, 100, "main", 2000, 8);
}

void sum_end(void)
{
	swz_report_free(&sum.report);
	swz_binding_free(&sum.binding);
	swz_catalog_free(&sum.catalog);
	swz_profile_free(sum.profile);
	sum.profile = NULL;
	builder_free(&sum.builder);
}

void sum_call(uint32_t node, uint32_t parent, uint32_t context,
	      uint32_t function, uint64_t calls, int64_t ticks, int64_t outer)
{
	builder_call(&sum.builder, sum.root + node, sum.root + parent,
		     sum.root + context, function, SITE, calls, ticks, outer);
}

struct swz_node *sum_node(uint32_t index)
{
	return builder_node(&sum.builder, sum.root + index);
}

/* The contexts have the same calls and times as the report, function by
 * function; all that is below the root is the total. */
static void check_contexts(struct swz_contexts *contexts)
{
	uint64_t *calls = calloc(sum.report.function_capacity, sizeof(*calls));
	int64_t *self = calloc(sum.report.function_capacity, sizeof(*self));
	size_t i;

	swz_contexts_sum(contexts);
	ck_assert_int_eq(contexts->items[SWZ_CONTEXT_ROOT].inclusive_ns,
			 sum.report.total_ns);
	for (i = 0; i < contexts->count; i++) {
		const struct swz_context *context = &contexts->items[i];

		ck_assert(!i || context->parent < i);
		ck_assert_uint_lt(context->function,
				  sum.report.function_capacity);
		calls[context->function] += context->calls;
		self[context->function] += context->self_ns;
	}
	for (i = 0; i < sum.report.function_capacity; i++) {
		ck_assert_uint_eq(calls[i], sum.report.functions[i].calls);
		ck_assert_int_eq(self[i], sum.report.functions[i].self_ns);
	}
	free(calls);
	free(self);
}

void sum_up(bool compensate)
{
	struct swz_contexts contexts;
	static const struct swz_catalog_options options;
	size_t i;

	sum.profile = builder_read(&sum.builder);
	swz_catalog_begin(&sum.catalog, &options);
	swz_catalog_bind(&sum.binding, &sum.catalog, sum.profile);
	swz_contexts_begin(&contexts, SWZ_CATALOG_OUTSIDE, false);
	for (i = 0; i < sum.profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, sum.profile, &sum.profile->threads[i],
			       compensate);
		swz_contexts_add(&contexts, &sum.report, &sum.binding, &tree);
		swz_tree_free(&tree);
	}
	check_contexts(&contexts);
	swz_contexts_free(&contexts);
	swz_report_sort(&sum.report);
	swz_catalog_resolve(&sum.catalog);
}

uint32_t sum_index(uint32_t id)
{
	if (!id)
		return SWZ_CATALOG_OUTSIDE;
	return swz_binding_function(
		&sum.binding, swz_profile_function_by_id(sum.profile, id), id);
}

struct swz_report_function sum_costs(uint32_t id)
{
	return swz_report_function(&sum.report, sum_index(id));
}

struct swz_report_edge sum_edge(uint32_t caller, uint32_t callee)
{
	size_t i;

	for (i = 0; i < sum.report.edge_count; i++)
		if (sum.report.edges[i].caller == sum_index(caller) &&
		    sum.report.edges[i].callee == sum_index(callee))
			return sum.report.edges[i];
	return (struct swz_report_edge){0};
}

int64_t sum_of_self(void)
{
	int64_t ns = 0;
	size_t i;

	for (i = 0; i < sum.report.function_capacity; i++)
		ns += sum.report.functions[i].self_ns;
	return ns;
}
