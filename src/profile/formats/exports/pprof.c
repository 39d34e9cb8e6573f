/* pprof's profile.proto is a stream of samples that refer to tables of strings,
 * functions and locations. Samples go out as they are made, the tables at the
 * end. */

#include "profile/formats/exports/exports.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/printable.h"
#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/diff.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"

/* --- labels -------------------------------------------------------------- */

/* NULL for a sum: nobody knows which processes they were. */
static const char *program_of(const struct swz_profile *profile,
			      const char *unused)
{
	(void)unused;
	if (profile->header.flags & SWZ_FILE_MERGED &&
	    profile->header.merged_profiles > 1)
		return NULL;
	return swz_base_name(profile->executable);
}

/* NULL where they differ, or have none. */
static const char *common(const struct swz_section *section,
			  const char *(*of)(const struct swz_profile *profile,
					    const char *name),
			  const char *name)
{
	const char *value = of(section->profiles[0], name);
	size_t i;

	for (i = 1; i < section->profile_count && value; i++) {
		const char *other = of(section->profiles[i], name);

		if (!other || strcmp(other, value) != 0)
			value = NULL;
	}
	return value && *value ? value : NULL;
}

const char *swz_common_label(const struct swz_section *section,
			     const char *name)
{
	return common(section, swz_profile_label, name);
}

const char *swz_common_program(const struct swz_section *section)
{
	return common(section, program_of, NULL);
}

const char *swz_pprof_time(const struct swz_profile *profile)
{
	return profile->header.flags & SWZ_FILE_SAMPLES ? "cpu" : "time";
}

size_t swz_pprof_labels(const struct swz_section *section,
			struct swz_pprof_label *labels)
{
	static const struct {
		const char *key, *name;
	} known[] = {{"service_name", "service.name"},
		     {"host", "host"},
		     {"job", "job"},
		     {"rank", "rank"},
		     {"pod", "pod"},
		     {"namespace", "namespace"}};
	const char *program = swz_common_program(section);
	size_t count = 0, i;

	if (program)
		labels[count++] = (struct swz_pprof_label){.key = "process",
							   .text = program};
	if (program && section->profile_count == 1)
		labels[count++] = (struct swz_pprof_label){
			.key = "pid",
			.number = (uint32_t)section->profile->header.pid};
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		const char *value = swz_common_label(section, known[i].name);

		if (value)
			labels[count++] = (struct swz_pprof_label){
				.key = known[i].key, .text = value};
	}
	return count;
}

/* --- the profile --------------------------------------------------------- */

/* profile.proto of pprof, compressed by gzip. Each context is a sample with two
 * values, its calls and its self time. A location is a function and a line in
 * it: of a caller that of the call (with what was inlined there as lines of its
 * own, as the format has it), of the innermost function that where it begins.
 *
 * A comparison is what "pprof -diff_base OLD NEW" makes of two profiles: the
 * old samples with negative values and the label pprof::base, of which the
 * total is that percentages are of.
 *
 * Samples go out as they are made; the tables that they refer to are written at
 * the end, which the format does not mind. */

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* Fields, as profile.proto numbers them. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
	FUNCTION_START_LINE = 5
};

#define PIECE_BYTES 65536u /* what is compressed at once */

struct encoder {
	FILE *stream;
	z_stream zlib;
	struct swz_message out;
	struct swz_intern strings;
	struct swz_map string_numbers; /* interned strings */
	struct swz_map functions;      /* of the catalog, to ids */
	struct swz_map inlined;        /* (name, file), to ids */
	struct swz_map locations;      /* (function, place), to ids */
	struct swz_map mappings;       /* modules, to ids */
	uint32_t function_count;
	struct swz_message tables; /* all but the strings */
	const char **texts;        /* by number */
	size_t text_count;
	size_t text_capacity;
	const char **changes; /* by function, of a comparison; NULL: unknown */
	bool with_waiting;    /* samples have a third value */
	struct swz_extent extent;
	struct swz_pprof_label labels[SWZ_PPROF_MOST_LABELS]; /* of the
							       * section */
	size_t label_count;
};

