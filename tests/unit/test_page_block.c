/* Blocks of data in the page: base64 of what zlib inflates to what was put in,
 * byte for byte. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "profile/formats/page_block.h"
#include "tests/unit/run_suite.h"

static char *page; /* what was written */
static size_t page_size;
static FILE *stream;

static const char head[] = "<script type=\"application/x-swizzle\" "
			   "data-name=\"some data\">";
static const char tail[] = "</script>\n";

static struct swz_page_block *begin(void)
{
	stream = open_memstream(&page, &page_size);
	ck_assert_ptr_nonnull(stream);
	return swz_page_block_begin(stream, "some data", 6);
}

static unsigned digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = memchr(digits, c, sizeof(digits) - 1);

	if (!at) /* an assertion for each takes too long */
		ck_abort_msg("no digit: %c", c);
	return (unsigned)(at - digits);
}

/* As strict as RFC 4648 allows: whole groups, and no bits left over. */
static size_t decode(const char *text, size_t size, uint8_t *out)
{
	uint8_t *to = out;

	ck_assert_uint_eq(size % 4, 0);
	for (size_t i = 0; i < size; i += 4) {
		unsigned missing = text[i + 3] != '='   ? 0
				   : text[i + 2] != '=' ? 1
							: 2;
		uint32_t group = 0;

		if (missing && i + 4 != size)
			ck_abort_msg("'=' in the midst");
		for (unsigned k = 0; k < 4 - missing; k++)
			group |= digit_of(text[i + k]) << (18 - 6 * k);
		if (group & ((1u << 8 * missing) - 1))
			ck_abort_msg("bits are left over");
		for (unsigned k = 0; k < 3 - missing; k++)
			*to++ = (uint8_t)(group >> (16 - 8 * k));
	}
	return (size_t)(to - out);
}

/* Ends the block; what it holds must be this. */
static void check_block(struct swz_page_block *block, const void *expected,
			size_t size)
{
	size_t coded, deflated;
	uLongf inflated = (uLongf)size + 1;
	uint8_t *bytes, *out;

	ck_assert_uint_eq(swz_page_block_size(block), size);
	swz_page_block_end(block);
	fclose(stream);
	ck_assert_uint_ge(page_size, sizeof(head) + sizeof(tail) - 2);
	ck_assert_mem_eq(page, head, sizeof(head) - 1);
	ck_assert_mem_eq(page + page_size - (sizeof(tail) - 1), tail,
			 sizeof(tail) - 1);
	coded = page_size - (sizeof(head) - 1) - (sizeof(tail) - 1);
	bytes = malloc(coded);
	out = malloc(inflated);
	deflated = decode(page + sizeof(head) - 1, coded, bytes);
	ck_assert_int_eq(uncompress(out, &inflated, bytes, deflated), Z_OK);
	ck_assert_uint_eq(inflated, size);
	if (size)
		ck_assert_mem_eq(out, expected, size);
	free(bytes);
	free(out);
	free(page);
}

/* Whatever the length is by three, and where buffers are full. */
START_TEST(bytes_come_back)
{
	static const size_t sizes[] = {49150, 49152, 65535,  65536,
				       65537, 98304, 131072, 400000};
	static uint8_t data[400000];
	uint32_t random = 1;

	for (size_t i = 0; i < sizeof(data); i++) {
		random = random * 1664525 + 1013904223;
		data[i] = (uint8_t)(random >> 24);
	}
	for (size_t size = 0; size < 100; size++) {
		struct swz_page_block *block = begin();

		swz_page_block_bytes(block, data, size);
		check_block(block, data, size);
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct swz_page_block *block = begin();

		swz_page_block_bytes(block, data, sizes[i] / 3);
		swz_page_block_bytes(block, data + sizes[i] / 3,
				     sizes[i] - sizes[i] / 3);
		check_block(block, data, sizes[i]);
	}
}
END_TEST

START_TEST(numbers_are_leb128)
{
	static const uint8_t expected[] = {0,    0x7f, 0x80, 0x01, 0xff, 0x7f,
					   0x80, 0x80, 0x01, 0xff, 0xff, 0xff,
					   0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
					   0x01, 0,    0x81, 0x01};
	struct swz_page_block *block = begin();

	swz_page_block_number(block, 0);
	swz_page_block_number(block, 127);
	swz_page_block_number(block, 128);
	swz_page_block_number(block, 16383);
	swz_page_block_number(block, 16384);
	swz_page_block_number(block, UINT64_MAX);
	swz_page_block_time(block, -5);
	swz_page_block_time(block, 129);
	check_block(block, expected, sizeof(expected));
}
END_TEST

START_TEST(texts_have_no_control_characters)
{
	static const char expected[] = "a b??~?\xc3\xa4</script>\0";
	struct swz_page_block *block = begin();

	swz_page_block_text(block, "a b\n\x1f~\x7f\xc3\xa4</script>");
	swz_page_block_text(block, "");
	check_block(block, expected, sizeof(expected));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("page_block");
	TCase *t = tcase_create("page_block");

	tcase_add_test(t, bytes_come_back);
	tcase_add_test(t, numbers_are_leb128);
	tcase_add_test(t, texts_have_no_control_characters);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
