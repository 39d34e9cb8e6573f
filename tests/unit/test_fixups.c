/* Relocated code that is fixed up for another place must be what relocating it
 * to that place gives. */

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "relocate_cases.h"
#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"
#include "thunks/trampoline.h"

static const char *const files[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/bin/python3.11",
};

enum { BEGIN = (sizeof(struct swz_hooks) + 15) / 16 * 16, MOST = 16 };

/* Where a module and the trampolines are in one process. */
struct places {
	uint64_t bias;
	uint64_t region;
};

static const struct places here = {0x7f1234560000, 0x7f1214000000};
static const struct places there = {0x55aa00010000, 0x55aa41000000};

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

struct region {
	uint8_t bytes[BEGIN + SWZ_RELOCATED_MAX];
	uint32_t relative[MOST], absolute[MOST];
	struct swz_fixups fixups;
};

static void begin(struct region *region)
{
	memset(region, 0, sizeof(*region));
	region->fixups.relative = region->relative;
	region->fixups.absolute = region->absolute;
	region->fixups.relative_room = region->fixups.absolute_room = MOST;
}

static bool relocate(struct swz_decoder *decoder, const struct places *at,
		     struct swz_bytes code, uint64_t address,
		     struct region *region, size_t *written)
{
	struct swz_relocation relocation;

	begin(region);
	if (swz_relocate(decoder, code, at->bias + address, 5,
			 at->region + BEGIN, region->bytes + BEGIN,
			 SWZ_RELOCATED_MAX, NULL, &relocation) != SWZ_OK ||
	    relocation.refusal != SWZ_PATCHED)
		return false;
	*written = relocation.written;
	return true;
}

/* As from the first byte of a region to what was written last: what lies behind
 * is not zero. */
static enum swz_status find(struct region *region, size_t written,
			    struct swz_bytes site)
{
	struct swz_bytes all = {region->bytes, BEGIN + written};

	memset(region->bytes + BEGIN + written, 0x90,
	       SWZ_RELOCATED_MAX - written);
	return swz_fixups_find(&region->fixups, all, BEGIN, site);
}

static enum swz_status move(struct region *region)
{
	const struct swz_fixups *f = &region->fixups;
	uint64_t module_by = there.bias - here.bias;
	int64_t by = (int64_t)(module_by - (there.region - here.region));

	swz_fixups_apply_absolute(region->bytes, f->absolute, f->absolute_count,
				  module_by);
	return swz_fixups_apply_relative(region->bytes, f->relative,
					 f->relative_count, by);
}

/* Whether the function is of those that can be moved. */
static bool check_move(struct swz_decoder *decoder, struct swz_bytes code,
		       uint64_t address)
{
	struct region moved, wanted;
	size_t written, again;

	if (!relocate(decoder, &here, code, address, &moved, &written) ||
	    !relocate(decoder, &there, code, address, &wanted, &again))
		return false;
	ck_assert_msg(find(&moved, written, code) == SWZ_OK,
		      "not understood: %#lx", (unsigned long)address);
	ck_assert(!moved.fixups.fixed);
	/* what lea loads is in reach of one only */
	if (move(&moved) == SWZ_E_RANGE || again != written)
		return false;
	ck_assert_msg(
		memcmp(moved.bytes + BEGIN, wanted.bytes + BEGIN, written) == 0,
		"differs: %#lx", (unsigned long)address);
	return true;
}

START_TEST(moved_prologues_are_as_if_relocated_there)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	int fd = open(files[_i], O_RDONLY | O_CLOEXEC);
	struct swz_eh_frame section;
	struct swz_fde_iterator it;
	struct swz_bytes file;
	struct swz_elf elf;
	struct swz_fde fde;
	struct stat stat;
	size_t count = 0;

	if (fd < 0)
		return; /* not on this machine */
	ck_assert_int_eq(fstat(fd, &stat), 0);
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(file.data != MAP_FAILED);
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_OK);
	section.bytes = swz_elf_section_bytes(
		&elf, swz_elf_section(&elf, ".eh_frame"));
	section.address = swz_elf_section(&elf, ".eh_frame")->sh_addr;
	swz_fde_begin(&it, &section);
	while (swz_fde_next(&it, &fde)) {
		struct swz_bytes code = swz_elf_bytes_at(&elf, fde.start,
							 fde.size);

		if (code.size && swz_fde_is_function(&fde))
			count += check_move(decoder, code, fde.start);
	}
	ck_assert_uint_ge(count, 30);
	munmap((void *)(uintptr_t)file.data, file.size);
	close(fd);
}
END_TEST

START_TEST(moved_forms_are_as_if_relocated_there)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	size_t count = sizeof(relocate_cases) / sizeof(*relocate_cases);
	size_t moved = 0;

	for (size_t i = 0; i < count; i++) {
		uint8_t code[64];

		memset(code, 0x90, sizeof(code));
		memcpy(code, relocate_cases[i].code, relocate_cases[i].size);
		moved += check_move(decoder,
				    (struct swz_bytes){code, sizeof(code)},
				    0x1000);
	}
	ck_assert_uint_ge(moved, count / 2);
}
END_TEST

