/* Sites, written into and taken out of pages of this process, which is its own
 * target: no thread runs there. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control/target.h"
#include "tests/unit/run_suite.h"
#include "watch/proc_task.h"

enum { PAGES = 3, BYTES = PAGES * 4096, NONE = -1 };

static struct swz_target target;
static struct swz_control_site table[16];
static struct swz_control control;
static struct swz_sites sites;
static uint8_t *code, before[BYTES];

static void begin(void)
{
	code = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
	for (unsigned i = 0; i < BYTES; i++)
		before[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(code, before, BYTES);
	/* as of code: what is written goes by way of the kernel */
	ck_assert_int_eq(mprotect(code, BYTES, PROT_READ), 0);
	ck_assert(swz_target_open(&target, getpid()));
	memset(table, 0, sizeof(table));
	control = (struct swz_control){.sites = (uintptr_t)table};
}

static void end(void)
{
	swz_sites_free(&sites);
	swz_target_close(&target);
	munmap(code, BYTES);
}

/* A site of LENGTH bytes, all of which become FILL. */
static void add(unsigned at, unsigned length, enum swz_control_phase phase,
		uint32_t function, uint32_t host, uint8_t fill)
{
	struct swz_control_site *s = &table[control.site_count++];

	*s = (struct swz_control_site){.address = (uintptr_t)code + at,
				       .function = function,
				       .host = host,
				       .length = (uint8_t)length,
				       .phase = (uint8_t)phase};
	memset(s->after, fill, length);
	if (at + length <= BYTES)
		memcpy(s->before, before + at, length);
}

static void read_sites(void)
{
	ck_assert(swz_sites_read(&sites, &target, &control));
}

static struct swz_sites_place place;

static void write_all(void)
{
	place = (struct swz_sites_place){0};
	ck_assert(swz_sites_write(&sites, &place, UINT64_MAX));
	ck_assert(swz_sites_are_written(&place));
}

static void restore_beginnings(void)
{
	place = (struct swz_sites_place){0};
	ck_assert(swz_sites_restore(&sites, &place, UINT64_MAX));
	ck_assert(swz_sites_are_restored(&place));
}

/* Whether the code is as before, but for these bytes. */
static bool differs_only(unsigned at, unsigned length, uint8_t fill)
{
	for (unsigned i = 0; i < BYTES; i++)
		if (code[i] != (i >= at && i < at + length ? fill : before[i]))
			return false;
	return true;
}

START_TEST(writes_and_restores)
{
	add(4096 + 100, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(40, 2, SWZ_PHASE_SHORT, 2, UINT32_MAX, 0xbb);
	add(80, 5, SWZ_PHASE_ISLAND, 2, UINT32_MAX, 0xcc);
	read_sites();
	ck_assert_uint_eq(sites.count, 3);
	swz_sites_copy_pages(&sites);
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
	write_all();
	for (unsigned i = 0; i < BYTES; i++) {
		uint8_t wanted = before[i];

		if (i >= 4096 + 100 && i < 4096 + 105)
			wanted = 0xaa;
		if (i == 40 || i == 41)
			wanted = 0xbb;
		if (i >= 80 && i < 85)
			wanted = 0xcc;
		ck_assert_uint_eq(code[i], wanted);
	}
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
}
END_TEST

START_TEST(leaves_what_somebody_else_has_written)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(300, 5, SWZ_PHASE_JUMP, 2, UINT32_MAX, 0xaa);
	read_sites();
	before[202] = 0xcc; /* a debugger's breakpoint */
	ck_assert(swz_target_write(&target, (uintptr_t)code + 202, before + 202,
				   1));
	write_all();
	ck_assert(differs_only(300, 5, 0xaa));
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
}
END_TEST

START_TEST(keeps_inner_sites_while_frames_may_be_open)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(220, 4, SWZ_PHASE_INNER, 1, UINT32_MAX, 0xdd);
	read_sites();
	write_all();
	restore_beginnings();
	ck_assert(differs_only(220, 4, 0xdd));
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
}
END_TEST

START_TEST(what_restoring_leaves_is_kept_and_restored_at_the_end)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(220, 4, SWZ_PHASE_INNER, 1, UINT32_MAX, 0xdd);
	read_sites();
	write_all();
	restore_beginnings();
	swz_sites_keep_written(&sites);
	ck_assert_uint_eq(sites.count, 1);
	ck_assert_uint_eq(sites.list[0].address, (uintptr_t)code + 220);
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
}
END_TEST

/* A run of pages for each part: the first, with all that is the linker's, comes
 * even if there is no time. */
