/* Which functions, and which characters of their source, V8 executes at a place
 * of its code (10.2, 11.3 and 12.4, those of node 18, 20 and 22).
 *
 * The interpreter's frame has the BytecodeArray, and the offset in it. Code
 * that was compiled is an object, too: its beginning is looked for before the
 * instruction, and is known by the Code that points back to it. That of the
 * baseline compiler has a table of how many bytes each bytecode became; the
 * lengths of bytecodes are in V8's file. That of the optimising compiler has a
 * table of the source positions of calls, each with the number of the function
 * that was put in there, and lists of these functions and of the positions
 * where they were called.
 *
 * A table of source positions has entries of two numbers, the differences to
 * those of the one before. Of bytecode V8 makes it only when something wants
 * it: an Error that was made in the function, a debugger, or
 * --no-enable-lazy-source-positions. Without it positions of optimised code are
 * the beginnings of functions: these are known, lines are not. */

#include "watch/names/node_memory.h"

#include <stdlib.h>
#include <string.h>

#include "util/memory.h"

#define TAG SWZ_NODE_TAG
#define ARRAY_LENGTH 8u /* of any array */
#define ARRAY_DATA 16u
#define FRAME_BYTECODE 32u /* below %rbp (v8dbg_off_fp_bytecode_array) */
#define FRAME_OFFSET 40u   /* (v8dbg_off_fp_bytecode_offset) */
#define REGISTER_OFFSET 9u /* %r9 (v8dbg_InterpreterBytecodeOffsetRegister) */
#define REGISTER_STACK 7u
#define MOST_SAVED 2u
#define DEOPT_LITERALS 2u
#define DEOPT_POSITIONS 7u
#define DEOPT_SHOWN 11u /* elements */
#define INLINED_BYTES 16u
#define INLINED_FUNCTION 8u
#define MOST_TABLE 65536u
#define PAGE 4096u
#define MOST_PAGES 32u
#define MOST_CANDIDATES 64u
#define CODE_ALIGNMENT 32u
#define LOWEST 0x10000u
#define MOST_KINDS 256u /* of bytecodes */
#define WIDTHS ((size_t)3)
#define WIDE 0u
#define EXTRA_WIDE 1u
#define KNOWN 1024u
#define EMPTY_PAGES 1024u
#define MOST_KEPT 8u
#define RETRY_STACKS 16u
#define LONGEST_WAIT 4096u

/* A Code, and the stream of its instructions: one object in 10.2. */
struct layout {
	uint32_t major, minor;
	const char *stream_type;
	uint32_t stream_head, stream_code; /* 0: it is the Code itself */
	uint32_t code_deopt, code_positions, code_stream, code_start, code_size;
	uint32_t bytecode_positions;
	uint32_t kinds; /* of bytecodes */
};

static const struct layout layouts[] = {
	{10, 2, "v8dbg_type_Code__CODE_TYPE", 128, 0, 16, 24, 0, 0, 40, 32,
	 198},
	{11, 3, "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE", 16, 8,
	 16, 24, 32, 40, 56, 32, 198},
	{12, 4, "v8dbg_type_InstructionStream__INSTRUCTION_STREAM_TYPE", 32, 8,
	 8, 16, 32, 40, 52, 24, 203},
};

#define CODE_BYTES 64u

/* A place in machine code, or in bytecode, and what was found there. */
struct known {
	/* OFFSET: in bytecode, plus 2; less: whether it is the innermost */
	uint64_t at, offset;
	uint64_t stream;  /* 0: there is none, as of STACK */
	uint64_t head[2]; /* of the object, while it is the same */
	uint64_t stack;   /* when that was looked at */
	uint32_t wait;    /* for so many stacks there is none */
	const struct swz_script_code *own;
	uint32_t count; /* 0: not known */
	struct swz_script_frame frames[MOST_KEPT];
};

struct swz_node_code {
	const struct layout *layout;
	uint32_t type_stream, type_bytecode, type_interpreter_data;
	uint32_t type_table, type_trusted_table;
	uint32_t bytecode_data;
	uint8_t lengths[WIDTHS * MOST_KINDS]; /* of bytecodes */
	struct known known[KNOWN];
	struct {
		uint64_t page, stack;
	} empty[EMPTY_PAGES]; /* no stream begins there, as of STACK */
	uint8_t table[MOST_TABLE], bytecode[MOST_TABLE];
};

