/* Code that changes while threads may execute it: the table of sites, which the
 * controller reads from outside, and the exchange of whole pages for the sites
 * that the library has to write itself. */

#include "runtime/support/live_sites.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/control.h"
#include "base/syscall.h"
#include "thunks/maps.h"

/* ----------------------------------------------- bytes that change at once */

/* mmap and mremap with MAP_FIXED take the old pages away and bring the new ones
 * while they hold the lock of the address space for themselves (mmap(2)). A
 * thread that comes there meanwhile has a page fault, and waits for it. */

#define MOST_BYTES (2 * SWZ_PAGE)

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

	*p = (struct pages){.start = swz_page_down(address)};
	p->bytes = swz_page_up(address + length) - p->start;
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

/* ------------------------------------------------------ the table of sites */

/* The table is read by another process, so what is added is there before it is
 * counted. One thread adds: the one that plans, and later the one that the
 * dynamic linker has loading something. */

/* It outlives a reset. */
struct swz_control swizzle_control
	__attribute__((visibility("default"), section(".data.kept"))) = {
		.magic = SWZ_CONTROL_MAGIC,
		.version = SWZ_CONTROL_VERSION,
		.bytes = sizeof(struct swz_control),
};

#define FIRST_ROOM 4096u

static uint32_t functions;
static uint32_t room; /* for so many sites */

