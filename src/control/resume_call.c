#include "control/target.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <time.h>
#include <unistd.h>

#include "base/resume_call.h"
#include "util/memory.h"
#include "watch/proc_task.h"

/* A thread that is stopped leaves the system call in which it waits. The kernel
 * has most calls made again, with the rest of their time (ERESTARTSYS and its
 * kin, signal(7)). It leaves three things undone:
 *
 * - some calls end with EINTR ("interruption by stop signals", signal(7)): they
 *   are made again;
 * - with a time limit they would wait for all of it anew: they get the rest;
 * - a call that has done a part returns that: it goes on with the rest, and
 *   returns the sum.
 *
 * For the last two the thread is led to swz_resume_call (asm/x86_64), with a
 * frame on its own stack. Once it has been let go it needs nobody. */

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#ifndef SYS_pidfd_getfd /* Linux 5.6 */
#define SYS_pidfd_getfd 438
#endif

#ifndef SYS_epoll_pwait2 /* Linux 5.11 */
#define SYS_epoll_pwait2 441
#endif

/* Flags of io_uring_enter, and what its argument leads to. */
#define ENTER_GETEVENTS (1u << 0)
#define ENTER_EXT_ARG (1u << 3)   /* Linux 5.11 */
#define ENTER_ABS_TIMER (1u << 5) /* Linux 6.12 */

struct enter_argument {
	uint64_t mask;
	uint32_t mask_bytes, least_wait;
	uint64_t time;
};

#define SYSCALL_BYTES 2u
#define RED_ZONE 128u
/* On the thread's stack. A signal's handler takes more. */
#define MOST_DATA 1024u

/* ------------------------------------------------------------ what they are */

enum limit {
	LIMIT_NONE,
	LIMIT_MS,   /* an int in a register; below 0: none */
	LIMIT_TIME, /* leads to a struct timespec, which is a duration */
	LIMIT_RING, /* io_uring_enter's */
	LIMIT_RECEIVE,
	LIMIT_SEND /* SO_RCVTIMEO, SO_SNDTIMEO of the socket */
};

enum part {
	PART_NONE,
	PART_WRITE,   /* bytes: address, length */
	PART_READ,    /* of devices that fill any length */
	PART_RECEIVE, /* with MSG_WAITALL */
	PART_VECTOR,  /* struct iovec, count */
	PART_SEND_MESSAGE,
	PART_RECEIVE_MESSAGE, /* struct msghdr */
	PART_MESSAGES,        /* struct mmsghdr, count */
	PART_RANDOM,          /* getrandom: address, length, no descriptor */
	PART_FILE,            /* sendfile */
	PART_EVENTS,          /* io_getevents */
	PART_RING             /* io_uring_enter */
};

enum { NO, DI, SI, DX, R10, R8, R9 };

static const struct call {
	uint16_t number;
	uint8_t limit, limit_in; /* enum limit, register */
	uint8_t part, flags_in;  /* enum part, register of MSG_ flags */
} calls[] = {
	{SYS_read, LIMIT_RECEIVE, NO, PART_READ, NO},
	{SYS_write, LIMIT_SEND, NO, PART_WRITE, NO},
	{SYS_readv, LIMIT_RECEIVE, NO, PART_NONE, NO},
	{SYS_writev, LIMIT_SEND, NO, PART_VECTOR, NO},
	{SYS_preadv2, LIMIT_RECEIVE, NO, PART_NONE, NO},
	{SYS_pwritev2, LIMIT_SEND, NO, PART_VECTOR, NO},
	{SYS_sendfile, LIMIT_NONE, NO, PART_FILE, NO},
	{SYS_connect, LIMIT_SEND, NO, PART_NONE, NO},
	{SYS_accept, LIMIT_RECEIVE, NO, PART_NONE, NO},
	{SYS_accept4, LIMIT_RECEIVE, NO, PART_NONE, NO},
	{SYS_sendto, LIMIT_SEND, NO, PART_WRITE, R10},
	{SYS_recvfrom, LIMIT_RECEIVE, NO, PART_RECEIVE, R10},
	{SYS_sendmsg, LIMIT_SEND, NO, PART_SEND_MESSAGE, DX},
	{SYS_recvmsg, LIMIT_RECEIVE, NO, PART_RECEIVE_MESSAGE, DX},
	{SYS_sendmmsg, LIMIT_SEND, NO, PART_MESSAGES, R10},
	{SYS_recvmmsg, LIMIT_RECEIVE, NO, PART_MESSAGES, R10},
	{SYS_getrandom, LIMIT_NONE, NO, PART_RANDOM, NO},
	{SYS_epoll_wait, LIMIT_MS, R10, PART_NONE, NO},
	{SYS_epoll_pwait, LIMIT_MS, R10, PART_NONE, NO},
	{SYS_epoll_pwait2, LIMIT_TIME, R10, PART_NONE, NO},
	{SYS_semtimedop, LIMIT_TIME, R10, PART_NONE, NO},
	{SYS_rt_sigtimedwait, LIMIT_TIME, DX, PART_NONE, NO},
	{SYS_io_getevents, LIMIT_TIME, R8, PART_EVENTS, NO},
	{SYS_io_pgetevents, LIMIT_TIME, R8, PART_EVENTS, NO},
	{SYS_io_uring_enter, LIMIT_RING, R8, PART_RING, NO},
};

