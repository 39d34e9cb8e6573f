/* Functions of which a part lies elsewhere, without a symbol. */

	/* without a frame, so the unwind tables of their cold parts, which have
	 * no symbols, describe what those of functions do; these find what lies
	 * below the stack pointer */
	FUNC	jumps_to_reader
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi,2), %rax
	movq	%rax, -16(%rsp)
	testb	$1, %dil
	jne	.Lreader
	ret
	END	jumps_to_reader

	.cfi_startproc
.Lreader:
	movq	-16(%rsp), %rax
	shlq	$8, %rax
	addq	-8(%rsp), %rax
	ret
	.cfi_endproc

	FUNC	jumps_to_taker
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi,4), %rax
	movq	%rax, -40(%rsp)
	testb	$1, %dil
	je	.Ltaker
	ret
	END	jumps_to_taker

	.cfi_startproc
.Ltaker:
	leaq	-40(%rsp), %rcx
	movq	(%rcx), %rax
	shlq	$8, %rax
	addq	32(%rcx), %rax
	ret
	.cfi_endproc

	/* this one finds nothing, but goes back to what does */
	FUNC	comes_back
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi), %rax
	testb	$1, %dil
	jne	.Lback
.Lgoes_on:
	addq	-8(%rsp), %rax
	ret
	END	comes_back

	.cfi_startproc
.Lback:
	imulq	$100, %rax, %rax
	addq	$1, %rax
	jmp	.Lgoes_on
	.cfi_endproc

	/* by conditional jumps, short and long */
	FUNC	comes_back_short
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi), %rax
	testb	$1, %dil
	jne	.Lback_short
.Lgoes_on_short:
	addq	-8(%rsp), %rax
	ret
	END	comes_back_short

	.cfi_startproc
.Lback_short:
	imulq	$100, %rax, %rax
	testb	$2, %dil
	jne	.Lgoes_on_short
	ret
	.cfi_endproc

	FUNC	comes_back_long
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi), %rax
	testb	$1, %dil
	jne	.Lback_long
.Lgoes_on_long:
	addq	-8(%rsp), %rax
	ret
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	END	comes_back_long

	.cfi_startproc
.Lback_long:
	imulq	$100, %rax, %rax
	testb	$2, %dil
	jne	.Lgoes_on_long
	ret
	.cfi_endproc

	/* this one only goes to another one, which finds something */
	FUNC	passes_on
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi), %rax
	testb	$1, %dil
	jne	.Lpasses_on
	ret
	END	passes_on

	.cfi_startproc
.Lpasses_on:
	imulq	$100, %rax, %rax
	addq	$1, %rax
	jmp	.Lfinds
	.cfi_endproc

	.cfi_startproc
.Lfinds:
	addq	-8(%rsp), %rax
	ret
	.cfi_endproc

	/* a function without a symbol that has a part is none itself */
	FUNC	calls_with_part
	call	.Lwith_part
	addq	$1, %rax
	ret
	END	calls_with_part

	.balign	16, 0xcc
	.cfi_startproc
.Lwith_part:
	movq	%rdi, -8(%rsp)
	leaq	(%rdi,%rdi), %rax
	testb	$1, %dil
	jne	.Lits_part
	ret
	.cfi_endproc

	.cfi_startproc
.Lits_part:
	addq	-8(%rsp), %rax
	ret
	.cfi_endproc

	/* a switch into one, which has labels within its first five bytes */
	FUNC	switch_to_cold
	movl	%edi, %edx
	andl	$3, %edx
	leaq	1f(%rip), %rcx
	movslq	(%rcx,%rdx,4), %rdx
	addq	%rcx, %rdx
	jmp	*%rdx
2:	leal	20(%rdi), %eax
	ret
	.section .rodata
	.balign	4
1:	.long	2b - 1b, .Lcases - 1b, .Lcase_2 - 1b, .Lcase_3 - 1b
	.text
	END	switch_to_cold

	.balign	16, 0xcc
	.cfi_startproc
.Lcases:
	xorl	%eax, %eax
	ret
.Lcase_2:
	leal	30(%rdi), %eax
	ret
.Lcase_3:
	leal	40(%rdi), %eax
	ret
	.cfi_endproc

	/* indirect branches that the processor cannot foresee: they look like
	 * functions, and are jumped to from where another word than a return
	 * address is on top of the stack */
	.balign	16, 0xcc
	.cfi_startproc
.Lthunk_rax:
	call	1f
0:	pause
	lfence
	jmp	0b
1:	.cfi_def_cfa_offset 16
	movq	%rax, (%rsp)
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	.cfi_startproc
.Lthunk_top:
	call	1f
0:	pause
	lfence
	jmp	0b
	.balign	16, 0xcc
1:	.cfi_def_cfa_offset 16
	leaq	8(%rsp), %rsp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc

	FUNC	switch_by_thunk
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	leaq	1f(%rip), %rax
	jmp	.Lthunk_rax
1:	popq	%rax
	.cfi_adjust_cfa_offset -8
	addq	$5, %rax
	ret
	END	switch_by_thunk

	FUNC	calls_by_thunk
	leaq	1f(%rip), %rax
	call	.Lthunk_rax
	addq	$5, %rax
	ret
1:	leaq	(%rdi,%rdi), %rax
	ret
	END	calls_by_thunk

	FUNC	jumps_by_thunk
	leaq	1f(%rip), %rax
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	jmp	.Lthunk_top
	.cfi_adjust_cfa_offset -8
1:	leaq	3(%rdi), %rax
	ret
	END	jumps_by_thunk
