#include "control/finish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control/interrupted.h"
#include "control/injected.h"
#include "control/sites.h"
#include "control/stop.h"
#include "watch/clock.h"

#define MOVES 4u /* of threads in hooks, in one stop */

/* Whether a thread executes code of ours. */
static bool is_ours(const struct swz_attached *a,
		    const struct swz_control_code *code, uint32_t count,
		    uint64_t address)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(&a->target,
								   address);

	if (m && swz_target_is_library(m->path))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (address >= code[i].start && address < code[i].end)
			return true;
	return false;
}

/* The code that the library has made, to be freed. */
static struct swz_control_code *read_code(const struct swz_attached *a)
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
	const struct swz_control_code *code;
	uint32_t count;
	bool found;
};

static bool look_at(void *context, uint64_t word)
{
	struct look *look = context;

	for (uint32_t i = 0; i < look->count; i++)
		if (word >= look->code[i].start && word < look->code[i].end)
			look->found = true;
	return !look->found;
}

/* Nor will it be again, when it returns from a signal's handler. Marks those of
 * which that is not true. */
static bool nobody_is_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    struct swz_stop *stop)
{
	bool nobody = true;

	for (size_t i = 0; i < stop->count; i++) {
		struct swz_stopped *t = &stop->threads[i];
		struct look look = {code, a->control.code_count, false};

		if (is_ours(a, code, a->control.code_count, t->registers.rip))
			look.found = true;
		else
			swz_interrupted_each(&a->target, &t->registers, look_at,
					     &look);
		t->astray = look.found;
		nobody = nobody && !look.found;
	}
	return nobody;
}

/* Those that are in a hook leave it soon. */
static bool nobody_stays_in_us(const struct swz_attached *a,
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
static bool try_to_close(struct swz_attached *a,
			 const struct swz_control_code *code,
			 struct swz_stop *stop, bool *done)
{
	struct swz_sites rest = {0};
	enum swz_stop_result result;
	bool good = true;

	*done = false;
	(void)swz_attached_beat(a);
	if (!read_rest(a, &rest)) {
		swz_sites_free(&rest);
		return false;
	}
	result = swz_stop_all(stop, a->target.pid, swz_attached_agent(a));
	if (result == SWZ_STOP_DONE) {
		*done = nobody_stays_in_us(a, code, stop) &&
			is_current(a, &rest);
		if (*done)
			good = close_profile(a, stop, &rest);
		swz_attached_end_stop(a, stop);
	} else if (result != SWZ_STOP_LATE) {
		good = swz_attached_fail(a, "%s", swz_stop_problem(result));
	}
	swz_sites_free(&rest);
	return good;
}

bool swz_attach_finish(struct swz_attached *a)
{
	struct swz_control_code *code;
	struct swz_stop stop = {0};
	bool done = false, good = true;

	if (!closer_waits(a) &&
	    !swz_injected_call_when_free(a, a->control.finish, 0, false))
		return false;
	if (!closer_is_there(a))
		return swz_attached_fail(a, "the process has ended");
	code = read_code(a);
	if (!code || !swz_target_read_mappings(&a->target)) {
		free(code);
		return swz_attached_fail(a, "its memory cannot be read");
	}
	for (unsigned i = 0; good && !done && i <= SWZ_ATTACH_TRIES; i++) {
		good = try_to_close(a, code, &stop, &done);
		if (!done)
			swz_attached_pause(i);
	}
	free(code);
	swz_stop_free(&stop);
	return good &&
	       (done ||
		swz_attached_fail(a, "a thread of it does not leave a hook"));
}
