/* Folded stacks, as flamegraph.pl and most viewers of flame graphs read them:
 * "outer;inner 123". A semicolon in a name would end it, and what comes after
 * the last space is the value; flamegraph.pl takes the last two numbers for
 * values, if there are two, as there are in a comparison: the old and the new
 * one. */

#include "profile/formats/formats.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/support/memory.h"
#include "profile/support/output.h"

static void put_frame(FILE *stream, const char *name)
{
	for (; *name; name++) {
		char text[2] = {*name, '\0'};

		if (*name == ';')
			text[0] = ':';
		else if (*name == ' ' && name[1] >= '0' && name[1] <= '9')
			text[0] = '_';
		swz_put_text(stream, text);
	}
}

static void put_name(FILE *stream, const struct swz_section *section,
		     uint32_t index)
{
	const struct swz_catalog_function *function =
		&section->catalog->functions[index];

	put_frame(stream, function->name);
	if (function->namesake) {
		fputs(" (", stream);
		put_frame(stream, swz_module_name(section, index));
		putc(')', stream);
	}
}

static void put_stack(FILE *stream, const struct swz_section *section,
		      uint32_t index, uint32_t *path)
{
	const struct swz_context *items = section->contexts->items;
	size_t depth = 0;

	/* what is outside of all functions is not their caller */
	for (; items[index].parent != index; index = items[index].parent)
		path[depth++] = items[index].function;
	if (!depth)
		path[depth++] = items[index].function;
	if (section->thread_name) {
		put_frame(stream, section->thread_name);
		putc(';', stream);
	} else if (section->thread) {
		put_frame(stream, section->thread->name);
		fprintf(stream, "/%" PRId32 ";", section->thread->record.tid);
	}
	while (depth-- > 0) {
		put_name(stream, section, path[depth]);
		putc(depth ? ';' : ' ', stream);
	}
}

static uint64_t value_of(const struct swz_context *context, bool calls)
{
	return calls ? context->calls : (uint64_t)context->self_ns;
}

void swz_write_folded(FILE *stream, const struct swz_section *section,
		      const struct swz_table_options *options)
{
	uint32_t *path = swz_allocate(SWZ_CONTEXT_DEPTH, sizeof(*path));
	bool calls = options->sort == SWZ_SORT_CALLS;
	size_t i;

	for (i = 0; i < section->contexts->count; i++) {
		uint64_t value = value_of(&section->contexts->items[i], calls);
		uint64_t old = 0;

		if (section->old)
			old = value_of(&section->old->contexts->items[i],
				       calls);
		if (!value && !old)
			continue;
		put_stack(stream, section, (uint32_t)i, path);
		if (section->old)
			fprintf(stream, "%" PRIu64 " ", old);
		fprintf(stream, "%" PRIu64 "\n", value);
	}
	free(path);
}