/* ---- the compressed stream ---- */

static void deflate_all(struct encoder *e, int flush)
{
	uint8_t piece[16384];
	int status;

	do {
		size_t size;

		e->zlib.next_out = piece;
		e->zlib.avail_out = sizeof(piece);
		status = deflate(&e->zlib, flush);
		size = sizeof(piece) - e->zlib.avail_out;
		fwrite(piece, 1, size, e->stream);
	} while (e->zlib.avail_out == 0 && status == Z_OK);
}

static void flush_out(struct encoder *e, struct swz_message *message)
{
	size_t at = 0;

	while (at < message->size) {
		size_t size = message->size - at;

		if (size > PIECE_BYTES)
			size = PIECE_BYTES;
		e->zlib.next_in = message->bytes + at;
		e->zlib.avail_in = (uInt)size;
		deflate_all(e, Z_NO_FLUSH);
		at += size;
	}
	message->size = 0;
}

/* ---- tables ---- */

static uint32_t next_id(struct swz_map *map, uint64_t a, uint64_t b,
			bool *is_new)
{
	uint32_t next = (uint32_t)map->count + 1;
	uint32_t *found = swz_map_at(map, a, b);

	*is_new = *found == SWZ_MAP_NONE;
	if (*is_new)
		*found = next;
	return *found;
}

/* Strings have to be UTF-8. */
static char *valid_text(const char *text)
{
	char *copy = swz_duplicate(text), *at = copy;

	while (*at) {
		size_t length = swz_utf8_length(at);

		if (!length)
			*at = '?';
		at += length ? length : 1;
	}
	return copy;
}

/* The number of a string; 0 for NULL and the empty one. */
static uint32_t number(struct encoder *e, const char *text)
{
	bool is_new;
	uint32_t found;
	char *valid;

	if (!text || !*text)
		return 0;
	valid = valid_text(text);
	text = swz_intern(&e->strings, valid);
	free(valid);
	found = next_id(&e->string_numbers, (uintptr_t)text, 0, &is_new);
	if (is_new) {
		swz_grow(&e->texts, &e->text_capacity, e->text_count,
			 sizeof(*e->texts));
		e->texts[e->text_count++] = text;
	}
	return found;
}

static uint32_t mapping_id(struct encoder *e, const struct swz_catalog *catalog,
			   uint32_t module)
{
	struct swz_message mapping = {0};
	const struct swz_catalog_module *from;
	char build_id[2 * sizeof(from->build_id) + 1] = "";
	bool is_new;
	uint32_t id;
	size_t i;

	if (module == SWZ_INDEX_NONE)
		return 0;
	id = next_id(&e->mappings, module, 0, &is_new);
	if (!is_new)
		return id;
	from = &catalog->modules[module];
	for (i = 0; i < from->build_id_bytes; i++)
		snprintf(build_id + 2 * i, 3, "%02x",
			 (unsigned int)from->build_id[i]);
	swz_message_add(&mapping, MAPPING_ID, id);
	swz_message_add(&mapping, MAPPING_FILENAME, number(e, from->path));
	swz_message_add(&mapping, MAPPING_BUILD_ID, number(e, build_id));
	swz_message_add(&mapping, MAPPING_HAS_FUNCTIONS, 1);
	swz_message_add(&mapping, MAPPING_HAS_FILENAMES, 1);
	swz_message_add(&mapping, MAPPING_HAS_LINE_NUMBERS, 1);
	swz_message_add(&mapping, MAPPING_HAS_INLINE_FRAMES, 1);
	swz_message_nest(&e->tables, PROFILE_MAPPING, &mapping);
	swz_message_free(&mapping);
	return id;
}

