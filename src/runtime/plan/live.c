#include "runtime/plan/live.h"

#include <string.h>

#include "runtime/discovery/function.h"
#include "runtime/support/live_sites.h"
#include "thunks/trampoline.h"

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

static bool is_whole(const struct swz_module *m, const struct swz_function *f)
{
	uint64_t at = address_of(m, f->start + f->site);

	if (!f->island)
		return swz_live_site_is_whole(at, SWZ_JUMP_BYTES);
	return swz_live_site_is_whole(at, SWZ_SHORT_JUMP_BYTES) &&
	       swz_live_site_is_whole(at + (uint64_t)(int64_t)f->island,
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
		    !swz_live_site_is_whole(inner_start(m, s), inner_length(s)))
			refuse(f);
	}
}

void swz_plan_refuse_unsafe(struct swz_module *m)
{
	for (uint32_t i = 0; i < m->function_count; i++) {
		struct swz_function *f = &m->functions[i];

		if (f->trampoline &&
		    (!is_whole(m, f) ||
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

/* What is no hook of a function's. */
static unsigned stays(bool is)
{
	return is ? SWZ_SITE_STAYS : 0;
}

/* (The planner makes short jumps and islands that are whole.) */
bool swz_site_lasts(const struct swz_module *m, const struct swz_function *f)
{
	return f && f->trampoline && !is_whole(m, f);
}

bool swz_inner_site_lasts(const struct swz_module *m,
			  const struct swz_inner_site *s,
			  const struct swz_function *f)
{
	return !swz_live_site_is_whole(inner_start(m, s), inner_length(s)) ||
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

void swz_plan_list_sites(struct swz_module *m)
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
