/* Nearly all frames need three values: pc, rsp and rbp. The row of the pc says
 * what they are in the caller, and the stack has them.
 *
 * A row that says "other" needs all registers, whose values only the way to
 * that frame tells: the walk is done again with all of them, from the thread's
 * own, or from the last frame where that was done. */

#include "watch/unwind/address_space.h"
#include "watch/unwind/code_step.h"
#include "watch/unwind/full_step.h"
#include "watch/unwind/program_begin.h"
#include "watch/unwind/signal_frame.h"

/* A walk on its way. */
struct walk {
	struct swz_unwinder *unwinder;
	const struct swz_stack *stack;
	struct swz_frame at;
	size_t depth; /* of it; 0: the innermost frame */
	/* all registers of the frame full_depth */
	struct swz_registers full;
	size_t full_depth;
	bool full_exact;
};

/* --------------------------------------------------- by rsp, rbp and the row
 */

static enum swz_step go_to(struct swz_frame *f, uint64_t ip, uint64_t sp,
			   uint64_t bp)
{
	/* The stack grows down. Only a function that has called nothing may
	 * have taken its return address off (vfork does). */
	if (sp < f->sp || (sp == f->sp && !f->exact))
		return SWZ_STEP_LOST;
	f->ip = ip;
	f->sp = sp;
	f->bp = bp;
	f->exact = false;
	return ip ? SWZ_STEP_DONE : SWZ_STEP_ROOT;
}

static enum swz_step step_by_row(const struct walk *w, struct swz_frame *f,
				 const struct swz_unwind_row *row)
{
	uint64_t cfa, at, ip, bp = f->bp;
	enum swz_step step = SWZ_STEP_DONE;

	cfa = (row->kind == SWZ_ROW_RSP ? f->sp : f->bp) +
	      (uint64_t)(int64_t)row->cfa_offset;
	if (row->kind == SWZ_ROW_SAVED)
		step = swz_stack_load(w->stack, cfa, &cfa);
	if (step == SWZ_STEP_DONE && row->rbp != SWZ_ROW_RBP_SAME) {
		at = row->rbp == SWZ_ROW_RBP_AT_RBP
			     ? bp
			     : cfa + (uint64_t)(int64_t)row->rbp_offset;
		/* what is below the stack was popped: rbp has it again */
		if (at >= f->sp)
			step = swz_stack_load(w->stack, at, &bp);
	}
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(w->stack, cfa - 8, &ip);
	return step == SWZ_STEP_DONE ? go_to(f, ip, cfa, bp) : step;
}

/* rbp points to the caller's, which has the return address above it. */
static enum swz_step step_by_rbp(const struct walk *w, struct swz_frame *f)
{
	uint64_t ip, bp;
	enum swz_step step;

	/* of the outermost frame it is zero (SysV ABI, 3.4.1) */
	if (!f->bp && !f->exact)
		return SWZ_STEP_ROOT;
	if (f->bp < f->sp || f->bp % sizeof(uint64_t))
		return SWZ_STEP_LOST;
	step = swz_stack_load(w->stack, f->bp, &bp);
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(w->stack, f->bp + 8, &ip);
	return step == SWZ_STEP_DONE ? go_to(f, ip, f->bp + 16, bp) : step;
}

static const struct swz_unwind_row *row_at(struct swz_unwinder *unwinder,
					   uint64_t ip, bool exact)
{
	static const struct swz_unwind_row none = {.kind = SWZ_ROW_NONE};
	uint64_t pc = swz_frame_pc(ip, exact);
	const struct swz_mapping *mapping = swz_unwinder_mapping_at(unwinder,
								    pc);

	return mapping && mapping->file
		       ? swz_unwind_file_row(mapping->file, pc - mapping->bias,
					     !exact)
		       : &none;
}

