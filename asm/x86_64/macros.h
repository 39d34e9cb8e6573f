#ifndef SWZ_ASM_MACROS_H
#define SWZ_ASM_MACROS_H

#include "offsets.h"

/* At the beginning of a cache line: on processors of AMD (Zen 4) a hook that begins
 * in the midst of one costs a recursion 2 ns a call. */
#define FUNC(name)               \
	.globl name;             \
	.hidden name;            \
	.type name, @function;   \
	.balign 64;              \
name:                            \
	.cfi_startproc

#define END(name)                \
	.cfi_endproc;            \
	.size name, . - name

/* push and pop of a register that the unwinder should find again */
.macro SAVE reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
	.cfi_rel_offset \reg, 0
.endm

.macro RESTORE reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
	.cfi_restore \reg
.endm

/* the same for a value of our own */
.macro PUSH reg
	pushq	\reg
	.cfi_adjust_cfa_offset 8
.endm

.macro POP reg
	popq	\reg
	.cfi_adjust_cfa_offset -8
.endm

/* For C, which needs DF clear: the program may have set it. What else it may have in
 * its flags, C leaves alone, and a hook keeps the arithmetic ones by itself. No popf:
 * where a tracer steps through it, the kernel takes TF for the program's own from
 * there on, and the program ends by SIGTRAP when it is let go. */
.macro SAVE_DIRECTION
	pushfq
	.cfi_adjust_cfa_offset 8
	cld
.endm

.macro RESTORE_DIRECTION
	testb	$4, 1(%rsp)			/* DF */
	leaq	8(%rsp), %rsp
	.cfi_adjust_cfa_offset -8
	jz	.Lforwards\@
	std
.Lforwards\@:
.endm

/* Calls FUNCTION(thread, thunk), which lie in \thread and %rcx, in the midst of
 * a hook: keeps %rcx, %rsi, %rdi, %r8, %r9; %rax is what it returns. */
.macro CALL_IN_HOOK function, thread
	.cfi_remember_state
	PUSH	%rcx
	PUSH	%rsi
	PUSH	%rdi
	PUSH	%r8
	PUSH	%r9
	PUSH	%r10
	SAVE	%r11
	SAVE	%rbp
	SAVE_DIRECTION
	movq	\thread, %rdi
	movq	%rcx, %rsi
	movq	%rsp, %rbp
	.cfi_def_cfa_register %rbp
	andq	$-16, %rsp
	call	\function
	movq	%rbp, %rsp
	.cfi_def_cfa_register %rsp
	RESTORE_DIRECTION
	RESTORE	%rbp
	RESTORE	%r11
	POP	%r10
	POP	%r9
	POP	%r8
	POP	%rdi
	POP	%rsi
	POP	%rcx
	.cfi_restore_state
.endm

/* How each hook begins: the trampoline or thunk has pushed %rax. */
.macro BEGIN_HOOK
	.cfi_def_cfa_offset 16
	.cfi_rel_offset %rax, 0
.endm

/* Two instructions that become one (src/runtime/hooks/thread_life.c): \reg is one of
 * the first eight. */
.macro GET_THREAD reg
.Laccess\@:
	movq	swz_thread_self@gottpoff(%rip), \reg
	movq	%fs:(\reg), \reg
	.pushsection .rodata.thread_accesses, "a", @progbits
	.long	.Laccess\@ - .
	.popsection
.endm

/* At entry: thread-local storage may be zeros (src/runtime/record/thread.h). */
.macro NEED_THREAD reg, none
	testq	\reg, \reg
	jz	\none
.endm

/* Saves the registers that a hook uses, and has the thread's state in \thread
 * as soon as that is saved: what comes behind waits for it. */
.macro SAVE_THREE thread
	SAVE	%rcx
	SAVE	%rdx
	.ifc	\thread, %rdx
	GET_THREAD %rdx
	.endif
	SAVE	%rsi
	.ifc	\thread, %rsi
	GET_THREAD %rsi
	.endif
