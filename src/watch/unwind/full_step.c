/* A step that no row can say: DWARF expressions, registers other than rsp and
 * rbp, and frames of signals. All is read from a copy of the stack or by its
 * owner's function; that the copy ends is no error, so it is told apart. Files
 * may be damaged or hostile: everything is bounded. */

#include "watch/unwind/unwind_row.h"

#include <string.h>

#include "image/cursor.h"
#include "image/eh_frame.h"
#include "image/elf_view.h"
#include "watch/unwind/unwinder.h"

/* --- reading the stack --------------------------------------------------- */

/* Reads from the copy of a stack, or else by its owner's function. */

enum swz_step swz_stack_load_elsewhere(const struct swz_stack *stack,
				       uint64_t address, void *into,
				       size_t size)
{
	uint64_t at = address - stack->start;

	if (at <= stack->size && size <= stack->size - at) {
		memcpy(into, stack->bytes + at, size);
		return SWZ_STEP_DONE;
	}
	if (stack->read && stack->read(stack->context, address, into, size))
		return SWZ_STEP_DONE;
	return address >= stack->start ? SWZ_STEP_CUT : SWZ_STEP_LOST;
}

/* --- DWARF expressions --------------------------------------------------- */

/* A machine with a small stack of integers. Every operation that fails, by its
 * operands, an empty or a full stack, leaves `failed`; a branch backwards could
 * run for ever, so the operations are counted. */

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

/* --- a step with all registers ------------------------------------------- */

struct frame {
	const struct swz_fde *fde;
	const struct swz_registers *registers;
	const struct swz_stack *stack;
	uint64_t cfa;
};

/* The expression whose block begins at this place of the section. */
static enum swz_step evaluate(const struct frame *f, uint64_t at,
			      const uint64_t *first, uint64_t *value)
{
	struct swz_cursor cursor = swz_cursor(f->fde->section.bytes);
	struct swz_bytes block;

	swz_cursor_skip(&cursor, at);
	block = swz_cursor_take(&cursor, swz_cursor_uleb(&cursor));
	if (cursor.failed)
		return SWZ_STEP_LOST;
	return swz_expression_value(block, f->registers, f->stack, first,
				    value);
}

static enum swz_step find_cfa(struct frame *f, const struct swz_cfi_row *row,
			      const struct swz_cfi_registers *rules)
{
	if (row->cfa_column == SWZ_NO_COLUMN)
		return rules->cfa_expression
			       ? evaluate(f, rules->cfa_expression, NULL,
					  &f->cfa)
			       : SWZ_STEP_LOST;
	if (row->cfa_column >= SWZ_REGISTERS)
		return SWZ_STEP_LOST;
	f->cfa = f->registers->general[row->cfa_column] +
		 (uint64_t)row->cfa_offset;
	return SWZ_STEP_DONE;
}

static uint64_t value_here(const struct swz_registers *registers,
			   unsigned column)
{
	return column < SWZ_REGISTERS ? registers->general[column]
				      : registers->ip;
}

/* The value that a register has in the caller. */
static enum swz_step find_value(const struct frame *f, unsigned column,
				const struct swz_cfi_registers *rules,
				uint64_t *value)
{
	int64_t operand = rules->value[column];
	enum swz_step step;
	uint64_t at;

	switch (rules->rule[column]) {
	case SWZ_RULE_AT_CFA:
		at = f->cfa + (uint64_t)operand;
		/* what is below the stack was popped: the register has it */
		if (at < f->registers->sp && column < SWZ_REGISTERS) {
			*value = f->registers->general[column];
			return SWZ_STEP_DONE;
		}
		return swz_stack_load(f->stack, at, value);
	case SWZ_RULE_CFA:
		*value = f->cfa + (uint64_t)operand;
		return SWZ_STEP_DONE;
	case SWZ_RULE_REGISTER:
		if (operand < 0 || operand >= SWZ_CFI_COLUMNS)
			return SWZ_STEP_LOST;
		*value = value_here(f->registers, (unsigned)operand);
		return SWZ_STEP_DONE;
	case SWZ_RULE_AT_ADDRESS:
		step = evaluate(f, (uint64_t)operand, &f->cfa, value);
		return step == SWZ_STEP_DONE
			       ? swz_stack_load(f->stack, *value, value)
			       : step;
	case SWZ_RULE_EXPRESSION:
		return evaluate(f, (uint64_t)operand, &f->cfa, value);
	case SWZ_RULE_SAME:
	case SWZ_RULE_UNDEFINED:
	default:
		/* rsp is the CFA where nothing else is said */
		*value = column == SWZ_SP ? f->cfa
					  : value_here(f->registers, column);
		return SWZ_STEP_DONE;
	}
}

