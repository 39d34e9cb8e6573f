#include "profile/formats/raw_parts.h"

#include <inttypes.h>
#include <string.h>

#include "base/refusal_text.h"
#include "profile/support/output.h"
#include "swizzle/values.h"

static void put_module(struct swz_raw_dump *dump, uint64_t at, uint64_t size)
{
	struct swz_module_record r;
	char path[4097] = "";
	size_t got = swz_raw_get(dump, at, &r, sizeof(r));
	FILE *stream = dump->stream;
	size_t i;

	if (got < sizeof(r) || size < sizeof(r)) {
		swz_raw_problem(dump, "the record is not all there");
		return;
	}
	size -= sizeof(r);
	swz_raw_get(dump, at + sizeof(r), path,
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
		swz_raw_problem(dump, "more than there is room for");
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
	size_t got = swz_raw_get(dump, at, &r, sizeof(r));

	if (got < sizeof(r) || size < sizeof(r)) {
		swz_raw_problem(dump, "the record is not all there");
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
			swz_raw_problem(dump,
					"more records than the chunk has room "
					"for");
			return;
		}
		if (swz_raw_get(dump, offset, record, size) < size) {
			swz_raw_problem(dump, "the file ends here");
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

static void put_text_lines(struct swz_raw_dump *dump, uint64_t at, uint64_t end,
			   uint32_t count)
{
	uint32_t i;
	char c;

	for (i = 0; i < count && !(dump->rows && i >= dump->rows); i++) {
		fputs("  ", dump->stream);
		for (; at < end && swz_raw_get(dump, at, &c, 1) == 1 && c &&
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
		for (; at < end && swz_raw_get(dump, at, &c, 1) == 1 && c;
		     at++) {
			char text[2] = {c, '\0'};

			swz_put_text(dump->stream, text);
		}
		putc('\n', dump->stream);
		if (at >= end || at >= dump->size) {
			swz_raw_problem(dump, "the string does not end");
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
		swz_raw_problem(dump, "more than the chunk has room for");
	for (; end - at >= sizeof(r); at += (bytes + 7) & ~(uint64_t)7) {
		if (swz_raw_get(dump, at, &r, sizeof(r)) < sizeof(r))
			return;
		bytes = sizeof(r) + r.text_bytes;
		if (r.text_bytes > SWZ_MARK_MOST_BYTES || bytes > end - at) {
			swz_raw_problem(dump, "a text does not end");
			return;
		}
		if (dump->rows && shown++ >= dump->rows) {
			fputs("  ... more\n", dump->stream);
			return;
		}
		memset(text, 0, sizeof(text));
		swz_raw_get(dump, at + sizeof(r), text, r.text_bytes);
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
	       swz_raw_get(dump, at, &record, sizeof(record)) ==
		       sizeof(record)) {
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

void swz_raw_put_body(struct swz_raw_dump *dump, const struct swz_chunk *chunk,
		      uint64_t at, uint64_t size)
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
			    swz_raw_put_function);
		break;
	case SWZ_CHUNK_PACKED_FUNCTIONS:
		swz_raw_put_packed_functions(dump, at, size, chunk->count);
		break;
	case SWZ_CHUNK_THREAD:
		put_thread(dump, at, size);
		break;
	case SWZ_CHUNK_NODES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_node), swz_raw_put_node);
		break;
	case SWZ_CHUNK_PACKED_NODES:
		swz_raw_put_packed_nodes(dump, at, size, chunk);
		break;
	case SWZ_CHUNK_UNWOUND:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_unwound_record), put_unwound);
		break;
	case SWZ_CHUNK_SWITCHES:
		put_records(dump, at, size, chunk->count,
			    sizeof(struct swz_switch_record), put_switch);
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
		swz_raw_get(dump, at, &first, sizeof(first));
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
		swz_raw_put_rank_costs(dump, at, size, chunk->count);
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
