#include "runtime/discovery/references.h"

#include <string.h>

#include "runtime/discovery/operand.h"
#include "runtime/discovery/relocated_pointers.h"
#include "runtime/discovery/row_scan.h"
#include "runtime/support/scratch.h"
#include "thunks/encoding.h"

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

/* What the GOT's word leads to that the instruction before `next` refers to; 0:
 * nothing of the kind, or it refers to none. */
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

/* Of the two-byte opcodes: cmov, imul, movzx and their like set a general
 * register, most others vectors. */
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

/* What the instruction does with what is held, and what it makes held. */
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

/* Whether the byte at `i` may be the opcode of a direct call, or the ModRM byte
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
