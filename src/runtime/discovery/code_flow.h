#ifndef SWZ_RUNTIME_DISCOVERY_CODE_FLOW_H
#define SWZ_RUNTIME_DISCOVERY_CODE_FLOW_H

/* Follows code that may be a function, though nothing says so, from its first
 * byte on, and checks that it treats the stack as a called function does. */

#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"

enum swz_flow_way { SWZ_WAY_CALL, SWZ_WAY_JUMP, SWZ_WAY_SWITCH };

struct swz_flow {
	const struct swz_module *module;
	struct swz_decoder *decoder;
	uint64_t start, limit; /* nothing of it lies from there on */
	bool limit_is_known;   /* to be a function */
	bool is_compiled;      /* if it is one: it keeps its caller's
				* registers, and may end in a call */
	/* A jump's target, which need not be a function: followed as far as
	 * possible, up to padding behind a call. */
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

/* True if compilers write no such instruction, as swz_opcode_is_odd() says,
 * with these exceptions: atomic operations, thread-local variables, and a trap
 * that says which it is. */
bool swz_flow_is_odd(struct swz_bytes code,
		     const struct swz_encoding *encoding);

/* The state of following, in brief scratch memory; NULL if there is none. */
struct swz_follower *swz_follower_new(void);

/* The end of what flows from the start, behind its last byte. 0 if it is
 * no function, or none whose return address may be another: it does not
 * decode, has instructions that no one writes, runs on to where nothing is,
 * returns with another stack than it was called with, jumps to an
 * address that it has been given, takes the stack from elsewhere (a context
 * switch), pops its return address or refers to it, or calls the kernel; never
 * for a part. What a switch leads to is not followed. */
uint64_t swz_flow_end(struct swz_follower *follower, struct swz_flow *flow);

/* Tables of 32-bit distances from an address of code: from the table's own, as
 * compilers write switches, or from a label's (GNU C's &&a - &&b). */

/* Bytes of a function in which tables of distances between its labels are
 * looked for: once for each label whose address it takes. */
#define SWZ_MOST_WITH_LABELS (128u << 10)

/* The most bytes that a table at this address may have: the rest of its
 * segment, as it is in the file. In memory, addresses that the dynamic linker
 * has put there may look like distances, other ones in each process. Empty: it
 * may not be read. */
struct swz_bytes swz_distance_table_at(const struct swz_module *module,
				       uint64_t table);

/* True if the address is the function's, and no other's within it. */
static inline bool swz_function_has(const struct swz_function *function,
				    uint64_t address)
{
	return address - function->start < function->size &&
	       function->size <= function->room;
}

/* Calls found() with what lies at the distances from `label` in the table, up
 * to the first that leads out of the function. */
void swz_distance_table_read(const struct swz_module *module,
			     const struct swz_function *function,
			     uint64_t label, uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context);

/* Where a jump by an offset from a table leads, of code whose end is not known,
 * so that the table's is not either: compilers compare the index before. */

/* The table of a jump, as the instructions before it describe it. All zeros at
 * first. */
struct swz_switch {
	uint64_t held[16]; /* an address, by register; 0: none */
	uint64_t table;    /* that the latest offset was loaded from; 0: unknown
			    */
	uint64_t base;     /* that was added to it; 0: unknown */
	uint32_t bound;    /* what was last compared with or masked by */
	uint8_t since;     /* instructions since then, and one; 0: never */
};

/* The instruction with that code, which ends before `next`. */
void swz_switch_follow(struct swz_switch *s, const struct swz_module *module,
		       const struct swz_encoding *encoding, const uint8_t *code,
		       uint64_t next);

/* True if the jump behind these instructions has its index bounded. */
bool swz_switch_is_bounded(const struct swz_switch *s);

/* True if the instructions from `pc` on, which is before `end`, take the
 * address of the table and then, with nothing but conditional branches between,
 * jump to what one of its entries is the distance to. */
bool swz_switch_is_at(const struct swz_module *module,
		      struct swz_decoder *decoder, uint64_t pc, uint64_t end,
		      uint64_t table);

/* Says of each place in the text to which the table leads; false if the table
 * is not known. */
bool swz_switch_read(const struct swz_switch *s,
		     const struct swz_module *module,
		     void (*found)(void *context, uint64_t to), void *context);

/* --- branches ------------------------------------------------------------- */

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
