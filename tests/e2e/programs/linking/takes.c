#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static volatile int sink;

__attribute__((noinline)) int step(int n)
{
	return sink = n;
}

/* Its branch leads back into its first bytes. */
__attribute__((noinline)) int loops(int n)
{
	int sum = 0;

	do
		sum += step(n);
	while (--n > 0);
	return sum;
}

int main(int argc, char **argv)
{
	unsigned long low[16], high[16], start, end;
	char line[512], rights[8];
	int count = 0, sum = 0, word;
	FILE *maps;

	(void)argv;
	for (int i = 0; i < 100; i++)
		sum += loops(3);
	if (argc > 2) { /* it is attached to, and detached from */
		puts("ready");
		fflush(stdout);
		getchar();
		for (int i = 0; i < 100; i++)
			sum += loops(3);
	}
	maps = fopen("/proc/self/maps", "r");
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &start, &end, rights) == 3 &&
		    start < 0x80000000 && rights[2] == 'x' && !strchr(line, '/') &&
		    count < 16) {
			low[count] = start;
			high[count++] = end;
		}
	fclose(maps);
	for (int i = 0; i < count; i++) {
		void *place = (void *)low[i];

		if (argc > 1 && argv[1][0] == 'u') {
			munmap(place, 4096);
			continue;
		}
		if (mmap(place, high[i] - low[i], PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != place)
			return 2;
		memset(place, 0xcc, high[i] - low[i]);
	}
	for (int i = 0; i < 100; i++)
		sum += loops(3);
	if (argc > 2) {
		puts("taken");
		fflush(stdout);
		while ((word = getchar()) != EOF)
			sum += loops(word == 'x');
	}
	fprintf(stderr, "places: %d\n", count);
	printf("sum %d\n", sum);
	return 0;
}
