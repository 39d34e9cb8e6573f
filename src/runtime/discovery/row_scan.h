#ifndef SWZ_RUNTIME_DISCOVERY_ROW_SCAN_H
#define SWZ_RUNTIME_DISCOVERY_ROW_SCAN_H

/* Search for instructions in the rows of a function's unwind table. */

#include "image/eh_frame.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/slot_loads.h"
#include "thunks/decoder.h"

struct swz_row_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	struct swz_function *function;
	uint64_t readable_end; /* of the text that the function is in */
	bool leaves;           /* for another frame */
	bool moves_frame;      /* see frame_register.h */
	struct swz_slot_loader loader;
};

/* Decodes on from *from, at first the row's start, and leaves there where the
 * instruction that covers `at` begins; true if it has the operand
 * [base + displacement], or if decoding loses its way: there, then. */
bool swz_row_accesses(const struct swz_row_scan *scan,
		      const struct swz_cfi_row *row, uint64_t *from,
		      uint64_t at, unsigned base, int64_t displacement);

/* What to look for in a row: the operand [base + displacement]. */
struct swz_operand {
	bool rsp;
	int64_t displacement;
};

/* Whether an instruction with the operand is one that matters. */
typedef bool swz_row_matters(struct swz_row_scan *scan, uint64_t pc);

/* Whether the row has one. */
bool swz_row_has_operand(struct swz_row_scan *scan,
			 const struct swz_cfi_row *row,
			 const struct swz_operand *operand,
			 swz_row_matters *does_matter);

/* Whether it may have an EVEX instruction whose displacement comes to the
 * operand's by some scale. */
bool swz_row_has_scaled_operand(const struct swz_row_scan *scan,
				const struct swz_cfi_row *row,
				const struct swz_operand *operand);

/* Sets reads_above where the row, whose saved %rbp is at (%rbp), follows the
 * chain of frames. */
void swz_frame_chain_find(const struct swz_row_scan *scan,
			  const struct swz_cfi_row *row);

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) swz_word;

#define SWZ_ONES UINT64_C(0x0101010101010101)

/* Not zero if any byte of `x` is zero. */
static inline uint64_t swz_has_zero(uint64_t x)
{
	return (x - SWZ_ONES) & ~x & (SWZ_ONES << 7);
}

#endif
