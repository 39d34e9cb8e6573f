/* build: -O2 -fno-optimize-sibling-calls */
/* For tests/targets/stepper.c, which prints how many instructions there are
 * from one mark to the next: hook_path flat|nested. The call between the marks
 * has been made before; nothing but the hooks makes a difference. */
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

enum { STOP = 3, COUNT = 6 };
/* Enough that most calls are not timed, where timing is sampled. */
#define WARM 3000
#define ROUNDS 50

static inline __attribute__((always_inline)) void mark(long command)
{
	long magic = 0x53544550;

	__asm__ volatile("int3; xor %%eax, %%eax"
			 : "+a"(magic)
			 : "D"(command), "S"(0l), "d"(0l)
			 : "memory");
}

NOINLINE void leaf(void)
{
	__asm__ volatile("movl $0, %%eax" : : : "eax");
}

NOINLINE void middle(void)
{
	__asm__ volatile("" : : : "rbx", "r12", "r13");
	leaf();
	__asm__ volatile("");
}

NOINLINE static void make(void (*function)(void))
{
	for (int i = 0; i < WARM + ROUNDS; i++) {
		mark(i < WARM ? STOP : COUNT);
		function();
		mark(STOP);
	}
}

int main(int argc, char **argv)
{
	make(argc > 1 && !strcmp(argv[1], "nested") ? middle : leaf);
	return 0;
}
