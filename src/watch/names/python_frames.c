/* The layout of CPython 3.11 (Include/internal/pycore_*.h, Include/cpython/):
 * all of 3.11.x have it. A frame is a _PyInterpreterFrame; frames of one thread
 * are linked, and most of them lie behind each other in a chunk of memory that
 * is read at once.
 *
 * A code object is known by its address, and looked at anew in each stack,
 * since another one may have taken its place. */

#include "watch/names/python_frames.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "watch/names/script_codes.h"

enum {
	/* _PyRuntimeState */
	RUNTIME_INTERPRETERS = 40,
	/* PyInterpreterState */
	INTERPRETER_NEXT = 0,
	INTERPRETER_THREADS = 16,
	/* PyThreadState */
	THREAD_NEXT = 8,
	THREAD_INTERPRETER = 16,
	THREAD_CFRAME = 56,
	THREAD_ID = 152, /* pthread_self(): what %fs holds */
	THREAD_CHUNK = 296,
	THREAD_BYTES = 304,
	/* _PyCFrame */
	CFRAME_FRAME = 8,
	/* _PyInterpreterFrame */
	FRAME_CODE = 32,
	FRAME_PREVIOUS = 48,
	FRAME_IS_ENTRY = 68,
	FRAME_BYTES = 72,
	/* _PyStackChunk */
	CHUNK_PREVIOUS = 0,
	CHUNK_SIZE = 8,
	CHUNK_BYTES = 24,
	/* PyObject */
	OBJECT_TYPE = 8,
	/* PyCodeObject */
	CODE_LINE = 72,
	CODE_FILE = 112,
	CODE_QUALNAME = 128,
	CODE_BYTES = 136,
	/* PyASCIIObject, PyCompactUnicodeObject */
	STR_LENGTH = 16,
	STR_STATE = 32,
	STR_ASCII_TEXT = 48,
	STR_TEXT = 72,
};

enum { KIND_SHIFT = 2, KIND_MASK = 7, IS_COMPACT = 1 << 5, IS_ASCII = 1 << 6 };

#define VERSION 0x030bu /* of Py_Version the upper half */
#define MOST_THREADS 4096
#define MOST_INTERPRETERS 64
#define MOST_CHUNK 65536u
#define MOST_TEXT 1024u
#define MOST_STACK (1ull << 30)

struct swz_python {
	struct swz_python_places places;
	swz_script_read *read;
	void *context;
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
	return address &&
	       python->read(python->context, address, into, size) == size;
}

static bool read_word(const struct swz_python *python, uint64_t address,
		      uint64_t *word)
{
	return read_bytes(python, address, word, sizeof(*word));
}

