/* mmap and mremap with MAP_FIXED take the old pages away and bring the new ones
 * while they hold the lock of the address space for themselves (mmap(2)). A
 * thread that comes there meanwhile has a page fault, and waits for it. */

#include "runtime/support/code_pages.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/maps.h"

#define PAGE UINT64_C(4096)
#define MOST_BYTES (2 * PAGE)

struct pages {
	uint64_t start, bytes;
	struct swz_mapping mapping; /* in which the first one lies */
};

/* False: they are not all private, executable and only that. */
static bool find_pages(struct pages *p, uint64_t address, unsigned length)
{
	struct swz_mapping m;
	struct swz_maps maps;
	uint64_t end;

	p->start = address & -PAGE;
	p->bytes = ((address + length + PAGE - 1) & -PAGE) - p->start;
	end = p->start;
	if (p->bytes > MOST_BYTES || !swz_maps_open(&maps))
		return false;
	while (end < p->start + p->bytes && swz_maps_next(&maps, &m)) {
		if (m.high <= end)
			continue;
		if (m.low > end || !m.is_private ||
		    m.protection != (PROT_READ | PROT_EXEC))
			break;
		if (end == p->start)
			p->mapping = m;
		end = m.high;
	}
	swz_maps_close(&maps);
	return end >= p->start + p->bytes;
}

static unsigned put_hex(char *at, uint64_t value)
{
	unsigned digits = 1;

	while (digits < 16 && value >> 4 * digits)
		digits++;
	for (unsigned i = 0; i < digits; i++)
		at[i] = "0123456789abcdef"[value >> 4 * (digits - 1 - i) & 15];
	return digits;
}

/* -1: it has none, or it cannot be opened any more. */
static long open_file(const struct swz_mapping *m)
{
	char link[64] = "/proc/self/map_files/", path[4096];
	unsigned n = (unsigned)strlen(link);
	long length;

	n += put_hex(link + n, m->low);
	link[n++] = '-';
	n += put_hex(link + n, m->high);
	link[n] = '\0';
	length = SWZ_SYSCALL(SYS_readlinkat, AT_FDCWD, link, path,
			     sizeof(path) - 1);
	if (length <= 0 || path[0] != '/')
		return -1;
	path[length] = '\0';
	return SWZ_SYSCALL(SYS_openat, AT_FDCWD, path,
			   O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
}

/* Maps the file's pages, if they are what is wanted. SPARE: as much memory. */
static bool map_file(const struct pages *p, const uint8_t *wanted,
		     uint8_t *spare)
{
	uint64_t offset = p->mapping.offset + (p->start - p->mapping.low);
	long fd = open_file(&p->mapping);
	bool done;

	if (fd < 0)
		return false;
	/* (not by swz_sys_mmap: it is no memory of ours) */
	done = SWZ_SYSCALL(SYS_pread64, fd, spare, p->bytes, offset) ==
		       (long)p->bytes &&
	       memcmp(spare, wanted, p->bytes) == 0 &&
	       SWZ_SYSCALL(SYS_mmap, p->start, p->bytes, p->mapping.protection,
			   MAP_PRIVATE | MAP_FIXED, fd,
			   offset) == (long)p->start;
	SWZ_SYSCALL(SYS_close, fd);
	return done;
}

/* Puts the pages there; at WANTED there are none any more. */
static bool move(const struct pages *p, uint8_t *wanted)
{
	if (swz_sys_mprotect(wanted, p->bytes, p->mapping.protection) != 0 ||
	    SWZ_SYSCALL(SYS_mremap, wanted, p->bytes, p->bytes,
			MREMAP_MAYMOVE | MREMAP_FIXED,
			p->start) != (long)p->start)
		return false;
	swz_own_remove((uintptr_t)wanted, p->bytes);
	return true;
}

static uint8_t *map(uint64_t bytes)
{
	return swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static bool replace(const struct pages *p, uint8_t *wanted)
{
	uint8_t *spare = map(p->bytes);
	bool done = spare && map_file(p, wanted, spare);

	if (spare)
		swz_sys_munmap(spare, p->bytes);
	if (!done && move(p, wanted))
		return true;
	swz_sys_munmap(wanted, p->bytes);
	return done;
}

bool swz_code_replace(uint64_t address, const uint8_t *bytes, unsigned length)
{
	struct pages p;
	uint8_t *wanted;

	if (!find_pages(&p, address, length))
		return false;
	wanted = map(p.bytes);
	if (!wanted)
		return false;
	memcpy(wanted, (const void *)(uintptr_t)p.start, p.bytes);
	memcpy(wanted + (address - p.start), bytes, length);
	return replace(&p, wanted);
}
