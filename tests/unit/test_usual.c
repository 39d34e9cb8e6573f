/* Every opcode that swz_usual_length knows, with each prefix, REX and ModRM,
 * and each kind of SIB, is an instruction to capstone, of that length. */

#include <capstone/capstone.h>
#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "thunks/encoding.h"

static csh handle;
static cs_insn *insn;

static void setup(void)
{
	swz_usual_init();
	ck_assert_int_eq(cs_open(CS_ARCH_X86, CS_MODE_64, &handle), CS_ERR_OK);
	insn = cs_malloc(handle);
	ck_assert_ptr_nonnull(insn);
}

static void teardown(void)
{
	cs_free(insn, 1);
	cs_close(&handle);
}

static unsigned capstone_length(struct swz_bytes code)
{
	const uint8_t *next = code.data;
	size_t left = code.size;
	uint64_t address = 0;

	return cs_disasm_iter(handle, &next, &left, &address, insn)
		       ? (unsigned)(code.size - left)
		       : 0;
}

static unsigned encoding_length(struct swz_bytes code)
{
	struct swz_encoding e;

	return swz_encoding_read(code, &e) == SWZ_OK
		       ? (unsigned)e.operands_at + e.immediate_bytes
		       : 0;
}

/* True if its length is known, which then is compared. */
static bool agrees(const uint8_t *bytes, size_t size)
{
	struct swz_bytes code = {bytes, size};
	unsigned length = swz_usual_length(code);

	if (!length)
		return false;
	/* capstone 5 does not know some that have prefixes to no effect */
	if ((capstone_length(code) && length != capstone_length(code)) ||
	    length != encoding_length(code))
		ck_abort_msg("%02x %02x %02x %02x %02x %02x: %u bytes; "
			     "capstone %u, encoding %u",
			     bytes[0], bytes[1], bytes[2], bytes[3], bytes[4],
			     bytes[5], length, capstone_length(code),
			     encoding_length(code));
	for (size_t cut = 1; cut < length; cut++) {
		code.size = cut;
		if (swz_usual_length(code))
			ck_abort_msg("known, but cut off");
	}
	return true;
}

static const uint8_t prefixes[] = {0, 0x66, 0xf2, 0xf3, 0xf0, 0x67, 0x64};
static const uint8_t sibs[] = {0x00, 0x24, 0x25, 0x65, 0xff, 0x0d};
static const uint8_t rests[] = {0x00, 0xff};

static unsigned try_operands(uint8_t *code, size_t at)
{
	unsigned known = 0;

	for (unsigned modrm = 0; modrm < 256; modrm++) {
		bool has_sib = modrm < 0xc0 && (modrm & 7) == 4;

		code[at] = (uint8_t)modrm;
		for (unsigned s = 0; s < (has_sib ? sizeof(sibs) : 1); s++) {
			if (has_sib)
				code[at + 1] = sibs[s];
			known += agrees(code, 16);
		}
	}
	return known;
}

static unsigned try_opcode(uint8_t prefix, bool escaped, uint8_t opcode)
{
	unsigned known = 0;

	/* 3f: no REX */
	for (unsigned rex = 0x3f; rex < 0x50; rex++) {
		uint8_t code[16];
		size_t at = 0;

		memset(code, rests[rex % 2], sizeof(code));
		if (prefix)
			code[at++] = prefix;
		if (rex != 0x3f)
			code[at++] = (uint8_t)rex;
		if (escaped)
			code[at++] = 0x0f;
		code[at++] = opcode;
		known += try_operands(code, at);
	}
	return known;
}

START_TEST(agrees_with_capstone_wherever_it_knows_a_length)
{
	for (unsigned opcode = 0; opcode < 256; opcode++) {
		try_opcode(prefixes[_i], false, (uint8_t)opcode);
		try_opcode(prefixes[_i], true, (uint8_t)opcode);
	}
}
END_TEST

