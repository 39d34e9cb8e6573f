/* Perl 5.36 to 5.42. Built with threads, as Debian's is, an interpreter is a
 * structure, and PL_curinterp is the first one, which the first thread runs.
 * Without threads its members are variables, and a file is named by a glob
 * `_<FILE` instead of a text.
 *
 * A call of a sub is an entry (PERL_CONTEXT) of a stack of contexts; sort
 * blocks, destructors and the like have a stack of their own (PERL_SI), which
 * is linked to the one before. What a frame executes is a COP: the innermost
 * one is the interpreter's, and each call has kept its caller's. (intrpvar.h,
 * cop.h, cv.h, gv.h, hv.h) */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum {
	/* struct interpreter */
	INTERPRETER_COP = 208,
	INTERPRETER_STACK = 224,
	/* PERL_SI */
	STACK_CONTEXTS = 8,
	STACK_PREVIOUS = 16,
	STACK_TOP = 32,
	STACK_BYTES = 48,
	/* PERL_CONTEXT */
	CONTEXT_TYPE = 0,
	CONTEXT_COP = 16,
	CONTEXT_SUB = 72,
	CONTEXT_BYTES = 104,
	/* OP, COP */
	OP_NEXT = 0,
	OP_TYPE = 32, /* nine bits */
	COP_LINE = 36,
	COP_FILE = 48,
	COP_BYTES = 56,
	/* SV */
	SV_BODY = 0,
	SV_FLAGS = 12,
	SV_BYTES = 16,
	/* XPVCV */
	SUB_STASH = 32,
	SUB_START = 40,
	SUB_NAME = 56, /* a GV, or a HEK if it has IS_NAMED */
	SUB_FILE = 64,
	SUB_FLAGS = 92,
	SUB_BYTES = 96,
	/* XPVGV */
	GLOB_NAME = 32,
	GLOB_STASH = 40,
	GLOB_BYTES = 48,
	/* XPVHV with struct xpvhv_aux */
	STASH_NAME = 32,
	STASH_NAME_COUNT = 60,
	STASH_BYTES = 64,
	/* HEK */
	NAME_LENGTH = 4,
	NAME_TEXT = 8
};

#define TYPE_MASK 0xffu
#define IS_SUB 13u   /* SVt_PVCV */
#define IS_STASH 12u /* SVt_PVHV */
#define IS_GLOB 9u   /* SVt_PVGV */
#define CONTEXT_MASK 0xfu
#define OF_SUB 9u
#define OF_FORMAT 10u
#define OF_EVAL 11u
#define IS_BLOCK 0xc0u /* of an eval: of a block, not of a text or file */
#define IS_NAMED 0x8000u
#define IS_NATIVE 0x8u

#define MOST_TEXT 1024u
#define MOST_STACKS 1024u
#define MOST_CONTEXTS 65536u
#define CONTEXTS_AT_ONCE 64u
#define MOST_OPS 512u /* kinds of them */
#define FEW_OPS 4u

struct swz_perl {
	struct swz_script_reader reader;
	uint64_t interpreter; /* where its address is; 0: it is variables */
	uint64_t variable_cop, variable_stack; /* these */
	uint64_t op_names;                     /* where their addresses are */
	unsigned next_state; /* OP_NEXTSTATE: a COP; 0: not known so far */
	struct swz_script_codes codes;
	/* of the stack that is read */
	struct swz_script_frame *frames;
	size_t most, count;
	uint64_t cop;
};

static bool read_bytes(const struct swz_perl *perl, uint64_t address,
		       void *into, size_t size)
{
	return address && perl->reader.read(perl->reader.memory, address, into,
					    size) == size;
}

/* ---------------------------------------------------------------- texts */

static void make_plain(char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			*text = '?';
}

/* A text that ends with NUL; to be freed. NULL: there is none. */
static char *read_text(const struct swz_perl *perl, uint64_t address)
{
	char *text = swz_allocate(MOST_TEXT + 1, 1);
	size_t size = address ? perl->reader.read(perl->reader.memory, address,
						  text, MOST_TEXT)
			      : 0;

	if (memchr(text, 0, size)) {
		make_plain(text);
		return text;
	}
	free(text);
	return NULL;
}

