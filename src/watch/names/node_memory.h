#ifndef SWZ_WATCH_NAMES_NODE_MEMORY_H
#define SWZ_WATCH_NAMES_NODE_MEMORY_H

/* Objects, texts and functions in the memory of a process that has V8 in it,
 * and where they have their fields.
 *
 * A pointer to an object has its lowest bit set; a small number has not, and is
 * in the upper half. An object begins with its map, which says its type. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

#define SWZ_NODE_TAG 1u
#define SWZ_NODE_NOT_STRING 0x80u
#define SWZ_NODE_HEAD 128u /* so much of an object is read at most */
#define SWZ_NODE_MAPS 64u

struct swz_node_places {
	uint32_t map_type, function_shared, shared_name, shared_script;
	uint32_t script_name, script_source;
	uint32_t string_length, string_text, external, thin, cons_first;
	uint32_t scope_locals, scope_first;
	uint32_t type_function, type_shared, type_script, type_scope;
};

struct swz_node_map {
	uint64_t address;
	uint32_t type;
};

struct swz_node {
	struct swz_script_reader reader;
	struct swz_node_places places;
	struct swz_script_codes codes;
	struct swz_node_map maps[SWZ_NODE_MAPS];
	uint64_t stack;             /* the one whose functions were met */
	struct swz_node_code *code; /* NULL: of a version that is not known */
};

bool swz_node_read(const struct swz_node *node, uint64_t address, void *into,
		   size_t size);

static inline bool swz_node_is_object(uint64_t word)
{
	return (word & 3) == SWZ_NODE_TAG;
}

/* True if it is a small number that could be a place in a source. */
static inline bool swz_node_is_number(uint64_t word)
{
	return (word & 0xffffffffu) == 0 && word >> 63 == 0;
}

/* Reads the beginning of an object and returns its type; UINT32_MAX: it is
 * none. Maps stay for long, so their types are kept. */
uint32_t swz_node_object(struct swz_node *node, uint64_t object, uint8_t *head,
			 size_t size);

/* How many lines end between two characters of a script's source; UINT32_MAX:
 * not known. */
uint32_t swz_node_lines(struct swz_node *node, uint64_t source, uint32_t from,
			uint32_t to);

/* One of the constants, under any of its names; NULL ends them. False: there is
 * none that could be one. */
bool swz_node_constant(const struct swz_script_module *module, uint32_t *value,
		       const char *const *names);

/* Reads a SharedFunctionInfo; NULL: it is none of a script. */
const struct swz_script_code *swz_node_function(struct swz_node *node,
						uint64_t shared);

/* --- compiled code ------------------------------------------------------- */

/* An instruction of V8's code, interpreted or compiled, executes a function,
 * and those that were put into it. */

/* NULL: of a version of V8 whose code is not known. */
struct swz_node_code *swz_node_code_open(
	const struct swz_script_module *module);

/* Codes of functions are forgotten. */
void swz_node_code_forget(struct swz_node_code *code);

/* The functions that run in a frame whose own function is OWN, of the
 * JSFunction OBJECT, with those that the compiler has put into it: the
 * innermost first, at most SWZ_MOST_INLINED, with their lines. Writes OWN alone
 * where nothing more is known. */
size_t swz_node_code_functions(struct swz_node *node,
			       const struct swz_script_place *place,
			       const struct swz_script_code *own,
			       uint64_t object,
			       struct swz_script_frame *frames);

#endif
