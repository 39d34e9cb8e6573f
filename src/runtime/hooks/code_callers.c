/* Calls out of such code come here each time, since no edge is made that the
 * hook would find by the context and the return address alone: V8 calls all C++
 * functions from a few places of its built-in code. Who has called is then only
 * told by the frames above.
 *
 * These are followed by %rbp, up to the first return address that is a file's,
 * and only where the caller's frame and the latest of ours are on the stack
 * that the thread began on: what lies between is memory. One path has an
 * address once: what recursion has put between two of them is left out. */

#include "runtime/hooks/code_callers.h"

#include <stddef.h>

#include "runtime/hooks/slow_calls.h"
#include "runtime/module/run_time_code.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/home_stack.h"
#include "runtime/record/slow_stack.h"

#define MOST_FRAMES 1024u
#define MOST_ADDRESSES 64u

struct path {
	uint64_t addresses[MOST_ADDRESSES]; /* the latest first */
	unsigned count;
};

static void add(struct path *path, uint64_t address)
{
	for (unsigned i = 0; i < path->count; i++)
		if (path->addresses[i] == address) {
			path->count = i + 1;
			return;
		}
	if (path->count < MOST_ADDRESSES)
		path->addresses[path->count++] = address;
}

struct asking {
	struct swz_thread *thread;
	const uint64_t *slot;
};

static void ask(void *argument)
{
	struct asking *asking = argument;

	swz_thread_same_stack(asking->thread, asking->slot, asking->slot);
}

/* Up to where frames may be looked at. */
static const uint64_t *bound_of(struct swz_thread *thread, const uint64_t *slot)
{
	struct asking asking = {thread, slot};
	const struct swz_thread_cold *cold = thread->cold;

	if (!cold->home_high)
		swz_slowly(thread, ask, &asking);
	if (!swz_thread_at_home(thread, slot))
		return slot;
	if (thread->top == &swz_bottom)
		return (const uint64_t *)(uintptr_t)cold->home_high;
	return swz_thread_at_home(thread, thread->top->slot) ? thread->top->slot
							     : slot;
}

static void walk(struct path *path, const uint64_t *slot, const uint64_t *frame,
		 const uint64_t *bound)
{
	for (unsigned i = 0; i < MOST_FRAMES; i++) {
		enum swz_code_kind kind;
		const uint64_t *next;

		if (frame <= slot || frame + 1 >= bound || (uintptr_t)frame % 8)
			return;
		kind = swz_code_kind_of(frame[1]);
		if (kind == SWZ_CODE_OF_FILE)
			return;
		if (kind == SWZ_CODE_OF_RUN_TIME)
			add(path, frame[1]);
		next = (const uint64_t *)(uintptr_t)frame[0];
		if (next <= frame)
			return;
		frame = next;
	}
}

/* NULL: there is no room; once contexts are folded, all new ones are. */
static struct swz_node *edge_of(struct swz_thread *thread, uint64_t key,
				uint64_t address)
{
	struct swz_node *node = swz_edge_find(thread, key, SWZ_FUNCTION_CODE,
					      address);

	if (node || swz_file->flags & SWZ_FILE_FOLDED)
		return node;
	return swz_make_edge(thread, key, SWZ_FUNCTION_CODE, address, NULL,
			     NULL, NULL);
}

/* False: the call comes from a file. */
static bool find_path(struct path *path, struct swz_thread *thread,
		      const uint64_t *slot, const uint64_t *frame)
{
	enum swz_code_kind kind = swz_code_kind_of(*slot);

	if (kind == SWZ_CODE_OF_FILE)
		return false;
	path->count = 0;
	if (kind == SWZ_CODE_OF_RUN_TIME)
		add(path, *slot);
	walk(path, slot, frame, bound_of(thread, slot));
	if (!path->count) /* built-in code by itself */
		add(path, SWZ_CALL_SITE_TAIL);
	return true;
}

static uint64_t key_of(const struct swz_node *node)
{
	return (uint64_t)node->context << 32;
}

uint64_t swz_code_caller(struct swz_thread *thread, uint64_t key,
			 const uint64_t *slot, const uint64_t *frame)
{
	struct path path;

	if (!find_path(&path, thread, slot, frame))
		return key;
	while (path.count--) {
		const struct swz_node *node = edge_of(
			thread, key, path.addresses[path.count]);

		if (!node)
			break;
		key = key_of(node);
	}
	return key;
}

uint64_t swz_known_code_caller(struct swz_thread *thread, uint64_t key,
			       const uint64_t *slot, const uint64_t *frame)
{
	struct path path;

	if (!find_path(&path, thread, slot, frame))
		return key;
	while (path.count--) {
		const struct swz_node *node = swz_edge_find(
			thread, key, SWZ_FUNCTION_CODE,
			path.addresses[path.count]);

		if (!node)
			return 0;
		key = key_of(node);
	}
	return key;
}
