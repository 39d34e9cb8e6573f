#include "profile/formats/sqlite.h"

#include <stdlib.h>

#include "profile/formats/context_values.h"

struct putting {
	struct swz_statement *row;
	int64_t context;
	const struct swz_profile_summary *summary;
};

static void put_value(void *to, const struct swz_context_value *value)
{
	const struct putting *p = to;
	bool is_entry = value->moment == SWZ_VALUES_ENTRY;

	swz_statement_integer(p->row, p->context);
	swz_statement_integer(p->row, p->summary->node);
	swz_statement_word(p->row, is_entry ? "entry" : "return");
	swz_statement_text(p->row, value->name.text);
	swz_statement_count(p->row, is_entry ? p->summary->head->entry.calls
					     : p->summary->head->result.calls);
	swz_statement_text(p->row, value->has_last ? value->last.text : NULL);
	swz_statement_text(p->row, value->has_range ? value->low.text : NULL);
	swz_statement_text(p->row, value->has_range ? value->high.text : NULL);
	swz_sqlite_put_number(p->row,
			      value->has_range ? &value->low_value : NULL);
	swz_sqlite_put_number(p->row,
			      value->has_range ? &value->high_value : NULL);
	swz_statement_run(p->row);
}

void swz_sqlite_put_context_values(struct swz_statement *row,
				   const struct swz_section *section,
				   int64_t first_context)
{
	const struct swz_profile *profile = section->profile;
	struct swz_context_value value = {0};
	size_t i;

	for (i = 0; i < profile->summary_count; i++) {
		uint32_t node = profile->summaries[i].node;
		uint32_t context = swz_map_get(&section->contexts->units, node,
					       0);
		struct putting p = {
			.row = row,
			.context = first_context + context,
		};

		/* (of another thread, hidden, or of no node at all) */
		if (context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT)
			continue;
		p.summary = swz_summary_find(profile, node);
		if (p.summary != &profile->summaries[i])
			continue;
		swz_context_values_each(p.summary, section->binding, &value,
					put_value, &p);
	}
	swz_context_value_free(&value);
}
