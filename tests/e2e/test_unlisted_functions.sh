# shellcheck shell=bash
# Functions with neither an unwind entry nor a symbol, as the assembly of codecs is
# once it is stripped.
# run: first
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc strip

# Planned, planned and kept, and as it was kept. A line of `expected`: NAME SUB CALLS.
assert_calls_are_expected() { # PROGRAM
	local options name sub calls got

	for options in --no-cache '' ''; do
		# shellcheck disable=SC2206 # one, or none
		RUN_OPTIONS=($options)
		assert_same_as_native "$1"
		assert_complete profile
		dump_table profile
		while read -r name sub calls; do
			got=$(row table calls "$sub")
			assert_eq "$calls" "${got:-0}" "calls of $name"
		done <expected
	done
	RUN_OPTIONS=()
}

cat >bare.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.text
	.macro	BARE name, align=16
	.balign	\align, 0xcc
	.globl	\name
	.hidden	\name
	.type	\name, @function
\name:
	.endm

	/* what is around them: much, so that it is worth while to look */
	.macro	ONE_OF_MANY n
	BARE	many_\n
	leal	\n(%rdi), %eax
	xorl	$0x55555555, %eax
	xorl	$0x55555555, %eax
	movl	%eax, %ecx
	leal	(%rcx), %eax
	ret
	.endm
	.altmacro
	.macro	MANY n
	ONE_OF_MANY \n
	.if \n
	MANY %(\n - 1)
	.endif
	.endm
	MANY	63

	BARE	with_frame		/* aligned, as for vectors */
	pushq	%rbx
	movq	%rsp, %rax
	subq	$64, %rsp
	andq	$-64, %rsp
	movq	%rax, 48(%rsp)
	movl	%edi, (%rsp)
	testl	%edi, %edi
	jz	1f
	addl	$7, (%rsp)
1:	movl	(%rsp), %ebx
	movl	%ebx, %eax
	movq	48(%rsp), %rsp
	popq	%rbx
	ret

	BARE	with_switch
	andl	$1, %edi
	leaq	table(%rip), %rcx
	movslq	(%rcx,%rdi,4), %rdx
	testl	%esi, %esi
	js	3f
	addq	%rcx, %rdx
	jmp	*%rdx
1:	movl	$11, %eax
	ret
2:	movl	$12, %eax
	ret
3:	movl	$13, %eax
	ret
	.section .rodata
	.balign	4
table:	.long	1b - table, 2b - table
	.text

	BARE	calls_helper
	pushq	%rdi
	call	helper
	popq	%rdi
	addl	%edi, %eax
	ret

	BARE	helper, 1		/* called by one that was found only */
	leal	100(%rdi), %eax
	ret

	BARE	jumps_on		/* a tail call, as called */
	incl	%edi
	jmp	jumped_to
	BARE	jumped_to
	leal	1000(%rdi), %eax
	ret

	BARE	runs_on			/* into the next, as called */
	addl	$5, %edi
	.balign	16
	BARE	run_into
	leal	3(%rdi), %eax
	ret

	/* ---- what is none, or must be left alone */

	BARE	reads_its_caller
	movq	(%rsp), %rax
	ret

	BARE	reads_by_copy
	movq	%rsp, %rcx
	pushq	%rdi
	movq	(%rcx), %rax
	popq	%rdi
	ret

	BARE	pops_its_caller
	popq	%rax
	pushq	%rax
	ret

	BARE	saves_context
	leaq	8(%rsp), %rdx
	movq	%rdx, (%rdi)
	movq	(%rsp), %rdx
	movq	%rdx, 8(%rdi)
	xorl	%eax, %eax
	ret
	BARE	goes_there
	movl	$1, %eax
	movq	(%rdi), %rsp
	movq	8(%rdi), %rdx
	jmp	*%rdx

	/* a part of its function, with things pushed; it looks like one */
	BARE	has_part
	pushq	%rdi
	testl	%edi, %edi
	jns	part
	popq	%rax
	ret
	BARE	part
	movq	(%rsp), %rax
	addl	$40, %eax
	jmp	.Lback
.Lback:	addq	$8, %rsp
	ret

	/* likewise, only jumped to from what nothing is known to lead to */
	BARE	goes_by_table
	pushq	%rdi
	leaq	table_2(%rip), %rcx
	movslq	(%rcx), %rdx
	testl	%edi, %edi
	js	2f
	addq	%rcx, %rdx
	jmp	*%rdx
