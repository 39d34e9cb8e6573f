#include "runtime/record/request.h"

#include <sys/mman.h>

#include "base/syscall.h"

/* A page of its own: another one is mapped over it. */
uint8_t swz_request_page[SWZ_HEADER_BYTES]
	__attribute__((aligned(SWZ_HEADER_BYTES)));

enum swz_status swz_request_map(int fd)
{
	int flags = fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;

	return swz_sys_mmap(swz_request_page, SWZ_HEADER_BYTES,
			    PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0)
		       ? SWZ_OK
		       : SWZ_E_SYSTEM;
}

bool swz_request_set(enum swz_request_state state, uint64_t ticks)
{
	struct swz_request *request = swz_request();

	uint32_t old = __atomic_load_n(&request->paused, __ATOMIC_RELAXED);

	if (old == (uint32_t)state || old == SWZ_REQUEST_DETACH)
		return false;
	__atomic_store_n(&request->changed_ticks, ticks, __ATOMIC_RELAXED);
	if (state != SWZ_REQUEST_RECORD)
		__atomic_store_n(&request->stopped_ticks, ticks,
				 __ATOMIC_RELAXED);
	/* release: the time, for swz_request_is_paused() */
	__atomic_store_n(&request->paused, (uint32_t)state, __ATOMIC_RELEASE);
	return true;
}
