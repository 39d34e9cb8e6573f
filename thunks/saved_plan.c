#include "thunks/saved_plan.h"

#include <string.h>

#include "image/cursor.h"
#include "thunks/relocate.h"
#include "thunks/trampoline.h"

_Static_assert(sizeof(struct swz_saved_header) % 8 == 0, "what follows");
_Static_assert(sizeof(struct swz_saved_function) == 24, "functions");
_Static_assert(sizeof(struct swz_saved_wrapper) == 16, "wrappers");

static uint64_t tail_bytes(const struct swz_saved_header *h)
{
	return h->trampoline_bytes + h->frame_bytes;
}

uint64_t swz_saved_plan_head_bytes(const struct swz_saved_header *h)
{
	return sizeof(*h) +
	       h->functions * (uint64_t)sizeof(struct swz_saved_function) +
	       h->entries * (uint64_t)sizeof(struct swz_unwind_entry) +
	       h->wrappers * (uint64_t)sizeof(struct swz_saved_wrapper) +
	       4 * ((uint64_t)h->relative + h->absolute + h->islands) +
	       h->inners * (uint64_t)sizeof(struct swz_saved_inner);
}

uint64_t swz_saved_plan_bytes(const struct swz_saved_header *h)
{
	uint64_t bytes;

	if (h->frame_bytes > SWZ_SAVED_MOST_BYTES ||
	    h->trampoline_bytes > SWZ_SAVED_MOST_BYTES)
		return 0;
	bytes = swz_saved_plan_head_bytes(h) + tail_bytes(h);
	return bytes > SWZ_SAVED_MOST_BYTES ? 0 : bytes;
}

static const void *take(const uint8_t **at, uint64_t bytes)
{
	const uint8_t *part = *at;

	*at += bytes;
	return part;
}

void swz_saved_plan_parts(const struct swz_saved_header *h, const uint8_t *tail,
			  struct swz_saved_plan *plan)
{
	const uint8_t *at = (const uint8_t *)(h + 1);

	plan->header = h;
	plan->functions = take(&at, h->functions * sizeof(*plan->functions));
	plan->entries = take(&at, h->entries * sizeof(*plan->entries));
	plan->wrappers = take(&at, h->wrappers * sizeof(*plan->wrappers));
	plan->relative = take(&at, h->relative * sizeof(*plan->relative));
	plan->absolute = take(&at, h->absolute * sizeof(*plan->absolute));
	plan->islands = take(&at, h->islands * sizeof(*plan->islands));
	plan->inners = take(&at, h->inners * sizeof(*plan->inners));
	plan->trampolines = tail;
	plan->frame = tail + h->trampoline_bytes;
}

static uint64_t header_hash(const struct swz_saved_header *header)
{
	struct swz_saved_header h = *header;

	h.header_hash = 0;
	return swz_hash(0, (struct swz_bytes){(const uint8_t *)&h, sizeof(h)});
}

void swz_saved_plan_list(const struct swz_saved_plan *plan,
			 struct swz_bytes parts[SWZ_SAVED_PARTS])
{
	const struct swz_saved_header *h = plan->header;
	const struct {
		const void *start;
		uint64_t bytes;
	} all[SWZ_SAVED_PARTS] = {
		{plan->functions,
		 h->functions * (uint64_t)sizeof(*plan->functions)},
		{plan->entries, h->entries * (uint64_t)sizeof(*plan->entries)},
		{plan->wrappers,
		 h->wrappers * (uint64_t)sizeof(*plan->wrappers)},
		{plan->relative,
		 h->relative * (uint64_t)sizeof(*plan->relative)},
		{plan->absolute,
		 h->absolute * (uint64_t)sizeof(*plan->absolute)},
		{plan->islands, h->islands * (uint64_t)sizeof(*plan->islands)},
		{plan->inners, h->inners * (uint64_t)sizeof(*plan->inners)},
		{plan->trampolines, h->trampoline_bytes},
		{plan->frame, h->frame_bytes},
	};

	for (unsigned i = 0; i < SWZ_SAVED_PARTS; i++)
		parts[i] = (struct swz_bytes){all[i].start, all[i].bytes};
}

static uint64_t hash_of_parts(const struct swz_saved_plan *plan)
{
	struct swz_bytes parts[SWZ_SAVED_PARTS];
	uint64_t hash = 0;

	swz_saved_plan_list(plan, parts);
	for (unsigned i = 0; i < SWZ_SAVED_PARTS; i++)
		hash = swz_hash(hash, parts[i]);
	return hash;
}

