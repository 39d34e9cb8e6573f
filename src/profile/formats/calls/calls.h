#ifndef SWZ_PROFILE_FORMATS_CALLS_CALLS_H
#define SWZ_PROFILE_FORMATS_CALLS_CALLS_H

/* -f calls: the calls of a trace, one by one, with what is known of their
 * arguments and results. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "profile/costs/trace.h"
#include "profile/file/records.h"
#include "profile/names/function_rules.h"
#include "profile/names/value_print.h"
#include "util/figures.h"
#include "util/memory.h"

/* --- what pointers led to ------------------------------------------------- */

/* dump_this: what the fields of an object were, so that a call shows which have
 * changed: since the method before on the same object, in the call itself, and,
 * where the call failed, since the same function last succeeded.
 *
 * In texts marks say what is what: SWZ_CHANGED and SWZ_UNCHANGED stand around
 * what has changed, SWZ_OBJECT and SWZ_OBJECT_END around an object's fields,
 * and SWZ_FIELD between them. */

#define SWZ_CHANGED "\1"
#define SWZ_UNCHANGED "\2"
#define SWZ_OBJECT "\3"
#define SWZ_OBJECT_END "\4"
#define SWZ_FIELD "\5"
#define SWZ_MARKS SWZ_CHANGED SWZ_UNCHANGED SWZ_OBJECT SWZ_OBJECT_END SWZ_FIELD

/* Fields with what they were: names and texts, each with a NUL. Begins with
 * zeros; to be freed by swz_text_free(). */
struct swz_object_fields {
	struct swz_text text;
};

/* The latest fields of objects, and of the objects of calls that succeeded; of
 * the latest few thousand objects, so memory is bounded. */
struct swz_objects;
struct swz_objects *swz_objects_new(void);
void swz_objects_forget(struct swz_objects *objects); /* another thread's */
void swz_objects_free(struct swz_objects *objects);   /* NULL is fine */

/* Takes the marks away. */
void swz_text_unmark(struct swz_text *text);

/* A call of FUNCTION with such an object has ended. If it FAILED, TEXT gets how
 * the object differed from that of the last call that succeeded: "open = false,
 * not true". */
void swz_object_put_unlike(struct swz_text *text, struct swz_objects *objects,
			   const struct swz_object_fields *fields,
			   uint32_t function, bool failed);

/* --- values that are pointed at ------------------------------------------ */

/* Targets of pointers among arguments, before and after a call: "*n: 0 -> 17".
 */

/* Targets of an entry's arguments. Begins with zeros. */
struct swz_pointed_values {
	struct swz_objects *objects; /* what is known of others; or NULL */
	struct swz_text text; /* of numbers and pointers: names and texts, each
			       * with a NUL */
	struct swz_object_fields object;
	uint64_t address; /* the object's; 0: there was none */
};
/* Forgets what was kept. */
void swz_pointed_clear(struct swz_pointed_values *values);
void swz_pointed_free(struct swz_pointed_values *values);

/* Adds "name = value, *name = value" of an entry, and keeps what they point at
 * in place of what was kept before. BEFORE may be NULL. */
void swz_pointed_arguments(struct swz_text *text,
			   struct swz_pointed_values *before,
			   struct swz_binding *binding,
			   const struct swz_call_values *entry);

/* Adds what the arguments of a return point at; BEFORE: at its entry. */
void swz_pointed_print(struct swz_text *text, struct swz_binding *binding,
		       const struct swz_call_values *back,
		       struct swz_pointed_values *before);

struct swz_calls_options {
	const struct swz_style *style; /* NULL: no colours, any width */
	uint32_t depth;                /* levels that are shown; 0: all */
	bool at;                       /* --at: the stacks at this moment */
	uint64_t at_ticks;
	bool blame;             /* --blame: where errors come from */
	bool apart;             /* --file-per-invocation */
	bool why;               /* --why: the slowest of these; with that */
	size_t nth;             /* --call: the nth slowest; 0: the slowest */
	bool json;              /* --json */
	struct swz_patterns of; /* --calls-of: these functions' calls */
	size_t first;           /* -n of all calls: so many; 0: all */
	size_t rows;            /* of those, or calls of a page, or files; 0:
				 * all */
	bool by_start; /* in the order of time, not the longest first */
};

