#include "tools/dump/reports.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/printable.h"
#include "profile/costs/groups.h"
#include "profile/file/events.h"
#include "profile/file/ranks.h"
#include "profile/flows/flows.h"
#include "profile/formats/tables/table.h"
#include "tools/dump/input.h"
#include "util/memory.h"
#include "util/output.h"

/* --- events -------------------------------------------------------------- */

/* Events are not kept: they go from the file to the writer as they are read. */

/* Formats that show the events of traces. */

/* More than this is said before it is written. */
#define MUCH_BYTES 1e9

/* A format that has both shows a trace's events, unless something is asked for
 * that is about sums. */
static bool dump_writes_events(const struct swz_dump_input *input,
			       const struct swz_dump_options *options)
{
	return options->format->events &&
	       (!options->format->section ||
		(swz_dump_is_traced(input) &&
		 !(options->given & options->format->takes) &&
		 !options->thread_parts && !options->separate_threads));
}

/* Threads of a profile whose traces are not whole at one of their ends. */
struct untraced {
	size_t count;
	int32_t tid; /* of one of them */
	uint64_t events;
	uint64_t least, most; /* ticks: of the limits of what is there */
};

static void add_untraced(struct untraced *to,
			 const struct swz_profile_thread *thread,
			 uint64_t ticks)
{
	if (!to->count || ticks < to->least)
		to->least = ticks;
	if (!to->count || ticks > to->most)
		to->most = ticks;
	to->count++;
	to->tid = thread->record.tid;
	to->events += thread->record.untraced;
}

static void put_threads(char *text, size_t size,
			const struct untraced *untraced, const char *one,
			const char *several)
{
	if (untraced->count == 1)
		snprintf(text, size, "the trace of thread %" PRId32 " %s",
			 untraced->tid, one);
	else
		snprintf(text, size, "the traces of %zu threads %s",
			 untraced->count, several);
}

/* Warns of values that the formats show. */
static void warn_values(const struct swz_profile *profile,
			const struct swz_dump_options *options)
{
	if (profile->header.lost_values && options->format->events)
		swz_dump_complain("%s: %" PRIu64
				  " times arguments or results had no room "
				  "(--max-size)",
				  profile->name, profile->header.lost_values);
}

static void warn_profile(const struct swz_profile *profile,
			 const struct swz_dump_options *options)
{
	uint64_t from = swz_dump_has_range(options) ? options->range.from : 0;
	uint64_t to = swz_dump_has_range(options) ? options->range.to
						  : UINT64_MAX;
	struct untraced begins = {0}, ends = {0};
	char threads[64];
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		struct swz_event_extent extent;

		if (!swz_dump_wants(options, thread))
			continue;
		extent = swz_event_extent(profile, thread);
		if (extent.from > thread->record.start_ticks &&
		    extent.from > from && thread->record.start_ticks < to)
			add_untraced(&begins, thread, extent.from);
		if (extent.to < thread->last_ticks && extent.to < to &&
		    thread->last_ticks > from)
			add_untraced(&ends, thread, extent.to);
	}
	if (ends.count) {
		put_threads(threads, sizeof(threads), &ends, "was", "were");
		swz_dump_complain(
			"%s: %s full (--max-size) %s %.6f s: %" PRIu64
			" events are missing; the time after that is shown as "
			"%s",
			profile->name, threads, ends.count > 1 ? "from" : "at",
			(double)swz_events_ns(profile, ends.least) / 1e9,
			ends.events, SWZ_UNTRACED_NAME);
	}
	if (begins.count) {
		put_threads(threads, sizeof(threads), &begins, "begins",
			    "begin");
		swz_dump_complain(
			"%s: %s %s %.6f s, as the newest events were kept "
			"(--ring); the time before that is shown as %s",
			profile->name, threads, begins.count > 1 ? "by" : "at",
			(double)swz_events_ns(profile, begins.most) / 1e9,
			SWZ_UNTRACED_NAME);
	}
}

