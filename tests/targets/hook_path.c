/* build: -O2 -fno-optimize-sibling-calls */
/* For tests/targets/stepper.c, which prints how many instructions there are
 * from one mark to the next: hook_path flat|nested|jumps. The call between the
 * marks has been made before; nothing but the hooks makes a difference. */
#include <string.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

enum { STOP = 3, COUNT = 6 };
/* Calls before the first mark, as a mark takes a thousand times as long as a
 * call: enough that most of those that follow are not timed, where timing is
 * sampled. (Were it constant, each part could have a call of its own.) */
static volatile int warm = 3000;
#define ROUNDS 12

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

/* Four functions, of which three begin with a jump. */
#define JUMPS(name, to) \
	NOINLINE __attribute__((optimize("optimize-sibling-calls"))) void \
	name(void) \
	{ \
		__asm__ volatile("movl $0, %%eax" : : : "eax"); \
		to(); \
	}
JUMPS(third, leaf)
JUMPS(second, third)
JUMPS(first, second)

NOINLINE static void make(void (*function)(void))
{
	for (int i = 0; i < warm + ROUNDS; i++) {
		if (i >= warm)
			mark(COUNT);
		function();
		if (i >= warm)
			mark(STOP);
	}
}

int main(int argc, char **argv)
{
	const char *work = argc > 1 ? argv[1] : "";

	make(!strcmp(work, "nested")  ? middle
	     : !strcmp(work, "jumps") ? first
				      : leaf);
	return 0;
}