void swz_write_calls(FILE *stream, struct swz_trace *trace);

void swz_write_calls_of(FILE *stream, struct swz_trace *trace);

/* Writes last values by context, for profiles that are no traces. */
void swz_write_calls_last(FILE *stream, struct swz_trace *trace);

/* The text of an exception whose type is not known. */
#define SWZ_ANY_EXCEPTION "! exception"

/* An end of an activation, as it is shown behind its call. */
struct swz_call_end {
	struct swz_text text;   /* "= 5", "! std::bad_alloc", "" */
	struct swz_text out;    /* "*n: 0 -> 3", "*n = 3"; "" */
	struct swz_text unlike; /* how the object differs: the marks above */
	struct swz_call_values values; /* until the next event is read */
	bool exceptional;
	bool has_number; /* an exceptional result's */
	int64_t number;
};

/* Reads an event that ends an activation. END begins with zeros, is filled anew
 * each time. BEFORE: of swz_call_begin_print(). */
void swz_call_end_read(struct swz_call_end *end,
		       struct swz_pointed_values *before,
		       struct swz_trace *trace, struct swz_binding *binding,
		       struct swz_value_reader *values,
		       const struct swz_event *event);
void swz_call_end_free(struct swz_call_end *end);

/* "name(arguments)" of an event that begins one; without values "name". BEFORE,
 * if not NULL, keeps what the end is compared with. ARGUMENTS gets the values,
 * which are valid until the next event is read. */
void swz_call_begin_print(struct swz_text *text,
			  struct swz_pointed_values *before,
			  struct swz_trace *trace, struct swz_binding *binding,
			  struct swz_value_reader *values,
			  const struct swz_event *event,
			  struct swz_call_values *arguments);

/* The same, of values that have been read. */
void swz_call_print(struct swz_text *text, struct swz_pointed_values *before,
		    struct swz_trace *trace, struct swz_binding *binding,
		    const struct swz_call_values *arguments,
		    const struct swz_event *event);

/* True if a result is an error: as the configuration says of its function,
 * whose SETTINGS may be NULL, or of its type, or else by the type alone. */
bool swz_result_is_exceptional(const struct swz_settings *settings,
			       const struct swz_value *result);

/* The colour that the configuration gives calls of a function. */
enum swz_colour swz_call_colour(const struct swz_trace *trace,
				uint32_t function);

/* Begins a thread's part: a line that says whose it is. */
void swz_calls_put_thread(FILE *stream, const struct swz_trace *trace,
			  const struct swz_binding *binding,
			  const struct swz_profile_thread *thread);

/* Text in a colour, printable; what has changed (SWZ_CHANGED) in another
 * one. */
void swz_calls_put(FILE *stream, const struct swz_trace *trace,
		   enum swz_colour colour, const char *text);

/* --- samples one by one --------------------------------------------------- */

/* The frames of a sample that are shown, as units, the innermost first; their
 * number. SHOWN: the units of the thread that a view leaves. *PATH grows as it
 * needs to, and is the caller's to free. */
size_t swz_sample_frames(const struct swz_profile *profile,
			 const struct swz_profile_thread *thread,
			 const struct swz_unit_set *shown,
			 const struct swz_profile_sample *sample,
			 uint32_t **path, size_t *capacity);

/* The catalog's function of a unit. */
uint32_t swz_sample_function(struct swz_binding *binding, uint32_t unit);

/* Lists samples one by one. */
void swz_write_samples(FILE *stream, struct swz_trace *trace);

/* --- calls as they happen ------------------------------------------------ */

/* --follow: the calls of traces that are being recorded, of all their threads
 * in the order of time. */

struct swz_live;

/* TRACE has the options, and gets its origin from the first profile; its
 * catalog is CATALOG. All of them, and CONFIG, must outlive it. */
struct swz_live *swz_live_new(FILE *stream, struct swz_trace *trace,
			      struct swz_catalog *catalog,
			      const struct swz_config_file *config);
