/* CPython 3.6 to 3.15. Which fields are where differs from version to version;
 * how they are linked does not:
 *
 *   runtime -> interpreters -> threads -> the innermost frame -> previous ...
 *
 * From 3.13 on _PyRuntime begins with a table of its own offsets
 * (_Py_DebugOffsets); for the versions before it they are here, as gcc has them
 * of CPython's headers (Include/internal/pycore_*.h, Include/cpython/).
 *
 * A frame is a PyFrameObject up to 3.10: each has a call of the interpreter's
 * loop of its own. Since 3.11 it is a _PyInterpreterFrame, one call of the loop
 * runs several, and most of them lie behind each other in a chunk of memory
 * that is read at once. 3.11 marks the first of a call; later versions have a
 * frame without code before it, which lies in the C stack.
 *
 * A code object is known by its address, and looked at anew in each stack,
 * since another one may have taken its place. */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

#define OLDEST 6u /* of 3.x */
#define OWN_OFFSETS 13u
#define NEWEST 15u

#define MOST_THREADS 4096
#define MOST_INTERPRETERS 64
#define MOST_CHUNK 65536u
#define MOST_TEXT 1024u
#define MOST_LINES 65536u
#define MOST_STACK (1ull << 30)
#define MOST_FRAMES 65536u

/* Room for copies of structures. */
#define THREAD_BYTES 2048u
#define FRAME_BYTES 256u
#define CODE_BYTES 512u
#define HEAD_BYTES 128u /* of texts and of bytes objects */

enum {
	/* _PyStackChunk */
	CHUNK_PREVIOUS = 0,
	CHUNK_SIZE = 8,
	CHUNK_BYTES = 24,
	/* PyThreadState's _status */
	STATE_IS_ACTIVE = 1 << 4,
};

/* Of a str's state. */
enum { KIND_SHIFT = 2, KIND_MASK = 7, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };

#define SHIM_OWNER 3u /* and above: a frame without code */

enum frame_kind {
	FRAME_IS_OBJECT, /* each has a call of the loop */
	FRAME_HAS_MARK,  /* of the first of a call */
	FRAME_HAS_SHIM   /* before the first */
};

enum line_format {
	LINES_BY_BYTES,       /* co_lnotab */
	LINES_BY_RANGES,      /* PEP 626 */
	LINES_BY_INSTRUCTIONS /* locations, PEP 657 */
};

struct layout {
	enum frame_kind frames;
	enum line_format lines;
	uint32_t interpreters; /* in _PyRuntime; 0: there is none */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t thread_next, thread_interpreter, thread_id;
	uint32_t thread_native_id; /* 0: there is none */
	uint32_t thread_status;    /* the same */
	uint32_t thread_frame;     /* the innermost, or the _PyCFrame */
	uint32_t thread_chunk;     /* 0: there is none */
	bool has_cframe;
	uint32_t cframe_frame; /* in that */
	uint32_t frame_code, frame_previous;
	uint32_t frame_at;    /* where it executes */
	uint32_t frame_owner; /* or the mark; one byte */
	uint32_t code_line, code_file, code_name, code_lines;
	uint32_t code_instructions; /* the first, since 3.11 */
	uint32_t object_type;
	uint32_t str_length, str_state;
	uint32_t str_bytes; /* before the text, if that is ASCII */
	uint32_t str_more;  /* before other text there is more */
	uint32_t bytes_length, bytes_text;
	/* how much is read at once */
	uint32_t thread_bytes, frame_bytes, code_bytes;
};

#define OBJECTS \
	.object_type = 8, .str_length = 16, .str_state = 32, .str_bytes = 48, \
	.bytes_length = 16, .bytes_text = 32

#define OLD_THREADS \
	.frames = FRAME_IS_OBJECT, .interpreter_threads = 8, .thread_next = 8, \
	.thread_interpreter = 16, .thread_frame = 24, .frame_code = 32, \
	.frame_previous = 24

