#ifndef SWZ_RUNTIME_DISCOVERY_FRAME_REGISTER_H
#define SWZ_RUNTIME_DISCOVERY_FRAME_REGISTER_H

/* Hand-written code finds its frame by whatever register it likes: it takes the
 * address of its return slot there (lea (%rsp), %r11), by which the unwind
 * table then finds the frame, and %rsp from there in the end (lea (%r11),
 * %rsp). That is no use of the return address, as long as nothing else is done
 * with the register. */

#include "runtime/discovery/row_scan.h"
#include "thunks/encoding.h"

/* Whether the instruction at `pc`, which takes the slot's address, takes it to
 * the register by which, from the next one on, the frame is found. */
bool swz_frame_moves(const struct swz_row_scan *scan, uint64_t pc,
		     const struct swz_encoding *encoding);

/* Whether, of a row where such a register holds the slot's address, an
 * instruction refers to the slot, or hands the address on; in doubt it does.
 * False of other rows. */
bool swz_frame_register_strays(const struct swz_row_scan *scan,
			       const struct swz_cfi_row *row);

#endif
