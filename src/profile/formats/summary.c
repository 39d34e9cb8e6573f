/* The lines above a table for people: the command, how much was recorded, what
 * was lost. Of a directory all is added up. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_bound.h"
#include "profile/formats/cells.h"
#include "profile/formats/extent.h"
#include "profile/formats/joined_figures.h"
#include "profile/formats/losses.h"
#include "profile/formats/time_kind.h"
#include "profile/support/arith.h"
#include "profile/support/figures.h"
#include "profile/support/memory.h"

/* LABEL, the command, and how many there are besides, on one line. */
static void put_command(FILE *stream, const struct swz_style *style,
			const char *label, const struct swz_section *section)
{
	char more[SWZ_FIGURE_BYTES + 16] = "", figure[SWZ_FIGURE_BYTES];
	char *command = swz_command_text(section->profile);

	if (section->profile_count > 1)
		snprintf(more, sizeof(more), " and %s more",
			 swz_figure_count(figure, section->profile_count - 1));
	fputs(label, stream);
	swz_put_line(stream, style, command,
		     (unsigned int)(strlen(label) + strlen(more)));
	fprintf(stream, "%s\n", more);
	free(command);
}

static int64_t wall_ns(const struct swz_section *section)
{
	struct swz_extent extent = {0};
	uint64_t ns;

	swz_extent_add_section(&extent, section);
	ns = extent.end_ns - extent.start_ns;
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

static uint64_t calls_of(const struct swz_report *report)
{
	uint64_t calls = 0;
	size_t i;

	for (i = 0; i < report->function_capacity; i++)
		calls = swz_add_count(calls, report->functions[i].calls);
	return calls;
}

static void put_many(FILE *stream, uint64_t count, const char *what,
		     const char *plural)
{
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "%s %s", swz_figure_count(figure, count),
		count == 1 ? what : plural);
}

