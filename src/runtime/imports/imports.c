#include "runtime/imports/imports.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>

#include "base/printable.h"
#include "base/syscall.h"
#include "runtime/module/module.h"
#include "runtime/record/annotations.h"
#include "runtime/record/record_file.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"

/* ------------------------------------------------------------- the profile */

/* An imported function is described with the module that it lies in; its name,
 * as that one's dynamic symbols have it, stands in a chunk of names. */

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
		swz_ids_set_filter(t->id, t->filter);
	return status;
}

/* ------------------------------------------------------------------ --list */

static enum swz_refusal reason_of(const struct swz_import *i)
{
	return i->target && i->target->status != SWZ_PATCHED
		       ? (enum swz_refusal)i->target->status
		       : (enum swz_refusal)i->status;
}

static void print_import(const struct swz_import *i)
{
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, "        ");
	swz_line_string(&line, swz_import_is_timed(i)
				       ? "timed"
				       : swz_refusal_text(reason_of(i)));
	swz_line_column(&line, 56);
	swz_line_string(&line, i->name);
	swz_line_list(&line);
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
	swz_line_start_listed(&line);
	swz_line_string(&line, "    imports  ");
	swz_line_number(&line, p->slot_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->timed);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->slot_count - p->timed);
	swz_line_list(&line);
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		if (&swz_parties[i->party] == p && !swz_import_is_timed(i))
			counts[reason_of(i)]++;
	swz_refusals_print(counts, SWZ_PATCHED, "        ");
	for (const struct swz_import *i = swz_imports; i && swz_config.verbose;
	     i = i->next)
		if (&swz_parties[i->party] == p)
			print_import(i);
}

/* ----------------------------------------------------- modules come and go */

/* A GOT entry is led to a stub, which is a trampoline whose body is a jump
 * through a word of ours, the *target*. What the GOT entry held goes there.
 *
 * An entry that is bound lazily holds the way to the dynamic linker, which then
 * stores the function's address at the place that the relocation names. So the
 * relocation is changed, too: it names the target instead. The GOT entry is
 * written once, by us, and stays as it is; no other thread ever sees it change.
 * Libraries that come later may not be relocated yet when we see them (glibc
 * before 2.41): with their relocations changed, the linker puts all addresses
 * into the targets.
 *
 * Nothing is bound by us. What an entry will lead to is looked up (loaded.h) to
 * know its name, and whether it may be called from a thunk.
 *
 * A function pointer that the program takes from its GOT must stay what it is,
 * for it may be compared. So an entry of the kind that pointers are taken from
 * is only changed if all instructions that refer to it are calls and jumps. */

#define MOST_MODULES (1u << 16)

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));

void swz_imports_forget(void)
{
	swz_targets = NULL;
	swz_target_codes = NULL;
	swz_imports = NULL;
	swz_import_decoder = NULL;
	for (uint32_t i = 0; i < swz_party_count; i++) {
		swz_parties[i].module = NULL;
		swz_parties[i].fresh = false;
	}
}

static enum swz_status number_targets(void)
{
	uint32_t count = 0, id;

	for (const struct swz_target *t = swz_targets; t; t = t->next)
		count++;
	id = count ? swz_ids_take(count) : 0;
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

static bool is_untouchable(const struct link_map *map)
{
	return map->l_ld == _DYNAMIC || map->l_addr == _r_debug.r_ldbase;
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
	p->near = m->near;
	/* A program at a fixed address may map over what is near it. A stub is
	 * reached by a word of the GOT, and need not be near. */
	if (swz_config.at_fixed_address && m->near.end < UINT64_C(4) << 30)
		p->near = (struct swz_range){(uintptr_t)&swz_imports,
					     (uintptr_t)(&swz_imports + 1)};
	p->readable = swz_dynamic_read(map->l_addr, map->l_ld, &p->dynamic);
	p->untouchable = is_untouchable(map);
	p->in_scope = m->in_scope;
	p->flows_only = m->flows_only;
	p->late = m->late;
	p->relocated = !m->late || (p->readable && swz_party_is_relocated(p));
	p->importing = p->readable && m->in_scope && !m->flows_only &&
		       m->text_count && !m->foreign_runtime &&
		       !m->unwinder_unserved;
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

enum swz_status swz_imports_plan(struct swz_modules *modules)
{
	enum swz_status status;

	if (!swz_config.imports)
		return SWZ_OK;
	if (!has_room() || modules->count > MOST_MODULES)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < modules->count; i++) {
		struct swz_module *m = &modules->of[i];
		const struct link_map *map = map_of(m);

		if (map)
			add_party(map, m, i);
		else if (i >= swz_party_count)
			swz_party_count = i + 1;
		swz_parties[i].module = m;
	}
	status = swz_imports_collect();
	if (status == SWZ_OK)
		status = decide();
	if (status == SWZ_OK && swz_config.imports_dlsym)
		swz_pointers_write();
	return status;
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
	if (swz_imports_collect() == SWZ_OK) {
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
	if (p->readable)
		p->relocated = swz_party_is_relocated(p);
	if (p->readable && p->stubs)
		swz_stubs_apply(p);
	p->module = NULL;
}

void swz_imports_drop(uint32_t index)
{
	struct swz_party *p = late_party(index);

	if (p)
		swz_stubs_free(p);
}