/* Says of which times of the threads that are asked for there are no events,
 * where that is of any importance for the output. */
static void dump_warn_untraced(const struct swz_dump_input *input,
			       const struct swz_dump_options *options)
{
	size_t i;

	if (options->quiet || !(swz_dump_has_range(options) ||
				dump_writes_events(input, options) ||
				options->format->needs & SWZ_NEEDS_UNITS))
		return;
	for (i = 0; i < input->count; i++)
		if (swz_profile_traced(input->profiles[i])) {
			warn_profile(input->profiles[i], options);
			warn_values(input->profiles[i], options);
		}
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

/* The share of the whole that the chosen time is. */
static double share_of_time(const struct swz_profile_thread *thread,
			    const struct swz_dump_options *options)
{
	uint64_t start = thread->record.start_ticks;
	uint64_t end = thread->last_ticks, from = start, to = end;

	if (!swz_dump_has_range(options) || end <= start)
		return 1;
	if (options->range.from > from)
		from = options->range.from;
	if (options->range.to < to)
		to = options->range.to;
	return to > from ? (double)(to - from) / (double)(end - start) : 0;
}

/* By the calls in the contexts; the ring and --max-size leave less. */
static double expected_events(const struct swz_dump_input *input,
			      const struct swz_dump_options *options)
{
	double events = 0;
	size_t i, j, k;
	uint32_t n;

	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++) {
			const struct swz_profile *profile = input->profiles[i];
			const struct swz_profile_thread *thread =
				&profile->threads[j];
			double calls = 0;

			if (!swz_dump_wants(options, thread))
				continue;
			for (k = 0; k < thread->span_count; k++)
				for (n = 0; n < thread->spans[k].count; n++)
					calls += (double)swz_profile_node(
							 profile,
							 thread->spans[k].unit +
								 n)
							 ->calls;
			calls -= (double)thread->record.short_calls;
			calls -= (double)thread->record.untraced / 2;
			events += 2 * (calls > 0 ? calls : 0) *
				  share_of_time(thread, options);
		}
	return events;
}

static void warn_size(const struct swz_dump_input *input,
		      const struct swz_dump_options *options)
{
	double events, bytes;

	if (options->quiet || !options->format->event_bytes)
		return;
	events = expected_events(input, options);
	bytes = events * options->format->event_bytes;
	if (bytes < MUCH_BYTES)
		return;
	swz_dump_complain(
		"the trace has about %.0f million events, %s%.1f GB as %s. "
		"--from, --to, --tid, --min-time, --max-depth and "
		"--sample-events make it less; -o FILE.zst compresses it",
		events / 1e6,
		swz_event_limits_any(&options->limits) ? "up to " : "",
		bytes / 1e9, options->format->name);
}

static void tell_left_out(const struct swz_event_choice *choice,
			  const struct swz_dump_options *options)
{
	if (!choice->left_out)
		return;
	if (choice->limits.min_ns > options->limits.min_ns)
		swz_dump_complain("%" PRIu64 " of %" PRIu64
				  " calls were left out, those shorter than "
				  "%" PRId64 " ns, as a page of more than "
				  "%zu calls is slow (-n). --from and --to "
				  "show all of a part of the time",
				  choice->left_out, choice->calls,
				  choice->limits.min_ns, options->calls.rows);
	else
		swz_dump_complain("%" PRIu64 " of %" PRIu64
				  " calls were left out (--min-time, "
				  "--max-depth, --sample-events)",
				  choice->left_out, choice->calls);
}

static void tell_undecided(const struct swz_call_rules *rules)
{
	if (rules->left_out)
		swz_dump_complain("%" PRIu64 " call%s left out by "
				  "only_show_if and depth (--config), and what "
				  "%s called",
				  rules->left_out,
				  rules->left_out == 1 ? " was" : "s were",
				  rules->left_out == 1 ? "it" : "they");
	if (rules->undecided)
		swz_dump_complain("%" PRIu64 " times only_show_if could not be "
				  "decided, as the value was not recorded: "
				  "these calls are shown",
				  rules->undecided);
}

