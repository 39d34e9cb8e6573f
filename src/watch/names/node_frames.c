/* JavaScript in V8, as node has it (18, 20, 22): its frames are the machine's,
 * and each frame of a function, interpreted or compiled, has the JSFunction at
 * a fixed place below its frame pointer. All places are in the file, as symbols
 * v8dbg_*. What V8 has inlined has no frame.
 *
 * A pointer to an object has its lowest bit set; a small number has not, and is
 * in the upper half. An object begins with its map, which says its type. The
 * garbage collector moves objects, so a JSFunction is looked at anew in each
 * sample; what it leads to is known by its address and by what it says. */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

#define TAG 1u
#define NOT_STRING 0x80u
#define KIND_MASK 7u
#define IS_ONE_BYTE 8u
#define MOST_TEXT 1024u
#define MOST_SOURCE (8u << 20)
#define SOURCE_PART 65536u
#define MOST_DEPTH 5u
#define FUNCTION_TYPES 24u /* JSFunction's and those derived from it */
#define MOST_LOCALS 75u    /* more are in a table of their own */
#define SCOPE_REST 10u     /* slots behind the locals */
#define HEAD_BYTES 128u
#define MAPS 64u
#define FRAME_FUNCTION 16u /* below %rbp (v8dbg_off_fp_function) */

enum { SEQUENTIAL = 0, CONS = 1, EXTERNAL = 2, SLICED = 3, THIN = 5 };

/* Places: of fields, in objects. */
struct places {
	uint32_t map_type, function_shared, shared_name, shared_script;
	uint32_t script_name, script_source;
	uint32_t string_length, string_text, external, thin, cons_first;
	uint32_t scope_locals, scope_first;
	uint32_t type_function, type_shared, type_script, type_scope;
};

struct known_map {
	uint64_t address;
	uint32_t type;
};

struct swz_node {
	struct swz_script_reader reader;
	struct places places;
	struct swz_script_codes codes;
	struct known_map maps[MAPS];
	uint64_t stack; /* the one whose functions were met */
};

static bool read_bytes(const struct swz_node *node, uint64_t address,
		       void *into, size_t size)
{
	return address && node->reader.read(node->reader.memory, address, into,
					    size) == size;
}

static bool is_object(uint64_t word)
{
	return (word & 3) == TAG;
}

/* True if it is a small number that could be a place in a source. */
static bool is_number(uint64_t word)
{
	return (word & 0xffffffffu) == 0 && word >> 63 == 0;
}

/* Reads the beginning of an object and returns its type; UINT32_MAX: it is
 * none. Maps stay for long, so their types are kept. */
static uint32_t read_object(struct swz_node *node, uint64_t object,
			    uint8_t *head, size_t size)
{
	struct known_map *known;
	uint64_t map;
	uint16_t type;

	if (!is_object(object) || !read_bytes(node, object - TAG, head, size))
		return UINT32_MAX;
	map = swz_script_word(head, 0);
	known = &node->maps[map / 8 % MAPS];
	if (known->address == map && map)
		return known->type;
	if (!is_object(map) ||
	    !read_bytes(node, map - TAG + node->places.map_type, &type,
			sizeof(type)))
		return UINT32_MAX;
	*known = (struct known_map){map, type};
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
		return object - TAG + node->places.string_text;
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
	if (!at || !read_bytes(node, at, text, length * width))
		return NULL;
	whole = swz_allocate(3 * length + 1, 1);
	whole[put_characters(whole, text, length, width)] = '\0';
	return whole;
}

/* A string, of each part at most MOST_TEXT characters; to be freed. NULL: it is
 * none. */
