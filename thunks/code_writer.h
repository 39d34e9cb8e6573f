#ifndef SWZ_THUNKS_CODE_WRITER_H
#define SWZ_THUNKS_CODE_WRITER_H

/* Writes x86-64 code to a buffer that is to run at another address. The first
 * error stays in `status` and stops all writing: SWZ_E_NOMEM when the room is
 * used up, SWZ_E_RANGE when a rel32 does not reach. Pure. */

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "thunks/relocate.h"

struct swz_code_writer {
	uint8_t *out;
	size_t room;
	size_t written;
	uint64_t address; /* where out[0] will run */
	enum swz_status status;
	/* Offsets of the instructions behind those with which the latest
	 * swz_write_return_address moved rsp: down, up, down. */
	uint16_t stack_steps[3];
	/* Offsets of the rel32s that lead out of what there is room for. */
	uint16_t outward[SWZ_MOST_OUTWARD];
	uint8_t outward_count;
};

void swz_write_bytes(struct swz_code_writer *writer, const void *bytes,
		     size_t count);
void swz_write_u8(struct swz_code_writer *writer, uint8_t value);
void swz_write_u32(struct swz_code_writer *writer, uint32_t value);
void swz_write_u64(struct swz_code_writer *writer, uint64_t value);

/* Where the next byte will run. */
uint64_t swz_writer_address(const struct swz_code_writer *writer);

/* The rel32 of an instruction that ends `trailing` bytes behind it. */
void swz_write_rel32(struct swz_code_writer *writer, uint64_t target,
		     unsigned trailing);

void swz_write_jmp(struct swz_code_writer *writer, uint64_t target);

/* condition: the low four bits of the opcodes 70..7f and 0f 80..8f. */
void swz_write_jcc(struct swz_code_writer *writer, unsigned condition,
		   uint64_t target);

/* Pushes a return address that is not the writer's own, and keeps the
 * processor's return stack in step as a call would. Changes no register but
 * rsp, and no flags. */
void swz_write_return_address(struct swz_code_writer *writer, uint64_t value);

#endif
