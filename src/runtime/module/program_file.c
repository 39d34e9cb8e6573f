/* What the kernel was asked to execute (AT_EXECFN) may be a script: its first
 * line names the interpreter, which is the program. */

#include "runtime/module/program_file.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/syscall.h"
#include "runtime/support/config.h"

/* As many levels of #! as the kernel takes. */
#define MOST_LEVELS 5

static char asked_for[1024];

static const char *executed(void)
{
	char **end = swz_config.envp;
	const Elf64_auxv_t *aux;

	while (*end)
		end++;
	for (aux = (const Elf64_auxv_t *)(const void *)(end + 1); aux->a_type;
	     aux++)
		if (aux->a_type == AT_EXECFN)
			return (const char *)(uintptr_t)aux->a_un.a_val;
	return "";
}

/* asked_for = PATH, absolute; "" if that is not to be had. */
static void set(const char *path)
{
	size_t length = strlen(path) + 1, used = 0;
	long n;

	if (*path != '/') {
		n = SWZ_SYSCALL(SYS_getcwd, asked_for, sizeof(asked_for) - 1);
		used = n > 1 ? (size_t)n - 1 : 0;
		if (used > 1)
			asked_for[used++] = '/';
		if (!used || !*path)
			length = sizeof(asked_for);
	}
	if (length > sizeof(asked_for) - used)
		*asked_for = '\0';
	else
		memcpy(asked_for + used, path, length);
}

/* Whether it is a script; *LINE is then what it says behind the #!. */
static bool is_script(const char *path, char *line, size_t room)
{
	long fd = SWZ_SYSCALL(SYS_open, path, O_RDONLY | O_CLOEXEC);
	long n = fd < 0 ? 0 : SWZ_SYSCALL(SYS_read, fd, line, room - 1);
	size_t from = 2, to;

	if (fd >= 0)
		SWZ_SYSCALL(SYS_close, fd);
	if (n < 3 || line[0] != '#' || line[1] != '!')
		return false;
	line[n] = '\0';
	while (line[from] == ' ' || line[from] == '\t')
		from++;
	to = from;
	while (line[to] && line[to] != ' ' && line[to] != '\t' &&
	       line[to] != '\n')
		to++;
	line[to] = '\0';
	memmove(line, line + from, to - from + 1);
	return true;
}

static void find(void)
{
	char line[256];

	set(executed());
	for (int i = 0; i < MOST_LEVELS; i++)
		if (is_script(asked_for, line, sizeof(line)))
			set(line);
}

size_t swz_program_file(char *path, size_t room)
{
	long n = SWZ_SYSCALL(SYS_readlink, "/proc/self/exe", path, room - 1);
	size_t length;

	if (n > 0) {
		path[n] = '\0';
		return (size_t)n;
	}
	if (!*asked_for)
		find();
	length = strlen(asked_for);
	if (length >= room)
		length = 0;
	memcpy(path, asked_for, length);
	path[length] = '\0';
	return length;
}
