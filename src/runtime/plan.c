#include "runtime/plan.h"

#include <string.h>
#include <sys/mman.h>

#include "base/lsda.h"
#include "base/syscall.h"
#include "runtime/cache.h"
#include "runtime/config.h"
#include "runtime/confinement.h"
#include "runtime/events.h"
#include "runtime/file.h"
#include "runtime/filter.h"
#include "runtime/find_object.h"
#include "runtime/foreign.h"
#include "runtime/function.h"
#include "runtime/imports.h"
#include "runtime/islands.h"
#include "runtime/location.h"
#include "runtime/message.h"
#include "runtime/progress.h"
#include "runtime/sampling.h"
#include "runtime/scan.h"
#include "runtime/scratch.h"
#include "runtime/text.h"
#include "runtime/thread.h"
#include "runtime/walkers.h"
#include "thunks/leaf.h"
#include "thunks/trampoline.h"
#include "thunks/unwind.h"

bool swz_plan_filtered;

/* Ids for modules to come. What is indexed by id has room for them from the
 * start (address space, no memory), so that nothing moves under the hooks. */
#define LATER_IDS (1u << 20)

static uint8_t *filter_flags; /* by id */
static uint32_t next_id = 1;
static uint32_t end_id = UINT32_MAX;

void swz_hook_enter(void);
void swz_hook_enter_checked(void);
void swz_hook_enter_filtered(void);
void swz_hook_enter_sampled(void);
void swz_hook_enter_leaf(void);
void swz_hook_enter_traced(void);
void swz_hook_enter_traced_filtered(void);

uint8_t swz_plan_filter(uint32_t function)
{
	return filter_flags && function < end_id ? filter_flags[function] : 0;
}

void swz_plan_set_filter(uint32_t function, uint8_t flags)
{
	if (filter_flags && function < end_id)
		filter_flags[function] = flags;
}

uint32_t swz_plan_take_ids(uint32_t count)
{
	uint32_t first = next_id;

	if (count > end_id - next_id)
		return 0;
	next_id += count;
	return first;
}

uint32_t swz_plan_next_id(void)
{
	return next_id;
}

const struct swz_hooks *swz_plan_hooks(void)
{
	static const struct swz_hooks exact[] = {
		{swz_hook_enter, swz_hook_enter},
		{swz_hook_enter_filtered, swz_hook_enter_filtered},
	};
	static const struct swz_hooks traced[] = {
		{swz_hook_enter_traced, swz_hook_enter_traced},
		{swz_hook_enter_traced_filtered,
		 swz_hook_enter_traced_filtered},
	};
	static const struct swz_hooks sampled[] = {
		{swz_hook_enter_sampled, swz_hook_enter_leaf},
		{swz_hook_enter_checked, swz_hook_enter_checked},
	};

	if (swz_tracing)
		return &traced[swz_plan_filtered];
	return swz_sampling ? &sampled[swz_plan_filtered]
			    : &exact[swz_plan_filtered];
}

uint32_t swz_plan_function_count(void)
{
	return end_id + 1;
}

uint32_t swz_plan_spare_id(void)
{
	return end_id;
}

/* --------------------------------------------------------------- deciding */

static unsigned jump_bytes(const struct swz_function *f)
{
	return f->island ? SWZ_SHORT_JUMP_BYTES : SWZ_JUMP_BYTES;
}

/* The bytes from the patch site that the jump may take: the function's own,
 * and padding behind it. */
static struct swz_bytes site_bytes(const struct swz_module *m,
				   const struct swz_function *f)
{
	struct swz_bytes code = {swz_module_bytes(m, f->start + f->site),
				 f->size - f->site};

	if (code.size < jump_bytes(f))
		code.size += swz_padding_of(m, f);
	return code;
}

static struct swz_patch_site patch_site(const struct swz_module *m,
					const struct swz_function *f,
					uint32_t id)
{
	struct swz_patch_site site = {
		.code = site_bytes(m, f),
		.address = m->load_bias + f->start + f->site,
		.wanted = jump_bytes(f),
		.function_id = id,
		.is_leaf = f->flags & SWZ_FUNCTION_LEAF,
		.fde = f->fde,
		.fde_address = f->start + f->site,
		.wrapper = f->wrapper,
	};

	if (f->displace > site.wanted)
		site.wanted = f->displace;
	return site;
}

