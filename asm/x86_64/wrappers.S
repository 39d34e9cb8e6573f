/* Wrappers of functions that would notice us: they look at the stack, or limit
 * what we may do. */

#include "macros.h"

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
 * (src/runtime/compat/execution.c), limits it (address_space.c there), locks its
 * memory (locked_memory.c), or ends (ending.c). */
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

/* Wrapper of prctl and syscall (src/runtime/compat/confinement.c): lets swz_confine see
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

	.section .note.GNU-stack, "", @progbits
