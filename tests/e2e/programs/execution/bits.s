	.globl	_start
_start:	movl	(%esp), %ecx
	leal	8(%esp, %ecx, 4), %esi
1:	movl	(%esi), %ecx
	testl	%ecx, %ecx
	jz	4f
	xorl	%edx, %edx
2:	cmpb	$0, (%ecx, %edx)
	je	3f
	incl	%edx
	jmp	2b
3:	movb	$10, (%ecx, %edx)
	incl	%edx
	movl	$4, %eax
	movl	$1, %ebx
	int	$0x80
	addl	$4, %esi
	jmp	1b
4:	movl	$1, %eax
	movl	$5, %ebx
	int	$0x80
