/* The reader of the plan cache's files: what it takes is sound, and what was
 * changed is not taken. */

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "swizzle/format.h"
#include "tests/unit/run_suite.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

enum { FUNCTIONS = 4, ENTRIES = 3, FRAME = 96, TRAMPOLINES = 192 };

static union {
	struct swz_saved_header header;
	uint64_t words[512];
	uint8_t bytes[4096];
} file;

static struct swz_saved_key key;
static struct swz_saved_plan plan;

/* One patched function, one with an island, one that is refused, one that is
 * wrapped. */
static const struct swz_saved_function functions[FUNCTIONS] = {
	{.start = 0x1000, .size = 32, .trampoline = 64, .name = 5},
	{.start = 0x1040, .size = 3, .trampoline = 80, .island = 10},
	{.start = 0x1050, .size = 16, .status = SWZ_REFUSE_OVERLAPS, .site = 4},
	{.start = 0x1070,
	 .size = 16,
	 .status = SWZ_REFUSE_WALKS_STACK,
	 .trampoline = 128 + SWZ_TRAMPOLINE_BODY},
};
static const struct swz_unwind_entry entries[ENTRIES] = {
	{64, 12}, {80, 48}, {128, 72}};
static const struct swz_saved_wrapper wrappers[1] = {{.function = 3}};
static const uint32_t relative[2] = {68, 108}, absolute[1] = {136};
static const int32_t islands[1] = {-0x2000};
static const struct swz_saved_inner inners[2] = {{0x1010, 112, 0},
						 {0x1015, 116, 1}};

static void *part(const void *at)
{
	return (void *)(uintptr_t)at;
}

static void set_up(void)
{
	struct swz_saved_header *h = &file.header;

	memset(&file, 0, sizeof(file));
	memset(&key, 0, sizeof(key));
	memcpy(key.build_id, "module", 6);
	memcpy(key.ours, "ourselves", 9);
	key.file_bytes = 8192;
	key.text_count = 1;
	key.texts[0].start = 0x1000;
	key.texts[0].end = 0x1080;
	memcpy(h->magic, SWZ_SAVED_MAGIC, sizeof(h->magic));
	h->version = SWZ_SAVED_VERSION;
	h->key = key;
	h->functions = FUNCTIONS;
	h->entries = ENTRIES;
	h->wrappers = 1;
	h->relative = 2;
	h->absolute = 1;
	h->islands = 1;
	h->inners = 2;
	h->frame_bytes = FRAME;
	h->trampoline_bytes = TRAMPOLINES;
	h->bytes = swz_saved_plan_bytes(h);
	swz_saved_plan_parts(h, file.bytes + swz_saved_plan_head_bytes(h),
			     &plan);
	memcpy(part(plan.functions), functions, sizeof(functions));
	memcpy(part(plan.entries), entries, sizeof(entries));
	memcpy(part(plan.wrappers), wrappers, sizeof(wrappers));
	memcpy(part(plan.relative), relative, sizeof(relative));
	memcpy(part(plan.absolute), absolute, sizeof(absolute));
	memcpy(part(plan.islands), islands, sizeof(islands));
	memcpy(part(plan.inners), inners, sizeof(inners));
	swz_saved_plan_finish(h, &plan);
}

/* Header and tail in blocks of their own size, so that reading beyond them is
 * seen. */
static enum swz_status open_parts(const struct swz_saved_header *h)
{
	uint64_t head = swz_saved_plan_head_bytes(h);
	uint64_t tail = h->bytes - head;
	uint8_t *blocks[2] = {malloc(head), malloc(tail + 1)};
	enum swz_status status;

	memcpy(blocks[0], file.bytes, head);
	memcpy(blocks[1], file.bytes + head, tail);
	status = swz_saved_plan_open(
		&plan, (const struct swz_saved_header *)(void *)blocks[0],
		blocks[1]);
	free(blocks[0]);
	free(blocks[1]);
	return status;
}

static enum swz_status open_first(uint64_t bytes)
{
	enum swz_status status = swz_saved_plan_check(&file.header, bytes,
						      &key);

