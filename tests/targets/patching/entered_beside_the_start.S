/* Functions that others enter behind their first byte, and what only looks so. */

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