void swz_live_free(struct swz_live *live);

/* One more profile to be followed. */
void swz_live_add(struct swz_live *live, const char *path);

/* Writes what has happened since the last time. LAST: nothing more will be
 * written to the profiles. */
void swz_live_read(struct swz_live *live, bool last);

/* True if a profile is being written. */
bool swz_live_goes_on(const struct swz_live *live);

/* How many profiles were found; NAME: one of the others, REASON: why (not a
 * trace, damaged), or NULL. */
size_t swz_live_found(const struct swz_live *live, const char **name,
		      const char **reason);

/* --- why a call was slow ------------------------------------------------- */

/* --why: a slow call of a function beside an ordinary one. */

/* Writes which call of the functions that trace->calls->of names is the slowest
 * (or the nth slowest), and where it spends the time that an ordinary call does
 * not take: as text, or as JSON. trace->failure says if there is no such call.
 */
void swz_write_why(FILE *stream, struct swz_trace *trace);

/* Lists the calls that are kept by --slow, each rule's slowest first, as lines
 * of a comment; nothing of other traces. */
void swz_list_slow_calls(FILE *stream, struct swz_trace *trace);

/* Writes for each rule's slowest calls, 20 at the most, what swz_write_why says
 * of them: a JSON array of its objects, with the causes that people see. */
void swz_explain_slow_calls(FILE *stream, struct swz_trace *trace);

/* --- calls as rings in time ---------------------------------------------- */

/* -f rings: a picture (SVG) of the functions of a trace and who calls whom.
 * Around each function is a ring of its calls. */

enum swz_rings_clock {
	SWZ_RINGS_TIME, /* clockwise is time */
	SWZ_RINGS_CALLS /* each call is one tick, of all threads in turn */
};

/* A call's colour goes by one of these. */
enum swz_rings_paths {
	SWZ_RINGS_CALLEES,  /* the set of functions that it has called */
	SWZ_RINGS_ARGUMENTS /* the class of its arguments' values */
};

struct swz_rings_options {
	size_t rows; /* functions that are shown; 0: all */
	enum swz_rings_clock clock;
	enum swz_rings_paths paths;
};

/* Where graphviz is missing or fails, trace->failure says so. */
void swz_write_rings(FILE *stream, struct swz_trace *trace);

/* --- the calls of the picture --------------------------------------------- */

/* The part of a trace that the picture of -f rings shows. The trace is read
 * twice: first for the sums, by which the functions are chosen, then for the
 * calls of those. Memory goes by the functions and the pixels, not by the
 * trace's length. */

#define SWZ_RINGS_STEPS 360u /* of a ring, about a pixel each */
#define SWZ_RINGS_LEVELS 12u /* of a ring's thickness */
#define SWZ_RINGS_MOST_SEGMENTS 5000u

/* One call, or several that would lie on the same pixel. */
struct swz_rings_segment {
	int64_t from, to; /* on the clock */
	int64_t longest;  /* of its calls; its path and depth are shown */
	uint64_t calls;
	uint32_t path; /* index in the ring's */
	uint32_t depth;
	uint32_t level; /* of thickness, by depth */
};

struct swz_rings_path {
	char *text;
	uint64_t calls;
	uint32_t colour; /* from 0, by calls */
};

struct swz_rings_ring {
	uint32_t function; /* of the catalog */
	uint64_t calls;
	int64_t self_ns, inclusive_ns;
	struct swz_rings_segment *segments; /* by level falling, then by time */
	size_t segment_count, segment_capacity;
	uint64_t left_out; /* calls: more segments than a ring may have */
	struct swz_rings_path *paths;
	size_t path_count, path_capacity;
};

struct swz_rings_edge {
	uint32_t caller, callee; /* rings */
	uint64_t calls;
	uint64_t direct; /* of these; others lead through hidden functions */
};

/* For a function of the catalog. */
struct swz_rings_sum {
	uint64_t calls, open;
	int64_t self_ns, inclusive_ns;
	uint32_t depth; /* the most that a call of it has reached */
	uint32_t ring;  /* SWZ_RINGS_NONE: it is hidden */
};

