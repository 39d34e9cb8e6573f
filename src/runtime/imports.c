/* A GOT entry is led to a stub, which is a trampoline whose body is a jump
 * through a word of ours, the *target*. What the GOT entry held goes there.
 *
 * An entry that is bound lazily holds the way to the dynamic linker, which then
 * stores the function's address at the place that the relocation names. So the
 * relocation is changed, too: it names the target instead. The GOT entry is
 * written once, by us, and stays as it is; no other thread ever sees it change.
 * Libraries that come later are not relocated yet when we see them: with their
 * relocations changed, the linker puts all addresses into the targets.
 *
 * Nothing is bound by us. What an entry will lead to is looked up (bind.h) to
 * know its name, and whether it may be called from a thunk.
 *
 * A function pointer that the program takes from its GOT must stay what it is,
 * for it may be compared. So an entry of the kind that pointers are taken from
 * is only changed if all instructions that refer to it are calls and jumps. */

#include "runtime/imports.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/config.h"
#include "runtime/file.h"
#include "runtime/function.h"
#include "runtime/import_plan.h"
#include "runtime/message.h"
#include "runtime/readers.h"
#include "runtime/scratch.h"

#define MOST_MODULES (1u << 16)

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

/* ------------------------------------------------- what is kept for good */

struct swz_party *swz_parties; /* room for MOST_MODULES */
uint32_t swz_party_count;

/* ------------------------------------------------------- what is planned */

struct swz_target *swz_targets;
struct swz_target_code *swz_target_codes;
struct swz_import *swz_imports;
static struct swz_import **last_import;
static struct swz_target **target_table; /* by address and owner */
static uint32_t target_room;
struct swz_decoder *swz_import_decoder;

/* ------------------------------------------------------------- looking up */

static bool is_untouchable(const struct link_map *map)
{
	return map->l_ld == _DYNAMIC || map->l_addr == _r_debug.r_ldbase;
}

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
	if (swz_is_reader_name(name) || strncmp(name, "_Unwind_", 8) == 0 ||
	    strcmp(name, "mcount") == 0 || strcmp(name, "_mcount") == 0 ||
	    strcmp(name, "__fentry__") == 0)
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

	if (from->late) {
		import->lazy = true;
	} else if (!import->of_pointers && value >= from->start &&
		   value < from->end) {
		import->lazy = true; /* its own PLT entry */
	}
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

static uint64_t count_of(const struct swz_party *p, const Elf64_Rela *table,
			 uint64_t count)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < count; i++)
		n += swz_is_import(p, &table[i]);
	return n;
}

/* The first relocation that would tell: the linker has not come here yet. */
static bool is_relocated(const struct swz_party *p)
{
	const struct swz_dynamic *d = &p->dynamic;

	for (uint64_t i = 0; i < d->rela_count; i++) {
		const Elf64_Rela *r = &d->rela[i];
		uint64_t value;

		if (ELF64_R_TYPE(r->r_info) != R_X86_64_RELATIVE)
			continue;
		memcpy(&value, (const void *)(d->load_bias + r->r_offset), 8);
		return value == d->load_bias + (uint64_t)r->r_addend;
	}
	for (uint64_t i = 0; i < d->jmprel_count; i++) {
		uint64_t value;

		memcpy(&value,
		       (const void *)(d->load_bias + d->jmprel[i].r_offset), 8);
		if (value >= d->load_bias)
			return true;
	}
	return false;
}

static enum swz_status collect(struct swz_party *p)
{
	const struct swz_dynamic *d = &p->dynamic;
	struct scope scope;

	if (p->late && is_relocated(p)) {
		p->importing = false;
		return SWZ_OK;
	}
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

/* ------------------------------------------------------------------- ids */

static enum swz_status number_targets(void)
{
	uint32_t count = 0, id;

	for (const struct swz_target *t = swz_targets; t; t = t->next)
		count++;
	id = count ? swz_plan_take_ids(count) : 0;
	if (count && !id)
		return SWZ_E_NOMEM;
	for (uint32_t i = 0; i < swz_party_count; i++)
		for (struct swz_target *t = swz_targets; t; t = t->next)
			if (t->party == i)
				t->id = id++;
	return SWZ_OK;
}

static void note_results(void)
{
	for (uint32_t i = 0; i < swz_party_count; i++)
		swz_parties[i].timed = 0;
	for (const struct swz_import *i = swz_imports; i; i = i->next) {
		if (i->target && !swz_import_is_timed(i) &&
		    !i->target->slot_status)
			i->target->slot_status = i->status;
		if (!i->target || !swz_import_is_timed(i))
			continue;
		swz_parties[i->party].timed++;
		i->target->any_timed = true;
	}
	for (struct swz_target *t = swz_targets; t; t = t->next)
		if (!t->any_timed)
			swz_import_refuse(&t->status, t->slot_status);
}

/* --------------------------------------------------------------- planning */

void swz_imports_forget(void)
{
	swz_targets = NULL;
	swz_target_codes = NULL;
	swz_imports = NULL;
	last_import = &swz_imports;
	swz_import_decoder = NULL;
	for (uint32_t i = 0; i < swz_party_count; i++) {
		swz_parties[i].module = NULL;
		swz_parties[i].fresh = false;
	}
}

static enum swz_status plan(void)
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
	return status;
}

