/* Unwind information of trampolines, read back by the reader of .eh_frame, and
 * the exception tables that say which instructions stay at home. */

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "image/eh_frame.h"
#include "tests/unit/run_suite.h"
#include "thunks/trampoline.h"
#include "thunks/unwind_table.h"

enum { TRAMPOLINE = 0x40, HEAD = 18, REGION = 0x10000 };

static uint8_t scratch[4096], region[16384];
static uint8_t *const out = region + 0x1000;
static struct swz_unwind_table table;
static struct swz_fde function;
static struct swz_relocation relocation;
static struct swz_moved_code code;

/* def_cfa rsp+8; return address at CFA-8 */
static const uint8_t usual[] = {0x0c, 7, 8, 0x90, 1, 0, 0};

/* push %rbp; mov %rsp,%rbp; push %r15: 1, 3 and 2 bytes */
static const uint8_t framed[] = {0x41, 0x0e, 16, 0x86, 2,    0x43, 0x0d, 6,
				 0x42, 0x8f, 3,  0x50, 0x0c, 7,    8};

static void set_up(void)
{
	memset(scratch, 0, sizeof(scratch));
	memset(&function, 0, sizeof(function));
	memset(&relocation, 0, sizeof(relocation));
	swz_unwind_table_begin(&table, scratch, 4);
	function.start = 0x5000;
	function.size = 0x40;
	function.return_column = 16;
	function.code_align = 1;
	function.data_align = -8;
	function.cie_program = (struct swz_bytes){usual, sizeof(usual)};
	function.program = (struct swz_bytes){framed, sizeof(framed)};
	relocation.displaced_bytes = 6;
	relocation.insn_count = 3;
	relocation.insns[1].from = 1, relocation.insns[1].to = 1;
	relocation.insns[2].from = 4, relocation.insns[2].to = 4;
	relocation.jump_back = 6;
	relocation.written = 11;
	code = (struct swz_moved_code){.fde = &function,
				       .site = function.start,
				       .trampoline = TRAMPOLINE,
				       .bytes = HEAD + 11,
				       .head = HEAD,
				       .relocation = &relocation};
}

struct seen {
	unsigned count;
	struct swz_cfi_row rows[16];
};

static bool keep(void *context, const struct swz_cfi_row *row)
{
	struct seen *seen = context;

	ck_assert_uint_lt(seen->count, 16);
	seen->rows[seen->count++] = *row;
	return true;
}

/* The rows of the n-th entry, by way of the finished section. */
static struct seen rows_of(unsigned n)
{
	const uint8_t *header;
	struct swz_eh_frame section = {{out, 0}, REGION + 0x1000};
	struct swz_fde_iterator it;
	struct swz_fde fde;
	struct seen seen = {0};

	section.bytes.size = swz_unwind_table_finish(&table, out, region,
						     &header);
	ck_assert_ptr_nonnull(header);
	swz_fde_begin(&it, &section);
	do
		ck_assert(swz_fde_next(&it, &fde));
	while (n--);
	ck_assert_uint_eq(it.skipped, 0);
	ck_assert_uint_eq(fde.start, REGION + code.trampoline);
	ck_assert_int_eq(swz_cfi_rows(&fde, keep, &seen), SWZ_OK);
	ck_assert_uint_eq(seen.rows[seen.count - 1].end, fde.start + fde.size);
	for (unsigned i = 0; i < seen.count; i++) {
		ck_assert(seen.rows[i].return_at_cfa_minus_8);
		seen.rows[i].start -= fde.start;
		seen.rows[i].end -= fde.start;
	}
	return seen;
}

static void assert_row(const struct seen *seen, unsigned i, unsigned start,
		       enum swz_cfa_base base, int64_t offset)
{
	ck_assert_uint_lt(i, seen->count);
	ck_assert_uint_eq(seen->rows[i].start, start);
	ck_assert_int_eq(seen->rows[i].cfa_base, base);
	ck_assert_int_eq(seen->rows[i].cfa_offset, offset);
}

