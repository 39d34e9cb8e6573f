#ifndef SWZ_IMAGE_EH_FRAME_H
#define SWZ_IMAGE_EH_FRAME_H

/* Encoded pointers of .eh_frame (DW_EH_PE_*; LSB 5.0 section 10.5.1). Both
 * functions fail as a cursor fails, also for an encoding that they do not
 * support. Pure, thread safe, async-signal-safe. */

#include <stdbool.h>
#include <stdint.h>

#include "base/basics.h"
#include "image/cursor.h"
#include "image/elf_view.h"

/* --- encoded pointers ---------------------------------------------------- */

enum {
	SWZ_EH_PE_ABSPTR = 0x00,
	SWZ_EH_PE_ULEB128 = 0x01,
	SWZ_EH_PE_UDATA2 = 0x02,
	SWZ_EH_PE_UDATA4 = 0x03,
	SWZ_EH_PE_UDATA8 = 0x04,
	SWZ_EH_PE_SLEB128 = 0x09,
	SWZ_EH_PE_SDATA2 = 0x0a,
	SWZ_EH_PE_SDATA4 = 0x0b,
	SWZ_EH_PE_SDATA8 = 0x0c,
	SWZ_EH_PE_FORMAT = 0x0f,
	SWZ_EH_PE_PCREL = 0x10,
	SWZ_EH_PE_DATAREL = 0x30,
	SWZ_EH_PE_ALIGNED = 0x50,
	SWZ_EH_PE_APPLICATION = 0x70,
	SWZ_EH_PE_INDIRECT = 0x80,
	SWZ_EH_PE_OMIT = 0xff
};

/* --- language-specific data ---------------------------------------------- */

/* The language-specific data area of C++ and the languages that share its
 * tables (Itanium C++ ABI: Exception Handling Tables, 7.3; the bytes are
 * hostile). Pure, thread safe, async-signal-safe. */

/* True if an exception at one of the `count` bytes from `offset` on (from the
 * function's first byte) goes to a landing pad. True also if the table cannot
 * be read. lsda: from its first byte on, any number of bytes. */
bool swz_lsda_lands(struct swz_bytes lsda, uint64_t offset, uint64_t count);

/* --- entries ------------------------------------------------------------- */

/* A reader of .eh_frame: which functions there are, and where the canonical
 * frame address (CFA) lies at each of their instructions. LSB 5.0 chapter 10.6;
 * DWARF 5 section 6.4. The bytes are hostile. Nothing is allocated; pure,
 * thread safe, async-signal-safe. */

/* Where the section lies: address is the ELF virtual address (or run-time
 * address) of bytes.data[0]; pc-relative pointers are resolved against it.
 * Pointers with DW_EH_PE_indirect, textrel, datarel, funcrel or aligned are
 * unsupported: such an FDE is skipped and counted. */
struct swz_eh_frame {
	struct swz_bytes bytes;
	uint64_t address;
};

struct swz_fde {
	uint64_t start; /* address of the first instruction, same space */
	uint64_t size;
	bool signal_frame; /* augmentation 'S' */
	bool has_lsda;
	uint64_t lsda;          /* its address, same space; 0: not known */
	uint32_t return_column; /* 16 on x86-64 */
	uint64_t code_align;
	int64_t data_align;
	uint8_t pointer_encoding;     /* DW_EH_PE_*, of DW_CFA_set_loc */
	struct swz_bytes cie_program; /* the CIE's initial instructions */
	struct swz_bytes program;     /* the FDE's own */
	struct swz_eh_frame section;
};

/* The FDEs of a CIE have this in common. */
struct swz_cie {
	bool augmented; /* 'z' */
	bool has_lsda;
	bool signal_frame;
	uint8_t pointer_encoding;
	uint8_t lsda_encoding;
	uint32_t return_column;
	uint64_t code_align;
	int64_t data_align;
	struct swz_bytes program;
};

struct swz_fde_iterator {
	struct swz_eh_frame section;
	size_t offset;
	size_t skipped; /* damaged or unsupported entries so far */
	/* the latest CIE, as the next FDE's is mostly the same */
	size_t cie_offset;
	bool cie_valid;
	struct swz_cie cie;
};

void swz_fde_begin(struct swz_fde_iterator *it,
		   const struct swz_eh_frame *section);
/* Returns true and fills *fde, or false at the end (a zero terminator, the end
 * of bytes, or a length that runs past them). FDEs of size 0 are skipped. */
