#include "runtime/calibrate.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/context.h"
#include "runtime/file.h"
#include "runtime/hooks.h"
#include "runtime/plan.h"
#include "runtime/sampling.h"
#include "runtime/scratch.h"
#include "thunks/trampoline.h"

#define ROUNDS 16
#define CALLS 64

__attribute__((noinline)) static void empty(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"); /* nop */
}

/* What is measured: calls without a hook, or of a node. */
enum what { PLAIN, TIMED, UNTIMED };

/* The least time that CALLS calls took, and with a node: what was recorded in
 * it in that round. (A mean: the counter may step by more than a call takes.)
 */
static uint64_t least_ticks_of(void (*volatile function)(void), enum what what,
			       struct swz_node *node, uint64_t *recorded)
{
	uint64_t least = UINT64_MAX;

	for (int r = 0; r < ROUNDS; r++) {
		int64_t sum = node ? node->ticks : 0;
		uint64_t before, ticks;

		if (node && swz_sampling)
			swz_sampling_set(node, what == TIMED);
		before = swz_ticks();
		for (int i = 0; i < CALLS; i++)
			function();
		ticks = swz_ticks() - before;
		if (ticks >= least)
			continue;
		least = ticks;
		if (recorded)
			*recorded = (uint64_t)(node->ticks - sum);
	}
	return least;
}

/* The calls' node, found among the root's children, and taken out again. */
static void forget(struct swz_thread *thread, struct swz_node *node)
{
	struct swz_thread_cold *cold = thread->cold;

	*swz_free_thunks(thread, node) = NULL; /* they are for this edge only */
	memset(node, 0, sizeof(*node));
	if (cold->next_node == node + 1)
		cold->next_node = node;
	swz_context_clear(thread);
}

void swz_calibrate(void)
{
	/* through a variable, so that there is one call site of the function,
	 * and one edge */
	uint64_t (*volatile measure)(void (*volatile)(void), enum what,
				     struct swz_node *,
				     uint64_t *) = least_ticks_of;
	struct swz_thread *thread = swz_thread_self;
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);
	struct swz_trampolines region;
	uint64_t address = (uintptr_t)&empty, plain, hooked, recorded = 0;
	const struct swz_patch_site site = {
		.code = {(const uint8_t *)(uintptr_t)address, 16},
		.address = address,
		.wanted = SWZ_JUMP_BYTES,
		.function_id = swz_plan_spare_id(),
	};
	const uint8_t *entry;
	enum swz_refusal refusal;
	struct swz_node *node, *root = swz_context_node(thread->key);
	uint32_t filtered;
	uint8_t moved;
	void (*hooked_empty)(void);

	if (!decoder || swz_trampolines_open(&region, address, address + 16, 1,
					     NULL, swz_plan_hook()) != SWZ_OK)
		return;
	entry = swz_trampoline_write(&region, decoder, &site, &moved, &refusal);
	if (!entry || swz_trampolines_seal(&region) != SWZ_OK)
		return;
	*(const void **)&hooked_empty = entry;
	/* as beneath a function that is wanted */
	filtered = root->open & SWZ_NODE_PASS;
	root->open &= ~filtered;
	plain = measure(empty, PLAIN, NULL, NULL);
	measure(hooked_empty, TIMED, NULL, NULL); /* makes the node */
	node = thread->cold->next_node - 1;
	hooked = measure(hooked_empty, TIMED, node, &recorded);
	if (node->function == swz_plan_spare_id() && node->calls) {
		uint64_t inside = recorded * 1024 / CALLS;
		uint64_t both = hooked > plain ? (hooked - plain) * 1024 / CALLS
					       : 0;

		swz_file->cost_inside = inside < both ? inside : both;
		swz_file->cost_outside = both - swz_file->cost_inside;
		if (swz_sampling) {
			hooked = measure(hooked_empty, UNTIMED, node, NULL);
			swz_file->cost_untimed = hooked > plain
							 ? (hooked - plain) *
								   1024 / CALLS
							 : 0;
		}
		forget(thread, node);
	}
	root->open |= filtered;
}
