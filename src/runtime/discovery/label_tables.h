#ifndef SWZ_RUNTIME_DISCOVERY_LABEL_TABLES_H
#define SWZ_RUNTIME_DISCOVERY_LABEL_TABLES_H

/* Tables of offsets to the labels of one function, as they are found from the
 * instruction that takes their address. */

#include <stdbool.h>
#include <stdint.h>

#include "runtime/module/module.h"
#include "thunks/decoder.h"

/* What the instruction at `pc` takes the address of may be a table of 32-bit
 * offsets from itself to labels of its function, cold parts included. Such
 * tables lie side by side: the first entry that leads elsewhere is another's.
 * One function without a symbol may be a cold part, too. Calls found() with the
 * labels that are marked in SWZ_TEXT_MARKS. What lies behind the table may look
 * like an entry all the same: unless the decoder is NULL, none is where the
 * stack is another than at `pc` and than at the first label, or where another
 * table has begun. Returns whether it has an entry. */
bool swz_label_table_read(const struct swz_module *module,
			  struct swz_decoder *decoder, uint64_t pc,
			  uint64_t table,
			  void (*found)(void *context, uint64_t to),
			  void *context);

/* The instruction at `pc` takes the address of a label in its function. Others
 * may be in tables by their distances from that one (GNU C's &&a - &&b): in any
 * of those that the function takes the address of. */
void swz_label_distances_read(const struct swz_module *module, uint64_t pc,
			      uint64_t label,
			      void (*found)(void *context, uint64_t to),
			      void *context);

#endif
