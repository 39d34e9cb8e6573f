/* swizzle-run: puts libswizzle.so and its settings into the environment and
 * executes the program: same process, same exit status, same signals. Else the
 * program sees the environment that it would see without us. */

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/printable.h"
#include "base/syscall.h"
#include "control/attach.h"
#include "launch/program.h"
#include "launch/run_options.h"
#include "options/command_line.h"
#include "profile/file/packing.h"
#include "swizzle/format.h"
#include "watch/engine.h"
#include "watch/proc_task.h"

/* --- two builds in turns (--compare) -------------------------------------- */

/* Two builds run in turns: what disturbs the machine disturbs both. The first
 * of a pair is the second of the next (old new, new old, ...), so that a
 * machine that gets slower and slower favours neither.
 *
 * Each run is a swizzle-run of its own, whose settings are in the environment
 * already, and writes into a directory of its own: a program may start others.
 * swizzle-dump says whether the change is told from noise. It is asked after
 * each pair, so it takes less for granted than in a single comparison. */

#define LEAST_RUNS 5u /* of each, before it is asked */
#define BLANKS " \t\n"
#define UNDECIDED 3 /* as swizzle-dump's */

enum { OLD, NEW, SIDES };

static const char *const side_names[SIDES] = {"old", "new"};

struct compared_builds {
	const char *old, *new;
	const char *output; /* the directory (-o), or NULL */
	char **arguments;   /* of both, ended by NULL */
	unsigned int most;  /* runs of each */
};

struct turns {
	const struct compared_builds *compared;
	char *directory;
	const char *argv0;
	char **given;
	bool quiet;
	int status[SIDES]; /* of each side's first run, as waitpid(2) has it */
};

static bool is_quiet(void)
{
	return strcmp(swz_environment_get("SWIZZLE_QUIET"), "1") == 0;
}

/* Waits for the child; a status as waitpid(2) has it. */
static int wait_for(pid_t child)
{
	int status = 0;

	if (child < 0)
		swz_die(SWZ_CANNOT_RUN, "--compare: %s", strerror(errno));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return 0;
	return status;
}

static void to_nothing(int descriptor, int flags)
{
	int fd = open("/dev/null", flags);

	if (fd >= 0 && fd != descriptor) {
		dup2(fd, descriptor);
		close(fd);
	}
}

static size_t count_of(char **words)
{
	size_t count = 0;

	while (words[count])
		count++;
	return count;
}

/* The program's output is not wanted so often, and the first run alone would
 * read its input. */
_Noreturn static void become_run(const struct turns *t, unsigned int side,
				 unsigned int number)
{
	char **arguments = t->compared->arguments;
	size_t count = count_of(arguments), i;
	char **words = calloc(count + 6, sizeof(*words));

	if (!words)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	words[0] = swz_text("%s", t->argv0);
	words[1] = swz_text("-o");
	words[2] = swz_text("%s/%s.%u/", t->directory, side_names[side],
			    number);
	words[3] = swz_text("--");
	words[4] = swz_text("%s",
			    side == OLD ? t->compared->old : t->compared->new);
	for (i = 0; i < count; i++)
		words[5 + i] = arguments[i];
	to_nothing(STDIN_FILENO, O_RDONLY);
	to_nothing(STDOUT_FILENO, O_WRONLY);
	swz_environment_set("SWIZZLE_SUMMARY", "0");
	/* each run would say the same */
	if (number > 1)
		swz_environment_set("SWIZZLE_QUIET", "1");
	execve("/proc/self/exe", words, environ);
	swz_die(SWZ_CANNOT_RUN, "--compare: %s", strerror(errno));
}

/* A build that fails now and then has no time to be compared. */
static void check_end(struct turns *t, unsigned int side, unsigned int number,
		      int status)
{
	const char *program = side == OLD ? t->compared->old : t->compared->new;

	if (WIFSIGNALED(status))
		swz_die(1,
			"%s: run %u was ended by signal %d (%s). Nothing is "
			"compared",
			program, number, WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == SWZ_CANNOT_RUN ||
	    WEXITSTATUS(status) == SWZ_NOT_FOUND)
		exit(WEXITSTATUS(status)); /* which was said */
	if (number == 1)
		t->status[side] = status;
	if (status != t->status[side])
		swz_die(1,
			"%s: run 1 ended with status %d, run %u with %d. "
			"Nothing is compared",
			program, WEXITSTATUS(t->status[side]), number,
			WEXITSTATUS(status));
	if (number == 1 && status && !t->quiet)
		swz_notice("%s ends with status %d, in this comparison",
			   program, WEXITSTATUS(status));
}

