/* Every format says the same about a section: whose it is, what its times are,
 * what was lost, which marks were set. */

#include "profile/formats/common/section.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"
#include "base/time_bucket.h"
#include "profile/costs/contexts.h"
#include "profile/costs/report.h"
#include "profile/costs/runs.h"
#include "profile/costs/trace.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/reader.h"
#include "profile/file/records.h"
#include "profile/names/catalog.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"

static void add(uint64_t *sum, uint64_t count)
{
	*sum = swz_add_count(*sum, count);
}

static void add_header(struct swz_losses *losses,
		       const struct swz_file_header *header)
{
	add(&losses->lost_calls, header->lost_calls);
	add(&losses->lost_marks, header->lost_marks);
	add(&losses->lost_values, header->lost_values);
	if (header->full)
		losses->full = header->full;
	losses->flags |= header->flags;
	losses->incomplete += swz_full_reason(header) != NULL;
	losses->overwritten += (header->flags & SWZ_FILE_RING) != 0;
	if (!(header->flags & SWZ_FILE_SAMPLES))
		return;
	add(&losses->samples, header->samples);
	add(&losses->lost_samples, header->lost_samples);
	add(&losses->missed_samples, header->missed_samples);
	add(&losses->cut_stacks, header->cut_stacks);
	add(&losses->cut_stacks, header->broken_stacks);
}

static void add_profile(struct swz_losses *losses,
			const struct swz_profile *profile)
{
	size_t i;

	add_header(losses, &profile->header);
	add(&losses->folded_calls, profile->folded_calls);
	losses->damaged += swz_profile_damaged(profile);
	losses->running += profile->written;
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_thread_record *record =
			&profile->threads[i].record;

		add(&losses->lost_events, record->untraced);
		losses->without_switches += profile->header.flags &
						    SWZ_FILE_SWITCHES &&
					    !record->switches_from;
	}
}

struct swz_losses swz_losses_find(const struct swz_section *section)
{
	struct swz_losses losses = {0};
	size_t i;

	for (i = 0; i < section->profile_count; i++)
		add_profile(&losses, section->profiles[i]);
	for (i = 0; i < section->sampled_count; i++)
		add_profile(&losses, section->sampled[i]);
	return losses;
}

static void put_line(FILE *stream, const char *prefix, const char *what,
		     uint64_t count)
{
	if (count)
		fprintf(stream, "%s%s: %" PRIu64 "\n", prefix, what, count);
}

void swz_put_loss_lines(FILE *stream, const struct swz_section *section,
			const char *prefix)
{
	struct swz_losses losses = swz_losses_find(section);

	if (section->report->samples || section->sampled_count)
		fprintf(stream,
			"%ssamples: %" PRIu64 ", lost %" PRIu64
			", missed %" PRIu64 ", of these stacks cut %" PRIu64
			"\n",
			prefix, losses.samples, losses.lost_samples,
			losses.missed_samples, losses.cut_stacks);
	put_line(stream, prefix, "lost calls", losses.lost_calls);
	put_line(stream, prefix, "calls in folded contexts",
		 losses.folded_calls);
	put_line(stream, prefix, "lost events", losses.lost_events);
	put_line(stream, prefix, "lost arguments and results",
		 losses.lost_values);
	put_line(stream, prefix, "lost marks and spans", losses.lost_marks);
	put_line(stream, prefix, "inconsistent contexts, left out",
		 section->report->dropped_nodes);
	put_line(stream, prefix, "damaged profiles", losses.damaged);
	put_line(stream, prefix, "incomplete profiles, which could not grow",
		 losses.incomplete);
	put_line(stream, prefix, "processes that still ran", losses.running);
}

