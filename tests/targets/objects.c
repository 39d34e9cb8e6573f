/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* Symbols of functions that have no unwind entry: of an object that the program
 * reads, whose first bytes return should anyone call it; of a function with a
 * table behind it, which it reads; and of the types of two functions, which it
 * reads before it calls them. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern const uint8_t object[];
long with_table(long n);
long typed(long n);
long padded(long n);

__asm__(".text\n"
	".p2align 4\n"
	".globl object\n"
	".type object, @function\n"
	"object:\n"
	"	mov	$-1, %rax\n"
	"	ret\n"
	"	.ascii	\"MADE_CODE\"\n"
	"	.zero	7\n"
	"	.long	3, 5, 7, 11\n"
	"	lea	1(%rdi), %rax\n"
	"	ret\n"
	".size object, . - object\n"
	".p2align 4\n"
	".globl with_table\n"
	".type with_table, @function\n"
	"with_table:\n"
	"	lea	1f(%rip), %rax\n"
	"	and	$3, %edi\n"
	"	mov	(%rax, %rdi, 8), %rax\n"
	"	ret\n"
	"	.p2align 3\n"
	"1:	.quad	2, 3, 5, 7\n"
	".size with_table, . - with_table\n"
	".globl type_of_typed\n"
	".type type_of_typed, @function\n"
	"type_of_typed:\n"
	"	mov	$0x69a958da, %eax\n"
	".size type_of_typed, . - type_of_typed\n"
	".globl typed\n"
	".type typed, @function\n"
	"typed:	.cfi_startproc\n"
	"	lea	1(%rdi), %rax\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size typed, . - typed\n"
	".globl type_of_padded\n"
	".type type_of_padded, @function\n"
	"type_of_padded:\n"
	"	nop\n"
	"	mov	$0x50794, %ecx\n"
	".size type_of_padded, . - type_of_padded\n"
	"	nop\n"
	"	nop\n"
	".globl padded\n"
	".type padded, @function\n"
	"padded:	.cfi_startproc\n"
	"	lea	2(%rdi), %rax\n"
	"	nop\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size padded, . - padded\n");

/* As clang's -fsanitize=kcfi does. */
static long call(long (*f)(long), unsigned padding, uint32_t type, long n)
{
	uint32_t found;

	memcpy(&found, (const char *)f - padding - sizeof(found),
	       sizeof(found));
	if (found != type)
		printf("a function of type %x\n", found);
	return f(n);
}

int main(void)
{
	static const uint8_t begin[] = {0x48, 0xc7, 0xc0, 0xff,
					0xff, 0xff, 0xff, 0xc3};
	long sum = 0;

	if (memcmp(object, begin, sizeof(begin)) != 0 ||
	    memcmp(object + sizeof(begin), "MADE_CODE", 9) != 0) {
		puts("not an object");
		return 1;
	}
	for (long i = 0; i < 10; i++)
		sum += with_table(i) + call(typed, 0, 0x69a958da, i) +
		       call(padded, 2, 0x50794, i);
	printf("%ld\n", sum);
	return 0;
}
