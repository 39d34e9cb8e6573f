/* Java in HotSpot, without any option: its frames are the machine's. The code
 * of all functions lies in the code cache, in blobs: each says how large its
 * frames are, and that of a compiled method (nmethod) which methods the
 * compiler has put together at which instruction. The interpreter is a blob,
 * too: its frames have %rbp, and the method at a fixed place below.
 *
 * The process goes on while it is read. A blob is looked at anew for each
 * stack: what is known of a place in it holds as long as the blob is the same.
 */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/java_memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

#define MOST_PLACES 16384u /* then all are forgotten */

/* A place in a compiled method, and the method that it executes. */
struct place {
	uint64_t pc;
	uint64_t method; /* of its blob then, and its number */
	uint32_t blob, number;
	bool is_read;
	uint32_t count;
	struct swz_script_frame *frames;
};

struct swz_java {
	struct swz_script_reader reader;
	struct swz_java_memory memory;
	struct swz_java_blob *blobs;
	size_t blob_count, blob_capacity;
	struct swz_map blob_at; /* by start: blobs */
	struct place *places;
	size_t place_count, place_capacity;
	struct swz_map place_at; /* by pc: places */
	struct swz_script_codes codes;
	uint64_t stack; /* whose codes are known */
};

static bool read_bytes(const struct swz_java *java, uint64_t address,
		       void *into, size_t size)
{
	return swz_java_read(&java->memory, address, into, size);
}

static bool read_word(const struct swz_java *java, uint64_t address,
		      uint64_t *word)
{
	return swz_java_read_word(&java->memory, address, word);
}

/* --- places in the code cache -------------------------------------------- */

static uint64_t stack_of(const struct swz_java *java)
{
	return java->reader.stacks + 1;
}

/* The place of a pc, whose blob may be another one by now. */
static struct place *place_of(struct swz_java *java, uint64_t pc)
{
	uint32_t *index = swz_map_at(&java->place_at, pc, 0);

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)java->place_count;
		swz_grow(&java->places, &java->place_capacity,
			 java->place_count, sizeof(*java->places));
		java->places[java->place_count++] = (struct place){
			.pc = pc, .blob = UINT32_MAX};
	}
	return &java->places[*index];
}

static void forget_places(struct swz_java *java)
{
	for (size_t i = 0; i < java->place_count; i++)
		free(java->places[i].frames);
	java->place_count = java->blob_count = 0;
	swz_map_free(&java->place_at);
	swz_map_free(&java->blob_at);
}

static uint32_t add_blob(struct swz_java *java, uint64_t start)
{
	uint32_t *index = swz_map_at(&java->blob_at, start, 0);

	if (*index == SWZ_MAP_NONE) {
		*index = (uint32_t)java->blob_count;
		swz_grow(&java->blobs, &java->blob_capacity, java->blob_count,
			 sizeof(*java->blobs));
		java->blobs[java->blob_count++] = (struct swz_java_blob){
			.start = start};
	}
	return *index;
}

static bool is_fresh(struct swz_java *java, struct swz_java_blob *blob)
{
	if (blob->stack != stack_of(java)) {
		blob->stack = stack_of(java);
		blob->is_gone = !swz_java_blob_read(&java->memory, blob);
	}
	return !blob->is_gone;
}

/* The blob that has the pc now, and the place there; NULL: none. */
static struct swz_java_blob *blob_at(struct swz_java *java, uint64_t pc,
				     struct place **place)
{
	struct swz_java_blob *blob;
	uint64_t start;

	if (!swz_java_memory_ready(&java->memory, stack_of(java)))
		return NULL;
	if (java->stack != stack_of(java)) {
		java->stack = stack_of(java);
		if (swz_script_codes_begin_stack(&java->codes) ||
		    java->place_count >= MOST_PLACES)
			forget_places(java);
	}
	*place = place_of(java, pc);
	if ((*place)->blob != UINT32_MAX) {
		blob = &java->blobs[(*place)->blob];
		if (is_fresh(java, blob) && pc >= blob->code && pc < blob->end)
			return blob;
	}
	start = swz_java_blob_with(&java->memory, pc, stack_of(java));
	if (!start)
		return NULL;
	(*place)->blob = add_blob(java, start);
	blob = &java->blobs[(*place)->blob];
	if (!is_fresh(java, blob) || pc < blob->code || pc >= blob->end)
		return NULL;
	return blob;
}

