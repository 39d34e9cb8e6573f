/* Every byte of the text is taken as the possible start of a direct branch
 * (scan_bytes.c). The targets that matter are marked in a bitmap, one bit a
 * byte; where a supposed branch meets a mark, the function around it is decoded
 * up to that place to see whether an instruction really starts there. Code that
 * belongs to no known function counts as what it looks like, unless it can be
 * decoded as a whole (scan_gaps.c).
 *
 * Indirect branches go by tables: pointers, which the dynamic linker relocates
 * (or, in a program at a fixed address, plain words of its data), and offsets
 * from the table's own address, as compilers write switches. The latter are
 * read wherever an instruction takes an address, as long as they lead into the
 * text. */

#include "runtime/scan.h"

#include <string.h>

#include "runtime/scan_bytes.h"
#include "runtime/scan_gaps.h"
#include "runtime/scratch.h"
#include "thunks/decoder.h"

#define MAX_READERS 64

/* A loop of the function's own that goes back into the site is displaced as a
 * whole if it ends within this many bytes. */
#define MOST_DISPLACED 48u

struct branch_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	const struct swz_range *text; /* that is being scanned */
	/* where decoding of the function around the last hit has come to */
	struct swz_function *around;
	uint64_t decoded;
	bool lost;
	struct swz_gap gap; /* between functions, likewise */
	/* GOT entries of imported functions that read their return address,
	 * and their PLT entries in this text */
	uint64_t reader_slots[MAX_READERS];
	unsigned slot_count;
	uint64_t reader_stubs[2 * MAX_READERS];
	unsigned stub_count;
	uint64_t lowest, text_bytes; /* of all texts */
	bool may_extend;             /* in the first pass */
	bool extended;               /* some site, in the first pass */
	bool callers; /* the passes that look for callers of functions that
		       * read return addresses above their own */
	bool found;   /* one whose callers are to be found now, too */
	bool unmarks; /* what leads to marked bytes takes back their marks,
		       * and nothing else */
};

static bool is_text(const struct branch_scan *s, uint64_t address)
{
	for (unsigned i = 0; i < s->module->text_count; i++)
		if (address - s->module->text[i].start <
		    s->module->text[i].end - s->module->text[i].start)
			return true;
	return false;
}

/* The bytes that no branch may enter: all of the jump but its first byte, and
 * that too where it is not the function's own first. */
static uint64_t site_start(const struct swz_function *f)
{
	return f->start + f->site + (f->site ? 0 : 1);
}

static uint64_t site_end(const struct swz_function *f)
{
	unsigned bytes = f->displace > SWZ_JUMP_BYTES ? f->displace
						      : SWZ_JUMP_BYTES;

	return f->start + f->site + bytes;
}

static bool reads_return(const struct swz_function *f)
{
	return f->status == SWZ_REFUSE_READS_RETURN_SLOT ||
	       f->status == SWZ_REFUSE_RETURNS_TWICE;
}

/* A part of a function that calls one that reads the function's return
 * address. */
static bool is_read_piece(const struct swz_function *f)
{
	return f->is_piece && f->status == SWZ_REFUSE_CALLEE_READS;
}

static void mark_function(struct branch_scan *s, const struct swz_function *f)
{
	uint64_t end = f->start + (f->is_piece ? f->size : 1);

	for (uint64_t a = f->start; a < end; a++)
		swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
}

static void mark_targets(struct branch_scan *s)
{
	for (uint32_t i = 0; i < s->module->function_count; i++) {
		struct swz_function *f = &s->module->functions[i];

		if (s->callers) {
			if (f->reads_above || is_read_piece(f))
				mark_function(s, f);
			continue;
		}
		if (!s->may_extend && !f->displace)
			continue; /* the second pass: seen already */
		if (reads_return(f))
			mark_function(s, f);
		if (f->is_piece || f->status != SWZ_PATCHED)
			continue;
		for (uint64_t a = site_start(f); a < site_end(f); a++)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
		if (!f->site)
			swz_text_mark(s->module, SWZ_TEXT_STARTS, f->start);
	}
}

