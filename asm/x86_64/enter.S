/* The entry hook: where every trampoline goes.
 *
 * In:   %rax = the function's relocated prologue ("body"), its id in the four
 *       bytes before it; (%rsp) = the program's %rax; 8(%rsp) = the return
 *       slot, which holds the real return address.
 * Out:  to the body through a return thunk, every register and arithmetic flag
 *       as at entry, %rsp too; the slot then holds the thunk's address.
 *
 * The usual case is done here, without a call: the call edge is the one that
 * came at this point last time, or is in its context's table near its first
 * place, and a thunk of that edge is free. It has the body and the
 * return address in it already: a thunk serves one function and call site only,
 * so whatever happens to it, it leads where it always led. All else goes to
 * swz_enter() in C. No vector instruction, no lock, no branch that depends on data
 * but the checks themselves.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi  S-48 r8
 * S-56 r9  S-64 r10  S-72 flags  S-80 where to go on (under %rsp: the ABI's red
 * zone keeps it from signal handlers; SysV ABI 3.2.2).
 * See docs/internals/one-call.md. */

#include "gate.h"
#include "macros.h"
#include "offsets.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_enter)
	BEGIN_HOOK
	SAVE_SEVEN %rdx
	movq	%rax, %rcx			/* rcx = body */
	SAVE_FLAGS
.Lsaved:
	CHECK_REQUEST paused=.Lmay_pass
	NEED_THREAD %rdx, .Lin_c
	movq	SWZ_THREAD_LINKS(%rdx), %r8	/* 0 in a new thread, and in a */
	testq	%r8, %r8			/* forked child, where the     */
	jz	.Lmay_pass			/* kernel wiped the page       */
	FIND_EXPECTED else=.Lunexpected
.Lfound:
	TAKE_THUNK none=.Lin_c_again, shared=.Lshared, taken=.Ltaken
	movq	%rax, %rsi			/* rsi = node */
	movl	SWZ_NODE_CONTEXT(%rsi), %r8d	/* the callee's context */
	movq	%r8, %rax
	shlq	$32, %rax
	incq	SWZ_NODE_CALLS(%rsi)
	movq	%rcx, SWZ_THREAD_TOP(%rdx)
	movq	%rdx, %rdi			/* rdi = thread */
	movq	%rax, SWZ_THREAD_KEY(%rdx)
	rdtsc					/* what interrupts from here on */
	shlq	$32, %rdx			/* belongs to the callee */
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%rdi), %r10
	movq	%rax, SWZ_RECORD_LAST(%r10)
	subq	SWZ_THREAD_EPOCH(%rdi), %rax	/* as nodes have it */
	movq	%rax, SWZ_THUNK_START(%rcx)	/* from here on it is closed */
	shlq	$SWZ_LINKS_SHIFT, %r8
	movq	SWZ_THREAD_LINKS(%rdi), %rdx
	leaq	SWZ_LINKS_FIRST(%rdx,%r8), %rdx
	movq	%rdx, SWZ_THREAD_EXPECTED(%rdi)
	movq	SWZ_THREAD_OPEN(%rdi), %r8
	leaq	(%r8,%r9,4), %r8		/* r8 = the function's count */
	subq	%rax, SWZ_NODE_TICKS(%rsi)	/* by whoever finds it skipped */
	addl	$SWZ_NODE_OPEN_ONE, SWZ_NODE_OPEN(%rsi)
	subl	$1, (%r8)			/* counts down from 0: borrows */
	sbbq	%rdx, %rdx			/* outermost ? -1 : 0 */
	andq	%rdx, %rax
	subq	%rax, SWZ_NODE_OUTER_TICKS(%rsi)

.Lto_thunk:
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	leaq	8(%rsp), %rsp			/* the thunk's call pushes it */
	.cfi_adjust_cfa_offset -8
	jmpq	*-88(%rsp)			/* S-80 */

.Lshared:
	.cfi_restore_state
	TAKE_SHARED none=.Lin_c_again, taken=.Ltaken
.Lunexpected:
	FIND_UNEXPECTED found=.Lfound, jumped=.Ljumped
.Lin_c_again:
	movq	-8(%rsp), %rcx
	jmp	.Lin_c

	/* In the order of swz_enter_by_jump() in src/runtime/hooks/hooks.c. */