const char *swz_loss_at(const struct swz_losses *losses, size_t index,
			uint64_t *count)
{
	const struct {
		const char *name;
		uint64_t count;
	} all[] = {
		{"lost_calls", losses->lost_calls},
		{"folded_calls", losses->folded_calls},
		{"lost_events", losses->lost_events},
		{"lost_values", losses->lost_values},
		{"lost_marks", losses->lost_marks},
		{"lost_samples", losses->lost_samples},
		{"missed_samples", losses->missed_samples},
		{"cut_stacks", losses->cut_stacks},
		{"damaged_profiles", losses->damaged},
		{"incomplete_profiles", losses->incomplete},
		{"running_processes", losses->running},
	};

	if (index >= sizeof(all) / sizeof(all[0]))
		return NULL;
	*count = all[index].count;
	return all[index].name;
}

void swz_put_loss_members(struct swz_json *json,
			  const struct swz_section *section)
{
	struct swz_losses losses = swz_losses_find(section);
	const char *name;
	uint64_t count;
	size_t i;

	for (i = 0; (name = swz_loss_at(&losses, i, &count)) != NULL; i++)
		swz_json_integer(json, name, count);
	swz_json_integer(json, "dropped_contexts",
			 section->report->dropped_nodes);
}

/* --- marks --------------------------------------------------------------- */

struct listing {
	FILE *stream;
	const char *prefix;
	size_t most;
	size_t count;
};

static bool is_shown_thread(const struct swz_section *section,
			    const struct swz_profile *profile,
			    const struct swz_profile_mark *mark)
{
	const struct swz_profile_thread *thread;

	if (section->thread)
		return mark->owner == section->thread->index;
	thread = swz_mark_thread(profile, mark);
	return !thread || !section->threads ||
	       swz_thread_is_chosen(section->threads, thread);
}

static bool is_in(const struct swz_section *section,
		  const struct swz_profile *profile,
		  const struct swz_profile_mark *mark)
{
	if (!swz_mark_is_of_process(mark) &&
	    !is_shown_thread(section, profile, mark))
		return false;
	return !section->range || (mark->ticks >= section->range->from &&
				   mark->ticks < section->range->to);
}

static void put_mark(struct listing *list, const struct swz_profile *profile,
		     const struct swz_profile_mark *mark)
{
	const struct swz_profile_thread *thread = swz_mark_thread(profile,
								  mark);
	int64_t ns = swz_events_ns(profile, mark->ticks);
	char *text;

	if (!list->count)
		fprintf(list->stream, "%smarks: seconds, thread, text\n",
			list->prefix);
	if (list->count++ >= list->most && list->most)
		return;
	text = swz_mark_text(mark);
	fprintf(list->stream, "%s%s%" PRId64 ".%09" PRId64 "  ", list->prefix,
		ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000000000,
		(ns < 0 ? -ns : ns) % 1000000000);
	if (swz_mark_is_of_process(mark))
		fputs("all", list->stream);
	else
		fprintf(list->stream, "%" PRId32,
			thread ? thread->record.tid : 0);
	fputs("  ", list->stream);
	swz_put_text(list->stream, text);
	putc('\n', list->stream);
	free(text);
}

static void put_end(const struct listing *list)
{
	if (list->most && list->count > list->most)
		fprintf(list->stream, "%s... %zu more: -f info\n", list->prefix,
			list->count - list->most);
}

void swz_put_marks(FILE *stream, const struct swz_section *section,
		   const char *prefix, size_t most)
{
	struct listing list = {stream, prefix, most, 0};
	size_t i, j;

	for (i = 0; i < section->profile_count; i++) {
		const struct swz_profile *profile = section->profiles[i];

		for (j = 0; j < profile->mark_count; j++)
			if (is_in(section, profile, &profile->marks[j]))
				put_mark(&list, profile, &profile->marks[j]);
	}
	put_end(&list);
}

void swz_put_marks_of(FILE *stream, const struct swz_profile *profile)
{
	struct listing list = {stream, "", 0, 0};
	size_t i;

	if (profile->mark_count)
		putc('\n', stream);
	for (i = 0; i < profile->mark_count; i++)
		put_mark(&list, profile, &profile->marks[i]);
	if (profile->header.lost_marks)
		fprintf(stream, "lost marks and spans: %" PRIu64 "\n",
			profile->header.lost_marks);
}

