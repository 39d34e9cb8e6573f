/* The entry hook where the clock is not read for every call (--timing sampled).
 *
 * In and out: as in enter.S. A node says how many of its calls are to be let
 * pass yet (`skip`): those go without the clock and what is added up with it.
 * With no clock to wait for, each instruction counts. The next one is timed, and
 * stands for so many as is its weight (src/runtime/record/sampling.h). For all else
 * everything is put back as it was and goes the way of swz_hook_enter_checked.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi  S-48 r8
 * S-56 flags  S-64 body, then where to go on (in the red zone). */

#include "gate.h"
#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

/* %rax = node, %rdi = the first thunk of the list %r8: takes it. %rax = the
 * callee's context, %rsi = where its first edge is expected. */
.macro TAKE_UNTIMED
	incq	SWZ_NODE_CALLS(%rax)
	movq	SWZ_THUNK_NEXT_FREE(%rdi), %rsi
	movq	%rsi, SWZ_LINKS_FREE(%r8)
	MAKE_OWN %rdi, %r8
	leaq	56(%rsp), %rsi
	movq	%rsi, SWZ_THUNK_SLOT(%rdi)
	movl	SWZ_NODE_CONTEXT(%rax), %eax
	movq	%rax, %rsi
	LINKS_AT %rsi, %rdx
	addq	$SWZ_LINKS_FIRST, %rsi
.endm

/* The thunk %rdi becomes the latest, behind %rcx; changes %r8. */
.macro GO_UNTIMED
	movq	%rsi, SWZ_THREAD_EXPECTED(%rdx)
	shlq	$32, %rax
	movq	SWZ_THUNK_START(%rcx), %r8	/* not a time, but later than */
	addq	$SWZ_START_STEP, %r8		/* that of the frame above */
	orq	$SWZ_START_UNTIMED | SWZ_START_UNSEEN, %r8
	movq	%r8, SWZ_THUNK_START(%rdi)
	movq	%rcx, SWZ_THUNK_LINK(%rdi)
	movq	%rdi, SWZ_THREAD_TOP(%rdx)
	movq	%rax, SWZ_THREAD_KEY(%rdx)
.endm

FUNC(swz_hook_enter_sampled)
	BEGIN_HOOK
	SAVE_FIVE %rdx
	movq	%rax, -16(%rsp)			/* S-64 */
	movl	-4(%rax), %ecx			/* rcx = function id */
	SAVE_FLAGS
.Lsaved:
	CHECK_REQUEST paused=.Lmay_pass
	NEED_THREAD %rdx, .Lin_c
	movq	SWZ_THREAD_EXPECTED(%rdx), %rdi	/* what came here last time; 0 */
	testq	%rdi, %rdi			/* in a new thread, and in a   */
	jz	.Lmay_pass			/* forked child (see enter.S)  */
	movl	(%rdi), %r8d			/* r8 = unit */
	movq	56(%rsp), %rsi			/* rsi = return address */
	orq	SWZ_THREAD_KEY(%rdx), %rcx	/* rcx = the edge's key */
	movq	%r8, %rax
	COMPARE_EDGE %rsi, %rcx, .Lunexpected
	jne	.Lunexpected
.Lfound:
	LINKS_AT %r8, %rdx			/* r8 = the edge's links */
	movq	SWZ_THREAD_TOP(%rdx), %rcx	/* the latest frame lies above */
	leaq	56(%rsp), %rsi			/* this one, or was skipped */
	cmpq	%rsi, SWZ_THUNK_SLOT(%rcx)
	jbe	.Lin_c
	movq	SWZ_LINKS_FREE(%r8), %rdi	/* rdi = thunk */
	testq	%rdi, %rdi
	jle	.Lshared
	subb	$1, SWZ_NODE_SKIP(%rax)		/* from 0: this call is timed */
	jb	.Ltimed
	incq	SWZ_NODE_CALLS(%rax)
	movl	SWZ_NODE_CONTEXT(%rax), %eax	/* the callee's context */
	movq	SWZ_THUNK_NEXT_FREE(%rdi), %rsi
	movq	%rsi, SWZ_LINKS_FREE(%r8)	/* the thunk is taken: a signal */
	leaq	56(%rsp), %rsi			/* handler's use of it is over */
	movq	%rsi, SWZ_THUNK_SLOT(%rdi)
	leaq	SWZ_LINKS_FIRST(%r8), %rsi
	cmpl	SWZ_THUNK_NODE(%rdi), %eax	/* its own, if not recursive */
	jne	.Lother_context
