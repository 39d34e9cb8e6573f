# build: -Wl,-z,noexecstack -Wl,-Bsymbolic
/* Functions that are hard to patch: long f(long n, void *p) each. Those whose
 * name begins with no_ cannot be hooked, all others can. patching.c calls each
 * of them CALLS times; tests/e2e/test_patching.sh knows what is counted. */

	.macro	FUNC name, align=16
	.text
	.balign	\align, 0xcc
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	ENTRY name		/* for the table at the end */
	.section .data.rel.ro.table, "aw"
	.quad	\name, 9000f
	.section .rodata
9000:	.asciz	"\name"
	.text
	.endm

/* ------------------------------------------------------- branches back */

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

/* ----------------------------------------------- entered beside the start */

	/* by one function, the long jump first */
	FUNC	entered_by_long
	xorl	%esi, %esi
long_entry:
	leal	21(%rdi,%rsi), %eax
	ret
	END	entered_by_long

	FUNC	entered_by_short
	xorl	%esi, %esi
short_entry:
	leal	22(%rdi,%rsi), %eax
	ret
	END	entered_by_short

	FUNC	enters_two
	movl	$50, %esi
	testb	$1, %dil
	je	1f
	.byte	0xe9
	.long	long_entry - . - 4
1:	jmp	short_entry
	END	enters_two

	FUNC	has_entry_at_2
	xorl	%esi, %esi
entered_at_2:
	leal	7(%rdi,%rsi), %eax
	ret
	END	has_entry_at_2

	FUNC	jumps_to_2
	movl	$40, %esi
	jmp	entered_at_2
	END	jumps_to_2

	FUNC	calls_2
	movl	$50, %esi
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	entered_at_2
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	calls_2

	/* the same from a section that may lie in a segment of its own */
	FUNC	has_entry_from_afar
	xorl	%esi, %esi
entered_from_afar:
	leal	11(%rdi,%rsi), %eax
	ret
	END	has_entry_from_afar

	.section .text_far, "ax", @progbits
	.globl	jumps_from_afar
	.type	jumps_from_afar, @function
jumps_from_afar:
	.cfi_startproc
	movl	$60, %esi
	jmp	entered_from_afar
	.cfi_endproc
	.size	jumps_from_afar, . - jumps_from_afar
	.text

	/* the C library's start code has no unwind entry; "ff e0" and the
	 * no-operation behind it hold a loopne to the function's second byte */
	.balign	16, 0xcc
	testq	%rax, %rax
	jz	1f
	jmp	*%rax
	.byte	0x66, 0x0f, 0x1f, 0x44, 0, 0	/* nopw 0(%rax,%rax,1) */
1:	ret
	.rept	31
	addl	$1, %eax
	.endr
	ret
	nop
	FUNC	seemingly_entered_at_1, 1
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	leal	11(%rdi,%rdi), %ebx
	movl	%ebx, %eax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	END	seemingly_entered_at_1

	/* the same, where it is a loopne */
	.balign	16, 0xcc
	testq	%rax, %rax
	jz	1f
	addl	%ecx, %eax
	jmp	1f
	.byte	0xe0, 0x66
1:	ret
	.rept	33
	addl	$1, %eax
	.endr
	ret
	FUNC	no_entered_at_1, 1
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	leal	11(%rdi,%rdi), %ebx
	movl	%ebx, %eax
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	END	no_entered_at_1

	/* code without an entry that leads into a function, with a prefix */
	FUNC	entered_by_prefixed
	xorl	%esi, %esi
prefixed_entry:
	leal	20(%rdi,%rsi), %eax
	ret
	END	entered_by_prefixed

	.balign	16, 0xcc
.Lprefixed:
	movl	$70, %esi
	.byte	0xf2
	jmp	prefixed_entry

	FUNC	jumps_prefixed
	leal	1(%rdi), %edi
	leal	1(%rdi), %edi
	jmp	.Lprefixed
	END	jumps_prefixed

	/* and where a datum looks like the beginning of an instruction that
	 * goes on in it */
	FUNC	entered_behind_data
	xorl	%esi, %esi
