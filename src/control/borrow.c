
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <time.h>

#include "base/basics.h"
#include "control/target.h"
#include "watch/proc_task.h"

/* Offset of struct swz_stub_data in the region. */
#define SWZ_REGION_DATA UINT64_C(4096)
/* How long a borrowed thread may take. */
#define SWZ_BORROW_RETURN_NS UINT64_C(30000000000)

uint64_t swz_borrow_resume(const struct swz_borrower *b)
{
	return b->gap + (uint64_t)(swz_stub_resume - swz_stub_call);
}

/* ------------------------------------------- one call on a borrowed thread */

/* At swz_stub_function's %rbx (stub.S). */
struct swz_stub_data {
	uint64_t function;
	uint64_t arguments[4];
	uint64_t result;
	uint64_t done;
	uint64_t errno_place; /* __errno_location */
	uint64_t error;
	uint64_t all_signals;
	uint64_t signals;
	uint64_t back; /* the thread's registers */
	uint64_t spare[4];
	uint8_t state[16384]; /* of xsave */
};

#define RED_ZONE 128u
#define CHOOSE_NS UINT64_C(10000000000)
/* One try counts for no more of that: this process may have been stopped, or
 * without a processor, and so has not tried. */
#define MOST_TRY_NS UINT64_C(200000000)
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