static char *read_parts(struct swz_node *node, uint64_t object, unsigned depth)
{
	const struct places *p = &node->places;
	uint8_t head[HEAD_BYTES];
	uint32_t type = read_object(node, object, head, 32);
	char *first, *second, *whole;

	if (type >= NOT_STRING || depth == MOST_DEPTH)
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

static char *read_text(struct swz_node *node, uint64_t object)
{
	return read_parts(node, object, 0);
}

/* ---------------------------------------------------------------- lines */

/* On which line of a script's source a character is; 0: not known. */
static uint32_t line_at(struct swz_node *node, uint64_t source, uint32_t at)
{
	static uint8_t part[SOURCE_PART];
	uint8_t head[HEAD_BYTES];
	uint32_t type = read_object(node, source, head, 32), line = 1;
	size_t width = type & IS_ONE_BYTE ? 1 : 2;
	uint64_t text;

	if (type < NOT_STRING && (type & KIND_MASK) == THIN) {
		source = swz_script_word(head, node->places.thin);
		type = read_object(node, source, head, 32);
	}
	if (type >= NOT_STRING || at > MOST_SOURCE)
		return 0;
	text = text_of(node, type, source, head);
	for (size_t left = at * width; text && left;) {
		size_t size = left < SOURCE_PART ? left : SOURCE_PART;

		if (!read_bytes(node, text, part, size))
			return 0;
		for (size_t i = 0; i < size; i += width)
			line += part[i] == '\n' && (width == 1 || !part[i + 1]);
		text += size;
		left -= size;
	}
	return text ? line : 0;
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

	return is_object(word) &&
	       read_object(node, word, head, sizeof(head)) < NOT_STRING;
}

/* What comes behind the locals of a ScopeInfo: the name with a number, one that
 * was guessed, and the first and the last character. Either name may be empty
 * or missing. */
static void describe(struct swz_node *node, const uint64_t *rest,
		     struct described *described)
{
	size_t place = 0;

	while (place + 1 < SCOPE_REST &&
	       !(is_number(rest[place]) && is_number(rest[place + 1]) &&
		 rest[place] <= rest[place + 1]))
		place++;
	for (size_t i = 0; i < place; i++) {
		if ((described->name && *described->name) ||
		    !is_text(node, rest[i]))
			continue;
		free(described->name);
		described->name = read_text(node, rest[i]);
	}
	described->is_placed = place + 1 < SCOPE_REST;
	if (described->is_placed)
		described->start = (uint32_t)(rest[place] >> 32);
}

static struct described describe_function(struct swz_node *node, uint64_t scope)
{
	const struct places *p = &node->places;
	struct described described = {0};
	uint64_t rest[SCOPE_REST];
	uint8_t head[HEAD_BYTES];
	uint64_t locals;
	uint32_t type = read_object(node, scope, head, 64);

	if (type < NOT_STRING) {
		described.name = read_text(node, scope);
		return described;
	}
	if (type != p->type_scope)
		return described;
	locals = swz_script_word(head, 8 + 8 * p->scope_locals) >> 32;
	if (locals > MOST_LOCALS)
		return described;
	if (read_bytes(node,
		       scope - TAG + 8 +
			       8 * (p->scope_first + 2 * (size_t)locals),
		       rest, sizeof(rest)))
		describe(node, rest, &described);
	return described;
}

/* The file of a script; to be freed. NULL: it is none. */
static char *script_file(struct swz_node *node, uint64_t script,
			 uint64_t *source)
{
	uint8_t head[HEAD_BYTES];
	char *name, *plain;

	if (read_object(node, script, head, 64) != node->places.type_script)
		return NULL;
	*source = swz_script_word(head, node->places.script_source);
	name = read_text(node, swz_script_word(head, node->places.script_name));
	if (name && strncmp(name, "file://", 7) == 0) {
		plain = swz_duplicate(name + 7);
		free(name);
		return plain;
	}
	return name ? name : swz_duplicate("(eval)");
}

static const struct swz_script_code *code_of(struct swz_node *node,
					     uint64_t shared)
{
	const struct places *p = &node->places;
	const struct swz_script_code *known;
	struct swz_script_object object;
	struct described described;
	uint8_t head[HEAD_BYTES];
	uint64_t source;
	uint32_t line;
	char *file;

	if (read_object(node, shared, head, 64) != p->type_shared)
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
	line = described.is_placed ? line_at(node, source, described.start) : 0;
	if (!described.name || !*described.name) {
		free(described.name);
		described.name = swz_print("(anonymous):%u", (unsigned)line);
	}
	return swz_script_codes_add_at(&node->codes, shared, &object,
				       described.name, file, line);
}

static const struct swz_script_code *function_code(struct swz_node *node,
						   uint64_t function)
{
	const struct places *p = &node->places;
	const struct swz_script_code *code;
	uint8_t head[HEAD_BYTES];
	uint32_t type;

	code = swz_script_codes_met(&node->codes, function, 0);
	if (code)
		return code;
	type = read_object(node, function, head, 64);
	if (type < p->type_function ||
	    type >= p->type_function + FUNCTION_TYPES)
		return NULL;
	return swz_script_codes_meet(
		&node->codes, function, 0,
		code_of(node, swz_script_word(head, p->function_shared)));
}

static size_t node_functions(struct swz_script_reader *reader,
			     const struct swz_script_place *place,
			     struct swz_script_frame *frames)
{
	struct swz_node *node = (struct swz_node *)reader;
	const struct swz_script_code *code;
	uint64_t function;

	if (node->stack != reader->stacks)
		(void)swz_script_codes_begin_stack(&node->codes);
	node->stack = reader->stacks;
	if (!place->load(place->stack, place->frame_pointer - FRAME_FUNCTION,
			 &function))
		return 0;
	code = function_code(node, function);
	if (!code)
		return 0;
	*frames = (struct swz_script_frame){.code = code};
	return 1;
}

/* -------------------------------------------------------------- life */

/* One of the constants, under any of its names. False: there is none. */
static bool find(const struct swz_script_module *module, uint32_t *value,
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

#define FIND(value, ...) \
	find(module, value, (const char *const[]){__VA_ARGS__, NULL})

static bool find_places(const struct swz_script_module *module,
			struct places *p)
{
	return FIND(&p->map_type, "v8dbg_class_Map__instance_type__uint16_t") &&
	       FIND(&p->function_shared,
		    "v8dbg_class_JSFunction__shared__SharedFunctionInfo") &&
	       FIND(&p->shared_name,
		    "v8dbg_class_SharedFunctionInfo__name_or_scope_info__"
		    "Object",
		    "v8dbg_class_SharedFunctionInfo__name_or_scope_info__"
		    "Tagged_Object_") &&
	       FIND(&p->shared_script,
		    "v8dbg_class_SharedFunctionInfo__script_or_debug_info__"
		    "HeapObject",
		    "v8dbg_class_SharedFunctionInfo__script__Tagged_"
		    "HeapObject_") &&
	       FIND(&p->script_name, "v8dbg_class_Script__name__Object") &&
	       FIND(&p->script_source, "v8dbg_class_Script__source__Object") &&
	       FIND(&p->string_length, "v8dbg_class_String__length__int32_t") &&
	       FIND(&p->string_text,
		    "v8dbg_class_SeqOneByteString__chars__char") &&
	       FIND(&p->external,
		    "v8dbg_class_ExternalString__resource__Object") &&
	       FIND(&p->thin, "v8dbg_class_ThinString__actual__String") &&
	       FIND(&p->cons_first, "v8dbg_class_ConsString__first__String") &&
	       FIND(&p->scope_locals, "v8dbg_scopeinfo_idx_ncontextlocals") &&
	       FIND(&p->scope_first, "v8dbg_scopeinfo_idx_first_vars") &&
	       FIND(&p->type_function,
		    "v8dbg_type_JSFunction__JS_FUNCTION_TYPE") &&
	       FIND(&p->type_shared,
		    "v8dbg_type_SharedFunctionInfo__SHARED_FUNCTION_INFO_"
		    "TYPE") &&
	       FIND(&p->type_script, "v8dbg_type_Script__SCRIPT_TYPE") &&
	       FIND(&p->type_scope, "v8dbg_type_ScopeInfo__SCOPE_INFO_TYPE");
}

/* So much of each object is read that all places must lie in it. */
static bool fits(const struct places *p)
{
	return p->function_shared <= 56 && p->shared_name <= 56 &&
	       p->shared_script <= 56 && p->script_name <= 56 &&
	       p->script_source <= 56 && p->string_length <= 28 &&
	       p->external <= 16 && p->thin <= 24 && p->cons_first <= 24 &&
	       p->scope_locals <= 6 && p->scope_first <= 64;
}

static struct swz_script_reader *node_open(
	const struct swz_script_module *module)
{
	struct swz_node *node;
	struct places places;

	if (!find_places(module, &places) || !fits(&places))
		return NULL;
	node = swz_allocate(1, sizeof(*node));
	node->reader = (struct swz_script_reader){
		.language = &swz_node_language,
		.read = module->read,
		.memory = module->memory};
	node->places = places;
	return &node->reader;
}

static void node_close(struct swz_script_reader *reader)
{
	struct swz_node *node = (struct swz_node *)reader;

	swz_script_codes_free(&node->codes);
	free(node);
}

const struct swz_script_language swz_node_language = {
	.name = "JavaScript",
	.open = node_open,
	.functions = node_functions,
	.shares_frames = true,
	.close = node_close,
};
