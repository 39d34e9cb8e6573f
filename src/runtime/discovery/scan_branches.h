#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_BRANCHES_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_BRANCHES_H

#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"

/* Refuses functions into whose patch site something branches, functions that
 * end in a jump to one that reads its return address, and those whose return
 * address is read by what they call. To run after swz_scan_return_slots. */
enum swz_status swz_scan_branches(struct swz_module *module,
				  const struct swz_decoders *decoders)
	SWZ_MUST_CHECK;

/* Once more those that end in a jump, when pieces are found to read a return
 * address after all (leads_to_reader). */
enum swz_status swz_scan_jumpers(struct swz_module *module,
				 const struct swz_decoders *decoders)
	SWZ_MUST_CHECK;

/* Takes back the marks (scan_bytes.h) of the bytes to which something in the
 * module leads (a branch, a table of labels); and of the first bytes of
 * functions in SWZ_TEXT_STARTS those to which their function jumps back with
 * another stack than that of a call. Refuses nothing. */
void swz_scan_reached(struct swz_module *module,
		      const struct swz_decoders *decoders);

#endif
