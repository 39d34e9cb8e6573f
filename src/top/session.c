#include "top/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/syscall.h"
#include "launch/program.h"
#include "swizzle/format.h"
#include "top/live.h"
#include "top/screen.h"
#include "util/figures.h"
#include "util/memory.h"
#include "util/output.h"
#include "watch/engine.h"
#include "watch/proc_task.h"

/* --- the process that takes samples --------------------------------------- */

/* A file is complete when nobody has it locked: the sampler holds the lock
 * while it may still write. It ends when its pipe does, so it outlives nobody
 * who was killed, and removes the folder. */

/* ------------------------------------------------------------- the sampler */

/* The longest answer has the name of the folder. */
#define LINE_BYTES 4200u

static struct swz_watch watch_state;
static int asked, answers;

static void say(char kind, const char *text)
{
	char line[LINE_BYTES];
	int n = snprintf(line, sizeof(line), "%c%s\n", kind, text);

	if (n >= (int)sizeof(line)) {
		n = sizeof(line);
		line[n - 1] = '\n';
	}
	(void)!write(answers, line, (size_t)n);
}

static void answer(struct swz_watch *watch)
{
	struct pollfd fd = {asked, POLLIN, 0};
	char byte;
	ssize_t n;

	if (poll(&fd, 1, 0) <= 0)
		return;
	n = read(asked, &byte, 1);
	if (n == 0)
		watch->end_ns = 0;
	if (n != 1)
		return;
	swz_tasks_hand_over(&watch->tasks, swz_watch_now());
	if (watch->run.problem)
		say('!', watch->run.problem);
	say('.', "");
}

static void ignore_end(struct swz_watch *watch)
{
	(void)watch;
}

/* Made here, so that who is killed meanwhile leaves none behind. */
static char *make_folder(void)
{
	const char *const places[] = {"/dev/shm", getenv("TMPDIR"), "/tmp"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char *name;

		if (!places[i] || !*places[i])
			continue;
		name = swz_print("%s/swizzle-top.XXXXXX", places[i]);
		if (mkdtemp(name))
			return name;
		free(name);
	}
	return NULL;
}

static void remove_folder(const char *folder)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	closedir(directory);
	(void)rmdir(folder);
}

static void prepare(struct swz_watch *watch, const struct swz_sampling *options,
		    const char *folder, bool launched)
{
	*watch = (struct swz_watch){
		.options = options,
		.pid = options->pid,
		.launched = launched,
		.pidfd = -1,
		.stop = -1,
		.end_ns = UINT64_MAX,
		.root_ended = ignore_end,
		.between = answer,
	};
	watch->run.output = swz_print("%s/%%p", folder);
	watch->run.root_pid = options->pid;
	watch->run.root_start = swz_process_start(options->pid);
	if (options->wall)
		watch->run.flags |= SWZ_SAMPLES_OF_WAITING;
	watch->tasks.run = &watch->run;
	watch->tasks.context = watch;
}

/* The terminal is not the sampler's, nor are its signals. */
static void stand_apart(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t all;

	swz_terminal_disown();
	setsid();
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, "swizzle-sampler");
	for (int fd = 0; null >= 0 && fd < 3; fd++)
		(void)dup2(null, fd);
}

_Noreturn static void sample(const struct swz_sampling *options, bool launched)
{
	struct swz_watch *watch = &watch_state;
	const char *problem, *why_pause;
	char *folder, byte;

	stand_apart();
	folder = make_folder();
	if (!folder) {
		say('!', swz_print("/dev/shm, /tmp: %s", strerror(errno)));
		_exit(1);
	}
	say('f', folder);
	prepare(watch, options, folder, launched);
	if (!swz_engine_open(watch, &why_pause, &problem)) {
		say('!', problem);
		remove_folder(folder);
		_exit(1);
	}
	if (why_pause)
		say('p', why_pause);
	/* its threads have run before */
	swz_tasks_hand_over(&watch->tasks, swz_watch_now());
	say('.', "");
	swz_engine_run(watch);
	if (watch->run.problem)
		say('!', watch->run.problem);
	close(answers);
	while (read(asked, &byte, 1) == 1)
		; /* until nobody reads what is left */
	remove_folder(folder);
	_exit(0);
}

