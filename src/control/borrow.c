/* The first calls, for memory, are made by a few instructions in a gap: zeros
 * at the end of some code's last page, which nothing executes. All later ones
 * by instructions in that memory. */

#include "control/borrow.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <time.h>

#include "control/stop.h"
#include "watch/clock.h"
#include "watch/proc_task.h"

extern const uint8_t swz_stub_call[], swz_stub_call_end[];
extern const uint8_t swz_stub_function[], swz_stub_function_end[];

#define PAGE UINT64_C(4096)
#define RED_ZONE 128u
#define DATA_AT PAGE
#define CHOOSE_NS UINT64_C(10000000000)
#define RETURN_NS UINT64_C(30000000000)
#define CALL_NS UINT64_C(2000000000)
#define MOST_PLACES 20u /* that the program takes before we do */
#define MOST_LISTS 5u
#define LOOK_NS 30000
#define BEGIN_NS 10000000u

_Static_assert(offsetof(struct swz_stub_data, back) == 88, "stub.S");
_Static_assert(offsetof(struct swz_stub_data, state) == 128, "stub.S");
_Static_assert(DATA_AT + sizeof(struct swz_stub_data) <= SWZ_REGION_TEXTS,
	       "the region");

/* As the stubs take them back. */
struct place {
	uint64_t r15, r14, r13, r12, rbp, rbx, r11, r10, r9, r8;
	uint64_t rax, rcx, rdx, rsi, rdi, flags, rip;
};

/* -------------------------------------------------------------- the gap */

/* Zeros at the end of the code's last page. */
static uint64_t gap_in(const struct swz_target *t,
		       const struct swz_target_mapping *m, size_t bytes)
{
	uint8_t last[256];

	if (!m->executable || m->writable || m->path[0] != '/' ||
	    !swz_target_read(t, m->end - sizeof(last), last, sizeof(last)))
		return 0;
	/* (an earlier controller may have left its own there) */
	if (memcmp(last + sizeof(last) - bytes, swz_stub_call, bytes) != 0)
		for (size_t i = sizeof(last) - bytes; i < sizeof(last); i++)
			if (last[i])
				return 0;
	return m->end - bytes;
}

static bool find_gap(struct swz_borrower *b)
{
	const struct swz_target *t = b->target;
	size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);

	for (size_t i = 0; i < t->mapping_count && !b->gap; i++)
		b->gap = gap_in(t, &t->mappings[i], bytes);
	return b->gap != 0;
}

void swz_borrow_close_gap(const struct swz_borrower *b)
{
	const size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);
	static const uint8_t zeros[128];
	uint8_t there[128];

	if (b->gap && swz_target_read(b->target, b->gap, there, bytes) &&
	    memcmp(there, swz_stub_call, bytes) == 0)
		(void)swz_target_write(b->target, b->gap, zeros, bytes);
}

/* --------------------------------------------------------- one borrowing */

static struct place place_of(const struct user_regs_struct *r)
{
	struct user_regs_struct again = *r;

	(void)swz_stop_makes_again(r, &again);
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
	    !swz_target_write(b->target, b->region + DATA_AT, &data,
			      sizeof(data)))
		return false;
	job->done_at = b->region + DATA_AT +
		       offsetof(struct swz_stub_data, result);
	r->rip = b->region;
	r->rbx = b->region + DATA_AT;
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

/* Threads that wait first. */
static bool lead_some_thread(struct job *job)
{
	struct swz_borrower *b = job->borrower;
	uint64_t end = swz_watch_now() + CHOOSE_NS, pause = 1000000;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->target->pid);
	for (;;) {
		struct choice c = {.job = job, .state = 'S'};

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
	}
}

/* Until the thread has done it: result, mark. */
static bool wait_for(struct job *job, uint64_t *result)
{
	struct swz_borrower *b = job->borrower;
	uint64_t end = swz_watch_now() + RETURN_NS, words[2];

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
		swz_stop_reap();
		swz_watch_rest(LOOK_NS);
	} while (swz_watch_now() < end);
	b->problem =
		"a borrowed thread does not come back: it waits for a lock "
		"of the program's";
	return false;
}

