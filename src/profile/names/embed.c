/* All nodes of the file are looked at, whatever a report would make of them: so
 * each view of the profile (threads, ranges, filters) finds its names. A call's
 * address is looked up in each module that has had it: which one a report
 * takes depends on the caller. */

#include <stdlib.h>
#include <string.h>

#include "profile/file/code_files.h"
#include "profile/names/catalog.h"
#include "profile/names/symbols.h"
#include "util/memory.h"
#include "util/output.h"

/* A chunk with more text than this is followed by another one. */
#define TEXT_BYTES ((size_t)16 << 20)

struct text {
	char *bytes;
	size_t size, capacity;
	struct swz_map places; /* (interned string, 0): where it is, from 1 */
};

/* A chunk of one module and type. Texts are known by their place in TEXT, from
 * 1, until it is made. */
struct pending {
	struct text text;
	struct swz_symbol_record *symbols;
	size_t symbol_count, symbol_capacity;
	struct swz_line_record *lines;
	size_t line_count, line_capacity;
};

struct site {
	uint32_t module; /* of the profile */
	uint64_t address;
};

struct embedding {
	struct swz_binding *binding;
	struct swz_embed_result *result;
	size_t capacity; /* of the result */
	bool *called;    /* by the profile's functions */
	struct site *sites;
	size_t site_count, site_capacity;
	struct swz_map known;   /* (return address, 1 if from outside) */
	struct swz_map symbols; /* (module of the catalog, address): done */
	struct swz_map lines;   /* the same */
	struct pending now;     /* of the module at work */
	uint32_t owner;         /* that module */
	unsigned languages;
};

/* ---- what was recorded ---- */

static bool is_from_outside(const struct swz_profile *profile,
			    const struct swz_node *node)
{
	struct swz_node parent;

	return swz_profile_loaded(profile,
				  (uint64_t)node->parent * SWZ_UNIT_BYTES,
				  &parent, sizeof(parent)) == sizeof(parent) &&
	       parent.function == SWZ_FUNCTION_ROOT &&
	       !(parent.open & SWZ_NODE_FOLDED);
}

static void note_site(struct embedding *e, uint64_t return_address,
		      bool from_outside)
{
	const struct swz_profile *profile = e->binding->profile;
	uint32_t *known = swz_map_at(&e->known, return_address, from_outside);
	uint32_t i;

	if (*known != SWZ_MAP_NONE)
		return;
	*known = 0;
	for (i = 0; i < profile->module_count; i++) {
		const struct swz_module_record *record =
			&profile->modules[i].record;

		/* as swz_binding_place() has it */
		if (!swz_profile_module_holds(profile, i, return_address - 1) ||
		    (from_outside && !record->in_scope))
			continue;
		swz_grow(&e->sites, &e->site_capacity, e->site_count,
			 sizeof(*e->sites));
		e->sites[e->site_count++] = (struct site){
			i, return_address - 1 - record->load_bias};
	}
}

static void note_node(struct embedding *e, const struct swz_node *node)
{
	const struct swz_profile *profile = e->binding->profile;
	uint64_t site = node->call_site;
	uint32_t index;

	if (node->function == SWZ_FUNCTION_NONE ||
	    node->function == SWZ_FUNCTION_ROOT)
		return;
	index = swz_profile_function_by_id(profile, node->function);
	if (index != SWZ_INDEX_NONE)
		e->called[index] = true;
	if (profile->header.flags & SWZ_FILE_SAMPLED)
		site &= ~SWZ_CALL_SITE_LONG;
	if (node->open & SWZ_NODE_HIT)
		site++; /* as if it were behind a call */
	if (site != SWZ_CALL_SITE_TAIL)
		note_site(e, site, is_from_outside(profile, node));
}

static void note_nodes(struct embedding *e)
{
	const struct swz_profile *profile = e->binding->profile;
	size_t i;
	uint32_t j;

	for (i = 0; i < profile->span_count; i++)
		for (j = 0; j < profile->spans[i].count; j++)
			note_node(e,
				  swz_profile_node(profile,
						   profile->spans[i].unit + j));
}

/* A folded call's caller is the function that holds the place. */
static void note_callers(struct embedding *e)
{
	struct swz_profile *profile = e->binding->profile;
	size_t i;

	for (i = 0; i < e->site_count; i++) {
		uint32_t index = swz_profile_function_at(
			profile, e->sites[i].address +
					 profile->modules[e->sites[i].module]
						 .record.load_bias);

		if (index != SWZ_INDEX_NONE)
			e->called[index] = true;
	}
}

/* ---- chunks ---- */

