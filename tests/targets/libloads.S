# build: -Wl,-z,noexecstack -Wl,-Bsymbolic
/* Functions that use the memory of their own return address: long f(long n)
 * each. They return how far it is from this library's beginning, and more.
 * Those whose name begins with no_ cannot be hooked, all others can. loads.c
 * calls each of them ten times. */

	.macro	FUNC name
	.text
	.balign	16, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.section .data.rel.ro.table, "aw"
	.quad	\name, 9000f
	.section .rodata
9000:	.asciz	"\name"
	.text
	.endm

	.macro	PUSH register
	pushq	%\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm

	.macro	POP register
	popq	%\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

	.macro	TAKE bytes
	subq	$\bytes, %rsp
	.cfi_adjust_cfa_offset \bytes
	.endm

	.macro	DROP bytes
	addq	$\bytes, %rsp
	.cfi_adjust_cfa_offset -\bytes
	.endm

	/* %rax, a return address: its distance */
	.macro	DISTANCE
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	.endm

	.section .data.rel.ro.table, "aw"
	.balign	8
	.globl	loads_table
loads_table:
	.text
anchor:

	/* long call_from_here(function, n): so that distances are the same
	 * wherever libraries lie */
	.globl	call_from_here
	.type	call_from_here, @function
call_from_here:
	.cfi_startproc
	TAKE	8
	movq	%rdi, %rax
	movq	%rsi, %rdi
	call	*%rax
	DROP	8
	ret
	.cfi_endproc
	.size	call_from_here, . - call_from_here

/* ------------------------------------------------- from where, to where */

	FUNC	at_once
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	at_once

	FUNC	behind_endbr
	endbr64
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	behind_endbr

	FUNC	by_frame_pointer
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	movq	8(%rbp), %rax
	DISTANCE
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	END	by_frame_pointer

	.irp	register, rbx, rbp, r12, r13, r14, r15
	FUNC	to_\register
	PUSH	\register
	TAKE	16
	movq	24(%rsp), %\register
	movq	%\register, %rax
	DISTANCE
	DROP	16
	POP	\register
	ret
	END	to_\register
	.endr

	.irp	register, rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	FUNC	to_\register
	TAKE	1016
	movq	1016(%rsp), %\register
	movq	%\register, %rax
	DISTANCE
	DROP	1016
	ret
	END	to_\register
	.endr

	/* every other register, and the red zone, is as it was */
	FUNC	changes_nothing_else
	movq	%rdi, -8(%rsp)
	leaq	1(%rdi), %rcx
	leaq	2(%rdi), %rdx
	leaq	3(%rdi), %rsi
	leaq	4(%rdi), %r8
	leaq	5(%rdi), %r9
	leaq	6(%rdi), %r10
	leaq	7(%rdi), %r11
	movq	(%rsp), %rax
	addq	-8(%rsp), %rcx
	leaq	(%rcx,%rdx,2), %rcx
	leaq	(%rcx,%rsi,4), %rcx
	leaq	(%rcx,%r8,8), %rcx
	shlq	$1, %r9
	addq	%r9, %r10
	addq	%r10, %r11
	addq	%r11, %rcx
	addq	%rdi, %rcx
	DISTANCE
	addq	%rcx, %rax
	ret
	END	changes_nothing_else

/* --------------------------------------------------------- more than one */

	FUNC	twice
	movq	(%rsp), %rax
	PUSH	rbx
	movq	8(%rsp), %rbx
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	subq	%rdx, %rbx
	leaq	(%rax,%rbx,2), %rax
	POP	rbx
	ret
	END	twice

	FUNC	three_times
	movq	(%rsp), %rax
	movq	(%rsp), %rcx
	movq	(%rsp), %rsi
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	subq	%rdx, %rcx
	subq	%rdx, %rsi
	leaq	(%rax,%rcx,2), %rax
	leaq	(%rax,%rsi,4), %rax
	ret
	END	three_times

	FUNC	no_four_times
	movq	(%rsp), %rax
	movq	(%rsp), %rcx
	movq	(%rsp), %rsi
	movq	(%rsp), %r8
	leaq	anchor(%rip), %rdx
	subq	%rdx, %r8
	leaq	(%rax,%rcx), %rax
	subq	%rsi, %rax
	subq	%rdx, %rax
	leaq	(%rax,%r8,2), %rax
	ret
	END	no_four_times

	/* and deeper by each call */
	FUNC	recurses
	PUSH	rbx
	movq	8(%rsp), %rbx
	testq	%rdi, %rdi
	movl	$0, %eax
	jz	1f
	subq	$1, %rdi
	call	recurses
1:	leaq	anchor(%rip), %rdx
	subq	%rdx, %rbx
	leaq	(%rbx,%rax,2), %rax
	POP	rbx
	ret
	END	recurses

