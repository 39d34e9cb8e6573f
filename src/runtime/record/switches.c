/* The descriptor of a perf event must be in no table that the program sees, not
 * even for a moment: another thread may open a file meanwhile, or fork. So a
 * thread of ours opens it, which has left the program's table for an empty one
 * of its own (close_range with CLOSE_RANGE_UNSHARE), maps the ring and ends.
 * The mapping keeps the event alive.
 *
 * The kernel's times are of CLOCK_MONOTONIC_RAW, which is proportional to the
 * TSC where that is the clock source. They are turned into ticks by two moments
 * of which both are known, one before and one after all that is taken. */

#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/record/events.h"
#include "runtime/record/kept_calls.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"

#ifndef SYS_close_range /* Linux 5.9 */
#define SYS_close_range 436
#endif
#define UNSHARE 2u /* CLOSE_RANGE_UNSHARE */

#define FIRST_PAGES 1u
#define PAGES 4u
#define MOST_SAMPLES 4u
#define MOST_BYTES \
	48u /* that the kernel wants for a record, and a lost one \
	     */

/* With its time, as sample_type says. */
struct record {
	struct perf_event_header header;
	uint64_t ns;
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id;
	uint64_t lost;
	uint64_t ns;
};

/* ------------------------------------------------------------- the ring */

/* In a thread of ours. */
static void make_ring(void *argument)
{
	struct swz_switches *s = argument;
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.watermark = 1, /* nobody is to be woken */
		.sample_id_all = 1,
		.use_clockid = 1,
		.context_switch = 1,
		.wakeup_watermark = UINT32_MAX,
		.clockid = CLOCK_MONOTONIC_RAW,
	};
	long fd = SWZ_SYSCALL(SYS_close_range, 0, UINT32_MAX, UNSHARE), r;

	if (fd == 0)
		fd = SWZ_SYSCALL(SYS_perf_event_open, &attr, s->tid, -1, -1,
				 PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		s->result = fd;
		return;
	}
	r = SWZ_SYSCALL(SYS_mmap, NULL, SWZ_PAGE + SWZ_SWITCH_RING_BYTES,
			PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	s->result = r < 0 && r > -4096 ? r : 0;
	if (s->result == 0)
		s->ring = (struct perf_event_mmap_page *)r;
}

static uint64_t raw_ns(void)
{
	struct timespec now = {0, 0};

	SWZ_SYSCALL(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* One moment by both clocks: the shortest of a few looks, as the thread may
 * lose the processor between them. */
static void sample(uint64_t *ticks, uint64_t *ns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < MOST_SAMPLES; i++) {
		uint64_t before = swz_ticks(), now = raw_ns();
		uint64_t took = swz_ticks() - before;

		if (took >= least)
			continue;
		least = took;
		*ticks = before + took / 2;
		*ns = now;
	}
}

static struct swz_switches *new_switches(void)
{
	struct swz_switches *s = swz_sys_mmap(
		NULL, SWZ_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (s)
		atomic_flag_clear(&s->busy);
	return s;
}

static const char *reason_of(long result)
{
	switch (result) {
	case -EACCES:
		return "as users may not look at context switches here. Set "
		       "kernel.perf_event_paranoid to 2 by sysctl, or give "
		       "CAP_PERFMON.";
	case -EPERM:
		return "as the kernel refuses it: a container's filter, or "
		       "too little memory that may be locked (ulimit -l).";
	case -ENOSYS:
	case -EINVAL:
		return "as that takes Linux 5.9 or later.";
	case 0:
		return "as another program traces this one, or it has a "
		       "seccomp filter.";
	default:
		return "as the kernel has no room for it.";
	}
}

/* At the start only: later it would come amid the program's own lines. */
static void say_refused(long result)
{
	if (swz_config.fresh && !swz_recording)
		swz_say("--switches: waiting is not recorded, ",
			reason_of(result), NULL);
}

static bool open_ring(struct swz_thread *thread, struct swz_switches *s)
{
	static _Atomic uint32_t may_be; /* 0: not yet asked; 1: no */
	uint64_t all = ~(uint64_t)0, before;
	bool started;

	if (!atomic_load(&may_be))
		atomic_store(&may_be, swz_raw_threads_may_be() ? 2 : 1);
	s->result = 0;
	if (atomic_load(&may_be) == 1)
		return false;
	s->tid = thread->record->tid;
	if (SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before,
			8) != 0)
		return false;
	started = swz_raw_thread_start(&s->maker, (char *)s + SWZ_PAGE - 16,
				       make_ring, s);
	if (started)
		swz_raw_thread_wait(&s->maker);
	else
		s->result = s->maker.id;
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &before, NULL, 8);
	return s->ring;
}

