#include "control/our_code.h"

#include <stdlib.h>

#include "control/interrupted.h"

#define MOVES 4u /* of threads in hooks, in one stop */

/* Whether a thread executes code of ours. */
static bool is_ours(const struct swz_attached *a,
		    const struct swz_control_code *code, uint32_t count,
		    uint64_t address)
{
	const struct swz_target_mapping *m = swz_target_mapping_at(&a->target,
								   address);

	if (m && swz_target_is_library(m->path))
		return true;
	for (uint32_t i = 0; i < count; i++)
		if (address >= code[i].start && address < code[i].end)
			return true;
	return false;
}

struct swz_control_code *swz_our_code_read(const struct swz_attached *a)
{
	uint32_t count = a->control.code_count;
	struct swz_control_code *code;

	if (count > SWZ_CONTROL_MOST_CODE)
		return NULL;
	code = calloc(count + 1, sizeof(*code));
	if (code && swz_target_read(&a->target, a->control.code, code,
				    count * sizeof(*code)))
		return code;
	free(code);
	return NULL;
}

struct look {
	const struct swz_attached *attached;
	const struct swz_control_code *code;
	uint32_t count;
	bool found;
};

/* Of what a handler has interrupted the library's C code counts, too: it leads
 * back to a hook. */
static bool look_at(void *context, uint64_t address)
{
	struct look *look = context;

	look->found = is_ours(look->attached, look->code, look->count, address);
	return !look->found;
}

bool swz_is_in_us(const struct swz_attached *a,
		  const struct swz_control_code *code,
		  const struct swz_stopped *thread)
{
	struct look look = {a, code, a->control.code_count, false};

	if (is_ours(a, code, a->control.code_count, thread->registers.rip))
		return true;
	swz_interrupted_each(&a->target, &thread->registers, look_at, &look);
	return look.found;
}

/* Marks those of which that is not true. */
static bool nobody_is_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    struct swz_stop *stop)
{
	bool nobody = true;

	for (size_t i = 0; i < stop->count; i++) {
		struct swz_stopped *t = &stop->threads[i];

		t->astray = swz_is_in_us(a, code, t);
		nobody = nobody && !t->astray;
	}
	return nobody;
}

bool swz_nobody_stays_in_us(const struct swz_attached *a,
			    const struct swz_control_code *code,
			    struct swz_stop *stop)
{
	for (unsigned i = 0; i < MOVES; i++) {
		if (nobody_is_in_us(a, code, stop))
			return true;
		if (!swz_stop_move(stop))
			return false;
	}
	return nobody_is_in_us(a, code, stop);
}
