#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define MANY(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) \
	X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) X(24) X(25) \
	X(26) X(27) X(28) X(29) X(30) X(31)
#define DECLARE(n) int many_##n(int);
#define LIST(n) many_##n,
#define STORE(n) table->many[n] = many_##n;
#define FUNCTIONS(X) \
	X(with_frame, 1) X(with_switch, 1) X(calls_helper, 1) X(jumps_on, 1) \
	X(jumped_to, 1) X(runs_on, 1) X(run_into, 1) X(sum_of_numbers, 1) \
	X(has_part, 0) X(goes_by_table, 0) X(keeps_below, 0)
#define DECLARE_2(name, found) int name(int, int);

#define PRAGMA_(x) _Pragma(#x)
#define PRAGMA(x) PRAGMA_(x)
PRAGMA(GCC visibility push(VISIBILITY))
MANY(DECLARE)
FUNCTIONS(DECLARE_2)
extern int helper(int), part(int), part_2(int), part_3(int), op_add(int), op_twice(int),
	op_end(int);
extern char *reads_its_caller(void), *reads_by_copy(void), *pops_its_caller(void);
extern int saves_context(void **), goes_there(void **);
extern int interpret(const char *, int (*const *)(int));
extern const unsigned char numbers[16], more_numbers[32];
#pragma GCC visibility pop
extern char __executable_start, etext;

/* in data */
int (*const by_data[])(int) = {MANY(LIST)};
int (*const operations[])(int) = {op_end, op_add, op_twice};
const void *volatile others[] = {part, part_2, more_numbers, numbers, part_3};
struct table {
	int (*many[32])(int);
	int (*other[12])(int, int);
	char *(*look[3])(void);
	const void *numbers;
} stored;

/* by instructions, as codecs fill in their tables */
__attribute__((noinline)) void fill(struct table *table)
{
	unsigned n = 0;

	MANY(STORE)
#define STORE_2(name, found) table->other[n++] = name;
	FUNCTIONS(STORE_2)
	table->look[0] = reads_its_caller;
	table->look[1] = reads_by_copy;
	table->look[2] = pops_its_caller;
	table->numbers = numbers;
}

__attribute__((noinline)) static void say(const char *name, const void *at, int calls)
{
	fprintf(stderr, "%s sub_%lx %d\n", name,
		(long)((const char *)at - &__executable_start), calls);
}

int main(void)
{
	static const char program[] = {1, 1, 2, 1, 2, 0};
	void *context[2];
	unsigned sum = 0;

	fill(&stored);
	for (int i = 0; i < 10; i++) {
		for (int n = 0; n < 32; n++)
			sum += (unsigned)(stored.many[n](i) + by_data[n](n));
		for (int n = 0; stored.other[n]; n++)
			printf("%d ", stored.other[n](i, i - 1));
		for (int n = 0; n < 3; n++) {
			char *from = stored.look[n]();

			printf("%d ", from > &__executable_start && from < &etext);
		}
		printf("%d %d\n", interpret(program, operations), helper(i));
	}
	if (saves_context(context) == 0)
		goes_there(context);
	for (unsigned i = 0; i < 16; i++)
		sum = 31 * sum + ((const unsigned char *)others[3])[i];
	for (unsigned i = 0; i < 32; i++)
		sum = 31 * sum + ((const unsigned char *)others[2])[i];
	printf("%u\n", sum);
	for (int n = 0; n < 32; n++)
		say("many", (const void *)by_data[n], 20);
#define SAY(name, found) if (found) say(#name, (const void *)name, \
	10 * (1 + (name == jumped_to) + (name == run_into)));
	FUNCTIONS(SAY)
	say("helper", (const void *)helper, 20);
	return 0;
}
