/* Two functions that take about as long, one of which does so in many calls of
 * a tiny function: what tracing profilers are said to get wrong ("Introducing
 * JSC's New Sampling Profiler", webkit.org, 2016). */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))

static inline double series(double x, double first, double sign)
{
	double square = x * x, term = first, sum = first;

	for (int i = 2; i < 8; i += 2) {
		term *= sign * square / (i * (i + 1));
		sum += term;
	}
	return sum;
}

NOINLINE static double sin_of(double x)
{
	return series(x, x, -1);
}

NOINLINE static double compute_sin(int rounds)
{
	double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += sin_of(i % 7 * 0.1);
	return sum;
}

NOINLINE static double compute_cos(int rounds)
{
	double sum = 0;

	for (int i = 0; i < rounds; i++)
		sum += series(i % 7 * 0.1, 1, -1);
	return sum;
}

int main(int argc, char **argv)
{
	int times = argc > 1 ? atoi(argv[1]) : 1;
	double sum = 0;

	for (int i = 0; i < times * 100; i++)
		sum += compute_sin(40000) + compute_cos(40000);
	printf("%.3f\n", sum);
	return 0;
}
