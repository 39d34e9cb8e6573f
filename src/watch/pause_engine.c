/* A thread is seized for a sample and let go at once, so a program may be
 * debugged, or debug others, meanwhile. What waits is never stopped: that would
 * end some system calls with EINTR. A thread that begins to wait just when it
 * is stopped may still get it: its system call is then made again. */

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "launch/run_options.h"
#include "watch/engine.h"
#include "watch/proc_task.h"
#include "watch/script_frames.h"
#include "watch/unwind/unwinder.h"

/* --- copies of stacks ---------------------------------------------------- */

/* A thread's stack ends just below what %fs points to, with the thread's own
 * variables in between. Its outermost frames may be far from the others: Ruby
 * has a stack of its own, of a megabyte, in between. */

#define MOST_THREAD_STACK (1ull << 28)

static uint8_t copy[SWZ_MOST_STACK_BYTES], outermost[16384];
static uint64_t outermost_start;

/* Pages of stacks that were read last, of whichever process. A page is read
 * anew for each stack; where its thread has ended, what an earlier stack found
 * there serves as well: the end of a thread writes over its outermost frames.
 */
#define PAGE_BYTES 4096u
#define REST_PAGES 256u

struct rest_page {
	int32_t pid;
	uint64_t start;  /* 0: none was read */
	uint64_t number; /* of the stack that it was read for */
	uint8_t bytes[PAGE_BYTES];
};

static struct {
	struct rest_page pages[REST_PAGES]; /* by address */
	int32_t pid, tid;
	uint64_t number;       /* of stacks so far */
	struct swz_stack copy; /* what was read while it stood */
} rest;

/* NULL: it cannot be read. */
static const struct rest_page *read_page(uint64_t start)
{
	static uint8_t now[PAGE_BYTES];
	struct rest_page *page = &rest.pages[start / PAGE_BYTES % REST_PAGES];
	bool is_it = page->pid == rest.pid && page->start == start;

	if (is_it && page->number == rest.number)
		return page;
	if (swz_proc_memory(rest.pid, start, now, sizeof(now)) != sizeof(now) ||
	    (tgkill(rest.pid, rest.tid, 0) != 0 && errno == ESRCH))
		return is_it ? page : NULL;
	memcpy(page->bytes, now, sizeof(now));
	page->pid = rest.pid;
	page->start = start;
	page->number = rest.number;
	return page;
}

static bool read_rest(void *context, uint64_t address, void *into, size_t size)
{
	uint64_t start = address & -(uint64_t)PAGE_BYTES;
	const struct rest_page *page;

	(void)context;
	if (rest.copy.read &&
	    rest.copy.read(rest.copy.context, address, into, size))
		return true;
	if (address < rest.copy.start + rest.copy.size ||
	    size > PAGE_BYTES - (address - start))
		return false;
	page = read_page(start);
	if (!page)
		return false;
	memcpy(into, page->bytes + (address - start), size);
	return true;
}

void swz_stack_read_on(int32_t pid, int32_t tid, struct swz_stack *stack)
{
	rest.pid = pid;
	rest.tid = tid;
	rest.number++;
	rest.copy = *stack;
	stack->read = read_rest;
	stack->unsure_from = stack->start + stack->size;
}

static bool read_outermost(void *context, uint64_t address, void *into,
			   size_t size)
{
	const uint64_t at = address - outermost_start;

	(void)context;
	if (at >= sizeof(outermost) || size > sizeof(outermost) - at)
		return false;
	memcpy(into, outermost + at, size);
	return true;
}

/* Copies BYTES of the stack of thread TID from SP on, at most
 * SWZ_MOST_STACK_BYTES. (The process's first thread may have ended.)
 * THREAD_POINTER: what %fs holds; if it is not 0, the thread's outermost frames
 * are copied, too. The copy is good until the next call. */
static void stack_copy(int32_t tid, uint64_t sp, uint64_t thread_pointer,
		       size_t bytes, struct swz_stack *stack)
{
	if (bytes > sizeof(copy))
		bytes = sizeof(copy);
	*stack = (struct swz_stack){
		.start = sp,
		.bytes = copy,
		.size = swz_proc_memory(tid, sp, copy, bytes)};
	if (thread_pointer <= sp || thread_pointer - sp <= stack->size ||
	    thread_pointer - sp > MOST_THREAD_STACK)
		return;
	outermost_start = thread_pointer - sizeof(outermost);
	if (swz_proc_memory(tid, outermost_start, outermost,
			    sizeof(outermost)) == sizeof(outermost))
		stack->read = read_outermost;
}

