/* A mutex has one holder at a time, and each holder's lock returns before it
 * unlocks, which is before the next one's lock returns. So the order in which
 * locks return is the order in which threads had it. Whoever had asked before
 * the last holder gave it up has waited for that. */

#include <stdlib.h>

#include "profile/flows/calls.h"
#include "profile/support/memory.h"

#define OWNER_DIED 130 /* EOWNERDEAD: it is locked all the same */

struct moment {
	struct swz_flow_call *call;
	uint64_t mutex, ticks;
	bool takes; /* else: gives up */
};

static int compare(const void *left, const void *right)
{
	const struct moment *a = left, *b = right;

	if (a->call->process != b->call->process)
		return a->call->process < b->call->process ? -1 : 1;
	if (a->mutex != b->mutex)
		return a->mutex < b->mutex ? -1 : 1;
	return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

struct holder {
	uint32_t thread;
	unsigned depth;                    /* recursive mutexes; 0: nobody */
	const struct swz_flow_call *given; /* how it was given up last */
};

static void follow(struct swz_flows *flows, struct holder *h,
		   const struct moment *m)
{
	bool own = h->depth && h->thread == m->call->thread;

	if (!m->takes) {
		if (!own)
			return;
		if (--h->depth == 0)
			h->given = m->call;
		return;
	}
	if (own) {
		h->depth++;
		return;
	}
	if (h->depth)
		h->given = NULL; /* how it was given up was not seen */
	if (h->given && h->given->thread != m->call->thread &&
	    m->call->kind == SWZ_CALL_LOCK && h->given->begin > m->call->begin)
		swz_flow_between(flows, h->given, m->call);
	h->thread = m->call->thread;
	h->depth = 1;
}

/* Whether a process has locks that others may have, too, or calls are missing;
 * by process. To be freed. */
static bool *find_unknown(const struct swz_flow_calls *calls)
{
	bool *unknown = swz_allocate(calls->profile_count + 1,
				     sizeof(*unknown));
	bool any_shared = false;
	size_t i;

	for (i = 0; i < calls->count; i++)
		any_shared |= calls->of[i].kind == SWZ_CALL_SHARED &&
			      calls->of[i].key == 1;
	for (i = 0; i < calls->profile_count; i++)
		unknown[i] = calls->lost[i] || any_shared;
	return unknown;
}

void swz_flow_match_locks(struct swz_flows *flows, struct swz_flow_calls *calls)
{
	struct swz_flow_call **list;
	struct moment *moments;
	struct holder holder = {0};
	bool *unknown = find_unknown(calls);
	size_t count, i, n = 0;

	list = swz_flow_calls_of(calls,
				 SWZ_CALLS(LOCK) | SWZ_CALLS(UNLOCK) |
					 SWZ_CALLS(COND_WAIT),
				 false, &count);
	moments = swz_allocate(2 * count + 1, sizeof(*moments));
	for (i = 0; i < count; i++) {
		struct swz_flow_call *call = list[i];
		bool waits = call->kind == SWZ_CALL_COND_WAIT;
		uint64_t mutex = waits ? call->other : call->key;

		if (call->kind == SWZ_CALL_UNLOCK || waits)
			moments[n++] = (struct moment){call, mutex, call->begin,
						       false};
		if (call->ended && (waits || (call->kind == SWZ_CALL_LOCK &&
					      (call->result == 0 ||
					       call->result == OWNER_DIED))))
			moments[n++] = (struct moment){call, mutex, call->end,
						       true};
	}
	if (n)
		qsort(moments, n, sizeof(*moments), compare);
	for (i = 0; i < n; i++) {
		const struct moment *m = &moments[i];

		if (!i || m[-1].mutex != m->mutex ||
		    m[-1].call->process != m->call->process)
			holder = (struct holder){0};
		if (!unknown[m->call->process])
			follow(flows, &holder, m);
	}
	free(moments);
	free(list);
	free(unknown);
}