.endm

.macro SAVE_FOUR thread
	SAVE_THREE \thread
	SAVE	%rdi
.endm

.macro SAVE_FIVE thread
	SAVE_FOUR \thread
	SAVE	%r8
.endm

.macro SAVE_SEVEN thread
	SAVE_FIVE \thread
	SAVE	%r9
	SAVE	%r10
.endm

.macro RESTORE_FOUR
	RESTORE	%rdi
	RESTORE	%rsi
	RESTORE	%rdx
	RESTORE	%rcx
.endm

.macro RESTORE_FIVE
	RESTORE	%r8
	RESTORE_FOUR
.endm

.macro RESTORE_SEVEN
	RESTORE	%r10
	RESTORE	%r9
	RESTORE_FIVE
.endm

/* The arithmetic flags, in %rax as sahf wants them. */
.macro SAVE_FLAGS
	lahf
	seto	%al
	pushq	%rax
	.cfi_adjust_cfa_offset 8
.endm

.macro RESTORE_FLAGS
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addb	$0x7f, %al			/* OF */
	sahf					/* SF ZF AF PF CF */
.endm

/* A unit of the profile becomes the address of the node there, and back. */
.macro NODE_AT reg, thread
	shlq	$6, \reg
	addq	SWZ_THREAD_FILE(\thread), \reg
.endm

.macro UNIT_OF reg, thread
	subq	SWZ_THREAD_FILE(\thread), \reg
	shrq	$6, \reg
.endm

/* A unit becomes the address of its links. */
.macro LINKS_AT reg, thread
	shlq	$SWZ_LINKS_SHIFT, \reg
	addq	SWZ_THREAD_LINKS(\thread), \reg
.endm

/* True if \address is that of a thunk's code; or of its data. */
.macro IS_THUNK address, spare, yes
	leaq	swz_arena_start(%rip), \spare
	subq	\address, \spare
	negq	\spare
	cmpq	$SWZ_ARENA_BYTES, \spare
	jb	\yes
.endm

/* The unit in %rax becomes the address of the node, with ZF on if that is of the
 * edge; %rdx = thread. */
.macro COMPARE_EDGE site, key, else
	NODE_AT	%rax, %rdx
	cmpq	\site, SWZ_NODE_CALL_SITE(%rax)
	jne	\else
	cmpq	\key, SWZ_NODE_KEY(%rax)
.endm

/* The same with the unit at a place in a context's table; goes on behind if it is
 * another edge's. */
.macro PROBE place, site, key, found, none
	movl	\place, %eax
	testl	%eax, %eax
	jz	\none
	COMPARE_EDGE \site, \key, .Lother\@
	je	\found
.Lother\@:
.endm

/* At a child's place, which may be empty; %rdx = thread. */
.macro PROBE_CHILD place, site, key, found
	movl	\place, %eax
	testl	%eax, %eax
	jle	.Lother_child\@
	COMPARE_EDGE \site, \key, .Lother_child\@
	je	\found
.Lother_child\@:
.endm

/* %rax = what an edge's places are found by (SWZ_HASH_MULTIPLIER). */
.macro SUM_OF_EDGE site, key, function
	movl	\function, %eax
	leaq	(\key,%rax,8), %rax
	.ifnc	\site, $0
	addq	\site, %rax
	.endif
.endm

/* %rdx = thread: \links = those of the context in which the edge begins. */
.macro LINKS_OF_KEY links, key
	movq	\key, \links
	shrq	$32, \links
	LINKS_AT \links, %rdx
.endm

/* Finds an edge (src/runtime/record/edge_table.h): %rax = its node, unit = that's
 * own; %rdx = thread, \function = the last half of \key. Mostly it is at its first
 * place among its context's children; FIND_LATER belongs to it, out of the way, with
 * the labels `later` and `no_child`. */
