/* .eh_frame sections that the tests put together byte by byte, and this
 * program's own. */

#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/eh_frame.h"
#include "tests/unit/run_suite.h"

enum { SECTION_ADDRESS = 0x2000, CODE = 0x1000 };

/* A section under construction. */
static uint8_t bytes[2048];
static size_t size;

static void put(const void *data, size_t count)
{
	ck_assert_uint_le(size + count, sizeof(bytes));
	memcpy(bytes + size, data, count);
	size += count;
}

static void put_u32(uint32_t value)
{
	put(&value, sizeof(value));
}

static void put_u64(uint64_t value)
{
	put(&value, sizeof(value));
}

static void end_entry(size_t start)
{
	uint32_t length = (uint32_t)(size - start - 4);

	memcpy(bytes + start, &length, sizeof(length));
}

/* def_cfa rsp+8; return address at CFA-8 */
#define USUAL "\x0c\x07\x08\x90\x01"
#define PROGRAM(text) text, sizeof(text) - 1

/* A CIE; augmentation data without its length. Returns its offset. */
static size_t put_cie(const char *augmentation, const char *data,
		      size_t data_size, const char *program,
		      size_t program_size)
{
	uint8_t length = (uint8_t)data_size;
	size_t start = size;

	put_u32(0);
	put_u32(0);
	put("\1", 1);
	put(augmentation, strlen(augmentation) + 1);
	put("\1\x78\x10", 3); /* code 1, data -8, column 16 */
	if (*augmentation == 'z') {
		put(&length, 1);
		put(data, data_size);
	}
	put(program, program_size);
	end_entry(start);
	return start;
}

static size_t put_usual_cie(void)
{
	return put_cie("zR", "\x1b", 1, PROGRAM(USUAL));
}

static size_t begin_fde(size_t cie)
{
	size_t start = size;

	put_u32(0);
	put_u32((uint32_t)(size - cie));
	return start;
}

/* An FDE of the usual encoding: pc-relative, 4 bytes. */
static void put_fde(size_t cie, uint32_t code_size, const char *program,
		    size_t program_size)
{
	size_t start = begin_fde(cie);

	put_u32((uint32_t)(CODE - (SECTION_ADDRESS + size)));
	put_u32(code_size);
	put("\0", 1);
	put(program, program_size);
	end_entry(start);
}

static struct swz_eh_frame section(void)
{
	return (struct swz_eh_frame){{bytes, size}, SECTION_ADDRESS};
}

static void reset(void)
{
	size = 0;
}

static struct swz_fde only_fde(void)
{
	struct swz_eh_frame whole = section();
	struct swz_fde_iterator it;
	struct swz_fde fde, other;

	swz_fde_begin(&it, &whole);
	ck_assert(swz_fde_next(&it, &fde));
	ck_assert(!swz_fde_next(&it, &other));
	ck_assert_uint_eq(it.skipped, 0);
	return fde;
}

static size_t count_fdes(size_t *skipped)
{
	struct swz_eh_frame whole = section();
	struct swz_fde_iterator it;
	struct swz_fde fde;
	size_t count = 0;

	swz_fde_begin(&it, &whole);
	while (swz_fde_next(&it, &fde))
		count++;
	*skipped = it.skipped;
	return count;
}

struct rows {
	struct swz_cfi_row row[32];
	size_t count;
	size_t limit;
};

static bool collect(void *context, const struct swz_cfi_row *row)
{
	struct rows *rows = context;

	ck_assert_uint_lt(rows->count, 32);
	rows->row[rows->count++] = *row;
	return rows->count != rows->limit;
}

static enum swz_status rows_of(const struct swz_fde *fde, struct rows *rows)
{
	rows->count = 0;
	rows->limit = 0;
	return swz_cfi_rows(fde, collect, rows);
}

