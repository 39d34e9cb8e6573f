/* Ruby 2.7, 3.1, 3.3 and 3.4, as gcc has the layout of its own headers
 * (vm_core.h, ractor_core.h, iseq.h): all releases of one version are alike.
 * The virtual machine has a list of threads, or of ractors that each have one;
 * a thread points to the execution context that it is in, of its own or of a
 * fiber. The context has a stack of its own: values grow up from its start,
 * frames grow down from its end.
 *
 * What kind of frame it is stands where its variables are: in that stack or,
 * when a block is kept, in the heap. */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/ruby_memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum {
	WORD = 8,
	/* rb_execution_context_t */
	CONTEXT_STACK = 0,
	CONTEXT_STACK_WORDS = 8,
	CONTEXT_FRAME = 16,
	CONTEXT_C_STACK = 0, /* of layout's context_c_stack: highest address */
	CONTEXT_C_STACK_BYTES = 16,
	CONTEXT_BYTES = 192,
	/* rb_control_frame_t */
	FRAME_PC = 0,
	FRAME_CODE = 16,
	FRAME_VARIABLES = 32,
	/* what lies before a frame's variables */
	VARIABLES_METHOD = 16,
	VARIABLES_AROUND = 8, /* of a block: where those around it are */
	/* rb_iseq_t */
	CODE_BODY = 16,
	CODE_BYTES = 24,
	/* struct rb_iseq_constant_body */
	BODY_SIZE = 4, /* instructions, in words */
	BODY_INSTRUCTIONS = 8,
	BODY_PATH = 64,
	BODY_METHOD = 72, /* the label without `block in ` and the like */
	BODY_LABEL = 80,
	BODY_LINE = 88,
	BODY_BYTES = 160,
	/* of layout's body_lines: struct iseq_insn_info */
	INFO_ENTRIES = 0,
	INFO_COUNT = 16,
	INFO_INDEX = 24, /* struct succ_index_table */
	/* struct RArray */
	ARRAY_INSIDE = 16, /* of short ones */
	ARRAY_ITEMS = 32,
	ARRAY_BYTES = 40
};

struct layout {
	char version[4];  /* the first characters of ruby_version */
	uint32_t vm_list; /* of ractors; or of threads, where there are none */
	bool has_ractors;
	uint32_t ractor_threads, ractor_node;
	uint32_t thread_vm, thread_context;
	uint32_t thread_id;   /* pthread_self(), what %fs holds */
	bool is_native_apart; /* that is in what thread_id points to */
	uint32_t native_id;   /* in that */
	uint32_t context_c_stack;
	uint32_t frame_bytes;
	uint32_t body_lines;
	uint32_t entry_bytes; /* the line of each is its first number */
	bool is_line_plain;   /* no Ruby number */
	struct swz_ruby_layout objects;
};

