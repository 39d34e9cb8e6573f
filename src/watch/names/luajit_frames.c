/* LuaJIT 2.1 with 64-bit references (GC64, as for x86-64 it is built by
 * default). Its interpreter is one piece of assembly. Each call of it keeps, at
 * its stack pointer, the lua_State that it runs, and the state points back to
 * the innermost of them: so a word of the stack is known to be a state.
 *
 * Functions lie in the state's stack of values, each with a link to the one
 * before: a place in its caller's code, or a distance. Where they begin is in a
 * register of the interpreter; in the state, while C runs; or where the code
 * was entered that the compiler has made. What that has inlined is in no stack.
 *
 * Functions have no names: the instruction that calls says where the function
 * came from. (lj_obj.h, lj_frame.h, lj_bc.h, lj_debug.c) */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum {
	/* GCobj */
	OBJECT_TYPE = 9,
	/* lua_State; the global one is behind the first */
	STATE_GLOBAL = 16,
	STATE_BASE = 32,
	STATE_LAST = 48,
	STATE_STACK = 56,
	STATE_FRAME = 80,
	STATE_BYTES = 96,
	/* the interpreter's frame in the machine's stack */
	FRAME_STATE = 16,
	FRAME_PC = 24,
	FRAME_PREVIOUS = 32,
	FRAME_BYTES = 80,
	/* GCfunc */
	FUNCTION_KIND = 10, /* 0: in Lua */
	FUNCTION_PC = 32,
	FUNCTION_BYTES = 40,
	/* GCproto; its code is behind it */
	PROTO_PARAMETERS = 10,
	PROTO_CODE_COUNT = 12,
	PROTO_CONSTANTS = 32, /* behind those that are objects */
	PROTO_CONSTANT_COUNT = 48,
	PROTO_UPVALUE_COUNT = 60,
	PROTO_SOURCE = 64,
	PROTO_LINE = 72,
	PROTO_LINE_COUNT = 76,
	PROTO_LINES = 80,
	PROTO_UPVALUES = 88,
	PROTO_VARIABLES = 96,
	PROTO_BYTES = 104,
	/* GCstr */
	TEXT_LENGTH = 20,
	TEXT_HEAD = 24,
	/* global_State, between these: */
	GLOBAL_BYTES = 1024,
	LEAST_STACK = 20 /* LUA_MINSTACK */
};

enum { IS_TEXT = 4, IS_STATE = 6, IS_PROTO = 7, IS_FUNCTION = 8 };

/* By their DWARF numbers: where the function's values begin, and the next
 * instruction. */
enum { REGISTER_DX = 1, REGISTER_BX = 3 };

/* A frame's link: the lowest bits. */
enum { LINK_TYPE = 3, LINK_MASK = 7 };
enum { LINK_LUA, LINK_C, LINK_CONTINUATION, LINK_VARIABLE };

enum {
	OP_LAST_TEST = 15,
	OP_MOVE = 18,
	OP_UPVALUE = 45,
	OP_SET_UPVALUE = 46,
	OP_CLOSE = 50,
	OP_GLOBAL = 54,
	OP_SET_GLOBAL = 55,
	OP_FIELD = 57,
	OP_SET_FIELD = 60,
	OP_LAST_SET = 64,
	OP_CALL_MANY = 65,
	OP_CALL = 66,
	OP_LAST_CALL = 71
};

#define POINTER_MASK ((1ull << 47) - 1)
#define MOST_STACK_BYTES ((uint64_t)1 << 26)
#define MOST_NEAR ((uint64_t)1 << 23) /* within the code of a library */
#define MOST_MACHINE_FRAME 65536u
#define MOST_FRAMES 200000u
#define MOST_STATES 64u
#define MOST_PROBES 1024u
#define MOST_WORDS 16384u
#define WORDS_AT_ONCE 512u
#define MOST_TEXT 1024u
#define MOST_CODE 65536u
#define MOST_BACK 256u /* instructions that a call's arguments take */
#define MOST_NAMES 16384u
#define RESERVED_NAMES 7u /* of variables: of loops, which are not called */
#define FRAME_FLAGS 3ull

struct state {
	uint64_t address, global, base, last, stack, frame;
};

struct swz_luajit {
	struct swz_script_reader reader;
	struct swz_script_codes codes;
	uint64_t near;      /* a function of its library */
	uint32_t jit_state; /* in the global state; 0: not known so far */
	/* of the stack that is read */
	const struct swz_script_thread *thread;
	struct swz_script_frame *frames;
	size_t most, count;
	struct state states[MOST_STATES];
	size_t state_count;
	unsigned probes;
};

