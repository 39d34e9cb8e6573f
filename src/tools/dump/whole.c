/* Nothing is added up here, and no name is looked up. */

#include "tools/dump/whole.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tools/dump/embed.h"
#include "tools/dump/message.h"
#include "tools/dump/target.h"

int swz_dump_profiles(struct swz_dump_input *input,
		      const struct swz_dump_options *options)
{
	struct swz_output output;
	int status = EXIT_OK;
	char *path;
	size_t i;

	if (options->format->prefix && input->count > 1) {
		swz_dump_complain("the format %s is for one profile at a time",
				  options->format->name);
		return EXIT_USAGE;
	}
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
		free(path);
		return status;
	}
	for (i = 0; i < input->count && !ferror(output.stream); i++) {
		if (i)
			putc('\n', output.stream);
		if (options->format->takes & SWZ_TAKES_NAMES && options->embed)
			swz_dump_add_names(input->profiles[i], options);
		options->format->profile(output.stream, input->profiles[i]);
	}
	status = swz_dump_end_output(&output, path, options);
	free(path);
	return status;
}

static bool write_file(FILE *stream, const char *path,
		       const struct swz_dump_options *options)
{
	struct swz_error error;
	uint64_t problems;

	if (options->format->file(stream, path, options->table.rows, &problems,
				  &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", path, error.text);
		return false;
	}
	if (problems && !options->quiet)
		swz_dump_complain("%s: %" PRIu64
				  " faults, which are marked by '!'",
				  path, problems);
	return true;
}

int swz_dump_files(const struct swz_dump_options *options)
{
	const char *path = options->output ? options->output : "-";
	struct swz_inputs inputs = {0};
	struct swz_output output;
	int status = EXIT_INPUT;
	size_t i;

	swz_dump_find_inputs(&inputs, options, options->arguments,
			     options->argument_count);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		swz_inputs_free(&inputs);
		return swz_dump_write_failed(path);
	}
	for (i = 0; i < inputs.count && !ferror(output.stream); i++) {
		if (status == EXIT_OK)
			putc('\n', output.stream);
		if (write_file(output.stream, inputs.paths[i], options))
			status = EXIT_OK;
	}
	swz_inputs_free(&inputs);
	if (status != EXIT_OK)
		swz_output_discard(&output);
	else if (swz_output_close(&output) != SWZ_OK)
		return swz_dump_write_failed(path);
	return status;
}