/* With the modules that hold targets at hand. */
static enum swz_status decide(void)
{
	enum swz_status status = swz_imports_inspect();

	for (uint32_t i = 0; i < swz_party_count && status == SWZ_OK; i++)
		if (swz_parties[i].fresh && swz_parties[i].importing)
			status = swz_imports_find_taken(&swz_parties[i]);
	if (status == SWZ_OK)
		status = number_targets();
	if (status != SWZ_OK)
		return status;
	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].fresh && swz_parties[i].importing)
			swz_stubs_write(&swz_parties[i]);
	note_results();
	return SWZ_OK;
}

static bool has_room(void)
{
	if (!swz_parties)
		swz_parties = swz_sys_mmap(
			NULL, MOST_MODULES * sizeof(*swz_parties),
			PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return swz_parties && swz_party_count < MOST_MODULES;
}

static void add_party(const struct link_map *map, const struct swz_module *m,
		      uint32_t index)
{
	struct swz_party *p = &swz_parties[index];

	memset(p, 0, sizeof(*p));
	if (index >= swz_party_count)
		swz_party_count = index + 1;
	p->map = map;
	p->start = m->start;
	p->end = m->end;
	p->readable = swz_dynamic_read(map->l_addr, map->l_ld, &p->dynamic);
	p->untouchable = is_untouchable(map);
	p->in_scope = m->in_scope;
	p->late = m->late;
	p->importing = p->readable && m->in_scope && m->text_count &&
		       !m->foreign_runtime && !m->unwinder_unserved;
	p->fresh = true;
}

static const struct link_map *map_of(const struct swz_module *m)
{
	for (const struct link_map *map = _r_debug.r_map; map;
	     map = map->l_next)
		if ((uintptr_t)map->l_ld >= m->start &&
		    (uintptr_t)map->l_ld < m->end)
			return map;
	return NULL;
}

enum swz_status swz_imports_plan(struct swz_plan *start)
{
	enum swz_status status;

	if (!swz_config.imports)
		return SWZ_OK;
	if (!has_room() || start->module_count > MOST_MODULES)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < start->module_count; i++) {
		struct swz_module *m = &start->modules[i];
		const struct link_map *map = map_of(m);

		if (map)
			add_party(map, m, i);
		else if (i >= swz_party_count)
			swz_party_count = i + 1;
		swz_parties[i].module = m;
	}
	status = plan();
	return status == SWZ_OK ? decide() : status;
}

void swz_imports_apply(void)
{
	for (uint32_t i = 0; i < swz_party_count; i++) {
		struct swz_party *p = &swz_parties[i];

		if (!p->fresh || !p->stubs || swz_stubs_apply(p))
			continue;
		swz_stubs_free(p);
		swz_imports_refuse_all(p, SWZ_REFUSE_UNWRITABLE);
		for (struct swz_target *t = swz_targets; t; t = t->next)
			t->any_timed = false;
		note_results();
	}
}

/* -------------------------------------------------------------- recording */

static enum swz_status record_names(uint32_t party)
{
	struct swz_chunk *chunk;
	uint64_t bytes = sizeof(uint32_t);
	uint32_t count = 0, first = 0;
	char *to;

	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		if (t->party != party)
			continue;
		bytes += strlen(t->name) + 1;
		if (!count++)
			first = t->id;
	}
	if (!count)
		return SWZ_OK;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_NAMES, bytes, count, party);
	if (!chunk)
		return SWZ_E_NOMEM;
	to = (char *)(chunk + 1);
	memcpy(to, &first, sizeof(first));
	to += sizeof(first);
	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		size_t length = t->party == party ? strlen(t->name) + 1 : 0;

		memcpy(to, t->name, length);
		to += length;
	}
	swz_chunk_publish(chunk);
	return SWZ_OK;
}

static enum swz_status record_party(uint32_t party)
{
	struct swz_function_record *record;
	struct swz_chunk *chunk;
	uint32_t count = 0;

	for (const struct swz_target *t = swz_targets; t; t = t->next)
		count += t->party == party;
	if (!count)
		return SWZ_OK;
	chunk = swz_chunk_take(swz_file, SWZ_CHUNK_FUNCTIONS,
			       (uint64_t)count * sizeof(*record), count, party);
	if (!chunk)
		return SWZ_E_NOMEM;
	record = (struct swz_function_record *)(chunk + 1);
	for (const struct swz_target *t = swz_targets; t; t = t->next) {
		if (t->party != party)
			continue;
		record->address =
			(uint32_t)(t->address -
				   swz_parties[party].dynamic.load_bias);
		record->size = t->size;
		record->status = t->status;
		record->flags = SWZ_FUNCTION_IMPORT;
		record->id = t->id;
		record++;
	}
	swz_chunk_publish(chunk);
	return record_names(party);
}

