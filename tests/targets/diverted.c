/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* A signal handler that has the program go on elsewhere, as Free Pascal's do:
 * in code that pushes the place of the fault and jumps to a function, so that
 * it looks as if that had been called there. On top of the stack is a variable.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

long fault(long n);
void goes_on(void);
void leave(long n);

long handled;

/* leave() goes back behind the fault, to the stack as it was there. */
__asm__(".text\n"
	".globl fault\n"
	".type fault, @function\n"
	"fault:	.cfi_startproc\n"
	"	push	%rdi\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	mov	%rsp, stack(%rip)\n"
	"	xor	%eax, %eax\n"
	"	mov	(%rax), %rax\n"
	"behind_fault:\n"
	"	pop	%rax\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size fault, . - fault\n"
	".globl goes_on\n"
	".type goes_on, @function\n"
	"goes_on:\n"
	"	push	%rsi\n"
	"	jmp	after_fault\n"
	"	ret\n"
	".size goes_on, . - goes_on\n"
	".globl leave\n"
	".type leave, @function\n"
	"leave:	.cfi_startproc\n"
	"	addq	%rdi, handled(%rip)\n"
	"	mov	stack(%rip), %rsp\n"
	"	jmp	behind_fault\n"
	"	.cfi_endproc\n"
	".size leave, . - leave\n"
	".local stack\n"
	".comm stack, 8, 8\n");

void after_fault(long n)
{
	leave(n);
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

	(void)number;
	(void)info;
	registers[REG_RSI] = registers[REG_RIP];
	registers[REG_RDI] = 1;
	registers[REG_RIP] = (greg_t)goes_on;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO};
	long sum = 0;

	sigaction(SIGSEGV, &action, NULL);
	for (long i = 1; i <= 10; i++)
		sum += fault(i);
	printf("%ld %ld\n", sum, handled);
	return 0;
}
