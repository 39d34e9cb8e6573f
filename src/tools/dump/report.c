/* The threads are added to reports (one for all, or one per thread), and each
 * report is handed to the writer of the format. */

#include "tools/dump/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "profile/memory.h"
#include "profile/progress.h"
#include "tools/dump/events.h"
#include "tools/dump/message.h"
#include "tools/dump/target.h"

static uint64_t node_count(const struct swz_profile_thread *thread)
{
	uint64_t count = 0;
	size_t i;

	for (i = 0; i < thread->span_count; i++)
		count += thread->spans[i].count;
	return count;
}

/* What is made of one thread or of several. */
struct result {
	struct swz_report report;
	struct swz_contexts contexts;
	bool has_contexts;
};

static void begin_result(struct result *result,
			 const struct swz_dump_options *options)
{
	unsigned int needs = options->format->needs;

	*result = (struct result){.has_contexts = needs & SWZ_NEEDS_CONTEXTS};
	result->report.without_edges = !(needs & SWZ_NEEDS_EDGES);
	if (result->has_contexts)
		swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE,
				   needs & SWZ_NEEDS_PLACES);
	result->contexts.by_unit = needs & SWZ_NEEDS_UNITS;
}

static void add_thread(struct result *result, struct swz_binding *binding,
		       const struct swz_profile_thread *thread,
		       const struct swz_dump_options *options)
{
	struct swz_tree tree;

	swz_tree_build_range(
		&tree, binding->profile, thread, options->compensate,
		swz_dump_has_range(options) ? &options->range : NULL);
	if (!swz_view_is_whole(&options->view))
		swz_view_apply(&options->view, binding, &tree);
	if (result->has_contexts)
		swz_contexts_add(&result->contexts, &result->report, binding,
				 &tree);
	else
		swz_report_add(&result->report, binding, &tree);
	swz_tree_free(&tree);
}

static void end_result(struct result *result)
{
	swz_report_sort(&result->report);
	swz_contexts_sum(&result->contexts);
}

static void free_result(struct result *result)
{
	swz_report_free(&result->report);
	swz_contexts_free(&result->contexts);
}

/* To be called before threads are added: all that are wanted, or one. */
static void begin_adding(const struct swz_dump_input *input,
			 const struct swz_dump_options *options,
			 const struct swz_profile_thread *only)
{
	uint64_t count = 0;
	size_t i, j;

	for (i = 0; i < input->count && !only; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				count += node_count(
					&input->profiles[i]->threads[j]);
	/* twice: making the tree, and adding its costs */
	swz_progress_stage("adding up", 2 * (only ? node_count(only) : count));
}

static void resolve(struct swz_catalog *catalog)
{
	swz_catalog_resolve(catalog);
	swz_progress_end();
}

static void warn_report(const struct swz_report *report,
			const struct swz_dump_options *options)
{
	if (report->dropped_nodes && !options->quiet)
		swz_dump_complain("%" PRIu64
				  " inconsistent contexts were left out",
				  report->dropped_nodes);
}

static struct swz_section new_section(const struct swz_dump_input *input,
				      size_t index, const struct result *result,
				      const struct swz_dump_options *options)
{
	return (struct swz_section){
		.catalog = input->bindings[index].catalog,
		.report = &result->report,
		.contexts = result->has_contexts ? &result->contexts : NULL,
		.profile = input->profiles[index],
		.profile_count = 1,
		.part = 1,
		.compensated = options->compensate,
		.range = swz_dump_has_range(options) ? &options->range : NULL,
	};
}

static int dump_merged(struct swz_dump_input *input,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options)
{
	struct swz_dump_target target = {0};
	struct result result = {0};
	struct swz_section section;
	int status;
	size_t i, j;

	begin_adding(input, options, NULL);
	begin_result(&result, options);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				add_thread(&result, &input->bindings[i],
					   &input->profiles[i]->threads[j],
					   options);
	warn_report(&result.report, options);
	end_result(&result);
	resolve(catalog);
	section = new_section(input, 0, &result, options);
	section.profile_count = input->count;
	status = swz_dump_open_target(
		&target, options,
		swz_dump_output_path(options, input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		swz_dump_write_section(&target, &section, options);
		status = swz_dump_close_target(&target, options);
	} else {
		free(target.path);
	}
	free_result(&result);
	return status;
}

/* How many threads of the same pid come before this profile's. */
static unsigned int threads_before(const struct swz_dump_input *input,
				   size_t index)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < index; i++)
		if (input->profiles[i]->header.pid ==
		    input->profiles[index]->header.pid)
			count += (unsigned int)input->profiles[i]->thread_count;
	return count;
}

