/* Lists what the modules import and decides what may be timed. Refusing too
 * much costs a row of the profile; refusing too little breaks the program. */

#include "runtime/imports/imports.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/module/loaded.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/relocate.h"

/* -------------------------------------------------------- what is imported */

/* The target of an entry is found as the linker would find it: the definition
 * of a symbol in the modules of its namespace, in their order. A function that
 * several import is one target, by its address. */

struct swz_party *swz_parties;
uint32_t swz_party_count;
struct swz_target *swz_targets;
struct swz_target_code *swz_target_codes;
struct swz_import *swz_imports;
struct swz_decoder *swz_import_decoder;
static struct swz_import **last_import;
static struct swz_target **target_table; /* by address and owner */
static uint32_t target_room;

static struct swz_party *party_of(const struct link_map *map)
{
	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].map == map)
			return &swz_parties[i];
	return NULL;
}

/* The modules of a namespace in the linker's order. */
struct scope {
	struct swz_party **list;
	uint32_t count;
};

static bool scope_of(const struct link_map *map, struct scope *scope)
{
	uint32_t count = 0;

	while (map->l_prev)
		map = map->l_prev;
	for (const struct link_map *m = map; m; m = m->l_next)
		count++;
	scope->list = swz_scratch_alloc(count * sizeof(void *));
	scope->count = 0;
	if (!scope->list)
		return false;
	for (; map; map = map->l_next) {
		struct swz_party *p = party_of(map);

		if (p && p->readable)
			scope->list[scope->count++] = p;
	}
	return true;
}

/* The first definition in the order of the list, which is that of lookup for
 * the modules of the start. Of two others only the linker knows which it takes.
 */
static const Elf64_Sym *look_up(const struct scope *scope,
				const struct swz_party *from, uint32_t symbol,
				struct swz_party **where)
{
	const Elf64_Sym *found = NULL;

	for (uint32_t i = 0; i < scope->count; i++) {
		struct swz_party *p = scope->list[i];
		const Elf64_Sym *s;

		s = swz_dynamic_find(&p->dynamic, &from->dynamic, symbol);
		if (!s)
			continue;
		if (found) {
			*where = NULL;
			return found;
		}
		found = s;
		*where = p;
		if (!p->late)
			break;
	}
	return found;
}

/* ---------------------------------------------------------------- targets */

static struct swz_target **target_place(uint64_t address, uint32_t owner)
{
	uint64_t at = (address * UINT64_C(0x9e3779b97f4a7c15) + owner) >> 20;

	for (;; at++) {
		struct swz_target **t = &target_table[at & (target_room - 1)];

		if (!*t || ((*t)->address == address && (*t)->owner == owner))
			return t;
	}
}

/* SWZ_PATCHED: nothing is known against functions of that name. */
static enum swz_refusal refusal_by_name(const char *name)
{
	if (swz_function_returns_twice(name))
		return SWZ_REFUSE_RETURNS_TWICE;
	if (swz_is_reader_name(name) || strncmp(name, "_Unwind_", 8) == 0)
		return SWZ_REFUSE_READS_RETURN_SLOT;
	return SWZ_PATCHED;
}

static struct swz_target_code *add_code(struct swz_target *t, uint32_t party,
					uint64_t address)
{
	struct swz_target_code *c = swz_scratch_alloc(sizeof(*c));

	if (!c)
		return NULL;
	c->target = t;
	c->party = party;
	c->address = address - swz_parties[party].dynamic.load_bias;
	c->next = swz_target_codes;
	swz_target_codes = c;
	return c;
}

static struct swz_target *target_of(struct swz_party *p, const Elf64_Sym *s,
				    uint32_t owner)
{
	uint64_t address = p->dynamic.load_bias + s->st_value;
	struct swz_target **place = target_place(address, owner), *t = *place;

	if (t)
		return t;
	t = swz_scratch_alloc(sizeof(*t));
	if (!t)
		return NULL;
	t->party = (uint32_t)(p - swz_parties);
	t->owner = owner;
	t->address = address;
	t->size = (uint32_t)s->st_size;
	t->name = p->dynamic.strings + s->st_name;
	t->is_ifunc = ELF64_ST_TYPE(s->st_info) == STT_GNU_IFUNC;
	t->next = swz_targets;
	swz_targets = t;
	*place = t;
	/* of an IFUNC it is the resolver, which nobody calls but the linker */
	if (!t->is_ifunc && !add_code(t, t->party, address))
		return NULL;
	return t;
}

/* --------------------------------------------------------------- importing */

static bool is_in_vdso(uint64_t address)
{
	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].map && address >= swz_parties[i].start &&
		    address < swz_parties[i].end)
			return !swz_parties[i].readable &&
			       !swz_parties[i].in_scope;
	return false;
}

/* True if the entry leads to the target, or will; adds the code of an IFUNC. */
static bool leads_to(const struct swz_party *from, struct swz_import *import,
		     struct swz_target *t)
{
	const struct swz_party *p = &swz_parties[t->party];
	uint64_t value = *import->slot;
	struct swz_target_code *c;

