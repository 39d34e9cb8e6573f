/* What a call returns is known at its end. Where a condition asks for that, the
 * thread's events are read twice: first for the results, one bit for each such
 * call. */

#include "profile/costs/call_rules.h"

#include <stdlib.h>
#include <string.h>

#include "profile/names/value_condition.h"
#include "profile/support/memory.h"

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

void swz_call_rules_begin(struct swz_call_rules *calls,
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

void swz_call_rules_end(struct swz_call_rules *calls)
{
	swz_values_close(calls->values);
	calls->values = NULL;
}

void swz_call_rules_free(struct swz_call_rules *calls)
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

/* Those within what is left out have results, too. */
static void pass(struct swz_call_rules *calls, const struct swz_event *event)
{
	if (calls->rules->any_result &&
	    asks_for_result(
		    settings_of(calls, function_of(calls->binding, event))))
		calls->next_result++;
	calls->skipped++;
}

static bool begin(struct swz_call_rules *calls, const struct swz_event *event)
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

bool swz_call_rules_show(struct swz_call_rules *calls,
			 const struct swz_event *event)
{
	if (!calls->rules)
		return true;
	if (event->begins)
		return begin(calls, event);
	if (calls->skipped) {
		calls->skipped--;
		return false;
	}
	if (calls->depth)
		calls->depth--;
	return true;
}