struct function {
	uint64_t proto; /* 0: it is in C */
	uint8_t of[PROTO_BYTES];
};

static bool read_bytes(const struct swz_luajit *lua, uint64_t address,
		       void *into, size_t size)
{
	return address && lua->reader.read(lua->reader.memory, address, into,
					   size) == size;
}

static bool read_word(const struct swz_luajit *lua, uint64_t address,
		      uint64_t *word)
{
	return read_bytes(lua, address, word, sizeof(*word));
}

/* ---------------------------------------------------------------- texts */

/* A GCstr; to be freed. NULL: it is none. */
static char *read_text(const struct swz_luajit *lua, uint64_t address)
{
	uint8_t head[TEXT_HEAD];
	uint32_t length;
	char *text;

	if (!read_bytes(lua, address, head, sizeof(head)) ||
	    head[OBJECT_TYPE] != IS_TEXT)
		return NULL;
	length = swz_script_half(head, TEXT_LENGTH);
	length = length < MOST_TEXT ? length : MOST_TEXT;
	text = swz_allocate(length + 1, 1);
	if (!read_bytes(lua, address + TEXT_HEAD, text, length)) {
		free(text);
		return NULL;
	}
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
	return text;
}

/* The file of a chunk; what is no file has no path. */
static char *read_source(const struct swz_luajit *lua, uint64_t address)
{
	char *text = read_text(lua, address), *file;

	if (!text)
		return NULL;
	if (*text == '@')
		file = swz_duplicate(text + 1);
	else
		file = swz_duplicate(*text == '=' ? "(input)" : "(string)");
	free(text);
	return file;
}

/* ---------------------------------------------------------------- names */

static unsigned a_of(uint32_t instruction)
{
	return instruction >> 8 & 0xff;
}

static unsigned c_of(uint32_t instruction)
{
	return instruction >> 16 & 0xff;
}

static unsigned d_of(uint32_t instruction)
{
	return instruction >> 16;
}

/* A constant that is a name: they are before where the pointer leads. */
static char *constant(const struct swz_luajit *lua, const struct function *f,
		      unsigned index)
{
	uint64_t table = swz_script_word(f->of, PROTO_CONSTANTS), text;

	return index < swz_script_half(f->of, PROTO_CONSTANT_COUNT) &&
			       read_word(lua, table - 8ull * (index + 1), &text)
		       ? read_text(lua, text)
		       : NULL;
}

/* Reads names that lie behind each other. Returns how many bytes. */
static size_t read_names(const struct swz_luajit *lua, uint64_t address,
			 uint8_t *names, size_t size)
{
	return address ? lua->reader.read(lua->reader.memory, address, names,
					  size)
		       : 0;
}

static char *copy_name(const uint8_t *name, size_t size)
{
	const uint8_t *end = memchr(name, 0, size);

	return end ? swz_duplicate((const char *)name) : NULL;
}

static size_t past_name(const uint8_t *names, size_t size, size_t at)
{
	const uint8_t *end = memchr(names + at, 0, size - at);

	return end ? (size_t)(end - names) + 1 : size;
}

static char *upvalue(const struct swz_luajit *lua, const struct function *f,
		     unsigned index)
{
	uint8_t *names = swz_allocate(MOST_NAMES, 1);
	size_t at = 0, size = 0;
	char *name = NULL;

	if (index < f->of[PROTO_UPVALUE_COUNT])
		size = read_names(lua, swz_script_word(f->of, PROTO_UPVALUES),
				  names, MOST_NAMES);
	while (at < size && index--)
		at = past_name(names, size, at);
	if (at < size)
		name = copy_name(names + at, size - at);
	free(names);
	return name;
}

static uint32_t read_number(const uint8_t *bytes, size_t size, size_t *at)
{
	uint32_t value = 0;

	for (unsigned shift = 0; *at < size; shift += 7) {
		uint8_t byte = bytes[(*at)++];

		if (shift < 28)
			value |= (byte & 0x7fu) << shift;
		if (byte < 0x80)
			break;
	}
	return value;
}

/* The variable in a slot at an instruction: each is a name, where it begins to
 * live, after the one before it, and how long. Parameters do not say what they
 * hold. */
