#include "runtime/plan/capture.h"

#include <stdbool.h>

#include "base/syscall.h"
#include "runtime/discovery/function.h"
#include "runtime/record/signatures.h"
#include "runtime/support/config.h"
#include "runtime/support/scratch.h"
#include "thunks/trampoline.h"

static bool is_captured(const struct swz_function *f)
{
	return f->captured && f->trampoline && !f->is_piece && !f->wrapper;
}

static uint32_t count_captured(const struct swz_module *m)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < m->function_count; i++)
		count += is_captured(&m->functions[i]);
	return count;
}

void swz_capture_module(struct swz_module *m)
{
	struct swz_trampolines *region = &m->trampolines;
	uint32_t id = m->first_id;

	if (!swz_signature_patterns || !m->in_scope || !count_captured(m))
		return;
	/* writable for a moment, as when it was written */
	if (swz_sys_mprotect(region->start, region->bytes,
			     PROT_READ | PROT_WRITE) != 0)
		return;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_captured(f) && swz_signatures_set(id, f->captured - 1u))
			swz_trampoline_capture(
				(uint8_t *)(uintptr_t)f->trampoline);
		id += !f->is_piece;
	}
	if (swz_sys_mprotect(region->start, region->bytes,
			     PROT_READ | PROT_EXEC) != 0)
		swz_functions_refuse(m, SWZ_REFUSE_UNWRITABLE);
}

enum swz_status swz_capture_record(const struct swz_module *m, uint32_t index)
{
	uint32_t count = count_captured(m), id = m->first_id, done = 0;
	uint32_t(*pairs)[2];

	if (!swz_signature_patterns || !m->in_scope || !count)
		return SWZ_OK;
	pairs = swz_scratch_alloc(count * sizeof(*pairs));
	if (!pairs)
		return SWZ_E_NOMEM;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (is_captured(f)) {
			pairs[done][0] = id;
			pairs[done++][1] = f->captured - 1u;
		}
		id += !f->is_piece;
	}
	return swz_signatures_record(pairs, done, index);
}
