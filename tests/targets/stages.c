/* build: -g */
/* Three stages, one after the other: first() runs, rests() waits, second()
 * runs. Then a recursion of 2,000 frames runs: deep(). With an argument, only
 * that. */

#include <stdint.h>
#include <time.h>

#define NOINLINE __attribute__((noinline))

static volatile unsigned sink;

NOINLINE int64_t spent_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000 + now.tv_nsec;
}

NOINLINE void spin(int64_t ns)
{
	int64_t end = spent_ns() + ns;

	while (spent_ns() < end)
		for (int i = 0; i < 10000; i++)
			sink += (unsigned)i;
}

NOINLINE void first(void)
{
	spin(150000000);
	sink++;
}

NOINLINE void rests(void)
{
	struct timespec time = {0, 150000000};

	nanosleep(&time, NULL);
	sink++;
}

NOINLINE void second(void)
{
	spin(100000000);
	sink++;
}

NOINLINE void deep(int frames)
{
	volatile char room[96];

	room[0] = (char)frames;
	if (frames)
		deep(frames - 1);
	else
		spin(100000000);
	sink += (unsigned)room[0];
}

int main(int argc, char **argv)
{
	(void)argv;
	if (argc == 1) {
		first();
		rests();
		second();
	}
	deep(2000);
	return 0;
}
