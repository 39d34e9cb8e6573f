/* Profiles of OpenTelemetry: an ExportProfilesServiceRequest, which is also
 * what ProfilesData looks like. The schema is still "v1development"; field
 * numbers are those of release 1.11.0 of opentelemetry-proto. Since 1.10.0 keys
 * and texts of attributes are numbers of strings, too.
 *
 * Names, functions, locations and stacks are in tables that all profiles of the
 * message share; entry 0 of each stands for "none". A profile has values of one
 * kind, so there are two or three: times, which viewers show first, calls, and
 * where waiting is known that. Each thread of each process has samples of its
 * own, with attributes that name it.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "util/output.h"
#include "profile/formats/common/section.h"
#include "profile/formats/common/writers.h"
#include "profile/formats/common/encoders.h"
#include "profile/formats/exports/exports.h"

#ifndef SWZ_VERSION
#define SWZ_VERSION "unknown"
#endif

/* Fields, as the schema numbers them. */
enum {
	REQUEST_RESOURCE_PROFILES = 1,
	REQUEST_DICTIONARY = 2,
	RESOURCE_PROFILES_RESOURCE = 1,
	RESOURCE_PROFILES_SCOPE_PROFILES = 2,
	RESOURCE_ATTRIBUTES = 1,
	SCOPE_PROFILES_SCOPE = 1,
	SCOPE_PROFILES_PROFILES = 2,
	SCOPE_NAME = 1,
	SCOPE_VERSION = 2,
	KEY_VALUE_VALUE = 2,
	KEY_VALUE_KEY = 3, /* a string's number */
	ANY_VALUE_INT = 3,
	ANY_VALUE_STRING = 8, /* a string's number */
	DICTIONARY_MAPPINGS = 1,
	DICTIONARY_LOCATIONS = 2,
	DICTIONARY_FUNCTIONS = 3,
	DICTIONARY_LINKS = 4,
	DICTIONARY_STRINGS = 5,
	DICTIONARY_ATTRIBUTES = 6,
	DICTIONARY_STACKS = 7,
	MAPPING_FILENAME = 4,
	MAPPING_ATTRIBUTES = 5,
	LOCATION_MAPPING = 1,
	LOCATION_LINES = 3,
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
	FUNCTION_NAME = 1,
	FUNCTION_SYSTEM_NAME = 2,
	FUNCTION_FILE_NAME = 3,
	FUNCTION_START_LINE = 4,
	STACK_LOCATIONS = 1,
	ATTRIBUTE_KEY = 1,
	ATTRIBUTE_VALUE = 2,
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLES = 2,
	PROFILE_TIME = 3,
	PROFILE_DURATION = 4,
	PROFILE_PERIOD_TYPE = 5,
	PROFILE_PERIOD = 6,
	PROFILE_ID = 7,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_STACK = 1,
	SAMPLE_ATTRIBUTES = 2,
	SAMPLE_VALUES = 4
};

struct encoder {
	struct swz_message dictionary; /* all tables but strings and stacks */
	struct swz_message stacks;
	struct swz_message times, calls, waits; /* samples */
	struct swz_message resource;
	struct swz_profile **profiles; /* of all processes */
	size_t profile_count, profile_capacity;
	struct swz_intern strings;
	struct swz_map string_numbers, functions, inlined, locations, mappings;
	struct swz_map attributes; /* (key, value) by numbers of strings */
	uint32_t function_count, attribute_count, stack_count;
	const char **texts; /* by number; the first is number 1 */
	size_t text_count, text_capacity;
	/* of all processes */
	struct swz_extent extent;
	uint64_t period_ns;
	const char *time, *count; /* what is in the first two profiles */
	bool knows_waiting;       /* then there is a third one */
};

/* ---------------------------------------------------------------- tables */

static uint32_t next_number(struct swz_map *map, uint64_t a, uint64_t b,
			    bool *is_new)
{
	uint32_t next = (uint32_t)map->count + 1;
	uint32_t *found = swz_map_at(map, a, b);

	*is_new = *found == SWZ_MAP_NONE;
	if (*is_new)
		*found = next;
	return *found;
}

