/* Who gets which return thunk: each edge its own again, a thread only those of
 * its blocks, and those whose frames are gone come back. */

#include <check.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/context.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { MOST_SLOTS = 4096, FIRST_ROOM = 4 };

static struct runtime_thread thread, other;
static struct swz_node *node, *same_site, *elsewhere;
static uint64_t slots[MOST_SLOTS];
static const uint8_t body[] = {0xc3};
static unsigned left;
static struct swz_chunk *chunk; /* of the nodes that gather() looks through */

/* ------------------------------------------------- what it is surrounded by */

struct swz_config swz_config;

void swz_hook_exit(void);

void swz_hook_exit(void)
{
}

void swz_hook_exit_following(void);

void swz_hook_exit_following(void)
{
}

/* Where the next new thunk's call goes, if not to its body. */
static const uint8_t *followed;
static bool home;

const uint8_t *swz_follow(struct swz_thread *t, const struct swz_node *edge,
			  const uint8_t *to, const uint64_t *slot, bool may_ask)
{
	(void)t, (void)edge, (void)slot, (void)may_ask;
	return followed ? followed : to;
}

bool swz_thread_at_home(const struct swz_thread *t, const uint64_t *slot)
{
	(void)t, (void)slot;
	return home;
}

bool swz_on_main_stack(const uint64_t *slot)
{
	(void)slot;
	return false;
}

void swz_leave(struct swz_thread *t, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how)
{
	(void)t;
	ck_assert_ptr_nonnull(thunk->slot);
	ck_assert_uint_ne(now, 0);
	ck_assert_int_eq(how, SWZ_EVENT_SKIP);
	left++;
}

struct swz_chunk *swz_nodes_chunk(const struct swz_thread_cold *cold,
				  const struct swz_chunk *after)
{
	(void)cold;
	return after ? NULL : chunk;
}

/* ------------------------------------------------------------------ the tests
 */

static uint32_t *block_list(void)
{
	void *list = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert(list != MAP_FAILED);
	return list;
}

static void set_up(void)
{
	memset(slots, 0, sizeof(slots));
	runtime_begin(&other);
	runtime_begin(&thread);
	thread.cold.blocks = block_list();
	thread.cold.block_room = FIRST_ROOM;
	swz_thread_begin_thunks(&thread.cold);
	swz_config.own_thunks = 1000;
	chunk = (void *)runtime_node(0, 0, 0); /* as large as its header */
	node = runtime_node(1, thread.cold.root, 0x400010);
	same_site = runtime_node(1, node->context, 0x400010);
	elsewhere = runtime_node(1, thread.cold.root, 0x400020);
	chunk->count = 3;
	left = 0;
	followed = NULL;
	home = true;
}

/* A call of the edge enters: its return address lies in the slot. */
static struct swz_thunk *enter(struct swz_node *edge, uint64_t *slot)
{
	struct swz_thunk *thunk;

	*slot = 0x400015;
	thunk = swz_thread_take_thunk(&thread.hot, edge, body, slot);
	ck_assert_ptr_nonnull(thunk);
	thunk->slot = slot;
	thunk->start_ticks = UINT64_C(1000) * SWZ_START_STEP;
	*slot = swz_thunk_address(thunk);
	return thunk;
}

START_TEST(a_new_thunk_leads_back)
{
	struct swz_thunk *thunk;

	slots[0] = 0x400015;
	thunk = swz_thread_take_thunk(&thread.hot, node, body, slots);
	ck_assert_ptr_eq(thunk->body, body);
	ck_assert_uint_eq(thunk->return_address, 0x400015);
	ck_assert_uint_eq(thunk->node, swz_unit_of(node));
	ck_assert_uint_eq(thunk->parent, thread.cold.root);
	ck_assert_ptr_null(thunk->pending);
	slots[1] = 0x400025;
	thunk = swz_thread_fresh_thunk(&thread.hot, elsewhere, body, &slots[1]);
	ck_assert_uint_eq(thunk->return_address, 0x400025);
	ck_assert_uint_eq(thunk->node, swz_unit_of(elsewhere));
}
END_TEST