static char *variable(const struct swz_luajit *lua, const struct function *f,
		      unsigned slot, uint32_t pc)
{
	uint8_t *names = swz_allocate(MOST_NAMES, 1);
	size_t size = read_names(lua, swz_script_word(f->of, PROTO_VARIABLES),
				 names, MOST_NAMES);
	uint32_t from = 0;
	char *found = NULL;

	if (slot < f->of[PROTO_PARAMETERS])
		size = 0;
	for (size_t at = 0; at < size && names[at];) {
		size_t name = at;
		uint32_t to;

		at = names[at] < RESERVED_NAMES ? at + 1
						: past_name(names, size, at);
		from += read_number(names, size, &at);
		if (from > pc)
			break;
		to = from + read_number(names, size, &at);
		if (pc < to && !slot--) {
			if (names[name] >= RESERVED_NAMES)
				found = copy_name(names + name, size - name);
			break;
		}
	}
	free(names);
	return found;
}

/* Names the value that an instruction has put into a slot. */
static char *loaded(const struct swz_luajit *lua, const struct function *f,
		    uint32_t instruction, uint32_t at)
{
	switch (instruction & 0xff) {
	case OP_MOVE:
		return variable(lua, f, d_of(instruction), at);
	case OP_UPVALUE:
		return upvalue(lua, f, d_of(instruction));
	case OP_GLOBAL:
		return constant(lua, f, d_of(instruction));
	case OP_FIELD:
		return constant(lua, f, c_of(instruction));
	default:
		return NULL;
	}
}

static bool sets_nothing(unsigned op)
{
	return op <= OP_LAST_TEST || (op >= OP_SET_UPVALUE && op <= OP_CLOSE) ||
	       op == OP_SET_GLOBAL || (op >= OP_SET_FIELD && op <= OP_LAST_SET);
}

/* Which instruction is before PC; false: none of the function's. */
static bool place_of(const struct function *f, uint64_t pc, uint32_t *at)
{
	uint64_t code = f->proto + PROTO_BYTES;
	uint64_t count = swz_script_half(f->of, PROTO_CODE_COUNT);

	if (pc % 4 || pc <= code || pc - code > 4 * count)
		return false;
	*at = (uint32_t)((pc - code) / 4 - 1);
	return true;
}

/* The name by which CALLER calls, before PC; NULL: none. */
static char *called_by_name(const struct swz_luajit *lua,
			    const struct function *caller, uint64_t pc)
{
	uint32_t back[MOST_BACK], at, count, slot;
	unsigned op;

	if (!place_of(caller, pc, &at))
		return NULL;
	count = at + 1 < MOST_BACK ? at + 1 : MOST_BACK;
	if (!read_bytes(lua, pc - 4ull * count, back, 4ull * count))
		return NULL;
	op = back[count - 1] & 0xff;
	if (op != OP_CALL && op != OP_CALL_MANY)
		return NULL;
	slot = a_of(back[count - 1]);
	for (uint32_t i = count - 1; i-- > 0;) {
		op = back[i] & 0xff;
		if (op >= OP_CALL_MANY && op <= OP_LAST_CALL &&
		    a_of(back[i]) <= slot)
			return NULL;
		if (a_of(back[i]) == slot && !sets_nothing(op))
			return loaded(lua, caller, back[i],
				      at - (count - 1 - i));
	}
	return NULL;
}

/* ---------------------------------------------------------------- lines */

/* Lines are numbers of one, two or four bytes, behind the function's first. The
 * first instruction has none. */
static uint32_t line_at(const struct swz_luajit *lua, const struct function *f,
			uint32_t at)
{
	uint32_t lines = swz_script_half(f->of, PROTO_LINE_COUNT), more = 0;
	uint64_t table = swz_script_word(f->of, PROTO_LINES), line;
	uint64_t size = lines < 256 ? 1 : lines < 65536 ? 2 : 4;

	if (at &&
	    !read_bytes(lua, table ? table + size * (at - 1) : 0, &more, size))
		return 0;
	line = (uint64_t)swz_script_half(f->of, PROTO_LINE) + more;
	return line < INT32_MAX ? (uint32_t)line : 0;
}

/* ------------------------------------------------------------ functions */

/* The function of a frame; false: there is none. */
static bool read_function(const struct swz_luajit *lua, uint64_t value,
			  struct function *f)
{
	uint8_t bytes[FUNCTION_BYTES];

