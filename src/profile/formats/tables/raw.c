/* -f raw shows a file's header, chunks and records as they are. It believes
 * nothing and leaves nothing out, so it works where the reader gives up. */

#include "profile/formats/tables/table.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/basics.h"
#include "base/number_bytes.h"
#include "base/printable.h"
#include "base/time_bucket.h"
#include "profile/file/inputs.h"
#include "profile/file/ranks.h"
#include "profile/file/reader.h"
#include "profile/file/scan.h"
#include "swizzle/format.h"
#include "swizzle/values.h"
#include "util/memory.h"
#include "util/output.h"

/* --- the window ---------------------------------------------------------- */

/* -f raw prints these parts of a file. */

#define SWZ_RAW_WINDOW_BYTES 65536u

struct swz_raw_dump {
	FILE *stream;
	int fd;
	uint64_t size; /* of the file */
	uint64_t end;  /* of what is said to be used, if that is credible */
	size_t rows;
	uint64_t problems;
	bool covers; /* SWZ_FILE_COVER */
	bool ended;  /* SWZ_FILE_ENDED, or a sum */
	uint64_t at; /* of the window */
	size_t filled;
	uint8_t window[SWZ_RAW_WINDOW_BYTES];
};

/* Fills TO from the file at OFFSET. Returns how many bytes there were. */
static size_t raw_get(struct swz_raw_dump *dump, uint64_t offset, void *to,
		      size_t size)
{
	size_t there;

	if (offset < dump->at || offset + size > dump->at + dump->filled) {
		ssize_t got = pread(dump->fd, dump->window,
				    SWZ_RAW_WINDOW_BYTES, (off_t)offset);

		dump->at = offset;
		dump->filled = got > 0 ? (size_t)got : 0;
	}
	there = (size_t)(dump->at + dump->filled - offset);
	if (there > size)
		there = size;
	memset(to, 0, size);
	memcpy(to, dump->window + (offset - dump->at), there);
	return there;
}

/* Says what is wrong, and counts it. */
static void raw_problem(struct swz_raw_dump *dump, const char *what)
{
	fprintf(dump->stream, "  ! %s\n", what);
	dump->problems++;
}

/* --- the header ---------------------------------------------------------- */

static void put_number(FILE *stream, const char *name, uint64_t value)
{
	fprintf(stream, "  %-18s %" PRIu64 " (0x%" PRIx64 ")\n", name, value,
		value);
}

static void raw_put_header(struct swz_raw_dump *dump)
{
	struct swz_file_header h;
	size_t got = raw_get(dump, 0, &h, sizeof(h));
	FILE *stream = dump->stream;
	size_t i;

	fputs("header\n", stream);
	if (got < sizeof(h))
		raw_problem(dump, "the file ends within the header");
	fputs("  magic             ", stream);
	for (i = 0; i < sizeof(h.magic); i++)
		fprintf(stream, " %02x", (unsigned int)(uint8_t)h.magic[i]);
	putc('\n', stream);
	if (memcmp(h.magic, SWZ_FILE_MAGIC, sizeof(h.magic)) != 0)
		raw_problem(dump, "not that of a profile");
	put_number(stream, "version", h.version);
	if (h.version != SWZ_FILE_VERSION)
		raw_problem(dump, "a version that is not known");
	put_number(stream, "header_bytes", h.header_bytes);
	if (h.header_bytes != SWZ_HEADER_BYTES)
		raw_problem(dump, "not as many as there are");
	put_number(stream, "byte_order", h.byte_order);
	if (h.byte_order != SWZ_FILE_BYTE_ORDER)
		raw_problem(dump, "not this machine's");
	put_number(stream, "flags", h.flags);
	dump->covers = h.flags & SWZ_FILE_COVER;
	dump->ended = h.flags & (SWZ_FILE_ENDED | SWZ_FILE_MERGED);
	put_number(stream, "used_bytes", h.used_bytes);
	if (h.used_bytes < SWZ_HEADER_BYTES)
		raw_problem(dump, "less than the header");
	else if (h.used_bytes > dump->size)
		raw_problem(dump, "more than the file has: it was truncated");
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
	put_number(stream, "start_at_number", h.start_at_number);
	put_number(stream, "start_at_calls", h.start_at_calls);
	put_number(stream, "stop_at_number", h.stop_at_number);
	put_number(stream, "stop_at_calls", h.stop_at_calls);
	put_number(stream, "trigger_flags", h.trigger_flags);
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
	put_number(stream, "untimed_samples", h.untimed_samples);
	put_number(stream, "own_samples", h.own_samples);
	put_number(stream, "profiling_ns", h.profiling_ns);
	put_number(stream, "plain_call", h.plain_call);
	put_number(stream, "counted_call", h.counted_call);
}

