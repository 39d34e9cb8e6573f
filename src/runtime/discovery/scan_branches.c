/* Every byte of the text is taken as the possible start of a direct branch
 * (scan_bytes.c). The targets that matter are marked in a bitmap, one bit a
 * byte; where a supposed branch meets a mark, the function around it is decoded
 * up to that place to see whether an instruction really starts there. Code that
 * belongs to no known function counts as what it looks like, unless it can be
 * decoded as a whole (scan_gaps.c).
 *
 * Indirect branches go by tables: pointers (scan_pointers.c), and offsets from
 * the table's own address, as compilers write switches. The latter are read
 * wherever an instruction takes an address, as long as they lead into the text.
 */

#include "runtime/discovery/scan.h"

#include <stdatomic.h>
#include <string.h>

#include "runtime/discovery/cold_parts.h"
#include "runtime/discovery/distance_table.h"
#include "runtime/discovery/entry_stack.h"
#include "runtime/discovery/readers.h"
#include "runtime/discovery/scan_bytes.h"
#include "runtime/discovery/scan_gaps.h"
#include "runtime/discovery/scan_pointers.h"
#include "runtime/discovery/text_maps.h"
#include "thunks/decoder.h"

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
static uint64_t site_start(const struct swz_function *f)
{
	return f->start + f->site + (f->site ? 0 : 1);
}

static uint64_t site_end(const struct swz_function *f)
{
	unsigned bytes = f->displace > SWZ_JUMP_BYTES ? f->displace
						      : SWZ_JUMP_BYTES;

	return f->start + f->site + bytes;
}

static bool reads_return(const struct swz_function *f)
{
	return f->reads_own || f->status == SWZ_REFUSE_READS_RETURN_SLOT ||
	       f->status == SWZ_REFUSE_RETURNS_TWICE;
}

/* A part of a function that calls one that reads the function's return
 * address. */
static bool is_read_piece(const struct swz_function *f)
{
	return f->is_piece && f->status == SWZ_REFUSE_CALLEE_READS;
}

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
		if (f->is_piece || f->status != SWZ_PATCHED)
			continue;
		for (uint64_t a = site_start(f); a < site_end(f); a++)
			swz_text_mark(s->module, SWZ_TEXT_MARKS, a);
		for (unsigned n = 0; n < f->load_site_count; n++)
			mark_load_site(s, f->start + f->load_sites[n]);
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
	if (f && ((to >= site_start(f) && to < site_end(f)) ||
		  swz_function_load_site_has(f, to)))
		f->is_entered = true;
}

/* Whether this is an instruction that begins with prefixes (bnd, a hint of a
 * jump, what makes it longer) and has its opcode at `pc`; fills it if so. */
static bool has_opcode_at(struct part_scan *s, struct swz_bytes code,
			  uint64_t start, uint64_t pc, struct swz_insn *insn)
{
	struct swz_encoding encoding;

	return swz_decode_encoding(s->decoder, code, start, insn, &encoding) ==
		       SWZ_OK &&
	       start + encoding.opcode_at == pc;
}

/* Whether an instruction of its function has its opcode at `pc`; fills it if
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

/* A jump back to the first byte of the site meets the patch. It is told from a
 * call by the thunk in its return slot, so that must be where a call has it. */
static bool is_loop_to_site(const struct part_scan *s,
			    const struct swz_function *f,
			    const struct swz_insn *insn)
{
	return insn->kind != SWZ_INSN_CALL &&
	       insn->target == f->start + f->site &&
	       swz_stack_is_as_at_entry(s->module, s->decoder, f,
					insn->address);
}

