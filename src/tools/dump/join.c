
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/runs.h"
#include "profile/file/records.h"
#include "profile/formats/formats.h"
#include "profile/formats/tables/table.h"
#include "tools/dump/dump_options.h"
#include "tools/dump/input.h"
#include "tools/dump/reports.h"
#include "util/memory.h"

/* Each side is added up by itself, with one catalog, in which a function is the
 * same in both: by build-id and address. */

void swz_dump_bind(struct swz_dump_input *input, struct swz_catalog *catalog)
{
	size_t i;

	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], catalog,
				 input->profiles[i]);
}

/* By what a viewer does not show, but the join needs. */
static void begin_all(struct swz_dump_result *result)
{
	*result = (struct swz_dump_result){.has_contexts = true};
	swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE, true);
	result->contexts.finds_jumps = true;
	result->contexts.by_counted = true;
}

static void add_all(struct swz_dump_input *input,
		    struct swz_dump_result *result,
		    const struct swz_dump_options *options)
{
	size_t i, j;

	swz_dump_begin_adding(input, options, NULL);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				swz_dump_add_thread(
					result, &input->bindings[i],
					&input->profiles[i]->threads[j],
					options);
}

/* A function that was hooked and not called has been counted, too. Functions
 * are few that have samples and no calls, those that were hooked are many. */
void swz_dump_mark_uncounted(struct swz_report *report,
			     const struct swz_catalog *catalog,
			     const struct swz_dump_input *input, bool is_first)
{
	size_t i, j;

	for (i = 1; is_first && i < report->function_capacity; i++)
		report->functions[i].uncounted = report->functions[i].present &&
						 !report->functions[i].calls;
	for (i = 0; i < input->count; i++) {
		const struct swz_profile *profile = input->profiles[i];

		for (j = 0; j < profile->function_count; j++) {
			const struct swz_profile_function *function =
				&profile->functions[j];
			uint32_t at;

			if (function->status != SWZ_PATCHED ||
			    function->module == SWZ_INDEX_NONE)
				continue;
			at = swz_map_get(
				&catalog->by_address,
				input->bindings[i].modules[function->module],
				function->address);
			if (at < report->function_capacity)
				report->functions[at].uncounted = false;
		}
	}
}

/* True if a function of one is one of the other. */
static bool is_of_one_program(const struct swz_dump_input *input,
			      const struct swz_dump_input *samples)
{
	size_t i, j, k, m;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->module_count; j++)
			for (k = 0; k < samples->count; k++)
				for (m = 0;
				     m < samples->profiles[k]->module_count;
				     m++)
					if (input->profiles[i]
						    ->modules[j]
						    .record.in_scope &&
					    input->bindings[i].modules[j] ==
						    samples->bindings[k]
							    .modules[m])
						return true;
	return false;
}

/* Counts and samples of one run, thread by thread. */
struct threads {
	struct swz_dump_input *input, *samples;
	const struct swz_dump_options *options;
	struct swz_counting *counting;
	/* where they go: to rows, or each in a section like SECTION */
	struct swz_groups *groups;
	struct swz_dump_target *target;
	const struct swz_section *section;
	bool **taken; /* by the samples' profiles and threads */
};

#define OTHER_SIDE (UINT64_C(1) << 63)

static bool may_be_one_program(const struct swz_profile *a,
			       const struct swz_profile *b)
{
	return a->header.pid == b->header.pid &&
	       (!*a->executable || !*b->executable ||
		strcmp(a->executable, b->executable) == 0);
}

/* How far OTHER is from PROFILE. What does not lie on the side that is asked
 * for is further away than all that does. */
static uint64_t distance(const struct swz_profile *other,
			 const struct swz_profile *profile, bool before)
{
	uint64_t x = other->header.start_realtime_ns;
	uint64_t y = profile->header.start_realtime_ns;

	if (before ? x <= y : x >= y)
		return before ? y - x : x - y;
	return OTHER_SIDE | (before ? x - y : y - x);
}

