/* build: -nostartfiles -Wl,-e,begin */
/* A program that begins at a function of its own which is not called _start,
 * as those of Free Pascal do. At its first instruction the stack holds argc,
 * not a return address. It has no unwind table, or with -DTABLE one that says
 * that it is called, as a compiler's would. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
__asm__(".text\n"
	".globl begin\n"
	".type begin, @function\n"
	"begin:\n"
#ifdef TABLE
	"	.cfi_startproc\n"
#endif
	"	mov %rsp, %rdi\n"
	"	mov %rdx, %rsi\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call go_on\n"
	"	hlt\n"
#ifdef TABLE
	"	.cfi_endproc\n"
#endif
	".size begin, . - begin\n");
/* clang-format on */

__attribute__((noinline)) static int work(int n)
{
	__asm__("" : "+r"(n));
	return n + 1;
}

/* `fini` is the dynamic linker's, which ends all libraries. */
__attribute__((used)) _Noreturn void go_on(const long *stack,
					   void (*fini)(int, void *))
{
	const char *const *argv = (const char *const *)(stack + 1);
	int sum = 0;

	for (int i = 0; i < 10; i++)
		sum += work(i);
	printf("%ld arguments, the last %s, sum %d\n", *stack, argv[*stack - 1],
	       sum);
	on_exit(fini, NULL);
	exit(3);
}
