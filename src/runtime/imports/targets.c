/* Two questions are asked of code: may what an import leads to be called from a
 * thunk, and is the GOT entry used for calls only? Both look at bytes first,
 * and take what might be a jump or a reference for one: being wrong about that
 * only leaves a function alone. */

#include "runtime/imports/plan.h"

#include <string.h>

#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/scan.h"
#include "runtime/discovery/symbol_match.h"
#include "runtime/record/function_ids.h"
#include "runtime/support/scratch.h"

/* ---------------------------------------------- what the targets look like */

/* Where the search for what a target leads to is. */
struct search {
	const struct swz_module *module;
	const struct swz_party *party;
	uint64_t *places; /* to be looked at, and already seen */
	unsigned place_count;
};
#define MOST_PLACES 512u

/* The unwind entry of the function that begins there. */
static bool find_frame(const struct swz_module *m, uint64_t start,
		       struct swz_fde *fde)
{
	return swz_fde_at(&m->eh_frame, &m->eh_frame_header, start, fde) &&
	       fde->start == start;
}

static const char *name_of_slot(const struct swz_party *p, uint64_t slot)
{
	const struct swz_dynamic *d = &p->dynamic;
	const Elf64_Rela *tables[] = {d->jmprel, d->rela};
	uint64_t counts[] = {d->jmprel_count, d->rela_count};

	for (unsigned t = 0; t < 2; t++)
		for (uint64_t i = 0; i < counts[t]; i++)
			if (tables[t][i].r_offset == slot &&
			    swz_is_import(p, &tables[t][i]))
				return d->strings +
				       d->symbols[ELF64_R_SYM(
							  tables[t][i].r_info)]
					       .st_name;
	return NULL;
}

/* What a jump to this place, where no function begins, leads to: a PLT entry's
 * jump through the GOT, which may have been changed. */
static enum swz_refusal inspect_entry(const struct search *search, uint64_t at)
{
	const uint8_t *code = swz_module_bytes(search->module, at);
	const char *name;

	if (!swz_module_is_text(search->module, at, 16))
		return SWZ_PATCHED;
	for (unsigned i = 0; i < 8; i++) {
		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		name = name_of_slot(
			search->party,
			swz_module_relative(search->module, at + i + 2));
		return name && swz_refusal_by_name(name)
			       ? SWZ_REFUSE_TAIL_CALLS_READER
			       : SWZ_PATCHED;
	}
	return SWZ_PATCHED;
}

static bool add_place(struct search *search, uint64_t start)
{
	for (unsigned i = 0; i < search->place_count; i++)
		if (search->places[i] == start)
			return true;
	if (search->place_count == MOST_PLACES)
		return false;
	search->places[search->place_count++] = start;
	return true;
}

/* Where the bytes at `at` of the function lead to if they are a jump; 0: they
 * are none. */
static uint64_t jump_target(const uint8_t *code, const struct swz_function *f,
			    uint64_t at)
{
	int32_t wide;

	if (code[at] == 0xeb || (code[at] & 0xf0) == 0x70)
		return f->start + at + 2 +
		       (uint64_t)(int64_t)(int8_t)code[at + 1];
	if (code[at] == 0x0f && (code[at + 1] & 0xf0) == 0x80)
		at++;
	else if (code[at] != 0xe9)
		return 0;
	if (at + 5 > f->size)
		return 0;
	memcpy(&wide, code + at + 1, sizeof(wide));
	return f->start + at + 5 + (uint64_t)(int64_t)wide;
}

/* As for functions that are patched (scan.h). Every byte is taken for a
 * possible jump; where those lead outside are more places to look at. */
static enum swz_refusal inspect_place(struct search *search, uint64_t start,
				      bool jumped)
{
	struct swz_fde fde;
	struct swz_function f = {.start = start, .fde = &fde};
	struct swz_module m = *search->module;
	const uint8_t *code = swz_module_bytes(&m, start);

	if (!find_frame(&m, start, &fde))
		return jumped ? inspect_entry(search, start)
			      : SWZ_REFUSE_NO_STANDARD_FRAME;
	f.size = (uint32_t)fde.size;
	if (!swz_module_is_text(&m, start, f.size) ||
	    (!jumped && !swz_fde_is_function(&fde)))
		return SWZ_REFUSE_NO_STANDARD_FRAME;
	m.functions = &f;
	m.function_count = 1;
	m.page_count = 0; /* its index is one of all functions */
	swz_scan_return_slot(&m, &f, swz_import_decoder);
	if (f.reads_above)
		return SWZ_REFUSE_CALLEE_READS;
	/* it is not patched, so nothing in it is displaced */
	if (f.reads_own)
		swz_function_refuse(&f, SWZ_REFUSE_READS_RETURN_SLOT);
	if (f.status != SWZ_PATCHED)
		return jumped ? SWZ_REFUSE_TAIL_CALLS_READER : f.status;
	for (uint64_t i = 0; i + 2 <= f.size; i++) {
		uint64_t to = jump_target(code, &f, i);

		if (to && to - start >= f.size &&
		    swz_module_is_text(&m, to, 1) && !add_place(search, to))
			return SWZ_REFUSE_UNKNOWN_TARGET;
	}
	return SWZ_PATCHED;
}