/* An instruction that may throw (a load that faults, with
 * -fnon-call-exceptions) is found in the function's exception table by its
 * place. */
static bool lands_if_it_throws(const struct swz_module *m,
			       const struct swz_function *f)
{
	struct swz_bytes lsda = {0};

	if (!f->fde || !f->fde->has_lsda)
		return false;
	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *s = &m->segments[i];

		if (s->p_type == PT_LOAD &&
		    f->fde->lsda - s->p_vaddr < s->p_filesz) {
			lsda.data = swz_module_bytes(m, f->fde->lsda);
			lsda.size = s->p_vaddr + s->p_filesz - f->fde->lsda;
		}
	}
	return swz_lsda_lands(lsda, f->site, f->moved);
}

/* Leads the function to its wrapper, and not to the hook before. */
static void bypass_hook(struct swz_function *f)
{
	f->trampoline += SWZ_TRAMPOLINE_BODY;
	swz_function_refuse(f, swz_confinement_has(f->wrapper)
				       ? SWZ_REFUSE_WATCHED_CONFINEMENT
				       : SWZ_REFUSE_WALKS_STACK);
}

static void refuse_all(struct swz_module *m, enum swz_refusal reason)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		swz_function_refuse(&m->functions[i], reason);
}

/* Writes the function's trampoline; returns SWZ_PATCHED, or why not. */
static enum swz_refusal write_one(struct swz_module *m,
				  struct swz_decoder *decoder,
				  struct swz_function *f, uint32_t id)
{
	struct swz_bytes module = {(const uint8_t *)(uintptr_t)m->start,
				   m->end - m->start};
	struct swz_bytes code = {swz_module_bytes(m, f->start), f->size};
	struct swz_patch_site site;
	enum swz_refusal refusal;

	if (swz_is_leaf(code, f->site, module))
		f->flags |= SWZ_FUNCTION_LEAF;
	site = patch_site(m, f, id);
	f->trampoline = swz_trampoline_write(&m->trampolines, decoder, &site,
					     &f->moved, &refusal);
	if (f->trampoline && lands_if_it_throws(m, f)) {
		f->trampoline = NULL;
		refusal = SWZ_REFUSE_UNRELOCATABLE;
	}
	return refusal;
}

/* Makes the island's bytes free. */
static bool make_room(struct swz_islands *islands,
		      const struct swz_island *island, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_function *host = island->host;

	if (!host)
		return true;
	host->displace = island->host_bytes;
	return write_one(m, islands->decoder, host, ids[host - m->functions]) ==
	       SWZ_PATCHED;
}

/* Gives the function, whose trampoline is written, the island. */
static bool settle(struct swz_islands *islands, struct swz_function *f,
		   const struct swz_island *island, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_function host = {0};

	if (island->host)
		host = *island->host;
	if (make_room(islands, island, ids) &&
	    swz_trampolines_add_island(&m->trampolines,
				       m->load_bias + island->at)) {
		f->status = SWZ_PATCHED;
		f->island = (int16_t)(int64_t)(island->at - f->start - f->site);
		swz_island_take(islands, f, island);
		return true;
	}
	if (island->host)
		*island->host = host;
	m->trampolines = region;
	return false;
}

/* Tries a short jump; all is as before if that is not possible. */
static void write_with_island(struct swz_islands *islands,
			      struct swz_function *f, const uint32_t *ids)
{
	struct swz_module *m = islands->module;
	struct swz_trampolines region = m->trampolines;
	struct swz_function before = *f;
	struct swz_island island;

	f->displace = 0;
	f->island = SWZ_SHORT_JUMP_BYTES; /* to be decided */
	if (swz_island_may_serve(islands, f) &&
	    write_one(m, islands->decoder, f, ids[f - m->functions]) ==
		    SWZ_PATCHED)
		for (unsigned i = 0; swz_island_find(islands, f, i, &island);
		     i++)
			if (settle(islands, f, &island, ids))
				return;
	*f = before;
	m->trampolines = region;
}

static void write_with_islands(struct swz_module *m,
			       struct swz_decoder *decoder)
{
	struct swz_islands islands;
	uint32_t id = m->first_id, wanted = 0, *ids;
	int32_t *places;

