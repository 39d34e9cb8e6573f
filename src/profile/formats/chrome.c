/* The JSON that chrome://tracing made known and many viewers read: "Trace Event
 * Format", an object with an array of events. B and E are the begin and the end
 * of an activation, nested in each thread; i is a mark; M names processes and
 * threads. Times are in microseconds. */

#include <inttypes.h>
#include <stdlib.h>

#include "profile/file/marks.h"
#include "profile/file/process_name.h"
#include "profile/support/output.h"
#include "profile/costs/trace.h"
#include "profile/formats/shown_values.h"

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_value_reader *values;
	struct swz_shown_value shown;
	uint64_t depth; /* of calls that are open in the thread */
	bool any;
};

static void begin_object(struct writing *w, char phase, int32_t pid,
			 int32_t tid)
{
	fputs_unlocked(w->any ? ",\n{\"ph\":\"" : "{\"ph\":\"", w->stream);
	putc_unlocked(phase, w->stream);
	fputs_unlocked("\",\"pid\":", w->stream);
	swz_put_integer(w->stream, pid);
	fputs_unlocked(",\"tid\":", w->stream);
	swz_put_integer(w->stream, tid);
	w->any = true;
}

static void put_name(struct writing *w, const char *what, int32_t pid,
		     int32_t tid, const char *name)
{
	begin_object(w, 'M', pid, tid);
	fprintf(w->stream, ",\"name\":\"%s\",\"args\":{\"name\":", what);
	swz_put_json(w->stream, name);
	fputs("}}", w->stream);
}

static void put_time(FILE *stream, int64_t ns)
{
	char decimals[] = {'.', (char)('0' + ns / 100 % 10),
			   (char)('0' + ns / 10 % 10), (char)('0' + ns % 10),
			   '\0'};

	fputs_unlocked(",\"ts\":", stream);
	swz_put_integer(stream, ns / 1000);
	fputs_unlocked(decimals, stream);
}

/* "name":"text" of each value. */
static void put_values(struct writing *w, struct swz_binding *binding,
		       const struct swz_call_values *values)
{
	size_t i;

	for (i = 0; i < swz_shown_count(values); i++) {
		swz_shown_read(&w->shown, binding, values, i);
		fputs(i ? "," : "", w->stream);
		swz_put_json(w->stream, w->shown.name.text);
		putc(':', w->stream);
		swz_put_json(w->stream, w->shown.text.text);
	}
}

static void put_arguments(struct writing *w, struct swz_binding *binding,
			  const struct swz_event *event)
{
	struct swz_call_values values;
	const char *ending = event->begins ? NULL : swz_trace_ending(event);

	if (!swz_values_of(w->values, event, &values)) {
		if (ending)
			fprintf(w->stream, ",\"args\":{\"ended by\":\"%s\"}",
				ending);
		return;
	}
	fputs(",\"args\":{", w->stream);
	if (ending)
		fprintf(w->stream, "\"ended by\":\"%s\"%s", ending,
			swz_shown_count(&values) ? "," : "");
	put_values(w, binding, &values);
	putc('}', w->stream);
}

/* The band that the configuration gives it, or its module. */
static void put_category(struct writing *w, uint32_t function)
{
	const struct swz_settings *settings = swz_rules_of(
		w->trace->choice.rules.rules, w->trace->catalog, function);

	swz_put_json(
		w->stream,
		settings && settings->band
			? settings->band
			: swz_catalog_module_name(
				  w->trace->catalog,
				  &w->trace->catalog->functions[function]));
}

static void put_event(struct writing *w, struct swz_binding *binding,
		      int32_t tid, const struct swz_event *event)
{
	int64_t ns = swz_trace_ns(w->trace, binding, event->ticks);

	w->depth += event->begins ? 1 : UINT64_MAX;
	begin_object(w, event->begins ? 'B' : 'E', binding->profile->header.pid,
		     tid);
	put_time(w->stream, ns);
	if (event->begins) {
		const struct swz_catalog_function *function =
			&w->trace->catalog->functions[swz_trace_function(
				binding, event)];

		fputs(",\"name\":", w->stream);
		swz_put_json(w->stream, function->name);
		fputs(",\"cat\":", w->stream);
		put_category(w, swz_trace_function(binding, event));
	}
	put_arguments(w, binding, event);
	putc('}', w->stream);
}