/* What it does must show. */
static bool call_system(struct swz_borrower *b, long number,
			const uint64_t arguments[6],
			bool (*is_done)(struct swz_borrower *))
{
	struct job job = {
		.borrower = b, .number = number, .arguments = arguments};
	uint64_t end = swz_watch_now() + CALL_NS;

	if (!lead_some_thread(&job))
		return false;
	while (!is_done(b) && swz_watch_now() < end)
		swz_watch_rest(LOOK_NS);
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

/* ------------------------------------------------------------- beginning */

/* In the midst of the largest hole: where the kernel puts what the program maps
 * meanwhile, a thread's stack for example, is at the ends of holes. */
static uint64_t find_room(const struct swz_target *t)
{
	uint64_t largest = 0, at = 0;

	for (size_t i = 1; i < t->mapping_count; i++) {
		uint64_t start = t->mappings[i - 1].end;
		uint64_t end = t->mappings[i].start;

		if (end >= UINT64_C(1) << 47 || end <= start ||
		    end - start <= largest)
			continue;
		largest = end - start;
		at = start + (largest / 2 & -PAGE);
	}
	return largest > 4 * SWZ_REGION_BYTES ? at : 0;
}

/* Of our own, or what else there is. A mapping that begins and ends there, with
 * rights that data does not have, is no other's. */
enum room { ROOM_FREE, ROOM_OURS, ROOM_TAKEN };

static enum room room_at(struct swz_borrower *b)
{
	const struct swz_target_mapping *m;
	const uint64_t end = b->region + SWZ_REGION_BYTES;

	if (!swz_target_read_mappings(b->target))
		return ROOM_FREE;
	for (size_t i = 0; i < b->target->mapping_count; i++) {
		m = &b->target->mappings[i];
		if (m->end <= b->region || m->start >= end)
			continue;
		return m->start == b->region && m->end == end &&
				       m->executable && !m->writable &&
				       !m->path[0]
			       ? ROOM_OURS
			       : ROOM_TAKEN;
	}
	return ROOM_FREE;
}

static bool is_decided(struct swz_borrower *b)
{
	return room_at(b) != ROOM_FREE;
}

/* All but the first page, in which the code is. */
static bool is_writable(struct swz_borrower *b)
{
	const struct swz_target_mapping *m;

	if (!swz_target_read_mappings(b->target))
		return false;
	m = swz_target_mapping_at(b->target, b->region + PAGE);
	return m && m->writable;
}

static bool map_at(struct swz_borrower *b)
{
	const uint64_t map[6] = {b->region,
				 SWZ_REGION_BYTES,
				 PROT_READ | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS |
					 MAP_FIXED_NOREPLACE,
				 UINT64_MAX,
				 0};
	const uint64_t protect[6] = {b->region + PAGE, SWZ_REGION_BYTES - PAGE,
				     PROT_READ | PROT_WRITE};

	return call_system(b, SYS_mmap, map, is_decided) &&
	       room_at(b) == ROOM_OURS &&
	       call_system(b, SYS_mprotect, protect, is_writable);
}

static bool map_region(struct swz_borrower *b)
{
	for (unsigned i = 0; i < MOST_PLACES; i++) {
		b->problem = NULL;
		if (!swz_target_read_mappings(b->target))
			break;
		b->region = find_room(b->target);
		if (b->region && map_at(b))
			return true;
		if (b->problem || !b->region || room_at(b) == ROOM_FREE)
			break;
	}
	b->region = 0;
	if (!b->problem)
		b->problem = "it has no memory left, or none that may become "
			     "executable";
	return false;
}

/* Whether none of its threads is on the borrowed stack, or about to be. (In a
 * forked child that one does not exist; and an earlier controller may have been
 * killed just before it was led away.) */
static bool nobody_is_borrowed(const struct swz_borrower *b)
{
	struct swz_stop stop = {0};
	bool stopped = swz_stop_all(&stop, b->target->pid, 0) == SWZ_STOP_DONE;
	bool nobody = stopped;

	for (size_t i = 0; nobody && i < stop.count; i++)
		nobody = stop.threads[i].registers.rip - b->region >=
				 SWZ_REGION_BYTES &&
			 stop.threads[i].registers.rsp - b->region >=
				 SWZ_REGION_BYTES;
	if (stopped)
		(void)swz_stop_end(&stop);
	swz_stop_free(&stop);
	return nobody;
}

/* An earlier controller may have been killed while a thread was borrowed. */
static bool is_free(struct swz_borrower *b)
{
	uint64_t end = swz_watch_now() + RETURN_NS;
	struct swz_stub_data data;

	do {
		if (!swz_target_read(b->target, b->region + DATA_AT, &data,
				     offsetof(struct swz_stub_data, state))) {
			b->problem = "the process has ended";
			return false;
		}
		if (!data.function || data.done || nobody_is_borrowed(b))
			return true;
		swz_watch_rest(BEGIN_NS);
	} while (swz_watch_now() < end);
	b->problem = "a thread that was borrowed does not come back";
	return false;
}

/* While threads come and go the list of mappings may lack one for once. */
static uint64_t find_errno(struct swz_borrower *b)
{
	uint64_t place = 0;

	for (unsigned i = 0; i < MOST_LISTS && !place; i++) {
		if (i) {
			swz_watch_rest(10000000);
			if (!swz_target_read_mappings(b->target))
				break;
		}
		place = swz_target_symbol(b->target, "__errno_location");
	}
	return place;
}

bool swz_borrow_begin(struct swz_borrower *b, uint64_t region)
{
	b->region = region;
	b->errno_place = find_errno(b);
	if (!b->errno_place) {
		b->problem = "it has no libc that is known (glibc)";
		return false;
	}
	if (!find_gap(b) && !region) {
		b->problem = "there is no gap in its code";
		return false;
	}
	if (region ? !is_free(b) : !map_region(b))
		return false;
	if (!swz_target_write(
		    b->target, b->region, swz_stub_function,
		    (size_t)(swz_stub_function_end - swz_stub_function))) {
		b->problem = "its memory cannot be written";
		return false;
	}
	return true;
}

void swz_borrow_end(struct swz_borrower *b)
{
	swz_safe_places_free(b->places);
	b->places = NULL;
}
