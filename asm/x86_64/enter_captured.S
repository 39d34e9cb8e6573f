/* The entry hook of functions whose arguments are recorded (-A, --args).
 *
 * In and out: as in enter.S. All of it is done in C, which finds the arguments in their
 * registers below the slot, and in those that no code of ours touches.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi  S-48 r8
 * S-56 r9  S-64 r10  S-72 flags  S-80 r11  S-88 rbp  S-96 body  S-104 rflags. */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_enter_captured)
	BEGIN_HOOK
	SAVE_SEVEN
	movq	%rax, %rcx			/* rcx = body */
	SAVE_FLAGS
	SAVE	%r11
	SAVE	%rbp
	PUSH	%rcx
	SAVE_DIRECTION
	movq	%rcx, %rdi
	leaq	104(%rsp), %rsi			/* slot */
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	swz_enter_captured		/* rax = code or NULL */
	movq	%rbp, %rsp
	.cfi_restore_state
	RESTORE_DIRECTION
	POP	%rcx
	RESTORE	%rbp
	RESTORE	%r11
	testq	%rax, %rax
	jz	.Lpass
	movq	%rax, -8(%rsp)			/* S-80 */
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	leaq	8(%rsp), %rsp			/* the thunk's call pushes it */
	.cfi_adjust_cfa_offset -8
	jmpq	*-88(%rsp)			/* S-80 */
.Lpass:						/* unhooked: to the body */
	.cfi_restore_state
	movq	%rcx, -8(%rsp)
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	jmpq	*-80(%rsp)
END(swz_hook_enter_captured)

	.section .note.GNU-stack, "", @progbits
