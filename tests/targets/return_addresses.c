/* build: -fno-omit-frame-pointer -fno-optimize-sibling-calls */
/* Who asks for its callers' return addresses: its own, and up to three above,
 * by __builtin_return_address. Prints them as offsets from main. */
#include <stdio.h>

#define NOINLINE __attribute__((noipa))
/* So that the call is not the last thing in the function. */
#define AFTER_CALL() __asm__ volatile("" ::: "memory")

int main(void);

static void print(const char *what, const void *address)
{
	printf("%s %+td\n", what, (const char *)address - (const char *)main);
}

NOINLINE void own(void)
{
	print("own", __builtin_return_address(0));
}

NOINLINE void one_above(void)
{
	print("one above", __builtin_return_address(1));
}

NOINLINE void calls_one_above(void)
{
	one_above();
	AFTER_CALL();
}

/* The loop is there for the context: other calls lie between the two. */
NOINLINE void two_above(int rounds)
{
	while (rounds--)
		own();
	print("two above", __builtin_return_address(2));
}

NOINLINE void calls_two_above(void)
{
	two_above(2);
	AFTER_CALL();
}

NOINLINE void calls_calls_two_above(void)
{
	calls_two_above();
	AFTER_CALL();
}

NOINLINE void all_four(void)
{
	print("four: own", __builtin_return_address(0));
	print("four: one above", __builtin_return_address(1));
	print("four: two above", __builtin_return_address(2));
	print("four: three above", __builtin_return_address(3));
}

NOINLINE void four_1(void)
{
	all_four();
	AFTER_CALL();
}

NOINLINE void four_2(void)
{
	four_1();
	AFTER_CALL();
}

NOINLINE void four_3(void)
{
	four_2();
	AFTER_CALL();
}

/* Its own frame is gone when one_above runs. */
__attribute__((noipa, optimize("optimize-sibling-calls"))) void jumps(void)
{
	one_above();
}

NOINLINE void calls_jumps(void)
{
	jumps();
	AFTER_CALL();
}

/* From the part of a function that is seldom needed, which lies elsewhere. */
__attribute__((noipa, cold)) void seldom_above(void)
{
	print("seldom above", __builtin_return_address(1));
}

NOINLINE void calls_in_part(int n)
{
	if (n) {
		seldom_above();
		AFTER_CALL();
	}
	print("calls in part", (const void *)main);
}

NOINLINE void harmless(void)
{
	print("harmless", (const void *)main);
}

/* As compilers store one address eight times, the slot is 1 times 8 bytes above
 * the stack pointer; harmless_vectors loads what is 1 times 64 bytes above it,
 * in the frame of its caller. */
__asm__("	.text\n"
	"	.type	spread, @function\n"
	"spread:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	vpbroadcastq 8(%rsp), %zmm16\n"
	"	vmovdqu64 %zmm16, (%rdi)\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	spread, . - spread\n"
	"	.type	harmless_vectors, @function\n"
	"harmless_vectors:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	vmovdqu64 64(%rsp), %zmm16\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	harmless_vectors, . - harmless_vectors\n"
	"	.type	moved, @function\n"
	"moved:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	vmovdqu64 16(%rsp), %xmm16\n" /* 1 times 16 bytes */
	"	vmovdqu64 %xmm16, (%rdi)\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size	moved, . - moved\n");
void spread(const void *to[8]);
void moved(const void *to[2]);
void harmless_vectors(void);

NOINLINE void calls_spread(void)
{
	const void *addresses[32] = {NULL};

	spread(addresses);
	harmless_vectors();
	print("spread, first", addresses[0]);
	print("spread, last", addresses[7]);
	if (__builtin_cpu_supports("avx512vl"))
		moved(addresses);
	print("moved", addresses[0]);
}

/* As twice_above, of more than two. */
NOINLINE void spread_above(const void *to[8])
{
	__asm__("movq (%%rbp), %%rax\n\t"
		"vpbroadcastq 8(%%rax), %%zmm16\n\t"
		"vmovdqu64 %%zmm16, (%0)"
		:
		: "r"(to), "r"(__builtin_frame_address(0))
		: "rax", "memory");
}

NOINLINE void calls_spread_above(void)
{
	const void *addresses[8] = {NULL};

	spread_above(addresses);
	print("spread above", addresses[7]);
}

/* What compilers make of storing __builtin_return_address(1) twice. */
NOINLINE void twice_above(const void *to[2])
{
	__asm__("movq (%%rbp), %%rax\n\t"
		"movq 8(%%rax), %%xmm0\n\t"
		"punpcklqdq %%xmm0, %%xmm0\n\t"
		"movups %%xmm0, (%0)"
		:
		: "r"(to), "r"(__builtin_frame_address(0))
		: "rax", "xmm0", "memory");
}

NOINLINE void calls_twice_above(void)
{
	const void *addresses[2];

	twice_above(addresses);
	print("twice above", addresses[0]);
}

int main(void)
{
	if (__builtin_cpu_supports("avx512f")) {
		calls_spread();
		calls_spread_above();
	}
	calls_twice_above();
	own();
	calls_one_above();
	calls_calls_two_above();
	four_3();
	calls_jumps();
	calls_in_part(1);
	harmless();
	return 0;
}
