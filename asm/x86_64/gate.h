#ifndef SWZ_ASM_GATE_H
#define SWZ_ASM_GATE_H

/* The beginning of an entry hook in a run with filters or a depth limit (-F, -N,
 * -D).
 *
 * In: as in enter.S. Beneath a context that is recorded the call goes on to the
 * hook, and so does one of a function that -F names at a thread's root. What is
 * not wanted goes straight to the body, unless the latest frame has been skipped
 * (it does not lie above this one), or has ended in a jump to this function: then
 * the context may be another one, which swz_enter() finds out.
 *
 * Below the slot S:  S-8 rax  S-16 rcx  S-24 rdx, and in the red zone the body,
 * at `body`, where that hook looks for it. */

#include "macros.h"
#include "offsets.h"

/* Tests if the process is to be paused (src/runtime/record/record_file.h). */
.macro CHECK_REQUEST paused
	cmpl	$0, swz_request_page + SWZ_REQUEST_PAUSED(%rip)
	jne	\paused
.endm

/* A hook has found nothing in the state \thread, or the process is paused: does the
 * thread know of its pause? Then its calls pass until that is over. */
.macro PASS_IF_PAUSED thread, spare, pass
	leaq	swz_paused_thread(%rip), \spare
	cmpq	\spare, \thread
	je	\pass
	leaq	swz_paused_process(%rip), \spare
	cmpq	\spare, \thread
	jne	.Lnot_paused\@
	cmpl	$0, swz_request_page + SWZ_REQUEST_PAUSED(%rip)
	jne	\pass
.Lnot_paused\@:
.endm

.macro LEAVE_GATE
	addb	$0x7f, %al			/* see RESTORE_FLAGS */
	sahf
	RESTORE	%rdx
	RESTORE	%rcx
.endm

/* Goes to the label that the hook has behind SAVE_SEVEN, SAVE_FIVE or SAVE_FOUR (of
 * which `saved` are the registers from the third on) and SAVE_FLAGS; %rdx has the
 * thread there. */
.macro GATE to, body, in_rcx, saved:vararg
	BEGIN_HOOK
	SAVE	%rcx
	SAVE	%rdx
	GET_THREAD %rdx
	movq	%rax, 24 + \body(%rsp)
	lahf
	seto	%al
	NEED_THREAD %rdx, .Lwanted\@
	cmpq	$0, SWZ_THREAD_LINKS(%rdx)	/* see enter.S */
	je	.Lwanted\@
	movl	SWZ_THREAD_KEY+4(%rdx), %ecx	/* the context, in units */
	NODE_AT	%rcx, %rdx
	testb	$SWZ_NODE_OPEN_PASS, SWZ_NODE_OPEN(%rcx)
	jz	.Lwanted\@
	cmpl	$SWZ_NODE_IS_ROOT, SWZ_NODE_FUNCTION(%rcx)
	jne	.Lnot_wanted\@
	movq	24 + \body(%rsp), %rcx
	movl	-4(%rcx), %ecx			/* rcx = function id */
	addq	swz_ids_filters(%rip), %rcx
	testb	$SWZ_FILTER_IS_ONLY, (%rcx)
	jnz	.Lwanted\@
.Lnot_wanted\@:
	movq	SWZ_THREAD_TOP(%rdx), %rdx
	leaq	24(%rsp), %rcx
	cmpq	%rcx, SWZ_THUNK_SLOT(%rdx)
	jbe	.Lin_c\@
	movq	(%rcx), %rdx
	IS_THUNK %rdx, %rcx, yes=.Lin_c\@
	.cfi_remember_state
	LEAVE_GATE
	RESTORE	%rax
	jmpq	*\body(%rsp)
	.cfi_restore_state
.Lin_c\@:
	.cfi_remember_state
	LEAVE_GATE
	movq	8 + \body(%rsp), %rax
	jmp	swz_hook_enter_checked
	.cfi_restore_state
.Lwanted\@:
	movq	24 + \body(%rsp), %rcx
	.irp	reg, \saved
	SAVE	\reg
	.endr
	PUSH	%rax				/* flags */
	.ifc \in_rcx, id
	movl	-4(%rcx), %ecx
	.endif
	jmp	\to
.endm

#endif