bool swz_is_reader_name(const char *name)
{
	static const char *const names[] = {
		"dlopen",
		"dlmopen",
		"dlsym",
		"dlvsym",
		"dladdr1",
		"dl_iterate_phdr",
		"setjmp",
		"_setjmp",
		"__sigsetjmp",
		"sigsetjmp",
		"getcontext",
		"swapcontext",
		"vfork",
		"__vfork",
		"_Unwind_RaiseException",
		"_Unwind_Resume",
		"_Unwind_Resume_or_Rethrow",
		"_Unwind_ForcedUnwind",
		"_Unwind_Backtrace",
		"backtrace",
	};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

/* The dynamic relocations and symbols, which are mapped. */
struct relocations {
	const Elf64_Rela *tables[2]; /* DT_JMPREL, DT_RELA */
	uint64_t counts[2];
	const uint64_t *packed; /* DT_RELR */
	uint64_t packed_count;
	const Elf64_Sym *symbols;
	const char *strings;
};

static bool find_relocations(const struct swz_module *m, struct relocations *r)
{
	const ElfW(Dyn) *d = NULL;

	memset(r, 0, sizeof(*r));
	for (unsigned i = 0; i < m->segment_count; i++)
		if (m->segments[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(const void *)swz_module_bytes(
				m, m->segments[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++) {
		const void *p = (const void *)d->d_un.d_ptr;

		switch (d->d_tag) {
		case DT_JMPREL:
			r->tables[0] = p;
			break;
		case DT_PLTRELSZ:
			r->counts[0] = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_RELA:
			r->tables[1] = p;
			break;
		case DT_RELASZ:
			r->counts[1] = d->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case 36: /* DT_RELR, DT_RELRSZ: not in all headers yet */
			r->packed = p;
			break;
		case 35:
			r->packed_count = d->d_un.d_val / sizeof(uint64_t);
			break;
		case DT_SYMTAB:
			r->symbols = p;
			break;
		case DT_STRTAB:
			r->strings = p;
			break;
		}
	}
	for (unsigned t = 0; t < 2; t++)
		if ((uintptr_t)r->tables[t] < m->load_bias || !r->tables[t])
			r->counts[t] = 0;
	if ((uintptr_t)r->packed < m->load_bias || !r->packed)
		r->packed_count = 0;
	/* not relocated by the loader: not ours to read */
	return r->symbols && r->strings &&
	       (uintptr_t)r->symbols >= m->load_bias &&
	       (uintptr_t)r->strings >= m->load_bias;
}

/* The GOT entries of the functions that are named above. */
static void find_reader_slots(struct branch_scan *s)
{
	struct relocations r;

	if (!find_relocations(s->module, &r))
		return;
	for (unsigned t = 0; t < 2; t++) {
		for (uint64_t i = 0; i < r.counts[t]; i++) {
			const Elf64_Rela *rela = &r.tables[t][i];
			uint32_t type = ELF64_R_TYPE(rela->r_info);
			const Elf64_Sym *symbol =
				&r.symbols[ELF64_R_SYM(rela->r_info)];

			if ((type == R_X86_64_JUMP_SLOT ||
			     type == R_X86_64_GLOB_DAT) &&
			    s->slot_count < MAX_READERS &&
			    swz_is_reader_name(r.strings + symbol->st_name))
				s->reader_slots[s->slot_count++] =
					rela->r_offset;
		}
	}
}

/* Something leads to `to` that is no direct branch. */
static void refuse_label(const struct branch_scan *s, uint64_t to)
{
	struct swz_function *f;

	if (!swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		return;
	if (s->unmarks) {
		swz_text_unmark(s->module, SWZ_TEXT_MARKS, to);
		return;
	}
	f = swz_function_at(s->module, to);
	if (f && to >= site_start(f) && to < site_end(f))
		f->is_entered = true;
}

/* A word that the linker has relocated. */
static void refuse_pointed(const struct branch_scan *s, uint64_t where)
{
	uint64_t value;

	memcpy(&value, swz_module_bytes(s->module, where), sizeof(value));
	refuse_label(s, value - s->module->load_bias);
}

/* Relative relocations packed as addresses and bitmaps of the 63 words behind
 * (gABI, SHT_RELR). */
static void refuse_packed_pointers(const struct branch_scan *s,
				   const struct relocations *r)
{
	uint64_t next = 0;

	for (uint64_t i = 0; i < r->packed_count; i++) {
		uint64_t entry = r->packed[i];

		if (!(entry & 1)) {
			refuse_pointed(s, entry);
			next = entry + 8;
			continue;
		}
		for (uint64_t at = next; entry >>= 1; at += 8)
			if (entry & 1)
				refuse_pointed(s, at);
		next += UINT64_C(63) * 8;
	}
}

/* At a fixed address pointers need no relocation: any word may be one. */
static void refuse_words(struct branch_scan *s, const ElfW(Phdr) * p)
{
	struct swz_module *m = s->module;
	uint64_t at = (p->p_vaddr + 7) & ~(uint64_t)7;

	for (; at + 8 <= p->p_vaddr + p->p_filesz; at += 8) {
		uint64_t value;

		memcpy(&value, swz_module_bytes(m, at), sizeof(value));
		if (value - s->lowest >= s->text_bytes || !is_text(s, value))
			continue;
		if (m->labels && m->label_count < m->label_room)
			m->labels[m->label_count++] = (uint32_t)(value -
								 s->lowest);
		else
			m->label_room = 0; /* not all are noted */
		refuse_label(s, value);
	}
}

static void refuse_fixed_pointers(struct branch_scan *s)
{
	struct swz_module *m = s->module;

	s->lowest = m->text[0].start;
	s->text_bytes = m->text[m->text_count - 1].end - s->lowest;
	if (m->labels && m->label_room) {
		for (uint32_t i = 0; i < m->label_count; i++)
			refuse_label(s, s->lowest + m->labels[i]);
		return;
	}
	if (!m->labels && s->text_bytes < UINT32_MAX) {
		m->label_room = (uint32_t)(s->text_bytes / 16 + 1);
		m->labels = swz_scratch_alloc_brief(m->label_room *
						    sizeof(*m->labels));
		if (!m->labels)
			m->label_room = 0;
	}
	m->label_count = 0;
	for (unsigned i = 0; i < m->segment_count; i++)
		if (m->segments[i].p_type == PT_LOAD &&
		    m->segments[i].p_flags & PF_R)
			refuse_words(s, &m->segments[i]);
}

/* A pointer into a patch site: a table of labels. */
static void refuse_label_pointers(struct branch_scan *s)
{
	struct relocations r;

	if (!s->module->load_bias)
		refuse_fixed_pointers(s);
	if (!find_relocations(s->module, &r))
		return;
	for (uint64_t i = 0; i < r.counts[1]; i++) {
		const Elf64_Rela *rela = &r.tables[1][i];
		const Elf64_Sym *symbol = &r.symbols[ELF64_R_SYM(rela->r_info)];
		uint32_t type = ELF64_R_TYPE(rela->r_info);

		if (type == R_X86_64_RELATIVE)
			refuse_label(s, (uint64_t)rela->r_addend);
		else if (type == R_X86_64_64 && symbol->st_shndx != SHN_UNDEF)
			refuse_label(s, symbol->st_value +
						(uint64_t)rela->r_addend);
	}
	refuse_packed_pointers(s, &r);
}

static bool is_reader_slot(const struct branch_scan *s, uint64_t address)
{
	for (unsigned i = 0; i < s->slot_count; i++)
		if (s->reader_slots[i] == address)
			return true;
	return false;
}

static bool is_reader_stub(const struct branch_scan *s, uint64_t address)
{
	for (unsigned i = 0; i < s->stub_count; i++)
		if (s->reader_stubs[i] == address)
			return true;
	return false;
}

static int32_t rel32(const uint8_t *p)
{
	int32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

/* PLT entries (16 or 8 bytes) that jump through one of the slots. */
static void mark_stubs(struct branch_scan *s)
{
	const struct swz_module *m = s->module;

	for (unsigned i = 0; i < m->plt_count && s->slot_count; i++) {
		uint64_t start = m->plt[i].start, end = m->plt[i].end;
		const uint8_t *code = swz_module_bytes(m, start);

		for (uint64_t at = 0; at + 6 <= end - start; at++) {
			uint64_t stub;

			if (code[at] != 0xff || code[at + 1] != 0x25 ||
			    !is_reader_slot(s, start + at + 6 +
						       (uint64_t)(int64_t)rel32(
							       code + at + 2)))
				continue;
			stub = start + (at & ~(uint64_t)7);
			if (at % 16 < 8)
				stub = start + (at & ~(uint64_t)15);
			if (s->stub_count < 2 * MAX_READERS)
				s->reader_stubs[s->stub_count++] = stub;
			swz_text_mark(s->module, SWZ_TEXT_MARKS, stub);
		}
	}
}

/* Whether an instruction of its function starts at `pc`; fills it if so. */
static bool starts_here(struct branch_scan *s, uint64_t pc,
			struct swz_insn *insn, struct swz_function **owner)
{
	struct swz_function *f = s->around;

	if (!f || pc < s->decoded || pc >= f->start + f->size) {
		f = swz_function_at(s->module, pc);
		s->around = f;
		s->decoded = f ? f->start : 0;
		s->lost = false;
	}
	*owner = f;
	if (!f && swz_gap_denies(&s->gap, s->module, s->decoder, s->text, pc))
		return false;
	if (!f || s->lost) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 s->text->end - pc};

		return swz_decode(s->decoder, code, pc, insn) == SWZ_OK;
	}
	while (s->decoded <= pc) {
		struct swz_bytes code = {
			swz_module_bytes(s->module, s->decoded),
			f->start + f->size - s->decoded};
		unsigned length = 0;

		if (s->decoded < pc)
			length = swz_decode_length(s->decoder, code);
		else if (swz_decode(s->decoder, code, pc, insn) == SWZ_OK)
			return true;
		if (!length) {
			s->lost = true; /* data in text: believe the bytes */
			return starts_here(s, pc, insn, owner);
		}
		s->decoded += length;
	}
	return false;
}

/* The return addresses are read of what is so many calls above `from`, one bit
 * each (as reads_above), or its own. */
static void is_read(struct branch_scan *s, struct swz_function *from,
		    unsigned above, bool own)
{
	if (own && from->status == SWZ_PATCHED) {
		swz_function_refuse(from, SWZ_REFUSE_CALLEE_READS);
		s->found |= from->is_piece;
	}
	if (above & ~(unsigned)from->reads_above) {
		from->reads_above |= (uint8_t)above;
		s->found = true;
	}
}

static void hit(struct branch_scan *s, uint64_t pc, uint64_t target)
{
	struct swz_function *from, *to;
	struct swz_insn insn;

	if (!starts_here(s, pc, &insn, &from))
		return;
	if (insn.kind == SWZ_INSN_JUMP_INDIRECT) {
		if (from && insn.rip_relative && is_reader_slot(s, insn.target))
			swz_function_refuse(from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	if (insn.target != target || insn.kind == SWZ_INSN_PLAIN)
		return;
	if (s->unmarks) {
		swz_text_unmark(s->module, SWZ_TEXT_MARKS, target);
		return;
	}
	to = swz_function_at(s->module, target);
	if (s->callers) {
		if (!from || !to)
			return;
		if (insn.kind == SWZ_INSN_CALL)
			is_read(s, from, to->reads_above >> 1,
				to->reads_above & 1);
		else if (from != to)
			is_read(s, from, to->reads_above, is_read_piece(to));
		return;
	}
	if ((to && reads_return(to)) || is_reader_stub(s, target)) {
		if (insn.kind == SWZ_INSN_CALL || !from || from == to)
			return;
		swz_function_refuse(from,
				    to && to->is_piece
					    ? SWZ_REFUSE_READS_RETURN_SLOT
					    : SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	/* in the padding behind a function its site may still lie */
	if (!to && target >= SWZ_JUMP_BYTES)
		for (uint64_t a = target; a > target - 9 && !to; a--)
			to = swz_function_at(s->module, a);
	if (!to || target < site_start(to) || target >= site_end(to))
		return;
	/* the relocator leads a branch between displaced instructions right */
	if (from == to && pc >= to->start + to->site && pc < site_end(to))
		return;
	if (from == to && s->may_extend &&
	    pc + insn.length - (to->start + to->site) <= MOST_DISPLACED) {
		uint8_t end = (uint8_t)(pc + insn.length -
					(to->start + to->site));

		if (end > to->displace)
			to->displace = end;
		s->extended = true;
		return;
	}
	to->is_entered = true;
}

/* ------------------------------------------------ loops to the first byte */

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
	       (e->opcode == 0x8d && reg == 4);
}

/* Whether a branch at `pc` back to the function's first byte finds the stack as
 * a call does. If the unwind table never mentions a change of the stack, the
 * instructions are asked, as hand-written code may have a table that lies. */
static bool stack_is_as_at_entry(struct branch_scan *s,
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
		struct swz_bytes code = {swz_module_bytes(s->module, at),
					 f->start + f->size - at};

		if (swz_decode_encoding(s->decoder, code, at, &insn,
					&encoding) != SWZ_OK ||
		    moves_stack(&encoding))
			return false;
	}
	return true;
}

/* A jump back to the first byte meets the patch. It is told from a call by the
 * thunk in its return slot, so that must be where a call has it. */
static void hit_start(struct branch_scan *s, uint64_t pc, uint64_t target)
{
	struct swz_function *f = swz_function_at(s->module, target);
	struct swz_function *from;
	struct swz_insn insn;

	if (!f || pc >= f->start + f->size || !starts_here(s, pc, &insn, &from))
		return;
	if (from != f || insn.target != target || insn.kind == SWZ_INSN_PLAIN ||
	    (!s->unmarks && pc < site_end(f)) || stack_is_as_at_entry(s, f, pc))
		return;
	if (s->unmarks)
		swz_text_unmark(s->module, SWZ_TEXT_STARTS, target);
	else
		f->is_entered = true;
}

/* --------------------------------------------------------- tables of offsets
 */

#define MOST_ENTRIES 65536u

/* The end of what the file has of the segment with this address; 0: none. */
static uint64_t readable_end(const struct swz_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    address - p->p_vaddr < p->p_filesz)
			return p->p_vaddr + p->p_filesz;
	}
	return 0;
}

/* Whether the address is the function's, and no other's within it. */
static bool is_in(const struct swz_function *f, uint64_t address)
{
	return address - f->start < f->size && f->size <= f->room;
}

/* What the instruction at `pc` takes the address of may be a table of 32-bit
 * offsets from itself to labels of its function, cold parts included. Such
 * tables lie side by side: the first entry that leads elsewhere is another's.
 */
static bool read_table(const struct branch_scan *s, uint64_t pc, uint64_t table)
{
	const struct swz_module *m = s->module;
	uint64_t end = readable_end(m, table), at;
	const struct swz_function *whole = NULL;

	if (end > table + MOST_ENTRIES * UINT64_C(4))
		end = table + MOST_ENTRIES * UINT64_C(4);
	for (at = table; at + 4 <= end; at += 4) {
		uint64_t to = table +
			      (uint64_t)(int64_t)rel32(swz_module_bytes(m, at));
		const struct swz_function *f;

		if (!is_text(s, to))
			break;
		if (at == table) {
			whole = swz_function_at(m, pc);
			if (whole && whole->is_piece)
				whole = NULL; /* that of the first entry */
		}
		f = whole && is_in(whole, to) ? whole : swz_function_at(m, to);
		if (f && !whole && !f->is_piece)
			whole = f;
		if (!f || (f != whole && !f->is_piece))
			break;
		if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
			refuse_label(s, to);
	}
	return at > table;
}

static bool look_at_load(void *context, uint64_t at)
{
	struct branch_scan *s = context;
	uint64_t pc = s->text->start + at;
	uint64_t table = pc + 7 +
			 (uint64_t)(int64_t)rel32(
				 swz_module_bytes(s->module, pc) + 3);

	return table % 4 == 0 && !s->callers && read_table(s, pc, table);
}

static bool leads_on(void *context, uint64_t to)
{
	const struct branch_scan *s = context;

	return is_text(s, s->text->start + to);
}

/* What the bytes at this offset of the text look like. */
static void look_at(void *context, uint64_t at)
{
	struct branch_scan *s = context;
	uint64_t pc = s->text->start + at, left = s->text->end - pc, to;
	const uint8_t *code = swz_module_bytes(s->module, pc);

	if (swz_is_short_branch(code[0])) {
		to = pc + 2 + (uint64_t)(int64_t)(int8_t)code[1];
	} else if ((code[0] & 0xfe) == 0xe8 && left >= 5) {
		to = pc + 5 + (uint64_t)(int64_t)rel32(code + 1);
	} else if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80 && left >= 6) {
		to = pc + 6 + (uint64_t)(int64_t)rel32(code + 2);
	} else if (code[0] == 0xff && code[1] == 0x25 && left >= 6) {
		if (is_reader_slot(s,
				   pc + 6 + (uint64_t)(int64_t)rel32(code + 2)))
			hit(s, pc, 0);
		return;
	} else {
		return;
	}
	if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		hit(s, pc, to);
	else if (code[0] != 0xe8 && to <= pc &&
		 swz_text_is_marked(s->module, SWZ_TEXT_STARTS, to))
		hit_start(s, pc, to);
}

/* Scans all texts. What was noted of them is kept with the module. */
static void scan_all(struct branch_scan *s)
{
	struct swz_module *m = s->module;

	for (unsigned i = 0; i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		s->text = &m->text[i];
		s->around = NULL;
		scan->stores = s->slot_count;
		scan->look = look_at;
		scan->leads_on = m->text_count > 1 ? leads_on : NULL;
		scan->look_at_load = look_at_load;
		scan->context = s;
		swz_byte_scan_run(scan);
	}
}

static enum swz_status scan_texts(struct branch_scan *s)
{
	if (swz_text_maps_clear(s->module) != SWZ_OK)
		return SWZ_E_NOMEM;
	mark_targets(s);
	mark_stubs(s);
	if (!s->callers)
		refuse_label_pointers(s);
	scan_all(s);
	return SWZ_OK;
}

/* Callers of functions that read return addresses above their own, and theirs
 * where it is read two calls above, and so on. */
static enum swz_status scan_callers(struct branch_scan *s)
{
	enum swz_status status = SWZ_OK;

	s->callers = true;
	s->slot_count = s->stub_count = 0;
	for (uint32_t i = 0; i < s->module->function_count && !s->found; i++)
		s->found = s->module->functions[i].reads_above;
	while (s->found && status == SWZ_OK) {
		s->found = false;
		status = scan_texts(s);
	}
	return status;
}

enum swz_status swz_scan_branches(struct swz_module *module,
				  struct swz_decoder *decoder)
{
	struct branch_scan s = {
		.module = module, .decoder = decoder, .may_extend = true};
	enum swz_status status;

	find_reader_slots(&s);
	status = scan_texts(&s);
	if (status == SWZ_OK && s.extended) {
		/* once more: nothing else may branch to what is displaced now
		 */
		s.may_extend = false;
		s.slot_count = s.stub_count = 0;
		status = scan_texts(&s);
	}
	if (status == SWZ_OK)
		status = scan_callers(&s);
	/* last: other reasons are stronger, see islands.c */
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].is_entered)
			swz_function_refuse(&module->functions[i],
					    SWZ_REFUSE_BRANCH_INTO_SITE);
	return status;
}

void swz_scan_reached(struct swz_module *module, struct swz_decoder *decoder)
{
	struct branch_scan s = {
		.module = module, .decoder = decoder, .unmarks = true};

	refuse_label_pointers(&s);
	scan_all(&s);
}

/* ----------------------------------------------------------------- the maps
 */

enum swz_status swz_text_maps_clear(struct swz_module *m)
{
	if (m->byte_scans) {
		for (unsigned i = 0; i < m->text_count; i++)
			swz_byte_scan_clear(&m->byte_scans[i]);
		return SWZ_OK;
	}
	m->byte_scans = swz_scratch_alloc(m->text_count *
					  sizeof(*m->byte_scans));
	for (unsigned i = 0; m->byte_scans && i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		scan->code = swz_module_bytes(m, m->text[i].start);
		scan->size = m->text[i].end - m->text[i].start;
		if (swz_byte_scan_init(scan) != SWZ_OK)
			m->byte_scans = NULL;
	}
	return m->byte_scans ? SWZ_OK : SWZ_E_NOMEM;
}

/* The byte of the map that has the address, or NULL. */
static uint8_t *map_byte(const struct swz_module *m, enum swz_text_map map,
			 uint64_t address, uint8_t *bit)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *text = &m->text[i];
		uint64_t at = address - text->start;

		if (at >= text->end - text->start)
			continue;
		*bit = (uint8_t)(1u << (at % 8));
		return (map == SWZ_TEXT_MARKS ? m->byte_scans[i].marks
					      : m->byte_scans[i].starts) +
		       at / 8;
	}
	return NULL;
}

void swz_text_mark(const struct swz_module *m, enum swz_text_map map,
		   uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		*at |= bit;
}

void swz_text_unmark(const struct swz_module *m, enum swz_text_map map,
		     uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	if (at)
		*at &= (uint8_t)~bit;
}

bool swz_text_is_marked(const struct swz_module *m, enum swz_text_map map,
			uint64_t address)
{
	uint8_t bit, *at = map_byte(m, map, address, &bit);

	return at && *at & bit;
}
