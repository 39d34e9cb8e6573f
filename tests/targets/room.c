/* Prints how many MiB of address space it may map. */
#include <stdio.h>
#include <sys/mman.h>

int main(void)
{
	size_t most = 0;

	/* from 4 GiB down, what fits in one piece; then in more of them */
	for (size_t bytes = (size_t)1 << 32; bytes >= 1 << 20; bytes /= 2)
		while (mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0) != MAP_FAILED) {
			most += bytes >> 20;
			if (most >= 1 << 16)
				break;
		}
	printf("%zu\n", most);
	return 0;
}