static uint32_t text_number(struct encoder *e, const char *text)
{
	bool is_new;
	uint32_t found;

	if (!text || !*text)
		return 0;
	text = swz_intern(&e->strings, text);
	found = next_number(&e->string_numbers, (uintptr_t)text, 0, &is_new);
	if (is_new) {
		swz_grow(&e->texts, &e->text_capacity, e->text_count,
			 sizeof(*e->texts));
		e->texts[e->text_count++] = text;
	}
	return found;
}

/* The attribute of a sample or a mapping is a TEXT, or where that is NULL a
 * NUMBER. */
static uint32_t attribute_number(struct encoder *e, const char *key,
				 const char *text, int64_t number)
{
	struct swz_message attribute = {0}, value = {0};
	uint32_t name = text_number(e, key);
	uint64_t what = text ? 1ull << 63 | text_number(e, text)
			     : (uint64_t)number;
	bool is_new;
	uint32_t found = next_number(&e->attributes, name, what, &is_new);

	if (!is_new)
		return found;
	swz_message_add(&attribute, ATTRIBUTE_KEY, name);
	if (text)
		swz_message_put(&value, ANY_VALUE_STRING, text_number(e, text));
	else
		swz_message_put(&value, ANY_VALUE_INT, (uint64_t)number);
	swz_message_nest(&attribute, ATTRIBUTE_VALUE, &value);
	swz_message_nest(&e->dictionary, DICTIONARY_ATTRIBUTES, &attribute);
	swz_message_free(&attribute);
	swz_message_free(&value);
	return found;
}

static uint32_t mapping_number(struct encoder *e,
			       const struct swz_catalog *catalog,
			       uint32_t module)
{
	struct swz_message mapping = {0}, list = {0};
	const struct swz_catalog_module *from;
	char build_id[2 * sizeof(from->build_id) + 1] = "";
	bool is_new;
	uint32_t found;
	size_t i;

	if (module == SWZ_INDEX_NONE)
		return 0;
	found = next_number(&e->mappings, module, 0, &is_new);
	if (!is_new)
		return found;
	from = &catalog->modules[module];
	for (i = 0; i < from->build_id_bytes; i++)
		snprintf(build_id + 2 * i, 3, "%02x",
			 (unsigned int)from->build_id[i]);
	swz_message_add(&mapping, MAPPING_FILENAME, text_number(e, from->path));
	if (build_id[0]) {
		swz_message_item(
			&list,
			attribute_number(e, "process.executable.build_id.gnu",
					 build_id, 0));
		swz_message_nest(&mapping, MAPPING_ATTRIBUTES, &list);
	}
	swz_message_nest(&e->dictionary, DICTIONARY_MAPPINGS, &mapping);
	swz_message_free(&mapping);
	swz_message_free(&list);
	return found;
}

static void put_function(struct encoder *e, const char *name, const char *file,
			 int line)
{
	struct swz_message function = {0};

	swz_message_add(&function, FUNCTION_NAME, text_number(e, name));
	swz_message_add(&function, FUNCTION_SYSTEM_NAME, text_number(e, name));
	swz_message_add(&function, FUNCTION_FILE_NAME, text_number(e, file));
	swz_message_add(&function, FUNCTION_START_LINE, (uint64_t)line);
	swz_message_nest(&e->dictionary, DICTIONARY_FUNCTIONS, &function);
	swz_message_free(&function);
}

static uint32_t function_number(struct encoder *e,
				const struct swz_catalog *catalog,
				uint32_t index)
{
	const struct swz_catalog_function *f = &catalog->functions[index];
	uint32_t *found = swz_map_at(&e->functions, index, 0);

	if (*found == SWZ_MAP_NONE) {
		*found = ++e->function_count;
		put_function(e, f->name, f->file, f->line);
	}
	return *found;
}

static uint32_t inlined_number(struct encoder *e,
			       const struct swz_catalog_place *place)
{
	uint32_t *found = swz_map_at(&e->inlined, (uintptr_t)place->inlined,
				     (uintptr_t)place->file);

	if (*found == SWZ_MAP_NONE) {
		*found = ++e->function_count;
		put_function(e, place->inlined, place->file, 0);
	}
	return *found;
}

static void put_line(struct swz_message *location, uint32_t function, int line)
{
	struct swz_message message = {0};

	swz_message_add(&message, LINE_FUNCTION, function);
	swz_message_add(&message, LINE_LINE, (uint64_t)line);
	swz_message_nest(location, LOCATION_LINES, &message);
	swz_message_free(&message);
}

