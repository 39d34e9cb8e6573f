#include <stdio.h>
#include <string.h>

#define PLAIN __attribute__((noinline, noclone))
#define CALLS 100

static struct call {
	const char *name;
	int from, to, levels, left, right, deep, number;
} calls[CALLS];
static int count, stack[CALLS], open;
static volatile long sink;

/* (no function of its own: it would be a call) */
#define ENTER(is)                                                              \
	do {                                                                   \
		for (int i = 0; i < open; i++)                                 \
			if (calls[stack[i]].levels < open - i)                 \
				calls[stack[i]].levels = open - i;             \
		if (open)                                                      \
			calls[stack[open - 1]].is++;                           \
		calls[count].name = #is;                                       \
		calls[count].from = count;                                     \
		stack[open++] = count++;                                       \
		for (long n = 0; n < 20000; n++)                               \
			sink += n;                                             \
	} while (0)
#define LEAVE() (calls[stack[--open]].to = count)

PLAIN void left(void)
{
	ENTER(left);
	LEAVE();
}

PLAIN void right(void)
{
	ENTER(right);
	LEAVE();
}

PLAIN void deep(int n)
{
	ENTER(deep);
	if (n)
		deep(n - 1);
	LEAVE();
}

#define work number /* the member counts what is called `work` */
PLAIN void call_work(int n) __asm__("work");
PLAIN void call_work(int n)
{
	ENTER(work);
	calls[stack[open - 1]].name = "work";
	if (n % 2)
		left();
	if (n % 3 == 0) {
		right();
		left();
	}
	if (n < 0)
		deep(-n);
	LEAVE();
}

int main(void)
{
	static const int numbers[] = {1, 2, 3, 6, -2, 0, 1, -4, 9, 4};

	count = 1;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		call_work(numbers[i]);
	for (int i = 1; i < count; i++)
		printf("%s %d %d %d %s%s%s.\n", calls[i].name, calls[i].from,
		       calls[i].to, calls[i].levels,
		       calls[i].left ? "left " : "",
		       calls[i].right ? "right " : "",
		       calls[i].deep ? "deep " : "");
	return 0;
}