static void put_off(struct writing *w, struct swz_binding *binding, int32_t tid,
		    struct swz_trace_off *off, uint64_t until)
{
	int32_t pid = binding->profile->header.pid;
	struct swz_off_time time;

	while (swz_trace_off_next(off, until, &time)) {
		begin_object(w, 'B', pid, tid);
		put_time(w->stream, swz_trace_ns(w->trace, binding, time.from));
		fprintf(w->stream, ",\"name\":\"%s\",\"cat\":\"kernel\"}",
			swz_trace_off_name(&time));
		begin_object(w, 'E', pid, tid);
		put_time(w->stream, swz_trace_ns(w->trace, binding, time.to));
		putc('}', w->stream);
	}
}

/* Of the thread, or of the whole process. */
static void put_marks(struct writing *w, struct swz_binding *binding,
		      int32_t tid, struct swz_trace_marks *marks,
		      uint64_t until)
{
	const struct swz_profile_mark *mark;

	while ((mark = swz_trace_marks_next(marks, until))) {
		char *text = swz_mark_text(mark);

		begin_object(w, 'i', binding->profile->header.pid, tid);
		put_time(w->stream,
			 swz_trace_ns(w->trace, binding, mark->ticks));
		fputs(",\"name\":", w->stream);
		swz_put_json(w->stream, text);
		fprintf(w->stream, ",\"cat\":\"mark\",\"s\":\"%c\"}",
			swz_mark_is_of_process(mark) ? 'p' : 't');
		free(text);
	}
}

static void put_slice(struct writing *w, struct swz_binding *binding,
		      int32_t tid, const struct swz_flow_end *end, bool begins)
{
	begin_object(w, begins ? 'B' : 'E', binding->profile->header.pid, tid);
	put_time(w->stream, swz_trace_ns(w->trace, binding, end->ticks));
	if (begins)
		fprintf(w->stream, ",\"name\":\"[%s]\",\"cat\":\"flow\"",
			end->function);
	putc('}', w->stream);
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
		begin_object(w, is_to ? 'f' : 's', binding->profile->header.pid,
			     tid);
		put_time(w->stream,
			 swz_trace_ns(w->trace, binding, end->ticks));
		fprintf(w->stream, ",\"id\":%" PRIu64 ",\"name\":",
			swz_trace_flow_id(w->trace, flow));
		swz_put_json(w->stream, flow->from.function);
		fprintf(w->stream, ",\"cat\":\"flow\"%s}",
			is_to ? ",\"bp\":\"e\"" : "");
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
	swz_trace_marks_begin(&marks, w->trace, binding->profile, thread);
	swz_trace_flows_begin(&flows, w->trace, binding, thread);
	while (swz_trace_next(w->stream, w->trace, events, &event)) {
		put_off(w, binding, thread->record.tid, &off, event.ticks);
		put_marks(w, binding, thread->record.tid, &marks, event.ticks);
		put_flows(w, binding, thread->record.tid, &flows, event.ticks);
		put_event(w, binding, thread->record.tid, &event);
	}
	put_off(w, binding, thread->record.tid, &off, off.end);
	put_marks(w, binding, thread->record.tid, &marks, marks.to);
	put_flows(w, binding, thread->record.tid, &flows, flows.to);
	swz_values_close(w->values);
	swz_trace_close(w->trace, events, thread);
}

void swz_write_chrome(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	size_t i, j;

	fputs("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"times\":"
	      "\"" SWZ_RAW_TIMES "\"},\"traceEvents\":[\n",
	      stream);
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
	fputs("\n]", stream);
	if (trace->choice.left_out)
		fprintf(stream, ",\"callsLeftOut\":%" PRIu64,
			trace->choice.left_out);
	fputs("}\n", stream);
	swz_shown_free(&w.shown);
}
