/* Two threads with the same short function, which one calls for long steps and
 * the other for nothing else. */
#include <pthread.h>
static _Thread_local volatile long sink;
__attribute__((noinline)) long get(long n)
{
	sink = n;
	return n;
}
__attribute__((noinline)) long heavy(long n)
{
	for (int i = 0; i < 200; i++)
		sink += n;
	return get(n);
}
static void *getting(void *p)
{
	for (long i = 0; i < 20000000; i++)
		get(i);
	return p;
}
static void *working(void *p)
{
	for (long i = 0; i < 500000; i++)
		heavy(i);
	return p;
}
int main(void)
{
	pthread_t t[2];
	pthread_create(&t[0], 0, getting, 0);
	pthread_create(&t[1], 0, working, 0);
	pthread_join(t[0], 0);
	return pthread_join(t[1], 0);
}