static void put_function(struct encoder *e, uint32_t id, const char *name,
			 const char *file, int line)
{
	struct swz_message function = {0};

	swz_message_add(&function, FUNCTION_ID, id);
	swz_message_add(&function, FUNCTION_NAME, number(e, name));
	swz_message_add(&function, FUNCTION_SYSTEM_NAME, number(e, name));
	swz_message_add(&function, FUNCTION_FILENAME, number(e, file));
	swz_message_add(&function, FUNCTION_START_LINE, (uint64_t)line);
	swz_message_nest(&e->tables, PROFILE_FUNCTION, &function);
	swz_message_free(&function);
}

static uint32_t function_id(struct encoder *e,
			    const struct swz_catalog *catalog, uint32_t index)
{
	const struct swz_catalog_function *function =
		&catalog->functions[index];
	uint32_t *found = swz_map_at(&e->functions, index, 0);

	if (*found == SWZ_MAP_NONE) {
		*found = ++e->function_count;
		put_function(e, *found, function->name, function->file,
			     function->line);
	}
	return *found;
}

static uint32_t inlined_id(struct encoder *e,
			   const struct swz_catalog_place *place)
{
	uint32_t *found = swz_map_at(&e->inlined, (uintptr_t)place->inlined,
				     (uintptr_t)place->file);

	if (*found == SWZ_MAP_NONE) {
		*found = ++e->function_count;
		put_function(e, *found, place->inlined, place->file, 0);
	}
	return *found;
}

static void put_line(struct swz_message *location, uint32_t function, int line)
{
	struct swz_message message = {0};

	swz_message_add(&message, LINE_FUNCTION_ID, function);
	swz_message_add(&message, LINE_LINE, (uint64_t)line);
	swz_message_nest(location, LOCATION_LINE, &message);
	swz_message_free(&message);
}

/* A function at one of its calls; with SWZ_PLACE_UNKNOWN at its beginning. */
static uint32_t location_id(struct encoder *e,
			    const struct swz_catalog *catalog, uint32_t index,
			    uint32_t place_index)
{
	const struct swz_catalog_function *function =
		&catalog->functions[index];
	const struct swz_catalog_place *place = &catalog->places[place_index];
	struct swz_message location = {0};
	int line = function->line;
	bool is_new;
	uint32_t id = next_id(&e->locations, index, place_index, &is_new);

	if (!is_new)
		return id;
	swz_message_add(&location, LOCATION_ID, id);
	swz_message_add(&location, LOCATION_MAPPING_ID,
			mapping_id(e, catalog, function->module));
	if (place->inlined) {
		put_line(&location, inlined_id(e, place), place->line);
		line = place->outer_line;
	} else if (place->file && place->file == function->file) {
		line = place->line;
	}
	put_line(&location, function_id(e, catalog, index), line);
	swz_message_nest(&e->tables, PROFILE_LOCATION, &location);
	swz_message_free(&location);
	return id;
}

/* ---- samples ---- */

static void put_text_label(struct encoder *e, struct swz_message *sample,
			   const char *key, const char *value)
{
	struct swz_message label = {0};

	swz_message_add(&label, LABEL_KEY, number(e, key));
	swz_message_add(&label, LABEL_STR, number(e, value));
	swz_message_nest(sample, SAMPLE_LABEL, &label);
	swz_message_free(&label);
}

static void put_number_label(struct encoder *e, struct swz_message *sample,
			     const char *key, uint64_t value)
{
	struct swz_message label = {0};

	swz_message_add(&label, LABEL_KEY, number(e, key));
	swz_message_add(&label, LABEL_NUM, value);
	swz_message_nest(sample, SAMPLE_LABEL, &label);
	swz_message_free(&label);
}

