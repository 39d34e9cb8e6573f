/* A borrowed thread executes this in the target (src/control/borrow.c copies it
 * there). Neither needs the controller: the thread goes back to where it was by
 * itself. Both keep all registers, flags, and what lies in the 128 bytes below
 * the stack pointer (SysV ABI 3.2.2). */

#include "base/resume_call.h"

	.section .rodata
	.balign 64

/* One system call, on the thread's own stack below what it may use. In: the call's
 * registers; at %rsp the thread's registers, up to 128 bytes below its stack
 * pointer. (Nothing is left there of a result: what the call has done must show.) */
	.globl	swz_stub_call
	.hidden	swz_stub_call
swz_stub_call:
	syscall
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	popfq
	ret	$128
	/* The rest of a system call that was cut short, for as long as there is no
	 * library. */
	.balign	16
	.globl	swz_stub_resume
	.hidden	swz_stub_resume
swz_stub_resume:
	.cfi_startproc
	RESUME_CALL
	.cfi_endproc
	.globl	swz_stub_call_end
	.hidden	swz_stub_call_end
swz_stub_call_end:

/* One call of a function, on a stack of ours. In: %rbx, struct swz_stub_data
 * (target.h); %rsp, the top of the stack, aligned. */
#define FUNCTION	0
#define ARGUMENTS	8
#define RESULT		40
#define DONE		48
#define ERRNO_PLACE	56
#define ERRNO		64
#define ALL_SIGNALS	72
#define SIGNALS		80
#define BACK		88
#define STATE		128

	.balign 64
	.globl	swz_stub_function
	.hidden	swz_stub_function
swz_stub_function:
	movl	$14, %eax			/* rt_sigprocmask */
	movl	$2, %edi			/* SIG_SETMASK */
	leaq	ALL_SIGNALS(%rbx), %rsi
	leaq	SIGNALS(%rbx), %rdx
	movl	$8, %r10d
	syscall
	movl	$-1, %eax
	movl	$-1, %edx
	xsave64	STATE(%rbx)
	fninit
	call	*ERRNO_PLACE(%rbx)
	movl	(%rax), %r12d
	movq	%rax, %r13
	movq	ARGUMENTS(%rbx), %rdi
	movq	ARGUMENTS+8(%rbx), %rsi
	movq	ARGUMENTS+16(%rbx), %rdx
	movq	ARGUMENTS+24(%rbx), %rcx
	call	*FUNCTION(%rbx)
	movq	%rax, RESULT(%rbx)
	movl	%r12d, (%r13)
	movl	$-1, %eax
	movl	$-1, %edx
	xrstor64 STATE(%rbx)
	movl	$14, %eax
	movl	$2, %edi
	leaq	SIGNALS(%rbx), %rsi
	xorl	%edx, %edx
	movl	$8, %r10d
	syscall
	movq	BACK(%rbx), %rsp
	movq	$1, DONE(%rbx)			/* what %rbx leads to is free now */
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbp
	popq	%rbx
	popq	%r11
	popq	%r10
	popq	%r9
	popq	%r8
	popq	%rax
	popq	%rcx
	popq	%rdx
	popq	%rsi
	popq	%rdi
	popfq
	ret	$128
	.globl	swz_stub_function_end
	.hidden	swz_stub_function_end
swz_stub_function_end:

	.section .note.GNU-stack, "", @progbits
