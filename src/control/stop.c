#include "control/target.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/memory.h"
#include "watch/proc_task.h"

/* ---------------------------------------------------------------- priority */

/* While others stand still for us, and where it is permitted (to root), nobody
 * else's work comes between: not even that of the threads that are let go
 * first. */

static __thread int usual_priority;
static __thread bool is_urgent, is_raised;

static void raise_priority(void)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_getscheduler(0) != SCHED_OTHER)
		return;
	is_urgent = sched_setscheduler(0, SCHED_FIFO, &first) == 0;
	if (is_urgent)
		return;
	errno = 0;
	usual_priority = getpriority(PRIO_PROCESS, 0);
	is_raised = !errno && setpriority(PRIO_PROCESS, 0, -20) == 0;
}

static void restore_priority(void)
{
	const struct sched_param none = {0};

	if (is_urgent)
		(void)sched_setscheduler(0, SCHED_OTHER, &none);
	if (is_raised)
		(void)setpriority(PRIO_PROCESS, 0, usual_priority);
	is_urgent = is_raised = false;
}

/* A thread of the library's own, for which all wait, and which is about to end.
 */
static void make_urgent(int32_t tid)
{
	const struct sched_param first = {.sched_priority = 1};

	if (sched_setscheduler(tid, SCHED_FIFO, &first) != 0)
		(void)setpriority(PRIO_PROCESS, (id_t)tid, -20);
}

/* ----------------------------------------------------------------- threads */

/* A thread that is seized and asked to stop reports one PTRACE_EVENT_STOP. It
 * may report other things before: signals, which it gets when it goes on, and
 * which are kept until then; or its end. */

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

#define MOVE_NS 50000u
#define MOVE_RESERVE_NS 20000000u /* to stop them again */
#define MOST_TURN_NS 20000000u
#define SEIZE_ROUNDS 4u /* before any thread is stopped */
#define LINGER_NS 1000000u
#define GONE_NS 20000u
#define LOOK_NS 20000u
#define MOST_WOKEN_NS 20000000u

static uint64_t now_ns(void)
{
	return swz_watch_now();
}

/* Threads that are still traced when their stop has ended. Some had not
 * stopped yet, in the midst of a system call, and cannot be let go before they
 * do. Others were killed: as long as we have not heard of their end, their
 * process has not ended. */
struct lingering {
	int32_t pid, tid;
	uint64_t code[2];
	bool awaited; /* it was asked to stop, and has not yet */
};

static __thread struct lingering *lingering;
static __thread size_t lingering_count, lingering_capacity;
static __thread bool in_session;