static void tell_doubts(const struct swz_flows *flows)
{
	char *text = swz_flows_doubts(flows);

	if (text)
		swz_dump_complain("%s", text);
	free(text);
}

static int write_file(const struct swz_dump_options *options, const char *path,
		      struct swz_trace *trace)
{
	struct swz_output output;

	if (swz_dump_open_output(&output, path, options) != SWZ_OK)
		return swz_dump_write_failed(path);
	options->format->events(output.stream, trace);
	swz_progress_end();
	if (!trace->failure)
		return swz_dump_end_output(&output, path, options);
	/* (nothing is wrong with the output, but with what was asked for) */
	if (options->calls.why || options->format->of_code)
		swz_dump_complain("%s", trace->failure);
	else
		swz_dump_complain("cannot write %s: %s", path, trace->failure);
	swz_output_discard(&output);
	return EXIT_INPUT;
}

/* False: errno says why. A folder whose name the user has not given is the
 * user's own, and no symbolic link. */
static bool make_folder(const struct swz_dump_options *options,
			const char *path)
{
	struct stat info;

	if (mkdir(path, options->output ? 0777 : 0700) == 0)
		return true;
	if (errno != EEXIST || options->output)
		return errno == EEXIST;
	if (lstat(path, &info) != 0)
		return false;
	errno = !S_ISDIR(info.st_mode) ? ENOTDIR : EPERM;
	return S_ISDIR(info.st_mode) && info.st_uid == geteuid();
}

/* --file-per-invocation */
static int write_folder(const struct swz_dump_options *options,
			const char *path, struct swz_trace *trace)
{
	struct swz_invocations written;

	if (!make_folder(options, path))
		return swz_dump_write_failed(path);
	written = options->format->invocations(path, trace);
	swz_progress_end();
	if (trace->failure) {
		swz_dump_complain("cannot write %s", trace->failure);
		return EXIT_INPUT;
	}
	if (options->quiet)
		return EXIT_OK;
	swz_dump_complain("wrote an index and %" PRIu64 " file%s into %s",
			  written.files, swz_s(written.files), path);
	if (written.files < written.calls)
		swz_dump_complain("%" PRIu64 " of %" PRIu64
				  " calls are in the index alone: -n N writes "
				  "more files (0: all); --from and --to choose",
				  written.calls - written.files, written.calls);
	return EXIT_OK;
}

/* Where those of -o say, or of a name of its own. */
static char *folder_path(const struct swz_dump_options *options, int32_t pid)
{
	size_t length = options->output ? strlen(options->output) : 0;

	while (length > 1 && options->output[length - 1] == '/')
		length--;
	return length ? swz_print("%.*s", (int)length, options->output)
		      : swz_print("swizzle.%" PRId32 ".calls", pid);
}

/* The catalog is resolved. To be ended by end_trace(). */
static struct swz_trace begin_trace(const struct swz_dump_input *input,
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
		.flows = swz_flows_find(input->profiles, input->count),
		.view = &options->view,
		.calls = &options->calls,
		.rings = &options->rings,
		.assembly = &options->assembly,
	};
	size_t i;

	trace.choice.rules.rules = options->view.rules;
	if (swz_dump_has_range(options))
		trace.range = options->range;
	for (i = 0; i < input->count; i++)
		if (swz_profile_origin(input->profiles[i]) < trace.origin)
			trace.origin = swz_profile_origin(input->profiles[i]);
	return trace;
}

static void end_trace(struct swz_trace *trace)
{
	swz_flows_free((struct swz_flows *)(uintptr_t)trace->flows);
	swz_event_choice_free(&trace->choice);
	free(trace->failure);
}

