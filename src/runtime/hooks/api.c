/* What swizzle.h offers, as the library exports it. */

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "runtime/hooks/followers.h"
#include "runtime/hooks/jumps.h"
#include "runtime/hooks/pause.h"
#include "runtime/hooks/slow_calls.h"
#include "runtime/hooks/spans.h"
#include "runtime/hooks/thread_thunks.h"
#include "runtime/record/frames.h"
#include "runtime/record/request.h"
#include "runtime/record/marks.h"
#include "runtime/record/span_names.h"
#include "runtime/support/live_sites.h"
#include "runtime/support/message.h"
#include "thunks/arena.h"

#define PUBLIC __attribute__((visibility("default")))

/* Without swizzle.h: in C and C++ that has inline functions of most of these
 * names, which look these up. */
PUBLIC uintptr_t swizzle_resolve_return_address(uintptr_t address);
PUBLIC uintptr_t swizzle_resolve_return_location(uintptr_t location);
PUBLIC void swizzle_mark(const char *text);
PUBLIC void swizzle_begin(const char *name);
PUBLIC void swizzle_end(void);
PUBLIC void swizzle_pause(void);
PUBLIC void swizzle_resume(void);
PUBLIC void swizzle_pause_process(void);
PUBLIC void swizzle_resume_process(void);

/* The return slot of the function that this stands in. */
#define OWN_SLOT \
	swz_slot_below((const uint64_t *)__builtin_frame_address(0) + 1)

PUBLIC uintptr_t swizzle_resolve_return_address(uintptr_t address)
{
	return swz_arena_contains(address)
		       ? swz_arena_thunk_at(address)->return_address
		       : address;
}

/* What is stored there is for this return alone: C puts back what was there
 * (thread_thunks.c), so the frame's end is to come to C. */
static void end_in_c(struct swz_thread *thread, struct swz_thunk *thunk)
{
	struct swz_thunk *none = NULL, **last;

	if (thread && swz_thread_owns(thread, thunk))
		swz_jumps_spell_out(thread, thunk, swz_take_record);
	last = swz_frame_behind_records(&thunk->pending);
	__atomic_compare_exchange_n(last, &none, SWZ_FIRST_FRAME, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

PUBLIC uintptr_t swizzle_resolve_return_location(uintptr_t location)
{
	uintptr_t address = *(const uintptr_t *)location;
	struct swz_thread *thread = swz_thread_here();
	struct swz_thunk *thunk;

	if (!swz_arena_contains(address))
		return location;
	thunk = swz_arena_thunk_at(address);
	if (swz_thunk_leads(thunk) && thread)
		thunk = swz_frame_stop_following(thread, thunk,
						 (uint64_t *)location);
	if (swz_thunk_leads(thunk))
		return location;
	end_in_c(thread, thunk);
	return (uintptr_t)&thunk->return_address;
}

/* A pause is a span of its own kind, that goes on within others. */
static bool stop_pause(struct swz_thread *thread, const uint64_t *slot)
{
	return swz_thread_is_paused() &&
	       swz_span_end(thread, slot, swz_span_id(thread, SWZ_SPAN_PAUSED),
			    swz_ticks());
}

PUBLIC void swizzle_mark(const char *text)
{
	struct swz_thread *thread = swz_this_thread(NULL, OWN_SLOT);

	if (thread && text)
		swz_marks_add(thread, SWZ_MARK_TEXT, text, strlen(text),
			      swz_ticks());
}

PUBLIC void swizzle_begin(const char *name)
{
	const uint64_t *slot = OWN_SLOT;
	uint64_t site = (uintptr_t)__builtin_return_address(0);
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (!thread || !name)
		return;
	stop_pause(thread, slot);
	if (swz_arena_contains(site))
		site = SWZ_CALL_SITE_TAIL;
	swz_span_begin(thread, slot, swz_span_id(thread, name), site,
		       swz_ticks());
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
}

PUBLIC void swizzle_end(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (!thread)
		return;
	stop_pause(thread, slot);
	swz_span_end(thread, slot, 0, swz_ticks());
	if (swz_thread_is_paused())
		swz_pause_goes_on(thread, slot);
}

PUBLIC void swizzle_pause(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (thread)
		swz_pause_thread(thread, slot);
}

PUBLIC void swizzle_resume(void)
{
	const uint64_t *slot = OWN_SLOT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);

	if (thread)
		swz_resume_thread(thread, slot);
}

/* The other threads learn it at their next call. */
static void change_process(enum swz_request_state state, const uint64_t *slot)
{
	static atomic_flag said = ATOMIC_FLAG_INIT;
	struct swz_thread *thread = swz_this_thread(NULL, slot);
	uint64_t ticks = swz_ticks();

	if (!thread || !swz_request_set(state, ticks))
		return;
	swz_marks_add(thread,
		      state == SWZ_REQUEST_PAUSE ? SWZ_MARK_PROCESS_PAUSED
						 : SWZ_MARK_PROCESS_RESUMED,
		      "", 0, ticks);
	(void)swz_pause_passes(slot);
	if (state == SWZ_REQUEST_RECORD && swz_live_sites_are_native() &&
	    !atomic_flag_test_and_set_explicit(&said, memory_order_relaxed))
		swz_say("the program resumes recording, but none of its "
			"functions is hooked. Use swizzle-ctl start, or begin "
			"with SWIZZLE_OFF=hooked",
			NULL, NULL);
}

PUBLIC void swizzle_pause_process(void)
{
	change_process(SWZ_REQUEST_PAUSE, OWN_SLOT);
}

PUBLIC void swizzle_resume_process(void)
{
	change_process(SWZ_REQUEST_RECORD, OWN_SLOT);
}
