/* swizzle-run does two things with profiles when a run has ended: it writes the
 * end of killed processes, and makes large profiles smaller. */

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/basics.h"
#include "base/run_summary.h"
#include "profile/file/inputs.h"
#include "profile/file/packing.h"
#include "profile/file/scan.h"
#include "swizzle/format.h"

/* --- the profiles of a run ----------------------------------------------- */

static bool is_of_run(const struct swz_file_header *h,
		      const struct swz_run *run)
{
	return memcmp(h->magic, SWZ_FILE_MAGIC, sizeof(h->magic)) == 0 &&
	       h->version == SWZ_FILE_VERSION && swz_run_has(run, h) &&
	       !h->snapshot_ticks;
}

static void look_at_file(const struct swz_run *run, int folder,
			 const char *name, swz_run_profile_visitor *visit,
			 void *context)
{
	struct swz_file_header header;
	struct stat st;
	int fd = openat(folder, name,
			O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY |
				O_CLOEXEC);

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    pread(fd, &header, sizeof(header), 0) == sizeof(header) &&
	    is_of_run(&header, run))
		visit(context, &(struct swz_run_profile){.folder = folder,
							 .fd = fd,
							 .name = name,
							 .status = &st,
							 .header = &header});
	close(fd);
}

void swz_run_profiles_each(const struct swz_run *run,
			   swz_run_profile_visitor *visit, void *context)
{
	const char *slash = strrchr(run->output, '/');
	char *path = slash ? strndup(run->output,
				     (size_t)(slash - run->output) + 1)
			   : NULL;
	DIR *folder = path ? opendir(path) : NULL;
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (entry->d_type == DT_REG || entry->d_type == DT_UNKNOWN)
			look_at_file(run, dirfd(folder), entry->d_name, visit,
				     context);
	if (folder)
		closedir(folder);
	free(path);
}

/* --- packing ------------------------------------------------------------- */

/* A profile is written through a mapping, where a context takes 64 bytes. Of a
 * process that has ended they can be packed. The new file replaces the old one
 * all at once, by its name, so whoever reads finds one or the other; until then
 * it has no name, so nothing is left behind if this process is killed. */

/* Saving less is not worth it, nor if the rest is more. */
#define WORTH_BYTES (UINT64_C(4) << 20)
/* A chunk that is shorter has nearly as many pages when it is packed. */
#define CHUNK_BYTES (UINT64_C(16) << 10)
#define MOST_CHUNK_BYTES (UINT64_C(16) << 20)
#define BLOCK_BYTES (UINT64_C(64) << 10)

struct packing {
	int from, to;
	struct swz_file_header header;
	uint8_t *nodes, *packed; /* of MOST_CHUNK_BYTES */
};

static bool read_all(int fd, void *to, size_t size, uint64_t at)
{
	return pread(fd, to, size, (off_t)at) == (ssize_t)size;
}

static bool write_all(int fd, const void *bytes, size_t size, uint64_t at)
{
	const uint8_t *from = bytes;

	while (size) {
		ssize_t done = pwrite(fd, from, size, (off_t)at);

		if (done <= 0)
			return false;
		from += done;
		at += (uint64_t)done;
		size -= (size_t)done;
	}
	return true;
}

/* The next chunk from *AT on; *AT is where it is. False: there is none. */
static bool next_chunk(const struct packing *p, uint64_t *at,
		       struct swz_chunk *chunk)
{
	uint64_t end = p->header.used_bytes;

	for (; *at + sizeof(*chunk) <= end &&
	       read_all(p->from, chunk, sizeof(*chunk), *at);
	     *at += SWZ_UNIT_BYTES)
		if (chunk->magic == SWZ_CHUNK_MAGIC &&
		    chunk->bytes >= sizeof(*chunk) &&
		    chunk->bytes % SWZ_UNIT_BYTES == 0 &&
		    chunk->bytes <= end - *at)
			return true;
	*at = end;
	return false;
}