/* ---------------------------------------------------------------- tables */

struct bytes {
	const uint8_t *at, *end;
};

/* Seven bits a byte, the lowest first. */
static uint64_t next_number(struct bytes *bytes)
{
	uint64_t number = 0;
	unsigned shift = 0;
	bool more = true;

	for (; more && bytes->at < bytes->end && shift < 64; shift += 7) {
		number |= (uint64_t)(*bytes->at & 0x7f) << shift;
		more = *bytes->at++ & 0x80;
	}
	return number;
}

static int64_t next_difference(struct bytes *bytes)
{
	uint64_t number = next_number(bytes);

	return (int64_t)(number >> 1 ^ (0 - (number & 1)));
}

struct position {
	int64_t offset; /* in the code */
	uint64_t value;
	bool is_known;
};

/* The last position at OFFSET or before it, and the first behind it. */
static void find_positions(struct bytes table, int64_t offset,
			   struct position *at, struct position *next)
{
	struct position p = {.offset = -1};

	*at = *next = (struct position){0};
	while (table.at < table.end) {
		int64_t more = next_difference(&table);

		/* (its sign says whether a statement begins there) */
		p.offset = (int64_t)((uint64_t)p.offset +
				     (uint64_t)(more < 0 ? -(more + 1) : more));
		p.value += (uint64_t)next_difference(&table);
		p.is_known = true;
		if (p.offset > offset) {
			*next = p;
			return;
		}
		*at = p;
	}
}

static uint32_t character_of(uint64_t value)
{
	/* (one more than it is; that of no script has the lowest bit) */
	return value & 1 ? 0 : (uint32_t)(value >> 1 & 0x3fffffff);
}

/* The number of the function that was put in, from 1 on; 0: none. */
static uint32_t inlined_of(uint64_t value)
{
	return (uint32_t)(value >> 31 & 0xffff);
}

/* How long the instruction is at AT; 0: it is none. */
static size_t length_at(const struct swz_node_code *code, struct bytes at)
{
	size_t left = (size_t)(at.end - at.at), width = 0, prefix = 0, length;

	if (left && (*at.at == WIDE || *at.at == EXTRA_WIDE)) {
		width = 1u + *at.at++;
		prefix = 1;
	}
	if (left <= prefix || *at.at >= code->layout->kinds)
		return 0;
	length = prefix + code->lengths[width * code->layout->kinds + *at.at];
	return length <= left ? length : 0;
}

/* Which bytecode is at a place in what the baseline compiler made of it, by how
 * many bytes each became; -1: none. */
static int64_t baseline_offset(const struct swz_node_code *code,
			       struct bytes table, struct bytes bytecode,
			       uint64_t place)
{
	const uint8_t *start = bytecode.at;
	uint64_t end = next_number(&table); /* of what enters the function */

	if (place < end)
		return -1;
	while (table.at < table.end) {
		size_t length = length_at(code, bytecode);

		end += next_number(&table);
		if (!length)
			return -1;
		if (place < end)
			return bytecode.at - start;
		bytecode.at += length;
	}
	return -1;
}

/* True if an instruction begins there. */
static bool is_instruction(const struct swz_node_code *code,
			   struct bytes bytecode, int64_t offset)
{
	const uint8_t *start = bytecode.at;
	size_t length;

	while (bytecode.at - start < offset &&
	       (length = length_at(code, bytecode)))
		bytecode.at += length;
	return bytecode.at - start == offset && bytecode.at < bytecode.end;
}

/* ---------------------------------------------------------------- arrays */

/* The length of an array; UINT32_MAX: it is too long. */
static uint32_t length_of(const uint8_t *head)
{
	uint64_t length = swz_script_word(head, ARRAY_LENGTH);

	return swz_node_is_number(length) && length >> 32 <= MOST_TABLE
		       ? (uint32_t)(length >> 32)
		       : UINT32_MAX;
}

/* A ByteArray; of none, no bytes. */
static struct bytes read_table(struct swz_node *node, uint64_t object)
{
	struct swz_node_code *code = node->code;
	uint8_t head[ARRAY_DATA];
	uint32_t type = swz_node_object(node, object, head, sizeof(head)),
		 length;

