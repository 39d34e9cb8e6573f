#include "tools/dump/option_style.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "tools/dump/target.h"

/* Words that a shell takes as they are, each with a space before it. FIRST: an
 * option that they need. */
static char *join_inputs(const char *first, char **arguments, size_t count)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_./+,:@%=-";
	char *joined = swz_duplicate(first);
	size_t i;

	for (i = 0; i < count; i++) {
		const char *word = arguments[i];
		char *longer;

		if (!word[0] || word[strspn(word, plain)] ||
		    strlen(joined) + strlen(word) > strlen(first) + 30)
			word = "...";
		longer = swz_print("%s %s", joined, word);
		free(joined);
		joined = longer;
		if (strcmp(word, "...") == 0)
			break;
	}
	return joined;
}

void swz_dump_set_style(struct swz_dump_options *options)
{
	unsigned int takes = options->format->takes;
	bool terminal = !options->output && swz_terminal_is_output();

	if (!(options->given & SWZ_TAKES_ROWS))
		options->table.rows = options->calls.apart
					      ? SWZ_INVOCATIONS
					      : options->format->rows;
	options->calls.rows = options->table.rows;
	options->rings.rows = options->table.rows;
	options->calls.by_start = options->table.sort == SWZ_SORT_START;
	options->calls.at = options->at.given;
	if (!(takes & SWZ_FOR_PEOPLE) &&
	    !(takes & SWZ_FOR_TERMINALS &&
	      (terminal || (swz_dump_to_standard_output(options) &&
			    options->colour == SWZ_COLOUR_ALWAYS))))
		return;
	options->style = swz_terminal_style(options->colour, terminal);
	options->table.style = &options->style;
	options->calls.style = &options->style;
	if (!options->quiet && !options->old)
		options->table.inputs = options->inputs = join_inputs(
			options->view.script ? " --script" : "",
			options->arguments, options->argument_count);
}
