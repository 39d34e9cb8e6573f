/* One session with a process: its memory, the lock that keeps a second
 * controller out, and the state word by which this process and the library's
 * thread take turns (base/control.h). The process can end or execute another
 * program at any moment, so each read can fail, and the first failure's reason
 * is kept in ->problem. */

#include "control/attach.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/control.h"
#include "base/printable.h"
#include "base/resume_call.h"
#include "base/syscall.h"
#include "control/target.h"
#include "watch/proc_task.h"

/* ------------------------------------------------------------- the session */

/* After the first ones; then longer, as a thread may have to wait for a
 * processor before it is elsewhere. */
#define SWZ_ATTACH_PAUSE_NS UINT64_C(500000)
#define SWZ_ATTACH_LONGEST_PAUSE_NS 10000000u
/* So many stops that are too late double the time of the next ones, so often.
 */
#define LATES 8u
#define MOST_TIMES 4u
#define READS 100u /* of sites that move */

/* In the midst of it the new program has no stack yet. */
bool swz_attached_has_executed(const struct swz_attached *a)
{
	const int32_t pid = a->target.pid;
	struct swz_proc_task now;

	return a->start_stack && swz_proc_task_read(pid, pid, &now) &&
	       now.state != 'Z' && now.state != 'X' &&
	       now.start_stack != a->start_stack;
}

bool swz_attached_fail(struct swz_attached *a, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(a->problem, sizeof(a->problem), format, arguments);
	va_end(arguments);
	if (swz_attached_has_executed(a))
		snprintf(a->problem, sizeof(a->problem),
			 "it has executed another program meanwhile. Try "
			 "again");
	return false;
}

static void note_stop(struct swz_attached *a, uint64_t ns)
{
	if (ns > a->longest_ns)
		a->longest_ns = ns;
	if (ns > a->stops.longest_ns)
		a->stops.longest_ns = ns;
}

/* A machine that has too much to do for its threads to stop within that time is
 * given more, by and by. */
static uint64_t most_ns(const struct swz_attached *a)
{
	unsigned times = a->lates / LATES;

	return (uint64_t)SWZ_STOP_MOST_NS
	       << (times < MOST_TIMES ? times : MOST_TIMES);
}

enum swz_stop_result swz_attached_try_stop(struct swz_attached *a,
					   struct swz_stop *stop)
{
	enum swz_stop_result result;

	memcpy(stop->code, a->borrower.code, sizeof(stop->code));
	stop->most_ns = most_ns(a);
	result = swz_stop_all(stop, a->target.pid, swz_attached_agent(a));
	a->lates = result == SWZ_STOP_LATE ? a->lates + 1 : 0;
	if (result != SWZ_STOP_DONE)
		note_stop(a, stop->lasted_ns);
	return result;
}

bool swz_attached_stop_all(struct swz_attached *a, struct swz_stop *stop,
			   unsigned tries, bool *good)
{
	enum swz_stop_result result;

	result = swz_attached_try_stop(a, stop);
	*good = result == SWZ_STOP_DONE ||
		(result == SWZ_STOP_LATE && tries < SWZ_ATTACH_TRIES) ||
		swz_attached_fail(a, "%s", swz_stop_problem(result));
	return result == SWZ_STOP_DONE;
}

void swz_attached_end_stop(struct swz_attached *a, struct swz_stop *stop)
{
	uint64_t gathering_ns = stop->stopped_ns - stop->began_ns;
	uint64_t ns = swz_stop_end(stop);

	a->stops.count++;
	a->stops.sum_ns += ns;
	a->stops.gathering_ns += gathering_ns;
	note_stop(a, ns);
	if (ns - gathering_ns > a->stops.longest_work_ns)
		a->stops.longest_work_ns = ns - gathering_ns;
}

uint64_t swz_attached_longest_ns(const struct swz_attached *a)
{
	return a->longest_ns > a->borrower.longest_ns ? a->longest_ns
						      : a->borrower.longest_ns;
}

static double in_ms(uint64_t ns)
{
	return (double)ns / 1e6;
}

void swz_attached_tell_stops(const struct swz_attached *a,
			     char text[SWZ_STOPS_BYTES])
{
	const struct swz_stop_times *s = &a->stops;
	int length = snprintf(
		text, SWZ_STOPS_BYTES,
		"all threads stopped %u time%s: the longest for %.1f ms (%.1f "
		"with all stopped), %.1f ms in total (%.1f until all stopped)",
		s->count, s->count == 1 ? "" : "s", in_ms(s->longest_ns),
		in_ms(s->longest_work_ns), in_ms(s->sum_ns),
		in_ms(s->gathering_ns));

	if (a->borrower.stopped_ns)
		snprintf(text + length, SWZ_STOPS_BYTES - (size_t)length,
			 "; one thread alone for %.1f ms",
			 in_ms(a->borrower.stopped_ns));
}

