#include "runtime/record/function_ids.h"

#include <sys/mman.h>

#include "base/syscall.h"

/* Ids for modules to come. */
#define LATER_IDS (1u << 20)

bool swz_ids_filtered;
uint8_t *swz_ids_filters;

static uint32_t next_id = 1;
static uint32_t end_id = UINT32_MAX;

uint32_t swz_ids_take(uint32_t count)
{
	uint32_t first = next_id;

	if (count > swz_ids_left())
		return 0;
	next_id += count;
	return first;
}

uint32_t swz_ids_left(void)
{
	return end_id - next_id;
}

uint32_t swz_ids_next(void)
{
	return next_id;
}

void swz_ids_end_start(void)
{
	end_id = next_id + LATER_IDS;
}

uint32_t swz_ids_bound(void)
{
	return end_id + 1;
}

uint32_t swz_ids_spare(void)
{
	return end_id;
}

enum swz_status swz_ids_begin_filters(void)
{
	/* a mapping of its own: it outlives the plan */
	swz_ids_filters = swz_sys_mmap(
		NULL, swz_ids_bound(), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return swz_ids_filters ? SWZ_OK : SWZ_E_NOMEM;
}

void swz_ids_set_filter(uint32_t function, uint8_t flags)
{
	if (swz_ids_filters && function < end_id)
		swz_ids_filters[function] = flags;
}

uint8_t swz_ids_filter(uint32_t function)
{
	return swz_ids_filters && function < end_id ? swz_ids_filters[function]
						    : 0;
}
