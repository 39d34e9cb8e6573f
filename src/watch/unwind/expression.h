#ifndef SWZ_WATCH_UNWIND_EXPRESSION_H
#define SWZ_WATCH_UNWIND_EXPRESSION_H

/* DWARF expressions in call frame information (DWARF 5, 2.5 and 6.4.2). */

#include "image/elf_view.h"
#include "watch/unwind/stack_read.h"

/* What the expression's bytes leave on top. With FIRST, that is pushed before
 * (the CFA, for a register's rule). SWZ_STEP_LOST: it is damaged, or uses what
 * has no meaning here; _CUT: it reads what is not in the copy of the stack. */
enum swz_step swz_expression_value(struct swz_bytes expression,
				   const struct swz_registers *registers,
				   const struct swz_stack *stack,
				   const uint64_t *first, uint64_t *value);

#endif