/* ------------------------------------------------------------ its user */

static void fail(struct swz_top_sampler *sampler, const char *what)
{
	snprintf(sampler->problem, sizeof(sampler->problem), "%s: %s", what,
		 strerror(errno));
}

/* One line of an answer. False: the answer is complete, or there will be none.
 */
static bool read_line(struct swz_top_sampler *sampler)
{
	char text[LINE_BYTES];
	size_t length = 0;

	for (;;) {
		char byte;
		ssize_t n = read(sampler->answer, &byte, 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			sampler->ended = true;
			return false;
		}
		if (byte == '\n')
			break;
		if (length < sizeof(text) - 1)
			text[length++] = byte;
	}
	text[length] = '\0';
	if (text[0] == '!')
		snprintf(sampler->problem, sizeof(sampler->problem), "%.*s",
			 (int)sizeof(sampler->problem) - 1, text + 1);
	if (text[0] == 'f' && !sampler->folder)
		sampler->folder = swz_duplicate(text + 1);
	if (text[0] == 'p' && !sampler->why_pause)
		sampler->why_pause = swz_duplicate(text + 1);
	return text[0] != '.';
}

/* Waits for it. */
static void top_sampler_wait(struct swz_top_sampler *sampler)
{
	while (read_line(sampler))
		;
}

/* Starts it for process options->pid; with LAUNCHED, from the next program on
 * that this process executes. False: sampler->problem says why not. */
static bool top_sampler_start(struct swz_top_sampler *sampler,
			      const struct swz_sampling *options, bool launched)
{
	int to[2], from[2];

	*sampler = (struct swz_top_sampler){.ask = -1, .answer = -1};
	if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) {
		fail(sampler, "cannot start the sampler");
		return false;
	}
	sampler->pid = fork();
	if (sampler->pid < 0) {
		fail(sampler, "cannot start the sampler");
		return false;
	}
	if (sampler->pid == 0) {
		close(to[1]);
		close(from[0]);
		asked = to[0];
		answers = from[1];
		sample(options, launched);
	}
	close(to[0]);
	close(from[1]);
	sampler->ask = to[1];
	sampler->answer = from[0];
	top_sampler_wait(sampler);
	if (!sampler->ended)
		return true;
	if (!sampler->problem[0])
		snprintf(sampler->problem, sizeof(sampler->problem),
			 "the sampler has ended");
	return false;
}

/* Asks for samples. The answer is there when the descriptor `answer` can be
 * read. */
static void top_sampler_ask(struct swz_top_sampler *sampler)
{
	if (!sampler->ended && write(sampler->ask, "", 1) != 1)
		sampler->ended = true;
}