/* --- packed nodes -------------------------------------------------------- */

/* A record that is at AT in the file; true if it was printed. */
static bool raw_put_function(struct swz_raw_dump *dump, const void *bytes,
			     uint64_t at)
{
	struct swz_function_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream,
		"  id %-10" PRIu32 " address 0x%-8" PRIx32 " size %-6" PRIu32
		" flags 0x%x  %s\n",
		r.id, r.address, r.size, (unsigned int)r.flags,
		swz_refusal_text(r.status));
	return true;
}

static bool raw_put_node(struct swz_raw_dump *dump, const void *bytes,
			 uint64_t at)
{
	struct swz_node r;

	memcpy(&r, bytes, sizeof(r));
	if (r.function == SWZ_FUNCTION_NONE)
		return false;
	fprintf(dump->stream,
		"  unit 0x%-8" PRIx64 " function %-10" PRIu32
		" parent 0x%-8" PRIx32 " context 0x%-8" PRIx32
		" site 0x%-12" PRIx64 " calls %-10" PRIu64 " ticks %-14" PRId64
		" outer %-14" PRId64 " min %" PRIu64 " max %" PRIu64
		" open %" PRId32 " flags 0x%" PRIx32 "\n",
		at / SWZ_UNIT_BYTES, r.function, r.parent, r.context,
		r.call_site, r.calls, r.ticks, r.outer_ticks, r.min_ticks,
		r.max_ticks, (int32_t)r.open >> SWZ_NODE_OPEN_SHIFT,
		r.open & SWZ_NODE_FLAGS_MASK);
	return true;
}

/* Bodies of packed records, COUNT of them. */
static void raw_put_packed_functions(struct swz_raw_dump *dump, uint64_t at,
				     uint64_t bytes, uint32_t count)
{
	uint64_t limit = at + bytes;
	struct swz_function_record r = {0};
	uint32_t end = 0, i;

	raw_get(dump, at, &r.id, sizeof(r.id));
	at += sizeof(r.id);
	for (i = 0; i < count && !ferror(dump->stream); i++, r.id++) {
		uint8_t record[SWZ_PACKED_FUNCTION_BYTES];
		const uint8_t *from = record;
		size_t got = 0;

		if (at < limit)
			got = raw_get(dump, at, record, sizeof(record));
		if (got > limit - at)
			got = (size_t)(limit - at);
		if (!swz_function_unpack(&from, record + got, &end, &r)) {
			raw_problem(dump,
				    "more records than the chunk has room "
				    "for");
			return;
		}
		if (dump->rows && i >= dump->rows) {
			fprintf(dump->stream, "  ... %" PRIu32 " more\n",
				count - i);
			return;
		}
		raw_put_function(dump, &r, at);
		at += (uint64_t)(from - record);
	}
}

static void raw_put_packed_nodes(struct swz_raw_dump *dump, uint64_t at,
				 uint64_t room, const struct swz_chunk *chunk)
{
	uint64_t bytes = chunk->reserved[SWZ_PACKED_NODES_BYTES];
	struct swz_packed_nodes before = {0};
	uint64_t unit = at / SWZ_UNIT_BYTES, shown = 0;
	uint64_t limit = at + (bytes < room ? bytes : room);

	if (bytes > room)
		raw_problem(dump, "more bytes than the chunk has room for");
	for (; at < limit && !ferror(dump->stream); unit++) {
		uint8_t packed[SWZ_PACKED_NODE_BYTES];
		size_t got = raw_get(dump, at, packed, sizeof(packed));
		const uint8_t *from = packed;
		struct swz_node node;

		if (got > limit - at)
			got = (size_t)(limit - at);
		if (!swz_node_unpack(&from, packed + got, &before,
				     (uint32_t)unit, &node)) {
			raw_problem(dump, "a node that is not whole");
			return;
		}
		if (dump->rows && shown >= dump->rows) {
			fputs("  ...\n", dump->stream);
			return;
		}
		shown += raw_put_node(dump, &node, unit * SWZ_UNIT_BYTES);
		at += (uint64_t)(from - packed);
	}
}

