/* A thread that is seized and asked to stop reports one PTRACE_EVENT_STOP. It
 * may report other things before: signals, which it gets when it goes on, and
 * which are kept until then; or its end. */

#include "control/stop.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "control/urgent.h"
#include "profile/support/memory.h"
#include "watch/clock.h"
#include "watch/interrupted_call.h"
#include "watch/proc_task.h"

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

#define MOST_NS 500000000u
#define MOST_MOVE_NS 100000000u
#define MOVE_NS 50000u
#define MOST_TURN_NS 20000000u

static uint64_t now_ns(void)
{
	return swz_watch_now();
}

/* Those that had not stopped yet, in the midst of some system call: they cannot
 * be let go before they do. And those that were killed: as long as we have not
 * heard of their end, their process has not ended. */
static int32_t *lingering;
static size_t lingering_count, lingering_capacity;

static void linger(int32_t tid)
{
	swz_grow(&lingering, &lingering_capacity, lingering_count,
		 sizeof(*lingering));
	lingering[lingering_count++] = tid;
}

static struct swz_stopped *find(struct swz_stop *s, int32_t tid)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].tid == tid)
			return &s->threads[i];
	return NULL;
}

static void forget(struct swz_stop *s, struct swz_stopped *t)
{
	*t = s->threads[--s->count];
}

static enum swz_stop_result why_not_seized(int32_t pid, int32_t tid)
{
	char path[64], line[256];
	FILE *file;
	int tracer = 0;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid,
		 (int)tid);
	file = fopen(path, "re");
	if (!file)
		return SWZ_STOP_ENDED;
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	fclose(file);
	if (tracer == getpid())
		return SWZ_STOP_LATE; /* it has not been let go yet */
	return tracer ? SWZ_STOP_TRACED : SWZ_STOP_DENIED;
}

static bool has_ended(const struct swz_stop *s, int32_t tid)
{
	struct swz_proc_task task;

	return !swz_proc_task_read(s->pid, tid, &task) || task.state == 'Z' ||
	       task.state == 'X';
}

/* *ENDED: there is no such thread any more. */
static enum swz_stop_result seize(struct swz_stop *s, int32_t tid, bool *ended)
{
	*ended = false;
	if (find(s, tid))
		return SWZ_STOP_DONE;
	if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		/* it may be a zombie, or have ended just now */
		*ended = errno == ESRCH || has_ended(s, tid);
		return *ended ? SWZ_STOP_DONE : why_not_seized(s->pid, tid);
	}
	(void)ptrace(PTRACE_INTERRUPT, tid, NULL, NULL);
	swz_grow(&s->threads, &s->capacity, s->count, sizeof(*s->threads));
	s->threads[s->count++] = (struct swz_stopped){.tid = tid};
	return SWZ_STOP_DONE;
}

/* A report of one. */
static enum swz_stop_result take(struct swz_stop *s, struct swz_stopped *t,
				 int status)
{
	int signal = WSTOPSIG(status);

	if (!WIFSTOPPED(status)) {
		forget(s, t);
		return SWZ_STOP_DONE;
	}
	t->stopped = true;
	if (status >> 16 != PTRACE_EVENT_STOP) {
		/* Delivered when it goes on. The stop that was asked for is
		 * still to come then; PTRACE_DETACH takes it back. */
		t->signal = status >> 16 ? 0 : signal;
	} else if (signal != SIGTRAP) {
		return SWZ_STOP_HELD;
	}
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->registers) != 0) {
		linger(t->tid);
		forget(s, t);
	}
	return SWZ_STOP_DONE;
}

