/* Nearly all frames need three values: pc, rsp and rbp. The row of the pc says
 * what they are in the caller, and the stack has them.
 *
 * A row that says "other" needs all registers, whose values only the way to
 * that frame tells: the walk is done again with all of them, from the thread's
 * own, or from the last frame where that was done. */

#include "watch/unwind/unwinder.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/basics.h"
#include "util/memory.h"
#include "watch/unwind/unwind_row.h"

/* --- the address space --------------------------------------------------- */

/* The address space of a process. Pages that code was seen in are remembered,
 * so that the list of mappings, which browsers have thousands of, is seldom
 * searched. */

#define PLACES 256

/* Where a page of code is mapped. */
struct place {
	uint64_t page;    /* its number + 1; 0: empty */
	uint32_t mapping; /* index */
};

struct swz_unwinder {
	struct swz_mappings mappings;
	struct place places[PLACES];
	uint64_t (*resolve)(void *context, uint64_t return_address);
	void *resolve_context;
	bool (*describe)(void *context, uint64_t pc, uint64_t sp,
			 bool is_innermost, struct swz_unwind_row *row);
	void *describe_context;
	struct swz_map calls; /* (return address, 0): 1 if a call precedes it */
};

/* The pc by which rules are looked up: a call may be a function's last
 * instruction. */
static inline uint64_t frame_pc(uint64_t ip, bool exact)
{
	return exact ? ip : ip - 1;
}

enum { PAGE_BITS = 12 };

struct swz_unwinder *swz_unwinder_create(void)
{
	return swz_allocate(1, sizeof(struct swz_unwinder));
}

