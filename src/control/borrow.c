#include "control/borrow.h"

#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/user.h>
#include <time.h>

#include "control/borrow_parts.h"
#include "control/stop.h"
#include "watch/clock.h"
#include "watch/interrupted_call.h"
#include "watch/proc_task.h"

#define RED_ZONE 128u
#define CHOOSE_NS UINT64_C(10000000000)
#define CALL_NS UINT64_C(10000000000)
#define LOOK_NS 30000
#define RENEW_TRIES 32u

_Static_assert(offsetof(struct swz_stub_data, back) == 88, "stub.S");
_Static_assert(offsetof(struct swz_stub_data, state) == 128, "stub.S");

/* As the stubs take them back. */
struct place {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	uint64_t rax, rcx, rdx, rsi, rdi, flags, rip;
};

static struct place place_of(const struct user_regs_struct *r)
{
	struct user_regs_struct again = *r;

	(void)swz_call_makes_again(r, &again);
	return (struct place){.r15 = again.r15,
			      .r14 = again.r14,
			      .r13 = again.r13,
			      .r12 = again.r12,
			      .rbp = again.rbp,
			      .rbx = again.rbx,
			      .r11 = again.r11,
			      .r10 = again.r10,
			      .r9 = again.r9,
			      .r8 = again.r8,
			      .rax = again.rax,
			      .rcx = again.rcx,
			      .rdx = again.rdx,
			      .rsi = again.rsi,
			      .rdi = again.rdi,
			      .flags = again.eflags,
			      .rip = again.rip};
}

/* What to do with a thread that was chosen. */
struct job {
	struct swz_borrower *borrower;
	bool safe;
	/* by the gap */
	long number;
	const uint64_t *arguments;
	/* or by the region */
	uint64_t function;
	uint64_t done_at;
};

static bool lead_to_call(struct job *job, struct swz_stopped *t)
{
	struct swz_borrower *b = job->borrower;
	struct place place = place_of(&t->registers);
	struct user_regs_struct *r = &t->registers;
	uint64_t at = r->rsp - RED_ZONE - sizeof(place);

	if (!swz_target_write(b->target, b->gap, swz_stub_call,
			      (size_t)(swz_stub_call_end - swz_stub_call)) ||
	    !swz_target_write(b->target, at, &place, sizeof(place)))
		return false;
	r->rip = b->gap;
	r->rsp = at;
	r->rax = (uint64_t)job->number;
	r->orig_rax = UINT64_MAX;
	r->rdi = job->arguments[0];
	r->rsi = job->arguments[1];
	r->rdx = job->arguments[2];
	r->r10 = job->arguments[3];
	r->r8 = job->arguments[4];
	r->r9 = job->arguments[5];
	r->eflags &= ~UINT64_C(0x400); /* DF */
	return true;
}

static bool lead_to_function(struct job *job, struct swz_stopped *t)
{
	struct swz_borrower *b = job->borrower;
	struct place place = place_of(&t->registers);
	struct user_regs_struct *r = &t->registers;
	struct swz_stub_data data = {
		.function = job->function,
		.errno_place = b->errno_place,
		.all_signals = UINT64_MAX,
		.back = r->rsp - RED_ZONE - sizeof(place),
	};

	memcpy(data.arguments, job->arguments, sizeof(data.arguments));
	if (!swz_target_write(b->target, data.back, &place, sizeof(place)) ||
	    !swz_target_write(b->target, b->region + SWZ_REGION_DATA, &data,
			      sizeof(data)))
		return false;
	job->done_at = b->region + SWZ_REGION_DATA +
		       offsetof(struct swz_stub_data, result);
	r->rip = b->region;
	r->rbx = b->region + SWZ_REGION_DATA;
	r->rsp = b->region + SWZ_REGION_BYTES - 64;
	r->orig_rax = UINT64_MAX;
	r->eflags &= ~UINT64_C(0x400);
	return true;
}

/* To read the tables by which a stack is walked takes some 20 ms: while the
 * thread runs on, though its stack is another's by then. */
static void prepare_walk(struct job *job, int32_t tid)
{
	struct swz_borrower *b = job->borrower;
	struct swz_stop stop = {0};
	struct user_regs_struct registers;

	if (!b->places)
		b->places = swz_safe_places_of(b->target);
	if (swz_stop_one(&stop, b->target->pid, tid) == SWZ_STOP_DONE) {
		registers = stop.threads[0].registers;
		(void)swz_stop_end(&stop);
		(void)swz_place_is_safe(b->places, &registers);
	}
	swz_stop_free(&stop);
}

