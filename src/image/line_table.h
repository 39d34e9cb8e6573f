#ifndef SWZ_IMAGE_LINE_TABLE_H
#define SWZ_IMAGE_LINE_TABLE_H

/* A reader of .debug_line (DWARF 2 to 5, section 6.2): which source file the
 * code at an address comes from. Lines are not read. The bytes are hostile.
 * Nothing is allocated; pure, thread safe, async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/elf_view.h"

struct swz_line_sections {
	struct swz_bytes line;         /* .debug_line */
	struct swz_bytes line_strings; /* .debug_line_str; may be empty */
	struct swz_bytes strings;      /* .debug_str; may be empty */
};

/* The table of one compilation. */
struct swz_line_unit {
	struct swz_line_sections sections;
	struct swz_bytes names; /* directories and files, as in the header */
	struct swz_bytes program;
	struct swz_bytes operand_counts; /* of the standard opcodes */
	uint16_t version;
	bool wide; /* offsets of 64 bits */
	uint8_t instruction_bytes;
	uint8_t line_range;
	uint8_t opcode_base;
};

struct swz_line_iterator {
	struct swz_line_sections sections;
	size_t offset;
	size_t skipped; /* damaged or unsupported units so far */
};

void swz_line_begin(struct swz_line_iterator *it,
		    const struct swz_line_sections *sections);
/* Returns true and fills *unit, or false at the end, or where a length runs
 * past it. Units that are not understood are skipped. */
bool swz_line_next(struct swz_line_iterator *it, struct swz_line_unit *unit);

/* Code of one file, [start, end), never empty. Of several rows at one address
 * the first counts, which for a function's first byte is the function's own and
 * not one of what is inlined there. Ranges within a sequence (code that the
 * linker has placed as one) ascend; sequence_start is the sequence's first
 * address: a linker that throws code away leaves its sequence at address 0 or
 * thereabouts. */
struct swz_line_range {
	uint64_t start;
	uint64_t end;
	uint64_t sequence_start;
	uint64_t file; /* for swz_line_file */
};

/* Runs the unit's program; visit returns false to stop early. SWZ_E_FORMAT on a
 * damaged program (ranges seen so far stand). */
enum swz_status swz_line_ranges(
	const struct swz_line_unit *unit,
	bool (*visit)(void *context, const struct swz_line_range *range),
	void *context) SWZ_MUST_CHECK;

/* A file's name, in up to three parts to be joined by slashes: each is relative
 * to the one before. NUL-terminated within the sections. */
struct swz_line_file {
	const char *base;      /* the compilation's directory, or NULL */
	const char *directory; /* or NULL */
	const char *name;
};

/* False if there is no such file in the unit, or its name cannot be read. Takes
 * time in proportion to the number of files. */
bool swz_line_file(const struct swz_line_unit *unit, uint64_t index,
		   struct swz_line_file *file);

#endif
