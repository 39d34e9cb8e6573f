/* A thread is seized for a sample and let go at once, so a program may be
 * debugged, or debug others, meanwhile. What waits is never stopped: that would
 * end some system calls with EINTR. A thread that begins to wait just when it
 * is stopped may still get it: its system call is then made again. */

#include "watch/engine.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>

#include "watch/clock.h"
#include "watch/interrupted_call.h"
#include "watch/proc_task.h"
#include "watch/scan.h"
#include "watch/script_frames.h"
#include "watch/stack_copy.h"
#include "watch/task_search.h"
#include "watch/waiting.h"

#define USUAL_RATE 100u
/* Rounds between looks at what changes seldom. */
#define SELDOM 10u
/* For so long a round waits for threads to stop. */
#define STOP_NS 20000000u

/* Between a thread's end of a turn and the sampler's own first look. */
#define SWITCH_NS 100000u

#ifndef PTRACE_EVENT_STOP
#define PTRACE_EVENT_STOP 128
#endif

static uint64_t period_ns, next_waiting, round_start;
static size_t stopping; /* threads that were asked to */

/* ---------------------------------------------------------------- one stop */

static void fill_registers(struct swz_registers *to,
			   const struct user_regs_struct *from)
{
	to->ip = from->rip;
	to->ax = from->rax;
	to->bx = from->rbx;
	to->cx = from->rcx;
	to->dx = from->rdx;
	to->si = from->rsi;
	to->di = from->rdi;
	to->bp = from->rbp;
	to->sp = from->rsp;
	to->r8 = from->r8;
	to->r9 = from->r9;
	to->r10 = from->r10;
	to->r11 = from->r11;
	to->r12 = from->r12;
	to->r13 = from->r13;
	to->r14 = from->r14;
	to->r15 = from->r15;
}

/* Asks a thread to stop, which it does when it gets a processor. */
static void ask_to_stop(struct swz_task *task,
			const struct swz_proc_turns *turns)
{
	if (ptrace(PTRACE_SEIZE, task->tid, NULL, NULL) != 0)
		return; /* a debugger has it */
	/* (one that has ended tells so when it is waited for) */
	(void)ptrace(PTRACE_INTERRUPT, task->tid, NULL, NULL);
	task->stopping = true;
	task->turns = *turns;
	stopping++;
}

/* Whether it has waited for something since it was stopped before. (A stop
 * counts as one, too.) */
static bool has_waited(struct swz_task *task)
{
	uint64_t before = task->waits;

	return swz_proc_task_waits_made(task->image->pid, task->tid,
					&task->waits) &&
	       task->waits > before + 1;
}

/* Whether it ran when this round began. What was ready to run, but waited for a
 * processor, had spent its time elsewhere: on a machine with much to do it
 * would be found most of the time where it had been woken, or where a turn
 * ends. What the sampler itself has taken the processor from did run. */
static bool ran_at_start(struct swz_task *task,
			 const struct swz_proc_turns *turns, uint64_t now,
			 bool in_system_call)
{
	uint64_t queued_ns = turns->queued_ns - task->turns.queued_ns;
	bool waited = has_waited(task);

	if (turns->turns == task->turns.turns)
		return true;
	return now - queued_ns + SWITCH_NS >= round_start &&
	       !(in_system_call && waited);
}

/* Of what runs the kernel tells the time of its last tick, or of when it asked
 * for that itself; of what stands the true one. Returns whether the thread
 * stands where it ran. */
static bool know_time(const struct swz_watch *watch, struct swz_task *task,
		      uint64_t now, bool in_system_call)
{
	struct swz_proc_turns turns = {0};

	if (!swz_proc_task_turns(task->image->pid, task->tid, &turns))
		return true;
	if (turns.processor_ns > task->known_ns)
		swz_task_known(&watch->tasks, task, turns.processor_ns);
	return ran_at_start(task, &turns, now, in_system_call);
}

