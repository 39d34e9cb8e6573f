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

#include "thunks/usual.h"

#include <string.h>

#include "thunks/encoding.h"

enum { NO_PREFIX, PREFIX_66, PREFIX_F2, PREFIX_F3, PREFIXES };

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

static uint8_t immediate_of(const uint8_t *opcode, size_t length)
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
	form->test_immediate = immediate_of(from, map + 2u);
	code[2] = 0xf8;
	form->immediate = immediate_of(from, map + 2u);
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
	unsigned prefix = NO_PREFIX, kind;
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
