/* Plans of earlier processes. One file holds the plan of one module: the
 * functions, the bytes of their trampolines and what was refused. It is found
 * by a key and used only if the module's text is the one that it was made of.
 */

#include "runtime/cache/plan_cache.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/relocate.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

/* --------------------------------------------------- a plan becomes a file */

/* A field that is added there must be saved here, too, or be of no use once a
 * module is planned. */
_Static_assert(sizeof(struct swz_function) == 96, "what a plan consists of");

/* Decided by this process's memory, or by other modules of it. */
static bool is_circumstantial(const struct swz_module *m)
{
	if (m->unwinder_unserved || m->foreign_runtime)
		return true;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->status == SWZ_REFUSE_OUT_OF_REACH ||
		    f->status == SWZ_REFUSE_UNWRITABLE ||
		    f->start + f->size > UINT32_MAX)
			return true;
	}
	return false;
}

/* Pieces have done their duty; so has, where calls are not recorded, all that
 * stays as it is. */
static bool is_kept(const struct swz_module *m, const struct swz_function *f)
{
	return !f->is_piece && (m->in_scope || f->trampoline);
}

static uint32_t name_in_file(const struct swz_module *m,
			     const struct swz_function *f)
{
	uint64_t at = (uintptr_t)f->name - (uintptr_t)m->file.file.data;

	return f->name && at < m->file.file.size && at <= UINT32_MAX
		       ? (uint32_t)at
		       : 0;
}

static void save_function(const struct swz_module *m,
			  const struct swz_function *f,
			  struct swz_saved_function *to)
{
	to->start = (uint32_t)f->start;
	to->size = f->size;
	to->name = name_in_file(m, f);
	to->status = f->status;
	to->island = f->island;
	to->flags = f->flags;
	to->site = f->site;
	if (f->trampoline)
		to->trampoline = (uint32_t)(f->trampoline -
					    m->trampolines.start);
}

static bool find_fixups(const struct swz_module *m,
			const struct swz_function *f, struct swz_fixups *fixups)
{
	struct swz_bytes region = {m->trampolines.start,
				   m->trampolines.code_bytes};
	struct swz_bytes site = {swz_module_bytes(m, f->start + f->site),
				 f->size - f->site};
	uint32_t begin = (uint32_t)(f->trampoline - m->trampolines.start);

	/* a wrapped function's trampoline is its body */
	if (swz_config.count && !f->wrapper)
		begin += (uint32_t)(swz_count_copies(f->trampoline) -
				    f->trampoline);
	else
		begin += f->wrapper ? SWZ_TRAMPOLINE_WRAPPING
				    : SWZ_TRAMPOLINE_BODY;
	if (site.size > SWZ_RELOCATED_MAX) /* no more is displaced */
		site.size = SWZ_RELOCATED_MAX;
	return swz_fixups_find(fixups, region, begin, site) == SWZ_OK;
}

static bool save_wrapper(const struct swz_module *m,
			 const struct swz_function *f,
			 struct swz_saved_wrapper *saved)
{
	return swz_wrapped_has(f->wrapper)
		       ? swz_wrapped_save(f->wrapper, saved)
		       : swz_stack_walkers_save(m, f->wrapper, saved);
}

static bool find_load_fixups(const struct swz_module *m,
			     const struct swz_inner_site *load,
			     struct swz_fixups *fixups)
{
	struct swz_bytes region = {m->trampolines.start,
				   m->trampolines.code_bytes};
	/* no more is displaced there */
	struct swz_bytes site = {swz_module_bytes(m, load->at),
				 SWZ_JUMP_BYTES + SWZ_MAX_INSN};

	while (!swz_module_is_text(m, load->at, (unsigned)site.size))
		site.size--;
	return swz_fixups_find(fixups, region, load->copy, site) == SWZ_OK;
}

struct draft {
	const struct swz_module *module;
	bool made;
	uint64_t text_hash;
	struct swz_saved_function *functions;
	struct swz_saved_wrapper wrappers[64];
	struct swz_saved_inner *inners;
	uint32_t function_count, wrapper_count;
	struct swz_fixups fixups;
};