static uint32_t put_text(struct embedding *e, const char *string)
{
	struct text *text = &e->now.text;
	size_t size = string ? strlen(string) + 1 : 0;
	uint32_t *place;

	if (size <= 1)
		return 0;
	string = swz_intern(&e->binding->catalog->strings, string);
	place = swz_map_at(&text->places, (uintptr_t)string, 0);
	if (*place != SWZ_MAP_NONE)
		return *place;
	if (text->capacity - text->size < size) {
		text->capacity = text->size + size + text->capacity / 2;
		text->bytes = swz_reallocate(text->bytes, text->capacity, 1);
	}
	memcpy(text->bytes + text->size, string, size);
	*place = (uint32_t)text->size + 1;
	text->size += size;
	return *place;
}

/* Room for a chunk at the end of the result. */
static uint8_t *add_chunk(struct embedding *e, uint32_t type, size_t count,
			  size_t records)
{
	struct swz_embed_result *result = e->result;
	struct swz_chunk chunk = {.magic = SWZ_CHUNK_MAGIC,
				  .type = type,
				  .count = (uint32_t)count,
				  .owner = e->owner};
	size_t body = records + e->now.text.size;
	uint8_t *at;

	chunk.bytes = (sizeof(chunk) + body + SWZ_UNIT_BYTES - 1) /
		      SWZ_UNIT_BYTES * SWZ_UNIT_BYTES;
	if (type == SWZ_CHUNK_SYMBOLS)
		chunk.reserved[SWZ_SYMBOLS_LANGUAGES] = e->languages;
	if (e->capacity - result->bytes < chunk.bytes) {
		e->capacity = result->bytes + chunk.bytes + e->capacity / 2;
		result->chunks = swz_reallocate(result->chunks, e->capacity, 1);
	}
	at = result->chunks + result->bytes;
	memset(at, 0, chunk.bytes);
	memcpy(at, &chunk, sizeof(chunk));
	memcpy(at + sizeof(chunk) + records, e->now.text.bytes,
	       e->now.text.size);
	result->bytes += chunk.bytes;
	return at + sizeof(chunk);
}

static uint32_t text_at(uint32_t place, size_t records)
{
	return place ? (uint32_t)(records + place - 1) : 0;
}

static void clear_text(struct text *text)
{
	text->size = 0;
	swz_map_free(&text->places);
}

static void flush_symbols(struct embedding *e)
{
	struct swz_symbol_record *symbols = e->now.symbols;
	size_t count = e->now.symbol_count, records = count * sizeof(*symbols);
	size_t i;

	for (i = 0; i < count; i++) {
		symbols[i].name = text_at(symbols[i].name, records);
		symbols[i].file = text_at(symbols[i].file, records);
	}
	if (count)
		memcpy(add_chunk(e, SWZ_CHUNK_SYMBOLS, count, records), symbols,
		       records);
	e->result->names += count;
	e->now.symbol_count = 0;
	clear_text(&e->now.text);
}

static void flush_lines(struct embedding *e)
{
	struct swz_line_record *lines = e->now.lines;
	size_t count = e->now.line_count, records = count * sizeof(*lines);
	size_t i;

	for (i = 0; i < count; i++) {
		lines[i].file = text_at(lines[i].file, records);
		lines[i].inlined = text_at(lines[i].inlined, records);
	}
	if (count)
		memcpy(add_chunk(e, SWZ_CHUNK_LINES, count, records), lines,
		       records);
	e->result->lines += count;
	e->now.line_count = 0;
	clear_text(&e->now.text);
}

/* ---- names and lines ---- */

static void add_symbol(struct embedding *e, const char *name, const char *file,
		       const struct swz_symbol_record *like)
{
	struct swz_symbol_record record = *like;

	record.name = put_text(e, name);
	record.file = put_text(e, file);
	swz_grow(&e->now.symbols, &e->now.symbol_capacity, e->now.symbol_count,
		 sizeof(record));
	e->now.symbols[e->now.symbol_count++] = record;
	if (e->now.text.size > TEXT_BYTES)
		flush_symbols(e);
}

static void embed_symbol(struct embedding *e, uint32_t module,
			 struct swz_symbols *symbols, uint64_t address)
{
	struct swz_catalog *catalog = e->binding->catalog;
	uint64_t offset = 0;
	const char *name = swz_symbols_name(symbols, address, &offset);
	struct swz_symbol_record record = {.address = address - offset};
	const char *const *names;
	const char *file;
	uint32_t *done;
	size_t count, i;

