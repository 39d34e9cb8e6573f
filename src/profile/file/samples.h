#ifndef SWZ_PROFILE_FILE_SAMPLES_H
#define SWZ_PROFILE_FILE_SAMPLES_H

/* The samples of a sampled profile one by one: when each was taken, where, and
 * on which processor. The file is not trusted: what does not name a node of its
 * thread is left out. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"

struct swz_profile_sample {
	uint64_t ticks;     /* within the thread's time */
	uint32_t node;      /* file offset / 64; perhaps a hit (SWZ_NODE_HIT) */
	uint32_t processor; /* its number + 1; 0: it is not known */
	bool waiting;
};

/* True if the profile has samples with their times. */
bool swz_profile_has_samples(const struct swz_profile *profile);

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

/* Of all nodes that have any of the SAMPLES, of swz_samples_read(), in the
 * order of nodes; to be freed. */
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