#define MOST_WRAPPERS \
	(sizeof((struct draft *)0)->wrappers / sizeof(struct swz_saved_wrapper))

static bool draft_one(const struct swz_module *m, const struct swz_function *f,
		      struct draft *d)
{
	save_function(m, f, &d->functions[d->function_count]);
	if (f->trampoline && !find_fixups(m, f, &d->fixups))
		return false;
	if (f->trampoline && f->wrapper) {
		struct swz_saved_wrapper *w = &d->wrappers[d->wrapper_count];

		if (d->wrapper_count == MOST_WRAPPERS || !save_wrapper(m, f, w))
			return false;
		w->function = d->function_count;
		d->wrapper_count++;
	}
	d->function_count++;
	return true;
}

static bool make_draft(struct draft *d)
{
	const struct swz_module *m = d->module;
	uint64_t count = m->function_count + 1ull;

	d->functions = swz_scratch_alloc(count * sizeof(*d->functions));
	/* a jump back each, and what some instructions refer to; an address
	 * where a call is displaced */
	d->fixups.relative_room = (uint32_t)(2 * count + 4096);
	d->fixups.absolute_room = (uint32_t)(count + 4096);
	d->fixups.relative = swz_scratch_alloc(d->fixups.relative_room *
					       sizeof(*d->fixups.relative));
	d->fixups.absolute = swz_scratch_alloc(d->fixups.absolute_room *
					       sizeof(*d->fixups.absolute));
	d->inners = swz_scratch_alloc((m->inner_site_count + 1) *
				      sizeof(*d->inners));
	if (!d->functions || !d->fixups.relative || !d->fixups.absolute ||
	    !d->inners)
		return false;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (is_kept(m, &m->functions[i]) &&
		    !draft_one(m, &m->functions[i], d))
			return false;
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		const struct swz_inner_site *s = &m->inner_sites[i];

		d->inners[i] = (struct swz_saved_inner){s->at, s->copy,
							s->keeps_opcode};
		/* a branch leads into a trampoline */
		if (!s->keeps_opcode && !find_load_fixups(m, s, &d->fixups))
			return false;
	}
	if (d->fixups.fixed && m->load_bias)
		return false;
	return true;
}

/* The text is read while functions are looked at. */
enum { FUNCTIONS, TEXT_HASH, TASKS };

static void work(void *context, uint32_t begin, uint32_t end, unsigned member)
{
	struct draft *d = context;

	(void)member;
	for (uint32_t task = begin; task < end; task++)
		if (task == FUNCTIONS)
			d->made = make_draft(d);
		else
			d->text_hash = swz_module_text_hash(d->module, 0);
}

static uint32_t facts_of(const struct swz_module *m)
{
	return (swz_wrapped_asks(m) ? SWZ_SAVED_ASKS : 0) |
	       (swz_wrapped_is_offered(m) ? SWZ_SAVED_OFFERS : 0) |
	       (swz_wrapped_is_expected() ? SWZ_SAVED_WRAPPED : 0) |
	       (m->own_unwinder ? SWZ_SAVED_OWN_UNWINDER : 0) |
	       (m->looks_at_callers ? SWZ_SAVED_LOOKS_AT_CALLERS : 0) |
	       (m->tableless ? SWZ_SAVED_TABLELESS : 0) |
	       (swz_cache_text_is_of_file(m) ? SWZ_SAVED_OF_FILE : 0);
}

