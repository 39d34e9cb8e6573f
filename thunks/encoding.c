#include "thunks/encoding.h"

/* One pass over the bytes. Whether an opcode has a ModRM byte is the only table
 * that it takes: in the one-byte map and in 0F it depends on the opcode, in all
 * other maps every instruction has one but vzeroupper and vzeroall. */

#include <string.h>

enum {
	OPCODE_VEX3 = 0xc4,
	OPCODE_VEX2 = 0xc5,
	OPCODE_EVEX = 0x62,
	OPCODE_XOP = 0x8f, /* pop r/m, unless a map of 8 or more follows */
	OPCODE_ESCAPE = 0x0f,
	OPCODE_VZERO = 0x77
};

/* The position while parsing. */
struct parser {
	struct swz_bytes code;
	uint8_t at;
	bool cut_off;
};

static uint8_t peek(struct parser *parser, unsigned distance)
{
	if (parser->at + distance >= parser->code.size) {
		parser->cut_off = true;
		return 0;
	}
	return parser->code.data[parser->at + distance];
}

static bool one_byte_map_has_modrm(uint8_t opcode)
{
	if (opcode < 0x40)
		return (opcode & 7) < 4; /* the arithmetic block */
	switch (opcode) {
	case 0x63: /* movsxd */
	case 0x69:
	case 0x6b: /* imul with an immediate */
	case 0xc0:
	case 0xc1: /* shifts */
	case 0xc6:
	case 0xc7: /* mov, xabort, xbegin */
	case 0xf6:
	case 0xf7:
	case 0xfe:
	case 0xff:
		return true;
	default:
		return (opcode >= 0x80 && opcode <= 0x8f) ||
		       (opcode >= 0xd0 && opcode <= 0xd3) ||
		       (opcode >= 0xd8 && opcode <= 0xdf);
	}
}

static bool map_0f_has_modrm(uint8_t opcode)
{
	switch (opcode) {
	case 0x05: /* syscall, clts, sysret, invd, wbinvd */
	case 0x06:
	case 0x07:
	case 0x08:
	case 0x09:
	case 0x0b: /* ud2 */
	case 0x0e: /* femms */
	case 0x77: /* emms */
	case 0xa0: /* push fs, pop fs, cpuid */
	case 0xa1:
	case 0xa2:
	case 0xa8: /* push gs, pop gs, rsm */
	case 0xa9:
	case 0xaa:
		return false;
	default:
		return !((opcode >= 0x30 && opcode <= 0x37) || /* rdmsr, … */
			 (opcode >= 0x80 && opcode <= 0x8f) || /* jcc */
			 (opcode >= 0xc8 && opcode <= 0xcf));  /* bswap */
	}
}

static bool has_modrm(const struct swz_encoding *encoding)
{
	switch (encoding->map) {
	case SWZ_MAP_ONE_BYTE:
		return one_byte_map_has_modrm(encoding->opcode);
	case SWZ_MAP_0F:
		return map_0f_has_modrm(encoding->opcode);
	case SWZ_MAP_VECTOR:
		return encoding->vector_map != 1 ||
		       encoding->opcode != OPCODE_VZERO;
	default:
		return true;
	}
}

/* A REX counts only directly before the opcode. */
static void read_prefixes(struct parser *parser, struct swz_encoding *encoding)
{
	bool operand_size = false;
	uint8_t rex = 0;

	for (;; parser->at++) {
		uint8_t byte = peek(parser, 0);

		switch (byte) {
		case 0x66:
			operand_size = true;
			break;
		case 0x67:
			encoding->address_size_32 = true;
			break;
		case 0xf0:
			encoding->locked = true;
			break;
		case 0xf2: /* repne, rep */
		case 0xf3:
		case 0x26: /* es cs ss ds fs gs */
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
			break;
		default:
			if ((byte & 0xf0) == 0x40) {
				rex = byte;
				continue;
			}
			encoding->rex_w = rex & 8;
			encoding->extends_reg = rex & 4;
			encoding->extends_index = rex & 2;
			encoding->extends_base = rex & 1;
			encoding->operand_size_16 = operand_size &&
						    !encoding->rex_w;
			encoding->prefix_bytes = parser->at;
			return;
		}
		rex = 0;
	}
}

/* VEX with three bytes, XOP and EVEX hold the inverted X and B in the same
 * bits of their second byte. */
static void read_vector_extensions(struct parser *parser,
				   struct swz_encoding *encoding)
{
	uint8_t byte = peek(parser, 1);

	encoding->extends_index = !(byte & 0x40);
	encoding->extends_base = !(byte & 0x20);
}

static void read_vector_opcode(struct parser *parser,
			       struct swz_encoding *encoding, uint8_t lead)
{
	unsigned skip = 3;

	encoding->map = SWZ_MAP_VECTOR;
	if (lead == OPCODE_VEX2) {
		skip = 2;
		encoding->vector_map = 1;
	} else {
		read_vector_extensions(parser, encoding);
	}
	if (lead == OPCODE_VEX3 || lead == OPCODE_XOP)
		encoding->vector_map = peek(parser, 1) & 0x1f;
	if (lead == OPCODE_EVEX) {
		skip = 4;
		encoding->vector_map = peek(parser, 1) & 7;
		encoding->scaled_displacement = true;
	}
	encoding->opcode = peek(parser, skip);
	parser->at = (uint8_t)(parser->at + skip + 1);
}

