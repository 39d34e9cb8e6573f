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
#include "watch/names/ruby_classes.h"
#include "watch/names/ruby_memory.h"
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
	/* what lies before a frame's variables */
	VARIABLES_METHOD = 16,
	VARIABLES_AROUND = 8, /* of a block: where those around it are */
	/* rb_iseq_t */
	CODE_BODY = 16,
	CODE_BYTES = 24,
	/* struct rb_iseq_constant_body */
	BODY_INSTRUCTIONS = 8,
	BODY_PATH = 64,
	BODY_METHOD = 72, /* the label without `block in ` and the like */
	BODY_LABEL = 80,
	BODY_LINE = 88,
	BODY_BYTES = 96,
	/* struct RArray */
	ARRAY_INSIDE = 16, /* of short ones */
	ARRAY_ITEMS = 32,
	ARRAY_BYTES = 40
};

/* What kind of frame: ep[0] */
#define KIND_MASK 0x7fff0001u
#define KIND_C 0x55550001u
#define KIND_C_BLOCK 0x66660001u
#define KIND_NONE 0x79990001u
#define IS_FINISH 0x20u
#define IS_LOCAL 0x02u /* no block */

#define CODE_KIND SWZ_RUBY_INTERNAL_KIND(7u)
#define ARRAY_IS_SHORT (1u << 13)

#define MOST_RACTORS 64
#define MOST_THREADS 4096
#define MOST_FRAMES 65536u
#define MOST_BLOCKS 64u       /* in one another */
#define MOST_WORDS (1u << 27) /* of a stack */
#define WINDOW 8192u
#define KEPT 64u

struct window {
	uint64_t start;
	size_t size;
	uint8_t bytes[WINDOW];
};

/* While one stack is read nothing changes: what was found for an address is
 * kept. */
struct kept {
	uint64_t method, method_class;
};

struct swz_ruby {
	uint64_t vm_pointer;
	uint64_t object_pointer;
	struct swz_ruby_memory memory;
	struct swz_script_codes codes;
	uint64_t loop;
	/* the stack that frames are read from */
	uint64_t stack, stack_end;
	struct window frames, values;
	struct kept kept[KEPT];
};

/* --------------------------------------------------------------- memory */

static bool is_in(const struct window *window, uint64_t address, size_t size)
{
	return window->size >= size &&
	       address - window->start <= window->size - size;
}

static void move_to(const struct swz_ruby *ruby, struct window *window,
		    uint64_t start, uint64_t end)
{
	window->start = start;
	window->size = ruby->memory.read(ruby->memory.context, start,
					 window->bytes, (size_t)(end - start));
}

/* ---------------------------------------------------------------- texts */

/* It is a path, or an array of the path and where that leads to. */
static char *read_path(const struct swz_ruby *ruby, uint64_t object)
{
	uint8_t head[ARRAY_BYTES];
	uint64_t flags, items;

	if (!swz_ruby_bytes(&ruby->memory, object, head, sizeof(head)))
		return NULL;
	flags = swz_script_word(head, 0);
	if ((flags & SWZ_RUBY_TYPE) != SWZ_RUBY_ARRAY)
		return swz_ruby_text(&ruby->memory, object);
	items = flags & ARRAY_IS_SHORT ? object + ARRAY_INSIDE
				       : swz_script_word(head, ARRAY_ITEMS);
	if (!swz_ruby_word(&ruby->memory, items, &object))
		return NULL;
	return swz_ruby_text(&ruby->memory, object);
}

/* ------------------------------------------------------------- functions */

/* The class goes before the method's own name: `block in Foo#bar`. What stands
 * for a part of a file (`<main>`) has none. */
static char *name_of(const struct swz_ruby *ruby, uint64_t label,
		     uint64_t method, uint64_t class)
{
	char *all = swz_ruby_text(&ruby->memory, label), *name = NULL;
	char *own = class ? swz_ruby_text(&ruby->memory, method) : NULL;
	size_t all_length = all ? strlen(all) : 0;
	size_t length = own ? strlen(own) : 0;
	char *before = NULL;

	if (all && length && own[0] != '<' && all_length >= length &&
	    strcmp(all + all_length - length, own) == 0)
		before = swz_ruby_class_name(&ruby->memory,
					     ruby->object_pointer, class);
	if (before)
		name = swz_print("%.*s%s%s", (int)(all_length - length), all,
				 before, own);
	free(own);
	free(before);
	if (!name)
		return all;
	free(all);
	return name;
}

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

