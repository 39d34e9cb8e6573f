/* Call frame programs are copied operation by operation. What is between two
 * locations stays as it is; only locations are computed anew. */

#include "thunks/unwind_table.h"

#include <string.h>

#include "image/cursor.h"

enum { ENTRY_MAX = SWZ_UNWIND_ENTRY_BYTES - sizeof(struct swz_unwind_entry) };

enum {
	CFA_ADVANCE_LOC = 0x40,
	CFA_ADVANCE_LOC1 = 0x02,
	CFA_ADVANCE_LOC2 = 0x03,
	CFA_ADVANCE_LOC4 = 0x04,
	CFA_DEF_CFA_OFFSET = 0x0e,
	DWARF_RA = 16
};

/* Version 1, "zR": pointers are pc-relative, 32 bits; code alignment 1, data
 * alignment -8, return address in column 16; CFA = rsp + 8, it lies at CFA - 8:
 * as every compiler and assembler begins on x86-64. */
static const uint8_t cie[] = {20,   0,    0,   0, 0,    0,    0,    0,
			      1,    'z',  'R', 0, 1,    0x78, 0x10, 1,
			      0x1b, 0x0c, 7,   8, 0x90, 1,    0,    0};
static const uint8_t usual_program[] = {0x0c, 7, 8, 0x90, 1};

size_t swz_unwind_table_bytes(uint32_t trampolines)
{
	return SWZ_UNWIND_FIXED_BYTES +
	       (size_t)trampolines * SWZ_UNWIND_ENTRY_BYTES;
}

void swz_unwind_table_begin(struct swz_unwind_table *table, void *memory,
			    uint32_t trampolines)
{
	memset(table, 0, sizeof(*table));
	if (!memory)
		return;
	table->entries = memory;
	table->frame = (uint8_t *)(table->entries + trampolines);
	table->most = trampolines;
	table->room = sizeof(cie) + (size_t)trampolines * ENTRY_MAX;
	memcpy(table->frame, cie, sizeof(cie));
	table->used = sizeof(cie);
}

/* ------------------------------------------------------------- one program */

struct writer {
	uint8_t *at;
	uint8_t *end;
	uint32_t location; /* offset in the trampoline */
	bool failed;       /* no room, or not understood */
};

static void put(struct writer *w, const void *bytes, size_t count)
{
	if (w->failed || count > (size_t)(w->end - w->at)) {
		w->failed = true;
		return;
	}
	memcpy(w->at, bytes, count);
	w->at += count;
}

static void put_u8(struct writer *w, unsigned value)
{
	uint8_t byte = (uint8_t)value;

	put(w, &byte, 1);
}

static void put_uleb(struct writer *w, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		put_u8(w, 0x80 | (unsigned)(value & 0x7f));
	put_u8(w, (unsigned)value);
}

static void advance_to(struct writer *w, uint32_t location)
{
	uint32_t delta = location - w->location;

	if (location < w->location) {
		w->failed = true;
		return;
	}
	w->location = location;
	if (delta == 0)
		return;
	if (delta < 0x40) {
		put_u8(w, CFA_ADVANCE_LOC | delta);
		return;
	}
	put_u8(w, CFA_ADVANCE_LOC2);
	put_u8(w, delta & 0xff);
	put_u8(w, delta >> 8);
}

static void set_cfa_offset(struct writer *w, int64_t offset)
{
	put_u8(w, CFA_DEF_CFA_OFFSET);
	put_uleb(w, (uint64_t)offset);
}

/* -------------------------------------------------------- a function's rows */

struct copy {
	struct writer *to;
	const struct swz_moved_code *code;
	struct swz_cursor from;
	uint64_t location; /* in the fde's terms */
	bool done;         /* behind what was displaced */
	unsigned steps;    /* of the relocation's flag_steps: written */
};

/* Where the row that begins at this offset of the site begins in the copy. */
static uint32_t moved(const struct swz_moved_code *code, uint64_t offset)
{
	const struct swz_relocation *r = code->relocation;
	uint32_t to = r->jump_back;

	for (unsigned i = r->insn_count; i-- && r->insns[i].from >= offset;)
		to = r->insns[i].to;
	return code->head + code->prefix + to;
}

