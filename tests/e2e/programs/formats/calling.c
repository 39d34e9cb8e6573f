#include <pthread.h>
static void *begin(void *function)
{
	((void (*)(void))function)();
	return NULL;
}
void call_in_thread(void (*function)(void))
{
	pthread_t thread;
	pthread_create(&thread, NULL, begin, (void *)function);
	pthread_join(thread, NULL);
}
