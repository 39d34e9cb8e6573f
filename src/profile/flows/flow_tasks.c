/* Flows from the start of a thread or process, to those who wait for its end,
 * and from the sender of a signal to its handler; and the function that finds
 * the flows of all kinds. */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "profile/file/events.h"
#include "profile/flows/flows.h"

/* --- threads and processes ----------------------------------------------- */

/* Threads are known by their pthread_t, processes by their pid, each in its
 * time: both are given away again. */

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

static void flow_match_tasks(struct swz_flows *flows,
			     struct swz_flow_calls *calls)
{
	match_threads(flows, calls);
	match_processes(flows, calls);
}

/* --- signals ------------------------------------------------------------- */

/* A signal that another process or thread has sent shows as a call of its
 * handler that the kernel has made: it returns to libc. A signal that is sent
 * twice before its handler runs may come once; so only one that was sent alone
 * since the last call of the handler is certain to have caused the next. */

/* A signal that was sent to a process. */
struct sent {
	const struct swz_flow_call *call;
	uint32_t process;
	uint64_t signal;
	uint64_t handler; /* the function's address */
};

/* A call of a handler. */
struct handled {
	uint64_t handler, ticks;
	uint32_t thread;
};

/* The process with a pid, or with a thread of that number, at a moment. */
static uint32_t process_of(const struct swz_flow_calls *calls, uint64_t id,
			   bool is_thread, uint64_t ticks)
{
	uint32_t found = SWZ_INDEX_NONE;
	uint64_t start = 0;
	size_t i, j;

	for (i = 0; i < calls->profile_count; i++) {
		const struct swz_profile *p = calls->profiles[i];
		bool is_it = !is_thread && (uint64_t)p->header.pid == id;

		for (j = 0; is_thread && j < p->thread_count && !is_it; j++)
			is_it = (uint64_t)p->threads[j].record.tid == id;
		if (is_it && p->header.start_ticks <= ticks &&
		    p->header.start_ticks >= start) {
			start = p->header.start_ticks;
			found = (uint32_t)i;
		}
	}
	return found;
}

static uint32_t parent_of(const struct swz_flow_calls *calls, uint32_t process)
{
	const struct swz_file_header *h = &calls->profiles[process]->header;

	if (!(h->flags & SWZ_FILE_FORKED))
		return SWZ_INDEX_NONE;
	return process_of(calls, (uint64_t)h->parent_pid, false,
			  h->start_ticks);
}

/* The handler of a signal at a moment; 0 and 1: there is none. */
static uint64_t handler_of(const struct swz_flow_calls *calls,
			   struct swz_flow_call **set, size_t count,
			   uint32_t process, uint64_t signal, uint64_t ticks)
{
	size_t levels = calls->profile_count;

	while (process != SWZ_INDEX_NONE && levels--) {
		const struct swz_flow_call *latest = NULL;
		size_t i;

		for (i = 0; i < count; i++)
			if (set[i]->process == process &&
			    set[i]->key == signal && !set[i]->is_doubted &&
			    set[i]->ended && !set[i]->result &&
			    set[i]->begin <= ticks &&
			    (!latest || set[i]->begin > latest->begin))
				latest = set[i];
		if (latest)
			return latest->other;
		ticks = calls->profiles[process]->header.start_ticks;
		process = parent_of(calls, process);
	}
	return 0;
}

static int compare_sent(const void *left, const void *right)
{
	const struct sent *a = left, *b = right;

	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->handler != b->handler)
		return a->handler < b->handler ? -1 : 1;
	if (a->call->begin != b->call->begin)
		return a->call->begin < b->call->begin ? -1 : 1;
	return 0;
}

static int compare_handled(const void *left, const void *right)
{
	const struct handled *a = left, *b = right;

	if (a->handler != b->handler)
		return a->handler < b->handler ? -1 : 1;
	return a->ticks < b->ticks ? -1 : a->ticks > b->ticks;
}

static bool is_in_libc(const struct swz_profile *profile, uint64_t address)
{
	uint32_t module = swz_profile_module_at(profile, address);
	const char *path, *name;

	if (module == SWZ_INDEX_NONE)
		return false;
	path = profile->modules[module].path;
	name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	return strncmp(name, "libc.", 5) == 0 ||
	       strncmp(name, "libc-", 5) == 0 ||
	       strncmp(name, "libpthread", 10) == 0;
}

static uint64_t address_of(const struct swz_profile *profile, uint32_t function)
{
	const struct swz_profile_function *f;

	if (function >= profile->function_count)
		return 0;
	f = &profile->functions[function];
	return f->module == SWZ_INDEX_NONE
		       ? 0
		       : profile->modules[f->module].record.load_bias +
				 f->address;
}

static bool is_wanted(const struct sent *sent, size_t count, uint64_t address)
{
	size_t i;

	for (i = 0; i < count && address; i++)
		if (sent[i].handler == address)
			return true;
	return false;
}

static struct handled *find_handled(const struct swz_profile *profile,
				    const struct sent *sent, size_t sent_count,
				    size_t *count)
{
	struct handled *list = NULL;
	size_t capacity = 0, i;
	struct swz_event event;

	*count = 0;
	for (i = 0; i < profile->thread_count; i++) {
		struct swz_events *events = swz_events_open(
			profile, &profile->threads[i]);

		while (swz_events_next(events, &event)) {
			uint64_t address;

			if (!event.begins || event.cut || event.untraced ||
			    event.how != SWZ_EVENT_ENTER)
				continue;
			address = address_of(profile, event.function);
			if (!is_wanted(sent, sent_count, address) ||
			    !is_in_libc(profile, event.call_site))
				continue;
			swz_grow(&list, &capacity, *count, sizeof(*list));
			list[(*count)++] = (struct handled){
				address, event.ticks, (uint32_t)i};
		}
		swz_events_close(events);
	}
	if (*count)
		qsort(list, *count, sizeof(*list), compare_handled);
	return list;
}

