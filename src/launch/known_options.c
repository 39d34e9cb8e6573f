#include "launch/known_options.h"

#include <string.h>

#include "launch/program.h"
#include "options/usage.h"

static const char *next_value(const struct swz_known_options *options,
			      const char *as, char ***next)
{
	if (!**next)
		swz_wrong_usage(options->tool, "option %s needs a value", as);
	return *(*next)++;
}

static void read_long(const struct swz_known_options *options,
		      const char *argument, char ***next)
{
	const char *end = strchrnul(argument, '=');
	int found = swz_word_find(options->name_at, argument + 2,
				  (size_t)(end - argument - 2));
	const char *as;

	if (found < 0) {
		char complaint[SWZ_ADVICE_BYTES];

		swz_option_complaint(options->name_at, argument, complaint);
		swz_wrong_usage(options->tool, "%s", complaint);
	}
	as = swz_text("--%s", options->known[found].name);
	if (options->known[found].flag && *end)
		swz_wrong_usage(options->tool, "option %s takes no value", as);
	if (options->known[found].flag)
		options->set(options->context, (size_t)found, as, "");
	else
		options->set(options->context, (size_t)found, as,
			     *end ? end + 1 : next_value(options, as, next));
}

static void read_short(const struct swz_known_options *options,
		       const char *argument, char ***next)
{
	for (const char *s = argument + 1; *s; s++) {
		const char *as = swz_text("-%c", *s);
		size_t found = 0;

		while (found < options->count &&
		       options->known[found].letter != *s)
			found++;
		if (found == options->count)
			swz_wrong_usage(options->tool, "unknown option %s", as);
		if (!options->known[found].flag) {
			options->set(options->context, found, as,
				     s[1] ? s + 1
					  : next_value(options, as, next));
			return;
		}
		options->set(options->context, found, as, "");
	}
}

void swz_known_options_read(const struct swz_known_options *options,
			    const char *argument, char ***next)
{
	if (argument[1] == '-')
		read_long(options, argument, next);
	else
		read_short(options, argument, next);
}
