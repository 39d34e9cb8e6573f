/* Sorted when the first question comes: profiles are added before that. Of what
 * several profiles say the first counts. */

#include "profile/names/embedded.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"

void swz_embedded_free(struct swz_embedded *embedded)
{
	free(embedded->symbols);
	free(embedded->lines);
	free(embedded->names);
	*embedded = (struct swz_embedded){0};
}

void swz_embedded_add_symbol(struct swz_embedded *embedded,
			     const struct swz_profile_symbol *symbol)
{
	swz_grow(&embedded->symbols, &embedded->symbol_capacity,
		 embedded->symbol_count, sizeof(*symbol));
	embedded->symbols[embedded->symbol_count] = *symbol;
	/* their order is that of the names at one address; see compare() */
	embedded->symbols[embedded->symbol_count].module =
		(uint32_t)embedded->symbol_count;
	embedded->symbol_count++;
	embedded->languages |= symbol->languages;
	embedded->sorted = false;
}

void swz_embedded_add_line(struct swz_embedded *embedded,
			   const struct swz_profile_line *line)
{
	swz_grow(&embedded->lines, &embedded->line_capacity,
		 embedded->line_count, sizeof(*line));
	embedded->lines[embedded->line_count] = *line;
	embedded->lines[embedded->line_count].module =
		(uint32_t)embedded->line_count;
	embedded->line_count++;
	embedded->sorted = false;
}

bool swz_embedded_is_empty(const struct swz_embedded *embedded)
{
	return !embedded->symbol_count && !embedded->line_count;
}

static int compare(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare_symbols(const void *left, const void *right)
{
	const struct swz_profile_symbol *a = left, *b = right;
	int order = compare(a->address, b->address);

	return order ? order : compare(a->module, b->module);
}

static int compare_lines(const void *left, const void *right)
{
	const struct swz_profile_line *a = left, *b = right;
	int order = compare(a->address, b->address);

	return order ? order : compare(a->module, b->module);
}

/* Whether one of the symbols before the last of COUNT, at its address, has its
 * name. There are few at one address, unless somebody forged them: then it is
 * the last ones that are looked at. */
static bool is_repeated(const struct swz_profile_symbol *symbols, size_t count,
			const struct swz_profile_symbol *symbol)
{
	size_t looked = 0;

	while (count-- && symbols[count].address == symbol->address &&
	       looked++ < 64)
		if (strcmp(symbols[count].name, symbol->name) == 0)
			return true;
	return false;
}

static void sort(struct swz_embedded *embedded)
{
	size_t kept = 0, i;

	embedded->sorted = true;
	if (embedded->symbol_count > 1)
		qsort(embedded->symbols, embedded->symbol_count,
		      sizeof(*embedded->symbols), compare_symbols);
	for (i = 0; i < embedded->symbol_count; i++)
		if (!is_repeated(embedded->symbols, kept,
				 &embedded->symbols[i]))
			embedded->symbols[kept++] = embedded->symbols[i];
	embedded->symbol_count = kept;
	free(embedded->names);
	embedded->names = swz_allocate(kept, sizeof(*embedded->names));
	for (i = 0; i < kept; i++)
		embedded->names[i] = embedded->symbols[i].name;
	if (embedded->line_count > 1)
		qsort(embedded->lines, embedded->line_count,
		      sizeof(*embedded->lines), compare_lines);
}

/* How many symbols begin at lower addresses. */
static size_t symbols_below(struct swz_embedded *embedded, uint64_t address)
{
	size_t low = 0, high;

	if (!embedded->sorted)
		sort(embedded);
	high = embedded->symbol_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (embedded->symbols[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct swz_profile_symbol *swz_embedded_symbol(
	struct swz_embedded *embedded, uint64_t address)
{
	size_t at = symbols_below(embedded, address);
	const struct swz_profile_symbol *symbol;

	if (at < embedded->symbol_count &&
	    embedded->symbols[at].address == address)
		return &embedded->symbols[at];
	if (!at)
		return NULL;
	/* the first of those at the address before */
	at = symbols_below(embedded, embedded->symbols[at - 1].address);
	symbol = &embedded->symbols[at];
	return address - symbol->address < symbol->size ? symbol : NULL;
}

const char *const *swz_embedded_names(struct swz_embedded *embedded,
				      uint64_t address, size_t *count)
{
	size_t first = symbols_below(embedded, address), end = first;

	while (end < embedded->symbol_count &&
	       embedded->symbols[end].address == address)
		end++;
	*count = end - first;
	return *count ? embedded->names + first : NULL;
}

const struct swz_profile_line *swz_embedded_line(struct swz_embedded *embedded,
						 uint64_t address)
{
	size_t low = 0, high;

	if (!embedded->sorted)
		sort(embedded);
	high = embedded->line_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (embedded->lines[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < embedded->line_count &&
			       embedded->lines[low].address == address
		       ? &embedded->lines[low]
		       : NULL;
}