START_TEST(a_fresh_thunk_needs_a_block_that_is_there)
{
	ck_assert_ptr_null(
		swz_thread_fresh_thunk(&thread.hot, node, body, slots));
	enter(node, slots);
	for (unsigned i = 1; i < SWZ_BLOCK_THUNKS; i++)
		ck_assert_ptr_nonnull(
			swz_thread_fresh_thunk(&thread.hot, node, body, slots));
	ck_assert_ptr_null(
		swz_thread_fresh_thunk(&thread.hot, node, body, slots));
	ck_assert_uint_eq(thread.cold.block_count, 1);
}
END_TEST

START_TEST(a_thunk_comes_back_to_its_edge_alone)
{
	struct swz_thunk *first = enter(node, &slots[0]);
	struct swz_thunk *second = enter(node, &slots[1]);

	ck_assert_ptr_ne(first, second);
	swz_thread_free_thunk(&thread.hot, first);
	ck_assert_ptr_null(first->slot);
	ck_assert_ptr_ne(enter(elsewhere, &slots[2]), first);
	ck_assert_ptr_ne(enter(same_site, &slots[3]), first);
	ck_assert_ptr_eq(enter(node, &slots[0]), first);
	swz_thread_free_thunk(&thread.hot, first);
	swz_thread_free_thunk(&thread.hot, second);
	ck_assert_ptr_eq(enter(node, &slots[1]), second);
	ck_assert_ptr_eq(enter(node, &slots[0]), first);
}
END_TEST

START_TEST(edges_that_share_have_one_list)
{
	struct swz_node *site = runtime_node(0, 0, 0);
	struct swz_thunk *thunk;

	swz_share_thunks(&thread.hot, node, site);
	swz_share_thunks(&thread.hot, same_site, site);
	thunk = enter(node, &slots[0]);
	swz_thread_free_thunk(&thread.hot, thunk);
	ck_assert_ptr_eq(enter(same_site, &slots[0]), thunk);
}
END_TEST

/* On other stacks than the thread's own none is used that follows a leader; on
 * its list it is told from others by its sign. */
START_TEST(a_follower_is_for_the_own_stack_alone)
{
	struct swz_thunk *leader, *follower, *thunk;

	leader = enter(elsewhere, &slots[0]);
	followed = swz_thunk_code(leader);
	follower = enter(node, &slots[1]);
	followed = NULL;
	ck_assert(swz_thunk_follows(follower));
	ck_assert_ptr_eq(swz_thunk_body(follower), body);
	ck_assert_uint_eq(swz_thunk_address(follower),
			  swz_thunk_address(leader));
	swz_thread_free_thunk(&thread.hot, follower);
	ck_assert_int_lt((intptr_t)thread.links[follower->node].free, 0);
	home = false;
	thunk = enter(node, &slots[2]);
	ck_assert_ptr_ne(thunk, follower);
	swz_thread_free_thunk(&thread.hot, thunk);
	ck_assert_ptr_eq(enter(node, &slots[2]), thunk);
	home = true;
	ck_assert_ptr_eq(enter(node, &slots[1]), follower);
}
END_TEST

/* The other thread may be using it for another frame already. */
START_TEST(a_thunk_of_another_thread_is_not_freed)
{
	struct swz_thunk *thunk = enter(node, slots);

	other.cold.blocks = block_list();
	ck_assert(swz_thread_owns(&thread.hot, thunk));
	ck_assert(!swz_thread_owns(&other.hot, thunk));
	swz_thread_free_thunk(&other.hot, thunk);
	ck_assert_ptr_eq(thunk->slot, SWZ_SLOT_GONE);
	ck_assert_ptr_null(other.links[thunk->node].free);
	ck_assert_ptr_null(thread.links[thunk->node].free);
}
END_TEST

START_TEST(a_thunk_without_an_edge_is_not_freed)
{
	struct swz_thunk *thunk = enter(node, slots);

	thunk->node = 0;
	swz_thread_free_thunk(&thread.hot, thunk);
	ck_assert_ptr_eq(thunk->slot, SWZ_SLOT_GONE);
	ck_assert_ptr_null(thread.links[0].free);
}
END_TEST

START_TEST(only_the_frame_that_has_returned_is_given_up)
{
	struct swz_thunk *thunk = enter(node, &slots[0]);

	swz_thread_give_up_thunk(thunk, &slots[1]);
	ck_assert_ptr_eq(thunk->slot, &slots[0]);
	swz_thread_give_up_thunk(thunk, &slots[0]);
	ck_assert_ptr_eq(thunk->slot, SWZ_SLOT_GONE);
}
END_TEST

