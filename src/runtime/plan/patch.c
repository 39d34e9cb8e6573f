/* Writes jumps into code. At a program's start nothing executes the code, and
 * the text is made writable for a moment. In a process that runs already, and
 * where hooks are taken out while recording is stopped, the sites are only
 * listed: the controller writes them (base/control.h). */

#include <stdbool.h>
#include <string.h>

#include "base/basics.h"
#include "base/syscall.h"
#include "runtime/compat/compat.h"
#include "runtime/discovery/function.h"
#include "runtime/imports/imports.h"
#include "runtime/module/code_owners.h"
#include "runtime/module/module.h"
#include "runtime/plan/plan.h"
#include "runtime/record/annotations.h"
#include "runtime/record/values.h"
#include "runtime/support/config.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/scratch_memory.h"
#include "runtime/support/worker_threads.h"
#include "thunks/trampoline.h"

/* ---------------------------------------------- code that may be executing */

static uint64_t address_of(const struct swz_module *m, uint64_t at)
{
	return m->load_bias + at;
}

/* call *register, call *memory: ff /2, of two or three bytes. */
static bool has_inner_call(const uint8_t *site)
{
	for (unsigned i = 0; i < 3; i++)
		if (site[i] == 0xff && (site[i + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

/* The bytes of an inner site that change. */
static uint64_t inner_start(const struct swz_module *m,
			    const struct swz_inner_site *s)
{
	return address_of(m, s->at) + s->keeps_opcode;
}

static unsigned inner_length(const struct swz_inner_site *s)
{
	return SWZ_JUMP_BYTES - s->keeps_opcode;
}

static bool is_in_one_page(const struct swz_module *m,
			   const struct swz_function *f)
{
	uint64_t at = address_of(m, f->start + f->site);

	if (!f->island)
		return swz_live_site_in_one_page(at, SWZ_JUMP_BYTES);
	return swz_live_site_in_one_page(at, SWZ_SHORT_JUMP_BYTES) &&
	       swz_live_site_in_one_page(at + (uint64_t)(int64_t)f->island,
					 SWZ_JUMP_BYTES);
}

static void refuse(struct swz_function *f)
{
	f->trampoline = NULL;
	f->status = SWZ_REFUSE_LIVE;
}

/* Whose bytes the island takes; NULL: it is padding, or of a function that is
 * not patched. */
static struct swz_function *host_of(const struct swz_module *m,
				    const struct swz_function *f)
{
	uint64_t at = f->start + f->site + (uint64_t)(int64_t)f->island;

	return f->island ? swz_function_at(m, at) : NULL;
}

static void refuse_inner(struct swz_module *m)
{
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		const struct swz_inner_site *s = &m->inner_sites[i];
		struct swz_function *f = swz_function_at(m, s->at);

		if (f && f->trampoline &&
		    !swz_live_site_in_one_page(inner_start(m, s),
					       inner_length(s)))
			refuse(f);
	}
}

void swz_plan_refuse_unsafe(struct swz_module *m)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->trampoline &&
		    (!is_in_one_page(m, f) ||
		     has_inner_call(swz_module_bytes(m, f->start + f->site))))
			refuse(f);
	}
	refuse_inner(m);
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];
		const struct swz_function *host = host_of(m, f);

		/* what the host's jump would have led around */
		if (f->trampoline && host && host->status == SWZ_REFUSE_LIVE)
			refuse(f);
	}
}

/* --------------------------------------------------------------- the list */

/* Numbers of functions, beside them: in the plan there is no room. */
struct numbers {
	uint32_t first;
};

static uint32_t number_of(const struct swz_module *m,
			  const struct numbers *numbers,
			  const struct swz_function *f)
{
	return numbers->first + (uint32_t)(f - m->functions);
}

/* Flag for a site that is no function's hook. */
static unsigned stays(bool is)
{
	return is ? SWZ_SITE_STAYS : 0;
}

/* (The planner makes short jumps and islands that are whole.) */
bool swz_site_lasts(const struct swz_module *m, const struct swz_function *f)
{
	return f && f->trampoline && !is_in_one_page(m, f);
}

bool swz_inner_site_lasts(const struct swz_module *m,
			  const struct swz_inner_site *s,
			  const struct swz_function *f)
{
	return !swz_live_site_in_one_page(inner_start(m, s), inner_length(s)) ||
	       swz_site_lasts(m, f);
}

