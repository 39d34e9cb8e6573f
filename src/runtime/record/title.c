/* The kernel shows the bytes from the first argument to the end of the last;
 * or, where the last of them is no NUL any more, on to the first NUL in what
 * was the environment (proc(5), cmdline). A program may do so before each
 * request that it serves: the chunk is written over then. */

#include "runtime/record/title.h"

#include <string.h>

#include "image/hash.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"

#define MOST_BYTES 1000u /* of a title, its NUL included */
#define LOOKED_AT_BYTES 128u

static const char *start, *end, *limit; /* of the arguments; of all behind */
static uint64_t seen;                   /* a hash of their beginning */

/* The latest title's place, in the file of that start: a forked child's is
 * another one. */
static char *place;
static uint64_t place_in;

static uint64_t hash(void)
{
	size_t bytes = (size_t)(end - start);

	return swz_hash(0, (struct swz_bytes){(const uint8_t *)start,
					      bytes < LOOKED_AT_BYTES
						      ? bytes
						      : LOOKED_AT_BYTES});
}

static const char *end_of(char **strings, const char *before)
{
	while (*strings && *strings == before) {
		before = *strings + strlen(*strings) + 1;
		strings++;
	}
	return before;
}

void swz_title_begin(int argc, char **argv, char **envp)
{
	if (argc < 1)
		return;
	start = argv[0];
	end = end_of(argv, start);
	limit = end_of(envp, end);
	seen = hash();
}

static char *take_place(void)
{
	struct swz_chunk *chunk;

	if (place && place_in == swz_file->start_ticks)
		return place;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_TITLE, MOST_BYTES, 1, 0);
	if (!chunk)
		return NULL;
	memset(chunk + 1, 0, MOST_BYTES);
	swz_chunk_publish(chunk);
	place = (char *)(chunk + 1);
	place_in = swz_file->start_ticks;
	return place;
}

bool swz_title_is_new(void)
{
	return start && hash() != seen;
}

void swz_title_note(void)
{
	const char *last = end;
	size_t bytes;
	char *to;

	if (!start)
		return;
	seen = hash();
	to = take_place();
	if (!to)
		return;
	while (last[-1] && last < limit)
		last++;
	bytes = (size_t)(last - start);
	if (bytes > MOST_BYTES - 1)
		bytes = MOST_BYTES - 1;
	while (bytes && !start[bytes - 1])
		bytes--;
	for (size_t i = 0; i < bytes; i++)
		to[i] = start[i];
	for (size_t i = 0; i < bytes; i++)
		if (!to[i])
			to[i] = ' ';
	memset(to + bytes, 0, MOST_BYTES - bytes);
}