/* --- figures of joined runs ---------------------------------------------- */

bool swz_is_counted(const struct swz_report *report, uint32_t function)
{
	return function >= report->function_capacity ||
	       !report->functions[function].uncounted;
}

bool swz_is_counted_there(const struct swz_report *report, uint32_t function,
			  uint64_t calls)
{
	return swz_is_counted(report, function) &&
	       (calls || !report->calls_by_edge);
}

int64_t swz_bound_of(const struct swz_report *report, uint32_t function,
		     int64_t ns)
{
	struct swz_report_function costs = swz_report_function(report,
							       function);

	if (report->without_times)
		return SWZ_TIME_UNKNOWN;
	/* no call takes no time: the hooks' cost, all of what was measured, was
	 * taken from it */
	if (!ns && report->hook_ns > 0 && costs.calls &&
	    !costs.inclusive_waiting_ns)
		return (int64_t)ceil(report->hook_ns * (double)costs.calls);
	/* outside of all functions no sample can be */
	if (ns || function == SWZ_CATALOG_OUTSIDE)
		return 0;
	ns = (int64_t)ceil(sqrt(costs.variance_ns));
	return ns > report->bound_ns ? ns : report->bound_ns;
}

int64_t swz_plain_bound(const struct swz_report *report, uint32_t function,
			int64_t ns)
{
	return report->joined || report->without_times
		       ? swz_bound_of(report, function, ns)
		       : 0;
}

void swz_put_plain_count(FILE *stream, int width, uint64_t count, bool counted)
{
	if (counted)
		fprintf(stream, "%*" PRIu64, width, count);
	else
		fprintf(stream, "%*s", width, "-");
}

void swz_put_plain_least(FILE *stream, int width, int64_t ns)
{
	char least[32];

	snprintf(least, sizeof(least), ">=%" PRId64, ns);
	fprintf(stream, "%*s", width, least);
}

void swz_put_plain_time(FILE *stream, int width, int64_t ns, int64_t bound_ns)
{
	char figure[24];

	if (bound_ns < 0) {
		fprintf(stream, "%*s", width, "-");
		return;
	}
	snprintf(figure, sizeof(figure), "%s%" PRId64, bound_ns ? "<" : "",
		 bound_ns ? bound_ns : ns);
	fprintf(stream, "%*s", width, figure);
}

uint64_t swz_calls_of(const struct swz_report *report)
{
	uint64_t calls = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++)
		calls = swz_add_count(calls, report->functions[i].calls);
	return calls;
}

bool swz_is_one_run(const struct swz_section *section)
{
	const struct swz_file_header *counts = &section->profile->header;
	const struct swz_file_header *times;

	if (!section->sampled_count)
		return false;
	times = &section->sampled[0]->header;
	if (counts->flags & times->flags & SWZ_FILE_MERGED)
		return true; /* sums of such runs */
	return times->root_pid && times->root_pid == counts->root_pid &&
	       times->root_start == counts->root_start;
}

uint64_t swz_left_out_ns(const struct swz_section *section)
{
	uint64_t ns = (uint64_t)section->joined->left_out_ns;

	for (size_t i = 0; i < section->sampled_count; i++)
		ns = swz_add_count(ns,
				   section->sampled[i]->header.profiling_ns);
	return ns;
}

void swz_put_joined_note(FILE *stream, const struct swz_section *section)
{
	const struct swz_joined *joined = section->joined;
	uint64_t own_ns = swz_left_out_ns(section);

	fprintf(stream,
		swz_is_one_run(section)
			? "counts are exact, times by samples (%" PRIu64
			  " sample%s)"
			: "counts are of the recorded run, times of the "
			  "sampled one (%" PRIu64 " sample%s)",
		joined->samples, swz_s(joined->samples));
	if (own_ns)
		fprintf(stream, "; %.*f s of counting left out",
			own_ns < 100000000 ? 3 : 2, (double)own_ns / 1e9);
	if (joined->unsure_ns > section->report->total_ns / 50)
		fprintf(stream,
			", up to %.*f s of short calls may be more of it",
			joined->unsure_ns < 100000000 ? 3 : 2,
			(double)joined->unsure_ns / 1e9);
}

