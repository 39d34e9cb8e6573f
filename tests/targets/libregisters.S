# build: -Wl,-z,noexecstack
/* The machine state around a call: probe() loads everything from `enter` and
 * calls `probed`, one of the functions below, which stores what it finds in
 * `seen` and leaves with `leave`; what is there after the call goes to `after`.
 * struct state in tests/targets/registers.c has the offsets. */

#define RAX 0
#define RBX 8
#define RCX 16
#define RDX 24
#define RSI 32
#define RDI 40
#define RBP 48
#define RSP 56
#define R8 64
#define R9 72
#define R10 80
#define R11 88
#define R12 96
#define R13 104
#define R14 112
#define R15 120
#define FLAGS 128
#define FX 192
#define MASKS 704
#define VECTORS 768
#define TILE_CONFIG 2816
#define TILES 2880
#define PKRU 11072
#define BYTES 11136

	.macro	SAVE_ALL to
	pushfq
	popq	\to+FLAGS(%rip)
	movq	%rax, \to+RAX(%rip)
	movq	%rbx, \to+RBX(%rip)
	movq	%rcx, \to+RCX(%rip)
	movq	%rdx, \to+RDX(%rip)
	movq	%rsi, \to+RSI(%rip)
	movq	%rdi, \to+RDI(%rip)
	movq	%rbp, \to+RBP(%rip)
	movq	%rsp, \to+RSP(%rip)
	movq	%r8, \to+R8(%rip)
	movq	%r9, \to+R9(%rip)
	movq	%r10, \to+R10(%rip)
	movq	%r11, \to+R11(%rip)
	movq	%r12, \to+R12(%rip)
	movq	%r13, \to+R13(%rip)
	movq	%r14, \to+R14(%rip)
	movq	%r15, \to+R15(%rip)
	fxsave64 \to+FX(%rip)
	cld
	cmpl	$0, has_pkru(%rip)
	je	6f
	xorl	%ecx, %ecx
	rdpkru
	movl	%eax, \to+PKRU(%rip)
6:	cmpl	$0, has_tiles(%rip)
	je	6f
	sttilecfg \to+TILE_CONFIG(%rip)
	cmpb	$0, \to+TILE_CONFIG(%rip)
	je	6f
	movl	$64, %ecx
	.irp	n, 0,1,2,3,4,5,6,7
	leaq	\to+TILES+1024*\n(%rip), %rax
	tilestored %tmm\n, (%rax,%rcx,1)
	.endr
6:	cmpl	$1, vector_level(%rip)
	jb	8f
	je	7f
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 %zmm\n, \to+VECTORS+64*\n(%rip)
	.endr
	kmovq	%k0, \to+MASKS(%rip)
	kmovq	%k1, \to+MASKS+8(%rip)
	kmovq	%k2, \to+MASKS+16(%rip)
	kmovq	%k3, \to+MASKS+24(%rip)
	kmovq	%k4, \to+MASKS+32(%rip)
	kmovq	%k5, \to+MASKS+40(%rip)
	kmovq	%k6, \to+MASKS+48(%rip)
	kmovq	%k7, \to+MASKS+56(%rip)
	jmp	8f
7:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu	%ymm\n, \to+VECTORS+64*\n(%rip)
	.endr
8:
	.endm

	.macro	LOAD_ALL from
	fxrstor64 \from+FX(%rip)
	cmpl	$0, has_pkru(%rip)
	je	6f
	xorl	%ecx, %ecx
	xorl	%edx, %edx
	movl	\from+PKRU(%rip), %eax
	wrpkru
6:	cmpl	$0, has_tiles(%rip)
	je	6f
	ldtilecfg \from+TILE_CONFIG(%rip)
	movl	$64, %ecx
	.irp	n, 0,1,2,3,4,5,6,7
	leaq	\from+TILES+1024*\n(%rip), %rax
	tileloadd (%rax,%rcx,1), %tmm\n
	.endr
6:	cmpl	$1, vector_level(%rip)
	jb	8f
	je	7f
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vmovdqu64 \from+VECTORS+64*\n(%rip), %zmm\n
	.endr
	kmovq	\from+MASKS(%rip), %k0
	kmovq	\from+MASKS+8(%rip), %k1
	kmovq	\from+MASKS+16(%rip), %k2
	kmovq	\from+MASKS+24(%rip), %k3
	kmovq	\from+MASKS+32(%rip), %k4
	kmovq	\from+MASKS+40(%rip), %k5
	kmovq	\from+MASKS+48(%rip), %k6
	kmovq	\from+MASKS+56(%rip), %k7
	jmp	8f
7:
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15
	vmovdqu	\from+VECTORS+64*\n(%rip), %ymm\n
	.endr
