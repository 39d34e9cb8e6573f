/* Kept calls are in slots, a word each: how long it took above, its latest
 * chunk below. Who ends a call exchanges it for the shortest one; whose word
 * was taken out of a slot has its chunks for itself. Nothing waits. */

#include "runtime/record/kept_calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "base/time_bucket.h"
#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"

#define CHUNK_PAGES 4u
/* A percentile is known after so many calls, and looked at after each so many.
 */
#define LEAST_CALLS 100u
#define LOOK_EVERY 64u
/* A word has time in units of 2^10 ticks: 20 minutes fit. */
#define WORD_SHIFT 10

struct rule {
	struct swz_slow_record *record; /* in the file; NULL: no room there */
	uint64_t least_ticks;           /* 0: a percentile is asked for */
	uint64_t ordinary;              /* calls that have ended and are not
					 * slow */
	_Atomic uint64_t *slow_calls, *ordinary_calls; /* slots */
};

static struct rule rules[SWZ_MOST_SLOW_RULES];
static unsigned rule_count;
static _Atomic uint64_t last_number;

/* ------------------------------------------------------------------- rules */

static void record_rule(struct rule *rule, const struct swz_slow_rule *of,
			const struct swz_pattern *pattern)
{
	struct swz_chunk *chunk = swz_chunk_take(swz_file, SWZ_CHUNK_SLOW,
						 sizeof(*rule->record), 1, 0);
	size_t length = pattern->length;

	rule->record = NULL;
	if (!chunk)
		return;
	rule->record = (struct swz_slow_record *)(chunk + 1);
	rule->record->least_ticks = rule->least_ticks;
	rule->record->least_ns = of->least_ns;
	rule->record->share = of->share;
	rule->record->keep = swz_config.slow_keep;
	if (length >= sizeof(rule->record->pattern))
		length = sizeof(rule->record->pattern) - 1;
	memcpy(rule->record->pattern, pattern->text, length);
	swz_chunk_publish(chunk);
}

static void record_rules(void)
{
	const char *list = swz_config.slow;
	struct swz_pattern pattern;

	for (unsigned i = 0;
	     i < rule_count && swz_patterns_next(&list, &pattern); i++)
		record_rule(&rules[i], &swz_config.slow_rules[i], &pattern);
}

/* In ticks, by the two samples of the clock that there are by now. */
static uint64_t ticks_of_ns(uint64_t ns)
{
	const struct swz_clock_sample *first = &swz_file->clock[0];
	const struct swz_clock_sample *last = &swz_file->clock[1];
	uint64_t took = last->monotonic_ns - first->monotonic_ns;
	uint64_t rate = took ? ((last->ticks - first->ticks) << 20) / took : 0;
	uint64_t ticks = (ns >> 20) * rate +
			 ((ns & ((1u << 20) - 1)) * rate >> 20);

	return ticks ? ticks : 1;
}