.macro FIND_EDGE unit, site, key, function, later, no_child
	SUM_OF_EDGE \site, \key, \function
	LINKS_OF_KEY \unit, \key
	andl	$SWZ_CHILDREN - 1, %eax
	movl	SWZ_LINKS_CHILDREN(\unit,%rax,4), %eax
	movq	%rax, \unit
	testl	%eax, %eax
	jle	\no_child			/* 0, or they are in the table */
	COMPARE_EDGE \site, \key, \later
	jne	\later
.endm

/* Among the other children; or at one of its first places (SWZ_TABLE_PROBES) in the
 * context's table, which has as many entries more behind its last. The mask is read
 * first: a signal handler may let the table grow. */
.macro FIND_LATER unit, site, key, function, found, none, later, no_child
\later:
	LINKS_OF_KEY \unit, \key
	.irp	child, 0, 4, 8, 12
	PROBE_CHILD SWZ_LINKS_CHILDREN+\child(\unit), \site, \key, .Lfound_there\@
	.endr
	jmp	\none
\no_child:
	jz	\none
	SUM_OF_EDGE \site, \key, \function
	imulq	swz_hash_multiplier(%rip), %rax
	shrq	$SWZ_HASH_SHIFT, %rax
	LINKS_OF_KEY \unit, \key
	andl	SWZ_LINKS_TABLE_MASK(\unit), %eax
	movslq	SWZ_LINKS_TABLE(\unit), \unit	/* the place, yet */
	shlq	$SWZ_TABLE_SHIFT, \unit
	addq	SWZ_THREAD_TABLES(%rdx), \unit
	addq	%rax, \unit
	.irp	place, 0, 4, 8, 12, 16
	PROBE	\place(\unit), \site, \key, found=.Lfound_there\@, none=\none
	.endr
	jmp	\none
.Lfound_there\@:
	movq	%rax, \unit
	UNIT_OF	\unit, %rdx
	jmp	\found
.endm

/* For the entry hooks that keep seven registers: S-80 is -8(%rsp). */

/* %rcx = body, which goes to S-80, %rdx = thread: %rcx = the unit and %rax = the
 * node of the edge that came at this point last time (%r10: where it says so), if
 * it is this call's. %r9 = function id, %rdi = return address, %rsi = key. */
.macro FIND_EXPECTED else
	movq	SWZ_THREAD_EXPECTED(%rdx), %r10	/* what came here last time */
	movq	%rcx, -8(%rsp)			/* S-80: body */
	movl	-4(%rcx), %r9d			/* r9 = function id */
	movl	(%r10), %ecx			/* rcx = unit */
	movq	72(%rsp), %rdi			/* rdi = return address */
	movq	SWZ_THREAD_KEY(%rdx), %rsi
	orq	%r9, %rsi			/* rsi = the edge's key */
	movq	%rcx, %rax
	COMPARE_EDGE %rdi, %rsi, \else
	jne	\else
.endm

/* Another one: it will be found at once next time. %rax = the node that was
 * expected; if it is one of a jump, this is likely to be a jump, too, which is
 * never found by its return address. */
.macro FIND_UNEXPECTED found, jumped
	cmpq	$0, SWZ_NODE_CALL_SITE(%rax)
	je	.Lmay_be_jump\@
.Lother_edge\@:
	FIND_EDGE %rcx, %rdi, %rsi, %r9d, later=.Llater\@, no_child=.Lno_child\@
.Lthere\@:
	movl	%ecx, (%r10)
	jmp	\found
.Lmay_be_jump\@:
	IS_THUNK %rdi, %rcx, yes=\jumped
	jmp	.Lother_edge\@
	FIND_LATER %rcx, %rdi, %rsi, %r9d, found=.Lthere\@, none=.Lnot_there\@, \
		later=.Llater\@, no_child=.Lno_child\@
.Lnot_there\@:
	IS_THUNK %rdi, %rcx, yes=\jumped
.endm

