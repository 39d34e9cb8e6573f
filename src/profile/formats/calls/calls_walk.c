/* The walk goes over a thread's events and keeps what is open: each call's
 * arguments, and the errors that returned to it. What a view shows of a call it
 * writes by the functions at the end. */

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/calls/calls.h"
#include "profile/names/function_rules.h"

/* --- errors -------------------------------------------------------------- */

/* A caller often cleans up before it hands an error on: calls of other
 * functions that return in between change nothing. Few errors are kept, as a
 * call may live for long and see very many. */

#define KEPT 8

/* Two ends of the same error have this in common: the number, whatever the
 * types of the two results; or the text. */
static char *value_of(const struct swz_call_end *end)
{
	return end->has_number ? swz_print("%" PRId64, end->number)
			       : swz_duplicate(end->text.text);
}

/* (The type of an exception is known where values are recorded.) */
static bool is_same(const char *value, const char *other)
{
	if (strcmp(value, other) == 0)
		return true;
	return value[0] == '!' && other[0] == '!' &&
	       (strcmp(value, SWZ_ANY_EXCEPTION) == 0 ||
		strcmp(other, SWZ_ANY_EXCEPTION) == 0);
}

bool swz_errors_concern(const struct swz_call_end *end, const char *name)
{
	static const char *const throwing[] = {
		"__cxa_throw", "__cxa_rethrow", "_Unwind_RaiseException",
		"_Unwind_Resume", "_Unwind_Resume_or_Rethrow"};
	size_t i;

	if (!end->exceptional || end->text.text[0] != '!')
		return end->exceptional;
	for (i = 0; i < sizeof(throwing) / sizeof(throwing[0]); i++)
		if (strcmp(name, throwing[i]) == 0)
			return false;
	return true;
}

bool swz_errors_is_changed(const char *name)
{
	const char *const suffixes[] = {".isra.", ".constprop.", ".part."};

	if (!strchr(name, '.'))
		return false;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
		if (strstr(name, suffixes[i]))
			return true;
	return false;
}

bool swz_errors_hidden(const struct swz_call_end *end, const char *name)
{
	return !end->text.size && swz_errors_is_changed(name);
}

char *swz_errors_first(bool thrown, const char *hidden)
{
	if (thrown)
		return swz_duplicate("first left here");
	if (!hidden)
		return swz_duplicate("first returned here");
	return swz_print("first returned here, or by %s, whose result is not "
			 "recorded",
			 hidden);
}

static void *take(struct swz_returned_errors *errors, size_t i)
{
	void *trail = errors->list[i].trail;

	free(errors->list[i].value);
	errors->count--;
	memmove(&errors->list[i], &errors->list[i + 1],
		(errors->count - i) * sizeof(*errors->list));
	return trail;
}

void *swz_errors_handed_on(struct swz_returned_errors *errors,
			   const struct swz_call_end *end)
{
	void *trail = NULL;
	char *value;
	size_t i;

	if (!errors->count)
		return NULL;
	value = value_of(end);
	for (i = errors->count; i && !trail; i--)
		if (is_same(errors->list[i - 1].value, value))
			trail = take(errors, i - 1);
	free(value);
	return trail;
}

void *swz_errors_outdated(struct swz_returned_errors *errors, uint32_t from)
{
	size_t i;

	for (i = 0; i < errors->count; i++)
		if (errors->list[i].from == from)
			return take(errors, i);
	return NULL;
}

void *swz_errors_crowded_out(struct swz_returned_errors *errors,
			     const struct swz_call_end *end)
{
	void *trail = swz_errors_handed_on(errors, end);

	if (!trail && errors->count == KEPT)
		trail = take(errors, 0);
	return trail;
}

void swz_errors_add(struct swz_returned_errors *errors,
		    const struct swz_call_end *end, uint32_t from, void *trail)
{
	if (!errors->list)
		errors->list = swz_allocate(KEPT, sizeof(*errors->list));
	errors->list[errors->count++] = (struct swz_returned_error){
		.value = value_of(end), .from = from, .trail = trail};
}

void *swz_errors_remaining(struct swz_returned_errors *errors)
{
	if (errors->count)
		return take(errors, 0);
	free(errors->list);
	errors->list = NULL;
	return NULL;
}

/* --- the walk ------------------------------------------------------------ */

