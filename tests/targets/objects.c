/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* Two symbols of functions that have no unwind entry: one of an object that
 * the program reads, whose first bytes return should anyone call it; and one of
 * a function with a table behind it, which it reads. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern const uint8_t object[];
long with_table(long n);

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
	".size with_table, . - with_table\n");

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
		sum += with_table(i);
	printf("%ld\n", sum);
	return 0;
}
