#include "image/eh_frame.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "image/cursor.h"
#include "image/elf_view.h"

/* --- encoded pointers ---------------------------------------------------- */

/* Reads the stored value in the encoding's format (its low four bits), signed
 * ones extended, and applies nothing to it. */
static uint64_t eh_read_value(struct swz_cursor *cursor, uint8_t encoding)
{
	switch (encoding & SWZ_EH_PE_FORMAT) {
	case SWZ_EH_PE_ABSPTR:
	case SWZ_EH_PE_UDATA8:
	case SWZ_EH_PE_SDATA8:
		return swz_cursor_u64(cursor);
	case SWZ_EH_PE_UDATA2:
		return swz_cursor_u16(cursor);
	case SWZ_EH_PE_UDATA4:
		return swz_cursor_u32(cursor);
	case SWZ_EH_PE_SDATA2:
		return (uint64_t)(int16_t)swz_cursor_u16(cursor);
	case SWZ_EH_PE_SDATA4:
		return (uint64_t)(int32_t)swz_cursor_u32(cursor);
	case SWZ_EH_PE_ULEB128:
		return swz_cursor_uleb(cursor);
	case SWZ_EH_PE_SLEB128:
		return (uint64_t)swz_cursor_sleb(cursor);
	default:
		cursor->failed = true;
		return 0;
	}
}

/* Reads an absolute or pc-relative pointer; base is the address of the cursor's
 * first byte. */
static uint64_t eh_read_pointer(struct swz_cursor *cursor, uint8_t encoding,
				uint64_t base)
{
	uint64_t here = base + cursor->at;
	uint64_t value = eh_read_value(cursor, encoding);

	switch (encoding & (SWZ_EH_PE_APPLICATION | SWZ_EH_PE_INDIRECT)) {
	case 0:
		return value;
	case SWZ_EH_PE_PCREL:
		return here + value;
	default:
		cursor->failed = true;
		return 0;
	}
}

/* --- language-specific data ---------------------------------------------- */

bool swz_lsda_lands(struct swz_bytes lsda, uint64_t offset, uint64_t count)
{
	struct swz_cursor c = swz_cursor(lsda), sites;
	uint8_t encoding = swz_cursor_u8(&c);

	if (encoding != SWZ_EH_PE_OMIT) /* where landing pads count from */
		eh_read_value(&c, encoding);
	if (swz_cursor_u8(&c) != SWZ_EH_PE_OMIT) /* the types' table */
		swz_cursor_uleb(&c);
	encoding = swz_cursor_u8(&c);
	sites = swz_cursor(swz_cursor_take(&c, swz_cursor_uleb(&c)));
	if (c.failed)
		return true;
	while (!swz_cursor_at_end(&sites)) {
		uint64_t start = eh_read_value(&sites, encoding);
		uint64_t length = eh_read_value(&sites, encoding);
		uint64_t pad = eh_read_value(&sites, encoding);

		swz_cursor_uleb(&sites); /* action */
		if (sites.failed)
			return true;
		if (start >= offset + count)
			return false; /* they are sorted */
		if (pad && start + length > offset)
			return true;
	}
	return false;
}

/* --- call frame programs ------------------------------------------------- */

/* The interpreter of call frame programs. In the profiled program the rule for
 * the CFA and the rule for the return address are all that is needed: other
 * registers' rules are read and forgotten, and kept only for who asks for them.
 * The state is a small value, so remember and restore are copies. A row is
 * reported when the location moves on.
 *
 * remember/restore cover the CFA too, as GCC's unwinder does and GAS expects;
 * the text of DWARF speaks of register rules alone. */

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

	return move_to(
		m, eh_read_pointer(&m->cursor, m->fde->pointer_encoding, base));
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

/* --- entries ------------------------------------------------------------- */

/* The section is a chain of entries, each a length and a body: a CIE holds what
 * functions have in common, an FDE describes one function and names its CIE by
 * the distance back to it. An entry that is damaged or of an unsupported form
 * is stepped over by its length; only a damaged length ends the walk. */

enum {
	EXTENDED_LENGTH = 0xffffffffu, /* a 64-bit length follows */
	ID_BYTES = 4, /* CIE id or pointer: 4 in either format (LSB 10.6.1) */
	HEADER_VERSION = 1,
	/* a header: version, three encodings, the section's place, the count,
	 * and then pairs of a function's place and its FDE's */
	HEADER_BYTES = 12,
	PAIR_BYTES = 8
};

/* An entry's body, from its id field on. */
struct entry {
	struct swz_cursor cursor; /* over the whole section, cut at its end */
	size_t id_at;
	uint32_t id;
};

/* Reads the entry at `offset` and sets *next behind it. False at the end of the
 * section or if the length is damaged. */
static bool read_entry(const struct swz_eh_frame *section, size_t offset,
		       struct entry *entry, size_t *next)
{
	struct swz_cursor cursor = swz_cursor(section->bytes);
	uint64_t length;