/* ---------------------------------------------------- branches about it */

	FUNC	passed_over
	testb	$1, %dil
	movl	$5, %eax
	jz	1f
	movq	(%rsp), %rax
	DISTANCE
1:	ret
	END	passed_over

	FUNC	in_a_loop
	movl	$0, %ecx
1:	movq	(%rsp), %rax
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	addq	%rax, %rcx
	subq	$1, %rdi
	jns	1b
	movq	%rcx, %rax
	ret
	END	in_a_loop

	FUNC	loop_from_afar
	movl	$0, %ecx
1:	movq	(%rsp), %rax
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	addq	%rax, %rcx
	subq	$1, %rdi
	jns	1b
	movq	%rcx, %rax
	ret
	END	loop_from_afar

	FUNC	before_a_jump
	movq	(%rsp), %rax
	jmp	1f
	ud2
1:	DISTANCE
	ret
	END	before_a_jump

	FUNC	behind_a_call
	PUSH	rbx
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa rbp, 24
	call	at_once
	movq	16(%rbp), %rbx
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rbx
	leaq	(%rax,%rbx,2), %rax
	.cfi_def_cfa rsp, 24
	POP	rbp
	POP	rbx
	ret
	END	behind_a_call

/* ------------------------------------- by a jump in place of the load */

	/* a call, and what the site's jump could displace if there were none */
	.macro	BEGIN_FAR
	PUSH	rbx
	TAKE	16
	call	at_once
	movq	%rax, %rbx
	movl	$1, %ecx
	.endm

	.macro	END_FAR
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	leaq	(%rbx,%rax,2), %rax
	DROP	16
	POP	rbx
	ret
	.endm

	FUNC	far_load
	BEGIN_FAR
	movq	24(%rsp), %rax
	END_FAR
	END	far_load

	FUNC	far_load_behind_endbr
	endbr64
	BEGIN_FAR
	movq	24(%rsp), %rax
	END_FAR
	END	far_load_behind_endbr

	.irp	register, rcx, rbp, r8, r12, r13
	FUNC	far_load_to_\register
	PUSH	\register
	BEGIN_FAR
	movq	32(%rsp), %\register
	movq	%\register, %rax
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	leaq	(%rbx,%rax,2), %rax
	DROP	16
	POP	rbx
	POP	\register
	ret
	END	far_load_to_\register
	.endr

	FUNC	far_load_of_8_bytes
	TAKE	1024
	BEGIN_FAR
	movq	1048(%rsp), %rax
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	leaq	(%rbx,%rax,2), %rax
	DROP	16
	POP	rbx
	DROP	1024
	ret
	END	far_load_of_8_bytes

	/* each on a way of its own; a branch leads to one of them */
	FUNC	far_load_twice
	BEGIN_FAR
	testb	$1, %dil
	jz	1f
	movq	24(%rsp), %rax
	addq	$3, %rax
	jmp	2f
	ud2
1:	movq	24(%rsp), %rax
	addq	$5, %rax
2:	END_FAR
	END	far_load_twice

	FUNC	far_load_three_times
	BEGIN_FAR
	movq	24(%rsp), %rax
	movq	24(%rsp), %rcx
	movq	24(%rsp), %rsi
	addq	%rcx, %rax
	subq	%rsi, %rax
	END_FAR
	END	far_load_three_times

	FUNC	near_and_far_load
	movq	(%rsp), %rax
	BEGIN_FAR
	movq	24(%rsp), %rax
	END_FAR
	END	near_and_far_load

	/* what is displaced with a load of 4 bytes: a number that looks like an
	 * address, a distance from where it is, a branch; a jump back */
	FUNC	far_load_and_a_number
	BEGIN_FAR
	DROP	24
	movq	(%rsp), %rax
	movabsq	$0x7f1234567890, %rdx
	movabsq	$0x7f1234567888, %rsi
	TAKE	24
	subq	%rsi, %rdx
	addq	%rdx, %rax
	END_FAR
	END	far_load_and_a_number

	FUNC	far_load_and_a_distance
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	call	at_once
	movq	%rax, %rcx
	movq	8(%rbp), %rax
	leaq	anchor(%rip), %rdx
	subq	%rdx, %rax
	addq	%rcx, %rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	END	far_load_and_a_distance

	FUNC	far_load_and_a_jump
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	call	at_once
	movq	%rax, %rcx
	jmp	2f
1:	subq	%rdx, %rax
	addq	%rcx, %rax
	popq	%rbp
	.cfi_remember_state
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	.cfi_restore_state
2:	leaq	anchor(%rip), %rdx
	movq	8(%rbp), %rax
	jmp	1b
	END	far_load_and_a_jump

	/* to what would be displaced with the load */
	FUNC	no_branch_behind_a_far_load
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	leaq	anchor(%rip), %rdx
	leaq	8(%rdx), %rax
	testb	$1, %dil
	jz	1f
	movq	8(%rbp), %rax
