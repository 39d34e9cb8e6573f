/* build: -O1 -pthread */
/* One thread for each system call that can wait, and what it must not see while
 *it is attached to: EINTR, a part of what natively is done as a whole, a time
 *limit that begins anew. No signal has a handler, but for pause and
 *rt_sigsuspend.
 *
 *	blocking [ROW...]
 *
 * prints "ready", runs until there is a line on its input, or that ends, and
 * prints a line for each row: "NAME rounds N eintr N short N late N early N
 *wrong N", or "NAME absent" where the kernel has no such call. Docs: the table
 *of docs/internals/blocking-calls.md. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#ifndef SYS_io_uring_setup
#define SYS_io_uring_setup 425
#define SYS_io_uring_enter 426
#endif

#define LIMIT_MS 1500 /* of calls with a limit that nothing ends before */
/* Longer than a sleep until a time: it has begun anew. One round in three may,
 * when the thread was about to sleep as it was stopped
 * (docs/internals/blocking-calls.md), or had no processor. */
#define LATE_MS 700
#define BYTES 300000u  /* of calls that do them all */
#define TICK_MS 10     /* between feeds */
#define EVENT_TICKS 25 /* between events */

struct row {
	const char *name;
	/* Makes the call. With `limit`, it is to end after LIMIT_MS with
	 * `expected` (an errno, negated; or 0). Else it returns what it has
	 * done, of `expected`. */
	long (*call)(struct row *row);
	bool (*begin)(struct row *row); /* false: absent */
	void (*feed)(struct row *row);  /* now and then, on another thread */
	bool limit;
	long expected;

	int in, out; /* descriptors: of the call, of what feeds it */
	int word;    /* futex */
	pthread_t thread;
	bool absent;
	unsigned ticks, rounds, eintr, cut, early, wrong;
	unsigned over; /* rounds that took too long */
	double longest_ms;
	char *buffer;
};

static volatile int done;
static const struct timespec limit = {LIMIT_MS / 1000,
				      LIMIT_MS % 1000 * 1000000l};
static const struct timeval limit_us = {LIMIT_MS / 1000,
					LIMIT_MS % 1000 * 1000l};

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct timespec deadline(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	t.tv_sec += limit.tv_sec;
	t.tv_nsec += limit.tv_nsec;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	return t;
}

static long negated(long result)
{
	return result < 0 ? -errno : result;
}

/* ------------------------------------------------------------- what begins */

static bool begin_nothing(struct row *row)
{
	row->in = row->out = -1;
	return true;
}

static bool begin_pipe(struct row *row)
{
	int ends[2];

	if (pipe(ends) != 0)
		return false;
	row->in = ends[0];
	row->out = ends[1];
	return true;
}

/* The call writes. */
static bool begin_full_pipe(struct row *row)
{
	bool good = begin_pipe(row);
	int in = row->in;

	row->in = row->out;
	row->out = in;
	fcntl(row->out, F_SETFL, O_NONBLOCK);
	return good;
}

static bool begin_pair(struct row *row)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return false;
	row->in = ends[0];
	row->out = ends[1];
	fcntl(row->out, F_SETFL, O_NONBLOCK);
	return true;
}

static bool begin_datagrams(struct row *row)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) != 0)
		return false;
	row->in = ends[0];
	row->out = ends[1];
	fcntl(row->out, F_SETFL, O_NONBLOCK);
	return true;
}

static bool begin_limited_pair(struct row *row)
{
	return begin_pair(row) && setsockopt(row->in, SOL_SOCKET, SO_RCVTIMEO,
					     &limit_us, sizeof(limit_us)) == 0;
}

/* Full, and nobody reads. */
static bool begin_limited_full_pair(struct row *row)
{
	static const char some[4096];

	if (!begin_pair(row))
		return false;
	fcntl(row->in, F_SETFL, O_NONBLOCK);
	while (write(row->in, some, sizeof(some)) > 0)
		continue;
	fcntl(row->in, F_SETFL, 0);
	return setsockopt(row->in, SOL_SOCKET, SO_SNDTIMEO, &limit_us,
			  sizeof(limit_us)) == 0;
}

static struct sockaddr_un address_of(const struct row *row, socklen_t *bytes)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int length = snprintf(address.sun_path + 1,
			      sizeof(address.sun_path) - 1, "blocking-%d-%s",
			      (int)getpid(), row->name);

	*bytes = (socklen_t)(sizeof(sa_family_t) + 1 + (size_t)length);
	return address;
}