/* By the minor version. */
static const struct layout layouts[OWN_OFFSETS] = {
	[6] = {OLD_THREADS, OBJECTS, .thread_id = 152, .frame_at = 120,
	       .code_line = 36, .code_file = 96, .code_name = 104,
	       .code_lines = 112},
	[7] = {OLD_THREADS, OBJECTS, .interpreters = 24, .thread_id = 176,
	       .frame_at = 104, .code_line = 36, .code_file = 96,
	       .code_name = 104, .code_lines = 112},
	[8] = {OLD_THREADS, OBJECTS, .interpreters = 32, .thread_id = 176,
	       .frame_at = 104, .code_line = 40, .code_file = 104,
	       .code_name = 112, .code_lines = 120},
	[9] = {OLD_THREADS, OBJECTS, .interpreters = 32, .thread_id = 176,
	       .frame_at = 104, .code_line = 40, .code_file = 104,
	       .code_name = 112, .code_lines = 120},
	[10] = {OLD_THREADS, OBJECTS, .lines = LINES_BY_RANGES,
		.interpreters = 32, .thread_id = 176, .frame_at = 96,
		.code_line = 40, .code_file = 104, .code_name = 112,
		.code_lines = 120},
	[11] = {OBJECTS,
		.frames = FRAME_HAS_MARK,
		.lines = LINES_BY_INSTRUCTIONS,
		.interpreters = 40,
		.interpreter_threads = 16,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_frame = 56,
		.has_cframe = true,
		.cframe_frame = 8,
		.thread_id = 152,
		.thread_native_id = 160,
		.thread_chunk = 296,
		.frame_code = 32,
		.frame_previous = 48,
		.frame_at = 56,
		.frame_owner = 68,
		.code_line = 72,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_instructions = 184},
	[12] = {OBJECTS,
		.frames = FRAME_HAS_SHIM,
		.lines = LINES_BY_INSTRUCTIONS,
		.interpreters = 40,
		.interpreter_threads = 72,
		.thread_next = 8,
		.thread_interpreter = 16,
		.thread_frame = 56,
		.has_cframe = true,
		.thread_id = 136,
		.thread_native_id = 144,
		.thread_chunk = 232,
		.frame_code = 0,
		.frame_previous = 8,
		.frame_at = 56,
		.frame_owner = 70,
		.code_line = 68,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_instructions = 192},
};

/* _Py_DebugOffsets (Include/internal/pycore_debug_offsets.h, before 3.14 in
 * pycore_runtime.h): words; where each structure's begin, with its size. */
#define OFFSETS_WORDS 104u
#define OFFSETS_VERSION 1u
#define OFFSETS_INTERPRETERS 5u

struct offsets_index {
	unsigned thread, thread_id, frame, code, object, bytes, str;
};

static const struct offsets_index offsets_of[] = {
	[13 - OWN_OFFSETS] = {19, 24, 28, 34, 44, 64, 67},
	[14 - OWN_OFFSETS] = {22, 27, 31, 39, 50, 74, 77},
	[15 - OWN_OFFSETS] = {22, 30, 39, 47, 58, 86, 89},
};

struct swz_python {
	struct swz_script_reader reader;
	struct layout layout;
	uint64_t runtime;     /* 0: 3.6 */
	uint64_t current;     /* of 3.6: _PyThreadState_Current */
	uint64_t interpreter; /* the same: the last that was seen */
	uint64_t code_type, str_type;
	struct swz_script_codes codes;
	/* the chunk that frames are taken from */
	uint64_t chunk_start, chunk_previous;
	size_t chunk_bytes;
	uint8_t chunk[MOST_CHUNK];
};

/* --------------------------------------------------------------- memory */

static bool read_bytes(const struct swz_python *python, uint64_t address,
		       void *into, size_t size)
{
	return address && python->reader.read(python->reader.memory, address,
					      into, size) == size;
}

static bool read_word(const struct swz_python *python, uint64_t address,
		      uint64_t *word)
{
	return read_bytes(python, address, word, sizeof(*word));
}

/* ---------------------------------------------------------------- texts */

