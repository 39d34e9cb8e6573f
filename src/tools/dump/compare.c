#include "tools/dump/reports.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/common/diff.h"
#include "profile/formats/formats.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "util/memory.h"

/* --- comparison ---------------------------------------------------------- */

/* Both sides are added up with one catalog, in which a function of two versions
 * of a program is one, and then aligned (see profile/formats/common/diff.h). Of
 * several runs of a side the report is their mean (see profile/costs/runs.h).
 *
 * Threads have other ids in each run; what they can be known by are their
 * names. Those with the same name are compared as one. A thread that was given
 * no name has that of the main thread, which is that of the program: these are
 * compared whatever the programs are called. */

enum { NEW, OLD, SIDES };

/* Threads that are compared as one. */
struct group {
	bool unnamed;
	const char *name; /* in the new profile, if it is there */
};

/* A run: one argument, which is a file or a directory. With -m both its times
 * are in `samples`. */
struct run {
	struct swz_dump_input input, samples;
	struct swz_range range;
};

struct side {
	struct run *runs;
	size_t count, beside; /* arguments that are other arguments' samples */
	struct swz_profile **profiles; /* of all runs */
	size_t profile_count;
	struct swz_profile **sampled;
	size_t sampled_count;
};

struct comparison {
	struct side sides[SIDES];
	struct swz_dump_options options;
	struct swz_catalog catalog;
	struct swz_debug_packages packages;
	struct swz_dump_advice advice;
	struct group *groups;
	size_t group_count;
	size_t group_capacity;
	bool joined; /* all runs have counts and samples */
};

static bool is_unnamed(const struct swz_profile *profile,
		       const struct swz_profile_thread *thread)
{
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].record.tid == profile->header.pid)
			return strcmp(profile->threads[i].name, thread->name) ==
			       0;
	return false;
}

static bool is_of(const struct group *group, const struct swz_profile *profile,
		  const struct swz_profile_thread *thread)
{
	if (group->unnamed || is_unnamed(profile, thread))
		return group->unnamed && is_unnamed(profile, thread);
	return strcmp(group->name, thread->name) == 0;
}

static void find_group(struct comparison *c, const struct swz_profile *profile,
		       const struct swz_profile_thread *thread)
{
	size_t i;

	for (i = 0; i < c->group_count; i++)
		if (is_of(&c->groups[i], profile, thread))
			return;
	swz_grow(&c->groups, &c->group_capacity, c->group_count,
		 sizeof(*c->groups));
	c->groups[c->group_count++] = (struct group){
		.unnamed = is_unnamed(profile, thread), .name = thread->name};
}

static void find_groups(struct comparison *c)
{
	size_t side, run, i, j;

	for (side = 0; side < SIDES; side++)
		for (run = 0; run < c->sides[side].count; run++) {
			const struct swz_dump_input *input =
				&c->sides[side].runs[run].input;

			for (i = 0; i < input->count; i++)
				for (j = 0;
				     j < input->profiles[i]->thread_count; j++)
					find_group(c, input->profiles[i],
						   &input->profiles[i]
							    ->threads[j]);
		}
}

/* GROUP may be NULL: all. WHOLE: also what is not to be shown. */
static void add_input(const struct comparison *c,
		      const struct swz_dump_input *input,
		      const struct swz_range *range, const struct group *group,
		      bool whole, struct swz_dump_result *result)
{
	struct swz_dump_options options = c->options;
	size_t i, j;

	options.range = *range;
	if (whole)
		options.view = (struct swz_view){.only = {0}};
	swz_dump_begin_adding(input, &options, NULL);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&input->profiles[i]->threads[j];

			if (!group || is_of(group, input->profiles[i], thread))
				swz_dump_add_thread(result, &input->bindings[i],
						    thread, &options);
		}
}

static void add_runs(const struct comparison *c, const struct side *side,
		     size_t count, const struct group *group, bool whole,
		     struct swz_dump_join *join)
{
	swz_dump_join_begin(join);
	for (size_t i = 0; i < count; i++) {
		const struct run *run = &side->runs[i];

		add_input(c, &run->input, &run->range, group, whole,
			  &join->counts);
		add_input(c, &run->samples, &run->range, group, whole,
			  &join->times);
	}
}

