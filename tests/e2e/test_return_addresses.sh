# shellcheck shell=bash
# Functions that look at their callers' return addresses see the real ones.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets loads return_addresses returned
program=$TARGETS/return_addresses

it '__builtin_return_address of the levels 0 to 3'
assert_same_as_native "$program"
assert_complete profile

it 'only those are refused that are looked at'
assert_calls profile harmless 1 one_above 2 two_above 1 jumps 1 \
	own 3 calls_one_above 0 calls_two_above 1 calls_calls_two_above 0 \
	seldom_above 1 calls_in_part 0 \
	all_four 1 four_1 0 four_2 0 four_3 0 calls_jumps 0
"$RUN" --list -v "$program" >list
assert_matches list '  reads its return address +spread$'
assert_matches list '  patched +harmless_vectors$'
reason="calls a function that reads its caller's return address"
for name in calls_one_above calls_calls_two_above four_1 four_2 four_3 \
	calls_jumps; do
	assert_matches list "  $reason +$name\$"
done

it 'a function that is not hooked itself looks at its callers all the same'
RUN_OPTIONS=(-H one_above -H two_above)
assert_same_as_native "$program"
assert_calls profile one_above 0 two_above 0 calls_one_above 0 harmless 1

it 'a function that loads its own return address loads the real one'
program=$TARGETS/loads
"$RUN" --no-cache --list -v "$program" >list
sed -n '/libloads.so/,/^\//p' list >functions
assert_ge "$(grep -c ' patched ' functions)" 48 'patched functions'
assert_eq 0 "$(grep -c ' patched .* no_' functions)" 'those that cannot be'
assert_eq 0 "$(awk '$1 ~ /^[0-9a-f]+$/ && $2 ~ /^[0-9]+$/ && $3 != "patched" && $NF !~ /^no_/' \
	functions | wc -l)" 'those that can be, and are not'
# planned, from the plan cache, and in other modes
export XDG_CACHE_HOME=$TMP/cache
mkdir "$XDG_CACHE_HOME"
for options in --no-cache '' '' '--timing exact' '--timing sampled' '-m trace'; do
	[ "$options${TEST_MODE:-}" != '--timing sampledtrace' ] || continue
	# shellcheck disable=SC2206
	RUN_OPTIONS=($options)
	assert_same_as_native "$program"
	assert_complete profile
	dump_table profile
	names=$("$program" | sed 's/:.*//')
	assert_ge "$(echo "$names" | wc -l)" 15 'functions that it names'
	for name in $names; do
		case $name in
		no_*) expected= ;;
		recurses) expected=55 ;;
		at_once) expected=240 ;; # by 22 more, by one of them twice, too
		*) expected=10 ;;
		esac
		assert_eq "$expected" "$(row table calls "$name")" "calls of $name"
	done
done
id=$(readelf -n "$TARGETS/libloads.so" | sed -n 's/.*Build ID: //p')
assert_ge "$(find "$XDG_CACHE_HOME" -name "plan-$id-*" | wc -l)" 1 'plans'
unset XDG_CACHE_HOME

it 'also in a library that is loaded later, and again'
cat >again.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	for (int round = 0; round < 3; round++) {
		void *library = dlopen(argv[argc - 1], RTLD_NOW);
		long (*from_here)(void *, long) = 0;

		if (library)
			*(void **)&from_here = dlsym(library, "call_from_here");
		if (!from_here)
			return 1;
		printf("%ld %ld %ld\n",
		       from_here(dlsym(library, "far_load"), 0),
		       from_here(dlsym(library, "far_load_twice"), round),
		       from_here(dlsym(library, "far_load_and_a_number"), 0));
		dlclose(library);
	}
	return 0;
}
END
need gcc
gcc -o again again.c -ldl || abort 'again is not built'
RUN_OPTIONS=()
assert_same_as_native ./again "$TARGETS/libloads.so"
assert_complete profile
assert_calls profile far_load 3 far_load_twice 3 far_load_and_a_number 3 \
	at_once 9