/* --- texts --------------------------------------------------------------- */

#define MOST_TEXT 1024u
#define TAG_UTF8 1u

/* A Symbol; to be freed. NULL: it is none. */
static char *read_symbol(const struct swz_java *java, uint64_t symbol)
{
	uint16_t length;
	char *text;

	if (!symbol ||
	    !read_bytes(java, symbol + java->memory.at[SWZ_JAVA_SYMBOL_LENGTH],
			&length, sizeof(length)) ||
	    !length || length > MOST_TEXT)
		return NULL;
	text = swz_allocate((size_t)length + 1, 1);
	if (!read_bytes(java, symbol + java->memory.at[SWZ_JAVA_SYMBOL_TEXT],
			text, length)) {
		free(text);
		return NULL;
	}
	for (size_t i = 0; i < length; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	return text;
}

/* A constant of a class that is a text. */
static char *read_constant(const struct swz_java *java, uint64_t pool,
			   uint32_t index)
{
	uint64_t tags, symbol;
	uint32_t length;
	uint8_t tag;

	if (!index ||
	    !read_bytes(java, pool + java->memory.at[SWZ_JAVA_POOL_LENGTH],
			&length, sizeof(length)) ||
	    index >= length ||
	    !read_word(java, pool + java->memory.at[SWZ_JAVA_POOL_TAGS],
		       &tags) ||
	    !read_bytes(java, tags + 4 + index, &tag, 1) || tag != TAG_UTF8 ||
	    !read_word(java,
		       pool + java->memory.bytes[SWZ_JAVA_POOL_TYPE] +
			       8ull * index,
		       &symbol))
		return NULL;
	return read_symbol(java, symbol);
}

/* The name of the class, with its package: "java/lang/String". A class that was
 * made at run time has an address behind it, which is not shown. */
static char *class_name(const struct swz_java *java, uint64_t pool)
{
	uint64_t klass, symbol;
	char *name = NULL, *address;

	if (read_word(java, pool + java->memory.at[SWZ_JAVA_POOL_HOLDER],
		      &klass) &&
	    read_word(java, klass + java->memory.at[SWZ_JAVA_KLASS_NAME],
		      &symbol))
		name = read_symbol(java, symbol);
	address = name ? strstr(name, "+0x") : NULL;
	if (address)
		*address = '\0';
	return name;
}

/* The source file, in the folder of its package. */
static char *file_of(const struct swz_java *java, uint64_t pool,
		     const char *class)
{
	uint16_t index = 0;
	const char *slash = strrchr(class, '/');
	char *file, *path;

	(void)read_bytes(java, pool + java->memory.at[SWZ_JAVA_POOL_FILE],
			 &index, sizeof(index));
	file = read_constant(java, pool, index);
	if (!file)
		return swz_duplicate("(generated)");
	path = swz_print("%.*s%s", slash ? (int)(slash + 1 - class) : 0, class,
			 file);
	free(file);
	return path;
}

static char *method_name(char *class, const char *own)
{
	for (char *at = class; *at; at++)
		if (*at == '/')
			*at = '.';
	return swz_print("%s.%s", class, own);
}

/* --- lines --------------------------------------------------------------- */

/* Numbers of one to five bytes, each byte with six bits of it (UNSIGNED5). From
 * 20 on no byte is 0. */

struct bytes {
	const uint8_t *bytes;
	size_t size, at;
	bool failed;
	uint8_t least;
};

#define LAST_BYTE 192u
#define NUMBER_BYTES 5u

static uint8_t next_byte(struct bytes *b)
{
	if (b->at < b->size)
		return b->bytes[b->at++];
	b->failed = true;
	return 0;
}

static uint32_t next_number(struct bytes *b)
{
	uint32_t number = 0;

	for (unsigned i = 0; i < NUMBER_BYTES; i++) {
		uint8_t byte = next_byte(b);

		if (byte < b->least)
			b->failed = true;
		number += (uint32_t)(byte - b->least) << (6 * i);
		if (byte < LAST_BYTE)
			break;
	}
	return number;
}

static int32_t next_difference(struct bytes *b)
{
	uint32_t number = next_number(b);

	return (int32_t)(number >> 1 ^ -(number & 1));
}

static uint8_t least_byte(const struct swz_java *java)
{
	return java->memory.version >= 20;
}

/* The line of an instruction by its number, BCI; 0: not known. */
static uint32_t line_of(const struct swz_java *java,
			const struct swz_script_code *code, int64_t bci)
{
	struct bytes b = {.bytes = code->line_table,
			  .size = code->line_bytes,
			  .least = least_byte(java)};
	int32_t at = 0, line = 0, best_at = -1, best = 0;

	while (code->line_table && !b.failed) {
		uint8_t both = next_byte(&b);

		if (!both)
			break;
		if (both == 0xff) {
			at += next_difference(&b);
			line += next_difference(&b);
		} else {
			at += both >> 3;
			line += both & 7;
		}
		if (at <= bci && at >= best_at && !b.failed) {
			best_at = at;
			best = line;
		}
		/* (sums of damaged tables) */
		if (at < 0 || at > 65535 || line < 0 || line > 65535)
			break;
	}
	return best > 0 && best <= 65535 ? (uint32_t)best : 0;
}

/* --- methods ------------------------------------------------------------- */

#define CONST_HEAD 96u
#define HAS_LINES 1u
#define MOST_METHOD_BYTES 65536u

struct method {
	uint64_t at; /* its ConstMethod */
	uint64_t pool, code;
	uint32_t bytes, name, code_bytes;
	bool has_lines;
};

static bool read_method(const struct swz_java *java, uint64_t address,
			struct method *method)
{
	enum swz_java_field flags = java->memory.has[SWZ_JAVA_CONST_FLAGS]
					    ? SWZ_JAVA_CONST_FLAGS
					    : SWZ_JAVA_CONST_FLAGS_21;
	uint8_t head[CONST_HEAD + 8] = {0};

	if (address % 8 ||
	    !read_word(java, address + java->memory.at[SWZ_JAVA_METHOD_CONST],
		       &method->at) ||
	    method->at % 8 || !read_bytes(java, method->at, head, CONST_HEAD))
		return false;
	method->pool = swz_script_word(head,
				       java->memory.at[SWZ_JAVA_CONST_POOL]);
	method->bytes = swz_script_half(head,
					java->memory.at[SWZ_JAVA_CONST_BYTES]);
	method->name = swz_script_half(head,
				       java->memory.at[SWZ_JAVA_CONST_NAME]) &
		       0xffff;
	method->code_bytes =
		swz_script_half(head,
				java->memory.at[SWZ_JAVA_CONST_CODE_BYTES]) &
		0xffff;
	method->has_lines = java->memory.has[flags] &&
			    swz_script_half(head, java->memory.at[flags]) &
				    HAS_LINES;
	method->code = method->at + java->memory.bytes[SWZ_JAVA_CONST_TYPE];
	method->bytes = method->bytes < MOST_METHOD_BYTES ? 8 * method->bytes
							  : 0;
	return method->pool && method->pool % 8 == 0;
}

/* Its lines are behind its instructions. */
static void read_lines(const struct swz_java *java, const struct method *method,
		       struct swz_script_code *code)
{
	size_t before = java->memory.bytes[SWZ_JAVA_CONST_TYPE] +
			method->code_bytes,
	       size;

	if (!method->has_lines || method->bytes <= before)
		return;
	size = method->bytes - before;
	code->line_table = swz_allocate(size, 1);
	code->line_bytes = java->reader.read(java->reader.memory,
					     method->at + before,
					     code->line_table, size);
	code->line = line_of(java, code, 0);
}

static const struct swz_script_code *new_code(
	struct swz_java *java, const struct method *method,
	const struct swz_script_object *object)
{
	char *own = read_constant(java, method->pool, method->name);
	char *class = own ? class_name(java, method->pool) : NULL;
	char *file = class ? file_of(java, method->pool, class) : NULL;
	struct swz_script_code *code;

	code = swz_script_codes_add(&java->codes, method->at, object,
				    class ? method_name(class, own) : NULL,
				    file);
	if (code)
		read_lines(java, method, code);
	free(own);
	free(class);
	return code;
}

/* Sets *METHOD. NULL: there is none at that address. */
static const struct swz_script_code *method_code(struct swz_java *java,
						 uint64_t address,
						 struct method *method)
{
	const struct swz_script_code *known;
	struct swz_script_object object;

	if (!read_method(java, address, method))
		return NULL;
	object = (struct swz_script_object){
		.name = method->pool,
		.file = (uint64_t)method->name << 32 | method->code_bytes,
		.lines = method->bytes};
	known = swz_script_codes_get(&java->codes, method->at, &object);
	return known ? known : new_code(java, method, &object);
}

/* --- frames of the interpreter ------------------------------------------- */

/* Below %rbp (frame_x86.hpp). */
enum { FRAME_METHOD = 3 * 8, FRAME_BYTECODE = 8 * 8 };

static uint32_t interpreted_line(const struct swz_java *java,
				 const struct swz_script_place *place,
				 const struct swz_script_code *code,
				 const struct method *method)
{
	uint64_t at = place->innermost_register;

	/* only calls save it; (r13 may have another use in what they call) */
	if ((at < method->code || at >= method->code + method->code_bytes) &&
	    !place->load(place->stack, place->frame_pointer - FRAME_BYTECODE,
			 &at))
		return 0;
	return at >= method->code && at < method->code + method->code_bytes
		       ? line_of(java, code, (int64_t)(at - method->code))
		       : 0;
}

static size_t interpreted(struct swz_java *java,
			  const struct swz_script_place *place,
			  struct swz_script_frame *frames)
{
	const struct swz_script_code *code;
	struct method method;
	uint64_t address;

	if (!place->load(place->stack, place->frame_pointer - FRAME_METHOD,
			 &address))
		return 0;
	code = method_code(java, address, &method);
	if (!code)
		return 0;
	*frames = (struct swz_script_frame){
		.code = code,
		.line = interpreted_line(java, place, code, &method)};
	return 1;
}

/* --- frames of compiled methods ------------------------------------------ */

/* A PcDesc says for an instruction where its scopes are described: the
 * innermost method, the number of the bytecode, and where its caller is. */

enum { DESC_BYTES = 16, DESC_SCOPE = 4 };

#define MOST_DESCS 65536u
#define SCOPE_BYTES 15u /* three numbers */

static uint64_t descs_of(const struct swz_java *java,
			 const struct swz_java_blob *blob)
{
	uint64_t base = java->memory.has[SWZ_JAVA_IMMUTABLE]
				? swz_java_blob_word(&java->memory, blob,
						     SWZ_JAVA_IMMUTABLE)
				: blob->start;

	return base +
	       swz_java_blob_half(&java->memory, blob, SWZ_JAVA_SCOPES_PCS);
}

static uint64_t scopes_of(const struct swz_java *java,
			  const struct swz_java_blob *blob)
{
	return java->memory.has[SWZ_JAVA_SCOPES_DATA]
		       ? swz_java_blob_word(&java->memory, blob,
					    SWZ_JAVA_SCOPES_DATA)
		       : swz_java_blob_word(&java->memory, blob,
					    SWZ_JAVA_IMMUTABLE) +
				 swz_java_blob_half(&java->memory, blob,
						    SWZ_JAVA_SCOPES_DATA_25);
}

static size_t desc_count(const struct swz_java *java,
			 const struct swz_java_blob *blob)
{
	uint64_t size = swz_java_blob_half(&java->memory, blob,
					   java->memory.has[SWZ_JAVA_SCOPES_END]
						   ? SWZ_JAVA_SCOPES_END
						   : SWZ_JAVA_SCOPES_DATA_25) -
			(uint64_t)swz_java_blob_half(&java->memory, blob,
						     SWZ_JAVA_SCOPES_PCS);

	return size / DESC_BYTES < MOST_DESCS ? (size_t)(size / DESC_BYTES) : 0;
}

/* The descs around a place. */
struct near {
	uint32_t scope;  /* of the first that is not before it; 0: not known */
	uint32_t before; /* of the one before */
	uint64_t pc;     /* of the first one */
};

static bool find_near(const struct swz_java *java,
		      const struct swz_java_blob *blob, uint64_t pc,
		      struct near *near)
{
	uint64_t descs = descs_of(java, blob);
	int64_t wanted = (int64_t)(pc - blob->code);
	size_t low = 0, high = desc_count(java, blob);

	*near = (struct near){0};
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		uint8_t desc[DESC_BYTES];
		int32_t at;

		if (!read_bytes(java, descs + DESC_BYTES * middle, desc,
				sizeof(desc)))
			return false;
		at = (int32_t)swz_script_half(desc, 0);
		if (at < wanted) {
			low = middle + 1;
			near->before = swz_script_half(desc, DESC_SCOPE);
		} else {
			high = middle;
			near->pc = blob->code + (uint64_t)at;
			near->scope = swz_script_half(desc, DESC_SCOPE);
		}
	}
	return true;
}

