#ifndef SWZ_PROFILE_COSTS_TRACE_H
#define SWZ_PROFILE_COSTS_TRACE_H

/* Calls that the configuration leaves out of a trace: those for which
 * only_show_if does not hold, with all that they call, and what is deeper than
 * `depth` below a function. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/call_tree.h"
#include "profile/costs/report.h"
#include "profile/file/events.h"
#include "profile/file/inputs.h"
#include "profile/file/records.h"
#include "profile/file/values.h"
#include "profile/flows/flows.h"
#include "profile/names/catalog.h"
#include "profile/names/function_rules.h"

struct swz_calls_options;
struct swz_rings_options;

struct swz_call_rules {
	struct swz_rules *rules; /* NULL: nothing is left out */
	uint64_t left_out;       /* calls, without what they call */
	uint64_t undecided;      /* that are shown, as a value is not known */
	/* of the thread: */
	struct swz_binding *binding;
	struct swz_value_reader *values;
	struct swz_open_call *open; /* that are shown, the outermost first */
	size_t depth, capacity;
	size_t skipped;   /* calls that are open and left out */
	uint8_t *results; /* bits: of calls with such conditions, in their
			   * order, whether those of results hold */
	size_t result_count, next_result;
};

/* --- fewer events -------------------------------------------------------- */

/* Fewer events of a trace: without short calls, without deep ones, or with one
 * of so many. A call that stays has all calls around it, so stacks stay what
 * they were. */

struct swz_event_limits {
	int64_t min_ns;     /* shorter calls are left out; 0: none is */
	uint32_t max_depth; /* calls around each other; 0: any number */
	uint64_t every;     /* one of so many calls stays; 0 and 1: all */
};

bool swz_event_limits_any(const struct swz_event_limits *limits);

struct swz_event_choice {
	struct swz_event_limits limits;
	struct swz_call_rules rules; /* what the configuration leaves out */
	uint64_t min_ticks;
	uint64_t calls;    /* that have begun, of all threads so far */
	uint64_t left_out; /* of these */
	uint64_t counter;  /* of calls of which one in `every` stays */
	uint64_t inside;   /* calls that were left out in the one whose end was
			    * handed out last */
	struct swz_event *open; /* the begins of what has not ended */
	uint64_t *left_before;  /* `left_out` when each of them began */
	size_t depth, capacity, before_capacity;
	size_t told;  /* of these were handed out: the outermost */
	size_t until; /* so many are to be handed out, ... */
	bool ends;    /* ... then this end of the innermost */
	struct swz_event end;
};

void swz_event_choice_free(struct swz_event_choice *choice);

/* --- threads of a trace -------------------------------------------------- */

/* Writers of events share this: threads of one or of several processes, in a
 * range of time, on one time scale. */

/* The writers call their times so. */
#define SWZ_RAW_TIMES "raw times, with the cost of the hooks"
#define SWZ_SAMPLED_TIMES \
	"samples: from the first of a function to the next without it"

struct swz_calls_options;
struct swz_assembly_options;
struct swz_trace {
	const struct swz_catalog *catalog; /* resolved */
	struct swz_binding *bindings;      /* one for each process */
	size_t count;
	const struct swz_thread_choice *threads;
	struct swz_range range;
	uint64_t origin; /* ticks at time 0: the first process's start */
	const struct swz_calls_options *calls;       /* of -f calls */
	const struct swz_rings_options *rings;       /* of -f rings */
	const struct swz_assembly_options *assembly; /* of -f asm; or NULL */
	char *failure; /* set by the format: why what it has written is worth
			* nothing; to be freed. NULL: nothing is known */
	const struct swz_flows *flows; /* between the processes; NULL:
					* none were recorded */
	const struct swz_view *view;   /* what is left out; the thread's part of
					* it is in shown while it is written */
	struct swz_unit_set shown;
	/* Functions whose calls are looked for: they are never one call with
	 * what they jump to. NULL: none. */
	const struct swz_patterns *sought;
	struct swz_event_choice choice; /* its limits are the caller's; what it
					 * counts is of all threads */
};

/* The meaning of its times: one of these. */
const char *swz_trace_times(const struct swz_profile *profile);

/* True if a thread is to be written. */
bool swz_trace_wants(const struct swz_trace *trace,
		     const struct swz_profile_thread *thread);

/* The events of a thread in the range; to be closed by the next one, before
 * another thread's are opened. */
struct swz_events *swz_trace_open(struct swz_trace *trace,
				  struct swz_binding *binding,
				  const struct swz_profile_thread *thread);
