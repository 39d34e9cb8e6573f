/* Events are pairs of 32 bits: node above, time and kind below. In a block of
 * words of 64 bits the lower halves become differences, and then the first
 * bytes of all words come first, then the second ones, and so on. That works
 * for any bytes and is undone exactly; of events it makes columns of small
 * numbers. */

#include "profile/file/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/file/run_time_code.h"

#define VERSION 1u
#define BLOCK_BYTES ((size_t)1 << 20)
#define LEVEL 3
/* More than any profile has: 2^32 units. */
#define MOST_BYTES ((uint64_t)1 << 38)

struct head {
	char magic[8];
	uint32_t version;
	uint32_t block_bytes;
	uint64_t bytes; /* of the profile */
};

struct block_head {
	uint64_t offset; /* in the profile */
	uint32_t bytes;  /* of the profile; 0: the end */
	uint32_t packed; /* that follow */
};

static void transform(const uint8_t *from, uint8_t *to, size_t size)
{
	size_t words = size / 8, i, byte;
	uint32_t last = 0;

	for (i = 0; i < words; i++) {
		uint64_t word;
		uint32_t low;

		memcpy(&word, from + 8 * i, 8);
		low = (uint32_t)word;
		word = (word & ~(uint64_t)UINT32_MAX) | (uint32_t)(low - last);
		last = low;
		for (byte = 0; byte < 8; byte++)
			to[byte * words + i] = (uint8_t)(word >> 8 * byte);
	}
	memcpy(to + 8 * words, from + 8 * words, size - 8 * words);
}

static void undo(const uint8_t *from, uint8_t *to, size_t size)
{
	size_t words = size / 8, i, byte;
	uint32_t last = 0;

	for (i = 0; i < words; i++) {
		uint64_t word = 0;

		for (byte = 0; byte < 8; byte++)
			word |= (uint64_t)from[byte * words + i] << 8 * byte;
		last += (uint32_t)word;
		word = (word & ~(uint64_t)UINT32_MAX) | last;
		memcpy(to + 8 * i, &word, 8);
	}
	memcpy(to + 8 * words, from + 8 * words, size - 8 * words);
}