.Lcontext:
	GO_UNTIMED
	subq	$SWZ_UNIT_CODE_BYTES, %rdi	/* its code */
.Lto_thunk:
	popq	%rax
	.cfi_remember_state
	.cfi_adjust_cfa_offset -8
	movq	%rdi, -16(%rsp)			/* S-64 */
	addb	$0x7f, %al			/* OF */
	sahf					/* SF ZF AF PF CF */
	RESTORE_FIVE
	RESTORE	%rax
	leaq	8(%rsp), %rsp			/* the thunk's call pushes it */
	.cfi_adjust_cfa_offset -8
	jmpq	*-72(%rsp)			/* S-64 */

	/* As swz_sampling_decide() and swz_activation_enter() do it. Where the level
	 * rises they do. */
.Ltimed:
	.cfi_restore_state
	.cfi_remember_state
	cmpb	$SWZ_SCORE_OF_LEVEL, SWZ_NODE_SCORE(%rax)
	jge	.Lno_higher
	incb	SWZ_NODE_SCORE(%rax)
.Ltake:
	incq	SWZ_NODE_CALLS(%rax)
	movq	SWZ_THUNK_NEXT_FREE(%rdi), %rsi
	movq	%rsi, SWZ_LINKS_FREE(%r8)
	MAKE_OWN %rdi, %r8			/* if it was shared */
	leaq	56(%rsp), %rsi
	movq	%rsi, SWZ_THUNK_SLOT(%rdi)
	movq	$0, SWZ_THUNK_START(%rdi)
	movq	%rcx, SWZ_THUNK_LINK(%rdi)
	movq	%rdi, SWZ_THREAD_TOP(%rdx)
	movl	SWZ_NODE_CONTEXT(%rax), %ecx	/* the callee's context */
	movq	%rcx, %rsi
	LINKS_AT %rsi, %rdx
	addq	$SWZ_LINKS_FIRST, %rsi
	movq	%rsi, SWZ_THREAD_EXPECTED(%rdx)
	shlq	$32, %rcx
	movq	%rcx, SWZ_THREAD_KEY(%rdx)
	movq	SWZ_THREAD_COLD(%rdx), %rsi	/* how many pass before the next: */
	movq	SWZ_COLD_RANDOM(%rsi), %r8	/* up to twice the weight - 2 */
	imulq	random_multiplier(%rip), %r8
	incq	%r8
	movq	%r8, SWZ_COLD_RANDOM(%rsi)
	shrq	$32, %r8
	movl	SWZ_NODE_OPEN(%rax), %ecx
	shrl	$SWZ_LEVEL_SHIFT, %ecx
	andl	$SWZ_START_LEVEL, %ecx		/* rcx = level */
	addl	%ecx, %ecx
	movl	$2, %esi
	shll	%cl, %esi
	decl	%esi				/* 1 at level 0: none */
	imulq	%rsi, %r8
	shrq	$32, %r8
	movb	%r8b, SWZ_NODE_SKIP(%rax)
	movq	%rdx, %r8			/* r8 = thread */
	movq	%rax, %rsi			/* rsi = node */
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%r8), %rdx
	movq	%rax, SWZ_RECORD_LAST(%rdx)
	subq	SWZ_THREAD_EPOCH(%r8), %rax
	movq	SWZ_THUNK_LINK(%rdi), %rdx	/* not before its caller's start, */
	movq	SWZ_THUNK_START(%rdx), %rdx	/* which may be no time */
	addq	$SWZ_START_STEP, %rdx
	cmpq	%rdx, %rax
	cmovb	%rdx, %rax
	andq	$-SWZ_START_STEP, %rax
	movl	%ecx, %edx
	shrl	$1, %edx
	orl	$SWZ_START_UNSEEN, %edx
	orq	%rax, %rdx			/* with the level */
	movq	%rdx, SWZ_THUNK_START(%rdi)
	movl	$1, %edx
	shll	%cl, %edx			/* rdx = weight */
	addq	%rdx, SWZ_NODE_WEIGHT(%rsi)
	addl	$1, SWZ_NODE_TIMED(%rsi)	/* as many as fit */
	sbbl	$0, SWZ_NODE_TIMED(%rsi)
	shlq	%cl, %rax
	subq	%rax, SWZ_NODE_TICKS(%rsi)
	shll	$8, %edx			/* SWZ_NODE_OPEN_ONE each */
	addl	%edx, SWZ_NODE_OPEN(%rsi)
	CODE_OF	%rdi, %rdi, %rdx
	jmp	.Lto_thunk
