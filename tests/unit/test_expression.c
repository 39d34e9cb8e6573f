/* DWARF expressions, and what the code of a frame tells. */

#include <check.h>
#include <string.h>

#include "tests/unit/run_suite.h"
#include "watch/unwind/unwind_row.h"

#define STACK UINT64_C(0x1000)
#define BYTES(text) text, sizeof(text) - 1

static const uint64_t words[] = {0x1122334455667788, 0x1008, 42};
static const struct swz_stack stack = {
	STACK, (const uint8_t *)words, sizeof(words), NULL, NULL, 0};

static const struct {
	const char *code;
	size_t size;
	uint64_t value;
} values[] = {
	{BYTES("\x08\xff"), 255},
	{BYTES("\x09\xff"), UINT64_MAX},
	{BYTES("\x0a\x34\x12"), 0x1234},
	{BYTES("\x0b\xfe\xff"), UINT64_MAX - 1},
	{BYTES("\x0c\x78\x56\x34\x82"), 0x82345678},
	{BYTES("\x0d\x78\x56\x34\x82"), 0xffffffff82345678},
	{BYTES("\x0e\1\2\3\4\5\6\7\x88"), 0x8807060504030201},
	{BYTES("\x03\1\2\3\4\5\6\7\x08"), 0x0807060504030201},
	{BYTES("\x10\x80\x01"), 128},
	{BYTES("\x11\x7f"), UINT64_MAX},
	{BYTES("\x4f"), 31},
	{BYTES("\x30"), 0},
	{BYTES("\x77\x08"), 0x1008},     /* rsp + 8 */
	{BYTES("\x92\x07\x08"), 0x1008}, /* the same, bregx */
	{BYTES("\x80\x00"), 0x400123},   /* rip */
	{BYTES("\x77\x00\x06"), 0x1122334455667788},
	{BYTES("\x77\x08\x06\x06"), 0x1008}, /* a pointer to itself */
	{BYTES("\x77\x00\x94\x01"), 0x88},
	{BYTES("\x77\x00\x94\x04"), 0x55667788},
	{BYTES("\x35\x12\x1e"), 25},                    /* dup, mul */
	{BYTES("\x35\x36\x13"), 5},                     /* drop */
	{BYTES("\x35\x36\x14\x1c\x1c"), 4},             /* over: 5-(6-5) */
	{BYTES("\x31\x32\x33\x15\x02\x22\x22\x22"), 7}, /* pick 2 */
	{BYTES("\x39\x33\x16\x1c"), UINT64_MAX - 5},    /* swap: 3-9 */
	{BYTES("\x31\x32\x34\x17\x1c\x1c"), 5},         /* rot: 4-(1-2) */
	{BYTES("\x09\xf0\x19"), 16},
	{BYTES("\x3f\x3c\x1a"), 12},
	{BYTES("\x09\xf6\x33\x1b"), (uint64_t)-3}, /* -10 / 3 */
	{BYTES("\x0f\0\0\0\0\0\0\0\x80\x09\xff\x1b"), UINT64_C(1) << 63},
	{BYTES("\x3a\x33\x1d"), 1},
	{BYTES("\x33\x1f"), (uint64_t)-3},
	{BYTES("\x33\x20"), ~UINT64_C(3)},
	{BYTES("\x33\x3c\x21"), 15},
	{BYTES("\x33\x34\x22"), 7},
	{BYTES("\x33\x23\x80\x02"), 259},
	{BYTES("\x33\x34\x24"), 48},
	{BYTES("\x33\x08\x40\x24"), 0},
	{BYTES("\x09\xff\x08\x3c\x25"), 15},
	{BYTES("\x09\xff\x08\x40\x25"), 0},
	{BYTES("\x09\xf0\x32\x26"), (uint64_t)-4},
	{BYTES("\x09\xf0\x08\x7f\x26"), UINT64_MAX},
	{BYTES("\x35\x33\x27"), 6},
	{BYTES("\x35\x35\x29"), 1},
	{BYTES("\x09\xff\x31\x2a"), 0}, /* signed */
	{BYTES("\x31\x31\x2a"), 1},
	{BYTES("\x31\x30\x2b"), 1},
	{BYTES("\x31\x31\x2b"), 0},
	{BYTES("\x31\x31\x2c"), 1},
	{BYTES("\x09\xff\x31\x2d"), 1},
	{BYTES("\x31\x32\x2e"), 1},
	{BYTES("\x35\x2f\x01\x00\x36"), 5},             /* skip over lit6 */
	{BYTES("\x35\x31\x28\x01\x00\x36"), 5},         /* bra, taken */
	{BYTES("\x35\x30\x28\x01\x00\x36"), 6},         /* not taken */
	{BYTES("\x34\x12\x31\x1c\x12\x28\xf9\xff"), 0}, /* a loop that ends */
	{BYTES("\x96\x33\x96"), 3},
};

