/* Threads of the library's own. libc knows none of them, so none may call libc.
 * All block all signals: one that took a signal would take it from the program.
 */

#include "runtime/support/worker_threads.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"
#include "swizzle/format.h"
#include "thunks/relocate.h"

/* --------------------------------------------- a thread beside the program */

/* Thread-local storage as glibc and its linker lay it out (variant II of Ulrich
 * Drepper's "ELF Handling For Thread-Local Storage"): the control block begins
 * at the thread pointer, with its own address at 0 and at 16, and the variables
 * of modules that are there from the start lie below it, at the same distance
 * in all threads. Ours are among those (-ftls-model=initial-exec). So zeros
 * around a pointer of our own will do; variables of others are never read. */

#define OWN_STACK_BYTES (UINT64_C(960) << 10)
#define ABOVE (UINT64_C(16) << 10) /* the thread pointer, and that */

struct control_block {
	void *self;
	void *vector;
	void *thread;
	uint64_t rest[2];
	uint64_t stack_guard, pointer_guard;
};

static long clone_thread(char *stack_top, struct swz_own_thread *thread,
			 struct control_block *block, void (*function)(void))
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		     CLONE_CHILD_CLEARTID | CLONE_SETTLS | CLONE_UNTRACED;
	register long r10 __asm__("r10") = (long)&thread->alive;
	register long r8 __asm__("r8") = (long)block;
	long result;

	__asm__ volatile(
		"syscall\n\t"
		"test %%rax, %%rax\n\t"
		"jnz 1f\n\t"
		"xor %%ebp, %%ebp\n\t"
		"call *%[function]\n\t"
		"xor %%edi, %%edi\n\t"
		"mov %[exit], %%eax\n\t"
		"syscall\n"
		"1:"
		: "=a"(result)
		: "a"(SYS_clone), "D"(flags), "S"(stack_top),
		  "d"(&thread->alive), "r"(r10),
		  "r"(r8), [function] "r"(function), [exit] "i"(SYS_exit)
		: "rcx", "r11", "memory");
	return result;
}

void swz_task_path(char path[SWZ_TASK_PATH], uint32_t tid, const char *file)
{
	static const char start[] = "/proc/self/task/";
	char digits[12];
	unsigned count = 0;

	memcpy(path, start, sizeof(start) - 1);
	path += sizeof(start) - 1;
	do
		digits[count++] = (char)('0' + tid % 10);
	while (tid /= 10);
	while (count)
		*path++ = digits[--count];
	*path++ = '/';
	memcpy(path, file, strlen(file) + 1);
}

/* A thread of ours is known by its name, to samplers for instance. On a busy
 * machine it may begin late, and then have nothing to do and end: so it has the
 * name before it begins. (Without /proc it takes the name itself.) */
