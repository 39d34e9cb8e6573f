/* Perfetto's protobuf (protos/perfetto/trace of its sources, which are its
 * documentation): a sequence of TracePackets. Here each thread is a packet
 * sequence of its own, with interned names: a number stands for a name, and the
 * packet that uses it first says what it is. */

#include <stdlib.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/costs/trace.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/encoders.h"

enum trace_field { TRACE_PACKET = 1 };

enum packet_field {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_EVENT = 11,
	PACKET_INTERNED = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK = 60
};

enum { STATE_CLEARED = 1, NEEDS_STATE = 2 }; /* of sequence_flags */

enum event_field {
	EVENT_CATEGORY = 3, /* interned */
	EVENT_ANNOTATION = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10, /* interned */
	EVENT_TRACK = 11,
	EVENT_CATEGORY_TEXT = 22,
	EVENT_NAME_TEXT = 23,
	EVENT_FLOW = 47,     /* begins here */
	EVENT_FLOW_ENDS = 48 /* terminating_flow_ids */
};

enum { TYPE_SLICE_BEGIN = 1, TYPE_SLICE_END = 2, TYPE_INSTANT = 3 };

enum { ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };

enum { INTERNED_CATEGORIES = 1, INTERNED_NAMES = 2 };

enum { INTERNED_ID = 1, INTERNED_TEXT = 2 };

enum track_field {
	TRACK_UUID = 1,
	TRACK_PROCESS = 3,
	TRACK_THREAD = 4,
	TRACK_PARENT = 5
};

enum {
	PROCESS_PID = 1,
	PROCESS_COMMAND = 2,
	PROCESS_NAME = 6,
	PROCESS_LABELS = 8
};

enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };

#define DEFAULTS_EVENT 11 /* TracePacketDefaults.track_event_defaults */

struct writing {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_message packet, part, piece, interned;
	struct swz_message out;
	struct swz_value_reader *values;
	struct swz_shown_value shown;
	uint64_t sequences, tracks; /* so far */
	/* of the sequence: what has been interned; functions and modules */
	struct swz_map names, categories;
};

static void put_packet(struct writing *w)
{
	swz_message_nest(&w->out, TRACE_PACKET, &w->packet);
	fwrite(w->out.bytes, 1, w->out.size, w->stream);
	w->out.size = 0;
}

static uint64_t put_process(struct writing *w,
			    const struct swz_profile *profile)
{
	char name[SWZ_PROCESS_NAME_BYTES];
	uint64_t track = ++w->tracks;
	size_t i;

	swz_message_add(&w->piece, PROCESS_PID, (uint64_t)profile->header.pid);
	for (i = 0; i < profile->argument_count; i++)
		swz_message_text(&w->piece, PROCESS_COMMAND,
				 profile->arguments[i]);
	swz_message_text(&w->piece, PROCESS_NAME,
			 swz_process_name(profile, name, sizeof(name)));
	swz_message_text(&w->piece, PROCESS_LABELS, swz_trace_times(profile));
	swz_message_add(&w->part, TRACK_UUID, track);
	swz_message_nest(&w->part, TRACK_PROCESS, &w->piece);
	swz_message_nest(&w->packet, PACKET_TRACK, &w->part);
	put_packet(w);
	return track;
}