/* A function at one of its calls; with SWZ_PLACE_UNKNOWN at its beginning. What
 * was inlined there comes first. */
static uint32_t location_number(struct encoder *e,
				const struct swz_catalog *catalog,
				uint32_t index, uint32_t place_index)
{
	const struct swz_catalog_function *f = &catalog->functions[index];
	const struct swz_catalog_place *place = &catalog->places[place_index];
	struct swz_message location = {0};
	int line = f->line;
	bool is_new;
	uint32_t found = next_number(&e->locations, index, place_index,
				     &is_new);

	if (!is_new)
		return found;
	swz_message_add(&location, LOCATION_MAPPING,
			mapping_number(e, catalog, f->module));
	if (place->inlined) {
		put_line(&location, inlined_number(e, place), place->line);
		line = place->outer_line;
	} else if (place->file && place->file == f->file) {
		line = place->line;
	}
	put_line(&location, function_number(e, catalog, index), line);
	swz_message_nest(&e->dictionary, DICTIONARY_LOCATIONS, &location);
	swz_message_free(&location);
	return found;
}

/* --------------------------------------------------------------- samples */

static void put_value(struct swz_message *to, struct swz_message *sample,
		      struct swz_message *list, uint32_t stack,
		      const struct swz_message *attributes, uint64_t value)
{
	if (!value)
		return;
	swz_message_add(sample, SAMPLE_STACK, stack);
	if (attributes->size)
		swz_message_bytes(sample, SAMPLE_ATTRIBUTES, attributes->bytes,
				  attributes->size);
	swz_message_item(list, value);
	swz_message_nest(sample, SAMPLE_VALUES, list);
	swz_message_nest(to, PROFILE_SAMPLES, sample);
}

/* The innermost function comes first. */
static void put_stack(struct encoder *e, const struct swz_section *section,
		      uint32_t index, struct swz_message *stack,
		      struct swz_message *list)
{
	const struct swz_context *items = section->contexts->items;
	uint32_t place = SWZ_PLACE_UNKNOWN;

	do {
		swz_message_item(list,
				 location_number(e, section->catalog,
						 items[index].function, place));
		place = items[index].place;
		index = items[index].parent;
	} while (index != SWZ_CONTEXT_ROOT);
	swz_message_nest(stack, STACK_LOCATIONS, list);
	swz_message_nest(&e->stacks, DICTIONARY_STACKS, stack);
	e->stack_count++;
}

static void put_samples(struct encoder *e, const struct swz_section *section,
			const struct swz_message *attributes)
{
	struct swz_message sample = {0}, list = {0};
	uint32_t i;

	for (i = 0; i < section->contexts->count; i++) {
		const struct swz_context *context =
			&section->contexts->items[i];

		if (!context->calls && !context->self_ns &&
		    !(section->report->knows_waiting &&
		      context->self_waiting_ns))
			continue;
		put_stack(e, section, i, &sample, &list);
		put_value(&e->times, &sample, &list, e->stack_count, attributes,
			  (uint64_t)context->self_ns);
		put_value(&e->calls, &sample, &list, e->stack_count, attributes,
			  context->calls);
		if (section->report->knows_waiting)
			put_value(&e->waits, &sample, &list, e->stack_count,
				  attributes,
				  (uint64_t)context->self_waiting_ns);
	}
	swz_message_free(&sample);
	swz_message_free(&list);
}

/* ------------------------------------------------------------- resources */

static void put_resource(struct encoder *e, const char *key, const char *text,
			 int64_t number)
{
	struct swz_message attribute = {0}, value = {0};

	if (text && !*text)
		return;
	swz_message_add(&attribute, KEY_VALUE_KEY, text_number(e, key));
	if (text)
		swz_message_put(&value, ANY_VALUE_STRING, text_number(e, text));
	else
		swz_message_put(&value, ANY_VALUE_INT, (uint64_t)number);
	swz_message_nest(&attribute, KEY_VALUE_VALUE, &value);
	swz_message_nest(&e->resource, RESOURCE_ATTRIBUTES, &attribute);
	swz_message_free(&attribute);
	swz_message_free(&value);
}

