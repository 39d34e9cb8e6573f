/* A compiler of its own kind may put what it makes, tables and all, into a
 * shared library under one symbol for each unit, which it says is a function's
 * so that the linker takes it for one (FIS GT.M does). The program looks the
 * symbol up and reads what is there; that the first bytes return, should anyone
 * call them, is for safety's sake. So what flows from the first byte is
 * followed: where it ends without having led to what is behind, and that is not
 * what compilers make of code, a changed first byte would be a changed datum.
 */

#include "runtime/discovery/scan_data.h"

#include "runtime/module/module.h"

bool swz_opcode_is_odd(struct swz_bytes code, const struct swz_encoding *e)
{
	if (e->locked || e->address_size_32)
		return true;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0x00:
	case 0x6c ... 0x6f:
	case 0x9b:
	case 0xa0 ... 0xa3:
	case 0xc8:
	case 0xca ... 0xcb:
	case 0xcd:
	case 0xcf:
	case 0xd7 ... 0xdf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xf1:
	case 0xf5:
	case 0xf8 ... 0xfd:
		return true;
	default:
		return code.data[0] == 0x64 || code.data[0] == 0x65;
	}
}

static uint64_t next_of(uint64_t pc, const struct swz_encoding *e)
{
	return pc + e->operands_at + e->immediate_bytes;
}

static bool ends_flow(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE &&
	       (e->opcode == 0xc2 || e->opcode == 0xc3 || e->opcode == 0xe9 ||
		e->opcode == 0xeb);
}

/* Jumps and calls by a register or memory may lead anywhere. */
static bool is_indirect(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0xff &&
	       swz_modrm_reg(e->modrm) >= 2 && swz_modrm_reg(e->modrm) <= 5;
}

/* Where what flows from the first byte ends, without anything in it that refers
 * to what is behind; `end` if that is not seen. */
static uint64_t end_of_flow(const struct swz_module *m, uint64_t start,
			    uint64_t end)
{
	uint64_t furthest = start;

	for (uint64_t pc = start; pc < end;) {
		const uint8_t *code = swz_module_bytes(m, pc);
		struct swz_encoding e;
		uint64_t next, to;
		unsigned bytes;

		if (swz_encoding_read((struct swz_bytes){code, end - pc}, &e) !=
			    SWZ_OK ||
		    is_indirect(&e))
			return end;
		next = next_of(pc, &e);
		if (next > end)
			return end;
		to = start;
		bytes = swz_encoding_branch_bytes(&e);
		if (bytes == 2)
			return end;
		if (bytes)
			to = next + (uint64_t)swz_distance_before(
					    code + (next - pc), bytes);
		else if (swz_encoding_rip_relative(&e))
			to = next + (uint64_t)swz_distance_before(
					    code + e.operands_at, 4);
		if (to < end && to > furthest)
			furthest = to;
		if (ends_flow(&e) && furthest < next)
			return next;
		pc = next;
	}
	return end;
}

static bool is_padding(uint8_t byte)
{
	return byte == 0 || byte == 0x90 || byte == 0xcc;
}

bool swz_is_data(const struct swz_module *m, uint64_t start, uint64_t end)
{
	uint64_t pc = end_of_flow(m, start, end);

	while (pc < end && is_padding(*swz_module_bytes(m, pc)))
		pc++;
	while (pc < end) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		struct swz_encoding e;

		if (swz_encoding_read(code, &e) != SWZ_OK ||
		    swz_opcode_is_odd(code, &e))
			return true;
		pc = next_of(pc, &e);
	}
	return false;
}

static uint64_t behind_nops(const struct swz_module *m, uint64_t pc,
			    uint64_t end)
{
	while (pc < end && *swz_module_bytes(m, pc) == 0x90)
		pc++;
	return pc;
}

bool swz_is_type(const struct swz_module *m, uint64_t start, uint64_t end)
{
	uint64_t pc = behind_nops(m, start, end);

	/* mov $type, %eax; newer ones tell the arguments by the register */
	return end - pc >= 5 && (*swz_module_bytes(m, pc) & 0xf8) == 0xb8 &&
	       behind_nops(m, pc + 5, end) == end;
}
