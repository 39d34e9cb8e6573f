#include <string.h>
int (*entry)(const char *, const char *);
int compare(const char *, const char *);
__asm__("compare: .cfi_startproc; sub $8, %rsp; .cfi_adjust_cfa_offset 8\n"
	"clflush entry(%rip); mfence; nop; call *entry(%rip)\n"
	"add $8, %rsp; .cfi_adjust_cfa_offset -8; ret; .cfi_endproc");
__attribute__((noinline)) int found(char **words, int count, const char *word)
{
	int n = 0;
	for (int i = 0; i < count; i++)
		n += compare(words[i], word) == 0;
	return n;
}
int main(void)
{
	char *words[] = {"one", "two", "three", "four", "five", "six"};
	long sum = 0;
	__asm__("lea strcmp@PLT(%%rip), %0" : "=r"(entry));
	for (int i = 0; i < 200000; i++)
		sum += found(words, 6, words[i % 6]);
	return sum != 200000;
}
