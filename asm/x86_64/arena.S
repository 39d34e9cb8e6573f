/* The arena of return thunks and their unwind information.
 *
 * The arena is a NOBITS segment of this library's own, so that every unwinder
 * finds the FDE below in the ordinary way, with nothing registered. Units are
 * made accessible as they are needed (thunks/arena.c): code read+execute, data
 * read+write, never both.
 *
 * A thunk's frame is the moment between the function's return to the thunk
 * address T and the real return: %rsp is what it is after the return, so CFA =
 * rsp + 0, and the return address lies in the thunk's data, which is found from
 * the program counter (column 16) alone:
 *     (pc & -64) + 64 KiB + offset of the return address
 * The personality routine makes the exit known when an exception passes
 * (thunks/unwind.c). After "pushq ret", +12, and "pushq %rax", +13, the
 * CFA is 8 and 16 bytes further up. */

#include "offsets.h"

	.section .swz_arena, "ax", @nobits
	.globl	swz_arena_start, swz_arena_end
	.hidden	swz_arena_start, swz_arena_end
	.type	swz_arena_start, @function
	.balign	0x10000
swz_arena_start:
	.cfi_startproc
	.cfi_personality 0x1b, swz_personality
	.cfi_def_cfa %rsp, 0
	/* %rsp is what it is, whatever the CFA: DW_CFA_val_expression r7, breg7 0.
	 * (See swz_unwind_apart, thunks/unwind.c.) */
	.cfi_escape 0x16, 7, 2, 0x77, 0x00
	/* DW_CFA_expression r16: breg16 0; const1s -64; and; plus_uconst n */
	.cfi_escape 0x10, 16, 9, 0x80, 0x00, 0x09, 0xc0, 0x1a, \
		0x23, 0x88, 0x80, 0x04
	.space	SWZ_ARENA_BYTES
	.cfi_endproc
swz_arena_end:
	.size	swz_arena_start, . - swz_arena_start

	.section .note.GNU-stack, "", @progbits