#define LOOP_END 96u
#define TEST 0x85u /* test %eax,(REGISTER), perhaps with a prefix */

/* True if a jump close behind NEAR's instruction leads back to PC or to what is
 * before it: both are in one loop, whose end looks whether the thread is to
 * stop. */
static bool is_in_its_loop(const struct swz_java *java, const struct near *near,
			   const struct swz_java_blob *blob, uint64_t pc)
{
	uint8_t code[LOOP_END];

	if (near->pc > blob->end ||
	    !read_bytes(java, near->pc, code, LOOP_END) ||
	    (code[0] != TEST && code[1] != TEST))
		return false;
	for (size_t i = 0; i + 6 <= LOOP_END; i++) {
		uint64_t to = near->pc + i;

		if ((code[i] & 0xf0) == 0x70 || code[i] == 0xeb)
			to += 2 + (uint64_t)(int8_t)code[i + 1];
		else if (code[i] == 0x0f && (code[i + 1] & 0xf0) == 0x80)
			to += 6 +
			      (uint64_t)(int32_t)swz_script_half(code, i + 2);
		else if (code[i] == 0xe9)
			to += 5 +
			      (uint64_t)(int32_t)swz_script_half(code, i + 1);
		else
			continue;
		if (to <= pc && to >= blob->code)
			return true;
	}
	return false;
}

