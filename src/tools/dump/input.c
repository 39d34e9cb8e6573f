#include "tools/dump/input.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "profile/names/value_print.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/file/samples.h"
#include "profile/names/catalog.h"
#include "tools/dump/destination.h"
#include "tools/dump/dump_options.h"

/* --- profiles ------------------------------------------------------------ */

/* A file that cannot be read is left out; the others are shown all the same. */

static size_t unread, not_found;

size_t swz_dump_unread(void)
{
	return unread + not_found;
}

static void warn_damage(const struct swz_profile *profile)
{
	const struct swz_damage *damage = &profile->damage;
	const char *full = swz_full_reason(&profile->header);

	if (damage->missing_bytes)
		swz_dump_complain("%s: truncated, %" PRIu64
				  " bytes are missing; showing what is there",
				  profile->name, damage->missing_bytes);
	else if (damage->bad_chunks || damage->stray_nodes)
		swz_dump_complain(
			"%s: damaged (%" PRIu32 " bad chunks, %" PRIu64
			" contexts without a thread); showing what is left",
			profile->name, damage->bad_chunks, damage->stray_nodes);
	if (!profile->clock_known)
		swz_dump_complain(
			"%s: the clock is not calibrated; times are in ticks",
			profile->name);
	if (profile->clock_uneven)
		swz_dump_complain(
			"%s: the processor's clock and the system's disagree "
			"(was the machine suspended?); times are the "
			"processor's",
			profile->name);
	if (full)
		swz_dump_complain("%s: incomplete: %s; calls from then on may "
				  "be missing",
				  profile->name, full);
	if (profile->header.lost_calls && full)
		swz_dump_complain("%s: %" PRIu64 " calls were not recorded",
				  profile->name, profile->header.lost_calls);
	else if (profile->header.lost_calls)
		swz_dump_complain(
			"%s: %" PRIu64
			" calls were not recorded: there was no memory, the "
			"program gave up system calls, threads share their "
			"state, or its stack is not an ordinary one",
			profile->name, profile->header.lost_calls);
	if (profile->folded_calls)
		swz_dump_complain("%s: %" PRIu64 " calls have no exact context "
				  "(%s)%s",
				  profile->name, profile->folded_calls,
				  swz_file_bound(profile->header.full,
						 profile->header.flags,
						 "--max-memory was reached"),
				  profile->header.lost_calls ||
						  swz_profile_damaged(profile)
					  ? ""
					  : "; counts are exact");
}

/* Names that --process might have meant. */
static void note_other(struct swz_dump_input *input,
		       const struct swz_profile *profile)
{
	const char *name = swz_base_name(profile->executable);
	const char *others = input->others ? input->others : "";
	char *longer;

	if (!*name || strstr(others, name) || strlen(others) > 200)
		return;
	longer = swz_print("%s%s%s", others, *others ? ", " : "", name);
	free(input->others);
	input->others = longer;
}

/* Only those that match something are wanted: none is an error. */
static void check_processes(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < options->process_count; i++) {
		for (j = 0; j < input->count; j++)
			if (swz_process_is_named(input->profiles[j],
						 options->processes[i]))
				break;
		if (j == input->count)
			swz_dump_complain("--process '%s': there is no such "
					  "process%s%s",
					  options->processes[i],
					  input->others ? "; others are: " : "",
					  input->others ? input->others : "");
	}
}

