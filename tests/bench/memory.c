/* Runs a command and prints a line for each process that ends in it, itself the
 * first: "first" or "child", its id, then what it has resident, and of that
 * what is private and written, in KiB. It looks when a process is about to end,
 * as what traces it, so that the shortest ones are seen. */

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* Not one of a process's further threads. */
static bool is_process(pid_t pid)
{
	char path[64], line[256];
	bool found = false;
	int group = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "r");
	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "Tgid: %d", &group) == 1;
	if (file)
		fclose(file);
	return group == pid;
}

static void print_memory(pid_t pid, bool is_first)
{
	unsigned long resident = 0, written = 0;
	char path[64], line[256];
	FILE *rollup;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	rollup = fopen(path, "r");
	if (!rollup)
		return;
	while (fgets(line, sizeof(line), rollup)) {
		sscanf(line, "Rss: %lu", &resident);
		sscanf(line, "Private_Dirty: %lu", &written);
	}
	fclose(rollup);
	printf("%s %d %lu %lu\n", is_first ? "first" : "child", pid, resident,
	       written);
	fflush(stdout);
}

static int start(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		return 127;
	raise(SIGSTOP);
	execvp(argv[0], argv);
	return 127;
}

/* What a stop was for: the signal that the process is to get. */
static int signal_of(pid_t pid, int status, pid_t first)
{
	const int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXIT && is_process(pid))
		print_memory(pid, pid == first);
	/* a new process begins with a stop */
	return event || sig == SIGSTOP || sig == SIGTRAP ? 0 : sig;
}

int main(int argc, char **argv)
{
	const long options = PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK |
			     PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
			     PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
	int status, result = 1;
	pid_t first, pid;

	if (argc < 2)
		return 2;
	first = fork();
	if (first == 0)
		_exit(start(argv + 1));
	if (first < 0 || waitpid(first, &status, 0) != first ||
	    ptrace(PTRACE_SETOPTIONS, first, NULL, options) != 0 ||
	    ptrace(PTRACE_CONT, first, NULL, NULL) != 0)
		return 1;
	while ((pid = waitpid(-1, &status, __WALL)) > 0) {
		if (WIFSTOPPED(status))
			ptrace(PTRACE_CONT, pid, NULL,
			       (long)signal_of(pid, status, first));
		else if (pid == first)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
	}
	return result;
}
