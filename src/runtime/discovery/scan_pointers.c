#include "runtime/discovery/scan_pointers.h"

#include <string.h>

#include "runtime/discovery/distance_table.h"
#include "runtime/discovery/relocated_pointers.h"
#include "runtime/support/scratch.h"
#include "thunks/encoding.h"

struct pointer_scan {
	struct swz_module *module;
	void (*found)(void *context, uint64_t to);
	void *context;
	uint64_t lowest, text_bytes; /* of all texts */
};

/* Of a program at a fixed address. */
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

/* Whether a jump of ours may be there, but not begin there. */
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

/* Whether the bytes before `at` may be those of such an instruction, whose
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

/* Whether an instruction of its function has that there. */
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

/* What is at a distance from the function's label that stands in a table which
 * the function refers to: see swz_label_distances_read. */
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
