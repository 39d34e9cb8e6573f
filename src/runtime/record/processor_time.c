#include "runtime/record/processor_time.h"

#include <stdbool.h>

#include "base/syscall.h"
#include "runtime/record/thread.h"

/* The clock of a thread's processor time, by its id (CPUCLOCK_SCHED |
 * CPUCLOCK_PERTHREAD; clock_getcpuclockid(3)). */
static long clock_of(int32_t tid)
{
	return (int32_t)(~(uint32_t)tid << 3 | 6u);
}

/* False: it is not known. */
static bool read_clock(long clock, uint64_t *ns)
{
	struct timespec time;

	if (SWZ_SYSCALL(SYS_clock_gettime, clock, &time) != 0)
		return false;
	*ns = (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
	return true;
}

/* A process that is killed in between leaves a time that is too recent for its
 * moment by less than the system call took. */
static void note(struct swz_thread_record *record, uint64_t ns)
{
	__atomic_store_n(&record->processor_ns, ns, __ATOMIC_RELAXED);
	__atomic_store_n(&record->processor_ticks, swz_ticks(),
			 __ATOMIC_RELAXED);
}

void swz_processor_time_begin(struct swz_thread_record *record)
{
	uint64_t ns;

	if (!read_clock(CLOCK_THREAD_CPUTIME_ID, &ns))
		return;
	record->processor_start_ns = ns;
	note(record, ns);
}

void swz_processor_time_note(struct swz_thread_record *record)
{
	bool is_own = (int32_t)SWZ_SYSCALL(SYS_gettid) == record->tid;
	uint64_t ns;

	if (record->processor_ticks &&
	    read_clock(is_own ? CLOCK_THREAD_CPUTIME_ID : clock_of(record->tid),
		       &ns) &&
	    ns >= record->processor_ns)
		note(record, ns);
}