static bool begin_listener(struct row *row)
{
	socklen_t bytes;
	struct sockaddr_un address = address_of(row, &bytes);

	row->in = socket(AF_UNIX, SOCK_STREAM, 0);
	row->out = -1;
	return bind(row->in, (struct sockaddr *)&address, bytes) == 0 &&
	       listen(row->in, 0) == 0;
}

static bool begin_limited_listener(struct row *row)
{
	return begin_listener(row) &&
	       setsockopt(row->in, SOL_SOCKET, SO_RCVTIMEO, &limit_us,
			  sizeof(limit_us)) == 0;
}

/* A listener whose queue is full: what comes then is not answered. */
static bool begin_busy_listener(struct row *row)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t bytes = sizeof(address);
	int fd = 0;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	row->in = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(row->in, (struct sockaddr *)&address, bytes) != 0 ||
	    listen(row->in, 0) != 0)
		return false;
	getsockname(row->in, (struct sockaddr *)&address, &bytes);
	for (int i = 0; i < 4 && fd >= 0; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		(void)!connect(fd, (struct sockaddr *)&address, bytes);
	}
	return true;
}

static bool begin_epoll(struct row *row)
{
	row->in = epoll_create1(0);
	return row->in >= 0;
}

static bool begin_eventfd(struct row *row)
{
	row->in = row->out = eventfd(0, 0);
	return row->in >= 0;
}

static bool begin_timerfd(struct row *row)
{
	row->in = timerfd_create(CLOCK_MONOTONIC, 0);
	return row->in >= 0;
}

static bool begin_inotify(struct row *row)
{
	char name[] = "/tmp/blocking.XXXXXX";

	row->in = inotify_init();
	row->out = mkstemp(name);
	if (row->in < 0 || row->out < 0 ||
	    inotify_add_watch(row->in, name, IN_MODIFY) < 0)
		return false;
	unlink(name);
	return true;
}

static bool begin_signalfd(struct row *row)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	row->in = signalfd(-1, &set, 0);
	return row->in >= 0;
}

/* Two descriptions of one file, of which the other has the lock. */
static bool begin_file(struct row *row)
{
	char name[] = "/tmp/blocking.XXXXXX";

	row->out = mkstemp(name);
	row->in = open(name, O_RDWR);
	unlink(name);
	return row->in >= 0 && row->out >= 0;
}

static bool begin_flock(struct row *row)
{
	return begin_file(row) && flock(row->out, LOCK_EX) == 0;
}

static bool begin_lock(struct row *row)
{
	struct flock lock = {.l_type = F_WRLCK};

	return begin_file(row) && fcntl(row->out, F_OFD_SETLK, &lock) == 0;
}

static bool begin_messages(struct row *row)
{
	row->in = msgget(IPC_PRIVATE, 0600);
	return row->in >= 0;
}

static bool begin_semaphore(struct row *row)
{
	row->in = semget(IPC_PRIVATE, 1, 0600);
	return row->in >= 0;
}

static bool begin_queue(struct row *row)
{
	struct mq_attr size = {.mq_maxmsg = 1, .mq_msgsize = 8};
	char name[64];

	snprintf(name, sizeof(name), "/blocking-%d-%s", (int)getpid(),
		 row->name);
	row->in = (int)mq_open(name, O_RDWR | O_CREAT, 0600, &size);
	mq_unlink(name);
	return row->in >= 0;
}

static bool begin_full_queue(struct row *row)
{
	return begin_queue(row) && mq_send((mqd_t)row->in, "full", 4, 0) == 0;
}

static aio_context_t contexts[2];

static bool begin_aio(struct row *row)
{
	aio_context_t *context = &contexts[row->expected != 0];

	*context = 0;
	row->out = (int)syscall(SYS_memfd_create, "blocking", 0);
	return row->out >= 0 && syscall(SYS_io_setup, 64, context) == 0;
}

struct ring_parameters {
	uint32_t words[10 + 10 + 10];
};

static bool begin_ring(struct row *row)
{
	struct ring_parameters parameters;

	memset(&parameters, 0, sizeof(parameters));
	row->in = (int)syscall(SYS_io_uring_setup, 4, &parameters);
	return row->in >= 0 && parameters.words[5] & 1u << 8; /* EXT_ARG */
}

