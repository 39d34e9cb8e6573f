/* Functions that branch back to their first bytes: loops. */

	/* a loop to the first byte: one call, however many rounds; the whole
	 * loop is short enough to be displaced */
	FUNC	loop_to_0
	addl	$3, %edx
	subl	$1, %edi
	jns	loop_to_0
	movl	%edx, %eax
	ret
	END	loop_to_0

	/* too long for that: the hook is entered in each round */
	FUNC	far_loop_to_0
	addl	$3, %edx
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	far_loop_to_0
	movl	%edx, %eax
	ret
	END	far_loop_to_0

	FUNC	far_loop_to_endbr
	endbr64
	addl	$3, %edx
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	far_loop_to_endbr
	movl	%edx, %eax
	ret
	END	far_loop_to_endbr

	/* the first byte is the head of a loop that pushes: what lies at the
	 * stack's top there is no return address */
	FUNC	no_loop_that_pushes
	pushq	%rdi
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	no_loop_that_pushes
	xorl	%eax, %eax
1:	popq	%rcx			/* n comes last */
	addl	%ecx, %eax
	cmpl	%edx, %ecx
	jne	1b
	ret
	END	no_loop_that_pushes

	FUNC	loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	subl	$1, %edi
	jns	1b
	ret
	END	loop_to_3

	FUNC	far_loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	1b
	ret
	END	far_loop_to_3

	/* the same by branches with prefixes: bnd, a hint, one that does
	 * nothing */
	FUNC	bnd_loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	subl	$1, %edi
	.byte	0xf2		/* bnd, which newer assemblers do not know */
	jns	1b
	ret
	END	bnd_loop_to_3

	FUNC	bnd_far_loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	.byte	0xf2		/* bnd, which newer assemblers do not know */
	jns	1b
	ret
	END	bnd_far_loop_to_3

	FUNC	hinted_far_loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	.rept	11
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	.byte	0x3e, 0x0f, 0x89	/* jns,pt, long */
	.long	1b - . - 4
	ret
	END	hinted_far_loop_to_3

	FUNC	prefixed_far_loop_to_3
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	js	2f
	.byte	0x2e, 0x2e, 0xe9
	.long	1b - . - 4
2:	ret
	END	prefixed_far_loop_to_3

	FUNC	no_prefixed_loop_that_pushes
	pushq	%rdi
	.rept	30
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns,pt	no_prefixed_loop_that_pushes
	xorl	%eax, %eax
1:	popq	%rcx			/* n comes last */
	addl	%ecx, %eax
	cmpl	%edx, %ecx
	jne	1b
	ret
	END	no_prefixed_loop_that_pushes

	/* back to +5 of a function that begins with endbr64 */
	FUNC	endbr_loop_to_5
	endbr64
	nop
1:	addl	%edi, %edx
	subl	$1, %edi
	jns	1b
	movl	%edx, %eax
	ret
	END	endbr_loop_to_5

	FUNC	endbr_far_loop_to_7
	endbr64
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	1b
	ret
	END	endbr_far_loop_to_7

	/* the byte behind endbr64 is the loop's head: the jump's own first */
	FUNC	endbr_far_loop_to_4
	endbr64
1:	addl	%edi, %edx
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	1b
	movl	%edx, %eax
	ret
	END	endbr_far_loop_to_4

	FUNC	no_endbr_loop_that_pushes
	endbr64
1:	pushq	%rdi
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	1b
	xorl	%eax, %eax
1:	popq	%rcx			/* n comes last */
	addl	%ecx, %eax
	cmpl	%edx, %ecx
	jne	1b
	ret
	END	no_endbr_loop_that_pushes

	/* behind the patch: no obstacle */
	FUNC	loop_to_5
	xorl	%eax, %eax
	nopl	(%rax)
1:	addl	%edi, %eax
	subl	$1, %edi
	jns	1b
	ret
	END	loop_to_5

	/* such a loop is displaced as a whole, unless something leads to it */
	FUNC	loop_entered
	xorl	%eax, %eax
	nop
1:	addl	%edi, %eax
loop_entry:
	subl	$1, %edi
	jns	1b
	ret
	END	loop_entered

	FUNC	enters_loop
	movl	$100, %eax
	leal	1(%rdi), %edi
	jmp	loop_entry
	END	enters_loop
