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

#include "runtime/hooks/fork.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/followers.h"
#include "runtime/hooks/interrupted.h"
#include "runtime/hooks/jumps.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/module/loaded.h"
#include "runtime/record/activation.h"
#include "runtime/record/chunks.h"
#include "runtime/record/context.h"
#include "runtime/record/file.h"
#include "runtime/record/frames.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/request.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/marks.h"
#include "runtime/record/sampling.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "thunks/leaders.h"

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

/* Whether the chunk is of functions that the parent has planned since. Those of
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
		      SWZ_FILE_TRACED | SWZ_FILE_RING));
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
		at += from->bytes;
		if (from->type == SWZ_CHUNK_THREAD ||
		    from->type == SWZ_CHUNK_NODES ||
		    from->type == SWZ_CHUNK_UNWOUND ||
		    from->type == SWZ_CHUNK_EVENTS ||
		    from->type == SWZ_CHUNK_PACKED ||
		    from->type == SWZ_CHUNK_SWITCHES ||
		    from->type == SWZ_CHUNK_MARKS ||
		    from->type == SWZ_CHUNK_VALUES ||
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

/* Of jumps that had no record: they get one each, as all are entered the same
 * way. False if there is no room. */
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

/* What is not on the path has no edge in the new profile. Thunks that were free
 * are not used again, and not touched, since the child would get copies of all
 * their pages: no list leads to them any more. Nor are most even looked at,
 * unless what was interrupted may hold one, and end as it began: its frame,
 * too, which is on no path yet, or any more, is there as long as that has not
 * ended. */
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
	if (swz_thread_revive(hot) != SWZ_OK) {
		swz_file_remove_beside();
		return give_up(hot, "no memory");
	}
	r.now = swz_start_like(0, swz_now(hot));
	if (orphan)
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

struct swz_thread *swz_fork_child(struct swz_thread *hot,
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

struct swz_thread *swz_fork_begin_thread(void)
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