/* Whether the function may be called from a thunk. */
static enum swz_refusal inspect_code(struct search *search, uint64_t start)
{
	search->place_count = 0;
	add_place(search, start);
	for (unsigned i = 0; i < search->place_count; i++) {
		enum swz_refusal refusal = inspect_place(
			search, search->places[i], i > 0);

		if (refusal != SWZ_PATCHED)
			return refusal;
	}
	return SWZ_PATCHED;
}

/* What an IFUNC's resolver may answer: the functions whose addresses it takes.
 */
static enum swz_refusal inspect_choices(struct search *search, uint64_t start)
{
	const struct swz_module *m = search->module;
	struct swz_fde fde, choice;
	bool any = false;

	if (!find_frame(m, start, &fde) ||
	    !swz_module_is_text(m, start, (unsigned)fde.size))
		return SWZ_REFUSE_UNKNOWN_TARGET;
	for (uint64_t at = start; at < start + fde.size;) {
		struct swz_bytes code = {swz_module_bytes(m, at),
					 start + fde.size - at};
		struct swz_insn insn;
		enum swz_refusal refusal;

		if (swz_decode(swz_import_decoder, code, at, &insn) != SWZ_OK)
			return SWZ_REFUSE_UNKNOWN_TARGET;
		at += insn.length;
		if (!insn.rip_relative || insn.displacement_at < 2 ||
		    code.data[insn.displacement_at - 2] != 0x8d /* lea */ ||
		    !find_frame(m, insn.target, &choice))
			continue;
		refusal = inspect_code(search, insn.target);
		if (refusal != SWZ_PATCHED)
			return refusal;
		any = true;
	}
	return any ? SWZ_PATCHED : SWZ_REFUSE_UNKNOWN_TARGET;
}

static enum swz_status inspect(uint32_t party)
{
	struct search search = {.module = swz_parties[party].module,
				.party = &swz_parties[party]};

	search.places = swz_scratch_alloc(MOST_PLACES * sizeof(uint64_t));
	if (!search.places)
		return SWZ_E_NOMEM;
	for (const struct swz_target_code *c = swz_target_codes; c;
	     c = c->next) {
		if (c->party != party || c->target->status != SWZ_PATCHED)
			continue;
		swz_import_refuse(&c->target->status,
				  c->is_resolver
					  ? inspect_choices(&search, c->address)
					  : inspect_code(&search, c->address));
	}
	return SWZ_OK;
}

/* What the user has named. */
static void filter(struct swz_target *t)
{
	if (swz_symbol_match_decides(SWZ_HIDE, t->name_marks))
		swz_import_refuse(&t->status, SWZ_REFUSE_FILTERED);
	if (swz_symbol_match_decides(SWZ_ONLY, t->name_marks))
		t->filter |= SWZ_FILTER_ONLY;
	if (swz_symbol_match_decides(SWZ_NOTRACE, t->name_marks))
		t->filter |= SWZ_FILTER_NOTRACE;
}

static void match(struct swz_target *t, const char *name, uint64_t address,
		  unsigned languages)
{
	swz_name_marks found = swz_symbol_match(name, address, languages);

	if (found)
		swz_symbol_match_note();
	t->name_marks |= found;
}

/* By the other names that the module has for what its functions begin with. */
static void match_in_party(uint32_t party)
{
	const struct swz_module *m = swz_parties[party].module;
	unsigned languages = swz_filter_languages(&m->file);
	struct swz_elf_symbols it;
	struct swz_elf_symbol s;

	if (!m->file.file.size ||
	    swz_elf_symbols_open(&it, &m->file, SHT_DYNSYM) != SWZ_OK)
		return;
	while (swz_elf_symbols_next(&it, &s)) {
		if (!swz_is_function_symbol(&s) ||
		    !swz_symbol_match(s.name, s.value, languages))
			continue;
		for (const struct swz_target_code *c = swz_target_codes; c;
		     c = c->next)
			if (c->party == party && c->address == s.value)
				match(c->target, s.name, s.value, languages);
	}
}