behind_data_entry:
	leal	30(%rdi,%rsi), %eax
	ret
	END	entered_behind_data

	.balign	16, 0xcc
.Lbehind_data:
	movl	$80, %esi
	jmp	1f
	.byte	0xb8
1:	jmp	behind_data_entry
	ret
	ret

	FUNC	jumps_behind_data
	leal	1(%rdi), %edi
	leal	1(%rdi), %edi
	jmp	.Lbehind_data
	END	jumps_behind_data

/* ---------------------------------------------------------- tables of labels */

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

	/* clang's -fsanitize=function has callers look at the first bytes */
	FUNC	has_signature
	.byte	0xeb, 0x06, 'v', '2'
	.long	1000
	movl	has_signature(%rip), %eax
	xorl	$0x327606eb, %eax
	addl	4 + has_signature(%rip), %eax
	addl	%edi, %eax
	ret
	END	has_signature

	/* what stands before it is no code; as code it would lead there */
	.balign	16, 0xcc
	.asciz	"a table"
	.ascii	"Of a table, by those who have put it here, <"
1:	.ascii	"pA"			/* jo behind_a_text + 2 */
	.asciz	"@example.org>"
	.skip	1b + 65 - ., 0x90
	FUNC	behind_a_text, 1
	leal	1(%rdi), %eax
	subl	$2, %eax
	ret
	END	behind_a_text

	/* nor is this, but it is too short to be sure */
	.balign	16, 0xcc
	.byte	0x06
1:	.asciz	"pA has"
	.skip	1b + 65 - ., 0x90
	FUNC	behind_a_word, 1
	leal	1(%rdi), %eax
	subl	$2, %eax
	ret
	END	behind_a_word

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

/* ------------------------------------------------------------ short functions */

	/* back to back */
	FUNC	no_one_byte
	ret
	END	no_one_byte
	FUNC	two_bytes, 1
	rep ret
	END	two_bytes
	FUNC	three_bytes, 1
	xorl	%eax, %eax
	ret
	END	three_bytes
	FUNC	four_bytes, 1
	movq	%rdi, %rax
	ret
	END	four_bytes
	FUNC	no_endbr_ret, 1
	endbr64
	ret
	END	no_endbr_ret
	FUNC	five_bytes, 1
	leal	1(%rdi), %eax
	nop
	ret
	END	five_bytes

	/* followed by int3 */
	FUNC	one_byte_int3
	ret
	END	one_byte_int3
	FUNC	two_bytes_int3
	rep ret
	END	two_bytes_int3
	FUNC	three_bytes_int3
	xorl	%eax, %eax
	ret
	END	three_bytes_int3
	FUNC	four_bytes_int3
	movq	%rdi, %rax
	ret
	END	four_bytes_int3
	FUNC	endbr_ret_int3
	endbr64
	ret
	END	endbr_ret_int3
	.balign	16, 0xcc

	/* by single no-operations, and by long ones */
	FUNC	one_byte_nops
	ret
	END	one_byte_nops
	.balign	16, 0x90
	FUNC	three_bytes_nops
	xorl	%eax, %eax
	ret
	END	three_bytes_nops
	.balign	16, 0x90
	FUNC	two_bytes_long_nop
	rep ret
	END	two_bytes_long_nop
	nopw	%cs:0x0(%rax,%rax)
	.balign	16
	FUNC	four_bytes_long_nop
	movq	%rdi, %rax
	ret
	END	four_bytes_long_nop
	.byte	0x66
	nopw	%cs:0x0(%rax,%rax)
	nop
	.balign	16

	/* by code without a name, that begins like padding */
	FUNC	no_ret_before_66
	ret
	END	no_ret_before_66
nameless_66:
	leaw	7(%rdi), %ax		/* 66 8d 47 07 */
	movzwl	%ax, %eax
	ret
	FUNC	no_ret_before_0f
	ret
	END	no_ret_before_0f
nameless_0f:
	movzwl	%di, %eax		/* 0f b7 c7 */
	ret
	/* as padding does, but that would go on up to an aligned address */
	FUNC	no_ret_before_nops
	ret
	END	no_ret_before_nops