static int begin_part(struct swz_dump_target *to,
		      const struct swz_dump_options *options, int32_t pid,
		      unsigned int thread_number)
{
	char *path;

	/* tables need no files of their own, unless a name is given */
	if (to->path && !options->separate_threads)
		return EXIT_OK;
	path = swz_dump_output_path(options, pid);
	if (options->separate_threads && strcmp(path, "-") != 0) {
		char *numbered = swz_print("%s-%02u", path, thread_number);

		free(path);
		path = numbered;
	}
	return swz_dump_open_target(to, options, path);
}

static int dump_thread(struct swz_dump_input *input, size_t index,
		       size_t thread_index, struct swz_dump_target *to,
		       const struct swz_dump_options *options)
{
	const struct swz_profile *profile = input->profiles[index];
	struct swz_binding *binding = &input->bindings[index];
	struct result result = {0};
	struct swz_section section = new_section(input, index, &result,
						 options);
	int status;

	section.thread = &profile->threads[thread_index];
	section.thread_number = threads_before(input, index) +
				(unsigned int)thread_index + 1;
	status = begin_part(to, options, profile->header.pid,
			    section.thread_number);
	if (status != EXIT_OK)
		return status;
	section.part = (unsigned int)to->writer.sections + 1;
	begin_adding(input, options, section.thread);
	begin_result(&result, options);
	add_thread(&result, binding, section.thread, options);
	warn_report(&result.report, options);
	end_result(&result);
	resolve(binding->catalog);
	section.contexts = result.has_contexts ? &result.contexts : NULL;
	swz_dump_write_section(to, &section, options);
	free_result(&result);
	if (options->separate_threads)
		status = swz_dump_close_target(to, options);
	return status;
}

static int dump_threads(struct swz_dump_input *input,
			const struct swz_dump_options *options)
{
	struct swz_dump_target to = {0};
	int status = EXIT_OK, last;
	size_t i, j;

	for (i = 0; i < input->count && status == EXIT_OK; i++)
		for (j = 0;
		     j < input->profiles[i]->thread_count && status == EXIT_OK;
		     j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				status = dump_thread(input, i, j, &to, options);
	last = swz_dump_close_target(&to, options);
	return status != EXIT_OK ? status : last;
}

/* Filters are by name: all names have to be known first. */
static void prepare_view(struct swz_dump_input *input,
			 struct swz_catalog *catalog,
			 const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				swz_view_prepare(
					&input->bindings[i],
					&input->profiles[i]->threads[j]);
	resolve(catalog);
}

int swz_dump_reports(struct swz_dump_input *input,
		     const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = {
		.symbols = true,
		.lines = options->format->needs & SWZ_NEEDS_LINES,
		.demangle = options->demangle,
		.quiet = options->quiet,
	};
	struct swz_catalog catalog;
	int status;
	size_t i;

	swz_catalog_begin(&catalog, &catalog_options);
	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], &catalog,
				 input->profiles[i]);
	if (!swz_view_is_whole(&options->view) ||
	    swz_dump_writes_events(input, options))
		prepare_view(input, &catalog, options);
	if (swz_dump_writes_events(input, options))
		status = swz_dump_write_events(input, &catalog, options);
	else if (options->thread_parts || options->separate_threads ||
		 options->format->needs & SWZ_NEEDS_THREADS)
		status = dump_threads(input, options);
	else
		status = dump_merged(input, &catalog, options);
	swz_catalog_free(&catalog);
	return status;
}
