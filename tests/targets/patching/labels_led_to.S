/* Functions that are led back into their beginning: from a part with a table, and by
 * pointers to labels. */

	/* in a part with the function's frame, and back into its beginning */
	FUNC	switch_in_part
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	xorl	%ebx, %ebx
.Lpart_goes_to:
	leal	20(%rdi,%rbx), %eax
	testl	%ebx, %ebx
	je	.Lpart
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	END	switch_in_part

	.balign	16, 0xcc
	.cfi_startproc
	.cfi_def_cfa_offset 16
.Lpart:	movl	$1, %ebx
	leaq	1f(%rip), %rcx
	movslq	(%rcx), %rdx
	addq	%rcx, %rdx
	jmp	*%rdx
	.section .rodata
	.balign	4
1:	.long	.Lpart_goes_to - 1b
	.text
	.cfi_endproc

	/* pointers: computed goto */
	FUNC	computed_goto_3
	xorl	%eax, %eax
	nop
goto_3:	leal	5(%rdi,%rax), %eax
	subl	$4, %edi
	movl	%edi, %edx
	shrl	$31, %edx
	leaq	goto_table(%rip), %rcx
	jmp	*(%rcx,%rdx,8)
4:	ret
	.section .data.rel.ro, "aw"
	.balign	8
goto_table:
	.quad	goto_3, 4b
	.text
	END	computed_goto_3

	/* into the second byte, by the last of many pointers */
	FUNC	no_computed_goto_1
	clc
goto_1:	leal	6(%rdi), %eax
	subl	$4, %edi
	movl	%edi, %edx
	shrl	$31, %edx
	xorl	$1, %edx
	leaq	last_table(%rip), %rcx
	jmp	*(%rcx,%rdx,8)
no_goto_1:
	ret
	END	no_computed_goto_1
