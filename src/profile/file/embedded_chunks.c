/* A text is good if it begins within the body: the body's last byte, which is
 * 0, ends it there at the latest. */

#include "profile/file/embedded_chunks.h"

#include <string.h>

#include "profile/support/memory.h"

/* How many records there are room for; 0 where texts do not end. */
static size_t records_in(struct swz_scan *scan, const struct swz_chunk *chunk,
			 const uint8_t *body, size_t size, size_t record)
{
	size_t room = size / record;

	if (!size || body[size - 1] || chunk->count > room) {
		scan->profile->damage.bad_chunks++;
		return 0;
	}
	return chunk->count;
}

/* False if it is not in the body. */
static bool find_text(const uint8_t *body, size_t size, uint32_t at,
		      const char **text)
{
	*text = at && at < size && body[at] ? (const char *)body + at : NULL;
	return at < size;
}

void swz_scan_symbols(struct swz_scan *scan, const struct swz_chunk *chunk,
		      const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_symbol_record record;
	size_t count = records_in(scan, chunk, body, size, sizeof(record));
	size_t bad = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_symbol symbol = {.module = chunk->owner};

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (!find_text(body, size, record.name, &symbol.name) ||
		    !find_text(body, size, record.file, &symbol.file) ||
		    !symbol.name) {
			bad++;
			continue;
		}
		symbol.number = record.number;
		symbol.address = record.address;
		symbol.size = record.size;
		symbol.languages =
			(uint32_t)chunk->reserved[SWZ_SYMBOLS_LANGUAGES];
		swz_grow(&profile->symbols, &scan->symbol_capacity,
			 profile->symbol_count, sizeof(symbol));
		profile->symbols[profile->symbol_count++] = symbol;
	}
	profile->damage.bad_chunks += bad != 0;
}

void swz_scan_lines(struct swz_scan *scan, const struct swz_chunk *chunk,
		    const uint8_t *body, size_t size)
{
	struct swz_profile *profile = scan->profile;
	struct swz_line_record record;
	size_t count = records_in(scan, chunk, body, size, sizeof(record));
	size_t bad = 0, i;

	for (i = 0; i < count; i++) {
		struct swz_profile_line line = {.module = chunk->owner};

		memcpy(&record, body + i * sizeof(record), sizeof(record));
		if (!find_text(body, size, record.file, &line.file) ||
		    !find_text(body, size, record.inlined, &line.inlined) ||
		    !line.file || !record.line || record.line > INT32_MAX ||
		    record.outer_line > INT32_MAX) {
			bad++;
			continue;
		}
		line.address = record.address;
		line.line = (int)record.line;
		line.outer_line = (int)record.outer_line;
		swz_grow(&profile->lines, &scan->line_capacity,
			 profile->line_count, sizeof(line));
		profile->lines[profile->line_count++] = line;
	}
	profile->damage.bad_chunks += bad != 0;
}

void swz_embedded_index(struct swz_profile *profile)
{
	size_t kept = 0, i;

	for (i = 0; i < profile->symbol_count; i++) {
		struct swz_profile_symbol *symbol = &profile->symbols[i];

		symbol->module = swz_profile_module_by_index(profile,
							     symbol->module);
		if (symbol->module != SWZ_INDEX_NONE)
			profile->symbols[kept++] = *symbol;
	}
	profile->symbol_count = kept;
	kept = 0;
	for (i = 0; i < profile->line_count; i++) {
		struct swz_profile_line *line = &profile->lines[i];

		line->module = swz_profile_module_by_index(profile,
							   line->module);
		if (line->module != SWZ_INDEX_NONE)
			profile->lines[kept++] = *line;
	}
	profile->line_count = kept;
}
