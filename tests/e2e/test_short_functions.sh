# shellcheck shell=bash
# A library of many short functions side by side returns the same with and
# without swizzle, and every function that is said to be hooked is counted each
# time that it is entered, whatever jump leads to its trampoline.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets short short_late

"$TARGETS/short" counts | sort >expected
assert_ge "$(wc -l <expected)" 1000 'functions'

check_short() {
	assert_same_as_native "$TARGETS/short"
	assert_complete profile
	"$RUN" -v --list "$TARGETS/short" |
		sed -n '/libshort/,/^\//p' >functions
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' functions |
		sort >patched
	join expected patched >wanted
	# of 1 byte: nothing fits; else what is out of reach of any island
	assert_ge $((100 * $(wc -l <wanted))) $((90 * $(wc -l <expected))) \
		'hooked functions'
	dump_table profile -n 100000
	awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
	assert_same wanted counted
}

it 'short functions'
check_short
assert_ge "$(grep -c 'patched by a short jump' functions)" 300 'short jumps'

for tactic in padding neighbour; do
	it "short functions, all with a short jump into $tactic that can"
	export SWIZZLE_TEST_TACTIC=$tactic
	check_short
	assert_ge "$(grep -c 'patched by a short jump' functions)" 300 \
		'short jumps'
	unset SWIZZLE_TEST_TACTIC
done

it 'a library with short jumps that is loaded again'
"$TARGETS/short" counts | awk '{ print $1, $2 / 3 * 4 }' | sort >expected
"$RUN" -v --list "$TARGETS/short" | sed -n '/libshort/,/^\//p' |
	awk '$3 == "patched" && $NF ~ /^s[0-9]+$/ { print $NF }' | sort >patched
join expected patched >wanted
assert_same_as_native "$TARGETS/short_late"
assert_complete profile
dump_table profile -n 100000
awk '$(NF - 1) ~ /^s[0-9]+$/ { print $(NF - 1), $1 }' table | sort >counted
assert_same wanted counted

# Loops that go back to what the jump takes, and are too long to be displaced as
# a whole; nothing is in reach that an island could be.
cat >loops.S <<'END'
	.section .note.GNU-stack, "", @progbits
	.macro	begin name
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	.endm
	.macro	end name
	.cfi_endproc
	.size	\name, . - \name
	.endm
	.macro	long_body
	.rept	40
	leaq	1(%rsi), %rsi
	.endr
	.endm
	.text
	begin	before_all
	long_body
	movl	%esi, %eax
	ret
	end	before_all
	begin	by_jcc
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jnz	1b
	ret
	end	by_jcc
	begin	by_jmp
	xorl	%eax, %eax
1:	addl	counter(%rip), %eax
	long_body
	decl	%edi
	jz	2f
	jmp	1b
2:	ret
	end	by_jmp
	begin	by_two
	xorl	%eax, %eax
1:	addl	%edi, %eax
	nop
2:	addl	$3, %eax
	long_body
	decl	%edi
	jz	3f
	testl	$1, %edi
	jz	1b
	jmp	2b
3:	ret
	end	by_two
	begin	by_three
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jz	3f
	testl	$1, %edi
	jz	1b
	testl	$2, %edi
	jz	1b
	jmp	1b
3:	ret
	end	by_three
	begin	to_call
	movl	%edi, %edi
1:	call	leaf
	long_body
	decl	%edi
	jnz	1b
	ret
	end	to_call
	begin	leaf
	leal	7(%rdi), %eax
	long_body
	ret
	end	leaf
	begin	to_start
	pushq	%rdi
	.cfi_escape 0x16, 7, 2, 0x76, 0	/* found by %rbp */
	addl	$1, %edx
	long_body
	decl	%edi
	jnz	to_start
	xorl	%eax, %eax
2:	popq	%rcx
	imull	$3, %eax
	addl	%ecx, %eax
	decl	%edx
	jnz	2b
	ret
	end	to_start
	begin	entered
	xorl	%eax, %eax
1:	addl	%edi, %eax
	long_body
	decl	%edi
	jnz	1b
	ret
	end	entered
	begin	enters
	movl	$5, %eax
	long_body
	jmp	entered + 2
	end	enters
	.data