START_TEST(rows_move_with_their_instructions)
{
	struct seen seen;

	relocation.insns[2].to = 9; /* the second one has grown by 5 */
	relocation.jump_back = 11;
	code.bytes += 5;
	swz_unwind_table_add(&table, &code);
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 6);
	assert_row(&seen, 0, 0, SWZ_CFA_RSP, 8);
	assert_row(&seen, 1, 1, SWZ_CFA_RSP, 16); /* push %rax */
	assert_row(&seen, 2, HEAD, SWZ_CFA_RSP, 8);
	assert_row(&seen, 3, HEAD + 1, SWZ_CFA_RSP, 16);
	assert_row(&seen, 4, HEAD + 9, SWZ_CFA_RBP, 16);
	assert_row(&seen, 5, HEAD + 11, SWZ_CFA_RBP, 16); /* the jump back */
}
END_TEST

START_TEST(a_prefix_of_the_body_has_the_entrys_row)
{
	struct seen seen;

	code.prefix = 29;
	code.bytes += 29;
	swz_unwind_table_add(&table, &code);
	seen = rows_of(0);
	assert_row(&seen, 2, HEAD, SWZ_CFA_RSP, 8);
	assert_row(&seen, 3, HEAD + 29 + 1, SWZ_CFA_RSP, 16);
}
END_TEST

/* An instruction in the midst of a function: it has all that is said before. */
START_TEST(code_without_a_head_has_the_row_of_its_place)
{
	static const uint8_t before[] = {
		0x41, 0x0e, 16,   0x86, 2,    /* push %rbp */
		0x43, 0x0d, 6,                /* mov %rsp, %rbp */
		0x50, 0x0a, 0xc6, 0x0c, 7, 8, /* leave */
		0x41, 0x0b,                   /* ret; the row before */
	};
	struct seen seen;

	function.program = (struct swz_bytes){before, sizeof(before)};
	relocation = (struct swz_relocation){.displaced_bytes = 5,
					     .written = 40,
					     .insn_count = 1,
					     .jump_back = 35};
	code.head = code.prefix = 0;
	code.bytes = 40;
	code.site = function.start + 30;
	ck_assert(swz_unwind_table_add(&table, &code));
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 1);
	assert_row(&seen, 0, 0, SWZ_CFA_RBP, 16);
	ck_assert_uint_eq(seen.rows[0].end, 40);
}
END_TEST

START_TEST(endbr64_stays_at_home)
{
	static const uint8_t behind[] = {0x45, 0x0e, 16, 0x86, 2};
	struct seen seen;

	code.site = function.start + 4;
	function.program = (struct swz_bytes){behind, sizeof(behind)};
	swz_unwind_table_add(&table, &code);
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 4);
	assert_row(&seen, 3, HEAD + 1, SWZ_CFA_RSP, 16);
}
END_TEST

START_TEST(a_displaced_call_moves_rsp_in_steps)
{
	struct seen seen;

	/* push %rbp, then a call, the last */
	function.program = (struct swz_bytes){framed, 5};
	relocation.insn_count = 2;
	relocation.jump_back = 0;
	relocation.call_steps[0] = 7;
	relocation.call_steps[1] = 12;
	relocation.call_steps[2] = 17;
	code.bytes = HEAD + 22;
	swz_unwind_table_add(&table, &code);
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 7);
	assert_row(&seen, 3, HEAD + 1, SWZ_CFA_RSP, 16);
	assert_row(&seen, 4, HEAD + 7, SWZ_CFA_RSP, 24);
	assert_row(&seen, 5, HEAD + 12, SWZ_CFA_RSP, 16);
	assert_row(&seen, 6, HEAD + 17, SWZ_CFA_RSP, 24);
}
END_TEST

