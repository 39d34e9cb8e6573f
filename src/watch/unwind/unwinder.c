/* Nearly all frames need three values: pc, rsp and rbp. The row of the pc says
 * what they are in the caller, and the stack has them.
 *
 * A row that says "other" needs all registers, whose values only the way to
 * that frame tells: the walk is done again with all of them, from the thread's
 * own, or from the last frame where that was done. */

#include "watch/unwind/unwinder.h"

#include <stdlib.h>
#include <string.h>

#include "profile/support/memory.h"
#include "watch/unwind/full_step.h"
#include "watch/unwind/mappings.h"
#include "watch/unwind/signal_frame.h"

enum { PAGE_BITS = 12, PLACES = 256 };

/* Where a page of code is mapped: a mapping's index. */
struct place {
	uint64_t page; /* its number + 1; 0: empty */
	uint32_t mapping;
};

struct swz_unwinder {
	struct swz_mappings mappings;
	struct place places[PLACES];
	uint64_t (*resolve)(void *context, uint64_t return_address);
	void *resolve_context;
};

/* ------------------------------------------------------------ address space */

struct swz_unwinder *swz_unwinder_create(void)
{
	return swz_allocate(1, sizeof(struct swz_unwinder));
}

void swz_unwinder_destroy(struct swz_unwinder *unwinder)
{
	if (!unwinder)
		return;
	swz_mappings_clear(&unwinder->mappings);
	free(unwinder);
}

struct swz_unwinder *swz_unwinder_fork(const struct swz_unwinder *unwinder)
{
	struct swz_unwinder *child = swz_unwinder_create();

	swz_mappings_copy(&child->mappings, &unwinder->mappings);
	child->resolve = unwinder->resolve;
	child->resolve_context = unwinder->resolve_context;
	return child;
}

static void forget_places(struct swz_unwinder *unwinder)
{
	memset(unwinder->places, 0, sizeof(unwinder->places));
}

void swz_unwinder_map(struct swz_unwinder *unwinder,
		      const struct swz_unwinder_mapping *mapping)
{
	swz_mappings_put(&unwinder->mappings, mapping);
	forget_places(unwinder);
}

void swz_unwinder_unmap(struct swz_unwinder *unwinder, uint64_t start,
			uint64_t end)
{
	swz_mappings_remove(&unwinder->mappings, start, end);
	forget_places(unwinder);
}

void swz_unwinder_clear(struct swz_unwinder *unwinder)
{
	swz_mappings_clear(&unwinder->mappings);
	forget_places(unwinder);
}

void swz_unwinder_resolve(struct swz_unwinder *unwinder,
			  uint64_t (*resolve)(void *context,
					      uint64_t return_address),
			  void *context)
{
	unwinder->resolve = resolve;
	unwinder->resolve_context = context;
}

static const struct swz_mapping *mapping_at(struct swz_unwinder *unwinder,
					    uint64_t pc)
{
	uint64_t page = (pc >> PAGE_BITS) + 1;
	struct place *place = &unwinder->places[page % PLACES];
	struct swz_mapping *mapping;

	if (place->page == page)
		return &unwinder->mappings.list[place->mapping];
	mapping = swz_mappings_at(&unwinder->mappings, pc);
	/* a page that belongs to two mappings is looked up each time */
	if (mapping &&
	    !((mapping->start | mapping->end) & ((1u << PAGE_BITS) - 1))) {
		place->page = page;
		place->mapping = (uint32_t)(mapping - unwinder->mappings.list);
	}
	return mapping;
}

/* The pc by which rules are looked up: a call may be a function's last
 * instruction. */
static uint64_t pc_of(uint64_t ip, bool exact)
{
	return exact ? ip : ip - 1;
}

/* Where a call really returns to. False: that is no code. */
static bool resolve(struct swz_unwinder *unwinder, uint64_t *ip, bool exact)
{
	const struct swz_mapping *mapping;
	uint64_t real;

	mapping = mapping_at(unwinder, pc_of(*ip, exact));
	if ((mapping && mapping->file) || exact || !unwinder->resolve)
		return mapping != NULL;
	real = unwinder->resolve(unwinder->resolve_context, *ip);
	if (!real)
		return mapping != NULL;
	*ip = real;
	return mapping_at(unwinder, pc_of(real, false)) != NULL;
}

/* -------------------------------------------------------------------- steps */

/* A walk on its way: what is known of the frame that it is in. */
struct walk {
	struct swz_unwinder *unwinder;
	const struct swz_stack *stack;
	uint64_t ip, sp, bp;
	/* ip is an instruction that is yet to be done, no return address */
	bool exact;
	size_t depth; /* frames below it */
	/* all registers, of the frame full_depth; from the thread's on */
	struct swz_registers full;
	size_t full_depth;
	bool full_exact;
};

static enum swz_step go_to(struct walk *w, uint64_t ip, uint64_t sp,
			   uint64_t bp)
{
	/* the stack grows down */
	if (sp <= w->sp)
		return SWZ_STEP_LOST;
	w->ip = ip;
	w->sp = sp;
	w->bp = bp;
	w->exact = false;
	return ip ? SWZ_STEP_DONE : SWZ_STEP_ROOT;
}

/* rbp points to the caller's, which has the return address above it. */
static enum swz_step step_by_rbp(struct walk *w)
{
	uint64_t ip, bp;
	enum swz_step step;

