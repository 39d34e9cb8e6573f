/* Where a jump leads, the stack there is noted; behind what ends the flow, or
 * where it has been already, it goes on at the first such place. */

#include "runtime/discovery/code_flow.h"

#include <string.h>

#include "runtime/discovery/function.h"
#include "runtime/discovery/return_slot.h"
#include "runtime/module/module.h"
#include "runtime/support/scratch_memory.h"
#include "thunks/relocate.h"
#include "thunks/encoding.h"

/* --- tables of distances ------------------------------------------------- */

/* Entries of one. */
#define MOST_ENTRIES 65536u

static struct swz_bytes as_in_file(const struct swz_module *m,
				   const ElfW(Phdr) * p, uint64_t at)
{
	struct swz_bytes file = m->file.file;
	struct swz_bytes words = {swz_module_bytes(m, at),
				  p->p_vaddr + p->p_filesz - at};
	uint64_t offset = p->p_offset + (at - p->p_vaddr);

	/* what is not written to is the same, and in memory already */
	if (p->p_flags & PF_W && offset <= file.size &&
	    words.size <= file.size - offset)
		words.data = file.data + offset;
	return words;
}

struct swz_bytes swz_distance_table_at(const struct swz_module *m,
				       uint64_t table)
{
	struct swz_bytes words = {NULL, 0};

	for (unsigned i = 0; i < m->segment_count; i++) {
		const ElfW(Phdr) *p = &m->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_R &&
		    table - p->p_vaddr < p->p_filesz) {
			words = as_in_file(m, p, table);
			break;
		}
	}
	if (words.size > MOST_ENTRIES * UINT64_C(4))
		words.size = MOST_ENTRIES * UINT64_C(4);
	return words;
}

void swz_distance_table_read(const struct swz_module *m,
			     const struct swz_function *f, uint64_t label,
			     uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context)
{
	struct swz_bytes words = swz_distance_table_at(m, table);

	for (size_t at = 0; at + 4 <= words.size; at += 4) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, words.data + at, sizeof(distance));
		to = label + (uint64_t)(int64_t)distance;
		if (!swz_function_has(f, to))
			break;
		found(context, to);
	}
}

/* --- tables of switches -------------------------------------------------- */

/* From the comparison to the jump. */
#define MOST_SINCE 16u
#define MOST_BOUND 1023u
/* From where the table's address is taken to the jump. */
#define MOST_INSTRUCTIONS 16u

enum { AND = 4, CMP = 7 };

static bool has_bound(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);

	switch (e->opcode) {
	case 0x24: /* and, cmp of %rax */
	case 0x25:
	case 0x3c:
	case 0x3d:
		return true;
	case 0x80:
	case 0x81:
	case 0x83:
		return operation == AND || operation == CMP;
	default:
		return false;
	}
}

static uint32_t immediate(const struct swz_encoding *e, const uint8_t *code)
{
	uint32_t value = 0;

	memcpy(&value, code + e->operands_at,
	       e->immediate_bytes < 4 ? e->immediate_bytes : 4);
	return value;
}

static void follow_add(struct swz_switch *s, unsigned to, unsigned from)
{
	s->base = s->held[from] ? s->held[from] : s->held[to];
	s->held[to] = 0;
}

static void follow_load(struct swz_switch *s, const struct swz_encoding *e)
{
	unsigned base = swz_operand_base(e);

	s->table = base < SWZ_NO_REGISTER ? s->held[base] : 0;
	s->base = 0;
}

