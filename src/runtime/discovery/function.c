/* The functions of a module that is being planned, found by address through an
 * index of pages, and the bytes that no function claims: whether they are code,
 * and which of the listed functions are data after all. */

#include "runtime/discovery/function.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/basics.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- functions by address ------------------------------------------------ */

#define INDEX_SHIFT 10

/* Code may lie far apart: more pages than this for each function are too many.
 */
#define MOST_PAGES 64u

void swz_functions_index(struct swz_module *m)
{
	const struct swz_function *f = m->functions;
	uint32_t n = m->function_count, at = 0;

	m->page_count = 0;
	if (!n)
		return;
	m->first_page = f[0].start >> INDEX_SHIFT;
	m->page_count = (f[n - 1].start >> INDEX_SHIFT) - m->first_page + 1;
	if (m->page_count > (uint64_t)MOST_PAGES * n)
		m->page_count = 0;
	m->page_index = swz_scratch_alloc((m->page_count + 1) *
					  sizeof(*m->page_index));
	if (!m->page_index)
		m->page_count = 0;
	for (uint64_t page = 0; page < m->page_count; page++) {
		uint64_t start = (m->first_page + page) << INDEX_SHIFT;

		while (f[at].start < start)
			at++;
		m->page_index[page] = at;
	}
	if (m->page_count)
		m->page_index[m->page_count] = n;
}

struct swz_function *swz_function_at(const struct swz_module *m,
				     uint64_t address)
{
	uint32_t low = 0, high = m->function_count;
	uint64_t page;

	if (!high || address < m->functions[0].start)
		return NULL;
	page = (address >> INDEX_SHIFT) - m->first_page;
	if (page < m->page_count) {
		low = m->page_index[page];
		high = m->page_index[page + 1];
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	low--;
	return address - m->functions[low].start < m->functions[low].size
		       ? &m->functions[low]
		       : NULL;
}

bool swz_function_returns_twice(const char *name)
{
	static const char *const names[] = {
		"setjmp",           "_setjmp",         "__setjmp",
		"sigsetjmp",        "__sigsetjmp",     "__sigjmp_save",
		"savectx",          "getcontext",      "__getcontext",
		"swapcontext",      "__swapcontext",   "vfork",
		"__vfork",          "__libc_vfork",    "clone",
		"__clone",          "clone3",          "__clone3",
		"__clone_internal", "__start_context", "__restore_rt",
	};

	if (name[0] == '_' && name[1] == 'Z') /* C++ */
		return false;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

void swz_functions_refuse(struct swz_module *m, enum swz_refusal reason)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		swz_function_refuse(&m->functions[i], reason);
}

void swz_functions_count(struct swz_module *m)
{
	memset(m->counts, 0, sizeof(m->counts));
	if (!m->in_scope)
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			m->counts[m->functions[i].status]++;
}

/* --- readers of return addresses ----------------------------------------- */

/* They get a wrapper, whatever way leads to them. (setjmp and _setjmp jump to
 * __sigsetjmp.) */
static const char *const wrapped[] = {
	"dlopen",
	"dlmopen",
	"dlsym",
	"dlvsym",
	"dladdr1",
	"dl_iterate_phdr",
	"__sigsetjmp",
	"getcontext",
	"swapcontext",
	"vfork",
	"__vfork",
	"_Unwind_RaiseException",
	"_Unwind_Resume",
	"_Unwind_Resume_or_Rethrow",
	"_Unwind_ForcedUnwind",
	"_Ux86_64_getcontext",
	"__unw_getcontext",
	"unw_getcontext",
};

/* They have wrappers of their own (compat/compat.h), jump or call one that has,
 * or keep more registers than a wrapper does. */
static const char *const others[] = {
	"setjmp",    "_setjmp", "sigsetjmp", "_Unwind_Backtrace",
	"backtrace", "mcount",  "_mcount",   "__fentry__",
};

#define WRAPPED (sizeof(wrapped) / sizeof(*wrapped))
#define OTHERS (sizeof(others) / sizeof(*others))

static bool is_among(const char *name, const char *const *names, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(name, names[i]) == 0)
			return true;
	return false;
}

