/* Nothing runs when a thread ends: destructors of thread-specific data may
 * still call hooked functions after any callback of ours, and a thread made
 * by a raw clone has none. Instead each new thread looks whether one that has
 * gone left its state behind, and takes that over with all that belongs to it.
 */

#include "runtime/hooks/thread_life.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/module.h"
#include "runtime/record/counts.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/record/kept_calls.h"
#include "runtime/support/config.h"
#include "thunks/arena.h"

/* --- begin and end ------------------------------------------------------- */

#define PAGE ((size_t)4096)

static _Atomic(struct swz_thread_cold *) states;
static _Atomic uint32_t next_index;
static uint32_t function_room;

/* The list of thread states, in use or not; grows at its head. */
static struct swz_thread_cold *thread_first(void)
{
	/* acquire: matches the release in new_group */
	return atomic_load_explicit(&states, memory_order_acquire);
}

void swz_thread_set_functions(uint32_t count)
{
	function_room = count;
}

static uint64_t open_bytes(void)
{
	return ((uint64_t)function_room * sizeof(uint32_t) + PAGE) &
	       -(uint64_t)PAGE;
}

/* Bytes that a state has by function and by slot: the open counts, those of
 * recursive contexts, units of histograms, and settled slots. */
static uint64_t cleared_bytes(void)
{
	return (swz_config.percentiles ? 3 : 2) * open_bytes() +
	       SWZ_SETTLED_SLOTS * sizeof(uint64_t *);
}

/* Behind those of recursive contexts, if they are wanted. */
static uint32_t *histograms_of(const struct swz_thread_cold *cold)
{
	return (uint32_t *)(void *)((char *)cold->recursive + open_bytes());
}

/* The slow stack, what is cleared, and the first list of blocks of a state,
 * made at its first use: one mapping, of which a process with many threads
 * cannot have enough (vm.max_map_count). */
static enum swz_status furnish(struct swz_thread_cold *cold)
{
	const size_t list = SWZ_FIRST_BLOCK_ROOM * sizeof(*cold->blocks);
	size_t bytes = SWZ_SLOW_STACK_BYTES + cleared_bytes() + list;
	char *memory;

	if (cold->slow_stack_top)
		return SWZ_OK;
	memory = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (!memory)
		return SWZ_E_NOMEM;
	/* little of it is ever used, here and there */
	SWZ_SYSCALL(SYS_madvise, memory, bytes, MADV_NOHUGEPAGE);
	swz_stack_announce(memory, memory + SWZ_SLOW_STACK_BYTES);
	/* the top of the stack, and the first functions' counts behind it */
	SWZ_SYSCALL(SYS_madvise, memory + SWZ_SLOW_STACK_BYTES - PAGE, 2 * PAGE,
		    MADV_POPULATE_WRITE);
	memory += SWZ_SLOW_STACK_BYTES;
	cold->slow_stack_top = memory;
	cold->open = (uint32_t *)memory;
	memory += open_bytes();
	cold->recursive = (uint32_t *)memory;
	memory += open_bytes();
	if (swz_config.percentiles)
		memory += open_bytes();
	cold->settled = (const uint64_t **)(void *)memory;
	memory += SWZ_SETTLED_SLOTS * sizeof(*cold->settled);
	cold->blocks = (uint32_t *)memory;
	cold->block_room = SWZ_FIRST_BLOCK_ROOM;
	return SWZ_OK;
}

/* The calling thread, as a state's owner; 0: it is not to be known. */
static uint64_t own_id(void)
{
	long pid = SWZ_SYSCALL(SYS_getpid), tid = SWZ_SYSCALL(SYS_gettid);

	return pid < 0 || tid < 0 ? 0 : (uint64_t)pid << 32 | (uint32_t)tid;
}

/* In place of an owner. */
#define NOT_TO_BE_TAKEN UINT64_MAX
#define IN_STOCK (UINT64_MAX - 1)

/* Groups of states that are taken in advance. */
#define STOCK_GROUPS 8u

/* The unused states of the latest group, or NULL. */
static _Atomic(struct swz_thread_cold *) unused;

static struct swz_thread_cold *next_in_group(const struct swz_thread_cold *cold)
{
	return (uintptr_t)(cold->hot + 1) % SWZ_THREAD_PAGE ? cold->next : NULL;
}

