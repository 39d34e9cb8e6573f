/* A hook finds what it needs ready: a node, a free thunk, the thread's state.
 * If not, it comes here, and goes on on the thread's slow stack with signals
 * blocked: the program's stack may be a few hundred bytes, and a handler may
 * call hooked functions while this one is at work. A forked child's first call
 * comes here as well, and makes the child's own profile. */

#include "runtime/hooks/hooks.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/loaded.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "thunks/arena.h"
#include "thunks/trampoline.h"

/* --- interrupted hooks --------------------------------------------------- */

/* The kernel has put the place that was interrupted onto the stack on which the
 * handler runs, two words before the code segment. (An address in our text
 * alone may be what earlier hooks have left there.) */

#define LOOKED_AT_WORDS (32u << 10)
/* Words of the main thread's stack, behind whose end nothing can be read. */
#define MAIN_LOOKED_AT_WORDS (2u << 20)

extern const char swz_text_start[], swz_text_end[];

static bool is_ours(uint64_t address)
{
	struct swz_region region;

	/* trampolines that count are hooks */
	if (swz_config.count && swz_region_at(address, &region))
		return true;
	return address - (uintptr_t)swz_text_start <
	       (uintptr_t)swz_text_end - (uintptr_t)swz_text_start;
}

/* The code segment of a 64-bit program, in the low half of a word
 * (gregs[REG_CSGSFS]). */
#define CODE_SEGMENT 0x33u
/* The whole word, with that of the stack: what else there is may look like the
 * half. */
#define SEGMENTS (UINT64_C(0x2b) << 48 | CODE_SEGMENT)

/* A handler that was itself interrupted by one on another stack: there is more
 * to be looked at where the interrupted stack pointer, three words before the
 * code segment, leads. */
#define MOST_STACKS 4u

struct stacks {
	uint64_t starts[MOST_STACKS];
	unsigned count;
};

static void add_stack(struct stacks *stacks, uint64_t start)
{
	if (stacks->count == MOST_STACKS || start % sizeof(uint64_t))
		return;
	for (unsigned i = 0; i < stacks->count; i++)
		if (start - stacks->starts[i] <
		    LOOKED_AT_WORDS * sizeof(uint64_t))
			return;
	stacks->starts[stacks->count++] = start;
}

static bool is_interrupted_above(const uint64_t *at, struct stacks *stacks)
{
	uint64_t before[3] = {0, 0, 0}, words[SWZ_PAGE_WORDS] = {0};
	const uint64_t *end = at + (swz_on_main_stack(at) ? MAIN_LOOKED_AT_WORDS
							  : LOOKED_AT_WORDS);
	unsigned count;

	for (; at < end && (count = swz_stack_words(at, words)); at += count)
		for (unsigned i = 0; i < count; i++) {
			if ((uint16_t)words[i] == CODE_SEGMENT) {
				if (is_ours(before[1]))
					return true;
				if (words[i] == SEGMENTS)
					add_stack(stacks, before[0]);
			}
			before[0] = before[1];
			before[1] = before[2];
			before[2] = words[i];
		}
	return false;
}

bool swz_interrupted_hook(const uint64_t *slot)
{
	struct stacks stacks = {{(uintptr_t)(slot + 1)}, 1};

	for (unsigned i = 0; i < stacks.count; i++)
		if (is_interrupted_above(
			    (const uint64_t *)(uintptr_t)stacks.starts[i],
			    &stacks))
			return true;
	return false;
}

/* --- forks --------------------------------------------------------------- */

/* The child maps its own file at the address of its parent's, so pointers to
 * nodes stay pointers; what they point at is made anew: the path of each open
 * frame, with no calls, open since the fork. The parent's file is only read.
 *
 * The program may have forked in a signal handler that has interrupted a hook,
 * and return from it. That hook goes on with what it has found in the parent's
 * profile: nodes, and the links beside them. So nothing is put there in the
 * child's: it reads zeros, which are no edge and no context, and what it writes
 * is never read. The thread's state and what its thunks lead to are as good for
 * it as what any handler leaves. */

