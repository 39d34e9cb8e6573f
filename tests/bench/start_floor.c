/* start_floor BYTES PAGES: what a start cannot do without, as processor time in
 * ms, the least of some rounds. First at memory speed: so many bytes of a plan
 * copied, and so many pages. Then as the kernel does it: a file of that length
 * read, and as many pages of a private mapping of a file made copies, all by
 * one call. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { ROUNDS = 7, PAGE = 4096 };

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void *memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		exit(1);
	memset(at, 1, bytes);
	return at;
}

/* In the page cache, without a name. */
static int file_of(const void *bytes, size_t size)
{
	char name[] = "/tmp/start_floor-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || unlink(name) != 0 ||
	    write(fd, bytes, size) != (ssize_t)size)
		exit(1);
	return fd;
}

static void copy_pages(int fd, size_t bytes)
{
	char *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd,
			0);

	if (at == MAP_FAILED || madvise(at, bytes, MADV_POPULATE_WRITE) != 0)
		exit(1);
	munmap(at, bytes);
}

int main(int argc, char **argv)
{
	size_t plan, pages, all;
	double least[2] = {1e9, 1e9};
	char *from, *to;
	int fd;

	if (argc != 3)
		return 2;
	plan = strtoull(argv[1], NULL, 10) + 1;
	pages = (strtoull(argv[2], NULL, 10) + 1) * PAGE;
	all = plan + pages;
	from = memory(all);
	to = memory(all);
	fd = file_of(from, all);
	for (int i = 0; i < ROUNDS; i++) {
		double begin = now_ms(), copied, done;

		memcpy(to, from, all);
		__asm__ volatile("" : : "r"(to) : "memory");
		copied = now_ms() - begin;
		begin = now_ms();
		if (pread(fd, to, plan, 0) != (ssize_t)plan)
			return 1;
		copy_pages(fd, pages);
		done = now_ms() - begin;
		if (copied < least[0])
			least[0] = copied;
		if (done < least[1])
			least[1] = done;
	}
	printf("%.3f %.3f\n", least[0], least[1]);
	return 0;
}
