/* Events on their pages: in order, each with its time, over pages and chunks;
 * and the entries of short calls, which are taken back. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/record/events.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { PAGE = 4096, MOST_CHUNKS = 6, FIRST_EVENTS = (PAGE - 64 - 8) / 8 };

struct swz_config swz_config;
bool swz_recording = true;

static struct runtime_thread thread;
static struct swz_node *node, *other;
static struct swz_chunk *chunks[MOST_CHUNKS];
static unsigned chunk_count, most_chunks, packed;
static bool can_pack;

/* ------------------------------------------------- what it is surrounded by */

void swz_hook_exit_traced(void);

void swz_hook_exit_traced(void)
{
}

void swz_hook_exit_following_traced(void);

void swz_hook_exit_following_traced(void)
{
}

void swz_arena_set_exit(void (*hook)(void), void (*following)(void))
{
	ck_assert(hook == swz_hook_exit_traced);
	ck_assert(following == swz_hook_exit_following_traced);
}

void swz_event_chunks_begin(void)
{
}

bool swz_tracing;

void swz_event_chunks_forget(void)
{
}

void swz_event_chunk_leave(const struct swz_chunk *chunk)
{
	(void)chunk;
}

struct swz_chunk *swz_event_chunk_take(enum swz_chunk_type type, uint32_t pages,
				       uint32_t least, uint32_t owner)
{
	struct swz_chunk *chunk;

	ck_assert_uint_le(least, pages);
	if (chunk_count == most_chunks)
		return NULL;
	chunk = aligned_alloc(PAGE, (size_t)pages * PAGE);
	memset(chunk, 0, (size_t)pages * PAGE);
	chunk->type = type;
	chunk->bytes = (uint64_t)pages * PAGE;
	chunk->owner = owner;
	chunks[chunk_count++] = chunk;
	return chunk;
}

void swz_chunk_publish(struct swz_chunk *chunk)
{
	chunk->magic = SWZ_CHUNK_MAGIC;
}

struct swz_packer *swz_packer_new(void)
{
	return (struct swz_packer *)&packed;
}

void swz_packer_restart(struct swz_packer *packer)
{
	(void)packer;
}

void swz_packer_forget(struct swz_packer *packer)
{
	(void)packer;
}

enum swz_packing swz_pack(struct swz_packer *packer, struct swz_chunk *events,
			  uint32_t owner)
{
	(void)packer;
	ck_assert_uint_eq(owner, events->owner);
	packed++;
	return can_pack ? SWZ_PACKING_DONE : SWZ_PACKING_FULL;
}

void swz_switches_begin_thread(struct swz_thread *t)
{
	(void)t;
}

void swz_values_note_thread(struct swz_thread *t)
{
	(void)t;
}

void swz_values_begin_thread(struct swz_thread_cold *cold)
{
	(void)cold;
}

void swz_values_forget(struct swz_thread_cold *cold)
{
	(void)cold;
}

void swz_switches_forget(struct swz_thread_cold *cold)
{
	(void)cold;
}

void swz_switches_take(void *argument)
{
	(void)argument;
}

void swz_processor_time_note(struct swz_thread_record *record)
{
	(void)record;
}

void swz_need_stack(void)
{
}

void swz_slowly(const struct swz_thread *t, void (*function)(void *),
		void *argument)
{
	(void)t;
	function(argument);
}

/* ------------------------------------------------------------------ the tests
 */

static void set_up(void)
{
	runtime_begin(&thread);
	node = runtime_node(1, thread.cold.root, 0x400010);
	other = runtime_node(2, node->context, 0x400020);
	chunk_count = packed = 0;
	most_chunks = MOST_CHUNKS;
	can_pack = true;
	swz_events_begin();
	swz_events_begin_thread(&thread.hot);
	thread.hot.min_ticks = 1000;
}

static void tear_down(void)
{
	while (chunk_count)
		free(chunks[--chunk_count]);
}

static uint64_t now(void)
{
	return swz_now(&thread.hot);
}

