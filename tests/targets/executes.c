/* build: -D_GNU_SOURCE -Wno-stringop-overread */
/* Executes PATH in one of the ways that there are, after it has removed FILE:
 * executes WAY PATH [FILE]. Its status is the other program's. */

#include <errno.h>
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
	if (!strcmp(way, "wrong"))
		return with_wrong_pointers(path);
	return 94;
}
