#ifndef SWZ_IMAGE_CURSOR_H
#define SWZ_IMAGE_CURSOR_H

/* A reader over hostile bytes: little-endian integers and LEB128 (DWARF 5
 * section 7.6). A read that would run past the end, or a LEB128 value that does
 * not fit 64 bits, returns 0 and sets `failed`, which stays set; so a caller
 * reads a whole record and asks once. Pure, thread safe, async-signal-safe. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "image/elf_view.h"

/* --- cursors -------------------------------------------------------------- */

struct swz_cursor {
	const uint8_t *data;
	size_t size;
	size_t at; /* offset of the next byte, <= size */
	bool failed;
};

/* A cursor at the first of these bytes, which it borrows. */
static inline struct swz_cursor swz_cursor(struct swz_bytes bytes)
{
	struct swz_cursor cursor = {bytes.data, bytes.size, 0, false};

	return cursor;
}

/* The bytes not read yet; empty once a read has failed. */
struct swz_bytes swz_cursor_rest(const struct swz_cursor *cursor);

static inline bool swz_cursor_at_end(const struct swz_cursor *cursor)
{
	return cursor->failed || cursor->at == cursor->size;
}

/* Moves past `count` bytes and returns the first of them, or NULL. */
static inline const uint8_t *swz_cursor_reserve(struct swz_cursor *cursor,
						uint64_t count)
{
	const uint8_t *first;

	if (cursor->failed || count > cursor->size - cursor->at ||
	    !cursor->data) {
		cursor->failed = true;
		return NULL;
	}
	first = cursor->data + cursor->at;
	cursor->at += (size_t)count;
	return first;
}

static inline uint8_t swz_cursor_u8(struct swz_cursor *cursor)
{
	const uint8_t *bytes = swz_cursor_reserve(cursor, sizeof(uint8_t));
	uint8_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint16_t swz_cursor_u16(struct swz_cursor *cursor)
{
	const uint8_t *bytes = swz_cursor_reserve(cursor, sizeof(uint16_t));
	uint16_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint32_t swz_cursor_u32(struct swz_cursor *cursor)
{
	const uint8_t *bytes = swz_cursor_reserve(cursor, sizeof(uint32_t));
	uint32_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

static inline uint64_t swz_cursor_u64(struct swz_cursor *cursor)
{
	const uint8_t *bytes = swz_cursor_reserve(cursor, sizeof(uint64_t));
	uint64_t value = 0;

	if (bytes)
		memcpy(&value, bytes, sizeof(value));
	return value;
}

/* As swz_cursor_uleb. */
uint64_t swz_cursor_long_uleb(struct swz_cursor *cursor);

static inline uint64_t swz_cursor_uleb(struct swz_cursor *cursor)
{
	/* most have one byte */
	if (!cursor->failed && cursor->at < cursor->size && cursor->data &&
	    cursor->data[cursor->at] < 0x80)
		return cursor->data[cursor->at++];
	return swz_cursor_long_uleb(cursor);
}

int64_t swz_cursor_sleb(struct swz_cursor *cursor);
void swz_cursor_skip(struct swz_cursor *cursor, uint64_t count);

/* Takes the next `count` bytes as a slice; empty on failure. */
struct swz_bytes swz_cursor_take(struct swz_cursor *cursor, uint64_t count);

/* --- hashes --------------------------------------------------------------- */

/* A 64-bit hash for large amounts of bytes: quick, and any accidental change of
 * them changes it. It does not withstand those who look for collisions. */

/* With the hash of what came before as the seed several pieces are hashed as a
 * list. Pure. */
uint64_t swz_hash(uint64_t seed, struct swz_bytes bytes);

#endif
