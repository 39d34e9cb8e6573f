#ifndef SWZ_THUNKS_RELOCATE_H
#define SWZ_THUNKS_RELOCATE_H

/* Copies displaced instructions to another address so that they do there what
 * they did at home. Built on capstone for decoding; encodes by itself.
 * See docs/internals/relocation.md. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/elf_view.h"
#include "swizzle/format.h"
#include "thunks/encoding.h"

#define SWZ_MAX_INSN 15
#define SWZ_JUMP_BYTES 5 /* e9 rel32: the patch */
/* Upper bound of what swz_relocate writes for one patch site. */
#define SWZ_RELOCATED_MAX 448
/* Instructions that are displaced at most. */
#define SWZ_MOST_DISPLACED 24
/* Loads of the return address among them. */
#define SWZ_MOST_LOADS 3
/* Most displacements out of a copy: one for each instruction, the jump back,
 * and those to the arena's bounds. */
#define SWZ_MOST_OUTWARD (SWZ_MOST_DISPLACED + 1 + 2 * SWZ_MOST_LOADS)

/* So many decoders can be used at the same time, those made last. */
#define SWZ_MOST_DECODERS 16

/* A decoder whose memory comes from alloc (16-byte aligned, zeroed, never
 * freed before the decoder itself; NULL on failure). The first call installs
 * process-wide capstone allocators that take from the same function. Not
 * thread safe; a decoder is used by one thread at a time, whose stack grows
 * down. NULL on failure. */
struct swz_decoder *swz_decoder_new(void *(*alloc)(size_t bytes));

enum swz_insn_kind {
	SWZ_INSN_PLAIN,
	SWZ_INSN_JUMP,          /* jmp rel8/rel32 */
	SWZ_INSN_JUMP_CC,       /* jcc rel8/rel32 */
	SWZ_INSN_LOOP,          /* loop, loope, loopne, jrcxz, jecxz */
	SWZ_INSN_CALL,          /* call rel32 */
	SWZ_INSN_CALL_INDIRECT, /* call r/m */
	SWZ_INSN_JUMP_INDIRECT, /* jmp r/m, jmp far */
	SWZ_INSN_RETURN,        /* ret, ret imm16, iret, far ret, sysret */
	SWZ_INSN_TRAP,          /* int3, ud2, hlt, int n: control goes on or not
				 * by decision of others */
	SWZ_INSN_SYSCALL        /* syscall, sysenter, int 0x80 */
};

struct swz_insn {
	uint64_t address;
	uint8_t length;
	enum swz_insn_kind kind;
	bool rip_relative;       /* has a [rip + disp32] operand */
	uint8_t displacement_at; /* offset of that disp32 in the bytes */
	uint64_t target;         /* direct branches: absolute; rip_relative:
				  * the operand's absolute address */
	/* Memory operand [base + displacement] without index, or memory_base
	 * 0 if there is none of this form: 4 = rsp, 5 = rbp, other = 0 (also
	 * for an EVEX displacement that counts in vector widths) */
	uint8_t memory_base;
	int64_t memory_displacement;
	bool memory_is_lea;
};

/* Decodes one instruction of code, whose first byte has this address.
 * SWZ_E_FORMAT if it is no valid instruction or is cut off. */
enum swz_status swz_decode(struct swz_decoder *decoder, struct swz_bytes code,
			   uint64_t address,
			   struct swz_insn *insn) SWZ_MUST_CHECK;

struct swz_relocation {
	uint8_t displaced_bytes; /* whole instructions taken, >= wanted */
	uint16_t written;        /* bytes written to out */
	enum swz_refusal refusal;
	/* Where each displaced instruction went: site offset -> out offset */
	uint8_t insn_count;
	struct {
		uint8_t from;
		uint16_t to;
	} insns[SWZ_MOST_DISPLACED];
	/* Out offset of the jump back home; 0: there is none. */
	uint16_t jump_back;
	/* Where a displaced call (always the last) moves rsp: from these out
	 * offsets on it is 8 bytes lower, back, 8 bytes lower. 0: no call. */
	uint16_t call_steps[3];
	/* Where a load that keeps the flags moves rsp: from these out offsets
	 * on it is so many bytes lower. */
	uint8_t flag_step_count;
	struct {
		uint16_t at;
		uint8_t below;
	} flag_steps[4 * SWZ_MOST_LOADS];
	/* Out offsets of the 32-bit displacements to what is not in out: they
	 * change when the code is moved. */
	uint8_t outward_count;
	uint16_t outward[SWZ_MOST_OUTWARD];
};

/* Loads of the function's own return address, which finds a thunk's address in
 * its place: mov of 64 bits to a register. */
struct swz_slot_loads {
	uint8_t count;
	uint8_t keep_flags;         /* bit N: of load N, as they are read */
	uint8_t at[SWZ_MOST_LOADS]; /* from the site */
	uint64_t arena; /* where the arena's bounds lie (two words), in reach of
			 * the copy */
};