void swz_switch_follow(struct swz_switch *s, const struct swz_module *m,
		       const struct swz_encoding *e, const uint8_t *code,
		       uint64_t next)
{
	bool memory = swz_operand_is_memory(e);

	if (s->since && s->since <= MOST_SINCE)
		s->since++;
	if (e->map != SWZ_MAP_ONE_BYTE)
		return;
	if (has_bound(e)) {
		s->bound = immediate(e, code);
		s->since = 1;
	}
	switch (e->opcode) {
	case 0x01:
		if (!memory)
			follow_add(s, swz_encoding_rm(e), swz_encoding_reg(e));
		break;
	case 0x03:
		if (!memory)
			follow_add(s, swz_encoding_reg(e), swz_encoding_rm(e));
		break;
	case 0x63: /* movslq */
		if (memory)
			follow_load(s, e);
		s->held[swz_encoding_reg(e)] = 0;
		break;
	case 0x89:
		if (!memory)
			s->held[swz_encoding_rm(e)] =
				s->held[swz_encoding_reg(e)];
		break;
	case 0x8b:
		s->held[swz_encoding_reg(e)] =
			memory ? 0 : s->held[swz_encoding_rm(e)];
		break;
	case 0x8d:
		s->held[swz_encoding_reg(e)] = swz_encoding_rip_relative(e)
						       ? swz_module_relative(
								 m, next - 4)
						       : 0;
		break;
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		s->held[(e->opcode & 7u) | (e->extends_base ? 8u : 0)] = 0;
		break;
	default:
		break;
	}
}

bool swz_switch_is_bounded(const struct swz_switch *s)
{
	return s->since && s->since <= MOST_SINCE && s->bound <= MOST_BOUND;
}

bool swz_switch_is_at(const struct swz_module *m, struct swz_decoder *decoder,
		      uint64_t pc, uint64_t end, uint64_t table)
{
	struct swz_switch s = {.since = 0};

	for (unsigned n = 0; n < MOST_INSTRUCTIONS && pc < end; n++) {
		struct swz_bytes code = {swz_module_bytes(m, pc), end - pc};
		struct swz_encoding e;
		struct swz_insn insn;

		if (swz_decode_encoding(decoder, code, pc, &insn, &e) != SWZ_OK)
			return false;
		if (insn.kind == SWZ_INSN_JUMP_INDIRECT)
			return !swz_operand_is_memory(&e) && s.table == table &&
			       s.base == table;
		if (insn.kind != SWZ_INSN_PLAIN &&
		    insn.kind != SWZ_INSN_JUMP_CC)
			return false;
		swz_switch_follow(&s, m, &e, code.data, pc + insn.length);
		pc += insn.length;
	}
	return false;
}

bool swz_switch_read(const struct swz_switch *s, const struct swz_module *m,
		     void (*found)(void *context, uint64_t to), void *context)
{
	struct swz_bytes words;

	if (!s->table || !s->base)
		return false;
	words = swz_distance_table_at(m, s->table);
	for (size_t i = 0; i <= s->bound && 4 * i + 4 <= words.size; i++) {
		int32_t distance;
		uint64_t to;

		memcpy(&distance, words.data + 4 * i, sizeof(distance));
		to = s->base + (uint64_t)(int64_t)distance;
		if (swz_module_is_text(m, to, 1))
			found(context, to);
	}
	return true;
}

/* --- from a first byte on ------------------------------------------------ */

/* From the first byte to the last that is looked at. */
#define MOST_FLOW_BYTES 65536u

enum { RSP = 4, RBP = 5, MOST_TARGETS = 128, MOST_FROM_TABLE = 6 };
enum { UD1 = 0xb9, INT3 = 0xcc };

/* A register that holds an address in the stack: so far below the CFA. */
struct copy {
	bool is_one;
	int64_t below;
};

/* State before an instruction. */
struct state {
	struct swz_depth depth;
	struct copy copies[16];
};

struct swz_follower {
	struct swz_flow *flow;
	struct state now;
	uint8_t from_table; /* instructions since an offset was loaded */
	bool behind_call;   /* that need not return, or padding behind it */
	bool had_frame;     /* something was on the stack */
	struct swz_kept_registers registers;
	struct swz_switch offsets; /* what is known of the next switch */
	unsigned target_count;
	struct {
		uint64_t at;
		struct state state;
	} targets[MOST_TARGETS];
	/* bits: where instructions begin, what else is theirs, and what jumps
	 * have led to; from `touched` on none is set */
	uint8_t starts[MOST_FLOW_BYTES / 8];
	uint8_t insides[MOST_FLOW_BYTES / 8];
	uint8_t labels[MOST_FLOW_BYTES / 8];
	uint64_t touched;
};

static bool is_at_entry(const struct state *s)
{
	return !s->depth.lost && s->depth.now == 8;
}