.Lno_higher:
	testb	$1 << SWZ_LEVEL_SHIFT, SWZ_NODE_OPEN(%rax)
	jz	.Lin_c
	testb	$2 << SWZ_LEVEL_SHIFT, SWZ_NODE_OPEN(%rax)
	jnz	.Ltake
	jmp	.Lin_c
.Lshared:					/* see TAKE_SHARED */
	.cfi_restore_state
	.cfi_remember_state
	jz	.Lin_c
	testb	$SWZ_IS_LIST, %dil
	jz	.Lfollows
	testl	$SWZ_HOT_CALLS - 1, SWZ_NODE_CALLS(%rax)
	jz	.Lin_c
	notq	%rdi
	movq	%rdi, %r8			/* r8 = where the list begins */
	movq	(%r8), %rdi
	testq	%rdi, %rdi
	jz	.Lin_c
	js	.Lfollows
	subb	$1, SWZ_NODE_SKIP(%rax)
	jb	.Ltimed
	TAKE_UNTIMED
	jmp	.Lcontext
.Lfollows:
	negq	%rdi
	CHECK_AT_HOME %rsi, %rdx, %rcx, else=.Lin_c
	movq	SWZ_THREAD_TOP(%rdx), %rcx
	subb	$1, SWZ_NODE_SKIP(%rax)
	jb	.Ltimed
	TAKE_UNTIMED
	GO_UNTIMED
	FETCH_NEXT %rdi, %rax
	movq	SWZ_THUNK_BODY(%rdi), %rdi	/* its leader's code */
	jmp	.Lto_thunk
.Lother_context:
	.cfi_restore_state
	.cfi_remember_state
	movq	%rax, %rsi
	LINKS_AT %rsi, %rdx
	addq	$SWZ_LINKS_FIRST, %rsi
	jmp	.Lcontext
.Lunexpected:					/* as in enter.S */
	.cfi_restore_state
	cmpq	$0, SWZ_NODE_CALL_SITE(%rax)
	je	.Lmay_be_jump
.Lother_edge:
	FIND_EDGE %r8, %rsi, %rcx, %ecx, later=.Llater, no_child=.Lno_child
.Lthere:
	movl	%r8d, (%rdi)
	jmp	.Lfound
.Lmay_be_jump:
	IS_THUNK %rsi, %r8, yes=.Ljumped
	jmp	.Lother_edge
	FIND_LATER %r8, %rsi, %rcx, %ecx, found=.Lthere, none=.Lnot_there, \
		later=.Llater, no_child=.Lno_child
.Lnot_there:
	IS_THUNK %rsi, %r8, yes=.Ljumped
	jmp	.Lin_c

	/* As in enter.S. */
.Ljumped:
	movq	%rsi, %r8
	andq	$-SWZ_THUNK_BYTES, %r8
	addq	$SWZ_UNIT_CODE_BYTES, %r8	/* r8 = thunk */
	cmpq	%r8, SWZ_THREAD_TOP(%rdx)
	jne	.Lmay_lead
.Llatest:
	leaq	56(%rsp), %rax
	cmpq	%rax, SWZ_THUNK_SLOT(%r8)	/* no copy */
	jne	.Lin_c
	movl	SWZ_THUNK_NODE(%r8), %eax
	NODE_AT	%rax, %rdx
	cmpl	%ecx, SWZ_NODE_FUNCTION(%rax)
	je	.Lin_c
	movl	(%rdi), %eax			/* the edge that is expected? */
	COMPARE_EDGE $0, %rcx, .Ljump_other_edge
	jne	.Ljump_other_edge
.Ljump_found:
	cmpb	$0, SWZ_NODE_SKIP(%rax)		/* this call is timed */
	je	.Lin_c
	movq	SWZ_THUNK_PENDING(%r8), %rsi
	testq	%rsi, %rsi
	jz	.Lno_record
	testb	$SWZ_IS_JUMPS, %sil
	jz	.Lrecord
