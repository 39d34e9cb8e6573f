#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>
static void *wait_for_nothing(void *unused)
{
	struct epoll_event event;
	int fd = epoll_create1(EPOLL_CLOEXEC);
	for (;;)
		if (epoll_wait(fd, &event, 1, 50) < 0 && errno == EINTR)
			_exit(5);
	return unused;
}
int main(int argc, char **argv)
{
	pthread_t thread;
	(void)argc;
	for (int i = 0; i < 3; i++)
		pthread_create(&thread, NULL, wait_for_nothing, NULL);
	usleep(30000);
	execv(argv[0], argv);
	return 1;
}