/* Where an error comes from: an open call remembers the exceptional results
 * that returned to it. A result of the same value has come from there;
 * otherwise it is new, and its call is the first that returned it. The trail of
 * an error is the name of that function. */

char *swz_calls_first(const struct swz_calls_walk *w)
{
	return swz_errors_first(w->end.text.text[0] == '!',
				w->open[w->count - 1].hidden);
}

char *swz_calls_woken(struct swz_calls_walk *w, uint64_t until, uint64_t *ticks)
{
	const struct swz_flow *flow;
	bool is_to;

	while ((flow = swz_trace_flows_next(&w->flows, until, &is_to))) {
		int64_t ns = swz_trace_ns(w->trace, w->binding,
					  flow->from.ticks);
		char *other, *line;

		if (!is_to)
			continue;
		other = swz_trace_flow_text(w->trace, &flow->from);
		line = swz_print("woken by %s at %" PRId64 ".%06" PRId64, other,
				 ns / 1000000000, ns / 1000 % 1000000);
		free(other);
		*ticks = flow->to.ticks;
		return line;
	}
	return NULL;
}

static void free_open(struct swz_open_call_text *call)
{
	char *origin;

	while ((origin = swz_errors_remaining(&call->errors)) != NULL)
		free(origin);
	swz_pointed_free(&call->before);
}

/* The caller has it from now on. */
static void hand_error(struct swz_calls_walk *w, char *origin)
{
	struct swz_open_call_text *call = &w->open[w->count - 1];
	struct swz_open_call_text *caller = w->count > 1 ? call - 1 : NULL;
	char *other;

	while (caller && (other = swz_errors_outdated(&caller->errors,
						      call->function)) != NULL)
		free(other);
	if (!w->has_error || !caller) {
		free(origin);
		return;
	}
	while ((other = swz_errors_crowded_out(&caller->errors, &w->end)) !=
	       NULL)
		free(other);
	swz_errors_add(&caller->errors, &w->end, call->function,
		       origin ? origin : swz_duplicate(swz_calls_name(w)));
}

/* --- calls that are one -------------------------------------------------- */

void swz_calls_events_open(struct swz_calls_events *events, FILE *stream,
			   struct swz_trace *trace, struct swz_binding *binding,
			   const struct swz_profile_thread *thread)
{
	*events = (struct swz_calls_events){
		.stream = stream,
		.trace = trace,
		.binding = binding,
		.events = swz_trace_open(trace, binding, thread)};
}

void swz_calls_events_close(struct swz_calls_events *events,
			    const struct swz_profile_thread *thread)
{
	swz_trace_close(events->trace, events->events, thread);
	swz_map_free(&events->asked);
	free(events->left_out);
}

/* Who asks for a function wants to see it. */
static bool is_asked_for(struct swz_calls_events *e, uint32_t function)
{
	const struct swz_patterns *only = &e->trace->view->only;
	const struct swz_patterns *sought = e->trace->sought;
	const struct swz_catalog *catalog = e->trace->catalog;
	uint32_t *asked;

	if (!only->count && !sought)
		return false;
	asked = swz_map_at(&e->asked, function, 0);
	if (*asked == SWZ_MAP_NONE)
		*asked = (only->count &&
			  swz_patterns_match(only, catalog, function, NULL)) ||
			 (sought &&
			  swz_patterns_match(sought, catalog, function, NULL));
	return *asked;
}

/* True if EVENT, a begin, is of a function that does nothing but jump to that
 * of the next event. */
static bool leads_on(struct swz_calls_events *e, const struct swz_event *event)
{
	const struct swz_profile *profile = e->binding->profile;
	const struct swz_node *node, *next;

	if (event->cut || event->untraced || event->how != SWZ_EVENT_ENTER)
		return false;
	if (!e->has_next)
		e->has_next = swz_trace_next(e->stream, e->trace, e->events,
					     &e->next);
	if (!e->has_next || !e->next.begins || e->next.untraced ||
	    e->next.call_site != SWZ_CALL_SITE_TAIL)
		return false;
	node = swz_profile_node(profile, event->node);
	next = swz_profile_node(profile, e->next.node);
	return node && next && next->parent == event->node &&
	       !swz_signature_is_known(profile, node->function) &&
	       !is_asked_for(e, swz_trace_function(e->binding, event));
}