static const struct call *call_of(uint64_t number)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
		if (calls[i].number == number)
			return &calls[i];
	return NULL;
}

/* As the kernel has them for a call's arguments. */
static unsigned long long *argument(struct user_regs_struct *r, unsigned which)
{
	switch (which) {
	case DI:
		return &r->rdi;
	case SI:
		return &r->rsi;
	case DX:
		return &r->rdx;
	case R10:
		return &r->r10;
	case R8:
		return &r->r8;
	default:
		return &r->r9;
	}
}

/* -------------------------------------------------- since when they have slept
 */

/* The kernel tells when a thread ran last (se.exec_start, /proc/PID/sched), by
 * its processor's clock. That stands while the processor serves interrupts, or
 * another virtual machine, so it falls behind CLOCK_MONOTONIC. How far is read
 * on that processor after the thread ran: then a thread has slept for longer
 * than is found, never for less, and no time limit ends early. */
#define MOST_PROCESSORS 1024u
#define CLOCK_TRIES 5u
#define MOST_READING_NS 20000000u /* its error: longer limits */

static struct {
	uint64_t read_at_ns; /* by that clock; 0: never */
	uint64_t behind_ns;
} clocks[MOST_PROCESSORS];

/* *NS: exec_start. */
static bool ran_last(const char *path, uint64_t *ns)
{
	static const char key[] = "\nse.exec_start";
	char text[2048];
	const char *at;
	uint64_t ms, part;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	at = strstr(text, key);
	at = at ? strchr(at, ':') : NULL;
	if (!at)
		return false;
	at++;
	if (!swz_scan(&at, 10, &ms) || *at++ != '.' ||
	    !swz_scan(&at, 10, &part))
		return false;
	*ns = ms * 1000000 + part;
	return true;
}

/* On the processor itself: a thread that has just got it began then. */
static bool read_clock(unsigned processor)
{
	const struct timespec least = {0, 1};
	cpu_set_t usual, this_one;
	uint64_t ns = 0, before, now = 0;
	bool good = false;

	if (sched_getaffinity(0, sizeof(usual), &usual) != 0)
		return false;
	CPU_ZERO(&this_one);
	CPU_SET(processor, &this_one);
	if (sched_setaffinity(0, sizeof(this_one), &this_one) != 0)
		return false;
	for (unsigned i = 0; i < CLOCK_TRIES && !good; i++) {
		before = swz_watch_now();
		(void)nanosleep(&least, NULL);
		good = ran_last("/proc/thread-self/sched", &ns);
		now = swz_watch_now();
		good = good && now - before < MOST_READING_NS && now > ns;
	}
	(void)sched_setaffinity(0, sizeof(usual), &usual);
	clocks[processor].read_at_ns = good ? ns : 0;
	clocks[processor].behind_ns = now - ns;
	return good;
}

/* Finds what is to be added to RAN_NS by that clock. */
static bool find_behind(unsigned processor, uint64_t ran_ns,
			uint64_t *behind_ns)
{
	if (processor >= MOST_PROCESSORS || processor >= CPU_SETSIZE ||
	    (clocks[processor].read_at_ns < ran_ns && !read_clock(processor)))
		return false;
	*behind_ns = clocks[processor].behind_ns;
	return clocks[processor].read_at_ns >= ran_ns;
}