static size_t put_utf8(char *to, uint32_t c)
{
	if (c < 0x20 || c == 0x7f)
		c = '?';
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t character(const uint8_t *text, size_t i, size_t width)
{
	uint32_t c = 0;

	memcpy(&c, text + i * width, width);
	return c;
}

/* A str object as UTF-8; to be freed. NULL: it is none. */
static char *read_text(const struct swz_python *python, uint64_t object)
{
	const struct layout *l = &python->layout;
	uint8_t head[HEAD_BYTES], text[4 * MOST_TEXT];
	size_t width, length, used = 0;
	uint32_t state;
	char *copy;

	if (!read_bytes(python, object, head, l->str_bytes) ||
	    swz_script_word(head, l->object_type) != python->str_type)
		return NULL;
	state = swz_script_half(head, l->str_state);
	width = state >> KIND_SHIFT & KIND_MASK;
	length = swz_script_word(head, l->str_length);
	if (!(state & IS_COMPACT) || (width != 1 && width != 2 && width != 4))
		return NULL;
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	/* (between them: its length and a pointer, and before 3.12 one more
	 * length) */
	if (!read_bytes(python,
			object + l->str_bytes +
				(state & IS_ASCII ? 0 : l->str_more),
			text, length * width))
		return NULL;
	copy = swz_allocate(4 * length + 1, 1);
	for (size_t i = 0; i < length; i++)
		used += put_utf8(copy + used, character(text, i, width));
	return copy;
}

/* A bytes object; to be freed. NULL: it is none that could be a table. */
static uint8_t *read_table(const struct swz_python *python, uint64_t object,
			   size_t *size)
{
	const struct layout *l = &python->layout;
	uint8_t head[HEAD_BYTES], *table;

	if (!read_bytes(python, object, head, l->bytes_text))
		return NULL;
	*size = swz_script_word(head, l->bytes_length);
	if (!*size || *size > MOST_LINES)
		return NULL;
	table = swz_allocate(*size, 1);
	if (read_bytes(python, object + l->bytes_text, table, *size))
		return table;
	free(table);
	return NULL;
}

/* ---------------------------------------------------------------- lines */

/* Pairs: so many bytes of code, so many lines. */
static uint32_t line_by_bytes(const struct swz_script_code *code, uint64_t at)
{
	int64_t line = code->line;
	uint64_t past = 0;

	for (size_t i = 0; i + 1 < code->line_bytes; i += 2) {
		past += code->line_table[i];
		if (past > at)
			break;
		line += (int8_t)code->line_table[i + 1];
	}
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* The same, but of no line where that is -128. */
static uint32_t line_by_ranges(const struct swz_script_code *code, uint64_t at)
{
	int64_t line = code->line;
	uint64_t past = 0;

	for (size_t i = 0; i + 1 < code->line_bytes; i += 2) {
		int8_t lines = (int8_t)code->line_table[i + 1];

		past += code->line_table[i];
		line += lines != -128 ? lines : 0;
		if (past > at)
			return lines != -128 && line > 0 && line <= INT32_MAX
				       ? (uint32_t)line
				       : 0;
	}
	return 0;
}

/* Six bits a byte, the lowest first. */
static uint32_t read_varint(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = 0;

	for (unsigned shift = 0; *at < size; shift += 6) {
		uint8_t byte = bytes[(*at)++];

		if (shift < 30)
			value |= (byte & 0x3fu) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

/* An entry begins with a byte whose highest bit is set: its kind, and of how
 * many instructions less one it is (Objects/locations.md). */
static uint32_t line_by_instructions(const struct swz_script_code *code,
				     uint64_t at)
{
	const uint8_t *table = code->line_table;
	size_t size = code->line_bytes;
	int64_t line = code->line;
	uint64_t past = 0;

	for (size_t i = 0; i < size;) {
		uint8_t first = table[i++];
		unsigned kind = first >> 3 & 15;

		if (kind == 13 || kind == 14) {
			uint32_t more = read_varint(table, size, &i);

			line += more & 1 ? -(int64_t)(more >> 1)
					 : (int64_t)(more >> 1);
		} else if (kind >= 10 && kind <= 12) {
			line += kind - 10;
		}
		past += (first & 7u) + 1u;
		if (past > at)
			return kind != 15 && line > 0 && line <= INT32_MAX
				       ? (uint32_t)line
				       : 0;
		while (i < size && !(table[i] & 0x80))
			i++;
	}
	return 0;
}

/* The line that a frame executes; 0: not known. */
static uint32_t line_of(const struct swz_python *python,
			const struct swz_script_code *code, uint64_t address,
			const uint8_t *frame)
{
	const struct layout *l = &python->layout;
	int32_t at;

	if (!code->line_table)
		return 0;
	if (l->lines == LINES_BY_INSTRUCTIONS) {
		uint64_t from = swz_script_word(frame, l->frame_at) -
				(address + l->code_instructions);

		/* (one that has not begun is before its first) */
		return from < MOST_LINES * 8u
			       ? line_by_instructions(code, from / 2)
			       : code->line;
	}
	at = (int32_t)swz_script_half(frame, l->frame_at);
	if (at < 0)
		return code->line;
	return l->lines == LINES_BY_RANGES
		       ? line_by_ranges(code, (uint64_t)at * 2)
		       : line_by_bytes(code, (uint64_t)at);
}

/* ------------------------------------------------------------ functions */

/* Lambdas and comprehensions of one scope are all called the same. */
static char *shown_name(char *name, uint32_t line)
{
	size_t length = name ? strlen(name) : 0;
	char *shown;

	if (length < 2 || name[length - 1] != '>' ||
	    strcmp(name, "<module>") == 0)
		return name;
	shown = swz_print("%s:%u", name, (unsigned)line);
	free(name);
	return shown;
}

/* NULL: there is no code object. */
static const struct swz_script_code *code_of(struct swz_python *python,
					     uint64_t address)
{
	const struct layout *l = &python->layout;
	const struct swz_script_code *known;
	struct swz_script_code *code;
	struct swz_script_object object;
	uint8_t bytes[CODE_BYTES];

	if (!read_bytes(python, address, bytes, l->code_bytes) ||
	    swz_script_word(bytes, l->object_type) != python->code_type)
		return NULL;
	object = (struct swz_script_object){
		.name = swz_script_word(bytes, l->code_name),
		.file = swz_script_word(bytes, l->code_file),
		.lines = swz_script_word(bytes, l->code_lines),
		.line = swz_script_half(bytes, l->code_line)};
	known = swz_script_codes_get(&python->codes, address, &object);
	if (known)
		return known;
	code = swz_script_codes_add(
		&python->codes, address, &object,
		shown_name(read_text(python, object.name), object.line),
		read_text(python, object.file));
	if (code)
		code->line_table = read_table(python, object.lines,
					      &code->line_bytes);
	return code;
}

static const struct swz_script_code *kept_code(struct swz_python *python,
					       uint64_t address)
{
	const struct swz_script_code *code = swz_script_codes_met(
		&python->codes, address, 0);

	return code ? code
		    : swz_script_codes_meet(&python->codes, address, 0,
					    code_of(python, address));
}

/* ----------------------------------------------------------------- threads */

/* A PyThreadState. */
struct state {
	uint64_t rank; /* the lowest is the one that is looked for */
	uint64_t frame, chunk;
};

#define NOT_IT UINT64_MAX

/* Several may be of the thread: those of other interpreters that it has been
 * in. It is in the one with the deepest C frame, or in the active one. Of a
 * thread of which neither register nor number is known it is the one whose own
 * memory, which is behind its stack, is the next; the first thread's is not. */
static uint64_t rank_of(const struct layout *l, const uint8_t *state,
			const struct swz_script_thread *thread)
{
	uint64_t id = swz_script_word(state, l->thread_id);
	uint64_t at = swz_script_word(state, l->thread_frame);

	if (thread->thread_pointer) {
		if (id != thread->thread_pointer)
			return NOT_IT;
	} else if (l->has_cframe) {
		if (at - thread->stack_start >= MOST_STACK)
			return NOT_IT;
	} else if (l->thread_native_id) {
		if (swz_script_word(state, l->thread_native_id) !=
		    (uint64_t)thread->tid)
			return NOT_IT;
	} else {
		return id - thread->stack_start < MOST_STACK
			       ? id - thread->stack_start
			       : NOT_IT - 1;
	}
	if (l->has_cframe)
		return at - thread->stack_start;
	if (l->thread_status &&
	    swz_script_half(state, l->thread_status) & STATE_IS_ACTIVE)
		return 0;
	return at ? 1 : 2;
}

static void look_in(const struct swz_python *python, uint64_t interpreter,
		    const struct swz_script_thread *thread, struct state *found)
{
	const struct layout *l = &python->layout;
	uint8_t state[THREAD_BYTES];
	uint64_t at, rank;

	if (!read_word(python, interpreter + l->interpreter_threads, &at))
		return;
	for (int i = 0; at && i < MOST_THREADS; i++) {
		if (!read_bytes(python, at, state, l->thread_bytes) ||
		    swz_script_word(state, l->thread_interpreter) !=
			    interpreter)
			return;
		rank = rank_of(l, state, thread);
		/* (of the same rank the last one, which was there first) */
		if (rank != NOT_IT && rank <= found->rank)
			*found = (struct state){
				rank, swz_script_word(state, l->thread_frame),
				l->thread_chunk
					? swz_script_word(state,
							  l->thread_chunk)
					: 0};
		at = swz_script_word(state, l->thread_next);
	}
}

/* 3.6 has no list of interpreters that could be found, but the thread that
 * holds the lock. */
static uint64_t first_interpreter(struct swz_python *python)
{
	uint64_t at = 0;

	if (python->runtime) {
		(void)read_word(python,
				python->runtime + python->layout.interpreters,
				&at);
		return at;
	}
	if (read_word(python, python->current, &at) && at)
		(void)read_word(python, at + python->layout.thread_interpreter,
				&python->interpreter);
	return python->interpreter;
}

/* False: it has none that runs Python code. */
static bool find_thread(struct swz_python *python,
			const struct swz_script_thread *thread,
			struct state *found)
{
	uint64_t interpreter = first_interpreter(python);

	*found = (struct state){.rank = NOT_IT};
	for (int i = 0; interpreter && i < MOST_INTERPRETERS; i++) {
		look_in(python, interpreter, thread, found);
		if (!read_word(python,
			       interpreter + python->layout.interpreter_next,
			       &interpreter))
			break;
	}
	return found->rank != NOT_IT;
}

/* ------------------------------------------------------------------ frames */

static void take_chunk(struct swz_python *python, uint64_t start)
{
	uint8_t head[CHUNK_BYTES];
	uint64_t size;

	python->chunk_start = start;
	python->chunk_bytes = 0;
	python->chunk_previous = 0;
	if (!read_bytes(python, start, head, sizeof(head)))
		return;
	python->chunk_previous = swz_script_word(head, CHUNK_PREVIOUS);
	size = swz_script_word(head, CHUNK_SIZE);
	if (size <= MOST_CHUNK)
		python->chunk_bytes = python->reader.read(
			python->reader.memory, start, python->chunk, size);
}

static bool read_frame(struct swz_python *python, uint64_t address,
		       uint8_t *frame)
{
	size_t bytes = python->layout.frame_bytes;

	if (python->chunk_bytes >= bytes &&
	    address - python->chunk_start <= python->chunk_bytes - bytes) {
		memcpy(frame, python->chunk + (address - python->chunk_start),
		       bytes);
		return true;
	}
	/* those of generators lie elsewhere; the thread's go on below them */
	if (!read_bytes(python, address, frame, bytes))
		return false;
	if (python->chunk_previous &&
	    address - python->chunk_previous < MOST_CHUNK)
		take_chunk(python, python->chunk_previous);
	return true;
}

/* Whether it is one that C code has called, as far as it says so itself. */
static bool is_entry(const struct layout *l, const uint8_t *frame)
{
	return l->frames == FRAME_IS_OBJECT ||
	       (l->frames == FRAME_HAS_MARK && frame[l->frame_owner]);
}

/* False: there is no code. */
static bool add_frame(struct swz_python *python, const uint8_t *frame,
		      struct swz_script_frame *to)
{
	const struct layout *l = &python->layout;
	/* (the lowest bits of 3.14 say how it is counted) */
	uint64_t address = swz_script_word(frame, l->frame_code) & ~3ull;

	to->code = kept_code(python, address);
	if (!to->code)
		return false;
	to->line = line_of(python, to->code, address, frame);
	to->is_entry = is_entry(l, frame);
	return true;
}

static enum swz_script_result read_frames(struct swz_python *python,
					  uint64_t at,
					  struct swz_script_frame *frames,
					  size_t most, size_t *count)
{
	const struct layout *l = &python->layout;
	uint8_t frame[FRAME_BYTES];
	size_t left = MOST_FRAMES;

	for (; at && *count < most && left--;
	     at = swz_script_word(frame, l->frame_previous)) {
		if (!read_frame(python, at, frame))
			return SWZ_SCRIPT_LOST;
		if (l->frames == FRAME_HAS_SHIM &&
		    frame[l->frame_owner] >= SHIM_OWNER) {
			if (*count)
				frames[*count - 1].is_entry = true;
			continue;
		}
		if (!add_frame(python, frame, &frames[*count]))
			return SWZ_SCRIPT_LOST;
		(*count)++;
	}
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

static enum swz_script_result python_frames(
	struct swz_script_reader *reader,
	const struct swz_script_thread *thread, struct swz_script_frame *frames,
	size_t most, size_t *count)
{
	struct swz_python *python = (struct swz_python *)reader;
	struct state state;
	uint64_t at;

	*count = 0;
	if (!find_thread(python, thread, &state))
		return SWZ_SCRIPT_NONE;
	at = state.frame;
	if (python->layout.has_cframe &&
	    !read_word(python, at + python->layout.cframe_frame, &at))
		return SWZ_SCRIPT_LOST;
	(void)swz_script_codes_begin_stack(&python->codes);
	python->chunk_bytes = python->chunk_previous = 0;
	if (state.chunk)
		take_chunk(python, state.chunk);
	return read_frames(python, at, frames, most, count);
}

/* -------------------------------------------------------------- versions */

/* Before 3.11 no variable says which it is, so it is told by the functions of
 * the C interface that came with each. 0: not known. */
static unsigned minor_by_functions(const struct swz_script_module *module)
{
	static const struct {
		const char *function;
		unsigned minor;
	} since[] = {
		{"PyModule_AddObjectRef", 10},    {"PyFrame_GetCode", 9},
		{"PyCode_NewWithPosOnlyArgs", 8}, {"_PyRuntime", 7},
		{"_PyThreadState_Current", 6},
	};

	for (size_t i = 0; i < sizeof(since) / sizeof(*since); i++)
		if (module->symbol(module->module, since[i].function))
			return since[i].minor;
	return 0;
}

/* Of 3.x. 0: it is not known, or not 3. */
static unsigned minor_of(const struct swz_script_module *module)
{
	uint64_t version, at = module->symbol(module->module, "Py_Version");

	if (!at)
		return minor_by_functions(module);
	if (module->read(module->memory, at, &version, sizeof(version)) !=
		    sizeof(version) ||
	    version >> 24 != 3)
		return 0;
	return (unsigned)(version >> 16 & 0xff);
}

/* What the interpreter says of itself. Each number is checked for what it is
 * used for; that of the version after which the table is known is, too. */
static bool fill_own(struct layout *l, const uint64_t *w, unsigned minor)
{
	const struct offsets_index *i = &offsets_of[minor - OWN_OFFSETS];

	if (memcmp(w, "xdebugpy", 8) != 0 ||
	    w[OFFSETS_VERSION] >> 16 != (3u << 8 | minor))
		return false;
	for (size_t k = OFFSETS_INTERPRETERS; k < OFFSETS_WORDS; k++)
		if (k <= i->str + 3u && w[k] > UINT32_MAX)
			return false;
	*l = (struct layout){
		.frames = FRAME_HAS_SHIM,
		.lines = LINES_BY_INSTRUCTIONS,
		.interpreters = (uint32_t)w[OFFSETS_INTERPRETERS],
		.interpreter_next = (uint32_t)w[8],
		.interpreter_threads = (uint32_t)w[9],
		.thread_next = (uint32_t)w[i->thread + 2],
		.thread_interpreter = (uint32_t)w[i->thread + 3],
		.thread_frame = (uint32_t)w[i->thread + 4],
		.thread_id = (uint32_t)w[i->thread_id],
		.thread_native_id = (uint32_t)w[i->thread_id + 1],
		.thread_chunk = (uint32_t)w[i->thread_id + 2],
		.thread_status = (uint32_t)w[i->thread_id + 3],
		.frame_previous = (uint32_t)w[i->frame + 1],
		.frame_code = (uint32_t)w[i->frame + 2],
		.frame_at = (uint32_t)w[i->frame + 3],
		.frame_owner = (uint32_t)w[i->frame + 5],
		.code_file = (uint32_t)w[i->code + 1],
		.code_name = (uint32_t)w[i->code + 3],
		.code_lines = (uint32_t)w[i->code + 4],
		.code_line = (uint32_t)w[i->code + 5],
		.code_instructions = (uint32_t)w[i->code + 9],
		.object_type = (uint32_t)w[i->object + 1],
		.bytes_length = (uint32_t)w[i->bytes + 1],
		.bytes_text = (uint32_t)w[i->bytes + 2],
		.str_state = (uint32_t)w[i->str + 1],
		.str_length = (uint32_t)w[i->str + 2],
		.str_bytes = (uint32_t)w[i->str + 3],
	};
	return true;
}

static uint32_t past_last(const uint32_t *offsets, size_t count)
{
	uint32_t last = 0;

	for (size_t i = 0; i < count; i++)
		if (offsets[i] > last)
			last = offsets[i];
	return last < UINT32_MAX - 8 ? last + 8 : UINT32_MAX;
}

#define PAST(...) \
	past_last((const uint32_t[]){__VA_ARGS__}, \
		  sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t))

/* How much of each structure is read. False: it has no room. */
static bool set_sizes(struct layout *l, unsigned minor)
{
	l->thread_bytes = PAST(l->thread_next, l->thread_interpreter,
			       l->thread_id, l->thread_native_id,
			       l->thread_status, l->thread_frame,
			       l->thread_chunk);
	l->frame_bytes = PAST(l->frame_code, l->frame_previous, l->frame_at,
			      l->frame_owner);
	l->code_bytes = PAST(l->code_line, l->code_file, l->code_name,
			     l->code_lines, l->object_type);
	l->str_more = minor < 12 ? 24 : 16;
	if (minor == 12)
		l->str_bytes = 40;
	return l->thread_bytes <= THREAD_BYTES &&
	       l->frame_bytes <= FRAME_BYTES && l->code_bytes <= CODE_BYTES &&
	       PAST(l->str_length, l->str_state, l->object_type) <=
		       l->str_bytes &&
	       l->str_bytes <= HEAD_BYTES &&
	       l->bytes_length <= HEAD_BYTES - 8 &&
	       l->bytes_text <= HEAD_BYTES &&
	       l->bytes_text >= l->bytes_length + 8;
}

static bool find_layout(const struct swz_script_module *module,
			uint64_t runtime, struct layout *l)
{
	uint64_t words[OFFSETS_WORDS];
	unsigned minor = minor_of(module);

	if (minor < OLDEST || minor > NEWEST)
		return false;
	if (minor < OWN_OFFSETS)
		*l = layouts[minor];
	else if (module->read(module->memory, runtime, words, sizeof(words)) !=
			 sizeof(words) ||
		 !fill_own(l, words, minor))
		return false;
	return (runtime || !l->interpreters) && set_sizes(l, minor);
}

/* -------------------------------------------------------------- life */

static struct swz_script_reader *python_open(
	const struct swz_script_module *module)
{
	uint64_t loop = module->symbol(module->module,
				       "_PyEval_EvalFrameDefault");
	uint64_t code_type = module->symbol(module->module, "PyCode_Type");
	uint64_t str_type = module->symbol(module->module, "PyUnicode_Type");
	uint64_t runtime, current;
	struct swz_python *python;
	struct layout layout;

	if (!loop || !code_type || !str_type)
		return NULL;
	runtime = module->symbol(module->module, "_PyRuntime");
	current = module->symbol(module->module, "_PyThreadState_Current");
	if (!find_layout(module, runtime, &layout))
		return NULL;
	python = swz_allocate(1, sizeof(*python));
	python->reader = (struct swz_script_reader){
		.language = &swz_python_language,
		.read = module->read,
		.memory = module->memory,
		.loop = loop};
	python->layout = layout;
	python->runtime = runtime;
	python->current = current;
	python->code_type = code_type;
	python->str_type = str_type;
	return &python->reader;
}

static void python_close(struct swz_script_reader *reader)
{
	struct swz_python *python = (struct swz_python *)reader;

	swz_script_codes_free(&python->codes);
	free(python);
}

const struct swz_script_language swz_python_language = {
	.name = "Python",
	.program = "python",
	.libraries = {"libpython3."},
	.open = python_open,
	.frames = python_frames,
	.close = python_close,
};
