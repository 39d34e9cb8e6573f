/* The library learns all from the environment: which file to load, patterns of
 * a configuration file, where swizzle-dump answers for signatures. All of it is
 * settled here, before the program is executed. */

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/signature_exchange.h"
#include "launch/program.h"
#include "options/command_line.h"
#include "options/config_file.h"

/* --- libswizzle.so ------------------------------------------------------- */

/* The library's folder, if `make install` had a LIBDIR that is not one of
 * usual_folders[]. */
#ifndef SWZ_LIBDIR
#define SWZ_LIBDIR ""
#endif

#define LIBRARY "libswizzle.so"

/* The folder that bin/swizzle-run is in. */
static const char *home(const char *argument)
{
	char *self = realpath("/proc/self/exe", NULL), *directory;

	if (!self && strchr(argument, '/'))
		self = realpath(argument, NULL);
	else if (!self)
		self = realpath(swz_program_find(argument, argument), NULL);
	directory = swz_path_directory(swz_path_directory(self));
	return directory ? directory : "";
}

char *swz_dump_find(const char *argument)
{
	char *self = realpath("/proc/self/exe", NULL);

	return swz_text("%s/swizzle-dump",
			swz_path_directory(self ? self : argument));
}

static char *library_in(const char *directory)
{
	char *path = swz_text("%s/" LIBRARY, directory);

	return swz_path_is_regular(path) ? path : NULL;
}

/* Beside bin/, as a distribution installs libraries. */
static const char *const usual_folders[] = {"lib", "lib/x86_64-linux-gnu",
					    "lib64"};

const char *swz_library_find(const char *argument)
{
	const char *top = home(argument), *library = NULL;

	for (size_t i = 0;
	     !library && i < sizeof(usual_folders) / sizeof(*usual_folders);
	     i++)
		library = library_in(swz_text("%s/%s", top, usual_folders[i]));
	if (!library && *SWZ_LIBDIR)
		library = library_in(SWZ_LIBDIR);
	if (!library)
		library = library_in(swz_text("%s/build/lib", top));
	if (!library)
		swz_die(SWZ_CANNOT_RUN,
			LIBRARY " was not found beside swizzle-run (%s/lib)",
			top);
	if (strpbrk(library, " :$"))
		swz_die(SWZ_CANNOT_RUN,
			"%s: LD_PRELOAD cannot name a path with a space, a "
			"colon or a dollar sign in it; install swizzle "
			"elsewhere",
			library);
	return library;
}

static bool is_listed(const char *list, const char *word)
{
	size_t length = strlen(word);

	while (*list) {
		size_t n = strcspn(list, " :");

		if (n == length && strncmp(list, word, n) == 0)
			return true;
		list += n + (list[n] != '\0');
	}
	return false;
}

/* The library has room for its thunks alone. */
#define LIBRARY_BYTES (UINT64_C(540) << 20)

/* The dynamic linker will say that it cannot load the library, and go on. */
static void check_address_space(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur < LIBRARY_BYTES)
		swz_notice("not profiled: %" PRIu64
			   " KiB of address space (ulimit -v) are too few; "
			   "profiling needs 1.9 GiB",
			   (uint64_t)limit.rlim_cur / 1024);
}

bool swz_library_preload(const char *library)
{
	const char *list = swz_environment_get("LD_PRELOAD");

	if (is_listed(list, library))
		return true;
	check_address_space();
	swz_environment_set("LD_PRELOAD",
			    *list ? swz_text("%s:%s", library, list) : library);
	return false;
}

/* --- without hooks ------------------------------------------------------- */

/* It is tried by a child: like swizzle-ctl, that is none of our ancestors
 * (kernel.yama.ptrace_scope 1 lets those). We go on undisturbed. */
static bool may_be_traced(void)
{
	/* (where it is ignored, no child can be waited for) */
	const struct sigaction usual = {.sa_handler = SIG_DFL};
	struct sigaction before;
	pid_t us = getpid(), child;
	int status;
	bool may;

	sigaction(SIGCHLD, &usual, &before);
	child = fork();
	if (child == 0) {
		if (ptrace(PTRACE_SEIZE, us, NULL, NULL) != 0)
			_exit(1);
		_exit(0);
	}
	may = child > 0 && waitpid(child, &status, 0) == child &&
	      WIFEXITED(status) && WEXITSTATUS(status) == 0;
	sigaction(SIGCHLD, &before, NULL);
	return may;
}

