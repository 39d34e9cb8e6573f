#include <x86intrin.h>
#define SPIN(n) __attribute__((noipa)) void f##n(unsigned long long until) { while (__rdtsc() < until) ; }
static inline unsigned long long until(int i, int when)
{
	unsigned long long end = i == when ? __rdtsc() + 800000 : 0;

	__asm__ volatile("" : "+r"(end)); /* one call site */
	return end;
}
#define CALL(n) for (int i = 0; i < 2000; i++) f##n(until(i, 1000 + n));
#define EIGHT(do, n) do(n##0) do(n##1) do(n##2) do(n##3) do(n##4) do(n##5) do(n##6) do(n##7)
#define ALL(do, n) EIGHT(do, n##0) EIGHT(do, n##1) EIGHT(do, n##2) EIGHT(do, n##3) \
	EIGHT(do, n##4) EIGHT(do, n##5) EIGHT(do, n##6) EIGHT(do, n##7)
#define EACH(do) ALL(do, 1) ALL(do, 2) ALL(do, 3) ALL(do, 4) ALL(do, 5) ALL(do, 6) ALL(do, 7) ALL(do, 8)
EACH(SPIN)
int main(void)
{
	EACH(CALL)
	return 0;
}