/* As in the file: threads by their index, functions by their number. */
static void raw_put_rank_costs(struct swz_raw_dump *dump, uint64_t at,
			       uint64_t size, uint32_t count)
{
	uint8_t *packed = swz_allocate(size + 1, 1);
	struct swz_rank_cost *costs = NULL;
	uint32_t i;

	if (count <= SWZ_RANK_MOST_COSTS)
		costs = swz_allocate((size_t)count + 1, sizeof(*costs));
	if (!costs ||
	    pread(dump->fd, packed, size, (off_t)at) != (ssize_t)size ||
	    !swz_rank_costs_unpack(packed, size, costs, count)) {
		raw_problem(dump, "cannot be unpacked");
		count = 0;
	}
	for (i = 0; i < count; i++) {
		if (dump->rows && i >= dump->rows) {
			fputs("  ... more\n", dump->stream);
			break;
		}
		fprintf(dump->stream,
			"  thread %" PRIu32 " function %" PRIu32 ": %" PRIu64
			" calls, self %" PRId64 ", inclusive %" PRId64 "\n",
			costs[i].thread, costs[i].function, costs[i].calls,
			costs[i].self_ns, costs[i].inclusive_ns);
	}
	free(packed);
	free(costs);
}

/* --- chunks -------------------------------------------------------------- */

static void put_module(struct swz_raw_dump *dump, uint64_t at, uint64_t size)
{
	struct swz_module_record r;
	char path[4097] = "";
	size_t got = raw_get(dump, at, &r, sizeof(r));
	FILE *stream = dump->stream;
	size_t i;

	if (got < sizeof(r) || size < sizeof(r)) {
		raw_problem(dump, "the record is not all there");
		return;
	}
	size -= sizeof(r);
	raw_get(dump, at + sizeof(r), path,
		size < sizeof(path) - 1 ? (size_t)size : sizeof(path) - 1);
	fputs("  path              ", stream);
	swz_put_text(stream, path);
	fprintf(stream,
		"\n  range              0x%" PRIx64 " to 0x%" PRIx64
		", bias 0x%" PRIx64 "\n  functions          %" PRIu32
		" from id %" PRIu32 ", in_scope %" PRIu32
		"\n  build_id           %" PRIu32 " bytes ",
		r.start, r.end, r.load_bias, r.function_count, r.first_function,
		r.in_scope, r.build_id_bytes);
	for (i = 0; i < r.build_id_bytes && i < sizeof(r.build_id); i++)
		fprintf(stream, "%02x", (unsigned int)r.build_id[i]);
	if (r.build_id_bytes > sizeof(r.build_id))
		raw_problem(dump, "more than there is room for");
	fprintf(stream,
		"\n  loaded             %" PRIu32 " times, load_ticks %" PRIu64
		", unload_ticks %" PRIu64 "\n",
		r.loads, r.load_ticks, r.unload_ticks);
	for (i = 0; i < SWZ_REFUSAL_SLOTS; i++)
		if (r.counts[i])
			fprintf(stream, "  counts[%zu] %*s%" PRIu32 " %s\n", i,
				i < 10 ? 9 : 8, "", r.counts[i],
				swz_refusal_text((unsigned int)i));
}

static void put_thread(struct swz_raw_dump *dump, uint64_t at, uint64_t size)
{
	struct swz_thread_record r;
	char name[sizeof(r.name) + 1] = "";
	size_t got = raw_get(dump, at, &r, sizeof(r));

	if (got < sizeof(r) || size < sizeof(r)) {
		raw_problem(dump, "the record is not all there");
		return;
	}
	memcpy(name, r.name, sizeof(r.name));
	fprintf(dump->stream, "  tid                %" PRId32 ", name ", r.tid);
	swz_put_text(dump->stream, name);
	fprintf(dump->stream,
		"\n  root               unit 0x%" PRIx32 "\n  start %" PRIu64
		", last %" PRIu64 ", end %" PRIu64 "\n",
		r.root, r.start_ticks, r.last_ticks, r.end_ticks);
	if (r.short_calls || r.untraced || r.untraced_from)
		fprintf(dump->stream,
			"  short_calls %" PRIu64 ", untraced %" PRIu64
			" from %" PRIu64 "\n",
			r.short_calls, r.untraced, r.untraced_from);
	if (r.processor_ticks)
		fprintf(dump->stream,
			"  processor time     from %" PRIu64 " to %" PRIu64
			" ns, read at %" PRIu64 "\n",
			r.processor_start_ns, r.processor_ns,
			r.processor_ticks);
	if (r.switches_from)
		fprintf(dump->stream,
			"  switches           from %" PRIu64 " until %" PRIu64
			", lost %" PRIu64 "\n",
			r.switches_from, r.switches_until, r.switches_lost);
}

static bool put_unwound(struct swz_raw_dump *dump, const void *bytes,
			uint64_t at)
{
	struct swz_unwound_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	if (!r.node)
		return false;
	fprintf(dump->stream, "  node 0x%-8" PRIx32 " count %" PRIu64 "\n",
		r.node, r.count);
	return true;
}

