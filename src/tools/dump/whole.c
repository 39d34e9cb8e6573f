/* Nothing is added up here, and no name is looked up. */

#include "tools/dump/whole.h"

#include <inttypes.h>
#include <stdlib.h>

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
	if (swz_output_open(&output, path) != SWZ_OK) {
		status = swz_dump_write_failed(path);
		free(path);
		return status;
	}
	for (i = 0; i < input->count && !ferror(output.stream); i++) {
		if (i)
			putc('\n', output.stream);
		options->format->profile(output.stream, input->profiles[i]);
	}
	status = swz_dump_end_output(&output, path, options);
	free(path);
	return status;
}

int swz_dump_files(const struct swz_dump_options *options, char **arguments,
		   int count)
{
	const char *path = options->output ? options->output : "-";
	struct swz_inputs inputs = {0};
	struct swz_output output;
	int status = EXIT_OK;
	size_t i;

	swz_dump_find_inputs(&inputs, arguments, count);
	if (!inputs.count || swz_output_open(&output, path) != SWZ_OK) {
		status = inputs.count ? swz_dump_write_failed(path)
				      : EXIT_INPUT;
		swz_inputs_free(&inputs);
		return status;
	}
	for (i = 0; i < inputs.count && !ferror(output.stream); i++) {
		struct swz_error error;
		uint64_t problems;

		if (i)
			putc('\n', output.stream);
		if (options->format->file(output.stream, inputs.paths[i],
					  options->table.rows, &problems,
					  &error) != SWZ_OK) {
			swz_dump_complain("%s: %s", inputs.paths[i],
					  error.text);
			status = EXIT_INPUT;
		} else if (problems && !options->quiet) {
			swz_dump_complain("%s: %" PRIu64
					  " places are not as they "
					  "should be; they are marked by '!'",
					  inputs.paths[i], problems);
		}
	}
	swz_inputs_free(&inputs);
	if (swz_output_close(&output) != SWZ_OK)
		return swz_dump_write_failed(path);
	return status;
}
