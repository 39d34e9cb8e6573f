/* Which frames end when another one is seen to run: those that a longjmp has
 * cut off, on the same stack or on the signal stack, and no others. */

#include <check.h>
#include <signal.h>
#include <string.h>

#include "base/syscall.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/thread.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { FRAMES = 6, WORDS = 4096 };

static struct runtime_thread thread;
static struct swz_thunk frames[FRAMES], elsewhere;
static struct swz_node *nodes[FRAMES];
/* Home; another one; the signal stack, which lies above. */
static uint64_t stacks[3][WORDS];
static const uint64_t *settled[SWZ_SETTLED_SLOTS];
static unsigned slowly, left, freed, suspended;
static bool can_suspend;

/* ------------------------------------------------- what it is surrounded by */

bool swz_thread_at_home(const struct swz_thread *t, const uint64_t *slot)
{
	(void)t;
	return slot >= stacks[0] && slot < stacks[0] + WORDS;
}

bool swz_thread_same_stack(struct swz_thread *t, const uint64_t *a,
			   const uint64_t *b)
{
	t->cold->home_high = 1;
	return swz_thread_at_home(t, a) && swz_thread_at_home(t, b);
}

bool swz_thread_owns(const struct swz_thread *t, const struct swz_thunk *thunk)
{
	(void)t;
	(void)thunk;
	return true;
}

void swz_leave(struct swz_thread *t, struct swz_thunk *thunk, uint64_t now,
	       enum swz_event_kind how)
{
	(void)t;
	(void)thunk;
	(void)now;
	ck_assert_int_eq(how, SWZ_EVENT_SKIP);
	left++;
}

void swz_thread_free_thunk(struct swz_thread *t, struct swz_thunk *thunk)
{
	(void)t;
	thunk->slot = NULL;
	freed++;
}

void swz_frames_cover(struct swz_thread *t, const uint64_t *least)
{
	(void)t;
	(void)least;
}

void swz_slowly(const struct swz_thread *t, void (*function)(void *),
		void *argument)
{
	(void)t;
	slowly++;
	function(argument);
}

struct swz_thunk *swz_latest_at_home(const struct swz_thread *t)
{
	(void)t;
	for (unsigned i = FRAMES; i--;)
		if (frames[i].slot)
			return &frames[i];
	return NULL;
}

bool swz_suspend_after(struct swz_thread *t, struct swz_thunk *until)
{
	if (!can_suspend)
		return false;
	suspended++;
	t->top = until;
	return true;
}

void swz_resume(struct swz_thread *t, struct swz_thunk *thunk)
{
	thunk->start_ticks = 1000;
	t->top = thunk;
}

/* ------------------------------------------------------------------ the tests
 */

/* Frame 0 is the outermost: the higher the number, the lower it lies. */
static uint64_t *slot_of(unsigned i)
{
	return &stacks[0][WORDS - 100 - 100 * i];
}

static void set_up(void)
{
	uint32_t parent;

	runtime_begin(&thread);
	memset(frames, 0, sizeof(frames));
	memset(&elsewhere, 0, sizeof(elsewhere));
	slowly = left = freed = suspended = 0;
	can_suspend = true;
	parent = thread.cold.root;
	for (unsigned i = 0; i < FRAMES; i++) {
		nodes[i] = runtime_node(i + 1, parent, 0x400010);
		parent = nodes[i]->context;
		runtime_enter(&thread, &frames[i], nodes[i], 1000 + i,
			      slot_of(i));
	}
	/* as soon as it was asked for */
	memset(settled, 0, sizeof(settled));
	thread.cold.settled = settled;
	thread.cold.home_high = 1;
}

/* The latest frame is on another stack, above those of home. */
static void go_elsewhere(void)
{
	runtime_enter(&thread, &elsewhere, nodes[FRAMES - 1], 2000,
		      &stacks[1][WORDS / 2]);
}

static uint64_t key_of(unsigned i)
{
	return (uint64_t)nodes[i]->context << 32;
}

START_TEST(frames_beneath_the_one_that_runs_are_left)
{
	swz_close_skipped(&thread.hot, slot_of(3), NULL);
	ck_assert_uint_eq(left, 3);
	ck_assert_uint_eq(freed, 3);
	ck_assert_ptr_eq(thread.hot.top, &frames[2]);
	ck_assert_uint_eq(thread.hot.key, key_of(2));
	ck_assert_ptr_null(frames[3].slot);
	ck_assert_ptr_nonnull(frames[2].slot);
}
END_TEST

START_TEST(up_to_the_one_that_runs_and_no_further)
{
	swz_close_skipped(&thread.hot, slot_of(3), &frames[3]);
	ck_assert_uint_eq(left, 2);
	ck_assert_ptr_eq(thread.hot.top, &frames[3]);
	ck_assert_uint_eq(thread.hot.key, key_of(3));
	ck_assert_uint_eq(slowly, 0);
}
END_TEST

START_TEST(all_of_them_end_at_the_bottom)
{
	swz_close_skipped(&thread.hot, slot_of(0), NULL);
	ck_assert_uint_eq(left, FRAMES);
	ck_assert_ptr_eq(thread.hot.top, &swz_bottom);
	ck_assert_uint_eq(thread.hot.key, (uint64_t)thread.cold.root << 32);
}
END_TEST

START_TEST(a_frame_above_is_not_left)
{
	swz_close_skipped(&thread.hot, slot_of(FRAMES), NULL);
	ck_assert_uint_eq(left + slowly, 0);
	swz_close_skipped(&thread.hot, slot_of(3), &frames[5]);
	ck_assert_uint_eq(left + slowly, 0);
	ck_assert_ptr_eq(thread.hot.top, &frames[5]);
}
END_TEST

