/* In each row of a function's unwind table the return address lies at a known
 * distance from %rsp or %rbp: an access to it is an operand with just that.
 *
 * A function that takes its caller's stack pointer besides (lea of the CFA)
 * will go on where it was called from by other ways than a return: setjmp and
 * its like, switches of stacks, unwinders.
 *
 * Functions that go on elsewhere and never return (__longjmp, setcontext)
 * describe at last the frame that they go to, by a register that points to
 * where it was saved. They do not look at their own return address either, if
 * nothing there refers to the stack, and nothing pops it before. */

#include "runtime/discovery/scan.h"

#include <string.h>

#include "runtime/discovery/cold_parts.h"
#include "runtime/discovery/frame_register.h"
#include "runtime/discovery/frame_walker.h"
#include "runtime/discovery/released_frames.h"
#include "runtime/discovery/operand.h"
#include "runtime/discovery/row_scan.h"
#include "runtime/discovery/scan_depth.h"
#include "runtime/discovery/slot_loads.h"
#include "runtime/support/scratch.h"

/* False where decoding has lost its way: what is there has no such operand. */
static bool decode_at(const struct swz_row_scan *s, uint64_t pc,
		      struct swz_insn *insn, struct swz_encoding *e)
{
	struct swz_bytes code = {swz_module_bytes(s->module, pc),
				 s->function->start + s->function->size - pc};

	return swz_decode_encoding(s->decoder, code, pc, insn, e) == SWZ_OK &&
	       insn->memory_base;
}

static bool hinders_hook(struct swz_row_scan *s, uint64_t pc)
{
	struct swz_function *f = s->function;
	struct swz_encoding e;
	struct swz_insn insn;

	if (!decode_at(s, pc, &insn, &e))
		return true;
	if (swz_is_fence(swz_module_bytes(s->module, pc), &e))
		return false;
	if (swz_frame_moves(s, pc, &e)) {
		s->moves_frame = true;
		return false;
	}
	if (!swz_slot_load_note(s->module, f, &s->loader, pc, &e)) {
		f->reads_own = true;
		return true;
	}
	/* what jumps to a piece is a function whose frame the piece has */
	f->reads_own |= !f->is_piece && !f->is_cold_part;
	return false;
}

static bool is_address(struct swz_row_scan *s, uint64_t pc)
{
	struct swz_encoding e;
	struct swz_insn insn;

	return !decode_at(s, pc, &insn, &e) || insn.memory_is_lea;
}

enum { RSP = 4, VECTOR_BYTES = 16 };

/* Whether it is a store of a vector register to the `taken` bytes above
 * (%rsp). */
static bool saves_vector(const uint8_t *code, const struct swz_encoding *e,
			 int64_t taken)
{
	int64_t above = 0;

	if ((e->opcode != 0x29 && e->opcode != 0x11) || /* movaps, movups */
	    (e->map != SWZ_MAP_0F &&
	     (e->map != SWZ_MAP_VECTOR || e->vector_map != 1)) ||
	    !swz_operand_is_memory(e) || swz_operand_base(e) != RSP ||
	    swz_operand_index(e) != SWZ_NO_REGISTER)
		return false;
	if (e->displacement_bytes)
		above = swz_distance_before(code + e->displacement_at +
						    e->displacement_bytes,
					    e->displacement_bytes);
	if (e->scaled_displacement && e->displacement_bytes == 1)
		above *= 64; /* or less */
	return above >= 0 && above + VECTOR_BYTES <= taken;
}

/* Whether the row begins where the frame is taken, and goes on behind that with
 * stores of vector registers to it, no others: clang counts a frame only behind
 * those that its conventions (ms_abi, regcall, preserve_all) have it keep. */
