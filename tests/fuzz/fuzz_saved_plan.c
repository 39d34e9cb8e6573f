/* Any bytes as a file of the plan cache, with checksums that are right: what is
 * accepted can be used without leaving its memory. */

#include <stdlib.h>
#include <string.h>

#include "swizzle/format.h"
#include "thunks/relocate.h"
#include "thunks/saved_plan.h"
#include "thunks/trampoline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The jumps into a text of the size that the key says. */
static void patch(const struct swz_saved_key *key,
		  const struct swz_saved_function *f)
{
	for (uint32_t i = 0; i < key->text_count; i++) {
		uint64_t start = key->texts[i].start;
		uint64_t bytes = key->texts[i].end - start;
		uint8_t *text;

		if (f->start < start || f->start >= key->texts[i].end ||
		    bytes > 1 << 20)
			continue;
		text = malloc(bytes);
		if (text) {
			uint8_t *site = text + (f->start - start) + f->site;

			memset(site + f->island, 0, SWZ_JUMP_BYTES);
			if (f->island)
				memset(site, 0, SWZ_SHORT_JUMP_BYTES);
		}
		free(text);
		return;
	}
}

/* What the runtime does, in memory of its own. */
static void use(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;
	uint8_t *region = malloc(h->trampoline_bytes + 1);

	if (!region)
		return;
	memcpy(region, plan->trampolines, h->trampoline_bytes);
	if (swz_fixups_apply_relative(region, plan->relative, h->relative, 4) ==
	    SWZ_OK)
		swz_fixups_apply_absolute(region, plan->absolute, h->absolute,
					  4);
	for (uint32_t i = 0; i < h->functions; i++) {
		const struct swz_saved_function *f = &plan->functions[i];

		if (f->status == SWZ_PATCHED)
			memset(region + f->trampoline, 0, SWZ_TRAMPOLINE_BODY);
		if (f->trampoline)
			patch(&h->key, f);
	}
	for (uint32_t i = 0; i < h->wrappers; i++)
		memset(region + plan->functions[plan->wrappers[i].function]
					.trampoline,
		       0, SWZ_TRAMPOLINE_WRAPPING);
	free(region);
}

/* The table as it is finished behind the trampolines. */
static void finish(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;
	size_t bytes = h->frame_bytes + swz_unwind_table_bytes(h->entries) +
		       (size_t)h->islands * SWZ_UNWIND_ISLAND_BYTES;
	struct swz_unwind_table table = {
		.frame = (uint8_t *)(uintptr_t)plan->frame,
		.used = h->frame_bytes,
		.entries = (struct swz_unwind_entry *)(uintptr_t)plan->entries,
		.count = h->entries,
		.islands = plan->islands,
		.island_count = h->islands,
		.island_bytes = 5,
	};
	const uint8_t *header;
	uint8_t *at = malloc(bytes);

	if (at && swz_unwind_table_finish(&table, at, at, &header) > bytes)
		abort();
	free(at);
}

/* Trampolines and frame in a block of their own. */
static void open_parts(const struct swz_saved_header *h)
{
	size_t head = swz_saved_plan_head_bytes(h), tail = h->bytes - head;
	struct swz_saved_plan plan;
	uint8_t *copy = malloc(tail + 1);

	if (!copy)
		return;
	memcpy(copy, (const uint8_t *)h + head, tail);
	if (swz_saved_plan_open(&plan, h, copy) == SWZ_OK) {
		use(&plan);
		finish(&plan);
	}
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_saved_header *h;
	struct swz_saved_plan plan;
	uint8_t *copy;

	if (size < sizeof(*h))
		return 0;
	copy = malloc(size);
	if (!copy)
		return 0;
	memcpy(copy, data, size);
	h = (struct swz_saved_header *)(void *)copy;
	memcpy(h->magic, SWZ_SAVED_MAGIC, sizeof(h->magic));
	h->version = SWZ_SAVED_VERSION;
	h->bytes = size;
	if (swz_saved_plan_bytes(h) == size) {
		swz_saved_plan_parts(h, copy + swz_saved_plan_head_bytes(h),
				     &plan);
		swz_saved_plan_finish(h, &plan);
		if (swz_saved_plan_check(h, size, &h->key) == SWZ_OK)
			open_parts(h);
	}
	free(copy);
	return 0;
}