struct survey {
	struct swz_sleepers *sleepers;
	int32_t pid;
};

static void note(void *context, int32_t tid)
{
	struct survey *s = context;
	struct swz_sleeper sleeper = {.tid = tid};
	struct swz_proc_turns turns = {0}, again = {0};
	const struct call *call;
	struct swz_proc_task task;
	uint64_t number, ran_ns;
	uint64_t behind_ns;
	char path[64];

	if (!swz_proc_task_call(s->pid, tid, &number))
		return;
	call = call_of(number);
	if (!call || call->limit == LIMIT_NONE ||
	    !swz_proc_task_turns(s->pid, tid, &turns) ||
	    !swz_proc_task_read(s->pid, tid, &task) || task.processor < 0)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", (int)s->pid,
		 (int)tid);
	if (!ran_last(path, &ran_ns) ||
	    !swz_proc_task_turns(s->pid, tid, &again) ||
	    again.turns != turns.turns ||
	    !find_behind((unsigned)task.processor, ran_ns, &behind_ns))
		return;
	sleeper.turns = turns.turns;
	sleeper.since_ns = ran_ns + behind_ns;
	swz_grow(&s->sleepers->list, &s->sleepers->capacity, s->sleepers->count,
		 sizeof(sleeper));
	s->sleepers->list[s->sleepers->count++] = sleeper;
}

void swz_sleepers_note(struct swz_sleepers *sleepers, int32_t pid)
{
	struct survey survey = {sleepers, pid};
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	sleepers->count = 0;
	swz_proc_numbers(path, note, &survey);
}

void swz_sleepers_note_one(struct swz_sleepers *sleepers, int32_t pid,
			   int32_t tid)
{
	struct survey survey = {sleepers, pid};

	sleepers->count = 0;
	note(&survey, tid);
}

void swz_sleepers_free(struct swz_sleepers *sleepers)
{
	free(sleepers->list);
	*sleepers = (struct swz_sleepers){0};
}

/* How long it had slept; 0 also where that is not known. To stop it has taken
 * it one turn: after more, what it does now began later. */
static uint64_t slept_ns(const struct swz_cut_call *c)
{
	const struct swz_sleepers *s = c->sleepers;
	struct swz_proc_turns turns = {0};
	uint64_t now = swz_watch_now();

	for (size_t i = 0; s && i < s->count; i++)
		if (s->list[i].tid == c->tid)
			return swz_proc_task_turns(c->pid, c->tid, &turns) &&
					       turns.turns ==
						       s->list[i].turns + 1 &&
					       now > s->list[i].since_ns
				       ? now - s->list[i].since_ns
				       : 0;
	return 0;
}

/* ------------------------------------------------------- the thread's memory
 */

static bool read_from(const struct swz_cut_call *c, uint64_t address, void *to,
		      size_t bytes)
{
	return swz_proc_memory(c->pid, address, to, bytes) == bytes;
}

static bool write_to(const struct swz_cut_call *c, uint64_t address,
		     const void *from, size_t bytes)
{
	struct iovec local = {(void *)(uintptr_t)from, bytes};
	struct iovec remote = {(void *)(uintptr_t)address, bytes};

	return process_vm_writev(c->pid, &local, 1, &remote, 1, 0) ==
	       (ssize_t)bytes;
}

/* ------------------------------------------------------------ descriptors */

static bool stat_of(const struct swz_cut_call *c, int fd, struct stat *s)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fd/%d", (int)c->pid,
		 (int)c->tid, fd);
	return stat(path, s) == 0;
}

/* Calls return at once instead of waiting. */
static bool is_nonblocking(const struct swz_cut_call *c, int fd)
{
	char path[96], text[256];
	const char *at;
	uint64_t flags = O_NONBLOCK;
	ssize_t n;
	int info;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/fdinfo/%d", (int)c->pid,
		 (int)c->tid, fd);
	info = open(path, O_RDONLY | O_CLOEXEC);
	n = info < 0 ? -1 : read(info, text, sizeof(text) - 1);
	if (info >= 0)
		close(info);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "flags:");
	if (at) {
		at += strlen("flags:");
		(void)swz_scan(&at, 8, &flags);
	}
	return (flags & O_NONBLOCK) != 0;
}