/* Writes them; the catalog is resolved. Returns an exit status. */
static int dump_write_events(const struct swz_dump_input *input,
			     const struct swz_catalog *catalog,
			     const struct swz_dump_options *options)
{
	struct swz_trace trace = begin_trace(input, catalog, options);
	int32_t pid = input->profiles[0]->header.pid;
	int status;
	char *path;

	/* (a depth is for -f calls to see to) */
	if (options->format->fewer_events)
		trace.choice.limits = options->limits;
	if (options->format->takes & SWZ_TAKES_CALLS)
		trace.choice.limits.max_depth = 0;
	warn_size(input, options);
	/* (some formats read them twice) */
	swz_progress_stage(
		"writing events",
		event_bytes(input, options) *
			(options->format->reads_twice && !options->calls.apart
				 ? 2
				 : 1));
	if (options->calls.apart) {
		path = folder_path(options, pid);
		status = write_folder(options, path, &trace);
	} else {
		path = swz_dump_output_path(options, pid);
		status = write_file(options, path, &trace);
	}
	if (status == EXIT_OK && !options->quiet) {
		tell_left_out(&trace.choice, options);
		tell_undecided(&trace.choice.rules);
		if (trace.flows)
			tell_doubts(trace.flows);
	}
	end_trace(&trace);
	free(path);
	return status;
}

/* --- causes --------------------------------------------------------------- */

/* Adds a thread, whose contexts CAUSES gets instead of the result. */
static void add_to_causes(struct swz_causes *causes,
			  struct swz_dump_result *result, size_t process,
			  struct swz_binding *binding,
			  const struct swz_profile_thread *thread,
			  const struct swz_dump_options *options)
{
	struct swz_contexts shared = result->contexts;

	swz_contexts_begin(&result->contexts, SWZ_CATALOG_OUTSIDE,
			   shared.by_place);
	result->contexts.by_offset = shared.by_offset;
	result->contexts.by_unit = true;
	swz_dump_add_thread(result, binding, thread, options);
	swz_causes_add(causes, (uint32_t)process, thread->index,
		       binding->profile, &result->contexts);
	result->contexts = shared;
}

/* Gives the result the contexts of all threads; says what is not certain. */
static void place_causes(struct swz_causes *causes,
			 struct swz_dump_result *result,
			 const struct swz_flows *flows,
			 const struct swz_dump_options *options)
{
	swz_causes_place(causes, flows,
			 swz_dump_has_range(options) ? &options->range : NULL,
			 &result->contexts);
	swz_causes_free(causes);
	if (!options->quiet)
		tell_doubts(flows);
}

/* NULL, after a word about it: nothing says what was done for what. */
static struct swz_flows *find_causes(const struct swz_dump_input *input)
{
	struct swz_flows *flows = swz_flows_find(input->profiles, input->count);

	if (!flows)
		swz_dump_complain("%s: no flows were recorded, by which causes "
				  "are known: swizzle-run -m trace --flows",
				  input->profiles[0]->name);
	return flows;
}

/* --- sums by a key ------------------------------------------------------- */

/* Each thread has a report of its own, of which the parts are kept; the report
 * of all is their sum. */

/* Tables by another key than functions: --by. */

struct adding {
	struct swz_dump_result all; /* the contexts of all threads */
	struct swz_groups groups;
	struct swz_causes *causes; /* by cause; or NULL */
};

/* IN_SUM: the groups have its costs from elsewhere. */
static void add_thread(struct adding *adding, size_t process,
		       struct swz_binding *binding,
		       const struct swz_profile_thread *thread, bool in_sum,
		       const struct swz_dump_options *options)
{
	struct swz_report whole = adding->all.report, own = {0};

	own.without_edges = true;
	own.hits.wanted = adding->all.contexts.by_hit;
	adding->all.report = own;
	if (adding->causes)
		add_to_causes(adding->causes, &adding->all, process, binding,
			      thread, options);
	else
		swz_dump_add_thread(&adding->all, binding, thread, options);
	if (!in_sum)
		swz_groups_add(&adding->groups, binding->profile,
			       binding->profile, thread, &adding->all.report);
	own = adding->all.report;
	adding->all.report = whole;
	swz_report_merge(&adding->all.report, &own);
	swz_report_free(&own);
}

