#include "profile/formats/raw_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/refusal_text.h"

static void put_number(FILE *stream, const char *name, uint64_t value)
{
	fprintf(stream, "  %-18s %" PRIu64 " (0x%" PRIx64 ")\n", name, value,
		value);
}

void swz_raw_put_header(struct swz_raw_dump *dump)
{
	struct swz_file_header h;
	size_t got = swz_raw_get(dump, 0, &h, sizeof(h));
	FILE *stream = dump->stream;
	size_t i;

	fputs("header\n", stream);
	if (got < sizeof(h))
		swz_raw_problem(dump, "the file ends within the header");
	fputs("  magic             ", stream);
	for (i = 0; i < sizeof(h.magic); i++)
		fprintf(stream, " %02x", (unsigned int)(uint8_t)h.magic[i]);
	putc('\n', stream);
	if (memcmp(h.magic, SWZ_FILE_MAGIC, sizeof(h.magic)) != 0)
		swz_raw_problem(dump, "not that of a profile");
	put_number(stream, "version", h.version);
	if (h.version != SWZ_FILE_VERSION)
		swz_raw_problem(dump, "a version that is not known");
	put_number(stream, "header_bytes", h.header_bytes);
	if (h.header_bytes != SWZ_HEADER_BYTES)
		swz_raw_problem(dump, "not as many as there are");
	put_number(stream, "byte_order", h.byte_order);
	if (h.byte_order != SWZ_FILE_BYTE_ORDER)
		swz_raw_problem(dump, "not this machine's");
	put_number(stream, "flags", h.flags);
	put_number(stream, "used_bytes", h.used_bytes);
	if (h.used_bytes < SWZ_HEADER_BYTES)
		swz_raw_problem(dump, "less than the header");
	else if (h.used_bytes > dump->size)
		swz_raw_problem(dump,
				"more than the file has: it was truncated");
	else
		dump->end = h.used_bytes;
	put_number(stream, "limit_bytes", h.limit_bytes);
	fprintf(stream,
		"  %-18s %" PRId32 "\n"
		"  %-18s %" PRId32 "\n",
		"pid", h.pid, "parent_pid", h.parent_pid);
	put_number(stream, "start_ticks", h.start_ticks);
	put_number(stream, "start_realtime_ns", h.start_realtime_ns);
	put_number(stream, "end_ticks", h.end_ticks);
	for (i = 0; i < 3; i++)
		fprintf(stream,
			"  clock[%zu]           %" PRIu64 " ticks, %" PRIu64
			" ns\n",
			i, h.clock[i].ticks, h.clock[i].monotonic_ns);
	put_number(stream, "cost_inside", h.cost_inside);
	put_number(stream, "cost_outside", h.cost_outside);
	put_number(stream, "cost_untimed", h.cost_untimed);
	put_number(stream, "lost_calls", h.lost_calls);
	put_number(stream, "epoch_ticks", h.epoch_ticks);
	put_number(stream, "arena_start", h.arena_start);
	put_number(stream, "arena_end", h.arena_end);
	put_number(stream, "event_bytes", h.event_bytes);
	put_number(stream, "event_limit_bytes", h.event_limit_bytes);
	put_number(stream, "min_ticks", h.min_ticks);
	put_number(stream, "cost_leaf", h.cost_leaf);
	put_number(stream, "process_start", h.process_start);
	put_number(stream, "full", h.full);
	put_number(stream, "lost_marks", h.lost_marks);
	put_number(stream, "lost_values", h.lost_values);
	if (!(h.flags & SWZ_FILE_SAMPLES))
		return;
	put_number(stream, "sample_period_ns", h.sample_period_ns);
	put_number(stream, "sample_engine", h.sample_engine);
	put_number(stream, "sample_flags", h.sample_flags);
	put_number(stream, "counts_start", h.counts_start);
	put_number(stream, "counts_pid", (uint64_t)h.counts_pid);
	put_number(stream, "samples", h.samples);
	put_number(stream, "lost_samples", h.lost_samples);
	put_number(stream, "missed_samples", h.missed_samples);
	put_number(stream, "cut_stacks", h.cut_stacks);
	put_number(stream, "broken_stacks", h.broken_stacks);
	put_number(stream, "stack_bytes", h.stack_bytes);
	put_number(stream, "unread_scripts", h.unread_scripts);
}
