/* Every byte of the text is taken as the possible start of a direct branch
 * (scan_bytes.c). The targets that matter are marked in a bitmap, one bit a
 * byte; where a supposed branch meets a mark, the function around it is decoded
 * up to that place to see whether an instruction really starts there. Code that
 * belongs to no known function counts as what it looks like, unless it can be
 * decoded as a whole (function.c).
 *
 * Indirect branches go by tables: pointers (references.c), and offsets from
 * the table's own address, as compilers write switches. The
 * latter are read wherever an instruction takes an address, as long as they
 * lead into the text.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "image/eh_frame.h"
#include "runtime/discovery/code_flow.h"
#include "runtime/discovery/function.h"
#include "runtime/discovery/references.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/module/module.h"
#include "runtime/support/config.h"
#include "runtime/support/worker_threads.h"
#include "thunks/encoding.h"
#include "thunks/relocate.h"

/* --- state --------------------------------------------------------------- */

struct branch_scan {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct swz_readers readers;
	bool may_extend;      /* in the first pass */
	atomic_bool extended; /* some site, in the first pass */
	/* each in passes of its own, until nothing is found: what may be in the
	 * way of a patch; what jumps to one that was found to lead to a reader
	 * of return addresses; callers of functions that read return addresses
	 * above their own */
	enum { OBSTACLES, JUMPERS, CALLERS } looks_for;
	atomic_bool found; /* one by which there may be more of those */
	bool unmarks; /* what leads to marked bytes takes back their marks, and
		       * nothing else */
};

/* A part of a text that is being scanned. Of functions it changes those whose
 * code lies in it, but for one flag of others that is only ever set. */
struct part_scan {
	struct branch_scan *scan;
	struct swz_module *module;
	struct swz_decoder *decoder;
	const struct swz_range *text;
	/* where decoding of the function around the last hit has come to */
	struct swz_function *around;
	uint64_t decoded;
	bool lost;
	struct swz_gap gap; /* between functions, likewise */
};

/* The bytes that no branch may enter: all of the jump but its first byte, and
 * that too where it is not the function's own first. */
static inline uint64_t site_start(const struct swz_function *f)
{
	return f->start + f->site + (f->site ? 0 : 1);
}

static inline uint64_t site_end(const struct swz_function *f)
{
	unsigned bytes = f->displace > SWZ_JUMP_BYTES ? f->displace
						      : SWZ_JUMP_BYTES;

	return f->start + f->site + bytes;
}

static inline bool site_has(const struct swz_function *f, uint64_t address)
{
	return address >= site_start(f) && address < site_end(f);
}

static inline bool reads_return(const struct swz_function *f)
{
	return f->reads_own || f->status == SWZ_REFUSE_READS_RETURN_SLOT ||
	       f->status == SWZ_REFUSE_RETURNS_TWICE;
}

/* A part of a function that calls one that reads the function's return
 * address. */
static inline bool is_read_piece(const struct swz_function *f)
{
	return f->is_piece && f->status == SWZ_REFUSE_CALLEE_READS;
}

/* --- the stack at an entry ----------------------------------------------- */

struct stack_rows {
	uint64_t pc;
	bool at_entry_height; /* at pc */
	bool changes;         /* anywhere */
};

static bool note_row(void *context, const struct swz_cfi_row *row)
{
	struct stack_rows *rows = context;
	bool as_at_entry = row->cfa_base == SWZ_CFA_RSP && row->cfa_offset == 8;

	if (!as_at_entry)
		rows->changes = true;
	if (rows->pc >= row->start && rows->pc < row->end)
		rows->at_entry_height = as_at_entry;
	return true;
}

/* The frame's place at `pc` by the unwind table; false: not known. */
static bool find_frame(const struct swz_module *m, uint64_t pc,
		       struct swz_cfi_row *row)
{
	const struct swz_function *f = swz_function_at(m, pc);

	return f && f->fde && swz_cfi_row_at(f->fde, pc, row) &&
	       row->cfa_base != SWZ_CFA_OTHER;
}

/* True if the unwind tables describe different frames at these addresses, so
 * that no jump leads from one to the other, nor from elsewhere to both. False
 * if that is not known. */
static bool stack_differs(const struct swz_module *m, uint64_t a, uint64_t b)
{
	struct swz_cfi_row one = {.cfa_base = SWZ_CFA_OTHER}, other = one;

	return find_frame(m, a, &one) && find_frame(m, b, &other) &&
	       (one.cfa_base != other.cfa_base ||
		one.cfa_offset != other.cfa_offset);
}