static bool is_complete(int fd)
{
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

/* The profiles that are complete: calls TAKE for the path of each, which is
 * then removed. */
static void top_sampler_take(const struct swz_top_sampler *sampler,
			     void (*take)(void *context, const char *path),
			     void *context)
{
	DIR *directory = opendir(sampler->folder);
	struct dirent *entry;

	if (!directory)
		return;
	while ((entry = readdir(directory))) {
		char *path;
		int fd;

		if (entry->d_name[0] == '.')
			continue;
		path = swz_print("%s/%s", sampler->folder, entry->d_name);
		fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		if (is_complete(fd)) {
			take(context, path);
			(void)unlink(path);
		}
		if (fd >= 0)
			close(fd);
		free(path);
	}
	closedir(directory);
}

/* Ends it, and removes its folder. */
static void top_sampler_end(struct swz_top_sampler *sampler)
{
	if (sampler->ask >= 0)
		close(sampler->ask);
	if (sampler->answer >= 0)
		close(sampler->answer);
	if (sampler->pid > 0)
		while (waitpid(sampler->pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (sampler->folder)
		remove_folder(sampler->folder);
	free(sampler->folder);
	free(sampler->why_pause);
	*sampler = (struct swz_top_sampler){.ask = -1, .answer = -1};
}

/* --- output of the program ----------------------------------------------- */

#define SHOWN_BYTES 65536u    /* on the screen */
#define MOST_BYTES (1u << 20) /* behind it */

static int make_temporary(struct swz_program_output *output)
{
	const char *folder = getenv("TMPDIR");

	output->path = swz_print("%s/swizzle-top.out.XXXXXX",
				 folder && *folder ? folder : "/tmp");
	output->temporary = true;
	return mkostemp(output->path, O_APPEND | O_CLOEXEC);
}

/* Opens the file to be written, if standard output or error is a terminal; -1:
 * neither is. WANTED: its path, or NULL. Dies where it cannot be made. */
static int program_output_open(struct swz_program_output *output,
			       const char *wanted)
{
	int fd;

	*output = (struct swz_program_output){0};
	if (!wanted && !isatty(STDOUT_FILENO) && !isatty(STDERR_FILENO))
		return -1;
	if (wanted) {
		output->path = swz_duplicate(wanted);
		fd = open(wanted,
			  O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
			  0666);
	} else {
		fd = make_temporary(output);
	}
	if (fd < 0)
		swz_die(SWZ_CANNOT_RUN,
			"cannot write the program's output to %s: %s. Name "
			"another file by -o",
			output->path, strerror(errno));
	return fd;
}

/* The end of the file, SHOWN_BYTES of it at most. */
static char *read_end(const char *path)
{
	char *text = swz_allocate(SHOWN_BYTES + 1, 1);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	off_t from = 0;
	ssize_t n = 0;

	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		if (st.st_size > SHOWN_BYTES)
			from = st.st_size - SHOWN_BYTES;
		n = pread(fd, text, SHOWN_BYTES, from);
	}
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < n; i++)
		if (!text[i] || text[i] == '\t')
			text[i] = text[i] ? ' ' : '?';
	text[n > 0 ? n : 0] = '\0';
	if (from) { /* the first line may have been cut */
		char *line = strchr(text, '\n');

		if (line)
			memmove(text, line + 1, strlen(line + 1) + 1);
	}
	return text;
}

static size_t count_lines(const char *text)
{
	size_t count = 1;

	for (; (text = strchr(text, '\n')); text++)
		count++;
	return count;
}

/* Pointers, and behind them the text. */
char **swz_program_output_lines(const struct swz_program_output *output)
{
	char *text = output->path ? read_end(output->path) : swz_duplicate("");
	size_t size = strlen(text) + 1, most = count_lines(text) + 1, count = 0;
	char **lines = swz_allocate(1, most * sizeof(*lines) + size);
	char *at = memcpy(lines + most, text, size);

	free(text);
	while (*at) {
		char *end = strchrnul(at, '\n');
		bool last = !*end;

		*end = '\0';
		lines[count++] = at;
		at = last ? end : end + 1;
	}
	return lines;
}

static void copy(const char *path)
{
	FILE *file = fopen(path, "re");
	char bytes[4096];
	size_t n;

	if (!file)
		return;
	while ((n = fread(bytes, 1, sizeof(bytes), file)) > 0)
		(void)!fwrite(bytes, 1, n, stdout);
	fflush(stdout);
	fclose(file);
}

void swz_program_output_show(struct swz_program_output *output, bool ended)
{
	char size[SWZ_FIGURE_BYTES];
	struct stat st;

	if (!output->path || stat(output->path, &st) != 0)
		return;
	if (output->temporary && ended && st.st_size <= MOST_BYTES) {
		if (isatty(STDOUT_FILENO))
			copy(output->path);
		(void)unlink(output->path);
	} else if (st.st_size || !ended) {
		swz_complain("what the program %s is in %s (%s bytes)",
			     ended ? "has written" : "writes", output->path,
			     swz_figure_count(size, (uint64_t)st.st_size));
	}
	free(output->path);
	*output = (struct swz_program_output){0};
}

/* The program was never executed. */
static void program_output_drop(struct swz_program_output *output)
{
	if (output->path && output->temporary)
		(void)unlink(output->path);
}

/* --- a program that was started ------------------------------------------ */

static void leave_terminal(int output)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	/* the keys are not the program's, nor are the terminal's signals */
	setsid();
	if (null >= 0 && isatty(STDIN_FILENO))
		(void)dup2(null, STDIN_FILENO);
	for (int fd = STDOUT_FILENO; output >= 0 && fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			(void)dup2(output, fd);
}

/* Starts a process that waits before it executes PROGRAM. With HIDDEN the
 * screen has the terminal: what the program would write there goes to the file
 * OUTPUT (NULL: a temporary one), and the terminal is not its input. Dies
 * where the program cannot be had. */
static void top_start(struct swz_top_started *started, char **program,
		      bool hidden, const char *output_path)
{
	int gate[2], output = -1;
	char *path, byte;

	*started = (struct swz_top_started){.go = -1};
	if (!**program)
		swz_die(SWZ_NOT_FOUND, "'': not found");
	path = swz_program_find(*program, *program);
	swz_program_check(path, *program, true);
	if (hidden)
		output = program_output_open(&started->output, output_path);
	if (pipe2(gate, O_CLOEXEC) != 0 || (started->pid = fork()) < 0)
		swz_die(SWZ_CANNOT_RUN, "cannot start %s: %s", *program,
			strerror(errno));
	if (started->pid == 0) {
		close(gate[1]);
		if (hidden)
			leave_terminal(output);
		if (read(gate[0], &byte, 1) != 1)
			_exit(SWZ_CANNOT_RUN);
		close(gate[0]);
		swz_program_execute(path, program);
	}
	close(gate[0]);
	if (output >= 0)
		close(output);
	started->go = gate[1];
}

/* Lets it execute the program. */
static void top_go(struct swz_top_started *started)
{
	(void)!write(started->go, "", 1);
	close(started->go);
	started->go = -1;
}

static void note(struct swz_top_started *started, int status)
{
	started->ended = true;
	started->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status)
					      : WEXITSTATUS(status);
}