	swz_cursor_skip(&cursor, offset);
	length = swz_cursor_u32(&cursor);
	if (length == EXTENDED_LENGTH)
		length = swz_cursor_u64(&cursor);
	if (cursor.failed || !length || length > cursor.size - cursor.at)
		return false;
	cursor.size = cursor.at + (size_t)length;
	*next = cursor.size;
	entry->id_at = cursor.at;
	entry->id = swz_cursor_u32(&cursor);
	entry->cursor = cursor;
	return true;
}

static void skip_personality(struct swz_cursor *cursor)
{
	uint8_t encoding = swz_cursor_u8(cursor);

	if (encoding == SWZ_EH_PE_OMIT)
		return;
	/* padded up to an aligned place: unsupported */
	if ((encoding & SWZ_EH_PE_APPLICATION) == SWZ_EH_PE_ALIGNED)
		cursor->failed = true;
	eh_read_value(cursor, encoding);
}

/* Reads the augmentation data that the string announces behind its 'z'. */
static bool read_augmentation(struct swz_cie *cie, const char *string,
			      struct swz_bytes data)
{
	struct swz_cursor cursor = swz_cursor(data);

	for (; *string; string++) {
		switch (*string) {
		case 'R':
			cie->pointer_encoding = swz_cursor_u8(&cursor);
			break;
		case 'P':
			skip_personality(&cursor);
			break;
		case 'L':
			cie->lsda_encoding = swz_cursor_u8(&cursor);
			cie->has_lsda = cie->lsda_encoding != SWZ_EH_PE_OMIT;
			break;
		case 'S':
			cie->signal_frame = true;
			break;
		case 'B': /* AArch64: signed return addresses; no data */
			break;
		default:
			return false;
		}
	}
	return !cursor.failed;
}

/* The NUL-terminated string at the cursor, or NULL. */
static const char *read_string(struct swz_cursor *cursor)
{
	size_t start = cursor->at;

	while (swz_cursor_u8(cursor))
		;
	return cursor->failed ? NULL : (const char *)cursor->data + start;
}

static bool read_cie(const struct swz_eh_frame *section, size_t offset,
		     struct swz_cie *cie)
{
	struct swz_cursor *cursor;
	struct entry entry;
	const char *string;
	uint8_t version;
	size_t next;

	memset(cie, 0, sizeof(*cie));
	if (!read_entry(section, offset, &entry, &next) || entry.id)
		return false;
	cursor = &entry.cursor;
	version = swz_cursor_u8(cursor);
	if (version != 1 && version != 3)
		return false;
	string = read_string(cursor);
	cie->code_align = swz_cursor_uleb(cursor);
	cie->data_align = swz_cursor_sleb(cursor);
	if (version == 1) {
		cie->return_column = swz_cursor_u8(cursor);
	} else {
		uint64_t column = swz_cursor_uleb(cursor);

		if (column > UINT32_MAX)
			return false;
		cie->return_column = (uint32_t)column;
	}
	if (cursor->failed)
		return false;
	if (string[0] == 'z') {
		uint64_t size = swz_cursor_uleb(cursor);
		struct swz_bytes data = swz_cursor_take(cursor, size);

		cie->augmented = true;
		if (!read_augmentation(cie, string + 1, data))
			return false;
	} else if (string[0]) {
		return false;
	}
	cie->program = swz_cursor_rest(cursor);
	return !cursor->failed;
}

/* Reads what 'z' puts into each FDE: of that we know the LSDA's address. */
static void read_lsda(const struct swz_cie *cie, struct swz_cursor *cursor,
		      struct swz_fde *fde)
{
	const struct swz_eh_frame *section = &fde->section;
	struct swz_bytes bytes;
	struct swz_cursor data;

	if (!cie->augmented)
		return;
	bytes = swz_cursor_take(cursor, swz_cursor_uleb(cursor));
	data = swz_cursor(bytes);
	fde->has_lsda = cie->has_lsda &&
			eh_read_value(&data, cie->lsda_encoding) != 0;
	if (!fde->has_lsda)
		return;
	data = swz_cursor(bytes);
	fde->lsda = eh_read_pointer(
		&data, cie->lsda_encoding,
		section->address +
			(uint64_t)(bytes.data - section->bytes.data));
	if (data.failed)
		fde->lsda = 0;
}

/* The CIE at this offset, or NULL. */
static const struct swz_cie *cie_at(struct swz_fde_iterator *it, size_t offset)
{
	if (!it->cie_valid || it->cie_offset != offset) {
		it->cie_valid = read_cie(&it->section, offset, &it->cie);
		it->cie_offset = offset;
	}
	return it->cie_valid ? &it->cie : NULL;
}

static bool read_fde(struct swz_fde_iterator *it, struct entry *entry,
		     struct swz_fde *fde)
{
	const struct swz_eh_frame *section = &it->section;
	struct swz_cursor *cursor = &entry->cursor;
	const struct swz_cie *cie = NULL;