/* The row in which a displaced instruction is. */
static bool keep_last_before(void *context, const struct swz_cfi_row *row)
{
	struct swz_cfi_row *want = context;

	if (row->start > want->start)
		return false;
	want->cfa_base = row->cfa_base;
	want->cfa_offset = row->cfa_offset;
	return true;
}

static struct swz_cfi_row row_of(struct writer *w,
				 const struct swz_moved_code *code,
				 unsigned insn)
{
	struct swz_cfi_row row = {.cfa_base = SWZ_CFA_OTHER};

	row.start = code->site + code->relocation->insns[insn].from;
	if (swz_cfi_rows(code->fde, keep_last_before, &row) != SWZ_OK)
		w->failed = true;
	return row;
}

/* A load that keeps the flags moves rsp in steps; where the CFA counts from
 * that it must be told. Those up to here, where the next row begins. */
static void write_flag_steps(struct copy *c, uint32_t to)
{
	const struct swz_relocation *r = c->code->relocation;
	uint32_t copies = c->code->head + c->code->prefix;

	for (; c->steps < r->flag_step_count; c->steps++) {
		uint16_t at = r->flag_steps[c->steps].at;
		unsigned insn = r->insn_count;
		struct swz_cfi_row row;

		if (copies + at > to)
			return;
		while (insn > 1 && r->insns[insn - 1].to >= at)
			insn--;
		row = row_of(c->to, c->code, insn - 1);
		if (row.cfa_base != SWZ_CFA_RSP)
			continue;
		advance_to(c->to, copies + at);
		set_cfa_offset(c->to,
			       row.cfa_offset + r->flag_steps[c->steps].below);
	}
}

static void copy_advance(struct copy *c, uint64_t delta)
{
	const struct swz_moved_code *code = c->code;
	uint64_t offset;

	c->location += delta;
	offset = c->location - code->site;
	if (c->location <= code->site)
		return; /* endbr64 stays at home: all of it holds here */
	if (offset > code->relocation->displaced_bytes ||
	    (offset == code->relocation->displaced_bytes &&
	     !code->relocation->jump_back)) {
		c->done = true;
		return;
	}
	write_flag_steps(c, moved(code, offset));
	advance_to(c->to, moved(code, offset));
}

static void copy_bytes(struct copy *c, size_t begin)
{
	put(c->to, c->from.data + begin, c->from.at - begin);
}

static void copy_extended(struct copy *c, uint8_t opcode, size_t begin)
{
	struct swz_cursor *from = &c->from;

	switch (opcode) {
	case 0x00: /* nop */
		return;
	case CFA_ADVANCE_LOC1:
		copy_advance(c, swz_cursor_u8(from));
		return;
	case CFA_ADVANCE_LOC2:
		copy_advance(c, swz_cursor_u16(from));
		return;
	case CFA_ADVANCE_LOC4:
		copy_advance(c, swz_cursor_u32(from));
		return;
	case 0x0a: /* remember_state */
	case 0x0b: /* restore_state */
		break;
	case 0x06: /* restore_extended */
	case 0x07: /* undefined */
	case 0x08: /* same_value */
	case 0x0d: /* def_cfa_register */
	case 0x0e: /* def_cfa_offset */
	case 0x2e: /* GNU_args_size */
		swz_cursor_uleb(from);
		break;
	case 0x13: /* def_cfa_offset_sf */
		swz_cursor_sleb(from);
		break;
	case 0x05: /* offset_extended */
	case 0x09: /* register */
	case 0x0c: /* def_cfa */
	case 0x14: /* val_offset */
	case 0x2f: /* GNU_negative_offset_extended */
		swz_cursor_uleb(from);
		swz_cursor_uleb(from);
		break;
	case 0x11: /* offset_extended_sf */
	case 0x12: /* def_cfa_sf */
	case 0x15: /* val_offset_sf */
		swz_cursor_uleb(from);
		swz_cursor_sleb(from);
		break;
	case 0x0f: /* def_cfa_expression */
		swz_cursor_skip(from, swz_cursor_uleb(from));
		break;
	case 0x10: /* expression */
	case 0x16: /* val_expression */
		swz_cursor_uleb(from);
		swz_cursor_skip(from, swz_cursor_uleb(from));
		break;
	default: /* set_loc, and what is not known */
		c->to->failed = true;
		return;
	}
	copy_bytes(c, begin);
}

