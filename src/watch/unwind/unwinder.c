/* The address space of a process. Pages that code was seen in are remembered,
 * so that the list of mappings, which browsers have thousands of, is seldom
 * searched. */

#include "watch/unwind/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "watch/unwind/address_space.h"

enum { PAGE_BITS = 12 };

struct swz_unwinder *swz_unwinder_create(void)
{
	return swz_allocate(1, sizeof(struct swz_unwinder));
}

void swz_unwinder_destroy(struct swz_unwinder *unwinder)
{
	if (!unwinder)
		return;
	swz_mappings_clear(&unwinder->mappings);
	free(unwinder);
}

struct swz_unwinder *swz_unwinder_fork(const struct swz_unwinder *unwinder)
{
	struct swz_unwinder *child = swz_unwinder_create();

	swz_mappings_copy(&child->mappings, &unwinder->mappings);
	child->resolve = unwinder->resolve;
	child->resolve_context = unwinder->resolve_context;
	return child;
}

static void forget_places(struct swz_unwinder *unwinder)
{
	memset(unwinder->places, 0, sizeof(unwinder->places));
}

void swz_unwinder_map(struct swz_unwinder *unwinder,
		      const struct swz_unwinder_mapping *mapping)
{
	swz_mappings_put(&unwinder->mappings, mapping);
	forget_places(unwinder);
}

void swz_unwinder_unmap(struct swz_unwinder *unwinder, uint64_t start,
			uint64_t end)
{
	swz_mappings_remove(&unwinder->mappings, start, end);
	forget_places(unwinder);
}

void swz_unwinder_clear(struct swz_unwinder *unwinder)
{
	swz_mappings_clear(&unwinder->mappings);
	forget_places(unwinder);
}

void swz_unwinder_resolve(struct swz_unwinder *unwinder,
			  uint64_t (*resolve)(void *context,
					      uint64_t return_address),
			  void *context)
{
	unwinder->resolve = resolve;
	unwinder->resolve_context = context;
}

const struct swz_mapping *swz_unwinder_mapping_at(struct swz_unwinder *unwinder,
						  uint64_t pc)
{
	uint64_t page = (pc >> PAGE_BITS) + 1;
	struct swz_place *place = &unwinder->places[page % SWZ_PLACES];
	struct swz_mapping *mapping;

	if (place->page == page)
		return &unwinder->mappings.list[place->mapping];
	mapping = swz_mappings_at(&unwinder->mappings, pc);
	/* a page that belongs to two mappings is looked up each time */
	if (mapping &&
	    !((mapping->start | mapping->end) & ((1u << PAGE_BITS) - 1))) {
		place->page = page;
		place->mapping = (uint32_t)(mapping - unwinder->mappings.list);
	}
	return mapping;
}

bool swz_unwinder_returns(struct swz_unwinder *unwinder, uint64_t *ip,
			  bool exact)
{
	const struct swz_mapping *mapping;
	uint64_t real;

	mapping = swz_unwinder_mapping_at(unwinder, swz_frame_pc(*ip, exact));
	if ((mapping && mapping->file) || exact || !unwinder->resolve)
		return mapping != NULL;
	real = unwinder->resolve(unwinder->resolve_context, *ip);
	if (!real)
		return mapping != NULL;
	*ip = real;
	return swz_unwinder_mapping_at(unwinder, swz_frame_pc(real, false)) !=
	       NULL;
}
