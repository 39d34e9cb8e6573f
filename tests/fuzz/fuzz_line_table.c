/* Any bytes as .debug_line: the first two say how many of them are the strings
 * of .debug_line_str. Names are read to their ends, for the sanitizer. */

#include <stdlib.h>
#include <string.h>

#include "image/line_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void touch(const char *string)
{
	if (string)
		sink += strlen(string);
}

static bool visit(void *context, const struct swz_line_range *range)
{
	const struct swz_line_unit *unit = context;
	struct swz_line_file file;

	if (range->start >= range->end)
		abort();
	if (range->file < 8 && swz_line_file(unit, range->file, &file)) {
		touch(file.base);
		touch(file.directory);
		touch(file.name);
	}
	return range->file != 77;
}

static uint8_t *copy_of(const uint8_t *data, size_t size)
{
	uint8_t *copy = malloc(size ? size : 1);

	if (copy)
		memcpy(copy, data, size);
	return copy;
}

static void walk(const struct swz_line_sections *sections)
{
	struct swz_line_iterator it;
	struct swz_line_unit unit;
	struct swz_line_file file;

	swz_line_begin(&it, sections);
	while (swz_line_next(&it, &unit)) {
		sink += swz_line_ranges(&unit, visit, &unit);
		for (uint64_t i = 0; i < 4; i++)
			sink += swz_line_file(&unit, i, &file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct swz_line_sections sections = {0};
	uint8_t *strings, *line;
	size_t string_bytes;

	if (size < 2)
		return 0;
	string_bytes = (size_t)(data[0] << 8 | data[1]);
	data += 2;
	size -= 2;
	if (string_bytes > size)
		string_bytes = size;
	strings = copy_of(data, string_bytes);
	line = copy_of(data + string_bytes, size - string_bytes);
	if (strings && line) {
		sections.line = (struct swz_bytes){line, size - string_bytes};
		sections.line_strings = sections.strings = (struct swz_bytes){
			strings, string_bytes};
		walk(&sections);
	}
	free(strings);
	free(line);
	return 0;
}
