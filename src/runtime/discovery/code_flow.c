/* Where a jump leads, the stack there is noted; behind what ends the flow, or
 * where it has been already, it goes on at the first such place. */

#include "runtime/discovery/code_flow.h"

#include <string.h>

#include "runtime/discovery/scan_data.h"
#include "runtime/discovery/scan_depth.h"
#include "runtime/support/scratch.h"

enum { RSP = 4, RBP = 5, MOST_TARGETS = 128, MOST_FROM_TABLE = 6 };

/* A register that holds an address in the stack: so far below the CFA. */
struct copy {
	bool is_one;
	int64_t below;
};

/* What is known at an instruction. */
struct state {
	struct swz_depth depth;
	struct copy copies[16];
};

struct swz_follower {
	struct swz_flow *flow;
	struct state now;
	uint8_t from_table; /* instructions since an offset was loaded */
	unsigned target_count;
	struct {
		uint64_t at;
		struct state state;
	} targets[MOST_TARGETS];
	/* bits: where instructions begin, and what else is theirs */
	uint8_t starts[SWZ_MOST_FLOW_BYTES / 8];
	uint8_t insides[SWZ_MOST_FLOW_BYTES / 8];
};

static bool is_at_entry(const struct state *s)
{
	return !s->depth.lost && s->depth.now == 8;
}

static bool is_memory(const struct swz_encoding *e)
{
	return e->modrm_at && swz_modrm_mod(e->modrm) != 3;
}

/* The base of the memory operand; 16: none. */
static unsigned base_of(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (swz_encoding_rip_relative(e))
		return 16;
	if (swz_encoding_has_sib(e)) {
		base = e->sib & 7;
		if (base == RBP && swz_modrm_mod(e->modrm) == 0)
			return 16;
	}
	return base | (e->extends_base ? 8u : 0);
}

static bool has_index(const struct swz_encoding *e)
{
	return swz_encoding_has_sib(e) &&
	       (e->extends_index || (e->sib >> 3 & 7) != 4);
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
	return base == RSP || (base < 16 && (s->copies[base].is_one ||
					     (base == RBP && s->depth.frame)));
}

/* mov between a register and what ModRM says. */
static bool follow_move(struct state *s, const struct swz_encoding *e,
			bool to_reg)
{
	unsigned to = to_reg ? swz_encoding_reg(e) : swz_encoding_rm(e);
	unsigned from = to_reg ? swz_encoding_rm(e) : swz_encoding_reg(e);

	if (is_memory(e)) {
		bool in_stack = is_stack(s, base_of(e));

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
	unsigned to = swz_encoding_reg(e), base = base_of(e);
	int64_t add = displacement_of(e, code);

	if (to == RSP)
		return base < 16 && !has_index(e) && take_copy(s, base, add);
	if (base == RSP && !has_index(e))
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

/* What the instruction, whose depth has been followed, does with the stack
 * pointer and its copies; false if the stack is another then. */
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
	if (!is_memory(e) || has_index(e))
		return false;
	base = base_of(e);
	return base < 16 && s->copies[base].is_one && s->copies[base].below &&
	       displacement_of(e, code) == s->copies[base].below - 8;
}

static bool is_set(const uint8_t *bits, uint64_t at)
{
	return bits[at / 8] & (1u << at % 8);
}

static void set(uint8_t *bits, uint64_t at)
{
	bits[at / 8] |= (uint8_t)(1u << at % 8);
}

static bool was_here(const struct swz_follower *f, uint64_t pc)
{
	uint64_t at = pc - f->flow->start;

	return at < SWZ_MOST_FLOW_BYTES && is_set(f->starts, at);
}

/* What the flow comes to from elsewhere has the same stack; what is known of
 * copies is not the same. False if the stack is not. */
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
		flow->leads_to(flow->context, to, false, is_at_entry(&f->now));
		return true;
	}
	if (was_here(f, to))
		return true;
	for (unsigned i = 0; i < f->target_count; i++)
		if (f->targets[i].at == to)
			return meet(&f->targets[i].state, &f->now);
	if (f->target_count == MOST_TARGETS)
		return false;
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

/* What flows to `pc` is what jumps lead there with; false if not. */
static bool joins(struct swz_follower *f, uint64_t pc)
{
	for (unsigned i = 0; i < f->target_count; i++)
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
	       (!is_memory(e) && f->from_table < MOST_FROM_TABLE);
}

enum outcome { FLOWS_ON, ENDS, IS_NONE };

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
		flow->leads_to(flow->context, insn->target, true, true);
		return FLOWS_ON;
	case SWZ_INSN_JUMP_INDIRECT:
		return is_known_jump(f, e) ? ENDS : IS_NONE;
	case SWZ_INSN_RETURN:
		f->flow->returns = true;
		return (e->opcode == 0xc3 || e->opcode == 0xc2) &&
				       (f->now.depth.lost ||
					is_at_entry(&f->now))
			       ? ENDS
			       : IS_NONE;
	case SWZ_INSN_TRAP: /* ud2 */
		return e->map == SWZ_MAP_0F ? ENDS : IS_NONE;
	default:
		return IS_NONE;
	}
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
	if (at >= SWZ_MOST_FLOW_BYTES || is_set(f->insides, at) ||
	    swz_decode_encoding(flow->decoder, code, pc, &insn, &e) != SWZ_OK ||
	    swz_opcode_is_odd(code, &e) || is_slot(&f->now, &e, code.data))
		return 0;
	set(f->starts, at);
	for (unsigned i = 1; i < insn.length && at + i < SWZ_MOST_FLOW_BYTES;
	     i++)
		set(f->insides, at + i);
	swz_depth_follow(&f->now.depth, &e, code.data, pc + insn.length);
	if (!follow_stack(&f->now, &e, code.data))
		return 0;
	if (f->now.depth.now < 8 && !f->now.depth.lost)
		return 0;
	if (e.map == SWZ_MAP_ONE_BYTE && e.opcode == 0x63) /* movslq */
		f->from_table = 0;
	else if (f->from_table < MOST_FROM_TABLE)
		f->from_table++;
	*outcome = outcome_of(f, &insn, &e);
	return insn.length;
}

struct swz_follower *swz_follower_new(void)
{
	return swz_scratch_alloc_brief(sizeof(struct swz_follower));
}

/* At the limit. */
static bool runs_on(struct swz_follower *f, uint64_t pc)
{
	const struct swz_flow *flow = f->flow;

	if (pc != flow->limit)
		return true; /* where it has been */
	if (flow->limit_is_known && !is_at_entry(&f->now))
		return false;
	flow->leads_to(flow->context, pc, false, is_at_entry(&f->now));
	return true;
}

uint64_t swz_flow_end(struct swz_follower *f, struct swz_flow *flow)
{
	uint64_t pc = flow->start, end = pc;

	f->flow = flow;
	f->now = (struct state){.depth = SWZ_DEPTH_AT_ENTRY};
	flow->returns = false;
	f->from_table = MOST_FROM_TABLE;
	f->target_count = 0;
	memset(f->starts, 0, sizeof(f->starts));
	memset(f->insides, 0, sizeof(f->insides));
	do {
		enum outcome outcome = FLOWS_ON;

		while (outcome == FLOWS_ON && pc != flow->limit &&
		       !was_here(f, pc)) {
			if (!joins(f, pc))
				return 0;
			pc += follow(f, pc, &outcome);
			if (pc > end)
				end = pc;
		}
		if (outcome == IS_NONE ||
		    (outcome == FLOWS_ON && !runs_on(f, pc)))
			return 0;
	} while (take_target(f, &pc));
	return end;
}