static void run_one(struct turns *t, unsigned int side, unsigned int number)
{
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0)
		become_run(t, side, number);
	check_end(t, side, number, wait_for(child));
}

/* swizzle-dump with OPTIONS, and then all runs so far; its exit status. */
static int run_dump(const struct turns *t, const char *options,
		    unsigned int count)
{
	char **words = calloc(2 * (size_t)count + strlen(options) + 6,
			      sizeof(*words));
	char *rest = swz_text("%s", options);
	size_t at = 0;
	int status;
	pid_t child;

	if (!words)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	words[at++] = swz_dump_find(t->argv0);
	if (t->quiet)
		words[at++] = swz_text("-q");
	for (char *word = strtok(rest, BLANKS); word;
	     word = strtok(NULL, BLANKS))
		words[at++] = word;
	words[at++] = swz_text("--diff");
	for (unsigned int side = OLD; side < SIDES; side++) {
		for (unsigned int n = 1; n <= count; n++)
			words[at++] = swz_text("%s/%s.%u", t->directory,
					       side_names[side], n);
		if (side == OLD)
			words[at++] = swz_text("--");
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		execve(words[0], words, t->given);
		swz_die(SWZ_CANNOT_RUN, "--compare: cannot execute %s: %s",
			words[0], strerror(errno));
	}
	free(words);
	status = wait_for(child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static void make_directory(struct turns *t)
{
	const char *given = t->compared->output;

	t->directory = given ? swz_text("%s", given)
			     : swz_text("swizzle.compare.%d", (int)getpid());
	for (size_t n = strlen(t->directory); n > 1; n--) {
		if (t->directory[n - 1] != '/')
			break;
		t->directory[n - 1] = '\0';
	}
	if (mkdir(t->directory, 0777) != 0 && errno != EEXIST)
		swz_die(SWZ_CANNOT_RUN,
			"--compare: cannot make the directory %s: %s",
			t->directory, strerror(errno));
	/* each directory would be a run of two processes */
	if (swz_path_is_directory(swz_text("%s/old.1", t->directory)))
		swz_die(SWZ_WRONG_USAGE,
			"--compare: %s has the runs of an earlier comparison. "
			"Remove it, or give -o another name",
			t->directory);
}

/* Returns the exit status. GIVEN is the environment before options changed it,
 * for swizzle-dump. */
static int compare_builds_in_turns(const struct compared_builds *compared,
				   const char *argv0, char **given)
{
	struct turns t = {.compared = compared,
			  .argv0 = argv0,
			  .given = given,
			  .quiet = is_quiet()};
	const char *report = swz_environment_get("SWIZZLE_REPORT");
	char *options = swz_text("%s", strcmp(report, "1") == 0 ? "" : report);
	unsigned int least = compared->most < LEAST_RUNS ? compared->most
							 : LEAST_RUNS;
	unsigned int done;
	int told = UNDECIDED, status;

	unsetenv("SWIZZLE_REPORT");
	make_directory(&t);
	for (done = 0; done < compared->most && told == UNDECIDED;) {
		done++;
		run_one(&t, done % 2 ? OLD : NEW, done);
		run_one(&t, done % 2 ? NEW : OLD, done);
		if (done >= least)
			told = run_dump(&t, "--told -q -o /dev/null", done);
	}
	if (told != 0 && told != UNDECIDED)
		return told;
	status = run_dump(&t, options, done);
	if (!t.quiet && told == 0)
		swz_notice(
			"%u runs of each, in turns -> %s. The change is told "
			"from noise",
			done, t.directory);
	else if (!t.quiet)
		swz_notice("%u runs of each, in turns -> %s. The change is not "
			   "told from noise: give more (--runs %u), on a "
			   "quieter machine",
			   done, t.directory, 2 * compared->most);
	return status || *options ? status : told;
}

/* As mkdir -p. */
static void make_directories(char *path)
{
	for (char *s = path + 1; *s; s++) {
		int error;

		if (*s != '/')
			continue;
		*s = '\0';
		error = mkdir(path, 0777) == 0 ? 0 : errno;
		if (error && !swz_path_is_directory(path))
			swz_die(SWZ_CANNOT_RUN,
				"cannot make the directory %s: %s. Use -o to "
				"name another",
				path,
				strerror(error == EEXIST ? ENOTDIR : error));
		*s = '/';
	}
}

/* A profile is mapped into memory, and its name is got again: a device, a pipe
 * or what a link in /dev leads to will not do. */
static void check_is_file(const char *given, const char *output,
			  const char *directory)
{
	char *real = realpath(directory, NULL);
	struct stat st;

	if ((stat(output, &st) == 0 && !S_ISREG(st.st_mode)) ||
	    (real && strcmp(real, "/dev") == 0))
		swz_die(SWZ_CANNOT_RUN,
			"%s: a profile can only be written to a regular file. "
			"Give -o the name of one",
			given);
	free(real);
}

/* The new profile has the room of an older one of that name. */
static bool has_room(const char *output)
{
	struct stat st;

	return stat(output, &st) == 0 && st.st_size >= SWZ_LEAST_FILE_BYTES;
}

/* Tries it out: only the file system knows. */
static void check_directory(const char *directory, const char *output)
{
	static const char page[SWZ_HEADER_BYTES];
	struct rlimit limit;
	char *name = NULL;
	int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	int error = 0;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 &&
	    limit.rlim_cur < SWZ_LEAST_FILE_BYTES)
		swz_die(SWZ_CANNOT_RUN,
			"cannot write a profile: files may have no more than "
			"%llu bytes (ulimit -f), which is less than the %u "
			"that it needs",
			(unsigned long long)limit.rlim_cur,
			SWZ_LEAST_FILE_BYTES);
	if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR ||
		       errno == EINVAL || errno == ENOENT)) {
		name = swz_text("%sswizzle.try.XXXXXX", directory);
		fd = mkostemp(name, O_CLOEXEC);
	}
	if (fd < 0 || write(fd, page, sizeof(page)) != sizeof(page))
		error = errno ? errno : ENOSPC;
	if (fd >= 0)
		close(fd);
	if (fd >= 0 && name)
		unlink(name);
	free(name);
	if (error == ENOSPC && has_room(output))
		return;
	if (error)
		swz_die(SWZ_CANNOT_RUN,
			"cannot write a profile to %s: %s. Use -o to name "
			"another place",
			directory, strerror(error));
}

