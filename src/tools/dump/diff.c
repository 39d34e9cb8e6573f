/* Both sides are added up with one catalog, in which a function of two versions
 * of a program is one, and then aligned (see profile/formats/diff.h).
 *
 * Threads have other ids in each run; what they can be known by are their
 * names. Those with the same name are compared as one. A thread that was given
 * no name has that of the main thread, which is that of the program: these are
 * compared whatever the programs are called. */

#include "tools/dump/diff.h"

#include <stdlib.h>
#include <string.h>

#include "profile/formats/diff.h"
#include "profile/support/memory.h"
#include "tools/dump/advice.h"
#include "tools/dump/message.h"
#include "tools/dump/range.h"
#include "tools/dump/result.h"
#include "tools/dump/target.h"

enum { NEW, OLD, SIDES };

/* Threads that are compared as one. */
struct group {
	bool unnamed;
	const char *name; /* in the new profile, if it is there */
};

struct comparison {
	struct swz_dump_input *inputs[SIDES];
	struct swz_dump_options options[SIDES]; /* alike but for the range */
	struct swz_catalog catalog;
	struct swz_debug_packages packages;
	struct swz_dump_advice advice;
	struct group *groups;
	size_t group_count;
	size_t group_capacity;
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
	size_t side, i, j;

	for (side = 0; side < SIDES; side++)
		for (i = 0; i < c->inputs[side]->count; i++) {
			const struct swz_profile *profile =
				c->inputs[side]->profiles[i];

			for (j = 0; j < profile->thread_count; j++)
				find_group(c, profile, &profile->threads[j]);
		}
}

/* GROUP may be NULL: all. */
static void add_up(struct comparison *c, size_t side, const struct group *group,
		   struct swz_dump_result *result)
{
	struct swz_dump_input *input = c->inputs[side];
	const struct swz_dump_options *options = &c->options[side];
	size_t i, j;

	swz_dump_begin_adding(input, options, NULL);
	swz_dump_begin_result(result, options);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++) {
			const struct swz_profile_thread *thread =
				&input->profiles[i]->threads[j];

			if (!group || is_of(group, input->profiles[i], thread))
				swz_dump_add_thread(result, &input->bindings[i],
						    thread, options);
		}
	swz_dump_warn_result(result, options);
	swz_dump_end_result(result);
}

static struct swz_section section_of(const struct comparison *c, size_t side,
				     const struct group *group,
				     const struct swz_dump_result *result)
{
	struct swz_section section = swz_dump_new_section(
		c->inputs[side], 0, result, &c->options[side]);

	section.profile_count = c->inputs[side]->count;
	section.thread_name = group ? group->name : NULL;
	return section;
}

static int write_part(struct comparison *c, const struct group *group,
		      struct swz_dump_target *to)
{
	const struct swz_dump_options *options = &c->options[NEW];
	struct swz_dump_result results[SIDES];
	struct swz_section section, old;
	unsigned int number = group ? (unsigned int)(group - c->groups) + 1 : 0;
	int status;

	status = swz_dump_begin_part(
		to, options, c->inputs[NEW]->profiles[0]->header.pid, number);
	if (status != EXIT_OK)
		return status;
	add_up(c, NEW, group, &results[NEW]);
	add_up(c, OLD, group, &results[OLD]);
	swz_dump_resolve(&c->catalog);
	swz_diff_align_reports(&c->catalog, &results[NEW].report,
			       &results[OLD].report);
	if (results[NEW].has_contexts)
		swz_diff_align_contexts(&results[NEW].contexts,
					&results[OLD].contexts);
	section = section_of(c, NEW, group, &results[NEW]);
	old = section_of(c, OLD, group, &results[OLD]);
	section.part = (unsigned int)to->writer.sections + 1;
	section.thread_number = number;
	section.old = &old;
	status = swz_dump_write_section(to, &section, options);
	swz_dump_advice_add(&c->advice, &results[NEW].report);
	swz_dump_advice_add(&c->advice, &results[OLD].report);
	swz_dump_free_result(&results[NEW]);
	swz_dump_free_result(&results[OLD]);
	if (options->separate_threads && status == EXIT_OK)
		status = swz_dump_close_target(to, options);
	return status;
}

static int write_parts(struct comparison *c)
{
	const struct swz_dump_options *options = &c->options[NEW];
	struct swz_dump_target to = {0};
	int status = EXIT_OK, last;
	size_t i;

	if (options->thread_parts || options->separate_threads)
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
	size_t new_count = c->inputs[NEW]->count;
	size_t count = new_count + c->inputs[OLD]->count;
	struct swz_binding *all = swz_allocate(count, sizeof(*all));

	memcpy(all, c->inputs[NEW]->bindings, new_count * sizeof(*all));
	memcpy(all + new_count, c->inputs[OLD]->bindings,
	       (count - new_count) * sizeof(*all));
	swz_catalog_match(&c->catalog, all, new_count, count);
	free(all);
}

static void bind(struct comparison *c)
{
	const struct swz_dump_options *options = &c->options[NEW];
	struct swz_catalog_options catalog_options = {
		.files = &options->files,
		.symbols = true,
		.lines = options->format->needs & SWZ_NEEDS_LINES,
		.demangle = options->demangle,
		.quiet = options->quiet,
	};
	size_t side, i;

	swz_catalog_begin(&c->catalog, &catalog_options);
	for (side = 0; side < SIDES; side++) {
		struct swz_dump_input *input = c->inputs[side];

		input->bindings = swz_allocate(input->count,
					       sizeof(*input->bindings));
		for (i = 0; i < input->count; i++)
			swz_catalog_bind(&input->bindings[i], &c->catalog,
					 input->profiles[i]);
	}
	match(c);
}

static int compare(struct comparison *c)
{
	size_t side;
	int status;

	for (side = 0; side < SIDES; side++)
		if (swz_dump_has_range(&c->options[side]) &&
		    !swz_dump_find_range(c->inputs[side], &c->options[side]))
			return EXIT_USAGE;
	bind(c);
	c->advice = swz_dump_advice_begin(&c->packages);
	if (!swz_view_is_whole(&c->options[NEW].view))
		for (side = 0; side < SIDES; side++)
			swz_dump_prepare_view(c->inputs[side],
					      &c->options[side]);
	status = write_parts(c);
	if (status == EXIT_OK)
		swz_dump_warn_filter(&c->catalog, &c->options[NEW]);
	swz_dump_advice_free(&c->advice);
	swz_debug_packages_free(&c->packages);
	swz_catalog_free(&c->catalog);
	free(c->groups);
	return status;
}

int swz_dump_diff(struct swz_dump_input *input,
		  const struct swz_dump_options *options)
{
	char *path = swz_duplicate(options->old);
	struct swz_dump_input old = {0};
	struct comparison c = {
		.inputs = {[NEW] = input, [OLD] = &old},
		.options = {[NEW] = *options, [OLD] = *options},
	};
	int status = EXIT_INPUT;

	swz_dump_read_inputs(&old, options, &path, 1);
	if (old.count)
		status = compare(&c);
	else
		swz_dump_complain("nothing to compare with");
	swz_dump_free_input(&old);
	free(path);
	return status;
}