static const struct swz_registers registers = {
	.ip = 0x400123, .sp = STACK, .bp = 0x2000};

static enum swz_step evaluate(const char *code, size_t size, uint64_t *value)
{
	return swz_expression_value(
		(struct swz_bytes){(const uint8_t *)code, size}, &registers,
		&stack, NULL, value);
}

START_TEST(values_are_computed)
{
	uint64_t value = 0;

	ck_assert_int_eq(evaluate(values[_i].code, values[_i].size, &value),
			 SWZ_STEP_DONE);
	ck_assert_uint_eq(value, values[_i].value);
}
END_TEST

static const struct {
	const char *code;
	size_t size;
	enum swz_step step;
} failures[] = {
	{BYTES(""), SWZ_STEP_LOST},
	{BYTES("\x22"), SWZ_STEP_LOST}, /* plus nothing */
	{BYTES("\x33\x22"), SWZ_STEP_LOST},
	{BYTES("\x0e\x01"), SWZ_STEP_LOST},     /* cut */
	{BYTES("\x33\x30\x1b"), SWZ_STEP_LOST}, /* division by zero */
	{BYTES("\x33\x30\x1d"), SWZ_STEP_LOST},
	{BYTES("\x2f\xfd\xff"), SWZ_STEP_LOST},     /* for ever */
	{BYTES("\x2f\x00\x7f"), SWZ_STEP_LOST},     /* behind the end */
	{BYTES("\x30\x2f\xfc\xff"), SWZ_STEP_LOST}, /* too many values */
	{BYTES("\x33\x15\x01"), SWZ_STEP_LOST},
	{BYTES("\x91\x00"), SWZ_STEP_LOST}, /* fbreg */
	{BYTES("\x97"), SWZ_STEP_LOST},
	{BYTES("\x8f\x00"), SWZ_STEP_LOST}, /* register 31 */
	{BYTES("\x92\x11\x00"), SWZ_STEP_LOST},
	{BYTES("\x77\x00\x94\x00"), SWZ_STEP_LOST},
	{BYTES("\x77\x00\x94\x09"), SWZ_STEP_LOST},
	{BYTES("\x77\x18\x06"), SWZ_STEP_CUT},
	{BYTES("\x77\x78\x06"), SWZ_STEP_LOST}, /* below the stack */
};

START_TEST(failures_are_told)
{
	uint64_t value;

	ck_assert_int_eq(evaluate(failures[_i].code, failures[_i].size, &value),
			 failures[_i].step);
}
END_TEST

START_TEST(a_registers_rule_begins_with_the_cfa)
{
	uint64_t cfa = 0x5000, value;

	ck_assert_int_eq(
		swz_expression_value(
			(struct swz_bytes){(const uint8_t *)"\x23\x08", 2},
			&registers, &stack, &cfa, &value),
		SWZ_STEP_DONE);
	ck_assert_uint_eq(value, 0x5008);
}
END_TEST

/* ------------------------------------------------------------ frames by code
 */

static const struct {
	const char *code;
	size_t size;
	bool called;
	int cfa; /* 0: it says nothing */
	int rbp; /* 0: as it is; else saved at CFA + rbp */
} frames[] = {
	{BYTES("\x55\x48\x89\xe5"), false, 8, 0},
	{BYTES("\xf3\x0f\x1e\xfa\x55\x48\x89\xe5"), false, 8, 0},
	{BYTES("\x48\x89\xe5"), false, 16, -16},
	{BYTES("\x48\x8b\xec"), false, 16, -16},
	{BYTES("\x55\x48\x89\xe5"), true, 0, 0},
	{BYTES("\x55\x53"), false, 0, 0}, /* just some push */
	{BYTES("\xc3"), false, 8, 0},
	{BYTES("\xf3\xc3"), false, 8, 0},
	{BYTES("\xc2\x10\x00"), false, 8, 0},
	{BYTES("\x5d\xc3"), false, 16, -16},
	{BYTES("\x5d\xc3"), true, 16, -16},
	{BYTES("\x5b\x5d\x41\x5c\xc3"), false, 32, -24},
	{BYTES("\x41\x5d\xc3"), false, 16, 0}, /* r13, not rbp */
	{BYTES("\x48\x83\xc4\x18\xc3"), true, 32, 0},
	{BYTES("\x48\x81\xc4\x00\x01\x00\x00\x5d\xc3"), false, 272, -16},
	{BYTES("\x48\x83\xc4\xf8\xc3"), false, 0, 0}, /* add $-8 */
	{BYTES("\x48\x81\xc4\x00\x00\x20\x00\xc3"), false, 0, 0},
	{BYTES("\x5c\xc3"), false, 0, 0}, /* pop %rsp */
	{BYTES("\x41\x5c\xc3"), false, 16, 0},
	{BYTES("\x5d"), false, 0, 0}, /* cut */
	/* entries of the PLT as bfd, lld and mold write them; and cut ones */
	{BYTES("\xf3\x0f\x1e\xfa\xf2\xff\x25\x90\x24\0\0"), false, 8, 0},
	{BYTES("\xff\x25\x66\x14\0\0"), false, 8, 0},
	{BYTES("\xff\x25\x66\x14\0\0"), true, 0, 0},
	{BYTES("\xf3\x0f\x1e\xfa\x41\xbb\1\0\0\0\xff\x25\0\0\0\0"), false, 8,
	 0},
	{BYTES("\x41\xbb\1\0\0"), false, 0, 0},
	{BYTES("\x48\x83\xc4"), false, 0, 0},
	{BYTES("\x90\xc3"), false, 0, 0},
	{BYTES(""), false, 0, 0},
};

