# shellcheck shell=bash
# Functions that load their return address any number of times: programs built with
# -finstrument-functions.
. "${BASH_SOURCE%/*}/lib.sh"
. "$TOP/tests/e2e/profiles.sh"
need gcc g++

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

// As gcc 14 makes it: a switch, and an addition to memory between a load of the return
// address and the call that gets it.
asm(R"(
	.local counter
	.comm counter, 4, 4
	.text
	.globl counted
	.type counted, @function
counted:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
	push %r13
	push %rbx
	.cfi_offset 13, -24
	.cfi_offset 3, -32
	mov %edi, %ebx
	lea counted(%rip), %r13
	mov 8(%rbp), %rsi
	mov %r13, %rdi
	call __cyg_profile_func_enter@PLT
	and $1, %ebx
	lea 1f(%rip), %rax
	movslq (%rax,%rbx,4), %rdx
	add %rax, %rdx
	jmp *%rdx
	.section .rodata
1:	.long 2f - 1b, 3f - 1b
	.text
2:	mov $5, %ebx
3:	mov 8(%rbp), %rsi
	mov %r13, %rdi
	addl $1, counter(%rip)
	call __cyg_profile_func_exit@PLT
	mov %ebx, %eax
	pop %rbx
	pop %r13
	pop %rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size counted, . - counted
)");
extern "C" int counted(int number);

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
		sum += once(i) + counted(i);
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
	assert_calls profile once 2000 switches 2000 counted 2000 main 1
done

finish
