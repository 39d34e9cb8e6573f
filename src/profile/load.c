/* The used part of a file is copied into memory, all but events, so that a
 * process that still writes to it, or cuts it off, cannot pull checked bytes
 * from under us. */

#include "profile/load.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "profile/scan.h"

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

size_t swz_profile_bytes(const struct swz_profile *profile, uint64_t offset,
			 void *to, size_t size)
{
	ssize_t got;

	if (offset >= profile->size)
		return 0;
	if (size > profile->size - offset)
		size = (size_t)(profile->size - offset);
	if (profile->fd < 0) {
		memcpy(to, profile->data + offset, size);
		return size;
	}
	got = swz_read_fully(profile->fd, to, size, offset);
	return got < 0 ? 0 : (size_t)got;
}

#define LOAD_AT_LEAST ((uint64_t)64 << 10)

bool swz_load(struct swz_loading *from, uint64_t end)
{
	uint64_t size;
	ssize_t got;

	if (end <= from->have)
		return true;
	size = end - from->have;
	if (size < LOAD_AT_LEAST)
		size = LOAD_AT_LEAST;
	if (size > from->size - from->have)
		size = from->size - from->have;
	got = swz_read_fully(from->fd, from->data + from->have, size,
			     from->have);
	if (got < 0)
		return false;
	from->have += (uint64_t)got;
	if ((uint64_t)got < size)
		from->size = from->have;
	return true;
}

bool swz_load_chunks(struct swz_loading *from)
{
	uint64_t offset = SWZ_HEADER_BYTES;
	struct swz_chunk chunk;

	while (offset < from->size && from->size - offset >= sizeof(chunk)) {
		uint64_t left = from->size - offset;

		if (from->have < offset)
			from->have = offset;
		if (!swz_load(from, offset + sizeof(chunk)))
			return false;
		memcpy(&chunk, from->data + offset, sizeof(chunk));
		if (!swz_chunk_plausible(&chunk)) {
			offset += SWZ_UNIT_BYTES;
			continue;
		}
		if (chunk.bytes < left)
			left = chunk.bytes;
		if (chunk.type != SWZ_CHUNK_EVENTS &&
		    !swz_load(from, offset + left))
			return false;
		offset += left;
	}
	return swz_load(from, offset < from->size ? from->size : 0);
}
