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
#include "runtime/events.h"
#include "runtime/file.h"
#include "runtime/hooks.h"
#include "thunks/maps.h"

#define PAGE ((size_t)4096)
#define COLD_PAGES 3u
#define GROUP (PAGE / sizeof(struct swz_thread))
#define SLOW_STACK_BYTES (32u << 10)
#define STOCK_BLOCKS 64u
#define KEPT_BLOCKS 4u /* by the state of a dead thread */

_Static_assert(sizeof(struct swz_thread) == 128, "hot part");
_Static_assert(GROUP * sizeof(struct swz_thread_cold) <= COLD_PAGES * PAGE,
	       "group");

const struct swz_thread swz_nobody;
__thread struct swz_thread *swz_thread_self = (struct swz_thread *)&swz_nobody;
struct swz_thunk swz_bottom = {.slot = (uint64_t *)UINTPTR_MAX};

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

bool swz_thread_on_slow_stack(const struct swz_thread *thread)
{
	const char *top = thread->cold->slow_stack_top;

	return (uintptr_t)top - (uintptr_t)__builtin_frame_address(0) <
	       SLOW_STACK_BYTES;
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
	memory = swz_sys_mmap(
		NULL, SLOW_STACK_BYTES + open_bytes(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!memory)
		return SWZ_E_NOMEM;
	/* little of it is ever used, here and there */
	SWZ_SYSCALL(SYS_madvise, memory, SLOW_STACK_BYTES + open_bytes(),
		    MADV_NOHUGEPAGE);
	cold->open = (uint32_t *)(memory + SLOW_STACK_BYTES);
	cold->slow_stack_top = memory + SLOW_STACK_BYTES;
	return SWZ_OK;
}

static struct swz_thread_cold *new_group(int32_t tid)
{
	char *page = swz_sys_mmap(NULL, (1 + COLD_PAGES) * PAGE,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct swz_thread_cold *group, *head;

	if (!page)
		return NULL;
	if (SWZ_SYSCALL(SYS_madvise, page, PAGE, MADV_WIPEONFORK) != 0) {
		swz_sys_munmap(page, (1 + COLD_PAGES) * PAGE);
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
	} while (!atomic_compare_exchange_weak_explicit(&states, &head, group,
							memory_order_release,
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

static bool in_home(const struct swz_thread_cold *cold, const uint64_t *slot)
{
	return (uintptr_t)slot - cold->home_low <
	       cold->home_high - cold->home_low;
}

/* What lies next to a thread's stack may be in one mapping with it, other
 * stacks for instance. glibc puts the thread's own control block at the top. */
static void end_home_at_tcb(struct swz_thread_cold *cold)
{
	uint64_t tcb;

	__asm__("movq %%fs:0x10, %0" : "=r"(tcb)); /* tcbhead_t.self */
	if (tcb > cold->first_slot && tcb < cold->home_high)
		cold->home_high = tcb;
}

bool swz_thread_same_stack(struct swz_thread *thread, const uint64_t *a,
			   const uint64_t *b)
{
	struct swz_thread_cold *cold = thread->cold;

	if (!cold->home_high) {
		cold->home_low = 1; /* asked */
		cold->home_high = 1;
		if (on_main_stack((const uint64_t *)cold->first_slot)) {
			cold->home_low = main_stack_top - MAIN_STACK_BYTES;
			cold->home_high = main_stack_top;
		} else {
			swz_mapping_of(cold->first_slot, &cold->home_low,
				       &cold->home_high);
			end_home_at_tcb(cold);
		}
	}
	return in_home(cold, a) && in_home(cold, b);
}

bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot)
{
	return in_home(thread->cold, slot);
}

/* Reads slots by way of the kernel; false where the memory is gone. */
static void read_slots(uint64_t *const *slots, unsigned count, uint64_t *words,
		       bool *readable)
{
	int32_t pid = (int32_t)SWZ_SYSCALL(SYS_getpid);
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

/* The word in a live frame's slot: the thunk's address, or, while the frame is
 * being entered or left, the real return address. That may also be left there
 * by other frames, so it proves nothing for one that is known to be in neither
 * hook. */
static bool may_be_live(const struct swz_thunk *thunk, uint64_t word)
{
	if (word == swz_thunk_address(thunk))
		return true;
	return word == thunk->return_address &&
	       !swz_start_is_suspended(thunk->start_ticks) &&
	       thunk->pending != SWZ_CLOSED;
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

		if (!slot)
			continue;
		if (on_main_stack(slot)) {
			if (may_be_live(&thunks[i], *slot))
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
		if (readable[i] && may_be_live(&thunks[which[i]], words[i]))
			alive |= 1ull << which[i];
	return alive;
}

bool swz_thread_owns(const struct swz_thread *thread,
		     const struct swz_thunk *thunk)
{
	return owners[swz_arena_block_of(thunk)] == thread->cold;
}

/* A list of thunks is taken as a whole while it is changed: a signal handler
 * that comes between finds it empty and cannot get hold of what is being taken
 * here. One that never returns takes it away for good. */
static struct swz_thunk *detach(struct swz_thunk **list)
{
	/* acquire: matches the release in attach() where two threads share
	 * their thread-local storage */
	return __atomic_exchange_n(list, NULL, __ATOMIC_ACQUIRE);
}

/* Puts thunks back, before what has come to the list meanwhile. */
static void attach(struct swz_thunk **list, struct swz_thunk *thunks)
{
	struct swz_thunk *none = NULL;

	while (thunks && !__atomic_compare_exchange_n(list, &none, thunks,
						      false, __ATOMIC_RELEASE,
						      __ATOMIC_RELAXED)) {
		struct swz_thunk *others = detach(list), *last = others;

		none = NULL;
		if (!others)
			continue;
		while (last->link)
			last = last->link;
		last->link = thunks;
		thunks = others;
	}
}

static struct swz_thunk *pop(struct swz_thunk **list)
{
	struct swz_thunk *thunk = detach(list);

	if (thunk)
		attach(list, thunk->link);
	return thunk;
}

static void push(struct swz_thunk **list, struct swz_thunk *thunk)
{
	thunk->link = detach(list);
	attach(list, thunk);
}

void swz_thread_free_record(struct swz_thread *thread, struct swz_thunk *record)
{
	push(&thread->cold->records, record);
}

struct swz_thunk *swz_thread_pop_record(struct swz_thread *thread)
{
	struct swz_thunk *record = pop(&thread->cold->records);

	if (!record)
		record = pop(&thread->cold->fresh);
	if (record)
		record->slot = NULL;
	return record;
}

void swz_thread_free_thunk(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *record = thunk->pending, *next, **free;

	if (!swz_thread_owns(thread, thunk) || !thunk->node) {
		thunk->slot = SWZ_SLOT_GONE;
		return;
	}
	thunk->slot = NULL;
	if (record != SWZ_CLOSED) {
		for (; record; record = next) {
			next = record->pending;
			swz_thread_free_record(thread, record);
		}
	}
	thunk->pending = NULL;
	free = swz_free_thunks(thread, swz_unit_at(thunk->node));
	thunk->next_free = *free;
	*free = thunk;
}

static void give_back(uint32_t block)
{
	owners[block] = NULL;
	swz_arena_give_block(block);
}

static enum swz_status note_block(struct swz_thread_cold *cold, uint32_t block)
{
	if (cold->block_count == cold->block_room) {
		uint32_t room = PAGE / sizeof(uint32_t);
		uint32_t *more, *old = cold->blocks;

		if (cold->block_room)
			room = 4 * cold->block_room;
		more = swz_sys_mmap(NULL, room * sizeof(uint32_t),
				    PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (!more)
			return SWZ_E_NOMEM;
		if (old)
			memcpy(more, old, cold->block_count * sizeof(uint32_t));
		/* a child forked by another thread reads the list */
		__atomic_store_n(&cold->blocks, more, __ATOMIC_RELEASE);
		if (old)
			swz_sys_munmap(old,
				       cold->block_room * sizeof(uint32_t));
		cold->block_room = room;
	}
	cold->blocks[cold->block_count++] = block;
	owners[block] = cold;
	return SWZ_OK;
}

static void put_fresh(struct swz_thread_cold *cold, uint32_t block)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block), *list = NULL;
	uint64_t alive = swz_block_alive(block);

	for (unsigned i = SWZ_BLOCK_THUNKS; i-- > 0;) {
		if (!(alive >> i & 1)) {
			memset(&thunks[i], 0, sizeof(thunks[i]));
			thunks[i].link = list;
			list = &thunks[i];
			continue;
		}
		/* a dead thread's, on a stack that has outlived it: with no
		 * accounts, since those were that thread's */
		thunks[i].pending = SWZ_CLOSED;
		thunks[i].node = 0;
		thunks[i].parent = cold->root;
	}
	attach(&cold->fresh, list);
}

static enum swz_status add_block(struct swz_thread_cold *cold)
{
	uint32_t block = swz_arena_take_block();

	if (block == SWZ_BLOCK_NONE)
		return SWZ_E_NOMEM;
	if (note_block(cold, block) != SWZ_OK) {
		swz_arena_give_block(block);
		return SWZ_E_NOMEM;
	}
	put_fresh(cold, block);
	return SWZ_OK;
}

/* Of frames that were suspended some may be gone with their stack: as many as
 * there are thunks are worth a sweep. Frames can go unseen too (a stack that is
 * destroyed): for these a sweep may take a 65th of the time, or, where it has
 * found few of late, down to a 1025th. One that was itself interrupted counts
 * as no longer than this many ticks for each thunk.
 */
#define MOST_SWEEP_TICKS 64u
#define LEAST_SWEEP_SHIFT 6u
#define MOST_SWEEP_SHIFT 10u

static bool sweep_is_due(const struct swz_thread_cold *cold)
{
	uint64_t thunks = (uint64_t)cold->block_count * SWZ_BLOCK_THUNKS;
	uint64_t took = cold->sweep_ticks;

	if (took > thunks * MOST_SWEEP_TICKS)
		took = thunks * MOST_SWEEP_TICKS;
	return cold->suspended >= thunks ||
	       swz_ticks() - cold->swept_at >= took << cold->sweep_shift;
}

static void free_gone(struct swz_thread *thread, struct swz_thunk *thunk)
{
	if (!thunk->node) {
		memset(thunk, 0, sizeof(*thunk));
		push(&thread->cold->fresh, thunk);
		return;
	}
	/* if it was not linked when it was skipped */
	swz_leave(thread, thunk, swz_now(thread), SWZ_EVENT_SKIP);
	swz_thread_free_thunk(thread, thunk);
}

/* Frees the thunks whose frames are gone without a word. Whatever was at the
 * slot that is being entered is gone, although it holds a return address. */
static void sweep(struct swz_thread *thread, const uint64_t *entering)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t start = swz_ticks(), found = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t alive = swz_block_alive(cold->blocks[b]);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (t[i].slot &&
			    (!(alive >> i & 1) || t[i].slot == entering)) {
				free_gone(thread, &t[i]);
				found++;
			}
	}
	if (found >= cold->block_count) /* one in 64 */
		cold->sweep_shift = LEAST_SWEEP_SHIFT;
	else if (cold->sweep_shift < MOST_SWEEP_SHIFT)
		cold->sweep_shift++;
	cold->suspended = 0;
	cold->swept_at = swz_ticks();
	cold->sweep_ticks = cold->swept_at - start;
}

static uint64_t take_over(struct swz_thread *thread, struct swz_node *from,
			  const struct swz_node *to, uint64_t most)
{
	struct swz_thunk **list = swz_free_thunks(thread, from), *t;
	struct swz_thunk **free = swz_free_thunks(thread, to);
	uint64_t count = 0;

	for (; count < most && (t = *list) != NULL; count++) {
		/* itself: it is twice on its list */
		*list = t->next_free == t ? NULL : t->next_free;
		t->node = swz_unit_of(to);
		t->parent = to->parent;
		t->next_free = *free;
		*free = t;
	}
	return count;
}

/* A frame that was resumed by another caller has taken its thunk along to that
 * caller's edge (runtime/suspend.c). Here one that has none left gets some from
 * the edges with its function and its call site, which differ in their context
 * only. The frames that moved pay for the search: a quarter of what it may
 * bring. */
static void gather(struct swz_thread *thread, const struct swz_node *node)
{
	struct swz_thread_cold *cold = thread->cold;
	uint64_t entries = cold->table_bytes / sizeof(*cold->table);
	uint64_t most = SWZ_BLOCK_THUNKS + entries / 16, count = 0;

	if (cold->moved < most / 4)
		return;
	cold->moved -= most / 4;
	for (uint64_t i = 0; i < entries && count < most; i++) {
		uint32_t unit = thread->table[i];
		struct swz_node *other = swz_unit_at(unit);

		if (unit && other != node &&
		    other->function == node->function &&
		    other->call_site == node->call_site)
			count += take_over(thread, other, node, most - count);
	}
}

static struct swz_thunk *take_fresh(struct swz_thread_cold *cold)
{
	struct swz_thunk *thunk = pop(&cold->fresh);

	if (!thunk && add_block(cold) == SWZ_OK)
		thunk = pop(&cold->fresh);
	return thunk;
}

static void lead_back(struct swz_thunk *thunk, const struct swz_node *node,
		      const uint8_t *body, const uint64_t *slot)
{
	thunk->body = body;
	thunk->return_address = *slot;
	thunk->node = swz_unit_of(node);
	thunk->parent = node->parent;
	thunk->pending = NULL;
}

struct swz_thunk *swz_thread_fresh_thunk(struct swz_thread *thread,
					 const struct swz_node *node,
					 const uint8_t *body,
					 const uint64_t *slot)
{
	struct swz_thunk *thunk = pop(&thread->cold->fresh);

	if (thunk)
		lead_back(thunk, node, body, slot);
	return thunk;
}

struct swz_thunk *swz_thread_take_thunk(struct swz_thread *thread,
					struct swz_node *node,
					const uint8_t *body,
					const uint64_t *slot)
{
	struct swz_thread_cold *cold = thread->cold;
	struct swz_thunk **free = swz_free_thunks(thread, node), *thunk;

	if (!*free && !cold->fresh && sweep_is_due(cold))
		sweep(thread, slot);
	if (!*free && !cold->fresh && cold->moved)
		gather(thread, node);
	thunk = *free;
	if (thunk) {
		*free = thunk->next_free;
		return thunk;
	}
	thunk = take_fresh(cold);
	if (!thunk) {
		cold->retry_at = swz_ticks() + SWZ_RETRY_TICKS;
		return NULL;
	}
	lead_back(thunk, node, body, slot);
	return thunk;
}

void swz_thread_stock_up(struct swz_thread *thread)
{
	for (unsigned i = 0; i < STOCK_BLOCKS; i++)
		if (add_block(thread->cold) != SWZ_OK)
			return;
}

struct swz_thunk *swz_thread_make_record(struct swz_thread *thread)
{
	struct swz_thunk *record = take_fresh(thread->cold);

	if (record)
		record->slot = NULL;
	return record;
}

/* A dead thread's blocks serve the new one; of those that are wholly unused,
 * all but a few go back. */
static void inherit_blocks(struct swz_thread_cold *cold)
{
	uint32_t kept = 0, count = cold->block_count;

	cold->fresh = cold->records = NULL;
	for (uint32_t b = 0; b < count; b++) {
		uint32_t block = cold->blocks[b];

		if (kept >= KEPT_BLOCKS && swz_block_alive(block) == 0) {
			give_back(block);
			continue;
		}
		cold->blocks[kept++] = block;
		put_fresh(cold, block);
	}
	cold->block_count = kept;
}

/* ------------------------------------------------------------ records */

void swz_thread_note_name(struct swz_thread *thread)
{
	SWZ_SYSCALL(SYS_prctl, PR_GET_NAME, thread->record->name);
}

static enum swz_status begin_record(struct swz_thread *thread)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_THREAD, sizeof(struct swz_thread_record), 1,
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
	hot->event = SWZ_NO_EVENTS;
	hot->cold = cold;
	cold->index = atomic_fetch_add_explicit(&next_index, 1,
						memory_order_relaxed);
	cold->unwound = 0;
	if (furnish(cold) != SWZ_OK)
		return SWZ_E_NOMEM;
	SWZ_SYSCALL(SYS_madvise, cold->open, open_bytes(), MADV_DONTNEED);
	hot->open = cold->open;
	hot->file = swz_file;
	hot->links = swz_file_links();
	hot->top = &swz_bottom;
	hot->epoch = swz_file->epoch_ticks - SWZ_TICKS_BIAS;
	if (cold->table_bytes) {
		hot->table = cold->table;
		hot->table_mask = cold->table_bytes - sizeof(*cold->table);
	}
	swz_context_clear(hot);
	if (begin_record(hot) != SWZ_OK)
		return SWZ_E_NOMEM;
	hot->key = (uint64_t)cold->root << 32;
	hot->expected = &hot->links[cold->root].first;
	swz_events_begin_thread(hot);
	return SWZ_OK;
}

/* On a page that the kernel wipes in a forked child: an enum swz_child. */
static _Atomic uint32_t *child;

static enum swz_status make_child_word(void)
{
	char *page;

	if (child)
		return SWZ_OK;
	page = swz_sys_mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!page)
		return SWZ_E_NOMEM;
	if (SWZ_SYSCALL(SYS_madvise, page, PAGE, MADV_WIPEONFORK) != 0) {
		swz_sys_munmap(page, PAGE);
		return SWZ_E_SYSTEM;
	}
	child = (_Atomic uint32_t *)page;
	swz_thread_child_done();
	return SWZ_OK;
}

struct swz_thread *swz_thread_begin(void)
{
	struct swz_thread_cold *cold;
	struct swz_thread *hot;

	if (make_child_word() != SWZ_OK)
		return NULL;
	cold = take_state();
	if (!cold)
		return NULL;
	hot = cold->hot;
	if (hot->record) /* the dead thread's */
		hot->record->end_ticks = hot->record->last_ticks;
	if (set_up(hot, cold) != SWZ_OK) {
		atomic_store_explicit(&cold->tid, 0, memory_order_release);
		return NULL;
	}
	atomic_flag_clear(&cold->busy);
	cold->no_room = false;
	cold->retry_at = 0;
	cold->home_low = cold->home_high = 0;
	cold->nodes_made = 0;
	cold->suspended = cold->moved = 0;
	cold->sweep_shift = LEAST_SWEEP_SHIFT;
	cold->random ^= swz_ticks();
	cold->apart_top = NULL;
	cold->first_slot = (uintptr_t)__builtin_frame_address(0);
	inherit_blocks(cold);
	swz_thread_self = hot;
	return hot;
}

#define MOST_YIELDS 1000000u

enum swz_child swz_thread_claim_child(void)
{
	uint32_t state;

	if (!child) /* the first thread of all */
		return SWZ_CHILD_DONE;
	/* Some milliseconds: who makes the profile cannot be interrupted. */
	for (unsigned i = 0; i < MOST_YIELDS; i++) {
		state = SWZ_CHILD_OURS;
		/* acquire: the profile, by the release in
		 * swz_thread_child_done */
		if (atomic_compare_exchange_strong_explicit(
			    child, &state, SWZ_CHILD_OTHER,
			    memory_order_acquire, memory_order_acquire))
			return SWZ_CHILD_OURS;
		if (state == SWZ_CHILD_DONE)
			return SWZ_CHILD_DONE;
		SWZ_SYSCALL(SYS_sched_yield);
	}
	return SWZ_CHILD_OTHER;
}

void swz_thread_child_done(void)
{
	atomic_store_explicit(child, SWZ_CHILD_DONE, memory_order_release);
}

void swz_thread_orphan_states(void)
{
	struct swz_thread_cold *cold;

	for (cold = swz_thread_first(); cold; cold = cold->next) {
		atomic_store_explicit(&cold->tid, -1, memory_order_relaxed);
		swz_events_forget(cold);
	}
	atomic_store_explicit(&next_index, 0, memory_order_relaxed);
}

enum swz_status swz_thread_rejoin(struct swz_thread *hot)
{
	struct swz_thread_cold *own = swz_thread_cold_of(hot);

	atomic_store_explicit(&own->tid, swz_gettid(), memory_order_relaxed);
	own->no_room = false;
	swz_events_forget(own);
	return set_up(hot, own);
}

enum swz_status swz_thread_revive(struct swz_thread *hot)
{
	struct swz_thread_cold *own = swz_thread_cold_of(hot), *cold;

	for (cold = swz_thread_first(); cold; cold = cold->next) {
		atomic_store_explicit(&cold->tid,
				      cold == own ? swz_gettid() : 0,
				      memory_order_relaxed);
		swz_events_forget(cold);
	}
	atomic_store_explicit(&next_index, 0, memory_order_relaxed);
	own->no_room = false;
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
