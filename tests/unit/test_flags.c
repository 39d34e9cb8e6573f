/* Whether the flags are free, by the bytes that follow. */

#include <check.h>

#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

struct text {
	const char *what;
	uint8_t bytes[24];
	uint8_t size;
};

static const struct text unread[] = {
	{"ret", {0xc3}, 1},
	{"call", {0xe8, 0, 0, 0, 0}, 5},
	{"call *%rax", {0xff, 0xd0}, 2},
	{"jmp *d(%rip), as in a PLT", {0xf2, 0xff, 0x25, 1, 2, 3, 0}, 7},
	{"add", {0x01, 0xc8}, 2},
	{"sub $8, %rsp", {0x48, 0x83, 0xec, 8}, 4},
	{"cmp $0, (%rax)", {0x83, 0x38, 0}, 3},
	{"test", {0x85, 0xc0}, 2},
	{"test $1, %dil", {0x40, 0xf6, 0xc7, 1}, 4},
	{"neg", {0xf7, 0xd8}, 2},
	{"div", {0x48, 0xf7, 0xf1}, 3},
	{"imul", {0x0f, 0xaf, 0xc7}, 3},
	{"shr $8, %eax", {0xc1, 0xe8, 8}, 3},
	{"sar %eax", {0xd1, 0xf8}, 2},
	{"ucomisd", {0x66, 0x0f, 0x2e, 0xc1}, 4},
	{"mov, lea, push, movzx, cdqe, then xor, then jb",
	 {0x48, 0x89, 0xf8, 0x48, 0x8d, 0x04, 0x07, 0x53, 0x0f, 0xb6, 0xc0,
	  0x48, 0x98, 0x31, 0xc9, 0x72, 0},
	 17},
	{"inc, which keeps the carry, then add", {0xff, 0xc0, 1, 0xc8}, 4},
	{"not, then add", {0xf7, 0xd0, 1, 0xc8}, 4},
	{"bswap, then add", {0x49, 0x0f, 0xcc, 1, 0xc8}, 5},
	{"vectors, then ret",
	 {0x0f, 0x57, 0xc0, 0x66, 0x0f, 0xef, 0xc9, 0xc5, 0xf8, 0x58, 0xc1,
	  0xc3},
	 12},
	{"jmp over jb to ret", {0xeb, 2, 0x72, 0, 0xc3}, 5},
	{"jmp32 over jb to ret", {0xe9, 2, 0, 0, 0, 0x72, 0, 0xc3}, 8},
};

static const struct text read[] = {
	{"nothing", {0}, 0},
	{"what is cut off", {0x48, 0x8b}, 2},
	{"cut off behind the opcode", {0x81, 0xc0, 1, 2}, 4},
	{"jb", {0x72, 0}, 2},
	{"je32", {0x0f, 0x84, 0, 0, 0, 0}, 6},
	{"mov, then je", {0x48, 0x89, 0xf8, 0x74, 0}, 5},
	{"setb", {0x0f, 0x92, 0xc1}, 3},
	{"cmovb", {0x0f, 0x42, 0xc1}, 3},
	{"adc", {0x11, 0xc8}, 2},
	{"adc $0, %eax", {0x83, 0xd0, 0}, 3},
	{"sbb", {0x19, 0xc0}, 2},
	{"sbb $1, %eax", {0x81, 0xd8, 1, 0, 0, 0}, 6},
	{"rcl", {0xd1, 0xd0}, 2},
	{"rol, which keeps some", {0xc1, 0xc0, 3}, 3},
	{"shl $0, which sets none", {0xc1, 0xe0, 0}, 3},
	{"shl $32, likewise", {0xc1, 0xe0, 32}, 3},
	{"shl %cl", {0xd3, 0xe0}, 2},
	{"inc, then jb", {0xff, 0xc0, 0x72, 0}, 4},
	{"not, then jb", {0xf7, 0xd0, 0x72, 0}, 4},
	{"bswap, then jb", {0x0f, 0xc8, 0x72, 0}, 4},
	{"pushf", {0x9c}, 1},
	{"lahf", {0x9f}, 1},
	{"cmc", {0xf5}, 1},
	{"adcx", {0x66, 0x0f, 0x38, 0xf6, 0xc1}, 5},
	{"syscall, which keeps them in %r11", {0x0f, 0x05}, 2},
	{"xbegin", {0xc7, 0xf8, 0, 0, 0, 0}, 6},
	{"loope", {0xe1, 0}, 2},
	{"jmp *%rax", {0xff, 0xe0}, 2},
	{"jmp to jb", {0xeb, 1, 0xc3, 0x72, 0}, 5},
	{"jmp behind the end", {0xeb, 100, 0xc3}, 3},
	{"jmp before the beginning", {0xe9, 0, 0, 0, 0xf0, 0xc3}, 6},
	{"a jmp to itself", {0xeb, 0xfe}, 2},
};

static bool are_free(const struct text *t)
{
	return swz_flags_are_free((struct swz_bytes){t->bytes, t->size}, 0);
}

START_TEST(others_are_set_first)
{
	ck_assert_msg(are_free(&unread[_i]), "%s", unread[_i].what);
}
END_TEST

START_TEST(they_may_be_read)
{
	ck_assert_msg(!are_free(&read[_i]), "%s", read[_i].what);
}
END_TEST

START_TEST(what_is_before_does_not_matter)
{
	static const uint8_t code[] = {0x72, 0, 0xc3};

	ck_assert(swz_flags_are_free((struct swz_bytes){code, 3}, 2));
	ck_assert(!swz_flags_are_free((struct swz_bytes){code, 3}, 3));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("flags");
	TCase *tests = tcase_create("flags");

	tcase_add_loop_test(tests, others_are_set_first, 0,
			    sizeof(unread) / sizeof(*unread));
	tcase_add_loop_test(tests, they_may_be_read, 0,
			    sizeof(read) / sizeof(*read));
	tcase_add_test(tests, what_is_before_does_not_matter);
	suite_add_tcase(suite, tests);
	return run_suite(suite);
}