/* A sum of profiles, of which the ranks are wanted. */
static void add_sum(struct adding *adding, struct swz_binding *binding,
		    const struct swz_dump_options *options)
{
	const struct swz_profile *profile = binding->profile;
	bool *wanted = swz_allocate(profile->thread_count + 1, sizeof(*wanted));
	size_t i;

	for (i = 0; i < profile->thread_count; i++) {
		wanted[i] = swz_profile_thread_has_rank(profile, i) &&
			    swz_dump_wants(options, &profile->threads[i]);
		if (wanted[i])
			add_thread(adding, 0, binding, &profile->threads[i],
				   true, options);
	}
	swz_groups_add_sum(&adding->groups, binding, wanted,
			   !options->threads.count);
}

static void add_all(struct adding *adding, struct swz_dump_input *input,
		    const struct swz_dump_options *options)
{
	size_t i, j;

	for (i = 0; i < input->count; i++) {
		struct swz_profile *profile = input->profiles[i];

		if (options->columns_by == SWZ_BY_RANK && profile->ranks) {
			add_sum(adding, &input->bindings[i], options);
			continue;
		}
		if (options->columns_by == SWZ_BY_RANK &&
		    swz_profile_rank(profile) == SWZ_INDEX_NONE)
			continue;
		if (!options->threads.count)
			swz_groups_add_process(&adding->groups, profile);
		for (j = 0; j < profile->thread_count; j++)
			if (swz_dump_wants(options, &profile->threads[j]))
				add_thread(adding, i, &input->bindings[i],
					   &profile->threads[j], false,
					   options);
	}
	swz_groups_end(&adding->groups);
}

static void write_by(FILE *stream, const struct swz_by_section *by,
		     const struct swz_dump_options *options)
{
	options->format->by(stream, by, &options->table);
}

/* Other tables have no names of functions. */
static void advise(const struct swz_report *report, struct swz_catalog *catalog,
		   const struct swz_dump_options *options)
{
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);

	swz_dump_advice_add(&advice, report);
	swz_dump_advice_find(&advice, catalog, options, NULL);
	swz_dump_advice_say(&advice);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
}

/* Trees of a sum do not tell its ranks apart; so what moves times from one
 * function to another is not known of a rank. */
static bool can_view_ranks(struct swz_profile *profile,
			   const struct swz_dump_options *options)
{
	if (!swz_profile_ranks_are_whole(profile)) {
		swz_dump_complain("%s: damaged; its times by rank cannot be "
				  "read. Merge its profiles again",
				  profile->name);
		return false;
	}
	if (!profile->ranks || swz_view_is_whole(&options->view))
		return true;
	swz_dump_complain(
		"%s: a sum (--merge-into) has the times of ranks by "
		"function alone, so -N, -H, -C, --script and rules that "
		"hide cannot be applied. Name the profiles that it is "
		"of",
		profile->name);
	return false;
}

/* Launchers, for instance, have none. */
static bool check_ranks(const struct swz_dump_input *input,
			const struct swz_dump_options *options)
{
	uint64_t all = 0, with = 0;
	size_t i;

	for (i = 0; i < input->count; i++) {
		struct swz_profile *profile = input->profiles[i];
		bool merged = profile->header.flags & SWZ_FILE_MERGED;

		if (!can_view_ranks(profile, options))
			return false;
		all = swz_add_count(
			all, merged ? profile->header.merged_profiles : 1);
		with = swz_add_count(with,
				     swz_profile_ranked_processes(profile));
	}
	if (!with)
		swz_dump_complain(
			"no process here has a rank. It is what "
			"OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or "
			"SLURM_PROCID says when the process starts: mpirun "
			"swizzle-run -o DIR/ PROGRAM");
	else if (with < all && !options->quiet)
		swz_dump_complain(
			"%" PRIu64 " %s no rank and %s left out", all - with,
			all - with == 1 ? "process has" : "processes have",
			all - with == 1 ? "is" : "are");
	return with != 0;
}

