/* PHP 7.4 to 8.4. executor_globals has the innermost zend_execute_data; these
 * are linked. If PHP is thread-safe (ZTS), each thread has its globals: they
 * are executor_globals_offset behind what _tsrm_ls_cache points to, a variable
 * of the thread's. Where that is, a function of PHP's says (TSRM.c), in one
 * instruction. One call of the loop, execute_ex, runs several: the first of
 * each is marked. Built-in functions have one, too, and are C functions.
 *
 * The layout of these is the same in all versions, that of zend_op_array is
 * not: the right one is known by a frame that executes an instruction of its
 * own function. (Zend/zend_compile.h, zend_globals.h, zend_types.h) */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum {
	/* zend_executor_globals */
	GLOBALS_FRAME = 488,
	/* zend_execute_data */
	FRAME_AT = 0,
	FRAME_FUNCTION = 24,
	FRAME_FLAGS = 40,
	FRAME_PREVIOUS = 48,
	FRAME_BYTES = 56,
	/* zend_op_array, the beginning of which all functions have */
	FUNCTION_TYPE = 0,
	FUNCTION_NAME = 8,
	FUNCTION_CLASS = 16,
	FUNCTION_BYTES = 192,
	/* zend_class_entry */
	CLASS_NAME = 8,
	/* zend_string */
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	/* zend_op */
	INSTRUCTION_LINE = 24,
	INSTRUCTION_BYTES = 32
};

enum { IS_BUILT_IN = 1, IS_OF_SCRIPT = 2, IS_EVALUATED = 4 };

#define IS_ENTRY (1u << 17) /* of a frame's flags: ZEND_CALL_TOP */
#define MOST_TEXT 1024u
#define MOST_INSTRUCTIONS (1u << 20)
#define MOST_FRAMES 65536u
#define CODE_BYTES 11u /* of the function that tells where the cache is */

struct layout {
	uint32_t instructions, instruction_count, file, line;
};

static const struct layout layouts[] = {
	{104, 96, 168, 176}, /* 8.4 */
	{88, 80, 152, 160},  /* 8.2, 8.3 */
	{72, 68, 144, 152},  /* 8.0, 8.1 */
	{64, 60, 136, 144},  /* 7.4 */
};

struct swz_php {
	struct swz_script_reader reader;
	uint64_t globals;            /* 0: it is thread-safe */
	uint64_t offset;             /* where executor_globals_offset is */
	uint64_t tells_cache;        /* the function */
	const struct layout *layout; /* NULL: not known so far */
	struct swz_script_codes codes;
};

static bool read_bytes(const struct swz_php *php, uint64_t address, void *into,
		       size_t size)
{
	return address && php->reader.read(php->reader.memory, address, into,
					   size) == size;
}

/* ---------------------------------------------------------------- texts */

/* A zend_string; to be freed. NULL: it is none. */
static char *read_text(const struct swz_php *php, uint64_t address)
{
	uint8_t head[STRING_TEXT];
	size_t length;
	char *text;

	if (!read_bytes(php, address, head, sizeof(head)))
		return NULL;
	length = swz_script_word(head, STRING_LENGTH);
	if (!length || length > INT32_MAX)
		return NULL;
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	text = swz_allocate(length + 1, 1);
	if (!read_bytes(php, address + STRING_TEXT, text, length)) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	return text;
}

/* ------------------------------------------------------------ functions */

/* Functions without a name are called the same, so they have their line; 8.4
 * says where they are within the name. */
static char *shown_name(char *own, uint32_t line)
{
	char *shown;

	if (strncmp(own, "{closure", 8) != 0)
		return own;
	shown = swz_print("{closure}:%u", (unsigned)line);
	free(own);
	return shown;
}

/* With its class. Code of a file itself has no name. */
static char *name_of(const struct swz_php *php, const uint8_t *function,
		     bool is_first, uint32_t line)
{
	uint64_t class = swz_script_word(function, FUNCTION_CLASS), at;
	char *own, *owner = NULL, *name;

	if (!swz_script_word(function, FUNCTION_NAME)) {
		if (function[FUNCTION_TYPE] == IS_EVALUATED)
			return swz_duplicate("eval");
		return swz_duplicate(is_first ? "{main}" : "include");
	}
	own = read_text(php, swz_script_word(function, FUNCTION_NAME));
	if (!own)
		return NULL;
	own = shown_name(own, line);
	if (class && read_bytes(php, class + CLASS_NAME, &at, sizeof(at)))
		owner = read_text(php, at);
	if (!owner)
		return own;
	name = swz_print("%s::%s", owner, own);
	free(owner);
	free(own);
	return name;
}