/* Notes its end, if it has ended. */
static void top_look(struct swz_top_started *started)
{
	int status;

	if (started->pid && !started->ended &&
	    waitpid(started->pid, &status, WNOHANG) == started->pid)
		note(started, status);
}

void swz_top_await(struct swz_top_started *started)
{
	sigset_t ending;
	int status;

	if (!started->pid || started->ended)
		return;
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &ending, NULL);
	while (waitpid(started->pid, &status, 0) < 0)
		if (errno != EINTR)
			return;
	note(started, status);
}

/* It never executed the program. */
static void top_give_up(struct swz_top_started *started)
{
	if (started->go >= 0)
		close(started->go);
	started->go = -1;
	program_output_drop(&started->output);
	if (started->pid)
		(void)waitpid(started->pid, NULL, 0);
}

/* --- a session ----------------------------------------------------------- */

/* Exact counts are shown if the first process has a profile: then only the
 * profiles of its run count, since samples and calls do not add up. Where its
 * times are samples, too (--mode both), these are taken here as well. A program
 * that is started gets its profile a moment after its start (swizzle-top
 * swizzle-run PROGRAM), so it is looked for again and again. */

/* Each thread has one for each processor, which the kernel makes one by one: in
 * a second some 40,000. */
#define MANY_COUNTERS 100000u

static void count(void *context, int32_t tid)
{
	(void)tid;
	++*(size_t *)context;
}

static void warn_of_threads(const struct swz_top_session *s)
{
	char path[64], threads[SWZ_FIGURE_BYTES];
	size_t found = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	swz_proc_numbers(path, count, &found);
	if (found * (size_t)get_nprocs_conf() > MANY_COUNTERS)
		swz_complain("process %d has %s threads: it takes a while "
			     "until all are sampled",
			     (int)s->pid, swz_figure_count(threads, found));
}

