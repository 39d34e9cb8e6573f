/* The first calls, for memory, are made by a few instructions in a gap: zeros
 * at the end of some code's last page, which nothing executes. All later ones
 * by instructions in that memory. */

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "control/borrow.h"
#include "control/borrow_parts.h"
#include "control/interrupted.h"
#include "control/stop.h"
#include "watch/clock.h"

extern const uint8_t swz_stub_function[], swz_stub_function_end[];

#define PAGE UINT64_C(4096)
#define MOST_PLACES 20u /* that the program takes before we do */
#define MOST_LISTS 5u
#define BEGIN_NS 10000000u

_Static_assert(SWZ_REGION_DATA + sizeof(struct swz_stub_data) <=
		       SWZ_REGION_TEXTS,
	       "the region");

/* -------------------------------------------------------------- the gap */

/* Zeros at the end of the code's last page. */
static uint64_t gap_in(const struct swz_target *t,
		       const struct swz_target_mapping *m, size_t bytes)
{
	uint8_t last[256];

	if (!m->executable || m->writable || m->path[0] != '/' ||
	    !swz_target_read(t, m->end - sizeof(last), last, sizeof(last)))
		return 0;
	/* (an earlier controller may have left its own there) */
	if (memcmp(last + sizeof(last) - bytes, swz_stub_call, bytes) != 0)
		for (size_t i = sizeof(last) - bytes; i < sizeof(last); i++)
			if (last[i])
				return 0;
	return m->end - bytes;
}

static bool find_gap(struct swz_borrower *b)
{
	const struct swz_target *t = b->target;
	size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);

	for (size_t i = 0; i < t->mapping_count && !b->gap; i++)
		b->gap = gap_in(t, &t->mappings[i], bytes);
	return b->gap != 0;
}

static size_t gap_bytes(void)
{
	return (size_t)(swz_stub_call_end - swz_stub_call);
}

struct place_search {
	uint64_t start, bytes;
	bool found;
};

static bool look_for_place(void *context, uint64_t address)
{
	struct place_search *search = context;

	search->found = search->found ||
			address - search->start < search->bytes;
	return !search->found;
}

/* Whether a thread executes what is there, or will when a signal's handler
 * returns. */
static bool is_executed(const struct swz_borrower *b,
			const struct swz_stop *stop, uint64_t start,
			uint64_t bytes)
{
	struct place_search search = {.start = start, .bytes = bytes};

	for (size_t i = 0; i < stop->count && !search.found; i++) {
		const struct user_regs_struct *r = &stop->threads[i].registers;

		if (look_for_place(&search, r->rip))
			swz_interrupted_each(b->target, r, look_for_place,
					     &search);
	}
	return search.found;
}

bool swz_borrow_close_gap(const struct swz_borrower *b,
			  const struct swz_stop *stop)
{
	static const uint8_t zeros[128];
	uint8_t there[128];

	if (!b->gap ||
	    !swz_target_read(b->target, b->gap, there, gap_bytes()) ||
	    memcmp(there, swz_stub_call, gap_bytes()) != 0)
		return true;
	return !is_executed(b, stop, b->gap, gap_bytes()) &&
	       swz_target_write(b->target, b->gap, zeros, gap_bytes());
}

/* ----------------------------------------------------------- the region */

/* In the midst of the largest hole: where the kernel puts what the program maps
 * meanwhile, a thread's stack for example, is at the ends of holes. */
static uint64_t find_room(const struct swz_target *t)
{
	uint64_t largest = 0, at = 0;

	for (size_t i = 1; i < t->mapping_count; i++) {
		uint64_t start = t->mappings[i - 1].end;
		uint64_t end = t->mappings[i].start;

		if (end >= UINT64_C(1) << 47 || end <= start ||
		    end - start <= largest)
			continue;
		largest = end - start;
		at = start + (largest / 2 & -PAGE);
	}
	return largest > 4 * SWZ_REGION_BYTES ? at : 0;
}

/* Of our own, or what else there is. A mapping that begins and ends there, with
 * rights that data does not have, is no other's. */
enum room { ROOM_FREE, ROOM_OURS, ROOM_TAKEN };

static enum room room_at(struct swz_borrower *b)
{
	const struct swz_target_mapping *m;
	const uint64_t end = b->region + SWZ_REGION_BYTES;

	if (!swz_target_read_mappings(b->target))
		return ROOM_FREE;
	for (size_t i = 0; i < b->target->mapping_count; i++) {
		m = &b->target->mappings[i];
		if (m->end <= b->region || m->start >= end)
			continue;
		return m->start == b->region && m->end == end &&
				       m->executable && !m->writable &&
				       !m->path[0]
			       ? ROOM_OURS
			       : ROOM_TAKEN;
	}
	return ROOM_FREE;
}

