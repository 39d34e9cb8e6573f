/* Lua 5.4, alone or in a program that has it. No variable leads to a lua_State:
 * each C function has its address as an argument, so one of the registers or
 * of the words on the stack is it. The first that is a state is what runs; the
 * next ones are those that have resumed it, up to the first of all.
 *
 * A state has a chain of calls (CallInfo). One that C has made of a function in
 * Lua is fresh: it has a call of luaV_execute of its own. Functions have no
 * names: the instruction that calls says where the function came from, as in
 * Lua's own back traces. (lstate.h, lobject.h, lopcodes.h, ldebug.c) */

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"
#include "watch/names/script_codes.h"
#include "watch/names/script_language.h"

enum {
	/* lua_State */
	STATE_TYPE = 8,
	STATE_TOP = 16,
	STATE_GLOBAL = 24,
	STATE_CALL = 32,
	STATE_STACK_LAST = 40,
	STATE_STACK = 48,
	STATE_BYTES = 56,
	/* CallInfo */
	CALL_FUNCTION = 0,
	CALL_PREVIOUS = 16,
	CALL_PC = 32,
	CALL_STATUS = 62,
	CALL_BYTES = 64,
	/* TValue */
	VALUE_TYPE = 8,
	VALUE_BYTES = 16,
	/* LClosure */
	CLOSURE_PROTO = 24,
	CLOSURE_BYTES = 32,
	/* Proto */
	PROTO_TYPE = 8,
	PROTO_PARAMETERS = 10,
	PROTO_UPVALUE_COUNT = 16,
	PROTO_CONSTANT_COUNT = 20,
	PROTO_CODE_COUNT = 24,
	PROTO_LINE_COUNT = 28,
	PROTO_VARIABLE_COUNT = 36,
	PROTO_PLACE_COUNT = 40,
	PROTO_LINE = 44,
	PROTO_CONSTANTS = 56,
	PROTO_CODE = 64,
	PROTO_UPVALUES = 80,
	PROTO_LINES = 88,
	PROTO_PLACES = 96,
	PROTO_VARIABLES = 104,
	PROTO_SOURCE = 112,
	PROTO_BYTES = 120,
	/* TString */
	TEXT_TYPE = 8,
	TEXT_SHORT_LENGTH = 11,
	TEXT_LONG_LENGTH = 16,
	TEXT_HEAD = 24
};

#define IS_STATE 8u /* LUA_VTHREAD */
#define IS_PROTO 10u
#define IS_SHORT 4u
#define IS_LONG 20u
#define IS_CLOSURE 0x46u /* LUA_VLCL, collectable */
#define IS_SHORT_VALUE 0x44u
#define CALL_OF_C 2u
#define CALL_FRESH 4u
#define CALL_TAIL 32u

enum {
	OP_MOVE = 0,
	OP_GETUPVAL = 9,
	OP_GETTABUP = 11,
	OP_GETFIELD = 14,
	OP_SELF = 20,
	OP_JMP = 56,
	OP_CALL = 68
};

#define MOST_STACK_BYTES ((uint64_t)1 << 26)
#define MOST_CALLS 200000u
#define MOST_STATES 64u
#define MOST_PROBES 1024u
#define MOST_WORDS 16384u /* of the machine's stack */
#define WORDS_AT_ONCE 512u
#define MOST_MAIN_BYTES \
	512u /* a first state and its global one lie together \
	      */
#define MOST_TEXT 1024u
#define MOST_ITEMS 65536u /* in the tables of a function */
#define MOST_BACK 256u    /* instructions that a call's arguments take */

struct swz_lua {
	struct swz_script_reader reader;
	struct swz_script_codes codes;
	/* of the stack that is read */
	const struct swz_script_thread *thread;
	struct swz_script_frame *frames;
	size_t most, count;
	uint64_t states[MOST_STATES], global;
	size_t state_count;
	unsigned probes;
};

/* A call of a function in Lua. */
struct call {
	uint64_t proto, pc, previous;
	unsigned status;
	uint8_t of[PROTO_BYTES];
};

static bool read_bytes(const struct swz_lua *lua, uint64_t address, void *into,
		       size_t size)
{
	return address && lua->reader.read(lua->reader.memory, address, into,
					   size) == size;
}

/* ---------------------------------------------------------------- texts */