/* push, pushf, enter, and arithmetic on %rsp. */
static bool moves_stack(const struct swz_encoding *e)
{
	unsigned reg = swz_modrm_reg(e->modrm);

	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return (e->opcode & 0xf8) == 0x50 || e->opcode == 0x68 ||
	       e->opcode == 0x6a || e->opcode == 0x9c || e->opcode == 0xc8 ||
	       (e->opcode == 0xff && reg == 6) ||
	       ((e->opcode == 0x81 || e->opcode == 0x83) &&
		(e->modrm & 0xc7) == 0xc4 && !e->extends_base) ||
	       (e->opcode == 0x8d && reg == 4 && !e->extends_reg);
}

/* True if a branch at `pc` back to the function's first byte finds the stack as
 * a call does. If the unwind table never mentions a change of the stack, the
 * instructions are asked, as hand-written code may have a table that lies. */
static bool stack_is_as_at_entry(const struct swz_module *m,
				 struct swz_decoder *decoder,
				 const struct swz_function *f, uint64_t pc)
{
	struct stack_rows rows = {.pc = pc, .at_entry_height = !f->fde};
	struct swz_encoding encoding;
	struct swz_insn insn;

	if (f->fde && swz_cfi_rows(f->fde, note_row, &rows) != SWZ_OK)
		return false;
	if (!rows.at_entry_height || rows.changes)
		return rows.at_entry_height;
	for (uint64_t at = f->start; at < pc; at += insn.length) {
		struct swz_bytes code = {swz_module_bytes(m, at),
					 f->start + f->size - at};

		if (swz_decode_encoding(decoder, code, at, &insn, &encoding) !=
			    SWZ_OK ||
		    moves_stack(&encoding))
			return false;
	}
	return true;
}

/* --- what follows from a branch ------------------------------------------ */

/* True if this is an instruction that begins with prefixes (bnd, a hint of a
 * jump, what makes it longer) and has its opcode at `pc`; fills it if so. */
static bool has_opcode_at(struct part_scan *s, struct swz_bytes code,
			  uint64_t start, uint64_t pc, struct swz_insn *insn)
{
	struct swz_encoding encoding;

	return swz_decode_encoding(s->decoder, code, start, insn, &encoding) ==
		       SWZ_OK &&
	       start + encoding.opcode_at == pc;
}

/* True if an instruction of its function has its opcode at `pc`; fills it if
 * so. */
