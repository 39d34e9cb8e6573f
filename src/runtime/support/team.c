/* Nothing that plans uses thread-local storage. A thread that wakes up late
 * finds that there is nothing left to do; nobody waits for it. */

#include "runtime/support/team.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "base/syscall.h"
#include "runtime/support/aside.h"
#include "runtime/support/bare_thread.h"
#include "runtime/support/config.h"

/* For each so many bytes one more thread: to start it costs as much as planning
 * a tenth of that. */
#define BYTES_EACH (UINT64_C(1) << 20)
#define STACK_BYTES (UINT64_C(128) << 10)
#define PAGE 4096

struct helper {
	char *stack;
	struct swz_bare_thread thread;
};

static struct {
	struct helper helpers[SWZ_MOST_MEMBERS - 1];
	unsigned helper_count;
	/* odd while there is work */
	_Atomic uint32_t round;
	_Atomic uint32_t working; /* helpers */
	atomic_bool ending;
	/* the work */
	swz_team_work *work;
	void *context;
	uint32_t count, portion;
	_Atomic uint64_t next;
} team;

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

	while ((begin = atomic_fetch_add(&team.next, team.portion)) <
	       team.count) {
		uint64_t end = begin + team.portion;

		if (end > team.count)
			end = team.count;
		team.work(team.context, (uint32_t)begin, (uint32_t)end, member);
	}
}

static void help(void *argument)
{
	unsigned member = (unsigned)(uintptr_t)argument;
	uint32_t done = 0;

	while (!atomic_load(&team.ending)) {
		uint32_t round = atomic_load(&team.round);

		if (!(round & 1) || round == done) {
			wait_while(&team.round, round);
			continue;
		}
		done = round;
		/* either it is seen that we are working, or we see that the
		 * round is over */
		atomic_fetch_add(&team.working, 1);
		if (atomic_load(&team.round) == round)
			take_portions(member);
		if (atomic_fetch_sub(&team.working, 1) == 1)
			wake(&team.working);
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
	uint64_t wanted = swz_config.test_team;

	if (!wanted && text_bytes >= BYTES_EACH) {
		wanted = processors();
		if (wanted > text_bytes / BYTES_EACH + 1)
			wanted = text_bytes / BYTES_EACH + 1;
	}
	return wanted < SWZ_MOST_MEMBERS ? (unsigned)wanted : SWZ_MOST_MEMBERS;
}

static bool add_helper(void)
{
	struct helper *h = &team.helpers[team.helper_count];
	uintptr_t member = team.helper_count + 1;

	h->stack = swz_map_aside(STACK_BYTES, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				 -1);
	if (!h->stack)
		return false;
	/* valgrind looks whether there is memory where the top points to */
	if (swz_sys_mprotect(h->stack, PAGE, PROT_NONE) != 0 ||
	    !swz_bare_thread_start(&h->thread, h->stack + STACK_BYTES - 16,
				   help, (void *)member)) {
		swz_sys_munmap(h->stack, STACK_BYTES);
		return false;
	}
	team.helper_count++;
	return true;
}

void swz_team_begin(uint64_t text_bytes)
{
	uint64_t all = ~UINT64_C(0), before;
	unsigned wanted = how_many(text_bytes);

	if (wanted < 2 || !swz_bare_threads_may_be())
		return;
	atomic_store(&team.ending, false);
	/* they never take one that is for the program */
	if (SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8) != 0)
		return;
	while (team.helper_count < wanted - 1 && add_helper())
		;
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

unsigned swz_team_members(void)
{
	return team.helper_count + 1;
}

/* ----------------------------------------------------------------- working */

uint32_t swz_team_portion(uint32_t usual)
{
	uint32_t least = usual / 1024;

	if (!swz_config.test_team)
		return usual;
	return least ? least : 1;
}

void swz_team_run(swz_team_work *work, void *context, uint32_t count,
		  uint32_t portion)
{
	uint32_t working;

	if (!team.helper_count || count <= portion) {
		work(context, 0, count, 0);
		return;
	}
	team.work = work;
	team.context = context;
	team.count = count;
	team.portion = portion;
	atomic_store(&team.next, 0);
	atomic_fetch_add(&team.round, 1);
	wake(&team.round);
	take_portions(0);
	atomic_fetch_add(&team.round, 1);
	while ((working = atomic_load(&team.working)) != 0)
		wait_while(&team.working, working);
}

/* ------------------------------------------------------------------ ending */

void swz_team_end(void)
{
	if (!team.helper_count)
		return;
	atomic_store(&team.ending, true);
	atomic_fetch_add(&team.round, 2);
	wake(&team.round);
	for (unsigned i = 0; i < team.helper_count; i++) {
		swz_bare_thread_wait(&team.helpers[i].thread);
		swz_sys_munmap(team.helpers[i].stack, STACK_BYTES);
	}
	team.helper_count = 0;
}
