# build: -Wl,-z,noexecstack -Wl,-Bsymbolic
/* Many short functions, long f(long n), of bodies, neighbours and padding that a
 * fixed sequence of numbers chooses. short.c calls each of them. */

	.set	COUNT, 1500
	.set	seed, 20221
	.set	is_first, 1

	.macro	CHOOSE			/* the next number, in `chosen` */
	.set	seed, (seed * 1103515245 + 12345) & 0x7fffffff
	.set	chosen, seed >> 12
	.endm

	.macro	BODY kind, before
	.set	tail, 0
	.if	\kind == 0
	ret
	.elseif	\kind == 1
	rep ret
	.elseif	\kind == 2
	xorl	%eax, %eax
	ret
	.elseif	\kind == 3
	movq	%rdi, %rax
	ret
	.elseif	\kind == 4
	leal	17(%rdi), %eax
	ret
	.elseif	\kind == 5 && !is_first	/* 2 bytes or 5 */
	jmp	s\before
	.set	tail, 1
	.elseif	\kind == 6		/* entered at +2 */
	xorl	%eax, %eax
1:	addl	%edi, %eax
	subl	$1, %edi
	jns	1b
	ret
	.elseif	\kind == 7		/* at +1 */
	cld
1:	addl	%edi, %eax
	subl	$1, %edi
	jns	1b
	ret
	.elseif	\kind == 8
	leal	3(%rdi), %eax
	subl	$1, %eax
	addl	%edi, %eax
	imull	$3, %eax
	ret
	.elseif	\kind == 9
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	movl	%edi, %ebx
	leal	5(%rbx,%rdi), %eax
	leaq	(%rax,%rbx,2), %rax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	.elseif	\kind == 10
	testl	%edi, %edi
	jz	1f
	leal	9(%rdi), %eax
	ret
1:	movl	$4, %eax
	ret
	.elseif	\kind == 11
	endbr64
	leal	-1(%rdi), %eax
	ret
	.elseif	\kind == 12
	call	*%rsi			/* returns 77 */
	ret
	.else
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	*%rsi
	addl	%eax, %eax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.endif
	.endm

	.macro	PAD kind
	.if	\kind == 0
	.balign	8, 0xcc
	.elseif	\kind == 1
	.balign	16
	.elseif	\kind == 2
	.balign	16, 0x90
	.elseif	\kind == 3
	nop
	.endif
	.endm

	.altmacro
	.macro	ONE n, before
	CHOOSE
	.type	s\n, @function
	.globl	s\n
s\n:	.cfi_startproc
	.set	kind, chosen % 14
	BODY	%kind, \before
	.cfi_endproc
	.size	s\n, . - s\n
	.section .data.rel.ro.table, "aw"
	.quad	s\n
	.long	\n, tail
	.text
	CHOOSE
	.set	kind, chosen % 9
	PAD	%kind
	.set	is_first, 0
	.endm

	.section .data.rel.ro.table, "aw"
	.balign	8
	.globl	short_table
	.type	short_table, @object
short_table:
	.text
	.set	index, 0
	.rept	COUNT
	ONE	%index, %(index - 1)
	.set	index, index + 1
	.endr

	.globl	returns_77
	.type	returns_77, @function
returns_77:
	.cfi_startproc
	movl	$77, %eax
	ret
	.cfi_endproc
	.size	returns_77, . - returns_77

	/* long invoke(f, n, g): f(n, g), with a known %rax */
	.globl	invoke
	.type	invoke, @function
invoke:
	.cfi_startproc
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %r8
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movl	$1000, %eax
	call	*%r8
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	invoke, . - invoke

	.section .data.rel.ro.table, "aw"
	.quad	0, 0
	.size	short_table, . - short_table
	.section .note.GNU-stack, "", @progbits
