#ifndef SWZ_RUNTIME_RECORD_REQUEST_H
#define SWZ_RUNTIME_RECORD_REQUEST_H

/* What others ask of the hooks: struct swz_request of the profile's first page.
 * That page is mapped a second time, into this library, where the hooks get at
 * it by one instruction. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "swizzle/format.h"

/* The first page of swz_file; zeros before there is one. Of a forked child that
 * has none yet: its parent's. */
extern uint8_t swz_request_page[SWZ_HEADER_BYTES]
	__attribute__((visibility("hidden")));

static inline struct swz_request *swz_request(void)
{
	return (struct swz_request *)(void *)(swz_request_page +
					      SWZ_REQUEST_OFFSET);
}

static inline bool swz_request_is_paused(void)
{
	/* acquire: its time */
	return __atomic_load_n(&swz_request()->paused, __ATOMIC_ACQUIRE) != 0;
}

/* Maps it: of the file behind the descriptor, or (-1) plain memory. */
enum swz_status swz_request_map(int fd);

static inline bool swz_request_is_detached(void)
{
	return __atomic_load_n(&swz_request()->paused, __ATOMIC_RELAXED) ==
	       SWZ_REQUEST_DETACH;
}

/* Says it to all threads. Returns whether that is a change. What is detached
 * stays so. */
bool swz_request_set(enum swz_request_state state, uint64_t ticks);

#endif