/* %r8 = links of unit 0, %rcx = unit, %rax = node: %rcx = a thunk of the edge,
 * taken, S-80 = where its call goes, %rsi = the latest frame, %r10 = slot.
 * TAKE_SHARED belongs to it, out of the way, at the label `shared`, and comes back
 * to `taken`. */
.macro TAKE_THUNK none, shared, taken
	shlq	$SWZ_LINKS_SHIFT, %rcx
	addq	%rcx, %r8			/* r8 = the edge's links */
	movq	SWZ_LINKS_FREE(%r8), %rdi
	testq	%rdi, %rdi
	jle	\shared
	movq	SWZ_THREAD_TOP(%rdx), %rsi	/* the latest frame lies above */
	leaq	72(%rsp), %r10			/* this one, or was skipped */
	cmpq	%r10, SWZ_THUNK_SLOT(%rsi)
	jbe	\none
	movq	SWZ_THUNK_NEXT_FREE(%rdi), %rcx
	movq	%rcx, SWZ_LINKS_FREE(%r8)
	movq	%rdi, %rcx			/* rcx = thunk, taken */
	subq	$SWZ_UNIT_CODE_BYTES, %rdi
	movq	%rdi, -8(%rsp)			/* S-80: its code */
\taken:
	movq	$0, SWZ_THUNK_START(%rcx)	/* nothing accounted yet */
	movq	%r10, SWZ_THUNK_SLOT(%rcx)
	movq	%rsi, SWZ_THUNK_LINK(%rcx)
.endm

/* Followers are used on the stack that the thread began on alone. */
.macro CHECK_AT_HOME slot, thread, spare, else
	movq	SWZ_THREAD_COLD(\thread), \spare
	cmpq	SWZ_COLD_HOME_LOW(\spare), \slot
	jb	\else
	cmpq	SWZ_COLD_HOME_HIGH(\spare), \slot
	jae	\else
.endm

/* A deeper frame is likely to come. */
.macro FETCH_NEXT thunk, spare
	movq	SWZ_THUNK_NEXT_FREE(\thunk), \spare
	negq	\spare
	prefetcht0 (\spare)
.endm

/* ZF: the edge has no thunk. Else its first one is -%rdi, a follower; or it shares
 * those of the list ~%rdi. What was another edge's becomes its own when no signal
 * handler can take it any more. */
.macro TAKE_SHARED none, taken
	jz	\none
	movq	SWZ_THREAD_TOP(%rdx), %rsi
	leaq	72(%rsp), %r10
	cmpq	%r10, SWZ_THUNK_SLOT(%rsi)
	jbe	\none
	movq	%rdi, %rcx
	testb	$SWZ_IS_LIST, %dil
	jz	.Lfollows\@
	testl	$SWZ_HOT_CALLS - 1, SWZ_NODE_CALLS(%rax)
	jz	\none				/* it may get its own */
	notq	%rdi
	movq	%rdi, %r8			/* r8 = where the list begins */
	movq	(%r8), %rcx
	testq	%rcx, %rcx
	jz	\none
	js	.Lfollows\@
	movq	SWZ_THUNK_NEXT_FREE(%rcx), %rdi
	movq	%rdi, (%r8)
	leaq	-SWZ_UNIT_CODE_BYTES(%rcx), %rdi
	jmp	.Lmake_own\@
.Lfollows\@:
	CHECK_AT_HOME %r10, %rdx, %rdi, else=\none
	negq	%rcx
	movq	SWZ_THUNK_NEXT_FREE(%rcx), %rdi
	movq	%rdi, (%r8)
	FETCH_NEXT %rcx, %rdi
	movq	SWZ_THUNK_BODY(%rcx), %rdi	/* its leader's code */
.Lmake_own\@:
	movq	%rdi, -8(%rsp)			/* S-80 */
	MAKE_OWN %rcx, %r8
	jmp	\taken
.endm

/* Where a call goes that has taken the thunk: \code, which may be the same. */
.macro CODE_OF thunk, code, spare
	movq	SWZ_THUNK_BODY(\thunk), %rax
	IS_THUNK %rax, \spare, yes=.Lled\@
	leaq	-SWZ_UNIT_CODE_BYTES(\thunk), %rax