/* Adds counts and samples of the first COUNT runs, and joins them. */
static void join_runs(const struct comparison *c, const struct side *side,
		      size_t count, const struct group *group,
		      struct swz_dump_result *result, struct swz_joined *joined)
{
	const struct run *first = &side->runs[0];
	struct swz_dump_join join, all;
	struct swz_counting *counting = NULL;
	size_t i;

	if (group || !swz_view_is_whole(&c->options.view)) {
		add_runs(c, side, count, NULL, true, &all);
		counting = swz_dump_take_counting(&all, &first->input,
						  &first->samples);
	}
	add_runs(c, side, count, group, false, &join);
	join.counting = counting;
	swz_dump_join_end(&join, &first->input, &first->samples);
	for (i = 0; i < count; i++)
		swz_dump_mark_uncounted(&join.counts.report, &c->catalog,
					&side->runs[i].input, i == 0);
	*result = join.counts;
	*joined = join.joined;
	swz_dump_join_free(&join);
}

/* How far a run's times differ from another's is known when those before it
 * have been joined without it. */
static void join_up(const struct comparison *c, const struct side *side,
		    const struct group *group, struct swz_dump_result *result,
		    struct swz_runs *runs, struct swz_joined *joined)
{
	for (size_t i = 1; i <= side->count; i++) {
		join_runs(c, side, i, group, result, joined);
		swz_runs_note(runs, &result->report);
		if (i < side->count)
			swz_dump_free_result(result);
	}
	if (!(c->options.format->needs & SWZ_NEEDS_PLACES))
		swz_contexts_forget_places(&result->contexts);
}

static void add_up(const struct comparison *c, size_t side,
		   const struct group *group, struct swz_dump_result *result,
		   struct swz_runs *runs, struct swz_joined *joined)
{
	const struct side *of = &c->sides[side];
	size_t count = of->count, i;

	*runs = (struct swz_runs){0};
	if (c->joined) {
		join_up(c, of, group, result, runs, joined);
	} else {
		swz_dump_begin_result(result, &c->options);
		/* lines of two programs differ, and units are of one file */
		result->report.hits.wanted = false;
		result->contexts.by_unit = false;
		result->report.unit_ns = (int64_t)count;
		for (i = 0; i < count; i++) {
			add_input(c, &of->runs[i].input, &of->runs[i].range,
				  group, false, result);
			swz_runs_note(runs, &result->report);
		}
	}
	swz_dump_warn_result(result, &c->options);
	if (!c->joined)
		swz_dump_end_result(result);
	swz_report_average(&result->report, count);
	swz_contexts_average(&result->contexts, count);
}

static struct swz_section section_of(const struct comparison *c, size_t side,
				     const struct group *group,
				     const struct swz_dump_result *result,
				     const struct swz_runs *runs,
				     const struct swz_joined *joined)
{
	struct swz_section section = swz_dump_new_section(
		&c->sides[side].runs[0].input, 0, result, &c->options);

	section.profiles = c->sides[side].profiles;
	section.profile_count = c->sides[side].profile_count;
	section.runs = runs;
	section.thread_name = group ? group->name : NULL;
	if (section.range)
		section.range = &c->sides[side].runs[0].range;
	if (c->joined) {
		section.joined = joined;
		section.sampled = c->sides[side].sampled;
		section.sampled_count = c->sides[side].sampled_count;
		section.compensated = false;
	}
	return section;
}

static int32_t new_pid(const struct comparison *c)
{
	return c->sides[NEW].runs[0].input.profiles[0]->header.pid;
}

static int write_part(struct comparison *c, const struct group *group,
		      struct swz_dump_target *to)
{
	const struct swz_dump_options *options = &c->options;
	struct swz_dump_result results[SIDES];
	struct swz_runs runs[SIDES];
	struct swz_joined joined[SIDES];
	struct swz_section section, old;
	unsigned int number = group ? (unsigned int)(group - c->groups) + 1 : 0;
	int status;