/* A process that has executed programs has samples and counts of each. Samples
 * begin with the program, counts when it has loaded the profiler, so that they
 * come in turn. Returns the one in INPUT that is next to PROFILE in that order,
 * SWZ_INDEX_NONE if there is none. */
static uint32_t next_to(const struct swz_dump_input *input,
			const struct swz_profile *profile, bool before)
{
	uint64_t least = UINT64_MAX;
	uint32_t found = SWZ_INDEX_NONE;

	for (uint32_t i = 0; i < input->count; i++) {
		const struct swz_profile *other = input->profiles[i];
		uint64_t far = distance(other, profile, before);

		if (may_be_one_program(other, profile) && far < least) {
			least = far;
			found = i;
		}
	}
	return found;
}

/* The samples of a process's program: SWZ_INDEX_NONE if there are none. One
 * that was soon left by exec was hit by none. */
static uint32_t samples_of(const struct threads *t, size_t index)
{
	uint32_t found = next_to(t->samples, t->input->profiles[index], true);

	if (found == SWZ_INDEX_NONE ||
	    next_to(t->input, t->samples->profiles[found], false) != index)
		return SWZ_INDEX_NONE;
	return found;
}

/* A program knows how it was called. Who samples may have come too late. */
static void take_command(struct swz_profile *to, const struct swz_profile *from)
{
	if (!from->argument_count)
		return;
	to->arguments = swz_reallocate(to->arguments, from->argument_count,
				       sizeof(*to->arguments));
	memcpy(to->arguments, from->arguments,
	       from->argument_count * sizeof(*to->arguments));
	to->argument_count = from->argument_count;
}

/* Who samples has seen what a process published while it ran. */
static void take_labels(struct swz_profile *to, const struct swz_profile *from)
{
	for (size_t i = 0; i < from->label_count; i++) {
		size_t at = 0;

		while (at < to->label_count &&
		       strcmp(to->labels[2 * at], from->labels[2 * i]) != 0)
			at++;
		if (at == to->label_count)
			to->labels = swz_reallocate(to->labels,
						    2 * ++to->label_count,
						    sizeof(*to->labels));
		to->labels[2 * at] = from->labels[2 * i];
		to->labels[2 * at + 1] = from->labels[2 * i + 1];
	}
}

/* In ns since 1970. */
static uint64_t end_of(const struct swz_profile *profile)
{
	struct swz_extent extent = {0};

	swz_extent_add(&extent, profile);
	return extent.end_ns;
}

/* Samples begin with the program, and end with it also if it is killed. Counts
 * end with the last call that the file tells of then. */
static void take_extent(struct swz_profile *to, const struct swz_profile *from)
{
	struct swz_file_header *header = &to->header;
	uint64_t begin = header->start_realtime_ns, end = end_of(to), ticks;
	uint64_t other = from->header.start_realtime_ns;

	if (!begin || !other || begin > INT64_MAX || end_of(from) > INT64_MAX)
		return;
	if (other < begin) {
		begin = other;
		ticks = (uint64_t)swz_scale(
			(int64_t)(header->start_realtime_ns - begin),
			to->clock_ticks, to->clock_ns);
		if (ticks > header->start_ticks)
			return;
		header->start_ticks -= ticks;
		header->start_realtime_ns = begin;
	}
	if (end_of(from) > end)
		header->end_ticks = header->start_ticks +
				    (uint64_t)swz_scale(
					    (int64_t)(end_of(from) - begin),
					    to->clock_ticks, to->clock_ns);
	else if (!header->end_ticks && swz_profile_end_known(from))
		header->end_ticks = header->start_ticks +
				    swz_profile_duration_ticks(to);
}