void swz_saved_plan_finish(struct swz_saved_header *header,
			   const struct swz_saved_plan *plan)
{
	if (swz_saved_plan_bytes(header) == header->bytes)
		header->hash = hash_of_parts(plan);
	header->header_hash = header_hash(header);
}

/* --------------------------------------------------------------- checking */

/* Some functions that look at their return address have a wrapper. */
static bool has_right_trampoline(const struct swz_saved_function *f)
{
	if (f->status == SWZ_REFUSE_READS_RETURN_SLOT ||
	    f->status == SWZ_REFUSE_RETURNS_TWICE)
		return true;
	return (f->trampoline != 0) == (f->status == SWZ_PATCHED ||
					f->status == SWZ_REFUSE_WALKS_STACK ||
					f->status == SWZ_REFUSE_WRAPPED);
}

static bool is_counted(const struct swz_saved_header *h,
		       const struct swz_saved_function *f)
{
	return f->status == SWZ_PATCHED && h->key.flags & SWZ_SAVED_COUNTS;
}

/* The head of a plan. Wrapped functions lie behind it, and what counts. */
static uint32_t head_of(const struct swz_saved_header *h,
			const struct swz_saved_function *f)
{
	if (is_counted(h, f))
		return f->trampoline - SWZ_COUNT_HEAD;
	return f->status == SWZ_PATCHED ? f->trampoline
					: f->trampoline - SWZ_TRAMPOLINE_BODY;
}

/* Bytes that it has at least, from its head on. */
static uint32_t least_bytes(const struct swz_saved_header *h,
			    const struct swz_saved_function *f)
{
	return is_counted(h, f)
		       ? SWZ_COUNT_HEAD +
				 swz_count_bytes(SWZ_COUNT_FIRST_FREE_FLAGS)
		       : SWZ_TRAMPOLINE_BODY;
}

static bool trampoline_fits(const struct swz_saved_header *h,
			    const struct swz_saved_function *f)
{
	uint32_t head = head_of(h, f);

	return head >= sizeof(struct swz_hooks) && head % 16 == 0 &&
	       head < h->trampoline_bytes &&
	       h->trampoline_bytes - head > least_bytes(h, f);
}

/* True if the jumps lie in the text range that the function begins in. */
static bool site_fits(const struct swz_saved_function *f, uint64_t start,
		      uint64_t end)
{
	int64_t site = (int64_t)f->start + f->site;
	int64_t jump = site + f->island;
	int64_t distance = f->island - SWZ_SHORT_JUMP_BYTES;

	if (jump < (int64_t)start || jump + SWZ_JUMP_BYTES > (int64_t)end)
		return false;
	if (!f->island)
		return true;
	return site + SWZ_SHORT_JUMP_BYTES <= (int64_t)end &&
	       distance >= INT8_MIN && distance <= INT8_MAX &&
	       (f->island >= SWZ_SHORT_JUMP_BYTES ||
		f->island <= -SWZ_JUMP_BYTES);
}

static bool in_text(const struct swz_saved_key *key,
		    const struct swz_saved_function *f)
{
	for (unsigned i = 0; i < key->text_count; i++) {
		uint64_t start = key->texts[i].start, end = key->texts[i].end;

		if (f->start >= start && f->start < end)
			return f->size <= end - f->start &&
			       (!f->trampoline || site_fits(f, start, end));
	}
	return false;
}

static bool functions_fit(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;

	for (uint32_t i = 0; i < h->functions; i++) {
		const struct swz_saved_function *f = &plan->functions[i];

		if ((i && f->start <= f[-1].start) ||
		    f->status >= SWZ_REFUSAL_COUNT ||
		    f->name >= h->key.file_bytes || f->site > SWZ_MAX_INSN ||
		    !has_right_trampoline(f) ||
		    (f->trampoline && !trampoline_fits(h, f)) ||
		    !in_text(&h->key, f))
			return false;
	}
	return true;
}

static bool entries_fit(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;

	for (uint32_t i = 0; i < h->entries; i++) {
		const struct swz_unwind_entry *e = &plan->entries[i];

		if ((i && e->start <= e[-1].start) ||
		    e->start >= h->trampoline_bytes ||
		    e->fde >= h->frame_bytes || h->frame_bytes - e->fde < 24)
			return false;
	}
	return true;
}