	for (uint32_t i = 0; i < m->function_count; i++)
		wanted += swz_island_is_wanted(m, &m->functions[i]);
	if (!wanted)
		return;
	ids = swz_scratch_alloc_brief(m->function_count * sizeof(*ids));
	places = swz_scratch_alloc_brief(wanted * sizeof(*places));
	if (!ids || !places ||
	    swz_islands_begin(&islands, m, decoder) != SWZ_OK)
		return;
	swz_trampolines_hold_islands(&m->trampolines, places, wanted);
	for (uint32_t i = 0; i < m->function_count; i++) {
		ids[i] = id;
		id += !m->functions[i].is_piece;
	}
	for (int tested = 0; tested < (swz_config.test_tactic ? 2 : 1);
	     tested++)
		for (uint32_t i = 0; i < m->function_count; i++) {
			struct swz_function *f = &m->functions[i];

			if (swz_island_is_wanted(m, f) &&
			    (f->status == SWZ_PATCHED) == tested && !f->island)
				write_with_island(&islands, f, ids);
		}
}

/* Some are written anew: they get an island, or make room for one. */
static uint32_t most_trampolines(const struct swz_module *m)
{
	if (swz_config.test_tactic)
		return 3 * m->hookable_count;
	return m->hookable_count + m->hookable_count / 32 + 64;
}

static void write_trampolines(struct swz_module *m, struct swz_decoder *decoder)
{
	struct swz_trampolines *region = &m->trampolines;
	uint32_t id = m->first_id;
	bool open;

	/* what the relocated code refers to lies anywhere in the module */
	open = swz_trampolines_open(
		       region, m->start, m->end, most_trampolines(m),
		       swz_scratch_alloc_brief(
			       swz_unwind_table_bytes(most_trampolines(m))),
		       swz_plan_hooks()) == SWZ_OK;
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];
		enum swz_refusal refusal = SWZ_REFUSE_OUT_OF_REACH;

		if (i % 1024 == 0)
			swz_progress_percent(
				(unsigned)(50 + 50ull * i / m->function_count));
		if (f->is_piece)
			continue;
		if (f->status == SWZ_PATCHED) {
			if (open)
				refusal = write_one(m, decoder, f, id);
			if (!f->trampoline)
				swz_function_refuse(f, refusal);
			else if (f->wrapper)
				bypass_hook(f);
		}
		id++;
	}
	if (open)
		write_with_islands(m, decoder);
	if (open && swz_trampolines_seal(region) != SWZ_OK) {
		swz_trampolines_close(region);
		for (uint32_t i = 0; i < m->function_count; i++)
			m->functions[i].trampoline = NULL;
		refuse_all(m, SWZ_REFUSE_UNWRITABLE);
	}
}

static void count_statuses(struct swz_module *m)
{
	memset(m->counts, 0, sizeof(m->counts));
	if (!m->in_scope)
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			m->counts[m->functions[i].status]++;
}

/* Before it is relocated: the linker has yet to write into the text. */
static bool has_text_relocations(const struct swz_module *m)
{
	const ElfW(Dyn) *d = NULL;

	for (unsigned i = 0; i < m->segment_count; i++)
		if (m->segments[i].p_type == PT_DYNAMIC)
			d = (const ElfW(Dyn) *)(const void *)swz_module_bytes(
				m, m->segments[i].p_vaddr);
	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL ||
		    (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static void refuse_functions(struct swz_module *m)
{
	if (m->late && has_text_relocations(m))
		refuse_all(m, SWZ_REFUSE_TEXT_RELOCATIONS);
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->wrapper)
			continue;
		if (m->unwinder_unserved)
			swz_function_refuse(f, SWZ_REFUSE_OWN_UNWINDER);
		if (m->foreign_runtime || (f->start >= m->generated.start &&
					   f->start < m->generated.end))
			swz_function_refuse(f, SWZ_REFUSE_FOREIGN_RUNTIME);
		if (!m->in_scope)
			swz_function_refuse(f, SWZ_REFUSE_FILTERED);
	}
	if (m->in_scope)
		swz_filter_module(m);
}

/* Whether there is anything to do in the module: what filters leave out must
 * cost nothing. */
