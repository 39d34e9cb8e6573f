/* Functions whose unwind entries are of every kind, and code without any: for
 * tests of stack walks. Nothing here is run. A label t_..., a little behind the
 * beginning of its function, is at a pc whose frame is as the comment says
 * (tests/unit/walked_stack.h). */

	.macro	LABEL name
	.globl	\name
\name:
	.endm

	.macro	GAP
	.skip	16, 0x90
	.endm

	.text
	/* two words below the return address, rbp in the upper one */
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	pushq	%rbx
	.cfi_def_cfa_offset 24
	.cfi_offset %rbx, -24
LABEL	t_by_rsp_at
	nop
	ret
	.cfi_endproc

	/* the same, at its end */
	.cfi_startproc
	.cfi_offset %rbp, -16
	.cfi_offset %rbx, -24
LABEL	t_popped_at
	ret
	.cfi_endproc

	/* a frame with rbp */
	.cfi_startproc
	pushq	%rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp, -16
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
LABEL	t_by_rbp_at
	nop
	ret
	.cfi_endproc

	/* GCC's main with an aligned stack: CFA = *(rbp - 8), rbp saved at rbp */
	.cfi_startproc
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
LABEL	t_aligned_at
	nop
	ret
	.cfi_endproc

	/* CFA = rbx + 16 */
	.cfi_startproc
	.cfi_def_cfa %rbx, 16
LABEL	t_by_rbx_at
	nop
	ret
	.cfi_endproc

	/* a PLT entry's: CFA = rsp + 8 + ((rip & 15) >= 11) * 8 */
	.p2align 4
	.cfi_startproc
	.cfi_escape 0x0f, 0x0b, 0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a, 0x3b, \
		0x2a, 0x33, 0x24, 0x22
LABEL	t_plt_at
	.skip	11, 0x90
LABEL	t_plt_pushed
	.skip	5, 0x90
	.cfi_endproc

	/* the return address in rdi, no stack used */
	.cfi_startproc
	.cfi_def_cfa_offset 0
	.cfi_register %rip, %rdi
LABEL	t_in_rdi_at
	nop
	ret
	.cfi_endproc

	/* an aligned stack, but rbp is saved at rbp + 8 */
	.cfi_startproc
	.cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
	.cfi_escape 0x10, 0x06, 0x02, 0x76, 0x08
LABEL	t_aligned_8_at
	nop
	ret
	.cfi_endproc

	/* the return address in a register that is none: xmm0 */
	.cfi_startproc
	.cfi_escape 0x09, 0x10, 0x11
LABEL	t_in_xmm_at
	nop
	ret
	.cfi_endproc

	/* CFA by rax, where rbp and r12 were saved above it, far away */
	.cfi_startproc
	.cfi_def_cfa %rax, 8
	.cfi_offset %r12, 0x10000
LABEL	t_far_at
	nop
	.cfi_offset %rbp, 0x10000
LABEL	t_far_rbp_at
	nop
	ret
	.cfi_endproc

	/* a signal's trampoline as glibc describes it, as far as needed */
	.cfi_startproc
	.cfi_signal_frame
	.cfi_escape 0x0f, 0x04, 0x77, 0xa0, 0x01, 0x06
	.cfi_escape 0x10, 0x10, 0x03, 0x77, 0xa8, 0x01
	.cfi_escape 0x10, 0x06, 0x03, 0x77, 0xf8, 0x00
	.cfi_escape 0x10, 0x03, 0x03, 0x77, 0x80, 0x01
	.cfi_escape 0x10, 0x00, 0x03, 0x77, 0x90, 0x01
	nop
LABEL	t_signal_at
	nop
	nop
	.cfi_endproc

	/* two without an entry */
	.p2align 4
	GAP
LABEL	t_bare_signal_at
	movq	$15, %rax
LABEL	t_bare_signal_call
	syscall
	GAP
LABEL	t_short_signal_at
	movl	$15, %eax
LABEL	t_short_signal_call
	syscall
	GAP

	/* the outermost */
	.cfi_startproc
root:
	.cfi_undefined %rip
	nop
LABEL	t_root_at
	nop
	.cfi_endproc

	/* no entry */
	.p2align 4
	GAP
LABEL	t_bare_begin
	pushq	%rbp
LABEL	t_bare_pushed
	movq	%rsp, %rbp
LABEL	t_bare_at
	nop
	call	*%rax
LABEL	t_bare_called
	nop
LABEL	t_bare_end
	addq	$0x18, %rsp
	popq	%r12
	popq	%rbp
	ret
LABEL	t_bare_end_called
	addq	$8, %rsp
	ret
	GAP

	/* clone(): what the new thread does first has an entry again */
LABEL	t_clone_at
	testq	%rax, %rax
	jl	root
	je	root
	ret
	GAP

	/* functions whose first byte is put on a stack by hand */
	.p2align 4
	GAP
	.cfi_startproc
LABEL	t_entry_at
	nop
	ret
	.cfi_endproc
	.cfi_startproc
LABEL	t_entry_close
	ret
	.cfi_endproc

	/* it leaves the stack, and calls, as glibc's __start_context does */
	GAP
	.cfi_startproc
LABEL	t_leaving_at
	movq	%rbx, %rsp
	call	root
LABEL	t_leaving_called
	hlt
	.cfi_endproc

	/* the last instruction of a function is a call that never returns */
	.cfi_startproc
	.cfi_def_cfa_offset 16
	call	*8(%rax,%rbx)
LABEL	t_behind_call
	.cfi_endproc
	.cfi_startproc
	nop
	.cfi_endproc

	.section .note.GNU-stack, "", @progbits
