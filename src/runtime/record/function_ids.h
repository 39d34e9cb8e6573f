#ifndef SWZ_RUNTIME_RECORD_FUNCTION_IDS_H
#define SWZ_RUNTIME_RECORD_FUNCTION_IDS_H

/* The ids by which records name functions, given in the order of planning, and
 * what the filters say of each. What is indexed by id has room for those of
 * modules to come from the start (address space, no memory), so that nothing
 * moves under the hooks. Written by one thread at a time; read by the hooks. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum swz_filter_flags {
	SWZ_FILTER_ONLY = 1,    /* matches -F */
	SWZ_FILTER_NOTRACE = 2, /* matches -N */
	SWZ_FILTER_START = 4,   /* --start-at */
	SWZ_FILTER_STOP = 8     /* --stop-at */
};

/* Takes consecutive ids; 0: there are not as many left. */
uint32_t swz_ids_take(uint32_t count);

uint32_t swz_ids_left(void);

/* All ids that have been given are less. */
uint32_t swz_ids_next(void);

/* All functions of the start have their ids. */
void swz_ids_end_start(void);

/* All ids that there are, or will be, are less than this. After the start. */
uint32_t swz_ids_bound(void);

/* An id that no function of the program has, for our own calibration. After the
 * start. */
uint32_t swz_ids_spare(void);

/* Whether entries must be decided one by one (-F, -N, -D). */
extern bool swz_ids_filtered;

/* Flags of each function, by id, also of the spare one (for asm/x86_64). NULL:
 * there are no filters. */
extern uint8_t *swz_ids_filters;

/* Makes the flags, all zero, after the start. */
enum swz_status swz_ids_begin_filters(void) SWZ_MUST_CHECK;

void swz_ids_set_filter(uint32_t function, uint8_t flags);

/* Zero where there are no filters. Async-signal-safe. */
uint8_t swz_ids_filter(uint32_t function);

#endif
