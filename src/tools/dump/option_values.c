#include "tools/dump/option_values.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "options/words.h"
#include "profile/support/memory.h"
#include "tools/dump/usage.h"

static const struct {
	const char *name;
	enum swz_sort sort;
} sort_keys[] = {
	{"self", SWZ_SORT_SELF},   {"incl", SWZ_SORT_INCLUSIVE},
	{"calls", SWZ_SORT_CALLS}, {"name", SWZ_SORT_NAME},
	{"min", SWZ_SORT_MIN},     {"max", SWZ_SORT_MAX},
	{"start", SWZ_SORT_START},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *format_at(size_t index)
{
	const struct swz_format *format = swz_format_at(index);

	return format ? format->name : NULL;
}

const struct swz_format *swz_dump_parse_format(const char *as, const char *name)
{
	const struct swz_format *format = swz_format_find(name);

	if (strcmp(name, "help") == 0) {
		swz_formats_list(stdout);
		swz_dump_finish_printing();
	}
	if (!format)
		swz_dump_unknown_word(as, "format", name, format_at);
	return format;
}

static const char *sort_key_at(size_t index)
{
	return index < COUNT(sort_keys) ? sort_keys[index].name : NULL;
}

const char *swz_dump_sort_key(size_t index, enum swz_sort *sort)
{
	if (index < COUNT(sort_keys))
		*sort = sort_keys[index].sort;
	return sort_key_at(index);
}

enum swz_sort swz_dump_parse_sort(const char *as, const char *name)
{
	size_t i;

	for (i = 0; i < COUNT(sort_keys); i++)
		if (strcmp(name, sort_keys[i].name) == 0)
			return sort_keys[i].sort;
	swz_dump_unknown_word(as, "sort key", name, sort_key_at);
}

/* Which of the words that AT lists. */
static int parse_word(swz_word_at *at, const char *as, const char *what,
		      const char *text)
{
	int found = swz_word_is(at, text, strlen(text));

	if (found < 0)
		swz_dump_unknown_word(as, what, text, at);
	return found;
}

/* In the order of enum swz_demangle. */
static const char *demangle_at(size_t index)
{
	static const char *const ways[] = {
		[SWZ_DEMANGLE_NO] = "no",
		[SWZ_DEMANGLE_SIMPLE] = "simple",
		[SWZ_DEMANGLE_FULL] = "full",
	};

	return index < COUNT(ways) ? ways[index] : NULL;
}

enum swz_demangle swz_dump_parse_demangle(const char *as, const char *name)
{
	return (enum swz_demangle)parse_word(demangle_at, as, "way to demangle",
					     name);
}

/* In the order of enum swz_rings_clock. */
static const char *clock_at(size_t index)
{
	static const char *const clocks[] = {
		[SWZ_RINGS_TIME] = "time",
		[SWZ_RINGS_CALLS] = "calls",
	};

	return index < COUNT(clocks) ? clocks[index] : NULL;
}

enum swz_rings_clock swz_dump_parse_clock(const char *as, const char *name)
{
	return (enum swz_rings_clock)parse_word(clock_at, as, "clock", name);
}

/* In the order of enum swz_rings_paths. */
static const char *paths_at(size_t index)
{
	static const char *const paths[] = {
		[SWZ_RINGS_CALLEES] = "callees",
		[SWZ_RINGS_ARGUMENTS] = "arguments",
	};

	return index < COUNT(paths) ? paths[index] : NULL;
}

enum swz_rings_paths swz_dump_parse_paths(const char *as, const char *name)
{
	return (enum swz_rings_paths)parse_word(paths_at, as, "kind of paths",
						name);
}

/* In the order of enum swz_colour_when. */
static const char *colour_at(size_t index)
{
	static const char *const times[] = {
		[SWZ_COLOUR_AUTO] = "auto",
		[SWZ_COLOUR_ALWAYS] = "always",
		[SWZ_COLOUR_NEVER] = "never",
	};

	return index < COUNT(times) ? times[index] : NULL;
}

enum swz_colour_when swz_dump_parse_colour(const char *as, const char *when)
{
	return (enum swz_colour_when)parse_word(colour_at, as,
						"value of --color", when);
}

unsigned long swz_dump_parse_count(const char *as, const char *text,
				   const char *what, unsigned long high)
{
	unsigned long value;
	char *end;

	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || *text < '0' || *text > '9' || *end || value > high)
		swz_dump_wrong_value(as, text, what);
	return value;
}

