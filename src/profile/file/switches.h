#ifndef SWZ_PROFILE_FILE_SWITCHES_H
#define SWZ_PROFILE_FILE_SWITCHES_H

/* The times in which a thread did not run, in the order of time. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/file/reader.h"

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

/* What comes next of [FROM, TO), which is not before a part that was asked for
 * already. False: no more of it. */
bool swz_switches_next(struct swz_switch_reader *reader, uint64_t from,
		       uint64_t to, struct swz_off_time *off);

/* How long the thread did not run, as far as is known; ticks. */
uint64_t swz_switches_sum(const struct swz_profile_thread *thread,
			  uint64_t *preempted);

/* How many are not in the file, at least: lost, or overwritten. */
uint64_t swz_switches_missing(const struct swz_profile_thread *thread);

/* Sorts the switches that were read and gives each thread its own, cut to its
 * life: none of them overlap. For swz_profile_index(). */
void swz_switches_index(struct swz_profile *profile);

#endif
