/* Both sides of a comparison have the same shape (see diff.h), so the old
 * figures follow the order of the new ones and need no names. */

#include "profile/formats/html_diff.h"

#include "profile/formats/diff.h"

bool swz_html_has_row(const struct swz_section *section, size_t function)
{
	return section->report->functions[function].present ||
	       (section->old &&
		section->old->report->functions[function].present);
}

static void put_functions(struct swz_page_block *block,
			  const struct swz_section *section)
{
	uint32_t i;

	for (i = 0; i < section->report->function_capacity; i++) {
		struct swz_diff_function function;

		if (!swz_html_has_row(section, i))
			continue;
		function = swz_diff_function(section, i);
		swz_page_block_number(block, function.costs.old.calls);
		swz_page_block_time(block, function.costs.old.self_ns);
		swz_page_block_time(block, function.costs.old.inclusive_ns);
		swz_page_block_number(block, function.noise.calls);
		swz_page_block_number(block, function.noise.self_ns);
		swz_page_block_number(block, function.noise.inclusive_ns);
		swz_page_block_number(block, function.kind);
	}
}

void swz_html_put_old(struct swz_page_block *block,
		      const struct swz_section *section)
{
	const struct swz_report *report = section->old->report;
	const struct swz_contexts *contexts = section->old->contexts;
	size_t i;

	put_functions(block, section);
	for (i = 0; i < report->edge_count; i++) {
		swz_page_block_number(block, report->edges[i].calls);
		swz_page_block_time(block, report->edges[i].inclusive_ns);
	}
	for (i = 0; i < contexts->count; i++) {
		swz_page_block_number(block, contexts->items[i].calls);
		swz_page_block_time(block, contexts->items[i].self_ns);
	}
}