	import->lazy = swz_entry_is_lazy(from, import->relocation,
					 import->slot);
	if (!t->is_ifunc)
		return import->lazy || value == t->address;
	if (!import->lazy && is_in_vdso(value))
		return true;
	if (!import->lazy && (value < p->start || value >= p->end))
		return false;
	for (c = swz_target_codes; c; c = c->next)
		if (c->target == t && c->is_resolver == import->lazy)
			return true;
	c = add_code(t, t->party, import->lazy ? t->address : value);
	if (c)
		c->is_resolver = import->lazy;
	return c != NULL;
}

/* A function in scope is timed where it is entered; only if its code is such
 * that it cannot be patched, its calls are. */
static bool is_timed_itself(const struct swz_party *p, const Elf64_Sym *s)
{
	const struct swz_function *f = NULL;

	if (!p->in_scope)
		return false;
	if (p->flows_only)
		return swz_flow_function_find(p->dynamic.strings +
					      s->st_name) >= 0;
	if (p->module && p->module->functions &&
	    ELF64_ST_TYPE(s->st_info) == STT_FUNC)
		f = swz_function_at(p->module, s->st_value);
	if (!f || f->start != s->st_value)
		return true;
	return f->status != SWZ_REFUSE_TOO_SHORT &&
	       f->status != SWZ_REFUSE_BRANCH_INTO_SITE &&
	       f->status != SWZ_REFUSE_UNDECODABLE &&
	       f->status != SWZ_REFUSE_UNRELOCATABLE &&
	       f->status != SWZ_REFUSE_OUT_OF_REACH;
}

static bool add_import(struct swz_party *from, const struct scope *scope,
		       const Elf64_Rela *rela)
{
	uint32_t symbol = (uint32_t)ELF64_R_SYM(rela->r_info);
	uint32_t index = (uint32_t)(from - swz_parties);
	struct swz_party *where = NULL;
	struct swz_import *import;
	const Elf64_Sym *s = look_up(scope, from, symbol, &where);
	unsigned type = s ? ELF64_ST_TYPE(s->st_info) : STT_NOTYPE;
	enum swz_refusal refusal;
	const char *name = from->dynamic.strings +
			   from->dynamic.symbols[symbol].st_name;

	/* what _start jumps to, so to speak: main is called by nobody */
	if (strcmp(name, "__libc_start_main") == 0)
		return true;
	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    (where && (is_timed_itself(where, s) || where->untouchable)))
		return true;
	import = swz_scratch_alloc(sizeof(*import));
	if (!import)
		return false;
	import->party = index;
	import->name = name;
	import->slot = (uint64_t *)(from->dynamic.load_bias + rela->r_offset);
	import->relocation = (Elf64_Rela *)(uintptr_t)rela;
	import->of_pointers = ELF64_R_TYPE(rela->r_info) == R_X86_64_GLOB_DAT;
	*last_import = import;
	last_import = &import->next;
	from->slot_count++;
	if (!where) {
		swz_import_refuse(&import->status, SWZ_REFUSE_UNKNOWN_TARGET);
		return true;
	}
	import->target = target_of(where, s, from->late ? index : NOBODY);
	if (!import->target)
		return false;
	if (!leads_to(from, import, import->target))
		swz_import_refuse(&import->status, SWZ_REFUSE_UNKNOWN_TARGET);
	refusal = refusal_by_name(import->name);
	if (refusal == SWZ_PATCHED)
		refusal = refusal_by_name(import->target->name);
	swz_import_refuse(&import->target->status, refusal);
	return true;
}

/* True if the relocation is of a GOT entry of something with a name. */
static bool is_import(const struct swz_party *p, const Elf64_Rela *rela)
{
	uint32_t type = ELF64_R_TYPE(rela->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
	       p->dynamic.symbols[ELF64_R_SYM(rela->r_info)].st_name;
}

/* Notes a function whose address the module has in its data. */
static void note_address(struct swz_party *from, const struct scope *scope,
			 const Elf64_Rela *rela)
{
	struct swz_party *where = NULL;
	const Elf64_Sym *s = look_up(
		scope, from, (uint32_t)ELF64_R_SYM(rela->r_info), &where);
	struct swz_target *t = where ? *target_place(where->dynamic.load_bias +
							     s->st_value,
						     NOBODY)
				     : NULL;

	if (t)
		t->is_taken = true;
}

static enum swz_status note_addresses(struct swz_party *p)
{
	const struct swz_dynamic *d = &p->dynamic;
	struct scope scope;

	if (!scope_of(p->map, &scope))
		return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < d->rela_count; i++)
		if (ELF64_R_TYPE(d->rela[i].r_info) == R_X86_64_64 &&
		    d->symbols[ELF64_R_SYM(d->rela[i].r_info)].st_name)
			note_address(p, &scope, &d->rela[i]);
	return SWZ_OK;
}

