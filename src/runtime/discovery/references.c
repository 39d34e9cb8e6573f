/* Addresses in a module's text that something takes: words that the dynamic
 * linker relocates, immediates and tables in data, lea in code. A word may look
 * like an address and be none, so who asks has to check what is there. */

#include "runtime/discovery/references.h"

#include <stdint.h>
#include <string.h>

#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/encoding.h"

/* --- relocated words ----------------------------------------------------- */

struct report {
	const struct swz_module *module;
	void (*found)(void *context, uint64_t where, uint64_t to);
	void *context;
};

static void report_relocations(const struct report *r,
			       const struct swz_dynamic *d)
{
	for (uint64_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *rela = &d->rela[i];
		const Elf64_Sym *symbol =
			&d->symbols[ELF64_R_SYM(rela->r_info)];
		uint32_t type = ELF64_R_TYPE(rela->r_info);

		if (type == R_X86_64_RELATIVE)
			r->found(r->context, rela->r_offset,
				 (uint64_t)rela->r_addend);
		else if (type == R_X86_64_64 && symbol->st_shndx != SHN_UNDEF)
			r->found(r->context, rela->r_offset,
				 symbol->st_value + (uint64_t)rela->r_addend);
	}
}

/* A word that the linker has relocated, or yet will: where a module comes later
 * one does not know which. No address in it is both. */
static void report_word(const struct report *r, uint64_t where)
{
	uint64_t value;

	memcpy(&value, swz_module_bytes(r->module, where), sizeof(value));
	r->found(r->context, where, value - r->module->load_bias);
	if (r->module->late)
		r->found(r->context, where, value);
}

/* Relative relocations packed as addresses and bitmaps of the 63 words behind
 * (gABI, SHT_RELR). */
static void report_packed(const struct report *r, const struct swz_dynamic *d)
{
	uint64_t next = 0;

	for (uint64_t i = 0; i < d->relr_count; i++) {
		uint64_t entry = d->relr[i];

		if (!(entry & 1)) {
			report_word(r, entry);
			next = entry + 8;
			continue;
		}
		for (uint64_t at = next; entry >>= 1; at += 8)
			if (entry & 1)
				report_word(r, at);
		next += UINT64_C(63) * 8;
	}
}

void swz_pointers_relocated(const struct swz_module *module,
			    void (*found)(void *context, uint64_t where,
					  uint64_t to),
			    void *context)
{
	const struct report r = {module, found, context};
	struct swz_dynamic d;

	if (!swz_dynamic_read(module->load_bias, swz_module_dynamic(module),
			      &d))
		return;
	report_relocations(&r, &d);
	report_packed(&r, &d);
}

/* --- addresses in code --------------------------------------------------- */

#define MOST_GOT_WORDS (1u << 20)

/* ------------------------------------------------------------------ code */

/* The address that each general register holds; 0: another one. */
struct held {
	uint64_t in[16];
};

static void tell(const struct swz_references *r, uint64_t to,
		 enum swz_reference how)
{
	if (to)
		r->found(r->context, to, how);
}

/* Its memory operand is found by an address that is held. */
static void look_at_memory(const struct swz_references *r,
			   const struct swz_encoding *e,
			   const struct held *held)
{
	unsigned base = swz_operand_base(e), index = swz_operand_index(e);

	if (base < SWZ_NO_REGISTER)
		tell(r, held->in[base], SWZ_REFERENCE_DATA);
	if (index < SWZ_NO_REGISTER)
		tell(r, held->in[index], SWZ_REFERENCE_DATA);
}

/* movq of a general register to a vector, which is stored next, with another
 * pointer. */
static bool is_to_vector(const struct swz_encoding *e)
{
	if (e->map == SWZ_MAP_0F ||
	    (e->map == SWZ_MAP_VECTOR && e->vector_map == 1))
		return e->opcode == 0x6e;
	return e->opcode == 0x22 && /* pinsrq */
	       (e->map == SWZ_MAP_0F3A ||
		(e->map == SWZ_MAP_VECTOR && e->vector_map == 3));
}

