/* The slow part of counting, which the code at a site leaves: a function's
 * first call, a thread's, a forked child's, a new call edge, an edge whose
 * counter is not near its first place. */

#include <stddef.h>

#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_life.h"
#include "runtime/module/code_owners.h"
#include "runtime/record/counts.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "thunks/trampoline.h"

/* Call sites that lie in no file, for each thread: more are taken for one,
 * since code that is made at run time has no end of them. */
#define MOST_STRANGE 65536u

/* A user address has 47 bits. What is not one is no return address: some code
 * is entered by jumps only. */
#define USER_BITS 47

#define read_once(place) __atomic_load_n(&(place), __ATOMIC_RELAXED)

/* A handler may interrupt this, fork, and return here in the child, whose
 * thread has no state any more (thread.h). The call is its parent's. So what
 * the state leads to is read once, and may be missing. */

/* The thread's name, and how long it has run, are looked at with each of the
 * first edges, and then now and then. */
static void note_thread(const struct swz_thread *thread,
			struct swz_thread_cold *cold)
{
	struct swz_thread_record *record = read_once(thread->record);
	uint32_t made = cold->nodes_made++;

	if (!record)
		return;
	if (made < 16 || made % 256 == 0)
		swz_thread_note_name(record);
	record->last_ticks = swz_ticks();
	swz_processor_time_note_sometimes(record, record->last_ticks);
}

static bool is_strange(struct swz_thread_cold *cold, uint64_t call_site)
{
	if (call_site >> USER_BITS)
		return true;
	return swz_code_kind_of(call_site) != SWZ_CODE_OF_FILE &&
	       cold->counts_strange++ >= MOST_STRANGE;
}

static void count(struct swz_thread *thread, struct swz_thread_cold *cold,
		  uint32_t id, uint64_t call_site)
{
	uint64_t unknown = swz_count_factor_of(id), key = call_site + unknown;
	struct swz_count_slot *slot = swz_counts_find(key);

	if (!slot) {
		note_thread(thread, cold);
		if (is_strange(cold, call_site))
			key = unknown;
		slot = swz_counts_find(key);
		if (!slot)
			slot = swz_counts_make(thread, cold, key, id);
		if (!slot && key != unknown)
			slot = swz_counts_find(unknown);
	}
	if (!slot) {
		swz_lose_call();
		return;
	}
	if (swz_config.first_calls) { /* when: see SWZ_FILE_COVER */
		if (!slot->calls)
			slot->calls = swz_ticks();
		return;
	}
	__asm__ volatile("incq %0" : "+m"(slot->calls));
	swz_counts_spread(thread, cold, slot);
}

void swz_count_call(struct swz_thread *thread, uint32_t id, uint64_t call_site)
{
	struct swz_thread_cold *cold = read_once(thread->cold);

	if (cold && !cold->pauses)
		count(thread, cold, id, call_site);
}

/* The factor of functions that are led past their counters at present. */
static bool is_past(const uint8_t *entry, const uint64_t *factor)
{
	struct swz_region region;

	return swz_region_at((uintptr_t)entry, &region) &&
	       (const uint8_t *)(factor + 1) == region.start;
}

const uint8_t *swz_count_enter(const uint8_t *head_end, const uint64_t *slot)
{
	const uint8_t *entry = head_end + SWZ_COUNT_HEAD - SWZ_TRAMPOLINE_BODY;
	uint32_t id = ((const uint32_t *)(const void *)head_end)[-1];
	uint64_t *factor = swz_count_factor(entry);
	struct swz_thread_cold *cold;
	struct swz_thread *thread;

	if (!swz_recording) {
		if (swz_system_calls_end)
			swz_lose_call();
		return swz_count_copies(entry);
	}
	if (swz_request_is_paused() || (!*factor && is_past(entry, factor)))
		return swz_count_copies(entry);
	thread = swz_this_thread(NULL, slot);
	cold = thread ? read_once(thread->cold) : NULL;
	if (cold && !cold->pauses) {
		*factor = swz_config.first_calls ? SWZ_COUNT_CALLED
						 : swz_count_factor_of(id);
		count(thread, cold, id, *slot);
	} else if (!thread && swz_recording) {
		swz_lose_call();
	}
	return swz_count_copies(entry);
}

void swz_counts_ask(void)
{
	struct swz_region region;
	unsigned at = 0;

	while (swz_region_next(&at, &region)) {
		const struct swz_hooks *hooks =
			(const struct swz_hooks *)(const void *)region.start;
		uint64_t *end = (uint64_t *)(uintptr_t)region.start;
		uint64_t *factor = end - hooks->factor_bytes / sizeof(*end);

		for (; factor < end; factor++)
			*factor = 0;
	}
}
