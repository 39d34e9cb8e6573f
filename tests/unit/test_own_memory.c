#include <check.h>

#include "base/syscall.h"
#include "tests/unit/run_suite.h"

/* What is left of [low, high) when what is ours is taken out: where each range
 * begins and ends. */
static unsigned left_of(uint64_t low, uint64_t high, uint64_t *left)
{
	unsigned n = 0;
	uint64_t start, end;

	while (low < high && swz_own_next(low, high, &start, &end)) {
		ck_assert_uint_ge(start, low);
		ck_assert_uint_gt(end, start);
		ck_assert_uint_le(end, high);
		if (start > low) {
			left[n++] = low;
			left[n++] = start;
		}
		low = end;
	}
	if (low < high) {
		left[n++] = low;
		left[n++] = high;
	}
	return n;
}

static void expect(uint64_t low, uint64_t high, const uint64_t *expected,
		   unsigned count)
{
	uint64_t left[16];

	ck_assert_uint_eq(left_of(low, high, left), count);
	for (unsigned i = 0; i < count; i++)
		ck_assert_uint_eq(left[i], expected[i]);
}

#define EXPECT(low, high, ...) \
	expect(low, high, (const uint64_t[]){__VA_ARGS__}, \
	       sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

START_TEST(leaves_out_what_is_ours)
{
	swz_own_add(0x50000, 0x10000);
	swz_own_add(0x20000, 0x10000);
	EXPECT(0x10000, 0x70000, 0x10000, 0x20000, 0x30000, 0x50000, 0x60000,
	       0x70000);
	/* it begins and ends within ours */
	EXPECT(0x28000, 0x58000, 0x30000, 0x50000);
	expect(0x21000, 0x2f000, NULL, 0);
	EXPECT(0x30000, 0x50000, 0x30000, 0x50000);
}
END_TEST

START_TEST(knows_what_is_unmapped)
{
	swz_own_add(0x100000, 0x40000);
	swz_own_remove(0x130000, 0x10000); /* the end */
	swz_own_remove(0x100000, 0x10000); /* the beginning */
	EXPECT(0x100000, 0x140000, 0x100000, 0x110000, 0x130000, 0x140000);
	swz_own_remove(0x150000, 0x10000); /* nothing of ours */
	swz_own_remove(0x110000, 0x20000);
	EXPECT(0x100000, 0x140000, 0x100000, 0x140000);
}
END_TEST

START_TEST(knows_what_is_mapped_anew_in_its_place)
{
	swz_own_add(0x100000, 0x20000);
	swz_own_add(0x100000, 0x10000);
	EXPECT(0x100000, 0x120000, 0x110000, 0x120000);
}
END_TEST

START_TEST(ends_when_it_is_full)
{
	for (uint64_t i = 1; i <= 1000; i++)
		swz_own_add(i << 20, 0x10000);
	EXPECT(1 << 20, (1 << 20) + 0x20000, (1 << 20) + 0x10000,
	       (1 << 20) + 0x20000);
	for (uint64_t i = 1; i <= 1000; i++)
		swz_own_remove(i << 20, 0x10000);
	EXPECT(1 << 20, 1001 << 20, 1 << 20, 1001 << 20);
	/* its places are free again */
	swz_own_add(5 << 20, 0x10000);
	EXPECT(5 << 20, (5 << 20) + 0x20000, (5 << 20) + 0x10000,
	       (5 << 20) + 0x20000);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("own memory");
	TCase *c = tcase_create("ranges");

	tcase_add_test(c, leaves_out_what_is_ours);
	tcase_add_test(c, knows_what_is_unmapped);
	tcase_add_test(c, knows_what_is_mapped_anew_in_its_place);
	tcase_add_test(c, ends_when_it_is_full);
	suite_add_tcase(s, c);
	return run_suite(s);
}
