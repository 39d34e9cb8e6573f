/* The jumps to the trampolines are written. */

#include "runtime/plan/plan.h"

#include "runtime/compat/foreign.h"
#include "runtime/compat/sanitizer.h"
#include "runtime/compat/wrapped_functions.h"
#include "runtime/discovery/function.h"
#include "runtime/imports/imports.h"
#include "runtime/module/run_time_code.h"
#include "runtime/module/text.h"
#include "runtime/plan/live.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/plan/capture.h"
#include "runtime/support/worker_threads.h"
#include "thunks/trampoline.h"

static void refuse_range(struct swz_module *m, const struct swz_range *text)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->start >= text->start && f->start < text->end)
			swz_function_refuse(f, SWZ_REFUSE_UNWRITABLE);
	}
	swz_live_sites_gone(m->load_bias + text->start,
			    m->load_bias + text->end, true);
}

/* Where hooks are the controller's, wrappers are written here: those that hide
 * thunks from who walks the stack when there may be any. */
static bool is_ours_to_write(const struct swz_function *f)
{
	if (!swz_live_sites_are_native())
		return true;
	return f->wrapper &&
	       (swizzle_control.was_hooked || swz_wrapped_has(f->wrapper));
}

static bool is_patched_in(const struct swz_function *f,
			  const struct swz_range *text)
{
	return f->start >= text->start && f->start < text->end &&
	       f->trampoline && is_ours_to_write(f);
}

/* To copy their pages takes most of the time. */
#define PORTION 2048u

struct patching {
	const struct swz_module *module;
	const struct swz_range *text; /* that is unlocked */
};

static void copy_pages(void *context, uint32_t begin, uint32_t end,
		       unsigned member)
{
	const struct patching *p = context;
	const struct swz_module *m = p->module;
	struct swz_text_run run = {0};

	(void)member;
	for (uint32_t i = begin; i < end; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_patched_in(f, p->text))
			swz_text_will_write(
				&run, swz_module_bytes(m, f->start + f->site),
				SWZ_JUMP_BYTES);
	}
	swz_text_will_write(&run, NULL, 0);
}

static void write_jumps(void *context, uint32_t begin, uint32_t end,
			unsigned member)
{
	const struct patching *p = context;
	const struct swz_module *m = p->module;

	(void)member;
	for (uint32_t i = begin; i < end; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_patched_in(f, p->text))
			swz_patch_write((uint8_t *)(uintptr_t)swz_module_bytes(
						m, f->start + f->site),
					f->island, f->trampoline);
	}
}

static void patch_inner_sites(const struct swz_module *m,
			      const struct swz_range *text)
{
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		const struct swz_inner_site *s = &m->inner_sites[i];
		uint8_t *at = (uint8_t *)(uintptr_t)swz_module_bytes(m, s->at);

		if (s->at < text->start || s->at >= text->end ||
		    (swz_live_sites_are_native() &&
		     !swz_inner_site_stays(s, swz_function_at(m, s->at))))
			continue;
		if (s->keeps_opcode)
			swz_patch_lead(at, m->trampolines.start + s->copy);
		else
			swz_patch_write(at, 0, m->trampolines.start + s->copy);
	}
}

/* Makes the text writable, and its pages copies of our own, all at once: the
 * copy of a page that is mapped, as it is when it has been read, takes longer,
 * and interrupts all processors that run the program. */
static bool begin_range(struct swz_module *m, const struct swz_range *text)
{
	uint32_t portion = swz_workers_portion(PORTION);
	struct patching p = {m, text};

	if (!swz_text_unlock(m, text))
		return false;
	if (swz_workers_members() > 1 && m->function_count > portion &&
	    swz_text_let_go(m, text))
		swz_workers_run(copy_pages, &p, m->function_count, portion);
	else
		copy_pages(&p, 0, m->function_count, 0);
	return true;
}

static bool end_range(struct swz_module *m, const struct swz_range *text)
{
	struct patching p = {m, text};

	swz_workers_run(write_jumps, &p, m->function_count,
			swz_workers_portion(PORTION));
	patch_inner_sites(m, text);
	return swz_text_lock(m, text);
}

void swz_plan_patch(struct swz_module *m)
{
	bool begun[SWZ_MAX_TEXT_RANGES] = {false};

	swz_capture_module(m);
	for (unsigned t = 0; t < m->text_count; t++)
		begun[t] = begin_range(m, &m->text[t]);
	/* it has what will be written over */
	swz_plan_list_sites(m);
	for (unsigned t = 0; t < m->text_count; t++)
		if (!begun[t] || !end_range(m, &m->text[t]))
			refuse_range(m, &m->text[t]);
	swz_sanitizer_patched(m);
	swz_functions_count(m);
}

static uint32_t site_count(const struct swz_module *m)
{
	uint32_t count = m->inner_site_count;

	for (uint32_t i = 0; i < m->function_count; i++)
		if (m->functions[i].trampoline)
			count += m->functions[i].island ||
						 swz_site_lasts(
							 m, &m->functions[i])
					 ? 2
					 : 1;
	return count;
}

/* With some for the calls of the dynamic linker. */
static void expect_sites(const struct swz_modules *modules)
{
	uint32_t count = 16;

	for (unsigned i = 0; i < modules->count; i++)
		count += site_count(&modules->of[i]);
	swz_live_sites_expect(count);
}

void swz_plan_apply(struct swz_modules *modules)
{
	swz_run_time_code_begin(modules);
	expect_sites(modules);
	for (unsigned i = 0; i < modules->count; i++) {
		struct swz_module *m = &modules->of[i];

		if (!m->functions)
			continue;
		if (swz_config.attached) {
			swz_capture_module(m);
			swz_plan_list_sites(m);
			continue;
		}
		if (m->in_scope)
			swz_foreign_answer(m);
		swz_plan_patch(m);
	}
	swz_imports_apply();
}

const char *swz_plan_obstacle(const struct swz_modules *modules)
{
	uint32_t patched = 0, refused[2] = {0, 0};

	for (unsigned i = 0; i < modules->count; i++) {
		const struct swz_module *m = &modules->of[i];

		patched += m->counts[SWZ_PATCHED];
		refused[0] += m->counts[SWZ_REFUSE_OUT_OF_REACH];
		refused[1] += m->counts[SWZ_REFUSE_UNWRITABLE];
	}
	if (patched || !(refused[0] + refused[1]))
		return NULL;
	return refused[1] > refused[0] ? "no memory may become executable"
				       : "no memory for trampolines";
}
