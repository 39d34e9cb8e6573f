/* The used part of a file is copied into memory, all but packed events, so that
 * a process that still writes to it, or cuts it off, cannot pull checked bytes
 * from under us. */

#include "profile/file/load.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

ssize_t swz_read_fully(int fd, uint8_t *data, size_t size, uint64_t offset)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = pread(fd, data + done, size - done,
				    (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		done += (size_t)got;
	}
	return (ssize_t)done;
}

size_t swz_profile_loaded(const struct swz_profile *profile, uint64_t offset,
			  void *to, size_t size)
{
	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	memcpy(to, profile->data + offset, size);
	return size;
}

size_t swz_profile_bytes(const struct swz_profile *profile, uint64_t offset,
			 void *to, size_t size)
{
	ssize_t got;

	if (profile->fd < 0)
		return swz_profile_loaded(profile, offset, to, size);
	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	got = swz_read_fully(profile->fd, to, size, offset);
	return got < 0 ? 0 : (size_t)got;
}

#define PAGE 4096u

/* Chunks are small as a rule; but what follows something that is skipped may be
 * skipped, too. */
#define LOAD_AT_LEAST ((uint64_t)64 << 10)
#define LOAD_BEHIND_SKIPPED ((uint64_t)PAGE)

bool swz_load(struct swz_loading *from, uint64_t end)
{
	uint64_t least = from->skipping ? LOAD_BEHIND_SKIPPED : LOAD_AT_LEAST;
	uint64_t size;
	ssize_t got;

	if (end <= from->have)
		return true;
	size = end - from->have;
	if (size < least)
		size = least;
	if (size > from->size - from->have)
		size = from->size - from->have;
	got = swz_read_fully(from->fd, from->data + from->have, size,
			     from->have);
	if (got < 0)
		return false;
	from->have += (uint64_t)got;
	from->skipping = false;
	if ((uint64_t)got < size)
		from->size = from->have;
	return true;
}

/* Where something is skipped more will be, and a large page takes what is not
 * wanted, too. */
static void use_small_pages(struct swz_loading *from)
{
	uint64_t first = (from->have + PAGE - 1) & ~(uint64_t)(PAGE - 1);

	if (!from->in_small_pages && first < from->size)
		(void)madvise(from->data + first, from->size - first,
			      MADV_NOHUGEPAGE);
	from->in_small_pages = true;
}

void swz_load_skip(struct swz_loading *from, uint64_t start, uint64_t end)
{
	uint64_t first = (start + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	uint64_t last = end < from->have ? end : from->have;

	last &= ~(uint64_t)(PAGE - 1);
	if (first < last)
		(void)madvise(from->data + first, last - first, MADV_DONTNEED);
	use_small_pages(from);
	if (from->have < end)
		from->have = end;
	from->skipping = true;
}

uint64_t swz_load_past_hole(struct swz_loading *from, uint64_t offset)
{
	off_t data;
	uint64_t next;

	if (offset < from->have || offset >= from->size)
		return offset;
	data = lseek(from->fd, (off_t)offset, SEEK_DATA);
	if (data < 0 && errno != ENXIO)
		return offset;
	next = data < 0 ? from->size : (uint64_t)data & ~(uint64_t)(PAGE - 1);
	if (next > from->size)
		next = from->size;
	if (next <= offset)
		return offset;
	swz_load_skip(from, offset, next);
	return next;
}