.Lled\@:
	movq	%rax, \code
.endm

/* \thunk = the latest frame's, if it follows the one that this was. */
.macro LED_BY thunk, thread, spare, else
	leaq	-SWZ_UNIT_CODE_BYTES(\thunk), \spare
	movq	SWZ_THREAD_TOP(\thread), \thunk
	cmpq	\spare, SWZ_THUNK_BODY(\thunk)
	jne	\else
.endm

/* Goes to `yes` if the frame of \thunk stands for \function already, also by one of
 * its latest tail calls, or for more than LOOKED_AT + 1 functions, or is closed.
 * %rdx = thread; changes %rax and \record. Where there may be jumps without a
 * record behind the records (\low is the low byte of \record), it may, too. */
#define LOOKED_AT 3
.macro STANDS_FOR thunk, function, record, yes, low
	movl	SWZ_THUNK_NODE(\thunk), %eax
	NODE_AT	%rax, %rdx
	cmpl	\function, SWZ_NODE_FUNCTION(%rax)
	je	\yes
	movq	SWZ_THUNK_PENDING(\thunk), \record
	cmpq	$SWZ_IS_CLOSED, \record
	je	\yes
	.rept	LOOKED_AT
	cmpq	$SWZ_IS_JUMPS, \record		/* SWZ_FIRST_FRAME, or none */
	jbe	.Lnot_yet\@
	.ifnb	\low
	testb	$SWZ_IS_JUMPS, \low
	jnz	\yes
	.endif
	movl	SWZ_THUNK_NODE(\record), %eax
	NODE_AT	%rax, %rdx
	cmpl	\function, SWZ_NODE_FUNCTION(%rax)
	je	\yes
	movq	SWZ_THUNK_PENDING(\record), \record
	.endr
	cmpq	$SWZ_IS_JUMPS, \record
	ja	\yes
.Lnot_yet\@:
.endm

/* For those hooks too. A hooked function has ended in a jump to this one: %rdi = the
 * return address, which is a thunk's code; %rcx = a record for it, taken, %rsi =
 * node, %rdi = thunk. Not if the frame is not the latest. */
.macro TAKE_RECORD none
	andq	$-SWZ_THUNK_BYTES, %rdi
	addq	$SWZ_UNIT_CODE_BYTES, %rdi	/* rdi = thunk */
	cmpq	%rdi, SWZ_THREAD_TOP(%rdx)
	jne	.Lmay_lead\@
.Llatest\@:
	leaq	72(%rsp), %rax
	cmpq	%rax, SWZ_THUNK_SLOT(%rdi)	/* no copy */
	jne	\none
	STANDS_FOR %rdi, %r9d, %rcx, yes=\none
	movl	(%r10), %ecx			/* the edge that is expected? */
	movq	%rcx, %rax
	COMPARE_EDGE $0, %rsi, .Lother_edge\@
	je	.Lfound\@
.Lother_edge\@:				/* the call site is 0 */
	FIND_EDGE %rcx, $0, %rsi, %r9d, later=.Llater\@, no_child=.Lno_child\@
	jmp	.Lthere\@
.Lmay_lead\@:
	LED_BY	%rdi, %rdx, %rcx, else=\none
	jmp	.Llatest\@
	FIND_LATER %rcx, $0, %rsi, %r9d, found=.Lthere\@, none=\none, \
		later=.Llater\@, no_child=.Lno_child\@
.Lthere\@:
	movl	%ecx, (%r10)
