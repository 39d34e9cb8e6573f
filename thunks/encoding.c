/* One pass over the bytes. What an opcode has behind it, ModRM and an
 * immediate, two tables tell for the one-byte map and 0F; in all other maps
 * every instruction has a ModRM but vzeroupper and vzeroall. Planning reads
 * each instruction of a program several times, so this is most of its time. */

#include "thunks/encoding.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "image/elf_view.h"

/* --- encodings ----------------------------------------------------------- */

enum {
	OPCODE_VEX3 = 0xc4,
	OPCODE_VEX2 = 0xc5,
	OPCODE_EVEX = 0x62,
	OPCODE_XOP = 0x8f, /* pop r/m, unless a map of 8 or more follows */
	OPCODE_ESCAPE = 0x0f,
	OPCODE_VZERO = 0x77
};

enum behind {
	/* immediates: 1 to 3 bytes, or */
	FULL = 4, /* of the operand's size, but 4 bytes for one of 8 */
	WHOLE,    /* of the operand's size */
	ADDRESS,  /* of an address' size */
	FOUR,
	BYTE_IF_01, /* one byte if ModRM.reg is 0 or 1: test in its group */
	FULL_IF_01, /* likewise */
	IMMEDIATE = 0x0f,
	MODRM = 0x80
};

#define ARITHMETIC(first) \
	[(first)...(first) + 3] = MODRM, [(first) + 4] = 1, [(first) + 5] = FULL

static const uint8_t one_byte[256] = {
	ARITHMETIC(0x00),
	ARITHMETIC(0x08),
	ARITHMETIC(0x10),
	ARITHMETIC(0x18),
	ARITHMETIC(0x20),
	ARITHMETIC(0x28),
	ARITHMETIC(0x30),
	ARITHMETIC(0x38),
	[0x63] = MODRM, /* movsxd */
	[0x68] = FULL,  /* push, imul */
	[0x69] = MODRM | FULL,
	[0x6a] = 1,
	[0x6b] = MODRM | 1,
	[0x70 ... 0x7f] = 1, /* jcc */
	[0x80] = MODRM | 1,  /* group 1 */
	[0x81] = MODRM | FULL,
	[0x82] = MODRM,
	[0x83] = MODRM | 1,
	[0x84 ... 0x8f] = MODRM,   /* test, xchg, mov, lea, pop */
	[0xa0 ... 0xa3] = ADDRESS, /* mov of an absolute address */
	[0xa8] = 1,                /* test */
	[0xa9] = FULL,
	[0xb0 ... 0xb7] = 1, /* mov */
	[0xb8 ... 0xbf] = WHOLE,
	[0xc0] = MODRM | 1, /* shifts */
	[0xc1] = MODRM | 1,
	[0xc2] = 2,         /* ret */
	[0xc6] = MODRM | 1, /* mov, xabort, xbegin */
	[0xc7] = MODRM | FULL,
	[0xc8] = 3,              /* enter */
	[0xca] = 2,              /* far ret */
	[0xcd] = 1,              /* int */
	[0xd0 ... 0xd3] = MODRM, /* shifts */
	[0xd8 ... 0xdf] = MODRM, /* x87 */
	[0xe0 ... 0xe7] = 1,     /* loop and in, out */
	[0xe8 ... 0xe9] = FULL,  /* call, jmp */
	[0xeb] = 1,              /* jmp */
	[0xf6] = MODRM | BYTE_IF_01,
	[0xf7] = MODRM | FULL_IF_01,
	[0xfe ... 0xff] = MODRM,
};

static const uint8_t escaped[256] = {
	[0x00 ... 0x04] = MODRM, /* then syscall, clts, sysret, invd, wbinvd */
	[0x0a] = MODRM,          /* then ud2 */
	[0x0c ... 0x0d] = MODRM, /* then femms */
	[0x0f] = MODRM | 1,      /* 3DNow: the opcode comes last */
	[0x10 ... 0x2f] = MODRM, /* then wrmsr, rdtsc and so on */
	[0x38 ... 0x6f] = MODRM,
	[0x70 ... 0x73] = MODRM | 1, /* shuffles and shifts of vectors */
	[0x74 ... 0x76] = MODRM,     /* then emms */
	[0x78] = MODRM | 2,          /* extrq, insertq */
	[0x79 ... 0x7f] = MODRM,
	[0x80 ... 0x8f] = FULL, /* jcc */
	[0x90 ... 0x9f] = MODRM,
	[0xa3] = MODRM,          /* before: push fs, pop fs, cpuid */
	[0xa4] = MODRM | 1,      /* shld */
	[0xa5 ... 0xa7] = MODRM, /* then push gs, pop gs, rsm */
	[0xab] = MODRM,
	[0xac] = MODRM | 1, /* shrd */
	[0xad ... 0xb9] = MODRM,
	[0xba] = MODRM | 1, /* bit tests */
	[0xbb ... 0xc1] = MODRM,
	[0xc2] = MODRM | 1, /* cmpps, pinsrw, pextrw, shufps */
	[0xc3] = MODRM,
	[0xc4 ... 0xc6] = MODRM | 1,
	[0xc7] = MODRM, /* then bswap */
	[0xd0 ... 0xff] = MODRM,
};

