#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) int leaf(char *p, long i) { return p[i]; }
__attribute__((noinline)) int middle(char *p, long i) { return leaf(p, i) + 1; }
__attribute__((noinline)) int shift(int n) { return 1 << n; }
static long shared;
static void *run(void *p)
{
	int n = middle(p, 3);
	shared++;
	return (void *)(long)n;
}
__attribute__((noinline)) void *forget(int n)
{
	char *p = malloc(n);
	memset(p, 0, n);
	return p;
}
int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "good";
	char *p = malloc(16);
	pthread_t thread;

	memset(p, 1, 16);
	pthread_create(&thread, NULL, run, p);
	if (!strcmp(mode, "race"))
		shared++;
	pthread_join(thread, NULL);
	if (!strcmp(mode, "leak"))
		printf("%d\n", forget(33) != NULL);
	printf("%d %d\n", middle(p, strcmp(mode, "overrun") ? 2 : 16),
	       shift(strcmp(mode, "undefined") ? 3 : 40));
	free(p);
	return 7;
}
