/* A machine with a small stack of integers. Every operation that fails, by its
 * operands, an empty or a full stack, leaves `failed`; a branch backwards could
 * run for ever, so the operations are counted. */

#include "watch/unwind/expression.h"

#include "image/cursor.h"

enum { MOST_VALUES = 64, MOST_OPERATIONS = 1000, COLUMN_IP = 16 };

/* DWARF 5, 7.7.1 */
enum {
	OP_ADDR = 0x03,
	OP_DEREF = 0x06,
	OP_CONST1U = 0x08,
	OP_CONST1S,
	OP_CONST2U,
	OP_CONST2S,
	OP_CONST4U,
	OP_CONST4S,
	OP_CONST8U,
	OP_CONST8S,
	OP_CONSTU,
	OP_CONSTS,
	OP_DUP,
	OP_DROP,
	OP_OVER,
	OP_PICK,
	OP_SWAP,
	OP_ROT,
	OP_ABS = 0x19,
	OP_AND,
	OP_DIV,
	OP_MINUS,
	OP_MOD,
	OP_MUL,
	OP_NEG,
	OP_NOT,
	OP_OR,
	OP_PLUS,
	OP_PLUS_UCONST,
	OP_SHL,
	OP_SHR,
	OP_SHRA,
	OP_XOR,
	OP_BRA,
	OP_EQ,
	OP_GE,
	OP_GT,
	OP_LE,
	OP_LT,
	OP_NE,
	OP_SKIP,
	OP_LIT0 = 0x30,
	OP_LIT31 = 0x4f,
	OP_BREG0 = 0x70,
	OP_BREG31 = 0x8f,
	OP_BREGX = 0x92,
	OP_DEREF_SIZE = 0x94,
	OP_NOP = 0x96
};

struct evaluation {
	struct swz_cursor cursor;
	const struct swz_registers *registers;
	const struct swz_stack *stack;
	uint64_t values[MOST_VALUES];
	size_t count;
	enum swz_step step;
};

static void fail(struct evaluation *e)
{
	if (e->step == SWZ_STEP_DONE)
		e->step = SWZ_STEP_LOST;
}

static void push(struct evaluation *e, uint64_t value)
{
	if (e->count == MOST_VALUES)
		fail(e);
	else
		e->values[e->count++] = value;
}

static uint64_t pop(struct evaluation *e)
{
	if (!e->count) {
		fail(e);
		return 0;
	}
	return e->values[--e->count];
}

/* The value so far below the top. */
static uint64_t peek(struct evaluation *e, uint64_t below)
{
	if (below >= e->count) {
		fail(e);
		return 0;
	}
	return e->values[e->count - 1 - below];
}

static void push_register(struct evaluation *e, uint64_t column)
{
	uint64_t offset = (uint64_t)swz_cursor_sleb(&e->cursor);

	if (column < SWZ_REGISTERS)
		push(e, e->registers->general[column] + offset);
	else if (column == COLUMN_IP)
		push(e, e->registers->ip + offset);
	else
		fail(e);
}

static void load(struct evaluation *e, size_t size)
{
	uint64_t value = 0, address = pop(e);
	enum swz_step step;

	if (!size || size > sizeof(value) || e->step != SWZ_STEP_DONE) {
		fail(e);
		return;
	}
	step = swz_stack_load_elsewhere(e->stack, address, &value, size);
	if (step != SWZ_STEP_DONE)
		e->step = step;
	push(e, value);
}

static void jump(struct evaluation *e, int16_t distance)
{
	uint64_t to = e->cursor.at + (uint64_t)(int64_t)distance;

	if (e->cursor.failed || to > e->cursor.size)
		fail(e);
	else
		e->cursor.at = (size_t)to;
}

static void rotate(struct evaluation *e)
{
	uint64_t first = pop(e), second = pop(e), third = pop(e);

	push(e, first);
	push(e, third);
	push(e, second);
}

static void swap(struct evaluation *e)
{
	uint64_t first = pop(e), second = pop(e);

	push(e, first);
	push(e, second);
}

static uint64_t divide(struct evaluation *e, int64_t a, int64_t b)
{
	if (!b) {
		fail(e);
		return 0;
	}
	return b == -1 ? 0 - (uint64_t)a : (uint64_t)(a / b);
}

static uint64_t remain(struct evaluation *e, uint64_t a, uint64_t b)
{
	if (!b) {
		fail(e);
		return 0;
	}
	return a % b;
}

static uint64_t shift_right(int64_t value, uint64_t by)
{
	return (uint64_t)(value >> (by > 63 ? 63 : by));
}