static void copy_one(struct copy *c)
{
	size_t begin = c->from.at;
	uint8_t opcode = swz_cursor_u8(&c->from);

	switch (opcode & 0xc0) {
	case CFA_ADVANCE_LOC:
		copy_advance(c, opcode & 0x3f);
		break;
	case 0x80: /* offset */
		swz_cursor_uleb(&c->from);
		copy_bytes(c, begin);
		break;
	case 0xc0: /* restore */
		copy_bytes(c, begin);
		break;
	default:
		copy_extended(c, opcode, begin);
		break;
	}
}

/* A displaced call pushes by itself, in steps; where the CFA counts from rsp it
 * must be told. The call is the last displaced instruction. */
static void write_call_steps(struct writer *w,
			     const struct swz_moved_code *code)
{
	const struct swz_relocation *r = code->relocation;
	struct swz_cfi_row row;

	if (!r->call_steps[0])
		return;
	row = row_of(w, code, r->insn_count - 1u);
	if (row.cfa_base != SWZ_CFA_RSP)
		return;
	for (unsigned i = 0; i < 3; i++) {
		advance_to(w, code->head + code->prefix + r->call_steps[i]);
		set_cfa_offset(w, row.cfa_offset + (i == 1 ? 0 : 8));
	}
}

static bool begins_as_usual(const struct swz_fde *fde)
{
	const uint8_t *program = fde->cie_program.data;

	if (fde->cie_program.size < sizeof(usual_program) ||
	    memcmp(program, usual_program, sizeof(usual_program)) != 0)
		return false;
	for (size_t i = sizeof(usual_program); i < fde->cie_program.size; i++)
		if (program[i] != 0)
			return false;
	return true;
}

static bool write_body(struct writer *w, const struct swz_moved_code *code)
{
	struct copy c = {.to = w, .code = code};

	if (!code->fde || code->fde->code_align != 1 ||
	    code->fde->data_align != -8 ||
	    code->fde->return_column != DWARF_RA || !begins_as_usual(code->fde))
		return false;
	advance_to(w, code->head);
	set_cfa_offset(w, 8);
	c.from = swz_cursor(code->fde->program);
	c.location = code->fde->start;
	while (!w->failed && !c.done && !c.from.failed &&
	       !swz_cursor_at_end(&c.from))
		copy_one(&c);
	write_flag_steps(&c, UINT32_MAX);
	write_call_steps(w, code);
	return !w->failed && !c.from.failed;
}

/* ----------------------------------------------------------------- the table
 */

static void put32_at(uint8_t *at, int64_t value)
{
	int32_t v = (int32_t)value;

	memcpy(at, &v, sizeof(v));
}

bool swz_unwind_table_add(struct swz_unwind_table *table,
			  const struct swz_moved_code *code)
{
	struct writer w = {0}, head;
	uint32_t covered = code->bytes;
	uint8_t *fde;

	if (!table->frame || table->room - table->used < ENTRY_MAX ||
	    table->count == table->most)
		return false;
	fde = table->frame + table->used;
	w.at = fde + 17;
	w.end = fde + ENTRY_MAX - 4;
	memset(fde, 0, ENTRY_MAX);
	if (code->head) {
		advance_to(&w, 1); /* behind push %rax */
		set_cfa_offset(&w, 16);
	}
	head = w;
	if (!write_body(&w, code)) {
		memset(head.at, 0, (size_t)(fde + ENTRY_MAX - head.at));
		w = head;
		covered = code->head;
	}
	while ((w.at - fde) % 8 != 0)
		w.at++; /* nop */
	put32_at(fde, w.at - fde - 4);
	put32_at(fde + 4, (int64_t)table->used + 4);
	put32_at(fde + 12, covered);
	table->entries[table->count].start = code->trampoline;
	table->entries[table->count++].fde = (uint32_t)table->used;
	table->used += (size_t)(w.at - fde);
	return covered == code->bytes;
}

