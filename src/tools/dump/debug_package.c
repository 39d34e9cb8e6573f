/* dpkg knows which package a file is of, and of which source that is. apt-file
 * knows which package has the debug file, whose path is made of the build-id,
 * if it has the contents of an archive of debug packages. Lists of packages
 * have the build-ids, too: apt-cache shows them for packages whose names we can
 * guess. All are children that read nothing and whose output we read until it
 * ends or the time is over. */

#include "tools/dump/debug_package.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/support/memory.h"

/* Which files packages have, where apt has been asked to keep that. */
#define CONTENTS "/var/lib/apt/lists/*Contents-*"

#define MOST_NS INT64_C(1000000000)

/* With it apt-cache answers in some 30 ms, and otherwise in a second. */
#define PACKAGE_CACHE "/var/cache/apt/pkgcache.bin"

/* Of output; more is no answer to what we ask. */
enum { MOST_BYTES = 1 << 20 };

struct answer {
	bool ended; /* by itself; STATUS is valid */
	int status; /* of exit */
	char *text; /* for free() */
};

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* ---- children ---- */

/* Ours but with messages in English; for free(). */
static char **make_environment(void)
{
	size_t count = 0, i, kept = 0;
	char **copy;

	while (environ && environ[count])
		count++;
	copy = swz_allocate(count + 2, sizeof(*copy));
	for (i = 0; i < count; i++)
		if (strncmp(environ[i], "LC_ALL=", 7) != 0 &&
		    strncmp(environ[i], "LANGUAGE=", 9) != 0)
			copy[kept++] = environ[i];
	copy[kept] = (char *)"LC_ALL=C";
	return copy;
}

/* Starts a program of PATH whose output goes to TO; -1: it is not there. */
static pid_t start(char *const *arguments, int to)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	char **environment = make_environment();
	sigset_t usual;
	pid_t pid = -1;

	/* what we ignore it need not */
	sigemptyset(&usual);
	sigaddset(&usual, SIGPIPE);
	sigaddset(&usual, SIGXFSZ);
	sigaddset(&usual, SIGINT);
	sigaddset(&usual, SIGQUIT);
	if (posix_spawn_file_actions_init(&actions) == 0) {
		if (posix_spawnattr_init(&attributes) == 0) {
			if (posix_spawn_file_actions_addopen(
				    &actions, STDIN_FILENO, "/dev/null",
				    O_RDONLY, 0) != 0 ||
			    posix_spawn_file_actions_adddup2(
				    &actions, to, STDOUT_FILENO) != 0 ||
			    posix_spawn_file_actions_addopen(
				    &actions, STDERR_FILENO, "/dev/null",
				    O_WRONLY, 0) != 0 ||
			    posix_spawnattr_setsigdefault(&attributes,
							  &usual) != 0 ||
			    posix_spawnattr_setflags(
				    &attributes, POSIX_SPAWN_SETSIGDEF) != 0 ||
			    posix_spawnp(&pid, arguments[0], &actions,
					 &attributes, arguments,
					 environment) != 0)
				pid = -1;
			posix_spawnattr_destroy(&attributes);
		}
		posix_spawn_file_actions_destroy(&actions);
	}
	free(environment);
	return pid;
}

/* False if its output has not ended by UNTIL_NS. */
static bool read_until(int from, int64_t until_ns, char **text)
{
	size_t size = 0;

	for (;;) {
		int64_t left_ns = until_ns - now_ns();
		struct pollfd wait = {.fd = from, .events = POLLIN};
		char more[512];
		ssize_t bytes;

		if (left_ns <= 0)
			return false;
		if (poll(&wait, 1, (int)(left_ns / 1000000) + 1) <= 0)
			continue;
		bytes = read(from, more, sizeof(more));
		if (bytes == 0)
			return true;
		if (bytes < 0 && errno == EINTR)
			continue;
		if (bytes < 0 || size + (size_t)bytes > MOST_BYTES)
			return false;
		*text = swz_reallocate(*text, size + (size_t)bytes + 1, 1);
		memcpy(*text + size, more, (size_t)bytes);
		size += (size_t)bytes;
		(*text)[size] = '\0';
	}
}

static void wait_for(pid_t pid, struct answer *answer)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	answer->ended = answer->ended && WIFEXITED(status);
	answer->status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* One that takes too long is ended: whether a pipe of its is still open, or it
 * has closed its output and goes on. */
static void ask(char *const *arguments, int64_t until_ns, struct answer *answer)
{
	int ends[2];
	pid_t pid;

	*answer = (struct answer){.status = -1, .text = swz_duplicate("")};
	if (now_ns() >= until_ns || pipe2(ends, O_CLOEXEC) != 0)
		return;
	pid = start(arguments, ends[1]);
	close(ends[1]);
	if (pid > 0) {
		answer->ended = read_until(ends[0], until_ns, &answer->text);
		if (!answer->ended)
			kill(pid, SIGKILL);
		wait_for(pid, answer);
	}
	close(ends[0]);
}

/* ---- what they say ---- */

/* The first word, which a comma, a colon or a space ends; NULL: it is no name
 * of a package. */
static char *package_name(const char *line)
{
	size_t length = strspn(line, "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+-.");

	if (!length || !strchr(",:\n ", line[length]) || !line[length])
		return NULL;
	return swz_print("%.*s", (int)length, line);
}

/* "diversion by ...": the packages that a file was moved away for. */
static char *owner_in(const char *text)
{
	while (*text) {
		char *name = strncmp(text, "diversion by ", 13) == 0
				     ? NULL
				     : package_name(text);

		if (name)
			return name;
		text += strcspn(text, "\n");
		text += *text == '\n';
	}
	return NULL;
}

