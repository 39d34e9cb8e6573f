/* Which thunks follow a leader, and whose frame it is that comes to one. */

#include <check.h>
#include <string.h>

#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/annotations.h"
#include "runtime/record/thread.h"
#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"
#include "thunks/arena.h"

enum { DEPTH = 64 };

static struct runtime_thread thread;
static uint32_t recursive[RUNTIME_FUNCTIONS];
static struct swz_node *node;
static _Alignas(64) struct swz_thunk frames[DEPTH];
static struct swz_thunk *leader;
static uint64_t slots[DEPTH + 1]; /* the first call's is the last */
static const uint8_t body[] = {0xc3}, other_body[] = {0xc3};
static bool home;

/* ------------------------------------------------- what it is surrounded by */

struct swz_config swz_config;

void swz_hook_exit(void);
void swz_hook_exit_following(void);

void swz_hook_exit(void)
{
}

void swz_hook_exit_following(void)
{
}

uint32_t swz_ids_bound(void)
{
	return RUNTIME_FUNCTIONS;
}

bool swz_thread_at_home(const struct swz_thread *t, const uint64_t *slot)
{
	(void)t;
	return home && slot >= slots && slot <= slots + DEPTH;
}

bool swz_thread_same_stack(struct swz_thread *t, const uint64_t *a,
			   const uint64_t *b)
{
	t->cold->home_high = UINT64_MAX;
	return swz_thread_at_home(t, a) && swz_thread_at_home(t, b);
}

struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot)
{
	(void)hot;
	return &thread.cold;
}

/* ------------------------------------------------------------------ the tests
 */

static void set_up(void)
{
	memset(recursive, 0, sizeof(recursive));
	memset(frames, 0, sizeof(frames));
	runtime_begin(&thread);
	thread.cold.recursive = recursive;
	swz_config.own_frames = 16;
	swz_leaders_begin();
	node = runtime_node(1, thread.cold.root, 0x400010);
	leader = swz_leader_make(body, 0x400015);
	home = true;
}

static uint64_t *slot_of(unsigned depth)
{
	return &slots[DEPTH - depth];
}

/* Frame number `depth` of a recursion, each with such a thunk. */
static void call(unsigned depth, const uint8_t *way)
{
	struct swz_thunk *frame = &frames[depth];

	frame->body = way;
	frame->return_address = 0x400015;
	runtime_enter(&thread, frame, node, UINT64_C(1000) * SWZ_START_STEP,
		      slot_of(depth));
	node->calls++;
	*slot_of(depth) = swz_thunk_address(frame);
}

static const uint8_t *way_of_next(unsigned depth, bool may_ask)
{
	*slot_of(depth) = 0x400015;
	return swz_follow(&thread.hot, node, body, slot_of(depth), may_ask);
}

START_TEST(a_leader_is_one_of_its_function_and_call_site)
{
	ck_assert_ptr_nonnull(leader);
	ck_assert(swz_thunk_leads(leader) && !swz_thunk_follows(leader));
	ck_assert_ptr_null(leader->slot);
	ck_assert_ptr_eq(swz_leader_make(body, 0x400015), leader);
	ck_assert_ptr_eq(swz_leader_find(body, 0x400015), leader);
	ck_assert_ptr_null(swz_leader_find(body, 0x400016));
	ck_assert_ptr_null(swz_leader_find(other_body, 0x400015));
	ck_assert_ptr_ne(swz_leader_make(other_body, 0x400015), leader);
	ck_assert_ptr_eq(swz_leader_find(body, 0x400015), leader);
}
END_TEST

START_TEST(a_leader_knows_a_context_of_one_thread)
{
	swz_leader_note_parent(leader, 3, 77);
	ck_assert_uint_eq(swz_leader_parent(leader, 3), 77);
	ck_assert_uint_eq(swz_leader_parent(leader, 4), 0);
	swz_leaders_begin();
	ck_assert_uint_eq(swz_leader_parent(leader, 3), 0);
	ck_assert_uint_eq(swz_leader_parent(leader, 0), 0);
}
END_TEST

START_TEST(leaders_come_to_an_end)
{
	uint64_t site = 0x500000;

	while (swz_leaders_have_room())
		ck_assert_ptr_nonnull(swz_leader_make(body, site++));
	ck_assert_ptr_null(swz_leader_make(body, site));
	ck_assert_ptr_eq(swz_leader_find(body, 0x400015), leader);
	ck_assert_ptr_nonnull(swz_leader_find(body, site - 1));
}
END_TEST

