/* The way to C of a function whose calls are counted (-m count): for its first
 * call, in a new thread or a forked child, of a new call edge, and of one whose
 * counter is not near its first place.
 *
 * In:   %rax = the end of the trampoline's head, the function's id in the four
 *       bytes before it; 8(%rsp) = the return slot S; the program's registers at
 *       S-16 (%rax), S-24 (%rcx) and S-32 (flags): see thunks/counting.h. (%rsp)
 *       has no meaning.
 * Out:  to the displaced instructions, every register and arithmetic flag as at
 *       entry, %rsp = S. (Where the flags are free they are arbitrary.)
 *
 * Below S-32: S-40 rdx  S-48 rsi  S-56 rdi  S-64 r8  S-72 r9  S-80 r10  S-88 r11
 * S-96 rbp. */

#include "macros.h"

	.section .text.hooks, "ax", @progbits

FUNC(swz_hook_enter_counted)
	.cfi_def_cfa_offset 16
	.cfi_rel_offset %rax, -8
	.cfi_rel_offset %rcx, -16
	leaq	-24(%rsp), %rsp			/* S-32 */
	.cfi_adjust_cfa_offset 24
	SAVE	%rdx
	SAVE	%rsi
	SAVE	%rdi
	SAVE	%r8
	SAVE	%r9
	SAVE	%r10
	SAVE	%r11
	SAVE	%rbp
	SAVE_DIRECTION
	movq	%rax, %rdi
	leaq	104(%rsp), %rsi			/* slot */
	movq	%rsp, %rbp
	.cfi_remember_state
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	swz_count_enter			/* rax = where to go on */
	movq	%rbp, %rsp
	.cfi_restore_state
	RESTORE_DIRECTION
	RESTORE	%rbp
	RESTORE	%r11
	RESTORE	%r10
	RESTORE	%r9
	RESTORE	%r8
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	movq	%rax, 24(%rsp)			/* S-8 */
	movq	8(%rsp), %rcx			/* S-24 */
	.cfi_restore %rcx
	movl	(%rsp), %eax			/* S-32 */
	addb	$0x7f, %al			/* OF */
	sahf					/* SF ZF AF PF CF */
	movq	16(%rsp), %rax			/* S-16 */
	.cfi_restore %rax
	leaq	32(%rsp), %rsp			/* S */
	.cfi_adjust_cfa_offset -32
	jmpq	*-8(%rsp)
END(swz_hook_enter_counted)

	.section .note.GNU-stack, "", @progbits