static void check_row(const struct swz_cfi_row *row, uint64_t start,
		      uint64_t end, enum swz_cfa_base base, int64_t offset)
{
	ck_assert_uint_eq(row->start, CODE + start);
	ck_assert_uint_eq(row->end, CODE + end);
	ck_assert_int_eq(row->cfa_base, base);
	if (base != SWZ_CFA_OTHER)
		ck_assert_int_eq(row->cfa_offset, offset);
	ck_assert(row->return_at_cfa_minus_8);
}

START_TEST(reads_a_function)
{
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x40, PROGRAM(""));
	put_u32(0);
	fde = only_fde();
	ck_assert_uint_eq(fde.start, CODE);
	ck_assert_uint_eq(fde.size, 0x40);
	ck_assert_uint_eq(fde.return_column, 16);
	ck_assert_int_eq(fde.data_align, -8);
	ck_assert(!fde.signal_frame);
	ck_assert(!fde.has_lsda);
	ck_assert(swz_fde_is_function(&fde));
}
END_TEST

START_TEST(follows_a_frame_with_rbp)
{
	struct rows rows;
	struct swz_fde fde;

	/* push rbp; mov rsp,rbp; …; leave; ret */
	put_fde(put_usual_cie(), 0x20,
		PROGRAM("\x41\x0e\x10\x86\x02\x43\x0d\x06\x5b\x0c\x07\x08"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 4);
	check_row(&rows.row[0], 0, 1, SWZ_CFA_RSP, 8);
	check_row(&rows.row[1], 1, 4, SWZ_CFA_RSP, 16);
	check_row(&rows.row[2], 4, 0x1f, SWZ_CFA_RBP, 16);
	check_row(&rows.row[3], 0x1f, 0x20, SWZ_CFA_RSP, 8);
}
END_TEST

START_TEST(remembers_and_restores_the_cfa)
{
	struct rows rows;
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20,
		PROGRAM("\x42\x0e\x18\x0a\x42\x0e\x08\x41\x0b"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 4);
	check_row(&rows.row[2], 4, 5, SWZ_CFA_RSP, 8);
	check_row(&rows.row[3], 5, 0x20, SWZ_CFA_RSP, 24);
}
END_TEST

START_TEST(advances_by_1_2_and_4_bytes_and_to_an_address)
{
	struct rows rows;
	struct swz_fde fde;
	size_t start = begin_fde(put_usual_cie());

	put_u32((uint32_t)(CODE - (SECTION_ADDRESS + size)));
	put_u32(0x10000);
	put(PROGRAM("\0"
		    "\x02\x80\x0e\x10"
		    "\x03\x00\x01\x0e\x18"
		    "\x04\x00\x01\x00\x00\x0e\x20"
		    "\x01"));
	put_u32((uint32_t)(CODE + 0x1000 - (SECTION_ADDRESS + size)));
	put(PROGRAM("\x0e\x28"));
	end_entry(start);
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 5);
	check_row(&rows.row[0], 0, 0x80, SWZ_CFA_RSP, 8);
	check_row(&rows.row[1], 0x80, 0x180, SWZ_CFA_RSP, 16);
	check_row(&rows.row[2], 0x180, 0x280, SWZ_CFA_RSP, 24);
	check_row(&rows.row[3], 0x280, 0x1000, SWZ_CFA_RSP, 32);
	check_row(&rows.row[4], 0x1000, 0x10000, SWZ_CFA_RSP, 40);
}
END_TEST