static bool put_look(struct swz_raw_dump *dump, const void *bytes, uint64_t at)
{
	static const char *const kinds[] = {[SWZ_LOOK_WAITED] = "waited",
					    [SWZ_LOOK_RAN] = "ran",
					    [SWZ_LOOK_BLOCKED] = "blocked"};
	struct swz_look r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	if (!r.node)
		return false;
	fprintf(dump->stream, "  node 0x%-8" PRIx32 " %s %" PRIu64 " ns\n",
		r.node, r.kind <= SWZ_LOOK_BLOCKED ? kinds[r.kind] : "?", r.ns);
	return true;
}

static bool put_switch(struct swz_raw_dump *dump, const void *bytes,
		       uint64_t at)
{
	struct swz_switch_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream, "  off %" PRIu64 ", on %" PRIu64 "%s\n",
		r.off_ticks & ~SWZ_SWITCH_PREEMPTED, r.on_ticks,
		r.off_ticks & SWZ_SWITCH_PREEMPTED ? ", preempted" : "");
	return true;
}

/* Texts by their place in the chunk: they come after all records. */
static bool put_symbol(struct swz_raw_dump *dump, const void *bytes,
		       uint64_t at)
{
	struct swz_symbol_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream,
		"  address 0x%-8" PRIx64 " size %-6" PRIu64
		" name at %-8" PRIu32 " file at %-8" PRIu32 " number %" PRIu32
		"\n",
		r.address, r.size, r.name, r.file, r.number);
	return true;
}

static bool put_line(struct swz_raw_dump *dump, const void *bytes, uint64_t at)
{
	struct swz_line_record r;

	(void)at;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream,
		"  address 0x%-8" PRIx64 " file at %-8" PRIu32
		" line %-6" PRIu32 " inlined at %-8" PRIu32
		" outer line %" PRIu32 "\n",
		r.address, r.file, r.line, r.inlined, r.outer_line);
	return true;
}

/* COUNT records of SIZE bytes, as far as the body of BYTES goes. What PUT does
 * not print is an unused slot. */
static void put_records(struct swz_raw_dump *dump, uint64_t at, uint64_t bytes,
			uint32_t count, size_t size,
			bool (*put)(struct swz_raw_dump *, const void *,
				    uint64_t))
{
	uint8_t record[64];
	uint64_t unused = 0, shown = 0;
	uint32_t i;

	for (i = 0; i < count && !ferror(dump->stream); i++) {
		uint64_t offset = at + (uint64_t)i * size;

		if ((uint64_t)(i + 1) * size > bytes) {
			raw_problem(dump,
				    "more records than the chunk has room "
				    "for");
			return;
		}
		if (raw_get(dump, offset, record, size) < size) {
			raw_problem(dump, "the file ends here");
			return;
		}
		if (dump->rows && shown >= dump->rows) {
			fprintf(dump->stream, "  ... %" PRIu32 " more\n",
				count - i);
			return;
		}
		if (put(dump, record, offset))
			shown++;
		else
			unused++;
	}
	if (unused)
		fprintf(dump->stream, "  %" PRIu64 " unused\n", unused);
}

static void put_histogram(struct swz_raw_dump *dump,
			  const struct swz_chunk *chunk, uint64_t at,
			  uint64_t bytes)
{
	uint64_t counters[SWZ_BLOCK_BUCKETS];
	uint64_t block = chunk->reserved[SWZ_HISTOGRAM_BLOCK];
	uint32_t i;

	fprintf(dump->stream, "  function %" PRIu64 ", block %" PRIu64 "\n",
		chunk->reserved[SWZ_HISTOGRAM_FUNCTION], block);
	if (block >= SWZ_TIME_BLOCKS || chunk->count != SWZ_BLOCK_BUCKETS ||
	    bytes < sizeof(counters)) {
		raw_problem(dump, "no such block of a histogram");
		return;
	}
	if (raw_get(dump, at, counters, sizeof(counters)) < sizeof(counters)) {
		raw_problem(dump, "the file ends here");
		return;
	}
	for (i = 0; i < SWZ_BLOCK_BUCKETS; i++)
		if (counters[i])
			fprintf(dump->stream,
				"  from %" PRIu64 " ticks on: %" PRIu64
				" calls\n",
				swz_bucket_start(
					(uint32_t)(block << SWZ_BUCKET_BITS) +
					i),
				counters[i]);
}

