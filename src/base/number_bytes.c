#include "base/number_bytes.h"

#include <stdbool.h>
#include <stdint.h>

#include "swizzle/format.h"

/* The most bytes that 32 and 64 bits take. */
#define SWZ_NUMBER_BYTES_32 5u

/* The status is above the flags: patched functions need a byte for both. */
#define FLAG_BITS 5u

unsigned swz_function_pack(uint8_t *to, uint32_t *end,
			   const struct swz_function_record *record)
{
	/* functions may overlap */
	int32_t gap = (int32_t)(record->address - *end);
	uint8_t *at = to;

	at = swz_number_put(at, (uint32_t)swz_number_of_signed(gap));
	at = swz_number_put(at, record->size);
	at = swz_number_put(at, (uint32_t)record->status << FLAG_BITS |
					record->flags);
	*end = record->address + record->size;
	return (unsigned)(at - to);
}

bool swz_function_unpack(const uint8_t **at, const uint8_t *limit,
			 uint32_t *end, struct swz_function_record *record)
{
	const uint8_t *from = *at;
	uint64_t gap, size, kind;

	if (!swz_number_get(&from, limit, UINT32_MAX, &gap) ||
	    !swz_number_get(&from, limit, UINT32_MAX, &size) ||
	    !swz_number_get(&from, limit, UINT16_MAX, &kind))
		return false;
	*at = from;
	record->address = *end + (uint32_t)swz_number_to_signed(gap);
	record->size = (uint32_t)size;
	record->status = (uint16_t)(kind >> FLAG_BITS);
	record->flags = (uint16_t)(kind & ((1u << FLAG_BITS) - 1));
	*end = record->address + record->size;
	return true;
}

#define HEAD_UNIT 16u
#define GOES_BACK 0x80u

unsigned swz_trampoline_pack(uint8_t *to, struct swz_trampoline_place *before,
			     const struct swz_trampoline_place *place)
{
	int32_t head = (int32_t)(place->head / HEAD_UNIT) -
		       (int32_t)(before->head / HEAD_UNIT);
	int32_t site = (int32_t)(place->site - before->site);
	uint8_t *at = to;

	at = swz_number_put(at, (uint32_t)swz_number_of_signed(head));
	at = swz_number_put(at, (uint32_t)swz_number_of_signed(site));
	*at++ = place->copies;
	*at++ = (uint8_t)(place->moved | (place->goes_back ? GOES_BACK : 0));
	*before = *place;
	return (unsigned)(at - to);
}

bool swz_trampoline_unpack(const uint8_t **at, const uint8_t *limit,
			   struct swz_trampoline_place *place)
{
	const uint8_t *from = *at;
	uint64_t head, site;

	if (!swz_number_get(&from, limit, UINT32_MAX, &head) ||
	    !swz_number_get(&from, limit, UINT32_MAX, &site) ||
	    limit - from < 2)
		return false;
	place->head += (uint32_t)swz_number_to_signed(head) * HEAD_UNIT;
	place->site += (uint32_t)swz_number_to_signed(site);
	place->copies = from[0];
	place->moved = from[1] & (GOES_BACK - 1);
	place->goes_back = from[1] & GOES_BACK;
	*at = from + 2;
	return true;
}

/* --- samples ------------------------------------------------------------- */

#define USUAL (SWZ_LATEST_NODES * 3)

enum { ON_ANOTHER = 1, IS_NUMBER = 2 };

/* SWZ_LATEST_NODES: it is none of them. */
static unsigned place_of(const struct swz_sample_packing *before, uint32_t node)
{
	for (unsigned i = 0; i < before->latest_count; i++)
		if (before->latest[i] == node)
			return i;
	return SWZ_LATEST_NODES;
}

/* The node is the latest now; it was at PLACE. */
static void move_up(struct swz_sample_packing *before, unsigned place,
		    uint32_t node)
{
	if (place == SWZ_LATEST_NODES) {
		if (before->latest_count < SWZ_LATEST_NODES)
			before->latest_count++;
		place = before->latest_count - 1;
	}
	for (; place; place--)
		before->latest[place] = before->latest[place - 1];
	before->latest[0] = node;
}

unsigned swz_sample_pack(uint8_t *to, struct swz_sample_packing *before,
			 const struct swz_packed_sample *sample)
{
	unsigned place = place_of(before, sample->node);
	int64_t more = (int64_t)(sample->time - before->last.time -
				 before->expected);
	bool moved = sample->processor != before->last.processor;
	bool is_number = place == SWZ_LATEST_NODES;
	uint8_t *at = to;

	if (!moved && !is_number && more >= -1 && more <= 1) {
		*at++ = (uint8_t)(place * 3 + (unsigned)(more + 1));
	} else {
		*at++ = (uint8_t)(USUAL | (moved ? ON_ANOTHER : 0) |
				  (is_number ? IS_NUMBER : 0));
		at = swz_number_put(at, swz_number_of_signed(more));
		if (moved)
			at = swz_number_put(at, sample->processor);
		at = swz_number_put(at, is_number ? sample->node : place);
	}
	move_up(before, place, sample->node);
	before->last = *sample;
	return (unsigned)(at - to);
}

bool swz_sample_unpack(const uint8_t **at, const uint8_t *limit,
		       struct swz_sample_packing *before,
		       struct swz_packed_sample *sample)
{
	struct swz_packed_sample s = before->last;
	const uint8_t *from = *at;
	uint64_t more = 0, processor = s.processor, place;
	unsigned first;

	if (from == limit || (first = *from++) > (USUAL | 3))
		return false;
	if (first < USUAL) {
		place = first / 3;
		s.time += before->expected + first % 3 - 1;
	} else {
		if (!swz_number_get(&from, limit, UINT64_MAX, &more) ||
		    (first & ON_ANOTHER &&
		     !swz_number_get(&from, limit, UINT32_MAX, &processor)) ||
		    !swz_number_get(&from, limit, UINT32_MAX, &place))
			return false;
		s.time += before->expected +
			  (uint64_t)swz_number_to_signed(more);
	}
	s.processor = (uint32_t)processor;
	s.node = (uint32_t)place;
	if (first >= USUAL && first & IS_NUMBER) {
		place = place_of(before, s.node);
	} else {
		if (place >= before->latest_count)
			return false;
		s.node = before->latest[place];
	}
	move_up(before, (unsigned)place, s.node);
	before->last = s;
	*at = from;
	*sample = s;
	return true;
}