static void put_label(struct encoder *e, const struct swz_section *all,
		      const char *label, const char *key)
{
	const char *value = swz_common_label(all, label);

	if (value)
		put_resource(e, key, value, 0);
}

/* Attributes of the environment, or as the processes publish them. */
static void put_either(struct encoder *e, const struct swz_section *all,
		       const char *label, const char *key)
{
	put_label(e, all, swz_common_label(all, label) ? label : key, key);
}

/* The others that the processes publish (OTEP 4719): their names have dots, as
 * swizzle's own have not. */
static void put_published(struct encoder *e, const struct swz_section *all)
{
	static const char *const others[] = {"service.name", "host.name",
					     "k8s.pod.name",
					     "k8s.namespace.name"};
	const struct swz_profile *profile = all->profiles[0];

	for (size_t i = 0; i < profile->label_count; i++) {
		const char *name = profile->labels[2 * i];
		bool is_new = strchr(name, '.') &&
			      strncmp(name, "process.", 8) != 0;

		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++)
			is_new &= strcmp(name, others[j]) != 0;
		if (is_new)
			put_label(e, all, name, name);
	}
}

static void put_process(struct encoder *e, const struct swz_profile *profile)
{
	char *command = swz_command_text(profile);

	put_resource(e, "process.executable.path", profile->executable, 0);
	put_resource(e, "process.command_line", command, 0);
	put_resource(e, "process.pid", NULL, profile->header.pid);
	free(command);
}

/* Attributes that all processes share. A service without a name is called after
 * its program, as the conventions have it. */
static void put_processes(struct encoder *e)
{
	struct swz_section all = {.profiles = e->profiles,
				  .profile_count = e->profile_count};
	const char *name = swz_common_program(&all);
	char *unknown = swz_print("unknown_service%s%s", name ? ":" : "",
				  name ? name : "");

	if (swz_common_label(&all, "service.name"))
		put_label(e, &all, "service.name", "service.name");
	else
		put_resource(e, "service.name", unknown, 0);
	put_label(e, &all, "host", "host.name");
	put_either(e, &all, "pod", "k8s.pod.name");
	put_either(e, &all, "namespace", "k8s.namespace.name");
	put_published(e, &all);
	if (name)
		put_resource(e, "process.executable.name", name, 0);
	if (e->profile_count == 1)
		put_process(e, e->profiles[0]);
	free(unknown);
}

static void note_profile(struct encoder *e, struct swz_profile *profile)
{
	size_t count = e->profile_count;

	/* the threads of a process come one after the other */
	if (count && e->profiles[count - 1] == profile)
		return;
	swz_grow(&e->profiles, &e->profile_capacity, count,
		 sizeof(struct swz_profile *));
	e->profiles[e->profile_count++] = profile;
	swz_extent_add(&e->extent, profile);
}

/* ---------------------------------------------------------------- writer */

void swz_begin_otlp(struct swz_writer *writer)
{
	struct encoder *e = swz_allocate(1, sizeof(*e));

	e->time = "wall";
	e->count = "calls";
	writer->state = e;
}

void swz_write_otlp(struct swz_writer *writer,
		    const struct swz_section *section)
{
	struct encoder *e = writer->state;
	struct swz_message attributes = {0};
	size_t i;

	for (i = 0; i < section->profile_count; i++)
		note_profile(e, section->profiles[i]);
	e->time = swz_time_type(section);
	e->count = swz_counted(section);
	e->knows_waiting |= section->report->knows_waiting;
	e->period_ns = section->profile->header.sample_period_ns;
	if (section->thread) {
		swz_message_item(
			&attributes,
			attribute_number(e, "process.pid", NULL,
					 section->profile->header.pid));
		swz_message_item(&attributes,
				 attribute_number(e, "thread.id", NULL,
						  section->thread->record.tid));
		if (section->thread->name[0])
			swz_message_item(&attributes,
					 attribute_number(e, "thread.name",
							  section->thread->name,
							  0));
	}
	put_samples(e, section, &attributes);
	swz_message_free(&attributes);
}

static void put_type(struct encoder *e, struct swz_message *profile,
		     uint32_t field, const char *type, const char *unit)
{
	struct swz_message message = {0};

	swz_message_add(&message, VALUE_TYPE_TYPE, text_number(e, type));
	swz_message_add(&message, VALUE_TYPE_UNIT, text_number(e, unit));
	swz_message_nest(profile, field, &message);
	swz_message_free(&message);
}

