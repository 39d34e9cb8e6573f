/* The file is read through a window, chunk after chunk, so a trace of any size
 * can be looked at. What is no chunk is stepped over by 64 bytes until there is
 * one again; runs of zeros and of other bytes are said once each. */

#include "profile/formats/raw.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/formats/raw_parts.h"
#include "profile/support/output.h"

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
	case SWZ_CHUNK_THREAD:
		return "THREAD";
	case SWZ_CHUNK_NODES:
		return "NODES";
	case SWZ_CHUNK_PACKED_NODES:
		return "PACKED_NODES";
	case SWZ_CHUNK_UNWOUND:
		return "UNWOUND";
	case SWZ_CHUNK_SWITCHES:
		return "SWITCHES";
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
		swz_raw_problem(dump, "no possible size");
		return at + SWZ_UNIT_BYTES;
	}
	if (bytes > left) {
		swz_raw_problem(
			dump, "it ends after the file, or what is used of it");
		bytes = left;
	}
	if (bytes > sizeof(*chunk))
		swz_raw_put_body(dump, chunk, at + sizeof(*chunk),
				 bytes - sizeof(*chunk));
	return chunk->bytes > left ? at + SWZ_UNIT_BYTES : at + bytes;
}

static void put_gap(struct swz_raw_dump *dump, uint64_t from, uint64_t to,
		    bool zeros)
{
	if (from == to)
		return;
	fprintf(dump->stream, "\nno chunk at 0x%" PRIx64 "\n", from);
	fprintf(dump->stream, "  %" PRIu64 " bytes%s\n", to - from,
		zeros ? ", all 0" : "");
	swz_raw_problem(dump, "not part of any chunk");
}

static void put_chunks(struct swz_raw_dump *dump)
{
	uint64_t at = SWZ_HEADER_BYTES, gap = at;
	bool zeros = true;

	while (at < dump->end && dump->end - at >= sizeof(struct swz_chunk) &&
	       !ferror(dump->stream)) {
		struct swz_chunk chunk;
		static const struct swz_chunk none;

		if (swz_raw_get(dump, at, &chunk, sizeof(chunk)) <
		    sizeof(chunk))
			break;
		if (chunk.magic != SWZ_CHUNK_MAGIC) {
			zeros &= memcmp(&chunk, &none, sizeof(chunk)) == 0;
			at += SWZ_UNIT_BYTES;
			continue;
		}
		put_gap(dump, gap, at, zeros);
		at = put_chunk(dump, &chunk, at);
		gap = at;
		zeros = true;
	}
	if (gap < dump->end)
		put_gap(dump, gap, dump->end, zeros);
	if (dump->size > dump->end)
		fprintf(dump->stream, "\n%" PRIu64 " bytes are not in use\n",
			dump->size - dump->end);
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
	}
	if (status == SWZ_OK) {
		dump.size = (uint64_t)info.st_size;
		dump.end = dump.size;
		fputs("file: ", stream);
		swz_put_text(stream, path);
		fprintf(stream, "\nsize: %" PRIu64 "\n\n", dump.size);
		swz_raw_put_header(&dump);
		put_chunks(&dump);
		*problems = dump.problems;
	}
	if (dump.fd >= 0)
		close(dump.fd);
	return status;
}
