/* Every byte of the text is taken as the possible start of a direct branch. The
 * targets that matter are marked in a bitmap, one bit a byte; where a supposed
 * branch meets a mark, the function around it is decoded up to that place to
 * see whether an instruction really starts there. Code that belongs to no known
 * function counts as what it looks like, unless it can be decoded as a whole
 * (scan_gaps.c).
 *
 * Indirect branches go by tables: pointers, which the dynamic linker relocates
 * (or, in a program at a fixed address, plain words of its data), and offsets
 * from the table's own address, as compilers write switches. The latter are
 * read wherever an instruction takes an address, as long as they lead into the
 * text. */

#include "runtime/scan.h"

#include <string.h>

#include "runtime/scan_gaps.h"
#include "runtime/scratch.h"
#include "thunks/decoder.h"

#define MAX_READERS 64

/* A loop of the function's own that goes back into the site is displaced as a
 * whole if it ends within this many bytes. */
#define MOST_DISPLACED 48u

/* Which of the places in 16 bytes are marked, in a block of the text as a
 * whole: since functions are aligned, these are few. */
#define BLOCK_SHIFT 13

struct digest {
	uint16_t marked[2]; /* [0] starts too; [1] for calls */
};

struct branch_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	const struct swz_range *text; /* that is being scanned */
	/* by text range, a bit for each byte */
	uint8_t *marks[SWZ_MAX_TEXT_RANGES];
	uint8_t *starts[SWZ_MAX_TEXT_RANGES]; /* functions that are patched at
					       * their very first byte */
	const uint8_t *here[2];               /* marks and starts of the text */
	struct digest *digest;
	uint64_t blocks;
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
	bool may_extend; /* in the first pass */
	bool extended;   /* some site, in the first pass */
	bool callers;    /* the passes that look for callers of functions that
			  * read return addresses above their own */
	bool found;      /* one whose callers are to be found now, too */
	struct swz_text_bits *reached; /* set: what leads to marked bytes is
					* only noted, there */
};

static void mark(const struct branch_scan *s, uint8_t *const *bitmaps,
		 uint64_t address)
{
	swz_text_mark(s->module, bitmaps, address);
}

static bool is_set(const struct branch_scan *s, uint8_t *const *bitmaps,
		   uint64_t address)
{
	return swz_text_is_marked(s->module, bitmaps, address);
}

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
		mark(s, s->marks, a);
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
			mark(s, s->marks, a);
		if (!f->site)
			mark(s, s->starts, f->start);
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

	if (!is_set(s, s->marks, to))
		return;
	if (s->reached) {
		mark(s, s->reached->bits, to);
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
static void refuse_fixed_pointers(const struct branch_scan *s)
{
	const struct swz_module *m = s->module;

	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];
		uint64_t at = (p->p_vaddr + 7) & ~(uint64_t)7;

		if (p->p_type != PT_LOAD || !(p->p_flags & PF_R))
			continue;
		for (; at + 8 <= p->p_vaddr + p->p_filesz; at += 8) {
			uint64_t value;

			memcpy(&value, swz_module_bytes(m, at), sizeof(value));
			if (is_text(s, value))
				refuse_label(s, value);
		}
	}
}

/* A pointer into a patch site: a table of labels. */
static void refuse_label_pointers(const struct branch_scan *s)
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
			mark(s, s->marks, stub);
		}
	}
}

/* Whether an instruction of its function starts at `pc`; fills it if so. */
static bool starts_here(struct branch_scan *s, uint64_t pc,
			struct swz_insn *insn, struct swz_function **owner)
{
	struct swz_function *f = s->around;