bool swz_is_wrapped_reader_name(const char *name)
{
	/* as most symbols do not begin */
	return strchr("d_gsvu", name[0]) && is_among(name, wrapped, WRAPPED);
}

bool swz_is_reader_name(const char *name)
{
	return swz_is_wrapped_reader_name(name) ||
	       is_among(name, others, OTHERS);
}

/* A symbol that is not defined has an address where a program's code takes that
 * of the PLT entry for it. */
bool swz_readers_are_pointed_to(const struct swz_module *m)
{
	struct swz_dynamic d;

	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return false;
	for (uint64_t i = 0; i < d.jmprel_count + d.rela_count; i++) {
		const Elf64_Rela *rela = i < d.jmprel_count
						 ? &d.jmprel[i]
						 : &d.rela[i - d.jmprel_count];
		const Elf64_Sym *s = &d.symbols[ELF64_R_SYM(rela->r_info)];

		if (ELF64_R_SYM(rela->r_info) && s->st_shndx == SHN_UNDEF &&
		    (s->st_value ||
		     ELF64_R_TYPE(rela->r_info) != R_X86_64_JUMP_SLOT) &&
		    swz_is_wrapped_reader_name(d.strings + s->st_name))
			return true;
	}
	return false;
}

void swz_readers_find(struct swz_readers *readers, const struct swz_module *m)
{
	struct swz_dynamic d;
	const Elf64_Rela *tables[2];
	uint64_t counts[2];

	readers->slot_count = 0;
	if (!swz_dynamic_read(m->load_bias, swz_module_dynamic(m), &d))
		return;
	tables[0] = d.jmprel;
	counts[0] = d.jmprel_count;
	tables[1] = d.rela;
	counts[1] = d.rela_count;
	for (unsigned t = 0; t < 2; t++) {
		for (uint64_t i = 0; i < counts[t]; i++) {
			const Elf64_Rela *rela = &tables[t][i];
			uint32_t type = ELF64_R_TYPE(rela->r_info);
			const Elf64_Sym *symbol =
				&d.symbols[ELF64_R_SYM(rela->r_info)];

			if ((type == R_X86_64_JUMP_SLOT ||
			     type == R_X86_64_GLOB_DAT) &&
			    readers->slot_count < SWZ_MAX_READERS &&
			    swz_is_reader_name(d.strings + symbol->st_name))
				readers->slots[readers->slot_count++] =
					rela->r_offset;
		}
	}
}

bool swz_is_reader_slot(const struct swz_readers *readers, uint64_t address)
{
	for (unsigned i = 0; i < readers->slot_count; i++)
		if (readers->slots[i] == address)
			return true;
	return false;
}

bool swz_is_reader_stub(const struct swz_readers *readers, uint64_t address)
{
	for (unsigned i = 0; i < readers->stub_count; i++)
		if (readers->stubs[i] == address)
			return true;
	return false;
}

static void note_stub(struct swz_readers *readers, const struct swz_module *m,
		      uint64_t stub)
{
	if (readers->stub_count < 2 * SWZ_MAX_READERS)
		readers->stubs[readers->stub_count++] = stub;
	swz_text_mark(m, SWZ_TEXT_MARKS, stub);
}

/* Where the PLT entry begins whose jump through memory is at this offset:
 * entries of 8 bytes are no more than that (with bnd before it), others have 16
 * and more before it (endbr64; mold's the relocation's index, too). */
static uint64_t begin_of_entry(uint64_t at)
{
	return at & (at % 8 < 2 ? -8ull : -16ull);
}

/* PLT entries that jump through one of the slots; or which, against speculation
 * (-z retpolineplt), begin with a load of it to %r11. */
