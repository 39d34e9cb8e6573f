#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_H

/* Two searches through a module's text that refuse functions. Both look at
 * bytes first and decode only where the bytes ask for it. */

#include "runtime/discovery/function.h"
#include "runtime/support/decoders.h"

/* Refuses functions that use the memory of their own return address (CFA - 8,
 * by their CFI), or whose CFI moves it; without CFI see scan_depth.h. Finds
 * those that read a caller's (reads_above). */
void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders);

/* The same for one function. */
void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder);

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

/* Takes back the marks (text_maps.h) of the bytes to which something in the
 * module leads (a branch, a table of labels); and of the first bytes of
 * functions in SWZ_TEXT_STARTS those to which their function jumps back with
 * another stack than that of a call. Refuses nothing. */
void swz_scan_reached(struct swz_module *module,
		      const struct swz_decoders *decoders);

#endif