static enum swz_stop_result wait_for_all(struct swz_stop *s, uint64_t end)
{
	for (size_t i = 0; i < s->count; i++) {
		int32_t tid = s->threads[i].tid;
		enum swz_stop_result result;
		int status;
		pid_t got = 0;

		if (s->threads[i].stopped)
			continue;
		while ((got = waitpid(tid, &status, __WALL | WNOHANG)) == 0) {
			struct timespec pause = {0, 20000};

			if (now_ns() > end)
				return SWZ_STOP_LATE;
			nanosleep(&pause, NULL);
		}
		if (got < 0) {
			forget(s, &s->threads[i--]);
			continue;
		}
		result = take(s, &s->threads[i], status);
		if (result != SWZ_STOP_DONE)
			return result;
		if (i < s->count && s->threads[i].tid != tid)
			i--;
	}
	return SWZ_STOP_DONE;
}

struct listing {
	struct swz_stop *stop;
	enum swz_stop_result result;
	size_t seen,
		others; /* of those seen: that are there, but not stopped */
};

static void add(void *context, int32_t tid)
{
	struct listing *l = context;
	bool ended = false;

	l->seen++;
	if (tid == l->stop->except) {
		swz_make_urgent(tid);
		l->others += !has_ended(l->stop, tid);
	} else if (l->result == SWZ_STOP_DONE) {
		l->result = seize(l->stop, tid, &ended);
		/* (the first one stays until all others have ended) */
		l->others += ended && tid == l->stop->pid;
	}
}

/* The kernel ends its list of threads at one that ends just then: those behind
 * it are missing, among them what that one has created. But it counts all. */
static bool is_complete(const struct swz_stop *s, const struct listing *l)
{
	struct swz_proc_task first;

	return !swz_proc_task_read(s->pid, s->pid, &first) ||
	       first.threads <= s->count + l->others;
}

/* Until all that are known have stopped, and no other is there. */
static enum swz_stop_result stop_all(struct swz_stop *s, uint64_t end)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	for (;;) {
		struct listing l = {s, SWZ_STOP_DONE, 0, 0};
		enum swz_stop_result result = wait_for_all(s, end);
		size_t before = s->count;

		if (result != SWZ_STOP_DONE)
			return result;
		swz_proc_numbers(path, add, &l);
		if (!l.seen)
			return SWZ_STOP_ENDED;
		if (l.result != SWZ_STOP_DONE)
			return l.result;
		if (s->count == before && is_complete(s, &l))
			return s->count ? SWZ_STOP_DONE : SWZ_STOP_ENDED;
		if (now_ns() > end)
			return SWZ_STOP_LATE;
	}
}

enum swz_stop_result swz_stop_all(struct swz_stop *s, int32_t pid,
				  int32_t except)
{
	enum swz_stop_result result;

	swz_stop_reap();
	swz_become_urgent();
	s->pid = pid;
	s->except = except;
	s->count = 0;
	s->began_ns = now_ns();
	result = stop_all(s, s->began_ns + MOST_NS);
	s->stopped_ns = now_ns();
	if (result != SWZ_STOP_DONE)
		(void)swz_stop_end(s);
	return result;
}

enum swz_stop_result swz_stop_one(struct swz_stop *s, int32_t pid, int32_t tid)
{
	enum swz_stop_result result;
	bool ended;

	swz_become_urgent();
	s->pid = pid;
	s->count = 0;
	s->began_ns = now_ns();
	result = seize(s, tid, &ended);
	if (result == SWZ_STOP_DONE)
		result = s->count ? wait_for_all(s, s->began_ns + MOST_NS)
				  : SWZ_STOP_ENDED;
	if (result == SWZ_STOP_DONE && !s->count)
		result = SWZ_STOP_ENDED;
	if (result != SWZ_STOP_DONE)
		(void)swz_stop_end(s);
	return result;
}

void swz_stop_reap(void)
{
	for (size_t i = 0; i < lingering_count;) {
		int status, signal = 0;
		pid_t got = waitpid(lingering[i], &status, __WALL | WNOHANG);

		if (got == 0) {
			i++;
			continue;
		}
		if (got > 0 && WIFSTOPPED(status)) {
			if (status >> 16 == 0)
				signal = WSTOPSIG(status);
			(void)ptrace(PTRACE_DETACH, lingering[i], NULL,
				     (void *)(intptr_t)signal);
		}
		lingering[i] = lingering[--lingering_count];
	}
}

