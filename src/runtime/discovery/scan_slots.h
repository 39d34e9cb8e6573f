#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_SLOTS_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_SLOTS_H

#include "image/eh_frame.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"

/* --- slots ---------------------------------------------------------------- */

/* Refuses functions that use the memory of their own return address (CFA - 8,
 * by their CFI), or whose CFI moves it; without CFI see return_slot.h. Finds
 * those that read a caller's (reads_above). */
void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders);

/* The same for one function. */
void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder);

/* Search for instructions in the rows of a function's unwind table. */

struct swz_row_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_function *function;
	uint64_t readable_end; /* of the text that the function is in */
	bool leaves;           /* for another frame */
	bool moves_frame;      /* see swz_released_frame_find() */
	struct swz_slot_loader loader;
};

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) swz_word;

#define SWZ_ONES UINT64_C(0x0101010101010101)

/* Not zero if any byte of `x` is zero. */
static inline uint64_t swz_has_zero(uint64_t x)
{
	return (x - SWZ_ONES) & ~x & (SWZ_ONES << 7);
}

/* Parts of functions without a frame, whose unwind tables look like those of
 * functions. */

/* A symbol says that it is a function (those of parts have said otherwise
 * before); so does endbr64, which only what is called needs. */
static inline bool swz_may_be_cold_part(const struct swz_function *function)
{
	return function->fde && !function->is_piece && !function->site &&
	       !function->name;
}

/* True if the function, whose first row this is, is such a part and may find
 * values below the stack pointer (in the red zone, SysV ABI 3.2.2), which hooks
 * would write over. */
bool swz_is_cold_part(const struct swz_module *module,
		      const struct swz_function *function,
		      const struct swz_cfi_row *first);

/* --- frames that are released before -------------------------------------- */

/* Functions that are handed what lies below the stack pointer. */

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