START_TEST(goes_on_where_it_stopped)
{
	unsigned parts = 0;

	add(4096 + 200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(4096 + 300, 5, SWZ_PHASE_JUMP, 2, UINT32_MAX, 0xaa);
	add(8192 + 100, 4, SWZ_PHASE_LINKER, 3, UINT32_MAX, 0xee);
	read_sites();
	place = (struct swz_sites_place){0};
	ck_assert(swz_sites_write(&sites, &place, 0));
	ck_assert(!swz_sites_are_written(&place));
	ck_assert(differs_only(8192 + 100, 4, 0xee));
	for (; !swz_sites_are_written(&place) && parts < 10; parts++)
		ck_assert(swz_sites_write(&sites, &place,
					  swz_watch_now() + 1000000000));
	ck_assert_uint_eq(parts, 1);
	ck_assert_uint_eq(code[4096 + 200], 0xaa);
	ck_assert_uint_eq(code[4096 + 304], 0xaa);
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, BYTES), 0);
}
END_TEST

/* Its neighbours are written all the same. */
START_TEST(a_page_that_is_gone_has_nothing_to_be_restored)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(4096 + 200, 5, SWZ_PHASE_JUMP, 2, UINT32_MAX, 0xaa);
	add(8192 + 200, 5, SWZ_PHASE_JUMP, 3, UINT32_MAX, 0xaa);
	read_sites();
	write_all();
	munmap(code + 4096, 4096);
	ck_assert(swz_sites_restore_rest(&sites));
	ck_assert_int_eq(memcmp(code, before, 4096), 0);
	ck_assert_int_eq(memcmp(code + 8192, before + 8192, 4096), 0);
}
END_TEST

START_TEST(does_not_believe_the_table)
{
	add(4094, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa); /* two pages */
	add(100, 0, SWZ_PHASE_JUMP, 2, UINT32_MAX, 0xaa);
	add(200, 5, SWZ_PHASE_JUMP, 3, UINT32_MAX, 0xaa);
	add(300, 5, SWZ_PHASE_JUMP, 4, UINT32_MAX, 0xaa);
	add(400, 5, SWZ_PHASE_JUMP, 5, UINT32_MAX, 0xaa);
	table[1].length = 9;
	table[2].phase = SWZ_PHASES;
	table[3].flags = SWZ_SITE_GONE;
	read_sites();
	ck_assert_uint_eq(sites.count, 1);
	write_all();
	ck_assert(differs_only(400, 5, 0xaa));
	control.site_count = SWZ_CONTROL_MOST_SITES + 1;
	swz_sites_free(&sites);
	ck_assert(!swz_sites_read(&sites, &target, &control));
}
END_TEST

/* ----------------------------------------------------------------- threads */

static struct swz_stopped thread;
static struct swz_stop stop = {.threads = &thread, .count = 1};

static bool in_call;

static bool is_free_at(unsigned at, bool skip)
{
	bool all_free;

	thread.registers.rip = (uintptr_t)code + at;
	thread.registers.orig_rax = in_call ? SYS_read : UINT64_MAX;
	all_free = swz_sites_are_free(&sites, &stop, skip);
	ck_assert(thread.astray == !all_free);
	return all_free;
}

START_TEST(no_thread_may_be_behind_a_sites_beginning)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(400, 5, SWZ_PHASE_ISLAND, 2, UINT32_MAX, 0xaa);
	read_sites();
	ck_assert(is_free_at(199, false));
	ck_assert(is_free_at(200, false)); /* it executes what is new */
	for (unsigned i = 201; i < 205; i++)
		ck_assert(!is_free_at(i, false));
	ck_assert(is_free_at(205, false));
	ck_assert(!is_free_at(400, false)); /* it executes what was there */
	ck_assert(is_free_at(405, false));
	/* a system call that is made again begins two bytes before */
	in_call = true;
	ck_assert(is_free_at(199, false));
	ck_assert(!is_free_at(205, false));
	ck_assert(!is_free_at(206, false));
	ck_assert(is_free_at(207, false));
	in_call = false;
}
END_TEST

START_TEST(leaves_out_a_function_and_what_relies_on_it)
{
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xaa);
	add(220, 5, SWZ_PHASE_INNER, 1, UINT32_MAX, 0xaa);
	add(240, 5, SWZ_PHASE_ISLAND, 2, 1, 0xaa); /* in function 1 */
	add(230, 2, SWZ_PHASE_SHORT, 2, 1, 0xaa);
	add(260, 5, SWZ_PHASE_JUMP, 3, UINT32_MAX, 0xaa);
	read_sites();
	ck_assert(is_free_at(223, true));
	ck_assert_uint_eq(sites.skipped, 1);
	for (unsigned i = 0; i < control.site_count; i++)
		ck_assert_int_eq(table[i].flags & SWZ_SITE_SKIPPED,
				 table[i].function == 3 ? 0 : SWZ_SITE_SKIPPED);
	write_all();
	ck_assert(differs_only(260, 5, 0xaa));
}
END_TEST

