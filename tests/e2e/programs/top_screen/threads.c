#define _GNU_SOURCE
#include <pthread.h>
#include <unistd.h>
static volatile unsigned long sink;
__attribute__((noinline)) void in_one(void) { for (int i = 0; i < 1000000; i++) sink += i; }
__attribute__((noinline)) void in_two(void) { for (int i = 0; i < 1000000; i++) sink += i; }
static void *one(void *a) { for (;;) in_one(); return a; }
/* (named after its first call: of which the profile is told no more) */
static void *two(void *a) { in_two(); pthread_setname_np(pthread_self(), "second"); for (;;) in_two(); return a; }
int main(void)
{
	pthread_t a, b;
	pthread_create(&a, NULL, one, NULL);
	pthread_setname_np(a, "first");
	pthread_create(&b, NULL, two, NULL);
	sleep(600);
	return 0;
}