/* The first with that number that is not yet taken: numbers come again. */
static const struct swz_profile_thread *take_thread(const struct threads *t,
						    uint32_t samples,
						    int32_t tid)
{
	const struct swz_profile *profile;

	if (samples == SWZ_INDEX_NONE)
		return NULL;
	profile = t->samples->profiles[samples];
	for (size_t i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].record.tid == tid &&
		    !t->taken[samples][i]) {
			t->taken[samples][i] = true;
			return &profile->threads[i];
		}
	return NULL;
}

/* If all samples of a thread, which are few, hit the profiler's code, nothing
 * is left of the processor time that they stand for. COUNTED are the times that
 * the thread has measured itself. */
static void know_processor(struct swz_thread_times *times,
			   struct swz_thread_times counted)
{
	int64_t ns = counted.processor_ns;

	if (!times->known || times->processor_ns || !counted.known)
		return;
	if (ns > times->waiting_ns)
		ns = times->waiting_ns;
	times->processor_ns = ns;
	times->waiting_ns -= ns;
}

/* A section like that of all; the process is OF. */
static void put_thread(const struct threads *t, struct swz_profile *of,
		       const struct swz_profile *profile,
		       const struct swz_profile_thread *thread,
		       const struct swz_thread_times *times,
		       struct swz_dump_result *own)
{
	struct swz_section section = *t->section;

	section.profile = profile;
	section.profiles = &of;
	section.profile_count = 1;
	section.thread = thread;
	section.thread_times = times;
	section.report = &own->report;
	section.contexts = &own->contexts;
	(void)swz_dump_write_section(t->target, &section, t->options);
}

/* COUNTED or SAMPLED, the thread in either, may be NULL. Who samples knows when
 * a thread ended, and its processor time. */
static void add_joined_thread(const struct threads *t,
			      const struct swz_profile *process,
			      struct swz_binding *counts,
			      const struct swz_profile_thread *counted,
			      struct swz_binding *samples,
			      const struct swz_profile_thread *sampled)
{
	const struct swz_binding *either = sampled ? samples : counts;
	struct swz_dump_result own, times;
	struct swz_thread_times of_thread;

	if (!either)
		return;
	begin_all(&own);
	begin_all(&times);
	own.report.without_times = true;
	if (counted)
		swz_dump_add_thread(&own, counts, counted, t->options);
	if (sampled)
		swz_dump_add_thread(&times, samples, sampled, t->options);
	(void)swz_join_times(&own.report, &own.contexts, &times.contexts, 1,
			     t->counting);
	of_thread = swz_thread_times(either->profile,
				     sampled ? sampled : counted);
	if (sampled && counted)
		know_processor(&of_thread,
			       swz_thread_times(counts->profile, counted));
	if (t->target) {
		own.report.samples = t->section->report->samples;
		put_thread(t, counts ? counts->profile : either->profile,
			   either->profile, sampled ? sampled : counted,
			   &of_thread, &own);
	} else {
		swz_groups_add(t->groups, process, either->profile,
			       sampled ? sampled : counted, &own.report);
		t->groups->threads[t->groups->thread_count - 1].times =
			of_thread;
	}
	swz_dump_free_result(&own);
	swz_dump_free_result(&times);
}

/* Adds threads that have not called what is hooked. */
static void add_sampled_threads(const struct threads *t,
				const struct swz_profile *process,
				uint32_t samples)
{
	struct swz_binding *binding = &t->samples->bindings[samples];
	const struct swz_profile *profile = binding->profile;

	for (size_t i = 0; i < profile->thread_count; i++)
		if (!t->taken[samples][i] &&
		    swz_dump_wants(t->options, &profile->threads[i]))
			add_joined_thread(t, process, NULL, NULL, binding,
					  &profile->threads[i]);
}