/* A TString; to be freed. NULL: it is none. */
static char *read_text(const struct swz_lua *lua, uint64_t address)
{
	uint8_t head[TEXT_HEAD];
	uint64_t length;
	char *text;

	if (!read_bytes(lua, address, head, sizeof(head)))
		return NULL;
	if (head[TEXT_TYPE] == IS_SHORT)
		length = head[TEXT_SHORT_LENGTH];
	else if (head[TEXT_TYPE] == IS_LONG)
		length = swz_script_word(head, TEXT_LONG_LENGTH);
	else
		return NULL;
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
static char *read_source(const struct swz_lua *lua, uint64_t address)
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
	return instruction >> 7 & 0xff;
}

static unsigned b_of(uint32_t instruction)
{
	return instruction >> 16 & 0xff;
}

static unsigned c_of(uint32_t instruction)
{
	return instruction >> 24;
}

static char *read_pointed(const struct swz_lua *lua, uint64_t table,
			  unsigned index, unsigned count)
{
	uint64_t text;

	return index < count && read_bytes(lua, table + 16ull * index, &text,
					   sizeof(text))
		       ? read_text(lua, text)
		       : NULL;
}

/* A constant that is a name; NULL: it is another one. */
static char *constant(const struct swz_lua *lua, const struct call *call,
		      unsigned index)
{
	uint64_t table = swz_script_word(call->of, PROTO_CONSTANTS);
	uint8_t type;

	if (index >= swz_script_half(call->of, PROTO_CONSTANT_COUNT) ||
	    !read_bytes(lua, table + 16ull * index + VALUE_TYPE, &type, 1) ||
	    type != IS_SHORT_VALUE)
		return NULL;
	return read_pointed(lua, table, index, UINT32_MAX);
}

/* The variable in a register at an instruction. Parameters do not say what
 * they hold. */
static char *variable(const struct swz_lua *lua, const struct call *call,
		      unsigned index, uint32_t at)
{
	uint64_t table = swz_script_word(call->of, PROTO_VARIABLES);
	uint32_t count = swz_script_half(call->of, PROTO_VARIABLE_COUNT);

	if (index < call->of[PROTO_PARAMETERS] || count > MOST_ITEMS)
		return NULL;
	for (uint32_t i = 0; i < count; i++) {
		uint8_t entry[16];

		if (!read_bytes(lua, table + 16ull * i, entry, sizeof(entry)) ||
		    swz_script_half(entry, 8) > at)
			return NULL;
		if (at < swz_script_half(entry, 12) && !index--)
			return read_text(lua, swz_script_word(entry, 0));
	}
	return NULL;
}

/* Names the value that an instruction has put into a register. */
static char *loaded(const struct swz_lua *lua, const struct call *call,
		    uint32_t instruction, uint32_t at)
{
	switch (instruction & 0x7f) {
	case OP_MOVE:
		return variable(lua, call, b_of(instruction), at);
	case OP_GETUPVAL:
		return read_pointed(
			lua, swz_script_word(call->of, PROTO_UPVALUES),
			b_of(instruction),
			swz_script_half(call->of, PROTO_UPVALUE_COUNT));
	case OP_GETTABUP:
	case OP_GETFIELD:
	case OP_SELF:
		return constant(lua, call, c_of(instruction));
	default:
		return NULL;
	}
}

/* Which instruction a call executes; false: none of its own. */
static bool place_of(const struct call *call, uint64_t pc, uint32_t *at)
{
	uint64_t code = swz_script_word(call->of, PROTO_CODE);
	uint64_t count = swz_script_half(call->of, PROTO_CODE_COUNT);

	if (pc % 4 || pc <= code || pc - code > 4 * count)
		return false;
	*at = (uint32_t)((pc - code) / 4 - 1); /* pc is behind it */
	return true;
}

/* The name by which CALLER calls; NULL: none. */
static char *called_by_name(const struct swz_lua *lua,
			    const struct call *caller)
{
	uint64_t code = swz_script_word(caller->of, PROTO_CODE);
	uint32_t back[MOST_BACK], at, count, to;

	if (!place_of(caller, caller->pc, &at) || at == UINT32_MAX)
		return NULL;
	count = at + 1 < MOST_BACK ? at + 1 : MOST_BACK;
	if (!read_bytes(lua, code + 4ull * (at + 1 - count), back,
			4ull * count) ||
	    (back[count - 1] & 0x7f) != OP_CALL)
		return NULL;
	to = a_of(back[count - 1]);
	for (uint32_t i = 1; i < count; i++) {
		uint32_t loads = back[count - 1 - i];

		if ((loads & 0x7f) != OP_JMP && a_of(loads) == to)
			return loaded(lua, caller, loads, at - i);
	}
	return NULL;
}

