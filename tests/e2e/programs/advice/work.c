#include <pthread.h>
#define KEEP __attribute__((noinline, noclone))
static volatile unsigned long sink;
static KEEP void first(void) { for (int i = 0; i < 200000; i++) sink += i; }
static KEEP void second(void) { for (int i = 0; i < 100000; i++) sink += i; }
KEEP void exported(void) { for (int i = 0; i < 100000; i++) sink += i; }
static void *run(void *none)
{
	for (int i = 0; i < 20; i++) { first(); second(); exported(); }
	return none;
}
int main(void)
{
	pthread_t other;
	if (pthread_create(&other, 0, run, 0)) return 1;
	run(0);
	return pthread_join(other, 0);
}
