#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/hooks/hooks.h"
#include "runtime/imports/imports.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/maps.h"

/* ------------------------------------------ calls through pointers (dlsym) */

/* --imports=dlsym: calls through pointers.
 *
 * What a module of the start imports, and what is timed, gets one stub more,
 * which jumps to the function itself. Where a module in scope calls dlsym, its
 * GOT entry leads to a wrapper (asm/x86_64/wrappers.S), which returns that
 * stub in place of the function, always the same one.
 *
 * A stub is another pointer than the function's. So functions whose address any
 * module of the start has by another way, as data, keep the pointer they have:
 * the program may compare them. */

/* -------------------------------------------------------- asking for them */

void swz_wrap_dlsym(void);
uint64_t swz_pointer_of(uint64_t function);

/* With --imports=dlsym: true if this is how a module calls it. */
static bool import_asks(const struct swz_import *i)
{
	return swz_config.imports_dlsym && i->target &&
	       i->status == SWZ_PATCHED &&
	       i->target->status == SWZ_REFUSE_READS_RETURN_SLOT &&
	       (strcmp(i->target->name, "dlsym") == 0 ||
		strcmp(i->target->name, "dlvsym") == 0);
}

/* True if an unwinder understands this `ret`, to which it comes back, as it
 * were. It goes by the byte before, in the midst of a call. With a CFA of rsp
 * + 8 that frame's return address is the next word, which leads to the
 * wrapper. With rsp + 16 it is the one above, the caller's; no register may be
 * taken for restored from the other. */
static bool is_understood(const struct swz_fde *fde, const uint8_t *code,
			  uint64_t at)
{
	static const uint8_t drop[] = {0x48, 0x83, 0xc4, 8}; /* add to rsp */
	struct swz_cfi_row row = {0};

	if (!swz_cfi_row_at(fde, fde->start + at - 1, &row) ||
	    row.cfa_base != SWZ_CFA_RSP || !row.return_at_cfa_minus_8)
		return false;
	return row.cfa_offset == 8 ||
	       (row.cfa_offset == 16 &&
		memcmp(code + at - sizeof(drop), drop, sizeof(drop)) == 0);
}

/* Not where a jump to a trampoline may come to lie, or an island (islands.c):
 * endbr64 and the 15 bytes behind it. */
#define FIRST_RETURN 19u

static const uint8_t *return_in(const struct swz_party *p,
				const struct swz_fde *fde)
{
	const struct swz_range range = {fde->start, fde->start + fde->size};
	const uint8_t *code = swz_party_code(p, &range);

	for (uint64_t at = 0; code && at < fde->size;) {
		struct swz_bytes rest = {code + at, fde->size - at};
		struct swz_insn insn;

		if (swz_decode(swz_import_decoder, rest, fde->start + at,
			       &insn) != SWZ_OK)
			return NULL;
		if (at >= FIRST_RETURN && code[at] == 0xc3 &&
		    is_understood(fde, code, at))
			return swz_module_bytes(p->module, fde->start + at);
		at += insn.length;
	}
	return NULL;
}

/* Functions that are looked at: nearly any will do. */
#define MOST_FUNCTIONS 1000u
#define MOST_BYTES 512u

static const uint8_t *find_return(const struct swz_party *p)
{
	const struct swz_module *m = p->module;
	const uint8_t *found = NULL;
	struct swz_fde_iterator it;
	unsigned left = MOST_FUNCTIONS;
	struct swz_fde fde;

	swz_fde_begin(&it, &m->eh_frame);
	while (!found && left && swz_fde_next(&it, &fde)) {
		if (fde.size <= FIRST_RETURN || fde.size > MOST_BYTES ||
		    fde.signal_frame ||
		    !swz_module_is_text(m, fde.start, (unsigned)fde.size))
			continue;
		left--;
		found = return_in(p, &fde);
	}
	return found;
}

/* How dlsym is to come to us. False: it cannot. */
static bool dlsym_way_find(struct swz_party *p, struct swz_dlsym_way *way)
{
	way->start = p->start;
	way->end = p->end;
	way->return_at = find_return(p);
	way->wrapper.entry = swz_wrap_dlsym;
	way->wrapper.data = way;
	return way->return_at != NULL;
}

