/* A hook changes the flags and writes below the stack pointer. Compiled code is
 * followed from a place on to see that it needs neither: whatever is not known
 * for certain counts as needed. */

#include "thunks/relocate.h"

#include <stdbool.h>
#include <string.h>

#include "image/elf_view.h"
#include "thunks/encoding.h"

/* --- flags --------------------------------------------------------------- */

/* The instructions are followed in a row, over direct jumps, up to one that
 * sets all of the flags. Only what is known neither to read nor to set any is
 * passed over: what compilers place between a load and what comes next. */

/* Instructions that are looked at. */
#define MOST 48u

enum effect { SETS_ALL, PASSES, LEAVES, JUMPS, READS_OR_UNKNOWN };

/* add, or, adc, sbb, and, sub, xor, cmp: the third and the fourth read CF. */
static enum effect of_arithmetic(unsigned operation)
{
	return operation == 2 || operation == 3 ? READS_OR_UNKNOWN : SETS_ALL;
}

/* Shifts by a number that is not zero, and no rotations. What they leave
 * undefined nobody reads. */
static enum effect of_shift(unsigned operation, uint8_t count)
{
	return operation >= 4 && count & 0x1f ? SETS_ALL : READS_OR_UNKNOWN;
}

static enum effect of_one_byte(const struct swz_encoding *e,
			       const uint8_t *code)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->opcode < 0x40 && (e->opcode & 7) < 6)
		return of_arithmetic(e->opcode >> 3);
	switch (e->opcode) {
	case 0x50 ... 0x5f: /* push, pop */
	case 0x63:          /* movsxd */
	case 0x68:          /* push */
	case 0x6a:
	case 0x88 ... 0x8b: /* mov */
	case 0x8d:          /* lea */
	case 0x90:
	case 0x98:          /* cdqe */
	case 0x99:          /* cqo */
	case 0xb0 ... 0xbf: /* mov */
	case 0xc6:
	case 0xc9: /* leave */
		return PASSES;
	case 0xc7: /* not xbegin */
		return e->modrm == 0xf8 ? READS_OR_UNKNOWN : PASSES;
	case 0x80:
	case 0x81:
	case 0x83:
		return of_arithmetic(reg);
	case 0x84: /* test */
	case 0x85:
	case 0xa8:
	case 0xa9:
		return SETS_ALL;
	case 0x69: /* imul */
	case 0x6b:
		return SETS_ALL;
	case 0xc0:
	case 0xc1:
		return of_shift(reg, code[e->operands_at]);
	case 0xd0:
	case 0xd1:
		return of_shift(reg, 1);
	case 0xf6: /* test, neg, mul, div; not */
	case 0xf7:
		return reg == 2 ? PASSES : SETS_ALL;
	case 0xc2: /* ret */
	case 0xc3:
	case 0xe8: /* call */
		return LEAVES;
	case 0xe9:
	case 0xeb:
		return JUMPS;
	case 0xff:
		if (reg < 2 || reg == 6) /* inc, dec, push */
			return PASSES;
		if (reg == 2 || e->modrm == 0x25) /* call; jmp, as PLTs do */
			return LEAVES;
		return READS_OR_UNKNOWN;
	default:
		return READS_OR_UNKNOWN;
	}
}

static enum effect of_0f(const struct swz_encoding *e)
{
	switch (e->opcode) {
	case 0x10 ... 0x17: /* vectors */
	case 0x1e:          /* endbr64 */
	case 0x1f:
	case 0x28 ... 0x2d:
	case 0x50 ... 0x76:
	case 0x7c ... 0x7f:
	case 0xb6: /* movzx, movsx */
	case 0xb7:
	case 0xbe:
	case 0xbf:
	case 0xc6:
	case 0xc8 ... 0xcf: /* bswap */
	case 0xd0 ... 0xfe:
		return PASSES;
	case 0x2e: /* ucomis, comis */
	case 0x2f:
	case 0xaf: /* imul */
		return SETS_ALL;
	default:
		return READS_OR_UNKNOWN;
	}
}