enum swz_status swz_imports_record(void)
{
	enum swz_status status = SWZ_OK;

	for (uint32_t i = 0; i < swz_party_count && status == SWZ_OK; i++)
		status = record_party(i);
	for (const struct swz_target *t = swz_targets; t; t = t->next)
		swz_plan_set_filter(t->id, t->filter);
	return status;
}

/* --------------------------------------------------------------- printing */

static const char *const refusal_text[] = {
#define X(symbol, text) text,
	SWZ_REFUSALS(X)
#undef X
};

static enum swz_refusal reason_of(const struct swz_import *i)
{
	return i->target && i->target->status != SWZ_PATCHED
		       ? (enum swz_refusal)i->target->status
		       : (enum swz_refusal)i->status;
}

static void print_import(const struct swz_import *i)
{
	struct swz_line line;

	swz_line_start(&line);
	swz_line_string(&line, "        ");
	swz_line_string(&line, swz_import_is_timed(i)
				       ? "timed"
				       : refusal_text[reason_of(i)]);
	swz_line_column(&line, 56);
	swz_line_string(&line, i->name);
	swz_line_write(&line, 1);
}

void swz_imports_print(const struct swz_module *m)
{
	uint32_t counts[SWZ_REFUSAL_COUNT] = {0};
	const struct swz_party *p = NULL;
	struct swz_line line;

	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].module == m)
			p = &swz_parties[i];
	if (!p || !p->importing)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "    imports  ");
	swz_line_number(&line, p->slot_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->timed);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->slot_count - p->timed);
	swz_line_write(&line, 1);
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		if (&swz_parties[i->party] == p && !swz_import_is_timed(i))
			counts[reason_of(i)]++;
	for (unsigned i = SWZ_PATCHED + 1; i < SWZ_REFUSAL_COUNT; i++) {
		if (!counts[i])
			continue;
		swz_line_start(&line);
		swz_line_string(&line, "        ");
		swz_line_number(&line, counts[i]);
		swz_line_column(&line, 14);
		swz_line_string(&line, refusal_text[i]);
		swz_line_write(&line, 1);
	}
	for (const struct swz_import *i = swz_imports; i && swz_config.verbose;
	     i = i->next)
		if (&swz_parties[i->party] == p)
			print_import(i);
}

/* ---------------------------------------------- libraries that come later */

void swz_imports_arrive(const struct link_map *map, const struct swz_module *m,
			uint32_t index)
{
	if (swz_config.imports && swz_parties && index < MOST_MODULES)
		add_party(map, m, index);
}

static struct swz_party *late_party(uint32_t index)
{
	return swz_config.imports && swz_parties && index < swz_party_count
		       ? &swz_parties[index]
		       : NULL;
}

/* The modules that hold targets, or import, described again. */
static void describe_parties(void)
{
	for (uint32_t i = 0; i < swz_party_count; i++) {
		struct swz_party *p = &swz_parties[i];
		bool wanted = p->fresh && p->importing;
		struct swz_module *m;

		for (const struct swz_target_code *c = swz_target_codes;
		     c && !wanted; c = c->next)
			wanted = c->party == i;
		m = wanted && p->map ? swz_scratch_alloc(sizeof(*m)) : NULL;
		if (!m || !swz_module_describe(m, p->map) ||
		    swz_module_open(m) != SWZ_OK)
			continue;
		m->late = p->late;
		p->module = m;
	}
}

static void close_modules(void)
{
	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].module)
			swz_module_close(swz_parties[i].module);
}

void swz_imports_bind(void)
{
	bool any = false;

	for (uint32_t i = 0; i < swz_party_count; i++)
		any |= swz_parties[i].fresh && swz_parties[i].importing;
	if (!any)
		return;
	if (plan() == SWZ_OK) {
		describe_parties();
		for (uint32_t i = 0; i < swz_party_count; i++) {
			struct swz_party *p = &swz_parties[i];

			if (!p->fresh || !p->importing || p->module)
				continue;
			swz_imports_refuse_all(p, SWZ_REFUSE_UNKNOWN_TARGET);
			p->importing = false;
		}
		/* of what is not in the profile nothing must be recorded */
		if (decide() == SWZ_OK && swz_imports_record() == SWZ_OK)
			swz_imports_apply();
	}
	close_modules();
	swz_imports_forget();
}

void swz_imports_leave(uint32_t index)
{
	struct swz_party *p = late_party(index);

	if (p)
		p->map = NULL;
}

void swz_imports_return(const struct link_map *map, struct swz_module *m,
			uint32_t index)
{
	struct swz_party *p = late_party(index);

	if (!p)
		return;
	p->map = map;
	p->readable = swz_dynamic_read(map->l_addr, map->l_ld, &p->dynamic);
	p->module = m;
	if (p->readable && p->stubs && !is_relocated(p))
		swz_stubs_apply(p);
	p->module = NULL;
}

void swz_imports_drop(uint32_t index)
{
	struct swz_party *p = late_party(index);

	if (p)
		swz_stubs_free(p);
}