/* It has stopped: copies what is needed, and lets it go. */
static void sample(struct swz_watch *watch, struct swz_task *task, int signal)
{
	/* what counts is how much it has run since its last sample */
	struct swz_hit hit = {.time_ns = swz_watch_now()};
	struct swz_stack stack;
	struct swz_registers registers;
	struct user_regs_struct r;
	bool good = ptrace(PTRACE_GETREGS, task->tid, NULL, &r) == 0;
	bool counts = false;

	if (good) {
		hit.in_kernel = (int64_t)r.orig_rax >= 0;
		counts = know_time(watch, task, hit.time_ns, hit.in_kernel);
		fill_registers(&registers, &r);
		swz_stack_copy(task->tid, r.rsp, r.fs_base,
			       watch->run.stack_bytes, &stack);
		hit.script = swz_script_frames_read(task->image, r.fs_base,
						    r.rsp);
		if (!signal)
			swz_call_restart(task->image->pid, task->tid, &r);
	}
	(void)ptrace(PTRACE_DETACH, task->tid, NULL, (void *)(intptr_t)signal);
	if (!counts)
		return; /* its time goes with the next sample */
	hit.weight = task->known_ns - task->weighed_ns;
	task->weighed_ns = task->known_ns;
	if (!swz_image_knows(task->image, registers.ip))
		swz_image_read_maps(task->image);
	swz_image_add(task->image, task->thread, &registers, &stack, &hit);
}

/* What is to be delivered to who has reported this; 0: nothing. */
static int signal_of(int status)
{
	return status >> 16 == PTRACE_EVENT_STOP ? 0 : WSTOPSIG(status);
}

/* Takes those that have stopped by now. */
static void take_stopped(struct swz_watch *watch)
{
	struct swz_task *task;
	int status;
	pid_t tid;

	while ((tid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		task = swz_task_find(&watch->tasks, tid);
		if (!task || !task->stopping) {
			/* (it is not followed any more) */
			if (WIFSTOPPED(status))
				(void)ptrace(
					PTRACE_DETACH, tid, NULL,
					(void *)(intptr_t)signal_of(status));
			stopping -= stopping > 0;
			continue;
		}
		task->stopping = false;
		stopping--;
		if (WIFSTOPPED(status))
			sample(watch, task, signal_of(status));
	}
	if (tid < 0 && errno == ECHILD)
		stopping = 0;
}

/* One that does not stop, in the midst of some system call, may do so later. */
static void wait_for_stops(struct swz_watch *watch)
{
	const uint64_t end = swz_watch_now() + STOP_NS;
	const struct timespec most = {0, STOP_NS / 4};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	take_stopped(watch);
	while (stopping && swz_watch_now() < end) {
		(void)sigtimedwait(&child, NULL, &most);
		take_stopped(watch);
	}
}

/* ---------------------------------------------------------------- a round */

/* Whether there is nothing new about it: it has not run since its last sample.
 */
static bool is_quiet(const struct swz_task *task)
{
	struct swz_proc_turns turns;

	return task->was_known && task->known_ns == task->weighed_ns &&
	       swz_proc_task_turns(task->image->pid, task->tid, &turns) &&
	       turns.processor_ns == task->known_ns;
}

static void look_at_task(struct swz_watch *watch, struct swz_task *task,
			 uint64_t now)
{
	bool is_first = task->tid == task->image->pid;
	struct swz_proc_task proc;

	if (!is_first && !watch->launched && is_quiet(task)) {
		task->looks -= task->looks > 0;
		return;
	}
	if (!swz_proc_task_read(task->image->pid, task->tid, &proc) ||
	    proc.state == 'Z' || proc.state == 'X') {
		if (proc.state == 'Z')
			swz_task_known(&watch->tasks, task,
				       proc.turns.processor_ns);
		/* the first thread may end before the others */
		if (!is_first || task->image->live_threads == 1)
			swz_task_exited(&watch->tasks, task->tid, now);
		return;
	}
	if (watch->launched)
		return;
	if (proc.turns.processor_ns != task->known_ns || proc.state == 'R')
		task->looks = SWZ_TASK_LOOKS;
	else
		task->looks -= task->looks > 0;
	swz_task_known(&watch->tasks, task, proc.turns.processor_ns);
	if (proc.state == 'R' && !task->stopping &&
	    task->known_ns > task->weighed_ns)
		ask_to_stop(task, &proc.turns);
}

static void read_maps(struct swz_tasks *tasks)
{
	for (size_t i = 0; i < tasks->image_count; i++)
		if (!tasks->images[i]->end_ns)
			swz_image_read_maps(tasks->images[i]);
}

static void take_round(struct swz_watch *watch, bool all)
{
	struct swz_tasks *tasks = &watch->tasks;
	uint64_t now = round_start = swz_watch_now();

	swz_task_search_next(tasks);
	swz_task_search_execs(watch, now);
	swz_task_search(watch, now, all);
	if (all && !watch->launched)
		read_maps(tasks);
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->items[i].live && swz_task_is_due(tasks, i))
			look_at_task(watch, &tasks->items[i], now);
	wait_for_stops(watch);
	if (watch->options->wall && !watch->launched && now >= next_waiting)
		next_waiting = swz_waiting_sample(watch);
}

