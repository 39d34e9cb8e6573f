#include "runtime/support/reset.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "thunks/arena.h"

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