/* The memory devices that fill any length: zero, random, urandom. */
static bool is_endless(const struct stat *s)
{
	return S_ISCHR(s->st_mode) && major(s->st_rdev) == 1 &&
	       (minor(s->st_rdev) == 5 || minor(s->st_rdev) == 8 ||
		minor(s->st_rdev) == 9);
}

/* A file is not: its end, a full disk and RLIMIT_FSIZE make counts short, and
 * no stop does. */
static bool waits_for_room(const struct stat *s)
{
	return S_ISFIFO(s->st_mode) || S_ISSOCK(s->st_mode) ||
	       S_ISCHR(s->st_mode);
}

/* Reads an option of a socket. The thread waits in a call that uses the
 * socket, so it is not closed meanwhile. */
static bool socket_option(const struct swz_cut_call *c, int fd, int option,
			  void *value, socklen_t bytes)
{
	int process = (int)syscall(SYS_pidfd_open, c->pid, 0), copy = -1;
	bool good;

	if (process >= 0)
		copy = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
	good = copy >= 0 &&
	       getsockopt(copy, SOL_SOCKET, option, value, &bytes) == 0;
	if (copy >= 0)
		close(copy);
	if (process >= 0)
		close(process);
	return good;
}

/* Its time limit, in ns; 0: there is none, or it cannot be read. */
static uint64_t socket_limit(const struct swz_cut_call *c, int fd, bool send)
{
	struct timeval limit;

	if (!socket_option(c, fd, send ? SO_SNDTIMEO : SO_RCVTIMEO, &limit,
			   sizeof(limit)))
		return 0;
	return (uint64_t)limit.tv_sec * 1000000000u +
	       (uint64_t)limit.tv_usec * 1000u;
}

/* recvmmsg keeps as the socket's error what has ended it after a part
 * (__sys_recvmmsg): for the next call, which would end with it. */
static void forget_error(const struct swz_cut_call *c, int fd)
{
	int error;

	(void)socket_option(c, fd, SO_ERROR, &error, sizeof(error));
}

/* ------------------------------------------------------------- the new call */

/* As resume_call.h has it. */
struct frame {
	uint64_t sum, number, rdi, rsi, rdx, r10, r8, r9, rcx, r11, flags,
		stack;
	uint64_t deadline_ns; /* CLOCK_MONOTONIC; 0: none. For the next stop */
};

_Static_assert(offsetof(struct frame, rdi) == RESUME_RDI &&
		       offsetof(struct frame, flags) == RESUME_FLAGS &&
		       offsetof(struct frame, stack) == RESUME_STACK,
	       "resume_call.h");

/* A call that gives back the rest, being made. */
struct rest {
	const struct swz_cut_call *call;
	const struct user_regs_struct *now;
	struct user_regs_struct again; /* its arguments */
	uint64_t sum, number;
	uint64_t entry; /* RESUME_REST, RESUME_AWAIT */
	uint64_t deadline_ns;
	/* Copies of what the arguments point to. They go onto the thread's
	 * stack, at data_at. */
	union {
		struct timespec time;
		struct {
			struct enter_argument argument;
			struct timespec time;
		} ring;
		struct {
			struct timespec time;
			struct pollfd fd;
		} await;
		struct {
			struct msghdr header;
			struct iovec vector[56];
		} message;
		struct iovec vector[60];
		uint8_t bytes[MOST_DATA];
	} data;
	size_t data_bytes;
	uint64_t data_at;
	uint64_t frame; /* of an earlier stop, in which it is; 0: none */
};

_Static_assert(sizeof(((struct rest *)0)->data) == MOST_DATA, "data");

static struct timespec in_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / 1000000000u),
				 (long)(ns % 1000000000u)};
}

/* Finds the time that is left until the deadline. An earlier stop has noted
 * it, or it follows from how long the thread has slept. False: there is none.
 */