/* False: *problem says why not, *status is what swizzle-top ends with then. */
static bool use_samples(struct swz_top_session *s, int *status, char **problem)
{
	s->options.sampling.pid = s->pid;
	if (top_sampler_start(&s->sampler, &s->options.sampling,
			      s->started.pid != 0))
		return true;
	if (!s->started.pid && !swz_process_runs(s->pid)) {
		*status = 2;
		*problem = swz_print("-p %d: the process has ended",
				     (int)s->pid);
	} else {
		*status = SWZ_CANNOT_RUN;
		*problem = swz_print("cannot sample process %d: %s",
				     (int)s->pid, s->sampler.problem);
	}
	return false;
}

static bool find_profile(struct swz_top_session *s)
{
	if (s->options.only_samples)
		return false;
	s->profile = swz_top_profile_of(s->pid);
	if (s->profile && swz_top_profile_header(s->profile, &s->run) &&
	    !swz_top_is_sampled(s->profile))
		return true;
	free(s->profile);
	s->profile = NULL;
	return false;
}

static void zero(struct swz_top_session *s,
		 const struct swz_top_options *options)
{
	*s = (struct swz_top_session){.options = *options,
				      .pid = options->sampling.pid};
	s->sampler.ask = s->sampler.answer = -1;
}

static void start_program(struct swz_top_session *s, bool screen)
{
	char *problem;
	int status;

	top_start(&s->started, s->options.program, screen, s->options.output);
	s->pid = s->started.pid;
	swz_live_begin(&s->live, true, s->options.offsets, swz_watch_now());
	s->live.script = s->options.script;
	if (!use_samples(s, &status, &problem)) {
		top_give_up(&s->started);
		swz_die(status, "%s", problem);
	}
	top_go(&s->started);
	s->command = swz_duplicate(*s->options.program);
}

bool swz_top_session_watch(struct swz_top_session *s,
			   const struct swz_top_options *options, int *status,
			   char **problem)
{
	bool exact;

	zero(s, options);
	*problem = swz_process_refused(s->pid, "swizzle-top");
	if (!*problem)
		*problem = swz_process_program_refused(s->pid);
	if (*problem) {
		*status = swz_process_runs(s->pid) ? SWZ_CANNOT_RUN : 2;
		return false;
	}
	exact = find_profile(s);
	swz_live_begin(&s->live, !exact, s->options.offsets, swz_watch_now());
	s->live.script = s->options.script;
	if (!exact && !use_samples(s, status, problem)) {
		swz_top_session_end(s);
		zero(s, options);
		return false;
	}
	s->command = swz_top_process_command(s->pid);
	return true;
}

void swz_top_session_begin(struct swz_top_session *s,
			   const struct swz_top_options *options, bool screen)
{
	char *problem;
	int status;

	zero(s, options);
	if (!s->pid) {
		start_program(s, screen);
		return;
	}
	warn_of_threads(s);
	if (!swz_top_session_watch(s, options, &status, &problem))
		swz_die(status, "%s", problem);
}

/* ------------------------------------------------------------- exact counts */

static void add_source(struct swz_top_session *s, const char *path,
		       const struct swz_file_header *header)
{
	swz_grow(&s->sources, &s->source_capacity, s->source_count,
		 sizeof(*s->sources));
	s->sources[s->source_count++] = (struct swz_live_source){
		.pid = (int32_t)header->pid,
		.path = swz_duplicate(path),
		.process_start = header->process_start};
}

/* Profiles of one run lie in one folder, also those of processes that were too
 * short to be seen. */
static void look_at(void *context, const char *path)
{
	struct swz_top_session *s = context;
	const char *kept = swz_intern(&s->paths, path);
	uint32_t *seen = swz_map_at(&s->seen, (uintptr_t)kept, 0);
	struct swz_file_header header = {.magic = {0}};
	bool is_one;

	if (*seen != SWZ_MAP_NONE)
		return;
	is_one = swz_top_profile_header(path, &header);
	if (header.magic[0]) /* else it may become one */
		*seen = 0;
	if (!is_one)
		return;
	if (s->options.sampling.follow
		    ? header.root_pid == s->run.root_pid &&
			      header.root_start == s->run.root_start
		    : header.pid == s->run.pid)
		add_source(s, path, &header);
}

