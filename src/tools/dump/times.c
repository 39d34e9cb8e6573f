/* Each side is added up by itself, with one catalog, in which a function is the
 * same in both: by build-id and address. */

#include "tools/dump/times.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/joined.h"
#include "profile/formats/by.h"
#include "profile/support/memory.h"
#include "tools/dump/advice.h"
#include "tools/dump/message.h"
#include "tools/dump/result.h"
#include "tools/dump/target.h"

static void bind(struct swz_dump_input *input, struct swz_catalog *catalog)
{
	size_t i;

	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], catalog,
				 input->profiles[i]);
}

/* By what a viewer does not show, but the join needs. */
static void add_all(struct swz_dump_input *input,
		    struct swz_dump_result *result,
		    const struct swz_dump_options *options)
{
	size_t i, j;

	*result = (struct swz_dump_result){.has_contexts = true};
	swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE, true);
	swz_dump_begin_adding(input, options, NULL);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			swz_dump_add_thread(result, &input->bindings[i],
					    &input->profiles[i]->threads[j],
					    options);
}

/* A function that was hooked and not called has been counted, too. Functions
 * are few that have samples and no calls, those that were hooked are many. */
static void mark_uncounted(struct swz_report *report,
			   const struct swz_catalog *catalog,
			   const struct swz_dump_input *input)
{
	size_t i, j;

	for (i = 1; i < report->function_capacity; i++)
		report->functions[i].uncounted = report->functions[i].present &&
						 !report->functions[i].calls;
	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		for (j = 0; j < profile->function_count; j++) {
			const struct swz_profile_function *function =
				&profile->functions[j];
			uint32_t at;

			if (function->status != SWZ_PATCHED ||
			    function->module == SWZ_INDEX_NONE)
				continue;
			at = swz_map_get(
				&catalog->by_address,
				input->bindings[i].modules[function->module],
				function->address);
			if (at < report->function_capacity)
				report->functions[at].uncounted = false;
		}
	}
}

/* Whether a function of one is one of the other. */
static bool is_of_one_program(const struct swz_dump_input *input,
			      const struct swz_dump_input *samples)
{
	size_t i, j, k, m;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->module_count; j++)
			for (k = 0; k < samples->count; k++)
				for (m = 0;
				     m < samples->profiles[k]->module_count;
				     m++)
					if (input->profiles[i]
						    ->modules[j]
						    .record.in_scope &&
					    input->bindings[i].modules[j] ==
						    samples->bindings[k]
							    .modules[m])
						return true;
	return false;
}

static int write_report(struct swz_dump_input *input,
			struct swz_catalog *catalog,
			const struct swz_section *section,
			const struct swz_dump_options *options)
{
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);
	struct swz_dump_target target = {0};
	int status;

	status = swz_dump_open_target(
		&target, options,
		swz_dump_output_path(options, input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		(void)swz_dump_write_section(&target, section, options);
		swz_dump_advice_add(&advice, section->report);
		swz_dump_advice_find(&advice, catalog, options, &target.writer);
		status = swz_dump_close_target(&target, options);
		if (status == EXIT_OK)
			swz_dump_advice_say(&advice);
	} else {
		free(target.path);
	}
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
	return status;
}

/* The rows are sums over functions: whose thread they are of is the same. */
static int write_by(struct swz_dump_input *input,
		    const struct swz_section *section,
		    const struct swz_dump_options *options)
{
	struct swz_groups groups = {.rows = options->by};
	struct swz_by_section by = {section, &groups};
	struct swz_output output;
	char *path = swz_dump_output_path(options,
					  input->profiles[0]->header.pid);
	int status;

	swz_groups_add(&groups, input->profiles[0],
		       &input->profiles[0]->threads[0], section->report);
	swz_groups_end(&groups);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		options->format->by(output.stream, &by, &options->table);
		status = swz_dump_end_output(&output, path, options);
	}
	swz_groups_free(&groups);
	free(path);
	return status;
}