static void linger(const struct swz_stop *s, int32_t tid)
{
	swz_grow(&lingering, &lingering_capacity, lingering_count,
		 sizeof(*lingering));
	lingering[lingering_count++] = (struct lingering){
		s->pid, tid, {s->code[0], s->code[1]}, false};
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

/* A tracer is a thread. */
static bool is_our_thread(int32_t tid)
{
	return tid && syscall(SYS_tgkill, getpid(), tid, 0) == 0;
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
	if (is_our_thread(tracer))
		return SWZ_STOP_LATE; /* it has not been let go yet */
	return tracer ? SWZ_STOP_TRACED : SWZ_STOP_DENIED;
}

static bool has_ended(const struct swz_stop *s, int32_t tid)
{
	struct swz_proc_task task;

	return !swz_proc_task_read(s->pid, tid, &task) || task.state == 'Z' ||
	       task.state == 'X';
}

/* *ENDED: there is no such thread any more. A tracer of ours that had lingered
 * may end between any two of these looks: then nobody has the thread, or a
 * tracer that is no thread of ours any more. The second look finds who has it
 * really. */
static enum swz_stop_result seize(struct swz_stop *s, int32_t tid, bool *ended)
{
	enum swz_stop_result result;
	bool again = false;

	*ended = false;
	if (find(s, tid))
		return SWZ_STOP_DONE;
	while (ptrace(PTRACE_SEIZE, tid, NULL, NULL) != 0) {
		/* it may be a zombie, or have ended just now */
		*ended = errno == ESRCH || has_ended(s, tid);
		if (*ended)
			return SWZ_STOP_DONE;
		result = why_not_seized(s->pid, tid);
		if (result == SWZ_STOP_LATE || again)
			return result;
		again = true;
	}
	swz_grow(&s->threads, &s->capacity, s->count, sizeof(*s->threads));
	s->threads[s->count++] = (struct swz_stopped){.tid = tid};
	return SWZ_STOP_DONE;
}

static void ask(struct swz_stopped *t)
{
	if (!t->asked)
		(void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
	t->asked = true;
}

/* All that are seized, once all are: what is stopped keeps signals that are
 * ignored pending, for which the kernel wakes another one. If that is seized,
 * it stops, too, and its call goes on; else it would see EINTR. */
static void ask_all(struct swz_stop *s)
{
	for (size_t i = 0; i < s->count; i++)
		ask(&s->threads[i]);
}

struct swz_cut_call swz_stop_cut(const struct swz_stop *s,
				 const struct swz_stopped *t)
{
	return (struct swz_cut_call){.pid = s->pid,
				     .tid = t->tid,
				     .code = {s->code[0], s->code[1]},
				     .sleepers = t->moved ? NULL
							  : &s->sleepers};
}

struct user_regs_struct swz_stop_origin(const struct swz_stop *s,
					const struct swz_stopped *t)
{
	const struct swz_cut_call cut = swz_stop_cut(s, t);

	return swz_call_origin(&cut, &t->registers);
}

/* Has what it was about in the kernel go on. */
static bool resume(const struct swz_cut_call *cut,
		   const struct user_regs_struct *r,
		   struct user_regs_struct *again)
{
	return swz_call_resume(cut, r, again) &&
	       ptrace(PTRACE_SETREGS, cut->tid, NULL, again) == 0;
}

/* One that has stopped after all. */
static void resume_late(const struct swz_cut_call *cut)
{
	struct user_regs_struct r, again;

	if (ptrace(PTRACE_GETREGS, cut->tid, NULL, &r) == 0)
		(void)resume(cut, &r, &again);
}

static bool take_registers(struct swz_stop *s, struct swz_stopped *t)
{
	const struct swz_cut_call cut = swz_stop_cut(s, t);

	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->registers) != 0)
		return false;
	t->resumes = resume(&cut, &t->registers, &t->again);
	return true;
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
		t->held = true;
		return SWZ_STOP_HELD;
	}
	if (!take_registers(s, t)) {
		/* it was killed; a session's end lets it go */
		if (!in_session)
			linger(s, t->tid);
		forget(s, t);
	}
	return SWZ_STOP_DONE;
}

static enum swz_stop_result wait_for_all(struct swz_stop *s)
{
	for (size_t i = 0; i < s->count; i++) {
		int32_t tid = s->threads[i].tid;
		enum swz_stop_result result;
		int status;
		pid_t got = 0;

		if (s->threads[i].stopped || !s->threads[i].asked)
			continue;
		while ((got = waitpid(tid, &status, __WALL | WNOHANG)) == 0) {
			struct timespec pause = {0, 20000};

			if (now_ns() > s->until_ns)
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
		make_urgent(tid);
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

static void ask_from_now(struct swz_stop *s)
{
	s->began_ns = now_ns();
	s->until_ns = s->began_ns +
		      (s->most_ns ? s->most_ns : SWZ_STOP_MOST_NS);
}

/* Seizes those that are not known yet. */
static enum swz_stop_result seize_all(struct swz_stop *s, bool *complete)
{
	struct listing l = {s, SWZ_STOP_DONE, 0, 0};
	size_t before = s->count;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)s->pid);
	swz_proc_numbers(path, add, &l);
	*complete = s->count == before && is_complete(s, &l);
	return l.seen ? l.result : SWZ_STOP_ENDED;
}

/* Until all that are known have stopped, and no other is there. */
static enum swz_stop_result stop_all(struct swz_stop *s)
{
	enum swz_stop_result result;
	bool complete = s->count > 0;

	for (unsigned i = 0; !complete && i < SEIZE_ROUNDS; i++) {
		result = seize_all(s, &complete);
		if (result != SWZ_STOP_DONE)
			return result;
		ask_from_now(s);
	}
	for (;;) {
		ask_all(s);
		result = wait_for_all(s);
		if (result == SWZ_STOP_DONE)
			result = seize_all(s, &complete);
		if (result != SWZ_STOP_DONE)
			return result;
		if (complete)
			return s->count ? SWZ_STOP_DONE : SWZ_STOP_ENDED;
		if (now_ns() > s->until_ns)
			return SWZ_STOP_LATE;
	}
}

static void begin(struct swz_stop *s, int32_t pid, int32_t except)
{
	s->pid = pid;
	s->except = except;
	s->count = 0;
	s->alone = false;
	raise_priority();
	ask_from_now(s);
}

enum swz_stop_result swz_stop_all(struct swz_stop *s, int32_t pid,
				  int32_t except)
{
	enum swz_stop_result result;

	swz_sleepers_note(&s->sleepers, pid);
	begin(s, pid, except);
	result = stop_all(s);
	s->stopped_ns = now_ns();
	if (result != SWZ_STOP_DONE)
		(void)swz_stop_end(s);
	return result;
}

static void note_child(void *context, int32_t child)
{
	(void)child;
	*(bool *)context = true;
}

bool swz_stop_gets_signals(int32_t pid, int32_t tid)
{
	bool any = tid == pid;

	swz_proc_children(pid, tid, note_child, &any);
	return any;
}

static void seize_bystander(void *context, int32_t tid)
{
	bool ended;

	(void)seize(context, tid, &ended);
}

enum swz_stop_result swz_stop_one(struct swz_stop *s, int32_t pid, int32_t tid)
{
	enum swz_stop_result result;
	char path[64];
	bool ended;

