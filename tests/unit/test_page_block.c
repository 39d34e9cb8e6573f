/* Blocks of data in the page: base64 of what zlib inflates to what was put in,
 * byte for byte. */

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/page/html_blocks.h"
#include "tests/unit/page_bytes.h"
#include "tests/unit/run_suite.h"

static char *page; /* what was written */
static size_t page_size;
static FILE *stream;

static struct swz_page_block *begin(void)
{
	stream = open_memstream(&page, &page_size);
	ck_assert_ptr_nonnull(stream);
	return swz_page_block_begin(stream, "some data", 6);
}

/* Ends the block; what it holds must be this. */
static void check_block(struct swz_page_block *block, const void *expected,
			size_t size)
{
	size_t bytes;
	uint8_t *out;

	ck_assert_uint_eq(swz_page_block_size(block), size);
	swz_page_block_end(block);
	fclose(stream);
	out = page_bytes(page, page_size, "some data", &bytes);
	ck_assert_uint_eq(bytes, size);
	if (size)
		ck_assert_mem_eq(out, expected, size);
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

START_TEST(lines_keep_their_tabs)
{
	static const char expected[] = "\ta\tb?c\0\0?";
	struct swz_page_block *block = begin();

	swz_page_block_line(block, "\ta\tb\rc\rd", 7);
	swz_page_block_line(block, "x", 0);
	swz_page_block_line(block, "\x01", 1);
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
	tcase_add_test(t, lines_keep_their_tabs);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
