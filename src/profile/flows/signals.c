/* A signal that another process or thread has sent shows as a call of its
 * handler that the kernel has made: it returns to libc. A signal that is sent
 * twice before its handler runs may come once; so only one that was sent alone
 * since the last call of the handler is certain to have caused the next. */

#include <stdlib.h>
#include <string.h>

#include "profile/file/events.h"
#include "profile/flows/calls.h"
#include "profile/support/memory.h"

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

/* Of one handler in one process. */
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

void swz_flow_match_signals(struct swz_flows *flows,
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
