/* Thread states are made in groups: a page of hot parts, which a fork wipes,
 * then their cold parts. A state is found from its hot part's address alone,
 * so a forked child finds its own again.
 *
 * Nothing runs when a thread ends: destructors of thread-specific data may
 * still call hooked functions after any callback of ours, and a thread made
 * by a raw clone has none. Instead each new thread looks whether one that has
 * gone left its state behind, and takes that over with all that belongs to it.
 */

#include "runtime/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/context.h"
#include "runtime/file.h"

#define PAGE ((size_t)4096)
#define GROUP (PAGE / sizeof(struct swz_thread))
#define SLOW_STACK_BYTES (32u << 10)
#define KEPT_BLOCKS 4u /* by the state of a dead thread */

_Static_assert(sizeof(struct swz_thread) == 128, "hot part");
_Static_assert(GROUP * sizeof(struct swz_thread_cold) <= 2 * PAGE, "group");

__thread struct swz_thread *swz_thread_self;

static _Atomic(struct swz_thread_cold *) states;
static _Atomic uint32_t next_index;
static uint32_t function_room;
static struct swz_thread_cold *owners[SWZ_ARENA_BLOCKS];

int32_t swz_gettid(void)
{
	return (int32_t)SWZ_SYSCALL(SYS_gettid);
}

struct swz_thread_cold *swz_thread_first(void)
{
	/* acquire: matches the release in new_group */
	return atomic_load_explicit(&states, memory_order_acquire);
}

void swz_thread_set_functions(uint32_t count)
{
	function_room = count;
}

struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot)
{
	uintptr_t page = (uintptr_t)hot & -(uintptr_t)PAGE;
	size_t i = ((uintptr_t)hot - page) / sizeof(struct swz_thread);

	return (struct swz_thread_cold *)(page + PAGE) + i;
}

static uint64_t open_bytes(void)
{
	return ((uint64_t)function_room * sizeof(uint32_t) + PAGE) &
	       -(uint64_t)PAGE;
}

/* The slow stack and the open counts of a state, made at its first use. */
static enum swz_status furnish(struct swz_thread_cold *cold)
{
	char *memory;

	if (cold->slow_stack_top)
		return SWZ_OK;
	memory = swz_sys_mmap(NULL, SLOW_STACK_BYTES + open_bytes(),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (!memory)
		return SWZ_E_NOMEM;
	cold->open = (uint32_t *)(memory + SLOW_STACK_BYTES);
	cold->slow_stack_top = memory + SLOW_STACK_BYTES;
	return SWZ_OK;
}

static struct swz_thread_cold *new_group(int32_t tid)
{
	char *page = swz_sys_mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct swz_thread_cold *group, *head;

	if (!page)
		return NULL;
	if (SWZ_SYSCALL(SYS_madvise, page, PAGE, MADV_WIPEONFORK) != 0) {
		swz_sys_munmap(page, 3 * PAGE);
		return NULL;
	}
	group = (struct swz_thread_cold *)(page + PAGE);
	for (size_t i = 0; i < GROUP; i++) {
		group[i].hot = (struct swz_thread *)page + i;
		if (i + 1 < GROUP)
			group[i].next = &group[i + 1];
	}
	atomic_store_explicit(&group[0].tid, tid, memory_order_relaxed);
	head = atomic_load_explicit(&states, memory_order_relaxed);
	do {
		group[GROUP - 1].next = head;
		/* release: the list is whole for who sees its new head */
	} while (!atomic_compare_exchange_weak_explicit(
		&states, &head, group, memory_order_release,
		memory_order_relaxed));
	return group;
}

static bool has_ended(int32_t tid, int32_t self)
{
	int32_t pid;

	if (tid == self) /* the number was given out again, to us */
		return true;
	pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	return SWZ_SYSCALL(SYS_tgkill, pid, tid, 0) == -ESRCH;
}

/* A state of nobody's, now ours. */
static struct swz_thread_cold *take_state(void)
{
	struct swz_thread_cold *cold;
	int32_t self = swz_gettid();