/* As strtod, of what begins with a decimal number only (not "0x10", " 1",
 * "inf"); otherwise *END is TEXT. */
static double parse_decimal(const char *text, char **end)
{
	if (*text < '.' || *text > '9' || *text == '/' ||
	    (*text == '0' && (text[1] == 'x' || text[1] == 'X'))) {
		*end = (char *)text;
		return 0;
	}
	return strtod(text, end);
}

double swz_dump_parse_percent(const char *as, const char *text)
{
	double value;
	char *end;

	value = parse_decimal(text, &end);
	if (end == text || (*end && strcmp(end, "%") != 0) || !isfinite(value))
		swz_dump_wrong_value(as, text, "a percentage (10, 2.5%)");
	return value;
}

static _Noreturn void wrong_moment(const char *as, const char *text)
{
	swz_dump_wrong_value(as, text,
			     "a time in seconds or percent (0.25, 25%)");
}

struct swz_dump_moment swz_dump_parse_moment(const char *as, const char *text)
{
	struct swz_dump_moment moment = {.given = true};
	char *end;

	moment.value = parse_decimal(text, &end);
	if (end != text && strcmp(end, "%") == 0)
		moment.percent = true;
	else if (end == text || (*end && strcmp(end, "s") != 0))
		wrong_moment(as, text);
	if (!isfinite(moment.value) ||
	    moment.value > (moment.percent ? 100 : 1e9))
		wrong_moment(as, text);
	return moment;
}

int64_t swz_dump_parse_duration(const char *as, const char *text)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"ns", 1}, {"", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
	char *end;
	double value = parse_decimal(text, &end);
	size_t i;

	for (i = 0; end != text && i < COUNT(units); i++)
		if (strcmp(end, units[i].unit) == 0 &&
		    value * units[i].ns <= 1e18)
			return (int64_t)(value * units[i].ns);
	swz_dump_wrong_value(as, text, "a time (10us, 2ms)");
}

static const char *key_at(size_t index)
{
	return index <= SWZ_BY_RANK - SWZ_BY_FUNCTION
		       ? swz_by_name(SWZ_BY_FUNCTION + (unsigned int)index)
		       : NULL;
}

static enum swz_group_key parse_key(const char *as, const char *name)
{
	enum swz_group_key key = swz_by_find(name);

	if (key == SWZ_BY_NOTHING)
		swz_dump_unknown_word(as, "key of --by", name, key_at);
	return key;
}

void swz_dump_parse_by(struct swz_dump_options *options, const char *as,
		       const char *value)
{
	const char *comma = strchr(value, ',');
	char *first;

	options->imbalance = false;
	if (!comma) {
		options->by = parse_key(as, value);
		options->columns_by = SWZ_BY_NOTHING;
		if (options->by != SWZ_BY_RANK)
			return;
		options->by = SWZ_BY_FUNCTION;
		options->columns_by = SWZ_BY_RANK;
		options->imbalance = true;
		return;
	}
	first = swz_print("%.*s", (int)(comma - value), value);
	options->by = parse_key(as, first);
	free(first);
	options->columns_by = parse_key(as, comma + 1);
	if (options->columns_by != SWZ_BY_THREAD &&
	    options->columns_by != SWZ_BY_PROCESS &&
	    options->columns_by != SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': columns are thread, "
				   "process or rank",
				   as, value);
	if (options->by == SWZ_BY_THREAD || options->by == SWZ_BY_PROCESS ||
	    options->by == SWZ_BY_RANK)
		swz_dump_bad_usage("option %s: '%s': beside columns, rows are "
				   "function, module, file or line",
				   as, value);
}
