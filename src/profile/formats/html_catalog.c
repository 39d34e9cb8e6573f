#include "profile/formats/html_catalog.h"

#include "profile/formats/page_block.h"
#include "profile/support/map.h"

/* Strings in the order of their numbers, from 1; 0 stands for none. Those of
 * the catalog are interned, so equal ones are mostly the same. */
struct strings {
	struct swz_page_block *block;
	struct swz_map numbers;
};

static uint32_t string_number(struct strings *strings, const char *string)
{
	uint32_t next = (uint32_t)strings->numbers.count + 1;
	uint32_t *found;

	if (!string)
		return 0;
	found = swz_map_at(&strings->numbers, (uintptr_t)string, 0);
	if (*found == SWZ_MAP_NONE) {
		*found = next;
		swz_page_block_text(strings->block, string);
	}
	return *found;
}

void swz_html_put_catalog(FILE *stream, const struct swz_catalog *catalog)
{
	struct strings strings = {0};
	struct swz_page_block *block;
	size_t i;

	strings.block = swz_page_block_begin(stream, "strings", SWZ_HTML_LEVEL);
	for (i = 0; i < catalog->module_count; i++) {
		string_number(&strings, catalog->modules[i].path);
		string_number(&strings, catalog->modules[i].name);
	}
	for (i = 0; i < catalog->function_count; i++) {
		string_number(&strings, catalog->functions[i].name);
		string_number(&strings, catalog->functions[i].file);
	}
	for (i = 0; i < catalog->place_count; i++) {
		string_number(&strings, catalog->places[i].file);
		string_number(&strings, catalog->places[i].inlined);
	}
	swz_page_block_end(strings.block);

	block = swz_page_block_begin(stream, "catalog", SWZ_HTML_LEVEL);
	swz_page_block_number(block, catalog->module_count);
	for (i = 0; i < catalog->module_count; i++) {
		swz_page_block_number(
			block,
			string_number(&strings, catalog->modules[i].path));
		swz_page_block_number(
			block,
			string_number(&strings, catalog->modules[i].name));
	}
	swz_page_block_number(block, catalog->function_count);
	for (i = 0; i < catalog->function_count; i++) {
		const struct swz_catalog_function *f = &catalog->functions[i];

		swz_page_block_number(block, f->module < catalog->module_count
						     ? (uint64_t)f->module + 1
						     : 0);
		swz_page_block_number(block, string_number(&strings, f->name));
		swz_page_block_number(block, string_number(&strings, f->file));
		swz_page_block_time(block, f->line);
	}
	swz_page_block_number(block, catalog->place_count);
	for (i = 0; i < catalog->place_count; i++) {
		const struct swz_catalog_place *p = &catalog->places[i];

		swz_page_block_number(block, string_number(&strings, p->file));
		swz_page_block_time(block, p->line);
		swz_page_block_number(block,
				      string_number(&strings, p->inlined));
		swz_page_block_time(block, p->outer_line);
	}
	swz_page_block_end(block);
	swz_map_free(&strings.numbers);
}
