/* Slots for nodes: chunks that become larger, and what is kept for folded
 * contexts. */

#include <check.h>
#include <string.h>

#include "runtime/record/record_file.h"
#include "runtime/record/context.h"
#include "runtime/record/edge_table.h"
#include "tests/unit/run_suite.h"
#include "tests/unit/runtime_thread.h"

enum { MIB = 1 << 20, BYTES = 16 * MIB };

static _Alignas(64) char profile[BYTES];
static struct swz_links links[BYTES / SWZ_UNIT_BYTES];
static struct runtime_thread thread;
static uint64_t used, room;
static uint32_t counts[64], taken, sites;
static unsigned huge;

struct swz_chunk *swz_chunk_take(struct swz_file_header *file, uint32_t type,
				 uint64_t payload_bytes, uint32_t count,
				 uint32_t owner)
{
	struct swz_chunk *chunk = (void *)(profile + used);

	(void)file;
	(void)owner;
	ck_assert_uint_eq(type, SWZ_CHUNK_NODES);
	ck_assert_uint_eq(payload_bytes, count * sizeof(struct swz_node));
	if (payload_bytes + sizeof(*chunk) > room)
		return NULL;
	room -= payload_bytes + sizeof(*chunk);
	used += payload_bytes + sizeof(*chunk);
	counts[taken++] = count;
	return chunk;
}

void swz_chunk_publish(struct swz_chunk *chunk)
{
	chunk->magic = SWZ_CHUNK_MAGIC;
}

uint64_t swz_chunks_room(void)
{
	return room;
}

void swz_chunks_begin_huge_pages(void)
{
	huge++;
}

void swz_site_table_make_room(struct swz_thread_cold *cold, uint32_t wanted)
{
	(void)cold;
	sites = wanted;
}

struct swz_links *swz_file_links(void)
{
	return links;
}

void swz_file_sample_clock(unsigned which)
{
	ck_assert_uint_eq(which, 2);
}

static void set_up(void)
{
	runtime_begin(&thread);
	memset(profile, 0, sizeof(profile));
	memset(links, 0, sizeof(links));
	swz_file = (void *)profile;
	swz_file->limit_bytes = BYTES;
	used = SWZ_HEADER_BYTES;
	room = BYTES - used;
	taken = huge = sites = 0;
	swz_nodes_begin(&thread.cold);
	thread.cold.nodes_made = 0;
}

static struct swz_node *take(void)
{
	struct swz_node *node = swz_nodes_take(&thread.cold, 0);

	thread.cold.nodes_made += node != NULL;
	return node;
}

/* With the headers 1, 4, 16 KiB; then larger ones, as long as many would fit.
 */
START_TEST(chunks_become_larger)
{
	static const uint32_t expected[] = {15, 63, 255};
	struct swz_node *last = NULL;
	uint32_t most = 0;

	for (unsigned i = 0; i < 40000; i++) {
		struct swz_node *node = take();

		if (!node || node == last)
			ck_abort_msg("no node %u", i);
		last = node;
	}
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(counts[i], expected[i]);
	for (unsigned i = 3; i < taken; i++) {
		ck_assert(counts[i] == 255 || counts[i] == 1023 ||
			  counts[i] == 4095);
		most = counts[i] > most ? counts[i] : most;
	}
	ck_assert_uint_eq(most, 4095);
	ck_assert_uint_gt(huge, 0);
}
END_TEST

START_TEST(chunks_are_small_where_the_bound_is_near)
{
	room = 64 * 16 * 1024 + 1024 + 4096 + 16 * 1024 - 1;
	while (taken < 5)
		ck_assert_ptr_nonnull(take());
	thread.cold.nodes_made = 100000;
	while (taken < 8)
		ck_assert_ptr_nonnull(take());
	ck_assert_uint_eq(counts[7], 255);
}
END_TEST

/* The latest first. */
START_TEST(chunks_are_found_again)
{
	struct swz_chunk *chunk = NULL;
	unsigned found = 0;

	while (taken < 4)
		take();
	while ((chunk = swz_nodes_chunk(&thread.cold, chunk)) != NULL) {
		ck_assert_uint_eq(chunk->magic, SWZ_CHUNK_MAGIC);
		found++;
	}
	ck_assert_uint_eq(found, 4);
}
END_TEST

