#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
static void change(int pid, const struct rlimit *to, struct rlimit *before)
{
	void *room;

	errno = 0;
	printf("%d ", prlimit(pid, RLIMIT_AS, to, before));
	printf("%d", errno);
	if ((unsigned long)before > 4096)
		printf(", before %llx %llx", (unsigned long long)before->rlim_cur,
		       (unsigned long long)before->rlim_max);
	room = mmap(NULL, 100 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0);
	puts(room == MAP_FAILED ? ", no room" : ", room");
	if (room != MAP_FAILED)
		munmap(room, 100 << 20);
}
int main(int argc, char **argv)
{
	struct rlimit limit = {200 << 20, 1 << 30}, before, more = limit;
	volatile unsigned long wrong = 8;

	change(0, NULL, &before);
	change(0, &limit, &before);
	change(getpid(), NULL, &before);
	change(getpid(), NULL, NULL);
	change(0, (struct rlimit *)wrong, &before);
	change(0, NULL, (struct rlimit *)wrong);
	more.rlim_cur = more.rlim_max + 1;
	change(0, &more, NULL);
	more.rlim_cur = 150 << 20;
	change(0, &more, (struct rlimit *)wrong);
	getrlimit(RLIMIT_AS, &before);
	printf("now %llx %llx\n", (unsigned long long)before.rlim_cur,
	       (unsigned long long)before.rlim_max);
	change(1 << 30, &limit, &before);
	fflush(stdout);
	if (argc > 1)
		execvp(argv[1], argv + 1);
	return 0;
}