static enum swz_status filter_targets(void)
{
	if (!swz_symbol_match_is_wanted())
		return SWZ_OK;
	if (swz_symbol_match_begin() != SWZ_OK)
		return SWZ_E_NOMEM;
	for (struct swz_target *t = swz_targets; t; t = t->next)
		match(t, t->name, t->address, 0);
	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].module)
			match_in_party(i);
	for (struct swz_target *t = swz_targets; t; t = t->next)
		filter(t);
	swz_symbol_match_end();
	return SWZ_OK;
}

enum swz_status swz_imports_inspect(void)
{
	for (uint32_t i = 0; i < swz_party_count; i++) {
		bool wanted = false;

		for (const struct swz_target_code *c = swz_target_codes;
		     c && !wanted; c = c->next)
			wanted = c->party == i;
		if (wanted && swz_parties[i].module && inspect(i) != SWZ_OK)
			return SWZ_E_NOMEM;
		if (wanted && !swz_parties[i].module)
			for (struct swz_target_code *c = swz_target_codes; c;
			     c = c->next)
				if (c->party == i)
					swz_import_refuse(
						&c->target->status,
						SWZ_REFUSE_UNKNOWN_TARGET);
	}
	return filter_targets();
}

/* ---------------------------------------------------- taken function pointers
 */

/* The entries that pointers may be taken from, sorted by their place. */
struct pointers {
	const struct swz_party *party;
	struct swz_import **by_word; /* from `low` on */
	uint64_t low, words;
};

static void note_reference(const struct pointers *p, const uint8_t *at,
			   uint64_t end)
{
	int32_t displacement;
	uint64_t target;

	memcpy(&displacement, at, sizeof(displacement));
	target = end + (uint64_t)(int64_t)displacement;
	/* behind the displacement there may be an immediate */
	for (unsigned i = 0; i <= 4; i++, target++) {
		uint64_t word = (target - p->low) / 8;
		struct swz_import *import;

		if (i == 3 || target < p->low || (target - p->low) % 8 ||
		    word >= p->words)
			continue;
		import = p->by_word[word];
		if (!import)
			continue;
		if (i == 0 && at[-2] == 0xff &&
		    (at[-1] == 0x15 || at[-1] == 0x25))
			import->is_called = true;
		else
			swz_import_refuse(&import->status,
					  SWZ_REFUSE_ADDRESS_TAKEN);
	}
}

const uint8_t *swz_party_code(const struct swz_party *party,
			      const struct swz_range *range)
{
	const struct swz_module *m = party->module;

	if (!party->late)
		return swz_module_bytes(m, range->start);
	return swz_elf_bytes_at(&m->file, range->start,
				range->end - range->start)
		.data;
}

static void scan_references(const struct pointers *p,
			    const struct swz_range *text, const uint8_t *code)
{
	const struct swz_module *m = p->party->module;
	uint64_t size = text->end - text->start;
	uint64_t address = m->load_bias + text->start;
	uint64_t bytes = p->words * 8 + 4;

	for (uint64_t i = 2; i + 4 <= size; i++) {
		int32_t displacement;
		uint64_t target;

		memcpy(&displacement, code + i, sizeof(displacement));
		target = address + i + 4 + (uint64_t)(int64_t)displacement;
		if (target + 4 - p->low < bytes)
			note_reference(p, code + i, address + i + 4);
	}
}

enum swz_status swz_imports_find_taken(struct swz_party *party)
{
	struct pointers p = {.party = party, .low = UINT64_MAX};
	uint32_t index = (uint32_t)(party - swz_parties);
	uint64_t high = 0;
	struct swz_import *i;
	bool known = true;

	for (i = swz_imports; i; i = i->next) {
		if (i->party != index || !i->of_pointers)
			continue;
		if ((uintptr_t)i->slot < p.low)
			p.low = (uintptr_t)i->slot;
		if ((uintptr_t)i->slot > high)
			high = (uintptr_t)i->slot;
	}
	if (!high)
		return SWZ_OK;
	p.words = (high - p.low) / 8 + 1;
	p.by_word = swz_scratch_alloc(p.words * sizeof(void *));
	if (!p.by_word)
		return SWZ_E_NOMEM;
	for (i = swz_imports; i; i = i->next)
		if (i->party == index && i->of_pointers)
			p.by_word[((uintptr_t)i->slot - p.low) / 8] = i;
	for (unsigned t = 0; t < party->module->text_count; t++) {
		const struct swz_range *text = &party->module->text[t];
		const uint8_t *code = swz_party_code(party, text);

		known = known && code;
		if (code)
			scan_references(&p, text, code);
	}
	for (i = swz_imports; i; i = i->next)
		if (i->party == index && i->of_pointers &&
		    (!i->is_called || !known))
			swz_import_refuse(&i->status, SWZ_REFUSE_ADDRESS_TAKEN);
	return SWZ_OK;
}