START_TEST(no_node_is_taken_beyond_what_must_be_left)
{
	room = 16 * sizeof(struct swz_node);
	ck_assert_ptr_null(swz_nodes_take(&thread.cold, room + 1));
	ck_assert_uint_eq(taken, 0);
	ck_assert_ptr_nonnull(swz_nodes_take(&thread.cold, room));
	while (swz_nodes_next_slot(&thread.cold))
		;
	ck_assert_ptr_null(take());
}
END_TEST

/* An eighth of the bound; where that is little, 8 MiB, but no more than half.
 */
START_TEST(the_last_part_is_for_folded_contexts)
{
	static const uint64_t cases[][2] = {{10, 5}, {16, 8},  {40, 8},
					    {64, 8}, {80, 10}, {800, 100}};

	swz_file->event_limit_bytes = UINT64_C(3) * MIB;
	swz_file->limit_bytes = (cases[_i][0] + 3) * MIB;
	ck_assert_uint_eq(swz_nodes_fold_reserve(), cases[_i][1] * MIB);
	swz_file->flags = SWZ_FILE_ENDED;
	ck_assert_uint_eq(swz_nodes_fold_reserve(), 0);
}
END_TEST

/* 8191 nodes if there is room, or half, a quarter, ... of that, to 255. */
START_TEST(a_stock_is_as_large_as_there_is_room)
{
	static const uint32_t stocks[] = {8191, 4095, 2047, 1023, 511, 255};
	uint64_t reserve;

	swz_file->limit_bytes = UINT64_C(2) * MIB;
	reserve = swz_nodes_fold_reserve();
	room = stocks[_i] * sizeof(struct swz_node) + reserve;
	swz_nodes_stock_up(&thread.hot);
	ck_assert_uint_eq(counts[0], stocks[_i]);
	ck_assert_uint_eq(sites, stocks[_i]);
	ck_assert_uint_eq(thread.cold.kept_nodes, stocks[_i] / 4);
	/* once is enough */
	swz_nodes_stock_up(&thread.hot);
	ck_assert_uint_le(taken, 2);
}
END_TEST

START_TEST(a_stock_that_there_is_no_room_for_is_small)
{
	swz_file->limit_bytes = UINT64_C(2) * MIB;
	room = 100 * sizeof(struct swz_node);
	swz_nodes_stock_up(&thread.hot);
	ck_assert_uint_eq(taken, 0);
	ck_assert_uint_eq(thread.cold.kept_nodes, 0);
}
END_TEST

/* A quarter of the stock. */
START_TEST(what_is_left_of_a_stock_is_kept)
{
	room = MIB;
	swz_nodes_stock_up(&thread.hot);
	ck_assert(!swz_nodes_are_kept(&thread.cold));
	while (!swz_nodes_are_kept(&thread.cold))
		ck_assert_ptr_nonnull(swz_nodes_next_slot(&thread.cold));
	ck_assert_int_eq(thread.cold.last_node - thread.cold.next_node,
			 thread.cold.kept_nodes);
	room = 0;
	ck_assert_ptr_null(swz_nodes_take(&thread.cold, 1));
	ck_assert_ptr_nonnull(swz_nodes_take(&thread.cold, 0)); /* folded */
	swz_file->flags = SWZ_FILE_ENDED;
	ck_assert(!swz_nodes_are_kept(&thread.cold));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("nodes");
	TCase *t = tcase_create("nodes");

	tcase_add_checked_fixture(t, set_up, NULL);
	tcase_add_test(t, chunks_become_larger);
	tcase_add_test(t, chunks_are_small_where_the_bound_is_near);
	tcase_add_test(t, chunks_are_found_again);
	tcase_add_test(t, no_node_is_taken_beyond_what_must_be_left);
	tcase_add_loop_test(t, the_last_part_is_for_folded_contexts, 0, 6);
	tcase_add_loop_test(t, a_stock_is_as_large_as_there_is_room, 0, 6);
	tcase_add_test(t, a_stock_that_there_is_no_room_for_is_small);
	tcase_add_test(t, what_is_left_of_a_stock_is_kept);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
