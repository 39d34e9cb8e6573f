/* The kernel's clocks, read with and without a system call: both between two
 * readings of libc's. */

#include <check.h>
#include <time.h>
#include <unistd.h>

#include "runtime/support/config.h"
#include "tests/unit/run_suite.h"

static char **environment; /* with the auxiliary vector behind it */

static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC,
				   CLOCK_BOOTTIME, CLOCK_THREAD_CPUTIME_ID};
#define CLOCKS (sizeof(clocks) / sizeof(*clocks))

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec
				      : a->tv_nsec >= b->tv_nsec;
}

static void assert_right(clockid_t clock)
{
	struct timespec before, now, after;

	clock_gettime(clock, &before);
	ck_assert(swz_clock_read(clock, &now));
	clock_gettime(clock, &after);
	ck_assert(is_later(&now, &before));
	ck_assert(is_later(&after, &now));
}

START_TEST(during_a_start_and_later_the_clocks_are_the_kernels)
{
	swz_clock_begin_start(environment);
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_right(clocks[i]);
	swz_clock_end_start();
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_right(clocks[i]);
}
END_TEST

START_TEST(without_a_vdso_they_are_too)
{
	struct {
		char *environment[1];
		unsigned long auxiliary[4];
	} none = {{NULL}, {6, 4096, 0, 0}}; /* AT_PAGESZ, AT_NULL */

	swz_clock_begin_start(none.environment);
	for (unsigned i = 0; i < CLOCKS; i++)
		assert_right(clocks[i]);
	swz_clock_end_start();
}
END_TEST

START_TEST(a_clock_that_is_none_is_not_read)
{
	struct timespec now;

	swz_clock_begin_start(environment);
	ck_assert(!swz_clock_read(1000, &now));
	swz_clock_end_start();
	ck_assert(!swz_clock_read(1000, &now));
}
END_TEST

START_TEST(monotonic_time_is_in_nanoseconds)
{
	struct timespec now;
	uint64_t ns = swz_clock_monotonic_ns();

	clock_gettime(CLOCK_MONOTONIC, &now);
	ck_assert_uint_le(ns, (uint64_t)now.tv_sec * 1000000000u +
				      (uint64_t)now.tv_nsec);
	ck_assert_uint_gt(ns + 60000000000u,
			  (uint64_t)now.tv_sec * 1000000000u +
				  (uint64_t)now.tv_nsec);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("clock");
	TCase *tests = tcase_create("clock");

	environment = environ;
	tcase_add_test(tests,
		       during_a_start_and_later_the_clocks_are_the_kernels);
	tcase_add_test(tests, without_a_vdso_they_are_too);
	tcase_add_test(tests, a_clock_that_is_none_is_not_read);
	tcase_add_test(tests, monotonic_time_is_in_nanoseconds);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