/* Takes whole instructions from `code` (the bytes from the patch site on, as
 * many as belong to the function or are its own padding; their first byte has
 * address `from`) until at least `wanted` bytes are covered, and writes to
 * `out` code that, placed at address `to`, has the same effect and then goes on
 * at from + displaced_bytes (by a jump, unless the last instruction never
 * falls through). At most `room` bytes are written. `loads` may be NULL.
 *
 *  - [rip + disp32] operands of every form keep their absolute address;
 *    lea reg,[rip+disp] that would not reach becomes movabs.
 *  - jcc/jmp, short and near, become near; loop and jrcxz go through a short
 *    island. A branch to another displaced instruction goes to its copy, but
 *    for a call of the first one: that goes to the original, and the patch.
 *  - call rel32 becomes a push of the ORIGINAL return address and a jmp, so
 *    that unwinding and __builtin_return_address stay true; flags and all
 *    registers are kept. A call to the copy itself comes before the push, to
 *    keep the processor's return stack balanced: the return from the callee is
 *    mispredicted, those of the frames above are not.
 *    Likewise call r/m: push of the original return address, then jmp r/m,
 *    unless the operand uses rsp (account for the push, or refuse).
 *    A call whose return address would lie within the `wanted` bytes, which
 *    the patch overwrites, is refused (SWZ_REFUSE_UNRELOCATABLE).
 *  - Behind a load of the return address a thunk's address becomes the return
 *    address that the thunk has (thunks/arena.h).
 *  - When an instruction ends control flow (jmp, ret) before `wanted` bytes are
 *    covered, the rest must be padding (nop, int3; else
 *    SWZ_REFUSE_UNRELOCATABLE) and is not copied, but counts as displaced; the
 *    relocation is refused with SWZ_REFUSE_TOO_SHORT if `code` ends before
 *    `wanted`. What a displaced
 *    branch reaches behind such an end is no padding and is copied.
 *  - syscall, sysenter, int, hlt and the like are refused
 *    (SWZ_REFUSE_UNRELOCATABLE); what does not decode
 *    SWZ_REFUSE_UNDECODABLE.
 *
 * Sets refusal and returns SWZ_OK (SWZ_PATCHED = good), or SWZ_E_RANGE if a
 * target lies beyond +/-2 GiB of its use, SWZ_E_NOMEM if `room` is too small
 * (out is then undefined), SWZ_E_UNSUPPORTED if `wanted` is 0 or above 255. At
 * most SWZ_MOST_DISPLACED instructions are taken: a site that needs more is
 * refused (SWZ_REFUSE_UNRELOCATABLE). */
enum swz_status swz_relocate(struct swz_decoder *decoder, struct swz_bytes code,
			     uint64_t from, unsigned wanted, uint64_t to,
			     uint8_t *out, size_t room,
			     const struct swz_slot_loads *loads,
			     struct swz_relocation *relocation) SWZ_MUST_CHECK;

/* Adjusts relocated code when it and the module that it came from lie
 * elsewhere. The places are found in the code itself, instruction by
 * instruction, whoever wrote it. Pure. */

struct swz_fixups {
	/* Offsets in the region. */
	uint32_t *relative; /* 32-bit displacements to the module */
	uint32_t *absolute; /* 64-bit addresses in the module */
	uint32_t relative_count, absolute_count;
	uint32_t relative_room, absolute_room;
	bool fixed; /* there are 32-bit addresses: the module cannot move */
};

/* Adds those of the copies that begin at region.data[begin] and that were made
 * of the instructions at `site`. Displacements within the region stay.
 * SWZ_E_FORMAT: it is not understood; SWZ_E_NOMEM: there are too many. */
enum swz_status swz_fixups_find(struct swz_fixups *fixups,
				struct swz_bytes region, uint32_t begin,
				struct swz_bytes site) SWZ_MUST_CHECK;

/* Adds `by` to the values at these offsets, which must all lie in the region.
 * SWZ_E_RANGE: one does not fit in any more. */
enum swz_status swz_fixups_apply_relative(uint8_t *region, const uint32_t *at,
					  uint32_t count,
					  int64_t by) SWZ_MUST_CHECK;
void swz_fixups_apply_absolute(uint8_t *region, const uint32_t *at,
			       uint32_t count, uint64_t by);

/* --- decoding with the anatomy -------------------------------------------- */

/* Between the decoder and the relocator: one instruction with its anatomy. */

/* As swz_decode, and the encoding of the same instruction. */
enum swz_status swz_decode_encoding(
	struct swz_decoder *decoder, struct swz_bytes code, uint64_t address,
	struct swz_insn *insn, struct swz_encoding *encoding) SWZ_MUST_CHECK;

/* For an assertion in capstone that does not hold (version 5 has some): what is
 * being decoded is no instruction. */
_Noreturn void swz_decoder_escape(void);

/* The length of the instruction that swz_decode would find; 0: none. */
unsigned swz_decode_length(struct swz_decoder *decoder, struct swz_bytes code);

/* Questions to code that a hook must not disturb: does it read the flags, the
 * red zone, and does it call anything? All are answered from the bytes alone.
 */

/* True if nobody reads the arithmetic flags (CF, PF, AF, ZF, SF, OF) that are
 * set before the instruction at offset `at` of a text: others are set first, or
 * control leaves for where the ABI gives them no meaning (calls and returns:
 * psABI 3.2.1). In doubt it is read. Pure. */
bool swz_flags_are_free(struct swz_bytes text, uint64_t at);

/* True if the function that consists of these bytes of a module is a leaf: all
 * that it does until it returns is its own. It makes no call and no system
 * call, jumps neither elsewhere nor back to its beginning (up to and with
 * `site`, the offset of the jump to its hook), and stays on its stack. In doubt
 * it is none. */
bool swz_is_leaf(struct swz_bytes code, unsigned site, struct swz_bytes module);

/* True if code that begins at the height of a call, and stays there, reads
 * below the stack pointer before it has put anything there. A function finds
 * nothing there, so this is a part of one and is jumped to. */
bool swz_inherits_red_zone(struct swz_bytes code);

/* True if it refers to bytes below the stack pointer at all. */
bool swz_uses_red_zone(struct swz_bytes code);

#endif
