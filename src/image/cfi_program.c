/* The interpreter of call frame programs. In the profiled program the rule for
 * the CFA and the rule for the return address are all that is needed: other
 * registers' rules are read and forgotten, and kept only for who asks for them.
 * The state is a small value, so remember and restore are copies. A row is
 * reported when the location moves on.
 *
 * remember/restore cover the CFA too, as GCC's unwinder does and GAS expects;
 * the text of DWARF speaks of register rules alone. */

#include <string.h>

#include "image/cursor.h"
#include "image/eh_frame.h"
#include "image/eh_pointer.h"

enum {
	CFA_NOP = 0x00,
	CFA_SET_LOC = 0x01,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_OFFSET_EXTENDED = 0x05,
	CFA_RESTORE_EXTENDED = 0x06,
	CFA_UNDEFINED = 0x07,
	CFA_SAME_VALUE = 0x08,
	CFA_REGISTER = 0x09,
	CFA_REMEMBER_STATE = 0x0a,
	CFA_RESTORE_STATE = 0x0b,
	CFA_DEF_CFA = 0x0c,
	CFA_DEF_CFA_REGISTER = 0x0d,
	CFA_DEF_CFA_OFFSET = 0x0e,
	CFA_DEF_CFA_EXPRESSION = 0x0f,
	CFA_EXPRESSION = 0x10,
	CFA_OFFSET_EXTENDED_SF = 0x11,
	CFA_DEF_CFA_SF = 0x12,
	CFA_DEF_CFA_OFFSET_SF = 0x13,
	CFA_VAL_OFFSET = 0x14,
	CFA_VAL_OFFSET_SF = 0x15,
	CFA_VAL_EXPRESSION = 0x16,
	CFA_GNU_ARGS_SIZE = 0x2e,
	CFA_GNU_NEGATIVE_OFFSET_EXTENDED = 0x2f,
	/* the operand stands in the low six bits */
	CFA_ADVANCE_LOC = 0x40,
	CFA_OFFSET = 0x80,
	CFA_RESTORE = 0xc0,
	CFA_PRIMARY = 0xc0,
	CFA_OPERAND = 0x3f
};

enum { DWARF_RBP = 6, DWARF_RSP = 7, REMEMBERED_STATES = 16 };

struct rules {
	enum swz_cfa_base cfa_base;
	uint32_t cfa_column;
	int64_t cfa_offset;
	bool return_at_cfa_minus_8;
};

/* The rules for registers, where they are asked for. */
struct tracked {
	struct swz_cfi_registers now;
	struct swz_cfi_registers initial;
	struct swz_cfi_registers remembered[REMEMBERED_STATES];
};

struct machine {
	const struct swz_fde *fde;
	struct swz_cursor cursor;
	uint64_t location;
	struct rules now;
	struct rules initial; /* what the CIE's program left */
	struct rules remembered[REMEMBERED_STATES];
	unsigned depth;
	bool in_cie;
	bool stopped;            /* by visit */
	struct tracked *tracked; /* or NULL */
	bool (*visit)(void *context, const struct swz_cfi_row *row);
	void *context;
};

/* Reports the row that ends at `end`. */
static void end_row(struct machine *m, uint64_t end)
{
	struct swz_cfi_row row;

	if (end == m->location)
		return;
	row.start = m->location;
	row.end = end;
	row.cfa_base = m->now.cfa_base;
	row.cfa_column = m->now.cfa_column;
	row.cfa_offset = m->now.cfa_offset;
	row.return_at_cfa_minus_8 = m->now.return_at_cfa_minus_8;
	m->location = end;
	if (!m->visit(m->context, &row))
		m->stopped = true;
}

static enum swz_status move_to(struct machine *m, uint64_t location)
{
	if (m->in_cie || m->cursor.failed || location < m->location ||
	    location > m->fde->start + m->fde->size)
		return SWZ_E_FORMAT;
	end_row(m, location);
	return SWZ_OK;
}

static enum swz_status advance(struct machine *m, uint64_t delta)
{
	uint64_t bytes;

	if (__builtin_mul_overflow(delta, m->fde->code_align, &bytes) ||
	    bytes > m->fde->start + m->fde->size - m->location)
		return SWZ_E_FORMAT;
	return move_to(m, m->location + bytes);
}

