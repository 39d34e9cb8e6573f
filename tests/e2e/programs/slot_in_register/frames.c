#include <execinfo.h>
#include <stdio.h>

long aligned(long, long, long, long, long, long, long), at_the_end(long),
	handed_on(long);
char *loads(void), *loads_a_vector(void), *loads_by_an_index(void), *keeps(void),
	*copies(void), *pushes(void), *exchanges(void), *asks(void),
	*strings(void), *vector_to_general(void), *not_said(void);
extern char __executable_start, etext;

__attribute__((noinline)) long ask(void)
{
	void *frames[32];

	return backtrace(frames, 32);
}

int main(void)
{
	char *(*const looks[])(void) = {
		loads, loads_a_vector, loads_by_an_index, keeps, copies, pushes,
		exchanges, asks, strings, vector_to_general, not_said};

	for (long i = 0; i < 1000; i++) {
		long sum = aligned(i, 0, 0, 0, 0, 0, 5);

		sum += at_the_end(i);
		sum += handed_on(i);
		printf("%ld\n", sum);
	}
	for (unsigned i = 0; i < sizeof(looks) / sizeof(*looks); i++) {
		char *from = looks[i]();

		printf("%u %d\n", i, from > &__executable_start && from < &etext);
	}
	return 0;
}