/* The instruction that a frame executes is one of its function's. */
static bool fits(const struct layout *l, const uint8_t *function, uint64_t at)
{
	uint64_t first = swz_script_word(function, l->instructions);
	uint64_t count = swz_script_half(function, l->instruction_count);

	return first && count <= MOST_INSTRUCTIONS && at >= first &&
	       (at - first) % INSTRUCTION_BYTES == 0 &&
	       (at - first) / INSTRUCTION_BYTES < count;
}

static bool find_layout(struct swz_php *php, const uint8_t *function,
			uint64_t at)
{
	for (size_t i = 0;
	     !php->layout && i < sizeof(layouts) / sizeof(*layouts); i++) {
		char *file;

		if (!fits(&layouts[i], function, at))
			continue;
		file = read_text(php,
				 swz_script_word(function, layouts[i].file));
		if (file)
			php->layout = &layouts[i];
		free(file);
	}
	return php->layout != NULL;
}

static const struct swz_script_code *code_of(struct swz_php *php,
					     uint64_t address,
					     const uint8_t *function,
					     bool is_first)
{
	const struct swz_script_code *known;
	struct swz_script_object object = {
		.name = swz_script_word(function, FUNCTION_NAME),
		.file = swz_script_word(function, php->layout->file),
		.lines = swz_script_word(function, php->layout->instructions),
		.owner = is_first,
		.line = swz_script_half(function, php->layout->line)};

	known = swz_script_codes_get(&php->codes, address, &object);
	if (known)
		return known;
	return swz_script_codes_add(
		&php->codes, address, &object,
		name_of(php, function, is_first, object.line),
		read_text(php, object.file));
}

/* ------------------------------------------------------------------ frames */

/* The line of the instruction at one of ADDRESSES that is the function's own,
 * the first of them that is; 0: none is. */
static uint32_t line_at(const struct swz_php *php, const uint8_t *function,
			const uint64_t *addresses, size_t count)
{
	uint32_t line;

	for (size_t i = 0; i < count; i++)
		if (fits(php->layout, function, addresses[i]))
			return read_bytes(php, addresses[i] + INSTRUCTION_LINE,
					  &line, sizeof(line))
				       ? line
				       : 0;
	return 0;
}

/* False: it is not what it should be. */
static bool add_frame(struct swz_php *php,
		      const struct swz_script_thread *thread,
		      const uint8_t *frame, struct swz_script_frame *frames,
		      size_t *count)
{
	uint64_t address = swz_script_word(frame, FRAME_FUNCTION);
	/* the loop's register is newer than what it has stored */
	const uint64_t at[] = {swz_script_word(frame, FRAME_AT),
			       thread->loop_register};
	bool is_innermost = *count == 0 && thread->loop_register;
	uint8_t function[FUNCTION_BYTES] = {0};

	if (!address)
		return true;
	/* (built-in ones are shorter) */
	if (!read_bytes(php, address, function, FUNCTION_CLASS + 8))
		return false;
	if (function[FUNCTION_TYPE] == IS_BUILT_IN)
		return true;
	if ((function[FUNCTION_TYPE] != IS_OF_SCRIPT &&
	     function[FUNCTION_TYPE] != IS_EVALUATED) ||
	    !read_bytes(php, address, function, sizeof(function)) ||
	    !find_layout(php, function, at[0]))
		return false;
	frames[*count] = (struct swz_script_frame){
		.code = code_of(php, address, function,
				!swz_script_word(frame, FRAME_PREVIOUS)),
		.line = is_innermost && fits(php->layout, function, at[1])
				? line_at(php, function, at + 1, 1)
				: line_at(php, function, at, 1),
		.is_entry = swz_script_half(frame, FRAME_FLAGS) & IS_ENTRY};
	return frames[(*count)++].code != NULL;
}