/* Samples say which lines they hit; calls only which functions there are. */
static bool lines_of_samples(const struct swz_dump_input *input,
			     const struct swz_dump_options *options)
{
	return (options->by == SWZ_BY_FILE || options->by == SWZ_BY_LINE) &&
	       input->profiles[0]->header.flags & SWZ_FILE_SAMPLES;
}

/* Returns an exit status. */
static int dump_by(struct swz_dump_input *input, struct swz_catalog *catalog,
		   const struct swz_dump_options *options)
{
	struct adding adding = {
		.groups = {.rows = options->by,
			   .columns = options->columns_by,
			   .imbalance = options->imbalance,
			   .without_cells = options->imbalance &&
					    !(options->format->needs &
					      SWZ_NEEDS_CELLS)}};
	struct swz_output output;
	struct swz_section section;
	struct swz_by_section by = {&section, &adding.groups};
	struct swz_flows *flows = NULL;
	char *path;
	int status;

	if (options->causes) {
		flows = find_causes(input);
		if (!flows)
			return EXIT_INPUT;
		adding.causes = swz_causes_begin();
	}
	if (options->columns_by == SWZ_BY_RANK && !check_ranks(input, options))
		return EXIT_FAILURE;
	path = swz_dump_output_path(options, input->profiles[0]->header.pid);

	swz_dump_begin_adding(input, options, NULL);
	adding.all.has_contexts = true;
	swz_contexts_begin(&adding.all.contexts, SWZ_CATALOG_OUTSIDE,
			   lines_of_samples(input, options));
	adding.all.contexts.by_hit = adding.all.contexts.by_place;
	add_all(&adding, input, options);
	if (flows)
		place_causes(adding.causes, &adding.all, flows, options);
	swz_flows_free(flows);
	swz_dump_warn_result(&adding.all, options);
	swz_dump_end_result(&adding.all);
	swz_dump_resolve(catalog);
	swz_dump_count_merged_threads(&adding.all.report, input, options);
	section = swz_dump_new_section(input, 0, &adding.all, options);
	section.profile_count = input->count;
	if (swz_dump_open_output(&output, path, options) != SWZ_OK) {
		status = swz_dump_write_failed(path);
	} else {
		write_by(output.stream, &by, options);
		status = swz_dump_end_output(&output, path, options);
		if (status == EXIT_OK && options->by == SWZ_BY_FUNCTION)
			advise(&adding.all.report, catalog, options);
	}
	swz_dump_free_result(&adding.all);
	swz_groups_free(&adding.groups);
	free(path);
	return status;
}

/* --- reports ------------------------------------------------------------- */

/* The threads are added to reports (one for all, or one per thread), and each
 * report is handed to the writer of the format. */

static void merge_thread(struct swz_dump_result *result,
			 struct swz_causes *causes,
			 const struct swz_dump_input *input, size_t process,
			 size_t index, const struct swz_dump_options *options)
{
	struct swz_binding *binding = &input->bindings[process];
	const struct swz_profile_thread *thread =
		&input->profiles[process]->threads[index];

	if (!swz_dump_wants(options, thread))
		return;
	if (causes)
		add_to_causes(causes, result, process, binding, thread,
			      options);
	else
		swz_dump_add_thread(result, binding, thread, options);
}

int swz_dump_write_sum(struct swz_dump_target *target,
		       const struct swz_section *section,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options)
{
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);
	int status;

	(void)swz_dump_write_section(target, section, options);
	swz_gates_look(section, options);
	swz_dump_advice_add(&advice, section->report);
	swz_dump_advice_find(&advice, catalog, options, &target->writer);
	status = swz_dump_close_target(target, options);
	if (status == EXIT_OK)
		swz_dump_advice_say(&advice);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
	return status;
}