/* A HEK; to be freed. */
static char *read_name(const struct swz_perl *perl, uint64_t address)
{
	uint32_t length;
	char *name;

	if (!address ||
	    !read_bytes(perl, address + NAME_LENGTH, &length, sizeof(length)))
		return NULL;
	if (!length || length > MOST_TEXT)
		return NULL;
	name = swz_allocate(length + 1, 1);
	if (read_bytes(perl, address + NAME_TEXT, name, length)) {
		make_plain(name);
		return name;
	}
	free(name);
	return NULL;
}

/* The name of a package; to be freed. */
static char *stash_name(const struct swz_perl *perl, uint64_t stash)
{
	uint8_t sv[SV_BYTES], body[STASH_BYTES];
	uint64_t name;

	if (!read_bytes(perl, stash, sv, sizeof(sv)) ||
	    (swz_script_half(sv, SV_FLAGS) & TYPE_MASK) != IS_STASH ||
	    !read_bytes(perl, swz_script_word(sv, SV_BODY), body, sizeof(body)))
		return NULL;
	name = swz_script_word(body, STASH_NAME);
	/* several names: a table of them */
	if (swz_script_half(body, STASH_NAME_COUNT) &&
	    !read_bytes(perl, name, &name, sizeof(name)))
		return NULL;
	return read_name(perl, name);
}

/* ------------------------------------------------------------ functions */

/* A sub with its package: `main::f`. Those without a name are all called the
 * same, so they have their line. */
static char *sub_name(const struct swz_perl *perl, const uint8_t *sub,
		      uint32_t line)
{
	uint64_t named = swz_script_word(sub, SUB_NAME);
	uint64_t stash = swz_script_word(sub, SUB_STASH);
	uint8_t sv[SV_BYTES], glob[GLOB_BYTES];
	char *own, *package, *name = NULL;

	if (!(swz_script_half(sub, SUB_FLAGS) & IS_NAMED)) {
		if (!read_bytes(perl, named, sv, sizeof(sv)) ||
		    !read_bytes(perl, swz_script_word(sv, SV_BODY), glob,
				sizeof(glob)))
			return NULL;
		named = swz_script_word(glob, GLOB_NAME);
		stash = swz_script_word(glob, GLOB_STASH);
	}
	own = read_name(perl, named);
	package = stash_name(perl, stash);
	if (own && strcmp(own, "__ANON__") == 0)
		name = swz_print("%s::__ANON__:%u", package ? package : "",
				 (unsigned)line);
	else if (own && package)
		name = swz_print("%s::%s", package, own);
	else
		name = own ? swz_duplicate(own) : NULL;
	free(own);
	free(package);
	return name;
}

/* The number of an operation differs from version to version; its name does
 * not. 0: not known so far, as before the names' addresses are relocated. */
static unsigned find_next_state(const struct swz_perl *perl)
{
	for (unsigned i = 0; perl->op_names && i < MOST_OPS; i++) {
		char text[sizeof("nextstate")];
		uint64_t at;

		if (!read_bytes(perl, perl->op_names + 8ull * i, &at,
				sizeof(at)))
			return 0;
		if (read_bytes(perl, at, text, sizeof(text)) &&
		    memcmp(text, "nextstate", sizeof(text)) == 0)
			return i;
	}
	return 0;
}

/* The line of a sub's first statement; 0: not known. */
static uint32_t first_line(struct swz_perl *perl, uint64_t op)
{
	uint8_t cop[COP_BYTES];

	if (!perl->next_state)
		perl->next_state = find_next_state(perl);

	for (unsigned i = 0; op && i < FEW_OPS; i++) {
		if (!read_bytes(perl, op, cop, sizeof(cop)))
			return 0;
		if ((swz_script_half(cop, OP_TYPE) & 0x1ff) == perl->next_state)
			return swz_script_half(cop, COP_LINE);
		op = swz_script_word(cop, OP_NEXT);
	}
	return 0;
}

/* NULL: it is no sub. */
static const struct swz_script_code *sub_code(struct swz_perl *perl,
					      uint64_t address)
{
	const struct swz_script_code *known;
	struct swz_script_object object;
	uint8_t sv[SV_BYTES], sub[SUB_BYTES];
	uint32_t line;

	if (!read_bytes(perl, address, sv, sizeof(sv)) ||
	    (swz_script_half(sv, SV_FLAGS) & TYPE_MASK) != IS_SUB ||
	    !read_bytes(perl, swz_script_word(sv, SV_BODY), sub, sizeof(sub)) ||
	    swz_script_half(sub, SUB_FLAGS) & IS_NATIVE)
		return NULL;
	object = (struct swz_script_object){
		.name = swz_script_word(sub, SUB_NAME),
		.file = swz_script_word(sub, SUB_FILE),
		.lines = swz_script_word(sub, SUB_START)};
	known = swz_script_codes_get(&perl->codes, address, &object);
	if (known)
		return known;
	line = first_line(perl, object.lines);
	return swz_script_codes_add_at(&perl->codes, address, &object,
				       sub_name(perl, sub, line),
				       read_text(perl, object.file), line);
}

