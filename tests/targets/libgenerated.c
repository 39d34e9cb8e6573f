/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* A runtime that looks for the return address which code of its own making has
 * left when it last called. MARK is what makes it known for that. */

static volatile long sink;

#ifdef MARK
void MARK(void)
{
	sink = 0;
}
#endif

/* Where that return address lies. */
const long *last_place;

long look(void)
{
	sink = 1;
	return *last_place;
}

long runtime_entry(long base)
{
	sink = base;
	return look() - base;
}

#ifdef COMPILED
/* What its compiler has made ahead of time: records the place, then calls. */
__asm__(".pushsection .text\n"
	".globl compiled\n"
	".type compiled, @function\n"
	"compiled:\n"
	"	.cfi_startproc\n"
	"	subq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset 8\n"
	"	leaq -8(%rsp), %rax\n"
	"	movq %rax, (%rdx)\n"
	"	call *%rsi\n"
	"	addq $8, %rsp\n"
	"	.cfi_adjust_cfa_offset -8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size compiled, . - compiled\n"
	".popsection\n");
#endif