static bool keeps_vectors(const struct swz_row_scan *s,
			  const struct swz_cfi_row *row)
{
	const uint8_t *code = swz_module_bytes(s->module, row->start);
	uint64_t size = row->end - row->start, at;
	int64_t taken;

	if (size < 8 || code[0] != 0x48 || code[2] != 0xec)
		return false;
	if (code[1] == 0x83) { /* sub $taken, %rsp */
		taken = swz_distance_before(code + 4, 1);
		at = 4;
	} else if (code[1] == 0x81) {
		taken = swz_distance_before(code + 7, 4);
		at = 7;
	} else {
		return false;
	}
	while (at < size) {
		struct swz_encoding e;

		if (swz_encoding_read((struct swz_bytes){code + at, size - at},
				      &e) != SWZ_OK ||
		    !saves_vector(code + at, &e, taken))
			return false;
		at += (uint64_t)e.operands_at + e.immediate_bytes;
	}
	return at == size;
}

static bool row_accesses_slot(struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	const struct swz_operand o = {row->cfa_base == SWZ_CFA_RSP,
				      row->cfa_offset - 8};

	if (o.rsp && keeps_vectors(s, row))
		return false;
	return swz_row_has_operand(s, row, &o, hinders_hook) ||
	       swz_row_has_scaled_operand(s, row, &o);
}

/* GCC's push of the return address below an aligned frame, whose unaligned one
 * is in %r10 or %r13: push -8(%r10); push %rbp; mov %rsp, %rbp. */
static bool copies_slot(const struct swz_module *m,
			const struct swz_function *f)
{
	const uint8_t *code = swz_module_bytes(m, f->start);

	for (uint32_t i = 0; i + 4 <= f->size; i++)
		if (code[i] == 0x41 && code[i + 1] == 0xff &&
		    (code[i + 2] == 0x72 || code[i + 2] == 0x75) &&
		    code[i + 3] == 0xf8)
			return true;
	return false;
}

static bool any_matters(struct swz_row_scan *s, uint64_t pc)
{
	(void)s;
	(void)pc;
	return true;
}

/* In such a frame __builtin_return_address takes the copy. */
static bool row_accesses_copy(struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	const struct swz_operand o = {false, 8};

	return (swz_row_has_operand(s, row, &o, any_matters) ||
		swz_row_has_scaled_operand(s, row, &o)) &&
	       copies_slot(s->module, s->function);
}

/* Of a function that loads its return address. */
static bool visit_for_cfa(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;
	const struct swz_operand o = {row->cfa_base == SWZ_CFA_RSP,
				      row->cfa_offset};

	if (row->cfa_base == SWZ_CFA_OTHER ||
	    swz_row_has_operand(s, row, &o, is_address))
		swz_function_refuse(s->function, SWZ_REFUSE_READS_RETURN_SLOT);
	return s->function->status == SWZ_PATCHED;
}

static bool describes_another_frame(const struct swz_cfi_row *row)
{
	return row->cfa_base == SWZ_CFA_OTHER && !row->return_at_cfa_minus_8;
}

static bool is_pop(const struct swz_encoding *e)
{
	if (e->map != SWZ_MAP_ONE_BYTE)
		return false;
	return (e->opcode & 0xf8) == 0x58 || e->opcode == 0x8f ||
	       e->opcode == 0x9d /* popf */ || e->opcode == 0xc9 /* leave */;
}

/* Whether %rsp or %rbp is the base of its memory operand. */
static bool refers_to_stack(const struct swz_encoding *e)
{
	unsigned base = swz_modrm_rm(e->modrm);

	if (!e->modrm_at || swz_modrm_mod(e->modrm) == 3 || e->extends_base)
		return false;
	if (swz_encoding_has_sib(e))
		base = e->sib & 7;
	return base == 4 || (base == 5 && swz_modrm_mod(e->modrm) != 0);
}

/* Whether an instruction of the row may take the return address off the stack,
 * or, where one does not know how far it is, refers to the stack at all. */