static void *map_zeros(uint64_t bytes)
{
	return swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

static void note_change(void)
{
	__atomic_store_n(&swizzle_control.site_changes,
			 swizzle_control.site_changes + 1, __ATOMIC_RELEASE);
}

bool swz_live_sites_begin(void)
{
	struct swz_control *c = &swizzle_control;

	functions = room = 0;
	c->site_count = c->code_count = c->lasting = 0;
	c->sites = 0;
	c->code = (uintptr_t)map_zeros(SWZ_CONTROL_MOST_CODE *
				       sizeof(struct swz_control_code));
	return c->code != 0;
}

/* The controller reads none of it meanwhile: nothing is added but while a plan
 * is made, and in events of the dynamic linker (late_busy). */
static bool make_room(uint32_t more)
{
	struct swz_control *c = &swizzle_control;
	void *old = (void *)(uintptr_t)c->sites;
	struct swz_control_site *table;

	if (!c->code || more > SWZ_CONTROL_MOST_SITES)
		return false;
	table = map_zeros(more * sizeof(*table));
	if (!table)
		return false;
	if (room)
		memcpy(table, old, room * sizeof(*table));
	c->sites = (uintptr_t)table;
	if (room)
		swz_sys_munmap(old, room * sizeof(*table));
	room = more;
	return true;
}

void swz_live_sites_expect(uint32_t count)
{
	struct swz_control *c = &swizzle_control;

	if (count > room - c->site_count && make_room(c->site_count + count) &&
	    count > FIRST_ROOM)
		SWZ_SYSCALL(SYS_madvise, c->sites,
			    room * sizeof(struct swz_control_site) & -4096ul,
			    MADV_POPULATE_WRITE);
}

uint32_t swz_live_sites_functions(uint32_t count)
{
	functions += count;
	return functions - count;
}

/* A function's hook, though not where it begins. */
static bool lasts(const struct swz_control_site *s)
{
	return s->flags & SWZ_SITE_LASTS && s->phase == SWZ_PHASE_JUMP;
}

static bool add(const struct swz_control_site *site)
{
	struct swz_control *c = &swizzle_control;

	if (c->site_count == room && !make_room(room ? 2 * room : FIRST_ROOM))
		return false;
	((struct swz_control_site *)(uintptr_t)c->sites)[c->site_count] = *site;
	c->lasting += lasts(site);
	/* release: matches the reading of the count by the controller */
	__atomic_store_n(&c->site_count, c->site_count + 1, __ATOMIC_RELEASE);
	note_change();
	return true;
}

bool swz_live_sites_add(uint64_t address, const uint8_t *bytes, unsigned length,
			enum swz_control_phase phase, uint32_t function,
			uint32_t host, unsigned flags)
{
	struct swz_control_site s = {
		.address = address,
		.function = function,
		.host = host,
		.length = (uint8_t)length,
		.phase = (uint8_t)phase,
		.flags = (uint8_t)flags,
	};

	if (!(flags & SWZ_SITE_LASTS) &&
	    !swz_live_site_in_one_page(address, length))
		return false;
	memcpy(s.before, (const void *)(uintptr_t)address, length);
	memcpy(s.after, bytes, length);
	return add(&s);
}

void swz_live_sites_add_switch(const uint8_t *at, const uint8_t *past,
			       unsigned length, uint32_t function)
{
	struct swz_control_site s = {
		.address = (uintptr_t)at,
		.function = function,
		.host = SWZ_NO_HOST,
		.length = (uint8_t)length,
		.phase = SWZ_PHASE_JUMP,
	};

	memcpy(s.before, past, length);
	memcpy(s.after, at, length);
	(void)add(&s);
}

void swz_live_sites_code(const void *start, uint64_t bytes)
{
	struct swz_control *c = &swizzle_control;
	struct swz_control_code *code;

	if (!c->code || c->code_count == SWZ_CONTROL_MOST_CODE)
		return;
	code = (struct swz_control_code *)(uintptr_t)c->code + c->code_count;
	code->start = (uintptr_t)start;
	code->end = (uintptr_t)start + bytes;
	__atomic_store_n(&c->code_count, c->code_count + 1, __ATOMIC_RELEASE);
}

void swz_live_sites_gone(uint64_t start, uint64_t end, bool gone)
{
	struct swz_control *c = &swizzle_control;
	struct swz_control_site *s =
		(struct swz_control_site *)(uintptr_t)c->sites;

	for (uint32_t i = 0; i < c->site_count; i++) {
		if (s[i].address < start || s[i].address >= end ||
		    !(s[i].flags & SWZ_SITE_GONE) != gone)
			continue;
		s[i].flags ^= SWZ_SITE_GONE;
		if (lasts(&s[i]))
			c->lasting += gone ? -1u : 1u;
	}
	note_change();
}

/* ------------------------------------------- trampolines that are taken away
 */

/* How far a short jump reaches. */
#define SHORT 128u

static bool leads_into(const struct swz_control_site *s, uint64_t start,
		       uint64_t end)
{
	int32_t distance;

	if (s->length != sizeof(s->after))
		return false;
	memcpy(&distance, s->after + 1, sizeof(distance));
	return s->address + s->length + (uint64_t)(int64_t)distance - start <
	       end - start;
}

/* The functions of one module follow each other, and so do their sites. */
void swz_live_sites_lose(uint64_t start, uint64_t end)
{
	static const uint8_t downwards[] = {SWZ_PHASE_SHORT, SWZ_PHASE_ISLAND,
					    SWZ_PHASE_JUMP, SWZ_PHASE_INNER};
	const struct swz_control *c = &swizzle_control;
	const struct swz_control_site *sites =
		(const struct swz_control_site *)(uintptr_t)c->sites;
	uint64_t low = UINT64_MAX, high = 0;

	for (uint32_t i = 0; i < c->site_count; i++) {
		uint64_t address = sites[i].address;

		if (!leads_into(&sites[i], start, end) ||
		    address - start < end - start)
			continue;
		low = address < low ? address : low;
		high = address > high ? address : high;
	}
	if (low > high)
		return;
	low -= SHORT;
	high += SHORT;
	for (unsigned p = 0; p < sizeof(downwards); p++)
		for (uint32_t i = 0; i < c->site_count; i++) {
			const struct swz_control_site *s = &sites[i];

			if (s->phase == downwards[p] && s->address >= low &&
			    s->address < high && !(s->flags & SWZ_SITE_GONE) &&
			    memcmp((const void *)(uintptr_t)s->address,
				   s->after, s->length) == 0)
				(void)swz_code_replace(s->address, s->before,
						       s->length);
		}
	swz_live_sites_gone(low, high, true);
	swz_live_sites_gone(start, end, true);
}

/* --------------------------------------------------------- sites that last */

/* A jump is one instruction: no thread is within it. Those behind it in the
 * function come last. As long as it is there, they are needed: branches back
 * into it would lead into its midst. */

/* True if the bytes of one that lasts are there. (While a profile is detached,
 * modules may be unloaded without its notice.) */
static bool is_there(const struct swz_control_site *s)
{
	return s->flags & SWZ_SITE_LASTS && !(s->flags & SWZ_SITE_GONE) &&
	       swz_sys_is_readable(s->address) &&
	       swz_sys_is_readable((s->address + s->length - 1) & -8ull) &&
	       memcmp((const void *)(uintptr_t)s->address, s->after,
		      s->length) == 0;
}

/* True if the jump of a site's function had to be left. */
static bool is_left(const struct swz_control_site *sites, uint32_t count,
		    uint32_t function)
{
	for (uint32_t i = 0; i < count; i++)
		if (sites[i].function == function &&
		    sites[i].phase == SWZ_PHASE_JUMP && is_there(&sites[i]))
			return true;
	return false;
}

static bool restore(const struct swz_control_site *s)
{
	return swz_code_replace(s->address, s->before, s->length);
}

void swz_lasting_sites_restore(void)
{
	struct swz_control *c = &swizzle_control;
	const struct swz_control_site *sites =
		(const struct swz_control_site *)(uintptr_t)c->sites;
	uint32_t left = 0;

	for (uint32_t i = 0; i < c->site_count; i++)
		if (sites[i].phase == SWZ_PHASE_JUMP && is_there(&sites[i]))
			left += !restore(&sites[i]);
	for (uint32_t i = 0; i < c->site_count; i++)
		if (sites[i].phase != SWZ_PHASE_JUMP && is_there(&sites[i]) &&
		    !is_left(sites, c->site_count, sites[i].function))
			(void)restore(&sites[i]);
	c->lasting = left;
}