/* --- system calls -------------------------------------------------------- */

const struct swz_pause_calls *swz_pause_calls;

/* True if the call that the thread has left for the stop goes on with other
 * registers. */
static bool call_goes_on(const struct swz_task *task,
			 const struct user_regs_struct *r,
			 struct user_regs_struct *again)
{
	if ((int64_t)r->orig_rax < 0)
		return false;
	return swz_pause_calls ? swz_pause_calls->resume(task->image->pid,
							 task->tid, r, again)
			       : swz_call_anew(r, again);
}

static struct user_regs_struct own_registers(const struct swz_task *task,
					     const struct user_regs_struct *r)
{
	return swz_pause_calls
		       ? swz_pause_calls->origin(task->image->pid, task->tid, r)
		       : *r;
}

/* --- threads that wait --------------------------------------------------- */

/* The kernel tells where a thread waits: its stack pointer and the instruction
 * behind the system call. The other registers are not known: a frame that needs
 * %rbp cannot be left, and such stacks count as cut. */

#define EVERY_NS 10000000u
/* Looks at so many of thousands of threads at once, in turn, and rests so many
 * times as long as that took. */
#define MOST_TASKS 256u
#define REST 49u

/* How long it was kept from a processor that it could have run on. */
static void note_queued(const struct swz_task *task)
{
	struct swz_image_thread *thread = task->thread;
	struct swz_proc_turns turns;

	if (!swz_proc_task_turns(task->image->pid, task->tid, &turns))
		return;
	if (!thread->queue_known || turns.queued_ns < thread->queued_from_ns)
		thread->queued_from_ns = turns.queued_ns;
	thread->queue_known = true;
	thread->queued_ns = turns.queued_ns - thread->queued_from_ns;
}

static bool waits_there(const struct swz_task *task,
			const struct swz_registers *registers)
{
	uint64_t ip, sp;

	return swz_proc_task_waits(task->image->pid, task->tid, &ip, &sp) &&
	       sp == registers->sp && ip == registers->ip;
}

static void sample_task(struct swz_watch *watch, const struct swz_task *task,
			uint64_t now)
{
	struct swz_registers registers = {0}, again = {0};
	struct swz_sampled_hit hit = {
		.waiting = true, .maps_may_be_old = true, .time_ns = now};
	struct user_regs_struct there = {0};
	struct swz_stack stack;
	int32_t pid = task->image->pid;

	if (!swz_proc_task_waits(pid, task->tid, &registers.ip,
				 &registers.sp)) {
		note_queued(task);
		return;
	}
	if (!task->thread->queue_known)
		note_queued(task);
	there.rip = registers.ip;
	there.rsp = registers.sp;
	there = own_registers(task, &there);
	again = registers;
	registers.ip = there.rip;
	registers.sp = there.rsp;
	/* (where threads that run are named, too) */
	if (watch->run.engine == SWZ_ENGINE_PAUSE ||
	    task->image->pause_period_ns)
		hit.script = swz_script_frames_read(
			task->image,
			&(struct swz_script_thread){.stack_start = registers.sp,
						    .pid = pid,
						    .tid = task->tid});
	stack_copy(task->tid, registers.sp, 0, watch->run.stack_bytes, &stack);
	/* it has gone on meanwhile: what was read is not of one moment */
	if (hit.script && !waits_there(task, &again))
		return;
	swz_image_add(task->image, task->thread, &registers, &stack, &hit);
}

uint64_t swz_waiting_sample(struct swz_watch *watch)
{
	static size_t next;
	uint64_t now = swz_watch_now(), from = swz_watch_used(), took;
	size_t count = watch->tasks.count;

	for (size_t i = 0; i < count && i < MOST_TASKS; i++) {
		const struct swz_task *task;

		next = next + 1 < count ? next + 1 : 0;
		task = &watch->tasks.items[next];
		if (task->live && !task->image->end_ns)
			sample_task(watch, task, now);
	}
	took = swz_watch_used() - from;
	/* half to one and a half of that, so that nobody keeps in step */
	return now + EVERY_NS / 2 + (uint64_t)random() % EVERY_NS + REST * took;
}

/* --- new tasks ----------------------------------------------------------- */

/* For so many rounds a thread that ran is looked at. */
#define TASK_LOOKS 10u