static bool next_event(struct swz_calls_events *e, struct swz_event *event)
{
	if (!e->has_next)
		return swz_trace_next(e->stream, e->trace, e->events, event);
	e->has_next = false;
	*event = e->next;
	return true;
}

static void begin_open(struct swz_calls_events *e, bool left_out)
{
	swz_grow(&e->left_out, &e->capacity, e->depth, 1);
	e->left_out[e->depth++] = left_out;
	e->left_open += left_out;
}

bool swz_calls_next(struct swz_calls_events *e, struct swz_event *event)
{
	bool left_out;

	e->through.count = 0;
	while (next_event(e, event)) {
		uint32_t around = e->left_open;

		if (event->begins) {
			left_out = leads_on(e, event);
			begin_open(e, left_out);
			if (left_out && e->through.count < SWZ_MOST_THROUGH)
				e->through.functions[e->through.count++] =
					swz_trace_function(e->binding, event);
		} else {
			left_out = e->depth && e->left_out[--e->depth];
			e->left_open -= left_out;
			around = e->left_open;
		}
		if (left_out)
			continue;
		event->depth -= around < event->depth ? around : event->depth;
		return true;
	}
	return false;
}

void swz_through_print(struct swz_text *text, const struct swz_trace *trace,
		       const struct swz_through *through)
{
	unsigned i;

	for (i = 0; i < through->count; i++)
		swz_text_put(
			text, "%s%s", i ? ", " : " [through ",
			trace->catalog->functions[through->functions[i]].name);
	swz_text_put(text, through->count ? "]" : "");
}

/* --- watches ------------------------------------------------------------- */

/* watch = ctx->depth: the value is remembered by the path and what its first
 * word points at, from call to call of all functions that have it. */

struct watch {
	char *text; /* the value; NULL: none yet */
	uint32_t function;
	uint64_t ticks;
	bool returned; /* it was seen when the function returned */
};

struct swz_watches {
	struct swz_map index; /* (path, address): of these */
	struct watch *items;
	size_t count, capacity;
};

static void forget_watches(struct swz_watches *watches)
{
	size_t i;

	for (i = 0; i < watches->count; i++)
		free(watches->items[i].text);
	free(watches->items);
	swz_map_free(&watches->index);
	*watches = (struct swz_watches){0};
}

static const struct swz_settings *settings_of(const struct swz_trace *trace,
					      uint32_t function);

/* The value that PATH names; at a return what the path leads to then. */
static const struct swz_value *find_watched(
	const struct swz_call_values *values, const char *path)
{
	bool returns = values->moment == SWZ_VALUES_RETURN;
	bool pointed = *path == '*' || (returns && strcmp(path, "retval") != 0);
	size_t i;

	if (returns && strcmp(path, "retval") == 0)
		return swz_value_result(values);
	path += *path == '*';
	for (i = 0; i < values->count; i++)
		if (values->values[i].pointed == pointed &&
		    strcmp(values->values[i].name, path) == 0)
			return &values->values[i];
	return NULL;
}

/* Returns what the path's first word points at; 0: it is no pointer. */
static uint64_t address_watched(const struct swz_call_values *values,
				const char *path)
{
	size_t length = strcspn(path + (*path == '*'), ".-"), i;
	int64_t number;

	path += *path == '*';
	for (i = 0; i < values->count; i++) {
		const struct swz_value *value = &values->values[i];

		if (!value->pointed && strlen(value->name) == length &&
		    memcmp(value->name, path, length) == 0 &&
		    value->type->kind == SWZ_TYPE_POINTER &&
		    swz_value_number(value, &number))
			return (uint64_t)number;
	}
	return 0;
}

static void tell_change(struct swz_calls_walk *w, const struct watch *watch,
			const char *path, const char *now)
{
	const struct swz_open_call_text *call = &w->open[w->count - 1];
	int64_t ns = swz_trace_ns(w->trace, w->binding, watch->ticks);

	swz_text_put(&w->watched,
		     "%s" SWZ_CHANGED "%s: %s -> %s" SWZ_UNCHANGED ", ",
		     w->watched.size ? "; " : "", path, watch->text, now);
	if (!watch->returned && watch->ticks == call->start)
		swz_text_put(&w->watched, "in this call");
	else
		swz_text_put(&w->watched,
			     "since %s %s at %" PRId64 ".%06" PRId64,
			     w->trace->catalog->functions[watch->function].name,
			     watch->returned ? "returned" : "began",
			     ns / 1000000000, ns / 1000 % 1000000);
}

