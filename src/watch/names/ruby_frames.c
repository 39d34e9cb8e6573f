/* The layout of Ruby 3.1 for x86-64, as its own headers have it: all of 3.1.x
 * are alike. The virtual machine has a list of ractors, each has one of
 * threads; a thread points to the execution context that it is in, of its own
 * or of a fiber. The context has a stack of its own: values grow up from its
 * start, frames grow down from its end.
 *
 * What kind of frame it is stands where its variables are: in that stack or,
 * when a block is kept, in the heap. */

#include "watch/names/ruby_frames.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "watch/names/script_codes.h"

enum {
	WORD = 8,
	/* rb_vm_t */
	VM_RACTORS = 8,
	/* rb_ractor_t */
	RACTOR_THREADS = 304,
	RACTOR_NODE = 568, /* in the machine's list */
	/* rb_thread_t, which begins with its place in the ractor's list */
	THREAD_VM = 32,
	THREAD_CONTEXT = 40,
	THREAD_ID = 80, /* pthread_self(): what %fs holds */
	THREAD_BYTES = 88,
	/* rb_execution_context_t */
	CONTEXT_STACK = 0,
	CONTEXT_STACK_WORDS = 8,
	CONTEXT_FRAME = 16,
	CONTEXT_C_STACK = 144, /* its highest address */
	CONTEXT_C_STACK_BYTES = 160,
	CONTEXT_BYTES = 168,
	/* rb_control_frame_t */
	FRAME_CODE = 16,
	FRAME_VARIABLES = 32,
	FRAME_BYTES = 64,
	/* rb_iseq_t */
	CODE_BODY = 16,
	CODE_BYTES = 24,
	/* struct rb_iseq_constant_body */
	BODY_INSTRUCTIONS = 8,
	BODY_PATH = 64,
	BODY_LABEL = 80,
	BODY_LINE = 88,
	BODY_BYTES = 96,
	/* struct RString, struct RArray */
	OBJECT_INSIDE = 16, /* of short ones */
	STRING_LENGTH = 16,
	STRING_TEXT = 24,
	ARRAY_ITEMS = 32,
	OBJECT_BYTES = 40
};

/* What kind of frame: ep[0] */
#define KIND_MASK 0x7fff0001u
#define KIND_C 0x55550001u
#define KIND_C_BLOCK 0x66660001u
#define KIND_NONE 0x79990001u
#define IS_FINISH 0x20u

/* What kind of object: its first word */
#define TYPE_MASK 0x1fu
#define TYPE_STRING 0x05u
#define TYPE_ARRAY 0x07u
#define CODE_MASK (0xf000u | TYPE_MASK)
#define TYPE_CODE (0x7000u | 0x1au)
#define STRING_IS_LONG (1u << 13)
#define ARRAY_IS_SHORT (1u << 13)
#define STRING_SHIFT 14u

#define MOST_RACTORS 64
#define MOST_THREADS 4096
#define MOST_FRAMES 65536u
#define MOST_TEXT 1024u
#define MOST_WORDS (1u << 27) /* of a stack */
#define WINDOW 8192u

struct window {
	uint64_t start;
	size_t size;
	uint8_t bytes[WINDOW];
};

struct swz_ruby {
	uint64_t vm_pointer;
	swz_script_read *read;
	void *context;
	struct swz_script_codes codes;
	uint64_t loop;
	/* the stack that frames are read from */
	uint64_t stack, stack_end;
	struct window frames, values;
};

/* --------------------------------------------------------------- memory */

static bool read_bytes(const struct swz_ruby *ruby, uint64_t address,
		       void *into, size_t size)
{
	return address &&
	       ruby->read(ruby->context, address, into, size) == size;
}

static bool read_word(const struct swz_ruby *ruby, uint64_t address,
		      uint64_t *word)
{
	return read_bytes(ruby, address, word, sizeof(*word));
}

static bool is_in(const struct window *window, uint64_t address, size_t size)
{
	return window->size >= size &&
	       address - window->start <= window->size - size;
}

static void move_to(const struct swz_ruby *ruby, struct window *window,
		    uint64_t start, uint64_t end)
{
	window->start = start;
	window->size = ruby->read(ruby->context, start, window->bytes,
				  (size_t)(end - start));
}

/* ---------------------------------------------------------------- texts */

/* How many bytes the character has; 0: it is none of UTF-8. */
static size_t character(const uint8_t *text, size_t left)
{
	size_t size = text[0] < 0x80   ? 1
		      : text[0] < 0xc2 ? 0
		      : text[0] < 0xe0 ? 2
		      : text[0] < 0xf0 ? 3
		      : text[0] < 0xf5 ? 4
				       : 0;

	if (size > left)
		return 0;
	for (size_t i = 1; i < size; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	return size;
}

static void make_plain(uint8_t *text, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t size = character(text + i, length - i);

		if (size == 0 || text[i] < ' ' || text[i] == 0x7f) {
			text[i] = '?';
			size = 1;
		}
		i += size;
	}
}