	for (cold = swz_thread_first(); cold; cold = cold->next) {
		int32_t tid = atomic_load_explicit(&cold->tid,
						   memory_order_relaxed);

		if (tid != 0 && !has_ended(tid, self))
			continue;
		/* acquire: what the dead thread left; the kernel ordered its
		 * end before our seeing it */
		if (atomic_compare_exchange_strong_explicit(
			    &cold->tid, &tid, self, memory_order_acquire,
			    memory_order_relaxed))
			return cold;
	}
	return new_group(self);
}

/* ------------------------------------------------------------- thunks */

/* The kernel keeps this much free of other mappings below the main thread's
 * stack (mmap_base, arch/x86/mm/mmap.c: at least 128 MiB), and never takes away
 * what the stack has grown to. */
#define MAIN_STACK_BYTES (128u << 20)

static uintptr_t main_stack_top;

void swz_thread_set_main_stack(const void *top)
{
	main_stack_top = (uintptr_t)top;
}

static bool on_main_stack(const uint64_t *slot)
{
	return main_stack_top - 8 - (uintptr_t)slot < MAIN_STACK_BYTES;
}

/* Reads slots by way of the kernel; false where the memory is gone. */
static void read_slots(uint64_t *const *slots, unsigned count, uint64_t *words,
		       bool *readable)
{
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
	struct iovec remote[SWZ_BLOCK_THUNKS];
	unsigned done = 0;

	while (done < count) {
		struct iovec local = { words + done,
				       (count - done) * sizeof(*words) };
		unsigned got;
		long r;

		for (unsigned i = done; i < count; i++) {
			remote[i].iov_base = slots[i];
			remote[i].iov_len = sizeof(*words);
		}
		r = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1,
				remote + done, count - done, 0);
		got = r > 0 ? (unsigned)r / sizeof(*words) : 0;
		for (unsigned i = done; i < done + got; i++)
			readable[i] = true;
		done += got;
		if (done == count)
			break;
		/* Where we are not allowed to look, nothing is taken to be
		 * gone: the word is what a live frame has there. */
		readable[done++] = r < 0 && r != -EFAULT;
	}
}

uint64_t swz_block_alive(uint32_t block)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t *slots[SWZ_BLOCK_THUNKS], words[SWZ_BLOCK_THUNKS];
	bool readable[SWZ_BLOCK_THUNKS];
	unsigned which[SWZ_BLOCK_THUNKS], count = 0;
	uint64_t alive = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
		uint64_t *slot = thunks[i].slot;

		if (!slot || slot == SWZ_SLOT_OF_RECORD)
			continue;
		if (on_main_stack(slot)) {
			if (*slot == swz_thunk_address(&thunks[i]))
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
		    words[i] == swz_thunk_address(&thunks[which[i]]))
			alive |= 1ull << which[i];
	return alive;
}

static void push_free(struct swz_thread *thread, struct swz_thunk *thunk)
{
	thunk->slot = NULL;
	thunk->pending = NULL;
	thunk->link = thread->free;
	thread->free = thunk;
}

void swz_thread_put_free(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *record = thunk->pending, *next;

	for (; record; record = next) {
		next = record->pending;
		push_free(thread, record);
	}
	push_free(thread, thunk);
}

bool swz_thread_owns(const struct swz_thread *thread,
		     const struct swz_thunk *thunk)
{
	return owners[swz_arena_block_of(thunk)] == thread->cold;
}

static bool is_unused(uint32_t block)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
		if (thunks[i].slot == SWZ_SLOT_OF_RECORD || thunks[i].pending)
			return false;
	return swz_block_alive(block) == 0;
}

static void give_back(uint32_t block)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
		thunks[i].slot = NULL;
	owners[block] = NULL;
	swz_arena_give_block(block);
}

static enum swz_status note_block(struct swz_thread_cold *cold, uint32_t block)
{
	if (cold->block_count == cold->block_room) {
		uint32_t room = PAGE / sizeof(uint32_t);
		uint32_t *more = swz_sys_mmap(NULL, room * sizeof(uint32_t),
					      PROT_READ | PROT_WRITE,
					      MAP_PRIVATE | MAP_ANONYMOUS, -1,
					      0);

		if (!more)
			return SWZ_E_NOMEM;
		if (cold->blocks) {
			memcpy(more, cold->blocks,
			       cold->block_count * sizeof(uint32_t));
			swz_sys_munmap(cold->blocks,
				       cold->block_room * sizeof(uint32_t));
		}
		cold->blocks = more;
		cold->block_room = room;
	}
	cold->blocks[cold->block_count++] = block;
	owners[block] = cold;
	return SWZ_OK;
}