/* A table of counts; the functions lie behind all slots. */
static void put_counts(struct swz_raw_dump *dump, uint64_t at, uint64_t bytes,
		       uint32_t count)
{
	const uint64_t functions = at + (uint64_t)count *
						sizeof(struct swz_count_slot);
	struct swz_count_slot slots[256];
	uint64_t unused = 0, shown = 0;
	uint32_t ids[256], i;

	if (count > bytes / (sizeof(*slots) + sizeof(*ids))) {
		raw_problem(dump, "more slots than the chunk has room for");
		return;
	}
	for (i = 0; i < count && !ferror(dump->stream); i++) {
		uint32_t in = i % 256, many = count - i < 256 ? count - i : 256;

		if (!in &&
		    (raw_get(dump, functions + i * sizeof(*ids), ids,
			     many * sizeof(*ids)) < many * sizeof(*ids) ||
		     raw_get(dump, at + i * sizeof(*slots), slots,
			     many * sizeof(*slots)) < many * sizeof(*slots))) {
			raw_problem(dump, "the file ends here");
			return;
		}
		if (!ids[in]) {
			unused++;
			continue;
		}
		if (dump->rows && shown++ >= dump->rows) {
			fputs("  ... more\n", dump->stream);
			return;
		}
		fprintf(dump->stream,
			"  site 0x%-12" PRIx64 " function %-8" PRIu32
			" %s %" PRIu64 "\n",
			slots[in].key - ids[in] * SWZ_COUNT_FACTOR, ids[in] - 1,
			dump->covers ? "first call at" : "calls",
			slots[in].calls);
	}
	if (unused)
		fprintf(dump->stream, "  %" PRIu64 " unused\n", unused);
}

/* Samples one by one, with the number of each's node. */
static void put_samples(struct swz_raw_dump *dump,
			const struct swz_chunk *chunk, uint64_t at,
			uint64_t size)
{
	uint64_t bytes = chunk->reserved[SWZ_SAMPLES_BYTES];
	struct swz_sample_packing *before = swz_allocate(1, sizeof(*before));
	struct swz_packed_sample s;
	const uint8_t *from, *limit;
	uint8_t *stream;
	uint32_t i;

	if (bytes > size) {
		raw_problem(dump, "more than the chunk has room for");
		bytes = size;
	}
	if (at > dump->size || bytes > dump->size - at)
		bytes = at > dump->size ? 0 : dump->size - at;
	stream = swz_allocate(bytes + 1, 1);
	from = stream;
	limit = stream + raw_get(dump, at, stream, bytes);
	before->expected = chunk->reserved[SWZ_SAMPLES_EXPECTED];
	fprintf(dump->stream,
		"  from %" PRIu64 ", unit %" PRIu64 ", expected %" PRIu64
		"%s\n",
		chunk->reserved[SWZ_SAMPLES_START],
		chunk->reserved[SWZ_SAMPLES_UNIT], before->expected,
		chunk->reserved[SWZ_SAMPLES_WAITING] ? ", waiting" : "");
	for (i = 0; i < chunk->count && !ferror(dump->stream); i++) {
		if (!swz_sample_unpack(&from, limit, before, &s)) {
			raw_problem(dump, "a sample is not all there");
			break;
		}
		if (dump->rows && i >= dump->rows) {
			fprintf(dump->stream, "  ... %" PRIu32 " more\n",
				chunk->count - i);
			break;
		}
		fprintf(dump->stream,
			"  time %-10" PRIu64 " node %-8" PRIu32
			" processor + 1 %" PRIu32 "\n",
			s.time, s.node, s.processor);
	}
	free(stream);
	free(before);
}

static void put_text_lines(struct swz_raw_dump *dump, uint64_t at, uint64_t end,
			   uint32_t count)
{
	uint32_t i;
	char c;

	for (i = 0; i < count && !(dump->rows && i >= dump->rows); i++) {
		fputs("  ", dump->stream);
		for (; at < end && raw_get(dump, at, &c, 1) == 1 && c &&
		       c != '\n';
		     at++) {
			char text[2] = {c, '\0'};

			swz_put_text(dump->stream, text);
		}
		putc('\n', dump->stream);
		at++;
	}
	if (i < count)
		fprintf(dump->stream, "  ... %" PRIu32 " more\n", count - i);
}

static void put_strings(struct swz_raw_dump *dump, uint64_t at, uint64_t end,
			uint32_t count)
{
	uint32_t i;

	for (i = 0; i < count; i++) {
		char c;

		if (dump->rows && i >= dump->rows) {
			fprintf(dump->stream, "  ... %" PRIu32 " more\n",
				count - i);
			return;
		}
		fprintf(dump->stream, "  [%" PRIu32 "] ", i);
		for (; at < end && raw_get(dump, at, &c, 1) == 1 && c; at++) {
			char text[2] = {c, '\0'};

			swz_put_text(dump->stream, text);
		}
		putc('\n', dump->stream);
		if (at >= end || at >= dump->size) {
			raw_problem(dump, "the string does not end");
			return;
		}
		at++;
	}
}