/* Stops a thread and, if it is where it may be, leads it away. */
static bool try(struct job *job, int32_t tid, enum swz_stop_result *result)
{
	struct swz_borrower *b = job->borrower;
	struct swz_stop stop = {0};
	struct swz_stopped *t;
	bool done = false;
	uint64_t ns;

	if (job->safe)
		prepare_walk(job, tid);
	*result = swz_stop_one(&stop, b->target->pid, tid);
	if (*result != SWZ_STOP_DONE) {
		swz_stop_free(&stop);
		return false;
	}
	t = stop.threads;
	if (!t->signal && !swz_proc_task_has_signal(b->target->pid, tid) &&
	    (!job->safe || swz_place_is_safe(b->places, &t->registers)))
		done = job->function ? lead_to_function(job, t)
				     : lead_to_call(job, t);
	t->changed = done;
	ns = swz_stop_end(&stop);
	if (ns > b->stopped_ns)
		b->stopped_ns = ns;
	swz_stop_free(&stop);
	return done;
}

struct choice {
	struct job *job;
	char state; /* that they must be in */
	bool done, any;
	enum swz_stop_result result;
};

static void choose(void *context, int32_t tid)
{
	struct choice *c = context;
	int32_t pid = c->job->borrower->target->pid;
	struct swz_proc_task task;

	c->any = true;
	if (c->done || !swz_proc_task_read(pid, tid, &task))
		return;
	if ((task.state == 'S') != (c->state == 'S') || task.state == 'Z' ||
	    task.state == 'X' || task.state == 'T' || task.state == 'D')
		return;
	c->done = try(c->job, tid, &c->result);
}

static void beat(const struct swz_borrower *b)
{
	uint64_t now = swz_watch_now();

	if (b->heartbeat)
		(void)swz_target_write(b->target, b->heartbeat, &now,
				       sizeof(now));
}

/* It may have loaded libraries since: where their code is cannot be told then,
 * on stacks that lead through it. */
static void renew_places(struct swz_borrower *b)
{
	swz_safe_places_free(b->places);
	b->places = NULL;
	(void)swz_target_read_mappings(b->target);
}

/* Threads that wait first. */
static bool lead_some_thread(struct job *job)
{
	struct swz_borrower *b = job->borrower;
	uint64_t end = swz_watch_now() + CHOOSE_NS, pause = 1000000;
	unsigned tries = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->target->pid);
	for (;;) {
		struct choice c = {.job = job, .state = 'S'};

		beat(b);
		swz_proc_numbers(path, choose, &c);
		c.state = 'R';
		if (!c.done)
			swz_proc_numbers(path, choose, &c);
		if (c.done)
			return true;
		swz_stop_reap();
		b->problem = NULL;
		if (!c.any || c.result == SWZ_STOP_ENDED)
			b->problem = "the process has ended";
		else if (c.result == SWZ_STOP_TRACED)
			b->problem = "a debugger has it";
		else if (c.result == SWZ_STOP_DENIED)
			b->problem = "ptrace is not permitted";
		else if (swz_watch_now() > end)
			b->problem = "none of its threads comes to a place "
				     "where a library may be loaded";
		if (b->problem && (!c.any || c.result != SWZ_STOP_ENDED))
			return false;
		swz_watch_rest(pause);
		if (pause < 20000000)
			pause += pause / 2;
		if (++tries % RENEW_TRIES == 0)
			renew_places(b);
	}
}

/* Until the thread has done it: result, mark. */
static bool wait_for(struct job *job, uint64_t *result)
{
	struct swz_borrower *b = job->borrower;
	uint64_t end = swz_watch_now() + SWZ_BORROW_RETURN_NS, words[2];

	do {
		if (!swz_target_read(b->target, job->done_at, words,
				     sizeof(words))) {
			b->problem = "the process has ended";
			return false;
		}
		if (words[1]) {
			*result = words[0];
			return true;
		}
		beat(b);
		swz_stop_reap();
		swz_watch_rest(LOOK_NS);
	} while (swz_watch_now() < end);
	b->problem =
		"a borrowed thread does not come back: it waits for a lock "
		"of the program's";
	return false;
}

bool swz_borrow_system(struct swz_borrower *b, long number,
		       const uint64_t arguments[6],
		       bool (*is_done)(struct swz_borrower *))
{
	struct job job = {
		.borrower = b, .number = number, .arguments = arguments};
	uint64_t end;
	uint8_t byte;

	if (!lead_some_thread(&job))
		return false;
	/* from here on it goes its way, whatever comes of it */
	end = swz_watch_now() + CALL_NS;
	while (!is_done(b) && swz_watch_now() < end) {
		if (!swz_target_read(b->target, b->gap, &byte, 1)) {
			b->problem = "the process has ended";
			return false;
		}
		swz_stop_reap();
		swz_watch_rest(LOOK_NS);
	}
	return is_done(b);
}

bool swz_borrow_call(struct swz_borrower *b, uint64_t function,
		     const uint64_t arguments[4], bool safe, uint64_t *result)
{
	struct job job = {.borrower = b,
			  .safe = safe,
			  .function = function,
			  .arguments = arguments};

	return lead_some_thread(&job) && wait_for(&job, result);
}

void swz_borrow_end(struct swz_borrower *b)
{
	swz_safe_places_free(b->places);
	b->places = NULL;
}
