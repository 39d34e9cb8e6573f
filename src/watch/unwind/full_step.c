#include "watch/unwind/full_step.h"

#include "image/cursor.h"
#include "watch/unwind/expression.h"

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
