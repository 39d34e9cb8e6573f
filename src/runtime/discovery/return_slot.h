#ifndef SWZ_RUNTIME_DISCOVERY_RETURN_SLOT_H
#define SWZ_RUNTIME_DISCOVERY_RETURN_SLOT_H

/* The calls that a compiler adds for -finstrument-functions: of
 * __cyg_profile_func_enter and __cyg_profile_func_exit, with the return address
 * as the second argument. */

#include <stdbool.h>
#include <stdint.h>

#include "image/elf_view.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "thunks/encoding.h"

struct swz_profile_calls {
	uint64_t functions[2]; /* if the module has its own */
	unsigned function_count;
	uint64_t slots[4]; /* GOT entries */
	unsigned slot_count;
};

/* Finds out how the module gets to them. */
void swz_profile_calls_find(struct swz_profile_calls *calls,
			    const struct swz_module *module);

/* True if the instruction at `pc`, of a function that goes up to `end`, is such
 * a call: direct, by a PLT entry, or through the GOT. */
bool swz_profile_calls_has(const struct swz_profile_calls *calls,
			   const struct swz_module *module, uint64_t pc,
			   uint64_t end);

/* The memory operand that ModRM and SIB describe (Intel SDM volume 2, 2.1.5).
 */

#define SWZ_NO_REGISTER 16u

static inline bool swz_operand_is_memory(const struct swz_encoding *e)
{
	return e->modrm_at && swz_modrm_mod(e->modrm) != 3;
}

/* Its base; SWZ_NO_REGISTER: none, or %rip. Of a memory operand, or of a
 * register, which is itself. */
static inline unsigned swz_operand_base(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (swz_encoding_rip_relative(e))
		return SWZ_NO_REGISTER;
	if (swz_encoding_has_sib(e)) {
		base = e->sib & 7u;
		if (base == 5 && swz_modrm_mod(e->modrm) == 0)
			return SWZ_NO_REGISTER;
	}
	return base | (e->extends_base ? 8u : 0);
}

/* Its index; SWZ_NO_REGISTER: none. */
static inline unsigned swz_operand_index(const struct swz_encoding *e)
{
	unsigned index = (e->sib >> 3 & 7u) | (e->extends_index ? 8u : 0);

	return swz_encoding_has_sib(e) && index != 4 ? index : SWZ_NO_REGISTER;
}

/* The general register that the instruction sets, in the forms that compilers
 * use; SWZ_NO_REGISTER: none, or it is another form. */
unsigned swz_operand_set(const struct swz_encoding *e);

/* The registers that a function keeps for its caller, %rbx, %rbp and %r12 to
 * %r15 (SysV ABI 3.2.1): code with conventions of its own, as V8's builtins
 * are, sets them as it likes, and finds in them what its callers have put
 * there. */

struct swz_kept_registers {
	uint16_t saved; /* bits by number: pushed, or stored to the stack */
	uint16_t set;
};

/* Takes an instruction of a function into account, of which those before it on
 * its way have been. in_stack: its memory operand is there. False: it sets one
 * that has not been saved, or finds memory by one that has not been set. */
bool swz_kept_registers_follow(struct swz_kept_registers *registers,
			       const struct swz_encoding *encoding,
			       bool in_stack);

/* True if the code is an indirect branch or a return in the form that the
 * processor cannot predict (a retpoline, __x86_indirect_thunk_rax). Pure. */
bool swz_is_branch_thunk(struct swz_bytes code);

/* Uses of the memory of a function's own return address that a hook can live
 * with. */

/* lock or $0, lock add $0: a memory fence, as compilers for which mfence is too
 * slow write it, of whatever is on top of the stack. It changes nothing there.
 * Nor does shl $0, which assemblers write before each lfence and ret against
 * load value injection (-mlfence-before-ret, -mlvi-hardening). */
bool swz_is_fence(const uint8_t *code, const struct swz_encoding *encoding);

/* The state while a function's loads are noted, in their order. Zeroed at
 * first, but for `calls`, which may be NULL. */
struct swz_slot_loader {
	const struct swz_profile_calls *calls;
	uint64_t on_stack_to; /* up to there it does not leave its stack */
	uint32_t latest;      /* of its load sites */
	bool left_stack;
	bool looked_for_jumps, jumps_indirectly;
};

/* The instruction at `pc` refers to the return address. If it loads it to a
 * register, notes it with the function: it is displaced, with all before it if
 * the jump at the function's beginning reaches there, else by a jump of its own
 * (plan/plan_trampolines.c); and in the copy the real address takes
 * the place of a thunk's (thunks/relocate.h). False: not so. */
bool swz_slot_load_note(const struct swz_module *module,
			struct swz_function *function,
			struct swz_slot_loader *loader, uint64_t pc,
			const struct swz_encoding *encoding);

/* True if the instruction cannot fault: lea, mov, or arithmetic, of registers
 * and constants, or a load from the frame or from a place of the module. */
bool swz_only_moves(const struct swz_encoding *encoding);

/* True if the flags may be read behind the load at that address. */
bool swz_slot_load_keeps_flags(const struct swz_module *module, uint64_t load);

/* Functions without an unwind table: Free Pascal's, assembly, what was compiled
 * with -fno-asynchronous-unwind-tables. */

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

/* True if the instruction's memory operand is the return address. */
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

/* How the sanitizers' run-time libraries record a stack: by following the saved
 * values of %rbp, in a loop that loads the return address beside each. */

/* By its name. */
bool swz_is_frame_walker(const struct swz_function *function);

/* Notes the load with such a function, as those of a function's own return
 * address are: a thunk's address becomes the one that the thunk
 * has. Does nothing where it is not found, or cannot be had. */
void swz_frame_walker_note(const struct swz_module *module,
			   struct swz_function *function,
			   struct swz_decoder *decoder);

#endif
