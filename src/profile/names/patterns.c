#include "profile/names/patterns.h"

#include <fnmatch.h>
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
}

void swz_patterns_free(struct swz_patterns *patterns)
{
	free(patterns->items);
	*patterns = (struct swz_patterns){0};
}

static bool match_name(const struct swz_patterns *patterns, const char *name,
		       bool *hits)
{
	bool any = false;
	size_t i;

	for (i = 0; i < patterns->count; i++) {
		if (fnmatch(patterns->items[i], name, 0) != 0)
			continue;
		any = true;
		if (!hits)
			break;
		hits[i] = true;
	}
	return any;
}

static bool match_in_style(const struct swz_patterns *patterns,
			   const char *symbol, unsigned languages,
			   enum swz_demangle style, bool *hits)
{
	char *name = swz_demangle(symbol, languages, style);
	bool any = match_name(patterns, name, hits);

	free(name);
	return any;
}

static bool match_symbol(const struct swz_patterns *patterns,
			 const char *symbol, unsigned languages, bool *hits)
{
	char *plain = swz_symbol_without_version(symbol);
	char qualified[512];
	bool any = match_name(patterns, plain, hits);

	any |= match_in_style(patterns, plain, languages, SWZ_DEMANGLE_SIMPLE,
			      hits);
	if (patterns->with_parameters || languages & SWZ_ADA)
		any |= match_in_style(patterns, plain, languages,
				      SWZ_DEMANGLE_FULL, hits);
	if (swz_qualified_name(plain, qualified, sizeof(qualified)))
		any |= match_name(patterns, qualified, hits);
	free(plain);
	return any;
}

bool swz_patterns_match(const struct swz_patterns *patterns,
			const struct swz_catalog *catalog, uint32_t function,
			bool *hits)
{
	const struct swz_catalog_function *f = &catalog->functions[function];
	bool any = match_name(patterns, f->name, hits);
	const char *const *names = NULL;
	const struct swz_symbols *symbols;
	unsigned languages = 0;
	size_t count = 0, i;

	if (f->module == SWZ_INDEX_NONE)
		return any;
	symbols = catalog->modules[f->module].symbols;
	if (symbols) {
		languages = swz_symbols_languages(symbols);
		names = swz_symbols_names(symbols, f->address, &count);
	}
	if (f->asked && (!any || hits))
		any |= match_symbol(patterns, f->asked, languages, hits);
	for (i = 0; i < count && (!any || hits); i++)
		any |= match_symbol(patterns, names[i], languages, hits);
	return any;
}