void swz_readers_mark_stubs(struct swz_readers *readers,
			    const struct swz_module *m)
{
	readers->stub_count = 0;
	for (unsigned i = 0; i < m->plt_count && readers->slot_count; i++) {
		uint64_t start = m->plt[i].start, end = m->plt[i].end;
		const uint8_t *code = swz_module_bytes(m, start);

		for (uint64_t at = 0; at + 6 <= end - start; at++) {
			const uint8_t *c = code + at;
			bool jumps = c[0] == 0xff && c[1] == 0x25;
			uint64_t slot;

			if (!jumps && (c[0] != 0x4c || c[1] != 0x8b ||
				       c[2] != 0x1d || at + 7 > end - start))
				continue;
			slot = swz_module_relative(m, start + at +
							      (jumps ? 2 : 3));
			if (swz_is_reader_slot(readers, slot))
				note_stub(readers, m,
					  start + (jumps ? begin_of_entry(at)
							 : at));
		}
	}
}

/* --- data with a function's symbol --------------------------------------- */

/* A compiler of its own kind may put what it makes, tables and all, into a
 * shared library under one symbol for each unit, which it says is a function's
 * so that the linker takes it for one (FIS GT.M does). The program looks the
 * symbol up and reads what is there; that the first bytes return, should anyone
 * call them, is for safety's sake. So what flows from the first byte is
 * followed: where it ends without having led to what is behind, and that is not
 * what compilers make of code, a changed first byte would be a changed datum.
 */

bool swz_opcode_is_odd(struct swz_bytes code, const struct swz_encoding *e)
{
	if (e->locked || e->address_size_32)
		return true;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	switch (e->opcode) {
	case 0x00:
	case 0x6c ... 0x6f:
	case 0x9b:
	case 0xa0 ... 0xa3:
	case 0xc8:
	case 0xca ... 0xcb:
	case 0xcd:
	case 0xcf:
	case 0xd7 ... 0xdf:
	case 0xe4 ... 0xe7:
	case 0xec ... 0xf1:
	case 0xf5:
	case 0xf8 ... 0xfd:
		return true;
	default:
		return code.data[0] == 0x64 || code.data[0] == 0x65;
	}
}

static uint64_t next_of(uint64_t pc, const struct swz_encoding *e)
{
	return pc + e->operands_at + e->immediate_bytes;
}

static bool ends_here(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE &&
	       (e->opcode == 0xc2 || e->opcode == 0xc3 || e->opcode == 0xe9 ||
		e->opcode == 0xeb);
}

/* Jumps and calls by a register or memory may lead anywhere. */
static bool is_indirect(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_ONE_BYTE && e->opcode == 0xff &&
	       swz_modrm_reg(e->modrm) >= 2 && swz_modrm_reg(e->modrm) <= 5;
}

/* Where what flows from the first byte ends, without anything in it that refers
 * to what is behind; `end` if that is not seen. */
static uint64_t end_of_flow(const struct swz_module *m, uint64_t start,
			    uint64_t end)
{
	uint64_t furthest = start;

	for (uint64_t pc = start; pc < end;) {
		const uint8_t *code = swz_module_bytes(m, pc);
		struct swz_encoding e;
		uint64_t next, to;
		unsigned bytes;

		if (swz_encoding_read((struct swz_bytes){code, end - pc}, &e) !=
			    SWZ_OK ||
		    is_indirect(&e))
			return end;
		next = next_of(pc, &e);
		if (next > end)
			return end;
		to = start;
		bytes = swz_encoding_branch_bytes(&e);
		if (bytes == 2)
			return end;
		if (bytes)
			to = next + (uint64_t)swz_distance_before(
					    code + (next - pc), bytes);
		else if (swz_encoding_rip_relative(&e))
			to = next + (uint64_t)swz_distance_before(
					    code + e.operands_at, 4);
		if (to < end && to > furthest)
			furthest = to;
		if (ends_here(&e) && furthest < next)
			return next;
		pc = next;
	}
	return end;
}

static bool is_padding(uint8_t byte)
{
	return byte == 0 || byte == 0x90 || byte == 0xcc;
}