.Lfound\@:
	movq	%rax, %rsi			/* rsi = node */
	movl	%ecx, -16(%rsp)
	movq	SWZ_THREAD_COLD(%rdx), %r10
	movq	SWZ_COLD_RECORDS(%r10), %rax	/* the list, as a whole */
	testq	%rax, %rax
	jz	\none
	xorl	%ecx, %ecx
	cmpxchgq %rcx, SWZ_COLD_RECORDS(%r10)
	jne	\none
	movq	SWZ_THUNK_LINK(%rax), %rcx	/* and the rest of it back */
	movq	%rcx, SWZ_COLD_RECORDS(%r10)
	movq	%rax, %rcx			/* rcx = record */
	movl	-16(%rsp), %eax
	movl	%eax, SWZ_THUNK_NODE(%rcx)
	movq	SWZ_THUNK_PENDING(%rdi), %rax
	movq	%rax, SWZ_THUNK_PENDING(%rcx)
.endm

/* Hangs \record from the frame of \thunk, behind what hangs from the record already.
 * That may have gone where a signal handler has switched to another stack and comes
 * back: two frames can have one thunk then, and no record may be in two places.
 * Changes %rax. */
.macro PUSH_RECORD record, thunk
	movq	SWZ_THUNK_PENDING(\record), %rax
.Lpush\@:
	cmpxchgq \record, SWZ_THUNK_PENDING(\thunk)
	je	.Lpushed\@
	movq	%rax, SWZ_THUNK_PENDING(\record)
	cmpq	$SWZ_IS_CLOSED, %rax
	jne	.Lpush\@
.Lpushed\@:
.endm

/* Takes \record, the latest, from the frame of \thunk: who does so ends it. All are
 * taken, and the rest put back: what comes behind a record is known only to who has
 * it. Where it is not the latest any more, \record becomes the one that is, if any,
 * and it goes on at `gone`. Changes %rax and \next. */
.macro POP_RECORD record, thunk, next, gone
	movq	\record, %rax
	xorl	%e\next, %e\next
	cmpxchgq %r\next, SWZ_THUNK_PENDING(\thunk)
	movq	%rax, \record
	jne	\gone
	movq	SWZ_THUNK_PENDING(\record), %r\next
	movq	%r\next, SWZ_THUNK_PENDING(\thunk)
	movq	$0, SWZ_THUNK_PENDING(\record)	/* an end to any circle */
.endm

/* Sets the thunk's node and parent, which are those of %rax = node; %rdx =
 * thread. */
.macro MAKE_OWN thunk, spare
	movq	%rax, \spare
	UNIT_OF	\spare, %rdx
	movl	\spare\()d, SWZ_THUNK_NODE(\thunk)
	movl	SWZ_NODE_KEY+4(%rax), \spare\()d
	movl	\spare\()d, SWZ_THUNK_PARENT(\thunk)
.endm

/* The exit hooks are there twice: for thunks that stand for a frame each, and, with
 * SWZ_FOLLOWING, for leaders (thunks/arena.h).
 *
 * IS_LATEST: %rcx = the thunk that was returned to, \slot = the return slot from
 * %rsp: is its frame the latest, as it mostly is? Of a leader's, %rcx becomes the
 * thunk of that. Nor is it in a forked child. Changes %rax and \spare.
 *
 * AS_HELD: how a list of free thunks holds the thunk. */
.macro IS_LATEST thread, slot, spare, else
#ifdef SWZ_FOLLOWING
	movq	SWZ_THREAD_TOP(\thread), \spare
	testq	\spare, \spare
	jz	\else
	leaq	-SWZ_UNIT_CODE_BYTES(%rcx), %rax
	cmpq	%rax, SWZ_THUNK_BODY(\spare)
	jne	\else
	leaq	\slot(%rsp), %rax
	cmpq	%rax, SWZ_THUNK_SLOT(\spare)
	jne	\else
	movq	\spare, %rcx
#else
	cmpq	%rcx, SWZ_THREAD_TOP(\thread)
	jne	\else
#endif
.endm

#ifdef SWZ_FOLLOWING
#define EXIT_HOOK(kind) swz_hook_exit_following##kind
#define AS_HELD(thunk) negq thunk
#else
#define EXIT_HOOK(kind) swz_hook_exit##kind
#define AS_HELD(thunk)
#endif