2:	popq	%rax
	ret
1:	incq	(%rsp)
	jmp	part_2
	.section .rodata
	.balign	4
table_2: .long	1b - table_2
	.text
	BARE	part_2
	movl	$1, %edx
	cmpl	$2, %edx
	je	3f
	leaq	8(%rsp), %rsp
	leal	60(%rdi), %eax
3:	ret

	/* and without anything pushed, but with a value below the stack */
	BARE	keeps_below
	movl	%edi, -8(%rsp)
	jmp	part_3
	BARE	part_3
	movl	-8(%rsp), %eax
	addl	$80, %eax
	ret

	/* an interpreter's instructions: pointers to them lie in a table */
	BARE	interpret		/* (program, table) */
	pushq	%rbx
	movq	%rsi, %rbx
	xorl	%eax, %eax
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_add
	addl	$2, %eax
	incq	%rdi
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_twice
	addl	%eax, %eax
	incq	%rdi
	movzbl	(%rdi), %ecx
	jmp	*(%rbx,%rcx,8)
	BARE	op_end
	popq	%rbx
	ret

	/* data: read by whoever has its address, in C and here */
	BARE	numbers
	.byte	0x8d, 0x47, 0x01, 0xc3, 0x8d, 0x47, 0x02, 0xc3
	.byte	0x8d, 0x47, 0x03, 0xc3, 0x8d, 0x47, 0x04, 0xc3
	BARE	sum_of_numbers
	leaq	numbers(%rip), %rdx
	xorl	%eax, %eax
	xorl	%ecx, %ecx
1:	addb	(%rdx,%rcx), %al
	incl	%ecx
	cmpl	$16, %ecx
	jb	1b
	ret
	BARE	more_numbers		/* the address of which lies in a table */
	.quad	0x1122334455667788, 0x99aabbccddeeff00
	.quad	0x0123456789abcdef, 0xfedcba9876543210
END
cat >bare.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MANY(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) \
	X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) \
	X(26) X(27) X(28) X(29) X(30) X(31)
#define DECLARE(n) int many_##n(int);
#define LIST(n) many_##n,
#define STORE(n) table->many[n] = many_##n;
#define FUNCTIONS(X) \
	X(with_frame, 1) X(with_switch, 1) X(calls_helper, 1) X(jumps_on, 1) \
	X(jumped_to, 1) X(runs_on, 1) X(run_into, 1) X(sum_of_numbers, 1) \
	X(has_part, 0) X(goes_by_table, 0) X(keeps_below, 0)
#define DECLARE_2(name, found) int name(int, int);

#define PRAGMA_(x) _Pragma(#x)
#define PRAGMA(x) PRAGMA_(x)
PRAGMA(GCC visibility push(VISIBILITY))
MANY(DECLARE)
FUNCTIONS(DECLARE_2)
extern int helper(int), part(int), part_2(int), part_3(int), op_add(int), op_twice(int),
	op_end(int);
extern char *reads_its_caller(void), *reads_by_copy(void), *pops_its_caller(void);
extern int saves_context(void **), goes_there(void **);
extern int interpret(const char *, int (*const *)(int));
extern const unsigned char numbers[16], more_numbers[32];
#pragma GCC visibility pop
extern char __executable_start, etext;

/* in data */
int (*const by_data[])(int) = {MANY(LIST)};
int (*const operations[])(int) = {op_end, op_add, op_twice};
const void *volatile others[] = {part, part_2, more_numbers, numbers, part_3};
struct table {
	int (*many[32])(int);
	int (*other[12])(int, int);
	char *(*look[3])(void);
	const void *numbers;
} stored;

/* by instructions, as codecs fill in their tables */
__attribute__((noinline)) void fill(struct table *table)
{
	unsigned n = 0;

	MANY(STORE)
#define STORE_2(name, found) table->other[n++] = name;
	FUNCTIONS(STORE_2)
	table->look[0] = reads_its_caller;
	table->look[1] = reads_by_copy;
	table->look[2] = pops_its_caller;
	table->numbers = numbers;
}

__attribute__((noinline)) static void say(const char *name, const void *at, int calls)
{
	fprintf(stderr, "%s sub_%lx %d\n", name,
		(long)((const char *)at - &__executable_start), calls);
}

