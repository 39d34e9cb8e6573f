/* The child maps its own file at the address of its parent's, so pointers to
 * nodes stay pointers; what they point at is made anew: the path of each open
 * frame, with no calls, open since the fork. The parent's file is only read. */

#include "runtime/fork.h"

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/config.h"
#include "runtime/context.h"
#include "runtime/file.h"
#include "runtime/hooks.h"
#include "runtime/message.h"
#include "runtime/plan.h"

struct rebirth {
	struct swz_thread *thread;
	const struct swz_file_header *old;
	uint32_t old_root, old_fold;
	uint32_t *path; /* old units, from a context towards the root */
	uint32_t path_room;
	uint64_t now;
	struct swz_thunk *top;
	bool rebuild; /* the free list: no hook was interrupted */
};

static const struct swz_node *old_node(const struct rebirth *r, uint32_t unit)
{
	return (const struct swz_node *)((const char *)r->old +
					 (uint64_t)unit * SWZ_UNIT_BYTES);
}

/* Copies what describes the program: all chunks but threads and nodes. */
static enum swz_status copy_description(struct swz_file_header *to)
{
	uint64_t at = SWZ_HEADER_BYTES;
	uint64_t end = __atomic_load_n(&swz_file->used_bytes, __ATOMIC_ACQUIRE);

	to->flags = SWZ_FILE_FORKED | (swz_file->flags & SWZ_FILE_FILTERED);
	to->clock[0] = swz_file->clock[0];
	to->clock[1] = swz_file->clock[1];
	to->cost_inside = swz_file->cost_inside;
	to->cost_outside = swz_file->cost_outside;
	while (at < end) {
		const struct swz_chunk *from =
			(const struct swz_chunk *)((char *)swz_file + at);
		struct swz_chunk *copy;

		if (__atomic_load_n(&from->magic, __ATOMIC_ACQUIRE) !=
		    SWZ_CHUNK_MAGIC)
			break; /* being made by another thread of the parent */
		at += from->bytes;
		if (from->type == SWZ_CHUNK_THREAD ||
		    from->type == SWZ_CHUNK_NODES)
			continue;
		copy = swz_chunk_take(to, from->type,
				      from->bytes - sizeof(*from), from->count,
				      from->owner);
		if (!copy)
			return SWZ_E_NOMEM;
		memcpy(copy + 1, from + 1, from->bytes - sizeof(*from));
		swz_chunk_publish(copy);
	}
	return SWZ_OK;
}

static struct swz_node *edge(struct rebirth *r, uint64_t key,
			     const struct swz_node *old)
{
	struct swz_node *node = swz_context_find(r->thread, key, old->function,
						 old->call_site);

	return node ? node
		    : swz_context_make(r->thread, key, old->function,
				       old->call_site);
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
		struct swz_node *node = edge(r, key,
					     old_node(r, r->path[--depth]));

		if (!node)
			break;
		key = (uint64_t)node->context << 32;
	}
	return key;
}

static void reenter(struct rebirth *r, struct swz_thunk *thunk)
{
	const struct swz_node *old = thunk->node;
	struct swz_node *node = NULL;

	if (old == &swz_closed_node)
		return;
	old = (const struct swz_node *)((const char *)r->old +
					((const char *)old -
					 (const char *)swz_file));
	thunk->parent_key = new_key(r, (uint32_t)(thunk->parent_key >> 32));
	node = edge(r, thunk->parent_key, old);
	thunk->start_ticks = r->now;
	if (!node) {
		thunk->node = &swz_closed_node;
		return;
	}
	thunk->node = node;
	r->thread->key = swz_context_enter(r->thread, node, r->now);
	node->calls--; /* the call was the parent's */
}

/* Pending records are linked from the latest to the first. */
static void reenter_pending(struct rebirth *r, struct swz_thunk *record)
{
	struct swz_thunk *reversed = NULL, *next;

	for (; record; record = next) {
		next = record->pending;
		record->pending = reversed;
		reversed = record;
	}
	for (record = NULL; reversed; reversed = next) {
		next = reversed->pending;
		reversed->pending = record;
		record = reversed;
		reenter(r, record);
	}
}

#define SEEN (1ull << 63) /* in start_ticks: on the path of live frames */

