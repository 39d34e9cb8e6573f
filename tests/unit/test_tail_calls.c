/* What a frame stands for after its function has jumped to others: the chain of
 * records on its thunk, what ends when, and the bound on their number. */

#include <check.h>
#include <string.h>

#include "runtime/hooks/hooks.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/context.h"
#include "runtime/record/sampling.h"
#include "runtime/record/thread.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { MOST_NODES = 300, MOST_RECORDS = 100, BOUND = 48 };

static struct runtime_thread thread;
static struct swz_thunk frame;
static uint64_t slot;
static struct swz_node *outer; /* whose call the frame is */

static struct swz_node *nodes[MOST_NODES];
static unsigned node_count, most_nodes;
static struct swz_thunk records[MOST_RECORDS];
static unsigned record_count, most_records;
static unsigned lost, entered, left, freed;
static struct swz_node *counted;
static bool is_owned, at_home;
static struct swz_thunk *made_latest;

/* ------------------------------------------------- what it is surrounded by */

bool swz_sampling;

uint64_t swz_sampling_decide(struct swz_thread *t, struct swz_node *node)
{
	(void)t;
	(void)node;
	return SWZ_START_UNTIMED | SWZ_START_UNSEEN;
}

bool swz_thread_owns(const struct swz_thread *t, const struct swz_thunk *thunk)
{
	(void)t;
	(void)thunk;
	return is_owned;
}

void swz_make_latest(struct swz_thread *t, struct swz_thunk *thunk)
{
	t->top = thunk;
	made_latest = thunk;
}

bool swz_thread_at_home(const struct swz_thread *t, const uint64_t *s)
{
	(void)t;
	(void)s;
	return at_home;
}

void swz_lose_call(void)
{
	lost++;
}

struct swz_node *swz_take_edge(struct swz_thread *t, uint64_t key,
			       uint32_t function, uint64_t call_site,
			       const uint8_t *body, const uint64_t *s,
			       struct swz_thunk **thunk)
{
	uint32_t parent = (uint32_t)(key >> 32);

	(void)t;
	ck_assert(!body && !s && !thunk);
	ck_assert_uint_eq(call_site, SWZ_CALL_SITE_TAIL);
	for (unsigned i = 0; i < node_count; i++)
		if (nodes[i]->parent == parent &&
		    nodes[i]->function == function)
			return nodes[i];
	if (node_count == most_nodes)
		return NULL;
	nodes[node_count] = runtime_node(function, parent, call_site);
	return nodes[node_count++];
}

struct swz_thunk *swz_take_record(struct swz_thread *t)
{
	(void)t;
	return record_count < most_records ? &records[record_count++] : NULL;
}

void swz_thread_free_record(struct swz_thread *t, struct swz_thunk *record)
{
	(void)t;
	(void)record;
	freed++;
}

void swz_activation_count(struct swz_thread *t, struct swz_node *node)
{
	(void)t;
	node->calls++;
	counted = node;
}

uint64_t swz_activation_enter(struct swz_thread *t, struct swz_node *node,
			      uint64_t start)
{
	(void)t;
	ck_assert_uint_ne(start, 0);
	node->calls++;
	node->open += 1u << SWZ_NODE_OPEN_SHIFT;
	entered++;
	return (uint64_t)node->context << 32;
}

void swz_activation_leave(struct swz_thread *t, struct swz_node *node,
			  uint64_t start, uint64_t now, enum swz_event_kind how)
{
	(void)t;
	ck_assert_uint_ge(now, start);
	ck_assert_int_eq(how, SWZ_EVENT_RETURN);
	node->open -= 1u << SWZ_NODE_OPEN_SHIFT;
	left++;
}

/* ------------------------------------------------------------------ the tests
 */

static void set_up(void)
{
	runtime_begin(&thread);
	memset(&frame, 0, sizeof(frame));
	memset(records, 0, sizeof(records));
	node_count = record_count = 0;
	lost = entered = left = freed = 0;
	counted = NULL;
	made_latest = NULL;
	most_nodes = MOST_NODES;
	most_records = MOST_RECORDS;
	swz_sampling = false;
	is_owned = at_home = true;
	outer = runtime_node(1, thread.cold.root, 0x400010);
	runtime_enter(&thread, &frame, outer, 1000, &slot);
}

