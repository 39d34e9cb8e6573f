/* build: -O1 */
/* returned: what work returns to is put aside at its entry, and code that no
 * one calls goes there when it returns, as tracers of functions (uftrace) do
 * it. What is printed has been kept on top of the stack meanwhile. */
#include <stdio.h>

#define MOST 16

static void *kept[MOST];
static unsigned used;

void returned(void);
long caller(long n);

void put_aside(void **slot)
{
	kept[used++ % MOST] = *slot;
	*slot = (void *)returned;
}

void *put_back(void)
{
	return kept[--used % MOST];
}

/* The table of returned counts from where its first instruction has been, as if
 * there were no more on the stack than what it takes itself. */
__asm__(".pushsection .text\n"
	".globl caller, work, returned\n"
	".type caller, @function\n"
	"caller:\n"
	"	.cfi_startproc\n"
	"	subq $8, %rsp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	movq %rdi, (%rsp)\n"
	"	call work\n"
	"	addq (%rsp), %rax\n"
	"	addq $8, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size caller, . - caller\n"
	".type work, @function\n"
	"work:\n"
	"	.cfi_startproc\n"
	"	call entered\n"
	"	leaq (%rdi,%rdi,2), %rax\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size work, . - work\n"
	".type entered, @function\n"
	"entered:\n"
	"	.cfi_startproc\n"
	"	subq $16, %rsp\n"
	"	.cfi_def_cfa_offset 24\n"
	"	movq %rdi, (%rsp)\n"
	"	leaq 24(%rsp), %rdi\n"
	"	call put_aside\n"
	"	movq (%rsp), %rdi\n"
	"	addq $16, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size entered, . - entered\n"
	".type returned, @function\n"
	"returned:\n"
	"	.cfi_startproc\n"
	"	subq $48, %rsp\n"
	"	.cfi_def_cfa_offset 48\n"
	"	movq %rax, (%rsp)\n"
	"	movq %rsp, %rdi\n"
	"	.cfi_def_cfa_register %rdi\n"
	"	andq $-16, %rsp\n"
	"	subq $16, %rsp\n"
	"	movq %rdi, (%rsp)\n"
	"	call put_back\n"
	"	movq (%rsp), %rsp\n"
	"	movq %rax, 40(%rsp)\n"
	"	movq (%rsp), %rax\n"
	"	addq $40, %rsp\n"
	"	.cfi_def_cfa_offset 8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size returned, . - returned\n"
	".popsection\n");

int main(void)
{
	long sum = 0;

	for (long i = 0; i < 1000; i++)
		sum += caller(i);
	printf("%ld\n", sum);
	return 3;
}
