#include "runtime/plan/capture.h"

#include <stdbool.h>

#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/signatures.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch.h"
#include "thunks/trampoline.h"

/* Its hook looks whether recording is to start or stop there. */
static bool is_trigger(const struct swz_function *f)
{
	return f->filter & (SWZ_FILTER_START | SWZ_FILTER_STOP) &&
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

/* What -A has not named may be of --args. Returns how many there are. */
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

	for (uint32_t i = 0; swz_config_has_triggers() && i < m->function_count;
	     i++)
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

void swz_capture_module(struct swz_module *m)
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
				(uint8_t *)(uintptr_t)f->trampoline);
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
