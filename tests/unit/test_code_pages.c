/* Code that is replaced at once, in pages of a file that this process executes.
 */

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/support/live_sites.h"
#include "tests/unit/run_suite.h"

enum { PAGES = 4, BYTES = PAGES * 4096, FIRST = 2 * 4096 - 2 };

static uint8_t *code;
static uint8_t of_file[BYTES];
static char path[] = "/tmp/test_code_pages.XXXXXX";
static int file;

static void map(int protection, int flags)
{
	memcpy(path + sizeof(path) - 7, "XXXXXX", 6);
	file = mkstemp(path);
	ck_assert_int_ge(file, 0);
	ck_assert_int_eq(write(file, of_file, BYTES), BYTES);
	code = mmap(NULL, BYTES, protection, flags, file, 0);
	ck_assert_ptr_ne(code, MAP_FAILED);
}

static void begin(void)
{
	for (unsigned i = 0; i < BYTES; i++)
		of_file[i] = (uint8_t)(i * 7 + i / 256);
	map(PROT_READ | PROT_EXEC, MAP_PRIVATE);
}

static void end(void)
{
	munmap(code, BYTES);
	close(file);
	unlink(path);
}

/* As a debugger writes. */
static void poke(unsigned at, const uint8_t *bytes, unsigned length)
{
	int memory = open("/proc/self/mem", O_RDWR);

	ck_assert_int_eq(
		pwrite(memory, bytes, length, (off_t)(uintptr_t)code + at),
		(int)length);
	close(memory);
}

/* The name of what is mapped at an address; "" for none. */
static void name_at(const uint8_t *address, char name[256])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned long low, high;

	name[0] = '\0';
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx", &low, &high) == 2 &&
		    (uintptr_t)address >= low && (uintptr_t)address < high)
			sscanf(line, "%*s %*s %*s %*s %*s %255s", name);
	fclose(maps);
}

static const uint8_t jump[] = {0xe9, 1, 2, 3, 4};

START_TEST(restores_the_pages_of_the_file)
{
	char name[256];

	poke(FIRST, jump, sizeof(jump));
	ck_assert_int_eq(memcmp(code + FIRST, jump, sizeof(jump)), 0);
	ck_assert(swz_code_replace((uintptr_t)code + FIRST, of_file + FIRST,
				   sizeof(jump)));
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
	name_at(code + FIRST, name);
	ck_assert_str_eq(name, path);
	/* nothing of it is a copy: what the file gets, the pages have */
	ck_assert_int_eq(pwrite(file, jump, sizeof(jump), FIRST),
			 (int)sizeof(jump));
	ck_assert_int_eq(memcmp(code + FIRST, jump, sizeof(jump)), 0);
}
END_TEST

START_TEST(keeps_what_else_was_written)
{
	const uint8_t other = (uint8_t)~of_file[FIRST + 100];

	poke(FIRST, jump, sizeof(jump));
	poke(FIRST + 100, &other, 1);
	ck_assert(swz_code_replace((uintptr_t)code + FIRST, of_file + FIRST,
				   sizeof(jump)));
	of_file[FIRST + 100] = other;
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
}
END_TEST

START_TEST(needs_no_file)
{
	unlink(path);
	ck_assert(
		swz_code_replace((uintptr_t)code + FIRST, jump, sizeof(jump)));
	memcpy(of_file + FIRST, jump, sizeof(jump));
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
	/* the neighbours lie in pages of two mappings by now */
	ck_assert(swz_code_replace((uintptr_t)code + FIRST + 4096, jump,
				   sizeof(jump)));
	memcpy(of_file + FIRST + 4096, jump, sizeof(jump));
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
}
END_TEST

START_TEST(replaces_in_one_page)
{
	ck_assert(swz_code_replace((uintptr_t)code + 5000, jump, sizeof(jump)));
	memcpy(of_file + 5000, jump, sizeof(jump));
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
}
END_TEST

