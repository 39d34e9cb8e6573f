#include "image/elf_view.h"

/* A code of at most 15 bits is looked up whole: a table is indexed by the next
 * bits of the stream and says which symbol they begin with, and how many of
 * them it takes (0: none). It has as many entries as the longest code of the
 * block asks for. Whatever the lengths say, no index is out of bounds: an entry
 * holds what was stored there, and the output and the distance are checked at
 * the one place each where they are used. */

#include <stdbool.h>
#include <string.h>

enum {
	LITERALS = 288, /* bytes, end of block, lengths */
	DISTANCES = 32,
	CODE_LENGTHS = 19,
	END_OF_BLOCK = 256
};

struct stream {
	const uint8_t *in, *in_end;
	uint64_t bits; /* those read and not yet taken, lowest first */
	unsigned bit_count;
	uint8_t *out;
	size_t used, size;
	bool failed;
};

struct code {
	uint16_t *entries; /* symbol << 4 | length */
	unsigned bits;
};

static void refill(struct stream *s)
{
	while (s->bit_count <= 56 && s->in < s->in_end) {
		s->bits |= (uint64_t)*s->in++ << s->bit_count;
		s->bit_count += 8;
	}
}

static unsigned take(struct stream *s, unsigned count)
{
	unsigned value;

	if (s->bit_count < count)
		refill(s);
	if (s->bit_count < count) {
		s->failed = true;
		return 0;
	}
	value = (unsigned)(s->bits & ((1u << count) - 1));
	s->bits >>= count;
	s->bit_count -= count;
	return value;
}

static unsigned symbol(struct stream *s, const struct code *code)
{
	unsigned entry, length;

	if (s->bit_count < SWZ_INFLATE_CODE_BITS)
		refill(s);
	entry = code->entries[s->bits & ((1u << code->bits) - 1)];
	length = entry & 15;
	if (!length || length > s->bit_count) {
		s->failed = true;
		return 0;
	}
	s->bits >>= length;
	s->bit_count -= length;
	return entry >> 4;
}

/* Codes are packed from their highest bit on, all else from the lowest. */
static unsigned reversed(unsigned value, unsigned count)
{
	unsigned result = 0;

	for (; count; count--, value >>= 1)
		result = result << 1 | (value & 1);
	return result;
}

/* The canonical code of these lengths (RFC 1951, 3.2.2). Fewer codes than there
 * could be are allowed: the others then stand for nothing. */
static bool make_code(struct code *code, const uint8_t *lengths, unsigned count)
{
	unsigned counts[SWZ_INFLATE_CODE_BITS + 1] = {0};
	unsigned next[SWZ_INFLATE_CODE_BITS + 1];
	unsigned value = 0;

	code->bits = 1;
	for (unsigned i = 0; i < count; i++)
		counts[lengths[i]]++;
	counts[0] = 0;
	for (unsigned n = 1; n <= SWZ_INFLATE_CODE_BITS; n++) {
		value = (value + counts[n - 1]) << 1;
		next[n] = value;
		if (value + counts[n] > 1u << n)
			return false;
		if (counts[n])
			code->bits = n;
	}
	memset(code->entries, 0, sizeof(*code->entries) << code->bits);
	for (unsigned i = 0; i < count; i++) {
		unsigned n = lengths[i], at;

		if (!n)
			continue;
		at = reversed(next[n]++, n);
		for (; at < 1u << code->bits; at += 1u << n)
			code->entries[at] = (uint16_t)(i << 4 | n);
	}
	return true;
}

static void put(struct stream *s, unsigned byte)
{
	if (s->used == s->size)
		s->failed = true;
	else
		s->out[s->used++] = (uint8_t)byte;
}

static void repeat(struct stream *s, size_t length, size_t distance)
{
	if (distance > s->used || length > s->size - s->used) {
		s->failed = true;
		return;
	}
	for (; length; length--, s->used++)
		s->out[s->used] = s->out[s->used - distance];
}

/* 3.2.5: symbols 257... stand for 3 + symbol, then in fours for growing steps;
 * 285 for 258. */
static size_t length_of(struct stream *s, unsigned which)
{
	unsigned extra;

	which -= END_OF_BLOCK + 1;
	if (which < 8)
		return which + 3;
	if (which == 28)
		return 258;
	if (which > 28) {
		s->failed = true;
		return 0;
	}
	extra = which / 4 - 1;
	return 3 + ((4 + which % 4) << extra) + take(s, extra);
}

static size_t distance_of(struct stream *s, unsigned which)
{
	unsigned extra;

	if (which < 4)
		return which + 1;
	if (which > 29) {
		s->failed = true;
		return 1;
	}
	extra = which / 2 - 1;
	return 1 + ((2 + which % 2) << extra) + take(s, extra);
}