static bool is_wanted(const struct swz_module *m)
{
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece &&
		    m->functions[i].status == SWZ_PATCHED)
			return true;
	return false;
}

static enum swz_status plan_wanted(struct swz_module *m,
				   struct swz_decoder *decoder)
{
	enum swz_status status = swz_scan_return_slots(m, decoder);

	swz_progress_percent(30);
	if (status == SWZ_OK)
		status = swz_scan_branches(m, decoder);
	swz_progress_percent(50);
	if (status == SWZ_OK)
		write_trampolines(m, decoder);
	return status;
}

static enum swz_status plan_anew(struct swz_module *m,
				 struct swz_decoder *decoder)
{
	enum swz_status status;

	swz_scratch_reuse(); /* what the module before needed */
	status = swz_functions_collect(m);
	if (status != SWZ_OK)
		return status;
	if (m->in_scope && m->hookable_count > end_id - next_id)
		return SWZ_E_NOMEM;
	swz_walkers_mark(m);
	swz_confinement_mark(m);
	swz_foreign_inspect(m);
	refuse_functions(m);
	if (is_wanted(m))
		status = plan_wanted(m, decoder);
	if (status == SWZ_OK)
		swz_cache_store(m);
	return status;
}

/* Modules out of scope are patched for functions that have wrappers. */
static enum swz_status plan_module(struct swz_module *m,
				   struct swz_decoder *decoder)
{
	enum swz_status status = SWZ_OK;

	m->first_id = next_id;
	if (!m->in_scope && !swz_walkers_are_in(m) && !swz_confinement_is_in(m))
		return SWZ_OK;
	if (!m->in_scope)
		swz_cache_find(m);
	if (!swz_cache_use(m, swz_plan_hooks(), end_id - next_id))
		status = plan_anew(m, decoder);
	if (status != SWZ_OK)
		return status;
	if (m->own_unwinder)
		swz_note_unwinder(m->start, m->end);
	count_statuses(m);
	if (m->in_scope)
		next_id += m->hookable_count;
	else
		m->hookable_count = 0; /* none of the profile's */
	return SWZ_OK;
}

static void collect_filter(const struct swz_module *m)
{
	uint32_t id = m->first_id;

	if (!filter_flags || !m->in_scope)
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			filter_flags[id++] = m->functions[i].filter;
}

static enum swz_status collect_filters(const struct swz_plan *plan)
{
	/* a mapping of its own: it outlives the plan */
	filter_flags = swz_sys_mmap(NULL, end_id, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
				    -1, 0);
	if (!filter_flags)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < plan->module_count; i++)
		collect_filter(&plan->modules[i]);
	return SWZ_OK;
}

static bool has_file(const struct swz_module *m)
{
	return m->text_count && m->path[0] == '/';
}

static uint64_t text_to_plan(const struct swz_module *m)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; m->in_scope && i < m->text_count; i++)
		bytes += m->text[i].end - m->text[i].start;
	return bytes;
}

enum swz_status swz_plan_make(struct swz_plan *plan)
{
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);
	enum swz_status status;
	uint64_t text = 0;

	if (!decoder)
		return SWZ_E_NOMEM;
	swz_plan_filtered = swz_config.filter || swz_config.notrace ||
			    swz_config.depth;
	status = swz_modules_list(&plan->modules, &plan->module_count);
	if (status != SWZ_OK)
		return status;
	swz_cache_begin(plan->modules, plan->module_count);
	for (unsigned i = 0; i < plan->module_count; i++) {
		struct swz_module *m = &plan->modules[i];

		if (!has_file(m))
			continue;
		status = swz_module_open(m);
		if (status != SWZ_OK)
			return status;
		if (m->in_scope)
			swz_cache_find(m);
		if (m->saved)
			continue;
		swz_confinement_look(m);
		text += text_to_plan(m);
	}
	swz_progress_begin(text);
	for (unsigned i = 0; i < plan->module_count; i++) {
		plan->modules[i].first_id = next_id;
		if (!has_file(&plan->modules[i]))
			continue;
		if (!plan->modules[i].saved)
			swz_progress_module(plan->modules[i].path,
					    text_to_plan(&plan->modules[i]));
		status = plan_module(&plan->modules[i], decoder);
		if (status != SWZ_OK)
			return status;
	}
	status = swz_imports_plan(plan);
	if (status != SWZ_OK)
		return status;
	swz_progress_end();
	swz_cache_end();
	if (swz_config.location && !swz_location_any_known())
		swz_say("the source files of no function are known (no debug "
			"information)",
			NULL, NULL);
	end_id = next_id + LATER_IDS;
	return swz_plan_filtered ? collect_filters(plan) : SWZ_OK;
}

