/* The exit hook where the clock is not read for every call (--timing sampled).
 *
 * In and out: as in exit.S. A call that was not timed only returns; of the
 * others the long ones end in C, by way of swz_hook_exit_checked. */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_exit_sampled)
	BEGIN_HOOK
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%rsi
	movq	%rax, %rcx			/* rcx = thunk */
	SAVE_FLAGS
	GET_THREAD %rsi
	cmpq	%rcx, SWZ_THREAD_TOP(%rsi)	/* nor in a forked child */
	jne	.Lin_c
	testb	$SWZ_START_UNTIMED, SWZ_THUNK_START(%rcx)
	jz	.Ltimed
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	jne	.Lpending
.Lown:
	movl	SWZ_THUNK_PARENT(%rcx), %edx
	shlq	$32, %rdx
	movq	%rdx, SWZ_THREAD_KEY(%rsi)
	movq	SWZ_THUNK_LINK(%rcx), %rdx
	movq	%rdx, SWZ_THREAD_TOP(%rsi)
	movl	SWZ_THUNK_NODE(%rcx), %edx
	LINKS_AT %rdx, %rsi			/* rdx = its edge's links */
	leaq	SWZ_LINKS_NEXT(%rdx), %rax
	movq	%rax, SWZ_THREAD_EXPECTED(%rsi)
	movq	$0, SWZ_THUNK_SLOT(%rcx)	/* no longer live */
	movq	SWZ_LINKS_FREE(%rdx), %rax	/* back to the free ones */
	testq	%rax, %rax
	js	.Lshared
.Lfree:
	movq	%rax, SWZ_THUNK_NEXT_FREE(%rcx)
	movq	%rcx, SWZ_LINKS_FREE(%rdx)
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	ret
	.cfi_restore_state

	/* As swz_context_leave() does it, which does it for long calls. %rdi and
	 * %r8 are in the red zone meanwhile. */
.Ltimed:
	.cfi_remember_state
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	jne	.Lin_c
	cmpq	$2 * SWZ_START_STEP, SWZ_THUNK_START(%rcx)
	jb	.Lin_c				/* none, or SWZ_SUSPENDED */
	movq	%rdi, -8(%rsp)
	movq	%r8, -16(%rsp)
	movl	SWZ_THUNK_PARENT(%rcx), %edx
	shlq	$32, %rdx
	movq	%rdx, SWZ_THREAD_KEY(%rsi)
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%rsi), %rdx
	movq	%rax, SWZ_RECORD_LAST(%rdx)
	subq	SWZ_THREAD_EPOCH(%rsi), %rax
	andq	$-SWZ_START_STEP, %rax		/* rax = now */
	movq	SWZ_THUNK_START(%rcx), %r8
	movl	%r8d, %edi
	andl	$SWZ_START_LEVEL, %edi		/* rdi = level */
	movq	%rax, %rdx
	subq	%r8, %rdx
	addq	%rdi, %rdx			/* rdx = duration */
	cmpq	$SWZ_LONG_TICKS, %rdx
	jae	.Llong
	movl	SWZ_THUNK_NODE(%rcx), %r8d
	NODE_AT	%r8, %rsi
	movq	$0, SWZ_THUNK_START(%rcx)
	movq	%rcx, %rsi			/* rsi = thunk */
	leal	(%rdi,%rdi), %ecx
	movl	$1, %edi
	shll	%cl, %edi			/* rdi = weight */
	shlq	%cl, %rax
	addq	%rax, SWZ_NODE_TICKS(%r8)
	movl	%edi, %eax
	shll	$8, %eax			/* SWZ_NODE_OPEN_ONE each */
	subl	%eax, SWZ_NODE_OPEN(%r8)
	imulq	%rdx, %rdx
	shrq	$4, %rdx
	leal	-1(%rdi), %eax
	imull	%edi, %eax
	imulq	%rax, %rdx
	addq	%rdx, SWZ_NODE_SQUARES(%r8)
	jc	.Lsquares_full
.Lended:
	movq	%rsi, %rcx
	GET_THREAD %rsi
	movq	-8(%rsp), %rdi
	movq	-16(%rsp), %r8
	jmp	.Lown
.Lshared:					/* a list of several edges' */
	notq	%rax
	movq	%rax, %rdx
	movq	(%rdx), %rax
	jmp	.Lfree
.Lsquares_full:
	movq	$-1, SWZ_NODE_SQUARES(%r8)
	jmp	.Lended
.Llong:
	movq	-8(%rsp), %rdi
	movq	-16(%rsp), %r8
	jmp	.Lin_c
.Lpending:					/* as in exit.S */
	.cfi_restore_state
	.cfi_remember_state
	movq	SWZ_THUNK_PENDING(%rcx), %rdx	/* rdx = record */
	cmpq	$SWZ_IS_CLOSED, %rdx
	je	.Lin_c
	testb	$SWZ_START_UNTIMED, SWZ_THUNK_START(%rdx)
	jz	.Lin_c				/* with what is left */
	movq	SWZ_THUNK_PENDING(%rdx), %rax
	movq	%rax, SWZ_THUNK_PENDING(%rcx)
	movq	SWZ_THREAD_COLD(%rsi), %rsi	/* the record is free */
	movq	SWZ_COLD_RECORDS(%rsi), %rax
7:	movq	%rax, SWZ_THUNK_LINK(%rdx)
	cmpxchgq %rdx, SWZ_COLD_RECORDS(%rsi)
	jne	7b
	GET_THREAD %rsi
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	je	.Lown
	jmp	.Lpending
.Lin_c:
	.cfi_restore_state
	RESTORE_FLAGS
	movq	%rcx, %rax
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	jmp	swz_hook_exit_checked
END(swz_hook_exit_sampled)

	.section .note.GNU-stack, "", @progbits
