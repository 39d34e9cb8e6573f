/* Functions that jump where a table or a register says. */

	/* offsets from the table, as compilers write switches; the table leads
	 * back to the head of the loop */
	FUNC	switch_to_2
	xorl	%eax, %eax
switch_head:
	subl	$1, %edi
	js	9f
	movl	%edi, %edx
	andl	$3, %edx
	leaq	switch_table(%rip), %rcx
	movslq	(%rcx,%rdx,4), %rdx
	addq	%rcx, %rdx
	notrack jmp *%rdx
1:	addl	$10, %eax
2:	addl	$100, %eax
	jmp	8f
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
8:	testl	%edi, %edi
	jns	7f
9:	ret
7:	leaq	switch_table(%rip), %rcx
	movslq	(%rcx), %rdx
	addq	%rcx, %rdx
	jmp	*%rdx
	.section .rodata
	.balign	4
switch_table:
	.long	switch_head - switch_table
	.long	1b - switch_table
	.long	2b - switch_table
	.long	switch_head - switch_table
	.text
	END	switch_to_2

	/* a switch that leads nowhere near */
	FUNC	switch_elsewhere
	movl	%edi, %edx
	andl	$1, %edx
	leaq	1f(%rip), %rcx
	movslq	(%rcx,%rdx,4), %rdx
	addq	%rcx, %rdx
	jmp	*%rdx
2:	leal	20(%rdi), %eax
	ret
3:	leal	30(%rdi), %eax
	ret
	.section .rodata
	.balign	4
1:	.long	2b - 1b, 3b - 1b
	.text
	END	switch_elsewhere

	/* one by a table of bytes, which nobody reads but the function: what
	 * lies behind the jump is there for something */
	FUNC	switch_by_bytes
	jmp	2f
1:	leal	20(%rdi), %eax
	ret
3:	leal	30(%rdi), %eax
	ret
2:	movl	%edi, %edx
	andl	$1, %edx
	leaq	4f(%rip), %rcx
	movzbl	(%rcx,%rdx), %eax
	leaq	switch_by_bytes(%rip), %rcx
	addq	%rcx, %rax
	jmp	*%rax
	.section .rodata
4:	.byte	1b - switch_by_bytes, 3b - switch_by_bytes
	.text
	END	switch_by_bytes

	/* a jump by a register to a label that control runs on to, too */
	FUNC	loop_by_register
	xorl	%eax, %eax
1:	addl	$3, %eax
	subl	$1, %edi
	js	2f
	leaq	1b(%rip), %rdx
	jmp	*%rdx
2:	ret
	END	loop_by_register
