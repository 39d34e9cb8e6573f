#include "runtime/imports/imports.h"

#include "base/refusal_text.h"
#include "runtime/imports/plan.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/refusals.h"

static enum swz_refusal reason_of(const struct swz_import *i)
{
	return i->target && i->target->status != SWZ_PATCHED
		       ? (enum swz_refusal)i->target->status
		       : (enum swz_refusal)i->status;
}

static void print_import(const struct swz_import *i)
{
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, "        ");
	swz_line_string(&line, swz_import_is_timed(i)
				       ? "timed"
				       : swz_refusal_text(reason_of(i)));
	swz_line_column(&line, 56);
	swz_line_string(&line, i->name);
	swz_line_list(&line);
}

void swz_imports_print(const struct swz_module *m)
{
	uint32_t counts[SWZ_REFUSAL_COUNT] = {0};
	const struct swz_party *p = NULL;
	struct swz_line line;

	for (uint32_t i = 0; i < swz_party_count; i++)
		if (swz_parties[i].module == m)
			p = &swz_parties[i];
	if (!p || !p->importing)
		return;
	swz_line_start_listed(&line);
	swz_line_string(&line, "    imports  ");
	swz_line_number(&line, p->slot_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->timed);
	swz_line_string(&line, "  ");
	swz_line_number(&line, p->slot_count - p->timed);
	swz_line_list(&line);
	for (const struct swz_import *i = swz_imports; i; i = i->next)
		if (&swz_parties[i->party] == p && !swz_import_is_timed(i))
			counts[reason_of(i)]++;
	swz_refusals_print(counts, SWZ_PATCHED, "        ");
	for (const struct swz_import *i = swz_imports; i && swz_config.verbose;
	     i = i->next)
		if (&swz_parties[i->party] == p)
			print_import(i);
}
