#ifndef SWZ_BASE_RESUME_CALL_H
#define SWZ_BASE_RESUME_CALL_H

/* The assembler reads this, too. */
/* clang-format off */

/* Gives back the rest of a system call that a stop has cut short
 * (src/control/resume_call.c, which writes the frame). A macro, as it stands
 * twice: in the library (wrappers.S), and in stub.S for the time before the
 * library is loaded.
 *
 * In:   %rsp, the frame: its offsets are below; the registers of the call.
 *       Behind the frame lies data of the call's, then the address to go to, then
 *       the 128 bytes below the thread's own stack pointer that it may use.
 * Out:  %rax, the call's result; all other registers as the kernel leaves them. */

#define RESUME_SUM	0
#define RESUME_NUMBER	8
#define RESUME_RDI	16
#define RESUME_RSI	24
#define RESUME_RDX	32
#define RESUME_R10	40
#define RESUME_R8	48
#define RESUME_R9	56
#define RESUME_RCX	64
#define RESUME_R11	72
#define RESUME_FLAGS	80
#define RESUME_STACK	88
/* Entries, from the beginning of the code on. */
#define RESUME_REST	0	/* the call goes on, and adds its result to the sum */
#define RESUME_AWAIT	96	/* ppoll for the rest of the time, then the call */
#define RESUME_BYTES	128

#ifdef __ASSEMBLER__

/* The thread's own stack pointer: the word at %rsp + OFFSET, and 136 more.
 * DW_CFA_def_cfa_expression (DW_OP_breg7 OFFSET, DW_OP_deref, DW_OP_plus_uconst) */
.macro RESUME_CFA offset
	.cfi_escape 0x0f, 7, 0x77, 0x80 | (\offset & 0x7f), \offset >> 7, 0x06, \
		0x23, 0x88, 0x01
.endm

.macro RESUME_CALL
	RESUME_CFA RESUME_STACK
	.cfi_offset %rip, -136
0:	syscall
	movq	RESUME_SUM(%rsp), %rcx
	cmpq	$-4096, %rax
	ja	1f
	addq	%rcx, %rax
	jmp	2f
1:	testq	%rcx, %rcx			/* an error after a part is told by */
	cmovneq	%rcx, %rax			/* the next call, as the kernel does */
2:	movq	RESUME_RDI(%rsp), %rdi
	movq	RESUME_RSI(%rsp), %rsi
	movq	RESUME_RDX(%rsp), %rdx
	movq	RESUME_R10(%rsp), %r10
	movq	RESUME_R8(%rsp), %r8
	movq	RESUME_R9(%rsp), %r9
	movq	RESUME_RCX(%rsp), %rcx
	movq	RESUME_R11(%rsp), %r11
	leaq	RESUME_FLAGS(%rsp), %rsp
	RESUME_CFA (RESUME_STACK - RESUME_FLAGS)
	popfq
	RESUME_CFA 0
	popq	%rsp
	.cfi_def_cfa %rsp, 136
	ret	$128
	.org	0b + RESUME_AWAIT, 0xcc
	RESUME_CFA RESUME_STACK
	syscall					/* ppoll */
	testq	%rax, %rax
	js	2b
	jnz	3f
	movq	RESUME_SUM(%rsp), %rax		/* time is over: what the call says then */
	jmp	2b
3:	movq	RESUME_NUMBER(%rsp), %rax
	movq	RESUME_STACK(%rsp), %rcx
	subq	$2, (%rcx)			/* to the system call again */
	jmp	2b
	.org	0b + RESUME_BYTES, 0xcc
.endm

#else

/* The library's. */
void swz_resume_call(void);

#endif
#endif
