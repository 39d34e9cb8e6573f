#include "runtime/hooks/triggers.h"

#include <stdatomic.h>

#include "runtime/hooks/slow_calls.h"
#include "runtime/record/function_ids.h"
#include "runtime/record/marks.h"
#include "runtime/record/request.h"
#include "runtime/support/config.h"

static _Atomic uint64_t starts, stops;

/* Whether this is the call that is meant. (After so many it is never again.) */
static bool is_time(_Atomic uint64_t *calls, const struct swz_trigger *trigger)
{
	return atomic_fetch_add_explicit(calls, 1, memory_order_relaxed) + 1 ==
	       trigger->number;
}

static void change(enum swz_request_state state, enum swz_mark_kind kind,
		   const uint64_t *slot)
{
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t ticks = swz_ticks();

	if (thread && swz_request_set(state, ticks))
		swz_marks_add(thread, kind, "", 0, ticks);
}

void swz_triggers_pull(uint32_t function, const uint64_t *slot)
{
	uint8_t flags = swz_ids_filter(function);

	if (!swz_recording)
		return;
	if (flags & SWZ_FILTER_STOP && is_time(&stops, &swz_config.stop_at))
		change(SWZ_REQUEST_PAUSE, SWZ_MARK_PROCESS_PAUSED, slot);
	if (flags & SWZ_FILTER_START && is_time(&starts, &swz_config.start_at))
		change(SWZ_REQUEST_RECORD, SWZ_MARK_PROCESS_RESUMED, slot);
}
