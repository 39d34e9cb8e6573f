/* Functions that go on in another frame than their caller's, as their unwind entries
 * say, and those that look at their return address in spite of such an entry. */

	/* goes on where %rdi says, in a frame that is saved there */
	FUNC	load_frame
	movq	8(%rdi), %rdx
	movq	(%rdi), %rcx
	movq	%rsi, %rax
	.cfi_def_cfa %rdi, 0
	.cfi_offset %rip, 0
	.cfi_offset %rsp, 8
	movq	%rdx, %rsp
	jmp	*%rcx
	END	load_frame

	FUNC	leaps_home
	subq	$24, %rsp
	.cfi_adjust_cfa_offset 24
	leaq	1f(%rip), %rax
	movq	%rax, (%rsp)
	movq	%rsp, 8(%rsp)
	movq	%rdi, %rsi
	movq	%rsp, %rdi
	call	load_frame
	ud2
1:	addq	$5, %rax
	addq	$24, %rsp
	.cfi_adjust_cfa_offset -24
	ret
	END	leaps_home

	/* the same kind of table, but they look at their return address */
	FUNC	no_pops_then_leaves
	leaq	7(%rdi), %rax
	popq	%rcx
	.cfi_def_cfa %rsi, 0
	.cfi_offset %rip, 0
	pushq	%rcx
	ret
	END	no_pops_then_leaves

	FUNC	no_reads_then_leaves
	leaq	9(%rdi), %rax
	.cfi_def_cfa %rsi, 0
	.cfi_offset %rip, 0
	movq	(%rsp), %rcx
	ret
	END	no_reads_then_leaves

	FUNC	no_reads_by_index
	leaq	11(%rdi), %rax
	xorl	%edx, %edx
	.cfi_def_cfa %rsi, 0
	.cfi_offset %rip, 0
	movq	(%rsp, %rdx, 8), %rcx
	ret
	END	no_reads_by_index
