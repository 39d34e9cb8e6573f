#include "watch/names/node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

#define KIND_MASK 7u
#define IS_ONE_BYTE 8u
#define MOST_TEXT 1024u
#define MOST_SOURCE (8u << 20)
#define SOURCE_PART 65536u
#define MOST_DEPTH 5u
#define MOST_LOCALS 75u /* more are in a table of their own */
#define SCOPE_REST 10u  /* slots behind the locals */

enum { SEQUENTIAL = 0, CONS = 1, EXTERNAL = 2, SLICED = 3, THIN = 5 };

bool swz_node_read(const struct swz_node *node, uint64_t address, void *into,
		   size_t size)
{
	return address && node->reader.read(node->reader.memory, address, into,
					    size) == size;
}

uint32_t swz_node_object(struct swz_node *node, uint64_t object, uint8_t *head,
			 size_t size)
{
	struct swz_node_map *known;
	uint64_t map;
	uint16_t type;

	if (!swz_node_is_object(object) ||
	    !swz_node_read(node, object - SWZ_NODE_TAG, head, size))
		return UINT32_MAX;
	map = swz_script_word(head, 0);
	known = &node->maps[map / 8 % SWZ_NODE_MAPS];
	if (known->address == map && map)
		return known->type;
	if (!swz_node_is_object(map) ||
	    !swz_node_read(node, map - SWZ_NODE_TAG + node->places.map_type,
			   &type, sizeof(type)))
		return UINT32_MAX;
	*known = (struct swz_node_map){map, type};
	return type;
}

/* ---------------------------------------------------------------- texts */

/* Adds characters of Latin-1 or UTF-16 as UTF-8. */
static size_t put_characters(char *to, const uint8_t *text, size_t count,
			     size_t width)
{
	size_t used = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t c = width == 1
				     ? (uint32_t)text[i]
				     : text[2 * i] | (uint32_t)text[2 * i + 1]
							     << 8;

		if (c < 0x20 || c == 0x7f || (c >= 0xd800 && c < 0xe000))
			c = '?';
		if (c >= 0x800)
			to[used++] = (char)(0xe0 | c >> 12);
		if (c >= 0x80)
			to[used++] = (char)(c >= 0x800 ? 0x80 | (c >> 6 & 0x3f)
						       : 0xc0 | c >> 6);
		to[used++] = (char)(c >= 0x80 ? 0x80 | (c & 0x3f) : c);
	}
	return used;
}

/* Where a string that is no composition has its characters; 0: it is one. */
static uint64_t text_of(const struct swz_node *node, uint32_t type,
			uint64_t object, const uint8_t *head)
{
	if ((type & KIND_MASK) == SEQUENTIAL)
		return object - SWZ_NODE_TAG + node->places.string_text;
	/* (behind the resource is where its data is) */
	if ((type & KIND_MASK) == EXTERNAL)
		return swz_script_word(head, node->places.external + 8);
	return 0;
}

static char *read_characters(const struct swz_node *node, uint64_t at,
			     size_t length, size_t width)
{
	uint8_t text[2 * MOST_TEXT];
	char *whole;

	length = length < MOST_TEXT ? length : MOST_TEXT;
	if (!at || !swz_node_read(node, at, text, length * width))
		return NULL;
	whole = swz_allocate(3 * length + 1, 1);
	whole[put_characters(whole, text, length, width)] = '\0';
	return whole;
}

static char *read_parts(struct swz_node *node, uint64_t object, unsigned depth)
{
	const struct swz_node_places *p = &node->places;
	uint8_t head[SWZ_NODE_HEAD];
	uint32_t type = swz_node_object(node, object, head, 32);
	char *first, *second, *whole;

	if (type >= SWZ_NODE_NOT_STRING || depth == MOST_DEPTH)
		return NULL;
	if ((type & KIND_MASK) == THIN)
		return read_parts(node, swz_script_word(head, p->thin),
				  depth + 1);
	if ((type & KIND_MASK) != CONS)
		return read_characters(node, text_of(node, type, object, head),
				       swz_script_half(head, p->string_length),
				       type & IS_ONE_BYTE ? 1 : 2);
	first = read_parts(node, swz_script_word(head, p->cons_first),
			   depth + 1);
	second = read_parts(node, swz_script_word(head, p->cons_first + 8),
			    depth + 1);
	whole = first && second ? swz_print("%s%s", first, second) : NULL;
	free(first);
	free(second);
	return whole;
}

/* A string, of each part at most 1024 characters; to be freed. NULL: it is
 * none. */
static char *node_text(struct swz_node *node, uint64_t object)
{
	return read_parts(node, object, 0);
}

/* ---------------------------------------------------------------- lines */