	f->proto = 0;
	if (!read_bytes(lua, value & POINTER_MASK, bytes, sizeof(bytes)))
		return false;
	/* (a state stands there where an operator has failed) */
	if (bytes[OBJECT_TYPE] != IS_FUNCTION)
		return bytes[OBJECT_TYPE] == IS_STATE;
	if (bytes[FUNCTION_KIND])
		return true;
	f->proto = swz_script_word(bytes, FUNCTION_PC) - PROTO_BYTES;
	return read_bytes(lua, f->proto, f->of, PROTO_BYTES) &&
	       f->of[OBJECT_TYPE] == IS_PROTO;
}

/* CALLER is what called it, by the instruction before PC. */
static char *name_of(const struct swz_luajit *lua, const struct function *f,
		     const struct function *caller, uint64_t pc)
{
	uint32_t line = swz_script_half(f->of, PROTO_LINE);
	char *name;

	if (!line)
		return swz_duplicate("(main)");
	name = caller->proto ? called_by_name(lua, caller, pc) : NULL;
	if (name && *name)
		return name;
	free(name);
	return swz_print("function:%u", (unsigned)line);
}

static bool add_function(struct swz_luajit *lua, const struct function *f,
			 uint64_t pc, const struct function *caller,
			 uint64_t called_at)
{
	const struct swz_script_object object = {
		.name = swz_script_word(f->of, PROTO_LINES),
		.file = swz_script_word(f->of, PROTO_SOURCE),
		.line = swz_script_half(f->of, PROTO_LINE)};
	const struct swz_script_code *code = swz_script_codes_get(
		&lua->codes, f->proto, &object);
	uint32_t at;

	if (!code)
		code = swz_script_codes_add(&lua->codes, f->proto, &object,
					    name_of(lua, f, caller, called_at),
					    read_source(lua, object.file));
	if (!code)
		return false;
	lua->frames[lua->count++] = (struct swz_script_frame){
		.code = code,
		.line = place_of(f, pc, &at) ? line_at(lua, f, at) : 0};
	return true;
}

/* ---------------------------------------------------------------- frames */

/* A function's frame: the value before AT is the function, that at AT the
 * link. */
struct place {
	uint64_t at, link, value;
};

static bool read_place(const struct swz_luajit *lua, const struct state *state,
		       uint64_t at, struct place *place)
{
	uint64_t words[2];

	if (at % 8 || at < state->stack + 8 || at > state->last ||
	    !read_bytes(lua, at - 8, words, sizeof(words)))
		return false;
	*place = (struct place){at, words[1], words[0]};
	return true;
}

/* The frame below; 0: it is not known. */
static uint64_t frame_before(const struct swz_luajit *lua,
			     const struct place *place)
{
	uint32_t instruction;

	if ((place->link & LINK_TYPE) != LINK_LUA)
		return place->at - (place->link & ~(uint64_t)LINK_MASK);
	return read_bytes(lua, place->link - 4, &instruction,
			  sizeof(instruction))
		       ? place->at - 8ull * (2 + a_of(instruction))
		       : 0;
}

/* Where the frame below goes on, if this one's link says that; or 0. */
static uint64_t pc_before(const struct swz_luajit *lua,
			  const struct place *place)
{
	uint64_t pc;

	if ((place->link & LINK_TYPE) == LINK_LUA)
		return place->link;
	return (place->link & LINK_MASK) == LINK_CONTINUATION &&
			       read_word(lua, place->at - 16, &pc)
		       ? pc
		       : 0;
}

/* C has called what is there: the interpreter runs anew. */
static void end_call(struct swz_luajit *lua, size_t from)
{
	if (lua->count > from)
		lua->frames[lua->count - 1].is_entry = true;
	else if (lua->count < lua->most)
		/* it has no function of the script's */
		lua->frames[lua->count++] = (struct swz_script_frame){
			.is_entry = true};
}

/* The call of a function that takes any arguments is below its frame. */
static bool go_to_call(const struct swz_luajit *lua, const struct state *state,
		       struct place *place)
{
	return (place->link & LINK_MASK) != LINK_VARIABLE ||
	       read_place(lua, state, frame_before(lua, place), place);
}