static void jump(uint32_t function)
{
	swz_enter_by_jump(&thread.hot, &frame, function);
}

static struct swz_node *current(void)
{
	return swz_context_node(thread.hot.key);
}

static unsigned pending(void)
{
	unsigned count = 0;

	for (struct swz_thunk *p = frame.pending; swz_is_record(p);
	     p = p->pending)
		count++;
	return count;
}

START_TEST(a_jump_goes_on_in_the_context_of_who_jumps)
{
	jump(2);
	ck_assert_uint_eq(current()->function, 2);
	ck_assert_uint_eq(current()->parent, outer->context);
	jump(3);
	ck_assert_uint_eq(current()->function, 3);
	ck_assert_uint_eq(current()->parent, nodes[0]->context);
	ck_assert_uint_eq(pending(), 2);
	ck_assert_uint_eq(entered, 2);
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(swz_frame_node(&frame)->function, 3);
	ck_assert_ptr_eq(thread.hot.expected,
			 &thread.links[nodes[1]->context].first);
	ck_assert_uint_ne(thread.record.last_ticks, 0);
}
END_TEST

START_TEST(a_jump_back_ends_what_came_after)
{
	jump(2);
	jump(3);
	jump(4);
	jump(2);
	ck_assert_uint_eq(pending(), 1);
	ck_assert_uint_eq(left, 2);
	ck_assert_uint_eq(freed, 2);
	ck_assert_uint_eq(nodes[0]->open >> SWZ_NODE_OPEN_SHIFT, 1);
	ck_assert_uint_eq(nodes[1]->open | nodes[2]->open, 0);
	ck_assert_uint_eq(current()->function, 2);
	/* the jump counts as a call from where it came */
	ck_assert_uint_eq(counted->function, 2);
	ck_assert_uint_eq(counted->parent, nodes[2]->context);
	ck_assert_uint_eq(counted->calls, 1);
}
END_TEST

START_TEST(a_jump_back_to_the_frames_own_function_ends_all)
{
	jump(2);
	jump(3);
	jump(1);
	ck_assert_uint_eq(pending(), 0);
	ck_assert_uint_eq(left, 2);
	ck_assert_ptr_eq(current(), outer);
	ck_assert_uint_eq(counted->function, 1);
	ck_assert_uint_eq(counted->parent, nodes[1]->context);
}
END_TEST

/* A loop to a function's own first instruction is no call. */
START_TEST(a_jump_to_itself_is_a_loop)
{
	jump(1);
	ck_assert_uint_eq(outer->calls, 0);
	jump(2);
	jump(2);
	ck_assert_uint_eq(nodes[0]->calls, 1);
	ck_assert_uint_eq(pending(), 1);
	ck_assert_uint_eq(node_count, 1);
	ck_assert_ptr_null(counted);
}
END_TEST

/* A stack that was switched to and begun anew: not a loop, if the latest frame
 * lies elsewhere. */
START_TEST(a_jump_to_itself_from_another_stack_is_a_call)
{
	static struct swz_thunk other;
	static uint64_t elsewhere;

	memset(&other, 0, sizeof(other));
	runtime_enter(&thread, &other, outer, 1000, &elsewhere);
	jump(1);
	ck_assert_ptr_eq(made_latest, &frame);
	ck_assert_ptr_null(counted);
	at_home = false;
	thread.hot.top = &other;
	jump(1);
	ck_assert_ptr_eq(counted, outer);
}
END_TEST

/* As many as that are pending; the next ends the latest and is called from
 * where that was. */
