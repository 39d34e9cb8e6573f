/* Writers of events get them thread by thread, without what options and the
 * configuration leave out. */

#include "profile/costs/trace.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/costs/call_tree.h"
#include "profile/costs/report.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/file/values.h"
#include "profile/flows/flows.h"
#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"
#include "util/memory.h"
#include "util/output.h"

/* --- calls that the configuration leaves out ----------------------------- */

/* A call's result is known at its end. Where a condition asks for that, the
 * thread's events are read twice: first for the results, one bit for each such
 * call. */

struct swz_open_call {
	uint32_t function; /* of the catalog */
	size_t deepest;    /* how many calls may be open below the outermost */
	size_t result;     /* while results are read: its number, + 1 */
};

static uint32_t function_of(struct swz_binding *binding,
			    const struct swz_event *event)
{
	uint32_t function;

	if (event->untraced)
		return SWZ_CATALOG_UNTRACED;
	function = swz_binding_function(
		binding, event->function,
		swz_profile_node(binding->profile, event->node)->function);
	if (function >= binding->catalog->resolved)
		swz_catalog_resolve(binding->catalog);
	return function;
}

static const struct swz_settings *settings_of(struct swz_call_rules *calls,
					      uint32_t function)
{
	return swz_rules_of(calls->rules, calls->binding->catalog, function);
}

static struct swz_open_call *push(struct swz_call_rules *calls,
				  uint32_t function, size_t deepest)
{
	struct swz_open_call *call;

	swz_grow(&calls->open, &calls->capacity, calls->depth,
		 sizeof(*calls->open));
	call = &calls->open[calls->depth++];
	*call = (struct swz_open_call){function, deepest, 0};
	return call;
}

/* ----------------------------------------------------------------- results */

static bool asks_for_result(const struct swz_settings *settings)
{
	unsigned i;

	for (i = 0; settings && i < settings->condition_count; i++)
		if (settings->conditions[i]->kind == SWZ_IF_RESULT)
			return true;
	return false;
}

static bool results_hold(struct swz_call_rules *calls,
			 const struct swz_settings *settings,
			 const struct swz_call_values *values)
{
	enum swz_verdict verdict;
	unsigned i;

	for (i = 0; i < settings->condition_count; i++) {
		if (settings->conditions[i]->kind != SWZ_IF_RESULT)
			continue;
		verdict = swz_values_decide(values, settings->conditions[i]);
		calls->undecided += verdict == SWZ_UNDECIDED;
		if (verdict == SWZ_FAILS)
			return false;
	}
	return true;
}

static void note_begin(struct swz_call_rules *calls,
		       const struct swz_event *event)
{
	uint32_t function = function_of(calls->binding, event);
	struct swz_open_call *call = push(calls, function, 0);

	if (!asks_for_result(settings_of(calls, function)))
		return;
	if (calls->result_count % 8192 == 0)
		calls->results = swz_reallocate(
			calls->results, calls->result_count / 8 + 1024, 1);
	if (calls->result_count % 8 == 0)
		calls->results[calls->result_count / 8] = 0xff;
	call->result = ++calls->result_count;
}

static void note_end(struct swz_call_rules *calls,
		     const struct swz_event *event)
{
	struct swz_call_values values;
	struct swz_open_call *call;

	if (!calls->depth)
		return;
	call = &calls->open[--calls->depth];
	if (!call->result)
		return;
	if (!swz_values_of(calls->values, event, &values))
		values.count = 0;
	/* an exception is no result */
	if (!results_hold(calls, settings_of(calls, call->function), &values))
		calls->results[(call->result - 1) / 8] &= (uint8_t) ~(
			1u << (call->result - 1) % 8);
}

static void read_results(struct swz_call_rules *calls,
			 struct swz_events *events)
{
	struct swz_event event;

	calls->depth = 0;
	while (swz_events_next(events, &event))
		if (event.begins)
			note_begin(calls, &event);
		else
			note_end(calls, &event);
	calls->depth = 0;
	swz_events_close(events);
}

/* Before the events of a thread, of which RANGE is read. */
static void call_rules_begin(struct swz_call_rules *calls,
			     struct swz_binding *binding,
			     const struct swz_profile_thread *thread,
			     uint64_t from, uint64_t to,
			     const struct swz_unit_set *shown)
{
	struct swz_events *events;

	if (!calls->rules)
		return;
	calls->binding = binding;
	calls->depth = calls->skipped = 0;
	calls->result_count = calls->next_result = 0;
	if (calls->rules->any_result) {
		events = swz_events_open(binding->profile, thread);
		swz_events_limit(events, from, to);
		if (shown->bits)
			swz_events_show_only(events, shown);
		calls->values = swz_values_open(binding->profile, thread);
		read_results(calls, events);
		swz_values_close(calls->values);
	}
	calls->values = swz_values_open(binding->profile, thread);
}

static void call_rules_end(struct swz_call_rules *calls)
{
	swz_values_close(calls->values);
	calls->values = NULL;
}

static void call_rules_free(struct swz_call_rules *calls)
{
	free(calls->open);
	free(calls->results);
	calls->open = NULL;
	calls->results = NULL;
}