static void fill_header(struct swz_saved_header *h, const struct draft *d)
{
	const struct swz_module *m = d->module;
	const struct swz_trampolines *r = &m->trampolines;

	memcpy(h->magic, SWZ_SAVED_MAGIC, sizeof(h->magic));
	h->version = SWZ_SAVED_VERSION;
	h->facts = facts_of(m);
	h->text_hash = d->text_hash;
	h->resolver = m->resolver;
	h->generated_start = m->generated.start;
	h->generated_end = m->generated.end;
	h->load_bias = m->load_bias;
	h->functions = d->function_count;
	h->wrappers = d->wrapper_count;
	h->relative = d->fixups.relative_count;
	h->absolute = d->fixups.absolute_count;
	swz_cache_key_make(&h->key, m);
	if (r->start) {
		h->region = (uintptr_t)r->start;
		h->trampoline_bytes = r->code_bytes;
		h->frame_bytes = r->unwind.used;
		h->entries = r->unwind.count;
		h->islands = r->island_count;
		h->factors = r->factor_count;
		h->inners = m->inner_site_count;
	}
	h->bytes = swz_saved_plan_bytes(h);
}

/* Collects the part of the plan that is kept, in the module's memory and in
 * scratch. False: another process has no use for it, or there is no memory. */
static bool cache_collect_plan(const struct swz_module *m,
			       struct swz_saved_plan *saved)
{
	const struct swz_trampolines *r = &m->trampolines;
	struct swz_saved_header *h = swz_scratch_alloc(sizeof(*h));
	struct draft *d = swz_scratch_alloc(sizeof(*d));

	if (!h || !d || is_circumstantial(m) || (r->start && !r->unwind.frame))
		return false;
	d->module = m;
	swz_workers_run(work, d, TASKS, 1);
	if (!d->made)
		return false;
	fill_header(h, d);
	if (!h->bytes) /* too many */
		return false;
	*saved = (struct swz_saved_plan){
		.header = h,
		.functions = d->functions,
		.entries = r->unwind.entries,
		.wrappers = d->wrappers,
		.relative = d->fixups.relative,
		.absolute = d->fixups.absolute,
		/* they lie at the end of a region that is sealed */
		.islands = (const int32_t *)(const void *)(r->start + r->used) -
			   h->islands,
		.inners = d->inners,
		.frame = r->unwind.frame,
		.trampolines = r->start,
	};
	swz_saved_plan_finish(h, saved);
	return true;
}

/* --------------------------------------------------- a file becomes a plan */

static bool are_told_apart(const struct swz_saved_header *h)
{
	bool wrapped = h->facts & SWZ_SAVED_WRAPPED;

	return !(h->facts & SWZ_SAVED_OFFERS) ||
	       wrapped == swz_wrapped_is_expected();
}

static void restore_functions(struct swz_module *m, struct swz_function *all,
			      const uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->functions; i++) {
		const struct swz_saved_function *from = &plan->functions[i];
		struct swz_function *f = &all[i];

		f->start = from->start;
		f->size = from->size;
		f->status = from->status;
		f->island = from->island;
		f->flags = from->flags;
		f->site = from->site;
		if (from->name)
			f->name = (const char *)m->file.file.data + from->name;
		if (from->trampoline)
			f->trampoline = region + from->trampoline;
	}
}

static bool restore_inner_sites(struct swz_module *m)
{
	const struct swz_saved_plan *plan = m->saved;
	uint32_t count = plan->header->inners;

	m->inner_sites = swz_scratch_alloc((count + 1) *
					   sizeof(*m->inner_sites));
	for (uint32_t i = 0; m->inner_sites && i < count; i++) {
		m->inner_sites[i].at = plan->inners[i].at;
		m->inner_sites[i].copy = plan->inners[i].copy;
		m->inner_sites[i].keeps_opcode = plan->inners[i].keeps_opcode;
	}
	m->inner_site_count = count;
	return m->inner_sites;
}

static const struct swz_wrapper *restore_wrapper(
	const struct swz_module *m, const struct swz_saved_wrapper *saved)
{
	if (saved->kind == SWZ_SAVED_WALKER)
		return swz_stack_walkers_restore(m, saved);
	return saved->kind == SWZ_SAVED_WATCH ? swz_wrapped_restore(saved)
					      : NULL;
}

