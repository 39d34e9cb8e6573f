/* Writes over its arguments, as setproctitle does: `title same|longer|edited`,
 * with more arguments to write over. The parent keeps its own; a forked child
 * calls itself something else and is killed. */

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) void work(int n)
{
	__asm__ volatile("" : : "r"(n));
}

__attribute__((noinline)) void working(int n)
{
	for (int i = 0; i < n; i++)
		work(i);
}

static void name(char **argv, const char *how)
{
	char *end = argv[0];
	size_t room;

	for (char **a = argv; *a; a++)
		end = *a + strlen(*a) + 1;
	room = (size_t)(end - argv[0]);
	if (!strcmp(how, "edited")) {
		memset(argv[2], 'x', strlen(argv[2]));
		return;
	}
	memset(argv[0], 0, room);
	if (!strcmp(how, "same")) {
		strcpy(argv[0], "title --type=short");
		return;
	}
	/* into the environment, which is moved by who does so for real */
	memset(argv[0], '-', room + 5);
	memcpy(argv[0], "title --type=longer ", 20);
	argv[0][room + 5] = '\0';
}

int main(int argc, char **argv)
{
	char how[16];
	int status;

	if (argc < 4 || strlen(argv[1]) >= sizeof(how))
		return 2;
	strcpy(how, argv[1]);
	working(3);
	if (!fork()) {
		name(argv, how);
		working(2);
		kill(getpid(), SIGKILL);
	}
	wait(&status);
	working(1);
	return status != SIGKILL;
}
