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

/* ----------------------------- a process that was started with the library */

#define WAIT_NS UINT64_C(20000000000) /* for another controller */
#define PART_NS 2000000u              /* as in patch.c */
#define REST_NS 2000000u
#define TRIES_TO_SKIP 100u

bool swz_native_open(struct swz_attached *a, int32_t pid)
{
	if (!swz_attached_open(a, pid))
		return false;
	if (!swz_injected_find(a))
		return swz_attached_fail(
			a, "its library is of another version of swizzle");
	if (!a->control.preloaded)
		return swz_attached_fail(a,
					 "swizzle-run -p has attached to it");
	if (!a->control.site_count)
		return swz_attached_fail(a, "it has no memory for the list of "
					    "what was changed");
	return swz_attached_lock(a, WAIT_NS) &&
	       (swz_attached_read(a) ||
		swz_attached_fail(a, "the process has ended"));
}

static bool set_word(const struct swz_attached *a, size_t offset,
		     uint32_t value)
{
	return swz_target_write(&a->target, a->control_at + offset, &value,
				sizeof(value));
}

static bool set_code_state(struct swz_attached *a, enum swz_code_state state)
{
	return set_word(a, offsetof(struct swz_control, code_state), state) ||
	       swz_attached_fail(a, "the process has ended");
}

static bool cannot_write(struct swz_attached *a)
{
	return swz_attached_fail(a, "its code cannot be written");
}

struct change {
	struct swz_attached *attached;
	struct swz_sites sites;
	struct swz_sites_place place;
	struct swz_control_code *code;
	uint32_t code_count;
	struct swz_stop stop;
	unsigned tries; /* in which nothing could be done */
	bool done;
	bool put_back, good, some; /* the latest stop; a part was done in it */
};

/* The list of our code, as it is now. */
static bool read_code(struct change *change)
{
	free(change->code);
	change->code_count = change->attached->control.code_count;
	change->code = swz_our_code_read(change->attached);
	return change->code ||
	       swz_attached_fail(change->attached, "its memory cannot be read");
}

/* ------------------------------------------------------------- taking out */

static bool read_word(const struct swz_attached *a, uint64_t at, uint64_t *word)
{
	return swz_target_read(&a->target, at, word, sizeof(*word));
}

/* Its next hook finds that it was paused. It runs none of our code now. */
static void pause_thread(const struct swz_attached *a,
			 const struct swz_stopped *t)
{
	const struct swz_control *c = &a->control;
	uint64_t base = t->registers.fs_base, state, file;

	if (!base || !read_word(a, base + (uint64_t)c->thread_slot, &state) ||
	    !state || state == c->nobody || state == c->paused ||
	    !read_word(a, state + c->file_offset, &file) || file != c->file)
		return;
	if (swz_target_write(&a->target, base + (uint64_t)c->paused_state_slot,
			     &state, sizeof(state)))
		(void)swz_target_write(&a->target,
				       base + (uint64_t)c->thread_slot,
				       &c->paused, sizeof(c->paused));
}

/* In the last stop. One that does not leave our code is left alone: it learns
 * of the pause by itself, or is taken to do what it does. */
static bool pause_threads(struct change *change)
{
	const struct swz_attached *a = change->attached;

	if (change->code_count != a->control.code_count && !read_code(change))
		return false;
	if (change->tries < TRIES_TO_SKIP &&
	    !swz_nobody_stays_in_us(a, change->code, &change->stop))
		return false;
	for (size_t i = 0; i < change->stop.count; i++)
		if (!swz_is_in_us(a, change->code, &change->stop.threads[i]))
			pause_thread(a, &change->stop.threads[i]);
	return true;
}

