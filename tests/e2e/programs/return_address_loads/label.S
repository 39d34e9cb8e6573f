	.text
	.globl reader, loads_here
	.type reader, @function
reader:	.cfi_startproc
	test %rsi, %rsi
	jz loads_here
	jmp *%rsi
	.rept 8
	nopl 0x11223344(%rax,%rax)
	.endr
loads_here:
	mov (%rsp), %rax
	add $1, %rax
	ret
	.cfi_endproc
	.size reader, . - reader
	.globl label_of_it
	.type label_of_it, @function
label_of_it: .cfi_startproc
	mov $loads_here, %eax
	ret
	.cfi_endproc
	.size label_of_it, . - label_of_it
	.section .note.GNU-stack, "", @progbits
