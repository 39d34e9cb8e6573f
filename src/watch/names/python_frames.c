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
#include "watch/names/python_memory.h"

#define OLDEST 6u /* of 3.x */
#define OWN_OFFSETS 13u
#define NEWEST 15u

#define MOST_THREADS 4096
#define MOST_INTERPRETERS 64
#define MOST_CHUNK 65536u
#define MOST_LINES 65536u
#define MOST_STACK (1ull << 30)
#define MOST_FRAMES 65536u
#define MOST_LINKS 256u /* between a coroutine and its event loop */

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

#define SHIM_OWNER 3u /* and above: a frame without code */

#define OBJECTS \
	.object_type = 8, .str_length = 16, .str_state = 32, .str_bytes = 48, \
	.bytes_length = 16, .bytes_text = 32

#define OLD_THREADS \
	.frames = SWZ_FRAME_IS_OBJECT, .interpreter_threads = 8, \
	.thread_next = 8, .thread_interpreter = 16, .thread_frame = 24, \
	.frame_code = 32, .frame_previous = 24

/* By the minor version. */
static const struct swz_python_layout layouts[OWN_OFFSETS] = {
	[6] = {OLD_THREADS, OBJECTS, .thread_id = 152, .frame_at = 120,
	       .code_line = 36, .code_file = 96, .code_name = 104,
	       .code_lines = 112},
	[7] = {OLD_THREADS, OBJECTS, .interpreters = 24, .thread_id = 176,
	       .frame_at = 104, .code_line = 36, .code_file = 96,
	       .code_name = 104, .code_lines = 112},
	[8] = {OLD_THREADS, OBJECTS, .frame_variables = 360,
	       .top = SWZ_TOP_IS_POINTER, .frame_top = 72, .interpreters = 32,
	       .thread_id = 176, .frame_at = 104, .code_line = 40,
	       .code_file = 104, .code_name = 112, .code_lines = 120},
	[9] = {OLD_THREADS, OBJECTS, .frame_variables = 360,
	       .top = SWZ_TOP_IS_POINTER, .frame_top = 72, .interpreters = 32,
	       .thread_id = 176, .frame_at = 104, .code_line = 40,
	       .code_file = 104, .code_name = 112, .code_lines = 120},
	[10] = {OLD_THREADS, OBJECTS, .frame_variables = 352,
		.top = SWZ_TOP_IS_DEPTH, .frame_top = 80,
		.lines = SWZ_LINES_BY_RANGES, .interpreters = 32,
		.thread_id = 176, .frame_at = 96, .code_line = 40,
		.code_file = 104, .code_name = 112, .code_lines = 120},
	[11] = {OBJECTS,
		.frames = SWZ_FRAME_HAS_MARK,
		.lines = SWZ_LINES_BY_INSTRUCTIONS,
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
		.frame_variables = 72,
		.top = SWZ_TOP_IS_INDEX,
		.frame_top = 64,
		.code_line = 72,
		.code_file = 112,
		.code_name = 128,
		.code_lines = 136,
		.code_instructions = 184},
	[12] = {OBJECTS,
		.frames = SWZ_FRAME_HAS_SHIM,
		.lines = SWZ_LINES_BY_INSTRUCTIONS,
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
		.frame_variables = 72,
		.top = SWZ_TOP_IS_INDEX,
		.frame_top = 64,
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
	struct swz_python_memory memory;
	uint64_t runtime;     /* 0: 3.6 */
	uint64_t current;     /* of 3.6: _PyThreadState_Current */
	uint64_t interpreter; /* the same: the last that was seen */
	struct swz_script_codes codes;
	struct swz_python_tasks tasks;
	/* the chunk that frames are taken from */
	uint64_t chunk_start, chunk_previous;
	size_t chunk_bytes;
	uint8_t chunk[MOST_CHUNK];
};

static bool read_bytes(const struct swz_python *python, uint64_t address,
		       void *into, size_t size)
{
	return swz_python_bytes(&python->memory, address, into, size);
}

static bool read_word(const struct swz_python *python, uint64_t address,
		      uint64_t *word)
{
	return swz_python_word(&python->memory, address, word);
}

/* ---------------------------------------------------------------- lines */

/* A bytes object; to be freed. NULL: it is none that could be a table. */
static uint8_t *read_table(const struct swz_python *python, uint64_t object,
			   size_t *size)
{
	const struct swz_python_layout *l = &python->memory.layout;
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
	const struct swz_python_layout *l = &python->memory.layout;
	int32_t at;

	if (!code->line_table)
		return 0;
	if (l->lines == SWZ_LINES_BY_INSTRUCTIONS) {
		uint64_t from = swz_script_word(frame, l->frame_at) -
				(address + l->code_instructions);

		/* (one that has not begun is before its first) */
		return from < UINT64_C(8) * MOST_LINES
			       ? line_by_instructions(code, from / 2)
			       : code->line;
	}
	at = (int32_t)swz_script_half(frame, l->frame_at);
	if (at < 0)
		return code->line;
	return l->lines == SWZ_LINES_BY_RANGES
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
	const struct swz_python_layout *l = &python->memory.layout;
	const struct swz_script_code *known;
	struct swz_script_code *code;
	struct swz_script_object object;
	uint8_t bytes[CODE_BYTES];

	if (!read_bytes(python, address, bytes, l->code_bytes) ||
	    swz_script_word(bytes, l->object_type) !=
		    python->memory.types[SWZ_TYPE_CODE])
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
		shown_name(swz_python_text(&python->memory, object.name),
			   object.line),
		swz_python_text(&python->memory, object.file));
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
static uint64_t rank_of(const struct swz_python_layout *l, const uint8_t *state,
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
	const struct swz_python_layout *l = &python->memory.layout;
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
				python->runtime +
					python->memory.layout.interpreters,
				&at);
		return at;
	}
	if (read_word(python, python->current, &at) && at)
		(void)read_word(python,
				at + python->memory.layout.thread_interpreter,
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
			       interpreter +
				       python->memory.layout.interpreter_next,
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
		python->chunk_bytes = python->memory.read(
			python->memory.context, start, python->chunk, size);
}

