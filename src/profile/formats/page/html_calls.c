/* The page has more of single calls than their events: the lines that they
 * print, bands in the timeline, arguments and results. */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "options/config_file.h"
#include "profile/file/values.h"
#include "profile/formats/common/cells.h"
#include "profile/formats/common/section.h"
#include "profile/formats/page/html_blocks.h"
#include "profile/names/value_print.h"

/* --- printed lines ------------------------------------------------------- */

/* Calls that print lines, and what: functions that the configuration names
 * (`prints`), and those of libc (swizzle-run --prints). */

struct swz_printing {
	bool prints;
	bool to_file;         /* the first number is the descriptor: of these
			       * only standard output and error count */
	const char *argument; /* which has the text; NULL: the first that has
			       * one */
};

/* As in src/runtime/record/value_signatures.c. */
static const char *const functions[] = {
	"puts",   "fputs",  "fputs_unlocked", "fwrite",  "fwrite_unlocked",
	"perror", "syslog", "__syslog_chk",   "vsyslog", "write",
};

/* libc's names for its own use: _IO_puts, __write. */
static const char *public_name(const char *name)
{
	if (strncmp(name, "_IO_", 4) == 0)
		return name + 4;
	return strncmp(name, "__", 2) == 0 ? name + 2 : name;
}

static bool is_of_libc(const char *name, const char *function)
{
	return strcmp(name, function) == 0 ||
	       strcmp(public_name(name), function) == 0;
}

