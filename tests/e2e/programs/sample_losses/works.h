#include <time.h>
static volatile unsigned long sink;
static double used(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec / 1e9;
}
#define WORK(name) \
	__attribute__((noipa)) void name(double seconds) \
	{ \
		double end = used() + seconds; \
		while (used() < end) \
			for (int i = 0; i < 10000; i++) \
				sink += i; \
		sink++; \
	}
