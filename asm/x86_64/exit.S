/* The exit hook: where every return thunk goes.
 *
 * In:   %rax = the thunk's data; (%rsp) = the program's %rax; 8(%rsp) = the
 *       return slot, into which the thunk has put the real return address.
 * Out:  to that address, every register and arithmetic flag as at entry, the
 *       slot popped as by the function's own return.
 *
 * The usual case, that the thunk is the thread's latest, is done here, all else in
 * swz_exit(). */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(EXIT_HOOK())
	BEGIN_HOOK
	SAVE_FIVE %rsi
	movq	%rax, %rcx			/* rcx = thunk */
	SAVE_FLAGS
	IS_LATEST %rsi, 56, %rdi, else=.Lin_c
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	jne	.Lpending
	movl	SWZ_THUNK_PARENT(%rcx), %edi
	shlq	$32, %rdi
	movq	%rdi, SWZ_THREAD_KEY(%rsi)
	rdtsc					/* what interrupts from here on */
	shlq	$32, %rdx			/* belongs to the caller */
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%rsi), %rdi
	movq	%rax, SWZ_RECORD_LAST(%rdi)
	subq	SWZ_THREAD_EPOCH(%rsi), %rax	/* rax = now, as in nodes */
	movq	SWZ_THUNK_START(%rcx), %r8
	movq	$0, SWZ_THUNK_START(%rcx)
.Lown:
	movl	SWZ_THUNK_NODE(%rcx), %edx
	NODE_AT	%rdx, %rsi
	LEAVE_NODE
.Lback:
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FIVE
	RESTORE	%rax
	ret
	.cfi_restore_state
	LEAVE_NODE_RARELY

	/* Its function went on to others, by jumps: their ends come first.
	 * %r9 and the thunk's start are in the red zone meanwhile. */
.Lpending:
	movq	SWZ_THUNK_PENDING(%rcx), %rdi	/* rdi = record */
	cmpq	$SWZ_IS_JUMPS, %rdi		/* SWZ_FIRST_FRAME, closed */
	jbe	.Lin_c				/* or gone */
	movq	%r9, -8(%rsp)
	movl	SWZ_THUNK_PARENT(%rcx), %edx
	shlq	$32, %rdx
	movq	%rdx, SWZ_THREAD_KEY(%rsi)
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%rsi), %rdx
	movq	%rax, SWZ_RECORD_LAST(%rdx)
	subq	SWZ_THREAD_EPOCH(%rsi), %rax
	movq	SWZ_THUNK_START(%rcx), %rdx
	movq	%rdx, -16(%rsp)
	movq	$0, SWZ_THUNK_START(%rcx)
.Lnext_pending:
	movq	%rax, %r9
	POP_RECORD %rdi, %rcx, dx, gone=.Lrecord_gone
	movq	%r9, %rax
	movl	SWZ_THUNK_NODE(%rdi), %edx
	NODE_AT	%rdx, %rsi
	LEAVE_RECORD %rdi
	movq	SWZ_THUNK_PENDING(%rcx), %rdi
.Lmore_pending:
	cmpq	$SWZ_IS_JUMPS, %rdi		/* or 0: none */
	ja	.Lnext_pending
	je	.Lfirst_frame
	movq	-8(%rsp), %r9
	movq	-16(%rsp), %r8
	jmp	.Lown
.Lrecord_gone:
	movq	%r9, %rax
	jmp	.Lmore_pending
	LEAVE_RECORD_RARELY
.Lfirst_frame:					/* as it was but for records */
	movq	-8(%rsp), %r9
	movq	-16(%rsp), %rdx
	movq	%rdx, SWZ_THUNK_START(%rcx)

.Lin_c:
	SAVE	%r9
	SAVE	%r10
	SAVE	%r11
	SAVE	%rbp
	SAVE_DIRECTION
	movq	%rcx, %rdi
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	leaq	96(%rbp), %rsi			/* the slot: %rax, SAVE_FIVE, */
	andq	$-16, %rsp			/* SAVE_FLAGS, and five here */
	call	swz_exit
	movq	%rbp, %rsp
	.cfi_restore_state
	RESTORE_DIRECTION
	RESTORE	%rbp
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%r9
	testq	%rax, %rax
	jz	.Lback
	movq	%rax, %r11			/* an unwinder has come to it: */
	.cfi_undefined %r11
	RESTORE_FLAGS				/* on to its landing pad */
	RESTORE_FIVE
	RESTORE	%rax
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmpq	*%r11
END(EXIT_HOOK())

#ifndef SWZ_FOLLOWING

/* The same where swz_exit() has to decide (exit_sampled.S). */
FUNC(swz_hook_exit_checked)
	BEGIN_HOOK
	SAVE_FIVE
	movq	%rax, %rcx
	SAVE_FLAGS
	jmp	.Lin_c
END(swz_hook_exit_checked)
#endif

	.section .note.GNU-stack, "", @progbits