/* Its slave is written to, its master is read. */
static bool begin_terminal(struct row *row)
{
	struct termios raw;

	row->out = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (row->out < 0 || grantpt(row->out) != 0 || unlockpt(row->out) != 0)
		return false;
	row->in = open(ptsname(row->out), O_RDWR | O_NOCTTY);
	if (row->in < 0 || tcgetattr(row->in, &raw) != 0)
		return false;
	cfmakeraw(&raw);
	return tcsetattr(row->in, TCSANOW, &raw) == 0;
}

static bool begin_fifo(struct row *row)
{
	row->buffer = malloc(64);
	snprintf(row->buffer, 64, "/tmp/blocking-fifo-%d", (int)getpid());
	unlink(row->buffer);
	return mkfifo(row->buffer, 0600) == 0;
}

/* --------------------------------------------------------------- the calls */

#define CALL(name) static long call_##name(struct row *row)

CALL(epoll_wait)
{
	struct epoll_event event;

	return negated(epoll_wait(row->in, &event, 1, LIMIT_MS));
}

CALL(epoll_pwait)
{
	struct epoll_event event;
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	return negated(epoll_pwait(row->in, &event, 1, LIMIT_MS, &set));
}

CALL(epoll_pwait2)
{
	struct epoll_event event;

	return negated(
		syscall(SYS_epoll_pwait2, row->in, &event, 1, &limit, NULL, 0));
}

CALL(poll)
{
	struct pollfd fd = {row->in, POLLIN, 0};

	return negated(poll(&fd, 1, LIMIT_MS));
}

CALL(ppoll)
{
	struct pollfd fd = {row->in, POLLIN, 0};

	return negated(ppoll(&fd, 1, &limit, NULL));
}

CALL(select)
{
	struct timeval time = limit_us;
	fd_set set;

	FD_ZERO(&set);
	FD_SET(row->in, &set);
	return negated(
		syscall(SYS_select, row->in + 1, &set, NULL, NULL, &time));
}

CALL(pselect6)
{
	fd_set set;

	FD_ZERO(&set);
	FD_SET(row->in, &set);
	return negated(pselect(row->in + 1, &set, NULL, NULL, &limit, NULL));
}

CALL(nanosleep)
{
	(void)row;
	return negated(syscall(SYS_nanosleep, &limit, NULL));
}

CALL(clock_nanosleep)
{
	(void)row;
	return -clock_nanosleep(CLOCK_MONOTONIC, 0, &limit, NULL);
}

CALL(clock_nanosleep_until)
{
	struct timespec time = deadline(CLOCK_REALTIME);

	(void)row;
	return -clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &time, NULL);
}

CALL(futex)
{
	return negated(syscall(SYS_futex, &row->word, FUTEX_WAIT_PRIVATE, 0,
			       &limit, NULL, 0));
}

CALL(futex_until)
{
	struct timespec time = deadline(CLOCK_MONOTONIC);

	return negated(syscall(SYS_futex, &row->word, FUTEX_WAIT_BITSET_PRIVATE,
			       0, &time, NULL, FUTEX_BITSET_MATCH_ANY));
}

CALL(futex_lock)
{
	struct timespec time = deadline(CLOCK_REALTIME);

	row->word = (int)getpid(); /* (the first thread has it) */
	return negated(syscall(SYS_futex, &row->word, FUTEX_LOCK_PI_PRIVATE, 0,
			       &time, NULL, 0));
}

CALL(futex_waitv)
{
	struct timespec time = deadline(CLOCK_MONOTONIC);
	struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} wait = {0, (uintptr_t)&row->word, 2 | 128, 0};

	return negated(
		syscall(SYS_futex_waitv, &wait, 1, 0, &time, CLOCK_MONOTONIC));
}

CALL(futex_wake)
{
	row->word = 0;
	return negated(syscall(SYS_futex, &row->word, FUTEX_WAIT_PRIVATE, 0,
			       NULL, NULL, 0));
}

CALL(semtimedop)
{
	struct sembuf take = {0, -1, 0};

	return negated(syscall(SYS_semtimedop, row->in, &take, 1, &limit));
}

CALL(semop)
{
	struct sembuf take = {0, -1, 0};

	return negated(semop(row->in, &take, 1));
}

CALL(rt_sigtimedwait)
{
	sigset_t set;

	(void)row;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	return negated(sigtimedwait(&set, NULL, &limit));
}

