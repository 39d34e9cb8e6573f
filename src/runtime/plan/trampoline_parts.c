/* Each thread writes trampolines into a part of the module's region, which has
 * room for those of as many functions; then the parts are moved together. */

#include "runtime/plan/trampoline_parts.h"

#include "runtime/discovery/function.h"
#include "runtime/plan/trampoline.h"
#include "runtime/support/scratch.h"
#include "runtime/support/worker_threads.h"

/* What a thread writes at least. */
#define PORTION 1024u

struct part {
	uint32_t begin, end; /* functions */
	uint32_t id;         /* of the first */
	struct swz_trampolines region;
};

struct parts {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct part part[SWZ_MOST_MEMBERS];
	unsigned count;
};

/* Wrapped functions, and those that there is no room or no reach for, are left
 * for later. */
static void write_part(struct swz_module *m, struct part *p,
		       struct swz_decoder *decoder)
{
	uint32_t id = p->id;

	for (uint32_t i = p->begin; i < p->end; i++) {
		struct swz_function *f = &m->functions[i];
		enum swz_refusal refusal;

		if (f->is_piece)
			continue;
		if (f->status == SWZ_PATCHED && !f->wrapper) {
			refusal = swz_plan_trampoline(m, &p->region, decoder, f,
						      id);
			if (refusal != SWZ_REFUSE_OUT_OF_REACH)
				swz_function_refuse(f, refusal);
		}
		id++;
	}
}

static void write_parts(void *context, uint32_t begin, uint32_t end,
			unsigned member)
{
	struct parts *parts = context;

	for (uint32_t i = begin; i < end; i++)
		write_part(parts->module, &parts->part[i],
			   parts->decoders->of[member]);
}

/* As many functions for each. */
static bool divide(struct parts *parts)
{
	const struct swz_module *m = parts->module;
	uint32_t each = m->function_count / parts->count + 1, id = m->first_id;

	for (unsigned n = 0; n < parts->count; n++) {
		struct part *p = &parts->part[n];
		void *scratch;

		p->begin = n ? p[-1].end : 0;
		p->end = m->function_count - p->begin > each
				 ? p->begin + each
				 : m->function_count;
		p->id = id;
		for (uint32_t i = p->begin; i < p->end; i++)
			id += !m->functions[i].is_piece;
		scratch = swz_scratch_alloc_brief(
			swz_trampolines_part_bytes(id - p->id));
		if (!scratch)
			return false;
		swz_trampolines_divide(&m->trampolines, &p->region,
				       p->id - m->first_id, id - p->id,
				       scratch);
	}
	return true;
}

static void join(struct parts *parts)
{
	struct swz_module *m = parts->module;

	for (unsigned n = 0; n < parts->count; n++) {
		struct part *p = &parts->part[n];
		uint32_t down = swz_trampolines_join(&m->trampolines,
						     &p->region);

		for (uint32_t i = p->begin; down && i < p->end; i++)
			if (m->functions[i].trampoline)
				m->functions[i].trampoline -= down;
	}
}

void swz_plan_trampoline_parts(struct swz_module *m,
			       const struct swz_decoders *decoders)
{
	struct parts parts = {.module = m, .decoders = decoders};

	parts.count = m->function_count / swz_workers_portion(PORTION);
	if (parts.count > swz_workers_members())
		parts.count = swz_workers_members();
	if (parts.count < 2 || !divide(&parts))
		return;
	swz_workers_run(write_parts, &parts, parts.count, 1);
	join(&parts);
}