	if (type != code->type_table && type != code->type_trusted_table)
		return (struct bytes){code->table, code->table};
	length = length_of(head);
	if (length > MOST_TABLE ||
	    !swz_node_read(node, object - TAG + ARRAY_DATA, code->table,
			   length))
		length = 0;
	return (struct bytes){code->table, code->table + length};
}

static struct bytes read_bytecode(struct swz_node *node, uint64_t array,
				  const uint8_t *head)
{
	struct swz_node_code *code = node->code;
	uint32_t length = length_of(head);

	if (length > MOST_TABLE ||
	    !swz_node_read(node, array - TAG + code->bytecode_data,
			   code->bytecode, length))
		length = 0;
	return (struct bytes){code->bytecode, code->bytecode + length};
}

/* ------------------------------------------------------------ machine code */

struct stream {
	uint64_t at, start; /* of it, and its instructions */
	uint8_t head[ARRAY_DATA];
	uint8_t code[CODE_BYTES]; /* the Code */
};

static bool could_be_object(uint64_t word)
{
	return swz_node_is_object(word) && word >= LOWEST && !(word >> 47);
}

/* True if it is one whose instructions PC is among. *IS_END: it is one. */
static bool check_stream(struct swz_node *node, uint64_t at, uint64_t pc,
			 struct stream *stream, bool *is_end)
{
	const struct layout *l = node->code->layout;
	uint64_t code = at;

	if (swz_node_object(node, at + TAG, stream->head,
			    sizeof(stream->head)) != node->code->type_stream)
		return false;
	if (l->stream_code)
		code = swz_script_word(stream->head, l->stream_code) - TAG;
	stream->at = at;
	stream->start = at + l->stream_head;
	if (!swz_node_read(node, code, stream->code, CODE_BYTES) ||
	    (l->stream_code &&
	     (swz_script_word(stream->code, l->code_stream) != at + TAG ||
	      swz_script_word(stream->code, l->code_start) != stream->start)))
		return false;
	*is_end = true;
	return pc - stream->start < swz_script_half(stream->code, l->code_size);
}

/* The stream that PC is in, if it begins in that page. Sets *IS_END if another
 * one does, and *COUNT to how many could have. */
static bool find_in_page(struct swz_node *node, const uint8_t *bytes,
			 uint64_t page, uint64_t pc, struct stream *stream,
			 unsigned *count, bool *is_end)
{
	const struct layout *l = node->code->layout;

	for (uint64_t i = PAGE / 8; i-- && *count < MOST_CANDIDATES;) {
		uint64_t at = page + i * 8;

		if ((at + l->stream_head) % CODE_ALIGNMENT ||
		    at + l->stream_head > pc ||
		    !could_be_object(swz_script_word(bytes, i * 8)) ||
		    !could_be_object(swz_script_word(bytes, i * 8 + 8)))
			continue;
		++*count;
		if (check_stream(node, at, pc, stream, is_end))
			return true;
		if (*is_end)
			break;
	}
	return false;
}

/* The object that an instruction is in, which begins before it. */
static bool find_stream(struct swz_node *node, uint64_t pc,
			struct stream *stream)
{
	uint8_t bytes[PAGE + 8] = {0};
	uint64_t page = pc & ~(uint64_t)(PAGE - 1);
	unsigned count = 0;
	bool is_end = false;

	for (unsigned i = 0; i < MOST_PAGES && page; i++, page -= PAGE) {
		uint64_t *empty =
			&node->code->empty[page / PAGE % EMPTY_PAGES].page;
		uint64_t *stack =
			&node->code->empty[page / PAGE % EMPTY_PAGES].stack;
		unsigned before = count;

		if (*empty == page && node->stack - *stack < RETRY_STACKS)
			continue;
		if (!swz_node_read(node, page, bytes, PAGE))
			return false;
		if (find_in_page(node, bytes, page, pc, stream, &count,
				 &is_end))
			return true;
		if (is_end || count >= MOST_CANDIDATES)
			return false;
		if (i && count == before) {
			*empty = page;
			*stack = node->stack;
		}
	}
	return false;
}

/* ---------------------------------------------------------------- lines */

/* The line of a character, from 1 on, of a function's, whose JSFunction or
 * SharedFunctionInfo is OBJECT; 0: not known, as is that of its beginning,
 * which stands for all of it. */