static uint64_t metadata_of(const struct swz_java *java,
			    const struct swz_java_blob *blob, uint32_t index)
{
	uint64_t base =
		java->memory.has[SWZ_JAVA_METADATA]
			? blob->start + swz_java_blob_half(&java->memory, blob,
							   SWZ_JAVA_METADATA)
			: swz_java_blob_word(&java->memory, blob,
					     SWZ_JAVA_MUTABLE) +
				  swz_java_blob_half(&java->memory, blob,
						     SWZ_JAVA_RELOCATION_BYTES);
	uint64_t word;

	return index && read_word(java, base + 8ull * (index - 1), &word) ? word
									  : 0;
}

/* Reads one scope. Returns where that of its caller is; 0: it has none. */
static uint32_t read_scope(struct swz_java *java,
			   const struct swz_java_blob *blob, uint32_t scope,
			   struct swz_script_frame *frame)
{
	uint8_t bytes[SCOPE_BYTES];
	struct bytes b = {.bytes = bytes, .least = least_byte(java)};
	uint32_t caller, index;
	int32_t bci;
	struct method method;

	b.size = java->reader.read(java->reader.memory,
				   scopes_of(java, blob) + scope, bytes,
				   sizeof(bytes));
	caller = next_number(&b);
	index = next_number(&b);
	bci = (int32_t)next_number(&b) - 1;
	*frame = (struct swz_script_frame){0};
	if (b.failed)
		return 0;
	frame->code = method_code(java, metadata_of(java, blob, index),
				  &method);
	if (frame->code)
		frame->line = line_of(java, frame->code, bci < 0 ? 0 : bci);
	return caller;
}

