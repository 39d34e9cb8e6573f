#include "options/notice.h"

#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES 1024u
#define PATIENCE_MS 100

/* (A terminal that ^S has stopped goes on when its user wants.) */
static bool takes_more(void)
{
	struct pollfd one = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct stat now;

	if (fstat(STDERR_FILENO, &now) == 0 && !S_ISFIFO(now.st_mode) &&
	    !S_ISSOCK(now.st_mode))
		return true;
	return poll(&one, 1, PATIENCE_MS) != 0;
}

void swz_notice_write(const char *text, size_t length)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction before;

	if (!takes_more())
		return;
	/* the program has what was set for it */
	sigaction(SIGPIPE, &ignore, &before);
	(void)!write(STDERR_FILENO, text, length);
	sigaction(SIGPIPE, &before, NULL);
}

void swz_notice(const char *format, ...)
{
	char text[MOST_BYTES] = "swizzle: ";
	size_t length = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + length, sizeof(text) - length - 1, format, arguments);
	va_end(arguments);
	length = strlen(text);
	text[length++] = '\n';
	swz_notice_write(text, length);
}