static void add_joined_process(const struct threads *t, size_t index,
			       bool *has_process)
{
	struct swz_binding *binding = &t->input->bindings[index];
	const struct swz_profile *profile = binding->profile;
	uint32_t samples = samples_of(t, index);
	const struct swz_profile *process =
		samples == SWZ_INDEX_NONE ? profile
					  : t->samples->profiles[samples];

	if (samples != SWZ_INDEX_NONE)
		take_command(t->samples->profiles[samples], profile);
	if (t->groups && !t->options->threads.count)
		swz_groups_add_process(t->groups, process);
	for (size_t i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		const struct swz_profile_thread *sampled = take_thread(
			t, samples, thread->record.tid);

		if (swz_dump_wants(t->options, thread))
			add_joined_thread(
				t, process, binding, thread,
				samples == SWZ_INDEX_NONE
					? NULL
					: &t->samples->bindings[samples],
				sampled);
	}
	if (samples == SWZ_INDEX_NONE)
		return;
	has_process[samples] = true;
	add_sampled_threads(t, process, samples);
}

static void add_threads(struct threads *t)
{
	const struct swz_dump_input *samples = t->samples;
	bool *has_process = swz_allocate(samples->count + 1,
					 sizeof(*has_process));
	uint32_t i;

	t->taken = swz_allocate(samples->count + 1, sizeof(*t->taken));
	for (i = 0; i < samples->count; i++)
		t->taken[i] = swz_allocate(samples->profiles[i]->thread_count +
						   1,
					   sizeof(**t->taken));
	for (i = 0; i < t->input->count; i++)
		add_joined_process(t, i, has_process);
	for (i = 0; i < samples->count; i++)
		if (!has_process[i])
			add_sampled_threads(t, samples->profiles[i], i);
	for (i = 0; i < samples->count; i++)
		free(t->taken[i]);
	free(t->taken);
	free(has_process);
}

static bool is_one_run(const struct swz_dump_input *input,
		       const struct swz_dump_input *samples)
{
	const struct swz_file_header *counts = &input->profiles[0]->header;
	const struct swz_file_header *times = &samples->profiles[0]->header;

	return counts->flags & times->flags & SWZ_FILE_MERGED ||
	       (times->root_pid == counts->root_pid &&
		times->root_start == counts->root_start);
}

/* The first process's start. Samples without threads are of no process that is
 * shown. */
static uint64_t find_start(const struct threads *t)
{
	struct swz_extent extent = {0};

	for (size_t i = 0; i < t->input->count; i++)
		swz_extent_add(&extent, t->input->profiles[i]);
	for (size_t i = 0; i < t->samples->count; i++)
		if (t->samples->profiles[i]->thread_count)
			swz_extent_add(&extent, t->samples->profiles[i]);
	return extent.start_ns;
}

static int write_report(struct threads *t, struct swz_catalog *catalog,
			const struct swz_section *section)
{
	const struct swz_dump_options *options = t->options;
	struct swz_dump_target target = {0};
	int status;

	if (options->get_names)
		return swz_dump_get_names(section->report, catalog, options);
	status = swz_dump_open_target(
		&target, options,
		swz_dump_output_path(options,
				     t->input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		if (options->format->needs & SWZ_NEEDS_JOINED_THREADS &&
		    is_one_run(t->input, t->samples)) {
			swz_counting_again(t->counting);
			t->target = &target;
			t->section = section;
			add_threads(t);
			t->target = NULL;
		}
		status = swz_dump_write_sum(&target, section, catalog, options);
	} else {
		free(target.path);
	}
	return status;
}

static bool needs_threads(const struct swz_dump_options *options)
{
	return options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	       options->columns_by != SWZ_BY_NOTHING;
}

/* Only for rows of threads and processes does it matter whose they are. */
static void group(struct threads *t, const struct swz_section *section)
{
	if (!needs_threads(t->options)) {
		swz_groups_add(
			t->groups, t->input->profiles[0], t->input->profiles[0],
			&t->input->profiles[0]->threads[0], section->report);
		return;
	}
	add_threads(t);
}

static int write_by(struct threads *t, const struct swz_section *section)
{
	const struct swz_dump_options *options = t->options;
	struct swz_groups groups = {.rows = options->by,
				    .columns = options->columns_by};
	struct swz_by_section by = {section, &groups};
	struct swz_output output;
	char *path = swz_dump_output_path(options,
					  t->input->profiles[0]->header.pid);
	int status;

	t->groups = &groups;
	group(t, section);
	swz_groups_end(&groups);
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		options->format->by(output.stream, &by, &options->table);
		status = swz_dump_end_output(&output, path, options);
	}
	t->groups = NULL;
	swz_groups_free(&groups);
	free(path);
	return status;
}