START_TEST(no_more_than_a_bound_are_pending)
{
	struct swz_node *before_last;

	for (uint32_t f = 2; f < 2 + BOUND; f++)
		jump(f);
	ck_assert_uint_eq(pending(), BOUND);
	ck_assert_uint_eq(left, 0);
	before_last = nodes[BOUND - 2];
	jump(2 + BOUND);
	ck_assert_uint_eq(pending(), BOUND);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(nodes[BOUND - 1]->open, 0);
	ck_assert_uint_eq(current()->function, 2 + BOUND);
	ck_assert_uint_eq(current()->parent, before_last->context);
	ck_assert_uint_eq(lost, 0);
	for (uint32_t f = 100; f < 120; f++)
		jump(f);
	ck_assert_uint_eq(pending(), BOUND);
	ck_assert_uint_eq(current()->parent, before_last->context);
}
END_TEST

START_TEST(a_frame_of_another_thread_is_left_alone)
{
	is_owned = _i != 0;
	if (_i == 1)
		frame.pending = SWZ_CLOSED;
	if (_i == 2)
		frame.node = 0;
	jump(2);
	ck_assert_uint_eq(record_count, 0);
	ck_assert_uint_eq(counted->function, 2);
	ck_assert_uint_eq(counted->calls, 1);
	most_nodes = 1;
	jump(3);
	ck_assert_uint_eq(lost, 1);
}
END_TEST

START_TEST(what_there_is_no_room_for_is_counted_as_lost)
{
	most_nodes = 1;
	jump(2);
	jump(3);
	ck_assert_uint_eq(lost, 1);
	ck_assert_uint_eq(current()->function, 2);
	most_nodes = MOST_NODES;
	most_records = 1;
	jump(4);
	ck_assert_uint_eq(lost, 2);
	ck_assert_uint_eq(pending(), 1);
}
END_TEST

START_TEST(the_frame_that_jumps_is_the_latest)
{
	static struct swz_thunk later;
	static uint64_t below;

	jump(2);
	ck_assert_ptr_null(made_latest);
	memset(&later, 0, sizeof(later));
	runtime_enter(&thread, &later, outer, 1000, &below);
	jump(3);
	ck_assert_ptr_eq(made_latest, &frame);
	ck_assert_ptr_eq(thread.hot.top, &frame);
}
END_TEST

START_TEST(a_sampled_record_has_what_was_decided)
{
	swz_sampling = true;
	jump(2);
	ck_assert_uint_eq(frame.pending->start_ticks % SWZ_START_STEP,
			  SWZ_START_UNTIMED | SWZ_START_UNSEEN);
}
END_TEST

/* --------------------------------------------------- jumps without a record */

/* Sampled: the hook has noted only the node of the latest. */
static void note_jumps(uint32_t first, unsigned count)
{
	uint32_t parent = outer->context;

	swz_sampling = true;
	for (unsigned i = 0; i < count; i++) {
		nodes[node_count] = runtime_node(first + i, parent,
						 SWZ_CALL_SITE_TAIL);
		parent = nodes[node_count++]->context;
	}
	frame.pending = (struct swz_thunk *)((uintptr_t)parent
						     << SWZ_JUMPS_SHIFT |
					     SWZ_IS_JUMPS);
	thread.hot.key = (uint64_t)parent << 32;
}

START_TEST(jumps_are_found_by_their_nodes)
{
	uint32_t units[SWZ_MOST_JUMPS];

	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units), 0);
	note_jumps(2, 3);
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units), 3);
	ck_assert_uint_eq(units[0], nodes[2]->context);
	ck_assert_uint_eq(units[2], nodes[0]->context);
	for (uint32_t f = 1; f < 5; f++)
		ck_assert(swz_jumps_lead_to(&frame, f));
	ck_assert(!swz_jumps_lead_to(&frame, 5));
	frame.node = 0;
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units), 0);
}
END_TEST

START_TEST(as_many_jumps_are_known_as_there_is_room_for)
{
	uint32_t units[SWZ_MOST_JUMPS + 1];

	units[SWZ_MOST_JUMPS] = 7;
	note_jumps(2, SWZ_MOST_JUMPS);
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units),
			  SWZ_MOST_JUMPS);
	note_jumps(100, SWZ_MOST_JUMPS + 1);
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units),
			  SWZ_MOST_JUMPS);
	ck_assert_uint_eq(units[SWZ_MOST_JUMPS], 7);
}
END_TEST