/* Compares the values of the innermost call, of its begin or its end, with what
 * they were when they were seen last. */
static void watch(struct swz_calls_walk *w,
		  const struct swz_call_values *values, uint64_t ticks)
{
	struct swz_open_call_text *call = &w->open[w->count - 1];
	const struct swz_settings *settings = settings_of(w->trace,
							  call->function);
	const struct swz_rule *rule = settings ? settings->watched : NULL;
	bool returns = values->moment == SWZ_VALUES_RETURN;
	struct swz_text now = {0};
	size_t i;

	w->watched.size = 0;
	for (i = 0; rule && i < rule->watch_count && i < SWZ_MOST_WATCHED;
	     i++) {
		const char *path = rule->watches[i];
		const struct swz_value *value = find_watched(values, path);
		struct watch *watch;
		uint32_t *at;

		if (!returns)
			call->watched_at[i] = address_watched(values, path);
		if (!value)
			continue;
		/* results are compared with those of the same function */
		at = swz_map_at(&w->watches->index, (uintptr_t)path,
				strcmp(path, "retval") == 0
					? call->function
					: call->watched_at[i]);
		if (*at == SWZ_MAP_NONE) {
			*at = (uint32_t)w->watches->count;
			swz_grow(&w->watches->items, &w->watches->capacity,
				 w->watches->count, sizeof(*watch));
			w->watches->items[w->watches->count++] = (struct watch){
				0};
		}
		watch = &w->watches->items[*at];
		swz_text_clear(&now);
		swz_value_print_of(&now, w->binding, values, value);
		if (watch->text && strcmp(watch->text, now.text) != 0)
			tell_change(w, watch, path, now.text);
		if (!watch->text || strcmp(watch->text, now.text) != 0) {
			free(watch->text);
			watch->text = swz_duplicate(now.text);
		}
		watch->function = call->function;
		watch->ticks = ticks;
		watch->returned = returns;
	}
	swz_text_free(&now);
}

/* --- the walk ------------------------------------------------------------ */

static void begin_call(struct swz_calls_walk *w, struct swz_calls_sink *sink,
		       const struct swz_event *event,
		       const struct swz_through *through)
{
	struct swz_call_values values;
	struct swz_open_call_text *call;

	if (sink->before)
		sink->before(sink, w, event->ticks);
	swz_grow(&w->open, &w->capacity, w->count, sizeof(*w->open));
	call = &w->open[w->count++];
	*call = (struct swz_open_call_text){
		.start = event->ticks,
		.cut = event->cut,
		.function = swz_trace_function(w->binding, event),
		.before = {.objects = w->objects},
	};
	swz_call_begin_print(&w->begun, &call->before, w->trace, w->binding,
			     w->values, event, &values);
	swz_through_print(&w->begun, w->trace, through);
	watch(w, &values, event->ticks);
	sink->begin(sink, w);
}

static void end_call(struct swz_calls_walk *w, struct swz_calls_sink *sink,
		     const struct swz_event *event)
{
	struct swz_open_call_text *call;
	char *origin = NULL;

	if (!w->count)
		return;
	call = &w->open[w->count - 1];
	swz_call_end_read(&w->end, &call->before, w->trace, w->binding,
			  w->values, event);
	watch(w, &w->end.values, event->ticks);
	w->has_error = swz_errors_concern(&w->end, swz_calls_name(w));
	if (w->has_error)
		origin = swz_errors_handed_on(&call->errors, &w->end);
	w->origin = origin;
	sink->end(sink, w, event);
	if (w->count > 1 && swz_errors_hidden(&w->end, swz_calls_name(w)))
		call[-1].hidden = swz_calls_name(w);
	hand_error(w, origin);
	free_open(call);
	w->count--;
}