static void list_inner(const struct swz_module *m, const struct numbers *n)
{
	for (uint32_t i = 0; i < m->inner_site_count; i++) {
		const struct swz_inner_site *s = &m->inner_sites[i];
		const struct swz_function *f = swz_function_at(m, s->at);
		const uint8_t *to = m->trampolines.start + s->copy;
		uint64_t from = address_of(m, s->at) + SWZ_JUMP_BYTES;
		int32_t distance = (int32_t)((uintptr_t)to - from);
		uint8_t bytes[SWZ_JUMP_BYTES] = {0xe9};
		unsigned flags = stays(swz_inner_site_stays(s, f));

		if (!f || !f->trampoline)
			continue;
		if (swz_inner_site_lasts(m, s, f))
			flags = SWZ_SITE_STAYS | SWZ_SITE_LASTS;
		memcpy(bytes + 1, &distance, sizeof(distance));
		(void)swz_live_sites_add(
			inner_start(m, s), bytes + s->keeps_opcode,
			inner_length(s), SWZ_PHASE_INNER, number_of(m, n, f),
			SWZ_NO_HOST, flags);
	}
}

/* Its trampoline is what changes; a wrapper's does not. */
static void list_lasting(const struct swz_module *m,
			 const struct swz_function *f, uint64_t at,
			 const uint8_t *jump, uint32_t number)
{
	uint8_t past[SWZ_TRAMPOLINE_SWITCH_BYTES];

	if (!swz_live_sites_add(at, jump, SWZ_JUMP_BYTES, SWZ_PHASE_JUMP,
				number, SWZ_NO_HOST,
				SWZ_SITE_STAYS | SWZ_SITE_LASTS) ||
	    f->wrapper)
		return;
	swz_live_sites_add_switch(swz_trampoline_switch(f->trampoline,
							m->trampolines.start,
							past),
				  past, sizeof(past), number);
}

static void list_function(const struct swz_module *m, const struct numbers *n,
			  const struct swz_function *f)
{
	uint64_t at = address_of(m, f->start + f->site);
	uint64_t jump = at + (uint64_t)(int64_t)f->island;
	int32_t distance = (int32_t)((uintptr_t)f->trampoline -
				     (jump + SWZ_JUMP_BYTES));
	uint8_t bytes[SWZ_JUMP_BYTES] = {0xe9};
	const uint8_t hop[SWZ_SHORT_JUMP_BYTES] = {
		0xeb, (uint8_t)(f->island - SWZ_SHORT_JUMP_BYTES)};
	const struct swz_function *host = host_of(m, f);
	uint32_t number = number_of(m, n, f);
	uint32_t of_host = host && host->trampoline ? number_of(m, n, host)
						    : SWZ_NO_HOST;
	unsigned flags = stays(f->wrapper != NULL);

	memcpy(bytes + 1, &distance, sizeof(distance));
	if (swz_site_lasts(m, f)) {
		list_lasting(m, f, at, bytes, number);
		return;
	}
	if (has_inner_call(swz_module_bytes(m, f->start + f->site)))
		flags |= SWZ_SITE_ONCE;
	if (!swz_live_sites_add(jump, bytes, SWZ_JUMP_BYTES,
				f->island ? SWZ_PHASE_ISLAND : SWZ_PHASE_JUMP,
				number, of_host, flags) ||
	    !f->island)
		return;
	(void)swz_live_sites_add(at, hop, SWZ_SHORT_JUMP_BYTES, SWZ_PHASE_SHORT,
				 number, of_host, flags);
}

/* Lists the module's sites, in memory as they are now: before any is written.
 */
static void plan_list_sites(struct swz_module *m)
{
	struct numbers n = {swz_live_sites_functions(m->function_count)};

	if (m->trampolines.start)
		swz_live_sites_code(m->trampolines.start, m->trampolines.bytes);
	list_inner(m, &n);
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->trampoline)
			list_function(m, &n, f);
	}
	swz_functions_count(m);
}

/* ------------------------------------- functions whose values are recorded */

/* Its hook looks whether recording is to start or stop there, or whether the
 * call is one of those that --slow watches. */
static bool is_trigger(const struct swz_function *f)
{
	return f->filter &
		       (SWZ_FILTER_START | SWZ_FILTER_STOP | SWZ_FILTER_SLOW) &&
	       f->trampoline && !f->is_piece && !f->wrapper;
}