static size_t read_scopes(struct swz_java *java,
			  const struct swz_java_blob *blob, uint32_t scope,
			  struct swz_script_frame *frames)
{
	struct method method;
	size_t count = 0;

	/* each lies behind those that have called it */
	while (scope && count < SWZ_MOST_INLINED) {
		uint32_t caller = read_scope(java, blob, scope, &frames[count]);

		if (!frames[count].code || caller >= scope)
			break;
		count++;
		scope = caller;
	}
	if (count && !scope)
		return count;
	frames[0] = (struct swz_script_frame){
		.code = method_code(java, blob->method, &method)};
	return frames[0].code != NULL;
}

/* How many of the outermost both have. */
static size_t count_common(const struct swz_script_frame *frames, size_t count,
			   const struct swz_script_frame *others, size_t other)
{
	size_t common = 0;

	while (common < count && common < other) {
		const struct swz_script_frame *f = &frames[count - ++common];
		const struct swz_script_frame *o = &others[other - common];

		if (f->code != o->code)
			return common - 1;
		if (f->line != o->line)
			break;
	}
	return common;
}

/* Only calls and looks whether to stop have descs. What lies between two of
 * them is of the functions that both are in. */
static size_t functions_at(struct swz_java *java,
			   const struct swz_java_blob *blob, uint64_t pc,
			   struct swz_script_frame *frames)
{
	struct swz_script_frame before[SWZ_MOST_INLINED];
	struct near near;
	size_t count, common;