static int64_t displacement_of(const struct swz_encoding *e,
			       const uint8_t *code)
{
	if (!e->displacement_bytes)
		return 0;
	return swz_distance_before(code + e->displacement_at +
					   e->displacement_bytes,
				   e->displacement_bytes);
}

/* The stack is, from here on, where a register says. */
static bool take_copy(struct state *s, unsigned from, int64_t add)
{
	if (from == RSP)
		return true; /* followed already */
	if (from == RBP && s->depth.frame)
		return true;
	if (!s->copies[from].is_one)
		return false;
	s->depth.now = s->copies[from].below - add;
	s->depth.lost = s->copies[from].below == 0;
	return true;
}

static void make_copy(struct state *s, unsigned to, int64_t add)
{
	s->copies[to] = (struct copy){true,
				      s->depth.lost ? 0 : s->depth.now - add};
}

static bool is_stack(const struct state *s, unsigned base)
{
	return base == RSP ||
	       (base < SWZ_NO_REGISTER &&
		(s->copies[base].is_one || (base == RBP && s->depth.frame)));
}

/* mov between a register and what ModRM says. */
static bool follow_move(struct state *s, const struct swz_encoding *e,
			bool to_reg)
{
	unsigned to = to_reg ? swz_encoding_reg(e) : swz_encoding_rm(e);
	unsigned from = to_reg ? swz_encoding_rm(e) : swz_encoding_reg(e);

	if (swz_operand_is_memory(e)) {
		bool in_stack = is_stack(s, swz_operand_base(e));

		if (!to_reg)
			return from != RSP || in_stack;
		s->copies[to].is_one = false;
		return to != RSP || in_stack;
	}
	if (to == RSP)
		return take_copy(s, from, 0);
	s->copies[to] = s->copies[from];
	if (from == RSP)
		make_copy(s, to, 0);
	return true;
}

static bool follow_lea(struct state *s, const struct swz_encoding *e,
		       const uint8_t *code)
{
	unsigned to = swz_encoding_reg(e), base = swz_operand_base(e);
	int64_t add = displacement_of(e, code);

	if (to == RSP)
		return base < SWZ_NO_REGISTER &&
		       swz_operand_index(e) == SWZ_NO_REGISTER &&
		       take_copy(s, base, add);
	if (base == RSP && swz_operand_index(e) == SWZ_NO_REGISTER)
		make_copy(s, to, add);
	else
		s->copies[to].is_one = false;
	return true;
}

/* Sizes taken off the stack, and its alignment, whatever they are. */
static bool is_arithmetic_on_stack(const struct swz_encoding *e)
{
	unsigned operation = swz_modrm_reg(e->modrm);

	switch (e->opcode) {
	case 0x01: /* add, sub */
	case 0x03:
	case 0x29:
	case 0x2b:
		return true;
	case 0x81:
	case 0x83:
		return operation == 0 || operation == 4 || operation == 5;
	default:
		return false;
	}
}

/* Follows the stack pointer and its copies through the instruction, whose depth
 * has been followed; false if it switches to another stack. */
static bool follow_stack(struct state *s, const struct swz_encoding *e,
			 const uint8_t *code)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return !swz_encoding_replaces_stack(e);
	switch (e->opcode) {
	case 0x89:
	case 0x8b:
		return follow_move(s, e, e->opcode == 0x8b);
	case 0x8d:
		return follow_lea(s, e, code);
	case 0x58 ... 0x5f:
	case 0xb8 ... 0xbf:
		s->copies[(e->opcode & 7u) | (e->extends_base ? 8u : 0)]
			.is_one = false;
		break;
	case 0xc9: /* leave */
		return s->depth.frame;
	default:
		break;
	}
	if (!swz_encoding_replaces_stack(e))
		return true;
	s->depth.lost |= e->opcode == 0x03 || e->opcode == 0x2b;
	return is_arithmetic_on_stack(e);
}

/* Its memory operand is the return address. */
static bool is_slot(const struct state *s, const struct swz_encoding *e,
		    const uint8_t *code)
{
	unsigned base;

	if (swz_depth_is_slot(&s->depth, e, code))
		return true;
	if (!swz_operand_is_memory(e) ||
	    swz_operand_index(e) != SWZ_NO_REGISTER)
		return false;
	base = swz_operand_base(e);
	return base < SWZ_NO_REGISTER && s->copies[base].is_one &&
	       s->copies[base].below &&
	       displacement_of(e, code) == s->copies[base].below - 8;
}

