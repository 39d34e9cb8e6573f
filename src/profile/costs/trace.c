#include "profile/costs/trace.h"

#include <inttypes.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"
#include "profile/support/progress.h"

bool swz_trace_wants(const struct swz_trace *trace,
		     const struct swz_profile_thread *thread)
{
	return swz_thread_is_chosen(trace->threads, thread);
}

struct swz_events *swz_trace_open(struct swz_trace *trace,
				  struct swz_binding *binding,
				  const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_events_open(binding->profile, thread);

	swz_events_limit(events, trace->range.from, trace->range.to);
	trace->shown = swz_view_units(trace->view, binding, thread);
	if (trace->shown.bits)
		swz_events_show_only(events, &trace->shown);
	swz_event_choice_begin(&trace->choice, binding->profile);
	swz_call_rules_begin(&trace->choice.rules, binding, thread,
			     trace->range.from, trace->range.to, &trace->shown);
	return events;
}

void swz_trace_close(struct swz_trace *trace, struct swz_events *events,
		     const struct swz_profile_thread *thread)
{
	swz_progress_add(swz_events_size(thread));
	swz_events_close(events);
	swz_call_rules_end(&trace->choice.rules);
	swz_unit_set_free(&trace->shown);
}

bool swz_trace_next(FILE *stream, struct swz_trace *trace,
		    struct swz_events *events, struct swz_event *event)
{
	return !ferror_unlocked(stream) &&
	       swz_event_choice_next(&trace->choice, events, event);
}

void swz_trace_off_begin(struct swz_trace_off *off,
			 const struct swz_trace *trace,
			 const struct swz_profile_thread *thread)
{
	*off = (struct swz_trace_off){.now = thread->record.start_ticks,
				      .end = thread->last_ticks};
	if (trace->range.from > off->now)
		off->now = trace->range.from;
	if (trace->range.to < off->end)
		off->end = trace->range.to;
	swz_switches_open(&off->switches, thread);
}

bool swz_trace_off_next(struct swz_trace_off *off, uint64_t until,
			struct swz_off_time *time)
{
	if (until > off->end)
		until = off->end;
	if (swz_switches_next(&off->switches, off->now, until, time))
		return true;
	if (until > off->now)
		off->now = until;
	return false;
}

void swz_trace_marks_begin(struct swz_trace_marks *marks,
			   const struct swz_trace *trace,
			   const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	*marks = (struct swz_trace_marks){.profile = profile,
					  .thread = thread,
					  .from = thread->record.start_ticks,
					  .to = thread->last_ticks};
	for (size_t i = 0; i < profile->thread_count; i++)
		if (swz_trace_wants(trace, &profile->threads[i])) {
			marks->is_first = &profile->threads[i] == thread;
			break;
		}
	if (trace->range.from > marks->from)
		marks->from = trace->range.from;
	if (trace->range.to < marks->to)
		marks->to = trace->range.to;
}

const struct swz_profile_mark *swz_trace_marks_next(
	struct swz_trace_marks *marks, uint64_t until)
{
	const struct swz_profile *profile = marks->profile;

	if (until > marks->to)
		until = marks->to;
	for (; marks->next < profile->mark_count; marks->next++) {
		const struct swz_profile_mark *mark =
			&profile->marks[marks->next];

		if (mark->ticks > until)
			return NULL;
		if ((mark->owner == marks->thread->index ||
		     (mark->owner == SWZ_MARKS_OUTSIDE && marks->is_first)) &&
		    mark->ticks >= marks->from) {
			marks->next++;
			return mark;
		}
	}
	return NULL;
}

static bool is_shown(const struct swz_trace *trace,
		     const struct swz_flow_end *end)
{
	const struct swz_profile *profile =
		trace->bindings[end->process].profile;

	return end->ticks >= trace->range.from &&
	       end->ticks <= trace->range.to &&
	       swz_trace_wants(trace, &profile->threads[end->thread]);
}

void swz_trace_flows_begin(struct swz_trace_flows *flows,
			   const struct swz_trace *trace,
			   const struct swz_binding *binding,
			   const struct swz_profile_thread *thread)
{
	flows->trace = trace;
	flows->to = trace->range.to;
	swz_flow_reader_begin(&flows->reader, trace->flows,
			      (size_t)(binding - trace->bindings),
			      (size_t)(thread - binding->profile->threads),
			      trace->range.from);
}

const struct swz_flow *swz_trace_flows_next(struct swz_trace_flows *flows,
					    uint64_t until, bool *is_to)
{
	const struct swz_flow *flow;

	if (until > flows->to)
		until = flows->to;
	do
		flow = swz_flow_reader_next(&flows->reader, until, is_to);
	while (flow &&
	       !is_shown(flows->trace, *is_to ? &flow->from : &flow->to));
	return flow;
}

uint64_t swz_trace_flow_id(const struct swz_trace *trace,
			   const struct swz_flow *flow)
{
	return (uint64_t)(flow - trace->flows->of) + 1;
}

char *swz_trace_flow_text(const struct swz_trace *trace,
			  const struct swz_flow_end *end)
{
	const struct swz_profile *profile =
		trace->bindings[end->process].profile;
	int32_t tid = profile->threads[end->thread].record.tid;

	if (tid == profile->header.pid)
		return swz_print("%s in %s %" PRId32, end->function,
				 swz_base_name(profile->executable),
				 profile->header.pid);
	return swz_print("%s in %s %" PRId32 ", thread %" PRId32, end->function,
			 swz_base_name(profile->executable),
			 profile->header.pid, tid);
}

const char *swz_trace_off_name(const struct swz_off_time *time)
{
	return time->preempted ? "[preempted]" : "[waiting]";
}

uint32_t swz_trace_function(struct swz_binding *binding,
			    const struct swz_event *event)
{
	if (event->untraced)
		return SWZ_CATALOG_UNTRACED;
	return swz_binding_function(
		binding, event->function,
		swz_profile_node(binding->profile, event->node)->function);
}

int64_t swz_trace_ns(const struct swz_trace *trace,
		     const struct swz_binding *binding, uint64_t ticks)
{
	return swz_profile_ns(binding->profile,
			      (int64_t)(ticks - trace->origin));
}

int64_t swz_trace_begin(const struct swz_trace *trace,
			const struct swz_binding *binding,
			const struct swz_profile_thread *thread)
{
	uint64_t from = thread->record.start_ticks;

	if (trace->range.from > from)
		from = trace->range.from;
	return swz_trace_ns(trace, binding, from);
}

int64_t swz_trace_end(const struct swz_trace *trace,
		      const struct swz_binding *binding,
		      const struct swz_profile_thread *thread)
{
	uint64_t to = thread->last_ticks;

	if (trace->range.to < to)
		to = trace->range.to;
	return swz_trace_ns(trace, binding, to);
}

const char *swz_trace_thread_name(const struct swz_profile_thread *thread,
				  char *buffer, size_t size)
{
	if (thread->name[0])
		return thread->name;
	snprintf(buffer, size, "thread %" PRId32, thread->record.tid);
	return buffer;
}

const char *swz_trace_ending(const struct swz_event *event)
{
	if (event->untraced)
		return NULL;
	if (event->cut)
		return event->stopped ? "trace full" : "still running";
	switch (event->how) {
	case SWZ_EVENT_UNWIND:
		return "exception";
	case SWZ_EVENT_SKIP:
		return "longjmp";
	case SWZ_EVENT_SUSPEND:
		return "suspended";
	default:
		return NULL;
	}
}
