#include "runtime/plan.h"

#include <sys/mman.h>

#include "base/syscall.h"
#include "runtime/cache.h"
#include "runtime/config.h"
#include "runtime/confinement.h"
#include "runtime/decoders.h"
#include "runtime/events.h"
#include "runtime/filter.h"
#include "runtime/find_object.h"
#include "runtime/foreign.h"
#include "runtime/function.h"
#include "runtime/imports.h"
#include "runtime/location.h"
#include "runtime/message.h"
#include "runtime/plan_trampolines.h"
#include "runtime/progress.h"
#include "runtime/sampling.h"
#include "runtime/scan.h"
#include "runtime/scratch.h"
#include "runtime/walkers.h"
#include "thunks/trampoline.h"

bool swz_plan_filtered;

/* What is needed for a time only while a module is planned, by bytes of its
 * text: less, as a rule. */
#define BRIEF_PER_BYTE 2

/* Ids for modules to come. What is indexed by id has room for them from the
 * start (address space, no memory), so that nothing moves under the hooks. */
#define LATER_IDS (1u << 20)

uint8_t *swz_plan_filters;

static uint32_t next_id = 1;
static uint32_t end_id = UINT32_MAX;

void swz_hook_enter(void);
void swz_hook_enter_filtered(void);
void swz_hook_enter_sampled(void);
void swz_hook_enter_sampled_filtered(void);
void swz_hook_enter_leaf(void);
void swz_hook_enter_leaf_filtered(void);
void swz_hook_enter_traced(void);
void swz_hook_enter_traced_filtered(void);

uint8_t swz_plan_filter(uint32_t function)
{
	return swz_plan_filters && function < end_id
		       ? swz_plan_filters[function]
		       : 0;
}

void swz_plan_set_filter(uint32_t function, uint8_t flags)
{
	if (swz_plan_filters && function < end_id)
		swz_plan_filters[function] = flags;
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
		{swz_hook_enter_sampled_filtered, swz_hook_enter_leaf_filtered},
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

/* Before it is relocated: the linker has yet to write into the text. */
static bool has_text_relocations(const struct swz_module *m)
{
	const ElfW(Dyn) *d = swz_module_dynamic(m);

	for (; d && d->d_tag != DT_NULL; d++)
		if (d->d_tag == DT_TEXTREL ||
		    (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
			return true;
	return false;
}

static void refuse_functions(struct swz_module *m)
{
	if (m->late && has_text_relocations(m))
		swz_functions_refuse(m, SWZ_REFUSE_TEXT_RELOCATIONS);
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
				   const struct swz_decoders *decoders)
{
	enum swz_status status;

	swz_scan_return_slots(m, decoders);
	swz_progress_percent(30);
	status = swz_scan_branches(m, decoders);
	swz_progress_percent(50);
	if (status == SWZ_OK)
		swz_plan_write_trampolines(m, decoders);
	return status;
}

static enum swz_status plan_anew(struct swz_module *m,
				 struct swz_decoders *decoders)
{
	enum swz_status status;

	if (!decoders->of[0] && !swz_decoders_new(decoders))
		return SWZ_E_NOMEM;
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
		status = plan_wanted(m, decoders);
	if (status == SWZ_OK)
		swz_cache_store(m);
	return status;
}

/* Modules out of scope are patched for functions that have wrappers. */
static enum swz_status plan_module(struct swz_module *m,
				   struct swz_decoders *decoders)
{
	enum swz_status status = SWZ_OK;

	m->first_id = next_id;
	if (!m->in_scope && !swz_walkers_are_in(m) && !swz_confinement_is_in(m))
		return SWZ_OK;
	if (!m->in_scope)
		swz_cache_find(m);
	if (!swz_cache_use(m, swz_plan_hooks(), end_id - next_id))
		status = plan_anew(m, decoders);
	if (status != SWZ_OK)
		return status;
	if (m->own_unwinder)
		swz_note_unwinder(m->start, m->end);
	swz_functions_count(m);
	if (m->in_scope) {
		next_id += m->hookable_count;
		swz_foreign_note_ids(m, next_id);
	} else {
		m->hookable_count = 0; /* none of the profile's */
	}
	return SWZ_OK;
}

static void collect_filter(const struct swz_module *m)
{
	uint32_t id = m->first_id;

	if (!swz_plan_filters || !m->in_scope)
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			swz_plan_filters[id++] = m->functions[i].filter;
}

static enum swz_status collect_filters(const struct swz_plan *plan)
{
	/* a mapping of its own: it outlives the plan */
	swz_plan_filters = swz_sys_mmap(
		NULL, end_id + 1, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!swz_plan_filters)
		return SWZ_E_NOMEM;
	for (unsigned i = 0; i < plan->module_count; i++)
		collect_filter(&plan->modules[i]);
	return SWZ_OK;
}

static bool has_file(const struct swz_module *m)
{
	return m->text_count && m->path[0] == '/';
}

/* To patch what is planned already takes so much less time than to plan it. */
#define LESS_TO_PATCH 8

static uint64_t text_to_hook(const struct swz_module *m)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; m->in_scope && i < m->text_count; i++)
		bytes += m->text[i].end - m->text[i].start;
	return bytes;
}

enum swz_status swz_plan_make(struct swz_plan *plan)
{
	struct swz_decoders decoders = {{NULL}};
	enum swz_status status;
	uint64_t text = 0, most = 0, planned = 0;

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
		if (m->saved) {
			planned += text_to_hook(m);
			continue;
		}
		swz_confinement_look(m);
		text += text_to_hook(m);
		if (text_to_hook(m) > most)
			most = text_to_hook(m);
	}
	if (most)
		swz_scratch_expect_brief(BRIEF_PER_BYTE * most);
	swz_team_begin(text + planned / LESS_TO_PATCH);
	swz_progress_begin(text);
	for (unsigned i = 0; i < plan->module_count; i++) {
		plan->modules[i].first_id = next_id;
		if (!has_file(&plan->modules[i]))
			continue;
		if (!plan->modules[i].saved)
			swz_progress_module(plan->modules[i].path,
					    text_to_hook(&plan->modules[i]));
		status = plan_module(&plan->modules[i], &decoders);
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
	struct swz_decoders decoders = {{NULL}};
	enum swz_status status;

	m->late = true;
	status = swz_module_open(m);
	if (status == SWZ_OK && m->in_scope)
		swz_cache_find(m);
	if (status == SWZ_OK)
		status = plan_module(m, &decoders);
	if (status == SWZ_OK)
		collect_filter(m);
	swz_cache_end();
	return status;
}