void swz_trace_close(struct swz_trace *trace, struct swz_events *events,
		     const struct swz_profile_thread *thread);

/* The next event; false also where what is written to STREAM goes nowhere any
 * more, on a full disk. */
bool swz_trace_next(FILE *stream, struct swz_trace *trace,
		    struct swz_events *events, struct swz_event *event);

/* A thread's times off the processor, as they come between its events. */
struct swz_trace_off {
	struct swz_switch_reader switches;
	uint64_t now;
	uint64_t end; /* ticks: of what is written of the thread */
	/* When samples waited, in place of switches; NULL: it has no samples.
	 */
	struct swz_profile_sample *samples;
	size_t sample, sample_count;
	uint64_t apart; /* ticks from one to the next while it waits */
};
void swz_trace_off_begin(struct swz_trace_off *off,
			 const struct swz_trace *trace,
			 const struct swz_profile_thread *thread);

/* Takes the samples of a sampled profile for them: free it then. */
void swz_trace_off_sampled(struct swz_trace_off *off,
			   const struct swz_profile *profile,
			   const struct swz_profile_thread *thread);
void swz_trace_off_free(struct swz_trace_off *off);

/* The next one before UNTIL, the time of the thread's next event (after the
 * last: off->end), which then lies within what is open. False: there is none.
 */
bool swz_trace_off_next(struct swz_trace_off *off, uint64_t until,
			struct swz_off_time *time);

/* A thread's marks, as they come between its events. */
struct swz_trace_marks {
	const struct swz_profile *profile;
	const struct swz_profile_thread *thread;
	size_t next;
	bool is_first; /* and those of other processes */
	uint64_t from, to;
};
void swz_trace_marks_begin(struct swz_trace_marks *marks,
			   const struct swz_trace *trace,
			   const struct swz_profile *profile,
			   const struct swz_profile_thread *thread);

/* The next one up to UNTIL, the time of the thread's next event (after the
 * last: marks->to); NULL: there is none. */
const struct swz_profile_mark *swz_trace_marks_next(
	struct swz_trace_marks *marks, uint64_t until);

/* A thread's ends of flows, as they come between its events. */
struct swz_trace_flows {
	const struct swz_trace *trace;
	struct swz_flow_reader reader;
	uint64_t to;
};
void swz_trace_flows_begin(struct swz_trace_flows *flows,
			   const struct swz_trace *trace,
			   const struct swz_binding *binding,
			   const struct swz_profile_thread *thread);

/* The next one up to UNTIL, the time of the thread's next event (after the
 * last: flows->to), of a flow that is shown with both ends; NULL: there is
 * none. *IS_TO: it ends here; else it begins here. */
const struct swz_flow *swz_trace_flows_next(struct swz_trace_flows *flows,
					    uint64_t until, bool *is_to);

/* A flow's number, from 1. */
uint64_t swz_trace_flow_id(const struct swz_trace *trace,
			   const struct swz_flow *flow);

/* "write in redis-server 4711, thread 4712" of an end: what was called where,
 * as seen from the other one; to be freed. */
char *swz_trace_flow_text(const struct swz_trace *trace,
			  const struct swz_flow_end *end);

/* As what it is shown. */
const char *swz_trace_off_name(const struct swz_off_time *time);

/* The catalog's function for an event. */
uint32_t swz_trace_function(struct swz_binding *binding,
			    const struct swz_event *event);

/* ns since time 0. */
int64_t swz_trace_ns(const struct swz_trace *trace,
		     const struct swz_binding *binding, uint64_t ticks);

/* The same from the range's, or the thread's, begin to its end. */
int64_t swz_trace_begin(const struct swz_trace *trace,
			const struct swz_binding *binding,
			const struct swz_profile_thread *thread);
int64_t swz_trace_end(const struct swz_trace *trace,
		      const struct swz_binding *binding,
		      const struct swz_profile_thread *thread);

/* A thread's name: "name", or "thread TID". In a buffer of the caller's. */
const char *swz_trace_thread_name(const struct swz_profile_thread *thread,
				  char *buffer, size_t size);

/* How an activation has ended, if not by a return: "exception", "longjmp",
 * "suspended", "trace full", "still running"; or NULL. */
const char *swz_trace_ending(const struct swz_event *event);

/* The writers. */
void swz_write_firefox(FILE *stream, struct swz_trace *trace);
void swz_write_chrome(FILE *stream, struct swz_trace *trace);
void swz_write_perfetto(FILE *stream, struct swz_trace *trace);
void swz_write_speedscope_events(FILE *stream, struct swz_trace *trace);

#endif