struct swz_rings {
	struct swz_trace *trace;
	int64_t begin, end;  /* on the clock */
	int64_t first, last; /* of all calls: ns */
	uint64_t calls;      /* of all functions */
	int64_t self_ns;
	size_t present;               /* functions */
	uint32_t most_depth;          /* of what is shown */
	struct swz_rings_ring *rings; /* most self time first */
	size_t count;
	struct swz_rings_edge *edges;
	size_t edge_count, edge_capacity;
	/* while the trace is read: */
	struct swz_rings_sum *sums; /* by function of the catalog */
	size_t sum_count;
	struct swz_map path_map, segment_map, edge_map;
};

/* To be freed. STREAM: reading ends where it cannot be written to. */
void swz_rings_collect(struct swz_rings *rings, FILE *stream,
		       struct swz_trace *trace);
void swz_rings_free(struct swz_rings *rings);

/* The index of a ring's path that KEY tells from others; a new one has no text
 * yet. */
uint32_t swz_rings_path(struct swz_rings *rings, uint32_t ring, uint64_t key);

/* --- walking through calls ----------------------------------------------- */

/* Errors that have returned to a call that is open, by the value that they
 * have: so a call that ends with the same value has handed it on. Whoever
 * follows them keeps something with each, its trail. */

struct swz_returned_error {
	char *value;   /* owned */
	uint32_t from; /* the function that returned it */
	void *trail;   /* the caller's */
};

/* The latest last; begins with zeros. */
struct swz_returned_errors {
	struct swz_returned_error *list; /* NULL: there were none */
	size_t count;
};

/* True if NAME has returned an error by this end. What throws an exception for
 * its caller (__cxa_throw) has not. */
bool swz_errors_concern(const struct swz_call_end *end, const char *name);

/* True if a compiler has changed how NAME is called (foo.isra.0). */
bool swz_errors_is_changed(const char *name);

/* True if NAME ends without a result as a compiler has changed how it is called
 * (foo.isra.0): --args leaves such functions out, so it may have been the first
 * to return an error. */
bool swz_errors_hidden(const struct swz_call_end *end, const char *name);

/* "first returned here"; HIDDEN: the last function that the call called
 * and that hid its result; NULL: none did. To be freed. */
char *swz_errors_first(bool thrown, const char *hidden);

/* The functions below that return a trail have taken it out; NULL: there is
 * none. */

/* The trail of the error that this exceptional end hands on. */
void *swz_errors_handed_on(struct swz_returned_errors *errors,
			   const struct swz_call_end *end);

/* The trail of one that FROM returned. To be called until there are none,
 * before what a later call of FROM returned is added: the function has been
 * tried again. */
void *swz_errors_outdated(struct swz_returned_errors *errors, uint32_t from);

/* The trail of one that has no room beside this one: of the same value, or the
 * oldest. To be called until there are none, before swz_errors_add(). */
void *swz_errors_crowded_out(struct swz_returned_errors *errors,
			     const struct swz_call_end *end);
void swz_errors_add(struct swz_returned_errors *errors,
		    const struct swz_call_end *end, uint32_t from, void *trail);

/* The trail of the oldest. To be called until there are none, which frees all.
 */
void *swz_errors_remaining(struct swz_returned_errors *errors);

/* --- calls that are one -------------------------------------------------- */

/* A function without values that begins with a jump to another one, as a thunk
 * for a second base and a wrapper do, is one call with that: its own begin and
 * end are left out. */

/* The most functions that are named of those that led to a call. */
#define SWZ_MOST_THROUGH 4u

struct swz_through {
	uint32_t functions[SWZ_MOST_THROUGH]; /* of the catalog */
	unsigned count;
};

struct swz_calls_events {
	FILE *stream;
	struct swz_trace *trace;
	struct swz_binding *binding;
	struct swz_events *events;
	struct swz_event next; /* read ahead */
	bool has_next;
	uint8_t *left_out; /* of the calls that are open */
	size_t depth, capacity;
	uint32_t left_open;         /* of these: left out */
	struct swz_map asked;       /* functions that -F names: 1, others 0 */
	struct swz_through through; /* of the begin that was told last */
};

