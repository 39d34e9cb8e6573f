/* Hot parts lie on a page that a fork wipes, their cold parts behind it. So a
 * state is found from its hot part's address alone, and a forked child finds
 * its own again. */

#include "runtime/record/thread.h"

#include "runtime/record/frames.h"

_Static_assert(sizeof(struct swz_thread) == 128, "hot part");
_Static_assert(SWZ_THREAD_GROUP * sizeof(struct swz_thread_cold) <=
		       SWZ_COLD_PAGES * SWZ_THREAD_PAGE,
	       "group");

bool swz_recording;
const struct swz_thread swz_nobody, swz_paused_thread, swz_paused_process;
__thread struct swz_thread *swz_thread_aside;
__thread struct swz_thread *swz_thread_self = (struct swz_thread *)&swz_nobody;
/* Its start is earlier than any time, and such that no start derived from it,
 * of an outermost frame that is not timed, says that the frame is suspended. */
struct swz_thunk swz_bottom = {.slot = (uint64_t *)UINTPTR_MAX,
			       .start_ticks = SWZ_SUSPENDED_LAST + 1};

/* libc's thread descriptor, at the thread pointer, begins with its own address,
 * and has it once more in its third word. */
bool swz_thread_has_storage(void)
{
	uintptr_t first, third;

	__asm__ volatile("movq %%fs:0, %0\n\tmovq %%fs:16, %1"
			 : "=r"(first), "=r"(third));
	return first && first == third;
}

struct swz_thread_cold *swz_thread_cold_of(const struct swz_thread *hot)
{
	uintptr_t page = (uintptr_t)hot & -(uintptr_t)SWZ_THREAD_PAGE;
	size_t i = ((uintptr_t)hot - page) / sizeof(struct swz_thread);

	return (struct swz_thread_cold *)(page + SWZ_THREAD_PAGE) + i;
}