static void check_output(const char *given, char *output)
{
	const char *directory = swz_text("%s/", swz_path_directory(output));

	if (output[strlen(output) - 1] == '/')
		make_directories(output);
	else if (!swz_path_is_directory(directory))
		swz_die(SWZ_CANNOT_RUN,
			"%s: there is no directory %s. Make it, or give -o "
			"another name",
			given, directory);
	else
		check_is_file(given, output, directory);
	check_directory(directory, output);
}

/* The run begins with this process. */
static void set_tree(struct swz_run *run, char *output, size_t shown)
{
	const char *end = strrchr(output, '/');
	struct stat messages = {.st_ino = 0};

	(void)fstat(STDERR_FILENO, &messages);
	*run = (struct swz_run){
		.only_used = *swz_environment_get("SWIZZLE_MODULE") != '\0',
		.output = end[1] ? output
				 : swz_text("%sswizzle.out.%%p", output),
		.root_pid = getpid(),
		.root_start = swz_process_start(0),
		.shown = (uint32_t)shown,
		.messages_device = messages.st_dev,
		.messages_inode = messages.st_ino,
	};
	swz_environment_set("SWIZZLE_TREE",
			    swz_text("%d %llu %zu %llu %llu",
				     (int)run->root_pid,
				     (unsigned long long)run->root_start, shown,
				     (unsigned long long)run->messages_device,
				     (unsigned long long)run->messages_inode));
}

static bool is_set(const char *variable)
{
	const char *value = swz_environment_get(variable);

	return *value && strcmp(value, "0") != 0;
}

