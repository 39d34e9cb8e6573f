# Functions with names that a page must show as they are, and call_names, which
# calls each once. (A test makes two bytes of the last one invalid UTF-8.)

	.macro	named number, name
	.globl	"\name"
	.type	"\name", @function
	.p2align 4
"\name":
.Lfunction_\number:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	movq	%rsp, %rbp
	movl	$1, %eax
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	"\name", . - "\name"
	.endm

	.text
	named	1, "</script><script>hacked=1</script>"
	named	2, "<img src=x onerror=hacked=2>"
	named	3, "'quoted' & ${hacked=3}"
	named	4, "größe_数"
	named	5, "invalid_XX_bytes"

	.globl	call_names
	.type	call_names, @function
	.p2align 4
call_names:
	.cfi_startproc
	pushq	%rbp
	.cfi_adjust_cfa_offset 8
	movq	%rsp, %rbp
	call	.Lfunction_1
	call	.Lfunction_2
	call	.Lfunction_3
	call	.Lfunction_4
	call	.Lfunction_5
	popq	%rbp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	call_names, . - call_names

	.section .note.GNU-stack, "", @progbits
