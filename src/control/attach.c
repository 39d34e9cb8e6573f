/* Attaches to a process and detaches from it: loads the library, writes the
 * patches while all threads stand, and at the end restores the code and the
 * stacks.
 *
 * Code is written in many short stops. Between two of them the program runs
 * with some of its functions hooked, which is as right as with all or none. So
 * whoever is killed in between leaves a process that works. */

#include "control/attach.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/syscall.h"
#include "control/target.h"
#include "watch/proc_task.h"

/* ----------------------------------------------------------------- patches */

/* All threads are stopped again and again, each time for the sites of some
 * pages, and run on in between: with half of its functions hooked, a program
 * runs as right as with all of them. */

#define MOVES 4u           /* of threads in sites, in one stop */
#define TRIES_TO_SKIP 100u /* after so many, functions are left out */
/* Sites are written for PART_NS in one stop. Then threads run for PAUSE_NS. */
#define PART_NS 2000000u
#define PAUSE_NS 2000000u

struct patching {
	struct swz_attached *attached;
	struct swz_sites sites;
	struct swz_sites_place place;
	struct swz_stop stop;
	unsigned tries;  /* in which nothing could be done */
	bool good, done; /* the latest stop; something was written in it */
};

static bool stop_all(struct patching *p, bool *good)
{
	return swz_attached_stop_all(p->attached, &p->stop, p->tries, good);
}

static uint64_t time_for_part(void)
{
	return swz_watch_now() + PART_NS;
}

static void rest(struct patching *p, bool done)
{
	if (done) {
		p->tries = 0;
		swz_watch_rest(PAUSE_NS);
	} else {
		swz_attached_pause(p->attached, p->tries++);
	}
}

static void end(struct patching *p)
{
	swz_sites_free(&p->sites);
	swz_stop_free(&p->stop);
}

static bool give_up_late(struct swz_attached *a)
{
	return swz_attached_fail(a, "the library has given up, as nobody was "
				    "there for so long");
}

/* The library's part of the first stop. *DONE: the sites may be written. */
static bool commit(struct swz_attached *a, bool *done)
{
	const uint32_t state = swz_attached_state(a);

	*done = state == SWZ_CONTROL_COMMITTED;
	if (*done)
		return true;
	if (state != SWZ_CONTROL_PLANNED)
		return give_up_late(a);
	if (!swz_attached_set_state(a, SWZ_CONTROL_COMMIT) ||
	    !swz_attached_wait_while(a, SWZ_CONTROL_COMMIT,
				     SWZ_ATTACH_ANSWER_NS))
		return swz_attached_fail(a, "the library does not answer");
	*done = a->control.state == SWZ_CONTROL_COMMITTED;
	/* or a list is about to change */
	return *done || a->control.state == SWZ_CONTROL_PLANNED ||
	       swz_attached_fail(a, "the library has given up");
}

bool swz_sites_come_free(struct swz_sites *sites, struct swz_stop *stop,
			 unsigned tries)
{
	bool skip = tries > TRIES_TO_SKIP;

	for (unsigned i = 0; i < MOVES; i++) {
		if (swz_sites_are_free(sites, stop, skip))
			return true;
		if (!swz_stop_move(stop))
			return false;
	}
	return swz_sites_are_free(sites, stop, skip);
}

/* One stop. */
static void patch_part(void *context)
{
	struct patching *p = context;
	struct swz_attached *a = p->attached;
	bool good;

	p->done = false;
	(void)swz_attached_beat(a);
	if (!stop_all(p, &p->good))
		return;
	good = true;
	if (swz_sites_come_free(&p->sites, &p->stop, p->tries))
		good = commit(a, &p->done);
	if (p->done) {
		good = swz_sites_write(&p->sites, &p->place, time_for_part()) ||
		       swz_attached_fail(a, "its code cannot be written");
		(void)swz_borrow_close_gap(&a->borrower, &p->stop);
	}
	if (good && swz_sites_are_written(&p->place))
		good = swz_attached_set_state(a, SWZ_CONTROL_RECORDING) ||
		       swz_attached_fail(a, "the process has ended");
	p->good = good;
	swz_attached_end_stop(a, &p->stop);
}

/* Its sites are not there, or no more: the library gives them back. */
static bool fail_to_read(struct swz_attached *a)
{
	return swz_attached_state(a) == SWZ_CONTROL_FAILED
		       ? give_up_late(a)
		       : swz_attached_fail(a, "its memory cannot be read");
}