	if (!name)
		return;
	done = swz_map_at(&e->symbols, module, record.address);
	if (*done != SWZ_MAP_NONE)
		return;
	*done = 0;
	if (swz_embedded_names(&catalog->modules[module].embedded,
			       record.address, &count))
		return;
	record.size = swz_symbols_size(symbols, address);
	record.number = swz_symbols_number(symbols, record.address, &file);
	names = swz_symbols_names(symbols, record.address, &count);
	/* (an empty name is that of no function) */
	for (i = 0; i < count; i++)
		add_symbol(e, names[i], file, &record);
}

static void embed_line(struct embedding *e, uint32_t module,
		       struct swz_symbols *symbols, uint64_t address,
		       bool is_call)
{
	struct swz_catalog *catalog = e->binding->catalog;
	uint32_t *done = swz_map_at(&e->lines, module, address);
	struct swz_line_record record = {.address = address};
	struct swz_inline inlined = {NULL, 0};
	struct swz_source source;

	if (*done != SWZ_MAP_NONE ||
	    swz_embedded_line(&catalog->modules[module].embedded, address))
		return;
	*done = 0;
	source = swz_catalog_line(catalog, module, symbols, address);
	if (!source.file)
		return;
	record.file = put_text(e, source.file);
	record.line = (uint32_t)source.line;
	if (is_call)
		inlined = swz_symbols_inline(symbols, address);
	record.inlined = put_text(e, inlined.name);
	record.outer_line = (uint32_t)inlined.line;
	swz_grow(&e->now.lines, &e->now.line_capacity, e->now.line_count,
		 sizeof(record));
	e->now.lines[e->now.line_count++] = record;
	if (e->now.text.size > TEXT_BYTES)
		flush_lines(e);
}

/* A module of the profile; INDEX is in its modules. */
static void embed_module(struct embedding *e, uint32_t index)
{
	const struct swz_profile *profile = e->binding->profile;
	struct swz_catalog *catalog = e->binding->catalog;
	uint32_t module = e->binding->modules[index];
	struct swz_symbols *symbols = NULL;
	size_t i;

	/* what nothing was called in, or from, is not opened */
	for (i = 0; i < profile->function_count && !symbols; i++)
		if (e->called[i] && profile->functions[i].module == index)
			symbols = swz_catalog_symbols(catalog, module);
	for (i = 0; i < e->site_count && !symbols; i++)
		if (e->sites[i].module == index)
			symbols = swz_catalog_symbols(catalog, module);
	if (!symbols || catalog->modules[module].doubtful)
		return;
	e->owner = profile->modules[index].index;
	e->languages = swz_symbols_languages(symbols);
	for (i = 0; i < profile->function_count; i++)
		if (e->called[i] && profile->functions[i].module == index)
			embed_symbol(e, module, symbols,
				     profile->functions[i].address);
	flush_symbols(e);
	for (i = 0; i < profile->function_count; i++)
		if (e->called[i] && profile->functions[i].module == index)
			embed_line(e, module, symbols,
				   profile->functions[i].address, false);
	for (i = 0; i < e->site_count; i++)
		if (e->sites[i].module == index)
			embed_line(e, module, symbols, e->sites[i].address,
				   true);
	flush_lines(e);
}

/* Names that are in no module's file, but in one that may soon be gone. */
static void embed_code(struct embedding *e)
{
	struct swz_embed_result *result = e->result;
	struct swz_chunk chunk;
	size_t names;
	uint8_t *bytes = swz_run_time_code_chunk(e->binding->profile, &names);

	if (!bytes)
		return;
	memcpy(&chunk, bytes, sizeof(chunk));
	if (e->capacity - result->bytes < chunk.bytes) {
		e->capacity = result->bytes + chunk.bytes;
		result->chunks = swz_reallocate(result->chunks, e->capacity, 1);
	}
	memcpy(result->chunks + result->bytes, bytes, chunk.bytes);
	result->bytes += chunk.bytes;
	result->names += names;
	free(bytes);
}

void swz_embed_collect(struct swz_binding *binding,
		       struct swz_embed_result *result)
{
	struct swz_profile *profile = binding->profile;
	struct embedding e = {.binding = binding, .result = result};
	uint32_t i;

	*result = (struct swz_embed_result){0};
	e.called = swz_allocate(profile->function_count, sizeof(*e.called));
	note_nodes(&e);
	note_callers(&e);
	swz_progress_stage("finding names", profile->module_count);
	for (i = 0; i < profile->module_count; i++) {
		embed_module(&e, i);
		swz_progress_add(1);
	}
	swz_progress_end();
	embed_code(&e);
	free(e.called);
	free(e.sites);
	free(e.now.text.bytes);
	free(e.now.symbols);
	free(e.now.lines);
	swz_map_free(&e.now.text.places);
	swz_map_free(&e.known);
	swz_map_free(&e.symbols);
	swz_map_free(&e.lines);
}
