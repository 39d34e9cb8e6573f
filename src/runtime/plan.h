#ifndef SWZ_RUNTIME_PLAN_H
#define SWZ_RUNTIME_PLAN_H

/* What is to be hooked, decided for every function before the first byte
 * changes; then done, while only one thread runs. */

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

struct swz_plan {
	struct swz_module *modules;
	unsigned module_count;
};

/* Decides; writes trampolines, which nothing leads to yet. */
enum swz_status swz_plan_make(struct swz_plan *plan) SWZ_MUST_CHECK;

/* Leads every planned function to its trampoline. A module whose text cannot be
 * made writable is refused as a whole. */
void swz_plan_apply(struct swz_plan *plan);

/* Describes modules and functions in the profile. */
enum swz_status swz_plan_record(const struct swz_plan *plan) SWZ_MUST_CHECK;

/* Prints what would be done (--list; with -v each function). */
void swz_plan_print(const struct swz_plan *plan);

/* By function id; zeros where there are no filters. */
uint8_t swz_plan_filter(uint32_t function);

/* The highest function id + 1. */
uint32_t swz_plan_function_count(void);

/* An id that no function of the program has, for our own calibration. */
uint32_t swz_plan_spare_id(void);

#endif