static const struct layout layouts[] = {
	{.version = "2.7.",
	 .vm_list = 312,
	 .thread_vm = 24,
	 .thread_context = 32,
	 .thread_id = 72,
	 .context_c_stack = 152,
	 .frame_bytes = 56,
	 .body_lines = 120,
	 .entry_bytes = 8,
	 .objects = {.class_of_one = SWZ_RUBY_FLAG(0)}},
	{.version = "3.1.",
	 .vm_list = 8,
	 .has_ractors = true,
	 .ractor_threads = 304,
	 .ractor_node = 568,
	 .thread_vm = 32,
	 .thread_context = 40,
	 .thread_id = 80,
	 .context_c_stack = 144,
	 .frame_bytes = 64,
	 .body_lines = 120,
	 .entry_bytes = 12,
	 .objects = {.class_of_one = SWZ_RUBY_FLAG(0)}},
	{.version = "3.3.",
	 .vm_list = 8,
	 .has_ractors = true,
	 .ractor_threads = 256,
	 .ractor_node = 432,
	 .thread_vm = 32,
	 .thread_context = 48,
	 .thread_id = 40,
	 .is_native_apart = true,
	 .native_id = 16,
	 .context_c_stack = 152,
	 .frame_bytes = 56,
	 .body_lines = 112,
	 .entry_bytes = 12,
	 .is_line_plain = true,
	 .objects = {.class_path = 152,
		     .class_attached = 128,
		     .class_of_one = SWZ_RUBY_FLAG(0),
		     .has_long_strings = true}},
	{.version = "3.4.",
	 .vm_list = 8,
	 .has_ractors = true,
	 .ractor_threads = 256,
	 .ractor_node = 432,
	 .thread_vm = 32,
	 .thread_context = 48,
	 .thread_id = 40,
	 .is_native_apart = true,
	 .native_id = 16,
	 .context_c_stack = 144,
	 .frame_bytes = 56,
	 .body_lines = 112,
	 .entry_bytes = 12,
	 .is_line_plain = true,
	 .objects = {.class_path = 152,
		     .class_attached = 128,
		     .class_of_one = SWZ_RUBY_FLAG(1),
		     .has_long_strings = true}},
};

#define THREAD_BYTES 96

/* The kind of frame: ep[0] */
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
#define MOST_INSTRUCTIONS 65536u
#define MOST_LINES 16384u
/* struct succ_index_table: how many before an instruction have a line of their
 * own, seven bits for each of the first, then blocks. */
#define FIRST_INSTRUCTIONS ((size_t)54)
#define FIRST_BYTES (FIRST_INSTRUCTIONS / 9 * WORD)
#define BLOCK_INSTRUCTIONS 512u
#define BLOCK_BYTES ((size_t)80)
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
	struct swz_script_reader reader;
	const struct layout *layout;
	uint64_t vm_pointer;
	uint64_t object_pointer;
	struct swz_ruby_memory memory;
	struct swz_script_codes codes;
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
					     &ruby->layout->objects,
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

/* How many of the instructions up to AT have a line of their own. The table is
 * made of words. */
static size_t rank_at(const uint8_t *table, size_t at)
{
	const uint8_t *block;
	size_t bit, part;
	uint64_t ranks;

	if (at < FIRST_INSTRUCTIONS)
		return swz_script_word(table, at / 9 * WORD) >> at % 9 * 7 &
		       0x7f;
	at -= FIRST_INSTRUCTIONS;
	block = table + FIRST_BYTES + at / BLOCK_INSTRUCTIONS * BLOCK_BYTES;
	bit = at % BLOCK_INSTRUCTIONS;
	part = bit / 64;
	ranks = swz_script_word(block, WORD);
	return swz_script_half(block, 0) +
	       (part ? ranks >> (part - 1) * 9 & 0x1ff : 0) +
	       (size_t)__builtin_popcountll(
		       swz_script_word(block, (2 + part) * WORD)
		       << (63 - bit % 64));
}

/* The line of each word of the instructions, from what the body has of them. */
static void fill_lines(const struct swz_ruby *ruby, const uint8_t *body,
		       const uint8_t *entries, size_t count, size_t size,
		       uint8_t *lines)
{
	const uint8_t *info = body + ruby->layout->body_lines;
	size_t bytes = size < FIRST_INSTRUCTIONS
			       ? (size + 8) / 9 * WORD
			       : FIRST_BYTES + (size - FIRST_INSTRUCTIONS +
						BLOCK_INSTRUCTIONS - 1) /
						       BLOCK_INSTRUCTIONS *
						       BLOCK_BYTES;
	/* (more of it is looked at than is there) */
	uint8_t *table = swz_allocate(bytes + FIRST_BYTES + BLOCK_BYTES, 1);

	if (count == 1 ||
	    swz_ruby_bytes(&ruby->memory, swz_script_word(info, INFO_INDEX),
			   table, bytes))
		for (size_t i = 0; i < size; i++) {
			size_t rank = count == 1 ? 1 : rank_at(table, i);

			if (rank && rank <= count)
				memcpy(lines + 4 * i,
				       entries +
					       (rank -
						1) * ruby->layout->entry_bytes,
				       4);
		}
	free(table);
}

