/* The arena of return thunks and their unwind information.
 *
 * The arena is a NOBITS segment of this library's own, so that every unwinder
 * finds the FDE below in the ordinary way, with nothing registered. Units are
 * made accessible as they are needed (thunks/arena.c): code read+execute, data
 * read+write, never both.
 *
 * A thunk's frame is the moment between the function's return to the thunk
 * address T and the real return: %rsp is what it is after the return, so CFA =
 * rsp, and the return address lies in the thunk's data, which is found from
 * the program counter (column 16) alone:
 *     (pc & -64) + 1 MiB + offset of the return address
 * The personality routine makes the exit known when an exception passes
 * (src/runtime/hooks/unwind.c). Behind "push return_address", at +12, and "push %rax", at
 * +13, the CFA is 8 and 16 bytes further up: a signal may arrive there. */

#include "offsets.h"

	.section .swz_arena, "ax", @nobits
	.globl	swz_arena_start, swz_arena_end
	.hidden	swz_arena_start, swz_arena_end
	.type	swz_arena_start, @function
	.balign	0x1000
swz_arena_start:
	.cfi_startproc
	.cfi_personality 0x1b, swz_personality
	/* rsp + 8 * ((pc & 63) >= 12) + 8 * ((pc & 63) >= 13):
	 * DW_CFA_def_cfa_expression: breg7 0; breg16 0; const1u 63; and; lit12;
	 * ge; breg16 0; const1u 63; and; lit13; ge; plus; lit3; shl; plus.
	 * Of the operations valgrind knows those that linkers use for PLTs: no
	 * dup */
	.cfi_escape 0x0f, SWZ_THUNK_CFA_BYTES, 0x77, 0x00, 0x80, 0x00, 0x08, \
		0x3f, 0x1a, 0x3c, 0x2a, 0x80, 0x00, 0x08, 0x3f, 0x1a, 0x3d, \
		0x2a, 0x22, 0x33, 0x24, 0x22
	/* DW_CFA_val_expression r7: the same, whatever becomes of the CFA (see
	 * swz_unwind_apart, src/runtime/hooks/unwind.c) */
	.cfi_escape 0x16, 7, SWZ_THUNK_CFA_BYTES, 0x77, 0x00, 0x80, 0x00, 0x08, \
		0x3f, 0x1a, 0x3c, 0x2a, 0x80, 0x00, 0x08, 0x3f, 0x1a, 0x3d, \
		0x2a, 0x22, 0x33, 0x24, 0x22
	/* DW_CFA_expression r16: breg16 0; const1s -64; and; plus_uconst n */
	.cfi_escape 0x10, 16, 10, 0x80, 0x00, 0x09, 0xc0, 0x1a, \
		0x23, 0x88, 0x80, 0xc0, 0x00
	.space	SWZ_ARENA_BYTES
	.cfi_endproc
swz_arena_end:
	.size	swz_arena_start, . - swz_arena_start

	.section .note.GNU-stack, "", @progbits