static uint32_t half_of(const uint8_t *bytes, size_t at)
{
	uint32_t half;

	memcpy(&half, bytes + at, sizeof(half));
	return half;
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
	uint8_t head[STR_ASCII_TEXT], text[4 * MOST_TEXT];
	size_t width, length, used = 0;
	uint32_t state;
	char *copy;

	if (!read_bytes(python, object, head, sizeof(head)) ||
	    swz_script_word(head, OBJECT_TYPE) != python->places.str_type)
		return NULL;
	state = half_of(head, STR_STATE);
	width = state >> KIND_SHIFT & KIND_MASK;
	length = swz_script_word(head, STR_LENGTH);
	if (!(state & IS_COMPACT) || (width != 1 && width != 2 && width != 4))
		return NULL;
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	if (!read_bytes(python,
			object + (state & IS_ASCII ? STR_ASCII_TEXT : STR_TEXT),
			text, length * width))
		return NULL;
	copy = swz_allocate(4 * length + 1, 1);
	for (size_t i = 0; i < length; i++)
		used += put_utf8(copy + used, character(text, i, width));
	return copy;
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
	const struct swz_script_code *known;
	struct swz_script_object object;
	uint8_t bytes[CODE_BYTES];

	if (!read_bytes(python, address, bytes, sizeof(bytes)) ||
	    swz_script_word(bytes, OBJECT_TYPE) != python->places.code_type)
		return NULL;
	object = (struct swz_script_object){
		.name = swz_script_word(bytes, CODE_QUALNAME),
		.file = swz_script_word(bytes, CODE_FILE),
		.line = half_of(bytes, CODE_LINE)};
	known = swz_script_codes_get(&python->codes, address, &object);
	if (known)
		return known;
	return swz_script_codes_add(
		&python->codes, address, &object,
		shown_name(read_text(python, object.name), object.line),
		read_text(python, object.file));
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

static bool is_of_thread(const uint8_t *state, uint64_t thread_pointer,
			 uint64_t stack_start)
{
	if (thread_pointer)
		return swz_script_word(state, THREAD_ID) == thread_pointer;
	/* the C frames lie in its stack */
	return swz_script_word(state, THREAD_CFRAME) - stack_start < MOST_STACK;
}

/* Whether one of an interpreter's threads is it. Several may be: those of other
 * interpreters that it has been in. It is in the one with the deepest frame. */
static void look_in(const struct swz_python *python, uint64_t interpreter,
		    uint64_t thread_pointer, uint64_t stack_start,
		    uint8_t *found)
{
	uint8_t state[THREAD_BYTES];
	uint64_t at;

	if (!read_word(python, interpreter + INTERPRETER_THREADS, &at))
		return;
	for (int i = 0; at && i < MOST_THREADS; i++) {
		if (!read_bytes(python, at, state, sizeof(state)) ||
		    swz_script_word(state, THREAD_INTERPRETER) != interpreter)
			return;
		if (is_of_thread(state, thread_pointer, stack_start) &&
		    swz_script_word(state, THREAD_CFRAME) - stack_start <
			    swz_script_word(found, THREAD_CFRAME) - stack_start)
			memcpy(found, state, sizeof(state));
		at = swz_script_word(state, THREAD_NEXT);
	}
}

/* Its PyThreadState; false: it has none that runs Python code. */
static bool find_thread(const struct swz_python *python,
			uint64_t thread_pointer, uint64_t stack_start,
			uint8_t *state)
{
	uint64_t interpreter, none = stack_start - 1;

	memset(state, 0, THREAD_BYTES);
	memcpy(state + THREAD_CFRAME, &none, sizeof(none));
	if (!read_word(python, python->places.runtime + RUNTIME_INTERPRETERS,
		       &interpreter))
		return false;
	for (int i = 0; interpreter && i < MOST_INTERPRETERS; i++) {
		look_in(python, interpreter, thread_pointer, stack_start,
			state);
		if (!read_word(python, interpreter + INTERPRETER_NEXT,
			       &interpreter))
			break;
	}
	return swz_script_word(state, THREAD_INTERPRETER) != 0;
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
		python->chunk_bytes = python->read(python->context, start,
						   python->chunk, size);
}

static bool is_in_chunk(const struct swz_python *python, uint64_t address)
{
	return python->chunk_bytes >= FRAME_BYTES &&
	       address - python->chunk_start <=
		       python->chunk_bytes - FRAME_BYTES;
}

static bool read_frame(struct swz_python *python, uint64_t address,
		       uint8_t *frame)
{
	/* those of generators lie elsewhere; the thread's go on below them */
	if (!is_in_chunk(python, address)) {
		if (!read_bytes(python, address, frame, FRAME_BYTES))
			return false;
		if (python->chunk_previous &&
		    address - python->chunk_previous < MOST_CHUNK)
			take_chunk(python, python->chunk_previous);
		return true;
	}
	memcpy(frame, python->chunk + (address - python->chunk_start),
	       FRAME_BYTES);
	return true;
}

enum swz_script_result swz_python_frames(struct swz_python *python,
					 uint64_t thread_pointer,
					 uint64_t stack_start,
					 struct swz_script_frame *frames,
					 size_t most, size_t *count)
{
	uint8_t state[THREAD_BYTES], frame[FRAME_BYTES];
	uint64_t at;

	*count = 0;
	if (!find_thread(python, thread_pointer, stack_start, state))
		return SWZ_SCRIPT_NONE;
	if (!read_word(python,
		       swz_script_word(state, THREAD_CFRAME) + CFRAME_FRAME,
		       &at))
		return SWZ_SCRIPT_LOST;
	if (!at)
		return SWZ_SCRIPT_NONE;
	swz_script_codes_begin_stack(&python->codes);
	take_chunk(python, swz_script_word(state, THREAD_CHUNK));
	for (; at && *count < most;
	     at = swz_script_word(frame, FRAME_PREVIOUS)) {
		const struct swz_script_code *code;

		if (!read_frame(python, at, frame))
			return SWZ_SCRIPT_LOST;
		code = kept_code(python, swz_script_word(frame, FRAME_CODE));
		if (!code)
			return SWZ_SCRIPT_LOST;
		frames[(*count)++] = (struct swz_script_frame){
			code, frame[FRAME_IS_ENTRY] != 0};
	}
	return SWZ_SCRIPT_READ;
}

/* -------------------------------------------------------------- life */

bool swz_python_is_known(uint64_t version)
{
	return version >> 16 == VERSION;
}

struct swz_python *swz_python_open(const struct swz_python_places *places,
				   swz_script_read *read, void *context)
{
	struct swz_python *python = swz_allocate(1, sizeof(*python));
	uint64_t version = 0;

	python->places = *places;
	python->read = read;
	python->context = context;
	if (read_word(python, places->version, &version) &&
	    swz_python_is_known(version))
		return python;
	free(python);
	return NULL;
}

void swz_python_close(struct swz_python *python)
{
	if (!python)
		return;
	swz_script_codes_free(&python->codes);
	free(python);
}