static void read_lines(const struct swz_ruby *ruby, const uint8_t *body,
		       struct swz_script_code *code)
{
	const uint8_t *info = body + ruby->layout->body_lines;
	size_t count = swz_script_half(info, INFO_COUNT);
	size_t size = swz_script_half(body, BODY_SIZE);
	size_t bytes = count * ruby->layout->entry_bytes;
	uint8_t *entries;

	if (!count || count > MOST_LINES || !size || size > MOST_INSTRUCTIONS)
		return;
	entries = swz_allocate(bytes, 1);
	if (swz_ruby_bytes(&ruby->memory, swz_script_word(info, INFO_ENTRIES),
			   entries, bytes)) {
		code->line_bytes = 4 * size;
		code->line_table = swz_allocate(size, 4);
		fill_lines(ruby, body, entries, count, size, code->line_table);
	}
	free(entries);
}

static uint32_t first_line(const struct swz_ruby *ruby, const uint8_t *body)
{
	/* (the lowest bit of a Ruby number is set) */
	return ruby->layout->is_line_plain
		       ? swz_script_half(body, BODY_LINE)
		       : (uint32_t)(swz_script_word(body, BODY_LINE) >> 1);
}

/* The code of a method of that class (or 0). NULL: there is none. */
static const struct swz_script_code *code_of(struct swz_ruby *ruby,
					     uint64_t address, uint64_t class)
{
	uint8_t code[CODE_BYTES], body[BODY_BYTES];
	const struct swz_script_code *known;
	struct swz_script_code *added;
	struct swz_script_object object;

	if (!swz_ruby_bytes(&ruby->memory, address, code, sizeof(code)) ||
	    (swz_script_word(code, 0) & SWZ_RUBY_KIND) != CODE_KIND)
		return NULL;
	address = swz_script_word(code, CODE_BODY);
	if (!swz_ruby_bytes(&ruby->memory, address, body, sizeof(body)))
		return NULL;
	/* each instruction is the address of what does it */
	if (!ruby->reader.inner_loop)
		(void)swz_ruby_word(&ruby->memory,
				    swz_script_word(body, BODY_INSTRUCTIONS),
				    &ruby->reader.inner_loop);
	object = (struct swz_script_object){
		.name = swz_script_word(body, BODY_LABEL),
		.file = swz_script_word(body, BODY_PATH),
		.lines = swz_script_word(body, BODY_INSTRUCTIONS),
		.owner = class,
		.line = first_line(ruby, body)};
	known = swz_script_codes_get(&ruby->codes, address, &object);
	if (known)
		return known;
	added = swz_script_codes_add(
		&ruby->codes, address, &object,
		shown_name(name_of(ruby, object.name,
				   swz_script_word(body, BODY_METHOD), class),
			   object.line),
		read_path(ruby, object.file));
	if (added) {
		added->start = object.lines;
		read_lines(ruby, body, added);
	}
	return added;
}

/* A frame points behind what it executes. 0: not known. */
static uint32_t line_of(const struct swz_script_code *code, uint64_t at)
{
	uint64_t words = (at - code->start) / WORD;
	uint32_t line = 0;

	words -= words != 0;
	if (words < code->line_bytes / 4)
		line = swz_script_half(code->line_table, 4 * (size_t)words);
	return line <= INT32_MAX ? line : 0;
}

/* ----------------------------------------------------------------- threads */

static bool has_id(const struct swz_ruby *ruby, const uint8_t *thread,
		   uint64_t wanted)
{
	uint64_t id = swz_script_word(thread, ruby->layout->thread_id);

	if (ruby->layout->is_native_apart &&
	    !swz_ruby_word(&ruby->memory, id + ruby->layout->native_id, &id))
		return false;
	return id == wanted;
}

