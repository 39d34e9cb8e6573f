/* A wait on a condition is ended by a signal that came while it waited. If it
 * is the only one that waits then, it is certain that the signal was for it; if
 * several are, only a broadcast is for all of them. A semaphore's units are
 * like the bytes of a pipe. */

#include <stdlib.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

/* Waits that have begun, and none woke them yet. */
struct waiting {
	struct swz_flow_call **of;
	size_t count;
};

static void drop_ended(struct waiting *w, uint64_t ticks)
{
	size_t i, n = 0;

	for (i = 0; i < w->count; i++)
		if (!w->of[i]->has_cause && w->of[i]->end > ticks)
			w->of[n++] = w->of[i];
	w->count = n;
}

static void doubt(struct swz_flows *flows, struct swz_flow_call *wait)
{
	if (!wait->is_doubted && wait->ended && wait->result == 0)
		flows->doubts[SWZ_FLOW_ORDER]++;
	wait->is_doubted = true;
}

static void wake(struct swz_flows *flows, struct waiting *w,
		 const struct swz_flow_call *by)
{
	bool all = by->kind == SWZ_CALL_COND_WAKE_ALL, any_late = false;
	size_t i;

	for (i = 0; i < w->count; i++) /* it began while this was called */
		any_late |= w->of[i]->begin > by->begin;
	for (i = 0; i < w->count; i++) {
		struct swz_flow_call *wait = w->of[i];

		if (wait->is_doubted)
			continue;
		if (wait->begin > by->begin ||
		    (!all && (w->count > 1 || any_late))) {
			doubt(flows, wait);
			continue;
		}
		wait->has_cause = true;
		if (wait->ended && wait->result == 0)
			swz_flow_between(flows, by, wait);
	}
}

static bool is_wait(const struct swz_flow_call *call)
{
	return call->kind == SWZ_CALL_COND_WAIT;
}

static void match_condition(struct swz_flows *flows,
			    struct swz_flow_call **list, size_t count,
			    struct waiting *w)
{
	size_t i, j;

	w->count = 0;
	for (i = j = 0; i < count; i++) {
		if (is_wait(list[i]))
			continue;
		for (; j < count && list[j]->begin < list[i]->end; j++)
			if (is_wait(list[j]))
				w->of[w->count++] = list[j];
		drop_ended(w, list[i]->begin);
		wake(flows, w, list[i]);
	}
}

static bool same_object(const struct swz_flow_call *a,
			const struct swz_flow_call *b)
{
	return a->process == b->process && a->key == b->key;
}

static size_t end_of_object(struct swz_flow_call **list, size_t count, size_t i)
{
	size_t end = i + 1;

	while (end < count && same_object(list[i], list[end]))
		end++;
	return end;
}

static bool has_shared(const struct swz_flow_calls *calls)
{
	size_t i;

	for (i = 0; i < calls->count; i++)
		if (calls->of[i].kind == SWZ_CALL_SHARED &&
		    calls->of[i].key == 1)
			return true;
	return false;
}

static void match_conditions(struct swz_flows *flows,
			     struct swz_flow_calls *calls)
{
	struct waiting waiting;
	size_t count, i, end;
	struct swz_flow_call **list = swz_flow_calls_of(
		calls,
		SWZ_CALLS(COND_WAIT) | SWZ_CALLS(COND_WAKE) |
			SWZ_CALLS(COND_WAKE_ALL),
		false, &count);

	waiting.of = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	for (i = 0; i < count; i = end) {
		end = end_of_object(list, count, i);
		if (!calls->lost[list[i]->process])
			match_condition(flows, list + i, end - i, &waiting);
	}
	free(waiting.of);
	free(list);
}

/* From its sem_init to the next one. */
static void match_semaphore(struct swz_flows *flows,
			    struct swz_flow_call **list, size_t count,
			    struct swz_flow_call **posts,
			    struct swz_flow_call **waits)
{
	size_t i, post_count = 0, wait_count = 0;

	if (list[0]->kind != SWZ_CALL_SEM_INIT ||
	    list[0]->other & SWZ_SEM_SHARED)
		return;
	for (i = 1; i < count; i++) {
		if (!list[i]->ended) {
			if (list[i]->kind == SWZ_CALL_SEM_WAIT)
				continue;
			break;
		}
		if (list[i]->result)
			continue;
		if (list[i]->kind == SWZ_CALL_SEM_POST)
			posts[post_count++] = list[i];
		else
			waits[wait_count++] = list[i];
	}
	swz_flow_stream(flows, posts, post_count, waits, wait_count,
			list[0]->other, true, true);
}

static void match_semaphores(struct swz_flows *flows,
			     struct swz_flow_calls *calls)
{
	struct swz_flow_call **posts, **waits;
	size_t count, i, end;
	struct swz_flow_call **list = swz_flow_calls_of(
		calls,
		SWZ_CALLS(SEM_INIT) | SWZ_CALLS(SEM_POST) | SWZ_CALLS(SEM_WAIT),
		false, &count);

	posts = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	waits = swz_allocate(count + 1, sizeof(struct swz_flow_call *));
	for (i = 0; i < count; i = end) {
		for (end = i + 1; end < count &&
				  same_object(list[i], list[end]) &&
				  list[end]->kind != SWZ_CALL_SEM_INIT;)
			end++;
		if (!calls->lost[list[i]->process])
			match_semaphore(flows, list + i, end - i, posts, waits);
	}
	free(posts);
	free(waits);
	free(list);
}

void swz_flow_match_conditions(struct swz_flows *flows,
			       struct swz_flow_calls *calls)
{
	if (!has_shared(calls))
		match_conditions(flows, calls);
	match_semaphores(flows, calls);
}