CALL(io_getevents)
{
	struct io_event events[4];
	struct timespec time = limit;

	(void)row;
	return negated(
		syscall(SYS_io_getevents, contexts[0], 1, 4, events, &time));
}

CALL(io_getevents_all)
{
	struct io_event events[32];

	(void)row;
	return negated(
		syscall(SYS_io_getevents, contexts[1], 16, 16, events, NULL));
}

CALL(io_uring_enter)
{
	struct {
		uint64_t mask;
		uint32_t mask_bytes, pad;
		uint64_t time;
	} argument = {0, 0, 0, (uintptr_t)&limit};

	return negated(syscall(SYS_io_uring_enter, row->in, 0, 1, 1 | 8,
			       &argument, sizeof(argument)));
}

CALL(mq_timedreceive)
{
	struct timespec time = deadline(CLOCK_REALTIME);
	char bytes[8];

	return negated(mq_timedreceive((mqd_t)row->in, bytes, sizeof(bytes),
				       NULL, &time));
}

CALL(mq_timedsend)
{
	struct timespec time = deadline(CLOCK_REALTIME);

	return negated(mq_timedsend((mqd_t)row->in, "more", 4, 0, &time));
}

CALL(read)
{
	char bytes[8];

	return negated(read(row->in, bytes, sizeof(bytes)));
}

CALL(readv)
{
	char bytes[8];
	struct iovec v[2] = {{bytes, 4}, {bytes + 4, 4}};

	return negated(readv(row->in, v, 2));
}

CALL(inotify)
{
	char bytes[512];

	return negated(read(row->in, bytes, sizeof(bytes))) > 0;
}

CALL(signalfd)
{
	struct signalfd_siginfo info;

	return negated(read(row->in, &info, sizeof(info)));
}

CALL(timerfd)
{
	const struct itimerspec once = {{0, 0}, limit};
	uint64_t times;
	long result;

	timerfd_settime(row->in, 0, &once, NULL);
	result = negated(read(row->in, &times, sizeof(times)));
	return result == sizeof(times) ? 0 : result;
}

CALL(recvfrom)
{
	char bytes[8];

	return negated(recv(row->in, bytes, sizeof(bytes), 0));
}

CALL(recvmsg)
{
	char bytes[8];
	struct iovec v = {bytes, sizeof(bytes)};
	struct msghdr header = {.msg_iov = &v, .msg_iovlen = 1};

	return negated(recvmsg(row->in, &header, 0));
}

