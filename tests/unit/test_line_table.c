/* Line tables put together here, opcode by opcode (DWARF 5, 6.2), whole and
 * damaged, and this program's own. */

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/line_table.h"
#include "tests/unit/run_suite.h"

/* ---- a table being made ---- */

static uint8_t table[4096];
static size_t used;
static const char line_strings[] = "/build\0src\0/usr/include\0one.c\0two.h";
enum { BUILD = 0, SRC = 7, INCLUDE = 11, ONE_C = 24, TWO_H = 30 };

static void u8(unsigned value)
{
	ck_assert_uint_lt(used, sizeof(table));
	table[used++] = (uint8_t)value;
}

static void bytes(uint64_t value, int count)
{
	for (; count; count--, value >>= 8)
		u8(value & 0xff);
}

static void text(const char *string)
{
	do
		u8((uint8_t)*string);
	while (*string++);
}

struct start {
	bool wide;
	size_t length_at;
	size_t header_length_at;
};

static void offset(const struct start *s, uint64_t value)
{
	bytes(value, s->wide ? 8 : 4);
}

static void put_at(size_t at, bool wide, size_t value)
{
	size_t end = used;

	used = at;
	bytes(value, wide ? 8 : 4);
	used = end;
}

/* opcode_base 13, line_base -5, line_range 14, as GCC and clang have it */
static struct start begin_unit(unsigned version, bool wide)
{
	static const uint8_t counts[] = {0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1};
	struct start s = {wide, 0, 0};

	if (wide)
		bytes(UINT32_MAX, 4);
	s.length_at = used;
	offset(&s, 0);
	bytes(version, 2);
	if (version >= 5) {
		u8(8);
		u8(0);
	}
	s.header_length_at = used;
	offset(&s, 0);
	u8(1);
	if (version >= 4)
		u8(1);
	u8(1);
	u8(0xfb);
	u8(14);
	u8(13);
	for (size_t i = 0; i < sizeof(counts); i++)
		u8(counts[i]);
	return s;
}

static void end_header(const struct start *s)
{
	size_t size = s->wide ? 8 : 4;

	put_at(s->header_length_at, s->wide, used - s->header_length_at - size);
}

static void end_unit(const struct start *s)
{
	size_t size = s->wide ? 8 : 4;

	put_at(s->length_at, s->wide, used - s->length_at - size);
}

/* 1: src/one.c, 2: /usr/include/two.h, 3: three.c */
static void old_names(void)
{
	text("src");
	text("/usr/include");
	u8(0);
	text("one.c");
	u8(1), u8(0), u8(0);
	text("two.h");
	u8(2), u8(0x80), u8(1), u8(0);
	text("three.c");
	u8(0), u8(0), u8(0);
	u8(0);
}

/* The same, and 0 like 1; directories by .debug_line_str, files with an MD5. */
static void new_names(const struct start *s)
{
	static const struct {
		unsigned name, directory;
	} files[] = {{ONE_C, 1}, {ONE_C, 1}, {TWO_H, 2}};

	u8(1), u8(1), u8(0x1f);
	u8(3);
	offset(s, BUILD);
	offset(s, SRC);
	offset(s, INCLUDE);
	u8(3), u8(1), u8(0x1f), u8(2), u8(0x0b), u8(5), u8(0x1e);
	u8(3);
	for (unsigned i = 0; i < 3; i++) {
		offset(s, files[i].name);
		u8(files[i].directory);
		for (unsigned n = 0; n < 16; n++)
			u8(n);
	}
}

static void set_address(uint64_t address)
{
	u8(0), u8(9), u8(2);
	bytes(address, 8);
}

static void set_file(unsigned file)
{
	u8(4), u8(file);
}

static void copy(void)
{
	u8(1);
}

static void advance_pc(unsigned count)
{
	u8(2), u8(count);
}

static void end_sequence(void)
{
	u8(0), u8(1), u8(1);
}

/* ---- what is read from it ---- */

struct found {
	struct swz_line_range ranges[16];
	size_t count;
	size_t stop_after;
};

static bool note(void *context, const struct swz_line_range *range)
{
	struct found *found = context;

	ck_assert_uint_lt(found->count, 16);
	found->ranges[found->count++] = *range;
	return found->count != found->stop_after;
}

static struct swz_line_sections sections(void)
{
	struct swz_line_sections all = {
		.line = {table, used},
		.line_strings = {(const uint8_t *)line_strings,
				 sizeof(line_strings)},
	};

