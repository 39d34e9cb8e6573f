#include "runtime/support/refusals.h"

#include "base/refusal_text.h"
#include "runtime/support/message.h"

void swz_refusals_print(const uint32_t *counts, unsigned except,
			const char *indent)
{
	struct swz_line line;

	for (unsigned i = SWZ_PATCHED + 1; i < SWZ_REFUSAL_COUNT; i++) {
		if (!counts[i] || i == except)
			continue;
		swz_line_start_listed(&line);
		swz_line_string(&line, indent);
		swz_line_number(&line, counts[i]);
		swz_line_column(&line, 14);
		swz_line_string(&line, swz_refusal_text(i));
		swz_line_list(&line);
	}
}