CALL(recvmmsg)
{
	char bytes[16][8];
	struct iovec v[16];
	struct mmsghdr headers[16] = {0};

	for (int i = 0; i < 16; i++) {
		v[i] = (struct iovec){bytes[i], 8};
		headers[i].msg_hdr.msg_iov = &v[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	return negated(recvmmsg(row->in, headers, row->expected > 0 ? 16 : 1, 0,
				NULL));
}

CALL(accept)
{
	int fd = accept(row->in, NULL, NULL);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 1;
}

CALL(accept4)
{
	int fd = accept4(row->in, NULL, NULL, SOCK_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 1;
}

CALL(connect)
{
	struct sockaddr_in address;
	socklen_t bytes = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	long result;

	getsockname(row->in, (struct sockaddr *)&address, &bytes);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit_us, sizeof(limit_us));
	result = negated(connect(fd, (struct sockaddr *)&address, bytes));
	close(fd);
	return result;
}

CALL(write)
{
	return negated(write(row->in, row->buffer, (size_t)row->expected));
}

CALL(write_one)
{
	return negated(write(row->in, row->buffer, 1));
}

#define PARTS 50

static void fill_vector(struct row *row, struct iovec v[PARTS])
{
	for (unsigned i = 0; i < PARTS; i++)
		v[i] = (struct iovec){row->buffer + i * (BYTES / PARTS),
				      BYTES / PARTS};
}

CALL(writev)
{
	struct iovec v[PARTS];

	fill_vector(row, v);
	return negated(writev(row->in, v, PARTS));
}

CALL(sendto)
{
	return negated(send(row->in, row->buffer, BYTES, 0));
}

CALL(sendmsg)
{
	struct iovec v[PARTS];
	struct msghdr header = {.msg_iov = v, .msg_iovlen = PARTS};

	fill_vector(row, v);
	return negated(sendmsg(row->in, &header, 0));
}

CALL(sendmmsg)
{
	struct iovec v[PARTS];
	struct mmsghdr headers[PARTS] = {0};

	fill_vector(row, v);
	for (int i = 0; i < PARTS; i++) {
		v[i].iov_len = 8;
		headers[i].msg_hdr.msg_iov = &v[i];
		headers[i].msg_hdr.msg_iovlen = 1;
	}
	return negated(sendmmsg(row->in, headers, PARTS, 0));
}

CALL(recv_all)
{
	return negated(recv(row->in, row->buffer, BYTES, MSG_WAITALL));
}

CALL(recvmsg_all)
{
	struct iovec v[PARTS];
	struct msghdr header = {.msg_iov = v, .msg_iovlen = PARTS};

	fill_vector(row, v);
	return negated(recvmsg(row->in, &header, MSG_WAITALL));
}

CALL(sendfile)
{
	static int file = -1;
	off_t from = 0;

	if (file < 0) {
		file = (int)syscall(SYS_memfd_create, "blocking", 0);
		if (write(file, row->buffer, BYTES) != (ssize_t)BYTES)
			return -EIO;
	}
	return negated(sendfile(row->in, file, &from, BYTES));
}

CALL(getrandom)
{
	return negated(syscall(SYS_getrandom, row->buffer, (size_t)BYTES, 0));
}

CALL(read_zero)
{
	static int zero = -1;

	if (zero < 0)
		zero = open("/dev/zero", O_RDONLY);
	return negated(read(zero, row->buffer, BYTES));
}

CALL(flock)
{
	long result = negated(flock(row->in, LOCK_EX));

	flock(row->in, LOCK_UN);
	usleep(1000);
	return result;
}

CALL(fcntl)
{
	struct flock lock = {.l_type = F_WRLCK};
	long result = negated(fcntl(row->in, F_OFD_SETLKW, &lock));

	lock.l_type = F_UNLCK;
	fcntl(row->in, F_OFD_SETLK, &lock);
	usleep(1000);
	return result;
}

CALL(wait4)
{
	const struct timespec nap = {0, 200000000};
	pid_t child = fork();
	int status = 0;
	long result;

	(void)row;
	if (!child) {
		nanosleep(&nap, NULL);
		_exit(7);
	}
	result = negated(waitpid(child, &status, 0));
	return result == child && WEXITSTATUS(status) == 7 ? 0 : result;
}

CALL(waitid)
{
	const struct timespec nap = {0, 200000000};
	pid_t child = fork();
	siginfo_t info;

	(void)row;
	if (!child) {
		nanosleep(&nap, NULL);
		_exit(7);
	}
	return negated(waitid(P_PID, (id_t)child, &info, WEXITED));
}

CALL(msgrcv)
{
	struct {
		long type;
		char byte;
	} message;

	return negated(msgrcv(row->in, &message, 1, 0, 0));
}

CALL(open_fifo)
{
	int fd = open(row->buffer, O_RDONLY);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? -errno : 1;
}

static __thread volatile sig_atomic_t handled;

static void handle(int number)
{
	handled = number;
}

/* They end when the handler has run, and not before. */
CALL(pause)
{
	long result;

	(void)row;
	handled = 0;
	result = negated(pause());
	return result == -EINTR && handled ? 1 : result == -EINTR ? -EINTR : 0;
}

CALL(rt_sigsuspend)
{
	sigset_t set;
	long result;

	(void)row;
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	handled = 0;
	result = negated(sigsuspend(&set));
	return result == -EINTR && handled ? 1 : result == -EINTR ? -EINTR : 0;
}

/* ------------------------------------------------------------------- feeds */

static void feed_byte(struct row *row)
{
	if (++row->ticks % EVENT_TICKS == 0)
		(void)!write(row->out, "x", 1);
}

static void feed_datagrams(struct row *row)
{
	if (++row->ticks % 3 == 0)
		(void)!write(row->out, "datagram", 8);
}

static void feed_event(struct row *row)
{
	uint64_t one = 1;

	if (++row->ticks % EVENT_TICKS == 0)
		(void)!write(row->out, &one, sizeof(one));
}

static void feed_signal(struct row *row)
{
	if (++row->ticks % EVENT_TICKS == 0)
		kill(getpid(), SIGUSR2);
}

static void feed_handler(struct row *row)
{
	if (++row->ticks % EVENT_TICKS == 0)
		pthread_kill(row->thread, SIGALRM);
}

static void feed_futex(struct row *row)
{
	if (++row->ticks % EVENT_TICKS == 0)
		syscall(SYS_futex, &row->word, FUTEX_WAKE_PRIVATE, 1, NULL,
			NULL, 0);
}

static void feed_drain(struct row *row)
{
	char bytes[8192];

	(void)!read(row->out, bytes, sizeof(bytes));
}

static void feed_bytes(struct row *row)
{
	static const char bytes[16384];

	(void)!write(row->out, bytes, sizeof(bytes));
}

static void feed_lock(struct row *row)
{
	struct flock lock = {.l_type = F_UNLCK};

	if (++row->ticks % EVENT_TICKS)
		return;
	if (row->call == call_flock) {
		flock(row->out, LOCK_UN);
		usleep(300);
		flock(row->out, LOCK_EX | LOCK_NB);
	} else {
		fcntl(row->out, F_OFD_SETLK, &lock);
		usleep(300);
		lock.l_type = F_WRLCK;
		fcntl(row->out, F_OFD_SETLK, &lock);
	}
}

static void feed_message(struct row *row)
{
	const struct {
		long type;
		char byte;
	} message = {1, 'x'};

	if (++row->ticks % EVENT_TICKS == 0)
		msgsnd(row->in, &message, 1, IPC_NOWAIT);
}

static void feed_semaphore(struct row *row)
{
	struct sembuf give = {0, 1, IPC_NOWAIT};

	if (++row->ticks % EVENT_TICKS == 0)
		semop(row->in, &give, 1);
}

static void feed_connection(struct row *row)
{
	socklen_t bytes;
	struct sockaddr_un address = address_of(row, &bytes);
	int fd;

	if (++row->ticks % EVENT_TICKS)
		return;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	(void)!connect(fd, (struct sockaddr *)&address, bytes);
	close(fd);
}

static void feed_fifo(struct row *row)
{
	int fd;

	if (++row->ticks % EVENT_TICKS)
		return;
	fd = open(row->buffer, O_WRONLY | O_NONBLOCK);
	if (fd >= 0)
		close(fd);
}

static void feed_aio(struct row *row)
{
	static uint64_t one = 1;
	struct iocb block = {.aio_lio_opcode = IOCB_CMD_PWRITE,
			     .aio_fildes = (uint32_t)row->out,
			     .aio_buf = (uintptr_t)&one,
			     .aio_nbytes = sizeof(one)};
	struct iocb *list[] = {&block};

	if (++row->ticks % 3 == 0)
		syscall(SYS_io_submit, contexts[1], 1, list);
}

/* ------------------------------------------------------------------- rows */

#define TIMED true
#define TOLD false
#define ROW(n, c, b, f, l, e) \
	{ \
		.name = n, .call = call_##c, .begin = begin_##b, .feed = f, \
		.limit = l, .expected = e \
	}

static struct row rows[] = {
	ROW("epoll_wait", epoll_wait, epoll, NULL, TIMED, 0),
	ROW("epoll_pwait", epoll_pwait, epoll, NULL, TIMED, 0),
	ROW("epoll_pwait2", epoll_pwait2, epoll, NULL, TIMED, 0),
	ROW("poll", poll, pipe, NULL, TIMED, 0),
	ROW("ppoll", ppoll, pipe, NULL, TIMED, 0),
	ROW("select", select, pipe, NULL, TIMED, 0),
	ROW("pselect6", pselect6, pipe, NULL, TIMED, 0),
	ROW("nanosleep", nanosleep, nothing, NULL, TIMED, 0),
	ROW("clock_nanosleep", clock_nanosleep, nothing, NULL, TIMED, 0),
	ROW("clock_nanosleep-until", clock_nanosleep_until, nothing, NULL,
	    TIMED, 0),
	ROW("futex", futex, nothing, NULL, TIMED, -ETIMEDOUT),
	ROW("futex-until", futex_until, nothing, NULL, TIMED, -ETIMEDOUT),
	ROW("futex-lock", futex_lock, nothing, NULL, TIMED, -ETIMEDOUT),
	ROW("futex_waitv", futex_waitv, nothing, NULL, TIMED, -ETIMEDOUT),
	ROW("semtimedop", semtimedop, semaphore, NULL, TIMED, -EAGAIN),
	ROW("rt_sigtimedwait", rt_sigtimedwait, nothing, NULL, TIMED, -EAGAIN),
	ROW("io_getevents", io_getevents, aio, NULL, TIMED, 0),
	ROW("io_uring_enter", io_uring_enter, ring, NULL, TIMED, -ETIME),
	ROW("mq_timedreceive", mq_timedreceive, queue, NULL, TIMED, -ETIMEDOUT),
	ROW("mq_timedsend", mq_timedsend, full_queue, NULL, TIMED, -ETIMEDOUT),
	ROW("read-timerfd", timerfd, timerfd, NULL, TIMED, 0),
	ROW("read-timeout", read, limited_pair, NULL, TIMED, -EAGAIN),
	ROW("readv-timeout", readv, limited_pair, NULL, TIMED, -EAGAIN),
	ROW("recvfrom-timeout", recvfrom, limited_pair, NULL, TIMED, -EAGAIN),
	ROW("recvmsg-timeout", recvmsg, limited_pair, NULL, TIMED, -EAGAIN),
	ROW("recvmmsg-timeout", recvmmsg, limited_pair, NULL, TIMED, -EAGAIN),
	ROW("accept-timeout", accept, limited_listener, NULL, TIMED, -EAGAIN),
	ROW("accept4-timeout", accept4, limited_listener, NULL, TIMED, -EAGAIN),
	ROW("connect-timeout", connect, busy_listener, NULL, TIMED,
	    -EINPROGRESS),
	ROW("write-timeout", write_one, limited_full_pair, NULL, TIMED,
	    -EAGAIN),
	ROW("sendto-timeout", sendto, limited_full_pair, NULL, TIMED, -EAGAIN),
	ROW("sendmsg-timeout", sendmsg, limited_full_pair, NULL, TIMED,
	    -EAGAIN),
	ROW("read-pipe", read, pipe, feed_byte, TOLD, 1),
	ROW("readv-pipe", readv, pipe, feed_byte, TOLD, 1),
	ROW("read-eventfd", read, eventfd, feed_event, TOLD, 8),
	ROW("read-inotify", inotify, inotify, feed_byte, TOLD, 1),
	ROW("read-signalfd", signalfd, signalfd, feed_signal, TOLD,
	    sizeof(struct signalfd_siginfo)),
	ROW("recvfrom", recvfrom, pair, feed_byte, TOLD, 1),
	ROW("recvmsg", recvmsg, pair, feed_byte, TOLD, 1),
	ROW("accept", accept, listener, feed_connection, TOLD, 1),
	ROW("accept4", accept4, listener, feed_connection, TOLD, 1),
	ROW("open-fifo", open_fifo, fifo, feed_fifo, TOLD, 1),
	ROW("futex-wake", futex_wake, nothing, feed_futex, TOLD, 0),
	ROW("flock", flock, flock, feed_lock, TOLD, 0),
	ROW("fcntl-lock", fcntl, lock, feed_lock, TOLD, 0),
	ROW("msgrcv", msgrcv, messages, feed_message, TOLD, 1),
	ROW("semop", semop, semaphore, feed_semaphore, TOLD, 0),
	ROW("wait4", wait4, nothing, NULL, TOLD, 0),
	ROW("waitid", waitid, nothing, NULL, TOLD, 0),
	ROW("pause", pause, nothing, feed_handler, TOLD, 1),
	ROW("write-pipe", write, full_pipe, feed_drain, TOLD, BYTES),
	ROW("writev-pipe", writev, full_pipe, feed_drain, TOLD, BYTES),
	ROW("sendfile-socket", sendfile, pair, feed_drain, TOLD, BYTES),
	ROW("write-terminal", write, terminal, feed_drain, TOLD, BYTES / 10),
	ROW("write-socket", write, pair, feed_drain, TOLD, BYTES),
	ROW("writev-socket", writev, pair, feed_drain, TOLD, BYTES),
	ROW("sendto-all", sendto, pair, feed_drain, TOLD, BYTES),
	ROW("sendmsg-all", sendmsg, pair, feed_drain, TOLD, BYTES),
	ROW("sendmmsg-all", sendmmsg, datagrams, feed_drain, TOLD, PARTS),
	ROW("recvfrom-all", recv_all, pair, feed_bytes, TOLD, BYTES),
	ROW("recvmsg-all", recvmsg_all, pair, feed_bytes, TOLD, BYTES),
	ROW("recvmmsg-all", recvmmsg, datagrams, feed_datagrams, TOLD, 16),
	ROW("io_getevents-all", io_getevents_all, aio, feed_aio, TOLD, 16),
	ROW("getrandom", getrandom, nothing, NULL, TOLD, BYTES),
	ROW("read-zero", read_zero, nothing, NULL, TOLD, BYTES),
	ROW("rt_sigsuspend", rt_sigsuspend, nothing, feed_handler, TOLD, 1),
};

#define ROWS (sizeof(rows) / sizeof(*rows))

static void judge(struct row *row, long result, double took)
{
	row->rounds++;
	if (result == -EINTR) {
		row->eintr++;
		return;
	}
	if (!row->limit) {
		if (result > 0 && result < row->expected)
			row->cut++;
		else
			row->wrong += result != row->expected;
		return;
	}
	row->wrong += result != row->expected;
	if (took > row->longest_ms)
		row->longest_ms = took;
	row->over += took > LIMIT_MS + LATE_MS;
	row->early += took < LIMIT_MS - 2;
}

static void *run(void *argument)
{
	struct row *row = argument;

	if (row->absent)
		return NULL;
	while (!done) {
		double start = now_ms();
		long result = row->call(row);

		if (result == -ENOSYS || result == -EPERM) {
			row->absent = true;
			break;
		}
		/* (what the last feed is to end may have come early) */
		if (!done || row->limit)
			judge(row, result, now_ms() - start);
		if (row->call == call_getrandom || row->call == call_read_zero)
			usleep(1000);
	}
	return NULL;
}

static bool is_chosen(const struct row *row, int count, char **names)
{
	for (int i = 0; i < count; i++)
		if (strcmp(row->name, names[i]) == 0)
			return true;
	return !count;
}

static void start(struct row *row)
{
	sigset_t set;

	/* of a thread of its own, if any */
	sigemptyset(&set);
	if (row->call == call_rt_sigtimedwait)
		sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	if (!row->buffer)
		row->buffer = calloc(1, BYTES);
	row->absent = !row->begin(row);
	pthread_create(&row->thread, NULL, run, row);
}

static bool is_over(void)
{
	struct pollfd input = {0, POLLIN, 0};

	return poll(&input, 1, 0) != 0;
}

/* Each row, with which the test would else see nothing. */
static bool have_all_been_done(void)
{
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].thread && !rows[i].absent &&
		    !__atomic_load_n(&rows[i].rounds, __ATOMIC_RELAXED))
			return false;
	return true;
}