START_TEST(a_load_that_keeps_the_flags_moves_rsp_in_steps)
{
	/* sub $24, %rsp; the load; sub $8, %rsp */
	static const uint8_t deeper[] = {0x44, 0x0e, 32, 0x45, 0x44, 0x0e, 40};
	struct seen seen;

	function.program = (struct swz_bytes){deeper, sizeof(deeper)};
	relocation = (struct swz_relocation){
		.displaced_bytes = 13,
		.insn_count = 3,
		.insns = {{0, 0}, {4, 4}, {9, 70}},
		.jump_back = 74,
		.flag_step_count = 4,
		.flag_steps = {{14, 128}, {15, 136}, {62, 128}, {70, 0}},
		.written = 79,
	};
	code.bytes = HEAD + 79;
	ck_assert(swz_unwind_table_add(&table, &code));
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 9);
	assert_row(&seen, 3, HEAD + 4, SWZ_CFA_RSP, 32);
	assert_row(&seen, 4, HEAD + 14, SWZ_CFA_RSP, 160);
	assert_row(&seen, 5, HEAD + 15, SWZ_CFA_RSP, 168);
	assert_row(&seen, 6, HEAD + 62, SWZ_CFA_RSP, 160);
	assert_row(&seen, 7, HEAD + 70, SWZ_CFA_RSP, 32);
	assert_row(&seen, 8, HEAD + 74, SWZ_CFA_RSP, 40);
	ck_assert_uint_eq(seen.rows[8].end, HEAD + 79);

	/* by %rbp nothing moves */
	function.program = (struct swz_bytes){framed, sizeof(framed)};
	code.trampoline += 0x80;
	ck_assert(swz_unwind_table_add(&table, &code));
	seen = rows_of(1);
	ck_assert_uint_gt(seen.count, 3);
	for (unsigned n = 0; n < seen.count; n++)
		if (seen.rows[n].start > HEAD + 4)
			ck_assert_int_eq(seen.rows[n].cfa_offset, 16);
	ck_assert_int_eq(seen.rows[seen.count - 1].cfa_base, SWZ_CFA_RBP);
}
END_TEST

/* What is not understood is left out from the body on. */
static const struct {
	const char *what;
	uint8_t program[8];
	size_t size;
	int64_t data_align;
} strange[] = {
	{"set_loc", {0x01, 0, 0, 0, 0, 0, 0, 0}, 8, -8},
	{"an unknown operation", {0x3f}, 1, -8},
	{"cut off", {0x0c, 7}, 2, -8},
	{"another alignment", {0x41, 0x0e, 16}, 3, -4},
};

START_TEST(what_is_not_understood_has_no_rows)
{
	struct seen seen;

	function.program = (struct swz_bytes){strange[_i].program,
					      strange[_i].size};
	function.data_align = strange[_i].data_align;
	ck_assert(!swz_unwind_table_add(&table, &code));
	code.trampoline += 0x40;
	code.fde = NULL; /* likewise */
	ck_assert(!swz_unwind_table_add(&table, &code));
	seen = rows_of(1);
	ck_assert_uint_eq(seen.count, 2);
	ck_assert_uint_eq(seen.rows[1].end, HEAD);
	code.trampoline -= 0x40;
	seen = rows_of(0);
	ck_assert_uint_eq(seen.count, 2);
	ck_assert_uint_eq(seen.rows[1].end, HEAD);
}
END_TEST

/* Programs of any length: those that fit are taken over, the others left out,
 * and no entry is written beyond its room. */
START_TEST(what_does_not_fit_has_no_rows)
{
	static uint8_t program[256];
	const size_t room = SWZ_UNWIND_ENTRY_BYTES -
			    sizeof(struct swz_unwind_entry);
	size_t fitting = 0;

	for (size_t i = 0; i < sizeof(program); i += 2)
		program[i] = 0x2e; /* GNU_args_size, 0 */
	for (size_t size = 0; size <= sizeof(program); size += 2) {
		size_t used;

		swz_unwind_table_begin(&table, scratch, 4);
		used = table.used;
		memset(table.frame + used, 0xee, room + 64);
		function.program = (struct swz_bytes){program, size};
		if (swz_unwind_table_add(&table, &code))
			ck_assert_uint_eq(size, 2 * fitting++);
		ck_assert_uint_le(table.used - used, room);
		for (size_t i = room; i < room + 64; i++)
			ck_assert_uint_eq(table.frame[used + i], 0xee);
		ck_assert_uint_eq(rows_of(0).rows[1].start, 1);
	}
	/* length, CIE, start, size, augmentation; 3 bytes each for the head and
	 * where the body begins; the last 4 stay free */
	ck_assert_uint_eq(fitting - 1, (room - 4 - 17 - 6) / 2);
}
END_TEST