nameless_nops:
	nop
	nop
	leal	9(%rdi), %eax
	ret
	FUNC	calls_nameless
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	leaq	nameless_66(%rip), %rax
	call	*%rax
	movl	%eax, %edx
	leaq	nameless_0f(%rip), %rax
	call	*%rax
	addl	%eax, %edx
	leaq	nameless_nops(%rip), %rax
	call	*%rax
	addl	%edx, %eax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	calls_nameless

/* ------------------------------------------------------------------ islands
 * Two bytes have room for a short jump only; where a long one may lie is what
 * is here within its reach. */

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

/* ------------------------------------------------- branches in the window */

	.macro	BRANCH name, first, branch
	FUNC	\name
	\first
	\branch	1f
	leal	1(%rdi), %eax
	ret
	nopl	0x11223344(%rax,%rax)
1:	leal	2(%rdi), %eax
	ret
	END	\name
	.endm

	BRANCH	jcc8, "testl $1, %edi", jz
	BRANCH	jmp8, "movl %edi, %ecx", jmp
	BRANCH	jrcxz_, "movl %edi, %ecx", jrcxz
	BRANCH	jecxz_, "movl %edi, %ecx", jecxz
	BRANCH	loop_, "leal 1(%rdi), %ecx", loop
	BRANCH	loope_, "leal 1(%rdi), %ecx", loope

	FUNC	jcc32
	testb	%dil, %dil
	.byte	0x0f, 0x84		/* je rel32 */
	.long	1f - . - 4
	leal	1(%rdi), %eax
	ret
1:	leal	2(%rdi), %eax
	ret
	END	jcc32

	FUNC	jumps_within
	testl	%edi, %edi
	jz	1f
	nop
1:	leal	2(%rdi), %eax
	ret
	END	jumps_within

/* --------------------------------------------------------- calls in the window */

	/* its return address, from the start of this library's text */
	FUNC	whence
	movq	(%rsp), %rax
	leaq	loop_to_0(%rip), %rcx
	subq	%rcx, %rax
	ret
	END	whence

	FUNC	call_first
	call	whence
	ret
	END	call_first

	FUNC	call_second
	pushq	%rbx
	.cfi_adjust_cfa_offset 8
	call	whence
	popq	%rbx
	.cfi_adjust_cfa_offset -8
	ret
	END	call_second

	/* itself: each is recorded */
	FUNC	call_itself
	decl	%edi
	js	1f
	call	call_itself
1:	movl	%edi, %eax
	ret
	END	call_itself

	FUNC	call_register
	call	*%rcx
	addl	$1, %eax
	ret
	END	call_register

	FUNC	call_register_last
	movq	%rsi, %rdx
	call	*(%rdx)
	ret
	END	call_register_last

	FUNC	call_member
	call	*8(%rsi)
	addl	$1, %eax
	ret
	END	call_member

	FUNC	call_next
	call	1f
1:	popq	%rax
	leaq	loop_to_0(%rip), %rcx
	subq	%rcx, %rax
	ret
	END	call_next

	FUNC	call_rex_w
	rex.W call *pointer(%rip)
	ret
	END	call_rex_w
	.section .data.rel.ro, "aw"
	.balign	8
pointer: .quad	whence
	.text

/* -------------------------------------------------------------- cold parts */

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

/* ------------------------------------------------------------- all the rest */

	FUNC	system_call
	pushq	$39			/* getpid */
	popq	%rax
	syscall
	cmpl	$1, %eax
	setg	%al
	movzbl	%al, %eax
	ret
	END	system_call

	FUNC	system_call_behind
	movl	$39, %eax		/* getpid */
	syscall
	cmpl	$1, %eax
	setg	%al
	movzbl	%al, %eax
	ret
	END	system_call_behind

	FUNC	constant
	leaq	data_in_text(%rip), %rax
	movl	(%rax,%rdi,4), %eax
	ret
data_in_text:
	.long	0x90909090, 0xcccccccc, 0xe9e8c3c3, 0x660f660f, 1, 2, 3, 4, 5, 6
	END	constant

	FUNC	has_aliases
	leal	9(%rdi), %eax
	jmp	1f
