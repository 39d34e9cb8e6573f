/* What swizzle-dump -f info says of a trace. */

#include <inttypes.h>

#include "profile/file/events.h"
#include "profile/file/switches.h"
#include "profile/formats/formats.h"

struct totals {
	uint64_t begins, ends; /* that the file holds */
	uint64_t calls;        /* begins that are calls */
	uint64_t unwound;
	uint64_t first, last; /* ticks */
	struct swz_events_damage damage;
};

static void add_damage(struct swz_events_damage *to,
		       const struct swz_events_damage *from)
{
	to->foreign += from->foreign;
	to->stray += from->stray;
	to->torn += from->torn;
	to->lost_pages += from->lost_pages;
}

static struct totals count(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_events_open(profile, thread);
	struct totals totals = {0};
	struct swz_event event;

	swz_events_show_hidden(events);
	while (swz_events_next(events, &event)) {
		if (event.cut)
			continue;
		if (!totals.begins && !totals.ends)
			totals.first = event.ticks;
		totals.last = event.ticks;
		if (!event.begins) {
			totals.ends++;
			totals.unwound += event.how == SWZ_EVENT_UNWIND;
			continue;
		}
		totals.begins++;
		totals.calls += event.how != SWZ_EVENT_RESUME;
	}
	totals.damage = *swz_events_damage(events);
	swz_events_close(events);
	return totals;
}

static void put_time(FILE *stream, const struct swz_profile *profile,
		     uint64_t ticks)
{
	int64_t ns = swz_events_ns(profile, ticks);

	if (ns < 0)
		ns = 0;
	fprintf(stream, " %5" PRId64 ".%09" PRId64, ns / 1000000000,
		ns % 1000000000);
}

/* How often each thread lost the processor, and for how long. */
static void put_switches(FILE *stream, const struct swz_profile *profile)
{
	size_t unknown = 0, i;

	if (!(profile->header.flags & SWZ_FILE_SWITCHES))
		return;
	fputs("\ncontext switches (--switches), durations as they were:\n",
	      stream);
	fprintf(stream, "%10s %16s %16s %16s %16s\n", "tid", "switches",
		"missing", "off, ns", "preempted, ns");
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		uint64_t preempted, off = swz_switches_sum(thread, &preempted);

		if (!thread->record.switches_from) {
			unknown++;
			continue;
		}
		fprintf(stream,
			"%10" PRId32 " %16zu %16" PRIu64 " %16" PRId64
			" %16" PRId64 "\n",
			thread->record.tid, thread->switch_count,
			swz_switches_missing(thread),
			swz_profile_ns(profile, (int64_t)off),
			swz_profile_ns(profile, (int64_t)preempted));
	}
	if (unknown)
		fprintf(stream,
			"not recorded, as the kernel refused: %zu thread%s\n",
			unknown, unknown == 1 ? "" : "s");
}

void swz_put_events(FILE *stream, const struct swz_profile *profile)
{
	const struct swz_file_header *header = &profile->header;
	struct swz_events_damage damage = {0};
	uint64_t untraced = 0, short_calls = 0;
	size_t i;

	if (!swz_profile_traced(profile))
		return;
	fprintf(stream, "\ntrace: %" PRIu64 " bytes of events in %zu chunks",
		header->event_bytes, profile->event_chunk_count);
	/* (that of a program that has ended is for what still comes) */
	if (!(header->flags & SWZ_FILE_ENDED))
		fprintf(stream, ", at most %" PRIu64,
			header->event_limit_bytes);
	putc('\n', stream);
	fprintf(stream, "%10s %16s %16s %16s %15s %15s\n", "tid",
		"calls traced", "ends", "by exception", "from, s", "to, s");
	for (i = 0; i < profile->thread_count; i++) {
		const struct swz_profile_thread *thread = &profile->threads[i];
		struct totals totals = count(profile, thread);

		untraced += thread->record.untraced;
		short_calls += thread->record.short_calls;
		add_damage(&damage, &totals.damage);
		fprintf(stream,
			"%10" PRId32 " %16" PRIu64 " %16" PRIu64 " %16" PRIu64,
			thread->record.tid, totals.calls, totals.ends,
			totals.unwound);
		if (totals.begins || totals.ends) {
			put_time(stream, profile, totals.first);
			put_time(stream, profile, totals.last);
		}
		putc('\n', stream);
	}
	if (header->min_ticks)
		fprintf(stream,
			"left out: %" PRIu64 " calls shorter than %" PRId64
			" ns\n",
			short_calls,
			swz_profile_ns(profile, (int64_t)header->min_ticks));
	if (untraced)
		fprintf(stream,
			"not traced: %" PRIu64 " events, for want of room\n",
			untraced);
	if (damage.foreign || damage.stray || damage.torn || damage.lost_pages)
		fprintf(stream,
			"events that do not fit: %" PRIu64 " of no known "
			"context, %" PRIu64 " ends and %" PRIu64
			" begins without the other, %" PRIu64
			" pages unreadable\n",
			damage.foreign, damage.stray, damage.torn,
			damage.lost_pages);
	put_switches(stream, profile);
}
