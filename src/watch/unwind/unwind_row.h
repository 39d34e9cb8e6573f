#ifndef SWZ_WATCH_UNWIND_UNWIND_ROW_H
#define SWZ_WATCH_UNWIND_UNWIND_ROW_H

/* The unwind information for one pc in 16 bytes, which do for nearly every
 * frame; and a table of such rows. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "watch/unwind/elf_copy.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "watch/unwind/unwinder.h"

enum swz_unwind_row_kind {
	SWZ_ROW_RSP,   /* CFA = rsp + cfa_offset; the return address below it */
	SWZ_ROW_RBP,   /* CFA = rbp + cfa_offset; likewise */
	SWZ_ROW_SAVED, /* CFA is saved at rbp + cfa_offset; likewise: GCC's
			* functions that align their stack */
	SWZ_ROW_RBP_AND_SP, /* by rbp; the caller's rsp is saved at rbp +
			     * cfa_offset */
	SWZ_ROW_ROOT,       /* the outermost frame */
	SWZ_ROW_OTHER,  /* all rules of the unwind entry have to be looked at */
	SWZ_ROW_ENTRY,  /* the first byte of a function, put on the stack by
			 * hand: no call precedes it. CFA = rsp + cfa_offset; 0:
			 * the function leaves this stack, so it has no caller */
	SWZ_ROW_SIGNAL, /* no entry; it is a signal's return trampoline */
	SWZ_ROW_BRANCH, /* no entry; a branch by rax comes, behind which there
			 * may be one */
	SWZ_ROW_NONE    /* no entry */
};

enum swz_unwind_row_rbp {
	SWZ_ROW_RBP_SAME,
	SWZ_ROW_RBP_AT_CFA, /* saved at CFA + rbp_offset */
	SWZ_ROW_RBP_AT_RBP  /* saved at rbp */
};

struct swz_unwind_row {
	uint64_t key; /* the pc + 1; 0: empty */
	int32_t cfa_offset;
	int16_t rbp_offset;
	uint8_t kind; /* enum swz_unwind_row_kind */
	uint8_t rbp;  /* enum swz_unwind_row_rbp */
};

/* The row of this FDE at a pc within it; without key. */
struct swz_unwind_row swz_unwind_row_of(const struct swz_fde *fde, uint64_t pc);

/* Zero-initialise it. */
struct swz_unwind_row_table {
	struct swz_unwind_row *rows;
	unsigned bits; /* 2^bits rows have room; 0: none */
	size_t count;
};

/* Most rows, with at most 24 bytes for each; then the table starts anew. */
#define SWZ_ROWS_MOST ((size_t)1 << 20)

/* 2^64 / golden ratio (Knuth, volume 3, 6.4) */
static inline size_t swz_unwind_row_slot(
	const struct swz_unwind_row_table *table, uint64_t key)
{
	return (size_t)(key * 0x9e3779b97f4a7c15u >> (64 - table->bits));
}

/* The row of a pc, or NULL. */
static inline const struct swz_unwind_row *swz_unwind_row_find(
	const struct swz_unwind_row_table *table, uint64_t pc)
{
	size_t i;

	if (!table->bits)
		return NULL;
	for (i = swz_unwind_row_slot(table, pc + 1); table->rows[i].key;
	     i = (i + 1) & (((size_t)1 << table->bits) - 1))
		if (table->rows[i].key == pc + 1)
			return &table->rows[i];
	return NULL;
}

/* Adds the row of a pc (not UINT64_MAX) that has none. Valid until the next
 * call. */
const struct swz_unwind_row *swz_unwind_row_add(
	struct swz_unwind_row_table *table, uint64_t pc,
	struct swz_unwind_row row);
void swz_unwind_row_table_free(struct swz_unwind_row_table *table);

/* The instructions at a pc describe a frame where no unwind entry does. A
 * function that is about to set up its frame, or to return, has no frame that
 * %rbp leads to, but its code says where the return address is. */

