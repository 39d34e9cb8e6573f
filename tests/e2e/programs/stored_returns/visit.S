	.macro VISIT name, function
	.text
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	-8(%rsp), %rsi			# where the return address will be
	lea	1f(%rip), %rdx
	call	\function
	mov	$1, %eax
	add	$8, %rsp
	ret
1:	mov	$2, %eax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm
	VISIT	visit, plain
	VISIT	visit_by_jump, jumping
	VISIT	visit_deep, nesting
	.section .note.GNU-stack, "", @progbits
