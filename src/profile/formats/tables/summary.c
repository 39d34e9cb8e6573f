/* The lines above a table for people: the command, how much was recorded, what
 * was lost. Of a directory all is added up. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"

enum { LONGEST_COMMAND = 60 }; /* that is repeated in a line */

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

static void put_wall_time(FILE *stream, const struct swz_style *style,
			  const struct swz_section *section)
{
	struct swz_extent extent = {0};
	char figure[SWZ_FIGURE_BYTES];
	uint64_t ns;

	swz_extent_add_section(&extent, section);
	ns = extent.end_ns - extent.start_ns;
	fprintf(stream, ", %s%s wall-clock time, ",
		extent.end_is_bound ? ">= " : "",
		swz_figure_time(figure,
				ns > INT64_MAX ? INT64_MAX : (int64_t)ns,
				style->utf8));
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

/* Says what the total is of. */
static void put_kind_of_time(FILE *stream, const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	const char *of = report->thread_count > 1 ? " of all threads" : "";

	if (report->joined) {
		fputs(swz_is_one_run(section)
			      ? ", processor time by samples"
			      : ", the processor time of the sampled run",
		      stream);
		return;
	}
	switch (swz_time_kind(section)) {
	case SWZ_PROCESSOR_TIME:
		fprintf(stream, ", the processor time%s", of);
		break;
	case SWZ_RUNNING_TIME:
		fputs(report->unknown_ns > report->total_ns / 100
			      ? ", running or unknown"
			      : ", running",
		      stream);
		break;
	case SWZ_WALL_TIME:
		if (*of)
			fprintf(stream, ", the time%s", of);
	}
}

/* "3.26 s in 4 threads: 1.02 s running, 2.24 s waiting". */
/* A function that no sample hit has run for less than one stands for. */
__attribute__((format(printf, 2, 0))) static void put_total(
	FILE *stream, const char *format, int64_t ns,
	const struct swz_style *style, const struct swz_report *report)
{
	bool below = !ns && report->joined && report->bound_ns;
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, format, below ? "less than " : "",
		swz_figure_time(figure, below ? report->bound_ns : ns,
				style->utf8));
}

static void put_running_and_waiting(FILE *stream, const struct swz_style *style,
				    const struct swz_report *report)
{
	int64_t waiting = swz_add(report->waiting_ns, report->unplaced_ns);
	int64_t running = swz_running_ns(report);
	char figure[SWZ_FIGURE_BYTES];

	if (!swz_tells_running(report))
		return;
	fprintf(stream, "%s in ",
		swz_figure_time(figure,
				swz_add(report->total_ns, report->waiting_ns),
				style->utf8));
	put_many(stream, report->thread_count, "thread", "threads");
	fputs(": ", stream);
	if (running || !report->unknown_ns)
		put_total(stream, "%s%s running, ", running, style, report);
	fprintf(stream, "%s waiting",
		swz_figure_time(figure, waiting, style->utf8));
	if (report->unknown_ns)
		fprintf(stream, ", %s unknown",
			swz_figure_time(figure, report->unknown_ns,
					style->utf8));
	putc('\n', stream);
}

/* Who ran, and for how long. */
static void put_who(FILE *stream, const struct swz_style *style,
		    const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	bool several = section->runs && section->runs->count > 1;

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
		put_wall_time(stream, style, section);
}

