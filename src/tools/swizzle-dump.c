/* swizzle-dump: turns profiles into what people and viewers read.
 *
 * Three steps: read all files, add their threads to reports (one for all, or
 * one per thread), hand each report to the writer of the format.
 * See docs/internals/offline.md. */

#include <string.h>
#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <unistd.h>

#include "options/command_line.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "tools/dump/reports.h"
#include "util/output.h"

/* All that is left to do, once the options are known. */
static int read_and_write(struct swz_dump_options *options)
{
	struct swz_dump_input input = {0};
	char *pushed = NULL;
	int status;

	if (options->push)
		pushed = swz_push_begin(options);
	swz_dump_read_inputs(&input, options, options->arguments,
			     options->argument_count);
	if (!options->format->profile && !options->format->functions)
		swz_dump_find_pairs(&input, options);
	if (!options->own_times && !swz_dump_not_of_times(options, true))
		swz_dump_leave_out_uncounted(&input, options);
	swz_dump_take_callers(&input, options);
	if (!input.count) {
		status = EXIT_INPUT;
	} else if (options->since && !swz_dump_take_since(&input, options)) {
		status = EXIT_INPUT;
	} else if (input.sample_count && !options->own_times &&
		   !swz_dump_not_of_times(options, true)) {
		status = swz_dump_pair(&input, options);
	} else if (options->in_place) {
		status = swz_dump_embed(&input, options);
	} else if (!swz_dump_has_all_threads(&input, options)) {
		status = EXIT_INPUT;
	} else if ((swz_dump_has_range(options) || options->at.given) &&
		   !swz_dump_find_range(&input, options)) {
		status = EXIT_USAGE;
	} else if (options->format->events && !options->format->of_code &&
		   !swz_dump_shows_samples(&input, options) &&
		   (!options->format->section ||
		    swz_event_limits_any(&options->limits)) &&
		   (options->format->samples_only ||
		    !swz_dump_is_traced(&input)) &&
		   !swz_dump_has_last_values(&input, options)) {
		swz_dump_complain(
			options->format->samples_only
				? "%s: no samples with times (swizzle-run "
				  "--mode sample)"
			: options->format->of_samples
				? "%s: not a trace (swizzle-run --mode trace), "
				  "nor samples with times (--mode sample)"
				: "%s: not a trace (swizzle-run --mode trace)",
			input.profiles[0]->name);
		status = EXIT_INPUT;
	} else if (options->format->profile) {
		status = swz_dump_profiles(&input, options);
	} else {
		status = swz_dump_reports(&input, options);
	}
	if (pushed && status == EXIT_OK)
		status = swz_push(options, pushed, input.profiles, input.count);
	swz_push_end(pushed);
	swz_dump_free_input(&input);
	return status;
}

static int work(struct swz_dump_options *options)
{
	if (options->merge_into)
		return swz_dump_merge_into(options);
	if (options->follow)
		return swz_dump_follow(options);
	if (options->format->file)
		return swz_dump_files(options);
	if (options->old)
		return swz_dump_diff(options);
	if (options->times)
		return swz_dump_times(options);
	return read_and_write(options);
}

int main(int argc, char **argv)
{
	struct swz_dump_options options;
	bool is_check;
	int status;

	swz_keep_standard_descriptors(0);
	if (argc > 1 && strcmp(argv[1], "--signatures") == 0)
		return swz_dump_serve_signatures(argc - 2, argv + 2);
	/* swizzle-run --report asks before it runs the program */
	is_check = argc > 1 && strcmp(argv[1], "--check-options") == 0;
	swz_dump_parse_options(&options, argv + is_check);
	if (is_check) {
		swz_dump_free_options(&options);
		return EXIT_OK;
	}
	/* Whoever reads standard output and has seen enough (head, a pager)
	 * does not wait for gigabytes more. A file is finished though nobody
	 * reads the messages. */
	if (!swz_dump_to_standard_output(&options))
		signal(SIGPIPE, SIG_IGN);
	/* A file that may not grow any more is a failed write, as a full disk
	 * is. */
	signal(SIGXFSZ, SIG_IGN);
	swz_progress_allow(!options.quiet);
	status = work(&options);
	/* a script must not take a part for the whole */
	if (status == EXIT_OK && swz_dump_unread())
		status = EXIT_INPUT;
	if (status == EXIT_OK && options.open)
		swz_dump_open_page();
	if (status == EXIT_OK)
		status = swz_gates_end(&options);
	swz_dump_free_options(&options);
	return status;
}
