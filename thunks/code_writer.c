#include "thunks/code_writer.h"

#include <stdbool.h>
#include <string.h>

void swz_write_bytes(struct swz_code_writer *writer, const void *bytes,
		     size_t count)
{
	if (writer->status != SWZ_OK)
		return;
	if (count > writer->room - writer->written) {
		writer->status = SWZ_E_NOMEM;
		return;
	}
	memcpy(writer->out + writer->written, bytes, count);
	writer->written += count;
}

void swz_write_u8(struct swz_code_writer *writer, uint8_t value)
{
	swz_write_bytes(writer, &value, sizeof(value));
}

void swz_write_u32(struct swz_code_writer *writer, uint32_t value)
{
	swz_write_bytes(writer, &value, sizeof(value));
}

void swz_write_u64(struct swz_code_writer *writer, uint64_t value)
{
	swz_write_bytes(writer, &value, sizeof(value));
}

uint64_t swz_writer_address(const struct swz_code_writer *writer)
{
	return writer->address + writer->written;
}

static bool fits_32_bits(int64_t value)
{
	return value >= INT32_MIN && value <= INT32_MAX;
}

void swz_write_rel32(struct swz_code_writer *writer, uint64_t target,
		     unsigned trailing)
{
	uint64_t end = swz_writer_address(writer) + 4 + trailing;
	int64_t distance = (int64_t)(target - end);

	if (writer->status == SWZ_OK && !fits_32_bits(distance))
		writer->status = SWZ_E_RANGE;
	if (target - writer->address >= writer->room) {
		if (writer->outward_count == SWZ_MOST_OUTWARD)
			writer->status = SWZ_E_NOMEM;
		else
			writer->outward[writer->outward_count++] =
				(uint16_t)writer->written;
	}
	swz_write_u32(writer, (uint32_t)distance);
}

void swz_write_jmp(struct swz_code_writer *writer, uint64_t target)
{
	swz_write_u8(writer, 0xe9);
	swz_write_rel32(writer, target, 0);
}

void swz_write_jcc(struct swz_code_writer *writer, unsigned condition,
		   uint64_t target)
{
	swz_write_u8(writer, 0x0f);
	swz_write_u8(writer, (uint8_t)(0x80u | condition));
	swz_write_rel32(writer, target, 0);
}

static void note_stack_step(struct swz_code_writer *writer, unsigned step)
{
	writer->stack_steps[step] = (uint16_t)writer->written;
}

/*	call	1f
 *	int3
 *	.quad	value
 * 1:	lea	8(%rsp), %rsp
 *	push	value(%rip)
 *
 * A plain push leaves the processor's return stack one short, so that every
 * return of the frames above is mispredicted. The call mends that: only the
 * return to `value` itself is, and runs into the int3 for that moment. It must
 * not be a call to the next instruction, which processors take for a way to
 * read rip and do not note. The push stores all 8 bytes at once: a load cannot
 * be forwarded from two halves written over what the call left.
 *
 * Between the call and the push the slot holds an address of the trampoline,
 * at first at rsp, then below it, where nothing reads it. */
void swz_write_return_address(struct swz_code_writer *writer, uint64_t value)
{
	static const uint8_t call_over_int3[] = {0xe8, 1, 0, 0, 0, 0xcc};
	static const uint8_t call_over_value[] = {0xe8, 9, 0, 0, 0, 0xcc};
	static const uint8_t drop[] = {0x48, 0x8d, 0x64, 0x24, 0x08};
	static const uint8_t push_value[] = {0xff, 0x35, 0xed,
					     0xff, 0xff, 0xff};

	bool short_push = fits_32_bits((int64_t)value);

	if (short_push) {
		swz_write_bytes(writer, call_over_int3, sizeof(call_over_int3));
	} else {
		swz_write_bytes(writer, call_over_value,
				sizeof(call_over_value));
		swz_write_u64(writer, value);
	}
	note_stack_step(writer, 0);
	swz_write_bytes(writer, drop, sizeof(drop));
	note_stack_step(writer, 1);
	if (short_push) {
		swz_write_u8(writer, 0x68); /* sign-extends */
		swz_write_u32(writer, (uint32_t)value);
	} else {
		swz_write_bytes(writer, push_value, sizeof(push_value));
	}
	note_stack_step(writer, 2);
}
