/* The usual tail call, with sampled timing, is not timed, and nothing has to be
 * done when it ends; so asm/x86_64/enter_sampled.S notes with the frame only
 * which node it has come to. What needs more, the order of what has jumped to
 * what, finds it by the nodes, which are each other's parents. */

#include "runtime/hooks/jumps.h"

#include <stddef.h>

#include "runtime/record/frames.h"

static const struct swz_node *node_of(const struct swz_file_header *file,
				      uint32_t unit)
{
	return (const void *)((const char *)file +
			      (uint64_t)unit * SWZ_UNIT_BYTES);
}

unsigned swz_jumps_of(const struct swz_file_header *file,
		      const struct swz_thunk *frame,
		      uint32_t units[SWZ_MOST_JUMPS])
{
	struct swz_thunk *first = frame->pending;
	const struct swz_thunk *jumps = *swz_frame_behind_records(&first);
	uint32_t unit, own;
	unsigned count = 0;

	if (!swz_is_jumps(jumps) || jumps == SWZ_FIRST_FRAME || !frame->node)
		return 0;
	own = node_of(file, frame->node)->context;
	for (unit = swz_jumps_unit(jumps); unit != own;
	     unit = node_of(file, unit)->parent) {
		if (count == SWZ_MOST_JUMPS ||
		    node_of(file, unit)->call_site != SWZ_CALL_SITE_TAIL ||
		    node_of(file, unit)->function == SWZ_FUNCTION_ROOT)
			break;
		units[count++] = unit;
	}
	return count;
}

bool swz_jumps_lead_to(const struct swz_thunk *frame, uint32_t function)
{
	uint32_t units[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, frame, units);
	bool leads = count &&
		     node_of(swz_file, frame->node)->function == function;

	for (unsigned i = 0; i < count && !leads; i++)
		leads = node_of(swz_file, units[i])->function == function;
	return leads;
}

void swz_jumps_spell_out(struct swz_thread *thread, struct swz_thunk *frame,
			 struct swz_thunk *(*take)(struct swz_thread *))
{
	struct swz_thunk **last = swz_frame_behind_records(&frame->pending);
	uint32_t units[SWZ_MOST_JUMPS];
	unsigned count = swz_jumps_of(swz_file, frame, units);

	if (!swz_is_jumps(*last))
		return;
	*last = NULL;
	for (unsigned i = 0; i < count; i++) {
		struct swz_thunk *record = take(thread);

		if (!record)
			return;
		record->node = units[i];
		record->start_ticks = frame->start_ticks;
		record->pending = NULL;
		last = swz_frame_behind_records(&frame->pending);
		*last = record;
	}
}
