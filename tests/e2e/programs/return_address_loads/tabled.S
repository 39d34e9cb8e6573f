	.section .note.GNU-stack, "", @progbits
	.macro READER name
	.text
	.globl \name
	.type \name, @function
\name: .cfi_startproc
	.rept 30
	nopl 0x11223344(%rax,%rax)
	.endr
	test %rdi, %rdi
	jz 1f
	.endm
	.macro LOAD_AND_LABEL name
1:	mov (%rsp), %rax
2:	lea 3(%rdi), %rdx
3:	lea (%rax,%rdx), %rax
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm
	READER by_label
	mov $5, %eax
	mov labels(,%rdi,4), %edx
	jmp *%rdx
	LOAD_AND_LABEL by_label
	.section .rodata
	.balign 4
labels:	.long 3b, 2b, 2b
	READER by_distance
	mov $5, %eax
	movslq distances(,%rdi,4), %rdx
	add $4f, %rdx
	jmp *%rdx
4:	ud2
	LOAD_AND_LABEL by_distance
	.section .rodata
distances: .long 3b - 4b, 2b - 4b, 2b - 4b