/* ------------------------------------------------------------------- calls */

/* The callers' names are compared as those of functions are everywhere. */
static bool backtrace_holds(struct swz_call_rules *calls,
			    const struct swz_condition *c)
{
	struct swz_patterns pattern = {0};
	bool found = false;
	size_t i;

	swz_patterns_add(&pattern, c->name);
	for (i = 0; i < c->levels && i < calls->depth && !found; i++) {
		uint32_t function = calls->open[calls->depth - 1 - i].function;

		found = SWZ_CATALOG_IS_REAL(function) &&
			swz_patterns_match(&pattern, calls->binding->catalog,
					   function, NULL);
	}
	swz_patterns_free(&pattern);
	return found;
}

static bool arguments_hold(struct swz_call_rules *calls,
			   const struct swz_settings *settings,
			   const struct swz_event *event)
{
	struct swz_call_values values;
	bool asked = false, holds = true;
	unsigned i;

	for (i = 0; i < settings->condition_count; i++) {
		const struct swz_condition *c = settings->conditions[i];
		enum swz_verdict verdict;

		if (c->kind == SWZ_IF_BACKTRACE)
			holds &= backtrace_holds(calls, c);
		if (c->kind != SWZ_IF_ARGUMENT)
			continue;
		if (!asked && !swz_values_of(calls->values, event, &values))
			values.count = 0;
		asked = true;
		verdict = swz_values_decide(&values, c);
		calls->undecided += verdict == SWZ_UNDECIDED;
		holds &= verdict != SWZ_FAILS;
	}
	return holds;
}

static bool holds(struct swz_call_rules *calls,
		  const struct swz_settings *settings,
		  const struct swz_event *event)
{
	bool result = true;
	size_t n;

	if (!settings)
		return true;
	if (asks_for_result(settings)) {
		n = calls->next_result++;
		result = n >= calls->result_count ||
			 calls->results[n / 8] >> n % 8 & 1;
	}
	return arguments_hold(calls, settings, event) && result;
}

/* Calls within what is left out have results, too. */
static void pass(struct swz_call_rules *calls, const struct swz_event *event)
{
	if (calls->rules->any_result &&
	    asks_for_result(
		    settings_of(calls, function_of(calls->binding, event))))
		calls->next_result++;
	calls->skipped++;
}

static bool begin_call(struct swz_call_rules *calls,
		       const struct swz_event *event)
{
	const struct swz_settings *settings;
	size_t deepest = SIZE_MAX;
	uint32_t function;

	if (calls->skipped) {
		pass(calls, event);
		return false;
	}
	function = function_of(calls->binding, event);
	settings = settings_of(calls, function);
	if (calls->depth)
		deepest = calls->open[calls->depth - 1].deepest;
	if (calls->depth >= deepest) {
		pass(calls, event);
		calls->left_out++;
		return false;
	}
	if (!holds(calls, settings, event)) {
		calls->skipped = 1;
		calls->left_out++;
		return false;
	}
	if (settings && settings->depth &&
	    calls->depth + 1 + settings->depth < deepest)
		deepest = calls->depth + 1 + settings->depth;
	push(calls, function, deepest);
	return true;
}

/* True if an event stays. To be called for all of them in their order. */
static bool call_rules_show(struct swz_call_rules *calls,
			    const struct swz_event *event)
{
	if (!calls->rules)
		return true;
	if (event->begins)
		return begin_call(calls, event);
	if (calls->skipped) {
		calls->skipped--;
		return false;
	}
	if (calls->depth)
		calls->depth--;
	return true;
}

/* --- fewer events -------------------------------------------------------- */

/* How long a call takes is known at its end. So begins are kept until a call
 * turns out to stay; then those around it, which are at least as long, are
 * handed out first. What was handed out are always the outermost of the open
 * ones. */

bool swz_event_limits_any(const struct swz_event_limits *limits)
{
	return limits->min_ns > 0 || limits->max_depth || limits->every > 1;
}

/* Before the events of a thread of PROFILE. What was counted stays. */
static void event_choice_begin(struct swz_event_choice *choice,
			       const struct swz_profile *profile)
{
	double ticks = (double)choice->limits.min_ns *
		       (double)profile->clock_ticks / (double)profile->clock_ns;

	choice->min_ticks = ticks < 0x1p62 ? (uint64_t)ticks : UINT64_MAX;
	choice->depth = choice->told = choice->until = 0;
	choice->ends = false;
}

void swz_event_choice_free(struct swz_event_choice *choice)
{
	call_rules_free(&choice->rules);
	free(choice->open);
	choice->open = NULL;
	free(choice->left_before);
	choice->left_before = NULL;
	choice->capacity = choice->before_capacity = 0;
}

/* True if it is the one of so many. */
static bool is_next(struct swz_event_choice *choice)
{
	return choice->limits.every <= 1 ||
	       choice->counter++ % choice->limits.every == 0;
}

static bool is_too_deep(const struct swz_event_choice *choice)
{
	return choice->limits.max_depth &&
	       choice->depth > choice->limits.max_depth;
}