/* True if it is the thread, which is in CONTEXT then. */
static bool is_wanted(const struct swz_ruby *ruby, const uint8_t *thread,
		      const struct swz_script_thread *wanted, uint8_t *context)
{
	const uint8_t *c_stack = context + ruby->layout->context_c_stack;

	if (wanted->thread_pointer &&
	    !has_id(ruby, thread, wanted->thread_pointer))
		return false;
	if (!swz_ruby_bytes(
		    &ruby->memory,
		    swz_script_word(thread, ruby->layout->thread_context),
		    context, CONTEXT_BYTES))
		return false;
	return wanted->thread_pointer ||
	       swz_script_word(c_stack, CONTEXT_C_STACK) - wanted->stack_start <
		       swz_script_word(c_stack, CONTEXT_C_STACK_BYTES);
}

/* Looks for the thread in a list, whose head is LIST. */
static bool look_in(const struct swz_ruby *ruby, uint64_t vm, uint64_t list,
		    const struct swz_script_thread *wanted, int *left,
		    uint8_t *context)
{
	uint8_t thread[THREAD_BYTES];
	uint64_t at;

	if (!swz_ruby_word(&ruby->memory, list, &at))
		return false;
	while (at != list && (*left)-- > 0) {
		if (!swz_ruby_bytes(&ruby->memory, at, thread,
				    sizeof(thread)) ||
		    swz_script_word(thread, ruby->layout->thread_vm) != vm)
			break;
		if (is_wanted(ruby, thread, wanted, context))
			return true;
		at = swz_script_word(thread, 0);
	}
	return false;
}

/* Its execution context; false: it is in none. */
static bool find_context(const struct swz_ruby *ruby,
			 const struct swz_script_thread *thread,
			 uint8_t *context)
{
	const struct layout *l = ruby->layout;
	uint64_t vm, ractors, ractor;
	int left = MOST_THREADS;

	if (!swz_ruby_word(&ruby->memory, ruby->vm_pointer, &vm))
		return false;
	if (!l->has_ractors)
		return look_in(ruby, vm, vm + l->vm_list, thread, &left,
			       context);
	if (!swz_ruby_word(&ruby->memory, vm + l->vm_list, &ractors))
		return false;
	ractor = ractors;
	for (int i = 0; i < MOST_RACTORS && ractor != vm + l->vm_list; i++) {
		if (look_in(ruby, vm,
			    ractor - l->ractor_node + l->ractor_threads, thread,
			    &left, context))
			return true;
		if (!swz_ruby_word(&ruby->memory, ractor, &ractor))
			break;
	}
	return false;
}

/* ------------------------------------------------------------------ frames */

static const uint8_t *frame_at(struct swz_ruby *ruby, uint64_t address)
{
	if (!is_in(&ruby->frames, address, ruby->layout->frame_bytes)) {
		uint64_t left = ruby->stack_end - address;

		move_to(ruby, &ruby->frames, address,
			address + (left < WINDOW ? left : WINDOW));
	}
	if (!is_in(&ruby->frames, address, ruby->layout->frame_bytes))
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
	(void)swz_script_codes_begin_stack(&ruby->codes);
	for (; at < ruby->stack_end && *count < most && left--;
	     at += ruby->layout->frame_bytes) {
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
			.code = code,
			.line = line_of(code, swz_script_word(frame, FRAME_PC)),
			.is_entry = (flags & IS_FINISH) != 0};
	}
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