static bool has_got_word(const struct swz_references *r, uint64_t where)
{
	return where >= r->got.start && where < r->got.end &&
	       r->got_words[(where - r->got.start) / 8];
}

/* Returns the address in the GOT's word that the instruction before `next`
 * refers to; 0 if it refers to none. */
static uint64_t got_word(const struct swz_references *r,
			 const struct swz_encoding *e, uint64_t next)
{
	uint64_t where;

	if (!r->got_words || !swz_encoding_rip_relative(e))
		return 0;
	where = next - e->immediate_bytes;
	where = swz_module_relative(r->module, where - 4) + e->immediate_bytes;
	return has_got_word(r, where) ? r->got_words[(where - r->got.start) / 8]
				      : 0;
}

/* movq and movhps from memory, likewise. */
static bool is_vector_load(const struct swz_encoding *e)
{
	return (e->map == SWZ_MAP_0F ||
		(e->map == SWZ_MAP_VECTOR && e->vector_map == 1)) &&
	       (e->opcode == 0x7e || e->opcode == 0x16 || e->opcode == 0x12);
}

static void look_at_got(const struct swz_references *r,
			const struct swz_encoding *e, uint64_t to,
			struct held *held)
{
	bool one_byte = e->map == SWZ_MAP_ONE_BYTE;

	if (one_byte && e->opcode == 0x8b && e->rex_w)
		held->in[swz_encoding_reg(e)] = to;
	else if (one_byte && e->opcode == 0xff && swz_modrm_reg(e->modrm) == 2)
		tell(r, to, SWZ_REFERENCE_CALL);
	else if (is_to_vector(e) || is_vector_load(e))
		tell(r, to, SWZ_REFERENCE_STORE);
}

static void look_at_one_byte(const struct swz_references *r,
			     const struct swz_encoding *e, struct held *held)
{
	bool memory = swz_operand_is_memory(e);
	unsigned reg = swz_encoding_reg(e), rm = swz_encoding_rm(e);

	switch (e->opcode) {
	case 0x89:
		if (memory)
			tell(r, held->in[reg], SWZ_REFERENCE_STORE);
		else
			held->in[rm] = held->in[reg];
		break;
	case 0x8b:
		held->in[reg] = memory ? 0 : held->in[rm];
		break;
	case 0x39: /* cmp, test */
	case 0x3b:
	case 0x85:
		break;
	case 0x01: /* arithmetic: what counts from it is data */
	case 0x03:
	case 0x29:
	case 0x2b:
		tell(r, held->in[reg], SWZ_REFERENCE_DATA);
		if (!memory)
			tell(r, held->in[rm], SWZ_REFERENCE_DATA);
		held->in[e->opcode & 2 ? reg : rm] = 0;
		break;
	case 0x50 ... 0x57:
		break;
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		held->in[(e->opcode & 7u) | (e->extends_base ? 8u : 0)] = 0;
		break;
	case 0x81:
	case 0x83:
		if (!memory && swz_modrm_reg(e->modrm) != 7) {
			tell(r, held->in[rm], SWZ_REFERENCE_DATA);
			held->in[rm] = 0;
		}
		break;
	default:
		if (e->modrm_at) {
			held->in[reg] = 0;
			if (!memory)
				held->in[rm] = 0;
		}
	}
}

/* True for two-byte opcodes that set a general register (cmov, imul, movzx and
 * their like); most others set vectors. */
static bool sets_general(const struct swz_encoding *e)
{
	return e->map == SWZ_MAP_0F &&
	       ((e->opcode & 0xf0) == 0x40 ||
		(e->opcode >= 0xaf && e->opcode <= 0xbf) || e->opcode == 0x2c ||
		e->opcode == 0x2d || e->opcode == 0x50 || e->opcode == 0xc5 ||
		e->opcode == 0xd7);
}

static void forget_scratch(struct held *held)
{
	for (unsigned i = 0; i < 12; i++)
		if (i != 3 && i != 5)
			held->in[i] = 0;
}

/* Reports uses of held addresses by the instruction, and updates what is held.
 */