#define PATIENCE_MS 60000

/* The end comes when it is asked for and each row has been done. After it, a
 * row that waits for an event has until LIMIT_MS. */
static void feed_all(void)
{
	const struct timespec tick = {0, TICK_MS * 1000000l};
	double asked = 0, end = 0;

	while (!done || now_ms() < end + LIMIT_MS + LATE_MS) {
		if (!asked && is_over())
			asked = now_ms();
		if (!done && asked &&
		    (have_all_been_done() || now_ms() > asked + PATIENCE_MS)) {
			end = now_ms();
			done = 1;
		}
		for (unsigned i = 0; i < ROWS; i++)
			if (rows[i].thread && !rows[i].absent && rows[i].feed)
				rows[i].feed(&rows[i]);
		nanosleep(&tick, NULL);
	}
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = handle};
	double longest_ms = LIMIT_MS;

	sigaction(SIGALRM, &action, NULL);
	for (unsigned i = 0; i < ROWS; i++)
		if (is_chosen(&rows[i], argc - 1, argv + 1))
			start(&rows[i]);
	puts("ready");
	fflush(stdout);
	feed_all();
	for (unsigned i = 0; i < ROWS; i++)
		if (rows[i].call == call_clock_nanosleep_until &&
		    rows[i].longest_ms > longest_ms)
			longest_ms = rows[i].longest_ms;
	for (unsigned i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		if (!r->thread)
			continue;
		if (r->absent)
			printf("%s absent\n", r->name);
		else
			printf("%s rounds %u eintr %u short %u late %u "
			       "early %u wrong %u\n",
			       r->name, r->rounds, r->eintr, r->cut,
			       r->longest_ms > longest_ms + LATE_MS &&
				       3 * r->over > r->rounds,
			       r->early, r->wrong);
		if (r->call == call_msgrcv)
			msgctl(r->in, IPC_RMID, NULL);
		if (r->begin == begin_semaphore)
			semctl(r->in, 0, IPC_RMID);
		if (r->call == call_open_fifo)
			unlink(r->buffer);
	}
	fflush(stdout);
	_exit(0);
}