/* ---------------------------------------------------------------- lines */

/* Lines are differences to that of the instruction before, and at some places
 * they are told. Returns 0: not known. */
static uint32_t line_at(const struct swz_lua *lua, const struct call *call,
			uint32_t at)
{
	uint64_t places = swz_script_word(call->of, PROTO_PLACES);
	uint32_t count = swz_script_half(call->of, PROTO_PLACE_COUNT);
	int64_t line = swz_script_half(call->of, PROTO_LINE), from = -1;
	int8_t some[256];

	if (at >= swz_script_half(call->of, PROTO_LINE_COUNT))
		return 0;
	for (uint32_t low = 0, high = count < MOST_ITEMS ? count : 0;
	     low < high;) {
		uint32_t middle = low + (high - low) / 2, place[2];

		if (!read_bytes(lua, places + 8ull * middle, place,
				sizeof(place)))
			return 0;
		if (place[0] <= at) {
			low = middle + 1;
			from = place[0];
			line = place[1];
		} else {
			high = middle;
		}
	}
	/* (there is a place at least each 128 instructions) */
	if (at - from > (int64_t)sizeof(some) ||
	    !read_bytes(lua,
			swz_script_word(call->of, PROTO_LINES) +
				(uint64_t)(from + 1),
			some, (size_t)(at - from)))
		return from == at && line > 0 ? (uint32_t)line : 0;
	for (int64_t i = 0; i < at - from; i++)
		line += some[i];
	return line > 0 && line < UINT32_MAX ? (uint32_t)line : 0;
}

/* The instruction of the innermost function is in a register while it runs. */
static uint64_t pc_in_register(const struct swz_lua *lua,
			       const struct call *call)
{
	uint32_t at;

	for (size_t i = 0; i < lua->thread->register_count; i++)
		if (place_of(call, lua->thread->registers[i], &at))
			return lua->thread->registers[i];
	return call->pc;
}

/* ---------------------------------------------------------------- calls */

/* Reads a call of a function in Lua, or in C, whose proto is 0 then. False: it
 * is none. */
static bool read_call(const struct swz_lua *lua, uint64_t address,
		      struct call *call)
{
	uint8_t info[CALL_BYTES], value[VALUE_BYTES], closure[CLOSURE_BYTES];

	if (address % 8 || !read_bytes(lua, address, info, sizeof(info)))
		return false;
	call->proto = 0;
	call->previous = swz_script_word(info, CALL_PREVIOUS);
	call->pc = swz_script_word(info, CALL_PC);
	call->status = info[CALL_STATUS];
	if (call->status & CALL_OF_C || !call->previous)
		return true;
	if (!read_bytes(lua, swz_script_word(info, CALL_FUNCTION), value,
			sizeof(value)) ||
	    value[VALUE_TYPE] != IS_CLOSURE ||
	    !read_bytes(lua, swz_script_word(value, 0), closure,
			sizeof(closure)))
		return false;
	call->proto = swz_script_word(closure, CLOSURE_PROTO);
	return read_bytes(lua, call->proto, call->of, PROTO_BYTES) &&
	       call->of[PROTO_TYPE] == IS_PROTO;
}

static char *name_of(const struct swz_lua *lua, const struct call *call)
{
	uint32_t line = swz_script_half(call->of, PROTO_LINE);
	struct call caller;
	char *name = NULL;

	if (!line)
		return swz_duplicate("(main)");
	if (!(call->status & (CALL_FRESH | CALL_TAIL)) &&
	    read_call(lua, call->previous, &caller) && caller.proto)
		name = called_by_name(lua, &caller);
	if (name && *name)
		return name;
	free(name);
	return swz_print("function:%u", (unsigned)line);
}

