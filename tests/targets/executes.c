/* build: -D_GNU_SOURCE -Wno-stringop-overread */
/* Executes PATH in one of the ways that there are, after it has removed FILE:
 * executes WAY PATH [FILE]. Its status is the other program's. */

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t pid)
{
	int status = -1;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 99;
}

static int spawned(char *path, int by_path)
{
	char *arguments[] = {path, NULL};
	pid_t pid;
	int r = by_path ? posix_spawnp(&pid, path, NULL, NULL, arguments,
				       environ)
			: posix_spawn(&pid, path, NULL, NULL, arguments,
				      environ);

	return r ? 98 : status_of(pid);
}

static int by_vfork(char *path)
{
	char *arguments[] = {path, NULL};
	pid_t pid = vfork();

	if (pid == 0) {
		execve(path, arguments, environ);
		_exit(97);
	}
	return status_of(pid);
}

static int by_popen(const char *path)
{
	FILE *f = popen(path, "r");
	int c, status;

	while ((c = getc(f)) != EOF)
		putchar(c);
	status = pclose(f);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}

/* By a descriptor of the file, or of its directory. */
static int by_descriptor(const char *way, char *path)
{
	int of_path = !strcmp(way, "fexecve_path");
	int fd = open(path, of_path ? O_PATH : O_RDONLY);
	char *arguments[] = {path, NULL}, copy[4096];
	int directory;

	if (!strncmp(way, "fexecve", strlen("fexecve")))
		fexecve(fd, arguments, environ);
	if (!strcmp(way, "execveat_empty"))
		execveat(fd, "", arguments, environ, AT_EMPTY_PATH);
	if (!strcmp(way, "execveat_here"))
		execveat(AT_FDCWD, path, arguments, environ, 0);
	directory = open(dirname(strcpy(copy, path)), O_RDONLY | O_DIRECTORY);
	if (chdir("/") == 0)
		execveat(directory, basename(strcpy(copy, path)), arguments,
			 environ, 0);
	return 93;
}

/* What the kernel refuses, and what it does not mind. */
static int with_wrong_pointers(char *path)
{
	char *arguments[] = {path, NULL}, *wild[] = {(char *)8, NULL};
	char *page = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	/* the last page that is there ends in the midst of a list, of a name */
	char **cut_list = (char **)(page + 4096) - 1, *cut_name[2];

	munmap(page + 4096, 4096);
	cut_name[0] = page + 4096 - 5;
	cut_name[1] = NULL;
	memcpy(cut_name[0], "LD_PR", 5);
	execve(path, arguments, wild);
	printf("wild string: %s\n", strerror(errno));
	execve(path, arguments, (char **)8);
	printf("wild list: %s\n", strerror(errno));
	execve(path, arguments, cut_name);
	printf("string that is cut: %s\n", strerror(errno));
	*cut_list = getenv("PATH") - strlen("PATH=");
	execve(path, arguments, cut_list);
	printf("list that is cut: %s\n", strerror(errno));
	execve((char *)8, arguments, environ);
	printf("wild path: %s\n", strerror(errno));
	execve("/no/such/program", arguments, environ);
	printf("no path: %s\n", strerror(errno));
	execveat(AT_FDCWD, (char *)8, arguments, environ, AT_EMPTY_PATH);
	printf("wild path from here: %s\n", strerror(errno));
	execveat(-1, "", arguments, environ, AT_EMPTY_PATH);
	printf("no descriptor: %s\n", strerror(errno));
	fexecve(-1, arguments, environ);
	printf("no file: %s\n", strerror(errno));
	fflush(stdout);
	execve(path, arguments, NULL);
	return 95;
}

int main(int argc, char **argv)
{
	char *way = argv[1], *path = argv[2];
	char *arguments[] = {path, NULL};

	if (argc > 3)
		unlink(argv[3]);
	if (!strcmp(way, "execve"))
		execve(path, arguments, environ);
	if (!strcmp(way, "execv"))
		execv(path, arguments);
	if (!strcmp(way, "execvp"))
		execvp(path, arguments);
	if (!strcmp(way, "execvpe"))
		execvpe(path, arguments, environ);
	if (!strcmp(way, "execl"))
		execl(path, path, (char *)NULL);
	if (!strcmp(way, "execle"))
		execle(path, path, (char *)NULL, environ);
	if (!strcmp(way, "execlp"))
		execlp(path, path, (char *)NULL);
	if (!strcmp(way, "posix_spawn"))
		return spawned(path, 0);
	if (!strcmp(way, "posix_spawnp"))
		return spawned(path, 1);
	if (!strcmp(way, "vfork"))
		return by_vfork(path);
	if (!strcmp(way, "system"))
		return WEXITSTATUS(system(path));
	if (!strcmp(way, "popen"))
		return by_popen(path);
	if (strstr(way, "execveat") || strstr(way, "fexecve"))
		return by_descriptor(way, path);
	if (!strcmp(way, "wrong"))
		return with_wrong_pointers(path);
	return 94;
}