void swz_attached_pause(const struct swz_attached *a, unsigned tries)
{
	uint64_t ns = SWZ_ATTACH_PAUSE_NS * (1u + tries / 2);

	if (ns > SWZ_ATTACH_LONGEST_PAUSE_NS)
		ns = SWZ_ATTACH_LONGEST_PAUSE_NS;
	/* (they are to run for longer than they were stopped) */
	if (a->lates)
		ns = 2 * most_ns(a);
	swz_watch_rest(ns);
}

bool swz_attached_open(struct swz_attached *a, int32_t pid)
{
	struct swz_proc_task task;

	*a = (struct swz_attached){.target = {.memory = -1}, .lock = -1};
	if (swz_proc_task_read(pid, pid, &task))
		a->start_stack = task.start_stack;
	if (!swz_target_open(&a->target, pid))
		return swz_attached_fail(a, "its memory cannot be opened: %s",
					 strerror(errno));
	if (!swz_target_read_mappings(&a->target))
		return swz_attached_fail(a, "/proc/%d/maps cannot be read: %s",
					 (int)pid, strerror(errno));
	a->borrower.target = &a->target;
	return true;
}

void swz_attached_close(struct swz_attached *a)
{
	swz_borrow_end(&a->borrower);
	swz_target_close(&a->target);
	if (a->lock >= 0)
		close(a->lock);
	a->lock = -1;
}

static bool try_to_lock(struct swz_attached *a)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int length = snprintf(
		name.sun_path + 1, sizeof(name.sun_path) - 1,
		"swizzle-attach-%d-%llu", (int)a->target.pid,
		(unsigned long long)swz_process_start(a->target.pid));

	return bind(a->lock, (struct sockaddr *)&name,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
				(size_t)length)) == 0;
}

bool swz_attached_lock(struct swz_attached *a, uint64_t wait_ns)
{
	uint64_t end = swz_watch_now() + wait_ns;

	a->lock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (a->lock < 0)
		return true; /* there are no sockets here */
	while (!try_to_lock(a)) {
		if (swz_watch_now() >= end)
			return swz_attached_fail(
				a, "it is being profiled by swizzle already: "
				   "by another swizzle-run -p");
		swz_watch_rest(SWZ_ATTACH_LOOK_NS);
	}
	return true;
}

/* ---------------------------------------------------------- taking turns */

bool swz_attached_read(struct swz_attached *a)
{
	struct swz_control *c = &a->control;

	if (!swz_target_read(&a->target, a->control_at, c, sizeof(*c)) ||
	    c->magic != SWZ_CONTROL_MAGIC ||
	    c->version != SWZ_CONTROL_VERSION || c->bytes != sizeof(*c))
		return false;
	a->borrower.code[0] = c->resume;
	c->path[sizeof(c->path) - 1] = '\0';
	/* our terminal takes some of what a process says for commands */
	c->message[sizeof(c->message) - 1] = '\0';
	swz_make_printable(c->path, "");
	swz_make_printable(c->message, "\n");
	return true;
}

bool swz_attached_read_sites(struct swz_attached *a, struct swz_sites *sites)
{
	for (unsigned i = 0; i < READS && swz_attached_read(a); i++) {
		uint64_t at = a->control.sites;
		bool good = swz_sites_read(sites, &a->target, &a->control);
		bool there = swz_attached_read(a);

		if (good && there && a->control.sites == at)
			return true;
		swz_sites_free(sites);
		if (!there || a->control.sites == at)
			return false;
	}
	return false;
}