static enum swz_script_result ruby_frames(
	struct swz_script_reader *reader,
	const struct swz_script_thread *thread, struct swz_script_frame *frames,
	size_t most, size_t *count)
{
	struct swz_ruby *ruby = (struct swz_ruby *)reader;
	uint8_t context[CONTEXT_BYTES];
	uint64_t words, at;

	*count = 0;
	if (!find_context(ruby, thread, context))
		return SWZ_SCRIPT_NONE;
	at = swz_script_word(context, CONTEXT_FRAME);
	words = swz_script_word(context, CONTEXT_STACK_WORDS);
	ruby->stack = swz_script_word(context, CONTEXT_STACK);
	if (!at || !ruby->stack)
		return SWZ_SCRIPT_NONE;
	if (words > MOST_WORDS || ruby->stack > UINT64_MAX - words * WORD)
		return SWZ_SCRIPT_LOST;
	ruby->stack_end = ruby->stack + words * WORD;
	if (at < ruby->stack ||
	    (ruby->stack_end - at) % ruby->layout->frame_bytes != 0)
		return SWZ_SCRIPT_LOST;
	return read_frames(ruby, at, frames, most, count);
}

/* -------------------------------------------------------------- life */

/* Since 3.3 no symbol tells where the virtual machine is. ruby_vm_at_exit,
 * which is a part of the interface, begins with loading its address: mov
 * VARIABLE(%rip), REGISTER. 0: it does not. */
static uint64_t find_vm_pointer(const struct swz_script_module *module)
{
	uint64_t at = module->symbol(module->module, "ruby_current_vm_ptr");
	uint8_t code[64];

	if (at)
		return at;
	at = module->symbol(module->module, "ruby_vm_at_exit");
	if (!at || module->read(module->memory, at, code, sizeof(code)) !=
			   sizeof(code))
		return 0;
	for (size_t i = 0; i + 7 <= sizeof(code); i++)
		if ((code[i] & 0xfb) == 0x48 && code[i + 1] == 0x8b &&
		    (code[i + 2] & 0xc7) == 5)
			return at + i + 7 +
			       (uint64_t)(int32_t)swz_script_half(code, i + 3);
	return 0;
}

static const struct layout *find_layout(const struct swz_script_module *module)
{
	uint64_t version = module->symbol(module->module, "ruby_version");
	char text[4];

	if (!version || module->read(module->memory, version, text,
				     sizeof(text)) != sizeof(text))
		return NULL;
	for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
		if (memcmp(text, layouts[i].version, sizeof(text)) == 0)
			return &layouts[i];
	return NULL;
}

static struct swz_script_reader *ruby_open(
	const struct swz_script_module *module)
{
	const struct layout *layout = find_layout(module);
	uint64_t vm = layout ? find_vm_pointer(module) : 0;
	uint64_t object = module->symbol(module->module, "rb_cObject");
	struct swz_ruby *ruby;

	if (!vm || !object)
		return NULL;
	ruby = swz_allocate(1, sizeof(*ruby));
	ruby->reader = (struct swz_script_reader){
		.language = &swz_ruby_language,
		.read = module->read,
		.memory = module->memory,
		/* (0 since 3.3: then it is what it calls) */
		.loop = module->symbol(module->module, "rb_vm_exec")};
	ruby->layout = layout;
	ruby->vm_pointer = vm;
	ruby->object_pointer = object;
	ruby->memory = (struct swz_ruby_memory){
		module->read, module->memory, layout->objects.has_long_strings};
	return &ruby->reader;
}

static void ruby_close(struct swz_script_reader *reader)
{
	struct swz_ruby *ruby = (struct swz_ruby *)reader;

	swz_script_codes_free(&ruby->codes);
	free(ruby);
}

const struct swz_script_language swz_ruby_language = {
	.name = "Ruby",
	.program = "ruby",
	/* Debian's names, and those of Ruby's own build */
	.libraries = {"libruby-2.7.so", "libruby.so.2.7", "libruby-3.1.so",
		      "libruby.so.3.1", "libruby-3.3.so", "libruby.so.3.3",
		      "libruby-3.4.so", "libruby.so.3.4"},
	.is_frame_first = true,
	.open = ruby_open,
	.frames = ruby_frames,
	.close = ruby_close,
};
