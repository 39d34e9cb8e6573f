/* Code between the program and the library's C side, other than hooks: wrappers
 * of functions that would notice us, as they look at the stack or limit what we may
 * do; the dynamic linker's stub; landing pads of exceptions; a change of stacks. */

#include "macros.h"
#include "offsets.h"
#include "base/resume_call.h"

	.text

/* Wrappers of functions that walk the stack (src/runtime/compat/stack_walkers.c): In: as a
 * wrapper gets it (thunks/trampoline.h). Registers that the real function might
 * leave alone are left alone. */
.macro WRAP name, function
FUNC(\name)
	SAVE_SEVEN
	movq	56(%rsp), %r8			/* the caller */
	movq	%r10, %rdx
	movq	%rax, %rcx
	call	\function
	RESTORE_SEVEN
	ret
END(\name)
.endm

WRAP	swz_wrap_backtrace, swz_walk_backtrace
WRAP	swz_wrap_step, swz_walk_step
WRAP	swz_wrap_addresses, swz_walk_addresses
WRAP	swz_wrap_set_ip, swz_walk_set_ip

/* The same where the real one is their last argument: of what executes programs
 * (src/runtime/compat/wrapped_functions.c), limits it (limits.c there), locks its
 * memory (limits.c), or ends (wrapped_functions.c). */
.macro WRAP_ALONE name, function, last
FUNC(\name)
	SAVE_SEVEN
	movq	%rax, \last
	call	\function
	RESTORE_SEVEN
	ret
END(\name)
.endm

WRAP_ALONE	swz_wrap_execute, swz_execute, %rcx
WRAP_ALONE	swz_wrap_execute_descriptor, swz_execute_descriptor, %rcx
WRAP_ALONE	swz_wrap_execute_at, swz_execute_at, %r9
WRAP_ALONE	swz_wrap_limit_set, swz_limit_set, %rdx
WRAP_ALONE	swz_wrap_limit_get, swz_limit_get, %rdx
WRAP_ALONE	swz_wrap_limit_change, swz_limit_change, %r8
WRAP_ALONE	swz_wrap_lock_all, swz_lock_all, %rsi
WRAP_ALONE	swz_wrap_end, swz_ending, %rsi

/* Wrapper of prctl and syscall (src/runtime/compat/wrapped_functions.c): lets swz_confine see
 * the arguments, and goes on to the real function as its caller did. */
FUNC(swz_wrap_confine)
	SAVE	%rdi
	SAVE	%rsi
	SAVE	%rdx
	SAVE	%rcx
	SAVE	%r8
	SAVE	%r9
	SAVE	%rax
	movq	%r10, %r8
	call	swz_confine
	RESTORE	%rax
	RESTORE	%r9
	RESTORE	%r8
	RESTORE	%rcx
	RESTORE	%rdx
	RESTORE	%rsi
	RESTORE	%rdi
	jmp	*%rax
END(swz_wrap_confine)

/* mcount, _mcount and __fentry__, which a compiler calls at the beginning of each function
 * (gcc -pg): in place of libc's, to which the caller's return address would be a thunk's
 * (src/runtime/hooks/compiled_calls.c). All registers are the program's; %r11 is for who jumps on.
 * SLOT: where the return slot of the function lies, with ten registers and the return
 * address of this on the stack. */
.macro COUNT_ARCS name, other, slot, which
	.globl \name
	.weak \name
	.type \name, @function
	.ifnb \other
	.globl \other
	.weak \other
	.type \other, @function
	.set \other, \name
	.endif
	.balign 64
\name:
	.cfi_startproc
	SAVE	%rax
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%rsi
	SAVE	%rdi
	SAVE	%r8
	SAVE	%r9
	SAVE	%r10
	SAVE	%rbx
	SAVE	%r11
	leaq	\slot, %rdi
	movq	80(%rsp), %rsi			/* where the function goes on */
	movl	$\which, %edx
	movq	%rsp, %rbx
	.cfi_remember_state
	.cfi_def_cfa_register %rbx
	andq	$-16, %rsp
	call	swz_count_arc
	movq	%rbx, %rsp
	.cfi_restore_state
	movq	%rax, (%rsp)
	RESTORE	%r11				/* the real one, or 0: it is done */
	RESTORE	%rbx
	RESTORE	%r10
	RESTORE	%r9
	RESTORE	%r8
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
	RESTORE	%rax
	testq	%r11, %r11
	jz	1f
	jmp	*%r11
1:	ret
	.cfi_endproc
	.size \name, . - \name
.endm

COUNT_ARCS	mcount, _mcount, "8(%rbp)", 0
COUNT_ARCS	__fentry__, , "88(%rsp)", 1

