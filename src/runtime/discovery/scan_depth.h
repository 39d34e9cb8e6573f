#ifndef SWZ_RUNTIME_DISCOVERY_SCAN_DEPTH_H
#define SWZ_RUNTIME_DISCOVERY_SCAN_DEPTH_H

/* Functions without an unwind table: Free Pascal's, assembly, what was compiled
 * with -fno-asynchronous-unwind-tables. */

#include "runtime/discovery/function.h"
#include "thunks/encoding.h"

/* How far the CFA is from %rsp, as in the rows of an unwind table. */
struct swz_depth {
	int64_t now;
	int64_t most; /* the body's, to which what is behind a return belongs */
	uint64_t frame; /* where %rbp holds the CFA - 16 from; 0: nowhere yet */
	bool guessed;   /* behind a return or a jump */
	bool lost;
};

/* At a function's first byte. */
#define SWZ_DEPTH_AT_ENTRY ((struct swz_depth){.now = 8, .most = 8})

/* Behind the instruction, which ends before `next`. */
void swz_depth_follow(struct swz_depth *depth,
		      const struct swz_encoding *encoding, const uint8_t *code,
		      uint64_t next);

/* Whether the instruction's memory operand is the return address. */
bool swz_depth_is_slot(const struct swz_depth *depth,
		       const struct swz_encoding *encoding,
		       const uint8_t *code);

/* A return, or a jump that is always taken. */
bool swz_ends_flow(const struct swz_encoding *encoding);

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