static void name_thread(long tid)
{
	static const char name[] = SWZ_OWN_THREAD_NAME;
	char path[SWZ_TASK_PATH];
	long fd;

	swz_task_path(path, (uint32_t)tid, "comm");
	fd = SWZ_SYSCALL(SYS_open, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	SWZ_SYSCALL(SYS_write, fd, name, sizeof(name) - 1);
	SWZ_SYSCALL(SYS_close, fd);
}

long swz_own_thread_start(struct swz_own_thread *thread, void (*function)(void),
			  uint64_t below)
{
	const struct control_block *here = __builtin_thread_pointer();
	struct control_block *block;
	char *memory;
	long tid;

	below = swz_page_up(below);
	thread->bytes = OWN_STACK_BYTES + below + ABOVE;
	memory = swz_sys_mmap(NULL, thread->bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (!memory)
		return -ENOMEM;
	if (swz_sys_mprotect(memory, SWZ_PAGE, PROT_NONE) != 0) {
		swz_sys_munmap(memory, thread->bytes);
		return -ENOMEM;
	}
	block = (struct control_block *)(void *)(memory + thread->bytes -
						 ABOVE);
	block->self = block->thread = block;
	block->stack_guard = here->stack_guard;
	block->pointer_guard = here->pointer_guard;
	thread->memory = memory;
	tid = clone_thread((char *)block - below - 64, thread, block, function);
	if (tid < 0) {
		swz_sys_munmap(memory, thread->bytes);
		thread->memory = NULL;
		return tid;
	}
	name_thread(tid);
	thread->tid = (int32_t)tid;
	thread->pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	return 0;
}

bool swz_own_thread_lives(const struct swz_own_thread *thread)
{
	/* acquire: the kernel clears it when the thread is off its stack */
	return atomic_load_explicit(&thread->alive, memory_order_acquire) &&
	       thread->pid == (int32_t)SWZ_SYSCALL(SYS_getpid);
}

void swz_own_thread_free(struct swz_own_thread *thread)
{
	if (thread->memory)
		swz_sys_munmap(thread->memory, thread->bytes);
	thread->memory = NULL;
}

/* --------------------------------------------------- a thread for planning */

/* The number behind `name` in the process's status; -1 if that is not to be
 * found out. */
static int status_of(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	if (!at)
		return -1;
	at += strlen(name);
	while (*at == '\t' || *at == ' ')
		at++;
	return *at >= '0' && *at <= '9' ? *at - '0' : -1;
}

bool swz_raw_threads_may_be(void)
{
	char status[4096];
	long fd = SWZ_SYSCALL(SYS_open, "/proc/self/status",
			      O_RDONLY | O_CLOEXEC);
	long n;

	if (fd < 0)
		return false;
	n = SWZ_SYSCALL(SYS_read, fd, status, sizeof(status) - 1);
	SWZ_SYSCALL(SYS_close, fd);
	status[n > 0 ? n : 0] = '\0';
	return status_of(status, "\nTracerPid:") == 0 &&
	       status_of(status, "\nSeccomp:") == 0;
}

/* Returns in the caller only. */
static long make(char *stack_top, _Atomic uint32_t *alive,
		 void (*function)(void *), void *argument)
{
	long flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
		     CLONE_THREAD | CLONE_SYSVSEM | CLONE_PARENT_SETTID |
		     CLONE_CHILD_CLEARTID | CLONE_UNTRACED;
	register long r10 __asm__("r10") = (long)alive;
	register long r8 __asm__("r8") = 0;
	long result;

	if (swz_system_calls_end)
		return -EPERM;
	__asm__ volatile("syscall\n\t"
			 "test %%rax, %%rax\n\t"
			 "jnz 1f\n\t"
			 "mov %[argument], %%rdi\n\t"
			 "call *%[function]\n\t"
			 "xor %%edi, %%edi\n\t"
			 "mov %[exit], %%eax\n\t"
			 "syscall\n"
			 "1:"
			 : "=a"(result)
			 : "a"(SYS_clone), "D"(flags), "S"(stack_top),
			   "d"(alive), "r"(r10),
			   "r"(r8), [argument] "r"(argument),
			   [function] "r"(function), [exit] "i"(SYS_exit)
			 : "rcx", "r11", "memory");
	return result;
}

bool swz_raw_thread_start(struct swz_raw_thread *thread, char *stack_top,
			  void (*function)(void *), void *argument)
{
	thread->id = make(stack_top, &thread->alive, function, argument);
	if (thread->id > 0)
		name_thread(thread->id);
	return thread->id > 0;
}

void swz_raw_thread_wait(struct swz_raw_thread *thread)
{
	long process = SWZ_SYSCALL(SYS_getpid);
	uint32_t alive;

	/* not private to the process: as the kernel wakes */
	while ((alive = atomic_load(&thread->alive)) != 0)
		SWZ_SYSCALL(SYS_futex, &thread->alive, FUTEX_WAIT, alive, NULL);
	for (unsigned i = 0; i < 10000; i++) {
		if (SWZ_SYSCALL(SYS_tgkill, process, thread->id, 0) == -ESRCH)
			break;
		SWZ_SYSCALL(SYS_sched_yield);
	}
}

/* ---------------------------------------------------------- a team of them */

/* Nothing that plans uses thread-local storage. A thread that wakes up late
 * finds that there is nothing left to do; nobody waits for it. */

/* For each so many bytes one more thread: to start it costs as much as planning
 * a tenth of that. */
#define BYTES_EACH (UINT64_C(1) << 20)
#define STACK_BYTES (UINT64_C(128) << 10)

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

	SWZ_SYSCALL(SYS_prctl, PR_SET_NAME, SWZ_OWN_THREAD_NAME);
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

	h->stack = swz_map_far(STACK_BYTES, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
	if (!h->stack)
		return false;
	/* valgrind looks whether there is memory where the top points to */
	if (swz_sys_mprotect(h->stack, SWZ_PAGE, PROT_NONE) != 0 ||
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

/* ------------------------------------------------------ a decoder for each */

bool swz_decoders_new(struct swz_decoders *decoders)
{
	for (unsigned i = 0; i < swz_workers_members(); i++) {
		decoders->of[i] = swz_decoder_new(swz_scratch_alloc);
		if (!decoders->of[i])
			return false;
	}
	return true;
}
