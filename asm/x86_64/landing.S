/* The landing pad of the thunks' personality routine (src/runtime/hooks/unwind.c). */

#include "macros.h"
#include "offsets.h"

	.text

/* Where an unwinder lands when it cleans up a thunk's frame: %rsp = slot + 8 (or
 * what a signal found when the thunk had pushed already), %rax = the exception,
 * %rdx = the thunk's data, callee-saved registers as the frame's caller expects
 * them. Puts the real return address back, accounts the exit, and unwinds on as
 * if the caller had called _Unwind_Resume itself.
 *
 * A caller that knows its callee well does not align the stack for it (gcc does
 * so for local leaves). _Unwind_Resume needs it aligned: it is then called from
 * here, a frame of its own above the caller's. */
FUNC(swz_landing_rax_pushed)
	.cfi_def_cfa_offset 16
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	swz_landing_return_pushed
END(swz_landing_rax_pushed)

FUNC(swz_landing_return_pushed)
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	swz_landing
END(swz_landing_return_pushed)

FUNC(swz_landing)
	.cfi_def_cfa_offset 0
	pushq	SWZ_THUNK_RETURN(%rdx)
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rdx, %rdi
	cld
	testb	$8, %spl
	jnz	1f
	call	swz_unwound			/* rax = _Unwind_Resume */
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
1:	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	swz_unwound
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	call	*%rax
	ud2
END(swz_landing)

	.section .note.GNU-stack, "", @progbits