static enum swz_status set_loc(struct machine *m)
{
	const struct swz_eh_frame *section = &m->fde->section;
	uint64_t base = section->address +
			(uint64_t)(m->cursor.data - section->bytes.data);

	return move_to(m, swz_eh_read_pointer(&m->cursor,
					      m->fde->pointer_encoding, base));
}

static void set_rule(struct machine *m, uint64_t column,
		     enum swz_register_rule rule, int64_t value)
{
	if (!m->tracked || column >= SWZ_CFI_COLUMNS)
		return;
	m->tracked->now.rule[column] = (uint8_t)rule;
	m->tracked->now.value[column] = value;
}

static enum swz_status define_cfa(struct machine *m, uint64_t column,
				  int64_t offset)
{
	if (column == DWARF_RSP)
		m->now.cfa_base = SWZ_CFA_RSP;
	else if (column == DWARF_RBP)
		m->now.cfa_base = SWZ_CFA_RBP;
	else
		m->now.cfa_base = SWZ_CFA_OTHER;
	m->now.cfa_column = column < SWZ_NO_COLUMN ? (uint32_t)column
						   : SWZ_NO_COLUMN;
	m->now.cfa_offset = offset;
	return SWZ_OK;
}

static enum swz_status define_cfa_scaled(struct machine *m, uint64_t column,
					 int64_t offset)
{
	if (__builtin_mul_overflow(offset, m->fde->data_align, &offset))
		return SWZ_E_FORMAT;
	return define_cfa(m, column, offset);
}

/* An unsigned offset; one beyond INT64_MAX fails. */
static int64_t read_offset(struct machine *m)
{
	uint64_t offset = swz_cursor_uleb(&m->cursor);

	if (offset > INT64_MAX)
		m->cursor.failed = true;
	return m->cursor.failed ? 0 : (int64_t)offset;
}

static enum swz_status set_cfa_offset(struct machine *m, int64_t offset)
{
	m->now.cfa_offset = offset;
	return SWZ_OK;
}

static enum swz_status set_cfa_offset_scaled(struct machine *m, int64_t offset)
{
	if (__builtin_mul_overflow(offset, m->fde->data_align, &offset))
		return SWZ_E_FORMAT;
	return set_cfa_offset(m, offset);
}

/* Column is saved at CFA + offset * data_align. */
static enum swz_status save_at(struct machine *m, uint64_t column,
			       int64_t offset)
{
	if (__builtin_mul_overflow(offset, m->fde->data_align, &offset))
		return SWZ_E_FORMAT;
	if (column == m->fde->return_column)
		m->now.return_at_cfa_minus_8 = offset == -8;
	set_rule(m, column, SWZ_RULE_AT_CFA, offset);
	return SWZ_OK;
}

/* Column has some rule that is not "saved at an offset". */
static enum swz_status set_other_rule(struct machine *m, uint64_t column,
				      enum swz_register_rule rule,
				      int64_t value)
{
	if (column == m->fde->return_column)
		m->now.return_at_cfa_minus_8 = false;
	set_rule(m, column, rule, value);
	return SWZ_OK;
}

static enum swz_status restore(struct machine *m, uint64_t column)
{
	if (m->in_cie)
		return SWZ_E_FORMAT;
	if (column == m->fde->return_column)
		m->now.return_at_cfa_minus_8 = m->initial.return_at_cfa_minus_8;
	if (m->tracked && column < SWZ_CFI_COLUMNS)
		set_rule(m, column, m->tracked->initial.rule[column],
			 m->tracked->initial.value[column]);
	return SWZ_OK;
}

static enum swz_status remember(struct machine *m)
{
	if (m->depth == REMEMBERED_STATES)
		return SWZ_E_FORMAT;
	if (m->tracked)
		m->tracked->remembered[m->depth] = m->tracked->now;
	m->remembered[m->depth++] = m->now;
	return SWZ_OK;
}

static enum swz_status recall(struct machine *m)
{
	if (!m->depth)
		return SWZ_E_FORMAT;
	m->now = m->remembered[--m->depth];
	if (m->tracked)
		m->tracked->now = m->tracked->remembered[m->depth];
	return SWZ_OK;
}

