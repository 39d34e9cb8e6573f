/* What a profile says of each function, by address, for tests/bench/accuracy:
 *
 *	total RAW_NS SELF_NS
 *	MODULE ADDRESS SIZE PATCHED CALLS RAW_NS SELF_NS
 *
 * with the self time before and after compensation. "-" is what is outside of
 * all functions. Not for profiles with folded contexts.
 *
 * With -e before it, the call edges, too, a tab between two words:
 *
 *	edge CALLS MODULE RETURN-ADDRESS MODULE ADDRESS
 *
 * With samples of the same program as a second file:
 *
 *	times SAMPLED_NS JOINED_NS
 *	MODULE ADDRESS SAMPLED_NS JOINED_NS
 *
 * what the samples say and what swizzle-dump --times makes of both. Time in
 * functions that are not hooked counts for the hooked one that called them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/costs/call_tree.h"
#include "profile/costs/runs.h"

struct sum {
	uint64_t calls;
	int64_t raw;
	int64_t self;
};

static void add_thread(struct swz_profile *profile, size_t thread,
		       struct sum *sums)
{
	struct swz_tree tree;

	swz_tree_build(&tree, profile, &profile->threads[thread], true);
	for (size_t i = 0; i < tree.count; i++) {
		const struct swz_tree_node *node = &tree.nodes[i];
		uint32_t function = node->function;

		if (node->id == SWZ_FUNCTION_OURSELVES)
			continue;
		if (function == SWZ_INDEX_NONE)
			function = (uint32_t)profile->function_count;
		sums[function].calls += node->calls;
		if (node->context != i)
			continue;
		sums[function].raw += node->raw_self;
		sums[function].self += node->self;
	}
	swz_tree_free(&tree);
}

/* The module, and the address as in its file. */
static void print_place(const struct swz_profile *profile, uint64_t address)
{
	for (size_t i = 0; i < profile->module_count; i++) {
		const struct swz_profile_module *m = &profile->modules[i];

		if (address >= m->record.start && address < m->record.end) {
			printf("\t%s\t%" PRIx64, m->path,
			       address - m->record.load_bias);
			return;
		}
	}
	printf("\t-\t0");
}

static void print_edges(struct swz_profile *profile, size_t thread)
{
	struct swz_tree tree;

	swz_tree_build(&tree, profile, &profile->threads[thread], true);
	for (size_t i = 1; i < tree.count; i++) {
		const struct swz_tree_node *node = &tree.nodes[i];

		uint32_t function = node->function;
		const struct swz_profile_function *f =
			&profile->functions[function];

		if (node->id == SWZ_FUNCTION_OURSELVES || !node->calls ||
		    function == SWZ_INDEX_NONE || f->module == SWZ_INDEX_NONE)
			continue;
		printf("edge\t%" PRIu64, node->calls);
		print_place(profile, node->call_site);
		printf("\t%s\t%" PRIx64 "\n", profile->modules[f->module].path,
		       f->address);
	}
	swz_tree_free(&tree);
}

static void print(const struct swz_profile *profile, const struct sum *sums)
{
	int64_t raw = 0, self = 0;

	for (size_t i = 0; i <= profile->function_count; i++) {
		raw += sums[i].raw;
		self += sums[i].self;
	}
	printf("total %" PRId64 " %" PRId64 "\n", swz_profile_ns(profile, raw),
	       swz_profile_ns(profile, self));
	for (size_t i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *f = &profile->functions[i];

		if (f->module == SWZ_INDEX_NONE)
			continue;
		printf("%s %" PRIx64 " %" PRIu32 " %d %" PRIu64 " %" PRId64
		       " %" PRId64 "\n",
		       profile->modules[f->module].path, f->address, f->size,
		       f->status == 0, sums[i].calls,
		       swz_profile_ns(profile, sums[i].raw),
		       swz_profile_ns(profile, sums[i].self));
	}
	printf("- 0 0 0 0 %" PRId64 " %" PRId64 "\n",
	       swz_profile_ns(profile, sums[profile->function_count].raw),
	       swz_profile_ns(profile, sums[profile->function_count].self));
}

/* ---- with samples ---- */

struct side {
	struct swz_binding binding;
	struct swz_report report;
	struct swz_contexts contexts;
};

static void add_up(struct side *side, struct swz_catalog *catalog,
		   struct swz_profile *profile)
{
	swz_catalog_bind(&side->binding, catalog, profile);
	swz_contexts_begin(&side->contexts, SWZ_CATALOG_OUTSIDE, true);
	for (size_t i = 0; i < profile->thread_count; i++) {
		struct swz_tree tree;

		swz_tree_build(&tree, profile, &profile->threads[i], true);
		swz_contexts_add(&side->contexts, &side->report, &side->binding,
				 &tree);
		swz_tree_free(&tree);
	}
}

