/* The state of a thread. The hot part is one page that a fork wipes; the cold
 * part lies behind it. Frames are a list on the program's stacks, each with a
 * thunk. */

#include "runtime/record/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "swizzle/format.h"
#include "thunks/arena.h"
#include "thunks/maps.h"

/* ------------------------------------------------------------------ states */

/* Hot parts lie on a page that a fork wipes, their cold parts behind it. So a
 * state is found from its hot part's address alone, and a forked child finds
 * its own again. */

_Static_assert(sizeof(struct swz_thread) == 128, "hot part");

_Static_assert(SWZ_THREAD_GROUP * sizeof(struct swz_thread_cold) <=
		       SWZ_COLD_PAGES * SWZ_THREAD_PAGE,
	       "group");

bool swz_recording;
const struct swz_thread swz_nobody, swz_paused_thread, swz_paused_process;
__thread struct swz_thread *swz_paused_state;
__thread struct swz_thread *swz_thread_self = (struct swz_thread *)&swz_nobody;

/* Its start is earlier than any time, and such that no start derived from it,
 * of an outermost frame that is not timed, says that the frame is suspended. */
struct swz_thunk swz_bottom = {.slot = (uint64_t *)UINTPTR_MAX,
			       .start_ticks = SWZ_SUSPENDED_LAST + 1};

/* libc's thread descriptor, at the thread pointer, begins with its own address,
 * and has it once more in its third word. */
bool swz_thread_has_storage(void)
{
	uintptr_t first, third;

	__asm__ volatile("movq %%fs:0, %0\n\tmovq %%fs:16, %1"
			 : "=r"(first), "=r"(third));
	return first && first == third;
}

struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot)
{
	uintptr_t page = (uintptr_t)hot & -(uintptr_t)SWZ_THREAD_PAGE;
	size_t i = ((uintptr_t)hot - page) / sizeof(struct swz_thread);

	return (struct swz_thread_cold *)(page + SWZ_THREAD_PAGE) + i;
}

/* -------------------------------------------------- the thread's own stack */

/* The bounds of a stack are asked for once, when they are first needed. */

#define USUAL_STACK_BYTES (UINT64_C(8) << 20)
/* The kernel keeps this much free of other mappings below the main thread's
 * stack (mmap_base, arch/x86/mm/mmap.c: at least 128 MiB). */
#define MAIN_STACK_BYTES (128u << 20)

static uintptr_t main_stack_top;

void swz_thread_set_main_stack(const void *top)
{
	main_stack_top = (uintptr_t)top;
}

bool swz_on_main_stack(const uint64_t *slot)
{
	return main_stack_top - 8 - (uintptr_t)slot < MAIN_STACK_BYTES;
}

static bool in_home(const struct swz_thread_cold *cold, const uint64_t *slot)
{
	return (uintptr_t)slot - cold->home_low <
	       cold->home_high - cold->home_low;
}

/* A mapping next to a thread's stack may be joined with it, other stacks for
 * instance. glibc puts the thread's own control block at the top. */
static void end_home_at_tcb(struct swz_thread_cold *cold)
{
	uint64_t tcb;

	__asm__("movq %%fs:0x10, %0" : "=r"(tcb)); /* tcbhead_t.self */
	if (tcb > cold->first_slot && tcb < cold->home_high)
		cold->home_high = tcb;
}

/* Without /proc: what can be read without a gap, up to glibc's usual size of a
 * stack; the page below one cannot. */
static void try_out(struct swz_thread_cold *cold)
{
	uint64_t page = swz_page_down(cold->first_slot);

	cold->home_high = page + SWZ_PAGE;
	for (uint64_t n = 0; n < USUAL_STACK_BYTES / SWZ_PAGE; n++)
		if (!swz_sys_is_readable(page - n * SWZ_PAGE))
			break;
		else
			cold->home_low = page - n * SWZ_PAGE;
	while (cold->home_high - page < USUAL_STACK_BYTES &&
	       swz_sys_is_readable(cold->home_high))
		cold->home_high += SWZ_PAGE;
}

bool swz_thread_same_stack(struct swz_thread *thread, const uint64_t *a,
			   const uint64_t *b)
{
	struct swz_thread_cold *cold = thread->cold;

	if (!cold->home_high) {
		cold->home_low = 1; /* asked */
		cold->home_high = 1;
		if (swz_on_main_stack((const uint64_t *)cold->first_slot)) {
			cold->home_low = main_stack_top - MAIN_STACK_BYTES;
			cold->home_high = main_stack_top;
		} else {
			if (!swz_mapping_of(cold->first_slot, &cold->home_low,
					    &cold->home_high))
				try_out(cold);
			end_home_at_tcb(cold);
		}
	}
	return in_home(cold, a) && in_home(cold, b);
}

bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot)
{
	return in_home(thread->cold, slot);
}

/* ------------------------------------------------------------------ frames */

/* True if there is memory, if none that can be read: a stack that the program
 * has closed off as long as it is suspended. */
static bool is_mapped(const uint64_t *slot)
{
	uintptr_t page = swz_page_down((uintptr_t)slot);
	unsigned char present;

	return SWZ_SYSCALL(SYS_mincore, page, SWZ_PAGE, &present) != -ENOMEM;
}