	return all;
}

static struct swz_line_unit only_unit(void)
{
	struct swz_line_sections all = sections();
	struct swz_line_iterator it;
	struct swz_line_unit unit, more;

	swz_line_begin(&it, &all);
	ck_assert(swz_line_next(&it, &unit));
	ck_assert(!swz_line_next(&it, &more));
	ck_assert_uint_eq(it.skipped, 0);
	return unit;
}

static void assert_range(const struct swz_line_range *range, uint64_t start,
			 uint64_t end, uint64_t file)
{
	ck_assert_uint_eq(range->start, start);
	ck_assert_uint_eq(range->end, end);
	ck_assert_uint_eq(range->file, file);
}

static void assert_file(const struct swz_line_unit *unit, uint64_t index,
			const char *base, const char *directory,
			const char *name)
{
	struct swz_line_file file;

	ck_assert(swz_line_file(unit, index, &file));
	ck_assert_pstr_eq(file.base, base);
	ck_assert_pstr_eq(file.directory, directory);
	ck_assert_str_eq(file.name, name);
}

static void reset(void)
{
	used = 0;
	memset(table, 0xee, sizeof(table));
}

/* versions 2 to 5, each with offsets of 32 and of 64 bits */
#define FORMS 8
static unsigned version_of(int form)
{
	return 2 + (unsigned)form % 4;
}

static struct start begin_with_names(int form)
{
	struct start s = begin_unit(version_of(form), form >= 4);

	if (version_of(form) >= 5)
		new_names(&s);
	else
		old_names();
	end_header(&s);
	return s;
}

START_TEST(reads_names_of_all_versions)
{
	struct start s = begin_with_names(_i);
	struct swz_line_unit unit;
	struct swz_line_file file;
	const char *base = version_of(_i) >= 5 ? "/build" : NULL;

	end_unit(&s);
	unit = only_unit();
	assert_file(&unit, 1, base, "src", "one.c");
	assert_file(&unit, 2, NULL, "/usr/include", "two.h");
	if (version_of(_i) >= 5) {
		assert_file(&unit, 0, base, "src", "one.c");
	} else {
		assert_file(&unit, 3, NULL, NULL, "three.c");
		ck_assert(!swz_line_file(&unit, 0, &file));
	}
	ck_assert(!swz_line_file(&unit, 4, &file));
	ck_assert(!swz_line_file(&unit, UINT64_MAX, &file));
}
END_TEST

START_TEST(reads_ranges_of_all_versions)
{
	struct start s = begin_with_names(_i);
	struct found found = {0};
	struct swz_line_unit unit;

	set_address(0x1000);
	copy();              /* 1000: one.c */
	u8(13 + 14 * 4 + 5); /* 1004, a special opcode: the same */
	set_file(2);
	u8(13 + 14 * 2); /* 1006: two.h */
	u8(8);           /* const_add_pc: 17 */
	set_file(1);
	copy();                  /* 1017: one.c */
	u8(9), bytes(0x100, 2);  /* fixed_advance_pc */
	u8(12), u8(0x81), u8(1); /* set_isa: passed over */
	u8(10);
	u8(0), u8(3), u8(0x80), u8(1), u8(2); /* an opcode of a vendor */
	advance_pc(0x10);
	end_sequence(); /* 1127 */
	end_unit(&s);
	unit = only_unit();
	ck_assert_int_eq(swz_line_ranges(&unit, note, &found), SWZ_OK);
	ck_assert_uint_eq(found.count, 3);
	assert_range(&found.ranges[0], 0x1000, 0x1006, 1);
	assert_range(&found.ranges[1], 0x1006, 0x1017, 2);
	assert_range(&found.ranges[2], 0x1017, 0x1127, 1);
	ck_assert_uint_eq(found.ranges[2].sequence_start, 0x1000);
	memset(&found, 0, sizeof(found));
	found.stop_after = 2;
	ck_assert_int_eq(swz_line_ranges(&unit, note, &found), SWZ_OK);
	ck_assert_uint_eq(found.count, 2);
}
END_TEST

