/* The bounds of a stack are asked for once, when they are first needed. */

#include "runtime/record/home_stack.h"

#include "thunks/maps.h"

/* The kernel keeps this much free of other mappings below the main thread's
 * stack (mmap_base, arch/x86/mm/mmap.c: at least 128 MiB). */
#define MAIN_STACK_BYTES (128u << 20)

static uintptr_t main_stack_top;

void swz_thread_set_main_stack(const void *top)
{
	main_stack_top = (uintptr_t)top;
}

bool swz_on_main_stack(const uint64_t *slot)
{
	return main_stack_top - 8 - (uintptr_t)slot < MAIN_STACK_BYTES;
}

static bool in_home(const struct swz_thread_cold *cold, const uint64_t *slot)
{
	return (uintptr_t)slot - cold->home_low <
	       cold->home_high - cold->home_low;
}

/* What lies next to a thread's stack may be in one mapping with it, other
 * stacks for instance. glibc puts the thread's own control block at the top. */
static void end_home_at_tcb(struct swz_thread_cold *cold)
{
	uint64_t tcb;

	__asm__("movq %%fs:0x10, %0" : "=r"(tcb)); /* tcbhead_t.self */
	if (tcb > cold->first_slot && tcb < cold->home_high)
		cold->home_high = tcb;
}

bool swz_thread_same_stack(struct swz_thread *thread, const uint64_t *a,
			   const uint64_t *b)
{
	struct swz_thread_cold *cold = thread->cold;

	if (!cold->home_high) {
		cold->home_low = 1; /* asked */
		cold->home_high = 1;
		if (swz_on_main_stack((const uint64_t *)cold->first_slot)) {
			cold->home_low = main_stack_top - MAIN_STACK_BYTES;
			cold->home_high = main_stack_top;
		} else {
			swz_mapping_of(cold->first_slot, &cold->home_low,
				       &cold->home_high);
			end_home_at_tcb(cold);
		}
	}
	return in_home(cold, a) && in_home(cold, b);
}

bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot)
{
	return in_home(thread->cold, slot);
}