/* The first of them is OWNER's, the others as REST says. */
static struct swz_thread_cold *new_group(uint64_t owner, uint64_t rest)
{
	char *page = swz_sys_mmap(NULL, (1 + SWZ_COLD_PAGES) * SWZ_THREAD_PAGE,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE,
				  -1, 0);
	struct swz_thread_cold *group, *head;

	if (!page)
		return NULL;
	if (SWZ_SYSCALL(SYS_madvise, page, SWZ_THREAD_PAGE, MADV_WIPEONFORK) !=
	    0) {
		swz_sys_munmap(page, (1 + SWZ_COLD_PAGES) * SWZ_THREAD_PAGE);
		return NULL;
	}
	group = (struct swz_thread_cold *)(page + SWZ_THREAD_PAGE);
	for (size_t i = 0; i < SWZ_THREAD_GROUP; i++) {
		group[i].hot = (struct swz_thread *)page + i;
		if (i + 1 < SWZ_THREAD_GROUP)
			group[i].next = &group[i + 1];
	}
	atomic_store_explicit(&group[0].owner, owner, memory_order_relaxed);
	for (size_t i = 1; i < SWZ_THREAD_GROUP; i++)
		atomic_store_explicit(&group[i].owner, rest,
				      memory_order_relaxed);
	head = atomic_load_explicit(&states, memory_order_relaxed);
	do {
		group[SWZ_THREAD_GROUP - 1].next = head;
		/* release: the list is whole for who sees its new head */
	} while (!atomic_compare_exchange_weak_explicit(&states, &head, group,
							memory_order_release,
							memory_order_relaxed));
	return group;
}

void swz_thread_stock_states(void)
{
	for (unsigned i = 0; i < STOCK_GROUPS; i++)
		if (!new_group(IN_STOCK, IN_STOCK))
			return;
}

/* A process's first thread that ends before the others keeps its number, for
 * signals, too, but it has no memory any more (mm_access in Linux). */
static bool has_no_memory(int32_t tid)
{
	static const char there;
	char word;
	struct iovec local = {&word, 1};
	struct iovec remote = {(void *)(uintptr_t)&there, 1};

	return SWZ_SYSCALL(SYS_process_vm_readv, tid, &local, 1, &remote, 1,
			   0) == -ESRCH;
}

/* Asked of its own process: one that shares our memory may be another one. */
static bool has_ended(uint64_t owner, uint64_t self)
{
	int32_t pid = (int32_t)(owner >> 32), tid = (int32_t)owner;

	if (owner == self) /* the number was given out again, to us */
		return true;
	return owner < IN_STOCK &&
	       (SWZ_SYSCALL(SYS_tgkill, pid, tid, 0) == -ESRCH ||
		(tid == pid && has_no_memory(tid)));
}

/* True if the state was nobody's; now it is ours. */
static bool take(struct swz_thread_cold *cold, uint64_t self)
{
	uint64_t owner = atomic_load_explicit(&cold->owner,
					      memory_order_relaxed);

	/* acquire: what the dead thread left; the kernel ordered its end
	 * before our seeing it */
	return (owner == 0 || has_ended(owner, self)) &&
	       atomic_compare_exchange_strong_explicit(
		       &cold->owner, &owner, self, memory_order_acquire,
		       memory_order_relaxed);
}

/* The next state of the latest group, which nobody has had yet. (A fork may
 * have made it free for all.) */
static struct swz_thread_cold *take_unused(uint64_t self)
{
	struct swz_thread_cold *cold = atomic_load(&unused);
	uint64_t owner = NOT_TO_BE_TAKEN;

	while (cold && !atomic_compare_exchange_strong(&unused, &cold,
						       next_in_group(cold)))
		;
	return cold && (atomic_compare_exchange_strong(&cold->owner, &owner,
						       self) ||
			take(cold, self))
		       ? cold
		       : NULL;
}

static struct swz_thread_cold *take_from_stock(uint64_t self)
{
	struct swz_thread_cold *cold;

	for (cold = thread_first(); cold; cold = cold->next) {
		uint64_t owner = IN_STOCK;

		if (atomic_compare_exchange_strong(&cold->owner, &owner, self))
			return cold;
	}
	return NULL;
}

static struct swz_thread_cold *take_new(uint64_t self)
{
	struct swz_thread_cold *cold = new_group(self, NOT_TO_BE_TAKEN);

	if (!cold)
		return take_from_stock(self);
	atomic_store(&unused, cold->next);
	return cold;
}