static void put_labels(struct encoder *e, struct swz_message *sample,
		       const struct swz_section *section, uint32_t function)
{
	size_t i;

	for (i = 0; i < e->label_count; i++) {
		const struct swz_pprof_label *label = &e->labels[i];

		if (label->text)
			put_text_label(e, sample, label->key, label->text);
		else
			put_number_label(e, sample, label->key, label->number);
	}
	if (section->thread) {
		put_text_label(e, sample, "thread", section->thread->name);
		put_number_label(e, sample, "tid",
				 (uint64_t)section->thread->record.tid);
	}
	if (section->thread_name)
		put_text_label(e, sample, "thread", section->thread_name);
	if (section->old && e->changes[function])
		put_text_label(e, sample, "change", e->changes[function]);
}

/* With OLD the values are those of the old side, negated. */
static void put_sample(struct encoder *e, const struct swz_section *section,
		       uint32_t index, bool old, struct swz_message *sample,
		       struct swz_message *list)
{
	const struct swz_context *items = section->contexts->items;
	const struct swz_context *context =
		old ? &section->old->contexts->items[index] : &items[index];
	uint64_t sign = old ? UINT64_MAX : 1; /* -1, as the format has it */
	uint32_t place = SWZ_PLACE_UNKNOWN;

	if (!context->calls && !context->self_ns &&
	    !(e->with_waiting && context->self_waiting_ns))
		return;
	do {
		swz_message_item(list,
				 location_id(e, section->catalog,
					     items[index].function, place));
		place = items[index].place;
		index = items[index].parent;
	} while (index != SWZ_CONTEXT_ROOT &&
		 (items[index].function != SWZ_CATALOG_UNKNOWN ||
		  !section->report->without_times));
	swz_message_nest(sample, SAMPLE_LOCATION_ID, list);
	swz_message_item(list, sign * context->calls);
	if (!section->report->without_times)
		swz_message_item(list, sign * (uint64_t)context->self_ns);
	if (e->with_waiting)
		swz_message_item(list, (uint64_t)context->self_waiting_ns);
	swz_message_nest(sample, SAMPLE_VALUE, list);
	put_labels(e, sample, section, context->function);
	if (old)
		put_text_label(e, sample, "pprof::base", "true");
	swz_message_nest(&e->out, PROFILE_SAMPLE, sample);
	if (e->out.size > PIECE_BYTES)
		flush_out(e, &e->out);
}

/* Finds what has become of each function, for labels. */
static void find_changes(struct encoder *e, const struct swz_section *section)
{
	uint32_t i;

	free(e->changes);
	e->changes = swz_allocate(section->catalog->function_count,
				  sizeof(*e->changes));
	for (i = 0; i < section->catalog->function_count; i++) {
		struct swz_diff_function function = swz_diff_function(section,
								      i);

		e->changes[i] = swz_diff_kind_name(&function);
	}
}

static void put_value_type(struct encoder *e, const char *type,
			   const char *unit)
{
	struct swz_message message = {0};

	swz_message_add(&message, VALUE_TYPE_TYPE, number(e, type));
	swz_message_add(&message, VALUE_TYPE_UNIT, number(e, unit));
	swz_message_nest(&e->out, PROFILE_SAMPLE_TYPE, &message);
	swz_message_free(&message);
}

/* To be freed. */
static char *command_of(const char *what, const struct swz_profile *profile)
{
	char *command = NULL;
	size_t size = 0;
	FILE *stream = swz_text_stream(&command, &size);

	fprintf(stream, "%s: ", what);
	swz_put_command(stream, profile);
	swz_text_stream_end(stream);
	return command;
}

static bool was_at(const struct swz_catalog_module *module, const char *path)
{
	size_t i;

	for (i = 0; i < module->path_count; i++)
		if (strcmp(module->paths[i], path) == 0)
			return true;
	return false;
}

static void put_command(struct encoder *e, const char *what,
			const struct swz_profile *profile)
{
	char *command = command_of(what, profile);

	swz_message_add(&e->out, PROFILE_COMMENT, number(e, command));
	free(command);
}