static bool wrappers_fit(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;
	uint32_t count = 0; /* of functions that need one */

	for (uint32_t i = 0; i < h->functions; i++)
		count += plan->functions[i].trampoline &&
			 plan->functions[i].status != SWZ_PATCHED;
	if (count != h->wrappers)
		return false;
	for (uint32_t i = 0; i < h->wrappers; i++) {
		const struct swz_saved_wrapper *w = &plan->wrappers[i];
		const struct swz_saved_function *f;

		if (w->function >= h->functions ||
		    (i && w->function <= w[-1].function))
			return false;
		f = &plan->functions[w->function];
		if (!f->trampoline || f->status == SWZ_PATCHED ||
		    h->trampoline_bytes - f->trampoline <
			    SWZ_TRAMPOLINE_WRAPPING)
			return false;
	}
	return true;
}

static bool offsets_fit(const uint32_t *at, uint32_t count, uint32_t each,
			uint64_t bytes)
{
	for (uint32_t i = 0; i < count; i++)
		if (at[i] < sizeof(struct swz_hooks) || at[i] >= bytes ||
		    bytes - at[i] < each)
			return false;
	return true;
}

static bool islands_fit(const struct swz_saved_plan *plan)
{
	for (uint32_t i = 1; i < plan->header->islands; i++)
		if (plan->islands[i] <= plan->islands[i - 1])
			return false;
	return true;
}

/* True if a jump fits in there. */
static bool inner_fits(const struct swz_saved_header *h,
		       const struct swz_saved_inner *l)
{
	bool in_text = false;

	for (unsigned i = 0; i < h->key.text_count; i++)
		in_text |= l->at >= h->key.texts[i].start &&
			   l->at < h->key.texts[i].end &&
			   h->key.texts[i].end - l->at >= SWZ_JUMP_BYTES;
	return in_text && l->copy >= sizeof(struct swz_hooks) &&
	       l->copy < h->trampoline_bytes && l->keeps_opcode <= 1;
}

static bool inners_fit(const struct swz_saved_plan *plan)
{
	for (uint32_t i = 0; i < plan->header->inners; i++) {
		const struct swz_saved_inner *l = &plan->inners[i];

		if (!inner_fits(plan->header, l) ||
		    (i &&
		     (l->at < l[-1].at || l->at - l[-1].at < SWZ_JUMP_BYTES)))
			return false;
	}
	return true;
}

static bool is_sound(const struct swz_saved_plan *plan)
{
	const struct swz_saved_header *h = plan->header;

	/* the unwind table, which follows, is aligned */
	return h->trampoline_bytes % 16 == 0 && h->frame_bytes % 8 == 0 &&
	       h->factors <= SWZ_SAVED_MOST_BYTES / sizeof(uint64_t) &&
	       functions_fit(plan) && entries_fit(plan) && wrappers_fit(plan) &&
	       offsets_fit(plan->relative, h->relative, 4,
			   h->trampoline_bytes) &&
	       offsets_fit(plan->absolute, h->absolute, 8,
			   h->trampoline_bytes) &&
	       islands_fit(plan) && inners_fit(plan);
}

enum swz_status swz_saved_plan_check(const struct swz_saved_header *h,
				     uint64_t bytes,
				     const struct swz_saved_key *key)
{
	if (memcmp(h->magic, SWZ_SAVED_MAGIC, sizeof(h->magic)) != 0 ||
	    h->version != SWZ_SAVED_VERSION || h->bytes != bytes ||
	    header_hash(h) != h->header_hash)
		return SWZ_E_FORMAT;
	if (memcmp(&h->key, key, sizeof(*key)) != 0)
		return SWZ_E_NOTFOUND;
	return h->key.text_count <= SWZ_SAVED_MOST_TEXTS &&
			       swz_saved_plan_bytes(h) == bytes
		       ? SWZ_OK
		       : SWZ_E_FORMAT;
}

enum swz_status swz_saved_plan_open(struct swz_saved_plan *plan,
				    const struct swz_saved_header *h,
				    const uint8_t *tail)
{
	swz_saved_plan_parts(h, tail, plan);
	return hash_of_parts(plan) == h->hash && is_sound(plan) ? SWZ_OK
								: SWZ_E_FORMAT;
}