/* --- the heading --------------------------------------------------------- */

double swz_hook_cost_ns(const struct swz_profile *profile)
{
	double ticks = ((double)profile->header.cost_inside +
			(double)profile->header.cost_outside) /
		       1024.0;

	return ticks * (double)profile->clock_ns / (double)profile->clock_ticks;
}

void swz_put_command(FILE *stream, const struct swz_profile *profile)
{
	size_t i;

	if (!profile->argument_count)
		swz_put_text(stream, profile->executable);
	for (i = 0; i < profile->argument_count; i++) {
		if (i)
			putc(' ', stream);
		swz_put_text(stream, profile->arguments[i]);
	}
}

char *swz_command_text(const struct swz_profile *profile)
{
	char *command = NULL;
	size_t size;
	FILE *memory = swz_text_stream(&command, &size);

	swz_put_command(memory, profile);
	swz_text_stream_end(memory);
	return command;
}

/* Every format says the same about a section: whose it is, what its times are,
 * what was lost, which marks were set. */

const char *swz_module_name(const struct swz_section *section,
			    uint32_t function)
{
	return swz_catalog_module_name(section->catalog,
				       &section->catalog->functions[function]);
}

static void put_folded(FILE *stream, const struct swz_report *report)
{
	size_t split = swz_report_split(report);

	if (report->folded_recursion)
		fprintf(stream,
			"# folded recursion: %" PRIu64
			" calls are in a context further up\n",
			report->folded_recursion);
	if (split)
		fprintf(stream,
			"# incl of %zu function%s is more than the contexts "
			"below add up to, as calls were folded\n",
			split, split == 1 ? "" : "s");
}

static void put_times_note(FILE *stream, const struct swz_report *report)
{
	uint64_t calls = 0, timed = 0;
	size_t i;

	if (!report->has_times)
		return;
	for (i = 0; i < report->function_capacity; i++)
		if (report->functions[i].times.count) {
			calls = swz_add_count(calls,
					      report->functions[i].calls);
			timed = swz_add_count(timed,
					      report->functions[i].times.calls);
		}
	fprintf(stream,
		"# percentiles: of %" PRIu64 " of %" PRIu64
		" calls of their functions, those that have ended\n",
		timed, calls);
	if (report->lost_times)
		fprintf(stream,
			"# percentiles: %" PRIu64
			" calls are missing, there was no room "
			"(--max-memory)\n",
			report->lost_times);
}

static void put_not_shown(FILE *stream, const struct swz_report *report)
{
	if (report->not_shown)
		fprintf(stream, "# not shown: %" PRIu64 " %s%s\n",
			report->not_shown,
			report->samples ? "samples" : "calls",
			report->without_times ? ""
					      : ", whose time is their "
						"callers'");
}

/* The head's total where there is no time. */
static void put_total_calls(FILE *stream, const struct swz_report *report)
{
	fprintf(stream, "# %" PRIu64 " %s in %zu thread%s%s\n",
		swz_calls_of(report),
		report->first_calls ? "first calls" : "calls",
		report->thread_count, report->thread_count == 1 ? "" : "s",
		report->first_calls ? "; later ones are not counted (-m cover)"
				    : ", exact; no times (-m count)");
}

