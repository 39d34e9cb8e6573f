#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

int call_one(unsigned n);
void say_all(void);
extern char **call_made;
extern char *made_begin, *made_end;

int main(void)
{
	/* sub $8, %rsp; mov %rsp, (%rdi); call *%rsi; add $8, %rsp; ret */
	static const unsigned char code[] = {
		0x48, 0x83, 0xec, 0x08, 0x48, 0x89, 0x27, 0xff, 0xd6,
		0x48, 0x83, 0xc4, 0x08, 0xc3};
	int sum = 0;

	made_begin = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	made_end = made_begin + sizeof(code);
	memcpy(made_begin, code, sizeof(code));
	for (unsigned i = 0; i < 20000; i++)
		sum += call_one(i);
	printf("%d\n", sum);
	say_all();
	return 0;
}
