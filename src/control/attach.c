#include "control/attach.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/process_start.h"
#include "control/finish.h"
#include "control/injected.h"
#include "control/patch.h"
#include "control/sites.h"
#include "control/stop.h"
#include "watch/clock.h"

/* Whether somebody else's attach goes on: of that process's parent, as its own
 * would have the lock. */
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

/* What the library says of why it cannot: a line of its own. */
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

/* Of a library that was loaded the memory stays for the next time. */
static bool is_known_to_library(struct swz_attached *a)
{
	return a->control_at && swz_attached_read(a) &&
	       a->control.region == a->borrower.region;
}

/* Nothing of ours stays in its code: once no thread is there that was led to
 * it.
 */
static bool give_up(struct swz_attached *a)
{
	struct swz_stop stop = {0};
	bool closed = false;

	if (!is_known_to_library(a))
		swz_borrow_unmap(&a->borrower);
	for (unsigned i = 0; i < SWZ_ATTACH_TRIES && !closed; i++) {
		enum swz_stop_result result = swz_stop_all(
			&stop, a->target.pid, swz_attached_agent(a));

		if (result == SWZ_STOP_DONE) {
			closed = swz_borrow_close_gap(&a->borrower, &stop);
			(void)swz_stop_end(&stop);
		}
		if (result != SWZ_STOP_DONE && result != SWZ_STOP_LATE)
			break;
		if (!closed)
			swz_attached_pause(i);
	}
	swz_stop_free(&stop);
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
	    !swz_sites_read(&sites, &a->target, &a->control))
		return swz_attached_fail(a, "its memory cannot be read");
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

bool swz_attach_open(struct swz_attached *a, int32_t pid)
{
	if (!swz_attached_open(a, pid))
		return false;
	if (!swz_injected_find(a) || !a->control.region)
		return swz_attached_fail(
			a, "it is not being profiled by an attach");
	return swz_borrow_begin(&a->borrower, a->control.region) ||
	       swz_attached_fail(a, "%s", a->borrower.problem);
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
