/* Nothing that plans uses thread-local storage. A thread that wakes up late
 * finds that there is nothing left to do; nobody waits for it. */

#include "runtime/support/worker_threads.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/syscall.h"
#include "runtime/support/aside.h"
#include "runtime/support/raw_thread.h"
#include "runtime/support/config.h"

/* For each so many bytes one more thread: to start it costs as much as planning
 * a tenth of that. */
#define BYTES_EACH (UINT64_C(1) << 20)
#define STACK_BYTES (UINT64_C(128) << 10)
#define PAGE 4096

struct helper {
	char *stack;
	struct swz_raw_thread thread;
};

static struct {
	struct helper helpers[SWZ_MOST_MEMBERS - 1];
	unsigned helper_count;
	/* odd while there is work */
	_Atomic uint32_t round;
	_Atomic uint32_t working; /* helpers */
	atomic_bool ending;
	/* the work */
	swz_workers_work *work;
	void *context;
	uint32_t count, portion;
	_Atomic uint64_t next;
} workers;

/* Not private to the process: as the kernel wakes at a thread's end. */
static void wait_while(_Atomic uint32_t *word, uint32_t value)
{
	SWZ_SYSCALL(SYS_futex, word, FUTEX_WAIT, value, NULL);
}

static void wake(_Atomic uint32_t *word)
{
	SWZ_SYSCALL(SYS_futex, word, FUTEX_WAKE, SWZ_MOST_MEMBERS);
}

static void take_portions(unsigned member)
{
	uint64_t begin;

	while ((begin = atomic_fetch_add(&workers.next, workers.portion)) <
	       workers.count) {
		uint64_t end = begin + workers.portion;

		if (end > workers.count)
			end = workers.count;
		workers.work(workers.context, (uint32_t)begin, (uint32_t)end,
			     member);
	}
}

static void help(void *argument)
{
	unsigned member = (unsigned)(uintptr_t)argument;
	uint32_t done = 0;

	while (!atomic_load(&workers.ending)) {
		uint32_t round = atomic_load(&workers.round);

		if (!(round & 1) || round == done) {
			wait_while(&workers.round, round);
			continue;
		}
		done = round;
		/* either it is seen that we are working, or we see that the
		 * round is over */
		atomic_fetch_add(&workers.working, 1);
		if (atomic_load(&workers.round) == round)
			take_portions(member);
		if (atomic_fetch_sub(&workers.working, 1) == 1)
			wake(&workers.working);
	}
}

/* --------------------------------------------------------------- beginning */

static unsigned processors(void)
{
	uint64_t set[128] = {0};
	long bytes = SWZ_SYSCALL(SYS_sched_getaffinity, 0, sizeof(set), set);
	unsigned count = 0;

	for (long i = 0; i < bytes / 8; i++)
		count += (unsigned)__builtin_popcountll(set[i]);
	return count;
}

static unsigned how_many(uint64_t text_bytes)
{
	uint64_t wanted = swz_config.test_worker_threads;

	if (!wanted && text_bytes >= BYTES_EACH) {
		wanted = processors();
		if (wanted > text_bytes / BYTES_EACH + 1)
			wanted = text_bytes / BYTES_EACH + 1;
	}
	return wanted < SWZ_MOST_MEMBERS ? (unsigned)wanted : SWZ_MOST_MEMBERS;
}

static bool add_helper(void)
{
	struct helper *h = &workers.helpers[workers.helper_count];
	uintptr_t member = workers.helper_count + 1;

	h->stack = swz_map_aside(STACK_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				 -1);
	if (!h->stack)
		return false;
	/* valgrind looks whether there is memory where the top points to */
	if (swz_sys_mprotect(h->stack, PAGE, PROT_NONE) != 0 ||
	    !swz_raw_thread_start(&h->thread, h->stack + STACK_BYTES - 16, help,
				  (void *)member)) {
		swz_sys_munmap(h->stack, STACK_BYTES);
		return false;
	}
	workers.helper_count++;
	return true;
}

void swz_workers_begin(uint64_t text_bytes)
{
	uint64_t all = ~UINT64_C(0), before;
	unsigned wanted = how_many(text_bytes);

	if (wanted < 2 || !swz_raw_threads_may_be())
		return;
	atomic_store(&workers.ending, false);
	/* they never take one that is for the program */
	if (SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8) != 0)
		return;
	while (workers.helper_count < wanted - 1 && add_helper())
		;
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

unsigned swz_workers_members(void)
{
	return workers.helper_count + 1;
}

/* ----------------------------------------------------------------- working */

uint32_t swz_workers_portion(uint32_t usual)
{
	uint32_t least = usual / 1024;

	if (!swz_config.test_worker_threads)
		return usual;
	return least ? least : 1;
}

void swz_workers_run(swz_workers_work *work, void *context, uint32_t count,
		     uint32_t portion)
{
	uint32_t working;

	if (!workers.helper_count || count <= portion) {
		work(context, 0, count, 0);
		return;
	}
	workers.work = work;
	workers.context = context;
	workers.count = count;
	workers.portion = portion;
	atomic_store(&workers.next, 0);
	atomic_fetch_add(&workers.round, 1);
	wake(&workers.round);
	take_portions(0);
	atomic_fetch_add(&workers.round, 1);
	while ((working = atomic_load(&workers.working)) != 0)
		wait_while(&workers.working, working);
}

/* ------------------------------------------------------------------ ending */

void swz_workers_end(void)
{
	if (!workers.helper_count)
		return;
	atomic_store(&workers.ending, true);
	atomic_fetch_add(&workers.round, 2);
	wake(&workers.round);
	for (unsigned i = 0; i < workers.helper_count; i++) {
		swz_raw_thread_wait(&workers.helpers[i].thread);
		swz_sys_munmap(workers.helpers[i].stack, STACK_BYTES);
	}
	workers.helper_count = 0;
}
