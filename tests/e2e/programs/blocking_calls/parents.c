#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>
static int eintr;
static void *wait_for_nothing(void *unused)
{
	struct epoll_event event;
	int fd = epoll_create1(0);
	while (access("stop.parents", F_OK))
		if (epoll_wait(fd, &event, 1, 50) < 0 && errno == EINTR)
			__sync_fetch_and_add(&eintr, 1);
	return unused;
}
int main(void)
{
	pthread_t threads[4];
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, wait_for_nothing, NULL);
	puts("ready");
	fflush(stdout);
	while (access("stop.parents", F_OK)) {
		pid_t child = fork();
		if (!child) {
			usleep(2000);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	}
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	printf("eintr %d\n", eintr);
	return 0;
}