/* Most states whose owner is looked for: the cost of a new thread must not grow
 * with the number of others. */
#define MOST_ASKED 32u

/* A state of nobody's, now ours: that of the latest thread if it has ended by
 * now, or of others, which are asked in turn. */
static struct swz_thread_cold *take_state(void)
{
	static _Atomic(struct swz_thread_cold *) latest, next_asked;
	struct swz_thread_cold *cold = atomic_load(&latest);
	struct swz_thread_cold *next = atomic_load(&next_asked);
	uint64_t self = own_id();
	bool taken = self && cold && take(cold, self);

	if (!self)
		return NULL;
	for (unsigned i = 0; i < MOST_ASKED && !taken; i++) {
		cold = next ? next : thread_first();
		if (!cold)
			break;
		next = cold->next;
		taken = take(cold, self);
	}
	atomic_store(&next_asked, next);
	if (!taken)
		cold = take_unused(self);
	if (!cold)
		cold = take_new(self);
	if (cold)
		atomic_store(&latest, cold);
	return cold;
}

/* ------------------------------------------------------------ records */

void swz_thread_note_name(struct swz_thread_record *record)
{
	SWZ_SYSCALL(SYS_prctl, PR_GET_NAME, record->name);
}

static enum swz_status begin_record(struct swz_thread *thread)
{
	struct swz_chunk *chunk = swz_chunk_take(
		swz_file, SWZ_CHUNK_THREAD, sizeof(struct swz_thread_record), 1,
		thread->cold->index);

	if (!chunk)
		return SWZ_E_NOMEM;
	thread->record = (struct swz_thread_record *)(chunk + 1);
	thread->record->tid = (int32_t)atomic_load_explicit(
		&thread->cold->owner, memory_order_relaxed);
	thread->record->start_ticks = swz_ticks();
	thread->record->last_ticks = thread->record->start_ticks;
	swz_processor_time_begin(thread->record);
	swz_thread_note_name(thread->record);
	if (swz_context_begin(thread) != SWZ_OK)
		return SWZ_E_NOMEM;
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

/* Forgets the open calls of the parent, or of the dead thread. Memory that the
 * program has locked is not given back. */
static void clear_state(const struct swz_thread_cold *cold)
{
	if (SWZ_SYSCALL(SYS_madvise, cold->open, cleared_bytes(),
			MADV_DONTNEED) != 0)
		memset(cold->open, 0, cleared_bytes());
}

static enum swz_status try_to_set_up(struct swz_thread *hot,
				     struct swz_thread_cold *cold)
{
	memset(hot, 0, sizeof(*hot));
	hot->event = SWZ_NO_EVENTS;
	hot->cold = cold;
	cold->index = atomic_fetch_add_explicit(&next_index, 1,
						memory_order_relaxed);
	cold->unwound = 0;
	cold->no_room = cold->first_to_come = false;
	cold->first_frame = NULL;
	cold->exception = NULL;
	cold->nodes_made = cold->promoted = 0;
	cold->span_count = 0;
	cold->marks = NULL;
	if (furnish(cold) != SWZ_OK)
		return SWZ_E_NOMEM;
	if (cold->used)
		clear_state(cold);
	cold->used = true;
	hot->open = cold->open;
	hot->file = swz_file;
	hot->links = swz_file_links();
	hot->top = &swz_bottom;
	hot->epoch = swz_file->epoch_ticks - SWZ_TICKS_BIAS;
	hot->tables = swz_table_room_end();
	swz_site_table_clear(cold);
	if (begin_record(hot) != SWZ_OK)
		return SWZ_E_NOMEM;
	if (swz_config.count && !swz_counts_begin(hot, cold->counts_least))
		return SWZ_E_NOMEM;
	hot->histograms = histograms_of(cold);
	if (swz_config.percentiles && !swz_histograms_begin(hot))
		return SWZ_E_NOMEM;
	hot->key = (uint64_t)cold->root << 32;
	hot->expected = &hot->links[cold->root].first;
	swz_watched_calls_end_thread(hot);
	swz_events_begin_thread(hot);
	return SWZ_OK;
}

/* If it fails, the state is left as a fork leaves it: hooks go to C. */
static enum swz_status set_up(struct swz_thread *hot,
			      struct swz_thread_cold *cold)
{
	enum swz_status status = try_to_set_up(hot, cold);

