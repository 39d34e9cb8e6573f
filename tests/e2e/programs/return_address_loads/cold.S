	.section .note.GNU-stack, "", @progbits
	.text
	.globl parent
	.type parent, @function
parent: .cfi_startproc
	mov %rdi, -8(%rsp)
	test %rdi, %rdi
	jne parent.cold
	mov -8(%rsp), %rax
	ret
	.cfi_endproc
	.size parent, . - parent
	.section .text.unlikely, "ax", @progbits
	.type parent.cold, @function
parent.cold: .cfi_startproc
	mov -8(%rsp), %rcx
	mov (%rsp), %rax
	lea main(%rip), %rdx
	sub %rdx, %rax
	add %rcx, %rax
	ret
	.cfi_endproc