int main(void)
{
	static const char program[] = {1, 1, 2, 1, 2, 0};
	void *context[2];
	unsigned sum = 0;

	fill(&stored);
	for (int i = 0; i < 10; i++) {
		for (int n = 0; n < 32; n++)
			sum += (unsigned)(stored.many[n](i) + by_data[n](n));
		for (int n = 0; stored.other[n]; n++)
			printf("%d ", stored.other[n](i, i - 1));
		for (int n = 0; n < 3; n++) {
			char *from = stored.look[n]();

			printf("%d ", from > &__executable_start && from < &etext);
		}
		printf("%d %d\n", interpret(program, operations), helper(i));
	}
	if (saves_context(context) == 0)
		goes_there(context);
	for (unsigned i = 0; i < 16; i++)
		sum = 31 * sum + ((const unsigned char *)others[3])[i];
	for (unsigned i = 0; i < 32; i++)
		sum = 31 * sum + ((const unsigned char *)others[2])[i];
	printf("%u\n", sum);
	for (int n = 0; n < 32; n++)
		say("many", (const void *)by_data[n], 20);
#define SAY(name, found) if (found) say(#name, (const void *)name, \
	10 * (1 + (name == jumped_to) + (name == run_into)));
	FUNCTIONS(SAY)
	say("helper", (const void *)helper, 20);
	return 0;
}
END

# Not hidden in C, they are found by way of the GOT.
for pie in -DVISIBILITY=hidden '-DVISIBILITY=hidden -Wl,-z,pack-relative-relocs' \
	-DVISIBILITY=default; do
	it "found by what leads to them ($pie)"
	# shellcheck disable=SC2086 # an option or two
	gcc -O2 -fPIE -pie $pie -o bare bare.c bare.S 2>gcc.err ||
		if grep -q pack-relative gcc.err; then
			continue # an older linker
		else
			abort 'bare is not built'
		fi
	strip bare
	./bare >/dev/null 2>expected
	assert_ge "$(wc -l <expected)" 40 'functions'
	assert_calls_are_expected ./bare
done

it 'called by instructions, at a fixed address'
gcc -O2 -no-pie -fno-pie -DVISIBILITY=hidden -o bare bare.c bare.S || abort 'bare is not built'
strip bare
assert_same_as_native ./bare
assert_complete profile

# What was compiled without unwind tables may have a runtime in it that looks for
# code of its making at return addresses (Chromium, Qt WebEngine have V8).
cat >tableless.c <<'END'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int call_one(unsigned n);
void say_all(void);
extern char **call_made;
extern char *made_begin, *made_end;

