#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_DEPTH_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_DEPTH_H

/* Functions without an unwind table: Free Pascal's, assembly, what was compiled
 * with -fno-asynchronous-unwind-tables. */

#include "runtime/discovery/function.h"

/* Refuses the function if it uses the memory of its own return address, or pops
 * it. Returns from where on %rbp is its frame pointer, CFA - 16, in ELF virtual
 * addresses; 0: nowhere. */
uint64_t swz_scan_depth(const struct swz_module *module,
			struct swz_function *function);

/* lea displacement(...), %rsp: the frame is given up, an address that it
 * computes goes nowhere else. */
static inline bool swz_gives_frame_up(const uint8_t *code)
{
	return code[0] == 0x48 && code[1] == 0x8d && (code[2] & 0x38) == 0x20;
}

#endif