/* Where the section has the cursor's next byte. */
static uint64_t place(const struct machine *m)
{
	return (uint64_t)(m->cursor.data - m->fde->section.bytes.data) +
	       m->cursor.at;
}

static enum swz_status skip_block(struct machine *m)
{
	swz_cursor_skip(&m->cursor, swz_cursor_uleb(&m->cursor));
	return SWZ_OK;
}

static enum swz_status set_rule_by_block(struct machine *m, uint64_t column,
					 enum swz_register_rule rule)
{
	set_other_rule(m, column, rule, (int64_t)place(m));
	return skip_block(m);
}

static enum swz_status set_rule_scaled(struct machine *m, uint64_t column,
				       int64_t offset)
{
	if (__builtin_mul_overflow(offset, m->fde->data_align, &offset))
		return SWZ_E_FORMAT;
	return set_other_rule(m, column, SWZ_RULE_CFA, offset);
}

static enum swz_status run_extended(struct machine *m, uint8_t opcode)
{
	struct swz_cursor *cursor = &m->cursor;
	uint64_t column;

	switch (opcode) {
	case CFA_NOP:
		return SWZ_OK;
	case CFA_SET_LOC:
		return set_loc(m);
	case CFA_ADVANCE_LOC1:
		return advance(m, swz_cursor_u8(cursor));
	case CFA_ADVANCE_LOC2:
		return advance(m, swz_cursor_u16(cursor));
	case CFA_ADVANCE_LOC4:
		return advance(m, swz_cursor_u32(cursor));
	case CFA_REMEMBER_STATE:
		return remember(m);
	case CFA_RESTORE_STATE:
		return recall(m);
	case CFA_DEF_CFA_OFFSET:
		return set_cfa_offset(m, read_offset(m));
	case CFA_DEF_CFA_OFFSET_SF:
		return set_cfa_offset_scaled(m, swz_cursor_sleb(cursor));
	case CFA_DEF_CFA_EXPRESSION:
		m->now.cfa_base = SWZ_CFA_OTHER;
		m->now.cfa_column = SWZ_NO_COLUMN;
		if (m->tracked)
			m->tracked->now.cfa_expression = place(m);
		return skip_block(m);
	case CFA_GNU_ARGS_SIZE:
		swz_cursor_uleb(cursor);
		return SWZ_OK;
	}
	column = swz_cursor_uleb(cursor);
	switch (opcode) {
	case CFA_DEF_CFA:
		return define_cfa(m, column, read_offset(m));
	case CFA_DEF_CFA_SF:
		return define_cfa_scaled(m, column, swz_cursor_sleb(cursor));
	case CFA_DEF_CFA_REGISTER:
		return define_cfa(m, column, m->now.cfa_offset);
	case CFA_OFFSET_EXTENDED:
		return save_at(m, column, read_offset(m));
	case CFA_OFFSET_EXTENDED_SF:
		return save_at(m, column, swz_cursor_sleb(cursor));
	case CFA_GNU_NEGATIVE_OFFSET_EXTENDED:
		return save_at(m, column, -read_offset(m));
	case CFA_RESTORE_EXTENDED:
		return restore(m, column);
	case CFA_UNDEFINED:
		return set_other_rule(m, column, SWZ_RULE_UNDEFINED, 0);
	case CFA_SAME_VALUE:
		return set_other_rule(m, column, SWZ_RULE_SAME, 0);
	case CFA_REGISTER:
		return set_other_rule(m, column, SWZ_RULE_REGISTER,
				      read_offset(m));
	case CFA_VAL_OFFSET:
		return set_rule_scaled(m, column, read_offset(m));
	case CFA_VAL_OFFSET_SF:
		return set_rule_scaled(m, column, swz_cursor_sleb(cursor));
	case CFA_EXPRESSION:
		return set_rule_by_block(m, column, SWZ_RULE_AT_ADDRESS);
	case CFA_VAL_EXPRESSION:
		return set_rule_by_block(m, column, SWZ_RULE_EXPRESSION);
	default:
		return SWZ_E_UNSUPPORTED;
	}
}

static enum swz_status run_one(struct machine *m)
{
	uint8_t opcode = swz_cursor_u8(&m->cursor);
	uint8_t operand = opcode & CFA_OPERAND;