static bool is_for_packing(const struct swz_chunk *chunk)
{
	return chunk->type == SWZ_CHUNK_NODES && chunk->bytes >= CHUNK_BYTES &&
	       chunk->bytes <= MOST_CHUNK_BYTES;
}

static bool is_worth_it(const struct packing *p)
{
	uint64_t at = SWZ_HEADER_BYTES, nodes = 0, rest = 0;
	struct swz_chunk chunk;

	while (next_chunk(p, &at, &chunk)) {
		if (is_for_packing(&chunk))
			nodes += chunk.bytes;
		else if (chunk.type != SWZ_CHUNK_PADDING)
			rest += chunk.bytes;
		at += chunk.bytes;
	}
	return nodes >= WORTH_BYTES && nodes >= rest;
}

/* Pages of zeros stay holes. */
static bool copy(const struct packing *p, uint64_t at, uint64_t end)
{
	static const uint8_t zeros[SWZ_PAGE];
	uint8_t block[BLOCK_BYTES];

	while (at < end) {
		uint64_t size = BLOCK_BYTES - at % BLOCK_BYTES, part;

		if (size > end - at)
			size = end - at;
		if (!read_all(p->from, block, size, at))
			return false;
		for (uint64_t done = 0; done < size; done += part) {
			part = SWZ_PAGE - (at + done) % SWZ_PAGE;
			if (part > size - done)
				part = size - done;
			if (memcmp(block + done, zeros, part) != 0 &&
			    !write_all(p->to, block + done, part, at + done))
				return false;
		}
		at += size;
	}
	return true;
}

/* Slots behind the last that is used need not be said. */
static uint32_t used_slots(const struct swz_node *nodes, uint32_t count)
{
	while (count && nodes[count - 1].function == SWZ_FUNCTION_NONE)
		count--;
	return count;
}

static bool pack_nodes(const struct packing *p, struct swz_chunk *chunk,
		       uint64_t at)
{
	uint64_t body = at + sizeof(*chunk),
		 room = chunk->bytes - sizeof(*chunk);
	const struct swz_node *nodes = (const void *)p->nodes;
	struct swz_packed_nodes before = {0};
	uint64_t bytes = 0;
	uint32_t count = chunk->count;

	if (!read_all(p->from, p->nodes, room, body))
		return false;
	if (count > room / sizeof(*nodes))
		count = (uint32_t)(room / sizeof(*nodes));
	count = used_slots(nodes, count);
	for (uint32_t i = 0; i < count; i++) {
		if (bytes + SWZ_PACKED_NODE_BYTES > room)
			return copy(p, at, at + chunk->bytes);
		bytes += swz_node_pack(p->packed + bytes, &before,
				       (uint32_t)(body / SWZ_UNIT_BYTES) + i,
				       &nodes[i]);
	}
	chunk->type = SWZ_CHUNK_PACKED_NODES;
	chunk->reserved[SWZ_PACKED_NODES_BYTES] = bytes;
	return write_all(p->to, chunk, sizeof(*chunk), at) &&
	       write_all(p->to, p->packed, bytes, body);
}

static bool pack_chunks(const struct packing *p)
{
	uint64_t at = SWZ_HEADER_BYTES, end = at;
	struct swz_chunk chunk;

	while (next_chunk(p, &at, &chunk)) {
		if (!copy(p, end, at))
			return false;
		end = at + chunk.bytes;
		if (is_for_packing(&chunk) ? !pack_nodes(p, &chunk, at)
					   : !copy(p, at, end))
			return false;
		at = end;
	}
	return copy(p, end, p->header.used_bytes) &&
	       copy(p, 0, SWZ_HEADER_BYTES);
}

/* The new file has the same owner, rights and times. */
static bool describe(int fd, const struct stat *st)
{
	const struct timespec times[] = {st->st_atim, st->st_mtim};

	return fchown(fd, st->st_uid, st->st_gid) == 0 &&
	       fchmod(fd, st->st_mode & 07777) == 0 && futimens(fd, times) == 0;
}

/* Whoever would remove the old file, or put another one in its place, needs its
 * lock first (runtime/record/file_mapping.c). */