enum swz_status swz_plan_late(struct swz_module *m)
{
	struct swz_decoder *decoder = swz_decoder_new(swz_scratch_alloc);
	enum swz_status status;

	m->late = true;
	if (!decoder)
		return SWZ_E_NOMEM;
	status = swz_module_open(m);
	if (status == SWZ_OK && m->in_scope)
		swz_cache_find(m);
	if (status == SWZ_OK)
		status = plan_module(m, decoder);
	if (status == SWZ_OK)
		collect_filter(m);
	swz_cache_end();
	return status;
}

/* --------------------------------------------------------------- applying */

static void refuse_range(struct swz_module *m, const struct swz_range *text)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->start >= text->start && f->start < text->end)
			swz_function_refuse(f, SWZ_REFUSE_UNWRITABLE);
	}
}

static bool is_patched_in(const struct swz_function *f,
			  const struct swz_range *text)
{
	return f->start >= text->start && f->start < text->end && f->trampoline;
}

static void patch_range(struct swz_module *m, const struct swz_range *text)
{
	struct swz_text_run run = {0};

	if (!swz_text_unlock(m, text)) {
		refuse_range(m, text);
		return;
	}
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_patched_in(f, text))
			swz_text_will_write(
				&run, swz_module_bytes(m, f->start + f->site),
				SWZ_JUMP_BYTES);
	}
	swz_text_will_write(&run, NULL, 0);
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_patched_in(f, text))
			swz_patch_write((uint8_t *)(uintptr_t)swz_module_bytes(
						m, f->start + f->site),
					f->island, f->trampoline);
	}
	if (!swz_text_lock(m, text))
		refuse_range(m, text);
}

void swz_plan_patch(struct swz_module *m)
{
	for (unsigned t = 0; t < m->text_count; t++)
		patch_range(m, &m->text[t]);
	count_statuses(m);
}

void swz_plan_apply(struct swz_plan *plan)
{
	for (unsigned i = 0; i < plan->module_count; i++) {
		struct swz_module *m = &plan->modules[i];

		if (!m->functions)
			continue;
		if (m->in_scope)
			swz_foreign_answer(m);
		swz_plan_patch(m);
	}
	swz_imports_apply();
}

const char *swz_plan_obstacle(const struct swz_plan *plan)
{
	uint32_t patched = 0, refused[2] = {0, 0};

	for (unsigned i = 0; i < plan->module_count; i++) {
		const struct swz_module *m = &plan->modules[i];

		patched += m->counts[SWZ_PATCHED];
		refused[0] += m->counts[SWZ_REFUSE_OUT_OF_REACH];
		refused[1] += m->counts[SWZ_REFUSE_UNWRITABLE];
	}
	if (patched || !(refused[0] + refused[1]))
		return NULL;
	return refused[1] > refused[0] ? "no memory may become executable"
				       : "no memory for trampolines";
}

/* -------------------------------------------------------------- recording */

static void fill_functions(const struct swz_module *m, struct swz_chunk *chunk)
{
	struct swz_function_record *record =
		(struct swz_function_record *)(chunk + 1);
	uint32_t id = m->first_id;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->is_piece)
			continue;
		record->address = (uint32_t)f->start;
		record->size = f->size;
		record->status = f->status;
		record->flags = f->flags;
		record->id = id++;
		record++;
	}
	swz_chunk_publish(chunk);
}

enum swz_status swz_plan_reserve(const struct swz_module *m, uint32_t index,
				 struct swz_plan_place *place)
{
	place->functions = NULL;
	place->module = swz_chunk_take(swz_file, SWZ_CHUNK_MODULE,
				       sizeof(struct swz_module_record) +
					       strlen(m->path) + 1,
				       1, index);
	if (place->module && m->hookable_count)
		place->functions = swz_chunk_take(
			swz_file, SWZ_CHUNK_FUNCTIONS,
			(uint64_t)m->hookable_count *
				sizeof(struct swz_function_record),
			m->hookable_count, index);
	return place->module && (place->functions || !m->hookable_count)
		       ? SWZ_OK
		       : SWZ_E_NOMEM;
}

