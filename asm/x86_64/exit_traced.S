/* The exit hook of trace mode: as exit.S, and an event (see enter_traced.S).
 *
 * In and out: as in exit.S. What is unusual goes the way of
 * swz_hook_exit_checked. Whether it is a frame or a tail call's record that ends is
 * known by which code does it: the latest frame may be another one when a signal
 * handler has switched to another stack and comes back later. */

#include "macros.h"
#include "offsets.h"

/* %rcx = thunk or record, %rsi = thread: adds the event of its end; %r9 = its time,
 * %rax too. RETURN_EVENT_RARELY belongs to it, out of the way. */
.macro RETURN_EVENT name
\name\()_again:
	movq	SWZ_THREAD_EVENT(%rsi), %rdi	/* rdi = the event's place */
	leaq	8(%rdi), %r8			/* r8 = that of the next */
	testl	$SWZ_EVENT_PAGE_MASK, %r8d
	jz	\name\()_turn
	rdtsc					/* what interrupts from here on */
	shlq	$32, %rdx			/* belongs to the caller */
	orq	%rax, %rdx
	movq	%rdx, %r9			/* r9 = now */
	subq	SWZ_THREAD_EPOCH(%rsi), %rdx	/* as in nodes */
	subq	SWZ_THUNK_START(%rcx), %rdx
	cmpq	SWZ_THREAD_MIN_TICKS(%rsi), %rdx
	jb	\name\()_short
\name\()_long:
	movq	%r9, %rdx
	movq	%r8, %rax
	orq	$SWZ_EVENT_PAGE_MASK, %rax	/* the page's time */
	subq	-7(%rax), %rdx
	cmpq	$SWZ_EVENT_MOST_TICKS, %rdx
	ja	\name\()_turn
	movq	%rdi, %rax
	cmpxchgq %r8, SWZ_THREAD_EVENT(%rsi)
	jne	\name\()_interrupted
	movl	SWZ_THUNK_NODE(%rcx), %eax
	movq	%rax, %r8
	shlq	$SWZ_EVENT_SHIFT_NODE, %r8
	leaq	SWZ_EVENT_RETURN_KIND(%r8,%rdx,8), %rdx
	movq	%rdx, (%rdi)
\name\()_added:
	movl	SWZ_THUNK_NODE(%rcx), %edx
	movq	%r9, %rax
	movq	SWZ_THREAD_RECORD(%rsi), %rdi
	movq	%rax, SWZ_RECORD_LAST(%rdi)
	subq	SWZ_THREAD_EPOCH(%rsi), %rax	/* rax = now, as in nodes */
	NODE_AT	%rdx, %rsi			/* rdx = node */
.endm

.macro RETURN_EVENT_RARELY name
	/* The page is full, or too old; or there are no events any more. */
\name\()_turn:
	CALL_IN_HOOK swz_events_turn_in_hook, %rsi
	cmpb	$SWZ_TURN_IS_AGAIN, %al
	je	\name\()_again
	ja	\name\()_interrupted
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %r9
	jmp	\name\()_added

	/* A signal handler has recorded something meanwhile, or the chunk is
	 * full. */
\name\()_interrupted:
	CALL_IN_HOOK swz_events_return_again, %rsi
	movq	%rax, %r9
	jmp	\name\()_added

	/* Too short, if nothing happened in it that was not. */
\name\()_short:
	CALL_IN_HOOK swz_events_take_back, %rsi
	testb	%al, %al
	jz	\name\()_long
	jmp	\name\()_added
.endm

	.section .text.hooks, "ax", @progbits

FUNC(EXIT_HOOK(_traced))
	BEGIN_HOOK
	SAVE_FIVE %rsi
	SAVE	%r9
	movq	%rax, %rcx			/* rcx = thunk */
	SAVE_FLAGS
	IS_LATEST %rsi, 64, %rdi, else=.Lin_c
	movq	SWZ_THUNK_PENDING(%rcx), %rdx
	cmpq	$SWZ_IS_CLOSED, %rdx
	je	.Lin_c
	movl	SWZ_THUNK_PARENT(%rcx), %edi
	shlq	$32, %rdi
	movq	%rdi, SWZ_THREAD_KEY(%rsi)
	testq	%rdx, %rdx
	jnz	.Lpending
.Lown:
	RETURN_EVENT .Lframe
	movq	SWZ_THUNK_START(%rcx), %r8
	movq	$0, SWZ_THUNK_START(%rcx)
	LEAVE_NODE
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE	%r9
	RESTORE_FIVE
	RESTORE	%rax
	ret
	.cfi_restore_state
	LEAVE_NODE_RARELY
	RETURN_EVENT_RARELY .Lframe

	/* Calls that its function has gone on to by jumps end first, each with an event
	 * of its own. */
.Lpending:
	cmpq	$SWZ_IS_JUMPS, %rdx		/* SWZ_FIRST_FRAME */
	je	.Lin_c
	SAVE	%r10
	movq	%rcx, %r10			/* r10 = thunk, rdx = record */
.Lnext_pending:
	cmpq	$0, SWZ_THUNK_RETURN(%rdx)	/* SWZ_RECORD_CAPTURED */
	jne	.Lcaptured
	POP_RECORD %rdx, %r10, di, gone=.Lmore_pending
	movq	%rdx, %rcx			/* rcx = record */
	RETURN_EVENT .Lrecord
	LEAVE_RECORD %rcx
	movq	SWZ_THUNK_PENDING(%r10), %rdx
.Lmore_pending:
	cmpq	$SWZ_IS_JUMPS, %rdx		/* or 0: none */
	ja	.Lnext_pending
	movq	%r10, %rcx
	.cfi_remember_state
	RESTORE	%r10
	je	.Lin_c
	jmp	.Lown
	.cfi_restore_state
	RETURN_EVENT_RARELY .Lrecord
	LEAVE_RECORD_RARELY
	.cfi_adjust_cfa_offset -8
	.cfi_restore %r10

.Lcaptured:
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset %r10, 0
	movq	%r10, %rcx
	RESTORE	%r10
.Lin_c:
	RESTORE_FLAGS
	movq	%rcx, %rax
	RESTORE	%r9
	RESTORE_FIVE
	jmp	swz_hook_exit_checked
END(EXIT_HOOK(_traced))

	.section .note.GNU-stack, "", @progbits