static bool restore_wrappers(struct swz_module *m, struct swz_function *all,
			     uint8_t *region)
{
	const struct swz_saved_plan *plan = m->saved;

	for (uint32_t i = 0; i < plan->header->wrappers; i++) {
		const struct swz_saved_wrapper *saved = &plan->wrappers[i];
		struct swz_function *f = &all[saved->function];

		f->wrapper = restore_wrapper(m, saved);
		if (!f->wrapper)
			return false;
		swz_trampoline_wrap(
			region + plan->functions[saved->function].trampoline,
			f->wrapper);
	}
	return true;
}

/* The id lies at the end of the head. */
static void number(const struct swz_saved_plan *plan, uint8_t *region,
		   uint32_t id, const struct swz_hooks *hooks)
{
	bool counts = plan->header->key.flags & SWZ_SAVED_COUNTS;

	for (uint32_t i = 0; i < plan->header->functions; i++, id++) {
		const struct swz_saved_function *f = &plan->functions[i];
		uint8_t *head = region + f->trampoline;

		if (f->status != SWZ_PATCHED)
			continue;
		if (counts) {
			swz_count_settle(head, &hooks->access);
			head -= SWZ_COUNT_HEAD;
		}
		memcpy(head + SWZ_TRAMPOLINE_BODY - 4, &id, sizeof(id));
	}
}

/* Islands are in the module: their distances from the region. */
static bool move_islands(const struct swz_saved_plan *plan,
			 struct swz_trampolines *region, int64_t by)
{
	const struct swz_saved_header *h = plan->header;
	int32_t *islands = swz_scratch_alloc(h->islands * sizeof(*islands));

	for (uint32_t i = 0; i < h->islands; i++) {
		int64_t distance = plan->islands[i] + by;

		if (!islands || distance != (int32_t)distance ||
		    (uint64_t)distance < region->bytes)
			return false;
		islands[i] = (int32_t)distance;
	}
	region->islands = islands;
	region->island_count = h->islands;
	return true;
}

/* Makes the trampolines what they must be for these places. */
static bool fit_region(const struct swz_module *m,
		       struct swz_trampolines *region,
		       const struct swz_hooks *hooks)
{
	const struct swz_saved_plan *plan = m->saved;
	const struct swz_saved_header *h = plan->header;
	uint64_t module_by = m->load_bias - h->load_bias;
	int64_t by = (int64_t)(module_by -
			       ((uintptr_t)region->start - h->region));

	memcpy(region->start, hooks, sizeof(*hooks));
	region->used = h->trampoline_bytes;
	region->unwind = (struct swz_unwind_table){
		.frame = (uint8_t *)(uintptr_t)plan->frame,
		.room = h->frame_bytes,
		.used = h->frame_bytes,
		.entries = (struct swz_unwind_entry *)(uintptr_t)plan->entries,
		.count = h->entries,
	};
	if (swz_fixups_apply_relative(region->start, plan->relative,
				      h->relative, by) != SWZ_OK ||
	    !move_islands(plan, region, by))
		return false;
	swz_fixups_apply_absolute(region->start, plan->absolute, h->absolute,
				  module_by);
	number(plan, region->start, m->first_id, hooks);
	return true;
}

/* Makes the plan of module->saved, see swz_cache_use; false: part of it may be
 * there. */
static bool cache_restore(struct swz_module *m, const struct swz_hooks *hooks,
			  uint32_t ids)
{
	const struct swz_saved_header *h = m->saved->header;
	struct swz_trampolines *region = &m->trampolines;
	struct swz_function *all;

	if (!are_told_apart(h) || (m->in_scope && h->functions > ids))
		return false;
	all = swz_scratch_alloc((h->functions + 1ull) * sizeof(*all));
	if (!all)
		return false;
	restore_functions(m, all, region->start);
	if (region->start &&
	    (!fit_region(m, region, hooks) ||
	     !restore_wrappers(m, all, region->start) ||
	     !restore_inner_sites(m) || swz_trampolines_seal(region) != SWZ_OK))
		return false;
	if (h->facts & SWZ_SAVED_OWN_UNWINDER && !swz_foreign_serve_unwinder(m))
		return false;
	m->functions = all;
	m->function_count = h->functions;
	m->hookable_count = h->functions;
	m->resolver = h->resolver;
	m->generated.start = h->generated_start;
	m->generated.end = h->generated_end;
	m->looks_at_callers = h->facts & SWZ_SAVED_LOOKS_AT_CALLERS;
	m->tableless = h->facts & SWZ_SAVED_TABLELESS;
	if (m->in_scope && swz_filter_by_name(m, false) != SWZ_OK)
		return false;
	swz_filter_flows(m);
	return true;
}

