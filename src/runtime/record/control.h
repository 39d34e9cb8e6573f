#ifndef SWZ_RUNTIME_RECORD_CONTROL_H
#define SWZ_RUNTIME_RECORD_CONTROL_H

/* What others ask of the hooks: struct swz_control of the profile's first page.
 * That page is mapped a second time, into this library, where the hooks get at
 * it by one instruction. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "swizzle/format.h"

/* The first page of swz_file; zeros before there is one. Of a forked child that
 * has none yet: its parent's. */
extern uint8_t swz_control_page[SWZ_HEADER_BYTES]
	__attribute__((visibility("hidden")));

static inline struct swz_control *swz_control(void)
{
	return (struct swz_control *)(void *)(swz_control_page +
					      SWZ_CONTROL_OFFSET);
}

static inline bool swz_control_is_paused(void)
{
	/* acquire: its time */
	return __atomic_load_n(&swz_control()->paused, __ATOMIC_ACQUIRE) != 0;
}

/* Maps it: of the file behind the descriptor, or (-1) plain memory. */
enum swz_status swz_control_map(int fd);

/* Says it to all threads. Returns whether that is a change. */
bool swz_control_set(bool paused, uint64_t ticks);

#endif
