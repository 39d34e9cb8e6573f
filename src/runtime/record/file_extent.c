#include "runtime/record/file_extent.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/record/file_full.h"
#include "runtime/record/file_mapping.h"
#include "runtime/record/file_name.h"

/* Steps grow with the file, so that few are needed; those of a short file by
 * half, so that a small program's needs none. Where there are huge pages (of
 * the file system, too) they end at a multiple of them. */
#define LEAST_STEP (32ull << 10)
#define MOST_STEP (64ull << 20)
#define STEP_UNIT (64ull << 10)

struct extent {
	_Atomic uint64_t bytes; /* the file is at least as long, and all of it
				 * may be accessed */
	uint64_t next;          /* what `bytes` is about to be */
	uint64_t most;
};

static struct extent current, beside;

/* The thread that changes the length of the file; 0: none. */
static _Atomic int32_t holder;

#define PAUSE_NS 20000

static struct extent *extent_of(const struct swz_file_header *file)
{
	return file == swz_file ? &current : &beside;
}

static uint64_t step_to(uint64_t need, uint64_t most)
{
	bool small = need <= SWZ_HUGE_PAGE;
	uint64_t more = small ? need / 2 : need / 4;
	uint64_t unit = small ? STEP_UNIT : SWZ_HUGE_PAGE;
	uint64_t bytes;

	if (more < LEAST_STEP)
		more = LEAST_STEP;
	if (more > MOST_STEP)
		more = MOST_STEP;
	bytes = (need + more + unit - 1) & -unit;
	return bytes < most ? bytes : most;
}

enum swz_status swz_extent_begin(int fd, uint64_t most)
{
	uint64_t bytes = step_to(SWZ_HEADER_BYTES, most);

	if (SWZ_SYSCALL(SYS_ftruncate, fd, bytes) != 0)
		return SWZ_E_SYSTEM;
	beside.most = most;
	beside.next = bytes;
	atomic_store_explicit(&beside.bytes, bytes, memory_order_relaxed);
	/* of the parent's file */
	atomic_store_explicit(&holder, 0, memory_order_relaxed);
	return SWZ_OK;
}

enum swz_status swz_extent_close_rest(struct swz_file_header *file)
{
	uint64_t bytes = beside.next;

	if (bytes < beside.most &&
	    swz_sys_mprotect((char *)file + bytes, beside.most - bytes,
			     PROT_NONE) != 0)
		return SWZ_E_SYSTEM;
	return SWZ_OK;
}

void swz_extent_replace(void)
{
	uint64_t bytes = atomic_load_explicit(&beside.bytes,
					      memory_order_relaxed);

	current.most = beside.most;
	current.next = bytes;
	atomic_store_explicit(&current.bytes, bytes, memory_order_relaxed);
}

uint64_t swz_extent(void)
{
	return atomic_load_explicit(&current.bytes, memory_order_relaxed);
}

uint64_t swz_extent_border(const struct swz_file_header *file, uint64_t at)
{
	const struct extent *e = extent_of(file);
	uint64_t bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	uint64_t border = UINT64_MAX;

	if (e->next > at)
		border = e->next;
	if (bytes > at && bytes < border)
		border = bytes;
	return border;
}

/* Few threads ever wait, a file system's time. They sleep, since the holder
 * may be one of lower priority. False: this thread is the holder, and was
 * interrupted. */
static bool hold(void)
{
	const struct timespec pause = {0, PAUSE_NS};
	int32_t me = (int32_t)SWZ_SYSCALL(SYS_gettid), nobody = 0;

	/* acquire, and release in let_go(): the length */
	while (!atomic_compare_exchange_strong_explicit(&holder, &nobody, me,
							memory_order_acquire,
							memory_order_relaxed)) {
		if (nobody == me)
			return false;
		nobody = 0;
		SWZ_SYSCALL(SYS_nanosleep, &pause, NULL);
	}
	return true;
}

static void let_go(void)
{
	atomic_store_explicit(&holder, 0, memory_order_release);
}

static enum swz_file_full extend(struct swz_file_header *file, struct extent *e,
				 uint64_t bytes)
{
	uint64_t old = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	enum swz_file_full why = swz_file_name_resize(file, old, bytes);

	if (why != SWZ_FULL_NOT)
		return why;
	e->next = bytes;
	if (swz_sys_mprotect((char *)file + old, bytes - old,
			     PROT_READ | PROT_WRITE) != 0)
		return SWZ_FULL_MEMORY;
	/* release: who sees it may use what was mapped */
	atomic_store_explicit(&e->bytes, bytes, memory_order_release);
	return SWZ_FULL_NOT;
}

static bool grow(struct swz_file_header *file, struct extent *e, uint64_t need)
{
	enum swz_file_full why = SWZ_FULL_NOT;
	uint64_t bytes;

	if (need > e->most || !hold())
		return false;
	bytes = atomic_load_explicit(&e->bytes, memory_order_relaxed);
	if (bytes < need)
		why = extend(file, e, step_to(need, e->most));
	let_go();
	if (why != SWZ_FULL_NOT)
		swz_file_is_full(file, why, bytes);
	return why == SWZ_FULL_NOT;
}

bool swz_extent_reach(struct swz_file_header *file, uint64_t bytes)
{
	struct extent *e = extent_of(file);

	return bytes <= atomic_load_explicit(&e->bytes, memory_order_acquire) ||
	       grow(file, e, bytes);
}

/* Signals are blocked: a handler would wait for what it has interrupted. */
void swz_extent_reach_all(void)
{
	uint64_t all = ~UINT64_C(0), before, most;

	if (!swz_file || (int32_t)SWZ_SYSCALL(SYS_getpid) != swz_file->pid)
		return;
	most = swz_file->limit_bytes & -(uint64_t)4096;
	if (swz_extent() >= most ||
	    SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, 8) != 0)
		return;
	if (hold()) {
		/* if it cannot be, that is said when the room is needed */
		if (swz_extent() < most)
			(void)extend(swz_file, &current, most);
		let_go();
	}
	SWZ_SYSCALL(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
}

bool swz_extent_hold(void)
{
	return hold();
}

/* A thread that needs more from now on waits for swz_extent_cut(). */
uint64_t swz_extent_lower(uint64_t bytes)
{
	uint64_t old = swz_extent();

	if (bytes < old) {
		current.next = old;
		atomic_store_explicit(&current.bytes, bytes,
				      memory_order_relaxed);
	}
	return old;
}

void swz_extent_cut(uint64_t old)
{
	uint64_t bytes = swz_extent();
	char *from = (char *)swz_file + bytes;

	if (bytes < old &&
	    (swz_sys_mprotect(from, old - bytes, PROT_NONE) != 0 ||
	     swz_file_name_resize(swz_file, bytes, bytes) != SWZ_FULL_NOT) &&
	    swz_sys_mprotect(from, old - bytes, PROT_READ | PROT_WRITE) == 0)
		atomic_store_explicit(&current.bytes, old,
				      memory_order_relaxed);
	let_go();
}