counter: .long	11
END
cat >loops.c <<'END'
#include <stdio.h>
#ifdef LATE
#include <dlfcn.h>
#define EACH(name) (*(int (*)(int, long, int))dlsym(library, #name))
#else
int by_jcc(int, long, int), by_jmp(int, long, int), by_two(int, long, int),
	by_three(int, long, int), to_call(int, long, int),
	to_start(int, long, int), entered(int, long, int),
	enters(int, long, int);
#define EACH(name) name
#endif
int main(void)
{
	for (int i = 1; i <= 10; i++) {
#ifdef LATE
		void *library = dlopen("./loops.so", RTLD_NOW);
#endif
		printf("%d %d %d %d %d %d %d %d\n", EACH(by_jcc)(i, 0, 0),
		       EACH(by_jmp)(i, 0, 0), EACH(by_two)(i, 0, 0),
		       EACH(by_three)(i, 0, 0), EACH(to_call)(i, 0, 0),
		       EACH(to_start)(i, 0, 0), EACH(entered)(i, 0, 0),
		       EACH(enters)(i, 0, 0));
#ifdef LATE
		dlclose(library);
#endif
	}
	return 0;
}
END
gcc -O1 -o loops loops.c loops.S || abort 'loops is not built'
gcc -shared -o loops.so loops.S || abort 'loops.so is not built'
gcc -O1 -DLATE -o loops_late loops.c || abort 'loops_late is not built'

check_loops() { # PROGRAM
	assert_same_as_native "$1"
	assert_complete profile
	assert_calls profile by_jcc 10 by_jmp 10 by_two 10 to_call 10 leaf 55 \
		to_start 10
}

it 'loops back into the site, of which the branch is led to the copies'
for _ in planned cached; do
	check_loops ./loops
	"$RUN" -v --list ./loops >list
	for name in by_jcc by_jmp by_two to_call; do
		assert_matches list " patched with its loop led on +$name\$"
	done
	for name in by_three entered; do
		assert_matches list " branch into the patch site +$name\$"
	done
done

it 'such loops in a library that is loaded again and again'
check_loops ./loops_late

# Before it lies code that no symbol and no unwind table speaks of. Of the last
# function of a section only that padding is left.
it 'padding before a short function that comes last'
cat >last.c <<'END'
#include <stdio.h>

int less(const void *a, const void *b);
int unknown(int n);

int main(void)
{
	int v[9] = {9, 8, 7, 6, 5, 4, 3, 2, 1}, s = 0;

	for (int i = 0; i < 9; i++)
		s += less(v + i, v);
	printf("%d %d\n", s, unknown(s));
}
END
for how in returns jumps calls enters ; do
	cat >last.S <<END
	.section .note.GNU-stack, "", @progbits
	.section .text.z, "ax", @progbits
	.set how_$how, 1
	.balign 16
	.globl unknown
	.type unknown, @notype
unknown:
	leal	3(%rdi), %eax
	.rept	40
	nopl	0x11223344(%rax,%rax)
	.endr
.ifdef how_returns
	ret
.endif
.ifdef how_jumps
	jmp	2f
	.balign 16
2:	ret
	jmp	unknown
.endif
.ifdef how_calls
	.byte	0xe8	/* the next instruction: it comes to the padding */
	.long	0
	.globl	less
.endif
.ifdef how_enters
	jmp	1f
	nopl	0(%rax)
.endif
.ifdef how_enters
1:	.byte	0x0f, 0x1f, 0x44, 0x00, 0x00
	.byte	0x0f, 0x1f, 0x40, 0x00
.else
	.balign 16
.endif
	.balign 16
	.globl	less
	.type	less, @function
less:	.cfi_startproc
	movl	(%rdi), %eax
	ret
	.cfi_endproc
	.size	less, . - less
END
	gcc -O1 -o last last.c last.S || abort 'last is not built'
	"$RUN" --no-cache --list -v ./last >list
	RUN_OPTIONS=(--no-cache)
	case $how in
	returns | jumps)
		assert_matches list ' patched by a short jump +less$'
		assert_same_as_native ./last
		assert_complete profile
		assert_calls profile less 9 main 1
		strip -o last.stripped last
		assert_same_as_native ./last.stripped
		assert_matches <("$DUMP" -q -f text profile) '^ +9 .* sub_[0-9a-f]+ +last'
		;;
	*)
		assert_matches list ' too short for a jump +less$'
		;;
	esac
done

finish
