#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "profile/file/scan.h"
#include "tests/unit/run_suite.h"

#define FIRST_UNIT 100u

static uint64_t random_state;

static uint64_t draw(void)
{
	random_state = random_state * 6364136223846793005u + 1;
	return random_state >> 16;
}

/* A word of any size. */
static uint64_t draw_word(void)
{
	return (draw() << 32 ^ draw()) >> draw() % 64;
}

static size_t pack(const struct swz_node *nodes, uint32_t count, uint8_t *to)
{
	struct swz_packed_nodes before = {0};
	size_t size = 0;

	for (uint32_t i = 0; i < count; i++) {
		unsigned bytes = swz_node_pack(to + size, &before,
					       FIRST_UNIT + i, &nodes[i]);

		ck_assert_uint_le(bytes, SWZ_PACKED_NODE_BYTES);
		size += bytes;
	}
	return size;
}

static void check(const struct swz_node *nodes, uint32_t count)
{
	uint8_t *bytes = malloc(count * SWZ_PACKED_NODE_BYTES);
	const uint8_t *at = bytes, *limit = bytes + pack(nodes, count, bytes);
	struct swz_packed_nodes before = {0};

	for (uint32_t i = 0; i < count; i++) {
		struct swz_node node;

		ck_assert(swz_node_unpack(&at, limit, &before, FIRST_UNIT + i,
					  &node));
		ck_assert_mem_eq(&node, &nodes[i], sizeof(node));
	}
	ck_assert_ptr_eq(at, limit);
	free(bytes);
}

START_TEST(says_what_the_format_describes)
{
	static const struct swz_node nodes[] = {
		/* called once, 300 ticks, by the one before it */
		{.function = 5,
		 .parent = FIRST_UNIT - 1,
		 .context = FIRST_UNIT,
		 .call_site = 0x40,
		 .calls = 1,
		 .ticks = 300,
		 .outer_ticks = 300,
		 .min_ticks = 300,
		 .max_ticks = 300},
		{0},
		/* from there again, by the same; folded into the first */
		{.function = 5,
		 .parent = FIRST_UNIT - 1,
		 .context = FIRST_UNIT,
		 .call_site = 0x40,
		 .calls = 2,
		 .ticks = 7,
		 .min_ticks = 3,
		 .max_ticks = 4,
		 .open = SWZ_NODE_RESUMED},
	};
	static const uint8_t expected[] = {
		/* site 64, parent 1 before, 300 ticks */
		0x3a,
		5,
		0x80,
		1,
		2,
		0xd8,
		4,
		0x40,
		/* context 2 before, 7 ticks, 0 of them outermost, 2 calls,
		 * 3, 1 more, the flag */
		0x05,
		5,
		4,
		14,
		0,
		2,
		3,
		2,
		8,
	};
	uint8_t bytes[3 * SWZ_PACKED_NODE_BYTES];

	ck_assert_uint_eq(pack(nodes, 3, bytes), sizeof(expected));
	ck_assert_mem_eq(bytes, expected, sizeof(expected));
	check(nodes, 3);
}
END_TEST

/* Any words, and words that are like those of other nodes. */
START_TEST(gives_back_what_was_packed)
{
	enum { COUNT = 2000 };
	struct swz_node *nodes = calloc(COUNT, sizeof(*nodes));

	random_state = 1;
	for (uint32_t i = 0; i < COUNT; i++) {
		struct swz_node *n = &nodes[i];

		if (draw() % 8 == 0)
			continue;
		if (i && draw() % 2)
			*n = nodes[draw() % i];
		n->function = draw() % 4 ? 1 + (uint32_t)draw() % 50
					 : (uint32_t)draw_word() | 1;
		if (draw() % 2)
			n->call_site = draw_word();
		if (draw() % 2)
			n->parent = (uint32_t)draw_word();
		n->context = draw() % 2 ? FIRST_UNIT + i
					: (uint32_t)draw_word();
		n->ticks = (int64_t)draw_word();
		n->outer_ticks = draw() % 2 ? n->ticks : (int64_t)draw_word();
		n->calls = draw() % 2 ? 1 : draw_word();
		n->min_ticks = draw() % 2 ? (uint64_t)n->ticks : draw_word();
		n->max_ticks = draw() % 2 ? n->min_ticks : draw_word();
		n->open = draw() % 2 ? 0 : (uint32_t)draw_word();
	}
	check(nodes, COUNT);
	free(nodes);
}
END_TEST

START_TEST(gives_back_the_largest_words)
{
	struct swz_node node;

	memset(&node, 0xff, sizeof(node));
	check(&node, 1);
	node.ticks = INT64_MIN;
	node.outer_ticks = INT64_MAX;
	node.max_ticks = 0;
	check(&node, 1);
}
END_TEST

START_TEST(reads_nothing_behind_the_limit)
{
	struct swz_node node;
	uint8_t bytes[SWZ_PACKED_NODE_BYTES];
	size_t size;

	memset(&node, 0xff, sizeof(node));
	node.calls = 3;
	size = pack(&node, 1, bytes);
	for (size_t cut = 0; cut < size; cut++) {
		struct swz_packed_nodes before = {0};
		const uint8_t *at = bytes;
		struct swz_node got;

		ck_assert(!swz_node_unpack(&at, bytes + cut, &before,
					   FIRST_UNIT, &got));
		ck_assert_ptr_eq(at, bytes);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("packed_nodes");
	TCase *tests = tcase_create("packed_nodes");

	tcase_add_test(tests, says_what_the_format_describes);
	tcase_add_test(tests, gives_back_what_was_packed);
	tcase_add_test(tests, gives_back_the_largest_words);
	tcase_add_test(tests, reads_nothing_behind_the_limit);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