START_TEST(leads_threads_out_of_islands)
{
	const int32_t distance = 0x1234;

	add(400, 5, SWZ_PHASE_ISLAND, 2, UINT32_MAX, 0xe9);
	memcpy(table[0].after + 1, &distance, sizeof(distance));
	read_sites();
	/* not where the host's own code is still there, or again */
	thread = (struct swz_stopped){.registers.rip = (uintptr_t)code + 400};
	swz_sites_leave_islands(&sites, &stop);
	ck_assert(!thread.changed);
	write_all();
	swz_sites_leave_islands(&sites, &stop);
	ck_assert(thread.changed);
	ck_assert_uint_eq(thread.registers.rip, (uintptr_t)code + 405 + 0x1234);
	thread = (struct swz_stopped){.registers.rip = (uintptr_t)code + 405};
	swz_sites_leave_islands(&sites, &stop);
	ck_assert(!thread.changed);
}
END_TEST

START_TEST(leaves_what_lasts_to_the_library)
{
	add(4094, 5, SWZ_PHASE_JUMP, 0, UINT32_MAX, 0xaa);
	add(200, 5, SWZ_PHASE_INNER, 0, UINT32_MAX, 0xbb);
	add(300, 2, SWZ_PHASE_JUMP, 0, UINT32_MAX, 0xcc); /* the switch */
	table[0].flags = SWZ_SITE_LASTS | SWZ_SITE_STAYS;
	table[1].flags = SWZ_SITE_LASTS | SWZ_SITE_STAYS;
	read_sites();
	ck_assert_uint_eq(sites.count, 1);
	write_all();
	ck_assert(differs_only(300, 2, 0xcc));
	swz_sites_keep_written(&sites);
	ck_assert_uint_eq(sites.count, 1);
	restore_beginnings();
	ck_assert(differs_only(0, 0, 0));
}
END_TEST

START_TEST(leaves_what_stays_and_what_holds_a_call)
{
	add(100, 5, SWZ_PHASE_JUMP, 0, UINT32_MAX, 0xaa);
	add(200, 5, SWZ_PHASE_JUMP, 1, UINT32_MAX, 0xbb);
	add(300, 5, SWZ_PHASE_JUMP, 2, UINT32_MAX, 0xcc);
	add(300 - 20, 5, SWZ_PHASE_ISLAND, 3, 2, 0xdd);
	table[0].flags = SWZ_SITE_STAYS;
	table[1].flags = SWZ_SITE_SKIPPED;
	table[2].flags = SWZ_SITE_ONCE;
	read_sites();
	swz_sites_leave_what_stays(&sites);
	ck_assert_uint_eq(sites.count, 3);
	swz_sites_skip_again(&sites);
	ck_assert_uint_eq(swz_sites_left_out(&sites), 1);
	write_all();
	/* what had been skipped before is written; the call, and its guest
	 * are not */
	ck_assert(differs_only(200, 5, 0xbb));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("control/sites");
	TCase *writing = tcase_create("writing");
	TCase *threads = tcase_create("threads");

	tcase_add_checked_fixture(writing, begin, end);
	tcase_add_test(writing, writes_and_restores);
	tcase_add_test(writing, leaves_what_somebody_else_has_written);
	tcase_add_test(writing, keeps_inner_sites_while_frames_may_be_open);
	tcase_add_test(writing,
		       what_restoring_leaves_is_kept_and_restored_at_the_end);
	tcase_add_test(writing, goes_on_where_it_stopped);
	tcase_add_test(writing, a_page_that_is_gone_has_nothing_to_be_restored);
	tcase_add_test(writing, does_not_believe_the_table);
	tcase_add_test(writing, leaves_what_lasts_to_the_library);
	tcase_add_test(writing, leaves_what_stays_and_what_holds_a_call);
	suite_add_tcase(suite, writing);
	tcase_add_checked_fixture(threads, begin, end);
	tcase_add_test(threads, no_thread_may_be_behind_a_sites_beginning);
	tcase_add_test(threads, leaves_out_a_function_and_what_relies_on_it);
	tcase_add_test(threads, leads_threads_out_of_islands);
	suite_add_tcase(suite, threads);
	return run_suite(suite);
}
