/* The parts of an instruction, by hand from SDM volume 2, chapter 2. */

#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "thunks/encoding.h"

struct sample {
	const char *what;
	uint8_t bytes[12];
	uint8_t size;
	struct swz_encoding parts;
};

/* clang-format off */
static const struct sample samples[] = {
	{"mov %esp, (%rsi)", {0x89, 0x26}, 2,
	 {.opcode = 0x89, .modrm_at = 1, .modrm = 0x26, .operands_at = 2}},
	{"REX.R: mov %r12, (%rsi)", {0x4c, 0x89, 0x26}, 3,
	 {.rex_w = true, .extends_reg = true, .prefix_bytes = 1,
	  .opcode = 0x89, .opcode_at = 1, .modrm_at = 2, .modrm = 0x26,
	  .operands_at = 3}},
	{"REX.B: mov %rsp, (%r14)", {0x49, 0x89, 0x26}, 3,
	 {.rex_w = true, .extends_base = true, .prefix_bytes = 1,
	  .opcode = 0x89, .opcode_at = 1, .modrm_at = 2, .modrm = 0x26,
	  .operands_at = 3}},
	{"REX.X: mov %rsp, (%rsi,%r12,8)", {0x4a, 0x89, 0x24, 0xe6}, 4,
	 {.rex_w = true, .extends_index = true, .prefix_bytes = 1,
	  .opcode = 0x89, .opcode_at = 1, .modrm_at = 2, .modrm = 0x24,
	  .sib = 0xe6, .operands_at = 4}},
	{"a REX before another prefix", {0x4d, 0x66, 0x89, 0x26}, 4,
	 {.operand_size_16 = true, .prefix_bytes = 2, .opcode = 0x89,
	  .opcode_at = 2, .modrm_at = 3, .modrm = 0x26, .operands_at = 4}},
	{"REX.W overrides 66", {0x66, 0x48, 0xc7, 0xc0, 1, 2, 3, 4}, 8,
	 {.rex_w = true, .prefix_bytes = 2, .opcode = 0xc7, .opcode_at = 2,
	  .modrm_at = 3, .modrm = 0xc0, .operands_at = 4,
	  .immediate_bytes = 4}},
	{"lock cmpxchg %cl, 8(%rsp)", {0xf0, 0x0f, 0xb0, 0x4c, 0x24, 8}, 6,
	 {.locked = true, .prefix_bytes = 1, .map = SWZ_MAP_0F,
	  .opcode = 0xb0, .opcode_at = 1, .modrm_at = 3, .modrm = 0x4c,
	  .sib = 0x24, .displacement_at = 5, .displacement_bytes = 1,
	  .operands_at = 6}},
	{"mov d(%eip), %eax", {0x67, 0x8b, 0x05, 1, 2, 3, 4}, 7,
	 {.address_size_32 = true, .prefix_bytes = 1, .opcode = 0x8b,
	  .opcode_at = 1, .modrm_at = 2, .modrm = 0x05, .displacement_at = 3,
	  .displacement_bytes = 4, .operands_at = 7}},
	{"movabs $i, %r8", {0x49, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8}, 10,
	 {.rex_w = true, .extends_base = true, .prefix_bytes = 1,
	  .opcode = 0xb8, .opcode_at = 1, .operands_at = 2,
	  .immediate_bytes = 8}},
	{"palignr $8, %xmm1, %xmm8",
	 {0x66, 0x44, 0x0f, 0x3a, 0x0f, 0xc1, 8}, 7,
	 {.operand_size_16 = true, .extends_reg = true, .prefix_bytes = 2,
	  .map = SWZ_MAP_0F3A, .opcode = 0x0f, .opcode_at = 2, .modrm_at = 5,
	  .modrm = 0xc1, .operands_at = 6, .immediate_bytes = 1}},
	{"VEX of two bytes: vaddps (%rax), %xmm0, %xmm8",
	 {0xc5, 0x78, 0x58, 0x00}, 4,
	 {.map = SWZ_MAP_VECTOR, .vector_map = 1, .opcode = 0x58,
	  .modrm_at = 3, .operands_at = 4}},
	{"VEX of three bytes: vaddps (%r8), %xmm0, %xmm0",
	 {0xc4, 0xc1, 0x78, 0x58, 0x00}, 5,
	 {.extends_base = true, .map = SWZ_MAP_VECTOR, .vector_map = 1,
	  .opcode = 0x58, .modrm_at = 4, .operands_at = 5}},
	{"EVEX: vaddps 64(%rax), %zmm0, %zmm0",
	 {0x62, 0xf1, 0x7c, 0x48, 0x58, 0x40, 1}, 7,
	 {.scaled_displacement = true, .map = SWZ_MAP_VECTOR, .vector_map = 1,
	  .opcode = 0x58, .modrm_at = 5, .modrm = 0x40, .displacement_at = 6,
	  .displacement_bytes = 1, .operands_at = 7}},
};

