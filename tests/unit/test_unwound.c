/* How often a node's activations were ended by an exception: each count is in
 * one place, whatever number of tables there are. */

#include <check.h>
#include <string.h>

#include "runtime/hooks/unwind.h"
#include "runtime/record/record_file.h"
#include "runtime/record/thread.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { TABLES = 16, NODES = 1500, FIRST = 1024 / 16 - 4 };

static _Alignas(64) char room[8 << 20];
static size_t used;

static struct runtime_thread thread;
static struct swz_chunk *tables[TABLES];
static unsigned table_count, most_tables;

struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner)
{
	struct swz_chunk *chunk = (void *)(room + used);

	(void)file;
	ck_assert_uint_eq(type, SWZ_CHUNK_UNWOUND);
	ck_assert_uint_eq(owner, 7);
	ck_assert_uint_eq(count, payload_bytes / 16);
	if (table_count == most_tables)
		return NULL;
	used += sizeof(*chunk) + payload_bytes;
	ck_assert_uint_le(used, sizeof(room));
	chunk->bytes = sizeof(*chunk) + payload_bytes;
	chunk->count = count;
	tables[table_count++] = chunk;
	return chunk;
}

void swz_chunk_publish(struct swz_chunk *chunk)
{
	chunk->magic = SWZ_CHUNK_MAGIC;
}

static void set_up(void)
{
	runtime_begin(&thread);
	swz_file = (void *)room;
	memset(room, 0, sizeof(room));
	used = SWZ_UNIT_BYTES; /* unit 0 is none */
	table_count = 0;
	most_tables = TABLES;
	thread.cold.index = 7;
}

static uint64_t count_of(uint32_t node, unsigned *places)
{
	uint64_t count = 0;

	*places = 0;
	for (unsigned t = 0; t < table_count; t++) {
		const struct swz_unwound_record *r = (const void *)(tables[t] +
								    1);

		for (uint32_t i = 0; i < tables[t]->count; i++)
			if (r[i].node == node) {
				count += r[i].count;
				++*places;
			}
	}
	return count;
}

static void note(uint32_t node)
{
	struct swz_thunk thunk = {.node = node};

	swz_unwound_note(&thread.hot, &thunk);
}

START_TEST(every_count_is_in_one_place)
{
	for (uint32_t node = 1; node <= NODES; node++)
		for (uint32_t i = 0; i < node % 3 + 1; i++)
			note(node);
	for (uint32_t node = NODES; node; node--)
		note(node);
	for (uint32_t node = 1; node <= NODES; node += 7) {
		unsigned places;

		ck_assert_uint_eq(count_of(node, &places), node % 3 + 2);
		ck_assert_uint_eq(places, 1);
	}
}
END_TEST

/* Each is filled up to three quarters, the next is twice as large and names
 * it. */
START_TEST(tables_become_larger)
{
	uint32_t node = 1;

	for (; table_count < 2; node++)
		note(node);
	ck_assert_uint_eq(tables[0]->count, FIRST);
	ck_assert_uint_eq(node - 2, FIRST * 3 / 4);
	ck_assert_uint_eq(tables[0]->reserved[SWZ_UNWOUND_USED], FIRST * 3 / 4);
	for (; node <= NODES; node++)
		note(node);
	ck_assert_uint_ge(table_count, 5);
	for (unsigned t = 0; t < table_count; t++) {
		ck_assert_uint_eq(tables[t]->bytes, 1024u << t);
		ck_assert_uint_eq(tables[t]->magic, SWZ_CHUNK_MAGIC);
		ck_assert_uint_eq(tables[t]->reserved[SWZ_UNWOUND_PREVIOUS],
				  t ? swz_unit_of(tables[t - 1]) : 0);
	}
	ck_assert_uint_eq(thread.cold.unwound,
			  swz_unit_of(tables[table_count - 1]));
}
END_TEST

START_TEST(tables_become_no_larger_than_a_mebibyte)
{
	for (uint32_t node = 1; table_count < 13; node++)
		note(node);
	ck_assert_uint_eq(tables[9]->bytes, 512 << 10);
	for (unsigned t = 10; t < 13; t++)
		ck_assert_uint_eq(tables[t]->bytes, 1 << 20);
}
END_TEST

START_TEST(without_room_what_is_known_goes_on)
{
	unsigned places;

	most_tables = 1;
	for (uint32_t node = 1; node <= NODES; node++)
		note(node);
	note(1);
	ck_assert_uint_eq(count_of(1, &places), 2);
	ck_assert_uint_eq(count_of(NODES, &places), 0);
	most_tables = table_count = 0;
	thread.cold.unwound = 0;
	note(1); /* nowhere */
}
END_TEST

START_TEST(records_of_jumps_are_counted_too)
{
	struct swz_thunk first = {.node = 11}, second = {.node = 12};
	struct swz_thunk frame = {.node = 10};
	unsigned places;

	swz_frame_push_record(&frame, &first);
	swz_frame_push_record(&frame, &second);
	swz_unwound_note(&thread.hot, &frame);
	for (uint32_t node = 10; node < 13; node++)
		ck_assert_uint_eq(count_of(node, &places), 1);
	frame.pending = SWZ_CLOSED;
	swz_unwound_note(&thread.hot, &frame);
	frame.pending = NULL;
	frame.node = 0;
	swz_unwound_note(&thread.hot, &frame);
	ck_assert_uint_eq(count_of(10, &places), 1);
	ck_assert_uint_eq(count_of(0, &places), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwound");
	TCase *t = tcase_create("unwound");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, every_count_is_in_one_place);
	tcase_add_test(t, tables_become_larger);
	tcase_add_test(t, tables_become_no_larger_than_a_mebibyte);
	tcase_add_test(t, without_room_what_is_known_goes_on);
	tcase_add_test(t, records_of_jumps_are_counted_too);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
