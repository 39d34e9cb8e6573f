/* Functions of two bytes: they have room for a short jump only; where a long one may
 * lie is what is here within its reach. */

	.macro	FAR			/* out of reach of what comes before */
	.rept	48
	addl	$1, %eax
	.endr
	ret
	.endm

	FAR
	FUNC	no_island_at_all, 1
	rep ret
	END	no_island_at_all
	FAR

	/* a neighbour that can do without ten bytes */
	FUNC	island_in_neighbour, 1
	movq	%rdi, %rax
	ret
	END	island_in_neighbour
	FUNC	has_island, 1
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	movq	%rdi, %rbx
	leal	3(%rdi), %eax
	subl	$1, %eax
	addl	%ebx, %eax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	.cfi_restore %rbx
	ret
	END	has_island
	FAR

	/* the only neighbour's bytes are entered */
	FUNC	no_island_entered, 1
	movq	%rdi, %rax
	ret
	END	no_island_entered
	FUNC	loop_to_7, 1
	movl	$2, %eax
	addl	$3, %eax
	.byte	0x8d, 0x40, 0x00	/* leal 0(%rax), %eax */
	addl	%edi, %eax
	.rept	12
	nopl	0x11223344(%rax,%rax)
	.endr
	subl	$1, %edi
	jns	loop_to_7 + 8
	ret
	END	loop_to_7
	FAR

	/* nobody comes into this padding */
	FUNC	island_in_padding, 1
	movq	%rdi, %rax
	ret
	END	island_in_padding
	FUNC	before_padding, 1
	leal	1(%rdi), %eax
	ret
	END	before_padding
	.byte	0x66
	nopw	%cs:0x0(%rax,%rax)
	.balign	16
	FAR

	/* with one no-operation behind it, the short jump fits */
	FUNC	one_byte_nop, 1
	ret
	END	one_byte_nop
	nop
	FUNC	has_another_island, 1
	leal	3(%rdi), %eax
	subl	$1, %eax
	addl	%edi, %eax
	subl	$1, %eax
	ret
	END	has_another_island
	FAR

	/* a function runs on into it */
	.macro	RUNS_ON name, align
	FUNC	no_island_\name, 1
	movq	%rdi, %rax
	ret
	END	no_island_\name
	FUNC	\name, \align
	leal	1(%rdi), %eax
	END	\name
	.endm
	RUNS_ON runs_on, 1
	.balign	16, 0x90
	nopw	%cs:0x0(%rax,%rax)
	.balign	16, 0x90
	FUNC	no_next_of_runs_on, 1
	ret
	END	no_next_of_runs_on
	FAR

	/* something jumps into it */
	FUNC	no_island_jumped_into, 1
	movq	%rdi, %rax
	ret
	END	no_island_jumped_into
	FUNC	jumps_into_padding, 1
	jmp	1f
	END	jumps_into_padding
	.balign	8, 0x90
	.rept	3
	nop
1:	nop
	.endr
	nop
	nop
	FUNC	no_next_of_padding, 1
	leal	1(%rdi), %eax
	ret
	END	no_next_of_padding
	FAR

	/* something jumps into what a long jump would take of the padding */
	FUNC	no_entered_behind, 8
	xorl	%eax, %eax
	ret
	END	no_entered_behind
	nop
behind_entered:
	.rept	4
	nop
	.endr
	FUNC	no_next_of_entered, 8
	leal	1(%rdi), %eax
	ret
	END	no_next_of_entered
	FAR
	FUNC	jumps_behind, 1
	movq	%rdi, %rax
	jmp	behind_entered
	END	jumps_behind
	FAR
