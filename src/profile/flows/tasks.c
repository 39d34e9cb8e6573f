/* Threads are known by their pthread_t, processes by their pid, each in its
 * time: both are given away again. */

#include "profile/flows/calls.h"

#include <stdlib.h>

#include "profile/file/events.h"
#include "profile/support/memory.h"

/* Within the first call that the thread makes, so that an arrow can end in it;
 * START where it makes none. */
static uint64_t first_call(const struct swz_flow_calls *calls, size_t process,
			   uint32_t thread, uint64_t start)
{
	const struct swz_profile *profile = calls->profiles[process];
	struct swz_events *events = swz_events_open(profile,
						    &profile->threads[thread]);
	struct swz_event event;

	if (swz_events_next(events, &event) && event.begins &&
	    !event.untraced && event.ticks >= start)
		start = event.ticks + 1;
	swz_events_close(events);
	return start;
}

static struct swz_flow_end start_of(const struct swz_flow_calls *calls,
				    size_t process, const char *what)
{
	const struct swz_profile *profile = calls->profiles[process];
	struct swz_flow_end end = {(uint32_t)process, 0, UINT64_MAX, what};
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].record.start_ticks < end.ticks) {
			end.thread = (uint32_t)i;
			end.ticks = profile->threads[i].record.start_ticks;
		}
	if (profile->thread_count)
		end.ticks = first_call(calls, process, end.thread, end.ticks);
	return end;
}

static struct swz_flow_end last_of(const struct swz_flow_calls *calls,
				   size_t process)
{
	const struct swz_profile *profile = calls->profiles[process];
	struct swz_flow_end end = {(uint32_t)process, 0, 0, "process"};
	size_t i;

	for (i = 0; i < profile->thread_count; i++)
		if (profile->threads[i].last_ticks > end.ticks) {
			end.thread = (uint32_t)i;
			end.ticks = profile->threads[i].last_ticks;
		}
	return end;
}

/* ------------------------------------------------------------- threads */

/* The thread with that pthread_t whose start is the first from FROM on (FIRST),
 * or the last before TO. */
static const struct swz_flow_thread *thread_of(
	const struct swz_flow_calls *calls, uint32_t process, uint64_t self,
	uint64_t from, uint64_t to, bool first)
{
	const struct swz_flow_thread *found = NULL;
	size_t low = 0, high = calls->thread_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct swz_flow_thread *t = &calls->threads[middle];

		if (t->process < process ||
		    (t->process == process &&
		     (t->self < self || (t->self == self && t->start < from))))
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < calls->thread_count; low++) {
		const struct swz_flow_thread *t = &calls->threads[low];

		if (t->process != process || t->self != self || t->start > to)
			break;
		found = t;
		if (first)
			break;
	}
	return found;
}

static void match_threads(struct swz_flows *flows, struct swz_flow_calls *calls)
{
	size_t count, i;
	struct swz_flow_call **list = swz_flow_calls_of(
		calls, SWZ_CALLS(CREATE) | SWZ_CALLS(JOIN), false, &count);

	for (i = 0; i < count; i++) {
		const struct swz_flow_call *call = list[i];
		bool creates = call->kind == SWZ_CALL_CREATE;
		const struct swz_flow_thread *t;
		size_t next = i + 1;
		uint64_t until = creates ? UINT64_MAX : call->end;

		if (!call->ended || call->result || !call->key)
			continue;
		while (next < count && (list[next]->process != call->process ||
					list[next]->kind != call->kind))
			next++;
		if (creates && next < count && list[next]->key == call->key)
			until = list[next]->begin;
		t = thread_of(calls, call->process, call->key,
			      creates ? call->begin : 0, until, creates);
		if (!t || (!creates && t->last > call->end))
			flows->doubts[SWZ_FLOW_OUTSIDE]++;
		else if (creates)
			swz_flow_add(flows, swz_flow_at_begin(call),
				     (struct swz_flow_end){
					     t->process, t->thread,
					     first_call(calls, t->process,
							t->thread, t->start),
					     "thread"});
		else
			swz_flow_add(flows,
				     (struct swz_flow_end){t->process,
							   t->thread, t->last,
							   "thread"},
				     swz_flow_at_end(call));
	}
	free(list);
}

/* ----------------------------------------------------------- processes */

/* How the process began: by the latest call of that kind before. */
static void match_start(struct swz_flows *flows, struct swz_flow_calls *calls,
			size_t process, struct swz_flow_call **list,
			size_t count, bool forked)
{
	const struct swz_file_header *h = &calls->profiles[process]->header;
	struct swz_flow_end to = start_of(calls, process,
					  forked ? "process" : "exec");
	const struct swz_flow_call *found = NULL;
	struct swz_flow_end from;
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t pid = list[i]->kind == SWZ_CALL_EXEC
				       ? list[i]->key
				       : (uint64_t)list[i]->result;

		if (pid == (uint64_t)h->pid && list[i]->begin < to.ticks &&
		    (!found || list[i]->begin > found->begin))
			found = list[i];
	}
	if (found && to.ticks != UINT64_MAX) {
		uint64_t last = calls->profiles[found->process]
					->threads[found->thread]
					.last_ticks;

		from = swz_flow_at_begin(found);
		if (!forked && from.ticks > last)
			from.ticks = last; /* when its calls end */
		swz_flow_add(flows, from, to);
	} else if (forked)
		flows->doubts[SWZ_FLOW_OUTSIDE]++;
}

/* A child's end, before its parent was told of it. */
static void match_wait(struct swz_flows *flows, struct swz_flow_calls *calls,
		       const struct swz_flow_call *call)
{
	struct swz_flow_end latest = {.ticks = 0};
	bool goes_on = false;
	size_t i;

	if (!call->ended || call->result < 0 || !call->key ||
	    call->key > INT32_MAX)
		return;
	for (i = 0; i < calls->profile_count; i++) {
		struct swz_flow_end end = last_of(calls, i);

		if ((uint64_t)calls->profiles[i]->header.pid != call->key ||
		    calls->profiles[i]->header.start_ticks > call->end)
			continue;
		goes_on |= end.ticks > call->end;
		if (end.ticks > latest.ticks)
			latest = end;
	}
	if (latest.ticks && !goes_on)
		swz_flow_add(flows, latest, swz_flow_at_end(call));
	else if (!latest.ticks)
		flows->doubts[SWZ_FLOW_OUTSIDE]++;
}

static void match_processes(struct swz_flows *flows,
			    struct swz_flow_calls *calls)
{
	size_t fork_count, exec_count, wait_count, i;
	struct swz_flow_call **forks = swz_flow_calls_of(calls, SWZ_CALLS(FORK),
							 true, &fork_count);
	struct swz_flow_call **execs = swz_flow_calls_of(calls, SWZ_CALLS(EXEC),
							 true, &exec_count);
	struct swz_flow_call **waits = swz_flow_calls_of(calls, SWZ_CALLS(WAIT),
							 true, &wait_count);

	for (i = 0; i < calls->profile_count; i++) {
		if (!(calls->profiles[i]->header.flags & SWZ_FILE_FLOWS))
			continue;
		if (calls->profiles[i]->header.flags & SWZ_FILE_FORKED)
			match_start(flows, calls, i, forks, fork_count, true);
		else
			match_start(flows, calls, i, execs, exec_count, false);
	}
	for (i = 0; i < wait_count; i++)
		match_wait(flows, calls, waits[i]);
	free(forks);
	free(execs);
	free(waits);
}

void swz_flow_match_tasks(struct swz_flows *flows, struct swz_flow_calls *calls)
{
	match_threads(flows, calls);
	match_processes(flows, calls);
}