static uint64_t count_of(const struct swz_party *p, const Elf64_Rela *table,
			 uint64_t count)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < count; i++)
		n += is_import(p, &table[i]);
	return n;
}

static uint64_t value_at(const struct swz_dynamic *d, const Elf64_Rela *r)
{
	uint64_t value;

	memcpy(&value, (const void *)(d->load_bias + r->r_offset), 8);
	return value;
}

/* By the first relocation that tells: of a GOT entry that is bound at once the
 * file has 0, of one that is bound lazily an address without the bias. */
bool swz_party_is_relocated(const struct swz_party *p)
{
	const struct swz_dynamic *d = &p->dynamic;

	for (uint64_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *r = &d->rela[i];

		if (ELF64_R_TYPE(r->r_info) == R_X86_64_RELATIVE)
			return value_at(d, r) ==
			       d->load_bias + (uint64_t)r->r_addend;
	}
	for (uint64_t i = 0; i < d->rela_count; i++)
		if (ELF64_R_TYPE(d->rela[i].r_info) == R_X86_64_GLOB_DAT &&
		    value_at(d, &d->rela[i]))
			return true;
	for (uint64_t i = 0; i < d->jmprel_count; i++)
		if (value_at(d, &d->jmprel[i]) >= d->load_bias)
			return true;
	return false;
}

static enum swz_status collect(struct swz_party *p)
{
	const struct swz_dynamic *d = &p->dynamic;
	struct scope scope;

	if (!scope_of(p->map, &scope))
		return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < d->jmprel_count; i++)
		if (is_import(p, &d->jmprel[i]) &&
		    !add_import(p, &scope, &d->jmprel[i]))
			return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < d->rela_count; i++)
		if (is_import(p, &d->rela[i]) &&
		    !add_import(p, &scope, &d->rela[i]))
			return SWZ_E_NOMEM;
	return SWZ_OK;
}

enum swz_status swz_imports_collect(void)
{
	uint64_t most = 0;
	enum swz_status status = SWZ_OK;

	last_import = &swz_imports;
	for (uint32_t i = 0; i < swz_party_count; i++) {
		struct swz_party *p = &swz_parties[i];

		if (p->fresh && p->importing)
			most += count_of(p, p->dynamic.rela,
					 p->dynamic.rela_count) +
				count_of(p, p->dynamic.jmprel,
					 p->dynamic.jmprel_count);
	}
	for (target_room = 64; target_room < 2 * most;)
		target_room *= 2;
	target_table = swz_scratch_alloc(target_room * sizeof(void *));
	swz_import_decoder = swz_decoder_new(swz_scratch_alloc);
	if (!target_table || !swz_import_decoder)
		return SWZ_E_NOMEM;
	for (uint32_t i = 0; i < swz_party_count && status == SWZ_OK; i++)
		if (swz_parties[i].fresh && swz_parties[i].importing)
			status = collect(&swz_parties[i]);
	for (uint32_t i = 0; i < swz_party_count && status == SWZ_OK; i++)
		if (swz_parties[i].fresh && swz_parties[i].readable &&
		    swz_config.imports_dlsym)
			status = note_addresses(&swz_parties[i]);
	return status;
}

/* ----------------------------------------- what may be called from a thunk */

/* Two questions are asked of code: may what an import leads to be called from a
 * thunk, and is the GOT entry used for calls only? Both look at bytes first,
 * and take what might be a jump or a reference for one: being wrong about that
 * only leaves a function alone. */

/* ---------------------------------------------- what the targets look like */

/* The state of a search for what a target leads to. */
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
			    is_import(p, &tables[t][i]))
				return d->strings +
				       d->symbols[ELF64_R_SYM(
							  tables[t][i].r_info)]
					       .st_name;
	return NULL;
}

/* Follows a jump to a place where no function begins: a PLT entry's jump
 * through the GOT, which may have been changed. */
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
		return name && refusal_by_name(name)
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

/* The target of the bytes at `at` of the function if they are a jump; 0: they
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

/* As for functions that are patched (code_flow.h). Every byte is taken for
 * a possible jump; where those lead outside are more places to look at. */
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

/* True if the function may be called from a thunk. */
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

/* Inspects the functions whose addresses an IFUNC's resolver takes: it may
 * answer with any of them. */
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

/* Applies the user's filters. */
static void filter(struct swz_target *t)
{
	if (swz_symbol_match_decides(SWZ_HIDE, t->name_marks))
		swz_import_refuse(&t->status, SWZ_REFUSE_FILTERED);
	if (swz_symbol_match_decides(SWZ_ONLY, t->name_marks))
		t->filter |= SWZ_FILTER_ONLY;
	if (swz_symbol_match_decides(SWZ_NOTRACE, t->name_marks))
		t->filter |= SWZ_FILTER_NOTRACE;
	if (swz_symbol_match_decides(SWZ_PERCENTILES, t->name_marks))
		t->filter |= SWZ_FILTER_PERCENTILES;
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