	if (entry->id <= entry->id_at)
		cie = cie_at(it, entry->id_at - entry->id);
	if (!cie)
		return false;
	memset(fde, 0, sizeof(*fde));
	fde->start = eh_read_pointer(cursor, cie->pointer_encoding,
				     section->address);
	fde->size = eh_read_value(cursor, cie->pointer_encoding);
	if (fde->size > UINT64_MAX - fde->start)
		return false;
	fde->section = *section;
	read_lsda(cie, cursor, fde);
	fde->signal_frame = cie->signal_frame;
	fde->return_column = cie->return_column;
	fde->code_align = cie->code_align;
	fde->data_align = cie->data_align;
	fde->pointer_encoding = cie->pointer_encoding;
	fde->cie_program = cie->program;
	fde->program = swz_cursor_rest(cursor);
	return !cursor->failed;
}

void swz_fde_begin(struct swz_fde_iterator *it,
		   const struct swz_eh_frame *section)
{
	it->section = *section;
	it->offset = 0;
	it->skipped = 0;
	it->cie_valid = false;
}

bool swz_fde_next(struct swz_fde_iterator *it, struct swz_fde *fde)
{
	struct entry entry;

	while (read_entry(&it->section, it->offset, &entry, &it->offset)) {
		if (entry.cursor.failed)
			it->skipped++;
		else if (!entry.id)
			continue; /* a CIE */
		else if (!read_fde(it, &entry, fde))
			it->skipped++;
		else if (fde->size)
			return true;
	}
	return false;
}

size_t swz_fde_most(const struct swz_eh_frame *section)
{
	struct entry entry;
	size_t count = 0, offset = 0;

	while (read_entry(section, offset, &entry, &offset))
		count += entry.id != 0;
	return count;
}

/* ------------------------------------------------------- by the header's table
 */

/* Sorted by function. All places are from the header's own on. */
struct table {
	const uint8_t *pairs;
	uint64_t base;
	size_t count;
};

static int32_t s4_at(const uint8_t *at)
{
	int32_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

static bool open_table(const struct swz_eh_frame_header *header,
		       struct table *table)
{
	static const uint8_t usual[] = {
		HEADER_VERSION, SWZ_EH_PE_PCREL | SWZ_EH_PE_SDATA4,
		SWZ_EH_PE_UDATA4, SWZ_EH_PE_DATAREL | SWZ_EH_PE_SDATA4};
	struct swz_bytes bytes = header->bytes;

	if (bytes.size < HEADER_BYTES ||
	    memcmp(bytes.data, usual, sizeof(usual)) != 0)
		return false;
	table->pairs = bytes.data + HEADER_BYTES;
	table->base = header->address;
	table->count = (uint32_t)s4_at(bytes.data + HEADER_BYTES - 4);
	return table->count &&
	       table->count <= (bytes.size - HEADER_BYTES) / PAIR_BYTES;
}

bool swz_eh_frame_header_lists(const struct swz_eh_frame_header *header)
{
	struct table table;

	return open_table(header, &table);
}

struct swz_eh_frame swz_eh_frame_by_header(
	const struct swz_elf *elf, const struct swz_eh_frame_header *header)
{
	struct swz_cursor cursor = swz_cursor(header->bytes);
	struct swz_eh_frame section = {{NULL, 0}, 0};
	uint8_t encoding;

	/* version, encoding of the pointer, and of the table's size and words
	 */
	swz_cursor_skip(&cursor, 1);
	encoding = swz_cursor_u8(&cursor);
	swz_cursor_skip(&cursor, 2);
	section.address = eh_read_pointer(&cursor, encoding, header->address);
	if (!cursor.failed)
		section.bytes = swz_elf_bytes_from(elf, section.address);
	return section;
}

static uint64_t function_in(const struct table *table, size_t i)
{
	return table->base +
	       (uint64_t)(int64_t)s4_at(table->pairs + i * PAIR_BYTES);
}

static uint64_t fde_in(const struct table *table, size_t i)
{
	return table->base +
	       (uint64_t)(int64_t)s4_at(table->pairs + i * PAIR_BYTES + 4);
}

static bool covers(const struct swz_fde *fde, uint64_t address)
{
	return address - fde->start < fde->size;
}

bool swz_fde_at(const struct swz_eh_frame *section,
		const struct swz_eh_frame_header *header, uint64_t address,
		struct swz_fde *fde)
{
	struct swz_fde_iterator it;
	struct table table;
	size_t low = 0, high;

	swz_fde_begin(&it, section);
	if (!open_table(header, &table)) {
		while (swz_fde_next(&it, fde))
			if (covers(fde, address))
				return true;
		return false;
	}
	/* the last that does not begin behind the address */
	for (high = table.count; high - low > 1;) {
		size_t middle = low + (high - low) / 2;

		if (function_in(&table, middle) <= address)
			low = middle;
		else
			high = middle;
	}
	it.offset = fde_in(&table, low) - section->address;
	return it.offset < section->bytes.size && swz_fde_next(&it, fde) &&
	       covers(fde, address);
}
