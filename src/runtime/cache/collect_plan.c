#include "runtime/cache/plan.h"

#include <string.h>

#include "runtime/cache/key.h"
#include "runtime/compat/stack_walkers.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/function.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"
#include "thunks/fixups.h"

/* What is added there must be saved here, too, or be of no use once a module is
 * planned. */
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
	begin += f->wrapper ? SWZ_TRAMPOLINE_WRAPPING : SWZ_TRAMPOLINE_BODY;
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
	struct swz_saved_wrapper wrappers[32];
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
		h->inners = m->inner_site_count;
	}
	h->bytes = swz_saved_plan_bytes(h);
}

bool swz_cache_collect_plan(const struct swz_module *m,
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