START_TEST(knows_what_code_is_made_of)
{
	static const struct {
		uint8_t code[16];
		unsigned length;
	} cases[] = {
		{{0x55}, 1},                         /* push %rbp */
		{{0x41, 0x57}, 2},                   /* push %r15 */
		{{0x48, 0x89, 0xe5}, 3},             /* mov */
		{{0x48, 0x8d, 0x05, 1, 2, 3, 4}, 7}, /* lea n(%rip) */
		{{0x48, 0x83, 0xec, 0x18}, 4},       /* sub */
		{{0x48, 0x81, 0xec, 0, 1, 0, 0}, 7}, /* sub */
		{{0xe8, 1, 2, 3, 4}, 5},             /* call */
		{{0x0f, 0x84, 1, 2, 3, 4}, 6},       /* je */
		{{0x74, 0x10}, 2},                   /* je */
		{{0xc3}, 1},                         /* ret */
		{{0xf6, 0x47, 0x08, 0x01}, 4},       /* testb */
		{{0xf7, 0xd8}, 2},                   /* neg */
		{{0xff, 0x24, 0xc5, 1, 2, 3, 4}, 7}, /* jmp *n(,%rax,8) */
		{{0x66, 0xc7, 0x47, 8, 1, 2}, 6},    /* movw */
		{{0x49, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, 10},      /* movabs */
		{{0x66, 0x0f, 0x1f, 0x44, 0, 0}, 6},             /* nop */
		{{0xf2, 0x0f, 0x10, 0x44, 0x24, 8}, 6},          /* movsd */
		{{0x66, 0x0f, 0x6f, 0x04, 0x25, 1, 2, 3, 4}, 9}, /* movdqa */
		{{0xf3, 0x48, 0xab}, 3},                         /* rep stos */
		{{0x0f, 0xb6, 0x04, 0x07}, 4},                   /* movzbl */
		/* what has other forms that are none */
		{{0x8d, 0x07}, 2},             /* lea */
		{{0x8f, 0x00}, 2},             /* pop */
		{{0xc0, 0xe0, 5}, 3},          /* shl */
		{{0xc1, 0x27, 5}, 3},          /* shl */
		{{0xc6, 0x07, 1}, 3},          /* movb */
		{{0xc7, 0xc0, 1, 2, 3, 4}, 6}, /* mov */
		{{0xd0, 0xe0}, 2},             /* shl */
		{{0xd1, 0xf8}, 2},             /* sar */
		{{0xd2, 0xe8}, 2},             /* shr */
		{{0xd3, 0x3f}, 2},             /* sar */
		{{0xf6, 0xc0, 1}, 3},          /* test */
		{{0xf7, 0x07, 1, 2, 3, 4}, 6}, /* test */
		{{0xfe, 0xc8}, 2},             /* dec */
		{{0xff, 0x30}, 2},             /* push */
		{{0x0f, 0x12, 0x07}, 3},       /* movlps */
		{{0x0f, 0x13, 0x07}, 3},       /* movlps */
		{{0x0f, 0x16, 0x07}, 3},       /* movhps */
		{{0x0f, 0x17, 0x07}, 3},       /* movhps */
		{{0x0f, 0x1f, 0x00}, 3},       /* nop */
		{{0x0f, 0x2b, 0x07}, 3},       /* movntps */
		{{0x0f, 0xba, 0xe0, 5}, 4},    /* bt */
		{{0x0f, 0xba, 0x38, 5}, 4},    /* btc */
		{{0x0f, 0xc3, 0x07}, 3},       /* movnti */
		{{0x0f, 0xe7, 0x07}, 3},       /* movntq */
		{{0xf2, 0x0f, 0xf0, 0x07}, 4}, /* lddqu */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct swz_bytes code = {cases[i].code, sizeof(cases[i].code)};

		ck_assert_uint_eq(swz_usual_length(code), cases[i].length);
	}
}
END_TEST

START_TEST(says_nothing_of_what_is_no_instruction)
{
	static const uint8_t cases[][16] = {
		{0x06},
		{0x66, 0xe8, 1, 2, 3, 4}, /* as the processor likes */
		{0x66, 0xe9, 1, 2, 3, 4},
		{0x66, 0x0f, 0x84, 1, 2, 3, 4},
		{0x0f, 0x0b},
		{0x8d, 0xc0},
		{0xff, 0xff},
		{0xc6, 0xf8},
		{0x62},
		{0xc5, 0xf8, 0x77},
		{0x66, 0x66, 0x90},
		/* forms that no instruction has */
		{0x8f, 0xc8},
		{0x8f, 0x08},
		{0xc0, 0xf0},
		{0xc1, 0x30},
		{0xc6, 0x08},
		{0xc7, 0xc8},
		{0xd0, 0xf0},
		{0xd1, 0x30},
		{0xd2, 0xf0},
		{0xd3, 0x30},
		{0xf6, 0xc8},
		{0xf7, 0x08},
		{0xfe, 0xd0},
		{0xfe, 0x38},
		{0xff, 0xd8},
		{0xff, 0x38},
		{0x0f, 0x13, 0xc0},
		{0x0f, 0x17, 0xc0},
		{0x0f, 0x2b, 0xc0},
		{0x0f, 0x71, 0x00},
		{0x0f, 0x72, 0xc0},
		{0x0f, 0x73, 0x00},
		{0x0f, 0xba, 0x00},
		{0x0f, 0xba, 0xc8},
		{0x0f, 0xba, 0xd0},
		{0x0f, 0xba, 0x18},
		{0x0f, 0xc3, 0xc0},
		{0x0f, 0xc7, 0xc0},
		{0x0f, 0xe7, 0xc0},
		{0xf2, 0x0f, 0xf0, 0xc0},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct swz_bytes code = {cases[i], sizeof(cases[i])};
		unsigned length = swz_usual_length(code);

		/* ud2 is an instruction, whoever tells */
		ck_assert(length == 0 || cases[i][1] == 0x0b);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("usual");
	TCase *tcase = tcase_create("usual");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase,
			    agrees_with_capstone_wherever_it_knows_a_length, 0,
			    sizeof(prefixes));
	tcase_add_test(tcase, knows_what_code_is_made_of);
	tcase_add_test(tcase, says_nothing_of_what_is_no_instruction);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
