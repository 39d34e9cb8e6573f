/* build: -O1 -fno-inline -fno-optimize-sibling-calls -fno-ipa-pure-const
 * -fno-ipa-cp */
/* Frames that return again, since their stack was copied away and is copied
 * back: in the process itself, in a child that has called something before, and
 * in one that has not. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST (64 << 10)

static jmp_buf here;
static char copy[MOST];
static char *low, *high; /* what is copied */
static volatile long answer, sink;

/* More contexts than there are in a child. */
long many(long n)
{
	static long (*const again[])(long) = {many, many};

	sink = n;
	return n ? again[n % 2](n - 1) + again[(n + 1) % 2](n - 1) : 1;
}

long after(long n)
{
	sink = n;
	return n + 1;
}

long before_copy(long n)
{
	sink = n;
	return n;
}

static __attribute__((noipa)) void take(void)
{
	low = __builtin_frame_address(0);
	memcpy(copy, low, (size_t)(high - low));
}

/* Copies what lies above its own frame. */
static __attribute__((noipa)) void give_back(void)
{
	volatile char room[MOST];

	room[0] = 1;
	memcpy(low, copy, (size_t)(high - low));
	longjmp(here, room[0]);
}

long deep(long depth)
{
	long result;

	if (depth) {
		result = deep(depth - 1);
		return result + after(depth) - depth - 1;
	}
	if (!setjmp(here))
		take();
	return answer;
}

static long resume(long with)
{
	answer = with;
	give_back();
	return 0;
}

static void wait_for(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	printf("status %d\n", status);
	fflush(stdout);
}

__attribute__((noipa)) static void run(void)
{
	static volatile int times;
	long result = deep(20);
	pid_t pid;

	times++;
	printf("%ld %d\n", result + after(0) - 1, times);
	fflush(stdout);
	if (times < 4)
		resume(times);
	if (times == 4) {
		pid = fork();
		if (!pid)
			resume(100);
		wait_for(pid);
		pid = fork();
		if (!pid) {
			before_copy(1);
			resume(200);
		}
		wait_for(pid);
	}
}

int main(void)
{
	high = __builtin_frame_address(0);
	sink = many(12);
	run();
	return (int)after(2);
}
