#ifndef SWZ_RUNTIME_PLAN_PRINT_H
#define SWZ_RUNTIME_PLAN_PRINT_H

#include "runtime/module/module.h"

/* Prints what would be done (--list; with -v each function). */
void swz_plan_print(const struct swz_modules *modules);

#endif