/* The thread's track, and the beginning of its sequence. */
static void begin_thread(struct writing *w, const struct swz_profile *profile,
			 const struct swz_profile_thread *thread,
			 uint64_t process)
{
	uint64_t track = ++w->tracks;
	char buffer[32];

	w->sequences++;
	swz_message_add(&w->piece, THREAD_PID, (uint64_t)profile->header.pid);
	swz_message_add(&w->piece, THREAD_TID, (uint64_t)thread->record.tid);
	swz_message_text(&w->piece, THREAD_NAME,
			 swz_trace_thread_name(thread, buffer, sizeof(buffer)));
	swz_message_add(&w->part, TRACK_UUID, track);
	swz_message_add(&w->part, TRACK_PARENT, process);
	swz_message_nest(&w->part, TRACK_THREAD, &w->piece);
	swz_message_add(&w->packet, PACKET_SEQUENCE, w->sequences);
	swz_message_add(&w->packet, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
	swz_message_nest(&w->packet, PACKET_TRACK, &w->part);
	swz_message_add(&w->piece, EVENT_TRACK, track);
	swz_message_nest(&w->part, DEFAULTS_EVENT, &w->piece);
	swz_message_nest(&w->packet, PACKET_DEFAULTS, &w->part);
	put_packet(w);
	swz_map_free(&w->names);
	swz_map_free(&w->categories);
}

/* The number that stands for a key; where it is new, interned is told so. */
static uint64_t intern(struct writing *w, struct swz_map *map, uint32_t field,
		       uint64_t key, const char *text)
{
	uint32_t *found = swz_map_at(map, key, 0);

	if (*found == SWZ_MAP_NONE) {
		*found = (uint32_t)map->count;
		swz_message_add(&w->piece, INTERNED_ID, *found);
		swz_message_text(&w->piece, INTERNED_TEXT, text);
		swz_message_nest(&w->interned, field, &w->piece);
	}
	return *found;
}

static void describe(struct writing *w, struct swz_binding *binding,
		     const struct swz_event *event)
{
	const struct swz_catalog *catalog = w->trace->catalog;
	uint32_t index = swz_trace_function(binding, event);
	const struct swz_catalog_function *function =
		&catalog->functions[index];
	const struct swz_settings *settings;
	bool banded;

	swz_message_add(
		&w->part, EVENT_NAME,
		intern(w, &w->names, INTERNED_NAMES, index, function->name));
	/* the band that the configuration gives it, or its module */
	settings = swz_rules_of(w->trace->choice.rules.rules, catalog, index);
	banded = settings && settings->band;
	swz_message_add(
		&w->part, EVENT_CATEGORY,
		intern(w, &w->categories, INTERNED_CATEGORIES,
		       banded ? (uintptr_t)settings->band : function->module,
		       banded ? settings->band
			      : swz_catalog_module_name(catalog, function)));
}

static void annotate(struct writing *w, const char *name, const char *value)
{
	swz_message_text(&w->piece, ANNOTATION_NAME, name);
	swz_message_text(&w->piece, ANNOTATION_STRING, value);
	swz_message_nest(&w->part, EVENT_ANNOTATION, &w->piece);
}

static void begin_event(struct writing *w, struct swz_binding *binding,
			uint64_t ticks, uint64_t type)
{
	int64_t ns = swz_trace_ns(w->trace, binding, ticks);

	swz_message_put(&w->packet, PACKET_TIMESTAMP, (uint64_t)ns);
	swz_message_add(&w->packet, PACKET_SEQUENCE, w->sequences);
	swz_message_add(&w->packet, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	swz_message_add(&w->part, EVENT_TYPE, type);
}

static void end_event(struct writing *w)
{
	if (w->interned.size)
		swz_message_nest(&w->packet, PACKET_INTERNED, &w->interned);
	swz_message_nest(&w->packet, PACKET_EVENT, &w->part);
	put_packet(w);
}

static void annotate_values(struct writing *w, struct swz_binding *binding,
			    const struct swz_event *event)
{
	struct swz_call_values values;
	size_t i;

	if (!swz_values_of(w->values, event, &values))
		return;
	for (i = 0; i < swz_shown_count(&values); i++) {
		swz_shown_read(&w->shown, binding, &values, i);
		annotate(w, w->shown.name.text, w->shown.text.text);
	}
}

static void put_event(struct writing *w, struct swz_binding *binding,
		      const struct swz_event *event)
{
	const char *ending;

	begin_event(w, binding, event->ticks,
		    event->begins ? TYPE_SLICE_BEGIN : TYPE_SLICE_END);
	if (event->begins)
		describe(w, binding, event);
	else if ((ending = swz_trace_ending(event)))
		annotate(w, "ended by", ending);
	annotate_values(w, binding, event);
	end_event(w);
}

/* Keys of names and categories, which no function and no module has. */
#define PREEMPTED (SWZ_INDEX_NONE - 1)
#define WAITING (SWZ_INDEX_NONE - 2)
#define KERNEL (SWZ_INDEX_NONE - 1)

static void put_off(struct writing *w, struct swz_binding *binding,
		    struct swz_trace_off *off, uint64_t until)
{
	struct swz_off_time time;

	while (swz_trace_off_next(off, until, &time)) {
		begin_event(w, binding, time.from, TYPE_SLICE_BEGIN);
		swz_message_add(&w->part, EVENT_NAME,
				intern(w, &w->names, INTERNED_NAMES,
				       time.preempted ? PREEMPTED : WAITING,
				       swz_trace_off_name(&time)));
		swz_message_add(&w->part, EVENT_CATEGORY,
				intern(w, &w->categories, INTERNED_CATEGORIES,
				       KERNEL, "kernel"));
		end_event(w);
		begin_event(w, binding, time.to, TYPE_SLICE_END);
		end_event(w);
	}
}

/* Marks are on the thread's track, or on that of the process. */
static void put_marks(struct writing *w, struct swz_binding *binding,
		      struct swz_trace_marks *marks, uint64_t until,
		      uint64_t process)
{
	const struct swz_profile_mark *mark;

	while ((mark = swz_trace_marks_next(marks, until))) {
		char *text = swz_mark_text(mark);

		begin_event(w, binding, mark->ticks, TYPE_INSTANT);
		swz_message_text(&w->part, EVENT_CATEGORY_TEXT, "mark");
		swz_message_text(&w->part, EVENT_NAME_TEXT, text);
		if (swz_mark_is_of_process(mark))
			swz_message_add(&w->part, EVENT_TRACK, process);
		end_event(w);
		free(text);
	}
}

/* Flows lead from one instant to another, each in the calls that are open then:
 * an event that ends a call can have none. */
static void put_flows(struct writing *w, struct swz_binding *binding,
		      struct swz_trace_flows *flows, uint64_t until)
{
	const struct swz_flow *flow;
	bool is_to;

	while ((flow = swz_trace_flows_next(flows, until, &is_to))) {
		char *other = swz_trace_flow_text(w->trace, is_to ? &flow->from
								  : &flow->to);
		char *text = swz_print("%s %s", is_to ? "woken by" : "wakes",
				       other);

		begin_event(w, binding,
			    is_to ? flow->to.ticks : flow->from.ticks,
			    TYPE_INSTANT);
		swz_message_text(&w->part, EVENT_CATEGORY_TEXT, "flow");
		swz_message_text(&w->part, EVENT_NAME_TEXT, text);
		swz_message_fixed64(&w->part,
				    is_to ? EVENT_FLOW_ENDS : EVENT_FLOW,
				    swz_trace_flow_id(w->trace, flow));
		end_event(w);
		free(text);
		free(other);
	}
}

static void put_thread(struct writing *w, struct swz_binding *binding,
		       const struct swz_profile_thread *thread,
		       uint64_t process)
{
	struct swz_events *events = swz_trace_open(w->trace, binding, thread);
	struct swz_trace_marks marks;
	struct swz_trace_flows flows;
	struct swz_trace_off off;
	struct swz_event event;

	begin_thread(w, binding->profile, thread, process);
	w->values = swz_values_open(binding->profile, thread);
	swz_trace_off_begin(&off, w->trace, thread);
	swz_trace_off_sampled(&off, binding->profile, thread);
	swz_trace_marks_begin(&marks, w->trace, binding->profile, thread);
	swz_trace_flows_begin(&flows, w->trace, binding, thread);
	while (swz_trace_next(w->stream, w->trace, events, &event)) {
		put_off(w, binding, &off, event.ticks);
		put_marks(w, binding, &marks, event.ticks, process);
		put_flows(w, binding, &flows, event.ticks);
		put_event(w, binding, &event);
	}
	put_off(w, binding, &off, off.end);
	put_marks(w, binding, &marks, marks.to, process);
	put_flows(w, binding, &flows, flows.to);
	swz_trace_off_free(&off);
	swz_values_close(w->values);
	swz_trace_close(w->trace, events, thread);
}

void swz_write_perfetto(FILE *stream, struct swz_trace *trace)
{
	struct writing w = {.stream = stream, .trace = trace};
	size_t i, j;

	for (i = 0; i < trace->count; i++) {
		struct swz_binding *binding = &trace->bindings[i];
		const struct swz_profile *profile = binding->profile;
		uint64_t process = put_process(&w, profile);

		for (j = 0; j < profile->thread_count; j++)
			if (swz_trace_wants(trace, &profile->threads[j]))
				put_thread(&w, binding, &profile->threads[j],
					   process);
	}
	swz_shown_free(&w.shown);
	swz_message_free(&w.packet);
	swz_message_free(&w.part);
	swz_message_free(&w.piece);
	swz_message_free(&w.interned);
	swz_message_free(&w.out);
	swz_map_free(&w.names);
	swz_map_free(&w.categories);
}
