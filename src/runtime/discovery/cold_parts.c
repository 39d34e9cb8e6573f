/* A compiler moves what is seldom needed of a function to another place. Where
 * the function has no frame, nothing in the unwind table of this part says that
 * it is none. If its symbol is stripped, what it does tells:
 *
 * - it uses what lies below the stack pointer before it has put anything there
 *   (thunks/red_zone.c);
 * - it jumps back into the midst of a function that uses that;
 * - it jumps to the beginning of what uses that so, and has put nothing there
 *   itself (parts may be single blocks).
 *
 * Other parts may as well be hooked: a jump to them is as good as a tail call.
 */

#include "runtime/discovery/cold_parts.h"

#include "thunks/encoding.h"
#include "thunks/red_zone.h"

static struct swz_bytes bytes_of(const struct swz_module *m,
				 const struct swz_function *f)
{
	return (struct swz_bytes){swz_module_bytes(m, f->start), f->size};
}

static uint64_t target_of(const uint8_t *end, uint64_t address, unsigned bytes)
{
	return address + (uint64_t)swz_distance_before(end, bytes);
}

/* Whether a jump from the function to there, which is outside of it, says that
 * it is a part. */
static bool tells(const struct swz_module *m, const struct swz_function *f,
		  uint64_t to)
{
	const struct swz_function *other = swz_function_at(m, to);

	if (!other)
		return false;
	if (other->start != to)
		return swz_uses_red_zone(bytes_of(m, other));
	return swz_may_be_cold_part(other) &&
	       swz_inherits_red_zone(bytes_of(m, other)) &&
	       !swz_uses_red_zone(bytes_of(m, f));
}

/* The same of what the bytes at `i` look like, if that is a direct jump. */
static bool may_tell(const struct swz_module *m, const struct swz_function *f,
		     const uint8_t *code, uint32_t i)
{
	unsigned length, bytes = 4;
	uint64_t to;

	if (code[i] == 0xe9) {
		length = 5;
	} else if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80) {
		length = 6;
	} else if (code[i] == 0xeb || (code[i] & 0xf0) == 0x70) {
		length = 2;
		bytes = 1;
	} else {
		return false;
	}
	if (length > f->size - i)
		return false;
	to = target_of(code + i + length, f->start + i + length, bytes);
	return to - f->start >= f->size && tells(m, f, to);
}

/* Whether an instruction is that jump. */
static bool jumps_tell(const struct swz_module *m, const struct swz_function *f)
{
	struct swz_bytes code = bytes_of(m, f);

	while (code.size) {
		struct swz_encoding e;
		unsigned bytes;
		size_t length;
		uint64_t to;

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return false;
		length = (size_t)e.operands_at + e.immediate_bytes;
		if (!length || length > code.size)
			return false;
		code.data += length;
		code.size -= length;
		bytes = swz_encoding_branch_bytes(&e);
		if (bytes != 1 && bytes != 4)
			continue;
		to = target_of(code.data, f->start + f->size - code.size,
			       bytes);
		if (to - f->start >= f->size && tells(m, f, to))
			return true;
	}
	return false;
}

/* Most functions have no bytes that look like such a jump, and need not be
 * decoded. */
static bool is_part(const struct swz_module *m, const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (swz_inherits_red_zone(bytes_of(m, f)))
		return true;
	for (uint32_t i = 0; i + 2 <= f->size; i++)
		if (may_tell(m, f, code, i))
			return jumps_tell(m, f);
	return false;
}

bool swz_is_cold_part(const struct swz_module *m, const struct swz_function *f,
		      const struct swz_cfi_row *first)
{
	/* what has a frame further on keeps nothing below the stack pointer */
	return swz_may_be_cold_part(f) && first->start == f->start &&
	       first->end == f->start + f->size && is_part(m, f);
}
