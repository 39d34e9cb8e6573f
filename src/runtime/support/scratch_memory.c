/* Memory that lives as long as planning does. It is taken from one mapping
 * after another and given back as a whole; nothing is freed alone. */

#include "runtime/support/scratch_memory.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/arena.h"

/* ------------------------------------------------- mappings out of the way */

/* Below us, further than a jump reaches, and above the profile (record_file.c).
 */
#define DISTANCE (UINT64_C(4) << 30)
#define ROOM (UINT64_C(4) << 30)

static _Atomic uint64_t taken;

/* From high to low addresses, then again from the start: it is a wish only, and
 * what is not free the kernel replaces by another place. */
static uint64_t next_place(uint64_t bytes)
{
	uint64_t us = (uintptr_t)&taken & -(uint64_t)4096;
	uint64_t at = atomic_fetch_add_explicit(&taken, bytes,
						memory_order_relaxed) %
		      ROOM;

	if (us <= DISTANCE + ROOM || bytes > ROOM - at)
		return 0;
	return us - DISTANCE - at - bytes;
}

void *swz_map_far(size_t bytes, int protection, int flags, int fd)
{
	uint64_t pages = (bytes + 4095) & -(uint64_t)4096;

	return swz_sys_mmap((void *)(uintptr_t)next_place(pages), bytes,
			    protection, flags, fd, 0);
}

/* ---------------------------------------------------------- scratch memory */

#define LEAST_BYTES (1u << 20)
#define HUGE_BYTES (4u << 20)
#define LEAST_PRESENT (64u << 10)

struct region {
	struct region *before;
	size_t bytes;
	size_t used;
	size_t present; /* so much of it has been asked for */
};

static struct region *latest, *brief;

static struct region *add_region(struct region **list, size_t bytes)
{
	size_t need = bytes + sizeof(struct region);
	struct region *r;

	if (need < LEAST_BYTES)
		need = LEAST_BYTES;
	need = (need + 4095) & ~(size_t)4095;
	r = swz_map_far(need, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1);
	if (!r)
		return NULL;
	if (need >= HUGE_BYTES) /* fewer page faults; or not */
		SWZ_SYSCALL(SYS_madvise, r, need, MADV_HUGEPAGE);
	r->bytes = need;
	r->used = sizeof(*r);
	r->present = 0;
	r->before = *list;
	*list = r;
	return r;
}

/* Asks for pages before they are touched: one page fault each would take the
 * kernel several times as long, in a virtual machine up to ten times. And for
 * as many again as there are, so that this is not asked for often; not in a
 * large region, where tables that are half empty would be touched as a whole.
 */
static void make_present(struct region *r)
{
	size_t end = r->bytes < HUGE_BYTES ? 2 * r->present : 0;

	if (end < r->used + LEAST_PRESENT)
		end = (r->used + LEAST_PRESENT - 1) &
		      ~(LEAST_PRESENT - (size_t)1);
	if (end > r->bytes)
		end = r->bytes;
	SWZ_SYSCALL(SYS_madvise, (char *)r + r->present, end - r->present,
		    MADV_POPULATE_WRITE);
	r->present = end;
}

static void *take(struct region *r, size_t bytes)
{
	char *result = (char *)r + r->used;

	r->used += bytes;
	if (r->used > r->present)
		make_present(r);
	return result;
}

static bool has_room(const struct region *r, size_t bytes)
{
	return r && r->bytes - r->used >= bytes;
}

void *swz_scratch_alloc(size_t bytes)
{
	struct region *r = latest;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (!has_room(r, bytes))
		r = add_region(&latest, bytes);
	return r ? take(r, bytes) : NULL;
}

void *swz_scratch_alloc_brief(size_t bytes)
{
	struct region *r = brief;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	while (r && !has_room(r, bytes))
		r = r->before;
	if (!r)
		r = add_region(&brief, bytes);
	return r ? take(r, bytes) : NULL;
}

void swz_scratch_expect_brief(size_t bytes)
{
	if (!brief)
		add_region(&brief, bytes); /* or smaller ones, as they come */
}

void swz_scratch_reuse(void)
{
	for (struct region *r = brief; r; r = r->before)
		r->used = sizeof(*r);
}

static void free_list(struct region **list)
{
	while (*list) {
		struct region *before = (*list)->before;

		swz_sys_munmap(*list, (*list)->bytes);
		*list = before;
	}
}

void swz_scratch_free_all(void)
{
	free_list(&latest);
	free_list(&brief);
}

void swz_scratch_abandon(void)
{
	latest = brief = NULL;
}

/* --------------------------------------------------- back to the beginning */

/* From the linker script. */
extern char swz_reset_start[], swz_reset_end[];
extern const char swz_image_start[];

static void *noted SWZ_KEPT;

static size_t bytes_noted(void)
{
	return (uintptr_t)swz_reset_end - (uintptr_t)swz_reset_start;
}

bool swz_reset_note(void)
{
	if (noted)
		return true;
	noted = swz_sys_mmap(NULL, bytes_noted(), PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!noted)
		return false;
	memcpy(noted, swz_reset_start, bytes_noted());
	return true;
}

static bool holds(const void *mapping, uint64_t start, uint64_t end)
{
	return (uintptr_t)mapping >= start && (uintptr_t)mapping < end;
}

static void give_back(const void *own_stack)
{
	uint64_t at = 0, start, end;

	while (swz_own_next(at, UINT64_MAX, &start, &end)) {
		at = end;
		if (holds(noted, start, end) || holds(own_stack, start, end) ||
		    (start >= (uintptr_t)swz_image_start &&
		     start < (uintptr_t)swz_arena_end))
			continue;
		swz_sys_munmap((void *)(uintptr_t)start, end - start);
	}
}

void swz_reset(const void *own_stack)
{
	give_back(own_stack);
	memcpy(swz_reset_start, noted, bytes_noted());
}
