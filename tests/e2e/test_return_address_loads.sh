# shellcheck shell=bash
# Functions that load their own return address in the midst of their code load the
# real one.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need_targets loads
need gcc
program=$TARGETS/loads

it 'a function that loads its own return address loads the real one'
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

finish