static uint32_t line_of(struct swz_node *node,
			const struct swz_script_code *function, uint64_t object,
			uint32_t character)
{
	const struct swz_node_places *p = &node->places;
	uint8_t head[SWZ_NODE_HEAD];
	uint32_t lines;

	if (!function->line || !character || character - 1 <= function->start)
		return 0;
	if (swz_node_object(node, object, head, 64) != p->type_shared &&
	    swz_node_object(node, swz_script_word(head, p->function_shared),
			    head, 64) != p->type_shared)
		return 0;
	if (swz_node_object(node, swz_script_word(head, p->shared_script), head,
			    64) != p->type_script)
		return 0;
	lines = swz_node_lines(node, swz_script_word(head, p->script_source),
			       (uint32_t)function->start, character - 1);
	return lines == UINT32_MAX ? 0 : function->line + lines;
}

/* The functions that one Code has put in. */
struct inlined {
	uint64_t literals, positions; /* arrays */
	uint32_t literal_count, position_bytes;
};

static bool read_inlined(struct swz_node *node, uint64_t deopt,
			 struct inlined *inlined)
{
	uint8_t head[ARRAY_DATA + 8 * DEOPT_SHOWN], array[ARRAY_DATA];

	if (swz_node_object(node, deopt, head, sizeof(head)) == UINT32_MAX ||
	    length_of(head) < DEOPT_SHOWN || length_of(head) > MOST_TABLE)
		return false;
	inlined->literals = swz_script_word(head,
					    ARRAY_DATA + 8 * DEOPT_LITERALS);
	inlined->positions = swz_script_word(head,
					     ARRAY_DATA + 8 * DEOPT_POSITIONS);
	if (swz_node_object(node, inlined->literals, array, sizeof(array)) ==
	    UINT32_MAX)
		return false;
	inlined->literal_count = length_of(array);
	if (swz_node_object(node, inlined->positions, array, sizeof(array)) ==
	    UINT32_MAX)
		return false;
	inlined->position_bytes = length_of(array);
	return inlined->literal_count <= MOST_TABLE &&
	       inlined->position_bytes <= MOST_TABLE;
}

/* Number 1 is the first. Writes its SharedFunctionInfo, and the position where
 * it was called. */
static bool read_call(struct swz_node *node, const struct inlined *inlined,
		      uint32_t number, uint64_t *shared, uint64_t *position)
{
	uint64_t at = (uint64_t)(number - 1) * INLINED_BYTES;
	uint8_t entry[INLINED_BYTES];
	uint32_t literal;

	if (at + INLINED_BYTES > inlined->position_bytes ||
	    !swz_node_read(node, inlined->positions - TAG + ARRAY_DATA + at,
			   entry, sizeof(entry)))
		return false;
	literal = swz_script_half(entry, INLINED_FUNCTION);
	if (literal >= inlined->literal_count ||
	    !swz_node_read(node,
			   inlined->literals - TAG + ARRAY_DATA +
				   8 * (uint64_t)literal,
			   shared, sizeof(*shared)))
		return false;
	*shared &= ~(uint64_t)2; /* (which marks it as held weakly) */
	*position = swz_script_word(entry, 0);
	return true;
}

/* The functions at a position of optimised code. 0: something is not as it
 * should be. */
static size_t functions_at(struct swz_node *node, const struct inlined *inlined,
			   uint64_t position, const struct swz_script_code *own,
			   uint64_t object, struct swz_script_frame *frames)
{
	size_t count = 0;

	while (inlined_of(position)) {
		const struct swz_script_code *function;
		uint64_t of, call;

		if (count + 1 >= SWZ_MOST_INLINED ||
		    !read_call(node, inlined, inlined_of(position), &of, &call))
			return 0;
		function = swz_node_function(node, of);
		if (function) /* (others are V8's own) */
			frames[count++] = (struct swz_script_frame){
				.code = function,
				.line = line_of(node, function, of,
						character_of(position))};
		position = call;
	}
	frames[count++] = (struct swz_script_frame){
		.code = own,
		.line = line_of(node, own, object, character_of(position))};
	return count;
}

/* Only calls have positions. What lies between two of them is of the functions
 * that both are in. The line of the innermost one is not known then: it may be
 * any. */