START_TEST(the_header_is_sorted_and_points_at_entries)
{
	const uint8_t *header;
	uint32_t count;

	for (int i = 0; i < 3; i++, code.trampoline += 0x40)
		swz_unwind_table_add(&table, &code);
	swz_unwind_table_finish(&table, out, region, &header);
	ck_assert_mem_eq(header, "\x01\x1b\x03\x3b", 4);
	memcpy(&count, header + 8, 4);
	ck_assert_uint_eq(count, 3);
	for (uint32_t i = 0; i < count; i++) {
		int32_t start, fde, from_fde;

		memcpy(&start, header + 12 + (size_t)i * 8, 4);
		memcpy(&fde, header + 16 + (size_t)i * 8, 4);
		memcpy(&from_fde, header + fde + 8, 4);
		ck_assert_ptr_eq(header + start,
				 region + TRAMPOLINE + (size_t)i * 0x40);
		ck_assert_ptr_eq(header + fde + 8 + from_fde, header + start);
	}
}
END_TEST

/* Entries of different lengths, into one table of some. */
static void add(struct swz_unwind_table *to, unsigned number, uint32_t at)
{
	code.trampoline = at;
	code.fde = number % 2 ? NULL : &function;
	swz_unwind_table_add(to, &code);
	code.fde = &function;
}

START_TEST(parts_come_to_what_one_table_comes_to)
{
	enum { ALL = 4, FIRST = 3, DOWN = 0x200 };
	static uint8_t whole[4096];
	struct swz_unwind_table parts[2];
	const uint8_t *header;
	ptrdiff_t header_at;
	size_t bytes;

	for (unsigned i = 0; i < ALL; i++)
		add(&table, i, TRAMPOLINE + i * 0x40);
	bytes = swz_unwind_table_finish(&table, out, region, &header);
	header_at = header - out;
	memcpy(whole, out, bytes);
	memset(out, 0xa5, bytes);
	memset(scratch, 0xa5, sizeof(scratch));
	swz_unwind_table_begin(&table, scratch, ALL);
	swz_unwind_table_divide(&table, &parts[0], 0, FIRST);
	swz_unwind_table_divide(&table, &parts[1], FIRST, ALL - FIRST);
	add(&parts[1], 3, TRAMPOLINE + 3 * 0x40 + DOWN);
	for (unsigned i = 0; i < FIRST; i++)
		add(&parts[0], i, TRAMPOLINE + i * 0x40);
	add(&parts[0], 0, 0); /* more than there is room for */
	swz_unwind_table_join(&table, &parts[0], 0);
	swz_unwind_table_join(&table, &parts[1], DOWN);
	ck_assert_uint_eq(table.count, ALL);
	ck_assert_uint_eq(swz_unwind_table_finish(&table, out, region, &header),
			  bytes);
	ck_assert_int_eq(header - out, header_at);
	ck_assert_mem_eq(out, whole, bytes);
}
END_TEST