static void read_input(struct swz_dump_input *input,
		       const struct swz_dump_options *options, const char *path)
{
	struct swz_profile *profile;
	struct swz_error error;

	if (swz_profile_read(path, &profile, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", path, error.text);
		unread++;
		return;
	}
	if (!swz_dump_wants_process(options, profile)) {
		note_other(input, profile);
		swz_profile_free(profile);
		return;
	}
	if (!options->quiet)
		warn_damage(profile);
	if (!profile->thread_count) {
		/* of a damaged file nothing at all is left then */
		if (swz_profile_damaged(profile) && !profile->module_count) {
			swz_dump_complain("%s: nothing usable is left", path);
			unread++;
			swz_profile_free(profile);
			return;
		}
		if (!options->quiet)
			swz_dump_complain("%s: no thread was recorded", path);
	}
	swz_type_rules_apply(profile, &options->config);
	swz_grow(&input->profiles, &input->capacity, input->count,
		 sizeof(void *));
	input->profiles[input->count++] = profile;
}

static bool is_same_file(const char *a, const char *b)
{
	struct stat left, right;

	return stat(a, &left) == 0 && stat(b, &right) == 0 &&
	       S_ISREG(left.st_mode) && left.st_dev == right.st_dev &&
	       left.st_ino == right.st_ino;
}

static void check_output(const struct swz_dump_options *options,
			 const char *path)
{
	if (!options->output || options->format->takes & SWZ_TAKES_PLACE ||
	    !is_same_file(options->output, path))
		return;
	swz_dump_complain("%s: -o would replace this profile, which is read",
			  path);
	exit(EXIT_USAGE);
}

static void find_inputs(struct swz_inputs *inputs, char **arguments,
			size_t count)
{
	struct swz_error error;
	size_t at;

	for (at = 0; at < count; at++)
		if (swz_inputs_add(inputs, arguments[at], &error) != SWZ_OK) {
			swz_dump_complain("%s: %s", arguments[at], error.text);
			not_found++;
		}
	if (!count && swz_inputs_add_newest(inputs) != SWZ_OK)
		swz_dump_complain("no swizzle.out.* in this directory. Name a "
				  "profile, or make one: swizzle-run PROGRAM");
}

static bool wait_for_samplers(const struct swz_inputs *inputs)
{
	bool waited = false;
	size_t i;

	for (i = 0; i < inputs->count; i++)
		waited |= swz_wait_for_sampler(inputs->paths[i]);
	return waited;
}

void swz_dump_find_inputs(struct swz_inputs *inputs,
			  const struct swz_dump_options *options,
			  char **arguments, size_t count)
{
	size_t before = not_found, i;

	find_inputs(inputs, arguments, count);
	/* others of the run may be there by then */
	if (wait_for_samplers(inputs)) {
		swz_inputs_free(inputs);
		not_found = before;
		find_inputs(inputs, arguments, count);
		(void)wait_for_samplers(inputs);
	}
	if (count <= 1 && inputs->count == 1)
		swz_dump_add_programs(inputs);
	for (i = 0; i < inputs->count; i++)
		check_output(options, inputs->paths[i]);
}

/* The file of a trace stays open, and a directory may hold thousands. */
static void allow_open_files(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit);
}

void swz_dump_check_kinds(const struct swz_dump_input *input,
			  const struct swz_profile *first)
{
	size_t i;

	for (i = 0; i < input->count; i++) {
		const struct swz_profile *other = input->profiles[i];

		enum swz_kind a = swz_kind_of(&first->header);
		enum swz_kind b = swz_kind_of(&other->header);
		bool turned = a < b;
		bool counts = a == SWZ_KIND_COUNTS || b == SWZ_KIND_COUNTS;

		if (a == b)
			continue;
		swz_dump_complain(
			a == SWZ_KIND_CALLS || b == SWZ_KIND_CALLS
				? counts ? "%s has calls without times (-m "
					   "count), %s has times: they cannot "
					   "be shown together"
					 : "%s has samples, %s has calls: they "
					   "cannot be shown together"
				: "%s has samples, %s has calls: they cannot "
				  "be shown together (--times joins them)",
			turned ? other->name : first->name,
			turned ? first->name : other->name);
		exit(EXIT_USAGE);
	}
}

/* The option that needs times; NULL: there is none. */
static const char *option_of_times(const struct swz_dump_options *options)
{
	switch (options->table.sort) {
	case SWZ_SORT_CPU:
		return "-s cpu";
	case SWZ_SORT_WAITING:
		return "-s waiting";
	case SWZ_SORT_SELF:
		return "-s self";
	case SWZ_SORT_INCLUSIVE:
		return "-s incl";
	case SWZ_SORT_MIN:
	case SWZ_SORT_MAX:
		return "-s min and -s max";
	default:
		break;
	}
	if (options->given & SWZ_TAKES_LIMIT &&
	    !(options->format->needs & SWZ_NEEDS_EDGES))
		return "--percent-limit";
	if (options->fail_above >= 0)
		return "--fail-above";
	if (options->columns_by != SWZ_BY_NOTHING)
		return "a second key of --by";
	return options->compensate ? NULL : "--no-compensate";
}

static char *formats_of_counts(unsigned int needs)
{
	char *list = swz_duplicate(""), *longer;
	const struct swz_format *format;
	size_t i;

	for (i = 0; (format = swz_format_at(i)) != NULL; i++) {
		if (!format->section || format->needs & needs ||
		    (needs & SWZ_NEEDS_TIMES_TO_COMPARE &&
		     !(format->takes & SWZ_TAKES_DIFF)))
			continue;
		longer = swz_print("%s%s%s", list, *list ? ", " : "",
				   format->name);
		free(list);
		list = longer;
	}
	return list;
}

int swz_dump_check_counts(const struct swz_dump_input *input,
			  const struct swz_dump_options *options)
{
	const unsigned int needs = SWZ_NEEDS_TIMES |
				   (options->old ? SWZ_NEEDS_TIMES_TO_COMPARE
						 : 0);
	const struct swz_profile *profile = input->profiles[0];
	const char *option = option_of_times(options);
	char *formats;

	if (swz_kind_of(&profile->header) != SWZ_KIND_COUNTS)
		return EXIT_OK;
	if (options->format->needs & needs) {
		formats = formats_of_counts(needs);
		swz_dump_complain("%s: calls without times (-m count); %s%s "
				  "needs times. Formats that show counts: %s. "
				  "With times: swizzle-run -m both",
				  profile->name,
				  options->old ? "--diff in the format "
					       : "the format ",
				  options->format->name, formats);
		free(formats);
		return EXIT_INPUT;
	}
	if (!option)
		return EXIT_OK;
	swz_dump_complain("%s: calls without times (-m count), and so without "
			  "a use for %s. With times%s",
			  profile->name, option,
			  options->table.sort == SWZ_SORT_MIN ||
					  options->table.sort == SWZ_SORT_MAX
				  ? " of each call: swizzle-run -m profile"
				  : ": swizzle-run -m both");
	return EXIT_USAGE;
}