void swz_unwind_table_divide(const struct swz_unwind_table *table,
			     struct swz_unwind_table *part, uint32_t first,
			     uint32_t trampolines)
{
	memset(part, 0, sizeof(*part));
	if (!table->frame)
		return;
	part->entries = table->entries + first;
	part->frame = table->frame + sizeof(cie) + (size_t)first * ENTRY_MAX;
	part->room = (size_t)trampolines * ENTRY_MAX;
	part->most = trampolines;
}

/* An FDE names its CIE by the distance from there. */
void swz_unwind_table_join(struct swz_unwind_table *table,
			   const struct swz_unwind_table *part, uint32_t down)
{
	if (!table->frame)
		return;
	memmove(table->frame + table->used, part->frame, part->used);
	for (uint32_t i = 0; i < part->count; i++) {
		struct swz_unwind_entry e = part->entries[i];

		e.start -= down;
		e.fde += (uint32_t)table->used;
		put32_at(table->frame + e.fde + 4, (int64_t)e.fde + 4);
		table->entries[table->count++] = e;
	}
	table->used += part->used;
}

void swz_unwind_table_add_islands(struct swz_unwind_table *table,
				  const int32_t *islands, uint32_t count,
				  uint32_t bytes)
{
	table->islands = islands;
	table->island_count = count;
	table->island_bytes = bytes;
}

/* The header's table, which must be in order: islands lie on both sides of the
 * region. */
struct index {
	uint8_t *header;
	uint32_t count;
};

static void index_entry(struct index *index, const uint8_t *start,
			const uint8_t *fde)
{
	uint8_t *at = index->header + 12 + (size_t)index->count++ * 8;

	put32_at(at, start - index->header);
	put32_at(at + 4, fde - index->header);
}

enum { ISLAND_FDE = 24 };

static void index_islands(struct index *index,
			  const struct swz_unwind_table *table, uint8_t *fdes,
			  const uint8_t *region, bool above)
{
	for (uint32_t i = 0; i < table->island_count; i++)
		if ((table->islands[i] > 0) == above)
			index_entry(index, region + table->islands[i],
				    fdes + (size_t)i * ISLAND_FDE);
}

/* An FDE without a program: all of it is as the CIE says. */
static void write_island(const struct swz_unwind_table *table, uint8_t *fde,
			 const uint8_t *frame, const uint8_t *start)
{
	memset(fde, 0, ISLAND_FDE);
	put32_at(fde, ISLAND_FDE - 4);
	put32_at(fde + 4, fde + 4 - frame);
	put32_at(fde + 8, start - (fde + 8));
	put32_at(fde + 12, table->island_bytes);
}

size_t swz_unwind_table_finish(struct swz_unwind_table *table, uint8_t *at,
			       const uint8_t *region, const uint8_t **header)
{
	uint8_t *islands = at + table->used;
	size_t island_bytes = (size_t)table->island_count * ISLAND_FDE;
	struct index index = {0};

	*header = NULL;
	if (!table->frame)
		return 0;
	if (at != table->frame)
		memcpy(at, table->frame, table->used);
	for (uint32_t i = 0; i < table->island_count; i++)
		write_island(table, islands + (size_t)i * ISLAND_FDE, at,
			     region + table->islands[i]);
	memset(islands + island_bytes, 0, 8); /* terminator */
	index.header = islands + island_bytes + 8;
	/* version; pointer pcrel|sdata4; count udata4; table datarel|sdata4 */
	memcpy(index.header, (const uint8_t[]){1, 0x1b, 0x03, 0x3b}, 4);
	put32_at(index.header + 4, at - (index.header + 4));
	put32_at(index.header + 8, table->count + table->island_count);
	index_islands(&index, table, islands, region, false);
	for (uint32_t i = 0; i < table->count; i++) {
		const struct swz_unwind_entry *e = &table->entries[i];
		uint8_t *fde = at + e->fde;

		put32_at(fde + 8, region + e->start - (fde + 8));
		index_entry(&index, region + e->start, fde);
	}
	index_islands(&index, table, islands, region, true);
	*header = index.header;
	return (size_t)(index.header + 12 + (size_t)index.count * 8 - at);
}