/* Of a frame that lies above one does not know whether it is on the signal
 * stack: asked for once, it is settled. */
START_TEST(a_frame_is_settled_once_it_was_asked_about)
{
	swz_close_skipped(&thread.hot, slot_of(4), NULL);
	ck_assert_uint_eq(left, 2);
	ck_assert_uint_eq(slowly, 1);
	/* and so it is in each other depth that is landed at */
	swz_close_skipped(&thread.hot, slot_of(2), NULL);
	ck_assert_uint_eq(left, 4);
	ck_assert_uint_eq(slowly, 2);
	for (unsigned i = 0; i < 2; i++) {
		runtime_enter(&thread, &frames[2], nodes[2], 3000, slot_of(2));
		runtime_enter(&thread, &frames[3], nodes[3], 3001, slot_of(3));
		runtime_enter(&thread, &frames[4], nodes[4], 3002, slot_of(4));
		swz_close_skipped(&thread.hot, slot_of(4), NULL);
		ck_assert_uint_eq(left, 5 + 3 * i);
		ck_assert_ptr_eq(thread.hot.top, &frames[3]);
		swz_close_skipped(&thread.hot, slot_of(2), NULL);
		ck_assert_uint_eq(left, 7 + 3 * i);
		ck_assert_uint_eq(slowly, 2);
		ck_assert_ptr_eq(thread.hot.top, &frames[1]);
	}
}
END_TEST

/* A longjmp off the signal stack, on which nothing runs any more. */
START_TEST(frames_on_the_signal_stack_are_left)
{
	stack_t stack = {.ss_sp = stacks[2], .ss_size = sizeof(stacks[2])};

	ck_assert_int_eq(sigaltstack(&stack, NULL), 0);
	runtime_enter(&thread, &elsewhere, nodes[0], 3000, &stacks[2][1000]);
	swz_close_above(&thread.hot, &stacks[2][900]);
	ck_assert_uint_eq(left, 0);
	swz_close_above(&thread.hot, slot_of(5));
	ck_assert_uint_eq(left, 2);
	ck_assert_ptr_null(elsewhere.slot);
	ck_assert_ptr_eq(thread.hot.top, &frames[4]);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
}
END_TEST

START_TEST(a_frame_that_has_returned_is_none)
{
	frames[5].slot = NULL;
	swz_close_skipped(&thread.hot, slot_of(3), NULL);
	ck_assert_ptr_eq(thread.hot.top, &swz_bottom);
	ck_assert_uint_eq(left, 0);
}
END_TEST

/* What was on another stack may be resumed: it is suspended, and what it was
 * called by is left where it lies beneath. */
START_TEST(frames_on_other_stacks_are_suspended)
{
	go_elsewhere();
	swz_close_above(&thread.hot, slot_of(3));
	ck_assert_uint_eq(suspended, 1);
	ck_assert_uint_eq(left, 3);
	ck_assert_ptr_eq(thread.hot.top, &frames[2]);
}
END_TEST

START_TEST(frames_at_home_are_not_closed_from_above)
{
	swz_close_above(&thread.hot, slot_of(FRAMES));
	ck_assert_uint_eq(slowly, 0);
	go_elsewhere();
	swz_close_above(&thread.hot, &stacks[1][0]);
	ck_assert_uint_eq(slowly, 0);
	thread.cold.home_high = 0; /* not asked yet */
	swz_close_above(&thread.hot, slot_of(FRAMES));
	ck_assert_uint_eq(slowly, 1);
	ck_assert_uint_eq(thread.cold.home_high, 1);
}
END_TEST

START_TEST(a_frame_that_runs_becomes_the_latest)
{
	swz_make_latest(&thread.hot, &frames[2]);
	ck_assert_ptr_eq(thread.hot.top, &frames[2]);
	ck_assert_uint_eq(thread.hot.key, key_of(2));
	ck_assert_uint_eq(left, 3);
	ck_assert_uint_eq(suspended, 0);
	/* one that was suspended is resumed */
	frames[4].slot = slot_of(4);
	frames[4].start_ticks = SWZ_SUSPENDED;
	swz_make_latest(&thread.hot, &frames[4]);
	ck_assert_ptr_eq(thread.hot.top, &frames[4]);
	ck_assert_uint_eq(left, 3);
}
END_TEST

START_TEST(what_runs_elsewhere_is_suspended_by_who_runs)
{
	go_elsewhere();
	swz_make_latest(&thread.hot, &frames[5]);
	ck_assert_ptr_eq(thread.hot.top, &frames[5]);
	ck_assert_uint_eq(suspended, 1);
	ck_assert_uint_eq(left, 0);
	ck_assert_uint_eq(thread.hot.key, key_of(5));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("latest_frame");
	TCase *t = tcase_create("latest_frame");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, frames_beneath_the_one_that_runs_are_left);
	tcase_add_test(t, up_to_the_one_that_runs_and_no_further);
	tcase_add_test(t, all_of_them_end_at_the_bottom);
	tcase_add_test(t, a_frame_above_is_not_left);
	tcase_add_test(t, a_frame_is_settled_once_it_was_asked_about);
	tcase_add_test(t, frames_on_the_signal_stack_are_left);
	tcase_add_test(t, a_frame_that_has_returned_is_none);
	tcase_add_test(t, frames_on_other_stacks_are_suspended);
	tcase_add_test(t, frames_at_home_are_not_closed_from_above);
	tcase_add_test(t, a_frame_that_runs_becomes_the_latest);
	tcase_add_test(t, what_runs_elsewhere_is_suspended_by_who_runs);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