static enum effect effect_of(const struct swz_encoding *e, const uint8_t *code)
{
	switch (e->map) {
	case SWZ_MAP_ONE_BYTE:
		return of_one_byte(e, code);
	case SWZ_MAP_0F:
		return of_0f(e);
	case SWZ_MAP_VECTOR: /* not what APX has promoted */
		return e->vector_map <= 3 ? PASSES : READS_OR_UNKNOWN;
	default:
		return READS_OR_UNKNOWN;
	}
}

bool swz_flags_are_free(struct swz_bytes text, uint64_t at)
{
	for (unsigned i = 0; i < MOST && at < text.size; i++) {
		struct swz_bytes rest = {text.data + at, text.size - at};
		struct swz_encoding e;
		uint64_t length;
		enum effect effect;

		if (swz_encoding_read(rest, &e) != SWZ_OK)
			return false;
		length = (uint64_t)e.operands_at + e.immediate_bytes;
		if (length > rest.size)
			return false;
		at += length;
		effect = effect_of(&e, rest.data);
		if (effect == SETS_ALL || effect == LEAVES)
			return true;
		if (effect == READS_OR_UNKNOWN)
			return false;
		if (effect == JUMPS)
			at += (uint64_t)swz_distance_before(
				text.data + at, swz_encoding_branch_bytes(&e));
	}
	return false;
}

/* --- leaves -------------------------------------------------------------- */

/* The bytes are decoded in a row. What is no instruction may be misread; then
 * calls are recorded as their caller's caller's, no more. */

/* Longer ones are seldom called so often that it matters. */
#define MOST_BYTES 2048u

struct insn {
	const uint8_t *end;
	struct swz_encoding e;
};

static bool read_insn(struct swz_bytes code, struct insn *insn)
{
	size_t length;

	if (swz_encoding_read(code, &insn->e) != SWZ_OK)
		return false;
	length = (size_t)insn->e.operands_at + insn->e.immediate_bytes;
	insn->end = code.data + length;
	return length <= code.size;
}

/* Calls, system calls and indirect jumps. */
static bool leaves(const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->map == SWZ_MAP_0F)
		return e->opcode == 0x05 || e->opcode == 0x07 ||
		       e->opcode == 0x34 || e->opcode == 0x35;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0xe8: /* call */
	case 0xca: /* far return */
	case 0xcb:
	case 0xcd: /* int */
	case 0xcf: /* iret */
		return true;
	case 0xc7: /* xbegin */
		return e->modrm == 0xf8;
	case 0xff:
		return reg >= 2 && reg <= 5;
	default:
		return false;
	}
}

/* True if any byte of the function may begin a call: most have one early. */
static bool seems_to_call(struct swz_bytes code, struct swz_bytes module)
{
	for (size_t at = 0; at + 5 <= code.size; at++) {
		int32_t distance;
		uintptr_t target;

		if (code.data[at] != 0xe8)
			continue;
		memcpy(&distance, code.data + at + 1, sizeof(distance));
		target = (uintptr_t)code.data + at + 5 +
			 (uintptr_t)(int64_t)distance;
		if (target - (uintptr_t)module.data < module.size)
			return true;
	}
	return false;
}

bool swz_is_leaf(struct swz_bytes code, unsigned site, struct swz_bytes module)
{
	size_t at = 0;

	if (code.size > MOST_BYTES || seems_to_call(code, module))
		return false;
	while (at < code.size) {
		struct swz_bytes rest = {code.data + at, code.size - at};
		struct insn insn;
		unsigned bytes;

		if (!read_insn(rest, &insn))
			return false;
		at = (size_t)(insn.end - code.data);
		if (leaves(&insn.e) || swz_encoding_replaces_stack(&insn.e))
			return false;
		bytes = swz_encoding_branch_bytes(&insn.e);
		if (bytes == 2)
			return false;
		if (bytes) {
			int64_t target = (int64_t)at +
					 swz_distance_before(insn.end, bytes);

			if (target <= (int64_t)site ||
			    target >= (int64_t)code.size)
				return false;
		}
	}
	return code.size != 0;
}

/* --- the red zone -------------------------------------------------------- */