bool swz_is_data(const struct swz_module *m, uint64_t start, uint64_t end)
{
	uint64_t pc = end_of_flow(m, start, end);

	while (pc < end && is_padding(*swz_module_bytes(m, pc)))
		pc++;
	while (pc < end) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		struct swz_encoding e;

		if (swz_encoding_read(code, &e) != SWZ_OK ||
		    swz_opcode_is_odd(code, &e))
			return true;
		pc = next_of(pc, &e);
	}
	return false;
}

static uint64_t behind_nops(const struct swz_module *m, uint64_t pc,
			    uint64_t end)
{
	while (pc < end && *swz_module_bytes(m, pc) == 0x90)
		pc++;
	return pc;
}

bool swz_is_type(const struct swz_module *m, uint64_t start, uint64_t end)
{
	uint64_t pc = behind_nops(m, start, end);

	/* mov $type, %eax; newer ones tell the arguments by the register */
	return end - pc >= 5 && (*swz_module_bytes(m, pc) & 0xf8) == 0xb8 &&
	       behind_nops(m, pc + 5, end) == end;
}

/* --- code between functions ---------------------------------------------- */

/* Between functions that are known lies padding, and code without an unwind
 * entry or a symbol: the C library's start code, hand-written assembly; data,
 * too. If all of it decodes from one end to the other as what compilers make,
 * and all that branches within it goes to an instruction of this decoding, then
 * those are the instructions. Whatever is data is much more likely to fail one
 * of these conditions. If not, it is taken for what it looks like, but for long
 * texts. */
#define MOST_GAP_BRANCHES 256u

enum { LEAST_STRING = 32 };

static bool is_odd(struct swz_bytes code, const struct swz_insn *insn,
		   const struct swz_encoding *e)
{
	return insn->kind == SWZ_INSN_LOOP || insn->kind == SWZ_INSN_SYSCALL ||
	       swz_opcode_is_odd(code, e);
}

static uint64_t begin_of(const struct swz_module *m, uint64_t pc)
{
	uint32_t low;
	uint64_t begin = 0;

	SWZ_PARTITION(low, m->function_count, m->functions[low].start <= pc);
	if (low)
		begin = m->functions[low - 1].start +
			m->functions[low - 1].size;
	for (unsigned i = 0; i < m->plt_count; i++)
		if (m->plt[i].end <= pc && m->plt[i].end > begin)
			begin = m->plt[i].end;
	return begin;
}

static uint64_t end_of(const struct swz_module *m, const struct swz_range *text,
		       uint64_t pc)
{
	uint64_t end = text->end;

	for (uint32_t low = 0, high = m->function_count; low < high;) {
		uint32_t middle = low + (high - low) / 2;

		if (m->functions[middle].start > pc) {
			if (m->functions[middle].start < end)
				end = m->functions[middle].start;
			high = middle;
		} else {
			low = middle + 1;
		}
	}
	for (unsigned i = 0; i < m->plt_count; i++)
		if (m->plt[i].start > pc && m->plt[i].start < end)
			end = m->plt[i].start;
	return end;
}

static bool starts_at(const struct swz_gap *gap, uint64_t pc)
{
	uint64_t at = pc - gap->begin;

	return gap->starts[at / 8] & (1u << (at % 8));
}

static void note_start(struct swz_gap *gap, uint64_t pc)
{
	uint64_t at = pc - gap->begin;

	gap->starts[at / 8] |= (uint8_t)(1u << (at % 8));
}

static bool ends_flow(const struct swz_insn *insn)
{
	return insn->kind == SWZ_INSN_RETURN || insn->kind == SWZ_INSN_JUMP ||
	       insn->kind == SWZ_INSN_JUMP_INDIRECT ||
	       insn->kind == SWZ_INSN_TRAP;
}

static bool decode(struct swz_gap *gap, const struct swz_module *m,
		   struct swz_decoder *decoder)
{
	uint64_t pc = gap->begin;
	/* where the branches go, as often as there is room to remember */
	uint64_t targets[MOST_GAP_BRANCHES];
	unsigned count = 0;
	bool ended = true;

