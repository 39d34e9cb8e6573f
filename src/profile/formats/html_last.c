#include "profile/formats/html_last.h"

#include "profile/formats/context_values.h"
#include "profile/formats/page_block.h"

#define LEVEL 6 /* of compression */

/* What is there of a value; 0 ends the list. */
enum { IS_THERE = 1, OF_RETURN = 2, HAS_LAST = 4, HAS_RANGE = 8 };

static void put_value(void *to, const struct swz_context_value *value)
{
	struct swz_page_block *block = to;

	swz_page_block_number(
		block,
		IS_THERE |
			(value->moment == SWZ_VALUES_RETURN ? OF_RETURN : 0u) |
			(value->has_last ? HAS_LAST : 0u) |
			(value->has_range ? HAS_RANGE : 0u));
	swz_page_block_text(block, value->name.text);
	if (value->has_last)
		swz_page_block_text(block, value->last.text);
	if (!value->has_range)
		return;
	swz_page_block_text(block, value->low.text);
	swz_page_block_text(block, value->high.text);
}

void swz_html_put_last(FILE *stream, size_t number,
		       const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	struct swz_page_block *block = NULL;
	struct swz_context_value value = {0};
	char name[32];
	size_t i;

	for (i = 0; i < profile->summary_count; i++) {
		uint32_t node = profile->summaries[i].node;
		uint32_t context = swz_map_get(&section->contexts->units, node,
					       0);
		const struct swz_profile_summary *summary;

		/* (of another thread, hidden, or of no node at all) */
		if (context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT)
			continue;
		summary = swz_summary_find(profile, node);
		if (summary != &profile->summaries[i])
			continue;
		if (!block) {
			snprintf(name, sizeof(name), "last %zu", number);
			block = swz_page_block_begin(stream, name, LEVEL);
		}
		swz_page_block_number(block, context);
		swz_page_block_number(block,
				      summary->head->entry.calls
					      ? summary->head->entry.calls
					      : summary->head->result.calls);
		swz_context_values_each(summary, section->binding, &value,
					put_value, block);
		swz_page_block_number(block, 0);
	}
	if (block)
		swz_page_block_end(block);
	swz_context_value_free(&value);
}