static bool find_left(struct rest *rest, uint64_t limit, uint64_t *left)
{
	uint64_t now = swz_watch_now(), slept;

	if (rest->frame) {
		if (!read_from(rest->call,
			       rest->frame +
				       offsetof(struct frame, deadline_ns),
			       &rest->deadline_ns, sizeof(rest->deadline_ns)) ||
		    !rest->deadline_ns)
			return false;
	} else {
		slept = slept_ns(rest->call);
		rest->deadline_ns = now + (limit > slept ? limit - slept : 0);
	}
	*left = rest->deadline_ns > now ? rest->deadline_ns - now : 0;
	return true;
}

static uint64_t in_ns(const struct timespec *time)
{
	return (uint64_t)time->tv_sec * 1000000000u + (uint64_t)time->tv_nsec;
}

/* Room for what an argument leads to: below the red zone; where there is a
 * frame already, in place of its data. False: that has none there. */
static bool place_data(struct rest *rest, size_t bytes, uint64_t old)
{
	uint64_t stack;

	if (!rest->frame) {
		rest->data_at = (rest->now->rsp - RED_ZONE - 8 - bytes) & -8ull;
	} else {
		if (!read_from(rest->call,
			       rest->frame + offsetof(struct frame, stack),
			       &stack, sizeof(stack)) ||
		    old < rest->frame + sizeof(struct frame) || old >= stack ||
		    bytes > stack - old)
			return false;
		rest->data_at = old;
	}
	rest->data_bytes = bytes;
	return true;
}

static bool read_time(const struct rest *rest, uint64_t at,
		      struct timespec *time)
{
	return at && read_from(rest->call, at, time, sizeof(*time)) &&
	       time->tv_sec >= 0 && time->tv_sec <= INT32_MAX;
}

/* False: there is no limit. */
static bool limit_time(struct rest *rest, unsigned in)
{
	unsigned long long *pointer = argument(&rest->again, in);
	struct timespec time;
	uint64_t left;

	if (!read_time(rest, *pointer, &time) ||
	    !find_left(rest, in_ns(&time), &left) ||
	    !place_data(rest, sizeof(time), *pointer))
		return false;
	rest->data.time = in_timespec(left);
	*pointer = rest->data_at;
	return true;
}

static bool limit_ring(struct rest *rest)
{
	const uint64_t flags = rest->again.r10;
	struct enter_argument argument;
	struct timespec time;
	uint64_t left;

	if (!(flags & ENTER_EXT_ARG) || flags & ENTER_ABS_TIMER ||
	    rest->again.r9 != sizeof(argument) ||
	    !read_from(rest->call, rest->again.r8, &argument,
		       sizeof(argument)) ||
	    !read_time(rest, argument.time, &time) ||
	    !find_left(rest, in_ns(&time), &left) ||
	    !place_data(rest, sizeof(rest->data.ring), rest->again.r8))
		return false;
	rest->data.ring.argument = argument;
	rest->data.ring.argument.time = rest->data_at + sizeof(argument);
	rest->data.ring.time = in_timespec(left);
	rest->again.r8 = rest->data_at;
	return true;
}

/* poll waits for the rest of the time; then the call itself does what it does
 * when it need not wait. */
static bool limit_socket(struct rest *rest, bool send)
{
	const int fd = (int)rest->again.rdi;
	const uint64_t number = rest->now->orig_rax;
	struct stat s;
	uint64_t limit, left;

	if (rest->frame || !stat_of(rest->call, fd, &s) || !S_ISSOCK(s.st_mode))
		return false;
	limit = socket_limit(rest->call, fd, send);
	if (!limit || !find_left(rest, limit, &left) ||
	    !place_data(rest, sizeof(rest->data.await), 0))
		return false;
	rest->data.await.time = in_timespec(left);
	rest->data.await.fd.fd = fd;
	rest->data.await.fd.events = send ? POLLOUT : POLLIN;
	rest->number = number;
	rest->sum = (uint64_t)(number == SYS_connect ? -EINPROGRESS : -EAGAIN);
	rest->entry = RESUME_AWAIT;
	rest->again.rdi = rest->data_at + sizeof(rest->data.await.time);
	rest->again.rsi = 1;
	rest->again.rdx = rest->data_at;
	rest->again.r10 = 0;
	rest->again.r8 = 8;
	return true;
}

static bool limit_ms(struct rest *rest, unsigned in)
{
	unsigned long long *ms = argument(&rest->again, in);
	uint64_t left;

	if ((int32_t)*ms <= 0 ||
	    !find_left(rest, (uint64_t)(int32_t)*ms * 1000000u, &left))
		return false;
	*ms = (left + 999999) / 1000000;
	return true;
}

