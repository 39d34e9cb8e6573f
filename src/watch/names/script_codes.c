#include "watch/names/script_codes.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

const struct swz_script_code *swz_script_codes_get(
	const struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object)
{
	uint32_t index = swz_map_get(&codes->by_address, address,
				     object->owner);
	const struct swz_known_object *known;

	if (index == SWZ_MAP_NONE)
		return NULL;
	known = &codes->objects[index];
	if (known->object.name != object->name ||
	    known->object.file != object->file ||
	    known->object.lines != object->lines ||
	    known->object.line != object->line)
		return NULL;
	return known->code;
}

static void free_codes(struct swz_script_codes *codes)
{
	for (size_t i = 0; i < codes->code_count; i++) {
		free(codes->codes[i]->name);
		free(codes->codes[i]->file);
		free(codes->codes[i]->line_table);
		free(codes->codes[i]);
	}
	codes->code_count = codes->object_count = 0;
	swz_map_free(&codes->by_address);
}

bool swz_script_codes_begin_stack(struct swz_script_codes *codes)
{
	bool is_much = codes->code_count >= SWZ_MOST_CODES;

	memset(codes->met, 0, sizeof(codes->met));
	if (is_much)
		free_codes(codes);
	return is_much;
}

static size_t place_of(uint64_t address)
{
	return address / 8 % SWZ_MET_CODES;
}

const struct swz_script_code *swz_script_codes_met(
	const struct swz_script_codes *codes, uint64_t address, uint64_t owner)
{
	const struct swz_met_code *met = &codes->met[place_of(address)];

	return met->address == address && met->owner == owner ? met->code
							      : NULL;
}

const struct swz_script_code *swz_script_codes_meet(
	struct swz_script_codes *codes, uint64_t address, uint64_t owner,
	const struct swz_script_code *code)
{
	codes->met[place_of(address)] = (struct swz_met_code){address, owner,
							      code};
	return code;
}

static struct swz_known_object *object_at(struct swz_script_codes *codes,
					  uint64_t address, uint64_t owner)
{
	uint32_t *index = swz_map_at(&codes->by_address, address, owner);

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)codes->object_count;
		swz_grow(&codes->objects, &codes->object_capacity,
			 codes->object_count, sizeof(*codes->objects));
		codes->object_count++;
	}
	return &codes->objects[*index];
}

struct swz_script_code *swz_script_codes_add(
	struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object, char *name, char *file)
{
	struct swz_script_code *code;

	if (!name || !file || !*name || !*file) {
		free(name);
		free(file);
		return NULL;
	}
	code = swz_allocate(1, sizeof(*code));
	code->name = name;
	code->file = file;
	code->line = object->line;
	code->number = ++codes->last_number;
	swz_grow(&codes->codes, &codes->code_capacity, codes->code_count,
		 sizeof(struct swz_script_code *));
	codes->codes[codes->code_count++] = code;
	*object_at(codes, address,
		   object->owner) = (struct swz_known_object){*object, code};
	return code;
}

/* The code that was seen there without a line, not being compiled yet: a
 * function of the same name. NULL: there was none. */
static struct swz_script_code *unplaced(const struct swz_script_codes *codes,
					uint64_t address, uint64_t owner,
					const char *name, const char *file)
{
	uint32_t index = swz_map_get(&codes->by_address, address, owner);
	struct swz_script_code *code;

	if (index == SWZ_MAP_NONE || !name || !file)
		return NULL;
	code = codes->objects[index].code;
	return code && !code->line && strcmp(code->name, name) == 0 &&
			       strcmp(code->file, file) == 0
		       ? code
		       : NULL;
}

struct swz_script_code *swz_script_codes_add_at(
	struct swz_script_codes *codes, uint64_t address,
	const struct swz_script_object *object, char *name, char *file,
	uint32_t line)
{
	struct swz_script_code *code = unplaced(codes, address, object->owner,
						name, file);

	if (code && line) {
		object_at(codes, address, object->owner)->object = *object;
		free(name);
		free(file);
	} else {
		code = swz_script_codes_add(codes, address, object, name, file);
	}
	if (code)
		code->line = line;
	return code;
}

void swz_script_codes_free(struct swz_script_codes *codes)
{
	free_codes(codes);
	free(codes->codes);
	free(codes->objects);
}