static bool add_call(struct swz_lua *lua, const struct call *call)
{
	const struct swz_script_object object = {
		.name = swz_script_word(call->of, PROTO_CODE),
		.file = swz_script_word(call->of, PROTO_SOURCE),
		.line = swz_script_half(call->of, PROTO_LINE)};
	const struct swz_script_code *code = swz_script_codes_get(
		&lua->codes, call->proto, &object);
	struct swz_script_frame *frame = &lua->frames[lua->count];
	uint64_t pc = lua->count ? call->pc : pc_in_register(lua, call);
	uint32_t at;

	if (!code)
		code = swz_script_codes_add(&lua->codes, call->proto, &object,
					    name_of(lua, call),
					    read_source(lua, object.file));
	if (!code)
		return false;
	*frame = (struct swz_script_frame){
		.code = code,
		.line = place_of(call, pc, &at) ? line_at(lua, call, at) : 0,
		.is_entry = (call->status & CALL_FRESH) != 0};
	lua->count++;
	return true;
}

static bool add_calls(struct swz_lua *lua, uint64_t state)
{
	size_t before = lua->count;
	struct call call;
	uint64_t at;

	if (!read_bytes(lua, state + STATE_CALL, &at, sizeof(at)))
		return false;
	for (unsigned i = 0; at && lua->count < lua->most; i++) {
		if (i == MOST_CALLS || !read_call(lua, at, &call) ||
		    (call.proto && !add_call(lua, &call)))
			return false;
		at = call.previous;
	}
	/* (what has been resumed after it had yielded) */
	if (lua->count > before)
		lua->frames[lua->count - 1].is_entry = true;
	return true;
}

/* --------------------------------------------------------------- states */

static bool is_state(struct swz_lua *lua, uint64_t address)
{
	uint8_t state[STATE_BYTES], info[CALL_BYTES];
	uint64_t stack, last, top, global, function;

	if (address % 8 || address < 65536 || address >> 47 ||
	    lua->probes++ >= MOST_PROBES ||
	    !read_bytes(lua, address, state, sizeof(state)) ||
	    state[STATE_TYPE] != IS_STATE)
		return false;
	stack = swz_script_word(state, STATE_STACK);
	last = swz_script_word(state, STATE_STACK_LAST);
	top = swz_script_word(state, STATE_TOP);
	global = swz_script_word(state, STATE_GLOBAL);
	if (!global || global % 8 || (lua->global && global != lua->global) ||
	    stack % 8 || last <= stack || last - stack > MOST_STACK_BYTES ||
	    top < stack || top - stack > MOST_STACK_BYTES ||
	    !read_bytes(lua, swz_script_word(state, STATE_CALL), info,
			sizeof(info)))
		return false;
	function = swz_script_word(info, CALL_FUNCTION);
	if (function < stack || function > last)
		return false;
	lua->global = global;
	return true;
}

/* True if no other one has resumed it. */
static bool is_first(const struct swz_lua *lua, uint64_t state)
{
	return lua->global - state < MOST_MAIN_BYTES;
}

/* True if all states have been found. */
static bool take_state(struct swz_lua *lua, uint64_t word)
{
	for (size_t i = 0; i < lua->state_count; i++)
		if (lua->states[i] == word)
			return false;
	if (!is_state(lua, word))
		return false;
	lua->states[lua->state_count++] = word;
	return is_first(lua, word) || lua->state_count == MOST_STATES;
}

static void find_states(struct swz_lua *lua)
{
	const struct swz_script_thread *thread = lua->thread;
	uint64_t some[WORDS_AT_ONCE];

	for (size_t i = 0; i < thread->register_count; i++)
		if (take_state(lua, thread->registers[i]))
			return;
	for (uint64_t at = 0; at < MOST_WORDS && lua->probes < MOST_PROBES;
	     at += WORDS_AT_ONCE) {
		size_t bytes = lua->reader.read(lua->reader.memory,
						thread->stack_start + 8 * at,
						some, sizeof(some));

		for (size_t i = 0; i < bytes / 8; i++)
			if (take_state(lua, some[i]))
				return;
		if (bytes < sizeof(some))
			return;
	}
}

static enum swz_script_result lua_frames(struct swz_script_reader *reader,
					 const struct swz_script_thread *thread,
					 struct swz_script_frame *frames,
					 size_t most, size_t *count)
{
	struct swz_lua *lua = (struct swz_lua *)reader;
	bool good = true;

	lua->thread = thread;
	lua->frames = frames;
	lua->most = most;
	lua->count = lua->state_count = lua->probes = 0;
	lua->global = 0;
	(void)swz_script_codes_begin_stack(&lua->codes);
	find_states(lua);
	for (size_t i = 0; good && i < lua->state_count; i++)
		good = add_calls(lua, lua->states[i]);
	*count = lua->count;
	if (!good)
		return SWZ_SCRIPT_LOST;
	return *count ? SWZ_SCRIPT_READ : SWZ_SCRIPT_NONE;
}

