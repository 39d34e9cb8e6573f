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

void swz_write_push(struct swz_code_writer *writer, uint64_t value)
{
	static const uint8_t mov_to_high_half[] = {0xc7, 0x44, 0x24, 0x04};

	swz_write_u8(writer, 0x68); /* pushes the sign-extended low half */
	swz_write_u32(writer, (uint32_t)value);
	if (fits_32_bits((int64_t)value))
		return;
	swz_write_bytes(writer, mov_to_high_half, sizeof(mov_to_high_half));
	swz_write_u32(writer, (uint32_t)(value >> 32));
}
