#include "tools/dump/input.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/printable.h"
#include "profile/costs/report.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/names/catalog.h"
#include "profile/names/value_print.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/reports.h"
#include "util/memory.h"
#include "util/output.h"

/* --- profiles ------------------------------------------------------------ */

/* A file that cannot be read is left out; the others are shown all the same. */

static size_t not_found;

size_t swz_dump_unread(void)
{
	return swz_dump_unread_files() + not_found;
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
		swz_dump_note_unread(path, error.text);
		return;
	}
	if (!swz_dump_wants_process(options, profile)) {
		note_other(input, profile);
		swz_profile_free(profile);
		return;
	}
	if (!options->quiet)
		swz_dump_warn_damage(profile);
	if (!profile->thread_count) {
		/* of a damaged file nothing at all is left then */
		if (swz_profile_damaged(profile) && !profile->module_count) {
			swz_dump_note_unread(path, "nothing usable is left");
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
				? counts ? "%s counts calls (-m count or -m "
					   "both), %s times them: they cannot "
					   "be shown together. Name profiles "
					   "of one mode"
					 : "%s has samples, %s has calls: they "
					   "cannot be shown together. Name "
					   "profiles of one mode"
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

/* The hooks' time is not in a sum any more. */
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

/* True if a module was hooked, or may have been: of a damaged profile it is not
 * known. */
static bool is_any_in_scope(const struct swz_dump_input *input)
{
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		if (swz_profile_damaged(input->profiles[i]))
			return true;
		for (j = 0; j < input->profiles[i]->module_count; j++)
			if (input->profiles[i]->modules[j].record.in_scope)
				return true;
	}
	return false;
}

void swz_dump_leave_out_uncounted(struct swz_dump_input *input,
				  const struct swz_dump_options *options)
{
	if (!input->sample_count || !input->count || is_any_in_scope(input))
		return;
	if (!options->quiet)
		swz_dump_complain("%s: no call was counted, as nothing was "
				  "hooked (-M). The samples are shown alone",
				  input->profiles[0]->name);
	for (size_t i = 0; i < input->count; i++)
		swz_profile_free(input->profiles[i]);
	free(input->profiles);
	input->profiles = input->samples;
	input->count = input->sample_count;
	input->capacity = input->sample_capacity;
	input->samples = NULL;
	input->sample_count = input->sample_capacity = 0;
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

/* True if a profile before that at AT has the thread: counts and samples of one
 * run have the same ones. */
static bool is_listed(const struct swz_dump_input *input, size_t at,
		      const struct swz_profile_thread *thread)
{
	for (size_t i = 0; i < at; i++) {
		const struct swz_profile *earlier = input->profiles[i];

		if (earlier->header.pid != input->profiles[at]->header.pid)
			continue;
		for (size_t j = 0; j < earlier->thread_count; j++)
			if (earlier->threads[j].record.tid ==
			    thread->record.tid)
				return true;
	}
	return false;
}

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

			if (is_listed(input, i, thread) ||
			    count++ >= MOST_LISTED)
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

bool swz_dump_has_named_threads(const struct swz_dump_input *counts,
				const struct swz_dump_input *samples,
				const struct swz_dump_options *options)
{
	struct swz_dump_input both = {0};
	bool all;

	both.profiles = swz_allocate(counts->count + samples->count,
				     sizeof(struct swz_profile *));
	for (size_t i = 0; i < counts->count; i++)
		both.profiles[both.count++] = counts->profiles[i];
	for (size_t i = 0; i < samples->count; i++)
		both.profiles[both.count++] = samples->profiles[i];
	all = swz_dump_has_all_threads(&both, options);
	free(both.profiles);
	return all;
}

bool swz_dump_shows_samples(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	return options->format->of_samples &&
	       swz_profiles_have_samples(input->profiles, input->count);
}

/* Parts of the input that are asked for: what came after a snapshot (--since),
 * a part of a trace's time (--from, --to), the callers of a function
 * (--caller). */

/* --- what came after a snapshot ------------------------------------------ */

/* Events tell what comes later, and figures of a part of a trace are theirs. */
static void begin_range(struct swz_dump_options *options, uint64_t ticks)
{
	options->from.given = true;
	options->since_ticks = ticks;
}

bool swz_dump_take_since(struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	struct swz_profile *earlier, *profile = input->profiles[0];
	enum swz_status status = SWZ_OK;
	struct swz_error error;

	if (input->count != 1) {
		swz_dump_complain("--since is for one profile, not for %zu",
				  input->count);
		return false;
	}
	if (swz_profile_read(options->since, &earlier, &error) != SWZ_OK) {
		swz_dump_complain("%s: %s", options->since, error.text);
		return false;
	}
	if (swz_profile_traced(profile) && earlier->header.snapshot_ticks &&
	    earlier->header.start_ticks == profile->header.start_ticks)
		begin_range(options, earlier->header.snapshot_ticks);
	else
		status = swz_interval_take(profile, earlier, &error);
	if (status != SWZ_OK)
		swz_dump_complain("--since %s: %s", options->since, error.text);
	swz_profile_free(earlier);
	return status == SWZ_OK;
}

/* --- a part of a trace's time -------------------------------------------- */

/* Percentages are of the time from the first start to the last end of all. */

static uint64_t ticks_of(const struct swz_dump_moment *moment,
			 const struct swz_profile *profile, uint64_t first,
			 uint64_t last)
{
	double ticks = moment->percent
			       ? (double)(last - first) * moment->value / 100
			       : moment->value * 1e9 *
					 (double)profile->clock_ticks /
					 (double)profile->clock_ns;

	return ticks < (double)(INT64_MAX - (int64_t)(first >> 1))
		       ? first + (uint64_t)ticks
		       : UINT64_MAX;
}

/* The profiles are cut to that range: no format knows of it. */
static void keep_samples(const struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	if (options->format->of_samples ||
	    !swz_profiles_have_samples(input->profiles, input->count))
		return;
	for (size_t i = 0; i < input->count; i++)
		swz_samples_keep_range(input->profiles[i], options->range.from,
				       options->range.to);
	options->from.given = options->to.given = false;
}

/* Nothing is shown then; so it is said when there was something. */
static void warn_late(const char *option, uint64_t ticks, uint64_t first,
		      uint64_t last, const struct swz_dump_input *input)
{
	if (ticks > last && ticks != UINT64_MAX)
		swz_dump_complain(
			"%s: the run ends before, at %.6f s", option,
			(double)swz_profile_ns(input->profiles[0],
					       (int64_t)(last - first)) /
				1e9);
}

bool swz_dump_find_range(const struct swz_dump_input *input,
			 struct swz_dump_options *options)
{
	bool sampled = swz_profiles_have_samples(input->profiles, input->count);
	uint64_t first = UINT64_MAX, last = 0;
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		if (!swz_profile_traced(profile) &&
		    (options->at.given || !sampled)) {
			swz_dump_complain(
				options->at.given
					? "%s: not a trace (swizzle-run -m "
					  "trace), which --at needs"
					: "%s: not a trace (swizzle-run -m "
					  "trace) "
					  "nor samples with times (-m sample), "
					  "which --from and --to need",
				profile->name);
			return false;
		}
		if (swz_profile_origin(profile) < first)
			first = swz_profile_origin(profile);
		for (j = 0; j < profile->thread_count; j++)
			if (profile->threads[j].last_ticks > last)
				last = profile->threads[j].last_ticks;
	}
	if (last < first)
		last = first;
	options->range = (struct swz_range){first, UINT64_MAX};
	if (options->at.given)
		options->calls.at_ticks = ticks_of(
			&options->at, input->profiles[0], first, last);
	if (options->since_ticks)
		options->range.from = options->since_ticks;
	else if (options->from.given)
		options->range.from = ticks_of(&options->from,
					       input->profiles[0], first, last);
	if (options->to.given)
		options->range.to = ticks_of(&options->to, input->profiles[0],
					     first, last);
	if (options->range.from > options->range.to) {
		swz_dump_complain("--from is later than --to");
		return false;
	}
	if (!options->quiet && options->from.given && !options->since_ticks)
		warn_late("--from", options->range.from, first, last, input);
	if (!options->quiet && options->at.given)
		warn_late("--at", options->calls.at_ticks, first, last, input);
	keep_samples(input, options);
	return true;
}

/* --- callers that the profiles say --------------------------------------- */

static bool has(const struct swz_patterns *patterns, const char *pattern)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (strcmp(patterns->items[i], pattern) == 0)
			return true;
	return false;
}

void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	char *lines = NULL, *rest, *line;

	if (options->view.callers.count ||
	    (!format->section && !format->events))
		return;
	for (size_t i = 0; i < input->count; i++) {
		const char *more = swz_profile_label(input->profiles[i],
						     SWZ_LABEL_CALLER);
		char *joined;

		if (!more)
			continue;
		joined = swz_print("%s\n%s", lines ? lines : "", more);
		free(lines);
		lines = joined;
	}
	options->callers = rest = lines;
	while (rest && (line = strtok_r(NULL, "\n", &rest)))
		if (!has(&options->view.callers, line))
			swz_patterns_add(&options->view.callers, line);
}