static bool owns_block(const struct rebirth *r, uint32_t i, uint32_t *block)
{
	const struct swz_thread_cold *cold = r->thread->cold;

	if (i == cold->block_count)
		return false;
	*block = cold->blocks[i];
	return true;
}

/* The latest of the thread's live frames. */
static void find_top(struct rebirth *r)
{
	uint32_t block;

	for (uint32_t b = 0; owns_block(r, b, &block); b++) {
		struct swz_thunk *thunks = swz_arena_block_thunks(block);
		uint64_t alive = swz_block_alive(block);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			if (alive >> i & 1 &&
			    (!r->top || thunks[i].start_ticks >
						r->top->start_ticks))
				r->top = &thunks[i];
	}
}

/* A thunk that is not on the path of live frames: free, or, when its slot
 * still holds it, of a suspended or skipped frame, whose time is no longer
 * accounted. */
static void sort_out(struct rebirth *r, struct swz_thunk *thunk, bool alive)
{
	if (thunk->slot == SWZ_SLOT_OF_RECORD)
		return;
	if (thunk->start_ticks & SEEN) {
		thunk->start_ticks &= ~SEEN;
		return;
	}
	if (!alive) {
		if (r->rebuild)
			swz_thread_put_free(r->thread, thunk);
		return;
	}
	thunk->node = &swz_closed_node;
	thunk->parent_key = (uint64_t)r->thread->cold->root << 32;
	for (struct swz_thunk *p = thunk->pending; p; p = p->pending) {
		p->node = &swz_closed_node;
		p->parent_key = thunk->parent_key;
	}
}

static void sort_out_rest(struct rebirth *r)
{
	uint32_t block;

	for (uint32_t b = 0; owns_block(r, b, &block); b++) {
		struct swz_thunk *thunks = swz_arena_block_thunks(block);
		uint64_t alive = swz_block_alive(block);

		for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++)
			sort_out(r, &thunks[i], alive >> i & 1);
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
		if (next && (!swz_thread_owns(r->thread, next) ||
			     next->start_ticks >= t->start_ticks ||
			     next->slot == NULL ||
			     next->slot == SWZ_SLOT_OF_RECORD))
			next = NULL;
	}
	for (t = NULL; oldest; oldest = next) {
		next = oldest->link;
		oldest->link = t;
		t = oldest;
		reenter_pending(r, t->pending);
		reenter(r, t);
		t->start_ticks |= SEEN;
	}
	r->thread->top = r->top;
}

static struct swz_thread *give_up(struct swz_thread *hot, const char *why)
{
	if (why)
		swz_say("child process not profiled: ", why, NULL);
	swz_recording = false;
	swz_file_detach();
	return hot;
}

struct swz_thread *swz_fork_child(struct swz_thread *hot, uint64_t *slot,
				  struct swz_thunk *exiting)
{
	struct swz_thread_cold *cold = swz_thread_cold_of(hot);
	struct rebirth r = { .thread = hot,
			     .old_root = cold->root,
			     .old_fold = cold->fold_root,
			     .path_room = swz_plan_function_count() + 2,
			     .top = exiting };
	struct swz_file_header *beside, *old;

	if (!swz_config.follow)
		return give_up(hot, NULL);
	beside = swz_file_create_beside();
	if (!beside)
		return give_up(hot, "cannot create its profile");
	if (copy_description(beside) != SWZ_OK)
		return give_up(hot, "its profile has no room");
	r.path = swz_sys_mmap(NULL, r.path_room * sizeof(uint32_t),
			      PROT_READ | PROT_WRITE,
			      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
			      0);
	if (!r.path || swz_file_replace(beside, &old) != SWZ_OK)
		return give_up(hot, "no memory");
	r.old = old;
	if (swz_thread_revive(hot) != SWZ_OK)
		return give_up(hot, "no memory");
	r.now = swz_ticks();
	r.rebuild = !slot || !swz_interrupts_a_hook(slot);
	if (r.top && !swz_thread_owns(hot, r.top))
		r.top = NULL;
	if (!r.top)
		find_top(&r);
	reenter_frames(&r);
	swz_thread_drop_records(hot, exiting);
	sort_out_rest(&r);
	swz_sys_munmap(r.path, r.path_room * sizeof(uint32_t));
	swz_file_drop(old);
	return hot;
}
