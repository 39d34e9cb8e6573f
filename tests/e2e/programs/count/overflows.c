#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
/* As OCaml's compiler and runtime do. */
#define COMPILED __attribute__((noinline, section(".text.compiled")))
char caml_frametable[8] = "OCaml";
__asm__(".pushsection .text.compiled, \"ax\"\n"
	".globl camlT__code_begin; camlT__code_begin: .popsection");
COMPILED long recurse(long n) { return n + recurse(n + 1); }
__asm__(".pushsection .text.compiled, \"ax\"; ret\n"
	".globl camlT__code_end; camlT__code_end: .popsection");
extern char camlT__code_begin[], camlT__code_end[];
static sigjmp_buf overflowed;
static volatile long sink;
__attribute__((noinline)) void collect(void) { sink = sink + 1; }
static void fault(int n, siginfo_t *info, void *context)
{
	char *at = (char *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
	(void)info;
	if (at < camlT__code_begin || at >= camlT__code_end)
		signal(n, SIG_DFL);
	else
		siglongjmp(overflowed, 1);
}
int main(void)
{
	static char memory[65536];
	stack_t stack = {.ss_sp = memory, .ss_size = sizeof(memory)};
	struct sigaction action = {.sa_sigaction = fault,
				   .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigaltstack(&stack, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 3; i++)
		collect();
	if (!sigsetjmp(overflowed, 1))
		return (int)recurse(sink);
	puts("overflow");
	return 3;
}
