/* swizzle-run looks at a program before it starts it, as the kernel and env(1)
 * would: through #! lines to the file that is executed. A program that the
 * dynamic linker does not load is told before, not by an empty profile. */

#include "launch/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/program_kind.h"
#include "options/command_line.h"
#include "util/output.h"

/* --- search for a program ------------------------------------------------ */

static bool path_exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

bool swz_path_is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool swz_path_is_regular(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

char *swz_path_directory(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? strndup(path, (size_t)(slash - path)) : NULL;
}

/* --- the program --------------------------------------------------------- */

#define DEFAULT_PATH "/usr/local/bin:/bin:/usr/bin"
/* As many levels of #! as the kernel takes. */
#define MOST_LEVELS 5
/* Bytes of a file that are looked at: more than the kernel reads of a #! line.
 */
#define HEAD_BYTES 4096
#define BLANKS " \t\n"

void swz_die(int status, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	swz_complain_list(format, arguments);
	va_end(arguments);
	exit(status);
}

char *swz_text(const char *format, ...)
{
	va_list arguments;
	char *text;
	int n;

	va_start(arguments, format);
	n = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (n < 0)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	return text;
}

/* By the effective user, as the kernel decides when it executes. */
static bool may(const char *path, int how)
{
	return faccessat(AT_FDCWD, path, how, AT_EACCESS) == 0;
}

char *swz_program_find(const char *name, const char *whose)
{
	const char *path = getenv("PATH");
	bool denied = false;

	if (strchr(name, '/')) {
		if (!path_exists(name))
			swz_die(SWZ_NOT_FOUND, "%s: not found", whose);
		if (swz_path_is_directory(name))
			swz_die(SWZ_CANNOT_RUN, "%s: is a directory", whose);
		if (!may(name, X_OK))
			swz_die(SWZ_CANNOT_RUN, "%s: permission denied", whose);
		return swz_text("%s", name);
	}
	for (path = path ? path : DEFAULT_PATH; path;) {
		const char *end = strchrnul(path, ':');
		char *found = end == path
				      ? swz_text("./%s", name)
				      : swz_text("%.*s/%s", (int)(end - path),
						 path, name);

		if (swz_path_is_regular(found)) {
			if (may(found, X_OK))
				return found;
			denied = true;
		}
		free(found);
		path = *end ? end + 1 : NULL;
	}
	if (denied)
		swz_die(SWZ_CANNOT_RUN, "%s: permission denied", whose);
	swz_die(SWZ_NOT_FOUND, "%s: not found", whose);
}

/* A program that gains privileges ignores LD_PRELOAD, and may not be sampled
 * either. */
static void check_privileges(int fd, const char *whose)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return;
	if (st.st_mode & S_ISUID && st.st_uid != geteuid())
		swz_die(SWZ_CANNOT_RUN,
			"%s: cannot be profiled: setuid. Run swizzle as its "
			"owner, or profile a copy without that bit",
			whose);
	if (st.st_mode & S_ISGID && st.st_gid != getegid())
		swz_die(SWZ_CANNOT_RUN,
			"%s: cannot be profiled: setgid. Run swizzle with its "
			"group, or profile a copy without that bit",
			whose);
	if (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
		swz_die(SWZ_CANNOT_RUN,
			"%s: cannot be profiled: it has file capabilities. Run "
			"swizzle as root, or profile a copy without them",
			whose);
}

static const char *const unfit[] = {
	[SWZ_PROGRAM_IS_SHORT] = "not a program (too short)",
	[SWZ_PROGRAM_IS_32_BIT] = "cannot be profiled: a 32-bit program. "
				  "Compile it for x86-64",
	[SWZ_PROGRAM_IS_FOREIGN] = "cannot be profiled: built for another "
				   "architecture than x86-64",
	[SWZ_PROGRAM_IS_NONE] = "not a program (an object or core file)",
	[SWZ_PROGRAM_IS_STATIC] = "cannot be profiled: statically linked. "
				  "Link it dynamically, or use -m sample",
	[SWZ_PROGRAM_IS_MUSL] = "cannot be profiled: linked with musl. Link it "
				"with the GNU C library, or use -m sample",
};

static bool may_be_sampled;
/* of the last file that was looked at */
static const char *elf_file, *not_hooked;

static void check_elf(int fd, enum swz_program kind, const char *whose)
{
	bool fits = kind == SWZ_PROGRAM_FITS || kind == SWZ_PROGRAM_IS_LINKER;

	not_hooked = kind == SWZ_PROGRAM_IS_STATIC ? "statically linked"
		     : kind == SWZ_PROGRAM_IS_MUSL ? "linked with musl"
						   : NULL;
	if (!fits && !(may_be_sampled && not_hooked))
		swz_die(SWZ_CANNOT_RUN, "%s: %s", whose, unfit[kind]);
	check_privileges(fd, whose);
}

static void check_file(const char *file, const char *whose, int level);

/* True for a word that hides which program env(1) looks for, and where: an
 * option with a value, another PATH. */
static bool hides_program(const char *word)
{
	return *word == '-' ? word[1 + strspn(word + 1, "ivS0")] != '\0'
			    : strncmp(word, "PATH=", 5) == 0;
}

/* Behind "env": the program is the first word that is no option and no
 * assignment, if there is nothing to be quoted or expanded (env -S). */
static void check_env(char *words, const char *whose, int level)
{
	const char *name = whose, *word;

	if (strpbrk(words, "\"'\\$#"))
		return;
	while ((word = strtok_r(NULL, BLANKS, &words))) {
		if (hides_program(word))
			return;
		if (*word != '-' && !strchr(word, '='))
			break;
	}
	if (!word)
		return;
	name = swz_text("%s: its interpreter %s", whose, word);
	check_file(swz_program_find(word, name),
		   swz_text("%s (by %s)", whose, word), level);
}

static void check_script(char *line, const char *whose, int level)
{
	const char *interpreter, *base;
	char *words;

	interpreter = strtok_r(line, BLANKS, &words);
	if (!interpreter)
		swz_die(SWZ_CANNOT_RUN, "%s: no interpreter in its first line",
			whose);
	if (!swz_path_is_regular(interpreter))
		swz_die(SWZ_CANNOT_RUN, "%s: its interpreter %s was not found",
			whose, interpreter);
	if (!may(interpreter, X_OK))
		swz_die(SWZ_CANNOT_RUN,
			"%s: its interpreter %s: permission denied", whose,
			interpreter);
	check_file(interpreter, swz_text("%s (by %s)", whose, interpreter),
		   level + 1);
	base = strrchr(interpreter, '/');
	if (base && strcmp(base, "/env") == 0)
		check_env(words, whose, level + 1);
}

static void check_file(const char *file, const char *whose, int level)
{
	unsigned char head[HEAD_BYTES + 1];
	int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	enum swz_program kind;
	ssize_t n;

	if (fd < 0)
		return;
	kind = swz_program_of(fd);
	n = pread(fd, head, HEAD_BYTES, 0);
	if (n < 0)
		n = 0;
	head[n] = '\0';
	if (kind != SWZ_PROGRAM_IS_NO_ELF) {
		check_elf(fd, kind, whose);
		elf_file = realpath(file, NULL);
	} else if (level >= MOST_LEVELS) {
		swz_die(SWZ_CANNOT_RUN, "%s: too many levels of interpreters",
			whose);
	} else if (n >= 2 && memcmp(head, "#!", 2) == 0) {
		*strchrnul((char *)head, '\n') = '\0';
		check_script((char *)head + 2, whose, level);
	} else if (memchr(head, '\0', (size_t)n)) {
		swz_die(SWZ_CANNOT_RUN, "%s: not an ELF program", whose);
	} else {
		/* without #!, execvp(3) takes a file for a script of /bin/sh */
		check_file("/bin/sh", whose, level + 1);
	}
	close(fd);
}

const char *swz_program_check(const char *file, const char *whose, bool sampled)
{
	may_be_sampled = sampled;
	check_file(file, whose, 0);
	return elf_file;
}

const char *swz_program_not_hooked(void)
{
	return not_hooked;
}

void swz_program_execute(char *path, char **argv)
{
	static char shell[] = "/bin/sh";

	execv(path, argv);
	if (errno == ENOEXEC) {
		size_t count = 0;
		char **line;

		while (argv[count])
			count++;
		line = calloc(count + 2, sizeof(*line));
		if (!line)
			swz_die(SWZ_CANNOT_RUN, "no memory");
		line[0] = shell;
		line[1] = path;
		memcpy(line + 2, argv + 1, count * sizeof(*line));
		execv(shell, line);
	}
	swz_die(errno == ENOENT ? SWZ_NOT_FOUND : SWZ_CANNOT_RUN, "%s: %s",
		argv[0], strerror(errno));
}

/* --- the environment ----------------------------------------------------- */

const char *swz_environment_get(const char *variable)
{
	const char *value = getenv(variable);

	return value ? value : "";
}

void swz_environment_set(const char *variable, const char *value)
{
	if (setenv(variable, value, 1) != 0)
		swz_die(SWZ_CANNOT_RUN, "no memory");
}
