/* The nodes are linked through a field that they do not need; the header says
 * where that begins, so a forked child, which has another file, begins anew.
 *
 * The map is read into memory of its own, and the lines that are wanted are
 * moved to its beginning. */

#include "runtime/record/code_names.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/syscall.h"
#include "runtime/record/chunks.h"
#include "runtime/record/file.h"

#define MOST_BYTES (UINT64_C(256) << 20)
#define NS_PER_SECOND 1000000000u

void swz_code_note(struct swz_node *node)
{
	_Atomic uint32_t *latest = (_Atomic uint32_t *)&swz_file->latest_code;
	uint32_t before = atomic_load_explicit(latest, memory_order_relaxed);

	do
		node->outer_ticks = before;
	while (!atomic_compare_exchange_weak_explicit(
		latest, &before, swz_unit_of(node), memory_order_relaxed,
		memory_order_relaxed));
}

struct addresses {
	uint64_t *at; /* sorted */
	size_t count;
	size_t bytes; /* of the mapping */
};

/* By Shell's method (1959), with Knuth's distances. */
static void sort(uint64_t *of, size_t count)
{
	size_t distance = 1;

	while (distance < count / 3)
		distance = 3 * distance + 1;
	for (; distance; distance /= 3)
		for (size_t i = distance; i < count; i++) {
			uint64_t moved = of[i];
			size_t to = i;

			for (; to >= distance && of[to - distance] > moved;
			     to -= distance)
				of[to] = of[to - distance];
			of[to] = moved;
		}
}

static bool collect(struct addresses *addresses)
{
	const struct swz_node *node;
	uint32_t latest = swz_file->latest_code, unit;
	size_t count = 0;

	for (unit = latest; unit; unit = (uint32_t)node->outer_ticks) {
		node = swz_unit_at(unit);
		count++;
	}
	addresses->bytes = count * sizeof(*addresses->at);
	addresses->count = 0;
	if (!count)
		return false;
	addresses->at = swz_sys_mmap(NULL, addresses->bytes,
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!addresses->at)
		return false;
	for (unit = latest; unit; unit = (uint32_t)node->outer_ticks) {
		node = swz_unit_at(unit);
		/* a call may be the last that there is of a function */
		if (node->call_site != SWZ_CALL_SITE_TAIL)
			addresses->at[addresses->count++] = node->call_site - 1;
	}
	sort(addresses->at, addresses->count);
	return true;
}

static bool is_wanted(const struct addresses *addresses, uint64_t start,
		      uint64_t size)
{
	size_t low = 0, high = addresses->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses->at[middle] < start)
			low = middle + 1;
		else
			high = middle;
	}
	return low < addresses->count && addresses->at[low] - start < size;
}

/* A hexadecimal number, with or without 0x, and a blank. */
static bool take_number(const char **at, const char *end, uint64_t *number)
{
	const char *first;

	while (*at < end && **at == ' ')
		++*at;
	if (end - *at > 2 && (*at)[0] == '0' && (*at)[1] == 'x')
		*at += 2;
	*number = 0;
	for (first = *at; *at < end; ++*at) {
		unsigned digit = (unsigned)(**at - '0');

		if (digit > 9)
			digit = ((unsigned)**at | 0x20u) - 'a' + 10;
		if (digit > 15 || (digit < 10 && **at > '9'))
			break;
		*number = *number << 4 | digit;
	}
	return *at > first && *at < end && **at == ' ';
}

/* Moves the lines that are wanted to the beginning; returns their bytes. */
static size_t keep_lines(const struct addresses *addresses, char *text,
			 size_t size, uint32_t *lines)
{
	const char *at = text, *end = text + size;
	size_t kept = 0;

	while (at < end) {
		const char *number = at, *newline = at;
		uint64_t start, bytes;

		while (newline < end && *newline && *newline != '\n')
			newline++;
		if (newline == end)
			break;
		if (*newline == '\n' && take_number(&number, newline, &start) &&
		    take_number(&number, newline, &bytes) &&
		    is_wanted(addresses, start, bytes)) {
			size_t length = (size_t)(newline + 1 - at);

			memmove(text + kept, at, length);
			kept += length;
			++*lines;
		}
		at = newline + 1;
	}
	return kept;
}

static void write_path(char path[32])
{
	static const char before[] = "/tmp/perf-", behind[] = ".map";
	uint32_t pid = (uint32_t)SWZ_SYSCALL(SYS_getpid), digits = 1;
	char *at = path + sizeof(before) - 1;

	memcpy(path, before, sizeof(before) - 1);
	while (pid / digits >= 10)
		digits *= 10;
	for (; digits; digits /= 10)
		*at++ = (char)('0' + pid / digits % 10);
	memcpy(at, behind, sizeof(behind));
}

/* The process may have got the number of an earlier one, whose file that is. */
static bool is_ours(const struct stat *st)
{
	return (st->st_mode & S_IFMT) == S_IFREG && st->st_size > 0 &&
	       (uint64_t)st->st_size <= MOST_BYTES &&
	       (st->st_uid == 0 ||
		st->st_uid == (uid_t)SWZ_SYSCALL(SYS_geteuid)) &&
	       (uint64_t)st->st_mtim.tv_sec + 1 >=
		       swz_file->start_realtime_ns / NS_PER_SECOND;
}

static size_t read_fully(int fd, char *text, size_t size)
{
	size_t done = 0;
	long n;

	while (done < size &&
	       (n = SWZ_SYSCALL(SYS_read, fd, text + done, size - done)) > 0)
		done += (size_t)n;
	return done;
}

static void keep_from(int fd, const struct addresses *addresses, size_t size)
{
	char *text = swz_sys_mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct swz_chunk *chunk;
	uint32_t lines = 0;
	size_t kept;

	if (!text)
		return;
	kept = keep_lines(addresses, text, read_fully(fd, text, size), &lines);
	/* with a zero at the end */
	chunk = lines ? swz_chunk_take(swz_file, SWZ_CHUNK_CODE, kept + 1,
				       lines, 0)
		      : NULL;
	if (chunk) {
		memcpy(chunk + 1, text, kept);
		swz_chunk_publish(chunk);
	}
	swz_sys_munmap(text, size);
}

void swz_code_names_keep(void)
{
	struct addresses addresses;
	char path[32];
	struct stat st;
	long fd;

	if (!swz_file->latest_code)
		return;
	write_path(path);
	fd = SWZ_SYSCALL(SYS_open, path,
			 O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (SWZ_SYSCALL(SYS_fstat, fd, &st) == 0 && is_ours(&st) &&
	    collect(&addresses)) {
		keep_from((int)fd, &addresses, (size_t)st.st_size);
		swz_sys_munmap(addresses.at, addresses.bytes);
	}
	SWZ_SYSCALL(SYS_close, fd);
}
