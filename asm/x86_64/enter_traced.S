/* The entry hook of trace mode: as enter.S, and an event.
 *
 * In and out: as in enter.S. What is unusual goes the way of
 * swz_hook_enter_checked, all put back as it was.
 *
 * The event (src/runtime/record/events.h): its place is read, then the clock, then the
 * place is taken by a compare-and-exchange. What a signal handler has recorded
 * meanwhile makes that fail; then it is done in C. One processor is concerned,
 * so it is not locked.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi  S-48 r8
 * S-56 r9  S-64 r10  S-72 flags  S-80 where to go on (in the red zone). */

#include "gate.h"
#include "macros.h"
#include "offsets.h"

/* %rcx = thunk or record, %rsi = node, %r9 = thread: adds the event of its beginning,
 * and accounts that. ENTER_EVENT_RARELY belongs to it, out of the way. */
.macro ENTER_EVENT name
\name\()_again:
	movq	SWZ_THREAD_EVENT(%r9), %rdi	/* rdi = the event's place */
	leaq	8(%rdi), %r10			/* r10 = that of the next */
	testl	$SWZ_EVENT_PAGE_MASK, %r10d
	jz	\name\()_turn
	rdtsc					/* what interrupts from here on */
	shlq	$32, %rdx			/* belongs to the callee */
	orq	%rax, %rdx
	movq	%rdx, %r8			/* r8 = now */
	movq	%r10, %rax
	orq	$SWZ_EVENT_PAGE_MASK, %rax	/* the page's time */
	subq	-7(%rax), %rdx
	cmpq	$SWZ_EVENT_MOST_TICKS, %rdx
	ja	\name\()_turn
	movq	%rdi, %rax
	cmpxchgq %r10, SWZ_THREAD_EVENT(%r9)
	jne	\name\()_interrupted
	movl	SWZ_THUNK_NODE(%rcx), %r10d
	shlq	$SWZ_EVENT_SHIFT_NODE - SWZ_EVENT_SHIFT_TICKS, %r10
	orq	%r10, %rdx
	shlq	$SWZ_EVENT_SHIFT_TICKS, %rdx	/* | SWZ_EVENT_ENTER, 0 */
	movq	%rdx, (%rdi)
\name\()_added:
	movq	SWZ_THREAD_RECORD(%r9), %r10
	movq	%r8, SWZ_RECORD_LAST(%r10)
	subq	SWZ_THREAD_EPOCH(%r9), %r8	/* as nodes have it */
	movq	%r8, SWZ_THUNK_START(%rcx)	/* from here on it is closed */
	movl	SWZ_NODE_CONTEXT(%rsi), %edi
	shlq	$SWZ_LINKS_SHIFT, %rdi
	movq	SWZ_THREAD_LINKS(%r9), %rdx
	leaq	SWZ_LINKS_FIRST(%rdx,%rdi), %rdx
	movq	%rdx, SWZ_THREAD_EXPECTED(%r9)
	subq	%r8, SWZ_NODE_TICKS(%rsi)	/* by whoever finds it skipped */
	addl	$SWZ_NODE_OPEN_ONE, SWZ_NODE_OPEN(%rsi)
	movl	SWZ_NODE_FUNCTION(%rsi), %edi
	movq	SWZ_THREAD_OPEN(%r9), %r10
	subl	$1, (%r10,%rdi,4)		/* counts down from 0: borrows */
	sbbq	%rdx, %rdx			/* outermost ? -1 : 0 */
	andq	%rdx, %r8
	subq	%r8, SWZ_NODE_OUTER_TICKS(%rsi)
.endm

.macro ENTER_EVENT_RARELY name
	/* The page is full, or too old; or there are no events any more. */
\name\()_turn:
	CALL_IN_HOOK swz_events_turn_in_hook, %r9
	cmpb	$SWZ_TURN_IS_AGAIN, %al
	je	\name\()_again
	ja	\name\()_interrupted
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	%rax, %r8
	jmp	\name\()_added

	/* A signal handler has recorded something meanwhile, or the chunk is
	 * full. */
\name\()_interrupted:
	CALL_IN_HOOK swz_events_enter_again, %r9
	movq	%rax, %r8
	jmp	\name\()_added
.endm

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_enter_traced)
	BEGIN_HOOK
	SAVE_SEVEN %rdx
	movq	%rax, %rcx			/* rcx = body */
	SAVE_FLAGS
.Lsaved:
	CHECK_REQUEST paused=.Lmay_pass
	NEED_THREAD %rdx, .Lin_c
	movq	SWZ_THREAD_LINKS(%rdx), %r8	/* as in enter.S */
	testq	%r8, %r8
	jz	.Lmay_pass
	FIND_EXPECTED else=.Lunexpected
.Lfound:
	TAKE_THUNK none=.Lin_c_again, shared=.Lshared, taken=.Ltaken
	movq	%rax, %rsi			/* rsi = node */
	movl	SWZ_NODE_CONTEXT(%rsi), %edi	/* the callee's context */
	shlq	$32, %rdi
	incq	SWZ_NODE_CALLS(%rsi)
	movq	%rcx, SWZ_THREAD_TOP(%rdx)
	movq	%rdi, SWZ_THREAD_KEY(%rdx)
	movq	%rdx, %r9			/* r9 = thread */
	ENTER_EVENT .Lframe
	CODE_OF	%rcx, -8(%rsp), %rdi		/* S-80 */

	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	leaq	8(%rsp), %rsp			/* the thunk's call pushes it */
	.cfi_adjust_cfa_offset -8
	jmpq	*-88(%rsp)			/* S-80 */
	.cfi_restore_state
	ENTER_EVENT_RARELY .Lframe

	/* A jump: the same with the record in place of the thunk, which is kept on
	 * the stack meanwhile, behind the body. */
.Ljumped:
	TAKE_RECORD none=.Lin_c_again
	leaq	-8(%rsp), %rsp			/* S-80: body */
	.cfi_adjust_cfa_offset 8
	PUSH	%rdi
	movl	SWZ_NODE_CONTEXT(%rsi), %eax
	shlq	$32, %rax
	incq	SWZ_NODE_CALLS(%rsi)
	movq	%rax, SWZ_THREAD_KEY(%rdx)
	movq	%rdx, %r9
	ENTER_EVENT .Lrecord
	.cfi_remember_state
	POP	%rdi				/* rdi = thunk */
	PUSH_RECORD %rcx, %rdi
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	jmpq	*-80(%rsp)
	.cfi_restore_state
	ENTER_EVENT_RARELY .Lrecord
	.cfi_adjust_cfa_offset -16

.Lshared:
	TAKE_SHARED none=.Lin_c_again, taken=.Ltaken

	/* Another one: as in enter.S. */
.Lunexpected:
	FIND_UNEXPECTED found=.Lfound, jumped=.Ljumped
.Lin_c_again:
	movq	-8(%rsp), %rcx
.Lmay_pass:
	PASS_IF_PAUSED %rdx, %r8, pass=.Lpass
.Lin_c:
	movq	%rcx, -8(%rsp)			/* S-80: body */
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	movq	-72(%rsp), %rax			/* S-80 */
	jmp	swz_hook_enter_checked
.Lpass:
	.cfi_restore_state
	movq	%rcx, -8(%rsp)
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	jmpq	*-80(%rsp)
END(swz_hook_enter_traced)

/* With filters. */
FUNC(swz_hook_enter_traced_filtered)
	GATE	.Lsaved, -80, body, %rsi, %rdi, %r8, %r9, %r10
END(swz_hook_enter_traced_filtered)

	.section .note.GNU-stack, "", @progbits