/* A call that was cut short before it did anything. False: it has no limit. */
static bool limit_again(struct rest *rest, const struct call *call)
{
	switch (call->limit) {
	case LIMIT_MS:
		return limit_ms(rest, call->limit_in);
	case LIMIT_TIME:
		return limit_time(rest, call->limit_in);
	case LIMIT_RING:
		return limit_ring(rest);
	case LIMIT_RECEIVE:
		return limit_socket(rest, false);
	case LIMIT_SEND:
		return limit_socket(rest, true);
	default:
		return false;
	}
}

/* --------------------------------------------------------- a part was done */

/* Copies the rest of COUNT vectors at ADDRESS after DONE bytes, as far as
 * there is room. False: nothing is left. */
static bool rest_of_vector(const struct rest *rest, uint64_t address,
			   uint64_t count, uint64_t done, struct iovec *to,
			   size_t *left, size_t room)
{
	struct iovec one;

	*left = 0;
	for (uint64_t i = 0; i < count && i < 1024 && *left < room; i++) {
		if (!read_from(rest->call, address + i * sizeof(one), &one,
			       sizeof(one)))
			return false;
		if (done >= one.iov_len) {
			done -= one.iov_len;
			continue;
		}
		one.iov_base = (char *)one.iov_base + done;
		one.iov_len -= done;
		done = 0;
		to[(*left)++] = one;
	}
	return *left > 0;
}

static bool rest_of_buffer(unsigned long long *address,
			   unsigned long long *length, uint64_t done)
{
	if (done >= *length)
		return false;
	*address += done;
	*length -= done;
	return true;
}

static bool rest_of_iovec(struct rest *rest, uint64_t done)
{
	struct user_regs_struct *r = &rest->again;
	size_t left;

	if (!rest_of_vector(rest, r->rsi, r->rdx, done, rest->data.vector,
			    &left,
			    sizeof(rest->data.vector) / sizeof(struct iovec)) ||
	    !place_data(rest, left * sizeof(struct iovec), r->rsi))
		return false;
	r->rsi = rest->data_at;
	r->rdx = left;
	return true;
}

/* (Ancillary data went with the first byte.) */
static bool rest_of_message(struct rest *rest, uint64_t done)
{
	struct user_regs_struct *r = &rest->again;
	struct msghdr *header = &rest->data.message.header;
	size_t left;

	if (!read_from(rest->call, r->rsi, header, sizeof(*header)) ||
	    !rest_of_vector(
		    rest, (uintptr_t)header->msg_iov, header->msg_iovlen, done,
		    rest->data.message.vector, &left,
		    sizeof(rest->data.message.vector) / sizeof(struct iovec)) ||
	    !place_data(rest, sizeof(*header) + left * sizeof(struct iovec),
			r->rsi))
		return false;
	header->msg_iov = (struct iovec *)(uintptr_t)(rest->data_at +
						      sizeof(*header));
	header->msg_iovlen = left;
	header->msg_control = NULL;
	header->msg_controllen = 0;
	r->rsi = rest->data_at;
	return true;
}

static bool rest_of_events(struct rest *rest, uint64_t done)
{
	struct user_regs_struct *r = &rest->again;

	if (done >= r->rsi)
		return false;
	r->rsi -= done;
	r->rdx -= done;
	r->r10 += done * 32; /* struct io_event */
	(void)limit_time(rest, R8);
	return true;
}

/* The call has submitted its entries, but has not waited for as many as it was
 * to. */
static bool rest_of_ring(struct rest *rest)
{
	if (!(rest->again.r10 & ENTER_GETEVENTS) || !rest->again.rdx ||
	    !rest->again.rsi)
		return false;
	rest->again.rsi = 0;
	(void)limit_ring(rest);
	return true;
}

/* True if a call with these flags of send and recv is short by itself. */
static bool is_short_by_flags(const struct rest *rest, const struct call *call)
{
	struct user_regs_struct r = rest->again;
	uint64_t flags = call->flags_in ? *argument(&r, call->flags_in) : 0;

	if (flags & MSG_DONTWAIT || flags & MSG_PEEK)
		return true;
	if (call->part == PART_RECEIVE || call->part == PART_RECEIVE_MESSAGE)
		return !(flags & MSG_WAITALL);
	return call->number == SYS_recvmmsg && flags & MSG_WAITFORONE;
}

