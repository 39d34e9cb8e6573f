#ifndef SWZ_PROFILE_FILE_EVENTS_H
#define SWZ_PROFILE_FILE_EVENTS_H

/* A trace holds the begin and the end of each activation of a thread, in
 * the order of time. Read from the file as it goes, so the memory is bounded by
 * the depth of calls and not by the trace.
 *
 * The file is not trusted. Whatever it says,
 *  - begins and ends are nested: each end is that of the latest activation that
 *    has begun and not ended, and all have ended at the end of the iteration;
 *  - no time is less than the one before, or past the thread's last moment.
 * What the file does not hold is made up and marked (`cut`): ends of what is
 * open at the end, begins of what was entered before the oldest event that was
 * kept, both at the limits of a range of time.
 *
 * A trace may have stopped for want of room (--max-size), or its oldest events
 * may have been overwritten (--ring). Nothing is said of what was open in that
 * time: what is open ends at the last event there is, and begins at the first.
 * The time without events is handed out as if it were an activation of its own
 * outside of all others (`untraced`). */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"

struct swz_events;

struct swz_event {
	bool begins;   /* an activation begins; else: the latest ends */
	bool cut;      /* it is made up: the file has none here */
	bool untraced; /* no activation but the time of which there are no
			* events: cut; it has no node and no function */
	bool stopped;  /* an end that is cut since the trace has stopped */
	uint8_t how; /* enum swz_event_kind. Begins: ENTER, a call; RESUME, what
		      * was suspended goes on; JUMP, a call without a time of
		      * its own. Ends: RETURN, UNWIND, SKIP, SUSPEND */
	uint32_t node;     /* the call edge and its context: file offset / 64 */
	uint32_t function; /* into profile->functions, or SWZ_INDEX_NONE */
	uint32_t depth;    /* activations around it */
	uint64_t call_site;
	uint64_t ticks; /* rdtsc */
};

/* Begins an iteration over the events of a thread of PROFILE; both must outlive
 * it. Where there are none, the first swz_events_next says so. Hidden
 * activations (-N; our own work) are left out. */
struct swz_events *swz_events_open(const struct swz_profile *profile,
				   const struct swz_profile_thread *thread);
void swz_events_close(struct swz_events *events); /* NULL is fine */

/* Before the first swz_events_next, which then looks at it: only what happens
 * from FROM to TO (ticks). What is open then begins at FROM, and ends at TO.
 * What happens at TO is of the time after it, so that ranges side by side share
 * nothing. */
void swz_events_limit(struct swz_events *events, uint64_t from, uint64_t to);

/* Before that, too: hidden activations as well. */
void swz_events_show_hidden(struct swz_events *events);

/* Nodes by their units. */
struct swz_unit_set {
	uint32_t first, count;
	uint8_t *bits; /* of unit FIRST + i: bit i % 8 of byte i / 8; NULL: no
			* set */
};

static inline bool swz_unit_set_has(const struct swz_unit_set *set,
				    uint32_t unit)
{
	uint32_t at = unit - set->first;

	return at < set->count && set->bits[at / 8] >> at % 8 & 1;
}

/* Before that, too: activations of nodes that are not in SHOWN are hidden. It
 * must outlive the iteration. */
void swz_events_show_only(struct swz_events *events,
			  const struct swz_unit_set *shown);

/* The next event. False: there is no more. */
bool swz_events_next(struct swz_events *events, struct swz_event *event);

/* Damage that was met so far. */
struct swz_events_damage {
	uint64_t foreign;    /* events of nodes that the thread does not have */
	uint64_t stray;      /* ends of what had not begun */
	uint64_t torn;       /* begins without an end, before others ended */
	uint64_t lost_pages; /* that could not be read */
};
const struct swz_events_damage *swz_events_damage(
	const struct swz_events *events);

/* How much of the thread's trace has been read, and how much there is; bytes.
 */
uint64_t swz_events_position(const struct swz_events *events);
uint64_t swz_events_size(const struct swz_profile_thread *thread);

/* True if the profile is a trace. */
bool swz_profile_traced(const struct swz_profile *profile);

/* When the program's own time begins: the first thread's, in ticks. */
uint64_t swz_profile_origin(const struct swz_profile *profile);

/* A time relative to that, in ns. */
int64_t swz_events_ns(const struct swz_profile *profile, uint64_t ticks);

/* --- while it grows --------------------------------------------------------
 */

/* A trace that is being recorded is read again and again, each time by a
 * profile that was read anew, from the event on that was handed out last.
 * Begins and ends are as the thread has recorded them: not nested, nothing made
 * up. */

struct swz_event_word {
	uint32_t unit; /* of the node */
	uint8_t kind;  /* enum swz_event_kind, or 7 */
	uint64_t ticks;
};

/* Where the reading of a thread goes on; begins with zeros. */
struct swz_events_place {
	struct swz_event_word last; /* unit 0: nothing was read yet */
	uint64_t hole; /* ticks of the event behind one that was not written
			* yet; 0: there is none */
	uint64_t hole_since; /* rdtsc, when that was met */
	bool lost; /* the last event is not in the file any more: events
		    * between it and the next may be missing */
};

/* 0.2 s, in ticks: so long it is waited for what a thread puts down late, as a
 * signal's handler or another process came between. */
uint64_t swz_late_ticks(const struct swz_profile *profile);

struct swz_new_events;

/* Events behind PLACE that are not later than UNTIL, which must be a time
 * before the profile was read: by then all that is not later is in it.
 * UINT64_MAX: the process has ended, and all are handed out. PLACE moves on. */
struct swz_new_events *swz_new_events_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread, struct swz_events_place *place,
	uint64_t until);
bool swz_new_events_next(struct swz_new_events *events,
			 struct swz_event_word *word);
/* After the last one: more that are not later than UNTIL lie behind a part that
 * this profile lacks, and come by a later one. */
bool swz_new_events_wait(const struct swz_new_events *events);
void swz_new_events_close(struct swz_new_events *events); /* NULL is fine */

/* --- from when to when --------------------------------------------------- */

/* From when to when the trace of a thread holds its events. */

struct swz_event_extent {
	uint64_t from; /* ticks: the thread's start; or its first event, where
			* older ones were overwritten (--ring) */
	uint64_t to;   /* the thread's last moment; or its last event, where
			* later ones had no room (--max-size) */
};

/* Where a thread has lost all its events both are its last moment. Reads the
 * thread's first event and last chunk. */
struct swz_event_extent swz_event_extent(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);

/* True if there is any time of the thread without events. */
bool swz_event_extent_is_partial(const struct swz_profile *profile,
				 const struct swz_profile_thread *thread);

#endif
