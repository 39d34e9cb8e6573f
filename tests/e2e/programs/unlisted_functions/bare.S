	.section .note.GNU-stack, "", @progbits
	.text
	.macro	BARE name, align=16
	.balign	\align, 0xcc
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	/* what is around them: much, so that it is worth while to look */
	.macro	ONE_OF_MANY n
	BARE	many_\n
	leal	\n(%rdi), %eax
	xorl	$0x55555555, %eax
	xorl	$0x55555555, %eax
	movl	%eax, %ecx
	leal	(%rcx), %eax
	ret
	.endm
	.altmacro
	.macro	MANY n
	ONE_OF_MANY \n
	.if \n
	MANY %(\n - 1)
	.endif
	.endm
	MANY	63

	BARE	with_frame		/* aligned, as for vectors */
	pushq	%rbx
	movq	%rsp, %rax
	subq	$64, %rsp
	andq	$-64, %rsp
	movq	%rax, 48(%rsp)
	movl	%edi, (%rsp)
	testl	%edi, %edi
	jz	1f
	addl	$7, (%rsp)
1:	movl	(%rsp), %ebx
	movl	%ebx, %eax
	movq	48(%rsp), %rsp
	popq	%rbx
	ret

	BARE	with_switch
	andl	$1, %edi
	leaq	table(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rdx
	testl	%esi, %esi
	js	3f
	addq	%rcx, %rdx
	jmp	*%rdx
1:	movl	$11, %eax
	ret
2:	movl	$12, %eax
	ret
3:	movl	$13, %eax
	ret
	.section .rodata
	.balign	4
table:	.long	1b - table, 2b - table
	.text

	BARE	calls_helper
	pushq	%rdi
	call	helper
	popq	%rdi
	addl	%edi, %eax
	ret

	BARE	helper, 1		/* called by one that was found only */
	leal	100(%rdi), %eax
	ret

	BARE	jumps_on		/* a tail call, as called */
	incl	%edi
	jmp	jumped_to
	BARE	jumped_to
	leal	1000(%rdi), %eax
	ret

	BARE	runs_on			/* into the next, as called */
	addl	$5, %edi
	.balign	16
	BARE	run_into
	leal	3(%rdi), %eax
	ret

	/* ---- what is none, or must be left alone */

	BARE	reads_its_caller
	movq	(%rsp), %rax
	ret

	BARE	reads_by_copy
	movq	%rsp, %rcx
	pushq	%rdi
	movq	(%rcx), %rax
	popq	%rdi
	ret

	BARE	pops_its_caller
	popq	%rax
	pushq	%rax
	ret

	BARE	saves_context
	leaq	8(%rsp), %rdx
	movq	%rdx, (%rdi)
	movq	(%rsp), %rdx
	movq	%rdx, 8(%rdi)
	xorl	%eax, %eax
	ret
	BARE	goes_there
	movl	$1, %eax
	movq	(%rdi), %rsp
	movq	8(%rdi), %rdx
	jmp	*%rdx

	/* a part of its function, with things pushed; it looks like one */
	BARE	has_part
	pushq	%rdi
	testl	%edi, %edi
	jns	part
	popq	%rax
	ret
	BARE	part
	movq	(%rsp), %rax
	addl	$40, %eax
	jmp	.Lback
.Lback:	addq	$8, %rsp
	ret

	/* likewise, only jumped to from what nothing is known to lead to */
	BARE	goes_by_table
	pushq	%rdi
	leaq	table_2(%rip), %rcx
	movslq	(%rcx), %rdx
	testl	%edi, %edi
	js	2f
	addq	%rcx, %rdx
	jmp	*%rdx
2:	popq	%rax
	ret
1:	incq	(%rsp)
	jmp	part_2
	.section .rodata
	.balign	4
table_2: .long	1b - table_2
	.text
	BARE	part_2
	movl	$1, %edx
	cmpl	$2, %edx
	je	3f
	leaq	8(%rsp), %rsp
	leal	60(%rdi), %eax
3:	ret

	/* and without anything pushed, but with a value below the stack */
	BARE	keeps_below
	movl	%edi, -8(%rsp)
	jmp	part_3
	BARE	part_3
	movl	-8(%rsp), %eax
	addl	$80, %eax
	ret

	/* an interpreter's instructions: pointers to them lie in a table */
	BARE	interpret		/* (program, table) */
	pushq	%rbx
	movq	%rsi, %rbx
	xorl	%eax, %eax
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_add
	addl	$2, %eax
	incq	%rdi
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_twice
	addl	%eax, %eax
	incq	%rdi
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_end
	popq	%rbx
	ret

	/* data: read by whoever has its address, in C and here */
	BARE	numbers
	.byte	0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3
	.byte	0x8d, 0x47, 0x03, 0xc3, 0x8d, 0x47, 0x04, 0xc3
	BARE	sum_of_numbers
	leaq	numbers(%rip), %rdx
	xorl	%eax, %eax
	xorl	%ecx, %ecx
1:	addb	(%rdx,%rcx), %al
	incl	%ecx
	cmpl	$16, %ecx
	jb	1b
	ret
	BARE	more_numbers		/* the address of which lies in a table */
	.quad	0x1122334455667788, 0x99aabbccddeeff00
	.quad	0x0123456789abcdef, 0xfedcba9876543210
