	.text
	.globl pops, keeps, counted
	.type pops, @function
pops:	pop %rax		# the return address
	lea -1(%rax), %rdx
	mov %rax, %rcx
	jmp *%rcx
	.size pops, . - pops
	.type keeps, @function
keeps:	push %rbx
	sub $16, %rsp
	test %edi, %edi
	jz 1f
	add $16, %rsp
	pop %rbx
	xor %eax, %eax
	ret
1:	mov 24(%rsp), %rax	# behind a return, too
	add $16, %rsp
	pop %rbx
	ret
	.size keeps, . - keeps
	.type counted, @function
counted: push %rbx
	mov 16(%rsp), %rax	# an argument on the stack
	mov (%rsp), %rbx	# what was pushed
	pop %rbx
	ret
	.size counted, . - counted
	.section .note.GNU-stack, "", @progbits