static size_t keep_common(struct swz_script_frame *frames, size_t count,
			  const struct swz_script_frame *others, size_t other)
{
	size_t common = 0;

	while (common < count && common < other) {
		struct swz_script_frame *f = &frames[count - 1 - common];
		const struct swz_script_frame *o = &others[other - 1 - common];

		if (f->code != o->code)
			break;
		common++;
		if (f->line == o->line)
			continue;
		f->line = 0;
		break;
	}
	memmove(frames, frames + (count - common), common * sizeof(*frames));
	if (common)
		frames[0].line = 0;
	return common;
}

static size_t optimised(struct swz_node *node, const struct stream *stream,
			uint64_t pc, bool is_innermost,
			const struct swz_script_code *own, uint64_t object,
			struct swz_script_frame *frames)
{
	const struct layout *l = node->code->layout;
	struct swz_script_frame others[SWZ_MOST_INLINED];
	struct position at, next;
	struct inlined inlined;
	struct bytes table = read_table(
		node, swz_script_word(stream->code, l->code_positions));
	size_t count, other;

	find_positions(table, (int64_t)(pc - stream->start), &at, &next);
	if (!at.is_known ||
	    !read_inlined(node, swz_script_word(stream->code, l->code_deopt),
			  &inlined))
		return 0;
	count = functions_at(node, &inlined, at.value, own, object, frames);
	if (!is_innermost || !count)
		return count;
	if (!next.is_known)
		next = at;
	other = functions_at(node, &inlined, next.value, own, object, others);
	return keep_common(frames, count, others, other);
}

/* ---------------------------------------------------------------- bytecode */

static size_t one_function(struct swz_node *node,
			   const struct swz_script_code *own, uint64_t object,
			   uint64_t positions, int64_t offset,
			   struct swz_script_frame *frames)
{
	struct position at = {0}, next;

	if (offset >= 0)
		find_positions(read_table(node, positions), offset, &at, &next);
	frames[0] = (struct swz_script_frame){
		.code = own,
		.line = at.is_known ? line_of(node, own, object,
					      character_of(at.value))
				    : 0};
	return 1;
}

/* A frame of the interpreter's, or of the baseline compiler's. */
struct bytecode_frame {
	uint64_t array;
	uint8_t head[SWZ_NODE_HEAD];
	uint64_t positions;
	int64_t offset; /* of the instruction; -1: it has none */
};

static bool read_bytecode_frame(struct swz_node *node,
				const struct swz_script_place *place,
				struct bytecode_frame *frame)
{
	const struct swz_node_code *code = node->code;
	uint64_t offset;

	if (!place->load(place->stack, place->frame_pointer - FRAME_BYTECODE,
			 &frame->array) ||
	    !could_be_object(frame->array) ||
	    !place->load(place->stack, place->frame_pointer - FRAME_OFFSET,
			 &offset) ||
	    swz_node_object(node, frame->array, frame->head, 64) !=
		    code->type_bytecode)
		return false;
	frame->positions = swz_script_word(frame->head,
					   code->layout->bytecode_positions);
	frame->offset = -1;
	if (swz_node_is_number(offset))
		frame->offset = (int64_t)(offset >> 32) + TAG -
				(int64_t)code->bytecode_data;
	return true;
}

/* Where the interpreter is: it saves that only when it calls something. */
static int64_t newest_offset(struct swz_node *node,
			     const struct swz_script_place *place,
			     const struct bytecode_frame *frame)
{
	const struct swz_node_code *code = node->code;
	int64_t offset;

	if (!place->registers)
		return frame->offset;
	offset = (int64_t)place->registers[REGISTER_OFFSET] + TAG -
		 (int64_t)code->bytecode_data;
	if (offset < 0 || offset >= length_of(frame->head))
		return frame->offset;
	return is_instruction(code,
			      read_bytecode(node, frame->array, frame->head),
			      offset)
		       ? offset
		       : frame->offset;
}

/* ---------------------------------------------------------------- places */

static struct known *known_at(struct swz_node_code *code, uint64_t at,
			      uint64_t offset)
{
	uint64_t hash = (at ^ offset << 32) * 0x9e3779b97f4a7c15u;

	return &code->known[hash >> 54];
}