START_TEST(jumps_end_at_a_call)
{
	uint32_t units[SWZ_MOST_JUMPS];

	note_jumps(2, 3);
	nodes[1]->call_site = 0x400020;
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units), 1);
	nodes[1]->call_site = SWZ_CALL_SITE_TAIL;
	nodes[0]->function = SWZ_FUNCTION_ROOT;
	ck_assert_uint_eq(swz_jumps_of(swz_file, &frame, units), 2);
}
END_TEST

/* Jumping back to one of them ends those behind it. */
START_TEST(jumps_are_spelt_out_where_one_is_jumped_to)
{
	note_jumps(2, 3);
	jump(3);
	ck_assert_uint_eq(pending(), 2);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(swz_frame_node(&frame)->function, 3);
	ck_assert_ptr_eq(current(), nodes[1]);
	ck_assert_uint_eq(frame.pending->pending->node, nodes[0]->context);
	ck_assert_uint_eq(frame.pending->start_ticks, frame.start_ticks);
	ck_assert_ptr_null(frame.pending->pending->pending);
}
END_TEST

/* A record before them stays before them. */
START_TEST(jumps_are_spelt_out_behind_records)
{
	static struct swz_thunk record;

	note_jumps(2, 2);
	memset(&record, 0, sizeof(record));
	record.node = swz_unit_of(
		runtime_node(9, nodes[1]->context, SWZ_CALL_SITE_TAIL));
	swz_frame_push_record(&frame, &record);
	swz_jumps_spell_out(&thread.hot, &frame, swz_take_record);
	ck_assert_uint_eq(pending(), 3);
	ck_assert_ptr_eq(frame.pending, &record);
	ck_assert_uint_eq(record.pending->node, nodes[1]->context);
	ck_assert_uint_eq(record.pending->pending->node, nodes[0]->context);
	swz_jumps_spell_out(&thread.hot, &frame, swz_take_record);
	ck_assert_uint_eq(pending(), 3);
}
END_TEST

START_TEST(jumps_without_room_are_forgotten)
{
	note_jumps(2, 3);
	most_records = 1;
	swz_jumps_spell_out(&thread.hot, &frame, swz_take_record);
	ck_assert_uint_eq(pending(), 1);
	ck_assert_uint_eq(frame.pending->node, nodes[2]->context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("tail_calls");
	TCase *records_case = tcase_create("records");
	TCase *jumps = tcase_create("jumps");

	tcase_add_checked_fixture(records_case, set_up, NULL);
	tcase_add_test(records_case,
		       a_jump_goes_on_in_the_context_of_who_jumps);
	tcase_add_test(records_case, a_jump_back_ends_what_came_after);
	tcase_add_test(records_case,
		       a_jump_back_to_the_frames_own_function_ends_all);
	tcase_add_test(records_case, a_jump_to_itself_is_a_loop);
	tcase_add_test(records_case,
		       a_jump_to_itself_from_another_stack_is_a_call);
	tcase_add_test(records_case, no_more_than_a_bound_are_pending);
	tcase_add_loop_test(records_case,
			    a_frame_of_another_thread_is_left_alone, 0, 3);
	tcase_add_test(records_case,
		       what_there_is_no_room_for_is_counted_as_lost);
	tcase_add_test(records_case, the_frame_that_jumps_is_the_latest);
	tcase_add_test(records_case, a_sampled_record_has_what_was_decided);
	suite_add_tcase(suite, records_case);
	tcase_add_checked_fixture(jumps, set_up, NULL);
	tcase_add_test(jumps, jumps_are_found_by_their_nodes);
	tcase_add_test(jumps, as_many_jumps_are_known_as_there_is_room_for);
	tcase_add_test(jumps, jumps_end_at_a_call);
	tcase_add_test(jumps, jumps_are_spelt_out_where_one_is_jumped_to);
	tcase_add_test(jumps, jumps_are_spelt_out_behind_records);
	tcase_add_test(jumps, jumps_without_room_are_forgotten);
	suite_add_tcase(suite, jumps);
	return run_suite(suite);
}