bool swz_attached_set_state(const struct swz_attached *a, uint32_t state)
{
	return swz_target_write(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
}

uint32_t swz_attached_state(const struct swz_attached *a)
{
	uint32_t state = SWZ_CONTROL_FAILED;

	(void)swz_target_read(
		&a->target, a->control_at + offsetof(struct swz_control, state),
		&state, sizeof(state));
	return state;
}

/* Looks for the task that is the library's own, by its name and by its number
 * in the process's namespace: the last one of NSpid. */
struct agent_search {
	int32_t pid, inner, found;
};

static void look_for_agent(void *context, int32_t tid)
{
	struct agent_search *s = context;
	char path[64], line[512];
	bool named = false;
	FILE *file;

	if (s->found)
		return;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)s->pid,
		 (int)tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last = strrchr(line, '\t');

		if (strncmp(line, "Name:", 5) == 0)
			named = strcmp(line, "Name:\tswizzle\n") == 0;
		if (named && last && strncmp(line, "NSpid:", 6) == 0 &&
		    atoi(last + 1) == s->inner)
			s->found = tid;
		if (!named)
			break;
	}
	if (file)
		fclose(file);
}

int32_t swz_attached_agent(const struct swz_attached *a)
{
	struct agent_search s = {.pid = a->target.pid,
				 .inner = a->control.agent_tid};
	char path[64];

	if (!s.inner)
		return 0;
	/* most often they are the same */
	look_for_agent(&s, s.inner);
	if (!s.found) {
		snprintf(path, sizeof(path), "/proc/%d/task", (int)s.pid);
		swz_proc_numbers(path, look_for_agent, &s);
	}
	return s.found;
}

bool swz_attached_beat(const struct swz_attached *a)
{
	uint64_t now = swz_watch_now();

	return swz_target_write(&a->target,
				a->control_at +
					offsetof(struct swz_control, heartbeat),
				&now, sizeof(now));
}

bool swz_attached_wait_while(struct swz_attached *a, uint32_t state,
			     uint64_t ns)
{
	uint64_t end = swz_watch_now() + ns;

	while (swz_attached_state(a) == state) {
		if (!swz_attached_beat(a) || swz_watch_now() > end)
			return false;
		swz_watch_rest(SWZ_ATTACH_LOOK_NS);
	}
	return swz_attached_read(a);
}

/* ------------------------------------------ threads in code of the library */

#define MOVES 4u /* of threads in hooks, in one stop */

/* True if a thread executes code of ours. */
static bool is_ours(const struct swz_attached *a,
		    const struct swz_control_code *code, uint32_t count,
		    uint64_t address)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(&a->target,
								   address);

	/* (a thread may wait there for long, and needs no state of ours) */
	if (a->control.resume && address - a->control.resume < RESUME_BYTES)
		return false;
	if (m && swz_target_is_library(m->path))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (address >= code[i].start && address < code[i].end)
			return true;
	return false;
}

struct swz_control_code *swz_our_code_read(const struct swz_attached *a)
{
	uint32_t count = a->control.code_count;
	struct swz_control_code *code;

	if (count > SWZ_CONTROL_MOST_CODE)
		return NULL;
	code = calloc(count + 1, sizeof(*code));
	if (code && swz_target_read(&a->target, a->control.code, code,
				    count * sizeof(*code)))
		return code;
	free(code);
	return NULL;
}

struct look {
	const struct swz_attached *attached;
	const struct swz_control_code *code;
	uint32_t count;
	bool found;
};

/* A handler that has interrupted the library's C code counts, too: it leads
 * back to a hook. */
static bool look_at(void *context, uint64_t address)
{
	struct look *look = context;

	look->found = is_ours(look->attached, look->code, look->count, address);
	return !look->found;
}

bool swz_is_in_us(const struct swz_attached *a,
		  const struct swz_control_code *code,
		  const struct swz_stopped *thread)
{
	struct look look = {a, code, a->control.code_count, false};
	const struct swz_cut_call cut = {
		.pid = a->target.pid,
		.tid = thread->tid,
		.code = {a->borrower.code[0], a->borrower.code[1]}};

	if (is_ours(a, code, a->control.code_count,
		    swz_call_origin(&cut, &thread->registers).rip))
		return true;
	swz_interrupted_each(&a->target, &thread->registers, look_at, &look);
	return look.found;
}

/* Marks those of which that is not true. */
static bool nobody_is_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    struct swz_stop *stop)
{
	bool nobody = true;

	for (size_t i = 0; i < stop->count; i++) {
		struct swz_stopped *t = &stop->threads[i];

		t->astray = swz_is_in_us(a, code, t);
		nobody = nobody && !t->astray;
	}
	return nobody;
}

bool swz_nobody_stays_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    struct swz_stop *stop)
{
	for (unsigned i = 0; i < MOVES; i++) {
		if (nobody_is_in_us(a, code, stop))
			return true;
		if (!swz_stop_move(stop))
			return false;
	}
	return nobody_is_in_us(a, code, stop);
}
