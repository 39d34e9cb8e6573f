#include "tools/dump/reports.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "profile/formats/formats.h"
#include "profile/names/catalog.h"
#include "profile/names/symbols.h"
#include "tools/dump/dump_options.h"
#include "util/interpreters.h"
#include "util/memory.h"
#include "util/output.h"

/* --- packages with debug information ------------------------------------- */

/* dpkg knows which package a file is of, and of which source that is. apt-file
 * knows which package has the debug file, whose path is made of the build-id,
 * if it has the contents of an archive of debug packages. Lists of packages
 * have the build-ids, too: apt-cache shows them for packages whose names we can
 * guess. All are children that read nothing and whose output we read until it
 * ends or the time is over. */

/* The lists of files in packages, where apt has been asked to keep them. */
#define CONTENTS "/var/lib/apt/lists/*Contents-*"

#define MOST_NS INT64_C(1000000000)

/* With it apt-cache answers in some 30 ms, and otherwise in a second. */
#define PACKAGE_CACHE "/var/cache/apt/pkgcache.bin"

/* Most bytes of output; more is no answer to our questions. */
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

/* Asks once for each PATH, which is absolute; BUILD_ID is in hexadecimal, ""
 * where there is none. Nothing is known where the programs are not there, take
 * too long or fail. The result is valid until the next call. */
