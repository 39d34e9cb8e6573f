/* Events are not kept: they go from the file to the writer as they are read. */

#include "tools/dump/events.h"

#include <stdlib.h>

#include "profile/file/events.h"
#include "profile/support/progress.h"
#include "tools/dump/target.h"

bool swz_dump_writes_events(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	return options->format->events &&
	       (!options->format->section ||
		(swz_dump_is_traced(input) &&
		 !(options->given & options->format->takes) &&
		 !options->thread_parts && !options->separate_threads));
}

static uint64_t event_bytes(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	uint64_t bytes = 0;
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				bytes += swz_events_size(
					&input->profiles[i]->threads[j]);
	return bytes;
}

int swz_dump_write_events(const struct swz_dump_input *input,
			  const struct swz_catalog *catalog,
			  const struct swz_dump_options *options)
{
	struct swz_trace trace = {
		.catalog = catalog,
		.bindings = input->bindings,
		.count = input->count,
		.threads = &options->threads,
		.range = {0, UINT64_MAX},
		.origin = UINT64_MAX,
		.view = &options->view,
	};
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i;

	if (swz_dump_has_range(options))
		trace.range = options->range;
	for (i = 0; i < input->count; i++)
		if (swz_profile_origin(input->profiles[i]) < trace.origin)
			trace.origin = swz_profile_origin(input->profiles[i]);
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);
	if (swz_output_open(&output, path) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		swz_progress_stage("writing events",
				   event_bytes(input, options));
		options->format->events(output.stream, &trace);
		swz_progress_end();
		status = swz_dump_end_output(&output, path, options);
	}
	free(path);
	return status;
}