1:	subq	%rdx, %rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	END	no_branch_behind_a_far_load

	FUNC	call_behind_a_far_load
	PUSH	rbp
	movq	%rsp, %rbp
	.cfi_def_cfa_register rbp
	call	at_once
	movq	%rax, %rcx
	movq	8(%rbp), %rax
	call	at_once
	addq	%rcx, %rax
	popq	%rbp
	.cfi_def_cfa rsp, 8
	.cfi_restore rbp
	ret
	END	call_behind_a_far_load

	FUNC	far_load_in_a_loop
	BEGIN_FAR
	movl	$100, %ecx
	xorl	%esi, %esi
1:	movq	24(%rsp), %rax
	addq	%rax, %rsi
	subl	$1, %ecx
	jnz	1b
	movq	24(%rsp), %rax
	subq	%rsi, %rax
	imulq	$100, %rax, %rcx
	leaq	anchor(%rip), %rdx
	imulq	$99, %rdx, %rdx
	addq	%rdx, %rax
	addq	%rbx, %rax
	DROP	16
	POP	rbx
	ret
	END	far_load_in_a_loop

	/* a loop that goes back into the site */
	FUNC	no_far_load_and_a_loop
	movl	%edi, %r10d
1:	subl	$1, %r10d
	jns	1b
	BEGIN_FAR
	movq	24(%rsp), %rax
	END_FAR
	END	no_far_load_and_a_loop

	FUNC	flags_behind_a_far_load
	BEGIN_FAR
	cmpq	$5, %rdi
	movq	24(%rsp), %rax
	sbbq	$0, %rax
	END_FAR
	END	flags_behind_a_far_load

	/* to its second byte, where it is a load of 32 bits */
	FUNC	no_branch_into_a_far_load
	BEGIN_FAR
	xorl	%eax, %eax
	testb	$1, %dil
	jz	1f + 1
1:	movq	24(%rsp), %rax
	leaq	anchor(%rip), %rdx
	subl	%edx, %eax
	addq	%rbx, %rax
	DROP	16
	POP	rbx
	ret
	END	no_branch_into_a_far_load

	FUNC	no_label_in_a_far_load
	BEGIN_FAR
	xorl	%eax, %eax
	leaq	1f + 1(%rip), %rdx
	testb	$1, %dil
	jz	2f
	jmp	*%rdx
2:
1:	movq	24(%rsp), %rax
	leaq	anchor(%rip), %rdx
	subl	%edx, %eax
	addq	%rbx, %rax
	DROP	16
	POP	rbx
	ret
	END	no_label_in_a_far_load

/* ------------------------------------------------------------------------ */

	FUNC	up_to_92_bytes
	.rept	11
	nopl	0x11223344(%rax,%rax)
	.endr
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	up_to_92_bytes

	FUNC	up_to_100_bytes
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	up_to_100_bytes

	FUNC	behind_30_instructions
	.rept	30
	nop
	.endr
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	behind_30_instructions

/* ------------------------------------------------------------- the flags */

	FUNC	flags_are_read
	cmpq	$5, %rdi
	movq	(%rsp), %rax
	leaq	anchor(%rip), %rdx
	jb	1f
	leaq	8(%rax), %rax
1:	subq	%rdx, %rax
	ret
	END	flags_are_read

	FUNC	carry_is_added
	cmpq	$5, %rdi
	movq	(%rsp), %rax
	adcq	$0, %rax
	DISTANCE
	ret
	END	carry_is_added

	FUNC	flags_behind_a_jump
	cmpq	$5, %rdi
	movq	(%rsp), %rax
	leaq	anchor(%rip), %rdx
	jmp	1f
	ud2
1:	setb	%cl
	subq	%rdx, %rax
	movzbl	%cl, %ecx
	addq	%rcx, %rax
	ret
	END	flags_behind_a_jump

	FUNC	flags_are_set
	cmpq	$5, %rdi
	movq	(%rsp), %rax
	leaq	anchor(%rip), %rdx
	cmpq	$7, %rdi
	jb	1f
	leaq	8(%rax), %rax
1:	subq	%rdx, %rax
	ret
	END	flags_are_set

/* ------------------------------------------------------- no plain loads */

	FUNC	no_half
	movl	(%rsp), %eax
	leaq	anchor(%rip), %rdx
	subl	%edx, %eax
	ret
	END	no_half

	FUNC	no_push
	pushq	(%rsp)
	.cfi_adjust_cfa_offset 8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	DISTANCE
	ret
	END	no_push

	FUNC	no_comparison
	movl	$1, %eax
	leaq	anchor(%rip), %rdx
	cmpq	%rdx, (%rsp)
	ja	1f
	movl	$2, %eax
