#ifndef SWZ_RUNTIME_RECORD_FLOW_FUNCTIONS_H
#define SWZ_RUNTIME_RECORD_FLOW_FUNCTIONS_H

/* The functions of libc whose calls tell what woke what (--flows), and what is
 * recorded of each. They are hooked where they begin, in libc itself: so calls
 * from any library are seen, also those of libc's own (fwrite calls write). */

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/values.h"

/* A part and what the profile says of it besides, as for -A. */
struct swz_flow_part {
	struct swz_value_part part; /* but name and type, which are 0 */
	uint8_t type;               /* enum swz_type_kind */
	bool at_return;             /* those come behind the others */
	const char *name;           /* NULL: of no part; behind the last */
};

#define SWZ_MOST_FLOW_PARTS 5u

struct swz_flow_function {
	const char *name;
	struct swz_flow_part parts[SWZ_MOST_FLOW_PARTS];
};

extern const struct swz_flow_function swz_flow_functions[];
extern const uint32_t swz_flow_function_count;

/* The number of the function with that name, or -1. */
int swz_flow_function_find(const char *name);

#endif