static bool read_frame(struct swz_python *python, uint64_t address,
		       uint8_t *frame)
{
	size_t bytes = python->memory.layout.frame_bytes;

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

/* True if it is one that C code has called, as far as it says so itself. */
static bool is_entry(const struct swz_python_layout *l, const uint8_t *frame)
{
	return l->frames == SWZ_FRAME_IS_OBJECT ||
	       (l->frames == SWZ_FRAME_HAS_MARK && frame[l->frame_owner]);
}

/* False: there is no code. */
static bool add_frame(struct swz_python *python, const uint8_t *frame,
		      struct swz_script_frame *to)
{
	const struct swz_python_layout *l = &python->memory.layout;
	/* (the lowest bits of 3.14 say how it is counted) */
	uint64_t address = swz_script_word(frame, l->frame_code) & ~3ull;

	to->code = kept_code(python, address);
	if (!to->code)
		return false;
	to->line = line_of(python, to->code, address, frame);
	to->is_entry = is_entry(l, frame);
	return true;
}

/* The frames of a stack as they are added, the innermost first. */
struct adding {
	struct swz_script_frame *frames;
	size_t most, count;
	uint64_t last; /* the frame that was added last; 0: none */
	bool has_task; /* the innermost event loop has been met */
};

/* Handle._run, by which an event loop runs all that it does. */
static bool is_event_loop(const struct swz_script_code *code)
{
	static const char file[] = "asyncio/events.py";
	size_t length = strlen(code->file);

	return (strcmp(code->name, "Handle._run") == 0 ||
		strcmp(code->name, "_run") == 0) &&
	       length >= sizeof(file) - 1 &&
	       strcmp(code->file + length - (sizeof(file) - 1), file) == 0;
}

/* The frame at AT, to which the frame that was added last returns by way of C,
 * may be an event loop's: then what it runs is a task, and others may await
 * that. */
static void add_tasks(struct swz_python *python, struct adding *a, uint64_t at)
{
	uint32_t variables = python->memory.layout.frame_variables;
	struct swz_python_link links[MOST_LINKS];
	size_t before = a->count, count;
	uint64_t handle;
	uint8_t frame[FRAME_BYTES];

	a->has_task = true;
	if (!a->last || !variables ||
	    !read_word(python, at + variables, &handle))
		return;
	count = swz_python_tasks_chain(&python->tasks, &python->memory,
				       handle & ~7ull, a->last, links,
				       MOST_LINKS);
	for (size_t i = 0; i < count && a->count < a->most; i++) {
		struct swz_script_frame *to = &a->frames[a->count];

		if (links[i].task)
			*to = (struct swz_script_frame){.code = links[i].task};
		else if (!read_bytes(python, links[i].frame, frame,
				     python->memory.layout.frame_bytes) ||
			 !add_frame(python, frame, to))
			break;
		to->is_entry = false;
		a->count++;
	}
	/* they are all in the call of the loop that runs the coroutine */
	if (a->count > before) {
		a->frames[before - 1].is_entry = false;
		a->frames[a->count - 1].is_entry = true;
	}
}

static enum swz_script_result read_frames(struct swz_python *python,
					  uint64_t at, struct adding *a)
{
	const struct swz_python_layout *l = &python->memory.layout;
	uint8_t frame[FRAME_BYTES];
	struct swz_script_frame next;
	size_t left = MOST_FRAMES;

	for (; at && a->count < a->most && left--;
	     at = swz_script_word(frame, l->frame_previous)) {
		if (!read_frame(python, at, frame))
			return SWZ_SCRIPT_LOST;
		if (l->frames == SWZ_FRAME_HAS_SHIM &&
		    frame[l->frame_owner] >= SHIM_OWNER) {
			if (a->count)
				a->frames[a->count - 1].is_entry = true;
			continue;
		}
		if (!add_frame(python, frame, &next))
			return SWZ_SCRIPT_LOST;
		if (!a->has_task && is_event_loop(next.code))
			add_tasks(python, a, at);
		if (a->count < a->most)
			a->frames[a->count++] = next;
		a->last = at;
	}
	return a->count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

static enum swz_script_result python_frames(
	struct swz_script_reader *reader,
	const struct swz_script_thread *thread, struct swz_script_frame *frames,
	size_t most, size_t *count)
{
	struct swz_python *python = (struct swz_python *)reader;
	struct adding adding = {.frames = frames, .most = most};
	enum swz_script_result result;
	struct state state;
	uint64_t at;

	*count = 0;
	if (!find_thread(python, thread, &state))
		return SWZ_SCRIPT_NONE;
	at = state.frame;
	if (python->memory.layout.has_cframe &&
	    !read_word(python, at + python->memory.layout.cframe_frame, &at))
		return SWZ_SCRIPT_LOST;
	(void)swz_script_codes_begin_stack(&python->codes);
	python->chunk_bytes = python->chunk_previous = 0;
	if (state.chunk)
		take_chunk(python, state.chunk);
	result = read_frames(python, at, &adding);
	*count = adding.count;
	return result;
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

/* The x of 3.x. 0: it is not known, or not 3. */
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

/* The interpreter describes itself (_Py_DebugOffsets). Each number is checked
 * for what it is used for; that of the version after which the table is known
 * is, too. */
static bool fill_own(struct swz_python_layout *l, const uint64_t *w,
		     unsigned minor)
{
	const struct offsets_index *i = &offsets_of[minor - OWN_OFFSETS];

	if (memcmp(w, "xdebugpy", 8) != 0 ||
	    w[OFFSETS_VERSION] >> 16 != (3u << 8 | minor))
		return false;
	for (size_t k = OFFSETS_INTERPRETERS; k < OFFSETS_WORDS; k++)
		if (k <= i->str + 3u && w[k] > UINT32_MAX)
			return false;
	*l = (struct swz_python_layout){
		.frames = SWZ_FRAME_HAS_SHIM,
		.lines = SWZ_LINES_BY_INSTRUCTIONS,
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
		.frame_variables = (uint32_t)w[i->frame + 4],
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
	/* 3.13 has the index before the variables and does not tell */
	l->top = minor > OWN_OFFSETS ? SWZ_TOP_IS_POINTER : SWZ_TOP_IS_INDEX;
	l->frame_top = minor > OWN_OFFSETS ? (uint32_t)w[i->frame + 6]
					   : l->frame_variables - 8;
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
static bool set_sizes(struct swz_python_layout *l, unsigned minor)
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
			uint64_t runtime, struct swz_python_layout *l)
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

static const char *const type_names[SWZ_PYTHON_TYPES] = {
	[SWZ_TYPE_CODE] = "PyCode_Type",
	[SWZ_TYPE_STR] = "PyUnicode_Type",
	[SWZ_TYPE_INT] = "PyLong_Type",
	[SWZ_TYPE_TUPLE] = "PyTuple_Type",
	[SWZ_TYPE_CELL] = "PyCell_Type",
	[SWZ_TYPE_METHOD] = "PyMethod_Type",
	[SWZ_TYPE_COROUTINE] = "PyCoro_Type",
	[SWZ_TYPE_GENERATOR] = "PyGen_Type",
	[SWZ_TYPE_ASYNC_GENERATOR] = "PyAsyncGen_Type",
};

static struct swz_script_reader *python_open(
	const struct swz_script_module *module)
{
	uint64_t loop = module->symbol(module->module,
				       "_PyEval_EvalFrameDefault");
	struct swz_python_memory memory = {.read = module->read,
					   .context = module->memory};
	uint64_t runtime, current;
	struct swz_python *python;

	for (size_t i = 0; i < SWZ_PYTHON_TYPES; i++)
		memory.types[i] = module->symbol(module->module, type_names[i]);
	if (!loop || !memory.types[SWZ_TYPE_CODE] ||
	    !memory.types[SWZ_TYPE_STR])
		return NULL;
	runtime = module->symbol(module->module, "_PyRuntime");
	current = module->symbol(module->module, "_PyThreadState_Current");
	if (!find_layout(module, runtime, &memory.layout))
		return NULL;
	python = swz_allocate(1, sizeof(*python));
	python->reader = (struct swz_script_reader){
		.language = &swz_python_language,
		.read = module->read,
		.memory = module->memory,
		.loop = loop};
	python->memory = memory;
	python->runtime = runtime;
	python->current = current;
	return &python->reader;
}

static void python_close(struct swz_script_reader *reader)
{
	struct swz_python *python = (struct swz_python *)reader;

	swz_script_codes_free(&python->codes);
	swz_python_tasks_free(&python->tasks);
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
