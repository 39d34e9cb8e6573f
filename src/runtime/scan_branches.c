/* Every byte of the text is taken as the possible start of a direct branch. The
 * targets that matter are marked in a bitmap, one bit a byte; where a supposed
 * branch meets a mark, the function around it is decoded up to that place to
 * see whether an instruction really starts there. Code that belongs to no known
 * function counts as what it looks like. */

#include "runtime/scan.h"

#include <string.h>

#include "runtime/scratch.h"

#define MAX_READERS 64

/* A loop of the function's own that goes back into the site is displaced as a
 * whole if it ends within this many bytes. */
#define MOST_DISPLACED 48u

struct branch_scan {
	struct swz_module *module;
	struct swz_decoder *decoder;
	const struct swz_range *text;
	uint8_t *marks; /* of text */
	/* where decoding of the function around the last hit has come to */
	struct swz_function *around;
	uint64_t decoded;
	bool lost;
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
};

static void mark(struct branch_scan *s, uint64_t address)
{
	uint64_t at = address - s->text->start;

	if (address >= s->text->start && address < s->text->end)
		s->marks[at / 8] |= (uint8_t)(1u << (at % 8));
}

static bool is_marked(const struct branch_scan *s, uint64_t at)
{
	return s->marks[at / 8] & (1u << (at % 8));
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
		mark(s, a);
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
			mark(s, a);
	}
}

/* Functions of libc that look at their return address or return twice. */
static bool is_reader_name(const char *name)
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
			    is_reader_name(r.strings + symbol->st_name))
				s->reader_slots[s->slot_count++] =
					rela->r_offset;
		}
	}
}

/* A pointer into a patch site: a table of labels. */
static void refuse_label_pointers(const struct branch_scan *s)
{
	struct relocations r;

	if (!find_relocations(s->module, &r))
		return;
	for (uint64_t i = 0; i < r.counts[1]; i++) {
		const Elf64_Rela *rela = &r.tables[1][i];
		uint64_t to = (uint64_t)rela->r_addend;
		struct swz_function *f;

		if (ELF64_R_TYPE(rela->r_info) != R_X86_64_RELATIVE)
			continue;
		f = swz_function_at(s->module, to);
		if (f && to >= site_start(f) && to < site_end(f))
			swz_function_refuse(f, SWZ_REFUSE_BRANCH_INTO_SITE);
	}
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
			mark(s, stub);
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
	if (!f || s->lost) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 s->text->end - pc};

		return swz_decode(s->decoder, code, pc, insn) == SWZ_OK;
	}
	while (s->decoded <= pc) {
		struct swz_bytes code = {
			swz_module_bytes(s->module, s->decoded),
			f->start + f->size - s->decoded};

		if (swz_decode(s->decoder, code, s->decoded, insn) != SWZ_OK) {
			s->lost = true; /* data in text: believe the bytes */
			return starts_here(s, pc, insn, owner);
		}
		if (s->decoded == pc)
			return true;
		s->decoded += insn->length;
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
	swz_function_refuse(to, SWZ_REFUSE_BRANCH_INTO_SITE);
}

static void scan(struct branch_scan *s)
{
	const uint8_t *code = swz_module_bytes(s->module, s->text->start);
	uint64_t size = s->text->end - s->text->start;

	for (uint64_t i = 0; i + 2 <= size; i++) {
		uint8_t op = code[i];
		uint64_t to;

		if ((op & 0xf0) == 0x70 || op == 0xeb || (op & 0xfc) == 0xe0)
			to = i + 2 + (uint64_t)(int64_t)(int8_t)code[i + 1];
		else if ((op & 0xfe) == 0xe8 && i + 5 <= size)
			to = i + 5 + (uint64_t)(int64_t)rel32(code + i + 1);
		else if (op == 0x0f && (code[i + 1] & 0xf0) == 0x80 &&
			 i + 6 <= size)
			to = i + 6 + (uint64_t)(int64_t)rel32(code + i + 2);
		else if (op == 0xff && code[i + 1] == 0x25 && s->slot_count &&
			 i + 6 <= size)
			to = UINT64_MAX;
		else
			continue;
		if (to == UINT64_MAX) {
			if (is_reader_slot(s, s->text->start + i + 6 +
						      (uint64_t)(int64_t)rel32(
							      code + i + 2)))
				hit(s, s->text->start + i, 0);
		} else if (to < size && is_marked(s, to)) {
			hit(s, s->text->start + i, s->text->start + to);
		}
	}
}

static enum swz_status scan_text(struct branch_scan *s)
{
	for (unsigned i = 0; i < s->module->text_count; i++) {
		s->text = &s->module->text[i];
		s->marks = swz_scratch_alloc(
			(s->text->end - s->text->start) / 8 + 1);
		if (!s->marks)
			return SWZ_E_NOMEM;
		s->around = NULL;
		mark_targets(s);
		mark_stubs(s);
		scan(s);
	}
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
		status = scan_text(s);
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
	refuse_label_pointers(&s);
	status = scan_text(&s);
	if (status == SWZ_OK && s.extended) {
		/* once more: nothing else may branch to what is displaced now
		 */
		s.may_extend = false;
		s.slot_count = s.stub_count = 0;
		refuse_label_pointers(&s);
		status = scan_text(&s);
	}
	return status == SWZ_OK ? scan_callers(&s) : status;
}