static const struct swz_debug_package *debug_package_find(
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

/* --- advice -------------------------------------------------------------- */

/* Functions without a name are counted by module. A file that has its symbol
 * table may have some, which nobody can help; of one that was stripped, its
 * debug file has the names. */

/* Less than this is not worth a line: of the time, in percent. */
#define LEAST_SHARE 5

enum { MOST_LINES = 2 }; /* one of each kind */

struct swz_dump_shown {
	bool present;
	int64_t self_ns, incl_ns;
};

/* A module's share. */
struct share {
	size_t rows, nameless;
	int64_t self_ns, nameless_ns;
};

struct swz_dump_advice swz_dump_advice_begin(
	struct swz_debug_packages *packages)
{
	return (struct swz_dump_advice){.packages = packages};
}

void swz_dump_advice_free(struct swz_dump_advice *advice)
{
	size_t i;

	for (i = 0; advice->lines && advice->lines[i]; i++)
		free(advice->lines[i]);
	free(advice->lines);
	free(advice->functions);
	*advice = (struct swz_dump_advice){0};
}

static void make_room(struct swz_dump_advice *advice, size_t count)
{
	size_t old = advice->capacity;

	if (count <= old)
		return;
	advice->functions = swz_reallocate(advice->functions, count,
					   sizeof(*advice->functions));
	memset(advice->functions + old, 0,
	       (count - old) * sizeof(*advice->functions));
	advice->capacity = count;
}

void swz_dump_advice_add(struct swz_dump_advice *advice,
			 const struct swz_report *report)
{
	size_t count = report->function_capacity, i;

	make_room(advice, count);
	for (i = 0; i < count; i++) {
		struct swz_dump_shown *function = &advice->functions[i];

		function->present |= report->functions[i].present;
		function->self_ns = swz_add(function->self_ns,
					    report->functions[i].self_ns);
		function->incl_ns = swz_add(
			function->incl_ns,
			swz_report_function(report, (uint32_t)i).inclusive_ns);
	}
	advice->total_ns = swz_add(advice->total_ns, report->total_ns);
}

static bool is_shown(const struct swz_dump_advice *advice,
		     const struct swz_catalog *catalog, uint32_t function,
		     const struct swz_dump_options *options)
{
	const struct swz_patterns *filters = &options->table.filters;

	return function < advice->capacity &&
	       advice->functions[function].present &&
	       catalog->functions[function].module != SWZ_INDEX_NONE &&
	       (!filters->count ||
		swz_patterns_match(filters, catalog, function, NULL));
}

/* For free(). */
static struct share *shares_of(const struct swz_dump_advice *advice,
			       const struct swz_catalog *catalog,
			       const struct swz_dump_options *options)
{
	struct share *shares = swz_allocate(catalog->module_count,
					    sizeof(*shares));
	uint32_t i;

	for (i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *f = &catalog->functions[i];
		struct share *share;
		int64_t ns;

		if (!is_shown(advice, catalog, i, options))
			continue;
		ns = advice->functions[i].self_ns;
		share = &shares[f->module];
		share->rows++;
		share->self_ns = swz_add(share->self_ns, ns);
		if (!f->nameless)
			continue;
		share->nameless++;
		share->nameless_ns = swz_add(share->nameless_ns, ns);
	}
	return shares;
}

static double percent(const struct swz_dump_advice *advice, int64_t ns)
{
	return advice->total_ns > 0
		       ? 100 * (double)ns / (double)advice->total_ns
		       : 0;
}

/* Takes LINE over. */
static void add_line(struct swz_dump_advice *advice, char *line)
{
	size_t count = 0;

	while (advice->lines[count])
		count++;
	advice->lines[count] = line;
}

/* ---- names ---- */

/* To be freed. */
static char *hex(const struct swz_catalog_module *module)
{
	char *text = swz_allocate(2 * module->build_id_bytes + 1, 1);
	size_t i;

	for (i = 0; i < module->build_id_bytes; i++) {
		text[2 * i] = "0123456789abcdef"[module->build_id[i] >> 4];
		text[2 * i + 1] = "0123456789abcdef"[module->build_id[i] & 15];
	}
	return text;
}

/* True if the file at the module's path is, to our knowledge, the one that was
 * profiled, on this machine. */
static bool is_here(const struct swz_catalog_module *module,
		    const struct swz_dump_options *options)
{
	return module->symbols && !module->doubtful && !options->files.root &&
	       swz_embedded_is_empty(&module->embedded);
}

/* The beginning of a sentence that says what to do; to be freed. */
static char *first_help(const struct swz_dump_advice *advice,
			const struct swz_catalog_module *module,
			const char *build_id,
			const struct swz_dump_options *options)
{
	const struct swz_debug_package *package =
		is_here(module, options)
			? debug_package_find(advice->packages, module->path,
					     build_id)
			: NULL;

	if (package && package->exact)
		return swz_print("Install %s", package->exact);
	if (package && package->owner && package->source)
		return swz_print("Install the -dbgsym or -dbg package of %s, "
				 "or of its source %s",
				 package->owner, package->source);
	if (package && package->owner)
		return swz_print("Install the -dbgsym or -dbg package of %s",
				 package->owner);
	if (package && package->has_no_owner)
		return swz_duplicate("Build it without stripping it");
	return swz_duplicate("Install its debug package");
}

static char *nameless_line(const struct swz_dump_advice *advice,
			   const struct swz_catalog_module *module,
			   const struct share *share,
			   const struct swz_dump_options *options)
{
	char *build_id = hex(module);
	char *help = first_help(advice, module, build_id, options);
	const char *servers = getenv("DEBUGINFOD_URLS");
	char *line = swz_print(
		"%s: %zu of %zu rows have no name (%.0f%% of the time). Its "
		"debug file has the names (%s%s). %s%s, or name the directory "
		"of the file with --debug-dir",
		module->path, share->nameless, share->rows,
		percent(advice, share->nameless_ns),
		*build_id ? "build-id " : "it has no build-id", build_id, help,
		*build_id && !(servers && *servers) ? ", set DEBUGINFOD_URLS"
						    : "");

	free(help);
	free(build_id);
	return line;
}

static bool lacks_names(const struct swz_dump_advice *advice,
			struct swz_catalog *catalog, uint32_t module,
			const struct share *share)
{
	struct swz_symbols *symbols;

	if (catalog->modules[module].path[0] != '/' || !share->nameless ||
	    percent(advice, share->nameless_ns) < LEAST_SHARE)
		return false;
	symbols = swz_catalog_symbols(catalog, module);
	return !symbols || swz_symbols_are_stripped(symbols);
}

/* One line: about the module with most time in nameless rows. */
static void find_nameless(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct share *shares,
			  const struct swz_dump_options *options)
{
	uint32_t worst = SWZ_INDEX_NONE, i;

	for (i = 0; i < catalog->module_count; i++)
		if ((worst == SWZ_INDEX_NONE ||
		     shares[i].nameless_ns > shares[worst].nameless_ns) &&
		    lacks_names(advice, catalog, i, &shares[i]))
			worst = i;
	if (worst != SWZ_INDEX_NONE)
		add_line(advice, nameless_line(advice, &catalog->modules[worst],
					       &shares[worst], options));
}

/* ---- interpreters ---- */

static bool defines(void *context, const char *symbol)
{
	return swz_symbols_define(context, symbol);
}

static size_t reads(void *context, const char *symbol, void *into, size_t size)
{
	return swz_symbols_read(context, symbol, into, size);
}

static struct swz_interpreter_file module_file(struct swz_catalog *catalog,
					       uint32_t module)
{
	return (struct swz_interpreter_file){
		defines, reads, swz_catalog_symbols(catalog, module),
		catalog->modules[module].path};
}

char *swz_dump_unread_version(struct swz_catalog *catalog)
{
	for (uint32_t i = 0; i < catalog->module_count; i++) {
		const struct swz_interpreter_file in = module_file(catalog, i);
		const struct swz_interpreter *found =
			in.context ? swz_interpreter_in(&in) : NULL;
		char *version = found ? swz_interpreter_unknown_version(found,
									&in)
				      : NULL,
		     *text;

		if (!version)
			continue;
		text = swz_print("%s is %s %s", catalog->modules[i].path,
				 found->language, version);
		free(version);
		return text;
	}
	return NULL;
}

/* Code that it has made may have called what is hooked. */
static char *interpreter_line(struct swz_catalog *catalog, uint32_t module,
			      const struct swz_interpreter *interpreter)
{
	const char *path = catalog->modules[module].path;
	const struct swz_interpreter_file in = module_file(catalog, module);
	char *line,
		*version = swz_interpreter_unknown_version(interpreter, &in);

	if (version && !catalog->has_named_code) {
		line = swz_print("%s interprets %s %s: its rows are the "
				 "interpreter's C functions. The script's own "
				 "can be read of " SWZ_KNOWN_SCRIPTS " only",
				 path, interpreter->language, version);
		free(version);
		return line;
	}
	free(version);
	if (catalog->has_named_code)
		return swz_print("%s interprets %s: functions of the script "
				 "have the time of what they called. For "
				 "their own times record with swizzle-run "
				 "-m both",
				 path, interpreter->language);
	if (catalog->has_unnamed_code && interpreter->options)
		return swz_print("%s interprets %s: its rows are the "
				 "interpreter's C functions. To see the "
				 "script's own, record with swizzle-run -m "
				 "sample, or add to its command: %s",
				 path, interpreter->language,
				 interpreter->options);
	return swz_print("%s interprets %s: its rows are the interpreter's C "
			 "functions. %s",
			 path, interpreter->language,
			 interpreter->sampled
				 ? "To see the script's own, record with "
				   "swizzle-run -m sample"
				 : "The script's own are not recorded");
}

/* The one in which most time was spent. */
/* True if scripts took time, as far as that can be told. */
static bool runs_scripts(const struct swz_dump_advice *advice,
			 const struct swz_catalog *catalog, uint32_t module,
			 const struct swz_interpreter *interpreter)
{
	if (!interpreter->runs)
		return true;
	for (size_t i = 0; i < catalog->function_count && i < advice->capacity;
	     i++)
		if (catalog->functions[i].module == module &&
		    catalog->functions[i].name &&
		    strcmp(catalog->functions[i].name, interpreter->runs) ==
			    0 &&
		    percent(advice, advice->functions[i].incl_ns) >=
			    LEAST_SHARE)
			return true;
	return false;
}

static void find_interpreter(struct swz_dump_advice *advice,
			     struct swz_catalog *catalog,
			     const struct share *shares)
{
	const struct swz_interpreter *interpreter = NULL;
	uint32_t i, most = 0;

	for (i = 0; i < catalog->module_count; i++) {
		const struct swz_interpreter *found;
		struct swz_interpreter_file in;

		if (percent(advice, shares[i].self_ns) < LEAST_SHARE ||
		    (interpreter && shares[i].self_ns <= shares[most].self_ns))
			continue;
		in = module_file(catalog, i);
		found = in.context ? swz_interpreter_in(&in) : NULL;
		if (!found || !runs_scripts(advice, catalog, i, found))
			continue;
		interpreter = found;
		most = i;
	}
	if (interpreter)
		add_line(advice, interpreter_line(catalog, most, interpreter));
}

static bool is_wanted(const struct swz_dump_options *options)
{
	const char *wanted = getenv("SWIZZLE_ADVICE");

	return !options->quiet && !(wanted && strcmp(wanted, "0") == 0);
}

void swz_dump_advice_find(struct swz_dump_advice *advice,
			  struct swz_catalog *catalog,
			  const struct swz_dump_options *options,
			  struct swz_writer *writer)
{
	struct share *shares;

	/* what is written can be seen while others are asked */
	if (writer && writer->stream)
		(void)fflush(writer->stream);
	advice->lines = swz_allocate(MOST_LINES + 1, sizeof(*advice->lines));
	if (is_wanted(options)) {
		shares = shares_of(advice, catalog, options);
		find_nameless(advice, catalog, shares, options);
		/* of samples the script's functions are there */
		if (!catalog->samples)
			find_interpreter(advice, catalog, shares);
		free(shares);
	}
	if (writer)
		writer->advice = (const char *const *)advice->lines;
}

void swz_dump_advice_say(const struct swz_dump_advice *advice)
{
	size_t i;

	for (i = 0; advice->lines && advice->lines[i]; i++)
		swz_dump_complain("%s", advice->lines[i]);
}

/* --- getting names ------------------------------------------------------- */

/* Debian and Ubuntu have debug packages in a repository of their own, which is
 * not in a machine's sources unless somebody has put it there. */
static const struct distribution {
	const char *id;     /* as in /etc/os-release */
	const char *marker; /* of that repository, in "apt-cache policy" */
	const char *line;   /* of it, with the release's name */
	const char *server; /* of debug files */
} distributions[] = {
	{"debian", "debian-debug",
	 "deb http://deb.debian.org/debian-debug/ %s-debug main",
	 "https://debuginfod.debian.net"},
	{"ubuntu", "ddebs.ubuntu.com",
	 "deb http://ddebs.ubuntu.com %s main restricted universe multiverse",
	 "https://debuginfod.ubuntu.com"},
	{"fedora", NULL, NULL, "https://debuginfod.fedoraproject.org"},
	{"arch", NULL, NULL, "https://debuginfod.archlinux.org"},
	{"", NULL, NULL, "https://debuginfod.elfutils.org"},
};

/* The value of KEY in /etc/os-release, without quotes; to be freed, "" if there
 * is none. */
static char *release_value(const char *key)
{
	FILE *file = fopen("/etc/os-release", "re");
	char line[512], *value = NULL;
	size_t length = strlen(key);

	while (file && !value && fgets(line, sizeof(line), file)) {
		char *text = line + length + 1;

		if (strncmp(line, key, length) != 0 || line[length] != '=')
			continue;
		text += *text == '"';
		text[strcspn(text, "\"\n")] = '\0';
		/* (it becomes a part of a command) */
		if (!text[strspn(text, "abcdefghijklmnopqrstuvwxyz"
				       "0123456789-_.")])
			value = swz_duplicate(text);
	}
	if (file)
		fclose(file);
	return value ? value : swz_duplicate("");
}

static const struct distribution *find_distribution(void)
{
	char *id = release_value("ID");
	size_t i = 0;

	while (*distributions[i].id && strcmp(distributions[i].id, id) != 0)
		i++;
	free(id);
	return &distributions[i];
}

static bool is_program(const char *name)
{
	const char *path = getenv("PATH");

	while (path && *path) {
		size_t length = strcspn(path, ":");
		char *file = swz_print("%.*s/%s", (int)length, path, name);
		bool found = access(file, X_OK) == 0;

		free(file);
		if (found)
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

static bool has_repository(const struct distribution *here)
{
	char *arguments[] = {(char *)"apt-cache", (char *)"policy", NULL};
	struct answer answer;
	bool has;

	ask(arguments, now_ns() + 10 * MOST_NS, &answer);
	has = strstr(answer.text, here->marker) != NULL;
	free(answer.text);
	return has;
}

/* " perl-dbgsym libc6-dbg": packages of all that lacks names; to be freed. */
static char *find_packages(struct swz_dump_advice *advice,
			   struct swz_catalog *catalog,
			   const struct share *shares,
			   const struct swz_dump_options *options,
			   size_t *lacking)
{
	char *list = swz_duplicate("");
	uint32_t i;

	*lacking = 0;
	for (i = 0; i < catalog->module_count; i++) {
		const struct swz_catalog_module *module = &catalog->modules[i];
		const struct swz_debug_package *package;
		char *build_id, *longer;

		if (!lacks_names(advice, catalog, i, &shares[i]))
			continue;
		printf("%s: %.0f%% of the time has no names\n", module->path,
		       percent(advice, shares[i].nameless_ns));
		++*lacking;
		if (!is_here(module, options))
			continue;
		build_id = hex(module);
		advice->packages->asked_ns = 0;
		package = debug_package_find(advice->packages, module->path,
					     build_id);
		free(build_id);
		if (!package->exact && !package->owner)
			continue;
		longer = swz_print("%s %s%s", list,
				   package->exact ? package->exact
						  : package->owner,
				   package->exact ? "" : "-dbgsym");
		free(list);
		list = longer;
	}
	return list;
}

/* In single quotes, for a shell; to be freed. */
static char *quoted(const char *word)
{
	char *text = swz_allocate(4 * strlen(word) + 3, 1), *to = text;

	*to++ = '\'';
	for (; *word; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\''");
		else
			*to++ = *word;
	}
	strcpy(to, "'");
	return text;
}

/* As root, or by sudo. */
static char *apt_command(const struct distribution *here, const char *packages)
{
	const char *sudo = geteuid() == 0 ? "" : "sudo ";
	char *name = release_value("VERSION_CODENAME");
	char *line = swz_print(here->line, name), *command;

	if (has_repository(here))
		command = swz_print("%sapt-get install%s", sudo, packages);
	else
		command = swz_print(
			"echo '%s' | %stee "
			"/etc/apt/sources.list.d/debug-packages.list && "
			"%sapt-get update && %sapt-get install%s",
			line, sudo, sudo, sudo, packages);
	free(line);
	free(name);
	return command;
}

/* The names that a server has are kept in the profiles. */
static char *server_command(const struct distribution *here,
			    const struct swz_dump_options *options)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	char *own = realpath("/proc/self/exe", NULL);
	char *tool = quoted(own ? own : "swizzle-dump");
	char *command = servers && *servers
				? swz_print("%s --embed", tool)
				: swz_print("DEBUGINFOD_URLS=%s %s --embed",
					    here->server, tool);
	size_t i;

	for (i = 0; i < options->argument_count; i++) {
		char *word = quoted(options->arguments[i]);
		char *longer = swz_print("%s %s", command, word);

		free(word);
		free(command);
		command = longer;
	}
	free(tool);
	free(own);
	return command;
}

/* It has our standard input: apt-get asks, too. */
static int run_command(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool user_agrees(void)
{
	char answer[16] = "";

	fputs("Run it? [y/N] ", stdout);
	(void)fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

int swz_dump_get_names(const struct swz_report *report,
		       struct swz_catalog *catalog,
		       const struct swz_dump_options *options)
{
	const struct distribution *here = find_distribution();
	struct swz_debug_packages asked = {0};
	struct swz_dump_advice advice = swz_dump_advice_begin(&asked);
	struct share *shares;
	bool by_apt = here->line && is_program("apt-get") &&
		      (geteuid() == 0 || is_program("sudo"));
	char *packages, *command;
	int status = EXIT_OK;
	size_t lacking;

	swz_dump_advice_add(&advice, report);
	shares = shares_of(&advice, catalog, options);
	packages = find_packages(&advice, catalog, shares, options, &lacking);
	free(shares);
	command = by_apt && *packages ? apt_command(here, packages)
				      : server_command(here, options);
	if (!lacking) {
		puts("All files that took time have names.");
	} else {
		printf("\nThis gets them:\n\n    %s\n\n", command);
		if (!user_agrees()) {
			puts("Nothing was done.");
			status = EXIT_INPUT;
		} else if (run_command(command) != 0) {
			swz_dump_complain("the command failed");
			status = EXIT_INPUT;
		}
	}
	free(command);
	free(packages);
	swz_dump_advice_free(&advice);
	swz_debug_packages_free(&asked);
	return status;
}