static enum swz_status add_block(struct swz_thread *thread)
{
	uint32_t block = swz_arena_take_block();
	struct swz_thunk *thunks;

	if (block == SWZ_BLOCK_NONE)
		return SWZ_E_NOMEM;
	if (note_block(thread->cold, block) != SWZ_OK) {
		swz_arena_give_block(block);
		return SWZ_E_NOMEM;
	}
	thunks = swz_arena_block_thunks(block);
	for (unsigned i = SWZ_BLOCK_THUNKS; i-- > 0;)
		push_free(thread, &thunks[i]);
	return SWZ_OK;
}

/* The records of tail calls that are pending on a thunk whose frame is gone
 * become thunks like any other that is not in use. */
void swz_thread_drop_records(struct swz_thread *thread,
			     const struct swz_thunk *but)
{
	struct swz_thread_cold *cold = thread->cold;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t owners_here = 0;

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (t[i].pending && t[i].slot != SWZ_SLOT_OF_RECORD &&
			    &t[i] != but)
				owners_here |= 1ull << i;
		if (owners_here)
			owners_here &= ~swz_block_alive(cold->blocks[b]);
		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
			struct swz_thunk *record = t[i].pending;

			if (!(owners_here >> i & 1))
				continue;
			t[i].pending = NULL;
			for (; record; record = record->pending)
				record->slot = NULL;
		}
	}
}

/* Puts the thunks of the thread's blocks whose frames are gone on its free
 * list, which is empty; returns how many there are. */
static unsigned sweep(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	unsigned freed = 0;

	thread->free = NULL;
	swz_thread_drop_records(thread, NULL);
	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t alive = swz_block_alive(cold->blocks[b]);

		for (unsigned i = SWZ_BLOCK_THUNKS; i-- > 0;) {
			if (alive >> i & 1 || t[i].slot == SWZ_SLOT_OF_RECORD)
				continue;
			push_free(thread, &t[i]);
			freed++;
		}
	}
	return freed;
}

extern const char swz_text_start[], swz_text_end[];

/* Hooks run in our text and in the thunks. A signal frame keeps, in this order, the interrupted program counter, the
 * flags (of which bit 1 is always set) and the selectors, of which the first
 * is 0x33 in 64-bit mode (struct sigcontext, arch/x86/include/uapi/asm). */
static bool is_interrupted_hook(const uint64_t *words)
{
	return (words[0] - (uintptr_t)swz_text_start <
			(uintptr_t)swz_text_end - (uintptr_t)swz_text_start ||
		swz_arena_contains(words[0])) &&
	       (words[1] & ~(uint64_t)0x3fffff) == 0 && (words[1] & 2) &&
	       (words[2] & 0xffff) == 0x33;
}

bool swz_interrupts_a_hook(const uint64_t *slot)
{
	uint64_t words[512 + 2] = { 0 };
	uintptr_t at = (uintptr_t)(slot + 1);
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);

	for (unsigned page = 0; page < 16; page++) {
		size_t bytes = PAGE - at % PAGE, count = bytes / 8;
		struct iovec local = { words + 2, bytes };
		struct iovec remote = { (void *)at, bytes };

		if (SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1, &remote,
				1, 0) != (long)bytes)
			break;
		for (size_t i = 0; i < count; i++)
			if (is_interrupted_hook(words + i))
				return true;
		words[0] = words[count]; /* a frame across the pages' edge */
		words[1] = words[count + 1];
		at += bytes;
	}
	return false;
}

enum swz_status swz_thread_refill(struct swz_thread *thread, uint64_t *slot)
{
	struct swz_thread_cold *cold = thread->cold;
	uint32_t thunks = cold->block_count * SWZ_BLOCK_THUNKS;
	unsigned freed = 0;
	uint32_t more;