/* The part of one stop: *SOME: something was done. */
static bool take_out_part(struct change *change, bool *some)
{
	struct swz_attached *a = change->attached;

	if (!swz_sites_are_restored(&change->place)) {
		*some = true;
		swz_sites_leave_islands(&change->sites, &change->stop);
		if (!set_code_state(a, SWZ_CODE_CHANGING))
			return false;
		if (!swz_sites_restore(&change->sites, &change->place,
				       swz_watch_now() + PART_NS))
			return cannot_write(a);
	}
	if (!swz_sites_are_restored(&change->place) || !pause_threads(change))
		return true;
	change->done = true;
	if (!swz_sites_restore_rest(&change->sites))
		return cannot_write(a);
	return set_code_state(a, SWZ_CODE_NATIVE);
}

/* ------------------------------------------------------------ putting back */

static bool put_back_part(struct change *change, bool *some)
{
	struct swz_attached *a = change->attached;

	if (!swz_sites_come_free(&change->sites, &change->stop, change->tries))
		return true;
	*some = true;
	if (!set_code_state(a, SWZ_CODE_CHANGING) ||
	    !set_word(a, offsetof(struct swz_control, was_hooked), 1))
		return false;
	if (!swz_sites_write(&change->sites, &change->place,
			     swz_watch_now() + PART_NS))
		return cannot_write(a);
	if (!swz_sites_are_written(&change->place))
		return true;
	change->done = true;
	(void)set_word(a, offsetof(struct swz_control, left_out),
		       (uint32_t)swz_sites_left_out(&change->sites));
	return set_code_state(a, SWZ_CODE_HOOKED);
}

/* --------------------------------------------------------------- the loop */

/* One stop. */
static void change_part(void *context)
{
	struct change *change = context;
	struct swz_attached *a = change->attached;
	bool good = true;

	change->some = false;
	if (!swz_attached_stop_all(a, &change->stop, change->tries,
				   &change->good))
		return;
	if (!swz_attached_read(a))
		good = swz_attached_fail(a, "the process has ended");
	else if (a->control.site_changes != change->sites.changes)
		good = swz_attached_fail(a, "it loads libraries");
	else if (!a->control.late_busy)
		good = change->put_back ? put_back_part(change, &change->some)
					: take_out_part(change, &change->some);
	change->good = good;
	swz_attached_end_stop(a, &change->stop);
}

static bool begin(struct change *change, bool put_back)
{
	struct swz_attached *a = change->attached;

	if (!swz_target_read_mappings(&a->target) ||
	    !swz_attached_read_sites(a, &change->sites))
		return swz_attached_fail(a, "its memory cannot be read");
	swz_interrupted_prepare(&a->target);
	if (put_back)
		swz_sites_skip_again(&change->sites);
	else
		swz_sites_leave_what_stays(&change->sites);
	return read_code(change);
}

/* *CHANGED: its list of sites has, so that all is to be done again. */
static bool try_change(struct swz_attached *a, bool put_back, bool *changed)
{
	struct change change = {.attached = a, .put_back = put_back};
	bool good = begin(&change, put_back);

	while (good && !change.done) {
		good = change.tries <= SWZ_ATTACH_TRIES ||
		       swz_attached_fail(a, "its threads do not leave what is "
					    "to be changed");
		if (!good)
			break;
		swz_stop_session(change_part, &change);
		good = change.good;
		if (!good || change.done)
			break;
		if (change.some)
			swz_watch_rest(REST_NS);
		else
			swz_attached_pause(a, change.tries);
		change.tries = change.some ? 0 : change.tries + 1;
	}
	*changed = change.sites.changes != a->control.site_changes;
	swz_sites_free(&change.sites);
	swz_stop_free(&change.stop);
	free(change.code);
	return good;
}

static bool change(struct swz_attached *a, bool put_back)
{
	bool good, changed;

	for (unsigned i = 0; i < SWZ_ATTACH_TRIES; i++) {
		good = try_change(a, put_back, &changed);
		if (good || !changed)
			break;
	}
	return good;
}

bool swz_native_take_out(struct swz_attached *a)
{
	return a->control.code_state == SWZ_CODE_NATIVE || change(a, false);
}

bool swz_native_put_back(struct swz_attached *a)
{
	return a->control.code_state == SWZ_CODE_HOOKED || change(a, true);
}

