/* The entry hook of functions that call nothing, with --timing sampled.
 *
 * In: as in enter.S. A call that is not to be timed is only counted, and goes on
 * with the real return address in its slot: it needs no thunk, since nothing
 * can come of it that would have to know the context. All else goes the way of
 * swz_hook_enter_sampled.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi
 * S-48 flags  S-56 body (in the red zone). */

#include "gate.h"
#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_enter_leaf)
	BEGIN_HOOK
	SAVE_FOUR %rdx
	movq	%rax, -16(%rsp)			/* S-56 */
	movl	-4(%rax), %ecx			/* rcx = function id */
	SAVE_FLAGS
.Lsaved:
	CHECK_REQUEST paused=.Lmay_pass
	NEED_THREAD %rdx, .Lelse
	movq	SWZ_THREAD_EXPECTED(%rdx), %rdi	/* as in enter_sampled.S */
	testq	%rdi, %rdi
	jz	.Lmay_pass
	movl	(%rdi), %esi			/* rsi = unit */
	movq	48(%rsp), %rdi			/* rdi = return address */
	orq	SWZ_THREAD_KEY(%rdx), %rcx	/* rcx = the edge's key */
	movq	%rsi, %rax
	COMPARE_EDGE %rdi, %rcx, .Lunexpected
	jne	.Lunexpected
.Lfound:
	movq	SWZ_THREAD_TOP(%rdx), %rcx	/* the latest frame lies above */
	leaq	48(%rsp), %rdi			/* this one, or was skipped */
	cmpq	%rdi, SWZ_THUNK_SLOT(%rcx)
	jbe	.Lelse
	subb	$1, SWZ_NODE_SKIP(%rax)		/* from 0: this call is timed */
	jb	.Ltimed
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
.Lunexpected:
	cmpq	$0, SWZ_NODE_CALL_SITE(%rax)	/* one was expected */
	je	.Lelse
	FIND_EDGE %rsi, %rdi, %rcx, %ecx, later=.Llater, no_child=.Lno_child
.Lthere:
	movq	SWZ_THREAD_EXPECTED(%rdx), %rdi
	movl	%esi, (%rdi)
	jmp	.Lfound
	FIND_LATER %rsi, %rdi, %rcx, %ecx, found=.Lthere, none=.Lelse, \
		later=.Llater, no_child=.Lno_child

.Lmay_pass:
	PASS_IF_PAUSED %rdx, %rdi, pass=.Lpass
	jmp	.Lelse
.Lpass:
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_FOUR
	RESTORE	%rax
	jmpq	*-56(%rsp)			/* S-56 */
	.cfi_restore_state
.Ltimed:
	movb	$0, SWZ_NODE_SKIP(%rax)
.Lelse:
	RESTORE_FLAGS
	RESTORE_FOUR
	movq	-48(%rsp), %rax			/* S-56 */
	jmp	swz_hook_enter_sampled
END(swz_hook_enter_leaf)

/* With filters. */
FUNC(swz_hook_enter_leaf_filtered)
	GATE	.Lsaved, -56, id, %rsi, %rdi
END(swz_hook_enter_leaf_filtered)

	.section .note.GNU-stack, "", @progbits