static void walk_thread(struct swz_calls_walk *w, struct swz_calls_sink *sink)
{
	struct swz_trace *trace = w->trace;
	struct swz_calls_events events;
	/* (the choice counts what it leaves out) */
	uint32_t depth = trace->choice.limits.max_depth ? 0
							: trace->calls->depth;
	struct swz_event event;
	bool any = false;

	swz_calls_events_open(&events, sink->stream, trace, w->binding,
			      w->thread);
	w->values = swz_values_open(w->binding->profile, w->thread);
	w->count = 0;
	swz_objects_forget(w->objects);
	forget_watches(w->watches);
	swz_trace_flows_begin(&w->flows, trace, w->binding, w->thread);
	while (!sink->stopped && swz_calls_next(&events, &event)) {
		if (!any)
			sink->thread(sink, w);
		any = true;
		if (depth && event.depth >= depth)
			continue;
		if (event.begins)
			begin_call(w, sink, &event, &events.through);
		else
			end_call(w, sink, &event);
	}
	if (any && sink->done)
		sink->done(sink, w);
	while (w->count)
		free_open(&w->open[--w->count]);
	swz_values_close(w->values);
	swz_calls_events_close(&events, w->thread);
}

void swz_calls_walk(struct swz_trace *trace, struct swz_calls_sink *sink)
{
	struct swz_watches watches = {0};
	struct swz_calls_walk w = {.trace = trace,
				   .objects = swz_objects_new(),
				   .watches = &watches};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		w.binding = &trace->bindings[i];
		for (j = 0; j < w.binding->profile->thread_count; j++) {
			w.thread = &w.binding->profile->threads[j];
			if (swz_trace_wants(trace, w.thread))
				walk_thread(&w, sink);
		}
	}
	free(w.open);
	swz_text_free(&w.begun);
	swz_call_end_free(&w.end);
	swz_objects_free(w.objects);
	forget_watches(&watches);
	swz_text_free(&w.watched);
}

/* --- calls as text ------------------------------------------------------- */

/* The views of calls share this: how a call, and how its end, reads. */

static const struct swz_settings *settings_of(const struct swz_trace *trace,
					      uint32_t function)
{
	return swz_rules_of(trace->choice.rules.rules, trace->catalog,
			    function);
}

static bool hides_values(const struct swz_settings *settings)
{
	return settings && settings->list_args == SWZ_NO;
}

enum swz_colour swz_call_colour(const struct swz_trace *trace,
				uint32_t function)
{
	const struct swz_settings *settings = settings_of(trace, function);
	const char *name;
	size_t i;

	for (i = 0; settings && settings->colour &&
		    (name = swz_config_colour_at(i)) != NULL;
	     i++)
		if (strcmp(name, settings->colour) == 0)
			return (enum swz_colour)(SWZ_COLOUR_FIRST_NAMED + i);
	return SWZ_COLOUR_NONE;
}

/* -22 is also -EINVAL, where the configuration says so. */
static void put_errno(struct swz_text *text,
		      const struct swz_settings *settings,
		      const struct swz_call_end *end)
{
	const char *name;

	if (!settings || settings->is_errno != SWZ_YES || !end->has_number ||
	    end->number >= 0 || end->number < -INT16_MAX)
		return;
	name = strerrorname_np((int)-end->number);
	if (name)
		swz_text_put(text, " (-%s)", name);
}

bool swz_result_is_exceptional(const struct swz_settings *settings,
			       const struct swz_value *result)
{
	size_t i;

	if (!settings ||
	    (!settings->never_exceptional && !settings->exceptional_count))
		return swz_value_is_exceptional(result);
	for (i = 0; i < settings->exceptional_count; i++)
		if (swz_value_decide(result, &settings->exceptional[i]) ==
		    SWZ_HOLDS)
			return true;
	return false;
}

void swz_call_print(struct swz_text *text, struct swz_pointed_values *before,
		    struct swz_trace *trace, struct swz_binding *binding,
		    const struct swz_call_values *arguments,
		    const struct swz_event *event)
{
	uint32_t function = swz_trace_function(binding, event);
	const char *name = trace->catalog->functions[function].name;
	const struct swz_settings *settings = settings_of(trace, function);

	swz_text_clear(text);
	if (before)
		swz_pointed_clear(before);
	swz_text_put(text, "%s%s",
		     settings && settings->prefix ? settings->prefix : "",
		     name);
	if (event->how == SWZ_EVENT_RESUME)
		swz_text_put(text, " [resumed]");
	if (!arguments->count || hides_values(settings))
		return;
	swz_text_put(text, "(");
	swz_pointed_arguments(text, before, binding, arguments);
	swz_text_put(text, ")");
}