/* So many tasks are looked at each time, besides those that ran lately. */
#define SOME_TASKS 512u
/* An exec takes less. */
#define EXEC_NS 50000000u

static size_t first_due; /* of the SOME_TASKS */

/* Begins a round. */
static void task_search_next(const struct swz_tasks *tasks)
{
	first_due += SOME_TASKS;
	if (first_due >= tasks->count)
		first_due = 0;
}

/* True if the task at INDEX is looked at in this round. */
static bool task_is_due(const struct swz_tasks *tasks, size_t index)
{
	const struct swz_task *task = &tasks->items[index];

	return tasks->count <= SOME_TASKS || task->looks ||
	       (task->live && task->tid == task->image->pid) ||
	       index - first_due < SOME_TASKS;
}

/* ----------------------------------------------------- threads, processes */

struct search {
	struct swz_watch *watch;
	uint64_t now;
	int32_t pid;
	bool running; /* what is found may be of another user, too */
};

static void find(const struct search *search, int32_t pid, int32_t tid)
{
	struct swz_tasks *tasks = &search->watch->tasks;

	if (!swz_task_find(tasks, tid))
		swz_task_adopt(tasks, pid, tid, search->now)->looks =
			TASK_LOOKS;
}

static void find_thread(void *context, int32_t tid)
{
	const struct search *search = context;

	find(search, search->pid, tid);
}

/* (One that has ended is listed until its parent asks for its status.) */
static bool is_wanted(const struct search *search, int32_t child)
{
	char *refused;

	if (!search->running)
		return swz_process_runs(child);
	refused = swz_process_refused(child, "");
	free(refused);
	return !refused;
}

/* (The sampler itself is below the program until the process between them has
 * ended: it would never end.) */
static void find_child(void *context, int32_t child)
{
	const struct search *search = context;

	if (child != getpid() && !swz_task_find(&search->watch->tasks, child) &&
	    is_wanted(search, child))
		find(search, child, child);
}

static void find_children(struct search *search, int32_t tid)
{
	if (search->watch->options->follow)
		swz_proc_children(search->pid, tid, find_child, search);
}

/* How many threads a process has, and two; 0: it has none. */
static uint64_t count_links(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (uint64_t)st.st_nlink : 0;
}

/* A list of thousands takes long: it is read where their number is another one,
 * or if ALL. */
static void find_threads(struct search *search, size_t index, bool all)
{
	struct swz_task *task = &search->watch->tasks.items[index];
	uint64_t links;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)search->pid);
	links = count_links(path);
	if (!all && links > SOME_TASKS && links == task->links)
		return;
	task->links = links;
	swz_proc_numbers(path, find_thread, search);
}

void swz_task_search_all(struct swz_watch *watch, uint64_t now_ns)
{
	struct swz_tasks *tasks = &watch->tasks;

	/* (what is found is looked at as well) */
	for (size_t i = 0; i < tasks->count; i++) {
		struct search search = {watch, now_ns, 0, true};
		int32_t tid = tasks->items[i].tid;

		if (!tasks->items[i].live)
			continue;
		search.pid = tasks->items[i].image->pid;
		if (tid == search.pid)
			find_threads(&search, i, true);
		find_children(&search, tid);
	}
}

/* Adopts what is new, children only if ALL. */
static void task_search(struct swz_watch *watch, uint64_t now_ns, bool all)
{
	struct swz_tasks *tasks = &watch->tasks;
	size_t count = tasks->count;

	for (size_t i = 0; i < count; i++) {
		struct search search = {watch, now_ns, 0, false};
		int32_t tid = tasks->items[i].tid;

		if (!tasks->items[i].live || !task_is_due(tasks, i))
			continue;
		search.pid = tasks->items[i].image->pid;
		if (all)
			find_children(&search, tid);
		if (tid == search.pid)
			find_threads(&search, i, all);
	}
}

/* ----------------------------------------------------------------- programs */

static void look_for_exec(struct swz_watch *watch, struct swz_task *task,
			  const struct swz_proc_task *proc, uint64_t now)
{
	if (!proc->start_stack)
		return;
	if (task->start_stack && task->start_stack != proc->start_stack) {
		if (!watch->launched && now - task->image->start_ns < EXEC_NS) {
			/* the same exec, seen when it was not yet done */
			swz_image_describe(task->image);
			swz_image_read_maps(task->image);
			swz_task_reads_name(task);
			task->start_stack = proc->start_stack;
			return;
		}
		swz_task_executed(&watch->tasks, task->tid, now);
		swz_image_read_maps(task->image);
		swz_task_reads_name(task);
		watch->launched = false;
	}
	task->start_stack = proc->start_stack;
}