static bool patch(struct swz_attached *a)
{
	struct patching p = {.attached = a};
	bool good = true;

	if (!swz_target_read_mappings(&a->target) ||
	    !swz_attached_read_sites(a, &p.sites)) {
		end(&p);
		return fail_to_read(a);
	}
	swz_interrupted_prepare(&a->target);
	while (good && !swz_sites_are_written(&p.place)) {
		good = p.tries <= SWZ_ATTACH_TRIES ||
		       swz_attached_fail(a, "its threads do not leave what is "
					    "to be changed");
		if (!good)
			break;
		swz_stop_session(patch_part, &p);
		good = p.good;
		if (good && !swz_sites_are_written(&p.place))
			rest(&p, p.done);
	}
	a->skipped = p.sites.skipped;
	end(&p);
	return good;
}

/* One stop. */
static void unpatch_part(void *context)
{
	struct patching *p = context;
	struct swz_attached *a = p->attached;
	bool good = true;

	p->done = false;
	if (!stop_all(p, &p->good))
		return;
	if (!swz_attached_read(a)) {
		good = swz_attached_fail(a, "the process has ended");
	} else if (!a->control.late_busy) {
		swz_sites_leave_islands(&p->sites, &p->stop);
		good = swz_sites_restore(&p->sites, &p->place,
					 time_for_part()) ||
		       swz_attached_fail(a, "its code cannot be written");
		p->done = true;
	}
	if (good && swz_sites_are_restored(&p->place))
		(void)swz_attached_set_state(a, SWZ_CONTROL_ENDING);
	p->good = good;
	swz_attached_end_stop(a, &p->stop);
}

static bool unpatch(struct swz_attached *a)
{
	struct patching p = {.attached = a};
	bool good = true;

	if (!swz_attached_read_sites(a, &p.sites)) {
		end(&p);
		return swz_attached_fail(a, "its memory cannot be read");
	}
	while (good && !swz_sites_are_restored(&p.place)) {
		good = p.tries <= SWZ_ATTACH_TRIES ||
		       swz_attached_fail(a,
					 "it does not stop loading libraries");
		if (!good)
			break;
		swz_stop_session(unpatch_part, &p);
		good = p.good;
		if (good && !swz_sites_are_restored(&p.place))
			rest(&p, p.done);
	}
	end(&p);
	return good;
}

bool swz_attach_patch(struct swz_attached *a, bool wanted)
{
	return wanted ? patch(a) : unpatch(a);
}

/* ----------------------------------------------------- the end of a detach */

static void forget_threads(const struct swz_attached *a,
			   const struct swz_stop *stop)
{
	static const uint64_t nothing[2];

	for (size_t i = 0; i < stop->count; i++) {
		uint64_t base = stop->threads[i].registers.fs_base;
		uint64_t at = base + (uint64_t)a->control.thread_slot;
		uint64_t there;

		if (!swz_target_read(&a->target, at, &there, sizeof(there)) ||
		    !there)
			continue;
		(void)swz_target_write(&a->target, at, &a->control.nobody,
				       sizeof(a->control.nobody));
		(void)swz_target_write(&a->target,
				       base + (uint64_t)a->control.count_slot,
				       nothing, sizeof(nothing));
	}
}

/* Reads the sites that are left: the inner ones, and those of a thread that
 * was about to hook what it had loaded. */
static bool read_rest(struct swz_attached *a, struct swz_sites *sites)
{
	if (!swz_attached_read_sites(a, sites))
		return swz_attached_fail(a, "its memory cannot be read");
	swz_sites_keep_written(sites);
	return true;
}

/* In the stop: whether nothing has come to the sites since they were read. */
static bool is_current(struct swz_attached *a, const struct swz_sites *sites)
{
	return swz_attached_read(a) &&
	       sites->changes == a->control.site_changes;
}

/* With all threads stopped, and none in code of ours. */
static bool close_profile(struct swz_attached *a, const struct swz_stop *stop,
			  const struct swz_sites *rest)
{
	if (!swz_sites_restore_rest(rest))
		return swz_attached_fail(a, "its code cannot be written");
	(void)swz_borrow_close_gap(&a->borrower, stop);
	forget_threads(a, stop);
	if (!swz_attached_set_state(a, SWZ_CONTROL_FINISHING) ||
	    !swz_attached_wait_while(a, SWZ_CONTROL_FINISHING,
				     SWZ_ATTACH_ANSWER_NS) ||
	    a->control.state != SWZ_CONTROL_ENDED)
		return swz_attached_fail(a, "the library does not answer");
	return true;
}

/* That of an earlier controller, which was killed. */
static bool closer_waits(struct swz_attached *a)
{
	if (!a->taken_over || swz_attached_state(a) != SWZ_CONTROL_ENDING ||
	    !swz_attached_beat(a))
		return false;
	swz_watch_rest(5000000); /* until it has seen that */
	return swz_attached_agent(a) != 0;
}