int main(void)
{
	/* sub $8, %rsp; mov %rsp, (%rdi); call *%rsi; add $8, %rsp; ret */
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x27, 0xff, 0xd6,
		0x48, 0x83, 0xc4, 0x08, 0xc3};
	int sum = 0;

	made_begin = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made_end = made_begin + sizeof(code);
	memcpy(made_begin, code, sizeof(code));
	for (unsigned i = 0; i < 20000; i++)
		sum += call_one(i);
	printf("%d\n", sum);
	say_all();
	return 0;
}
END
{
	cat <<'END'
#include <stdio.h>
#include <stdlib.h>
#define HIDDEN __attribute__((visibility("hidden")))
char **call_made;
char *made_begin, *made_end;
extern const char __ehdr_start HIDDEN;
static __thread int of_thread __attribute__((tls_model("initial-exec")));
static int shared;
HIDDEN int looks_at_made(int x)
{
	(void)x;
	return call_made[-1] > made_begin && call_made[-1] < made_end;
}
HIDDEN int has_thread_local(int x) { return of_thread += x; }
HIDDEN int has_atomic(int x) { return __atomic_fetch_add(&shared, x, __ATOMIC_SEQ_CST); }
HIDDEN int has_crash(int x)
{
	if (x > 1000000) {
		__asm__ volatile("int3; ud2");
		__builtin_unreachable();
	}
	return x + 1;
}
/* The call at the end does not return; behind it is padding of two kinds. (gcc puts
 * such a part elsewhere.) */
HIDDEN int ends_in_call(int x);
HIDDEN int ends_in_call_2(int x);
#define ENDS_IN_CALL(name, padding) \
	__asm__(".balign 16, 0xcc\n" #name ": leal 2(%rdi), %eax\n" \
		"	cmpl $1000000, %edi\n jg 1f\n ret\n" \
		"1:	pushq %rax\n call abort@plt\n" padding)
/* nor does what nothing leads to */
__asm__(".balign 16, 0xcc\n pushq %rax\n call abort@plt\n");
ENDS_IN_CALL(ends_in_call, ".balign 16, 0xcc");
HIDDEN int (*volatile next)(int) = has_crash;
HIDDEN int ends_in_jump(int x)
{
	printf("%s", x > 1000000 ? "large" : "");
	return next(x);
}
/* a convention of its own: %rbx is what it is given, %r12 what it changes */
HIDDEN int own_convention(int x);
HIDDEN int calls_own(int x);
__asm__(".balign 16, 0xcc\n"
	"own_convention: leal 5(%rbx), %r12d\n movl %r12d, %eax\n ret\n"
	".balign 16, 0xcc\n"
	"calls_own: pushq %rbx\n pushq %r12\n pushq %rax\n movl %edi, %ebx\n"
	"	call own_convention\n"
	"	popq %rdx\n popq %r12\n popq %rbx\n ret\n"
	".balign 16, 0xcc\n");
/* (what is behind it must be known to be a function) */
ENDS_IN_CALL(ends_in_call_2, ".balign 16");
HIDDEN int (*const volatile special[])(int) = {looks_at_made, has_thread_local,
	has_atomic, has_crash, ends_in_call, ends_in_jump, calls_own,
	ends_in_call_2};
HIDDEN int called_by_made(int x) { return special[0](x) + 1; }
HIDDEN int (*const volatile by_made)(int) = called_by_made;
END
	for ((i = 0; i < 5000; i++)); do
		echo "HIDDEN int f_$i(int x) { return x * 3 + $i; }"
	done
	echo 'HIDDEN int (*const functions[])(int) = {'
	for ((i = 0; i < 5000; i++)); do
		echo "f_$i,"
	done
	cat <<'END'
};
int call_one(unsigned n)
{
	if (n % 100 == 1)
		return special[1 + n / 100 % 7]((int)n);
	if (n % 100)
		return functions[n % 5000](1);
	return ((int (*)(char ***, int (*)(int)))made_begin)(&call_made, by_made);
}
/* (what counts from an address takes it for data) */
__attribute__((noipa)) static void say(const char *name, int (*f)(int), int calls)
{
	fprintf(stderr, "%s sub_%lx %d\n", name, (long)((char *)f - &__ehdr_start),
		calls);
}
void say_all(void)
{
	say("f_0", functions[0], 0);
	say("f_1", functions[1], 0);
	say("f_2", functions[2], 4);
	say("f_4999", functions[4999], 4);
	say("looks_at_made", special[0], 200);
	say("called_by_made", by_made, 0);
	say("has_thread_local", special[1], 29);
	say("has_atomic", special[2], 29);
	say("has_crash", special[3], 29 + 28);
	say("ends_in_call", special[4], 29);
	say("ends_in_jump", special[5], 28);
	say("calls_own", special[6], 28);
	say("ends_in_call_2", special[7], 28);
	say("own_convention", own_convention, 0);
}
END
} >tableless_lib.c
it 'found where hardly any function has an unwind entry'
gcc -O2 -fPIC -fno-asynchronous-unwind-tables -fno-unwind-tables -shared \
	-o libtableless.so tableless_lib.c || abort 'libtableless is not built'
# shellcheck disable=SC2016 # the linker's
gcc -O2 -o tableless tableless.c -L. -ltableless -Wl,-rpath,'$ORIGIN' ||
	abort 'tableless is not built'
strip libtableless.so
./tableless 2>expected >/dev/null
assert_eq 14 "$(wc -l <expected)" 'what the library says'
assert_calls_are_expected ./tableless

# A label of a computed goto, in a function without a frame, has the stack of a call;
# what it goes on to is in the midst of its function.
cat >printable.c <<'END'
#include <stdio.h>
#include <stdlib.h>

#define MANY(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define DEFINE(n) \
	__attribute__((noipa)) static long many_##n(long x) \
	{ \
		for (long i = 0; i < (x & 7); i++) \
			x = (x * 31 + (x >> 3)) ^ n; \
		return (x * 5 + (x >> 2)) * 7 + (x >> 5) + n; \
	}
#define LIST(n) many_##n,
MANY(DEFINE)
static long (*const volatile many[])(long) = {MANY(LIST)};

static const char *other_return_address;