static int dump_merged(struct swz_dump_input *input,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options)
{
	struct swz_dump_target target = {0};
	struct swz_dump_result result = {0};
	struct swz_causes *causes = NULL;
	struct swz_flows *flows = NULL;
	struct swz_section section;
	int status;
	size_t i, j;

	if (options->causes) {
		flows = find_causes(input);
		if (!flows)
			return EXIT_INPUT;
		causes = swz_causes_begin();
	}
	swz_dump_begin_adding(input, options, NULL);
	swz_dump_begin_result(&result, options);
	for (i = 0; i < input->count; i++)
		for (j = 0; j < input->profiles[i]->thread_count; j++)
			merge_thread(&result, causes, input, i, j, options);
	if (causes)
		place_causes(causes, &result, flows, options);
	swz_flows_free(flows);
	swz_dump_warn_result(&result, options);
	swz_dump_end_result(&result);
	swz_dump_resolve(catalog);
	if (options->get_names) {
		status = swz_dump_get_names(&result.report, catalog, options);
		swz_dump_free_result(&result);
		return status;
	}
	swz_dump_count_merged_threads(&result.report, input, options);
	section = swz_dump_new_section(input, 0, &result, options);
	section.profile_count = input->count;
	status = swz_dump_open_target(
		&target, options,
		swz_dump_output_path(options, input->profiles[0]->header.pid));
	if (status == EXIT_OK) {
		status = swz_dump_write_sum(&target, &section, catalog,
					    options);
	} else {
		free(target.path);
	}
	swz_dump_free_result(&result);
	return status;
}

/* How many threads come before this profile's: of the same pid, or of any. */
static unsigned int threads_before(const struct swz_dump_input *input,
				   size_t index, bool any)
{
	unsigned int count = 0;
	size_t i;

	for (i = 0; i < index; i++)
		if (any || input->profiles[i]->header.pid ==
				   input->profiles[index]->header.pid)
			count += (unsigned int)input->profiles[i]->thread_count;
	return count;
}

/* A file of one thread has the advice that is about it. */
static int close_file_of(struct swz_dump_target *to,
			 const struct swz_dump_result *result,
			 struct swz_catalog *catalog,
			 struct swz_debug_packages *packages,
			 const struct swz_dump_options *options)
{
	struct swz_dump_advice advice = swz_dump_advice_begin(packages);
	int status;

	swz_dump_advice_add(&advice, &result->report);
	swz_dump_advice_find(&advice, catalog, options, &to->writer);
	status = swz_dump_close_target(to, options);
	swz_dump_advice_free(&advice);
	return status;
}

static int dump_thread(struct swz_dump_input *input, size_t index,
		       size_t thread_index, struct swz_dump_target *to,
		       struct swz_dump_advice *advice,
		       const struct swz_dump_options *options)
{
	const struct swz_profile *profile = input->profiles[index];
	struct swz_binding *binding = &input->bindings[index];
	struct swz_dump_result result = {0};
	struct swz_section section = swz_dump_new_section(input, index, &result,
							  options);
	int status;

	section.thread = &profile->threads[thread_index];
	section.thread_number = threads_before(input, index, false) +
				(unsigned int)thread_index + 1;
	/* a name that was given has no pid in it */
	status = swz_dump_begin_part(
		to, options, profile->header.pid,
		options->output ? threads_before(input, index, true) +
					  (unsigned int)thread_index + 1
				: section.thread_number);
	if (status != EXIT_OK)
		return status;
	section.part = (unsigned int)to->writer.sections + 1;
	swz_dump_begin_adding(input, options, section.thread);
	swz_dump_begin_result(&result, options);
	swz_dump_add_thread(&result, binding, section.thread, options);
	swz_dump_warn_result(&result, options);
	swz_dump_end_result(&result);
	swz_dump_resolve(binding->catalog);
	section.contexts = result.has_contexts ? &result.contexts : NULL;
	status = swz_dump_write_section(to, &section, options);
	swz_gates_look(&section, options);
	swz_dump_advice_add(advice, &result.report);
	if (options->separate_threads && status == EXIT_OK)
		status = close_file_of(to, &result, binding->catalog,
				       advice->packages, options);
	swz_dump_free_result(&result);
	return status;
}

