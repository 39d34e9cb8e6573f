#include "control/patch.h"

#include <stddef.h>

#include "control/sites.h"
#include "control/stop.h"
#include "watch/clock.h"

#define TRIES_TO_SKIP 100u /* after so many, functions are left out */

/* In the stop: the library's part, then the sites. *DONE: that was possible. */
static bool commit(struct swz_attached *a, const struct swz_sites *sites,
		   bool *done)
{
	*done = false;
	if (swz_attached_state(a) == SWZ_CONTROL_PLANNED) {
		if (!swz_attached_set_state(a, SWZ_CONTROL_COMMIT) ||
		    !swz_attached_wait_while(a, SWZ_CONTROL_COMMIT,
					     SWZ_ATTACH_ANSWER_NS))
			return swz_attached_fail(a,
						 "the library does not answer");
		if (a->control.state == SWZ_CONTROL_PLANNED)
			return true; /* a list is about to change */
		if (a->control.state != SWZ_CONTROL_COMMITTED)
			return swz_attached_fail(a, "the library has given up");
	}
	*done = true;
	if (!swz_sites_write(sites))
		return swz_attached_fail(a, "its code cannot be written");
	return swz_attached_set_state(a, SWZ_CONTROL_RECORDING) ||
	       swz_attached_fail(a, "the process has ended");
}

static bool try_patch(struct swz_attached *a, struct swz_sites *sites,
		      struct swz_stop *stop, unsigned attempt, bool *done)
{
	enum swz_stop_result result = swz_stop_all(stop, a->target.pid,
						   a->control.agent_tid);
	bool good = true;

	*done = false;
	if (result == SWZ_STOP_LATE && attempt < SWZ_ATTACH_TRIES)
		return true;
	if (result != SWZ_STOP_DONE)
		return swz_attached_fail(a, "%s", swz_stop_problem(result));
	if (swz_sites_are_free(sites, stop, attempt > TRIES_TO_SKIP)) {
		good = commit(a, sites, done);
		swz_borrow_close_gap(&a->borrower);
	}
	a->patch_stop_ns = swz_stop_end(stop);
	swz_attached_note_stop(a, a->patch_stop_ns);
	return good;
}

static bool patch(struct swz_attached *a)
{
	struct swz_sites sites;
	struct swz_stop stop = {0};
	bool done = false, good = true;

	if (!swz_target_read_mappings(&a->target) ||
	    !swz_sites_read(&sites, &a->target, &a->control))
		return swz_attached_fail(a, "its memory cannot be read");
	for (unsigned i = 0; good && !done && i <= SWZ_ATTACH_TRIES; i++) {
		(void)swz_attached_beat(a);
		good = try_patch(a, &sites, &stop, i, &done);
		if (!done)
			swz_watch_rest(1000000);
	}
	if (good && !done)
		good = swz_attached_fail(
			a, "its threads do not leave what is to be "
			   "changed");
	a->skipped = sites.skipped;
	swz_sites_free(&sites);
	swz_stop_free(&stop);
	return good;
}

static bool unpatch(struct swz_attached *a)
{
	struct swz_sites sites = {0};
	struct swz_stop stop = {0};
	bool done = false, good = true;

	for (unsigned i = 0; good && !done && i <= SWZ_ATTACH_TRIES; i++) {
		enum swz_stop_result result;

		result = swz_stop_all(&stop, a->target.pid,
				      a->control.agent_tid);
		if (result == SWZ_STOP_LATE && i < SWZ_ATTACH_TRIES)
			continue;
		if (result != SWZ_STOP_DONE)
			return swz_attached_fail(a, "%s",
						 swz_stop_problem(result));
		if (!swz_attached_read(a) ||
		    !swz_sites_read(&sites, &a->target, &a->control)) {
			good = swz_attached_fail(a,
						 "its memory cannot be read");
		} else if (!a->control.late_busy) {
			swz_sites_leave_islands(&sites, &stop);
			good = swz_sites_restore(&sites, SWZ_PHASE_JUMP) ||
			       swz_attached_fail(a,
						 "its code cannot be written");
			(void)swz_attached_set_state(a, SWZ_CONTROL_ENDING);
			done = true;
		}
		swz_sites_free(&sites);
		swz_attached_note_stop(a, swz_stop_end(&stop));
		if (!done)
			swz_watch_rest(1000000);
	}
	swz_stop_free(&stop);
	return good &&
	       (done ||
		swz_attached_fail(a, "it does not stop loading libraries"));
}

bool swz_attach_patch(struct swz_attached *a, bool wanted)
{
	return wanted ? patch(a) : unpatch(a);
}