static void put_marks(struct swz_raw_dump *dump, uint64_t at, uint64_t size,
		      uint64_t used)
{
	uint64_t end = at + (used < size ? used : size), bytes, shown = 0;
	char text[SWZ_MARK_MOST_BYTES + 1];
	struct swz_mark_record r;

	if (used > size)
		raw_problem(dump, "more than the chunk has room for");
	for (; end - at >= sizeof(r); at += (bytes + 7) & ~(uint64_t)7) {
		if (raw_get(dump, at, &r, sizeof(r)) < sizeof(r))
			return;
		bytes = sizeof(r) + r.text_bytes;
		if (r.text_bytes > SWZ_MARK_MOST_BYTES || bytes > end - at) {
			raw_problem(dump, "a text does not end");
			return;
		}
		if (dump->rows && shown++ >= dump->rows) {
			fputs("  ... more\n", dump->stream);
			return;
		}
		memset(text, 0, sizeof(text));
		raw_get(dump, at + sizeof(r), text, r.text_bytes);
		fprintf(dump->stream,
			"  %" PRIu64 " kind %u node 0x%" PRIx32 " ", r.ticks,
			(unsigned int)r.kind, r.node);
		swz_put_text(dump->stream, text);
		putc('\n', dump->stream);
	}
}

static bool put_signature(struct swz_raw_dump *dump, const void *bytes,
			  uint64_t offset)
{
	struct swz_signature s;

	(void)offset;
	memcpy(&s, bytes, sizeof(s));
	fprintf(dump->stream,
		"  function %" PRIu32 ": %u parts at entry, %u at return\n",
		s.function, s.entry_parts, s.return_parts);
	return true;
}

/* Records of values, as far as they follow each other. */
static void put_values(struct swz_raw_dump *dump, uint64_t at, uint64_t size)
{
	static const char *const moments[] = {"?", "entry", "return",
					      "exception"};
	uint64_t end = at + size, shown = 0;
	struct swz_value_record record;

	while (at + sizeof(record) <= end && !ferror(dump->stream) &&
	       raw_get(dump, at, &record, sizeof(record)) == sizeof(record)) {
		if (record.bytes < sizeof(record) || record.bytes % 8) {
			at += 8;
			continue;
		}
		if (dump->rows && shown++ >= dump->rows) {
			fputs("  ...\n", dump->stream);
			return;
		}
		fprintf(dump->stream,
			"  values at %" PRIu64 " %s of node 0x%" PRIx32
			", %u bytes%s\n",
			record.ticks, moments[record.kind & 3], record.node,
			record.bytes, record.whole ? "" : ", not whole");
		at += record.bytes;
	}
}

static bool put_rank(struct swz_raw_dump *dump, const void *bytes,
		     uint64_t offset)
{
	struct swz_rank_record r;

	(void)offset;
	memcpy(&r, bytes, sizeof(r));
	fprintf(dump->stream,
		"  rank %" PRIu32 ": %" PRIu64 " processes, least pid %" PRId32
		", host at %" PRIu32 "\n",
		r.rank, r.processes, r.pid, r.host);
	return true;
}

/* The body of a chunk: SIZE bytes from AT on. */
static void raw_put_body(struct swz_raw_dump *dump,
			 const struct swz_chunk *chunk, uint64_t at,
			 uint64_t size)
{
	uint32_t first;

	switch (chunk->type) {
	case SWZ_CHUNK_COMMAND:
	case SWZ_CHUNK_TITLE:
	case SWZ_CHUNK_LABELS:
		put_strings(dump, at, at + size, chunk->count);
		break;
	case SWZ_CHUNK_MODULE:
		put_module(dump, at, size);
		break;
	case SWZ_CHUNK_FUNCTIONS:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_function_record),
			    raw_put_function);
		break;
	case SWZ_CHUNK_PACKED_FUNCTIONS:
		raw_put_packed_functions(dump, at, size, chunk->count);
		break;
	case SWZ_CHUNK_THREAD:
		put_thread(dump, at, size);
		break;
	case SWZ_CHUNK_NODES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_node), raw_put_node);
		break;
	case SWZ_CHUNK_PACKED_NODES:
		raw_put_packed_nodes(dump, at, size, chunk);
		break;
	case SWZ_CHUNK_COUNTS:
		put_counts(dump, at, size, chunk->count);
		break;
	case SWZ_CHUNK_HISTOGRAM:
		put_histogram(dump, chunk, at, size);
		break;
	case SWZ_CHUNK_SAMPLES:
		put_samples(dump, chunk, at, size);
		break;
	case SWZ_CHUNK_UNWOUND:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_unwound_record), put_unwound);
		break;
	case SWZ_CHUNK_SWITCHES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_switch_record), put_switch);
		break;
	case SWZ_CHUNK_LOOKS:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_look), put_look);
		break;
	case SWZ_CHUNK_MARKS:
		put_marks(dump, at, size, chunk->reserved[SWZ_MARKS_USED]);
		break;
	case SWZ_CHUNK_VALUES:
		put_values(dump, at, size);
		break;
	case SWZ_CHUNK_SIGNATURES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_signature), put_signature);
		break;
	case SWZ_CHUNK_NAMES:
		raw_get(dump, at, &first, sizeof(first));
		fprintf(dump->stream, "  first id %" PRIu32 "\n", first);
		put_strings(dump, at + sizeof(first), at + size, chunk->count);
		break;
	case SWZ_CHUNK_CODE:
		put_text_lines(dump, at, at + size, chunk->count);
		break;
	case SWZ_CHUNK_RANKS:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_rank_record), put_rank);
		break;
	case SWZ_CHUNK_RANK_COSTS:
		raw_put_rank_costs(dump, at, size, chunk->count);
		break;
	case SWZ_CHUNK_SYMBOLS:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_symbol_record), put_symbol);
		break;
	case SWZ_CHUNK_LINES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_line_record), put_line);
		break;
	default:
		break;
	}
}

