/* A file is complete when nobody has it locked: the sampler holds the lock
 * while it may still write. It ends when its pipe does, so it outlives nobody
 * who was killed, and removes the folder. */

#include "top/sampler_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/syscall.h"
#include "top/terminal.h"
#include "util/memory.h"
#include "watch/engine.h"
#include "watch/proc_task.h"

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

void swz_top_sampler_wait(struct swz_top_sampler *sampler)
{
	while (read_line(sampler))
		;
}

bool swz_top_sampler_start(struct swz_top_sampler *sampler,
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
	swz_top_sampler_wait(sampler);
	if (!sampler->ended)
		return true;
	if (!sampler->problem[0])
		snprintf(sampler->problem, sizeof(sampler->problem),
			 "the sampler has ended");
	return false;
}

void swz_top_sampler_ask(struct swz_top_sampler *sampler)
{
	if (!sampler->ended && write(sampler->ask, "", 1) != 1)
		sampler->ended = true;
}

static bool is_complete(int fd)
{
	return fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
}

void swz_top_sampler_take(const struct swz_top_sampler *sampler,
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

void swz_top_sampler_end(struct swz_top_sampler *sampler)
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
