/* build: -O1 -foptimize-sibling-calls */
/* parser DEPTH TOKENS [FORK]: a recursive-descent parser of nested brackets of
 * twenty kinds, a function for each, any within any other, that end by a jump
 * to one of two. It prints how often each was used within each other. The text
 * is made up at random, the same each time; it gets DEPTH deep. When there are
 * FORK tokens left, a child is made that prints what it has done itself, before
 * its parent does. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RULES 20
#define START RULES /* main's place in the table */
#define CLOSE RULES

static long edges[RULES + 1][RULES], ends[RULES][2], depth, deepest, wanted,
	left;
static long fork_at = LONG_MAX;
static pid_t child;
static unsigned long seed = 88172645463325252u;

static inline __attribute__((always_inline)) unsigned long draw(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed >> 33;
}

static __attribute__((noinline)) void make_child(void)
{
	child = fork();
	if (child)
		return;
	memset(edges, 0, sizeof(edges));
	memset(ends, 0, sizeof(ends));
}

/* Down to the depth that is wanted, up and down there, and out at the end. */
static inline __attribute__((always_inline)) unsigned next(void)
{
	if (left == fork_at)
		make_child();
	if (left-- <= 0)
		return CLOSE;
	if (depth < wanted && draw() % 16)
		return draw() % RULES;
	return draw() % 2 && depth < wanted ? draw() % RULES : CLOSE;
}

#define EACH(x) \
	x(0) x(1) x(2) x(3) x(4) x(5) x(6) x(7) x(8) x(9) x(10) x(11) x(12) \
		x(13) x(14) x(15) x(16) x(17) x(18) x(19)

static volatile long ended;

#define END(name) \
	__attribute__((noinline, noclone)) void name(long n) \
	{ \
		for (ended = n % 2; ended < 2; ended++) \
			; \
	}
END(rule_end_0)
END(rule_end_1)

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
		ends[n][--depth % 2]++; \
		if (depth % 2) \
			rule_end_1(depth); \
		else \
			rule_end_0(depth); \
	}
EACH(DEFINE)

int main(int argc, char **argv)
{
	wanted = argc > 1 ? atol(argv[1]) : 10000;
	left = argc > 2 ? atol(argv[2]) : 100000;
	fork_at = argc > 3 ? atol(argv[3]) : LONG_MAX;
	while (left > 0) {
		edges[START][0]++;
		rule_0();
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	for (int i = 0; i <= RULES; i++)
		for (int j = 0; j < RULES; j++)
			if (edges[i][j] && i == START)
				printf("main rule_%d %ld\n", j, edges[i][j]);
			else if (edges[i][j])
				printf("rule_%d rule_%d %ld\n", i, j,
				       edges[i][j]);
	for (int i = 0; i < RULES; i++)
		for (int j = 0; j < 2; j++)
			if (ends[i][j])
				printf("rule_%d rule_end_%d %ld\n", i, j,
				       ends[i][j]);
	printf("depth %ld\n", deepest);
	return 0;
}
