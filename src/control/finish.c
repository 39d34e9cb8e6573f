#include "control/finish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/injected.h"
#include "control/our_code.h"
#include "control/sites.h"
#include "control/stop.h"
#include "watch/clock.h"

static void forget_threads(const struct swz_attached *a,
			   const struct swz_stop *stop)
{
	for (size_t i = 0; i < stop->count; i++) {
		uint64_t at = stop->threads[i].registers.fs_base +
			      (uint64_t)a->control.thread_slot;
		uint64_t there;

		if (swz_target_read(&a->target, at, &there, sizeof(there)) &&
		    there)
			(void)swz_target_write(&a->target, at,
					       &a->control.nobody,
					       sizeof(a->control.nobody));
	}
}

/* What is left of the sites: the inner ones, and those of a thread that was
 * about to hook what it had loaded. */
static bool read_rest(struct swz_attached *a, struct swz_sites *sites)
{
	if (!swz_attached_read(a) ||
	    !swz_sites_read(sites, &a->target, &a->control))
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

/* One stop. *DONE: it was the last. */
static bool try_to_close(struct swz_attached *a, struct swz_stop *stop,
			 bool *done)
{
	struct swz_control_code *code = NULL;
	struct swz_sites rest = {0};
	enum swz_stop_result result;
	uint32_t code_count;
	bool good;

	*done = false;
	(void)swz_attached_beat(a);
	good = read_rest(a, &rest);
	code_count = a->control.code_count;
	if (good)
		code = swz_our_code_read(a);
	if (!code || !swz_target_read_mappings(&a->target)) {
		free(code);
		swz_sites_free(&rest);
		return swz_attached_fail(a, "its memory cannot be read");
	}
	result = swz_stop_all(stop, a->target.pid, swz_attached_agent(a));
	if (result == SWZ_STOP_DONE) {
		*done = swz_nobody_stays_in_us(a, code, stop) &&
			is_current(a, &rest) &&
			a->control.code_count == code_count;
		if (*done)
			good = close_profile(a, stop, &rest);
		swz_attached_end_stop(a, stop);
	} else if (result != SWZ_STOP_LATE) {
		good = swz_attached_fail(a, "%s", swz_stop_problem(result));
	}
	free(code);
	swz_sites_free(&rest);
	return good;
}

bool swz_attach_finish(struct swz_attached *a)
{
	struct swz_stop stop = {0};
	bool done = false, good = true;

	if (!closer_waits(a) &&
	    !swz_injected_call_when_free(a, a->control.finish, 0, false))
		return false;
	if (!closer_is_there(a))
		return swz_attached_fail(a, "the process has ended");
	for (unsigned i = 0; good && !done && i <= SWZ_ATTACH_TRIES; i++) {
		good = try_to_close(a, &stop, &done);
		if (!done)
			swz_attached_pause(i);
	}
	swz_stop_free(&stop);
	return good &&
	       (done ||
		swz_attached_fail(a, "a thread of it does not leave a hook"));
}
