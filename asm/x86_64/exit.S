/* The exit hook: where every return thunk goes.
 *
 * In:   %rax = the thunk's data; (%rsp) = the program's %rax; 8(%rsp) = the
 *       return slot, into which the thunk has put the real return address.
 * Out:  to that address, every register and arithmetic flag as at entry, the
 *       slot popped as by the function's own return.
 *
 * The usual case - the thunk is the thread's latest and no tail call is
 * pending on it - is done here, all else in swz_exit(). */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_exit)
	.cfi_def_cfa_offset 16
	.cfi_rel_offset %rax, 0
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%rsi
	SAVE	%rdi
	movq	%rax, %rcx			/* rcx = thunk */
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax			/* rax = now */
	movq	swz_thread_self@gottpoff(%rip), %rdx
	movq	%fs:(%rdx), %rdx		/* rdx = thread */
	testq	%rdx, %rdx
	jz	.Lin_c
	cmpq	%rcx, SWZ_THREAD_TOP(%rdx)	/* also in a forked child */
	jne	.Lin_c
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	jne	.Lin_c
	movq	SWZ_THREAD_RECORD(%rdx), %rdi
	movq	%rax, SWZ_RECORD_LAST(%rdi)
	btsq	$SWZ_TICKS_BIAS_BIT, %rax
	movq	SWZ_THUNK_NODE(%rcx), %rsi	/* rsi = node */
	addq	%rax, SWZ_NODE_TICKS(%rsi)
	decl	SWZ_NODE_OPEN(%rsi)
	movl	SWZ_NODE_FUNCTION(%rsi), %edi
	shlq	$2, %rdi
	addq	SWZ_THREAD_OPEN(%rdx), %rdi
	addl	$1, (%rdi)			/* back to 0: it was outermost */
	jnz	1f
	addq	%rax, SWZ_NODE_OUTER_TICKS(%rsi)
1:	subq	SWZ_THUNK_START(%rcx), %rax	/* rax = duration */
	cmpq	SWZ_NODE_MAX_TICKS(%rsi), %rax
	ja	.Lnew_max
2:	movq	SWZ_NODE_MIN_TICKS(%rsi), %rdi
	decq	%rdi				/* 0, none yet, is the largest */
	cmpq	%rdi, %rax
	jbe	.Lnew_min
3:	movq	SWZ_THUNK_LINK(%rcx), %rdi
	movq	%rdi, SWZ_THREAD_TOP(%rdx)
	movq	SWZ_THUNK_PARENT_KEY(%rcx), %rdi
	movq	%rdi, SWZ_THREAD_KEY(%rdx)
	movq	$0, SWZ_THUNK_SLOT(%rcx)	/* no longer live */
	shrq	$3, %rsi			/* back to its edge's free ones */
	addq	SWZ_THREAD_HEADS(%rdx), %rsi
	movq	(%rsi), %rdi
	movq	%rdi, SWZ_THUNK_LINK(%rcx)
	movq	%rcx, (%rsi)
.Lback:
	.cfi_remember_state
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$0x7f, %al
	sahf
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	ret
	.cfi_restore_state
.Lnew_max:
	movq	%rax, SWZ_NODE_MAX_TICKS(%rsi)
	jmp	2b
.Lnew_min:
	movq	%rax, SWZ_NODE_MIN_TICKS(%rsi)
	jmp	3b

.Lin_c:
	SAVE	%r8
	SAVE	%r9
	SAVE	%r10
	SAVE	%r11
	SAVE	%rbp
	pushfq
	.cfi_adjust_cfa_offset 8
	cld
	movq	%rcx, %rdi
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	swz_exit
	movq	%rbp, %rsp
	.cfi_restore_state
	popfq
	.cfi_adjust_cfa_offset -8
	RESTORE	%rbp
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%r9
	RESTORE	%r8
	jmp	.Lback
END(swz_hook_exit)

	.section .note.GNU-stack, "", @progbits
