#ifndef SWZ_RUNTIME_DISCOVERY_RELEASED_FRAMES_H
#define SWZ_RUNTIME_DISCOVERY_RELEASED_FRAMES_H

/* Functions that are handed what lies below the stack pointer. */

#include "runtime/discovery/function.h"
#include "runtime/discovery/scan_slots.h"
#include "thunks/encoding.h"

/* Sets finds_below of those that the function jumps to when it has given its
 * frame up, with the address of something in it in a register for arguments
 * that they may use. It may be called for several functions at a time. */
void swz_released_frame_find(const struct swz_module *module,
			     const struct swz_function *function);

/* Hand-written code finds its frame by whatever register it likes: it takes the
 * address of its return slot there (lea (%rsp), %r11), by which the unwind
 * table then finds the frame, and %rsp from there in the end (lea (%r11),
 * %rsp). That is no use of the return address, as long as nothing else is done
 * with the register. */

/* True if the instruction at `pc`, which takes the slot's address, takes it to
 * the register by which, from the next one on, the frame is found. */
bool swz_frame_moves(const struct swz_row_scan *scan, uint64_t pc,
		     const struct swz_encoding *encoding);

/* True if, in a row where such a register holds the slot's address, an
 * instruction refers to the slot or hands the address on, or may do so. False
 * for other rows. */
bool swz_frame_register_strays(const struct swz_row_scan *scan,
			       const struct swz_cfi_row *row);

#endif