	return status == SWZ_OK ? open_parts(&file.header) : status;
}

static enum swz_status open_all(void)
{
	return open_first(file.header.bytes);
}

START_TEST(a_whole_file_is_taken)
{
	ck_assert_int_eq(open_all(), SWZ_OK);
}
END_TEST

START_TEST(a_file_cut_anywhere_is_not)
{
	for (uint64_t bytes = 0; bytes < file.header.bytes; bytes++)
		ck_assert_int_eq(open_first(bytes), SWZ_E_FORMAT);
}
END_TEST

START_TEST(a_longer_file_is_not)
{
	ck_assert_int_eq(open_first(file.header.bytes + 1), SWZ_E_FORMAT);
}
END_TEST

START_TEST(no_bit_may_change)
{
	uint64_t bytes = file.header.bytes;

	for (uint64_t i = 0; i < bytes; i++)
		for (unsigned bit = 0; bit < 8; bit++) {
			file.bytes[i] ^= (uint8_t)(1u << bit);
			ck_assert_int_ne(open_first(bytes), SWZ_OK);
			file.bytes[i] ^= (uint8_t)(1u << bit);
		}
	ck_assert_int_eq(open_all(), SWZ_OK);
}
END_TEST

START_TEST(a_plan_for_another_key_is_told_from_a_damaged_one)
{
	uint8_t *byte = (uint8_t *)&key;

	for (size_t i = 0; i < sizeof(key); i++) {
		byte[i] ^= 1;
		ck_assert_int_eq(open_all(), SWZ_E_NOTFOUND);
		byte[i] ^= 1;
	}
}
END_TEST

/* The checksums are right, what they say is not. */
static void assert_refused(void)
{
	struct swz_saved_header *h = &file.header;

	swz_saved_plan_parts(h, file.bytes + swz_saved_plan_head_bytes(h),
			     &plan);
	swz_saved_plan_finish(h, &plan);
	ck_assert_int_eq(open_all(), SWZ_E_FORMAT);
	set_up();
}

START_TEST(functions_lie_in_the_text_in_order)
{
	struct swz_saved_function *f = part(plan.functions);

	f[0].start = 0xfff;
	assert_refused();
	f[3].start = 0x1080;
	assert_refused();
	f[3].size = 17;
	assert_refused();
	f[3].size = UINT32_MAX;
	assert_refused();
	f[1].start = 0x1000;
	assert_refused();
	f[2].status = SWZ_REFUSAL_COUNT;
	assert_refused();
	f[0].name = 8192;
	assert_refused();
}
END_TEST

START_TEST(jumps_are_written_within_the_text_only)
{
	struct swz_saved_function *f = part(plan.functions);

	f[0].start = 0x107c; /* 5 bytes to be written, 4 there */
	assert_refused();
	f[1].island = 0x3c;
	assert_refused();
	f[1].island = -0x41;
	assert_refused();
	f[1].island = 1; /* into the short jump itself */
	assert_refused();
	f[1].island = -4;
	assert_refused();
	f[1].island = INT16_MAX;
	assert_refused();
	f[0].site = 255;
	assert_refused();
}
END_TEST

START_TEST(what_changes_behind_sites_is_written_there_too)
{
	struct swz_saved_inner *l = part(plan.inners);

	l[1].at = 0x107c; /* 5 bytes to be written, 4 there */
	assert_refused();
	l[0].at = 0xfff;
	assert_refused();
	l[1].at = 0x1014; /* into the other */
	assert_refused();
	l[1].at = 0x1010;
	assert_refused();
	l[1].at = 0x1004;
	assert_refused();
	l[1].at = UINT32_MAX;
	assert_refused();
	l[0].copy = 16; /* what trampolines refer to */
	assert_refused();
	l[1].copy = TRAMPOLINES;
	assert_refused();
	l[1].copy = UINT32_MAX;
	assert_refused();
	l[1].keeps_opcode = 2;
	assert_refused();
}
END_TEST

