#include "launch/signatures.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/environment.h"
#include "launch/path.h"
#include "launch/program.h"

#define MOST_PATTERNS 64
#define HEAD 4 /* words before the patterns */

/* Beside us. */
static char *dump_path(const char *argv0)
{
	char *self = realpath("/proc/self/exe", NULL);

	return swz_text("%s/swizzle-dump",
			swz_path_directory(self ? self : argv0));
}

static _Noreturn void execute(const char *dump, int output, const char *path)
{
	char *words[HEAD + MOST_PATTERNS + 1] = {
		(char *)dump, "--signatures",
		swz_text("/proc/self/fd/%d", output), (char *)path};
	char *list = swz_text("%s", swz_environment_get("SWIZZLE_ARGS"));
	unsigned count = HEAD;

	for (char *item = strtok(list, "\n");
	     item && count < HEAD + MOST_PATTERNS; item = strtok(NULL, "\n"))
		words[count++] = item;
	execv(dump, words);
	swz_die(SWZ_CANNOT_RUN, "--args: cannot execute %s: %s", dump,
		strerror(errno));
}

void swz_signatures_prepare(const char *path, const char *argv0)
{
	char *dump = dump_path(argv0);
	int output, status = 0;
	pid_t child;

	if (!*swz_environment_get("SWIZZLE_ARGS"))
		return;
	output = memfd_create("swizzle", 0);
	child = output < 0 ? -1 : fork();
	if (child == 0)
		execute(dump, output, path);
	if (child < 0)
		swz_die(SWZ_CANNOT_RUN, "--args: %s", strerror(errno));
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (status != 0) /* it has said why */
		exit(SWZ_CANNOT_RUN);
	swz_environment_set("SWIZZLE_SIGNATURES", swz_text("%d", output));
}