static struct place place_of(struct swz_borrower *b,
			     const struct swz_stop *stop,
			     const struct swz_stopped *t, uint64_t *sp)
{
	struct swz_cut_call cut = swz_stop_cut(stop, t);
	struct user_regs_struct again = t->registers;

	/* (code to resume it may be there only now) */
	memcpy(cut.code, b->code, sizeof(cut.code));
	if (stop->code[0] || stop->code[1])
		again = t->resumes ? t->again : t->registers;
	else if (!swz_call_resume(&cut, &t->registers, &again))
		again = t->registers;
	(void)swz_call_makes_again(&again, &again);
	*sp = again.rsp;
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

/* The work for a thread that was chosen. */
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

static bool lead_to_call(struct job *job, const struct swz_stop *stop,
			 struct swz_stopped *t)
{
	struct swz_borrower *b = job->borrower;
	struct user_regs_struct *r = &t->registers;
	struct place place;
	uint64_t at;

	if (!swz_target_write(b->target, b->gap, swz_stub_call,
			      (size_t)(swz_stub_call_end - swz_stub_call)))
		return false;
	b->code[1] = swz_borrow_resume(b);
	place = place_of(b, stop, t, &at);
	at -= RED_ZONE + sizeof(place);
	if (!swz_target_write(b->target, at, &place, sizeof(place)))
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

static bool lead_to_function(struct job *job, const struct swz_stop *stop,
			     struct swz_stopped *t)
{
	struct swz_borrower *b = job->borrower;
	uint64_t sp;
	struct place place = place_of(b, stop, t, &sp);
	struct user_regs_struct *r = &t->registers;
	struct swz_stub_data data = {
		.function = job->function,
		.errno_place = b->errno_place,
		.all_signals = UINT64_MAX,
		.back = sp - RED_ZONE - sizeof(place),
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

struct peek {
	struct swz_stop stop;
	struct user_regs_struct registers;
	int32_t pid, tid;
	bool good;
};

static void take_registers(void *context)
{
	struct peek *p = context;

	p->good = swz_stop_one(&p->stop, p->pid, p->tid) == SWZ_STOP_DONE;
	if (!p->good)
		return;
	p->registers = p->stop.threads[0].registers;
	(void)swz_stop_end(&p->stop);
}

/* To read the tables by which a stack is walked takes some 20 ms: while the
 * thread runs on, though its stack is another's by then. (Where it sleeps it
 * need not be stopped for that; frames that need other registers are not
 * found.) */
static void prepare_walk(struct job *job, int32_t tid)
{
	struct swz_borrower *b = job->borrower;
	struct peek peek = {.pid = b->target->pid, .tid = tid};
	struct user_regs_struct registers = {0};
	uint64_t ip, sp;

	if (!b->places)
		b->places = swz_safe_places_of(b->target);
	if (swz_proc_task_waits(b->target->pid, tid, &ip, &sp)) {
		registers.rip = ip;
		registers.rsp = sp;
		registers.orig_rax = SYS_read; /* (any that waits) */
		(void)swz_place_is_safe(b->places, &registers);
		return;
	}
	memcpy(peek.stop.code, b->code, sizeof(peek.stop.code));
	swz_stop_session(take_registers, &peek);
	if (peek.good)
		(void)swz_place_is_safe(b->places, &peek.registers);
	swz_stop_free(&peek.stop);
}

static void note_stop(struct swz_borrower *b, uint64_t ns)
{
	if (ns > b->stopped_ns)
		b->stopped_ns = ns;
	if (ns > b->longest_ns)
		b->longest_ns = ns;
}

struct attempt {
	struct job *job;
	int32_t tid;
	enum swz_stop_result result;
	bool done;
};

/* Stops a thread and, if it is where it may be, leads it away. */
static void lead(void *context)
{
	struct attempt *attempt = context;
	struct job *job = attempt->job;
	struct swz_borrower *b = job->borrower;
	const int32_t tid = attempt->tid;
	struct swz_stop stop = {.code = {b->code[0], b->code[1]}};
	struct user_regs_struct origin;
	struct swz_stopped *t;
	bool done = false;
	uint64_t ns;

	attempt->result = swz_stop_one(&stop, b->target->pid, tid);
	if (attempt->result != SWZ_STOP_DONE) {
		note_stop(b, stop.lasted_ns);
		swz_stop_free(&stop);
		return;
	}
	t = stop.threads;
	origin = swz_stop_origin(&stop, t);
	if (!t->signal && !swz_proc_task_catches(b->target->pid, tid) &&
	    (!job->safe || swz_place_is_safe(b->places, &origin)))
		done = job->function ? lead_to_function(job, &stop, t)
				     : lead_to_call(job, &stop, t);
	t->changed = attempt->done = done;
	ns = swz_stop_end(&stop);
	note_stop(b, ns);
	swz_stop_free(&stop);
}

static bool try(struct job *job, int32_t tid, enum swz_stop_result *result)
{
	struct attempt attempt = {.job = job, .tid = tid};

	if (job->safe)
		prepare_walk(job, tid);
	swz_stop_session(lead, &attempt);
	*result = attempt.result;
	return attempt.done;
}

struct choice {
	struct job *job;
	char state; /* that they must be in */
	bool quiet; /* signals are to come for others */
	bool done, any;
	enum swz_stop_result result;
};

static void choose(void *context, int32_t tid)
{
	struct choice *c = context;
	int32_t pid = c->job->borrower->target->pid;
	struct swz_proc_task task;

	c->any = true;
	if (c->done || tid == c->job->borrower->agent ||
	    !swz_proc_task_read(pid, tid, &task))
		return;
	if ((task.state == 'S') != (c->state == 'S') || task.state == 'Z' ||
	    task.state == 'X' || task.state == 'T' || task.state == 'D')
		return;
	if (c->state == 'S' && swz_stop_gets_signals(pid, tid) == c->quiet)
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

/* False: the process has ended, or executes another program. */
static bool has_its_memory(const struct swz_borrower *b)
{
	uint8_t byte;

	return swz_target_read(b->target, b->gap ? b->gap : b->region, &byte,
			       1);
}

/* Threads that wait first. */
static bool lead_some_thread(struct job *job)
{
	struct swz_borrower *b = job->borrower;
	uint64_t tried_ns = 0, pause = 1000000;
	unsigned tries = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task", (int)b->target->pid);
	for (;;) {
		struct choice c = {.job = job, .state = 'S', .quiet = true};
		uint64_t from = swz_watch_now(), ns;

		beat(b);
		swz_proc_numbers(path, choose, &c);
		c.quiet = false;
		if (!c.done)
			swz_proc_numbers(path, choose, &c);
		c.state = 'R';
		if (!c.done)
			swz_proc_numbers(path, choose, &c);
		if (c.done)
			return true;
		b->problem = NULL;
		if (!has_its_memory(b)) {
			b->problem = "the process has ended";
			return false;
		}
		if (!c.any || c.result == SWZ_STOP_ENDED)
			b->problem = "the process has ended";
		else if (c.result == SWZ_STOP_TRACED)
			b->problem = "a debugger has it";
		else if (c.result == SWZ_STOP_DENIED)
			b->problem = "ptrace is not permitted";
		else if (tried_ns > CHOOSE_NS)
			b->problem = "none of its threads comes to a place "
				     "where a library may be loaded";
		if (b->problem && (!c.any || c.result != SWZ_STOP_ENDED))
			return false;
		swz_watch_rest(pause);
		if (pause < 20000000)
			pause += pause / 2;
		if (++tries % RENEW_TRIES == 0)
			renew_places(b);
		ns = swz_watch_now() - from;
		tried_ns += ns < MOST_TRY_NS ? ns : MOST_TRY_NS;
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
		swz_watch_rest(LOOK_NS);
	} while (swz_watch_now() < end);
	b->problem =
		"a borrowed thread does not come back: it waits for a lock "
		"of the program's";
	return false;
}

/* Has some thread make a system call, in the gap. What it does must show: until
 * IS_DONE says so. False: it does not, or ->problem. */
static bool borrow_system(struct swz_borrower *b, long number,
			  const uint64_t arguments[6],
			  bool (*is_done)(struct swz_borrower *))
{
	struct job job = {
		.borrower = b, .number = number, .arguments = arguments};
	uint64_t end;

	if (!lead_some_thread(&job))
		return false;
	/* from here on it goes its way, whatever comes of it */
	end = swz_watch_now() + CALL_NS;
	while (!is_done(b) && swz_watch_now() < end) {
		if (!has_its_memory(b)) {
			b->problem = "the process has ended";
			return false;
		}
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

/* ------------------------------------------- memory and code for the calls */

/* The first calls, for memory, are made by a few instructions in a gap: zeros
 * at the end of some code's last page, which nothing executes. All later ones
 * by instructions in that memory. */

extern const uint8_t swz_stub_function[], swz_stub_function_end[];

#define MOST_PLACES 20u /* that the program takes before we do */
#define MOST_LISTS 5u
#define BEGIN_NS 10000000u
#define GAP_MOST 256u

_Static_assert(SWZ_REGION_DATA + sizeof(struct swz_stub_data) <=
		       SWZ_REGION_TEXTS,
	       "the region");

/* -------------------------------------------------------------- the gap */

/* Zeros at the end of the code's last page. */
static uint64_t gap_in(const struct swz_target *t,
		       const struct swz_target_mapping *m, size_t bytes)
{
	uint8_t last[GAP_MOST];

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

uint64_t swz_borrow_find_gap(const struct swz_target *t, bool last)
{
	size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);
	uint64_t gap = 0;

	for (size_t i = 0; i < t->mapping_count && !gap; i++)
		gap = gap_in(t,
			     &t->mappings[last ? t->mapping_count - 1 - i : i],
			     bytes);
	return gap;
}

bool swz_borrow_fill_gap(const struct swz_target *t, uint64_t gap)
{
	size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);
	uint8_t there[GAP_MOST];

	if (!swz_target_read(t, gap, there, bytes))
		return false;
	if (memcmp(there, swz_stub_call, bytes) == 0)
		return true;
	for (size_t i = 0; i < bytes; i++)
		if (there[i])
			return false;
	return swz_target_write(t, gap, swz_stub_call, bytes);
}

static bool find_gap(struct swz_borrower *b)
{
	const struct swz_target *t = b->target;
	size_t bytes = (size_t)(swz_stub_call_end - swz_stub_call);
	uint8_t there[GAP_MOST];

	b->gap = swz_borrow_find_gap(t, false);
	/* (a thread may still resume its call there) */
	if (b->gap && swz_target_read(t, b->gap, there, bytes) &&
	    memcmp(there, swz_stub_call, bytes) == 0)
		b->code[1] = swz_borrow_resume(b);
	return b->gap != 0;
}

static size_t gap_bytes(void)
{
	return (size_t)(swz_stub_call_end - swz_stub_call);
}

struct place_search {
	uint64_t start, bytes;
	bool found;
};

static bool look_for_place(void *context, uint64_t address)
{
	struct place_search *search = context;

	search->found = search->found ||
			address - search->start < search->bytes;
	return !search->found;
}

/* True if a thread executes the region, or will when a signal's handler
 * returns. */
static bool is_executed(const struct swz_borrower *b,
			const struct swz_stop *stop, uint64_t start,
			uint64_t bytes)
{
	struct place_search search = {.start = start, .bytes = bytes};

	for (size_t i = 0; i < stop->count && !search.found; i++) {
		const struct swz_stopped *t = &stop->threads[i];

		/* (what resumes a call goes on there, too; and the stop may
		 * have led it there) */
		if (look_for_place(&search, t->registers.rip) &&
		    (!t->resumes || look_for_place(&search, t->again.rip)) &&
		    look_for_place(&search, swz_stop_origin(stop, t).rip))
			swz_interrupted_each(b->target, &t->registers,
					     look_for_place, &search);
	}
	return search.found;
}

bool swz_borrow_close_gap(const struct swz_borrower *b,
			  const struct swz_stop *stop)
{
	static const uint8_t zeros[GAP_MOST];
	uint8_t there[GAP_MOST];

	if (!b->gap ||
	    !swz_target_read(b->target, b->gap, there, gap_bytes()) ||
	    memcmp(there, swz_stub_call, gap_bytes()) != 0)
		return true;
	/* (a thread may return from the region to what resumes its call) */
	return !is_executed(b, stop, b->gap, gap_bytes()) &&
	       !(b->region &&
		 is_executed(b, stop, b->region, SWZ_REGION_BYTES)) &&
	       swz_target_write(b->target, b->gap, zeros, gap_bytes());
}

/* ----------------------------------------------------------- the region */

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
		at = start + swz_page_down(largest / 2);
	}
	return largest > 4 * SWZ_REGION_BYTES ? at : 0;
}

/* A mapping that begins and ends where ours would, with rights that data does
 * not have, is ours. */
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
	m = swz_target_mapping_at(b->target, b->region + SWZ_PAGE);
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
	const uint64_t protect[6] = {b->region + SWZ_PAGE,
				     SWZ_REGION_BYTES - SWZ_PAGE,
				     PROT_READ | PROT_WRITE};

	return borrow_system(b, SYS_mmap, map, is_decided) &&
	       room_at(b) == ROOM_OURS &&
	       borrow_system(b, SYS_mprotect, protect, is_writable);
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

/* True if no thread is on the borrowed stack, or about to be. (A forked child
 * does not have that thread. An earlier controller may have been killed just
 * before it led the thread away.) */
struct borrowed_search {
	const struct swz_borrower *borrower;
	bool nobody;
};

static void look_for_borrowed(void *context)
{
	struct borrowed_search *search = context;
	const struct swz_borrower *b = search->borrower;
	struct swz_stop stop = {.code = {b->code[0], b->code[1]}};
	bool stopped = swz_stop_all(&stop, b->target->pid, 0) == SWZ_STOP_DONE;
	bool nobody = stopped;

	for (size_t i = 0; nobody && i < stop.count; i++)
		nobody = stop.threads[i].registers.rsp - b->region >=
			 SWZ_REGION_BYTES;
	nobody = nobody && !is_executed(b, &stop, b->region, SWZ_REGION_BYTES);
	if (stopped)
		(void)swz_stop_end(&stop);
	swz_stop_free(&stop);
	search->nobody = nobody;
}

static bool nobody_is_borrowed(const struct swz_borrower *b)
{
	struct borrowed_search search = {.borrower = b};

	swz_stop_session(look_for_borrowed, &search);
	return search.nobody;
}

static bool is_unmapped(struct swz_borrower *b)
{
	return room_at(b) == ROOM_FREE;
}

void swz_borrow_unmap(struct swz_borrower *b)
{
	const uint64_t unmap[6] = {b->region, SWZ_REGION_BYTES};

	if (b->region && b->gap && nobody_is_borrowed(b))
		(void)borrow_system(b, SYS_munmap, unmap, is_unmapped);
}

/* An earlier controller may have been killed while a thread was borrowed. */
static bool is_free(struct swz_borrower *b)
{
	uint64_t end = swz_watch_now() + SWZ_BORROW_RETURN_NS;
	struct swz_stub_data data;

	do {
		if (!swz_target_read(b->target, b->region + SWZ_REGION_DATA,
				     &data,
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
