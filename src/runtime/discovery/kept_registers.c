#include "runtime/discovery/kept_registers.h"

#include "runtime/discovery/operand.h"

#define KEPT 0xf028u

static bool has(uint32_t bits, unsigned reg)
{
	return reg < SWZ_NO_REGISTER && bits >> reg & 1;
}

static bool is_pop(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && (e->opcode & 0xf8) == 0x58;
}

/* The one that it puts into the stack. */
static unsigned saved_by(const struct swz_encoding *e, bool in_stack)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return SWZ_NO_REGISTER;
	if ((e->opcode & 0xf8) == 0x50)
		return (e->opcode & 7u) | (e->extends_base ? 8u : 0);
	return e->opcode == 0x89 && in_stack ? swz_encoding_reg(e)
					     : SWZ_NO_REGISTER;
}

bool swz_kept_registers_follow(struct swz_kept_registers *r,
			       const struct swz_encoding *e, bool in_stack)
{
	uint32_t callers = KEPT & ~(uint32_t)r->set;
	unsigned to = swz_operand_set(e), saved = saved_by(e, in_stack);

	if (swz_operand_is_memory(e) && (has(callers, swz_operand_base(e)) ||
					 has(callers, swz_operand_index(e))))
		return false;
	if (saved < SWZ_NO_REGISTER)
		r->saved |= (uint16_t)(1u << saved);
	if (!has(KEPT, to))
		return true;
	if (!has(r->saved, to))
		return false;
	if (!is_pop(e)) /* that gives it back */
		r->set |= (uint16_t)(1u << to);
	return true;
}