/* A function that calls nothing may keep values in the 128 bytes below the
 * stack pointer (the red zone, SysV ABI 3.2.2) and needs no frame. Then the
 * unwind table of its cold part describes what that of a function does at its
 * entry, and without a symbol only the code tells the two apart: hooks write
 * below the stack pointer, which the cold part has yet to read from.
 *
 * The instructions are gone through as they stand, and it is noted which bytes
 * have been written. Where the address of something there is taken, all up to
 * the stack pointer may be written through it; if nothing had been written
 * before, it is taken for the address of what the other part has put there. */

#define RED_ZONE_BYTES 128

struct red_zone {
	bool written[RED_ZONE_BYTES]; /* [0] is the byte at -128(%rsp) */
	bool any;
};

/* An instruction's use of its memory operand. */
enum use { USE_NONE, USE_READ, USE_WRITE, USE_ADDRESS };

static bool is_evex(const struct swz_encoding *e, const uint8_t *code)
{
	return e->map == SWZ_MAP_VECTOR && code[e->prefix_bytes] == 0x62;
}

/* 62 P0 P1 P2, and C5 P or C4 P0 P1, before the opcode: the last P but for
 * P2. */
static uint8_t vector_fields(const struct swz_encoding *e, const uint8_t *code)
{
	return code[e->modrm_at - (is_evex(e, code) ? 3 : 2)];
}

/* The prefix of an opcode that lies in the prefixes of older instructions, and
 * in a field of VEX and EVEX. */
static uint8_t mandatory_prefix(const struct swz_encoding *e,
				const uint8_t *code)
{
	static const uint8_t of_field[] = {0, 0x66, 0xf3, 0xf2};
	uint8_t prefix = 0;

	if (e->map == SWZ_MAP_VECTOR)
		return of_field[vector_fields(e, code) & 3];
	for (unsigned i = 0; i < e->prefix_bytes; i++) {
		if (code[i] == 0xf2 || code[i] == 0xf3)
			return code[i];
		if (code[i] == 0x66)
			prefix = 0x66;
	}
	return prefix;
}

static unsigned map_of(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_VECTOR ? SWZ_MAP_ONE_BYTE + e->vector_map
					: e->map;
}

static bool is_one_byte_store(const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	switch (e->opcode) {
	case 0x88: /* mov */
	case 0x89:
	case 0x8c:
	case 0xc6:
	case 0xc7:
		return true;
	case 0xd9: /* fst, fstp, fnstenv, fnstcw */
		return reg == 2 || reg == 3 || reg >= 6;
	case 0xdb: /* fistp and its like, fstp */
		return (reg >= 1 && reg <= 3) || reg == 7;
	case 0xdd:
	case 0xdf:
		return (reg >= 1 && reg <= 3) || reg >= 6;
	default:
		return false;
	}
}

static bool is_0f_store(const struct swz_encoding *e, uint8_t prefix)
{
	if ((e->opcode & 0xf0) == 0x90) /* setcc; kmov: 90 is a load */
		return e->map != SWZ_MAP_VECTOR || e->opcode == 0x91;
	switch (e->opcode) {
	case 0x11: /* movups and its like */
	case 0x13:
	case 0x17:
	case 0x29:
	case 0x2b:
	case 0x7f:
	case 0xc3: /* movnti */
	case 0xd6:
	case 0xe7:
		return true;
	case 0x7e: /* movd, movq; with f3 a load */
		return prefix != 0xf3;
	case 0xae: /* stmxcsr */
		return swz_modrm_reg(e->modrm) == 3;
	default:
		return false;
	}
}

static bool is_store(const struct swz_encoding *e, const uint8_t *code)
{
	uint8_t prefix = mandatory_prefix(e, code);

	switch (map_of(e)) {
	case SWZ_MAP_ONE_BYTE:
		return is_one_byte_store(e);
	case SWZ_MAP_0F:
		return is_0f_store(e, prefix);
	case SWZ_MAP_0F38: /* movbe; with f2 crc32 */
		return e->map == SWZ_MAP_0F38 && e->opcode == 0xf1 &&
		       prefix != 0xf2;
	case SWZ_MAP_0F3A: /* pextr and its like, vextract */
		return (e->opcode >= 0x14 && e->opcode <= 0x17) ||
		       (e->opcode & 0xdd) == 0x19 || e->opcode == 0x1d;
	default:
		return false;
	}
}