/* By convention the first mapping is the program, which the profile is called
 * after; what is seen first may be a constructor in a library. */
static void put_program(struct encoder *e, const struct swz_section *section)
{
	const struct swz_catalog *catalog = section->catalog;
	uint32_t i;

	for (i = 0; i < catalog->module_count; i++)
		if (was_at(&catalog->modules[i],
			   section->profile->executable)) {
			mapping_id(e, catalog, i);
			return;
		}
}

static void put_heading(struct encoder *e, const struct swz_section *section)
{
	const struct swz_profile *profile = section->profile;
	const char *time = section->report->without_times
				   ? swz_counted(section)
				   : swz_pprof_time(profile);

	put_value_type(e, swz_counted(section), "count");
	if (!section->report->without_times)
		put_value_type(e, time, "nanoseconds");
	/* (of threads apart some may know, and the first one not) */
	e->with_waiting = !section->old && !section->report->without_times &&
			  (section->report->knows_waiting ||
			   profile->header.flags & SWZ_FILE_SWITCHES);
	if (e->with_waiting)
		put_value_type(e, "waiting", "nanoseconds");
	swz_message_add(&e->out, PROFILE_DEFAULT_SAMPLE_TYPE, number(e, time));
	put_command(e, "command", profile);
	if (section->old)
		put_command(e, "compared with", section->old->profile);
	swz_message_add(&e->out, PROFILE_COMMENT,
			number(e, "made by swizzle-" SWZ_VERSION));
	put_program(e, section);
}

void swz_begin_pprof(struct swz_writer *writer)
{
	struct encoder *e = swz_allocate(1, sizeof(*e));

	e->stream = writer->stream;
	/* 16: with the header of gzip */
	if (deflateInit2(&e->zlib, Z_DEFAULT_COMPRESSION, Z_DEFLATED,
			 MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		swz_out_of_memory();
	writer->state = e;
}

void swz_write_pprof(struct swz_writer *writer,
		     const struct swz_section *section)
{
	struct encoder *e = writer->state;
	struct swz_message sample = {0}, list = {0};
	uint32_t i;

	if (!writer->sections)
		put_heading(e, section);
	if (section->old)
		find_changes(e, section);
	else
		e->label_count = swz_pprof_labels(section, e->labels);
	if (section->old)
		swz_extent_add(&e->extent, section->profile);
	else
		swz_extent_add_section(&e->extent, section);
	for (i = 0; i < section->contexts->count; i++) {
		put_sample(e, section, i, false, &sample, &list);
		if (section->old)
			put_sample(e, section, i, true, &sample, &list);
	}
	swz_message_free(&sample);
	swz_message_free(&list);
}

void swz_end_pprof(struct swz_writer *writer)
{
	struct encoder *e = writer->state;
	size_t i;

	swz_message_add(&e->out, PROFILE_TIME_NANOS, e->extent.start_ns);
	swz_message_add(&e->out, PROFILE_DURATION_NANOS,
			e->extent.end_ns - e->extent.start_ns);
	flush_out(e, &e->out);
	flush_out(e, &e->tables);
	swz_message_bytes(&e->out, PROFILE_STRING_TABLE, "", 0);
	for (i = 0; i < e->text_count; i++)
		swz_message_bytes(&e->out, PROFILE_STRING_TABLE, e->texts[i],
				  strlen(e->texts[i]));
	flush_out(e, &e->out);
	e->zlib.avail_in = 0;
	deflate_all(e, Z_FINISH);
	deflateEnd(&e->zlib);
	swz_message_free(&e->out);
	swz_message_free(&e->tables);
	swz_map_free(&e->string_numbers);
	swz_map_free(&e->functions);
	swz_map_free(&e->inlined);
	swz_map_free(&e->locations);
	swz_map_free(&e->mappings);
	swz_intern_free(&e->strings);
	free(e->texts);
	free(e->changes);
	free(e);
	writer->state = NULL;
}