/* Returns a COP's file; to be freed. NULL: it says none. */
static char *read_file(const struct swz_perl *perl, uint64_t file)
{
	uint8_t sv[SV_BYTES], glob[GLOB_BYTES];
	char *name, *plain;

	if (perl->interpreter)
		return read_text(perl, file);
	if (!read_bytes(perl, file, sv, sizeof(sv)) ||
	    (swz_script_half(sv, SV_FLAGS) & TYPE_MASK) != IS_GLOB ||
	    !read_bytes(perl, swz_script_word(sv, SV_BODY), glob, sizeof(glob)))
		return NULL;
	name = read_name(perl, swz_script_word(glob, GLOB_NAME));
	plain = name && strncmp(name, "_<", 2) == 0 ? swz_duplicate(name + 2)
						    : NULL;
	free(name);
	return plain;
}

/* Code of a file, or of a text that is evaluated: what its COP says of it. */
static const struct swz_script_code *file_code(struct swz_perl *perl,
					       const uint8_t *cop, bool is_main)
{
	struct swz_script_object object = {
		.file = swz_script_word(cop, COP_FILE), .owner = is_main};
	const struct swz_script_code *known = swz_script_codes_get(
		&perl->codes, object.file, &object);
	char *file, *name;

	if (known)
		return known;
	file = read_file(perl, object.file);
	if (is_main)
		name = swz_duplicate("(main)");
	else
		name = swz_duplicate(file && strncmp(file, "(eval ", 6) == 0
					     ? "(eval)"
					     : "(require)");
	return swz_script_codes_add(&perl->codes, object.file, &object, name,
				    file);
}

/* ------------------------------------------------------------------ frames */

/* CONTEXT NULL: the program itself. False: it is not what it should be. */
static bool add_frame(struct swz_perl *perl, const uint8_t *context)
{
	unsigned type = context ? context[CONTEXT_TYPE] & CONTEXT_MASK
				: OF_EVAL;
	uint8_t cop[COP_BYTES];
	struct swz_script_frame *frame = &perl->frames[perl->count];

	/* (it has not begun to execute anything) */
	if (!read_bytes(perl, perl->cop, cop, sizeof(cop)))
		return !context;
	frame->line = swz_script_half(cop, COP_LINE);
	frame->is_entry = !context;
	if (type == OF_EVAL)
		frame->code = file_code(perl, cop, !context);
	else
		frame->code = sub_code(perl,
				       swz_script_word(context, CONTEXT_SUB));
	/* of what is about to begin the COP may be a built-in one */
	if (!frame->code)
		return !context;
	perl->count++;
	return true;
}

static bool is_call(const uint8_t *context)
{
	unsigned type = context[CONTEXT_TYPE] & CONTEXT_MASK;

	return type == OF_SUB || type == OF_FORMAT ||
	       (type == OF_EVAL && !(context[CONTEXT_TYPE] & IS_BLOCK));
}

/* The calls of one stack, from its top on. */
static bool read_contexts(struct swz_perl *perl, uint64_t contexts, size_t past)
{
	uint8_t some[CONTEXTS_AT_ONCE * CONTEXT_BYTES];

	while (past && perl->count < perl->most) {
		size_t count = past < CONTEXTS_AT_ONCE ? past
						       : CONTEXTS_AT_ONCE;

		past -= count;
		if (!read_bytes(perl, contexts + past * CONTEXT_BYTES, some,
				count * CONTEXT_BYTES))
			return false;
		while (count-- && perl->count < perl->most) {
			const uint8_t *context = some + count * CONTEXT_BYTES;

			if (!is_call(context))
				continue;
			if (!add_frame(perl, context))
				return false;
			perl->cop = swz_script_word(context, CONTEXT_COP);
		}
	}
	return true;
}

