/* build: -O1 -fno-optimize-sibling-calls */
/* parser DEPTH TOKENS: a recursive-descent parser of nested brackets of twenty
 * kinds, a function for each, any within any other. It prints how often each
 * rule was used within each other. The text is made up at random, the same each
 * time; it gets DEPTH deep. */
#include <stdio.h>
#include <stdlib.h>

#define RULES 20
#define START RULES /* main's place in the table */
#define CLOSE RULES

static long edges[RULES + 1][RULES], depth, deepest, wanted, left;
static unsigned long seed = 88172645463325252u;

static inline __attribute__((always_inline)) unsigned long draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 33;
}

/* Down to the depth that is wanted, up and down there, and out at the end. */
static inline __attribute__((always_inline)) unsigned next(void)
{
	if (left-- <= 0)
		return CLOSE;
	if (depth < wanted && draw() % 16)
		return draw() % RULES;
	return draw() % 2 && depth < wanted ? draw() % RULES : CLOSE;
}

#define EACH(x) \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) \
		x(13) x(14) x(15) x(16) x(17) x(18) x(19)

#define DECLARE(n) void rule_##n(void);
EACH(DECLARE)

/* The same once more, for use within it. */
#define EACH_RULE(x) \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) \
		x(13) x(14) x(15) x(16) x(17) x(18) x(19)

#define CASE(n) \
	case n: \
		rule_##n(); \
		break;

#define DEFINE(n) \
	__attribute__((noinline, noclone)) void rule_##n(void) \
	{ \
		unsigned token; \
\
		if (++depth > deepest) \
			deepest = depth; \
		while ((token = next()) != CLOSE) { \
			edges[n][token]++; \
			switch (token) { \
				EACH_RULE(CASE) \
			} \
		} \
		depth--; \
	}
EACH(DEFINE)

int main(int argc, char **argv)
{
	wanted = argc > 1 ? atol(argv[1]) : 10000;
	left = argc > 2 ? atol(argv[2]) : 100000;
	while (left > 0) {
		edges[START][0]++;
		rule_0();
	}
	for (int i = 0; i <= RULES; i++)
		for (int j = 0; j < RULES; j++)
			if (edges[i][j] && i == START)
				printf("main rule_%d %ld\n", j, edges[i][j]);
			else if (edges[i][j])
				printf("rule_%d rule_%d %ld\n", i, j,
				       edges[i][j]);
	printf("depth %ld\n", deepest);
	return 0;
}