	if (!find_near(java, blob, pc, &near))
		return 0;
	count = read_scopes(java, blob, near.scope, frames);
	if (near.pc == pc || count < 2 || is_in_its_loop(java, &near, blob, pc))
		return count;
	common = count_common(frames, count, before,
			      read_scopes(java, blob, near.before, before));
	common = common ? common : 1;
	memmove(frames, frames + (count - common), common * sizeof(*frames));
	return common;
}

static size_t compiled(struct swz_java *java, const struct swz_java_blob *blob,
		       struct place *place, uint64_t pc,
		       struct swz_script_frame *frames)
{
	if (!place->is_read || place->method != blob->method ||
	    place->number != blob->number) {
		place->count = (uint32_t)functions_at(java, blob, pc, frames);
		place->method = blob->method;
		place->number = blob->number;
		place->is_read = true;
		free(place->frames);
		place->frames = swz_allocate(place->count + 1, sizeof(*frames));
		memcpy(place->frames, frames, place->count * sizeof(*frames));
	}
	memcpy(frames, place->frames, place->count * sizeof(*frames));
	return place->count;
}

static size_t java_functions(struct swz_script_reader *reader,
			     const struct swz_script_place *place,
			     struct swz_script_frame *frames)
{
	struct swz_java *java = (struct swz_java *)reader;
	struct place *known;
	struct swz_java_blob *blob = blob_at(java, place->pc, &known);

	if (!blob)
		return 0;
	if (blob->kind == SWZ_JAVA_INTERPRETER)
		return interpreted(java, place, frames);
	/* (a return address is what descs have) */
	return blob->kind == SWZ_JAVA_COMPILED
		       ? compiled(java, blob, known,
				  place->pc + !place->is_innermost, frames)
		       : 0;
}

static bool java_is_helper(struct swz_script_reader *reader, uint64_t pc)
{
	struct place *known;
	const struct swz_java_blob *blob = blob_at((struct swz_java *)reader,
						   pc, &known);

	return blob && blob->kind != SWZ_JAVA_COMPILED;
}

/* --- how frames are left ------------------------------------------------- */

#define CODE_LOOKED_AT 16u
#define MOST_PROLOGUE 512u

/* Where a method makes room on the stack: sub $n,%rsp, with n by which the
 * frame has the size that its blob says. SIZE if it does not. *IS_PUSHED: %rbp
 * is saved before that, not behind. */
static size_t find_room(const struct swz_java_blob *blob, const uint8_t *code,
			size_t size, bool *is_pushed)
{
	for (size_t i = 0; i < size; i++) {
		uint32_t n;

		if (code[i] != 0x48 || code[i + 2] != 0xec ||
		    (code[i + 1] != 0x83 && code[i + 1] != 0x81))
			continue;
		n = code[i + 1] == 0x83 ? code[i + 3]
					: swz_script_half(code, i + 3);
		*is_pushed = n + 16 == blob->frame_bytes;
		if (*is_pushed || n + 8 == blob->frame_bytes)
			return i;
	}
	return size;
}

