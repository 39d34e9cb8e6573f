/* One question after the other: each is asked while a process waits. What has
 * been answered stays in the file, for all processes of the run. The questions
 * are in memory that the profiled program may write to: they are copied before
 * they are looked at. */

#include "tools/dump/signature_server.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "swizzle/values.h"
#include "tools/dump/message.h"
#include "tools/dump/options.h"
#include "tools/dump/signatures.h"

#ifndef SYS_pidfd_open /* Linux 5.3 */
#define SYS_pidfd_open 434
#endif

#define PAGE 4096u
#define MOST_BYTES (UINT64_C(1) << 30) /* of all answers */
#define LOOK_EVERY_MS 1000             /* without pidfd_open */

struct client {
	pid_t pid;
	int end; /* a pidfd; -1: there are none here */
};

struct server {
	struct swz_exchange *table;
	int file, bell;
	uint64_t used; /* bytes of the file */
	struct swz_signature_choice choice;
	struct client *clients;
	size_t count, capacity;
	struct pollfd *polled;
	size_t polled_capacity;
};

/* ----------------------------------------------------------------- answers */

static enum swz_answer find(const struct server *s, FILE *stream,
			    const struct swz_question *q)
{
	enum swz_answer answer = swz_dump_find_signatures(
		stream, q->path, q->build_id, q->build_id_bytes, &s->choice);
	char *path;

	if (answer != SWZ_ANSWER_NO_FILE)
		return answer;
	/* the process may be in a container */
	path = swz_print("/proc/%d/root%s", (int)q->pid, q->path);
	answer = swz_dump_find_signatures(stream, path, q->build_id,
					  q->build_id_bytes, &s->choice);
	free(path);
	return answer;
}