/* A String as UTF-8; to be freed. NULL: it is none. */
static char *read_text(const struct swz_ruby *ruby, uint64_t object)
{
	uint8_t head[OBJECT_BYTES], *text;
	uint64_t flags, length, from;

	if (!read_bytes(ruby, object, head, sizeof(head)))
		return NULL;
	flags = swz_script_word(head, 0);
	if ((flags & TYPE_MASK) != TYPE_STRING)
		return NULL;
	if (flags & STRING_IS_LONG) {
		length = swz_script_word(head, STRING_LENGTH);
		from = swz_script_word(head, STRING_TEXT);
	} else {
		length = flags >> STRING_SHIFT & 0x1f;
		from = object + OBJECT_INSIDE;
	}
	if (length > MOST_TEXT)
		length = MOST_TEXT;
	text = swz_allocate((size_t)length + 1, 1);
	if (!read_bytes(ruby, from, text, (size_t)length)) {
		free(text);
		return NULL;
	}
	make_plain(text, (size_t)length);
	return (char *)text;
}

/* It is a path, or an array of the path and where that leads to. */
static char *read_path(const struct swz_ruby *ruby, uint64_t object)
{
	uint8_t head[OBJECT_BYTES];
	uint64_t flags, items;

	if (!read_bytes(ruby, object, head, sizeof(head)))
		return NULL;
	flags = swz_script_word(head, 0);
	if ((flags & TYPE_MASK) != TYPE_ARRAY)
		return read_text(ruby, object);
	items = flags & ARRAY_IS_SHORT ? object + OBJECT_INSIDE
				       : swz_script_word(head, ARRAY_ITEMS);
	if (!read_word(ruby, items, &object))
		return NULL;
	return read_text(ruby, object);
}

/* ------------------------------------------------------------- functions */

/* The blocks of one method are all called the same, so they have their line. */
static char *shown_name(char *name, uint32_t line)
{
	char *shown;

	if (!name || strncmp(name, "block ", 6) != 0)
		return name;
	shown = swz_print("%s:%u", name, (unsigned)line);
	free(name);
	return shown;
}

/* NULL: there is no code. */
static const struct swz_script_code *code_of(struct swz_ruby *ruby,
					     uint64_t address)
{
	uint8_t code[CODE_BYTES], body[BODY_BYTES];
	const struct swz_script_code *known;
	struct swz_script_object object;

	if (!read_bytes(ruby, address, code, sizeof(code)) ||
	    (swz_script_word(code, 0) & CODE_MASK) != TYPE_CODE)
		return NULL;
	address = swz_script_word(code, CODE_BODY);
	if (!read_bytes(ruby, address, body, sizeof(body)))
		return NULL;
	/* each instruction is the address of what does it */
	if (!ruby->loop)
		(void)read_word(ruby, swz_script_word(body, BODY_INSTRUCTIONS),
				&ruby->loop);
	/* (the line is a Ruby number: its lowest bit is set) */
	object = (struct swz_script_object){
		.name = swz_script_word(body, BODY_LABEL),
		.file = swz_script_word(body, BODY_PATH),
		.line = (uint32_t)(swz_script_word(body, BODY_LINE) >> 1)};
	known = swz_script_codes_get(&ruby->codes, address, &object);
	if (known)
		return known;
	return swz_script_codes_add(
		&ruby->codes, address, &object,
		shown_name(read_text(ruby, object.name), object.line),
		read_path(ruby, object.file));
}

/* ----------------------------------------------------------------- threads */

/* Whether it is the thread, which is in CONTEXT then. */
static bool is_wanted(const struct swz_ruby *ruby, const uint8_t *thread,
		      uint64_t thread_pointer, uint64_t stack_start,
		      uint8_t *context)
{
	if (thread_pointer &&
	    swz_script_word(thread, THREAD_ID) != thread_pointer)
		return false;
	if (!read_bytes(ruby, swz_script_word(thread, THREAD_CONTEXT), context,
			CONTEXT_BYTES))
		return false;
	return thread_pointer ||
	       swz_script_word(context, CONTEXT_C_STACK) - stack_start <
		       swz_script_word(context, CONTEXT_C_STACK_BYTES);
}

/* Its execution context; false: it is in none. */
static bool find_context(const struct swz_ruby *ruby, uint64_t thread_pointer,
			 uint64_t stack_start, uint8_t *context)
{
	uint64_t vm, ractors, ractor, threads, at;
	uint8_t thread[THREAD_BYTES];
	int ractor_count = 0, count = 0;

	if (!read_word(ruby, ruby->vm_pointer, &vm) ||
	    !read_word(ruby, vm + VM_RACTORS, &ractors))
		return false;
	for (ractor = ractors;
	     ractor != vm + VM_RACTORS && ractor_count++ < MOST_RACTORS;) {
		threads = ractor - RACTOR_NODE + RACTOR_THREADS;
		if (!read_word(ruby, threads, &at))
			return false;
		while (at != threads && count++ < MOST_THREADS) {
			if (!read_bytes(ruby, at, thread, sizeof(thread)) ||
			    swz_script_word(thread, THREAD_VM) != vm)
				break;
			if (is_wanted(ruby, thread, thread_pointer, stack_start,
				      context))
				return true;
			at = swz_script_word(thread, 0);
		}
		if (!read_word(ruby, ractor, &ractor))
			return false;
	}
	return false;
}