START_TEST(what_is_patched_has_a_trampoline_and_nothing_else_has)
{
	struct swz_saved_function *f = part(plan.functions);

	f[0].trampoline = 0;
	assert_refused();
	f[2].trampoline = 64;
	assert_refused();
	f[0].trampoline = 33;
	assert_refused();
	f[0].trampoline = 16; /* what trampolines refer to */
	assert_refused();
	f[0].trampoline = TRAMPOLINES - 16;
	assert_refused();
	f[0].trampoline = 0x80000000;
	assert_refused();
	f[3].trampoline = 32;
	assert_refused();
}
END_TEST

START_TEST(what_reads_its_return_address_may_be_wrapped)
{
	struct swz_saved_function *f = part(plan.functions);

	f[2].status = SWZ_REFUSE_RETURNS_TWICE;
	f[3].status = SWZ_REFUSE_READS_RETURN_SLOT;
	swz_saved_plan_finish(&file.header, &plan);
	ck_assert_int_eq(open_all(), SWZ_OK);
	set_up();
	f[2].status = SWZ_REFUSE_READS_RETURN_SLOT;
	f[2].trampoline = 64 + SWZ_TRAMPOLINE_BODY; /* without a wrapper */
	assert_refused();
}
END_TEST

START_TEST(what_is_written_to_lies_in_the_trampolines)
{
	uint32_t *r = part(plan.relative), *a = part(plan.absolute);
	struct swz_saved_wrapper *w = part(plan.wrappers);

	r[1] = TRAMPOLINES - 3;
	assert_refused();
	r[0] = 8; /* the hook's address */
	assert_refused();
	r[0] = 28; /* the end of the arena */
	assert_refused();
	r[0] = UINT32_MAX;
	assert_refused();
	a[0] = TRAMPOLINES - 7;
	assert_refused();
	w[0].function = FUNCTIONS;
	assert_refused();
	w[0].function = 0; /* is not wrapped */
	assert_refused();
}
END_TEST

START_TEST(unwind_entries_lie_in_their_frame)
{
	struct swz_unwind_entry *e = part(plan.entries);

	e[2].fde = FRAME - 23;
	assert_refused();
	e[2].fde = UINT32_MAX;
	assert_refused();
	e[1].start = 32;
	assert_refused();
	e[2].start = TRAMPOLINES;
	assert_refused();
	file.header.trampoline_bytes -= 8;
	file.header.frame_bytes += 8;
	assert_refused();
}
END_TEST

START_TEST(counts_that_do_not_fit_in_are_refused)
{
	struct swz_saved_header *h = &file.header;
	uint32_t *counts[] = {&h->functions, &h->entries,  &h->wrappers,
			      &h->relative,  &h->absolute, &h->islands,
			      &h->inners};

	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		uint64_t bytes = h->bytes;

		++*counts[i];
		assert_refused();
		*counts[i] = UINT32_MAX;
		h->bytes = bytes;
		assert_refused();
	}
	h->frame_bytes = UINT64_MAX - 100;
	assert_refused();
	h->trampoline_bytes = UINT64_MAX;
	assert_refused();
	h->key.text_count = key.text_count = SWZ_SAVED_MOST_TEXTS + 1;
	assert_refused();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("saved_plan");
	TCase *tcase = tcase_create("saved_plan");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, a_whole_file_is_taken);
	tcase_add_test(tcase, a_file_cut_anywhere_is_not);
	tcase_add_test(tcase, a_longer_file_is_not);
	tcase_add_test(tcase, no_bit_may_change);
	tcase_add_test(tcase,
		       a_plan_for_another_key_is_told_from_a_damaged_one);
	tcase_add_test(tcase, functions_lie_in_the_text_in_order);
	tcase_add_test(tcase, jumps_are_written_within_the_text_only);
	tcase_add_test(tcase, what_changes_behind_sites_is_written_there_too);
	tcase_add_test(tcase,
		       what_is_patched_has_a_trampoline_and_nothing_else_has);
	tcase_add_test(tcase, what_reads_its_return_address_may_be_wrapped);
	tcase_add_test(tcase, what_is_written_to_lies_in_the_trampolines);
	tcase_add_test(tcase, unwind_entries_lie_in_their_frame);
	tcase_add_test(tcase, counts_that_do_not_fit_in_are_refused);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