/* True if what it works on makes it wait until all is done. */
static bool waits_for_all(const struct rest *rest, const struct call *call)
{
	struct stat s;
	int fd = (int)rest->now->rdi;

	if (call->part == PART_RANDOM || call->part == PART_EVENTS ||
	    call->part == PART_RING)
		return true;
	if (is_short_by_flags(rest, call) || !stat_of(rest->call, fd, &s) ||
	    is_nonblocking(rest->call, fd))
		return false;
	/* (a pipe gets what it has room for: splice_file_to_pipe, Linux 5.12)
	 */
	if (call->part == PART_FILE && S_ISFIFO(s.st_mode))
		return false;
	return call->part == PART_READ ? is_endless(&s) : waits_for_room(&s);
}

/* False: it is done, as it would be without a stop. */
static bool rest_again(struct rest *rest, const struct call *call,
		       uint64_t done)
{
	struct user_regs_struct *r = &rest->again;

	if (!waits_for_all(rest, call))
		return false;
	rest->sum = done;
	switch (call->part) {
	case PART_WRITE:
	case PART_READ:
	case PART_RECEIVE:
		return rest_of_buffer(&r->rsi, &r->rdx, done);
	case PART_RANDOM:
		return rest_of_buffer(&r->rdi, &r->rsi, done);
	case PART_VECTOR:
		return rest_of_iovec(rest, done);
	case PART_SEND_MESSAGE:
	case PART_RECEIVE_MESSAGE:
		return rest_of_message(rest, done);
	case PART_MESSAGES:
		if (done >= r->rdx)
			return false;
		if (call->number == SYS_recvmmsg)
			forget_error(rest->call, (int)r->rdi);
		r->rsi += done * sizeof(struct mmsghdr);
		r->rdx -= done;
		return true;
	case PART_FILE:
		if (done >= r->r10)
			return false;
		r->r10 -= done;
		return true;
	case PART_EVENTS:
		return rest_of_events(rest, done);
	case PART_RING:
		return rest_of_ring(rest);
	default:
		return false;
	}
}

/* ----------------------------------------------------------------- frames */

/* The frame of a thread that is in that code, where its call is made. */
static uint64_t frame_of(const struct swz_cut_call *c,
			 const struct user_regs_struct *r)
{
	for (unsigned i = 0; i < 2; i++)
		if (c->code[i] && r->rip - c->code[i] < RESUME_BYTES)
			return r->rsp;
	return 0;
}

/* Before the call at ENTRY, or in it. */
static bool makes_call(uint64_t offset, uint64_t entry)
{
	return offset == entry || offset == entry + SYSCALL_BYTES;
}

struct user_regs_struct swz_call_origin(const struct swz_cut_call *c,
					const struct user_regs_struct *r)
{
	struct user_regs_struct origin = *r;
	struct frame frame;
	uint64_t ip;

	/* (it may be about to leave it: nobody knows then where it is) */
	for (unsigned i = 0; i < 2; i++)
		if (c->code[i] &&
		    (makes_call(r->rip - c->code[i], RESUME_REST) ||
		     makes_call(r->rip - c->code[i], RESUME_AWAIT)) &&
		    read_from(c, r->rsp, &frame, sizeof(frame)) &&
		    read_from(c, frame.stack, &ip, sizeof(ip))) {
			origin.rip = ip;
			origin.rsp = frame.stack + 8 + RED_ZONE;
		}
	return origin;
}

/* It has a frame already: that is changed. */
static bool push_again(struct rest *rest)
{
	uint64_t sum = 0;

	if (rest->data_bytes &&
	    !write_to(rest->call, rest->data_at, &rest->data, rest->data_bytes))
		return false;
	if (!read_from(rest->call, rest->frame, &sum, sizeof(sum)))
		return false;
	sum += rest->sum;
	return write_to(rest->call, rest->frame, &sum, sizeof(sum));
}

/* The process may have executed another program since the code was put there,
 * or another controller may have taken it away. The thread stands: neither
 * happens before it has gone on. Returns 0 if there is no such code. */