/* The same file where /lib is a link to /usr/lib; to be freed. */
static char *other_path(const char *path)
{
	return strncmp(path, "/usr/", 5) == 0 ? swz_duplicate(path + 4)
					      : swz_print("/usr%s", path);
}

/* It goes by the paths that packages have, in /lib or in /usr/lib, with
 * symbolic links or without. */
static void ask_dpkg(struct swz_debug_package *package, int64_t until_ns)
{
	char *real = realpath(package->path, NULL);
	char *other = other_path(package->path);
	char *other_real = other_path(real ? real : package->path);
	char *arguments[] = {
		(char *)"dpkg", (char *)"-S", (char *)"--", package->path,
		other,          other_real,   real,         NULL,
	};
	struct answer answer = {.text = NULL};

	/* it takes them for patterns */
	if (!strpbrk(package->path, "*?[\\"))
		ask(arguments, until_ns, &answer);
	free(real);
	free(other);
	free(other_real);
	if (answer.ended && (answer.status == 0 || answer.status == 1)) {
		package->owner = owner_in(answer.text);
		package->has_no_owner = !package->owner && answer.status == 1;
	}
	free(answer.text);
}

/* Python's packages, for one, have a common -dbg package of the source's name.
 */
static void ask_for_source(struct swz_debug_package *package, int64_t until_ns)
{
	char *arguments[] = {
		(char *)"dpkg-query",          (char *)"-W",   (char *)"-f",
		(char *)"${source:Package}\n", package->owner, NULL,
	};
	struct answer answer;
	char *name;

	ask(arguments, until_ns, &answer);
	name = answer.ended && answer.status == 0 ? package_name(answer.text)
						  : NULL;
	free(answer.text);
	if (name && strcmp(name, package->owner) != 0)
		package->source = name;
	else
		free(name);
}

/* The package whose entry in the list names the build-id; to be freed. */
static char *package_with(const char *list, const char *build_id)
{
	const char *entry = list;

	while (entry) {
		const char *end = strstr(entry, "\n\n");
		const char *ids = strstr(entry, "\nBuild-Ids:");
		const char *id = ids ? strstr(ids, build_id) : NULL;

		if (id && (!end || id < end) &&
		    id < ids + 1 + strcspn(ids + 1, "\n") &&
		    strncmp(entry, "Package: ", 9) == 0)
			return package_name(entry + 9);
		entry = end ? end + 2 : NULL;
	}
	return NULL;
}

static void ask_apt_cache(struct swz_debug_package *package,
			  const char *build_id, int64_t until_ns)
{
	char *symbols = swz_print("%s-dbgsym", package->owner);
	char *own = swz_print("%s-dbg", package->owner);
	char *common = package->source ? swz_print("%s-dbg", package->source)
				       : NULL;
	char *arguments[] = {
		(char *)"apt-cache", (char *)"show", symbols, own, common, NULL,
	};
	struct answer answer;

	/* (those that it does not know are no success) */
	ask(arguments, until_ns, &answer);
	if (answer.ended)
		package->exact = package_with(answer.text, build_id);
	free(answer.text);
	free(symbols);
	free(own);
	free(common);
}

/* Without any it takes half a second to say so. */
static bool has_contents(void)
{
	glob_t found;
	bool has = glob(CONTENTS, GLOB_NOSORT, NULL, &found) == 0;

	if (has)
		globfree(&found);
	return has;
}

static void ask_apt_file(struct swz_debug_package *package,
			 const char *build_id, int64_t until_ns)
{
	char *file = swz_print("/usr/lib/debug/.build-id/%.2s/%s.debug",
			       build_id, build_id + 2);
	char *arguments[] = {
		(char *)"apt-file",
		(char *)"--fixed-string",
		(char *)"--package-only",
		(char *)"search",
		file,
		NULL,
	};
	struct answer answer;

	ask(arguments, until_ns, &answer);
	if (answer.ended && answer.status == 0)
		package->exact = package_name(answer.text);
	free(answer.text);
	free(file);
}

const struct swz_debug_package *swz_debug_package_find(
	struct swz_debug_packages *packages, const char *path,
	const char *build_id)
{
	int64_t start_ns = now_ns();
	int64_t until_ns = start_ns + MOST_NS - packages->asked_ns;
	struct swz_debug_package *package;
	size_t i;

	for (i = 0; i < packages->count; i++)
		if (strcmp(packages->items[i].path, path) == 0)
			return &packages->items[i];
	swz_grow(&packages->items, &packages->capacity, packages->count,
		 sizeof(*packages->items));
	package = &packages->items[packages->count++];
	*package = (struct swz_debug_package){.path = swz_duplicate(path)};
	ask_dpkg(package, until_ns);
	/* the debug file of what is in no package is in none */
	if (package->owner && strlen(build_id) > 2 && has_contents())
		ask_apt_file(package, build_id, until_ns);
	if (package->owner && !package->exact)
		ask_for_source(package, until_ns);
	if (package->owner && !package->exact && strlen(build_id) > 2 &&
	    access(PACKAGE_CACHE, R_OK) == 0)
		ask_apt_cache(package, build_id, until_ns);
	packages->asked_ns += now_ns() - start_ns;
	return package;
}

void swz_debug_packages_free(struct swz_debug_packages *packages)
{
	size_t i;

	for (i = 0; i < packages->count; i++) {
		free(packages->items[i].path);
		free(packages->items[i].owner);
		free(packages->items[i].source);
		free(packages->items[i].exact);
	}
	free(packages->items);
	*packages = (struct swz_debug_packages){0};
}
