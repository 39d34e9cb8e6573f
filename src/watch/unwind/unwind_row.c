#include "watch/unwind/unwind_row.h"

#include <stdlib.h>

#include "image/cursor.h"
#include "profile/support/memory.h"
#include "watch/unwind/unwinder.h"

enum { FIRST_BITS = 8, OP_DEREF = 0x06, OP_BREG_RBP = 0x76 };

/* The operand of an expression that is just DW_OP_breg6 OPERAND, and then
 * DW_OP_deref if it is to be. */
static bool is_of_rbp(const struct swz_fde *fde, uint64_t place, bool deref,
		      int64_t *operand)
{
	struct swz_cursor cursor = swz_cursor(fde->section.bytes);
	struct swz_bytes block;

	swz_cursor_skip(&cursor, place);
	block = swz_cursor_take(&cursor, swz_cursor_uleb(&cursor));
	cursor = swz_cursor(block);
	if (swz_cursor_u8(&cursor) != OP_BREG_RBP)
		return false;
	*operand = swz_cursor_sleb(&cursor);
	if (deref && swz_cursor_u8(&cursor) != OP_DEREF)
		return false;
	return !cursor.failed && cursor.at == cursor.size;
}

static bool set_rbp(const struct swz_fde *fde,
		    const struct swz_cfi_registers *registers,
		    struct swz_unwind_row *row)
{
	int64_t value = registers->value[SWZ_BP];

	switch (registers->rule[SWZ_BP]) {
	case SWZ_RULE_SAME:
	case SWZ_RULE_UNDEFINED:
		row->rbp = SWZ_ROW_RBP_SAME;
		return true;
	case SWZ_RULE_AT_CFA:
		row->rbp = SWZ_ROW_RBP_AT_CFA;
		row->rbp_offset = (int16_t)value;
		return row->rbp_offset == value;
	case SWZ_RULE_AT_ADDRESS:
		row->rbp = SWZ_ROW_RBP_AT_RBP;
		return is_of_rbp(fde, (uint64_t)value, false, &value) && !value;
	default:
		return false;
	}
}

static bool set_cfa(const struct swz_fde *fde, const struct swz_cfi_row *cfi,
		    const struct swz_cfi_registers *registers,
		    struct swz_unwind_row *row)
{
	int64_t offset = cfi->cfa_offset;

	if (cfi->cfa_base == SWZ_CFA_RSP) {
		row->kind = SWZ_ROW_RSP;
	} else if (cfi->cfa_base == SWZ_CFA_RBP) {
		row->kind = SWZ_ROW_RBP;
	} else {
		row->kind = SWZ_ROW_SAVED;
		if (cfi->cfa_column != SWZ_NO_COLUMN ||
		    !is_of_rbp(fde, registers->cfa_expression, true, &offset))
			return false;
	}
	row->cfa_offset = (int32_t)offset;
	return row->cfa_offset == offset;
}

struct swz_unwind_row swz_unwind_row_of(const struct swz_fde *fde, uint64_t pc)
{
	static const struct swz_unwind_row other = {.kind = SWZ_ROW_OTHER},
					   root = {.kind = SWZ_ROW_ROOT},
					   none = {.kind = SWZ_ROW_NONE};
	struct swz_cfi_registers registers;
	struct swz_cfi_row cfi;
	struct swz_unwind_row row = {0};

	if (!swz_cfi_registers_at(fde, pc, &cfi, &registers) ||
	    fde->return_column != SWZ_RETURN_COLUMN)
		return none;
	if (fde->signal_frame)
		return other;
	if (registers.rule[SWZ_RETURN_COLUMN] == SWZ_RULE_UNDEFINED)
		return root;
	if (!cfi.return_at_cfa_minus_8 ||
	    registers.rule[SWZ_SP] != SWZ_RULE_SAME ||
	    !set_cfa(fde, &cfi, &registers, &row) ||
	    !set_rbp(fde, &registers, &row))
		return other;
	return row;
}

/* ------------------------------------------------------------------- table */

static struct swz_unwind_row *place(struct swz_unwind_row_table *table,
				    uint64_t key)
{
	size_t i = swz_unwind_row_slot(table, key);

	while (table->rows[i].key)
		i = (i + 1) & (((size_t)1 << table->bits) - 1);
	return &table->rows[i];
}

static void grow(struct swz_unwind_row_table *table)
{
	struct swz_unwind_row_table old = *table;
	size_t i, old_size = old.bits ? (size_t)1 << old.bits : 0;

	table->bits = old.bits ? old.bits + 1 : FIRST_BITS;
	table->rows = swz_allocate((size_t)1 << table->bits,
				   sizeof(*table->rows));
	for (i = 0; i < old_size; i++)
		if (old.rows[i].key)
			*place(table, old.rows[i].key) = old.rows[i];
	free(old.rows);
}

const struct swz_unwind_row *swz_unwind_row_add(
	struct swz_unwind_row_table *table, uint64_t pc,
	struct swz_unwind_row row)
{
	struct swz_unwind_row *at;

	if (table->count == SWZ_ROWS_MOST)
		swz_unwind_row_table_free(table);
	if (!table->bits || table->count >= ((size_t)1 << table->bits) / 4 * 3)
		grow(table);
	row.key = pc + 1;
	at = place(table, row.key);
	*at = row;
	table->count++;
	return at;
}

void swz_unwind_row_table_free(struct swz_unwind_row_table *table)
{
	free(table->rows);
	*table = (struct swz_unwind_row_table){0};
}