	status = swz_dump_begin_part(to, options, new_pid(c), number);
	if (status != EXIT_OK)
		return status;
	add_up(c, NEW, group, &results[NEW], &runs[NEW], &joined[NEW]);
	add_up(c, OLD, group, &results[OLD], &runs[OLD], &joined[OLD]);
	swz_dump_resolve(&c->catalog);
	swz_diff_align_reports(&c->catalog, &results[NEW].report,
			       &results[OLD].report);
	if (results[NEW].has_contexts)
		swz_diff_align_contexts(&results[NEW].contexts,
					&results[OLD].contexts);
	section = section_of(c, NEW, group, &results[NEW], &runs[NEW],
			     &joined[NEW]);
	old = section_of(c, OLD, group, &results[OLD], &runs[OLD],
			 &joined[OLD]);
	section.part = (unsigned int)to->writer.sections + 1;
	section.thread_number = number;
	section.old = &old;
	status = swz_dump_write_section(to, &section, options);
	swz_gates_look(&section, options);
	swz_dump_advice_add(&c->advice, &results[NEW].report);
	swz_dump_advice_add(&c->advice, &results[OLD].report);
	swz_dump_free_result(&results[NEW]);
	swz_dump_free_result(&results[OLD]);
	swz_runs_free(&runs[NEW]);
	swz_runs_free(&runs[OLD]);
	if (options->separate_threads && status == EXIT_OK)
		status = swz_dump_close_target(to, options);
	return status;
}

static bool is_in_parts(const struct swz_dump_options *options)
{
	return options->thread_parts || options->separate_threads;
}

static int write_parts(struct comparison *c)
{
	const struct swz_dump_options *options = &c->options;
	struct swz_dump_target to = {0};
	int status = EXIT_OK, last;
	size_t i;

	if (is_in_parts(options))
		find_groups(c);
	else
		status = write_part(c, NULL, &to);
	for (i = 0; i < c->group_count && status == EXIT_OK; i++)
		status = write_part(c, &c->groups[i], &to);
	swz_dump_advice_find(&c->advice, &c->catalog, options, &to.writer);
	last = swz_dump_close_target(&to, options);
	status = status != EXIT_OK ? status : last;
	if (status == EXIT_OK)
		swz_dump_advice_say(&c->advice);
	return status;
}

/* All bindings next to each other, the new ones first. */
static void match(struct comparison *c)
{
	const struct side *new = &c->sides[NEW], *old = &c->sides[OLD];
	size_t new_count = new->profile_count + new->sampled_count;
	size_t count = new_count + old->profile_count + old->sampled_count;
	struct swz_binding *all = swz_allocate(count, sizeof(*all));
	size_t side, i, done = 0;

	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->sides[side].count; i++) {
			const struct run *run = &c->sides[side].runs[i];

			memcpy(all + done, run->input.bindings,
			       run->input.count * sizeof(*all));
			done += run->input.count;
			if (!c->joined)
				continue;
			memcpy(all + done, run->samples.bindings,
			       run->samples.count * sizeof(*all));
			done += run->samples.count;
		}
	swz_catalog_match(&c->catalog, all, new_count, count);
	free(all);
}

static void bind_compared(struct comparison *c)
{
	const struct swz_dump_options *options = &c->options;
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	size_t side, i;

	swz_catalog_begin(&c->catalog, &catalog_options);
	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->sides[side].count; i++) {
			struct run *run = &c->sides[side].runs[i];

			swz_dump_bind(&run->input, &c->catalog);
			if (c->joined)
				swz_dump_bind(&run->samples, &c->catalog);
		}
	match(c);
}

/* True if the time that is asked for is there. */
static bool find_range(const struct comparison *c, struct run *run)
{
	struct swz_dump_options options = c->options;

	if (!swz_dump_has_range(&options))
		return true;
	if (!swz_dump_find_range(&run->input, &options))
		return false;
	run->range = options.range;
	return true;
}

struct recorded {
	bool filtered, imports; /* some profile of the side */
};

static struct recorded recorded_as(const struct side *side)
{
	struct recorded as = {false, false};
	size_t i, j;