/* How the function NAME prints; SETTINGS may be NULL. */
static struct swz_printing printing_of(const struct swz_settings *settings,
				       const char *name)
{
	struct swz_printing printing = {
		.prints = settings && settings->prints == SWZ_YES,
		.argument = settings ? settings->printed : NULL,
		.to_file = is_of_libc(name, "write"),
	};
	size_t i;

	if (settings && settings->prints)
		return printing;
	for (i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		printing.prints |= is_of_libc(name, functions[i]);
	return printing;
}

/* -1: none is known. */
static int64_t descriptor_of(const struct swz_call_values *values)
{
	struct swz_file_value file;
	int64_t number;

	if (!values->count)
		return -1;
	if (values->values[0].type->kind == SWZ_TYPE_FILE &&
	    values->values[0].plain.size == sizeof(file)) {
		memcpy(&file, values->values[0].plain.bytes, sizeof(file));
		return file.fd;
	}
	return swz_value_number(&values->values[0], &number) ? number : -1;
}

static const struct swz_value_bytes *text_of(
	const struct swz_printing *printing,
	const struct swz_call_values *values)
{
	size_t i;

	for (i = 0; i < values->count; i++) {
		const struct swz_value *value = &values->values[i];

		if (value->pointed || !value->text.bytes ||
		    (value->text.bad && !value->text.size))
			continue;
		if (!printing->argument ||
		    strcmp(printing->argument, value->name) == 0)
			return &value->text;
	}
	return NULL;
}

/* Reads what such a call prints from its arguments: in place of TEXT, without
 * the newline at its end, with "..." if that is not all. False: nothing is
 * known, or it goes elsewhere. */
static bool printed_read(struct swz_text *text,
			 const struct swz_printing *printing,
			 const struct swz_call_values *values)
{
	const struct swz_value_bytes *from;
	size_t size;

	if (!printing->prints || values->moment != SWZ_VALUES_ENTRY)
		return false;
	if (printing->to_file) {
		int64_t descriptor = descriptor_of(values);

		if (descriptor != 1 && descriptor != 2)
			return false;
	}
	from = text_of(printing, values);
	if (!from)
		return false;
	size = from->size;
	while (!from->cut && !from->bad && size &&
	       (from->bytes[size - 1] == '\n' || from->bytes[size - 1] == '\r'))
		size--;
	swz_text_clear(text);
	swz_text_add(text, (const char *)from->bytes, size);
	if (from->cut || from->bad)
		swz_text_put(text, "...");
	return true;
}

/* --- bands --------------------------------------------------------------- */

/* They are kept until the thread's last call, as how long one takes is known
 * when it ends. Of a band's calls those that are around others of it are shown
 * alone. A line that a function prints by another one (fputs by write) is that
 * of the outer one. */

/* Writes the block "bands NUMBER" to STREAM, if there are any, and frees BANDS.
 * Returns how many calls are left out: no more than MOST_IN_BANDS are kept. */
#define SWZ_HTML_MOST_IN_BANDS 100000u
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

/* True if the configuration gives any function a band. */
static bool html_bands_wanted(const struct swz_section *section)
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

/* For the section's thread, which has contexts by unit. */
static struct swz_html_bands *html_bands_begin(
	const struct swz_section *section, struct swz_html_band_names *names)
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

/* True if a call that is open prints this text. */
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

/* A call of CONTEXT begins, with ROW others around it; VALUES: NULL where none
 * were recorded. Then one ends: the innermost that has begun. */
static void html_bands_enter(struct swz_html_bands *bands, uint64_t ticks,
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
		struct swz_printing printing = printing_of(
			settings, section->catalog->functions[function].name);

		call.band = PRINTED;
		if (printed_read(&bands->text, &printing, values) &&
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

static void html_bands_leave(struct swz_html_bands *bands, uint64_t ticks)
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
			swz_page_block_shown(block, call->text,
					     strlen(call->text), "\n\t");
		last = call->start;
	}
	swz_page_block_end(block);
}

static uint64_t html_bands_end(struct swz_html_bands *bands, FILE *stream,
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

/* --- values -------------------------------------------------------------- */

/* Blocks "values NUMBER 0", "values NUMBER 1", ... hold the moments of calls
 * that have values, in the order of time; "moments NUMBER" tells when each of
 * them begins, so that one can be read without the others. A moment is known by
 * its time and by how many calls are around its own. */

#define BLOCK_BYTES ((uint64_t)64 << 10)

struct swz_html_values {
	FILE *stream;
	size_t number;
	uint64_t *room;
	const struct swz_section *section;
	struct swz_page_block *block; /* NULL: none is begun */
	uint64_t *begins;             /* of each block, ticks */
	size_t count, capacity;
	uint64_t ticks;     /* of the last moment */
	uint64_t cut;       /* moments that are left out */
	uint64_t cut_ticks; /* of the first of these */
	struct swz_shown_value value;
};

static void end_block(struct swz_html_values *w)
{
	uint64_t bytes = w->block ? swz_page_block_end(w->block) : 0;

	*w->room -= bytes < *w->room ? bytes : *w->room;
	w->block = NULL;
}

static void begin_block(struct swz_html_values *w, uint64_t ticks)
{
	char name[64];

	snprintf(name, sizeof(name), "values %zu %zu", w->number, w->count);
	w->block = swz_page_block_begin(w->stream, name, LEVEL);
	swz_grow(&w->begins, &w->capacity, w->count, sizeof(*w->begins));
	w->begins[w->count++] = ticks;
	w->ticks = ticks;
}

/* Adds the values of an event with ROW calls around its own. */
static void html_values_add(struct swz_html_values *w,
			    const struct swz_event *event, uint64_t row,
			    const struct swz_call_values *of)
{
	size_t i;

	if (!swz_shown_count(of))
		return;
	if (w->block && swz_page_block_size(w->block) >= BLOCK_BYTES)
		end_block(w);
	if (!w->block && !*w->room) {
		if (!w->cut++)
			w->cut_ticks = event->ticks;
		return;
	}
	if (!w->block)
		begin_block(w, event->ticks);
	swz_page_block_number(w->block,
			      (event->ticks - w->ticks) << 1 | !event->begins);
	w->ticks = event->ticks;
	swz_page_block_number(w->block, row);
	swz_page_block_number(w->block, swz_shown_count(of));
	for (i = 0; i < swz_shown_count(of); i++) {
		swz_shown_read(&w->value, w->section->binding, of, i);
		swz_page_block_text(w->block, w->value.name.text);
		swz_page_block_text(w->block, w->value.text.text);
	}
}

static void put_moments(const struct swz_html_values *w)
{
	uint64_t last = swz_profile_origin(w->section->profile);
	struct swz_page_block *block;
	char name[64];
	size_t i;

	snprintf(name, sizeof(name), "moments %zu", w->number);
	block = swz_page_block_begin(w->stream, name, LEVEL);
	swz_page_block_number(block, w->count);
	for (i = 0; i < w->count; i++) {
		swz_page_block_number(block, w->begins[i] - last);
		last = w->begins[i];
	}
	swz_page_block_number(block, w->cut);
	if (w->cut)
		swz_page_block_number(block, w->cut_ticks - last);
	swz_page_block_end(block);
}

/* Begins the values of the section's thread, which has this NUMBER in the page.
 * Bytes are taken from *ROOM; when that is used up all that come later are left
 * out. */
static struct swz_html_values *html_values_begin(
	FILE *stream, size_t number, uint64_t *room,
	const struct swz_section *section)
{
	struct swz_html_values *w = swz_allocate(1, sizeof(*w));

	w->stream = stream;
	w->number = number;
	w->room = room;
	w->section = section;
	return w;
}

/* Writes what is left and the index, and frees VALUES. Returns how many moments
 * were left out. */
static uint64_t html_values_end(struct swz_html_values *w)
{
	uint64_t cut = w->cut;

	end_block(w);
	if (w->count || cut)
		put_moments(w);
	swz_shown_free(&w->value);
	free(w->begins);
	free(w);
	return cut;
}

/* --- calls --------------------------------------------------------------- */

#define PROGRESS_BYTES ((uint64_t)1 << 20)

struct reading {
	const struct swz_section *section;
	struct swz_value_reader *reader;
	struct swz_html_values *values; /* NULL: there are none */
	struct swz_html_bands *bands;
	bool *hidden; /* of each open call: the page does not show it */
	size_t depth, capacity;
	uint64_t shown; /* how many it does */
};

static void begin(struct reading *r, const struct swz_event *event)
{
	uint32_t context = swz_map_get(&r->section->contexts->units,
				       event->node, 0);
	bool hidden = context == SWZ_MAP_NONE || context == SWZ_CONTEXT_ROOT;
	struct swz_call_values of;
	bool known;

	swz_grow(&r->hidden, &r->capacity, r->depth, sizeof(*r->hidden));
	r->hidden[r->depth++] = hidden;
	if (hidden)
		return;
	known = swz_values_of(r->reader, event, &of);
	if (known)
		html_values_add(r->values, event, r->shown, &of);
	html_bands_enter(r->bands, event->ticks, context, r->shown,
			 known ? &of : NULL);
	r->shown++;
}

static void end(struct reading *r, const struct swz_event *event)
{
	struct swz_call_values of;

	if (!r->depth || r->hidden[--r->depth])
		return;
	r->shown--;
	if (swz_values_of(r->reader, event, &of))
		html_values_add(r->values, event, r->shown, &of);
	html_bands_leave(r->bands, event->ticks);
}

static void read_all(FILE *stream, struct reading *r)
{
	const struct swz_section *section = r->section;
	struct swz_events *events = swz_events_open(section->profile,
						    section->thread);
	struct swz_event event;
	uint64_t done = 0;

	if (section->range)
		swz_events_limit(events, section->range->from,
				 section->range->to);
	swz_progress_stage("writing values", swz_events_size(section->thread));
	while (!ferror(stream) && swz_events_next(events, &event)) {
		if (event.begins)
			begin(r, &event);
		else
			end(r, &event);
		if (swz_events_position(events) - done >= PROGRESS_BYTES) {
			swz_progress_add(swz_events_position(events) - done);
			done = swz_events_position(events);
		}
	}
	swz_progress_end();
	swz_events_close(events);
}

struct swz_html_cut swz_html_put_calls(FILE *stream, size_t number,
				       uint64_t *room,
				       struct swz_html_band_names *bands,
				       const struct swz_section *section)
{
	struct reading r = {
		.section = section,
		.reader = swz_values_open(section->profile, section->thread),
	};
	struct swz_html_cut cut = {0};

	if (!r.reader && !html_bands_wanted(section))
		return cut;
	if (r.reader)
		r.values = html_values_begin(stream, number, room, section);
	r.bands = html_bands_begin(section, bands);
	read_all(stream, &r);
	if (r.values)
		cut.values = html_values_end(r.values);
	cut.banded = html_bands_end(r.bands, stream, number);
	swz_values_close(r.reader);
	free(r.hidden);
	return cut;
}