/* Notes which processes run another program now. To be called before their
 * threads are looked for, which are of that program. */
static void task_search_execs(struct swz_watch *watch, uint64_t now_ns)
{
	size_t count = watch->tasks.count;

	for (size_t i = 0; i < count; i++) {
		struct swz_task *task = &watch->tasks.items[i];
		struct swz_proc_task proc;

		if (task->live && task->tid == task->image->pid &&
		    swz_proc_task_read(task->tid, task->tid, &proc))
			look_for_exec(watch, task, &proc, now_ns);
	}
}

/* --- the engine ---------------------------------------------------------- */

#define USUAL_RATE 100u
/* Rounds between looks at what changes seldom. */
#define SELDOM 10u
/* For so long a round waits for threads to stop. */
#define STOP_NS 20000000u
#define SOON_NS 200000u /* a thread that stands at its next instruction */

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

/* True if it has waited for something since it was stopped before. (A stop
 * counts as one, too.) */
static bool has_waited(struct swz_task *task)
{
	uint64_t before = task->waits;

	return swz_proc_task_waits_made(task->image->pid, task->tid,
					&task->waits) &&
	       task->waits > before + 1;
}

/* True if it ran when it was asked to stop. What was ready to run, but waited
 * for a processor, had spent its time elsewhere: on a machine with much to do
 * it would be found most of the time where it had been woken, or where a turn
 * ends. */
static bool ran_when_asked(struct swz_task *task,
			   const struct swz_proc_turns *turns, uint64_t now,
			   bool in_system_call)
{
	uint64_t queued_ns = turns->queued_ns - task->turns.queued_ns;
	bool waited = has_waited(task);

	if (turns->turns == task->turns.turns)
		return true;
	return now - queued_ns >= task->asked_ns && !(in_system_call && waited);
}

/* Reads the thread's processor time: of a thread that runs the kernel tells it
 * as of the last tick, or of when it asked for that itself; of one that stands,
 * the true one. Returns true if the thread stands where it ran. */
static bool know_time(const struct swz_watch *watch, struct swz_task *task,
		      uint64_t now, bool in_system_call)
{
	struct swz_proc_turns turns = {0};

	if (!swz_proc_task_turns(task->image->pid, task->tid, &turns))
		return true;
	if (turns.processor_ns > task->known_ns)
		swz_task_known(&watch->tasks, task, turns.processor_ns);
	return ran_when_asked(task, &turns, now, in_system_call);
}

/* A thread's state, taken while it stands. */
struct taken {
	struct swz_sampled_hit hit;
	struct swz_stack stack;
	struct swz_registers registers;
	bool counts; /* it stands where it ran */
};

/* Copies what is needed, and has its call go on. */
static void take(const struct swz_watch *watch, struct swz_task *task,
		 const struct user_regs_struct *r, struct taken *to)
{
	struct user_regs_struct own, again;
	/* what counts is how much it has run since its last sample */
	struct swz_sampled_hit hit = {.maps_may_be_old = true,
				      .time_ns = swz_watch_now()};

	hit.in_kernel = (int64_t)r->orig_rax >= 0;
	to->counts = know_time(watch, task, hit.time_ns, hit.in_kernel);
	own = own_registers(task, r);
	fill_registers(&to->registers, &own);
	stack_copy(task->tid, own.rsp, r->fs_base, watch->run.stack_bytes,
		   &to->stack);
	hit.script = swz_script_frames_read(
		task->image,
		&(struct swz_script_thread){.thread_pointer = r->fs_base,
					    .stack_start = own.rsp,
					    .pid = task->image->pid,
					    .tid = task->tid,
					    .loop_register = r->r15,
					    .registers = to->registers.general,
					    .register_count = SWZ_REGISTERS,
					    .pc = own.rip});
	to->hit = hit;
	if (call_goes_on(task, r, &again))
		(void)ptrace(PTRACE_SETREGS, task->tid, NULL, &again);
}

/* It goes on by now. */
static void keep(struct swz_task *task, struct taken *taken)
{
	if (!taken->counts)
		return; /* its time goes with the next sample */
	taken->hit.weight = task->known_ns - task->weighed_ns;
	task->weighed_ns = task->known_ns;
	if (!swz_image_knows(task->image, taken->registers.ip))
		swz_image_read_maps(task->image);
	swz_stack_read_on(task->image->pid, task->tid, &taken->stack);
	swz_image_add(task->image, task->thread, &taken->registers,
		      &taken->stack, &taken->hit);
}

