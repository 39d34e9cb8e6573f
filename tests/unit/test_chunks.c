/* What chunks of the profile are taken of: its room, up to the last byte. */

#include <check.h>
#include <string.h>

#include "runtime/record/record_file.h"
#include "tests/unit/run_suite.h"

enum { LIMIT = 3 << 20, EVENTS = 64 << 10, PAGE = 4096 };

static _Alignas(4096) char file[LIMIT];
static uint64_t reached;
static bool may_reach, is_present;
static unsigned times_full, times_huge;

struct swz_file_header *swz_file = (void *)file;

bool swz_extent_reach(struct swz_file_header *of, uint64_t bytes)
{
	(void)of;
	ck_assert_uint_le(bytes, LIMIT);
	reached = bytes;
	return may_reach;
}

bool swz_make_present(char *start, uint64_t bytes)
{
	(void)start;
	(void)bytes;
	return is_present;
}

void swz_file_is_full(struct swz_file_header *of, enum swz_file_full why,
		      uint64_t at)
{
	(void)of;
	(void)at;
	ck_assert_int_eq(why, SWZ_FULL_DISK);
	times_full++;
}

void swz_file_begin_huge_pages(struct swz_file_header *of)
{
	ck_assert_ptr_eq(of, swz_file);
	times_huge++;
}

static void set_up(void)
{
	memset(file, 0, sizeof(file));
	swz_file->limit_bytes = LIMIT;
	swz_file->event_limit_bytes = EVENTS;
	swz_file->used_bytes = SWZ_HEADER_BYTES;
	may_reach = is_present = true;
	times_full = times_huge = 0;
}

static struct swz_chunk *take(uint64_t bytes)
{
	return swz_chunk_take(swz_file, SWZ_CHUNK_NODES, bytes, 3, 5);
}

START_TEST(a_chunk_lies_behind_the_last)
{
	struct swz_chunk *chunk = take(100);

	ck_assert_ptr_eq(chunk, file + SWZ_HEADER_BYTES);
	ck_assert_uint_eq(chunk->bytes, 192);
	ck_assert_uint_eq(chunk->type, SWZ_CHUNK_NODES);
	ck_assert_uint_eq(chunk->count, 3);
	ck_assert_uint_eq(chunk->owner, 5);
	ck_assert_uint_eq(chunk->magic, 0);
	ck_assert_uint_eq(reached, SWZ_HEADER_BYTES + 192);
	swz_chunk_publish(chunk);
	ck_assert_uint_eq(chunk->magic, SWZ_CHUNK_MAGIC);
	ck_assert_ptr_eq(take(64), file + SWZ_HEADER_BYTES + 192);
}
END_TEST

/* What events may still take is not to be had. */
START_TEST(room_is_taken_to_the_last_byte)
{
	uint64_t room = swz_chunks_room();

	ck_assert_uint_eq(room, LIMIT - EVENTS - SWZ_HEADER_BYTES);
	ck_assert_ptr_null(take(room - 63));
	ck_assert_ptr_nonnull(take(room - 64));
	ck_assert_uint_eq(swz_chunks_room(), 0);
	ck_assert_ptr_null(take(0));
	ck_assert_uint_eq(times_full, 0);
}
END_TEST

START_TEST(events_are_taken_to_their_last_page)
{
	for (unsigned pages = EVENTS / PAGE; pages; pages -= 2) {
		struct swz_chunk *chunk;

		chunk = swz_chunk_take_events(SWZ_CHUNK_EVENTS, 2, 9);
		ck_assert_ptr_nonnull(chunk);
		ck_assert_uint_eq((uintptr_t)chunk % PAGE, 0);
		ck_assert_uint_eq(chunk->bytes / 2, PAGE);
		ck_assert_uint_eq(chunk->owner, 9);
		ck_assert_uint_eq(chunk->type, SWZ_CHUNK_EVENTS);
	}
	ck_assert_uint_eq(swz_file->event_bytes, EVENTS);
	ck_assert_ptr_null(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 1, 9));
	ck_assert_uint_eq(swz_file->event_bytes, EVENTS);
}
END_TEST

/* What lies before a page of events is a chunk of its own. */
START_TEST(what_is_left_before_events_is_padding)
{
	const struct swz_chunk *padding;

	take(0);
	padding = (void *)(file + swz_file->used_bytes);
	ck_assert_ptr_nonnull(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 1, 9));
	if (swz_file->used_bytes % PAGE == 0) {
		ck_assert_uint_eq(padding->type, SWZ_CHUNK_PADDING);
		ck_assert_uint_eq(padding->magic, SWZ_CHUNK_MAGIC);
		ck_assert_uint_eq(padding->bytes % 64, 0);
		ck_assert_uint_eq(((uintptr_t)padding + padding->bytes) % PAGE,
				  0);
	}
}
END_TEST

START_TEST(events_find_the_end_of_the_file)
{
	swz_file->event_limit_bytes = LIMIT;
	swz_file->used_bytes = LIMIT - 2 * PAGE;
	ck_assert_ptr_null(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 3, 9));
	ck_assert_ptr_nonnull(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 2, 9));
	ck_assert_uint_eq(swz_file->used_bytes, LIMIT);
	ck_assert_ptr_null(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 1, 9));
}
END_TEST

/* They begin behind so many bytes, for whom ever comes there. */
START_TEST(huge_pages_are_asked_for_once_and_not_before)
{
	swz_file->used_bytes = SWZ_HUGE_PAGE - 2 * PAGE;
	ck_assert_ptr_nonnull(take(PAGE - 64));
	ck_assert_ptr_nonnull(take(PAGE - 64));
	ck_assert_uint_eq(swz_file->used_bytes, SWZ_HUGE_PAGE);
	ck_assert_uint_eq(times_huge, 0);
	ck_assert_ptr_nonnull(take(64));
	ck_assert_uint_eq(times_huge, 1);
	ck_assert_ptr_nonnull(take(64));
	ck_assert_ptr_nonnull(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 1, 9));
	ck_assert_uint_eq(times_huge, 1);
	swz_file->used_bytes = SWZ_HUGE_PAGE - PAGE;
	ck_assert_ptr_nonnull(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 2, 9));
	ck_assert_uint_eq(times_huge, 2);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
	uint64_t used = swz_file->used_bytes = SWZ_PRESENT_BYTES;

	is_present = false;
	ck_assert_ptr_null(take(64));
	ck_assert_uint_eq(times_full, 1);
	ck_assert_uint_eq(swz_file->used_bytes, used);
	ck_assert_ptr_null(swz_chunk_take_events(SWZ_CHUNK_EVENTS, 1, 9));
	ck_assert_uint_eq(times_full, 2);
	ck_assert_uint_eq(swz_file->event_limit_bytes, 0);
	may_reach = false;
	ck_assert_ptr_null(take(64));
	ck_assert_uint_eq(times_full, 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("chunks");
	TCase *t = tcase_create("chunks");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, a_chunk_lies_behind_the_last);
	tcase_add_test(t, room_is_taken_to_the_last_byte);
	tcase_add_test(t, events_are_taken_to_their_last_page);
	tcase_add_test(t, what_is_left_before_events_is_padding);
	tcase_add_test(t, events_find_the_end_of_the_file);
	tcase_add_test(t, huge_pages_are_asked_for_once_and_not_before);
	tcase_add_test(t, a_full_disk_is_said);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