static void put_amounts(FILE *stream, const struct swz_style *style,
			const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	char figure[SWZ_FIGURE_BYTES];

	if (!put_merged(stream, section))
		put_who(stream, style, section);
	if (report->first_calls) {
		put_many(stream, swz_calls_of(report), "first call",
			 "first calls");
		fputs("; later ones are not counted (-m cover)\n", stream);
		return;
	}
	put_many(stream, swz_calls_of(report),
		 report->samples ? "sample" : "call", swz_counted(section));
	if (report->without_times) {
		fputs(", exact; no times (-m count)\n", stream);
		return;
	}
	putc('\n', stream);
	put_running_and_waiting(stream, style, report);
	put_total(stream, "100%% is %s%s", report->total_ns, style, report);
	put_kind_of_time(stream, section);
	if (section->compensated && swz_report_cost(report))
		fprintf(stream, ", without %s that profiling cost",
			swz_figure_time(figure, swz_report_cost(report),
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

/* Nobody knows where these samples would have hit. */
static void put_missed(FILE *stream, uint64_t taken, uint64_t missed)
{
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "Note: %s of ", swz_figure_count(figure, missed));
	fprintf(stream,
		"%s samples that were due were not taken: shares may be wrong "
		"by %.0f%%.\n",
		swz_figure_count(figure, swz_add_count(taken, missed)),
		100 * (double)missed / ((double)taken + (double)missed));
}

/* Says that WHAT had no room, which OPTION bounds. */
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

/* Says what the figures of two runs mean. */
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

#define FEW_SAMPLES 100u

static void put_few_samples(FILE *stream, const struct swz_section *section)
{
	uint64_t samples = section->joined ? section->joined->samples
			   : section->report->samples
				   ? swz_calls_of(section->report)
				   : FEW_SAMPLES;

	if (samples < FEW_SAMPLES)
		fprintf(stream,
			"Note: %" PRIu64 " %s few: times are rough. A "
			"higher rate (-r 5000) or a longer run has more.\n",
			samples, samples == 1 ? "sample is" : "samples are");
}

/* Says what to do about times that hooks have made rough. */
static void put_rough(FILE *stream, const struct swz_style *style,
		      const struct swz_section *section)
{
	const char *what = "Note: hooks took more time than the program: %s "
			   "times are rough. True times: swizzle-run -m both ";
	char *command = swz_command_text(section->profile);

	fprintf(stream, what, style->utf8 ? "\u2248" : "~");
	fprintf(stream, "%s\n",
		strlen(command) <= LONGEST_COMMAND ? command : "PROGRAM");
	free(command);
}

static void put_slow_rules(FILE *stream, const struct swz_section *section,
			   const struct swz_style *style)
{
	const struct swz_profile *profile = section->profile;
	size_t i;

	for (i = 0; i < profile->slow_rule_count; i++) {
		fputs("Slow: ", stream);
		swz_put_slow_rule(stream, profile, i, style->utf8);
		fputs(". Why: swizzle-dump --why '", stream);
		swz_put_text(stream, profile->slow_rules[i].pattern);
		fputs("'\n", stream);
	}
}

/* A line for each: none is there as a rule. */
static void put_losses(FILE *stream, const struct swz_style *style,
		       const struct swz_section *section)
{
	const struct swz_report *report = section->report;
	struct swz_losses losses = swz_losses_find(section);
	char figure[SWZ_FIGURE_BYTES];

	if (swz_hooks_exceed(section))
		put_rough(stream, style, section);
	put_loss(stream, losses.lost_calls, "call was", "calls were",
		 "not recorded");
	put_loss(stream, losses.lost_samples, "sample was", "samples were",
		 "lost");
	if (swz_missed_matter(losses.samples, losses.missed_samples))
		put_missed(stream, losses.samples, losses.missed_samples);
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
			 report->without_times
				 ? "not shown"
				 : "not shown; the time is the caller's");
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
	put_loss(stream, report->unseen_threads, "thread's", "threads'",
		 "waiting is not known: " SWZ_UNSEEN_SWITCHES);
	if (report->unplaced_ns > report->total_ns / 100)
		fprintf(stream,
			"Note: self has %s more, in which threads "
			"waited: it is not known where.\n",
			swz_figure_time(figure, report->unplaced_ns,
					style->utf8));
	if (swz_tells_running(report) &&
	    report->unknown_ns > report->total_ns / 100)
		fprintf(stream,
			"Note: self has %s in which threads ran or waited, it "
			"is not known which: a process was killed, or still "
			"runs.\n",
			swz_figure_time(figure, report->unknown_ns,
					style->utf8));
	if (report->knows_waiting)
		put_loss(stream,
			 report->silent_threads - report->unseen_threads,
			 "thread was", "threads were",
			 report->silent_threads - report->unseen_threads == 1
				 ? "not looked at: what waited in it is not "
				   "known"
				 : "not looked at: what waited in them is not "
				   "known");
	put_loss(stream, report->lost_times, "call is", "calls are",
		 "missing in percentiles: there was no room (--max-memory)");
	put_loss(stream, report->missing_switches, "context switch is",
		 "context switches are", "missing: more was waiting");
	put_loss(stream, losses.without_switches, "thread has", "threads have",
		 "no context switches: the kernel refused (--switches)");
	put_slow_rules(stream, section, style);
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
	put_few_samples(stream, section);
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

static void put_changed_calls(FILE *stream, const struct swz_section *section,
			      bool noise_known)
{
	struct swz_diff_counts counts = swz_diff_count(section);
	uint64_t new = swz_calls_of(section->report);
	uint64_t old = swz_calls_of(section->old->report);
	char figure[SWZ_FIGURE_BYTES];

	fprintf(stream, "\nchange: %s calls",
		swz_figure_count_change(figure, old, new));
	fprintf(stream, " (%s)",
		swz_figure_percent_change(figure, swz_signed(old),
					  swz_signed(new)));
	if (!noise_known) {
		fputs("; noise unknown (--diff OLD... -- NEW... shows it)\n",
		      stream);
		return;
	}
	fprintf(stream, "; %s functions changed",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_OTHER]));
	fprintf(stream, ", %s within the noise\n",
		swz_figure_count(figure, counts.functions[SWZ_DIFF_NOISE]));
}

/* The answer: whether it has become slower. */
static void put_change(FILE *stream, const struct swz_style *style,
		       const struct swz_section *section)
{
	struct swz_diff_function total = swz_diff_of_total(section);
	int64_t old = total.costs.old.self_ns, new = total.costs.new.self_ns;
	uint64_t noise = total.noise.self_ns;
	char figure[SWZ_FIGURE_BYTES];

	if (section->report->without_times) {
		put_changed_calls(stream, section, total.noise.known);
		return;
	}
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
