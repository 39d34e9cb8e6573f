/* The search for branches to marked bytes, which looks at eight bytes at once,
 * finds what looking at each byte finds: in bytes that are half random and half
 * branches to places near and far, with marks here and there. */

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "runtime/discovery/scan_bytes.h"
#include "runtime/support/scratch_memory.h"
#include "tests/unit/run_suite.h"

enum { MOST_PARTS = 5 };

static void *taken[3 + 5 * MOST_PARTS]; /* by one scan */
static size_t taken_count;

/* Not src/runtime/support/scratch_memory.c: a sanitizer sees what is read
 * behind the end. */
void *swz_scratch_alloc_brief(size_t bytes)
{
	void *memory = malloc(bytes);

	ck_assert_uint_lt(taken_count, sizeof(taken) / sizeof(*taken));
	taken[taken_count++] = memory;
	if (memory)
		memset(memory, 0xa5, bytes);
	return memory;
}

static void give_back(void)
{
	while (taken_count)
		free(taken[--taken_count]);
}

enum { MOST = 40000 };

struct found {
	uint8_t branches[MOST];
	uint8_t loads[MOST];
};

static const struct swz_byte_part *searched;

static uint8_t *code; /* behind its end nothing can be read */
static uint8_t marks[MOST], starts[MOST]; /* a byte for each bit */
static uint64_t random_state;