/* Below and above the region: the header is in order all the same. */
START_TEST(islands_are_like_the_first_byte_of_a_function)
{
	static const int32_t places[] = {-0x4000, -0x3ff0, 0x5000};
	const uint8_t *header;
	int32_t last = INT32_MIN;
	unsigned found = 0;
	uint32_t count;

	swz_unwind_table_add(&table, &code);
	swz_unwind_table_add_islands(&table, places, 3, 5);
	swz_unwind_table_finish(&table, out, region, &header);
	memcpy(&count, header + 8, 4);
	ck_assert_uint_eq(count, 4);
	for (uint32_t i = 0; i < count; i++) {
		struct swz_eh_frame section = {{out, (size_t)(header - out)},
					       REGION + 0x1000};
		struct swz_fde_iterator it;
		struct swz_fde fde;
		struct seen seen = {0};
		int32_t start;
		uint64_t entry;

		memcpy(&start, header + 12 + (size_t)i * 8, 4);
		ck_assert_int_gt(start, last);
		last = start;
		entry = (uint64_t)((int64_t)REGION + (header - region) + start);
		swz_fde_begin(&it, &section);
		do
			ck_assert(swz_fde_next(&it, &fde));
		while (fde.start != entry);
		if (fde.size != 5)
			continue;
		ck_assert_uint_lt(found, 3);
		if (found < 3) /* for those who do not know the above */
			ck_assert_uint_eq(entry,
					  (uint64_t)(REGION + places[found]));
		found++;
		ck_assert_int_eq(swz_cfi_rows(&fde, keep, &seen), SWZ_OK);
		ck_assert_uint_eq(seen.count, 1);
		ck_assert_int_eq(seen.rows[0].cfa_base, SWZ_CFA_RSP);
		ck_assert_int_eq(seen.rows[0].cfa_offset, 8);
		ck_assert(seen.rows[0].return_at_cfa_minus_8);
	}
	ck_assert_uint_eq(found, 3);
}
END_TEST

START_TEST(an_island_is_found_where_it_lies)
{
	static const int32_t islands[] = {-100, -95, 500};
	static uint8_t places[1000];
	uint8_t *start = places + 200;
	struct swz_region sealed = {.start = start,
				    .bytes = 300,
				    .unwind_header = start + 250,
				    .islands = islands,
				    .island_count = 3};
	struct swz_region found;

	ck_assert(swz_region_add(&sealed));
	ck_assert(!swz_region_at((uintptr_t)start - 101, &found));
	ck_assert(!swz_region_at((uintptr_t)start - 90, &found));
	ck_assert(!swz_region_at((uintptr_t)start + 499, &found));
	ck_assert(swz_region_at((uintptr_t)start - 100, &found));
	ck_assert_ptr_eq(found.start, start - 100);
	/* a displaced call of the neighbour's may have ended in the others */
	ck_assert_uint_eq(found.bytes, 1);
	for (unsigned i = 1; i < 5; i++) {
		ck_assert(!swz_region_at((uintptr_t)start - 100 + i, &found));
		ck_assert(!swz_region_at((uintptr_t)start + 500 + i, &found));
	}
	ck_assert(swz_region_at((uintptr_t)start - 100, &found));
	ck_assert_ptr_eq(found.unwind_header, start + 250);
	ck_assert(swz_region_at((uintptr_t)start - 95, &found));
	ck_assert_ptr_eq(found.start, start - 95);
	ck_assert(swz_region_at((uintptr_t)start + 500, &found));
	ck_assert(swz_region_at((uintptr_t)start + 299, &found));
	ck_assert_ptr_eq(found.start, start);
	swz_region_remove(start);
	ck_assert(!swz_region_at((uintptr_t)start + 500, &found));
	ck_assert(!swz_region_at((uintptr_t)start, &found));
}
END_TEST

/* Two regions take turns in the place that the first one had: what looks for an
 * address is told of one of them, never of half of one with half of the other.
 */
static uint8_t turns[2][4096];
static atomic_bool turning;

