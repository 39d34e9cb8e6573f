#include "runtime/discovery/branch_scan.h"
#include "runtime/discovery/entry_stack.h"
#include "runtime/discovery/text_maps.h"
#include "runtime/support/config.h"

/* Whether this is an instruction that begins with prefixes (bnd, a hint of a
 * jump, what makes it longer) and has its opcode at `pc`; fills it if so. */
static bool has_opcode_at(struct swz_part_scan *s, struct swz_bytes code,
			  uint64_t start, uint64_t pc, struct swz_insn *insn)
{
	struct swz_encoding encoding;

	return swz_decode_encoding(s->decoder, code, start, insn, &encoding) ==
		       SWZ_OK &&
	       start + encoding.opcode_at == pc;
}

/* Whether an instruction of its function has its opcode at `pc`; fills it if
 * so. */
static bool starts_here(struct swz_part_scan *s, uint64_t pc,
			struct swz_insn *insn, struct swz_function **owner)
{
	struct swz_function *f = s->around;

	if (!f || pc < s->decoded || pc >= f->start + f->size) {
		f = swz_function_at(s->module, pc);
		s->around = f;
		s->decoded = f ? f->start : 0;
		s->lost = false;
	}
	*owner = f;
	if (!f && swz_gap_denies(&s->gap, s->module, s->decoder, s->text, pc))
		return false;
	if (!f || s->lost) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 s->text->end - pc};

		return swz_decode(s->decoder, code, pc, insn) == SWZ_OK;
	}
	while (s->decoded <= pc) {
		struct swz_bytes code = {
			swz_module_bytes(s->module, s->decoded),
			f->start + f->size - s->decoded};
		unsigned length = 0;

		if (s->decoded < pc)
			length = swz_decode_length(s->decoder, code);
		else if (swz_decode(s->decoder, code, pc, insn) == SWZ_OK)
			return true;
		if (!length) {
			s->lost = true; /* data in text: believe the bytes */
			return starts_here(s, pc, insn, owner);
		}
		if (s->decoded < pc && s->decoded + length > pc &&
		    has_opcode_at(s, code, s->decoded, pc, insn))
			return true;
		s->decoded += length;
	}
	return false;
}

/* The return addresses are read of what is so many calls above `from`, one bit
 * each (as reads_above), or its own. */
static void is_read(struct swz_branch_scan *s, struct swz_function *from,
		    unsigned above, bool own)
{
	if (own && from->status == SWZ_PATCHED) {
		swz_function_refuse(from, SWZ_REFUSE_CALLEE_READS);
		s->found |= from->is_piece;
	}
	if (above & ~(unsigned)from->reads_above) {
		from->reads_above |= (uint8_t)above;
		s->found = true;
	}
}

/* The return address that it is called with is read by what it jumps to. */
static void leads_to_reader(struct swz_branch_scan *s,
			    struct swz_function *from, enum swz_refusal reason)
{
	swz_function_refuse(from, reason);
	if (!from->leads_to_reader) {
		from->leads_to_reader = true;
		s->found = true;
	}
}

/* jmp or jcc with a distance of 32 bits, and without a prefix. */
static bool distance_is_long(const struct swz_module *m,
			     const struct swz_insn *insn)
{
	const uint8_t *code = swz_module_bytes(m, insn->address);

	return (insn->length == 5 && code[0] == 0xe9) ||
	       (insn->length == 6 && code[0] == 0x0f &&
		(code[1] & 0xf0) == 0x80);
}

/* A jump back to the first byte of the site meets the patch. It is told from a
 * call by the thunk in its return slot, so that must be where a call has it. */
static bool is_loop_to_site(const struct swz_part_scan *s,
			    const struct swz_function *f,
			    const struct swz_insn *insn)
{
	return insn->kind != SWZ_INSN_CALL &&
	       insn->target == f->start + f->site &&
	       swz_stack_is_as_at_entry(s->module, s->decoder, f,
					insn->address);
}

/* The branch leads to a function that reads return addresses above its own, or
 * to a part of one of whose it is read. */
static void hit_read(struct swz_branch_scan *s, struct swz_function *from,
		     const struct swz_function *to, const struct swz_insn *insn)
{
	if (!from || !to)
		return;
	if (insn->kind == SWZ_INSN_CALL)
		is_read(s, from, to->reads_above >> 1, to->reads_above & 1);
	else if (from != to)
		is_read(s, from, to->reads_above, swz_is_read_piece(to));
}

/* Whether the branch leads to what reads its return address, or to what jumps
 * on to that; `from` is refused then, if it jumps. */
