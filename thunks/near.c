/* One pass over /proc/self/maps, which lists mappings in order of address:
 * each gap between two is a candidate, its best placement the one closest to
 * the range. A gap below a growing stack is left alone for some way. */

#include "thunks/near.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

#define REACH 0x7fff0000ull /* a bit less than 2 GiB */
#define LOWEST 0x10000ull
#define STACK_ROOM (256ull << 20)
#define HEAP_ROOM (256ull << 20) /* the program break grows upwards */
#define HIGHEST 0x7ffffffff000ull

struct search {
	uint64_t start, end, bytes;
	uint64_t best, best_distance;
};

static void consider(struct search *s, uint64_t low, uint64_t high)
{
	uint64_t at, distance, first, last;

	if (low < LOWEST)
		low = LOWEST;
	if (high < low || high - low < s->bytes)
		return;
	if (low >= s->end) { /* above: as low as it goes */
		at = low;
		first = s->start;
		last = at + s->bytes;
	} else { /* below: as high as it goes */
		at = high - s->bytes;
		first = at;
		last = s->end;
	}
	distance = last - first;
	if (distance > REACH || (s->best && distance >= s->best_distance))
		return;
	s->best = at;
	s->best_distance = distance;
}

/* One line: "low-high perms ... path". */
struct line {
	uint64_t low, high;
	bool is_stack, is_heap;
};

struct reader {
	char text[4096];
	long length, at;
	long fd;
};

static int next_char(struct reader *r)
{
	if (r->at == r->length) {
		r->length = SWZ_SYSCALL(SYS_read, r->fd, r->text,
					sizeof(r->text));
		r->at = 0;
		if (r->length <= 0)
			return -1;
	}
	return (unsigned char)r->text[r->at++];
}

static bool read_hex(struct reader *r, uint64_t *value, int end)
{
	*value = 0;
	for (;;) {
		int c = next_char(r);

		if (c == end)
			return true;
		if (c >= '0' && c <= '9')
			*value = *value * 16 + (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			*value = *value * 16 + (uint64_t)(c - 'a' + 10);
		else
			return false;
	}
}

static bool read_line(struct reader *r, struct line *line)
{
	char tail[8] = "";
	int c;

	if (!read_hex(r, &line->low, '-') || !read_hex(r, &line->high, ' '))
		return false;
	while ((c = next_char(r)) != '\n' && c >= 0) {
		memmove(tail, tail + 1, sizeof(tail) - 2);
		tail[sizeof(tail) - 2] = (char)c;
	}
	line->is_stack = memcmp(tail, "[stack]", 7) == 0;
	line->is_heap = memcmp(tail + 1, "[heap]", 6) == 0;
	return true;
}

void *swz_near_map(uint64_t start, uint64_t end, size_t bytes)
{
	struct search s = { .start = start, .end = end,
			    .bytes = (bytes + 4095) & ~(uint64_t)4095 };
	struct reader r = { .length = 0 };
	struct line line;
	uint64_t low = LOWEST;

	r.fd = SWZ_SYSCALL(SYS_open, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	if (r.fd < 0)
		return NULL;
	while (read_line(&r, &line) && line.low < HIGHEST) {
		uint64_t high = line.low;

		if (line.is_stack)
			high = high > STACK_ROOM ? high - STACK_ROOM : 0;
		consider(&s, low, high);
		low = line.high;
		if (line.is_heap)
			low += HEAP_ROOM;
	}
	consider(&s, low, HIGHEST);
	SWZ_SYSCALL(SYS_close, r.fd);
	if (!s.best)
		return NULL;
	return swz_sys_mmap((void *)(uintptr_t)s.best, s.bytes,
			    PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
				    MAP_FIXED_NOREPLACE,
			    -1, 0);
}
