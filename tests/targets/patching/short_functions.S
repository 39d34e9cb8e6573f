/* Functions too short for a jump of five bytes, by what lies behind them. */

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
