/* Entries of the PLT: their bounds and names, as several linkers make them,
 * with and without symbols. */

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/elf_view.h"
#include "profile/names/symbols.h"
#include "tests/unit/run_suite.h"
#include "util/memory.h"
#include "watch/code_file.h"

static const char source[] = "	.text\n"
			     "	.globl caller\n"
			     "	.type caller, @function\n"
			     "caller: call first@PLT\n"
			     "	call _Z6secondi@PLT\n"
			     "	mov third@GOTPCREL(%rip), %rax\n"
			     "	call third@PLT\n"
			     "	ret\n"
			     "	.size caller, . - caller\n"
			     "	.section .note.GNU-stack\n";

static const struct {
	const char *linker, *flags;
} builds[] = {
	{"bfd", "-Wl,-z,lazy"},
	{"bfd", "-Wl,-z,now"},
	{"bfd", "-Wl,-z,ibtplt"},
	{"bfd", "-Wl,-z,now,-z,ibtplt"},
	{"bfd", "-Wl,-z,now -s"},
	{"lld", ""},
	{"lld", "-s"},
	{"lld", "-Wl,-z,retpolineplt"},
	{"lld", "-Wl,-z,retpolineplt,-z,now"},
	{"mold", ""},
	{"mold", "-Wl,-z,now -s"},
};

static char directory[32];
static char library[64];
static char *bytes;
static struct swz_elf elf;

/* False: there is no such linker. */
static bool build(int i)
{
	char *command, name[32];
	struct stat st;
	FILE *file;

	snprintf(name, sizeof(name), "ld.%s", builds[i].linker);
	command = swz_print("command -v %s >/dev/null", name);
	if (system(command) != 0) {
		free(command);
		return false;
	}
	free(command);
	command = swz_print("cc -shared -nostdlib -fuse-ld=%s %s -o %s -x "
			    "assembler -",
			    builds[i].linker, builds[i].flags, library);
	file = popen(command, "w");
	free(command);
	ck_assert_ptr_nonnull(file);
	fputs(source, file);
	ck_assert_int_eq(pclose(file), 0);
	ck_assert_int_eq(stat(library, &st), 0);
	bytes = swz_allocate((size_t)st.st_size, 1);
	file = fopen(library, "r");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(bytes, 1, (size_t)st.st_size, file),
			  (size_t)st.st_size);
	fclose(file);
	ck_assert_int_eq(
		swz_elf_open(&elf, (struct swz_bytes){(uint8_t *)bytes,
						      (size_t)st.st_size}),
		SWZ_OK);
	return true;
}

static void setup(void)
{
	strcpy(directory, "/tmp/swizzle-test.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(library, sizeof(library), "%s/plt.so", directory);
}

static void teardown(void)
{
	swz_code_files_close();
	free(bytes);
	bytes = NULL;
	unlink(library);
	rmdir(directory);
}

static struct swz_symbols *open_symbols(void)
{
	struct swz_symbols_source of = {.path = library,
					.files = &swz_debug_files_usual};
	struct swz_symbols *symbols;

	ck_assert_int_eq(swz_symbols_open(&of, &symbols), SWZ_OK);
	return symbols;
}

static struct swz_code_file *open_code(void)
{
	struct stat st;

	ck_assert_int_eq(stat(library, &st), 0);
	return swz_code_file_of(&(struct swz_mapped_file){
		.pid = getpid(), .inode = st.st_ino, .path = library});
}

/* The tools and the sampler find the same function. */
static void compare(struct swz_symbols *symbols, struct swz_code_file *code,
		    const struct swz_plt_entry *entry, const char *name)
{
	char *wanted = swz_print("%s@plt", name);
	const char *found;
	uint64_t offset;

	for (uint64_t at = entry->start; at < entry->end; at += 5) {
		struct swz_code_function function = swz_code_file_function(code,
									   at);

		ck_assert_uint_eq(function.start, entry->start);
		ck_assert_uint_eq(function.size, entry->end - entry->start);
		found = swz_symbols_name(symbols, at, &offset);
		ck_assert_ptr_nonnull(found);
		ck_assert_str_eq(found, wanted);
		ck_assert_uint_eq(offset, at - entry->start);
	}
	swz_code_file_names(code, &entry->start, &found, 1);
	ck_assert_ptr_nonnull(found);
	ck_assert_str_eq(found, wanted);
	free(wanted);
}

START_TEST(entries_have_names)
{
	static const char *const expected[] = {"first", "_Z6secondi", "third"};
	unsigned seen[3] = {0};
	struct swz_plt_names names;
	struct swz_plt_entry entry;
	struct swz_symbols *symbols;
	struct swz_code_file *code;
	struct swz_plt plt;

	if (!build(_i))
		return;
	symbols = open_symbols();
	code = open_code();
	swz_plt_names_open(&names, &elf);
	swz_plt_begin(&plt, &elf);
	while (swz_plt_next(&plt, &entry)) {
		uint64_t resolver;
		const char *name = swz_plt_name(&names, entry.slot, &resolver);

		ck_assert_uint_lt(entry.start, entry.end);
		ck_assert_uint_eq(resolver, 0);
		ck_assert_int_eq(name != NULL, entry.slot != 0);
		for (size_t i = 0; name && i < 3; i++)
			seen[i] += strcmp(name, expected[i]) == 0;
		if (name)
			compare(symbols, code, &entry, name);
	}
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(seen[i], 1);
	swz_symbols_close(symbols);
}
END_TEST

START_TEST(damaged_sections_end)
{
	struct swz_plt_names names;
	struct swz_plt_entry entry;
	struct swz_plt plt;
	unsigned entries = 0;
	uint64_t resolver;

	ck_assert(build(0));
	/* every byte of the sections' headers in turn */
	for (size_t i = 0; i < elf.section_count * sizeof(Elf64_Shdr); i++) {
		uint8_t *at = (uint8_t *)bytes + elf.header->e_shoff + i;
		uint8_t was = *at;

		*at ^= 0xff;
		swz_plt_names_open(&names, &elf);
		swz_plt_begin(&plt, &elf);
		while (swz_plt_next(&plt, &entry)) {
			(void)swz_plt_name(&names, entry.slot, &resolver);
			entries++;
		}
		*at = was;
	}
	ck_assert_uint_gt(entries, 0);
}
END_TEST

START_TEST(names_are_demangled_before_the_suffix)
{
	char *name = swz_demangle("_Z6secondi@plt", 0, SWZ_DEMANGLE_SIMPLE);

	ck_assert_str_eq(name, "second@plt");
	free(name);
	name = swz_demangle("_Z6secondi@plt", 0, SWZ_DEMANGLE_FULL);
	ck_assert_str_eq(name, "second(int)@plt");
	free(name);
	name = swz_symbol_without_version("strcmp@plt");
	ck_assert_str_eq(name, "strcmp@plt");
	free(name);
	name = swz_symbol_without_version("strcmp@@GLIBC_2.2.5");
	ck_assert_str_eq(name, "strcmp");
	free(name);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("plt");
	TCase *tcase = tcase_create("plt");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, entries_have_names, 0,
			    sizeof(builds) / sizeof(*builds));
	tcase_add_test(tcase, damaged_sections_end);
	tcase_add_test(tcase, names_are_demangled_before_the_suffix);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