void swz_unwinder_destroy(struct swz_unwinder *unwinder)
{
	if (!unwinder)
		return;
	swz_mappings_clear(&unwinder->mappings);
	swz_map_free(&unwinder->calls);
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
	swz_map_free(&unwinder->calls);
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

void swz_unwinder_describe(struct swz_unwinder *unwinder,
			   bool (*describe)(void *context, uint64_t pc,
					    uint64_t sp, bool is_innermost,
					    struct swz_unwind_row *row),
			   void *context)
{
	unwinder->describe = describe;
	unwinder->describe_context = context;
}

/* The mapping that has this pc, or NULL. */
static const struct swz_mapping *unwinder_mapping_at(
	struct swz_unwinder *unwinder, uint64_t pc)
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

/* Sets *ip to where a call really returns to. False: that is no code. */
static bool unwinder_returns(struct swz_unwinder *unwinder, uint64_t *ip,
			     bool exact)
{
	const struct swz_mapping *mapping;
	uint64_t real;

	mapping = unwinder_mapping_at(unwinder, frame_pc(*ip, exact));
	if ((mapping && mapping->file) || exact || !unwinder->resolve)
		return mapping != NULL;
	real = unwinder->resolve(unwinder->resolve_context, *ip);
	if (!real)
		return mapping != NULL;
	*ip = real;
	return unwinder_mapping_at(unwinder, frame_pc(real, false)) != NULL;
}

/* Where a frame goes on. */
struct frame {
	uint64_t ip, sp, bp;
	/* ip is an instruction that is yet to be done, no return address */
	bool exact;
};

/* --- the beginning of a program ------------------------------------------ */

/* Where the main thread's stack begins, as a new program finds it: the number
 * of arguments, these, NULL, the environment, NULL, pairs of numbers (SysV ABI,
 * 3.4.1). */

/* Most arguments that execve() takes (the kernel's MAX_ARG_STRINGS), as far as
 * there is room on a stack. */
#define MOST_ARGUMENTS ((uint64_t)1 << 24)
#define MOST_TEXTS ((uint64_t)1 << 14) /* that are looked at one by one */
#define MOST_PAIRS 64u
#define NEAR_BYTES 2048u /* musl: some 500 */

static bool load(const struct swz_stack *stack, uint64_t at, uint64_t *word)
{
	return swz_stack_load(stack, at, word) == SWZ_STEP_DONE;
}

/* True if arguments are there, as far as that can be read. */
static bool has_arguments(const struct swz_stack *stack, uint64_t at)
{
	uint64_t argc, first, last;

	return load(stack, at, &argc) && argc && argc <= MOST_ARGUMENTS &&
	       load(stack, at + 8, &first) && first > at &&
	       load(stack, at + 8 + argc * 8, &last) && !last;
}

/* Past texts that lie above, and the NULL behind them; 0: there are others. */
static uint64_t past_texts(const struct swz_stack *stack, uint64_t at,
			   uint64_t most)
{
	uint64_t text;

	for (; most && load(stack, at, &text); most--, at += 8) {
		if (!text)
			return at + 8;
		if (text <= at)
			return 0;
	}
	return 0;
}

/* One of the pairs that the kernel puts there says how large a page is. */
static bool has_pairs(const struct swz_stack *stack, uint64_t at)
{
	uint64_t kind, value;

	for (unsigned i = 0; i < MOST_PAIRS; i++, at += 16) {
		if (!load(stack, at, &kind) || kind == AT_NULL ||
		    !load(stack, at + 8, &value))
			return false;
		if (kind == AT_PAGESZ)
			return value == SWZ_PAGE;
	}
	return false;
}

static bool begins_at(const struct swz_stack *stack, uint64_t at)
{
	if (!has_arguments(stack, at))
		return false;
	at = past_texts(stack, at + 8, MOST_TEXTS);
	if (at)
		at = past_texts(stack, at, MOST_TEXTS);
	return at && has_pairs(stack, at);
}

/* True if all of it is there, not far above SP: what lies between may be the
 * frames of those that call main(). */
static bool program_begins_near(const struct swz_stack *stack, uint64_t sp)
{
	uint64_t at = (sp + 15) & ~15ull; /* there it is aligned */

	for (uint64_t end = at + NEAR_BYTES; at < end; at += 16)
		if (begins_at(stack, at))
			return true;
	return false;
}

/* --- the walk ------------------------------------------------------------ */

/* A walk on its way. */
struct walk {
	struct swz_unwinder *unwinder;
	const struct swz_stack *stack;
	struct frame at;
	size_t depth;             /* of it; 0: the innermost frame */
	uint64_t *pcs;            /* what is known of the frames up to there */
	uint64_t *frame_pointers; /* the same; or NULL */
	/* all registers of the frame full_depth */
	struct swz_registers full;
	size_t full_depth;
	bool full_exact;
};

/* --------------------------------------------------- by rsp, rbp and the row
 */

static enum swz_step go_to(struct frame *f, uint64_t ip, uint64_t sp,
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

static enum swz_step step_by_row(const struct walk *w, struct frame *f,
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
static enum swz_step step_by_rbp(const struct walk *w, struct frame *f)
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

/* rbp points to the caller's, with the return address above it; what was the
 * caller's rsp is saved, since arguments may have been put between. */
static enum swz_step step_by_rbp_and_sp(const struct walk *w, struct frame *f,
					const struct swz_unwind_row *row)
{
	uint64_t ip, bp, sp;
	enum swz_step step;

	if (f->bp < f->sp || f->bp % sizeof(uint64_t))
		return SWZ_STEP_LOST;
	step = swz_stack_load(w->stack, f->bp, &bp);
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(w->stack, f->bp + 8, &ip);
	if (step == SWZ_STEP_DONE)
		step = swz_stack_load(
			w->stack, f->bp + (uint64_t)(int64_t)row->cfa_offset,
			&sp);
	if (step != SWZ_STEP_DONE)
		return step;
	return sp < f->bp + 16 || sp % sizeof(uint64_t) ? SWZ_STEP_LOST
							: go_to(f, ip, sp, bp);
}

static const struct swz_unwind_row *row_at(struct swz_unwinder *unwinder,
					   uint64_t ip, bool exact)
{
	static const struct swz_unwind_row none = {.kind = SWZ_ROW_NONE};
	uint64_t pc = frame_pc(ip, exact);
	const struct swz_mapping *mapping = unwinder_mapping_at(unwinder, pc);

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
	const struct swz_mapping *mapping = unwinder_mapping_at(w->unwinder,
								ip);

	if (mapping && mapping->file)
		return swz_unwind_file_code(mapping->file, ip - mapping->bias,
					    code, size);
	return stack->read && stack->read(stack->context, ip, code, size);
}

/* By the code there, in memory without a file. */
static enum swz_step step_by_code(const struct walk *w, struct frame *f)
{
	uint8_t code[SWZ_CODE_BYTES];
	struct swz_unwind_row row;

	if (!read_code(w, f->ip, code, sizeof(code)))
		return SWZ_STEP_LOST;
	row = swz_code_row(code, sizeof(code), !f->exact);
	return row.kind == SWZ_ROW_RSP ? step_by_row(w, f, &row)
				       : SWZ_STEP_LOST;
}

/* As who has made the code says. */
static enum swz_step step_as_described(const struct walk *w, struct frame *f)
{
	const struct swz_unwinder *unwinder = w->unwinder;
	struct frame try = *f;
	struct swz_unwind_row row;
	enum swz_step step;

	if (!unwinder->describe ||
	    !unwinder->describe(unwinder->describe_context,
				frame_pc(f->ip, f->exact), f->sp, f->exact,
				&row))
		return SWZ_STEP_LOST;
	step = row.kind == SWZ_ROW_RBP_AND_SP
		       ? step_by_rbp_and_sp(w, &try, &row)
		       : step_by_row(w, &try, &row);
	if (step == SWZ_STEP_DONE &&
	    !unwinder_returns(w->unwinder, &try.ip, false))
		return SWZ_STEP_LOST;
	if (step == SWZ_STEP_DONE)
		*f = try;
	return step;
}

static bool is_begin_of_program(const struct walk *w, const struct frame *f)
{
	return f->exact && !w->depth && !f->bp && f->sp % 16 == 0 &&
	       has_arguments(w->stack, f->sp);
}

/* Where nothing describes the code: it was made at run time, or is of a file
 * without an entry for it, whose row is by the code already. What calls main()
 * in such a file (of musl, stripped) is as good as the outermost frame. */
static enum swz_step step_without_row(const struct walk *w, struct frame *f)
{
	struct frame try = *f;
	const struct swz_mapping *mapping = unwinder_mapping_at(w->unwinder,
								f->ip);
	bool is_of_file = mapping && mapping->file;
	enum swz_step step;

	if (is_begin_of_program(w, f))
		return SWZ_STEP_ROOT;
	step = is_of_file ? SWZ_STEP_LOST : step_as_described(w, f);
	if (step != SWZ_STEP_LOST)
		return step;
	/* a function that has called another one has its frame */
	if (f->exact && !is_of_file && step_by_code(w, &try) == SWZ_STEP_DONE &&
	    unwinder_returns(w->unwinder, &try.ip, false)) {
		*f = try;
		return SWZ_STEP_DONE;
	}
	try = *f;
	step = step_by_rbp(w, &try);
	if (step == SWZ_STEP_DONE &&
	    !unwinder_returns(w->unwinder, &try.ip, false))
		step = SWZ_STEP_LOST;
	if (step == SWZ_STEP_LOST && is_of_file && !f->exact &&
	    program_begins_near(w->stack, f->sp))
		return SWZ_STEP_ROOT;
	if (step == SWZ_STEP_DONE)
		*f = try;
	return step;
}

/* As behind the branch, as that changes neither registers nor stack. RAX may be
 * NULL: not known. */
static enum swz_step step_behind_branch(const struct walk *w, struct frame *f,
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

/* Nothing has called the function. Its caller is whom it would return to, if
 * there is one. */
static enum swz_step step_from_entry(const struct walk *w, struct frame *f,
				     const struct swz_unwind_row *row)
{
	const struct swz_unwind_row plain = {.kind = SWZ_ROW_RSP,
					     .cfa_offset = row->cfa_offset};
	struct frame try = *f;

	if (!row->cfa_offset || step_by_row(w, &try, &plain) != SWZ_STEP_DONE ||
	    !unwinder_returns(w->unwinder, &try.ip, false))
		return SWZ_STEP_ROOT;
	*f = try;
	return SWZ_STEP_DONE;
}

/* ------------------------------------------------------- with all registers */

/* A step for which the registers that change are rsp and rbp. */
static enum swz_step step_plainly(const struct walk *w,
				  const struct swz_unwind_row *row,
				  struct swz_registers *registers, bool exact)
{
	struct frame f = {registers->ip, registers->sp, registers->bp, exact};
	enum swz_step done;

	if (row->kind == SWZ_ROW_NONE)
		done = step_without_row(w, &f);
	else if (row->kind == SWZ_ROW_BRANCH)
		done = step_behind_branch(w, &f, &registers->ax);
	else if (row->kind == SWZ_ROW_ENTRY)
		done = step_from_entry(w, &f, row);
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
	uint64_t pc = frame_pc(w->full.ip, w->full_exact);
	const struct swz_mapping *mapping;
	const struct swz_unwind_row *row;
	struct swz_fde fde;
	enum swz_step done;
	bool exact = false;

	row = row_at(w->unwinder, w->full.ip, w->full_exact);
	mapping = unwinder_mapping_at(w->unwinder, pc);
	if (row->kind == SWZ_ROW_SIGNAL) {
		done = swz_step_signal(&w->full, w->stack);
		exact = true;
	} else if (row->kind != SWZ_ROW_ENTRY && mapping && mapping->file &&
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
	    !unwinder_returns(w->unwinder, &w->full.ip, exact))
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
	w->at = (struct frame){w->full.ip, w->full.sp, w->full.bp, true};
	return SWZ_STEP_DONE;
}

/* --------------------------------------------------------------------- walk */

static bool reads_call(const struct walk *w, uint64_t ip)
{
	uint8_t code[SWZ_CALL_BYTES];

	return read_code(w, ip - sizeof(code), code, sizeof(code)) &&
	       swz_code_ends_with_call(code + sizeof(code), sizeof(code));
}

/* Code in files stays, and deep stacks return to the same places again and
 * again. They are known when the process has ended, too. */
static bool follows_call(const struct walk *w, uint64_t ip)
{
	const struct swz_mapping *mapping = unwinder_mapping_at(w->unwinder,
								ip);
	uint32_t *known;

	if (!mapping || !mapping->file)
		return reads_call(w, ip);
	known = swz_map_at(&w->unwinder->calls, ip, 0);
	if (*known == SWZ_MAP_NONE)
		*known = reads_call(w, ip);
	return *known;
}

/* The return address that the last step found is not one that another call has
 * left there since. */
static bool is_sure(const struct walk *w)
{
	uint64_t from = w->stack->unsure_from;

	return !from || w->at.exact || w->at.sp - sizeof(uint64_t) < from ||
	       follows_call(w, w->at.ip);
}

/* To the caller. */
static enum swz_step step(struct walk *w)
{
	const struct swz_unwind_row *row = row_at(w->unwinder, w->at.ip,
						  w->at.exact);

	if (w->frame_pointers)
		w->frame_pointers[w->depth] = 0;
	switch (row->kind) {
	case SWZ_ROW_RSP:
	case SWZ_ROW_RBP:
	case SWZ_ROW_SAVED:
		return step_by_row(w, &w->at, row);
	case SWZ_ROW_ROOT:
		return SWZ_STEP_ROOT;
	case SWZ_ROW_NONE:
		if (w->frame_pointers)
			w->frame_pointers[w->depth] =
				w->at.bp ? w->at.bp : SWZ_NO_FRAME_POINTER;
		return step_without_row(w, &w->at);
	case SWZ_ROW_BRANCH:
		return step_behind_branch(
			w, &w->at,
			w->full_depth == w->depth ? &w->full.ax : NULL);
	case SWZ_ROW_ENTRY:
		/* the address itself tells the function, not the byte before */
		w->pcs[w->depth] = w->at.ip + 1;
		return step_from_entry(w, &w->at, row);
	default:
		return step_all(w);
	}
}

size_t swz_unwinder_walk(struct swz_unwinder *unwinder,
			 const struct swz_registers *registers,
			 const struct swz_stack *stack, uint64_t *pcs,
			 size_t most, enum swz_walk_end *end)
{
	return swz_unwinder_walk_frames(unwinder, registers, stack, pcs, NULL,
					most, end);
}

size_t swz_unwinder_walk_frames(struct swz_unwinder *unwinder,
				const struct swz_registers *registers,
				const struct swz_stack *stack, uint64_t *pcs,
				uint64_t *frame_pointers, size_t most,
				enum swz_walk_end *end)
{
	static const enum swz_walk_end ends[] = {
		[SWZ_STEP_ROOT] = SWZ_WALK_ROOT,
		[SWZ_STEP_CUT] = SWZ_WALK_CUT,
		[SWZ_STEP_LOST] = SWZ_WALK_LOST};
	struct walk w;
	enum swz_step done;

	w.unwinder = unwinder;
	w.stack = stack;
	w.at = (struct frame){registers->ip, registers->sp, registers->bp,
			      true};
	w.depth = 0;
	w.pcs = pcs;
	w.frame_pointers = frame_pointers;
	w.full = *registers;
	w.full_depth = 0;
	w.full_exact = true;
	pcs[0] = w.at.ip;
	for (;;) {
		done = step(&w);
		if (done == SWZ_STEP_DONE &&
		    !unwinder_returns(unwinder, &w.at.ip, w.at.exact))
			done = SWZ_STEP_LOST;
		if (done == SWZ_STEP_DONE && !is_sure(&w))
			done = SWZ_STEP_CUT;
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