static void hit(struct part_scan *part, uint64_t pc, uint64_t target)
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
		if (!from || !to)
			return;
		if (insn.kind == SWZ_INSN_CALL)
			is_read(s, from, to->reads_above >> 1,
				to->reads_above & 1);
		else if (from != to)
			is_read(s, from, to->reads_above, is_read_piece(to));
		return;
	}
	if ((to && reads_return(to) && (to->is_piece || target == to->start)) ||
	    swz_is_reader_stub(&s->readers, target)) {
		if (insn.kind == SWZ_INSN_CALL || !from || from == to)
			return;
		leads_to_reader(s, from,
				to && to->is_piece
					? SWZ_REFUSE_READS_RETURN_SLOT
					: SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	if (to && (to->is_piece || target == to->start) &&
	    to->leads_to_reader) {
		if (from && from != to && insn.kind != SWZ_INSN_CALL)
			leads_to_reader(s, from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	if (s->looks_for == JUMPERS)
		return;
	if (to && to->reads_entry_word && target == to->start) {
		if (insn.kind != SWZ_INSN_CALL && from && from != to &&
		    swz_stack_is_as_at_entry(s->module, part->decoder, from,
					     insn.address))
			leads_to_reader(s, from, SWZ_REFUSE_TAIL_CALLS_READER);
		return;
	}
	/* in the padding behind a function its site may still lie */
	if (!to && target >= SWZ_JUMP_BYTES)
		for (uint64_t a = target; a > target - 9 && !to; a--)
			to = swz_function_at(s->module, a);
	if (to && swz_function_load_site_has(to, target))
		to->is_entered = true;
	if (!to || target < site_start(to) || target >= site_end(to))
		return;
	if (from == to && insn.address < to->start + to->site)
		return; /* over a signature */
	/* the relocator leads a branch between displaced instructions right */
	if (from == to && insn.address >= to->start + to->site &&
	    insn.address < site_end(to))
		return;
	if (from == to && s->may_extend && !to->load_site_count &&
	    insn.address + insn.length - (to->start + to->site) <=
		    SWZ_MOST_DISPLACED_BYTES) {
		uint8_t end = (uint8_t)(insn.address + insn.length -
					(to->start + to->site));

		if (end > to->displace)
			to->displace = end;
		s->extended = true;
		return;
	}
	if (from == to && is_loop_to_site(part, to, &insn))
		return;
	to->is_entered = true;
}

/* The same where that is the function's first byte, to which calls lead, too.
 */
static void hit_start(struct part_scan *s, uint64_t pc, uint64_t target)
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
	else
		f->is_entered = true;
}

/* --------------------------------------------------------- tables of offsets
 */

/* Whether the function may be the cold part of one that has a table: labels in
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

/* What lies behind a table may look like an entry. That of a real one has the
 * stack as it is where the table is read, and at the other labels. */
static bool is_behind_table(const struct branch_scan *s, uint64_t pc,
			    uint64_t first, uint64_t to)
{
	return !s->unmarks && swz_stack_differs(s->module, pc, to) &&
	       swz_stack_differs(s->module, first, to);
}

/* What the instruction at `pc` takes the address of may be a table of 32-bit
 * offsets from itself to labels of its function, cold parts included. Such
 * tables lie side by side: the first entry that leads elsewhere is another's.
 * One function without a symbol may be a cold part, too.
 */
static bool read_table(struct branch_scan *s, uint64_t pc, uint64_t table)
{
	const struct swz_module *m = s->module;
	uint64_t end = swz_distance_table_end(m, table), at, first = 0;
	const struct swz_function *whole = NULL, *cold = NULL;

	for (at = table; at + 4 <= end; at += 4) {
		const struct swz_function *f;
		int32_t offset;
		uint64_t to;

		memcpy(&offset, swz_module_bytes(m, at), sizeof(offset));
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
		if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to) &&
		    !is_behind_table(s, pc, first, to))
			refuse_label(s, to);
	}
	return at > table;
}

/* An instruction of the function takes the address of a label in it. Others may
 * be in tables by their distances from that one (GNU C's &&a - &&b): in any of
 * those that the function takes the address of. */
static void read_own_tables(struct branch_scan *s, uint64_t pc, uint64_t label)
{
	const struct swz_module *m = s->module;
	const struct swz_function *f = swz_function_at(m, pc);

	if (!f || label == f->start || !swz_function_has(f, label) ||
	    f->size > SWZ_MOST_WITH_LABELS)
		return;
	for (uint64_t at = f->start; at + 7 <= f->start + f->size; at++) {
		const uint8_t *code = swz_module_bytes(m, at);
		uint64_t table;

		if ((code[0] & 0xfb) != 0x48 || code[1] != 0x8d ||
		    (code[2] & 0xc7) != 0x05)
			continue;
		table = swz_module_relative(m, at + 3);
		if (table % 4 == 0 && !swz_module_is_text(m, table, 1))
			swz_distance_table_read(m, f, label, table,
						refuse_label, s);
	}
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
		read_own_tables(s->scan, pc, to);
	}
	return (to % 4 == 0 && read_table(s->scan, pc, to)) || is_label;
}

static bool leads_on(void *context, uint64_t to)
{
	const struct part_scan *s = context;

	return swz_module_is_text(s->module, s->text->start + to, 1);
}

/* What the bytes at this offset of the text look like. */
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
			hit(s, pc, 0);
		return;
	} else {
		return;
	}
	if (swz_text_is_marked(s->module, SWZ_TEXT_MARKS, to))
		hit(s, pc, to);
	else if (code[0] != 0xe8 && to <= pc &&
		 swz_text_is_marked(s->module, SWZ_TEXT_STARTS, to))
		hit_start(s, pc, to);
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
	swz_team_run(scan_parts, s, parts, 1);
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

static void refuse_entered(struct swz_function *f)
{
	swz_function_refuse(f, f->load_count || f->load_site_count
				       ? SWZ_REFUSE_READS_RETURN_SLOT
				       : SWZ_REFUSE_BRANCH_INTO_SITE);
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
	if (status == SWZ_OK)
		status = scan_jumpers(&s);
	if (status == SWZ_OK)
		status = scan_callers(&s);
	/* last: other reasons are stronger, see islands.c */
	for (uint32_t i = 0; i < module->function_count; i++)
		if (module->functions[i].is_entered)
			refuse_entered(&module->functions[i]);
	return status;
}

void swz_scan_reached(struct swz_module *module,
		      const struct swz_decoders *decoders)
{
	struct branch_scan s = {
		.module = module, .decoders = decoders, .unmarks = true};

	scan_all(&s);
}
