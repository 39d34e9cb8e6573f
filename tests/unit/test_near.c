/* Where trampolines find room: as near as there is a gap, but not where the
 * heap or a stack will grow. The test says which mappings there are. */

#include <check.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/run_suite.h"
#include "thunks/maps.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define LOWEST UINT64_C(0x10000)
#define HIGHEST UINT64_C(0x7ffffffff000)
#define PAGE UINT64_C(4096)

/* Where nothing is in this process, whatever there is. */
#define EMPTY UINT64_C(0x200000000000)

static struct swz_mapping lines[1000];
static unsigned line_count, at_line, times_read;

/* Whether something is right below the range, where there is room at once
 * otherwise. */
static bool below_is_taken;

bool swz_maps_open(struct swz_maps *maps)
{
	(void)maps;
	at_line = 0;
	times_read++;
	return line_count != 0;
}

bool swz_maps_next(struct swz_maps *maps, struct swz_mapping *line)
{
	(void)maps;
	if (at_line == line_count)
		return false;
	*line = lines[at_line++];
	return true;
}

void swz_maps_close(struct swz_maps *maps)
{
	(void)maps;
}

static uint64_t heap;

uint64_t swz_heap_end(void)
{
	return heap;
}

static void add(uint64_t low, uint64_t high, bool is_stack)
{
	memset(&lines[line_count], 0, sizeof(*lines));
	lines[line_count].low = low;
	lines[line_count].high = high;
	lines[line_count++].is_stack = is_stack;
}

static uint64_t heap_end(void)
{
	return ((uintptr_t)sbrk(0) + PAGE - 1) & -PAGE;
}

static void set_up(void)
{
	line_count = times_read = 0;
	below_is_taken = true;
	heap = heap_end();
}

static uint64_t map(uint64_t start, uint64_t end, size_t bytes)
{
	void *below = below_is_taken && start > PAGE
			      ? mmap((void *)(start - PAGE), PAGE, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS |
					     MAP_FIXED_NOREPLACE,
				     -1, 0)
			      : MAP_FAILED;
	uint64_t at = (uintptr_t)swz_near_map(start, end, bytes);

	if (below != MAP_FAILED)
		munmap(below, PAGE);
	return at;
}

START_TEST(what_is_closest_is_taken)
{
	/* a gap of 8 pages above, one of 3 between, much below */
	add(LOWEST, EMPTY - GIB, false);
	add(EMPTY, EMPTY + 10 * PAGE, false);
	add(EMPTY + 13 * PAGE, EMPTY + 20 * PAGE, false);
	add(EMPTY + 28 * PAGE, HIGHEST, false);
	ck_assert_uint_eq(map(EMPTY, EMPTY + 20 * PAGE, PAGE + 1),
			  EMPTY + 11 * PAGE);
	below_is_taken = false;
	ck_assert_uint_eq(map(EMPTY, EMPTY + 20 * PAGE, 2 * PAGE),
			  EMPTY - 2 * PAGE);
	below_is_taken = true;
	ck_assert_uint_eq(map(EMPTY, EMPTY + 20 * PAGE, PAGE),
			  EMPTY + 10 * PAGE);
	ck_assert_uint_eq(times_read, 1);
	/* an equal distance: the first stays */
	ck_assert_uint_eq(map(EMPTY + 13 * PAGE, EMPTY + 20 * PAGE, 8 * PAGE),
			  EMPTY + 20 * PAGE);
	ck_assert_uint_eq(times_read, 1);
}
END_TEST

START_TEST(right_below_the_range_no_list_is_needed)
{
	below_is_taken = false;
	add(LOWEST, HIGHEST, false); /* nothing is free, it says */
	ck_assert_uint_eq(map(EMPTY, EMPTY + PAGE, 3 * PAGE - 1),
			  EMPTY - 3 * PAGE);
	ck_assert_uint_eq(times_read, 0);
	/* not where the heap will grow to */
	ck_assert_uint_eq(
		map(heap_end() + 64 * MIB, heap_end() + 65 * MIB, PAGE), 0);
	ck_assert_uint_ge(times_read, 1);
}
END_TEST