struct rebirth {
	struct swz_thread *thread;
	const struct swz_file_header *old;
	uint32_t old_root, old_fold;
	uint32_t *path; /* old units, from a context towards the root */
	uint32_t path_room;
	uint64_t now;
	struct swz_thunk *top;
	bool amid_hook; /* which may go on */
};

static const struct swz_node *old_node(const struct rebirth *r, uint32_t unit)
{
	return (const struct swz_node *)((const char *)r->old +
					 (uint64_t)unit * SWZ_UNIT_BYTES);
}

/* True if the chunk is of functions that the parent has planned since. Those of
 * imports may be of a module that was there before. */
static bool has_later_ids(const struct swz_chunk *chunk)
{
	const struct swz_function_record *first = (const void *)(chunk + 1);
	uint32_t id = 0;

	if (chunk->type == SWZ_CHUNK_FUNCTIONS)
		id = first->id;
	else if (chunk->type == SWZ_CHUNK_NAMES ||
		 chunk->type == SWZ_CHUNK_PACKED_FUNCTIONS ||
		 chunk->type == SWZ_CHUNK_SIGNATURES)
		id = *(const uint32_t *)(const void *)(chunk + 1);
	return id >= swz_ids_next();
}

/* Copies what describes the program: all chunks but threads and nodes, and
 * what the parent may have loaded since. */
static enum swz_status copy_description(struct swz_file_header *to)
{
	uint64_t at = SWZ_HEADER_BYTES;
	uint64_t end = swz_file_used();
	const struct swz_request *parents = (const void *)((char *)swz_file +
							   SWZ_REQUEST_OFFSET);

	/* (the new file's: it is mapped there by now) */
	(void)swz_request_set((enum swz_request_state)parents->paused,
			      parents->changed_ticks);
	swz_request()->ready = 1;
	swz_marks_begin(to);
	to->flags = SWZ_FILE_FORKED |
		    (swz_file->flags &
		     (SWZ_FILE_FLOWS | SWZ_FILE_FILTERED | SWZ_FILE_SAMPLED |
		      SWZ_FILE_TRACED | SWZ_FILE_RING | SWZ_FILE_COUNTS |
		      SWZ_FILE_COVER));
	to->clock[0] = swz_file->clock[0];
	to->clock[1] = swz_file->clock[1];
	to->epoch_ticks = swz_file->epoch_ticks;
	to->cost_inside = swz_file->cost_inside;
	to->cost_outside = swz_file->cost_outside;
	to->cost_untimed = swz_file->cost_untimed;
	to->cost_leaf = swz_file->cost_leaf;
	to->min_ticks = swz_file->min_ticks;
	while (at < end) {
		const struct swz_chunk *from =
			(const struct swz_chunk *)((char *)swz_file + at);
		struct swz_chunk *copy;

		if (__atomic_load_n(&from->magic, __ATOMIC_ACQUIRE) !=
		    SWZ_CHUNK_MAGIC) {
			/* being made by a thread of the parent */
			at += SWZ_UNIT_BYTES;
			continue;
		}
		/* the parent has made it, and its file longer, since the fork
		 */
		if (from->bytes > end - at)
			break;
		at += from->bytes;
		if (from->type == SWZ_CHUNK_THREAD ||
		    from->type == SWZ_CHUNK_NODES ||
		    from->type == SWZ_CHUNK_COUNTS ||
		    from->type == SWZ_CHUNK_HISTOGRAM ||
		    from->type == SWZ_CHUNK_HISTOGRAM_INDEX ||
		    from->type == SWZ_CHUNK_TIMES ||
		    from->type == SWZ_CHUNK_UNWOUND ||
		    from->type == SWZ_CHUNK_EVENTS ||
		    from->type == SWZ_CHUNK_PACKED ||
		    from->type == SWZ_CHUNK_SWITCHES ||
		    from->type == SWZ_CHUNK_LOOKS ||
		    from->type == SWZ_CHUNK_MARKS ||
		    from->type == SWZ_CHUNK_VALUES ||
		    from->type == SWZ_CHUNK_SLOW ||
		    from->type == SWZ_CHUNK_SUMMARY ||
		    from->type == SWZ_CHUNK_PADDING || has_later_ids(from) ||
		    (from->type != SWZ_CHUNK_COMMAND &&
		     from->type != SWZ_CHUNK_LABELS &&
		     from->owner != SWZ_SPAN_MODULE &&
		     from->owner >= swz_loaded_recorded))
			continue;
		copy = swz_chunk_take(to, from->type,
				      from->bytes - sizeof(*from), from->count,
				      from->owner);
		if (!copy)
			return SWZ_E_NOMEM;
		memcpy(copy->reserved, from->reserved, sizeof(copy->reserved));
		memcpy(copy + 1, from + 1, from->bytes - sizeof(*from));
		swz_chunk_publish(copy);
	}
	return SWZ_OK;
}