START_TEST(leaves_what_is_no_private_code)
{
	static const int protections[] = {PROT_READ, PROT_READ | PROT_WRITE,
					  PROT_READ | PROT_WRITE | PROT_EXEC};

	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(
			mprotect(code + 2 * 4096, 4096, protections[i]), 0);
		ck_assert(!swz_code_replace((uintptr_t)code + FIRST, jump,
					    sizeof(jump)));
		ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
	}
	munmap(code + 2 * 4096, 4096);
	ck_assert(
		!swz_code_replace((uintptr_t)code + FIRST, jump, sizeof(jump)));
	ck_assert_int_eq(memcmp(code, of_file, 2 * 4096), 0);
	end();
	map(PROT_READ | PROT_EXEC, MAP_SHARED);
	ck_assert(
		!swz_code_replace((uintptr_t)code + FIRST, jump, sizeof(jump)));
	ck_assert_int_eq(memcmp(code, of_file, BYTES), 0);
}
END_TEST

/* ----------------------------------------------------------------- threads */

/* Two jumps, of which any mixture leads to an instruction that ends it all. */
enum { ONE = 0x0123, OTHER = 3 * 4096 + 0x0456, ROUNDS = 100 };

static atomic_bool over;
static atomic_long calls[3];

static void put(unsigned at, const void *bytes, size_t length)
{
	memcpy(of_file + at, bytes, length);
}

static void make_jump(uint8_t bytes[5], unsigned to)
{
	int32_t distance = (int32_t)to - (FIRST + 5);

	bytes[0] = 0xe9;
	memcpy(bytes + 1, &distance, sizeof(distance));
}

static void *call(void *unused)
{
	int (*function)(void);
	uint8_t *at = code + FIRST;

	memcpy(&function, &at, sizeof(function));
	while (!over)
		calls[function()]++;
	return unused;
}

START_TEST(no_thread_executes_a_part_of_both)
{
	static const uint8_t return_1[] = {0xb8, 1, 0, 0, 0, 0xc3};
	static const uint8_t return_2[] = {0xb8, 2, 0, 0, 0, 0xc3};
	uint8_t jumps[2][5];
	pthread_t threads[2];

	end();
	memset(of_file, 0xf4, sizeof(of_file)); /* hlt */
	make_jump(jumps[0], ONE);
	make_jump(jumps[1], OTHER);
	ck_assert_int_ne(jumps[0][1], jumps[1][1]);
	ck_assert_int_ne(jumps[0][2], jumps[1][2]);
	ck_assert_int_ne(jumps[0][4], jumps[1][4]);
	put(ONE, return_1, sizeof(return_1));
	put(OTHER, return_2, sizeof(return_2));
	put(FIRST, jumps[0], 5);
	map(PROT_READ | PROT_EXEC, MAP_PRIVATE);
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, call, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		long before = calls[1 + i % 2];

		ck_assert(swz_code_replace((uintptr_t)code + FIRST,
					   jumps[i % 2], 5));
		while (calls[1 + i % 2] == before)
			sched_yield();
	}
	over = true;
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(calls[0], 0);
	ck_assert_int_ge(calls[1], ROUNDS / 2);
	ck_assert_int_ge(calls[2], ROUNDS / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("runtime/support/code_pages");
	TCase *pages = tcase_create("pages");

	tcase_set_timeout(pages, 120);
	tcase_add_checked_fixture(pages, begin, end);
	tcase_add_test(pages, restores_the_pages_of_the_file);
	tcase_add_test(pages, keeps_what_else_was_written);
	tcase_add_test(pages, needs_no_file);
	tcase_add_test(pages, replaces_in_one_page);
	tcase_add_test(pages, leaves_what_is_no_private_code);
	tcase_add_test(pages, no_thread_executes_a_part_of_both);
	suite_add_tcase(suite, pages);
	return run_suite(suite);
}