bool swz_flow_is_odd(struct swz_bytes code, const struct swz_encoding *e)
{
	struct swz_encoding plain = *e;

	if (e->map == SWZ_MAP_0F && e->opcode == UD1)
		return false;
	if (swz_operand_is_memory(e)) {
		plain.locked = false;
		if (code.data[0] == 0x64) /* %fs */
			code.data++;
	}
	return swz_opcode_is_odd(code, &plain);
}

static bool is_set(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] & (1u << at % 8);
}

static void set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static void touch(struct swz_follower *f, uint8_t *bits, uint64_t at)
{
	set(bits, at);
	if (at >= f->touched)
		f->touched = at + 1;
}

static void clear(struct swz_follower *f)
{
	size_t bytes = (size_t)(f->touched + 7) / 8;

	memset(f->starts, 0, bytes);
	memset(f->insides, 0, bytes);
	memset(f->labels, 0, bytes);
	f->touched = 0;
}

/* Among the targets it may be, unless this says no. */
static bool may_be_target(const struct swz_follower *f, uint64_t pc)
{
	uint64_t at = pc - f->flow->start;

	return at >= MOST_FLOW_BYTES || is_set(f->labels, at);
}

static bool was_here(const struct swz_follower *f, uint64_t pc)
{
	uint64_t at = pc - f->flow->start;

	return at < MOST_FLOW_BYTES && is_set(f->starts, at);
}

/* All ways to one instruction have the same stack; copies are kept where the
 * ways agree. False if the stack is not. */
static bool meet(struct state *a, const struct state *b)
{
	for (unsigned i = 0; i < 16; i++)
		if (!b->copies[i].is_one ||
		    a->copies[i].below != b->copies[i].below)
			a->copies[i].is_one = false;
	if (b->depth.lost)
		a->depth.lost = true;
	return a->depth.lost || a->depth.now == b->depth.now;
}

static bool follow_jump(struct swz_follower *f, uint64_t to)
{
	const struct swz_flow *flow = f->flow;

	if (!swz_module_is_text(flow->module, to, 1))
		return false;
	if (to <= flow->start || to >= flow->limit) {
		flow->leads_to(flow->context, to, SWZ_WAY_JUMP,
			       is_at_entry(&f->now));
		return true;
	}
	if (was_here(f, to))
		return true;
	for (unsigned i = 0; i < f->target_count && may_be_target(f, to); i++)
		if (f->targets[i].at == to)
			return meet(&f->targets[i].state, &f->now);
	if (f->target_count == MOST_TARGETS)
		return false;
	if (to - flow->start < MOST_FLOW_BYTES)
		touch(f, f->labels, to - flow->start);
	f->targets[f->target_count].at = to;
	f->targets[f->target_count++].state = f->now;
	return true;
}

/* Takes the first of the places that jumps have led to; they are left out where
 * it has been. False if there is none. */
static bool take_target(struct swz_follower *f, uint64_t *pc)
{
	unsigned first = 0;

	if (!f->target_count)
		return false;
	for (unsigned i = 1; i < f->target_count; i++)
		if (f->targets[i].at < f->targets[first].at)
			first = i;
	*pc = f->targets[first].at;
	f->now = f->targets[first].state;
	f->targets[first] = f->targets[--f->target_count];
	return !was_here(f, *pc) || take_target(f, pc);
}

/* Joins the flow with what jumps bring to `pc`; false if the stacks differ. */
static bool joins(struct swz_follower *f, uint64_t pc)
{
	for (unsigned i = 0; i < f->target_count && may_be_target(f, pc); i++)
		if (f->targets[i].at == pc)
			return meet(&f->now, &f->targets[i].state);
	return true;
}

/* By an offset from a table, as a switch does; interpreters' code, which is not
 * called, goes on by addresses. Or to another module. */
static bool is_known_jump(const struct swz_follower *f,
			  const struct swz_encoding *e)
{
	return swz_encoding_rip_relative(e) ||
	       (!swz_operand_is_memory(e) && f->from_table < MOST_FROM_TABLE);
}

