#include "runtime/support/aside.h"

#include <stdatomic.h>
#include <stdint.h>

#include "base/syscall.h"

/* Below us, further than a jump reaches, and above the profile (file.c). */
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

void *swz_map_aside(size_t bytes, int protection, int flags, int fd)
{
	uint64_t pages = (bytes + 4095) & -(uint64_t)4096;

	return swz_sys_mmap((void *)(uintptr_t)next_place(pages), bytes,
			    protection, flags, fd, 0);
}