enum prefix { NO_PREFIX, REX, SIZE_16, ADDRESS_32, LOCK, OTHER };

static const uint8_t prefixes[256] = {
	[0x26] = OTHER, /* es cs ss ds fs gs */
	[0x2e] = OTHER,          [0x36] = OTHER,
	[0x3e] = OTHER,          [0x40 ... 0x4f] = REX,
	[0x64 ... 0x65] = OTHER, [0x66] = SIZE_16,
	[0x67] = ADDRESS_32,     [0xf0] = LOCK,
	[0xf2 ... 0xf3] = OTHER, /* repne, rep */
};

/* No instruction is longer than 15 bytes, so none has more prefixes than these;
 * and what stands before its immediate is no longer than this. */
enum { MOST_PREFIXES = 14, MOST_READ = MOST_PREFIXES + 10 };

/* A REX counts only directly before the opcode. Returns where the opcode is. */
static const uint8_t *read_prefixes(const uint8_t *at, const uint8_t *last,
				    struct swz_encoding *e)
{
	bool operand_size = false;
	uint8_t rex = 0, kind;

	for (; (kind = prefixes[*at]) != NO_PREFIX && at < last; at++) {
		rex = kind == REX ? *at : 0;
		if (kind == SIZE_16)
			operand_size = true;
		else if (kind == ADDRESS_32)
			e->address_size_32 = true;
		else if (kind == LOCK)
			e->locked = true;
	}
	e->rex_w = rex & 8;
	e->extends_reg = rex & 4;
	e->extends_index = rex & 2;
	e->extends_base = rex & 1;
	e->operand_size_16 = operand_size && !e->rex_w;
	return at;
}

/* VEX with three bytes, XOP and EVEX hold the inverted X and B in the same bits
 * of their second byte. Returns what is behind the opcode. */
static const uint8_t *read_vector_opcode(const uint8_t *at,
					 struct swz_encoding *e)
{
	uint8_t lead = at[0], second = at[1];
	unsigned skip = lead == OPCODE_VEX2 ? 2 : lead == OPCODE_EVEX ? 4 : 3;

	e->map = SWZ_MAP_VECTOR;
	e->vector_map = lead == OPCODE_VEX2   ? 1
			: lead == OPCODE_EVEX ? second & 7
					      : second & 0x1f;
	e->scaled_displacement = lead == OPCODE_EVEX;
	if (lead != OPCODE_VEX2) {
		e->extends_index = !(second & 0x40);
		e->extends_base = !(second & 0x20);
	}
	e->opcode = at[skip];
	return at + skip + 1;
}

/* Bytes from ModRM on, the displacement included; returns what is behind. */
static const uint8_t *read_modrm(const uint8_t *start, const uint8_t *at,
				 struct swz_encoding *e)
{
	uint8_t modrm = *at, mod = modrm >> 6, base = modrm & 7;

	e->modrm_at = (uint8_t)(at - start);
	e->modrm = modrm;
	at++;
	if (mod == 3)
		return at;
	if (base == 4) {
		e->sib = *at++;
		base = e->sib & 7;
	}
	if (mod == 1)
		e->displacement_bytes = 1;
	else if (mod == 2 || base == 5)
		e->displacement_bytes = 4;
	else
		return at;
	e->displacement_at = (uint8_t)(at - start);
	return at + e->displacement_bytes;
}

static uint8_t immediate_of(unsigned kind, const struct swz_encoding *e)
{
	uint8_t full = e->operand_size_16 ? 2 : 4;

	switch (kind) {
	case FULL:
		return full;
	case WHOLE:
		return e->rex_w ? 8 : full;
	case ADDRESS:
		return e->address_size_32 ? 4 : 8;
	case FOUR:
		return 4;
	case BYTE_IF_01:
		return swz_modrm_reg(e->modrm) < 2;
	case FULL_IF_01:
		return swz_modrm_reg(e->modrm) < 2 ? full : 0;
	default:
		return (uint8_t)kind;
	}
}

