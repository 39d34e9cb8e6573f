// build: -O2 -fno-ipa-pure-const -fnon-call-exceptions
// -fasynchronous-unwind-tables An exception ends a function whose caller has
// not aligned the stack for it, as gcc does where it knows that the callee
// needs no aligned stack. What unwinds needs it aligned.
#include <csignal>
#include <cstdio>

#define KEEP __attribute__((noinline, noclone))

struct guard {
	long *count;
	~guard()
	{
		++*count;
	}
};

extern "C" KEEP long leaf(long n)
{
	asm volatile("cmp $3, %0; jne 1f; ud2; 1:" : : "r"(n) : "cc");
	return n + 1;
}

extern "C" long middle(long n);

asm(".text\n"
    ".globl middle\n"
    ".type middle, @function\n"
    "middle:\n"
    "	.cfi_startproc\n"
    "	call leaf\n"
    "	mov %rax, %rdi\n"
    "	call leaf\n"
    "	ret\n"
    "	.cfi_endproc\n"
    "	.size middle, .-middle\n");

extern "C" KEEP long guarded(long n, long *destroyed)
{
	guard g{destroyed};
	return middle(n) + 1;
}

static void on_signal(int)
{
	throw 7;
}

int main()
{
	long destroyed = 0, caught = 0;
	struct sigaction action = {};

	action.sa_handler = on_signal;
	action.sa_flags = SA_NODEFER;
	sigaction(SIGILL, &action, nullptr);
	for (long i = 0; i < 6; i++)
		try {
			guarded(i, &destroyed);
		} catch (int e) {
			caught += e;
		}
	printf("%ld destroyed, %ld caught\n", destroyed, caught);
	return 0;
}