static int64_t period_of(const struct swz_dump_input *samples)
{
	const struct swz_file_header *header = &samples->profiles[0]->header;

	return header->sample_period_ns ? (int64_t)header->sample_period_ns
					: 1000000;
}

/* Nothing is known of the costs in another run. */
static struct swz_call_costs costs_of(const struct swz_dump_input *input,
				      const struct swz_dump_input *samples)
{
	const struct swz_file_header *times = &samples->profiles[0]->header;
	struct swz_call_costs none = {0};

	if (!is_one_run(input, samples))
		return none;
	return (struct swz_call_costs){times->plain_call, times->counted_call};
}

void swz_dump_join_begin(struct swz_dump_join *join)
{
	*join = (struct swz_dump_join){0};
	begin_all(&join->counts);
	begin_all(&join->times);
}

void swz_dump_join_end(struct swz_dump_join *join,
		       const struct swz_dump_input *input,
		       const struct swz_dump_input *samples)
{
	struct swz_report *counts = &join->counts.report;
	const struct swz_report *times = &join->times.report;

	if (counts->without_times && !join->counting)
		join->counting = swz_counting_find(counts,
						   &join->times.contexts,
						   costs_of(input, samples));
	join->joined = swz_join_times(counts, &join->counts.contexts,
				      &join->times.contexts, period_of(samples),
				      join->counting);
	counts->knows_waiting = counts->calls_by_edge && times->knows_waiting;
	counts->silent_threads = times->silent_threads;
}

void swz_dump_join_free(struct swz_dump_join *join)
{
	swz_counting_free(join->counting);
	swz_dump_free_result(&join->times);
}

struct swz_counting *swz_dump_take_counting(
	struct swz_dump_join *all, const struct swz_dump_input *input,
	const struct swz_dump_input *samples)
{
	struct swz_counting *counting = NULL;

	if (all->counts.report.without_times)
		counting = swz_counting_find(&all->counts.report,
					     &all->times.contexts,
					     costs_of(input, samples));
	swz_dump_free_result(&all->counts);
	swz_dump_join_free(all);
	return counting;
}

static struct swz_counting *find_counting(
	struct swz_dump_input *input, struct swz_dump_input *samples,
	const struct swz_dump_options *options)
{
	struct swz_dump_options of_all = *options;
	struct swz_dump_join all;

	of_all.threads.count = 0;
	of_all.view = (struct swz_view){.only = {0}};
	swz_dump_join_begin(&all);
	add_all(input, &all.counts, &of_all);
	add_all(samples, &all.times, &of_all);
	return swz_dump_take_counting(&all, input, samples);
}