START_TEST(code_tells_where_its_frame_is)
{
	struct swz_unwind_row row = swz_code_row(
		(const uint8_t *)frames[_i].code, frames[_i].size,
		frames[_i].called);

	ck_assert_int_eq(row.kind, frames[_i].cfa ? SWZ_ROW_RSP : SWZ_ROW_NONE);
	if (!frames[_i].cfa)
		return;
	ck_assert_int_eq(row.cfa_offset, frames[_i].cfa);
	ck_assert_int_eq(row.rbp, frames[_i].rbp ? SWZ_ROW_RBP_AT_CFA
						 : SWZ_ROW_RBP_SAME);
	ck_assert_int_eq(row.rbp_offset, frames[_i].rbp);
}
END_TEST

#define TEST_RAX "\x48\x85\xc0"

static const struct {
	const char *code;
	size_t size;
	int64_t negative, zero, positive; /* where it goes on, by rax */
} branches[] = {
	/* clone(): jl 0x10, je 0x20, ret */
	{BYTES(TEST_RAX "\x7c\x10\x74\x20\xc3"), 0x15, 0x27, 7},
	{BYTES(TEST_RAX "\x78\x10"), 0x15, 5, 5},
	{BYTES(TEST_RAX "\x79\xf0"), 5, -11, -11},
	{BYTES(TEST_RAX "\x75\x10"), 0x15, 5, 0x15},
	{BYTES(TEST_RAX "\x7d\x10"), 5, 0x15, 0x15},
	{BYTES(TEST_RAX "\x7e\x10"), 0x15, 0x15, 5},
	{BYTES(TEST_RAX "\x7f\x10"), 5, 5, 0x15},
	{BYTES(TEST_RAX "\x0f\x84\x00\x01\x00\x00"), 9, 0x109, 9},
	{BYTES(TEST_RAX "\x72\x10"), 3, 3, 3}, /* jb: by carry */
	{BYTES(TEST_RAX "\x74"), 3, 3, 3},     /* cut */
	{BYTES(TEST_RAX "\x0f\x84\x00\x01\x00"), 3, 3, 3},
	{BYTES(TEST_RAX), 3, 3, 3},
	{BYTES("\x74\x10"), 0, 0, 0},
};

START_TEST(a_branch_by_rax_is_followed)
{
	const uint8_t *code = (const uint8_t *)branches[_i].code;
	size_t size = branches[_i].size;

	ck_assert_int_eq(swz_code_branch(code, size, (uint64_t)-1),
			 branches[_i].negative);
	ck_assert_int_eq(swz_code_branch(code, size, 0), branches[_i].zero);
	ck_assert_int_eq(swz_code_branch(code, size, 1), branches[_i].positive);
	ck_assert_int_eq(swz_code_row(code, size, false).kind,
			 branches[_i].zero ? SWZ_ROW_BRANCH : SWZ_ROW_NONE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("expression");
	TCase *tcase = tcase_create("expression");

	tcase_add_loop_test(tcase, values_are_computed, 0,
			    (int)(sizeof(values) / sizeof(*values)));
	tcase_add_loop_test(tcase, failures_are_told, 0,
			    (int)(sizeof(failures) / sizeof(*failures)));
	tcase_add_test(tcase, a_registers_rule_begins_with_the_cfa);
	tcase_add_loop_test(tcase, code_tells_where_its_frame_is, 0,
			    (int)(sizeof(frames) / sizeof(*frames)));
	tcase_add_loop_test(tcase, a_branch_by_rax_is_followed, 0,
			    (int)(sizeof(branches) / sizeof(*branches)));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
