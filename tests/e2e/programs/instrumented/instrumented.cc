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