/* --- the file ------------------------------------------------------------ */

/* The file is read through a window, chunk after chunk, so a trace of any size
 * can be looked at. What is no chunk is stepped over by 64 bytes until there is
 * one again; runs of zeros and of other bytes are said once each. */

static const char *type_name(uint32_t type)
{
	switch (type) {
	case SWZ_CHUNK_COMMAND:
		return "COMMAND";
	case SWZ_CHUNK_TITLE:
		return "TITLE";
	case SWZ_CHUNK_LABELS:
		return "LABELS";
	case SWZ_CHUNK_MERGED:
		return "MERGED";
	case SWZ_CHUNK_RANKS:
		return "RANKS";
	case SWZ_CHUNK_RANK_COSTS:
		return "RANK_COSTS";
	case SWZ_CHUNK_MODULE:
		return "MODULE";
	case SWZ_CHUNK_FUNCTIONS:
		return "FUNCTIONS";
	case SWZ_CHUNK_PACKED_FUNCTIONS:
		return "PACKED_FUNCTIONS";
	case SWZ_CHUNK_TRAMPOLINES:
		return "TRAMPOLINES";
	case SWZ_CHUNK_THREAD:
		return "THREAD";
	case SWZ_CHUNK_NODES:
		return "NODES";
	case SWZ_CHUNK_PACKED_NODES:
		return "PACKED_NODES";
	case SWZ_CHUNK_COUNTS:
		return "COUNTS";
	case SWZ_CHUNK_UNWOUND:
		return "UNWOUND";
	case SWZ_CHUNK_SWITCHES:
		return "SWITCHES";
	case SWZ_CHUNK_LOOKS:
		return "LOOKS";
	case SWZ_CHUNK_HISTOGRAM:
		return "HISTOGRAM";
	case SWZ_CHUNK_HISTOGRAM_INDEX:
		return "HISTOGRAM_INDEX";
	case SWZ_CHUNK_TIMES:
		return "TIMES";
	case SWZ_CHUNK_SAMPLES:
		return "SAMPLES";
	case SWZ_CHUNK_MARKS:
		return "MARKS";
	case SWZ_CHUNK_NAMES:
		return "NAMES";
	case SWZ_CHUNK_SYMBOLS:
		return "SYMBOLS";
	case SWZ_CHUNK_LINES:
		return "LINES";
	case SWZ_CHUNK_CODE:
		return "CODE";
	case SWZ_CHUNK_EVENTS:
		return "EVENTS";
	case SWZ_CHUNK_PACKED:
		return "PACKED";
	case SWZ_CHUNK_SIGNATURES:
		return "SIGNATURES";
	case SWZ_CHUNK_VALUES:
		return "VALUES";
	case SWZ_CHUNK_SUMMARY:
		return "SUMMARY";
	case SWZ_CHUNK_SLOW:
		return "SLOW";
	case SWZ_CHUNK_PADDING:
		return "PADDING";
	default:
		return "of an unknown type";
	}
}

