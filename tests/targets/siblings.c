/* build: -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const */
/* siblings FROM TO: contexts that call from so many places each, in orders that
 * change. */
#include <stdio.h>
#include <stdlib.h>

#define ROUNDS 2000

static volatile long sink;

void leaf(int place)
{
	sink += place;
}

/* Each case is a call site of its own. */
#define PLACE(n) \
	case n: \
		leaf(n); \
		break;
#define MOST 13

void call_from(int place)
{
	switch (place) {
		PLACE(0)
		PLACE(1)
		PLACE(2)
		PLACE(3)
		PLACE(4)
		PLACE(5)
		PLACE(6)
		PLACE(7)
		PLACE(8)
		PLACE(9)
		PLACE(10)
		PLACE(11)
		PLACE(12)
	}
}

/* The same function from a call site of its own is another context. */
void caller(int places)
{
	for (int i = 0; i < ROUNDS; i++)
		for (int j = 0; j < places; j++)
			call_from((i * 7 + j * 5) % places);
}

#define IN_CONTEXT(n) \
	if (n >= from && n <= to) \
		caller(n);

int main(int argc, char **argv)
{
	int from = argc > 1 ? atoi(argv[1]) : 1;
	int to = argc > 2 ? atoi(argv[2]) : MOST;

	IN_CONTEXT(1)
	IN_CONTEXT(2)
	IN_CONTEXT(3)
	IN_CONTEXT(4)
	IN_CONTEXT(6)
	IN_CONTEXT(7)
	IN_CONTEXT(9)
	IN_CONTEXT(11)
	IN_CONTEXT(12)
	IN_CONTEXT(13)
	printf("%ld\n", sink);
	return 0;
}