START_TEST(of_rows_at_one_address_the_first_counts)
{
	struct start s = begin_with_names(2);
	struct found found = {0};
	struct swz_line_unit unit;

	set_address(0x2000);
	copy(); /* the function's own first row, */
	set_file(2);
	copy(); /* what is inlined at its beginning */
	advance_pc(8);
	copy();
	set_file(1);
	advance_pc(8);
	copy();
	set_file(2);
	copy();
	set_file(1);
	advance_pc(8);
	copy();
	end_sequence();
	end_unit(&s);
	unit = only_unit();
	ck_assert_int_eq(swz_line_ranges(&unit, note, &found), SWZ_OK);
	ck_assert_uint_eq(found.count, 3);
	assert_range(&found.ranges[0], 0x2000, 0x2008, 1);
	assert_range(&found.ranges[1], 0x2008, 0x2010, 2);
	assert_range(&found.ranges[2], 0x2010, 0x2018, 1);
}
END_TEST

START_TEST(each_sequence_begins_anew)
{
	struct start s = begin_with_names(3);
	struct found found = {0};
	struct swz_line_unit unit;

	set_address(0); /* thrown away */
	set_file(2);
	copy();
	advance_pc(0x40);
	end_sequence();
	set_address(0x3000);
	copy(); /* file 1 again */
	advance_pc(0x40);
	end_sequence();
	set_address(0x2000); /* empty */
	copy();
	end_sequence();
	advance_pc(4); /* no row at all */
	end_sequence();
	set_address(0x5000);
	copy();
	set_address(0x4000); /* back, without an end */
	copy();
	advance_pc(2);
	end_sequence();
	end_unit(&s);
	unit = only_unit();
	ck_assert_int_eq(swz_line_ranges(&unit, note, &found), SWZ_OK);
	ck_assert_uint_eq(found.count, 3);
	assert_range(&found.ranges[0], 0, 0x40, 2);
	ck_assert_uint_eq(found.ranges[0].sequence_start, 0);
	assert_range(&found.ranges[1], 0x3000, 0x3040, 1);
	ck_assert_uint_eq(found.ranges[1].sequence_start, 0x3000);
	assert_range(&found.ranges[2], 0x4000, 0x4002, 1);
	ck_assert_uint_eq(found.ranges[2].sequence_start, 0x4000);
}
END_TEST

START_TEST(passes_over_units_that_it_does_not_understand)
{
	struct swz_line_sections all;
	struct swz_line_iterator it;
	struct swz_line_unit unit;
	struct start s;
	size_t first;

	s = begin_unit(6, false); /* of the future */
	end_header(&s);
	end_unit(&s);
	first = used;
	s = begin_unit(4, false);
	table[first + 11] = 4; /* instructions in bundles of 4 */
	end_header(&s);
	end_unit(&s);
	first = used;
	s = begin_unit(3, false);
	table[first + 13] = 0; /* a line range of 0 */
	end_header(&s);
	end_unit(&s);
	s = begin_with_names(0);
	end_unit(&s);
	all = sections();
	swz_line_begin(&it, &all);
	ck_assert(swz_line_next(&it, &unit));
	ck_assert_uint_eq(unit.version, 2);
	assert_file(&unit, 1, NULL, "src", "one.c");
	ck_assert_uint_eq(it.skipped, 3);
	ck_assert(!swz_line_next(&it, &unit));
}
END_TEST

START_TEST(survives_being_cut_off_anywhere)
{
	struct start s = begin_with_names(_i);
	size_t size;

	set_address(0x1000);
	copy();
	set_file(2);
	advance_pc(4);
	copy();
	advance_pc(4);
	end_sequence();
	end_unit(&s);
	for (size = 0; size < used; size++) {
		uint8_t *cut = malloc(size ? size : 1);
		uint64_t length;
		struct swz_line_sections all = sections();
		struct found found = {0};
		struct swz_line_iterator it;
		struct swz_line_unit unit;
		struct swz_line_file file;

		ck_assert_ptr_nonnull(cut);
		memcpy(cut, table, size);
		/* the length says less, too: all else is as it was */
		length = size - s.length_at - (s.wide ? 8 : 4);
		if (size >= 12)
			memcpy(cut + s.length_at, &length, s.wide ? 8 : 4);
		all.line = (struct swz_bytes){cut, size};
		swz_line_begin(&it, &all);
		while (swz_line_next(&it, &unit)) {
			(void)!swz_line_ranges(&unit, note, &found);
			(void)!swz_line_file(&unit, 1, &file);
			(void)!swz_line_file(&unit, 3, &file);
		}
		ck_assert_uint_le(found.count, 2);
		free(cut);
	}
}
END_TEST

