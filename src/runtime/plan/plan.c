#include "runtime/plan/plan.h"

#include <sys/mman.h>

#include "runtime/cache/cache.h"
#include "runtime/cache/start_record.h"
#include "runtime/compat/find_object.h"
#include "runtime/compat/foreign.h"
#include "runtime/compat/stack_walkers.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/collect.h"
#include "runtime/discovery/filter.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/scan.h"
#include "runtime/hooks/hook_choice.h"
#include "runtime/imports/imports.h"
#include "runtime/module/foreign_callers.h"
#include "runtime/discovery/location.h"
#include "runtime/plan/code_parts.h"
#include "runtime/plan/live.h"
#include "runtime/plan/trampolines.h"
#include "runtime/record/function_ids.h"
#include "runtime/support/config.h"
#include "runtime/support/decoders.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "runtime/support/progress.h"
#include "runtime/support/scratch.h"

/* What is needed for a time only while a module is planned, by bytes of its
 * text: less, as a rule. */
#define BRIEF_PER_BYTE 2

extern const char swz_text_start[];

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

static enum swz_status refuse_functions(struct swz_module *m)
{
	if ((m->late || swz_config.attached) && has_text_relocations(m))
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
	return m->in_scope ? swz_filter_module(m) : SWZ_OK;
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
	status = swz_functions_collect(m, decoders->of[0]);
	if (status != SWZ_OK)
		return status;
	if (m->in_scope && m->hookable_count > swz_ids_left())
		return SWZ_E_NOMEM;
	swz_stack_walkers_mark(m);
	swz_wrapped_mark(m);
	swz_foreign_inspect(m);
	status = refuse_functions(m);
	if (status == SWZ_OK && is_wanted(m))
		status = plan_wanted(m, decoders);
	if (status == SWZ_OK)
		swz_cache_store(m);
	return status;
}

/* Of a module out of scope only functions that have wrappers are patched. Most
 * have none, as earlier starts may have noted: then the file is left alone.
 * (Calls into libraries are timed where their files say that functions are.) */
static bool is_left_alone(struct swz_module *m)
{
	const struct swz_other_module *other;

	if (m->in_scope || swz_config.imports)
		return false;
	other = swz_start_record_of(m);
	if (!other)
		return false;
	if (other->asks)
		swz_wrapped_expect();
	m->unopened = true;
	m->walks = other->walks;
	m->offers = other->offers;
	return true;
}

static void look_for_wrapped(struct swz_module *m)
{
	struct swz_other_module other = {
		.asks = swz_wrapped_asks(m),
		.offers = swz_wrapped_is_offered(m),
		.walks = swz_stack_walkers_are_in(m),
	};

	m->offers = other.offers;
	m->walks = other.walks;
	swz_start_record_note(m, other);
}

static bool has_wrapped(struct swz_module *m)
{
	if (!m->unopened)
		look_for_wrapped(m);
	return m->walks || (m->offers && swz_wrapped_is_expected());
}

static enum swz_status plan_module(struct swz_module *m,
				   struct swz_decoders *decoders)
{
	enum swz_status status = SWZ_OK;

	m->first_id = swz_ids_next();
	if (!m->in_scope && !has_wrapped(m))
		return SWZ_OK;
	if (m->unopened)
		status = swz_module_open(m);
	m->unopened = false;
	if (status != SWZ_OK)
		return status;
	if (!m->in_scope)
		swz_cache_find(m);
	if (!swz_cache_use(m, swz_hooks_choose(), swz_ids_left()))
		status = plan_anew(m, decoders);
	if (status != SWZ_OK)
		return status;
	if (m->own_unwinder)
		swz_note_unwinder(m->start, m->end);
	if (swz_config.attached || swz_live_sites_are_native())
		swz_plan_refuse_unsafe(m);
	swz_functions_count(m);
	if (m->in_scope) {
		swz_ids_take(m->hookable_count);
		swz_foreign_callers_note_ids(m, swz_ids_next());
		if (!swz_plan_note_code(m, swz_ids_next()))
			return SWZ_E_NOMEM;
	} else {
		m->hookable_count = 0; /* none of the profile's */
	}
	return SWZ_OK;
}

static void collect_filter(const struct swz_module *m)
{
	uint32_t id = m->first_id;

	if (!m->in_scope || !(swz_ids_filtered || swz_config_has_triggers()))
		return;
	for (uint32_t i = 0; i < m->function_count; i++)
		if (!m->functions[i].is_piece)
			swz_ids_set_filter(id++, m->functions[i].filter);
}

static enum swz_status collect_filters(const struct swz_modules *modules)
{
	enum swz_status status = swz_ids_begin_filters();

	if (status != SWZ_OK)
		return status;
	for (unsigned i = 0; i < modules->count; i++)
		collect_filter(&modules->of[i]);
	return SWZ_OK;
}

/* Nothing is hooked in ourselves, and no wrapper led to. */
static bool is_us(const struct swz_module *m)
{
	uint64_t here = (uintptr_t)swz_text_start;

	return here >= m->start && here < m->end;
}

static bool has_file(const struct swz_module *m)
{
	return m->text_count && m->path[0] == '/' && !is_us(m);
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

enum swz_status swz_plan_make(struct swz_modules *modules)
{
	struct swz_decoders decoders = {{NULL}};
	enum swz_status status;
	uint64_t text = 0, most = 0, planned = 0;

	swz_ids_filtered = swz_config.filter || swz_config.notrace ||
			   swz_config.depth;
	status = modules->count ? SWZ_OK : swz_modules_list(modules);
	if (status != SWZ_OK)
		return status;
	swz_cache_begin(modules->of, modules->count);
	if (!swz_config.attached)
		swz_start_record_begin(modules);
	for (unsigned i = 0; i < modules->count; i++) {
		struct swz_module *m = &modules->of[i];

		if (!has_file(m) || is_left_alone(m))
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
		swz_wrapped_look(m);
		text += text_to_hook(m);
		if (text_to_hook(m) > most)
			most = text_to_hook(m);
	}
	if (most)
		swz_scratch_expect_brief(BRIEF_PER_BYTE * most);
	swz_workers_begin(text + planned / LESS_TO_PATCH);
	swz_progress_begin(text);
	for (unsigned i = 0; i < modules->count; i++) {
		modules->of[i].first_id = swz_ids_next();
		if (!has_file(&modules->of[i]))
			continue;
		if (!modules->of[i].saved)
			swz_progress_module(modules->of[i].path,
					    text_to_hook(&modules->of[i]));
		status = plan_module(&modules->of[i], &decoders);
		if (status != SWZ_OK)
			return status;
	}
	status = swz_imports_plan(modules);
	if (status != SWZ_OK)
		return status;
	swz_progress_end();
	swz_cache_end();
	if (swz_config.location && !swz_location_any_known())
		swz_say("-L: no function's source file is known (no debug "
			"information)",
			NULL, NULL);
	swz_ids_end_start();
	return swz_ids_filtered || swz_config_has_triggers()
		       ? collect_filters(modules)
		       : SWZ_OK;
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