/* The thread that is to close the profile has its name as soon as it runs. */
static bool closer_is_there(struct swz_attached *a)
{
	uint64_t end = swz_watch_now() + SWZ_ATTACH_ANSWER_NS;

	while (swz_attached_read(a) && swz_watch_now() < end) {
		if (swz_attached_agent(a))
			return true;
		swz_watch_rest(SWZ_ATTACH_LOOK_NS);
	}
	return false;
}

struct finishing {
	struct swz_attached *attached;
	struct swz_stop stop;
	struct swz_control_code *code;
	struct swz_sites rest;
	uint32_t code_count;
	bool good, done;
};

static void stop_to_close(void *context)
{
	struct finishing *c = context;
	struct swz_attached *a = c->attached;
	enum swz_stop_result result;

	result = swz_attached_try_stop(a, &c->stop);
	if (result != SWZ_STOP_DONE) {
		c->good = result == SWZ_STOP_LATE ||
			  swz_attached_fail(a, "%s", swz_stop_problem(result));
		return;
	}
	c->done = swz_nobody_stays_in_us(a, c->code, &c->stop) &&
		  is_current(a, &c->rest) &&
		  a->control.code_count == c->code_count;
	if (c->done)
		c->good = close_profile(a, &c->stop, &c->rest);
	swz_attached_end_stop(a, &c->stop);
}

/* One stop. ->done: it was the last. */
static bool try_to_close(struct finishing *c)
{
	struct swz_attached *a = c->attached;

	c->done = false;
	(void)swz_attached_beat(a);
	c->good = read_rest(a, &c->rest);
	c->code_count = a->control.code_count;
	c->code = c->good ? swz_our_code_read(a) : NULL;
	if (c->code && swz_target_read_mappings(&a->target)) {
		swz_interrupted_prepare(&a->target);
		swz_stop_session(stop_to_close, c);
	} else {
		c->good = swz_attached_fail(a, "its memory cannot be read");
	}
	free(c->code);
	swz_sites_free(&c->rest);
	return c->good;
}

bool swz_attach_finish(struct swz_attached *a)
{
	struct finishing c = {.attached = a};
	bool good = true;

	if (!closer_waits(a) &&
	    !swz_injected_call_when_free(a, a->control.finish, 0, false))
		return false;
	if (!closer_is_there(a))
		return swz_attached_fail(a, "the process has ended");
	for (unsigned i = 0; good && !c.done && i <= SWZ_ATTACH_TRIES; i++) {
		good = try_to_close(&c);
		if (!c.done)
			swz_attached_pause(a, i);
	}
	swz_stop_free(&c.stop);
	return good &&
	       (c.done ||
		swz_attached_fail(a, "a thread of it does not leave a hook"));
}

/* ------------------------------------------------------- attach and detach */

/* True if somebody else's attach goes on, that of the parent process. (A
 * controller of this process would have the lock.) */
static bool has_controller(const struct swz_attached *a)
{
	const struct swz_control *c = &a->control;

	return c->state != SWZ_CONTROL_IDLE && c->state != SWZ_CONTROL_ENDED &&
	       c->state != SWZ_CONTROL_FAILED &&
	       swz_process_start(c->controller_pid) == c->controller_start;
}

/* The library is there: of an attach that is over, or of one whose
 * controller was killed, which is brought to its end. */
static bool take_over(struct swz_attached *a)
{
	uint32_t state;

	if (!swz_injected_find(a) || !a->control.region)
		return true; /* nothing has begun */
	if (has_controller(a))
		return swz_attached_fail(
			a,
			"it was forked by a process that swizzle-run -p (%d) "
			"profiles, and is being profiled, too",
			(int)a->control.controller_pid);
	if (!swz_borrow_begin(&a->borrower, a->control.region))
		return swz_attached_fail(a, "%s", a->borrower.problem);
	/* its thread finds that nobody is there, or has been told to go on */
	for (uint64_t end = swz_watch_now() + 2 * SWZ_CONTROL_PATIENCE_NS;
	     (state = swz_attached_state(a)) == SWZ_CONTROL_PLANNING ||
	     state == SWZ_CONTROL_PLANNED || state == SWZ_CONTROL_COMMIT ||
	     state == SWZ_CONTROL_ABANDONED || state == SWZ_CONTROL_FINISHING;
	     swz_watch_rest(SWZ_ATTACH_LOOK_NS)) {
		if (state == SWZ_CONTROL_PLANNED)
			(void)swz_attached_set_state(a, SWZ_CONTROL_ABANDONED);
		if (swz_watch_now() > end)
			return swz_attached_fail(
				a, "an earlier attach is not over");
	}
	if (state == SWZ_CONTROL_COMMITTED || state == SWZ_CONTROL_RECORDING ||
	    state == SWZ_CONTROL_ENDING) {
		a->taken_over = true;
		return swz_attach_end(a);
	}
	return true;
}