START_TEST(records_come_back_with_their_frame)
{
	struct swz_thunk *thunk = enter(node, slots);
	struct swz_thunk *one = swz_thread_make_record(&thread.hot);
	struct swz_thunk *two = swz_thread_pop_record(&thread.hot);

	ck_assert(one && two && one != two);
	ck_assert(!one->slot && !two->slot);
	swz_frame_push_record(thunk, one);
	swz_frame_push_record(thunk, two);
	swz_thread_free_thunk(&thread.hot, thunk);
	ck_assert_ptr_null(thunk->pending);
	ck_assert_ptr_eq(swz_thread_pop_record(&thread.hot), one);
	ck_assert_ptr_eq(swz_thread_pop_record(&thread.hot), two);
}
END_TEST

START_TEST(records_are_made_as_long_as_there_is_memory)
{
	ck_assert_ptr_null(swz_thread_pop_record(&thread.hot));
	for (unsigned i = 0; i < 2 * SWZ_BLOCK_THUNKS; i++) {
		struct swz_thunk *record = swz_thread_make_record(&thread.hot);

		ck_assert_ptr_nonnull(record);
		record->slot = slots;
		swz_thread_free_record(&thread.hot, record);
		ck_assert_ptr_eq(swz_thread_pop_record(&thread.hot), record);
		ck_assert_ptr_null(record->slot);
	}
	ck_assert_uint_eq(thread.cold.block_count, 2);
}
END_TEST

/* ------------------------------------------------------------------- sweeps */

/* So many calls of the edge, in slots from the first. */
static void fill_blocks(struct swz_node *edge, unsigned blocks)
{
	for (unsigned i = 0; i < blocks * SWZ_BLOCK_THUNKS; i++)
		enter(edge, &slots[i]);
	ck_assert_uint_eq(thread.cold.block_count, blocks);
	ck_assert_ptr_null(thread.cold.fresh);
	thread.cold.swept_at = 0; /* long ago */
}

START_TEST(frames_that_are_gone_are_found)
{
	fill_blocks(node, 1);
	slots[3] = 0;        /* something else lies there */
	slots[9] = 0x400015; /* it may be at its entry or exit */
	enter(node, &slots[100]);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(thread.cold.block_count, 1);
	ck_assert_uint_eq(thread.cold.suspended, 0);
	enter(elsewhere, &slots[101]);
	ck_assert_uint_eq(thread.cold.block_count, 2);
}
END_TEST

/* What is at the slot that is being entered is gone, though its return address
 * may be the same. */
START_TEST(a_frame_in_whose_place_another_is_entered_is_gone)
{
	struct swz_thunk *thunk;

	fill_blocks(node, 1);
	slots[7] = 0x400015;
	thunk = swz_thread_take_thunk(&thread.hot, node, body, &slots[7]);
	ck_assert_ptr_eq(thunk->slot, NULL);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(thread.cold.block_count, 1);
}
END_TEST

START_TEST(a_frame_without_an_edge_becomes_fresh)
{
	struct swz_thunk *thunk;

	thunk = enter(node, &slots[0]);
	for (unsigned i = 1; i < SWZ_BLOCK_THUNKS; i++)
		enter(node, &slots[i]);
	thread.cold.swept_at = 0;
	thunk->node = 0;
	slots[0] = 0;
	ck_assert_ptr_eq(enter(elsewhere, &slots[100]), thunk);
	ck_assert_uint_eq(left, 0);
}
END_TEST

/* A sweep that has cost much is not begun again at once, unless as many frames
 * were suspended as there were thunks then. */
START_TEST(a_sweep_waits_unless_many_are_suspended)
{
	fill_blocks(node, 1);
	thread.cold.swept_at = swz_ticks();
	thread.cold.sweep_ticks = UINT64_C(1) << 40;
	thread.cold.sweep_shift = 30; /* some minutes */
	thread.cold.swept_thunks = SWZ_BLOCK_THUNKS;
	thread.cold.suspended = SWZ_BLOCK_THUNKS - 1;
	slots[0] = 0;
	enter(node, &slots[100]);
	ck_assert_uint_eq(left, 0);
	for (unsigned i = 1; thread.cold.fresh; i++)
		enter(elsewhere, &slots[100 + i]);
	thread.cold.suspended = UINT64_C(2) * SWZ_BLOCK_THUNKS;
	enter(elsewhere, &slots[200]);
	ck_assert_uint_eq(left, 1);
	ck_assert_uint_eq(thread.cold.suspended, 0);
}
END_TEST