static bool make_slots(struct rule *rule)
{
	size_t bytes = swz_config.slow_keep * sizeof(uint64_t);
	char *memory = swz_sys_mmap(NULL, 2 * bytes, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	rule->slow_calls = (_Atomic uint64_t *)(void *)memory;
	rule->ordinary_calls =
		memory ? (_Atomic uint64_t *)(void *)(memory + bytes) : NULL;
	return memory;
}

void swz_kept_calls_begin(void)
{
	const char *list = swz_config.slow;
	struct swz_pattern pattern;
	unsigned count = 0;

	swz_file->flags |= SWZ_FILE_SLOW;
	while (swz_patterns_next(&list, &pattern)) {
		struct rule *rule = &rules[count];
		uint64_t least_ns = swz_config.slow_rules[count].least_ns;

		rule->least_ticks = least_ns ? ticks_of_ns(least_ns) : 0;
		if (!make_slots(rule))
			break;
		count++;
	}
	rule_count = count;
	record_rules();
}

void swz_kept_calls_fork(void)
{
	size_t bytes = swz_config.slow_keep * sizeof(uint64_t);

	if (!rule_count)
		return;
	swz_file->flags |= SWZ_FILE_SLOW;
	last_number = 0;
	for (unsigned i = 0; i < rule_count; i++) {
		rules[i].ordinary = 0;
		memset((void *)rules[i].slow_calls, 0, bytes);
		memset((void *)rules[i].ordinary_calls, 0, bytes);
	}
	record_rules();
}

bool swz_kept_calls_has(uint8_t rule)
{
	return rule < rule_count && rules[rule].record;
}

static void count(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/* The time that SHARE of the calls in the histogram do not exceed. */
static void find_percentile(struct swz_slow_record *record)
{
	uint64_t calls = 0, sum = 0, rank;
	uint32_t i;

	for (i = 0; i < SWZ_SLOW_BUCKETS; i++)
		calls += record->buckets[i];
	if (calls < LEAST_CALLS)
		return;
	rank = calls / 100000 * record->share +
	       calls % 100000 * record->share / 100000;
	for (i = 0; i < SWZ_SLOW_BUCKETS && sum + record->buckets[i] <= rank;
	     i++)
		sum += record->buckets[i];
	__atomic_store_n(&record->least_ticks,
			 swz_bucket_start(i) + swz_bucket_width(i),
			 __ATOMIC_RELAXED);
}

void swz_kept_calls_miss(uint8_t rule)
{
	if (rules[rule].record)
		count(&rules[rule].record->unwatched);
}

bool swz_kept_calls_count(uint8_t rule, uint64_t ticks)
{
	struct swz_slow_record *record = rules[rule].record;
	uint32_t bucket = swz_time_bucket(ticks);
	uint64_t least, calls;

	if (!record)
		return false;
	least = __atomic_load_n(&record->least_ticks, __ATOMIC_RELAXED);
	count(&record->buckets[bucket < SWZ_SLOW_BUCKETS
				       ? bucket
				       : SWZ_SLOW_BUCKETS - 1]);
	calls = __atomic_add_fetch(&record->calls, 1, __ATOMIC_RELAXED);
	if (record->share && calls % LOOK_EVERY == 0)
		find_percentile(record);
	if (!least || ticks <= least)
		return false;
	count(&record->slow);
	return true;
}

/* ------------------------------------------------------------------ chunks */

static void set_state(uint32_t chunks, uint64_t state, uint64_t ticks)
{
	while (chunks) {
		struct swz_chunk *chunk = swz_unit_at(chunks);

		chunk->reserved[SWZ_CALL_TICKS] = ticks;
		__atomic_store_n(&chunk->reserved[SWZ_CALL_STATE], state,
				 __ATOMIC_RELAXED);
		chunks = (uint32_t)chunk->reserved[SWZ_CALL_NEXT];
	}
}

/* They may be used again, by any thread. */
static void free_chunks(uint32_t chunks)
{
	while (chunks) {
		struct swz_chunk *chunk = swz_unit_at(chunks);

		chunks = (uint32_t)chunk->reserved[SWZ_CALL_NEXT];
		chunk->type = SWZ_CHUNK_PADDING;
		atomic_signal_fence(memory_order_seq_cst);
		swz_event_chunk_leave(chunk);
	}
}

/* The call whose word is least; its slot in *AT. 0: there is a free slot. */
static uint64_t least_of(_Atomic uint64_t *slots, uint32_t *at)
{
	uint64_t least = UINT64_MAX;

	for (uint32_t i = 0; i < swz_config.slow_keep && least; i++) {
		uint64_t word = atomic_load_explicit(&slots[i],
						     memory_order_relaxed);

		if (word < least) {
			least = word;
			*at = i;
		}
	}
	return least;
}

static uint64_t word_of(uint64_t ticks, uint32_t chunks)
{
	ticks >>= WORD_SHIFT;
	return (ticks < UINT32_MAX ? ticks : UINT32_MAX) << 32 | chunks;
}

/* The same, of what is there. */
static bool exchange(_Atomic uint64_t *slot, uint64_t *was, uint64_t word)
{
	/* the chunks are written before, and read after */
	return atomic_compare_exchange_strong_explicit(
		slot, was, word, memory_order_acq_rel, memory_order_relaxed);
}

/* Takes the least slow of all calls that took less than TICKS out of its slot;
 * 0: there is none. */
static uint32_t take_least(uint64_t ticks)
{
	for (;;) {
		uint64_t least = word_of(ticks, 0);
		_Atomic uint64_t *slot = NULL;

		for (unsigned r = 0; r < rule_count; r++)
			for (uint32_t i = 0; i < swz_config.slow_keep; i++) {
				uint64_t word = atomic_load_explicit(
					&rules[r].slow_calls[i],
					memory_order_relaxed);

				if (!word || word >= least)
					continue;
				least = word;
				slot = &rules[r].slow_calls[i];
			}
		if (!slot)
			return 0;
		if (exchange(slot, &least, 0))
			return (uint32_t)least;
	}
}

/* Makes room: by an ordinary call, else by a slow one that took less than
 * TICKS. False: there is neither. */
static bool drop_one(uint64_t ticks)
{
	uint32_t chunks;

	for (unsigned r = 0; r < rule_count; r++)
		for (uint32_t i = 0; i < swz_config.slow_keep; i++) {
			uint64_t word = atomic_exchange_explicit(
				&rules[r].ordinary_calls[i], 0,
				memory_order_acq_rel);

			free_chunks((uint32_t)word);
			if (word)
				return true;
		}
	chunks = take_least(ticks);
	free_chunks(chunks);
	return chunks;
}

struct swz_chunk *swz_kept_calls_take(struct swz_thread *thread,
				      enum swz_chunk_type type, uint64_t ticks)
{
	struct swz_chunk *chunk;

	do
		chunk = swz_event_chunk_take(type, CHUNK_PAGES, CHUNK_PAGES,
					     thread->cold->index);
	while (!chunk && drop_one(ticks));
	return chunk;
}

void swz_kept_calls_add(struct swz_watched_call *call, struct swz_chunk *chunk,
			uint64_t start)
{
	chunk->reserved[SWZ_CALL_TICKS] = start;
	chunk->reserved[SWZ_CALL_NEXT] = call->chunks;
	chunk->reserved[SWZ_CALL_STATE] =
		call->number << SWZ_CALL_NUMBER_SHIFT |
		(uint64_t)call->rule << SWZ_CALL_RULE_SHIFT | SWZ_CALL_OPEN;
	call->chunks = swz_unit_of(chunk);
}

struct swz_chunk *swz_kept_calls_chunk(struct swz_thread *thread,
				       enum swz_chunk_type type)
{
	struct swz_watched_call *call = &thread->cold->watched;
	uint64_t start = swz_ticks_of(thread, call->start);
	struct swz_chunk *chunk;

	if (!call->slot)
		return NULL;
	chunk = swz_kept_calls_take(thread, type, swz_ticks() - start);
	if (chunk)
		swz_kept_calls_add(call, chunk, start);
	else
		call->cut = true;
	return chunk;
}

void swz_kept_calls_free(struct swz_watched_call *call)
{
	free_chunks(call->chunks);
	call->chunks = 0;
}

/* Puts the call where the shortest of the slow ones was. */
static bool keep_slow(struct rule *rule, uint64_t word)
{
	for (;;) {
		uint32_t at = 0;
		uint64_t least = least_of(rule->slow_calls, &at);

		if (least >= word)
			return false;
		if (!exchange(&rule->slow_calls[at], &least, word))
			continue;
		free_chunks((uint32_t)least);
		return true;
	}
}

/* Vitter, Random Sampling with a Reservoir, 1985, algorithm R. */
uint32_t swz_kept_calls_choose(uint8_t number, uint64_t ticks)
{
	struct rule *rule = &rules[number];
	uint64_t n = __atomic_fetch_add(&rule->ordinary, 1, __ATOMIC_RELAXED);
	uint64_t random = (n + ticks) * SWZ_RANDOM_MULTIPLIER;

	random ^= random >> 32;
	random *= SWZ_RANDOM_MULTIPLIER;
	if (n >= swz_config.slow_keep)
		n = (random >> 16) % (n + 1);
	return n < swz_config.slow_keep ? (uint32_t)n : swz_config.slow_keep;
}

bool swz_kept_calls_would_keep(uint8_t rule, uint64_t ticks)
{
	uint32_t at;

	return least_of(rules[rule].slow_calls, &at) < word_of(ticks, 0);
}

void swz_kept_calls_keep(struct swz_watched_call *call, uint8_t rule,
			 enum swz_call_state state, uint64_t ticks, uint32_t at)
{
	uint64_t word = word_of(ticks, call->chunks);

	set_state(call->chunks,
		  call->number << SWZ_CALL_NUMBER_SHIFT |
			  (uint64_t)rule << SWZ_CALL_RULE_SHIFT | state |
			  (call->cut ? SWZ_CALL_CUT : 0),
		  ticks);
	if (state == SWZ_CALL_ORDINARY)
		free_chunks((uint32_t)atomic_exchange_explicit(
			&rules[rule].ordinary_calls[at], word,
			memory_order_acq_rel));
	else if (!keep_slow(&rules[rule], word))
		free_chunks(call->chunks);
	call->chunks = 0;
	if (call->cut && rules[rule].record)
		count(&rules[rule].record->cut);
}

uint64_t swz_kept_calls_next_number(void)
{
	return atomic_fetch_add_explicit(&last_number, 1,
					 memory_order_relaxed) +
	       1;
}
