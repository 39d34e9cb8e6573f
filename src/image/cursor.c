#include "image/cursor.h"

#include <string.h>

/* --- cursors -------------------------------------------------------------- */

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

/* --- hashes --------------------------------------------------------------- */

/* Odd numbers with as many ones as zeros, without a pattern: the fractional
 * parts of square roots of primes. */
static const uint64_t roots[4] = {0x6a09e667f3bcc909, 0xbb67ae8584caa73b,
				  0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1};

/* Both halves of the product: every bit of either factor gets everywhere. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t word(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* The processor multiplies for four lanes at a time, which keep their former
 * value besides: a factor of zero would forget it. */
uint64_t swz_hash(uint64_t seed, struct swz_bytes bytes)
{
	const uint8_t *at = bytes.data;
	size_t left = bytes.size;
	uint64_t lanes[4], tail[8] = {0};

	for (size_t i = 0; i < 4; i++)
		lanes[i] = mix(seed ^ roots[i], roots[(i + 1) % 4]) + i;
	for (; left >= 64; left -= 64, at += 64)
		for (size_t i = 0; i < 4; i++)
			lanes[i] = mix(lanes[i] ^ word(at + 16 * i),
				       word(at + 16 * i + 8) ^ roots[i]) +
				   (lanes[i] << 1 | lanes[i] >> 63);
	if (left)
		memcpy(tail, at, left);
	for (size_t i = 0; i < 4; i++)
		lanes[i] = mix(lanes[i] ^ tail[2 * i],
			       tail[2 * i + 1] ^ roots[i]) +
			   (lanes[i] << 1 | lanes[i] >> 63);
	seed = mix(bytes.size ^ roots[0], roots[1]);
	for (size_t i = 0; i < 4; i++)
		seed = mix(seed ^ lanes[i], roots[i]) + lanes[i];
	return mix(seed, roots[2]) ^ seed;
}
