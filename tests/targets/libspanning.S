# build: -Wl,-z,noexecstack -Wl,-Bsymbolic -Wl,-z,separate-code
/* Functions, long f(long n), whose first five bytes span two pages: so many of them
 * lie in the first one as their names say. Each returns n + 1; sum and loop, the sum
 * of the numbers up to n. What lies around them is no padding. */

	.macro	FUNC name, bytes
	.text
	.balign	4096, 0
	.skip	4096 - (\bytes), 0
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

	.section .data.rel.ro.table, "aw"
	.globl	spanning_table
	.type	spanning_table, @object
spanning_table:

	.macro	FRAME name, bytes
	FUNC	\name, \bytes
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	leaq	1(%rdi), %rax
	popq	%rbp
	.cfi_def_cfa_offset 8
	ret
	END	\name
	.endm

	FRAME	frame_1, 1
	FRAME	frame_2, 2
	FRAME	frame_3, 3
	FRAME	frame_4, 4

	/* one instruction */
	.macro	LONG name, bytes
	FUNC	\name, \bytes
	movl	$1, %eax
	addq	%rdi, %rax
	ret
	END	\name
	.endm

	LONG	long_1, 1
	LONG	long_2, 2
	LONG	long_3, 3
	LONG	long_4, 4

	/* the jump lies behind this one */
	.macro	MARKED name, bytes
	FUNC	\name, \bytes + 4
	endbr64
	leaq	1(%rdi), %rax
	ret
	nop
	END	\name
	.endm

	MARKED	marked_1, 1
	MARKED	marked_3, 3

	/* a loop goes back into the jump, from so far that its branch is led on */
	.macro	LOOP name, bytes
	FUNC	\name, \bytes
	xorl	%eax, %eax
1:	addq	%rdi, %rax
	.rept	20
	nopl	0x11223344(%rax,%rax)
	.endr
	subq	$1, %rdi
	jns	1b
	ret
	END	\name
	.endm

	LOOP	loop_1, 1
	LOOP	loop_2, 2
	LOOP	loop_4, 4

	.section .data.rel.ro.table, "aw"
	.quad	0, 0
	.size	spanning_table, . - spanning_table
	.section .note.GNU-stack, "", @progbits
