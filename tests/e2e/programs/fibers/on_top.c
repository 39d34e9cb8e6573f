#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Switches to a stack; `on_top` first runs there, as if called from where that
 * one had switched away, and its result is what the switch returns. */
void *switch_stack(void **from, void *to, void *value);
void *switch_on_top(void *to, void *(*on_top)(void *), void *value);
__asm__(".text\n"
	".globl switch_stack, switch_on_top\n"
	".type switch_stack, @function\n"
	".type switch_on_top, @function\n"
	"switch_stack: push %rbx\n push %rbp\n push %r12\n push %r13\n"
	"push %r14\n push %r15\n mov %rsp, (%rdi)\n mov %rdx, %rax\n"
	"mov %rsi, %rsp\n pop %r15\n pop %r14\n pop %r13\n pop %r12\n"
	"pop %rbp\n pop %rbx\n ret\n"
	".size switch_stack, . - switch_stack\n"
	"switch_on_top: mov %rdi, %rsp\n mov %rdx, %rdi\n pop %r15\n"
	"pop %r14\n pop %r13\n pop %r12\n pop %rbp\n pop %rbx\n jmp *%rsi\n"
	".size switch_on_top, . - switch_on_top\n");

static void *main_stack;

__attribute__((noinline)) static void wait_ms(long ms)
{
	struct timespec t = {0, ms * 1000000};

	nanosleep(&t, 0);
}

__attribute__((noinline)) static void *after(void *value)
{
	wait_ms(100);
	return value;
}

__attribute__((noinline)) static void on_fiber(void)
{
	wait_ms(200);
	switch_on_top(main_stack, after, "back");
}

__attribute__((noinline)) static void fiber(void)
{
	on_fiber();
	abort();
}

int main(void)
{
	void **stack = (void **)((char *)malloc(65536) + 65536 - 64);

	*--stack = (void *)0;
	*--stack = (void *)fiber;
	stack -= 6;
	puts((char *)switch_stack(&main_stack, stack, "there"));
	return 0;
}