/* Code of the frame, from where it goes on. */
static bool read_code(const struct walk *w, uint64_t ip, uint8_t *code,
		      size_t size)
{
	const struct swz_stack *stack = w->stack;
	const struct swz_mapping *mapping = swz_unwinder_mapping_at(w->unwinder,
								    ip);

	if (mapping && mapping->file)
		return swz_unwind_file_code(mapping->file, ip - mapping->bias,
					    code, size);
	return stack->read && stack->read(stack->context, ip, code, size);
}

/* By the code there, in memory without a file. */
static enum swz_step step_by_code(const struct walk *w, struct swz_frame *f)
{
	uint8_t code[SWZ_CODE_BYTES];
	struct swz_unwind_row row;

	if (!read_code(w, f->ip, code, sizeof(code)))
		return SWZ_STEP_LOST;
	row = swz_code_row(code, sizeof(code), !f->exact);
	return row.kind == SWZ_ROW_RSP ? step_by_row(w, f, &row)
				       : SWZ_STEP_LOST;
}

static bool is_begin_of_program(const struct walk *w, const struct swz_frame *f)
{
	return f->exact && !w->depth && !f->bp && f->sp % 16 == 0 &&
	       swz_has_arguments(w->stack, f->sp);
}

/* Where nothing describes the code: it was made at run time, or is of a file
 * without an entry for it, whose row is by the code already. What calls main()
 * in such a file (of musl, stripped) is as good as the outermost frame. */
static enum swz_step step_without_row(const struct walk *w, struct swz_frame *f)
{
	struct swz_frame try = *f;
	const struct swz_mapping *mapping = swz_unwinder_mapping_at(w->unwinder,
								    f->ip);
	bool is_of_file = mapping && mapping->file;
	enum swz_step step;

	if (is_begin_of_program(w, f))
		return SWZ_STEP_ROOT;
	/* a function that has called another one has its frame */
	if (f->exact && !is_of_file && step_by_code(w, &try) == SWZ_STEP_DONE &&
	    swz_unwinder_returns(w->unwinder, &try.ip, false)) {
		*f = try;
		return SWZ_STEP_DONE;
	}
	try = *f;
	step = step_by_rbp(w, &try);
	if (step == SWZ_STEP_DONE &&
	    !swz_unwinder_returns(w->unwinder, &try.ip, false))
		step = SWZ_STEP_LOST;
	if (step == SWZ_STEP_LOST && is_of_file && !f->exact &&
	    swz_program_begins_near(w->stack, f->sp))
		return SWZ_STEP_ROOT;
	if (step == SWZ_STEP_DONE)
		*f = try;
	return step;
}

/* As behind the branch, as that changes neither registers nor stack. RAX may be
 * NULL: not known. */
static enum swz_step step_behind_branch(const struct walk *w,
					struct swz_frame *f,
					const uint64_t *rax)
{
	uint8_t code[SWZ_CODE_BYTES];
	const struct swz_unwind_row *row;
	uint64_t to;

	if (f->exact && rax && read_code(w, f->ip, code, sizeof(code))) {
		to = f->ip +
		     (uint64_t)swz_code_branch(code, sizeof(code), *rax);
		row = row_at(w->unwinder, to, true);
		if (row->kind == SWZ_ROW_ROOT)
			return SWZ_STEP_ROOT;
		if (row->kind == SWZ_ROW_RSP || row->kind == SWZ_ROW_RBP)
			return step_by_row(w, f, row);
	}
	return step_without_row(w, f);
}

/* ------------------------------------------------------- with all registers */

/* A step for which the registers that change are rsp and rbp. */
static enum swz_step step_plainly(const struct walk *w,
				  const struct swz_unwind_row *row,
				  struct swz_registers *registers, bool exact)
{
	struct swz_frame f = {registers->ip, registers->sp, registers->bp,
			      exact};
	enum swz_step done;

	if (row->kind == SWZ_ROW_NONE)
		done = step_without_row(w, &f);
	else if (row->kind == SWZ_ROW_BRANCH)
		done = step_behind_branch(w, &f, &registers->ax);
	else
		done = step_by_row(w, &f, row);
	registers->ip = f.ip;
	registers->sp = f.sp;
	registers->bp = f.bp;
	return done;
}