/* Where it finds half of all it may come again soon, where it finds few, late.
 */
START_TEST(sweeps_come_as_often_as_they_find_frames)
{
	static const struct {
		unsigned gone, before, expected;
	} cases[] = {{32, 6, 1}, {31, 6, 2},  {16, 6, 2}, {1, 6, 6},
		     {0, 6, 7},  {0, 10, 10}, {1, 2, 6},  {32, 10, 1}};

	fill_blocks(node, 1);
	thread.cold.sweep_shift = cases[_i].before;
	for (unsigned i = 0; i < cases[_i].gone; i++)
		slots[i] = 0;
	enter(elsewhere, &slots[100]);
	ck_assert_uint_eq(left, cases[_i].gone);
	ck_assert_uint_eq(thread.cold.sweep_shift, cases[_i].expected);
}
END_TEST

/* ------------------------------------------- thunks of edges that were left */

START_TEST(thunks_of_the_same_site_are_taken_over)
{
	unsigned most = SWZ_BLOCK_THUNKS;

	fill_blocks(same_site, 1);
	thread.cold.swept_at = swz_ticks();
	thread.cold.sweep_ticks = UINT64_C(1) << 40;
	thread.cold.sweep_shift = 30;
	for (unsigned i = 0; i < SWZ_BLOCK_THUNKS; i++) {
		struct swz_thunk *t = swz_arena_thunk_at(slots[i]);

		swz_thread_free_thunk(&thread.hot, t);
	}
	thread.cold.moved = most / 4 - 1; /* not yet worth while */
	enter(node, &slots[100]);
	ck_assert_uint_eq(thread.cold.block_count, 2);
	while (thread.cold.fresh)
		enter(elsewhere, &slots[200 + left++]);
	thread.cold.moved = most / 4 + 3;
	enter(node, &slots[101]);
	ck_assert_uint_eq(thread.cold.moved, 3);
	ck_assert_uint_eq(thread.cold.block_count, 2);
	ck_assert_ptr_null(thread.links[swz_unit_of(same_site)].free);
	for (unsigned i = 1; i < most; i++) {
		struct swz_thunk *t = enter(node, &slots[300 + i]);

		ck_assert_uint_eq(t->node, swz_unit_of(node));
		ck_assert_uint_eq(t->parent, node->parent);
	}
	ck_assert_uint_eq(thread.cold.block_count, 2);
}
END_TEST

/* ------------------------------------------------------------------- blocks */

START_TEST(the_list_of_blocks_grows)
{
	swz_thread_stock_up(&thread.hot);
	ck_assert_uint_eq(thread.cold.block_count, 256);
	ck_assert_uint_eq(thread.cold.block_room, 256);
	for (unsigned i = 0; i < 256; i++)
		ck_assert(swz_thread_owns(
			&thread.hot,
			swz_arena_block_thunks(thread.cold.blocks[i])));
	for (unsigned i = 0; i < 256 * SWZ_BLOCK_THUNKS; i++)
		ck_assert_ptr_nonnull(
			swz_thread_fresh_thunk(&thread.hot, node, body, slots));
	ck_assert_ptr_null(
		swz_thread_fresh_thunk(&thread.hot, node, body, slots));
}
END_TEST

enum { TAKERS = 64, TAKEN = 32 };

static pthread_barrier_t takers_are_there;

static void *take_blocks(void *argument)
{
	uint32_t *most = argument;

	pthread_barrier_wait(&takers_are_there);
	for (unsigned i = 0; i < TAKEN; i++) {
		uint32_t block = swz_arena_take_block();

		if (block > *most)
			*most = block;
	}
	return NULL;
}

/* A thread that waits for its processor while it prepares the next part of the
 * arena has left the others without blocks: each took a part of its own. */
START_TEST(threads_that_start_together_prepare_what_they_need)
{
	pthread_t threads[TAKERS];
	uint32_t most[TAKERS] = {0}, highest = 0;

	pthread_barrier_init(&takers_are_there, NULL, TAKERS);
	for (unsigned i = 0; i < TAKERS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, take_blocks,
						&most[i]),
				 0);
	for (unsigned i = 0; i < TAKERS; i++) {
		pthread_join(threads[i], NULL);
		if (most[i] > highest)
			highest = most[i];
	}
	/* a quarter more by the large part, and 4 for each of the others */
	ck_assert_uint_lt(highest, TAKERS * (TAKEN + 4) * 5 / 4);
}
END_TEST

