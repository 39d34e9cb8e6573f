#ifndef SWZ_RUNTIME_DISCOVERY_CODE_FLOW_H
#define SWZ_RUNTIME_DISCOVERY_CODE_FLOW_H

/* What may be a function, of which nothing says so, is followed from its first
 * byte: does it do with the stack what one that is called does? */

#include "runtime/module/module.h"
#include "thunks/decoder.h"
#include "thunks/encoding.h"

/* From the first byte to the last that is looked at. */
#define SWZ_MOST_FLOW_BYTES 65536u

enum swz_flow_way { SWZ_WAY_CALL, SWZ_WAY_JUMP, SWZ_WAY_SWITCH };

struct swz_flow {
	const struct swz_module *module;
	struct swz_decoder *decoder;
	uint64_t start, limit; /* nothing of it lies from there on */
	bool limit_is_known;   /* to be a function */
	bool is_compiled;      /* if it is one: it keeps its caller's
				* registers, and may end in a call */
	/* What is jumped to and need not be a function: all of it is followed,
	 * but what cannot be, up to padding behind a call. */
	bool is_part;
	/* Set: whether it returns, as far as that has been seen; of a part,
	 * whether it refers to the return address, or goes on by an address
	 * that it has been given. */
	bool returns, refers_to_slot, goes_anywhere;
	/* A direct call, and a jump that leads out of it, or to its start; what
	 * lies at the limit, if it runs on there; and with the stack as it is
	 * when a function is called (at_entry), where a switch leads, whose
	 * targets are not followed otherwise. */
	void (*leads_to)(void *context, uint64_t to, enum swz_flow_way way,
			 bool at_entry);
	void *context;
};

/* Whether compilers write no such instruction, as swz_opcode_is_odd(), but for
 * what they do write: atomic operations, thread-local variables, and a trap
 * that says which it is. */
bool swz_flow_is_odd(struct swz_bytes code,
		     const struct swz_encoding *encoding);

/* What is known while one is followed, in scratch memory for the brief; NULL:
 * there is none. */
struct swz_follower *swz_follower_new(void);

/* The end of what flows from the start, behind its last byte. 0 if it is
 * no function, or none whose return address may be another: it does not
 * decode, has instructions that no one writes, runs on to where nothing is,
 * returns with another stack than it was called with, jumps to an
 * address that it has been given, takes the stack from elsewhere (a context
 * switch), pops its return address or refers to it, or calls the kernel; never
 * for a part. What a switch leads to is not followed. */
uint64_t swz_flow_end(struct swz_follower *follower, struct swz_flow *flow);

#endif