static void put_total(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;

	fprintf(stream, "# total %" PRId64 " ns in %zu thread%s",
		report->total_ns, report->thread_count,
		report->thread_count == 1 ? "" : "s");
	if (swz_time_kind(section) == SWZ_PROCESSOR_TIME)
		fputs(" of processor time", stream);
	else if (section->compensated)
		fprintf(stream, ", after %" PRId64 " ns of hooks",
			swz_report_cost(report));
	fputs("; times in ns\n", stream);
	if (!swz_tells_running(report))
		return;
	fputs("# ", stream);
	if (swz_running_ns(report) || !report->unknown_ns)
		fprintf(stream, "running %" PRId64 " ns, ",
			swz_running_ns(report));
	fprintf(stream, "waiting %" PRId64 " ns",
		swz_add(report->waiting_ns, report->unplaced_ns));
	if (report->unknown_ns)
		fprintf(stream, ", unknown %" PRId64 " ns", report->unknown_ns);
	putc('\n', stream);
}

/* Bounded times that columns of digits show as 0. */
static void put_bounded(FILE *stream, const struct swz_report *report)
{
	size_t count = 0;
	uint32_t i;

	if (report->joined || report->without_times)
		return;
	for (i = 0; i < report->function_capacity; i++)
		count += report->functions[i].present &&
			 !report->functions[i].self_ns &&
			 swz_bound_of(report, i, 0) > 0;
	if (count)
		fprintf(stream,
			"# 0 ns, in %zu function%s with calls: less than %.1f "
			"ns "
			"a call, which their hooks cost\n",
			count, count == 1 ? "" : "s", report->hook_ns);
}

void swz_put_heading(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;

	if (section->thread) {
		fprintf(stream, "# thread %" PRId32 " ",
			section->thread->record.tid);
		swz_put_text(stream, section->thread->name);
		fprintf(stream, " of process %" PRId32 ": ",
			section->profile->header.pid);
	} else {
		fprintf(stream, "# process %" PRId32 ": ",
			section->profile->header.pid);
	}
	swz_put_command(stream, section->profile);
	putc('\n', stream);
	if (section->profile_count > 1)
		fprintf(stream, "# %zu profiles merged\n",
			section->profile_count);
	if (report->without_times)
		put_total_calls(stream, report);
	else
		put_total(stream, section);
	if (report->joined) {
		fputs("# joined: ", stream);
		swz_put_joined_note(stream, section);
		fprintf(stream,
			"; <%" PRId64 ": no sample hit it; -: not counted\n",
			report->bound_ns);
	}
	if (swz_hooks_exceed(section))
		fputs("# hooks took more time than the program: times of short "
		      "functions are rough; true times: swizzle-run -m both\n",
		      stream);
	put_bounded(stream, report);
	put_not_shown(stream, report);
	put_times_note(stream, report);
	put_folded(stream, report);
	swz_put_loss_lines(stream, section, "# ");
}

bool swz_shows_waiting(const struct swz_report *report,
		       const struct swz_table_options *options)
{
	return report->knows_waiting &&
	       (report->records_waiting || options->sort == SWZ_SORT_WAITING);
}

void swz_put_waiting_note(FILE *stream, const struct swz_report *report,
			  bool columns)
{
	if (columns)
		fprintf(stream,
			"# self-wait, incl-wait: beside self and incl, time in "
			"%s\n",
			report->knows_switches ? "which the thread did not run"
					       : "calls that wait");
	if (report->unplaced_ns)
		fprintf(stream,
			"# %" PRId64 " ns of self are waiting: it is not known "
			"where\n",
			report->unplaced_ns);
	if (swz_tells_running(report) && report->unknown_ns)
		fprintf(stream,
			"# %" PRId64 " ns of self are running or waiting: it "
			"is not known which\n",
			report->unknown_ns);
	if (report->unseen_threads)
		fprintf(stream,
			"# waiting is not known of %" PRIu64 " of %zu threads: "
			"%s\n",
			report->unseen_threads, report->thread_count,
			SWZ_UNSEEN_SWITCHES);
	if (report->knows_waiting &&
	    report->silent_threads > report->unseen_threads)
		fprintf(stream,
			"# waiting is not known of %" PRIu64 " of %zu threads: "
			"nobody looked at them\n",
			report->silent_threads - report->unseen_threads,
			report->thread_count);
	if (report->missing_switches)
		fprintf(stream,
			"# that is too little: %" PRIu64
			" context switches or more are missing\n",
			report->missing_switches);
}