static void begin(struct swz_event_choice *choice,
		  const struct swz_event *event)
{
	swz_grow(&choice->open, &choice->capacity, choice->depth,
		 sizeof(*choice->open));
	swz_grow(&choice->left_before, &choice->before_capacity, choice->depth,
		 sizeof(*choice->left_before));
	choice->left_before[choice->depth] = choice->left_out;
	choice->open[choice->depth++] = *event;
	choice->calls += !event->untraced;
	/* that there are no events is always said */
	if (event->untraced ||
	    (!is_too_deep(choice) && !choice->min_ticks && is_next(choice)))
		choice->until = choice->depth;
}

/* The innermost ends, and is handed out. */
static void leave(struct swz_event_choice *choice)
{
	choice->told = --choice->depth;
	choice->inside = choice->left_out - choice->left_before[choice->depth];
}

/* Returns whether the end is to be handed out at once. */
static bool end(struct swz_event_choice *choice, const struct swz_event *event)
{
	const struct swz_event *begun;

	if (!choice->depth)
		return false;
	if (choice->told == choice->depth) {
		leave(choice);
		return true;
	}
	begun = &choice->open[choice->depth - 1];
	if (choice->min_ticks && !is_too_deep(choice) &&
	    event->ticks - begun->ticks >= choice->min_ticks &&
	    is_next(choice)) {
		choice->until = choice->depth;
		choice->ends = true;
		choice->end = *event;
	} else {
		choice->depth--;
		choice->left_out++;
	}
	return false;
}

static bool next(struct swz_event_choice *choice, struct swz_events *events,
		 struct swz_event *event)
{
	do
		if (!swz_events_next(events, event))
			return false;
	while (!call_rules_show(&choice->rules, event));
	return true;
}

/* As swz_events_next(), which it calls. Begins may be handed out late, but in
 * the order of time. */
static bool event_choice_next(struct swz_event_choice *choice,
			      struct swz_events *events,
			      struct swz_event *event)
{
	if (!swz_event_limits_any(&choice->limits))
		return next(choice, events, event);
	for (;;) {
		if (choice->told < choice->until) {
			*event = choice->open[choice->told++];
			return true;
		}
		choice->until = 0;
		if (choice->ends) {
			choice->ends = false;
			leave(choice);
			*event = choice->end;
			return true;
		}
		if (!next(choice, events, event))
			return false;
		if (event->begins)
			begin(choice, event);
		else if (end(choice, event))
			return true;
	}
}

/* --- threads of a trace -------------------------------------------------- */

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
	event_choice_begin(&trace->choice, binding->profile);
	call_rules_begin(&trace->choice.rules, binding, thread,
			 trace->range.from, trace->range.to, &trace->shown);
	return events;
}

void swz_trace_close(struct swz_trace *trace, struct swz_events *events,
		     const struct swz_profile_thread *thread)
{
	swz_progress_add(swz_events_size(thread));
	swz_events_close(events);
	call_rules_end(&trace->choice.rules);
	swz_unit_set_free(&trace->shown);
}

bool swz_trace_next(FILE *stream, struct swz_trace *trace,
		    struct swz_events *events, struct swz_event *event)
{
	return !ferror_unlocked(stream) &&
	       event_choice_next(&trace->choice, events, event);
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

void swz_trace_off_sampled(struct swz_trace_off *off,
			   const struct swz_profile *profile,
			   const struct swz_profile_thread *thread)
{
	off->samples = swz_samples_read(profile, thread, &off->sample_count);
	off->apart = swz_samples_apart(profile, thread, true);
}

void swz_trace_off_free(struct swz_trace_off *off)
{
	free(off->samples);
	off->samples = NULL;
}

static uint64_t sample_end(const struct swz_trace_off *off, size_t i)
{
	return swz_sample_end(off->samples, off->sample_count, i, off->apart,
			      off->end);
}

/* Samples that waited one after the other are one time. */
static bool next_sampled(struct swz_trace_off *off, uint64_t until,
			 struct swz_off_time *time)
{
	const struct swz_profile_sample *samples = off->samples;
	uint64_t to = 0;
	size_t i = off->sample;

	while (i < off->sample_count &&
	       (!samples[i].waiting || (to = sample_end(off, i)) <= off->now))
		i++;
	off->sample = i;
	if (i == off->sample_count || samples[i].ticks >= until)
		return false;
	*time = (struct swz_off_time){.from = samples[i].ticks};
	while (to < until && i + 1 < off->sample_count &&
	       samples[i + 1].waiting && samples[i + 1].ticks == to)
		to = sample_end(off, ++i);
	off->sample = i;
	if (time->from < off->now)
		time->from = off->now;
	time->to = to < until ? to : until;
	off->now = time->to;
	return time->from < time->to;
}

bool swz_trace_off_next(struct swz_trace_off *off, uint64_t until,
			struct swz_off_time *time)
{
	if (until > off->end)
		until = off->end;
	if (off->samples && next_sampled(off, until, time))
		return true;
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

const char *swz_trace_times(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES ? SWZ_SAMPLED_TIMES
							: SWZ_RAW_TIMES;
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
