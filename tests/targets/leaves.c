/* build: -O2 -fno-optimize-sibling-calls */
/* Functions that call nothing, and some that only seem so: each is called often
 * enough that most of its calls are not timed, where timing is sampled. What
 * they lead to must be recorded as theirs all the same. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 3000

long plain(long n);
long goes_on(long n);
long goes_on_if(long n);
long goes_through(long n, long (*to)(long));
long goes_home(long n);
long calls_late(long n);
long asks_kernel(long pid, long signal);
long moves(long n, void *stack_top);
long reached(long n);

static volatile long noted;

__attribute__((noipa)) long reached(long n)
{
	return n + 1;
}

/* Each begins with instructions that leave room for a jump. */
#define FUNCTION(name, body) \
	__asm__(".text\n.p2align 4\n.globl " #name "\n.type " #name \
		", @function\n" #name ":\n.cfi_startproc\n" body \
		"\n.cfi_endproc\n.size " #name ", . - " #name "\n")
#define MOVE "movq %rdi, %rax\naddq $1, %rax\n"

FUNCTION(plain, MOVE "jmp 1f\n1: ret");
FUNCTION(goes_on, MOVE "jmp reached");
FUNCTION(goes_on_if, MOVE "testq %rax, %rax\njnz reached\nret");
FUNCTION(goes_through, MOVE "jmp *%rsi");
/* a loop through its own first instruction, until n is 0 */
FUNCTION(goes_home, "leaq (%rdi), %rax\ntestq %rdi, %rdi\njz 1f\n"
		    "decq %rdi\njmp goes_home\n1: ret");
FUNCTION(calls_late, MOVE "testq %rax, %rax\njz 1f\n"
			  "pushq %rbx\n.cfi_adjust_cfa_offset 8\n"
			  "call reached\n"
			  "popq %rbx\n.cfi_adjust_cfa_offset -8\n1: ret");
/* kill(pid, signal) */
FUNCTION(asks_kernel, "movl $62, %eax\nmovslq %edi, %rdi\nsyscall\nret");
/* to another stack and back */
FUNCTION(moves, "movq %rsp, %rax\nmovq %rsp, %rdx\n.cfi_def_cfa_register %rdx\n"
		"movq %rsi, %rsp\npushq %rax\npopq %rax\nmovq %rdx, %rsp\n"
		".cfi_def_cfa_register %rsp\nret");

__attribute__((noipa)) static void note(void)
{
	noted++;
}

static void on_signal(int signal)
{
	(void)signal;
	note();
	noted += plain(1);
}

int main(void)
{
	static long stack[64];
	pid_t pid = getpid();
	long sum = 0;

	signal(SIGUSR1, on_signal);
	for (long i = 0; i < CALLS; i++) {
		sum += plain(i) + goes_on(i) + goes_on_if(i);
		sum += goes_through(i, reached) + goes_home(i % 4);
		sum += calls_late(i) + asks_kernel(pid, SIGUSR1);
		sum += moves(i, stack + 64) != 0;
	}
	printf("%ld %ld\n", sum, noted);
	return 0;
}
