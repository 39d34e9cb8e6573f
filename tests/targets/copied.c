/* build: -O1 -fno-inline -fno-optimize-sibling-calls */
/* Functions in sections of their own: one that is copied and runs at its copy,
 * one that is not, and calls another. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

typedef long function(long n, long *p);

extern const uint8_t __start_copied_code[], __stop_copied_code[];

__attribute__((section("copied_code"))) long copied(long n, long *p)
{
	for (long i = 0; i < n; i++)
		*p += i;
	return *p;
}

long called(long n, long *p)
{
	*p -= n;
	return n;
}

__attribute__((section("other_code"))) long calling(long n, long *p)
{
	return called(n, p) + 1;
}

int main(void)
{
	size_t size = (size_t)((uintptr_t)__stop_copied_code -
			       (uintptr_t)__start_copied_code);
	void *copy = mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	function *run = (function *)(uintptr_t)copy;
	long sum = 0;

	memcpy(copy, __start_copied_code, size);
	for (long i = 0; i < 10; i++) {
		run(i, &sum);
		copied(i, &sum);
		calling(i, &sum);
	}
	printf("%ld\n", sum);
	return 0;
}