/* ------------------------------------------------------- what is answered */

/* Written before the program runs, and never again. */
static struct pointer {
	uint64_t function;
	uint64_t stub;
} * pointer_table;
static uint64_t mask;

static struct pointer *place_of(uint64_t function)
{
	uint64_t at = (function * UINT64_C(0x9e3779b97f4a7c15)) >> 20;

	for (;; at++) {
		struct pointer *p = &pointer_table[at & mask];

		if (!p->function || p->function == function)
			return p;
	}
}

/* Called by the wrapper: what it is to return in place of that. */
uint64_t swz_pointer_of(uint64_t function)
{
	const struct pointer *p = pointer_table ? place_of(function) : NULL;

	return p && p->stub ? p->stub : function;
}

/* The function's address; that of an IFUNC is what it has been bound to. 0:
 * not known. */
static uint64_t address_of(const struct swz_import *i)
{
	if (!swz_import_is_timed(i) || i->target->owner != NOBODY ||
	    i->target->is_taken)
		return 0;
	if (!i->target->is_ifunc)
		return i->target->address;
	return i->lazy ? 0 : *i->slot;
}

static void note_taken(void)
{
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		if (i->target && i->status == SWZ_REFUSE_ADDRESS_TAKEN)
			i->target->is_taken = true;
}

static enum swz_status write_stubs(struct swz_trampolines *region,
				   uint64_t *words)
{
	for (const struct swz_import *i = swz_imports; i; i = i->next) {
		uint64_t address = address_of(i);
		struct pointer *p = address ? place_of(address) : NULL;

		if (!p || p->function)
			continue;
		*words = address;
		p->function = address;
		p->stub = (uintptr_t)swz_trampoline_write_jump(
			region, i->target->id, words++);
	}
	return swz_trampolines_seal(region);
}

static void forget(void)
{
	swz_sys_munmap(pointer_table, (mask + 1) * sizeof(*pointer_table));
	pointer_table = NULL;
}

void swz_pointers_write(void)
{
	const struct swz_party *first = &swz_parties[0];
	struct swz_trampolines region;
	uint64_t count = 0, room = 256;
	uint64_t *words;
	size_t bytes;

	note_taken();
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		count += address_of(i) != 0;
	while (room < 2 * count)
		room *= 2;
	if (!count || !first->map)
		return;
	pointer_table = swz_sys_mmap(NULL, room * sizeof(*pointer_table),
				     PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!pointer_table)
		return;
	mask = room - 1;
	if (swz_trampolines_open(
		    &region, first->near.start, first->near.end,
		    (uint32_t)count,
		    swz_scratch_alloc(swz_unwind_table_bytes((uint32_t)count)),
		    swz_hooks_choose()) != SWZ_OK) {
		forget();
		return;
	}
	bytes = (count * sizeof(*words) + 4095) & ~(size_t)4095;
	words = swz_near_map((uintptr_t)region.start,
			     (uintptr_t)region.start + region.bytes, bytes);
	if (!words || write_stubs(&region, words) != SWZ_OK) {
		if (words)
			swz_near_unmap(words, bytes);
		swz_trampolines_close(&region);
		forget();
		return;
	}
	swz_sys_mprotect(words, bytes, PROT_READ);
	swz_sys_mprotect(pointer_table, room * sizeof(*pointer_table),
			 PROT_READ);
}

/* --------------------------------------------------- stubs and GOT entries */

/* The memory that --imports changes: stubs and the words that they jump
 * through, GOT entries, and relocations. */

/* ------------------------------------------------------------------ stubs */

static const ElfW(Phdr) *
	segment_of(const struct swz_module *m, const void *where)
{
	uint64_t address = (uintptr_t)where - m->load_bias;

	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD && address >= s->p_vaddr &&
		    address + 8 <= s->p_vaddr + s->p_memsz)
			return s;
	}
	return NULL;
}

