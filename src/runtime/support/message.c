/* Lines of text without libc and without memory that is allocated. Standard
 * error is noted at the start: if the program has put another file there since,
 * nothing is written to it. */

#include "runtime/support/message.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>

#include "base/printable.h"
#include "base/syscall.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "swizzle/format.h"

/* ------------------------------------------------------------------- lines */

/* Standard error of swizzle-run, or without it of this program. A server's
 * child that serves a connection often has that in its place, and a line of
 * ours would be part of the answer. A shell may execute a program with a file
 * in its place. */
static struct {
	uint64_t device, inode;
	char name[256]; /* of a terminal or a file; none if it is not open now
			 */
} ours;
static bool lost;

#define PATIENCE_NS 100000000

static bool is_ours(int fd, struct stat *now)
{
	return SWZ_SYSCALL(SYS_fstat, fd, now) == 0 &&
	       now->st_dev == ours.device && now->st_ino == ours.inode;
}

void swz_message_begin(void)
{
	struct stat now;

	ours.device = swz_config.run.messages_device;
	ours.inode = swz_config.run.messages_inode;
	if (!swz_config.run.root_pid && SWZ_SYSCALL(SYS_fstat, 2, &now) == 0) {
		ours.device = now.st_dev;
		ours.inode = now.st_ino;
	}
	if (swz_config.summary && is_ours(2, &now) &&
	    (S_ISCHR(now.st_mode) || S_ISREG(now.st_mode)))
		(void)SWZ_SYSCALL(SYS_readlink, "/proc/self/fd/2", ours.name,
				  sizeof(ours.name) - 1);
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

#define UTF8_BYTES 4 /* of a character at most */

/* The text's next character, or a question mark where it may do something to a
 * terminal. Returns the bytes at TO; SIZE: those of the text. */
static size_t copy_shown(char *to, const char *text, size_t *size)
{
	bool shown = false;

	*size = swz_character(text, SIZE_MAX, &shown);
	memcpy(to, shown ? text : "?", shown ? *size : 1);
	return shown ? *size : 1;
}

void swz_line_string(struct swz_line *line, const char *string)
{
	char shown[UTF8_BYTES];
	size_t size;

	for (; *string; string += size) {
		size_t bytes = copy_shown(shown, string, &size);

		if (line->length + bytes > sizeof(line->text) - 1) {
			if (!line->listed)
				return;
			lost = !write_all(line, 1) || lost;
			line->length = 0;
		}
		memcpy(line->text + line->length, shown, bytes);
		line->length += (unsigned)bytes;
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
static bool takes_more(int fd, const struct stat *now)
{
	struct pollfd one = {.fd = fd, .events = POLLOUT};
	struct timespec left = {0, PATIENCE_NS};

	if (!S_ISFIFO(now->st_mode) && !S_ISSOCK(now->st_mode))
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
	uint64_t taken = all & ~BIT_OF(SIGTTOU), before, theirs = 0;
	struct stat now;
	bool written;

	if (!is_ours(fd, &now) || !takes_more(fd, &now) ||
	    SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, 8) != 0)
		return false;
	SWZ_SYSCALL(SYS_rt_sigpending, &theirs, 8);
	taken &= ~theirs;
	written = write_text(text, length, fd);
	if (!written)
		SWZ_SYSCALL(SYS_rt_sigtimedwait, &taken, NULL, &no_time, 8);
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
	return written;
}

/* A terminal or a file can be opened again by name. */
bool swz_message_put_last(const char *text, size_t length)
{
	bool written;
	long fd = 2;

	if (SWZ_SYSCALL(SYS_fcntl, 2, F_GETFD) == -EBADF)
		fd = ours.name[0] == '/'
			     ? SWZ_SYSCALL(SYS_open, ours.name,
					   O_WRONLY | O_APPEND | O_NOCTTY |
						   O_NONBLOCK | O_CLOEXEC)
			     : -1;
	written = fd >= 0 && write_message(text, length, (int)fd);
	if (fd >= 0 && fd != 2)
		SWZ_SYSCALL(SYS_close, fd);
	return written;
}

/* In a process that ran already, messages are for who has attached: the
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

/* ----------------------------------------------------------------- reasons */

void swz_refusals_print(const uint32_t *counts, unsigned except,
			const char *indent)
{
	struct swz_line line;

	for (unsigned i = SWZ_PATCHED + 1; i < SWZ_REFUSAL_COUNT; i++) {
		if (!counts[i] || i == except)
			continue;
		swz_line_start_listed(&line);
		swz_line_string(&line, indent);
		swz_line_number(&line, counts[i]);
		swz_line_column(&line, 14);
		swz_line_string(&line, swz_refusal_text(i));
		swz_line_list(&line);
	}
}

/* ---------------------------------------------------------------- progress */

#define AGAIN_AFTER_NS 100000000u
#define NAME_BYTES 40

static struct {
	bool shown; /* at all */
	uint64_t total;
	uint64_t before; /* of the modules that are done */
	uint64_t bytes;  /* of this one */
	const char *name;
	uint64_t next_ns; /* when to draw */
	unsigned width;   /* of what is on the terminal */
} progress;

/* In the background the line would be in the way of what is in front, and may
 * stop the process (stty tostop). */
static bool is_in_front(void)
{
	int32_t group = 0;

	return SWZ_SYSCALL(SYS_ioctl, 2, TIOCGPGRP, &group) == 0 &&
	       group == SWZ_SYSCALL(SYS_getpgid, 0);
}

void swz_progress_begin(uint64_t bytes)
{
	memset(&progress, 0, sizeof(progress));
	progress.shown = bytes && !swz_config.quiet && !swz_config.attached &&
			 is_in_front();
	progress.total = bytes;
	if (progress.shown)
		progress.next_ns = swz_sys_monotonic_ns() +
				   swz_config.progress_after_ms * 1000000;
}

static void put(char *line, unsigned *length, const char *text, unsigned most)
{
	char shown[UTF8_BYTES];
	size_t size;

	for (; *text; text += size) {
		size_t bytes = copy_shown(shown, text, &size);

		if (bytes > most)
			return;
		memcpy(line + *length, shown, bytes);
		*length += (unsigned)bytes;
		most -= (unsigned)bytes;
	}
}

static void draw(unsigned percent)
{
	char line[128] = "\r";
	char digits[] = {(char)('0' + percent / 10), (char)('0' + percent % 10),
			 '\0'};
	unsigned length = 1;

	put(line, &length, "swizzle: planning: ", 20);
	put(line, &length, digits + (percent < 10), 2);
	put(line, &length, " % (", 4);
	put(line, &length, progress.name, NAME_BYTES);
	put(line, &length, ")", 1);
	if (length > progress.width)
		progress.width = length;
	while (length < progress.width)
		line[length++] = ' ';
	SWZ_SYSCALL(SYS_write, 2, line, length);
}

void swz_progress_percent(unsigned percent)
{
	uint64_t now;

	if (!progress.shown || !progress.bytes)
		return;
	now = swz_sys_monotonic_ns();
	if (now < progress.next_ns)
		return;
	progress.next_ns = now + AGAIN_AFTER_NS;
	percent = (unsigned)((progress.before * 100 +
			      progress.bytes * percent) /
			     progress.total);
	draw(percent < 99 ? percent : 99);
}

void swz_progress_module(const char *path, uint64_t bytes)
{
	const char *slash = strrchr(path, '/');

	progress.before += progress.bytes;
	progress.bytes = bytes;
	if (!bytes)
		return;
	progress.name = slash ? slash + 1 : path;
	swz_progress_percent(0);
}

void swz_progress_end(void)
{
	char line[128];
	unsigned length = progress.width;

	if (length) {
		memset(line, ' ', length + 1);
		line[0] = line[length] = '\r';
		SWZ_SYSCALL(SYS_write, 2, line, length + 1);
	}
	progress.shown = false;
	progress.width = 0;
}
