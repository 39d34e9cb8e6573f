#include "runtime/plan/print.h"

#include "base/refusal_text.h"
#include "runtime/discovery/function.h"
#include "runtime/imports/imports.h"
#include "runtime/support/config.h"
#include "runtime/support/message.h"
#include "runtime/support/refusals.h"

/* Whether branches of the function are led elsewhere; asked in order of
 * address, from the inner site that was looked at last. */
static bool has_led_branches(const struct swz_module *m,
			     const struct swz_function *f, uint32_t *next)
{
	bool found = false;

	for (; *next < m->inner_site_count &&
	       m->inner_sites[*next].at < f->start + f->size;
	     ++*next)
		found |= m->inner_sites[*next].keeps_opcode &&
			 m->inner_sites[*next].at >= f->start;
	return found;
}

#define SIZE_COLUMN 16
#define STATUS_COLUMN 24
#define NAME_COLUMN 80

/* Of the lines that print_functions prints. */
static void print_heading(void)
{
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, "    address");
	swz_line_column(&line, SIZE_COLUMN);
	swz_line_string(&line, "size");
	swz_line_column(&line, STATUS_COLUMN);
	swz_line_string(&line, "result");
	swz_line_column(&line, NAME_COLUMN);
	swz_line_string(&line, "name");
	swz_line_list(&line);
}

static void print_functions(const struct swz_module *m)
{
	struct swz_line line;
	uint32_t inner = 0;

	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct swz_function *f = &m->functions[i];

		if (f->is_piece)
			continue;
		swz_line_start_listed(&line);
		swz_line_string(&line, "    ");
		swz_line_hex(&line, f->start);
		swz_line_column(&line, SIZE_COLUMN);
		swz_line_number(&line, f->size);
		swz_line_column(&line, STATUS_COLUMN);
		swz_line_string(&line, swz_refusal_text(f->status));
		if (f->island)
			swz_line_string(&line, " by a short jump");
		if (has_led_branches(m, f, &inner))
			swz_line_string(&line, " with its loop led on");
		if (f->name) {
			swz_line_column(&line, NAME_COLUMN);
			swz_line_string(&line, f->name);
		}
		swz_line_list(&line);
	}
}

static void print_module(const struct swz_module *m, bool filtered)
{
	uint32_t left_out = m->counts[SWZ_REFUSE_FILTERED];
	uint32_t patched = m->counts[SWZ_PATCHED];
	struct swz_line line;

	swz_line_start_listed(&line);
	swz_line_string(&line, m->path);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count);
	swz_line_string(&line, "  ");
	swz_line_number(&line, patched);
	swz_line_string(&line, "  ");
	swz_line_number(&line, m->hookable_count - patched - left_out);
	if (filtered) {
		swz_line_string(&line, "  ");
		swz_line_number(&line, left_out);
	}
	swz_line_list(&line);
	swz_refusals_print(m->counts, SWZ_REFUSE_FILTERED, "    ");
	swz_imports_print(m);
	if (swz_config.verbose)
		print_functions(m);
}

void swz_plan_print(const struct swz_modules *modules)
{
	struct swz_line line;
	bool filtered = false;

	for (unsigned i = 0; i < modules->count; i++)
		filtered |= modules->of[i].counts[SWZ_REFUSE_FILTERED] != 0;
	swz_line_start_listed(&line);
	swz_line_string(&line, "module  functions  patched  refused");
	if (filtered)
		swz_line_string(&line, "  filtered");
	swz_line_list(&line);
	if (swz_config.verbose)
		print_heading();
	for (unsigned i = 0; i < modules->count; i++)
		if (modules->of[i].in_scope)
			print_module(&modules->of[i], filtered);
}
