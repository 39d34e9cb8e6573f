#ifndef SWZ_RUNTIME_PLAN_H
#define SWZ_RUNTIME_PLAN_H

/* What is to be hooked, decided for every function before the first byte
 * changes; then done, while nothing executes it. */

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "runtime/module.h"

enum swz_filter_flags {
	SWZ_FILTER_ONLY = 1,   /* matches -F */
	SWZ_FILTER_NOTRACE = 2 /* matches -N */
};

/* Whether entries must be decided one by one (-F, -N, -D). */
extern bool swz_plan_filtered;

/* Of each function, by id, also of the spare one (for asm/x86_64). NULL: there
 * are no filters. */
extern uint8_t *swz_plan_filters;

struct swz_plan {
	struct swz_module *modules;
	unsigned module_count;
};

/* Decides; writes trampolines, which nothing leads to yet. */
enum swz_status swz_plan_make(struct swz_plan *plan) SWZ_MUST_CHECK;

/* Leads every planned function to its trampoline. A module whose text cannot be
 * made writable is refused as a whole. */
void swz_plan_apply(struct swz_plan *plan);

/* Why no function at all could be patched, if the system would not have it;
 * otherwise NULL. After swz_plan_apply. */
const char *swz_plan_obstacle(const struct swz_plan *plan);

/* For one module that is loaded while the program runs, and which
 * nothing can be executing yet: decides and writes trampolines; then, where
 * that was done, leads its functions to them. */
enum swz_status swz_plan_late(struct swz_module *module) SWZ_MUST_CHECK;
void swz_plan_patch(struct swz_module *module);

/* Where trampolines lead to. */
const struct swz_hooks *swz_plan_hooks(void);

/* Takes consecutive ids for functions that are no module's own (imports); 0:
 * there are not as many left. */
uint32_t swz_plan_take_ids(uint32_t count);

/* All ids that have been given are less. */
uint32_t swz_plan_next_id(void);

void swz_plan_set_filter(uint32_t function, uint8_t flags);

/* By function id; zeros where there are no filters. */
uint8_t swz_plan_filter(uint32_t function);

/* All function ids that there are, or will be, are less than this. */
uint32_t swz_plan_function_count(void);

/* An id that no function of the program has, for our own calibration. */
uint32_t swz_plan_spare_id(void);

#endif