/* --- from first to last -------------------------------------------------- */

void swz_extent_add(struct swz_extent *extent,
		    const struct swz_profile *profile)
{
	uint64_t start = profile->header.start_realtime_ns;
	uint64_t end = swz_add_count(
		start,
		(uint64_t)swz_profile_ns(
			profile, (int64_t)swz_profile_duration_ticks(profile)));

	if (!extent->start_ns || start < extent->start_ns)
		extent->start_ns = start;
	if (end > extent->end_ns)
		extent->end_ns = end;
	extent->end_is_bound |= !swz_profile_end_known(profile);
}

void swz_extent_add_section(struct swz_extent *extent,
			    const struct swz_section *section)
{
	size_t i;

	for (i = 0; i < section->profile_count; i++)
		swz_extent_add(extent, section->profiles[i]);
}

/* --- rules of --slow ------------------------------------------------------ */

uint64_t swz_slow_percentile(const struct swz_slow_record *rule, uint64_t calls,
			     double share)
{
	uint64_t rank = (uint64_t)((double)calls * share), sum = 0;
	uint32_t i;

	for (i = 0; i < SWZ_SLOW_BUCKETS - 1; i++) {
		sum += rule->buckets[i];
		if (sum > rank)
			break;
	}
	return swz_bucket_start(i) + swz_bucket_width(i);
}

uint64_t swz_slow_calls(const struct swz_slow_record *rule)
{
	uint64_t calls = 0;
	uint32_t i;

	for (i = 0; i < SWZ_SLOW_BUCKETS; i++)
		calls = swz_add_count(calls, rule->buckets[i]);
	return calls;
}

void swz_put_slow_rule(FILE *stream, const struct swz_profile *profile,
		       size_t index, bool utf8)
{
	const struct swz_slow_record *rule = &profile->slow_rules[index];
	char all[SWZ_FIGURE_BYTES], slow[SWZ_FIGURE_BYTES];
	char time[SWZ_FIGURE_BYTES], p50[SWZ_FIGURE_BYTES];
	char p99[SWZ_FIGURE_BYTES];
	uint64_t calls = swz_slow_calls(rule);
	size_t kept = 0, i;

	for (i = 0; i < profile->kept_call_count; i++)
		kept += profile->kept_calls[i].rule == index &&
			profile->kept_calls[i].state == SWZ_CALL_SLOW;
	swz_put_text(stream, rule->pattern);
	if (rule->least_ticks)
		fprintf(stream, " slower than %s",
			swz_figure_time(
				time,
				swz_profile_ns(profile,
					       (int64_t)rule->least_ticks),
				utf8));
	if (rule->share)
		fprintf(stream, " (p%g)", rule->share / 1000.0);
	fprintf(stream, ": %s of %s calls, the %zu slowest are kept",
		swz_figure_count(slow, rule->slow),
		swz_figure_count(all, calls), kept);
	if (calls)
		fprintf(stream, "; half took up to %s, 99%% up to %s",
			swz_figure_time(
				p50,
				swz_profile_ns(profile,
					       (int64_t)swz_slow_percentile(
						       rule, calls, 0.5)),
				utf8),
			swz_figure_time(
				p99,
				swz_profile_ns(profile,
					       (int64_t)swz_slow_percentile(
						       rule, calls, 0.99)),
				utf8));
	if (rule->unwatched)
		fprintf(stream, "; %s more were not watched",
			swz_figure_count(all, rule->unwatched));
	if (rule->cut)
		fprintf(stream, "; of %s not all is there (--max-size)",
			swz_figure_count(all, rule->cut));
}