static bool may_take_slot(const struct swz_row_scan *s,
			  const struct swz_cfi_row *row)
{
	bool elsewhere = describes_another_frame(row);
	int64_t words = row->cfa_base == SWZ_CFA_RSP ? row->cfa_offset / 8 - 1
						     : 0;

	for (uint64_t pc = row->start; pc < row->end;) {
		struct swz_bytes code = {swz_module_bytes(s->module, pc),
					 row->end - pc};
		struct swz_encoding encoding;
		struct swz_insn insn;

		if (swz_decode_encoding(s->decoder, code, pc, &insn,
					&encoding) != SWZ_OK ||
		    (is_pop(&encoding) && --words < 0) ||
		    (elsewhere && refers_to_stack(&encoding)))
			return true;
		pc += insn.length;
	}
	return false;
}

static bool visit_strictly(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;

	if (s->function->status == SWZ_PATCHED && may_take_slot(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	return s->function->status == SWZ_PATCHED;
}

/* Whether the function begins by taking another amount of stack than this row
 * counts, which starts just behind: it is returned to, not called (by what has
 * put its address in place of a return address), and there is no return address
 * on top of the stack then, but a word of the function that will go on. */
static bool contradicts_entry(const struct swz_row_scan *s,
			      const struct swz_cfi_row *row)
{
	static const uint8_t sub_byte[] = {0x48, 0x83, 0xec};
	static const uint8_t sub_wide[] = {0x48, 0x81, 0xec};
	const struct swz_function *f = s->function;
	const uint8_t *code = swz_module_bytes(s->module, f->start);
	int64_t taken;

	if (row->cfa_base != SWZ_CFA_RSP)
		return false;
	if (row->start == f->start + 4 && f->size > 4 &&
	    memcmp(code, sub_byte, sizeof(sub_byte)) == 0) {
		taken = code[3] < 0x80 ? code[3] : code[3] - 0x100;
	} else if (row->start == f->start + 7 && f->size > 7 &&
		   memcmp(code, sub_wide, sizeof(sub_wide)) == 0) {
		int32_t wide;

		memcpy(&wide, code + 3, sizeof(wide));
		taken = wide;
	} else {
		return false;
	}
	return row->cfa_offset != 8 + taken;
}

static bool visit(void *context, const struct swz_cfi_row *row)
{
	struct swz_row_scan *s = context;
	uint64_t end = s->function->start + s->function->size;

	if (row->start < s->function->start || row->end > end)
		return true;
	if ((row->cfa_base == SWZ_CFA_RBP && row->cfa_offset == 16) ||
	    (row->cfa_base == SWZ_CFA_OTHER &&
	     copies_slot(s->module, s->function)))
		swz_frame_chain_find(s, row);
	if (s->function->status != SWZ_PATCHED &&
	    (s->function->status != SWZ_REFUSE_FILTERED ||
	     !s->module->in_scope))
		return true;
	if (row->start == s->function->start &&
	    swz_is_cold_part(s->module, s->function, row))
		s->function->is_cold_part = true;
	if (describes_another_frame(row))
		s->leaves = true;
	else if (!row->return_at_cfa_minus_8 ||
		 (row->cfa_base == SWZ_CFA_RSP && row->cfa_offset < 8) ||
		 contradicts_entry(s, row))
		swz_function_refuse(s->function, SWZ_REFUSE_NO_STANDARD_FRAME);
	else if (row->cfa_base == SWZ_CFA_OTHER
			 ? row_accesses_copy(s, row) ||
				   (s->moves_frame &&
				    swz_frame_register_strays(s, row))
			 : row_accesses_slot(s, row))
		swz_function_refuse_reader(s->function);
	return true;
}

/* Of a function without an unwind table what lies behind the beginning of a
 * frame is a row like others. */
static void scan_without_table(struct swz_row_scan *s)
{
	struct swz_function *f = s->function;
	struct swz_cfi_row row = {.start = swz_scan_depth(s->module, f),
				  .end = f->start + f->size,
				  .cfa_base = SWZ_CFA_RBP,
				  .cfa_offset = 16,
				  .return_at_cfa_minus_8 = true};

	if (row.start)
		visit(s, &row);
}

static uint64_t end_of_text(const struct swz_module *m, uint64_t address)
{
	for (unsigned i = 0; i < m->text_count; i++)
		if (address - m->text[i].start <
		    m->text[i].end - m->text[i].start)
			return m->text[i].end;
	return 0;
}

static void scan_one(struct swz_module *module, struct swz_function *function,
		     struct swz_decoder *decoder,
		     const struct swz_profile_calls *calls)
{
	struct swz_row_scan s = {
		.module = module,
		.decoder = decoder,
		.function = function,
		.loader = {.calls = calls},
		.readable_end = end_of_text(module, function->start),
	};

	if (function->wrapper) /* its caller will be one of ours */
		return;
	if (!function->fde) {
		if (!function->is_piece)
			scan_without_table(&s);
		return;
	}
	if (swz_cfi_rows(function->fde, visit, &s) != SWZ_OK) {
		swz_function_refuse(function, SWZ_REFUSE_NO_STANDARD_FRAME);
		return;
	}
	swz_frame_walker_note(module, function, decoder);
	if (((function->load_count || function->load_site_count) &&
	     swz_cfi_rows(function->fde, visit_for_cfa, &s) != SWZ_OK) ||
	    (s.leaves &&
	     swz_cfi_rows(function->fde, visit_strictly, &s) != SWZ_OK))
		swz_function_refuse(function, SWZ_REFUSE_NO_STANDARD_FRAME);
}

void swz_scan_return_slot(struct swz_module *module,
			  struct swz_function *function,
			  struct swz_decoder *decoder)
{
	scan_one(module, function, decoder, NULL);
}

/* Functions are looked at each for itself. */
#define PORTION 512u

struct slots_scan {
	struct swz_module *module;
	const struct swz_decoders *decoders;
	struct swz_profile_calls calls;
};

static void scan_functions(void *context, uint32_t begin, uint32_t end,
			   unsigned member)
{
	const struct slots_scan *s = context;

	for (uint32_t i = begin; i < end; i++) {
		scan_one(s->module, &s->module->functions[i],
			 s->decoders->of[member], &s->calls);
		swz_released_frame_find(s->module, &s->module->functions[i]);
	}
}

/* Memory is not taken while several threads look: so those few that have such
 * loads are looked at once more. */
static void list_load_sites(const struct slots_scan *s, struct swz_function *f)
{
	uint32_t bytes = f->load_site_count * (uint32_t)sizeof(*f->load_sites);

	f->load_sites = swz_scratch_alloc_brief(bytes);
	if (!f->load_sites) {
		f->load_site_count = 0;
		swz_function_refuse_reader(f);
		return;
	}
	f->load_site_count = 0;
	f->load_count = 0;
	scan_one(s->module, f, s->decoders->of[0], &s->calls);
}

void swz_scan_return_slots(struct swz_module *module,
			   const struct swz_decoders *decoders)
{
	struct slots_scan s = {.module = module, .decoders = decoders};

	swz_profile_calls_find(&s.calls, module);
	swz_workers_run(scan_functions, &s, module->function_count,
			swz_workers_portion(PORTION));
	/* when all have been looked at: what tells is in others, too */
	for (uint32_t i = 0; i < module->function_count; i++) {
		struct swz_function *f = &module->functions[i];

		if (f->finds_below)
			swz_function_refuse(f, SWZ_REFUSE_NO_STANDARD_FRAME);
		if (f->is_cold_part && !f->is_piece &&
		    (f->status == SWZ_PATCHED ||
		     f->status == SWZ_REFUSE_READS_RETURN_SLOT)) {
			f->is_piece = true;
			module->hookable_count--;
		}
		if (f->status != SWZ_PATCHED)
			f->load_site_count = 0;
		else if (f->load_site_count)
			list_load_sites(&s, f);
	}
}