static int64_t period_of(const struct swz_dump_input *samples)
{
	const struct swz_file_header *header = &samples->profiles[0]->header;

	return header->sample_period_ns ? (int64_t)header->sample_period_ns
					: 1000000;
}

static int write_joined(struct swz_dump_input *input,
			struct swz_dump_input *samples,
			struct swz_catalog *catalog,
			const struct swz_dump_options *options)
{
	struct swz_dump_result counts, times;
	struct swz_section section;
	struct swz_joined joined;
	int status;

	add_all(input, &counts, options);
	add_all(samples, &times, options);
	joined = swz_join_times(&counts.report, &counts.contexts,
				&times.contexts, period_of(samples));
	mark_uncounted(&counts.report, catalog, input);
	if (!(options->format->needs & SWZ_NEEDS_PLACES) ||
	    options->by != SWZ_BY_NOTHING)
		swz_contexts_forget_places(&counts.contexts);
	swz_dump_warn_result(&counts, options);
	swz_dump_resolve(catalog);
	section = swz_dump_new_section(input, 0, &counts, options);
	section.profile_count = input->count;
	section.joined = &joined;
	section.sampled = samples->profiles;
	section.sampled_count = samples->count;
	section.compensated = false; /* nothing of these times was */
	status = options->by != SWZ_BY_NOTHING
			 ? write_by(input, &section, options)
			 : write_report(input, catalog, &section, options);
	swz_dump_free_result(&counts);
	swz_dump_free_result(&times);
	return status;
}

static int join(struct swz_dump_input *input, struct swz_dump_input *samples,
		const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	struct swz_catalog catalog;
	int status = EXIT_INPUT;

	swz_catalog_begin(&catalog, &catalog_options);
	bind(input, &catalog);
	bind(samples, &catalog);
	if (!is_of_one_program(input, samples)) {
		swz_dump_complain("%s and %s are of different programs, or of "
				  "different versions of one: nothing can be "
				  "joined",
				  samples->profiles[0]->name,
				  input->profiles[0]->name);
	} else if (!swz_dump_has_thread(input, options)) {
		swz_dump_complain("%s: no thread was recorded",
				  input->profiles[0]->name);
	} else {
		if (!swz_view_is_whole(&options->view)) {
			swz_dump_name_all(input, options);
			swz_dump_name_all(samples, options);
		}
		status = write_joined(input, samples, &catalog, options);
		if (status == EXIT_OK)
			swz_dump_warn_filter(&catalog, options);
	}
	swz_catalog_free(&catalog);
	return status;
}

static bool has_samples(const struct swz_dump_input *input)
{
	return input->profiles[0]->header.flags & SWZ_FILE_SAMPLES;
}

int swz_dump_times(const struct swz_dump_options *options)
{
	struct swz_dump_input input = {0}, samples = {0};
	char *of_samples = options->times;
	int status = EXIT_INPUT;

	swz_dump_read_inputs(&samples, options, &of_samples, 1);
	swz_dump_read_inputs(&input, options, options->arguments,
			     options->argument_count);
	if (!samples.count || !input.count)
		; /* which was said */
	else if (!has_samples(&samples))
		swz_dump_complain("--times %s: this profile has no samples "
				  "(swizzle-run -m sample)",
				  samples.profiles[0]->name);
	else if (has_samples(&input))
		swz_dump_complain("%s: this profile has samples, and no calls "
				  "that --times could add",
				  input.profiles[0]->name);
	else
		status = join(&input, &samples, options);
	swz_dump_free_input(&input);
	swz_dump_free_input(&samples);
	return status;
}

int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options)
{
	struct swz_dump_input samples = {.profiles = input->samples,
					 .count = input->sample_count};
	int status;

	/* these own the profiles from now on */
	input->samples = NULL;
	input->sample_count = input->sample_capacity = 0;
	status = join(input, &samples, options);
	swz_dump_free_input(&samples);
	return status;
}
