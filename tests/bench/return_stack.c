/* What returns cost a recursion whose frames return to thunks, and nothing
 * else: "return_stack [DEPTH...]" prints, for each depth, the ns of a call
 * natively, and what is added to it by a thunk for each live frame and by one
 * thunk for all, without the clock and with two rdtsc. Nothing is recorded: it
 * says what a design can gain at most. See docs/internals/hooks.md. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define UNIT ((size_t)16 << 20) /* from a thunk's code to its data */
#define MOST 131072L            /* frames */
#define CALLS 400000L

/* %r12 = the next free thunk's data, or the next record: where the body is, the
 * return address, the time. Each recursion calls itself by way of its entry. */
#define CLOCK \
	"rdtsc\n\tshl $32, %rdx\n\tor %rdx, %rax\n\tmov %rax, 16(%rcx)\n\t"
#define RECURSION(name, entry) \
	__asm__(".p2align 6\n" #name ":\n\t" \
		"push %rbx\n\tmov %rdi, %rbx\n\tdec %rdi\n\tjz 1f\n\t" \
		"call " #entry "\n" \
		"1:\tadd %rbx, %rax\n\tpop %rbx\n\tret\n")
#define ENTER "mov %r12, %rcx\n\tadd $64, %r12\n\tpop 8(%rcx)\n\t"
#define LEAVE(clock) \
	"mov %rax, %rsi\n\tmov %r12, %rcx\n\t" clock "mov %rsi, %rax\n\tret\n"
#define SEPARATE(name, clock) \
	__asm__(".p2align 6\nenter_" #name ":\n\t" ENTER clock \
		"sub $16777216, %rcx\n\tjmp *%rcx\n" \
		".p2align 6\nleave_" #name ":\n\t" \
		"sub $64, %r12\n\t" LEAVE(clock)); \
	RECURSION(name, enter_##name)
#define SHARED(name, clock) \
	__asm__(".p2align 6\nenter_" #name ":\n\t" ENTER clock \
		"jmp thunk_" #name "\n" \
		".p2align 6\nthunk_" #name ":\n\t" \
		"call " #name "\n\t" \
		"sub $64, %r12\n\tpush 8(%r12)\n\t" LEAVE(clock)); \
	RECURSION(name, enter_##name)

RECURSION(native, native);
SEPARATE(separate, "");
SEPARATE(separate_timed, CLOCK);
SHARED(shared, "");
SHARED(shared_timed, CLOCK);

extern const char native[], separate[], separate_timed[];
extern const char enter_separate[], enter_separate_timed[];
extern const char leave_separate[], leave_separate_timed[];
extern const char enter_shared[], enter_shared_timed[];

static uint8_t *arena;

/* call *body(%rip); push return_address(%rip); jmp *leave(%rip) */
static void make_thunks(const char *body, const char *leave)
{
	for (long i = 0; i < MOST; i++) {
		uint8_t *code = arena + 64 * i;
		int32_t to_body = (int32_t)UNIT - 6;
		int32_t to_return = (int32_t)UNIT + 8 - 12;

		memcpy(code + UNIT, &body, 8);
		code[0] = 0xff, code[1] = 0x15, memcpy(code + 2, &to_body, 4);
		code[6] = 0xff, code[7] = 0x35, memcpy(code + 8, &to_return, 4);
		code[12] = 0xff, code[13] = 0x25, memset(code + 14, 0, 4);
		memcpy(code + 18, &leave, 8);
	}
}

static double once(const char *function, long depth)
{
	struct timespec a, b;
	long count = (CALLS + depth - 1) / depth, sum;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
	for (long i = 0; i < count; i++)
		__asm__ volatile("mov %[data], %%r12\n\t"
				 "mov %[depth], %%rdi\n\tcall *%[function]"
				 : "=&a"(sum)
				 : [data] "r"(arena + UNIT), [depth] "r"(depth),
				   [function] "r"(function)
				 : "rcx", "rdx", "rsi", "rdi", "r12", "memory",
				   "cc");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
	return ((double)(b.tv_sec - a.tv_sec) * 1e9 +
		(double)(b.tv_nsec - a.tv_nsec)) /
	       (double)(count * depth);
}

static double least(const char *function, long depth)
{
	double best = once(function, depth);

	for (int i = 0; i < 8; i++) {
		double ns = once(function, depth);

		best = ns < best ? ns : best;
	}
	return best;
}

static void row(long depth)
{
	double none = least(native, depth), each, each_timed;

	make_thunks(separate, leave_separate);
	each = least(enter_separate, depth) - none;
	make_thunks(separate_timed, leave_separate_timed);
	each_timed = least(enter_separate_timed, depth) - none;
	printf("%6ld %6.1f %8.1f %6.1f %12.1f %6.1f\n", depth, none, each,
	       least(enter_shared, depth) - none, each_timed,
	       least(enter_shared_timed, depth) - none);
}

int main(int argc, char **argv)
{
	static const long usual[] = {8, 32, 64, 128, 1000, 10000, 100000};

	arena = mmap(NULL, 2 * UNIT, PROT_READ | PROT_WRITE | PROT_EXEC,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (arena == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	printf("%6s %6s %8s %6s %12s %6s\n", "depth", "native", "separate",
	       "shared", "rdtsc: separate", "shared");
	for (int i = 1; i < argc; i++)
		if (atol(argv[i]) > 0 && atol(argv[i]) < MOST)
			row(atol(argv[i]));
	for (size_t i = 0; argc == 1 && i < sizeof(usual) / sizeof(*usual); i++)
		row(usual[i]);
	return 0;
}
