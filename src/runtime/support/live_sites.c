/* The table is read by another process, so what is added is there before it is
 * counted. One thread adds: the one that plans, and later the one that the
 * dynamic linker has loading something. */

#include "runtime/support/live_sites.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"

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

static void *map(uint64_t bytes)
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
	c->code = (uintptr_t)map(SWZ_CONTROL_MOST_CODE *
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
	table = map(more * sizeof(*table));
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
	    !swz_live_site_is_whole(address, length))
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