/* Operations on the two topmost. */
static void combine(struct evaluation *e, uint8_t operation)
{
	uint64_t b = pop(e), a = pop(e);
	int64_t sa = (int64_t)a, sb = (int64_t)b;

	switch (operation) {
	case OP_AND:
		return push(e, a & b);
	case OP_DIV:
		return push(e, divide(e, sa, sb));
	case OP_MINUS:
		return push(e, a - b);
	case OP_MOD:
		return push(e, remain(e, a, b));
	case OP_MUL:
		return push(e, a * b);
	case OP_OR:
		return push(e, a | b);
	case OP_PLUS:
		return push(e, a + b);
	case OP_SHL:
		return push(e, b > 63 ? 0 : a << b);
	case OP_SHR:
		return push(e, b > 63 ? 0 : a >> b);
	case OP_SHRA:
		return push(e, shift_right(sa, b));
	case OP_XOR:
		return push(e, a ^ b);
	case OP_EQ:
		return push(e, sa == sb);
	case OP_GE:
		return push(e, sa >= sb);
	case OP_GT:
		return push(e, sa > sb);
	case OP_LE:
		return push(e, sa <= sb);
	case OP_LT:
		return push(e, sa < sb);
	case OP_NE:
		return push(e, sa != sb);
	default:
		fail(e);
	}
}

static void push_constant(struct evaluation *e, uint8_t operation)
{
	struct swz_cursor *cursor = &e->cursor;

	switch (operation) {
	case OP_ADDR:
	case OP_CONST8U:
	case OP_CONST8S:
		return push(e, swz_cursor_u64(cursor));
	case OP_CONST1U:
		return push(e, swz_cursor_u8(cursor));
	case OP_CONST1S:
		return push(e, (uint64_t)(int8_t)swz_cursor_u8(cursor));
	case OP_CONST2U:
		return push(e, swz_cursor_u16(cursor));
	case OP_CONST2S:
		return push(e, (uint64_t)(int16_t)swz_cursor_u16(cursor));
	case OP_CONST4U:
		return push(e, swz_cursor_u32(cursor));
	case OP_CONST4S:
		return push(e, (uint64_t)(int32_t)swz_cursor_u32(cursor));
	case OP_CONSTU:
		return push(e, swz_cursor_uleb(cursor));
	case OP_CONSTS:
		return push(e, (uint64_t)swz_cursor_sleb(cursor));
	default:
		fail(e);
	}
}

static void run_operation(struct evaluation *e, uint8_t operation)
{
	int16_t distance;
	uint64_t value;

	switch (operation) {
	case OP_NOP:
		return;
	case OP_DEREF:
		return load(e, sizeof(uint64_t));
	case OP_DEREF_SIZE:
		return load(e, swz_cursor_u8(&e->cursor));
	case OP_DUP:
		return push(e, peek(e, 0));
	case OP_DROP:
		pop(e);
		return;
	case OP_OVER:
		return push(e, peek(e, 1));
	case OP_PICK:
		return push(e, peek(e, swz_cursor_u8(&e->cursor)));
	case OP_SWAP:
		return swap(e);
	case OP_ROT:
		return rotate(e);
	case OP_ABS:
		value = pop(e);
		return push(e, (int64_t)value < 0 ? 0 - value : value);
	case OP_NEG:
		return push(e, 0 - pop(e));
	case OP_NOT:
		return push(e, ~pop(e));
	case OP_PLUS_UCONST:
		value = pop(e);
		return push(e, value + swz_cursor_uleb(&e->cursor));
	case OP_SKIP:
		return jump(e, (int16_t)swz_cursor_u16(&e->cursor));
	case OP_BRA:
		distance = (int16_t)swz_cursor_u16(&e->cursor);
		if (pop(e))
			jump(e, distance);
		return;
	case OP_BREGX:
		return push_register(e, swz_cursor_uleb(&e->cursor));
	}
	if (operation >= OP_LIT0 && operation <= OP_LIT31)
		push(e, operation - OP_LIT0);
	else if (operation >= OP_BREG0 && operation <= OP_BREG31)
		push_register(e, operation - OP_BREG0);
	else if (operation < OP_DUP)
		push_constant(e, operation);
	else
		combine(e, operation);
}

enum swz_step swz_expression_value(struct swz_bytes expression,
				   const struct swz_registers *registers,
				   const struct swz_stack *stack,
				   const uint64_t *first, uint64_t *value)
{
	struct evaluation e; /* `values` is written before it is read */
	unsigned operations = 0;

	e.cursor = swz_cursor(expression);
	e.registers = registers;
	e.stack = stack;
	e.count = 0;
	e.step = SWZ_STEP_DONE;
	if (first)
		push(&e, *first);
	while (e.step == SWZ_STEP_DONE && !swz_cursor_at_end(&e.cursor)) {
		if (++operations > MOST_OPERATIONS)
			return SWZ_STEP_LOST;
		run_operation(&e, swz_cursor_u8(&e.cursor));
	}
	if (e.cursor.failed)
		fail(&e);
	*value = pop(&e);
	return e.step;
}
