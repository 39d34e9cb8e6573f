/* Code enough that several threads plan it. As soon as anything of it runs it
 * looks how many threads there are, and asks for what a process with one thread
 * only may do. */

#define _GNU_SOURCE
#include <dirent.h>
#include <sched.h>
#include <stdio.h>

/* Functions with branches, calls, and a table of labels each. */
__asm__(".text\n"
	".set number, 0\n"
	".rept 60000\n"
	".p2align 4\n"
	"1:\n"
	".cfi_startproc\n"
	"push %rbx\n"
	".cfi_adjust_cfa_offset 8\n"
	"mov %edi, %ebx\n"
	".set number, number + 1\n"
	"cmp $number, %edi\n"
	".if number % 3\n"
	"ja 2f\n"
	".else\n"
	"jb 1b\n"
	".endif\n"
	"lea 3f(%rip), %rax\n"
	"test %edi, %edi\n"
	".if number % 5 == 0\n"
	"jne 2f\n"
	".endif\n"
	"call 4f\n"
	"2:\n"
	"pop %rbx\n"
	".cfi_adjust_cfa_offset -8\n"
	"ret\n"
	".cfi_endproc\n"
	".p2align 2\n"
	"3: .long 2b - 3b\n"
	".p2align 4\n"
	"4:\n"
	".cfi_startproc\n"
	".if number % 7\n"
	"xor %eax, %eax\n"
	"jmp 5f\n"
	"5:\n"
	".endif\n"
	"ret\n"
	".cfi_endproc\n"
	".endr\n");

static int threads, alone;

static void look(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *entry;

	while (tasks && (entry = readdir(tasks)))
		threads += entry->d_name[0] != '.';
	if (tasks)
		closedir(tasks);
	alone = unshare(CLONE_VM | CLONE_SIGHAND | CLONE_THREAD) == 0;
}

__attribute__((section(".preinit_array"),
	       used)) static void (*first)(void) = look;

int main(void)
{
	printf("%d thread, %s\n", threads, alone ? "alone" : "not alone");
	return 0;
}