void swz_calls_events_open(struct swz_calls_events *events, FILE *stream,
			   struct swz_trace *trace, struct swz_binding *binding,
			   const struct swz_profile_thread *thread);
void swz_calls_events_close(struct swz_calls_events *events,
			    const struct swz_profile_thread *thread);

/* As swz_trace_next(). */
bool swz_calls_next(struct swz_calls_events *events, struct swz_event *event);

/* Adds " [through wrapper]" to a call; nothing, if it was called by itself. */
void swz_through_print(struct swz_text *text, const struct swz_trace *trace,
		       const struct swz_through *through);

/* --- the walk ------------------------------------------------------------ */

/* The calls of a trace, thread by thread: what they were given and returned,
 * and who returned an error first. What writes them is told of each begin and
 * each end; memory goes by the depth of calls. */

/* Watches of one function that are followed. */
#define SWZ_MOST_WATCHED 8u

struct swz_open_call_text {
	uint64_t start; /* ticks */
	uint32_t function;
	bool cut; /* it began before what is shown */
	struct swz_pointed_values before;
	struct swz_returned_errors errors;
	const char *hidden;                    /* see swz_errors_first() */
	uint64_t watched_at[SWZ_MOST_WATCHED]; /* see watch() */
};

struct swz_calls_walk {
	struct swz_trace *trace;
	struct swz_binding *binding;
	const struct swz_profile_thread *thread;
	struct swz_value_reader *values;
	struct swz_open_call_text *open; /* the innermost last */
	size_t count, capacity;
	struct swz_text begun;   /* the call that has begun last */
	struct swz_call_end end; /* the end, while it is told */
	bool has_error;          /* the end is of an error ... */
	const char *origin;      /* ... that this function returned first;
				  * NULL: the one that ends */
	struct swz_trace_flows flows;
	struct swz_objects *objects; /* of the thread */
	struct swz_watches *watches; /* the same */
	struct swz_text watched;     /* of the event: "ctx->depth: 4 -> 5, since
				      * leave at 0.000090"; or empty */
};

/* A view of calls is told these. Calls of a thread are nested; each one that
 * has begun ends. */
struct swz_calls_sink {
	FILE *stream;  /* no more is read once it has failed */
	void *context; /* the view's */
	bool stopped;  /* nor if this is set */
	/* A thread that has calls: before the first of them. */
	void (*thread)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
	/* A call is to begin at TICKS; may be NULL. */
	void (*before)(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		       uint64_t ticks);
	/* It has begun: the innermost that is open. */
	void (*begin)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
	/* The innermost ends. */
	void (*end)(struct swz_calls_sink *sink, struct swz_calls_walk *w,
		    const struct swz_event *event);
	/* The thread's end; may be NULL. */
	void (*done)(struct swz_calls_sink *sink, struct swz_calls_walk *w);
};

/* Tells SINK of all threads that are asked for. */
void swz_calls_walk(struct swz_trace *trace, struct swz_calls_sink *sink);

/* Text for the end of an error that no other call returned first: see
 * swz_errors_first(). To be freed. */
char *swz_calls_first(const struct swz_calls_walk *w);

/* Tells what woke the thread, up to UNTIL (ticks): "woken by write in app 4711
 * at 0.000123", to be freed; *TICKS: when. NULL: nothing more did. */
char *swz_calls_woken(struct swz_calls_walk *w, uint64_t until,
		      uint64_t *ticks);

static inline const char *swz_calls_name(const struct swz_calls_walk *w)
{
	return w->trace->catalog->functions[w->open[w->count - 1].function]
		.name;
}

/* Calls as indented lines. */

struct swz_calls_text {
	struct swz_calls_sink sink;
	bool has_begun; /* the innermost call is to be written yet */
	/* -n: so many are written, 0: all; then nothing but the ends of those
	 * that are open. */
	size_t most, calls, open;
	bool full;
};

/* Writes the heading. */
void swz_calls_text_begin(struct swz_calls_text *text, FILE *stream);

#endif