bool swz_fde_next(struct swz_fde_iterator *it, struct swz_fde *fde);

/* Not less than the number of FDEs that there are. */
size_t swz_fde_most(const struct swz_eh_frame *section);

/* .eh_frame_hdr, which may list the FDEs by address (LSB 5.0, 10.6.2). */
struct swz_eh_frame_header {
	struct swz_bytes bytes;
	uint64_t address; /* of bytes.data[0], in the section's space */
};

/* It has a table of the form that linkers write. */
bool swz_eh_frame_header_lists(const struct swz_eh_frame_header *header);

/* The bytes from where the header says that .eh_frame begins up to the end of
 * its segment: the section, of a file without a table of sections. Empty: it
 * does not say. */
struct swz_eh_frame swz_eh_frame_by_header(
	const struct swz_elf *elf, const struct swz_eh_frame_header *header);

/* The FDE that covers the address. By the header's table, if it has one of the
 * form that linkers write, in logarithmic time; else all are looked at. False:
 * there is none. */
bool swz_fde_at(const struct swz_eh_frame *section,
		const struct swz_eh_frame_header *header, uint64_t address,
		struct swz_fde *fde) SWZ_MUST_CHECK;

enum swz_cfa_base {
	SWZ_CFA_RSP,  /* CFA = rsp + offset */
	SWZ_CFA_RBP,  /* CFA = rbp + offset */
	SWZ_CFA_OTHER /* other register or an expression */
};

#define SWZ_NO_COLUMN UINT32_MAX

/* One row of the unwind table: holds for addresses [start, end). */
struct swz_cfi_row {
	uint64_t start;
	uint64_t end;
	enum swz_cfa_base cfa_base;
	uint32_t cfa_column; /* SWZ_CFA_OTHER: of the register, DWARF's number,
			      * or SWZ_NO_COLUMN for an expression */
	int64_t cfa_offset;
	bool return_at_cfa_minus_8; /* column 16 is saved at CFA-8 */
};

/* Runs the CFI program and calls visit for each row in order of address (rows
 * never empty); visit returns false to stop early. DW_CFA_remember_state up to
 * 16 deep. SWZ_E_FORMAT on a damaged program (rows seen so far stand),
 * SWZ_E_UNSUPPORTED on an opcode that is not known. */
enum swz_status swz_cfi_rows(const struct swz_fde *fde,
			     bool (*visit)(void *context,
					   const struct swz_cfi_row *row),
			     void *context) SWZ_MUST_CHECK;

/* The row that holds at `address`; false if there is none, or none could be
 * read. */
bool swz_cfi_row_at(const struct swz_fde *fde, uint64_t address,
		    struct swz_cfi_row *row) SWZ_MUST_CHECK;

/* How a register's value in the caller is found. */
enum swz_register_rule {
	SWZ_RULE_SAME,       /* it is the same; also where nothing is said */
	SWZ_RULE_UNDEFINED,  /* it is lost; of the return address: outermost */
	SWZ_RULE_AT_CFA,     /* saved at CFA + value */
	SWZ_RULE_CFA,        /* CFA + value */
	SWZ_RULE_REGISTER,   /* that of the register `value` here */
	SWZ_RULE_AT_ADDRESS, /* saved where an expression says */
	SWZ_RULE_EXPRESSION  /* what an expression says */
};

/* x86-64's general registers by DWARF's numbers, and the return address. */
#define SWZ_CFI_COLUMNS 17
#define SWZ_RETURN_COLUMN 16

/* The rules for registers that belong to a row. An expression's value is where
 * its block, length and all, begins in the section. */
struct swz_cfi_registers {
	uint8_t rule[SWZ_CFI_COLUMNS]; /* enum swz_register_rule */
	int64_t value[SWZ_CFI_COLUMNS];
	uint64_t cfa_expression; /* of SWZ_NO_COLUMN; 0: there is none */
};

/* As swz_cfi_row_at, and what it says about registers. */
bool swz_cfi_registers_at(const struct swz_fde *fde, uint64_t address,
			  struct swz_cfi_row *row,
			  struct swz_cfi_registers *registers) SWZ_MUST_CHECK;

/* The CFA test: true if at the function's first byte CFA = rsp + 8, the return
 * address is saved at CFA - 8, it is no signal frame and the program of CIE and
 * FDE is understood. */
bool swz_fde_is_function(const struct swz_fde *fde);

#endif