/* Of a method of that class, or 0. NULL: there is no code. */
static const struct swz_script_code *code_of(struct swz_ruby *ruby,
					     uint64_t address, uint64_t class)
{
	uint8_t code[CODE_BYTES], body[BODY_BYTES];
	const struct swz_script_code *known;
	struct swz_script_object object;

	if (!swz_ruby_bytes(&ruby->memory, address, code, sizeof(code)) ||
	    (swz_script_word(code, 0) & SWZ_RUBY_KIND) != CODE_KIND)
		return NULL;
	address = swz_script_word(code, CODE_BODY);
	if (!swz_ruby_bytes(&ruby->memory, address, body, sizeof(body)))
		return NULL;
	/* each instruction is the address of what does it */
	if (!ruby->loop)
		(void)swz_ruby_word(&ruby->memory,
				    swz_script_word(body, BODY_INSTRUCTIONS),
				    &ruby->loop);
	/* (the line is a Ruby number: its lowest bit is set) */
	object = (struct swz_script_object){
		.name = swz_script_word(body, BODY_LABEL),
		.file = swz_script_word(body, BODY_PATH),
		.owner = class,
		.line = (uint32_t)(swz_script_word(body, BODY_LINE) >> 1)};
	known = swz_script_codes_get(&ruby->codes, address, &object);
	if (known)
		return known;
	return swz_script_codes_add(
		&ruby->codes, address, &object,
		shown_name(name_of(ruby, object.name,
				   swz_script_word(body, BODY_METHOD), class),
			   object.line),
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
	if (!swz_ruby_bytes(&ruby->memory,
			    swz_script_word(thread, THREAD_CONTEXT), context,
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

	if (!swz_ruby_word(&ruby->memory, ruby->vm_pointer, &vm) ||
	    !swz_ruby_word(&ruby->memory, vm + VM_RACTORS, &ractors))
		return false;
	for (ractor = ractors;
	     ractor != vm + VM_RACTORS && ractor_count++ < MOST_RACTORS;) {
		threads = ractor - RACTOR_NODE + RACTOR_THREADS;
		if (!swz_ruby_word(&ruby->memory, threads, &at))
			return false;
		while (at != threads && count++ < MOST_THREADS) {
			if (!swz_ruby_bytes(&ruby->memory, at, thread,
					    sizeof(thread)) ||
			    swz_script_word(thread, THREAD_VM) != vm)
				break;
			if (is_wanted(ruby, thread, thread_pointer, stack_start,
				      context))
				return true;
			at = swz_script_word(thread, 0);
		}
		if (!swz_ruby_word(&ruby->memory, ractor, &ractor))
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
		return swz_ruby_word(&ruby->memory, address, word);
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

static uint64_t class_of_method(struct swz_ruby *ruby, uint64_t method)
{
	struct kept *kept = &ruby->kept[method / WORD % KEPT];

	if (kept->method != method)
		*kept = (struct kept){method,
				      swz_ruby_class_of(&ruby->memory, method)};
	return kept->method_class;
}

static const struct swz_script_code *kept_code(struct swz_ruby *ruby,
					       uint64_t address, uint64_t class)
{
	const struct swz_script_code *code = swz_script_codes_met(
		&ruby->codes, address, class);

	return code ? code
		    : swz_script_codes_meet(&ruby->codes, address, class,
					    code_of(ruby, address, class));
}

/* The class of the method that a frame is of, or that its block stands in: the
 * variables of one of these name the method. 0: it is of none. */
static uint64_t class_of(struct swz_ruby *ruby, uint64_t variables,
			 uint64_t flags)
{
	for (unsigned left = MOST_BLOCKS; left--;) {
		uint64_t method, class;

		if (!read_value(ruby, variables - VARIABLES_METHOD, &method))
			return 0;
		class = class_of_method(ruby, method);
		if (class || flags & IS_LOCAL ||
		    !read_value(ruby, variables - VARIABLES_AROUND, &variables))
			return class;
		variables &= ~3ull;
		if (!read_value(ruby, variables, &flags))
			return 0;
	}
	return 0;
}

static enum swz_script_result read_frames(struct swz_ruby *ruby, uint64_t at,
					  struct swz_script_frame *frames,
					  size_t most, size_t *count)
{
	size_t left = MOST_FRAMES;

	ruby->frames.size = ruby->values.size = 0;
	memset(ruby->kept, 0, sizeof(ruby->kept));
	swz_script_codes_begin_stack(&ruby->codes);
	for (; at < ruby->stack_end && *count < most && left--;
	     at += FRAME_BYTES) {
		const uint8_t *frame = frame_at(ruby, at);
		const struct swz_script_code *code;
		uint64_t variables, flags, kind;

		if (!frame)
			return SWZ_SCRIPT_LOST;
		variables = swz_script_word(frame, FRAME_VARIABLES);
		if (!read_value(ruby, variables, &flags))
			return SWZ_SCRIPT_LOST;
		kind = flags & KIND_MASK;
		if (kind == KIND_C || kind == KIND_C_BLOCK || kind == KIND_NONE)
			continue;
		code = kept_code(ruby, swz_script_word(frame, FRAME_CODE),
				 class_of(ruby, variables, flags));
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

struct swz_ruby *swz_ruby_open(const struct swz_ruby_places *places,
			       swz_script_read *read, void *context)
{
	struct swz_ruby *ruby;
	char text[4];

	if (read(context, places->version, text, sizeof(text)) !=
		    sizeof(text) ||
	    !swz_ruby_is_known(text, sizeof(text)))
		return NULL;
	ruby = swz_allocate(1, sizeof(*ruby));
	ruby->vm_pointer = places->vm;
	ruby->object_pointer = places->object;
	ruby->memory = (struct swz_ruby_memory){read, context};
	return ruby;
}

void swz_ruby_close(struct swz_ruby *ruby)
{
	if (!ruby)
		return;
	swz_script_codes_free(&ruby->codes);
	free(ruby);
}
