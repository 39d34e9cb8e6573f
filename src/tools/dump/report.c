/* The threads are added to reports (one for all, or one per thread), and each
 * report is handed to the writer of the format. */

#include "tools/dump/report.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "tools/dump/advice.h"
#include "tools/dump/by.h"
#include "tools/dump/events.h"
#include "tools/dump/result.h"
#include "tools/dump/target.h"

static int dump_merged(struct swz_dump_input *input,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options)
{
	struct swz_dump_target target = {0};
	struct swz_dump_result result = {0};
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);
	struct swz_section section;
	int status;
	size_t i, j;

	swz_dump_begin_adding(input, options, NULL);
	swz_dump_begin_result(&result, options);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				swz_dump_add_thread(
					&result, &input->bindings[i],
					&input->profiles[i]->threads[j],
					options);
	swz_dump_warn_result(&result, options);
	swz_dump_end_result(&result);
	swz_dump_resolve(catalog);
	section = swz_dump_new_section(input, 0, &result, options);
	section.profile_count = input->count;
	status = swz_dump_open_target(
		&target, options,
		swz_dump_output_path(options, input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		(void)swz_dump_write_section(&target, &section, options);
		swz_dump_advice_add(&advice, &result.report);
		swz_dump_advice_find(&advice, catalog, options, &target.writer);
		status = swz_dump_close_target(&target, options);
		if (status == EXIT_OK)
			swz_dump_advice_say(&advice);
	} else {
		free(target.path);
	}
	swz_dump_free_result(&result);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
	return status;
}

/* How many threads come before this profile's: of the same pid, or of any. */
static unsigned int threads_before(const struct swz_dump_input *input,
				   size_t index, bool any)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < index; i++)
		if (any || input->profiles[i]->header.pid ==
				   input->profiles[index]->header.pid)
			count += (unsigned int)input->profiles[i]->thread_count;
	return count;
}

/* A file of one thread has the advice that is about it. */
static int close_file_of(struct swz_dump_target *to,
			 const struct swz_dump_result *result,
			 struct swz_catalog *catalog,
			 struct swz_debug_packages *packages,
			 const struct swz_dump_options *options)
{
	struct swz_dump_advice advice = swz_dump_advice_begin(packages);
	int status;

	swz_dump_advice_add(&advice, &result->report);
	swz_dump_advice_find(&advice, catalog, options, &to->writer);
	status = swz_dump_close_target(to, options);
	swz_dump_advice_free(&advice);
	return status;
}

static int dump_thread(struct swz_dump_input *input, size_t index,
		       size_t thread_index, struct swz_dump_target *to,
		       struct swz_dump_advice *advice,
		       const struct swz_dump_options *options)
{
	const struct swz_profile *profile = input->profiles[index];
	struct swz_binding *binding = &input->bindings[index];
	struct swz_dump_result result = {0};
	struct swz_section section = swz_dump_new_section(input, index, &result,
							  options);
	int status;

	section.thread = &profile->threads[thread_index];
	section.thread_number = threads_before(input, index, false) +
				(unsigned int)thread_index + 1;
	/* a name that was given has no pid in it */
	status = swz_dump_begin_part(
		to, options, profile->header.pid,
		options->output ? threads_before(input, index, true) +
					  (unsigned int)thread_index + 1
				: section.thread_number);
	if (status != EXIT_OK)
		return status;
	section.part = (unsigned int)to->writer.sections + 1;
	swz_dump_begin_adding(input, options, section.thread);
	swz_dump_begin_result(&result, options);
	swz_dump_add_thread(&result, binding, section.thread, options);
	swz_dump_warn_result(&result, options);
	swz_dump_end_result(&result);
	swz_dump_resolve(binding->catalog);
	section.contexts = result.has_contexts ? &result.contexts : NULL;
	status = swz_dump_write_section(to, &section, options);
	swz_dump_advice_add(advice, &result.report);
	if (options->separate_threads && status == EXIT_OK)
		status = close_file_of(to, &result, binding->catalog,
				       advice->packages, options);
	swz_dump_free_result(&result);
	return status;
}

static int dump_threads(struct swz_dump_input *input,
			struct swz_catalog *catalog,
			const struct swz_dump_options *options)
{
	struct swz_dump_target to = {0};
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);
	int status = EXIT_OK, last;
	size_t i, j;

	/* no thread was recorded: a file without parts */
	if (!swz_dump_has_thread(input, options) && !options->separate_threads)
		status = swz_dump_begin_part(&to, options,
					     input->profiles[0]->header.pid, 1);
	for (i = 0; i < input->count && status == EXIT_OK; i++)
		for (j = 0;
		     j < input->profiles[i]->thread_count && status == EXIT_OK;
		     j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				status = dump_thread(input, i, j, &to, &advice,
						     options);
	swz_dump_advice_find(&advice, catalog, options, &to.writer);
	last = swz_dump_close_target(&to, options);
	status = status != EXIT_OK ? status : last;
	if (status == EXIT_OK)
		swz_dump_advice_say(&advice);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
	return status;
}

static bool writes_threads(const struct swz_dump_options *options)
{
	return options->thread_parts || options->separate_threads ||
	       options->format->needs & SWZ_NEEDS_THREADS;
}

int swz_dump_reports(struct swz_dump_input *input,
		     const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	struct swz_catalog catalog;
	int status;
	size_t i;

	swz_catalog_begin(&catalog, &catalog_options);
	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], &catalog,
				 input->profiles[i]);
	if (!swz_view_is_whole(&options->view) ||
	    swz_dump_writes_events(input, options) || writes_threads(options))
		swz_dump_name_all(input, options);
	if (options->by != SWZ_BY_NOTHING)
		status = swz_dump_by(input, &catalog, options);
	else if (swz_dump_writes_events(input, options))
		status = swz_dump_write_events(input, &catalog, options);
	else if (writes_threads(options))
		status = dump_threads(input, &catalog, options);
	else
		status = dump_merged(input, &catalog, options);
	if (status == EXIT_OK) {
		swz_dump_warn_untraced(input, options);
		swz_dump_warn_filter(&catalog, options);
	}
	swz_catalog_free(&catalog);
	return status;
}