/* As a call of a virtual function is, which is jumped to. */
static bool is_pointer(const struct swz_encoding *e)
{
	return swz_operand_is_memory(e) &&
	       swz_operand_index(e) == SWZ_NO_REGISTER;
}

enum outcome { FLOWS_ON, ENDS, IS_NONE };

static void note_label(void *context, uint64_t to)
{
	const struct swz_flow *flow = ((struct swz_follower *)context)->flow;

	flow->leads_to(flow->context, to, SWZ_WAY_SWITCH, true);
}

/* A switch with nothing on the stack may be in the midst of another function,
 * of which the flow is but a part. */
static bool follow_switch(struct swz_follower *f, const struct swz_encoding *e)
{
	return swz_operand_is_memory(e) || !is_at_entry(&f->now) ||
	       !swz_switch_is_bounded(&f->offsets) ||
	       swz_switch_read(&f->offsets, f->flow->module, note_label, f);
}

/* A jump by a register or memory: a tail call, if it gives up the frame first;
 * or a known one. */
static enum outcome outcome_of_indirect(struct swz_follower *f,
					const struct swz_encoding *e)
{
	if (f->had_frame && is_at_entry(&f->now)) {
		f->flow->returns = true;
		return ENDS;
	}
	if (is_known_jump(f, e) && follow_switch(f, e))
		return ENDS;
	f->flow->goes_anywhere |= !f->flow->is_compiled || !is_pointer(e);
	return IS_NONE;
}

/* ud2 and ud1; int3 where ud2 makes sure of it, or where what has been called
 * does not return: padding. */
static enum outcome outcome_of_trap(const struct swz_follower *f,
				    const struct swz_encoding *e, uint64_t next)
{
	static const uint8_t ud2[] = {0x0f, 0x0b};
	const struct swz_flow *flow = f->flow;

	if (e->map == SWZ_MAP_0F)
		return ENDS;
	if (e->opcode != INT3)
		return IS_NONE;
	return f->behind_call || (flow->limit - next >= sizeof(ud2) &&
				  memcmp(swz_module_bytes(flow->module, next),
					 ud2, sizeof(ud2)) == 0)
		       ? ENDS
		       : IS_NONE;
}

static enum outcome outcome_of(struct swz_follower *f,
			       const struct swz_insn *insn,
			       const struct swz_encoding *e)
{
	const struct swz_flow *flow = f->flow;
	uint64_t next = insn->address + insn->length;

	switch (insn->kind) {
	case SWZ_INSN_PLAIN:
	case SWZ_INSN_CALL_INDIRECT:
		return FLOWS_ON;
	case SWZ_INSN_JUMP:
		return follow_jump(f, insn->target) ? ENDS : IS_NONE;
	case SWZ_INSN_JUMP_CC:
	case SWZ_INSN_LOOP:
		return follow_jump(f, insn->target) ? FLOWS_ON : IS_NONE;
	case SWZ_INSN_CALL:
		if (insn->target == next ||
		    !swz_module_is_text(flow->module, insn->target, 1))
			return IS_NONE;
		flow->leads_to(flow->context, insn->target, SWZ_WAY_CALL, true);
		return FLOWS_ON;
	case SWZ_INSN_JUMP_INDIRECT:
		return outcome_of_indirect(f, e);
	case SWZ_INSN_RETURN:
		f->flow->returns = true;
		return (e->opcode == 0xc3 || e->opcode == 0xc2) &&
				       (f->now.depth.lost ||
					is_at_entry(&f->now))
			       ? ENDS
			       : IS_NONE;
	case SWZ_INSN_TRAP:
		return outcome_of_trap(f, e, next);
	default:
		return IS_NONE;
	}
}

static bool keeps_registers(struct swz_follower *f,
			    const struct swz_encoding *e)
{
	bool in_stack = swz_operand_is_memory(e) &&
			is_stack(&f->now, swz_operand_base(e));

	return !f->flow->is_compiled ||
	       swz_kept_registers_follow(&f->registers, e, in_stack);
}

