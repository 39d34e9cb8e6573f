/* The exit hook where the clock is not read for every call (--timing sampled).
 *
 * In and out: as in exit.S. A call that was not timed only returns; of the
 * others the long ones end in C, by way of swz_hook_exit_checked. */

#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

/* %rax = when a call of this activation began; changes %rdi. */
.macro SEE thunk
	movq	SWZ_THUNK_START(\thunk), %rdi
	testb	$SWZ_START_UNSEEN, %dil
	jz	.Lseen\@
	cmpq	$2 * SWZ_START_STEP, %rdi
	jb	.Lseen\@			/* it is suspended */
	testb	$SWZ_START_UNTIMED, %dil
	jz	.Lknown\@
	andq	$-SWZ_START_STEP, %rdi
	cmpq	%rax, %rdi
	cmovb	%rax, %rdi
	orq	$SWZ_START_UNTIMED, %rdi
.Lknown\@:
	andq	$~SWZ_START_UNSEEN, %rdi
	movq	%rdi, SWZ_THUNK_START(\thunk)
.Lseen\@:
.endm

FUNC(EXIT_HOOK(_sampled))
	BEGIN_HOOK
	SAVE_THREE %rsi
	movq	%rax, %rcx			/* rcx = thunk */
	SAVE_FLAGS
	IS_LATEST %rsi, 40, %rdx, else=.Lin_c
	movl	SWZ_THUNK_START(%rcx), %eax
	notl	%eax
	testb	$SWZ_START_UNTIMED | SWZ_START_UNSEEN, %al
	jnz	.Ltimed_or_seen
.Luntimed:
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
	testb	$SWZ_IS_LIST, %al
	jnz	.Lshared
.Lfree:
	movq	%rax, SWZ_THUNK_NEXT_FREE(%rcx)
	AS_HELD(%rcx)
	movq	%rcx, SWZ_LINKS_FREE(%rdx)
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	ret
	.cfi_restore_state

	/* As swz_activation_leave() does it, which does it for long calls. %rdi and
	 * %r8 are in the red zone meanwhile. */
.Ltimed_or_seen:
	.cfi_remember_state
	testb	$SWZ_START_UNTIMED, %al
	jz	.Lseen
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
	andq	$-SWZ_START_STEP, %r8
	movq	%r8, -24(%rsp)
	movq	%rax, %rdx
	subq	%r8, %rdx			/* rdx = duration */
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
	movq	-24(%rsp), %rax			/* as swz_sampling_see() does it */
	GET_THREAD %rsi
	movq	%rax, %rdx
	subq	SWZ_THREAD_SEEN(%rsi), %rdx
	cmpq	$SWZ_SEE_TICKS, %rdx
	jb	.Lsaw
	movq	%rax, SWZ_THREAD_SEEN(%rsi)
	movq	SWZ_THUNK_LINK(%rcx), %rdx
.Lsee_frame:
	testq	%rdx, %rdx
	jz	.Lsaw
	subq	$SWZ_START_STEP, %rax
	movq	SWZ_THUNK_PENDING(%rdx), %r8
.Lsee_record:
	testq	%r8, %r8
	jz	.Lsaw_records
	cmpq	$SWZ_IS_CLOSED, %r8
	je	.Lsaw
	testb	$SWZ_IS_JUMPS, %r8b
	jnz	.Lsaw_records
	testb	$SWZ_START_UNSEEN, SWZ_THUNK_START(%r8)
	jz	.Lsaw_records			/* nor are those behind it */
	SEE	%r8
	movq	SWZ_THUNK_PENDING(%r8), %r8
	jmp	.Lsee_record
.Lsaw_records:
	testb	$SWZ_START_UNSEEN, SWZ_THUNK_START(%rdx)
	jz	.Lsaw
	cmpq	$2 * SWZ_START_STEP, SWZ_THUNK_START(%rdx)
	jb	.Lsaw				/* suspended, or its own caller */
	SEE	%rdx
	testb	$SWZ_START_UNTIMED, SWZ_THUNK_START(%rdx)
	jz	.Lsaw
	movq	SWZ_THUNK_LINK(%rdx), %rdx
	jmp	.Lsee_frame
.Lsaw:
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
	/* Not timed, but a call in it was, and its start is the time of that. */
.Lseen:
	.cfi_restore_state
	.cfi_remember_state
	movq	SWZ_THREAD_RECORD(%rsi), %rdx
	movq	SWZ_RECORD_LAST(%rdx), %rdx
	subq	SWZ_THREAD_EPOCH(%rsi), %rdx
	subq	SWZ_THUNK_START(%rcx), %rdx
	cmpq	$SWZ_LONG_TICKS, %rdx		/* swz_sampling_is_long() */
	jl	.Luntimed
	cmpq	$SWZ_ALONE_TICKS, %rdx
	movl	SWZ_THUNK_NODE(%rcx), %edx
	jge	.Lalone
	NODE_AT	%rdx, %rsi
	testb	$SWZ_NODE_OPEN_CYCLE, SWZ_NODE_OPEN(%rdx)
	jz	.Luntimed
	jmp	.Lin_c
.Lalone:
	NODE_AT	%rdx, %rsi
	movl	SWZ_NODE_CONTEXT(%rdx), %eax	/* swz_sampling_stays() */
	cmpl	%eax, SWZ_NODE_KEY+4(%rdx)
	je	.Luntimed
	jmp	.Lin_c
.Lpending:					/* as in exit.S */
	.cfi_restore_state
	.cfi_remember_state
	movq	SWZ_THUNK_PENDING(%rcx), %rdx	/* rdx = record */
	cmpq	$SWZ_IS_CLOSED, %rdx
	jbe	.Lin_c				/* or gone */
	testb	$SWZ_IS_JUMPS, %dl
	jnz	.Ljumps
	testb	$SWZ_START_UNTIMED, SWZ_THUNK_START(%rdx)
	jz	.Lin_c				/* with what is left */
	testb	$SWZ_START_UNSEEN, SWZ_THUNK_START(%rdx)
	jz	.Lin_c
	POP_RECORD %rdx, %rcx, si, gone=.Lrecord_gone
	GET_THREAD %rsi
	movq	SWZ_THREAD_COLD(%rsi), %rsi	/* the record is free */
	movq	SWZ_COLD_RECORDS(%rsi), %rax
7:	movq	%rax, SWZ_THUNK_LINK(%rdx)
	cmpxchgq %rdx, SWZ_COLD_RECORDS(%rsi)
	jne	7b
.Lrecord_gone:
	GET_THREAD %rsi
	cmpq	$0, SWZ_THUNK_PENDING(%rcx)
	je	.Lown
	jmp	.Lpending
.Ljumps:
	cmpq	$SWZ_IS_JUMPS, %rdx		/* SWZ_FIRST_FRAME */
	je	.Lin_c
	movq	$0, SWZ_THUNK_PENDING(%rcx)
	jmp	.Lown
.Lin_c:
	.cfi_restore_state
	RESTORE_FLAGS
	movq	%rcx, %rax
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	jmp	swz_hook_exit_checked
END(EXIT_HOOK(_sampled))

	.section .note.GNU-stack, "", @progbits
