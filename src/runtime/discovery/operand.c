#include "runtime/discovery/operand.h"

static unsigned destination_in_map_0f(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x40 ... 0x4f: /* cmov */
	case 0xaf:          /* imul */
	case 0xb6 ... 0xb7: /* movzx, bsf, bsr, movsx */
	case 0xbc ... 0xbf:
		return swz_encoding_reg(e);
	default:
		return SWZ_NO_REGISTER;
	}
}

unsigned swz_operand_set(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);
	unsigned rm = swz_operand_is_memory(e) ? SWZ_NO_REGISTER
					       : swz_encoding_rm(e);

	if (e->map == SWZ_MAP_0F)
		return destination_in_map_0f(e);
	if (e->map != SWZ_MAP_ONE_BYTE)
		return SWZ_NO_REGISTER;
	switch (e->opcode) {
	case 0x01: /* add, or, adc, sbb, and, sub, xor, mov to what ModRM says
		    */
	case 0x09:
	case 0x11:
	case 0x19:
	case 0x21:
	case 0x29:
	case 0x31:
	case 0x89:
	case 0x8f: /* pop */
	case 0xc1: /* shifts, mov of a constant */
	case 0xc7:
	case 0xd1:
	case 0xd3:
		return rm;
	case 0x03: /* the other way round */
	case 0x0b:
	case 0x13:
	case 0x1b:
	case 0x23:
	case 0x2b:
	case 0x33:
	case 0x8b:
	case 0x63: /* movslq, imul, lea */
	case 0x69:
	case 0x6b:
	case 0x8d:
		return swz_encoding_reg(e);
	case 0x81: /* all but cmp */
	case 0x83:
		return operation == 7 ? SWZ_NO_REGISTER : rm;
	case 0xf7: /* not, neg */
		return operation == 2 || operation == 3 ? rm : SWZ_NO_REGISTER;
	case 0xff: /* inc, dec */
		return operation < 2 ? rm : SWZ_NO_REGISTER;
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		return (e->opcode & 7u) | (e->extends_base ? 8u : 0);
	default:
		return SWZ_NO_REGISTER;
	}
}
