#include "profile/names/patterns.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/qualified_name.h"
#include "base/shown_name.h"
#include "profile/names/symbols.h"
#include "profile/support/memory.h"

void swz_patterns_add(struct swz_patterns *patterns, const char *pattern)
{
	swz_grow(&patterns->items, &patterns->capacity, patterns->count,
		 sizeof(*patterns->items));
	patterns->items[patterns->count++] = pattern;
	patterns->with_parameters |= strchr(pattern, '(') != NULL;
	patterns->excluding += *pattern == '!';
}

void swz_patterns_free(struct swz_patterns *patterns)
{
	free(patterns->items);
	*patterns = (struct swz_patterns){0};
}

/* What the names that a function has match so far. */
struct found {
	const struct swz_patterns *patterns;
	bool *hits; /* NULL: it is enough to know */
	bool wanted, excluded;
};

/* Whether more names could change what is known. */
static bool is_open(const struct found *found)
{
	return found->hits || (!found->excluded &&
			       (!found->wanted || found->patterns->excluding));
}

static void match_name(struct found *found, const char *name)
{
	const struct swz_patterns *patterns = found->patterns;
	size_t i;

	for (i = 0; i < patterns->count && is_open(found); i++) {
		const char *pattern = patterns->items[i];
		const bool excludes = *pattern == '!';

		if (fnmatch(pattern + excludes, name, 0) != 0)
			continue;
		if (excludes)
			found->excluded = true;
		else
			found->wanted = true;
		if (found->hits)
			found->hits[i] = true;
	}
}

static void match_in_style(struct found *found, const char *symbol,
			   unsigned languages, enum swz_demangle style)
{
	char *name = swz_demangle(symbol, languages, style);

	match_name(found, name);
	free(name);
}

static void match_symbol(struct found *found, const char *symbol,
			 unsigned languages)
{
	char *plain = swz_symbol_without_version(symbol);
	char qualified[512];

	match_name(found, plain);
	match_in_style(found, plain, languages, SWZ_DEMANGLE_SIMPLE);
	if (found->patterns->with_parameters || languages & SWZ_ADA)
		match_in_style(found, plain, languages, SWZ_DEMANGLE_FULL);
	if (swz_qualified_name(plain, qualified, sizeof(qualified)))
		match_name(found, qualified);
	free(plain);
}

/* As libswizzle.so decides: patterns that all exclude take away from
 * everything.
 */
static bool decide(const struct found *found)
{
	const struct swz_patterns *patterns = found->patterns;

	return !found->excluded &&
	       (found->wanted ||
		(patterns->count && patterns->excluding == patterns->count));
}

bool swz_patterns_match(const struct swz_patterns *patterns,
			const struct swz_catalog *catalog, uint32_t function,
			bool *hits)
{
	const struct swz_catalog_function *f = &catalog->functions[function];
	struct found found = {.patterns = patterns, .hits = hits};
	const char *const *names = NULL;
	const struct swz_symbols *symbols;
	unsigned languages = 0;
	size_t count = 0, i;

	match_name(&found, f->name);
	if (f->module == SWZ_INDEX_NONE)
		return decide(&found);
	symbols = catalog->modules[f->module].symbols;
	if (symbols) {
		languages = swz_symbols_languages(symbols);
		names = swz_symbols_names(symbols, f->address, &count);
	}
	if (f->asked && is_open(&found))
		match_symbol(&found, f->asked, languages);
	for (i = 0; i < count && is_open(&found); i++)
		match_symbol(&found, names[i], languages);
	return decide(&found);
}