.Lno_record:					/* nothing to be noted of it */
	movl	SWZ_THUNK_START(%r8), %esi
	notl	%esi
	testb	$SWZ_START_UNTIMED | SWZ_START_UNSEEN, %sil
	jnz	.Lrecord
	movl	SWZ_NODE_CONTEXT(%rax), %esi
	movq	%rax, %rdi
	UNIT_OF	%rdi, %rdx
	cmpl	%edi, %esi			/* nor is the function on the path */
	jne	.Lrecord
	decb	SWZ_NODE_SKIP(%rax)
	incq	SWZ_NODE_CALLS(%rax)
	shlq	$SWZ_JUMPS_SHIFT, %rdi
	orq	$SWZ_IS_JUMPS, %rdi
	movq	%rdi, SWZ_THUNK_PENDING(%r8)
	jmp	.Ljump_to_context
.Lrecord:
	movq	%rax, %rdi
	STANDS_FOR %r8, %ecx, %rsi, yes=.Lin_c, low=%sil
	movq	%rdi, %rsi			/* rsi = node */
	movq	SWZ_THREAD_COLD(%rdx), %rcx
	movq	SWZ_COLD_RECORDS(%rcx), %rax	/* the list, as a whole */
	testq	%rax, %rax
	jz	.Lin_c
	xorl	%edi, %edi
	cmpxchgq %rdi, SWZ_COLD_RECORDS(%rcx)
	jne	.Lin_c
	movq	SWZ_THUNK_LINK(%rax), %rdi	/* and the rest of it back */
	movq	%rdi, SWZ_COLD_RECORDS(%rcx)
	decb	SWZ_NODE_SKIP(%rsi)
	incq	SWZ_NODE_CALLS(%rsi)
	movq	%rsi, %rdi
	UNIT_OF	%rdi, %rdx
	movl	%edi, SWZ_THUNK_NODE(%rax)	/* rax = record */
	movq	SWZ_THUNK_PENDING(%r8), %rdi
	movq	%rdi, SWZ_THUNK_PENDING(%rax)
	movq	SWZ_THUNK_START(%r8), %rdi
	addq	$SWZ_START_STEP, %rdi
	orq	$SWZ_START_UNTIMED | SWZ_START_UNSEEN, %rdi
	movq	%rdi, SWZ_THUNK_START(%rax)
	movq	%rax, %rdi
	PUSH_RECORD %rdi, %r8
	movl	SWZ_NODE_CONTEXT(%rsi), %esi	/* the callee's context */
.Ljump_to_context:
	movq	%rsi, %rax
	LINKS_AT %rsi, %rdx
	addq	$SWZ_LINKS_FIRST, %rsi
	movq	%rsi, SWZ_THREAD_EXPECTED(%rdx)
	shlq	$32, %rax
	movq	%rax, SWZ_THREAD_KEY(%rdx)
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FIVE
	RESTORE	%rax
	jmpq	*-64(%rsp)			/* S-64: body */
.Lmay_lead:
	.cfi_restore_state
	.cfi_remember_state
	LED_BY	%r8, %rdx, %rax, else=.Lin_c
	jmp	.Llatest
.Ljump_other_edge:				/* the call site is 0 */
	.cfi_restore_state
	.cfi_remember_state
	FIND_EDGE %rsi, $0, %rcx, %ecx, later=.Ljump_later, no_child=.Ljump_no_child
.Ljump_there:
	movl	%esi, (%rdi)
	jmp	.Ljump_found
	FIND_LATER %rsi, $0, %rcx, %ecx, found=.Ljump_there, none=.Lin_c, \
		later=.Ljump_later, no_child=.Ljump_no_child
.Lmay_pass:
	.cfi_restore_state
	.cfi_remember_state
	PASS_IF_PAUSED %rdx, %r8, pass=.Lpass
.Lin_c:
	.cfi_restore_state
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FIVE
	movq	-56(%rsp), %rax			/* S-64: body */
	jmp	swz_hook_enter_checked
.Lpass:
	.cfi_restore_state
	RESTORE_FLAGS
	RESTORE_FIVE
	RESTORE	%rax
	jmpq	*-64(%rsp)			/* S-64: body */
