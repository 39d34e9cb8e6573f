#include "tests/unit/runtime_thread.h"

#include <check.h>
#include <string.h>

#include "runtime/record/thread.h"

static _Alignas(64) char profile[RUNTIME_UNITS * SWZ_UNIT_BYTES];
static uint32_t next_unit;

struct swz_file_header *swz_file = (void *)profile;
struct swz_thunk swz_bottom = {.slot = (uint64_t *)UINTPTR_MAX};

/* On the stack that there is. */
void swz_call_on_stack(void (*function)(void *), void *argument, void *stack)
{
	(void)stack;
	function(argument);
}

void runtime_begin(struct runtime_thread *t)
{
	struct swz_node *root;

	memset(profile, 0, sizeof(profile));
	memset(t, 0, sizeof(*t));
	next_unit = SWZ_HEADER_BYTES / SWZ_UNIT_BYTES;
	t->hot.links = t->links;
	t->hot.open = t->open;
	t->hot.record = &t->record;
	t->hot.file = swz_file;
	t->hot.cold = &t->cold;
	t->hot.top = &swz_bottom;
	t->cold.hot = &t->hot;
	t->cold.blocks = t->blocks;
	t->cold.block_room = sizeof(t->blocks) / sizeof(*t->blocks);
	root = runtime_node(SWZ_FUNCTION_ROOT, 0, 0);
	t->cold.root = root->context;
	t->hot.key = (uint64_t)root->context << 32;
	t->hot.expected = &t->links[root->context].first;
}

struct swz_node *runtime_node(uint32_t function, uint32_t parent,
			      uint64_t call_site)
{
	struct swz_node *node = swz_unit_at(next_unit);

	next_unit += sizeof(*node) / SWZ_UNIT_BYTES;
	ck_assert_uint_le(next_unit, RUNTIME_UNITS);
	node->function = function;
	node->parent = parent;
	node->call_site = call_site;
	node->context = swz_unit_of(node);
	return node;
}

void runtime_enter(struct runtime_thread *t, struct swz_thunk *thunk,
		   struct swz_node *node, uint64_t start, uint64_t *slot)
{
	thunk->node = swz_unit_of(node);
	thunk->parent = node->parent;
	thunk->start_ticks = start;
	thunk->slot = slot;
	thunk->link = t->hot.top;
	thunk->pending = NULL;
	t->hot.top = thunk;
	t->hot.key = (uint64_t)node->context << 32;
}