static void let_go(int32_t pid, struct swz_stopped *t)
{
	int status;

	if (!t->stopped) {
		if (waitpid(t->tid, &status, __WALL | WNOHANG) != t->tid) {
			linger(t->tid);
			return;
		}
		if (!WIFSTOPPED(status))
			return;
		if (status >> 16 == 0)
			t->signal = WSTOPSIG(status);
	} else if (t->changed) {
		(void)ptrace(PTRACE_SETREGS, t->tid, NULL, &t->registers);
	} else if (!t->signal) {
		swz_call_restart(pid, t->tid, &t->registers);
	}
	if (ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal) !=
	    0)
		linger(t->tid);
}

/* Whether it would execute something at once. */
static bool may_move(const struct swz_stopped *t)
{
	return t->stopped && !t->changed && !t->signal &&
	       (int64_t)t->registers.orig_rax < 0;
}

static uint64_t turns_of(const struct swz_stop *s, int32_t tid)
{
	struct swz_proc_turns turns = {0};

	(void)swz_proc_task_turns(s->pid, tid, &turns);
	return turns.turns;
}

/* Until it has had a processor, and has used it for a moment. */
static void await_turn(const struct swz_stop *s, int32_t tid, uint64_t before)
{
	uint64_t end = now_ns() + MOST_TURN_NS;

	while (turns_of(s, tid) == before && now_ns() < end)
		swz_watch_rest(MOVE_NS);
	swz_watch_rest(MOVE_NS);
}

bool swz_stop_move(struct swz_stop *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].astray && !may_move(&s->threads[i]))
			return false;
	for (size_t i = 0; i < s->count; i++) {
		struct swz_stopped *t = &s->threads[i];
		uint64_t turns = t->astray ? turns_of(s, t->tid) : 0;

		if (!t->astray || ptrace(PTRACE_CONT, t->tid, NULL, NULL) != 0)
			continue;
		t->stopped = false;
		await_turn(s, t->tid, turns);
	}
	for (size_t i = 0; i < s->count; i++) {
		struct swz_stopped *t = &s->threads[i];

		if (!t->stopped)
			(void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		t->astray = false;
	}
	/* it may have created others */
	return stop_all(s, now_ns() + MOST_MOVE_NS) == SWZ_STOP_DONE;
}

uint64_t swz_stop_end(struct swz_stop *s)
{
	uint64_t ns;

	/* who would run at once comes last: it may take our processor */
	for (size_t i = 0; i < s->count; i++)
		if ((int64_t)s->threads[i].registers.orig_rax >= 0)
			let_go(s->pid, &s->threads[i]);
	for (size_t i = 0; i < s->count; i++)
		if ((int64_t)s->threads[i].registers.orig_rax < 0)
			let_go(s->pid, &s->threads[i]);
	s->count = 0;
	ns = now_ns() - s->began_ns;
	swz_become_usual();
	return ns;
}

const char *swz_stop_problem(enum swz_stop_result result)
{
	switch (result) {
	case SWZ_STOP_ENDED:
		return "the process has ended";
	case SWZ_STOP_TRACED:
		return "a debugger has it";
	case SWZ_STOP_DENIED:
		return "ptrace is not permitted";
	case SWZ_STOP_HELD:
		return "it is stopped. Continue it (kill -CONT), and try "
		       "again";
	case SWZ_STOP_LATE:
		return "one of its threads does not stop: it waits in the "
		       "kernel (state D)";
	case SWZ_STOP_DONE:
		break;
	}
	return "";
}

void swz_stop_free(struct swz_stop *s)
{
	free(s->threads);
	*s = (struct swz_stop){0};
}