static void *take_turns(void *argument)
{
	const struct swz_region small = {
		.start = turns[0], .bytes = 16, .unwind_header = turns[0] + 1};
	const struct swz_region large = {.start = turns[1],
					 .bytes = sizeof(turns[1]),
					 .unwind_header = turns[1] + 1};

	for (unsigned i = 0; atomic_load(&turning); i++) {
		const struct swz_region *r = i % 2 ? &large : &small;

		if (swz_region_add(r))
			swz_region_remove(r->start);
	}
	return argument;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

START_TEST(what_is_found_is_one_region)
{
	const double end = seconds() + 0.7;
	struct swz_region found;
	pthread_t thread;

	atomic_store(&turning, true);
	ck_assert_int_eq(pthread_create(&thread, NULL, take_turns, NULL), 0);
	for (unsigned i = 0; i % 4096 || seconds() < end; i++) {
		size_t bytes = sizeof(turns[1]);
		unsigned at = 0;

		if (!swz_region_next(&at, &found))
			continue;
		if (found.start == turns[0])
			bytes = 16;
		if (found.bytes != bytes ||
		    found.unwind_header != found.start + 1)
			ck_abort_msg("half of one, half of another");
	}
	atomic_store(&turning, false);
	pthread_join(thread, NULL);
}
END_TEST

START_TEST(a_place_is_used_again)
{
	struct swz_region r = {.bytes = 1, .unwind_header = turns[0]};
	struct swz_region found;
	unsigned at = 0;

	for (unsigned i = 0; i < 3; i++) {
		r.start = turns[0] + i;
		ck_assert(swz_region_add(&r));
	}
	swz_region_remove(turns[0] + 1);
	r.start = turns[1];
	ck_assert(swz_region_add(&r));
	ck_assert(swz_region_next(&at, &found) && swz_region_next(&at, &found));
	ck_assert_ptr_eq(found.start, turns[1]);
	for (unsigned i = 0; i < 3; i++)
		swz_region_remove(turns[0] + i);
	ck_assert(swz_region_next(&at, &found) == false);
	at = 0;
	ck_assert(swz_region_next(&at, &found));
	swz_region_remove(turns[1]);
	at = 0;
	ck_assert(!swz_region_next(&at, &found));
}
END_TEST

START_TEST(no_memory_is_no_table)
{
	const uint8_t *header = out;

	swz_unwind_table_begin(&table, NULL, 4);
	swz_unwind_table_add(&table, &code);
	ck_assert_uint_eq(swz_unwind_table_finish(&table, out, out, &header),
			  0);
	ck_assert_ptr_null(header);
}
END_TEST

/* No @LPStart, no types, uleb128; [4, 10) lands at 0x20, [10, 12) goes on. */
static const uint8_t exceptions[] = {0xff, 0xff, 0x01, 8, 4, 6,
				     0x20, 0,    10,   2, 0, 0};

START_TEST(exception_tables_say_where_they_land)
{
	struct swz_bytes lsda = {exceptions, sizeof(exceptions)};

	ck_assert(!swz_lsda_lands(lsda, 0, 4));
	ck_assert(swz_lsda_lands(lsda, 0, 5));
	ck_assert(swz_lsda_lands(lsda, 9, 1));
	ck_assert(!swz_lsda_lands(lsda, 10, 5));
	for (lsda.size = 0; lsda.size < sizeof(exceptions); lsda.size++)
		ck_assert(swz_lsda_lands(lsda, 0, 4)); /* in doubt */
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwind_table");
	TCase *tcase = tcase_create("unwind_table");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, rows_move_with_their_instructions);
	tcase_add_test(tcase, a_prefix_of_the_body_has_the_entrys_row);
	tcase_add_test(tcase, code_without_a_head_has_the_row_of_its_place);
	tcase_add_test(tcase, endbr64_stays_at_home);
	tcase_add_test(tcase, a_displaced_call_moves_rsp_in_steps);
	tcase_add_test(tcase, a_load_that_keeps_the_flags_moves_rsp_in_steps);
	tcase_add_loop_test(tcase, what_is_not_understood_has_no_rows, 0,
			    (int)(sizeof(strange) / sizeof(*strange)));
	tcase_add_test(tcase, what_does_not_fit_has_no_rows);
	tcase_add_test(tcase, the_header_is_sorted_and_points_at_entries);
	tcase_add_test(tcase, parts_come_to_what_one_table_comes_to);
	tcase_add_test(tcase, islands_are_like_the_first_byte_of_a_function);
	tcase_add_test(tcase, an_island_is_found_where_it_lies);
	tcase_add_test(tcase, what_is_found_is_one_region);
	tcase_add_test(tcase, a_place_is_used_again);
	tcase_add_test(tcase, no_memory_is_no_table);
	tcase_add_test(tcase, exception_tables_say_where_they_land);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