/* Passes the library's reason on, in a line of its own. */
static bool pass_on(struct swz_attached *a)
{
	static const char prefix[] = "swizzle: ";
	const char *text = a->control.message;
	int length = a->control.message_bytes <= sizeof(a->control.message)
			     ? (int)a->control.message_bytes
			     : 0;

	if (length > (int)sizeof(prefix) &&
	    strncmp(text, prefix, sizeof(prefix) - 1) == 0) {
		text += sizeof(prefix) - 1;
		length -= (int)sizeof(prefix) - 1;
	}
	while (length && text[length - 1] == '\n')
		length--;
	return swz_attached_fail(
		a,
		"%.*s (the process writes it itself, with the rights of "
		"its user)",
		length, text);
}

/* A library that was loaded keeps its memory for the next time. */
static bool is_known_to_library(struct swz_attached *a)
{
	return a->control_at && swz_attached_read(a) &&
	       a->control.region == a->borrower.region;
}

/* Nothing of ours stays in its code: once no thread is there that was led to
 * it.
 */
struct closing {
	struct swz_attached *attached;
	struct swz_stop stop;
	enum swz_stop_result result;
	bool closed;
};

static void close_gap(void *context)
{
	struct closing *c = context;
	struct swz_attached *a = c->attached;

	c->result = swz_attached_try_stop(a, &c->stop);
	if (c->result != SWZ_STOP_DONE)
		return;
	c->closed = swz_borrow_close_gap(&a->borrower, &c->stop);
	swz_attached_end_stop(a, &c->stop);
}

static bool give_up(struct swz_attached *a)
{
	struct closing c = {.attached = a};

	if (!is_known_to_library(a))
		swz_borrow_unmap(&a->borrower);
	for (unsigned i = 0; i < SWZ_ATTACH_TRIES && !c.closed; i++) {
		swz_stop_session(close_gap, &c);
		if (c.result != SWZ_STOP_DONE && c.result != SWZ_STOP_LATE)
			break;
		if (!c.closed)
			swz_attached_pause(a, i);
	}
	swz_stop_free(&c.stop);
	return false;
}

static bool has_begun(struct swz_attached *a,
		      const struct swz_attach_settings *settings)
{
	struct swz_sites sites;
	uint64_t result;
	bool released;

	if (!swz_injected_load(a, settings->library, settings->environment) ||
	    !swz_attached_wait_while(a, SWZ_CONTROL_PLANNING, UINT64_MAX / 4))
		return a->problem[0]
			       ? false
			       : swz_attached_fail(a, "the process has ended");
	if (a->control.state != SWZ_CONTROL_PLANNED)
		return pass_on(a);
	/* while no module can be unloaded, and its place be somebody's */
	if (!swz_target_read_mappings(&a->target) ||
	    !swz_attached_read_sites(a, &sites))
		return fail_to_read(a);
	swz_sites_copy_pages(&sites);
	swz_sites_free(&sites);
	/* One that is unloaded from now on has nothing to be patched. */
	a->borrower.heartbeat = a->control_at +
				offsetof(struct swz_control, heartbeat);
	released = swz_injected_call(a, a->control.release, 0, 0, true,
				     &result);
	/* (it would keep alive who waits for a controller that was killed) */
	a->borrower.heartbeat = 0;
	return released && swz_attach_patch(a, true);
}

bool swz_attach_begin(struct swz_attached *a,
		      const struct swz_attach_settings *settings)
{
	if (!swz_attached_open(a, settings->pid) || !swz_attached_lock(a, 0))
		return false;
	a->target.stand_in = settings->library;
	if (swz_injected_was_preloaded(a))
		return swz_attached_fail(
			a, "it is being profiled by swizzle already");
	if (swz_injected_mapping(&a->target) && !take_over(a))
		return false;
	if (!a->borrower.region && !swz_borrow_begin(&a->borrower, 0)) {
		(void)swz_attached_fail(a, "%s", a->borrower.problem);
		return give_up(a);
	}
	a->stops = (struct swz_stop_times){0};
	a->borrower.stopped_ns = 0;
	return has_begun(a, settings) || give_up(a);
}

bool swz_attach_goes_on(struct swz_attached *a)
{
	return swz_attached_read(a);
}

bool swz_attach_end(struct swz_attached *a)
{
	a->stops = (struct swz_stop_times){0};
	a->borrower.stopped_ns = 0;
	return swz_attached_read(a) && swz_attach_patch(a, false) &&
	       swz_attach_finish(a);
}

void swz_attach_free(struct swz_attached *a)
{
	swz_attached_close(a);
}