1:	ret
	END	no_comparison

	FUNC	no_sum
	leaq	anchor(%rip), %rdx
	xorl	%eax, %eax
	subq	%rdx, %rax
	addq	(%rsp), %rax
	ret
	END	no_sum

	FUNC	no_vector
	movq	(%rsp), %xmm0
	movq	%xmm0, %rax
	DISTANCE
	ret
	END	no_vector

	FUNC	no_address
	leaq	(%rsp), %rcx
	movq	(%rsp), %rax
	cmpq	(%rcx), %rax
	movl	$0, %eax
	sete	%al
	ret
	END	no_address

	/* as setjmp does */
	FUNC	no_stack_pointer_of_the_caller
	movq	(%rsp), %rax
	leaq	8(%rsp), %rcx
	subq	$8, %rcx
	cmpq	(%rcx), %rax
	movl	$0, %eax
	sete	%al
	ret
	END	no_stack_pointer_of_the_caller

	/* as what makecontext begins with, which is returned to */
	FUNC	no_stack_of_its_own
	movq	%rsp, %rcx
	movq	%rcx, %rsp
	movq	(%rsp), %rax
	DISTANCE
	ret
	END	no_stack_of_its_own

/* ------------------------------------------------- frames counted late */

	/* as clang does where the caller's vector registers are kept */
	FUNC	keeps_vectors
	PUSH	rbx
	subq	$48, %rsp
	movaps	%xmm7, 32(%rsp)
	movups	%xmm15, 8(%rsp)
	movaps	%xmm6, (%rsp)
	.cfi_adjust_cfa_offset 48
	movq	%rdi, %rax
	addq	$48, %rsp
	.cfi_adjust_cfa_offset -48
	POP	rbx
	ret
	END	keeps_vectors

	FUNC	keeps_many_vectors
	subq	$168, %rsp
	movaps	%xmm8, 144(%rsp)
	movaps	%xmm6, (%rsp)
	.cfi_adjust_cfa_offset 168
	movq	%rdi, %rax
	addq	$168, %rsp
	.cfi_adjust_cfa_offset -168
	ret
	END	keeps_many_vectors

	/* its return address, too */
	FUNC	no_keeping_of_others
	subq	$24, %rsp
	movaps	%xmm6, (%rsp)
	addq	$0, 24(%rsp)
	.cfi_adjust_cfa_offset 24
	movq	%rdi, %rax
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	END	no_keeping_of_others

	FUNC	no_keeping_above_the_frame
	subq	$24, %rsp
	movups	24(%rsp), %xmm6
	movaps	%xmm5, (%rsp)
	movups	%xmm6, 24(%rsp)
	.cfi_adjust_cfa_offset 24
	movq	%rdi, %rax
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	END	no_keeping_above_the_frame

/* --------------------------------------------------------------- fences */

	FUNC	fence
	lock orq $0, (%rsp)
	movq	%rdi, %rax
	ret
	END	fence

	FUNC	fence_of_32_bits
	PUSH	rbx
	lock orl $0, 8(%rsp)
	movq	%rdi, %rax
	POP	rbx
	ret
	END	fence_of_32_bits

	FUNC	fence_by_addition
	.rept	20
	nopl	0x11223344(%rax,%rax)
	.endr
	lock addl $0, (%rsp)
	movq	%rdi, %rax
	ret
	END	fence_by_addition

	/* as assemblers write each return against load value injection */
	FUNC	hardened
	PUSH	rbx
	movq	%rdi, %rax
	POP	rbx
	shlq	$0, (%rsp)
	lfence
	ret
	END	hardened

	FUNC	hardened_at_once
	xorl	%eax, %eax
	shlq	$0, (%rsp)
	lfence
	ret
	END	hardened_at_once

	FUNC	no_hardened_by_shifting
	shlq	$1, (%rsp)
	shrq	$1, (%rsp)
	movq	%rdi, %rax
	ret
	END	no_hardened_by_shifting

	FUNC	no_fence_by_register
	xorl	%eax, %eax
	lock orq %rax, (%rsp)
	movq	%rdi, %rax
	ret
	END	no_fence_by_register

	FUNC	no_fence_without_lock
	orq	$0, (%rsp)
	movq	%rdi, %rax
	ret
	END	no_fence_without_lock

/* ------------------------------------------------------------ tail calls */

	/* its return address is at_once's */
	FUNC	no_jumps
	addl	$1, %edi
	.rept	4
	nop
	.endr
	jmp	at_once
	END	no_jumps

	FUNC	no_jumps_to_a_filtered_one
	addl	$1, %edi
	.rept	4
	nop
	.endr
	jmp	no_half
	END	no_jumps_to_a_filtered_one

	.section .data.rel.ro.table, "aw"
	.quad	0, 0
	.size	loads_table, . - loads_table
	.section .note.GNU-stack, "", @progbits
