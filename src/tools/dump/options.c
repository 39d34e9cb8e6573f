/* Each value is checked as it is read. */

#include "tools/dump/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options/variables.h"
#include "profile/file/process_choice.h"
#include "profile/support/memory.h"
#include "tools/dump/message.h"
#include "tools/dump/option_checks.h"
#include "tools/dump/option_style.h"
#include "tools/dump/option_table.h"
#include "tools/dump/option_values.h"
#include "tools/dump/push.h"
#include "tools/dump/usage.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

static _Noreturn void bad_directory(const char *as, const char *value)
{
	swz_dump_bad_usage("option %s: '%s': %s", as, value, strerror(errno));
}

/* WHAT: "file name" */
static const char *not_empty(const char *as, const char *value,
			     const char *what)
{
	if (!*value)
		swz_dump_bad_usage("option %s: the %s is empty", as, what);
	return value;
}

/* Of an option that means nothing when it is given twice. */
static void once(const char *as, bool given, const char *value)
{
	if (given)
		swz_dump_bad_usage("option %s is given twice: '%s' is a second "
				   "%s",
				   as, value, as);
}

static void add_pattern(struct swz_patterns *patterns, const char *as,
			const char *pattern)
{
	if (strcmp(pattern, "!") == 0)
		pattern = "";
	swz_patterns_add(patterns, not_empty(as, pattern, "pattern"));
}

/* What getopt_long() returns for an argument that is no option. */
#define IN_ORDER 1

