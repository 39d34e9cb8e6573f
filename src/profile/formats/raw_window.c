#include "profile/formats/raw_parts.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

size_t swz_raw_get(struct swz_raw_dump *dump, uint64_t offset, void *to,
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

void swz_raw_problem(struct swz_raw_dump *dump, const char *what)
{
	fprintf(dump->stream, "  ! %s\n", what);
	dump->problems++;
}
