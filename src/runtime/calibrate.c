#include "runtime/calibrate.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/record/annotations.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/sampling.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/trampoline.h"

#define CALLS 64
_Static_assert(CALLS <= SWZ_MOST_TIMED, "one that is not timed is no measure");
/* Rounds of calls by one trampoline, at one place of the stack. */
#define ROUNDS 10
#define PLACES 8
/* Not a part of a page: what is a multiple of a page apart is in each other's
 * way in caches. */
#define STACK_STEP 520
#define CONFIRMED 10
#define MOST_NS 1500000
/* Trials of calls without a hook, to see how fast the machine is now. */
#define TRIALS 16

__attribute__((noinline)) static void empty(void)
{
	__asm__ volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00"); /* nop */
}

/* Kinds of measured calls: without a hook; of a node, timed or not; by the
 * hook of functions that call nothing. */
enum what { PLAIN, TIMED, UNTIMED, LEAF, KINDS };

/* Trampolines of the empty function. */
struct entry {
	const uint8_t *hooked, *leaf;
};

/* The least that CALLS calls have taken. Of the rounds that took nearly as
 * little: how many, and what the calls recorded as their own time. */
struct least {
	uint64_t ticks;
	uint64_t recorded;
	unsigned rounds;
};

static void note(struct least *least, uint64_t ticks, uint64_t recorded)
{
	if (ticks < least->ticks - least->ticks / 16)
		*least = (struct least){.ticks = ticks};
	if (ticks > least->ticks + least->ticks / 16)
		return;
	if (ticks < least->ticks)
		least->ticks = ticks;
	least->recorded += recorded;
	least->rounds++;
}

/* The calls' node, found among the root's children, and taken out again. */
static void forget(struct swz_thread *thread, struct swz_node *node)
{
	struct swz_thread_cold *cold = thread->cold;

	thread->links[swz_unit_of(node)].free = NULL; /* of this edge only */
	memset(node, 0, sizeof(*node));
	if (cold->next_node == node + 1)
		cold->next_node = node;
	swz_edge_forget_children(thread, cold->root);
}

static uint64_t ticks_of_calls(void (*volatile function)(void))
{
	uint64_t before = swz_ticks();

	for (int i = 0; i < CALLS; i++)
		function();
	return swz_ticks() - before;
}

/* There is one call site of the function, and so one edge: through a variable,
 * the compiler makes no copies of this. */
static uint64_t (*volatile measure)(void (*volatile)(void)) = ticks_of_calls;

/* Measures one round of each kind: a few microseconds in all. */
static void measure_round(struct least *least, struct swz_node *node,
			  void (*hooked)(void), void (*leaf)(void))
{
	int64_t sum;
	uint64_t ticks;

	note(&least[PLAIN], measure(empty), 0);
	if (swz_sampling)
		swz_sampling_set(node, CALLS);
	sum = node->ticks;
	ticks = measure(hooked);
	note(&least[TIMED], ticks, (uint64_t)(node->ticks - sum));
	if (!swz_sampling)
		return;
	swz_sampling_set(node, 0);
	note(&least[UNTIMED], measure(hooked), 0);
	note(&least[LEAF], measure(leaf), 0);
}

/* Processor time of this thread: time that it waits for a processor does not
 * count. */
