#ifndef SWZ_RUNTIME_PLAN_PRINT_H
#define SWZ_RUNTIME_PLAN_PRINT_H

#include <stdint.h>

#include "runtime/plan.h"

/* Prints what would be done (--list; with -v each function). */
void swz_plan_print(const struct swz_plan *plan);

/* Why a function is not patched (enum swz_refusal), in words. */
const char *swz_plan_refusal_text(unsigned refusal);

/* A line for each reason but one that counts say there is. */
void swz_plan_print_refusals(const uint32_t *counts, unsigned except,
			     const char *indent);

#endif
