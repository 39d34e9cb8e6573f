#include "runtime/discovery/entry_stack.h"

#include "image/eh_frame.h"
#include "thunks/encoding.h"

struct stack_rows {
	uint64_t pc;
	bool at_entry_height; /* at pc */
	bool changes;         /* anywhere */
};

static bool note_row(void *context, const struct swz_cfi_row *row)
{
	struct stack_rows *rows = context;
	bool as_at_entry = row->cfa_base == SWZ_CFA_RSP && row->cfa_offset == 8;

	if (!as_at_entry)
		rows->changes = true;
	if (rows->pc >= row->start && rows->pc < row->end)
		rows->at_entry_height = as_at_entry;
	return true;
}

/* The frame's place at `pc` by the unwind table; false: not known. */
static bool find_frame(const struct swz_module *m, uint64_t pc,
		       struct swz_cfi_row *row)
{
	const struct swz_function *f = swz_function_at(m, pc);

	return f && f->fde && swz_cfi_row_at(f->fde, pc, row) &&
	       row->cfa_base != SWZ_CFA_OTHER;
}

bool swz_stack_differs(const struct swz_module *m, uint64_t a, uint64_t b)
{
	struct swz_cfi_row one = {.cfa_base = SWZ_CFA_OTHER}, other = one;

	return find_frame(m, a, &one) && find_frame(m, b, &other) &&
	       (one.cfa_base != other.cfa_base ||
		one.cfa_offset != other.cfa_offset);
}

/* push, pushf, enter, and arithmetic on %rsp. */
static bool moves_stack(const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return (e->opcode & 0xf8) == 0x50 || e->opcode == 0x68 ||
	       e->opcode == 0x6a || e->opcode == 0x9c || e->opcode == 0xc8 ||
	       (e->opcode == 0xff && reg == 6) ||
	       ((e->opcode == 0x81 || e->opcode == 0x83) &&
		(e->modrm & 0xc7) == 0xc4 && !e->extends_base) ||
	       (e->opcode == 0x8d && reg == 4 && !e->extends_reg);
}

bool swz_stack_is_as_at_entry(const struct swz_module *m,
			      struct swz_decoder *decoder,
			      const struct swz_function *f, uint64_t pc)
{
	struct stack_rows rows = {.pc = pc, .at_entry_height = !f->fde};
	struct swz_encoding encoding;
	struct swz_insn insn;

	if (f->fde && swz_cfi_rows(f->fde, note_row, &rows) != SWZ_OK)
		return false;
	if (!rows.at_entry_height || rows.changes)
		return rows.at_entry_height;
	for (uint64_t at = f->start; at < pc; at += insn.length) {
		struct swz_bytes code = {swz_module_bytes(m, at),
					 f->start + f->size - at};

		if (swz_decode_encoding(decoder, code, at, &insn, &encoding) !=
			    SWZ_OK ||
		    moves_stack(&encoding))
			return false;
	}
	return true;
}
