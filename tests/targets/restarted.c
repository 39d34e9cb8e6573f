/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* Stacks of fibers that have ended are used again. A new fiber's first function
 * never returns, so nothing is put where its return address would be: there is
 * what the one before has left. */
#include <stdio.h>
#include <stdlib.h>

#define STACK_WORDS 8192
#define FIBERS 4

void switch_stacks(void **save, void *load);
__asm__(".text\n"
	".globl switch_stacks\n"
	".type switch_stacks, @function\n"
	"switch_stacks:\n"
	"	.cfi_startproc\n"
	"	pushq	%rbp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	pushq	%rbx\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	movq	%rsp, (%rdi)\n"
	"	movq	%rsi, %rsp\n"
	"	popq	%rbx\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	popq	%rbp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	"	.size switch_stacks, . - switch_stacks\n");

static void *stacks[FIBERS], *program;
static int current;
static long sum;

void work(long n)
{
	sum += n;
}

void first_function(void)
{
	work(current);
	switch_stacks(&stacks[current], program);
	work(10);
	switch_stacks(&stacks[current], program);
	abort();
}

void begin(void **stack)
{
	void **top = stack + STACK_WORDS - 4;

	top[2] = (void *)first_function;
	stacks[current] = top;
	switch_stacks(&program, top);
}

void go_on(void)
{
	switch_stacks(&program, stacks[current]);
}

int main(void)
{
	void **memory[FIBERS];

	for (int i = 0; i < FIBERS; i++)
		memory[i] = calloc(STACK_WORDS, sizeof(void *));
	for (int round = 0; round < 25; round++) {
		for (current = 0; current < FIBERS; current++)
			begin(memory[current]);
		for (current = 0; current < FIBERS; current++)
			go_on();
	}
	printf("%ld\n", sum);
	for (int i = 0; i < FIBERS; i++)
		free(memory[i]);
	return 0;
}