/* PC: where the innermost function executes; 0: not known. */
static bool add_frames(struct swz_luajit *lua, const struct state *state,
		       uint64_t base, uint64_t pc)
{
	uint64_t bottom = state->stack + 8, at = base - 8;
	size_t from = lua->count;
	struct function f, caller;
	struct place place, next = {0};

	if (at <= bottom)
		return true;
	if (!read_place(lua, state, at, &place) ||
	    !read_function(lua, place.value, &f))
		return false;
	for (unsigned i = 0; at > bottom && lua->count < lua->most; i++) {
		uint64_t called_at;

		if (i == MOST_FRAMES || !go_to_call(lua, state, &place))
			return false;
		at = frame_before(lua, &place);
		called_at = pc_before(lua, &place);
		caller.proto = 0;
		if (at >= place.at ||
		    (at > bottom &&
		     (!read_place(lua, state, at, &next) ||
		      !read_function(lua, next.value, &caller))) ||
		    (f.proto && !add_function(lua, &f, pc, &caller, called_at)))
			return false;
		if ((place.link & LINK_TYPE) == LINK_C || at <= bottom) {
			end_call(lua, from);
			from = lua->count;
		}
		pc = called_at;
		f = caller;
		place = next;
	}
	return true;
}

/* ---------------------------------------------------------------- states */

/* The word at AT of the machine's stack is a state, whose innermost call of the
 * interpreter is there. */
static bool is_state(struct swz_luajit *lua, uint64_t word, uint64_t at,
		     struct state *state)
{
	uint8_t bytes[STATE_BYTES];

	if (word % 8 || word < 65536 || word >> 47 ||
	    lua->probes++ >= MOST_PROBES ||
	    !read_bytes(lua, word, bytes, sizeof(bytes)) ||
	    bytes[OBJECT_TYPE] != IS_STATE)
		return false;
	*state = (struct state){.address = word,
				.global = swz_script_word(bytes, STATE_GLOBAL),
				.base = swz_script_word(bytes, STATE_BASE),
				.last = swz_script_word(bytes, STATE_LAST),
				.stack = swz_script_word(bytes, STATE_STACK),
				.frame = swz_script_word(bytes, STATE_FRAME) &
					 ~FRAME_FLAGS};
	return state->frame + FRAME_STATE == at && state->stack % 8 == 0 &&
	       state->last > state->stack &&
	       state->last - state->stack <= MOST_STACK_BYTES &&
	       (!lua->state_count || state->global == lua->states[0].global);
}

static bool is_first_state(const struct state *state)
{
	return state->global - state->address <= UINT64_C(2) * STATE_BYTES;
}

static void find_states(struct swz_luajit *lua)
{
	uint64_t some[WORDS_AT_ONCE];
	uint64_t start = lua->thread->stack_start;

	start += -start % 8;
	for (uint64_t done = 0; done < MOST_WORDS; done += WORDS_AT_ONCE) {
		uint64_t from = start + 8 * done;
		size_t count = lua->reader.read(lua->reader.memory, from, some,
						sizeof(some)) /
			       8;

		for (size_t i = 0; i < count; i++) {
			struct state *to = &lua->states[lua->state_count];

			if (!is_state(lua, some[i], from + 8 * i, to))
				continue;
			lua->state_count++;
			if (is_first_state(to) ||
			    lua->state_count == MOST_STATES)
				return;
		}
		if (count < WORDS_AT_ONCE)
			return;
	}
}

/* The base of what runs in code that the compiler has made, or that this has
 * called; 0: none does. Before it in the global state is what runs, and before
 * that are two instructions that say how much stack C gets. */
static uint64_t jit_base(struct swz_luajit *lua, const struct state *state)
{
	uint8_t global[GLOBAL_BYTES];
	size_t size = lua->reader.read(lua->reader.memory, state->global,
				       global, sizeof(global));
	size_t at = lua->jit_state;

	if (!at)
		for (at = 8; at + 16 <= size; at += 8)
			if (global[at - 7] == LEAST_STACK &&
			    global[at - 3] == LEAST_STACK && !global[at - 6] &&
			    !global[at - 5] && !global[at - 2] &&
			    !global[at - 1])
				break;
	if (at + 16 > size)
		return 0;
	lua->jit_state = (uint32_t)at;
	return swz_script_word(global, at) == state->address
		       ? swz_script_word(global, at + 8)
		       : 0;
}

/* The interpreter has no name: an address in it is where a call of it stands,
 * or goes on. */
static void find_loop(struct swz_luajit *lua, const struct state *state)
{
	uint64_t at = lua->thread->pc, frame = state->frame;

	if (lua->reader.inner_loop)
		return;
	if (lua->thread->stack_start != frame &&
	    (!read_word(lua, frame - 8, &at) ||
	     at - lua->near + MOST_NEAR > 2 * MOST_NEAR)) {
		if (!read_word(lua, frame + FRAME_PREVIOUS, &frame) ||
		    !read_word(lua, (frame & ~FRAME_FLAGS) - 8, &at))
			return;
	}
	if (at - lua->near + MOST_NEAR <= 2 * MOST_NEAR)
		lua->reader.inner_loop = at;
}