void swz_plan_fill(const struct swz_module *m,
		   const struct swz_plan_place *place)
{
	struct swz_module_record *record =
		(struct swz_module_record *)(place->module + 1);

	record->load_bias = m->load_bias;
	record->start = m->start;
	record->end = m->end;
	record->first_function = m->first_id;
	record->function_count = m->hookable_count;
	record->in_scope = m->in_scope;
	record->build_id_bytes = (uint32_t)m->build_id.size;
	if (m->build_id.size)
		memcpy(record->build_id, m->build_id.data, m->build_id.size);
	for (unsigned i = 0; i < SWZ_REFUSAL_COUNT; i++)
		record->counts[i] = m->counts[i];
	record->loads = 1;
	record->load_ticks = m->late ? swz_ticks() : 0;
	memcpy(record + 1, m->path, strlen(m->path) + 1);
	if (place->functions)
		fill_functions(m, place->functions);
	swz_chunk_publish(place->module);
}

enum swz_status swz_plan_record(const struct swz_plan *plan)
{
	struct swz_plan_place place;
	enum swz_status status;

	for (unsigned i = 0; i < plan->module_count; i++) {
		if (swz_plan_reserve(&plan->modules[i], i, &place) != SWZ_OK)
			return SWZ_E_NOMEM;
		swz_plan_fill(&plan->modules[i], &place);
	}
	status = swz_imports_record();
	swz_imports_forget();
	return status;
}

/* --------------------------------------------------------------- printing */

static const char *const refusal_text[] = {
#define X(symbol, text) text,
	SWZ_REFUSALS(X)
#undef X
};

static void print_functions(const struct swz_module *m)
{
	struct swz_line line;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->is_piece)
			continue;
		swz_line_start(&line);
		swz_line_string(&line, "    ");
		swz_line_hex(&line, f->start);
		swz_line_column(&line, 16);
		swz_line_number(&line, f->size);
		swz_line_column(&line, 24);
		swz_line_string(&line, refusal_text[f->status]);
		if (f->island)
			swz_line_string(&line, " by a short jump");
		if (f->name) {
			swz_line_column(&line, 80);
			swz_line_string(&line, f->name);
		}
		swz_line_write(&line, 1);
	}
}

static void print_module(const struct swz_module *m, bool filtered)
{
	uint32_t left_out = m->counts[SWZ_REFUSE_FILTERED];
	uint32_t patched = m->counts[SWZ_PATCHED];
	struct swz_line line;

	swz_line_start(&line);
	swz_line_string(&line, m->path);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, patched);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count - patched - left_out);
	if (filtered) {
		swz_line_string(&line, "  ");
		swz_line_number(&line, left_out);
	}
	swz_line_write(&line, 1);
	for (unsigned i = SWZ_PATCHED + 1; i < SWZ_REFUSAL_COUNT; i++) {
		if (!m->counts[i] || i == SWZ_REFUSE_FILTERED)
			continue;
		swz_line_start(&line);
		swz_line_string(&line, "    ");
		swz_line_number(&line, m->counts[i]);
		swz_line_column(&line, 14);
		swz_line_string(&line, refusal_text[i]);
		swz_line_write(&line, 1);
	}
	swz_imports_print(m);
	if (swz_config.verbose)
		print_functions(m);
}

void swz_plan_print(const struct swz_plan *plan)
{
	struct swz_line line;
	bool filtered = false;

	for (unsigned i = 0; i < plan->module_count; i++)
		filtered |= plan->modules[i].counts[SWZ_REFUSE_FILTERED] != 0;
	swz_line_start(&line);
	swz_line_string(&line, "module  functions  patched  refused");
	if (filtered)
		swz_line_string(&line, "  filtered");
	swz_line_write(&line, 1);
	for (unsigned i = 0; i < plan->module_count; i++)
		if (plan->modules[i].in_scope)
			print_module(&plan->modules[i], filtered);
}
