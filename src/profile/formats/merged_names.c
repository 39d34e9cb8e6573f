#include "profile/formats/merged_parts.h"

#include <stdlib.h>

/* Records first, then text: its place counts from the body's start. */
struct names {
	struct swz_bytes records;
	struct swz_merged_text text;
	uint32_t languages;
};

static void put_names(struct swz_merged_file *w, uint32_t type, uint32_t module,
		      size_t record_bytes, struct names *names)
{
	size_t count = names->records.size / record_bytes;

	swz_bytes_add(&names->records, names->text.bytes.bytes,
		      names->text.bytes.size);
	if (count)
		swz_merged_put(w, type, count, module, names->languages,
			       &names->records);
	free(names->records.bytes);
	swz_merged_text_free(&names->text);
}

void swz_merged_put_symbols(struct swz_merged_file *w, uint32_t module)
{
	struct names names = {0};
	size_t i;

	for (i = 0; i < w->merge->symbol_count; i++) {
		const struct swz_merge_symbol *s = &w->merge->symbols[i];
		struct swz_symbol_record record = {
			.address = s->address,
			.size = s->size,
			.number = s->number,
		};

		if (s->module != module)
			continue;
		record.name = swz_merged_text_at(&names.text, s->name);
		record.file = swz_merged_text_at(&names.text, s->file);
		names.languages |= s->languages;
		swz_bytes_add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_symbol_record) < names.records.size;
	     i++) {
		struct swz_symbol_record *record =
			(struct swz_symbol_record *)(void *)
				names.records.bytes +
			i;

		record->name = swz_merged_text_from(record->name,
						    names.records.size);
		record->file = swz_merged_text_from(record->file,
						    names.records.size);
	}
	put_names(w, SWZ_CHUNK_SYMBOLS, module,
		  sizeof(struct swz_symbol_record), &names);
}

void swz_merged_put_lines(struct swz_merged_file *w, uint32_t module)
{
	struct names names = {0};
	size_t i;

	for (i = 0; i < w->merge->line_count; i++) {
		const struct swz_merge_line *l = &w->merge->lines[i];
		struct swz_line_record record = {
			.address = l->address,
			.line = (uint32_t)l->line,
			.outer_line = (uint32_t)l->outer_line,
		};

		if (l->module != module)
			continue;
		record.file = swz_merged_text_at(&names.text, l->file);
		record.inlined = swz_merged_text_at(&names.text, l->inlined);
		swz_bytes_add(&names.records, &record, sizeof(record));
	}
	for (i = 0; i * sizeof(struct swz_line_record) < names.records.size;
	     i++) {
		struct swz_line_record *record =
			(struct swz_line_record *)(void *)names.records.bytes +
			i;

		record->file = swz_merged_text_from(record->file,
						    names.records.size);
		record->inlined = swz_merged_text_from(record->inlined,
						       names.records.size);
	}
	put_names(w, SWZ_CHUNK_LINES, module, sizeof(struct swz_line_record),
		  &names);
}