/* True if the thread stands in the interpreter itself, or in a routine of it
 * that it has called: then the frame is one word further up. */
static bool is_in_interpreter(struct swz_luajit *lua, const struct state *state)
{
	uint64_t start = lua->thread->stack_start, back;

	if (lua->thread->register_count <= REGISTER_BX ||
	    lua->thread->pc - lua->near + MOST_NEAR > 2 * MOST_NEAR)
		return false;
	if (start + 8 == state->frame && read_word(lua, start, &back) &&
	    back - lua->near + MOST_NEAR <= 2 * MOST_NEAR) {
		lua->reader.sp = state->frame;
		return true;
	}
	return start == state->frame;
}

static bool add_state(struct swz_luajit *lua, size_t i)
{
	const struct state *state = &lua->states[i];
	const uint64_t *registers = lua->thread->registers;
	uint64_t base = 0, pc = 0;
	struct place place;

	if (!i)
		base = jit_base(lua, state);
	if (base)
		return add_frames(lua, state, base, 0);
	if (!i && is_in_interpreter(lua, state) &&
	    read_place(lua, state, registers[REGISTER_DX] - 8, &place) &&
	    (int64_t)place.value >> 47 == ~(int64_t)IS_FUNCTION)
		return add_frames(lua, state, registers[REGISTER_DX],
				  registers[REGISTER_BX]);
	(void)read_word(lua, state->frame + FRAME_PC, &pc);
	return add_frames(lua, state, state->base, pc);
}

static enum swz_script_result luajit_frames(
	struct swz_script_reader *reader,
	const struct swz_script_thread *thread, struct swz_script_frame *frames,
	size_t most, size_t *count)
{
	struct swz_luajit *lua = (struct swz_luajit *)reader;
	bool good = true;

	lua->thread = thread;
	lua->frames = frames;
	lua->most = most;
	lua->count = lua->state_count = lua->probes = 0;
	lua->reader.sp = 0;
	(void)swz_script_codes_begin_stack(&lua->codes);
	find_states(lua);
	if (lua->state_count)
		find_loop(lua, &lua->states[0]);
	for (size_t i = 0; good && i < lua->state_count; i++)
		good = add_state(lua, i);
	lua->thread = NULL;
	*count = lua->count;
	if (!good)
		return SWZ_SCRIPT_LOST;
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

/* Code that the compiler has made runs on the frame of the interpreter, with
 * more room below it. */
static enum swz_script_leave luajit_leave(struct swz_script_reader *reader,
					  uint64_t pc, uint64_t sp,
					  bool is_innermost, uint32_t *size)
{
	const struct swz_luajit *lua = (const struct swz_luajit *)reader;

	(void)pc;
	(void)is_innermost;
	for (size_t i = 0; i < lua->state_count; i++) {
		uint64_t end = lua->states[i].frame + FRAME_BYTES;

		if (sp >= end)
			continue;
		if (end - sp > MOST_MACHINE_FRAME)
			break;
		*size = (uint32_t)(end - sp);
		return SWZ_LEAVE_BY_SIZE_WITH_RBP;
	}
	return SWZ_LEAVE_UNKNOWN;
}

/* -------------------------------------------------------------- life */

static struct swz_script_reader *luajit_open(
	const struct swz_script_module *module)
{
	uint64_t near = module->symbol(module->module, "lua_pcall");
	struct swz_luajit *lua;

	if (!near || !module->symbol(module->module, "luaJIT_setmode") ||
	    !module->symbol(module->module, "luaJIT_profile_start"))
		return NULL;
	lua = swz_allocate(1, sizeof(*lua));
	lua->reader = (struct swz_script_reader){
		.language = &swz_luajit_language,
		.read = module->read,
		.memory = module->memory};
	lua->near = near;
	return &lua->reader;
}

static void luajit_close(struct swz_script_reader *reader)
{
	struct swz_luajit *lua = (struct swz_luajit *)reader;

	swz_script_codes_free(&lua->codes);
	free(lua);
}

const struct swz_script_language swz_luajit_language = {
	.name = "LuaJIT",
	.program = "luajit",
	.libraries = {"libluajit-5.1.so"},
	.is_often_embedded = true,
	.runs_made_code = true,
	.open = luajit_open,
	.frames = luajit_frames,
	.leave = luajit_leave,
	.close = luajit_close,
};