/* Per function of the catalog: whether it was hooked. */
static bool *find_hooked(const struct swz_catalog *catalog,
			 const struct swz_binding *binding)
{
	const struct swz_profile *profile = binding->profile;
	bool *hooked = swz_allocate(catalog->function_count, sizeof(*hooked));

	for (size_t i = 0; i < profile->function_count; i++) {
		const struct swz_profile_function *f = &profile->functions[i];
		uint32_t at = SWZ_MAP_NONE;

		if (f->status == 0 && f->module != SWZ_INDEX_NONE)
			at = swz_map_get(&catalog->by_address,
					 binding->modules[f->module],
					 f->address);
		if (at != SWZ_MAP_NONE)
			hooked[at] = true;
	}
	return hooked;
}

/* Self times of hooked functions, with what they call that was not. */
static int64_t *times_of(const struct swz_catalog *catalog,
			 const struct swz_contexts *contexts,
			 const bool *hooked)
{
	int64_t *times = swz_allocate(catalog->function_count, sizeof(*times));
	uint32_t *owner = swz_allocate(contexts->count, sizeof(*owner));

	for (size_t i = 0; i < contexts->count; i++) {
		const struct swz_context *c = &contexts->items[i];

		owner[i] = hooked[c->function] ? c->function : owner[c->parent];
		times[owner[i]] += c->self_ns;
	}
	free(owner);
	return times;
}

static int64_t sum_of(const int64_t *times, size_t count)
{
	int64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += times[i];
	return sum;
}

static void print_times(struct swz_profile *calls, struct swz_profile *samples)
{
	struct swz_catalog_options options = {.quiet = true};
	struct swz_catalog catalog;
	struct side counted = {0}, sampled = {0};
	struct swz_counting *counting;
	int64_t *of_samples, *joined;
	bool *hooked;

	swz_catalog_begin(&catalog, &options);
	add_up(&counted, &catalog, calls);
	add_up(&sampled, &catalog, samples);
	hooked = find_hooked(&catalog, &counted.binding);
	of_samples = times_of(&catalog, &sampled.contexts, hooked);
	counting = swz_counting_find(
		&counted.report, &sampled.contexts,
		(struct swz_call_costs){samples->header.plain_call,
					samples->header.counted_call});
	swz_join_times(&counted.report, &counted.contexts, &sampled.contexts,
		       1000000, counting);
	swz_counting_free(counting);
	joined = times_of(&catalog, &counted.contexts, hooked);
	printf("times %" PRId64 " %" PRId64 "\n",
	       sum_of(of_samples, catalog.function_count),
	       sum_of(joined, catalog.function_count));
	for (size_t i = 0; i < catalog.function_count; i++) {
		const struct swz_catalog_function *f = &catalog.functions[i];

		if (of_samples[i] || joined[i])
			printf("%s %" PRIx64 " %" PRId64 " %" PRId64 "\n",
			       f->module == SWZ_INDEX_NONE
				       ? "-"
				       : catalog.modules[f->module].path,
			       f->module == SWZ_INDEX_NONE ? 0 : f->address,
			       of_samples[i], joined[i]);
	}
	free(hooked);
	free(of_samples);
	free(joined);
	swz_report_free(&counted.report);
	swz_contexts_free(&counted.contexts);
	swz_binding_free(&counted.binding);
	swz_report_free(&sampled.report);
	swz_contexts_free(&sampled.contexts);
	swz_binding_free(&sampled.binding);
	swz_catalog_free(&catalog);
}

static struct swz_profile *read_profile(const char *path)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) == SWZ_OK)
		return profile;
	fprintf(stderr, "%s: %s\n", path, error.text);
	exit(1);
}

int main(int argc, char **argv)
{
	struct swz_profile *profile, *samples;
	struct sum *sums;
	bool edges = argc > 1 && strcmp(argv[1], "-e") == 0;

	argc -= edges;
	argv += edges;
	if (argc != 2 && argc != 3)
		return 2;
	profile = read_profile(argv[1]);
	if (argc == 3) {
		samples = read_profile(argv[2]);
		print_times(profile, samples);
		swz_profile_free(samples);
		swz_profile_free(profile);
		return 0;
	}
	sums = swz_allocate(profile->function_count + 1, sizeof(*sums));
	for (size_t i = 0; i < profile->thread_count; i++)
		add_thread(profile, i, sums);
	print(profile, sums);
	for (size_t i = 0; edges && i < profile->thread_count; i++)
		print_edges(profile, i);
	free(sums);
	swz_profile_free(profile);
	return 0;
}