/* It has stopped. */
static void sample(struct swz_watch *watch, struct swz_task *task, int signal)
{
	struct user_regs_struct r;
	struct taken taken;

	taken.counts = false;
	if (ptrace(PTRACE_GETREGS, task->tid, NULL, &r) == 0)
		take(watch, task, &r, &taken);
	(void)ptrace(PTRACE_DETACH, task->tid, NULL, (void *)(intptr_t)signal);
	swz_beside_be_prompt(false);
	keep(task, &taken);
}

struct alone {
	struct swz_watch *watch;
	struct swz_task *task;
	struct taken taken;
};

static void take_alone(void *context, const struct user_regs_struct *r)
{
	struct alone *alone = context;

	take(alone->watch, alone->task, r, &alone->taken);
}

static void note_any(void *context, int32_t child)
{
	(void)child;
	*(bool *)context = true;
}

/* True if signals that the process ignores come for this thread. While it is
 * traced the kernel keeps them pending, and wakes another thread for them,
 * whose call would end with EINTR. */
static bool gets_signals_for_others(const struct swz_task *task)
{
	bool gets = task->tid == task->image->pid;

	if (task->image->live_threads < 2)
		return false;
	if (!gets)
		swz_proc_children(task->image->pid, task->tid, note_any, &gets);
	return gets;
}

/* The signal to be delivered to the thread that has reported this; 0: none. */
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

	/* (not those of a thread that stops one alone) */
	while ((tid = waitpid(-1, &status, __WALL | __WNOTHREAD | WNOHANG)) >
	       0) {
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

/* For so long. One that does not stop, in the midst of some system call, may do
 * so later. */
static void wait_for_stops(struct swz_watch *watch, uint64_t ns)
{
	const uint64_t end = swz_watch_now() + ns;
	const struct timespec most = {0, (long)(ns / 4)};
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	take_stopped(watch);
	while (stopping && swz_watch_now() < end) {
		swz_beside_be_prompt(true);
		(void)sigtimedwait(&child, NULL, &most);
		take_stopped(watch);
	}
}

/* The end of a round. */
static void wait_for_all_stops(struct swz_watch *watch)
{
	swz_beside_leave();
	wait_for_stops(watch, STOP_NS);
	swz_beside_be_prompt(false);
}

/* Takes the thread's processor from it, and reads it again. False: it does not
 * run there. */
static bool take_its_place(struct swz_task *task, struct swz_proc_task *proc)
{
	struct swz_proc_turns before = {0};
	int32_t pid = task->image->pid;

	/* what was taken from it by the sampler did run */
	task->asked_ns = round_start - SWITCH_NS;
	if (!swz_beside_go(proc->processor))
		return true;
	task->asked_ns = 0;
	swz_beside_be_prompt(true);
	if (!swz_proc_task_turns(pid, task->tid, &before))
		return false;
	swz_beside_sleep();
	/* (the time of what runs grows, up to when it was told to make room) */
	return swz_proc_task_read(pid, task->tid, proc) && proc->state == 'R' &&
	       proc->turns.processor_ns != before.processor_ns;
}

static void pause_task(struct swz_watch *watch, struct swz_task *task,
		       struct swz_proc_task *proc)
{
	struct alone alone = {.watch = watch, .task = task};

	if (!take_its_place(task, proc))
		return;
	if (!swz_pause_calls || !gets_signals_for_others(task)) {
		ask_to_stop(task, &proc->turns);
		/* (not to be held while others are looked at) */
		if (!task->asked_ns)
			wait_for_stops(watch, SOON_NS);
		return;
	}
	task->turns = proc->turns;
	swz_pause_calls->stop_alone(task->image->pid, task->tid, take_alone,
				    &alone);
	swz_beside_leave();
	keep(task, &alone.taken);
}

/* ---------------------------------------------------------------- a round */

/* True if there is nothing new about it: it has not run since its last sample.
 */
static bool is_quiet(const struct swz_task *task)
{
	struct swz_proc_turns turns;

	return task->was_known && task->known_ns == task->weighed_ns &&
	       swz_proc_task_turns(task->image->pid, task->tid, &turns) &&
	       turns.processor_ns == task->known_ns;
}

/* Notes what reading the task has told. */
static void note(struct swz_watch *watch, struct swz_task *task,
		 const struct swz_proc_task *proc)
{
	memcpy(task->thread->name, proc->name, sizeof(proc->name));
	if (proc->turns.processor_ns != task->known_ns || proc->state == 'R')
		task->looks = TASK_LOOKS;
	else
		task->looks -= task->looks > 0;
	swz_task_known(&watch->tasks, task, proc->turns.processor_ns);
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
	note(watch, task, &proc);
	if (proc.state == 'R' && !task->stopping &&
	    task->known_ns > task->weighed_ns)
		pause_task(watch, task, &proc);
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

	task_search_next(tasks);
	task_search_execs(watch, now);
	task_search(watch, now, all);
	if (all && !watch->launched)
		read_maps(tasks);
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->items[i].live && task_is_due(tasks, i))
			look_at_task(watch, &tasks->items[i], now);
	wait_for_all_stops(watch);
	if (watch->options->wall && !watch->launched && now >= next_waiting)
		next_waiting = swz_waiting_sample(watch);
}