static bool is_zero(const uint8_t *bytes, size_t size)
{
	return !size || (!bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Where the chunks that are added begin. */
static uint64_t added_at(const struct swz_profile *profile)
{
	return (profile->size + SWZ_UNIT_BYTES - 1) / SWZ_UNIT_BYTES *
	       SWZ_UNIT_BYTES;
}

static uint64_t whole_size(const struct swz_profile *profile)
{
	return profile->added_bytes ? added_at(profile) + profile->added_bytes
				    : profile->size;
}

/* Copies the part of those chunks that is in a block of SIZE bytes. */
static void copy_added(const struct swz_profile *profile, uint64_t offset,
		       uint8_t *block, size_t size)
{
	uint64_t start = added_at(profile), skip = 0, from = 0;
	uint64_t end = start + profile->added_bytes;

	if (!profile->added_bytes || offset + size <= start || offset >= end)
		return;
	if (offset < start)
		skip = start - offset;
	else
		from = offset - start;
	memcpy(block + skip, profile->added + from,
	       size - skip < profile->added_bytes - from
		       ? size - skip
		       : profile->added_bytes - from);
}

/* A block of the profile; of a live one, the header as it was read. */
static size_t read_block(const struct swz_profile *profile, uint64_t offset,
			 uint8_t *block)
{
	struct swz_file_header header = profile->header;
	size_t size = BLOCK_BYTES;

	if (size > whole_size(profile) - offset)
		size = (size_t)(whole_size(profile) - offset);
	memset(block, 0, size);
	swz_profile_bytes(profile, offset, block, size);
	swz_run_time_code_undo(profile, offset, block, size);
	copy_added(profile, offset, block, size);
	if (profile->added_bytes)
		header.used_bytes = whole_size(profile);
	if (!offset && size >= sizeof(header))
		memcpy(block, &header, sizeof(header));
	return size;
}

void swz_write_archive(FILE *stream, struct swz_profile *profile)
{
	struct head head = {.version = VERSION,
			    .block_bytes = BLOCK_BYTES,
			    .bytes = whole_size(profile)};
	size_t room = ZSTD_compressBound(BLOCK_BYTES);
	uint8_t *block = swz_allocate(BLOCK_BYTES, 1);
	uint8_t *columns = swz_allocate(BLOCK_BYTES, 1);
	uint8_t *packed = swz_allocate(room, 1);
	struct block_head end = {0};
	uint64_t offset;

	memcpy(head.magic, SWZ_ARCHIVE_MAGIC, sizeof(head.magic));
	fwrite(&head, sizeof(head), 1, stream);
	swz_progress_stage("compressing", head.bytes);
	for (offset = 0; offset < head.bytes && !ferror(stream);
	     offset += BLOCK_BYTES) {
		size_t size = read_block(profile, offset, block), got;
		struct block_head it = {.offset = offset,
					.bytes = (uint32_t)size};

		swz_progress_add(size);
		if (is_zero(block, size))
			continue;
		transform(block, columns, size);
		got = ZSTD_compress(packed, room, columns, size, LEVEL);
		if (ZSTD_isError(got)) /* nothing else can fail */
			swz_out_of_memory();
		it.packed = (uint32_t)got;
		fwrite(&it, sizeof(it), 1, stream);
		fwrite(packed, 1, got, stream);
	}
	swz_progress_end();
	fwrite(&end, sizeof(end), 1, stream);
	free(block);
	free(columns);
	free(packed);
}

/* ---- reading ---- */

bool swz_archive_begins(int fd)
{
	char magic[8];

	return pread(fd, magic, sizeof(magic), 0) == (ssize_t)sizeof(magic) &&
	       memcmp(magic, SWZ_ARCHIVE_MAGIC, sizeof(magic)) == 0;
}

static enum swz_status damaged(struct swz_error *error, const char *what)
{
	snprintf(error->text, sizeof(error->text), "damaged archive (%s)",
		 what);
	return SWZ_E_FORMAT;
}

static enum swz_status failed(struct swz_error *error, const char *what)
{
	snprintf(error->text, sizeof(error->text), "%s: %s", what,
		 strerror(errno));
	return SWZ_E_SYSTEM;
}

static int open_nameless(void)
{
	const char *directory = getenv("TMPDIR");
	char *path = swz_print("%s/swizzle-XXXXXX",
			       directory && *directory ? directory : "/tmp");
	int fd = mkstemp(path);

	if (fd >= 0)
		unlink(path);
	free(path);
	return fd;
}

static bool write_fully(int fd, const uint8_t *bytes, size_t size,
			uint64_t offset)
{
	while (size) {
		ssize_t done = pwrite(fd, bytes, size, (off_t)offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			return false;
		bytes += done;
		offset += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

struct expanding {
	FILE *from;
	int to;
	struct head head;
	uint64_t done; /* blocks may not go back */
	uint8_t *packed, *columns, *block;
	size_t room;
};

/* One block. *more: it was not the last. */
static enum swz_status expand_block(struct expanding *e, bool *more,
				    struct swz_error *error)
{
	struct block_head it;
	size_t got;

	*more = false;
	if (fread(&it, sizeof(it), 1, e->from) != 1)
		return damaged(error, "cut off");
	if (!it.bytes)
		return SWZ_OK;
	if (it.bytes > BLOCK_BYTES || it.packed > e->room ||
	    it.offset < e->done || it.offset > e->head.bytes ||
	    it.bytes > e->head.bytes - it.offset)
		return damaged(error, "a block that does not fit");
	if (fread(e->packed, 1, it.packed, e->from) != it.packed)
		return damaged(error, "cut off");
	got = ZSTD_decompress(e->columns, BLOCK_BYTES, e->packed, it.packed);
	if (ZSTD_isError(got) || got != it.bytes)
		return damaged(error, "a block that cannot be unpacked");
	undo(e->columns, e->block, it.bytes);
	if (!write_fully(e->to, e->block, it.bytes, it.offset))
		return failed(
			error,
			"cannot write a temporary file in TMPDIR or /tmp");
	e->done = it.offset + it.bytes;
	*more = true;
	return SWZ_OK;
}

static enum swz_status expand(struct expanding *e, struct swz_error *error)
{
	enum swz_status status = SWZ_OK;
	bool more = true;

	if (fread(&e->head, sizeof(e->head), 1, e->from) != 1)
		return damaged(error, "cut off");
	if (e->head.version != VERSION || e->head.block_bytes != BLOCK_BYTES) {
		snprintf(error->text, sizeof(error->text),
			 "an archive of another swizzle (version %" PRIu32
			 ", this one reads %u): use the swizzle-dump of "
			 "that one",
			 e->head.version, VERSION);
		return SWZ_E_UNSUPPORTED;
	}
	if (e->head.bytes > MOST_BYTES)
		return damaged(error, "its size");
	if (ftruncate(e->to, (off_t)e->head.bytes) != 0)
		return failed(
			error,
			"cannot write a temporary file in TMPDIR or /tmp");
	while (more && status == SWZ_OK)
		status = expand_block(e, &more, error);
	return status;
}

enum swz_status swz_archive_expand(int fd, int *profile,
				   struct swz_error *error)
{
	struct expanding e = {.to = open_nameless()};
	enum swz_status status;
	int copy;

	*profile = -1;
	if (e.to < 0)
		return failed(error,
			      "cannot make a temporary file in TMPDIR or /tmp");
	copy = dup(fd);
	e.from = copy < 0 ? NULL : fdopen(copy, "rb");
	if (!e.from) {
		status = failed(error, "cannot read it");
		if (copy >= 0)
			close(copy);
		close(e.to);
		return status;
	}
	rewind(e.from);
	e.room = ZSTD_compressBound(BLOCK_BYTES);
	e.packed = swz_allocate(e.room, 1);
	e.columns = swz_allocate(BLOCK_BYTES, 1);
	e.block = swz_allocate(BLOCK_BYTES, 1);
	status = expand(&e, error);
	free(e.packed);
	free(e.columns);
	free(e.block);
	fclose(e.from);
	if (status == SWZ_OK)
		*profile = e.to;
	else
		close(e.to);
	return status;
}
