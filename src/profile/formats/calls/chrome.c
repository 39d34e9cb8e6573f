/* The JSON that chrome://tracing made known and many viewers read: "Trace Event
 * Format", an object with an array of events. B and E are the begin and the end
 * of an activation, nested in each thread; i is a mark; M names processes and
 * threads. Times are in microseconds. */

#include <inttypes.h>
#include <stdlib.h>

#include "util/output.h"
#include "profile/costs/trace.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/encoders.h"

struct writing {
	struct swz_json json;
	struct swz_trace *trace;
	struct swz_value_reader *values;
	struct swz_shown_value shown;
	uint64_t depth; /* of calls that are open in the thread */
};

static void begin_object(struct writing *w, const char *phase, int32_t pid,
			 int32_t tid)
{
	swz_json_line(&w->json);
	swz_json_open(&w->json, NULL, "{");
	swz_json_string(&w->json, "ph", phase);
	swz_json_number(&w->json, "pid", pid);
	swz_json_number(&w->json, "tid", tid);
}

static void put_name(struct writing *w, const char *what, int32_t pid,
		     int32_t tid, const char *name)
{
	begin_object(w, "M", pid, tid);
	swz_json_string(&w->json, "name", what);
	swz_json_open(&w->json, "args", "{");
	swz_json_string(&w->json, "name", name);
	swz_json_close(&w->json, "}}");
}

static void put_time(struct writing *w, int64_t ns)
{
	char decimals[] = {'.', (char)('0' + ns / 100 % 10),
			   (char)('0' + ns / 10 % 10), (char)('0' + ns % 10),
			   '\0'};

	swz_json_number(&w->json, "ts", ns / 1000);
	fputs_unlocked(decimals, w->json.stream);
}

/* "name":"text" of each value. */
static void put_values(struct writing *w, struct swz_binding *binding,
		       const struct swz_call_values *values)
{
	FILE *stream = w->json.stream;
	size_t i;

	for (i = 0; i < swz_shown_count(values); i++) {
		swz_shown_read(&w->shown, binding, values, i);
		swz_json_key(&w->json, NULL);
		swz_put_json(stream, w->shown.name.text);
		putc_unlocked(':', stream);
		swz_put_json(stream, w->shown.text.text);
	}
}

static void put_arguments(struct writing *w, struct swz_binding *binding,
			  const struct swz_event *event)
{
	struct swz_call_values values;
	const char *ending = event->begins ? NULL : swz_trace_ending(event);
	bool any = swz_values_of(w->values, event, &values);

	if (!any && !ending)
		return;
	swz_json_open(&w->json, "args", "{");
	if (ending)
		swz_json_string(&w->json, "ended by", ending);
	if (any)
		put_values(w, binding, &values);
	swz_json_close(&w->json, "}");
}

/* The band that the configuration gives it, or its module. */
static const char *category(const struct writing *w, uint32_t function)
{
	const struct swz_settings *settings = swz_rules_of(
		w->trace->choice.rules.rules, w->trace->catalog, function);

	return settings && settings->band
		       ? settings->band
		       : swz_catalog_module_name(
				 w->trace->catalog,
				 &w->trace->catalog->functions[function]);
}

static void put_event(struct writing *w, struct swz_binding *binding,
		      int32_t tid, const struct swz_event *event)
{
	int64_t ns = swz_trace_ns(w->trace, binding, event->ticks);

	w->depth += event->begins ? 1 : UINT64_MAX;
	begin_object(w, event->begins ? "B" : "E", binding->profile->header.pid,
		     tid);
	put_time(w, ns);
	if (event->begins) {
		uint32_t function = swz_trace_function(binding, event);

		swz_json_string(&w->json, "name",
				w->trace->catalog->functions[function].name);
		swz_json_string(&w->json, "cat", category(w, function));
	}
	put_arguments(w, binding, event);
	swz_json_close(&w->json, "}");
}

static void put_off(struct writing *w, struct swz_binding *binding, int32_t tid,
		    struct swz_trace_off *off, uint64_t until)
{
	int32_t pid = binding->profile->header.pid;
	struct swz_off_time time;

	while (swz_trace_off_next(off, until, &time)) {
		begin_object(w, "B", pid, tid);
		put_time(w, swz_trace_ns(w->trace, binding, time.from));
		swz_json_string(&w->json, "name", swz_trace_off_name(&time));
		swz_json_string(&w->json, "cat", "kernel");
		swz_json_close(&w->json, "}");
		begin_object(w, "E", pid, tid);
		put_time(w, swz_trace_ns(w->trace, binding, time.to));
		swz_json_close(&w->json, "}");
	}
}