/* ------------------------------------------------------------------ frames */

static const uint8_t *frame_at(struct swz_ruby *ruby, uint64_t address)
{
	if (!is_in(&ruby->frames, address, FRAME_BYTES)) {
		uint64_t left = ruby->stack_end - address;

		move_to(ruby, &ruby->frames, address,
			address + (left < WINDOW ? left : WINDOW));
	}
	if (!is_in(&ruby->frames, address, FRAME_BYTES))
		return NULL;
	return ruby->frames.bytes + (address - ruby->frames.start);
}

/* Values of callers lie below those of what they call. */
static bool read_value(struct swz_ruby *ruby, uint64_t address, uint64_t *word)
{
	if (address < ruby->stack || address >= ruby->stack_end)
		return read_word(ruby, address, word);
	if (!is_in(&ruby->values, address, WORD)) {
		uint64_t before = address + WORD - ruby->stack;

		move_to(ruby, &ruby->values,
			address + WORD - (before < WINDOW ? before : WINDOW),
			address + WORD);
	}
	if (!is_in(&ruby->values, address, WORD))
		return false;
	*word = swz_script_word(ruby->values.bytes,
				address - ruby->values.start);
	return true;
}

static enum swz_script_result read_frames(struct swz_ruby *ruby, uint64_t at,
					  struct swz_script_frame *frames,
					  size_t most, size_t *count)
{
	size_t left = MOST_FRAMES;

	ruby->frames.size = ruby->values.size = 0;
	for (; at < ruby->stack_end && *count < most && left--;
	     at += FRAME_BYTES) {
		const uint8_t *frame = frame_at(ruby, at);
		const struct swz_script_code *code;
		uint64_t flags, kind;

		if (!frame ||
		    !read_value(ruby, swz_script_word(frame, FRAME_VARIABLES),
				&flags))
			return SWZ_SCRIPT_LOST;
		kind = flags & KIND_MASK;
		if (kind == KIND_C || kind == KIND_C_BLOCK || kind == KIND_NONE)
			continue;
		code = code_of(ruby, swz_script_word(frame, FRAME_CODE));
		if (!code)
			return SWZ_SCRIPT_LOST;
		frames[(*count)++] = (struct swz_script_frame){
			code, (flags & IS_FINISH) != 0};
	}
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

enum swz_script_result swz_ruby_frames(struct swz_ruby *ruby,
				       uint64_t thread_pointer,
				       uint64_t stack_start,
				       struct swz_script_frame *frames,
				       size_t most, size_t *count)
{
	uint8_t context[CONTEXT_BYTES];
	uint64_t words, at;

	*count = 0;
	if (!find_context(ruby, thread_pointer, stack_start, context))
		return SWZ_SCRIPT_NONE;
	at = swz_script_word(context, CONTEXT_FRAME);
	words = swz_script_word(context, CONTEXT_STACK_WORDS);
	ruby->stack = swz_script_word(context, CONTEXT_STACK);
	if (!at || !ruby->stack)
		return SWZ_SCRIPT_NONE;
	if (words > MOST_WORDS || ruby->stack > UINT64_MAX - words * WORD)
		return SWZ_SCRIPT_LOST;
	ruby->stack_end = ruby->stack + words * WORD;
	if (at < ruby->stack || (ruby->stack_end - at) % FRAME_BYTES != 0)
		return SWZ_SCRIPT_LOST;
	return read_frames(ruby, at, frames, most, count);
}

uint64_t swz_ruby_loop(const struct swz_ruby *ruby)
{
	return ruby->loop;
}

/* -------------------------------------------------------------- life */

bool swz_ruby_is_known(const char *version, size_t bytes)
{
	return bytes >= 4 && memcmp(version, "3.1.", 4) == 0;
}

struct swz_ruby *swz_ruby_open(uint64_t version, uint64_t vm,
			       swz_script_read *read, void *context)
{
	struct swz_ruby *ruby;
	char text[4];

	if (read(context, version, text, sizeof(text)) != sizeof(text) ||
	    !swz_ruby_is_known(text, sizeof(text)))
		return NULL;
	ruby = swz_allocate(1, sizeof(*ruby));
	ruby->vm_pointer = vm;
	ruby->read = read;
	ruby->context = context;
	return ruby;
}

void swz_ruby_close(struct swz_ruby *ruby)
{
	if (!ruby)
		return;
	swz_script_codes_free(&ruby->codes);
	free(ruby);
}