static enum swz_script_leave leave_beginning(const struct swz_java *java,
					     const struct swz_java_blob *blob,
					     uint64_t pc, uint32_t *size)
{
	uint8_t code[MOST_PROLOGUE + 8] = {0};
	size_t bytes = blob->complete < MOST_PROLOGUE ? blob->complete
						      : MOST_PROLOGUE;
	size_t at = pc - blob->code, room, push;
	bool is_pushed = false;

	*size = 8;
	if (java->reader.read(java->reader.memory, blob->code, code, bytes) !=
	    bytes)
		return SWZ_LEAVE_BY_SIZE;
	room = find_room(blob, code, bytes, &is_pushed);
	if (room == bytes)
		return SWZ_LEAVE_BY_SIZE;
	push = room && code[room - 1] == 0x55 ? room - 1
	       : room >= 4                    ? room - 4 /* mov %rsp,%rbp */
					      : 0;
	if (at <= (is_pushed ? push : room))
		return SWZ_LEAVE_BY_SIZE;
	if (at <= room) {
		*size = 16;
		return SWZ_LEAVE_BY_SIZE_WITH_RBP;
	}
	*size = blob->frame_bytes;
	/* mov %rbp,n(%rsp) comes */
	return !is_pushed && at < bytes && at + 2 < bytes && code[at] == 0x48 &&
			       code[at + 1] == 0x89
		       ? SWZ_LEAVE_BY_SIZE
		       : SWZ_LEAVE_BY_SIZE_WITH_RBP;
}

/* Behind pop %rbp: a look whether the thread is to stop, cmp n(%r15),%rsp; ja;
 * then ret. */
static bool is_leaving(const uint8_t *code)
{
	static const uint8_t look[] = {0x49, 0x3b, 0xa7};

	return *code == 0xc3 || !memcmp(code, look, sizeof(look)) ||
	       (code[0] == 0x0f && code[1] == 0x87 && code[6] == 0xc3);
}

/* How much lies above the return address where the method ends; 0: it does not
 * end there. */
static uint32_t end_size(const struct swz_java *java, uint64_t pc)
{
	uint8_t code[CODE_LOOKED_AT];

	if (!read_bytes(java, pc, code, sizeof(code)))
		return 0;
	if (is_leaving(code))
		return 8;
	return *code == 0x5d && is_leaving(code + 1) ? 16 : 0;
}

static enum swz_script_leave leave_innermost(const struct swz_java *java,
					     const struct swz_java_blob *blob,
					     uint64_t pc, uint32_t *size)
{
	uint32_t end;

	if (blob->kind == SWZ_JAVA_FRAMELESS) {
		*size = 8;
		return SWZ_LEAVE_BY_SIZE;
	}
	if (blob->kind == SWZ_JAVA_OTHER)
		return SWZ_LEAVE_UNKNOWN;
	if (pc - blob->code < blob->complete &&
	    blob->complete < blob->end - blob->code)
		return leave_beginning(java, blob, pc, size);
	end = end_size(java, pc);
	*size = end ? end : blob->frame_bytes;
	return end == 8 ? SWZ_LEAVE_BY_SIZE : SWZ_LEAVE_BY_SIZE_WITH_RBP;
}

static enum swz_script_leave java_leave(struct swz_script_reader *reader,
					uint64_t pc, uint64_t sp,
					bool is_innermost, uint32_t *size)
{
	struct swz_java *java = (struct swz_java *)reader;
	struct place *known;
	const struct swz_java_blob *blob = blob_at(java, pc, &known);

	(void)sp;
	if (!blob)
		return SWZ_LEAVE_UNKNOWN;
	if (blob->kind == SWZ_JAVA_INTERPRETER)
		return SWZ_LEAVE_BY_RBP;
	if (is_innermost)
		return leave_innermost(java, blob, pc, size);
	/* (those of StubRoutines have frames of their own) */
	*size = blob->frame_bytes;
	return blob->frame_bytes >= 16 ? SWZ_LEAVE_BY_SIZE_WITH_RBP
				       : SWZ_LEAVE_UNKNOWN;
}

/* --- life ---------------------------------------------------------------- */

static struct swz_script_reader *java_open(
	const struct swz_script_module *module)
{
	struct swz_java_memory memory;
	struct swz_java *java;

	if (!swz_java_memory_open(&memory, module))
		return NULL;
	java = swz_allocate(1, sizeof(*java));
	java->reader = (struct swz_script_reader){
		.language = &swz_java_language,
		.read = module->read,
		.memory = module->memory};
	java->memory = memory;
	return &java->reader;
}

static void java_close(struct swz_script_reader *reader)
{
	struct swz_java *java = (struct swz_java *)reader;

	forget_places(java);
	free(java->places);
	free(java->blobs);
	swz_script_codes_free(&java->codes);
	free(java);
}

const struct swz_script_language swz_java_language = {
	.name = "Java",
	.open = java_open,
	.functions = java_functions,
	.leave = java_leave,
	.is_helper = java_is_helper,
	.close = java_close,
};
