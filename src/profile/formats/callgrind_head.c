#include "profile/formats/callgrind_head.h"

#include <inttypes.h>

#include "base/refusal_text.h"
#include "profile/formats/joined_figures.h"
#include "profile/formats/losses.h"
#include "profile/formats/time_kind.h"
#include "profile/support/arith.h"
#include "profile/support/output.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

void swz_callgrind_put_events(FILE *stream, int64_t more, int64_t less,
			      int64_t old, int64_t new)
{
	fprintf(stream, "%" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n",
		more, less, old, new);
}

void swz_callgrind_put_cost(FILE *stream, const struct swz_section *section,
			    struct swz_callgrind_cost new, int64_t old)
{
	const struct swz_report *report = section->report;

	if (section->old) {
		swz_callgrind_put_events(
			stream, new.ns > old ? new.ns - old : 0,
			old > new.ns ? old - new.ns : 0, old, new.ns);
		return;
	}
	fprintf(stream, "%" PRId64, new.ns);
	if (report->knows_waiting)
		fprintf(stream, " %" PRId64, new.waiting);
	if (report->samples)
		fprintf(stream, " %" PRIu64, new.samples);
	putc('\n', stream);
}

static struct swz_callgrind_cost total_of(const struct swz_report *report)
{
	struct swz_callgrind_cost total = {.ns = report->total_ns};
	size_t i;

	for (i = 0; i < report->function_capacity; i++) {
		total.waiting = swz_add(total.waiting,
					report->functions[i].self_waiting_ns);
		total.samples = swz_add_count(total.samples,
					      report->functions[i].calls);
	}
	return total;
}

void swz_callgrind_put_totals(FILE *stream, const struct swz_section *section,
			      const char *key)
{
	const struct swz_report *new = section->report, *old;
	int64_t more = 0, less = 0;
	size_t i;

	fprintf(stream, "%s: ", key);
	if (!section->old) {
		swz_callgrind_put_cost(stream, section, total_of(new), 0);
		return;
	}
	old = section->old->report;
	for (i = 0; i < new->function_capacity; i++) {
		int64_t difference = swz_sub(new->functions[i].self_ns,
					     old->functions[i].self_ns);

		if (difference > 0)
			more = swz_add(more, difference);
		else
			less = swz_sub(less, difference);
	}
	swz_callgrind_put_events(stream, more, less, old->total_ns,
				 new->total_ns);
}

static void put_refusals(FILE *stream, const struct swz_profile *profile)
{
	uint64_t sums[SWZ_REFUSAL_SLOTS] = {0};
	uint64_t refused = 0, all = 0;
	const char *separator = ": ";
	size_t i, j;

	for (i = 0; i < profile->module_count; i++)
		for (j = 0; j < SWZ_REFUSAL_SLOTS; j++)
			sums[j] += profile->modules[i].record.counts[j];
	for (j = 0; j < SWZ_REFUSAL_SLOTS; j++) {
		all += sums[j];
		refused += j == SWZ_PATCHED ? 0 : sums[j];
	}
	fprintf(stream,
		"desc: Not profiled: %" PRIu64 " of %" PRIu64 " functions",
		refused, all);
	for (j = 1; j < SWZ_REFUSAL_SLOTS; j++) {
		if (!sums[j])
			continue;
		fprintf(stream, "%s%" PRIu64 " %s", separator, sums[j],
			swz_refusal_text((unsigned int)j));
		separator = ", ";
	}
	putc('\n', stream);
}

static void put_joined(FILE *stream, const struct swz_section *section)
{
	fputs("desc: Joined: ", stream);
	swz_put_joined_note(stream, section);
	fprintf(stream,
		"\ndesc: A time of 0 is less than %" PRId64
		" ns; calls=0: not counted\n",
		section->report->bound_ns);
}