static bool has_slow_calls(const struct swz_dump_input *input)
{
	size_t i;

	for (i = 0; i < input->count; i++)
		if (input->profiles[i]->slow_rule_count)
			return true;
	return false;
}

/* The end of what has all threads, which may be about calls of several. */
static int close_threads(struct swz_dump_target *to,
			 const struct swz_dump_input *input,
			 const struct swz_catalog *catalog,
			 const struct swz_dump_options *options)
{
	struct swz_trace trace;
	int status;

	if (!to->path || !has_slow_calls(input))
		return swz_dump_close_target(to, options);
	trace = begin_trace(input, catalog, options);
	to->writer.trace = &trace;
	status = swz_dump_close_target(to, options);
	end_trace(&trace);
	return status;
}

static int dump_threads(struct swz_dump_input *input,
			struct swz_catalog *catalog,
			const struct swz_dump_options *options)
{
	struct swz_dump_target to = {0};
	struct swz_debug_packages packages = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&packages);
	int status = EXIT_OK, last;
	size_t i, j;

	/* no thread was recorded: a file without parts */
	if (!swz_dump_has_thread(input, options) && !options->separate_threads)
		status = swz_dump_begin_part(&to, options,
					     input->profiles[0]->header.pid, 1);
	for (i = 0; i < input->count && status == EXIT_OK; i++)
		for (j = 0;
		     j < input->profiles[i]->thread_count && status == EXIT_OK;
		     j++)
			if (swz_dump_wants(options,
					   &input->profiles[i]->threads[j]))
				status = dump_thread(input, i, j, &to, &advice,
						     options);
	swz_dump_advice_find(&advice, catalog, options, &to.writer);
	last = close_threads(&to, input, catalog, options);
	status = status != EXIT_OK ? status : last;
	if (status == EXIT_OK)
		swz_dump_advice_say(&advice);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&packages);
	return status;
}

static bool writes_threads(const struct swz_dump_options *options)
{
	return options->thread_parts || options->separate_threads ||
	       options->format->needs & SWZ_NEEDS_THREADS;
}

int swz_dump_reports(struct swz_dump_input *input,
		     const struct swz_dump_options *options)
{
	struct swz_catalog_options catalog_options = swz_dump_catalog_options(
		options);
	struct swz_catalog catalog;
	int status = swz_dump_check_counts(input, options);
	size_t i;

	if (status != EXIT_OK)
		return status;
	swz_catalog_begin(&catalog, &catalog_options);
	input->bindings = swz_allocate(input->count, sizeof(*input->bindings));
	for (i = 0; i < input->count; i++)
		swz_catalog_bind(&input->bindings[i], &catalog,
				 input->profiles[i]);
	if (options->format->functions) {
		status = swz_dump_coverage(input, &catalog, options);
		swz_catalog_free(&catalog);
		return status;
	}
	if (!swz_view_is_whole(&options->view) ||
	    dump_writes_events(input, options) || writes_threads(options))
		swz_dump_name_all(input, options);
	if (options->by != SWZ_BY_NOTHING)
		status = dump_by(input, &catalog, options);
	else if (options->calls.of.count &&
		 !swz_dump_has_functions(
			 &catalog, options->calls.why ? "--why" : "--calls-of",
			 &options->calls.of))
		status = EXIT_INPUT;
	else if (dump_writes_events(input, options))
		status = dump_write_events(input, &catalog, options);
	else if (writes_threads(options))
		status = dump_threads(input, &catalog, options);
	else
		status = dump_merged(input, &catalog, options);
	if (status == EXIT_OK) {
		dump_warn_untraced(input, options);
		swz_dump_warn_filter(&catalog, options);
	}
	swz_catalog_free(&catalog);
	return status;
}