START_TEST(a_forked_child_keeps_the_blocks_of_its_frames)
{
	struct swz_thunk *first, *second;

	fill_blocks(node, 3);
	enter(node, &slots[300]); /* of the fourth most is fresh */
	first = swz_arena_thunk_at(slots[0]);
	second = swz_arena_thunk_at(slots[SWZ_BLOCK_THUNKS]);
	thread.hot.top = first;
	first->link = &swz_bottom;
	swz_thread_keep_live_blocks(&thread.hot);
	ck_assert_uint_eq(thread.cold.block_count, 2);
	ck_assert(swz_thread_owns(&thread.hot, first));
	ck_assert(!swz_thread_owns(&thread.hot, second));
	ck_assert(swz_thread_owns(&thread.hot, thread.cold.fresh));
}
END_TEST

/* A new thread keeps a few of a dead one's blocks, and those that frames are
 * left in, which only return yet. */
START_TEST(a_new_thread_takes_over_a_dead_ones_blocks)
{
	struct swz_thunk *alive;
	uint64_t *slot = &slots[(size_t)5 * SWZ_BLOCK_THUNKS];

	fill_blocks(node, 6);
	alive = swz_arena_thunk_at(*slot);
	for (unsigned i = 0; i < 6 * SWZ_BLOCK_THUNKS; i++)
		if (&slots[i] != slot)
			slots[i] = 0;
	thread.cold.suspended = thread.cold.moved = 5;
	thread.cold.sweep_shift = 1;
	swz_thread_begin_thunks(&thread.cold);
	ck_assert_uint_eq(thread.cold.block_count, 5);
	ck_assert_uint_eq(thread.cold.suspended + thread.cold.moved, 0);
	ck_assert_uint_eq(thread.cold.sweep_shift, 6);
	ck_assert(swz_thread_owns(&thread.hot, alive));
	ck_assert_ptr_eq(alive->pending, SWZ_CLOSED);
	ck_assert_uint_eq(alive->node, 0);
	ck_assert_uint_eq(alive->parent, thread.cold.root);
	for (unsigned i = 0; i < 5 * SWZ_BLOCK_THUNKS - 1; i++) {
		struct swz_thunk *t = swz_thread_fresh_thunk(&thread.hot, node,
							     body, slots);

		ck_assert_ptr_nonnull(t);
		ck_assert_ptr_ne(t, alive);
		ck_assert_uint_eq(t->start_ticks, 0);
	}
	ck_assert_ptr_null(
		swz_thread_fresh_thunk(&thread.hot, node, body, slots));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("thread_thunks");
	TCase *t = tcase_create("thread_thunks");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_new_thunk_leads_back);
	tcase_add_test(t, a_fresh_thunk_needs_a_block_that_is_there);
	tcase_add_test(t, a_thunk_comes_back_to_its_edge_alone);
	tcase_add_test(t, edges_that_share_have_one_list);
	tcase_add_test(t, a_follower_is_for_the_own_stack_alone);
	tcase_add_test(t, a_thunk_of_another_thread_is_not_freed);
	tcase_add_test(t, a_thunk_without_an_edge_is_not_freed);
	tcase_add_test(t, only_the_frame_that_has_returned_is_given_up);
	tcase_add_test(t, records_come_back_with_their_frame);
	tcase_add_test(t, records_are_made_as_long_as_there_is_memory);
	tcase_add_test(t, frames_that_are_gone_are_found);
	tcase_add_test(t, a_frame_in_whose_place_another_is_entered_is_gone);
	tcase_add_test(t, a_frame_without_an_edge_becomes_fresh);
	tcase_add_test(t, a_sweep_waits_unless_many_are_suspended);
	tcase_add_loop_test(t, sweeps_come_as_often_as_they_find_frames, 0, 8);
	tcase_add_test(t, thunks_of_the_same_site_are_taken_over);
	tcase_add_test(t, the_list_of_blocks_grows);
	tcase_add_test(t, threads_that_start_together_prepare_what_they_need);
	tcase_add_test(t, a_forked_child_keeps_the_blocks_of_its_frames);
	tcase_add_test(t, a_new_thread_takes_over_a_dead_ones_blocks);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