static void look_at(const struct swz_references *r, uint64_t pc,
		    const struct swz_encoding *e, struct held *held)
{
	uint64_t next = pc + e->operands_at + e->immediate_bytes;
	bool one_byte = e->map == SWZ_MAP_ONE_BYTE;
	uint64_t got = got_word(r, e, next);

	if (one_byte && e->opcode == 0xe8) {
		uint64_t to = swz_module_relative(r->module, next - 4);

		if (r->is_asked(r->context, to))
			tell(r, to, SWZ_REFERENCE_CALL);
	}
	if (one_byte && (e->opcode == 0xe8 ||
			 (e->opcode == 0xff && (e->modrm >> 3 & 7) == 2)))
		forget_scratch(held);
	else if (one_byte &&
		 (e->opcode == 0xc3 || e->opcode == 0xe9 || e->opcode == 0xeb))
		memset(held, 0, sizeof(*held));
	else if (one_byte && e->opcode == 0x8d &&
		 swz_encoding_rip_relative(e) && e->rex_w) {
		uint64_t to = swz_module_relative(r->module, next - 4);

		held->in[swz_encoding_reg(e)] = r->is_asked(r->context, to) ? to
									    : 0;
	} else {
		if (swz_operand_is_memory(e))
			look_at_memory(r, e, held);
		else if (is_to_vector(e))
			tell(r, held->in[swz_encoding_rm(e)],
			     SWZ_REFERENCE_STORE);
		if (one_byte)
			look_at_one_byte(r, e, held);
		else if (sets_general(e))
			held->in[swz_encoding_reg(e)] = 0;
	}
	if (got)
		look_at_got(r, e, got, held);
}

void swz_references_between(const struct swz_references *r, uint64_t start,
			    uint64_t end)
{
	struct held held = {{0}};

	for (uint64_t pc = start; pc < end;) {
		struct swz_bytes code = {swz_module_bytes(r->module, pc),
					 end - pc};
		struct swz_encoding e;
		uint64_t length;

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return;
		length = (uint64_t)e.operands_at + e.immediate_bytes;
		if (length > code.size)
			return;
		look_at(r, pc, &e, &held);
		pc += length;
	}
}

static uint64_t end_of(const struct swz_function *f)
{
	return f->start + (f->room && f->room < f->size ? f->room : f->size);
}

/* The highest bit of each byte that is zero, and of no other. */
static uint64_t zeros_of(uint64_t x)
{
	uint64_t low = 0x7f * SWZ_ONES;

	return ~(((x & low) + low) | x | low);
}

/* Code that is looked through for bytes that may refer to what is asked for. */
struct bytes_scan {
	const struct swz_references *references;
	uint64_t start;
	uint64_t size;
	bool calls; /* also direct calls */
};

/* True if the byte at `i` may be the opcode of a direct call, or the ModRM byte
 * of an operand relative to %rip, that refers to what is asked for. */
static bool may_refer(const struct bytes_scan *s, const uint8_t *code,
		      uint64_t i)
{
	const struct swz_references *r = s->references;
	uint64_t to;

	if (i + 5 > s->size)
		return false;
	to = swz_module_relative(r->module, s->start + i + 1);
	if ((code[i] == 0xe8 && s->calls) || (i && code[i - 1] == 0x8d))
		return r->is_asked(r->context, to);
	/* pinsrq has a byte behind the operand */
	return r->got_words && (has_got_word(r, to) || has_got_word(r, to + 1));
}

/* Most functions have no bytes that look like such an instruction, and need not
 * be decoded. */
static bool may_have_any(const struct bytes_scan *s)
{
	const uint8_t *code = swz_module_bytes(s->references->module, s->start);
	uint64_t i = 0;

	for (; i + 8 < s->size; i += 8) {
		uint64_t word = *(const swz_word *)(code + i);
		uint64_t hits = zeros_of((word & 0xc7 * SWZ_ONES) ^
					 5 * SWZ_ONES);

		if (s->calls)
			hits |= zeros_of(word ^ 0xe8 * SWZ_ONES);
		for (; hits; hits &= hits - 1)
			if (may_refer(s, code,
				      i + (unsigned)__builtin_ctzll(hits) / 8))
				return true;
	}
	for (; i + 5 <= s->size; i++)
		if (((code[i] == 0xe8 && s->calls) || (code[i] & 0xc7) == 5) &&
		    may_refer(s, code, i))
			return true;
	return false;
}