	for (i = 0; i < side->count; i++)
		for (j = 0; j < side->runs[i].input.count; j++) {
			const struct swz_dump_input *input =
				&side->runs[i].input;

			as.filtered |= input->profiles[j]->header.flags &
				       SWZ_FILE_FILTERED;
			as.imports |= input->bindings[j].has_imports;
		}
	return as;
}

/* Warns that profiles recorded with other options differ by that. */
static void warn_recorded(const struct comparison *c)
{
	struct recorded old = recorded_as(&c->sides[OLD]);
	struct recorded new = recorded_as(&c->sides[NEW]);

	if (c->options.quiet)
		return;
	if (old.filtered != new.filtered)
		swz_dump_complain(
			"only the %s side was recorded with filters (-F, -N, "
			"-D): functions that they leave out seem %s",
			old.filtered ? "old" : "new",
			old.filtered ? "new" : "gone");
	if (old.imports != new.imports)
		swz_dump_complain("only the %s side was recorded with "
				  "--imports: imported functions seem %s",
				  old.imports ? "old" : "new",
				  old.imports ? "gone" : "new");
}

static void name_run(const struct comparison *c, const struct run *run)
{
	swz_dump_name_all(&run->input, &c->options);
	if (c->joined)
		swz_dump_name_all(&run->samples, &c->options);
}

static int compare(struct comparison *c)
{
	size_t side, i;
	int status = c->joined ? EXIT_OK
			       : swz_dump_check_counts(
					 &c->sides[NEW].runs[0].input,
					 &c->options);

	if (status != EXIT_OK)
		return status;
	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->sides[side].count; i++)
			if (!find_range(c, &c->sides[side].runs[i]))
				return EXIT_USAGE;
	bind_compared(c);
	warn_recorded(c);
	c->advice = swz_dump_advice_begin(&c->packages);
	if (!swz_view_is_whole(&c->options.view) || is_in_parts(&c->options))
		for (side = 0; side < SIDES; side++)
			for (i = 0; i < c->sides[side].count; i++)
				name_run(c, &c->sides[side].runs[i]);
	status = write_parts(c);
	if (status == EXIT_OK)
		swz_dump_warn_filter(&c->catalog, &c->options);
	swz_dump_advice_free(&c->advice);
	swz_debug_packages_free(&c->packages);
	swz_catalog_free(&c->catalog);
	free(c->groups);
	return status;
}

static void list(struct swz_profile ***profiles, size_t *count,
		 const struct swz_dump_input *input)
{
	*profiles = swz_reallocate(*profiles, *count + input->count,
				   sizeof(struct swz_profile *));
	memcpy(*profiles + *count, input->profiles,
	       input->count * sizeof(struct swz_profile *));
	*count += input->count;
}

static void list_profiles(struct side *side)
{
	for (size_t i = 0; i < side->count; i++) {
		list(&side->profiles, &side->profile_count,
		     &side->runs[i].input);
		list(&side->sampled, &side->sampled_count,
		     &side->runs[i].samples);
	}
}

/* "old.*" means the samples beside the counts, too: these are no run of their
 * own, and were found with the counts. */
static bool is_beside(const struct side *side, size_t index)
{
	const struct swz_dump_input *input = &side->runs[index].input;

	for (size_t i = 0; i < side->count; i++)
		if (i != index && swz_dump_is_pair(input, &side->runs[i].input))
			return true;
	return false;
}

static void pair_runs(struct side *side, const struct swz_dump_options *options)
{
	size_t i, kept = 0;

	for (i = 0; i < side->count; i++)
		if (!swz_dump_not_of_times(options, true) &&
		    !options->own_times)
			swz_dump_find_beside(&side->runs[i].input,
					     options->quiet);
	for (i = 0; i < side->count; i++) {
		struct run *run = &side->runs[i];

		if (is_beside(side, i)) {
			swz_dump_free_input(&run->input);
			*run = (struct run){0};
			side->beside++;
			continue;
		}
		run->samples = (struct swz_dump_input){
			.profiles = run->input.samples,
			.count = run->input.sample_count};
		run->input.samples = NULL;
		run->input.sample_count = run->input.sample_capacity = 0;
	}
	for (i = 0; i < side->count; i++)
		if (side->runs[i].input.count)
			side->runs[kept++] = side->runs[i];
	side->count = kept;
}

