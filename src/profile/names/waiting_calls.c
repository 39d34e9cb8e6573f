/* Functions that do little but a system call that may block, and those that
 * wait for a lock, a thread or a signal. Not those that compute as well (stdio,
 * getaddrinfo, system). */

#include "profile/names/waiting_calls.h"

#include <stdlib.h>
#include <string.h>

/* Sorted. Symbols like __read, read64 and __read_chk count as read. fcntl may
 * wait for a lock of a file, ioctl for a device. */
static const char *const names[] = {
	"accept",
	"accept4",
	"aio_suspend",
	"clock_nanosleep",
	"cnd_timedwait",
	"cnd_wait",
	"connect",
	"copy_file_range",
	"epoll_pwait",
	"epoll_pwait2",
	"epoll_wait",
	"fcntl",
	"fdatasync",
	"flock",
	"flockfile",
	"fsync",
	"io_getevents",
	"ioctl",
	"lockf",
	"mq_receive",
	"mq_send",
	"mq_timedreceive",
	"mq_timedsend",
	"msgrcv",
	"msgsnd",
	"msync",
	"mtx_lock",
	"mtx_timedlock",
	"nanosleep",
	"pause",
	"poll",
	"ppoll",
	"pread",
	"preadv",
	"preadv2",
	"pselect",
	"pthread_barrier_wait",
	"pthread_clockjoin_np",
	"pthread_cond_clockwait",
	"pthread_cond_timedwait",
	"pthread_cond_wait",
	"pthread_join",
	"pthread_mutex_clocklock",
	"pthread_mutex_lock",
	"pthread_mutex_timedlock",
	"pthread_rwlock_clockrdlock",
	"pthread_rwlock_clockwrlock",
	"pthread_rwlock_rdlock",
	"pthread_rwlock_timedrdlock",
	"pthread_rwlock_timedwrlock",
	"pthread_rwlock_wrlock",
	"pthread_timedjoin_np",
	"pwrite",
	"pwritev",
	"pwritev2",
	"read",
	"readv",
	"recv",
	"recvfrom",
	"recvmmsg",
	"recvmsg",
	"select",
	"sem_clockwait",
	"sem_timedwait",
	"sem_wait",
	"semop",
	"semtimedop",
	"send",
	"sendfile",
	"sendmmsg",
	"sendmsg",
	"sendto",
	"sigsuspend",
	"sigtimedwait",
	"sigwait",
	"sigwaitinfo",
	"sleep",
	"splice",
	"sync",
	"sync_file_range",
	"syncfs",
	"syscall",
	"tcdrain",
	"tee",
	"thrd_join",
	"thrd_sleep",
	"usleep",
	"vmsplice",
	"wait",
	"wait3",
	"wait4",
	"waitid",
	"waitpid",
	"write",
	"writev",
	"xpg_sigpause",
};

static int compare(const void *name, const void *entry)
{
	return strcmp(name, *(const char *const *)entry);
}

static void cut_ending(char *name, const char *ending)
{
	size_t length = strlen(name), cut = strlen(ending);

	if (length > cut && strcmp(name + length - cut, ending) == 0)
		name[length - cut] = '\0';
}

bool swz_call_waits(const char *symbol)
{
	char name[32];

	/* "read@GLIBC_2.2.5" and the like */
	size_t length = strcspn(symbol, "@");

	while (length && *symbol == '_') {
		symbol++;
		length--;
	}
	if (!length || length >= sizeof(name))
		return false;
	memcpy(name, symbol, length);
	name[length] = '\0';
	cut_ending(name, "_chk");
	cut_ending(name, "64");
	return bsearch(name, names, sizeof(names) / sizeof(names[0]),
		       sizeof(names[0]), compare) != NULL;
}