static int write_joined(struct swz_dump_input *input,
			struct swz_dump_input *samples,
			struct swz_catalog *catalog,
			const struct swz_dump_options *options)
{
	struct threads t = {
		.input = input, .samples = samples, .options = options};
	struct swz_dump_join join;
	struct swz_section section;
	int status;

	swz_dump_join_begin(&join);
	join.counts.contexts.by_offset = options->table.offsets;
	join.times.contexts.by_offset = options->table.offsets;
	if (options->threads.count || !swz_view_is_whole(&options->view))
		join.counting = find_counting(input, samples, options);
	add_all(input, &join.counts, options);
	add_all(samples, &join.times, options);
	swz_dump_join_end(&join, input, samples);
	t.counting = join.counting;
	swz_dump_mark_uncounted(&join.counts.report, catalog, input, true);
	for (size_t i = 0; i < input->count; i++) {
		uint32_t sampled = samples_of(&t, i);

		if (sampled == SWZ_INDEX_NONE)
			continue;
		take_labels(input->profiles[i], samples->profiles[sampled]);
		if (is_one_run(input, samples))
			take_extent(input->profiles[i],
				    samples->profiles[sampled]);
	}
	if ((!(options->format->needs & SWZ_NEEDS_PLACES) &&
	     !options->table.offsets) ||
	    options->by != SWZ_BY_NOTHING)
		swz_contexts_forget_places(&join.counts.contexts);
	swz_dump_warn_result(&join.counts, options);
	swz_dump_resolve(catalog);
	swz_dump_count_merged_threads(&join.counts.report, input, options);
	section = swz_dump_new_section(input, 0, &join.counts, options);
	section.profile_count = input->count;
	section.joined = &join.joined;
	section.sampled = samples->profiles;
	section.sampled_count = samples->count;
	if (is_one_run(input, samples))
		section.started_ns = find_start(&t);
	section.compensated = false; /* nothing of these times was */
	if (options->by == SWZ_BY_NOTHING) {
		status = write_report(&t, catalog, &section);
	} else {
		swz_counting_again(t.counting);
		status = write_by(&t, &section);
	}
	swz_dump_free_result(&join.counts);
	swz_dump_join_free(&join);
	return status;
}

static int join(struct swz_dump_input *input, struct swz_dump_input *samples,
		const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	struct swz_catalog catalog;
	int status = EXIT_INPUT;

	swz_catalog_begin(&catalog, &catalog_options);
	swz_dump_bind(input, &catalog);
	swz_dump_bind(samples, &catalog);
	if (!is_of_one_program(input, samples)) {
		swz_dump_complain("%s and %s are of different programs, or of "
				  "different versions of one: nothing can be "
				  "joined",
				  samples->profiles[0]->name,
				  input->profiles[0]->name);
	} else if (swz_dump_has_named_threads(input, samples, options)) {
		if (!swz_view_is_whole(&options->view)) {
			swz_dump_name_all(input, options);
			swz_dump_name_all(samples, options);
		}
		status = write_joined(input, samples, &catalog, options);
		if (status == EXIT_OK)
			swz_dump_warn_filter(&catalog, options);
	}
	swz_catalog_free(&catalog);
	return status;
}

static bool has_samples(const struct swz_dump_input *input)
{
	return input->profiles[0]->header.flags & SWZ_FILE_SAMPLES;
}

int swz_dump_times(const struct swz_dump_options *options)
{
	struct swz_dump_input input = {0}, samples = {0};
	char *of_samples = options->times;
	int status = EXIT_INPUT;

	swz_dump_read_inputs(&samples, options, &of_samples, 1);
	swz_dump_read_inputs(&input, options, options->arguments,
			     options->argument_count);
	if (!samples.count || !input.count)
		; /* which was said */
	else if (!has_samples(&samples))
		swz_dump_complain("--times %s: this profile has no samples "
				  "(swizzle-run -m sample)",
				  samples.profiles[0]->name);
	else if (has_samples(&input))
		swz_dump_complain("%s: this profile has samples, and no calls "
				  "that --times could add",
				  input.profiles[0]->name);
	else
		status = join(&input, &samples, options);
	swz_dump_free_input(&input);
	swz_dump_free_input(&samples);
	return status;
}

int swz_dump_pair(struct swz_dump_input *input,
		  const struct swz_dump_options *options)
{
	struct swz_dump_input samples = {.profiles = input->samples,
					 .count = input->sample_count};
	int status;

	/* these own the profiles from now on */
	input->samples = NULL;
	input->sample_count = input->sample_capacity = 0;
	status = join(input, &samples, options);
	swz_dump_free_input(&samples);
	return status;
}