static enum use use_of(const struct swz_encoding *e, const uint8_t *code)
{
	if (e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0x8d) /* lea; of %rsp: */
		return swz_modrm_reg(e->modrm) == 4 && !e->extends_reg
			       ? USE_NONE
			       : USE_ADDRESS;
	if (e->map == SWZ_MAP_0F &&
	    (e->opcode == 0x18 || e->opcode == 0x0d || e->opcode == 0x1f))
		return USE_NONE; /* prefetch, nop */
	return is_store(e, code) ? USE_WRITE : USE_READ;
}

/* Where in the zone the memory operand begins; -1: it is not there. */
static int place_of(const struct swz_encoding *e, const uint8_t *code)
{
	int32_t displacement;
	uint8_t byte;

	if (!e->modrm_at || swz_modrm_mod(e->modrm) == 3 ||
	    !swz_encoding_has_sib(e) || (e->sib & 7) != 4 || e->extends_base)
		return -1;
	if (e->displacement_bytes == 1) {
		byte = code[e->displacement_at];
		displacement = byte < 0x80 ? byte : byte - 0x100;
	} else if (e->displacement_bytes == 4) {
		memcpy(&displacement, code + e->displacement_at, 4);
	} else {
		return -1;
	}
	if (displacement >= 0)
		return -1;
	/* what counts vectors may be anywhere */
	if (e->scaled_displacement || displacement < -RED_ZONE_BYTES)
		return 0;
	return RED_ZONE_BYTES + displacement;
}

/* How much is_one_byte_store() writes. */
static int one_byte_bytes(const struct swz_encoding *e)
{
	static const uint8_t x87[4][8] = {
		{0, 0, 4, 4, 0, 0, 28, 2},  /* d9 */
		{0, 4, 4, 4, 0, 0, 0, 10},  /* db */
		{0, 8, 8, 8, 0, 0, 108, 2}, /* dd */
		{0, 2, 2, 2, 0, 0, 10, 8},  /* df */
	};

	switch (e->opcode) {
	case 0x88:
	case 0xc6:
		return 1;
	case 0x89:
	case 0xc7:
		return e->operand_size_16 ? 2 : e->rex_w ? 8 : 4;
	case 0x8c:
		return 2;
	default:
		return x87[e->opcode >> 1 & 3][swz_modrm_reg(e->modrm)];
	}
}

static bool is_wide(const struct swz_encoding *e, const uint8_t *code)
{
	if (e->map != SWZ_MAP_VECTOR)
		return e->rex_w;
	/* C5 has R where others have W */
	return code[e->prefix_bytes] != 0xc5 && vector_fields(e, code) & 0x80;
}

static int vector_bytes(const struct swz_encoding *e, const uint8_t *code)
{
	if (is_evex(e, code))
		return 16 << (code[e->modrm_at - 2] >> 5 & 3);
	return e->map == SWZ_MAP_VECTOR && vector_fields(e, code) & 4 ? 32 : 16;
}

/* How much is_0f_store() writes. */
static int map_0f_bytes(const struct swz_encoding *e, const uint8_t *code)
{
	uint8_t prefix = mandatory_prefix(e, code);

	switch (e->opcode) {
	case 0x11: /* movss, movsd */
		if (prefix == 0xf2 || prefix == 0xf3)
			return prefix == 0xf3 ? 4 : 8;
		return vector_bytes(e, code);
	case 0x13:
	case 0x17:
	case 0xd6:
		return 8;
	case 0x7e:
	case 0xc3:
		return is_wide(e, code) ? 8 : 4;
	case 0x7f:
	case 0xe7: /* of MMX */
		return prefix ? vector_bytes(e, code) : 8;
	case 0x91: /* setno, or kmov */
		if (e->map == SWZ_MAP_VECTOR)
			return (is_wide(e, code) ? 4 : 1) * (prefix ? 1 : 2);
		return 1;
	case 0xae:
		return 4;
	default:
		return (e->opcode & 0xf0) == 0x90 ? 1 : vector_bytes(e, code);
	}
}

