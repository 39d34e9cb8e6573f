/* The memory that --imports changes: stubs and the words that they jump
 * through, GOT entries, and relocations. */

#include "runtime/imports/plan.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/hooks/hook_choice.h"
#include "runtime/module/text.h"
#include "runtime/support/scratch.h"
#include "thunks/near.h"

#define PAGE UINT64_C(4096)

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
	size_t bytes = (sizeof(struct swz_stubs) +
			count * sizeof(struct swz_import_site) + PAGE - 1) &
		       -PAGE;
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
	s->target_bytes = (count * sizeof(uint64_t) + PAGE - 1) & -PAGE;
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

	if (!swz_import_asks(i))
		return (uintptr_t)swz_trampoline_write_jump(
			&s->region, i->target->id, target);
	if (!s->dlsym.return_at && !swz_dlsym_way_find(p, &s->dlsym))
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
		count += swz_import_is_timed(i) || swz_import_asks(i);
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
		    !(swz_import_is_timed(i) || swz_import_asks(i)))
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
	char *from = (char *)((uintptr_t)where & -PAGE);
	char *to = (char *)(((uintptr_t)where + bytes + PAGE - 1) & -PAGE);
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

/* What the linker has made read-only (PT_GNU_RELRO) once it was relocated. */
static bool is_sealed(const struct swz_party *p, const uint64_t *slot)
{
	const struct swz_module *m = p->module;

	for (unsigned i = 0; i < m->segment_count && p->relocated; i++) {
		const ElfW(Phdr) *s = &m->segments[i];
		uint64_t start = m->load_bias + s->p_vaddr;

		if (s->p_type == PT_GNU_RELRO &&
		    (uintptr_t)slot >= (start & -PAGE) &&
		    (uintptr_t)slot < ((start + s->p_memsz) & -PAGE))
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
