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
	bool wall_is_bound;   /* a lower bound: its end is not known */
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

/* After the last reading the thread was seen to wait for so long. */
void swz_thread_times_see(struct swz_thread_times *times, int64_t waiting_ns);

/* Adds those of another thread: what is not known of one of them is unknown. */
void swz_thread_times_add(struct swz_thread_times *sum,
			  const struct swz_thread_times *other);

/* From the start of the process's first thread to the last moment of any. */
int64_t swz_profile_wall_ns(const struct swz_profile *profile);

/* --- moments of samples -------------------------------------------------- */

/* The samples of a sampled profile one by one: when each was taken, where, and
 * on which processor. The file is not trusted: what does not name a node of its
 * thread is left out. */

struct swz_profile_sample {
	uint64_t ticks;     /* within the thread's time */
	uint32_t node;      /* file offset / 64; perhaps a hit (SWZ_NODE_HIT) */
	uint32_t processor; /* its number + 1; 0: it is not known */
	bool waiting;
};

/* True if the profile has samples with their times. */
bool swz_profile_has_samples(const struct swz_profile *profile);

/* The same of COUNT profiles of a run: some of them have samples with their
 * times, and no other has samples without. A process that soon ends has none.
 */
bool swz_profiles_have_samples(struct swz_profile *const *profiles,
			       size_t count);

/* All samples of a thread in the order of time; to be freed. */
struct swz_profile_sample *swz_samples_read(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread, size_t *count);

/* The node whose function a sample hit. */
uint32_t swz_sample_context(const struct swz_profile *profile,
			    const struct swz_profile_sample *sample);

/* Where the time ends that sample I of a thread stands for: at the next one, or
 * APART later if none comes for long; LAST at the latest. */
uint64_t swz_sample_end(const struct swz_profile_sample *samples, size_t count,
			size_t i, uint64_t apart, uint64_t last);

/* The time of a node's own samples, without what is below it. */
struct swz_sample_share {
	uint32_t node;
	int64_t running_ticks, waiting_ticks;
	uint64_t running; /* samples while it ran, those without a time, too */
	uint64_t waiting; /* 0 with waiting_ticks: for a processor, which is a
			   * part of the running ones' */
};

/* Shares of all nodes that have any of the SAMPLES, of swz_samples_read(), in
 * the order of nodes; to be freed. */
struct swz_sample_share *swz_sample_shares(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread,
	const struct swz_profile_sample *samples, size_t sample_count,
	size_t *count);

/* The ticks from one sample of a thread to the next while it runs, or waits; 0:
 * not known. */
uint64_t swz_samples_apart(const struct swz_profile *profile,
			   const struct swz_profile_thread *thread,
			   bool waiting);

/* The thread as if each sample were a part of its time in which the functions
 * on its stack ran: a function begins with the first sample that has it, and
 * ends before the next one that has it not, or where no sample came for long.
 */
struct swz_sample_spans;

/* NULL: the thread has no samples with times. */
struct swz_sample_spans *swz_sample_spans_open(
	const struct swz_profile *profile,
	const struct swz_profile_thread *thread);
void swz_sample_spans_close(struct swz_sample_spans *spans); /* NULL is fine */

/* The next begin or end of a node. False: there is no more. */
bool swz_sample_spans_next(struct swz_sample_spans *spans, uint32_t *node,
			   bool *begins, uint64_t *ticks);

/* Keeps of a sampled profile what was sampled from FROM to TO (ticks): counts
 * of nodes, and the part of their time that these samples stand for. All else
 * is gone, other samples, too, and threads begin and end with the range. */
void swz_samples_keep_range(struct swz_profile *profile, uint64_t from,
			    uint64_t to);

#endif