static bool hits_reader(struct swz_branch_scan *s, struct swz_function *from,
			const struct swz_function *to,
			const struct swz_insn *insn)
{
	bool begins = to && (to->is_piece || insn->target == to->start);
	bool reads = (begins && swz_reads_return(to)) ||
		     swz_is_reader_stub(&s->readers, insn->target);

	if (!reads && !(begins && to->leads_to_reader))
		return false;
	if (insn->kind != SWZ_INSN_CALL && from && from != to)
		leads_to_reader(s, from,
				reads && to && to->is_piece
					? SWZ_REFUSE_READS_RETURN_SLOT
					: SWZ_REFUSE_TAIL_CALLS_READER);
	return true;
}

/* The site may extend as far as this branch back into it. */
static bool extends_site(struct swz_part_scan *part, struct swz_function *f,
			 const struct swz_insn *insn)
{
	uint64_t bytes = insn->address + insn->length - f->start - f->site;

	if (!part->scan->may_extend || f->load_site_count ||
	    bytes > SWZ_MOST_DISPLACED_BYTES ||
	    (swz_config.test_tactic == SWZ_TEST_BRANCHES &&
	     distance_is_long(part->module, insn)))
		return false;
	if (bytes > f->displace)
		f->displace = (uint8_t)bytes;
	part->scan->extended = true;
	return true;
}

/* The function may be patched all the same if that is all (led_branches.h). */
static bool may_be_led(const struct swz_part_scan *part, struct swz_function *f,
		       const struct swz_insn *insn)
{
	uint32_t at = (uint32_t)(insn->address + insn->length - f->start - 5);

	if (f->load_site_count || !distance_is_long(part->module, insn))
		return false;
	for (unsigned i = 0; i < f->branch_count; i++)
		if (f->branches[i] == at)
			return true;
	if (f->branch_count == SWZ_MOST_BRANCHES)
		return false;
	f->branches[f->branch_count++] = at;
	return true;
}

/* Whether the branch, from the function itself into its site, is led right:
 * over a signature; by the relocator, between displaced instructions; since the
 * site may extend as far as the branch; as a loop to the jump; or may be led,
 * once that is known. */
static bool is_own_branch(struct swz_part_scan *part, struct swz_function *f,
			  const struct swz_insn *insn)
{
	return insn->address < swz_site_end(f) || extends_site(part, f, insn) ||
	       is_loop_to_site(part, f, insn) || may_be_led(part, f, insn);
}

static void hit_site(struct swz_part_scan *part, struct swz_function *from,
		     struct swz_function *to, const struct swz_insn *insn)
{
	uint64_t target = insn->target;

	/* in the padding behind a function its site may still lie */
	if (!to && target >= SWZ_JUMP_BYTES)
		for (uint64_t a = target; a > target - 9 && !to; a--)
			to = swz_function_at(part->module, a);
	if (to && swz_function_load_site_has(to, target))
		to->is_entered = true;
	if (!to || to->is_piece || !swz_site_has(to, target))
		return;
	if (from != to || !is_own_branch(part, to, insn))
		to->is_entered = true;
}

void swz_branch_hit(struct swz_part_scan *part, uint64_t pc, uint64_t target)
{
	struct swz_branch_scan *s = part->scan;
	struct swz_function *from, *to;
	struct swz_insn insn;

	if (!starts_here(part, pc, &insn, &from))
		return;
	if (insn.kind == SWZ_INSN_JUMP_INDIRECT) {
		if (from && insn.rip_relative &&
		    swz_is_reader_slot(&s->readers, insn.target))
			leads_to_reader(s, from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	if (insn.target != target || insn.kind == SWZ_INSN_PLAIN)
		return;
	if (s->unmarks) {
		swz_text_unmark(s->module, SWZ_TEXT_MARKS, target);
		return;
	}
	to = swz_function_at(s->module, target);
	if (s->looks_for == SWZ_CALLERS) {
		hit_read(s, from, to, &insn);
		return;
	}
	if (hits_reader(s, from, to, &insn) || s->looks_for == SWZ_JUMPERS)
		return;
	if (to && to->reads_entry_word && target == to->start) {
		if (insn.kind != SWZ_INSN_CALL && from && from != to &&
		    swz_stack_is_as_at_entry(s->module, part->decoder, from,
					     insn.address))
			leads_to_reader(s, from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	hit_site(part, from, to, &insn);
}

void swz_branch_hit_start(struct swz_part_scan *s, uint64_t pc, uint64_t target)
{
	struct swz_function *f = swz_function_at(s->module, target);
	struct swz_function *from;
	struct swz_insn insn;

	if (!f || pc >= f->start + f->size || !starts_here(s, pc, &insn, &from))
		return;
	if (from != f || insn.target != target || insn.kind == SWZ_INSN_PLAIN ||
	    (!s->scan->unmarks && insn.address < swz_site_end(f)) ||
	    is_loop_to_site(s, f, &insn))
		return;
	if (s->scan->unmarks)
		swz_text_unmark(s->module, SWZ_TEXT_STARTS, target);
	else if (!may_be_led(s, f, &insn))
		f->is_entered = true;
}