# What leads to the load is an immediate of another function; the copy is not come
# to by it.
it 'the load is a label whose address an instruction holds'
cat >label.S <<'END'
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
END
cat >label.c <<'END'
#include <stdio.h>
char *reader(long n, void *to);
void *label_of_it(void);
int main(void)
{
	for (long n = 0; n < 10; n++)
		printf("%td %td\n", reader(n, NULL) - (char *)main,
		       reader(n, label_of_it()) - (char *)main);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o label label.c label.S || abort 'label is not built'
RUN_OPTIONS=()
assert_same_as_native ./label
assert_complete profile
assert_calls profile label_of_it 10

# The same where it is what would be displaced with a load, far from the function's
# beginning: by a table of labels, and by one of distances from a label.
it 'what is behind the load is a label in a table'
cat >tabled.S <<'END'
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
END
cat >tabled.c <<'END'
#include <stdio.h>
char *by_label(long n), *by_distance(long n);
int main(void)
{
	for (long n = 0; n < 3; n++)
		printf("%td %td\n",
		       n ? by_label(n) - (char *)0 : by_label(0) - (char *)main,
		       n ? by_distance(n) - (char *)0
			 : by_distance(0) - (char *)main);
	return 0;
}
END
gcc -O1 -no-pie -fno-pie -o tabled tabled.c tabled.S || abort 'tabled is not built'
assert_same_as_native ./tabled
assert_complete profile
assert_calls profile main 1 by_label 0 by_distance 0

# Of 16 bits each, and of 64 as distances, which are not read.
it 'what is behind the load is a label in a table of another kind'
cat >other_table.c <<'END'
#include <stdio.h>
int main(void);
__attribute__((noinline)) void note(const char *what, char *address)
{
	printf("%s %td\n", what, address ? address - (char *)main : 0);
}
__attribute__((noinline)) int same(int n)
{
	__asm__ volatile("");
	return n;
}
__attribute__((noinline)) int switches(int n, void *address)
{
	same(1);
	for (int i = 0; i < 3; i++) {
		switch (same(n + i)) {
		case 0: note("zero", address); break;
		case 1: address = __builtin_return_address(0); /* fall through */
		case 2: note("two", address); break;
		case 3: note("three", 0); break;
		case 4: n++; note("four", address); break;
		case 5: note("five", 0); break;
		default: same(9);
		}
	}
	return n;
}
__attribute__((noinline)) int goes(int n, void *address)
{
	static const short table[] = {&&a - &&a, &&b - &&a, &&c - &&a,
				      &&d - &&a, &&e - &&a};
	int i = 0;

	same(1);
	goto *(&&a + table[n]);
a:	note("a", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
b:	address = __builtin_return_address(0);
c:	note("c", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
d:	note("d", address);
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
e:	address = 0;
	if (i++ > 5)
		return i;
	goto *(&&a + table[same((n + i) % 5)]);
}
int main(void)
{
	for (int i = 0; i < 5; i++)
		same(switches(i, 0) + goes(i, 0));
	return 0;
}
END
for flags in -O1 -O2 '-O1 -fPIC -mcmodel=large' '-O2 -mindirect-branch=thunk'; do
	# shellcheck disable=SC2086
	gcc $flags -fno-omit-frame-pointer -o other_table other_table.c ||
		abort 'other_table is not built'
	assert_same_as_native ./other_table
	assert_complete profile
	assert_calls profile main 1
done

# GCC pushes the return address once more, where a debugger looks for it.
it 'a return address is read in a frame that is aligned and grows'
cat >aligned.c <<'END'
#include <stdio.h>
int main(void);
__attribute__((noinline)) void note(const char *what, char *address)
{
	printf("%s %td\n", what, address - (char *)main);
}
__attribute__((noinline)) long aligned(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 3;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its own", __builtin_return_address(0));
	return room[n];
}
__attribute__((noinline)) long above(long n)
{
	__attribute__((aligned(64))) volatile char room[64];
	char *more = __builtin_alloca(n + 5);

	room[n] = 4;
	__asm__ volatile("" : : "r"(more), "r"(room) : "memory");
	note("its caller's", __builtin_return_address(1));
	return room[n];
}
__attribute__((noinline, optimize("no-omit-frame-pointer"))) long calls(long n)
{
	return above(n) + 1;
}
int main(void)
{
	return aligned(3) + calls(5) == 8 ? 0 : 1;
}
END
for flags in -O0 -O1 -O2 -Os; do
	gcc $flags -o aligned aligned.c || abort 'aligned is not built'
	assert_same_as_native ./aligned
	assert_complete profile
	assert_calls profile main 1 note 2 aligned 0 calls 0
done

# Without a name it is told by the red zone, which it reads.
it 'a cold part reads the return address of its function'
cat >cold.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.text
	.globl parent
	.type parent, @function
parent: .cfi_startproc
	mov %rdi, -8(%rsp)
	test %rdi, %rdi
	jne parent.cold
	mov -8(%rsp), %rax
	ret
	.cfi_endproc
	.size parent, . - parent
	.section .text.unlikely, "ax", @progbits
	.type parent.cold, @function
parent.cold: .cfi_startproc
	mov -8(%rsp), %rcx
	mov (%rsp), %rax
	lea main(%rip), %rdx
	sub %rdx, %rax
	add %rcx, %rax
	ret
	.cfi_endproc
END
cat >cold.c <<'END'
#include <stdio.h>
long parent(long n);
int main(void)
{
	for (long n = 0; n < 4; n++)
		printf("%ld\n", parent(n));
	return 0;
}
END
gcc -O1 -o cold cold.c cold.S || abort 'cold is not built'
for stripped in '' yes; do
	[ -z "$stripped" ] || strip cold
	assert_same_as_native ./cold
	assert_complete profile
done

it 'a filter leaves out a function that looks at its return address'
RUN_OPTIONS=(-H no_half -H at_once)
assert_same_as_native "$program"
assert_complete profile
assert_calls profile at_once 0 behind_endbr 10 no_jumps 0

it 'functions without unwind tables that look at return addresses'
need gcc
RUN_OPTIONS=()
for how in -O0 '-O2 -fno-omit-frame-pointer'; do
	# shellcheck disable=SC2086
	gcc $how -fno-asynchronous-unwind-tables -fno-unwind-tables -o tableless \
		"$TOP/tests/targets/return_addresses.c" ||
		abort 'return_addresses is not built without tables'
	assert_same_as_native ./tableless
	assert_complete profile
	assert_calls profile harmless 1 own 0 calls_one_above 0 all_four 0
done

it 'a function without a table that goes to where it was called from'
cat >caller.S <<'END'
	.text
	.globl pops, keeps, counted
	.type pops, @function
pops:	pop %rax		# the return address
	lea -1(%rax), %rdx
	mov %rax, %rcx
	jmp *%rcx
	.size pops, . - pops
	.type keeps, @function
keeps:	push %rbx
	sub $16, %rsp
	test %edi, %edi
	jz 1f
	add $16, %rsp
	pop %rbx
	xor %eax, %eax
	ret
1:	mov 24(%rsp), %rax	# behind a return, too
	add $16, %rsp
	pop %rbx
	ret
	.size keeps, . - keeps
	.type counted, @function
counted: push %rbx
	mov 16(%rsp), %rax	# an argument on the stack
	mov (%rsp), %rbx	# what was pushed
	pop %rbx
	ret
	.size counted, . - counted
	.section .note.GNU-stack, "", @progbits
END
cat >caller.c <<'END'
#include <stdio.h>
char *keeps(int), *pops(void);
int main(void)
{
	long counted;
	for (int i = 0; i < 3; i++) {
		char *popped = pops(), *kept = keeps(0);
		__asm__ volatile("push %1\n call counted\n pop %%rdx"
				 : "=a"(counted)
				 : "r"(7l + i)
				 : "rdx", "rcx", "memory", "cc");
		printf("%td %td %d %ld\n", popped - (char *)main,
		       kept - (char *)main, keeps(1) == 0, counted);
	}
	return 0;
}
END
gcc -O1 -mno-red-zone -o caller caller.c caller.S || abort 'caller is not built'
assert_same_as_native ./caller
assert_complete profile
assert_calls profile main 1 counted 3 pops 0 keeps 0

# As above, in other shapes: what reads its return address behind a way for the
# stack pointer, and what looks alike.
it 'functions without a table, by what they do with the stack'
cat >shapes.S <<'SHAPES'
	.macro FUNC name
	.text
	.balign 16
	.globl \name
	.type \name, @function
\name:
	.endm
	.macro END name
	.size \name, . - \name
	.section .rodata
9000:	.asciz "\name"
	.section .data.rel.ro, "aw"
	.quad \name, 9000b
	.text
	.endm

	.section .data.rel.ro, "aw"
	.balign 8
	.globl shapes
shapes:
	FUNC no_sub
	push %rbx
	push %rbp
	push %r12
	sub $24, %rsp
	mov 48(%rsp), %rax
	jmp 1f
1:	add $24, %rsp
	pop %r12
	pop %rbp
	pop %rbx
	ret
	END no_sub
	FUNC no_pop_to_memory
	push %rbx
	push %rdi
	pop word(%rip)
	mov 8(%rsp), %rax
	pop %rbx
	ret
	END no_pop_to_memory
	FUNC no_leave
	push %rbp
	mov %rsp, %rbp
	push %rbx
	pop %rbx
	leave
	mov (%rsp), %rax
	ret
	END no_leave
	FUNC no_push_number
	push %rbx
	push $5
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_number
	FUNC no_push_wide_number
	push %rbx
	push $500
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_wide_number
	FUNC no_push_memory
	push %rbx
	push word(%rip)
	mov 16(%rsp), %rax
	jmp 1f
1:	pop %rcx
	pop %rbx
	ret
	END no_push_memory
	FUNC no_push_flags
	push %rbx
	pushf
	mov 16(%rsp), %rax
	jmp 1f
1:	popf
	pop %rbx
	ret
	END no_push_flags
	FUNC no_frame_given_up_in_part
	push %rbp
	mov %rsp, %rbp
	push %rbx
	sub $40, %rsp
	lea -8(%rbp), %rsp
	mov 16(%rsp), %rax
	pop %rbx
	pop %rbp
	ret
	END no_frame_given_up_in_part
	FUNC no_behind_jump
	push %rbx
	sub $16, %rsp
	test $1, %dil
	jz 1f
	xor %eax, %eax
	add $16, %rsp
	pop %rbx
	jmp 2f
1:	mov 24(%rsp), %rax
	jmp 3f
2:	ret
3:	add $16, %rsp
	pop %rbx
	ret
	END no_behind_jump
	FUNC no_behind_indirect_jump
	push %rbx
	sub $16, %rsp
	lea 2f(%rip), %rdx
	test $1, %dil
	jz 1f
	xor %eax, %eax
	add $16, %rsp
	pop %rbx
	jmp *%rdx
1:	mov 24(%rsp), %rax
	jmp 3f
2:	ret
3:	add $16, %rsp
	pop %rbx
	ret
	END no_behind_indirect_jump
	FUNC no_frame
	push %rbp
	mov %rsp, %rbp
	mov 8(%rbp), %rax
	pop %rbp
	ret
	END no_frame
	FUNC no_wide_distance
	push %rbx
	sub $1000, %rsp
	mov 1008(%rsp), %rax
	add $1000, %rsp
	pop %rbx
	ret
	END no_wide_distance
	FUNC other_frame
	push %rbx
	push %rbp
	mov %rsp, %rbp
	mov 8(%rbp), %rcx
	mov %edi, %eax
	pop %rbp
	pop %rbx
	ret
	END other_frame
	FUNC other_register
	push %r12
	lea -8(%rsp), %r12
	mov 8(%r12), %rcx
	mov %edi, %eax
	pop %r12
	ret
	END other_register
	FUNC with_index
	push %rbx
	lea 2(%rdi), %rcx
	mov 8(%rsp,%rcx,8), %rbx
	mov %edi, %eax
	pop %rbx
	ret
	END with_index
	.section .data.rel.ro, "aw"
	.quad 0, 0
	.local word
	.comm word, 8, 8
	.section .note.GNU-stack, "", @progbits
SHAPES
cat >shapes.c <<'END'
#include <stdio.h>
extern const struct {
	long (*function)(long);
	const char *name;
} shapes[];
int main(void)
{
	for (int i = 0; shapes[i].function; i++)
		for (long n = 0; n < 4; n++) {
			long got = shapes[i].function(n);

			if (got > 4)
				got -= (long)main;
			printf("%s %ld\n", shapes[i].name, got);
		}
	return 0;
}
END
gcc -O1 -o shapes shapes.c shapes.S || abort 'shapes is not built'
assert_same_as_native ./shapes
assert_complete profile
assert_calls profile other_frame 4 other_register 4 with_index 4
"$RUN" --list -v ./shapes >list
assert_eq 0 "$(grep -c ' patched .* no_' list)" 'hooked ones that read theirs'

it 'code that is returned to has no return address of its own'
assert_same_as_native "$TARGETS/returned"
assert_complete profile
assert_calls profile caller 1000 work 1000 returned 0 put_back 1000
for timing in exact sampled; do
	[ "$timing${TEST_MODE:-}" != sampledtrace ] || break # it has exact times
	RUN_OPTIONS=(--timing "$timing" -H work)
	assert_same_as_native "$TARGETS/returned"
done
RUN_OPTIONS=()

it 'a function that jumps to one that jumps to one that reads its return address'
cat >chain.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.macro	FUNC name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	ENDS name
	.cfi_endproc
	.size	\name, . - \name
	.endm

	.text
	FUNC	reader
	pushq	(%rsp)
	.cfi_adjust_cfa_offset 8
	popq	%rax
	.cfi_adjust_cfa_offset -8
	addq	$0, %rdi
	ret
	ENDS	reader
	.macro	JUMPER name, to
	FUNC	\name
	incq	%rdi
	testq	%rdi, %rdi
	jmp	\to
	ENDS	\name
	.endm
	JUMPER	one, reader
	JUMPER	two, one
	JUMPER	three, two
	JUMPER	two_cold, one		/* a part of `warm' */
	FUNC	warm
	incq	%rdi
	testq	%rdi, %rdi
	jns	two_cold
	xorl	%eax, %eax
	ret
	ENDS	warm
	JUMPER	to_warm, warm
	JUMPER	other, calls_reader
	FUNC	calls_reader
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	call	two
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	ENDS	calls_reader
END
cat >chain.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

char *reader(long), *one(long), *two(long), *three(long), *warm(long),
	*to_warm(long), *other(long);
extern char __executable_start, etext;
static int asked;

__attribute__((noinline)) void *next(const char *name)
{
	asked++;
	return dlsym(RTLD_NEXT, name);
}
__attribute__((noinline)) void *next_but_one(const char *name)
{
	asked += 2;
	return next(name);
}
static void say(const char *name, const char *from)
{
	printf("%s: %s\n", name, from >= &__executable_start && from < &etext
		? "in the program" : "elsewhere");
}

int main(void)
{
	for (int i = 0; i < 3; i++) {
		say("reader", reader(i));
		say("one", one(i));
		say("two", two(i));
		say("three", three(i));
		say("warm", warm(i));
		say("to_warm", to_warm(i));
		say("other", other(i));
		printf("next: %d\n", next("puts") != 0);
		printf("next but one: %d\n", next_but_one("puts") != 0);
	}
	return 0;
}
END
gcc -O2 -o chain chain.c chain.S || abort 'chain is not built'
for stripped in '' yes; do
	[ -z "$stripped" ] || strip chain
	assert_same_as_native ./chain
	assert_complete profile
done
gcc -O2 -o chain chain.c chain.S
assert_same_as_native ./chain
assert_calls profile main 1 other 3 calls_reader 3
"$RUN" --list -v ./chain >list
for name in reader one two three warm to_warm next next_but_one; do
	assert_matches list " tail-calls a function.* $name\$| reads its return.* $name\$"
done

# As hand-written cryptography keeps its frames: the address of the return slot is
# taken to a register, by which the frame is found then.
it 'the frame is found by another register, which holds the address of its slot'
cat >frames.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.bss
kept:	.quad 0

	.text
	.macro	FUNC name
	.balign	16
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	ENDS name
	.cfi_endproc
	.size	\name, . - \name
	.endm
	.macro	FRAME_BY reg		/* from the beginning to the end */
	lea	(%rsp), \reg
	.cfi_def_cfa_register \reg
	push	%rbp
	.cfi_offset %rbp, -16
	sub	$0x88, %rsp
	and	$-64, %rsp
	.endm
	.macro	LEAVE_BY reg
	mov	-8(\reg), %rbp
	.cfi_restore %rbp
	lea	(\reg), %rsp
	.cfi_def_cfa_register %rsp
	ret
	.endm

	FUNC	aligned
	FRAME_BY %r11
	movdqa	%xmm11, (%rsp)
	mov	%rdi, 0x10(%rsp)
	lea	(%rdi, %rdi), %rax
	add	8(%r11), %rax		/* an argument on the stack */
	LEAVE_BY %r11
	ENDS	aligned

	FUNC	at_the_end		/* only from the last calls on */
	push	%rbx
	.cfi_adjust_cfa_offset 8
	.cfi_offset %rbx, -16
	sub	$0x20, %rsp
	.cfi_adjust_cfa_offset 0x20
	mov	%rdi, %rbx
	call	ask
	add	%rbx, %rax
	lea	0x28(%rsp), %rsi
	.cfi_def_cfa %rsi, 8
	mov	-8(%rsi), %rbx
	.cfi_restore %rbx
	lea	(%rsi), %rsp
	.cfi_def_cfa_register %rsp
	ret
	ENDS	at_the_end

	FUNC	handed_on		/* %rax, then %rbp, then %rax */
	lea	(%rsp), %rax
	.cfi_def_cfa_register %rax
	push	%rbp
	.cfi_offset %rbp, -16
	push	%rbx
	.cfi_offset %rbx, -24
	mov	%rax, %rbp
	.cfi_def_cfa_register %rbp
	sub	$0x100, %rsp
	and	$-128, %rsp
	mov	%rdi, %rbx
	call	ask
	add	%rax, %rbx
	mov	%rbx, %rdx
	mov	%rbp, %rax
	.cfi_def_cfa_register %rax
	mov	-16(%rax), %rbx
	.cfi_restore %rbx
	mov	-8(%rax), %rbp
	.cfi_restore %rbp
	lea	(%rax), %rsp
	.cfi_def_cfa_register %rsp
	mov	%rdx, %rax
	ret
	ENDS	handed_on

	/* those that look */
	FUNC	loads
	FRAME_BY %r11
	mov	(%r11), %rax
	LEAVE_BY %r11
	ENDS	loads

	FUNC	loads_a_vector
	FRAME_BY %r9
	movq	(%r9), %xmm0
	movq	%xmm0, %rax
	LEAVE_BY %r9
	ENDS	loads_a_vector

	FUNC	loads_by_an_index
	FRAME_BY %r10
	xor	%ecx, %ecx
	mov	(%r10, %rcx), %rax
	LEAVE_BY %r10
	ENDS	loads_by_an_index

	FUNC	keeps
	FRAME_BY %rdx
	mov	%rdx, kept(%rip)
	mov	kept(%rip), %rcx
	mov	(%rcx), %rax
	LEAVE_BY %rdx
	ENDS	keeps

	FUNC	copies
	FRAME_BY %rdx
	mov	%rdx, %rcx
	mov	(%rcx), %rax
	LEAVE_BY %rdx
	ENDS	copies

	FUNC	pushes
	FRAME_BY %r8
	push	%r8
	pop	%rcx
	mov	(%rcx), %rax
	LEAVE_BY %r8
	ENDS	pushes

	FUNC	exchanges
	FRAME_BY %r9
	xor	%eax, %eax
	xor	%r9, %rax
	mov	(%rax), %rax
	LEAVE_BY %r9
	ENDS	exchanges

	FUNC	asks
	FRAME_BY %rdi
	call	what_is_there
	LEAVE_BY %rdi
	ENDS	asks
	.globl	what_is_there
	.hidden	what_is_there
	FUNC	what_is_there
	mov	(%rdi), %rax
	ret
	ENDS	what_is_there

	FUNC	strings
	FRAME_BY %rsi
	lodsq
	sub	$8, %rsi
	LEAVE_BY %rsi
	ENDS	strings

	FUNC	vector_to_general
	FRAME_BY %r9
	movq	%r9, %xmm0
	movq	%xmm0, %rax
	mov	(%rax), %rax
	LEAVE_BY %r9
	ENDS	vector_to_general

	FUNC	not_said		/* by the table */
	lea	(%rsp), %rcx
	mov	(%rcx), %rax
	ret
	ENDS	not_said
END
cat >frames.c <<'END'
#include <execinfo.h>
#include <stdio.h>

long aligned(long, long, long, long, long, long, long), at_the_end(long),
	handed_on(long);
char *loads(void), *loads_a_vector(void), *loads_by_an_index(void), *keeps(void),
	*copies(void), *pushes(void), *exchanges(void), *asks(void),
	*strings(void), *vector_to_general(void), *not_said(void);
extern char __executable_start, etext;

__attribute__((noinline)) long ask(void)
{
	void *frames[32];

	return backtrace(frames, 32);
}

int main(void)
{
	char *(*const looks[])(void) = {
		loads, loads_a_vector, loads_by_an_index, keeps, copies, pushes,
		exchanges, asks, strings, vector_to_general, not_said};

	for (long i = 0; i < 1000; i++) {
		long sum = aligned(i, 0, 0, 0, 0, 0, 5);

		sum += at_the_end(i);
		sum += handed_on(i);
		printf("%ld\n", sum);
	}
	for (unsigned i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		char *from = looks[i]();

		printf("%u %d\n", i, from > &__executable_start && from < &etext);
	}
	return 0;
}
END
gcc -O2 -o frames frames.c frames.S || abort 'frames is not built'
assert_same_as_native ./frames
assert_complete profile
assert_calls profile aligned 1000 at_the_end 1000 handed_on 1000 ask 2000
"$RUN" --list -v ./frames >list
for name in loads loads_a_vector loads_by_an_index keeps copies pushes \
	exchanges asks strings vector_to_general not_said; do
	assert_matches list " reads its return address .* $name\$"
done

# Each function that is inlined loads the return address once more, twice; some
# loads are in cold parts that only exceptions lead to, some are between a
# comparison and what depends on it, some right before a call.
it 'any number of loads, as -finstrument-functions makes them'
cat >instrumented.cc <<'END'
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

struct counts {
	int *number;
	explicit counts(int *n) : number(n) {}
	~counts() { ++*number; }
};
static int number;

__attribute__((noinline)) int may_throw(int i)
{
	if (i % 7 == 3)
		throw std::runtime_error("x" + std::to_string(i));
	return i * 3;
}

__attribute__((noinline)) int switches(int k)
{
	counts d(&number);

	switch (k) {
	case 0: return may_throw(1);
	case 1: return k + 5;
	case 2: number += 3; return 2;
	case 3: return may_throw(3);
	case 4: return 77;
	case 5: return may_throw(k);
	case 6: return -may_throw(8);
	default: return 1;
	}
}

static std::map<std::string, int> seen;

__attribute__((noinline)) int once(int i)
{
	try {
		counts a(&number);
		std::vector<std::string> all;

		all.push_back(std::to_string(switches(i % 9)));
		seen[all[0]]++;
		return may_throw(i) + (int)all[0].size();
	} catch (std::exception &e) {
		counts b(&number);

		return (int)std::string(e.what()).size();
	}
}

int main()
{
	long sum = 0;

	for (int i = 0; i < 2000; i++)
		sum += once(i);
	std::printf("%ld %d %zu\n", sum, number, seen.size());
}
END
# A hash of all return addresses that it is given.
cat >profiles.c <<'END'
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

static unsigned long hash = 5381, calls, elsewhere;
static uintptr_t begin;

static void note(void *function, void *site, unsigned kind)
{
	uintptr_t to, from;

	if (!begin)
		begin = (uintptr_t)dlsym(RTLD_DEFAULT, "main") - 0x100000;
	to = (uintptr_t)function - begin;
	from = (uintptr_t)site - begin;
	calls++;
	elsewhere += from >= 0x200000;
	if (to >= 0x200000)
		to = 0;
	if (from >= 0x200000)
		from = 0;
	hash = hash * 33 ^ (from * 131 + to + kind);
}

void __cyg_profile_func_enter(void *function, void *site)
{
	note(function, site, 1);
}

void __cyg_profile_func_exit(void *function, void *site)
{
	note(function, site, 2);
}

__attribute__((destructor)) static void end(void)
{
	printf("%lu calls, %lu from elsewhere, %lx\n", calls, elsewhere, hash);
}
END
gcc -O2 -fPIC -shared -o libprofiles.so profiles.c || abort 'libprofiles is not built'
RUN_OPTIONS=(-M instrumented)
for options in -O0 -O2 '-O2 -fno-omit-frame-pointer' '-O2 -fno-plt' \
	'-Os -fcf-protection -Wl,-z,now'; do
	# shellcheck disable=SC2086
	g++ $options -rdynamic -finstrument-functions -o instrumented \
		instrumented.cc -L. -lprofiles -Wl,-rpath,"$PWD" ||
		abort "not built with $options"
	assert_same_as_native ./instrumented # planned
	assert_same_as_native ./instrumented # from the plan cache
	assert_complete profile
	assert_ge "$(sed -n 's/ calls, [0-9]* from elsewhere, .*//p' "$TMP/native.out")" 50000 \
		"instrumented calls ($options)"
	"$DUMP" -q -f info profile >info
	assert_ge "$(awk '$1 ~ /\/instrumented$/ { print $3 }' info)" 60 \
		"patched functions ($options)"
	assert_eq 0 "$(awk '$1 ~ /\/instrumented$/ { print $4 }' info)" \
		"refused functions ($options)"
	assert_calls profile once 2000 switches 2000 main 1
done

finish