static void make_room(size_t size)
{
	enum { PAGE = 4096, ROOM = (MOST + PAGE - 1) / PAGE * PAGE };
	static uint8_t *room;

	if (!room) {
		room = mmap(NULL, ROOM + PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		ck_assert(room != MAP_FAILED);
		ck_assert_int_eq(mprotect(room + ROOM, PAGE, PROT_NONE), 0);
	}
	code = room + ROOM - size;
}

static uint32_t any(uint32_t below)
{
	random_state = random_state * 6364136223846793005u + 1;
	return (uint32_t)(random_state >> 33) % below;
}

static void put32(size_t at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(code + at, &v, sizeof(v));
}

static int32_t read32(size_t at)
{
	int32_t v;

	memcpy(&v, code + at, sizeof(v));
	return v;
}

/* What is just not cut off. */
static void fill_end(size_t size)
{
	static const uint8_t jump[][2] = {
		{0xe8, 0}, {0xe9, 0}, {0x0f, 0x84}, {0xff, 0x25}, {0xeb, 0xf0}};
	static const uint8_t bytes[] = {5, 5, 6, 6, 2};
	unsigned which = any(sizeof(bytes));
	size_t at = size - bytes[which];

	if (size < 16)
		return;
	if (bytes[which] > 4)
		put32(size - 4, -(int64_t)any((uint32_t)size));
	memcpy(code + at, jump[which], bytes[which] == 5 ? 1 : 2);
}

static void fill(size_t size)
{
	static const uint8_t opcodes[] = {0x70, 0x7f, 0xeb, 0xe0, 0xe3, 0xe4,
					  0xe8, 0xe9, 0xea, 0xff, 0x8d, 0x6f};

	for (size_t i = 0; i < size; i++)
		code[i] = (uint8_t)any(256);
	for (size_t i = 0; i + 8 < size; i += 1 + any(12)) {
		/* some lead out of the code */
		int64_t to = (int64_t)any((uint32_t)size + 64) - 32;

		code[i] = opcodes[any(sizeof(opcodes))];
		if ((code[i] & 0xfe) == 0xe8) {
			put32(i + 1, to - (int64_t)i - 5);
		} else if (code[i] == 0xff && any(2)) {
			code[i] = 0x0f;
			code[i + 1] = (uint8_t)(0x80 + any(20));
			put32(i + 2, to - (int64_t)i - 6);
		} else if (code[i] == 0xff) {
			code[i + 1] = 0x25;
		} else if (code[i] == 0x8d) {
			code[i] = any(2) ? 0x48 : 0x4c;
			code[i + 1] = 0x8d;
			code[i + 2] = (uint8_t)(0x05 + any(9) * 8);
		}
	}
	fill_end(size);
}

static void set_marks(size_t size, uint32_t distance)
{
	memset(marks, 0, sizeof(marks));
	memset(starts, 0, sizeof(starts));
	for (size_t i = any(distance); i < size; i += 1 + any(distance)) {
		starts[i] = 1;
		for (size_t k = i + 1; k < i + 5 && k < size; k++)
			marks[k] = (uint8_t)any(2);
	}
}

static void copy_marks(struct swz_byte_scan *s)
{
	for (size_t i = 0; i < s->size; i++) {
		s->marks[i / 8] |= (uint8_t)(marks[i] << i % 8);
		s->starts[i / 8] |= (uint8_t)(starts[i] << i % 8);
	}
}

/* Whether a branch begins here that is to be found. */
static bool matters(const struct swz_byte_scan *s, size_t i)
{
	size_t left = s->size - i;
	bool is_call = code[i] == 0xe8;
	int64_t to;

	if (code[i] == 0xff)
		return s->stores && left >= 6 && code[i + 1] == 0x25;
	if (left >= 2 &&
	    ((code[i] >= 0x70 && code[i] <= 0x7f) || code[i] == 0xeb ||
	     (code[i] >= 0xe0 && code[i] <= 0xe3)))
		to = (int64_t)i + 2 + (int8_t)code[i + 1];
	else if (left >= 5 && (code[i] == 0xe8 || code[i] == 0xe9))
		to = (int64_t)i + 5 + read32(i + 1);
	else if (left >= 6 && code[i] == 0x0f && code[i + 1] >= 0x80 &&
		 code[i + 1] <= 0x8f)
		to = (int64_t)i + 6 + read32(i + 2);
	else
		return false;
	if (to < 0 || to >= (int64_t)s->size)
		return s->leads_on && (to < 0 || to >= MOST);
	return marks[to] || (!is_call && starts[to]);
}

static bool is_load(const struct swz_byte_scan *s, size_t i)
{
	return i + 7 <= s->size && (code[i] == 0x48 || code[i] == 0x4c) &&
	       code[i + 1] == 0x8d && (code[i + 2] & 0xc7) == 5;
}

static void expect_in_part(uint64_t at)
{
	ck_assert_uint_ge(at, searched->begin);
	ck_assert_uint_lt(at, searched->end);
}

static void look(void *context, uint64_t at)
{
	expect_in_part(at);
	((struct found *)context)->branches[at] = 1;
}

/* Every other one is wanted again. */
static bool look_at_load(void *context, uint64_t at)
{
	expect_in_part(at);
	((struct found *)context)->loads[at] = 1;
	return at % 2;
}

static bool leads_on(void *context, uint64_t to)
{
	(void)context;
	return to >= MOST; /* below 0, too */
}

static void check_search(struct swz_byte_scan *s, bool first)
{
	static struct found found;

	memset(&found, 0, sizeof(found));
	swz_byte_scan_clear(s);
	copy_marks(s);
	swz_byte_scan_prepare(s);
	for (unsigned i = s->part_count; i--;) {
		searched = &s->parts[i];
		swz_byte_scan_part(s, &s->parts[i], &found);
	}
	for (size_t i = 0; i < s->size; i++) {
		bool load = is_load(s, i);

		if (matters(s, i) && !found.branches[i])
			ck_abort_msg("no branch at %zu of %zu", i,
				     (size_t)s->size);
		if (load && (first || i % 2) && !found.loads[i])
			ck_abort_msg("no load at %zu", i);
		if (!load && found.loads[i])
			ck_abort_msg("a load at %zu", i);
	}
}

/* In parts of any length, or in one. */
static void divide(struct swz_byte_scan *s, struct swz_byte_part *parts,
		   unsigned count)
{
	uint64_t end = 0;

	memset(parts, 0, MOST_PARTS * sizeof(*parts));
	s->parts = parts;
	s->part_count = 0;
	while (end < s->size) {
		uint32_t left = (uint32_t)(s->size - end);

		end += s->part_count + 1 < count ? 1 + any(left) : left;
		parts[s->part_count++].end = end;
	}
}

static void check_code(size_t size, bool is_alone)
{
	struct swz_byte_part parts[MOST_PARTS];
	struct swz_byte_scan s = {.size = size,
				  .look = look,
				  .leads_on = is_alone ? NULL : leads_on,
				  .look_at_load = look_at_load};

	make_room(size);
	s.code = code;
	fill(size);
	divide(&s, parts, 1 + any(MOST_PARTS));
	s.stores = true;
	ck_assert_int_eq(swz_byte_scan_init(&s), SWZ_OK);
	set_marks(size, 40);
	check_search(&s, true);
	s.stores = false; /* not looked at again */
	for (uint32_t distance = 1; distance < 5000; distance *= 3) {
		set_marks(size, distance);
		check_search(&s, false);
	}
	give_back();
}

START_TEST(finds_what_each_byte_looks_like)
{
	for (unsigned i = 0; i < 24; i++) {
		random_state = i;
		check_code(20000 + any(20000), true);
	}
}
END_TEST

START_TEST(finds_it_in_the_shortest_texts)
{
	for (unsigned size = 1; size < 700; size++) {
		random_state = size;
		check_code(size, size % 2);
	}
}
END_TEST

START_TEST(finds_what_leads_out_of_one_text_of_several)
{
	for (unsigned i = 0; i < 8; i++) {
		random_state = 100 + i;
		check_code(8000 + any(20000), false);
	}
}
END_TEST

/* More branches than there is room to note: all is searched again. */
START_TEST(searches_again_what_it_could_not_note)
{
	struct swz_byte_part parts[MOST_PARTS];
	struct swz_byte_scan s = {
		.size = MOST, .look = look, .look_at_load = look_at_load};

	make_room(MOST);
	s.code = code;
	memset(code, 0xe9, MOST);
	for (size_t i = 0; i + 5 < MOST; i += 5)
		put32(i + 1, 0);
	memset(starts, 0, sizeof(starts));
	memset(marks, 0, sizeof(marks));
	marks[30000] = 1;
	divide(&s, parts, 1);
	ck_assert_int_eq(swz_byte_scan_init(&s), SWZ_OK);
	check_search(&s, true);
	marks[30000] = 0;
	marks[20005] = 1;
	check_search(&s, true);
	give_back();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("scan_bytes");
	TCase *t = tcase_create("scan_bytes");

	tcase_add_test(t, finds_what_each_byte_looks_like);
	tcase_add_test(t, finds_it_in_the_shortest_texts);
	tcase_add_test(t, finds_what_leads_out_of_one_text_of_several);
	tcase_add_test(t, searches_again_what_it_could_not_note);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
