#ifndef SWZ_PROFILE_FILE_RECORDS_H
#define SWZ_PROFILE_FILE_RECORDS_H

/* Moments that have a name (struct swz_mark_record): what the program has
 * marked, and when recording was paused and resumed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"
#include "profile/file/scan.h"

/* Reads a chunk of them. */
void swz_scan_marks(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);

/* Sorts them by time. The reader calls it last. */
void swz_marks_index(struct swz_profile *profile);

/* A mark's name: its text, or what it says of recording. To be freed. */
char *swz_mark_text(const struct swz_profile_mark *mark);

/* True if it is of the whole process. */
static inline bool swz_mark_is_of_process(const struct swz_profile_mark *mark)
{
	return mark->owner == SWZ_MARKS_OUTSIDE ||
	       mark->kind == SWZ_MARK_PROCESS_PAUSED ||
	       mark->kind == SWZ_MARK_PROCESS_RESUMED;
}

/* The thread that it is of; NULL: it is not known, or of the process. */
const struct swz_profile_thread *swz_mark_thread(
	const struct swz_profile *profile, const struct swz_profile_mark *mark);

/* --- embedded names ------------------------------------------------------ */

/* The chunks of embedded names (SWZ_CHUNK_SYMBOLS, SWZ_CHUNK_LINES), for
 * scan.c. */

/* Collect the records of a chunk, whose body has SIZE bytes. What is not as the
 * format says is left out, and counted once for the chunk. Modules are those of
 * chunks until swz_embedded_index(). */
void swz_scan_symbols(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size);
void swz_scan_lines(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size);

/* Refers the records to profile->modules, which are sorted. Those of no module
 * are left out. */
void swz_embedded_index(struct swz_profile *profile);

/* --- counts of call edges ------------------------------------------------ */

/* Counts of call edges (SWZ_CHUNK_COUNTS). For readers they are nodes: a folded
 * one for each edge with a caller, and one below the thread's root where the
 * place of the call lies in no function of the profile. They have no place in
 * the file: their units lie behind its end. */

/* Notes a chunk whose body begins at OFFSET and has SIZE bytes. */
void swz_scan_counts(struct swz_scan *scan, const struct swz_chunk *chunk,
		     size_t offset, size_t size);

/* Makes the nodes, and their spans. Functions and threads are sorted. */
void swz_counts_index(struct swz_scan *scan);

/* --- switches ------------------------------------------------------------- */

/* The times in which a thread did not run, in the order of time. */

/* A part of such a time. */
struct swz_off_time {
	uint64_t from, to; /* ticks; from < to */
	bool preempted;    /* another one had the processor: it did not wait */
};

struct swz_switch_reader {
	const struct swz_profile_switch *next, *end;
	uint64_t done; /* all before has been handed out */
};

/* THREAD must outlive the reader. Nothing is to be freed. */
void swz_switches_open(struct swz_switch_reader *reader,
		       const struct swz_profile_thread *thread);

/* The next time off within [FROM, TO), which is not before a part that was
 * asked for already. False: no more of it. */
bool swz_switches_next(struct swz_switch_reader *reader, uint64_t from,
		       uint64_t to, struct swz_off_time *off);

/* How long the thread did not run, as far as is known; ticks. */
uint64_t swz_switches_sum(const struct swz_profile_thread *thread,
			  uint64_t *preempted);

/* How many are not in the file, at least: lost, or overwritten. */
uint64_t swz_switches_missing(const struct swz_profile_thread *thread);

/* How much of [FROM, TO) lies after the last look at the thread's switches:
 * the process was killed or executed before the next one, or runs still. */
uint64_t swz_switches_unseen(const struct swz_profile_thread *thread,
			     uint64_t from, uint64_t to);

/* True if the thread's waiting in [FROM, TO) is known: the kernel gave its
 * switches, and of that time 1 % at most is unseen. */
bool swz_switches_tell(const struct swz_profile_thread *thread, uint64_t from,
		       uint64_t to);

/* Sorts the switches that were read and gives each thread its own, cut to its
 * life: none of them overlap. The reader calls it last. */
void swz_switches_index(struct swz_profile *profile);

/* --- times of threads ---------------------------------------------------- */

/* How long a thread was there, and what of that it ran or waited. */

/* All in ns, with the cost of the hooks. */
struct swz_thread_times {
	int64_t wall_ns;      /* from its start to its last moment */
	bool known;           /* the processor time; otherwise all below is 0 */
	int64_t processor_ns; /* that it ran, as far as that is known */
	int64_t waiting_ns;   /* that it did not run, as far as known */
	int64_t unknown_ns;   /* the rest, after the processor time was read for
			       * the last time; 0: so short that it was left
			       * out, as waiting */
};

struct swz_thread_times swz_thread_times(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);

/* Adds those of another thread: what is not known of one of them is unknown. */
void swz_thread_times_add(struct swz_thread_times *sum,
			  const struct swz_thread_times *other);

/* From the start of the process's first thread to the last moment of any. */
int64_t swz_profile_wall_ns(const struct swz_profile *profile);

#endif
