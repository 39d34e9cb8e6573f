#ifndef SWZ_RUNTIME_HOOKS_COUNT_CALLS_H
#define SWZ_RUNTIME_HOOKS_COUNT_CALLS_H

/* -m count: the C side of the hooks. Async-signal-safe. */

#include <stdint.h>

#include "runtime/record/thread.h"

/* From asm/x86_64/enter_counted.S: counts a call. HEAD_END: of the trampoline's
 * head. Returns the displaced instructions. */
const uint8_t *swz_count_enter(const uint8_t *head_end, const uint64_t *slot);

/* Each call of any thread comes to swz_count_enter() from now on, which looks
 * at swz_request, until it finds that it may be counted. */
void swz_counts_ask(void);

/* Counts a call that no hook has seen; CALL_SITE: as a return address.
 * Async-signal-safe. */
void swz_count_call(struct swz_thread *thread, uint32_t id, uint64_t call_site);

#endif