	switch (opcode & CFA_PRIMARY) {
	case CFA_ADVANCE_LOC:
		return advance(m, operand);
	case CFA_OFFSET:
		return save_at(m, operand, read_offset(m));
	case CFA_RESTORE:
		return restore(m, operand);
	default:
		return run_extended(m, opcode);
	}
}

static enum swz_status run(struct machine *m, struct swz_bytes program)
{
	enum swz_status status = SWZ_OK;

	m->cursor = swz_cursor(program);
	while (status == SWZ_OK && !m->stopped &&
	       !swz_cursor_at_end(&m->cursor))
		status = run_one(m);
	if (status == SWZ_OK && m->cursor.failed)
		return SWZ_E_FORMAT;
	return status;
}

static enum swz_status run_rows(const struct swz_fde *fde,
				bool (*visit)(void *context,
					      const struct swz_cfi_row *row),
				void *context, struct tracked *tracked)
{
	struct machine m; /* `remembered` is written before it is read */
	enum swz_status status;

	m.depth = 0;
	m.stopped = false;
	m.now.return_at_cfa_minus_8 = false;
	m.now.cfa_offset = 0;
	m.initial = (struct rules){0};
	m.fde = fde;
	m.location = fde->start;
	m.now.cfa_base = SWZ_CFA_OTHER;
	m.now.cfa_column = SWZ_NO_COLUMN;
	m.tracked = tracked;
	m.visit = visit;
	m.context = context;
	m.in_cie = true;
	status = run(&m, fde->cie_program);
	if (status != SWZ_OK)
		return status;
	m.in_cie = false;
	m.initial = m.now;
	if (tracked)
		tracked->initial = tracked->now;
	status = run(&m, fde->program);
	if (status == SWZ_OK && !m.stopped)
		end_row(&m, fde->start + fde->size);
	return status;
}

enum swz_status swz_cfi_rows(const struct swz_fde *fde,
			     bool (*visit)(void *context,
					   const struct swz_cfi_row *row),
			     void *context)
{
	return run_rows(fde, visit, context, NULL);
}

struct wanted_row {
	uint64_t address;
	struct swz_cfi_row *row;
	const struct swz_cfi_registers
		*now; /* the machine's, and a place for */
	struct swz_cfi_registers *registers; /* them; or both NULL */
	bool found;
};

static bool keep_row_at(void *context, const struct swz_cfi_row *row)
{
	struct wanted_row *wanted = context;

	if (wanted->address >= row->end)
		return true;
	if (wanted->address >= row->start) {
		*wanted->row = *row;
		if (wanted->registers)
			*wanted->registers = *wanted->now;
		wanted->found = true;
	}
	return false;
}

bool swz_cfi_row_at(const struct swz_fde *fde, uint64_t address,
		    struct swz_cfi_row *row)
{
	struct wanted_row wanted = {address, row, NULL, NULL, false};

	return swz_cfi_rows(fde, keep_row_at, &wanted) == SWZ_OK &&
	       wanted.found;
}

bool swz_cfi_registers_at(const struct swz_fde *fde, uint64_t address,
			  struct swz_cfi_row *row,
			  struct swz_cfi_registers *registers)
{
	struct tracked tracked; /* `remembered` is written before it is read */
	struct wanted_row wanted = {address, row, &tracked.now, registers,
				    false};

	memset(&tracked.now, 0, sizeof(tracked.now));
	return run_rows(fde, keep_row_at, &wanted, &tracked) == SWZ_OK &&
	       wanted.found;
}

struct first_row {
	bool seen;
	struct swz_cfi_row row;
};

static bool keep_first(void *context, const struct swz_cfi_row *row)
{
	struct first_row *first = context;

	if (!first->seen)
		first->row = *row;
	first->seen = true;
	return true;
}

bool swz_fde_is_function(const struct swz_fde *fde)
{
	struct first_row first;

	first.seen = false;
	return !fde->signal_frame &&
	       swz_cfi_rows(fde, keep_first, &first) == SWZ_OK && first.seen &&
	       first.row.cfa_base == SWZ_CFA_RSP && first.row.cfa_offset == 8 &&
	       first.row.return_at_cfa_minus_8;
}