/* Wrapper of functions that look at their return address (src/runtime/discovery/
 * function.c). A hooked function may have ended in a jump to one: then the slot holds a
 * thunk's address, for which swz_enter_reader puts the real one. */
FUNC(swz_wrap_reader)
	movq	(%rsp), %r10
	IS_THUNK %r10, %r11, yes=1f
	jmp	*%rax
1:	SAVE_FIVE
	SAVE	%r9
	SAVE	%rbp
	PUSH	%rax
	leaq	64(%rsp), %rdi			/* the slot: eight registers here */
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	swz_enter_reader
	movq	%rbp, %rsp
	.cfi_restore_state
	POP	%rax
	RESTORE	%rbp
	RESTORE	%r9
	RESTORE_FIVE
	jmp	*%rax
END(swz_wrap_reader)

/* Wrapper of dlsym and dlvsym where a module calls them
 * (src/runtime/imports/got_slots.c): %r10 = that module's struct swz_dlsym_way,
 * %rax = the real function, or the way through the PLT to the dynamic linker. It
 * looks which module its return address is in. So it returns to a `ret` in the
 * caller's, which returns to us; and, if the caller is in another one, or where that
 * `ret` was is something else, to the caller. */
FUNC(swz_wrap_dlsym)
	movq	(%rsp), %rcx
	cmpq	SWZ_DLSYM_START(%r10), %rcx
	jb	1f
	cmpq	SWZ_DLSYM_END(%r10), %rcx
	jae	1f
	movq	SWZ_DLSYM_RETURN(%r10), %rcx
	cmpb	$0xc3, (%rcx)
	jne	1f
	leaq	2f(%rip), %r10
	PUSH	%r10
	PUSH	%rcx
	jmp	*%rax
	.cfi_def_cfa_offset 8
1:	jmp	*%rax			/* its row is the one for a return to 2 */
2:	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	call	swz_pointer_of
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
END(swz_wrap_dlsym)

/* The dynamic linker calls this instead of its _dl_debug_state (src/runtime/
 * late.c): that first, so that a debugger may look and set its breakpoints, then
 * ours. An ordinary function. */
FUNC(swz_linker_stub)
	SAVE	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	*swz_linker_state(%rip)
	call	swz_linker_event
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	ret
END(swz_linker_stub)

/* --- landing pads -------------------------------------------------------- */

/* Where an unwinder lands when it cleans up a thunk's frame: %rsp = slot + 8 (or
 * what a signal found when the thunk had pushed already), %rax = the exception,
 * %rdx = the thunk's data, callee-saved registers as the frame's caller expects
 * them. Puts the real return address back, accounts the exit, and unwinds on as
 * if the caller had called _Unwind_Resume itself.
 *
 * A caller that knows its callee well does not align the stack for it (gcc does
 * so for local leaves). _Unwind_Resume needs it aligned: it is then called from
 * here, a frame of its own above the caller's. */
FUNC(swz_landing_rax_pushed)
	.cfi_def_cfa_offset 16
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	swz_landing_return_pushed
END(swz_landing_rax_pushed)

FUNC(swz_landing_return_pushed)
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jmp	swz_landing
END(swz_landing_return_pushed)

FUNC(swz_landing)
	.cfi_def_cfa_offset 0
	pushq	SWZ_THUNK_RETURN(%rdx)
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rdx, %rdi
	cld
	testb	$8, %spl
	jnz	1f
	call	swz_unwound			/* rax = _Unwind_Resume */
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*%rax
1:	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	call	swz_unwound
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	call	*%rax
	ud2
END(swz_landing)

/* void swz_call_on_stack(void (*function)(void *), void *argument,
 *                        void *stack_top)
 * Calls function(argument) on another stack. stack_top: 16-byte aligned. */
FUNC(swz_call_on_stack)
	SAVE	%rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	movq	%rdi, %rax
	movq	%rsi, %rdi
	movq	%rdx, %rsp
	call	*%rax
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE	%rbp
	ret
END(swz_call_on_stack)

/* The rest of a system call that a stop has cut short. A thread may wait here for
 * as long as its call waits, also when all hooks are gone: so it is none of the
 * hooks' code (.text.hooks). Unwinders find the thread's own frame by its tables,
 * as of a signal's handler. */
	.globl	swz_resume_call
	.hidden	swz_resume_call
	.type	swz_resume_call, @function
	.balign	64
swz_resume_call:
	.cfi_startproc
	.cfi_signal_frame
	RESUME_CALL
	.cfi_endproc
	.size	swz_resume_call, . - swz_resume_call

	.section .note.GNU-stack, "", @progbits