bool swz_native_detach(struct swz_attached *a)
{
	if (a->control.state == SWZ_CONTROL_ENDED)
		return true;
	return (swz_borrow_begin(&a->borrower, a->control.region) ||
		swz_attached_fail(a, "%s", a->borrower.problem)) &&
	       set_code_state(a, SWZ_CODE_CHANGING) &&
	       swz_attach_patch(a, false) && swz_attach_finish(a) &&
	       set_code_state(a, SWZ_CODE_NATIVE);
}

/* ------------------------------- processes that were forked while attached */

/* A child has a copy of all that is ours in its parent, at the same addresses:
 * code, library, its thread's borrowed stack. In the library's control block it
 * says who attached. So children of children are found, too, and those whose
 * parent has ended; and each is detached from as its parent was. */

#define ROUNDS 50u /* they may fork meanwhile */

struct search {
	const struct swz_attached *parent;
	uint64_t our_start;
	struct swz_child_processes *children;
	bool again;
};

static bool is_open(uint32_t state)
{
	return state != SWZ_CONTROL_IDLE && state != SWZ_CONTROL_ENDED &&
	       state != SWZ_CONTROL_FAILED;
}

static bool is_ours(const struct search *s, const struct swz_attached *child)
{
	return child->control.controller_pid == getpid() &&
	       child->control.controller_start == s->our_start &&
	       is_open(child->control.state);
}

/* Forked while the library's thread planned: nothing is patched, but modules
 * are held. */
static bool release(struct swz_attached *child)
{
	uint64_t result;

	return swz_injected_call(child, child->control.release, 0, 0, true,
				 &result);
}

static bool end(struct swz_attached *child)
{
	if (!swz_attached_lock(child, 0))
		return false;
	if (!swz_borrow_begin(&child->borrower, child->control.region))
		return swz_attached_fail(child, "%s", child->borrower.problem);
	switch (child->control.state) {
	case SWZ_CONTROL_COMMITTED:
	case SWZ_CONTROL_RECORDING:
		return swz_attach_patch(child, false) &&
		       swz_attach_finish(child);
	case SWZ_CONTROL_ENDING:
		return swz_attach_finish(child);
	default:
		return release(child) && swz_attach_finish(child);
	}
}

static bool open_ours(const struct search *s, struct swz_attached *child,
		      int32_t pid)
{
	if (!swz_attached_open(child, pid))
		return false;
	child->control_at = s->parent->control_at;
	return swz_attached_read(child) && is_ours(s, child);
}

/* One that has ended, or executes another program, runs no hook any more. */
static bool is_hooked_still(const struct search *s, int32_t pid)
{
	struct swz_attached child;
	bool is = open_ours(s, &child, pid);

	swz_attached_close(&child);
	return is && swz_process_runs(pid);
}

static void look_at(void *context, int32_t pid)
{
	struct search *s = context;
	struct swz_child_processes *children = s->children;
	struct swz_attached child;

	/* (it began after us) */
	if (pid == getpid() || pid == s->parent->target.pid ||
	    swz_process_start(pid) < s->our_start)
		return;
	if (open_ours(s, &child, pid)) {
		if (end(&child)) {
			children->ended++;
			s->again = true;
		} else if (is_hooked_still(s, pid)) {
			children->left++;
			snprintf(children->problem, sizeof(children->problem),
				 "process %d: %.900s", (int)pid, child.problem);
		}
	}
	swz_attached_close(&child);
}

void swz_attach_end_children(const struct swz_attached *attached,
			     struct swz_child_processes *children)
{
	struct search search = {.parent = attached,
				.our_start = swz_process_start(0),
				.children = children,
				.again = true};

	*children = (struct swz_child_processes){0};
	for (unsigned i = 0; search.again && i < ROUNDS; i++) {
		search.again = false;
		children->left = 0;
		swz_proc_numbers("/proc", look_at, &search);
	}
}
