#include "runtime/support/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"

/* What was stderr at the start. A server's child that serves a connection often
 * has that in its place, and a line of ours would be part of the answer. */
static struct {
	bool open;
	dev_t device;
	ino_t number;
	char name[256]; /* of a terminal or a file */
} at_start;

static bool lost;

#define PATIENCE_NS 100000000

void swz_message_begin(void)
{
	struct stat now;

	if (SWZ_SYSCALL(SYS_fstat, 2, &now) != 0)
		return;
	at_start.open = true;
	at_start.device = now.st_dev;
	at_start.number = now.st_ino;
	if (swz_config.summary &&
	    (S_ISCHR(now.st_mode) || S_ISREG(now.st_mode)))
		(void)SWZ_SYSCALL(SYS_readlink, "/proc/self/fd/2",
				  at_start.name, sizeof(at_start.name) - 1);
}

static bool is_what_it_was(int fd)
{
	struct stat now;

	return at_start.open && SWZ_SYSCALL(SYS_fstat, fd, &now) == 0 &&
	       now.st_dev == at_start.device && now.st_ino == at_start.number;
}

void swz_line_start(struct swz_line *line)
{
	line->length = 0;
	line->listed = false;
}

static bool write_text(const char *text, size_t length, int fd)
{
	size_t written = 0;

	while (written < length) {
		long r = SWZ_SYSCALL(SYS_write, fd, text + written,
				     length - written);

		if (r <= 0)
			return false;
		written += (size_t)r;
	}
	return true;
}

static bool write_all(const struct swz_line *line, int fd)
{
	return write_text(line->text, line->length, fd);
}

void swz_line_start_listed(struct swz_line *line)
{
	line->length = 0;
	line->listed = true;
}

void swz_line_string(struct swz_line *line, const char *string)
{
	while (*string) {
		if (line->length == sizeof(line->text) - 1) {
			if (!line->listed)
				return;
			lost = !write_all(line, 1) || lost;
			line->length = 0;
		}
		line->text[line->length++] = *string++;
	}
}

static void put_digits(struct swz_line *line, uint64_t number, unsigned base)
{
	char digits[24];
	unsigned at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = "0123456789abcdef"[number % base];
		number /= base;
	} while (number);
	swz_line_string(line, digits + at);
}

void swz_line_number(struct swz_line *line, uint64_t number)
{
	put_digits(line, number, 10);
}

void swz_line_hex(struct swz_line *line, uint64_t number)
{
	put_digits(line, number, 16);
}

void swz_line_column(struct swz_line *line, unsigned column)
{
	do {
		swz_line_string(line, " ");
	} while (line->length < column &&
		 line->length < sizeof(line->text) - 1);
}

#define BIT_OF(signal) (UINT64_C(1) << ((signal)-1))

/* Whoever reads the other end of a pipe or socket may read nothing until the
 * program has ended, which would never be the case. (A terminal that ^S has
 * stopped goes on when its user wants.) */
static bool takes_more(int fd)
{
	struct pollfd one = {.fd = fd, .events = POLLOUT};
	struct timespec left = {0, PATIENCE_NS};
	struct stat now;

	if (SWZ_SYSCALL(SYS_fstat, fd, &now) == 0 && !S_ISFIFO(now.st_mode) &&
	    !S_ISSOCK(now.st_mode))
		return true;
	/* (a filter of the program's may forbid to ask) */
	return SWZ_SYSCALL(SYS_ppoll, &one, 1, &left, NULL, 8) != 0;
}

/* Who writes to a pipe that nobody reads any more, or to a file that may not
 * grow, gets a signal, which is the end of a program that may never write
 * there; and one that stops it, who writes to a terminal (stty tostop) from the
 * background. So they are blocked, and the first two taken back. */
static bool write_message(const char *text, size_t length, int fd)
{
	const struct timespec no_time = {0, 0};
	uint64_t all = BIT_OF(SIGPIPE) | BIT_OF(SIGXFSZ) | BIT_OF(SIGTTOU);
	uint64_t ours = all & ~BIT_OF(SIGTTOU), before, theirs = 0;
	bool written;

	if (!is_what_it_was(fd) || !takes_more(fd) ||
	    SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, 8) != 0)
		return false;
	SWZ_SYSCALL(SYS_rt_sigpending, &theirs, 8);
	ours &= ~theirs;
	written = write_text(text, length, fd);
	if (!written)
		SWZ_SYSCALL(SYS_rt_sigtimedwait, &ours, NULL, &no_time, 8);
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
	return written;
}

/* A terminal or a file can be opened again by name. */
bool swz_message_put_last(const char *text, size_t length)
{
	bool written;
	long fd = 2;

	if (SWZ_SYSCALL(SYS_fcntl, 2, F_GETFD) == -EBADF)
		fd = at_start.name[0] == '/'
			     ? SWZ_SYSCALL(SYS_open, at_start.name,
					   O_WRONLY | O_APPEND | O_NOCTTY |
						   O_NONBLOCK | O_CLOEXEC)
			     : -1;
	written = fd >= 0 && write_message(text, length, (int)fd);
	if (fd >= 0 && fd != 2)
		SWZ_SYSCALL(SYS_close, fd);
	return written;
}

/* What is said in a process that ran already is for who has attached: the
 * program's stderr is not ours. */
static void tell_controller(const struct swz_line *line)
{
	struct swz_control *c = &swizzle_control;

	if (line->length > sizeof(c->message) - c->message_bytes)
		return;
	memcpy(c->message + c->message_bytes, line->text, line->length);
	c->message_bytes += line->length;
}

void swz_line_write(struct swz_line *line)
{
	line->text[line->length++] = '\n';
	if (swz_config.attached) {
		tell_controller(line);
		return;
	}
	(void)write_message(line->text, line->length, 2);
}

void swz_line_list(struct swz_line *line)
{
	line->text[line->length++] = '\n';
	lost = !write_all(line, 1) || lost;
}

bool swz_line_lost(void)
{
	return lost;
}

void swz_say(const char *a, const char *b, const char *c)
{
	struct swz_line line;

	if (swz_config.quiet)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: ");
	if (a)
		swz_line_string(&line, a);
	if (b)
		swz_line_string(&line, b);
	if (c)
		swz_line_string(&line, c);
	swz_line_write(&line);
}