	if (status != SWZ_OK)
		memset(hot, 0, sizeof(*hot));
	return status;
}

void swz_thread_disarm(struct swz_thread *hot)
{
	struct swz_thread_cold *cold = swz_thread_cold_of(hot);

	hot->file = swz_file;
	hot->record = (struct swz_thread_record *)(void *)((char *)swz_file +
							   SWZ_HEADER_BYTES);
	hot->open = cold->open;
	hot->histograms = histograms_of(cold);
	swz_histograms_disarm(hot);
	hot->top = &swz_bottom;
	hot->event = SWZ_NO_EVENTS;
	hot->cold = cold;
	hot->tables = swz_table_room_end();
	hot->links = swz_file_links(); /* all zeros */
	hot->expected = &hot->links->first;
}

/* On a page that the kernel wipes in a forked child: an enum swz_child. */
static _Atomic uint32_t *child;

static void make_child_word(void)
{
	if (child)
		return;
	child = swz_file_wiped_word();
	swz_thread_child_done();
}

bool swz_thread_forks_show(void)
{
	make_child_word();
	/* what is shared, as the profile is, cannot be wiped: who says that it
	 * will be has not looked at the advice */
	return SWZ_SYSCALL(SYS_madvise, swz_file, PAGE, MADV_WIPEONFORK) != 0;
}

/* On the state's own stack: that of the program may be a signal's, with no room
 * for what it takes to look after a dead thread's thunks. */
static void take_over(void *argument)
{
	struct swz_thread_cold *cold = argument;

	if (cold->hot->record) { /* the dead thread's */
		cold->hot->record->end_ticks = cold->hot->record->last_ticks;
		swz_switches_end(cold->hot);
	}
	cold->counts_least = 0;
	if (set_up(cold->hot, cold) == SWZ_OK && !swz_config.count)
		swz_thread_begin_thunks(cold);
}

struct swz_thread *swz_thread_begin(void)
{
	struct swz_thread_cold *cold;

	make_child_word();
	cold = take_state();
	if (!cold)
		return NULL;
	if (furnish(cold) == SWZ_OK)
		swz_call_on_stack(take_over, cold, cold->slow_stack_top);
	if (!cold->hot->cold) {
		atomic_store_explicit(&cold->owner, 0, memory_order_release);
		return NULL;
	}
	atomic_flag_clear(&cold->busy);
	cold->retry_at = 0;
	cold->pauses = false;
	cold->home_low = cold->home_high = 0;
	cold->random ^= swz_ticks();
	cold->apart_top = NULL;
	cold->first_slot = (uintptr_t)__builtin_frame_address(0);
	swz_thread_self = cold->hot;
	return cold->hot;
}

void swz_thread_give_back_own(void)
{
	struct swz_thread *thread = swz_thread_here();

	if (!thread)
		return;
	swz_thread_self = (struct swz_thread *)(uintptr_t)&swz_nobody;
	/* release: matches the acquire in take */
	atomic_store_explicit(&thread->cold->owner, 0, memory_order_release);
}

bool swz_thread_in_new_child(void)
{
	return child && atomic_load(child) != SWZ_CHILD_DONE;
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
			    memory_order_acquire, memory_order_acquire)) {
			swz_arena_forked();
			return SWZ_CHILD_OURS;
		}
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

	for (cold = thread_first(); cold; cold = cold->next) {
		atomic_store_explicit(&cold->owner, NOT_TO_BE_TAKEN,
				      memory_order_relaxed);
		swz_events_forget(cold);
	}
	atomic_store_explicit(&next_index, 0, memory_order_relaxed);
}

bool swz_thread_is_orphan(const struct swz_thread *hot)
{
	return atomic_load_explicit(&swz_thread_cold_of(hot)->owner,
				    memory_order_relaxed) == NOT_TO_BE_TAKEN;
}

enum swz_status swz_thread_rejoin(struct swz_thread *hot)
{
	struct swz_thread_cold *own = swz_thread_cold_of(hot);

	atomic_store_explicit(&own->owner, own_id(), memory_order_relaxed);
	swz_events_forget(own);
	return set_up(hot, own);
}

enum swz_status swz_thread_revive(struct swz_thread *hot)
{
	struct swz_thread_cold *own = swz_thread_cold_of(hot), *cold;

