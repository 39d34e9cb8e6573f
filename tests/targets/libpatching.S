# build: -Wl,-z,noexecstack -Wl,-Bsymbolic
/* Functions that are hard to patch: long f(long n, void *p) each. Those whose
 * name begins with no_ cannot be hooked, all others can. patching.c calls each
 * of them ten times; tests/e2e/test_patching.sh knows what is counted. The parts in
 * patching/ have one kind of difficulty each. */

	.macro	FUNC name, align=16
	.text
	.balign	\align, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	ENTRY name		/* for the table at the end */
	.section .data.rel.ro.table, "aw"
	.quad	\name, 9000f
	.section .rodata
9000:	.asciz	"\name"
	.text
	.endm

#include "patching/branches_back.S"
#include "patching/entered_beside_the_start.S"
#include "patching/tables_of_labels.S"
#include "patching/data_beside_code.S"
#include "patching/labels_led_to.S"
#include "patching/short_functions.S"
#include "patching/islands.S"
#include "patching/in_the_window.S"
#include "patching/cold_parts.S"

	FUNC	system_call
	pushq	$39			/* getpid */
	popq	%rax
	syscall
	cmpl	$1, %eax
	setg	%al
	movzbl	%al, %eax
	ret
	END	system_call

	FUNC	system_call_behind
	movl	$39, %eax		/* getpid */
	syscall
	cmpl	$1, %eax
	setg	%al
	movzbl	%al, %eax
	ret
	END	system_call_behind

	FUNC	constant
	leaq	data_in_text(%rip), %rax
	movl	(%rax,%rdi,4), %eax
	ret
data_in_text:
	.long	0x90909090, 0xcccccccc, 0xe9e8c3c3, 0x660f660f, 1, 2, 3, 4, 5, 6
	END	constant

	FUNC	has_aliases
	leal	9(%rdi), %eax
	jmp	1f
1:	ret
	END	has_aliases
	.globl	alias_one, alias_two
	.type	alias_one, @function
	.type	alias_two, @function
	.set	alias_one, has_aliases
	.set	alias_two, has_aliases
	.size	alias_one, 4

#include "patching/frames_left.S"

	/* status in the carry flag; the direction flag set by the caller */
	FUNC	carry
	nopl	0(%rax,%rax)
	cmpl	$5, %edi
	ret
	END	carry

	FUNC	uses_carry
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	std
	call	carry
	pushfq
	.cfi_adjust_cfa_offset 8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	cld
	andl	$0x401, %eax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	uses_carry

	/* long invoke(long (*f)(long, void *), long n, void *p): the registers
	 * and flags that the functions look at are set */
	FUNC	invoke
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %r8
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movl	%edi, %edx
	leaq	whence(%rip), %rcx
	movl	$77, %eax
	cmpl	%eax, %eax
	call	*%r8
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	invoke

	.section .data.rel.ro.table, "aw"
	.balign	8
	.globl	patching_table
	.type	patching_table, @object
patching_table:
	.irp	name, loop_to_0, no_loop_that_pushes, far_loop_to_0, \
		far_loop_to_endbr, loop_to_3, far_loop_to_3, bnd_loop_to_3, \
		bnd_far_loop_to_3, hinted_far_loop_to_3, \
		prefixed_far_loop_to_3, no_prefixed_loop_that_pushes, \
		endbr_loop_to_5, endbr_far_loop_to_7, endbr_far_loop_to_4, \
		no_endbr_loop_that_pushes, loop_to_5, has_entry_at_2, \
		jumps_to_2, calls_2, has_entry_from_afar, jumps_from_afar, \
		switch_to_2, switch_elsewhere, computed_goto_3, \
		no_computed_goto_1, no_one_byte, two_bytes, three_bytes, \
		four_bytes, no_endbr_ret, five_bytes, one_byte_int3, \
		two_bytes_int3, three_bytes_int3, four_bytes_int3, \
		endbr_ret_int3, one_byte_nops, three_bytes_nops, \
		two_bytes_long_nop, four_bytes_long_nop, no_ret_before_66, \
		no_ret_before_0f, no_ret_before_nops, calls_nameless, jcc8, \
		jmp8, seemingly_entered_at_1, no_entered_at_1, \
		entered_by_prefixed, jumps_prefixed, switch_in_part, \
		loop_entered, enters_loop, entered_by_long, entered_by_short, \
		enters_two, entered_behind_data, jumps_behind_data, \
		no_island_at_all, island_in_neighbour, has_island, \
		no_island_entered, loop_to_7, island_in_padding, \
		before_padding, one_byte_nop, has_another_island, \
		no_island_runs_on, no_island_jumped_into, jumps_into_padding, \
		no_entered_behind, jumps_behind, jrcxz_, jecxz_, loop_, \
		loope_, jcc32, jumps_within, whence, call_first, call_second, \
		call_itself, call_register, call_register_last, call_member, \
		call_next, call_rex_w, system_call, system_call_behind, \
		constant, has_aliases, alias_one, alias_two, uses_carry, \
		leaps_home, no_pops_then_leaves, no_reads_then_leaves, \
		no_reads_by_index, jumps_to_reader, jumps_to_taker, \
		comes_back, comes_back_short, comes_back_long, passes_on, \
		calls_with_part, switch_to_cold, switch_by_thunk, \
		calls_by_thunk, jumps_by_thunk, switch_by_bytes, \
		loop_by_register, has_signature, behind_a_text, behind_a_word
	ENTRY	\name
	.endr

	.section .data.rel.ro.table, "aw"
	.quad	0, 0
	.size	patching_table, . - patching_table
last_table:
	.quad	no_goto_1, goto_1
	.section .note.GNU-stack, "", @progbits