/* ---------------------------------------------------------------- all rounds
 */

/* Reading memory takes the same rights; a process that waits must not be
 * stopped to find out. */
static bool is_permitted(int32_t pid)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {NULL, 1};

	return process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 ||
	       errno == EFAULT;
}

bool swz_pause_engine_open(struct swz_watch *watch, const char **problem)
{
	uint64_t rate = watch->options->rate ? watch->options->rate
					     : USUAL_RATE;
	struct swz_proc_task proc;

	if (!is_permitted(watch->pid)) {
		*problem = errno == EPERM
				   ? "ptrace is not permitted "
				     "(kernel.yama.ptrace_scope, or a "
				     "container's filter; or a debugger has "
				     "the process)"
				   : strerror(errno);
		return false;
	}
	period_ns = 1000000000u / (rate > 1000 ? 1000 : rate);
	watch->run.engine = SWZ_ENGINE_PAUSE;
	watch->run.period_ns = period_ns;
	watch->run.stack_bytes = watch->options->stack_bytes
					 ? watch->options->stack_bytes
					 : SWZ_MOST_STACK_BYTES;
	watch->run.flags |= SWZ_SAMPLES_OF_KERNEL;
	/* (another engine may have found it, and given up) */
	if (!swz_task_find(&watch->tasks, watch->pid))
		(void)swz_task_adopt(&watch->tasks, watch->pid, watch->pid,
				     swz_watch_now());
	swz_task_search_all(watch, swz_watch_now());
	for (size_t i = 0; i < watch->tasks.count; i++) {
		struct swz_task *task = &watch->tasks.items[i];

		if (!swz_proc_task_read(task->image->pid, task->tid, &proc))
			continue;
		task->start_stack = proc.start_stack;
		task->known_ns = proc.turns.processor_ns;
		task->before_ns = task->weighed_ns = task->known_ns;
		task->was_known = true;
	}
	return true;
}

static bool any_live(const struct swz_watch *watch)
{
	for (size_t i = 0; i < watch->tasks.count; i++)
		if (watch->tasks.items[i].live)
			return true;
	return false;
}

/* Between half and one and a half period, so that a program with a rhythm of
 * its own is hit everywhere. */
static void wait_for_next(struct swz_watch *watch, bool *stopped)
{
	uint64_t ns = period_ns / 2 + (uint64_t)random() % period_ns;
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	struct pollfd fds[] = {{watch->stop, POLLIN, 0}};

	*stopped = ppoll(fds, 1, &time, NULL) > 0;
}

void swz_pause_engine_run(struct swz_watch *watch)
{
	bool stopped = false;

	for (unsigned round = 0;
	     any_live(watch) && !stopped && swz_watch_now() < watch->end_ns;
	     round++) {
		wait_for_next(watch, &stopped);
		take_round(watch, round % SELDOM == 0);
		swz_tasks_finish(&watch->tasks, UINT64_MAX);
		if (watch->tasks.root_ended && !watch->told) {
			watch->told = true;
			watch->root_ended(watch);
		}
		if (watch->between)
			watch->between(watch);
	}
	swz_tasks_finish(&watch->tasks, UINT64_MAX);
	swz_tasks_stop(&watch->tasks, swz_watch_now());
}