uint32_t swz_node_lines(struct swz_node *node, uint64_t source, uint32_t from,
			uint32_t to)
{
	static uint8_t part[SOURCE_PART];
	uint8_t head[SWZ_NODE_HEAD];
	uint32_t type = swz_node_object(node, source, head, 32), lines = 0;
	size_t width;
	uint64_t text;

	if (type < SWZ_NODE_NOT_STRING && (type & KIND_MASK) == THIN) {
		source = swz_script_word(head, node->places.thin);
		type = swz_node_object(node, source, head, 32);
	}
	width = type & IS_ONE_BYTE ? 1 : 2;
	if (type >= SWZ_NODE_NOT_STRING || to > MOST_SOURCE || from > to)
		return UINT32_MAX;
	text = text_of(node, type, source, head);
	if (!text)
		return UINT32_MAX;
	text += from * width;
	for (size_t left = (to - from) * width; left;) {
		size_t size = left < SOURCE_PART ? left : SOURCE_PART;

		if (!swz_node_read(node, text, part, size))
			return UINT32_MAX;
		for (size_t i = 0; i < size; i += width)
			lines += part[i] == '\n' &&
				 (width == 1 || !part[i + 1]);
		text += size;
		left -= size;
	}
	return lines;
}

/* ------------------------------------------------------------ functions */

struct described {
	char *name;     /* NULL: it has none */
	uint32_t start; /* in the source */
	bool is_placed;
};

static bool is_text(struct swz_node *node, uint64_t word)
{
	uint8_t head[16];

	return swz_node_is_object(word) &&
	       swz_node_object(node, word, head, sizeof(head)) <
		       SWZ_NODE_NOT_STRING;
}

/* Behind the locals of a ScopeInfo come: the name with a number, one that
 * was guessed, and the first and the last character. Either name may be empty
 * or missing. */
static void describe(struct swz_node *node, const uint64_t *rest,
		     struct described *described)
{
	size_t place = 0;

	while (place + 1 < SCOPE_REST &&
	       !(swz_node_is_number(rest[place]) &&
		 swz_node_is_number(rest[place + 1]) &&
		 rest[place] <= rest[place + 1]))
		place++;
	for (size_t i = 0; i < place; i++) {
		if ((described->name && *described->name) ||
		    !is_text(node, rest[i]))
			continue;
		free(described->name);
		described->name = node_text(node, rest[i]);
	}
	described->is_placed = place + 1 < SCOPE_REST;
	if (described->is_placed)
		described->start = (uint32_t)(rest[place] >> 32);
}

static struct described describe_function(struct swz_node *node, uint64_t scope)
{
	const struct swz_node_places *p = &node->places;
	struct described described = {0};
	uint64_t rest[SCOPE_REST];
	uint8_t head[SWZ_NODE_HEAD];
	uint64_t locals;
	uint32_t type = swz_node_object(node, scope, head, 64);

	if (type < SWZ_NODE_NOT_STRING) {
		described.name = node_text(node, scope);
		return described;
	}
	if (type != p->type_scope)
		return described;
	locals = swz_script_word(head, 8 + 8 * p->scope_locals) >> 32;
	if (locals > MOST_LOCALS)
		return described;
	if (swz_node_read(node,
			  scope - SWZ_NODE_TAG + 8 +
				  8 * (p->scope_first + 2 * (size_t)locals),
			  rest, sizeof(rest)))
		describe(node, rest, &described);
	return described;
}

/* The file of a script; to be freed. NULL: it is none. */
static char *script_file(struct swz_node *node, uint64_t script,
			 uint64_t *source)
{
	uint8_t head[SWZ_NODE_HEAD];
	char *name, *plain;

	if (swz_node_object(node, script, head, 64) != node->places.type_script)
		return NULL;
	*source = swz_script_word(head, node->places.script_source);
	name = node_text(node, swz_script_word(head, node->places.script_name));
	if (name && strncmp(name, "file://", 7) == 0) {
		plain = swz_duplicate(name + 7);
		free(name);
		return plain;
	}
	return name ? name : swz_duplicate("(eval)");
}

const struct swz_script_code *swz_node_function(struct swz_node *node,
						uint64_t shared)
{
	const struct swz_node_places *p = &node->places;
	const struct swz_script_code *known;
	struct swz_script_code *code;
	struct swz_script_object object;
	struct described described;
	uint8_t head[SWZ_NODE_HEAD];
	uint64_t source;
	uint32_t line;
	char *file;

	if (swz_node_object(node, shared, head, 64) != p->type_shared)
		return NULL;
	object = (struct swz_script_object){
		.name = swz_script_word(head, p->shared_name),
		.file = swz_script_word(head, p->shared_script)};
	known = swz_script_codes_get(&node->codes, shared, &object);
	if (known)
		return known;
	file = script_file(node, object.file, &source);
	if (!file)
		return NULL; /* V8's own */
	described = describe_function(node, object.name);
	/* (the line is no part of what the object is known by) */
	line = described.is_placed
		       ? swz_node_lines(node, source, 0, described.start) + 1
		       : 0;
	if (!described.name || !*described.name) {
		free(described.name);
		described.name = swz_print("(anonymous):%u", (unsigned)line);
	}
	code = swz_script_codes_add_at(&node->codes, shared, &object,
				       described.name, file, line);
	if (code)
		code->start = described.start;
	return code;
}

/* ---------------------------------------------------------------- constants */

bool swz_node_constant(const struct swz_script_module *module, uint32_t *value,
		       const char *const *names)
{
	for (; *names; names++) {
		uint64_t at = module->symbol(module->module, *names);

		if (at && module->read(module->memory, at, value,
				       sizeof(*value)) == sizeof(*value))
			return *value < 65536;
	}
	return false;
}