static uint64_t processor_ns(void)
{
	struct timespec now;

	if (SWZ_SYSCALL(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &now) != 0)
		return UINT64_MAX;
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool are_confirmed(const struct least *least)
{
	return least[PLAIN].rounds >= CONFIRMED &&
	       least[TIMED].rounds >= CONFIRMED &&
	       (!swz_sampling || (least[UNTIMED].rounds >= CONFIRMED &&
				  least[LEAF].rounds >= CONFIRMED));
}

/* By a trampoline, from a place of the stack. False: nothing is recorded. */
static bool measure_at(struct swz_thread *thread, struct least *least,
		       const struct entry *entry, size_t stack_bytes)
{
	void (*hooked)(void), (*leaf)(void);
	struct swz_node *node;

	__asm__ volatile("" : : "r"(__builtin_alloca(stack_bytes)));
	*(const void **)&hooked = entry->hooked;
	*(const void **)&leaf = entry->leaf;
	measure(hooked); /* makes the node */
	node = thread->cold->next_node - 1;
	if (node->function != swz_ids_spare() || !node->calls)
		return false;
	for (int round = 0; round < ROUNDS; round++)
		measure_round(least, node, hooked, leaf);
	forget(thread, node);
	if (swz_tracing)
		swz_events_restart(thread); /* there is room for so many */
	return true;
}

/* Per call, in 1/1024 ticks. */
static uint64_t cost_of(const struct least *least, enum what what)
{
	uint64_t ticks = least[what].ticks, plain = least[PLAIN].ticks;

	return ticks > plain ? (ticks - plain) * 1024 / CALLS : 0;
}

static struct swz_costs costs_of(const struct least *least)
{
	uint64_t both = cost_of(least, TIMED), inside;
	struct swz_costs costs = {.measured_ns = swz_sys_monotonic_ns(),
				  .confirmed = are_confirmed(least),
				  .plain = (uint32_t)least[PLAIN].ticks};

	inside = least[TIMED].recorded * 1024 / CALLS / least[TIMED].rounds;
	costs.inside = inside < both ? inside : both;
	costs.outside = both - costs.inside;
	if (swz_sampling) {
		costs.untimed = cost_of(least, UNTIMED);
		costs.leaf = cost_of(least, LEAF);
	}
	return costs;
}

/* Trampolines of the empty function, at different places. */
static unsigned make_entries(struct entry *entries)
{
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);
	struct swz_trampolines region;
	uint64_t address = (uintptr_t)&empty;
	struct swz_patch_site site = {
		.code = {(const uint8_t *)(uintptr_t)address, 16},
		.address = address,
		.wanted = SWZ_JUMP_BYTES,
		.function_id = swz_ids_spare(),
	};
	enum swz_refusal refusal;
	unsigned count = 0;
	uint8_t moved;

	if (!decoder ||
	    swz_trampolines_open(&region, address, address + 16, 2 * PLACES,
				 NULL, swz_hooks_choose()) != SWZ_OK)
		return 0;
	for (; count < PLACES; count++) {
		site.is_leaf = false;
		entries[count].hooked = swz_trampoline_write(
			&region, decoder, &site, &moved, &refusal);
		site.is_leaf = true;
		entries[count].leaf = swz_trampoline_write(
			&region, decoder, &site, &moved, &refusal);
		if (!entries[count].hooked || !entries[count].leaf)
			break;
	}
	return swz_trampolines_seal(&region) == SWZ_OK ? count : 0;
}

static void measure_costs(struct swz_costs *costs)
{
	struct swz_thread *thread = swz_thread_here();
	struct swz_node *root = swz_context_node(thread->key);
	struct entry entries[PLACES];
	struct least least[KINDS];
	uint32_t filtered = root->open & SWZ_NODE_PASS;
	unsigned count = make_entries(entries);
	uint64_t begin = processor_ns();

	for (int kind = 0; kind < KINDS; kind++)
		least[kind] = (struct least){.ticks = UINT64_MAX / 2};
	/* as beneath a function that is wanted */
	root->open &= ~filtered;
	do {
		for (unsigned i = 0; i < count; i++)
			if (!measure_at(thread, least, &entries[i],
					(size_t)i * STACK_STEP))
				count = 0;
	} while (count && !are_confirmed(least) &&
		 processor_ns() - begin < MOST_NS);
	root->open |= filtered;
	if (count)
		*costs = costs_of(least);
}

/* Half as fast, to twice as fast, as it was when these were measured. Under
 * valgrind, or an emulator, nothing is. */
static bool is_as_fast(const struct swz_costs *costs)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIALS; i++) {
		uint64_t ticks = measure(empty);

		if (ticks < least)
			least = ticks;
	}
	return least <= 2 * (uint64_t)costs->plain && 2 * least >= costs->plain;
}

void swz_calibrate(struct swz_costs *costs)
{
	if (!costs->measured_ns || !is_as_fast(costs))
		measure_costs(costs);
	swz_file->cost_inside = costs->inside;
	swz_file->cost_outside = costs->outside;
	swz_file->cost_untimed = costs->untimed;
	swz_file->cost_leaf = costs->leaf;
}