/* What is done each time: long, so that it is not repeated at each label. */
#ifdef SWITCH
#define GO_ON \
	switch (p[-1] >> 2) { \
	case 0: out[1] += n; goto next; \
	case 1: out[2] ^= n; n *= 3; goto next; \
	case 2: out[3] += 5; n--; goto next; \
	case 3: out[4] -= n; n ^= 5; goto next; \
	case 4: out[5] += n; n += out[1]; goto next; \
	case 5: out[6] += n; n &= 0xffff; goto next; \
	case 6: return n * 5; \
	default: return n; \
	}
#else
#define GO_ON goto next;
#endif
#define RUN(name, each_time, result) \
	__attribute__((noipa)) static long name(const unsigned char *p, long most, \
						long *out) \
	{ \
		static const void *const labels[] = {&&add, &&twice, &&stop, &&back}; \
		volatile long kept[10] = {0}; \
		long n = 0; \
	next: \
		each_time; \
		goto *labels[*p++ & 3]; \
	add: \
		n += 3; \
		if (n > most) \
			return n; \
		goto next; \
	twice: \
		n *= 2; \
		if (n > most) \
			return n; \
		goto next; \
	back: \
		n -= 1; \
		if (n > most) \
			return n - 8; \
		GO_ON \
	stop: \
		(void)kept; \
		return result; \
	}
RUN(keeps_below,
	kept[n & 7] += n; kept[(n >> 3) & 7] ^= n * 31; kept[8] += kept[(n + 1) & 7];
	kept[9] += kept[8] * n; kept[(n >> 4) & 7] ^= n * 37; out[0] += n,
	kept[8] ^ kept[9])
RUN(looks_at_caller,
	out[0] += n; out[1] ^= out[0] * 5; out[2] += out[1]; out[3] ^= out[2] * 7;
	out[4] += out[3] * 9; out[5] += out[4] & out[3]; out[6] += out[5] ^ n;
	other_return_address = __builtin_return_address(0), n)

int main(void)
{
	static const unsigned char program[] = {
		0, 1, 0, 3, 1, 7, 1, 0, 11, 0, 3, 1, 15, 19, 2};
	static long out[8];
	long sum = 0;

	for (long i = 0; i < 3; i++) {
		for (int n = 0; n < 12; n++)
			sum += many[n](i);
		printf("%ld %ld\n", sum, keeps_below(program, 100000, out));
		printf("%ld", looks_at_caller(program, 100000, out));
		printf(" %ld\n", (long)(other_return_address - (const char *)main));
	}
	return 0;
}
END
for options in -O1 -O2 -O3 '-O2 -DSWITCH' '-O3 -DSWITCH'; do
	it "labels that look like functions ($options)"
	# shellcheck disable=SC2086 # one or two
	gcc $options -w -fPIE -pie -fno-asynchronous-unwind-tables -o labels printable.c ||
		abort 'labels is not built'
	strip labels
	assert_same_as_native ./labels
	assert_complete profile
done

# Each jumps on to the next: what is found out about the last goes back to the first
# in no more time than it takes to look at each.
it 'a hundred thousand functions that jump on'
{
	printf '\t.section .note.GNU-stack, "", @progbits\n\t.text\n'
	for ((i = 0; i < 100000; i++)); do
		printf '\t.balign 16, 0xcc\nf_%d:\tleal 1(%%rdi), %%edi\n' "$i"
		printf '\ttestl %%edi, %%edi\n\tjmp f_%d\n' $((i + 1))
	done
	printf '\t.balign 16, 0xcc\nf_%d:\tmovl %%edi, %%eax\n\tret\n' "$i"
	printf '\t.balign 16, 0xcc\n\t.section .data.rel.ro, "aw"\n'
	printf '\t.globl functions\n\t.hidden functions\nfunctions:\n'
	for ((i = 0; i <= 100000; i++)); do
		printf '\t.quad f_%d\n' "$i"
	done
} >chain.S
cat >chain.c <<'END'
#include <stdio.h>
extern int (*const functions[])(int) __attribute__((visibility("hidden")));
int main(void)
{
	printf("%d\n", functions[100000](1) + functions[0](1));
	return 0;
}
END
gcc -O2 -fPIE -pie -o chain chain.c chain.S || abort 'chain is not built'
strip chain
timeout 60 "$RUN" -q --no-cache -o profile ./chain >out 2>err ||
	fail "planning takes too long: status $?"
assert_eq 100002 "$(cat out)" 'result'
assert_complete profile

finish