bool swz_references_may_count(const struct swz_references *r, uint64_t start,
			      uint64_t end)
{
	struct bytes_scan s = {r, start, end > start ? end - start : 0, false};

	return may_have_any(&s);
}

void swz_references_in_code(const struct swz_references *r, uint32_t begin,
			    uint32_t end)
{
	for (uint32_t i = begin; i < end; i++) {
		const struct swz_function *f = &r->module->functions[i];
		struct bytes_scan s = {r, f->start, f->size, true};

		if (may_have_any(&s))
			swz_references_between(r, f->start, end_of(f));
	}
}

/* ------------------------------------------------------------------ data */

/* Pointers there are not looked at. */
static const char *const left_out[] = {".init_array", ".fini_array"};
#define LEFT_OUT (sizeof(left_out) / sizeof(*left_out))

struct data_scan {
	struct swz_references *references;
	struct swz_range left_out[LEFT_OUT];
};

static struct swz_range section_range(const struct swz_module *m,
				      const char *name)
{
	const Elf64_Shdr *s = swz_elf_section(&m->file, name);

	return s ? (struct swz_range){s->sh_addr, s->sh_addr + s->sh_size}
		 : (struct swz_range){0, 0};
}

static bool in_range(const struct swz_range *range, uint64_t address)
{
	return address >= range->start && address < range->end;
}

static void look_at_pointer(void *context, uint64_t where, uint64_t to)
{
	const struct data_scan *s = context;
	const struct swz_references *r = s->references;

	if (!r->is_asked(r->context, to))
		return;
	if (in_range(&r->got, where)) {
		r->got_words[(where - r->got.start) / 8] = to;
		return;
	}
	for (unsigned i = 0; i < LEFT_OUT; i++)
		if (in_range(&s->left_out[i], where))
			return;
	tell(r, to, SWZ_REFERENCE_STORE);
}

void swz_references_in_data(struct swz_references *r)
{
	struct data_scan s = {.references = r};
	size_t words;

	if (!r->module->file.section_count)
		return;
	r->got = section_range(r->module, ".got");
	words = (r->got.end - r->got.start) / 8 + 1;
	if (words > MOST_GOT_WORDS)
		return;
	r->got_words = swz_scratch_alloc_brief(words * sizeof(*r->got_words));
	if (!r->got_words)
		return;
	memset(r->got_words, 0, words * sizeof(*r->got_words));
	for (unsigned i = 0; i < LEFT_OUT; i++)
		s.left_out[i] = section_range(r->module, left_out[i]);
	swz_pointers_relocated(r->module, look_at_pointer, &s);
}

/* --- pointers in data ---------------------------------------------------- */

struct pointer_scan {
	struct swz_module *module;
	void (*found)(void *context, uint64_t to);
	void *context;
	uint64_t lowest, text_bytes; /* of all texts */
};

/* Notes a word of a program at a fixed address. */
static void note_word(const struct pointer_scan *s, uint64_t value)
{
	struct swz_module *m = s->module;

	if (!swz_module_is_text(m, value, 1))
		return;
	if (m->labels && m->label_count < m->label_room)
		m->labels[m->label_count++] = (uint32_t)(value - s->lowest);
	else
		m->label_room = 0; /* not all are noted */
	s->found(s->context, value);
}

/* True if a jump of ours may be there, but not begin there. */
static bool may_be_patched(const struct swz_function *f, uint64_t address)
{
	return (address != f->start && address - f->start < SWZ_MOST_PATCHED) ||
	       swz_function_load_site_has(f, address);
}