static bool wants_summary(void)
{
	return !is_set("SWIZZLE_QUIET") && !is_set("SWIZZLE_LIST") &&
	       strcmp(swz_environment_get("SWIZZLE_SUMMARY"), "0") != 0;
}

/* WANTED with %h and %q{VARIABLE} replaced. A launcher of parallel programs
 * sets its variables for what it starts, not for itself. */
static char *expand_output(const char *wanted)
{
	struct swz_output_name_problem what = {NULL, 0};
	static char output[4096];

	switch (swz_output_name_expand(wanted, environ, output, sizeof(output),
				       &what)) {
	case SWZ_OUTPUT_NAME_FINE:
		return output;
	case SWZ_OUTPUT_NAME_UNSET:
		swz_die(SWZ_WRONG_USAGE,
			"-o %s: the variable %.*s is not set. mpirun and srun "
			"set theirs only for what they start: mpirun "
			"swizzle-run -o ... PROGRAM",
			wanted, (int)what.length, what.variable);
	case SWZ_OUTPUT_NAME_EMPTY:
		swz_die(SWZ_WRONG_USAGE, "-o %s: the variable %.*s is empty",
			wanted, (int)what.length, what.variable);
	case SWZ_OUTPUT_NAME_UNCLOSED:
		swz_die(SWZ_WRONG_USAGE,
			"-o %s: %%q must be followed by the name of a variable "
			"in braces: %%q{PMIX_RANK}",
			wanted);
	case SWZ_OUTPUT_NAME_HOST:
		swz_die(SWZ_CANNOT_RUN, "-o %s: %%h: this host has no name",
			wanted);
	default:
		swz_die(SWZ_CANNOT_RUN, "-o %s: the name is too long", wanted);
	}
}

/* Absolute, because the program and its children may change directory. */
static void set_output(struct swz_run *tree)
{
	const char *given = swz_options_output();
	const char *wanted = given ? given
				   : swz_environment_get("SWIZZLE_OUTPUT");
	const char *pattern = *wanted ? wanted : "swizzle.out.%p";
	char *here, *output;

	wanted = expand_output(pattern);
	here = *wanted == '/' ? NULL : getcwd(NULL, 0);
	if (strcmp(wanted, "-") == 0)
		swz_die(SWZ_WRONG_USAGE,
			"-o -: a profile cannot be written to standard output. "
			"Give -o the name of a file (./- for one of that "
			"name)");
	if (!here && wanted[0] != '/')
		swz_die(SWZ_CANNOT_RUN,
			"%s: the working directory is not there any more. "
			"Give -o a path that begins with /",
			wanted);
	output = here ? swz_text("%s/%s", strcmp(here, "/") ? here : "", wanted)
		      : swz_text("%s", wanted);
	if (output[strlen(output) - 1] != '/' && swz_path_is_directory(output))
		output = swz_text("%s/", output);
	/* nobody can make it beforehand */
	if (strcmp(pattern, wanted) != 0)
		make_directories(output);
	if (strcmp(swz_environment_get("SWIZZLE_LIST"), "1") != 0 &&
	    strchr(output, '/'))
		check_output(wanted, output);
	swz_environment_set("SWIZZLE_OUTPUT", output);
	set_tree(tree, output,
		 here ? strlen(strcmp(here, "/") ? here : "") + 1 : 0);
	/* The run that the user started replaces an older file of the same
	 * name; what this program executes does not (the library takes the
	 * mark back). */
	swz_environment_set("SWIZZLE_FRESH", "1");
}