START_TEST(what_is_given_back_is_taken_again)
{
	uint64_t at;

	add(LOWEST, EMPTY, false);
	add(EMPTY + GIB, HIGHEST, false);
	at = map(EMPTY - PAGE, EMPTY, PAGE);
	ck_assert_uint_eq(at, EMPTY);
	ck_assert_uint_eq(map(EMPTY - PAGE, EMPTY, PAGE), EMPTY + PAGE);
	swz_near_unmap((void *)(uintptr_t)(EMPTY + PAGE), PAGE);
	ck_assert_uint_eq(map(EMPTY - PAGE, EMPTY, PAGE), EMPTY + PAGE);
	ck_assert_uint_eq(times_read, 1);
}
END_TEST

/* 2 GiB from one end of the module to the other of the room. */
START_TEST(what_is_out_of_reach_is_not_taken)
{
	const uint64_t reach = UINT64_C(0x7fff0000);

	add(LOWEST, EMPTY, false);
	add(EMPTY + PAGE, HIGHEST, false);
	ck_assert_uint_eq(
		map(EMPTY + reach + PAGE, EMPTY + reach + 2 * PAGE, PAGE), 0);
	ck_assert_uint_eq(
		map(EMPTY + reach - 2 * PAGE, EMPTY + reach + PAGE, PAGE), 0);
	ck_assert_uint_eq(map(EMPTY + reach - 2 * PAGE, EMPTY + reach, PAGE),
			  EMPTY);
}
END_TEST

START_TEST(a_stack_keeps_room_to_grow)
{
	add(LOWEST, EMPTY, false);
	add(EMPTY + 300 * MIB, HIGHEST, true);
	ck_assert_uint_eq(map(EMPTY + 300 * MIB, EMPTY + 301 * MIB, PAGE),
			  EMPTY + 44 * MIB - PAGE);
}
END_TEST

/* Its end is that of a mapping, or it is nowhere yet. */
START_TEST(the_heap_keeps_room_to_grow)
{
	uint64_t end = heap_end(), from = _i ? end - 64 * PAGE : end;

	add(LOWEST, from, false);
	add(end + GIB, HIGHEST, false);
	/* what is before the heap's end is taken up by this process, or would
	 * be nearer */
	ck_assert_uint_eq(map(end - PAGE, end, 65 * PAGE), end + 256 * MIB);
}
END_TEST

START_TEST(the_lowest_addresses_are_nobodys)
{
	add(0, 0x1000, false);
	add(0x20000, HIGHEST, false);
	heap = 0x7fe00000; /* right behind it */
	/* what is as long has none apart */
	ck_assert_uint_eq(map(0x20000, heap, 0x11000), 0);
	ck_assert_uint_eq(times_read, 1);
}
END_TEST

/* A program at the usual fixed address. Nothing else is below 4 GiB here. */
#define PROGRAM UINT64_C(0x400000)
#define PROGRAM_END UINT64_C(0x512f38)
#define BEHIND UINT64_C(0x513000)
#define REACH_END (PROGRAM + 0x7fff0000)

static void assert_each_within(size_t bytes, uint64_t low, uint64_t high)
{
	for (unsigned i = 0; i < 100; i++) {
		uint64_t at = map(PROGRAM, PROGRAM_END, bytes);

		ck_assert_uint_ge(at, low);
		ck_assert_uint_le(at + bytes, high);
		munmap((void *)(uintptr_t)at, bytes);
	}
	ck_assert_uint_eq(times_read, 0);
}

/* Beside it the program may map files of its own, by fixed addresses. */
START_TEST(a_program_at_a_fixed_address_has_them_at_random)
{
	uint64_t seen[4];

	heap = BEHIND + GIB;
	for (unsigned i = 0; i < 4; i++)
		seen[i] = map(PROGRAM, PROGRAM_END, 3 * PAGE);
	/* by chance two may follow one another */
	ck_assert(seen[1] - seen[0] != seen[2] - seen[1] ||
		  seen[2] - seen[1] != seen[3] - seen[2]);
}
END_TEST

