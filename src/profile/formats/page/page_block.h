#ifndef SWZ_PROFILE_FORMATS_PAGE_PAGE_BLOCK_H
#define SWZ_PROFILE_FORMATS_PAGE_PAGE_BLOCK_H

/* A block of data inside of an HTML page: bytes, deflated (zlib's format) and
 * in base64, in a <script> element that no browser runs. What it holds can
 * therefore never be taken for markup. Memory is bounded: everything is written
 * as it comes. Errors of the stream are left to its owner. */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct swz_page_block;

/* Writes a part of a page as src/html/page.S has it. */
void swz_page_frame(FILE *stream, const char *start, const char *end);

/* Begins a block in STREAM. NAME consists of letters, digits and spaces.
 * LEVEL is zlib's, 1 to 9. */
struct swz_page_block *swz_page_block_begin(FILE *stream, const char *name,
					    int level);

/* Bytes that were put into it so far, before compression. */
uint64_t swz_page_block_size(const struct swz_page_block *block);

void swz_page_block_bytes(struct swz_page_block *block, const void *bytes,
			  size_t size);

/* An unsigned number in LEB128; what is negative is taken for 0. */
void swz_page_block_number(struct swz_page_block *block, uint64_t value);
void swz_page_block_time(struct swz_page_block *block, int64_t value);

/* SIZE bytes of TEXT and a NUL, with '?' for what is not shown
 * (base/printable.h) except characters of KEPT. */
void swz_page_block_shown(struct swz_page_block *block, const char *text,
			  size_t size, const char *kept);

/* The same of a text up to its NUL ... */
void swz_page_block_text(struct swz_page_block *block, const char *text);

/* ... and of a line, which keeps its tabs and loses the CR at its end. */
void swz_page_block_line(struct swz_page_block *block, const char *text,
			 size_t size);

/* Writes what is left, and frees the block. Returns the bytes of base64. */
uint64_t swz_page_block_end(struct swz_page_block *block);

#endif