/* As many bytes of code as are looked at, from the pc on. */
#define SWZ_CODE_BYTES 64

/* The row that follows from code that begins a frame (push %rbp; mov %rsp,%rbp)
 * or ends one (add $n,%rsp; pop ...; ret), or is an entry of the PLT;
 * SWZ_ROW_BRANCH before test %rax,%rax. SWZ_ROW_NONE: nothing does. CALLED: the
 * function has called something, so it does not begin. */
struct swz_unwind_row swz_code_row(const uint8_t *code, size_t size,
				   bool called);

/* How many bytes further code goes on that begins with test %rax,%rax and
 * conditional jumps, with this rax. So does clone(): a new thread, which has
 * another stack, and its creator stand at the same instruction. */
int64_t swz_code_branch(const uint8_t *code, size_t size, uint64_t rax);

/* The longest call, without prefixes. */
#define SWZ_CALL_BYTES 7

/* A call instruction ends at END, of which SIZE bytes before can be read. */
bool swz_code_ends_with_call(const uint8_t *end, size_t size);

/* The code begins with mov %reg,%rsp: it leaves the stack that it finds. */
bool swz_code_leaves_stack(const uint8_t *code, size_t size);

/* --- a step by a whole unwind entry --------------------------------------- */

/* A step to the caller by all that an unwind entry says, for all registers. */

/* How a step to the caller's frame went. */
enum swz_step {
	SWZ_STEP_DONE,
	SWZ_STEP_ROOT, /* there is no caller */
	SWZ_STEP_CUT,  /* what is needed lies beyond the copy of the stack */
	SWZ_STEP_LOST
};

/* As swz_stack_load, of what the copy does not have. */
enum swz_step swz_stack_load_elsewhere(const struct swz_stack *stack,
				       uint64_t address, void *into,
				       size_t size);

/* The 8 bytes at the address: SWZ_STEP_DONE, _CUT or _LOST. */
static inline enum swz_step swz_stack_load(const struct swz_stack *stack,
					   uint64_t address, uint64_t *value)
{
	uint64_t at = address - stack->start;

	if (stack->size < sizeof(*value) || at > stack->size - sizeof(*value))
		return swz_stack_load_elsewhere(stack, address, value,
						sizeof(*value));
	memcpy(value, stack->bytes + at, sizeof(*value));
	return SWZ_STEP_DONE;
}

/* DWARF expressions in call frame information (DWARF 5, 2.5 and 6.4.2). */

/* Evaluates the expression; *VALUE is what it leaves on top. FIRST, unless
 * NULL, is pushed before (the CFA, for a register's rule). SWZ_STEP_LOST: it is
 * damaged, or uses what has no meaning here; _CUT: it reads what is not in the
 * copy of the stack. */
enum swz_step swz_expression_value(struct swz_bytes expression,
				   const struct swz_registers *registers,
				   const struct swz_stack *stack,
				   const uint64_t *first, uint64_t *value);

/* Steps from a pc that the FDE covers, in the FDE's address space. *REGISTERS
 * become the caller's; they are left alone if that fails. A register that
 * nothing is said about is as it was. */
enum swz_step swz_full_step(const struct swz_fde *fde, uint64_t pc,
			    struct swz_registers *registers,
			    const struct swz_stack *stack);

/* Frames of signals where no unwind entry describes them: musl's, Go's. */

/* So much code is looked at before an instruction, and as much behind. */
#define SWZ_CODE_BEFORE 9

/* The instruction at CODE belongs to what a signal handler returns to: a call
 * of rt_sigreturn. */
bool swz_is_signal_return(const uint8_t *code);

/* Steps from there to what the signal interrupted: its registers are on the
 * stack. */
enum swz_step swz_step_signal(struct swz_registers *registers,
			      const struct swz_stack *stack);

/* --- a file's rows ------------------------------------------------------- */