/* Reads slots by way of the kernel; false where the memory is gone. What cannot
 * be read is left as it is. (By the calling thread's number: by that of the
 * first one nothing can be read after its end.) */
static void read_slots(uint64_t *const *slots, unsigned count, uint64_t *words,
		       bool *readable)
{
	int32_t self = (int32_t)SWZ_SYSCALL(SYS_gettid);
	struct iovec remote[SWZ_BLOCK_THUNKS];
	unsigned done = 0;

	while (done < count) {
		struct iovec local = {words + done,
				      (count - done) * sizeof(*words)};
		unsigned got;
		long r;

		for (unsigned i = done; i < count; i++) {
			remote[i].iov_base = slots[i];
			remote[i].iov_len = sizeof(*words);
		}
		r = SWZ_SYSCALL(SYS_process_vm_readv, self, &local, 1,
				remote + done, count - done, 0);
		got = r > 0 ? (unsigned)r / sizeof(*words) : 0;
		for (unsigned i = done; i < done + got; i++)
			readable[i] = true;
		done += got;
		if (done == count)
			break;
		/* If we are not allowed to look, nothing is taken to be gone:
		 * the word is what a live frame has there. */
		readable[done] = (r < 0 && r != -EFAULT) ||
				 is_mapped(slots[done]);
		done++;
	}
}

unsigned swz_stack_words(const uint64_t *from, uint64_t words[SWZ_PAGE_WORDS])
{
	size_t bytes = SWZ_PAGE - (uintptr_t)from % SWZ_PAGE;
	struct iovec local = {words, bytes};
	struct iovec remote = {(void *)(uintptr_t)from, bytes};
	int32_t self = (int32_t)SWZ_SYSCALL(SYS_gettid);
	long got = SWZ_SYSCALL(SYS_process_vm_readv, self, &local, 1, &remote,
			       1, 0);

	return got > 0 ? (unsigned)got / sizeof(*words) : 0;
}

/* The word in a live frame's slot: the thunk's address, or, while the frame is
 * being entered or left, the real return address. That may also be left there
 * by other frames, so it proves nothing for one that is known to be in neither
 * hook. */
static bool may_be_live(const struct swz_thunk *thunk, uint64_t word,
			bool closed_too)
{
	if (word == swz_thunk_address(thunk))
		return true;
	return word == thunk->return_address &&
	       !swz_start_is_suspended(thunk->start_ticks) &&
	       (closed_too || thunk->pending != SWZ_CLOSED);
}

uint64_t swz_block_alive(uint32_t block, const uint64_t *in_use,
			 bool closed_too)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t *slots[SWZ_BLOCK_THUNKS], words[SWZ_BLOCK_THUNKS];
	bool readable[SWZ_BLOCK_THUNKS];
	unsigned which[SWZ_BLOCK_THUNKS], count = 0;
	bool on_main_stack = swz_on_main_stack(in_use);
	uint64_t alive = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
		uint64_t *slot = thunks[i].slot;

		if (!slot)
			continue;
		if (on_main_stack && slot >= in_use &&
		    swz_on_main_stack(slot)) {
			if (may_be_live(&thunks[i], *slot, closed_too))
				alive |= 1ull << i;
			continue;
		}
		words[count] = swz_thunk_address(&thunks[i]);
		slots[count] = slot;
		which[count++] = i;
	}
	if (count)
		read_slots(slots, count, words, readable);
	for (unsigned i = 0; i < count; i++)
		if (readable[i] &&
		    may_be_live(&thunks[which[i]], words[i], closed_too))
			alive |= 1ull << which[i];
	return alive;
}

/* --------------------------------------------------- a stack for slow work */

static bool is_on_slow_stack(const struct swz_thread_cold *cold)
{
	uintptr_t top = (uintptr_t)cold->slow_stack_top;

	return top - (uintptr_t)__builtin_frame_address(0) <
	       SWZ_SLOW_STACK_BYTES;
}

#define NEEDED_BYTES 384

__attribute__((noinline)) void swz_need_stack(void)
{
	char room[NEEDED_BYTES];

	room[0] = 0;
	__asm__ volatile("" : : "r"(room) : "memory");
}

/* Not at all if the state is in use: by a thread that was cloned with its
 * creator's thread-local storage, or by its creator. What both do elsewhere may
 * spoil numbers; here it would be the slow stack and fresh thunks. */
void swz_slowly(const struct swz_thread *thread, void (*function)(void *),
		void *argument)
{
	struct swz_thread_cold *cold = thread ? swz_thread_cold_of(thread)
					      : NULL;
	uint64_t all = ~(uint64_t)0, before;

	if (cold && is_on_slow_stack(cold)) {
		function(argument);
		return;
	}
	swz_need_stack();
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, &all, &before, 8);
	if (!cold || !cold->slow_stack_top) {
		function(argument);
	} else if (!atomic_flag_test_and_set_explicit(&cold->busy,
						      memory_order_acquire)) {
		swz_call_on_stack(function, argument, cold->slow_stack_top);
		/* release: matches the acquire above */
		atomic_flag_clear_explicit(&cold->busy, memory_order_release);
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, 2, &before, NULL, 8);
}

/* ---------------------------------------------------------- processor time */

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
