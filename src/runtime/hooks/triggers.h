#ifndef SWZ_RUNTIME_HOOKS_TRIGGERS_H
#define SWZ_RUNTIME_HOOKS_TRIGGERS_H

/* --start-at and --stop-at: recording starts or stops when a function is called
 * for the Nth time, in whichever thread. */

#include <stdint.h>

/* The function is entered with this return slot: before it is recorded.
 * Async-signal-safe. */
void swz_triggers_pull(uint32_t function, const uint64_t *slot);

#endif
