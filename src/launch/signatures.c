#include "launch/signatures.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signature_exchange.h"
#include "launch/configuration.h"
#include "launch/environment.h"
#include "launch/library.h"
#include "launch/program.h"

#define MOST_PATTERNS 64
#define HEAD 6 /* words before the patterns */

static int file, bell[2];
static const char *config; /* as swizzle-dump --signatures takes it */

static _Noreturn void execute(const char *dump, pid_t root)
{
	char *words[HEAD + MOST_PATTERNS + 1] = {(char *)dump,
						 "--signatures",
						 swz_text("%d", file),
						 swz_text("%d", bell[0]),
						 swz_text("%d", (int)root),
						 swz_text("%s", config)};
	char *list = swz_text("%s", swz_environment_get("SWIZZLE_ARGS"));
	unsigned count = HEAD;

	for (char *item = strtok(list, "\n");
	     item && count < HEAD + MOST_PATTERNS; item = strtok(NULL, "\n"))
		words[count++] = item;
	setsid();
	execv(dump, words);
	_exit(SWZ_CANNOT_RUN);
}

/* Whether orphans become children of the program: it would wait for the
 * server. */
static bool gets_orphans(pid_t root)
{
	int asked = 1;

	return root == getpid() &&
	       (root == 1 || prctl(PR_GET_CHILD_SUBREAPER, &asked) != 0 ||
		asked);
}

/* Starts the server as an orphan; returns its pid. */
static pid_t start_orphan(const char *dump, pid_t root)
{
	pid_t server = -1, between;
	int tells[2];

	if (pipe2(tells, O_CLOEXEC) != 0)
		return -1;
	between = fork();
	if (between == 0) {
		server = fork();
		if (server == 0)
			execute(dump, root);
		(void)!write(tells[1], &server, sizeof(server));
		_exit(0);
	}
	close(tells[1]);
	if (between > 0 &&
	    read(tells[0], &server, sizeof(server)) != sizeof(server))
		server = -1;
	close(tells[0]);
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
	return server;
}

/* Where there is to be no server: the program's own functions, by a child that
 * has ended by then. Returns what the program finds in SWIZZLE_SIGNATURES. */
static char *ask_beforehand(const char *dump, const char *path)
{
	struct swz_exchange_place place;
	struct swz_exchange_module program = {.is_program = true,
					      .path = realpath(path, NULL),
					      .pid = getpid()};
	pid_t server = fork();

	if (server == 0)
		execute(dump, getppid());
	if (server < 0)
		swz_die(SWZ_CANNOT_RUN, "--args: %s", strerror(errno));
	if (program.path &&
	    swz_exchange_open(swz_text("%d %d %d", (int)server, file, bell[1]),
			      &place))
		(void)swz_exchange_ask(&place, &program);
	kill(server, SIGKILL);
	while (waitpid(server, NULL, 0) < 0 && errno == EINTR)
		;
	return swz_text("0 %d 0", file);
}

/* Not where one of the standard ones is closed. */
static int moved(int descriptor)
{
	int to = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD, 10);

	if (descriptor >= 0)
		close(descriptor);
	return to;
}

/* Of a file that may not have that many bytes (ulimit -f) the kernel also sends
 * a signal. */
static bool has_room(int descriptor)
{
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	bool fits = ftruncate(descriptor, sizeof(struct swz_exchange)) == 0;

	signal(SIGXFSZ, before);
	return fits;
}

void swz_signatures_prepare(const char *path, const char *argv0, pid_t root)
{
	pid_t server;
	char *dump;

	if (!*swz_environment_get("SWIZZLE_ARGS") &&
	    (strcmp(swz_environment_get("SWIZZLE_MODE"), "trace") != 0 ||
	     !swz_configuration_needs_values()))
		return;
	dump = swz_dump_find(argv0);
	config = swz_configuration_path();
	if (access(dump, X_OK) != 0)
		swz_die(SWZ_CANNOT_RUN, "--args: cannot execute %s: %s", dump,
			strerror(errno));
	file = moved(memfd_create("swizzle", 0));
	if (file < 0 || !has_room(file) || pipe(bell) != 0)
		swz_die(SWZ_CANNOT_RUN, "--args: %s", strerror(errno));
	bell[0] = moved(bell[0]);
	bell[1] = moved(bell[1]);
	if (gets_orphans(root)) {
		swz_environment_set("SWIZZLE_SIGNATURES",
				    ask_beforehand(dump, path));
	} else {
		server = start_orphan(dump, root);
		if (server < 0)
			swz_die(SWZ_CANNOT_RUN, "--args: %s", strerror(errno));
		swz_environment_set(
			"SWIZZLE_SIGNATURES",
			swz_text("%d %d %d", (int)server, file, bell[1]));
		close(file);
	}
	close(bell[0]);
	close(bell[1]);
}