/* SAMPLES is taken over. */
static void put_profile(struct encoder *e, struct swz_message *scope,
			struct swz_message *samples, const char *type,
			const char *unit, uint8_t number)
{
	struct swz_message profile = {0};
	uint8_t id[16] = {number};

	put_type(e, &profile, PROFILE_SAMPLE_TYPE, type, unit);
	swz_message_append(&profile, samples->bytes, samples->size);
	swz_message_fixed64(&profile, PROFILE_TIME, e->extent.start_ns);
	swz_message_add(&profile, PROFILE_DURATION,
			e->extent.end_ns - e->extent.start_ns);
	if (e->period_ns) {
		put_type(e, &profile, PROFILE_PERIOD_TYPE, "cpu",
			 "nanoseconds");
		swz_message_add(&profile, PROFILE_PERIOD, e->period_ns);
	}
	/* not to be mistaken for another one: when, and which */
	memcpy(id + 4, &e->extent.start_ns, sizeof(e->extent.start_ns));
	memcpy(id + 12, &e->stack_count, sizeof(e->stack_count));
	swz_message_bytes(&profile, PROFILE_ID, id, sizeof(id));
	swz_message_nest(scope, SCOPE_PROFILES_PROFILES, &profile);
	swz_message_free(&profile);
	swz_message_free(samples);
}

static void put_request(struct encoder *e, struct swz_message *request)
{
	struct swz_message resource = {0}, scope = {0}, name = {0};

	if (e->profile_count)
		put_processes(e);
	swz_message_nest(&resource, RESOURCE_PROFILES_RESOURCE, &e->resource);
	swz_message_text(&name, SCOPE_NAME, "swizzle");
	swz_message_text(&name, SCOPE_VERSION, SWZ_VERSION);
	swz_message_nest(&scope, SCOPE_PROFILES_SCOPE, &name);
	put_profile(e, &scope, &e->times, e->time, "nanoseconds", 1);
	put_profile(e, &scope, &e->calls, e->count, "count", 2);
	if (e->knows_waiting)
		put_profile(e, &scope, &e->waits, "off_cpu", "nanoseconds", 3);
	swz_message_nest(&resource, RESOURCE_PROFILES_SCOPE_PROFILES, &scope);
	swz_message_nest(request, REQUEST_RESOURCE_PROFILES, &resource);
	swz_message_free(&resource);
	swz_message_free(&scope);
	swz_message_free(&name);
}

/* Entry 0 of each table is empty. */
static void put_dictionary(struct encoder *e, struct swz_message *request)
{
	static const uint32_t tables[] = {
		DICTIONARY_MAPPINGS,   DICTIONARY_LOCATIONS,
		DICTIONARY_FUNCTIONS,  DICTIONARY_LINKS,
		DICTIONARY_ATTRIBUTES, DICTIONARY_STACKS};
	struct swz_message all = {0};
	size_t i;

	for (i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		swz_message_bytes(&all, tables[i], "", 0);
	swz_message_bytes(&all, DICTIONARY_STRINGS, "", 0);
	for (i = 0; i < e->text_count; i++)
		swz_message_text(&all, DICTIONARY_STRINGS, e->texts[i]);
	swz_message_append(&all, e->dictionary.bytes, e->dictionary.size);
	swz_message_append(&all, e->stacks.bytes, e->stacks.size);
	swz_message_nest(request, REQUEST_DICTIONARY, &all);
	swz_message_free(&all);
}

void swz_end_otlp(struct swz_writer *writer)
{
	struct encoder *e = writer->state;
	struct swz_message request = {0};

	put_request(e, &request);
	put_dictionary(e, &request);
	fwrite(request.bytes, 1, request.size, writer->stream);
	swz_message_free(&request);
	swz_message_free(&e->dictionary);
	swz_message_free(&e->stacks);
	swz_message_free(&e->resource);
	swz_map_free(&e->string_numbers);
	swz_map_free(&e->functions);
	swz_map_free(&e->inlined);
	swz_map_free(&e->locations);
	swz_map_free(&e->mappings);
	swz_map_free(&e->attributes);
	swz_intern_free(&e->strings);
	free(e->texts);
	free(e->profiles);
	free(e);
	writer->state = NULL;
}