/* How much is_store() writes. */
static int bytes_of(const struct swz_encoding *e, const uint8_t *code)
{
	if (e->scaled_displacement)
		return RED_ZONE_BYTES;
	switch (map_of(e)) {
	case SWZ_MAP_ONE_BYTE:
		return one_byte_bytes(e);
	case SWZ_MAP_0F:
		return map_0f_bytes(e, code);
	case SWZ_MAP_0F38: /* movbe */
		return e->operand_size_16 ? 2 : e->rex_w ? 8 : 4;
	default:
		break;
	}
	switch (e->opcode) { /* of SWZ_MAP_0F3A */
	case 0x14:
		return 1;
	case 0x15:
		return 2;
	case 0x16:
		return is_wide(e, code) ? 8 : 4;
	case 0x17:
		return 4;
	case 0x1d:
		return vector_bytes(e, code) / 2;
	default: /* of twice the length, at least */
		return 16;
	}
}

static void note_written(struct red_zone *zone, int place, int bytes)
{
	for (int i = place; i < RED_ZONE_BYTES && i < place + bytes; i++)
		zone->written[i] = true;
	zone->any = true;
}

/* True if the instruction finds something there that it has not written. */
static bool inherits(struct red_zone *zone, const struct swz_encoding *e,
		     const uint8_t *code)
{
	bool indexed = (e->sib >> 3 & 7) != 4 || e->extends_index;
	int place = place_of(e, code);

	if (place < 0)
		return false;
	switch (use_of(e, code)) {
	case USE_READ:
		return e->scaled_displacement ? !zone->any
					      : !zone->written[place];
	case USE_WRITE: /* with an index, to one of many places */
		note_written(zone, place, indexed ? 0 : bytes_of(e, code));
		return false;
	case USE_ADDRESS:
		if (!zone->any)
			return true;
		note_written(zone, place, RED_ZONE_BYTES);
		return false;
	default:
		return false;
	}
}

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

#define ONES UINT64_C(0x0101010101010101)

/* True if the bytes may hold a ModRM, a SIB and a displacement of such an
 * operand. Longer displacements than a byte are not needed. */
static bool may_use(const uint8_t *code, uint64_t size)
{
	uint64_t i = 1;

	for (; i + 10 <= size; i += 8) {
		uint64_t wrong = ((*(const word *)(code + i) & 0xc7 * ONES) ^
				  0x44 * ONES) |
				 ((*(const word *)(code + i + 1) & 7 * ONES) ^
				  4 * ONES) |
				 (~*(const word *)(code + i + 2) & 0x80 * ONES);

		if ((wrong - ONES) & ~wrong & 0x80 * ONES)
			return true;
	}
	for (; i + 2 < size; i++)
		if (code[i + 2] >= 0x80 && (code[i] & 0xc7) == 0x44 &&
		    (code[i + 1] & 7) == 4)
			return true;
	return false;
}

/* The instruction that the bytes begin with, and those behind it. */
static bool next(struct swz_bytes *code, struct swz_encoding *e)
{
	size_t length;

	if (!code->size || swz_encoding_read(*code, e) != SWZ_OK)
		return false;
	length = (size_t)e->operands_at + e->immediate_bytes;
	if (!length || length > code->size)
		return false;
	code->data += length;
	code->size -= length;
	return true;
}

bool swz_inherits_red_zone(struct swz_bytes code)
{
	struct red_zone zone = {{false}, false};
	const uint8_t *insn = code.data;
	struct swz_encoding e;

	if (!may_use(code.data, code.size))
		return false;
	for (; next(&code, &e); insn = code.data)
		if (inherits(&zone, &e, insn))
			return true;
	return false;
}

bool swz_uses_red_zone(struct swz_bytes code)
{
	const uint8_t *insn = code.data;
	struct swz_encoding e;

	if (!may_use(code.data, code.size))
		return false;
	for (; next(&code, &e); insn = code.data)
		if (place_of(&e, insn) >= 0)
			return true;
	return false;
}
