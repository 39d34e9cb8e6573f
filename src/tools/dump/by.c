/* Each thread has a report of its own, of which the parts are kept; the report
 * of all is their sum. */

#include "tools/dump/by.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/file/ranks.h"
#include "profile/formats/by.h"
#include "profile/support/arith.h"
#include "profile/support/memory.h"
#include "tools/dump/advice.h"
#include "tools/dump/message.h"
#include "tools/dump/result.h"
#include "tools/dump/target.h"

struct adding {
	struct swz_dump_result all; /* the contexts of all threads */
	struct swz_groups groups;
};

/* IN_SUM: the groups have its costs from elsewhere. */
static void add_thread(struct adding *adding, struct swz_binding *binding,
		       const struct swz_profile_thread *thread, bool in_sum,
		       const struct swz_dump_options *options)
{
	struct swz_report whole = adding->all.report, own = {0};

	own.without_edges = true;
	own.hits.wanted = adding->all.contexts.by_hit;
	adding->all.report = own;
	swz_dump_add_thread(&adding->all, binding, thread, options);
	if (!in_sum)
		swz_groups_add(&adding->groups, binding->profile, thread,
			       &adding->all.report);
	own = adding->all.report;
	adding->all.report = whole;
	swz_report_merge(&adding->all.report, &own);
	swz_report_free(&own);
}

/* A sum of profiles, of which the ranks are wanted. */
static void add_sum(struct adding *adding, struct swz_binding *binding,
		    const struct swz_dump_options *options)
{
	const struct swz_profile *profile = binding->profile;
	bool *wanted = swz_allocate(profile->thread_count + 1, sizeof(*wanted));
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		wanted[i] = swz_profile_thread_has_rank(profile, i) &&
			    swz_dump_wants(options, &profile->threads[i]);
		if (wanted[i])
			add_thread(adding, binding, &profile->threads[i], true,
				   options);
	}
	swz_groups_add_sum(&adding->groups, binding, wanted,
			   !options->threads.count);
}

static void add_all(struct adding *adding, struct swz_dump_input *input,
		    const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		struct swz_profile *profile = input->profiles[i];

		if (options->columns_by == SWZ_BY_RANK && profile->ranks) {
			add_sum(adding, &input->bindings[i], options);
			continue;
		}
		if (options->columns_by == SWZ_BY_RANK &&
		    swz_profile_rank(profile) == SWZ_INDEX_NONE)
			continue;
		if (!options->threads.count)
			swz_groups_add_process(&adding->groups, profile);
		for (j = 0; j < profile->thread_count; j++)
			if (swz_dump_wants(options, &profile->threads[j]))
				add_thread(adding, &input->bindings[i],
					   &profile->threads[j], false,
					   options);
	}
	swz_groups_end(&adding->groups);
}

static void write_by(FILE *stream, const struct swz_by_section *by,
		     const struct swz_dump_options *options)
{
	options->format->by(stream, by, &options->table);
}

/* Other tables have no names of functions. */
static void advise(const struct swz_report *report, struct swz_catalog *catalog,
		   const struct swz_dump_options *options)
{
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);

	swz_dump_advice_add(&advice, report);
	swz_dump_advice_find(&advice, catalog, options, NULL);
	swz_dump_advice_say(&advice);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
}

/* Trees of a sum do not tell its ranks apart; so what moves times from one
 * function to another is not known of a rank. */
static bool can_view_ranks(struct swz_profile *profile,
			   const struct swz_dump_options *options)
{
	if (!swz_profile_ranks_are_whole(profile)) {
		swz_dump_complain("%s: damaged; its times by rank cannot be "
				  "read. Merge its profiles again",
				  profile->name);
		return false;
	}
	if (!profile->ranks || swz_view_is_whole(&options->view))
		return true;
	swz_dump_complain(
		"%s: a sum (--merge-into) has the times of ranks by "
		"function alone, so -N, -H, -C, --script and rules that "
		"hide cannot be applied. Name the profiles that it is "
		"of",
		profile->name);
	return false;
}

/* Launchers, for instance, have none. */
static bool check_ranks(const struct swz_dump_input *input,
			const struct swz_dump_options *options)
{
	uint64_t all = 0, with = 0;
	size_t i;

	for (i = 0; i < input->count; i++) {
		struct swz_profile *profile = input->profiles[i];
		bool merged = profile->header.flags & SWZ_FILE_MERGED;

		if (!can_view_ranks(profile, options))
			return false;
		all = swz_add_count(
			all, merged ? profile->header.merged_profiles : 1);
		with = swz_add_count(with,
				     swz_profile_ranked_processes(profile));
	}
	if (!with)
		swz_dump_complain(
			"no process here has a rank. It is what "
			"OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or "
			"SLURM_PROCID says when the process starts: mpirun "
			"swizzle-run -o DIR/ PROGRAM");
	else if (with < all && !options->quiet)
		swz_dump_complain(
			"%" PRIu64 " %s no rank and %s left out", all - with,
			all - with == 1 ? "process has" : "processes have",
			all - with == 1 ? "is" : "are");
	return with != 0;
}

/* Samples say which lines they hit; calls only which functions there are. */
static bool lines_of_samples(const struct swz_dump_input *input,
			     const struct swz_dump_options *options)
{
	return (options->by == SWZ_BY_FILE || options->by == SWZ_BY_LINE) &&
	       input->profiles[0]->header.flags & SWZ_FILE_SAMPLES;
}

int swz_dump_by(struct swz_dump_input *input, struct swz_catalog *catalog,
		const struct swz_dump_options *options)
{
	struct adding adding = {
		.groups = {.rows = options->by,
			   .columns = options->columns_by,
			   .imbalance = options->imbalance,
			   .without_cells = options->imbalance &&
					    !(options->format->needs &
					      SWZ_NEEDS_CELLS)}};
	struct swz_output output;
	struct swz_section section;
	struct swz_by_section by = {&section, &adding.groups};
	char *path;
	int status;

	if (options->columns_by == SWZ_BY_RANK && !check_ranks(input, options))
		return EXIT_FAILURE;
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);

	swz_dump_begin_adding(input, options, NULL);
	adding.all.has_contexts = true;
	swz_contexts_begin(&adding.all.contexts, SWZ_CATALOG_OUTSIDE,
			   lines_of_samples(input, options));
	adding.all.contexts.by_hit = adding.all.contexts.by_place;
	add_all(&adding, input, options);
	swz_dump_warn_result(&adding.all, options);
	swz_dump_end_result(&adding.all);
	swz_dump_resolve(catalog);
	section = swz_dump_new_section(input, 0, &adding.all, options);
	section.profile_count = input->count;
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		write_by(output.stream, &by, options);
		status = swz_dump_end_output(&output, path, options);
		if (status == EXIT_OK && options->by == SWZ_BY_FUNCTION)
			advise(&adding.all.report, catalog, options);
	}
	swz_dump_free_result(&adding.all);
	swz_groups_free(&adding.groups);
	free(path);
	return status;
}
