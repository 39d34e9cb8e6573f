/* Bytes are gathered, deflated a buffer at a time and written in base64, in
 * whole groups of three bytes but for the last. */

#include "profile/formats/page/page_block.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/printable.h"
#include "util/memory.h"

#define IN_BYTES 65536u
#define OUT_BYTES 49152u /* a multiple of 3 */

struct swz_page_block {
	FILE *stream;
	z_stream deflate;
	uint64_t size;
	size_t filled; /* of in */
	uint8_t in[IN_BYTES];
	uint8_t out[OUT_BYTES];
};

static void put_base64(FILE *stream, const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz0123456789+/=";
	char line[OUT_BYTES / 3 * 4] = {0};
	char *to = line;
	size_t i;

	for (i = 0; i < count; i += 3) {
		size_t left = count - i;
		uint32_t group = (uint32_t)bytes[i] << 16;

		group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
		group |= left > 2 ? bytes[i + 2] : 0;
		*to++ = digits[group >> 18];
		*to++ = digits[group >> 12 & 63];
		*to++ = digits[left > 1 ? group >> 6 & 63 : 64];
		*to++ = digits[left > 2 ? group & 63 : 64];
	}
	fwrite(line, 1, (size_t)(to - line), stream);
}

/* Deflates what was gathered; a full buffer of output is written. */
static void pump(struct swz_page_block *block, bool last)
{
	z_stream *z = &block->deflate;
	int status;

	z->next_in = block->in;
	z->avail_in = (uInt)block->filled;
	block->filled = 0;
	do {
		status = deflate(z, last ? Z_FINISH : Z_NO_FLUSH);
		if (z->avail_out && !(last && status == Z_STREAM_END))
			continue;
		put_base64(block->stream, block->out, OUT_BYTES - z->avail_out);
		z->next_out = block->out;
		z->avail_out = OUT_BYTES;
	} while (last ? status != Z_STREAM_END : z->avail_in > 0);
}

struct swz_page_block *swz_page_block_begin(FILE *stream, const char *name,
					    int level)
{
	struct swz_page_block *block = swz_allocate(1, sizeof(*block));

	block->stream = stream;
	if (deflateInit(&block->deflate, level) != Z_OK)
		swz_out_of_memory();
	block->deflate.next_out = block->out;
	block->deflate.avail_out = OUT_BYTES;
	fprintf(stream,
		"<script type=\"application/x-swizzle\" data-name=\"%s\">",
		name);
	return block;
}

uint64_t swz_page_block_size(const struct swz_page_block *block)
{
	return block->size;
}

void swz_page_block_bytes(struct swz_page_block *block, const void *bytes,
			  size_t size)
{
	const uint8_t *from = bytes;

	block->size += size;
	while (size) {
		size_t room = IN_BYTES - block->filled;
		size_t count = size < room ? size : room;

		memcpy(block->in + block->filled, from, count);
		block->filled += count;
		from += count;
		size -= count;
		if (block->filled == IN_BYTES)
			pump(block, false);
	}
}

void swz_page_frame(FILE *stream, const char *start, const char *end)
{
	fwrite(start, 1, (size_t)(end - start), stream);
}

void swz_page_block_number(struct swz_page_block *block, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[count++] = (uint8_t)(value | 0x80);
	bytes[count++] = (uint8_t)value;
	swz_page_block_bytes(block, bytes, count);
}

void swz_page_block_time(struct swz_page_block *block, int64_t value)
{
	swz_page_block_number(block, value < 0 ? 0 : (uint64_t)value);
}

void swz_page_block_shown(struct swz_page_block *block, const char *text,
			  size_t size, const char *kept)
{
	size_t at, length;

	for (at = 0; at < size; at += length) {
		bool shown;

		length = swz_character(text + at, size - at, &shown);
		if (shown || (text[at] && strchr(kept, text[at])))
			swz_page_block_bytes(block, text + at, length);
		else
			swz_page_block_bytes(block, "?", 1);
	}
	swz_page_block_bytes(block, "", 1);
}

void swz_page_block_line(struct swz_page_block *block, const char *text,
			 size_t size)
{
	if (size && text[size - 1] == '\r')
		size--;
	swz_page_block_shown(block, text, size, "\t");
}

void swz_page_block_text(struct swz_page_block *block, const char *text)
{
	swz_page_block_shown(block, text, strlen(text), "");
}

uint64_t swz_page_block_end(struct swz_page_block *block)
{
	uint64_t bytes;

	pump(block, true);
	bytes = (block->deflate.total_out + 2) / 3 * 4;
	deflateEnd(&block->deflate);
	fputs("</script>\n", block->stream);
	free(block);
	return bytes;
}