START_TEST(stops_when_told)
{
	struct rows rows = {.limit = 2};
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x41\x0e\x10\x41\x0e\x18"));
	fde = only_fde();
	ck_assert_int_eq(swz_cfi_rows(&fde, collect, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 2);
}
END_TEST

START_TEST(expressions_and_other_registers_are_other)
{
	struct rows rows;
	struct swz_fde fde;

	/* def_cfa r10+0; def_cfa_expression of 3 bytes */
	put_fde(put_usual_cie(), 0x20,
		PROGRAM("\x41\x0c\x0a\x00\x42\x0f\x03\x76\x78\x06"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 3);
	check_row(&rows.row[1], 1, 3, SWZ_CFA_OTHER, 0);
	check_row(&rows.row[2], 3, 0x20, SWZ_CFA_OTHER, 0);
	ck_assert_uint_eq(rows.row[1].cfa_column, 10);
	ck_assert_int_eq(rows.row[1].cfa_offset, 0);
	ck_assert_uint_eq(rows.row[2].cfa_column, SWZ_NO_COLUMN);
}
END_TEST

START_TEST(finds_the_row_of_an_address)
{
	struct swz_cfi_row row = {0};
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x41\x0c\x0b\x08\x42\x0e\x18"));
	fde = only_fde();
	ck_assert(swz_cfi_row_at(&fde, CODE, &row));
	check_row(&row, 0, 1, SWZ_CFA_RSP, 8);
	for (unsigned i = 1; i < 3; i++) {
		ck_assert(swz_cfi_row_at(&fde, CODE + i, &row));
		check_row(&row, 1, 3, SWZ_CFA_OTHER, 0);
		ck_assert_uint_eq(row.cfa_column, 11);
		ck_assert_int_eq(row.cfa_offset, 8);
	}
	ck_assert(swz_cfi_row_at(&fde, CODE + 0x1f, &row));
	check_row(&row, 3, 0x20, SWZ_CFA_OTHER, 0);
	ck_assert(!swz_cfi_row_at(&fde, CODE + 0x20, &row));
	ck_assert(!swz_cfi_row_at(&fde, CODE - 1, &row));
}
END_TEST

static void check_rule(const struct swz_cfi_registers *registers,
		       unsigned column, enum swz_register_rule rule,
		       int64_t value)
{
	ck_assert_int_eq(registers->rule[column], rule);
	if (rule == SWZ_RULE_AT_ADDRESS || rule == SWZ_RULE_EXPRESSION)
		ck_assert_mem_eq(bytes + registers->value[column], "\x02\x76",
				 2);
	else
		ck_assert_int_eq(registers->value[column], value);
}

START_TEST(keeps_the_rules_of_registers_for_who_asks)
{
	struct swz_cfi_registers now;
	struct swz_cfi_row row;
	struct swz_fde fde;

	/* CIE: rbx undefined besides. Then rbp at CFA-16; remembered; rbx same
	 * value, rsp CFA-8 (val_offset), r12 in r11, r13 at an expression, r14
	 * by an expression, r15 at CFA+24 (sf); column 17 is none of them */
	put_fde(put_cie("zR", "\x1b", 1, PROGRAM(USUAL "\x07\x03")), 0x20,
		PROGRAM("\x41\x86\x02"
			"\x41\x0a\x08\x03\x14\x07\x01\x09\x0c\x0b"
			"\x10\x0d\x02\x76\x00\x16\x0e\x02\x76\x08"
			"\x11\x0f\x7d\x05\x11\x04"
			"\x41\xc3\x0f\x02\x76\x10"
			"\x41\x0b\x07\x10"));
	fde = only_fde();
	ck_assert(swz_cfi_registers_at(&fde, CODE, &row, &now));
	check_rule(&now, 3, SWZ_RULE_UNDEFINED, 0);
	check_rule(&now, 6, SWZ_RULE_SAME, 0);
	check_rule(&now, 16, SWZ_RULE_AT_CFA, -8);
	ck_assert(swz_cfi_registers_at(&fde, CODE + 1, &row, &now));
	check_rule(&now, 6, SWZ_RULE_AT_CFA, -16);
	ck_assert(swz_cfi_registers_at(&fde, CODE + 2, &row, &now));
	check_row(&row, 2, 3, SWZ_CFA_RSP, 8);
	check_rule(&now, 3, SWZ_RULE_SAME, 0);
	check_rule(&now, 7, SWZ_RULE_CFA, -8);
	check_rule(&now, 12, SWZ_RULE_REGISTER, 11);
	check_rule(&now, 13, SWZ_RULE_AT_ADDRESS, 0);
	check_rule(&now, 14, SWZ_RULE_EXPRESSION, 0);
	check_rule(&now, 15, SWZ_RULE_AT_CFA, 24);
	ck_assert_uint_eq(now.cfa_expression, 0);
	/* restored: the CIE's; and the CFA by an expression */
	ck_assert(swz_cfi_registers_at(&fde, CODE + 3, &row, &now));
	check_rule(&now, 3, SWZ_RULE_UNDEFINED, 0);
	check_rule(&now, 7, SWZ_RULE_CFA, -8);
	ck_assert_uint_eq(row.cfa_column, SWZ_NO_COLUMN);
	ck_assert_mem_eq(bytes + now.cfa_expression, "\x02\x76\x10", 3);
	/* as remembered; the return address is lost */
	ck_assert(swz_cfi_registers_at(&fde, CODE + 4, &row, &now));
	ck_assert_int_eq(row.cfa_base, SWZ_CFA_RSP);
	check_rule(&now, 6, SWZ_RULE_AT_CFA, -16);
	check_rule(&now, 7, SWZ_RULE_SAME, 0);
	check_rule(&now, 12, SWZ_RULE_SAME, 0);
	check_rule(&now, 16, SWZ_RULE_UNDEFINED, 0);
	ck_assert(!swz_cfi_registers_at(&fde, CODE + 0x20, &row, &now));
}
END_TEST

/* What is damaged before the row leaves none; behind it, it stands. */
START_TEST(finds_no_row_behind_damage)
{
	struct swz_cfi_row row = {0};
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x41\x0e\x10\x41\x3c"));
	fde = only_fde();
	ck_assert(swz_cfi_row_at(&fde, CODE, &row));
	ck_assert(swz_cfi_row_at(&fde, CODE + 1, &row));
	check_row(&row, 1, 2, SWZ_CFA_RSP, 16);
	ck_assert(!swz_cfi_row_at(&fde, CODE + 2, &row));
}
END_TEST

struct start {
	const char *name;
	const char *program;
	size_t program_size;
	bool function;
};

/* clang-format off */
static const struct start starts[] = {
	{"usual", PROGRAM(USUAL), true},
	{"undefined return address, as in _start", PROGRAM(USUAL "\x07\x10"),
	 false},
	{"CFA rsp+16, as behind PLT0", PROGRAM("\x0c\x07\x10\x90\x01"), false},
	{"CFA of rbp", PROGRAM("\x0c\x06\x08\x90\x01"), false},
	{"CFA expression", PROGRAM(USUAL "\x0f\x01\x30"), false},
	{"return address elsewhere", PROGRAM("\x0c\x07\x08\x90\x02"), false},
	{"return address by an expression", PROGRAM(USUAL "\x10\x10\x01\x30"),
	 false},
	{"return address in a register", PROGRAM(USUAL "\x09\x10\x00"), false},
	{"return address of no rule", PROGRAM("\x0c\x07\x08"), false},
	{"factored forms", PROGRAM("\x12\x07\x7f\x11\x10\x01"), true},
	{"extended forms", PROGRAM("\x0c\x07\x20\x13\x7f\x05\x10\x01"), true},
	{"another register's rules", PROGRAM(USUAL "\x08\x03\x14\x06\x02"), true},
	{"argument size", PROGRAM(USUAL "\x2e\x10"), true},
	{"an unknown opcode", PROGRAM(USUAL "\x3c"), false},
	{"a cut off operand", PROGRAM(USUAL "\x0e"), false},
	{"an advance in the CIE", PROGRAM(USUAL "\x41"), false},
	{"a restore of nothing", PROGRAM(USUAL "\x0b"), false},
};
/* clang-format on */

START_TEST(tells_functions_by_their_first_row)
{
	const struct start *s = &starts[_i];
	struct swz_fde fde;

	put_fde(put_cie("zR", "\x1b", 1, s->program, s->program_size), 0x20,
		PROGRAM("\x41\x0e\x10"));
	fde = only_fde();
	ck_assert_msg(swz_fde_is_function(&fde) == s->function, "%s", s->name);
}
END_TEST

START_TEST(a_restored_column_gets_the_cies_rule)
{
	struct rows rows;
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x41\x07\x10\x41\xd0"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	ck_assert_uint_eq(rows.count, 3);
	ck_assert(!rows.row[1].return_at_cfa_minus_8);
	ck_assert(rows.row[2].return_at_cfa_minus_8);
}
END_TEST

START_TEST(reads_augmentations)
{
	struct swz_fde fde;
	size_t start;

	/* personality (indirect pcrel sdata4), LSDA (pcrel sdata4), 'S', 'B' */
	put_cie("zPLRSB", "\x9b\1\2\3\4\x1b\x1b", 7, PROGRAM(USUAL));
	start = begin_fde(0);
	put_u32((uint32_t)(CODE - (SECTION_ADDRESS + size)));
	put_u32(0x10);
	put("\4\1\0\0\0", 5);
	end_entry(start);
	fde = only_fde();
	ck_assert_uint_eq(fde.start, CODE);
	ck_assert(fde.signal_frame);
	ck_assert(fde.has_lsda);
	ck_assert(!swz_fde_is_function(&fde));
}
END_TEST

START_TEST(reads_absolute_pointers_without_augmentation)
{
	struct swz_fde fde;
	size_t start;

	put_cie("", "", 0, PROGRAM(USUAL));
	start = begin_fde(0);
	put_u64(0x123456789abc);
	put_u64(0x10);
	end_entry(start);
	fde = only_fde();
	ck_assert_uint_eq(fde.start, 0x123456789abc);
	ck_assert_uint_eq(fde.size, 0x10);
	ck_assert(swz_fde_is_function(&fde));
}
END_TEST

START_TEST(reads_64_bit_lengths)
{
	struct swz_fde fde;
	uint64_t length;
	size_t start;

	put_usual_cie();
	start = size;
	put_u32(0xffffffff);
	put_u64(0);
	put_u32((uint32_t)size);
	put_u32((uint32_t)(CODE - (SECTION_ADDRESS + size)));
	put_u32(0x30);
	put("\0", 1);
	length = size - start - 12;
	memcpy(bytes + start + 4, &length, sizeof(length));
	fde = only_fde();
	ck_assert_uint_eq(fde.start, CODE);
	ck_assert_uint_eq(fde.size, 0x30);
}
END_TEST

START_TEST(steps_over_what_it_does_not_understand)
{
	size_t skipped;
	size_t cie = put_cie("zX", "\x1b", 1, PROGRAM(USUAL));

	put_fde(cie, 0x10, PROGRAM(""));
	put_fde(put_cie("zR", "\x9b", 1, PROGRAM(USUAL)), 0x10, PROGRAM(""));
	put_fde(put_cie("zR", "\x2b", 1, PROGRAM(USUAL)), 0x10, PROGRAM(""));
	put_fde(put_usual_cie(), 0, PROGRAM(""));
	put_fde(put_usual_cie(), 0x10, PROGRAM(""));
	ck_assert_uint_eq(count_fdes(&skipped), 1);
	ck_assert_uint_eq(skipped, 3);
}
END_TEST

START_TEST(an_fde_names_its_cie_or_is_skipped)
{
	size_t skipped;
	size_t fde;

	put_usual_cie();
	fde = size;
	put_fde(0, 0x10, PROGRAM(""));
	put_fde(fde, 0x10, PROGRAM("")); /* names an FDE */
	put_fde(4, 0x10, PROGRAM(""));   /* names the middle of an entry */
	put_fde(size - 4096, 0x10, PROGRAM("")); /* names what is before */
	ck_assert_uint_eq(count_fdes(&skipped), 1);
	ck_assert_uint_eq(skipped, 3);
}
END_TEST

START_TEST(every_truncation_is_survived)
{
	size_t whole, skipped;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x41\x0e\x10"));
	put_u32(0);
	whole = size;
	for (size = 0; size < whole; size++)
		ck_assert_uint_eq(count_fdes(&skipped), size >= whole - 4);
}
END_TEST

START_TEST(a_location_beyond_the_end_is_damage)
{
	struct rows rows;
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20, PROGRAM("\x60\x0e\x10\x41\x0e\x18"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_E_FORMAT);
	ck_assert_uint_eq(rows.count, 1); /* the rows until then stand */
	check_row(&rows.row[0], 0, 0x20, SWZ_CFA_RSP, 8);
}
END_TEST

START_TEST(seventeen_remembered_states_are_too_many)
{
	struct rows rows;
	struct swz_fde fde;

	put_fde(put_usual_cie(), 0x20,
		PROGRAM("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"
			"\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_OK);
	reset();
	put_fde(put_usual_cie(), 0x20,
		PROGRAM("\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"
			"\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a\x0a"));
	fde = only_fde();
	ck_assert_int_eq(rows_of(&fde, &rows), SWZ_E_FORMAT);
}
END_TEST

static bool in_order(void *context, const struct swz_cfi_row *row)
{
	uint64_t *at = context;

	ck_assert_uint_eq(row->start, *at);
	ck_assert_uint_gt(row->end, row->start);
	*at = row->end;
	return true;
}

/* This program's file, and its sections. */
static struct swz_bytes file;
static struct swz_eh_frame own;
static struct swz_eh_frame_header own_header;

static struct swz_bytes own_section(const char *name, uint64_t *address)
{
	const Elf64_Shdr *header;
	struct swz_elf elf;

	ck_assert_int_eq(swz_elf_open(&elf, file), SWZ_OK);
	header = swz_elf_section(&elf, name);
	ck_assert_ptr_nonnull(header);
	*address = header->sh_addr;
	return swz_elf_section_bytes(&elf, header);
}

static void open_own(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat stat;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &stat), 0);
	file.size = (size_t)stat.st_size;
	file.data = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
	ck_assert(file.data != MAP_FAILED);
	close(fd);
	own.bytes = own_section(".eh_frame", &own.address);
	own_header.bytes = own_section(".eh_frame_hdr", &own_header.address);
}

static void close_own(void)
{
	munmap((void *)(uintptr_t)file.data, file.size);
}

START_TEST(rows_of_this_program_tile_its_functions)
{
	struct swz_fde_iterator it;
	struct swz_fde fde;
	size_t functions = 0;

	swz_fde_begin(&it, &own);
	while (swz_fde_next(&it, &fde)) {
		uint64_t at = fde.start;

		ck_assert_int_eq(swz_cfi_rows(&fde, in_order, &at), SWZ_OK);
		ck_assert_uint_eq(at, fde.start + fde.size);
		functions += swz_fde_is_function(&fde);
	}
	ck_assert_uint_eq(it.skipped, 0);
	ck_assert_uint_gt(functions, 20);
}
END_TEST

static void assert_found_at(const struct swz_eh_frame_header *header,
			    uint64_t address, const struct swz_fde *expected)
{
	struct swz_fde fde;

	ck_assert(swz_fde_at(&own, header, address, &fde));
	ck_assert_uint_eq(fde.start, expected->start);
	ck_assert_uint_eq(fde.size, expected->size);
	ck_assert_ptr_eq(fde.program.data, expected->program.data);
}

/* A header whose table is not used: of another form, cut, or none at all. */
static void spoil(struct swz_eh_frame_header *header, uint8_t *copy, int how)
{
	memcpy(copy, own_header.bytes.data, own_header.bytes.size);
	*header = own_header;
	header->bytes.data = copy;
	if (how < 4)
		copy[how] ^= 1;
	else
		header->bytes.size = how == 4 ? 11 : how == 5 ? 12 : 0;
}

START_TEST(finds_what_covers_an_address)
{
	static uint8_t copy[1 << 16];
	struct swz_eh_frame_header spoilt = own_header;
	struct swz_fde_iterator it;
	struct swz_fde fde, none;
	size_t found = 0;

	ck_assert_uint_le(own_header.bytes.size, sizeof(copy));
	if (_i > 0)
		spoil(&spoilt, copy, _i - 1);
	swz_fde_begin(&it, &own);
	while (swz_fde_next(&it, &fde) && (_i == 0 || found < 20)) {
		assert_found_at(&spoilt, fde.start, &fde);
		assert_found_at(&spoilt, fde.start + fde.size / 2, &fde);
		assert_found_at(&spoilt, fde.start + fde.size - 1, &fde);
		found++;
	}
	ck_assert_uint_ge(found, 20);
	ck_assert(!swz_fde_at(&own, &spoilt, 0, &none));
	ck_assert(!swz_fde_at(&own, &spoilt, UINT64_MAX, &none));
	ck_assert(!swz_fde_at(&own, &spoilt, own.address, &none));
}
END_TEST

/* What the table says of places is not believed. */
START_TEST(finds_nothing_by_a_table_that_leads_elsewhere)
{
	static uint8_t copy[1 << 16];
	struct swz_eh_frame_header header = own_header;
	struct swz_fde_iterator it;
	struct swz_fde first, fde;

	swz_fde_begin(&it, &own);
	ck_assert(swz_fde_next(&it, &first));
	memcpy(copy, own_header.bytes.data, own_header.bytes.size);
	header.bytes.data = copy;
	for (size_t at = 16; at + 8 <= header.bytes.size; at += 8) {
		static const int32_t away[] = {INT32_MIN, INT32_MAX, 0};

		memcpy(copy + at, &away[_i], sizeof(away[_i]));
	}
	ck_assert(!swz_fde_at(&own, &header, first.start, &fde));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("eh_frame");
	TCase *tcase = tcase_create("eh_frame");

	tcase_add_checked_fixture(tcase, reset, NULL);
	tcase_add_test(tcase, reads_a_function);
	tcase_add_test(tcase, follows_a_frame_with_rbp);
	tcase_add_test(tcase, remembers_and_restores_the_cfa);
	tcase_add_test(tcase, advances_by_1_2_and_4_bytes_and_to_an_address);
	tcase_add_test(tcase, stops_when_told);
	tcase_add_test(tcase, expressions_and_other_registers_are_other);
	tcase_add_test(tcase, finds_the_row_of_an_address);
	tcase_add_test(tcase, keeps_the_rules_of_registers_for_who_asks);
	tcase_add_test(tcase, finds_no_row_behind_damage);
	tcase_add_loop_test(tcase, tells_functions_by_their_first_row, 0,
			    (int)(sizeof(starts) / sizeof(*starts)));
	tcase_add_test(tcase, a_restored_column_gets_the_cies_rule);
	tcase_add_test(tcase, reads_augmentations);
	tcase_add_test(tcase, reads_absolute_pointers_without_augmentation);
	tcase_add_test(tcase, reads_64_bit_lengths);
	tcase_add_test(tcase, steps_over_what_it_does_not_understand);
	tcase_add_test(tcase, an_fde_names_its_cie_or_is_skipped);
	tcase_add_test(tcase, every_truncation_is_survived);
	tcase_add_test(tcase, a_location_beyond_the_end_is_damage);
	tcase_add_test(tcase, seventeen_remembered_states_are_too_many);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("this program's own");
	tcase_add_checked_fixture(tcase, open_own, close_own);
	tcase_add_test(tcase, rows_of_this_program_tile_its_functions);
	tcase_add_loop_test(tcase, finds_what_covers_an_address, 0, 8);
	tcase_add_loop_test(
		tcase, finds_nothing_by_a_table_that_leads_elsewhere, 0, 3);
	suite_add_tcase(suite, tcase);
	return run_suite(suite);
}
