#ifdef MAIN
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
int unw_backtrace(void **addresses, int room);
static void *run(void *unused)
{
	void *list[20];

	printf("%d\n", unw_backtrace(list, 20));
	return unused;
}
int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN);
	pthread_attr_setguardsize(&attributes, 1 << 16);
	return pthread_create(&thread, &attributes, run, 0) ||
	       pthread_join(thread, 0);
}
#else
int unw_backtrace(void **addresses, int room)
{
	for (int i = 0; i < room; i++)
		addresses[i] = (void *)unw_backtrace;
	return room;
}
int _ULx86_64_get_reg(void *cursor, int number, unsigned long *value)
{
	return !cursor || number || !value;
}
#endif
