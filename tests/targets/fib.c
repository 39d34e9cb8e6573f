/* build: -O2 */
/* fib(30): 2,692,537 calls of fib. With an argument N: that many threads, each
 * of which does it. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((noinline, noclone,
	       optimize("no-inline-functions", "no-optimize-sibling-calls",
			"no-ipa-cp"))) long
fib(long n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void *run(void *argument)
{
	(void)argument;
	return (void *)fib(30);
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 0;
	pthread_t thread[64];

	if (!threads)
		printf("%ld\n", fib(30));
	for (int i = 0; i < threads; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	for (int i = 0; i < threads; i++) {
		void *result;

		pthread_join(thread[i], &result);
		printf("%ld\n", (long)result);
	}
	return 0;
}