static void keep(struct known *known, const struct swz_script_code *own,
		 const struct swz_script_frame *frames, size_t count)
{
	known->own = own;
	known->count = count <= MOST_KEPT ? (uint32_t)count : 0;
	memcpy(known->frames, frames, known->count * sizeof(*frames));
}

static size_t interpreted(struct swz_node *node,
			  const struct swz_script_place *place,
			  const struct bytecode_frame *frame,
			  const struct swz_script_code *own, uint64_t object,
			  struct swz_script_frame *frames)
{
	int64_t offset = newest_offset(node, place, frame);
	struct known *known = known_at(node->code, frame->array,
				       (uint64_t)offset + 2);

	/* (V8 has made no positions) */
	if (!swz_node_is_object(frame->positions))
		return 0;
	if (known->at != frame->array ||
	    known->offset != (uint64_t)offset + 2 || known->own != own ||
	    known->head[0] != frame->positions || !known->count) {
		(void)one_function(node, own, object, frame->positions, offset,
				   frames);
		*known = (struct known){.at = frame->array,
					.offset = (uint64_t)offset + 2,
					.head = {frame->positions}};
		keep(known, own, frames, 1);
	}
	frames[0] = known->frames[0];
	return 1;
}

/* Code that has taken the place of a loop still has its frame's bytecode, so
 * the Code says what it is. */
static size_t compiled(struct swz_node *node, const struct stream *stream,
		       uint64_t pc, const struct swz_script_place *place,
		       const struct swz_script_code *own, uint64_t object,
		       struct swz_script_frame *frames)
{
	const struct layout *l = node->code->layout;
	struct bytecode_frame frame;
	uint8_t head[8];
	uint32_t type = swz_node_object(
		node, swz_script_word(stream->code, l->code_deopt), head,
		sizeof(head));
	int64_t offset;

	if (type != node->code->type_bytecode &&
	    type != node->code->type_interpreter_data)
		return optimised(node, stream, pc,
				 place->is_innermost && pc == place->pc, own,
				 object, frames);
	if (!read_bytecode_frame(node, place, &frame))
		return 0;
	offset = baseline_offset(
		node->code,
		read_table(node,
			   swz_script_word(stream->code, l->code_positions)),
		read_bytecode(node, frame.array, frame.head),
		pc - stream->start);
	return one_function(node, own, object, frame.positions, offset, frames);
}

/* True if what was found there is still so. */
static bool holds(struct swz_node *node, struct known *known,
		  const struct swz_script_code *own)
{
	uint8_t head[ARRAY_DATA];

	if (!known->stream)
		return node->stack - known->stack < known->wait;
	if (known->own != own || !known->count)
		return false;
	if (known->stack != node->stack &&
	    (!swz_node_read(node, known->stream, head, sizeof(head)) ||
	     memcmp(head, known->head, sizeof(head)) != 0))
		return false;
	known->stack = node->stack;
	return true;
}

/* 0: PC is in no code that was compiled. Is that so again, it is asked less
 * often. */
static size_t functions_of(struct swz_node *node, uint64_t pc,
			   const struct swz_script_place *place,
			   const struct swz_script_code *own, uint64_t object,
			   struct swz_script_frame *frames)
{
	uint64_t is_innermost = place->is_innermost && pc == place->pc;
	struct known *known = known_at(node->code, pc, is_innermost);
	bool is_known = known->at == pc && known->offset == is_innermost;
	struct stream stream = {0};
	uint32_t wait = 1;
	size_t count;

	if (is_known && holds(node, known, own)) {
		memcpy(frames, known->frames, known->count * sizeof(*frames));
		return known->count;
	}
	if (is_known && !known->stream)
		wait = known->wait < LONGEST_WAIT ? 2 * known->wait
						  : LONGEST_WAIT;
	*known = (struct known){.at = pc,
				.offset = is_innermost,
				.stack = node->stack,
				.wait = wait};
	if (!find_stream(node, pc, &stream))
		return 0;
	known->stream = stream.at;
	memcpy(known->head, stream.head, sizeof(known->head));
	count = compiled(node, &stream, pc, place, own, object, frames);
	if (!count)
		frames[count++] = (struct swz_script_frame){.code = own};
	keep(known, own, frames, count);
	return count;
}