static bool append(struct server *s, const char *bytes, size_t size)
{
	size_t done = 0;

	if (size > MOST_BYTES || s->used + size > MOST_BYTES)
		return false;
	while (done < size) {
		ssize_t n = pwrite(s->file, bytes + done, size - done,
				   (off_t)(s->used + done));

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static void answer(struct server *s, struct swz_question *shared)
{
	struct swz_question q = *shared;
	char *text = NULL;
	size_t size = 0;
	FILE *stream = open_memstream(&text, &size);

	q.path[sizeof(q.path) - 1] = '\0';
	q.answer = SWZ_ANSWER_NO_FILE;
	if (q.build_id_bytes > sizeof(q.build_id))
		q.build_id_bytes = 0;
	/* of a library it must be on this machine: a program has many */
	if (!q.is_program)
		unsetenv("DEBUGINFOD_URLS");
	if (stream)
		q.answer = find(s, stream, &q);
	if (stream && fclose(stream) != 0)
		q.answer = SWZ_ANSWER_NO_FILE;
	if (q.answer == SWZ_ANSWER_SIGNATURES && !append(s, text, size))
		q.answer = SWZ_ANSWER_NO_FILE;
	shared->offset = s->used;
	shared->bytes = size;
	shared->answer = q.answer;
	if (q.answer == SWZ_ANSWER_SIGNATURES)
		s->used += (size + PAGE - 1) / PAGE * PAGE;
	free(text);
	__atomic_store_n(&shared->state, SWZ_QUESTION_ANSWERED,
			 __ATOMIC_RELEASE);
	syscall(SYS_futex, &shared->state, FUTEX_WAKE, INT32_MAX, NULL, NULL,
		0);
}

static void answer_all(struct server *s)
{
	size_t i;

	for (i = 0; i < SWZ_EXCHANGE_QUESTIONS; i++) {
		struct swz_question *q = &s->table->questions[i];

		if (__atomic_load_n(&q->state, __ATOMIC_ACQUIRE) ==
		    SWZ_QUESTION_ASKED)
			answer(s, q);
	}
}

/* ----------------------------------------------------------------- clients */

static void add_client(struct server *s, pid_t pid)
{
	struct client client = {pid, -1};
	size_t i;

	for (i = 0; i < s->count; i++)
		if (s->clients[i].pid == pid)
			return;
	client.end = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pid <= 0 || kill(pid, 0) != 0) {
		if (client.end >= 0)
			close(client.end);
		return;
	}
	swz_grow(&s->clients, &s->capacity, s->count, sizeof(*s->clients));
	s->clients[s->count++] = client;
}

static void hear(struct server *s)
{
	int32_t pid;

	while (read(s->bell, &pid, sizeof(pid)) == sizeof(pid))
		add_client(s, pid);
}

/* Waits for the bell, or for the end of a client. */
static void wait_for_any(struct server *s)
{
	int timeout = -1;
	size_t i, left = 0;

	if (s->count + 1 > s->polled_capacity) {
		s->polled_capacity = 2 * s->count + 8;
		s->polled = swz_reallocate(s->polled, s->polled_capacity,
					   sizeof(*s->polled));
	}
	s->polled[0] = (struct pollfd){.fd = s->bell, .events = POLLIN};
	for (i = 0; i < s->count; i++) {
		s->polled[i + 1] = (struct pollfd){.fd = s->clients[i].end,
						   .events = POLLIN};
		if (s->clients[i].end < 0)
			timeout = LOOK_EVERY_MS;
	}
	(void)poll(s->polled, s->count + 1, timeout);
	for (i = 0; i < s->count; i++) {
		struct client *client = &s->clients[i];

		if (client->end >= 0 ? s->polled[i + 1].revents != 0
				     : kill(client->pid, 0) != 0) {
			if (client->end >= 0)
				close(client->end);
			continue;
		}
		s->clients[left++] = *client;
	}
	s->count = left;
}

/* --------------------------------------------------------------- the whole */

static bool number(const char *text, int *value)
{
	char *end;
	long n = strtol(text, &end, 10);

	*value = (int)n;
	return *text && !*end && n > 0 && n <= INT32_MAX;
}

/* Nobody waits for our end, and no signal of the terminal is for us. */
static void detach(void)
{
	int fd = open("/dev/null", O_RDWR);
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (int i = 0; fd >= 0 && i <= STDERR_FILENO; i++)
		dup2(fd, i);
	if (fd > STDERR_FILENO)
		close(fd);
	prctl(PR_SET_NAME, "swizzle-args");
	(void)!chdir("/");
}

static void add_mark(struct swz_signature_choice *choice,
		     const struct swz_condition *c)
{
	unsigned i;

	for (i = 0; i < choice->mark_count; i++)
		if (strcmp(choice->marks[i], c->name) == 0)
			return;
	if (choice->mark_count < SWZ_MOST_MARKS)
		choice->marks[choice->mark_count++] = c->name;
}

/* "-": there is none. */
static bool read_config(struct server *s, struct swz_config_file *config,
			const char *path)
{
	char problem[SWZ_CONFIG_PROBLEM_BYTES];
	size_t i, j;

	s->choice.config = config;
	if (strcmp(path, "-") == 0)
		return true;
	if (!swz_config_file_read(config, *path ? path : NULL, problem)) {
		swz_dump_complain("%s", problem);
		return false;
	}
	for (i = 0; i < config->count; i++)
		for (j = 0; j < config->rules[i].condition_count; j++)
			if (config->rules[i].conditions[j].kind ==
			    SWZ_IF_BACKTRACE)
				add_mark(&s->choice,
					 &config->rules[i].conditions[j]);
	return true;
}

int swz_dump_serve_signatures(int count, char **arguments)
{
	struct server s = {.used = sizeof(struct swz_exchange)};
	struct swz_config_file config = {0};
	int pid;

	if (count < 4 || !number(arguments[0], &s.file) ||
	    !number(arguments[1], &s.bell) || !number(arguments[2], &pid)) {
		swz_dump_complain("--signatures is for swizzle-run --args");
		return EXIT_USAGE;
	}
	s.choice.patterns = arguments + 4;
	s.choice.pattern_count = count - 4;
	if (!read_config(&s, &config, arguments[3]))
		return EXIT_INPUT;
	s.table = mmap(NULL, sizeof(*s.table), PROT_READ | PROT_WRITE,
		       MAP_SHARED, s.file, 0);
	if (s.table == MAP_FAILED || fcntl(s.bell, F_SETFL, O_NONBLOCK) != 0)
		return EXIT_INPUT;
	detach();
	add_client(&s, pid);
	while (s.count) {
		hear(&s);
		answer_all(&s);
		wait_for_any(&s);
	}
	free(s.clients);
	free(s.polled);
	swz_config_file_free(&config);
	return EXIT_OK;
}