8:	movq	\from+RAX(%rip), %rax
	movq	\from+RBX(%rip), %rbx
	movq	\from+RCX(%rip), %rcx
	movq	\from+RDX(%rip), %rdx
	movq	\from+RSI(%rip), %rsi
	movq	\from+RDI(%rip), %rdi
	movq	\from+RBP(%rip), %rbp
	movq	\from+R8(%rip), %r8
	movq	\from+R9(%rip), %r9
	movq	\from+R10(%rip), %r10
	movq	\from+R11(%rip), %r11
	movq	\from+R12(%rip), %r12
	movq	\from+R13(%rip), %r13
	movq	\from+R14(%rip), %r14
	movq	\from+R15(%rip), %r15
	pushq	\from+FLAGS(%rip)
	popfq
	.endm

	.macro	FUNC name
	.text
	.balign	16
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.macro	PUSH register
	pushq	\register
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \register, 0
	.endm

	.macro	POP register
	popq	\register
	.cfi_adjust_cfa_offset -8
	.cfi_restore \register
	.endm

	.macro	PROBE name, room
	FUNC	\name
	PUSH	%rbx
	PUSH	%rbp
	PUSH	%r12
	PUSH	%r13
	PUSH	%r14
	PUSH	%r15
	subq	$\room, %rsp
	.cfi_adjust_cfa_offset \room
	fxsave64 kept(%rip)
	LOAD_ALL enter_state
	call	*probed(%rip)
	SAVE_ALL after_state
	fxrstor64 kept(%rip)
	cmpl	$0, has_tiles(%rip)
	je	9f
	tilerelease
9:	cmpl	$0, vector_level(%rip)
	je	9f
	vzeroupper
9:	addq	$\room, %rsp
	.cfi_adjust_cfa_offset -\room
	POP	%r15
	POP	%r14
	POP	%r13
	POP	%r12
	POP	%rbp
	POP	%rbx
	ret
	END	\name
	.endm

/* void probe(void), and the same with a stack pointer that is out of line. */
	PROBE	probe, 8
	PROBE	probe_misaligned, 16

/* Entered by a call; by a jump; through ten functions that jump. Lasts as many
 * ticks as `lasting` says, and forks if `forked` is not 0: that is then what fork
 * has returned. */
	FUNC	snapshot
	SAVE_ALL seen_state
	rdtsc
	movl	%eax, %ecx
1:	rdtsc
	subl	%ecx, %eax
	cmpl	lasting(%rip), %eax
	jb	1b
	cmpl	$0, forked(%rip)
	je	2f
	movl	$57, %eax
	syscall
	movl	%eax, forked(%rip)
2:	LOAD_ALL leave_state
	ret
	END	snapshot

/* void clobber(void): other values in all registers that a call may change. */
	FUNC	clobber
	cmpl	$0, has_tiles(%rip)
	je	9f
	ldtilecfg clobber_config(%rip)
	.irp	n, 0,1,2,3,4,5,6,7
	tilezero %tmm\n
	.endr
	tilerelease
9:	cmpl	$2, vector_level(%rip)
	jne	9f
	.irp	n, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
	vpternlogd $0xff, %zmm\n, %zmm\n, %zmm\n
	.endr
	.irp	n, 0,1,2,3,4,5,6,7
	kxnorq	%k\n, %k\n, %k\n
	.endr
	vzeroupper
9:	fninit
	ret
	END	clobber

	FUNC	hop
	nopl	0(%rax)
	jmp	snapshot_here
	END	hop

	.set	snapshot_here, snapshot

	.macro	HOP name, next
	FUNC	\name
	endbr64
	nopl	0(%rax)
	jmp	\next\()_here
	END	\name
	.set	\name\()_here, \name
	.endm

	HOP	hop1, snapshot
	HOP	hop2, hop1
	HOP	hop3, hop2
	HOP	hop4, hop3
	HOP	hop5, hop4
	HOP	hop6, hop5
	HOP	hop7, hop6
	HOP	hop8, hop7
	HOP	hop9, hop8
	HOP	hop10, hop9

/* struct states *states(void): what registers.c shares with this file. */
	FUNC	states
	leaq	shared(%rip), %rax
	ret
	END	states

	.section .rodata
	.balign	64
clobber_config:
	.byte	1, 0
	.skip	14
	.rept	8
	.short	64
	.endr
	.skip	16
	.rept	8
	.byte	16
	.endr
	.skip	8

	.bss
	.balign	64
shared:
enter_state:
	.skip	BYTES
seen_state:
	.skip	BYTES
leave_state:
	.skip	BYTES
after_state:
	.skip	BYTES
probed:	.skip	8
vector_level:
	.skip	4
has_tiles:
	.skip	4
has_pkru:
	.skip	4
lasting:
	.skip	4
forked:
	.skip	40
kept:	.skip	512

	.section .note.GNU-stack, "", @progbits