/* Marks are the thread's, or the whole process's. */
static void put_marks(struct writing *w, struct swz_binding *binding,
		      int32_t tid, struct swz_trace_marks *marks,
		      uint64_t until)
{
	const struct swz_profile_mark *mark;

	while ((mark = swz_trace_marks_next(marks, until))) {
		char *text = swz_mark_text(mark);

		begin_object(w, "i", binding->profile->header.pid, tid);
		put_time(w, swz_trace_ns(w->trace, binding, mark->ticks));
		swz_json_string(&w->json, "name", text);
		swz_json_string(&w->json, "cat", "mark");
		swz_json_string(&w->json, "s",
				swz_mark_is_of_process(mark) ? "p" : "t");
		swz_json_close(&w->json, "}");
		free(text);
	}
}

static void put_slice(struct writing *w, struct swz_binding *binding,
		      int32_t tid, const struct swz_flow_end *end, bool begins)
{
	begin_object(w, begins ? "B" : "E", binding->profile->header.pid, tid);
	put_time(w, swz_trace_ns(w->trace, binding, end->ticks));
	if (begins) {
		char *name = swz_print("[%s]", end->function);

		swz_json_string(&w->json, "name", name);
		swz_json_string(&w->json, "cat", "flow");
		free(name);
	}
	swz_json_close(&w->json, "}");
}

/* An arrow begins and ends within the calls that are open then; where none is
 * it needs something to hold on to. */
static void put_flows(struct writing *w, struct swz_binding *binding,
		      int32_t tid, struct swz_trace_flows *flows,
		      uint64_t until)
{
	const struct swz_flow *flow;
	bool is_to;

	while ((flow = swz_trace_flows_next(flows, until, &is_to))) {
		const struct swz_flow_end *end = is_to ? &flow->to
						       : &flow->from;

		if (!w->depth)
			put_slice(w, binding, tid, end, true);
		begin_object(w, is_to ? "f" : "s", binding->profile->header.pid,
			     tid);
		put_time(w, swz_trace_ns(w->trace, binding, end->ticks));
		swz_json_integer(&w->json, "id",
				 swz_trace_flow_id(w->trace, flow));
		swz_json_string(&w->json, "name", flow->from.function);
		swz_json_string(&w->json, "cat", "flow");
		if (is_to)
			swz_json_string(&w->json, "bp", "e");
		swz_json_close(&w->json, "}");
		if (!w->depth)
			put_slice(w, binding, tid, end, false);
	}
}

static void put_thread(struct writing *w, struct swz_binding *binding,
		       const struct swz_profile_thread *thread)
{
	struct swz_events *events = swz_trace_open(w->trace, binding, thread);
	struct swz_trace_marks marks;
	struct swz_trace_flows flows;
	struct swz_trace_off off;
	struct swz_event event;
	char buffer[32];

	put_name(w, "thread_name", binding->profile->header.pid,
		 thread->record.tid,
		 swz_trace_thread_name(thread, buffer, sizeof(buffer)));
	w->depth = 0;
	w->values = swz_values_open(binding->profile, thread);
	swz_trace_off_begin(&off, w->trace, thread);
	swz_trace_off_sampled(&off, binding->profile, thread);
	swz_trace_marks_begin(&marks, w->trace, binding->profile, thread);
	swz_trace_flows_begin(&flows, w->trace, binding, thread);
	while (swz_trace_next(w->json.stream, w->trace, events, &event)) {
		put_off(w, binding, thread->record.tid, &off, event.ticks);
		put_marks(w, binding, thread->record.tid, &marks, event.ticks);
		put_flows(w, binding, thread->record.tid, &flows, event.ticks);
		put_event(w, binding, thread->record.tid, &event);
	}
	put_off(w, binding, thread->record.tid, &off, off.end);
	put_marks(w, binding, thread->record.tid, &marks, marks.to);
	put_flows(w, binding, thread->record.tid, &flows, flows.to);
	swz_trace_off_free(&off);
	swz_values_close(w->values);
	swz_trace_close(w->trace, events, thread);
}

void swz_write_chrome(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.json = {.stream = stream}, .trace = trace};
	size_t i, j;

	swz_json_open(&w.json, NULL, "{");
	swz_json_string(&w.json, "displayTimeUnit", "ns");
	swz_json_open(&w.json, "otherData", "{");
	swz_json_string(&w.json, "times",
			trace->count
				? swz_trace_times(trace->bindings[0].profile)
				: SWZ_RAW_TIMES);
	swz_json_close(&w.json, "}");
	swz_json_open(&w.json, "traceEvents", "[");
	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];
		struct swz_profile *profile = binding->profile;
		char name[SWZ_PROCESS_NAME_BYTES];

		put_name(&w, "process_name", profile->header.pid,
			 profile->header.pid,
			 swz_process_name(profile, name, sizeof(name)));
		for (j = 0; j < profile->thread_count; j++)
			if (swz_trace_wants(trace, &profile->threads[j]))
				put_thread(&w, binding, &profile->threads[j]);
	}
	swz_json_close(&w.json, "\n]");
	if (trace->choice.left_out)
		swz_json_integer(&w.json, "callsLeftOut",
				 trace->choice.left_out);
	swz_json_close(&w.json, "}\n");
	swz_shown_free(&w.shown);
}