START_TEST(the_seventeenth_frame_follows)
{
	for (unsigned depth = 0; depth < 16; depth++) {
		ck_assert_ptr_eq(way_of_next(depth, true), body);
		call(depth, body);
	}
	ck_assert_ptr_eq(way_of_next(16, true), swz_thunk_code(leader));
	call(16, swz_thunk_code(leader));
	ck_assert_ptr_eq(way_of_next(17, false), swz_thunk_code(leader));
}
END_TEST

START_TEST(frames_of_other_call_sites_are_not_counted)
{
	for (unsigned depth = 0; depth < 30; depth++) {
		call(depth, body);
		frames[depth].return_address += depth % 2;
	}
	ck_assert_ptr_eq(way_of_next(30, true), body);
	call(30, body);
	call(31, body);
	ck_assert_ptr_eq(way_of_next(32, true), swz_thunk_code(leader));
}
END_TEST

START_TEST(all_may_follow)
{
	swz_config.own_frames = 0;
	ck_assert_ptr_eq(way_of_next(0, true), swz_thunk_code(leader));
}
END_TEST

START_TEST(no_frame_follows_on_another_stack)
{
	for (unsigned depth = 0; depth < 20; depth++)
		call(depth, body);
	home = false;
	ck_assert_ptr_eq(way_of_next(20, true), body);
	ck_assert_ptr_eq(way_of_next(20, false), body);
}
END_TEST

START_TEST(what_is_not_known_is_asked_for_later)
{
	static const uint8_t new_body[] = {0xc3};

	for (unsigned depth = 0; depth < 20; depth++)
		call(depth, new_body);
	*slot_of(20) = 0x400015;
	ck_assert_ptr_null(
		swz_follow(&thread.hot, node, new_body, slot_of(20), false));
	ck_assert_ptr_ne(
		swz_follow(&thread.hot, node, new_body, slot_of(20), true),
		new_body);
	ck_assert_ptr_nonnull(
		swz_follow(&thread.hot, node, new_body, slot_of(20), false));
}
END_TEST

static void recurse(void)
{
	for (unsigned depth = 0; depth < 50; depth++)
		call(depth, depth < 16 ? body : swz_thunk_code(leader));
}

START_TEST(a_frame_is_found_by_its_slot)
{
	recurse();
	for (unsigned depth = 16; depth < 50; depth++)
		ck_assert_ptr_eq(
			swz_frame_at(&thread.hot, leader, slot_of(depth)),
			&frames[depth]);
	ck_assert_ptr_eq(swz_frame_at(&thread.hot, leader, slot_of(3)), leader);
	ck_assert_ptr_eq(swz_frame_at(&thread.hot, leader, slot_of(50)),
			 leader);
	ck_assert_ptr_eq(swz_frame_at(&thread.hot, &frames[3], slot_of(20)),
			 &frames[3]);
}
END_TEST

START_TEST(the_search_ends_where_links_go_in_circles)
{
	recurse();
	home = false;
	frames[20].link = &frames[40];
	ck_assert_ptr_eq(swz_frame_at(&thread.hot, leader, slot_of(25)),
			 &frames[25]);
	ck_assert_ptr_eq(swz_frame_at(&thread.hot, leader, slot_of(18)),
			 leader);
}
END_TEST

/* A place is asked for where the return address is kept: what is put there is
 * that of this frame alone. */
START_TEST(a_frame_that_does_not_follow_any_more_has_its_own_thunk)
{
	recurse();
	ck_assert_ptr_eq(
		swz_frame_stop_following(&thread.hot, leader, slot_of(30)),
		&frames[30]);
	ck_assert_ptr_eq(frames[30].body, body);
	ck_assert_uint_eq(*slot_of(30), swz_thunk_address(&frames[30]));
	ck_assert_ptr_eq(swz_arena_thunk_at(*slot_of(30)), &frames[30]);
	ck_assert_uint_eq(*slot_of(31), swz_thunk_address(leader));
}
END_TEST

static Suite *followers_suite(void)
{
	Suite *s = suite_create("followers");
	TCase *t = tcase_create("followers");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_leader_is_one_of_its_function_and_call_site);
	tcase_add_test(t, a_leader_knows_a_context_of_one_thread);
	tcase_add_test(t, leaders_come_to_an_end);
	tcase_add_test(t, the_seventeenth_frame_follows);
	tcase_add_test(t, frames_of_other_call_sites_are_not_counted);
	tcase_add_test(t, all_may_follow);
	tcase_add_test(t, no_frame_follows_on_another_stack);
	tcase_add_test(t, what_is_not_known_is_asked_for_later);
	tcase_add_test(t, a_frame_is_found_by_its_slot);
	tcase_add_test(t, the_search_ends_where_links_go_in_circles);
	tcase_add_test(t,
		       a_frame_that_does_not_follow_any_more_has_its_own_thunk);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(followers_suite());
}
