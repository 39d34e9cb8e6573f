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
#include "watch/names/node_memory.h"

#define FUNCTION_TYPES 24u /* JSFunction's and those derived from it */
#define FRAME_FUNCTION 16u /* below %rbp (v8dbg_off_fp_function) */

/* ------------------------------------------------------------ frames */

static const struct swz_script_code *function_code(struct swz_node *node,
						   uint64_t function)
{
	const struct swz_node_places *p = &node->places;
	const struct swz_script_code *code;
	uint8_t head[SWZ_NODE_HEAD];
	uint32_t type;

	code = swz_script_codes_met(&node->codes, function, 0);
	if (code)
		return code;
	type = swz_node_object(node, function, head, 64);
	if (type < p->type_function ||
	    type >= p->type_function + FUNCTION_TYPES)
		return NULL;
	return swz_script_codes_meet(
		&node->codes, function, 0,
		swz_node_function(node,
				  swz_script_word(head, p->function_shared)));
}

static size_t node_functions(struct swz_script_reader *reader,
			     const struct swz_script_place *place,
			     struct swz_script_frame *frames)
{
	struct swz_node *node = (struct swz_node *)reader;
	const struct swz_script_code *code;
	uint64_t function;

	if (node->stack != reader->stacks &&
	    swz_script_codes_begin_stack(&node->codes))
		swz_node_code_forget(node->code);
	node->stack = reader->stacks;
	if (!place->load(place->stack, place->frame_pointer - FRAME_FUNCTION,
			 &function))
		return 0;
	code = function_code(node, function);
	return code ? swz_node_code_functions(node, place, code, function,
					      frames)
		    : 0;
}

/* -------------------------------------------------------------- life */

#define FIND(value, ...) \
	swz_node_constant(module, value, \
			  (const char *const[]){__VA_ARGS__, NULL})

static bool find_places(const struct swz_script_module *module,
			struct swz_node_places *p)
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
static bool fits(const struct swz_node_places *p)
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
	struct swz_node_places places;

	if (!find_places(module, &places) || !fits(&places))
		return NULL;
	node = swz_allocate(1, sizeof(*node));
	node->reader = (struct swz_script_reader){
		.language = &swz_node_language,
		.read = module->read,
		.memory = module->memory};
	node->places = places;
	node->code = swz_node_code_open(module);
	return &node->reader;
}

static void node_close(struct swz_script_reader *reader)
{
	struct swz_node *node = (struct swz_node *)reader;

	swz_script_codes_free(&node->codes);
	free(node->code);
	free(node);
}

const struct swz_script_language swz_node_language = {
	.name = "JavaScript",
	.open = node_open,
	.functions = node_functions,
	.shares_frames = true,
	.close = node_close,
};