/* What the hooks took is not in a sum any more. */
static void check_compensation(const struct swz_dump_input *input,
			       const struct swz_dump_options *options)
{
	size_t i;

	for (i = 0; !options->compensate && i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		if (!(profile->header.flags & SWZ_FILE_MERGED) ||
		    swz_kind_of(&profile->header) != SWZ_KIND_CALLS)
			continue;
		swz_dump_complain("%s: a sum (--merge-into) has its times "
				  "without the cost of the hooks, so "
				  "--no-compensate cannot be applied. Name "
				  "the profiles that it is of",
				  profile->name);
		exit(EXIT_USAGE);
	}
}

void swz_dump_read_inputs(struct swz_dump_input *input,
			  const struct swz_dump_options *options,
			  char **arguments, size_t count)
{
	struct swz_inputs inputs = {0};
	size_t i;

	allow_open_files();
	swz_dump_find_inputs(&inputs, options, arguments, count);
	swz_progress_stage("reading profiles", inputs.count);
	for (i = 0; i < inputs.count; i++) {
		read_input(input, options, inputs.paths[i]);
		swz_progress_add(1);
	}
	swz_progress_end();
	swz_inputs_free(&inputs);
	check_processes(input, options);
	check_compensation(input, options);
	/* what shows each file by itself shows files of any kind */
	if (options->format->profile)
		return;
	swz_dump_count_once(input, options->quiet);
	swz_dump_take_pairs(input);
	if (input->count)
		swz_dump_check_kinds(input, input->profiles[0]);
}

void swz_dump_free_input(struct swz_dump_input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++) {
		if (input->bindings)
			swz_binding_free(&input->bindings[i]);
		swz_profile_free(input->profiles[i]);
	}
	for (i = 0; i < input->sample_count; i++)
		swz_profile_free(input->samples[i]);
	free(input->bindings);
	free(input->profiles);
	free(input->samples);
	free(input->others);
}

bool swz_dump_has_thread(const struct swz_dump_input *input,
			 const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				return true;
	return false;
}

static bool has_named(const struct swz_dump_input *input, const char *item)
{
	size_t i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_thread_is_named(&input->profiles[i]->threads[j],
						item))
				return true;
	return false;
}

#define MOST_LISTED 16u

/* To be freed. */
static char *list_threads(const struct swz_dump_input *input)
{
	char *list = swz_duplicate("");
	size_t count = 0, i, j;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&input->profiles[i]->threads[j];
			char *longer;

			if (count++ >= MOST_LISTED)
				continue;
			longer = swz_print("%s%s%" PRId32 " '%s'", list,
					   *list ? ", " : "",
					   thread->record.tid, thread->name);
			free(list);
			list = longer;
		}
	if (count > MOST_LISTED) {
		char *longer = swz_print("%s and %zu more (-f info has all)",
					 list, count - MOST_LISTED);

		free(list);
		list = longer;
	}
	return list;
}

bool swz_dump_has_all_threads(const struct swz_dump_input *input,
			      const struct swz_dump_options *options)
{
	bool all = true;
	char *list;
	size_t i;

	for (i = 0; i < options->threads.count; i++) {
		const char *item = options->threads.items[i];

		if (has_named(input, item))
			continue;
		all = false;
		list = list_threads(input);
		swz_dump_complain("--tid '%s': there is no such thread; there "
				  "are: %s",
				  item, list);
		free(list);
	}
	return all;
}

bool swz_dump_is_traced(const struct swz_dump_input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++)
		if (!swz_profile_traced(input->profiles[i]))
			return false;
	return true;
}

bool swz_dump_has_last_values(const struct swz_dump_input *input,
			      const struct swz_dump_options *options)
{
	bool any = false;
	size_t i;

	for (i = 0; i < input->count; i++) {
		if (swz_profile_traced(input->profiles[i]))
			return false;
		any |= input->profiles[i]->summary_count != 0;
	}
	return any && strcmp(options->format->name, "calls") == 0 &&
	       !options->at.given && !options->calls.of.count &&
	       !options->calls.blame && !options->calls.apart;
}

bool swz_dump_shows_samples(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	for (size_t i = 0; i < input->count; i++)
		if (!swz_profile_has_samples(input->profiles[i]))
			return false;
	return input->count && options->format->of_samples;
}