static bool replace(const struct packing *p, int folder, const char *name,
		    const struct stat *st)
{
	char path[64], new_name[64];
	struct stat now;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", p->to);
	snprintf(new_name, sizeof(new_name), ".swizzle-packed.%d",
		 (int)getpid());
	if (fstatat(folder, name, &now, AT_SYMLINK_NOFOLLOW) != 0 ||
	    now.st_dev != st->st_dev || now.st_ino != st->st_ino ||
	    linkat(AT_FDCWD, path, folder, new_name, AT_SYMLINK_FOLLOW) != 0)
		return false;
	if (renameat(folder, new_name, folder, name) == 0)
		return true;
	unlinkat(folder, new_name, 0);
	return false;
}

static void pack_open(struct packing *p, int folder, const char *name,
		      const struct stat *st)
{
	p->nodes = malloc(MOST_CHUNK_BYTES);
	p->packed = malloc(MOST_CHUNK_BYTES);
	p->to = openat(folder, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (p->nodes && p->packed && p->to >= 0 &&
	    ftruncate(p->to, (off_t)p->header.used_bytes) == 0 &&
	    pack_chunks(p) && describe(p->to, st) &&
	    flock(p->from, LOCK_EX | LOCK_NB) == 0)
		(void)replace(p, folder, name, st);
	if (p->to >= 0)
		close(p->to);
	free(p->nodes);
	free(p->packed);
}

/* CONTEXT: set to false if a process still writes one. */
static void pack_profile(void *context, const struct swz_run_profile *profile)
{
	struct packing p = {.from = profile->fd, .header = *profile->header};
	bool *done = context;

	if (p.header.flags & (SWZ_FILE_SAMPLES | SWZ_FILE_MERGED))
		return;
	if (swz_has_writer(p.from, &p.header)) {
		*done = false;
		return;
	}
	/* of one that has ended since it was read */
	if (read_all(p.from, &p.header, sizeof(p.header), 0) &&
	    p.header.used_bytes <= (uint64_t)profile->status->st_size &&
	    is_worth_it(&p))
		pack_open(&p, profile->folder, profile->name, profile->status);
}

static bool pack_all(const struct swz_run *run)
{
	bool done = true;

	swz_run_profiles_each(run, pack_profile, &done);
	return done;
}

/* Twice as long each time: six seconds in all. */
#define FIRST_WAIT_NS 100000000
#define WAITS 6

void swz_packing_run(const struct swz_run *run)
{
	long wait = FIRST_WAIT_NS;

	for (int i = 0; !pack_all(run) && i < WAITS; i++, wait *= 2) {
		const struct timespec time = {wait / 1000000000,
					      wait % 1000000000};

		nanosleep(&time, NULL);
	}
}

/* --- the end of a run ---------------------------------------------------- */

/* A process has a file for each program that it has executed. */
struct latest {
	const struct swz_run *run;
	uint64_t start_ticks;
	int fd; /* of it, for writing; -1: it has an end */
};

static void look_at(void *context, const struct swz_run_profile *profile)
{
	const struct swz_file_header *h = profile->header;
	struct latest *latest = context;
	char path[64]; /* the same file, not one that has its name by now */

	if (!swz_run_is_root(latest->run, h) ||
	    h->flags & (SWZ_FILE_SAMPLES | SWZ_FILE_MERGED) ||
	    h->start_ticks < latest->start_ticks)
		return;
	if (latest->fd >= 0)
		close(latest->fd);
	latest->fd = -1;
	latest->start_ticks = h->start_ticks;
	if (h->flags & SWZ_FILE_ENDED || h->end_ticks)
		return;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", profile->fd);
	latest->fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
}

void swz_run_note_end(const struct swz_run *run)
{
	struct latest latest = {.run = run, .fd = -1};

	swz_run_profiles_each(run, look_at, &latest);
	if (latest.fd < 0)
		return;
	(void)!pwrite(latest.fd, &run->end_ticks, sizeof(run->end_ticks),
		      offsetof(struct swz_file_header, end_ticks));
	close(latest.fd);
}
