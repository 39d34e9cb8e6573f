#include "image/cursor.h"

/* Every read goes through swz_cursor_reserve, the one place that compares with
 * the end. LEB128 padding (redundant final bytes) is valid and accepted; only
 * bits that carry value beyond bit 63 are an error. */

struct swz_bytes swz_cursor_rest(const struct swz_cursor *cursor)
{
	struct swz_bytes rest = {NULL, 0};

	if (!cursor->failed && cursor->at < cursor->size) {
		rest.data = cursor->data + cursor->at;
		rest.size = cursor->size - cursor->at;
	}
	return rest;
}

uint64_t swz_cursor_long_uleb(struct swz_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;

	for (;;) {
		uint8_t byte = swz_cursor_u8(cursor);
		uint64_t low = byte & 0x7f;

		if (cursor->failed)
			return 0;
		if (shift < 64) {
			value |= low << shift;
			if (shift == 63 && low > 1)
				cursor->failed = true;
		} else if (low) {
			cursor->failed = true;
		}
		if (cursor->failed)
			return 0;
		if (!(byte & 0x80))
			return value;
		if (shift < 64)
			shift += 7;
	}
}

int64_t swz_cursor_sleb(struct swz_cursor *cursor)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		uint64_t low;

		byte = swz_cursor_u8(cursor);
		low = byte & 0x7f;
		if (cursor->failed)
			return 0;
		if (shift < 63) {
			value |= low << shift;
			shift += 7;
			continue;
		}
		if (shift == 63) {
			value |= low << 63;
			shift += 7;
		}
		/* from bit 63 on there is room for the sign alone */
		if (low != ((value >> 63) ? 0x7f : 0)) {
			cursor->failed = true;
			return 0;
		}
	} while (byte & 0x80);
	if (shift < 64 && (byte & 0x40))
		value |= ~UINT64_C(0) << shift;
	return (int64_t)value;
}

void swz_cursor_skip(struct swz_cursor *cursor, uint64_t count)
{
	if (count)
		swz_cursor_reserve(cursor, count);
}

struct swz_bytes swz_cursor_take(struct swz_cursor *cursor, uint64_t count)
{
	struct swz_bytes slice = {NULL, 0};

	if (!count)
		return slice;
	slice.data = swz_cursor_reserve(cursor, count);
	slice.size = slice.data ? (size_t)count : 0;
	return slice;
}