/* The unwind entries of a file that code was mapped of. Files are kept by what
 * they are, not by name, and shared by all who ask; one that nobody uses any
 * more stays for a while, as the next process mostly maps it again. */

struct swz_unwind_file {
	struct swz_unwind_row_table rows; /* of the pcs that were asked for */
	/* the rest is its own */
	struct swz_unwind_file *next;
	unsigned users;
	char *path; /* one that it was opened by; NULL: the vdso */
	struct stat identity;
	struct swz_elf_copy copy;
	struct swz_elf elf;
	struct swz_eh_frame section;
	struct swz_eh_frame_header header;
	uint8_t *own_header; /* made here, where the file has none */
};

/* NULL: the file cannot be opened, or is no ELF file. */
struct swz_unwind_file *swz_unwind_file_of(
	const struct swz_mapped_file *mapped);
/* The code that the kernel maps into every process; or NULL. */
struct swz_unwind_file *swz_unwind_vdso(void);
/* Gives a file back; NULL is fine. */
void swz_unwind_file_release(struct swz_unwind_file *file);

/* As swz_unwind_file_row, of a pc that has none yet. */
const struct swz_unwind_row *swz_unwind_file_new_row(
	struct swz_unwind_file *file, uint64_t pc, bool called);

/* The row of a pc, an ELF address. CALLED: it is a return address less 1. Valid
 * until the next call. */
static inline const struct swz_unwind_row *swz_unwind_file_row(
	struct swz_unwind_file *file, uint64_t pc, bool called)
{
	/* An exact pc begins an instruction, so it is never a return address
	 * less 1: one row will do for both. */
	const struct swz_unwind_row *row = swz_unwind_row_find(&file->rows, pc);

	return row ? row : swz_unwind_file_new_row(file, pc, called);
}

/* The FDE that covers a pc. */
bool swz_unwind_file_fde(const struct swz_unwind_file *file, uint64_t pc,
			 struct swz_fde *fde) SWZ_MUST_CHECK;

/* Bytes of code at an ELF address. False: the file has changed, or has none
 * there. */
bool swz_unwind_file_code(const struct swz_unwind_file *file, uint64_t address,
			  void *into, size_t size) SWZ_MUST_CHECK;

/* Forgets the files that nobody uses. */
void swz_unwind_files_trim(void);

/* The mappings of an address space: ranges in order, apart from each other. */

/* A file that was mapped, or memory without one. Shared by the parts of a
 * mapping that was split, and by processes that forked. */
struct swz_source {
	unsigned users;
	int32_t pid;
	uint64_t inode;
	uint64_t start, end; /* of the mapping when it was made */
	char *path;          /* NULL: memory without a file */
	bool opened;
	struct swz_unwind_file *file; /* NULL: there is none, or not opened */
};

struct swz_mapping {
	uint64_t start, end;
	uint64_t offset; /* of its first byte in the file */
	struct swz_source *source;
	bool known;                   /* the next two are */
	struct swz_unwind_file *file; /* of its source; NULL: no rows */
	uint64_t bias;                /* from ELF addresses to the process's */
};

/* Zero-initialise it. */
struct swz_mappings {
	struct swz_mapping *list;
	size_t count, capacity;
};

/* Puts a mapping there in the place of what there was. */
void swz_mappings_put(struct swz_mappings *mappings,
		      const struct swz_unwinder_mapping *mapping);
/* Nothing is mapped there. */
void swz_mappings_remove(struct swz_mappings *mappings, uint64_t start,
			 uint64_t end);
void swz_mappings_clear(struct swz_mappings *mappings);
void swz_mappings_copy(struct swz_mappings *to,
		       const struct swz_mappings *from);

/* The mapping that has the address, its file looked for; or NULL. Valid until
 * the next change. */
struct swz_mapping *swz_mappings_at(struct swz_mappings *mappings,
				    uint64_t address);

#endif