	for (cold = thread_first(); cold; cold = cold->next) {
		atomic_store_explicit(&cold->owner, cold == own ? own_id() : 0,
				      memory_order_relaxed);
		swz_events_forget(cold);
		cold->table_block = 0;
	}
	atomic_store_explicit(&next_index, 0, memory_order_relaxed);
	swz_table_room_begin_again();
	return set_up(hot, own);
}

/* True if a thread that began later has the same id: this one has ended. */
static bool has_heir(const struct swz_thread_cold *cold, uint64_t owner)
{
	const struct swz_thread_cold *other;

	for (other = thread_first(); other; other = other->next)
		if (other != cold &&
		    atomic_load_explicit(&other->owner, memory_order_relaxed) ==
			    owner &&
		    other->index > cold->index)
			return true;
	return false;
}

/* Each is held against all others: this takes a millisecond. */
#define MOST_HEIRS_SOUGHT 512u

void swz_thread_note_ended(void)
{
	const struct swz_thread *thread = swz_thread_here();
	struct swz_thread_cold *cold;
	unsigned alive = 0;

	/* in this order: what is noted is that of all until the end */
	__atomic_store_n(&swz_file->end_ticks, swz_ticks(), __ATOMIC_RELAXED);
	for (cold = thread_first(); cold; cold = cold->next) {
		uint64_t owner = atomic_load_explicit(&cold->owner,
						      memory_order_relaxed);
		struct swz_thread_record *record = cold->hot->record;

		if (!owner || owner >= IN_STOCK || !record)
			continue;
		swz_switches_end(cold->hot);
		if (cold->hot != thread && has_ended(owner, 0)) {
			record->end_ticks = record->last_ticks;
			continue;
		}
		if (swz_config.count) /* its hooks do not read the clock */
			record->last_ticks = swz_ticks();
		if (alive++ < MOST_HEIRS_SOUGHT && !has_heir(cold, owner))
			swz_processor_time_note(record);
	}
}

/* --- taking all back ----------------------------------------------------- */

/* Where T lies in a slot, R is put in its place. By way of the kernel, as the
 * stack may be protected by now, or gone. A T that was copied elsewhere
 * (continuations) stays, and its thunk with it.
 *
 * So does one that lies in a living stack besides: an unwinder that has read it
 * from the slot is about to ask the slot again (asm/x86_64/arena.S). */

/* Words of a stack that are read at once. */
#define MOST_WORDS 512u
#define RED_ZONE 128u
/* Thunks of one thread that may be held besides; if there are more, all stay.
 */
#define MOST_HELD 64u
/* An address further away is on another stack. */
#define MOST_STACK (1ull << 30)

struct held {
	const struct swz_thunk *thunks[MOST_HELD];
	uint32_t count;
	bool all;
	/* words that are a leader's T, as against slots where it lies: more,
	 * and one is held that may be any of its followers' */
	int64_t led;
};

static bool move_word(long call, int32_t pid, uint64_t *ours, uint64_t *at)
{
	struct iovec local = {ours, sizeof(*ours)};
	struct iovec remote = {at, sizeof(*at)};

	return SWZ_SYSCALL(call, pid, &local, 1, &remote, 1, 0) ==
	       sizeof(*ours);
}

/* ------------------------------------------------- what is held besides */

static uint64_t hexadecimal(const char *text)
{
	uint64_t value = 0;

	for (;; text++) {
		if (*text >= '0' && *text <= '9')
			value = value << 4 | (uint64_t)(*text - '0');
		else if (*text >= 'a' && *text <= 'f')
			value = value << 4 | (uint64_t)(*text - 'a' + 10);
		else
			return value;
	}
}

/* The stack pointer of a thread that stands still: the last word but one of
 * /proc/PID/syscall (proc(5)). 0: it is not told. */