.Ljumped:
	TAKE_RECORD none=.Lin_c_again
	movq	%rdx, %r10			/* r10 = thread */
	rdtsc
	shlq	$32, %rdx
	orq	%rdx, %rax
	movq	SWZ_THREAD_RECORD(%r10), %rdx
	movq	%rax, SWZ_RECORD_LAST(%rdx)
	subq	SWZ_THREAD_EPOCH(%r10), %rax
	movq	%rax, SWZ_THUNK_START(%rcx)
	movq	%rax, %rdx
	PUSH_RECORD %rcx, %rdi
	movq	%rdx, %rax
	movl	SWZ_NODE_CONTEXT(%rsi), %edi	/* the callee's context */
	movq	%rdi, %rcx
	shlq	$32, %rcx
	movq	%rcx, SWZ_THREAD_KEY(%r10)
	shlq	$SWZ_LINKS_SHIFT, %rdi
	leaq	SWZ_LINKS_FIRST(%r8,%rdi), %rcx
	movq	%rcx, SWZ_THREAD_EXPECTED(%r10)
	incq	SWZ_NODE_CALLS(%rsi)
	subq	%rax, SWZ_NODE_TICKS(%rsi)
	addl	$SWZ_NODE_OPEN_ONE, SWZ_NODE_OPEN(%rsi)
	movq	SWZ_THREAD_OPEN(%r10), %rcx
	subl	$1, (%rcx,%r9,4)
	sbbq	%rdx, %rdx
	andq	%rdx, %rax
	subq	%rax, SWZ_NODE_OUTER_TICKS(%rsi)
	jmp	.Lto_body

	/* The unusual case. The checked hook, below, with the same stack layout,
	 * comes here too. */
.Lin_c:
	SAVE	%r11
	SAVE	%rbp
	pushq	%rcx				/* body */
	.cfi_adjust_cfa_offset 8
	SAVE_DIRECTION
	movq	%rcx, %rdi
	leaq	104(%rsp), %rsi			/* slot */
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	swz_enter			/* rax = code or NULL */
	movq	%rbp, %rsp
	.cfi_restore_state
	RESTORE_DIRECTION
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	RESTORE	%rbp
	RESTORE	%r11
	testq	%rax, %rax
	jz	.Lpass
	movq	%rax, -8(%rsp)			/* S-80 */
	jmp	.Lto_thunk
.Lmay_pass:
	PASS_IF_PAUSED %rdx, %r8, pass=.Lpass
	jmp	.Lin_c
.Lpass:						/* unhooked: to the body */
	movq	%rcx, -8(%rsp)
.Lto_body:
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	jmpq	*-80(%rsp)
	.cfi_restore_state
END(swz_hook_enter)

/* With filters. */
FUNC(swz_hook_enter_filtered)
	GATE	.Lsaved, -80, body, %rsi, %rdi, %r8, %r9, %r10
END(swz_hook_enter_filtered)

/* The same where the entry is decided by swz_enter(): for calls that the other
 * entry hooks do not do. */
FUNC(swz_hook_enter_checked)
	BEGIN_HOOK
	SAVE_SEVEN
	movq	%rax, %rcx
	SAVE_FLAGS
	jmp	.Lin_c
END(swz_hook_enter_checked)

	.section .rodata.hooks, "a", @progbits
	.globl	swz_hash_multiplier
	.hidden	swz_hash_multiplier
	.balign	8
swz_hash_multiplier:
	.quad	SWZ_HASH_MULTIPLIER

	.section .text.hooks, "ax", @progbits

/* The entry hook of functions whose arguments are recorded (-A, --args).
 *
 * In and out: as above. All of it is done in C, which finds the arguments in their
 * registers below the slot, and in those that no code of ours touches.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx  S-32 rsi  S-40 rdi  S-48 r8
 * S-56 r9  S-64 r10  S-72 flags  S-80 r11  S-88 rbp  S-96 body  S-104 rflags. */
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
	jz	.Lcaptured_pass
	movq	%rax, -8(%rsp)			/* S-80 */
	.cfi_remember_state
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	leaq	8(%rsp), %rsp			/* the thunk's call pushes it */
	.cfi_adjust_cfa_offset -8
	jmpq	*-88(%rsp)			/* S-80 */
.Lcaptured_pass:				/* unhooked: to the body */
	.cfi_restore_state
	movq	%rcx, -8(%rsp)
	RESTORE_FLAGS
	RESTORE_SEVEN
	RESTORE	%rax
	jmpq	*-80(%rsp)
END(swz_hook_enter_captured)

/* The way past a hook: where a trampoline goes, in place of its hook, whose function
 * is not to be hooked at present though the jump to the trampoline stays
 * (SWZ_SITE_LASTS).
 *
 * In:   as above. Out: to the body, every register and flag as at entry. */
FUNC(swz_past_hook)
	BEGIN_HOOK
	movq	%rax, -8(%rsp)			/* as above, S-80 */
	RESTORE	%rax
	jmpq	*-16(%rsp)
END(swz_past_hook)

	.section .note.GNU-stack, "", @progbits