1:	ret
	END	has_aliases
	.globl	alias_one, alias_two
	.type	alias_one, @function
	.type	alias_two, @function
	.set	alias_one, has_aliases
	.set	alias_two, has_aliases
	.size	alias_one, 4

	/* ------------------------------------------- to another frame */

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

	/* status in the carry flag; the direction flag set by the caller */
	FUNC	carry
	nopl	0(%rax,%rax)
	cmpl	$5, %edi
	ret
	END	carry

	FUNC	uses_carry
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	std
	call	carry
	pushfq
	.cfi_adjust_cfa_offset 8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	cld
	andl	$0x401, %eax
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	uses_carry

	/* long invoke(long (*f)(long, void *), long n, void *p): the registers
	 * and flags that the functions look at are set */
	FUNC	invoke
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	movq	%rdi, %r8
	movq	%rsi, %rdi
	movq	%rdx, %rsi
	movl	%edi, %edx
	leaq	whence(%rip), %rcx
	movl	$77, %eax
	cmpl	%eax, %eax
	call	*%r8
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	END	invoke

	.section .data.rel.ro.table, "aw"
	.balign	8
	.globl	patching_table
	.type	patching_table, @object
patching_table:
	.irp	name, loop_to_0, no_loop_that_pushes, far_loop_to_0, far_loop_to_endbr, loop_to_3, \
		far_loop_to_3, bnd_loop_to_3, bnd_far_loop_to_3, \
		hinted_far_loop_to_3, prefixed_far_loop_to_3, \
		no_prefixed_loop_that_pushes, endbr_loop_to_5, endbr_far_loop_to_7, \
		endbr_far_loop_to_4, \
		no_endbr_loop_that_pushes, loop_to_5, has_entry_at_2, \
		jumps_to_2, calls_2, has_entry_from_afar, \
		jumps_from_afar, switch_to_2, switch_elsewhere, \
		computed_goto_3, no_computed_goto_1, no_one_byte, two_bytes, three_bytes, \
		four_bytes, no_endbr_ret, five_bytes, one_byte_int3, \
		two_bytes_int3, three_bytes_int3, four_bytes_int3, \
		endbr_ret_int3, one_byte_nops, three_bytes_nops, \
		two_bytes_long_nop, four_bytes_long_nop, no_ret_before_66, \
		 no_ret_before_0f, no_ret_before_nops, calls_nameless, jcc8, jmp8, seemingly_entered_at_1, no_entered_at_1, \
		entered_by_prefixed, jumps_prefixed, switch_in_part, \
		loop_entered, enters_loop, \
		entered_by_long, entered_by_short, enters_two, \
		entered_behind_data, jumps_behind_data, \
		no_island_at_all, island_in_neighbour, has_island, \
		no_island_entered, loop_to_7, island_in_padding, \
		before_padding, one_byte_nop, has_another_island, no_island_runs_on, \
		no_island_jumped_into, jumps_into_padding, \
		no_entered_behind, jumps_behind, \
		jrcxz_, jecxz_, loop_, loope_, jcc32, jumps_within, whence, \
		call_first, call_second, call_itself, call_register, call_register_last, \
		call_member, call_next, call_rex_w, system_call, \
		system_call_behind, constant, has_aliases, alias_one, \
		alias_two, uses_carry, leaps_home, no_pops_then_leaves, \
		no_reads_then_leaves, no_reads_by_index, jumps_to_reader, \
		jumps_to_taker, comes_back, comes_back_short, \
		comes_back_long, passes_on, calls_with_part, switch_to_cold, \
		switch_by_thunk, calls_by_thunk, jumps_by_thunk, \
		switch_by_bytes, loop_by_register, has_signature, \
		behind_a_text, behind_a_word
	ENTRY	\name
	.endr

	.section .data.rel.ro.table, "aw"
	.quad	0, 0
	.size	patching_table, . - patching_table
last_table:
	.quad	no_goto_1, goto_1
	.section .note.GNU-stack, "", @progbits