static void coded_block(struct stream *s, const struct code *literals,
			const struct code *distances)
{
	while (!s->failed) {
		unsigned which = symbol(s, literals);
		size_t length;

		if (s->failed || which == END_OF_BLOCK)
			return;
		if (which < END_OF_BLOCK) {
			put(s, which);
			continue;
		}
		length = length_of(s, which);
		which = symbol(s, distances);
		if (!s->failed)
			repeat(s, length, distance_of(s, which));
	}
}

static void stored_block(struct stream *s)
{
	unsigned length, check;

	take(s, s->bit_count % 8);
	length = take(s, 16);
	check = take(s, 16);
	if (s->failed || length != (check ^ 0xffff)) {
		s->failed = true;
		return;
	}
	for (; length && !s->failed; length--)
		put(s, take(s, 8));
}

static void fixed_block(struct stream *s, struct code *literals,
			struct code *distances)
{
	uint8_t lengths[LITERALS];

	for (unsigned i = 0; i < LITERALS; i++)
		lengths[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	if (!make_code(literals, lengths, LITERALS))
		s->failed = true;
	memset(lengths, 5, DISTANCES);
	if (!make_code(distances, lengths, DISTANCES))
		s->failed = true;
	coded_block(s, literals, distances);
}

/* 3.2.7: both codes' lengths, in a code of their own. */
static void read_lengths(struct stream *s, const struct code *code,
			 uint8_t *lengths, unsigned count)
{
	unsigned at = 0;

	while (at < count && !s->failed) {
		unsigned which = symbol(s, code), times = 1;
		uint8_t length = (uint8_t)which;

		if (which == 16) {
			times = 3 + take(s, 2);
			length = at ? lengths[at - 1] : 0;
			s->failed |= !at;
		} else if (which >= 17) {
			times = which == 17 ? 3 + take(s, 3) : 11 + take(s, 7);
			length = 0;
		}
		if (times > count - at)
			s->failed = true;
		for (; times && !s->failed; times--)
			lengths[at++] = length;
	}
}

static void dynamic_block(struct stream *s, struct code *literals,
			  struct code *distances)
{
	static const uint8_t order[CODE_LENGTHS] = {16, 17, 18, 0,  8, 7,  9,
						    6,  10, 5,  11, 4, 12, 3,
						    13, 2,  14, 1,  15};
	uint8_t lengths[LITERALS + DISTANCES] = {0};
	unsigned literal_count = 257 + take(s, 5);
	unsigned distance_count = 1 + take(s, 5);
	unsigned count = 4 + take(s, 4);

	if (literal_count > LITERALS) {
		s->failed = true;
		return;
	}
	for (unsigned i = 0; i < count; i++)
		lengths[order[i]] = (uint8_t)take(s, 3);
	if (!make_code(literals, lengths, CODE_LENGTHS))
		s->failed = true;
	read_lengths(s, literals, lengths, literal_count + distance_count);
	if (s->failed || !make_code(literals, lengths, literal_count) ||
	    !make_code(distances, lengths + literal_count, distance_count))
		s->failed = true;
	coded_block(s, literals, distances);
}

static void blocks(struct stream *s, struct code *literals,
		   struct code *distances)
{
	unsigned last;

	do {
		last = take(s, 1);
		switch (take(s, 2)) {
		case 0:
			stored_block(s);
			break;
		case 1:
			fixed_block(s, literals, distances);
			break;
		case 2:
			dynamic_block(s, literals, distances);
			break;
		default:
			s->failed = true;
		}
	} while (!last && !s->failed);
}

/* RFC 1950, 9: Adler-32, reduced as seldom as 32 bits allow. */
static uint32_t checksum(const uint8_t *data, size_t size)
{
	uint32_t a = 1, b = 0;

	while (size) {
		size_t part = size < 5552 ? size : 5552;

		size -= part;
		for (; part; part--) {
			a += *data++;
			b += a;
		}
		a %= 65521;
		b %= 65521;
	}
	return b << 16 | a;
}

enum swz_status swz_inflate(struct swz_bytes stream, uint8_t *out, size_t size,
			    struct swz_inflate_tables *tables)
{
	struct code literals = {tables->literals, 1};
	struct code distances = {tables->distances, 1};
	struct stream s = {.out = out, .size = size};
	uint32_t expected = 0;

	/* deflate, no dictionary */
	if (stream.size < 2 || (stream.data[0] & 15) != 8 ||
	    stream.data[1] & 0x20 ||
	    (stream.data[0] << 8 | stream.data[1]) % 31)
		return SWZ_E_FORMAT;
	s.in = stream.data + 2;
	s.in_end = stream.data + stream.size;
	blocks(&s, &literals, &distances);
	take(&s, s.bit_count % 8);
	for (unsigned i = 0; i < 4; i++)
		expected = expected << 8 | take(&s, 8);
	if (s.failed || s.used != size || checksum(out, size) != expected)
		return SWZ_E_FORMAT;
	return SWZ_OK;
}
