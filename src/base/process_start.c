/* /proc/PID/stat: "PID (NAME) STATE ...", where the name may hold any
 * character, and the start is the 22nd field. */

#include "base/process_start.h"

#include <fcntl.h>

#include "base/syscall.h"

#define FIELDS_FROM_STATE_TO_START 19

static void make_path(char *path, uint32_t pid)
{
	static const char head[] = "/proc/", self[] = "self", tail[] = "/stat";
	char digits[12];
	unsigned n = 0;

	for (const char *s = head; *s;)
		*path++ = *s++;
	for (const char *s = pid ? "" : self; *s;)
		*path++ = *s++;
	for (; pid; pid /= 10)
		digits[n++] = (char)('0' + pid % 10);
	while (n)
		*path++ = digits[--n];
	for (const char *s = tail; *s;)
		*path++ = *s++;
	*path = '\0';
}

uint64_t swz_process_start(int32_t pid)
{
	char path[40], text[512];
	long fd, n, at;
	uint64_t start = 0;

	if (pid < 0)
		return 0;
	make_path(path, (uint32_t)pid);
	fd = SWZ_SYSCALL(SYS_open, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = SWZ_SYSCALL(SYS_read, fd, text, sizeof(text));
	SWZ_SYSCALL(SYS_close, fd);
	at = n - 1;
	while (at >= 0 && text[at] != ')')
		at--;
	at += 2;
	if (at < 2 || at >= n || text[at] == 'Z' || text[at] == 'X')
		return 0;
	for (int i = 0; i < FIELDS_FROM_STATE_TO_START; i++) {
		while (at < n && text[at] != ' ')
			at++;
		at++;
	}
	for (; at < n && text[at] >= '0' && text[at] <= '9'; at++)
		start = start * 10 + (uint64_t)(text[at] - '0');
	return start;
}