static uint64_t stack_pointer(uint32_t tid)
{
	char path[SWZ_TASK_PATH], text[256];
	long fd, bytes;

	swz_task_path(path, tid, "syscall");
	fd = SWZ_SYSCALL(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	bytes = SWZ_SYSCALL(SYS_read, (int)fd, text, sizeof(text) - 1);
	SWZ_SYSCALL(SYS_close, (int)fd);
	for (unsigned words = 0; bytes > 2; bytes--) {
		text[bytes] = '\0';
		if (text[bytes - 2] == '0' && text[bytes - 1] == 'x' &&
		    ++words == 2)
			return hexadecimal(text + bytes);
	}
	return 0;
}

static void note_held(struct held *held, const struct swz_thunk *thunk)
{
	for (uint32_t i = 0; i < held->count; i++)
		if (held->thunks[i] == thunk)
			return;
	if (held->count < MOST_HELD)
		held->thunks[held->count++] = thunk;
	else
		held->all = true;
}

/* The thread's thunk whose T a word is, or NULL. */
static const struct swz_thunk *thunk_of(const struct swz_thread_cold *cold,
					uint64_t word)
{
	const struct swz_thunk *thunk;

	if (!swz_arena_contains(word))
		return NULL;
	thunk = swz_arena_thunk_at(word);
	for (uint32_t b = 0; b < cold->block_count; b++) {
		const struct swz_thunk *first = swz_arena_block_thunks(
			cold->blocks[b]);

		if (thunk >= first && thunk < first + SWZ_BLOCK_THUNKS)
			return thunk;
	}
	return NULL;
}

static bool is_leaders(uint64_t word)
{
	return swz_arena_contains(word) &&
	       (word - (uintptr_t)swz_arena_start) %
			       (2ull * SWZ_UNIT_CODE_BYTES) <
		       SWZ_UNIT_CODE_BYTES &&
	       word % SWZ_THUNK_BYTES == SWZ_THUNK_AFTER_CALL &&
	       swz_thunk_leads(swz_arena_thunk_at(word));
}

/* How many live frames of followers have their slots there. */
static int64_t led_slots(const struct swz_thread_cold *cold, uint64_t from,
			 uint64_t to)
{
	int64_t count = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		struct swz_thunk *t = swz_arena_block_thunks(cold->blocks[b]);
		uint64_t alive = swz_block_alive(cold->blocks[b], NULL, true);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			count += alive >> i & 1 && swz_thunk_follows(&t[i]) &&
				 (uintptr_t)t[i].slot - from < to - from;
	}
	return count;
}

/* Looks at the stack from its end up to the outermost slot. */
static void look_for_held(struct held *held, const struct swz_thread_cold *cold,
			  int32_t pid, uint64_t from, uint64_t to)
{
	uint64_t words[MOST_WORDS];

	for (from &= ~7ull; from < to; from += sizeof(words)) {
		struct iovec local = {words, sizeof(words)};
		struct iovec remote = {(void *)(uintptr_t)from, sizeof(words)};
		long bytes;

		if (to - from < sizeof(words))
			local.iov_len = remote.iov_len = to - from;
		bytes = SWZ_SYSCALL(SYS_process_vm_readv, pid, &local, 1,
				    &remote, 1, 0);
		for (long i = 0; i < bytes / 8; i++) {
			const struct swz_thunk *thunk = thunk_of(cold,
								 words[i]);

			if (thunk && (uint64_t)(uintptr_t)thunk->slot !=
					     from + 8 * (uint64_t)i)
				note_held(held, thunk);
			held->led += is_leaders(words[i]);
		}
		if (bytes != (long)remote.iov_len)
			return;
	}
}

static bool is_held(const struct held *held, const struct swz_thunk *thunk)
{
	for (uint32_t i = 0; i < held->count; i++)
		if (held->thunks[i] == thunk)
			return true;
	return held->all || (held->led > 0 && swz_thunk_follows(thunk));
}

/* ------------------------------------------------------------- all frames */

/* False: the frame is there, and its slot cannot be changed. */
static bool take_back(struct swz_thunk *thunk, int32_t pid)
{
	uint64_t word, real = thunk->return_address;

	if (!move_word(SYS_process_vm_readv, pid, &word, thunk->slot))
		return false;
	return word != swz_thunk_address(thunk) ||
	       move_word(SYS_process_vm_writev, pid, &real, thunk->slot);
}

/* The highest slot on the stack that a thread is on. */
static uint64_t outermost(const struct swz_thread_cold *cold, uint64_t from)
{
	uint64_t highest = 0;

	for (uint32_t b = 0; b < cold->block_count; b++) {
		const struct swz_thunk *thunks = swz_arena_block_thunks(
			cold->blocks[b]);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
			uint64_t slot = (uintptr_t)thunks[i].slot;

			if (slot > from && slot - from < MOST_STACK &&
			    slot > highest)
				highest = slot;
		}
	}
	return highest;
}