static bool is_captured(const struct swz_function *f)
{
	return f->captured && f->trampoline && !f->is_piece && !f->wrapper;
}

/* By debug information, which is asked for once. */
static void ask_for_signatures(struct swz_module *m)
{
	const struct swz_exchange_module question = {
		.path = m->path,
		.build_id = m->build_id.data,
		.build_id_bytes = (uint32_t)m->build_id.size,
		.is_program = m->is_program,
		.pid = (int32_t)SWZ_SYSCALL(SYS_getpid),
	};

	if (m->asked_for_signatures || m->flows_only || m->path[0] != '/')
		return;
	m->asked_for_signatures = true;
	m->signatures = swz_signatures_ask(&question);
}

/* Marks the functions of -A, and of --args those that -A has not named.
 * Returns how many there are. */
static uint32_t find_captured(struct swz_module *m)
{
	uint32_t count = 0;

	if (!swz_signatures_are_wanted() || !m->in_scope || !m->function_count)
		return 0;
	ask_for_signatures(m);
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (!f->captured)
			f->captured = (uint32_t)(swz_signature_at(m->signatures,
								  f->start) +
						 1);
		count += is_captured(f);
	}
	return count;
}

static uint32_t count_triggers(const struct swz_module *m)
{
	uint32_t count = 0;

	if (!swz_config_has_triggers() && !swz_config.slow)
		return 0;
	for (uint32_t i = 0; i < m->function_count; i++)
		count += is_trigger(&m->functions[i]);
	return count;
}

static void note_marks(const struct swz_module *m, const struct swz_function *f,
		       uint32_t id)
{
	uint32_t bits = f->is_piece ? 0
				    : swz_signature_marks_at(m->signatures,
							     f->start);

	if (bits)
		swz_signatures_mark(id, bits);
}

/* Leads the module's trampolines there, which nothing leads to yet, and makes
 * its functions known to that hook. What cannot be changed stays as it is:
 * calls are recorded then, without values. */
static void capture_module(struct swz_module *m)
{
	struct swz_trampolines *region = &m->trampolines;
	uint32_t id = m->first_id;

	if (!m->in_scope ||
	    (!find_captured(m) && !count_triggers(m) && !m->signatures))
		return;
	/* writable for a moment, as when it was written */
	if (swz_sys_mprotect(region->start, region->bytes,
			     PROT_READ | PROT_WRITE) != 0)
		return;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		bool captured = is_captured(f) &&
				swz_signatures_set(id, f->captured - 1u,
						   m->signatures);

		if (captured || is_trigger(f))
			swz_trampoline_capture(
				(uint8_t *)(uintptr_t)f->trampoline,
				region->start);
		note_marks(m, f, id);
		id += !f->is_piece;
	}
	if (swz_sys_mprotect(region->start, region->bytes,
			     PROT_READ | PROT_EXEC) != 0)
		swz_functions_refuse(m, SWZ_REFUSE_UNWRITABLE);
}

enum swz_status swz_capture_record(struct swz_module *m, uint32_t index)
{
	uint32_t count = find_captured(m), done = 0, items = 0;
	uint32_t(*pairs)[2];

	if (!count)
		return SWZ_OK;
	pairs = swz_scratch_alloc(count * sizeof(*pairs));
	if (!pairs)
		return SWZ_E_NOMEM;
	for (int of_items = 1; of_items >= 0; of_items--) {
		uint32_t id = m->first_id;

		for (uint32_t i = 0; i < m->function_count; i++) {
			const struct swz_function *f = &m->functions[i];

			if (is_captured(f) &&
			    swz_signature_is_item(f->captured - 1u) ==
				    of_items) {
				pairs[done][0] = id;
				pairs[done++][1] = f->captured - 1u;
			}
			id += !f->is_piece;
		}
		if (of_items)
			items = done;
	}
	return swz_signatures_record(pairs, items, done, m->signatures, index);
}

/* ----------------------------------------------------------------- patches */

/* The jumps to the trampolines are written. */

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

/* True if the library writes the jump itself. Where the controller writes
 * hooks, wrappers are still written here: those that hide thunks from who
 * walks the stack. */
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

	capture_module(m);
	for (unsigned t = 0; t < m->text_count; t++)
		begun[t] = begin_range(m, &m->text[t]);
	/* it has what will be written over */
	plan_list_sites(m);
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
			capture_module(m);
			plan_list_sites(m);
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