enum swz_step swz_full_step(const struct swz_fde *fde, uint64_t pc,
			    struct swz_registers *registers,
			    const struct swz_stack *stack)
{
	struct swz_registers caller;
	struct swz_cfi_registers rules;
	struct swz_cfi_row row;
	struct frame f = {fde, registers, stack, 0};
	enum swz_step step;
	unsigned column;

	if (!swz_cfi_registers_at(fde, pc, &row, &rules) ||
	    fde->return_column != SWZ_RETURN_COLUMN)
		return SWZ_STEP_LOST;
	if (rules.rule[SWZ_RETURN_COLUMN] == SWZ_RULE_UNDEFINED)
		return SWZ_STEP_ROOT;
	step = find_cfa(&f, &row, &rules);
	if (step != SWZ_STEP_DONE)
		return step;
	for (column = 0; column < SWZ_REGISTERS; column++) {
		step = find_value(&f, column, &rules, &caller.general[column]);
		if (step == SWZ_STEP_DONE)
			continue;
		/* of these two the walk goes on; others may never be needed */
		if (column == SWZ_SP || column == SWZ_BP)
			return step;
		caller.general[column] = 0;
	}
	step = find_value(&f, SWZ_RETURN_COLUMN, &rules, &caller.ip);
	if (step == SWZ_STEP_DONE)
		*registers = caller;
	return step;
}

/* --- frames of signals --------------------------------------------------- */

/* In struct ucontext, which rsp points to when the handler has returned: the
 * registers r8, r9, ... rip (the kernel's struct sigcontext). */
enum { SAVED_REGISTERS = 40 };

/* mov $15,%rax or %eax; syscall */
static const uint8_t long_call[] = {0x48, 0xc7, 0xc0, 0x0f, 0,
				    0,    0,    0x0f, 0x05};
static const uint8_t short_call[] = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};

bool swz_is_signal_return(const uint8_t *code)
{
	/* at the first instruction, or at the second */
	return !memcmp(code, long_call, sizeof(long_call)) ||
	       !memcmp(code - 7, long_call, sizeof(long_call)) ||
	       !memcmp(code, short_call, sizeof(short_call)) ||
	       !memcmp(code - 5, short_call, sizeof(short_call));
}

enum swz_step swz_step_signal(struct swz_registers *registers,
			      const struct swz_stack *stack)
{
	static const uint8_t order[] = {SWZ_R8,  SWZ_R9,  SWZ_R10, SWZ_R11,
					SWZ_R12, SWZ_R13, SWZ_R14, SWZ_R15,
					SWZ_DI,  SWZ_SI,  SWZ_BP,  SWZ_BX,
					SWZ_DX,  SWZ_AX,  SWZ_CX,  SWZ_SP};
	uint64_t at = registers->sp + SAVED_REGISTERS;
	struct swz_registers saved;
	enum swz_step step;
	size_t i;

	for (i = 0; i < sizeof(order); i++, at += sizeof(uint64_t)) {
		step = swz_stack_load(stack, at, &saved.general[order[i]]);
		if (step != SWZ_STEP_DONE)
			return step;
	}
	step = swz_stack_load(stack, at, &saved.ip);
	if (step == SWZ_STEP_DONE)
		*registers = saved;
	return step;
}
