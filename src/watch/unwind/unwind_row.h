#ifndef SWZ_WATCH_UNWIND_UNWIND_ROW_H
#define SWZ_WATCH_UNWIND_UNWIND_ROW_H

/* The unwind information for one pc in 16 bytes, which do for nearly every
 * frame; and a table of such rows. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/eh_frame.h"

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

#endif