/* The maps of VEX and EVEX are named as those without; 8 to 10 are XOP's. */
static uint8_t behind_vector(const struct swz_encoding *e)
{
	switch (e->vector_map) {
	case 1:
		if (e->opcode == OPCODE_VZERO)
			return 0;
		return MODRM |
		       ((e->opcode & 0xfc) == 0x70 || e->opcode == 0xc2 ||
			(e->opcode >= 0xc4 && e->opcode <= 0xc6));
	case 3:
	case 8:
		return MODRM | 1;
	case 10:
		return MODRM | FOUR;
	default:
		return MODRM;
	}
}

/* From what the tables say of an opcode to the end. */
static void read_behind(const uint8_t *start, const uint8_t *at, uint8_t behind,
			struct swz_encoding *e)
{
	if (behind & MODRM)
		at = read_modrm(start, at, e);
	e->operands_at = (uint8_t)(at - start);
	if (behind & IMMEDIATE)
		e->immediate_bytes = immediate_of(behind & IMMEDIATE, e);
}

static void read_other(const uint8_t *start, const uint8_t *at,
		       struct swz_encoding *e)
{
	uint8_t behind = MODRM;

	if (*at != OPCODE_ESCAPE) {
		at = read_vector_opcode(at, e);
		behind = behind_vector(e);
	} else if (at[1] == 0x38 || at[1] == 0x3a) {
		e->map = at[1] == 0x38 ? SWZ_MAP_0F38 : SWZ_MAP_0F3A;
		e->opcode = at[2];
		behind |= at[1] == 0x3a;
		at += 3;
	} else {
		e->map = SWZ_MAP_0F;
		e->opcode = at[1];
		behind = escaped[at[1]];
		at += 2;
	}
	read_behind(start, at, behind, e);
}

static bool is_one_byte(const uint8_t *at)
{
	switch (*at) {
	case OPCODE_ESCAPE:
	case OPCODE_VEX2:
	case OPCODE_VEX3:
	case OPCODE_EVEX:
		return false;
	case OPCODE_XOP:
		return (at[1] & 0x1f) < 8;
	default:
		return true;
	}
}

static void read_all(const uint8_t *start, struct swz_encoding *e)
{
	const uint8_t *at = read_prefixes(start, start + MOST_PREFIXES, e);

	e->prefix_bytes = e->opcode_at = (uint8_t)(at - start);
	if (is_one_byte(at)) {
		e->map = SWZ_MAP_ONE_BYTE;
		e->opcode = *at;
		read_behind(start, at + 1, one_byte[*at], e);
	} else {
		read_other(start, at, e);
	}
}

enum swz_status swz_encoding_read(struct swz_bytes code,
				  struct swz_encoding *encoding)
{
	uint8_t padded[MOST_READ] = {0};

