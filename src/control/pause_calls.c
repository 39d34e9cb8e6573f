#include "control/attach.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "control/target.h"
#include "util/memory.h"
#include "watch/engine.h"
#include "watch/proc_task.h"

#define ALONE_NS \
	20000000u /* as long as the engine waits for a round's stops \
		   */

/* Processes whose calls were cut short. An exec leaves no gap of ours: so it is
 * looked whether the code is there. */
struct process {
	int32_t pid;
	uint64_t gap; /* 0: there is none */
	bool used;    /* the code is there, or was before an exec */
};

static struct process *processes;
static size_t count, capacity;

static struct process *process_of(int32_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

/* Where to resume, in a gap, before anything is written there. */
static struct swz_borrower borrower_of(struct swz_target *target, uint64_t gap)
{
	struct swz_borrower b = {.target = target, .gap = gap};

	b.code[1] = gap ? swz_borrow_resume(&b) : 0;
	return b;
}

static struct swz_cut_call cut_of(int32_t pid, int32_t tid, uint64_t gap)
{
	struct swz_borrower b = borrower_of(NULL, gap);

	return (struct swz_cut_call){.pid = pid,
				     .tid = tid,
				     .code = {0, b.code[1]},
				     .code_is_to_come = true};
}

/* Where nothing was put there is nothing to be taken away: such processes are
 * looked at again. */
#define MOST_UNUSED 64u

static void forget_unused(void)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (processes[i].used)
			processes[kept++] = processes[i];
	count = kept;
}

static struct process *find_process(int32_t pid)
{
	struct process *p = process_of(pid);
	struct swz_target target;

	if (p)
		return p;
	if (count % MOST_UNUSED == MOST_UNUSED - 1)
		forget_unused();
	swz_grow(&processes, &capacity, count + 1, sizeof(*processes));
	p = &processes[count++];
	*p = (struct process){.pid = pid};
	if (!swz_target_open(&target, pid))
		return p;
	if (swz_target_read_mappings(&target))
		p->gap = swz_borrow_find_gap(&target, true);
	swz_target_close(&target);
	return p;
}

/* False: the gap is none any more. */
static bool fill_gap(struct process *p)
{
	struct swz_target target;
	bool filled;

	if (!swz_target_open(&target, p->pid))
		return false;
	filled = swz_borrow_fill_gap(&target, p->gap);
	swz_target_close(&target);
	p->used = p->used || filled;
	if (!filled)
		p->gap = 0;
	return filled;
}

/* True if the call has done all that it was to: mostly it has. */
static bool is_done(const struct user_regs_struct *r)
{
	switch (r->orig_rax) {
	case SYS_read:
	case SYS_write:
	case SYS_recvfrom:
	case SYS_sendto:
		return r->rax == r->rdx;
	default:
		return r->rax == 0;
	}
}

/* The first one finds the gap while its thread stands, which takes a
 * millisecond. */
static bool resume(int32_t pid, int32_t tid, const struct user_regs_struct *now,
		   struct user_regs_struct *again)
{
	struct swz_cut_call cut;

	if (is_done(now))
		return false;
	cut = cut_of(pid, tid, find_process(pid)->gap);
	if (!swz_call_resume(&cut, now, again))
		return false;
	/* (by the kernel alone, or in the code that is there) */
	return again->rip == now->rip || fill_gap(process_of(pid)) ||
	       swz_call_anew(now, again);
}

static struct user_regs_struct origin(int32_t pid, int32_t tid,
				      const struct user_regs_struct *now)
{
	const struct process *p = process_of(pid);
	struct swz_cut_call cut = cut_of(pid, tid, p ? p->gap : 0);

	return swz_call_origin(&cut, now);
}

struct alone {
	int32_t pid, tid;
	void (*work)(void *context, const struct user_regs_struct *now);
	void *context;
};

static void do_alone(void *context)
{
	const struct alone *alone = context;
	struct swz_stop stop = {.most_ns = ALONE_NS};

	if (swz_stop_one(&stop, alone->pid, alone->tid) == SWZ_STOP_DONE) {
		alone->work(alone->context, &stop.threads[0].registers);
		(void)swz_stop_end(&stop);
	}
	swz_stop_free(&stop);
}

static void stop_alone(int32_t pid, int32_t tid,
		       void (*work)(void *context,
				    const struct user_regs_struct *now),
		       void *context)
{
	struct alone alone = {pid, tid, work, context};

	swz_stop_session(do_alone, &alone);
}

static void close_gap(void *context)
{
	struct swz_borrower *b = context;
	struct swz_stop stop = {.code = {0, b->code[1]}};

	swz_interrupted_prepare(b->target);
	if (swz_stop_all(&stop, b->target->pid, 0) == SWZ_STOP_DONE) {
		(void)swz_borrow_close_gap(b, &stop);
		(void)swz_stop_end(&stop);
	}
	swz_stop_free(&stop);
}

static void end(void)
{
	for (size_t i = 0; i < count; i++) {
		struct swz_target target;
		struct swz_borrower b = borrower_of(&target, processes[i].gap);

		if (!processes[i].used || !processes[i].gap ||
		    !swz_target_open(&target, processes[i].pid))
			continue;
		if (swz_target_read_mappings(&target))
			swz_stop_session(close_gap, &b);
		swz_target_close(&target);
	}
	free(processes);
	processes = NULL;
	count = capacity = 0;
}

void swz_pause_calls_mend(void)
{
	static const struct swz_pause_calls in_gaps = {resume, origin,
						       stop_alone, end};

	swz_pause_calls = &in_gaps;
}