static bool is_decided(struct swz_borrower *b)
{
	return room_at(b) != ROOM_FREE;
}

/* All but the first page, in which the code is. */
static bool is_writable(struct swz_borrower *b)
{
	const struct swz_target_mapping *m;

	if (!swz_target_read_mappings(b->target))
		return false;
	m = swz_target_mapping_at(b->target, b->region + PAGE);
	return m && m->writable;
}

static bool map_at(struct swz_borrower *b)
{
	const uint64_t map[6] = {b->region,
				 SWZ_REGION_BYTES,
				 PROT_READ | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS |
					 MAP_FIXED_NOREPLACE,
				 UINT64_MAX,
				 0};
	const uint64_t protect[6] = {b->region + PAGE, SWZ_REGION_BYTES - PAGE,
				     PROT_READ | PROT_WRITE};

	return swz_borrow_system(b, SYS_mmap, map, is_decided) &&
	       room_at(b) == ROOM_OURS &&
	       swz_borrow_system(b, SYS_mprotect, protect, is_writable);
}

static bool map_region(struct swz_borrower *b)
{
	for (unsigned i = 0; i < MOST_PLACES; i++) {
		b->problem = NULL;
		if (!swz_target_read_mappings(b->target))
			break;
		b->region = find_room(b->target);
		if (b->region && map_at(b))
			return true;
		if (b->problem || !b->region || room_at(b) == ROOM_FREE)
			break;
	}
	b->region = 0;
	if (!b->problem)
		b->problem = "it has no memory left, or none that may become "
			     "executable";
	return false;
}

/* Whether none of its threads is on the borrowed stack, or about to be. (In a
 * forked child that one does not exist; and an earlier controller may have been
 * killed just before it was led away.) */
static bool nobody_is_borrowed(const struct swz_borrower *b)
{
	struct swz_stop stop = {0};
	bool stopped = swz_stop_all(&stop, b->target->pid, 0) == SWZ_STOP_DONE;
	bool nobody = stopped;

	for (size_t i = 0; nobody && i < stop.count; i++)
		nobody = stop.threads[i].registers.rsp - b->region >=
			 SWZ_REGION_BYTES;
	nobody = nobody && !is_executed(b, &stop, b->region, SWZ_REGION_BYTES);
	if (stopped)
		(void)swz_stop_end(&stop);
	swz_stop_free(&stop);
	return nobody;
}

static bool is_unmapped(struct swz_borrower *b)
{
	return room_at(b) == ROOM_FREE;
}

void swz_borrow_unmap(struct swz_borrower *b)
{
	const uint64_t unmap[6] = {b->region, SWZ_REGION_BYTES};

	if (b->region && b->gap && nobody_is_borrowed(b))
		(void)swz_borrow_system(b, SYS_munmap, unmap, is_unmapped);
}

/* An earlier controller may have been killed while a thread was borrowed. */
static bool is_free(struct swz_borrower *b)
{
	uint64_t end = swz_watch_now() + SWZ_BORROW_RETURN_NS;
	struct swz_stub_data data;

	do {
		if (!swz_target_read(b->target, b->region + SWZ_REGION_DATA,
				     &data,
				     offsetof(struct swz_stub_data, state))) {
			b->problem = "the process has ended";
			return false;
		}
		if (!data.function || data.done || nobody_is_borrowed(b))
			return true;
		swz_watch_rest(BEGIN_NS);
	} while (swz_watch_now() < end);
	b->problem = "a thread that was borrowed does not come back";
	return false;
}

/* While threads come and go the list of mappings may lack one for once. */
static uint64_t find_errno(struct swz_borrower *b)
{
	uint64_t place = 0;

	for (unsigned i = 0; i < MOST_LISTS && !place; i++) {
		if (i) {
			swz_watch_rest(10000000);
			if (!swz_target_read_mappings(b->target))
				break;
		}
		place = swz_target_symbol(b->target, "__errno_location");
	}
	return place;
}

bool swz_borrow_begin(struct swz_borrower *b, uint64_t region)
{
	b->region = region;
	b->errno_place = find_errno(b);
	if (!b->errno_place) {
		b->problem = "it has no libc that is known (glibc)";
		return false;
	}
	if (!find_gap(b) && !region) {
		b->problem = "there is no gap in its code";
		return false;
	}
	if (region ? !is_free(b) : !map_region(b))
		return false;
	if (!swz_target_write(
		    b->target, b->region, swz_stub_function,
		    (size_t)(swz_stub_function_end - swz_stub_function))) {
		b->problem = "its memory cannot be written";
		return false;
	}
	return true;
}