static bool starts_here(struct part_scan *s, uint64_t pc, struct swz_insn *insn,
			struct swz_function **owner)
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
static void is_read(struct branch_scan *s, struct swz_function *from,
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
static void leads_to_reader(struct branch_scan *s, struct swz_function *from,
			    enum swz_refusal reason)
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
 * call by the thunk in its return slot, so that must be where a call has it;
 * with -m count there is none. */
static bool is_loop_to_site(const struct part_scan *s,
			    const struct swz_function *f,
			    const struct swz_insn *insn)
{
	return !swz_config.count && insn->kind != SWZ_INSN_CALL &&
	       insn->target == f->start + f->site &&
	       stack_is_as_at_entry(s->module, s->decoder, f, insn->address);
}

/* The branch leads to a function that reads return addresses above its own, or
 * to a part of one of whose it is read. */
static void hit_read(struct branch_scan *s, struct swz_function *from,
		     const struct swz_function *to, const struct swz_insn *insn)
{
	if (!from || !to)
		return;
	if (insn->kind == SWZ_INSN_CALL)
		is_read(s, from, to->reads_above >> 1, to->reads_above & 1);
	else if (from != to)
		is_read(s, from, to->reads_above, is_read_piece(to));
}

/* True if the branch leads to a reader of its return address, or to a jump to
 * one. Refuses `from` then, if it jumps. */
static bool hits_reader(struct branch_scan *s, struct swz_function *from,
			const struct swz_function *to,
			const struct swz_insn *insn)
{
	bool begins = to && (to->is_piece || insn->target == to->start);
	bool reads = (begins && reads_return(to)) ||
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
static bool extends_site(struct part_scan *part, struct swz_function *f,
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

/* The function may be patched all the same if that is all (plan.h).
 */
static bool may_be_led(const struct part_scan *part, struct swz_function *f,
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

/* True if the branch, from the function itself into its site, still arrives:
 * over a signature; by the relocator, between displaced instructions; since the
 * site may extend as far as the branch; as a loop to the jump; or may be led,
 * once that is known. */
static bool is_own_branch(struct part_scan *part, struct swz_function *f,
			  const struct swz_insn *insn)
{
	return insn->address < site_end(f) || extends_site(part, f, insn) ||
	       is_loop_to_site(part, f, insn) || may_be_led(part, f, insn);
}

static void hit_site(struct part_scan *part, struct swz_function *from,
		     struct swz_function *to, const struct swz_insn *insn)
{
	uint64_t target = insn->target;

	/* in the padding behind a function its site may still lie */
	if (!to && target >= SWZ_JUMP_BYTES)
		for (uint64_t a = target; a > target - 9 && !to; a--)
			to = swz_function_at(part->module, a);
	if (to && swz_function_load_site_has(to, target))
		to->is_entered = true;
	if (!to || to->is_piece || !site_has(to, target))
		return;
	if (from != to || !is_own_branch(part, to, insn))
		to->is_entered = true;
}

/* At `pc` there may be a branch to `target`, which is marked. */
static void branch_hit(struct part_scan *part, uint64_t pc, uint64_t target)
{
	struct branch_scan *s = part->scan;
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
	if (s->looks_for == CALLERS) {
		hit_read(s, from, to, &insn);
		return;
	}
	if (hits_reader(s, from, to, &insn) || s->looks_for == JUMPERS)
		return;
	if (to && to->reads_entry_word && target == to->start) {
		if (insn.kind != SWZ_INSN_CALL && from && from != to &&
		    stack_is_as_at_entry(s->module, part->decoder, from,
					 insn.address))
			leads_to_reader(s, from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	hit_site(part, from, to, &insn);
}

/* The same where that is the function's first byte, to which calls lead, too.
 */
static void branch_hit_start(struct part_scan *s, uint64_t pc, uint64_t target)
{
	struct swz_function *f = swz_function_at(s->module, target);
	struct swz_function *from;
	struct swz_insn insn;

	if (!f || pc >= f->start + f->size || !starts_here(s, pc, &insn, &from))
		return;
	if (from != f || insn.target != target || insn.kind == SWZ_INSN_PLAIN ||
	    (!s->scan->unmarks && insn.address < site_end(f)) ||
	    is_loop_to_site(s, f, &insn))
		return;
	if (s->scan->unmarks)
		swz_text_unmark(s->module, SWZ_TEXT_STARTS, target);
	else if (!may_be_led(s, f, &insn))
		f->is_entered = true;
}

/* --- tables of labels ---------------------------------------------------- */

/* Tables of offsets to the labels of one function, as they are found from the
 * instruction that takes their address. */

/* The tables of functions that are neighbours are neighbours: most are found
 * within the first, nearly all within the second. */
#define NEAR_BYTES (2u << 10)
#define FAR_BYTES (64u << 10)

/* True if the function may be the cold part of one that has a table: labels in
 * its first bytes are at the height of a call, so it does not begin by taking
 * room from the stack. */
static bool may_have_labels(const struct swz_module *m,
			    const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	if (!swz_may_be_cold_part(f) || (code[0] & 0xf8) == 0x50)
		return false;
	if (f->size < 3)
		return true;
	if (code[0] == 0x41)
		return (code[1] & 0xf8) != 0x50;
	return code[0] != 0x48 || (code[1] != 0x83 && code[1] != 0x81) ||
	       code[2] != 0xec;
}

/* lea disp32(%rip), of a 64-bit register. */
static bool takes_address(const uint8_t *code)
{
	return (code[0] & 0xfb) == 0x48 && code[1] == 0x8d &&
	       (code[2] & 0xc7) == 0x05;
}

static struct swz_range text_around(const struct swz_module *m, uint64_t pc,
				    uint64_t bytes)
{
	struct swz_range near = {pc, pc};

	for (unsigned i = 0; i < m->text_count; i++) {
		const struct swz_range *t = &m->text[i];

		if (pc < t->start || pc >= t->end)
			continue;
		near.start = pc - t->start > bytes ? pc - bytes : t->start;
		near.end = t->end - pc > bytes ? pc + bytes : t->end;
	}
	return near;
}

/* True if this code has a switch by a table that begins behind the address, and
 * not behind the last. */
static bool has_switch(const struct swz_module *m, struct swz_decoder *decoder,
		       struct swz_range code, uint64_t behind, uint64_t last)
{
	for (uint64_t at = code.start; at + 7 <= code.end; at++) {
		uint64_t table;

		if (!takes_address(swz_module_bytes(m, at)))
			continue;
		table = swz_module_relative(m, at + 3);
		if (table > behind && table <= last &&
		    swz_switch_is_at(m, decoder, at, code.end, table))
			return true;
	}
	return false;
}

/* True if another table has begun between this one's beginning and the entry.
 */
static bool has_begun_another(const struct swz_module *m,
			      struct swz_decoder *decoder, uint64_t pc,
			      uint64_t table, uint64_t entry)
{
	return entry > table &&
	       (has_switch(m, decoder, text_around(m, pc, NEAR_BYTES), table,
			   entry) ||
		has_switch(m, decoder, text_around(m, pc, FAR_BYTES), table,
			   entry));
}

/* The instruction at `pc` may take the address of a table of 32-bit offsets
 * from itself to labels of its function, cold parts included. Such tables lie
 * side by side: the first entry that leads elsewhere is another's. One function
 * without a symbol may be a cold part, too. Calls found() with the labels that
 * are marked in SWZ_TEXT_MARKS. What lies behind the table may look like an
 * entry all the same: unless the decoder is NULL, none is where the stack is
 * another than at `pc` and than at the first label, or where another table has
 * begun. Returns whether it has an entry. */
static bool label_table_read(const struct swz_module *m,
			     struct swz_decoder *decoder, uint64_t pc,
			     uint64_t table,
			     void (*found)(void *context, uint64_t to),
			     void *context)
{
	struct swz_bytes words = swz_distance_table_at(m, table);
	uint64_t at, first = 0;
	const struct swz_function *whole = NULL, *cold = NULL;

	for (at = table; at - table + 4 <= words.size; at += 4) {
		const struct swz_function *f;
		int32_t offset;
		uint64_t to;

		memcpy(&offset, words.data + (at - table), sizeof(offset));
		to = table + (uint64_t)(int64_t)offset;
		if (!swz_module_is_text(m, to, 1))
			break;
		if (at == table) {
			first = to;
			whole = swz_function_at(m, pc);
			if (whole && whole->is_piece)
				whole = NULL; /* that of the first entry */
		}
		f = whole && swz_function_has(whole, to)
			    ? whole
			    : swz_function_at(m, to);
		if (f && !whole && !f->is_piece)
			whole = f;
		if (f && f != whole && !cold && may_have_labels(m, f))
			cold = f;
		if (!f || (f != whole && f != cold && !f->is_piece))
			break;
		if (!swz_text_is_marked(m, SWZ_TEXT_MARKS, to))
			continue;
		/* one that is entered by something else is refused as it is */
		if (decoder && !f->is_entered &&
		    ((stack_differs(m, pc, to) &&
		      stack_differs(m, first, to)) ||
		     has_begun_another(m, decoder, pc, table, at)))
			continue;
		found(context, to);
	}
	return at > table;
}

/* The instruction at `pc` takes the address of a label in its function. Others
 * may be in tables by their distances from that one (GNU C's &&a - &&b): in any
 * of those that the function takes the address of. */
static void label_distances_read(const struct swz_module *m, uint64_t pc,
				 uint64_t label,
				 void (*found)(void *context, uint64_t to),
				 void *context)
{
	const struct swz_function *f = swz_function_at(m, pc);

	if (!f || label == f->start || !swz_function_has(f, label) ||
	    f->size > SWZ_MOST_WITH_LABELS)
		return;
	for (uint64_t at = f->start; at + 7 <= f->start + f->size; at++) {
		const uint8_t *code = swz_module_bytes(m, at);
		uint64_t table;

		if (!takes_address(code))
			continue;
		table = swz_module_relative(m, at + 3);
		if (table % 4 == 0 && !swz_module_is_text(m, table, 1))
			swz_distance_table_read(m, f, label, table, found,
						context);
	}
}

/* --- the scan ------------------------------------------------------------ */

static void mark_function(struct branch_scan *s, const struct swz_function *f)
{
	uint64_t end = f->start + (f->is_piece ? f->size : 1);

	for (uint64_t a = f->start; a < end; a++)
		swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
}

static void mark_load_site(struct branch_scan *s, uint64_t start)
{
	for (uint64_t a = start + 1; a < start + SWZ_JUMP_BYTES; a++)
		swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
}

static void mark_targets(struct branch_scan *s)
{
	for (uint32_t i = 0; i < s->module->function_count; i++) {
		struct swz_function *f = &s->module->functions[i];

		if (s->looks_for == CALLERS) {
			if (f->reads_above || is_read_piece(f))
				mark_function(s, f);
			continue;
		}
		if (f->leads_to_reader)
			mark_function(s, f);
		if (s->looks_for == JUMPERS)
			continue;
		if (!s->may_extend && !f->displace)
			continue; /* the second pass: seen already */
		if (reads_return(f))
			mark_function(s, f);
		if (f->reads_entry_word)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, f->start);
		if (f->status != SWZ_PATCHED)
			continue;
		for (unsigned n = 0; n < f->load_site_count; n++)
			mark_load_site(s, f->start + f->load_sites[n]);
		if (f->is_piece)
			continue;
		for (uint64_t a = site_start(f); a < site_end(f); a++)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
		if (!f->site)
			swz_text_mark(s->module, SWZ_TEXT_STARTS, f->start);
	}
}

/* Something leads to `to` that is no direct branch. */
static void refuse_label(void *context, uint64_t to)
{
	const struct branch_scan *s = context;
	struct swz_function *f;

	if (!swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		return;
	if (s->unmarks) {
		swz_text_unmark(s->module, SWZ_TEXT_MARKS, to);
		return;
	}
	f = swz_function_at(s->module, to);
	if (f && ((!f->is_piece && site_has(f, to)) ||
		  swz_function_load_site_has(f, to)))
		f->is_entered = true;
}

/* The address may be that of a label that a jump goes to by a register; but its
 * own, with which large code finds its GOT, is not. */
static bool look_at_load(void *context, uint64_t at)
{
	const struct part_scan *s = context;
	uint64_t pc = s->text->start + at;
	uint64_t to = swz_module_relative(s->module, pc + 3);
	bool is_label = swz_module_is_text(s->module, to, 1) && to != pc;

	if (s->scan->looks_for != OBSTACLES)
		return false;
	if (is_label) {
		refuse_label(s->scan, to);
		label_distances_read(s->module, pc, to, refuse_label, s->scan);
	}
	return (to % 4 == 0 &&
		label_table_read(s->module,
				 s->scan->unmarks ? NULL : s->decoder, pc, to,
				 refuse_label, s->scan)) ||
	       is_label;
}

static bool leads_on(void *context, uint64_t to)
{
	const struct part_scan *s = context;

	return swz_module_is_text(s->module, s->text->start + to, 1);
}

/* Notes what the bytes at this offset of the text look like. */
static void look_at(void *context, uint64_t at)
{
	struct part_scan *s = context;
	uint64_t pc = s->text->start + at, left = s->text->end - pc, to;
	const uint8_t *code = swz_module_bytes(s->module, pc);

	if (swz_is_short_branch(code[0])) {
		to = pc + 2 + (uint64_t)(int64_t)(int8_t)code[1];
	} else if ((code[0] & 0xfe) == 0xe8 && left >= 5) {
		to = swz_module_relative(s->module, pc + 1);
	} else if (code[0] == 0x0f && (code[1] & 0xf0) == 0x80 && left >= 6) {
		to = swz_module_relative(s->module, pc + 2);
	} else if (code[0] == 0xff && code[1] == 0x25 && left >= 6) {
		if (swz_is_reader_slot(&s->scan->readers,
				       swz_module_relative(s->module, pc + 2)))
			branch_hit(s, pc, 0);
		return;
	} else {
		return;
	}
	if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		branch_hit(s, pc, to);
	else if (code[0] != 0xe8 && to <= pc &&
		 swz_text_is_marked(s->module, SWZ_TEXT_STARTS, to))
		branch_hit_start(s, pc, to);
}

static void scan_part(struct branch_scan *s, uint32_t text, uint32_t part,
		      unsigned member)
{
	struct swz_byte_scan *scan = &s->module->byte_scans[text];
	struct part_scan of = {.scan = s,
			       .module = s->module,
			       .decoder = s->decoders->of[member],
			       .text = &s->module->text[text]};

	swz_byte_scan_part(scan, &scan->parts[part], &of);
}

/* Number 0 is the pointers, which take longest; the parts of all texts are
 * counted on from there. */
static void scan_parts(void *context, uint32_t begin, uint32_t end,
		       unsigned member)
{
	struct branch_scan *s = context;
	uint32_t first = 1;

	if (begin == 0 && s->looks_for == OBSTACLES)
		swz_scan_pointers(s->module, refuse_label, s);
	for (unsigned i = 0; i < s->module->text_count; i++) {
		uint32_t count = s->module->byte_scans[i].part_count;

		for (uint32_t part = begin; part < end; part++)
			if (part >= first && part - first < count)
				scan_part(s, i, part - first, member);
		first += count;
	}
}

/* Scans all texts, and the pointers. What was noted is kept with the module. */
static void scan_all(struct branch_scan *s)
{
	struct swz_module *m = s->module;
	unsigned parts = 1;

	for (unsigned i = 0; i < m->text_count; i++) {
		struct swz_byte_scan *scan = &m->byte_scans[i];

		scan->stores = s->readers.slot_count;
		scan->look = look_at;
		scan->leads_on = m->text_count > 1 ? leads_on : NULL;
		scan->look_at_load = look_at_load;
		swz_byte_scan_prepare(scan);
		parts += scan->part_count;
	}
	swz_workers_run(scan_parts, s, parts, 1);
}

static enum swz_status scan_texts(struct branch_scan *s)
{
	if (swz_text_maps_clear(s->module) != SWZ_OK)
		return SWZ_E_NOMEM;
	mark_targets(s);
	swz_readers_mark_stubs(&s->readers, s->module);
	scan_all(s);
	return SWZ_OK;
}

static enum swz_status scan_jumpers(struct branch_scan *s)
{
	enum swz_status status = SWZ_OK;

	s->looks_for = JUMPERS;
	s->readers.slot_count = 0;
	while (s->found && status == SWZ_OK) {
		s->found = false;
		status = scan_texts(s);
	}
	return status;
}

/* Callers of functions that read return addresses above their own, and theirs
 * where it is read two calls above, and so on. */
static enum swz_status scan_callers(struct branch_scan *s)
{
	enum swz_status status = SWZ_OK;

	s->looks_for = CALLERS;
	for (uint32_t i = 0; i < s->module->function_count && !s->found; i++)
		s->found = s->module->functions[i].reads_above;
	while (s->found && status == SWZ_OK) {
		s->found = false;
		status = scan_texts(s);
	}
	return status;
}

static void refuse_entered(struct branch_scan *s, struct swz_function *f)
{
	swz_function_refuse(f, f->load_count || f->load_site_count
				       ? SWZ_REFUSE_READS_RETURN_SLOT
				       : SWZ_REFUSE_BRANCH_INTO_SITE);
	if (f->is_piece && f->load_site_count) {
		f->leads_to_reader = true;
		s->found = true;
	}
}

enum swz_status swz_scan_branches(struct swz_module *module,
				  const struct swz_decoders *decoders)
{
	struct branch_scan s = {
		.module = module, .decoders = decoders, .may_extend = true};
	enum swz_status status;

	swz_readers_find(&s.readers, module);
	status = scan_texts(&s);
	if (status == SWZ_OK && s.extended) {
		/* once more: nothing else may branch to what is displaced now
		 */
		s.may_extend = false;
		s.readers.slot_count = 0;
		s.found = false;
		status = scan_texts(&s);
	}
	if (status == SWZ_OK && !swz_config.count)
		status = scan_jumpers(&s);
	if (status == SWZ_OK && !swz_config.count)
		status = scan_callers(&s);
	/* last: other reasons are stronger, see islands.c */
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].is_entered ||
		    module->functions[i].branch_count)
			refuse_entered(&s, &module->functions[i]);
	if (status == SWZ_OK && !swz_config.count)
		status = scan_jumpers(&s);
	return status;
}

enum swz_status swz_scan_jumpers(struct swz_module *module,
				 const struct swz_decoders *decoders)
{
	struct branch_scan s = {
		.module = module, .decoders = decoders, .found = true};

	return scan_jumpers(&s);
}

void swz_scan_reached(struct swz_module *module,
		      const struct swz_decoders *decoders)
{
	struct branch_scan s = {
		.module = module, .decoders = decoders, .unmarks = true};

	scan_all(&s);
}