static void read_escaped_opcode(struct parser *parser,
				struct swz_encoding *encoding)
{
	uint8_t second = peek(parser, 1);

	parser->at++;
	encoding->map = SWZ_MAP_0F;
	if (second == 0x38 || second == 0x3a) {
		encoding->map = second == 0x38 ? SWZ_MAP_0F38 : SWZ_MAP_0F3A;
		parser->at++;
	}
	encoding->opcode = peek(parser, 0);
	parser->at++;
}

bool swz_encoding_has_sib(const struct swz_encoding *encoding)
{
	return encoding->modrm_at && swz_modrm_mod(encoding->modrm) != 3 &&
	       swz_modrm_rm(encoding->modrm) == 4;
}

bool swz_encoding_rip_relative(const struct swz_encoding *encoding)
{
	return encoding->modrm_at && swz_modrm_mod(encoding->modrm) == 0 &&
	       swz_modrm_rm(encoding->modrm) == 5;
}

static void read_modrm(struct parser *parser, struct swz_encoding *encoding)
{
	bool absolute;

	encoding->modrm_at = parser->at;
	encoding->modrm = peek(parser, 0);
	parser->at++;
	absolute = swz_encoding_rip_relative(encoding);
	if (swz_encoding_has_sib(encoding)) {
		encoding->sib = peek(parser, 0);
		parser->at++;
		absolute = swz_modrm_mod(encoding->modrm) == 0 &&
			   (encoding->sib & 7) == 5;
	}
	if (swz_modrm_mod(encoding->modrm) == 1)
		encoding->displacement_bytes = 1;
	else if (swz_modrm_mod(encoding->modrm) == 2 || absolute)
		encoding->displacement_bytes = 4;
	if (encoding->displacement_bytes)
		encoding->displacement_at = parser->at;
	parser->at = (uint8_t)(parser->at + encoding->displacement_bytes);
}

/* An immediate of the operand's size, but of 4 bytes for one of 8. */
static uint8_t full_immediate(const struct swz_encoding *encoding)
{
	return encoding->operand_size_16 ? 2 : 4;
}

/* The arithmetic block, 00 to 3f: op al, imm8 and op eax, imm32. */
static uint8_t arithmetic_immediate(const struct swz_encoding *encoding)
{
	if ((encoding->opcode & 7) == 4)
		return 1;
	return (encoding->opcode & 7) == 5 ? full_immediate(encoding) : 0;
}

static uint8_t one_byte_map_immediate(const struct swz_encoding *encoding)
{
	uint8_t opcode = encoding->opcode;

	if (opcode < 0x40)
		return arithmetic_immediate(encoding);
	if ((opcode & 0xf0) == 0x70 || (opcode & 0xf8) == 0xb0 ||
	    (opcode & 0xf8) == 0xe0) /* jcc, mov r8, loop and in, out */
		return 1;
	if ((opcode & 0xf8) == 0xb8) /* mov */
		return encoding->rex_w ? 8 : full_immediate(encoding);
	switch (opcode) {
	case 0x68: /* push, imul, group 1, test, mov */
	case 0x69:
	case 0x81:
	case 0xa9:
	case 0xc7:
		return full_immediate(encoding);
	case 0x6a: /* the same with 8 bits; shifts; int; jmp */
	case 0x6b:
	case 0x80:
	case 0x83:
	case 0xa8:
	case 0xc0:
	case 0xc1:
	case 0xc6:
	case 0xcd:
	case 0xeb:
		return 1;
	case 0xa0: /* mov of an absolute address */
	case 0xa1:
	case 0xa2:
	case 0xa3:
		return encoding->address_size_32 ? 4 : 8;
	case 0xc2: /* ret, far ret */
	case 0xca:
		return 2;
	case 0xc8: /* enter */
		return 3;
	case 0xe8: /* call, jmp */
	case 0xe9:
		return full_immediate(encoding);
	case 0xf6: /* test, alone in its group */
		return swz_modrm_reg(encoding->modrm) < 2;
	case 0xf7:
		return swz_modrm_reg(encoding->modrm) < 2
			       ? full_immediate(encoding)
			       : 0;
	default:
		return 0;
	}
}

static uint8_t map_0f_immediate(const struct swz_encoding *encoding)
{
	switch (encoding->opcode) {
	case 0x0f: /* 3DNow: the opcode comes last */
	case 0x70: /* shuffles and shifts of vectors */
	case 0x71:
	case 0x72:
	case 0x73:
	case 0xa4: /* shld, shrd, bit tests */
	case 0xac:
	case 0xba:
	case 0xc2: /* cmpps, pinsrw, pextrw, shufps */
	case 0xc4:
	case 0xc5:
	case 0xc6:
		return 1;
	case 0x78: /* extrq, insertq */
		return 2;
	default:
		return (encoding->opcode & 0xf0) == 0x80
			       ? full_immediate(encoding)
			       : 0; /* jcc */
	}
}