void swz_call_begin_print(struct swz_text *text,
			  struct swz_pointed_values *before,
			  struct swz_trace *trace, struct swz_binding *binding,
			  struct swz_value_reader *values,
			  const struct swz_event *event,
			  struct swz_call_values *arguments)
{
	if (!swz_values_of(values, event, arguments))
		arguments->count = 0;
	arguments->moment = SWZ_VALUES_ENTRY;
	swz_call_print(text, before, trace, binding, arguments, event);
}

static void read_end(struct swz_call_end *end,
		     struct swz_pointed_values *before, struct swz_trace *trace,
		     struct swz_binding *binding,
		     struct swz_value_reader *values,
		     const struct swz_event *event)
{
	const struct swz_settings *settings = settings_of(
		trace, swz_trace_function(binding, event));
	const char *ending = swz_trace_ending(event);
	struct swz_call_values *of = &end->values;
	const struct swz_value *result;

	swz_text_clear(&end->text);
	swz_text_clear(&end->out);
	swz_text_clear(&end->unlike);
	end->exceptional = event->how == SWZ_EVENT_UNWIND && !event->cut;
	end->has_number = false;
	if (!swz_values_of(values, event, of))
		of->count = 0;
	of->moment = SWZ_VALUES_RETURN;
	if (of->exception) {
		swz_text_put(&end->text, "! ");
		swz_exception_print(&end->text, of->exception);
		return;
	}
	if (end->exceptional) {
		swz_text_put(&end->text, SWZ_ANY_EXCEPTION);
		return;
	}
	if (ending) {
		swz_text_put(&end->text, "[%s]", ending);
		return;
	}
	result = hides_values(settings) ? NULL : swz_value_result(of);
	if (result) {
		swz_text_put(&end->text, "= ");
		swz_value_print_of(&end->text, binding, of, result);
		end->exceptional = swz_result_is_exceptional(settings, result);
		end->has_number = swz_value_number(result, &end->number);
		put_errno(&end->text, settings, end);
	}
	if (!hides_values(settings))
		swz_pointed_print(&end->out, binding, of, before);
}

void swz_call_end_read(struct swz_call_end *end,
		       struct swz_pointed_values *before,
		       struct swz_trace *trace, struct swz_binding *binding,
		       struct swz_value_reader *values,
		       const struct swz_event *event)
{
	read_end(end, before, trace, binding, values, event);
	/* (what is open still has not succeeded) */
	if (before->objects && before->object.text.size && !event->cut)
		swz_object_put_unlike(
			&end->unlike, before->objects, &before->object,
			swz_trace_function(binding, event), end->exceptional);
}

void swz_call_end_free(struct swz_call_end *end)
{
	swz_text_free(&end->text);
	swz_text_free(&end->out);
	swz_text_free(&end->unlike);
}

static void put_piece(FILE *stream, const struct swz_style *style,
		      enum swz_colour colour, const char *text, size_t length)
{
	char *piece, *shown;

	if (!length)
		return;
	piece = swz_print("%.*s", (int)length, text);
	shown = swz_printable(piece, style->utf8);
	swz_put_cell(stream, style, colour, shown, 0);
	free(shown);
	free(piece);
}

void swz_calls_put(FILE *stream, const struct swz_trace *trace,
		   enum swz_colour colour, const char *text)
{
	static const struct swz_style plain = {.utf8 = true};
	const struct swz_style *style = trace->calls->style;
	bool changed = false;

	if (!style)
		style = &plain;
	while (*text) {
		size_t length = strcspn(text, SWZ_MARKS);

		put_piece(stream, style, changed ? SWZ_COLOUR_WARM : colour,
			  text, length);
		text += length;
		if (*text == *SWZ_CHANGED || *text == *SWZ_UNCHANGED)
			changed = *text == *SWZ_CHANGED;
		text += *text != 0;
	}
}

void swz_calls_put_thread(FILE *stream, const struct swz_trace *trace,
			  const struct swz_binding *binding,
			  const struct swz_profile_thread *thread)
{
	char buffer[32];
	char *line = swz_print(
		"# %s, process %" PRId32 ", thread %" PRId32 " (%s)",
		swz_base_name(binding->profile->executable),
		binding->profile->header.pid, thread->record.tid,
		swz_trace_thread_name(thread, buffer, sizeof(buffer)));

	swz_calls_put(stream, trace, SWZ_COLOUR_DIM, line);
	putc('\n', stream);
	free(line);
}