static uint64_t enter(const struct swz_node *n)
{
	uint64_t at = now();

	swz_events_add(&thread.hot, n, SWZ_EVENT_ENTER, at);
	return at;
}

/* A call that takes so long. */
static void end(const struct swz_node *n, uint64_t start, uint64_t ticks)
{
	swz_events_add_end(&thread.hot, n, SWZ_EVENT_RETURN, start,
			   start + ticks);
}

/* How many events of that kind there are of the node, in all chunks. */
static unsigned count(const struct swz_node *n, enum swz_event_kind kind)
{
	unsigned found = 0;

	for (unsigned c = 0; c < chunk_count; c++) {
		const uint64_t *words = (const uint64_t *)chunks[c];
		size_t most = chunks[c]->bytes / 8;

		for (size_t i = sizeof(struct swz_chunk) / 8; i < most; i++)
			if (i % 512 != 511 &&
			    words[i] >> SWZ_EVENT_NODE_SHIFT ==
				    swz_unit_of(n) &&
			    (words[i] & SWZ_EVENT_KIND_MASK) == kind)
				found++;
	}
	return found;
}

START_TEST(an_event_has_node_kind_and_time)
{
	uint64_t at = enter(node);
	uint64_t *words = (uint64_t *)chunks[0];
	uint64_t event = words[sizeof(struct swz_chunk) / 8];

	ck_assert_uint_eq(event >> SWZ_EVENT_NODE_SHIFT, swz_unit_of(node));
	ck_assert_uint_eq(event & SWZ_EVENT_KIND_MASK, SWZ_EVENT_ENTER);
	ck_assert_uint_eq(words[511] +
				  ((uint32_t)event >> SWZ_EVENT_TICKS_SHIFT),
			  swz_ticks_of(&thread.hot, at));
	ck_assert_uint_eq(thread.hot.event,
			  (uintptr_t)&words[sizeof(struct swz_chunk) / 8 + 1]);
	ck_assert_uint_eq(chunks[0]->magic, SWZ_CHUNK_MAGIC);
}
END_TEST

/* A first chunk of one page, then of four, then of sixteen. */
START_TEST(events_go_on_in_the_next_chunk)
{
	unsigned i = 0;

	for (; chunk_count < 2; i++)
		enter(node);
	ck_assert_uint_eq(i, FIRST_EVENTS + 1);
	ck_assert_uint_eq(chunks[1]->bytes, UINT64_C(4) * PAGE);
	ck_assert_uint_eq(chunks[1]->reserved[SWZ_EVENTS_FIRST], 1);
	for (; chunk_count < 3; i++)
		enter(node);
	ck_assert_uint_eq(i, FIRST_EVENTS + FIRST_EVENTS + 3 * 511 + 1);
	ck_assert_uint_eq(chunks[2]->bytes, UINT64_C(16) * PAGE);
	ck_assert_uint_eq(chunks[2]->reserved[SWZ_EVENTS_FIRST], 5);
	ck_assert_uint_eq(packed, 1);
	ck_assert_uint_eq(chunks[0]->type, SWZ_CHUNK_PADDING);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), i);
	ck_assert_uint_eq(thread.record.untraced, 0);
}
END_TEST

START_TEST(without_room_events_are_counted)
{
	most_chunks = 1;
	for (unsigned i = 0; i < FIRST_EVENTS + 10; i++)
		enter(node);
	ck_assert_uint_eq(thread.record.untraced, 10);
	ck_assert_uint_ne(thread.record.untraced_from, 0);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), FIRST_EVENTS);
}
END_TEST

START_TEST(what_cannot_be_packed_ends_the_trace)
{
	can_pack = false;
	for (unsigned i = 0; i < 8000; i++)
		enter(node);
	ck_assert_uint_eq(packed, 1);
	ck_assert_uint_eq(chunk_count, 2);
	ck_assert_uint_ne(thread.record.untraced, 0);
}
END_TEST