static char **copy_environment(void)
{
	size_t count = 0;
	char **copy;

	while (environ[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	if (!copy)
		swz_die(SWZ_CANNOT_RUN, "no memory");
	memcpy(copy, environ, count * sizeof(*copy));
	return copy;
}

/* --mode sample: the program gets the environment as it was GIVEN. */
static int sample(char **program, char **given, char **argv)
{
	struct swz_sampling settings = swz_sampling_read();
	struct swz_run tree;
	char *path, *problem;

	swz_options_check_environment();
	if (settings.pid) {
		set_output(&tree);
		tree.root_pid = settings.pid;
		tree.root_start = swz_process_start(settings.pid);
		swz_report_tell(&tree);
		return swz_sampler_attach(&tree, &settings);
	}
	if (!*program || !**program)
		swz_die(SWZ_NOT_FOUND, "'': not found");
	path = swz_program_find(*program, *program);
	settings.program = swz_program_check(path, *program, true);
	settings.command = program;
	set_output(&tree);
	swz_report_tell(&tree);
	problem = swz_sampler_start(&tree, &settings, argv);
	if (problem)
		swz_die(SWZ_CANNOT_RUN, "cannot sample: %s", problem);
	environ = given;
	swz_program_execute(path, program);
}

/* The settings, for a library that comes into a process that runs. */
static char **settings_of_environment(void)
{
	static const char *const names[] = {"SWIZZLE_",
					    "HOME=", "XDG_CACHE_HOME="};
	/* what the library says comes to us, who know whether to pass it on */
	static const char quiet[] = "SWIZZLE_QUIET=";
	char **chosen = copy_environment();
	size_t count = 0;

	for (size_t i = 0; chosen[i]; i++)
		for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
			if (strncmp(chosen[i], names[n], strlen(names[n])) ==
				    0 &&
			    strncmp(chosen[i], quiet, strlen(quiet)) != 0)
				chosen[count++] = chosen[i];
	chosen[count] = NULL;
	return chosen;
}

/* "swizzle.out.%p" to "swizzle.out.4067.samples": all files of the sampler are
 * beside that of the run's first process. */
static char *samples_beside(const char *output, int32_t root)
{
	const char *mark = strstr(output, "%p");

	if (!mark)
		return swz_text("%s.samples", output);
	return swz_text("%.*s%d%s.samples", (int)(mark - output), output,
			(int)root, mark + 2);
}

/* --mode both: samples of the run whose counts are in RUN, and in PROFILE, if
 * that is known. */
static void sample_beside(const struct swz_run *run, const char *profile,
			  struct swz_run *tree, struct swz_sampling *settings)
{
	*tree = *run;
	tree->output = profile ? swz_text("%s.samples", profile)
			       : samples_beside(run->output, run->root_pid);
	settings->summary = false; /* that of the counts tells what is next */
	settings->counts_output = run->output;
	settings->counts_pid = run->root_pid;
	settings->counts_start = run->root_start;
}

static void start_beside(const struct swz_run *run, const char *elf,
			 char **program, char **argv)
{
	struct swz_sampling settings = swz_sampling_read();
	struct swz_run tree;
	char *problem;

	sample_beside(run, NULL, &tree, &settings);
	settings.program = elf;
	settings.command = program;
	problem = swz_sampler_start(&tree, &settings, argv);
	if (!problem)
		swz_environment_set(
			"SWIZZLE_TREE",
			swz_text("%s 1", swz_environment_get("SWIZZLE_TREE")));
	else if (!settings.quiet)
		swz_notice(
			"calls are counted without times: cannot sample: %s; "
			"-m profile times them by hooks",
			problem);
	free(problem);
}

/* The sampler of a process that runs is a child of ours. */
struct beside {
	const struct swz_run *run;
	pid_t sampler;
};

static void begin_beside(void *context, const char *profile)
{
	struct beside *b = context;
	struct swz_sampling settings = swz_sampling_read();
	struct swz_run tree;

	b->sampler = fork();
	if (b->sampler)
		return;
	sample_beside(b->run, profile, &tree, &settings);
	settings.for_ns = 0; /* until we say so */
	exit(swz_sampler_attach(&tree, &settings));
}

static void end_beside(void *context)
{
	struct beside *b = context;

	if (b->sampler <= 0)
		return;
	kill(b->sampler, SIGTERM);
	while (waitpid(b->sampler, NULL, 0) < 0 && errno == EINTR)
		;
}

/* The process is there, and the kernel shows us its code (ptrace(2), "Ptrace
 * access mode checking"). */
static bool may_read(int32_t pid)
{
	int maps = open(swz_text("/proc/%d/maps", (int)pid),
			O_RDONLY | O_CLOEXEC);

	if (maps >= 0)
		close(maps);
	return maps >= 0;
}

/* -p PID, but with --mode sample. */
static int attach(const char *self)
{
	struct swz_sampling settings = swz_sampling_read();
	bool both = swz_both_wanted();
	struct swz_run tree;
	struct beside beside = {.run = &tree};
	const struct swz_attach_beside functions = {begin_beside, end_beside,
						    &beside};
	int status;

	swz_options_check_environment();
	set_output(&tree);
	/* as it knows itself, and writes it into its profile */
	tree.root_pid = swz_proc_inner_number(settings.pid);
	tree.root_start = swz_process_start(settings.pid);
	tree.from_ticks = __builtin_ia32_rdtsc();
	swz_report_tell(&tree);
	swz_environment_set("SWIZZLE_TREE",
			    swz_text("%d %llu %u", (int)tree.root_pid,
				     (unsigned long long)tree.root_start,
				     tree.shown));
	swz_environment_set("SWIZZLE_SUMMARY", "0");
	if (both)
		swz_environment_set("SWIZZLE_MODE", "count");
	swz_signatures_prepare("", self, settings.pid);
	status = swz_attach_run(&tree, &settings, swz_library_find(self),
				settings_of_environment(),
				both ? &functions : NULL);
	if (status != SWZ_CANNOT_RUN || !both || !may_read(settings.pid) ||
	    !swz_attach_may_sample(settings.pid))
		return status;
	swz_options_sample_alone(swz_text("process %d", (int)settings.pid),
				 "it cannot be hooked");
	tree.root_pid = settings.pid;
	return swz_sampler_attach(&tree, &settings);
}

/* Each run settles its mode and reads the configuration by itself. */
static int compare(char **arguments, const char *self, char **given)
{
	const struct swz_compared_builds *builds = swz_options_compared();
	const struct compared_builds compared = {.old = builds->old,
						 .new = builds->new,
						 .most = builds->most,
						 .output = swz_options_output(),
						 .arguments = arguments};

	if (*swz_environment_get("SWIZZLE_PID") || is_set("SWIZZLE_LIST"))
		swz_die(SWZ_WRONG_USAGE,
			"option --compare has no use for -p and --list");
	return compare_builds_in_turns(&compared, self, given);
}

int main(int argc, char **argv)
{
	static char **given; /* the environment before options change it */
	char **program, *path;
	const char *elf;
	struct swz_run tree;
	bool nested; /* profiled ourselves */

	if (argc < 1)
		return SWZ_WRONG_USAGE;
	swz_keep_standard_descriptors(O_CLOEXEC); /* closed for the program */
	swz_pause_calls_mend();
	given = copy_environment();
	program = swz_options_read(argv);
	if (swz_options_check_is_wanted())
		return swz_check_machine(swz_library_find(argv[0]));
	if (swz_options_compared())
		return compare(program, argv[0], given);
	swz_configuration_apply();
	swz_options_settle_mode(*program != NULL);
	swz_report_begin(argv[0], given);
	if (swz_sampling_wanted())
		return sample(program, given, argv);
	if (*swz_environment_get("SWIZZLE_PID"))
		return attach(argv[0]);
	if (!*program || !**program)
		swz_die(SWZ_NOT_FOUND, "'': not found");
	swz_options_check_environment();
	path = swz_program_find(*program, *program);
	elf = swz_program_check(path, *program,
				swz_both_wanted() && !is_set("SWIZZLE_LIST"));
	if (swz_program_not_hooked()) {
		swz_options_sample_alone(*program, swz_program_not_hooked());
		return sample(program, given, argv);
	}
	swz_signatures_prepare(elf ? elf : path, argv[0], getpid());
	nested = swz_library_preload(swz_library_find(argv[0]));
	set_output(&tree);
	swz_report_tell(&tree);
	if (swz_both_wanted()) {
		swz_environment_set("SWIZZLE_MODE", "count");
		if (!is_set("SWIZZLE_LIST"))
			start_beside(&tree, elf, program, argv);
	}
	swz_off_prepare();
	if (!is_set("SWIZZLE_LIST") && !nested)
		swz_watcher_start(
			&tree, argv,
			&(struct swz_watching){
				.tells = wants_summary(),
				.look = swz_hooked_waits_look,
				.afterwards = wants_summary() ? swz_packing_run
							      : NULL});
	swz_program_execute(path, program);
}