static const struct sample cut_off[] = {
	{"nothing", {0}, 0, {0}},
	{"prefixes alone", {0x66, 0x4c}, 2, {0}},
	{"no ModRM", {0x48, 0x8b}, 2, {0}},
	{"no SIB", {0x48, 0x8b, 0x04}, 3, {0}},
	{"half a displacement", {0x8b, 0x80, 0, 0}, 4, {0}},
	{"an escape alone", {0x0f}, 1, {0}},
	{"half an EVEX", {0x62, 0xf1, 0x7c}, 3, {0}},
};
/* clang-format on */

START_TEST(parts_are_told)
{
	const struct sample *s = &samples[_i];
	struct swz_bytes code = {s->bytes, s->size};
	struct swz_encoding found;

	ck_assert_msg(swz_encoding_read(code, &found) == SWZ_OK, "%s", s->what);
#define CHECK(part) \
	ck_assert_msg(found.part == s->parts.part, "%s: " #part " is %u", \
		      s->what, (unsigned)found.part)
	CHECK(operand_size_16);
	CHECK(address_size_32);
	CHECK(locked);
	CHECK(rex_w);
	CHECK(extends_reg);
	CHECK(extends_base);
	CHECK(extends_index);
	CHECK(scaled_displacement);
	CHECK(prefix_bytes);
	CHECK(map);
	CHECK(vector_map);
	CHECK(opcode);
	CHECK(opcode_at);
	CHECK(modrm_at);
	CHECK(modrm);
	CHECK(sib);
	CHECK(displacement_at);
	CHECK(displacement_bytes);
	CHECK(operands_at);
	CHECK(immediate_bytes);
#undef CHECK
}
END_TEST

/* What follows an instruction does not matter, nor how much. */
START_TEST(what_is_behind_an_instruction_is_left_alone)
{
	const struct sample *s = &samples[_i];
	struct swz_encoding alone, amid;
	uint8_t bytes[64];

	memset(bytes, 0xff, sizeof(bytes));
	memcpy(bytes, s->bytes, s->size);
	ck_assert(swz_encoding_read((struct swz_bytes){s->bytes, s->size},
				    &alone) == SWZ_OK);
	for (size_t size = s->size; size <= sizeof(bytes); size++) {
		struct swz_bytes code = {bytes, size};

		ck_assert(swz_encoding_read(code, &amid) == SWZ_OK);
		ck_assert_msg(memcmp(&alone, &amid, sizeof(alone)) == 0,
			      "%s, %zu bytes", s->what, size);
	}
}
END_TEST

/* Of data: no instruction has more than 15 bytes. */
START_TEST(no_instruction_is_all_prefixes)
{
	static const uint8_t prefixes[] = {0x66, 0x67, 0xf0, 0xf2, 0x2e, 0x48};
	struct swz_encoding e;
	uint8_t bytes[1000];

	memset(bytes, prefixes[_i], sizeof(bytes));
	for (size_t size = 1; size <= sizeof(bytes); size++) {
		struct swz_bytes code = {bytes, size};
		enum swz_status status = swz_encoding_read(code, &e);

		ck_assert(status == SWZ_E_FORMAT || e.operands_at >= 15);
	}
	ck_assert_uint_eq(
		swz_padding_length((struct swz_bytes){bytes, sizeof(bytes)}),
		0);
}
END_TEST

