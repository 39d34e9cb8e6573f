/* All threads are stopped again and again, each time for the sites of some
 * pages, and run on in between: with half of its functions hooked, a program
 * runs as right as with all of them. */

#include "control/patch.h"

#include "control/sites.h"
#include "control/stop.h"
#include "watch/clock.h"

#define MOVES 4u           /* of threads in sites, in one stop */
#define TRIES_TO_SKIP 100u /* after so many, functions are left out */
/* What is written in one stop; and how long they run until the next one. */
#define PART_NS 2000000u
#define PAUSE_NS 2000000u

struct patching {
	struct swz_attached *attached;
	struct swz_sites sites;
	struct swz_sites_place place;
	struct swz_stop stop;
	unsigned tries; /* in which nothing could be done */
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
		swz_attached_pause(p->tries++);
	}
}

static void end(struct patching *p)
{
	swz_sites_free(&p->sites);
	swz_stop_free(&p->stop);
}

/* The library's part of the first stop. *DONE: the sites may be written. */
static bool commit(struct swz_attached *a, bool *done)
{
	const uint32_t state = swz_attached_state(a);

	*done = state == SWZ_CONTROL_COMMITTED;
	if (*done)
		return true;
	if (state != SWZ_CONTROL_PLANNED)
		return swz_attached_fail(a, "the library has given up, as "
					    "nobody was there for so long");
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

/* One stop. *DONE: something was written. */
static bool patch_part(struct patching *p, bool *done)
{
	struct swz_attached *a = p->attached;
	bool good;

	*done = false;
	(void)swz_attached_beat(a);
	if (!stop_all(p, &good))
		return good;
	if (swz_sites_come_free(&p->sites, &p->stop, p->tries))
		good = commit(a, done);
	if (*done) {
		good = swz_sites_write(&p->sites, &p->place, time_for_part()) ||
		       swz_attached_fail(a, "its code cannot be written");
		(void)swz_borrow_close_gap(&a->borrower, &p->stop);
	}
	if (good && swz_sites_are_written(&p->place))
		good = swz_attached_set_state(a, SWZ_CONTROL_RECORDING) ||
		       swz_attached_fail(a, "the process has ended");
	swz_attached_end_stop(a, &p->stop);
	return good;
}

static bool patch(struct swz_attached *a)
{
	struct patching p = {.attached = a};
	bool good = true, done;

	if (!swz_target_read_mappings(&a->target) || !swz_attached_read(a) ||
	    !swz_sites_read(&p.sites, &a->target, &a->control)) {
		end(&p);
		return swz_attached_fail(a, "its memory cannot be read");
	}
	while (good && !swz_sites_are_written(&p.place)) {
		good = p.tries <= SWZ_ATTACH_TRIES ||
		       swz_attached_fail(a, "its threads do not leave what is "
					    "to be changed");
		good = good && patch_part(&p, &done);
		if (good && !swz_sites_are_written(&p.place))
			rest(&p, done);
	}
	a->skipped = p.sites.skipped;
	end(&p);
	return good;
}

/* One stop. *DONE: something was restored. */
static bool unpatch_part(struct patching *p, bool *done)
{
	struct swz_attached *a = p->attached;
	bool good;

	*done = false;
	if (!stop_all(p, &good))
		return good;
	if (!swz_attached_read(a)) {
		good = swz_attached_fail(a, "the process has ended");
	} else if (!a->control.late_busy) {
		swz_sites_leave_islands(&p->sites, &p->stop);
		good = swz_sites_restore(&p->sites, &p->place,
					 time_for_part()) ||
		       swz_attached_fail(a, "its code cannot be written");
		*done = true;
	}
	if (good && swz_sites_are_restored(&p->place))
		(void)swz_attached_set_state(a, SWZ_CONTROL_ENDING);
	swz_attached_end_stop(a, &p->stop);
	return good;
}

static bool unpatch(struct swz_attached *a)
{
	struct patching p = {.attached = a};
	bool good = true, done;

	if (!swz_attached_read(a) ||
	    !swz_sites_read(&p.sites, &a->target, &a->control)) {
		end(&p);
		return swz_attached_fail(a, "its memory cannot be read");
	}
	while (good && !swz_sites_are_restored(&p.place)) {
		good = p.tries <= SWZ_ATTACH_TRIES ||
		       swz_attached_fail(a,
					 "it does not stop loading libraries");
		good = good && unpatch_part(&p, &done);
		if (good && !swz_sites_are_restored(&p.place))
			rest(&p, done);
	}
	end(&p);
	return good;
}

bool swz_attach_patch(struct swz_attached *a, bool wanted)
{
	return wanted ? patch(a) : unpatch(a);
}
