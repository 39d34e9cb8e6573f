/* Stores of registers that the library's own code never uses, for the values of calls
 * (src/runtime/record/values.c).
 *
 * A store of a vector register changes nothing in it, nor in its upper half, and
 * costs no more than the store where the upper halves are clean, as the calling
 * convention wants them between functions (SysV ABI 3.2.1; where they are not, some
 * processors take 70 cycles for the first SSE instruction). The x87 state is stored as
 * a whole by fxsave, which unlike fnsave leaves it as it is. */

#include "macros.h"

	.text

/* void swz_store_vectors(uint8_t out[128]): xmm0 to xmm7. */
FUNC(swz_store_vectors)
	movups	%xmm0, (%rdi)
	movups	%xmm1, 16(%rdi)
	movups	%xmm2, 32(%rdi)
	movups	%xmm3, 48(%rdi)
	movups	%xmm4, 64(%rdi)
	movups	%xmm5, 80(%rdi)
	movups	%xmm6, 96(%rdi)
	movups	%xmm7, 112(%rdi)
	ret
END(swz_store_vectors)

/* void swz_store_x87(uint8_t out[512]): 16-byte aligned; st(n) is at 32 + 16 n. */
FUNC(swz_store_x87)
	fxsave64 (%rdi)
	ret
END(swz_store_x87)

	.section .note.GNU-stack, "", @progbits
