/* The function of an id never gets another trampoline: thunks and their edges
 * hold on to both. So a library that is unloaded leaves its trampolines and ids
 * to itself: loaded again with the same text at the same place, it gets the
 * same jumps, and nothing is planned or recorded anew. Of these dormant ones a
 * certain number is kept. When one is given up its ids are dead, and since they
 * are, nothing leads to its trampolines: they are unmapped. */

#include "runtime/loaded_hold.h"

#include <string.h>
#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/imports/imports.h"
#include "runtime/module/text.h"
#include "runtime/plan/live.h"
#include "runtime/record/file.h"
#include "runtime/support/live_sites.h"

#define MOST_DORMANT 1024u
#define MOST_DORMANT_BYTES (64u << 20)

/* Where a jump was written and where to; both from the start of their module
 * or region. */
struct swz_loaded_site {
	uint32_t at;
	uint32_t trampoline;
	int16_t island;
	bool keeps_opcode;
	bool stays; /* SWZ_SITE_STAYS */
};

static size_t sites_bytes(const struct swz_loaded *l)
{
	return (l->site_count * sizeof(*l->sites) + 4095) & ~(size_t)4095;
}

void swz_loaded_drop(struct swz_loaded *l)
{
	if (l->recorded)
		swz_imports_drop(l->index);
	swz_live_sites_gone(
		(uintptr_t)l->trampolines.start,
		(uintptr_t)l->trampolines.start + l->trampolines.bytes, true);
	swz_trampolines_close(&l->trampolines);
	if (l->sites)
		swz_sys_munmap(l->sites, sites_bytes(l));
	memset(l, 0, sizeof(*l));
}

void swz_loaded_limit_dormant(void)
{
	for (;;) {
		struct swz_loaded *oldest = NULL;
		size_t count = 0, bytes = 0;

		for (struct swz_loaded *l =
			     swz_loaded_next(NULL, SWZ_LOADED_DORMANT);
		     l; l = swz_loaded_next(l, SWZ_LOADED_DORMANT)) {
			count++;
			bytes += l->trampolines.bytes + sites_bytes(l);
			if (!oldest || l->seen < oldest->seen)
				oldest = l;
		}
		if (count <= MOST_DORMANT && bytes <= MOST_DORMANT_BYTES)
			return;
		swz_loaded_drop(oldest);
	}
}

struct swz_module_record *swz_loaded_record(struct swz_loaded *l)
{
	uint64_t at = SWZ_HEADER_BYTES;

	if (!l->recorded || l->pid == swz_file->pid)
		return l->recorded ? l->record : NULL;
	l->pid = swz_file->pid;
	l->record = NULL;
	while (!l->record && at < swz_file_used()) {
		struct swz_chunk *c = (struct swz_chunk *)((char *)swz_file +
							   at);

		if (c->magic != SWZ_CHUNK_MAGIC) {
			at += SWZ_UNIT_BYTES;
			continue;
		}
		if (c->type == SWZ_CHUNK_MODULE && c->owner == l->index)
			l->record = (struct swz_module_record *)(c + 1);
		at += c->bytes;
	}
	return l->record;
}

/* ----------------------------------------------------------------- jumps */

static bool has_site(const struct swz_function *f)
{
	return !f->is_piece && f->trampoline;
}

bool swz_loaded_keep_sites(struct swz_loaded *l, const struct swz_module *m)
{
	uint32_t count = m->inner_site_count;

	l->trampolines = m->trampolines;
	for (uint32_t i = 0; i < m->function_count; i++)
		count += has_site(&m->functions[i]);
	if (!count)
		return true;
	l->site_count = count;
	l->sites = swz_sys_mmap(NULL, sites_bytes(l), PROT_READ | PROT_WRITE,
				MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!l->sites) {
		l->site_count = 0;
		return false;
	}
	for (uint32_t i = m->function_count; i-- > 0;) {
		const struct swz_function *f = &m->functions[i];

		if (!has_site(f))
			continue;
		l->sites[--count].at = (uint32_t)(m->load_bias + f->start +
						  f->site - m->start);
		l->sites[count].island = f->island;
		l->sites[count].stays = f->wrapper || swz_site_lasts(m, f);
		l->sites[count].trampoline = (uint32_t)(f->trampoline -
							m->trampolines.start);
	}
	while (count-- > 0) {
		const struct swz_inner_site *s = &m->inner_sites[count];

		l->sites[count].at = (uint32_t)(m->load_bias + s->at -
						m->start);
		l->sites[count].trampoline = s->copy;
		l->sites[count].keeps_opcode = s->keeps_opcode;
		l->sites[count].stays =
			swz_inner_site_stays(s, swz_function_at(m, s->at)) ||
			swz_inner_site_lasts(m, s, swz_function_at(m, s->at));
	}
	return true;
}

static void write_site(const struct swz_loaded *l,
		       const struct swz_loaded_site *s)
{
	uint8_t *at = (uint8_t *)(l->start + s->at);
	const uint8_t *to = l->trampolines.start + s->trampoline;

	if (s->keeps_opcode)
		swz_patch_lead(at, to);
	else
		swz_patch_write(at, s->island, to);
}

void swz_loaded_patch_again(const struct swz_loaded *l,
			    const struct swz_module *m)
{
	unsigned n = 0;

	while (n < m->text_count && swz_text_unlock(m, &m->text[n]))
		n++;
	if (n == m->text_count)
		for (uint32_t i = 0; i < l->site_count; i++)
			if (l->sites[i].stays || !swz_live_sites_are_native())
				write_site(l, &l->sites[i]);
	while (n--)
		swz_text_lock(m, &m->text[n]);
}