/* lea 0x7ff00000(%rip), %rdi, from a region that does not reach that far. */
START_TEST(an_address_that_replaced_a_lea_moves_with_the_module)
{
	static const uint8_t code[] = {0x48, 0x8d, 0x3d, 0,
				       0,    0xf0, 0x7f, 0xc3};
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	struct swz_bytes bytes = {code, sizeof(code)};
	struct region region;
	uint64_t value;
	size_t written;

	ck_assert(relocate(decoder, &here, bytes, 0x1000, &region, &written));
	ck_assert_uint_eq(region.bytes[BEGIN + 1], 0xbf); /* movabs */
	ck_assert_int_eq(find(&region, written, bytes), SWZ_OK);
	ck_assert_uint_eq(region.fixups.absolute_count, 1);
	ck_assert_int_eq(move(&region), SWZ_OK);
	memcpy(&value, region.bytes + BEGIN + 2, sizeof(value));
	ck_assert_uint_eq(value, there.bias + 0x1000 + 7 + 0x7ff00000);
}
END_TEST

START_TEST(a_number_of_the_program_stays)
{
	static const uint8_t code[] = {0x48, 0xbf, 0x34, 0x12, 0,   0,
				       0,    0x7f, 0,    0,    0xc3};
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	struct swz_bytes bytes = {code, sizeof(code)};
	struct region region;
	size_t written;

	ck_assert(relocate(decoder, &here, bytes, 0x1000, &region, &written));
	ck_assert_int_eq(find(&region, written, bytes), SWZ_OK);
	ck_assert_uint_eq(region.fixups.absolute_count, 0);
	ck_assert_uint_eq(region.fixups.relative_count, 1); /* the jump back */
}
END_TEST

/* call, in a program below 2 GiB: what is pushed has 32 bits. */
START_TEST(a_short_return_address_is_reported)
{
	static const uint8_t code[] = {0xe8, 0x10, 0, 0, 0, 0xc3};
	static const struct places low = {0x400000, 0x10000000};
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	struct swz_bytes bytes = {code, sizeof(code)};
	struct region region;
	size_t written;

	ck_assert(relocate(decoder, &low, bytes, 0x1000, &region, &written));
	ck_assert_int_eq(find(&region, written, bytes), SWZ_OK);
	ck_assert(region.fixups.fixed);
}
END_TEST

/* They lie at the region's beginning, and move with it. */
START_TEST(the_arenas_bounds_stay_where_they_are)
{
	/* mov (%rsp), %rax; push %rbx; mov 8(%rsp), %r12; xor %edx, %edx; ret
	 */
	static const uint8_t code[] = {0x48, 0x8b, 0x04, 0x24, 0x53,
				       0x4c, 0x8b, 0x64, 0x24, 0x08,
				       0x31, 0xd2, 0x5b, 0xc3};
	const struct places *places[] = {&here, &there};
	struct swz_bytes site = {code, sizeof(code)};
	struct region region[2];
	size_t written = 0;

	for (unsigned i = 0; i < 2; i++) {
		struct swz_slot_loads loads = {
			.count = 2,
			.at = {0, 5},
			.arena = places[i]->region +
				 offsetof(struct swz_hooks, arena),
		};
		struct swz_relocation relocation;

		begin(&region[i]);
		ck_assert_int_eq(swz_relocate(swz_decoder_new(zeroed), site,
					      places[i]->bias, 10,
					      places[i]->region + BEGIN,
					      region[i].bytes + BEGIN,
					      SWZ_RELOCATED_MAX, &loads,
					      &relocation),
				 SWZ_OK);
		written = relocation.written;
	}
	ck_assert_int_eq(find(&region[0], written, site), SWZ_OK);
	ck_assert_uint_eq(region[0].fixups.relative_count, 1);
	ck_assert_uint_eq(region[0].fixups.absolute_count, 0);
	ck_assert_int_eq(move(&region[0]), SWZ_OK);
	ck_assert_mem_eq(region[0].bytes + BEGIN, region[1].bytes + BEGIN,
			 written);
}
END_TEST

START_TEST(what_is_no_relocated_code_is_not_understood)
{
	static const uint8_t endless[] = {0x90, 0x90, 0x90, 0x90};
	static const uint8_t call[] = {0xe8, 0, 0, 0, 0, 0xc3, 0, 0, 0,
				       0,    0, 0, 0, 0, 0,    0, 0, 0};
	static const uint8_t far_inside[] = {0xeb, 0x70, 0xc3};
	static const struct swz_bytes cases[] = {
		{endless, sizeof(endless)},
		{call, sizeof(call)},
		{far_inside, sizeof(far_inside)}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct swz_fixups fixups = {0};

		ck_assert_int_eq(swz_fixups_find(&fixups, cases[i], 0,
						 (struct swz_bytes){0}),
				 SWZ_E_FORMAT);
	}
}
END_TEST

START_TEST(what_does_not_reach_any_more_is_an_error)
{
	uint8_t region[8] = {0xff, 0xff, 0xff, 0x7f};
	const uint32_t at = 0;

	ck_assert_int_eq(swz_fixups_apply_relative(region, &at, 1, -1), SWZ_OK);
	ck_assert_int_eq(swz_fixups_apply_relative(region, &at, 1, 2),
			 SWZ_E_RANGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fixups");
	TCase *tcase = tcase_create("fixups");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, moved_prologues_are_as_if_relocated_there, 0,
			    (int)(sizeof(files) / sizeof(*files)));
	tcase_add_test(tcase, moved_forms_are_as_if_relocated_there);
	tcase_add_test(tcase,
		       an_address_that_replaced_a_lea_moves_with_the_module);
	tcase_add_test(tcase, a_number_of_the_program_stays);
	tcase_add_test(tcase, a_short_return_address_is_reported);
	tcase_add_test(tcase, the_arenas_bounds_stay_where_they_are);
	tcase_add_test(tcase, what_is_no_relocated_code_is_not_understood);
	tcase_add_test(tcase, what_does_not_reach_any_more_is_an_error);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
