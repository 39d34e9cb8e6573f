/* What C cannot say: a change of stack, and the landing pad of the thunks'
 * personality routine. */

#include "macros.h"
#include "offsets.h"

	.text

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

/* Wrappers of functions that walk the stack (src/runtime/walkers.c): In: as a
 * wrapper gets it (thunks/trampoline.h). Registers that the real function might
 * leave alone are left alone. */
.macro WRAP name, function
FUNC(\name)
	SAVE_SEVEN
	movq	56(%rsp), %r8			/* the caller */
	movq	%r10, %rdx
	movq	%r11, %rcx
	call	\function
	RESTORE_SEVEN
	ret
END(\name)
.endm

WRAP	swz_wrap_backtrace, swz_walk_backtrace
WRAP	swz_wrap_step, swz_walk_step
WRAP	swz_wrap_addresses, swz_walk_addresses

/* The same for src/runtime/address_space.c. */
WRAP	swz_wrap_limit_set, swz_limit_set
WRAP	swz_wrap_limit_get, swz_limit_get

/* What the dynamic linker calls instead of its _dl_debug_state (src/runtime/
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

/* Wrapper of prctl and syscall (src/runtime/confinement.c): lets swz_confine see
 * the arguments, and goes on to the real function as its caller did. */
FUNC(swz_wrap_confine)
	SAVE	%rdi
	SAVE	%rsi
	SAVE	%rdx
	SAVE	%rcx
	SAVE	%r8
	SAVE	%r9
	SAVE	%r11
	movq	%r10, %r8
	call	swz_confine
	RESTORE	%r11
	RESTORE	%r9
	RESTORE	%r8
	RESTORE	%rcx
	RESTORE	%rdx
	RESTORE	%rsi
	RESTORE	%rdi
	jmp	*%r11
END(swz_wrap_confine)

/* Wrapper of dlsym and dlvsym where a module calls them (src/runtime/
 * import_pointers.c): %r10 = that module's struct swz_dlsym_way. The real
 * function looks which module its return address is in. So it returns to a `ret`
 * in the caller's, which returns to us; and, if the caller is in another one,
 * or where that `ret` was is something else, to the caller. */
FUNC(swz_wrap_dlsym)
	movq	(%rsp), %rax
	cmpq	SWZ_DLSYM_START(%r10), %rax
	jb	1f
	cmpq	SWZ_DLSYM_END(%r10), %rax
	jae	1f
	movq	SWZ_DLSYM_RETURN(%r10), %rax
	cmpb	$0xc3, (%rax)
	jne	1f
	leaq	2f(%rip), %r10
	PUSH	%r10
	PUSH	%rax
	jmp	*%r11
	.cfi_def_cfa_offset 8
1:	jmp	*%r11			/* its row is the one for a return to 2 */
2:	leaq	-8(%rsp), %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	call	swz_pointer_of
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	ret
END(swz_wrap_dlsym)

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

	.section .note.GNU-stack, "", @progbits