/* In doubt it does. */
static bool begins_instruction(const struct swz_module *m,
			       const struct swz_function *f, uint64_t address)
{
	uint64_t at = f->start;

	while (at < address) {
		struct swz_bytes rest = {swz_module_bytes(m, at),
					 f->start + f->size - at};
		struct swz_encoding e;

		if (swz_encoding_read(rest, &e) != SWZ_OK)
			return true;
		at += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return at == address;
}

/* Numbers look like addresses, too. */
static bool may_be_label(const struct pointer_scan *s, uint64_t value)
{
	const struct swz_function *f = swz_function_at(s->module, value);

	return !f || !may_be_patched(f, value) ||
	       begins_instruction(s->module, f, value);
}

/* Two neighbours in data may be entries of a table of labels with 32 bits each.
 * A number looks like an address seldom, two in a row like those of two
 * instructions of one function hardly ever. */
static void look_at_pair(const struct pointer_scan *s, uint32_t a, uint32_t b)
{
	const struct swz_function *f = swz_function_at(s->module, a);

	if (!f || b - f->start >= f->size ||
	    !(may_be_patched(f, a) || may_be_patched(f, b)) ||
	    !begins_instruction(s->module, f, a) ||
	    !begins_instruction(s->module, f, b))
		return;
	if (may_be_patched(f, a))
		note_word(s, a);
	if (may_be_patched(f, b))
		note_word(s, b);
}

static bool fits_in_32_bits(const struct pointer_scan *s)
{
	return s->lowest + s->text_bytes <= UINT32_MAX;
}

static void scan_pairs(const struct pointer_scan *s, const ElfW(Phdr) * p)
{
	uint64_t start = (p->p_vaddr + 3) & ~(uint64_t)3;
	uint64_t end = p->p_vaddr + p->p_filesz;
	const uint8_t *words = swz_module_bytes(s->module, start);
	uint64_t count = end > start ? (end - start) / 4 : 0;
	uint32_t lowest = (uint32_t)s->lowest;
	uint32_t text_bytes = (uint32_t)s->text_bytes, before = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t value;

		memcpy(&value, words + 4 * i, sizeof(value));
		if (value - lowest < text_bytes && before - lowest < text_bytes)
			look_at_pair(s, before, value);
		before = value;
	}
}

/* There pointers need no relocation: any word may be one. */
static void scan_words(const struct pointer_scan *s, const ElfW(Phdr) * p)
{
	uint64_t start = (p->p_vaddr + 7) & ~(uint64_t)7;
	uint64_t end = p->p_vaddr + p->p_filesz;
	const uint8_t *words = swz_module_bytes(s->module, start);
	uint64_t count = end > start ? (end - start) / 8 : 0;
	uint64_t lowest = s->lowest, text_bytes = s->text_bytes;

	for (uint64_t i = 0; i < count; i++) {
		uint64_t value;

		memcpy(&value, words + 8 * i, sizeof(value));
		if (value - lowest < text_bytes && may_be_label(s, value))
			note_word(s, value);
	}
	if (fits_in_32_bits(s))
		scan_pairs(s, p);
}

/* mov to a register, or to memory; push; add to a register. */
static bool is_load(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE || e->immediate_bytes < 4)
		return false;
	return (e->opcode & 0xf8) == 0xb8 || e->opcode == 0x68 ||
	       e->opcode == 0x05 ||
	       ((e->opcode == 0xc7 || e->opcode == 0x81) &&
		swz_modrm_reg(e->modrm) == 0);
}

/* True if the bytes before `at` may be those of such an instruction, whose
 * immediate is there. In a mov to memory there are ModRM, SIB and displacement
 * before it. */
static bool may_load(const uint8_t *begin, const uint8_t *at)
{
	static const uint8_t between[] = {1, 2, 3, 5, 6};

	if (at - begin < 2)
		return false;
	if ((at[-1] & 0xf8) == 0xb8 || at[-1] == 0x68 ||
	    (at[-1] == 0x05 && at[-2] == 0x48) ||
	    ((at[-1] & 0xf8) == 0xc0 && at[-2] == 0x81))
		return true;
	for (unsigned i = 0; i < sizeof(between); i++)
		if (at - begin > between[i] && at[-between[i] - 1] == 0xc7)
			return true;
	return false;
}