/* A profile that cannot be read is no run: it would seem to take no time. */
static void read_side(struct side *side, const struct swz_dump_options *options,
		      char **arguments, size_t count)
{
	size_t i;

	side->runs = swz_allocate(count, sizeof(*side->runs));
	for (i = 0; i < count; i++) {
		struct swz_dump_input *input = &side->runs[side->count].input;

		swz_dump_read_inputs(input, options, &arguments[i], 1);
		if (!input->count)
			continue;
		side->count++;
	}
	pair_runs(side, options);
	list_profiles(side);
}

static bool has_process(const struct run *run, int32_t pid)
{
	size_t i;

	for (i = 0; i < run->input.count; i++)
		if (run->input.profiles[i]->header.pid == pid)
			return true;
	return false;
}

/* The run that a process is of, if it is another one than that at INDEX, or
 * NULL. (In a container runs may have the same ids.) */
static const struct run *other_run_of(const struct side *side, size_t index,
				      int32_t pid)
{
	size_t i;

	if (has_process(&side->runs[index], pid))
		return NULL;
	for (i = 0; i < side->count; i++)
		if (has_process(&side->runs[i], pid))
			return &side->runs[i];
	return NULL;
}

/* "old.*" is soon written, and means the files of child processes, too. */
static void warn_children(const struct side *side)
{
	size_t i, j;

	for (i = 0; i < side->count; i++)
		for (j = 0; j < side->runs[i].input.count; j++) {
			const struct swz_profile *child =
				side->runs[i].input.profiles[j];
			const struct run *parent = other_run_of(
				side, i, child->header.parent_pid);

			if (!parent)
				continue;
			swz_dump_complain(
				"%s is of a child process of %s, and no run of "
				"its own: give a directory for each run",
				child->name, parent->input.profiles[0]->name);
			return;
		}
}

static void free_side(struct side *side)
{
	size_t i;

	for (i = 0; i < side->count; i++) {
		swz_dump_free_input(&side->runs[i].input);
		swz_dump_free_input(&side->runs[i].samples);
	}
	free(side->profiles);
	free(side->sampled);
	free(side->runs);
}

/* True if all is there that was asked for. A check that has not seen everything
 * must not pass. */
static bool is_complete(const struct comparison *c)
{
	return c->sides[NEW].count + c->sides[NEW].beside ==
		       c->options.argument_count &&
	       c->sides[OLD].count + c->sides[OLD].beside ==
		       c->options.old_count;
}

static void check_kinds(const struct comparison *c)
{
	const struct swz_profile *first = NULL;
	size_t i, j;

	for (i = 0; i < SIDES; i++)
		for (j = 0; j < c->sides[i].count; j++) {
			const struct swz_dump_input *input =
				&c->sides[i].runs[j].input;

			if (!first && input->count)
				first = input->profiles[0];
			if (first)
				swz_dump_check_kinds(input, first);
		}
}

/* True if all runs have both. */
static bool is_joined(const struct side *side)
{
	for (size_t i = 0; i < side->count; i++)
		if (!side->runs[i].samples.count)
			return false;
	return side->count > 0;
}

int swz_dump_diff(const struct swz_dump_options *options)
{
	struct comparison c = {.options = *options};
	int status = EXIT_INPUT;

	read_side(&c.sides[OLD], options, options->old, options->old_count);
	read_side(&c.sides[NEW], options, options->arguments,
		  options->argument_count);
	check_kinds(&c);
	c.joined = is_joined(&c.sides[OLD]) && is_joined(&c.sides[NEW]);
	if (!c.sides[OLD].count || !c.sides[NEW].count)
		swz_dump_complain("nothing to compare%s",
				  c.sides[NEW].count ? " with" : "");
	else
		status = compare(&c);
	if (!options->quiet) {
		warn_children(&c.sides[OLD]);
		warn_children(&c.sides[NEW]);
	}
	if (status == EXIT_OK && swz_gates_any(options) && !is_complete(&c))
		status = EXIT_FAILED;
	free_side(&c.sides[OLD]);
	free_side(&c.sides[NEW]);
	return status;
}
