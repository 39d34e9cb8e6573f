/* Events are not kept: they go from the file to the writer as they are read. */

#include "tools/dump/events.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "profile/file/event_extent.h"
#include "profile/file/events.h"
#include "profile/flows/find.h"
#include "profile/support/memory.h"
#include "profile/support/progress.h"
#include "tools/dump/message.h"
#include "tools/dump/target.h"

/* More than this is said before it is written. */
#define MUCH_BYTES 1e9

bool swz_dump_writes_events(const struct swz_dump_input *input,
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

/* Of what the formats that have values show. */
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

void swz_dump_warn_untraced(const struct swz_dump_input *input,
			    const struct swz_dump_options *options)
{
	size_t i;

	if (options->quiet || !(swz_dump_has_range(options) ||
				swz_dump_writes_events(input, options) ||
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

/* Of the time that is asked for: by how much of the whole it is. */
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
		swz_dump_complain("%" PRIu64 " calls were left out by "
				  "only_show_if and depth (--config), and what "
				  "they called",
				  rules->left_out);
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
	swz_dump_complain("cannot write %s: %s", path, trace->failure);
	swz_output_discard(&output);
	return EXIT_INPUT;
}

/* --file-per-invocation */
static int write_folder(const struct swz_dump_options *options,
			const char *path, struct swz_trace *trace)
{
	struct swz_invocations written;

	if (mkdir(path, 0777) != 0 && errno != EEXIST)
		return swz_dump_write_failed(path);
	written = options->format->invocations(path, trace);
	swz_progress_end();
	if (trace->failure) {
		swz_dump_complain("cannot write %s", trace->failure);
		return EXIT_INPUT;
	}
	if (options->quiet)
		return EXIT_OK;
	swz_dump_complain("wrote an index and %" PRIu64 " files into %s",
			  written.files, path);
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

int swz_dump_write_events(const struct swz_dump_input *input,
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
		.view = &options->view,
		.calls = &options->calls,
		.rings = &options->rings,
	};
	struct swz_flows *flows = swz_flows_find(input->profiles, input->count);
	int32_t pid = input->profiles[0]->header.pid;
	int status;
	char *path;
	size_t i;

	/* (a depth is for -f calls to see to) */
	if (options->format->fewer_events)
		trace.choice.limits = options->limits;
	trace.choice.rules.rules = options->view.rules;
	if (swz_dump_has_range(options))
		trace.range = options->range;
	for (i = 0; i < input->count; i++)
		if (swz_profile_origin(input->profiles[i]) < trace.origin)
			trace.origin = swz_profile_origin(input->profiles[i]);
	trace.flows = flows;
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
		if (flows)
			tell_doubts(flows);
	}
	swz_flows_free(flows);
	swz_event_choice_free(&trace.choice);
	free(trace.failure);
	free(path);
	return status;
}
