#include "tests/unit/page_bytes.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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

uint8_t *page_bytes(const char *markup, size_t markup_size, const char *name,
		    size_t *size)
{
	static const char tail[] = "</script>\n";
	char head[128];
	size_t before = (size_t)snprintf(
		head, sizeof(head),
		"<script type=\"application/x-swizzle\""
		" data-name=\"%s\">",
		name);
	size_t coded;
	z_stream z = {0};
	uint8_t *bytes, *out = NULL;

	ck_assert_uint_ge(markup_size, before + sizeof(tail) - 1);
	ck_assert_mem_eq(markup, head, before);
	ck_assert_mem_eq(markup + markup_size - (sizeof(tail) - 1), tail,
			 sizeof(tail) - 1);
	coded = markup_size - before - (sizeof(tail) - 1);
	bytes = malloc(coded + 1);
	z.next_in = bytes;
	z.avail_in = (uInt)decode(markup + before, coded, bytes);
	ck_assert_int_eq(inflateInit(&z), Z_OK);
	for (*size = 0;; *size = z.total_out) {
		int status;

		out = realloc(out, *size + 65536);
		z.next_out = out + *size;
		z.avail_out = 65536;
		status = inflate(&z, Z_NO_FLUSH);
		if (status == Z_STREAM_END)
			break;
		ck_assert_int_eq(status, Z_OK);
	}
	*size = z.total_out;
	ck_assert_uint_eq(z.avail_in, 0);
	inflateEnd(&z);
	free(bytes);
	return out;
}