	swz_sleepers_note_one(&s->sleepers, pid, tid);
	begin(s, pid, 0);
	s->alone = true;
	result = seize(s, tid, &ended);
	if (result == SWZ_STOP_DONE && s->count) {
		/* (that of a session alone can let them go) */
		snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
		if (in_session && swz_stop_gets_signals(pid, tid))
			swz_proc_numbers(path, seize_bystander, s);
		ask_from_now(s);
		ask(&s->threads[0]);
		result = wait_for_all(s);
	}
	if (result == SWZ_STOP_DONE && (!s->count || s->threads[0].tid != tid))
		result = SWZ_STOP_ENDED;
	if (result != SWZ_STOP_DONE)
		(void)swz_stop_end(s);
	return result;
}

/* A signal that it has reported, and gets when it goes on; 0: none. */
static int signal_of(int status)
{
	return status >> 16 == 0 ? WSTOPSIG(status) : 0;
}

/* Handles news of a lingering thread. False: it is not ours any more. */
static bool take_lingering(struct lingering *l, int status)
{
	const struct swz_cut_call cut = {
		.pid = l->pid, .tid = l->tid, .code = {l->code[0], l->code[1]}};
	void *signal = (void *)(intptr_t)signal_of(status);
	bool is_held = status >> 16 == PTRACE_EVENT_STOP &&
		       WSTOPSIG(status) != SIGTRAP;

	l->awaited = false;
	if (!WIFSTOPPED(status))
		return false;
	resume_late(&cut);
	if (is_held)
		(void)ptrace(PTRACE_DETACH, l->tid, NULL, NULL);
	return !is_held && ptrace(PTRACE_CONT, l->tid, NULL, signal) == 0;
}

/* Lets threads go on that have stopped too late, or for a signal. False: none
 * is awaited. */
static bool reap(void)
{
	bool any = false;

	for (size_t i = 0; i < lingering_count;) {
		struct lingering *l = &lingering[i];
		int status;
		pid_t got = waitpid(l->tid, &status, __WALL | WNOHANG);

		if (got < 0 || (got > 0 && !take_lingering(l, status))) {
			lingering[i] = lingering[--lingering_count];
			continue;
		}
		any = any || l->awaited;
		i++;
	}
	return any;
}

/* One that had not been taken; also one that was not asked, as it has a signal
 * that is ignored. False: it still runs. */
static bool take_late(struct swz_stop *s, struct swz_stopped *t)
{
	const struct swz_cut_call cut = swz_stop_cut(s, t);
	int status;

	if (waitpid(t->tid, &status, __WALL | WNOHANG) != t->tid)
		return false;
	t->stopped = WIFSTOPPED(status);
	if (!t->stopped)
		return true;
	t->signal = signal_of(status);
	resume_late(&cut);
	return true;
}

/* Lets a thread go. One that stands goes when its session ends, AT_ONCE. While
 * others are still to stop, it runs but stays traced: a signal that one of
 * those keeps pending may wake it. */
static void let_go(struct swz_stop *s, struct swz_stopped *t, bool at_once)
{
	void *signal;

	if (!t->stopped)
		(void)take_late(s, t);
	signal = (void *)(intptr_t)t->signal;
	if (t->changed)
		(void)ptrace(PTRACE_SETREGS, t->tid, NULL, &t->registers);
	if (at_once)
		return;
	if (t->held || !in_session) {
		if (t->stopped &&
		    ptrace(PTRACE_DETACH, t->tid, NULL, signal) == 0)
			return;
	} else if (t->stopped) {
		(void)ptrace(PTRACE_CONT, t->tid, NULL, signal);
	}
	linger(s, t->tid);
	lingering[lingering_count - 1].awaited = t->asked && !t->stopped;
}

/* --------------------------------------------------------------- sessions */

struct session {
	void (*work)(void *context);
	void *context;
	int32_t tid;
	bool lingers;
	sem_t done;
};

static void *do_session(void *argument)
{
	struct session *s = argument;

	s->tid = (int32_t)syscall(SYS_gettid);
	in_session = true;
	s->work(s->context);
	s->lingers = lingering_count > 0;
	in_session = false;
	sem_post(&s->done);
	/* S may be gone where it lingers */
	while (reap())
		swz_watch_rest(LINGER_NS);
	free(lingering);
	return NULL;
}

void swz_stop_session(void (*work)(void *context), void *context)
{
	struct session s = {.work = work, .context = context};
	pthread_t thread;

	sem_init(&s.done, 0, 0);
	if (pthread_create(&thread, NULL, do_session, &s) != 0) {
		work(context);
		while (reap())
			swz_watch_rest(LINGER_NS);
		return;
	}
	while (sem_wait(&s.done) != 0)
		continue;
	if (s.lingers) {
		pthread_detach(thread);
	} else {
		pthread_join(thread, NULL);
		/* the kernel lets go after that */
		while (is_our_thread(s.tid))
			swz_watch_rest(GONE_NS);
	}
	sem_destroy(&s.done);
}

/* True if the thread would execute something at once. */
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

