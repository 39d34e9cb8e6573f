#include "profile/file/summaries.h"

#include <stdlib.h>
#include <string.h>

#include "profile/file/reader.h"
#include "profile/file/scan.h"
#include "profile/support/memory.h"
#include "profile/support/search.h"

void swz_scan_summary(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_value_summary *head;

	(void)chunk;
	if (size < sizeof(*head)) {
		profile->damage.bad_chunks++;
		return;
	}
	head = swz_allocate(size, 1);
	memcpy(head, body, size);
	swz_grow(&profile->summaries, &scan->summary_capacity,
		 profile->summary_count, sizeof(*profile->summaries));
	profile->summaries[profile->summary_count] =
		(struct swz_profile_summary){
			.node = head->node,
			.order = (uint32_t)profile->summary_count,
			.head = head,
			.bytes = size};
	profile->summary_count++;
}

static int by_node(const void *left, const void *right)
{
	const struct swz_profile_summary *a = left, *b = right;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

void swz_summaries_index(struct swz_profile *profile)
{
	if (profile->summary_count > 1)
		qsort(profile->summaries, profile->summary_count,
		      sizeof(*profile->summaries), by_node);
}

void swz_summaries_free(struct swz_profile *profile)
{
	size_t i;

	for (i = 0; i < profile->summary_count; i++)
		free(profile->summaries[i].head);
	free(profile->summaries);
}

/* Whether all that it says is there. */
static bool is_whole(const struct swz_profile_summary *s)
{
	const struct swz_profile_signature *signature = s->signature;
	size_t bytes = sizeof(*s->head) +
		       s->head->ranges * sizeof(struct swz_value_range);

	bytes += signature->entry_parts ? SWZ_LAST_VALUE_BYTES : 0;
	bytes += signature->return_parts ? SWZ_LAST_VALUE_BYTES : 0;
	return bytes <= s->bytes &&
	       s->head->entry.bytes <= SWZ_LAST_VALUE_BYTES &&
	       s->head->result.bytes <= SWZ_LAST_VALUE_BYTES;
}

const struct swz_profile_summary *swz_summary_find(
	const struct swz_profile *profile, uint32_t node)
{
	struct swz_profile_summary *found;
	uint32_t at = SWZ_SEARCH(profile->summaries, profile->summary_count,
				 node, node);

	if (at == SWZ_INDEX_NONE)
		return NULL;
	found = &profile->summaries[at];
	if (!found->signature)
		found->signature = swz_signature_find(
			profile, swz_profile_node(profile, node)->function);
	return found->signature && is_whole(found) ? found : NULL;
}

bool swz_summary_values(const struct swz_profile_summary *s,
			enum swz_value_moment moment,
			struct swz_call_values *values)
{
	bool entered = moment == SWZ_VALUES_ENTRY;
	const struct swz_last_values *last = entered ? &s->head->entry
						     : &s->head->result;
	const uint8_t *bytes =
		entered ? swz_summary_entry(s->head)
			: swz_summary_result(s->head,
					     s->signature->entry_parts != 0);

	values->count = 0;
	values->exception = NULL;
	values->moment = moment;
	if (!last->calls || last->sequence & 1 ||
	    !(entered ? s->signature->entry_parts : s->signature->return_parts))
		return false;
	swz_signature_decode(s->signature, moment, bytes, last->bytes, values);
	return values->count != 0;
}

bool swz_summary_range(const struct swz_profile_summary *s, unsigned index,
		       struct swz_value *low, struct swz_value *high)
{
	const struct swz_profile_signature *signature = s->signature;
	const struct swz_value_range *range = &swz_summary_ranges(
		s->head)[index];
	const struct swz_value_part *part = &signature->parts[range->part];

	if (!range->count ||
	    range->part >= signature->entry_parts + signature->return_parts ||
	    part->bytes > sizeof(range->low))
		return false;
	*low = (struct swz_value){
		.name = swz_signature_text(signature->set, part->name),
		.type = &signature->set->types[part->type],
		.set = signature->set,
		.plain = {.bytes = (const uint8_t *)&range->low,
			  .size = part->bytes},
	};
	*high = *low;
	high->plain.bytes = (const uint8_t *)&range->high;
	return true;
}