/* True if an instruction of its function has that there. */
static bool is_loaded(const struct swz_module *m, uint64_t at)
{
	const struct swz_function *f = swz_function_at(m, at);
	uint64_t pc = f ? f->start : at;
	struct swz_encoding e = {0};

	while (pc < at) {
		struct swz_bytes code = {swz_module_bytes(m, pc),
					 f->start + f->size - pc};

		if (swz_encoding_read(code, &e) != SWZ_OK)
			return true; /* data in text: believe the bytes */
		if (pc + e.operands_at == at && is_load(&e))
			return true;
		pc += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return !f;
}

struct own_labels {
	const struct pointer_scan *scan;
	const struct swz_function *function;
};

static void note_in_patch(void *context, uint64_t to)
{
	const struct own_labels *own = context;

	if (may_be_patched(own->function, to))
		note_word(own->scan, to);
}

/* Notes labels whose distances stand in a table that the function refers to. */
static void note_distant(const struct pointer_scan *s,
			 const struct swz_function *f, uint64_t label)
{
	const struct swz_module *m = s->module;
	const uint8_t *code = swz_module_bytes(m, f->start);
	struct own_labels own = {s, f};

	if (f->size > SWZ_MOST_WITH_LABELS)
		return;
	for (uint32_t i = 0; i + 4 <= f->size; i++) {
		uint32_t table;

		memcpy(&table, code + i, sizeof(table));
		if (table % 4 == 0 && !swz_module_is_text(m, table, 1))
			swz_distance_table_read(m, f, label, table,
						note_in_patch, &own);
	}
}

/* The instruction at `at` may have the address as an immediate. */
static void look_at_immediate(const struct pointer_scan *s, uint64_t at,
			      uint64_t address)
{
	const struct swz_function *f = swz_function_at(s->module, address);
	bool is_own;

	if (!f || address == f->start)
		return;
	is_own = at - f->start < f->size;
	if ((!is_own && !may_be_patched(f, address)) ||
	    !is_loaded(s->module, at))
		return;
	note_word(s, address);
	if (is_own)
		note_distant(s, f, address);
}

/* Where addresses fit in 32 bits, instructions have them as immediates. */
static void scan_immediates(const struct pointer_scan *s,
			    const struct swz_range *text)
{
	const uint8_t *begin = swz_module_bytes(s->module, text->start);
	uint64_t size = text->end - text->start;
	uint32_t lowest = (uint32_t)s->lowest;
	uint32_t text_bytes = (uint32_t)s->text_bytes;

	for (uint64_t i = 0; i + 4 <= size; i++) {
		uint32_t value;

		memcpy(&value, begin + i, sizeof(value));
		if (value - lowest < text_bytes && may_load(begin, begin + i))
			look_at_immediate(s, text->start + i, value);
	}
}

static void scan_fixed(struct pointer_scan *s)
{
	struct swz_module *m = s->module;

	s->lowest = m->text[0].start;
	s->text_bytes = m->text[m->text_count - 1].end - s->lowest;
	if (m->labels && m->label_room) {
		for (uint32_t i = 0; i < m->label_count; i++)
			s->found(s->context, s->lowest + m->labels[i]);
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
			scan_words(s, &m->segments[i]);
	if (fits_in_32_bits(s))
		for (unsigned i = 0; i < m->text_count; i++)
			scan_immediates(s, &m->text[i]);
}

static void note_relocated(void *context, uint64_t where, uint64_t to)
{
	const struct pointer_scan *s = context;

	(void)where;
	s->found(s->context, to);
}

void swz_scan_pointers(struct swz_module *module,
		       void (*found)(void *context, uint64_t to), void *context)
{
	struct pointer_scan s = {
		.module = module, .found = found, .context = context};

	if (!module->load_bias)
		scan_fixed(&s);
	swz_pointers_relocated(module, note_relocated, &s);
}