/* The new key of an old context; the root's where it cannot be made. */
static uint64_t new_key(struct rebirth *r, uint32_t unit)
{
	uint64_t key = (uint64_t)r->thread->cold->root << 32;
	uint32_t depth = 0;

	while (old_node(r, unit)->function != SWZ_FUNCTION_ROOT) {
		if (depth == r->path_room)
			return key;
		r->path[depth++] = unit;
		unit = old_node(r, unit)->parent;
	}
	if (unit == r->old_fold)
		key = swz_context_fold_key(r->thread);
	while (depth) {
		const struct swz_node *old = old_node(r, r->path[--depth]);
		struct swz_node *node = swz_context_any_edge(
			r->thread, key, old->function, old->call_site);

		if (!node)
			break;
		key = (uint64_t)node->context << 32;
	}
	return key;
}

/* Enters what a thunk or a record stands for, in the context `key`; false if
 * there is no room. */
static bool reenter(struct rebirth *r, struct swz_thunk *thunk, uint64_t key)
{
	const struct swz_node *old = old_node(r, thunk->node);
	struct swz_node *node = swz_context_any_edge(
		r->thread, key, old->function, old->call_site);

	if (!node)
		return false;
	thunk->node = swz_unit_of(node);
	thunk->start_ticks = r->now;
	/* the call was the parent's */
	r->thread->key = swz_activation_resume(r->thread, node, r->now);
	return true;
}

/* Records are linked from the latest to the first, and entered the other way
 * round. */
static struct swz_thunk *reverse(struct swz_thunk *record)
{
	struct swz_thunk *reversed = NULL, *next;

	for (; swz_is_record(record); record = next) {
		next = record->pending;
		record->pending = reversed;
		reversed = record;
	}
	return reversed;
}

/* Gives each jump without a record one, as all are entered the same way. False
 * if there is no room. */
static bool reenter_jumps(struct rebirth *r, struct swz_thunk *thunk,
			  const uint32_t *jumps, unsigned count)
{
	while (count--) {
		struct swz_thunk *record = swz_thread_make_record(r->thread);

		if (!record)
			return false;
		record->node = jumps[count];
		if (!reenter(r, record, r->thread->key)) {
			swz_thread_free_record(r->thread, record);
			return false;
		}
		swz_frame_push_record(thunk, record);
	}
	return true;
}