static int compare_pids(const void *left, const void *right)
{
	const int32_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

/* A process that executes another program has a profile for each. */
static void put_processes(FILE *stream, const struct swz_section *section)
{
	size_t count = section->profile_count, processes = 0, i;
	int32_t *pids = swz_allocate(count, sizeof(*pids));

	for (i = 0; i < count; i++)
		pids[i] = section->profiles[i]->header.pid;
	qsort(pids, count, sizeof(*pids), compare_pids);
	for (i = 0; i < count; i++)
		processes += !i || pids[i] != pids[i - 1];
	free(pids);
	if (processes != count) {
		put_many(stream, count, "profile", "profiles");
		fputs(" of ", stream);
	}
	put_many(stream, processes, "process", "processes");
}

/* A sum of profiles stands for all of them. */
static bool put_merged(FILE *stream, const struct swz_section *section)
{
	uint64_t profiles = 0, threads = 0;
	bool any = false;
	size_t i;

	if (section->thread || section->old)
		return false;
	for (i = 0; i < section->profile_count; i++) {
		const struct swz_profile *profile = section->profiles[i];
		bool merged = profile->header.flags & SWZ_FILE_MERGED;

		profiles = swz_add_count(
			profiles, merged ? profile->header.merged_profiles : 1);
		threads = swz_add_count(threads,
					merged ? profile->header.merged_threads
					       : profile->thread_count);
		any |= merged;
	}
	if (!any)
		return false;
	put_many(stream, profiles, "profile", "profiles");
	fputs(" merged, ", stream);
	put_many(stream, threads, "thread", "threads");
	fputs(", ", stream);
	return true;
}

/* What the total is of. */
static void put_kind_of_time(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	bool waiting = swz_time_kind(section) == SWZ_THREAD_TIME;

	if (report->joined) {
		fputs(", the processor time of the sampled run", stream);
		return;
	}
	if (!report->samples) {
		if (report->thread_count > 1)
			fputs(", the time of all threads", stream);
		return;
	}
	fprintf(stream, ", the %s%s", waiting ? "time" : "processor time",
		report->thread_count > 1 ? " of all threads" : "");
	if (waiting)
		fputs(", running or waiting", stream);
}

/* Who ran, and for how long. */
static void put_who(FILE *stream, const struct swz_style *style,
		    const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	bool several = section->runs && section->runs->count > 1;
	char figure[SWZ_FIGURE_BYTES];

	if (several)
		put_many(stream, section->runs->count, "run", "runs");
	else if (section->profile_count > 1)
		put_processes(stream, section);
	else
		fprintf(stream, "process %" PRId32,
			section->profile->header.pid);
	fputs(", ", stream);
	if (section->thread) {
		char *name = swz_printable(section->thread->name, style->utf8);

		fprintf(stream, "thread %" PRId32 " %s",
			section->thread->record.tid, name);
		free(name);
	} else {
		put_many(stream, report->thread_count, "thread", "threads");
	}
	if (section->thread_name) {
		char *name = swz_printable(section->thread_name, style->utf8);

		fprintf(stream, " called %s", name);
		free(name);
	}
	if (several)
		fputs(", of which these are the means, ", stream);
	else
		fprintf(stream, ", %s wall-clock time, ",
			swz_figure_time(figure, wall_ns(section), style->utf8));
}

static void put_amounts(FILE *stream, const struct swz_style *style,
			const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	char figure[SWZ_FIGURE_BYTES];

	if (!put_merged(stream, section))
		put_who(stream, style, section);
	put_many(stream, calls_of(report), report->samples ? "sample" : "call",
		 swz_counted(section));
	putc('\n', stream);
	fprintf(stream, "100%% is %s",
		swz_figure_time(figure, report->total_ns, style->utf8));
	put_kind_of_time(stream, section);
	if (section->compensated && report->raw_ns > report->total_ns)
		fprintf(stream, ", without %s that profiling cost",
			swz_figure_time(figure,
					report->raw_ns - report->total_ns,
					style->utf8));
	putc('\n', stream);
}

static void put_loss(FILE *stream, uint64_t count, const char *one,
		     const char *many, const char *what)
{
	char figure[SWZ_FIGURE_BYTES];

	if (count)
		fprintf(stream, "Note: %s %s %s.\n",
			swz_figure_count(figure, count),
			count == 1 ? one : many, what);
}

/* What had no room: WHAT is that, and OPTION bounds it. */
static void put_no_room(FILE *stream, const struct swz_losses *losses,
			uint64_t count, const char *one, const char *many,
			const char *what, const char *option)
{
	char *text = swz_print(
		"%s (%s)", what,
		swz_file_bound(losses->full, losses->flags, option));

	put_loss(stream, count, one, many, text);
	free(text);
}

/* What the figures of two runs mean. */
static void put_joined(FILE *stream, const struct swz_style *style,
		       const struct swz_section *section)
{
	char figure[SWZ_FIGURE_BYTES];

	fputs("Note: ", stream);
	swz_put_joined_note(stream, section);
	fprintf(stream, ".\nNote: <%s: no sample hit it. -: not counted.\n",
		swz_figure_time(figure, section->joined->bound_ns,
				style->utf8));
}

/* A line for each: none is there as a rule. */
static void put_losses(FILE *stream, const struct swz_style *style,
		       const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_losses losses = swz_losses_find(section);

	put_loss(stream, losses.lost_calls, "call was", "calls were",
		 "not recorded");
	put_loss(stream, losses.lost_samples, "sample was", "samples were",
		 "lost");
	put_loss(stream, losses.missed_samples, "sample was", "samples were",
		 "due and not taken");
	put_loss(stream, losses.cut_stacks, "stack was", "stacks were",
		 "cut: the outermost callers are missing");
	put_no_room(stream, &losses, losses.folded_calls, "call has",
		    "calls have", "no exact caller", "--max-memory");
	if (report->samples)
		put_loss(stream, report->not_shown,
			 "sample of a function that is not shown counts",
			 "samples of functions that are not shown count",
			 "at the caller");
	else
		put_loss(stream, report->not_shown, "call is", "calls are",
			 "not shown; the time is the caller's");
	put_loss(stream, report->folded_recursion, "recursive call is",
		 "recursive calls are",
		 "folded into earlier ones (--recursion)");
	put_loss(stream, swz_report_split(report), "function has",
		 "functions have",
		 "more inclusive time here than in trees, because of folding");
	put_no_room(stream, &losses, losses.lost_marks, "mark or span",
		    "marks and spans", "had no room in the profile",
		    "--max-memory");
	put_no_room(stream, &losses, losses.lost_values,
		    "call has its arguments or its result",
		    "times arguments or results have", "no room in the trace",
		    "--max-size");
	put_no_room(stream, &losses, losses.lost_events, "event", "events",
		    "had no room in the trace", "--max-size");
	if (report->knows_waiting)
		put_loss(stream, report->silent_threads, "thread was",
			 "threads were",
			 "recorded without --switches and --imports: what "
			 "waited in them is not known");
	put_loss(stream, report->missing_switches, "context switch is",
		 "context switches are", "missing: more was waiting");
	put_loss(stream, losses.without_switches, "thread has", "threads have",
		 "no context switches: the kernel refused (--switches)");
	put_loss(stream, losses.overwritten, "trace holds", "traces hold",
		 "the newest events only (--ring)");
	put_loss(stream, report->dropped_nodes, "inconsistent context was",
		 "inconsistent contexts were", "left out");
	put_loss(stream, losses.damaged, "profile is", "profiles are",
		 "damaged or cut off");
	put_loss(stream, losses.incomplete, "profile is", "profiles are",
		 "incomplete: the file could not grow");
	put_loss(stream, losses.running, "process", "processes",
		 losses.running == 1 ? "still runs" : "still run");
	if (section->joined)
		put_joined(stream, style, section);
	if (report->sampled)
		fputs("Note: sampled. Counts are exact, times are estimates; "
		      "+/- is their standard error.\n",
		      stream);
}

static void put_side(FILE *stream, const struct swz_style *style,
		     const char *label, const struct swz_section *section)
{
	put_command(stream, style, label, section);
	put_amounts(stream, style, section);
	put_losses(stream, style, section);
}

static void put_noise(FILE *stream, const struct swz_style *style,
		      const struct swz_section *section)
{
	struct swz_diff_counts counts = swz_diff_count(section);
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "%s functions slower",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_SLOWER]));
	fprintf(stream, ", %s faster",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_FASTER]));
	fprintf(stream, ", %s changed otherwise",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_OTHER]));
	fprintf(stream, ", %s within the noise%s\n",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_NOISE]),
		style->colour ? " (grey)" : "");
}

/* The answer: whether it has become slower. */
static void put_change(FILE *stream, const struct swz_style *style,
		       const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	int64_t old = total.costs.old.self_ns, new = total.costs.new.self_ns;
	uint64_t noise = total.noise.self_ns;
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "\nchange: %s",
		swz_figure_time_change(figure, old, new, style->utf8));
	fprintf(stream, " (%s)", swz_figure_percent_change(figure, old, new));
	if (!total.noise.known) {
		fputs("; noise unknown (--diff OLD... -- NEW... shows it)\n",
		      stream);
		return;
	}
	fprintf(stream, ", noise %s: %s\n",
		swz_figure_time(figure,
				noise < INT64_MAX ? (int64_t)noise : INT64_MAX,
				style->utf8),
		swz_diff_verdict(&total));
	put_noise(stream, style, section);
}

void swz_put_summary(FILE *stream, const struct swz_style *style,
		     const struct swz_section *section)
{
	if (section->old)
		put_side(stream, style, "old: ", section->old);
	put_side(stream, style, section->old ? "new: " : "", section);
	if (section->old)
		put_change(stream, style, section);
	putc('\n', stream);
}