void swz_top_session_only(struct swz_top_session *s, int32_t pid, int32_t tid)
{
	swz_live_only(&s->live, pid, tid);
	for (size_t i = 0; i < s->source_count; i++)
		swz_live_source_restart(&s->sources[i]);
	s->restarted = true;
}

void swz_top_session_script(struct swz_top_session *s)
{
	s->options.script = s->live.script = !s->live.script;
	swz_top_session_only(s, s->live.only_pid, s->live.only_tid);
}

static bool goes_on(const struct swz_live_source *source)
{
	return swz_process_start(source->pid) == source->process_start &&
	       swz_process_runs(source->pid);
}

static void read_profiles(struct swz_top_session *s)
{
	bool earlier = s->restarted || (s->live.round == 1 && !s->started.pid);
	size_t kept = 0;

	s->restarted = false;
	swz_top_profiles_beside(s->profile, look_at, s);
	for (size_t i = 0; i < s->source_count; i++) {
		/* what it wrote until its end is read after its end */
		bool ended = !goes_on(&s->sources[i]);

		swz_live_add_exact(&s->live, &s->sources[i], earlier);
		if (ended)
			swz_live_source_free(&s->sources[i]);
		else
			s->sources[kept++] = s->sources[i];
	}
	s->source_count = kept;
	s->ended = !kept && !swz_process_runs(s->pid);
}

static void switch_to_exact(struct swz_top_session *s)
{
	uint64_t began_ns = s->live.round_ns;

	top_sampler_end(&s->sampler);
	swz_live_free(&s->live);
	swz_live_begin(&s->live, false, s->options.offsets, began_ns);
	s->live.script = s->options.script;
}

void swz_top_session_look(struct swz_top_session *s)
{
	if (s->live.samples && s->started.pid && find_profile(s))
		switch_to_exact(s);
	top_look(&s->started);
}

/* ------------------------------------------------------------- rounds */

static void take(void *context, const char *path)
{
	swz_live_add_samples(context, path);
}

int swz_top_session_ask(struct swz_top_session *s)
{
	swz_top_session_look(s);
	if (!s->live.samples)
		return -1;
	top_sampler_ask(&s->sampler);
	return s->sampler.ended ? -1 : s->sampler.answer;
}

/* A program that was started may have executed another one. */
static void read_command(struct swz_top_session *s)
{
	char *command;

	if (!s->started.pid || !swz_process_runs(s->pid))
		return;
	command = swz_top_process_command(s->pid);
	if (*command) {
		free(s->command);
		s->command = command;
	} else {
		free(command);
	}
}

void swz_top_session_take(struct swz_top_session *s)
{
	read_command(s);
	swz_live_begin_round(&s->live);
	if (s->live.samples) {
		top_sampler_wait(&s->sampler);
		top_sampler_take(&s->sampler, take, &s->live);
		s->ended = s->sampler.ended;
	} else {
		read_profiles(s);
	}
	swz_live_end_round(&s->live, swz_watch_now());
	top_look(&s->started);
}

bool swz_top_session_has_ended(const struct swz_top_session *s)
{
	struct pollfd fd = {s->sampler.answer, POLLIN, 0};

	if (s->live.samples)
		return s->sampler.ended ||
		       (poll(&fd, 1, 0) > 0 && fd.revents & POLLHUP);
	for (size_t i = 0; i < s->source_count; i++)
		if (goes_on(&s->sources[i]))
			return false;
	return !swz_process_runs(s->pid);
}

void swz_top_session_end(struct swz_top_session *s)
{
	if (s->live.samples)
		top_sampler_end(&s->sampler);
	for (size_t i = 0; i < s->source_count; i++)
		swz_live_source_free(&s->sources[i]);
	free(s->sources);
	free(s->profile);
	swz_map_free(&s->seen);
	swz_intern_free(&s->paths);
	free(s->command);
	swz_live_free(&s->live);
}