static bool read_stacks(struct swz_perl *perl, uint64_t stack)
{
	uint8_t bytes[STACK_BYTES];

	for (unsigned i = 0; stack && i < MOST_STACKS; i++) {
		size_t before = perl->count;
		int32_t top;

		if (!read_bytes(perl, stack, bytes, sizeof(bytes)))
			return false;
		top = (int32_t)swz_script_half(bytes, STACK_TOP);
		if (top >= (int32_t)MOST_CONTEXTS)
			return false;
		if (top >= 0 &&
		    !read_contexts(perl, swz_script_word(bytes, STACK_CONTEXTS),
				   (size_t)top + 1))
			return false;
		stack = swz_script_word(bytes, STACK_PREVIOUS);
		if (stack && perl->count > before)
			perl->frames[perl->count - 1].is_entry = true;
	}
	return true;
}

/* The innermost stack of contexts, and the COP that is executed. */
static bool find_stack(struct swz_perl *perl, uint64_t *stack)
{
	uint64_t cop_at = perl->variable_cop, stack_at = perl->variable_stack;
	uint64_t at;

	if (perl->interpreter) {
		if (!read_bytes(perl, perl->interpreter, &at, sizeof(at)) ||
		    !at)
			return false;
		cop_at = at + INTERPRETER_COP;
		stack_at = at + INTERPRETER_STACK;
	}
	return read_bytes(perl, stack_at, stack, sizeof(*stack)) && *stack &&
	       read_bytes(perl, cop_at, &perl->cop, sizeof(perl->cop));
}

static enum swz_script_result perl_frames(
	struct swz_script_reader *reader,
	const struct swz_script_thread *thread, struct swz_script_frame *frames,
	size_t most, size_t *count)
{
	struct swz_perl *perl = (struct swz_perl *)reader;
	uint64_t stack;
	bool good;

	*count = 0;
	if (thread->tid != thread->pid || !find_stack(perl, &stack))
		return SWZ_SCRIPT_NONE;
	(void)swz_script_codes_begin_stack(&perl->codes);
	perl->frames = frames;
	perl->most = most;
	perl->count = 0;
	good = read_stacks(perl, stack) &&
	       (perl->count == most || add_frame(perl, NULL));
	*count = perl->count;
	if (!good)
		return SWZ_SCRIPT_LOST;
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

/* -------------------------------------------------------------- life */

static bool is_known(const struct swz_script_module *module)
{
	uint64_t revision = module->symbol(module->module, "PL_revision");
	uint64_t version = module->symbol(module->module, "PL_version");
	uint8_t numbers[2];

	return revision && version &&
	       module->read(module->memory, revision, numbers, 1) == 1 &&
	       module->read(module->memory, version, numbers + 1, 1) == 1 &&
	       numbers[0] == 5 && numbers[1] >= 36 && numbers[1] <= 42;
}

static struct swz_script_reader *perl_open(
	const struct swz_script_module *module)
{
	uint64_t loop = module->symbol(module->module, "Perl_runops_standard");
	/* (it is there only with threads, the variables only without) */
	uint64_t key = module->symbol(module->module, "PL_thr_key");
	uint64_t interpreter = module->symbol(module->module, "PL_curinterp");
	uint64_t cop = module->symbol(module->module, "PL_curcop");
	uint64_t stack = module->symbol(module->module, "PL_curstackinfo");
	struct swz_perl *perl;

	if (!loop || !is_known(module) ||
	    !(key ? interpreter != 0 : cop && stack))
		return NULL;
	perl = swz_allocate(1, sizeof(*perl));
	perl->reader = (struct swz_script_reader){
		.language = &swz_perl_language,
		.read = module->read,
		.memory = module->memory,
		.loop = loop};
	perl->interpreter = key ? interpreter : 0;
	perl->variable_cop = cop;
	perl->variable_stack = stack;
	perl->op_names = module->symbol(module->module, "PL_op_name");
	return &perl->reader;
}

static void perl_close(struct swz_script_reader *reader)
{
	struct swz_perl *perl = (struct swz_perl *)reader;

	swz_script_codes_free(&perl->codes);
	free(perl);
}

const struct swz_script_language swz_perl_language = {
	.name = "Perl",
	.program = "perl",
	.libraries = {"libperl.so.5.36", "libperl.so.5.38", "libperl.so.5.40",
		      "libperl.so.5.42"},
	.open = perl_open,
	.frames = perl_frames,
	.close = perl_close,
};