static void add_argument(char ***list, size_t *count, const char *argument)
{
	*list = swz_reallocate(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = (char *)(uintptr_t)argument;
}

static void take_option(struct swz_dump_options *options, int option,
			const char *as, const char *value)
{
	switch (option) {
	case 'f':
		options->format = swz_dump_parse_format(as, value);
		break;
	case 'o':
		options->output = not_empty(as, value, "file name");
		break;
	case 'F':
		add_pattern(&options->view.only, as, value);
		break;
	case 'N':
		add_pattern(&options->view.without, as, value);
		break;
	case 'H':
		add_pattern(&options->view.hidden, as, value);
		break;
	case 'C':
		add_pattern(&options->view.callers, as, value);
		break;
	case 'n':
		options->table.rows = swz_dump_parse_count(
			as, value, "a number of rows (0: all)", INT32_MAX);
		break;
	case 's':
		options->table.sort = swz_dump_parse_sort(as, value);
		break;
	case 'q':
		options->quiet = true;
		break;
	case 'V':
		puts("swizzle-dump " SWZ_VERSION);
		swz_dump_finish_printing();
	case 'h':
		fputs(swz_dump_usage_text, stdout);
		swz_dump_finish_printing();
	case OPTION_THREAD_PARTS:
		options->thread_parts = true;
		break;
	case OPTION_SEPARATE_THREADS:
		options->separate_threads = true;
		break;
	case OPTION_NO_COMPENSATE:
		options->compensate = false;
		break;
	case OPTION_NO_DEBUGINFOD:
		/* libdw asks no server then */
		unsetenv("DEBUGINFOD_URLS");
		break;
	case OPTION_EMBED:
		options->embed = true;
		break;
	case OPTION_NO_EMBED:
		options->embed = false;
		break;
	case OPTION_DEBUG_DIR:
		if (swz_debug_files_add(&options->files, value) != 0)
			bad_directory(as, value);
		break;
	case OPTION_SYMFS:
		once(as, options->files.root != NULL, value);
		if (swz_debug_files_set_root(&options->files, value) != 0)
			bad_directory(as, value);
		break;
	case OPTION_DEMANGLE:
		options->demangle = swz_dump_parse_demangle(as, value);
		break;
	case OPTION_PERCENT_LIMIT:
		options->table.percent_limit = swz_dump_parse_percent(as,
								      value);
		break;
	case OPTION_BOTTOM_UP:
		options->table.bottom_up = true;
		break;
	case OPTION_DIFF:
		(void)not_empty(as, value, "file name");
		once(as, options->old != NULL, value);
		if (value[0] == '-' && access(value, F_OK) != 0)
			swz_dump_bad_usage("option %s: '%s' is no profile. It "
					   "is followed by OLD and NEW; "
					   "options stand before or behind "
					   "these",
					   as, value);
		add_argument(&options->old, &options->old_count, value);
		break;
	case OPTION_TIMES:
		once(as, options->times != NULL, value);
		options->times = (char *)(uintptr_t)not_empty(as, value,
							      "file name");
		break;
	case OPTION_SCRIPT:
		options->view.script = true;
		break;
	case OPTION_CONFIG:
		options->config_path = not_empty(as, value, "file name");
		break;
	case OPTION_NO_TIMES:
		options->own_times = true;
		break;
	case OPTION_FAIL_ABOVE:
		options->fail_above = swz_dump_parse_percent(as, value);
		break;
	case IN_ORDER:
		add_argument(&options->arguments, &options->argument_count,
			     value);
		break;
	case OPTION_BY:
		swz_dump_parse_by(options, as, value);
		break;
	case OPTION_PUSH:
		if (swz_push_problem(value))
			swz_dump_bad_usage("option %s: %s", as,
					   swz_push_problem(value));
		options->push = value;
		break;
	case OPTION_PROCESS:
		add_argument(&options->processes, &options->process_count,
			     not_empty(as, value, "process"));
		break;
	case OPTION_MERGE_INTO:
		options->merge_into = not_empty(as, value, "file name");
		break;
	case OPTION_COLOUR:
		options->colour = value ? swz_dump_parse_colour(as, value)
					: SWZ_COLOUR_ALWAYS;
		break;
	case OPTION_NO_SOURCE:
		options->table.without_source = true;
		break;
	case OPTION_NO_PAGER:
		options->pager = false;
		break;
	case OPTION_SINCE:
		options->since = not_empty(as, value, "file name");
		break;
	case OPTION_FROM:
		options->from = swz_dump_parse_moment(as, value);
		break;
	case OPTION_TO:
		options->to = swz_dump_parse_moment(as, value);
		break;
	case 'D':
		options->limits.max_depth = options->calls.depth =
			(uint32_t)swz_dump_parse_count(
				as, value, "a number of levels (0: all)",
				INT32_MAX);
		break;
	case 't':
		options->limits.min_ns = swz_dump_parse_duration(as, value);
		break;
	case OPTION_SAMPLE_EVENTS:
		options->limits.every = swz_dump_parse_count(
			as, value, "a number of calls (0: each)", INT64_MAX);
		break;
	case OPTION_AT:
		options->at = swz_dump_parse_moment(as, value);
		break;
	case OPTION_BLAME:
		options->calls.blame = true;
		break;
	case OPTION_CALLS_OF:
		add_pattern(&options->calls.of, as, value);
		break;
	case OPTION_APART:
		options->calls.apart = true;
		break;
	case OPTION_RING_CLOCK:
		options->rings.clock = swz_dump_parse_clock(as, value);
		break;
	case OPTION_RING_PATHS:
		options->rings.paths = swz_dump_parse_paths(as, value);
		break;
	case OPTION_TID:
		swz_thread_choice_add(&options->threads,
				      not_empty(as, value, "thread"));
		break;
	default:
		break;
	}
}

/* Of "--diff OLD... -- NEW..." those before the "--" are old ones. */
static void part_sides(struct swz_dump_options *options)
{
	size_t i;

	for (i = 0; i < options->argument_count; i++)
		add_argument(&options->old, &options->old_count,
			     options->arguments[i]);
	options->argument_count = 0;
	options->sides_parted = true;
}

/* Who looks at a terminal wants to see something; scripts get what they ever
 * got. */
static const struct swz_format *default_format(
	const struct swz_dump_options *options)
{
	const unsigned rows = SWZ_TAKES_ROWS | SWZ_TAKES_SORT | SWZ_TAKES_LIMIT;

	if (options->given & SWZ_TAKES_BOTTOM_UP)
		return swz_format_find("tree");
	if (options->calls.apart ||
	    options->given & (SWZ_TAKES_CALLS | GIVEN_CALLS_OF | GIVEN_BLAME))
		return swz_format_find("calls");
	if (!options->output && swz_terminal_is_output())
		return swz_format_find("table");
	return swz_format_find(options->old || options->given &
						       (GIVEN_BY | rows)
				       ? "text"
				       : "callgrind");
}

/* (What it leaves out is no reason to refuse a format that leaves nothing
 * out.) */
static void read_config(struct swz_dump_options *options)
{
	char problem[SWZ_CONFIG_PROBLEM_BYTES];

	if (!swz_config_file_read(&options->config, options->config_path,
				  problem)) {
		int error = errno;

		swz_dump_complain("%s", problem);
		exit(error == ENOMEM ? EXIT_FAILURE : EXIT_USAGE);
	}
	if (!options->config.count)
		return;
	options->view.rules = swz_allocate(1, sizeof(*options->view.rules));
	swz_rules_begin(options->view.rules, &options->config);
}

void swz_dump_parse_options(struct swz_dump_options *options, int argc,
			    char **argv)
{
	int option, at = optind, index = -1;

	*options = (struct swz_dump_options){
		.compensate = true,
		.embed = true,
		.fail_above = -1,
		.demangle = SWZ_DEMANGLE_SIMPLE,
		.pager = true,
		.table = {.percent_limit = -1},
	};
	opterr = 0; /* swz_dump_bad_option says it */
	while ((option = getopt_long(argc, argv, SWZ_DUMP_SHORT_OPTIONS,
				     swz_dump_long_options, &index)) != -1) {
		char as[32];

		if (option == '?' || option == ':')
			swz_dump_bad_option(option, argv[optind - 1]);
		if (index < 0)
			snprintf(as, sizeof(as), "-%c", option);
		else
			snprintf(as, sizeof(as), "--%s",
				 swz_dump_long_options[index].name);
		take_option(options, option, as, optarg);
		index = -1;
		options->given |= swz_dump_format_option(option);
		at = optind;
	}
	if (!options->quiet)
		swz_variables_check(swz_variables_of_dump, true);
	/* without a format: the profile itself is what gets the names */
	if (!options->format && !options->old && options->embed &&
	    options->given & GIVEN_EMBED) {
		options->in_place = true;
		options->format = swz_format_find("archive");
	}
	if (options->in_place && options->output)
		swz_dump_bad_usage("--embed without -f adds to the profile "
				   "itself and has no use for -o '%s'",
				   options->output);
	if (options->old && at < argc && strcmp(argv[at], "--") == 0)
		part_sides(options);
	for (; optind < argc; optind++)
		add_argument(&options->arguments, &options->argument_count,
			     argv[optind]);
	if (options->merge_into)
		swz_dump_check_merge(options);
	if (options->push)
		swz_dump_choose_pushed(options);
	if (!options->format)
		options->format = default_format(options);
	swz_dump_check_options(options);
	read_config(options);
	swz_dump_set_style(options);
}

void swz_dump_free_options(struct swz_dump_options *options)
{
	free(options->inputs);
	free(options->arguments);
	free(options->old);
	free(options->processes);
	swz_patterns_free(&options->table.filters);
	if (options->view.rules)
		swz_rules_free(options->view.rules);
	free(options->view.rules);
	swz_config_file_free(&options->config);
	swz_view_free(&options->view);
	free(options->callers);
	swz_patterns_free(&options->calls.of);
	swz_thread_choice_free(&options->threads);
	swz_debug_files_free(&options->files);
}

bool swz_dump_wants(const struct swz_dump_options *options,
		    const struct swz_profile_thread *thread)
{
	return swz_thread_is_chosen(&options->threads, thread);
}

bool swz_dump_wants_process(const struct swz_dump_options *options,
			    const struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < options->process_count; i++)
		if (swz_process_is_named(profile, options->processes[i]))
			return true;
	return !options->process_count;
}