START_TEST(what_is_cut_off_is_refused)
{
	struct swz_bytes code = {cut_off[_i].bytes, cut_off[_i].size};
	struct swz_encoding encoding;

	ck_assert_msg(swz_encoding_read(code, &encoding) == SWZ_E_FORMAT, "%s",
		      cut_off[_i].what);
}
END_TEST

/* clang-format off */
static const struct {
	const char *what;
	uint8_t bytes[8];
	size_t size;
	unsigned distance_bytes;
	int64_t distance;
} branches[] = {
	{"jo, short",  {0x70, 0x7f}, 2, 1, 127},
	{"jg, short",  {0x7f, 0x80}, 2, 1, -128},
	{"loopne",     {0xe0, 0xfe}, 2, 1, -2},
	{"jrcxz",      {0xe3, 0x10}, 2, 1, 16},
	{"jmp, short", {0xeb, 0xff}, 2, 1, -1},
	{"jmp",        {0xe9, 0xfb, 0xff, 0xff, 0xff}, 5, 4, -5},
	{"bnd jmp",    {0xf2, 0xe9, 0, 0, 0, 0x80}, 6, 4, INT32_MIN},
	{"jo",         {0x0f, 0x80, 0, 1, 0, 0}, 6, 4, 256},
	{"jg",         {0x0f, 0x8f, 0xff, 0xff, 0xff, 0x7f}, 6, 4, INT32_MAX},
	{"jmpw",       {0x66, 0xe9, 0x34, 0x12}, 4, 2, 0},
	{"call",       {0xe8, 0, 0, 0, 0}, 5, 0, 0},
	{"in",         {0xe4, 0x60}, 2, 0, 0},
	{"ret",        {0xc3}, 1, 0, 0},
	{"jmp *rax",   {0xff, 0xe0}, 2, 0, 0},
	{"sete al",    {0x0f, 0x94, 0xc0}, 3, 0, 0},
	{"invpcid",    {0x66, 0x0f, 0x38, 0x82, 0x00}, 5, 0, 0},
	{"add al, 1",  {0x80, 0xc0, 0x01}, 3, 0, 0},
};
/* clang-format on */

START_TEST(direct_branches_are_told)
{
	struct swz_bytes code = {branches[_i].bytes, branches[_i].size};
	const char *what = branches[_i].what;
	struct swz_encoding encoding;
	unsigned bytes;

	ck_assert_msg(swz_encoding_read(code, &encoding) == SWZ_OK, "%s", what);
	bytes = swz_encoding_branch_bytes(&encoding);
	ck_assert_msg(bytes == branches[_i].distance_bytes, "%s: %u", what,
		      bytes);
	if (bytes != 1 && bytes != 4)
		return;
	ck_assert_msg(swz_distance_before(code.data + code.size, bytes) ==
			      branches[_i].distance,
		      "%s", what);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("encoding");
	TCase *tests = tcase_create("encoding");

	tcase_add_loop_test(tests, parts_are_told, 0,
			    sizeof(samples) / sizeof(*samples));
	tcase_add_loop_test(tests, what_is_behind_an_instruction_is_left_alone,
			    0, sizeof(samples) / sizeof(*samples));
	tcase_add_loop_test(tests, no_instruction_is_all_prefixes, 0, 6);
	tcase_add_loop_test(tests, what_is_cut_off_is_refused, 0,
			    sizeof(cut_off) / sizeof(*cut_off));
	tcase_add_loop_test(tests, direct_branches_are_told, 0,
			    sizeof(branches) / sizeof(*branches));
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