	/* of the outermost frame it is zero (SysV ABI, 3.4.1) */
	if (!w->bp && w->depth)
		return SWZ_STEP_ROOT;
	if (w->bp < w->sp || w->bp % sizeof(uint64_t))
		return SWZ_STEP_LOST;
	step = swz_stack_load(w->stack, w->bp, &bp);
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(w->stack, w->bp + 8, &ip);
	if (step != SWZ_STEP_DONE)
		return step;
	return go_to(w, ip, w->bp + 16, bp);
}

static enum swz_step step_by_row(struct walk *w,
				 const struct swz_unwind_row *row)
{
	uint64_t cfa, ip, bp = w->bp;
	enum swz_step step = SWZ_STEP_DONE;

	cfa = (row->kind == SWZ_ROW_RSP ? w->sp : w->bp) +
	      (uint64_t)(int64_t)row->cfa_offset;
	if (row->kind == SWZ_ROW_SAVED)
		step = swz_stack_load(w->stack, cfa, &cfa);
	if (step == SWZ_STEP_DONE && row->rbp != SWZ_ROW_RBP_SAME)
		step = swz_stack_load(
			w->stack,
			row->rbp == SWZ_ROW_RBP_AT_RBP
				? bp
				: cfa + (uint64_t)(int64_t)row->rbp_offset,
			&bp);
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(w->stack, cfa - 8, &ip);
	return step == SWZ_STEP_DONE ? go_to(w, ip, cfa, bp) : step;
}

static enum swz_step step_all(struct walk *w);

static bool read_code(void *context, uint64_t address, void *into, size_t size)
{
	const struct swz_stack *stack = context;

	return stack->read && stack->read(stack->context, address, into, size);
}

/* The row of the frame. NULL: there is no mapping there. */
static const struct swz_unwind_row *row_of(struct swz_unwinder *unwinder,
					   const struct swz_stack *stack,
					   uint64_t pc)
{
	static const struct swz_unwind_row none = {.kind = SWZ_ROW_NONE},
					   signal = {.kind = SWZ_ROW_SIGNAL};
	const struct swz_mapping *mapping = mapping_at(unwinder, pc);

	if (!mapping)
		return NULL;
	if (mapping->file)
		return swz_unwind_file_row(mapping->file, pc - mapping->bias);
	return swz_is_signal_return(read_code, (void *)(uintptr_t)stack, pc)
		       ? &signal
		       : &none;
}

/* To the caller. */
static enum swz_step step(struct walk *w)
{
	const struct swz_unwind_row *row = row_of(w->unwinder, w->stack,
						  pc_of(w->ip, w->exact));

	if (!row)
		return w->depth ? SWZ_STEP_LOST : step_by_rbp(w);
	switch (row->kind) {
	case SWZ_ROW_RSP:
	case SWZ_ROW_RBP:
	case SWZ_ROW_SAVED:
		return step_by_row(w, row);
	case SWZ_ROW_ROOT:
		return SWZ_STEP_ROOT;
	case SWZ_ROW_NONE:
		return step_by_rbp(w);
	default:
		return step_all(w);
	}
}

/* ------------------------------------------------------- with all registers */

/* Steps `full` to its caller. */
static enum swz_step step_full(struct walk *w)
{
	uint64_t pc = pc_of(w->full.ip, w->full_exact);
	const struct swz_mapping *mapping = mapping_at(w->unwinder, pc);
	const struct swz_unwind_row *row = row_of(w->unwinder, w->stack, pc);
	struct swz_fde fde;
	enum swz_step done;

	if (row && row->kind == SWZ_ROW_SIGNAL) {
		done = swz_step_signal(&w->full, w->stack);
		w->full_exact = true;
	} else if (mapping && mapping->file && row->kind != SWZ_ROW_NONE) {
		if (!swz_unwind_file_fde(mapping->file, pc - mapping->bias,
					 &fde))
			return SWZ_STEP_LOST;
		done = swz_full_step(&fde, pc - mapping->bias, &w->full,
				     w->stack);
		w->full_exact = fde.signal_frame;
	} else {
		/* as step_by_rbp has done it, and found it possible */
		uint64_t bp = w->full.bp;

		done = swz_stack_load(w->stack, bp, &w->full.bp);
		if (done == SWZ_STEP_DONE)
			done = swz_stack_load(w->stack, bp + 8, &w->full.ip);
		w->full.sp = bp + 16;
		w->full_exact = false;
	}
	w->full_depth++;
	if (done == SWZ_STEP_DONE &&
	    !resolve(w->unwinder, &w->full.ip, w->full_exact))
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
	/* a signal's handler may have had a stack of its own */
	if (!w->full_exact)
		return go_to(w, w->full.ip, w->full.sp, w->full.bp);
	w->ip = w->full.ip;
	w->sp = w->full.sp;
	w->bp = w->full.bp;
	w->exact = true;
	return SWZ_STEP_DONE;
}

/* --------------------------------------------------------------------- walk */

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
	w.ip = registers->ip;
	w.sp = registers->sp;
	w.bp = registers->bp;
	w.exact = true;
	w.depth = 0;
	w.full = *registers;
	w.full_depth = 0;
	w.full_exact = true;
	pcs[0] = w.ip;
	for (;;) {
		done = step(&w);
		if (done == SWZ_STEP_DONE && !resolve(unwinder, &w.ip, w.exact))
			done = SWZ_STEP_LOST;
		if (done != SWZ_STEP_DONE)
			break;
		if (++w.depth == most) {
			*end = SWZ_WALK_FULL;
			return most;
		}
		pcs[w.depth] = w.ip + w.exact;
	}
	*end = ends[done];
	return w.depth + 1;
}