/* Matches the calls of one handler in one process. */
static void match_handler(struct swz_flows *flows, const struct sent *sent,
			  size_t sent_count, const struct handled *handled,
			  size_t handled_count)
{
	size_t at = 0, i, first;

	for (i = 1; i < sent_count; i++)
		if (sent[i].signal != sent->signal) {
			/* which of its signals it ran for is not known */
			flows->doubts[SWZ_FLOW_ORDER] += handled_count;
			return;
		}
	for (i = 0; i < handled_count; i++) {
		for (first = at; at < sent_count &&
				 sent[at].call->begin < handled[i].ticks;)
			at++;
		if (at - first == 1)
			swz_flow_add(flows, swz_flow_at_begin(sent[first].call),
				     (struct swz_flow_end){sent[first].process,
							   handled[i].thread,
							   handled[i].ticks + 1,
							   "signal"});
		else if (at > first)
			flows->doubts[SWZ_FLOW_ORDER]++;
	}
}

static void match_process(struct swz_flows *flows,
			  const struct swz_flow_calls *calls,
			  const struct sent *sent, size_t count)
{
	size_t handled_count, i, end, at = 0, from;
	struct handled *handled = find_handled(calls->profiles[sent->process],
					       sent, count, &handled_count);

	for (i = 0; i < count; i = end) {
		for (end = i + 1;
		     end < count && sent[end].handler == sent[i].handler;)
			end++;
		while (at < handled_count &&
		       handled[at].handler < sent[i].handler)
			at++;
		for (from = at; at < handled_count &&
				handled[at].handler == sent[i].handler;)
			at++;
		match_handler(flows, sent + i, end - i, handled + from,
			      at - from);
	}
	free(handled);
}

static bool aim(const struct swz_flow_calls *calls,
		const struct swz_flow_call *call, struct sent *sent)
{
	size_t i;

	if (!call->ended || call->result || !call->other ||
	    (int64_t)call->key <= 0)
		return false;
	*sent = (struct sent){
		.call = call, .signal = call->other, .process = SWZ_INDEX_NONE};
	if (call->kind == SWZ_CALL_KILL_THREAD) {
		for (i = 0; i < calls->thread_count; i++)
			if (calls->threads[i].process == call->process &&
			    calls->threads[i].self == call->key)
				sent->process = call->process;
	} else {
		sent->process = process_of(calls, call->key,
					   call->kind == SWZ_CALL_KILL_TID,
					   call->begin);
	}
	return sent->process != SWZ_INDEX_NONE;
}

static void flow_match_signals(struct swz_flows *flows,
			       struct swz_flow_calls *calls)
{
	size_t kill_count, set_count, count = 0, i, end;
	struct swz_flow_call **kills = swz_flow_calls_of(
		calls,
		SWZ_CALLS(KILL) | SWZ_CALLS(KILL_TID) | SWZ_CALLS(KILL_THREAD),
		true, &kill_count);
	struct swz_flow_call **set = swz_flow_calls_of(
		calls, SWZ_CALLS(HANDLER), true, &set_count);
	struct sent *sent = swz_allocate(kill_count + 1, sizeof(*sent));

	for (i = 0; i < kill_count; i++) {
		struct sent *s = &sent[count];

		if (!aim(calls, kills[i], s))
			continue;
		s->handler = handler_of(calls, set, set_count, s->process,
					s->signal, kills[i]->end);
		count += s->handler > 1; /* not SIG_DFL, SIG_IGN */
	}
	if (count)
		qsort(sent, count, sizeof(*sent), compare_sent);
	for (i = 0; i < count; i = end) {
		for (end = i + 1;
		     end < count && sent[end].process == sent[i].process;)
			end++;
		match_process(flows, calls, sent + i, end - i);
	}
	free(sent);
	free(set);
	free(kills);
}

/* --- all flows ----------------------------------------------------------- */

static void list_places(struct swz_flows *flows)
{
	size_t i;

	flows->places = swz_allocate(2 * flows->count + 1,
				     sizeof(*flows->places));
	for (i = 0; i < flows->count; i++) {
		const struct swz_flow *f = &flows->of[i];

		flows->places[2 * i] = (struct swz_flow_place){
			f->from.process, f->from.thread, f->from.ticks,
			(uint32_t)i, false};
		flows->places[2 * i + 1] = (struct swz_flow_place){
			f->to.process, f->to.thread, f->to.ticks, (uint32_t)i,
			true};
	}
	if (flows->count)
		qsort(flows->places, 2 * flows->count, sizeof(*flows->places),
		      swz_flow_places_compare);
}

struct swz_flows *swz_flows_find(struct swz_profile *const *profiles,
				 size_t count)
{
	struct swz_flow_calls calls;
	struct swz_flows *flows;
	bool any = false;
	size_t i;

	for (i = 0; i < count; i++)
		any |= profiles[i]->header.flags & SWZ_FILE_FLOWS;
	if (!any)
		return NULL;
	flows = swz_allocate(1, sizeof(*flows));
	swz_flow_calls_read(&calls, profiles, count);
	flow_match_tasks(flows, &calls);
	swz_flow_match_locks(flows, &calls);
	swz_flow_match_conditions(flows, &calls);
	flow_match_signals(flows, &calls);
	swz_flow_match_data(flows, &calls);
	swz_flow_calls_free(&calls);
	list_places(flows);
	return flows;
}