void swz_switches_begin_thread(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_switches *s = cold->switches;

	if (!swz_config.switches || swz_system_calls_end)
		return;
	swz_file->flags |= SWZ_FILE_SWITCHES;
	if (!s)
		s = cold->switches = new_switches();
	if (!s || atomic_flag_test_and_set(&s->busy))
		return;
	if (s->ring)
		SWZ_SYSCALL(SYS_munmap, s->ring,
			    SWZ_PAGE + SWZ_SWITCH_RING_BYTES);
	swz_event_chunk_leave(s->chunk);
	s->ring = NULL;
	s->chunk = NULL;
	s->unended = NULL;
	s->taken = s->off_ns = s->lost_so_far = 0;
	sample(&s->ticks, &s->raw_ns);
	if (open_ring(thread, s)) {
		thread->record->switches_from = swz_ticks();
		thread->record->switches_until = thread->record->switches_from;
	} else {
		say_refused(s->result);
	}
	atomic_flag_clear(&s->busy);
	/* what that took is not the program's */
	thread->record->start_ticks = swz_ticks();
	thread->record->last_ticks = thread->record->start_ticks;
	swz_processor_time_begin(thread->record);
}

void swz_switches_forget(struct swz_thread_cold *cold)
{
	struct swz_switches *s = cold->switches;

	if (!s)
		return;
	s->ring = NULL;
	s->chunk = NULL;
	s->unended = NULL;
	atomic_flag_clear(&s->busy);
}

/* ----------------------------------------------------------- taking them */

/* a * b / c for a <= c, c not 0. */
static uint64_t part(uint64_t a, uint64_t b, uint64_t c)
{
	uint64_t low, high;

	__asm__("mulq %3\n\t"
		"divq %4"
		: "=a"(low), "=&d"(high)
		: "0"(a), "r"(b), "r"(c)
		: "cc");
	return low;
}

/* Between the last moment and this one. */
static uint64_t ticks_at(const struct swz_switches *s, uint64_t ns,
			 uint64_t ticks, uint64_t now)
{
	if (ns <= s->raw_ns || now <= s->raw_ns || ticks <= s->ticks)
		return s->ticks;
	if (ns >= now)
		return ticks;
	return s->ticks +
	       part(ns - s->raw_ns, ticks - s->ticks, now - s->raw_ns);
}

static bool has_room(const struct swz_chunk *chunk)
{
	return chunk && (chunk->count + 1) * sizeof(struct swz_switch_record) <=
				chunk->bytes - sizeof(*chunk);
}

static void add(struct swz_thread *thread, struct swz_switches *s, uint64_t off,
		uint64_t on)
{
	struct swz_switch_record *records;
	struct swz_chunk *chunk = s->chunk;

	if (swz_kept_calls_pass(thread->cold))
		return;
	if (!has_room(chunk)) {
		if (swz_config.slow) {
			s->chunk = swz_kept_calls_chunk(thread,
							SWZ_CHUNK_SWITCHES);
		} else {
			swz_event_chunk_leave(chunk);
			s->chunk = swz_event_chunk_take(
				SWZ_CHUNK_SWITCHES, chunk ? PAGES : FIRST_PAGES,
				FIRST_PAGES, thread->cold->index);
		}
		chunk = s->chunk;
		if (!chunk) {
			thread->record->switches_lost += 2;
			return;
		}
		swz_chunk_publish(chunk);
	}
	records = (struct swz_switch_record *)(chunk + 1);
	records[chunk->count].off_ticks =
		off | (s->preempted ? SWZ_SWITCH_PREEMPTED : 0);
	records[chunk->count].on_ticks = on;
	s->unended = on ? NULL : &records[chunk->count];
	/* release: who sees the count sees the record */
	__atomic_store_n(&chunk->count, chunk->count + 1, __ATOMIC_RELEASE);
	thread->record->switches++;
}

