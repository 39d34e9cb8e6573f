#include "tools/dump/caller.h"

#include <stdlib.h>
#include <string.h>

#include "base/labels.h"
#include "profile/support/memory.h"

static bool has(const struct swz_patterns *patterns, const char *pattern)
{
	for (size_t i = 0; i < patterns->count; i++)
		if (strcmp(patterns->items[i], pattern) == 0)
			return true;
	return false;
}

void swz_dump_take_callers(const struct swz_dump_input *input,
			   struct swz_dump_options *options)
{
	const struct swz_format *format = options->format;
	char *lines = NULL, *rest, *line;

	if (options->view.callers.count ||
	    (!format->section && !format->events))
		return;
	for (size_t i = 0; i < input->count; i++) {
		const char *more = swz_profile_label(input->profiles[i],
						     SWZ_LABEL_CALLER);
		char *joined;

		if (!more)
			continue;
		joined = swz_print("%s\n%s", lines ? lines : "", more);
		free(lines);
		lines = joined;
	}
	options->callers = rest = lines;
	while (rest && (line = strtok_r(NULL, "\n", &rest)))
		if (!has(&options->view.callers, line))
			swz_patterns_add(&options->view.callers, line);
}
