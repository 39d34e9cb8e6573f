/* They are kept until the thread's last call, as how long one takes is known
 * when it ends. Of a band's calls those that are around others of it are shown
 * alone. A line that a function prints by another one (fputs by write) is that
 * of the outer one. */

#include "profile/formats/html_bands.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/formats/page_block.h"
#include "profile/formats/printed_lines.h"
#include "profile/support/memory.h"

#define LEVEL 6 /* of compression */
#define PRINTED 0u
#define NONE SIZE_MAX

struct call {
	size_t band;
	uint64_t start, end;
	uint32_t context;
	uint64_t row;
	char *text; /* of a printed line */
};

struct open {
	size_t banded, printed; /* into the calls; NONE */
	size_t band;            /* that it is the outermost of; NONE */
};

struct swz_html_bands {
	const struct swz_section *section;
	struct swz_html_band_names *names;
	struct call *calls;
	size_t count, capacity;
	struct open *open;
	size_t depth, open_capacity;
	bool *inside; /* of each band: a call of it is open */
	size_t band_count;
	uint64_t cut;
	struct swz_text text;
};

void swz_html_band_names_free(struct swz_html_band_names *names)
{
	free(names->names);
}

bool swz_html_bands_wanted(const struct swz_section *section)
{
	const struct swz_rules *rules = section->view ? section->view->rules
						      : NULL;
	size_t i;

	for (i = 0; rules && i < rules->config->count; i++)
		if (rules->config->rules[i].band)
			return true;
	return false;
}

static size_t band_number(struct swz_html_band_names *names, const char *name)
{
	size_t i;

	/* (another one may be called as the first is) */
	for (i = PRINTED + 1; i < names->count; i++)
		if (strcmp(names->names[i], name) == 0)
			return i;
	swz_grow(&names->names, &names->capacity, names->count,
		 sizeof(const char *));
	names->names[names->count] = name;
	return names->count++;
}

struct swz_html_bands *swz_html_bands_begin(const struct swz_section *section,
					    struct swz_html_band_names *names)
{
	struct swz_html_bands *bands = swz_allocate(1, sizeof(*bands));

	bands->section = section;
	bands->names = names;
	if (!names->count)
		(void)band_number(names, "printed");
	return bands;
}

static bool *inside_of(struct swz_html_bands *bands, size_t band)
{
	if (band >= bands->band_count) {
		bands->inside = swz_reallocate(bands->inside, band + 1,
					       sizeof(*bands->inside));
		memset(bands->inside + bands->band_count, 0,
		       (band + 1 - bands->band_count) * sizeof(*bands->inside));
		bands->band_count = band + 1;
	}
	return &bands->inside[band];
}

/* Its number, or NONE where there are too many. */
static size_t add_call(struct swz_html_bands *bands, const struct call *call)
{
	if (bands->count == SWZ_HTML_MOST_IN_BANDS) {
		bands->cut++;
		return NONE;
	}
	swz_grow(&bands->calls, &bands->capacity, bands->count,
		 sizeof(*bands->calls));
	bands->calls[bands->count] = *call;
	return bands->count++;
}

/* Whether a call that is open prints this text. */
static bool is_printed_already(const struct swz_html_bands *bands)
{
	size_t i;

	for (i = 0; i < bands->depth; i++) {
		size_t printed = bands->open[i].printed;

		if (printed != NONE &&
		    strcmp(bands->calls[printed].text, bands->text.text) == 0)
			return true;
	}
	return false;
}

void swz_html_bands_enter(struct swz_html_bands *bands, uint64_t ticks,
			  uint32_t context, uint64_t row,
			  const struct swz_call_values *values)
{
	const struct swz_section *section = bands->section;
	uint32_t function = section->contexts->items[context].function;
	const struct swz_settings *settings = swz_rules_of(
		section->view ? section->view->rules : NULL, section->catalog,
		function);
	struct call call = {
		.start = ticks, .end = ticks, .context = context, .row = row};
	struct open open = {NONE, NONE, NONE};

	if (settings && settings->band) {
		call.band = band_number(bands->names, settings->band);
		if (!*inside_of(bands, call.band)) {
			*inside_of(bands, call.band) = true;
			open.band = call.band;
			open.banded = add_call(bands, &call);
		}
	}
	if (values && SWZ_CATALOG_IS_REAL(function)) {
		struct swz_printing printing = swz_printing_of(
			settings, section->catalog->functions[function].name);

		call.band = PRINTED;
		if (swz_printed_read(&bands->text, &printing, values) &&
		    bands->text.size && !is_printed_already(bands)) {
			open.printed = add_call(bands, &call);
			if (open.printed != NONE)
				bands->calls[open.printed].text = swz_duplicate(
					bands->text.text);
		}
	}
	swz_grow(&bands->open, &bands->open_capacity, bands->depth,
		 sizeof(*bands->open));
	bands->open[bands->depth++] = open;
}

void swz_html_bands_leave(struct swz_html_bands *bands, uint64_t ticks)
{
	struct open open;

	if (!bands->depth)
		return;
	open = bands->open[--bands->depth];
	if (open.band != NONE)
		*inside_of(bands, open.band) = false;
	if (open.banded != NONE)
		bands->calls[open.banded].end = ticks;
	if (open.printed != NONE)
		bands->calls[open.printed].end = ticks;
}

/* Its newlines stay. */
static void put_text(struct swz_page_block *block, const char *text)
{
	for (; *text; text++) {
		uint8_t c = (uint8_t)*text;

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			c = '?';
		swz_page_block_bytes(block, &c, 1);
	}
	swz_page_block_bytes(block, "", 1);
}

static void put(const struct swz_html_bands *bands, FILE *stream, size_t number)
{
	uint64_t last = swz_profile_origin(bands->section->profile);
	struct swz_page_block *block;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "bands %zu", number);
	block = swz_page_block_begin(stream, name, LEVEL);
	swz_page_block_number(block, bands->count);
	for (i = 0; i < bands->count; i++) {
		const struct call *call = &bands->calls[i];

		swz_page_block_number(block, call->band);
		swz_page_block_number(block, call->start - last);
		swz_page_block_number(block, call->end - call->start);
		swz_page_block_number(block, call->context);
		swz_page_block_number(block, call->row);
		if (call->band == PRINTED)
			put_text(block, call->text);
		last = call->start;
	}
	swz_page_block_end(block);
}

uint64_t swz_html_bands_end(struct swz_html_bands *bands, FILE *stream,
			    size_t number)
{
	uint64_t cut = bands->cut;
	size_t i;

	if (bands->count)
		put(bands, stream, number);
	for (i = 0; i < bands->count; i++)
		free(bands->calls[i].text);
	free(bands->calls);
	free(bands->open);
	free(bands->inside);
	swz_text_free(&bands->text);
	free(bands);
	return cut;
}