static void put_description(FILE *stream, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const struct swz_report *report = section->report;

	if (section->thread_name) {
		fputs("desc: Threads called: ", stream);
		swz_put_text(stream, section->thread_name);
		putc('\n', stream);
	} else if (section->thread) {
		fprintf(stream, "desc: Thread: %" PRId32 " ",
			section->thread->record.tid);
		swz_put_text(stream, section->thread->name);
		putc('\n', stream);
	} else {
		fprintf(stream, "desc: Threads: %zu\n", report->thread_count);
	}
	if (section->profile_count > 1)
		fprintf(stream, "desc: Profiles: %zu, merged\n",
			section->profile_count);
	if (report->samples || report->joined)
		fprintf(stream, "desc: Clock: %s, sampled\n",
			swz_time_kind(section) == SWZ_THREAD_TIME
				? "time, running or waiting"
				: "processor time");
	else if (profile->clock_known)
		fprintf(stream,
			"desc: Clock: TSC at %.6f GHz, wall-clock time\n",
			(double)profile->clock_ticks /
				(double)profile->clock_ns);
	else
		fputs("desc: Clock: not calibrated, 1 ns stands for a tick\n",
		      stream);
	if (report->joined)
		put_joined(stream, section);
	else if (report->samples)
		fputs("desc: calls= and the second figure of each line are "
		      "samples, not calls\n",
		      stream);
	else if (section->compensated)
		fprintf(stream,
			"desc: Compensation: %" PRId64
			" ns of hooks subtracted, %.2f ns per call\n",
			swz_sub(report->raw_ns, report->total_ns),
			swz_hook_cost_ns(profile));
	else
		fputs("desc: Compensation: none\n", stream);
	if (!report->samples)
		put_refusals(stream, profile);
	swz_put_loss_lines(stream, section, "desc: ");
	if (report->not_shown)
		fprintf(stream,
			"desc: Not shown: %" PRIu64
			" %s, whose time is their callers'\n",
			report->not_shown, swz_counted(section));
	if (report->folded_recursion)
		fprintf(stream,
			"desc: Folded recursion: %" PRIu64
			" calls are in a context further up\n",
			report->folded_recursion);
	if (report->knows_waiting && report->silent_threads)
		fprintf(stream,
			"desc: Waiting: not known of %" PRIu64
			" of %zu threads\n",
			report->silent_threads, report->thread_count);
	if (report->missing_switches)
		fprintf(stream,
			"desc: Missing context switches: %" PRIu64
			" or more, so there is too little waiting\n",
			report->missing_switches);
}

static void put_old(FILE *stream, const struct swz_section *section)
{
	const struct swz_section *old = section->old;

	fprintf(stream, "desc: Compared with: process %" PRId32 ": ",
		old->profile->header.pid);
	swz_put_command(stream, old->profile);
	putc('\n', stream);
	if (old->profile_count > 1)
		fprintf(stream, "desc: Compared with: %zu profiles, merged\n",
			old->profile_count);
}

void swz_callgrind_put_header(FILE *stream, const struct swz_section *section)
{

	if (section->part == 1)
		fputs("# callgrind format\n"
		      "version: 1\n"
		      "creator: swizzle-" SWZ_VERSION "\n",
		      stream);
	else
		putc('\n', stream);
	fprintf(stream,
		"pid: %" PRId32 "\ncmd: ", section->profile->header.pid);
	swz_put_command(stream, section->profile);
	fprintf(stream, "\npart: %u\n", section->part);
	if (section->thread || section->thread_name)
		fprintf(stream, "thread: %u\n", section->thread_number);
	put_description(stream, section);
	if (section->old)
		put_old(stream, section);
	fputs("positions: line\n", stream);
	if (section->old)
		fputs("event: more : More than before (ns)\n"
		      "event: less : Less than before (ns)\n"
		      "event: old : Old time (ns)\n"
		      "event: new : New time (ns)\n"
		      "events: more less old new\n",
		      stream);
	else if (section->report->knows_waiting || section->report->samples)
		fprintf(stream,
			"event: ns : Time (ns)\n"
			"%s%sevents: ns%s%s\n",
			section->report->knows_waiting
				? "event: Wait : Waiting (ns)\n"
				  "event: Run = ns - Wait : Running (ns)\n"
				: "",
			section->report->samples ? "event: samples : Samples\n"
						 : "",
			section->report->knows_waiting ? " Wait" : "",
			section->report->samples ? " samples" : "");
	else
		fputs("event: ns : Time (ns)\n"
		      "events: ns\n",
		      stream);
	swz_callgrind_put_totals(stream, section, "summary");
}
