#ifndef SWZ_RUNTIME_RECORD_PROCESSOR_TIME_H
#define SWZ_RUNTIME_RECORD_PROCESSOR_TIME_H

/* The processor time that a thread has used, in its record: what of its time it
 * ran, and did not wait. It is read where there is time for a system call: at
 * the thread's beginning and its end, at the end of the process, and now and
 * then in between, for a process that is killed. Async-signal-safe. */

#include <stdint.h>

#include "swizzle/format.h"

/* At the start of the calling thread, which the record is of. */
void swz_processor_time_begin(struct swz_thread_record *record);

/* Now; the record may be of any thread of the process that has not ended. Where
 * the kernel does not tell, the record stays as it is. */
void swz_processor_time_note(struct swz_thread_record *record);

/* Between two such readings, in ticks: they take less than a thousandth of the
 * time. */
#define SWZ_PROCESSOR_TIME_TICKS (1u << 22)

/* The same unless it has just been done; NOW is rdtsc. */
static inline void swz_processor_time_note_sometimes(
	struct swz_thread_record *record, uint64_t now)
{
	if (record->processor_ticks &&
	    now - record->processor_ticks >= SWZ_PROCESSOR_TIME_TICKS &&
	    now > record->processor_ticks)
		swz_processor_time_note(record);
}

#endif
