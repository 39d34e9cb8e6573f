/* Relocates the first bytes of every function of some shared libraries, those
 * that this machine has, and compares originals and copies. A histogram of what
 * was refused goes to stdout. */

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "relocation_check.h"
#include "swizzle/format.h"
#include "tests/unit/run_suite.h"
#include "thunks/relocate.h"

static const char *const libraries[] = {
	"/proc/self/exe",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
	"/usr/bin/python3.11",
	"/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1",
};

enum { WANTED = 5, COPY_DISTANCE = 0x20000000 };

struct tally {
	size_t functions;
	size_t unreached;
	size_t refusals[SWZ_REFUSAL_COUNT];
};

static void *zeroed(size_t bytes)
{
	return calloc(1, bytes);
}

/* What the copy says of itself is what its code says. */
static void assert_outward_are_fixups(const uint8_t *out, struct swz_bytes code,
				      const struct swz_relocation *r)
{
	uint32_t relative[16], absolute[16];
	struct swz_fixups fixups = {.relative = relative,
				    .absolute = absolute,
				    .relative_room = 16,
				    .absolute_room = 16};

	ck_assert_int_eq(
		swz_fixups_find(&fixups,
				(struct swz_bytes){out, SWZ_RELOCATED_MAX}, 0,
				code),
		SWZ_OK);
	ck_assert_uint_eq(fixups.relative_count, r->outward_count);
	for (unsigned i = 0; i < r->outward_count; i++)
		ck_assert_uint_eq(relative[i], r->outward[i]);
}

static void relocate_function(struct swz_decoder *decoder,
			      const struct swz_elf *elf,
			      const struct swz_fde *fde, struct tally *tally)
{
	uint8_t out[SWZ_RELOCATED_MAX] = {0};
	struct swz_relocation relocation;
	uint64_t to = fde->start + COPY_DISTANCE;
	struct swz_bytes code;
	const char *fault;

	code = swz_elf_bytes_at(elf, fde->start, fde->size);
	if (!code.size || !swz_fde_is_function(fde))
		return;
	tally->functions++;
	if (swz_relocate(decoder, code, fde->start, WANTED, to, out,
			 sizeof(out), NULL, &relocation) != SWZ_OK) {
		tally->unreached++;
		return;
	}
	tally->refusals[relocation.refusal]++;
	if (relocation.refusal != SWZ_PATCHED)
		return;
	fault = relocation_fault(decoder, code, fde->start, WANTED, to, out,
				 &relocation);
	ck_assert_msg(!fault, "function at %#lx: %s", (unsigned long)fde->start,
		      fault);
	assert_outward_are_fixups(out, code, &relocation);
}

static void relocate_all(struct swz_decoder *decoder, struct swz_bytes file,
			 struct tally *tally)
{
	struct swz_eh_frame section;
	struct swz_fde_iterator it;
	const Elf64_Shdr *header;
	struct swz_elf elf;
	struct swz_fde fde;

	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_OK);
	header = swz_elf_section(&elf, ".eh_frame");
	ck_assert_ptr_nonnull(header);
	section.bytes = swz_elf_section_bytes(&elf, header);
	section.address = header->sh_addr;
	swz_fde_begin(&it, &section);
	while (swz_fde_next(&it, &fde))
		relocate_function(decoder, &elf, &fde, tally);
	ck_assert_uint_eq(it.skipped, 0);
}

static void print_tally(const char *name, const struct tally *tally)
{
	static const char *const reasons[] = {
#define X(symbol, text) text,
		SWZ_REFUSALS(X)
#undef X
	};
	size_t i;

	printf("%s: %zu functions\n", name, tally->functions);
	for (i = 0; i < SWZ_REFUSAL_COUNT; i++)
		if (tally->refusals[i])
			printf("  %8zu %s\n", tally->refusals[i], reasons[i]);
	if (tally->unreached)
		printf("  %8zu out of reach\n", tally->unreached);
}

START_TEST(prologues_of_real_functions_are_moved_truly)
{
	struct swz_decoder *decoder = swz_decoder_new(zeroed);
	int fd = open(libraries[_i], O_RDONLY | O_CLOEXEC);
	struct tally tally = {0};
	struct swz_bytes file;
	struct stat stat;

	if (fd < 0)
		return; /* not on this machine */
	ck_assert_int_eq(fstat(fd, &stat), 0);
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(file.data != MAP_FAILED);
	relocate_all(decoder, file, &tally);
	print_tally(libraries[_i], &tally);
	ck_assert_uint_gt(tally.refusals[SWZ_PATCHED], 0);
	munmap((void *)(uintptr_t)file.data, file.size);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("relocate_corpus");
	TCase *tcase = tcase_create("libraries");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, prologues_of_real_functions_are_moved_truly,
			    0, (int)(sizeof(libraries) / sizeof(*libraries)));
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
