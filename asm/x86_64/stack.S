#include "macros.h"

	.text

/* void swz_call_on_stack(void (*function)(void *), void *argument,
 *                        void *stack_top)
 * Calls function(argument) on another stack. stack_top: 16-byte aligned. */
FUNC(swz_call_on_stack)
	SAVE	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsp
	call	*%rax
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	ret
END(swz_call_on_stack)

	.section .note.GNU-stack, "", @progbits