/* %rax = how long a call of the node has taken that is marked by a negative
 * min_ticks, %rdx = node, %rsi = thread: its min_ticks, and a note of the call with
 * its bucket (src/base/time_bucket.h, runtime/record/counts.h). Changes %rax,
 * %rcx and %rdi. A signal handler may make notes at any instruction: so a place is
 * taken only if it is free. Goes to `none` if it is not, and comes back to `done`
 * then: ADD_TIME_RARELY belongs to it, out of the way, and changes %rdx, too. */
.macro ADD_TIME none, done
	btsq	$63, %rax
	cmpq	SWZ_NODE_MIN_TICKS(%rdx), %rax
	jae	.Lnot_least\@
	movq	%rax, SWZ_NODE_MIN_TICKS(%rdx)
.Lnot_least\@:
	btrq	$63, %rax
	movq	%rax, %rcx
	orq	$1 << SWZ_BLOCK_SHIFT, %rcx
	bsrq	%rcx, %rcx
	subl	$SWZ_BLOCK_SHIFT, %ecx		/* ecx = octave */
	shrq	%cl, %rax
	shll	$SWZ_BLOCK_SHIFT, %ecx
	addl	%eax, %ecx			/* ecx = bucket */
	orl	$SWZ_NOTED_TIME, %ecx
	movl	SWZ_NODE_FUNCTION(%rdx), %eax
	shlq	$32, %rax
	orq	%rax, %rcx			/* rcx = note */
	movq	SWZ_THREAD_TIMES(%rsi), %rdi
	xorl	%eax, %eax
	cmpxchgq %rcx, (%rdi)
	jne	\none
	addq	$8, %rdi
	movq	%rdi, SWZ_THREAD_TIMES(%rsi)
\done:
.endm

.macro ADD_TIME_RARELY none, done
\none:
	CALL_IN_HOOK swz_histogram_pass, %rsi
	jmp	\done
.endm

/* For the exit hooks that time every call. %rsi = thread, %rdx = node, %rax = now:
 * accounts the end of an activation that began with a jump, and frees its record.
 * Changes %r8 and %r9. LEAVE_RECORD_RARELY belongs to it, out of the way. */
.macro LEAVE_RECORD record
	addq	%rax, SWZ_NODE_TICKS(%rdx)
	subl	$SWZ_NODE_OPEN_ONE, SWZ_NODE_OPEN(%rdx)
	movl	SWZ_NODE_FUNCTION(%rdx), %r8d
	shlq	$2, %r8
	addq	SWZ_THREAD_OPEN(%rsi), %r8
	addl	$1, (%r8)
	jnz	4f
	addq	%rax, SWZ_NODE_OUTER_TICKS(%rdx)
4:	movq	%rax, %r8
	subq	SWZ_THUNK_START(\record), %r8
	cmpq	SWZ_NODE_MAX_TICKS(%rdx), %r8
	jbe	5f
	movq	%r8, SWZ_NODE_MAX_TICKS(%rdx)
5:	movq	SWZ_NODE_MIN_TICKS(%rdx), %r9
	decq	%r9
	cmpq	%r9, %r8
	jbe	.Lnew_record_min
6:	movq	SWZ_THREAD_COLD(%rsi), %r8
	movq	%rax, %r9
	movq	SWZ_COLD_RECORDS(%r8), %rax
7:	movq	%rax, SWZ_THUNK_LINK(\record)
	cmpxchgq \record, SWZ_COLD_RECORDS(%r8)
	jne	7b
	movq	%r9, %rax
.endm

/* (exit.S has two words in the red zone meanwhile.) */
.macro LEAVE_RECORD_RARELY
.Lnew_record_min:
	cmpq	$0, SWZ_NODE_MIN_TICKS(%rdx)
	js	.Lrecord_in_histogram
	testq	%r8, %r8			/* as below */
	js	6b
	movq	%r8, SWZ_NODE_MIN_TICKS(%rdx)
	jmp	6b