	memset(encoding, 0, sizeof(*encoding));
	if (code.size >= MOST_READ) {
		read_all(code.data, encoding);
		return SWZ_OK;
	}
	memcpy(padded, code.data, code.size);
	read_all(padded, encoding);
	return encoding->operands_at <= code.size ? SWZ_OK : SWZ_E_FORMAT;
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

/* By its first byte that is no prefix. */
static bool may_be_padding(struct swz_bytes code)
{
	size_t i = 0;

	while (i < code.size && prefixes[code.data[i]] != NO_PREFIX)
		i++;
	return i < code.size &&
	       (code.data[i] == 0x90 || code.data[i] == OPCODE_ESCAPE ||
		(!i && code.data[i] == 0xcc));
}

size_t swz_padding_length(struct swz_bytes code)
{
	struct swz_encoding e;

	if (!may_be_padding(code))
		return 0;
	if (*code.data == 0xcc)
		return 1;
	if (swz_encoding_read(code, &e) != SWZ_OK || e.extends_base || e.locked)
		return 0;
	if ((e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0x90) ||
	    (e.map == SWZ_MAP_0F && e.opcode == 0x1f &&
	     swz_modrm_reg(e.modrm) == 0))
		return e.operands_at;
	return 0;
}

/* --- usual instructions -------------------------------------------------- */

/* Planning walks over millions of instructions of which it wants to know the
 * length alone, that is where the next one begins. Capstone takes a hundred
 * times as long for each as a few table lookups do.
 *
 * Which opcodes qualify was found by trying, and is tried again by a unit test
 * (tests/unit/test_usual.c): with every REX, ModRM and kind of SIB capstone
 * finds an instruction, of the length that swz_encoding_read finds. What is not
 * valid in some forms qualifies in the others. Near branches with prefix 66 do
 * not: Intel's processors ignore it there, AMD's do not (SDM 2, "Instruction
 * prefixes"; APM 3, "CALL (Near)"), and nor do all versions of capstone agree.
 */

enum { PREFIX_NONE, PREFIX_66, PREFIX_F2, PREFIX_F3, PREFIXES };

/* A bit for each opcode, by map (one byte, 0F) and prefix. */
static const uint64_t agreed[2][PREFIXES][4] = {
	{
		{0x3f3f3f3f3f3f3f3f, 0xffffff08ffff0000, 0xfffffffffbffaffb,
		 0xfff2fbff118fbfcf},
		{0x3f3f3f3f3f3f3f3f, 0xffffff08ffff0000, 0xfffffffffbffaffb,
		 0xfff2f8ff118fbfcb},
		{0x3f3f3f3f3f3f3f3f, 0xffffff08ffff0000, 0xfffffffffbffaffb,
		 0xfff2fbff118fbfcf},
		{0x3f3f3f3f3f3f3f3f, 0xffffff08ffff0000, 0xfffffffffbffaffb,
		 0xfff2fbff118fbfcf},
	},
	{
		{0x00bfff0082ff4bec, 0xc2f7cffffffeffff, 0xfccbff3fffffffff,
		 0x7f7effbfff3effdf},
		{0x00bfff0082ff4bec, 0xf2fffffffffeffff, 0xfccbff3fffff0000,
		 0x7f7effffff7fffdf},
		{0x00bfff0082ff4bec, 0xf2f7cffffffeffff, 0xfccbff3fffffffff,
		 0x7f7fffffff3fffdf},
		{0x00bfff0082ff4bec, 0xc2f7cffffffeffff, 0xfdcbff3fffffffff,
		 0x7f7effffff3effdf},
	},
};

#define REGISTER(mask) ((mask) << 8) /* forms with a register, mod 3 */
#define BOTH(mask) ((mask) | REGISTER(mask))

/* Forms that do not qualify: a bit for each value of ModRM.reg. */
static const struct {
	uint8_t map;
	uint8_t opcode;
	uint16_t forms;
} exceptions[] = {
	{0, 0x8d, REGISTER(0xff)}, /* lea */
	{0, 0x8f, BOTH(0xfe)},     /* pop, or XOP */
	{0, 0xc0, BOTH(0x40)},     /* shifts */
	{0, 0xc1, BOTH(0x40)},
	{0, 0xc6, BOTH(0xfe)}, /* mov, or xabort and xbegin */
	{0, 0xc7, BOTH(0xfe)},
	{0, 0xd0, BOTH(0x40)},
	{0, 0xd1, BOTH(0x40)},
	{0, 0xd2, BOTH(0x40)},
	{0, 0xd3, BOTH(0x40)},
	{0, 0xf6, BOTH(0x02)}, /* test */
	{0, 0xf7, BOTH(0x02)},
	{0, 0xfe, BOTH(0xfc)}, /* inc, dec */
	{0, 0xff, BOTH(0xa8)}, /* far call, far jmp, nothing */
	{1, 0x12, REGISTER(0xff)},
	{1, 0x13, REGISTER(0xff)},
	{1, 0x16, REGISTER(0xff)},
	{1, 0x17, REGISTER(0xff)},
	{1, 0x1f, BOTH(0xfe) | REGISTER(0x01)}, /* nop */
	{1, 0x2b, REGISTER(0xff)},
	{1, 0x71, BOTH(0xff)}, /* shifts of vectors */
	{1, 0x72, BOTH(0xff)},
	{1, 0x73, BOTH(0xff)},
	{1, 0xae, BOTH(0xff)}, /* fences and others */
	{1, 0xba, BOTH(0x0f)}, /* bit tests */
	{1, 0xc3, REGISTER(0xff)},
	{1, 0xc7, BOTH(0xff)}, /* cmpxchg8b and others */
	{1, 0xe7, REGISTER(0xff)},
	{1, 0xf0, REGISTER(0xff)},
};

enum immediate {
	IMMEDIATE_FULL = 0x10, /* 4 bytes; 2 with prefix 66 */
	IMMEDIATE_WHOLE = 0x20 /* and 8 with REX.W */
};

static struct form {
	uint8_t known; /* a bit for each prefix */
	bool has_modrm;
	uint8_t immediate;      /* its bytes, or one of the above */
	uint8_t test_immediate; /* instead, where ModRM.reg is 0 */
	uint16_t never;         /* exceptions, as above */
} forms[2][256];

/* Bytes behind ModRM, by its value; a SIB byte may add a displacement. */
static uint8_t behind_modrm[256];

static uint8_t immediate_behind(const uint8_t *opcode, size_t length)
{
	static const uint8_t before[] = {0, 0x66, 0x48};
	uint8_t bytes[3] = {0};

	for (unsigned i = 0; i < sizeof(before); i++) {
		uint8_t code[16] = {before[i]};
		struct swz_bytes all = {code, sizeof(code)};
		struct swz_encoding e;
		unsigned skip = before[i] ? 1 : 0;

		memcpy(code + skip, opcode, length);
		if (swz_encoding_read(all, &e) == SWZ_OK)
			bytes[i] = e.immediate_bytes;
		if (!bytes[0])
			return 0; /* nor with a prefix */
	}
	if (bytes[0] == bytes[1])
		return bytes[0];
	return bytes[2] == 8 ? IMMEDIATE_WHOLE : IMMEDIATE_FULL;
}

static void init_form(unsigned map, uint8_t opcode)
{
	struct form *form = &forms[map][opcode];
	/* ModRM: registers, /0 and /7 */
	uint8_t code[16] = {0x0f, opcode, 0xc0}, *from = code + !map;
	struct swz_bytes all = {from, sizeof(code) - 1};
	struct swz_encoding e;

	for (unsigned i = 0; i < PREFIXES; i++)
		if (agreed[map][i][opcode / 64] >> opcode % 64 & 1)
			form->known |= (uint8_t)(1u << i);
	if (!form->known || swz_encoding_read(all, &e) != SWZ_OK)
		return;
	form->has_modrm = e.modrm_at;
	form->test_immediate = immediate_behind(from, map + 2u);
	code[2] = 0xf8;
	form->immediate = immediate_behind(from, map + 2u);
}

void swz_usual_init(void)
{
	if (forms[0][0x90].known)
		return;
	for (unsigned i = 0; i < 256; i++) {
		unsigned mod = i >> 6, rm = i & 7;

		behind_modrm[i] = mod == 1 ? 1 : mod == 2 ? 4 : 0;
		if (mod == 0 && rm == 5)
			behind_modrm[i] = 4;
		if (mod != 3 && rm == 4)
			behind_modrm[i]++;
		init_form(1, (uint8_t)i);
	}
	for (unsigned i = 0; i < sizeof(exceptions) / sizeof(*exceptions); i++)
		forms[exceptions[i].map][exceptions[i].opcode].never =
			exceptions[i].forms;
	for (unsigned i = 0; i < 256; i++)
		init_form(0, (uint8_t)i);
}

static unsigned immediate_bytes(unsigned kind, unsigned prefix, bool wide)
{
	if (kind < IMMEDIATE_FULL)
		return kind;
	if (wide)
		return kind == IMMEDIATE_WHOLE ? 8 : 4;
	return prefix == PREFIX_66 ? 2 : 4;
}

static unsigned length_of(const uint8_t *code)
{
	const uint8_t *at = code;
	const struct form *form;
	unsigned prefix = PREFIX_NONE, kind;
	bool wide = false;

	if (*at == 0x66)
		prefix = PREFIX_66, at++;
	else if (*at == 0xf2)
		prefix = PREFIX_F2, at++;
	else if (*at == 0xf3)
		prefix = PREFIX_F3, at++;
	if ((*at & 0xf0) == 0x40)
		wide = *at++ & 8;
	form = forms[0];
	if (*at == 0x0f)
		form = forms[1], at++;
	form += *at++;
	if (!(form->known >> prefix & 1))
		return 0;
	kind = form->immediate;
	if (form->has_modrm) {
		uint8_t modrm = *at++;
		unsigned reg = modrm >> 3 & 7;

		if (form->never >> (reg + (modrm >= 0xc0 ? 8 : 0)) & 1)
			return 0;
		if (!reg)
			kind = form->test_immediate;
		if ((modrm & 0xc7) == 4 && (*at & 7) == 5)
			at += 4; /* no base: a displacement */
		at += behind_modrm[modrm];
	}
	return (unsigned)(at - code) + immediate_bytes(kind, prefix, wide);
}

unsigned swz_usual_length(struct swz_bytes code)
{
	uint8_t padded[16] = {0};
	unsigned length;

	if (code.size >= sizeof(padded))
		return length_of(code.data);
	memcpy(padded, code.data, code.size);
	length = length_of(padded);
	return length <= code.size ? length : 0;
}
