#ifndef SWZ_RUNTIME_DISCOVERY_DISTANCE_TABLE_H
#define SWZ_RUNTIME_DISCOVERY_DISTANCE_TABLE_H

/* Tables of 32-bit distances from an address of code: from the table's own, as
 * compilers write switches, or from a label's (GNU C's &&a - &&b). */

#include "runtime/discovery/function.h"

/* Entries of one. */
#define SWZ_MOST_ENTRIES 65536u

/* Bytes of a function in which tables of distances between its labels are
 * looked for: once for each label whose address it takes. */
#define SWZ_MOST_WITH_LABELS (128u << 10)

/* What a table at this address may have at most: what the file has from there
 * on of its segment. As it is in the file: in memory, addresses that the
 * dynamic linker has put there may look like distances, other ones in each
 * process. Empty: it may not be read. */
struct swz_bytes swz_distance_table_at(const struct swz_module *module,
				       uint64_t table);

/* Whether the address is the function's, and no other's within it. */
static inline bool swz_function_has(const struct swz_function *function,
				    uint64_t address)
{
	return address - function->start < function->size &&
	       function->size <= function->room;
}

/* Calls found() with what lies at the distances from `label` in the table, up
 * to the first that leads out of the function. */
void swz_distance_table_read(const struct swz_module *module,
			     const struct swz_function *function,
			     uint64_t label, uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context);

#endif