void swz_off_prepare(void)
{
	if (strcmp(swz_environment_get("SWIZZLE_OFF"), "1") == 0 &&
	    !may_be_traced())
		swz_environment_set("SWIZZLE_OFF", "hooked");
}

/* --- configuration files ------------------------------------------------- */

/* `show` becomes patterns of the options that do the same: -H, -N, -M and -L.
 */

static struct swz_config_file config;

static void append(const char *variable, const char *excludes,
		   const char *pattern)
{
	const char *before = swz_environment_get(variable);

	swz_environment_set(variable,
			    swz_text("%s%s%s%s", before, *before ? "\n" : "",
				     excludes, pattern));
}

/* A list that takes away alone takes from everything. */
static bool has_positive(const char *variable)
{
	const char *list = swz_environment_get(variable);

	while (*list) {
		if (*list != '!')
			return true;
		list += strcspn(list, "\n");
		list += *list == '\n';
	}
	return false;
}

static void hide(const struct swz_rule *rule)
{
	char *functions = swz_rule_functions(rule);

	if (functions)
		append(rule->show == SWZ_NO ? "SWIZZLE_HIDE"
					    : "SWIZZLE_NOTRACE",
		       "", functions);
	else if (rule->kind == SWZ_RULE_MODULE)
		append("SWIZZLE_MODULE", "!", rule->pattern);
	else if (rule->kind == SWZ_RULE_FILE)
		append("SWIZZLE_LOCATION", "!", rule->pattern);
	free(functions);
}

/* Shows functions that others hide. */
static void show(const struct swz_rule *rule)
{
	static const char *const lists[] = {"SWIZZLE_HIDE", "SWIZZLE_NOTRACE"};
	char *functions = swz_rule_functions(rule);

	for (unsigned i = 0; functions && i < 2; i++)
		if (has_positive(lists[i]))
			append(lists[i], "!", functions);
	free(functions);
}

void swz_configuration_apply(void)
{
	const char *given = swz_environment_get("SWIZZLE_CONFIG");
	char problem[SWZ_CONFIG_PROBLEM_BYTES], *path = NULL;

	if (*given) {
		path = realpath(given, NULL);
		swz_environment_set("SWIZZLE_CONFIG", path ? path : given);
	}
	if (!swz_config_file_read(&config, *given ? given : NULL, problem))
		swz_die(SWZ_WRONG_USAGE, "%s", problem);
	for (size_t i = 0; i < config.count; i++)
		if (config.rules[i].show == SWZ_NO ||
		    config.rules[i].show == SWZ_NO_CALLS)
			hide(&config.rules[i]);
	for (size_t i = 0; i < config.count; i++)
		if (config.rules[i].show == SWZ_YES)
			show(&config.rules[i]);
}

/* True if debug information is needed to do what it says. */
static bool configuration_needs_values(void)
{
	for (size_t i = 0; i < config.count; i++)
		if (swz_rule_needs_values(&config.rules[i]) ||
		    config.rules[i].condition_count)
			return true;
	return false;
}

/* For swizzle-dump: the absolute path of --config; "": the usual ones; "-":
 * there are none. */
static const char *configuration_path(void)
{
	if (!config.count)
		return "-";
	return swz_environment_get("SWIZZLE_CONFIG");
}

/* --- signatures of functions --------------------------------------------- */

#define MOST_PATTERNS 64
#define HEAD 6 /* words before the patterns */

static int file, bell[2];
static const char *signature_config; /* as swizzle-dump --signatures takes it */

static _Noreturn void execute(const char *dump, pid_t root)
{
	char *words[HEAD + MOST_PATTERNS + 1] = {
		(char *)dump,
		"--signatures",
		swz_text("%d", file),
		swz_text("%d", bell[0]),
		swz_text("%d", (int)root),
		swz_text("%s", signature_config)};
	char *list = swz_text("%s", swz_environment_get("SWIZZLE_ARGS"));
	unsigned count = HEAD;

	for (char *item = strtok(list, "\n");
	     item && count < HEAD + MOST_PATTERNS; item = strtok(NULL, "\n"))
		words[count++] = item;
	setsid();
	execv(dump, words);
	_exit(SWZ_CANNOT_RUN);
}

/* True if orphans become children of the program: it would wait for the server.
 */
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

/* True if the file may have that many bytes; where it may not (ulimit -f), the
 * kernel also sends a signal. */
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
	     !configuration_needs_values()))
		return;
	dump = swz_dump_find(argv0);
	signature_config = configuration_path();
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