	if (slot && !swz_interrupts_a_hook(slot))
		freed = sweep(thread);
	if (freed && freed >= thunks / 4)
		return SWZ_OK;
	/* half as many again, so that the sweeps' cost stays linear */
	more = cold->block_count / 2 + 1;
	for (uint32_t i = 0; i < more; i++)
		if (add_block(thread) != SWZ_OK)
			break;
	return thread->free ? SWZ_OK : SWZ_E_NOMEM;
}

/* Of a dead thread's blocks those that are wholly unused go back, but for a
 * few; the rest serves the new thread. */
static void inherit_blocks(struct swz_thread *thread)
{
	struct swz_thread_cold *cold = thread->cold;
	uint32_t kept = 0, count = cold->block_count;

	for (uint32_t b = 0; b < count; b++) {
		uint32_t block = cold->blocks[b];

		if (kept >= KEPT_BLOCKS && is_unused(block))
			give_back(block);
		else
			cold->blocks[kept++] = block;
	}
	cold->block_count = kept;
	sweep(thread);
}

/* ------------------------------------------------------------ records */

void swz_thread_note_name(struct swz_thread *thread)
{
	SWZ_SYSCALL(SYS_prctl, PR_GET_NAME, thread->record->name);
}

static enum swz_status begin_record(struct swz_thread *thread)
{
	struct swz_chunk *chunk =
		swz_chunk_take(swz_file, SWZ_CHUNK_THREAD,
			       sizeof(struct swz_thread_record), 1,
			       thread->cold->index);

	if (!chunk)
		return SWZ_E_NOMEM;
	thread->record = (struct swz_thread_record *)(chunk + 1);
	thread->record->tid = swz_gettid();
	thread->record->start_ticks = swz_ticks();
	thread->record->last_ticks = thread->record->start_ticks;
	swz_thread_note_name(thread);
	if (swz_context_begin(thread) != SWZ_OK)
		return SWZ_E_NOMEM;
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

static enum swz_status set_up(struct swz_thread *hot,
			      struct swz_thread_cold *cold)
{
	memset(hot, 0, sizeof(*hot));
	hot->cold = cold;
	cold->index = atomic_fetch_add_explicit(&next_index, 1,
						memory_order_relaxed);
	if (furnish(cold) != SWZ_OK)
		return SWZ_E_NOMEM;
	SWZ_SYSCALL(SYS_madvise, cold->open, open_bytes(), MADV_DONTNEED);
	hot->open = cold->open;
	if (cold->table_bytes) {
		hot->table = cold->table;
		hot->table_mask = cold->table_bytes - 8;
	}
	swz_context_clear(hot);
	if (begin_record(hot) != SWZ_OK)
		return SWZ_E_NOMEM;
	hot->key = (uint64_t)cold->root << 32;
	return SWZ_OK;
}

struct swz_thread *swz_thread_begin(void)
{
	struct swz_thread_cold *cold = take_state();
	struct swz_thread *hot;

	if (!cold)
		return NULL;
	hot = cold->hot;
	if (hot->record) /* the dead thread's */
		hot->record->end_ticks = hot->record->last_ticks;
	if (set_up(hot, cold) != SWZ_OK) {
		atomic_store_explicit(&cold->tid, 0, memory_order_release);
		return NULL;
	}
	inherit_blocks(hot);
	if (!hot->free && swz_thread_refill(hot, NULL) != SWZ_OK) {
		atomic_store_explicit(&cold->tid, 0, memory_order_release);
		return NULL;
	}
	swz_thread_self = hot;
	return hot;
}

enum swz_status swz_thread_revive(struct swz_thread *hot)
{
	struct swz_thread_cold *own = swz_thread_cold_of(hot), *cold;

	for (cold = swz_thread_first(); cold; cold = cold->next)
		atomic_store_explicit(&cold->tid, cold == own ? swz_gettid() : 0,
				      memory_order_relaxed);
	atomic_store_explicit(&next_index, 0, memory_order_relaxed);
	return set_up(hot, own);
}

void swz_thread_note_ended(void)
{
	struct swz_thread_cold *cold;

	for (cold = swz_thread_first(); cold; cold = cold->next) {
		int32_t tid = atomic_load_explicit(&cold->tid,
						   memory_order_relaxed);

		if (tid && cold->hot->record && has_ended(tid, 0))
			cold->hot->record->end_ticks =
				cold->hot->record->last_ticks;
	}
}