static void refuse_misplaced(struct swz_import *i)
{
	const struct swz_module *m = swz_parties[i->party].module;
	const ElfW(Phdr) *s = segment_of(m, i->slot);

	if (!s || !(s->p_flags & PF_W) || (uintptr_t)i->slot % 8 ||
	    !segment_of(m, i->relocation))
		swz_import_refuse(&i->status, SWZ_REFUSE_UNWRITABLE);
}

void swz_stubs_free(struct swz_party *p)
{
	struct swz_stubs *s = p->stubs;

	p->stubs = NULL;
	if (!s)
		return;
	swz_trampolines_close(&s->region);
	if (s->words)
		swz_sys_munmap(s->words, s->target_bytes);
	swz_sys_munmap(s, s->bytes);
}

static bool open_stubs(struct swz_party *p, uint32_t count)
{
	size_t bytes = swz_page_up(sizeof(struct swz_stubs) +
				   count * sizeof(struct swz_import_site));
	struct swz_stubs *s = swz_sys_mmap(NULL, bytes, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t start;

	p->stubs = s;
	if (!s)
		return false;
	s->bytes = bytes;
	if (swz_trampolines_open(
		    &s->region, p->near.start, p->near.end, count,
		    swz_scratch_alloc(swz_unwind_table_bytes(count)),
		    swz_hooks_choose()) != SWZ_OK)
		return false;
	s->target_bytes = swz_page_up(count * sizeof(uint64_t));
	start = (uintptr_t)s->region.start;
	s->words = swz_near_map(start, start + s->region.bytes,
				s->target_bytes);
	return s->words != NULL;
}

void swz_imports_refuse_all(const struct swz_party *p, enum swz_refusal reason)
{
	for (struct swz_import *i = swz_imports; i; i = i->next)
		if (&swz_parties[i->party] == p)
			swz_import_refuse(&i->status, reason);
}

static uint64_t write_stub(struct swz_party *p, const struct swz_import *i,
			   const uint64_t *target)
{
	struct swz_stubs *s = p->stubs;

	if (!import_asks(i))
		return (uintptr_t)swz_trampoline_write_jump(
			&s->region, i->target->id, target);
	if (!s->dlsym.return_at && !dlsym_way_find(p, &s->dlsym))
		return 0;
	return (uintptr_t)swz_trampoline_write_wrapper(
		&s->region, &s->dlsym.wrapper, target);
}

void swz_stubs_write(struct swz_party *p)
{
	uint32_t index = (uint32_t)(p - swz_parties), count = 0;
	struct swz_import *i;
	struct swz_stubs *s;

	for (i = swz_imports; i; i = i->next) {
		if (i->party != index)
			continue;
		refuse_misplaced(i);
		count += swz_import_is_timed(i) || import_asks(i);
	}
	if (!count)
		return;
	if (!open_stubs(p, count)) {
		swz_stubs_free(p);
		swz_imports_refuse_all(p, SWZ_REFUSE_OUT_OF_REACH);
		return;
	}
	s = p->stubs;
	for (i = swz_imports; i; i = i->next) {
		struct swz_import_site *site = &s->sites[s->count];

		if (i->party != index ||
		    !(swz_import_is_timed(i) || import_asks(i)))
			continue;
		site->slot = i->slot;
		site->relocation = i->relocation;
		site->target = (uint64_t *)s->words + s->count;
		site->stub = write_stub(p, i, site->target);
		if (site->stub)
			s->count++;
		else
			swz_import_refuse(&i->status, SWZ_REFUSE_OUT_OF_REACH);
	}
	if (swz_trampolines_seal(&s->region) != SWZ_OK) {
		swz_stubs_free(p);
		swz_imports_refuse_all(p, SWZ_REFUSE_UNWRITABLE);
	}
}

/* --------------------------------------------------------------- applying */

struct pages {
	char *start;
	size_t bytes;
	int before; /* their protection */
	const struct swz_module *module;
	struct swz_range text; /* if they are executable */
};

static void extend(struct pages *p, const void *where, size_t bytes)
{
	char *from = (char *)swz_page_down((uintptr_t)where);
	char *to = (char *)swz_page_up((uintptr_t)where + bytes);
	char *end = p->start + p->bytes;

	if (!p->bytes)
		p->start = end = from;
	if (to > end)
		end = to;
	if (from < p->start)
		p->start = from;
	p->bytes = (size_t)(end - p->start);
}

static bool unlock(struct pages *p)
{
	if (!p->bytes || p->before & PROT_WRITE)
		return true;
	if (p->before & PROT_EXEC) {
		p->text.start = (uintptr_t)p->start - p->module->load_bias;
		p->text.end = p->text.start + p->bytes;
		return swz_text_unlock(p->module, &p->text);
	}
	return swz_sys_mprotect(p->start, p->bytes, PROT_READ | PROT_WRITE) ==
	       0;
}

static void lock(struct pages *p)
{
	if (!p->bytes || p->before & PROT_WRITE)
		return;
	if (p->before & PROT_EXEC)
		swz_text_lock(p->module, &p->text);
	else
		swz_sys_mprotect(p->start, p->bytes, p->before);
}

/* True if the linker has made the entry read-only (PT_GNU_RELRO) once it was
 * relocated. */
static bool is_sealed(const struct swz_party *p, const uint64_t *slot)
{
	const struct swz_module *m = p->module;

	for (unsigned i = 0; i < m->segment_count && p->relocated; i++) {
		const ElfW(Phdr) *s = &m->segments[i];
		uint64_t start = m->load_bias + s->p_vaddr;

		if (s->p_type == PT_GNU_RELRO &&
		    (uintptr_t)slot >= swz_page_down(start) &&
		    (uintptr_t)slot < swz_page_down(start + s->p_memsz))
			return true;
	}
	return false;
}

static int protection_of(const ElfW(Phdr) * s)
{
	return (s->p_flags & PF_R ? PROT_READ : 0) |
	       (s->p_flags & PF_W ? PROT_WRITE : 0) |
	       (s->p_flags & PF_X ? PROT_EXEC : 0);
}

static void write_slots(const struct swz_party *p)
{
	const struct swz_stubs *s = p->stubs;

	for (uint32_t i = 0; i < s->count; i++) {
		const struct swz_import_site *site = &s->sites[i];

		*site->target = *site->slot;
		if (site->lazy)
			site->relocation->r_offset = (uintptr_t)site->target -
						     p->dynamic.load_bias;
		*site->slot = site->stub;
	}
}

bool swz_stubs_apply(struct swz_party *p)
{
	struct pages tables[2] = {{.module = p->module}, {.module = p->module}};
	struct pages got = {.before = PROT_READ};
	struct swz_stubs *s = p->stubs;
	bool any_lazy = false, done = false;

	/* a library that was there before may have been bound otherwise */
	if (p->late && swz_sys_mprotect(s->words, s->target_bytes,
					PROT_READ | PROT_WRITE) != 0)
		return false;
	for (uint32_t i = 0; i < s->count; i++) {
		struct swz_import_site *site = &s->sites[i];
		const Elf64_Rela *r = site->relocation;
		bool plt = r >= p->dynamic.jmprel &&
			   r < p->dynamic.jmprel + p->dynamic.jmprel_count;

		if (is_sealed(p, site->slot))
			extend(&got, site->slot, sizeof(*site->slot));
		site->lazy = swz_entry_is_lazy(p, r, site->slot);
		if (!site->lazy)
			continue;
		any_lazy = true;
		extend(&tables[plt], r, sizeof(*r));
		tables[plt].before = protection_of(segment_of(p->module, r));
	}
	if (unlock(&got)) {
		if (unlock(&tables[0])) {
			done = unlock(&tables[1]);
			if (done)
				write_slots(p);
			lock(&tables[1]);
			lock(&tables[0]);
		}
		lock(&got);
	}
	/* as read-only as the GOT was */
	if (done && !any_lazy)
		swz_sys_mprotect(s->words, s->target_bytes, PROT_READ);
	return done;
}