	memset(gap->starts, 0, sizeof(gap->starts));
	while (pc < gap->end) {
		struct swz_bytes code = {swz_module_bytes(m, pc),
					 gap->end - pc};
		struct swz_encoding encoding;
		struct swz_insn insn;

		if (ended && !*code.data) { /* padding between sections */
			pc++;
			continue;
		}
		if (swz_decode_encoding(decoder, code, pc, &insn, &encoding) !=
			    SWZ_OK ||
		    is_odd(code, &insn, &encoding))
			return false;
		note_start(gap, pc);
		if (insn.kind != SWZ_INSN_PLAIN) /* asked for by its opcode */
			note_start(gap, pc + encoding.opcode_at);
		if ((insn.kind == SWZ_INSN_JUMP ||
		     insn.kind == SWZ_INSN_JUMP_CC ||
		     insn.kind == SWZ_INSN_CALL) &&
		    insn.target - gap->begin < gap->end - gap->begin) {
			if (count == MOST_GAP_BRANCHES)
				return false;
			targets[count++] = insn.target;
		}
		ended = ends_flow(&insn);
		pc += insn.length;
	}
	while (count--)
		if (!starts_at(gap, targets[count]))
			return false;
	return true;
}

static bool is_printable(const struct swz_module *m, uint64_t pc)
{
	uint8_t byte = *swz_module_bytes(m, pc);

	return byte >= ' ' && byte <= '~';
}

/* True if the two bytes are in a text that ends in NUL and is longer than code
 * ever looks like one: cryptographic assembly names its authors that way. */
static bool is_in_string(const struct swz_gap *gap, const struct swz_module *m,
			 uint64_t pc)
{
	uint64_t begin = pc, end = pc;

	while (begin > gap->begin && is_printable(m, begin - 1))
		begin--;
	while (end < gap->end && is_printable(m, end))
		end++;
	return end < gap->end && end - pc >= 2 && end - begin >= LEAST_STRING &&
	       *swz_module_bytes(m, end) == 0;
}

static void look(struct swz_gap *gap, const struct swz_module *m,
		 struct swz_decoder *decoder, const struct swz_range *text,
		 uint64_t pc)
{
	if (pc < gap->begin || pc >= gap->end) {
		gap->begin = begin_of(m, pc);
		gap->end = end_of(m, text, pc);
		if (gap->begin < text->start)
			gap->begin = text->start;
		gap->is_code = gap->begin <= pc && gap->end > pc &&
			       gap->end - gap->begin <= SWZ_MOST_GAP_BYTES &&
			       decode(gap, m, decoder);
	}
}

uint64_t swz_gap_padding(struct swz_gap *gap, const struct swz_module *m,
			 struct swz_decoder *decoder,
			 const struct swz_range *text, uint64_t end)
{
	uint64_t padding = end;
	bool ended = false;

	if (end <= text->start)
		return end;
	look(gap, m, decoder, text, end - 1);
	if (!gap->is_code || gap->end != end)
		return end;
	for (uint64_t pc = gap->begin; pc < end;) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		size_t length = swz_padding_length(code);
		struct swz_insn insn;

		if (length) {
			if (ended && padding == end)
				padding = pc;
			pc += length;
			continue;
		}
		padding = end;
		if (swz_decode(decoder, code, pc, &insn) != SWZ_OK)
			return end;
		ended = ends_flow(&insn) && insn.kind != SWZ_INSN_TRAP;
		pc += insn.length;
	}
	return padding;
}

bool swz_gap_denies(struct swz_gap *gap, const struct swz_module *m,
		    struct swz_decoder *decoder, const struct swz_range *text,
		    uint64_t pc)
{
	look(gap, m, decoder, text, pc);
	if (gap->is_code)
		return !starts_at(gap, pc);
	return gap->begin <= pc && is_in_string(gap, m, pc);
}
