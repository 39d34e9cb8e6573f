#ifndef SWZ_RUNTIME_RECORD_PRINT_FUNCTIONS_H
#define SWZ_RUNTIME_RECORD_PRINT_FUNCTIONS_H

/* The functions of libc that print (--prints), and what is recorded of each.
 * They are hooked as those of --flows are. What printf makes of its arguments
 * is seen where libc writes it. */

#include "runtime/record/flow_functions.h"

extern const struct swz_flow_function swz_print_functions[];
extern const uint32_t swz_print_function_count;

/* The number of the function with that name, or -1. FLOWS: --flows is given,
 * too, so that it has to tell which file it writes to. */
int swz_print_function_find(const char *name, bool flows);

#endif