/* -------------------------------------------------------------- life */

#define MOST_CODE (1u << 20)
#define NEAR_CODE 32u
#define FRESH_STORE 0x3eu

/* mov $CALL_FRESH, REGISTER, not far before. */
static bool makes_fresh(const uint8_t *code, size_t at)
{
	for (size_t i = at < NEAR_CODE ? 0 : at - NEAR_CODE; i + 5 <= at; i++)
		if ((code[i] & 0xf8) == 0xb8 &&
		    swz_script_half(code, i + 1) == CALL_FRESH)
			return true;
	return false;
}

/* Where the next call or jump leads, relative to CODE; 0: there is none near.
 */
static uint64_t next_target(const uint8_t *code, size_t size, size_t at)
{
	for (size_t i = at; i < at + NEAR_CODE && i + 5 <= size; i++)
		if (code[i] == 0xe8 || code[i] == 0xe9) {
			uint64_t to = i + 5 +
				      (uint64_t)(int32_t)swz_script_half(code,
									 i + 1);

			if (to < size && to % 16 == 0)
				return to;
		}
	return 0;
}

#define CODE_PART 4096u

static size_t read_code(const struct swz_script_module *module, uint64_t start,
			uint8_t *code, size_t size)
{
	size_t done = 0, n = 1;

	while (done < size && n) {
		size_t part = size - done < CODE_PART ? size - done : CODE_PART;

		n = module->read(module->memory, start + done, code + done,
				 part);
		done += n;
	}
	return done;
}

/* luaV_execute has no name in stripped files. Those that call it, luaD_call and
 * luaD_callnoyield, mark the call as fresh just before: both lead to it. */
static uint64_t find_loop(const struct swz_script_module *module)
{
	uint64_t start = module->symbol(module->module, "lua_callk");
	uint64_t end = module->symbol(module->module, "luaL_openlibs");
	uint64_t found = module->symbol(module->module, "luaV_execute");
	uint64_t once = 0;
	size_t size;
	uint8_t *code;

	if (found || end <= start || end - start > MOST_CODE)
		return found;
	start &= -16ull;
	size = (size_t)(end - start);
	code = swz_allocate(size, 1);
	size = read_code(module, start, code, size);
	for (size_t i = 1; !found && i + 8 <= size; i++) {
		uint64_t to;

		/* mov %REGISTER16, n(REGISTER) */
		if (code[i] != 0x89 || code[i - 1] != 0x66 ||
		    (code[i + 1] & 0xc0) != 0x40 ||
		    code[i + 2] != FRESH_STORE || !makes_fresh(code, i))
			continue;
		to = next_target(code, size, i + 3);
		if (to && once == start + to)
			found = once;
		if (to)
			once = start + to;
	}
	free(code);
	return found;
}

static bool is_known(const struct swz_script_module *module)
{
	static const char version[] = "$LuaVersion: Lua 5.4";
	uint64_t at = module->symbol(module->module, "lua_ident");
	char text[sizeof(version) - 1];

	return at &&
	       module->read(module->memory, at, text, sizeof(text)) ==
		       sizeof(text) &&
	       memcmp(text, version, sizeof(text)) == 0;
}

static struct swz_script_reader *lua_open(
	const struct swz_script_module *module)
{
	uint64_t loop = is_known(module) ? find_loop(module) : 0;
	struct swz_lua *lua;

	if (!loop)
		return NULL;
	lua = swz_allocate(1, sizeof(*lua));
	lua->reader = (struct swz_script_reader){.language = &swz_lua_language,
						 .read = module->read,
						 .memory = module->memory,
						 .loop = loop};
	return &lua->reader;
}

static void lua_close(struct swz_script_reader *reader)
{
	struct swz_lua *lua = (struct swz_lua *)reader;

	swz_script_codes_free(&lua->codes);
	free(lua);
}

const struct swz_script_language swz_lua_language = {
	.name = "Lua",
	.program = "lua",
	.libraries = {"liblua5.4.so", "liblua.so.5.4"},
	.is_often_embedded = true,
	.is_frame_first = true,
	.open = lua_open,
	.frames = lua_frames,
	.close = lua_close,
};