.Lrecord_in_histogram:
	.cfi_remember_state
	leaq	-16(%rsp), %rsp
	.cfi_adjust_cfa_offset 16
	PUSH	%rax
	PUSH	%rcx
	PUSH	%rdi
	movq	%r8, %rax
	ADD_TIME none=.Lno_record_counter, done=.Lrecord_counted
	POP	%rdi
	POP	%rcx
	POP	%rax
	leaq	16(%rsp), %rsp
	.cfi_adjust_cfa_offset -16
	jmp	6b
	.cfi_adjust_cfa_offset 40
	ADD_TIME_RARELY none=.Lno_record_counter, done=.Lrecord_counted
	.cfi_restore_state
.endm

/* For the exit hooks that time every call. %rcx = thunk, %rsi = thread, %rdx =
 * node, %rax = now, %r8 = start: accounts the end of the activation, and of the
 * frame. LEAVE_NODE_RARELY belongs to it, out of the way. */
.macro LEAVE_NODE
	addq	%rax, SWZ_NODE_TICKS(%rdx)
	subl	$SWZ_NODE_OPEN_ONE, SWZ_NODE_OPEN(%rdx)
	movl	SWZ_NODE_FUNCTION(%rdx), %edi
	shlq	$2, %rdi
	addq	SWZ_THREAD_OPEN(%rsi), %rdi
	addl	$1, (%rdi)			/* back to 0: it was outermost */
	jnz	1f
	addq	%rax, SWZ_NODE_OUTER_TICKS(%rdx)
1:	subq	%r8, %rax			/* rax = duration */
	cmpq	SWZ_NODE_MAX_TICKS(%rdx), %rax
	ja	.Lnew_max
2:	movq	SWZ_NODE_MIN_TICKS(%rdx), %rdi
	decq	%rdi				/* 0, none yet, is the largest */
	cmpq	%rdi, %rax			/* (less than 0: always) */
	jbe	.Lnew_min
3:	movl	SWZ_THUNK_NODE(%rcx), %edx
	LINKS_AT %rdx, %rsi			/* rdx = its edge's links */
	leaq	SWZ_LINKS_NEXT(%rdx), %rdi
	movq	%rdi, SWZ_THREAD_EXPECTED(%rsi)
	movq	SWZ_THUNK_LINK(%rcx), %rdi	/* until here whoever finds the */
	movq	%rdi, SWZ_THREAD_TOP(%rsi)	/* frame skipped closes it */
	movq	$0, SWZ_THUNK_SLOT(%rcx)	/* no longer live */
	movq	SWZ_LINKS_FREE(%rdx), %rdi	/* back to the free ones */
	testb	$SWZ_IS_LIST, %dil
	jnz	.Lshared
4:	movq	%rdi, SWZ_THUNK_NEXT_FREE(%rcx)
	AS_HELD(%rcx)
	movq	%rcx, SWZ_LINKS_FREE(%rdx)
.endm

.macro LEAVE_NODE_RARELY
.Lnew_max:
	movq	%rax, SWZ_NODE_MAX_TICKS(%rdx)
	jmp	2b
.Lnew_min:
	cmpq	$0, SWZ_NODE_MIN_TICKS(%rdx)
	js	.Lin_histogram
	testq	%rax, %rax			/* a hook that was left in its midst */
	js	3b				/* began later than it ended: no time */
	movq	%rax, SWZ_NODE_MIN_TICKS(%rdx)
	jmp	3b
.Lin_histogram:
	movq	%rcx, %r8
	ADD_TIME none=.Lno_counter, done=.Lcounted
	movq	%r8, %rcx
	jmp	3b
	ADD_TIME_RARELY none=.Lno_counter, done=.Lcounted
.Lshared:					/* a list of several edges' */
	notq	%rdi
	movq	%rdi, %rdx
	movq	(%rdx), %rdi
	jmp	4b
.endm

#endif