/* Steps `full` to its caller. */
static enum swz_step step_full(struct walk *w)
{
	uint64_t pc = swz_frame_pc(w->full.ip, w->full_exact);
	const struct swz_mapping *mapping;
	const struct swz_unwind_row *row;
	struct swz_fde fde;
	enum swz_step done;
	bool exact = false;

	row = row_at(w->unwinder, w->full.ip, w->full_exact);
	mapping = swz_unwinder_mapping_at(w->unwinder, pc);
	if (row->kind == SWZ_ROW_SIGNAL) {
		done = swz_step_signal(&w->full, w->stack);
		exact = true;
	} else if (mapping && mapping->file &&
		   swz_unwind_file_fde(mapping->file, pc - mapping->bias,
				       &fde)) {
		done = swz_full_step(&fde, pc - mapping->bias, &w->full,
				     w->stack);
		exact = fde.signal_frame;
	} else {
		done = step_plainly(w, row, &w->full, w->full_exact);
	}
	w->full_exact = exact;
	w->full_depth++;
	if (done == SWZ_STEP_DONE &&
	    !swz_unwinder_returns(w->unwinder, &w->full.ip, exact))
		return SWZ_STEP_LOST;
	return done;
}

static enum swz_step step_all(struct walk *w)
{
	enum swz_step done = SWZ_STEP_DONE;

	while (done == SWZ_STEP_DONE && w->full_depth <= w->depth)
		done = step_full(w);
	if (done != SWZ_STEP_DONE)
		return done;
	if (!w->full_exact)
		return go_to(&w->at, w->full.ip, w->full.sp, w->full.bp);
	/* a signal's handler may have had a stack of its own */
	w->at = (struct swz_frame){w->full.ip, w->full.sp, w->full.bp, true};
	return SWZ_STEP_DONE;
}

/* --------------------------------------------------------------------- walk */

/* To the caller. */
static enum swz_step step(struct walk *w)
{
	const struct swz_unwind_row *row = row_at(w->unwinder, w->at.ip,
						  w->at.exact);

	switch (row->kind) {
	case SWZ_ROW_RSP:
	case SWZ_ROW_RBP:
	case SWZ_ROW_SAVED:
		return step_by_row(w, &w->at, row);
	case SWZ_ROW_ROOT:
		return SWZ_STEP_ROOT;
	case SWZ_ROW_NONE:
		return step_without_row(w, &w->at);
	case SWZ_ROW_BRANCH:
		return step_behind_branch(
			w, &w->at,
			w->full_depth == w->depth ? &w->full.ax : NULL);
	default:
		return step_all(w);
	}
}

size_t swz_unwinder_walk(struct swz_unwinder *unwinder,
			 const struct swz_registers *registers,
			 const struct swz_stack *stack, uint64_t *pcs,
			 size_t most, enum swz_walk_end *end)
{
	static const enum swz_walk_end ends[] = {
		[SWZ_STEP_ROOT] = SWZ_WALK_ROOT,
		[SWZ_STEP_CUT] = SWZ_WALK_CUT,
		[SWZ_STEP_LOST] = SWZ_WALK_LOST};
	struct walk w;
	enum swz_step done;

	w.unwinder = unwinder;
	w.stack = stack;
	w.at = (struct swz_frame){registers->ip, registers->sp, registers->bp,
				  true};
	w.depth = 0;
	w.full = *registers;
	w.full_depth = 0;
	w.full_exact = true;
	pcs[0] = w.at.ip;
	for (;;) {
		done = step(&w);
		if (done == SWZ_STEP_DONE &&
		    !swz_unwinder_returns(unwinder, &w.at.ip, w.at.exact))
			done = SWZ_STEP_LOST;
		if (done != SWZ_STEP_DONE)
			break;
		if (++w.depth == most) {
			*end = SWZ_WALK_FULL;
			return most;
		}
		pcs[w.depth] = w.at.ip + w.at.exact;
	}
	*end = ends[done];
	return w.depth + 1;
}
