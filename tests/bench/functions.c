/* What a profile says of each function, by address, for tests/bench/accuracy:
 *
 *	total RAW_NS SELF_NS
 *	MODULE ADDRESS SIZE PATCHED CALLS RAW_NS SELF_NS
 *
 * with the self time before and after compensation. "-" is what is outside of
 * all functions. Not for profiles with folded contexts. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "profile/support/memory.h"
#include "profile/costs/tree.h"

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

int main(int argc, char **argv)
{
	struct swz_profile *profile;
	struct swz_error error;
	struct sum *sums;

	if (argc != 2)
		return 2;
	if (swz_profile_read(argv[1], &profile, &error) != SWZ_OK) {
		fprintf(stderr, "%s: %s\n", argv[1], error.text);
		return 1;
	}
	sums = swz_allocate(profile->function_count + 1, sizeof(*sums));
	for (size_t i = 0; i < profile->thread_count; i++)
		add_thread(profile, i, sums);
	print(profile, sums);
	free(sums);
	swz_profile_free(profile);
	return 0;
}