static uint64_t code_of(const struct swz_cut_call *c)
{
	uint8_t there[RESUME_BYTES];

	for (unsigned i = 0; i < 2; i++)
		if (c->code[i] &&
		    (c->code_is_to_come ||
		     (read_from(c, c->code[i], there, sizeof(there)) &&
		      memcmp(there, swz_stub_resume, sizeof(there)) == 0)))
			return c->code[i];
	return 0;
}

static bool push(struct rest *rest)
{
	const struct user_regs_struct *r = rest->now;
	struct user_regs_struct *again = &rest->again;
	uint64_t code;
	struct frame frame = {.sum = rest->sum,
			      .number = rest->number,
			      .rdi = r->rdi,
			      .rsi = r->rsi,
			      .rdx = r->rdx,
			      .r10 = r->r10,
			      .r8 = r->r8,
			      .r9 = r->r9,
			      .rcx = r->rcx,
			      .r11 = r->r11,
			      .flags = r->eflags,
			      .stack = r->rsp - RED_ZONE - 8,
			      .deadline_ns = rest->deadline_ns};
	uint64_t at = rest->data_bytes ? rest->data_at : frame.stack & -8ull;

	if (rest->frame)
		return push_again(rest);
	code = code_of(rest->call);
	if (!code)
		return false;
	at -= sizeof(frame);
	if (!write_to(rest->call, frame.stack, &r->rip, sizeof(r->rip)) ||
	    (rest->data_bytes && !write_to(rest->call, rest->data_at,
					   &rest->data, rest->data_bytes)) ||
	    !write_to(rest->call, at, &frame, sizeof(frame)))
		return false;
	if (rest->entry == RESUME_AWAIT)
		again->orig_rax = SYS_ppoll;
	again->rip = code + rest->entry + SYSCALL_BYTES;
	again->rsp = at;
	return true;
}

/* The kernel makes ppoll again, with the rest that it had when it was stopped:
 * less has been left since. */
static void renew_await(struct rest *rest)
{
	struct timespec time;
	uint64_t left;

	if (!find_left(rest, 0, &left))
		return;
	time = in_timespec(left);
	(void)write_to(rest->call, rest->now->rdx, &time, sizeof(time));
}

static bool is_awaiting(const struct swz_cut_call *c,
			const struct user_regs_struct *r)
{
	for (unsigned i = 0; i < 2; i++)
		if (c->code[i] &&
		    r->rip == c->code[i] + RESUME_AWAIT + SYSCALL_BYTES)
			return r->orig_rax == SYS_ppoll &&
			       r->rax == SWZ_CALL_ANEW;
	return false;
}

/* The kernel has prepared the call to be made again, and the thread was stopped
 * once more before it got there (arch_do_signal_or_restart, Linux 6.12): the
 * number stands where a result would, and the thread before the instruction. */
static bool is_prepared(const struct swz_cut_call *c,
			const struct user_regs_struct *r)
{
	static const uint8_t call[SYSCALL_BYTES] = {0x0f, 0x05};
	uint8_t there[SYSCALL_BYTES];

	return (r->rax == r->orig_rax || r->rax == SYS_restart_syscall) &&
	       read_from(c, r->rip, there, sizeof(there)) &&
	       memcmp(there, call, sizeof(call)) == 0;
}

bool swz_call_resume(const struct swz_cut_call *c,
		     const struct user_regs_struct *r,
		     struct user_regs_struct *again)
{
	struct rest rest = {.call = c,
			    .now = r,
			    .again = *r,
			    .entry = RESUME_REST,
			    .frame = frame_of(c, r)};
	const struct call *call = call_of(r->orig_rax);
	const int64_t result = (int64_t)r->rax;
	bool some = result > 0 && call && call->part != PART_NONE;

	if ((int64_t)r->orig_rax < 0 || is_prepared(c, r))
		return false;
	if (is_awaiting(c, r))
		renew_await(&rest);
	if (result != -EINTR && !some)
		return false;
	if (call &&
	    (some ? rest_again(&rest, call, (uint64_t)result)
		  : limit_again(&rest, call)) &&
	    push(&rest)) {
		*again = rest.again;
		again->rax = SWZ_CALL_ANEW;
		return true;
	}
	return !some && swz_call_anew(r, again);
}