/* ----------------------------------------------------- finding and keeping */

/* A plan depends on the module's file, on the text as it is mapped (a debugger
 * may have changed it), on the options that choose functions, and on us. All of
 * that is in the key, or compared. What filters decide that do not change the
 * plan (-F, -N) is decided anew, as are ids and where the trampolines lie. */

#define TIDY_BYTES (UINT64_C(16) << 20) /* stored since it was last tidy */
#define HUGE_BYTES (UINT64_C(4) << 20)

extern const char swz_text_start[];

static struct {
	bool on;
	bool untidy;
	bool began; /* the start is over */
	uint64_t stored;
	unsigned used_count, stored_count;
} cache;

void swz_cache_begin(const struct swz_module *modules, unsigned count)
{
	uint64_t ours = (uintptr_t)swz_text_start;

	for (unsigned i = 0; i < count; i++) {
		const struct swz_module *m = &modules[i];

		if (ours < m->start || ours >= m->end ||
		    !swz_cache_key_begin(m->build_id))
			continue;
		swz_cache_files_begin();
		cache.on = swz_cache_files_begun();
	}
}

/* Strings of the file end in it. */
static bool names_end(const struct swz_module *m)
{
	return m->file.file.data[m->file.file.size - 1] == '\0';
}

static bool may_be_kept(const struct swz_module *m)
{
	struct swz_saved_key *key;

	/* source files may be known from other files than the module's */
	return cache.on && !swz_config.location && m->build_id.size &&
	       m->build_id.size <= sizeof(key->build_id) && m->file.file.size &&
	       m->identity.bytes == m->file.file.size && names_end(m);
}

/* Modules that come later find the directory as it was, or none. */
static bool is_there(const struct swz_module *m)
{
	return !m->late || swz_cache_files_are_there();
}

/* These bytes are about to be read, or written to: all of their pages at once
 * take the kernel less time than a page fault each. */