/* Code of V8's own may run on the frame of what has called it, without having
 * saved more than that one's %rbp. */
static size_t functions_of_caller(struct swz_node *node,
				  const struct swz_script_place *place,
				  const struct swz_script_code *own,
				  uint64_t object,
				  struct swz_script_frame *frames)
{
	for (uint64_t i = 0; i < MOST_SAVED; i++) {
		uint64_t word;
		size_t count;

		if (!place->load(place->stack,
				 place->registers[REGISTER_STACK] + 8 * i,
				 &word) ||
		    word < LOWEST || word >> 47)
			continue;
		count = functions_of(node, word - 1, place, own, object,
				     frames);
		if (count)
			return count;
	}
	return 0;
}

size_t swz_node_code_functions(struct swz_node *node,
			       const struct swz_script_place *place,
			       const struct swz_script_code *own,
			       uint64_t object, struct swz_script_frame *frames)
{
	struct bytecode_frame frame;
	size_t count = 0;

	if (node->code) {
		count = functions_of(node, place->pc, place, own, object,
				     frames);
		if (!count && place->registers)
			count = functions_of_caller(node, place, own, object,
						    frames);
		if (!count && read_bytecode_frame(node, place, &frame) &&
		    frame.offset >= 0)
			count = interpreted(node, place, &frame, own, object,
					    frames);
	}
	if (count)
		return count;
	frames[0] = (struct swz_script_frame){.code = own};
	return 1;
}

/* -------------------------------------------------------------- life */

static bool find_version(const struct swz_script_module *module,
			 uint32_t *major, uint32_t *minor)
{
	return swz_node_constant(
		       module, major,
		       (const char *const[]){"_ZN2v88internal7Version6major_E",
					     NULL}) &&
	       swz_node_constant(
		       module, minor,
		       (const char *const[]){"_ZN2v88internal7Version6minor_E",
					     NULL});
}

static bool find_constants(const struct swz_script_module *module,
			   struct swz_node_code *code)
{
	const struct {
		uint32_t *value;
		const char *name;
	} constants[] = {
		{&code->type_stream, code->layout->stream_type},
		{&code->type_bytecode,
		 "v8dbg_type_BytecodeArray__BYTECODE_ARRAY_TYPE"},
		{&code->type_interpreter_data,
		 "v8dbg_type_InterpreterData__INTERPRETER_DATA_TYPE"},
		{&code->type_table, "v8dbg_type_ByteArray__BYTE_ARRAY_TYPE"},
		{&code->bytecode_data,
		 "v8dbg_class_BytecodeArray__data__uintptr_t"},
	};

	for (size_t i = 0; i < sizeof(constants) / sizeof(*constants); i++)
		if (!swz_node_constant(
			    module, constants[i].value,
			    (const char *const[]){constants[i].name, NULL}))
			return false;
	/* (in 12.4 there is another one, of what programs cannot change) */
	if (!swz_node_constant(
		    module, &code->type_trusted_table,
		    (const char *const[]){
			    "v8dbg_type_TrustedByteArray__TRUSTED_BYTE_"
			    "ARRAY_TYPE",
			    NULL}))
		code->type_trusted_table = code->type_table;
	return code->bytecode_data > ARRAY_LENGTH &&
	       code->bytecode_data <= SWZ_NODE_HEAD;
}

struct swz_node_code *swz_node_code_open(const struct swz_script_module *module)
{
	struct swz_node_code *code = swz_allocate(1, sizeof(*code));
	uint32_t major, minor;
	uint64_t lengths = module->symbol(
		module->module,
		"_ZN2v88internal11interpreter9Bytecodes14kBytecodeSizesE");

	if (find_version(module, &major, &minor))
		for (size_t i = 0; i < sizeof(layouts) / sizeof(*layouts); i++)
			if (layouts[i].major == major &&
			    layouts[i].minor == minor)
				code->layout = &layouts[i];
	if (code->layout && find_constants(module, code) && lengths &&
	    module->read(module->memory, lengths, code->lengths,
			 WIDTHS * code->layout->kinds) ==
		    WIDTHS * code->layout->kinds)
		return code;
	free(code);
	return NULL;
}

void swz_node_code_forget(struct swz_node_code *code)
{
	if (code)
		memset(code->known, 0, sizeof(code->known));
}