/* ---------------------------------------------------------------- all rounds
 */

/* Reading memory takes the same rights; a process that waits must not be
 * stopped to find out. A filter of system calls (seccomp) may refuse ptrace
 * alone: it does not look whether there is a process 0. */
bool swz_pauses_permitted(int32_t pid)
{
	char byte;
	struct iovec local = {&byte, 1}, remote = {NULL, 1};

	if (ptrace(PTRACE_SEIZE, 0, NULL, NULL) != 0 && errno != ESRCH)
		return false;
	return process_vm_readv(pid, &local, 1, &remote, 1, 0) >= 0 ||
	       errno == EFAULT;
}

/* Between pauses, in nanoseconds. */
static uint64_t period_of_pauses(const struct swz_watch *watch)
{
	uint64_t rate = watch->options->rate ? watch->options->rate
					     : USUAL_RATE;

	return 1000000000u / (rate > 1000 ? 1000 : rate);
}

bool swz_pause_engine_open(struct swz_watch *watch, const char **problem)
{
	struct swz_proc_task proc;

	if (!swz_pauses_permitted(watch->pid)) {
		*problem = errno == EPERM
				   ? "ptrace is not permitted "
				     "(kernel.yama.ptrace_scope, or a "
				     "container's filter; or a debugger has "
				     "the process)"
				   : strerror(errno);
		return false;
	}
	period_ns = period_of_pauses(watch);
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
static uint64_t next_rest(void)
{
	return period_ns / 2 + (uint64_t)random() % period_ns;
}

static void wait_for_next(struct swz_watch *watch, bool *stopped)
{
	uint64_t ns = next_rest();
	struct timespec time = {(time_t)(ns / 1000000000u),
				(long)(ns % 1000000000u)};
	struct pollfd fds[] = {{watch->stop, POLLIN, 0}};

	swz_beside_be_prompt(true);
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

/* --------------------------------------------------- beside another engine */

void swz_pauses_begin(struct swz_watch *watch, struct swz_image *image)
{
	image->pause_period_ns = period_ns = period_of_pauses(watch);
	for (size_t i = 0; i < watch->tasks.count; i++) {
		struct swz_task *task = &watch->tasks.items[i];
		uint64_t ns;

		/* what it has run so far was another program */
		if (task->live && task->image == image &&
		    swz_proc_task_time(image->pid, task->tid, &ns))
			task->known_ns = task->weighed_ns = ns;
	}
}

static void stop_if_it_runs(struct swz_watch *watch, struct swz_task *task)
{
	struct swz_proc_task proc;

	if (is_quiet(task) ||
	    !swz_proc_task_read(task->image->pid, task->tid, &proc)) {
		task->looks -= task->looks > 0;
		return;
	}
	note(watch, task, &proc);
	if (proc.state == 'R' && !task->stopping &&
	    task->known_ns > task->weighed_ns)
		pause_task(watch, task, &proc);
}

uint64_t swz_pauses_take(struct swz_watch *watch)
{
	struct swz_tasks *tasks = &watch->tasks;

	round_start = swz_watch_now();
	task_search_next(tasks);
	for (size_t i = 0; i < tasks->count; i++)
		if (tasks->items[i].live &&
		    tasks->items[i].image->pause_period_ns &&
		    task_is_due(tasks, i))
			stop_if_it_runs(watch, &tasks->items[i]);
	wait_for_all_stops(watch);
	return swz_watch_now() + next_rest();
}