static void expect(struct swz_bytes bytes, bool written)
{
	uint64_t start = swz_page_down((uintptr_t)bytes.data);
	uint64_t end = swz_page_up((uintptr_t)bytes.data + bytes.size);

	if (end - start >= 8 * SWZ_PAGE)
		SWZ_SYSCALL(SYS_madvise, start, end - start,
			    written ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
}

/* Room for the trampolines in reach of the module, where they are read to, and
 * for what is made of the entries behind them. */
static bool map_region(struct swz_module *m, const struct swz_saved_header *h)
{
	size_t bytes = h->trampoline_bytes + h->frame_bytes +
		       SWZ_UNWIND_FIXED_BYTES +
		       (size_t)h->entries * sizeof(struct swz_unwind_entry) +
		       (size_t)h->islands *
			       (SWZ_UNWIND_ISLAND_BYTES + sizeof(int32_t));
	uint32_t factors = h->key.flags & SWZ_SAVED_COUNTS ? h->factors : 0;
	uint8_t *start;

	if (!h->trampoline_bytes)
		return true;
	bytes = swz_page_up(bytes);
	if (factors > h->trampoline_bytes ||
	    !swz_trampolines_map(&m->trampolines, m->near.start, m->near.end,
				 bytes, factors))
		return false;
	start = m->trampolines.start;
	if (bytes >= HUGE_BYTES)
		SWZ_SYSCALL(SYS_madvise, start, bytes, MADV_HUGEPAGE);
	expect((struct swz_bytes){start, bytes}, true);
	return true;
}

static struct swz_saved_header *read_head(struct swz_cache_file *file,
					  const struct swz_saved_key *key)
{
	struct swz_saved_header header, *h;

	if (!swz_cache_files_read(file, &header, sizeof(header)) ||
	    swz_saved_plan_check(&header, file->bytes, key) != SWZ_OK)
		return NULL;
	h = swz_scratch_alloc(swz_saved_plan_head_bytes(&header));
	if (!h)
		return NULL;
	*h = header;
	return swz_cache_files_read(file, h + 1,
				    swz_saved_plan_head_bytes(h) - sizeof(*h))
		       ? h
		       : NULL;
}

static bool read_plan(struct swz_module *m, struct swz_cache_file *file,
		      const struct swz_saved_key *key,
		      struct swz_saved_plan *plan)
{
	struct swz_saved_header *h = read_head(file, key);
	struct swz_trampolines *region = &m->trampolines;

	if (!h || !swz_cache_text_is_that_of(m, h) || !map_region(m, h))
		return false;
	return swz_cache_files_read(file, region->start,
				    h->trampoline_bytes + h->frame_bytes) &&
	       swz_saved_plan_open(plan, h, region->start) == SWZ_OK;
}

void swz_cache_find(struct swz_module *m)
{
	char name[SWZ_CACHE_NAME_BYTES];
	struct swz_saved_plan *plan;
	struct swz_saved_key key;
	struct swz_cache_file file;

	if (!may_be_kept(m) || !is_there(m))
		return;
	swz_cache_key_make(&key, m);
	swz_cache_key_name(SWZ_CACHE_PLAN, &key, m->build_id.size, name);
	plan = swz_scratch_alloc(sizeof(*plan));
	if (!plan || !swz_cache_files_open(name, &file))
		return;
	if (read_plan(m, &file, &key, plan)) {
		m->saved = plan;
		/* as of those that are planned anew: at the start */
		if (!m->late && plan->header->facts & SWZ_SAVED_ASKS)
			swz_wrapped_expect();
	} else {
		swz_trampolines_close(&m->trampolines);
	}
	swz_cache_files_close(&file);
}

bool swz_cache_use(struct swz_module *m, const struct swz_hooks *hooks,
		   uint32_t ids)
{
	if (!m->saved)
		return false;
	if (cache_restore(m, hooks, ids)) {
		cache.used_count++;
		return true;
	}
	swz_trampolines_close(&m->trampolines);
	m->saved = NULL;
	return false;
}

void swz_cache_store(const struct swz_module *m)
{
	char name[SWZ_CACHE_NAME_BYTES];
	struct swz_bytes parts[1 + SWZ_SAVED_PARTS];
	struct swz_saved_plan plan;

	if (!may_be_kept(m) || !is_there(m) || !cache_collect_plan(m, &plan))
		return;
	parts[0].data = (const uint8_t *)plan.header;
	parts[0].size = sizeof(*plan.header);
	swz_saved_plan_list(&plan, parts + 1);
	swz_cache_key_name(SWZ_CACHE_PLAN, &plan.header->key, m->build_id.size,
			   name);
	if (!swz_cache_files_write(name, parts, 1 + SWZ_SAVED_PARTS))
		return;
	cache.stored += plan.header->bytes;
	cache.stored_count++;
	cache.untidy = true;
}

void swz_cache_end(void)
{
	if (!cache.untidy || (cache.began && cache.stored < TIDY_BYTES))
		return;
	swz_cache_files_tidy();
	cache.untidy = false;
	cache.stored = 0;
	cache.began = true;
}

void swz_cache_report(void)
{
	struct swz_line line;

	if (!cache.on)
		return;
	swz_line_start(&line);
	swz_line_string(&line, "swizzle: plan cache: ");
	swz_line_number(&line, cache.used_count);
	swz_line_string(&line, cache.used_count == 1 ? " module found, "
						     : " modules found, ");
	swz_line_number(&line, cache.stored_count);
	swz_line_string(&line, " stored");
	swz_line_write(&line);
}
