/* Everything is copied once, in the order of the file, while the process goes
 * on. What must be no older than the rest comes after that: threads, whose last
 * moment is no earlier than what their nodes have; packed events, which may
 * hold what the pages that were copied before did not have any more. */

#include "ctl/snapshot.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile/support/output.h"

#define PIECE_BYTES 65536u

struct copying {
	const struct swz_live_profile *profile;
	int32_t pid;
	int to;
	uint64_t ticks; /* when all but what is copied late was copied */
	uint64_t until; /* what is open lasts: until then, or until recording
			 * was stopped */
	int error;      /* errno; 0: none */
};

static void copy(struct copying *c, uint64_t from, uint64_t to)
{
	static uint8_t piece[PIECE_BYTES];

	while (from < to && !c->error) {
		size_t bytes = to - from < PIECE_BYTES ? (size_t)(to - from)
						       : PIECE_BYTES;
		ssize_t got = pread(c->profile->fd, piece, bytes, (off_t)from);

		if (got <= 0) {
			c->error = got ? errno : EIO;
			return;
		}
		if (pwrite(c->to, piece, (size_t)got, (off_t)from) != got)
			c->error = errno ? errno : ENOSPC;
		from += (uint64_t)got;
	}
}

static void copy_early(void *context, const struct swz_chunk *chunk,
		       uint64_t offset)
{
	if (chunk->type != SWZ_CHUNK_PACKED)
		copy(context, offset, offset + chunk->bytes);
}

/* (In another namespace of pids none of the process's is found.) */
static bool thread_lives(const struct copying *c, int32_t tid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d", (int)c->pid, (int)tid);
	return access(path, F_OK) == 0;
}

/* What is open in a thread that lives lasts until now. (The copy can be written
 * only, so the record is read where it was copied from.) */
static void prolong(struct copying *c, uint64_t offset)
{
	struct swz_thread_record record;
	uint64_t at = offset + sizeof(struct swz_chunk);

	if (c->error ||
	    pread(c->profile->fd, &record, sizeof(record), (off_t)at) !=
		    (ssize_t)sizeof(record) ||
	    record.end_ticks || record.last_ticks >= c->until ||
	    !thread_lives(c, record.tid))
		return;
	at += offsetof(struct swz_thread_record, last_ticks);
	if (pwrite(c->to, &c->until, sizeof(c->until), (off_t)at) !=
	    (ssize_t)sizeof(c->until))
		c->error = errno ? errno : ENOSPC;
}

static void copy_late(void *context, const struct swz_chunk *chunk,
		      uint64_t offset)
{
	if (chunk->type == SWZ_CHUNK_PACKED || chunk->type == SWZ_CHUNK_THREAD)
		copy(context, offset, offset + chunk->bytes);
	if (chunk->type == SWZ_CHUNK_THREAD &&
	    chunk->bytes >= sizeof(*chunk) + sizeof(struct swz_thread_record))
		prolong(context, offset);
}

static void write_header(struct copying *c, uint64_t used)
{
	uint8_t page[SWZ_HEADER_BYTES];
	struct swz_file_header *header = (struct swz_file_header *)(void *)page;

	memcpy(page, c->profile->page, sizeof(page));
	header->used_bytes = used;
	header->snapshot_ticks = c->ticks;
	if (!c->error && pwrite(c->to, page, sizeof(page), 0) != sizeof(page))
		c->error = errno ? errno : ENOSPC;
}

bool swz_snapshot_write(struct swz_live_profile *profile, int32_t pid,
			const char *path)
{
	uint64_t used = swz_live_used(profile);
	struct copying c = {.profile = profile, .pid = pid};
	struct swz_output output;
	struct stat st;

	errno = 0;
	if (swz_output_open(&output, path) != SWZ_OK) {
		snprintf(profile->problem, sizeof(profile->problem), "%s: %s",
			 path, strerror(errno));
		return false;
	}
	c.to = fileno(output.stream);
	if (fstat(c.to, &st) != 0 || !S_ISREG(st.st_mode)) {
		snprintf(profile->problem, sizeof(profile->problem),
			 "%s: a snapshot needs a regular file", path);
		swz_output_discard(&output);
		return false;
	}
	/* as the profile itself */
	if (fchmod(c.to, 0600) != 0 || ftruncate(c.to, (off_t)used) != 0)
		c.error = errno;
	swz_live_chunks(profile, used, copy_early, &c);
	c.ticks = c.until = swz_live_ticks();
	/* (where its hooks are out of the code a thread has not noticed) */
	if (profile->request->native)
		c.until = profile->request->stopped_ticks;
	swz_live_chunks(profile, used, copy_late, &c);
	write_header(&c, used);
	if (!c.error && swz_output_close(&output) == SWZ_OK)
		return true;
	snprintf(profile->problem, sizeof(profile->problem), "%s: %s", path,
		 strerror(c.error ? c.error : errno));
	if (c.error)
		swz_output_discard(&output);
	return false;
}