	if (!f || pc < f->start || pc >= f->start + f->size) {
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
	if (s->reached) {
		mark(s, s->reached->bits, target);
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
	    (!s->reached && pc < site_end(f)) || stack_is_as_at_entry(s, f, pc))
		return;
	if (s->reached)
		mark(s, s->reached->bits, target);
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

/* What the instruction at `pc` takes the address of may be a table of 32-bit
 * offsets from itself to labels of its function, cold parts included. Such
 * tables lie side by side: the first entry that leads elsewhere is another's.
 */
static void read_table(const struct branch_scan *s, uint64_t pc, uint64_t table)
{
	const struct swz_module *m = s->module;
	uint64_t end = table % 4 || s->callers ? 0 : readable_end(m, table);
	const struct swz_function *whole = NULL;

	if (end > table + MOST_ENTRIES * UINT64_C(4))
		end = table + MOST_ENTRIES * UINT64_C(4);
	for (uint64_t at = table; at + 4 <= end; at += 4) {
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
		f = swz_function_at(m, to);
		if (f && !whole && !f->is_piece)
			whole = f;
		if (!f || (f != whole && !f->is_piece))
			break;
		if (is_set(s, s->marks, to))
			refuse_label(s, to);
	}
}

/* What the bytes at this offset of the text look like. */
static void look_at(struct branch_scan *s, const uint8_t *code, uint64_t i)
{
	uint64_t size = s->text->end - s->text->start;
	uint64_t pc = s->text->start + i, to;
	uint8_t op = code[i];

	if ((op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0) {
		to = pc + 2 + (uint64_t)(int64_t)(int8_t)code[i + 1];
	} else if ((op & 0xfe) == 0xe8 && i + 5 <= size) {
		to = pc + 5 + (uint64_t)(int64_t)rel32(code + i + 1);
	} else if (op == 0x0f && (code[i + 1] & 0xf0) == 0x80 &&
		   i + 6 <= size) {
		to = pc + 6 + (uint64_t)(int64_t)rel32(code + i + 2);
	} else if (op == 0xff && code[i + 1] == 0x25 && i + 6 <= size) {
		if (is_reader_slot(
			    s, pc + 6 + (uint64_t)(int64_t)rel32(code + i + 2)))
			hit(s, pc, 0);
		return;
	} else if ((op & 0xfb) == 0x48 && code[i + 1] == 0x8d &&
		   i + 7 <= size && (code[i + 2] & 0xc7) == 0x05) {
		read_table(s, pc,
			   pc + 7 + (uint64_t)(int64_t)rel32(code + i + 3));
		return;
	} else {
		return;
	}
	if (is_set(s, s->marks, to))
		hit(s, pc, to);
	else if (op != 0xe8 && to <= pc && is_set(s, s->starts, to))
		hit_start(s, pc, to);
}

/* What look_at would do nothing about is passed over quickly. First the offsets
 * at which two bytes look like one of its cases are collected, without a branch
 * that could be predicted wrong; then each one's target is computed, again
 * without, and compared with a digest of the marks that the first level cache
 * has room for. */

/* Eight bytes at any address. */
typedef uint64_t __attribute__((aligned(1), may_alias)) word;

#define GROUP 256u
#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* By the first byte: how far it is to where the branch counts from, and the
 * shifts that take the displacement out of the first eight bytes. */
static struct case_of {
	uint8_t length; /* 0: no direct branch */
	uint8_t left;
	uint8_t right;
	bool is_call;
} cases[256];

/* By a set of eight offsets, a bit each: what they are, and how many. */
static struct offsets {
	uint64_t list; /* a byte each, ascending */
	uint64_t count;
} offsets[256];

static void add_branch(unsigned op, uint8_t length, uint8_t left, uint8_t right)
{
	cases[op] = (struct case_of){length, left, right, op == 0xe8};
}

static void init_tables(void)
{
	if (cases[0xe8].length)
		return;
	for (unsigned op = 0; op < 256; op++)
		if ((op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0)
			add_branch(op, 2, 48, 56);
	add_branch(0xe8, 5, 24, 32);
	add_branch(0xe9, 5, 24, 32);
	add_branch(0x0f, 6, 16, 32);
	for (unsigned set = 0; set < 256; set++) {
		struct offsets *o = &offsets[set];

		for (uint64_t i = 0; i < 8; i++)
			if (set >> i & 1)
				o->list |= i << 8 * o->count++;
	}
}

/* The highest bit of each byte that is zero, and of some that are 1; other bits
 * are of no meaning. */
static uint64_t zeros(uint64_t x)
{
	return (x - EACH(1)) & ~x;
}

/* Which of the eight offsets may be a case: bit 7 of each byte. Some are none:
 * 0xe4 and its likes, too. */
static uint64_t cases_in(uint64_t first, uint64_t second)
{
	/* 7x and ex: bits 6 and 5 are set, and one of 7 and 4 is */
	uint64_t bits = (first << 1 & first << 2) & (first ^ first << 3);

	return (bits |
		zeros((first ^ EACH(0x0f)) |
		      ((second ^ EACH(0x80)) & EACH(0xf0))) |
		zeros(second ^ EACH(0x8d)) | zeros(second ^ EACH(0x25))) &
	       EACH(0x80);
}

/* The offsets below GROUP that may be cases. */
static unsigned collect(const uint8_t *code, uint8_t *found)
{
	unsigned n = 0;

	for (unsigned i = 0; i < GROUP; i += 8) {
		uint64_t at = cases_in(*(const word *)(code + i),
				       *(const word *)(code + i + 1));
		/* bit 7 of byte k to bit k */
		const struct offsets *o =
			&offsets[(at >> 7) * UINT64_C(0x0102040810204080) >>
				 56];

		*(word *)(found + n) = o->list + EACH((uint64_t)i);
		n += (unsigned)o->count;
	}
	return n;
}

static bool may_matter(const struct branch_scan *s, const uint8_t *code,
		       uint64_t i)
{
	uint64_t to, block = s->blocks, bytes = *(const word *)(code + i);
	struct case_of c = cases[code[i]];

	if (!c.length) {
		if (code[i] == 0xff)
			return s->slot_count;
		return (bytes & 0xc7fffb) == 0x058d48;
	}
	to = i + c.length + (uint64_t)((int64_t)(bytes << c.left) >> c.right);
	if (to >> BLOCK_SHIFT < block)
		block = to >> BLOCK_SHIFT;
	if (!(s->digest[block].marked[c.is_call] >> to % 16 & 1))
		return false;
	return block == s->blocks ||
	       (s->here[0][to / 8] | s->here[1][to / 8]) >> to % 8 & 1;
}

static void scan(struct branch_scan *s)
{
	const uint8_t *code = swz_module_bytes(s->module, s->text->start);
	uint64_t size = s->text->end - s->text->start, i = 0;
	uint8_t found[GROUP + 8];

	init_tables();
	/* eight bytes are read at each place */
	for (; i + GROUP + 8 <= size; i += GROUP) {
		unsigned count = collect(code + i, found);

		for (unsigned n = 0; n < count; n++)
			if (may_matter(s, code, i + found[n]))
				look_at(s, code, i + found[n]);
	}
	for (; i + 2 <= size; i++)
		look_at(s, code, i);
}

/* The marks of this text, see BLOCK_SHIFT; one block more for what lies
 * elsewhere. */
static enum swz_status digest_marks(struct branch_scan *s, unsigned text)
{
	uint64_t bytes = (s->text->end - s->text->start) / 8 + 1;
	const uint8_t *marks = s->marks[text], *starts = s->starts[text];

	s->here[0] = marks;
	s->here[1] = starts;
	s->blocks = (8 * bytes >> BLOCK_SHIFT) + 1;
	s->digest = swz_scratch_alloc((s->blocks + 1) * sizeof(*s->digest));
	if (!s->digest)
		return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < bytes; i++) {
		struct digest *d = &s->digest[8 * i >> BLOCK_SHIFT];
		unsigned shift = i % 2 * 8;

		if (!(marks[i] | starts[i]))
			continue;
		d->marked[1] |= (uint16_t)(marks[i] << shift);
		d->marked[0] |= (uint16_t)((marks[i] | starts[i]) << shift);
	}
	if (s->module->text_count > 1)
		s->digest[s->blocks] = (struct digest){{0xffff, 0xffff}};
	return SWZ_OK;
}

static enum swz_status scan_all(struct branch_scan *s)
{
	for (unsigned i = 0; i < s->module->text_count; i++) {
		s->text = &s->module->text[i];
		s->around = NULL;
		if (digest_marks(s, i) != SWZ_OK)
			return SWZ_E_NOMEM;
		scan(s);
	}
	return SWZ_OK;
}

static enum swz_status scan_texts(struct branch_scan *s)
{
	struct swz_text_bits marks = {0}, starts = {0};

	if (swz_text_bits_init(&marks, s->module) != SWZ_OK ||
	    swz_text_bits_init(&starts, s->module) != SWZ_OK)
		return SWZ_E_NOMEM;
	memcpy(s->marks, marks.bits, sizeof(s->marks));
	memcpy(s->starts, starts.bits, sizeof(s->starts));
	mark_targets(s);
	mark_stubs(s);
	if (!s->callers)
		refuse_label_pointers(s);
	return scan_all(s);
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

enum swz_status swz_text_bits_init(struct swz_text_bits *bits,
				   const struct swz_module *m)
{
	for (unsigned i = 0; i < m->text_count; i++) {
		uint64_t bytes = (m->text[i].end - m->text[i].start) / 8 + 1;

		bits->bits[i] = swz_scratch_alloc(bytes);
		if (!bits->bits[i])
			return SWZ_E_NOMEM;
	}
	return SWZ_OK;
}

enum swz_status swz_scan_reached(struct swz_module *module,
				 struct swz_decoder *decoder,
				 const struct swz_text_bits *asked,
				 const struct swz_text_bits *starts,
				 struct swz_text_bits *reached)
{
	struct branch_scan s = {
		.module = module, .decoder = decoder, .reached = reached};

	memcpy(s.marks, asked->bits, sizeof(s.marks));
	memcpy(s.starts, starts->bits, sizeof(s.starts));
	refuse_label_pointers(&s);
	return scan_all(&s);
}