	if (end > s->until_ns)
		end = s->until_ns;
	while (turns_of(s, tid) == before && now_ns() < end)
		swz_watch_rest(MOVE_NS);
	swz_watch_rest(MOVE_NS);
}

bool swz_stop_move(struct swz_stop *s)
{
	if (now_ns() + MOVE_RESERVE_NS > s->until_ns)
		return false;
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].astray && !may_move(&s->threads[i]))
			return false;
	for (size_t i = 0; i < s->count; i++) {
		struct swz_stopped *t = &s->threads[i];
		uint64_t turns = t->astray ? turns_of(s, t->tid) : 0;

		if (!t->astray || ptrace(PTRACE_CONT, t->tid, NULL, NULL) != 0)
			continue;
		t->stopped = false;
		t->moved = true;
		await_turn(s, t->tid, turns);
	}
	for (size_t i = 0; i < s->count; i++) {
		struct swz_stopped *t = &s->threads[i];

		if (!t->stopped)
			(void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
		t->astray = false;
	}
	/* it may have created others */
	return stop_all(s) == SWZ_STOP_DONE;
}

/* Bystanders that a signal has just woken for the one that stands: they are
 * about to stop for it. */
static void await_woken(struct swz_stop *s)
{
	const uint64_t end = now_ns() + MOST_WOKEN_NS;

	if (!s->count || !swz_proc_task_may_take(s->pid, s->threads[0].tid))
		return;
	for (size_t i = 0; i < s->count; i++) {
		struct swz_stopped *t = &s->threads[i];

		while (!t->asked && !t->stopped &&
		       swz_proc_task_may_take(s->pid, t->tid) &&
		       !take_late(s, t) && now_ns() < end)
			swz_watch_rest(LOOK_NS);
	}
}

/* True if everybody who was asked to stop has. */
static bool all_have_stopped(const struct swz_stop *s)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->threads[i].asked && !s->threads[i].stopped)
			return false;
	return true;
}

static void let_alone_go(struct swz_stop *s)
{
	struct swz_stopped *t = &s->threads[0];

	if (t->changed)
		(void)ptrace(PTRACE_SETREGS, t->tid, NULL, &t->registers);
	(void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
	*t = s->threads[--s->count];
}

uint64_t swz_stop_end(struct swz_stop *s)
{
	bool at_once = in_session && all_have_stopped(s);
	uint64_t ns;

	/* the one that was asked goes first: no signal comes for it then that
	 * would wake a bystander */
	await_woken(s);
	if (s->alone && at_once && s->count && s->threads[0].stopped) {
		let_alone_go(s);
		/* for a signal that came between the look and that moment */
		await_woken(s);
	}
	/* who would run at once comes last: it may take our processor */
	for (size_t i = 0; i < s->count; i++)
		if ((int64_t)s->threads[i].registers.orig_rax >= 0)
			let_go(s, &s->threads[i], at_once);
	for (size_t i = 0; i < s->count; i++)
		if ((int64_t)s->threads[i].registers.orig_rax < 0)
			let_go(s, &s->threads[i], at_once);
	s->count = 0;
	ns = s->lasted_ns = now_ns() - s->began_ns;
	if (!at_once)
		restore_priority();
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
	swz_sleepers_free(&s->sleepers);
	*s = (struct swz_stop){0};
}