/* Where the next chunk may begin. */
static uint64_t put_chunk(struct swz_raw_dump *dump,
			  const struct swz_chunk *chunk, uint64_t at)
{
	uint64_t left = dump->end - at, bytes = chunk->bytes;

	fprintf(dump->stream,
		"\nchunk at 0x%" PRIx64 ": %s (%" PRIu32 "), %" PRIu64
		" bytes, count %" PRIu32 ", owner %" PRIu32 "\n",
		at, type_name(chunk->type), chunk->type, bytes, chunk->count,
		chunk->owner);
	if (bytes < sizeof(*chunk) || bytes % SWZ_UNIT_BYTES) {
		raw_problem(dump, "no possible size");
		return at + SWZ_UNIT_BYTES;
	}
	if (bytes > left) {
		raw_problem(dump,
			    "it ends after the file, or what is used of it");
		bytes = left;
	}
	if (bytes > sizeof(*chunk))
		raw_put_body(dump, chunk, at + sizeof(*chunk),
			     bytes - sizeof(*chunk));
	return chunk->bytes > left ? at + SWZ_UNIT_BYTES : at + bytes;
}

static bool is_zero(struct swz_raw_dump *dump, uint64_t from, uint64_t to)
{
	static const uint8_t zeros[4096];
	uint8_t bytes[sizeof(zeros)];

	while (from < to) {
		size_t n = to - from < sizeof(bytes) ? (size_t)(to - from)
						     : sizeof(bytes);

		n = raw_get(dump, from, bytes, n);
		if (!n || memcmp(bytes, zeros, n) != 0)
			return false;
		from += n;
	}
	return true;
}

/* A kill may come between taking the room for a chunk and beginning it: then
 * there is nothing but, at most, a part of its header. */
static void put_gap(struct swz_raw_dump *dump, uint64_t from, uint64_t to)
{
	if (from == to)
		return;
	fprintf(dump->stream, "\nno chunk at 0x%" PRIx64 "\n", from);
	fprintf(dump->stream, "  %" PRIu64 " bytes%s\n", to - from,
		is_zero(dump, from, to) ? ", all 0" : "");
	if (dump->ended ||
	    (to - from > sizeof(struct swz_chunk) &&
	     !is_zero(dump, from + sizeof(struct swz_chunk), to)))
		raw_problem(dump, "not part of any chunk");
	else
		fputs("  taken for a chunk that was not begun yet\n",
		      dump->stream);
}

static void put_chunks(struct swz_raw_dump *dump)
{
	uint64_t at = SWZ_HEADER_BYTES, gap = at;

	while (at < dump->end && dump->end - at >= sizeof(struct swz_chunk) &&
	       !ferror(dump->stream)) {
		struct swz_chunk chunk;

		if (raw_get(dump, at, &chunk, sizeof(chunk)) < sizeof(chunk))
			break;
		if (chunk.magic != SWZ_CHUNK_MAGIC) {
			at += SWZ_UNIT_BYTES;
			continue;
		}
		put_gap(dump, gap, at);
		gap = at = put_chunk(dump, &chunk, at);
	}
	if (gap < dump->end)
		put_gap(dump, gap, dump->end);
	if (dump->size > dump->end)
		fprintf(dump->stream, "\n%" PRIu64 " bytes are not in use\n",
			dump->size - dump->end);
}

/* The profile in an archive takes its place. */
static enum swz_status unpack(struct swz_raw_dump *dump, struct stat *info,
			      struct swz_error *error)
{
	enum swz_status status;
	int profile;

	if (!swz_archive_begins(dump->fd))
		return SWZ_OK;
	status = swz_archive_expand(dump->fd, &profile, error);
	if (status != SWZ_OK)
		return status;
	close(dump->fd);
	dump->fd = profile;
	if (fstat(profile, info) == 0)
		return SWZ_OK;
	snprintf(error->text, sizeof(error->text), "%s", strerror(errno));
	return SWZ_E_SYSTEM;
}

enum swz_status swz_write_raw(FILE *stream, const char *path, size_t rows,
			      uint64_t *problems, struct swz_error *error)
{
	struct swz_raw_dump dump = {.stream = stream, .rows = rows};
	enum swz_status status = SWZ_OK;
	struct stat info;

	*problems = 0;
	dump.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (dump.fd < 0 || fstat(dump.fd, &info) != 0) {
		snprintf(error->text, sizeof(error->text), "%s",
			 strerror(errno));
		status = SWZ_E_SYSTEM;
	} else if (!S_ISREG(info.st_mode)) {
		snprintf(error->text, sizeof(error->text),
			 "not a regular file");
		status = SWZ_E_FORMAT;
	} else {
		status = unpack(&dump, &info, error);
	}
	if (status == SWZ_OK) {
		dump.size = (uint64_t)info.st_size;
		dump.end = dump.size;
		fputs("file: ", stream);
		swz_put_text(stream, path);
		fprintf(stream, "\nsize: %" PRIu64 "\n\n", dump.size);
		raw_put_header(&dump);
		put_chunks(&dump);
		*problems = dump.problems;
	}
	if (dump.fd >= 0)
		close(dump.fd);
	return status;
}
