/* The bounds of a stack are asked for once, when they are first needed. */

#include "runtime/record/home_stack.h"

#include "base/syscall.h"
#include "thunks/maps.h"

#define PAGE UINT64_C(4096)
#define USUAL_STACK_BYTES (UINT64_C(8) << 20)

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

/* Without /proc: what can be read without a gap, up to glibc's usual size of a
 * stack; the page below one cannot. */
static void try_out(struct swz_thread_cold *cold)
{
	uint64_t page = cold->first_slot & -PAGE;

	cold->home_high = page + PAGE;
	for (uint64_t n = 0; n < USUAL_STACK_BYTES / PAGE; n++)
		if (!swz_sys_is_readable(page - n * PAGE))
			break;
		else
			cold->home_low = page - n * PAGE;
	while (cold->home_high - page < USUAL_STACK_BYTES &&
	       swz_sys_is_readable(cold->home_high))
		cold->home_high += PAGE;
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
			if (!swz_mapping_of(cold->first_slot, &cold->home_low,
					    &cold->home_high))
				try_out(cold);
			end_home_at_tcb(cold);
		}
	}
	return in_home(cold, a) && in_home(cold, b);
}

bool swz_thread_at_home(const struct swz_thread *thread, const uint64_t *slot)
{
	return in_home(thread->cold, slot);
}
