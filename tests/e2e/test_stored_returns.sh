# shellcheck shell=bash
# swizzle_resolve_return_location: what is stored there is for one return. The
# function's next call from the same place returns where it was called from.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc

# Each visit calls a function, which returns 1 behind the call, or, where its
# return address was replaced, 2 elsewhere.
cat >visit.S <<'END'
	.macro VISIT name, function
	.text
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	sub	$8, %rsp
	.cfi_adjust_cfa_offset 8
	lea	-8(%rsp), %rsi			# where the return address will be
	lea	1f(%rip), %rdx
	call	\function
	mov	$1, %eax
	add	$8, %rsp
	ret
1:	mov	$2, %eax
	add	$8, %rsp
	.cfi_adjust_cfa_offset -8
	ret
	.cfi_endproc
	.size	\name, . - \name
	.endm
	VISIT	visit, plain
	VISIT	visit_by_jump, jumping
	VISIT	visit_deep, nesting
	.section .note.GNU-stack, "", @progbits
END
cat >stored.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noipa))

int visit(long n, uintptr_t slot, uintptr_t elsewhere);
int visit_by_jump(long n, uintptr_t slot, uintptr_t elsewhere);
int visit_deep(long n, uintptr_t slot, uintptr_t elsewhere);

static volatile long sink;

KEEP void redirect(uintptr_t slot, uintptr_t to)
{
	static uintptr_t (*resolve)(uintptr_t);

	if (!resolve)
		*(void **)&resolve = dlsym(RTLD_DEFAULT,
					   "swizzle_resolve_return_location");
	if (resolve)
		slot = resolve(slot);
	*(uintptr_t *)slot = to;
}

KEEP void plain(long n, uintptr_t slot, uintptr_t elsewhere)
{
	if (n % 4 == 3)
		redirect(slot, elsewhere);
	sink++;
}

KEEP void next(long n, uintptr_t slot, uintptr_t elsewhere)
{
	plain(n, slot, elsewhere);
	sink++;
}

KEEP void jumping(long n, uintptr_t slot, uintptr_t elsewhere)
{
	sink++;
	next(n, slot, elsewhere);
}

/* Deep enough for frames that share the code they return to. */
KEEP void nesting(long n, uintptr_t slot, uintptr_t elsewhere)
{
	sink++;
	if (n >= 100)
		sink += visit_deep(n - 100, 0, 0);
	else
		plain(n, slot, elsewhere);
	sink++;
}

int main(void)
{
	for (long n = 0; n < 40; n++)
		printf("%d %d %d\n", visit(n, 0, 0), visit_by_jump(n, 0, 0),
		       visit_deep(n + 3000, 0, 0));
	for (long n = 0; n < 100000; n++)
		sink += visit(n, 0, 0) + visit_by_jump(n, 0, 0);
	printf("%ld\n", sink);
	return 0;
}
END
gcc -O2 -o stored stored.c visit.S -ldl || abort 'not built'
for options in '' '-m trace' '--timing sampled'; do
	# one excludes the other
	case "$options${TEST_MODE:-}${TEST_TIMING:-}" in *trace*sampled* | *sampled*trace*) continue ;; esac
	it "the next call, with '$options'"
	# shellcheck disable=SC2206
	RUN_OPTIONS=($options)
	assert_same_as_native ./stored
	assert_eq 30 "$(sed -n '1,40s/^\(.\) .*/\1/p' out | grep -c 1)" 'returns behind the call'
	assert_complete profile
	assert_calls profile redirect 50030 plain 200120 jumping 100040 nesting 1240
done

it 'in a forked child'
cat >forks.c <<'END'
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
int visit(long n, unsigned long slot, unsigned long elsewhere);
int visits(void)
{
	int sum = 0;
	for (long n = 0; n < 1000; n++)
		sum += visit(n, 0, 0);
	return sum;
}
int main(void)
{
	int sum = visits(), status;
	if (fork() == 0)
		_exit(visits() == sum && sum == 1250);
	wait(&status);
	printf("%d %d\n", sum, WEXITSTATUS(status));
	return 0;
}
END
sed 's/^int main(void)/int unused(void)/' stored.c >parts.c
gcc -O2 -o forks forks.c parts.c visit.S -ldl || abort 'not built'
RUN_OPTIONS=()
assert_same_as_native ./forks
assert_eq '1250 1' "$(cat out)" 'what the child finds'
finish
