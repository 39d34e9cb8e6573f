#include <pthread.h>
#include "swizzle.h"
static void *run(void *name)
{
	swizzle_mark(name);
	return NULL;
}
int main(void)
{
	pthread_t thread;
	swizzle_mark("of main");
	pthread_create(&thread, NULL, run, "other");
	return pthread_join(thread, NULL);
}
