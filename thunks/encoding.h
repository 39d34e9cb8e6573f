#ifndef SWZ_THUNKS_ENCODING_H
#define SWZ_THUNKS_ENCODING_H

/* The anatomy of one x86-64 instruction: prefixes, opcode, ModRM, displacement,
 * immediate (Intel SDM volume 2, chapter 2). It does not validate an
 * instruction, which is capstone's part; it tells where the parts lie that a
 * move has to change. Pure. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/elf_view.h"

enum swz_opcode_map {
	SWZ_MAP_ONE_BYTE,
	SWZ_MAP_0F,
	SWZ_MAP_0F38,
	SWZ_MAP_0F3A,
	SWZ_MAP_VECTOR /* any map of VEX, EVEX or XOP */
};

/* Offsets are counted from the instruction's first byte. */
struct swz_encoding {
	bool operand_size_16; /* prefix 66, without a REX.W to override it */
	bool address_size_32; /* prefix 67 */
	bool locked;          /* prefix f0 */
	bool rex_w;
	bool extends_reg;         /* REX.R; not set for VEX and its likes */
	bool extends_base;        /* REX.B and its likes */
	bool extends_index;       /* REX.X and its likes */
	bool scaled_displacement; /* EVEX: an 8-bit displacement counts vectors
				   */
	uint8_t prefix_bytes; /* legacy prefixes and REX, before the opcode */
	enum swz_opcode_map map;
	uint8_t vector_map; /* its number in VEX, EVEX (1: 0F, 2: 0F38, …) */
	uint8_t opcode;
	uint8_t opcode_at;
	uint8_t modrm_at; /* 0: no ModRM */
	uint8_t modrm;
	uint8_t sib;             /* if ModRM says that there is one */
	uint8_t displacement_at; /* 0: none */
	uint8_t displacement_bytes;
	uint8_t operands_at; /* behind ModRM, SIB, displacement: the immediate
			      */
	uint8_t immediate_bytes;
};

/* Takes apart the instruction that `code` begins with. SWZ_E_FORMAT if its
 * parts up to the immediate do not fit in. The immediate is what the opcode
 * maps of SDM volume 2, appendix A say, for bytes that are an instruction. */
enum swz_status swz_encoding_read(struct swz_bytes code,
				  struct swz_encoding *encoding) SWZ_MUST_CHECK;

static inline unsigned swz_modrm_mod(uint8_t modrm)
{
	return modrm >> 6;
}

static inline unsigned swz_modrm_reg(uint8_t modrm)
{
	return (modrm >> 3) & 7u;
}

static inline unsigned swz_modrm_rm(uint8_t modrm)
{
	return modrm & 7u;
}

/* The general registers that ModRM names, of REX instructions. */
static inline unsigned swz_encoding_reg(const struct swz_encoding *encoding)
{
	return swz_modrm_reg(encoding->modrm) |
	       (encoding->extends_reg ? 8u : 0);
}

static inline unsigned swz_encoding_rm(const struct swz_encoding *encoding)
{
	return swz_modrm_rm(encoding->modrm) |
	       (encoding->extends_base ? 8u : 0);
}

/* [rip + disp32], or [eip + disp32] with address_size_32. */
static inline bool swz_encoding_rip_relative(
	const struct swz_encoding *encoding)
{
	return encoding->modrm_at && (encoding->modrm & 0xc7) == 5;
}

/* A SIB byte stands behind ModRM. */
static inline bool swz_encoding_has_sib(const struct swz_encoding *encoding)
{
	return encoding->modrm_at && swz_modrm_mod(encoding->modrm) != 3 &&
	       swz_modrm_rm(encoding->modrm) == 4;
}

/* Returns how many bytes the distance of a direct branch other than a call has,
 * which are its last. 0: it is no such branch; 2: not all processors have it.
 */
unsigned swz_encoding_branch_bytes(const struct swz_encoding *encoding);

/* It sets %rsp, but by a constant, push and pop. */
bool swz_encoding_replaces_stack(const struct swz_encoding *encoding);

/* The length of the int3, or of the assembler's no-operation, that the code
 * begins with; 0: it is none. */
size_t swz_padding_length(struct swz_bytes code);

/* The signed number in the one or four bytes before `end`: a distance from
 * there. */
int64_t swz_distance_before(const uint8_t *end, unsigned bytes);

/* The length of the instructions that most code is made of, without a
 * disassembler. */

/* The length of the instruction that `code` begins with, if it is one of those
 * for which swz_encoding_read and capstone always agree; otherwise, and if it
 * is cut off, 0, which says nothing. Needs swz_usual_init. */
unsigned swz_usual_length(struct swz_bytes code);

/* Prepares the tables; more than once does no harm. */
void swz_usual_init(void);

#endif
