# build: -Wl,-z,notext -Wl,-z,noexecstack
# The linker writes addresses into the text of this library, the first bytes of
# its functions among it.
	.text
	.globl	textrel_value
	.type	textrel_value, @function
textrel_value:
	.cfi_startproc
	movabsq	$value, %rax
	movl	(%rax), %eax
	ret
	.cfi_endproc
	.size	textrel_value, . - textrel_value
	.data
value:	.long	42
	.section .note.GNU-stack, "", @progbits