START_TEST(they_lie_before_its_heap)
{
	static const uint64_t rooms[] = {3 * PAGE, 4 * PAGE, MIB, GIB};

	heap = BEHIND + rooms[_i];
	assert_each_within(3 * PAGE, BEHIND, heap);
}
END_TEST

START_TEST(they_lie_before_a_heap_that_has_grown)
{
	/* where only they fit */
	uint64_t begins = BEHIND + (_i ? 64 * MIB : 3 * PAGE);

	heap = begins + GIB;
	ck_assert(mmap((void *)(uintptr_t)begins, GIB, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			       MAP_FIXED_NOREPLACE,
		       -1, 0) != MAP_FAILED);
	/* each attempt that hits the heap is followed by one before it */
	assert_each_within(3 * PAGE, _i ? BEHIND : PROGRAM / 4, begins);
}
END_TEST

START_TEST(else_below_the_program_but_not_beside_it)
{
	heap = BEHIND + (_i ? 2 * PAGE : 0);
	assert_each_within(3 * PAGE, PROGRAM / 4, PROGRAM - LOWEST);
}
END_TEST

START_TEST(else_as_high_as_they_reach)
{
	heap = BEHIND;
	assert_each_within(4 * MIB, REACH_END - 68 * MIB, REACH_END);
	/* but not in the heap's way */
	heap = REACH_END - 300 * MIB;
	ck_assert(mmap((void *)BEHIND, heap - BEHIND, PROT_NONE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE |
			       MAP_FIXED_NOREPLACE,
		       -1, 0) != MAP_FAILED);
	assert_each_within(4 * MIB, heap + 256 * MIB, REACH_END);
}
END_TEST

START_TEST(a_heap_below_comes_no_further_than_the_module)
{
	heap = PROGRAM / 2;
	assert_each_within(3 * PAGE, BEHIND, REACH_END);
}
END_TEST

/* More gaps than are remembered: each time the list is read. */
START_TEST(many_gaps_are_read_again)
{
	for (uint64_t i = 0; i < 600; i++)
		add(i ? EMPTY + i * 2 * PAGE : LOWEST,
		    EMPTY + (i * 2 + 1) * PAGE, false);
	add(EMPTY + GIB, HIGHEST, false);
	ck_assert_uint_eq(map(EMPTY, EMPTY + PAGE, PAGE), EMPTY + PAGE);
	ck_assert_uint_eq(times_read, 1);
	lines[0].high = EMPTY + 3 * PAGE;
	ck_assert_uint_eq(map(EMPTY, EMPTY + PAGE, PAGE), EMPTY + 3 * PAGE);
	ck_assert_uint_eq(times_read, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("near");
	TCase *t = tcase_create("near");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, what_is_closest_is_taken);
	tcase_add_test(t, right_below_the_range_no_list_is_needed);
	tcase_add_test(t, what_is_given_back_is_taken_again);
	tcase_add_test(t, what_is_out_of_reach_is_not_taken);
	tcase_add_test(t, a_stack_keeps_room_to_grow);
	tcase_add_loop_test(t, the_heap_keeps_room_to_grow, 0, 2);
	tcase_add_test(t, the_lowest_addresses_are_nobodys);
	tcase_add_test(t, a_program_at_a_fixed_address_has_them_at_random);
	tcase_add_loop_test(t, they_lie_before_its_heap, 0, 4);
	tcase_add_loop_test(t, they_lie_before_a_heap_that_has_grown, 0, 2);
	tcase_add_loop_test(t, else_below_the_program_but_not_beside_it, 0, 2);
	tcase_add_test(t, else_as_high_as_they_reach);
	tcase_add_test(t, a_heap_below_comes_no_further_than_the_module);
	tcase_add_test(t, many_gaps_are_read_again);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
