#define _GNU_SOURCE
#include <aio.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	const struct aiocb *none[1] = {NULL};
	struct timespec zero = {0};
	struct flock lock = {.l_type = F_WRLCK};
	int bytes, result = fcntl(0, F_SETLKW, &lock);

	result += ioctl(0, FIONREAD, &bytes);
	result += aio_suspend(none, 1, &zero);
	result += (int)tee(0, 1, 1, SPLICE_F_NONBLOCK);
	flockfile(stdout);
	(void)argv;
	return argc + result > 1000;
}