static void find_held(struct held *held, const struct swz_thread_cold *cold,
		      int32_t pid)
{
	uint64_t owner = cold->owner;
	uint64_t from = stack_pointer((uint32_t)owner);

	held->count = 0;
	held->led = 0;
	held->all = owner && !from && cold->block_count;
	if (owner && from) {
		uint64_t to = outermost(cold, from);

		from -= RED_ZONE;
		look_for_held(held, cold, pid, from, to);
		if (held->led)
			held->led -= led_slots(cold, from, to);
	}
}

static uint32_t restore_block(uint32_t block, const struct held *held,
			      int32_t pid)
{
	struct swz_thunk *thunks = swz_arena_block_thunks(block);
	uint64_t alive = swz_block_alive(block, NULL, true);
	uint32_t left = 0;

	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
		if (alive >> i & 1)
			left += is_held(held, &thunks[i]) ||
				!take_back(&thunks[i], pid);
	return left;
}

uint32_t swz_restore_return_addresses(void)
{
	/* (by that of the first thread nothing is read after its end) */
	const int32_t pid = (int32_t)SWZ_SYSCALL(SYS_gettid);
	const struct swz_thread_cold *cold;
	uint32_t left = 0;

	for (cold = thread_first(); cold; cold = cold->next) {
		struct held held;

		find_held(&held, cold, pid);
		for (uint32_t b = 0; b < cold->block_count; b++)
			left += restore_block(cold->blocks[b], &held, pid);
	}
	return left;
}

/* --- access from another thread ------------------------------------------ */

/* An initial-exec access is two loads, of which the second waits for the first
 *
 *     48 8b 05+8r rel32     mov swz_thread_self@gottpoff(%rip), %r
 *     64 48 8b 00+9r        mov %fs:(%r), %r
 *
 * and all else in a hook waits for them: 5 cycles, of which a processor on
 * which rdtsc is serializing hides none. With the distance itself in the
 * instruction, for which there is no dynamic relocation, it is one:
 *
 *     64 48 8b 04+8r 25 disp32     mov %fs:disp32, %r
 *     66 90                        nop
 */
#define ACCESS_BYTES 11
#define FS_PREFIX 0x64

/* From the linker script: the hooks have pages of their own. */
extern char __ehdr_start[], swz_hooks_start[], swz_hooks_end[];
/* Distances from themselves to the accesses (GET_THREAD in
 * asm/x86_64/macros.h). */
extern const int32_t swz_thread_accesses_start[], swz_thread_accesses_end[];

/* Bytes of a section: the linker defines one symbol before it, and one behind.
 */
static size_t bytes_between(const void *start, const void *end)
{
	return (uintptr_t)end - (uintptr_t)start;
}

static void shorten(uint8_t *access, int32_t distance)
{
	uint8_t reg = (access[2] >> 3) & 7;
	uint8_t code[ACCESS_BYTES] = {
		FS_PREFIX, 0x48, 0x8b, (uint8_t)(0x04 | reg << 3),
		0x25,      0,    0,    0,
		0,         0x66, 0x90,
	};

	memcpy(code + 5, &distance, sizeof(distance));
	memcpy(access, code, sizeof(code));
}

bool swz_thread_access_shorten(void)
{
	size_t bytes = bytes_between(swz_hooks_start, swz_hooks_end);
	size_t count = bytes_between(swz_thread_accesses_start,
				     swz_thread_accesses_end) /
		       sizeof(swz_thread_accesses_start[0]);
	int32_t distance = (int32_t)swz_thread_offset_of(&swz_thread_self);

	/* done before a reset: somebody may be executing it */
	if (count && ((const uint8_t *)swz_thread_accesses_start +
		      swz_thread_accesses_start[0])[0] == FS_PREFIX)
		return true;
	if (!swz_page_may_be_executed(__ehdr_start) ||
	    swz_sys_mprotect(swz_hooks_start, bytes, PROT_READ | PROT_WRITE))
		return true;
	SWZ_SYSCALL(SYS_madvise, swz_hooks_start, bytes, MADV_POPULATE_WRITE);
	for (size_t i = 0; i < count; i++) {
		const int32_t *from = &swz_thread_accesses_start[i];

		shorten((uint8_t *)(uintptr_t)from + *from, distance);
	}
	/* twice: memory may have been short */
	return !swz_sys_mprotect(swz_hooks_start, bytes,
				 PROT_READ | PROT_EXEC) ||
	       !swz_sys_mprotect(swz_hooks_start, bytes, PROT_READ | PROT_EXEC);
}
