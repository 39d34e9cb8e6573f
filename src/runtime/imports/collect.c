/* What an entry will lead to is found as the linker would find it: the
 * definition of a symbol in the modules of its namespace, in their order. A
 * function that several import is one target, by its address. */

#include "runtime/imports/plan.h"

#include <string.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/readers.h"
#include "runtime/record/flow_functions.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch.h"

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

enum swz_refusal swz_refusal_by_name(const char *name)
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

/* Whether the entry leads to the target, or will; adds the code of an IFUNC. */
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
	refusal = swz_refusal_by_name(import->name);
	if (refusal == SWZ_PATCHED)
		refusal = swz_refusal_by_name(import->target->name);
	swz_import_refuse(&import->target->status, refusal);
	return true;
}

bool swz_is_import(const struct swz_party *p, const Elf64_Rela *rela)
{
	uint32_t type = ELF64_R_TYPE(rela->r_info);

	return (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) &&
	       p->dynamic.symbols[ELF64_R_SYM(rela->r_info)].st_name;
}

/* What the module has the address of in its data. */
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
		n += swz_is_import(p, &table[i]);
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
		if (swz_is_import(p, &d->jmprel[i]) &&
		    !add_import(p, &scope, &d->jmprel[i]))
			return SWZ_E_NOMEM;
	for (uint64_t i = 0; i < d->rela_count; i++)
		if (swz_is_import(p, &d->rela[i]) &&
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