/* The maps of VEX and EVEX are named as those without; 8 to 10 are XOP's. */
static uint8_t vector_immediate(const struct swz_encoding *encoding)
{
	switch (encoding->vector_map) {
	case 1:
		return (encoding->opcode & 0xfc) == 0x70 ||
		       encoding->opcode == 0xc2 ||
		       (encoding->opcode >= 0xc4 && encoding->opcode <= 0xc6);
	case 3:
	case 8:
		return 1;
	case 10:
		return 4;
	default:
		return 0;
	}
}

static uint8_t immediate(const struct swz_encoding *encoding)
{
	switch (encoding->map) {
	case SWZ_MAP_ONE_BYTE:
		return one_byte_map_immediate(encoding);
	case SWZ_MAP_0F:
		return map_0f_immediate(encoding);
	case SWZ_MAP_0F3A:
		return 1;
	case SWZ_MAP_VECTOR:
		return vector_immediate(encoding);
	default:
		return 0;
	}
}

enum swz_status swz_encoding_read(struct swz_bytes code,
				  struct swz_encoding *encoding)
{
	struct parser parser = {code, 0, false};
	uint8_t lead;

	memset(encoding, 0, sizeof(*encoding));
	read_prefixes(&parser, encoding);
	encoding->opcode_at = parser.at;
	lead = peek(&parser, 0);
	if (lead == OPCODE_VEX2 || lead == OPCODE_VEX3 || lead == OPCODE_EVEX ||
	    (lead == OPCODE_XOP && (peek(&parser, 1) & 0x1f) >= 8)) {
		read_vector_opcode(&parser, encoding, lead);
	} else if (lead == OPCODE_ESCAPE) {
		read_escaped_opcode(&parser, encoding);
	} else {
		encoding->map = SWZ_MAP_ONE_BYTE;
		encoding->opcode = lead;
		parser.at++;
	}
	if (has_modrm(encoding))
		read_modrm(&parser, encoding);
	encoding->operands_at = parser.at;
	encoding->immediate_bytes = immediate(encoding);
	if (parser.cut_off || parser.at > code.size)
		return SWZ_E_FORMAT;
	return SWZ_OK;
}

unsigned swz_encoding_branch_bytes(const struct swz_encoding *encoding)
{
	uint8_t opcode = encoding->opcode;
	bool is_branch;

	if (encoding->map == SWZ_MAP_ONE_BYTE)
		is_branch = (opcode & 0xf0) == 0x70 || opcode == 0xe9 ||
			    opcode == 0xeb || (opcode & 0xfc) == 0xe0;
	else
		is_branch = encoding->map == SWZ_MAP_0F &&
			    (opcode & 0xf0) == 0x80;
	return is_branch ? encoding->immediate_bytes : 0;
}

bool swz_encoding_replaces_stack(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);
	bool reg = operation == 4 && !e->extends_reg;
	bool rm = (e->modrm & 0xc7) == 0xc4 && !e->extends_base;

	if (e->map == SWZ_MAP_0F && (e->opcode & 0xf0) == 0x40) /* cmov */
		return reg;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	/* pop, xchg, mov of a constant */
	if (e->opcode == 0x5c || e->opcode == 0x94 || e->opcode == 0xbc)
		return !e->extends_base;
	if (e->opcode == 0xc9) /* leave */
		return true;
	if ((e->opcode & 0xc4) == 0) /* add, or, ... cmp */
		return e->opcode < 0x38 && (e->opcode & 2 ? reg : rm);
	switch (e->opcode) {
	case 0x63: /* movsxd */
	case 0x69: /* imul */
	case 0x6b:
	case 0x8b: /* mov */
		return reg;
	case 0x8d: /* lea: d(%rsp) is a constant */
		return reg && (e->displacement_bytes != 1 || e->sib != 0x24 ||
			       e->extends_base || e->extends_index);
	case 0x87: /* xchg */
		return reg || rm;
	case 0x81: /* add and sub, cmp */
	case 0x83:
		return rm && operation != 0 && operation != 5 && operation != 7;
	case 0x89: /* mov */
	case 0x8f: /* pop */
	case 0xc1: /* shifts */
	case 0xc7: /* mov */
	case 0xd1:
	case 0xd3:
	case 0xf7: /* not, neg */
	case 0xff: /* inc, dec */
		return rm;
	default:
		return false;
	}
}

int64_t swz_distance_before(const uint8_t *end, unsigned bytes)
{
	int32_t distance;

	if (bytes == 1)
		return (int8_t)end[-1];
	memcpy(&distance, end - sizeof(distance), sizeof(distance));
	return distance;
}

size_t swz_padding_length(struct swz_bytes code)
{
	struct swz_encoding e;

	if (code.size && *code.data == 0xcc)
		return 1;
	if (swz_encoding_read(code, &e) != SWZ_OK || e.extends_base || e.locked)
		return 0;
	if ((e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0x90) ||
	    (e.map == SWZ_MAP_0F && e.opcode == 0x1f &&
	     swz_modrm_reg(e.modrm) == 0))
		return e.operands_at;
	return 0;
}