static void reenter_frame(struct rebirth *r, struct swz_thunk *thunk)
{
	uint32_t jumps[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(r->old, thunk, jumps);
	struct swz_thunk *record = NULL;
	uint64_t key;

	if (thunk->pending != SWZ_CLOSED)
		record = reverse(thunk->pending);
	key = new_key(r, thunk->parent);
	thunk->parent = (uint32_t)(key >> 32);
	if (thunk->pending == SWZ_CLOSED || !reenter(r, thunk, key)) {
		thunk->pending = SWZ_CLOSED;
		thunk->node = 0;
		return;
	}
	thunk->pending = NULL;
	if (!reenter_jumps(r, thunk, jumps, count))
		return;
	while (record) {
		struct swz_thunk *next = record->pending;

		if (!reenter(r, record, r->thread->key))
			return;
		record->pending = thunk->pending;
		thunk->pending = record;
		record = next;
	}
}

static bool owns_block(const struct rebirth *r, uint32_t i, uint32_t *block)
{
	const struct swz_thread_cold *cold = r->thread->cold;

	if (i == cold->block_count)
		return false;
	*block = cold->blocks[i];
	return true;
}

/* The clock may have stood still. */
static bool is_later(const struct swz_thunk *a, const struct swz_thunk *b)
{
	return a->start_ticks > b->start_ticks ||
	       (a->start_ticks == b->start_ticks && a->slot < b->slot);
}

/* The frame whose address the word is that lies there; NULL: none that is live.
 */
static struct swz_thunk *frame_at(const struct rebirth *r, const uint64_t *slot,
				  uint64_t word)
{
	struct swz_thunk *thunk;

	if (!swz_arena_contains(word))
		return NULL;
	thunk = swz_frame_among_all(r->thread->cold, swz_arena_thunk_at(word),
				    slot);
	return swz_thread_owns(r->thread, thunk) && thunk->slot == slot &&
			       word == swz_thunk_address(thunk) &&
			       thunk->node && thunk->start_ticks &&
			       thunk->pending != SWZ_CLOSED &&
			       !swz_start_is_suspended(thunk->start_ticks)
		       ? thunk
		       : NULL;
}

/* Most often the caller's is the latest, and not far above. */
#define NEAR_WORDS 8192u

static void find_top_above(struct rebirth *r, const uint64_t *here)
{
	uint64_t words[SWZ_PAGE_WORDS] = {0};
	const uint64_t *at = here, *end = at + NEAR_WORDS;
	unsigned count;

	if (!swz_thread_same_stack(r->thread, here, here))
		return;
	/* a tail call finds its frame right here */
	for (; at < end && !r->top && (count = swz_stack_words(at, words));
	     at += count)
		for (unsigned i = 0; i < count && !r->top; i++)
			if (swz_thread_at_home(r->thread, at + i))
				r->top = frame_at(r, at + i, words[i]);
}

/* The latest of the thread's live frames. */
static void find_top(struct rebirth *r, const uint64_t *in_use)
{
	uint32_t block;

	for (uint32_t b = 0; owns_block(r, b, &block); b++) {
		struct swz_thunk *thunks = swz_arena_block_thunks(block);
		uint64_t alive = swz_block_alive(block, in_use, false);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (alive >> i & 1 &&
			    (!r->top || is_later(&thunks[i], r->top)))
				r->top = &thunks[i];
	}
}

/* The thunk has no edge in the new profile: its frame, if it is one, returns to
 * where it came from, and is not accounted. */
static void close_thunk(const struct rebirth *r, struct swz_thunk *thunk)
{
	thunk->pending = SWZ_CLOSED;
	thunk->node = 0;
	thunk->parent = r->thread->cold->root;
}

/* Frames that are not on the path have no edge in the new profile. Thunks that
 * were free are not used again, and not touched, since the child would get
 * copies of all their pages: no list leads to them any more. Nor are most even
 * looked at, unless what was interrupted may hold one, and end as it began: its
 * frame, too, which is on no path yet, or any more, is there as long as that
 * has not ended. */
static void close_own(const struct rebirth *r)
{
	uint32_t block;

	r->thread->cold->born_amid_hook = r->amid_hook;
	if (!r->amid_hook)
		swz_thread_keep_live_blocks(r->thread);
	for (uint32_t b = 0; owns_block(r, b, &block); b++) {
		struct swz_thunk *thunks = swz_arena_block_thunks(block);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (thunks[i].slot && thunks[i].start_ticks != r->now)
				close_thunk(r, &thunks[i]);
	}
}

/* The live frames, from `top` down its links as far as they can be trusted,
 * entered again from the oldest on. */
static void reenter_frames(struct rebirth *r)
{
	struct swz_thunk *oldest = NULL, *next, *t;

	/* reverse the links, so as to go from the oldest */
	for (t = r->top; t; t = next) {
		next = t->link;
		t->link = oldest;
		oldest = t;
		if (next == &swz_bottom || !next->slot ||
		    !swz_thread_owns(r->thread, next) || !is_later(t, next))
			next = NULL;
	}
	for (t = &swz_bottom; oldest; oldest = next) {
		next = oldest->link;
		oldest->link = t;
		t = oldest;
		reenter_frame(r, t);
	}
	r->thread->top = t;
}

static struct swz_thread *give_up(struct swz_thread *hot, const char *why)
{
	if (why)
		swz_say("child process not profiled: ", why, NULL);
	swz_recording = false;
	swz_file_detach();
	if (hot)
		swz_thread_disarm(hot);
	return hot;
}

/* The child's own file, at the place of its parent's; NULL, or what is wrong.
 * With `apart` nothing of it is where the parent has something. */
static const char *replace_profile(struct swz_file_header **old, bool apart)
{
	struct swz_file_header *beside = swz_file_create_beside();
	const char *problem = NULL;

	if (!beside)
		return "cannot create its profile";
	swz_leaders_forget_parents();
	if (apart)
		swz_chunks_pass_over(beside, swz_file_used());
	if (copy_description(beside) != SWZ_OK)
		problem = "its profile has no room";
	else if (swz_file_replace(beside, old) != SWZ_OK)
		problem = "no memory";
	if (problem)
		swz_file_remove_beside();
	return problem;
}

/* Another thread has made the profile: the frames that were open at the fork
 * just return. */
static struct swz_thread *rejoin(struct swz_thread *hot, const uint64_t *here)
{
	struct rebirth r = {.thread = hot,
			    .now = 1,
			    .amid_hook = here && swz_interrupted_hook(here)};

	swz_thread_cold_of(hot)->counts_least = r.amid_hook
							? swz_count_place.mask
							: 0;
	if (swz_thread_rejoin(hot) != SWZ_OK)
		return give_up(hot, "no memory");
	close_own(&r);
	return hot;
}

/* The latest of the frames that are open in the parent's profile, if it has
 * them. */
static void choose_top(struct rebirth *r, const struct swz_thunk *exiting,
		       const uint64_t *here)
{
	/* one that is not live returns a second time: it is not open */
	if (r->top && (!r->top->slot || !swz_thread_owns(r->thread, r->top)))
		r->top = NULL;
	if (!r->top && !exiting && here && !r->amid_hook)
		find_top_above(r, here);
	if (!r->top)
		find_top(r, exiting ? NULL : here);
}

static struct swz_thread *rebear(struct swz_thread *hot,
				 struct swz_thunk *exiting,
				 const uint64_t *here)
{
	struct swz_thread_cold *cold = swz_thread_cold_of(hot);
	struct rebirth r = {.thread = hot,
			    .old_root = cold->root,
			    .old_fold = cold->fold_root,
			    .path_room = swz_ids_bound() + 2,
			    .top = exiting,
			    .amid_hook = here && swz_interrupted_hook(here)};
	struct swz_file_header *old;
	const bool orphan = swz_thread_is_orphan(hot);
	const char *problem;

	r.path = swz_sys_mmap(
		NULL, r.path_room * sizeof(uint32_t), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!r.path)
		return give_up(hot, "no memory");
	problem = replace_profile(&old, r.amid_hook);
	if (problem)
		return give_up(hot, problem);
	r.old = old;
	cold->counts_least = r.amid_hook ? swz_count_place.mask : 0;
	if (swz_thread_revive(hot) != SWZ_OK) {
		swz_file_remove_beside();
		return give_up(hot, "no memory");
	}
	r.now = swz_start_like(0, swz_now(hot));
	if (orphan || swz_config.count)
		r.top = NULL;
	else
		choose_top(&r, exiting, here);
	hot->top = &swz_bottom;
	reenter_frames(&r);
	close_own(&r);
	swz_sys_munmap(r.path, r.path_room * sizeof(uint32_t));
	swz_file_drop(old);
	return hot;
}

/* Called at the first hook that the forking thread has in the child, whose
 * thread state the kernel has wiped: gives the child a profile of its own, in
 * which the frames that were open at the fork are open since now. `exiting`:
 * the thunk whose exit is being made, or NULL; `here`: the return slot of the
 * frame that the hook is for, or NULL. Returns the thread's state; NULL if
 * another thread is just making the profile, so that this call goes unrecorded;
 * if the child runs unrecorded, swz_recording is false. Signals must be
 * blocked.
 * See docs/internals/threads.md. */
static SWZ_NO_IPA struct swz_thread *fork_child(struct swz_thread *hot,
						struct swz_thunk *exiting,
						const uint64_t *here)
{
	enum swz_child child = swz_thread_claim_child();

	if (child == SWZ_CHILD_OTHER)
		return NULL; /* this call is not recorded */
	if (child == SWZ_CHILD_DONE)
		return rejoin(hot, here);
	hot = swz_config.follow ? rebear(hot, exiting, here)
				: give_up(hot, NULL);
	swz_thread_child_done();
	return hot;
}

/* The forking thread has come to no hook yet, and its state is not known. */
static struct swz_thread *bear_elsewhere(void)
{
	struct rebirth r = {.thread = NULL};
	struct swz_file_header *old;
	const char *problem = replace_profile(&old, false);

	if (problem)
		return give_up(NULL, problem);
	swz_thread_orphan_states();
	r.thread = swz_thread_begin();
	if (!r.thread) {
		swz_file_remove_beside();
		return give_up(NULL, "no memory");
	}
	swz_file_drop(old);
	return r.thread;
}

/* swz_thread_begin, which gives a forked child its profile if the forking
 * thread has not yet: then the frames that were open are not in it. */
static struct swz_thread *fork_begin_thread(void)
{
	enum swz_child child = swz_thread_claim_child();
	struct swz_thread *thread;

	if (child == SWZ_CHILD_OTHER)
		return NULL;
	if (child == SWZ_CHILD_DONE) {
		thread = swz_thread_begin();
		if (thread)
			thread->cold->first_to_come = true;
		return thread;
	}
	thread = swz_config.follow ? bear_elsewhere() : give_up(NULL, NULL);
	swz_thread_child_done();
	return thread;
}

/* --- slow calls ---------------------------------------------------------- */

/* When a thread for whose state there was no memory tries again. Two threads
 * may share a time; thread-local storage is scarce (docs/attach.md). */
static _Atomic uint64_t begin_again_at[64];

static _Atomic uint64_t *own_begin_again_at(void)
{
	uintptr_t page = (uintptr_t)__builtin_thread_pointer() >> 12;

	return &begin_again_at[page % 64];
}

struct slow_call {
	struct swz_thread *thread;
	struct swz_thunk *exiting;
	const uint64_t *here;
	uint64_t key;
	uint64_t began; /* ticks; where it is noted */
	uint64_t call_site;
	struct swz_node *node;
	uint32_t function;
	const uint8_t *body;
	const uint64_t *slot; /* with a body */
	struct swz_thunk *thunk;
};

static void slowly(void (*function)(void *), struct slow_call *call)
{
	swz_slowly(call->thread, function, call);
}

static void begin_thread(void *argument)
{
	struct slow_call *call = argument;

	if (call->thread)
		call->thread = fork_child(call->thread, call->exiting,
					  call->here);
	else
		call->thread = fork_begin_thread();
}

/* More frames in a row that are not timed there are none. */
#define MOST_UNTIMED 4096u

/* True if the frame, or what it has jumped to, began at a known time. */
static bool has_known_start(const struct swz_thunk *frame)
{
	const struct swz_thunk *p = frame->pending;
	unsigned passed = 0;

	for (; swz_is_record(p); p = swz_record_next(p, &passed))
		if (swz_start_is_timed(p->start_ticks) ||
		    !(p->start_ticks & SWZ_START_UNSEEN))
			return true;
	return p == SWZ_CLOSED || swz_start_is_timed(frame->start_ticks) ||
	       !(frame->start_ticks & SWZ_START_UNSEEN);
}

/* The context whose time the present moment is in. With sampled timing a frame
 * that is not timed begins with the first timed call in it: until then its time
 * is that of the nearest frame above that has begun. */
static uint64_t key_of_now(const struct swz_thread *thread)
{
	const struct swz_thunk *frame = thread->top;
	uint64_t key = thread->key;

	if (!swz_sampling)
		return key;
	for (unsigned i = 0; i < MOST_UNTIMED && frame &&
			     frame != &swz_bottom && !has_known_start(frame);
	     i++) {
		if (!swz_thread_owns(thread, frame) || !frame->node)
			return thread->key;
		key = (uint64_t)frame->parent << 32;
		frame = frame->link;
	}
	return key;
}

void swz_note_own_time(struct swz_thread *thread, uint64_t before)
{
	struct swz_node *node;
	uint64_t now, key;

	if (swz_config.count)
		return; /* there are no times */
	key = key_of_now(thread);
	node = swz_edge_find(thread, key, SWZ_FUNCTION_OURSELVES, 0);
	if (!node && !thread->cold->no_room)
		node = swz_context_make(thread, key, SWZ_FUNCTION_OURSELVES, 0);
	now = swz_ticks();
	thread->record->last_ticks = now;
	if (!node)
		return;
	swz_events_add(thread, node, SWZ_EVENT_RESUME, before - thread->epoch);
	swz_events_add(thread, node, SWZ_EVENT_SUSPEND, now - thread->epoch);
	node->open |= SWZ_NODE_HIDDEN;
	node->ticks += (int64_t)(now - before);
	if (!swz_sampling)
		node->outer_ticks += (int64_t)(now - before);
}

static void make_thunk(void *argument)
{
	struct slow_call *call = argument;

	call->thunk = swz_thread_take_thunk(call->thread, call->node,
					    call->body, call->slot);
	/* (while it is calibrated the last node is the one that is measured) */
	if (swz_request()->ready)
		swz_note_own_time(call->thread, call->began);
}

static void make_record(void *argument)
{
	struct slow_call *call = argument;

	call->thunk = swz_thread_make_record(call->thread);
}

static void note_title(void *argument)
{
	(void)argument;
	swz_title_note();
}

/* A thread may get its name any time, mostly early: it is looked at again with
 * each of the first new edges, and then less and less often. So is what the
 * process calls itself. */
#define NAME_EACH 64u
#define NAME_OFTEN 1024u

static void note_name(struct swz_thread *thread)
{
	uint32_t made = thread->cold->nodes_made++;
	struct slow_call call = {.thread = thread};

	if (made >= NAME_EACH &&
	    made % (made < NAME_OFTEN ? NAME_EACH : NAME_OFTEN) != 0)
		return;
	swz_thread_note_name(thread->record);
	if (swz_title_is_new())
		slowly(note_title, &call);
}

static void make_node(void *argument)
{
	struct slow_call *call = argument;
	struct swz_thread *thread = call->thread;

	/* again: a signal may have come between */
	call->node = swz_context_any_edge(thread, call->key, call->function,
					  call->call_site);
	if (call->node && call->body)
		make_thunk(call);
}

/* The state of a thread that has none yet, or only its parent's (`thread`). */
static __attribute__((noinline)) struct swz_thread *begun_thread(
	struct swz_thread *thread, struct swz_thunk *exiting,
	const uint64_t *here)
{
	struct slow_call call = {
		.thread = thread, .exiting = exiting, .here = here};

	if (swz_system_calls_end && swz_thread_in_new_child())
		return NULL; /* it takes files to go on in a child */
	if (thread) /* wiped by a fork, in which no slow stack is in use */
		atomic_flag_clear(&swz_thread_cold_of(thread)->busy);
	else if (!swz_thread_has_storage())
		return NULL;
	else if (swz_ticks() < atomic_load_explicit(own_begin_again_at(),
						    memory_order_relaxed))
		return NULL;
	slowly(begin_thread, &call);
	if (!call.thread)
		atomic_store_explicit(own_begin_again_at(),
				      swz_ticks() + SWZ_RETRY_TICKS,
				      memory_order_relaxed);
	return swz_recording ? call.thread : NULL;
}

struct swz_thread *swz_this_thread(struct swz_thunk *exiting,
				   const uint64_t *here)
{
	struct swz_thread *thread = swz_thread_here();

	if (!swz_recording)
		return NULL;
	if (thread && thread->cold)
		return thread;
	return begun_thread(thread, exiting, here);
}

struct swz_node *swz_make_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk)
{
	struct swz_node *node;
	struct slow_call call;