/* 2^64 - 1 */
static void most(void)
{
	for (int i = 0; i < 9; i++)
		u8(0xff);
	u8(1);
}

START_TEST(a_list_without_an_end_is_read_to_its_end)
{
	struct start s = begin_unit(5, false);
	struct swz_line_unit unit;
	struct swz_line_file file;

	u8(1), u8(1), u8(0x1f);
	most(); /* so many directories */
	offset(&s, BUILD);
	end_header(&s);
	end_unit(&s);
	unit = only_unit();
	ck_assert(!swz_line_file(&unit, 0, &file));
	reset();
	s = begin_unit(5, false);
	u8(0); /* entries of no bytes, many of them */
	most();
	end_header(&s);
	end_unit(&s);
	unit = only_unit();
	ck_assert(!swz_line_file(&unit, 0, &file));
	reset();
	s = begin_unit(5, false);
	u8(0), u8(0); /* no directories */
	u8(1), u8(1), u8(8), u8(1);
	text("/x.c");
	end_header(&s);
	end_unit(&s);
	unit = only_unit();
	assert_file(&unit, 0, NULL, NULL, "/x.c");
}
END_TEST

/* ---- a compiler's ---- */

struct place {
	uint64_t address;
	char path[4096];
};

static const struct swz_line_unit *reading;

static bool look(void *context, const struct swz_line_range *range)
{
	struct place *place = context;
	struct swz_line_file file;

	if (range->start > place->address || place->address >= range->end)
		return true;
	ck_assert(swz_line_file(reading, range->file, &file));
	snprintf(place->path, sizeof(place->path), "%s", file.name);
	return false;
}

static uint64_t address_of(const struct swz_elf *elf, const char *name)
{
	struct swz_elf_symbols it;
	struct swz_elf_symbol symbol;

	ck_assert_int_eq(swz_elf_symbols_open(&it, elf, SHT_SYMTAB), SWZ_OK);
	while (swz_elf_symbols_next(&it, &symbol))
		if (!strcmp(symbol.name, name))
			return symbol.value;
	return 0;
}

static void assert_place(const struct swz_elf *elf, const char *function,
			 const char *end)
{
	struct swz_line_sections all = {
		.line = swz_elf_section_bytes(
			elf, swz_elf_section(elf, ".debug_line")),
		.line_strings = swz_elf_section_bytes(
			elf, swz_elf_section(elf, ".debug_line_str")),
	};
	struct place place = {.address = address_of(elf, function)};
	struct swz_line_iterator it;
	struct swz_line_unit unit;
	size_t length;

	swz_line_begin(&it, &all);
	reading = &unit;
	while (!place.path[0] && swz_line_next(&it, &unit))
		ck_assert_int_eq(swz_line_ranges(&unit, look, &place), SWZ_OK);
	length = strlen(place.path);
	ck_assert_uint_ge(length, strlen(end));
	ck_assert_str_eq(place.path + length - strlen(end), end);
}

START_TEST(reads_this_program)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct swz_bytes file;
	struct swz_elf elf;
	struct stat stat;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat), 0);
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(file.data != MAP_FAILED);
	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_OK);
	if (swz_elf_section(&elf, ".debug_line_str")) {
		assert_place(&elf, "main", "test_line_table.c");
		assert_place(&elf, "swz_line_next", "line_table.c");
		assert_place(&elf, "swz_elf_open", "elf_view.c");
	}
	munmap((void *)(uintptr_t)file.data, file.size);
	close(fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line_table");
	TCase *tcase = tcase_create("line_table");

	tcase_add_checked_fixture(tcase, reset, NULL);
	tcase_add_loop_test(tcase, reads_names_of_all_versions, 0, FORMS);
	tcase_add_loop_test(tcase, reads_ranges_of_all_versions, 0, FORMS);
	tcase_add_test(tcase, of_rows_at_one_address_the_first_counts);
	tcase_add_test(tcase, each_sequence_begins_anew);
	tcase_add_test(tcase, passes_over_units_that_it_does_not_understand);
	tcase_add_loop_test(tcase, survives_being_cut_off_anywhere, 0, FORMS);
	tcase_add_test(tcase, a_list_without_an_end_is_read_to_its_end);
	tcase_add_test(tcase, reads_this_program);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