/* The instruction at `pc`; its length, and in *outcome what comes of it. */
static unsigned follow(struct swz_follower *f, uint64_t pc,
		       enum outcome *outcome)
{
	const struct swz_flow *flow = f->flow;
	struct swz_bytes code = {swz_module_bytes(flow->module, pc),
				 flow->limit - pc};
	uint64_t at = pc - flow->start;
	struct swz_encoding e;
	struct swz_insn insn;

	*outcome = IS_NONE;
	if (at >= MOST_FLOW_BYTES || is_set(f->insides, at) ||
	    swz_decode_encoding(flow->decoder, code, pc, &insn, &e) != SWZ_OK ||
	    swz_flow_is_odd(code, &e) || !keeps_registers(f, &e))
		return 0;
	if (is_slot(&f->now, &e, code.data)) {
		f->flow->refers_to_slot = true;
		return 0;
	}
	touch(f, f->starts, at);
	for (unsigned i = 1; i < insn.length && at + i < MOST_FLOW_BYTES; i++)
		touch(f, f->insides, at + i);
	swz_depth_follow(&f->now.depth, &e, code.data, pc + insn.length);
	if (!follow_stack(&f->now, &e, code.data))
		return 0;
	if (f->now.depth.now < 8 && !f->now.depth.lost) {
		f->flow->refers_to_slot = true;
		return 0;
	}
	if (e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0x63) /* movslq */
		f->from_table = 0;
	else if (f->from_table < MOST_FROM_TABLE)
		f->from_table++;
	swz_switch_follow(&f->offsets, flow->module, &e, code.data,
			  pc + insn.length);
	if (!is_at_entry(&f->now))
		f->had_frame = true;
	*outcome = outcome_of(f, &insn, &e);
	f->behind_call = (flow->is_compiled || flow->is_part) &&
			 (insn.kind == SWZ_INSN_CALL ||
			  insn.kind == SWZ_INSN_CALL_INDIRECT ||
			  (f->behind_call && swz_padding_length(code)));
	return insn.length;
}

struct swz_follower *swz_follower_new(void)
{
	struct swz_follower *f = swz_scratch_alloc_brief(sizeof(*f));

	if (f)
		f->touched = MOST_FLOW_BYTES;
	return f;
}

/* At the limit; or behind a call that does not return, after which compilers
 * write no more. */
static bool runs_on(struct swz_follower *f, uint64_t pc)
{
	const struct swz_flow *flow = f->flow;

	if (pc != flow->limit || f->behind_call)
		return true; /* where it has been */
	if (flow->limit_is_known && !is_at_entry(&f->now))
		return false;
	flow->leads_to(flow->context, pc, SWZ_WAY_JUMP, is_at_entry(&f->now));
	return true;
}

/* True if there is nothing to follow at `pc`. */
static bool is_done(const struct swz_follower *f, uint64_t pc)
{
	const struct swz_flow *flow = f->flow;
	struct swz_bytes code = {swz_module_bytes(flow->module, pc),
				 flow->limit - pc};

	return pc == flow->limit || was_here(f, pc) ||
	       (flow->is_part && f->behind_call && swz_padding_length(code));
}

uint64_t swz_flow_end(struct swz_follower *f, struct swz_flow *flow)
{
	uint64_t pc = flow->start, end = pc;

	f->flow = flow;
	f->now = (struct state){.depth = SWZ_DEPTH_AT_ENTRY};
	flow->returns = flow->refers_to_slot = flow->goes_anywhere = false;
	f->behind_call = f->had_frame = false;
	f->registers = (struct swz_kept_registers){0};
	f->offsets = (struct swz_switch){.since = 0};
	f->from_table = MOST_FROM_TABLE;
	f->target_count = 0;
	clear(f);
	do {
		enum outcome outcome = FLOWS_ON;

		while (outcome == FLOWS_ON && !is_done(f, pc)) {
			if (!joins(f, pc) && !flow->is_part)
				return 0;
			pc += follow(f, pc, &outcome);
			if (pc > end)
				end = pc;
		}
		if (((outcome == FLOWS_ON && !runs_on(f, pc)) ||
		     outcome == IS_NONE) &&
		    !flow->is_part)
			return 0;
	} while (take_target(f, &pc));
	return end;
}