START_TEST(the_entry_of_a_short_call_is_taken_back)
{
	uint64_t start = enter(node);
	uint64_t event = thread.hot.event;

	end(node, start, 999);
	ck_assert_uint_eq(thread.hot.event, event - 8);
	ck_assert_uint_eq(thread.record.short_calls, 1);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 0);
	ck_assert_uint_eq(count(node, SWZ_EVENT_RETURN), 0);
	start = enter(node);
	end(node, start, 1000);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 1);
	ck_assert_uint_eq(count(node, SWZ_EVENT_RETURN), 1);
	ck_assert_uint_eq(thread.record.short_calls, 1);
}
END_TEST

/* Of one that has made a call with events of its own it stays. */
START_TEST(the_entry_of_a_caller_of_long_calls_stays)
{
	uint64_t start = enter(node), inner = enter(other);

	end(other, inner, 5000);
	end(node, start, 10);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 1);
	ck_assert_uint_eq(count(node, SWZ_EVENT_RETURN), 1);
	ck_assert_uint_eq(thread.record.short_calls, 0);
	start = enter(node);
	inner = enter(other);
	end(other, inner, 10);
	end(node, start, 20);
	ck_assert_uint_eq(thread.record.short_calls, 2);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 1);
	swz_events_add_end(&thread.hot, node, SWZ_EVENT_SUSPEND, enter(node),
			   now());
	ck_assert_uint_eq(count(node, SWZ_EVENT_SUSPEND), 1);
}
END_TEST

/* Wherever the entry is: in any chunk, and as the last of one. */
START_TEST(short_calls_are_taken_back_in_all_chunks)
{
	unsigned kept = 0;

	while (chunk_count < 4) {
		uint64_t start = enter(node);

		end(node, start, 5);
		enter(other);
		kept++;
	}
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 0);
	ck_assert_uint_eq(thread.record.short_calls, kept);
	ck_assert_uint_eq(count(other, SWZ_EVENT_ENTER), kept);
}
END_TEST

START_TEST(the_last_entry_of_a_chunk_is_taken_back_too)
{
	uint64_t start = 0;

	for (unsigned i = 0; i < FIRST_EVENTS; i++)
		start = enter(node);
	ck_assert_uint_eq(chunk_count, 1);
	/* the next page is turned to, and nothing stands there yet */
	ck_assert_int_eq(swz_events_turn_in_hook(&thread.hot), SWZ_TURN_SLOWLY);
	end(other, enter(other), 5);
	ck_assert_uint_eq(chunk_count, 2);
	ck_assert_uint_eq(count(other, SWZ_EVENT_ENTER), 0);
	end(node, start, 5);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), FIRST_EVENTS - 1);
	ck_assert_uint_eq(thread.record.short_calls, 2);
	/* of another thread's chunk nothing is taken */
	end(node, start, 5);
	ck_assert_uint_eq(count(node, SWZ_EVENT_RETURN), 1);
}
END_TEST

START_TEST(a_restart_forgets_what_was)
{
	for (unsigned i = 0; i < 10; i++)
		end(node, enter(node), 5);
	enter(node);
	swz_events_restart(&thread.hot);
	ck_assert_uint_eq(count(node, SWZ_EVENT_ENTER), 0);
	ck_assert_uint_eq(thread.record.short_calls, 0);
	ck_assert_uint_eq(thread.hot.event, (uintptr_t)(chunks[0] + 1));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("event_writer");
	TCase *t = tcase_create("event_writer");

	tcase_add_checked_fixture(t, set_up, tear_down);
	tcase_add_test(t, an_event_has_node_kind_and_time);
	tcase_add_test(t, events_go_on_in_the_next_chunk);
	tcase_add_test(t, without_room_events_are_counted);
	tcase_add_test(t, what_cannot_be_packed_ends_the_trace);
	tcase_add_test(t, the_entry_of_a_short_call_is_taken_back);
	tcase_add_test(t, the_entry_of_a_caller_of_long_calls_stays);
	tcase_add_test(t, short_calls_are_taken_back_in_all_chunks);
	tcase_add_test(t, the_last_entry_of_a_chunk_is_taken_back_too);
	tcase_add_test(t, a_restart_forgets_what_was);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