END(swz_hook_enter_sampled)

/* With filters. */
FUNC(swz_hook_enter_sampled_filtered)
	GATE	.Lsaved, -64, id, %rsi, %rdi, %r8
END(swz_hook_enter_sampled_filtered)

	.section .rodata.hooks, "a", @progbits
	.balign	8
random_multiplier:
	.quad	SWZ_RANDOM_MULTIPLIER

	.section .text.hooks, "ax", @progbits

/* The entry hook of functions that call nothing, with --timing sampled.
 *
 * In: as in enter.S. A call that is not to be timed is only counted, and goes on
 * with the real return address in its slot: it needs no thunk, since nothing
 * can come of it that would have to know the context. All else goes the way of
 * swz_hook_enter_sampled.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi
 * S-48 flags  S-56 body (in the red zone). */

FUNC(swz_hook_enter_leaf)
	BEGIN_HOOK
	SAVE_FOUR %rdx
	movq	%rax, -16(%rsp)			/* S-56 */
	movl	-4(%rax), %ecx			/* rcx = function id */
	SAVE_FLAGS
.Lleaf_saved:
	CHECK_REQUEST paused=.Lleaf_may_pass
	NEED_THREAD %rdx, .Lleaf_else
	movq	SWZ_THREAD_EXPECTED(%rdx), %rdi	/* as above */
	testq	%rdi, %rdi
	jz	.Lleaf_may_pass
	movl	(%rdi), %esi			/* rsi = unit */
	movq	48(%rsp), %rdi			/* rdi = return address */
	orq	SWZ_THREAD_KEY(%rdx), %rcx	/* rcx = the edge's key */
	movq	%rsi, %rax
	COMPARE_EDGE %rdi, %rcx, .Lleaf_unexpected
	jne	.Lleaf_unexpected
.Lleaf_found:
	movq	SWZ_THREAD_TOP(%rdx), %rcx	/* the latest frame lies above */
	leaq	48(%rsp), %rdi			/* this one, or was skipped */
	cmpq	%rdi, SWZ_THUNK_SLOT(%rcx)
	jbe	.Lleaf_else
	subb	$1, SWZ_NODE_SKIP(%rax)		/* from 0: this call is timed */
	jb	.Lleaf_timed
	incq	SWZ_NODE_CALLS(%rax)
	LINKS_AT %rsi, %rdx			/* as when it has returned */
	addq	$SWZ_LINKS_NEXT, %rsi
	movq	%rsi, SWZ_THREAD_EXPECTED(%rdx)
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FOUR
	RESTORE	%rax
	jmpq	*-56(%rsp)			/* S-56 */
	.cfi_restore_state

	/* A jump from another function is not done here. */
.Lleaf_unexpected:
	cmpq	$0, SWZ_NODE_CALL_SITE(%rax)	/* one was expected */
	je	.Lleaf_else
	FIND_EDGE %rsi, %rdi, %rcx, %ecx, later=.Lleaf_later, no_child=.Lleaf_no_child
.Lleaf_there:
	movq	SWZ_THREAD_EXPECTED(%rdx), %rdi
	movl	%esi, (%rdi)
	jmp	.Lleaf_found
	FIND_LATER %rsi, %rdi, %rcx, %ecx, found=.Lleaf_there, none=.Lleaf_else, \
		later=.Lleaf_later, no_child=.Lleaf_no_child

.Lleaf_may_pass:
	PASS_IF_PAUSED %rdx, %rdi, pass=.Lleaf_pass
	jmp	.Lleaf_else
.Lleaf_pass:
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FOUR
	RESTORE	%rax
	jmpq	*-56(%rsp)			/* S-56 */
	.cfi_restore_state
.Lleaf_timed:
	movb	$0, SWZ_NODE_SKIP(%rax)
.Lleaf_else:
	RESTORE_FLAGS
	RESTORE_FOUR
	movq	-48(%rsp), %rax			/* S-56 */
	jmp	swz_hook_enter_sampled
END(swz_hook_enter_leaf)

/* With filters. */
FUNC(swz_hook_enter_leaf_filtered)
	GATE	.Lleaf_saved, -56, id, %rsi, %rdi
END(swz_hook_enter_leaf_filtered)

	.section .note.GNU-stack, "", @progbits
