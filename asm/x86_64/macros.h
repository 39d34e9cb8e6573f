#ifndef SWZ_ASM_MACROS_H
#define SWZ_ASM_MACROS_H

#define FUNC(name)               \
	.globl name;             \
	.hidden name;            \
	.type name, @function;   \
	.balign 16;              \
name:                            \
	.cfi_startproc

#define END(name)                \
	.cfi_endproc;            \
	.size name, . - name

/* push and pop of a register that the unwinder should find again */
.macro SAVE reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
.endm

.macro RESTORE reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
.endm

/* the same for a value of our own */
.macro PUSH reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
.endm

.macro POP reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
.endm

/* Calls FUNCTION(thread, thunk), which lie in \thread and %rcx, in the midst of
 * a hook: keeps %rcx, %rsi, %rdi, %r8, %r9; %rax is what it returns. */
.macro CALL_IN_HOOK function, thread
	.cfi_remember_state
	PUSH	%rcx
	PUSH	%rsi
	PUSH	%rdi
	PUSH	%r8
	PUSH	%r9
	PUSH	%r10
	SAVE	%r11
	SAVE	%rbp
	pushfq					/* DF too */
	.cfi_adjust_cfa_offset 8
	cld
	movq	\thread, %rdi
	movq	%rcx, %rsi
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	\function
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	popfq
	.cfi_adjust_cfa_offset -8
	RESTORE	%rbp
	RESTORE	%r11
	POP	%r10
	POP	%r9
	POP	%r8
	POP	%rdi
	POP	%rsi
	POP	%rcx
	.cfi_restore_state
.endm

#endif
