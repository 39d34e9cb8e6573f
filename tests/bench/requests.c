/* Many calls, some of them with arguments, for tests/bench/calls_view:
 * "requests COUNT" makes 20 calls for each. */

#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noipa))

NOINLINE int token(const char *text, int at)
{
	return text[at & 3];
}

NOINLINE int parse(const char *text, int tokens)
{
	int sum = 0;

	for (int i = 0; i < tokens; i++)
		sum += token(text, i);
	return sum;
}

NOINLINE int store(int key, int value)
{
	return key ^ value;
}

NOINLINE int answer(const char *text, int number)
{
	return store(parse(text, 8), number) + store(number, parse(text, 6));
}

NOINLINE int request(int number)
{
	return number % 1000 == 999 ? -1 : answer("GET /", number);
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 1000, sum = 0;

	for (int i = 0; i < count; i++)
		sum += request(i);
	printf("%d\n", sum);
	return 0;
}
