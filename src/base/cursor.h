#ifndef SWZ_BASE_CURSOR_H
#define SWZ_BASE_CURSOR_H

/* A reader over hostile bytes: little-endian integers and LEB128 (DWARF 5
 * section 7.6). A read that would run past the end, or a LEB128 value that does
 * not fit 64 bits, returns 0 and sets `failed`, which stays set; so a caller
 * reads a whole record and asks once. Pure, thread safe, async-signal-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf_view.h"

struct swz_cursor {
	const uint8_t *data;
	size_t size;
	size_t at; /* offset of the next byte, <= size */
	bool failed;
};

/* A cursor at the first of these bytes, which it borrows. */
struct swz_cursor swz_cursor(struct swz_bytes bytes);

/* The bytes not read yet; empty once a read has failed. */
struct swz_bytes swz_cursor_rest(const struct swz_cursor *cursor);

bool swz_cursor_at_end(const struct swz_cursor *cursor);

uint8_t swz_cursor_u8(struct swz_cursor *cursor);
uint16_t swz_cursor_u16(struct swz_cursor *cursor);
uint32_t swz_cursor_u32(struct swz_cursor *cursor);
uint64_t swz_cursor_u64(struct swz_cursor *cursor);
uint64_t swz_cursor_uleb(struct swz_cursor *cursor);
int64_t swz_cursor_sleb(struct swz_cursor *cursor);
void swz_cursor_skip(struct swz_cursor *cursor, uint64_t count);

/* Takes the next `count` bytes as a slice; empty on failure. */
struct swz_bytes swz_cursor_take(struct swz_cursor *cursor, uint64_t count);

#endif