	if (swz_file->flags & SWZ_FILE_FOLDED) {
		node = swz_context_find_folded(thread, key, function,
					       call_site);
		if (node)
			return node;
	}
	if (thread->cold->no_room)
		return NULL;
	note_name(thread);
	swz_processor_time_note_sometimes(thread->record, swz_ticks());
	node = swz_context_make_at_once(thread, key, function, call_site);
	if (node)
		return node;
	call = (struct slow_call){.thread = thread,
				  .key = key,
				  .began = swz_ticks(),
				  .call_site = call_site,
				  .function = function,
				  .body = body,
				  .slot = slot};
	slowly(make_node, &call);
	if (body)
		*thunk = call.thunk;
	return call.node;
}

struct swz_node *swz_take_edge(struct swz_thread *thread, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *slot,
			       struct swz_thunk **thunk)
{
	struct swz_node *node = swz_edge_find(thread, key, function, call_site);

	return node ? node
		    : swz_make_edge(thread, key, function, call_site, body,
				    slot, thunk);
}

struct swz_thunk *swz_take_thunk(struct swz_thread *thread,
				 struct swz_node *node, const uint8_t *body,
				 const uint64_t *slot)
{
	struct swz_thunk *thunk;
	struct slow_call call;

	if (node->calls % SWZ_HOT_CALLS == 0 && node->calls)
		swz_own_thunks(thread, node);
	thunk = swz_thread_free_thunk_for(thread, node, slot);
	if (thunk)
		return thunk;
	thunk = swz_thread_fresh_thunk(thread, node, body, slot);
	if (thunk || swz_ticks() < thread->cold->retry_at)
		return thunk;
	call = (struct slow_call){.thread = thread,
				  .began = swz_ticks(),
				  .node = node,
				  .body = body,
				  .slot = slot};
	slowly(make_thunk, &call);
	return call.thunk;
}

struct swz_thunk *swz_take_record(struct swz_thread *thread)
{
	struct swz_thunk *record = swz_thread_pop_record(thread);
	struct slow_call call;

	if (record)
		return record;
	call = (struct slow_call){.thread = thread};
	slowly(make_record, &call);
	return call.thunk;
}

static void stock_up(void *argument)
{
	struct slow_call *call = argument;
	const uint64_t *here = __builtin_frame_address(0);

	swz_thread_stock_states();
	swz_thread_stock_up(call->thread);
	swz_nodes_stock_up(call->thread);
	swz_leaders_stock_up();
	swz_thread_same_stack(call->thread, here, here); /* asks once */
}

void swz_stock_up(struct swz_thread *thread)
{
	struct slow_call call = {.thread = thread};

	slowly(stock_up, &call);
}

void swz_lose_call(void)
{
	if (swz_file_is_inherited())
		return; /* it is no call of that process */
	__atomic_fetch_add(&swz_file->lost_calls, 1, __ATOMIC_RELAXED);
}