/* Where _tsrm_ls_cache is, to the thread pointer; 0: not known. The function
 * reads it from a table, or has it in itself if the linker knew it. */
static int64_t cache_offset(const struct swz_php *php)
{
	static const uint8_t branch_mark[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t from_table[] = {0x48, 0x8b, 0x05};
	static const uint8_t in_itself[] = {0x48, 0xc7, 0xc0};
	uint8_t code[CODE_BYTES], *at = code;
	int64_t offset = 0;
	int32_t number;

	if (!read_bytes(php, php->tells_cache, code, sizeof(code)))
		return 0;
	if (memcmp(at, branch_mark, sizeof(branch_mark)) == 0)
		at += sizeof(branch_mark);
	memcpy(&number, at + 3, sizeof(number));
	if (memcmp(at, in_itself, sizeof(in_itself)) == 0)
		return number;
	if (memcmp(at, from_table, sizeof(from_table)) == 0)
		(void)read_bytes(php,
				 php->tells_cache + (uint64_t)(at - code) + 7 +
					 (uint64_t)(int64_t)number,
				 &offset, sizeof(offset));
	return offset;
}

/* The executor_globals of a thread; 0: it runs no scripts. */
static uint64_t globals_of(const struct swz_php *php,
			   const struct swz_script_thread *thread)
{
	uint64_t cache, offset;
	int64_t at;

	/* (others are of libraries) */
	if (php->globals)
		return thread->tid == thread->pid ? php->globals : 0;
	at = thread->thread_pointer ? cache_offset(php) : 0;
	if (!at ||
	    !read_bytes(php, thread->thread_pointer + (uint64_t)at, &cache,
			sizeof(cache)) ||
	    !read_bytes(php, php->offset, &offset, sizeof(offset)) || !cache)
		return 0;
	return cache + offset;
}

static enum swz_script_result php_frames(struct swz_script_reader *reader,
					 const struct swz_script_thread *thread,
					 struct swz_script_frame *frames,
					 size_t most, size_t *count)
{
	struct swz_php *php = (struct swz_php *)reader;
	uint8_t frame[FRAME_BYTES];
	size_t left = MOST_FRAMES;
	uint64_t globals = globals_of(php, thread), at;

	*count = 0;
	if (!globals ||
	    !read_bytes(php, globals + GLOBALS_FRAME, &at, sizeof(at)))
		return SWZ_SCRIPT_NONE;
	(void)swz_script_codes_begin_stack(&php->codes);
	for (; at && *count < most && left--;
	     at = swz_script_word(frame, FRAME_PREVIOUS))
		if (!read_bytes(php, at, frame, sizeof(frame)) ||
		    !add_frame(php, thread, frame, frames, count))
			return SWZ_SCRIPT_LOST;
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

/* -------------------------------------------------------------- life */

static struct swz_script_reader *php_open(
	const struct swz_script_module *module)
{
	uint64_t globals = module->symbol(module->module, "executor_globals");
	uint64_t offset = module->symbol(module->module,
					 "executor_globals_offset");
	uint64_t tells_cache = module->symbol(module->module,
					      "tsrm_get_ls_cache_tcb_offset");
	uint64_t loop = module->symbol(module->module, "execute_ex");
	struct swz_php *php;

	if (!(globals || (offset && tells_cache)) || !loop ||
	    !module->symbol(module->module, "zend_execute_internal"))
		return NULL;
	php = swz_allocate(1, sizeof(*php));
	php->reader = (struct swz_script_reader){.language = &swz_php_language,
						 .read = module->read,
						 .memory = module->memory,
						 .loop = loop};
	php->globals = globals;
	php->offset = offset;
	php->tells_cache = tells_cache;
	return &php->reader;
}

static void php_close(struct swz_script_reader *reader)
{
	struct swz_php *php = (struct swz_php *)reader;

	swz_script_codes_free(&php->codes);
	free(php);
}

const struct swz_script_language swz_php_language = {
	.name = "PHP",
	.program = "php",
	.libraries = {"libphp"},
	.open = php_open,
	.frames = php_frames,
	.close = php_close,
};