static void take_record(struct swz_thread *thread, struct swz_switches *s,
			const struct perf_event_header *header, uint64_t ticks,
			uint64_t now)
{
	const struct record *record = (const void *)header;

	if (header->type == PERF_RECORD_LOST) {
		thread->record->switches_lost +=
			((const struct lost_record *)header)->lost -
			s->lost_so_far;
		s->lost_so_far = 0;
		s->off_ns = 0;
		s->unended = NULL;
	} else if (header->type == PERF_RECORD_SWITCH &&
		   header->misc & PERF_RECORD_MISC_SWITCH_OUT) {
		s->off_ns = record->ns;
		s->preempted = header->misc &
			       PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	} else if (header->type == PERF_RECORD_SWITCH && s->unended) {
		/* it has not ended after all: an exec failed, or abort() */
		s->unended->on_ticks = ticks_at(s, record->ns, ticks, now);
		s->unended = NULL;
		s->off_ns = 0;
	} else if (header->type == PERF_RECORD_SWITCH && s->off_ns) {
		add(thread, s, ticks_at(s, s->off_ns, ticks, now),
		    ticks_at(s, record->ns, ticks, now));
		s->off_ns = 0;
	}
}

/* Records are of 16 or 32 bytes, so none goes over the ring's end. */
static void take(struct swz_thread *thread, struct swz_switches *s, bool last)
{
	const char *data = (const char *)s->ring + SWZ_PAGE;
	/* acquire: what the kernel has written before it */
	uint64_t head = __atomic_load_n(&s->ring->data_head, __ATOMIC_ACQUIRE);
	uint64_t ticks, now;

	bool full = head - s->taken > SWZ_SWITCH_RING_BYTES - MOST_BYTES;

	sample(&ticks, &now);
	while (s->taken < head) {
		const struct perf_event_header *header =
			(const void *)(data + s->taken % SWZ_SWITCH_RING_BYTES);

		if (header->size < sizeof(struct record))
			break; /* never */
		take_record(thread, s, header, ticks, now);
		s->taken += header->size;
	}
	/* release: the kernel may write there */
	__atomic_store_n(&s->ring->data_tail, s->taken, __ATOMIC_RELEASE);
	/* how many were lost the kernel says before its next record, if there
	 * will be one */
	if (full && !s->lost_so_far) {
		s->lost_so_far = 1;
		thread->record->switches_lost++;
	}
	if (last && s->off_ns && !s->unended)
		add(thread, s, ticks_at(s, s->off_ns, ticks, now), 0);
	s->ticks = ticks;
	s->raw_ns = now;
	thread->record->switches_until = ticks;
}

static void take_all(struct swz_thread *thread, bool last)
{
	struct swz_switches *s = swz_thread_cold_of(thread)->switches;

	if (!s || !s->ring ||
	    atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire))
		return;
	take(thread, s, last);
	/* release: matches the acquire above */
	atomic_flag_clear_explicit(&s->busy, memory_order_release);
}

void swz_switches_take(void *argument)
{
	take_all(argument, false);
}

void swz_switches_take_now(struct swz_thread *thread)
{
	const struct swz_switches *s = thread->cold->switches;

	if (s && s->ring)
		swz_slowly(thread, swz_switches_take, thread);
}

void swz_switches_pass(struct swz_thread *thread)
{
	const struct swz_switches *s = thread->cold->switches;

	if (s && s->ring &&
	    __atomic_load_n(&s->ring->data_head, __ATOMIC_RELAXED) != s->taken)
		swz_slowly(thread, swz_switches_take, thread);
}

void swz_switches_leave_out(struct swz_thread_cold *cold)
{
	struct swz_switches *s = cold->switches;

	if (!s)
		return;
	s->chunk = NULL;
	s->unended = NULL;
}

void swz_switches_end(struct swz_thread *thread)
{
	take_all(thread, true);
}
