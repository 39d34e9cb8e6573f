#ifndef SWZ_ASM_MACROS_H
#define SWZ_ASM_MACROS_H

#include "offsets.h"

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

.macro SAVE_SEVEN
	SAVE	%rcx
	SAVE	%rdx
	SAVE	%rsi
	SAVE	%rdi
	SAVE	%r8
	SAVE	%r9
	SAVE	%r10
.endm

.macro RESTORE_SEVEN
	RESTORE	%r10
	RESTORE	%r9
	RESTORE	%r8
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
.endm

/* The arithmetic flags, in %rax as sahf wants them. */
.macro SAVE_FLAGS
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
.endm

.macro RESTORE_FLAGS
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$0x7f, %al			/* OF */
	sahf					/* SF ZF AF PF CF */
.endm

.macro GET_THREAD reg
	movq	swz_thread_self@gottpoff(%rip), \reg
	movq	%fs:(\reg), \reg
.endm

/* A unit of the profile becomes the address of the node there, and back. */
.macro NODE_AT reg, thread
	shlq	$6, \reg
	addq	SWZ_THREAD_FILE(\thread), \reg
.endm

.macro UNIT_OF reg, thread
	subq	SWZ_THREAD_FILE(\thread), \reg
	shrq	$6, \reg
.endm

/* %rax = site + 9 * function + key becomes the place in the context table;
 * %rdx = thread. */
.macro TABLE_PLACE
	imulq	swz_hash_multiplier(%rip), %rax
	shrq	$32, %rax
	andq	SWZ_THREAD_TABLE_MASK(%rdx), %rax
	addq	SWZ_THREAD_TABLE(%rdx), %rax
.endm

/* %rax = the node at a place, if it is of the edge: then with ZF on; %rdx =
 * thread. */
.macro PROBE place, site, key, else, empty
	movl	\place, %eax
	testl	%eax, %eax
	jz	\empty
	NODE_AT	%rax, %rdx
	cmpq	\site, SWZ_NODE_CALL_SITE(%rax)
	jne	\else
	cmpq	\key, SWZ_NODE_KEY(%rax)
.endm

#endif
